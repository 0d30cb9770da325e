/* A device library without a device: the seam (core/device.h) in plain host code, for tests of the
 * sampler's logic and of what happens when a device fails.  One sum after another as numerics
 * demand, normals by the book; nothing of the library's kernels.  It also checks what the sampler
 * may not ask of a device: more passes than there is noise for, more draws than it keeps. */
#include "core/device.h"
#include "device/fake_device.h"
#include "device/fake_steps.h"
#include "kat/native_reference.h"
#include "rng/torch_stream.h"
#include "rng/truncnorm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct gbs_device {
    int32_t ordinal;
    gbs_allocator host, memory;
};

struct gbs_device_sampler {
    gbs_device *device;
    gbs_device_plan plan;
    int64_t passes;
    double *coefficients, *scale, *centre, *mean, *state, *noise, *kept; /* widened */
    double *lower, *upper;
    uint64_t *words; /* noise as it came, where it is words */
    uint8_t *bounded;
    int64_t *place, *site;
    fake_steps steps; /* whitened, or within rows */
};

struct gbs_device_moments {
    gbs_device device;
    int64_t count;
    double *mean, *m2;
};

/* ---- failing on request ---- */

static _Thread_local fake_control control = {.refuse = -1};

GBS_API fake_control *fake_device_control(void)
{
    return &control;
}

static gbs_status failed(gbs_device_message message, gbs_status status, const char *text)
{
    if (message.bytes > 0)
        snprintf(message.text, message.bytes, "%s", text);
    return status;
}

/* Every call that can fail asks here first. */
static int refused(void)
{
    return control.calls++ == control.refuse;
}

#define MAY_FAIL(what)                                                                             \
    if (refused())                                                                                 \
    return failed(message, GBS_ERROR_UNAVAILABLE, "fake: " what " failed")

static void *take(const gbs_device *device, int64_t count, gbs_status *status,
                  gbs_device_message message)
{
    if (*status != GBS_OK)
        return NULL;
    void *const memory =
        device->memory.allocate((size_t)count * sizeof(double), device->memory.user);
    if (memory == NULL)
        *status = failed(message, GBS_ERROR_MEMORY, "fake: no memory for elements");
    return memory;
}

static void give(const gbs_device *device, void *memory)
{
    if (memory != NULL)
        device->memory.release(memory, device->memory.user);
}

static void *by_malloc(size_t bytes, void *user)
{
    (void)user;
    return malloc(bytes);
}

static void by_free(void *memory, void *user)
{
    (void)user;
    free(memory);
}

/* ---- the device ---- */

static void close_device(gbs_device *device)
{
    if (device != NULL)
        device->host.release(device, device->host.user);
}

static gbs_status open_device(int32_t ordinal, const gbs_allocator *host,
                              const gbs_allocator *memory, gbs_device **out,
                              gbs_device_message message)
{
    *out = NULL;
    MAY_FAIL("open");
    if (ordinal < 0 || ordinal > 1)
        return failed(message, GBS_ERROR_UNAVAILABLE, "cuda_device: the fake has two");
    gbs_device *const device = host->allocate(sizeof *device, host->user);
    if (device == NULL)
        return failed(message, GBS_ERROR_MEMORY, "fake: no memory for a device");
    const gbs_allocator own = {by_malloc, by_free, NULL};
    *device = (gbs_device){ordinal, *host, memory != NULL ? *memory : own};
    *out = device;
    return GBS_OK;
}

/* ---- the sampler ---- */

static double element(gbs_type type, const void *array, int64_t at)
{
    return type == GBS_F32 ? (double)((const float *)array)[at] : ((const double *)array)[at];
}

static void widen(gbs_type type, const void *from, int64_t count, double *to)
{
    for (int64_t k = 0; k < count; ++k)
        to[k] = element(type, from, k);
}

static double *upload(const gbs_device_sampler *sampler, gbs_type type, const void *from,
                      int64_t count, gbs_status *status, gbs_device_message message)
{
    double *const to = from != NULL ? take(sampler->device, count, status, message) : NULL;
    if (to != NULL)
        widen(type, from, count, to);
    return to;
}

static int is_buffered(const gbs_device_sampler *sampler)
{
    if (sampler->plan.bounded != NULL || sampler->plan.kind != NULL)
        return sampler->plan.stream == GBS_STREAM_GIVEN;
    return sampler->plan.stream == GBS_STREAM_GIVEN || sampler->plan.method == GBS_METHOD_EXACT ||
           (sampler->plan.stream == GBS_STREAM_NATIVE && sampler->place != NULL);
}

static void end_sampler(gbs_device_sampler *sampler)
{
    if (sampler == NULL)
        return;
    gbs_device *const device = sampler->device;
    give(device, sampler->coefficients);
    give(device, sampler->scale);
    give(device, sampler->centre);
    give(device, sampler->mean);
    give(device, sampler->place);
    give(device, sampler->state);
    give(device, sampler->noise);
    give(device, sampler->kept);
    give(device, sampler->lower);
    give(device, sampler->upper);
    give(device, sampler->words);
    give(device, sampler->bounded);
    give(device, sampler->site);
    give(device, sampler->steps.block);
    device->host.release(sampler, device->host.user);
}

static gbs_status plan_sampler(gbs_device *device, const gbs_device_plan *plan,
                               gbs_device_sampler **out, gbs_device_message message)
{
    *out = NULL;
    MAY_FAIL("plan");
    gbs_device_sampler *const s = device->host.allocate(sizeof *s, device->host.user);
    if (s == NULL)
        return failed(message, GBS_ERROR_MEMORY, "fake: no memory for a sampler");
    memset(s, 0, sizeof *s);
    s->device = device;
    s->plan = *plan;
    s->passes = plan->order == GBS_ORDER_SYMMETRIC ? 2 : 1;
    const int64_t dim = plan->dim, state = dim * plan->chains;
    gbs_status status = GBS_OK;
    s->coefficients = upload(s, plan->type, plan->coefficients, dim * dim, &status, message);
    s->scale = upload(s, plan->type, plan->scale, dim, &status, message);
    s->centre = upload(s, plan->type, plan->centre, dim, &status, message);
    s->mean = upload(s, GBS_F64, plan->mean, dim, &status, message);
    if (plan->place != NULL)
        s->place = take(device, dim, &status, message);
    if (s->place != NULL)
        memcpy(s->place, plan->place, (size_t)dim * sizeof *s->place);
    if (plan->site != NULL)
        s->site = take(device, dim, &status, message);
    if (s->site != NULL)
        memcpy(s->site, plan->site, (size_t)dim * sizeof *s->site);
    if (plan->kind != NULL && status == GBS_OK &&
        !fake_steps_make(plan, &device->memory, &s->steps))
        status = failed(message, GBS_ERROR_MEMORY, "fake: no memory for steps");
    if (plan->bounded != NULL) {
        s->lower = upload(s, plan->type, plan->lower, dim, &status, message);
        s->upper = upload(s, plan->type, plan->upper, dim, &status, message);
    }
    if (plan->bounded != NULL)
        s->bounded = take(device, dim, &status, message);
    if (s->bounded != NULL)
        memcpy(s->bounded, plan->bounded, (size_t)dim);
    if ((plan->bounded != NULL || plan->kind != NULL) && is_buffered(s))
        s->words = take(device, plan->noise_passes * state, &status, message);
    s->state = take(device, state, &status, message);
    s->kept = take(device, plan->kept_draws * state, &status, message);
    if (is_buffered(s))
        s->noise = take(device, plan->noise_passes * state, &status, message);
    if (status != GBS_OK)
        end_sampler(s);
    else
        *out = s;
    return status;
}

static const char *kernel_name(const gbs_device_sampler *sampler)
{
    return sampler->plan.type == GBS_F32 ? "fake_f32" : "fake_f64";
}

static gbs_status put_state(gbs_device_sampler *s, const void *x, gbs_device_message message)
{
    MAY_FAIL("put_state");
    widen(s->plan.type, x, s->plan.dim * s->plan.chains, s->state);
    return GBS_OK;
}

static gbs_status put_noise(gbs_device_sampler *s, int64_t pass, const void *z,
                            gbs_device_message message)
{
    const int64_t state = s->plan.dim * s->plan.chains;
    MAY_FAIL("put_noise");
    if (pass < 0 || pass >= s->plan.noise_passes)
        return failed(message, GBS_ERROR_ARGUMENT, "fake: noise beyond noise_passes");
    widen(s->plan.type, z, state, s->noise + pass * state);
    for (int64_t k = 0; s->words != NULL && k < state; ++k)
        s->words[pass * state + k] =
            s->plan.type == GBS_F32 ? ((const uint32_t *)z)[k] : ((const uint64_t *)z)[k];
    return GBS_OK;
}

/* The normal of site i for chain c in pass `pass` of this run, visited p-th. */
static double normal(const gbs_device_sampler *s, const gbs_device_run *run, int64_t pass,
                     int64_t i, int64_t p, int64_t c)
{
    const gbs_device_plan *const plan = &s->plan;
    const int64_t place = s->place != NULL ? s->place[i] : i;
    if (plan->stream == GBS_STREAM_GIVEN)
        return s->noise[(pass * plan->dim + place) * plan->chains + c];
    if (plan->stream == GBS_STREAM_NATIVE) {
        const int64_t each = plan->type == GBS_F32 ? 4 : 2;
        const native_address at = {
            .seed = plan->seed,
            .sweep = (uint64_t)(run->first_sweep * s->passes + pass),
            .chain = plan->first_chain + c,
            .purpose = plan->method == GBS_METHOD_EXACT ? 5 : 0,
        };
        uint32_t w[4];
        double z[4];
        float f[4];
        reference_words(at, (uint32_t)(i / each), w);
        gbs_normal_pair_f32(w[0], w[1], &f[0], &f[1]);
        gbs_normal_pair_f32(w[2], w[3], &f[2], &f[3]);
        gbs_normal_pair_f64(w[0] ^ (uint64_t)w[1] << 21, w[2] ^ (uint64_t)w[3] << 21, &z[0], &z[1]);
        return plan->type == GBS_F32 ? (double)f[i % 4] : z[i % 2];
    }
    const gbs_torch_cuda torch = {plan->seed, 0, plan->cuda_multiprocessors,
                                  plan->cuda_threads_per_multiprocessor};
    const int64_t call = pass * plan->dim + (plan->method == GBS_METHOD_EXACT ? i : p);
    const uint64_t offset =
        run->torch_offset +
        (uint64_t)call * gbs_torch_cuda_advance(&torch, plan->type, plan->chains);
    float single;
    double twofold;
    if (plan->type == GBS_F64) {
        gbs_torch_cuda_randn_f64(&torch, offset, plan->chains, c, 1, &twofold);
        return twofold;
    }
    gbs_torch_cuda_randn_f32(&torch, offset, plan->chains, c, 1, &single);
    return (double)single;
}

/* a x + r, rounded once to T; `a` and `x` are of T, widened. */
static double fused(gbs_type type, double a, double x, double r)
{
    return type == GBS_F32 ? (double)fmaf((float)a, (float)x, (float)r) : fma(a, x, r);
}

static int64_t site_at(const gbs_device_sampler *s, int64_t place)
{
    for (int64_t i = 0; s->place != NULL && i < s->plan.dim; ++i)
        if (s->place[i] == place)
            return i;
    return place;
}

/* The word of purpose 2 or 3 of site i, which is at `place`. */
static uint64_t word(const gbs_device_sampler *s, const gbs_device_run *run, int64_t pass,
                     uint32_t purpose, int64_t i, int64_t place, int64_t c)
{
    const gbs_device_plan *const plan = &s->plan;
    const native_address at = {
        .seed = plan->seed,
        .sweep = (uint64_t)(run->first_sweep * s->passes + pass),
        .chain = plan->first_chain + c,
        .purpose = purpose,
    };
    uint32_t w[4];
    if (s->words != NULL)
        return s->words[(pass * plan->dim + place) * plan->chains + c];
    reference_words(at, (uint32_t)(i / (plan->type == GBS_F32 ? 4 : 2)), w);
    return plan->type == GBS_F32 ? w[i % 4] : w[i % 2 * 2] ^ (uint64_t)w[i % 2 * 2 + 1] << 21;
}

/* A draw at place q, whose mean is m. */
static double between(const gbs_device_sampler *s, const gbs_device_run *run, int64_t pass,
                      int64_t q, int64_t c, double m, double x)
{
    const gbs_device_plan *const plan = &s->plan;
    const int64_t i = s->site != NULL ? s->site[q] : q;
    const double scale = s->scale[q], lo = s->lower[q], hi = s->upper[q];
    const int over = plan->overrelax > 0;
    const uint64_t w = word(s, run, pass, over ? 3 : 2, i, q, c);
    const double z = over ? normal(s, run, pass, i, q, c) : 0.0;
    if (plan->type == GBS_F64)
        return over ? gbs_overrelaxed_f64(m, scale, lo, hi, x, z, w, plan->overrelax, plan->beside)
                    : gbs_between_f64(m, scale, lo, hi, w);
    return over
               ? (double)gbs_overrelaxed_f32((float)m, (float)scale, (float)lo, (float)hi, (float)x,
                                             (float)z, (uint32_t)w, (float)plan->overrelax,
                                             (float)plan->beside)
               : (double)gbs_between_f32((float)m, (float)scale, (float)lo, (float)hi, (uint32_t)w);
}

/* w = 1 leaves out what w != 1 starts a sum with.  With bounds every place has a w of its own. */
static double relaxation_of(const gbs_device_sampler *s, int64_t q)
{
    const double exact = 1.0 - s->plan.omega;
    if (s->bounded != NULL)
        return s->coefficients[q * s->plan.dim + q];
    return s->plan.type == GBS_F32 ? (double)(float)exact : exact;
}

static void sweep_pass(gbs_device_sampler *s, const gbs_device_run *run, int64_t pass)
{
    const gbs_device_plan *const plan = &s->plan;
    const int64_t dim = plan->dim;
    const int relaxed = s->bounded != NULL ? plan->relaxed : plan->omega != 1.0;
    const int backward =
        plan->order == GBS_ORDER_BACKWARD || (plan->order == GBS_ORDER_SYMMETRIC && pass % 2 == 1);
    for (int64_t c = 0; c < plan->chains; ++c) {
        double *const x = s->state + c * dim;
        for (int64_t p = 0; p < dim; ++p) { /* p-th visited: at place q */
            const int64_t q = backward ? dim - 1 - p : p;
            const double *const row = s->coefficients + q * dim;
            const int bounded = s->bounded != NULL && s->bounded[q];
            double r = s->centre[q];
            if (!bounded)
                r = fused(plan->type, s->scale[q], normal(s, run, pass, site_at(s, q), p, c), r);
            if (relaxed)
                r = fused(plan->type, relaxation_of(s, q), x[q], r);
            for (int64_t k = 1; k < dim; ++k) {
                const int64_t v = (p + k) % dim, j = backward ? dim - 1 - v : v;
                r = fused(plan->type, row[j], x[j], r);
            }
            x[q] = bounded ? between(s, run, pass, q, c, r, x[q]) : r;
        }
    }
}

/* ---- whitened, or within rows ---- */

typedef struct step_numbers {
    const gbs_device_sampler *s;
    const gbs_device_run *run;
    int64_t pass, chain;
} step_numbers;

static double step_normal(const void *user, int64_t place)
{
    const step_numbers *const at = user;
    return normal(at->s, at->run, at->pass, site_at(at->s, place), place, at->chain);
}

static uint64_t step_word(const void *user, int64_t place)
{
    const step_numbers *const at = user;
    return word(at->s, at->run, at->pass, 2, site_at(at->s, place), place, at->chain);
}

static void step_pass(gbs_device_sampler *s, const gbs_device_run *run, int64_t pass)
{
    const gbs_device_plan *const plan = &s->plan;
    const int backward =
        plan->order == GBS_ORDER_BACKWARD || (plan->order == GBS_ORDER_SYMMETRIC && pass % 2 == 1);
    for (int64_t c = 0; c < plan->chains; ++c) {
        const step_numbers at = {s, run, pass, c};
        const fake_numbers numbers = {step_normal, step_word, &at};
        double *const x = s->state + c * plan->dim;
        if (plan->method == GBS_METHOD_WHITENED)
            fake_steps_whitened(&s->steps, &numbers, x);
        else
            fake_steps_sweep(&s->steps, s->coefficients, s->scale, s->centre, backward, &numbers,
                             x);
    }
}

static void exact_draw(gbs_device_sampler *s, const gbs_device_run *run, int64_t draw)
{
    const gbs_device_plan *const plan = &s->plan;
    const int64_t dim = plan->dim;
    double *const y = malloc((size_t)dim * sizeof *y);
    for (int64_t c = 0; c < plan->chains; ++c)
        for (int64_t i = dim - 1; i >= 0; --i) {
            double r = normal(s, run, draw, i, i, c);
            for (int64_t j = dim - 1; j > i; --j)
                r = fused(plan->type, s->coefficients[j * dim + i], y[j], r);
            const double pivot = s->coefficients[i * dim + i];
            y[i] = plan->type == GBS_F32 ? (double)((float)r / (float)pivot) : r / pivot;
            const double x = s->mean[i] + y[i];
            s->state[c * dim + i] = plan->type == GBS_F32 ? (double)(float)x : x;
        }
    free(y);
}

static gbs_status run_sampler(gbs_device_sampler *s, const gbs_device_run *run,
                              gbs_device_message message)
{
    const int64_t state = s->plan.dim * s->plan.chains;
    MAY_FAIL("run");
    if (is_buffered(s) && run->sweeps * s->passes > s->plan.noise_passes)
        return failed(message, GBS_ERROR_ARGUMENT, "fake: more sweeps than noise");
    if (run->keep_every > 0 &&
        (run->sweeps % run->keep_every != 0 ||
         run->keep_from + run->sweeps / run->keep_every > s->plan.kept_draws))
        return failed(message, GBS_ERROR_ARGUMENT, "fake: more draws than are kept");
    for (int64_t sweep = 0; sweep < run->sweeps; ++sweep) {
        if (s->plan.method == GBS_METHOD_EXACT)
            exact_draw(s, run, sweep);
        else
            for (int64_t half = 0; half < s->passes; ++half)
                (s->plan.kind != NULL ? step_pass : sweep_pass)(s, run, sweep * s->passes + half);
        if (run->keep_every > 0 && (sweep + 1) % run->keep_every == 0)
            memcpy(s->kept + (run->keep_from + (sweep + 1) / run->keep_every - 1) * state, s->state,
                   (size_t)state * sizeof(double));
    }
    return GBS_OK;
}

static gbs_status get_draws(gbs_device_sampler *s, int64_t first, int64_t count, void *x,
                            gbs_device_message message)
{
    const int64_t state = s->plan.dim * s->plan.chains, all = (count > 0 ? count : 1) * state;
    const double *const from = count > 0 ? s->kept + first * state : s->state;
    MAY_FAIL("get");
    for (int64_t k = 0; k < all; ++k)
        if (s->plan.type == GBS_F32)
            ((float *)x)[k] = (float)from[k];
        else
            ((double *)x)[k] = from[k];
    return GBS_OK;
}

/* ---- moments ---- */

static void moments_destroy(gbs_device_moments *moments)
{
    if (moments == NULL)
        return;
    const gbs_device device = moments->device;
    give(&device, moments->mean);
    give(&device, moments->m2);
    device.host.release(moments, device.host.user);
}

static gbs_status moments_create(gbs_device *device, int64_t chains, int64_t dim,
                                 gbs_device_moments **out, gbs_device_message message)
{
    *out = NULL;
    MAY_FAIL("moments_create");
    gbs_device_moments *const moments = device->host.allocate(sizeof *moments, device->host.user);
    if (moments == NULL)
        return failed(message, GBS_ERROR_MEMORY, "fake: no memory for moments");
    *moments = (gbs_device_moments){.device = *device, .count = chains * dim};
    gbs_status status = GBS_OK;
    moments->mean = take(device, chains * dim, &status, message);
    moments->m2 = take(device, chains * dim, &status, message);
    if (status != GBS_OK)
        moments_destroy(moments);
    else
        *out = moments;
    return status;
}

static gbs_status moments_put(gbs_device_moments *moments, const double *mean, const double *m2,
                              gbs_device_message message)
{
    MAY_FAIL("moments_put");
    memcpy(moments->mean, mean, (size_t)moments->count * sizeof *mean);
    memcpy(moments->m2, m2, (size_t)moments->count * sizeof *m2);
    return GBS_OK;
}

static gbs_status moments_get(gbs_device_moments *moments, double *mean, double *m2,
                              gbs_device_message message)
{
    MAY_FAIL("moments_get");
    memcpy(mean, moments->mean, (size_t)moments->count * sizeof *mean);
    memcpy(m2, moments->m2, (size_t)moments->count * sizeof *m2);
    return GBS_OK;
}

static gbs_status accumulate(gbs_device_sampler *s, gbs_device_moments *moments, int64_t first,
                             int64_t count, int64_t seen, gbs_device_message message)
{
    const int64_t dim = s->plan.dim, state = dim * s->plan.chains;
    MAY_FAIL("accumulate");
    if (moments->device.ordinal != s->device->ordinal)
        return failed(message, GBS_ERROR_ARGUMENT, "fake: moments of the other device");
    for (int64_t at = 0; at < state; ++at)
        for (int64_t draw = 0; draw < count; ++draw) {
            const int64_t i = at % dim, from = at - i + (s->place != NULL ? s->place[i] : i);
            const double x = s->kept[(first + draw) * state + from];
            const double d = x - moments->mean[at];
            moments->mean[at] += d / (double)(seen + draw + 1);
            moments->m2[at] = fma(d, x - moments->mean[at], moments->m2[at]);
        }
    return GBS_OK;
}

GBS_API const gbs_device_functions *gbs_cuda_device_functions(void);

const gbs_device_functions *gbs_cuda_device_functions(void)
{
    static const gbs_device_functions functions = {
        .version = GBS_DEVICE_VERSION,
        .open = open_device,
        .close = close_device,
        .plan = plan_sampler,
        .end = end_sampler,
        .kernel = kernel_name,
        .put_state = put_state,
        .put_noise = put_noise,
        .run = run_sampler,
        .get = get_draws,
        .moments_create = moments_create,
        .moments_destroy = moments_destroy,
        .moments_put = moments_put,
        .moments_get = moments_get,
        .accumulate = accumulate,
    };
    return &functions;
}
