/* What a device is told of a sampler: the coefficients, in rows by place, rounded as the CPU's
 * panels are. */
#include "model/condition.h"
#include "sampler/on_device_internal.h"
#include "sampler/plan.h"
#include "sampler/rows.h"

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
    uint8_t *bounded;
} coefficients;

static void fill_sweep(gbs_sampler *sampler, const coefficients *to)
{
    const gbs_rows rows = gbs_plan_rows(sampler, sampler->omega);
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

gbs_status gbs_on_device_plan(gbs_sampler *sampler)
{
    struct gbs_on_device *const device = sampler->on_device;
    const gbs_allocator *const allocator = &sampler->ctx->allocator;
    const int exact = sampler->method == GBS_METHOD_EXACT;
    gbs_status status = GBS_OK;
    coefficients made = {.matrix =
                             take(sampler, "coefficients", sampler->dim, sampler->dim, &status)};
    if (!exact) {
        made.scale = take(sampler, "coefficients", 1, sampler->dim, &status);
        made.centre = take(sampler, "coefficients", 1, sampler->dim, &status);
        made.row = take(sampler, "coefficients", 1, sampler->dim, &status);
    }
    if (gbs_boxes_any(sampler)) {
        made.lower = take(sampler, "bounds", 1, sampler->dim, &status);
        made.upper = take(sampler, "bounds", 1, sampler->dim, &status);
        made.bounded = take(sampler, "bounds", 1, sampler->dim, &status);
    }
    if (status == GBS_OK && made.bounded != NULL)
        fill_boxes(sampler, &made);
    if (status == GBS_OK && exact)
        fill_solve(sampler, &made);
    if (status == GBS_OK && !exact)
        fill_sweep(sampler, &made);
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
        .bounded = made.bounded,
        .lower = made.lower,
        .upper = made.upper,
        .overrelax = sampler->boxes.overrelax,
        .beside = sampler->boxes.beside,
        .relaxed = sampler->relaxed,
        .noise_passes = device->noise_passes,
        .kept_draws = device->kept_draws,
        .staging = device->staging,
        .staging_bytes = device->staging_bytes,
    };
    if (status == GBS_OK)
        status = device->functions->plan(sampler->ctx->device, &plan, &device->sampler,
                                         gbs_device_message_of(sampler));
    gbs_memory_give(allocator, made.bounded);
    gbs_memory_give(allocator, made.upper);
    gbs_memory_give(allocator, made.lower);
    gbs_memory_give(allocator, made.row);
    gbs_memory_give(allocator, made.centre);
    gbs_memory_give(allocator, made.scale);
    gbs_memory_give(allocator, made.matrix);
    return status;
}
