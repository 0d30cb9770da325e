/* Finds the device library at run time, so that a machine without CUDA needs nothing of it.  Once
 * loaded it stays: samplers and moments of any context may still hold its objects. */
#define _GNU_SOURCE /* dladdr */
#include "core/device.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "libgibbsite_cuda.so.0"

static gbs_status refuse(gbs_device_message message, const char *format, ...)
{
    va_list arguments;
    if (message.bytes > 0) {
        va_start(arguments, format);
        vsnprintf(message.text, message.bytes, format, arguments);
        va_end(arguments);
    }
    return GBS_ERROR_UNAVAILABLE;
}

/* The library as it lies beside this one, or beside the program that this one is linked into. */
static void *open_beside(void)
{
    Dl_info here;
    char path[4096];
    static const char anchor;
    if (dladdr(&anchor, &here) == 0 || here.dli_fname == NULL)
        return NULL;
    const char *const slash = strrchr(here.dli_fname, '/');
    if (slash == NULL)
        return NULL;
    const int length = snprintf(path, sizeof path, "%.*s/%s", (int)(slash - here.dli_fname),
                                here.dli_fname, LIBRARY);
    return length > 0 && (size_t)length < sizeof path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
}

gbs_status gbs_device_load(const gbs_context_options *options, const gbs_device_functions **out,
                           gbs_device_message message)
{
    const char *name = options->cuda_library;
    if (name == NULL)
        name = getenv("GIBBSITE_CUDA_LIBRARY");
    void *library = NULL;
    if (name == NULL) {
        name = LIBRARY;
        library = open_beside();
    }
    if (library == NULL)
        library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    *out = NULL;
    if (library == NULL)
        return refuse(message, "backend cuda: no CUDA library: %s", dlerror());
    gbs_device_entry entry;
    void *const symbol = dlsym(library, GBS_DEVICE_ENTRY);
    memcpy(&entry, &symbol, sizeof entry); /* ISO C has no cast from object to function */
    const gbs_device_functions *const functions = symbol != NULL ? entry() : NULL;
    if (functions == NULL || functions->version != GBS_DEVICE_VERSION) {
        dlclose(library); /* nothing of it is in use */
        return refuse(message, "backend cuda: %s is not the CUDA library of gibbsite %s", name,
                      gbs_version());
    }
    *out = functions;
    return GBS_OK;
}
