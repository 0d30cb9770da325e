/* What the tests of gbs_sweep share: a shape of call, arrays for it, and the call. */
#ifndef GBS_TEST_SWEEP_FIXTURE_H
#define GBS_TEST_SWEEP_FIXTURE_H

#include "exact/trial.h"
#include "rng/torch_stream.h"
#include "unit/counting.h"

#include <stdio.h>
#include <string.h>

enum { SMS = 2, THREADS = 256, KEEP = 2 }; /* a small card; every second state is kept */

static inline void give_up(gbs_context *ctx, gbs_status status)
{
    fail_msg("expected GBS_OK, got %s: %s", gbs_status_name(status), gbs_context_message(ctx));
}

static inline void *new_array(gbs_type type, int64_t count)
{
    void *const a = calloc((size_t)count, type_size(type));
    assert_non_null(a);
    return a;
}

static inline void *random_array(gbs_type type, int64_t count, uint64_t seed)
{
    void *const a = new_array(type, count);
    for (int64_t k = 0; k < count; ++k)
        put_element(type, a, k, 3 * next_signed(&seed));
    return a;
}

/* A precision of type T, exactly symmetric. */
static inline void *typed_precision(gbs_type type, int64_t dim, uint64_t seed)
{
    double *const q = dense_precision(dim, seed);
    void *const a = new_array(type, dim * dim);
    for (int64_t k = 0; k < dim * dim; ++k)
        put_element(type, a, k, q[k]);
    free(q);
    return a;
}

static inline void assert_same(const char *what, gbs_type type, const void *expected,
                               const void *got, int64_t count)
{
    for (int64_t k = 0; k < count; ++k)
        if (memcmp((const char *)expected + (size_t)k * type_size(type),
                   (const char *)got + (size_t)k * type_size(type), type_size(type)) != 0)
            fail_msg("%s: element %lld: expected %.17g, got %.17g, bound 0", what, (long long)k,
                     element(type, expected, k), element(type, got, k));
}

/* ---- one shape of call ---- */

typedef struct shape {
    gbs_type type;
    int64_t groups, chains, dim, sweeps;
    gbs_location kind;
    gbs_order order;
    double omega;
    gbs_stream stream;
} shape;

typedef struct arrays {
    void *precision, *location, *x, *noise, *out, *kept;
    unsigned char torch_state[GBS_TORCH_CPU_STATE_BYTES];
} arrays;

static inline int64_t elements(const shape *s)
{
    return s->groups * s->chains * s->dim;
}

static inline arrays arrays_of(const shape *s, uint64_t seed)
{
    arrays a;
    memset(&a, 0, sizeof a);
    a.precision = new_array(s->type, s->groups * s->dim * s->dim);
    for (int64_t g = 0; g < s->groups; ++g) {
        void *const q = typed_precision(s->type, s->dim, seed + (uint64_t)g);
        const size_t bytes = (size_t)(s->dim * s->dim) * type_size(s->type);
        memcpy((char *)a.precision + (size_t)g * bytes, q, bytes);
        free(q);
    }
    a.location = random_array(s->type, s->groups * s->dim, seed + 100);
    a.x = random_array(s->type, elements(s), seed + 200);
    a.noise = random_array(s->type, 2 * s->sweeps * elements(s), seed + 300);
    a.out = new_array(s->type, elements(s));
    a.kept = new_array(s->type, (s->sweeps / KEEP + 1) * elements(s));
    gbs_torch_cpu generator;
    gbs_torch_cpu_seed(&generator, seed);
    gbs_torch_cpu_get_state(&generator, a.torch_state);
    return a;
}

static inline void drop(arrays *a)
{
    void *const all[] = {a->precision, a->location, a->x, a->noise, a->out, a->kept};
    for (int k = 0; k < COUNT(all); ++k)
        free(all[k]);
}

static inline gbs_sweep_spec spec_for(const shape *s, arrays *a)
{
    gbs_sweep_spec spec = gbs_sweep_spec_default();
    spec.type = s->type;
    spec.groups = s->groups;
    spec.chains = s->chains;
    spec.dim = s->dim;
    spec.precision = a->precision;
    spec.precision_group_stride = s->dim * s->dim;
    spec.precision_row_stride = s->dim;
    spec.location_kind = s->kind;
    spec.location = a->location;
    spec.location_group_stride = s->dim;
    spec.x = a->x;
    spec.out = a->out;
    spec.x_stride[0] = spec.out_stride[0] = s->chains * s->dim;
    spec.x_stride[1] = spec.out_stride[1] = s->dim;
    spec.x_stride[2] = spec.out_stride[2] = 1;
    spec.sweeps = s->sweeps;
    spec.order = s->order;
    spec.omega = s->omega;
    spec.keep_every = KEEP;
    spec.kept = a->kept;
    spec.stream = s->stream;
    spec.seed = 77;
    spec.noise = a->noise;
    spec.torch_state = a->torch_state;
    spec.torch_offset = 40;
    spec.cuda_multiprocessors = SMS;
    spec.cuda_threads_per_multiprocessor = THREADS;
    if (s->stream == GBS_STREAM_NATIVE) {
        spec.first_sweep = 5;
        spec.first_chain = 1000;
    }
    return spec;
}

static inline void sweep(gbs_context *ctx, const gbs_sweep_spec *spec)
{
    const gbs_status status = gbs_sweep(ctx, spec);
    if (status != GBS_OK)
        give_up(ctx, status);
}

#endif
