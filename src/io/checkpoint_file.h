/* A checkpoint's bytes in a file; what they mean is the library's (gbs_checkpoint_read). */
#ifndef GBS_IO_CHECKPOINT_FILE_H
#define GBS_IO_CHECKPOINT_FILE_H

#include "io/error.h"

#include <stddef.h>

/* Replaces the file by these bytes: under a temporary name first, synced, then renamed, so that
 * whenever the process is killed the file is the old one or the new one.
 * Fails: WRITE, MEMORY; the file is then as it was. */
gbs_io_status gbs_checkpoint_save(const char *path, const void *bytes, size_t size,
                                  gbs_io_error *error);

/* Reads all of it.  Owns: *bytes is the caller's, ended by free(); NULL after a failure.
 * Fails: FILE, MEMORY. */
gbs_io_status gbs_checkpoint_load(const char *path, void **bytes, size_t *size,
                                  gbs_io_error *error);

#endif
