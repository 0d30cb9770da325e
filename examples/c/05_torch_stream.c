/* Drawing what PyTorch draws.  With one site, Q = 1 and mean 0 a sweep returns its normals, so
 * sixteen chains on the torch-cpu stream print torch.manual_seed(0); torch.randn(16).  The
 * generator's state comes back in torch's own layout: torch.set_rng_state() would go on from here.
 */
#include "check.h"
#include <string.h>

#define CHAINS 16

int main(void)
{
    double Q[1] = {1};
    float x[CHAINS];
    static unsigned char state[GBS_TORCH_CPU_STATE_BYTES];
    gbs_context *ctx;
    gbs_model *model;
    gbs_sampler *sampler;

    check(NULL, gbs_context_create(NULL, &ctx));
    gbs_model_spec m = gbs_model_spec_default();
    m.dim = 1;
    m.matrix = Q;
    check(ctx, gbs_model_create(ctx, &m, &model));

    gbs_sampler_spec s = gbs_sampler_spec_default();
    s.type = GBS_F32;
    s.chains = CHAINS;
    s.seed = 0;
    s.start = GBS_START_ZERO;
    s.stream.kind = GBS_STREAM_TORCH_CPU;
    check(ctx, gbs_sampler_create(ctx, model, &s, &sampler));
    check(ctx, gbs_sampler_run(sampler, 1));
    check(ctx, gbs_sampler_get_state(sampler, x));
    for (int b = 0; b < CHAINS; b++)
        printf("%7.4f%s", (double)x[b], b % 8 == 7 ? "\n" : " ");

    check(ctx, gbs_sampler_get_torch_state(sampler, state, sizeof state));
    int64_t seed;
    int32_t left;
    memcpy(&seed, state, sizeof seed);
    memcpy(&left, state + sizeof seed, sizeof left);
    printf("generator: seed %lld, %d words from its next twist\n", (long long)seed, left);

    gbs_sampler_destroy(sampler);
    gbs_model_release(model);
    gbs_context_destroy(ctx);
    return 0;
}
