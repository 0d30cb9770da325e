// The op on CUDA tensors: the current stream, torch's Philox generator, and CUDA graph capture.
// The kernels are libgibbsite_cuda's; this file needs no nvcc.
#include "sweep.h"

#include "gibbsite/gibbsite_cuda.h"

#include <ATen/Functions.h>
#include <ATen/Utils.h>
#include <ATen/core/PhiloxRNGEngine.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <ATen/cuda/EmptyTensor.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <array>
#include <atomic>
#include <mutex>

namespace gibbsite
{

namespace
{

constexpr uint64_t seed_advance = 4; // what native with seed=None takes from the generator

bool capturing()
{
    return c10::cuda::currentStreamCaptureStatusMayInitCtx() != c10::cuda::CaptureStatus::None;
}

at::CUDAGeneratorImpl *generator_of(const Call &call, c10::DeviceIndex device)
{
    auto *const generator = at::get_generator_or_default<at::CUDAGeneratorImpl>(
        call.generator, at::cuda::detail::getDefaultCUDAGenerator(device));
    TORCH_CHECK_VALUE(generator->device().index() == device, "gibbs_sweep: generator is on ",
                      generator->device(), ", but x is on cuda:", static_cast<int>(device));
    return generator;
}

// Reserves `advance` of the generator's numbers.  During capture torch refuses generators that
// the graph does not know; nothing has been launched or drawn then.
at::PhiloxCudaState reserve(at::CUDAGeneratorImpl *generator, uint64_t advance, bool is_default)
{
    const std::lock_guard<std::mutex> lock(generator->mutex_);
    if (is_default || !capturing())
        return generator->philox_cuda_state(advance);
    try {
        return generator->philox_cuda_state(advance);
    } catch (const c10::Error &) {
        TORCH_CHECK(false, "gibbs_sweep: this generator is not registered with the CUDA graph that "
                           "is being captured; call graph.register_generator_state(generator) "
                           "before the capture begins");
    }
}

// Words 0 and 1 of thread 0 at the current offset, first << 32 | second: the 64 bits that
// tensor.random_() would draw over its full range.
uint64_t drawn_seed(const at::PhiloxCudaState &state)
{
    at::Philox4_32 words(state.seed_.val, 0, state.offset_.val / 4);
    const uint64_t first = words(), second = words();
    return first << 32 | second;
}

// In a graph the kernel finds seed and offset where the generator puts them at replay, and draws a
// native seed itself.
void use_generator(const at::PhiloxCudaState &state, gbs_sweep_spec &spec, gbs_cuda_launch &launch)
{
    if (state.captured_) {
        launch.device_seed = reinterpret_cast<const uint64_t *>(state.seed_.ptr);
        launch.device_offset = reinterpret_cast<const uint64_t *>(state.offset_.ptr);
        launch.device_state_settled = 1; /* the graph's replay sets both before it starts */
        spec.torch_offset = state.offset_intragraph_;
    } else if (spec.stream == GBS_STREAM_NATIVE) {
        spec.seed = drawn_seed(state);
    } else {
        spec.seed = state.seed_.val;
        spec.torch_offset = state.offset_.val;
    }
}

void set_card(gbs_sweep_spec &spec)
{
    const cudaDeviceProp *const card = at::cuda::getCurrentDeviceProperties();
    spec.cuda_multiprocessors = card->multiProcessorCount;
    spec.cuda_threads_per_multiprocessor = card->maxThreadsPerMultiProcessor;
}

void verify_once(c10::Device device)
{
    static std::array<std::atomic<bool>, C10_COMPILE_TIME_MAX_GPUS> verified{};
    auto &done = verified.at(static_cast<size_t>(device.index()));
    if (done.load(std::memory_order_relaxed) || capturing())
        return;
    done = true; // verifying comes back here
    try {
        const cudaDeviceProp *const card = at::cuda::getCurrentDeviceProperties();
        const int64_t wave =
            static_cast<int64_t>(card->multiProcessorCount) * card->maxThreadsPerMultiProcessor;
        verify_torch_stream(run_cuda, device, 5 * wave + 7);
    } catch (...) {
        done = false;
        throw;
    }
}

} // namespace

void run_cuda(const Inputs &inputs, const Call &call, int64_t keep, const at::Tensor &out,
              const at::Tensor &kept)
{
    const c10::cuda::CUDAGuard guard(inputs.x.device());
    const c10::Device device = inputs.x.device();
    gbs_sweep_spec spec = spec_of(inputs, call, keep, out, kept);
    gbs_cuda_launch launch{};
    launch.stream = c10::cuda::getCurrentCUDAStream().stream();
    const bool from_torch = spec.stream != GBS_STREAM_GIVEN && call.stream == Stream::torch;
    if (from_torch) {
        verify_once(device);
        spec.stream = GBS_STREAM_TORCH_CUDA;
        set_card(spec);
    }
    std::array<char, 512> message{};
    const gbs_status taken =
        gbs_cuda_sweep_workspace(&spec, launch.kernel, &launch.workspace_bytes);
    if (taken != GBS_OK) // before anything is drawn; the sweep refuses likewise, and says why
        gbs_cuda_sweep(&spec, &launch, message.data(), message.size());
    raise_unless_ok(taken, message.data());
    at::Tensor workspace;
    if (launch.workspace_bytes > 0) {
        workspace = at::empty({static_cast<int64_t>(launch.workspace_bytes)},
                              at::TensorOptions().dtype(at::kByte).device(device));
        launch.workspace = workspace.data_ptr();
    }
    if (call.seed) {
        spec.seed = static_cast<uint64_t>(*call.seed);
    } else if (spec.stream != GBS_STREAM_GIVEN) {
        const uint64_t advance = from_torch ? gbs_sweep_torch_cuda_advance(&spec) : seed_advance;
        use_generator(reserve(generator_of(call, device.index()), advance, !call.generator), spec,
                      launch);
    }
    raise_unless_ok(gbs_cuda_sweep(&spec, &launch, message.data(), message.size()), message.data());
}

namespace
{

at::Tensor empty_cuda(at::IntArrayRef sizes, at::ScalarType type, c10::Device device)
{
    return at::detail::empty_cuda(sizes, type, device, std::nullopt);
}

[[maybe_unused]] const bool linked = (cuda_run = run_cuda, cuda_empty = empty_cuda, true);

} // namespace

} // namespace gibbsite
