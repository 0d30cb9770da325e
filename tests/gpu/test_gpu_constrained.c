/* Whitened sweeps, and sweeps within rows, on the GPU: the cases of tests/device against the CPU,
 * bit for bit; the pilot's choice; memory refused at every request; and the cone test, in which
 * nothing of the CPU's sampler has a say: with mean 0 in a cone, x >= 0 or A x >= 0, x'Qx is
 * chi-square with D degrees of freedom whatever Q is. */
#define _POSIX_C_SOURCE 200809L

#include "counted_memory.h"
#include "device/device_cases.h"
#include "gpu_harness.h"

static gbs_context_options gpu(void)
{
    gbs_context_options options = gbs_context_options_default();
    options.backend = GBS_BACKEND_CUDA;
    options.cuda_library = GBS_CUDA_LIBRARY;
    return options;
}

static void need(gbs_context *ctx, gbs_status status)
{
    if (status == GBS_OK)
        return;
    printf("FAIL %s: %s\n", gbs_status_name(status), gbs_context_message(ctx));
    exit(1);
}

/* ---- the same bits as the CPU ---- */

static void compare(const device_case *of, void *unused)
{
    const gbs_context_options options = gpu();
    char name[256], told[1500], what[2000];
    (void)unused;
    case_name(of, name, sizeof name);
    const int same = case_compare(of, &options, told, sizeof told);
    snprintf(what, sizeof what, "%s: %s", name, told);
    check(same, what);
}

/* Chains of less than a warp, of part of a block, and of several. */
static void compare_all(int quick)
{
    static const int64_t dims[] = {1, 2, 3, 5, 8, 16, 31, 32, 33, 64, 100, 129};
    static const int64_t chains[] = {1, 33, 1000};
    for (int type = 0; type < 2; ++type)
        for (size_t d = 0; d < sizeof dims / sizeof *dims; ++d)
            for (size_t b = 0; b < sizeof chains / sizeof *chains; ++b)
                if (!quick || (b == 1 && d % 3 == 0))
                    case_each_constrained((gbs_type)type, dims[d], chains[b], compare, NULL);
    printf("whitened and within rows: %d passed, %d failed so far\n", passed, failed);
}

/* Many chains, many sites (states in the card's memory), more draws and given numbers than the
 * device holds at once, means so far out that draws lie on their bounds. */
static void compare_large(void)
{
    for (int type = 0; type < 2; ++type)
        for (int method = 0; method < 2; ++method) {
            device_case of = {.type = (gbs_type)type,
                              .method = method ? GBS_METHOD_WHITENED : GBS_METHOD_GIBBS,
                              .dim = 24,
                              .chains = 60003,
                              .omega = 1.0,
                              .start = GBS_START_ZERO,
                              .location = GBS_LOCATION_MEAN,
                              .warmup = 1,
                              .draws = 3,
                              .thin = 2,
                              .bounded = 1,
                              .rows = 1};
            compare(&of, NULL);
            of.far = 1;
            compare(&of, NULL);
            of.dim = 420;
            of.chains = 40;
            of.far = 0;
            compare(&of, NULL);
            of.dim = 2;
            of.chains = 1;
            of.stream = GBS_STREAM_GIVEN;
            of.warmup = 5000;
            of.draws = 4999;
            of.thin = 1;
            compare(&of, NULL);
        }
    printf("many chains, many sites, many draws: %d passed, %d failed so far\n", passed, failed);
}

/* ---- the pilot ---- */

static void compare_pilots(void)
{
    enum { DIM = 40 };
    static double q[DIM * DIM], zero[DIM];
    gbs_pilot tried[2];
    memset(tried, 0, sizeof tried);
    for (int i = 0; i < DIM; ++i) {
        q[i * DIM + i] = (i == 0 || i == DIM - 1 ? 1 : 2) + 0.005;
        if (i > 0)
            q[i * DIM + i - 1] = q[(i - 1) * DIM + i] = -1;
    }
    for (int backend = 0; backend < 2; ++backend) {
        const gbs_context_options options = backend ? gpu() : gbs_context_options_default();
        gbs_context *ctx = NULL;
        gbs_model *model = NULL;
        gbs_model_spec m = gbs_model_spec_default();
        m.dim = DIM;
        m.matrix = q;
        m.lower = zero;
        if (gbs_context_create(&options, &ctx) != GBS_OK) {
            check(0, "a context for the pilot");
            return;
        }
        need(ctx, gbs_model_create(ctx, &m, &model));
        need(ctx, gbs_pilot_run(ctx, model, GBS_F32, 5, &tried[backend]));
        gbs_model_release(model);
        gbs_context_destroy(ctx);
    }
    check(tried[1].method == GBS_METHOD_WHITENED && tried[1].count == 5 &&
              memcmp(&tried[0], &tried[1], sizeof tried[0]) == 0,
          "the pilot tries on the GPU what it tries on the CPU, and chooses whitened sweeps");
}

/* ---- memory ---- */

static void refuse_memory(gbs_method method)
{
    const device_case of = {.type = GBS_F64,
                            .method = method,
                            .dim = 210, /* states in a workspace */
                            .chains = 3,
                            .omega = 1.0,
                            .start = GBS_START_ZERO,
                            .warmup = 1,
                            .draws = 2,
                            .thin = 1,
                            .bounded = 1,
                            .rows = 1};
    for (int64_t k = 0;; ++k) {
        counted c = {.refuse = k};
        gbs_context_options options = gpu();
        options.cuda_memory = (gbs_allocator){take_counted, give_counted, &c};
        device_result r = case_result(&of, &options);
        const int refused = c.refuse == -1;
        char what[700];
        snprintf(what, sizeof what,
                 "device request %lld refused: %s, \"%s\", %lld taken, %lld given", (long long)k,
                 gbs_status_name(r.status), r.message, (long long)c.taken, (long long)c.given);
        check(r.status == (refused ? GBS_ERROR_MEMORY : GBS_OK) && c.taken == c.given &&
                  (!refused || strstr(r.message, "no memory for") != NULL),
              what);
        case_free(&r);
        if (!refused) {
            printf("each of %lld requests for device memory refused in turn\n", (long long)k);
            break;
        }
    }
}

/* ---- cones ---- */

static double normal_of(uint64_t *state)
{
    double sum = 0;
    for (int k = 0; k < 12; ++k)
        sum += uniform(state);
    return sum;
}

/* Q = G G' / D + I / 10; rows of A through 0 with a direction v inside; all of D sites. */
typedef struct cone {
    int64_t dim, rows;
    double *q, *a, *v, *zero;
} cone;

static cone cone_of(int64_t dim, int64_t rows, uint64_t *state)
{
    const size_t n = (size_t)dim, most = (size_t)(rows > dim ? rows : dim);
    cone c = {dim,
              rows,
              malloc(n * n * sizeof *c.q),
              malloc((size_t)rows * n * sizeof *c.a),
              malloc(n * sizeof *c.v),
              calloc(most, sizeof *c.zero)};
    double *const g = malloc(n * n * sizeof *g);
    for (size_t k = 0; k < n * n; ++k)
        g[k] = normal_of(state);
    for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j <= i; ++j) {
            double sum = i == j ? 0.1 : 0.0;
            for (size_t k = 0; k < n; ++k)
                sum += g[i * n + k] * g[j * n + k] / (double)dim;
            c.q[i * n + j] = c.q[j * n + i] = sum;
        }
    for (size_t i = 0; i < n; ++i)
        c.v[i] = normal_of(state);
    for (size_t r = 0; r < (size_t)rows; ++r) {
        double along = 0;
        for (size_t i = 0; i < n; ++i) {
            c.a[r * n + i] = normal_of(state);
            along += c.a[r * n + i] * c.v[i];
        }
        for (size_t i = 0; i < n && along < 0; ++i)
            c.a[r * n + i] = -c.a[r * n + i];
    }
    free(g);
    return c;
}

static void free_cone(cone *c)
{
    free(c->q);
    free(c->a);
    free(c->v);
    free(c->zero);
}

static double energy_of(const cone *c, gbs_type type, const void *x, int64_t at)
{
    double energy = 0;
    for (int64_t i = 0; i < c->dim; ++i) {
        double sum = 0;
        for (int64_t j = 0; j < c->dim; ++j)
            sum += c->q[i * c->dim + j] * get(x, type, at + j);
        energy += sum * get(x, type, at + i);
    }
    return energy;
}

enum { CONE_WARMUP = 300 };

typedef struct way {
    const char *what;
    int by_rows;
    gbs_method method;
    double overrelax;
} way;

static const way ways[] = {{"box, plain", 0, GBS_METHOD_GIBBS, 0},
                           {"box, over-relaxed", 0, GBS_METHOD_GIBBS, 0.8},
                           {"box, whitened", 0, GBS_METHOD_WHITENED, 0},
                           {"rows, site by site", 1, GBS_METHOD_GIBBS, 0},
                           {"rows, whitened", 1, GBS_METHOD_WHITENED, 0}};

/* The start, of energy D: 1 everywhere or v, each in its cone. */
static void *start_of(const cone *c, gbs_type type, const way *w)
{
    void *const x = malloc((size_t)c->dim * type_size(type));
    for (int64_t i = 0; i < c->dim; ++i)
        put(x, type, i, w->by_rows ? c->v[i] : 1.0);
    const double scale = sqrt((double)c->dim / energy_of(c, type, x, 0));
    for (int64_t i = 0; i < c->dim; ++i)
        put(x, type, i, scale * get(x, type, i));
    return x;
}

/* x [chains, draws, D] of a run. */
static void *run_cone(const cone *c, gbs_type type, const way *w, int64_t chains, int64_t draws)
{
    const gbs_context_options options = gpu();
    gbs_context *ctx = NULL;
    gbs_model *model = NULL;
    gbs_sampler *sampler = NULL;
    gbs_model_spec m = gbs_model_spec_default();
    gbs_sampler_spec s = gbs_sampler_spec_default();
    void *const out = malloc((size_t)(chains * draws * c->dim) * type_size(type)), *const start =
                                                                                       start_of(
                                                                                           c, type,
                                                                                           w);
    const gbs_sink sink = {.out = out};
    m.dim = c->dim;
    m.matrix = c->q;
    m.lower = w->by_rows ? NULL : c->zero;
    if (w->by_rows)
        m.constraints = (gbs_constraints){.rows = c->rows, .matrix = c->a, .lower = c->zero};
    s.type = type;
    s.method = w->method;
    s.overrelax = w->overrelax;
    s.chains = chains;
    s.seed = 20240229;
    s.start = GBS_START_GIVEN;
    s.initial = start;
    s.initial_rows = 1;
    if (gbs_context_create(&options, &ctx) != GBS_OK) {
        printf("FAIL no context\n");
        exit(1);
    }
    need(ctx, gbs_model_create(ctx, &m, &model));
    need(ctx, gbs_sampler_create(ctx, model, &s, &sampler));
    need(ctx, gbs_sampler_run(sampler, CONE_WARMUP));
    need(ctx, gbs_sampler_sample(sampler, draws, 1, &sink));
    gbs_sampler_destroy(sampler);
    gbs_model_release(model);
    gbs_context_destroy(ctx);
    free(start);
    return out;
}

/* Standard errors that a mean of `count` numbers is from what is expected. */
static double score_of(const double *values, int64_t count, double expected)
{
    double mean = 0, square = 0;
    for (int64_t k = 0; k < count; ++k)
        mean += values[k] / (double)count;
    for (int64_t k = 0; k < count; ++k)
        square += (values[k] - mean) * (values[k] - mean);
    return (mean - expected) / sqrt(square / (double)(count - 1) / (double)count);
}

/* E x'Qx = D and E (x'Qx - D)^2 = 2 D, from independent chains' means over their draws, whose
 * scatter counts the draws' correlation. */
static double check_cone(const cone *c, gbs_type type, const way *w)
{
    enum { DRAWS = 30 };
    const int64_t chains = c->dim < 50 ? 512 : 128;
    void *const x = run_cone(c, type, w, chains, DRAWS);
    double *const radius = calloc((size_t)chains, sizeof *radius), *const spread =
                                                                       calloc((size_t)chains,
                                                                              sizeof *spread);
    for (int64_t b = 0; b < chains; ++b)
        for (int64_t k = 0; k < DRAWS; ++k) {
            const double e = energy_of(c, type, x, (b * DRAWS + k) * c->dim) - (double)c->dim;
            radius[b] += e / DRAWS;
            spread[b] += e * e / (2 * (double)c->dim) / DRAWS;
        }
    const double z[2] = {score_of(radius, chains, 0), score_of(spread, chains, 1)};
    char what[200];
    snprintf(what, sizeof what,
             "cone of %lld sites, %lld rows, %s, %s: x'Qx is %.2f, its square %.2f standard errors "
             "off (bound 5)",
             (long long)c->dim, (long long)c->rows, w->what, type == GBS_F32 ? "float" : "double",
             z[0], z[1]);
    check(fabs(z[0]) <= 5 && fabs(z[1]) <= 5, what);
    free(radius);
    free(spread);
    free(x);
    return fmax(fabs(z[0]), fabs(z[1]));
}

static void check_cones(int quick)
{
    static const int64_t dims[20] = {2,  3,  4,  5,  6,  8,  10, 12,  15,  16,
                                     20, 24, 32, 40, 50, 64, 80, 100, 150, 200};
    uint64_t state = 7;
    double worst[5] = {0};
    for (int k = 0; k < (quick ? 6 : 20); ++k) {
        cone c = cone_of(dims[k], 1 + dims[k] * (1 + k % 3) / 2, &state);
        for (int w = 0; w < 5; ++w)
            for (int type = 0; type < 2; ++type)
                worst[w] = fmax(worst[w], check_cone(&c, (gbs_type)type, &ways[w]));
        free_cone(&c);
    }
    for (int w = 0; w < 5; ++w)
        printf("cones, %s: worst score %.2f\n", ways[w].what, worst[w]);
}

int main(int argc, char **argv)
{
    const char *const mode = argc > 1 ? argv[1] : "";
    const int quick = strcmp(mode, "--quick") == 0;
    if (strcmp(mode, "--sanitizer") == 0) { /* for tools that run hundreds of times slower */
        for (int type = 0; type < 2; ++type) {
            case_each_constrained((gbs_type)type, 11, 9, compare, NULL);
            case_each_constrained((gbs_type)type, 210, 2, compare, NULL);
        }
        return finish();
    }
    compare_all(quick);
    if (!quick)
        compare_large();
    compare_pilots();
    refuse_memory(GBS_METHOD_GIBBS);
    refuse_memory(GBS_METHOD_WHITENED);
    check_cones(quick);
    return finish();
}
