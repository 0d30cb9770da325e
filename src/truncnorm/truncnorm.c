/* gbs_truncnorm_f32 and _f64: draws between bounds over arrays.  Everything is checked in a first
 * pass, so that bad input leaves `out` alone; both passes go through the arrays in chunks that stay
 * in the nearest cache, shared out among the context's threads.  An operand that a chunk sees
 * contiguously is read where it lies; others are laid out in a buffer. */
#include "backend/backend.h"
#include "core/pool.h"
#include "truncnorm/truncnorm_kernels.h"
#include "truncnorm/truncnorm_plan.h"

#include <assert.h>
#include <math.h>
#include <stdatomic.h>

enum {
    CHUNK = 512,      /* elements; a multiple of GBS_TRUNCNORM_GRANULE */
    TASK_CHUNKS = 16, /* chunks that a thread takes at a time */
    WORDS = CHUNK + 4 * GBS_TRUNCNORM_GROUPS
};

typedef struct truncnorm_call {
    const gbs_truncnorm_spec *spec;
    gbs_truncnorm_plan plan;
    const gbs_truncnorm_kernels *kernels;
    gbs_type type;
    void *out;
    _Atomic int64_t refused; /* an element at or before the first bad one's chunk end; else count */
    _Atomic int64_t on_bound;
} truncnorm_call;

gbs_truncnorm_spec gbs_truncnorm_spec_default(void)
{
    gbs_truncnorm_spec spec;
    memset(&spec, 0, sizeof spec);
    return spec;
}

gbs_operand gbs_operand_array(const void *values, int32_t dims, const int64_t *shape)
{
    gbs_operand operand;
    memset(&operand, 0, sizeof operand);
    operand.values = values;
    operand.dims = dims;
    for (int32_t d = 0; d < dims && d < GBS_DIMS; ++d)
        operand.shape[d] = shape[d];
    return operand;
}

/* ---- operands, chunk by chunk ---- */

typedef union chunk_buffer {
    _Alignas(GBS_ALIGNMENT) float f32[CHUNK];
    double f64[CHUNK];
} chunk_buffer;

static double default_value(int operand)
{
    static const double values[GBS_OPERANDS] = {0, 1, -INFINITY, INFINITY, 0};
    return values[operand];
}

static void fill(gbs_type type, chunk_buffer *to, int64_t count, double value)
{
    if (type == GBS_F32)
        for (int64_t i = 0; i < count; ++i)
            to->f32[i] = (float)value;
    else
        for (int64_t i = 0; i < count; ++i)
            to->f64[i] = value;
}

/* Elements from..from+count of an operand, along out's flat order, run by run of the last
 * dimension. */
static void lay_out(const truncnorm_call *call, int k, int64_t from, int64_t count, char *to)
{
    const gbs_truncnorm_plan *const plan = &call->plan;
    const size_t size = gbs_type_size(call->type);
    const int last = plan->dims - 1;
    for (int64_t done = 0; done < count;) {
        int64_t rest = from + done, at = 0, column = 0;
        for (int d = last; d >= 0; --d) {
            const int64_t index = rest % plan->extent[d];
            rest /= plan->extent[d];
            at += index * plan->stride[k][d];
            column = d == last ? index : column;
        }
        const int64_t left = count - done, row = plan->extent[last] - column;
        const int64_t run = left < row ? left : row;
        assert(run > 0);
        const char *const source = (const char *)plan->values[k] + (size_t)at * size;
        if (plan->stride[k][last] != 0)
            memcpy(to + (size_t)done * size, source, (size_t)run * size);
        else
            for (int64_t i = 0; i < run; ++i)
                memcpy(to + (size_t)(done + i) * size, source, size);
        done += run;
    }
}

static double number_of(const truncnorm_call *call, int k, int64_t at)
{
    chunk_buffer one;
    if (call->plan.values[k] == NULL)
        return default_value(k);
    lay_out(call, k, at, 1, (char *)&one);
    return call->type == GBS_F32 ? (double)one.f32[0] : one.f64[0];
}

/* Whether the operand's elements follow each other in memory as out's do. */
static int runs_along(const gbs_truncnorm_plan *plan, int k)
{
    return plan->values[k] != NULL && plan->dims == 1 && plan->stride[k][0] == 1;
}

/* One number for all of out. */
static int is_number(const gbs_truncnorm_plan *plan, int k)
{
    int varies = 0;
    for (int32_t d = 0; d < plan->dims; ++d)
        varies |= plan->stride[k][d] != 0;
    return plan->values[k] == NULL || !varies;
}

/* The buffers of one task; numbers fill theirs once. */
static void start_buffers(const truncnorm_call *call, chunk_buffer buffer[4])
{
    for (int k = 0; k < 4; ++k)
        if (is_number(&call->plan, k))
            fill(call->type, &buffer[k], CHUNK, number_of(call, k, 0));
}

/* One operand's `count` elements, padded to whole vectors with the last one. */
static const void *operand_at(const truncnorm_call *call, int k, int64_t from, int64_t count,
                              chunk_buffer *buffer)
{
    const size_t size = gbs_type_size(call->type);
    if (is_number(&call->plan, k))
        return buffer;
    if (runs_along(&call->plan, k) && count % GBS_TRUNCNORM_GRANULE == 0)
        return (const char *)call->plan.values[k] + (size_t)from * size;
    char *const to = (char *)buffer;
    lay_out(call, k, from, count, to);
    for (int64_t i = count; i % GBS_TRUNCNORM_GRANULE != 0; ++i)
        memcpy(to + (size_t)i * size, to + (size_t)(count - 1) * size, size);
    return buffer;
}

static gbs_truncnorm_stretch stretch_at(const truncnorm_call *call, int64_t from, int64_t count,
                                        chunk_buffer buffer[4])
{
    gbs_truncnorm_stretch stretch = {0};
    stretch.count = (count + GBS_TRUNCNORM_GRANULE - 1) & -GBS_TRUNCNORM_GRANULE;
    stretch.mean = operand_at(call, 0, from, count, &buffer[0]);
    stretch.sd = operand_at(call, 1, from, count, &buffer[1]);
    stretch.lower = operand_at(call, 2, from, count, &buffer[2]);
    stretch.upper = operand_at(call, 3, from, count, &buffer[3]);
    return stretch;
}

static int64_t chunk_size(const truncnorm_call *call, int64_t from)
{
    const int64_t left = call->plan.count - from;
    return left < CHUNK ? left : CHUNK;
}

static int64_t tasks_of(int64_t count)
{
    return (count + TASK_CHUNKS * CHUNK - 1) / (TASK_CHUNKS * CHUNK);
}

/* ---- first pass: is everything valid? ---- */

static void check_task(void *job, int64_t index, int32_t worker)
{
    truncnorm_call *const call = job;
    chunk_buffer buffer[4];
    (void)worker;
    start_buffers(call, buffer);
    for (int chunk = 0; chunk < TASK_CHUNKS; ++chunk) {
        const int64_t from = (index * TASK_CHUNKS + chunk) * CHUNK;
        if (from >= atomic_load(&call->refused))
            return;
        const gbs_truncnorm_stretch stretch =
            stretch_at(call, from, chunk_size(call, from), buffer);
        if (!call->kernels->valid[call->type](&stretch)) {
            int64_t first = atomic_load(&call->refused);
            while (from < first && !atomic_compare_exchange_weak(&call->refused, &first, from)) {
            }
            return;
        }
    }
}

/* "lower[1, 2]": the operand's own element that serves element `at` of out. */
static const char *name_at(const truncnorm_call *call, int k, int64_t at, char name[240])
{
    const gbs_truncnorm_spec *const spec = call->spec;
    const gbs_operand *const operands[4] = {&spec->mean, &spec->sd, &spec->lower, &spec->upper};
    const gbs_operand *const own = operands[k];
    const int32_t dims = own->values != NULL ? own->dims : 0;
    int64_t index[GBS_DIMS];
    char text[200];
    for (int32_t d = spec->dims - 1, e = dims - 1; e >= 0; --d, --e) {
        index[e] = own->shape[e] == 1 ? 0 : at % spec->shape[d];
        at /= spec->shape[d];
    }
    snprintf(name, 240, "%s%s", gbs_operand_names[k],
             dims > 0 ? gbs_plan_shape(index, dims, text) : "");
    return name;
}

/* The message for element `at`; OK if nothing is wrong with it. */
static gbs_status refuse_element(gbs_context *ctx, const truncnorm_call *call, int64_t at)
{
    const double m = number_of(call, 0, at), s = number_of(call, 1, at);
    const double lo = number_of(call, 2, at), hi = number_of(call, 3, at);
    const double least = call->type == GBS_F32 ? 0x1p-126 : 0x1p-1022;
    char name[240], other[240];
    if (!isfinite(m))
        return gbs_fail(ctx, GBS_ERROR_NOT_FINITE, "%s: %g", name_at(call, 0, at, name), m);
    if (isnan(s))
        return gbs_fail(ctx, GBS_ERROR_NOT_FINITE, "%s: %g", name_at(call, 1, at, name), s);
    if (!(s >= least && isfinite(s)))
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "%s: %g is not in [%g, infinity)",
                        name_at(call, 1, at, name), s, least);
    if (isnan(lo) || isnan(hi))
        return gbs_fail(ctx, GBS_ERROR_NOT_FINITE, "%s: NaN",
                        name_at(call, isnan(lo) ? 2 : 3, at, name));
    if (lo > hi)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "%s: %.17g is above %s: %.17g",
                        name_at(call, 2, at, name), lo, name_at(call, 3, at, other), hi);
    if (lo == (double)INFINITY)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "%s: infinity", name_at(call, 2, at, name));
    if (hi == -(double)INFINITY)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "%s: -infinity", name_at(call, 3, at, name));
    return GBS_OK;
}

static gbs_status check_values(gbs_context *ctx, truncnorm_call *call)
{
    int varies = 0; /* numbers alone are checked once */
    for (int k = 0; k < 4; ++k)
        varies |= !is_number(&call->plan, k);
    const int64_t count = varies ? call->plan.count : 1;
    atomic_store(&call->refused, count);
    gbs_pool_run(ctx->pool, tasks_of(count), check_task, call);
    gbs_status status = GBS_OK;
    for (int64_t at = atomic_load(&call->refused); at < count && status == GBS_OK; ++at)
        status = refuse_element(ctx, call, at);
    return status;
}

/* ---- second pass: the draws ---- */

/* The words of elements from .. from+count, padded to whole vectors. */
static const void *words_at(const truncnorm_call *call, int64_t from, int64_t count, void *words)
{
    const gbs_truncnorm_spec *const spec = call->spec;
    const int64_t each = call->type == GBS_F32 ? 4 : 2;
    const int64_t place = spec->place + from, first = place / each;
    const gbs_truncnorm_words job = {
        .seed = spec->seed,
        .group = (uint32_t)first,
        .word1 = (uint32_t)spec->sweep,
        .word2 = (uint32_t)spec->chain,
        .word3 = (uint32_t)(spec->sweep >> 32) << 16 | GBS_PURPOSE_TRUNCATED << 8 |
                 (uint32_t)(spec->chain >> 32),
        .groups = (place + count - 1) / each - first + 1,
        .out = words,
    };
    call->kernels->words[call->type](&job);
    return (char *)words + (size_t)(place % each) * gbs_type_size(call->type);
}

/* Given words of double draws count by their low 53 bits. */
static void trim_words(uint64_t *word, int64_t count)
{
    for (int64_t i = 0; i < count; ++i)
        word[i] &= UINT64_C(0x1fffffffffffff);
}

static int64_t count_on_bound(const gbs_truncnorm_stretch *s, gbs_type type, int64_t count)
{
    int64_t found = 0;
    for (int64_t i = 0; i < count; ++i) {
        if (type == GBS_F32) {
            const float lo = ((const float *)s->lower)[i], hi = ((const float *)s->upper)[i];
            const float x = ((const float *)s->out)[i];
            found += lo < hi && (x == lo || x == hi);
        } else {
            const double lo = ((const double *)s->lower)[i], hi = ((const double *)s->upper)[i];
            const double x = ((const double *)s->out)[i];
            found += lo < hi && (x == lo || x == hi);
        }
    }
    return found;
}

static void draw_chunk(truncnorm_call *call, int64_t from, chunk_buffer buffer[4])
{
    chunk_buffer result;
    union {
        uint32_t f32[WORDS];
        uint64_t f64[WORDS];
    } words;
    const int64_t count = chunk_size(call, from);
    const size_t size = gbs_type_size(call->type);
    gbs_truncnorm_stretch stretch = stretch_at(call, from, count, buffer);
    if (call->spec->stream == GBS_STREAM_GIVEN) {
        memset(&words, 0, sizeof words);
        lay_out(call, 4, from, count, (char *)&words);
        if (call->type == GBS_F64)
            trim_words(words.f64, count);
        stretch.word = &words;
    } else {
        stretch.word = words_at(call, from, stretch.count, &words);
    }
    char *const out = (char *)call->out + (size_t)from * size;
    stretch.out = stretch.count == count ? (void *)out : (void *)&result;
    call->kernels->draw[call->type](&stretch);
    if (call->spec->on_bound != NULL)
        atomic_fetch_add(&call->on_bound, count_on_bound(&stretch, call->type, count));
    if (stretch.out != (void *)out)
        memcpy(out, &result, (size_t)count * size);
}

static void draw_task(void *job, int64_t index, int32_t worker)
{
    truncnorm_call *const call = job;
    chunk_buffer buffer[4];
    (void)worker;
    start_buffers(call, buffer);
    for (int chunk = 0; chunk < TASK_CHUNKS; ++chunk) {
        const int64_t from = (index * TASK_CHUNKS + chunk) * CHUNK;
        if (from >= call->plan.count)
            return;
        draw_chunk(call, from, buffer);
    }
}

static gbs_status truncnorm(gbs_context *ctx, const gbs_truncnorm_spec *spec, gbs_type type,
                            void *out)
{
    if (ctx == NULL || spec == NULL)
        return ctx == NULL ? GBS_ERROR_ARGUMENT : gbs_fail(ctx, GBS_ERROR_ARGUMENT, "spec: NULL");
    truncnorm_call call = {.spec = spec, .type = type, .out = out};
    char message[GBS_MESSAGE_BYTES];
    const gbs_status planned =
        gbs_truncnorm_plan_make(spec, type, &call.plan, message, sizeof message);
    if (planned != GBS_OK)
        return gbs_fail(ctx, planned, "%s", message);
    if (call.plan.count > 0 && out == NULL)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "out: NULL");
    if (spec->on_bound != NULL)
        *spec->on_bound = 0;
    if (call.plan.count == 0)
        return GBS_OK;
    call.kernels = gbs_truncnorm_kernels_for(ctx->isa);
    fenv_t saved;
    gbs_float_enter(&saved);
    const gbs_status status = check_values(ctx, &call);
    if (status == GBS_OK) {
        gbs_pool_run(ctx->pool, tasks_of(call.plan.count), draw_task, &call);
        if (spec->on_bound != NULL)
            *spec->on_bound = atomic_load(&call.on_bound);
    }
    gbs_float_leave(&saved);
    return status;
}

gbs_status gbs_truncnorm_f32(gbs_context *ctx, const gbs_truncnorm_spec *spec, float *out)
{
    return truncnorm(ctx, spec, GBS_F32, out);
}

gbs_status gbs_truncnorm_f64(gbs_context *ctx, const gbs_truncnorm_spec *spec, double *out)
{
    return truncnorm(ctx, spec, GBS_F64, out);
}
