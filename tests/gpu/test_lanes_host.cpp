/* The kernels whose lanes share a chain, run on the host (cuda_on_host.h), against the CPU's
 * sampler, bit for bit: many sweeps with coefficients in registers, and the plain single sweep.
 * The latter finds a model and states of another kind until it waits for the kernel ahead of it. */
#include "host_oracle.h"

#undef __grid_constant__
#define __grid_constant__
alignas(128) unsigned char shared_bytes_of_host[64 * 1024];
#define shared_bytes shared_bytes_of_host
#undef __shared__
#define __shared__
#include "backend/cuda/held.cuh"
#undef shared_bytes
#undef __shared__
#define __shared__ static
#include "backend/cuda/single.cuh"

static uint64_t order = 5; /* of threads */

/* ---- many sweeps ---- */

static gbs_sweep_args held_args;

template <typename T, int LANES, bool FULL, bool RELAXED> static void held_body(void)
{
    sweep_held<T, LANES, FULL, RELAXED>(held_args);
}

template <typename T, int LANES, bool FULL> static void compare_held(const job<T> &of)
{
    arrays<T> on = arrays_of(of);
    held_args = arguments_of(of, &on);
    on_host::body =
        of.omega == 1.0 ? held_body<T, LANES, FULL, false> : held_body<T, LANES, FULL, true>;
    const int64_t chains = held_shape<T, LANES>::chains;
    for (int64_t b = 0; b < (of.chains + chains - 1) / chains; ++b) {
        blockIdx.x = (unsigned)b;
        blockDim.x = HELD_THREADS;
        memset(shared_bytes_of_host, 0xFF, sizeof shared_bytes_of_host);
        on_host::run_block(HELD_THREADS, &order);
    }
    report(of, FULL ? "held, no padding" : "held", on);
}

template <typename T, int LANES, bool FULL> static void held_all(int64_t dim)
{
    for (int o = GBS_ORDER_FORWARD; o <= GBS_ORDER_BACKWARD; ++o) {
        compare_held<T, LANES, FULL>(
            {dim, 33, 2, 0, (gbs_order)o, 1.0, GBS_LOCATION_MEAN, GBS_STREAM_NATIVE});
        compare_held<T, LANES, FULL>(
            {dim, 5, 5, 2, (gbs_order)o, 1.3, GBS_LOCATION_OFFSET, GBS_STREAM_NATIVE});
        compare_held<T, LANES, FULL>(
            {dim, 70, 3, 1, (gbs_order)o, 1.0, GBS_LOCATION_INFORMATION, GBS_STREAM_NATIVE});
    }
}

/* ---- a plain single sweep ---- */

static gbs_single_args single_args;
static struct {
    void *to[3];
    const void *from[3];
    size_t bytes[3];
} late; /* what the kernel ahead writes */

static void write_late(void)
{
    for (int k = 0; k < 3; ++k)
        memcpy(late.to[k], late.from[k], late.bytes[k]);
}

template <int LANES> static void single_body(void)
{
    sweep_single<LANES, GBS_STREAM_NATIVE>(single_args);
}

struct alignas(16) line {
    float v[4];
};

template <int LANES> static void compare_single(const job<float> &of, bool changes)
{
    typedef single_shape<LANES> shape;
    arrays<float> on = arrays_of(of);
    const size_t bytes[3] = {on.q.size() * 4, on.x.size() * 4, on.location.size() * 4};
    const void *const from[3] = {on.q.data(), on.x.data(), on.location.data()};
    std::vector<line> to[3], out(on.x.size() / 4);
    for (int k = 0; k < 3; ++k) {
        to[k].resize(bytes[k] / 16);
        memcpy((void *)to[k].data(), from[k], bytes[k]);
        for (size_t i = 0; changes && i < to[k].size(); ++i)
            to[k][i].v[i % 4] *= -3.0f;
        late.to[k] = to[k].data();
        late.from[k] = from[k];
        late.bytes[k] = bytes[k];
    }
    gbs_single_args &s = single_args;
    memset(&s, 0, sizeof s);
    s.precision = to[0][0].v;
    s.x = to[1][0].v;
    s.location = to[2][0].v;
    s.out = out[0].v;
    s.seed = 20261129;
    s.dim = s.row_stride = s.x_stride = s.out_stride = (int32_t)of.dim;
    s.chains = (int32_t)of.chains;
    s.location_kind = of.location;
    s.settled = 1;
    on_host::body = single_body<LANES>;
    for (int64_t b = 0; b < (of.chains + shape::chains - 1) / shape::chains; ++b) {
        blockIdx.x = (unsigned)b;
        on_host::previous = write_late;
        on_host::run_block(shape::threads, &order);
    }
    memcpy(on.out.data(), out.data(), on.out.size() * 4);
    report(of, changes ? "single, written late" : "single", on);
}

template <int LANES> static void single_all(int64_t dim)
{
    static const gbs_location kinds[] = {GBS_LOCATION_ZERO, GBS_LOCATION_OFFSET,
                                         GBS_LOCATION_INFORMATION};
    for (const gbs_location kind : kinds)
        for (const int64_t chains : {1, 32, 75})
            for (const bool changes : {false, true})
                compare_single<LANES>(
                    {dim, chains, 1, 0, GBS_ORDER_FORWARD, 1.0, kind, GBS_STREAM_NATIVE}, changes);
}

int main(void)
{
    for (const int64_t dim : {1, 5, 8})
        held_all<float, 2, false>(dim);
    for (const int64_t dim : {9, 14, 16})
        held_all<float, 4, false>(dim);
    for (const int64_t dim : {17, 31})
        held_all<float, 8, false>(dim);
    held_all<float, 8, true>(32);
    for (const int64_t dim : {3, 8})
        held_all<double, 2, false>(dim);
    for (const int64_t dim : {11, 16})
        held_all<double, 4, false>(dim);
    single_all<2>(4);
    single_all<2>(8);
    single_all<4>(12);
    single_all<8>(20);
    single_all<8>(32);
    single_all<16>(40);
    single_all<16>(64);
    printf("lanes that share a chain, on the host, bit for bit against the CPU's sampler\n");
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
