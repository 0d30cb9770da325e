/* What whitened sweeps, and sweeps within rows lo <= A x <= hi, are told of their steps: by the
 * CPU's kernels (backend/constrained.h) and by a device (core/device.h).  C11 and C++. */
#ifndef GBS_CORE_CONSTRAINED_STEPS_H
#define GBS_CORE_CONSTRAINED_STEPS_H

#include <stdint.h>

typedef enum gbs_step_kind {
    GBS_STEP_NONE, /* a fixed site */
    GBS_STEP_FREE, /* nothing holds it: it takes its normal */
    GBS_STEP_HELD  /* a word, and a draw between bounds */
} gbs_step_kind;

/* The rows as a sweep uses them.  Sums are taken over stored entries by ascending site, fused, from
 * 0.  Step d along direction i adds change d to each row that the direction moves, in the order of
 * its list. */
typedef struct gbs_row_lists {
    int64_t rows;               /* R; 0: none, and nothing else is read */
    const void *bounds;         /* [R][2] */
    const int64_t *entry_start; /* [R + 1] */
    const int64_t *entry_place; /* where each entry's site is kept in the state */
    const void *entry_value;
    const int64_t *move_start; /* [D + 1] by direction: a site's own, or a whitened one */
    const int64_t *move_row;
    const void *move_change, *move_inverse; /* and 1 / change */
} gbs_row_lists;

#endif
