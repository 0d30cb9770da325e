/* The kernel with all rows' sums in registers, run on the host (cuda_on_host.h), against the CPU's
 * sampler, bit for bit. */
#include "host_oracle.h"

#undef __grid_constant__
#define __grid_constant__
alignas(128) unsigned char shared_bytes_of_host[256 * 1024];
#define shared_bytes shared_bytes_of_host
#undef __shared__
#define __shared__
#include "backend/cuda/sums.cuh"
#undef shared_bytes
#undef __shared__
#define __shared__ static
#include "backend/cuda/panel_pack.cuh"

static uint64_t order = 5; /* of threads */
static gbs_sweep_args sums_args;

template <typename T, int CHAINS, int DIRECTION> static void sums_body(void)
{
    sweep_sums<T, CHAINS, DIRECTION>(sums_args);
}

template <typename T> static void finish(const job<T> &of, const char *what, const arrays<T> &on)
{
    if (of.sweeps == 0) { /* the oracle knows only states that it has swept */
        const int64_t wrong = differing(on.x, on.out);
        printf("%s", wrong != 0 ? "FAIL no sweeps: the state is not handed on\n" : "");
        ++(wrong != 0 ? failed : passed);
        return;
    }
    report(of, what, on);
}

/* Of an even number of chains makes two groups with the same model: nothing may change. */
static int64_t split(void)
{
    gbs_sweep_args &a = sums_args;
    if (a.chains % 2 == 0) {
        a.groups = 2;
        a.chains /= 2;
        a.x_stride[0] = a.out_stride[0] = a.chains * a.dim;
    }
    return a.chains;
}

template <typename T, int CHAINS> static void compare(const job<T> &of)
{
    arrays<T> on = arrays_of(of);
    sums_args = arguments_of(of, &on);
    const int64_t each = split();
    on_host::body =
        of.order == GBS_ORDER_BACKWARD ? sums_body<T, CHAINS, -1> : sums_body<T, CHAINS, 1>;
    const int64_t chains = 32 * CHAINS;
    const int threads = 32 * (int)((of.dim + SUMS_ROWS - 1) / SUMS_ROWS);
    if (sums_kernel_bytes<T, CHAINS>(of.dim) > sizeof shared_bytes_of_host)
        exit(2);
    for (int64_t b = 0; b < sums_args.groups * ((each + chains - 1) / chains); ++b) {
        blockIdx.x = (unsigned)b;
        blockDim.x = (unsigned)threads;
        memset(shared_bytes_of_host, 0xFF, sizeof shared_bytes_of_host);
        on_host::run_block(threads, &order);
    }
    finish(of, CHAINS == 8 ? "sums, 8 chains a lane" : "sums, 4 chains a lane", on);
}

template <typename T, int CHAINS> static void compare_all(void)
{
    static const int64_t dims[] = {1, 2, 8, 9, 16, 31, 33, 64, 65, 100, 128};
    for (const int64_t dim : dims)
        for (int o = GBS_ORDER_FORWARD; o <= GBS_ORDER_BACKWARD; ++o) {
            const gbs_order way = (gbs_order)o;
            compare<T, CHAINS>({dim, 33, 2, 0, way, 1.0, GBS_LOCATION_MEAN, GBS_STREAM_NATIVE});
            compare<T, CHAINS>({dim, 260, 1, 0, way, 1.0, GBS_LOCATION_ZERO, GBS_STREAM_NATIVE});
            compare<T, CHAINS>({dim, 5, 5, 2, way, 1.3, GBS_LOCATION_OFFSET, GBS_STREAM_NATIVE});
            compare<T, CHAINS>(
                {dim, 1, 3, 1, way, 0.7, GBS_LOCATION_INFORMATION, GBS_STREAM_NATIVE});
            compare<T, CHAINS>({dim, 3, 0, 0, way, 1.0, GBS_LOCATION_ZERO, GBS_STREAM_NATIVE});
        }
}

/* ---- coefficients from the workspace ---- */

static gbs_tile_args packed_args;
static void *host_packed, *host_records;

template <typename T> static void pack_body(void)
{
    pack_tiles<T>(sums_args, packed_args, (T *)host_packed, (T *)host_records,
                  sums_args.first_direction < 0);
}

template <typename T, int CHAINS> static void packed_body(void)
{
    sweep_sums_packed<T, CHAINS>(sums_args, packed_args);
}

struct alignas(16) line {
    char bytes[16];
};

template <typename T, int CHAINS> static void compare_packed(const job<T> &of, int stride)
{
    arrays<T> on = arrays_of(of);
    sums_args = arguments_of(of, &on);
    const int64_t each = split();
    gbs_tile_args &t = packed_args;
    memset(&t, 0, sizeof t);
    t.groups = of.dim <= 8 ? 2 : (int)((of.dim + 7) / 8);
    t.rows = (t.groups + 7) / 8 * PANEL_SLAB;
    t.panels = 1;
    t.stride = stride;
    const int backward = sums_args.first_direction < 0;
    std::vector<line> packed(sizeof(T) * (size_t)stride * (size_t)t.groups * 8 / 16),
        records(sizeof(T) * (size_t)t.groups * PANEL_RECORD / 16);
    t.packed[backward] = host_packed = packed.data();
    t.records[backward] = host_records = records.data();
    memset(host_packed, 0xFF, packed.size() * sizeof(line));
    for (unsigned bx = 0; bx < (unsigned)(t.groups * 8 + 31) / 32; ++bx)
        for (unsigned by = 0; by < (unsigned)(t.rows / 64); ++by) {
            blockIdx.x = bx, blockIdx.y = by, blockIdx.z = 0;
            on_host::body = pack_body<T>;
            on_host::run_block(PACK_THREADS, &order);
        }
    if (sums_packed_bytes<T, CHAINS>() > sizeof shared_bytes_of_host)
        exit(2);
    const int64_t chains = 16 * CHAINS;
    const int threads = 32 * ((t.groups + 1) / 2);
    for (int64_t b = 0; b < sums_args.groups * ((each + chains - 1) / chains); ++b) {
        blockIdx.x = (unsigned)b, blockIdx.y = blockIdx.z = 0;
        blockDim.x = (unsigned)threads;
        memset(shared_bytes_of_host, 0xFF, sizeof shared_bytes_of_host);
        on_host::body = packed_body<T, CHAINS>;
        on_host::run_block(threads, &order);
    }
    finish(of, "sums, packed", on);
}

template <typename T, int CHAINS> static void compare_all_packed(void)
{
    static const int64_t dims[] = {1, 9, 17, 64, 129, 136, 150, 200, 249, 256};
    for (const int64_t dim : dims)
        for (int o = GBS_ORDER_FORWARD; o <= GBS_ORDER_BACKWARD; ++o) {
            const gbs_order way = (gbs_order)o;
            compare_packed<T, CHAINS>(
                {dim, 33, 2, 0, way, 1.0, GBS_LOCATION_MEAN, GBS_STREAM_NATIVE}, 256);
            compare_packed<T, CHAINS>(
                {dim, 130, 1, 0, way, 1.0, GBS_LOCATION_ZERO, GBS_STREAM_NATIVE}, 512);
            compare_packed<T, CHAINS>(
                {dim, 5, 5, 2, way, 1.3, GBS_LOCATION_OFFSET, GBS_STREAM_NATIVE}, 256);
            compare_packed<T, CHAINS>(
                {dim, 1, 3, 1, way, 0.7, GBS_LOCATION_INFORMATION, GBS_STREAM_NATIVE}, 256);
            compare_packed<T, CHAINS>(
                {dim, 3, 0, 0, way, 1.0, GBS_LOCATION_ZERO, GBS_STREAM_NATIVE}, 256);
        }
}

int main(void)
{
    compare_all<float, 8>();
    compare_all<float, 4>();
    compare_all<double, 4>();
    compare_all_packed<float, 8>();
    compare_all_packed<double, 4>();
    printf("sums in registers on the host, bit for bit against the CPU's sampler\n");
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
