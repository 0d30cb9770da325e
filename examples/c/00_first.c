/* The shortest complete program: 1000 chains over a model of two sites, 100 sweeps each; then
 * the covariance of the 1000 states beside the exact one, the inverse of Q.
 *
 *     cc 00_first.c $(pkg-config --cflags --libs gibbsite) -o first && ./first
 */
#include <gibbsite/gibbsite.h>
#include <stdio.h>

int main(void)
{
    gbs_context *ctx;
    gbs_model *model;
    gbs_sampler *sampler;
    double Q[4] = {2, -1, -1, 2}, x[1000 * 2];
    gbs_context_create(NULL, &ctx);

    gbs_model_spec m = gbs_model_spec_default();
    m.dim = 2;
    m.matrix = Q;
    gbs_model_create(ctx, &m, &model);

    gbs_sampler_spec s = gbs_sampler_spec_default();
    s.chains = 1000;
    s.seed = 1;
    gbs_sampler_create(ctx, model, &s, &sampler);
    gbs_sampler_run(sampler, 100);
    gbs_sampler_get_state(sampler, x);

    double xx = 0, xy = 0, yy = 0;
    for (int b = 0; b < 1000; b++) {
        xx += x[2 * b] * x[2 * b] / 1000;
        xy += x[2 * b] * x[2 * b + 1] / 1000;
        yy += x[2 * b + 1] * x[2 * b + 1] / 1000;
    }
    printf("covariance %.3f %.3f %.3f, exact 0.667 0.333 0.667\n", xx, xy, yy);

    gbs_sampler_destroy(sampler);
    gbs_model_release(model);
    gbs_context_destroy(ctx);
    return 0;
}
