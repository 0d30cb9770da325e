/* gbs_cuda_sweep: checks, the choice of a kernel, the launch.  Nothing here allocates or waits. */
#include "backend/cuda/device_bounds.cuh"
#include "backend/cuda/kernels.cuh"
#include "backend/cuda/launch.cuh"
#include "backend/cuda/messages.cuh"

#include <string.h>

/* From this many chains on, threads that own chains beat lanes that share one.  Gsites/s on an H200
 * at 32,768 and 65,536 chains: D = 8 held 269, 292, threads 227, 337; D = 16 218, 227 and 205, 314;
 * D = 24 124, 125 and 180, 273; D = 32 held 176, 178, shared 139, 197.  Sums at 10,240 and 16,384:
 * D = 64 73, 117, once 63, 85; D = 128 53, 85 and 40, 49; D = 256 32, 51, tiles 26, 35.  Single
 * sweeps at 16,384 and 65,536: D = 64 sums 41, 73, single 51, 52.  Shared against sums at
 * 1,048,576: D = 40 252, 179; D = 48 150, 161; double D = 32 105, 98, 64 53, 74.  Beyond 128 sites
 * doubles gain nothing by sums. */
#define MANY_CHAINS 49152
#define MANY_CHAINS_SUMS 9216
#define MANY_CHAINS_SUMS_ONCE 24576 /* one sweep or two of up to 64 places */
#define SUMS_FROM_DIM 33
#define SHARED_BEST_DIM_F32 40
#define SHARED_BEST_DIM_F64 32
#define MANY_CHAINS_24 24576 /* of 17 to 24 places */
#define THREADS_DIM_F32 24
#define THREADS_DIM_F64 16
#define LANES_DIM 128

static int noise_kind(const gbs_sweep_spec *spec, const gbs_cuda_launch *launch)
{
    const int replayed = launch->device_seed != NULL && spec->stream == GBS_STREAM_NATIVE;
    return replayed ? NATIVE_REPLAYED : (int)spec->stream;
}

/* Can this kernel take the shape at all?  `kind` is noise_kind's. */
static int fits(gbs_cuda_kernel kernel, const gbs_sweep_spec *spec, int kind)
{
    const int f32 = spec->type == GBS_F32, native = kind == GBS_STREAM_NATIVE;
    switch (kernel) {
    case GBS_CUDA_KERNEL_LANES: return spec->dim <= LANES_DIM;
    case GBS_CUDA_KERNEL_THREADS:
        return native && spec->dim <= (f32 ? THREADS_DIM_F32 : THREADS_DIM_F64);
    case GBS_CUDA_KERNEL_SHARED:
        return native && spec->dim <= (f32 ? GBS_CUDA_SHARED_DIM_F32 : GBS_CUDA_SHARED_DIM_F64);
    case GBS_CUDA_KERNEL_TILES: return 1;
    case GBS_CUDA_KERNEL_SUMS:
        return native && spec->dim <= GBS_CUDA_SUMS_DIM && spec->order != GBS_ORDER_SYMMETRIC;
    default: return 0;
    }
}

/* Is the shape one at which sums win? */
static bool suits_sums(const gbs_sweep_spec *spec, int64_t chains)
{
    const bool f32 = spec->type == GBS_F32, once = spec->sweeps <= 2 && spec->dim <= 64;
    if (chains >= MANY_CHAINS && spec->dim <= (f32 ? SHARED_BEST_DIM_F32 : SHARED_BEST_DIM_F64))
        return false;
    return spec->dim >= SUMS_FROM_DIM &&
           spec->dim <= (f32 ? GBS_CUDA_SUMS_DIM : GBS_CUDA_SUMS_HELD_DIM) &&
           chains >= (once ? MANY_CHAINS_SUMS_ONCE : MANY_CHAINS_SUMS);
}

/* Whether a workspace is needed follows from dim alone: whoever asks for its size does not know the
 * kind of noise yet. */
static gbs_cuda_kernel choose(const gbs_sweep_spec *spec, int kind)
{
    const int64_t chains = spec->groups * spec->chains;
    const int64_t many = spec->dim > 16 && spec->dim <= 24 ? MANY_CHAINS_24 : MANY_CHAINS;
    if (chains >= many && fits(GBS_CUDA_KERNEL_THREADS, spec, kind))
        return GBS_CUDA_KERNEL_THREADS;
    if (suits_sums(spec, chains) && fits(GBS_CUDA_KERNEL_SUMS, spec, kind))
        return GBS_CUDA_KERNEL_SUMS;
    if (chains >= many && fits(GBS_CUDA_KERNEL_SHARED, spec, kind))
        return GBS_CUDA_KERNEL_SHARED;
    return spec->dim <= LANES_DIM ? GBS_CUDA_KERNEL_LANES : GBS_CUDA_KERNEL_TILES;
}

static int pass_count(const gbs_sweep_spec *spec)
{
    return spec->order == GBS_ORDER_SYMMETRIC ? 2 : 1;
}

/* ---- checks ---- */

static gbs_status check(const gbs_sweep_spec *spec, char *message, size_t bytes)
{
    if (spec == NULL)
        return refuse(message, bytes, GBS_ERROR_ARGUMENT, "spec: NULL");
    if (spec->type != GBS_F32 && spec->type != GBS_F64)
        return refuse(message, bytes, GBS_ERROR_ARGUMENT, "type: %d is neither GBS_F32 nor GBS_F64",
                      (int)spec->type);
    if (spec->groups < 1 || spec->chains < 0 || spec->dim < 1 || spec->dim > (1 << 20))
        return refuse(
            message, bytes, GBS_ERROR_ARGUMENT,
            "groups: %lld, chains: %lld, dim: %lld; at least 1, 0 and 1, dim at most 2^20",
            (long long)spec->groups, (long long)spec->chains, (long long)spec->dim);
    if (spec->chains > ((int64_t)1 << 40) / spec->groups)
        return refuse(message, bytes, GBS_ERROR_LIMIT,
                      "groups: %lld, chains: %lld; together the stream numbers only 2^40",
                      (long long)spec->groups, (long long)spec->chains);
    if (spec->sweeps < 0 || spec->keep_every < 0 || spec->first_sweep < 0 || spec->first_chain < 0)
        return refuse(message, bytes, GBS_ERROR_ARGUMENT,
                      "sweeps: %lld, keep_every: %lld, first_sweep: %lld, first_chain: %lld; none "
                      "may be negative",
                      (long long)spec->sweeps, (long long)spec->keep_every,
                      (long long)spec->first_sweep, (long long)spec->first_chain);
    if (spec->order < GBS_ORDER_FORWARD || spec->order > GBS_ORDER_SYMMETRIC)
        return refuse(message, bytes, GBS_ERROR_ARGUMENT,
                      "order: %d is not forward, backward or symmetric", (int)spec->order);
    if (!(spec->omega > 0.0 && spec->omega < 2.0))
        return refuse(message, bytes, GBS_ERROR_ARGUMENT, "omega: %.17g is not in (0, 2)",
                      spec->omega);
    if (spec->stream != GBS_STREAM_NATIVE && spec->stream != GBS_STREAM_GIVEN &&
        spec->stream != GBS_STREAM_TORCH_CUDA)
        return refuse(message, bytes, GBS_ERROR_ARGUMENT,
                      "stream: %d is not native, given or torch-cuda", (int)spec->stream);
    if (spec->stream == GBS_STREAM_TORCH_CUDA) {
        if (spec->groups * spec->chains > ((int64_t)1 << 29))
            return refuse(message, bytes, GBS_ERROR_LIMIT,
                          "chains: %lld, but the torch-cuda stream takes at most 2^29",
                          (long long)(spec->groups * spec->chains));
        if (spec->cuda_multiprocessors < 1 || spec->cuda_threads_per_multiprocessor < 256)
            return refuse(
                message, bytes, GBS_ERROR_ARGUMENT,
                "cuda_multiprocessors: %d, cuda_threads_per_multiprocessor: %d; at least 1 and 256",
                (int)spec->cuda_multiprocessors, (int)spec->cuda_threads_per_multiprocessor);
    }
    const int64_t last_chain = (int64_t)1 << 40, last_sweep = ((int64_t)1 << 48) / pass_count(spec);
    if (spec->groups * spec->chains > last_chain - spec->first_chain ||
        spec->sweeps > last_sweep - spec->first_sweep)
        return refuse(message, bytes, GBS_ERROR_LIMIT,
                      "chains up to %lld or sweeps up to %lld are beyond what the stream numbers",
                      (long long)(spec->first_chain + spec->groups * spec->chains),
                      (long long)(spec->first_sweep + spec->sweeps));
    if (spec->groups > 65535 && spec->dim > LANES_DIM)
        return refuse(message, bytes, GBS_ERROR_LIMIT,
                      "groups: %lld, but at most 65535 of more than %d sites",
                      (long long)spec->groups, LANES_DIM);
    return GBS_OK;
}

static bool has_bounds(const gbs_sweep_spec *spec)
{
    return spec->lower != NULL || spec->upper != NULL;
}

/* What goes with bounds, and with over-relaxation. */
static gbs_status check_bounds(const gbs_sweep_spec *spec, const gbs_cuda_launch *how,
                               char *message, size_t bytes)
{
    if (!(spec->overrelax >= 0.0 && spec->overrelax < 1.0))
        return refuse(message, bytes, GBS_ERROR_ARGUMENT, "overrelax: %.17g is not in [0, 1)",
                      spec->overrelax);
    if (!has_bounds(spec) && spec->overrelax > 0.0)
        return refuse(message, bytes, GBS_ERROR_ARGUMENT,
                      "overrelax: %.17g, but there are no bounds; omega is 1 more",
                      spec->overrelax);
    if (!has_bounds(spec))
        return GBS_OK;
    if (spec->omega != 1.0)
        return refuse(message, bytes, GBS_ERROR_ARGUMENT,
                      "omega: %.17g, but sites with bounds cannot overshoot; overrelax can",
                      spec->omega);
    if (spec->stream != GBS_STREAM_NATIVE)
        return refuse(message, bytes, GBS_ERROR_ARGUMENT,
                      "stream: %d, but draws between bounds take words of the native stream",
                      (int)spec->stream);
    if (how != NULL && how->workspace == NULL && spec->groups * spec->chains > 0)
        return refuse(message, bytes, GBS_ERROR_ARGUMENT, "workspace: NULL");
    if (how != NULL && how->workspace_bytes < gbs_cuda_bounded_workspace(spec))
        return refuse(message, bytes, GBS_ERROR_ARGUMENT,
                      "workspace_bytes: %zu, but %zu are needed", how->workspace_bytes,
                      gbs_cuda_bounded_workspace(spec));
    return GBS_OK;
}

static gbs_status check_pointers(const gbs_sweep_spec *spec, char *message, size_t bytes)
{
    const char *missing = spec->precision == NULL ? "precision"
                          : spec->x == NULL       ? "x"
                          : spec->out == NULL     ? "out"
                          : spec->location == NULL && spec->location_kind != GBS_LOCATION_ZERO
                              ? "location"
                          : spec->kept == NULL && spec->keep_every > 0              ? "kept"
                          : spec->noise == NULL && spec->stream == GBS_STREAM_GIVEN ? "noise"
                                                                                    : NULL;
    if (missing != NULL)
        return refuse(message, bytes, GBS_ERROR_ARGUMENT, "%s: NULL", missing);
    return GBS_OK;
}

/* ---- arguments ---- */

static uint64_t torch_threads(const gbs_sweep_spec *spec)
{
    const uint64_t n = (uint64_t)(spec->groups * spec->chains);
    const uint64_t most = (uint64_t)spec->cuda_multiprocessors *
                          ((uint64_t)spec->cuda_threads_per_multiprocessor / 256);
    const uint64_t blocks = (n + 255) / 256;
    return 256 * (blocks < most ? blocks : most);
}

static void set_strides(int64_t to[3], const int64_t from[3], const gbs_sweep_spec *spec)
{
    memcpy(to, from, 3 * sizeof to[0]);
    if (from[0] == 0 && from[1] == 0 && from[2] == 0) {
        to[2] = 1;
        to[1] = spec->dim;
        to[0] = spec->chains * spec->dim;
    }
}

void gbs_cuda_set_key(uint64_t seed, uint32_t key[10][2])
{
    for (uint32_t round = 0; round < 10; ++round) {
        key[round][0] = (uint32_t)seed + round * 0x9E3779B9u;
        key[round][1] = (uint32_t)(seed >> 32) + round * 0xBB67AE85u;
    }
}

gbs_sweep_args gbs_cuda_arguments(const gbs_sweep_spec *spec, const gbs_cuda_launch *launch)
{
    gbs_sweep_args a;
    memset(&a, 0, sizeof a);
    a.groups = spec->groups;
    a.chains = spec->chains;
    a.dim = spec->dim;
    a.precision = spec->precision;
    a.precision_group_stride = spec->precision_group_stride;
    a.precision_row_stride =
        spec->precision_row_stride != 0 ? spec->precision_row_stride : spec->dim;
    a.location = spec->location;
    a.location_group_stride = spec->location_group_stride;
    a.location_kind = spec->location_kind;
    a.omega = spec->omega;
    a.relaxed = spec->omega != 1.0;
    a.x = spec->x;
    a.out = spec->out;
    set_strides(a.x_stride, spec->x_stride, spec);
    set_strides(a.out_stride, spec->out_stride, spec);
    a.sweeps = spec->sweeps;
    a.passes = pass_count(spec);
    a.first_direction = spec->order == GBS_ORDER_BACKWARD ? -1 : 1;
    a.keep_every = spec->keep_every;
    a.kept = spec->kept;
    a.noise.kind = spec->stream;
    gbs_cuda_set_key(spec->seed, a.noise.key);
    a.noise.device_seed = launch->device_seed;
    a.noise.device_offset = launch->device_offset;
    a.noise.settled = (launch->device_seed == NULL && launch->device_offset == NULL) ||
                      launch->device_state_settled;
    a.noise.call_elements = spec->groups * spec->chains;
    a.noise.first_pass = (uint64_t)spec->first_sweep * (uint64_t)a.passes;
    a.noise.first_chain = (uint64_t)spec->first_chain;
    a.noise.given = spec->noise;
    a.noise.torch_offset = spec->torch_offset;
    if (spec->stream == GBS_STREAM_TORCH_CUDA && a.noise.call_elements > 0) {
        const uint64_t threads = torch_threads(spec), unroll = spec->type == GBS_F32 ? 4 : 2;
        a.noise.call_threads = (uint32_t)threads;
        a.noise.call_advance = 4 * (((uint64_t)a.noise.call_elements - 1) / (threads * unroll) + 1);
    }
    return a;
}

static bool fits_held(const gbs_sweep_spec *spec, int kind)
{
    return spec->sweeps > 1 && pass_count(spec) == 1 && kind == GBS_STREAM_NATIVE &&
           spec->dim <= (spec->type == GBS_F32 ? GBS_CUDA_HELD_DIM_F32 : GBS_CUDA_HELD_DIM_F64);
}

/* Four places of every chain lie together, so that one access of 16 bytes takes them. */
static bool in_quads(const void *base, const int64_t stride[3])
{
    return (uintptr_t)base % 16 == 0 && stride[2] == 1 && stride[1] % 4 == 0 && stride[1] >= 0 &&
           stride[1] <= INT32_MAX;
}

/* Is the call what sweep_single is for? */
static bool fits_single(const gbs_sweep_spec *spec, const gbs_sweep_args *a, int kind)
{
    const gbs_noise_args *const n = &a->noise;
    if (spec->type != GBS_F32 || a->groups != 1 || a->sweeps != 1 || a->passes != 1 ||
        a->first_direction < 0 || a->relaxed || a->keep_every != 0 || a->ready_scale != NULL ||
        a->location_kind == GBS_LOCATION_MEAN || a->dim % 4 != 0 || a->dim > GBS_CUDA_SINGLE_DIM ||
        a->chains > INT32_MAX / 2 || a->precision_row_stride % 4 != 0 ||
        a->precision_row_stride > INT32_MAX || (uintptr_t)a->precision % 16 != 0 ||
        !in_quads(a->x, a->x_stride) || !in_quads(a->out, a->out_stride))
        return false;
    if (kind == GBS_STREAM_TORCH_CUDA)
        return n->call_elements <= n->call_threads;
    return kind == GBS_STREAM_NATIVE && n->purpose == 0 && n->first_pass <= UINT32_MAX &&
           n->first_chain + (uint64_t)a->chains <= UINT32_MAX;
}

static gbs_single_args single_arguments_of(const gbs_sweep_spec *spec, const gbs_sweep_args *a)
{
    gbs_single_args s;
    memset(&s, 0, sizeof s);
    s.precision = (const float *)a->precision;
    s.location = (const float *)a->location;
    s.x = (const float *)a->x;
    s.out = (float *)a->out;
    s.device_seed = a->noise.device_seed;
    s.device_offset = a->noise.device_offset;
    s.seed = spec->seed;
    s.offset = a->noise.torch_offset;
    s.dim = (int32_t)a->dim;
    s.chains = (int32_t)a->chains;
    s.row_stride = (int32_t)a->precision_row_stride;
    s.x_stride = (int32_t)a->x_stride[1];
    s.out_stride = (int32_t)a->out_stride[1];
    s.location_kind = a->location_kind;
    s.first_chain = (uint32_t)a->noise.first_chain;
    s.pass = (uint32_t)a->noise.first_pass;
    s.settled = a->noise.settled;
    return s;
}

/* ---- launches ---- */

/* May a kernel start while the one before it in the stream still runs, and wait for it itself? */
static bool can_overlap(void)
{
    int device = 0, major = 0;
    return cudaGetDevice(&device) == cudaSuccess &&
           cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) ==
               cudaSuccess &&
           major >= 9;
}

static gbs_status launch_kernel(const void *kernel, int64_t chains_per_block, int threads,
                                size_t shared_bytes, bool waits, const gbs_sweep_args *a,
                                void **arguments, cudaStream_t stream, char *message, size_t bytes)
{
    const int64_t blocks = a->groups * ((a->chains + chains_per_block - 1) / chains_per_block);
    if (blocks > MAX_GRID)
        return refuse(message, bytes, GBS_ERROR_LIMIT, "chains: %lld are too many for one launch",
                      (long long)(a->groups * a->chains));
    if (shared_bytes > 48 * 1024) {
        const cudaError_t error = cudaFuncSetAttribute(
            kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared_bytes);
        if (error != cudaSuccess)
            return from_cuda(error, "shared memory", message, bytes);
    }
    cudaLaunchAttribute overlap;
    memset(&overlap, 0, sizeof overlap);
    overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlap.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config;
    memset(&config, 0, sizeof config);
    config.gridDim = dim3((unsigned)blocks);
    config.blockDim = dim3((unsigned)threads);
    config.dynamicSmemBytes = shared_bytes;
    config.stream = stream;
    config.attrs = &overlap;
    config.numAttrs = waits && can_overlap() ? 1 : 0;
    return from_cuda(cudaLaunchKernelExC(&config, kernel, arguments), "launch", message, bytes);
}

static gbs_status launch_instance(const gbs_cuda_instance *instance, gbs_sweep_args a,
                                  cudaStream_t stream, char *message, size_t bytes)
{
    void *arguments[] = {&a};
    return launch_kernel((const void *)instance->kernel, instance->chains, instance->threads,
                         instance->shared_bytes, instance->waits, &a, arguments, stream, message,
                         bytes);
}

static gbs_status launch_single(const gbs_sweep_spec *spec, const gbs_sweep_args *a, int kind,
                                cudaStream_t stream, char *message, size_t bytes)
{
    const gbs_single_instance instance = gbs_cuda_single(spec->dim, (gbs_stream)kind);
    gbs_single_args s = single_arguments_of(spec, a);
    void *arguments[] = {&s};
    return launch_kernel((const void *)instance.kernel, instance.chains, instance.threads, 0, true,
                         a, arguments, stream, message, bytes);
}

extern "C" const char *gbs_cuda_sweep_kernel(const gbs_sweep_spec *spec, gbs_cuda_kernel kernel)
{
    static const char *const names[][2] = {
        {"sweep_once_f32", "sweep_once_f64"},     {"sweep_held_f32", "sweep_held_f64"},
        {"sweep_single_f32", "sweep_single_f32"}, {"sweep_threads_f32", "sweep_threads_f64"},
        {"sweep_shared_f32", "sweep_shared_f64"}, {"sweep_tiles_f32", "sweep_tiles_f64"},
        {"sweep_sums_f32", "sweep_sums_f64"}};
    gbs_cuda_launch plain;
    memset(&plain, 0, sizeof plain);
    if (kernel == GBS_CUDA_KERNEL_AUTO)
        kernel = choose(spec, spec->stream);
    int name = 1 + (int)kernel;
    if (kernel == GBS_CUDA_KERNEL_LANES) {
        const gbs_sweep_args a = gbs_cuda_arguments(spec, &plain);
        name = fits_single(spec, &a, spec->stream) ? 2 : fits_held(spec, spec->stream) ? 1 : 0;
    }
    return names[name][spec->type == GBS_F64];
}

extern "C" gbs_status gbs_cuda_available(char *message, size_t message_bytes)
{
    int device = 0, major = 0;
    gbs_status status = from_cuda(cudaGetDevice(&device), "device", message, message_bytes);
    if (status == GBS_OK)
        status =
            from_cuda(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
                      "device", message, message_bytes);
    if (status == GBS_OK && major < 8)
        status =
            refuse(message, message_bytes, GBS_ERROR_UNAVAILABLE,
                   "device %d: compute capability %d.x, but 8.0 or later is needed", device, major);
    return status;
}

static bool needs_packing(const gbs_sweep_spec *spec, gbs_cuda_kernel kernel)
{
    const gbs_cuda_kernel it =
        kernel != GBS_CUDA_KERNEL_AUTO ? kernel : choose(spec, (int)spec->stream);
    return it == GBS_CUDA_KERNEL_TILES ||
           (it == GBS_CUDA_KERNEL_SUMS && spec->dim > GBS_CUDA_SUMS_HELD_DIM);
}

extern "C" gbs_status gbs_cuda_sweep_workspace(const gbs_sweep_spec *spec, gbs_cuda_kernel kernel,
                                               size_t *bytes)
{
    const gbs_status status = check(spec, NULL, 0);
    if (bytes == NULL)
        return GBS_ERROR_ARGUMENT;
    *bytes = 0;
    if (status == GBS_OK && has_bounds(spec))
        *bytes = gbs_cuda_bounded_workspace(spec);
    else if (status == GBS_OK && needs_packing(spec, kernel))
        *bytes = gbs_cuda_tiles_workspace(spec);
    return status;
}

gbs_status gbs_cuda_sweep_ready(const gbs_sweep_spec *spec, const gbs_cuda_launch *launch,
                                const gbs_cuda_ready *ready, char *message, size_t message_bytes)
{
    gbs_cuda_launch plain;
    memset(&plain, 0, sizeof plain);
    const gbs_cuda_launch *const how = launch != NULL ? launch : &plain;
    gbs_status status = check(spec, message, message_bytes);
    if (status == GBS_OK && spec->groups * spec->chains > 0)
        status = check_pointers(spec, message, message_bytes);
    if (status == GBS_OK)
        status = check_bounds(spec, how, message, message_bytes);
    if (status != GBS_OK || spec->groups * spec->chains == 0)
        return status;
    if (has_bounds(spec))
        return gbs_cuda_bounded_sweep(spec, how, gbs_device_message{message, message_bytes});
    if (how->device_seed != NULL && spec->stream == GBS_STREAM_GIVEN)
        return refuse(message, message_bytes, GBS_ERROR_ARGUMENT,
                      "device_seed: given normals need no seed");
    gbs_sweep_args a = gbs_cuda_arguments(spec, how);
    if (ready != NULL) {
        a.ready_scale = ready->scale;
        a.ready_centre = ready->centre;
    }
    const cudaStream_t stream = (cudaStream_t)how->stream;
    const int kind = noise_kind(spec, how);
    const gbs_cuda_kernel kernel =
        how->kernel != GBS_CUDA_KERNEL_AUTO ? how->kernel : choose(spec, kind);
    if (!fits(kernel, spec, kind))
        return refuse(message, message_bytes, GBS_ERROR_ARGUMENT,
                      "kernel: %d does not take dim %lld and stream %d%s", (int)kernel,
                      (long long)spec->dim, (int)spec->stream,
                      kind == NATIVE_REPLAYED ? " with device_seed" : "");
    const int f32 = spec->type == GBS_F32;
    gbs_cuda_instance instance;
    switch (kernel) {
    case GBS_CUDA_KERNEL_THREADS:
        instance = f32 ? gbs_cuda_threads_f32(spec->dim) : gbs_cuda_threads_f64(spec->dim);
        break;
    case GBS_CUDA_KERNEL_SHARED:
        instance = f32 ? gbs_cuda_shared_f32(spec->dim) : gbs_cuda_shared_f64(spec->dim);
        break;
    case GBS_CUDA_KERNEL_SUMS:
        if (spec->dim > GBS_CUDA_SUMS_HELD_DIM)
            return gbs_cuda_tiles_launch(spec, how, kernel, &a, ready != NULL && ready->packed,
                                         message, message_bytes);
        instance =
            gbs_cuda_sums(spec->type, spec->dim, spec->groups * spec->chains, a.first_direction);
        break;
    case GBS_CUDA_KERNEL_LANES:
        if (fits_single(spec, &a, kind))
            return launch_single(spec, &a, kind, stream, message, message_bytes);
        if (!fits_held(spec, kind))
            instance = gbs_cuda_once(spec->type, spec->dim, kind);
        else
            instance = f32 ? gbs_cuda_held_f32(spec->dim, a.relaxed)
                           : gbs_cuda_held_f64(spec->dim, a.relaxed);
        break;
    default:
        return gbs_cuda_tiles_launch(spec, how, kernel, &a, ready != NULL && ready->packed, message,
                                     message_bytes);
    }
    return launch_instance(&instance, a, stream, message, message_bytes);
}

extern "C" gbs_status gbs_cuda_sweep(const gbs_sweep_spec *spec, const gbs_cuda_launch *launch,
                                     char *message, size_t message_bytes)
{
    return gbs_cuda_sweep_ready(spec, launch, NULL, message, message_bytes);
}
