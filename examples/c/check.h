/* How these lessons treat a failure: say what the library says, and stop. */
#ifndef CHECK_H
#define CHECK_H

#include <gibbsite/gibbsite.h>
#include <stdio.h>
#include <stdlib.h>

static void check(const gbs_context *ctx, gbs_status status)
{
    if (status == GBS_OK)
        return;
    fprintf(stderr, "%s: %s\n", gbs_status_text(status), gbs_context_message(ctx));
    exit(EXIT_FAILURE);
}

#endif
