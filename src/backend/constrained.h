/* The seam for sweeps whose steps are held by more than a site's own box: whitened coordinates,
 * and sweeps under row constraints lo <= A x <= hi.  Tables per instruction set as in backend.h,
 * the same blocks of chains and the same promise: the scalar table is the reference.
 *
 * Both are Gibbs sweeps along D directions v: x moves to x + v d, d drawn from a normal restricted
 * to the interval in which every box and every row holds.  The state is x alone: all else (the
 * rows' sums A x, whitened coordinates) is computed from it within a sweep, so that nothing drifts
 * from one sweep to the next and a run resumes from x with the same bits.
 *
 * Bounds are [n][2] of T, lower and upper.  A reciprocal of NaN marks a direction that does not
 * move what it stands for: min and max of the vocabularies pass over NaN. */
#ifndef GBS_BACKEND_CONSTRAINED_H
#define GBS_BACKEND_CONSTRAINED_H

#include "backend/backend.h"
#include "core/constrained_steps.h"

typedef struct gbs_constrained_job {
    int64_t dim;
    const void *panels;  /* below */
    const uint8_t *kind; /* [D] gbs_step_kind by site */
    void *x;             /* [place][lane] of the block; its row of place 0 */
    int64_t x_row;
    const void *noise; /* by site: a normal (FREE) or a word (HELD), rows noise_row apart */
    int64_t noise_row;
    const gbs_row_lists *rows;
    void *sums;         /* [R][lanes of a block] */
    const void *bounds; /* [D][2] of the sites' boxes, by place */
    /* site by site alone */
    const int64_t *site; /* [D] at each step */
    int backward;        /* step p is at place D-1-p */
} gbs_constrained_job;

/* Whitened: x = mu + W y, W = L^-T, Q = L L'; y is N(0, I).  Step i draws y_i afresh and moves
 * places 0 .. i along W[:,i].  What is left of y_i from before, (L' (x - mu))_i, depends on places
 * i .. D-1 alone, which the steps before it left as they were:
 *     y = 0; y = fma(L_ji, x_j - mu_j, y), j = i .. D-1 ascending
 *     low = the largest, and at most 0, of (lo_j - x_j) r_ji where W_ji > 0, (hi_j - x_j) r_ji
 *     where W_ji < 0, over j <= i, and of the rows' (bound - sum) / change; up likewise
 *     HELD: d ~ N(-y, 1) between low and up (truncnorm.h); FREE: d = z_i - y
 *     x_j = fma(W_ji, d, x_j), held in [lo_j, hi_j], j = 0 .. i
 *     sum_r = fma(change_ri, d, sum_r)
 * all in T; r_ji = 1 / W_ji.
 * Panels: mu [D]; then for each step L_ji, j = i .. D-1; W_ji, j = 0 .. i; r_ji, j = 0 .. i.
 * Fixed places have no entries that move them: W_ji = 0 and r_ji = NaN.
 *
 * Sweep: the canonical order of backend.h's passes, place by place, packed for groups of one row
 * (without w's A_ii).  FREE is its step; HELD draws x_i by the mean of the sum without noise,
 * between lo_i and hi_i and x_i plus the rows' (bound - sum) / change. */
typedef void (*gbs_constrained_function)(const gbs_constrained_job *job);

/* Words for the sites that are HELD among the job's, whose z they become; kind by site, from site 0
 * on. */
typedef void (*gbs_held_words_function)(const gbs_normals_job *job, const uint8_t *kind);

typedef struct gbs_constrained_kernels {
    const char *whitened_name[2]; /* by type */
    const char *rows_name[2];
    gbs_constrained_function whitened[2][2]; /* by type, and narrow or wide as in gbs_kernels */
    gbs_constrained_function sweep[2][2];
    gbs_held_words_function words[2][2];
} gbs_constrained_kernels;

extern const gbs_constrained_kernels gbs_constrained_scalar, gbs_constrained_scalar_fma,
    gbs_constrained_avx2, gbs_constrained_avx512, gbs_constrained_neon;

const gbs_constrained_kernels *gbs_constrained_kernels_for(gbs_isa isa);

#endif
