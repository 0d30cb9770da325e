/* The steps of docs/constraints.md, one operation a line, as the page has them: numbers of T are
 * kept in doubles and rounded after each operation.  Nothing of the library's kernels but the draw
 * between two bounds, which has tests of its own. */
#include "device/fake_steps.h"

#include "rng/vocab_scalar.h" /* before what is written in its words */
#include "rng/truncnorm.h"

#include <math.h>
#include <string.h>

/* ---- copies ---- */

static double element(gbs_type type, const void *array, int64_t at)
{
    return type == GBS_F32 ? (double)((const float *)array)[at] : ((const double *)array)[at];
}

static const double *put_numbers(gbs_type type, const void *from, int64_t count, char **at)
{
    double *const to = (double *)(void *)*at;
    for (int64_t k = 0; k < count; ++k)
        to[k] = element(type, from, k);
    *at += (size_t)count * sizeof *to;
    return to;
}

static const int64_t *put_counts(const int64_t *from, int64_t count, char **at)
{
    int64_t *const to = (int64_t *)(void *)*at;
    if (count > 0)
        memcpy(to, from, (size_t)count * sizeof *to);
    *at += (size_t)count * sizeof *to;
    return to;
}

static void put_places(const gbs_device_plan *plan, fake_steps *out, char **at)
{
    int64_t *const kind = (int64_t *)(void *)*at, *const site = kind + plan->dim;
    for (int64_t p = 0; p < plan->dim; ++p) {
        kind[p] = plan->kind[p];
        site[p] = plan->site != NULL ? plan->site[p] : p;
    }
    out->kind = kind;
    out->site = site;
    *at += 2 * (size_t)plan->dim * sizeof *kind;
}

int fake_steps_make(const gbs_device_plan *plan, const gbs_allocator *memory, fake_steps *out)
{
    const gbs_row_lists *const rows = plan->rows;
    const int64_t count = rows->rows, dim = plan->dim;
    const int64_t entries = count > 0 ? rows->entry_start[count] : 0;
    const int64_t moves = count > 0 ? rows->move_start[dim] : 0;
    const int64_t words =
        4 * dim + plan->panel_elements + 4 * count + 2 * entries + dim + 2 + 3 * moves;
    char *at = memory->allocate((size_t)words * 8, memory->user);
    *out = (fake_steps){.type = plan->type, .dim = dim, .rows = count, .block = at};
    if (at == NULL)
        return 0;
    put_places(plan, out, &at);
    out->lower = put_numbers(plan->type, plan->lower, dim, &at);
    out->upper = put_numbers(plan->type, plan->upper, dim, &at);
    out->panels = put_numbers(plan->type, plan->panels, plan->panel_elements, &at);
    if (count == 0)
        return 1;
    out->row_bounds = put_numbers(plan->type, rows->bounds, 2 * count, &at);
    out->entry_start = put_counts(rows->entry_start, count + 1, &at);
    out->entry_place = put_counts(rows->entry_place, entries, &at);
    out->entry_value = put_numbers(plan->type, rows->entry_value, entries, &at);
    out->move_start = put_counts(rows->move_start, dim + 1, &at);
    out->move_row = put_counts(rows->move_row, moves, &at);
    out->change = put_numbers(plan->type, rows->move_change, moves, &at);
    out->inverse = put_numbers(plan->type, rows->move_inverse, moves, &at);
    out->sums = (double *)(void *)at;
    return 1;
}

/* ---- arithmetic of T ---- */

static double rounded(const fake_steps *s, double value)
{
    return s->type == GBS_F32 ? (double)(float)value : value;
}

static double fused(const fake_steps *s, double a, double x, double r)
{
    return s->type == GBS_F32 ? (double)fmaf((float)a, (float)x, (float)r) : fma(a, x, r);
}

static double between(const fake_steps *s, double m, double sd, double lo, double hi, uint64_t word)
{
    if (s->type == GBS_F64)
        return gbs_between_f64(m, sd, lo, hi, word);
    return (double)gbs_between_f32((float)m, (float)sd, (float)lo, (float)hi, (uint32_t)word);
}

/* ---- rows, and how far a step may go ---- */

static void sum_rows(const fake_steps *s, const double *x)
{
    for (int64_t r = 0; r < s->rows; ++r) {
        double sum = 0;
        for (int64_t e = s->entry_start[r]; e < s->entry_start[r + 1]; ++e)
            sum = fused(s, s->entry_value[e], x[s->entry_place[e]], sum);
        s->sums[r] = sum;
    }
}

typedef struct interval {
    double low, up;
} interval;

static void narrow(const fake_steps *s, double lower, double upper, double inverse, double value,
                   interval *of)
{
    const double bounds[2] = {lower, upper};
    for (int k = 0; k < 2; ++k) {
        const double way = rounded(s, rounded(s, bounds[k] - value) * inverse);
        if (isinf(bounds[k]) || isnan(inverse))
            continue;
        if ((inverse < 0) == (k == 0))
            of->up = way < of->up ? way : of->up;
        else
            of->low = way > of->low ? way : of->low;
    }
}

/* The rows' part for direction i, which holds 0. */
static interval within_rows(const fake_steps *s, int64_t i, interval of)
{
    for (int64_t e = s->rows > 0 ? s->move_start[i] : 0; s->rows > 0 && e < s->move_start[i + 1];
         ++e) {
        const int64_t r = s->move_row[e];
        narrow(s, s->row_bounds[2 * r], s->row_bounds[2 * r + 1], s->inverse[e], s->sums[r], &of);
    }
    return (interval){of.low < 0 ? of.low : 0, of.up > 0 ? of.up : 0};
}

static void move_rows(const fake_steps *s, int64_t i, double step)
{
    for (int64_t e = s->rows > 0 ? s->move_start[i] : 0; s->rows > 0 && e < s->move_start[i + 1];
         ++e)
        s->sums[s->move_row[e]] = fused(s, s->change[e], step, s->sums[s->move_row[e]]);
}

/* ---- sweeps ---- */

static double held(double value, double lower, double upper)
{
    const double above = value > lower ? value : lower;
    return above < upper ? above : upper;
}

void fake_steps_whitened(const fake_steps *s, const fake_numbers *numbers, double *x)
{
    const double *const mean = s->panels, *factor = mean + s->dim;
    sum_rows(s, x);
    for (int64_t i = 0; i < s->dim; factor += s->dim + i + 2, ++i) {
        const double *const column = factor + s->dim - i, *const inverse = column + i + 1;
        interval of = {-INFINITY, INFINITY};
        double y = 0, step;
        if (s->kind[i] == GBS_STEP_NONE)
            continue;
        for (int64_t j = i; j < s->dim; ++j)
            y = fused(s, factor[j - i], rounded(s, x[j] - mean[j]), y);
        for (int64_t j = 0; j <= i; ++j)
            narrow(s, s->lower[j], s->upper[j], inverse[j], x[j], &of);
        of = within_rows(s, i, of);
        if (s->kind[i] == GBS_STEP_HELD)
            step = between(s, -y, 1, of.low, of.up, numbers->word(numbers->user, i));
        else
            step = rounded(s, numbers->normal(numbers->user, i) - y);
        for (int64_t j = 0; j <= i; ++j)
            x[j] = held(fused(s, column[j], step, x[j]), s->lower[j], s->upper[j]);
        move_rows(s, i, step);
    }
}

/* x_q of a site that bounds or rows hold, its conditional mean being m. */
static double drawn(const fake_steps *s, int64_t q, double m, double sd, double x, uint64_t word)
{
    const interval of = within_rows(s, s->site[q], (interval){-INFINITY, INFINITY});
    const double low = rounded(s, x + of.low), up = rounded(s, x + of.up);
    return between(s, m, sd, low > s->lower[q] ? low : s->lower[q],
                   up < s->upper[q] ? up : s->upper[q], word);
}

void fake_steps_sweep(const fake_steps *s, const double *coefficients, const double *scale,
                      const double *centre, int backward, const fake_numbers *numbers, double *x)
{
    sum_rows(s, x);
    for (int64_t p = 0; p < s->dim; ++p) {
        const int64_t q = backward ? s->dim - 1 - p : p;
        double r = centre[q];
        if (s->kind[q] == GBS_STEP_NONE)
            continue;
        if (s->kind[q] == GBS_STEP_FREE)
            r = fused(s, scale[q], numbers->normal(numbers->user, q), r);
        for (int64_t k = 1; k < s->dim; ++k) {
            const int64_t v = (p + k) % s->dim, j = backward ? s->dim - 1 - v : v;
            r = fused(s, coefficients[q * s->dim + j], x[j], r);
        }
        if (s->kind[q] == GBS_STEP_HELD)
            r = drawn(s, q, r, scale[q], x[q], numbers->word(numbers->user, q));
        const double step = rounded(s, r - x[q]);
        x[q] = r;
        move_rows(s, s->site[q], step);
    }
}
