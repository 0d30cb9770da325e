/* An autoregression that stays positive, seen with noise: y = x + s e, x an AR(1) with steps of
 * standard deviation r, conditioned on x >= 0 at all times.  A Gibbs loop of one's own:
 *
 *     x   | r, s  a Gaussian above zero, precision R / r^2 + I / s^2, information y / s^2: one
 *                 whitened sweep, which moves all times at once
 *     1/r^2, 1/s^2 | x  gamma distributed (priors with shape 1, rate 0.1).  That x is positive does
 *                 not enter: the probability of it is the same for every r
 *
 * A gamma variable with shape n / 2 is half a chi-square, a sum of n squared normals.
 *
 *     cc 08_positive_ar1.c $(pkg-config --cflags --libs gibbsite) -lm -o ar1 && ./ar1
 */
#include "check.h"
#include <math.h>
#include <string.h>

enum { T = 100, CHAINS = 4, WARMUP = 200, DRAWS = 1000, DATA = 42, SEED = 1, MIDDLE = T / 2 };

static const double phi = 0.9, true_r = 0.5, true_s = 1;
static double truth[T], y[T], smallest = INFINITY;
static double x[CHAINS][T], r[CHAINS], s[CHAINS]; /* the state */
static double kept[3][CHAINS][DRAWS];             /* r, s, x in the middle */

/* Moves one chain on by so many sweeps; information NULL: the law without data. */
static void draw_path(gbs_context *ctx, double step, double noise, const double *information,
                      uint64_t seed, int64_t chain, int64_t first_sweep, int64_t sweeps,
                      double *path)
{
    static double precision[T][T];
    double lower[T] = {0};
    gbs_model *model;
    gbs_sampler *sampler;
    memset(precision, 0, sizeof precision);
    for (int t = 0; t < T; t++) {
        precision[t][t] = (t == 0 || t == T - 1 ? 1 : 1 + phi * phi) / (step * step);
        if (information)
            precision[t][t] += 1 / (noise * noise);
        if (t > 0)
            precision[t][t - 1] = precision[t - 1][t] = -phi / (step * step);
    }
    gbs_model_spec m = gbs_model_spec_default();
    m.dim = T;
    m.matrix = precision;
    m.location_kind = information ? GBS_LOCATION_INFORMATION : GBS_LOCATION_ZERO;
    m.location = information;
    m.lower = lower;
    check(ctx, gbs_model_create(ctx, &m, &model));
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    spec.method = GBS_METHOD_WHITENED;
    spec.seed = seed;
    spec.first_chain = chain;
    spec.first_sweep = first_sweep;
    spec.start = GBS_START_GIVEN;
    spec.initial = path;
    spec.initial_rows = 1;
    check(ctx, gbs_sampler_create(ctx, model, &spec, &sampler));
    check(ctx, gbs_sampler_run(sampler, sweeps));
    check(ctx, gbs_sampler_get_state(sampler, path));
    gbs_sampler_destroy(sampler);
    gbs_model_release(model);
}

static void make_data(gbs_context *ctx)
{
    double e[T];
    draw_path(ctx, true_r, 1, NULL, DATA, 0, 0, 1000, truth);
    check(ctx, gbs_native_normals(ctx, GBS_F64, DATA, 0, 0, 1, T, e));
    for (int t = 0; t < T; t++)
        y[t] = truth[t] + true_s * e[t];
}

/* x' R x, the sum of squared steps. */
static double squared_steps(const double *path)
{
    double sum = (1 - phi * phi) * path[0] * path[0];
    for (int t = 1; t < T; t++)
        sum += (path[t] - phi * path[t - 1]) * (path[t] - phi * path[t - 1]);
    return sum;
}

static void draw_scales(gbs_context *ctx, int64_t sweep)
{
    double normal[2][T + 2][CHAINS];
    check(ctx, gbs_native_normals(ctx, GBS_F64, SEED + 1, sweep, 0, CHAINS, 2 * (T + 2),
                                  &normal[0][0][0]));
    for (int c = 0; c < CHAINS; c++) {
        double chi_square[2] = {0}, squares = 0;
        for (int k = 0; k < 2; k++)
            for (int t = 0; t < T + 2; t++)
                chi_square[k] += normal[k][t][c] * normal[k][t][c];
        for (int t = 0; t < T; t++)
            squares += (y[t] - x[c][t]) * (y[t] - x[c][t]);
        r[c] = sqrt((squared_steps(x[c]) + 0.2) / chi_square[0]);
        s[c] = sqrt((squares + 0.2) / chi_square[1]);
    }
}

static void sweep_all(gbs_context *ctx, int64_t sweep)
{
    for (int c = 0; c < CHAINS; c++) {
        double information[T];
        for (int t = 0; t < T; t++)
            information[t] = y[t] / (s[c] * s[c]);
        draw_path(ctx, r[c], s[c], information, SEED, c, sweep, 1, x[c]);
        for (int t = 0; t < T; t++)
            smallest = x[c][t] < smallest ? x[c][t] : smallest;
    }
    draw_scales(ctx, sweep);
}

int main(void)
{
    static const char *const names[] = {"step", "noise", "x[50]"};
    gbs_context *ctx;
    gbs_summary row[3];
    check(NULL, gbs_context_create(NULL, &ctx));
    make_data(ctx);
    for (int c = 0; c < CHAINS; c++)
        r[c] = s[c] = 0.5 * (1 + c); /* apart, so that R-hat can tell */
    for (int64_t sweep = 0; sweep < WARMUP + DRAWS; sweep++) {
        sweep_all(ctx, sweep);
        for (int c = 0; c < CHAINS && sweep >= WARMUP; c++) {
            kept[0][c][sweep - WARMUP] = r[c];
            kept[1][c][sweep - WARMUP] = s[c];
            kept[2][c][sweep - WARMUP] = x[c][MIDDLE];
        }
    }
    const double made_with[] = {true_r, true_s, truth[MIDDLE]};
    const gbs_draws first = {&kept[0][0][0], CHAINS, DRAWS, DRAWS, 1};
    check(ctx, gbs_diag_summaries(ctx, &first, 3, CHAINS * DRAWS, NULL, row, NULL));
    for (int k = 0; k < 3; k++)
        printf("%-5s %5.2f +- %.2f, made with %4.2f (R-hat %.2f)\n", names[k], row[k].mean,
               row[k].sd, made_with[k], row[k].rhat);
    printf("every x of every draw is %s\n", smallest >= 0 ? "positive" : "not positive");
    gbs_context_destroy(ctx);
    return 0;
}
