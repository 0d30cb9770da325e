/* Which form where.  Every form gives the same bits, so that this is about speed alone; the table
 * was measured (bench/NOTES.md, "Forms") and is not measured again on the user's machine: a plan
 * must not depend on a stopwatch. */
#include "sampler/forms.h"
#include "core/pool.h"

/* Fewest sites from which few chains are faster with rows in lanes; by instruction set, type and
 * kernel (1, 2, 4, 8, 16 chains).  NEVER for plain C, whose one chain at a time is the reference
 * that the other forms are held against. */
#define NEVER INT64_MAX
static const int64_t few_from[GBS_ISA_NEON + 1][2][GBS_FEW_KERNELS] = {
    [GBS_ISA_SCALAR] = {{NEVER, NEVER, NEVER, NEVER, NEVER}, {NEVER, NEVER, NEVER, NEVER, NEVER}},
    [GBS_ISA_AVX2] = {{64, 128, 256, 1024, 2048}, {64, 256, 512, 1024, 2048}},
    [GBS_ISA_AVX512] = {{64, 128, 256, 512, 2048}, {64, 128, 256, 512, 1024}},
    [GBS_ISA_NEON] = {{64, 128, 256, 1024, 2048},
                      {64, 256, 512, 1024, 2048}}, /* AVX2's; not measured */
};

const gbs_few_kernels *gbs_form_few(const gbs_context *ctx, const gbs_kernels *kernels,
                                    gbs_type type, int64_t chains, int64_t dim)
{
    if (chains > GBS_FEW_CHAINS || ctx->form == (int)GBS_FORM_BLOCKS)
        return NULL;
    int k = 0;
    while (kernels->few[type][k].chains < chains)
        ++k;
    if (ctx->form != (int)GBS_FORM_FEW && dim < few_from[ctx->isa][type][k])
        return NULL;
    return &kernels->few[type][k];
}

/* Fewest sites from which tiles are faster; by instruction set and type. */
static const int64_t tiles_from[GBS_ISA_NEON + 1][2] = {
    [GBS_ISA_SCALAR] = {NEVER, NEVER},
    [GBS_ISA_AVX2] = {2048, 1024},
    [GBS_ISA_AVX512] = {2048, 1024},
    [GBS_ISA_NEON] = {2048, 1024}, /* AVX2's; not measured */
};

int64_t gbs_form_tiles(const gbs_context *ctx, gbs_type type, int64_t wide_blocks, int64_t dim)
{
    if (wide_blocks < 1 || ctx->form == (int)GBS_FORM_BLOCKS ||
        (ctx->form != (int)GBS_FORM_TILES && dim < tiles_from[ctx->isa][type]))
        return 0;
    /* as many bundles for one thread as for the next */
    const int64_t threads = gbs_pool_workers(ctx->pool);
    const int64_t least = (wide_blocks + GBS_FORM_TOGETHER - 1) / GBS_FORM_TOGETHER;
    const int64_t bundles = (least + threads - 1) / threads * threads;
    return (wide_blocks + bundles - 1) / bundles;
}

int64_t gbs_form_bounded(const gbs_context *ctx, int64_t wide_blocks, int64_t dim)
{
    enum { SMALL = 16 }; /* three blocks' states and words of more sites leave the first cache */
    const int64_t threads = gbs_pool_workers(ctx->pool);
    /* with fewer some thread would wait for others longer than it gains */
    const int64_t least = threads == 1 ? 2 : 4 * threads;
    if (ctx->form == (int)GBS_FORM_BLOCKS || wide_blocks < least)
        return 0;
    const int64_t most = dim <= SMALL ? GBS_BOUNDED_TOGETHER : 2;
    const int64_t bundles = (wide_blocks + most - 1) / most;
    return (wide_blocks + bundles - 1) / bundles;
}
