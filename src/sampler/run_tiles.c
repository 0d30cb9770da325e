/* Many chains of many sites, tile by tile.  A tile is a panel's coefficients for the places of one
 * panel: about 128 x 128, in the second-level cache for all blocks of the bundle, while a block's
 * state at those places, 32 KiB, is in the first-level cache for all rows of the panel.  A row
 * takes the tiles in the canonical order, and its sum waits in memory, exactly, between them: a
 * library's matrix product, which starts at 0 and adds the start last, would give other bits. */
#include "sampler/rows.h"
#include "sampler/sampler_internal.h"

typedef struct bundle {
    const gbs_tile_kernels *kernels;
    const gbs_pass_job *jobs; /* of its blocks */
    int64_t blocks, dim, size;
    int relaxed;
    const char *coefficients;
    char *sums;
    size_t sums_bytes; /* of one block */
} bundle;

typedef void (*tile_step)(const gbs_tile_job *job);

/* Where the state at the job's number of places from `from` on lies in memory, forwards or
 * backwards. */
static const void *state_at(const bundle *b, const gbs_pass_job *pass, int64_t from, int64_t places)
{
    const int64_t last = from + places < b->dim ? from + places - 1 : b->dim - 1;
    const int64_t place = pass->x_step > 0 ? from : last;
    return (const char *)pass->x + (ptrdiff_t)(place * pass->x_step) * (ptrdiff_t)b->size;
}

/* The same step for every block; its coefficients start at element `at`, and the places from `then`
 * on are read next. */
static void every_block(const bundle *b, tile_step step, gbs_tile_job *job, int64_t at,
                        int64_t then)
{
    job->coefficients = b->coefficients + at * b->size;
    for (int64_t k = 0; k < b->blocks; ++k) {
        const int last = k + 1 == b->blocks;
        job->pass = &b->jobs[k];
        job->next = state_at(b, &b->jobs[last ? 0 : k + 1], last ? then : job->from, job->places);
        job->sums = b->sums + (size_t)k * b->sums_bytes;
        step(job);
    }
}

/* Tiles of the places first .. end - 1, both at a panel's edge; then those from `then` on are
 * read. */
static void add_tiles(const bundle *b, gbs_tile_job *job, int64_t first, int64_t end, int64_t then)
{
    const int64_t panel = b->kernels->rows;
    for (job->from = first; job->from < end; job->from += panel) {
        job->places = end - job->from < panel ? end - job->from : panel;
        every_block(b, b->kernels->add, job,
                    gbs_tile_add(b->dim, b->relaxed, job->first, job->rows, job->from),
                    job->from + job->places < end ? job->from + job->places : then);
    }
}

void gbs_run_tiles(const gbs_sampler *sampler, const gbs_pass_plan *plan, const gbs_pass_job *jobs,
                   int64_t count, int32_t worker)
{
    const int type = (int)sampler->type;
    const gbs_tile_kernels *const kernels = &sampler->kernels->tiles[type];
    const size_t size = gbs_type_size(sampler->type);
    const size_t sums_bytes = (size_t)(kernels->rows * sampler->kernels->wide[type].width) * size;
    const bundle b = {
        .kernels = kernels,
        .jobs = jobs,
        .blocks = count,
        .dim = sampler->dim,
        .size = (int64_t)size,
        .relaxed = sampler->relaxed,
        .coefficients = plan->tile_panels,
        .sums = (char *)sampler->sums + (size_t)(worker * sampler->sums_room) * size,
        .sums_bytes = sums_bytes,
    };
    gbs_tile_job job = {.first = 0, .from = 0, .places = 0};
    for (; job.first < b.dim; job.first += kernels->rows) {
        const int64_t left = b.dim - job.first;
        job.rows = left < kernels->rows ? left : kernels->rows;
        every_block(&b, kernels->begin, &job, gbs_tile_panel(b.dim, b.relaxed, job.first), 0);
        add_tiles(&b, &job, job.first + job.rows, b.dim, 0);
        add_tiles(&b, &job, 0, job.first, job.first);
        every_block(&b, kernels->finish, &job,
                    gbs_tile_finish(b.dim, b.relaxed, job.first, job.rows), 0);
    }
}
