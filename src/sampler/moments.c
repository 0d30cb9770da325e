/* Means and sums of squares per chain and site by Welford's recurrence (Technometrics 4, 1962),
 * merged over chains by Chan, Golub and LeVeque's formula (1983), always in ascending order of
 * chains and once, at the end: batches, threads and resumes keep the bits. */
#include "sampler/sampler_internal.h"

#include <math.h>

gbs_status gbs_moments_create(gbs_context *ctx, int64_t chains, int64_t dim, gbs_moments **out)
{
    if (ctx == NULL || out == NULL)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "moments: context and out must not be NULL");
    *out = NULL;
    if (chains < 1 || dim < 1 || chains > INT64_MAX / dim)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "moments: %lld chains of %lld sites",
                        (long long)chains, (long long)dim);
    gbs_moments *const moments = gbs_memory_take(&ctx->allocator, 1, sizeof *moments);
    if (moments == NULL)
        return gbs_fail_memory(ctx, "moments", 1, sizeof *moments);
    moments->allocator = ctx->allocator;
    moments->chains = chains;
    moments->dim = dim;
    moments->mean = gbs_memory_take(&ctx->allocator, chains * dim, sizeof(double));
    moments->m2 = gbs_memory_take(&ctx->allocator, chains * dim, sizeof(double));
    gbs_status status = GBS_OK;
    if (moments->mean == NULL || moments->m2 == NULL)
        status = gbs_fail_memory(ctx, "moments", chains * dim, sizeof(double));
    if (status == GBS_OK && ctx->device != NULL) {
        moments->device_functions = ctx->device_functions;
        moments->device_ordinal = ctx->device_ordinal;
        status = ctx->device_functions->moments_create(
            ctx->device, chains, dim, &moments->device,
            (gbs_device_message){ctx->message, sizeof ctx->message});
    }
    if (status != GBS_OK) {
        gbs_moments_destroy(moments);
        return status;
    }
    *out = moments;
    return GBS_OK;
}

void gbs_moments_destroy(gbs_moments *moments)
{
    if (moments == NULL)
        return;
    const gbs_allocator allocator = moments->allocator;
    if (moments->device != NULL)
        moments->device_functions->moments_destroy(moments->device);
    gbs_memory_give(&allocator, moments->mean);
    gbs_memory_give(&allocator, moments->m2);
    gbs_memory_give(&allocator, moments);
}

gbs_status gbs_moments_to_host(gbs_moments *moments, gbs_device_message message)
{
    gbs_status status = GBS_OK;
    if (moments->newer_on_device)
        status = moments->device_functions->moments_get(moments->device, moments->mean, moments->m2,
                                                        message);
    if (status == GBS_OK)
        moments->newer_on_device = 0;
    return status;
}

gbs_status gbs_moments_to_device(gbs_moments *moments, gbs_device_message message)
{
    gbs_status status = GBS_OK;
    if (!moments->newer_on_device)
        status = moments->device_functions->moments_put(moments->device, moments->mean, moments->m2,
                                                        message);
    if (status == GBS_OK)
        moments->newer_on_device = 1;
    return status;
}

/* For readers, who see the same numbers whether they have been fetched before or not. */
static int fetched(const gbs_moments *moments)
{
    return gbs_moments_to_host((gbs_moments *)moments, (gbs_device_message){NULL, 0}) == GBS_OK;
}

int64_t gbs_moments_count(const gbs_moments *moments)
{
    return moments->count;
}

const double *gbs_moments_mean(const gbs_moments *moments)
{
    return fetched(moments) ? moments->mean : NULL;
}

const double *gbs_moments_m2(const gbs_moments *moments)
{
    return fetched(moments) ? moments->m2 : NULL;
}

void gbs_moments_merged(const gbs_moments *moments, double *mean, double *variance)
{
    const int64_t count = fetched(moments) ? moments->count : 0;
    const double each = (double)count;
    fenv_t saved;
    gbs_float_enter(&saved);
    for (int64_t i = 0; i < moments->dim; ++i) {
        double n = each, m = moments->mean[i], m2 = moments->m2[i];
        for (int64_t c = 1; c < moments->chains && count > 0; ++c) {
            const int64_t at = c * moments->dim + i;
            const double delta = moments->mean[at] - m, total = n + each;
            m += delta * each / total;
            m2 += moments->m2[at] + delta * delta * n * each / total;
            n = total;
        }
        if (mean != NULL)
            mean[i] = count > 0 ? m : NAN;
        if (variance != NULL)
            variance[i] = n > 1 ? m2 / (n - 1) : NAN;
    }
    gbs_float_leave(&saved);
}
