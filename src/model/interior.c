/* A point inside a model's bounds and rows, by two linear programmes over x = mu + s (p - n),
 * p, n >= 0, s_j = 1 / sqrt(Q_jj):
 *
 *   1. the largest margin t <= 1/2 with (A x)_r >= lower_r + t w_r and <= upper_r - t w_r for all
 *      bounds, w_r the smaller of the width between them and the conditional standard deviation of
 *      the row: a Chebyshev centre in units that each row brings (Boyd and Vandenberghe 2004,
 *      section 4.3.1), so that a narrow slab does not push all others against their bounds;
 *   2. with half that margin, or NEARER if that is less, the point nearest to mu: by the largest
 *      |x_j - mu_j| / s_j, and a little by their sum.  The sum alone would put all of a distance on
 *      few sites, from where a chain has far to go.
 *
 * Where the first has no solution, Farkas' lemma gives weights under which the bounds contradict
 * each other; a basic solution's weights name a small set of them, which the message tells. */
#include "model/clp.h"
#include "model/condition.h"
#include "model/model.h"

#include <assert.h>
#include <math.h>
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Margin enough for a start. */
#define NEARER 0x1p-6
/* Of a margin, and of what Clp calls 0: a smaller one is looked for in units so many times finer,
 * about the point found so far, down to LEAST_UNIT; one within so many roundings is none. */
#define LEAST_MARGIN 1e-9
#define FINER 1e-7
#define LEAST_UNIT 1e-15
#define ROUNDINGS 16.0
/* Of a bound in finer units: one this far away does not hold. */
#define NO_BOUND 1e15
/* Of a weight, beside the largest. */
#define LEAST_WEIGHT 1e-7
/* Of a bound that mu is beyond, in units of its width: Clp takes 1e30 for infinite, calls feasible
 * bounds near it contradictory, and aborts the process from 1e100 on. */
#define FARTHEST 1e25

typedef struct bound {
    int64_t row; /* of the constraints; or -1, and of the box of */
    int64_t site;
    int upper;
    double value;
} bound;

/* Constraints by column, as Clp takes them. */
typedef struct programme {
    const gbs_model *model;
    int bounds, rows, columns; /* rows: bounds, then u >= p_j + n_j; columns: p_j, n_j of every
                                  site, then t and u */
    bound *bound;              /* [bounds] */
    int *start, *index;        /* [columns + 1], [entries] */
    double *value;             /* [entries] */
    double *lower, *upper, *objective; /* [columns] */
    double *row_lower, *row_upper;     /* [rows] */
    double *about;                     /* [D] x = about + unit s (p - n): at first mu and 1 */
    double unit;
    void *memory; /* all of these */
} programme;

static double scale_of(const gbs_model *model, int64_t site)
{
    return 1.0 / sqrt(model->precision[site * model->dim + site]);
}

/* ---- sizes ---- */

static int is_box(const gbs_model *model, int64_t site)
{
    return model->lower != NULL && !gbs_model_is_fixed(model, site);
}

/* Bounds in order: by site its lower and upper, by row its lower and upper. */
static int64_t list_bounds(const gbs_model *model, bound *out)
{
    const gbs_constraints *const rows = model->constraints;
    int64_t count = 0;
    for (int64_t i = 0; i < model->dim; ++i)
        for (int upper = 0; upper < 2 && is_box(model, i); ++upper) {
            const double value = upper ? model->upper[i] : model->lower[i];
            if (isfinite(value) && out != NULL)
                out[count] = (bound){-1, i, upper, value};
            count += isfinite(value);
        }
    for (int64_t r = 0; rows != NULL && r < rows->rows; ++r)
        for (int upper = 0; upper < 2; ++upper) {
            const double value = upper ? rows->upper[r] : rows->lower[r];
            if (isfinite(value) && out != NULL)
                out[count] = (bound){r, -1, upper, value};
            count += isfinite(value);
        }
    return count;
}

static int64_t entries_of(const gbs_model *model, const bound *b)
{
    return b->row < 0 ? 1
                      : model->constraints->start[b->row + 1] - model->constraints->start[b->row];
}

/* Entry e of a bound's row: its site and its coefficient. */
static double entry_of(const gbs_model *model, const bound *b, int64_t e, int64_t *site)
{
    if (b->row < 0) {
        *site = b->site;
        return 1.0;
    }
    const int64_t at = model->constraints->start[b->row] + e;
    *site = model->constraints->site[at];
    return model->constraints->value[at];
}

static gbs_status allocate(gbs_context *ctx, programme *p, int64_t bounds)
{
    const int64_t dim = p->model->dim, columns = 2 * dim + 2, rows = bounds + dim;
    bound *const list = gbs_memory_take(&ctx->allocator, bounds, sizeof *list);
    if (list == NULL)
        return gbs_fail_memory(ctx, "start", bounds, sizeof *list);
    p->bound = list;
    list_bounds(p->model, list);
    int64_t entries = bounds + 3 * dim;
    for (int64_t r = 0; r < bounds; ++r)
        entries += 2 * entries_of(p->model, &list[r]);
    if (entries > INT32_MAX || columns > INT32_MAX)
        return gbs_fail(ctx, GBS_ERROR_LIMIT,
                        "start: %lld bounds of %lld sites are too many for the linear programme; "
                        "give one",
                        (long long)bounds, (long long)dim);
    const int64_t doubles = entries + 3 * columns + 2 * rows + dim, ints = columns + 1 + entries;
    double *const at = p->memory =
        gbs_memory_take(&ctx->allocator, doubles + (ints + 1) / 2, sizeof *at);
    if (at == NULL)
        return gbs_fail_memory(ctx, "start", doubles, sizeof *at);
    p->bounds = (int)bounds;
    p->rows = (int)rows;
    p->columns = (int)columns;
    p->value = at;
    p->lower = at + entries;
    p->upper = p->lower + columns;
    p->objective = p->upper + columns;
    p->row_lower = p->objective + columns;
    p->row_upper = p->row_lower + rows;
    p->about = p->row_upper + rows;
    memcpy(p->about, p->model->mean, (size_t)dim * sizeof *p->about);
    p->unit = 1.0;
    p->start = (int *)(void *)(p->about + dim);
    p->index = p->start + columns + 1;
    return GBS_OK;
}

static void give(gbs_context *ctx, programme *p)
{
    gbs_memory_give(&ctx->allocator, p->bound);
    gbs_memory_give(&ctx->allocator, p->memory);
}

/* ---- numbers ---- */

/* The row's conditional standard deviation, and its width w. */
static void measure(const gbs_model *model, const bound *b, double *sd, double *width)
{
    double largest = 0, square = 0;
    for (int pass = 0; pass < 2; ++pass)
        for (int64_t e = 0; e < entries_of(model, b); ++e) {
            int64_t site;
            const double a = fabs(entry_of(model, b, e, &site));
            if (gbs_model_is_fixed(model, site))
                continue;
            if (pass == 0)
                largest = fmax(largest, a * scale_of(model, site));
            else if (largest > 0)
                square += pow(a * scale_of(model, site) / largest, 2);
        }
    const double lower = b->row < 0 ? model->lower[b->site] : model->constraints->lower[b->row];
    const double upper = b->row < 0 ? model->upper[b->site] : model->constraints->upper[b->row];
    *sd = largest * sqrt(square);
    *width = fmin(*sd, upper - lower);
}

/* What the row is where p = n = 0 (fixed sites stand at their values), and the sum of its terms'
 * sizes. */
static double centre_of(const programme *p, const bound *b, double *size)
{
    double sum = 0;
    *size = 0;
    for (int64_t e = 0; e < entries_of(p->model, b); ++e) {
        int64_t site;
        const double a = entry_of(p->model, b, e, &site);
        sum = fma(a, p->about[site], sum);
        *size += fabs(a * p->about[site]);
    }
    return sum;
}

static void place_bound(programme *p, int row)
{
    const bound *const b = &p->bound[row];
    double sd, width, size;
    measure(p->model, b, &sd, &width);
    const double by = width > 0 ? 1.0 / width : 1.0; /* 0: all its sites are fixed, and it holds */
    const double at = (b->value - centre_of(p, b, &size)) * by / p->unit;
    p->row_lower[row] = b->upper || (p->unit < 1 && at < -NO_BOUND) ? -HUGE_VAL : at;
    p->row_upper[row] = !b->upper || (p->unit < 1 && at > NO_BOUND) ? HUGE_VAL : at;
}

/* Columns fill from `next` on, row by row, so that each is in ascending order of rows. */
static void fill_row(programme *p, int row, int *next)
{
    const gbs_model *const model = p->model;
    const bound *const b = &p->bound[row];
    double sd, width;
    measure(model, b, &sd, &width);
    const double by = width > 0 ? 1.0 / width : 1.0;
    place_bound(p, row);
    for (int64_t e = 0; e < entries_of(model, b); ++e) {
        int64_t site;
        const double a = entry_of(model, b, e, &site) * by;
        for (int64_t sign = 0; sign < 2; ++sign) {
            const int at = next[2 * site + sign]++;
            p->index[at] = row;
            p->value[at] = gbs_model_is_fixed(model, site)
                               ? 0.0
                               : (sign == 0 ? 1.0 : -1.0) * a * scale_of(model, site);
        }
    }
    const int at = next[p->columns - 2]++;
    p->index[at] = row;
    p->value[at] = width > 0 ? (b->upper ? 1.0 : -1.0) : 0.0;
}

/* u - p_i - n_i >= 0. */
static void fill_distance(programme *p, int site, int *next)
{
    const int row = p->bounds + site;
    const int column[3] = {2 * site, 2 * site + 1, p->columns - 1};
    p->row_upper[row] = HUGE_VAL;
    for (int k = 0; k < 3; ++k) {
        const int at = next[column[k]]++;
        p->index[at] = row;
        p->value[at] = k < 2 ? -1.0 : 1.0;
    }
}

static gbs_status fill(gbs_context *ctx, programme *p)
{
    const gbs_model *const model = p->model;
    int *const next = gbs_memory_take(&ctx->allocator, p->columns, sizeof *next);
    if (next == NULL)
        return gbs_fail_memory(ctx, "start", p->columns, sizeof *next);
    for (int64_t r = 0; r < p->bounds; ++r)
        for (int64_t e = 0; e < entries_of(model, &p->bound[r]); ++e) {
            int64_t site;
            entry_of(model, &p->bound[r], e, &site);
            p->start[2 * site + 1]++;
            p->start[2 * site + 2]++;
        }
    for (int c = 0; c < p->columns - 2; ++c)
        p->start[c + 1]++;
    p->start[p->columns - 1] = p->bounds;
    p->start[p->columns] = (int)model->dim;
    for (int c = 0; c < p->columns; ++c) {
        next[c] = p->start[c];
        p->start[c + 1] += p->start[c];
    }
    for (int row = 0; row < p->bounds; ++row)
        fill_row(p, row, next);
    for (int site = 0; site < (int)model->dim; ++site)
        fill_distance(p, site, next);
    for (int c = 0; c < p->columns; ++c)
        p->upper[c] = HUGE_VAL;
    p->upper[p->columns - 2] = 0.5;
    p->objective[p->columns - 2] = -1.0;
    gbs_memory_give(&ctx->allocator, next);
    return GBS_OK;
}

/* ---- what contradicts what ---- */

/* The fewest digits of 9, 15 and 17 that give the number back. */
static int digits_of(double value)
{
    for (int digits = 9; digits < 17; digits += 6) {
        char text[40]; /* in the caller's locale, as strtod reads it */
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            return digits;
    }
    return 17;
}

static void tell(const bound *b, char *text, size_t bytes)
{
    const int digits = digits_of(b->value);
    if (b->row >= 0)
        gbs_message_part(text, bytes, "row %lld %s %.*g", (long long)b->row,
                         b->upper ? "<=" : ">=", digits, b->value);
    else
        gbs_message_part(text, bytes, "site %lld %s %.*g", (long long)b->site,
                         b->upper ? "<=" : ">=", digits, b->value);
}

/* The bounds that carry weight, as many as fit. */
static gbs_status fail_naming(gbs_context *ctx, const programme *p, const double *weight,
                              const char *what)
{
    char names[320] = "";
    size_t used = 0;
    double most = 0;
    int64_t left = 0;
    for (int r = 0; weight != NULL && r < p->bounds; ++r)
        most = fmax(most, fabs(weight[r]));
    for (int r = 0; weight != NULL && r < p->bounds; ++r) {
        char one[80];
        if (!(fabs(weight[r]) > LEAST_WEIGHT * most))
            continue;
        tell(&p->bound[r], one, sizeof one);
        if (left > 0 || used + strlen(one) + 3 > sizeof names)
            ++left;
        else
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
                                     used > 0 ? ", " : "", one);
    }
    char more[40] = "";
    if (left > 0)
        snprintf(more, sizeof more, " and %lld more", (long long)left);
    return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "constraints: %s: %s%s", what,
                    used > 0 ? names : "all of them together", more);
}

/* Infinite sums would look like bounds without room between them.  A site of its own is measured by
 * its box, where that is the narrower. */
static gbs_status check_range(gbs_context *ctx, const programme *p)
{
    for (int row = 0; row < p->bounds; ++row) {
        const bound *const b = &p->bound[row];
        double sd, width, size;
        char name[80];
        measure(p->model, b, &sd, &width);
        if (isfinite(centre_of(p, b, &size)) && isfinite(b->row < 0 ? width : sd))
            continue;
        tell(b, name, sizeof name);
        return gbs_fail(ctx, GBS_ERROR_UNAVAILABLE,
                        "constraints: %s overflows double where its terms are added up, so that no "
                        "start is found; scale the row or give one",
                        name);
    }
    return GBS_OK;
}

static gbs_status check_reach(gbs_context *ctx, const programme *p)
{
    for (int row = 0; row < p->bounds; ++row) {
        char name[80];
        if (p->row_lower[row] <= FARTHEST && p->row_upper[row] >= -FARTHEST)
            continue;
        tell(&p->bound[row], name, sizeof name);
        return gbs_fail(
            ctx, GBS_ERROR_UNAVAILABLE,
            "constraints: %s is too far from the mean for Clp to find a start; give one", name);
    }
    return GBS_OK;
}

static gbs_status fail_infeasible(gbs_context *ctx, const gbs_clp *clp, Clp_Simplex *solver,
                                  const programme *p)
{
    double *const ray = clp->infeasibilityRay(solver);
    const gbs_status status = fail_naming(ctx, p, ray, "no point keeps these together");
    if (ray != NULL)
        clp->freeRay(solver, ray);
    return status;
}

/* ---- solving ---- */

static gbs_status fail_solver(gbs_context *ctx, int status)
{
    return gbs_fail(ctx, GBS_ERROR_UNAVAILABLE,
                    "constraints: Clp did not find a start (status %d); give one", status);
}

static double value_of(const programme *p, const double *solution, int64_t i)
{
    return fma(p->unit * scale_of(p->model, i), solution[2 * i] - solution[2 * i + 1], p->about[i]);
}

/* The same programme about the point found, in finer units. */
static void look_closer(programme *p, const double *solution)
{
    for (int64_t i = 0; i < p->model->dim; ++i)
        if (!gbs_model_is_fixed(p->model, i))
            p->about[i] = value_of(p, solution, i);
    p->unit *= FINER;
    for (int row = 0; row < p->bounds; ++row)
        place_bound(p, row);
}

/* Is the margin more than what rounding makes of the rows' sums? */
static int has_room(const programme *p, double margin)
{
    for (int row = 0; row < p->bounds; ++row) {
        double sd, width,
            size; /* of terms as large where p = n = 0 as at the point, but for a bit */
        measure(p->model, &p->bound[row], &sd, &width);
        centre_of(p, &p->bound[row], &size);
        if (width > 0 && !(margin * p->unit * width > ROUNDINGS * DBL_EPSILON * size))
            return 0;
    }
    return 1;
}

static gbs_status solve(gbs_context *ctx, const gbs_clp *clp, Clp_Simplex *solver, programme *p)
{
    const int t = p->columns - 2, u = p->columns - 1;
    double margin;
    clp->setLogLevel(solver, 0);
    clp->setPrimalTolerance(solver, LEAST_MARGIN);
    for (;;) {
        clp->loadProblem(solver, p->columns, p->rows, p->start, p->index, p->value, p->lower,
                         p->upper, p->objective, p->row_lower, p->row_upper);
        clp->dual(solver, 0);
        if (clp->status(solver) == 1)
            return fail_infeasible(ctx, clp, solver, p);
        if (clp->status(solver) != 0)
            return fail_solver(ctx, clp->status(solver));
        margin = clp->primalColumnSolution(solver)[t];
        if (margin >= LEAST_MARGIN)
            break;
        if (p->unit * FINER < LEAST_UNIT)
            return fail_naming(ctx, p, clp->dualRowSolution(solver),
                               "these leave no room between them");
        look_closer(p, clp->primalColumnSolution(solver));
    }
    if (p->unit < 1) /* the middle of so small a set is near enough */
        return has_room(p, margin) ? GBS_OK
                                   : fail_naming(ctx, p, clp->dualRowSolution(solver),
                                                 "these leave no room between them");
    for (int c = 0; c < t; ++c)
        p->objective[c] = 1.0 / (4.0 * (double)p->model->dim);
    p->objective[t] = 0.0;
    p->objective[u] = 1.0;
    p->lower[t] = fmin(margin / 2, NEARER);
    clp->chgObjCoefficients(solver, p->objective);
    clp->chgColumnLower(solver, p->lower);
    clp->primal(solver, 0);
    return clp->status(solver) == 0 ? GBS_OK : fail_solver(ctx, clp->status(solver));
}

static void read_point(const programme *p, const double *solution, double *x)
{
    const gbs_model *const model = p->model;
    for (int64_t i = 0; i < model->dim; ++i) {
        x[i] = value_of(p, solution, i);
        if (gbs_model_is_fixed(model, i))
            x[i] = model->fixed[i];
        else if (model->lower != NULL)
            x[i] = fmin(fmax(x[i], model->lower[i]), model->upper[i]);
    }
}

static gbs_status find_inside(gbs_context *ctx, const gbs_model *model, int64_t bounds, double *x)
{
    gbs_clp clp;
    if (!gbs_clp_load(&clp))
        return gbs_fail(ctx, GBS_ERROR_UNAVAILABLE,
                        "constraints: a start inside them is found by Clp (libClp.so.1, in Debian "
                        "coinor-libclp1), which is not installed; install it or give a start");
    programme p = {.model = model};
    gbs_status status = allocate(ctx, &p, bounds);
    assert(status != GBS_OK || p.memory != NULL);
    if (status == GBS_OK)
        status = check_range(ctx, &p);
    if (status == GBS_OK)
        status = fill(ctx, &p);
    if (status == GBS_OK)
        status = check_reach(ctx, &p);
    Clp_Simplex *const solver = status == GBS_OK ? clp.newModel() : NULL;
    if (solver != NULL) {
        status = solve(ctx, &clp, solver, &p);
        if (status == GBS_OK)
            read_point(&p, clp.primalColumnSolution(solver), x);
        clp.deleteModel(solver);
    }
    give(ctx, &p);
    return status;
}

gbs_status gbs_model_interior(gbs_context *ctx, const gbs_model *model, double *x)
{
    if (ctx == NULL || model == NULL || x == NULL)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "interior: context, model and x must not be NULL");
    const int64_t bounds = list_bounds(model, NULL);
    if (bounds > 0)
        return find_inside(ctx, model, bounds, x);
    memcpy(x, model->mean, (size_t)model->dim * sizeof *x);
    return GBS_OK;
}
