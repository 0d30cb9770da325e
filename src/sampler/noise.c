/* Where a pass's normals come from.  The native stream and torch's CUDA stream are functions of
 * place and chain, so each block draws its own; torch's CPU generator is one sequence over all
 * chains, so a whole pass is drawn at once, site by site in the order of visit. */
#include "sampler/boxes.h"
#include "sampler/sampler_internal.h"

#include <string.h>

/* Sweeps that the native stream can number, and uint48 limits of its other words. */
#define STREAM_SWEEPS ((int64_t)1 << 48)

#define WORD_BITS UINT64_C(0x1fffffffffffff)

uint64_t gbs_stream_sweep(const gbs_sampler *sampler, int64_t done, int half)
{
    return (uint64_t)(sampler->first_sweep + done) * (uint64_t)sampler->passes + (uint64_t)half;
}

int gbs_noise_is_sequential(const gbs_sampler *sampler)
{
    return sampler->stream.kind == GBS_STREAM_TORCH_CPU;
}

gbs_status gbs_noise_check(const gbs_sampler *sampler, int64_t sweeps)
{
    gbs_context *const ctx = sampler->ctx;
    const int64_t last = STREAM_SWEEPS / sampler->passes;
    const int64_t next = sampler->first_sweep + sampler->done;
    if (sampler->stateless)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                        "start: it comes later, but no state has been set yet");
    if (sweeps > last - next)
        return gbs_fail(ctx, GBS_ERROR_LIMIT,
                        "sweeps: %lld more after sweep number %lld; the stream ends at %lld",
                        (long long)sweeps, (long long)next, (long long)last);
    const int64_t given = sampler->stream.noise_sweeps / sampler->passes;
    if (sampler->stream.kind == GBS_STREAM_GIVEN && sweeps > given - sampler->done)
        return gbs_fail(ctx, GBS_ERROR_EXHAUSTED,
                        "sweeps: %lld more after %lld done, but the given noise is for %lld",
                        (long long)sweeps, (long long)sampler->done, (long long)given);
    return GBS_OK;
}

/* Sequential streams: from one site's noise to the next. */
int64_t gbs_noise_row(const gbs_sampler *sampler)
{
    return sampler->groups * sampler->padded_chains;
}

/* Where a block's first chain is among a torch call's elements, over all groups. */
static int64_t first_element(const gbs_sampler *sampler, const gbs_block *block)
{
    return sampler->group * sampler->chains + block->chain;
}

/* Call p of a pass goes to the site visited p-th; exact draws take the sites in order. */
static int64_t site_of_call(const gbs_sampler *sampler, int half, int64_t call)
{
    return sampler->method == GBS_METHOD_EXACT ? call : sampler->pass[half].site[call];
}

/* One call's normals, moved to where each group's rows start. */
static void spread_line(gbs_sampler *sampler, char *row)
{
    const size_t size = gbs_type_size(sampler->type);
    for (int64_t group = 0; group < sampler->groups; ++group)
        memcpy(row + (size_t)(group * sampler->padded_chains) * size,
               (const char *)sampler->line + (size_t)(group * sampler->chains) * size,
               (size_t)sampler->chains * size);
}

void gbs_noise_draw_pass(gbs_sampler *sampler, int half, void *noise)
{
    const size_t size = gbs_type_size(sampler->type);
    const int64_t normals = sampler->groups * sampler->chains;
    for (int64_t call = 0; call < sampler->dim; ++call) {
        char *const row =
            (char *)noise +
            (size_t)(site_of_call(sampler, half, call) * gbs_noise_row(sampler)) * size;
        void *const to = sampler->groups > 1 ? sampler->line : row;
        if (sampler->type == GBS_F32)
            gbs_torch_cpu_randn_f32(sampler->torch_cpu, normals, to, 1);
        else
            gbs_torch_cpu_randn_f64(sampler->torch_cpu, normals, to, 1);
        if (sampler->groups > 1)
            spread_line(sampler, row);
    }
}

gbs_normals_job gbs_noise_job(const gbs_sampler *sampler, const gbs_block *block, int32_t purpose,
                              uint64_t sweep, int64_t first, int64_t count, void *to)
{
    const gbs_normals_job job = {
        .seed = sampler->seed,
        .sweep = sweep,
        .purpose = purpose,
        .chain = sampler->first_chain + first_element(sampler, block),
        .first_site = first,
        .sites = count,
        .z = (char *)to + (size_t)(first * block->z_width) * gbs_type_size(sampler->type),
        .z_row = block->z_width,
    };
    return job;
}

/* A block of few chains may be wider than the kernel, and the kernel than the block. */
void gbs_noise_draw_native(const gbs_sampler *sampler, const gbs_block *block, int32_t purpose,
                           uint64_t sweep, int64_t first, int64_t count, void *to)
{
    const int64_t width = block->kernels->width;
    gbs_normals_job job = gbs_noise_job(sampler, block, purpose, sweep, first, count, to);
    for (int64_t lane = 0; lane < block->z_width; lane += width) {
        block->kernels->normals(&job);
        job.chain += width;
        job.z = (char *)job.z + (size_t)width * gbs_type_size(sampler->type);
    }
}

static void draw_torch_cuda(const gbs_sampler *sampler, const gbs_block *block, int64_t done,
                            int half, void *z)
{
    const gbs_torch_cuda *const generator = &sampler->torch_cuda;
    const int64_t normals = sampler->groups * sampler->chains,
                  first = first_element(sampler, block);
    const uint64_t call_advance = gbs_torch_cuda_advance(generator, sampler->type, normals);
    const uint64_t pass_advance = call_advance * (uint64_t)sampler->dim;
    /* the generator stands where this run began: `done` counts from there */
    const uint64_t passes = (uint64_t)done * (uint64_t)sampler->passes + (uint64_t)half;
    uint64_t offset = generator->offset + passes * pass_advance;
    for (int64_t call = 0; call < sampler->dim; ++call, offset += call_advance) {
        const int64_t row = site_of_call(sampler, half, call) * block->z_width;
        if (sampler->type == GBS_F32)
            gbs_torch_cuda_randn_f32(generator, offset, normals, first, block->count,
                                     (float *)z + row);
        else
            gbs_torch_cuda_randn_f64(generator, offset, normals, first, block->count,
                                     (double *)z + row);
    }
}

static double given_normal(const gbs_stream_spec *stream, int64_t at)
{
    return stream->noise_type == GBS_F32 ? (double)((const float *)stream->noise)[at]
                                         : ((const double *)stream->noise)[at];
}

void gbs_noise_copy_words(const gbs_sampler *sampler, int64_t from, int64_t count, void *to)
{
    if (sampler->type == GBS_F32)
        memcpy(to, (const uint32_t *)sampler->stream.words + from,
               (size_t)count * sizeof(uint32_t));
    else
        for (int64_t lane = 0; lane < count; ++lane) {
            const uint64_t word =
                ((const uint64_t *)sampler->stream.words)[from + lane] & WORD_BITS;
            memcpy((double *)to + lane, &word, sizeof word);
        }
}

static void copy_given(const gbs_sampler *sampler, const gbs_block *block, int64_t done, int half,
                       void *to)
{
    const int64_t pass = done * sampler->passes + half;
    for (int64_t site = 0; site < sampler->dim; ++site) {
        const int64_t from = (pass * sampler->dim + site) * sampler->groups * sampler->chains +
                             first_element(sampler, block);
        const int64_t row = site * block->z_width;
        if (gbs_boxes_any(sampler) && sampler->boxes.bounded[site]) {
            gbs_noise_copy_words(sampler, from, block->count,
                                 (char *)to + (size_t)row * gbs_type_size(sampler->type));
            continue;
        }
        for (int64_t lane = 0; lane < block->count; ++lane) {
            const double z = given_normal(&sampler->stream, from + lane);
            if (sampler->type == GBS_F32)
                ((float *)to)[row + lane] = (float)z;
            else
                ((double *)to)[row + lane] = z;
        }
    }
}

void gbs_noise_draw_block(const gbs_sampler *sampler, const gbs_block *block, int64_t ahead,
                          int half, int64_t first, int64_t count, void *to)
{
    if (sampler->stream.kind == GBS_STREAM_GIVEN)
        copy_given(sampler, block, sampler->done + ahead, half, to);
    else if (sampler->stream.kind == GBS_STREAM_TORCH_CUDA)
        draw_torch_cuda(sampler, block, ahead, half, to);
    else
        gbs_noise_draw_native(
            sampler, block,
            sampler->method == GBS_METHOD_EXACT ? GBS_PURPOSE_EXACT : GBS_PURPOSE_SITE,
            gbs_stream_sweep(sampler, sampler->done + ahead, half), first, count, to);
}

void gbs_noise_advance(gbs_sampler *sampler, int64_t sweeps)
{
    if (sampler->stream.kind != GBS_STREAM_TORCH_CUDA)
        return;
    const uint64_t call = gbs_torch_cuda_advance(&sampler->torch_cuda, sampler->type,
                                                 sampler->groups * sampler->chains);
    sampler->torch_cuda.offset +=
        call * (uint64_t)sampler->dim * (uint64_t)sampler->passes * (uint64_t)sweeps;
}
