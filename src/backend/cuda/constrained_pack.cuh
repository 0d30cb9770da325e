/* From a sampler's plan to what sweep_rows and sweep_whitened read: on the host, once. */
#ifndef GBS_CUDA_CONSTRAINED_PACK_CUH
#define GBS_CUDA_CONSTRAINED_PACK_CUH

#include "backend/cuda/constrained_args.cuh"
#include "core/device.h"

#include <math.h>
#include <string.h>

/* Elements of a plan's arrays. */
static inline int64_t pack_entries(const gbs_row_lists *rows)
{
    return rows->rows > 0 ? rows->entry_start[rows->rows] : 0;
}

static inline int64_t pack_moves(const gbs_row_lists *rows, int64_t dim)
{
    return rows->rows > 0 ? rows->move_start[dim] : 0;
}

template <typename T>
static inline void pack_row_entries(const gbs_row_lists *rows, row_entry<T> *to)
{
    for (int64_t e = 0; e < pack_entries(rows); ++e) {
        to[e].value = ((const T *)rows->entry_value)[e];
        to[e].place = (int32_t)rows->entry_place[e];
    }
}

template <typename T>
static inline void pack_row_moves(const gbs_row_lists *rows, int64_t dim, int32_t *row,
                                  row_move<T> *to)
{
    const T *const bounds = (const T *)rows->bounds;
    for (int64_t e = 0; e < pack_moves(rows, dim); ++e) {
        const int64_t r = rows->move_row[e];
        row[e] = (int32_t)r;
        to[e].change = ((const T *)rows->move_change)[e];
        to[e].inverse = ((const T *)rows->move_inverse)[e];
        to[e].lower = bounds[2 * r];
        to[e].upper = bounds[2 * r + 1];
    }
}

/* Kinds as the flags of sweep_bounded. */
static inline void pack_flags(const uint8_t *kind, int64_t dim, uint8_t *to)
{
    for (int64_t p = 0; p < dim; ++p)
        to[p] = (uint8_t)(kind[p] - 1);
}

template <typename T> static inline void pack_boxes(const gbs_device_plan *plan, number_pair<T> *to)
{
    for (int64_t p = 0; p < plan->dim; ++p) {
        to[p].a = ((const T *)plan->lower)[p];
        to[p].b = ((const T *)plan->upper)[p];
    }
}

static inline int64_t pack_panels(int64_t dim)
{
    return (dim + 1) * (dim + 1) - 1;
}

/* W[:,h] of the step before, which moves `moved` places, beside the reciprocals of step i. */
template <typename T>
static inline void pack_walk(const T *before, int64_t moved, const T *inverse, int64_t count,
                             number_pair<T> *to)
{
    for (int64_t j = 0; j < count; ++j) {
        to[j].a = j < moved ? before[j] : T(0);
        to[j].b = inverse != NULL ? inverse[j] : T(NAN);
    }
}

/* constrained_args' panels from those of backend/constrained.h. */
template <typename T>
static inline void pack_whitened(const gbs_device_plan *plan, number_pair<T> *to)
{
    const int64_t dim = plan->dim;
    const T *const mean = (const T *)plan->panels, *factor = mean + dim, *before = NULL;
    int64_t moved = 0;
    for (int64_t i = 0; i < dim; factor += dim + i + 2, to += dim + 1, ++i) {
        const T *const column = factor + dim - i;
        pack_walk(before, moved, column + i + 1, i + 1, to);
        for (int64_t j = i; j < dim; ++j) {
            to[j + 1].a = factor[j - i];
            to[j + 1].b = mean[j];
        }
        if (plan->kind[i] != GBS_STEP_NONE) {
            before = column;
            moved = i + 1;
        }
    }
    pack_walk(before, moved, (const T *)NULL, dim, to);
}

/* Where these lie in the device's memory; all of type T but for the counts. */
struct constrained_arrays {
    void *panels, *boxes, *kind; /* whitened alone */
    void *entry_start, *entries, *move_start, *move_row, *moves;
};

template <typename T>
static inline constrained_args<T> constrained_arguments(const bounded_args<T> &chains, int rows,
                                                        const constrained_arrays *at)
{
    constrained_args<T> a;
    memset((void *)&a, 0, sizeof a);
    a.chains = chains;
    a.rows.rows = rows;
    a.rows.entry_start = (const int64_t *)at->entry_start;
    a.rows.entries = (const row_entry<T> *)at->entries;
    a.rows.move_start = (const int64_t *)at->move_start;
    a.rows.move_row = (const int32_t *)at->move_row;
    a.rows.moves = (const row_move<T> *)at->moves;
    a.panels = (const number_pair<T> *)at->panels;
    a.boxes = (const number_pair<T> *)at->boxes;
    a.kind = (const uint8_t *)at->kind;
    return a;
}

#endif
