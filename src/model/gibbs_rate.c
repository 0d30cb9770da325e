/* The Gibbs rate where it is known exactly: of a consistently ordered matrix the eigenvalues l of
 * the SOR iteration are those of Jacobi's matrix, m, by (l + w - 1)^2 = l w^2 m^2 (Young, Iterative
 * Solution of Large Linear Systems, 1971, chapter 5), and the sweep's mean map is that iteration
 * (Roberts and Sahu, J. R. Stat. Soc. B 59, 1997; Fox and Parker, Bernoulli 23, 2017).  Jacobi's
 * spectrum is then symmetric, so that tau_max gives its radius. */
#include "model/model.h"

#include <math.h>
#include <stdbool.h>

/* Are there numbers of the sites that rise by 1 from i to j > i wherever Q_ij is not 0?  place and
 * queue [D] are room. */
static bool is_consistently_ordered(const gbs_model *model, int64_t *place, int64_t *queue)
{
    const int64_t n = model->dim;
    for (int64_t i = 0; i < n; ++i)
        place[i] = INT64_MAX;
    for (int64_t start = 0; start < n; ++start) {
        int64_t first = 0, last = 0;
        if (place[start] != INT64_MAX)
            continue;
        place[start] = 0;
        for (queue[last++] = start; first < last; ++first) {
            const int64_t i = queue[first];
            const double *const row = model->precision + i * n;
            for (int64_t j = 0; j < n; ++j) {
                if (j == i || row[j] == 0)
                    continue;
                const int64_t there = place[i] + (j > i ? 1 : -1);
                if (place[j] == INT64_MAX)
                    queue[last++] = j;
                else if (place[j] != there)
                    return false;
                place[j] = there;
            }
        }
    }
    return true;
}

/* The largest |l|, with m = 1 - 1 / tau_max. */
static double young_rate(double omega, double tau_max)
{
    const double m = omega * (1 - 1 / tau_max), square = m * m - 4 * (omega - 1);
    if (square < 0)
        return omega - 1;
    const double root = (m + sqrt(square)) / 2;
    return root * root;
}

gbs_status gbs_model_gibbs_rate(gbs_context *ctx, const gbs_model *model,
                                const gbs_spectrum *spectrum, double omega, double *rate)
{
    if (ctx == NULL || model == NULL || spectrum == NULL || rate == NULL)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "%s: NULL",
                        model == NULL      ? "model"
                        : spectrum == NULL ? "spectrum"
                                           : "rate");
    if (!(omega > 0 && omega < 2))
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "omega: %.17g is not in (0, 2)", omega);
    int64_t *const place = gbs_memory_take(&ctx->allocator, model->dim, 2 * sizeof *place);
    if (place == NULL)
        return gbs_fail_memory(ctx, "Gibbs rate", model->dim, 2 * sizeof *place);
    fenv_t saved;
    gbs_float_enter(&saved);
    const bool known =
        isfinite(spectrum->tau_max) && is_consistently_ordered(model, place, place + model->dim);
    *rate = known ? young_rate(omega, spectrum->tau_max) : NAN;
    gbs_float_leave(&saved);
    gbs_memory_give(&ctx->allocator, place);
    return GBS_OK;
}
