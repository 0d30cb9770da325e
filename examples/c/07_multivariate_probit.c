/* Multivariate probit: four yearly yes-or-no answers of each child, z = X b + e, answer = (z > 0),
 * the four e of a child with variances 1 and correlation rho (Chib and Greenberg, Biometrika 85,
 * 1998; their Six Cities data have this shape, these numbers are made up).  A Gibbs loop of one's
 * own, four chains side by side:
 *
 *     z   | b, rho   child by child a Gaussian within a box: each year given the other three, all
 *                    children and chains in one call
 *     b   | z, rho   a Gaussian of dimension 4: sweeps in one call, a matrix for each chain
 *     rho | z, b     a Metropolis step from normals, of which two make a logarithm of a uniform
 *
 *     cc 07_multivariate_probit.c $(pkg-config --cflags --libs gibbsite) -lm -o probit && ./probit
 */
#include "check.h"
#include <math.h>

enum { N = 537, YEARS = 4, P = 4, CHAINS = 4, WARMUP = 200, DRAWS = 1000, DATA = 42, SEED = 1 };

static double x[YEARS][N][P], lower[YEARS][N], upper[YEARS][N];
static double z[YEARS][CHAINS][N], b[CHAINS][P], rho[CHAINS]; /* the state */
static double mean[CHAINS][N], sd[CHAINS], kept[P + 1][CHAINS][DRAWS];
static const double made_with[P + 1] = {-1.1, -0.1, 0.3, 0.05, 0.6};

static double dot(const double *a, const double *c)
{
    double sum = 0;
    for (int k = 0; k < P; k++)
        sum += a[k] * c[k];
    return sum;
}

static void make_data(gbs_context *ctx)
{
    double normal[N][YEARS + 1];
    check(ctx, gbs_native_normals(ctx, GBS_F64, DATA, 0, 0, YEARS + 1, N, normal));
    for (int j = 0; j < YEARS; j++)
        for (int i = 0; i < N; i++) {
            const double age = j - 2, smoke = i % 3 == 0;
            const double row[P] = {1, age, smoke, age * smoke};
            const double e = sqrt(0.6) * normal[i][YEARS] + sqrt(0.4) * normal[i][j];
            for (int k = 0; k < P; k++)
                x[j][i][k] = row[k];
            const int yes = dot(row, made_with) + e > 0;
            lower[j][i] = yes ? 0 : -INFINITY;
            upper[j][i] = yes ? INFINITY : 0;
        }
}

static void draw_latent(gbs_context *ctx, int64_t t)
{
    const int64_t all[] = {CHAINS, N}, one_a_chain[] = {CHAINS, 1}, children[] = {N};
    for (int j = 0; j < YEARS; j++) {
        for (int c = 0; c < CHAINS; c++) {
            const double weight = rho[c] / (1 + 2 * rho[c]);
            sd[c] = sqrt(1 - 3 * rho[c] * weight);
            for (int i = 0; i < N; i++) {
                double others = 0;
                for (int k = 0; k < YEARS; k++)
                    if (k != j)
                        others += z[k][c][i] - dot(x[k][i], b[c]);
                mean[c][i] = dot(x[j][i], b[c]) + weight * others;
            }
        }
        gbs_truncnorm_spec spec = gbs_truncnorm_spec_default();
        spec.dims = 2;
        spec.shape[0] = CHAINS;
        spec.shape[1] = N;
        spec.mean = gbs_operand_array(mean, 2, all);
        spec.sd = gbs_operand_array(sd, 2, one_a_chain);
        spec.lower = gbs_operand_array(lower[j], 1, children);
        spec.upper = gbs_operand_array(upper[j], 1, children);
        spec.seed = SEED;
        spec.sweep = t * YEARS + j; /* a number for every call */
        check(ctx, gbs_truncnorm_f64(ctx, &spec, &z[j][0][0]));
    }
}

/* The inverse of the correlation matrix is (I - rho / (1 + 3 rho) 1 1') / (1 - rho). */
static void draw_coefficients(gbs_context *ctx, int64_t t)
{
    double precision[CHAINS][P][P] = {0}, information[CHAINS][P] = {0};
    for (int c = 0; c < CHAINS; c++) {
        const double own = 1 / (1 - rho[c]), shared = own * rho[c] / (1 + 3 * rho[c]);
        for (int k = 0; k < P; k++)
            precision[c][k][k] = 0.01;
        for (int i = 0; i < N; i++)
            for (int j = 0; j < YEARS; j++)
                for (int l = 0; l < YEARS; l++) {
                    const double w = (j == l ? own : 0) - shared;
                    for (int k = 0; k < P; k++) {
                        information[c][k] += w * x[j][i][k] * z[l][c][i];
                        for (int m = 0; m < P; m++)
                            precision[c][k][m] += w * x[j][i][k] * x[l][i][m];
                    }
                }
    }
    gbs_sweep_spec spec = gbs_sweep_spec_default();
    spec.type = GBS_F64;
    spec.groups = CHAINS;
    spec.chains = 1;
    spec.dim = P;
    spec.precision = precision;
    spec.precision_group_stride = P * P;
    spec.precision_row_stride = P;
    spec.location_kind = GBS_LOCATION_INFORMATION;
    spec.location = information;
    spec.location_group_stride = P;
    spec.x = spec.out = b;
    spec.x_stride[0] = spec.out_stride[0] = P;
    spec.x_stride[1] = spec.out_stride[1] = P;
    spec.x_stride[2] = spec.out_stride[2] = 1;
    spec.sweeps = 5;
    spec.seed = SEED;
    spec.first_sweep = t * spec.sweeps;
    check(ctx, gbs_sweep(ctx, &spec));
}

/* Log likelihood of rho, a flat prior, from sums of squares of all e and of each child's sum. */
static double log_likelihood(double r, double squares, double sums)
{
    const double own = 1 / (1 - r), shared = own * r / (1 + 3 * r);
    return -0.5 * ((double)N * (3 * log(1 - r) + log(1 + 3 * r)) + own * squares - shared * sums);
}

static void draw_correlation(gbs_context *ctx, int64_t t)
{
    double normal[3][CHAINS];
    check(ctx, gbs_native_normals(ctx, GBS_F64, SEED + 1, t, 0, CHAINS, 3, normal));
    for (int c = 0; c < CHAINS; c++) {
        double squares = 0, sums = 0;
        for (int i = 0; i < N; i++) {
            double sum = 0;
            for (int j = 0; j < YEARS; j++) {
                const double e = z[j][c][i] - dot(x[j][i], b[c]);
                squares += e * e;
                sum += e;
            }
            sums += sum * sum;
        }
        const double next = rho[c] + 0.05 * normal[0][c];
        const double log_uniform =
            -0.5 * (normal[1][c] * normal[1][c] + normal[2][c] * normal[2][c]);
        if (next > 0 && next < 1 &&
            log_likelihood(next, squares, sums) - log_likelihood(rho[c], squares, sums) >
                log_uniform)
            rho[c] = next;
    }
}

static void print_rows(gbs_context *ctx)
{
    static const char *const names[] = {"constant", "age", "smoke", "age x smoke", "rho"};
    const gbs_draws first = {&kept[0][0][0], CHAINS, DRAWS, DRAWS, 1};
    gbs_summary row[P + 1];
    check(ctx, gbs_diag_summaries(ctx, &first, P + 1, CHAINS * DRAWS, NULL, row, NULL));
    for (int k = 0; k <= P; k++)
        printf("%-12s %5.2f +- %.2f, made with %5.2f (R-hat %.2f)\n", names[k], row[k].mean,
               row[k].sd, made_with[k], row[k].rhat);
}

int main(void)
{
    gbs_context *ctx;
    check(NULL, gbs_context_create(NULL, &ctx));
    make_data(ctx);
    for (int c = 0; c < CHAINS; c++)
        rho[c] = 0.2 * (c + 0.5);
    for (int64_t t = 0; t < WARMUP + DRAWS; t++) {
        draw_latent(ctx, t);
        draw_coefficients(ctx, t);
        draw_correlation(ctx, t);
        for (int c = 0; c < CHAINS && t >= WARMUP; c++) {
            for (int k = 0; k < P; k++)
                kept[k][c][t - WARMUP] = b[c][k];
            kept[P][c][t - WARMUP] = rho[c];
        }
    }
    print_rows(ctx);
    gbs_context_destroy(ctx);
    return 0;
}
