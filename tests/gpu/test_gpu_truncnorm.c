/* Draws between bounds on the GPU: the same bits as the CPU's, which other tests hold equal to the
 * scalar reference and to exact distribution functions, for arrays and numbers of every shape, odd
 * places and counts, given words; NaN where the CPU refuses; capture in a CUDA graph. */
#include "gpu_harness.h"

#include <math.h>

enum { OPERANDS = 5 };

/* Operands by which dimensions of [2, 3, count] they have: bits 1, 2, 4; 8 leaves one out. */
typedef struct layout {
    int has[OPERANDS];
    int64_t count, place;
    gbs_stream stream;
} layout;

static int64_t shape_of(int has, int64_t count, int64_t shape[3])
{
    shape[0] = has & 1 ? 2 : 1;
    shape[1] = has & 2 ? 3 : 1;
    shape[2] = has & 4 ? count : 1;
    return shape[0] * shape[1] * shape[2];
}

/* Bounds near and far, infinite, equal; upper is above every lower. */
static void fill(gbs_type type, int k, int64_t count, void *to, uint64_t seed)
{
    for (int64_t i = 0; i < count; ++i) {
        const double z = 2 * uniform(&seed), size = exp(8 * uniform(&seed));
        const double value[4] = {z, size, i % 7 == 0 ? -INFINITY : z * size * 10, 1};
        if (k < 3)
            put(to, type, i, value[k]);
        else if (k == 3)
            put(to, type, i, i % 5 == 0 ? INFINITY : 600 + size);
        else if (type == GBS_F32)
            ((uint32_t *)to)[i] = (uint32_t)((uniform(&seed) + 0.5) * 4294967296.0);
        else
            ((uint64_t *)to)[i] = (uint64_t)((uniform(&seed) + 0.5) * 9007199254740992.0);
    }
}

static gbs_status run(gbs_type type, const gbs_truncnorm_spec *spec, void *out, void *stream)
{
    char message[256] = "";
    const gbs_status status =
        type == GBS_F32 ? gbs_cuda_truncnorm_f32(spec, out, stream, message, sizeof message)
                        : gbs_cuda_truncnorm_f64(spec, out, stream, message, sizeof message);
    if (status != GBS_OK)
        printf("gbs_cuda_truncnorm: %s: %s\n", gbs_status_name(status), message);
    return status;
}

static void compare(gbs_context *ctx, gbs_type type, const layout *of)
{
    const size_t size = type_size(type);
    gbs_truncnorm_spec host = gbs_truncnorm_spec_default(), device;
    host.dims = 3;
    const int64_t count = shape_of(7, of->count, host.shape);
    host.seed = 20261129;
    host.sweep = 4294967298;
    host.chain = 4294967299;
    host.place = of->place;
    host.stream = of->stream;
    device = host;
    gbs_operand *const on_host[OPERANDS] = {&host.mean, &host.sd, &host.lower, &host.upper,
                                            &host.word};
    gbs_operand *const on_device[OPERANDS] = {&device.mean, &device.sd, &device.lower,
                                              &device.upper, &device.word};
    void *values[OPERANDS] = {NULL}, *device_values[OPERANDS] = {NULL};
    for (int k = 0; k < (of->stream == GBS_STREAM_GIVEN ? 5 : 4); ++k) {
        int64_t shape[3];
        const int64_t elements = shape_of(of->has[k], of->count, shape);
        if (of->has[k] & 8)
            continue;
        values[k] = malloc((size_t)elements * size);
        fill(type, k, elements, values[k], 100 * (uint64_t)k + (uint64_t)of->count);
        device_values[k] = to_device(values[k], (size_t)elements * size);
        *on_host[k] = gbs_operand_array(values[k], 3, shape);
        *on_device[k] = gbs_operand_array(device_values[k], 3, shape);
    }
    void *const expected = malloc((size_t)count * size), *const got = malloc((size_t)count * size);
    void *out = NULL;
    CUDA(cudaMalloc(&out, (size_t)count * size));
    const gbs_status on_cpu = type == GBS_F32 ? gbs_truncnorm_f32(ctx, &host, expected)
                                              : gbs_truncnorm_f64(ctx, &host, expected);
    const gbs_status on_gpu = run(type, &device, out, NULL);
    CUDA(cudaMemcpy(got, out, (size_t)count * size, cudaMemcpyDeviceToHost));
    int64_t wrong = 0;
    for (int64_t i = 0; i < count; ++i)
        wrong +=
            memcmp((char *)expected + (size_t)i * size, (char *)got + (size_t)i * size, size) != 0;
    char what[256];
    snprintf(what, sizeof what,
             "truncnorm_%s, operands %d %d %d %d, [2, 3, %lld] from place %lld, stream %d: %lld of "
             "%lld differ",
             type == GBS_F32 ? "f32" : "f64", of->has[0], of->has[1], of->has[2], of->has[3],
             (long long)of->count, (long long)of->place, (int)of->stream, (long long)wrong,
             (long long)count);
    check(on_cpu == GBS_OK && on_gpu == GBS_OK && wrong == 0, what);
    for (int k = 0; k < OPERANDS; ++k) {
        free(values[k]);
        CUDA(cudaFree(device_values[k]));
    }
    CUDA(cudaFree(out));
    free(expected);
    free(got);
}

static void compare_layouts(gbs_context *ctx, int64_t largest)
{
    static const int mixes[][OPERANDS] = {{8, 8, 0, 8, 7}, {0, 0, 0, 0, 0}, {7, 7, 7, 7, 7},
                                          {7, 0, 0, 0, 4}, {4, 2, 1, 0, 7}, {3, 5, 6, 7, 1},
                                          {8, 4, 7, 8, 7}, {4, 4, 4, 4, 4}};
    const int64_t counts[] = {1, 2, 33, 1000, 4096, largest};
    const int64_t places[] = {0, 4, 1, 4294967291};
    for (int type = 0; type < 2; ++type)
        for (size_t m = 0; m < sizeof mixes / sizeof *mixes; ++m)
            for (size_t c = 0; c < sizeof counts / sizeof *counts; ++c)
                for (size_t p = 0; p < 4 && counts[c] <= largest; ++p)
                    for (int stream = 0; stream < (p == 0 ? 2 : 1); ++stream) {
                        layout of = {
                            .count = counts[c], .place = places[p], .stream = (gbs_stream)stream};
                        memcpy(of.has, mixes[m], sizeof of.has);
                        compare(ctx, (gbs_type)type, &of);
                    }
}

/* What the CPU refuses is NaN here, and nothing else is. */
static void check_nan(void)
{
    static const double boxes[][4] = {{0, 1, 2, 1},
                                      {0, 1, NAN, 1},
                                      {0, 1, 0, NAN},
                                      {NAN, 1, 0, 1},
                                      {0, NAN, 0, 1},
                                      {0, 0, 0, 1},
                                      {0, -1, 0, 1},
                                      {0, INFINITY, 0, 1},
                                      {INFINITY, 1, 0, 1},
                                      {0, 1, INFINITY, INFINITY},
                                      {0, 1, -INFINITY, -INFINITY},
                                      {0, 1, 1, 1}};
    enum { BOXES = sizeof boxes / sizeof *boxes };
    for (int type = 0; type < 2; ++type) {
        void *const host = malloc(BOXES * 8), *device[4], *out = NULL;
        gbs_truncnorm_spec spec = gbs_truncnorm_spec_default();
        gbs_operand *const operand[4] = {&spec.mean, &spec.sd, &spec.lower, &spec.upper};
        const int64_t shape[1] = {BOXES};
        spec.dims = 1;
        spec.shape[0] = BOXES;
        for (int k = 0; k < 4; ++k) {
            for (int i = 0; i < BOXES; ++i)
                put(host, (gbs_type)type, i, boxes[i][k]);
            device[k] = to_device(host, BOXES * type_size((gbs_type)type));
            *operand[k] = gbs_operand_array(device[k], 1, shape);
        }
        CUDA(cudaMalloc(&out, BOXES * 8));
        const gbs_status status = run((gbs_type)type, &spec, out, NULL);
        CUDA(cudaMemcpy(host, out, BOXES * type_size((gbs_type)type), cudaMemcpyDeviceToHost));
        int good = status == GBS_OK && get(host, (gbs_type)type, BOXES - 1) == 1;
        for (int i = 0; i < BOXES - 1; ++i)
            good = good && isnan(get(host, (gbs_type)type, i));
        check(good, "bad boxes give NaN, a point itself");
        for (int k = 0; k < 4; ++k)
            CUDA(cudaFree(device[k]));
        CUDA(cudaFree(out));
        free(host);
    }
}

static void check_refusals(void)
{
    float *out = NULL;
    int64_t on_bound;
    char message[256] = "";
    CUDA(cudaMalloc((void **)&out, 64));
    gbs_truncnorm_spec spec = gbs_truncnorm_spec_default();
    const int64_t two[1] = {2};
    spec.dims = 1;
    spec.shape[0] = 3;
    spec.mean = gbs_operand_array(out, 1, two);
    check(gbs_cuda_truncnorm_f32(&spec, out, NULL, message, sizeof message) == GBS_ERROR_ARGUMENT &&
              strstr(message, "mean: shape [2] does not broadcast to out's [3]") != NULL,
          "a shape that does not broadcast");
    spec.mean.values = NULL;
    spec.on_bound = &on_bound;
    check(gbs_cuda_truncnorm_f32(&spec, out, NULL, message, sizeof message) == GBS_ERROR_ARGUMENT,
          "on_bound");
    spec.on_bound = NULL;
    spec.place = (int64_t)1 << 34;
    check(gbs_cuda_truncnorm_f32(&spec, out, NULL, message, sizeof message) == GBS_ERROR_LIMIT,
          "a place beyond the stream");
    spec.place = 0;
    check(gbs_cuda_truncnorm_f32(&spec, NULL, NULL, message, sizeof message) == GBS_ERROR_ARGUMENT,
          "no out");
    spec.shape[0] = 0;
    check(gbs_cuda_truncnorm_f32(&spec, NULL, NULL, message, sizeof message) == GBS_OK, "nothing");
    CUDA(cudaFree(out));
}

/* Captured on a stream of its own and replayed: the numbers of the capture. */
static void check_graph(gbs_context *ctx)
{
    enum { COUNT = 100000 };
    float *out = NULL, lower = 3, *const device_lower = to_device(&lower, sizeof lower);
    float *const expected = malloc(COUNT * sizeof *expected), *const got =
                                                                  malloc(COUNT * sizeof *got);
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t program;
    CUDA(cudaMalloc((void **)&out, COUNT * sizeof *out));
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    gbs_truncnorm_spec spec = gbs_truncnorm_spec_default();
    spec.dims = 1;
    spec.shape[0] = COUNT;
    spec.lower = gbs_operand_array(&lower, 0, NULL);
    check(gbs_truncnorm_f32(ctx, &spec, expected) == GBS_OK, "the CPU's draws");
    spec.lower = gbs_operand_array(device_lower, 0, NULL);
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    const gbs_status status = run(GBS_F32, &spec, out, stream);
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&program, graph, 0));
    int same = status == GBS_OK;
    for (int replay = 0; replay < 2; ++replay) {
        CUDA(cudaMemset(out, 0, COUNT * sizeof *out));
        CUDA(cudaDeviceSynchronize());
        CUDA(cudaGraphLaunch(program, stream));
        CUDA(cudaStreamSynchronize(stream));
        CUDA(cudaMemcpy(got, out, COUNT * sizeof *got, cudaMemcpyDeviceToHost));
        same = same && memcmp(expected, got, COUNT * sizeof *got) == 0;
    }
    check(same, "captured and replayed twice: the CPU's bits");
    CUDA(cudaGraphExecDestroy(program));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaStreamDestroy(stream));
    CUDA(cudaFree(out));
    CUDA(cudaFree(device_lower));
    free(expected);
    free(got);
}

int main(int argc, char **argv)
{
    gbs_context *ctx = NULL;
    if (gbs_context_create(NULL, &ctx) != GBS_OK)
        return 1;
    const int sanitizer = argc > 1 && strcmp(argv[1], "--sanitizer") == 0;
    compare_layouts(ctx, sanitizer ? 33 : 500000);
    check_nan();
    check_refusals();
    check_graph(ctx);
    gbs_context_destroy(ctx);
    return finish();
}
