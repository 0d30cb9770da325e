/* Runs a CUDA kernel's own text on the host: every thread of a block is a coroutine that yields
 * at barriers, so the arithmetic, the indices and the barriers are the kernel's.  Threads run in
 * an order that changes from barrier to barrier, and an asynchronous copy shows nothing but
 * garbage until it is waited for: a missing barrier or wait gives wrong numbers. */
#ifndef GBS_TESTS_CUDA_ON_HOST_H
#define GBS_TESTS_CUDA_ON_HOST_H

#define GBS_CUDA_ON_HOST /* asks kernels for the host's twin of what only a device has */

#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <vector>

#undef __launch_bounds__
#define __launch_bounds__(...)
#undef __shared__
#define __shared__ static

static uint3 threadIdx, blockIdx;
static dim3 blockDim, gridDim;

static inline float __fmaf_rn(float a, float b, float c)
{
    return fmaf(a, b, c);
}
static inline double __fma_rn(double a, double b, double c)
{
    return fma(a, b, c);
}
static inline float __fdiv_rn(float a, float b)
{
    return a / b;
}
static inline double __ddiv_rn(double a, double b)
{
    return a / b;
}
static inline float __fsqrt_rn(float a)
{
    return sqrtf(a);
}
#define __sincosf sincosf_on_host
static inline void sincosf_on_host(float a, float *s, float *c)
{
    *s = sinf(a), *c = cosf(a);
}
#define sincospi sincospi_on_host
static inline void sincospi_on_host(double a, double *s, double *c)
{
    *s = sin(M_PI * a), *c = cos(M_PI * a);
}

namespace on_host
{

struct copy {
    void *to;
    const void *from;
    size_t bytes;
};

enum place { GOING, AT_BLOCK, AT_WARP, AT_NAMED, ENDED };

struct coroutine {
    ucontext_t context;
    std::vector<char> stack;
    std::vector<std::vector<copy>> groups; /* committed */
    std::vector<copy> open;
    place at;
    int named; /* barrier waited for */
};

/* A barrier of 16 that some of the threads share: who came, and how many are to come. */
struct named_barrier {
    int came, expected;
};

static std::vector<coroutine> threads;
static named_barrier named[16];
static ucontext_t scheduler;
static int current;
static std::vector<unsigned char> shared_memory;
static void (*body)(void);

static inline void yield(place at, int barrier)
{
    coroutine &me = threads[(size_t)current];
    me.at = at;
    me.named = barrier;
    const int saved = current;
    swapcontext(&me.context, &scheduler);
    current = saved;
    threadIdx.x = (unsigned)saved;
}

/* PTX's bar.sync. */
static inline void join_barrier(int barrier, int count)
{
    named_barrier &b = named[barrier];
    if (b.came > 0 && b.expected != count) {
        printf("FAIL barrier %d: %d threads expected, then %d\n", barrier, b.expected, count);
        exit(1);
    }
    b.expected = count;
    ++b.came;
    yield(AT_NAMED, barrier);
}

static inline void entry(void)
{
    body();
    threads[(size_t)current].at = ENDED;
}

static inline void land(std::vector<copy> &group)
{
    for (const copy &c : group)
        memcpy(c.to, c.from, c.bytes);
    group.clear();
}

/* Threads that may go on: a warp whose threads all wait at a warp's barrier, those of a complete
 * named barrier, and else, if all wait for the block, all. */
static inline std::vector<int> released(int count)
{
    std::vector<int> ready;
    int at[ENDED + 1] = {0};
    for (int w = 0; w < count; w += 32) {
        int at_warp = 0;
        for (int i = w; i < w + 32; ++i) {
            ++at[threads[(size_t)i].at];
            at_warp += threads[(size_t)i].at == AT_WARP;
        }
        for (int i = w; at_warp == 32 && i < w + 32; ++i)
            ready.push_back(i);
        if (at_warp != 0 && at_warp != 32) {
            printf("FAIL warp %d: %d threads at a warp's barrier\n", w / 32, at_warp);
            exit(1);
        }
    }
    for (int k = 0; k < 16; ++k)
        if (named[k].came > 0 && named[k].came == named[k].expected) {
            for (int i = 0; i < count; ++i)
                if (threads[(size_t)i].at == AT_NAMED && threads[(size_t)i].named == k)
                    ready.push_back(i);
            named[k].came = 0;
        }
    const bool all_wait = ready.empty() && at[AT_BLOCK] == count;
    for (int i = 0; all_wait && i < count; ++i)
        ready.push_back(i);
    if (ready.empty() && at[ENDED] != count) {
        printf("FAIL no thread can go on: %d at the block's barrier, %d at named ones, %d ended\n",
               at[AT_BLOCK], at[AT_NAMED], at[ENDED]);
        exit(1);
    }
    return ready;
}

static inline void run_block(int count, uint64_t *seed)
{
    threads.resize((size_t)count);
    memset(named, 0, sizeof named);
    std::vector<int> ready;
    for (int i = 0; i < count; ++i) {
        coroutine &t = threads[(size_t)i];
        t.stack.resize(256 * 1024);
        t.groups.clear();
        t.open.clear();
        t.at = GOING;
        getcontext(&t.context);
        t.context.uc_stack.ss_sp = t.stack.data();
        t.context.uc_stack.ss_size = t.stack.size();
        t.context.uc_link = &scheduler;
        makecontext(&t.context, entry, 0);
        ready.push_back(i);
    }
    while (!ready.empty()) {
        for (size_t i = ready.size() - 1; i > 0; --i) {
            *seed = *seed * 6364136223846793005u + 1442695040888963407u;
            std::swap(ready[i], ready[(*seed >> 33) % (i + 1)]);
        }
        for (const int i : ready) {
            current = i;
            threadIdx.x = (unsigned)i;
            swapcontext(&scheduler, &threads[(size_t)i].context);
        }
        ready = released(count);
    }
}

} // namespace on_host

static inline void __syncthreads(void)
{
    on_host::yield(on_host::AT_BLOCK, 0);
}
static inline void __syncwarp(void)
{
    on_host::yield(on_host::AT_WARP, 0);
}

/* Every thread of a warp, or of the block, takes part. */
template <typename T> static inline T __shfl_sync(unsigned, T value, int source, int width)
{
    static double slots[1024]; /* of the largest type */
    static_assert(sizeof(T) <= sizeof slots[0], "a value fits its slot");
    const int me = on_host::current;
    memcpy(&slots[me], &value, sizeof value);
    __syncwarp();
    memcpy(&value, &slots[(me & ~(width - 1)) + (source & (width - 1))], sizeof value);
    __syncwarp();
    return value;
}

static inline int __syncthreads_or(int predicate)
{
    static int any;
    any |= predicate;
    __syncthreads();
    const int result = any;
    __syncthreads();
    any = 0;
    __syncthreads();
    return result;
}

template <typename T> static inline T __ldcg(const T *from)
{
    return *from;
}
static inline unsigned __float_as_uint(float value)
{
    unsigned bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

namespace on_host
{

/* What the kernel ahead in the stream still writes: done once every thread waits for it. */
static void (*previous)(void);

static inline void wait_for_previous(void)
{
    __syncthreads();
    if (previous != NULL)
        previous();
    previous = NULL;
    __syncthreads();
}

} // namespace on_host

static inline void __pipeline_memcpy_async(void *to, const void *from, size_t bytes)
{
    if ((uintptr_t)to % bytes != 0 || (uintptr_t)from % bytes != 0) {
        printf("FAIL a copy that is not aligned\n");
        exit(1);
    }
    memset(to, 0xFF, bytes);
    on_host::threads[(size_t)on_host::current].open.push_back({to, from, bytes});
}

static inline void __pipeline_commit(void)
{
    on_host::coroutine &me = on_host::threads[(size_t)on_host::current];
    me.groups.push_back(me.open);
    me.open.clear();
}

static inline void __pipeline_wait_prior(size_t prior)
{
    on_host::coroutine &me = on_host::threads[(size_t)on_host::current];
    while (me.groups.size() > prior) {
        on_host::land(me.groups.front());
        me.groups.erase(me.groups.begin());
    }
}

#endif
