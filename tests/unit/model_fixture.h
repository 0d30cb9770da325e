/* What the tests of the model share: contexts, models, and comparison with a bound. */
#ifndef GBS_TEST_MODEL_FIXTURE_H
#define GBS_TEST_MODEL_FIXTURE_H

#include "gibbsite/gibbsite.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static inline gbs_context *new_context(gbs_isa isa)
{
    gbs_context_options options = gbs_context_options_default();
    options.isa = isa;
    gbs_context *ctx = NULL;
    assert_int_equal(gbs_context_create(&options, &ctx), GBS_OK);
    return ctx;
}

static inline int start(void **state)
{
    *state = new_context(GBS_ISA_AUTO);
    return 0;
}

static inline int stop(void **state)
{
    gbs_context_destroy(*state);
    return 0;
}

static inline gbs_model_spec spec_of(const double *matrix, int64_t n)
{
    gbs_model_spec spec = gbs_model_spec_default();
    spec.dim = n;
    spec.matrix = matrix;
    return spec;
}

static inline gbs_model *new_model(gbs_context *ctx, const gbs_model_spec *spec)
{
    gbs_model *model = NULL;
    const gbs_status status = gbs_model_create(ctx, spec, &model);
    if (status != GBS_OK)
        fail_msg("expected a model, got %s: %s", gbs_status_name(status), gbs_context_message(ctx));
    return model;
}

static inline void assert_near(const char *what, int64_t i, double expected, double got,
                               double bound)
{
    if (!(fabs(got - expected) <= bound))
        fail_msg("%s[%lld]: expected %.17g, got %.17g, error %.3g, bound %.3g", what, (long long)i,
                 expected, got, fabs(got - expected), bound);
}

#endif
