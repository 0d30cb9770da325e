/* Forms of a sweep: orders of work that give the same bits, and which of them is fastest where. */
#ifndef GBS_SAMPLER_FORMS_H
#define GBS_SAMPLER_FORMS_H

#include "backend/backend.h"

/* AUTO by the measured table; the others where they are possible, for tests and bench. */
typedef enum gbs_form {
    GBS_FORM_AUTO = 0,
    GBS_FORM_BLOCKS = 1, /* a block of chains at a time, lanes hold chains */
    GBS_FORM_FEW = 2,    /* all chains at once, lanes hold rows: at most GBS_FEW_CHAINS */
    GBS_FORM_TILES = 3   /* several wide blocks of chains at a time, tile by tile */
} gbs_form;

/* The most wide blocks of chains that go together: enough to read a coefficient seldom, few enough
 * for their sums (32 KiB each) to stay in the second-level cache. */
enum { GBS_FORM_TOGETHER = 8 };

/* How many wide blocks go together, tile by tile; 0: none do. */
int64_t gbs_form_tiles(const gbs_context *ctx, gbs_type type, int64_t wide_blocks, int64_t dim);

/* How many wide blocks of a model with bounds go together, site by site; 0: none do. */
int64_t gbs_form_bounded(const gbs_context *ctx, int64_t wide_blocks, int64_t dim);

/* The kernels for few chains, if that is the form for this job; else NULL. */
const gbs_few_kernels *gbs_form_few(const gbs_context *ctx, const gbs_kernels *kernels,
                                    gbs_type type, int64_t chains, int64_t dim);

#endif
