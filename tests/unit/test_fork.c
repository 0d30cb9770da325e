/* Case C61: sampling never hangs in a forked child.  The child forks off before, after and during
 * a threaded run, samples on the parent's context or on its own, and must return the parent's bits
 * within a bound of time; so must its own child. */
#define _POSIX_C_SOURCE 200809L
#include "unit/matrices.h"
#include "unit/sampler_fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DIM = 20, CHAINS = 200, SWEEPS = 50, THREADS = 3, BOUND = 60 /* seconds */ };

typedef struct scene {
    gbs_context *ctx;
    gbs_model *model;
    double expected[CHAINS * DIM];
} scene;

static gbs_context *threaded(int32_t threads)
{
    gbs_context_options options = gbs_context_options_default();
    options.threads = threads;
    gbs_context *ctx = NULL;
    assert_int_equal(gbs_context_create(&options, &ctx), GBS_OK);
    return ctx;
}

/* 0 if a fresh sampler on ctx gives the expected states; says nothing, a child calls it too. */
static int sample_on(gbs_context *ctx, const scene *s)
{
    static double x[CHAINS * DIM];
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    gbs_sampler *sampler = NULL;
    spec.chains = CHAINS;
    spec.seed = 9;
    const int wrong = gbs_sampler_create(ctx, s->model, &spec, &sampler) != GBS_OK ||
                      gbs_sampler_run(sampler, SWEEPS) != GBS_OK ||
                      gbs_sampler_get_state(sampler, x) != GBS_OK ||
                      memcmp(x, s->expected, sizeof x) != 0;
    gbs_sampler_destroy(sampler);
    return wrong;
}

static int sample_on_own(const scene *s)
{
    gbs_context_options options = gbs_context_options_default();
    gbs_context *own = NULL;
    options.threads = THREADS;
    if (gbs_context_create(&options, &own) != GBS_OK)
        return 2;
    const int wrong = sample_on(own, s);
    gbs_context_destroy(own);
    return wrong;
}

/* A child that hangs is ended by its alarm, and so found. */
static pid_t fork_with_alarm(void)
{
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0)
        alarm(BOUND);
    return child;
}

static void expect_child(pid_t child, const char *what)
{
    int status = -1;
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status))
        fail_msg("%s: the child was ended by signal %d; SIGALRM (%d) means that it hung for %d s",
                 what, WTERMSIG(status), SIGALRM, BOUND);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) != 0)
        fail_msg("%s: the child's draws differ or it failed, exit %d", what, WEXITSTATUS(status));
}

static int open_scene(void **state)
{
    static scene s;
    double *const q = random_matrix(DIM, 4);
    gbs_context *const one = threaded(1);
    const gbs_model_spec spec = spec_of(q, DIM);
    s.model = new_model(one, &spec);
    s.ctx = threaded(THREADS);
    gbs_sampler_spec sampler_spec = gbs_sampler_spec_default();
    gbs_sampler *sampler = NULL;
    sampler_spec.chains = CHAINS;
    sampler_spec.seed = 9;
    assert_int_equal(gbs_sampler_create(one, s.model, &sampler_spec, &sampler), GBS_OK);
    assert_int_equal(gbs_sampler_run(sampler, SWEEPS), GBS_OK);
    assert_int_equal(gbs_sampler_get_state(sampler, s.expected), GBS_OK);
    gbs_sampler_destroy(sampler);
    gbs_context_destroy(one);
    free(q);
    *state = &s;
    return 0;
}

static int close_scene(void **state)
{
    scene *const s = *state;
    gbs_model_release(s->model);
    gbs_context_destroy(s->ctx);
    return 0;
}

/* Before any thread has started; then after, twice, and in the child's child. */
static void test_before_and_after(void **state)
{
    const scene *const s = *state;
    pid_t child = fork_with_alarm();
    if (child == 0)
        _exit(sample_on(s->ctx, s));
    expect_child(child, "before the first run");
    for (int round = 0; round < 2; ++round) {
        assert_int_equal(sample_on(s->ctx, s), 0);
        assert_int_equal(gbs_context_threads(s->ctx), THREADS);
        child = fork_with_alarm();
        if (child == 0) {
            int wrong = sample_on(s->ctx, s) + 2 * (gbs_context_threads(s->ctx) != THREADS);
            const pid_t grandchild = fork_with_alarm();
            if (grandchild == 0)
                _exit(sample_on(s->ctx, s) + sample_on_own(s));
            int status = -1;
            if (waitpid(grandchild, &status, 0) != grandchild || status != 0)
                wrong += 4;
            _exit(wrong);
        }
        expect_child(child, "after a run");
        assert_int_equal(sample_on(s->ctx, s), 0);
    }
    printf("checked: children before and after runs of %d threads, and a child's child, draw the "
           "same\n",
           THREADS);
}

/* A child that only ends: destroying what it inherited must not wait for threads it lacks. */
static void test_child_destroys(void **state)
{
    const scene *const s = *state;
    gbs_context *const ctx = threaded(THREADS);
    assert_int_equal(sample_on(ctx, s), 0);
    const pid_t child = fork_with_alarm();
    if (child == 0) {
        gbs_context_destroy(ctx);
        _exit(0);
    }
    expect_child(child, "destroying in the child");
    assert_int_equal(sample_on(ctx, s), 0);
    gbs_context_destroy(ctx);
    printf("checked: a child destroys its parent's context and returns\n");
}

/* ---- while another thread samples ---- */

typedef struct busy {
    const scene *s;
    gbs_context *ctx;
    _Atomic int stop, runs, wrong;
} busy;

static void *keep_sampling(void *argument)
{
    busy *const b = argument;
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    gbs_sampler *sampler = NULL;
    spec.chains = CHAINS;
    if (gbs_sampler_create(b->ctx, b->s->model, &spec, &sampler) != GBS_OK)
        atomic_store(&b->wrong, 1);
    while (!atomic_load(&b->stop) && !atomic_load(&b->wrong)) {
        if (gbs_sampler_run(sampler, SWEEPS) != GBS_OK)
            atomic_store(&b->wrong, 1);
        atomic_fetch_add(&b->runs, 1);
    }
    gbs_sampler_destroy(sampler);
    return NULL;
}

static void test_during(void **state)
{
    const scene *const s = *state;
    enum { CHILDREN = 40 };
    busy b = {.s = s, .ctx = threaded(THREADS)};
    pthread_t sampling;
    assert_int_equal(pthread_create(&sampling, NULL, keep_sampling, &b), 0);
    for (int k = 0; k < CHILDREN; ++k) {
        const int before = atomic_load(&b.runs);
        while (atomic_load(&b.runs) == before && !atomic_load(&b.wrong))
            continue; /* somewhere within the next run */
        const pid_t child = fork_with_alarm();
        if (child == 0) /* b.ctx is in use by a thread that is not here: its pool starts afresh */
            _exit(sample_on(b.ctx, s) + sample_on_own(s));
        expect_child(child, "while another thread samples");
    }
    atomic_store(&b.stop, 1);
    pthread_join(sampling, NULL);
    assert_int_equal(b.wrong, 0);
    printf("checked: %d children made while another thread was in run %d and before\n", CHILDREN,
           b.runs);
    gbs_context_destroy(b.ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_before_and_after),
        cmocka_unit_test(test_child_destroys),
        cmocka_unit_test(test_during),
    };
    return cmocka_run_group_tests(tests, open_scene, close_scene);
}
