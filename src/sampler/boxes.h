/* Sites between bounds in a sampler: what they are in its type, what must hold of states, and the
 * stream's words for them.  Private. */
#ifndef GBS_SAMPLER_BOXES_H
#define GBS_SAMPLER_BOXES_H

#include "sampler/sampler_internal.h"

/* What a sampler of the model cannot be asked for where some site has bounds in the spec's type. */
gbs_status gbs_boxes_check(gbs_context *ctx, const gbs_model *model, const gbs_sampler_spec *spec);

/* Fills sampler->boxes but for the scales, which come with the coefficients; leaves it empty where
 * no site has bounds in the sampler's type. */
gbs_status gbs_boxes_plan(gbs_sampler *sampler);
void gbs_boxes_end(gbs_sampler *sampler);

/* x [rows, D] of the sampler's type lies within the bounds, else ARGUMENT naming chain, site, value
 * and bound.  Sites that are held may be anywhere. */
gbs_status gbs_boxes_check_state(const gbs_sampler *sampler, const char *what, const void *x,
                                 int64_t rows);

/* Every lane of the state held within the bounds. */
void gbs_boxes_hold_state(gbs_sampler *sampler);

/* The native stream for a block's pass: normals and words into `to`, those of purpose 3 into
 * `cells`, as gbs_bounded_job has them. */
void gbs_boxes_draw_native(const gbs_sampler *sampler, const gbs_block *block, uint64_t sweep,
                           void *to, void *cells);

/* The kernels of a block. */
const gbs_bounded_block_kernels *gbs_boxes_kernels(const gbs_sampler *sampler, int wide);

/* Is this site held by equal bounds? */
int gbs_boxes_is_held(const gbs_sampler *sampler, int64_t site);

static inline int gbs_boxes_any(const gbs_sampler *sampler)
{
    return sampler->boxes.bounded != NULL;
}

#endif
