/* What every part of the library shares: the context's insides, memory through the caller's
 * hooks, and the one way to fail.  Private. */
#ifndef GBS_CORE_INTERNAL_H
#define GBS_CORE_INTERNAL_H

#include "core/device.h"
#include "core/plural.h"
#include "gibbsite/gibbsite.h"

#include <fenv.h>
#include <stddef.h>
#include <stdint.h>

#define GBS_MESSAGE_BYTES 512

/* Alignment of every block from gbs_memory_take: a cache line, and a whole AVX-512 vector. */
#define GBS_ALIGNMENT 64

typedef struct gbs_pool gbs_pool;

struct gbs_context {
    gbs_allocator allocator; /* never NULL inside */
    gbs_isa isa;             /* never AUTO */
    gbs_pool *pool;          /* NULL: the caller's thread alone */
    int form;                /* gbs_form of samplers made next: AUTO but in tests and bench */
    /* Both NULL on the CPU. */
    const gbs_device_functions *device_functions;
    gbs_device *device;
    int32_t device_ordinal;
    char message[GBS_MESSAGE_BYTES];
};

/* Memory of count * size bytes, aligned to GBS_ALIGNMENT and zeroed; NULL if the product
 * overflows or the hook refuses.  A count of 0 gives a valid block. */
void *gbs_memory_take(const gbs_allocator *allocator, int64_t count, size_t size);
void gbs_memory_give(const gbs_allocator *allocator, void *memory); /* accepts NULL */

/* Writes the message and returns the status, so that callers write `return gbs_fail(...)`. */
gbs_status gbs_fail(gbs_context *ctx, gbs_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* snprintf for what goes into a message, in the C locale as messages are. */
int gbs_message_part(char *to, size_t bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* gbs_fail for a refused allocation of count * size bytes for `what`. */
gbs_status gbs_fail_memory(gbs_context *ctx, const char *what, int64_t count, size_t size);

/* The default floating-point environment (round to nearest, subnormals kept), entered by every
 * public call whose results enter a draw: some library elsewhere in the process may have set
 * flush-to-zero.  `saved` holds the caller's, and leave restores it. */
void gbs_float_enter(fenv_t *saved);
void gbs_float_leave(const fenv_t *saved);

static inline size_t gbs_type_size(gbs_type type)
{
    return type == GBS_F32 ? sizeof(float) : sizeof(double);
}

#endif
