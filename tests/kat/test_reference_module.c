/* The sampler against the PyTorch loop it replaces: recordings of a module that sweeps the sites
 * in order with x_i = m_i - sum_{j != i} Q_ij x_j / Q_ii + torch.randn(B) / sqrt(Q_ii), drawn by
 * torch 2.11 on an H200 and on its host.  Outputs within 1e-5 (torch sums in another order and its
 * float normals are off by up to 5e-6), the generator's state exactly.
 * The recordings keep some chains; the others' starts are re-made from torch's own seeds. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "gibbsite/gibbsite.h"
#include "kat/close.h"
#include "kat/records.h"
#include "rng/torch_stream.h"

#define BOUND 1e-5
#define BOUND_START 3e-6 /* of the torch-cpu stream */

enum { MULTIPROCESSORS = 132, THREADS = 2048, AT_NORMAL = 5024 };

typedef struct scenario {
    int64_t dim, chains, seed, sweeps;
    char name[32];
} scenario;

static records all;

static record field(const char *device, const scenario *s, const char *what)
{
    char name[RECORD_NAME];
    snprintf(name, sizeof name, "%s%s_%s", device, s->name, what);
    return records_get(&all, name);
}

static float *floats(const record *r)
{
    float *copy = malloc(record_bytes(r));
    assert_non_null(copy);
    memcpy(copy, r->data, record_bytes(r));
    return copy;
}

/* x of all chains: torch.manual_seed(100 + D); randn(D); randn(D, D); x = randn(B, D); the chains
 * recorded are taken as recorded. */
static float *starts(const scenario *s, closeness *close)
{
    const record rows = field("", s, "rows"), x = field("", s, "x");
    float *all_chains = malloc((size_t)(s->chains * s->dim) * sizeof *all_chains);
    float *scratch = malloc((size_t)(s->dim * s->dim) * sizeof *scratch);
    assert_non_null(all_chains);
    assert_non_null(scratch);
    gbs_torch_cpu generator;
    gbs_torch_cpu_seed(&generator, 100 + (uint64_t)s->dim);
    gbs_torch_cpu_randn_f32(&generator, s->dim, scratch, 1);
    gbs_torch_cpu_randn_f32(&generator, s->dim * s->dim, scratch, 1);
    gbs_torch_cpu_randn_f32(&generator, s->chains * s->dim, all_chains, 1);
    free(scratch);
    for (int64_t r = 0; r < rows.rows; r++) {
        float *row = all_chains + record_integer(&rows, r) * s->dim;
        for (int64_t i = 0; i < s->dim; i++) {
            const double recorded = record_value(&x, r * s->dim + i);
            closeness_add(close, r * s->dim + i, recorded, (double)row[i]);
            row[i] = (float)recorded;
        }
    }
    return all_chains;
}

static gbs_sampler *sampler_of(gbs_context *ctx, gbs_model *model, const scenario *s, int cuda,
                               const float *x)
{
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    gbs_sampler *sampler = NULL;
    spec.type = GBS_F32;
    spec.chains = s->chains;
    spec.seed = (uint64_t)s->seed;
    spec.start = GBS_START_GIVEN;
    spec.initial = x;
    spec.initial_rows = s->chains;
    spec.stream.kind = cuda ? GBS_STREAM_TORCH_CUDA : GBS_STREAM_TORCH_CPU;
    if (cuda) {
        spec.stream.cuda_multiprocessors = MULTIPROCESSORS;
        spec.stream.cuda_threads_per_multiprocessor = THREADS;
    }
    if (gbs_sampler_create(ctx, model, &spec, &sampler) != GBS_OK)
        fail_msg("%s", gbs_context_message(ctx));
    return sampler;
}

static gbs_model *model_of(gbs_context *ctx, const scenario *s)
{
    const record precision = field("", s, "precision"), mu = field("", s, "mu");
    float *q = floats(&precision), *m = floats(&mu);
    gbs_model_spec spec = gbs_model_spec_default();
    gbs_model *model = NULL;
    spec.dim = s->dim;
    spec.matrix_type = GBS_F32;
    spec.matrix = q;
    spec.location_kind = GBS_LOCATION_OFFSET;
    spec.location_type = GBS_F32;
    spec.location = m;
    if (gbs_model_create(ctx, &spec, &model) != GBS_OK)
        fail_msg("%s", gbs_context_message(ctx));
    free(q);
    free(m);
    return model;
}

/* The recorded chains one by one, and the column sums over all of them, as means.  The errors of
 * the chains, each below the bound, have no common sign: 5 standard deviations of the mean of B
 * errors uniform on +-bound is 5 bound / sqrt(3 B), where one wrong chain would show. */
static int outputs_match(const scenario *s, const char *device, const float *got)
{
    const record rows = field("", s, "rows"), y = field(device, s, "y");
    const record sums = field(device, s, "colsum");
    char what[64];
    snprintf(what, sizeof what, "%s%s output", device, s->name);
    closeness output = closeness_start(what, BOUND);
    for (int64_t r = 0; r < rows.rows; r++) {
        const float *row = got + record_integer(&rows, r) * s->dim;
        for (int64_t i = 0; i < s->dim; i++)
            closeness_add(&output, r * s->dim + i, record_value(&y, r * s->dim + i),
                          (double)row[i]);
    }
    closeness mean = closeness_start("  column sums / chains",
                                     fmin(BOUND, 5.0 * BOUND / sqrt(3.0 * (double)s->chains)));
    for (int64_t i = 0; i < s->dim; i++) {
        double sum = 0.0;
        for (int64_t b = 0; b < s->chains; b++)
            sum += (double)got[b * s->dim + i];
        closeness_add(&mean, i, record_value(&sums, i) / (double)s->chains,
                      sum / (double)s->chains);
    }
    return closeness_end(&output) & closeness_end(&mean);
}

/* Byte for byte, but for torch-cpu's kept normal, a drawn double like any other: 1e-14. */
static int state_matches(const scenario *s, const char *device, int cuda,
                         const gbs_sampler *sampler)
{
    const record expected = field(device, s, "state_after");
    unsigned char got[GBS_TORCH_CPU_STATE_BYTES];
    const size_t bytes = cuda ? GBS_TORCH_CUDA_STATE_BYTES : GBS_TORCH_CPU_STATE_BYTES;
    assert_int_equal((size_t)expected.rows, bytes);
    assert_int_equal(gbs_sampler_get_torch_state(sampler, got, bytes), GBS_OK);
    int good = 1;
    for (size_t k = 0; k < bytes; k++) {
        if (got[k] != expected.data[k] && (cuda || k < AT_NORMAL || k >= AT_NORMAL + 8)) {
            printf("FAILED %s%s state byte %d: expected %d, got %d\n", device, s->name, (int)k,
                   expected.data[k], got[k]);
            good = 0;
        }
    }
    if (!cuda) {
        double a, b;
        memcpy(&a, expected.data + AT_NORMAL, sizeof a);
        memcpy(&b, got + AT_NORMAL, sizeof b);
        closeness kept = closeness_start("  kept normal", 1e-14);
        closeness_add(&kept, 0, a, b);
        good &= closeness_end(&kept);
    }
    return good;
}

static int replays(gbs_context *ctx, const scenario *s, int cuda)
{
    const char *device = cuda ? "cuda_" : "cpu_";
    closeness start = closeness_start("  starts re-made", BOUND_START);
    float *x = starts(s, &start);
    gbs_model *model = model_of(ctx, s);
    gbs_sampler *sampler = sampler_of(ctx, model, s, cuda, x);
    if (gbs_sampler_run(sampler, s->sweeps) != GBS_OK)
        fail_msg("%s", gbs_context_message(ctx));
    assert_int_equal(gbs_sampler_get_state(sampler, x), GBS_OK);
    int good = outputs_match(s, device, x);
    good &= state_matches(s, device, cuda, sampler);
    good &= closeness_end(&start);
    gbs_sampler_destroy(sampler);
    gbs_model_release(model);
    free(x);
    return good;
}

/* On every instruction set that this machine has. */
static void replays_the_recordings(void **unused)
{
    (void)unused;
    static const gbs_isa isas[] = {GBS_ISA_SCALAR, GBS_ISA_AVX2, GBS_ISA_AVX512, GBS_ISA_NEON};
    int good = 1;
    all = records_load(GBS_TEST_DATA "/kat/reference_module.bin");
    const record cases = records_get(&all, "cases");
    for (size_t k = 0; k < sizeof isas / sizeof *isas; k++) {
        if (!gbs_isa_available(isas[k]))
            continue;
        gbs_context_options options = gbs_context_options_default();
        gbs_context *ctx = NULL;
        options.isa = isas[k];
        assert_int_equal(gbs_context_create(&options, &ctx), GBS_OK);
        printf("instruction set %s\n", gbs_isa_name(isas[k]));
        for (int64_t c = 0; c < cases.rows; c++) {
            scenario s = {record_integer(&cases, 4 * c), record_integer(&cases, 4 * c + 1),
                          record_integer(&cases, 4 * c + 2), record_integer(&cases, 4 * c + 3), ""};
            snprintf(s.name, sizeof s.name, "d%d_b%d_s%d_n%d", (int)s.dim, (int)s.chains,
                     (int)s.seed, (int)s.sweeps);
            for (int cuda = 0; cuda < 2; cuda++)
                good &= replays(ctx, &s, cuda);
        }
        gbs_context_destroy(ctx);
    }
    free(all.bytes);
    assert_true(good);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(replays_the_recordings)};
    return cmocka_run_group_tests_name("reference module", tests, NULL, NULL);
}
