/* Gibbs or exact?  A plain Gaussian with a fixed Q can be drawn independently, one triangular solve
 * a draw; Gibbs sweeps cost about the same and are correlated.  tau_max says beforehand how many
 * sweeps one effective draw of the slowest direction takes; here both are run and their effective
 * sample sizes compared.  Gibbs earns its keep where conditionals change or cannot be solved for.
 */
#include "check.h"

#define D 2
#define CHAINS 4
#define DRAWS 1000

static double x[CHAINS * DRAWS * D];

static double ess_of(gbs_context *ctx, gbs_model *model, gbs_method method, void *workspace)
{
    gbs_sampler *sampler;
    gbs_sampler_spec s = gbs_sampler_spec_default();
    s.method = method;
    s.chains = CHAINS;
    s.seed = 1;
    check(ctx, gbs_sampler_create(ctx, model, &s, &sampler));
    if (method == GBS_METHOD_GIBBS)
        check(ctx, gbs_sampler_run(sampler, 1000));
    gbs_sink sink = {.out = x};
    check(ctx, gbs_sampler_sample(sampler, DRAWS, 1, &sink));
    gbs_sampler_destroy(sampler);

    gbs_draws draws = {
        .values = x, .chains = CHAINS, .draws = DRAWS, .chain_stride = DRAWS * D, .draw_stride = D};
    return gbs_diag_ess_mean(&draws, workspace);
}

int main(void)
{
    double Q[D * D] = {1.0, -0.95, -0.95, 1.0};
    gbs_context *ctx;
    gbs_model *model;
    gbs_spectrum spectrum;

    check(NULL, gbs_context_create(NULL, &ctx));
    gbs_model_spec m = gbs_model_spec_default();
    m.dim = D;
    m.matrix = Q;
    check(ctx, gbs_model_create(ctx, &m, &model));
    check(ctx, gbs_model_spectrum(ctx, model, &spectrum));
    printf("condition number %.0f, tau_max %.0f\n", spectrum.condition, spectrum.tau_max);

    void *workspace = malloc(gbs_diag_workspace(CHAINS, DRAWS));
    if (workspace == NULL)
        return 1;
    const double gibbs = ess_of(ctx, model, GBS_METHOD_GIBBS, workspace);
    const double exact = ess_of(ctx, model, GBS_METHOD_EXACT, workspace);
    printf("effective draws of site 0 in %d: gibbs %.0f, exact %.0f\n", CHAINS * DRAWS, gibbs,
           exact);

    free(workspace);
    gbs_model_release(model);
    gbs_context_destroy(ctx);
    return 0;
}
