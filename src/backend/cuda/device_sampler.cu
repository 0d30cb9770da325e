/* A sampler's chains on a GPU: its memory is taken when it is planned, and a run is launches on a
 * stream of its own.  The sweeps are gbs_cuda_sweep's kernels with the coefficients that the host
 * rounded, so that the bits are the CPU's for every model, in float too. */
#include "backend/cuda/device_bounds.cuh"
#include "backend/cuda/device_moments.cuh"
#include "backend/cuda/device_sampler.cuh"
#include "backend/cuda/exact_solve.cuh"
#include "backend/cuda/noise_fill.cuh"

#include <string.h>

#define PURPOSE_EXACT 5 /* counter word 3 (backend/backend.h) */

static int64_t state_elements(const gbs_device_plan *plan)
{
    return plan->chains * plan->dim;
}

/* Does noise go through memory? */
static int is_buffered(const gbs_device_plan *plan, int permuted)
{
    if (plan->bounded != NULL || plan->kind != NULL)
        return plan->stream == GBS_STREAM_GIVEN;
    return plan->stream == GBS_STREAM_GIVEN || plan->method == GBS_METHOD_EXACT ||
           (plan->stream == GBS_STREAM_NATIVE && permuted);
}

static gbs_status waited(const gbs_device_sampler *sampler, const char *what,
                         gbs_device_message message)
{
    return from_cuda(cudaStreamSynchronize(sampler->stream), what, message.text, message.bytes);
}

static gbs_status copy(const gbs_device_sampler *sampler, const char *what, void *to,
                       const void *from, size_t bytes, cudaMemcpyKind kind,
                       gbs_device_message message)
{
    const gbs_status status = from_cuda(cudaMemcpyAsync(to, from, bytes, kind, sampler->stream),
                                        what, message.text, message.bytes);
    return status == GBS_OK ? waited(sampler, what, message) : status;
}

/* ---- the sweep ---- */

static gbs_sweep_spec sweep_spec(const gbs_device_sampler *sampler, const gbs_device_run *run)
{
    const gbs_device_plan *const plan = &sampler->plan;
    const int buffered = is_buffered(plan, sampler->place != NULL);
    gbs_sweep_spec spec;
    memset(&spec, 0, sizeof spec);
    spec.type = plan->type;
    spec.groups = 1;
    spec.chains = plan->chains;
    spec.dim = plan->dim;
    spec.precision = sampler->coefficients;
    spec.location_kind = GBS_LOCATION_ZERO;
    spec.x = spec.out = sampler->state;
    spec.sweeps = run->sweeps;
    spec.order = plan->order;
    spec.omega = plan->omega;
    spec.keep_every = run->keep_every;
    spec.kept = (char *)sampler->kept +
                (size_t)(run->keep_from * state_elements(plan)) * size_of(plan->type);
    spec.stream = buffered ? GBS_STREAM_GIVEN : plan->stream;
    spec.seed = plan->seed;
    spec.first_sweep = buffered ? 0 : run->first_sweep;
    spec.first_chain = plan->first_chain;
    spec.noise = sampler->noise;
    spec.torch_offset = run->torch_offset;
    spec.cuda_multiprocessors = plan->cuda_multiprocessors;
    spec.cuda_threads_per_multiprocessor = plan->cuda_threads_per_multiprocessor;
    return spec;
}

/* The workspace that any run may need: how many sweeps it makes may choose another kernel. */
static gbs_status size_workspace(gbs_device_sampler *sampler, gbs_device_message message)
{
    static const int64_t sweeps[] = {1, 2, 1000};
    for (size_t k = 0; k < sizeof sweeps / sizeof sweeps[0]; ++k) {
        gbs_device_run run;
        memset(&run, 0, sizeof run);
        run.sweeps = sweeps[k];
        const gbs_sweep_spec spec = sweep_spec(sampler, &run);
        size_t bytes = 0;
        if (gbs_cuda_sweep_workspace(&spec, GBS_CUDA_KERNEL_AUTO, &bytes) != GBS_OK)
            return refuse(message.text, message.bytes, GBS_ERROR_LIMIT,
                          "sampler: %lld chains of %lld sites are too many for the GPU",
                          (long long)sampler->plan.chains, (long long)sampler->plan.dim);
        if (bytes > sampler->workspace_bytes)
            sampler->workspace_bytes = bytes;
    }
    return GBS_OK;
}

static gbs_status sweep(gbs_device_sampler *sampler, const gbs_device_run *run,
                        gbs_device_message message)
{
    const gbs_sweep_spec spec = sweep_spec(sampler, run);
    const gbs_cuda_ready ready = {sampler->scale, sampler->centre, sampler->packed};
    gbs_cuda_launch launch;
    memset(&launch, 0, sizeof launch);
    launch.stream = sampler->stream;
    launch.workspace = sampler->workspace;
    launch.workspace_bytes = sampler->workspace_bytes;
    size_t used = 0;
    gbs_status status = gbs_cuda_sweep_workspace(&spec, GBS_CUDA_KERNEL_AUTO, &used);
    if (status == GBS_OK)
        status = gbs_cuda_sweep_ready(&spec, &launch, &ready, message.text, message.bytes);
    if (used > 0)
        sampler->packed = status == GBS_OK;
    return status;
}

/* ---- sweeps between bounds ---- */

template <typename T>
bounded_args<T> gbs_device_bounded_args(const gbs_device_sampler *sampler,
                                        const gbs_device_run *run)
{
    const gbs_device_plan *const plan = &sampler->plan;
    bounded_args<T> a;
    memset(&a, 0, sizeof a);
    a.groups = a.models = 1;
    a.dim = plan->dim;
    a.chains = plan->chains;
    a.columns = (const T *)sampler->columns;
    a.scale = (const T *)sampler->scale;
    a.centre = (const T *)sampler->centre;
    a.lower = (const T *)sampler->lower;
    a.upper = (const T *)sampler->upper;
    a.bounded = (const uint8_t *)sampler->bounded;
    a.site = (const int64_t *)sampler->site;
    a.relaxed = plan->relaxed;
    a.overrelaxed = plan->overrelax > 0.0;
    a.overrelax = (T)plan->overrelax;
    a.beside = (T)plan->beside;
    gbs_cuda_set_key(plan->seed, a.key);
    a.passes = passes_of(plan);
    a.first_pass = (uint64_t)run->first_sweep * (uint64_t)a.passes;
    a.first_chain = (uint64_t)plan->first_chain;
    a.given = plan->stream == GBS_STREAM_GIVEN ? (const T *)sampler->noise : NULL;
    a.x = a.out = (T *)sampler->state;
    a.x_stride[1] = a.out_stride[1] = plan->dim;
    a.x_stride[2] = a.out_stride[2] = 1;
    a.workspace = (T *)sampler->workspace;
    a.sweeps = run->sweeps;
    a.first_direction = plan->order == GBS_ORDER_BACKWARD ? -1 : 1;
    a.keep_every = run->keep_every;
    a.kept = (T *)sampler->kept + run->keep_from * state_elements(plan);
    return a;
}

template bounded_args<float> gbs_device_bounded_args(const gbs_device_sampler *,
                                                     const gbs_device_run *);
template bounded_args<double> gbs_device_bounded_args(const gbs_device_sampler *,
                                                      const gbs_device_run *);

static gbs_status sweep_between(gbs_device_sampler *sampler, const gbs_device_run *run,
                                gbs_device_message message)
{
    return sampler->plan.type == GBS_F32
               ? gbs_cuda_bounded_launch(gbs_device_bounded_args<float>(sampler, run),
                                         sampler->stream, message)
               : gbs_cuda_bounded_launch(gbs_device_bounded_args<double>(sampler, run),
                                         sampler->stream, message);
}

/* ---- noise and exact draws ---- */

static unsigned blocks_for(int64_t count, int64_t threads)
{
    const int64_t wanted = (count + threads - 1) / threads, most = 1 << 20;
    return (unsigned)(wanted < most ? wanted : most);
}

/* Fills the noise of `passes` passes; nothing to do where the host has sent it. */
static gbs_status make_noise(gbs_device_sampler *sampler, const gbs_device_run *run, int64_t passes,
                             gbs_device_message message)
{
    const gbs_device_plan *const plan = &sampler->plan;
    gbs_cuda_launch launch;
    memset(&launch, 0, sizeof launch);
    if (plan->stream == GBS_STREAM_GIVEN)
        return GBS_OK;
    gbs_sweep_spec spec = sweep_spec(sampler, run);
    spec.stream = plan->stream;
    spec.first_sweep = run->first_sweep;
    gbs_sweep_args a = gbs_cuda_arguments(&spec, &launch);
    if (plan->method == GBS_METHOD_EXACT)
        a.noise.purpose = PURPOSE_EXACT;
    const unsigned threads = 256,
                   blocks = blocks_for(passes * ((plan->dim + 3) / 4) * plan->chains, threads);
    const int64_t *const place = (const int64_t *)sampler->place;
    const int torch = plan->stream == GBS_STREAM_TORCH_CUDA;
    if (plan->type == GBS_F32 && torch)
        fill_noise<float, GBS_STREAM_TORCH_CUDA>
            <<<blocks, threads, 0, sampler->stream>>>(a, place, passes, (float *)sampler->noise);
    else if (plan->type == GBS_F32)
        fill_noise<float, GBS_STREAM_NATIVE>
            <<<blocks, threads, 0, sampler->stream>>>(a, place, passes, (float *)sampler->noise);
    else if (torch)
        fill_noise<double, GBS_STREAM_TORCH_CUDA>
            <<<blocks, threads, 0, sampler->stream>>>(a, place, passes, (double *)sampler->noise);
    else
        fill_noise<double, GBS_STREAM_NATIVE>
            <<<blocks, threads, 0, sampler->stream>>>(a, place, passes, (double *)sampler->noise);
    return from_cuda(cudaGetLastError(), "noise", message.text, message.bytes);
}

template <typename T>
static gbs_status solve(gbs_device_sampler *sampler, const gbs_device_run *run,
                        gbs_device_message message)
{
    const gbs_device_plan *const plan = &sampler->plan;
    exact_args<T> a;
    a.dim = plan->dim;
    a.chains = plan->chains;
    a.draws = run->sweeps;
    a.factor = (const T *)sampler->coefficients;
    a.mean = (const double *)sampler->mean;
    a.y = (T *)sampler->noise;
    a.kept =
        run->keep_every > 0 ? (T *)sampler->kept + run->keep_from * state_elements(plan) : NULL;
    a.state = (T *)sampler->state;
    const int64_t threads = 128, blocks = (run->sweeps * plan->chains + threads - 1) / threads;
    if (blocks > 2147483647LL)
        return refuse(message.text, message.bytes, GBS_ERROR_LIMIT,
                      "chains: %lld are too many for one launch", (long long)plan->chains);
    exact_solve<T><<<(unsigned)blocks, (unsigned)threads, 0, sampler->stream>>>(a);
    return from_cuda(cudaGetLastError(), "exact draws", message.text, message.bytes);
}

gbs_status gbs_device_sampler_run(gbs_device_sampler *sampler, const gbs_device_run *run,
                                  gbs_device_message message)
{
    const gbs_device_plan *const plan = &sampler->plan;
    const current_device current(sampler->device, message);
    gbs_status status = current.status;
    if (status == GBS_OK && is_buffered(plan, sampler->place != NULL))
        status = make_noise(sampler, run, run->sweeps * passes_of(plan), message);
    if (status != GBS_OK)
        return status;
    if (plan->kind != NULL)
        status = gbs_device_run_constrained(sampler, run, message);
    else if (plan->bounded != NULL)
        status = sweep_between(sampler, run, message);
    else if (plan->method != GBS_METHOD_EXACT)
        status = sweep(sampler, run, message);
    else
        status = plan->type == GBS_F32 ? solve<float>(sampler, run, message)
                                       : solve<double>(sampler, run, message);
    const gbs_status done = waited(sampler, "sweeps", message);
    return status != GBS_OK ? status : done;
}

/* ---- making ---- */

void *gbs_device_upload(const gbs_device_sampler *sampler, const char *what, const void *from,
                        int64_t count, size_t size, gbs_status *status, gbs_device_message message)
{
    if (from == NULL)
        return NULL;
    /* sweep_bounded reads vectors by whole groups of rows */
    const int64_t room = count + BOUNDED_PADDING;
    void *const to = gbs_device_take(sampler->device, what, room, size, status, message);
    if (*status == GBS_OK)
        *status = from_cuda(cudaMemsetAsync(to, 0, (size_t)room * size, sampler->stream), what,
                            message.text, message.bytes);
    if (*status == GBS_OK)
        *status =
            copy(sampler, what, to, from, (size_t)count * size, cudaMemcpyHostToDevice, message);
    return to;
}

gbs_status gbs_device_fill_bounded(gbs_device_sampler *sampler, const gbs_device_plan *plan,
                                   const uint8_t *flags, gbs_device_message message)
{
    const size_t size = size_of(plan->type);
    const int64_t dim = plan->dim;
    gbs_status status = GBS_OK;
    sampler->bounded = gbs_device_upload(sampler, "bounds", flags, dim, 1, &status, message);
    sampler->lower = gbs_device_upload(sampler, "bounds", plan->lower, dim, size, &status, message);
    sampler->upper = gbs_device_upload(sampler, "bounds", plan->upper, dim, size, &status, message);
    sampler->site =
        gbs_device_upload(sampler, "order", plan->site, dim, sizeof(int64_t), &status, message);
    sampler->columns = gbs_device_take(sampler->device, "sampler coefficients",
                                       gbs_cuda_bounded_columns(dim), size, &status, message);
    if (status == GBS_OK)
        status = plan->type == GBS_F32
                     ? gbs_cuda_pack_columns(dim, (const float *)sampler->coefficients,
                                             (float *)sampler->columns, sampler->stream, message)
                     : gbs_cuda_pack_columns(dim, (const double *)sampler->coefficients,
                                             (double *)sampler->columns, sampler->stream, message);
    if (status == GBS_OK)
        status = waited(sampler, "coefficients", message);
    gbs_device_give(sampler->device, sampler->coefficients);
    sampler->coefficients = NULL;
    return status;
}

static gbs_status fill_in(gbs_device_sampler *sampler, const gbs_device_plan *plan,
                          gbs_device_message message)
{
    const size_t size = size_of(plan->type);
    const int64_t dim = plan->dim, state = state_elements(plan);
    gbs_status status =
        from_cuda(cudaStreamCreateWithFlags(&sampler->stream, cudaStreamNonBlocking), "stream",
                  message.text, message.bytes);
    sampler->coefficients = gbs_device_upload(sampler, "sampler coefficients", plan->coefficients,
                                              dim * dim, size, &status, message);
    sampler->scale = gbs_device_upload(sampler, "sampler coefficients", plan->scale, dim, size,
                                       &status, message);
    sampler->centre = gbs_device_upload(sampler, "sampler coefficients", plan->centre, dim, size,
                                        &status, message);
    sampler->mean =
        gbs_device_upload(sampler, "mean", plan->mean, dim, sizeof(double), &status, message);
    sampler->place =
        gbs_device_upload(sampler, "order", plan->place, dim, sizeof(int64_t), &status, message);
    sampler->state = gbs_device_take(sampler->device, "state", state, size, &status, message);
    sampler->kept =
        gbs_device_take(sampler->device, "draws", plan->kept_draws * state, size, &status, message);
    if (is_buffered(plan, plan->place != NULL))
        sampler->noise = gbs_device_take(sampler->device, "noise", plan->noise_passes * state, size,
                                         &status, message);
    if (status == GBS_OK && plan->kind != NULL)
        status = gbs_device_fill_constrained(sampler, plan, message);
    else if (status == GBS_OK && plan->bounded != NULL)
        status = gbs_device_fill_bounded(sampler, plan, plan->bounded, message);
    else if (status == GBS_OK && plan->method != GBS_METHOD_EXACT)
        status = size_workspace(sampler, message);
    if (plan->bounded != NULL && gbs_cuda_bounded_needs_workspace(plan->type, dim))
        sampler->workspace_bytes = (size_t)state * size;
    if (status == GBS_OK && sampler->workspace_bytes > 0)
        sampler->workspace =
            gbs_device_take(sampler->device, "sampler coefficients",
                            (int64_t)sampler->workspace_bytes, 1, &status, message);
    /* faster copies; they work without as well */
    if (status == GBS_OK) {
        if (cudaHostRegister(plan->staging, plan->staging_bytes, cudaHostRegisterDefault) ==
            cudaSuccess)
            sampler->pinned = plan->staging;
        else
            cudaGetLastError();
    }
    return status;
}

gbs_status gbs_device_sampler_plan(gbs_device *device, const gbs_device_plan *plan,
                                   gbs_device_sampler **out, gbs_device_message message)
{
    *out = NULL;
    gbs_device_sampler *const sampler =
        (gbs_device_sampler *)device->host.allocate(sizeof *sampler, device->host.user);
    if (sampler == NULL)
        return refuse(message.text, message.bytes, GBS_ERROR_MEMORY,
                      "sampler: no memory for %zu bytes", sizeof *sampler);
    memset(sampler, 0, sizeof *sampler);
    sampler->device = device;
    sampler->plan = *plan;
    gbs_status status;
    {
        const current_device current(device, message);
        status = current.status == GBS_OK ? fill_in(sampler, plan, message) : current.status;
    }
    if (status != GBS_OK)
        gbs_device_sampler_end(sampler);
    else
        *out = sampler;
    return status;
}

void gbs_device_sampler_end(gbs_device_sampler *sampler)
{
    if (sampler == NULL)
        return;
    const gbs_device *const device = sampler->device;
    {
        const current_device current(device, gbs_device_message{NULL, 0});
        void *const all[] = {sampler->coefficients,   sampler->scale,
                             sampler->centre,         sampler->mean,
                             sampler->place,          sampler->state,
                             sampler->noise,          sampler->kept,
                             sampler->workspace,      sampler->columns,
                             sampler->lower,          sampler->upper,
                             sampler->bounded,        sampler->site,
                             sampler->steps.panels,   sampler->steps.boxes,
                             sampler->steps.kind,     sampler->steps.entry_start,
                             sampler->steps.entries,  sampler->steps.move_start,
                             sampler->steps.move_row, sampler->steps.moves};
        for (size_t k = 0; k < sizeof all / sizeof all[0]; ++k)
            gbs_device_give(device, all[k]);
        if (sampler->pinned != NULL)
            cudaHostUnregister(sampler->pinned);
        if (sampler->stream != NULL)
            cudaStreamDestroy(sampler->stream);
        cudaGetLastError(); /* of a device that failed: there is nobody to tell */
    }
    device->host.release(sampler, device->host.user);
}

const char *gbs_device_sampler_kernel(const gbs_device_sampler *sampler)
{
    gbs_device_run run;
    memset(&run, 0, sizeof run);
    run.sweeps = 1000;
    if (sampler->plan.method == GBS_METHOD_EXACT)
        return sampler->plan.type == GBS_F32 ? "exact_solve_f32" : "exact_solve_f64";
    if (sampler->plan.bounded != NULL)
        return sampler->plan.type == GBS_F32 ? "sweep_bounded_f32" : "sweep_bounded_f64";
    if (sampler->plan.method == GBS_METHOD_WHITENED)
        return sampler->plan.type == GBS_F32 ? "whitened_f32" : "whitened_f64";
    if (sampler->plan.kind != NULL)
        return sampler->plan.type == GBS_F32 ? "sweep_rows_f32" : "sweep_rows_f64";
    const gbs_sweep_spec spec = sweep_spec(sampler, &run);
    return gbs_cuda_sweep_kernel(&spec, GBS_CUDA_KERNEL_AUTO);
}

/* ---- state, noise, draws ---- */

gbs_status gbs_device_sampler_put_state(gbs_device_sampler *sampler, const void *x,
                                        gbs_device_message message)
{
    const current_device current(sampler->device, message);
    const size_t bytes = (size_t)state_elements(&sampler->plan) * size_of(sampler->plan.type);
    if (current.status != GBS_OK)
        return current.status;
    return copy(sampler, "state", sampler->state, x, bytes, cudaMemcpyHostToDevice, message);
}

gbs_status gbs_device_sampler_put_noise(gbs_device_sampler *sampler, int64_t pass, const void *z,
                                        gbs_device_message message)
{
    const current_device current(sampler->device, message);
    const size_t bytes = (size_t)state_elements(&sampler->plan) * size_of(sampler->plan.type);
    if (current.status != GBS_OK)
        return current.status;
    return copy(sampler, "noise", (char *)sampler->noise + (size_t)pass * bytes, z, bytes,
                cudaMemcpyHostToDevice, message);
}

gbs_status gbs_device_sampler_get(gbs_device_sampler *sampler, int64_t first, int64_t count,
                                  void *x, gbs_device_message message)
{
    const current_device current(sampler->device, message);
    const size_t bytes = (size_t)state_elements(&sampler->plan) * size_of(sampler->plan.type);
    if (current.status != GBS_OK)
        return current.status;
    const void *const from =
        count == 0 ? sampler->state : (char *)sampler->kept + (size_t)first * bytes;
    return copy(sampler, "draws", x, from, bytes * (size_t)(count == 0 ? 1 : count),
                cudaMemcpyDeviceToHost, message);
}

gbs_status gbs_device_sampler_accumulate(gbs_device_sampler *sampler, gbs_device_moments *moments,
                                         int64_t first, int64_t count, int64_t seen,
                                         gbs_device_message message)
{
    const gbs_device_plan *const plan = &sampler->plan;
    const current_device current(sampler->device, message);
    if (current.status != GBS_OK)
        return current.status;
    const int64_t state = state_elements(plan), *const place = (const int64_t *)sampler->place;
    const unsigned threads = 256, blocks = blocks_for(state, threads);
    if (plan->type == GBS_F32)
        accumulate_moments<<<blocks, threads, 0, sampler->stream>>>(
            plan->chains, plan->dim, place, (const float *)sampler->kept + first * state, count,
            seen, moments->mean, moments->m2);
    else
        accumulate_moments<<<blocks, threads, 0, sampler->stream>>>(
            plan->chains, plan->dim, place, (const double *)sampler->kept + first * state, count,
            seen, moments->mean, moments->m2);
    const gbs_status status = from_cuda(cudaGetLastError(), "moments", message.text, message.bytes);
    return status == GBS_OK ? waited(sampler, "moments", message) : status;
}
