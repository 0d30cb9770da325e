/* What the tests of the sampler share: a context whose hooks count and refuse large blocks, and a
 * model of three sites. */
#ifndef GBS_TEST_SAMPLER_FIXTURE_H
#define GBS_TEST_SAMPLER_FIXTURE_H

#include "unit/counting.h"
#include "unit/model_fixture.h"

#include <string.h>

typedef struct fixture {
    counting memory;
    gbs_context *ctx;
    gbs_model *model; /* three sites in a row, mean (1, 2, 3) */
} fixture;

static const double fixture_precision[9] = {2, -1, 0, -1, 3, -1, 0, -1, 2};
static const double fixture_mean[3] = {1, 2, 3};

static inline gbs_model *fixture_model(gbs_context *ctx)
{
    gbs_model_spec spec = spec_of(fixture_precision, 3);
    spec.location_kind = GBS_LOCATION_MEAN;
    spec.location = fixture_mean;
    return new_model(ctx, &spec);
}

static inline int open_fixture(void **state)
{
    static fixture f;
    f.memory = (counting){.refuse = -1};
    const gbs_context_options options = counting_options(&f.memory);
    assert_int_equal(gbs_context_create(&options, &f.ctx), GBS_OK);
    f.model = fixture_model(f.ctx);
    *state = &f;
    return 0;
}

/* Every test must give back what it took. */
static inline int close_fixture(void **state)
{
    fixture *const f = *state;
    gbs_model_release(f->model);
    gbs_context_destroy(f->ctx);
    if (f->memory.taken != f->memory.given) {
        printf("memory: %lld blocks taken, %lld given back\n", (long long)f->memory.taken,
               (long long)f->memory.given);
        return 1;
    }
    return 0;
}

static inline gbs_sampler *make_sampler(const fixture *f, const gbs_sampler_spec *spec)
{
    gbs_sampler *sampler = NULL;
    if (gbs_sampler_create(f->ctx, f->model, spec, &sampler) != GBS_OK)
        fail_msg("expected a sampler, got: %s", gbs_context_message(f->ctx));
    return sampler;
}

/* The last call returned `got`; it must be `status`, with these words in the message. */
static inline void assert_said(const fixture *f, gbs_status status, const char *words,
                               gbs_status got)
{
    const char *const message = gbs_context_message(f->ctx);
    if (got != status || strstr(message, words) == NULL)
        fail_msg("expected %s and \"%s\"; got %s and \"%s\"", gbs_status_name(status), words,
                 gbs_status_name(got), message);
    printf("checked: \"%s\"\n", message);
}

/* Creation must fail so, leave *out NULL and take no memory. */
static inline void assert_refused(const fixture *f, const gbs_sampler_spec *spec, gbs_status status,
                                  const char *words)
{
    const int64_t held = f->memory.taken - f->memory.given;
    gbs_sampler *sampler = (gbs_sampler *)f->ctx;
    assert_said(f, status, words, gbs_sampler_create(f->ctx, f->model, spec, &sampler));
    assert_null(sampler);
    assert_int_equal(f->memory.taken - f->memory.given, held);
}

#endif
