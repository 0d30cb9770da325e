/* gibbsite selftest: checks this build on this machine; of the library it calls only what the
 * public header declares.  Nothing here is statistical. */
#include "cli.h"
#include "options.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct tally {
    gbs_context *ctx;
    int passed, failed;
} tally;

/* One line per check. */
static void check(tally *t, bool good, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void check(tally *t, bool good, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs(good ? "ok    " : "FAIL  ", stdout);
    vprintf(format, arguments);
    putchar('\n');
    va_end(arguments);
    *(good ? &t->passed : &t->failed) += 1;
}

/* ------------------------------------------------------------------ small runs */

/* Chains for whole vector blocks and a ragged rest of every instruction set. */
enum { SITES = 37, CHAINS = 69, SWEEPS = 20 };
static const size_t STATE_NUMBERS = (size_t)SITES * CHAINS;

/* Room for a state of either type. */
typedef union numbers {
    float f32[SITES * CHAINS];
    double f64[SITES * CHAINS];
} numbers;

static size_t size_of(gbs_type type)
{
    return type == GBS_F32 ? sizeof(float) : sizeof(double);
}

static double number_at(const void *x, gbs_type type, int64_t k)
{
    return type == GBS_F32 ? (double)((const float *)x)[k] : ((const double *)x)[k];
}

/* Runs `sweeps` sweeps and reads the state, [chains, dim] of spec->type; says which kernel ran
 * unless kernel is NULL. */
static gbs_status run_named(gbs_context *ctx, const gbs_model_spec *m, const gbs_sampler_spec *s,
                            int64_t sweeps, void *x, const char **kernel)
{
    gbs_model *model = NULL;
    gbs_sampler *sampler = NULL;
    gbs_status status = gbs_model_create(ctx, m, &model);
    if (status == GBS_OK)
        status = gbs_sampler_create(ctx, model, s, &sampler);
    if (status == GBS_OK)
        status = gbs_sampler_run(sampler, sweeps);
    if (status == GBS_OK)
        status = gbs_sampler_get_state(sampler, x);
    if (status == GBS_OK && kernel)
        *kernel = gbs_sampler_kernel(sampler);
    gbs_sampler_destroy(sampler);
    gbs_model_release(model);
    return status;
}

static gbs_status run_once(gbs_context *ctx, const gbs_model_spec *m, const gbs_sampler_spec *s,
                           int64_t sweeps, void *x)
{
    return run_named(ctx, m, s, sweeps, x, NULL);
}

static gbs_model_spec dense_model(int64_t dim, const double *q)
{
    gbs_model_spec m = gbs_model_spec_default();
    m.dim = dim;
    m.matrix = q;
    return m;
}

/* n standard normals of a stream: one sweep of independent sites with unit precision. */
static gbs_status draw_normals(gbs_context *ctx, gbs_sampler_spec *s, int64_t dim, void *z)
{
    double unit[16] = {0};
    for (int64_t i = 0; i < dim; i++)
        unit[i * dim + i] = 1;
    const gbs_model_spec m = dense_model(dim, unit);
    s->start = GBS_START_ZERO;
    return run_once(ctx, &m, s, 1, z);
}

static double worst_gap(const void *x, gbs_type type, const double *expected, int64_t n)
{
    double worst = 0;
    for (int64_t k = 0; k < n; k++) {
        const double gap = fabs(number_at(x, type, k) - expected[k]);
        if (isnan(gap))
            return gap; /* is below no bound */
        worst = fmax(worst, gap);
    }
    return worst;
}

static void check_gap(tally *t, const char *what, gbs_status status, double gap, double bound)
{
    if (status == GBS_OK)
        check(t, gap <= bound, "%s: off by %.2g, bound %.2g", what, gap, bound);
    else
        check(t, false, "%s: %s", what, gbs_context_message(t->ctx));
}

/* ------------------------------------------------------------------ known answers */

/* Philox4x32-10 of counter 0 and key 0 is 6627e8d5 e169c58d bc57ac4c 9b00dbd8 (Random123's known
 * answers): the words of seed 0, chain 0, sweep 0.  Their normals by 50-digit arithmetic. */
static void check_native(tally *t)
{
    static const double f32[4] = {-0.92466257518607336, 0.99113766655376087, -0.48206860650029657,
                                  -0.61760898381811308};
    static const double f64[2] = {-0.31039573600037665, -0.39766713631503522};
    numbers z = {0};
    gbs_sampler_spec s = gbs_sampler_spec_default();
    s.chains = 1;
    s.type = GBS_F32;
    gbs_status status = draw_normals(t->ctx, &s, 4, &z);
    check_gap(t, "known answer: Philox words to normals, float", status,
              worst_gap(&z, GBS_F32, f32, 4), 2 * 0x1p-24);
    s.type = GBS_F64;
    status = draw_normals(t->ctx, &s, 2, &z);
    check_gap(t, "known answer: Philox words to normals, double", status,
              worst_gap(&z, GBS_F64, f64, 2), 2 * 0x1p-54);
}

/* What PyTorch draws with this seed, on an H200 and in its version 2.13 on a CPU, to all digits of
 * a float; bounds: those of docs/streams.md, as torch rounds otherwise. */
static void check_torch(tally *t)
{
    static const double cuda[4] = {-0.92466247, -0.42534396, -2.6438458, 0.14518386};
    static const double cpu16[16] = {-1.12583983, -1.1523602,  -0.250578582, -0.433878809,
                                     0.848710358, 0.692009151, -0.31601277,  -2.11521935,
                                     0.322274923, -1.26333475, 0.349983186,  0.30813393,
                                     0.119841509, 1.2376579,   1.11677718,   -0.247278154};
    static const double cpu3[3] = {1.54099607, -0.293428898, -2.17878938};
    const struct {
        const char *what;
        gbs_stream kind;
        int64_t n;
        const double *expected;
        double bound;
    } rows[] = {
        {"known answer: torch.randn(4, device='cuda'), seed 0", GBS_STREAM_TORCH_CUDA, 4, cuda,
         5e-6},
        {"known answer: torch.randn(16) on a CPU, seed 0", GBS_STREAM_TORCH_CPU, 16, cpu16, 3e-6},
        {"known answer: torch.randn(3) on a CPU, seed 0", GBS_STREAM_TORCH_CPU, 3, cpu3, 3e-6},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        float z[16] = {0};
        gbs_sampler_spec s = gbs_sampler_spec_default();
        s.type = GBS_F32;
        s.chains = rows[k].n;
        s.stream.kind = rows[k].kind;
        s.stream.cuda_multiprocessors = 132;
        s.stream.cuda_threads_per_multiprocessor = 2048;
        const gbs_status status = draw_normals(t->ctx, &s, 1, z);
        check_gap(t, rows[k].what, status, worst_gap(z, GBS_F32, rows[k].expected, rows[k].n),
                  rows[k].bound);
    }
}

/* Q = [4 -2; -2 4] has conditional sd 1/2 and weight 1/2: from x = (3, -1) with z = (1, -2) every
 * number below is exact.  Mean (1, 2), forward: x_0 = 1 + (-1 - 2)/2 + 1/2 = 0, x_1 = 2 + (0 - 1)/2
 * - 1 = 1/2.  Backward: x_1 = 2 + (3 - 1)/2 - 1 = 2, x_0 = 1 + (2 - 2)/2 + 1/2 = 3/2.  b = (4, 8)
 * and m = (1, 2) mean the same: x_0 = 1 - 1/2 + 1/2 = 1, x_1 = 2 + 1/2 - 1 = 3/2; the symmetric
 * sweep goes back with z = (2, 4): x_1 = 2 + 1/2 + 2 = 9/2, x_0 = 1 + 9/4 + 1 = 17/4. */
static void check_by_hand(tally *t)
{
    static const double q[4] = {4, -2, -2, 4}, mean[2] = {1, 2}, information[2] = {4, 8};
    static const double z[4] = {1, -2, 2, 4};
    const struct {
        const char *what;
        const double *location;
        double expected[2];
        gbs_location kind;
        gbs_order order;
    } rows[] = {
        {"mean form, forward", mean, {0, 0.5}, GBS_LOCATION_MEAN, GBS_ORDER_FORWARD},
        {"mean form, backward", mean, {1.5, 2}, GBS_LOCATION_MEAN, GBS_ORDER_BACKWARD},
        {"information form, forward",
         information,
         {1, 1.5},
         GBS_LOCATION_INFORMATION,
         GBS_ORDER_FORWARD},
        {"offset form, forward", mean, {1, 1.5}, GBS_LOCATION_OFFSET, GBS_ORDER_FORWARD},
        {"information form, symmetric",
         information,
         {4.25, 4.5},
         GBS_LOCATION_INFORMATION,
         GBS_ORDER_SYMMETRIC},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        gbs_status status = GBS_OK;
        double gap = 0;
        for (int type = GBS_F32; type <= GBS_F64 && status == GBS_OK && gap == 0; type++) {
            static const float start32[2] = {3, -1};
            static const double start64[2] = {3, -1};
            numbers x = {0};
            gbs_model_spec m = dense_model(2, q);
            m.location_kind = rows[k].kind;
            m.location = rows[k].location;
            gbs_sampler_spec s = gbs_sampler_spec_default();
            s.type = (gbs_type)type;
            s.chains = 1;
            s.order = rows[k].order;
            s.start = GBS_START_GIVEN;
            s.initial = type == GBS_F32 ? (const void *)start32 : start64;
            s.initial_rows = 1;
            s.stream.kind = GBS_STREAM_GIVEN;
            s.stream.noise_type = GBS_F64;
            s.stream.noise = z;
            s.stream.noise_sweeps = 2;
            status = run_once(t->ctx, &m, &s, 1, &x);
            gap = worst_gap(&x, (gbs_type)type, rows[k].expected, 2);
        }
        char what[80];
        snprintf(what, sizeof what, "sweep by hand: %s", rows[k].what);
        check_gap(t, what, status, gap, 0);
    }
}

/* Chains (1, 1.1, 1.4, 1.3) and (1, 2, 3, 4): values by 40-digit arithmetic. */
static void check_diagnostics(tally *t)
{
    static const double values[8] = {1.0, 1.1, 1.4, 1.3, 1, 2, 3, 4};
    const gbs_draws draws = {values, 2, 4, 4, 1};
    void *workspace = malloc(gbs_diag_workspace(2, 4));
    /* A sum, for fmax would drop a NaN. */
    const double gap = workspace
                           ? fabs(gbs_diag_rhat_split(&draws, workspace) - 2.3303847470550716) +
                                 fabs(gbs_diag_rhat(&draws, workspace) - 2.639887898167294)
                           : (double)INFINITY;
    check_gap(t, "known answer: R-hat of two chains of four", GBS_OK, gap, 1e-12);
    free(workspace);
}

/* ------------------------------------------------------------------ affine identity */

/* Neighbours' correlation falls by half with each step, plus an extra on the diagonal. */
static void fill_model(int64_t dim, double *q)
{
    for (int64_t i = 0; i < dim; i++)
        for (int64_t j = 0; j < dim; j++)
            q[i * dim + j] = ldexp(i == j ? 3 : -1, (int)-(i > j ? i - j : j - i));
}

/* x' = G x + N z of one sweep: unit states give the columns of G, unit noise those of N.
 * Shape: g [dim, dim], n [dim, halves dim], both by column: row c is what unit c leads to. */
static gbs_status read_sweep(gbs_context *ctx, const gbs_model_spec *m, gbs_sampler_spec *s,
                             int64_t halves, double *x)
{
    const int64_t d = m->dim, chains = d + halves * d;
    double *start = calloc((size_t)(chains * d), sizeof *start);
    double *noise = calloc((size_t)(halves * d * chains), sizeof *noise);
    gbs_status status = GBS_ERROR_MEMORY;
    if (start && noise) {
        for (int64_t i = 0; i < d; i++)
            start[i * d + i] = 1;
        for (int64_t k = 0; k < halves * d; k++)
            noise[k * chains + d + k] = 1;
        s->chains = chains;
        s->start = GBS_START_GIVEN;
        s->initial = start;
        s->initial_rows = chains;
        s->stream.kind = GBS_STREAM_GIVEN;
        s->stream.noise_type = GBS_F64;
        s->stream.noise = noise;
        s->stream.noise_sweeps = halves;
        status = run_once(ctx, m, s, 1, x);
    }
    free(start);
    free(noise);
    return status;
}

/* Stationarity without statistics: S = G S G' + N N', where S is the covariance that the model was
 * made from.  G and N carry d roundings an entry, relative to row sums of |G|, and so do the sums
 * here: bound 8 d eps (largest row sum of |G|, at least 1)^2 max |S|. */
static double identity_gap(int64_t d, int64_t halves, const double *s, const double *x,
                           double *bound)
{
    double worst = 0, largest = 0, row_sum = 1;
    for (int64_t i = 0; i < d; i++) {
        double sum = 0;
        for (int64_t c = 0; c < d; c++)
            sum += fabs(x[c * d + i]);
        row_sum = fmax(row_sum, sum);
        for (int64_t j = 0; j < d; j++) {
            double r = -s[i * d + j];
            for (int64_t a = 0; a < d; a++)
                for (int64_t b = 0; b < d; b++)
                    r += x[a * d + i] * s[a * d + b] * x[b * d + j];
            for (int64_t k = 0; k < halves * d; k++)
                r += x[(d + k) * d + i] * x[(d + k) * d + j];
            if (isnan(r))
                return r; /* is below no bound */
            worst = fmax(worst, fabs(r));
            largest = fmax(largest, fabs(s[i * d + j]));
        }
    }
    *bound = 8 * (double)d * 0x1p-52 * row_sum * row_sum * largest;
    return worst;
}

static void check_affine(tally *t)
{
    enum { D = 11 };
    static const char *const names[] = {"forward", "backward", "symmetric"};
    static const double weights[] = {1, 1.3};
    double covariance[D * D], x[3 * D * D] = {0};
    fill_model(D, covariance);
    gbs_model_spec m = dense_model(D, covariance);
    m.matrix_kind = GBS_MATRIX_COVARIANCE;
    for (int order = GBS_ORDER_FORWARD; order <= GBS_ORDER_SYMMETRIC; order++)
        for (int w = 0; w < 2; w++) {
            char what[80];
            double bound = 0;
            const int64_t halves = order == GBS_ORDER_SYMMETRIC ? 2 : 1;
            gbs_sampler_spec s = gbs_sampler_spec_default();
            s.order = (gbs_order)order;
            s.omega = weights[w];
            const gbs_status status = read_sweep(t->ctx, &m, &s, halves, x);
            const double gap = identity_gap(D, halves, covariance, x, &bound);
            snprintf(what, sizeof what, "affine identity: %s, w = %g", names[order], weights[w]);
            check_gap(t, what, status, gap, bound);
        }
}

/* ------------------------------------------------------------------ same bits */

static gbs_sampler_spec bits_spec(gbs_type type, gbs_method method)
{
    gbs_sampler_spec s = gbs_sampler_spec_default();
    s.type = type;
    s.method = method;
    s.chains = CHAINS;
    s.seed = 20240229;
    return s;
}

typedef struct bits_case {
    const char *what;
    gbs_method method;
    bool bounded; /* all sites between 0 and 1.5 */
    double overrelax;
} bits_case;

static const bits_case bits_cases[] = {{"gibbs", GBS_METHOD_GIBBS, false, 0},
                                       {"exact", GBS_METHOD_EXACT, false, 0},
                                       {"between bounds", GBS_METHOD_GIBBS, true, 0},
                                       {"over-relaxed between bounds", GBS_METHOD_GIBBS, true, .8}};

/* One instruction set against the scalar kernels, in one type. */
static void check_isa(tally *t, gbs_isa isa, gbs_type type, const bits_case *c)
{
    const gbs_isa both[2] = {GBS_ISA_SCALAR, isa};
    const char *kernel[2] = {"none", "none"};
    numbers x[2];
    double q[SITES * SITES], lower[SITES] = {0}, upper[SITES];
    fill_model(SITES, q);
    for (int64_t i = 0; i < SITES; i++)
        upper[i] = 1.5;
    gbs_model_spec m = dense_model(SITES, q);
    m.lower = c->bounded ? lower : NULL;
    m.upper = c->bounded ? upper : NULL;
    gbs_sampler_spec s = bits_spec(type, c->method);
    s.overrelax = c->overrelax;
    gbs_status status = GBS_OK;
    for (int k = 0; k < 2 && status == GBS_OK; k++) {
        gbs_context_options options = gbs_context_options_default();
        gbs_context *ctx = NULL;
        options.isa = both[k];
        status = gbs_context_create(&options, &ctx);
        if (status == GBS_OK)
            status = run_named(ctx, &m, &s, SWEEPS, &x[k], &kernel[k]);
        gbs_context_destroy(ctx);
    }
    check(t, status == GBS_OK && !memcmp(&x[0], &x[1], STATE_NUMBERS * size_of(type)),
          "same bits: %s, %s = %s: %d values after %d sweeps", c->what, kernel[1], kernel[0],
          SITES * CHAINS, SWEEPS);
}

static void check_isas(tally *t)
{
    for (int isa = GBS_ISA_AVX2; isa <= GBS_ISA_NEON; isa++) {
        if (!gbs_isa_available((gbs_isa)isa)) {
            printf("skip  same bits: %s is not on this machine\n", gbs_isa_name((gbs_isa)isa));
            continue;
        }
        for (int type = GBS_F32; type <= GBS_F64; type++)
            for (size_t k = 0; k < sizeof bits_cases / sizeof *bits_cases; k++)
                check_isa(t, (gbs_isa)isa, (gbs_type)type, &bits_cases[k]);
    }
}

/* Chains 0 .. 23 and the others apart, and each stopped after 9 sweeps and taken up again. */
static gbs_status run_in_parts(gbs_context *ctx, const gbs_model_spec *m, gbs_type type, void *x)
{
    static const int64_t part[3] = {0, 24, CHAINS};
    gbs_status status = GBS_OK;
    for (int k = 0; k < 2 && status == GBS_OK; k++) {
        numbers half;
        void *to = (char *)x + (size_t)(part[k] * SITES) * size_of(type);
        gbs_sampler_spec s = bits_spec(type, GBS_METHOD_GIBBS);
        s.chains = part[k + 1] - part[k];
        s.first_chain = part[k];
        status = run_once(ctx, m, &s, 9, &half);
        s.first_sweep = 9;
        s.start = GBS_START_GIVEN;
        s.initial = &half;
        s.initial_rows = s.chains;
        if (status == GBS_OK)
            status = run_once(ctx, m, &s, SWEEPS - 9, to);
    }
    return status;
}

/* The native stream's normals, drawn as the states of independent sites and given back. */
static gbs_status run_given(gbs_context *ctx, const gbs_model_spec *m, gbs_type type, void *x)
{
    double unit[SITES * SITES] = {0};
    numbers state;
    char *noise = malloc((size_t)SWEEPS * STATE_NUMBERS * size_of(type));
    for (int64_t i = 0; i < SITES; i++)
        unit[i * SITES + i] = 1;
    const gbs_model_spec independent = dense_model(SITES, unit);
    gbs_sampler_spec s = bits_spec(type, GBS_METHOD_GIBBS);
    gbs_status status = noise ? GBS_OK : GBS_ERROR_MEMORY;
    for (int64_t sweep = 0; sweep < SWEEPS && status == GBS_OK; sweep++) {
        s.first_sweep = sweep;
        status = run_once(ctx, &independent, &s, 1, &state);
        for (int64_t i = 0; i < SITES; i++)
            for (int64_t b = 0; b < CHAINS; b++)
                memcpy(noise + (size_t)((sweep * SITES + i) * CHAINS + b) * size_of(type),
                       (const char *)&state + (size_t)(b * SITES + i) * size_of(type),
                       size_of(type));
    }
    s.first_sweep = 0;
    s.stream.kind = GBS_STREAM_GIVEN;
    s.stream.noise_type = type;
    s.stream.noise = noise;
    s.stream.noise_sweeps = SWEEPS;
    if (status == GBS_OK)
        status = run_once(ctx, m, &s, SWEEPS, x);
    free(noise);
    return status;
}

static void check_same_runs(tally *t)
{
    double q[SITES * SITES];
    fill_model(SITES, q);
    const gbs_model_spec m = dense_model(SITES, q);
    for (int k = GBS_F32; k <= GBS_F64; k++) {
        const gbs_type type = (gbs_type)k;
        const char *name = type == GBS_F32 ? "float" : "double";
        const size_t bytes = STATE_NUMBERS * size_of(type);
        numbers whole, other;
        const gbs_sampler_spec s = bits_spec(type, GBS_METHOD_GIBBS);
        const bool ran = run_once(t->ctx, &m, &s, SWEEPS, &whole) == GBS_OK;
        check(t,
              ran && run_in_parts(t->ctx, &m, type, &other) == GBS_OK &&
                  !memcmp(&whole, &other, bytes),
              "same bits: chains in two batches and sweeps in two runs = all at once, %s", name);
        check(t,
              ran && run_given(t->ctx, &m, type, &other) == GBS_OK &&
                  !memcmp(&whole, &other, bytes),
              "same bits: given the native stream's normals = native, %s", name);
    }
}

/* ------------------------------------------------------------------ the verb */

exit_code verb_selftest(int argc, char **argv)
{
    const cli_command command = {
        .name = "selftest",
        .usage = "",
        .purpose = "Checks this build on this machine, one line per check: known answers, sweeps\n"
                   "worked by hand, the affine identity, and the same bits from every instruction\n"
                   "set, split and stream.  Exit 1 if one fails.",
        .example = "  gibbsite selftest",
    };
    exit_code code;
    if (!options_parse(&command, argc, argv, &code))
        return code;
    tally t = {0};
    if (gbs_context_create(NULL, &t.ctx) != GBS_OK)
        return complain(EXIT_FILE, "no memory for a context");
    printf("gibbsite %s, kernels %s\n", gbs_version(), gbs_isa_name(gbs_context_isa(t.ctx)));
    check_native(&t);
    check_torch(&t);
    check_by_hand(&t);
    check_diagnostics(&t);
    check_affine(&t);
    check_isas(&t);
    check_same_runs(&t);
    printf("%d passed, %d failed\n", t.passed, t.failed);
    gbs_context_destroy(t.ctx);
    return finish_stdout(t.failed ? EXIT_CHECK_FAILED : EXIT_FINE);
}
