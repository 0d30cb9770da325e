/* Forms of a sweep: orders of work that give the same bits, and which of them is fastest where. */
#ifndef GBS_SAMPLER_FORMS_H
#define GBS_SAMPLER_FORMS_H

#include "backend/backend.h"

/* AUTO by the measured table; the others where they are possible, for tests and bench. */
typedef enum gbs_form {
    GBS_FORM_AUTO = 0,
    GBS_FORM_BLOCKS = 1, /* a block of chains at a time, lanes hold chains */
    GBS_FORM_FEW = 2     /* all chains at once, lanes hold rows: at most GBS_FEW_CHAINS */
} gbs_form;

/* The kernels for few chains, if that is the form for this job; else NULL. */
const gbs_few_kernels *gbs_form_few(const gbs_context *ctx, const gbs_kernels *kernels,
                                    gbs_type type, int64_t chains, int64_t dim);

#endif
