/* Keeping draws and judging them: four chains of 1000 draws into one array [chain, draw, site],
 * then R-hat, effective sample sizes and Monte Carlo errors per site, by pure functions that read
 * the array in place through strides.
 */
#include "check.h"

#define D 3
#define CHAINS 4
#define DRAWS 1000

static double x[CHAINS * DRAWS * D];

int main(void)
{
    double Q[D * D] = {1.0, -0.6, 0.0, -0.6, 1.36, -0.6, 0.0, -0.6, 1.0};
    gbs_context *ctx;
    gbs_model *model;
    gbs_sampler *sampler;

    check(NULL, gbs_context_create(NULL, &ctx));
    gbs_model_spec m = gbs_model_spec_default();
    m.dim = D;
    m.matrix = Q;
    check(ctx, gbs_model_create(ctx, &m, &model));

    gbs_sampler_spec s = gbs_sampler_spec_default();
    s.chains = CHAINS;
    s.seed = 1;
    check(ctx, gbs_sampler_create(ctx, model, &s, &sampler));
    check(ctx, gbs_sampler_run(sampler, 500));
    gbs_sink sink = {.out = x};
    check(ctx, gbs_sampler_sample(sampler, DRAWS, 1, &sink));

    void *workspace = malloc(gbs_diag_workspace(CHAINS, DRAWS));
    if (workspace == NULL)
        return 1;
    printf("site    mean  mcse_mean     sd  ess_bulk  ess_tail   rhat\n");
    for (int i = 0; i < D; i++) {
        gbs_draws draws = {.values = x + i,
                           .chains = CHAINS,
                           .draws = DRAWS,
                           .chain_stride = DRAWS * D,
                           .draw_stride = D};
        gbs_summary row;
        check(ctx, gbs_diag_summary(&draws, workspace, &row));
        printf("%4d  %6.3f  %9.3f  %5.3f  %8.0f  %8.0f  %5.3f\n", i, row.mean, row.mcse_mean,
               row.sd, row.ess_bulk, row.ess_tail, row.rhat);
    }

    free(workspace);
    gbs_sampler_destroy(sampler);
    gbs_model_release(model);
    gbs_context_destroy(ctx);
    return 0;
}
