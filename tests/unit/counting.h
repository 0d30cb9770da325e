/* An allocator for tests: counts what is taken and given back, and refuses the k-th request. */
#ifndef GBS_TEST_COUNTING_H
#define GBS_TEST_COUNTING_H

#include "gibbsite/gibbsite.h"

#include <stdlib.h>

typedef struct counting {
    int64_t taken, given;
    int64_t refuse; /* number of the request to refuse, from 0; -1 for none */
} counting;

static inline void *counting_allocate(size_t bytes, void *user)
{
    counting *const c = user;
    if (c->taken == c->refuse) {
        c->refuse = -1;
        return NULL;
    }
    void *const memory = malloc(bytes);
    c->taken += memory != NULL;
    return memory;
}

static inline void counting_release(void *memory, void *user)
{
    counting *const c = user;
    c->given += memory != NULL;
    free(memory);
}

static inline gbs_context_options counting_options(counting *c)
{
    gbs_context_options options = gbs_context_options_default();
    options.allocator = (gbs_allocator){counting_allocate, counting_release, c};
    return options;
}

#endif
