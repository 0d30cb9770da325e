/* Launches of the kernel for many places (tiles.cuh): how the rows are cut into panels, where
 * coefficients and states lie in the caller's workspace, the packing and the sweep. */
#include "backend/cuda/kernels.cuh"
#include "backend/cuda/messages.cuh"
#include "backend/cuda/panel_shape.cuh"

#include <string.h>

typedef struct tile_layout {
    size_t packed[2], records[2], state, bytes; /* offsets, and all of it */
} tile_layout;

static size_t up_to_256(size_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

static int64_t blocks_of(const gbs_sweep_spec *spec)
{
    return spec->groups * ((spec->chains + PANEL_CHAINS - 1) / PANEL_CHAINS);
}

static gbs_tile_instance instance_of(const gbs_sweep_spec *spec)
{
    return gbs_cuda_tiles(spec->type, spec->dim, blocks_of(spec));
}

/* As few panels as registers allow, of about equal size. */
static gbs_tile_args shape_of(const gbs_sweep_spec *spec)
{
    const int most = instance_of(spec).rows;
    const int needed = (int)((spec->dim + PANEL_GROUP - 1) / PANEL_GROUP);
    /* a group is handed over while another is finished */
    const int groups = needed < 2 ? 2 : needed;
    const int slabs = (groups + 7) / 8, panels = (slabs * PANEL_SLAB + most - 1) / most;
    gbs_tile_args t;
    memset(&t, 0, sizeof t);
    t.groups = groups;
    t.rows = (slabs + panels - 1) / panels * PANEL_SLAB;
    t.panels = (slabs * PANEL_SLAB + t.rows - 1) / t.rows;
    t.stride = most;
    t.packed_group_stride = (int64_t)t.panels * most * groups * PANEL_GROUP;
    t.record_group_stride = (int64_t)groups * PANEL_RECORD;
    return t;
}

static tile_layout lay_out(const gbs_sweep_spec *spec, const gbs_tile_args *t)
{
    const size_t size = spec->type == GBS_F32 ? sizeof(float) : sizeof(double);
    const size_t models = (size_t)spec->groups;
    const size_t matrix = up_to_256(models * (size_t)t->packed_group_stride * size);
    const size_t records = up_to_256(models * (size_t)t->record_group_stride * size);
    const size_t forward = spec->order != GBS_ORDER_BACKWARD,
                 backward = spec->order != GBS_ORDER_FORWARD;
    tile_layout layout;
    layout.packed[0] = 0;
    layout.packed[1] = forward * matrix;
    layout.records[0] = (forward + backward) * matrix;
    layout.records[1] = layout.records[0] + forward * records;
    layout.state = layout.records[0] + (forward + backward) * records;
    layout.bytes = layout.state + up_to_256((size_t)blocks_of(spec) * (size_t)t->groups *
                                            PANEL_GROUP * PANEL_CHAINS * size);
    return layout;
}

size_t gbs_cuda_tiles_workspace(const gbs_sweep_spec *spec)
{
    const gbs_tile_args t = shape_of(spec);
    return lay_out(spec, &t).bytes;
}

/* As many stages in flight as a block's shared memory holds. */
static cudaError_t choose_stages(const gbs_tile_instance *instance, int32_t *stages)
{
    int device = 0, most = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    *stages = PANEL_STAGES;
    while (*stages > 2 && instance->shared_bytes[*stages] > (size_t)most)
        --*stages;
    return error;
}

/* A kernel's shape for this launch. */
static cudaError_t instance_for(const gbs_sweep_spec *spec, gbs_cuda_kernel kernel,
                                gbs_packed_instance *instance, int32_t *stages)
{
    if (kernel == GBS_CUDA_KERNEL_SUMS) {
        *instance = gbs_cuda_sums_packed(spec->type, spec->dim);
        return cudaSuccess;
    }
    const gbs_tile_instance tiles = instance_of(spec);
    const cudaError_t error = choose_stages(&tiles, stages);
    *instance = {tiles.kernel, tiles.threads, PANEL_CHAINS, tiles.shared_bytes[*stages]};
    return error;
}

gbs_status gbs_cuda_tiles_launch(const gbs_sweep_spec *spec, const gbs_cuda_launch *launch,
                                 gbs_cuda_kernel kernel, const gbs_sweep_args *a, int packed,
                                 char *message, size_t bytes)
{
    gbs_tile_args t = shape_of(spec);
    const tile_layout layout = lay_out(spec, &t);
    const cudaStream_t stream = (cudaStream_t)launch->stream;
    char *const base = (char *)launch->workspace;
    if (base == NULL || launch->workspace_bytes < layout.bytes)
        return refuse(message, bytes, GBS_ERROR_ARGUMENT,
                      "workspace: %zu bytes at %p, but %zu are needed", launch->workspace_bytes,
                      launch->workspace, layout.bytes);
    gbs_packed_instance instance;
    cudaError_t error = instance_for(spec, kernel, &instance, &t.stages);
    if (error != cudaSuccess)
        return from_cuda(error, "device", message, bytes);
    const int64_t blocks = spec->groups * ((spec->chains + instance.chains - 1) / instance.chains);
    if (blocks > MAX_GRID)
        return refuse(message, bytes, GBS_ERROR_LIMIT, "chains: %lld are too many for one launch",
                      (long long)(spec->groups * spec->chains));
    for (int backward = 0; backward < 2; ++backward) {
        t.packed[backward] = base + layout.packed[backward];
        t.records[backward] = base + layout.records[backward];
    }
    t.state = base + layout.state;
    for (int backward = 0; backward < 2 && error == cudaSuccess && !packed; ++backward)
        if ((backward ? GBS_ORDER_FORWARD : GBS_ORDER_BACKWARD) != spec->order)
            error = gbs_cuda_pack_tiles(spec->type, a, &t, backward, stream);
    if (error != cudaSuccess)
        return from_cuda(error, "packing", message, bytes);
    error = cudaFuncSetAttribute((const void *)instance.kernel,
                                 cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 (int)instance.shared_bytes);
    if (error != cudaSuccess)
        return from_cuda(error, "shared memory", message, bytes);
    instance
        .kernel<<<(unsigned)blocks, (unsigned)instance.threads, instance.shared_bytes, stream>>>(*a,
                                                                                                 t);
    return from_cuda(cudaGetLastError(), "launch", message, bytes);
}
