/* Bounds of one-call sweeps: groups may have bounds of their own.  Private. */
#ifndef GBS_SAMPLER_SWEEP_BOXES_H
#define GBS_SAMPLER_SWEEP_BOXES_H

#include "sampler/rows.h"
#include "sampler/sampler_internal.h"

/* All [sets][D], a set for each group or one for all; in the sampler's type. */
typedef struct gbs_sweep_boxes {
    int any; /* some site has a finite bound; else nothing below is taken */
    int64_t sets;
    uint8_t *bounded;
    void *lower, *upper;
    void *scale; /* [panel sets][D] */
} gbs_sweep_boxes;

/* Looks at the bounds, at x, and at what bounds rule out.
 * Fails: ARGUMENT, NOT_FINITE, naming group and site. */
gbs_status gbs_sweep_boxes_check(gbs_context *ctx, const gbs_sweep_spec *spec,
                                 gbs_sweep_boxes *boxes);

void gbs_sweep_boxes_take(gbs_sampler *work, const gbs_sweep_spec *spec, int64_t panel_sets,
                          gbs_sweep_boxes *boxes, gbs_status *status);
void gbs_sweep_boxes_end(const gbs_allocator *allocator, gbs_sweep_boxes *boxes);

/* Puts the sampler at a group's bounds, with room for the scales of panel set `set`. */
void gbs_sweep_boxes_enter(const gbs_sweep_boxes *boxes, int64_t group, int64_t set,
                           gbs_sampler *work);

/* The scales of the group's rows, into that room. */
void gbs_sweep_boxes_scale(const gbs_rows *rows, gbs_sampler *work);

#endif
