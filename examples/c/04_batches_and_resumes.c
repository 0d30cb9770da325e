/* The native stream is addressed by seed, chain, sweep and site, so a run can be cut both ways:
 * chains into batches, sweeps into pieces.  Here eight chains run 1000 sweeps in one go, and again
 * as two batches of four that stop at sweep 400 and go on in a new sampler; the bits are the same.
 */
#include "check.h"
#include <string.h>

#define D 3
#define CHAINS 8

static void run_piece(gbs_context *ctx, gbs_model *model, gbs_sampler_spec s, int64_t sweeps,
                      double *x, int64_t *next_sweep)
{
    gbs_sampler *sampler;
    check(ctx, gbs_sampler_create(ctx, model, &s, &sampler));
    check(ctx, gbs_sampler_run(sampler, sweeps));
    check(ctx, gbs_sampler_get_state(sampler, x));
    *next_sweep = gbs_sampler_next_sweep(sampler);
    gbs_sampler_destroy(sampler);
}

int main(void)
{
    double Q[D * D] = {2, -1, 0, -1, 2, -1, 0, -1, 2}, whole[CHAINS * D], parts[CHAINS * D];
    int64_t next;
    gbs_context *ctx;
    gbs_model *model;

    check(NULL, gbs_context_create(NULL, &ctx));
    gbs_model_spec m = gbs_model_spec_default();
    m.dim = D;
    m.matrix = Q;
    check(ctx, gbs_model_create(ctx, &m, &model));

    gbs_sampler_spec s = gbs_sampler_spec_default();
    s.chains = CHAINS;
    s.seed = 1;
    run_piece(ctx, model, s, 1000, whole, &next);

    for (int64_t first = 0; first < CHAINS; first += 4) {
        double *x = parts + first * D;
        gbs_sampler_spec part = s;
        part.chains = 4;
        part.first_chain = first;
        run_piece(ctx, model, part, 400, x, &next);

        part.first_sweep = next;
        part.start = GBS_START_GIVEN;
        part.initial = x;
        part.initial_rows = 4;
        run_piece(ctx, model, part, 600, x, &next);
    }
    printf("%s\n", memcmp(whole, parts, sizeof whole) == 0 ? "the same bits" : "different bits");

    gbs_model_release(model);
    gbs_context_destroy(ctx);
    return 0;
}
