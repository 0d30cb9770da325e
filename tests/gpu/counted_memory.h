/* Device memory that counts what is taken and given back, and refuses one request. */
#ifndef GBS_TESTS_COUNTED_MEMORY_H
#define GBS_TESTS_COUNTED_MEMORY_H

#include "gpu_harness.h"

/* The request of number `refuse` is refused, once. */
typedef struct counted {
    int64_t taken, given, refuse;
} counted;

static void *take_counted(size_t bytes, void *user)
{
    counted *const c = user;
    void *memory = NULL;
    if (c->taken == c->refuse) {
        c->refuse = -1;
        return NULL;
    }
    CUDA(cudaMalloc(&memory, bytes));
    ++c->taken;
    return memory;
}

static void give_counted(void *memory, void *user)
{
    ++((counted *)user)->given;
    CUDA(cudaFree(memory));
}

#endif
