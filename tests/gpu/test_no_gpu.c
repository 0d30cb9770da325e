/* Without a GPU or a driver the CUDA library links, loads, checks its arguments and says clearly
 * that it cannot run.  With one, the same calls work, so this program only checks what holds in
 * both cases. */
#include "gibbsite/gibbsite_cuda.h"

#include <stdio.h>
#include <string.h>

static int passed, failed;

static void check(int good, const char *what, gbs_status status, const char *message)
{
    printf("%s %s: %s, \"%s\"\n", good ? "ok  " : "FAIL", what, gbs_status_name(status), message);
    if (good)
        ++passed;
    else
        ++failed;
}

int main(void)
{
    float q[4] = {2, -1, -1, 2}, x[4] = {0, 0, 0, 0};
    gbs_sweep_spec spec = gbs_sweep_spec_default();
    gbs_cuda_launch launch;
    char message[256] = "";
    size_t bytes = 1;
    memset(&launch, 0, sizeof launch);
    spec.groups = 1;
    spec.chains = 2;
    spec.dim = 2;
    spec.precision = q;
    spec.x = x;
    spec.out = x;

    gbs_status status = gbs_cuda_sweep_workspace(&spec, GBS_CUDA_KERNEL_AUTO, &bytes);
    check(status == GBS_OK && bytes == 0, "a small model needs no workspace", status, "");
    status = gbs_cuda_sweep_workspace(&spec, GBS_CUDA_KERNEL_TILES, &bytes);
    check(status == GBS_OK && bytes > 0, "the tiled kernel does", status, "");

    spec.omega = 2.0;
    status = gbs_cuda_sweep(&spec, &launch, message, sizeof message);
    check(status == GBS_ERROR_ARGUMENT && strstr(message, "omega: 2 ") != NULL, "omega 2", status,
          message);
    spec.omega = 1.0;
    spec.dim = 0;
    status = gbs_cuda_sweep(&spec, &launch, message, sizeof message);
    check(status == GBS_ERROR_ARGUMENT && strstr(message, "dim: 0") != NULL, "no sites", status,
          message);
    spec.dim = 2;
    spec.x = NULL;
    status = gbs_cuda_sweep(&spec, &launch, message, sizeof message);
    check(status == GBS_ERROR_ARGUMENT && strstr(message, "x: NULL") != NULL, "no state", status,
          message);
    spec.x = x;
    spec.stream = GBS_STREAM_TORCH_CPU;
    status = gbs_cuda_sweep(&spec, &launch, message, sizeof message);
    check(status == GBS_ERROR_ARGUMENT && strstr(message, "stream") != NULL, "torch's CPU stream",
          status, message);
    spec.stream = GBS_STREAM_NATIVE;
    spec.chains = (int64_t)1 << 41;
    status = gbs_cuda_sweep(&spec, &launch, message, sizeof message);
    check(status == GBS_ERROR_LIMIT, "more chains than the stream numbers", status, message);
    spec.chains = 0;
    status = gbs_cuda_sweep(&spec, &launch, message, sizeof message);
    check(status == GBS_OK, "no chains", status, "");
    spec.chains = 2;
    launch.kernel = GBS_CUDA_KERNEL_TILES;
    status = gbs_cuda_sweep(&spec, &launch, message, sizeof message);
    check(status == GBS_ERROR_ARGUMENT && strstr(message, "workspace") != NULL, "no workspace",
          status, message);
    gbs_truncnorm_spec between = gbs_truncnorm_spec_default();
    between.dims = 9;
    status = gbs_cuda_truncnorm_f32(&between, x, NULL, message, sizeof message);
    check(status == GBS_ERROR_ARGUMENT && strstr(message, "dims: 9") != NULL,
          "draws between bounds of nine dimensions", status, message);
    launch.kernel = GBS_CUDA_KERNEL_AUTO;
    spec.sweeps = 0; /* host arrays: with a GPU nothing may touch them, so do not launch there */
    status = gbs_cuda_available(message, sizeof message);
    gbs_context_options options = gbs_context_options_default();
    gbs_context *ctx = NULL;
    char why[512] = "";
    options.backend = GBS_BACKEND_CUDA;
    options.cuda_library = GBS_CUDA_LIBRARY;
    options.message = why;
    options.message_bytes = sizeof why;
    const gbs_status opened = gbs_context_create(&options, &ctx);
    check(opened == status && (ctx == NULL) == (status != GBS_OK), "a context on it", opened, why);
    gbs_context_destroy(ctx);
    if (status != GBS_OK) {
        check(strncmp(why, "backend cuda: no GPU: CUDA says ", 32) == 0, "no GPU", opened, why);
        check(status == GBS_ERROR_UNAVAILABLE && message[0] != '\0', "no device", status, message);
        status = gbs_cuda_sweep(&spec, &launch, message, sizeof message);
        check(status == GBS_ERROR_UNAVAILABLE && message[0] != '\0', "a launch without one", status,
              message);
        between.dims = 0;
        status = gbs_cuda_truncnorm_f64(&between, (double *)x, NULL, message, sizeof message);
        check(status == GBS_ERROR_UNAVAILABLE && message[0] != '\0',
              "draws between bounds without one", status, message);
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
