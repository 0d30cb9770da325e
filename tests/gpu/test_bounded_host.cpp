/* The kernel for models with bounds, run on the host (cuda_on_host.h), against the CPU's sampler,
 * bit for bit: every order, states in shared memory and in a workspace, native words and given
 * ones, a seed in memory, plain and over-relaxed, kept states, free and bounded sites side by side.
 */
#include "host_oracle.h"

#include <new>

#undef __grid_constant__
#define __grid_constant__
alignas(128) unsigned char shared_bytes_of_host[256 * 1024];
#define shared_bytes shared_bytes_of_host
#undef __shared__
#define __shared__
#include "backend/cuda/bounded.cuh"
#undef shared_bytes

namespace
{

/* Arrays as a device's memory has them: groups of four elements are read at once. */
template <typename T> struct lines {
    typedef T value_type;
    lines() = default;
    template <typename U> lines(const lines<U> &) {}
    T *allocate(size_t count)
    {
        return (T *)::operator new(count * sizeof(T), std::align_val_t(256));
    }
    void deallocate(T *memory, size_t)
    {
        ::operator delete(memory, std::align_val_t(256));
    }
    bool operator==(const lines &) const
    {
        return true;
    }
    bool operator!=(const lines &) const
    {
        return false;
    }
};
template <typename T> using device_array = std::vector<T, lines<T>>;

struct bounded_case {
    int64_t dim, chains, sweeps, keep;
    gbs_order order;
    bool given, in_shared;
    double overrelax;
};

template <typename T> struct bounded_arrays {
    std::vector<double> q, location, lower, upper;
    std::vector<T> x, noise;
    std::vector<typename bounded_traits<T>::word> words;
    std::vector<T> out, kept; /* what came of it */
};

void bounds_of(int64_t site, double *lower, double *upper)
{
    static const double low[] = {-1.0, -INFINITY, -0.5, 20.0}, high[] = {INFINITY, 0.75, 0.5, 20.5};
    *lower = site % 3 == 2 ? -INFINITY : low[site % 4];
    *upper = site % 3 == 2 ? INFINITY : high[site % 4];
}

template <typename T> bounded_arrays<T> bounded_arrays_of(const bounded_case &of)
{
    const int64_t count = of.dim * of.chains, passes = of.order == GBS_ORDER_SYMMETRIC ? 2 : 1;
    bounded_arrays<T> a;
    a.q = random_precision<double>(of.dim);
    a.location = random_values<double>(of.dim, 3.0, 5);
    a.lower.resize((size_t)of.dim);
    a.upper.resize((size_t)of.dim);
    a.x = random_values<T>(count, 4.0, 7);
    for (int64_t i = 0; i < of.dim; ++i)
        bounds_of(i, &a.lower[(size_t)i], &a.upper[(size_t)i]);
    for (int64_t k = 0; k < count; ++k) {
        const size_t i = (size_t)(k % of.dim);
        a.x[(size_t)k] = (T)fmax(a.lower[i], fmin(a.upper[i], (double)a.x[(size_t)k]));
    }
    const size_t numbers = of.given ? (size_t)(passes * of.sweeps * count) : 1;
    a.noise = random_values<T>((int64_t)numbers, 4.0, 9);
    uint64_t seed = 17;
    for (size_t k = 0; k < numbers; ++k) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        a.words.push_back((typename bounded_traits<T>::word)(seed >> (sizeof(T) == 4 ? 32 : 11)));
    }
    a.out = a.x;
    a.kept.resize((size_t)(of.keep > 0 ? of.sweeps / of.keep * count : 0));
    return a;
}

void stop(gbs_context *ctx)
{
    printf("FAIL oracle: %s\n", gbs_context_message(ctx));
    exit(1);
}

template <typename T> void run_oracle(const bounded_case &of, bounded_arrays<T> *a)
{
    gbs_context *ctx = NULL;
    gbs_model *model = NULL;
    gbs_sampler *sampler = NULL;
    gbs_model_spec m = gbs_model_spec_default();
    gbs_sampler_spec s = gbs_sampler_spec_default();
    m.dim = of.dim;
    m.matrix = a->q.data();
    m.location_kind = GBS_LOCATION_OFFSET;
    m.location = a->location.data();
    m.lower = a->lower.data();
    m.upper = a->upper.data();
    s.type = type_of<T>();
    s.chains = of.chains;
    s.seed = 20261129;
    s.order = of.order;
    s.overrelax = of.overrelax;
    s.start = GBS_START_GIVEN;
    s.initial = a->x.data();
    s.initial_rows = of.chains;
    s.stream.kind = of.given ? GBS_STREAM_GIVEN : GBS_STREAM_NATIVE;
    s.stream.noise_type = type_of<T>();
    s.stream.noise = a->noise.data();
    s.stream.words = a->words.data();
    s.stream.noise_sweeps = (of.order == GBS_ORDER_SYMMETRIC ? 2 : 1) * of.sweeps;
    gbs_sink sink;
    memset(&sink, 0, sizeof sink);
    sink.out = a->kept.data();
    sink.draw_stride = of.chains * of.dim;
    sink.chain_stride = of.dim;
    sink.site_stride = 1;
    if (gbs_context_create(NULL, &ctx) != GBS_OK || gbs_model_create(ctx, &m, &model) != GBS_OK ||
        gbs_sampler_create(ctx, model, &s, &sampler) != GBS_OK)
        stop(ctx);
    const gbs_status status = of.keep > 0
                                  ? gbs_sampler_sample(sampler, of.sweeps / of.keep, of.keep, &sink)
                                  : gbs_sampler_run(sampler, of.sweeps);
    if (status != GBS_OK || gbs_sampler_get_state(sampler, a->out.data()) != GBS_OK)
        stop(ctx);
    gbs_sampler_destroy(sampler);
    gbs_model_release(model);
    gbs_context_destroy(ctx);
}

/* By numerics' rules, written out again. */
template <typename T> struct host_model {
    device_array<T> columns, scale, centre, lower, upper;
    device_array<uint8_t> bounded;
};

template <typename T>
host_model<T> host_model_of(const bounded_case &of, const bounded_arrays<T> &a)
{
    const int64_t dim = of.dim, rows = whole_groups(dim);
    host_model<T> h;
    h.columns.assign((size_t)(dim * rows), T(0));
    for (int64_t i = 0; i < dim; ++i) {
        const bool bounded = !(std::isinf(a.lower[(size_t)i]) && std::isinf(a.upper[(size_t)i]));
        const double w = bounded ? 1.0 : 1.0 + of.overrelax, own = a.q[(size_t)(i * dim + i)];
        for (int64_t j = 0; j < dim; ++j)
            h.columns[(size_t)(j * rows + i)] =
                (T)(i == j ? 1.0 - w : w * (-a.q[(size_t)(i * dim + j)] / own));
        h.scale.push_back((T)((1.0 / sqrt(own)) * sqrt(w * (2.0 - w))));
        h.centre.push_back((T)(w * a.location[(size_t)i]));
        h.lower.push_back((T)a.lower[(size_t)i]);
        h.upper.push_back((T)a.upper[(size_t)i]);
        h.bounded.push_back(bounded);
    }
    for (device_array<T> *const v : {&h.scale, &h.centre, &h.lower, &h.upper})
        v->resize((size_t)rows);
    h.bounded.resize((size_t)rows);
    return h;
}

template <typename T> bounded_args<T> host_args; /* of the run that is being made */

template <typename T, bool SHARED, bool REPLAYED = false> void bounded_body(void)
{
    sweep_bounded<T, SHARED, REPLAYED>(host_args<T>);
}

template <typename T> void run_kernel(const bounded_case &of, bounded_arrays<T> *a)
{
    static uint64_t order = 5;
    const host_model<T> h = host_model_of(of, *a);
    std::vector<T> workspace((size_t)(of.dim * of.chains)), given = a->noise;
    const int64_t passes = of.order == GBS_ORDER_SYMMETRIC ? 2 : 1;
    for (size_t k = 0; of.given && k < given.size(); ++k)
        if (h.bounded[k / (size_t)of.chains % (size_t)of.dim])
            memcpy(&given[k], &a->words[k], sizeof(T));
    bounded_args<T> &args = host_args<T>;
    memset(&args, 0, sizeof args);
    args.groups = args.models = 1;
    args.dim = of.dim;
    args.chains = of.chains;
    args.columns = h.columns.data();
    args.scale = h.scale.data();
    args.centre = h.centre.data();
    args.lower = h.lower.data();
    args.upper = h.upper.data();
    args.bounded = h.bounded.data();
    args.relaxed = args.overrelaxed = of.overrelax > 0;
    args.overrelax = (T)of.overrelax;
    args.beside = (T)sqrt((1.0 - of.overrelax) * (1.0 + of.overrelax));
    for (uint32_t round = 0; round < 10; ++round) {
        args.key[round][0] = 20261129u + round * 0x9E3779B9u;
        args.key[round][1] = round * 0xBB67AE85u;
    }
    args.given = of.given ? given.data() : NULL;
    args.x = a->x.data();
    args.out = a->out.data();
    args.x_stride[1] = args.out_stride[1] = of.dim;
    args.x_stride[2] = args.out_stride[2] = 1;
    args.workspace = of.in_shared ? NULL : workspace.data();
    args.sweeps = of.sweeps;
    args.passes = (int32_t)passes;
    args.first_direction = of.order == GBS_ORDER_BACKWARD ? -1 : 1;
    args.keep_every = of.keep;
    args.kept = a->kept.data();
    on_host::body = of.in_shared ? bounded_body<T, true> : bounded_body<T, false>;
    for (int64_t b = 0; b < (of.chains + BOUNDED_THREADS - 1) / BOUNDED_THREADS; ++b) {
        blockIdx.x = (unsigned)b;
        memset(shared_bytes_of_host, 0xFF, sizeof shared_bytes_of_host);
        on_host::run_block(BOUNDED_THREADS, &order);
    }
}

template <typename T> void compare(const bounded_case &of)
{
    bounded_arrays<T> expected = bounded_arrays_of<T>(of), got = expected;
    run_oracle(of, &expected);
    run_kernel(of, &got);
    const int64_t wrong = differing(expected.out, got.out),
                  wrong_kept = differing(expected.kept, got.kept);
    if (wrong == 0 && wrong_kept == 0) {
        ++passed;
        return;
    }
    ++failed;
    printf(
        "FAIL %s D=%lld B=%lld S=%lld keep=%lld order=%d %s %s overrelax=%g: %lld of %lld differ, "
        "kept %lld\n",
        sizeof(T) == 4 ? "float" : "double", (long long)of.dim, (long long)of.chains,
        (long long)of.sweeps, (long long)of.keep, (int)of.order, of.given ? "given" : "native",
        of.in_shared ? "shared" : "workspace", of.overrelax, (long long)wrong,
        (long long)got.out.size(), (long long)wrong_kept);
}

/* ---- one-call sweeps: the model made by a kernel too, several groups ---- */

struct call_case {
    int64_t groups, dim, chains;
    gbs_order order;
    gbs_location location;
    double overrelax;
    bool one_model;
    bool replayed; /* the seed in memory */
};

double call_omega; /* of sites without bounds */
template <typename T> gbs_sweep_args call_args;
template <typename T> std::vector<T> call_lower;
template <typename T> std::vector<T> call_upper;

template <typename T> void prepare_body(void)
{
    gbs_sweep_args relaxed = call_args<T>;
    relaxed.omega = call_omega;
    relaxed.relaxed = relaxed.omega != 1.0;
    const int64_t stride = host_args<T>.models > 1 ? host_args<T>.dim : 0;
    prepare_bounded<T>(call_args<T>, relaxed, call_lower<T>.data(), call_upper<T>.data(), stride,
                       host_args<T>);
}

template <typename T> void compare_call(const call_case &of)
{
    static uint64_t order = 9;
    const int64_t dim = of.dim, rows = whole_groups(dim), models = of.one_model ? 1 : of.groups,
                  count = of.groups * of.chains * dim;
    std::vector<T> q, location = random_values<T>(models * dim, 3.0, 5),
                      x = random_values<T>(count, 4.0, 7), expected((size_t)count),
                      out((size_t)count), workspace((size_t)count);
    call_lower<T>.assign((size_t)(models * dim), T(0));
    call_upper<T> = call_lower<T>;
    for (int64_t g = 0; g < models; ++g) {
        const std::vector<T> one = random_precision<T>(dim);
        q.insert(q.end(), one.begin(), one.end());
        for (int64_t i = 0; i < dim; ++i) {
            double low, high;
            bounds_of(i + g, &low, &high);
            call_lower<T>[(size_t)(g * dim + i)] = (T)low;
            call_upper<T>[(size_t)(g * dim + i)] = (T)high;
        }
        q[(size_t)(g * dim * dim)] += (T)g; /* no two models are the same */
    }
    for (int64_t k = 0; k < count; ++k) {
        const size_t i = (size_t)((models > 1 ? k / (of.chains * dim) * dim : 0) + k % dim);
        x[(size_t)k] = std::max(call_lower<T>[i], std::min(call_upper<T>[i], x[(size_t)k]));
    }

    gbs_context *ctx = NULL;
    gbs_sweep_spec spec = gbs_sweep_spec_default();
    spec.type = type_of<T>();
    spec.groups = of.groups;
    spec.chains = of.chains;
    spec.dim = dim;
    spec.precision = q.data();
    spec.precision_row_stride = dim;
    spec.precision_group_stride = models > 1 ? dim * dim : 0;
    spec.location_kind = of.location;
    spec.location = location.data();
    spec.location_group_stride = models > 1 ? dim : 0;
    spec.x = x.data();
    spec.out = expected.data();
    for (int64_t *const stride : {spec.x_stride, spec.out_stride}) {
        stride[0] = of.chains * dim;
        stride[1] = dim;
        stride[2] = 1;
    }
    spec.sweeps = 3;
    spec.order = of.order;
    spec.lower = call_lower<T>.data();
    spec.upper = call_upper<T>.data();
    spec.bounds_group_stride = models > 1 ? dim : 0;
    spec.overrelax = of.overrelax;
    spec.seed = 20261129;
    if (gbs_context_create(NULL, &ctx) != GBS_OK || gbs_sweep(ctx, &spec) != GBS_OK)
        stop(ctx);
    gbs_context_destroy(ctx);

    const size_t vector = (size_t)(models * rows);
    device_array<T> columns((size_t)dim * vector), scale(vector), centre(vector), low(vector),
        high(vector);
    device_array<uint8_t> bounded(vector);
    bounded_args<T> &a = host_args<T>;
    memset(&a, 0, sizeof a);
    a.groups = of.groups;
    a.models = models;
    a.chains = of.chains;
    a.dim = dim;
    a.columns = columns.data();
    a.scale = scale.data();
    a.centre = centre.data();
    a.lower = low.data();
    a.upper = high.data();
    a.bounded = bounded.data();
    a.relaxed = a.overrelaxed = of.overrelax > 0;
    a.overrelax = (T)of.overrelax;
    a.beside = (T)sqrt((1.0 - of.overrelax) * (1.0 + of.overrelax));
    for (uint32_t round = 0; round < 10; ++round) {
        a.key[round][0] = 20261129u + round * 0x9E3779B9u;
        a.key[round][1] = round * 0xBB67AE85u;
    }
    a.x = x.data();
    a.out = out.data();
    memcpy(a.x_stride, spec.x_stride, sizeof a.x_stride);
    memcpy(a.out_stride, spec.out_stride, sizeof a.out_stride);
    a.workspace = workspace.data();
    a.sweeps = 3;
    a.passes = of.order == GBS_ORDER_SYMMETRIC ? 2 : 1;
    a.first_direction = of.order == GBS_ORDER_BACKWARD ? -1 : 1;
    gbs_sweep_args &raw = call_args<T>;
    memset(&raw, 0, sizeof raw);
    raw.groups = of.groups;
    raw.dim = dim;
    raw.precision = q.data();
    raw.precision_row_stride = dim;
    raw.precision_group_stride = spec.precision_group_stride;
    raw.location = location.data();
    raw.location_group_stride = spec.location_group_stride;
    raw.location_kind = of.location;
    raw.omega = 1.0;
    uint32_t made_key[10][2];
    const uint64_t seed = spec.seed;
    if (of.replayed) {
        memset(a.key, 0xFF, sizeof a.key);
        a.device_key = made_key[0];
        raw.noise.device_seed = &seed;
    }
    call_omega = 1.0 + of.overrelax;
    blockDim.x = BOUNDED_THREADS;
    on_host::body = prepare_body<T>;
    for (int64_t part = 0; part < models * (rows / BOUNDED_ROWS); ++part) {
        blockIdx.x = (unsigned)part;
        on_host::run_block(BOUNDED_THREADS, &order);
    }
    on_host::body = of.replayed ? bounded_body<T, false, true> : bounded_body<T, false>;
    for (int64_t b = 0; b < of.groups * ((of.chains + BOUNDED_THREADS - 1) / BOUNDED_THREADS);
         ++b) {
        blockIdx.x = (unsigned)b;
        on_host::run_block(BOUNDED_THREADS, &order);
    }
    const int64_t wrong = differing(expected, out);
    ++(wrong == 0 ? passed : failed);
    if (wrong > 0)
        printf(
            "FAIL call %s G=%lld D=%lld B=%lld order=%d location=%d overrelax=%g%s%s: %lld of %lld "
            "differ\n",
            sizeof(T) == 4 ? "float" : "double", (long long)of.groups, (long long)dim,
            (long long)of.chains, (int)of.order, (int)of.location, of.overrelax,
            of.one_model ? " one model" : "", of.replayed ? " replayed" : "", (long long)wrong,
            (long long)count);
}

template <typename T> void compare_calls(void)
{
    static const int64_t dims[] = {1, 7, 8, 13};
    int turn = 0;
    for (const int64_t dim : dims)
        for (int order = GBS_ORDER_FORWARD; order <= GBS_ORDER_SYMMETRIC; ++order)
            for (int way = 0; way < 4; ++way, ++turn)
                compare_call<T>({1 + turn % 3, dim, way == 0 ? 129 : 5, (gbs_order)order,
                                 (gbs_location)((turn + way) % 4), way % 2 ? 0.8 : 0.0, way > 1,
                                 turn % 5 < 2});
}

template <typename T> void compare_all(void)
{
    static const int64_t dims[] = {1, 3, 7, 8, 9, 16, 21};
    for (const int64_t dim : dims)
        for (int order = GBS_ORDER_FORWARD; order <= GBS_ORDER_SYMMETRIC; ++order)
            for (int in_shared = 0; in_shared < 2; ++in_shared) {
                const gbs_order o = (gbs_order)order;
                compare<T>({dim, 131, 4, 2, o, false, in_shared != 0, 0.0});
                compare<T>({dim, 5, 3, 0, o, true, in_shared != 0, 0.0});
                compare<T>({dim, 6, 3, 1, o, false, in_shared != 0, 0.8});
            }
}

} // namespace

int main(void)
{
    compare_all<float>();
    compare_all<double>();
    compare_calls<float>();
    compare_calls<double>();
    printf("a kernel's draws between bounds on the host, bit for bit against the CPU's sampler\n");
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
