/* Row constraints for the kernels: rounded to the sampler's type, bounds inward, and listed twice,
 * by row for its sum and by direction for what a step changes. */
#include "sampler/row_lists.h"
#include "model/bounds.h"
#include "model/condition.h"

#include <float.h>
#include <math.h>

static double rounded(gbs_type type, double value)
{
    return type == GBS_F32 ? (double)(float)value : value;
}

static double unit(gbs_type type)
{
    return type == GBS_F32 ? (double)FLT_EPSILON : DBL_EPSILON;
}

static void store(gbs_type type, void *array, int64_t at, double value)
{
    if (type == GBS_F32)
        ((float *)array)[at] = (float)value;
    else
        ((double *)array)[at] = value;
}

static void *take(const gbs_sampler *sampler, int64_t count, size_t size, gbs_status *status)
{
    if (*status != GBS_OK)
        return NULL;
    void *const memory = gbs_memory_take(&sampler->ctx->allocator, count, size);
    if (memory == NULL)
        *status = gbs_fail_memory(sampler->ctx, "constraints", count, size);
    return memory;
}

static double least_normal(gbs_type type)
{
    return type == GBS_F32 ? (double)FLT_MIN : DBL_MIN;
}

static double largest_number(gbs_type type)
{
    return type == GBS_F32 ? (double)FLT_MAX : DBL_MAX;
}

static const char *name_of(gbs_type type)
{
    return type == GBS_F32 ? "float" : "double";
}

/* ---- by row ---- */

/* Conditional standard deviation of a site; 0 of a fixed one. */
static double sd_of(const gbs_model *model, int64_t site)
{
    return gbs_model_is_fixed(model, site) ? 0.0
                                           : 1.0 / sqrt(model->precision[site * model->dim + site]);
}

/* The most that a site contributes to what a row's conditional standard deviation is. */
static double most_of(const gbs_model *model, int64_t r)
{
    const gbs_constraints *const rows = model->constraints;
    double most = 0;
    for (int64_t e = rows->start[r]; e < rows->start[r + 1]; ++e)
        most = fmax(most, fabs(rows->value[e]) * sd_of(model, rows->site[e]));
    return most;
}

/* Is a number too small for T to hold its digits, and yet not so small beside the row that it does
 * not matter?  `by` is what it contributes. */
static int is_lost(const gbs_sampler *sampler, int64_t r, double value, double by)
{
    return value != 0 && fabs(value) < least_normal(sampler->type) &&
           by > unit(sampler->type) * most_of(sampler->model, r);
}

/* Sums that T cannot hold would count as infinite, and their bounds as none. */
static gbs_status check_reach(const gbs_sampler *sampler, int64_t r)
{
    enum { STANDARD_DEVIATIONS = 64 };
    const gbs_model *const model = sampler->model;
    const gbs_constraints *const rows = model->constraints;
    double size = 0;
    for (int64_t e = rows->start[r]; e < rows->start[r + 1]; ++e) {
        const int64_t j = rows->site[e];
        const double at = gbs_model_is_fixed(model, j) ? model->fixed[j] : model->mean[j];
        size += fabs(rows->value[e]) * (fabs(at) + STANDARD_DEVIATIONS * sd_of(model, j));
    }
    if (size <= largest_number(sampler->type))
        return GBS_OK;
    return gbs_fail(sampler->ctx, GBS_ERROR_NOT_FINITE,
                    "constraints: row %lld: its terms within %d standard deviations of the mean "
                    "make %.3g, which does not fit in %s; scale the row",
                    (long long)r, STANDARD_DEVIATIONS, size, name_of(sampler->type));
}

static gbs_status fill_bounds(const gbs_sampler *sampler, void *bounds)
{
    const gbs_constraints *const rows = sampler->model->constraints;
    for (int64_t r = 0; r < rows->rows; ++r) {
        const double lower = gbs_bounds_up_to(sampler->type, rows->lower[r]);
        const double upper = -gbs_bounds_up_to(sampler->type, -rows->upper[r]);
        if (lower >= upper)
            return gbs_fail(sampler->ctx, GBS_ERROR_ARGUMENT,
                            "constraints: row %lld: between %.17g and %.17g there is no interval "
                            "of %s numbers",
                            (long long)r, rows->lower[r], rows->upper[r], name_of(sampler->type));
        store(sampler->type, bounds, 2 * r, lower);
        store(sampler->type, bounds, 2 * r + 1, upper);
    }
    return GBS_OK;
}

static gbs_status fill_entries(const gbs_sampler *sampler, int64_t *start, int64_t *place,
                               void *value)
{
    const gbs_constraints *const rows = sampler->model->constraints;
    for (int64_t r = 0; r < rows->rows; ++r) {
        const gbs_status status = check_reach(sampler, r);
        if (status != GBS_OK)
            return status;
        start[r] = rows->start[r];
        for (int64_t e = rows->start[r]; e < rows->start[r + 1]; ++e) {
            if (!isfinite(rounded(sampler->type, rows->value[e])))
                return gbs_fail(sampler->ctx, GBS_ERROR_NOT_FINITE,
                                "constraints: A[%lld,%lld], %.17g, does not fit in float",
                                (long long)r, (long long)rows->site[e], rows->value[e]);
            if (is_lost(sampler, r, rows->value[e],
                        fabs(rows->value[e]) * sd_of(sampler->model, rows->site[e])))
                return gbs_fail(sampler->ctx, GBS_ERROR_NOT_FINITE,
                                "constraints: A[%lld,%lld], %.17g, is too small for %s; scale the "
                                "row and its bounds",
                                (long long)r, (long long)rows->site[e], rows->value[e],
                                name_of(sampler->type));
            place[e] = sampler->place[rows->site[e]];
            store(sampler->type, value, e, rows->value[e]);
        }
    }
    start[rows->rows] = rows->start[rows->rows];
    return GBS_OK;
}

/* ---- by direction ---- */

/* Change of row r along direction i: A_ri, or sum over j ascending of A_rj W_ji, fused, from 0;
 * what rounding to T may make of one that is 0 counts as 0.  NaN: T cannot hold it. */
static double change_of(const gbs_sampler *sampler, const double *inverse_factor, int64_t r,
                        int64_t i)
{
    const gbs_constraints *const rows = sampler->model->constraints;
    double sum = 0, size = 0;
    if (gbs_model_is_fixed(sampler->model, i))
        return 0;
    for (int64_t e = rows->start[r]; e < rows->start[r + 1] && rows->site[e] <= i; ++e) {
        const int64_t j = rows->site[e];
        const double along = inverse_factor == NULL ? (double)(j == i)
                             : gbs_model_is_fixed(sampler->model, j)
                                 ? 0.0
                                 : inverse_factor[i * sampler->dim + j];
        sum = fma(rows->value[e], along, sum);
        size = fma(fabs(rows->value[e]), fabs(along), size);
    }
    const double terms = (double)(rows->start[r + 1] - rows->start[r] + 1);
    if (inverse_factor != NULL && fabs(sum) <= terms * unit(sampler->type) * size)
        return 0;
    const double change = rounded(sampler->type, sum);
    if (inverse_factor != NULL && is_lost(sampler, r, change, fabs(sum)))
        return (double)NAN;
    return isfinite(rounded(sampler->type, 1.0 / change)) ? change : 0;
}

/* Counts the changes of each direction, or where `row` is not NULL lists them. */
static gbs_status list_moves(const gbs_sampler *sampler, const double *inverse_factor,
                             int64_t *start, int64_t *row, void *change, void *inverse)
{
    int64_t at = 0;
    for (int64_t i = 0; i < sampler->dim; ++i) {
        start[i] = at;
        for (int64_t r = 0; r < sampler->model->constraints->rows; ++r) {
            const double by = change_of(sampler, inverse_factor, r, i);
            if (!isfinite(by))
                return gbs_fail(sampler->ctx, GBS_ERROR_NOT_FINITE,
                                "constraints: what site %lld moves row %lld by does not fit in %s",
                                (long long)i, (long long)r, name_of(sampler->type));
            if (by == 0)
                continue;
            if (row != NULL) {
                row[at] = r;
                store(sampler->type, change, at, by);
                store(sampler->type, inverse, at, 1.0 / by);
            }
            ++at;
        }
    }
    start[sampler->dim] = at;
    return GBS_OK;
}

gbs_status gbs_row_lists_make(const gbs_sampler *sampler, const double *inverse_factor,
                              gbs_row_lists *out)
{
    const gbs_constraints *const rows = sampler->model->constraints;
    const size_t size = gbs_type_size(sampler->type);
    gbs_status status = GBS_OK;
    if (rows == NULL)
        return GBS_OK;
    const int64_t entries = rows->start[rows->rows];
    out->rows = rows->rows;
    void *const bounds = take(sampler, 2 * rows->rows, size, &status);
    out->bounds = bounds;
    int64_t *const entry_start = take(sampler, rows->rows + 1, sizeof *entry_start, &status);
    out->entry_start = entry_start;
    int64_t *const entry_place = take(sampler, entries, sizeof *entry_place, &status);
    out->entry_place = entry_place;
    void *const entry_value = take(sampler, entries, size, &status);
    out->entry_value = entry_value;
    int64_t *const move_start = take(sampler, sampler->dim + 1, sizeof *move_start, &status);
    out->move_start = move_start;
    if (status == GBS_OK)
        status = fill_bounds(sampler, bounds);
    if (status == GBS_OK)
        status = fill_entries(sampler, entry_start, entry_place, entry_value);
    if (status == GBS_OK)
        status = list_moves(sampler, inverse_factor, move_start, NULL, NULL, NULL);
    const int64_t moves = status == GBS_OK ? move_start[sampler->dim] : 0;
    int64_t *const row = take(sampler, moves, sizeof *row, &status);
    out->move_row = row;
    void *const change = take(sampler, moves, size, &status);
    out->move_change = change;
    void *const inverse = take(sampler, moves, size, &status);
    out->move_inverse = inverse;
    return status == GBS_OK ? list_moves(sampler, inverse_factor, move_start, row, change, inverse)
                            : status;
}

void gbs_row_lists_end(const gbs_allocator *allocator, gbs_row_lists *lists)
{
    gbs_memory_give(allocator, (void *)lists->bounds);
    gbs_memory_give(allocator, (void *)lists->entry_start);
    gbs_memory_give(allocator, (void *)lists->entry_place);
    gbs_memory_give(allocator, (void *)lists->entry_value);
    gbs_memory_give(allocator, (void *)lists->move_start);
    gbs_memory_give(allocator, (void *)lists->move_row);
    gbs_memory_give(allocator, (void *)lists->move_change);
    gbs_memory_give(allocator, (void *)lists->move_inverse);
    *lists = (gbs_row_lists){0};
}

/* ---- states ---- */

static double at(gbs_type type, const void *x, int64_t index)
{
    return type == GBS_F32 ? (double)((const float *)x)[index] : ((const double *)x)[index];
}

static gbs_status check_boxes(gbs_context *ctx, const gbs_model *model, gbs_type type,
                              const char *what, const void *x, int64_t chain)
{
    for (int64_t i = 0; i < model->dim; ++i) {
        const gbs_box box = gbs_bounds_box(model, type, i);
        const double value = at(type, x, chain * model->dim + i);
        if (value < box.lower || value > box.upper)
            return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                            "%s: chain %lld, site %lld is %.17g, not between its bounds %.17g and "
                            "%.17g",
                            what, (long long)chain, (long long)i, value, model->lower[i],
                            model->upper[i]);
    }
    return GBS_OK;
}

/* A sweep keeps a row's sum in T, where it is good to about this much. */
static gbs_status check_row(gbs_context *ctx, const gbs_model *model, gbs_type type,
                            const char *what, const void *x, int64_t chain, int64_t r)
{
    const gbs_constraints *const rows = model->constraints;
    double sum = 0, size = 0;
    for (int64_t e = rows->start[r]; e < rows->start[r + 1]; ++e) {
        const int64_t site = rows->site[e];
        const double value = gbs_model_is_fixed(model, site)
                                 ? model->fixed[site]
                                 : at(type, x, chain * model->dim + site);
        sum = fma(rows->value[e], value, sum);
        size = fma(fabs(rows->value[e]), fabs(value), size);
    }
    if (!(size <= largest_number(type)))
        return gbs_fail(ctx, GBS_ERROR_NOT_FINITE,
                        "%s: chain %lld gives row %lld of the constraints terms that do not fit in "
                        "%s",
                        what, (long long)chain, (long long)r, name_of(type));
    const double terms = (double)(rows->start[r + 1] - rows->start[r] + 1);
    const double slack = 4 * terms * unit(type) * size;
    if (sum >= rows->lower[r] - slack && sum <= rows->upper[r] + slack)
        return GBS_OK;
    return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                    "%s: chain %lld gives row %lld of the constraints %.17g, not between %.17g and "
                    "%.17g",
                    what, (long long)chain, (long long)r, sum, rows->lower[r], rows->upper[r]);
}

gbs_status gbs_row_lists_check(gbs_context *ctx, const gbs_model *model, gbs_type type,
                               const char *what, const void *x, int64_t n)
{
    const int64_t rows = model->constraints != NULL ? model->constraints->rows : 0;
    gbs_status status = GBS_OK;
    for (int64_t chain = 0; chain < n && status == GBS_OK; ++chain) {
        if (model->lower != NULL)
            status = check_boxes(ctx, model, type, what, x, chain);
        for (int64_t r = 0; r < rows && status == GBS_OK; ++r)
            status = check_row(ctx, model, type, what, x, chain, r);
    }
    return status;
}
