/* Saving replaces by a rename (io/file.c), so that a kill loses the newer checkpoint at most. */
#include "io/checkpoint_file.h"

#include "io/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

gbs_io_status gbs_checkpoint_save(const char *path, const void *bytes, size_t size,
                                  gbs_io_error *error)
{
    gbs_output output;
    gbs_io_status status = gbs_output_open(&output, path, error);
    if (status)
        return status;
    if (gbs_output_write_at(&output, bytes, size, 0) == 0)
        return gbs_output_commit(&output, error);
    status = gbs_io_fail(error, GBS_IO_WRITE, path, "cannot be written: %s", strerror(errno));
    gbs_output_abandon(&output);
    return status;
}

gbs_io_status gbs_checkpoint_load(const char *path, void **bytes, size_t *size, gbs_io_error *error)
{
    gbs_input input;
    *bytes = NULL;
    *size = 0;
    gbs_io_status status = gbs_input_open(&input, path, error);
    if (status)
        return status;
    void *const block = malloc(input.bytes ? (size_t)input.bytes : 1);
    if (!block)
        status = gbs_io_fail_memory(error, path, input.bytes, 1);
    else
        status = gbs_input_read(&input, 0, block, input.bytes, error);
    if (status) {
        free(block);
    } else {
        *bytes = block;
        *size = (size_t)input.bytes;
    }
    gbs_input_close(&input);
    return status;
}
