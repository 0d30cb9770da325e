/* Draws between bounds a second on the current GPU, by where the bounds lie: numbers for all draws,
 * then arrays in which every warp holds all kinds.  Median of 20 launches of 2^26 draws (2^24 in
 * double), by the device's clock. */
#include "gibbsite/gibbsite_cuda.h"

#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { REPEATS = 20 };

#define CUDA(call)                                                                                 \
    do {                                                                                           \
        const cudaError_t error_ = (call);                                                         \
        if (error_ != cudaSuccess) {                                                               \
            printf("%s: %s\n", #call, cudaGetErrorString(error_));                                 \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static int by_size(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static void time_it(const char *what, const gbs_truncnorm_spec *spec, gbs_type type, void *out)
{
    cudaEvent_t begin, end;
    float ms[REPEATS];
    char message[256] = "";
    CUDA(cudaEventCreate(&begin));
    CUDA(cudaEventCreate(&end));
    for (int k = -2; k < REPEATS; ++k) {
        CUDA(cudaEventRecord(begin, NULL));
        const gbs_status status =
            type == GBS_F32 ? gbs_cuda_truncnorm_f32(spec, out, NULL, message, sizeof message)
                            : gbs_cuda_truncnorm_f64(spec, out, NULL, message, sizeof message);
        CUDA(cudaEventRecord(end, NULL));
        CUDA(cudaEventSynchronize(end));
        if (status != GBS_OK) {
            printf("%s\n", message);
            exit(1);
        }
        if (k >= 0)
            CUDA(cudaEventElapsedTime(&ms[k], begin, end));
    }
    qsort(ms, REPEATS, sizeof *ms, by_size);
    printf("%s %-34s %7.1f G draws/s\n", type == GBS_F32 ? "f32" : "f64", what,
           (double)spec->shape[0] / (double)ms[REPEATS / 2] * 1e-6);
    CUDA(cudaEventDestroy(begin));
    CUDA(cudaEventDestroy(end));
}

static const void *number(gbs_type type, double value)
{
    const float single = (float)value;
    void *device = NULL;
    CUDA(cudaMalloc(&device, sizeof value));
    CUDA(cudaMemcpy(device, type == GBS_F32 ? (const void *)&single : (const void *)&value,
                    type == GBS_F32 ? sizeof single : sizeof value, cudaMemcpyHostToDevice));
    return device;
}

/* lower[i] by turns, so that a warp holds tails, boxes around the mean and narrow ones. */
static const void *mixed(gbs_type type, int64_t count)
{
    static const double lower[] = {-1, 0.5, 3, -4, 8, 2.99};
    const size_t size = type == GBS_F32 ? sizeof(float) : sizeof(double);
    char *const host = malloc((size_t)count * size);
    void *device = NULL;
    for (int64_t i = 0; i < count; ++i)
        if (type == GBS_F32)
            ((float *)host)[i] = (float)lower[i % 6];
        else
            ((double *)host)[i] = lower[i % 6];
    CUDA(cudaMalloc(&device, (size_t)count * size));
    CUDA(cudaMemcpy(device, host, (size_t)count * size, cudaMemcpyHostToDevice));
    free(host);
    return device;
}

int main(void)
{
    static const struct {
        const char *what;
        double lower, upper;
    } boxes[] = {
        {"no bounds", -INFINITY, INFINITY}, {"[-1, 2]", -1, 2},   {"[0, inf)", 0, INFINITY},
        {"[5, inf)", 5, INFINITY},          {"[40, 41]", 40, 41}, {"[1, 1.01]", 1, 1.01},
        {"[1000, inf)", 1000, INFINITY}};
    for (int type = 0; type < 2; ++type) {
        const int64_t count = (int64_t)1 << (type == GBS_F32 ? 26 : 24);
        void *out = NULL;
        CUDA(cudaMalloc(&out, (size_t)count * 8));
        gbs_truncnorm_spec spec = gbs_truncnorm_spec_default();
        spec.dims = 1;
        spec.shape[0] = count;
        for (size_t b = 0; b < sizeof boxes / sizeof *boxes; ++b) {
            spec.lower = gbs_operand_array(number((gbs_type)type, boxes[b].lower), 0, NULL);
            spec.upper = gbs_operand_array(number((gbs_type)type, boxes[b].upper), 0, NULL);
            time_it(boxes[b].what, &spec, (gbs_type)type, out);
        }
        spec.lower = gbs_operand_array(mixed((gbs_type)type, count), 1, &count);
        spec.upper = gbs_operand_array(number((gbs_type)type, INFINITY), 0, NULL);
        time_it("a mixture in every warp, to infinity", &spec, (gbs_type)type, out);
        spec.upper = gbs_operand_array(number((gbs_type)type, 8.5), 0, NULL);
        time_it("a mixture in every warp, to 8.5", &spec, (gbs_type)type, out);
        CUDA(cudaFree(out));
    }
    return 0;
}
