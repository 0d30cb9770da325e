/* The kernel for models with bounds, run on the host (cuda_on_host.h), against the CPU's sampler,
 * bit for bit: every order, states in shared memory and in a workspace, native words and given
 * ones, plain and over-relaxed, kept states, free and bounded sites side by side. */
#include "host_oracle.h"

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
    std::vector<T> columns, scale, centre, lower, upper;
    std::vector<uint8_t> bounded;
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
    return h;
}

template <typename T> bounded_args<T> host_args; /* of the run that is being made */

template <typename T, bool SHARED> void bounded_body(void)
{
    sweep_bounded<T, SHARED>(host_args<T>);
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
    a->out = a->x;
    bounded_args<T> &args = host_args<T>;
    memset(&args, 0, sizeof args);
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
    args.state = a->out.data();
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
    printf("a kernel's draws between bounds on the host, bit for bit against the CPU's sampler\n");
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
