// The op on CPU tensors: torch's generator state in and out of gbs_sweep.
#include "sweep.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/Utils.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <mutex>

namespace gibbsite
{

Run cuda_run = nullptr;
Empty cuda_empty = nullptr;

namespace
{

// Where the bytes of torch.get_rng_state() hold what (docs/streams.md).
constexpr size_t at_seed = 0, at_left = 8, at_seeded = 12, at_next = 16, at_words = 24;
constexpr size_t at_normal = 5024, at_has_normal = 5040;

using State = std::array<unsigned char, GBS_TORCH_CPU_STATE_BYTES>;

template <typename T> void put(State &state, size_t at, T value)
{
    std::memcpy(state.data() + at, &value, sizeof value);
}

template <typename T> T get(const State &state, size_t at)
{
    T value;
    std::memcpy(&value, state.data() + at, sizeof value);
    return value;
}

// The generator's own float normal stays with it: randn neither reads nor drops it.
State state_of(at::CPUGeneratorImpl &generator)
{
    State state{};
    const at::mt19937_data_pod engine = generator.engine().data();
    put<uint64_t>(state, at_seed, engine.seed_);
    put<int32_t>(state, at_left, engine.left_);
    put<int32_t>(state, at_seeded, engine.seeded_ ? 1 : 0);
    put<uint64_t>(state, at_next, engine.next_);
    for (size_t k = 0; k < engine.state_.size(); ++k)
        put<uint64_t>(state, at_words + 8 * k, engine.state_[k]);
    if (const auto normal = generator.next_double_normal_sample()) {
        put<double>(state, at_normal, *normal);
        put<int32_t>(state, at_has_normal, 1);
    }
    return state;
}

void set_state(at::CPUGeneratorImpl &generator, const State &state)
{
    at::mt19937 engine = generator.engine();
    at::mt19937_data_pod data = engine.data();
    data.left_ = get<int32_t>(state, at_left);
    data.next_ = static_cast<uint32_t>(get<uint64_t>(state, at_next));
    for (size_t k = 0; k < data.state_.size(); ++k)
        data.state_[k] = static_cast<uint32_t>(get<uint64_t>(state, at_words + 8 * k));
    engine.set_data(data);
    generator.set_engine(engine);
    if (get<int32_t>(state, at_has_normal))
        generator.set_next_double_normal_sample(get<double>(state, at_normal));
    else
        generator.set_next_double_normal_sample(std::nullopt);
}

at::CPUGeneratorImpl *generator_of(const Call &call)
{
    return at::get_generator_or_default<at::CPUGeneratorImpl>(call.generator,
                                                              at::detail::getDefaultCPUGenerator());
}

// Both ways that torch draws, above and below 16 elements.
void verify_once()
{
    static std::atomic<bool> done{false};
    if (done.exchange(true))
        return; // verifying comes back here
    try {
        verify_torch_stream(run_cpu, c10::kCPU, 1003);
        verify_torch_stream(run_cpu, c10::kCPU, 7);
    } catch (...) {
        done = false;
        throw;
    }
}

constexpr int most_threads = 1024; // of a context

// Draws between bounds cost enough to be shared out among PyTorch's threads.
void sweep(gbs_sweep_spec &spec)
{
    const bool bounded = spec.lower != nullptr || spec.upper != nullptr;
    gbs_context *const context = thread_context(bounded ? std::min(at::get_num_threads(), most_threads) : 1);
    raise_unless_ok(gbs_sweep(context, &spec), gbs_context_message(context));
}

} // namespace

void run_cpu(const Inputs &inputs, const Call &call, int64_t keep, const at::Tensor &out,
             const at::Tensor &kept)
{
    gbs_sweep_spec spec = spec_of(inputs, call, keep, out, kept);
    if (spec.stream == GBS_STREAM_GIVEN) {
        sweep(spec);
        return;
    }
    if (call.stream == Stream::native) {
        if (call.seed) {
            spec.seed = static_cast<uint64_t>(*call.seed);
        } else {
            auto *generator = generator_of(call);
            const std::lock_guard<std::mutex> lock(generator->mutex_);
            spec.seed = generator->random64(); // first word << 32 | second
        }
        sweep(spec);
        return;
    }
    verify_once();
    auto *generator = generator_of(call);
    const std::lock_guard<std::mutex> lock(generator->mutex_);
    State state = state_of(*generator);
    spec.stream = GBS_STREAM_TORCH_CPU;
    spec.torch_state = state.data();
    sweep(spec);
    set_state(*generator, state);
}

// A private generator, one sweep of one site with precision 1 from 0: the state is the noise.
void verify_torch_stream(Run run, c10::Device device, int64_t elements)
{
    const auto options = at::TensorOptions().dtype(at::kFloat).device(device);
    const at::Tensor precision = at::ones({1, 1}, options), x = at::zeros({elements, 1}, options);
    at::Generator drawn = at::globalContext().defaultGenerator(device).clone();
    std::optional<at::Generator> ours = drawn.clone();
    const std::optional<at::Tensor> none;
    const Call call{precision, none, none, Form::offset, 1,    Stream::torch, ours, std::nullopt,
                    0,         0,    1.0,  false,        none, none,          0.0};
    const at::Tensor out = at::empty_like(x);
    run(checked_inputs(x, call, 0, out), call, 0, out, at::Tensor());
    const double error =
        at::sub(out.view(-1), at::randn({elements}, drawn, options)).abs().max().item<double>();
    TORCH_CHECK(error <= 1e-5, "gibbs_sweep: torch.randn on ", device,
                " no longer draws the numbers that stream=\"torch\" reproduces (", elements,
                " normals differ by up to ", error,
                "); use stream=\"native\", noise=, or an older PyTorch");
}

} // namespace gibbsite
