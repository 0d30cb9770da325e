/* A precision matrix with a mean: an autoregression x_t - mu_t = 0.8 (x_{t-1} - mu_{t-1}) + noise
 * over five times, whose precision is tridiagonal.  Moments are gathered without storing a draw,
 * and stand beside the exact ones.  The last lines show what an error says.
 */
#include "check.h"

#define D 5
#define PHI 0.8

static void fill_precision(double *Q)
{
    for (int i = 0; i < D; i++)
        for (int j = 0; j < D; j++)
            Q[i * D + j] = 0;
    for (int i = 0; i < D; i++) {
        Q[i * D + i] = i == 0 || i == D - 1 ? 1 : 1 + PHI * PHI;
        if (i > 0)
            Q[i * D + i - 1] = Q[(i - 1) * D + i] = -PHI;
    }
}

int main(void)
{
    double Q[D * D], mu[D] = {1, 2, 3, 4, 5}, mean[D], variance[D], sd[D];
    gbs_context *ctx;
    gbs_model *model;
    gbs_sampler *sampler;
    gbs_moments *moments;

    check(NULL, gbs_context_create(NULL, &ctx));
    fill_precision(Q);
    gbs_model_spec m = gbs_model_spec_default();
    m.dim = D;
    m.matrix = Q;
    m.location_kind = GBS_LOCATION_MEAN;
    m.location = mu;
    check(ctx, gbs_model_create(ctx, &m, &model));

    gbs_sampler_spec s = gbs_sampler_spec_default();
    s.chains = 64;
    s.seed = 1;
    check(ctx, gbs_sampler_create(ctx, model, &s, &sampler));
    check(ctx, gbs_sampler_run(sampler, 200)); /* warm-up: forget the over-dispersed start */

    check(ctx, gbs_moments_create(ctx, s.chains, D, &moments));
    gbs_sink sink = {.moments = moments};
    check(ctx, gbs_sampler_sample(sampler, 2000, 1, &sink));
    gbs_moments_merged(moments, mean, variance);

    check(ctx, gbs_model_sd(ctx, model, sd));
    printf("site    mean  (exact)   variance  (exact)\n");
    for (int i = 0; i < D; i++)
        printf("%4d  %6.3f  %7.3f   %8.3f  %7.3f\n", i, mean[i], mu[i], variance[i], sd[i] * sd[i]);

    Q[1] = 0.5;
    gbs_model *broken;
    gbs_status status = gbs_model_create(ctx, &m, &broken);
    printf("%s: %s\n", gbs_status_name(status), gbs_context_message(ctx));

    gbs_moments_destroy(moments);
    gbs_sampler_destroy(sampler);
    gbs_model_release(model);
    gbs_context_destroy(ctx);
    return 0;
}
