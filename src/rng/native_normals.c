/* The native stream's normals of one sweep as an array, or its words for draws between bounds, by
 * the kernels that sweeps draw them with: straight into the array where its rows allow, else
 * through a block. */
#include "backend/backend.h"
#include "core/internal.h"

#include <assert.h>
#include <string.h>

enum {
    SITES = 64,     /* at a time: a multiple of 4 */
    ROW_BYTES = 256 /* of the widest block: four vectors of AVX-512 */
};

#define MOST_CHAINS ((int64_t)1 << 40)
#define MOST_SWEEPS ((int64_t)1 << 48)

typedef struct normals {
    const gbs_block_kernels *kernels;
    const char *what; /* for messages */
    const char *array;
    gbs_words_function words; /* NULL: normals */
    gbs_type type;
    int64_t chains, sites;
    char *z;
} normals;

static char *at(const normals *n, int64_t site, int64_t chain)
{
    return n->z + (size_t)(site * n->chains + chain) * gbs_type_size(n->type);
}

/* Vectors are stored aligned, and always whole. */
static int fits(const normals *n)
{
    return n->chains % n->kernels->width == 0 && (uintptr_t)n->z % GBS_ALIGNMENT == 0 &&
           (size_t)n->kernels->width * gbs_type_size(n->type) % GBS_ALIGNMENT == 0;
}

static void draw(const normals *n, const gbs_normals_job *job)
{
    const gbs_words_job words = {*job, NULL};
    if (n->words != NULL)
        n->words(&words);
    else
        n->kernels->normals(job);
}

/* The chains from `chain` on that a block has, site group by site group. */
static void draw_block(const normals *n, gbs_normals_job job, int64_t chain)
{
    _Alignas(GBS_ALIGNMENT) unsigned char block[SITES * ROW_BYTES];
    const int64_t left = n->chains - chain, width = n->kernels->width;
    const size_t size = gbs_type_size(n->type);
    assert((size_t)width * size <= ROW_BYTES);
    const size_t row = (size_t)(left < width ? left : width) * size;
    job.z = block;
    job.z_row = width;
    for (int64_t site = 0; site < n->sites; site += SITES) {
        job.first_site = site;
        job.sites = n->sites - site < SITES ? n->sites - site : SITES;
        draw(n, &job);
        for (int64_t i = 0; i < job.sites; ++i)
            memcpy(at(n, site + i, chain), block + (size_t)(i * width) * size, row);
    }
}

static gbs_status check(gbs_context *ctx, const normals *n, int64_t sweep, int64_t first_chain)
{
    const int64_t most_sites = (int64_t)1 << (n->type == GBS_F32 ? 34 : 33);
    if (n->type != GBS_F32 && n->type != GBS_F64)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "type: %d is no gbs_type", (int)n->type);
    if (n->chains < 0 || n->sites < 0 || sweep < 0 || first_chain < 0)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                        "%s: sweep %lld, first chain %lld, %lld chains and %lld sites: none "
                        "may be below 0",
                        n->what, (long long)sweep, (long long)first_chain, (long long)n->chains,
                        (long long)n->sites);
    if (n->sites > most_sites || sweep >= MOST_SWEEPS || first_chain > MOST_CHAINS ||
        n->chains > MOST_CHAINS - first_chain)
        return gbs_fail(ctx, GBS_ERROR_LIMIT,
                        "%s: sweep %lld, %lld chains from %lld on and %lld sites are beyond what "
                        "the stream can address",
                        n->what, (long long)sweep, (long long)n->chains, (long long)first_chain,
                        (long long)n->sites);
    if (n->z == NULL && n->chains > 0 && n->sites > 0)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "%s: %s is NULL", n->what, n->array);
    return GBS_OK;
}

static gbs_status make(gbs_context *ctx, normals n, uint64_t seed, int64_t sweep,
                       int64_t first_chain, int32_t purpose)
{
    const int64_t chains = n.chains, sites = n.sites;
    const gbs_status status = check(ctx, &n, sweep, first_chain);
    if (status != GBS_OK)
        return status;
    n.kernels = &gbs_cpu_kernels(ctx->isa)->wide[n.type];
    if (purpose == GBS_PURPOSE_TRUNCATED)
        n.words = gbs_cpu_kernels(ctx->isa)->bounded->wide[n.type].words;
    const int64_t width = n.kernels->width;
    const int direct = fits(&n);
    fenv_t saved;
    gbs_float_enter(&saved);
    for (int64_t chain = 0; chain < chains; chain += width) {
        gbs_normals_job job = {.seed = seed,
                               .sweep = (uint64_t)sweep,
                               .purpose = purpose,
                               .chain = first_chain + chain,
                               .sites = sites,
                               .z = at(&n, 0, chain),
                               .z_row = chains};
        if (direct)
            draw(&n, &job);
        else
            draw_block(&n, job, chain);
    }
    gbs_float_leave(&saved);
    return GBS_OK;
}

gbs_status gbs_native_normals(gbs_context *ctx, gbs_type type, uint64_t seed, int64_t sweep,
                              int64_t first_chain, int64_t chains, int64_t sites, void *z)
{
    const normals n = {
        .what = "normals", .array = "z", .type = type, .chains = chains, .sites = sites, .z = z};
    if (ctx == NULL)
        return GBS_ERROR_ARGUMENT;
    return make(ctx, n, seed, sweep, first_chain, GBS_PURPOSE_SITE);
}

gbs_status gbs_native_words(gbs_context *ctx, gbs_type type, uint64_t seed, int64_t sweep,
                            int64_t first_chain, int64_t chains, int64_t sites, void *words)
{
    const normals n = {.what = "words",
                       .array = "words",
                       .type = type,
                       .chains = chains,
                       .sites = sites,
                       .z = words};
    if (ctx == NULL)
        return GBS_ERROR_ARGUMENT;
    return make(ctx, n, seed, sweep, first_chain, GBS_PURPOSE_TRUNCATED);
}
