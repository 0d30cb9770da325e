/* The kernel for few chains and single sweeps, run on the host (cuda_on_host.h), against the CPU's
 * sampler, bit for bit: every number of warps, all orders, weights, given and native streams, kept
 * states.  Threads run in an order that changes at every barrier, so that a value read without one
 * between its writer and its reader is soon a wrong one. */
#include "host_oracle.h"

#undef __grid_constant__
#define __grid_constant__
alignas(128) unsigned char shared_bytes_of_host[256 * 1024];
#define shared_bytes shared_bytes_of_host
#undef __shared__
#define __shared__
#include "backend/cuda/once.cuh"
#undef shared_bytes

static gbs_sweep_args host_args;

template <typename T, int WARPS, int KIND> static void sweep_body(void)
{
    sweep_once<T, WARPS, KIND>(host_args);
}

template <typename T, int WARPS> static void compare(const job<T> &of)
{
    static uint64_t order = 5;
    arrays<T> on = arrays_of(of);
    host_args = arguments_of(of, &on);
    on_host::body = of.stream == GBS_STREAM_GIVEN ? sweep_body<T, WARPS, GBS_STREAM_GIVEN>
                                                  : sweep_body<T, WARPS, GBS_STREAM_NATIVE>;
    for (int64_t b = 0; b < (of.chains + ONCE_CHAINS - 1) / ONCE_CHAINS; ++b) {
        blockIdx.x = (unsigned)b;
        memset(shared_bytes_of_host, 0xFF, sizeof shared_bytes_of_host);
        on_host::run_block(32 * WARPS, &order);
    }
    char what[64];
    snprintf(what, sizeof what, "%d warps", WARPS);
    report(of, what, on);
}

template <typename T, int WARPS> static void compare_all(void)
{
    static const int64_t off[] = {0, 1, 3}; /* below four rows a warp */
    for (const int64_t less : off) {
        const int64_t dim = 4 * WARPS - less;
        for (int order = GBS_ORDER_FORWARD; order <= GBS_ORDER_SYMMETRIC; ++order) {
            compare<T, WARPS>(
                {dim, 33, 3, 2, (gbs_order)order, 1.3, GBS_LOCATION_MEAN, GBS_STREAM_NATIVE});
            compare<T, WARPS>(
                {dim, 3, 4, 0, (gbs_order)order, 1.0, GBS_LOCATION_INFORMATION, GBS_STREAM_GIVEN});
            compare<T, WARPS>(
                {dim, 32, 1, 1, (gbs_order)order, 1.0, GBS_LOCATION_OFFSET, GBS_STREAM_NATIVE});
        }
    }
}

int main(void)
{
    compare_all<float, 2>();
    compare_all<float, 4>();
    compare_all<float, 8>();
    compare_all<float, 16>();
    compare_all<float, 32>();
    compare_all<double, 2>();
    compare_all<double, 8>();
    compare_all<double, 32>();
    printf("one kernel's warps on the host, bit for bit against the CPU's sampler\n");
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
