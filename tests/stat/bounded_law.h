/* Sweeps between bounds against golden laws: what the tests of a few sites and of many share.  Many
 * chains run for several times their mixing time and are looked at in their last state alone, so
 * that draws are independent and standard errors need no autocorrelation; scores within 5 of them.
 */
#ifndef GBS_TEST_BOUNDED_LAW_H
#define GBS_TEST_BOUNDED_LAW_H

#include "stat/golden_boxes.h"

static const uint64_t seed = 20261129;

typedef struct problem {
    const char *what;
    int64_t dim;
    const double *q, *mean; /* NULL: 0 */
    const double *lower, *upper;
    int64_t sweeps, chains;
} problem;

/* How it is swept. */
typedef struct way {
    gbs_type type;
    gbs_order order;
    double overrelax;
} way;

static const way ways[] = {
    {GBS_F64, GBS_ORDER_FORWARD, 0},
    {GBS_F32, GBS_ORDER_SYMMETRIC, 0},
    {GBS_F64, GBS_ORDER_BACKWARD, 0.8},
    {GBS_F32, GBS_ORDER_FORWARD, 0.8},
};

static inline gbs_isa widest(void)
{
    gbs_isa isa = GBS_ISA_NEON;
    while (!gbs_isa_available(isa))
        --isa;
    return isa;
}

/* [B, D] after the last sweep; the caller frees it.  Every draw is checked to lie inside. */
static inline double *last_state(const problem *p, const way *w)
{
    gbs_context *const ctx = new_context(widest());
    gbs_model_spec model_spec = spec_of(p->q, p->dim);
    model_spec.location_kind = p->mean != NULL ? GBS_LOCATION_MEAN : GBS_LOCATION_ZERO;
    model_spec.location = p->mean;
    model_spec.lower = p->lower;
    model_spec.upper = p->upper;
    gbs_model *const model = new_model(ctx, &model_spec);
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    spec.type = w->type;
    spec.order = w->order;
    spec.overrelax = w->overrelax;
    spec.chains = p->chains;
    spec.seed = seed;
    gbs_sampler *const sampler = new_sampler(ctx, model, &spec);
    const int64_t count = p->chains * p->dim;
    double *const x = naive_new(count);
    /* over-relaxed chains forget sooner where the plain ones are slow */
    must(ctx, gbs_sampler_run(sampler,
                              w->overrelax > 0 && p->sweeps >= 300 ? p->sweeps / 3 : p->sweeps));
    must(ctx, gbs_sampler_get_state(sampler, x));
    if (w->type == GBS_F32) /* widened in place, from the end */
        for (int64_t k = count; k-- > 0;)
            x[k] = (double)((const float *)(const void *)x)[k];
    for (int64_t k = 0; k < count; ++k) {
        const double lower = p->lower != NULL ? p->lower[k % p->dim] : -(double)INFINITY;
        const double upper = p->upper != NULL ? p->upper[k % p->dim] : (double)INFINITY;
        if (!(x[k] >= lower && x[k] <= upper))
            fail_msg("%s: chain %lld, site %lld: %.17g is outside [%.17g, %.17g]", p->what,
                     (long long)(k / p->dim), (long long)(k % p->dim), x[k], lower, upper);
    }
    gbs_sampler_destroy(sampler);
    gbs_model_release(model);
    gbs_context_destroy(ctx);
    return x;
}

static inline void name_way(const char *what, const way *w, char name[96])
{
    snprintf(name, 96, "%s, %s %s, r = %g", what, type_name(w->type), order_name(w->order),
             w->overrelax);
}

typedef struct expectation {
    int64_t i, j; /* j < 0: the mean of site i, or, i < 0 too, of the mean over the sites */
    double value;
} expectation;

/* What has this expectation's value for its mean. */
static inline double sample_of(const expectation *e, const double *x, int64_t dim,
                               const double *mean_at)
{
    double sum = 0;
    if (e->i < 0) {
        for (int64_t i = 0; i < dim; ++i)
            sum += x[i];
        return sum / (double)dim;
    }
    return e->j < 0 ? x[e->i] : (x[e->i] - mean_at[e->i]) * (x[e->j] - mean_at[e->j]);
}

static inline void name_expectation(const expectation *e, char name[64])
{
    if (e->i < 0)
        snprintf(name, 64, "mean of the sites' mean");
    else
        snprintf(name, 64, e->j < 0 ? "mean of site %d" : "covariance of sites %d and %d",
                 (int)e->i, (int)e->j);
}

/* float rounds coefficients and states: what that moves is far below these errors */
static inline void check_expectations(const problem *p, const way *w, const double *mean_at,
                                      const expectation *e, int count)
{
    char name[96], of[64];
    double *const x = last_state(p, w);
    name_way(p->what, w, name);
    for (int k = 0; k < count; ++k) {
        double sum = 0, square = 0;
        for (int64_t b = 0; b < p->chains; ++b) {
            const double d = sample_of(&e[k], x + b * p->dim, p->dim, mean_at) - e[k].value;
            sum += d / (double)p->chains;
            square += d * d / (double)p->chains;
        }
        name_expectation(&e[k], of);
        check_score(name, of, 0, sum, sqrt(square / (double)p->chains));
    }
    free(x);
}

static inline void check_every_way(problem p, const double *mean_at, const expectation *e,
                                   int count)
{
    if (quick())
        p.chains /= 16;
    for (int w = 0; w < COUNT(ways); ++w)
        check_expectations(&p, &ways[w], mean_at, e, count);
}

#endif
