/* The pool: tasks are handed out by an atomic counter; a mutex and two conditions start a run and
 * end it.  Threads do not survive a fork, and the child's copy of the mutex may be held by one of
 * them, so that the process that started them is remembered and a child forgets them all. */
#define _POSIX_C_SOURCE 200809L
#include "core/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

typedef struct pool_thread {
    gbs_pool *pool;
    int32_t worker;
    pthread_t handle;
} pool_thread;

struct gbs_pool {
    int32_t threads; /* the caller's among them */
    int32_t started;
    int asked; /* threads have been asked for, in process `owner` */
    pid_t owner;
    pool_thread *thread; /* [threads - 1] */

    pthread_mutex_t mutex;
    pthread_cond_t begin, end;
    /* under the mutex */
    uint64_t run; /* number of the run that began last */
    int32_t busy; /* threads that have not ended it */
    int stop;
    gbs_pool_task task;
    void *job;
    int64_t tasks;

    _Atomic int64_t next;
};

static void take_tasks(gbs_pool *pool, gbs_pool_task task, void *job, int64_t tasks, int32_t worker)
{
    for (;;) {
        const int64_t index = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
        if (index >= tasks)
            return;
        task(job, index, worker);
    }
}

static void *serve(void *argument)
{
    const pool_thread *const self = argument;
    gbs_pool *const pool = self->pool;
    uint64_t seen = 0;
    pthread_mutex_lock(&pool->mutex);
    for (;;) {
        while (pool->run == seen && !pool->stop)
            pthread_cond_wait(&pool->begin, &pool->mutex);
        if (pool->stop)
            break;
        seen = pool->run;
        const gbs_pool_task task = pool->task;
        void *const job = pool->job;
        const int64_t tasks = pool->tasks;
        pthread_mutex_unlock(&pool->mutex);

        /* a thread starts in its creator's environment */
        fenv_t saved;
        gbs_float_enter(&saved);
        take_tasks(pool, task, job, tasks, self->worker);
        gbs_float_leave(&saved);

        pthread_mutex_lock(&pool->mutex);
        if (--pool->busy == 0)
            pthread_cond_signal(&pool->end);
    }
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

/* Starts the threads with all signals blocked: the program's handlers run on its own threads. */
static void start(gbs_pool *pool)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->begin, NULL);
    pthread_cond_init(&pool->end, NULL);
    pool->run = 0;
    pool->busy = 0;
    pool->stop = 0;
    pool->owner = getpid();
    pool->asked = 1;
    for (pool->started = 0; pool->started < pool->threads - 1; ++pool->started) {
        pool_thread *const thread = &pool->thread[pool->started];
        thread->pool = pool;
        thread->worker = pool->started + 1;
        if (pthread_create(&thread->handle, NULL, serve, thread) != 0)
            break;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static int here(const gbs_pool *pool)
{
    return pool->asked && pool->owner == getpid();
}

gbs_pool *gbs_pool_create(const gbs_allocator *allocator, int32_t threads)
{
    gbs_pool *const pool = gbs_memory_take(allocator, 1, sizeof *pool);
    if (pool == NULL)
        return NULL;
    pool->threads = threads;
    pool->thread = gbs_memory_take(allocator, threads - 1, sizeof *pool->thread);
    if (pool->thread == NULL) {
        gbs_memory_give(allocator, pool);
        return NULL;
    }
    return pool;
}

void gbs_pool_destroy(const gbs_allocator *allocator, gbs_pool *pool)
{
    if (pool == NULL)
        return;
    if (here(pool)) {
        pthread_mutex_lock(&pool->mutex);
        pool->stop = 1;
        pthread_cond_broadcast(&pool->begin);
        pthread_mutex_unlock(&pool->mutex);
        for (int32_t k = 0; k < pool->started; ++k)
            pthread_join(pool->thread[k].handle, NULL);
        pthread_mutex_destroy(&pool->mutex);
        pthread_cond_destroy(&pool->begin);
        pthread_cond_destroy(&pool->end);
    }
    gbs_memory_give(allocator, pool->thread);
    gbs_memory_give(allocator, pool);
}

void gbs_pool_run(gbs_pool *pool, int64_t tasks, gbs_pool_task task, void *job)
{
    if (pool != NULL && tasks > 1 && !here(pool))
        start(pool);
    if (pool == NULL || tasks <= 1 || pool->started == 0) {
        for (int64_t index = 0; index < tasks; ++index)
            task(job, index, 0);
        return;
    }
    pthread_mutex_lock(&pool->mutex);
    pool->task = task;
    pool->job = job;
    pool->tasks = tasks;
    atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
    pool->busy = pool->started;
    pool->run++;
    pthread_cond_broadcast(&pool->begin);
    pthread_mutex_unlock(&pool->mutex);

    take_tasks(pool, task, job, tasks, 0);

    pthread_mutex_lock(&pool->mutex);
    while (pool->busy > 0)
        pthread_cond_wait(&pool->end, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
}

int64_t gbs_pool_spread(const gbs_pool *pool, int64_t things, int64_t index)
{
    const int64_t threads = gbs_pool_workers(pool), share = things / threads;
    return index < threads * share ? index % threads * share + index / threads : index;
}

int64_t gbs_pool_wait(_Atomic int64_t *counter, int64_t least)
{
    /* a thread that runs raises it, unless the system has paused it: then let it have this core */
    enum { SPINS = 2000 };
    for (int64_t spin = 0;; ++spin) {
        const int64_t now = atomic_load_explicit(counter, memory_order_acquire);
        if (now >= least)
            return now;
        if (spin >= SPINS)
            sched_yield();
    }
}

int32_t gbs_pool_workers(const gbs_pool *pool)
{
    return pool != NULL ? pool->threads : 1;
}

int32_t gbs_pool_threads(const gbs_pool *pool)
{
    if (pool == NULL)
        return 1;
    return here(pool) ? pool->started + 1 : pool->threads;
}
