/* Bounds that a type cannot tell from the draws beside them.  Where the conditional mean of a site
 * lies d > sd beyond its bound, a draw lies about sd^2 / d inside it.  The other sites decide where
 * that mean is, so it is looked at in the mode of the law between its bounds: the mode minimises
 * (x - mu)' Q (x - mu) there, by projected gradients with momentum (Beck and Teboulle, SIAM J.
 * Imaging Sci. 2, 2009), which starts anew where it leads uphill (O'Donoghue and Candes, Found.
 * Comput. Math. 15, 2015). */
#include "model/bounds.h"
#include "model/condition.h"

#include <math.h>

/* Of multiply-adds in all, so that large models take about half a second at most. */
#define WORK ((int64_t)1 << 29)
enum { FEWEST_PASSES = 64, MOST_PASSES = 4096, ARRAYS = 7 };

/* Every site in its conditional standard deviations from the mean, over `scale`: the matrix is then
 * A_ij = sd_i Q_ij sd_j with diagonal 1, and site i's conditional mean y_i - (A y)_i. */
typedef struct search {
    const gbs_model *model;
    int64_t dim;
    double scale;
    double *sd;            /* 0 at fixed sites */
    double *lower, *upper; /* in those units; 0 at fixed sites */
    double *y, *ahead;     /* the point, and the one that momentum leads to */
    double *gradient;      /* A times one of them */
    double *sum;           /* while it is made */
} search;

static double held(double x, double lower, double upper)
{
    return x < lower ? lower : x > upper ? upper : x;
}

/* Far bounds stay finite in units of small deviations. */
static double in_units(double bound, double mean, double sd)
{
    return isinf(bound) ? bound : held((bound - mean) / sd, -1e300, 1e300);
}

static void enter(search *s, const gbs_model *model, gbs_type type, double *memory)
{
    const int64_t n = model->dim;
    *s = (search){.model = model,
                  .dim = n,
                  .sd = memory,
                  .lower = memory + n,
                  .upper = memory + 2 * n,
                  .y = memory + 3 * n,
                  .ahead = memory + 4 * n,
                  .gradient = memory + 5 * n,
                  .sum = memory + 6 * n};
    double farthest = 0;
    for (int64_t i = 0; i < n; ++i) {
        if (gbs_model_is_fixed(model, i))
            continue;
        const gbs_box box = gbs_bounds_box(model, type, i);
        s->sd[i] = 1.0 / sqrt(model->precision[i * n + i]);
        s->lower[i] = in_units(box.lower, model->mean[i], s->sd[i]);
        s->upper[i] = in_units(box.upper, model->mean[i], s->sd[i]);
        s->y[i] = held(0, s->lower[i], s->upper[i]);
        farthest = fmax(farthest, fabs(s->y[i]));
    }
    s->scale = farthest > 0 ? farthest : 1;
    for (int64_t i = 0; i < n; ++i) {
        s->lower[i] /= s->scale;
        s->upper[i] /= s->scale;
        s->y[i] /= s->scale;
    }
}

/* The gradient at x: by rows, as the matrix is symmetric. */
static void look(search *s, const double *x)
{
    const int64_t n = s->dim;
    double *const restrict sum = s->sum;
    for (int64_t i = 0; i < n; ++i)
        sum[i] = 0;
    for (int64_t j = 0; j < n; ++j) {
        const double *const row = s->model->precision + j * n, t = s->sd[j] * x[j];
        for (int64_t i = 0; i < n && t != 0; ++i)
            sum[i] += row[i] * t;
    }
    for (int64_t i = 0; i < n; ++i)
        s->gradient[i] = s->sd[i] * sum[i];
}

/* At least the largest eigenvalue of A. */
static double steepest(const search *s)
{
    double most = 1;
    for (int64_t i = 0; i < s->dim; ++i) {
        const double *const row = s->model->precision + i * s->dim;
        double sum = 0;
        for (int64_t j = 0; j < s->dim; ++j)
            sum += fabs(row[j]) * s->sd[j];
        most = fmax(most, sum * s->sd[i]);
    }
    return most;
}

/* One step from `ahead`, whose gradient is known.  Returns how far the farthest site went. */
static double step(search *s, double most, double *momentum)
{
    const double next = (1 + sqrt(1 + 4 * *momentum * *momentum)) / 2;
    double moved = 0, uphill = 0;
    for (int64_t i = 0; i < s->dim; ++i) {
        const double old = s->y[i], from = s->ahead[i];
        const double x = held(from - s->gradient[i] / most, s->lower[i], s->upper[i]);
        moved = fmax(moved, fmax(fabs(x - from), fabs(x - old)));
        uphill += (from - x) * (x - old);
        s->y[i] = x;
        s->ahead[i] = x + (*momentum - 1) / next * (x - old);
    }
    *momentum = next;
    if (uphill <= 0)
        return moved;
    *momentum = 1;
    for (int64_t i = 0; i < s->dim; ++i)
        s->ahead[i] = s->y[i];
    return moved;
}

/* From the point of the box that is nearest to the mean, site by site, towards the mode. */
static void find_mode(search *s)
{
    const int64_t fit = WORK / s->dim / s->dim;
    const int64_t passes = fit < FEWEST_PASSES ? FEWEST_PASSES
                           : fit > MOST_PASSES ? MOST_PASSES
                                               : fit;
    const double most = steepest(s);
    double momentum = 1;
    for (int64_t i = 0; i < s->dim; ++i)
        s->ahead[i] = s->y[i];
    for (int64_t pass = 0; pass < passes; ++pass) {
        look(s, s->ahead);
        if (step(s, most, &momentum) <= 1e-14)
            break;
    }
    look(s, s->y);
}

/* From the bound to the next number inside; 0 for no bound. */
static double step_inside(gbs_type type, double bound, double towards)
{
    if (isinf(bound))
        return 0;
    return type == GBS_F32 ? fabs((double)nextafterf((float)bound, (float)towards) - bound)
                           : fabs(nextafter(bound, towards) - bound);
}

/* Draws lie about `excess` inside; below two steps of T, 1 - exp(-1/4) of them, a fifth and more,
 * are rounded to the bound. */
static int is_lost(double excess, double step)
{
    return excess < 2 * step;
}

/* Of a bound `beyond` standard deviations from the mean, which is outside unless that is negative.
 */
static double excess_of(double sd, double beyond)
{
    return beyond > 1 ? sd / beyond : beyond >= 0 ? sd : (double)INFINITY;
}

static int is_unresolved(const search *s, gbs_type type, int64_t i)
{
    const gbs_box box = gbs_bounds_box(s->model, type, i);
    if (box.kind != GBS_BOX_HOLDS)
        return 0;
    const double below = s->scale * (s->lower[i] - s->y[i] + s->gradient[i]);
    const double above = s->scale * (s->y[i] - s->upper[i] - s->gradient[i]);
    return is_lost(excess_of(s->sd[i], below), step_inside(type, box.lower, INFINITY)) ||
           is_lost(excess_of(s->sd[i], above), step_inside(type, box.upper, -INFINITY));
}

/* Whether no conditional mean can be far enough out, wherever the mode is: its energy is at most
 * that of any point of the box, and |(A y)_i|^2 at most its energy. */
static int is_resolved_anyway(const search *s, gbs_type type)
{
    double energy = 0;
    for (int64_t i = 0; i < s->dim; ++i)
        energy += s->y[i] * s->gradient[i];
    const double farthest = fmax(1, s->scale * sqrt(fmax(0, energy)));
    for (int64_t i = 0; i < s->dim; ++i) {
        const gbs_box box = gbs_bounds_box(s->model, type, i);
        if (box.kind == GBS_BOX_HOLDS &&
            (is_lost(s->sd[i] / farthest, step_inside(type, box.lower, INFINITY)) ||
             is_lost(s->sd[i] / farthest, step_inside(type, box.upper, -INFINITY))))
            return 0;
    }
    return 1;
}

gbs_status gbs_bounds_count_unresolved(gbs_context *ctx, const gbs_model *model, gbs_type type,
                                       gbs_boxes *boxes)
{
    search s;
    double *const memory =
        gbs_memory_take(&ctx->allocator, model->dim, ARRAYS * sizeof(double)); /* of zeros */
    if (memory == NULL)
        return gbs_fail_memory(ctx, "boxes", model->dim, ARRAYS * sizeof(double));
    enter(&s, model, type, memory);
    look(&s, s.y);
    if (!is_resolved_anyway(&s, type)) {
        find_mode(&s);
        for (int64_t i = 0; i < model->dim; ++i)
            if (is_unresolved(&s, type, i) && boxes->unresolved++ == 0)
                boxes->unresolved_site = i;
    }
    gbs_memory_give(&ctx->allocator, memory);
    return GBS_OK;
}
