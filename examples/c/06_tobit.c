/* Tobit regression: y = max(0, y*), y* = b0 + b1 x + s e.  A Gibbs loop of one's own, with its
 * three laws drawn by the library, four chains side by side (Chib, Journal of Econometrics 51,
 * 1992):
 *
 *     y* | b, s   normals between bounds: below 0 where y = 0, else y* = y (equal bounds)
 *     b  | y*, s  a Gaussian, precision X'X / s^2 + I / 100, information X'y* / s^2: one sweep
 *     s^2 | y*, b sum of squares over a chi-square, which is a sum of squared normals
 *
 * Each call names the iteration as its sweep, so every draw is a new one and the run repeatable.
 *
 *     cc 06_tobit.c $(pkg-config --cflags --libs gibbsite) -lm -o tobit && ./tobit
 */
#include "check.h"
#include <math.h>

enum { N = 200, CHAINS = 4, WARMUP = 200, DRAWS = 1000, DATA = 43, SEED = 1, SPARE = 2 };

static double x[N], y[N];
static double b[CHAINS][2], s[CHAINS];            /* the state */
static double kept[3][CHAINS][DRAWS];             /* b0, b1, s */
static double mean[CHAINS][N], latent[CHAINS][N]; /* of y* */
static double normal[N][CHAINS];

static void make_data(gbs_context *ctx)
{
    double z[N][2];
    check(ctx, gbs_native_normals(ctx, GBS_F64, DATA, 0, 0, 2, N, z));
    for (int i = 0; i < N; i++) {
        const double star = -0.5 + z[i][0] + 1.5 * z[i][1];
        x[i] = z[i][0];
        y[i] = star > 0 ? star : 0;
    }
}

static void draw_latent(gbs_context *ctx, int64_t t)
{
    const int64_t all[] = {CHAINS, N}, one_a_chain[] = {CHAINS, 1}, sites[] = {N};
    double lower[N];
    for (int i = 0; i < N; i++)
        lower[i] = y[i] > 0 ? y[i] : -INFINITY;
    for (int c = 0; c < CHAINS; c++)
        for (int i = 0; i < N; i++)
            mean[c][i] = b[c][0] + b[c][1] * x[i];
    gbs_truncnorm_spec spec = gbs_truncnorm_spec_default();
    spec.dims = 2;
    spec.shape[0] = CHAINS;
    spec.shape[1] = N;
    spec.mean = gbs_operand_array(mean, 2, all);
    spec.sd = gbs_operand_array(s, 2, one_a_chain);
    spec.lower = gbs_operand_array(lower, 1, sites);
    spec.upper = gbs_operand_array(y, 1, sites);
    spec.seed = SEED;
    spec.sweep = t;
    check(ctx, gbs_truncnorm_f64(ctx, &spec, &latent[0][0]));
}

static void draw_coefficients(gbs_context *ctx, int64_t t)
{
    double precision[CHAINS][2][2] = {0}, information[CHAINS][2] = {0};
    for (int c = 0; c < CHAINS; c++) {
        const double w = 1 / (s[c] * s[c]);
        precision[c][0][0] = precision[c][1][1] = 0.01;
        for (int i = 0; i < N; i++) {
            precision[c][0][0] += w;
            precision[c][0][1] += w * x[i];
            precision[c][1][1] += w * x[i] * x[i];
            information[c][0] += w * latent[c][i];
            information[c][1] += w * x[i] * latent[c][i];
        }
        precision[c][1][0] = precision[c][0][1];
    }
    gbs_sweep_spec spec = gbs_sweep_spec_default();
    spec.type = GBS_F64;
    spec.groups = CHAINS; /* each with a matrix of its own */
    spec.chains = 1;
    spec.dim = 2;
    spec.precision = precision;
    spec.precision_group_stride = 4;
    spec.precision_row_stride = 2;
    spec.location_kind = GBS_LOCATION_INFORMATION;
    spec.location = information;
    spec.location_group_stride = 2;
    spec.x = spec.out = b;
    spec.x_stride[0] = spec.out_stride[0] = 2;
    spec.x_stride[1] = spec.out_stride[1] = 2;
    spec.x_stride[2] = spec.out_stride[2] = 1;
    spec.order = GBS_ORDER_SYMMETRIC;
    spec.seed = SEED;
    spec.first_sweep = t;
    check(ctx, gbs_sweep(ctx, &spec));
}

static void draw_scale(gbs_context *ctx, int64_t t)
{
    check(ctx, gbs_native_normals(ctx, GBS_F64, SPARE, t, 0, CHAINS, N, normal));
    for (int c = 0; c < CHAINS; c++) {
        double squares = 0, chi_square = 0;
        for (int i = 0; i < N; i++) {
            const double e = latent[c][i] - b[c][0] - b[c][1] * x[i];
            squares += e * e;
            chi_square += normal[i][c] * normal[i][c];
        }
        s[c] = sqrt(squares / chi_square);
    }
}

static void print_row(gbs_context *ctx, const char *name, int k, double truth)
{
    const gbs_draws draws = {&kept[k][0][0], CHAINS, DRAWS, DRAWS, 1};
    gbs_summary row;
    check(ctx, gbs_diag_summaries(ctx, &draws, 1, 0, NULL, &row, NULL));
    printf("%s %6.2f +- %.2f, made with %5.2f (R-hat %.2f)\n", name, row.mean, row.sd, truth,
           row.rhat);
}

int main(void)
{
    gbs_context *ctx;
    int censored = 0;
    check(NULL, gbs_context_create(NULL, &ctx));
    make_data(ctx);
    for (int i = 0; i < N; i++)
        censored += y[i] == 0;
    for (int c = 0; c < CHAINS; c++)
        s[c] = 1 + c; /* apart, so that R-hat can tell */
    for (int64_t t = 0; t < WARMUP + DRAWS; t++) {
        draw_latent(ctx, t);
        draw_coefficients(ctx, t);
        draw_scale(ctx, t);
        for (int c = 0; c < CHAINS && t >= WARMUP; c++) {
            kept[0][c][t - WARMUP] = b[c][0];
            kept[1][c][t - WARMUP] = b[c][1];
            kept[2][c][t - WARMUP] = s[c];
        }
    }
    printf("%d of %d values are 0\n", censored, N);
    print_row(ctx, "b0", 0, -0.5);
    print_row(ctx, "b1", 1, 1);
    print_row(ctx, "s ", 2, 1.5);
    gbs_context_destroy(ctx);
    return 0;
}
