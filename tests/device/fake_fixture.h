/* What the tests on the fake device share: contexts on it. */
#ifndef GBS_TEST_FAKE_FIXTURE_H
#define GBS_TEST_FAKE_FIXTURE_H

#include "unit/sampler_fixture.h"

static inline gbs_context_options fake_options(void)
{
    gbs_context_options options = gbs_context_options_default();
    options.backend = GBS_BACKEND_CUDA;
    options.cuda_library = FAKE_DEVICE;
    return options;
}

static inline gbs_context *fake_context(int32_t ordinal)
{
    gbs_context_options options = fake_options();
    gbs_context *ctx = NULL;
    char message[256] = "";
    options.cuda_device = ordinal;
    options.message = message;
    options.message_bytes = sizeof message;
    if (gbs_context_create(&options, &ctx) != GBS_OK)
        fail_msg("expected a context on the fake device, got: %s", message);
    assert_int_equal(gbs_context_backend(ctx), GBS_BACKEND_CUDA);
    return ctx;
}

#endif
