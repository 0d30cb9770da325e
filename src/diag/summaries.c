/* Summaries of many variables.  What depends on the shape alone, the normal scores and the
 * transforms' tables, is made once a thread.  Where variables lie interleaved, as in
 * [chain, draw, variable], a few are copied together first: a cache line holds eight of them. */
#include "core/internal.h"
#include "core/pool.h"
#include "diag/diag.h"

#include <stdlib.h>

enum { BLOCK = 8 };

typedef struct summaries {
    const gbs_draws *first;
    int64_t variables, variable_stride;
    const int32_t *superchain;
    gbs_summary *out;
    double *rhat_nested;
    int64_t interleaved;  /* 0: draws are read where they are */
    unsigned char *rooms; /* [workers, room] */
    size_t room;
    gbs_diag_work *works; /* [workers] */
} summaries;

static gbs_draws variable_at(const summaries *job, int64_t variable)
{
    gbs_draws draws = *job->first;
    draws.values += variable * job->variable_stride;
    return draws;
}

/* Copies `count` variables to to[count, chains, draws]. */
static gbs_draws separate(const summaries *job, int64_t variable, int64_t count, double *to)
{
    const gbs_draws from = variable_at(job, variable);
    const int64_t size = from.chains * from.draws;
    for (int64_t c = 0; c < from.chains; c++) {
        for (int64_t t = 0; t < from.draws; t++) {
            const double *const x = from.values + c * from.chain_stride + t * from.draw_stride;
            for (int64_t k = 0; k < count; k++)
                to[k * size + c * from.draws + t] = x[k * job->variable_stride];
        }
    }
    return (gbs_draws){to, from.chains, from.draws, from.draws, 1};
}

static void summarise_block(void *data, int64_t index, int32_t worker)
{
    const summaries *const job = data;
    gbs_diag_work *const work = &job->works[worker];
    const int64_t start = index * BLOCK, left = job->variables - start;
    const int64_t count = left < BLOCK ? left : BLOCK;
    gbs_draws together = {0};
    if (job->interleaved)
        together = separate(job, start, count,
                            (double *)(void *)(job->rooms + (size_t)worker * job->room));
    for (int64_t k = 0; k < count; k++) {
        gbs_draws draws = variable_at(job, start + k);
        if (job->interleaved) {
            draws = together;
            draws.values += k * together.chains * together.draws;
        }
        job->out[start + k] = gbs_diag_summarise(work, &draws);
        if (job->rhat_nested != NULL)
            job->rhat_nested[start + k] = gbs_rhat_nested_of(work, job->superchain);
    }
}

/* Rooms for all workers: the block of variables, then the workspace. */
static gbs_status take_rooms(gbs_context *ctx, summaries *job, int32_t workers)
{
    const gbs_draws *const first = job->first;
    const size_t block =
        job->interleaved ? BLOCK * (size_t)(first->chains * first->draws) * sizeof(double) : 0;
    const size_t work = gbs_diag_workspace(first->chains, first->draws);
    job->room = (block + work + GBS_ALIGNMENT - 1) / GBS_ALIGNMENT * GBS_ALIGNMENT;
    job->works = gbs_memory_take(&ctx->allocator, workers, sizeof *job->works);
    job->rooms = gbs_memory_take(&ctx->allocator, workers, job->room);
    if (job->works == NULL || job->rooms == NULL)
        return gbs_fail_memory(ctx, "diagnostics", workers, job->room);
    for (int32_t w = 0; w < workers; w++)
        gbs_diag_prepare(&job->works[w], first, job->rooms + (size_t)w * job->room + block);
    return GBS_OK;
}

static gbs_status check(gbs_context *ctx, const summaries *job)
{
    const gbs_draws *const d = job->first;
    if (d == NULL || d->values == NULL || job->out == NULL)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "diagnostics: draws or out is NULL");
    if (gbs_diag_workspace(d->chains, d->draws) == 0)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                        "diagnostics: %lld chains of %lld draws: counts start at 1, and there may "
                        "be 2^29 draws a chain and 2^32 - 2 in all",
                        (long long)d->chains, (long long)d->draws);
    if (job->variables < 0)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "diagnostics: variables is %lld, below 0",
                        (long long)job->variables);
    if ((job->superchain == NULL) != (job->rhat_nested == NULL))
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                        "diagnostics: superchain and rhat_nested go together");
    return GBS_OK;
}

gbs_status gbs_diag_summaries(gbs_context *ctx, const gbs_draws *draws, int64_t variables,
                              int64_t variable_stride, const int32_t *superchain, gbs_summary *out,
                              double *rhat_nested)
{
    if (ctx == NULL)
        return GBS_ERROR_ARGUMENT;
    summaries job = {.first = draws,
                     .variables = variables,
                     .variable_stride = variable_stride,
                     .superchain = superchain,
                     .out = out,
                     .rhat_nested = rhat_nested};
    gbs_status status = check(ctx, &job);
    if (status != GBS_OK)
        return status;
    job.interleaved = llabs(variable_stride) < llabs(draws->draw_stride);
    status = take_rooms(ctx, &job, gbs_pool_workers(ctx->pool));
    if (status == GBS_OK)
        gbs_pool_run(ctx->pool, variables / BLOCK + (variables % BLOCK > 0), summarise_block, &job);
    gbs_memory_give(&ctx->allocator, job.rooms);
    gbs_memory_give(&ctx->allocator, job.works);
    return status;
}
