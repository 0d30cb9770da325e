/* Checkpoints: the sampler's state and place in the stream as little-endian words, each number in
 * a place of its own (docs/file-formats.md), closed by a checksum.  What the state depends on but
 * the reader makes again (coefficients, panels, blocks) is not stored; that it is made of the same
 * model and options is checked field by field, the model by its hashes. */
#include "core/hash.h"
#include "sampler/plan.h"
#include "sampler/sampler_internal.h"

#include <math.h>
#include <string.h>

#define MAGIC UINT64_C(0x0a54504b43534247) /* "GBSCKPT\n" */

/* Words of the head, in the order of the file. */
enum {
    HEAD_MAGIC,
    HEAD_VERSION,
    HEAD_BYTES,
    HEAD_TYPE,
    HEAD_METHOD,
    HEAD_ORDER,
    HEAD_OMEGA,
    HEAD_CHAINS,
    HEAD_DIM,
    HEAD_FIRST_CHAIN,
    HEAD_FIRST_SWEEP,
    HEAD_DONE,
    HEAD_SEED,
    HEAD_STREAM,
    HEAD_MAPPING,
    HEAD_MULTIPROCESSORS,
    HEAD_THREADS,
    HEAD_TORCH_BYTES,
    HEAD_MOMENTS,
    HEAD_WARMUP,
    HEAD_THIN,
    HEAD_DRAWS,
    HEAD_PRECISION,
    HEAD_LOCATION,
    HEAD_PERMUTATION,
    HEAD_FIXED,
    HEAD_BOUNDS,
    HEAD_OVERRELAX,
    HEAD_TRUNCNORM, /* version of the mapping of draws between bounds; 0 without them */
    HEAD_CONSTRAINTS = 31,
    HEAD_WORDS = 32 /* the rest is 0 */
};

typedef struct head {
    uint64_t word[HEAD_WORDS];
} head;

/* Byte offsets of what follows the head; each part starts at a whole word. */
typedef struct layout {
    int64_t state_bytes, moments; /* moments: numbers in the means, and in the sums of squares */
    size_t torch, state, mean, m2, checksum, end;
} layout;

/* ---- words ---- */

static uint64_t load(const unsigned char *from, int size)
{
    uint64_t word = 0;
    for (int k = 0; k < size; ++k)
        word |= (uint64_t)from[k] << (8 * k);
    return word;
}

static void store(unsigned char *to, uint64_t word, int size)
{
    for (int k = 0; k < size; ++k)
        to[k] = (unsigned char)(word >> (8 * k));
}

static uint64_t word_of(double value)
{
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

static double double_of(uint64_t word)
{
    double value;
    memcpy(&value, &word, sizeof value);
    return value;
}

/* `count` numbers of 4 or 8 bytes; source and target may be the same. */
static void store_numbers(void *to, const void *from, int64_t count, int size)
{
    for (int64_t k = 0; k < count; ++k) {
        uint64_t wide;
        uint32_t half;
        if (size == 4) {
            memcpy(&half, (const char *)from + 4 * k, sizeof half);
            wide = half;
        } else {
            memcpy(&wide, (const char *)from + 8 * k, sizeof wide);
        }
        store((unsigned char *)to + size * k, wide, size);
    }
}

static void load_numbers(void *to, const void *from, int64_t count, int size)
{
    for (int64_t k = 0; k < count; ++k) {
        const uint64_t wide = load((const unsigned char *)from + size * k, size);
        const uint32_t half = (uint32_t)wide;
        if (size == 4)
            memcpy((char *)to + 4 * k, &half, sizeof half);
        else
            memcpy((char *)to + 8 * k, &wide, sizeof wide);
    }
}

static uint64_t checksum(const unsigned char *from, size_t bytes)
{
    uint64_t hash = GBS_HASH_START;
    for (size_t at = 0; at < bytes; at += 8) {
        const uint64_t word = load(from + at, 8);
        hash = gbs_hash_words(hash, &word, 1, 8);
    }
    return hash;
}

/* ---- layout ---- */

static int64_t torch_bytes(gbs_stream stream)
{
    return stream == GBS_STREAM_TORCH_CPU    ? GBS_TORCH_CPU_STATE_BYTES
           : stream == GBS_STREAM_TORCH_CUDA ? GBS_TORCH_CUDA_STATE_BYTES
                                             : 0;
}

/* 0 where the sizes are beyond what memory can hold. */
static int lay_out(const head *h, layout *out)
{
    const int64_t size = h->word[HEAD_TYPE] == GBS_F32 ? 4 : 8;
    int64_t numbers, moments = 0, bytes;
    *out = (layout){0};
    if (__builtin_mul_overflow((int64_t)h->word[HEAD_CHAINS], (int64_t)h->word[HEAD_DIM],
                               &numbers) ||
        numbers > INT64_MAX / 64)
        return 0;
    if ((int64_t)h->word[HEAD_MOMENTS] >= 0)
        moments = numbers;
    bytes = HEAD_WORDS * 8;
    out->torch = (size_t)bytes;
    bytes += (int64_t)h->word[HEAD_TORCH_BYTES];
    out->state = (size_t)bytes;
    out->state_bytes = numbers * size;
    bytes += (out->state_bytes + 7) / 8 * 8;
    out->moments = moments;
    out->mean = (size_t)bytes;
    out->m2 = out->mean + (size_t)moments * 8;
    out->checksum = out->m2 + (size_t)moments * 8;
    out->end = out->checksum + 8;
    return (uint64_t)numbers < SIZE_MAX / 64;
}

static const int64_t mapping_version[] = {
    GBS_STREAM_NATIVE_VERSION, 0, GBS_STREAM_TORCH_CPU_VERSION, GBS_STREAM_TORCH_CUDA_VERSION};

static head describe(const gbs_sampler *sampler, const gbs_moments *moments,
                     const gbs_checkpoint_counts *counts)
{
    const int cuda = sampler->stream.kind == GBS_STREAM_TORCH_CUDA;
    head h = {{0}};
    h.word[HEAD_MAGIC] = MAGIC;
    h.word[HEAD_VERSION] = GBS_CHECKPOINT_VERSION;
    h.word[HEAD_TYPE] = (uint64_t)sampler->type;
    h.word[HEAD_METHOD] = (uint64_t)sampler->method;
    h.word[HEAD_ORDER] = (uint64_t)sampler->order;
    h.word[HEAD_OMEGA] = word_of(sampler->overrelax > 0 ? 1.0 : sampler->omega);
    h.word[HEAD_CHAINS] = (uint64_t)sampler->chains;
    h.word[HEAD_DIM] = (uint64_t)sampler->dim;
    h.word[HEAD_FIRST_CHAIN] = (uint64_t)sampler->first_chain;
    h.word[HEAD_FIRST_SWEEP] = (uint64_t)sampler->first_sweep;
    h.word[HEAD_DONE] = (uint64_t)sampler->done;
    h.word[HEAD_SEED] = sampler->seed;
    h.word[HEAD_STREAM] = (uint64_t)sampler->stream.kind;
    h.word[HEAD_MAPPING] = (uint64_t)mapping_version[sampler->stream.kind];
    h.word[HEAD_MULTIPROCESSORS] = cuda ? (uint64_t)sampler->torch_cuda.multiprocessors : 0;
    h.word[HEAD_THREADS] = cuda ? (uint64_t)sampler->torch_cuda.threads_per_multiprocessor : 0;
    h.word[HEAD_TORCH_BYTES] = (uint64_t)torch_bytes(sampler->stream.kind);
    h.word[HEAD_MOMENTS] = (uint64_t)(moments != NULL ? moments->count : -1);
    if (counts != NULL) {
        h.word[HEAD_WARMUP] = (uint64_t)counts->warmup;
        h.word[HEAD_THIN] = (uint64_t)counts->thin;
        h.word[HEAD_DRAWS] = (uint64_t)counts->draws;
    }
    gbs_model_hashes(sampler->model, &h.word[HEAD_PRECISION], &h.word[HEAD_LOCATION]);
    if (sampler->order == GBS_ORDER_PERMUTED)
        h.word[HEAD_PERMUTATION] =
            gbs_hash_words(GBS_HASH_START, sampler->pass[0].site, sampler->dim, 8);
    if (sampler->model->fixed != NULL)
        h.word[HEAD_FIXED] = gbs_hash_words(GBS_HASH_START, sampler->model->fixed, sampler->dim, 8);
    if (sampler->model->lower != NULL)
        h.word[HEAD_BOUNDS] =
            gbs_hash_words(gbs_hash_words(GBS_HASH_START, sampler->model->lower, sampler->dim, 8),
                           sampler->model->upper, sampler->dim, 8);
    h.word[HEAD_OVERRELAX] = word_of(sampler->overrelax);
    if (sampler->model->lower != NULL || sampler->model->constraints != NULL)
        h.word[HEAD_TRUNCNORM] = GBS_TRUNCNORM_VERSION;
    if (sampler->model->constraints != NULL)
        h.word[HEAD_CONSTRAINTS] =
            gbs_constraints_hash(GBS_HASH_START, sampler->model->constraints);
    return h;
}

/* ---- writing ---- */

static gbs_status check_moments(const gbs_sampler *sampler, const gbs_moments *moments)
{
    if (moments == NULL || (moments->chains == sampler->chains && moments->dim == sampler->dim))
        return GBS_OK;
    return gbs_fail(sampler->ctx, GBS_ERROR_ARGUMENT,
                    "moments: [%lld, %lld], but the sampler has [%lld, %lld]",
                    (long long)moments->chains, (long long)moments->dim, (long long)sampler->chains,
                    (long long)sampler->dim);
}

gbs_status gbs_checkpoint_size(const gbs_sampler *sampler, const gbs_moments *moments,
                               size_t *bytes)
{
    if (sampler == NULL)
        return GBS_ERROR_ARGUMENT;
    if (bytes == NULL)
        return gbs_fail(sampler->ctx, GBS_ERROR_ARGUMENT, "bytes: NULL");
    const gbs_status status = check_moments(sampler, moments);
    if (status != GBS_OK)
        return status;
    const head h = describe(sampler, moments, NULL);
    layout at;
    if (!lay_out(&h, &at))
        return gbs_fail(sampler->ctx, GBS_ERROR_LIMIT,
                        "checkpoint: %lld chains of %lld sites are beyond what memory can hold",
                        (long long)sampler->chains, (long long)sampler->dim);
    *bytes = at.end;
    return GBS_OK;
}

gbs_status gbs_checkpoint_write(const gbs_sampler *sampler, const gbs_moments *moments,
                                const gbs_checkpoint_counts *counts, void *to, size_t bytes)
{
    size_t needed = 0;
    gbs_status status = gbs_checkpoint_size(sampler, moments, &needed);
    if (status != GBS_OK)
        return status;
    if (to == NULL || bytes != needed)
        return gbs_fail(sampler->ctx, GBS_ERROR_ARGUMENT,
                        "to: %s of %zu %s, but this checkpoint has %zu",
                        to == NULL ? "NULL" : "memory", bytes,
                        gbs_plural((int64_t)bytes, "byte", "bytes"), needed);
    if (counts != NULL && (counts->warmup < 0 || counts->thin < 0 || counts->draws < 0))
        return gbs_fail(sampler->ctx, GBS_ERROR_ARGUMENT,
                        "counts: warmup %lld, thin %lld, draws %lld; none may be negative",
                        (long long)counts->warmup, (long long)counts->thin,
                        (long long)counts->draws);
    head h = describe(sampler, moments, counts);
    layout at;
    lay_out(&h, &at);
    h.word[HEAD_BYTES] = at.end;
    unsigned char *const base = to;
    memset(base + at.torch, 0, at.end - at.torch);
    store_numbers(base, h.word, HEAD_WORDS, 8);
    if (sampler->stream.kind == GBS_STREAM_TORCH_CPU)
        gbs_torch_cpu_get_state(sampler->torch_cpu, base + at.torch);
    if (sampler->stream.kind == GBS_STREAM_TORCH_CUDA)
        gbs_torch_cuda_get_state(&sampler->torch_cuda, base + at.torch);
    status = gbs_sampler_get_state(sampler, base + at.state);
    if (status != GBS_OK)
        return status;
    store_numbers(base + at.state, base + at.state, sampler->chains * sampler->dim,
                  (int)gbs_type_size(sampler->type));
    if (moments != NULL) {
        if (gbs_moments_mean(moments) == NULL) /* fetched here where they are on a device */
            return gbs_fail(sampler->ctx, GBS_ERROR_UNAVAILABLE,
                            "moments: they could not be fetched from the GPU");
        store_numbers(base + at.mean, moments->mean, at.moments, 8);
        store_numbers(base + at.m2, moments->m2, at.moments, 8);
    }
    store(base + at.checksum, checksum(base, at.checksum), 8);
    return GBS_OK;
}

/* ---- reading ---- */

static int within(uint64_t word, int64_t least, int64_t most)
{
    return (int64_t)word >= least && (int64_t)word <= most;
}

/* What a checksum cannot know: that whoever wrote it meant a checkpoint. */
static int makes_sense(const head *h)
{
    const double omega = double_of(h->word[HEAD_OMEGA]);
    const double overrelax = double_of(h->word[HEAD_OVERRELAX]);
    if (!within(h->word[HEAD_TYPE], GBS_F32, GBS_F64) ||
        !within(h->word[HEAD_METHOD], GBS_METHOD_GIBBS, GBS_METHOD_WHITENED) ||
        !within(h->word[HEAD_ORDER], GBS_ORDER_FORWARD, GBS_ORDER_PERMUTED) ||
        !within(h->word[HEAD_STREAM], GBS_STREAM_NATIVE, GBS_STREAM_TORCH_CUDA) ||
        !(omega > 0.0 && omega < 2.0) || !(overrelax >= 0.0 && overrelax < 1.0))
        return 0;
    for (int k = HEAD_FIRST_CHAIN; k <= HEAD_DONE; ++k)
        if (!within(h->word[k], 0, INT64_C(1) << 48))
            return 0;
    for (int k = HEAD_WARMUP; k <= HEAD_DRAWS; ++k)
        if (!within(h->word[k], 0, INT64_MAX))
            return 0;
    return within(h->word[HEAD_CHAINS], 1, INT64_MAX) && within(h->word[HEAD_DIM], 1, INT64_MAX) &&
           within(h->word[HEAD_MULTIPROCESSORS], 0, INT32_MAX) &&
           within(h->word[HEAD_THREADS], 0, INT32_MAX) &&
           within(h->word[HEAD_MOMENTS], -1, INT64_MAX) &&
           (int64_t)h->word[HEAD_TORCH_BYTES] == torch_bytes((gbs_stream)h->word[HEAD_STREAM]);
}

static gbs_status open_head(gbs_context *ctx, const void *from, size_t bytes, head *h, layout *at)
{
    if (from == NULL)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "checkpoint: NULL");
    if (bytes < 8 || load(from, 8) != MAGIC)
        return gbs_fail(ctx, GBS_ERROR_STATE, "checkpoint: this is not one");
    if (bytes < sizeof h->word)
        return gbs_fail(ctx, GBS_ERROR_STATE, "checkpoint: cut short, it has %zu bytes", bytes);
    load_numbers(h->word, from, HEAD_WORDS, 8);
    if (h->word[HEAD_VERSION] != GBS_CHECKPOINT_VERSION)
        return gbs_fail(ctx, GBS_ERROR_STATE,
                        "checkpoint: its format is version %llu, this library reads version %d",
                        (unsigned long long)h->word[HEAD_VERSION], GBS_CHECKPOINT_VERSION);
    if (h->word[HEAD_BYTES] != bytes)
        return gbs_fail(ctx, GBS_ERROR_STATE, "checkpoint: it has %zu bytes and should have %llu",
                        bytes, (unsigned long long)h->word[HEAD_BYTES]);
    if (!makes_sense(h) || !lay_out(h, at) || at->end != bytes)
        return gbs_fail(ctx, GBS_ERROR_STATE, "checkpoint: its head makes no sense");
    if (load((const unsigned char *)from + at->checksum, 8) != checksum(from, at->checksum))
        return gbs_fail(ctx, GBS_ERROR_STATE, "checkpoint: damaged, its checksum does not fit");
    return GBS_OK;
}

gbs_status gbs_checkpoint_inspect(gbs_context *ctx, const void *from, size_t bytes,
                                  gbs_checkpoint_info *out)
{
    head h = {0};
    layout at = {0};
    if (ctx == NULL || out == NULL)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "checkpoint: context and out must not be NULL");
    const gbs_status status = open_head(ctx, from, bytes, &h, &at);
    if (status != GBS_OK)
        return status;
    *out = (gbs_checkpoint_info){
        .type = (gbs_type)h.word[HEAD_TYPE],
        .method = (gbs_method)h.word[HEAD_METHOD],
        .order = (gbs_order)h.word[HEAD_ORDER],
        .omega = double_of(h.word[HEAD_OMEGA]),
        .overrelax = double_of(h.word[HEAD_OVERRELAX]),
        .chains = (int64_t)h.word[HEAD_CHAINS],
        .dim = (int64_t)h.word[HEAD_DIM],
        .first_chain = (int64_t)h.word[HEAD_FIRST_CHAIN],
        .next_sweep = (int64_t)(h.word[HEAD_FIRST_SWEEP] + h.word[HEAD_DONE]),
        .seed = h.word[HEAD_SEED],
        .stream = (gbs_stream)h.word[HEAD_STREAM],
        .stream_mapping_version = (int64_t)h.word[HEAD_MAPPING],
        .cuda_multiprocessors = (int32_t)h.word[HEAD_MULTIPROCESSORS],
        .cuda_threads_per_multiprocessor = (int32_t)h.word[HEAD_THREADS],
        .moments_count = (int64_t)h.word[HEAD_MOMENTS],
        .counts = {.warmup = (int64_t)h.word[HEAD_WARMUP],
                   .thin = (int64_t)h.word[HEAD_THIN],
                   .draws = (int64_t)h.word[HEAD_DRAWS]},
    };
    return GBS_OK;
}

/* How a field is told in a message. */
typedef enum telling { TELL_NUMBER, TELL_REAL, TELL_WORD, TELL_HASH } telling;

typedef struct field {
    int word;
    telling as;
    const char *name;
    const char *const *names; /* of TELL_WORD */
} field;

static const char *const type_names[] = {"float", "double"};
static const char *const method_names[] = {"gibbs", "exact", "whitened"};
static const char *const order_names[] = {"forward", "backward", "symmetric", "permuted"};
static const char *const stream_names[] = {"native", "given", "torch-cpu", "torch-cuda"};

static const field must_agree[] = {
    {HEAD_TYPE, TELL_WORD, "type", type_names},
    {HEAD_METHOD, TELL_WORD, "method", method_names},
    {HEAD_ORDER, TELL_WORD, "order", order_names},
    {HEAD_OMEGA, TELL_REAL, "omega", NULL},
    {HEAD_OVERRELAX, TELL_REAL, "overrelax", NULL},
    {HEAD_CHAINS, TELL_NUMBER, "chains", NULL},
    {HEAD_DIM, TELL_NUMBER, "sites", NULL},
    {HEAD_FIRST_CHAIN, TELL_NUMBER, "first_chain", NULL},
    {HEAD_SEED, TELL_NUMBER, "seed", NULL},
    {HEAD_STREAM, TELL_WORD, "stream", stream_names},
    {HEAD_MAPPING, TELL_NUMBER, "stream mapping version", NULL},
    {HEAD_MULTIPROCESSORS, TELL_NUMBER, "cuda_multiprocessors", NULL},
    {HEAD_THREADS, TELL_NUMBER, "cuda_threads_per_multiprocessor", NULL},
    {HEAD_BOUNDS, TELL_HASH, "set of bounds", NULL},     /* equal ones fix a site */
    {HEAD_FIXED, TELL_HASH, "set of fixed sites", NULL}, /* which changes the next two */
    {HEAD_PRECISION, TELL_HASH, "precision", NULL},
    {HEAD_LOCATION, TELL_HASH, "location", NULL},
    {HEAD_PERMUTATION, TELL_HASH, "permutation", NULL},
    {HEAD_CONSTRAINTS, TELL_HASH, "set of constraints", NULL},
    /* after the model, with which it comes and goes */
    {HEAD_TRUNCNORM, TELL_NUMBER, "truncnorm mapping version", NULL},
};

static gbs_status differ(gbs_context *ctx, const field *f, uint64_t its, uint64_t here)
{
    switch (f->as) {
    case TELL_WORD:
        return gbs_fail(ctx, GBS_ERROR_STATE, "checkpoint: its %s is %s, the sampler's %s", f->name,
                        f->names[its], f->names[here]);
    case TELL_REAL:
        return gbs_fail(ctx, GBS_ERROR_STATE, "checkpoint: its %s is %.17g, the sampler's %.17g",
                        f->name, double_of(its), double_of(here));
    case TELL_HASH: /* 0: there is none */
        if (here == 0)
            return gbs_fail(
                ctx, GBS_ERROR_STATE,
                "checkpoint: its %s is another one: the sampler has none, but a run goes "
                "on with what it began with",
                f->name);
        if (its == 0)
            return gbs_fail(ctx, GBS_ERROR_STATE,
                            "checkpoint: its %s is another one: it has none, the sampler has",
                            f->name);
        return gbs_fail(ctx, GBS_ERROR_STATE,
                        "checkpoint: its %s is another one (hash %016llx, the sampler's %016llx)",
                        f->name, (unsigned long long)its, (unsigned long long)here);
    case TELL_NUMBER: break;
    }
    return gbs_fail(ctx, GBS_ERROR_STATE, "checkpoint: its %s: %llu, the sampler's: %llu", f->name,
                    (unsigned long long)its, (unsigned long long)here);
}

static gbs_status compare(const gbs_sampler *sampler, const gbs_moments *moments, const head *h)
{
    const head here = describe(sampler, moments, NULL);
    for (size_t k = 0; k < sizeof must_agree / sizeof *must_agree; ++k) {
        const field *const f = &must_agree[k];
        if (h->word[f->word] != here.word[f->word])
            return differ(sampler->ctx, f, h->word[f->word], here.word[f->word]);
    }
    if (moments != NULL && (int64_t)h->word[HEAD_MOMENTS] < 0)
        return gbs_fail(sampler->ctx, GBS_ERROR_STATE, "checkpoint: it holds no moments");
    return GBS_OK;
}

/* Leaves the generator as it was where it fails. */
static gbs_status restore_generator(gbs_sampler *sampler, const unsigned char *state)
{
    gbs_status status = GBS_OK;
    if (sampler->stream.kind == GBS_STREAM_TORCH_CPU)
        status = gbs_torch_cpu_set_state(sampler->torch_cpu, state);
    if (sampler->stream.kind == GBS_STREAM_TORCH_CUDA)
        status = gbs_torch_cuda_set_state(&sampler->torch_cuda, state);
    if (status != GBS_OK)
        return gbs_fail(sampler->ctx, status, "checkpoint: its generator's state cannot be one");
    return GBS_OK;
}

gbs_status gbs_checkpoint_read(gbs_sampler *sampler, gbs_moments *moments, const void *from,
                               size_t bytes)
{
    head h = {0};
    layout at = {0};
    if (sampler == NULL)
        return GBS_ERROR_ARGUMENT;
    gbs_status status = check_moments(sampler, moments);
    if (status == GBS_OK)
        status = open_head(sampler->ctx, from, bytes, &h, &at);
    if (status == GBS_OK)
        status = compare(sampler, moments, &h);
    if (status != GBS_OK)
        return status;
    const unsigned char *const base = from;
    load_numbers(sampler->staging, base + at.state, sampler->chains * sampler->dim,
                 (int)gbs_type_size(sampler->type));
    status = gbs_state_check(sampler->ctx, "checkpoint", sampler->type, sampler->staging,
                             sampler->chains, sampler->dim);
    if (status == GBS_OK)
        status = restore_generator(sampler, base + at.torch);
    if (status == GBS_OK)
        status = gbs_sampler_set_state(sampler, sampler->staging);
    if (status != GBS_OK)
        return status;
    sampler->first_sweep = (int64_t)h.word[HEAD_FIRST_SWEEP];
    sampler->done = (int64_t)h.word[HEAD_DONE];
    if (moments != NULL) {
        load_numbers(moments->mean, base + at.mean, at.moments, 8);
        load_numbers(moments->m2, base + at.m2, at.moments, 8);
        moments->count = (int64_t)h.word[HEAD_MOMENTS];
        moments->newer_on_device = 0;
    }
    return GBS_OK;
}
