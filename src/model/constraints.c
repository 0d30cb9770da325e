/* Row constraints of a model: checked, and kept by their entries in one block, whichever way they
 * came.  They stay in double, as given; a sampler rounds them to its type. */
#include "model/constraints.h"
#include "model/condition.h"

#include <math.h>
#include <string.h>

/* Dense or by entries: entry k of row r, k from 0 to the row's count - 1. */
static int64_t entries_of(const gbs_constraints *given, int64_t dim, int64_t row)
{
    return given->matrix != NULL ? dim : given->start[row + 1] - given->start[row];
}

static int64_t site_of(const gbs_constraints *given, int64_t row, int64_t k)
{
    return given->matrix != NULL ? k : given->site[given->start[row] + k];
}

static double value_of(const gbs_constraints *given, int64_t dim, int64_t row, int64_t k)
{
    return given->matrix != NULL ? given->matrix[row * dim + k]
                                 : given->value[given->start[row] + k];
}

static double lower_of(const gbs_constraints *given, int64_t row)
{
    return given->lower != NULL ? given->lower[row] : -(double)INFINITY;
}

static double upper_of(const gbs_constraints *given, int64_t row)
{
    return given->upper != NULL ? given->upper[row] : (double)INFINITY;
}

/* ---- checks ---- */

static gbs_status check_form(gbs_context *ctx, const gbs_constraints *given)
{
    const int entries = given->start != NULL && given->site != NULL && given->value != NULL;
    if (given->rows < 0)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "constraints: %lld rows", (long long)given->rows);
    if (given->matrix != NULL &&
        (given->start != NULL || given->site != NULL || given->value != NULL))
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                        "constraints: both as a matrix and by their entries");
    if (given->matrix == NULL && !entries)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                        "constraints: matrix is NULL, and so is one of start, site and value");
    if (given->lower == NULL && given->upper == NULL)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "constraints: neither lower nor upper");
    return GBS_OK;
}

static gbs_status check_starts(gbs_context *ctx, const gbs_constraints *given)
{
    if (given->matrix != NULL)
        return GBS_OK;
    if (given->start[0] != 0)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "constraints: start[0] is %lld, not 0",
                        (long long)given->start[0]);
    for (int64_t r = 0; r < given->rows; ++r)
        if (given->start[r + 1] < given->start[r])
            return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                            "constraints: start[%lld] is %lld, below start[%lld], %lld",
                            (long long)r + 1, (long long)given->start[r + 1], (long long)r,
                            (long long)given->start[r]);
    return GBS_OK;
}

static gbs_status check_bounds(gbs_context *ctx, const gbs_constraints *given, int64_t r)
{
    const double lower = lower_of(given, r), upper = upper_of(given, r);
    if (isnan(lower) || isnan(upper))
        return gbs_fail(ctx, GBS_ERROR_NOT_FINITE, "constraints: %s of row %lld is NaN",
                        isnan(lower) ? "lower" : "upper", (long long)r);
    if (lower > upper)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                        "constraints: row %lld: lower %.17g is above upper %.17g", (long long)r,
                        lower, upper);
    if (lower == (double)INFINITY || upper == -(double)INFINITY)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                        "constraints: row %lld: %s is %g, which leaves it no value", (long long)r,
                        lower > 0 ? "lower" : "upper", lower > 0 ? lower : upper);
    if (lower == upper)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                        "constraints: row %lld: lower = upper = %.17g is an equation, which leaves "
                        "no volume to sample; solve it for one site and put that into Q and mu, or "
                        "fix the site where it is the only one",
                        (long long)r, lower);
    return GBS_OK;
}

static gbs_status check_entries(gbs_context *ctx, const gbs_constraints *given, int64_t dim,
                                int64_t r)
{
    int64_t before = -1, stored = 0;
    for (int64_t k = 0; k < entries_of(given, dim, r); ++k) {
        const int64_t site = site_of(given, r, k);
        const double value = value_of(given, dim, r, k);
        if (site < 0 || site >= dim)
            return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                            "constraints: row %lld has site %lld, not in 0..%lld", (long long)r,
                            (long long)site, (long long)dim - 1);
        if (site <= before)
            return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                            "constraints: row %lld has site %lld after site %lld; ascending ones "
                            "are needed, each once",
                            (long long)r, (long long)site, (long long)before);
        if (!isfinite(value))
            return gbs_fail(ctx, GBS_ERROR_NOT_FINITE, "constraints: A[%lld,%lld] is %g",
                            (long long)r, (long long)site, value);
        before = site;
        stored += value != 0.0;
    }
    if (stored == 0)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "constraints: row %lld has no entry but zeros",
                        (long long)r);
    return GBS_OK;
}

static gbs_status check(gbs_context *ctx, const gbs_constraints *given, int64_t dim)
{
    gbs_status status = check_form(ctx, given);
    if (status == GBS_OK)
        status = check_starts(ctx, given);
    for (int64_t r = 0; r < given->rows && status == GBS_OK; ++r) {
        status = check_bounds(ctx, given, r);
        if (status == GBS_OK)
            status = check_entries(ctx, given, dim, r);
    }
    return status;
}

/* A row whose sites are all fixed holds, or nothing can make it hold. */
static gbs_status check_fixed(gbs_context *ctx, const gbs_model *model)
{
    const gbs_constraints *const rows = model->constraints;
    for (int64_t r = 0; r < rows->rows; ++r) {
        double sum = 0;
        int64_t k = rows->start[r];
        for (; k < rows->start[r + 1] && gbs_model_is_fixed(model, rows->site[k]); ++k)
            sum = fma(rows->value[k], model->fixed[rows->site[k]], sum);
        if (k == rows->start[r + 1] && !(sum >= rows->lower[r] && sum <= rows->upper[r]))
            return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                            "constraints: row %lld: its sites are fixed, and give it %.17g, not "
                            "between %.17g and %.17g",
                            (long long)r, sum, rows->lower[r], rows->upper[r]);
    }
    return GBS_OK;
}

/* ---- copy ---- */

static int64_t count_entries(const gbs_constraints *given, int64_t dim)
{
    int64_t count = 0;
    for (int64_t r = 0; r < given->rows; ++r)
        for (int64_t k = 0; k < entries_of(given, dim, r); ++k)
            count += value_of(given, dim, r, k) != 0.0;
    return count;
}

typedef struct copy {
    gbs_constraints head;
    int64_t words[]; /* start, site, then value, lower, upper: all of 8 bytes */
} copy;

static void fill(const gbs_constraints *given, int64_t dim, int64_t entries, copy *to)
{
    const int64_t rows = given->rows;
    int64_t *const start = to->words, *const site = start + rows + 1;
    double *const value = (double *)(void *)(site + entries), *const lower = value + entries,
                  *const upper = lower + rows;
    int64_t at = 0;
    for (int64_t r = 0; r < rows; ++r) {
        for (int64_t k = 0; k < entries_of(given, dim, r); ++k) {
            const double a = value_of(given, dim, r, k);
            if (a == 0.0)
                continue;
            site[at] = site_of(given, r, k);
            value[at++] = a;
        }
        start[r + 1] = at;
        lower[r] = lower_of(given, r) + 0.0; /* one zero, for their hash */
        upper[r] = upper_of(given, r) + 0.0;
    }
    to->head = (gbs_constraints){
        .rows = rows, .start = start, .site = site, .value = value, .lower = lower, .upper = upper};
}

gbs_status gbs_constraints_read(gbs_context *ctx, const gbs_constraints *given, gbs_model *model)
{
    if (given->rows == 0)
        return GBS_OK;
    const gbs_status status = check(ctx, given, model->dim);
    if (status != GBS_OK)
        return status;
    const int64_t entries = count_entries(given, model->dim);
    const int64_t words = (int64_t)(sizeof(copy) / 8) + 3 * given->rows + 1 + 2 * entries;
    copy *const to = gbs_memory_take(&model->allocator, words, 8);
    if (to == NULL)
        return gbs_fail_memory(ctx, "constraints", words, 8);
    fill(given, model->dim, entries, to);
    model->constraints = &to->head; /* at the start of its block */
    return check_fixed(ctx, model);
}
