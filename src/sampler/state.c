/* The chains' state: kept in blocks [place][lane] for the kernels, shown to callers as
 * [chain, site]. */
#include "sampler/sampler_internal.h"
#include "model/condition.h"
#include "sampler/plan.h"

#include <math.h>

/* Few chains in one block: as wide as its kernels, its noise as wide as theirs. */
static gbs_block few_block(const gbs_sampler *sampler)
{
    const gbs_block_kernels *const kernels = &sampler->kernels->narrow[sampler->type];
    const int64_t width = sampler->few->chains;
    const gbs_block block = {
        .count = sampler->chains,
        .kernels = kernels,
        .width = width,
        .z_width = (width + kernels->width - 1) / kernels->width * kernels->width,
    };
    return block;
}

gbs_block gbs_sampler_block(const gbs_sampler *sampler, int64_t index)
{
    const int type = (int)sampler->type;
    gbs_block block;
    if (sampler->few != NULL)
        return few_block(sampler);
    block.wide = index < sampler->wide_blocks;
    block.kernels = block.wide ? &sampler->kernels->wide[type] : &sampler->kernels->narrow[type];
    block.width = block.z_width = block.kernels->width;
    block.chain = block.wide ? index * block.width
                             : sampler->wide_blocks * sampler->kernels->wide[type].width +
                                   (index - sampler->wide_blocks) * block.width;
    const int64_t left = sampler->chains - block.chain;
    block.count = left < block.width ? left : block.width;
    return block;
}

int64_t gbs_block_offset(const gbs_sampler *sampler, const gbs_block *block)
{
    if (sampler->one_block)
        return 0;
    return (sampler->group * sampler->padded_chains + block->chain) * sampler->dim;
}

gbs_status gbs_state_check(gbs_context *ctx, const char *what, gbs_type type, const void *x,
                           int64_t rows, int64_t dim)
{
    for (int64_t row = 0; row < rows; ++row)
        for (int64_t i = 0; i < dim; ++i) {
            const int64_t at = row * dim + i;
            const double value =
                type == GBS_F32 ? (double)((const float *)x)[at] : ((const double *)x)[at];
            if (!isfinite(value))
                return gbs_fail(ctx, GBS_ERROR_NOT_FINITE, "%s: chain %lld, site %lld is %g", what,
                                (long long)row, (long long)i, value);
        }
    return GBS_OK;
}

void gbs_block_scatter(gbs_sampler *sampler, const gbs_block *block, const void *x,
                       int64_t chain_stride, int64_t site_stride)
{
    const int64_t offset = gbs_block_offset(sampler, block), width = block->width;
    for (int64_t lane = 0; lane < block->count; ++lane) {
        const int64_t from = (block->chain + lane) * chain_stride;
        for (int64_t i = 0; i < sampler->dim; ++i) {
            const int64_t to = offset + sampler->place[i] * width + lane;
            if (sampler->type == GBS_F32)
                ((float *)sampler->state)[to] = ((const float *)x)[from + i * site_stride];
            else
                ((double *)sampler->state)[to] = ((const double *)x)[from + i * site_stride];
        }
    }
}

void gbs_block_gather(const gbs_sampler *sampler, const gbs_block *block, void *x,
                      int64_t chain_stride, int64_t site_stride)
{
    const int64_t offset = gbs_block_offset(sampler, block), width = block->width;
    for (int64_t i = 0; i < sampler->dim; ++i) {
        const int64_t from = offset + sampler->place[i] * width;
        const int64_t to = block->chain * chain_stride + i * site_stride;
        for (int64_t lane = 0; lane < block->count; ++lane) {
            if (sampler->type == GBS_F32)
                ((float *)x)[to + lane * chain_stride] =
                    ((const float *)sampler->state)[from + lane];
            else
                ((double *)x)[to + lane * chain_stride] =
                    ((const double *)sampler->state)[from + lane];
        }
    }
}

void gbs_state_scatter(gbs_sampler *sampler, const void *x, int64_t chain_stride,
                       int64_t site_stride)
{
    for (int64_t index = 0; index < sampler->blocks; ++index) {
        const gbs_block block = gbs_sampler_block(sampler, index);
        gbs_block_scatter(sampler, &block, x, chain_stride, site_stride);
    }
}

void gbs_state_gather(const gbs_sampler *sampler, void *x, int64_t chain_stride,
                      int64_t site_stride)
{
    for (int64_t index = 0; index < sampler->blocks; ++index) {
        const gbs_block block = gbs_sampler_block(sampler, index);
        gbs_block_gather(sampler, &block, x, chain_stride, site_stride);
    }
}

void gbs_block_accumulate(const gbs_sampler *sampler, const gbs_block *block, int64_t count,
                          gbs_moments *moments)
{
    const double n = (double)count;
    const int64_t offset = gbs_block_offset(sampler, block), width = block->width;
    for (int64_t lane = 0; lane < block->count; ++lane) {
        double *const mean = moments->mean + (block->chain + lane) * sampler->dim;
        double *const m2 = moments->m2 + (block->chain + lane) * sampler->dim;
        for (int64_t i = 0; i < sampler->dim; ++i) {
            const int64_t at = offset + sampler->place[i] * width + lane;
            const double x = sampler->type == GBS_F32 ? (double)((const float *)sampler->state)[at]
                                                      : ((const double *)sampler->state)[at];
            gbs_welford(n, x, &mean[i], &m2[i]);
        }
    }
}

void gbs_state_store(gbs_sampler *sampler, int64_t at, double value)
{
    if (sampler->type == GBS_F32)
        ((float *)sampler->state)[at] = (float)value;
    else
        ((double *)sampler->state)[at] = value;
}

void gbs_state_hold_fixed(gbs_sampler *sampler)
{
    for (int64_t index = 0; index < sampler->blocks; ++index) {
        const gbs_block block = gbs_sampler_block(sampler, index);
        const int64_t offset = gbs_block_offset(sampler, &block), width = block.width;
        for (int64_t i = 0; i < sampler->dim; ++i)
            for (int64_t lane = 0; lane < width && gbs_model_is_fixed(sampler->model, i); ++lane)
                gbs_state_store(sampler, offset + sampler->place[i] * width + lane,
                                sampler->model->fixed[i]);
    }
}
