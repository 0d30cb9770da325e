/* The kernel for many places, run on the host (cuda_on_host.h), against the CPU's sampler, bit for
 * bit: panel edges, orders, weights, streams, kept states, few chains.  Small panels bring many
 * panels at a size that a host can run. */
#include "cuda_on_host.h"

#include "backend/cuda/coefficients.cuh"
#undef __grid_constant__
#define __grid_constant__
alignas(128) unsigned char shared_bytes_of_host[256 * 1024];
#define shared_bytes shared_bytes_of_host
#include "backend/cuda/panel_pack.cuh"
#undef __shared__
#define __shared__
#include "backend/cuda/tiles.cuh"
#undef shared_bytes

static int passed, failed;

template <typename T> struct job {
    int64_t dim, chains, sweeps, keep;
    gbs_order order;
    double omega;
    gbs_location location;
    gbs_stream stream;
};

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53 - 0.5;
}

template <typename T> static gbs_type type_of(void)
{
    return sizeof(T) == 4 ? GBS_F32 : GBS_F64;
}

template <typename T>
static std::vector<T> random_values(int64_t count, double scale, uint64_t seed)
{
    std::vector<T> values((size_t)count);
    for (T &value : values)
        value = (T)(scale * uniform(&seed));
    return values;
}

template <typename T>
static std::vector<T> oracle(const job<T> &of, const std::vector<T> &q,
                             const std::vector<T> &location, const std::vector<T> &x,
                             const std::vector<T> &noise, std::vector<T> *kept)
{
    gbs_context *ctx = NULL;
    gbs_model *model = NULL;
    gbs_sampler *sampler = NULL;
    std::vector<T> out((size_t)(of.dim * of.chains));
    gbs_model_spec m = gbs_model_spec_default();
    gbs_sampler_spec s = gbs_sampler_spec_default();
    m.dim = of.dim;
    m.matrix_type = m.location_type = type_of<T>();
    m.matrix = q.data();
    m.location_kind = of.location;
    m.location = of.location == GBS_LOCATION_ZERO ? NULL : location.data();
    s.type = type_of<T>();
    s.chains = of.chains;
    s.seed = 20261129;
    s.order = of.order;
    s.omega = of.omega;
    s.start = GBS_START_GIVEN;
    s.initial = x.data();
    s.initial_rows = of.chains;
    s.stream.kind = of.stream;
    s.stream.noise_type = type_of<T>();
    s.stream.noise = of.stream == GBS_STREAM_GIVEN ? noise.data() : NULL;
    s.stream.noise_sweeps = 2 * of.sweeps;
    gbs_status status = gbs_context_create(NULL, &ctx);
    if (status == GBS_OK)
        status = gbs_model_create(ctx, &m, &model);
    if (status == GBS_OK)
        status = gbs_sampler_create(ctx, model, &s, &sampler);
    for (int64_t done = 0; status == GBS_OK && done < of.sweeps;) {
        const int64_t step = of.keep > 0 && of.keep < of.sweeps - done ? of.keep : of.sweeps - done;
        status = gbs_sampler_run(sampler, step);
        done += step;
        if (status == GBS_OK)
            status = gbs_sampler_get_state(sampler, out.data());
        if (of.keep > 0 && done % of.keep == 0)
            kept->insert(kept->end(), out.begin(), out.end());
    }
    if (status != GBS_OK) {
        printf("oracle: %s\n", gbs_context_message(ctx));
        exit(1);
    }
    gbs_sampler_destroy(sampler);
    gbs_model_release(model);
    gbs_context_destroy(ctx);
    return out;
}

static gbs_sweep_args host_args;
static gbs_tile_args host_tiles;
static void *host_packed, *host_records;
static int host_backward;

template <typename T> static void pack_body(void)
{
    pack_tiles<T>(host_args, host_tiles, (T *)host_packed, (T *)host_records, host_backward);
}

template <typename T, int HALVES, int WARPS> static void sweep_body(void)
{
    sweep_tiles<T, HALVES, WARPS, 1>(host_args, host_tiles);
}

template <typename T> static int64_t differing(const std::vector<T> &a, const std::vector<T> &b)
{
    int64_t wrong = a.size() == b.size() ? 0 : 1;
    for (size_t i = 0; i < a.size() && i < b.size(); ++i)
        wrong += memcmp(&a[i], &b[i], sizeof(T)) != 0;
    return wrong;
}

template <typename T, int HALVES, int WARPS> static void compare(const job<T> &of, int stages)
{
    const int64_t count = of.dim * of.chains;
    uint64_t seed = 11 + (uint64_t)of.dim, order = 5;
    std::vector<T> q((size_t)(of.dim * of.dim));
    for (int64_t i = 0; i < of.dim; ++i)
        for (int64_t j = 0; j <= i; ++j)
            q[(size_t)(i * of.dim + j)] = q[(size_t)(j * of.dim + i)] =
                (T)(i == j ? 1.5 + uniform(&seed) : uniform(&seed) * 1.6 / (double)of.dim);
    const std::vector<T> location = random_values<T>(of.dim, 6.0, 5),
                         x = random_values<T>(count, 4.0, 7),
                         noise = random_values<T>(
                             of.stream == GBS_STREAM_GIVEN ? 2 * of.sweeps * count : 1, 4.0, 9);
    std::vector<T> expected_kept, out((size_t)count), kept;
    const std::vector<T> expected = oracle(of, q, location, x, noise, &expected_kept);
    kept.resize(expected_kept.size());

    gbs_sweep_args &a = host_args;
    memset(&a, 0, sizeof a);
    a.groups = 1;
    a.chains = of.chains;
    a.dim = of.dim;
    a.precision = q.data();
    a.precision_row_stride = of.dim;
    a.location = location.data();
    a.location_kind = of.location;
    a.omega = of.omega;
    a.relaxed = of.omega != 1.0;
    a.x = x.data();
    a.out = out.data();
    a.x_stride[1] = a.out_stride[1] = of.dim;
    a.x_stride[2] = a.out_stride[2] = 1;
    a.sweeps = of.sweeps;
    a.passes = of.order == GBS_ORDER_SYMMETRIC ? 2 : 1;
    a.first_direction = of.order == GBS_ORDER_BACKWARD ? -1 : 1;
    a.keep_every = of.keep;
    a.kept = kept.data();
    a.noise.kind = of.stream;
    for (uint32_t round = 0; round < 10; ++round) {
        a.noise.key[round][0] = 20261129u + round * 0x9E3779B9u;
        a.noise.key[round][1] = round * 0xBB67AE85u;
    }
    a.noise.call_elements = of.chains;
    a.noise.given = noise.data();

    gbs_tile_args &t = host_tiles;
    memset(&t, 0, sizeof t);
    const int most = HALVES * WARPS * PANEL_SLAB;
    t.groups = of.dim <= 8 ? 2 : (int)((of.dim + 7) / 8);
    const int slabs = (t.groups + 7) / 8, panels = (slabs * PANEL_SLAB + most - 1) / most;
    t.rows = (slabs + panels - 1) / panels * PANEL_SLAB;
    t.panels = (slabs * PANEL_SLAB + t.rows - 1) / t.rows;
    t.stride = most;
    t.stages = stages;
    const unsigned blocks = (unsigned)((of.chains + 31) / 32);
    struct alignas(16) line {
        char bytes[16];
    };
    const size_t lines = sizeof(T) * (size_t)t.panels * (size_t)most * (size_t)t.groups * 8 / 16;
    const size_t record_lines = sizeof(T) * (size_t)t.groups * PANEL_RECORD / 16;
    std::vector<line> packed[2], records[2],
        state(sizeof(T) * blocks * (size_t)t.groups * 8 * 32 / 16);
    memset((void *)state.data(), 0xFF, state.size() * sizeof(line));
    t.state = state.data();
    for (host_backward = 0; host_backward < 2; ++host_backward) {
        packed[host_backward].resize(lines);
        records[host_backward].resize(record_lines);
        t.packed[host_backward] = host_packed = packed[host_backward].data();
        t.records[host_backward] = host_records = records[host_backward].data();
        memset(host_packed, 0xFF, lines * sizeof(line));
        for (unsigned bx = 0; bx < (unsigned)(t.groups * 8 + 31) / 32; ++bx)
            for (unsigned by = 0; by < (unsigned)(t.panels * t.rows / 64); ++by) {
                blockIdx.x = bx, blockIdx.y = by, blockIdx.z = 0;
                on_host::body = pack_body<T>;
                on_host::run_block(PACK_THREADS, &order);
            }
    }
    for (unsigned b = 0; b < blocks; ++b) {
        blockIdx.x = b, blockIdx.y = blockIdx.z = 0;
        memset(shared_bytes_of_host, 0xFF, sizeof shared_bytes_of_host);
        if (panel_shared_bytes<T, HALVES, WARPS>(stages) > sizeof shared_bytes_of_host)
            exit(2);
        on_host::body = sweep_body<T, HALVES, WARPS>;
        on_host::run_block(32 * WARPS, &order);
    }
    const int64_t wrong = differing(expected, out), wrong_kept = differing(expected_kept, kept);
    const bool good = wrong == 0 && wrong_kept == 0;
    good ? ++passed : ++failed;
    if (!good) {
        printf("FAIL %s panel %d, %d stages, D=%lld B=%lld S=%lld keep=%lld order=%d omega=%g "
               "location=%d stream=%d: %lld of %lld differ, kept %lld\n",
               sizeof(T) == 4 ? "float" : "double", most, stages, (long long)of.dim,
               (long long)of.chains, (long long)of.sweeps, (long long)of.keep, (int)of.order,
               of.omega, (int)of.location, (int)of.stream, (long long)wrong, (long long)count,
               (long long)wrong_kept);
        for (int64_t i = 0, shown = 0; i < count && shown < 3; ++i)
            if (memcmp(&expected[(size_t)i], &out[(size_t)i], sizeof(T)) != 0) {
                ++shown;
                printf("  chain %lld site %lld: expected %.17g, got %.17g\n",
                       (long long)(i / of.dim), (long long)(i % of.dim),
                       (double)expected[(size_t)i], (double)out[(size_t)i]);
            }
    }
}

template <typename T, int HALVES, int WARPS> static void compare_all(const int64_t *dims, int count)
{
    for (int d = 0; d < count; ++d) {
        compare<T, HALVES, WARPS>(
            {dims[d], 3, 1, 0, GBS_ORDER_FORWARD, 1.0, GBS_LOCATION_ZERO, GBS_STREAM_NATIVE}, 3);
        compare<T, HALVES, WARPS>(
            {dims[d], 1, 3, 0, GBS_ORDER_FORWARD, 1.3, GBS_LOCATION_MEAN, GBS_STREAM_NATIVE}, 3);
        compare<T, HALVES, WARPS>({dims[d], 33, 4, 3, GBS_ORDER_BACKWARD, 1.3,
                                   GBS_LOCATION_INFORMATION, GBS_STREAM_NATIVE},
                                  2);
        compare<T, HALVES, WARPS>(
            {dims[d], 2, 2, 1, GBS_ORDER_SYMMETRIC, 0.7, GBS_LOCATION_OFFSET, GBS_STREAM_GIVEN}, 3);
        compare<T, HALVES, WARPS>(
            {dims[d], 2, 3, 0, GBS_ORDER_BACKWARD, 1.0, GBS_LOCATION_OFFSET, GBS_STREAM_GIVEN}, 3);
    }
}

int main(void)
{
    static const int64_t small[] = {1,  2,  8,   9,   16,  17,  33,  41,
                                    64, 65, 129, 255, 256, 257, 300, 600};
    static const int64_t middle[] = {200, 257, 449, 511, 513};
    static const int64_t large[] = {500, 1023, 1025};
    compare_all<float, 1, 4>(small, 16);
    compare_all<double, 1, 4>(small, 14);
    compare_all<float, 1, 8>(middle, 5);
    compare_all<double, 1, 8>(middle, 4);
    compare_all<float, 2, 8>(large, 3);
    printf("panels on the host, bit for bit against the CPU's sampler\n");
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
