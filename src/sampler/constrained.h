/* Samplers whose steps are held by more than a site's own box: whitened ones, and those of models
 * with row constraints.  Private. */
#ifndef GBS_SAMPLER_CONSTRAINED_H
#define GBS_SAMPLER_CONSTRAINED_H

#include "backend/constrained.h"
#include "sampler/sampler_internal.h"

struct gbs_constrained {
    const gbs_constrained_kernels *kernels;
    void *panels[2];              /* by half of a sweep; on a device whitened ones alone */
    uint8_t *kind;                /* [D] by site */
    int64_t first_free, end_free; /* the sites that take normals are among these */
    int held;                     /* some take words */
    void *bounds;                 /* [D][2] by place */
    gbs_row_lists rows;
    void *sums;        /* [workers][R][lanes of the widest block] */
    int64_t sums_room; /* elements from one worker's to the next one's */
};

/* What can be said before anything is planned: method, stream and model go together.
 * Fails: ARGUMENT, UNAVAILABLE. */
gbs_status gbs_constrained_check(gbs_context *ctx, const gbs_model *model,
                                 const gbs_sampler_spec *spec);

/* Coefficients, boxes and rows in the sampler's type; takes the place of the passes' panels.
 * Fails: MEMORY, NOT_FINITE, ARGUMENT. */
gbs_status gbs_constrained_plan(gbs_sampler *sampler, double omega);
void gbs_constrained_end(gbs_sampler *sampler);

/* Of whitened panels. */
int64_t gbs_whitened_elements(int64_t dim);

/* Every chain at gbs_model_interior's point; and, after any start, do all chains keep the boxes and
 * rows?
 * Fails: as gbs_model_interior; ARGUMENT. */
gbs_status gbs_constrained_start(gbs_sampler *sampler);
gbs_status gbs_constrained_check_start(gbs_sampler *sampler);

/* Does a state x [n, D] of type T keep the boxes and rows?  Else ARGUMENT, as gbs_row_lists_check.
 */
gbs_status gbs_constrained_check_state(gbs_context *ctx, const gbs_model *model, gbs_type type,
                                       const char *what, const void *x, int64_t n);

/* One pass of one block by worker number `worker`, as gbs_sampler_pass. */
void gbs_constrained_pass(gbs_sampler *sampler, const gbs_block *block, int64_t ahead, int half,
                          int64_t worker);

const char *gbs_constrained_kernel(const gbs_sampler *sampler);

#endif
