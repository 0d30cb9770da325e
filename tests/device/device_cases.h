/* The same run on the CPU and on a device, compared bit for bit: starts, states, draws with
 * thinning and warm-up, moments, generator states.  One list of cases for the fake device of the
 * unit tests and for the real one of the GPU tests. */
#ifndef GBS_TEST_DEVICE_CASES_H
#define GBS_TEST_DEVICE_CASES_H

#include "gibbsite/gibbsite.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct device_case {
    gbs_type type;
    gbs_method method;
    int64_t dim, chains;
    gbs_order order;
    double omega;
    gbs_location location;
    gbs_start start;
    gbs_stream stream;
    int64_t warmup, draws, thin;
    int fixed;   /* every third site is held at a value */
    int bounded; /* two sites of three have bounds, some of them equal */
    double overrelax;
    int rows; /* one more than sites, of three sites at most */
    int far;  /* the law's mean is so far out that draws come to lie on bounds */
} device_case;

/* Of site i: below, above, both, equal, far out; every third has none. */
static inline void case_bounds(int64_t i, double *lower, double *upper)
{
    static const double low[] = {-1.0, -INFINITY, -0.5, 0.25, 30.0, -1e300};
    static const double high[] = {INFINITY, 0.75, 0.5, 0.25, INFINITY, -20.0};
    *lower = i % 3 == 2 ? -INFINITY : low[i % 6];
    *upper = i % 3 == 2 ? INFINITY : high[i % 6];
}

/* Whitened sweeps, and sweeps within rows, whose starts are within all bounds: sites are at most .2
 * in absolute value then, fixed ones .1, so that a row's sum is at most .57. */
static inline int case_is_constrained(const device_case *of)
{
    return of->rows || of->method == GBS_METHOD_WHITENED;
}

static inline void case_constrained_bounds(int64_t i, double *lower, double *upper)
{
    static const double low[] = {-0.21, -INFINITY, -0.5}, high[] = {INFINITY, 0.25, 0.22};
    *lower = i % 4 == 3 ? -INFINITY : low[i % 3];
    *upper = i % 4 == 3 ? INFINITY : high[i % 3];
}

/* What a run leaves, all owned. */
typedef struct device_result {
    gbs_status status;
    char message[512];
    size_t state_bytes, draw_bytes, moment_bytes, torch_bytes;
    void *start, *state, *draws;
    double *mean, *m2, *merged; /* merged: mean, then variance */
    unsigned char torch[GBS_TORCH_CPU_STATE_BYTES];
    int64_t next_sweep;
    char kernel[64];
} device_result;

static inline size_t case_size(gbs_type type)
{
    return type == GBS_F32 ? sizeof(float) : sizeof(double);
}

static inline double case_uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53 - 0.5;
}

/* Diagonally dominant, and no float: in float a device must round what the host rounds.  The
 * absolute values of a row of A sum to at most 0.8 / 1 < 1. */
static inline double *case_precision(int64_t dim, uint64_t seed)
{
    double *const q = malloc((size_t)(dim * dim) * sizeof *q);
    for (int64_t i = 0; i < dim; ++i)
        for (int64_t j = 0; j <= i; ++j)
            q[i * dim + j] = q[j * dim + i] =
                i == j ? 1.5 + case_uniform(&seed) : 1.6 * case_uniform(&seed) / (double)dim;
    return q;
}

static inline double *case_numbers(int64_t count, double scale, uint64_t seed)
{
    double *const x = malloc((size_t)count * sizeof *x + 1);
    for (int64_t k = 0; k < count; ++k)
        x[k] = scale * case_uniform(&seed);
    return x;
}

/* Row r has the sites r mod D, r + 1 and r + 3 of those that there are. */
typedef struct case_rows {
    int64_t *start, *site;
    double *value, *lower, *upper;
    gbs_constraints constraints;
} case_rows;

static inline void case_fill_rows(int64_t dim, case_rows *to)
{
    static const double low[] = {-0.6, -INFINITY, -0.7, -1e9}, high[] = {0.6, 0.58, INFINITY, 1e9};
    const int64_t rows = dim + 1;
    uint64_t seed = 21;
    to->start = calloc((size_t)rows + 1, sizeof *to->start);
    to->site = malloc((size_t)(3 * rows) * sizeof *to->site);
    to->value = malloc((size_t)(3 * rows) * sizeof *to->value);
    to->lower = malloc((size_t)rows * sizeof *to->lower);
    to->upper = malloc((size_t)rows * sizeof *to->upper);
    int64_t at = 0;
    for (int64_t r = 0; r < rows; ++r) {
        for (int64_t k = 0; k < dim && at - to->start[r] < 3; ++k)
            if (k == r % dim || k == r + 1 || k == r + 3) {
                to->site[at] = k;
                to->value[at++] = 0.9 + 0.1 * case_uniform(&seed) - (k % 3 == 1 ? 1.8 : 0);
            }
        to->start[r + 1] = at;
        to->lower[r] = low[r % 4];
        to->upper[r] = high[r % 4];
    }
    to->constraints = (gbs_constraints){.rows = rows,
                                        .start = to->start,
                                        .site = to->site,
                                        .value = to->value,
                                        .lower = to->lower,
                                        .upper = to->upper};
}

static inline void case_free_rows(case_rows *it)
{
    free(it->start);
    free(it->site);
    free(it->value);
    free(it->lower);
    free(it->upper);
}

static inline int64_t *case_permutation(int64_t dim)
{
    int64_t *const site = malloc((size_t)dim * sizeof *site);
    uint64_t seed = 77;
    for (int64_t p = 0; p < dim; ++p) {
        const int64_t k = (int64_t)((case_uniform(&seed) + 0.5) * (double)(p + 1));
        site[p] = p;
        if (k < p) {
            site[p] = site[k];
            site[k] = p;
        }
    }
    return site;
}

static inline gbs_status case_run(const device_case *of, gbs_context *ctx, gbs_model *model,
                                  const gbs_sampler_spec *spec, device_result *r)
{
    gbs_sampler *sampler = NULL;
    gbs_moments *moments = NULL;
    gbs_status status = gbs_sampler_create(ctx, model, spec, &sampler);
    if (status == GBS_OK)
        status = gbs_moments_create(ctx, of->chains, of->dim, &moments);
    if (status == GBS_OK)
        status = gbs_sampler_get_state(sampler, r->start);
    if (status == GBS_OK)
        status = gbs_sampler_run(sampler, of->warmup);
    const gbs_sink sink = {.out = r->draws, .moments = moments};
    const int64_t first = of->draws / 3; /* in two calls, so that moments go on */
    const gbs_sink rest = {.out = (char *)r->draws +
                                  (size_t)(first * of->chains * of->dim) * case_size(of->type),
                           .moments = moments};
    if (status == GBS_OK && first > 0)
        status = gbs_sampler_sample(sampler, first, of->thin, &sink);
    if (status == GBS_OK)
        status = gbs_sampler_sample(sampler, of->draws - first, of->thin, &rest);
    if (status == GBS_OK)
        status = gbs_sampler_get_state(sampler, r->state);
    if (status == GBS_OK && gbs_moments_mean(moments) == NULL)
        status = GBS_ERROR_UNAVAILABLE;
    if (status == GBS_OK) {
        memcpy(r->mean, gbs_moments_mean(moments), r->moment_bytes);
        memcpy(r->m2, gbs_moments_m2(moments), r->moment_bytes);
        gbs_moments_merged(moments, r->merged, r->merged + of->dim);
        r->next_sweep = gbs_sampler_next_sweep(sampler);
        snprintf(r->kernel, sizeof r->kernel, "%s", gbs_sampler_kernel(sampler));
        if (r->torch_bytes > 0)
            status = gbs_sampler_get_torch_state(sampler, r->torch, r->torch_bytes);
    }
    snprintf(r->message, sizeof r->message, "%s", gbs_context_message(ctx));
    gbs_moments_destroy(moments);
    gbs_sampler_destroy(sampler);
    return status;
}

static inline gbs_sampler_spec case_spec(const device_case *of)
{
    gbs_sampler_spec s = gbs_sampler_spec_default();
    const int shifted = of->stream == GBS_STREAM_NATIVE || of->stream == GBS_STREAM_GIVEN;
    s.type = of->type;
    s.method = of->method;
    s.chains = of->chains;
    s.seed = 20261129;
    s.first_chain = shifted ? 4294967290 : 0;
    s.first_sweep = shifted ? 4294967294 : 0;
    s.order = of->order;
    s.omega = of->omega;
    s.overrelax = of->overrelax;
    s.start = of->start;
    s.initial_rows = of->chains;
    s.stream.kind = of->stream;
    s.stream.noise_sweeps = 2 * (of->warmup + of->draws * of->thin);
    s.stream.cuda_multiprocessors = 132;
    s.stream.cuda_threads_per_multiprocessor = 2048;
    return s;
}

/* Runs a case in a context made with `options`. */
static inline device_result case_result(const device_case *of, const gbs_context_options *options)
{
    device_result r = {.status = GBS_OK};
    const size_t numbers = (size_t)(of->dim * of->chains), size = case_size(of->type);
    r.state_bytes = numbers * size;
    r.draw_bytes = numbers * size * (size_t)of->draws;
    r.moment_bytes = numbers * sizeof(double);
    r.torch_bytes = of->stream == GBS_STREAM_TORCH_CPU    ? GBS_TORCH_CPU_STATE_BYTES
                    : of->stream == GBS_STREAM_TORCH_CUDA ? GBS_TORCH_CUDA_STATE_BYTES
                                                          : 0;
    r.start = calloc(1, r.state_bytes);
    r.state = calloc(1, r.state_bytes);
    r.draws = calloc(1, r.draw_bytes + 1);
    r.mean = calloc(1, r.moment_bytes);
    r.m2 = calloc(1, r.moment_bytes);
    r.merged = calloc(2 * (size_t)of->dim, sizeof(double));
    double *const q = case_precision(of->dim, 11 + (uint64_t)of->dim);
    double *const location = case_numbers(of->dim, of->far ? 1e6 : 6.0, 5);
    const int constrained = case_is_constrained(of);
    double *const fixed = case_numbers(of->dim, constrained ? 0.2 : 5.0, 13);
    for (int64_t i = 0; i < of->dim; ++i)
        if (of->bounded ? i % 6 != 5 : i % 3 != 1) /* no bounds there */
            fixed[i] = NAN;
    double *const given = case_numbers(of->dim * of->chains, constrained ? 0.4 : 4.0, 7);
    double *const lower = case_numbers(of->dim, 1.0, 1), *const upper =
                                                             case_numbers(of->dim, 1.0, 1);
    for (int64_t i = 0; i < of->dim; ++i)
        (constrained ? case_constrained_bounds : case_bounds)(i, &lower[i], &upper[i]);
    for (size_t k = 0; of->bounded && k < numbers; ++k) /* within, in float too */
        given[k] = fmax(lower[(int64_t)k % of->dim], fmin(upper[(int64_t)k % of->dim], given[k]));
    int64_t *const permutation = case_permutation(of->dim);
    gbs_sampler_spec s = case_spec(of);
    double *const noise = case_numbers(
        of->stream == GBS_STREAM_GIVEN ? s.stream.noise_sweeps * (int64_t)numbers : 1, 4.0, 9);
    float *const narrow = malloc(numbers * sizeof *narrow);
    for (size_t k = 0; k < numbers; ++k)
        narrow[k] = (float)given[k];
    s.initial = of->type == GBS_F32 ? (const void *)narrow : given;
    s.permutation = permutation;
    s.stream.noise = noise;
    s.stream.noise_type = GBS_F64;
    const size_t word_count = (of->bounded || constrained) && of->stream == GBS_STREAM_GIVEN
                                  ? (size_t)s.stream.noise_sweeps * numbers
                                  : 1;
    uint32_t *const words = malloc(2 * word_count * sizeof *words);
    uint64_t seed = 3;
    for (size_t k = 0; k < 2 * word_count; ++k)
        words[k] = (uint32_t)((case_uniform(&seed) + 0.5) * 4294967296.0);
    s.stream.words = words;

    gbs_context *ctx = NULL;
    gbs_model *model = NULL;
    gbs_context_options chosen = *options;
    chosen.message = r.message;
    chosen.message_bytes = sizeof r.message;
    gbs_model_spec m = gbs_model_spec_default();
    m.dim = of->dim;
    m.matrix = q;
    m.location_kind = of->location;
    m.location = of->location == GBS_LOCATION_ZERO ? NULL : location;
    m.fixed = of->fixed ? fixed : NULL;
    m.lower = of->bounded ? lower : NULL;
    m.upper = of->bounded ? upper : NULL;
    case_rows rows;
    case_fill_rows(of->dim, &rows);
    if (of->rows)
        m.constraints = rows.constraints;
    r.status = gbs_context_create(&chosen, &ctx);
    if (r.status == GBS_OK)
        r.status = gbs_model_create(ctx, &m, &model);
    if (r.status == GBS_OK)
        r.status = case_run(of, ctx, model, &s, &r);
    gbs_model_release(model);
    gbs_context_destroy(ctx);
    free(q);
    free(location);
    free(fixed);
    free(given);
    free(permutation);
    free(noise);
    free(narrow);
    free(lower);
    free(upper);
    free(words);
    case_free_rows(&rows);
    return r;
}

static inline void case_free(device_result *r)
{
    free(r->start);
    free(r->state);
    free(r->draws);
    free(r->mean);
    free(r->m2);
    free(r->merged);
}

static inline int case_same(const char *what, const void *expected, const void *got, size_t bytes,
                            char *told, size_t room)
{
    for (size_t k = 0; k < bytes; ++k)
        if (((const unsigned char *)expected)[k] != ((const unsigned char *)got)[k]) {
            snprintf(told, room, "%s: byte %zu of %zu is %02x on the CPU, %02x on the device", what,
                     k, bytes, ((const unsigned char *)expected)[k],
                     ((const unsigned char *)got)[k]);
            return 0;
        }
    return 1;
}

/* 1 if the two runs are the same; else `told` says where they part. */
static inline int case_compare(const device_case *of, const gbs_context_options *device, char *told,
                               size_t room)
{
    const gbs_context_options plain = gbs_context_options_default();
    device_result expected = case_result(of, &plain), got = case_result(of, device);
    int same = 0;
    if (expected.status != GBS_OK || got.status != GBS_OK)
        snprintf(told, room, "CPU: %s \"%s\", device: %s \"%s\"", gbs_status_name(expected.status),
                 expected.message, gbs_status_name(got.status), got.message);
    else
        same = case_same("start", expected.start, got.start, got.state_bytes, told, room) &&
               case_same("draws", expected.draws, got.draws, got.draw_bytes, told, room) &&
               case_same("state", expected.state, got.state, got.state_bytes, told, room) &&
               case_same("means", expected.mean, got.mean, got.moment_bytes, told, room) &&
               case_same("sums of squares", expected.m2, got.m2, got.moment_bytes, told, room) &&
               case_same("merged moments", expected.merged, got.merged,
                         2 * (size_t)of->dim * sizeof(double), told, room) &&
               case_same("generator", expected.torch, got.torch, got.torch_bytes, told, room) &&
               case_same("sweep number", &expected.next_sweep, &got.next_sweep,
                         sizeof got.next_sweep, told, room);
    if (same)
        snprintf(told, room, "same bits by %s and %s", expected.kernel, got.kernel);
    case_free(&expected);
    case_free(&got);
    return same;
}

static inline void case_name(const device_case *of, char *to, size_t room)
{
    static const char *const orders[] = {"forward", "backward", "symmetric", "permuted"};
    static const char *const streams[] = {"native", "given", "torch-cpu", "torch-cuda"};
    static const char *const methods[] = {"gibbs", "exact", "whitened"};
    snprintf(to, room,
             "%s %s D=%lld B=%lld %s omega=%g location=%d start=%d %s %lld + %lld x %lld%s%s%s "
             "overrelax=%g",
             of->type == GBS_F32 ? "f32" : "f64", methods[of->method], (long long)of->dim,
             (long long)of->chains, orders[of->order], of->omega, (int)of->location, (int)of->start,
             streams[of->stream], (long long)of->warmup, (long long)of->draws, (long long)of->thin,
             of->fixed ? ", fixed sites" : "", of->bounded ? ", bounds" : "",
             of->rows ? ", rows" : "", of->overrelax);
}

typedef void (*case_visitor)(const device_case *of, void *user);

/* Every order, stream and method for one size and type, weights, locations and starts in turn.
 * torch_cuda: 0 leaves that stream out, whose normals the CPU only imitates. */
static inline void case_each(gbs_type type, int64_t dim, int64_t chains, int torch_cuda,
                             case_visitor visit, void *user)
{
    static const double omegas[] = {1.0, 1.3, 0.7};
    int turn = (int)dim;
    for (int stream = 0; stream < 4; ++stream) {
        if (stream == GBS_STREAM_TORCH_CUDA && !torch_cuda)
            continue;
        for (int order = 0; order < 4; ++order, ++turn)
            visit(&(device_case){type, GBS_METHOD_GIBBS, dim, chains, (gbs_order)order,
                                 omegas[turn % 3], (gbs_location)(turn % 4),
                                 (gbs_start)((turn + stream) % 4), (gbs_stream)stream, 2, 4,
                                 1 + turn % 3, turn % 5 == 0, 0, 0, 0, 0},
                  user);
        visit(&(device_case){type, GBS_METHOD_EXACT, dim, chains, GBS_ORDER_FORWARD, 1.0,
                             (gbs_location)(turn % 4), GBS_START_OVERDISPERSED, (gbs_stream)stream,
                             2, 5, 1, turn % 2, 0, 0, 0, 0},
              user);
    }
}

/* Models with bounds: every order from native and given words, and over-relaxed. */
static inline void case_each_bounded(gbs_type type, int64_t dim, int64_t chains, case_visitor visit,
                                     void *user)
{
    int turn = (int)dim;
    for (int order = 0; order < 4; ++order)
        for (int way = 0; way < 3; ++way, ++turn)
            visit(&(device_case){.type = type,
                                 .dim = dim,
                                 .chains = chains,
                                 .order = (gbs_order)order,
                                 .omega = 1.0,
                                 .location = (gbs_location)(turn % 4),
                                 .start = (gbs_start)(turn / 3 % 4),
                                 .stream = way == 1 ? GBS_STREAM_GIVEN : GBS_STREAM_NATIVE,
                                 .warmup = 2,
                                 .draws = 4,
                                 .thin = 1 + turn % 3,
                                 .fixed = turn % 2,
                                 .bounded = 1,
                                 .overrelax = way == 2 ? 0.8 : 0.0},
                  user);
}

/* Whitened sweeps, and sweeps within rows in every order: native and given numbers, with bounds and
 * without, fixed sites among them. */
static inline void case_each_constrained(gbs_type type, int64_t dim, int64_t chains,
                                         case_visitor visit, void *user)
{
    int turn = (int)dim;
    for (int order = 0; order < 5; ++order) /* the last stands for whitened */
        for (int way = 0; way < 4; ++way, ++turn)
            visit(&(device_case){.type = type,
                                 .method = order == 4 ? GBS_METHOD_WHITENED : GBS_METHOD_GIBBS,
                                 .dim = dim,
                                 .chains = chains,
                                 .order = order == 4 ? GBS_ORDER_FORWARD : (gbs_order)order,
                                 .omega = 1.0,
                                 .location = (gbs_location)(turn % 4),
                                 .start = way % 2 ? GBS_START_GIVEN : GBS_START_ZERO,
                                 .stream = turn % 3 == 1 ? GBS_STREAM_GIVEN : GBS_STREAM_NATIVE,
                                 .warmup = 2,
                                 .draws = 4,
                                 .thin = 1 + turn % 3,
                                 .fixed = turn % 4 == 0,
                                 .bounded = way != 1,
                                 .rows = order < 4 || way < 2},
                  user);
}

#endif
