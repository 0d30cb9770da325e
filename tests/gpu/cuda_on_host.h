/* Runs a CUDA kernel's own text on the host: every thread of a block is a coroutine that yields
 * at barriers, so the arithmetic, the indices and the barriers are the kernel's.  Threads run in
 * an order that changes from barrier to barrier, and an asynchronous copy shows nothing but
 * garbage until it is waited for: a missing barrier or wait gives wrong numbers. */
#ifndef GBS_TESTS_CUDA_ON_HOST_H
#define GBS_TESTS_CUDA_ON_HOST_H

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

struct coroutine {
    ucontext_t context;
    std::vector<char> stack;
    std::vector<std::vector<copy>> groups; /* committed */
    std::vector<copy> open;
    bool done, at_warp_barrier;
    uint64_t barriers, warp_barriers;
};

static std::vector<coroutine> threads;
static ucontext_t scheduler;
static int current;
static std::vector<unsigned char> shared_memory;
static void (*body)(void);

static inline void yield(bool warp)
{
    coroutine &me = threads[(size_t)current];
    me.at_warp_barrier = warp;
    ++(warp ? me.warp_barriers : me.barriers);
    const int saved = current;
    swapcontext(&me.context, &scheduler);
    current = saved;
}

static inline void entry(void)
{
    body();
    threads[(size_t)current].done = true;
}

static inline void land(std::vector<copy> &group)
{
    for (const copy &c : group)
        memcpy(c.to, c.from, c.bytes);
    group.clear();
}

static inline void run_block(int count, uint64_t *seed)
{
    threads.resize((size_t)count);
    for (int i = 0; i < count; ++i) {
        coroutine &t = threads[(size_t)i];
        t.stack.resize(256 * 1024);
        t.groups.clear();
        t.open.clear();
        t.done = false;
        t.barriers = t.warp_barriers = 0;
        getcontext(&t.context);
        t.context.uc_stack.ss_sp = t.stack.data();
        t.context.uc_stack.ss_size = t.stack.size();
        t.context.uc_link = &scheduler;
        makecontext(&t.context, entry, 0);
    }
    /* A warp goes on when all its threads wait at a warp's barrier, the block when all wait. */
    std::vector<int> ready;
    for (int i = 0; i < count; ++i)
        ready.push_back(i);
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
        ready.clear();
        int waiting = 0, done = 0;
        for (int w = 0; w < count; w += 32) {
            int at_warp = 0;
            for (int i = w; i < w + 32; ++i) {
                done += threads[(size_t)i].done;
                at_warp += !threads[(size_t)i].done && threads[(size_t)i].at_warp_barrier;
            }
            if (at_warp == 32)
                for (int i = w; i < w + 32; ++i)
                    ready.push_back(i);
            else if (at_warp != 0) {
                printf("FAIL warp %d: %d threads at a warp's barrier\n", w / 32, at_warp);
                exit(1);
            } else
                waiting += 32;
        }
        if (ready.empty() && done == 0)
            for (int i = 0; i < count; ++i)
                ready.push_back(i);
        else if (ready.empty() && done != count) {
            printf("FAIL %d of %d threads ended while others wait\n", done, count);
            exit(1);
        }
    }
}

} // namespace on_host

static inline void __syncthreads(void)
{
    on_host::yield(false);
    threadIdx.x = (unsigned)on_host::current;
}
static inline void __syncwarp(void)
{
    on_host::yield(true);
    threadIdx.x = (unsigned)on_host::current;
}

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
