/* Same bits on the GPU: every kernel, type, order, weight and location form against the CPU's
 * sampler, which other tests hold equal to the scalar reference.  Three sweeps from a given
 * start; exactly symmetric precisions, so that both sides read the same rows. */
#include "gpu_harness.h"

typedef struct shape {
    gbs_type type;
    int64_t dim, chains;
    gbs_order order;
    double omega;
    gbs_location location;
    gbs_stream stream;
} shape;

static int64_t ran[GBS_CUDA_KERNEL_SUMS + 1]; /* comparisons by kernel */

/* The CPU's answer; NULL and a printed reason if it refuses. */
static void *oracle(const shape *of, const void *q, const void *location, const void *x,
                    const void *noise, int64_t sweeps)
{
    gbs_context *ctx = NULL;
    gbs_model *model = NULL;
    gbs_sampler *sampler = NULL;
    void *out = malloc((size_t)(of->dim * of->chains) * type_size(of->type));
    gbs_model_spec m = gbs_model_spec_default();
    gbs_sampler_spec s = gbs_sampler_spec_default();
    m.dim = of->dim;
    m.matrix_type = m.location_type = of->type;
    m.matrix = q;
    m.location_kind = of->location;
    m.location = of->location == GBS_LOCATION_ZERO ? NULL : location;
    s.type = of->type;
    s.chains = of->chains;
    s.seed = 20261129;
    s.first_chain = of->stream == GBS_STREAM_NATIVE ? 4294967290 : 0;
    s.first_sweep = of->stream == GBS_STREAM_NATIVE ? 4294967294 : 0;
    s.order = of->order;
    s.omega = of->omega;
    s.start = GBS_START_GIVEN;
    s.initial = x;
    s.initial_rows = of->chains;
    s.stream.kind = of->stream;
    s.stream.noise_type = of->type;
    s.stream.noise = noise;
    s.stream.noise_sweeps = 2 * sweeps;
    gbs_status status = gbs_context_create(NULL, &ctx);
    if (status == GBS_OK)
        status = gbs_model_create(ctx, &m, &model);
    if (status == GBS_OK)
        status = gbs_sampler_create(ctx, model, &s, &sampler);
    if (status == GBS_OK)
        status = gbs_sampler_run(sampler, sweeps);
    if (status == GBS_OK)
        status = gbs_sampler_get_state(sampler, out);
    if (status != GBS_OK) {
        printf("oracle: %s\n", gbs_context_message(ctx));
        free(out);
        out = NULL;
    }
    gbs_sampler_destroy(sampler);
    gbs_model_release(model);
    gbs_context_destroy(ctx);
    return out;
}

static void compare(const shape *of, int64_t sweeps)
{
    const int64_t count = of->dim * of->chains;
    const size_t size = type_size(of->type), bytes = (size_t)count * size;
    void *const q = random_precision(of->type, of->dim, 11 + (uint64_t)of->dim);
    void *const location = random_array(of->type, of->dim, 6.0, 5);
    void *const x = random_array(of->type, count, 4.0, 7);
    void *const noise =
        random_array(of->type, of->stream == GBS_STREAM_GIVEN ? 2 * sweeps * count : 1, 4.0, 9);
    void *const expected = oracle(of, q, location, x, noise, sweeps);
    void *const got = malloc(bytes);

    gbs_sweep_spec spec;
    memset(&spec, 0, sizeof spec);
    spec.type = of->type;
    spec.groups = 1;
    spec.chains = of->chains;
    spec.dim = of->dim;
    void *const q_device = to_device(q, (size_t)(of->dim * of->dim) * size);
    void *const location_device = to_device(location, (size_t)of->dim * size);
    void *const x_device = to_device(x, bytes);
    void *const noise_device =
        to_device(noise, of->stream == GBS_STREAM_GIVEN ? 2 * (size_t)sweeps * bytes : 1);
    spec.precision = q_device;
    spec.location_kind = of->location;
    spec.location = location_device;
    spec.x = x_device;
    spec.out = x_device;
    spec.sweeps = sweeps;
    spec.order = of->order;
    spec.omega = of->omega;
    spec.stream = of->stream;
    spec.seed = 20261129;
    spec.first_chain = of->stream == GBS_STREAM_NATIVE ? 4294967290 : 0;
    spec.first_sweep = of->stream == GBS_STREAM_NATIVE ? 4294967294 : 0;
    spec.noise = noise_device;
    for (int kernel = GBS_CUDA_KERNEL_LANES; kernel <= GBS_CUDA_KERNEL_SUMS; ++kernel) {
        const int small = of->dim <= 128, native = of->stream == GBS_STREAM_NATIVE;
        const int f32 = of->type == GBS_F32;
        if ((kernel == GBS_CUDA_KERNEL_LANES && !small) ||
            (kernel == GBS_CUDA_KERNEL_THREADS && !(native && of->dim <= (f32 ? 24 : 16))) ||
            (kernel == GBS_CUDA_KERNEL_SHARED && !(native && of->dim <= (f32 ? 128 : 96))) ||
            (kernel == GBS_CUDA_KERNEL_SUMS &&
             !(native && of->dim <= 256 && of->order != GBS_ORDER_SYMMETRIC)))
            continue;
        CUDA(cudaMemcpy(x_device, x, bytes, cudaMemcpyHostToDevice));
        const gbs_status status = run_sweep(&spec, (gbs_cuda_kernel)kernel);
        CUDA(cudaMemcpy(got, x_device, bytes, cudaMemcpyDeviceToHost));
        int64_t wrong = 0, first = -1;
        for (int64_t i = 0; expected != NULL && i < count; ++i)
            if (memcmp((char *)got + (size_t)i * size, (char *)expected + (size_t)i * size, size) !=
                0) {
                first = first < 0 ? i : first;
                ++wrong;
            }
        char what[256];
        snprintf(what, sizeof what,
                 "%s D=%lld B=%lld order=%d omega=%g location=%d stream=%d: %lld of %lld differ%s",
                 gbs_cuda_sweep_kernel(&spec, (gbs_cuda_kernel)kernel), (long long)of->dim,
                 (long long)of->chains, (int)of->order, of->omega, (int)of->location,
                 (int)of->stream, (long long)wrong, (long long)count,
                 status != GBS_OK ? ", launch failed" : "");
        if (wrong > 0)
            printf("first at chain %lld site %lld: expected %.17g, got %.17g\n",
                   (long long)(first / of->dim), (long long)(first % of->dim),
                   get(expected, of->type, first), get(got, of->type, first));
        check(status == GBS_OK && expected != NULL && wrong == 0, what);
        ++ran[kernel];
    }
    CUDA(cudaFree(q_device));
    CUDA(cudaFree(location_device));
    CUDA(cudaFree(x_device));
    CUDA(cudaFree(noise_device));
    free(q);
    free(location);
    free(x);
    free(noise);
    free(expected);
    free(got);
}

/* A few small cases through every kernel, for tools that run hundreds of times slower. */
static void compare_for_sanitizers(void)
{
    static const int64_t dims[] = {5, 18, 150};
    for (int type = 0; type < 2; ++type)
        for (size_t d = 0; d < sizeof dims / sizeof dims[0]; ++d) {
            compare(&(shape){(gbs_type)type, dims[d], 9, GBS_ORDER_SYMMETRIC, 1.3,
                             GBS_LOCATION_MEAN, GBS_STREAM_NATIVE},
                    2);
            compare(&(shape){(gbs_type)type, dims[d], 9, GBS_ORDER_BACKWARD, 1.3, GBS_LOCATION_ZERO,
                             GBS_STREAM_NATIVE},
                    2);
            compare(&(shape){(gbs_type)type, dims[d], 9, GBS_ORDER_FORWARD, 1.0,
                             GBS_LOCATION_OFFSET, GBS_STREAM_GIVEN},
                    1);
        }
}

/* Around the edges of panels of 256, 512 and 1024 rows, and several panels: the CPU's model takes a
 * second each at these sizes, so combinations are few. */
static void compare_large(void)
{
    static const int64_t dims[] = {513, 1023, 1024, 1025, 2047, 2048, 2500};
    for (int type = 0; type < 2; ++type)
        for (size_t d = 0; d < sizeof dims / sizeof dims[0]; ++d) {
            compare(&(shape){(gbs_type)type, dims[d], 1, GBS_ORDER_FORWARD, 1.0, GBS_LOCATION_ZERO,
                             GBS_STREAM_NATIVE},
                    1);
            compare(&(shape){(gbs_type)type, dims[d], 100, GBS_ORDER_FORWARD, 1.0,
                             GBS_LOCATION_MEAN, GBS_STREAM_NATIVE},
                    3);
            compare(&(shape){(gbs_type)type, dims[d], 33, GBS_ORDER_BACKWARD, 1.3,
                             GBS_LOCATION_INFORMATION, GBS_STREAM_NATIVE},
                    3);
            compare(&(shape){(gbs_type)type, dims[d], 31, GBS_ORDER_SYMMETRIC, 0.7,
                             GBS_LOCATION_OFFSET, GBS_STREAM_GIVEN},
                    2);
        }
}

int main(int argc, char **argv)
{
    const int quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    static const int64_t dims[] = {1,  2,   3,   5,   8,   16,  20,  31,  32,  33,
                                   64, 100, 128, 136, 200, 256, 257, 512, 1000};
    static const int64_t chains[] = {1, 2, 31, 32, 33, 1000, 4097};
    if (argc > 1 && strcmp(argv[1], "--sanitizer") == 0) {
        compare_for_sanitizers();
        return finish();
    }
    if (argc > 1 && strcmp(argv[1], "--large") == 0) {
        compare_large();
        return finish();
    }
    for (int type = 0; type < 2; ++type)
        for (size_t d = 0; d < sizeof dims / sizeof dims[0]; ++d) {
            if (quick && dims[d] > 257)
                continue;
            for (size_t b = 0; b < sizeof chains / sizeof chains[0]; ++b) {
                if (quick && b != 1 && b != 4)
                    continue;
                for (int order = 0; order < 3; ++order)
                    compare(&(shape){(gbs_type)type, dims[d], chains[b], (gbs_order)order, 1.0,
                                     (gbs_location)(order + 1), GBS_STREAM_NATIVE},
                            3);
            }
            for (int location = 0; location < 4; ++location) /* a kernel for plain single sweeps */
                compare(&(shape){(gbs_type)type, dims[d], 1000, GBS_ORDER_FORWARD, 1.0,
                                 (gbs_location)location, GBS_STREAM_NATIVE},
                        1);
            for (int order = 0; order < 3; ++order) { /* and one for the others */
                compare(&(shape){(gbs_type)type, dims[d], 33, (gbs_order)order, 1.0,
                                 GBS_LOCATION_ZERO, GBS_STREAM_NATIVE},
                        1);
                compare(&(shape){(gbs_type)type, dims[d], 1000, (gbs_order)order, 1.3,
                                 GBS_LOCATION_MEAN, GBS_STREAM_GIVEN},
                        1);
            }
            for (int order = 0; order < 3; ++order) {
                compare(&(shape){(gbs_type)type, dims[d], 33, (gbs_order)order, 1.3,
                                 GBS_LOCATION_MEAN, GBS_STREAM_NATIVE},
                        3);
                compare(&(shape){(gbs_type)type, dims[d], 33, (gbs_order)order, 0.7,
                                 GBS_LOCATION_INFORMATION, GBS_STREAM_GIVEN},
                        3);
                compare(&(shape){(gbs_type)type, dims[d], 33, (gbs_order)order, 1.0,
                                 GBS_LOCATION_OFFSET, GBS_STREAM_GIVEN},
                        3);
            }
            if (!quick && dims[d] <= 33)
                for (int order = 0; order < 3; ++order) {
                    compare(&(shape){(gbs_type)type, dims[d], 100003, (gbs_order)order, 1.0,
                                     GBS_LOCATION_MEAN, GBS_STREAM_NATIVE},
                            3);
                    compare(&(shape){(gbs_type)type, dims[d], 100003, (gbs_order)order, 1.3,
                                     GBS_LOCATION_ZERO, GBS_STREAM_NATIVE},
                            3);
                }
        }
    if (!quick)
        compare_large();
    printf("comparisons: lanes %lld, threads %lld, shared %lld, tiles %lld, sums %lld\n",
           (long long)ran[1], (long long)ran[2], (long long)ran[3], (long long)ran[4],
           (long long)ran[5]);
    return finish();
}
