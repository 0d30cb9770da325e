/* What a device is told of a sampler: the coefficients, in rows by place, rounded as the CPU's
 * panels are. */
#include "model/condition.h"
#include "sampler/on_device_internal.h"
#include "sampler/plan.h"
#include "sampler/rows.h"

#include <assert.h>
#include <math.h>

static void *take(gbs_sampler *sampler, const char *what, int64_t rows, int64_t columns,
                  gbs_status *status)
{
    const size_t size = gbs_type_size(sampler->type);
    int64_t count;
    void *memory = NULL;
    if (*status != GBS_OK)
        return NULL;
    if (!__builtin_mul_overflow(rows, columns, &count))
        memory = gbs_memory_take(&sampler->ctx->allocator, count, size);
    if (memory == NULL)
        *status = gbs_fail_memory(sampler->ctx, what, rows * columns, size);
    return memory;
}

typedef struct coefficients {
    void *matrix, *scale, *centre, *row;
    void *lower, *upper; /* with bounds */
    uint8_t *bounded;    /* or kinds of steps */
    gbs_row_lists rows;  /* the sampler's, but for */
    int64_t *entry_place;
} coefficients;

static void fill_sweep(gbs_sampler *sampler, const coefficients *to)
{
    const gbs_rows rows = gbs_plan_rows(sampler, sampler->omega);
    assert(to->row != NULL);
    for (int64_t i = 0; i < sampler->dim; ++i) {
        const int64_t p = gbs_device_place_of(sampler->on_device, i);
        gbs_rows_coefficients(&rows, i, to->row);
        for (int64_t j = 0; j < sampler->dim; ++j)
            gbs_device_copy(sampler->type, to->row, j, 1, to->matrix,
                            p * sampler->dim + gbs_device_place_of(sampler->on_device, j), 1, 1);
        gbs_device_store(sampler->type, to->scale, p, gbs_rows_scale(&rows, i));
        gbs_device_store(sampler->type, to->centre, p,
                         gbs_device_is_elsewhere(sampler->on_device, i)
                             ? 0.0
                             : gbs_rows_centre(&rows, i, to->row));
    }
}

/* Row j of the factor, negated but for its diagonal, which is infinite where the site is fixed. */
static void fill_solve(gbs_sampler *sampler, const coefficients *to)
{
    const double *const factor = sampler->model->factor;
    for (int64_t j = 0; j < sampler->dim; ++j)
        for (int64_t i = 0; i <= j; ++i) {
            const int64_t at = j * sampler->dim + i;
            const double divisor = gbs_model_is_fixed(sampler->model, j) ? INFINITY : factor[at];
            gbs_device_store(sampler->type, to->matrix, at, i < j ? -factor[at] : divisor);
        }
}

static void fill_boxes(const gbs_sampler *sampler, const coefficients *to)
{
    const gbs_bounded_sites *const boxes = &sampler->boxes;
    for (int64_t i = 0; i < sampler->dim; ++i) {
        const int64_t p = gbs_device_place_of(sampler->on_device, i);
        to->bounded[p] = boxes->bounded[i];
        gbs_device_copy(sampler->type, boxes->lower, i, 1, to->lower, p, 1, 1);
        gbs_device_copy(sampler->type, boxes->upper, i, 1, to->upper, p, 1, 1);
    }
}

/* The boxes that steps are held by, and what kind each place's is. */
static void fill_kinds(const gbs_sampler *sampler, const coefficients *to)
{
    const struct gbs_constrained *const from = sampler->constrained;
    for (int64_t i = 0; i < sampler->dim; ++i) {
        const int64_t p = gbs_device_place_of(sampler->on_device, i), at = 2 * sampler->place[i];
        to->bounded[p] = from->kind[i];
        gbs_device_copy(sampler->type, from->bounds, at, 1, to->lower, p, 1, 1);
        gbs_device_copy(sampler->type, from->bounds, at + 1, 1, to->upper, p, 1, 1);
    }
}

/* The sampler's lists, entries at the device's places. */
static void fill_rows(const gbs_sampler *sampler, coefficients *to)
{
    const gbs_constraints *const given = sampler->model->constraints;
    to->rows = sampler->constrained->rows;
    for (int64_t e = 0; given != NULL && e < given->start[given->rows]; ++e)
        to->entry_place[e] = gbs_device_place_of(sampler->on_device, given->site[e]);
    to->rows.entry_place = to->entry_place;
}

static void take_all(gbs_sampler *sampler, coefficients *to, gbs_status *status)
{
    const gbs_constraints *const rows = sampler->model->constraints;
    const int exact = sampler->method == GBS_METHOD_EXACT;
    const int whitened = sampler->method == GBS_METHOD_WHITENED;
    if (!whitened)
        to->matrix = take(sampler, "coefficients", sampler->dim, sampler->dim, status);
    if (!whitened && !exact) {
        to->scale = take(sampler, "coefficients", 1, sampler->dim, status);
        to->centre = take(sampler, "coefficients", 1, sampler->dim, status);
        to->row = take(sampler, "coefficients", 1, sampler->dim, status);
    }
    if (gbs_boxes_any(sampler) || sampler->constrained != NULL) {
        to->lower = take(sampler, "bounds", 1, sampler->dim, status);
        to->upper = take(sampler, "bounds", 1, sampler->dim, status);
        to->bounded = take(sampler, "bounds", 1, sampler->dim, status);
    }
    if (sampler->constrained != NULL && rows != NULL)
        to->entry_place = gbs_sampler_take(sampler, "constraints", 1, rows->start[rows->rows],
                                           sizeof *to->entry_place, status);
}

static void fill_all(gbs_sampler *sampler, coefficients *to)
{
    if (sampler->constrained != NULL) {
        fill_kinds(sampler, to);
        fill_rows(sampler, to);
    } else if (to->bounded != NULL) {
        fill_boxes(sampler, to);
    }
    if (sampler->method == GBS_METHOD_EXACT)
        fill_solve(sampler, to);
    else if (sampler->method == GBS_METHOD_GIBBS)
        fill_sweep(sampler, to);
}

static void give_all(const gbs_sampler *sampler, const coefficients *made)
{
    void *const all[] = {made->entry_place, made->bounded, made->upper, made->lower,
                         made->row,         made->centre,  made->scale, made->matrix};
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k)
        gbs_memory_give(&sampler->ctx->allocator, all[k]);
}

gbs_status gbs_on_device_plan(gbs_sampler *sampler)
{
    struct gbs_on_device *const device = sampler->on_device;
    const struct gbs_constrained *const constrained = sampler->constrained;
    const int exact = sampler->method == GBS_METHOD_EXACT;
    const int whitened = sampler->method == GBS_METHOD_WHITENED;
    gbs_status status = GBS_OK;
    coefficients made = {.matrix = NULL};
    take_all(sampler, &made, &status);
    if (status == GBS_OK)
        fill_all(sampler, &made);
    const gbs_device_plan plan = {
        .type = sampler->type,
        .method = sampler->method,
        .dim = sampler->dim,
        .chains = sampler->chains,
        .first_chain = sampler->first_chain,
        .seed = sampler->stream.kind == GBS_STREAM_TORCH_CUDA ? sampler->torch_cuda.seed
                                                              : sampler->seed,
        .omega = sampler->omega,
        .order = sampler->order == GBS_ORDER_PERMUTED ? GBS_ORDER_FORWARD : sampler->order,
        .stream = gbs_device_is_fed(sampler) ? GBS_STREAM_GIVEN : sampler->stream.kind,
        .cuda_multiprocessors = sampler->stream.cuda_multiprocessors,
        .cuda_threads_per_multiprocessor = sampler->stream.cuda_threads_per_multiprocessor,
        .place = device->place,
        .site = device->place != NULL ? sampler->pass[0].site : NULL,
        .coefficients = made.matrix,
        .scale = made.scale,
        .centre = made.centre,
        .mean = exact ? sampler->model->mean : NULL,
        .bounded = constrained == NULL ? made.bounded : NULL,
        .lower = made.lower,
        .upper = made.upper,
        .overrelax = sampler->boxes.overrelax,
        .beside = sampler->boxes.beside,
        .relaxed = sampler->relaxed,
        .kind = constrained != NULL ? made.bounded : NULL,
        .rows = constrained != NULL ? &made.rows : NULL,
        .panels = whitened ? constrained->panels[0] : NULL,
        .panel_elements = whitened ? gbs_whitened_elements(sampler->dim) : 0,
        .noise_passes = device->noise_passes,
        .kept_draws = device->kept_draws,
        .staging = device->staging,
        .staging_bytes = device->staging_bytes,
    };
    if (status == GBS_OK)
        status = device->functions->plan(sampler->ctx->device, &plan, &device->sampler,
                                         gbs_device_message_of(sampler));
    give_all(sampler, &made);
    return status;
}
