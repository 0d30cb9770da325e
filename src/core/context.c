/* The context: allocator, chosen instruction set, threads and backend, last message.  Also the
 * floating-point environment that draws are computed in. */
#include "core/internal.h"
#include "core/cpu.h"
#include "core/pool.h"

#include <stdarg.h>
#include <stdio.h>
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
    const gbs_context_options options = {
        .isa = GBS_ISA_AUTO, .threads = 1, .backend = GBS_BACKEND_CPU};
    return options;
}

const char *gbs_backend_name(gbs_backend backend)
{
    return backend == GBS_BACKEND_CPU ? "cpu" : backend == GBS_BACKEND_CUDA ? "cuda" : "unknown";
}

static gbs_status refuse(gbs_device_message message, gbs_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static gbs_status refuse(gbs_device_message message, gbs_status status, const char *format, ...)
{
    if (message.bytes > 0) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(message.text, message.bytes, format, arguments);
        va_end(arguments);
    }
    return status;
}

/* Hooks come in pairs. */
static int half_given(const gbs_allocator *allocator)
{
    return (allocator->allocate == NULL) != (allocator->release == NULL);
}

static gbs_status check(gbs_context_options *chosen, gbs_device_message message)
{
    if (half_given(&chosen->allocator) || half_given(&chosen->cuda_memory))
        return refuse(
            message, GBS_ERROR_ARGUMENT,
            "allocator, cuda_memory: allocate and release must both be given, or neither");
    if (chosen->threads < 0 || chosen->threads > GBS_THREADS_MAX)
        return refuse(message, GBS_ERROR_ARGUMENT, "threads: %d is not in 0 .. %d",
                      (int)chosen->threads, GBS_THREADS_MAX);
    if (chosen->isa < GBS_ISA_AUTO || chosen->isa > GBS_ISA_NEON)
        return refuse(message, GBS_ERROR_ARGUMENT, "isa: %d is not known", (int)chosen->isa);
    if (chosen->backend != GBS_BACKEND_CPU && chosen->backend != GBS_BACKEND_CUDA)
        return refuse(message, GBS_ERROR_ARGUMENT, "backend: %d is not known",
                      (int)chosen->backend);
    if (chosen->threads == 0)
        chosen->threads = gbs_cpu_processors();
    if (chosen->isa == GBS_ISA_AUTO)
        chosen->isa = gbs_cpu_widest();
    else if (!gbs_isa_available(chosen->isa))
        return refuse(message, GBS_ERROR_UNAVAILABLE, "isa: this machine or build does not have %s",
                      gbs_isa_name(chosen->isa));
    if (chosen->allocator.allocate == NULL) {
        chosen->allocator.allocate = default_allocate;
        chosen->allocator.release = default_release;
    }
    return GBS_OK;
}

static gbs_status open_device(gbs_context *ctx, const gbs_context_options *options,
                              gbs_device_message message)
{
    const gbs_device_functions *functions;
    const gbs_allocator *const memory =
        options->cuda_memory.allocate != NULL ? &options->cuda_memory : NULL;
    gbs_status status = gbs_device_load(options, &functions, message);
    if (status == GBS_OK)
        status =
            functions->open(options->cuda_device, &ctx->allocator, memory, &ctx->device, message);
    if (status != GBS_OK)
        return status;
    ctx->device_functions = functions;
    ctx->device_ordinal = options->cuda_device;
    return GBS_OK;
}

gbs_status gbs_context_create(const gbs_context_options *options, gbs_context **out)
{
    gbs_context_options chosen = options != NULL ? *options : gbs_context_options_default();
    const gbs_device_message message = {chosen.message,
                                        chosen.message != NULL ? chosen.message_bytes : 0};
    if (out == NULL)
        return refuse(message, GBS_ERROR_ARGUMENT, "out: NULL");
    *out = NULL;
    gbs_status status = check(&chosen, message);
    if (status != GBS_OK)
        return status;
    gbs_context *const ctx = gbs_memory_take(&chosen.allocator, 1, sizeof *ctx);
    if (ctx == NULL)
        return refuse(message, GBS_ERROR_MEMORY, "context: no memory");
    ctx->allocator = chosen.allocator;
    ctx->isa = chosen.isa;
    if (chosen.threads > 1) {
        ctx->pool = gbs_pool_create(&ctx->allocator, chosen.threads);
        if (ctx->pool == NULL)
            status = refuse(message, GBS_ERROR_MEMORY, "threads: no memory");
    }
    if (status == GBS_OK && chosen.backend == GBS_BACKEND_CUDA)
        status = open_device(ctx, &chosen, message);
    if (status != GBS_OK) {
        gbs_context_destroy(ctx);
        return status;
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
    if (ctx->device_functions != NULL)
        ctx->device_functions->close(ctx->device);
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

gbs_backend gbs_context_backend(const gbs_context *ctx)
{
    return ctx != NULL && ctx->device_functions != NULL ? GBS_BACKEND_CUDA : GBS_BACKEND_CPU;
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
