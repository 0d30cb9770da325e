/* The affine identity on the device.  With given normals a sweep is x' = G x + N z + k; G and N
 * are read off with unit states and unit normals, k with neither.  Then S = Q^-1 must obey
 * S = G S G' + N N', and k = (I - G) mu: proof, without statistics, that a kernel leaves N(mu, S)
 * as it is.
 *
 * Bound: an output is a sum of at most D + 4 rounded terms, each site of it passed on to later
 * sites with row sums of |A| at most a < 1, so an entry is off by
 *     e = (D + 5) eps m / (1 - a),   m = the largest sum of magnitudes,
 * twice as much for a difference of two of them, and the identities by the products that hold it.
 */
#include "gpu_harness.h"

#include <math.h>

typedef struct law {
    int64_t dim;
    double *q, *s, *mu; /* precision, its inverse, mean */
} law;

static double *zeros(int64_t count)
{
    return calloc(count > 0 ? (size_t)count : 1, sizeof(double));
}

/* Inverse of a diagonally dominant matrix by Gauss-Jordan elimination, no pivoting needed. */
static double *inverse(const double *q, int64_t dim)
{
    double *const a = zeros(dim * dim), *const b = zeros(dim * dim);
    memcpy(a, q, (size_t)(dim * dim) * sizeof(double));
    for (int64_t i = 0; i < dim; ++i)
        b[i * dim + i] = 1.0;
    for (int64_t p = 0; p < dim; ++p) {
        const double pivot = a[p * dim + p];
        for (int64_t j = 0; j < dim; ++j) {
            a[p * dim + j] /= pivot;
            b[p * dim + j] /= pivot;
        }
        for (int64_t i = 0; i < dim; ++i) {
            const double factor = a[i * dim + p];
            for (int64_t j = 0; j < dim && i != p; ++j) {
                a[i * dim + j] -= factor * a[p * dim + j];
                b[i * dim + j] -= factor * b[p * dim + j];
            }
        }
    }
    free(a);
    return b;
}

/* Off-diagonal row sums of at most 0.4 against a diagonal of at least 1. */
static law make_law(gbs_type type, int64_t dim)
{
    law made = {dim, zeros(dim * dim), NULL, zeros(dim)};
    uint64_t state = 31 + (uint64_t)dim;
    for (int64_t i = 0; i < dim; ++i) {
        made.mu[i] = 6.0 * uniform(&state);
        for (int64_t j = 0; j <= i; ++j) {
            double value = i == j ? 1.5 + uniform(&state) : 0.8 * uniform(&state) / (double)dim;
            value = type == GBS_F32 ? (double)(float)value : value;
            made.q[i * dim + j] = made.q[j * dim + i] = value;
        }
        made.mu[i] = type == GBS_F32 ? (double)(float)made.mu[i] : made.mu[i];
    }
    made.s = inverse(made.q, dim);
    return made;
}

typedef struct sweep_case {
    gbs_type type;
    gbs_order order;
    double omega;
    gbs_cuda_kernel kernel;
} sweep_case;

/* One sweep of D chains from unit states, passes * D with unit normals and one with neither; the
 * results come back as double [chain][site].  NULL if the call failed. */
static double *probe(const law *of, const sweep_case *how, int64_t passes, const char **name)
{
    const int64_t dim = of->dim, chains = dim + passes * dim + 1, count = chains * dim;
    const size_t size = type_size(how->type);
    void *const q = malloc((size_t)(dim * dim) * size), *const mu = malloc((size_t)dim * size);
    void *const x = calloc((size_t)count, size);
    void *const noise = calloc((size_t)(passes * count), size);
    for (int64_t k = 0; k < dim * dim; ++k)
        put(q, how->type, k, of->q[k]);
    for (int64_t i = 0; i < dim; ++i) {
        put(mu, how->type, i, of->mu[i]);
        put(x, how->type, i * dim + i, 1.0);
    }
    for (int64_t k = 0; k < passes * dim; ++k) /* row k of the noise, chain dim + k */
        put(noise, how->type, k * chains + dim + k, 1.0);
    gbs_sweep_spec spec;
    memset(&spec, 0, sizeof spec);
    void *const q_device = to_device(q, (size_t)(dim * dim) * size);
    void *const mu_device = to_device(mu, (size_t)dim * size);
    void *const x_device = to_device(x, (size_t)count * size);
    void *const noise_device = to_device(noise, (size_t)(passes * count) * size);
    spec.type = how->type;
    spec.groups = 1;
    spec.chains = chains;
    spec.dim = dim;
    spec.precision = q_device;
    spec.location_kind = GBS_LOCATION_MEAN;
    spec.location = mu_device;
    spec.x = x_device;
    spec.out = x_device;
    spec.sweeps = 1;
    spec.order = how->order;
    spec.omega = how->omega;
    spec.stream = GBS_STREAM_GIVEN;
    spec.noise = noise_device;
    *name = gbs_cuda_sweep_kernel(&spec, how->kernel);
    const gbs_status status = run_sweep(&spec, how->kernel);
    CUDA(cudaMemcpy(x, x_device, (size_t)count * size, cudaMemcpyDeviceToHost));
    double *const got = zeros(count);
    for (int64_t k = 0; k < count; ++k)
        got[k] = get(x, how->type, k);
    CUDA(cudaFree(q_device));
    CUDA(cudaFree(mu_device));
    CUDA(cudaFree(x_device));
    CUDA(cudaFree(noise_device));
    free(q);
    free(mu);
    free(x);
    free(noise);
    if (status == GBS_OK)
        return got;
    free(got);
    return NULL;
}

/* The bound e above for an entry of G, N or k. */
static double entry_bound(const law *of, const sweep_case *how)
{
    const double eps = how->type == GBS_F32 ? 0x1p-24 : 0x1p-53, w = how->omega;
    double row_sum = 0.0, largest = 0.0;
    for (int64_t i = 0; i < of->dim; ++i) {
        const double diagonal = of->q[i * of->dim + i];
        double a = fabs(1.0 - w), centre = w * fabs(of->mu[i]);
        for (int64_t j = 0; j < of->dim; ++j)
            if (j != i) {
                a += w * fabs(of->q[i * of->dim + j]) / diagonal;
                centre += w * fabs(of->q[i * of->dim + j] * of->mu[j]) / diagonal;
            }
        row_sum = fmax(row_sum, a);
        largest = fmax(largest, centre + 1.0 / sqrt(diagonal));
    }
    const double m = largest / (1.0 - row_sum); /* no state of the probe is larger */
    return 2.0 * (double)(of->dim + 5) * eps * (1.0 + m) / (1.0 - row_sum);
}

/* Largest entry of |G S G' + N N' - S|, and its bound from entries that are off by e. */
static double covariance_error(const law *of, const double *g, const double *n, int64_t normals,
                               double e, double *bound)
{
    const int64_t dim = of->dim;
    double *const gs = zeros(dim * dim), *const g_row = zeros(dim), *const n_row = zeros(dim);
    double worst = 0.0, worst_bound = 0.0;
    for (int64_t i = 0; i < dim; ++i)
        for (int64_t k = 0; k < dim; ++k) {
            for (int64_t j = 0; j < dim; ++j)
                gs[i * dim + k] += g[i * dim + j] * of->s[j * dim + k];
            g_row[i] += fabs(gs[i * dim + k]);
        }
    for (int64_t i = 0; i < dim; ++i)
        for (int64_t k = 0; k < normals; ++k)
            n_row[i] += fabs(n[i * normals + k]);
    for (int64_t i = 0; i < dim; ++i)
        for (int64_t j = 0; j < dim; ++j) {
            double sum = 0.0;
            for (int64_t k = 0; k < dim; ++k)
                sum += gs[i * dim + k] * g[j * dim + k];
            for (int64_t k = 0; k < normals; ++k)
                sum += n[i * normals + k] * n[j * normals + k];
            worst = fmax(worst, fabs(sum - of->s[i * dim + j]));
            worst_bound = fmax(worst_bound, e * (g_row[i] + g_row[j] + n_row[i] + n_row[j]));
        }
    *bound = worst_bound + 1e-13 * (double)dim; /* the test's own inverse and products */
    free(gs);
    free(g_row);
    free(n_row);
    return worst;
}

static double mean_error(const law *of, const double *g, const double *k, double e, double *bound)
{
    double worst = 0.0, mass = 1.0;
    for (int64_t j = 0; j < of->dim; ++j)
        mass += fabs(of->mu[j]);
    for (int64_t i = 0; i < of->dim; ++i) {
        double expected = of->mu[i];
        for (int64_t j = 0; j < of->dim; ++j)
            expected -= g[i * of->dim + j] * of->mu[j];
        worst = fmax(worst, fabs(k[i] - expected));
    }
    *bound = e * mass;
    return worst;
}

static void check_bound(const char *what, const char *name, int64_t dim, const sweep_case *how,
                        double error, double bound)
{
    char line[256];
    snprintf(line, sizeof line, "%s D=%lld order=%d omega=%g %s: error %.3g, bound %.3g", name,
             (long long)dim, (int)how->order, how->omega, what, error, bound);
    printf("%s\n", line);
    check(error <= bound, line);
}

static void check_case(const law *of, const sweep_case *how)
{
    const int64_t dim = of->dim, passes = how->order == GBS_ORDER_SYMMETRIC ? 2 : 1,
                  normals = passes * dim;
    const char *name = "";
    double *const got = probe(of, how, passes, &name);
    check(got != NULL, name);
    if (got == NULL)
        return;
    const double *const k = got + (dim + normals) * dim;
    double *const g = zeros(dim * dim), *const n = zeros(dim * normals);
    for (int64_t i = 0; i < dim; ++i) {
        for (int64_t j = 0; j < dim; ++j)
            g[i * dim + j] = got[j * dim + i] - k[i];
        for (int64_t j = 0; j < normals; ++j)
            n[i * normals + j] = got[(dim + j) * dim + i] - k[i];
    }
    const double e = (double)passes * entry_bound(of, how);
    double bound, error = covariance_error(of, g, n, normals, e, &bound);
    check_bound("S = G S G' + N N'", name, dim, how, error, bound);
    error = mean_error(of, g, k, e, &bound);
    check_bound("k = (I - G) mu", name, dim, how, error, bound);
    free(g);
    free(n);
    free(got);
}

int main(void)
{
    static const int64_t dims[] = {1, 2, 5, 17, 33, 64, 128, 150, 300};
    static const double omegas[] = {1.0, 1.3};
    for (int type = 0; type < 2; ++type)
        for (size_t d = 0; d < sizeof dims / sizeof dims[0]; ++d) {
            const law of = make_law((gbs_type)type, dims[d]);
            for (int order = 0; order < 3; ++order)
                for (int w = 0; w < 2; ++w) {
                    sweep_case how = {(gbs_type)type, (gbs_order)order, omegas[w],
                                      GBS_CUDA_KERNEL_TILES};
                    check_case(&of, &how);
                    how.kernel = GBS_CUDA_KERNEL_LANES;
                    if (dims[d] <= 128)
                        check_case(&of, &how);
                }
            free(of.q);
            free(of.s);
            free(of.mu);
        }
    return finish();
}
