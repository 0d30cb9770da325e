/* The context: allocator, chosen instruction set, threads, last message.  Also the floating-point
 * environment that draws are computed in. */
#include "core/internal.h"
#include "core/cpu.h"
#include "core/pool.h"

#include <stdlib.h>

static void *default_allocate(size_t bytes, void *user)
{
    (void)user;
    return malloc(bytes);
}

static void default_release(void *memory, void *user)
{
    (void)user;
    free(memory);
}

gbs_context_options gbs_context_options_default(void)
{
    const gbs_context_options options = {{NULL, NULL, NULL}, GBS_ISA_AUTO, 1};
    return options;
}

gbs_status gbs_context_create(const gbs_context_options *options, gbs_context **out)
{
    if (out == NULL)
        return GBS_ERROR_ARGUMENT;
    *out = NULL;
    gbs_context_options chosen = options != NULL ? *options : gbs_context_options_default();
    if ((chosen.allocator.allocate == NULL) != (chosen.allocator.release == NULL))
        return GBS_ERROR_ARGUMENT;
    if (chosen.allocator.allocate == NULL) {
        chosen.allocator.allocate = default_allocate;
        chosen.allocator.release = default_release;
    }
    if (chosen.threads < 0 || chosen.threads > GBS_THREADS_MAX)
        return GBS_ERROR_ARGUMENT;
    if (chosen.threads == 0)
        chosen.threads = gbs_cpu_processors();
    if (chosen.isa < GBS_ISA_AUTO || chosen.isa > GBS_ISA_AVX512)
        return GBS_ERROR_ARGUMENT;
    if (chosen.isa == GBS_ISA_AUTO)
        chosen.isa = gbs_cpu_widest();
    else if (!gbs_isa_available(chosen.isa))
        return GBS_ERROR_UNAVAILABLE;
    gbs_context *const ctx = gbs_memory_take(&chosen.allocator, 1, sizeof *ctx);
    if (ctx == NULL)
        return GBS_ERROR_MEMORY;
    ctx->allocator = chosen.allocator;
    ctx->isa = chosen.isa;
    if (chosen.threads > 1) {
        ctx->pool = gbs_pool_create(&ctx->allocator, chosen.threads);
        if (ctx->pool == NULL) {
            gbs_context_destroy(ctx);
            return GBS_ERROR_MEMORY;
        }
    }
    *out = ctx;
    return GBS_OK;
}

void gbs_context_destroy(gbs_context *ctx)
{
    if (ctx == NULL)
        return;
    const gbs_allocator allocator = ctx->allocator;
    gbs_pool_destroy(&allocator, ctx->pool);
    gbs_memory_give(&allocator, ctx);
}

const char *gbs_context_message(const gbs_context *ctx)
{
    return ctx != NULL ? ctx->message : "";
}

gbs_isa gbs_context_isa(const gbs_context *ctx)
{
    return ctx != NULL ? ctx->isa : GBS_ISA_AUTO;
}

int32_t gbs_context_threads(const gbs_context *ctx)
{
    return ctx != NULL ? gbs_pool_threads(ctx->pool) : 0;
}

void gbs_float_enter(fenv_t *saved)
{
    fegetenv(saved);
    fesetenv(FE_DFL_ENV);
}

void gbs_float_leave(const fenv_t *saved)
{
    fesetenv(saved);
}
