/* Whitened sweeps, and sweeps under row constraints: planned in double, rounded to the sampler's
 * type, and run block by block through backend/constrained.h. */
#include "sampler/constrained.h"
#include "core/pool.h"
#include "model/bounds.h"
#include "model/condition.h"
#include "model/linalg.h"
#include "sampler/plan.h"
#include "sampler/row_lists.h"

#include <float.h>
#include <math.h>

/* ---- numbers ---- */

static double rounded(gbs_type type, double value)
{
    return type == GBS_F32 ? (double)(float)value : value;
}

static void store(gbs_type type, void *array, int64_t at, double value)
{
    if (type == GBS_F32)
        ((float *)array)[at] = (float)value;
    else
        ((double *)array)[at] = value;
}

static const char *name_of(gbs_type type)
{
    return type == GBS_F32 ? "float" : "double";
}

static void *take(const gbs_sampler *sampler, const char *what, int64_t count, size_t size,
                  gbs_status *status)
{
    if (*status != GBS_OK)
        return NULL;
    void *const memory = gbs_memory_take(&sampler->ctx->allocator, count, size);
    if (memory == NULL)
        *status = gbs_fail_memory(sampler->ctx, what, count, size);
    return memory;
}

/* ---- checks ---- */

gbs_status gbs_constrained_check(gbs_context *ctx, const gbs_model *model,
                                 const gbs_sampler_spec *spec)
{
    const int whitened = spec->method == GBS_METHOD_WHITENED;
    const char *const what = whitened ? "whitened sweeps" : "sweeps under row constraints";
    if (model->constraints != NULL && spec->method == GBS_METHOD_EXACT)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                        "method: the model has row constraints, and exact draws would not keep "
                        "them; use Gibbs or whitened sweeps");
    if (!whitened && model->constraints == NULL)
        return GBS_OK;
    if (spec->stream.kind != GBS_STREAM_NATIVE && spec->stream.kind != GBS_STREAM_GIVEN)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                        "stream: torch's streams are of normals, but %s take words too", what);
    if (spec->stream.kind == GBS_STREAM_GIVEN &&
        (spec->stream.noise == NULL || spec->stream.words == NULL))
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                        "%s: NULL, but the stream is given, and %s take normals where nothing "
                        "holds a step and words where something does",
                        spec->stream.noise == NULL ? "noise" : "words", what);
    if (spec->omega != 1.0)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "omega: %s take 1, not %.17g", what, spec->omega);
    if (spec->overrelax != 0.0)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "overrelax: %s take 0, not %.17g", what,
                        spec->overrelax);
    if (whitened && spec->order != GBS_ORDER_FORWARD)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "order: %s have one order; %d is given", what,
                        (int)spec->order);
    return GBS_OK;
}

/* A box that T leaves no number but one holds every direction through it: the model must be told,
 * by fixing the site. */
static gbs_status check_boxes(const gbs_sampler *sampler)
{
    for (int64_t i = 0; i < sampler->dim; ++i) {
        const gbs_box box = gbs_bounds_box(sampler->model, sampler->type, i);
        if (box.kind != GBS_BOX_FREE && box.lower == box.upper)
            return gbs_fail(sampler->ctx, GBS_ERROR_ARGUMENT,
                            "site %lld: in %s its bounds leave it no number but %.17g, which would "
                            "stop every whitened step that moves it; fix it there",
                            (long long)i, name_of(sampler->type), box.lower);
    }
    return GBS_OK;
}

gbs_status gbs_constrained_check_state(gbs_context *ctx, const gbs_model *model, gbs_type type,
                                       const char *what, const void *x, int64_t n)
{
    return gbs_row_lists_check(ctx, model, type, what, x, n);
}

/* ---- what all sweeps read ---- */

static void fill_bounds(const gbs_sampler *sampler, void *bounds)
{
    for (int64_t i = 0; i < sampler->dim; ++i) {
        const gbs_box box = gbs_bounds_box(sampler->model, sampler->type, i);
        store(sampler->type, bounds, 2 * sampler->place[i], box.lower);
        store(sampler->type, bounds, 2 * sampler->place[i] + 1, box.upper);
    }
}

static int is_bounded(const gbs_sampler *sampler, int64_t site)
{
    return gbs_bounds_box(sampler->model, sampler->type, site).kind != GBS_BOX_FREE;
}

/* Along `inverse_factor`'s row i, or site i's own direction: does anything hold it? */
static gbs_step_kind kind_of(const gbs_sampler *sampler, const double *inverse_factor, int64_t i)
{
    const gbs_row_lists *const rows = &sampler->constrained->rows;
    if (gbs_model_is_fixed(sampler->model, i))
        return GBS_STEP_NONE;
    if (rows->rows > 0 && rows->move_start[i] < rows->move_start[i + 1])
        return GBS_STEP_HELD;
    if (inverse_factor == NULL)
        return is_bounded(sampler, i) ? GBS_STEP_HELD : GBS_STEP_FREE;
    for (int64_t j = 0; j <= i; ++j)
        if (is_bounded(sampler, j) &&
            rounded(sampler->type, inverse_factor[i * sampler->dim + j]) != 0.0)
            return GBS_STEP_HELD;
    return GBS_STEP_FREE;
}

static void fill_kinds(const gbs_sampler *sampler, const double *inverse_factor)
{
    struct gbs_constrained *const to = sampler->constrained;
    to->first_free = sampler->dim;
    for (int64_t i = 0; i < sampler->dim; ++i) {
        to->kind[i] = (uint8_t)kind_of(sampler, inverse_factor, i);
        to->held |= to->kind[i] == GBS_STEP_HELD;
        if (to->kind[i] != GBS_STEP_FREE)
            continue;
        to->first_free = i < to->first_free ? i : to->first_free;
        to->end_free = i + 1;
    }
    to->first_free = to->first_free / 4 * 4; /* where a counter's sites begin */
}

/* ---- whitened ---- */

static gbs_status check_fits(const gbs_sampler *sampler, const char *what, int64_t i, int64_t j,
                             double value)
{
    if (isfinite(rounded(sampler->type, value)))
        return GBS_OK;
    return gbs_plan_refuse(sampler, what, i, j, value);
}

/* Step i of backend/constrained.h's panels: factor, column, reciprocals. */
static gbs_status fill_step(const gbs_sampler *sampler, const double *inverse_factor, int64_t i,
                            void *panels, int64_t at)
{
    const gbs_model *const model = sampler->model;
    const int64_t dim = sampler->dim, inverse = at + dim + 1;
    gbs_status status = GBS_OK;
    for (int64_t j = i; j < dim && status == GBS_OK; ++j) {
        status = check_fits(sampler, "Cholesky factor", i, j, model->factor[j * dim + i]);
        store(sampler->type, panels, at + j - i, model->factor[j * dim + i]);
    }
    at += dim - i;
    for (int64_t j = 0; j <= i && status == GBS_OK; ++j) {
        const double exact = gbs_model_is_fixed(model, j) ? 0.0 : inverse_factor[i * dim + j];
        status = check_fits(sampler, "whitened coordinate", i, j, exact);
        const double w = rounded(sampler->type, exact), over = rounded(sampler->type, 1.0 / w);
        const int moves = w != 0.0 && isfinite(over);
        store(sampler->type, panels, at + j, moves ? w : 0.0);
        store(sampler->type, panels, inverse + j, moves ? over : (double)NAN);
    }
    return status;
}

static gbs_status fill_whitened(const gbs_sampler *sampler, const double *inverse_factor,
                                void *panels)
{
    const int64_t dim = sampler->dim;
    gbs_status status = GBS_OK;
    for (int64_t i = 0; i < dim && status == GBS_OK; ++i) {
        status = check_fits(sampler, "mean", i, i, sampler->model->mean[i]);
        store(sampler->type, panels, i, sampler->model->mean[i]);
    }
    int64_t at = dim;
    for (int64_t i = 0; i < dim && status == GBS_OK; ++i) {
        status = fill_step(sampler, inverse_factor, i, panels, at);
        at += dim + i + 2;
    }
    return status;
}

int64_t gbs_whitened_elements(int64_t dim)
{
    return dim + dim * (dim + 2) + dim * (dim - 1) / 2;
}

static gbs_status plan_whitened(gbs_sampler *sampler)
{
    struct gbs_constrained *const to = sampler->constrained;
    const int64_t dim = sampler->dim, elements = gbs_whitened_elements(dim);
    gbs_status status = check_boxes(sampler);
    double *const inverse_factor = take(sampler, "whitening", dim * dim, sizeof(double), &status);
    to->panels[0] = take(sampler, "whitening", elements, gbs_type_size(sampler->type), &status);
    if (status == GBS_OK) {
        gbs_inverse_factor(sampler->model->factor, dim, sampler->ctx->isa, inverse_factor);
        status = fill_whitened(sampler, inverse_factor, to->panels[0]);
    }
    if (status == GBS_OK)
        status = gbs_row_lists_make(sampler, inverse_factor, &to->rows);
    if (status == GBS_OK)
        fill_kinds(sampler, inverse_factor);
    gbs_memory_give(&sampler->ctx->allocator, inverse_factor);
    return status;
}

/* ---- site by site ---- */

static gbs_status plan_sweeps(gbs_sampler *sampler, double omega)
{
    struct gbs_constrained *const to = sampler->constrained;
    const size_t size = gbs_type_size(sampler->type);
    const gbs_rows rows = gbs_plan_rows(sampler, omega);
    gbs_status status = gbs_plan_check_rows(sampler, &rows);
    void *const scratch = take(sampler, "coefficients", sampler->dim, size, &status);
    for (int half = 0; half < sampler->passes && sampler->ctx->device == NULL; ++half) {
        to->panels[half] = take(sampler, "coefficients", gbs_panel_elements(&rows), size, &status);
        if (status == GBS_OK)
            gbs_panels_pack(&rows, sampler->pass[half].site, 1, scratch, to->panels[half]);
    }
    if (status == GBS_OK)
        status = gbs_row_lists_make(sampler, NULL, &to->rows);
    if (status == GBS_OK)
        fill_kinds(sampler, NULL);
    gbs_memory_give(&sampler->ctx->allocator, scratch);
    return status;
}

gbs_status gbs_constrained_plan(gbs_sampler *sampler, double omega)
{
    const size_t size = gbs_type_size(sampler->type);
    gbs_status status = GBS_OK;
    struct gbs_constrained *const to = sampler->constrained =
        take(sampler, "sampler", 1, sizeof *to, &status);
    if (to == NULL)
        return status;
    to->kernels = gbs_constrained_kernels_for(sampler->ctx->isa);
    to->kind = take(sampler, "sampler", sampler->dim, 1, &status);
    to->bounds = take(sampler, "bounds", 2 * sampler->dim, size, &status);
    if (status == GBS_OK)
        fill_bounds(sampler, to->bounds);
    if (status == GBS_OK)
        status = sampler->method == GBS_METHOD_WHITENED ? plan_whitened(sampler)
                                                        : plan_sweeps(sampler, omega);
    if (sampler->ctx->device != NULL)
        return status;
    const int64_t workers = gbs_pool_workers(sampler->ctx->pool);
    to->sums =
        gbs_sampler_take_rooms(sampler, "sums of the constraints", workers, to->rows.rows,
                               gbs_sampler_block(sampler, 0).width, size, &to->sums_room, &status);
    return status;
}

void gbs_constrained_end(gbs_sampler *sampler)
{
    struct gbs_constrained *const it = sampler->constrained;
    const gbs_allocator *const allocator = &sampler->ctx->allocator;
    if (it == NULL)
        return;
    gbs_row_lists_end(allocator, &it->rows);
    gbs_memory_give(allocator, it->panels[0]);
    gbs_memory_give(allocator, it->panels[1]);
    gbs_memory_give(allocator, it->kind);
    gbs_memory_give(allocator, it->bounds);
    gbs_memory_give(allocator, it->sums);
    gbs_memory_give(allocator, it);
    sampler->constrained = NULL;
}

/* ---- starts ---- */

gbs_status gbs_constrained_start(gbs_sampler *sampler)
{
    gbs_status status = GBS_OK;
    double *const x = take(sampler, "start", sampler->dim, gbs_type_size(GBS_F64), &status);
    if (status == GBS_OK)
        status = gbs_model_interior(sampler->ctx, sampler->model, x);
    for (int64_t i = 0; i < sampler->dim && status == GBS_OK; ++i) {
        const gbs_box box = gbs_bounds_box(sampler->model, sampler->type, i);
        store(sampler->type, sampler->staging, i, fmin(fmax(x[i], box.lower), box.upper));
    }
    if (status == GBS_OK)
        gbs_state_scatter(sampler, sampler->staging, 0, 1);
    gbs_memory_give(&sampler->ctx->allocator, x);
    return status;
}

gbs_status gbs_constrained_check_start(gbs_sampler *sampler)
{
    gbs_state_gather(sampler, sampler->staging, sampler->dim, 1);
    return gbs_constrained_check_state(sampler->ctx, sampler->model, sampler->type, "start",
                                       sampler->staging, sampler->chains);
}

/* ---- running ---- */

static void copy_given(const gbs_sampler *sampler, const gbs_block *block, int64_t ahead, int half,
                       void *noise)
{
    const int64_t pass = (sampler->done + ahead) * sampler->passes + half;
    gbs_noise_draw_block(sampler, block, ahead, half, 0, sampler->dim, noise);
    for (int64_t i = 0; i < sampler->dim; ++i)
        if (sampler->constrained->kind[i] == GBS_STEP_HELD)
            gbs_noise_copy_words(
                sampler, (pass * sampler->dim + i) * sampler->chains + block->chain, block->count,
                (char *)noise + (size_t)(i * block->z_width) * gbs_type_size(sampler->type));
}

/* Normals for the sites that take them, words over them for those that take words. */
static void draw_native(const gbs_sampler *sampler, const gbs_block *block, uint64_t sweep,
                        void *noise)
{
    const struct gbs_constrained *const it = sampler->constrained;
    if (it->first_free < it->end_free)
        gbs_noise_draw_native(sampler, block, GBS_PURPOSE_SITE, sweep, it->first_free,
                              it->end_free - it->first_free, noise);
    const gbs_normals_job job = {
        .seed = sampler->seed,
        .sweep = sweep,
        .purpose = GBS_PURPOSE_TRUNCATED,
        .chain = sampler->first_chain + block->chain,
        .sites = sampler->dim,
        .z = noise,
        .z_row = block->z_width,
    };
    if (it->held)
        it->kernels->words[sampler->type][block->wide](&job, it->kind);
}

void gbs_constrained_pass(gbs_sampler *sampler, const gbs_block *block, int64_t ahead, int half,
                          int64_t worker)
{
    const struct gbs_constrained *const it = sampler->constrained;
    const size_t size = gbs_type_size(sampler->type);
    void *const noise = (char *)sampler->noise + (size_t)(worker * sampler->room) * size;
    const gbs_constrained_job job = {
        .dim = sampler->dim,
        .panels = it->panels[half],
        .kind = it->kind,
        .x = (char *)sampler->state + (size_t)gbs_block_offset(sampler, block) * size,
        .x_row = block->width,
        .noise = noise,
        .noise_row = block->z_width,
        .rows = &it->rows,
        .sums = (char *)it->sums + (size_t)(worker * it->sums_room) * size,
        .bounds = it->bounds,
        .site = sampler->pass[half].site,
        .backward = half == 1,
    };
    if (sampler->stream.kind == GBS_STREAM_GIVEN)
        copy_given(sampler, block, ahead, half, noise);
    else
        draw_native(sampler, block, gbs_stream_sweep(sampler, sampler->done + ahead, half), noise);
    if (sampler->method == GBS_METHOD_WHITENED)
        it->kernels->whitened[sampler->type][block->wide](&job);
    else
        it->kernels->sweep[sampler->type][block->wide](&job);
}

const char *gbs_constrained_kernel(const gbs_sampler *sampler)
{
    const gbs_constrained_kernels *const kernels = sampler->constrained->kernels;
    return sampler->method == GBS_METHOD_WHITENED ? kernels->whitened_name[sampler->type]
                                                  : kernels->rows_name[sampler->type];
}
