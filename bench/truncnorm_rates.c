/* Draws between bounds a second on one core, and their means, for bench/compare_truncnorm.py: a
 * line `box,name,rate,mean,outside` for each box and type.  The median of 15 runs of 2^17 draws. */
#define _POSIX_C_SOURCE 200809L
#include "gibbsite/gibbsite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { RUNS = 15, DRAWS = 1 << 17 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* `number` holds mean, sd, lower and upper. */
static void run(gbs_context *ctx, const char *box, const double number[4], gbs_type type, void *out)
{
    float single[4];
    gbs_truncnorm_spec spec = gbs_truncnorm_spec_default();
    gbs_operand *const operand[4] = {&spec.mean, &spec.sd, &spec.lower, &spec.upper};
    spec.dims = 1;
    spec.shape[0] = DRAWS;
    for (int k = 0; k < 4; ++k) {
        single[k] = (float)number[k];
        *operand[k] =
            gbs_operand_array(type == GBS_F32 ? (const void *)&single[k] : &number[k], 0, NULL);
    }
    double seconds[RUNS], mean = 0;
    int64_t outside = 0;
    for (int k = 0; k < RUNS; ++k) {
        const double start = now();
        const gbs_status status = type == GBS_F32 ? gbs_truncnorm_f32(ctx, &spec, out)
                                                  : gbs_truncnorm_f64(ctx, &spec, out);
        seconds[k] = now() - start;
        if (status != GBS_OK) {
            fprintf(stderr, "%s\n", gbs_context_message(ctx));
            exit(1);
        }
    }
    for (int64_t i = 0; i < DRAWS; ++i) {
        const double x = type == GBS_F32 ? (double)((float *)out)[i] : ((double *)out)[i];
        mean += x / DRAWS;
        outside += !(x >= number[2] && x <= number[3]);
    }
    qsort(seconds, RUNS, sizeof *seconds, by_size);
    printf("%s,gibbsite %s %s,%.0f,%.9g,%lld\n", box, gbs_isa_name(gbs_context_isa(ctx)),
           type == GBS_F32 ? "float" : "double", DRAWS / seconds[RUNS / 2], mean,
           (long long)outside);
}

/* argv: box mean sd lower upper, box ... */
int main(int argc, char **argv)
{
    void *const out = malloc(DRAWS * sizeof(double));
    for (int isa = GBS_ISA_SCALAR; isa <= GBS_ISA_AVX512; ++isa) {
        gbs_context_options options = gbs_context_options_default();
        gbs_context *ctx = NULL;
        options.isa = (gbs_isa)isa;
        if (gbs_context_create(&options, &ctx) != GBS_OK)
            continue;
        for (int k = 1; k + 4 < argc; k += 5) {
            const double number[4] = {atof(argv[k + 1]), atof(argv[k + 2]), atof(argv[k + 3]),
                                      atof(argv[k + 4])};
            for (int type = 0; type < 2; ++type)
                run(ctx, argv[k], number, (gbs_type)type, out);
        }
        gbs_context_destroy(ctx);
    }
    free(out);
    return 0;
}
