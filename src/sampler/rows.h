/* Rows of a sweep (or of a back substitution) as the kernels use them: coefficients computed in
 * double from the precision and rounded to the state's type, then packed into panels.  Shared by
 * samplers, whose models are frozen, and by the one-call sweeps, whose precision is raw. */
#ifndef GBS_SAMPLER_ROWS_H
#define GBS_SAMPLER_ROWS_H

#include "core/internal.h"

typedef struct gbs_rows {
    gbs_type type; /* T, of the coefficients */
    int64_t dim;
    double omega;
    gbs_type matrix_type; /* of matrix and location: F64, or F32 with T float */
    const void *matrix;   /* precision; with solving the lower Cholesky factor, in double */
    int64_t row_stride;   /* elements */
    gbs_location location_kind;
    const void *location; /* [D]; not read with ZERO */
    const double
        *fixed;             /* [D], NaN at free sites: a fixed site's row gives its value whatever x
                               and z are (s and A are 0; solving, the divisor is infinite); NULL: none */
    const uint8_t *bounded; /* [D] sites between bounds, whose w is 1; NULL: none */
    int solving;
} gbs_rows;

/* Row i: A_ij with A_ii = 1 - w on the diagonal; solving: minus L_ji for j > i, L_ii on the
 * diagonal, nothing before it.  Shape: out [D] of type T. */
void gbs_rows_coefficients(const gbs_rows *rows, int64_t i, void *out);

int gbs_rows_is_fixed(const gbs_rows *rows, int64_t i);

/* s_i, not yet rounded; NaN unless the diagonal entry is > 0. */
double gbs_rows_scale(const gbs_rows *rows, int64_t i);

/* c_i, not yet rounded, from row i's coefficients: the mean form takes A as rounded, so that the
 * rounded sweep keeps mean mu. */
double gbs_rows_centre(const gbs_rows *rows, int64_t i, const void *coefficients);

int64_t gbs_panel_elements(const gbs_rows *rows);

/* All rows in visiting order, `group` at a time, in the layout that backend.h states.
 * Shape: site [D]; scratch [group, D] of type T; panels [gbs_panel_elements]. */
void gbs_panels_pack(const gbs_rows *rows, const int64_t *site, int32_t group, void *scratch,
                     void *panels);

/* The panels of few chains, `group` rows each, in the layout that backend.h states: elements of
 * all of them, from one to the next, and of the scratch that packing takes. */
int64_t gbs_few_panel_elements(int64_t dim, int64_t group);
int64_t gbs_few_panel_step(int64_t dim, int64_t group);
int64_t gbs_few_scratch_elements(int64_t dim, int64_t group);
void gbs_few_panels_pack(const gbs_rows *rows, const int64_t *site, int64_t group, void *scratch,
                         void *panels);

/* Tiles: the same elements in another order, panels of `panel` rows in groups of `group`, in the
 * layout that backend.h states.  Where the panel of places first .. first + rows - 1 starts, and
 * within it the first add and finish; the add for places from `from` on. */
int64_t gbs_tile_panel(int64_t dim, int relaxed, int64_t first);
int64_t gbs_tile_add(int64_t dim, int relaxed, int64_t first, int64_t count, int64_t from);
int64_t gbs_tile_finish(int64_t dim, int relaxed, int64_t first, int64_t count);
void gbs_tiles_pack(const gbs_rows *rows, const int64_t *site, int64_t panel, int32_t group,
                    void *scratch, void *panels);

#endif
