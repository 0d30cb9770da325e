/* Choosing a sampler of a model with bounds by short runs of each.  The choice changes draws, so it
 * is a function of model, type and seed alone: runs of fixed lengths from a seed of purpose 4,
 * integrated autocorrelation times from them (Geyer 1992, section 3.3, over chains as in Vehtari
 * and others 2021, section 3.2) and a fixed table of operation counts, never a stopwatch.  Sums
 * have one order, and nothing here goes through the diagnostics, whose sums are each machine's
 * own.  A candidate that the model rules out is left out with its reason: nothing but the model,
 * type and seed says so either. */
#include "sampler/pilot.h"
#include "model/bounds.h"

#include "rng/vocab_scalar.h"
#include "rng/philox.h"

#include <math.h>
#include <string.h>

enum { FIGURES = 3 }; /* followed: mean of the sites, middle site, (x - mu)' Q (x - mu) */

typedef struct pilot {
    gbs_context *ctx;
    gbs_model *model;
    gbs_sampler_spec spec;
    int64_t dim, sweeps; /* that are looked at */
    void *state;         /* [chains, D] of type T */
    double *deviation;   /* [D, chains] x - mu */
    double *whitened;    /* [D, chains] L' (x - mu) */
    double *figures;     /* [FIGURES, chains, sweeps] */
} pilot;

/* ---- autocorrelation times ---- */

/* Mean over chains of the autocovariance at `lag`, divisor n; y [chains, n] centred chain by chain.
 */
static double covariance_at(const double *y, int64_t n, int64_t lag)
{
    double all = 0.0;
    for (int64_t c = 0; c < GBS_PILOT_CHAINS; ++c) {
        double sum = 0.0;
        for (int64_t t = 0; t + lag < n; ++t)
            sum += y[c * n + t] * y[c * n + t + lag];
        all += sum / (double)n;
    }
    return all / (double)GBS_PILOT_CHAINS;
}

/* Centres each chain; the variance of the chains' means. */
static double centre(double *y, int64_t n)
{
    double means[GBS_PILOT_CHAINS], all = 0.0, between = 0.0;
    for (int64_t c = 0; c < GBS_PILOT_CHAINS; ++c) {
        double sum = 0.0;
        for (int64_t t = 0; t < n; ++t)
            sum += y[c * n + t];
        means[c] = sum / (double)n;
        for (int64_t t = 0; t < n; ++t)
            y[c * n + t] -= means[c];
        all += means[c];
    }
    for (int64_t c = 0; c < GBS_PILOT_CHAINS; ++c) {
        const double d = means[c] - all / (double)GBS_PILOT_CHAINS;
        between += d * d;
    }
    return between / (GBS_PILOT_CHAINS - 1);
}

static int is_still(const double *y, int64_t count)
{
    for (int64_t t = 1; t < count; ++t)
        if (y[t] != y[0])
            return 0;
    return 1;
}

/* Figures whose squares no double holds, made smaller, which no time depends on. */
static void shrink(double *y, int64_t count)
{
    double largest = 0.0;
    for (int64_t t = 0; t < count; ++t)
        largest = fmax(largest, fabs(y[t]));
    for (int64_t t = 0; largest > 0x1p500 && t < count; ++t)
        y[t] *= 0x1p-560;
}

/* Sweeps that a figure takes to forget, from chains of n of them; infinite if it does not move. */
double gbs_pilot_time(double *y, int64_t n)
{
    if (is_still(y, GBS_PILOT_CHAINS * n))
        return (double)INFINITY;
    shrink(y, GBS_PILOT_CHAINS * n);
    const double between = centre(y, n), first = covariance_at(y, n, 0);
    const double within = first * (double)n / (double)(n - 1), total = first + between;
    double sum = 0.0, last = INFINITY;
    if (!(total > 0.0))
        return (double)INFINITY;
    for (int64_t lag = 0; lag + 1 < n; lag += 2) {
        const double even = 1.0 - (within - covariance_at(y, n, lag)) / total,
                     odd = 1.0 - (within - covariance_at(y, n, lag + 1)) / total;
        const double pair = (lag == 0 ? 1.0 : even) + odd;
        if (!(pair > 0.0))
            break;
        last = pair < last ? pair : last;
        sum += last;
    }
    const double time = 2.0 * sum - 1.0;
    return time > GBS_PILOT_LEAST_TIME ? time : GBS_PILOT_LEAST_TIME;
}

/* ---- runs ---- */

static double number(gbs_type type, const void *array, int64_t at)
{
    return type == GBS_F32 ? (double)((const float *)array)[at] : ((const double *)array)[at];
}

/* x - mu by site, and its whitening L' (x - mu): sums in ascending order of sites. */
static void whiten(const pilot *p)
{
    const double *const factor = p->model->factor, *const mean = p->model->mean;
    memset(p->whitened, 0, (size_t)(p->dim * GBS_PILOT_CHAINS) * sizeof *p->whitened);
    for (int64_t j = 0; j < p->dim; ++j) {
        double *const d = p->deviation + j * GBS_PILOT_CHAINS;
        for (int64_t c = 0; c < GBS_PILOT_CHAINS; ++c)
            d[c] = number(p->spec.type, p->state, c * p->dim + j) - mean[j];
        for (int64_t i = 0; i <= j; ++i) {
            const double l = factor[j * p->dim + i];
            double *const to = p->whitened + i * GBS_PILOT_CHAINS;
            for (int64_t c = 0; c < GBS_PILOT_CHAINS; ++c)
                to[c] += l * d[c];
        }
    }
}

/* The figures after sweep t. */
static void look(const pilot *p, int64_t t)
{
    double mean[GBS_PILOT_CHAINS] = {0}, energy[GBS_PILOT_CHAINS] = {0};
    whiten(p);
    for (int64_t i = 0; i < p->dim; ++i)
        for (int64_t c = 0; c < GBS_PILOT_CHAINS; ++c) {
            const double u = p->whitened[i * GBS_PILOT_CHAINS + c];
            mean[c] += p->deviation[i * GBS_PILOT_CHAINS + c];
            energy[c] += u * u;
        }
    for (int64_t c = 0; c < GBS_PILOT_CHAINS; ++c) {
        double *const to = p->figures + c * p->sweeps + t;
        const int64_t step = GBS_PILOT_CHAINS * p->sweeps;
        to[0] = mean[c] / (double)p->dim;
        to[step] = p->deviation[p->dim / 2 * GBS_PILOT_CHAINS + c];
        to[2 * step] = energy[c];
    }
}

/* No figure shows a draw that is not finite, and which of them are may differ by instruction set.
 */
static gbs_status check_draws(const pilot *p)
{
    for (int64_t k = 0; k < GBS_PILOT_CHAINS * p->dim; ++k)
        if (!isfinite(number(p->spec.type, p->state, k)))
            return gbs_fail(p->ctx, GBS_ERROR_NOT_FINITE, "draws: not finite in %s",
                            p->spec.type == GBS_F32 ? "float" : "double");
    return GBS_OK;
}

static gbs_status run(const pilot *p, gbs_sampler *sampler)
{
    gbs_status status = gbs_sampler_run(sampler, p->sweeps / 2);
    for (int64_t t = 0; t < p->sweeps && status == GBS_OK; ++t) {
        status = gbs_sampler_run(sampler, 1);
        if (status == GBS_OK)
            status = gbs_sampler_get_state(sampler, p->state);
        if (status == GBS_OK)
            status = check_draws(p);
        if (status == GBS_OK)
            look(p, t);
    }
    return status;
}

/* Where an overdispersed start does not fit in T another may: then at the mean. */
static gbs_status make(const pilot *p, const gbs_pilot_candidate *candidate, gbs_sampler **out)
{
    gbs_sampler_spec spec = p->spec;
    spec.method = candidate->method;
    spec.overrelax = candidate->overrelax;
    gbs_status status = gbs_sampler_create(p->ctx, p->model, &spec, out);
    if (status == GBS_ERROR_NOT_FINITE && p->model->constraints == NULL) {
        spec.start = GBS_START_MEAN;
        status = gbs_sampler_create(p->ctx, p->model, &spec, out);
    }
    return status;
}

/* Runs a candidate and fills its times. */
static gbs_status try_one(const pilot *p, gbs_pilot_candidate *candidate)
{
    gbs_sampler *sampler = NULL;
    gbs_status status = make(p, candidate, &sampler);
    if (status == GBS_OK)
        status = run(p, sampler);
    gbs_sampler_destroy(sampler);
    for (int k = 0; k < FIGURES && status == GBS_OK; ++k)
        candidate->time[k] =
            gbs_pilot_time(p->figures + k * GBS_PILOT_CHAINS * p->sweeps, p->sweeps);
    return status;
}

/* ---- the choice ---- */

static int is_bounded(const gbs_model *model, gbs_type type)
{
    int bounded = model->constraints != NULL;
    for (int64_t i = 0; model->lower != NULL && i < model->dim && !bounded; ++i)
        bounded = gbs_bounds_box(model, type, i).kind != GBS_BOX_FREE;
    return bounded;
}

static int64_t pilot_sweeps(int64_t dim)
{
    const int64_t fit = GBS_PILOT_WORK / dim;
    return fit < GBS_PILOT_LEAST_SWEEPS  ? GBS_PILOT_LEAST_SWEEPS
           : fit > GBS_PILOT_MOST_SWEEPS ? GBS_PILOT_MOST_SWEEPS
                                         : fit;
}

static uint64_t pilot_seed(uint64_t seed)
{
    const gbs_philox_key key = gbs_philox_schedule(seed);
    const gbs_philox_fixed fixed = gbs_philox_fix(&key, 0, 0, (uint32_t)GBS_PURPOSE_PILOT << 8);
    vq words[4];
    gbs_philox_words(&key, &fixed, 0, words);
    return (uint64_t)(uint32_t)words[1] << 32 | (uint32_t)words[0];
}

/* Multiply-adds of a sweep of one chain, a draw counted as so many. */
static double operations(const gbs_model *model, gbs_method method, double overrelax)
{
    const double dim = (double)model->dim;
    const double rows = model->constraints != NULL ? (double)model->constraints->rows : 0.0;
    if (method == GBS_METHOD_WHITENED)
        return GBS_PILOT_WHITENED * dim * (dim + rows) + GBS_PILOT_DRAW * dim;
    return dim * (dim + GBS_PILOT_ROWS * rows) +
           (overrelax > 0.0 ? GBS_PILOT_OVERRELAXED : GBS_PILOT_DRAW) * dim;
}

static void list_candidates(const gbs_model *model, gbs_pilot *out)
{
    static const double overrelax[] = {0.0, 0.5, 0.8, 0.9};
    for (size_t k = 0; k < sizeof overrelax / sizeof *overrelax; ++k)
        if (k == 0 || model->constraints == NULL)
            out->tried[out->count++].overrelax = overrelax[k];
    out->tried[out->count++].method = GBS_METHOD_WHITENED;
    for (int32_t k = 0; k < out->count; ++k)
        out->tried[k].operations = operations(model, out->tried[k].method, out->tried[k].overrelax);
}

static double cost(const gbs_pilot_candidate *candidate)
{
    return candidate->why[0] != '\0' ? (double)INFINITY
                                     : candidate->slowest * candidate->operations;
}

/* A figure that moves under no candidate has nothing to forget; one that moves under another is
 * stuck. */
static void settle_times(gbs_pilot *out)
{
    for (int k = 0; k < FIGURES; ++k) {
        int moves = 0;
        for (int32_t c = 0; c < out->count; ++c)
            moves = moves || isfinite(out->tried[c].time[k]);
        for (int32_t c = 0; c < out->count && !moves; ++c)
            if (out->tried[c].why[0] == '\0')
                out->tried[c].time[k] = 1.0;
    }
    for (int32_t c = 0; c < out->count; ++c) {
        gbs_pilot_candidate *const it = &out->tried[c];
        for (int k = 0; k < FIGURES; ++k)
            if (k == 0 || it->time[k] > it->slowest)
                it->slowest = it->time[k];
    }
}

static void choose(gbs_pilot *out)
{
    settle_times(out);
    for (int32_t k = 1; k < out->count; ++k)
        if (cost(&out->tried[k]) < cost(&out->tried[out->chosen]))
            out->chosen = k;
    out->method = out->tried[out->chosen].method;
    out->overrelax = out->tried[out->chosen].overrelax;
}

static void *take(pilot *p, int64_t rows, int64_t columns, gbs_status *status)
{
    void *const memory = *status == GBS_OK
                             ? gbs_memory_take(&p->ctx->allocator, rows * columns, sizeof(double))
                             : NULL;
    if (*status == GBS_OK && memory == NULL)
        *status = gbs_fail_memory(p->ctx, "pilot", rows * columns, sizeof(double));
    return memory;
}

/* Does the status speak of what was asked for, and not of this machine or this moment? */
static int is_refusal(gbs_status status)
{
    return status == GBS_ERROR_ARGUMENT || status == GBS_ERROR_NOT_FINITE;
}

static void leave_out(const pilot *p, gbs_pilot_candidate *candidate)
{
    _Static_assert(sizeof candidate->why == sizeof p->ctx->message, "the whole message");
    memcpy(candidate->why, p->ctx->message, strlen(p->ctx->message) + 1);
    for (int k = 0; k < FIGURES; ++k)
        candidate->time[k] = (double)NAN;
    candidate->slowest = (double)NAN;
}

/* The context's message stays as it was, unless all candidates fail: then the first one's stands.
 */
static gbs_status try_candidates(const pilot *p, gbs_pilot *out)
{
    char before[GBS_MESSAGE_BYTES];
    gbs_status first = GBS_OK;
    int32_t ran = 0;
    memcpy(before, p->ctx->message, sizeof before);
    for (int32_t k = 0; k < out->count; ++k) {
        const gbs_status status = try_one(p, &out->tried[k]);
        if (status != GBS_OK && !is_refusal(status))
            return status;
        if (status == GBS_OK)
            ++ran;
        else
            leave_out(p, &out->tried[k]);
        first = k == 0 ? status : first;
    }
    if (ran == 0)
        return gbs_fail(p->ctx, first, "%s", out->tried[0].why);
    memcpy(p->ctx->message, before, sizeof before);
    return GBS_OK;
}

static gbs_status try_all(pilot *p, gbs_pilot *out)
{
    const gbs_allocator *const allocator = &p->ctx->allocator;
    gbs_status status = GBS_OK;
    p->state = take(p, p->dim, GBS_PILOT_CHAINS, &status);
    p->deviation = take(p, p->dim, GBS_PILOT_CHAINS, &status);
    p->whitened = take(p, p->dim, GBS_PILOT_CHAINS, &status);
    p->figures = take(p, FIGURES * GBS_PILOT_CHAINS, p->sweeps, &status);
    if (status == GBS_OK)
        status = try_candidates(p, out);
    gbs_memory_give(allocator, p->figures);
    gbs_memory_give(allocator, p->whitened);
    gbs_memory_give(allocator, p->deviation);
    gbs_memory_give(allocator, p->state);
    return status;
}

gbs_status gbs_pilot_run(gbs_context *ctx, gbs_model *model, gbs_type type, uint64_t seed,
                         gbs_pilot *out)
{
    if (ctx == NULL || model == NULL || out == NULL)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "pilot: context, model and out must not be NULL");
    if (type != GBS_F32 && type != GBS_F64)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "type: %d is neither GBS_F32 nor GBS_F64",
                        (int)type);
    gbs_pilot found;
    memset(&found, 0, sizeof found);
    if (!is_bounded(model, type)) {
        found.method = GBS_METHOD_EXACT;
        *out = found;
        return GBS_OK;
    }
    pilot p = {.ctx = ctx,
               .model = model,
               .spec = gbs_sampler_spec_default(),
               .dim = model->dim,
               .sweeps = pilot_sweeps(model->dim)};
    p.spec.type = type;
    p.spec.chains = GBS_PILOT_CHAINS;
    p.spec.seed = pilot_seed(seed);
    list_candidates(model, &found);
    const gbs_status status = try_all(&p, &found);
    if (status == GBS_OK) {
        choose(&found);
        *out = found;
    }
    return status;
}
