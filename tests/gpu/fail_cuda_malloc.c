/* Preloaded (LD_PRELOAD) before a program that uses the shared CUDA runtime: counts its device
 * allocations and lets the k-th from now fail.  Used by test_op_memory.py. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>

#define EXPORTED __attribute__((visibility("default")))
#define OUT_OF_MEMORY 2 /* cudaErrorMemoryAllocation */

typedef int malloc_function(void **, size_t);
typedef int free_function(void *);

static atomic_long calls, live, fail_at; /* fail_at 0: none */

EXPORTED long fail_cuda_malloc_calls(void)
{
    return atomic_load(&calls);
}

EXPORTED long fail_cuda_malloc_live(void)
{
    return atomic_load(&live);
}

/* The k-th call from now fails, once; 0 for none. */
EXPORTED void fail_cuda_malloc_at(long k)
{
    atomic_store(&fail_at, k > 0 ? atomic_load(&calls) + k : 0);
}

/* PyTorch's own runtime, wherever it was loaded from. */
static void *runtime(const char *name)
{
    static const char *const libraries[] = {"libcudart.so.13", "libcudart.so.12"};
    for (size_t k = 0; k < sizeof libraries / sizeof libraries[0]; ++k) {
        void *const library = dlopen(libraries[k], RTLD_LAZY | RTLD_NOLOAD);
        if (library != NULL)
            return dlsym(library, name);
    }
    return dlsym(RTLD_NEXT, name);
}

EXPORTED int cudaMalloc(void **pointer, size_t bytes)
{
    const long number = atomic_fetch_add(&calls, 1) + 1;
    if (number == atomic_load(&fail_at))
        return OUT_OF_MEMORY;
    malloc_function *real;
    *(void **)&real = runtime("cudaMalloc");
    if (real == NULL)
        return OUT_OF_MEMORY;
    const int status = real(pointer, bytes);
    if (status == 0 && *pointer != NULL) /* of no bytes it succeeds and gives nothing */
        atomic_fetch_add(&live, 1);
    return status;
}

EXPORTED int cudaFree(void *pointer)
{
    free_function *real;
    *(void **)&real = runtime("cudaFree");
    if (real == NULL)
        return OUT_OF_MEMORY;
    const int status = real(pointer);
    if (status == 0 && pointer != NULL)
        atomic_fetch_sub(&live, 1);
    return status;
}
