/* What the exact and conformance tests share: models with known shape, samplers from a few
 * words of description, and states read as doubles. */
#ifndef GBS_TEST_TRIAL_H
#define GBS_TEST_TRIAL_H

#include "gibbsite/gibbsite.h"
#include "exact/naive.h"
#include "unit/matrices.h"
#include "unit/model_fixture.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

/* Sanitized builds take a share of the options. */
static inline int quick(void)
{
    return getenv("GBS_TEST_QUICK") != NULL;
}

static inline const char *type_name(gbs_type type)
{
    return type == GBS_F32 ? "f32" : "f64";
}

static inline const char *order_name(gbs_order order)
{
    static const char *const names[] = {"forward", "backward", "symmetric", "permuted"};
    return names[order];
}

static inline const char *location_name(gbs_location location)
{
    static const char *const names[] = {"zero", "mean", "information", "offset"};
    return names[location];
}

/* ---- one context for each instruction set of this machine ---- */

enum { ISAS = 3 };

typedef struct machine {
    gbs_context *ctx[ISAS]; /* scalar first */
    int count;
} machine;

static inline int start_machine(void **state)
{
    static machine m;
    m.count = 0;
    for (gbs_isa isa = GBS_ISA_SCALAR; isa <= GBS_ISA_NEON; ++isa) {
        if (gbs_isa_available(isa))
            m.ctx[m.count++] = new_context(isa);
        else
            printf("not here: %s\n", gbs_isa_name(isa));
    }
    *state = &m;
    return 0;
}

static inline int stop_machine(void **state)
{
    machine *const m = *state;
    for (int k = 0; k < m->count; ++k)
        gbs_context_destroy(m->ctx[k]);
    return 0;
}

/* ---- models ---- */

/* D^1/2 (I/2 + B B') D^1/2 with B of entries uniform on (-1, 1) / sqrt(n), eigenvalues of the
 * middle between 1/2 and about 2, and D from 1/10 to 10. */
static inline double *dense_precision(int64_t n, uint64_t seed)
{
    double *const b = new_matrix(n), *const q = new_matrix(n), *const root = naive_new(n);
    for (int64_t k = 0; k < n * n; ++k)
        b[k] = next_signed(&seed) / sqrt((double)n);
    for (int64_t i = 0; i < n; ++i)
        root[i] = pow(10, next_signed(&seed) / 2);
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j <= i; ++j) {
            double r = i == j ? 0.5 : 0;
            for (int64_t k = 0; k < n; ++k)
                r += b[i * n + k] * b[j * n + k];
            q[i * n + j] = q[j * n + i] = r * root[i] * root[j];
        }
    free(b);
    free(root);
    return q;
}

/* Precision of a stationary AR(1) of unit innovations: every variance is 1 / (1 - phi^2). */
static inline double *ar1_precision(int64_t n, double phi)
{
    double *const q = new_matrix(n);
    for (int64_t i = 0; i < n; ++i) {
        q[i * n + i] = n == 1 ? 1 - phi * phi : i == 0 || i == n - 1 ? 1 : 1 + phi * phi;
        if (i > 0)
            q[i * n + i - 1] = q[(i - 1) * n + i] = -phi;
    }
    return q;
}

/* Entries uniform on (-scale, scale). */
static inline double *random_vector(int64_t n, uint64_t seed, double scale)
{
    double *const v = naive_new(n);
    for (int64_t i = 0; i < n; ++i)
        v[i] = scale * next_signed(&seed);
    return v;
}

static inline gbs_model *model_of(gbs_context *ctx, int64_t dim, const double *q, gbs_location kind,
                                  const double *location)
{
    gbs_model_spec spec = spec_of(q, dim);
    spec.location_kind = kind;
    spec.location = kind == GBS_LOCATION_ZERO ? NULL : location;
    return new_model(ctx, &spec);
}

/* ---- orders ---- */

/* A permutation by Fisher and Yates. */
static inline void shuffle(int64_t n, uint64_t seed, int64_t *order)
{
    for (int64_t i = 0; i < n; ++i)
        order[i] = i;
    for (int64_t i = n - 1; i > 0; --i) {
        const int64_t k = (int64_t)(next_word(&seed) % (uint64_t)(i + 1)), kept = order[i];
        order[i] = order[k];
        order[k] = kept;
    }
}

/* The sites of pass `half` in the order of visit; `permutation` serves PERMUTED. */
static inline void visits(gbs_order order, int half, int64_t n, const int64_t *permutation,
                          int64_t *out)
{
    const int backward = order == GBS_ORDER_BACKWARD || half == 1;
    for (int64_t p = 0; p < n; ++p)
        out[p] = order == GBS_ORDER_PERMUTED ? permutation[p] : backward ? n - 1 - p : p;
}

static inline int passes_of(gbs_order order)
{
    return order == GBS_ORDER_SYMMETRIC ? 2 : 1;
}

/* ---- samplers ---- */

static inline gbs_sampler *new_sampler(gbs_context *ctx, gbs_model *model,
                                       const gbs_sampler_spec *spec)
{
    gbs_sampler *sampler = NULL;
    const gbs_status status = gbs_sampler_create(ctx, model, spec, &sampler);
    if (status != GBS_OK)
        fail_msg("expected a sampler, got %s: %s", gbs_status_name(status),
                 gbs_context_message(ctx));
    return sampler;
}

static inline void must(gbs_context *ctx, gbs_status status)
{
    if (status != GBS_OK)
        fail_msg("expected GBS_OK, got %s: %s", gbs_status_name(status), gbs_context_message(ctx));
}

static inline double element(gbs_type type, const void *x, int64_t at)
{
    return type == GBS_F32 ? (double)((const float *)x)[at] : ((const double *)x)[at];
}

static inline void put_element(gbs_type type, void *x, int64_t at, double value)
{
    if (type == GBS_F32)
        ((float *)x)[at] = (float)value;
    else
        ((double *)x)[at] = value;
}

static inline size_t type_size(gbs_type type)
{
    return type == GBS_F32 ? sizeof(float) : sizeof(double);
}

#endif
