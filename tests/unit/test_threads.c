/* Threads: each with a context of its own, all on one model, must give the bits that one thread
 * gives; and a model retained and released from all of them at once.  Run under ThreadSanitizer
 * too. */
#define _POSIX_C_SOURCE 200809L

#include "unit/matrices.h"
#include "unit/sampler_fixture.h"

#include <pthread.h>

enum { THREADS = 4, DIM = 33, CHAINS = 37, SWEEPS = 20, ROUNDS = 5, ROWS = DIM - 1 };

/* What is sampled, and on how many threads of each context's own; draws between bounds take long
 * where instructions are emulated. */
typedef struct kind {
    const char *name;
    gbs_method method;
    int boxes, rows;
    int32_t threads;
    int sweeps, rounds;
} kind;

static const kind kinds[] = {
    {"gibbs", GBS_METHOD_GIBBS, 0, 0, 1, SWEEPS, ROUNDS},
    {"exact", GBS_METHOD_EXACT, 0, 0, 1, SWEEPS, ROUNDS},
    {"gibbs, boxes", GBS_METHOD_GIBBS, 1, 0, 2, 2, 2},
    {"whitened, boxes", GBS_METHOD_WHITENED, 1, 0, 2, 2, 2},
    {"gibbs, rows", GBS_METHOD_GIBBS, 0, 1, 2, 2, 2},
    {"whitened, boxes and rows", GBS_METHOD_WHITENED, 1, 1, 2, 2, 2},
};

typedef struct worker {
    gbs_model *model;
    const gbs_context_options *options;
    const kind *of;
    double x[CHAINS * DIM], sd[DIM];
    gbs_status status;
} worker;

/* What one thread does; reports through `status` since cmocka is for the main thread alone. */
static void *work(void *argument)
{
    worker *const w = argument;
    gbs_context *ctx = NULL;
    gbs_sampler *sampler = NULL;
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    spec.method = w->of->method;
    spec.chains = CHAINS;
    if (w->of->method != GBS_METHOD_EXACT)
        spec.start = GBS_START_ZERO;
    gbs_model_retain(w->model);
    w->status = gbs_context_create(w->options, &ctx);
    if (w->status == GBS_OK)
        w->status = gbs_model_sd(ctx, w->model, w->sd);
    for (int round = 0; round < w->of->rounds && w->status == GBS_OK; ++round) {
        w->status = gbs_sampler_create(ctx, w->model, &spec, &sampler);
        if (w->status == GBS_OK)
            w->status = gbs_sampler_run(sampler, w->of->sweeps);
        if (w->status == GBS_OK)
            w->status = gbs_sampler_get_state(sampler, w->x);
        gbs_sampler_destroy(sampler);
        sampler = NULL;
    }
    gbs_context_destroy(ctx);
    gbs_model_release(w->model);
    return NULL;
}

static void check_threads(gbs_isa isa, const kind *of)
{
    static worker workers[THREADS], alone;
    static double lower[DIM], a[ROWS * DIM], row_lower[ROWS];
    pthread_t threads[THREADS];
    gbs_context_options options = gbs_context_options_default();
    double *const q = random_matrix(DIM, 2);
    gbs_model_spec spec = spec_of(q, DIM);
    for (int i = 0; i < DIM; ++i)
        lower[i] = -0.25;
    for (int r = 0; r < ROWS; ++r) { /* neighbours that rise by -1 at least */
        a[r * DIM + r] = -1;
        a[r * DIM + r + 1] = 1;
        row_lower[r] = -1;
    }
    spec.lower = of->boxes ? lower : NULL;
    if (of->rows)
        spec.constraints = (gbs_constraints){.rows = ROWS, .matrix = a, .lower = row_lower};
    options.isa = isa;
    options.threads = of->threads;
    gbs_context *const maker = new_context(isa);
    alone.model = new_model(maker, &spec);
    gbs_model *const model = new_model(maker, &spec);
    gbs_context_destroy(maker);
    alone.options = &options;
    alone.of = of;
    work(&alone);
    assert_int_equal(alone.status, GBS_OK);
    for (int k = 0; k < THREADS; ++k) {
        workers[k] = (worker){.model = model, .options = &options, .of = of};
        assert_int_equal(pthread_create(&threads[k], NULL, work, &workers[k]), 0);
    }
    for (int k = 0; k < THREADS; ++k) {
        assert_int_equal(pthread_join(threads[k], NULL), 0);
        assert_int_equal(workers[k].status, GBS_OK);
        assert_memory_equal(workers[k].x, alone.x, sizeof alone.x);
        assert_memory_equal(workers[k].sd, alone.sd, sizeof alone.sd);
    }
    gbs_model_release(model);
    gbs_model_release(alone.model);
    free(q);
    printf("checked: %s, %s: %d threads on one model, each %d times the bits of one\n",
           gbs_isa_name(isa), of->name, THREADS, of->rounds);
}

static void test_one_model(void **state)
{
    (void)state;
    for (gbs_isa isa = GBS_ISA_SCALAR; isa <= GBS_ISA_NEON; ++isa)
        if (gbs_isa_available(isa))
            for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k)
                check_threads(isa, &kinds[k]);
}

static void *retain_and_release(void *model)
{
    for (int k = 0; k < 10000; ++k) {
        gbs_model_retain(model);
        gbs_model_release(model);
    }
    gbs_model_release(model);
    return NULL;
}

/* Every thread ends by giving one reference back; the last of them frees the model. */
static void test_references(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    counting memory = {.refuse = -1};
    const gbs_context_options options = counting_options(&memory);
    gbs_context *ctx = NULL;
    assert_int_equal(gbs_context_create(&options, &ctx), GBS_OK);
    gbs_model *const model = fixture_model(ctx);
    gbs_context_destroy(ctx);
    for (int k = 1; k < THREADS; ++k)
        gbs_model_retain(model);
    for (int k = 0; k < THREADS; ++k)
        assert_int_equal(pthread_create(&threads[k], NULL, retain_and_release, model), 0);
    for (int k = 0; k < THREADS; ++k)
        assert_int_equal(pthread_join(threads[k], NULL), 0);
    assert_int_equal(memory.taken, memory.given);
    printf("checked: %d threads gave back the last references, and all memory came back\n",
           THREADS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_model),
        cmocka_unit_test(test_references),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
