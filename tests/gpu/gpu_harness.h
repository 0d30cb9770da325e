/* What the GPU test programs share: checked CUDA calls, counting, random models. */
#ifndef GBS_TESTS_GPU_HARNESS_H
#define GBS_TESTS_GPU_HARNESS_H

#include "gibbsite/gibbsite_cuda.h"

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int passed, failed;

#define CUDA(call)                                                                                 \
    do {                                                                                           \
        const cudaError_t error_ = (call);                                                         \
        if (error_ != cudaSuccess) {                                                               \
            printf("FAIL %s:%d %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_));  \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static inline void check(int good, const char *what)
{
    if (good)
        ++passed;
    else
        ++failed;
    if (!good)
        printf("FAIL %s\n", what);
}

static inline int finish(void)
{
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}

static inline double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53 - 0.5;
}

static inline size_t type_size(gbs_type type)
{
    return type == GBS_F32 ? sizeof(float) : sizeof(double);
}

static inline void put(void *array, gbs_type type, int64_t at, double value)
{
    if (type == GBS_F32)
        ((float *)array)[at] = (float)value;
    else
        ((double *)array)[at] = value;
}

static inline double get(const void *array, gbs_type type, int64_t at)
{
    return type == GBS_F32 ? (double)((const float *)array)[at] : ((const double *)array)[at];
}

/* Exactly symmetric, diagonally dominant [D, D]. */
static inline void *random_precision(gbs_type type, int64_t dim, uint64_t seed)
{
    void *const q = malloc((size_t)(dim * dim) * type_size(type));
    for (int64_t i = 0; i < dim; ++i)
        for (int64_t j = 0; j <= i; ++j) {
            const double value = i == j ? 1.5 + uniform(&seed) : uniform(&seed) * 1.6 / (double)dim;
            put(q, type, i * dim + j, value);
            put(q, type, j * dim + i, value);
        }
    return q;
}

static inline void *random_array(gbs_type type, int64_t count, double scale, uint64_t seed)
{
    void *const x = malloc((size_t)count * type_size(type) + 1);
    for (int64_t i = 0; i < count; ++i)
        put(x, type, i, scale * uniform(&seed));
    return x;
}

static inline void *to_device(const void *host, size_t bytes)
{
    void *device;
    CUDA(cudaMalloc(&device, bytes + 16));
    CUDA(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
    return device;
}

/* Runs a sweep with a workspace of its own; returns the status. */
static inline gbs_status run_sweep(const gbs_sweep_spec *spec, gbs_cuda_kernel kernel)
{
    char message[512] = "";
    gbs_cuda_launch launch = {0};
    launch.kernel = kernel;
    gbs_status status = gbs_cuda_sweep_workspace(spec, kernel, &launch.workspace_bytes);
    if (status == GBS_OK && launch.workspace_bytes > 0)
        CUDA(cudaMalloc(&launch.workspace, launch.workspace_bytes));
    if (status == GBS_OK)
        status = gbs_cuda_sweep(spec, &launch, message, sizeof message);
    if (status != GBS_OK)
        printf("gbs_cuda_sweep: %s: %s\n", gbs_status_name(status), message);
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaFree(launch.workspace));
    return status;
}

#endif
