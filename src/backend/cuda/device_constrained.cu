/* A sampler's whitened sweeps, and its sweeps within rows: memory when it is planned, then
 * launches. */
#include "backend/cuda/device_bounds.cuh"
#include "backend/cuda/device_sampler.cuh"

#include <limits.h>

namespace
{

/* The host's memory for what is packed there, given back with it. */
class host_memory
{
  public:
    host_memory(const gbs_device *device, int64_t count, size_t size, gbs_status *status,
                gbs_device_message message)
        : at(NULL), hooks(device->host)
    {
        int64_t bytes;
        if (*status != GBS_OK || count == 0)
            return;
        if (!__builtin_mul_overflow(count, (int64_t)size, &bytes))
            at = hooks.allocate((size_t)bytes, hooks.user);
        if (at == NULL)
            *status = refuse(message.text, message.bytes, GBS_ERROR_MEMORY,
                             "constraints: no memory for %lld elements of %zu bytes",
                             (long long)count, size);
    }
    ~host_memory()
    {
        if (at != NULL)
            hooks.release(at, hooks.user);
    }
    host_memory(const host_memory &) = delete;
    host_memory &operator=(const host_memory &) = delete;
    void *at;

  private:
    gbs_allocator hooks;
};

template <typename T>
gbs_status fill_rows(gbs_device_sampler *sampler, const gbs_device_plan *plan,
                     gbs_device_message message)
{
    const gbs_row_lists *const rows = plan->rows;
    constrained_arrays *const to = &sampler->steps;
    const int64_t dim = plan->dim, entries = pack_entries(rows), moves = pack_moves(rows, dim);
    gbs_status status = GBS_OK;
    if (rows->rows == 0)
        return GBS_OK;
    const host_memory entry(sampler->device, entries, sizeof(row_entry<T>), &status, message),
        move(sampler->device, moves, sizeof(row_move<T>), &status, message),
        row(sampler->device, moves, sizeof(int32_t), &status, message);
    if (status == GBS_OK) {
        pack_row_entries(rows, (row_entry<T> *)entry.at);
        pack_row_moves(rows, dim, (int32_t *)row.at, (row_move<T> *)move.at);
    }
    to->entry_start = gbs_device_upload(sampler, "constraints", rows->entry_start, rows->rows + 1,
                                        sizeof(int64_t), &status, message);
    to->entries = gbs_device_upload(sampler, "constraints", entry.at, entries, sizeof(row_entry<T>),
                                    &status, message);
    to->move_start = gbs_device_upload(sampler, "constraints", rows->move_start, dim + 1,
                                       sizeof(int64_t), &status, message);
    to->move_row =
        gbs_device_upload(sampler, "constraints", row.at, moves, sizeof(int32_t), &status, message);
    to->moves = gbs_device_upload(sampler, "constraints", move.at, moves, sizeof(row_move<T>),
                                  &status, message);
    return status;
}

template <typename T>
gbs_status fill_whitened(gbs_device_sampler *sampler, const gbs_device_plan *plan,
                         gbs_device_message message)
{
    constrained_arrays *const to = &sampler->steps;
    const int64_t dim = plan->dim, count = pack_panels(dim);
    gbs_status status = GBS_OK;
    const host_memory panels(sampler->device, count, sizeof(number_pair<T>), &status, message),
        boxes(sampler->device, dim, sizeof(number_pair<T>), &status, message);
    if (status == GBS_OK) {
        pack_whitened(plan, (number_pair<T> *)panels.at);
        pack_boxes(plan, (number_pair<T> *)boxes.at);
    }
    to->panels = gbs_device_upload(sampler, "whitening", panels.at, count, sizeof(number_pair<T>),
                                   &status, message);
    to->boxes = gbs_device_upload(sampler, "bounds", boxes.at, dim, sizeof(number_pair<T>), &status,
                                  message);
    to->kind = gbs_device_upload(sampler, "bounds", plan->kind, dim, 1, &status, message);
    return status;
}

gbs_status fill_sweeps(gbs_device_sampler *sampler, const gbs_device_plan *plan,
                       gbs_device_message message)
{
    gbs_status status = GBS_OK;
    const host_memory flags(sampler->device, plan->dim, 1, &status, message);
    if (status != GBS_OK)
        return status;
    pack_flags(plan->kind, plan->dim, (uint8_t *)flags.at);
    return gbs_device_fill_bounded(sampler, plan, (const uint8_t *)flags.at, message);
}

template <typename T>
gbs_status run(gbs_device_sampler *sampler, const gbs_device_run *of, gbs_device_message message)
{
    const constrained_args<T> args = constrained_arguments(gbs_device_bounded_args<T>(sampler, of),
                                                           sampler->rows, &sampler->steps);
    return gbs_cuda_constrained_launch(args, sampler->stream, message);
}

} // namespace

gbs_status gbs_device_fill_constrained(gbs_device_sampler *sampler, const gbs_device_plan *plan,
                                       gbs_device_message message)
{
    const int f32 = plan->type == GBS_F32, whitened = plan->method == GBS_METHOD_WHITENED;
    const int64_t rows = plan->rows->rows;
    int64_t numbers = 0;
    if (rows > INT_MAX - plan->dim ||
        __builtin_mul_overflow(plan->dim + rows, plan->chains, &numbers) ||
        __builtin_mul_overflow(numbers, (int64_t)size_of(plan->type), &numbers))
        return refuse(message.text, message.bytes, GBS_ERROR_LIMIT,
                      "constraints: %lld rows of %lld chains are too many for the GPU",
                      (long long)rows, (long long)plan->chains);
    sampler->rows = (int)rows;
    gbs_status status =
        f32 ? fill_rows<float>(sampler, plan, message) : fill_rows<double>(sampler, plan, message);
    if (status == GBS_OK && whitened)
        status = f32 ? fill_whitened<float>(sampler, plan, message)
                     : fill_whitened<double>(sampler, plan, message);
    else if (status == GBS_OK)
        status = fill_sweeps(sampler, plan, message);
    if (gbs_cuda_constrained_needs_workspace(plan->type, whitened, plan->dim, rows))
        sampler->workspace_bytes = (size_t)numbers;
    return status;
}

gbs_status gbs_device_run_constrained(gbs_device_sampler *sampler, const gbs_device_run *of,
                                      gbs_device_message message)
{
    return sampler->plan.type == GBS_F32 ? run<float>(sampler, of, message)
                                         : run<double>(sampler, of, message);
}
