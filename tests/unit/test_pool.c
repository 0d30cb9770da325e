/* The pool of threads: every task once, tasks that wait for earlier ones, the floating-point
 * environment, signals; and the system refusing the k-th thread, for every k, in the pool and in
 * a sampler's run. */
#define _POSIX_C_SOURCE 200809L
#include "core/pool.h"
#include "unit/matrices.h"
#include "unit/sampler_fixture.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

enum { TASKS = 1000, MOST = 7, ROUNDS = 50, DIM = 6, CHAINS = 300, SWEEPS = 5 };

/* ---- pthread_create, by way of --wrap ---- */

static int refuse = -1; /* number of the creation to refuse, from 0 */
static int created;

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*function)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*function)(void *), void *argument);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*function)(void *), void *argument)
{
    if (created == refuse)
        return EAGAIN;
    const int error = __real_pthread_create(thread, attributes, function, argument);
    created += error == 0;
    return error;
}

static gbs_context *threaded(int32_t threads, counting *memory)
{
    gbs_context_options options = gbs_context_options_default();
    if (memory != NULL)
        options = counting_options(memory);
    options.threads = threads;
    gbs_context *ctx = NULL;
    assert_int_equal(gbs_context_create(&options, &ctx), GBS_OK);
    return ctx;
}

/* ---- tasks ---- */

typedef struct tally {
    int times[TASKS]; /* each written by one thread */
    int32_t workers;
    _Atomic int wrong;
} tally;

static void count_task(void *job, int64_t index, int32_t worker)
{
    tally *const t = job;
    t->times[index]++;
    if (worker < 0 || worker >= t->workers)
        atomic_fetch_add(&t->wrong, 1);
}

static void test_every_task_once(void **state)
{
    (void)state;
    for (int32_t threads = 1; threads <= MOST; ++threads) {
        gbs_context *const ctx = threaded(threads, NULL);
        assert_int_equal(gbs_context_threads(ctx), threads);
        for (int64_t tasks = 0; tasks <= TASKS; tasks = 3 * tasks + 1) {
            static tally t;
            memset(&t, 0, sizeof t);
            t.workers = threads;
            for (int round = 0; round < ROUNDS; ++round)
                gbs_pool_run(ctx->pool, tasks, count_task, &t);
            for (int64_t k = 0; k < TASKS; ++k)
                if (t.times[k] != (k < tasks ? ROUNDS : 0))
                    fail_msg("%d threads, task %lld of %lld: expected %d times, got %d", threads,
                             (long long)k, (long long)tasks, k < tasks ? ROUNDS : 0, t.times[k]);
            assert_int_equal(t.wrong, 0);
        }
        assert_int_equal(gbs_context_threads(ctx), threads);
        gbs_context_destroy(ctx);
    }
    printf("checked: 1 to %d threads, 0 to %d tasks, each done once in each of %d runs\n", MOST,
           TASKS, ROUNDS);
}

static void wait_for_the_one_before(void *job, int64_t index, int32_t worker)
{
    _Atomic int64_t *const done = job;
    (void)worker;
    assert_int_equal(gbs_pool_wait(done, index), index);
    atomic_store(done, index + 1);
}

static void test_waiting_tasks(void **state)
{
    (void)state;
    for (int32_t threads = 1; threads <= MOST; ++threads) {
        gbs_context *const ctx = threaded(threads, NULL);
        _Atomic int64_t done = 0;
        gbs_pool_run(ctx->pool, TASKS, wait_for_the_one_before, &done);
        assert_int_equal(done, TASKS);
        gbs_context_destroy(ctx);
    }
    printf("checked: 1 to %d threads, %d tasks that wait for the one before\n", MOST, TASKS);
}

static void test_spread(void **state)
{
    (void)state;
    for (int32_t threads = 1; threads <= MOST; ++threads) {
        gbs_context *const ctx = threaded(threads, NULL);
        for (int64_t things = 1; things <= 100; ++things) {
            int seen[100] = {0};
            int64_t last = -1;
            for (int64_t k = 0; k < things; ++k) {
                const int64_t at = gbs_pool_spread(ctx->pool, things, k);
                assert_in_range(at, 0, things - 1);
                seen[at]++;
                /* tasks of one round lie a thread's share apart */
                if (k % threads != 0 && k < things / threads * threads)
                    assert_int_equal(at - last, things / threads);
                last = at;
            }
            for (int64_t k = 0; k < things; ++k)
                assert_int_equal(seen[k], 1);
        }
        gbs_context_destroy(ctx);
    }
    printf("checked: 1 to %d threads, 1 to 100 things, each taken once, far from the others' at "
           "the time\n",
           MOST);
}

/* ---- what a thread runs in ---- */

typedef struct surroundings {
    _Atomic int odd_rounding, open_signals, threads_seen;
    _Atomic int32_t arrived;
    int32_t expected;
    pthread_t caller;
} surroundings;

/* All threads take part: each waits until as many tasks have begun as there are threads. */
static void look_around(void *job, int64_t index, int32_t worker)
{
    surroundings *const s = job;
    (void)index;
    if (worker != 0) {
        sigset_t blocked;
        pthread_sigmask(SIG_SETMASK, NULL, &blocked);
        if (fegetround() != FE_TONEAREST)
            atomic_fetch_add(&s->odd_rounding, 1);
        if (!sigismember(&blocked, SIGINT) || !sigismember(&blocked, SIGTERM))
            atomic_fetch_add(&s->open_signals, 1);
        atomic_fetch_add(&s->threads_seen, !pthread_equal(pthread_self(), s->caller));
    }
    atomic_fetch_add(&s->arrived, 1);
    while (atomic_load(&s->arrived) < s->expected)
        sched_yield();
}

static void test_surroundings(void **state)
{
    (void)state;
    gbs_context *const ctx = threaded(MOST, NULL);
    surroundings s = {.expected = MOST, .caller = pthread_self()};
    sigset_t before, after;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    fesetround(FE_UPWARD);
    gbs_pool_run(ctx->pool, MOST, look_around, &s);
    const int rounding = fegetround();
    fesetround(FE_TONEAREST);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    assert_int_equal(rounding, FE_UPWARD);
    assert_int_equal(sigismember(&after, SIGINT), sigismember(&before, SIGINT));
    assert_int_equal(s.odd_rounding, 0);
    assert_int_equal(s.open_signals, 0);
    assert_int_equal(s.threads_seen, MOST - 1);
    gbs_context_destroy(ctx);
    printf("checked: %d threads started while rounding upward round to nearest, signals blocked\n",
           MOST - 1);
}

/* ---- refused threads ---- */

static void test_refused_threads(void **state)
{
    (void)state;
    double *const q = random_matrix(DIM, 3);
    static double expected[CHAINS * DIM], got[CHAINS * DIM];
    for (int k = -1; k < MOST; ++k) { /* -1: one thread, which asks for none */
        counting memory = {.refuse = -1};
        gbs_context *const ctx = threaded(k < 0 ? 1 : MOST, &memory);
        const gbs_model_spec spec = spec_of(q, DIM);
        gbs_model *const model = new_model(ctx, &spec);
        gbs_sampler_spec s = gbs_sampler_spec_default();
        gbs_sampler *sampler = NULL;
        s.chains = CHAINS;
        created = 0;
        refuse = k;
        assert_int_equal(gbs_sampler_create(ctx, model, &s, &sampler), GBS_OK);
        assert_int_equal(gbs_sampler_run(sampler, SWEEPS), GBS_OK);
        assert_int_equal(gbs_sampler_get_state(sampler, k < 0 ? expected : got), GBS_OK);
        const int32_t most = k < 0 ? 1 : k < MOST - 1 ? k + 1 : MOST;
        assert_int_equal(gbs_context_threads(ctx), most);
        if (k >= 0)
            assert_memory_equal(got, expected, sizeof got);
        gbs_sampler_destroy(sampler);
        gbs_model_release(model);
        gbs_context_destroy(ctx);
        assert_int_equal(memory.taken, memory.given);
    }
    refuse = -1;
    free(q);
    printf("checked: thread 0, 1, ... %d refused in turn: the same draws with those there are\n",
           MOST - 2);
}

static void test_options(void **state)
{
    (void)state;
    static const int32_t wrong[] = {-1, INT32_MIN, GBS_THREADS_MAX + 1, INT32_MAX};
    gbs_context_options options = gbs_context_options_default();
    assert_int_equal(options.threads, 1);
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; ++k) {
        gbs_context *ctx = (gbs_context *)&options;
        options.threads = wrong[k];
        assert_int_equal(gbs_context_create(&options, &ctx), GBS_ERROR_ARGUMENT);
        assert_null(ctx);
    }
    for (int64_t k = 0; k < 3; ++k) { /* context, pool, handles */
        counting memory = {.refuse = k};
        options = counting_options(&memory);
        options.threads = 3;
        gbs_context *ctx = (gbs_context *)&options;
        assert_int_equal(gbs_context_create(&options, &ctx), GBS_ERROR_MEMORY);
        assert_null(ctx);
        assert_int_equal(memory.taken, memory.given);
    }
    gbs_context *const all = threaded(0, NULL), *const most = threaded(GBS_THREADS_MAX, NULL);
    assert_true(gbs_context_threads(all) >= 1);
    assert_int_equal(gbs_context_threads(most), GBS_THREADS_MAX);
    assert_int_equal(gbs_context_threads(NULL), 0);
    printf("checked: counts refused, memory refused, 0 gives %d threads here\n",
           gbs_context_threads(all));
    gbs_context_destroy(all);
    gbs_context_destroy(most);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_task_once), cmocka_unit_test(test_waiting_tasks),
        cmocka_unit_test(test_spread),          cmocka_unit_test(test_surroundings),
        cmocka_unit_test(test_refused_threads), cmocka_unit_test(test_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
