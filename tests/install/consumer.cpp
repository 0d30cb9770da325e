// A C++17 program on the C interface: one exact draw, its kernel named, everything released.
#include <gibbsite/gibbsite.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <vector>

int main()
{
    gbs_context *made = nullptr;
    if (gbs_context_create(nullptr, &made) != GBS_OK)
        return 1;
    const std::unique_ptr<gbs_context, decltype(&gbs_context_destroy)> ctx(made, gbs_context_destroy);

    const std::vector<double> precision = {2, -1, -1, 2};
    gbs_model_spec m = gbs_model_spec_default();
    m.dim = 2;
    m.matrix = precision.data();
    gbs_model *model = nullptr;
    if (gbs_model_create(ctx.get(), &m, &model) != GBS_OK)
        return 2;
    const std::unique_ptr<gbs_model, decltype(&gbs_model_release)> owned(model, gbs_model_release);

    gbs_sampler_spec s = gbs_sampler_spec_default();
    s.method = GBS_METHOD_EXACT;
    s.chains = 1;
    gbs_sampler *sampler = nullptr;
    if (gbs_sampler_create(ctx.get(), model, &s, &sampler) != GBS_OK)
        return 3;
    std::vector<double> x(2, NAN);
    const bool drawn = gbs_sampler_run(sampler, 1) == GBS_OK &&
                       gbs_sampler_get_state(sampler, x.data()) == GBS_OK;
    std::printf("%s: %g %g\n", gbs_sampler_kernel(sampler), x[0], x[1]);
    gbs_sampler_destroy(sampler);
    return drawn && std::isfinite(x[0]) && std::isfinite(x[1]) ? 0 : 4;
}
