/* Aligned, zeroed memory through the caller's hooks.  The hooks promise only malloc's
 * alignment, so a block is taken larger and the hook's own pointer kept just below it. */
#include "core/internal.h"

#include <string.h>

void *gbs_memory_take(const gbs_allocator *allocator, int64_t count, size_t size)
{
    const size_t extra = GBS_ALIGNMENT + sizeof(void *);
    if (count < 0 || (size != 0 && (uint64_t)count > (SIZE_MAX - extra) / size))
        return NULL;
    const size_t bytes = (size_t)count * size;
    void *const base = allocator->allocate(bytes + extra, allocator->user);
    if (base == NULL)
        return NULL;
    uintptr_t at = (uintptr_t)base + sizeof(void *);
    at = (at + GBS_ALIGNMENT - 1) / GBS_ALIGNMENT * GBS_ALIGNMENT;
    void *const memory = (void *)at;
    memcpy((char *)memory - sizeof base, &base, sizeof base);
    memset(memory, 0, bytes);
    return memory;
}

void gbs_memory_give(const gbs_allocator *allocator, void *memory)
{
    if (memory == NULL)
        return;
    void *base;
    memcpy(&base, (char *)memory - sizeof base, sizeof base);
    allocator->release(base, allocator->user);
}
