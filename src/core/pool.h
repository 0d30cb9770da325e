/* A few threads that share a call's work: tasks numbered 0 .. n-1, each taken by whoever is free.
 * Own threads rather than OpenMP's, whose runtime hangs in a forked child and which
 * ThreadSanitizer cannot follow.  Results must not depend on who takes what. */
#ifndef GBS_CORE_POOL_H
#define GBS_CORE_POOL_H

#include "core/internal.h"

#include <stdatomic.h>

/* The most threads of a context. */
#define GBS_THREADS_MAX 1024

/* `worker` is below gbs_pool_workers and belongs to one thread during a run: the caller's is 0. */
typedef void (*gbs_pool_task)(void *job, int64_t index, int32_t worker);

/* A pool of `threads` >= 2, the caller's among them; NULL if there is no memory.  The others start
 * with the first run that has work for them. */
gbs_pool *gbs_pool_create(const gbs_allocator *allocator, int32_t threads);

/* Ends the threads.  Accepts NULL. */
void gbs_pool_destroy(const gbs_allocator *allocator, gbs_pool *pool);

/* All tasks, in any order and at once, in the default floating-point environment; returns when
 * all are done.  A task may wait for tasks of smaller numbers: they have been taken by threads
 * that run.  Threads that the system refuses are done without.  In a forked child, where the
 * threads are gone, new ones start.  With a NULL pool the caller does everything. */
void gbs_pool_run(gbs_pool *pool, int64_t tasks, gbs_pool_task task, void *job);

/* A thread that goes through its memory again and again makes the processor read ahead past the end
 * of it, over pages too, which takes cache lines away from a thread that writes there (5 to 10 % of
 * two threads' time).  So rooms of several threads have a gap between them, of bytes; and of things
 * that lie side by side, task `index` takes the one numbered gbs_pool_spread, which is far from
 * those that other threads are at.  Every thing is taken once. */
#define GBS_POOL_GAP 16384
int64_t gbs_pool_spread(const gbs_pool *pool, int64_t things, int64_t index);

/* For tasks that wait: until *counter is `least` or more; its value.  What the threads that raised
 * it wrote before is seen after. */
int64_t gbs_pool_wait(_Atomic int64_t *counter, int64_t least);

/* As many as asked for, and as there are: fewer once the system has refused one.  1 for NULL. */
int32_t gbs_pool_workers(const gbs_pool *pool);
int32_t gbs_pool_threads(const gbs_pool *pool);

#endif
