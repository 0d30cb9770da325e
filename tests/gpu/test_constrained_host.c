/* The kernels for whitened sweeps, and sweeps within rows, run on the host (steps_on_host.cpp)
 * from the very plans that a GPU gets, against the CPU's sampler, bit for bit: every order, native
 * and given numbers, bounds, rows, fixed sites, kept draws, moments. */
#include "device/device_cases.h"

static int passed, failed;

static void compare(const device_case *of, void *unused)
{
    gbs_context_options options = gbs_context_options_default();
    char name[256], told[1500];
    (void)unused;
    options.backend = GBS_BACKEND_CUDA;
    options.cuda_library = STEPS_ON_HOST;
    case_name(of, name, sizeof name);
    const int same = case_compare(of, &options, told, sizeof told);
    ++*(same ? &passed : &failed);
    if (!same)
        printf("FAIL %s: %s\n", name, told);
}

int main(void)
{
    static const int64_t dims[] = {1, 2, 3, 7, 8, 9, 16, 21, 33};
    for (int type = 0; type < 2; ++type)
        for (size_t d = 0; d < sizeof dims / sizeof *dims; ++d)
            case_each_constrained((gbs_type)type, dims[d], d % 3 == 0 ? 133 : 5, compare, NULL);
    /* rounding carries sites past their bounds */
    for (int type = 0; type < 2; ++type)
        compare(&(device_case){.type = (gbs_type)type,
                               .method = GBS_METHOD_WHITENED,
                               .dim = 12,
                               .chains = 64,
                               .omega = 1.0,
                               .location = GBS_LOCATION_MEAN,
                               .start = GBS_START_ZERO,
                               .draws = 100,
                               .thin = 1,
                               .bounded = 1,
                               .rows = type,
                               .far = 1},
                NULL);
    printf("whitened sweeps and sweeps within rows: the kernels' text on the host, bit for bit\n");
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
