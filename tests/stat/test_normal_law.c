/* The law of the native stream's normals, from the kernels that the sampler uses: moments up to
 * the fourth, sixty-four equal bins, tails, and independence of neighbours in every direction of
 * the counter: places, chains, sweeps, purposes and seeds, and within a Box-Muller pair. */
#include "backend/backend.h"
#define VERDICT_PLANNED 300
#include "stat/verdict.h"

#include <stdlib.h>
#include <string.h>

enum { SITES = 1024, BINS = 64, TAILS = 5 };

static const double tails[TAILS] = {3, 4, 5, 5.768, 6};

static int quick(void)
{
    return getenv("GBS_TEST_QUICK") != NULL;
}

static const char *type_name(gbs_type type)
{
    return type == GBS_F32 ? "float" : "double";
}

/* ---- the source ---- */

typedef struct source {
    gbs_type type;
    const gbs_block_kernels *kernels;
    int64_t size; /* normals in a block */
    gbs_normals_job job;
    double *z; /* [SITES, width], widened */
} source;

static source open_source(gbs_type type, uint64_t seed)
{
    gbs_isa isa = GBS_ISA_NEON;
    while (!gbs_isa_available(isa))
        --isa;
    source s = {.type = type, .kernels = &gbs_cpu_kernels(isa)->wide[type]};
    s.size = (int64_t)SITES * s.kernels->width;
    s.z = aligned_alloc(GBS_ALIGNMENT, (size_t)s.size * sizeof *s.z);
    s.job = (gbs_normals_job){.seed = seed, .sites = SITES, .z_row = s.kernels->width};
    s.job.z = aligned_alloc(GBS_ALIGNMENT, (size_t)s.size * sizeof *s.z);
    if (s.z == NULL || s.job.z == NULL)
        abort();
    return s;
}

static void close_source(source *s)
{
    free(s->z);
    free(s->job.z);
}

static void fill(source *s)
{
    s->kernels->normals(&s->job);
    if (s->type == GBS_F64)
        memcpy(s->z, s->job.z, (size_t)s->size * sizeof *s->z);
    else
        for (int64_t k = 0; k < s->size; ++k)
            s->z[k] = (double)((const float *)s->job.z)[k];
}

/* As many normals as take a few seconds on the widest instruction set. */
static double wanted(gbs_type type)
{
    const double most = type == GBS_F32 ? 1e9 : 5e8;
    return quick()                             ? 1e7
           : gbs_isa_available(GBS_ISA_AVX512) ? most
           : gbs_isa_available(GBS_ISA_AVX2)   ? most / 2
                                               : most / 20;
}

/* ---- moments, tails, bins ---- */

typedef struct census {
    double count, sum[4];
    int64_t beyond[2][TAILS]; /* below -t, above t */
} census;

static void count_tails(census *c, const double *z, int64_t n)
{
    for (int64_t k = 0; k < n; ++k)
        if (fabs(z[k]) > tails[0])
            for (int t = 0; t < TAILS && fabs(z[k]) > tails[t]; ++t)
                c->beyond[z[k] > 0][t]++;
}

static void add_block(census *c, const source *s)
{
    /* sums in eight lanes, so that they vectorise; a block's sums are then added */
    double lane[4][8] = {{0}};
    for (int64_t k = 0; k < s->size; k += 8)
        for (int i = 0; i < 8 && k + i < s->size; ++i) {
            const double z = s->z[k + i], zz = z * z;
            lane[0][i] += z;
            lane[1][i] += zz;
            lane[2][i] += zz * z;
            lane[3][i] += zz * zz;
        }
    for (int power = 0; power < 4; ++power)
        for (int i = 0; i < 8; ++i)
            c->sum[power] += lane[power][i];
    c->count += (double)s->size;
    count_tails(c, s->z, s->size);
}

static void check_tails(const census *c, gbs_type type)
{
    char what[80];
    verdict v = verdict_start("shares beyond 3 and 4, either side");
    for (int side = 0; side < 2; ++side)
        for (int t = 0; t < 2; ++t) {
            const double p = erfc(tails[t] / sqrt(2.0)) / 2, n = c->count;
            verdict_add_skewed(&v, p, (double)c->beyond[side][t] / n, sqrt(p * (1 - p) / n),
                               (1 - 2 * p) / sqrt(n * p * (1 - p)));
        }
    verdict_end(&v);
    for (int t = 2; t < TAILS; ++t) {
        const int64_t got = c->beyond[0][t] + c->beyond[1][t];
        snprintf(what, sizeof what, "%s normals beyond |%g| in %.3g", type_name(type), tails[t],
                 c->count);
        verdict_poisson(what, c->count * erfc(tails[t] / sqrt(2.0)), got);
    }
}

/* Normals of `sites` places, chains from 0 in wide blocks, sweeps from 0. */
static census take_census(gbs_type type, uint64_t seed, double count)
{
    census c = {0};
    source s = open_source(type, seed);
    while (c.count < count) {
        fill(&s);
        add_block(&c, &s);
        s.job.chain += s.kernels->width;
        if (s.job.chain >= 4096) {
            s.job.chain = 0;
            s.job.sweep++;
        }
    }
    close_source(&s);
    return c;
}

static void check_law(gbs_type type)
{
    /* moments 1 to 4 of a normal and the variances of z^k: 1, 2, 15, 96 */
    static const double moment[4] = {0, 1, 0, 3}, spread[4] = {1, 2, 15, 96};
    const census c = take_census(type, 20240501, wanted(type));
    printf("%s: %.4g normals\n", type_name(type), c.count);
    verdict v = verdict_start("moments 1 to 4");
    for (int k = 0; k < 4; ++k)
        verdict_add(&v, moment[k], c.sum[k] / c.count, sqrt(spread[k] / c.count));
    verdict_end(&v);
    check_tails(&c, type);
}

static void test_law_f32(void **state)
{
    (void)state;
    check_law(GBS_F32);
}

static void test_law_f64(void **state)
{
    (void)state;
    check_law(GBS_F64);
}

/* Bin k of BINS equally likely ones, by bisection on the edges. */
static void bin_edges(double edge[BINS - 1])
{
    for (int k = 1; k < BINS; ++k) {
        double low = -10, high = 10;
        for (int step = 0; step < 80; ++step) {
            const double middle = (low + high) / 2;
            if (erfc(-middle / sqrt(2.0)) / 2 < (double)k / (double)BINS)
                low = middle;
            else
                high = middle;
        }
        edge[k - 1] = (low + high) / 2;
    }
}

static void test_bins(void **state)
{
    (void)state;
    double edge[BINS - 1];
    bin_edges(edge);
    for (gbs_type type = GBS_F32; type <= GBS_F64; ++type) {
        source s = open_source(type, 64);
        int64_t bins[BINS] = {0};
        double count = 0;
        for (; count < wanted(type) / 20; s.job.sweep++, count += (double)s.size) {
            fill(&s);
            for (int64_t k = 0; k < s.size; ++k) {
                int bin = 0;
                for (int step = BINS / 2; step > 0; step /= 2)
                    bin += s.z[k] > edge[bin + step - 1] ? step : 0;
                bins[bin]++;
            }
        }
        verdict v =
            verdict_start(type == GBS_F32 ? "float, 64 equal bins" : "double, 64 equal bins");
        for (int k = 0; k < BINS; ++k)
            verdict_add(&v, 1.0 / (double)BINS, (double)bins[k] / count,
                        sqrt((1.0 / (double)BINS) * (1 - 1.0 / (double)BINS) / count));
        verdict_end(&v);
        close_source(&s);
    }
}

/* ---- independence ---- */

/* Products of two normals and of their squares less 1: means 0, variances 1 and 4, and for
 * independent pairs no others. */
typedef struct pairing {
    double count, sum[4]; /* xy, (x^2 - 1)(y^2 - 1), x (y^2 - 1), (x^2 - 1) y */
} pairing;

static void add_pairs(pairing *p, const double *x, const double *y, int64_t n)
{
    double sum[4] = {0};
    for (int64_t k = 0; k < n; ++k) {
        const double a = x[k] * x[k] - 1, b = y[k] * y[k] - 1;
        sum[0] += x[k] * y[k];
        sum[1] += a * b;
        sum[2] += x[k] * b;
        sum[3] += a * y[k];
    }
    for (int k = 0; k < 4; ++k)
        p->sum[k] += sum[k];
    p->count += (double)n;
}

static void judge_pairs(verdict *v, const pairing *p)
{
    static const double spread[4] = {1, 4, 2, 2};
    for (int k = 0; k < 4; ++k)
        verdict_add(v, 0, p->sum[k] / p->count, sqrt(spread[k] / p->count));
}

/* Two jobs at a distance in one of the counter's words, block by block. */
static void check_distance(verdict *v, gbs_type type, const gbs_normals_job *step, uint64_t seed)
{
    source a = open_source(type, 7), b = open_source(type, 7 + seed);
    pairing p = {0};
    b.job.sweep = step->sweep;
    b.job.chain = step->chain;
    b.job.purpose = step->purpose;
    for (double count = 0; count < wanted(type) / 100; count += (double)a.size) {
        fill(&a);
        fill(&b);
        add_pairs(&p, a.z, b.z, a.size);
        a.job.sweep += 2;
        b.job.sweep += 2;
    }
    judge_pairs(v, &p);
    close_source(&a);
    close_source(&b);
}

static void check_distances(gbs_type type)
{
    verdict v = verdict_start("sweeps 1 and 2^32 + 1 apart, chains 1, 64 and 2^32 apart, purposes "
                              "1 and 5, seeds 1 and 2^32 apart");
    const gbs_normals_job steps[] = {{.sweep = 1},
                                     {.sweep = (UINT64_C(1) << 32) + 1},
                                     {.chain = 1},
                                     {.chain = 64},
                                     {.purpose = 1},
                                     {.purpose = 5},
                                     {.chain = INT64_C(1) << 32}};
    for (size_t k = 0; k < sizeof steps / sizeof *steps; ++k)
        check_distance(&v, type, &steps[k], 0);
    const gbs_normals_job same = {.sweep = 0};
    check_distance(&v, type, &same, 1);
    check_distance(&v, type, &same, UINT64_C(1) << 32);
    verdict_end(&v);
}

/* Rows 1, 2, 3, 4 and 5 places apart: the first is within a Box-Muller pair for every other one. */
static void check_places(gbs_type type)
{
    verdict v = verdict_start("places 1 to 5 apart, and within a pair");
    source s = open_source(type, 8);
    pairing apart[6] = {{0}};
    const int64_t width = s.kernels->width;
    for (double count = 0; count < wanted(type) / 100; count += (double)s.size, s.job.sweep++) {
        fill(&s);
        for (int distance = 1; distance <= 5; ++distance)
            add_pairs(&apart[distance], s.z, s.z + distance * width, (SITES - distance) * width);
        for (int64_t row = 0; row < SITES; row += 2)
            add_pairs(&apart[0], s.z + row * width, s.z + (row + 1) * width, width);
    }
    for (int distance = 0; distance <= 5; ++distance)
        judge_pairs(&v, &apart[distance]);
    verdict_end(&v);
    close_source(&s);
}

static void test_independence(void **state)
{
    (void)state;
    for (gbs_type type = GBS_F32; type <= GBS_F64; ++type) {
        printf("%s:\n", type_name(type));
        check_distances(type);
        check_places(type);
    }
}

int main(void)
{
    if (quick())
        printf("GBS_TEST_QUICK is set: fewer normals\n");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_law_f32),
        cmocka_unit_test(test_law_f64),
        cmocka_unit_test(test_bins),
        cmocka_unit_test(test_independence),
        cmocka_unit_test(test_verdicts_planned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
