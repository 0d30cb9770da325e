/* Planning a sampler: every check, every rounding and every allocation happens here, once, so
 * that a run only runs.  Coefficients are computed in double and rounded to the state's type
 * (docs/reproducibility.md), then packed in the order in which the kernels read them. */
#include "sampler/sampler_internal.h"
#include "sampler/plan.h"
#include "sampler/rows.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define CHAIN_LIMIT ((int64_t)1 << 40)
#define SWEEP_LIMIT ((int64_t)1 << 48)
#define SITE_LIMIT_F32 ((int64_t)1 << 34)
#define SITE_LIMIT_F64 ((int64_t)1 << 33)
#define TORCH_CUDA_CHAIN_LIMIT ((int64_t)1 << 29) /* torch splits larger tensors */

gbs_sampler_spec gbs_sampler_spec_default(void)
{
    gbs_sampler_spec spec;
    memset(&spec, 0, sizeof spec);
    spec.type = GBS_F64;
    spec.chains = 1;
    spec.omega = 1.0;
    spec.stream.noise_type = GBS_F64;
    return spec;
}

/* ---- checks ---- */

static gbs_status check_counts(gbs_context *ctx, int64_t dim, const gbs_sampler_spec *spec)
{
    const int64_t sites = spec->type == GBS_F32 ? SITE_LIMIT_F32 : SITE_LIMIT_F64;
    const int64_t passes = spec->order == GBS_ORDER_SYMMETRIC ? 2 : 1;
    if (spec->type != GBS_F32 && spec->type != GBS_F64)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "type: %d is neither GBS_F32 nor GBS_F64",
                        (int)spec->type);
    if (spec->chains < 1)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "chains: %lld, but at least 1 is needed",
                        (long long)spec->chains);
    if (spec->first_chain < 0 || spec->first_sweep < 0)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                        "first_chain: %lld, first_sweep: %lld; neither may be negative",
                        (long long)spec->first_chain, (long long)spec->first_sweep);
    if (dim >= sites)
        return gbs_fail(ctx, GBS_ERROR_LIMIT, "dim: %lld sites, but the stream numbers only %lld",
                        (long long)dim, (long long)sites);
    if (spec->first_chain >= CHAIN_LIMIT || spec->chains > CHAIN_LIMIT - spec->first_chain)
        return gbs_fail(ctx, GBS_ERROR_LIMIT,
                        "chains: %lld from number %lld, but the stream numbers only 2^40",
                        (long long)spec->chains, (long long)spec->first_chain);
    if (spec->first_sweep >= SWEEP_LIMIT / passes)
        return gbs_fail(ctx, GBS_ERROR_LIMIT, "first_sweep: %lld, but the stream numbers only %lld",
                        (long long)spec->first_sweep, (long long)(SWEEP_LIMIT / passes));
    return GBS_OK;
}

static gbs_status check_method(gbs_context *ctx, int64_t dim, const gbs_sampler_spec *spec)
{
    if (spec->method < GBS_METHOD_GIBBS || spec->method > GBS_METHOD_WHITENED)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "method: %d is not known", (int)spec->method);
    if (spec->order < GBS_ORDER_FORWARD || spec->order > GBS_ORDER_PERMUTED)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "order: %d is not known", (int)spec->order);
    if (spec->start < GBS_START_OVERDISPERSED || spec->start > GBS_START_LATER)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "start: %d is not known", (int)spec->start);
    if (!(spec->omega > 0.0 && spec->omega < 2.0))
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "omega: %.17g is not in (0, 2)", spec->omega);
    if (!(spec->overrelax >= 0.0 && spec->overrelax < 1.0))
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "overrelax: %.17g is not in [0, 1)",
                        spec->overrelax);
    if (spec->overrelax > 0.0 && spec->omega != 1.0)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                        "overrelax: %.17g, and omega is %.17g; without bounds the one stands for "
                        "an omega of 1 more",
                        spec->overrelax, spec->omega);
    if (spec->overrelax > 0.0 && spec->stream.kind == GBS_STREAM_GIVEN)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                        "overrelax: %.17g, but the given stream has no numbers for it",
                        spec->overrelax);
    if (spec->method == GBS_METHOD_EXACT &&
        (spec->order != GBS_ORDER_FORWARD || spec->omega != 1.0 || spec->overrelax != 0.0 ||
         spec->start != GBS_START_OVERDISPERSED))
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                        "method: exact draws are independent and take no order, omega or start; "
                        "order is %d, omega %g, start %d",
                        (int)spec->order, spec->omega, (int)spec->start);
    if (spec->start == GBS_START_GIVEN) {
        if (spec->initial == NULL)
            return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "initial: NULL, but the start is given");
        if (spec->initial_rows != 1 && spec->initial_rows != spec->chains)
            return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                            "initial_rows: %lld, but 1 or %lld (chains) are needed",
                            (long long)spec->initial_rows, (long long)spec->chains);
        return gbs_state_check(ctx, "initial", spec->type, spec->initial, spec->initial_rows, dim);
    }
    return GBS_OK;
}

static gbs_status check_stream(gbs_context *ctx, const gbs_sampler_spec *spec)
{
    const gbs_stream_spec *const stream = &spec->stream;
    const int torch = stream->kind == GBS_STREAM_TORCH_CPU || stream->kind == GBS_STREAM_TORCH_CUDA;
    if (stream->kind < GBS_STREAM_NATIVE || stream->kind > GBS_STREAM_TORCH_CUDA)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "stream: %d is not known", (int)stream->kind);
    if (stream->kind == GBS_STREAM_GIVEN) {
        if (stream->noise == NULL && stream->words == NULL)
            return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "noise: NULL, but the stream is given");
        if (stream->noise_sweeps < 0)
            return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "noise_sweeps: %lld is negative",
                            (long long)stream->noise_sweeps);
        if (stream->noise_type != GBS_F32 && stream->noise_type != GBS_F64)
            return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                            "noise_type: %d is neither GBS_F32 nor GBS_F64",
                            (int)stream->noise_type);
    }
    if (torch && (spec->first_chain != 0 || spec->first_sweep != 0))
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                        "first_chain: %lld, first_sweep: %lld; torch's streams cannot skip: give "
                        "torch_state instead",
                        (long long)spec->first_chain, (long long)spec->first_sweep);
    if (stream->kind == GBS_STREAM_TORCH_CUDA) {
        if (stream->cuda_multiprocessors < 1 || stream->cuda_threads_per_multiprocessor < 256)
            return gbs_fail(
                ctx, GBS_ERROR_ARGUMENT,
                "cuda_multiprocessors: %d, cuda_threads_per_multiprocessor: %d; at least 1 and 256",
                (int)stream->cuda_multiprocessors, (int)stream->cuda_threads_per_multiprocessor);
        if (spec->chains > TORCH_CUDA_CHAIN_LIMIT)
            return gbs_fail(ctx, GBS_ERROR_LIMIT,
                            "chains: %lld, but the torch-cuda stream takes at most 2^29",
                            (long long)spec->chains);
    }
    const size_t bytes = stream->kind == GBS_STREAM_TORCH_CPU ? GBS_TORCH_CPU_STATE_BYTES
                                                              : GBS_TORCH_CUDA_STATE_BYTES;
    if (torch && stream->torch_state != NULL && stream->torch_state_bytes != bytes)
        return gbs_fail(ctx, GBS_ERROR_STATE,
                        "torch_state: %zu bytes, but this stream's states have %zu",
                        stream->torch_state_bytes, bytes);
    return GBS_OK;
}

/* ---- order of visit ---- */

gbs_status gbs_plan_order(gbs_sampler *sampler, const gbs_sampler_spec *spec)
{
    const int64_t dim = sampler->dim;
    for (int64_t i = 0; i < dim; ++i)
        sampler->place[i] = -1;
    for (int64_t p = 0; p < dim; ++p) {
        int64_t site = p;
        if (sampler->method == GBS_METHOD_EXACT || spec->order == GBS_ORDER_BACKWARD)
            site = dim - 1 - p;
        if (spec->order == GBS_ORDER_PERMUTED) {
            if (spec->permutation == NULL)
                return gbs_fail(sampler->ctx, GBS_ERROR_ARGUMENT,
                                "permutation: NULL, but the order is permuted");
            site = spec->permutation[p];
            if (site < 0 || site >= dim)
                return gbs_fail(sampler->ctx, GBS_ERROR_ARGUMENT,
                                "permutation: entry %lld is %lld, not in 0..%lld", (long long)p,
                                (long long)site, (long long)dim - 1);
            if (sampler->place[site] >= 0)
                return gbs_fail(sampler->ctx, GBS_ERROR_ARGUMENT,
                                "permutation: site %lld is at places %lld and %lld",
                                (long long)site, (long long)sampler->place[site], (long long)p);
        }
        sampler->pass[0].site[p] = site;
        sampler->place[site] = p;
        if (sampler->passes == 2)
            sampler->pass[1].site[dim - 1 - p] = site;
    }
    return GBS_OK;
}

/* ---- coefficients ---- */

gbs_rows gbs_plan_rows(const gbs_sampler *sampler, double omega)
{
    const gbs_model *const model = sampler->model;
    const int solving = sampler->method == GBS_METHOD_EXACT;
    const gbs_rows rows = {
        .type = sampler->type,
        .dim = sampler->dim,
        .omega = omega,
        .matrix_type = GBS_F64,
        .matrix = solving ? model->factor : model->precision,
        .row_stride = model->dim,
        .location_kind = model->location_kind,
        .location = model->location,
        .fixed = model->fixed,
        .bounded = sampler->boxes.bounded,
        .solving = solving,
    };
    return rows;
}

gbs_status gbs_plan_refuse(const gbs_sampler *sampler, const char *what, int64_t i, int64_t j,
                           double exact)
{
    char with[40] = "";
    if (i != j)
        snprintf(with, sizeof with, " with site %lld", (long long)j);
    return gbs_fail(sampler->ctx, GBS_ERROR_NOT_FINITE,
                    "site %lld: its %s%s, %.17g, does not fit in %s", (long long)i, what, with,
                    exact, sampler->type == GBS_F32 ? "float" : "double");
}

static double rounded(gbs_type type, double value)
{
    return type == GBS_F32 ? (double)(float)value : value;
}

/* Coefficient j of row i, before it is rounded. */
static double exact_coefficient(const gbs_rows *rows, int64_t i, int64_t j)
{
    const double *const matrix = rows->matrix;
    if (rows->solving)
        return matrix[j * rows->row_stride + i];
    return rows->omega * (-matrix[i * rows->row_stride + j] / matrix[i * rows->row_stride + i]);
}

/* A solve divides by L_ii: what it makes of a normal must fit too. */
static gbs_status check_coefficients(const gbs_sampler *sampler, const gbs_rows *rows, int64_t i,
                                     const void *coefficients)
{
    for (int64_t j = rows->solving ? i : 0; j < sampler->dim; ++j) {
        const double a = sampler->type == GBS_F32 ? (double)((const float *)coefficients)[j]
                                                  : ((const double *)coefficients)[j];
        if (!isfinite(a))
            return gbs_plan_refuse(sampler, rows->solving ? "Cholesky factor" : "coefficient", i, j,
                                   exact_coefficient(rows, i, j));
        if (rows->solving && i == j && !isfinite(rounded(sampler->type, 9.0 / a)))
            return gbs_plan_refuse(sampler, "conditional standard deviation", i, i,
                                   1.0 / exact_coefficient(rows, i, i));
    }
    return GBS_OK;
}

static gbs_status check_row(const gbs_sampler *sampler, const gbs_rows *rows, int64_t i,
                            void *coefficients)
{
    gbs_rows_coefficients(rows, i, coefficients);
    if (gbs_rows_is_fixed(rows, i)) {
        if (isfinite(rounded(sampler->type, rows->fixed[i])))
            return GBS_OK;
        return gbs_plan_refuse(sampler, "fixed value", i, i, rows->fixed[i]);
    }
    const gbs_status status = check_coefficients(sampler, rows, i, coefficients);
    if (status != GBS_OK || rows->solving)
        return status;
    const double smallest = sampler->type == GBS_F32 ? (double)FLT_MIN : DBL_MIN;
    const double scale = gbs_rows_scale(rows, i), s = rounded(sampler->type, scale);
    const double centre = gbs_rows_centre(rows, i, coefficients);
    if (!isfinite(s) || s < smallest)
        return gbs_plan_refuse(sampler, "conditional standard deviation", i, i, scale);
    if (!isfinite(rounded(sampler->type, centre)))
        return gbs_plan_refuse(sampler, "constant", i, i, centre);
    if (rows->bounded != NULL && sampler->type == GBS_F32)
        ((float *)sampler->boxes.scale)[i] = (float)scale;
    else if (rows->bounded != NULL)
        ((double *)sampler->boxes.scale)[i] = scale;
    return GBS_OK;
}

static gbs_status check_rows(const gbs_sampler *sampler, const gbs_rows *rows, void *scratch)
{
    gbs_status status = GBS_OK;
    for (int64_t i = 0; i < sampler->dim && status == GBS_OK; ++i)
        status = check_row(sampler, rows, i, scratch);
    return status;
}

gbs_status gbs_plan_check_rows(const gbs_sampler *sampler, const gbs_rows *rows)
{
    const size_t size = gbs_type_size(sampler->type);
    void *const scratch = gbs_memory_take(&sampler->ctx->allocator, sampler->dim, size);
    if (scratch == NULL)
        return gbs_fail_memory(sampler->ctx, "sampler coefficients", sampler->dim, size);
    const gbs_status status = check_rows(sampler, rows, scratch);
    gbs_memory_give(&sampler->ctx->allocator, scratch);
    return status;
}

static gbs_status take_panels(const gbs_sampler *sampler, int64_t elements, void **out)
{
    const size_t size = gbs_type_size(sampler->type);
    *out = gbs_memory_take(&sampler->ctx->allocator, elements, size);
    if (*out == NULL)
        return gbs_fail_memory(sampler->ctx, "sampler coefficients", elements, size);
    return GBS_OK;
}

/* The panels that a pass's blocks of chains read. */
static gbs_status plan_blocks(const gbs_sampler *sampler, const gbs_rows *rows, gbs_pass_plan *pass,
                              void *scratch)
{
    const int64_t elements = gbs_panel_elements(rows);
    const int32_t wide = gbs_sampler_rows(sampler, 1), narrow = gbs_sampler_rows(sampler, 0);
    gbs_status status = GBS_OK;
    if (sampler->tiled) {
        status = take_panels(sampler, elements, &pass->tile_panels);
        if (status == GBS_OK)
            gbs_tiles_pack(rows, pass->site, sampler->kernels->tiles[sampler->type].rows, wide,
                           scratch, pass->tile_panels);
    } else if (sampler->wide_blocks > 0) {
        status = take_panels(sampler, elements, &pass->wide_panels);
        if (status == GBS_OK)
            gbs_panels_pack(rows, pass->site, wide, scratch, pass->wide_panels);
    }
    if (sampler->wide_blocks < sampler->blocks && status == GBS_OK) {
        status = take_panels(sampler, elements, &pass->narrow_panels);
        if (status == GBS_OK)
            gbs_panels_pack(rows, pass->site, narrow, scratch, pass->narrow_panels);
    }
    return status;
}

static gbs_status plan_few(const gbs_sampler *sampler, const gbs_rows *rows, gbs_pass_plan *pass,
                           void *scratch)
{
    const int64_t group = sampler->few->rows;
    const gbs_status status =
        take_panels(sampler, gbs_few_panel_elements(rows->dim, group), &pass->few_panels);
    if (status == GBS_OK)
        gbs_few_panels_pack(rows, pass->site, group, scratch, pass->few_panels);
    return status;
}

static gbs_status plan_passes(gbs_sampler *sampler, const gbs_rows *rows, void *scratch)
{
    gbs_status status = GBS_OK;
    for (int half = 0; half < sampler->passes && status == GBS_OK; ++half) {
        gbs_pass_plan *const pass = &sampler->pass[half];
        status = sampler->few != NULL ? plan_few(sampler, rows, pass, scratch)
                                      : plan_blocks(sampler, rows, pass, scratch);
    }
    return status;
}

gbs_status gbs_plan_coefficients(gbs_sampler *sampler, double omega)
{
    const size_t size = gbs_type_size(sampler->type);
    const gbs_rows rows = gbs_plan_rows(sampler, omega);
    const int64_t elements = sampler->few != NULL
                                 ? gbs_few_scratch_elements(sampler->dim, sampler->few->rows)
                                 : gbs_sampler_most_rows(sampler) * sampler->dim;
    void *const scratch = gbs_memory_take(&sampler->ctx->allocator, elements, size);
    if (scratch == NULL)
        return gbs_fail_memory(sampler->ctx, "sampler coefficients", elements, size);
    gbs_status status = check_rows(sampler, &rows, scratch);
    if (status == GBS_OK && sampler->ctx->device == NULL)
        status = plan_passes(sampler, &rows, scratch);
    gbs_memory_give(&sampler->ctx->allocator, scratch);
    return status;
}

gbs_status gbs_plan_check(gbs_context *ctx, int64_t dim, const gbs_sampler_spec *spec)
{
    gbs_status status = check_counts(ctx, dim, spec);
    if (status == GBS_OK)
        status = check_method(ctx, dim, spec);
    if (status == GBS_OK)
        status = check_stream(ctx, spec);
    return status;
}
