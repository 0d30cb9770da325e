/* The library's rows, for every instruction set: whole sweeps through the public interface; the
 * normals alone and the sweep without its noise through the kernels that those sweeps use, on
 * the same blocks and the same scratch memory. */
#include "cpu_rows.h"
#include "sampler/sampler_internal.h"

#include <stdlib.h>

typedef struct library_row {
    gbs_context *ctx;
    gbs_sampler *sampler;
    uint64_t sweep;
} library_row;

static void finish(void *data)
{
    library_row *const row = data;
    gbs_sampler_destroy(row->sampler);
    gbs_context_destroy(row->ctx);
    free(row);
}

static void *prepare(const bench_row *of, const bench_cell *cell, const char **why)
{
    gbs_context_options options = gbs_context_options_default();
    options.isa = of->isa;
    if (!gbs_isa_available(of->isa)) {
        *why = "this machine or build lacks the instruction set";
        return NULL;
    }
    library_row *const row = calloc(1, sizeof *row);
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    spec.type = cell->type;
    spec.chains = cell->chains;
    spec.seed = 1;
    spec.start = GBS_START_ZERO;
    if (row == NULL || gbs_context_create(&options, &row->ctx) != GBS_OK ||
        gbs_sampler_create(row->ctx, cell->model, &spec, &row->sampler) != GBS_OK) {
        *why = "no memory";
        if (row != NULL)
            finish(row);
        return NULL;
    }
    return row;
}

static void run_whole(void *data, int64_t sweeps)
{
    gbs_sampler_run(((library_row *)data)->sampler, sweeps);
}

static gbs_normals_job normals_job(const library_row *row, const gbs_block *block)
{
    const gbs_normals_job job = {
        .seed = row->sampler->seed,
        .sweep = row->sweep,
        .purpose = GBS_PURPOSE_SITE,
        .chain = block->chain,
        .sites = row->sampler->dim,
        .z = row->sampler->noise,
        .z_row = block->kernels->width,
    };
    return job;
}

static void run_normals(void *data, int64_t sweeps)
{
    library_row *const row = data;
    for (int64_t index = 0; index < row->sampler->blocks; ++index) {
        const gbs_block block = gbs_sampler_block(row->sampler, index);
        for (int64_t sweep = 0; sweep < sweeps; ++sweep, ++row->sweep) {
            const gbs_normals_job job = normals_job(row, &block);
            block.kernels->normals(&job);
        }
    }
}

static void run_sweep(void *data, int64_t sweeps)
{
    library_row *const row = data;
    const gbs_sampler *const sampler = row->sampler;
    for (int64_t index = 0; index < sampler->blocks; ++index) {
        const gbs_block block = gbs_sampler_block(sampler, index);
        const size_t offset =
            (size_t)gbs_block_offset(sampler, &block) * gbs_type_size(sampler->type);
        const gbs_normals_job noise = normals_job(row, &block);
        const gbs_pass_job job = {
            .dim = sampler->dim,
            .panels = block.wide ? sampler->pass[0].wide_panels : sampler->pass[0].narrow_panels,
            .site = sampler->pass[0].site,
            .x = (char *)sampler->state + offset,
            .x_step = block.kernels->width,
            .z = sampler->noise,
            .z_row = block.kernels->width,
        };
        if (row->sweep == 0) { /* noise must be there, once: its values do not matter */
            block.kernels->normals(&noise);
            row->sweep = 1;
        }
        for (int64_t sweep = 0; sweep < sweeps; ++sweep)
            block.kernels->sweep(&job);
    }
}

#define ROWS_OF(name, run, isa)                                                                    \
    {                                                                                              \
        name, prepare, run, finish, (isa) == GBS_ISA_SCALAR, isa, NULL                             \
    }

const bench_row bench_rows_gibbsite[] = {
    ROWS_OF("gibbsite_avx512", run_whole, GBS_ISA_AVX512),
    ROWS_OF("gibbsite_avx2", run_whole, GBS_ISA_AVX2),
    ROWS_OF("gibbsite_scalar", run_whole, GBS_ISA_SCALAR),
    ROWS_OF("normals_avx512", run_normals, GBS_ISA_AVX512),
    ROWS_OF("normals_avx2", run_normals, GBS_ISA_AVX2),
    ROWS_OF("normals_scalar", run_normals, GBS_ISA_SCALAR),
    ROWS_OF("sweep_avx512", run_sweep, GBS_ISA_AVX512),
    ROWS_OF("sweep_avx2", run_sweep, GBS_ISA_AVX2),
    ROWS_OF("sweep_scalar", run_sweep, GBS_ISA_SCALAR),
};
const int bench_rows_gibbsite_count =
    (int)(sizeof bench_rows_gibbsite / sizeof bench_rows_gibbsite[0]);
