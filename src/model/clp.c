/* Finds Clp.  Once loaded it stays, as libraries in C++ are best left. */
#include "model/clp.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

static int find(void *library, const char *name, void *function)
{
    void *const symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol); /* ISO C has no cast from object to function */
    return symbol != NULL;
}

int gbs_clp_load(gbs_clp *out)
{
    void *const library = dlopen("libClp.so.1", RTLD_NOW | RTLD_LOCAL);
    int found = library != NULL;
#define GBS_X(name, result, arguments) found = found && find(library, "Clp_" #name, &out->name);
    GBS_CLP_FUNCTIONS(GBS_X)
#undef GBS_X
    return found && out->VersionMajor() == 1;
}
