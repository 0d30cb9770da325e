/* A sweep without truncation is affine, x' = G x + N z + k.  Unit states and unit noise, sent
 * through a sampler by the given stream, read G, N and k off the library, whatever its kernel. */
#ifndef GBS_TEST_AFFINE_H
#define GBS_TEST_AFFINE_H

#include "exact/trial.h"

/* How a model is swept. */
typedef struct sweep_options {
    gbs_type type;
    gbs_order order;
    double w;
    const int64_t *permutation;
} sweep_options;

typedef struct affine_map {
    int64_t dim;
    int passes;
    double *g; /* [D, D] */
    double *n; /* [D, passes D]: first the noise of the first pass */
    double *k; /* [D] */
} affine_map;

static inline void free_affine(affine_map *map)
{
    free(map->g);
    free(map->n);
    free(map->k);
}

/* Chain 0 from zero without noise, then one chain a unit state, then one a unit of noise. */
static inline affine_map read_affine(gbs_context *ctx, gbs_model *model, const sweep_options *how)
{
    const int64_t dim = gbs_model_dim(model), columns = (passes_of(how->order) + 1) * dim;
    const int64_t chains = 1 + columns;
    affine_map map = {.dim = dim, .passes = passes_of(how->order)};
    void *const x = calloc((size_t)(chains * dim), sizeof(double));
    double *const noise = naive_new(map.passes * dim * chains);
    for (int64_t j = 0; j < dim; ++j)
        put_element(how->type, x, (1 + j) * dim + j, 1);
    for (int64_t j = 0; j < map.passes * dim; ++j)
        noise[j * chains + 1 + dim + j] = 1;
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    spec.type = how->type;
    spec.chains = chains;
    spec.order = how->order;
    spec.omega = how->w;
    spec.permutation = how->order == GBS_ORDER_PERMUTED ? how->permutation : NULL;
    spec.start = GBS_START_GIVEN;
    spec.initial = x;
    spec.initial_rows = chains;
    spec.stream.kind = GBS_STREAM_GIVEN;
    spec.stream.noise = noise;
    spec.stream.noise_sweeps = map.passes;
    gbs_sampler *const sampler = new_sampler(ctx, model, &spec);
    must(ctx, gbs_sampler_run(sampler, 1));
    must(ctx, gbs_sampler_get_state(sampler, x));
    gbs_sampler_destroy(sampler);
    map.g = naive_new(dim * dim);
    map.n = naive_new(map.passes * dim * dim);
    map.k = naive_new(dim);
    for (int64_t i = 0; i < dim; ++i) {
        map.k[i] = element(how->type, x, i);
        for (int64_t j = 0; j < columns; ++j) {
            const double moved = element(how->type, x, (1 + j) * dim + i) - map.k[i];
            if (j < dim)
                map.g[i * dim + j] = moved;
            else
                map.n[i * (columns - dim) + j - dim] = moved;
        }
    }
    free(x);
    free(noise);
    return map;
}

/* k alone: one chain. */
static inline double *read_constant(gbs_context *ctx, gbs_model *model, const sweep_options *how)
{
    const int64_t dim = gbs_model_dim(model);
    double *const noise = naive_new(2 * dim), *const k = naive_new(dim);
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    spec.type = how->type;
    spec.order = how->order;
    spec.omega = how->w;
    spec.permutation = how->order == GBS_ORDER_PERMUTED ? how->permutation : NULL;
    spec.start = GBS_START_ZERO;
    spec.stream.kind = GBS_STREAM_GIVEN;
    spec.stream.noise = noise;
    spec.stream.noise_sweeps = 2;
    gbs_sampler *const sampler = new_sampler(ctx, model, &spec);
    must(ctx, gbs_sampler_run(sampler, 1));
    must(ctx, gbs_sampler_get_state(sampler, noise));
    gbs_sampler_destroy(sampler);
    for (int64_t i = 0; i < dim; ++i)
        k[i] = element(how->type, noise, i);
    free(noise);
    return k;
}

/* ---- matrices wider than double, row-major ---- */

static inline long double *wide_new(int64_t count)
{
    long double *const memory = count < 0 ? NULL : calloc((size_t)count, sizeof *memory);
    if (memory == NULL)
        abort();
    return memory;
}

/* out = a b', a [rows, inner], b [columns, inner]. */
static inline void wide_product(const long double *a, const long double *b, int64_t rows,
                                int64_t inner, int64_t columns, long double *out)
{
    for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j) {
            long double sum[4] = {0, 0, 0, 0};
            int64_t k = 0;
            for (; k + 4 <= inner; k += 4)
                for (int lane = 0; lane < 4; ++lane)
                    sum[lane] += a[i * inner + k + lane] * b[j * inner + k + lane];
            for (; k < inner; ++k)
                sum[0] += a[i * inner + k] * b[j * inner + k];
            out[i * columns + j] = sum[0] + sum[1] + (sum[2] + sum[3]);
        }
}

/* Inverse by Gauss and Jordan with partial pivoting; a [n, n] is destroyed. */
static inline long double *wide_inverse(long double *a, int64_t n)
{
    long double *const inverse = wide_new(n * n);
    for (int64_t i = 0; i < n; ++i)
        inverse[i * n + i] = 1;
    for (int64_t p = 0; p < n; ++p) {
        int64_t best = p;
        for (int64_t i = p + 1; i < n; ++i)
            if (fabsl(a[i * n + p]) > fabsl(a[best * n + p]))
                best = i;
        for (int64_t j = 0; j < n; ++j) {
            const long double swap_a = a[p * n + j], swap_inverse = inverse[p * n + j];
            a[p * n + j] = a[best * n + j];
            a[best * n + j] = swap_a;
            inverse[p * n + j] = inverse[best * n + j];
            inverse[best * n + j] = swap_inverse;
        }
        const long double scale = 1 / a[p * n + p];
        for (int64_t j = 0; j < n; ++j) {
            a[p * n + j] *= scale;
            inverse[p * n + j] *= scale;
        }
        for (int64_t i = 0; i < n; ++i) {
            const long double factor = a[i * n + p];
            if (i == p || factor == 0)
                continue;
            for (int64_t j = 0; j < n; ++j) {
                a[i * n + j] -= factor * a[p * n + j];
                inverse[i * n + j] -= factor * inverse[p * n + j];
            }
        }
    }
    return inverse;
}

static inline double wide_norm(const long double *a, int64_t count)
{
    long double sum = 0;
    for (int64_t k = 0; k < count; ++k)
        sum += a[k] * a[k];
    return (double)sqrtl(sum);
}

#endif
