/* The kernel for many places, run on the host (cuda_on_host.h), against the CPU's sampler, bit for
 * bit: panel edges, orders, weights, streams, kept states, few chains.  Small panels bring many
 * panels at a size that a host can run. */
#include "host_oracle.h"

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

template <typename T, int HALVES, int WARPS> static void compare(const job<T> &of, int stages)
{
    uint64_t order = 5;
    arrays<T> on = arrays_of(of);
    host_args = arguments_of(of, &on);

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
    char what[64];
    snprintf(what, sizeof what, "panel %d, %d stages", most, stages);
    report(of, what, on);
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
