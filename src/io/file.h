/* Input files and pipes behind one stream of known length, and output files that appear under
 * their name only when complete: they are written to a temporary in the same directory, synced,
 * closed with every error looked at, and renamed. */
#ifndef GBS_IO_FILE_H
#define GBS_IO_FILE_H

#include "io/error.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* An open input.  A regular file is read as it lies; anything else (a pipe) is first read to
 * its end into memory that grows with what really arrives, so that `bytes` can be trusted and
 * `stream` can seek in both cases.  All zero is a valid, closed one. */
typedef struct gbs_input {
    const char *path; /* the caller's, for messages; must outlive the input */
    FILE *stream;
    int64_t bytes;  /* length of the whole input */
    char *memory;   /* of a pipe or a member of an archive; else NULL */
    int rows_apart; /* a table's rows are not what its columns are: io/array.h */
} gbs_input;

/* Owns: *input is ended by gbs_input_close.
 * Fails: FILE (missing, a directory, no permission, read error), MEMORY; *input is then all
 * zero. */
gbs_io_status gbs_input_open(gbs_input *input, const char *path, gbs_io_error *error);

/* Judges an input by its first bytes. */
typedef gbs_io_status gbs_input_check(const char *path, const char *start, int64_t bytes,
                                      gbs_io_error *error);

/* The same, with a check (or NULL) of the first 64 KiB, or all there is, before more is read.
 * Fails: also as the check does. */
gbs_io_status gbs_input_open_checked(gbs_input *input, const char *path, gbs_input_check *check,
                                     gbs_io_error *error);

/* An input that lies in memory from malloc, with room for at least one byte.  `path` is what
 * messages call it.
 * Owns: `memory` becomes the input's, whatever the result.
 * Fails: MEMORY; *input is then all zero. */
gbs_io_status gbs_input_from_memory(gbs_input *input, const char *path, char *memory, int64_t bytes,
                                    gbs_io_error *error);

/* 1 for a regular file, which can be opened twice; 0 for pipes and what is not there. */
int gbs_input_is_file(const char *path);

void gbs_input_close(gbs_input *input); /* accepts an all-zero input; leaves it so */

/* Reads exactly n bytes from `offset`.  Fails: FILE (read error), CONTENT (the file is
 * shorter). */
gbs_io_status gbs_input_read(gbs_input *input, int64_t offset, void *to, int64_t n,
                             gbs_io_error *error);

/* Reads the whole input.  Shape: *text [bytes + 1], the last a 0 that is not counted.
 * Owns: *text is the caller's, ended by free().
 * Fails: FILE, MEMORY, CONTENT (a zero byte: not a text file); *text is then NULL. */
gbs_io_status gbs_input_text(gbs_input *input, char **text, gbs_io_error *error);

/* An output file under way.  All zero is a valid, closed one. */
typedef struct gbs_output {
    char *path;      /* the final name, symbolic links resolved */
    char *temporary; /* ".gibbsite-<process>-<number>", beside it */
    FILE *stream;    /* the temporary, open for reading and writing */
} gbs_output;

/* The name that a file written to `path` appears under: symbolic links are followed, also one to a
 * file that is not there yet, so that a rename replaces the file and not the link.
 * Owns: the result is the caller's, ended by free(); NULL with errno set on failure. */
char *gbs_output_target(const char *path);

/* Starts an output file: creates the temporary and opens `stream` on it.  A symbolic link is
 * followed; a final name that exists and is not a regular file is refused.  An existing file's
 * permissions are kept, a new one follows the umask.
 * Owns: *output is ended by exactly one of gbs_output_commit and gbs_output_abandon.
 * Fails: WRITE, MEMORY; nothing has then been left behind. */
gbs_io_status gbs_output_open(gbs_output *output, const char *path, gbs_io_error *error);

/* How many bytes the file system of the temporary still takes from this user; -1 where it does not
 * say. */
int64_t gbs_output_free_bytes(const gbs_output *output);

/* Whether the temporary, still empty, could have so many bytes if there were room for them: file
 * systems have a limit.  Fails: WRITE. */
gbs_io_status gbs_output_check_length(const gbs_output *output, double bytes, gbs_io_error *error);

/* Writes all of `bytes` at `offset` of the temporary, past the stream's buffer.  Returns 0, or
 * -1 with errno set. */
int gbs_output_write_at(const gbs_output *output, const void *from, size_t bytes, int64_t offset);

/* Reads all of them back.  Returns 0, or -1 with errno set. */
int gbs_output_read_at(const gbs_output *output, void *to, size_t bytes, int64_t offset);

/* All of a commit but the rename: flush, fsync, close.  Where several files are to appear together,
 * each is closed so before the first is renamed.  Returns 0, or -1 with errno set; the output is
 * then good only for gbs_output_abandon. */
int gbs_output_close(gbs_output *output);

/* Makes the file appear: gbs_output_close if that has not been done, rename, fsync of the
 * directory.  Whatever the result, *output is closed and all zero afterwards. Fails: WRITE; the
 * temporary is removed and the final name is as it was. */
gbs_io_status gbs_output_commit(gbs_output *output, gbs_io_error *error);

/* Removes the temporary; the final name is as it was.  Accepts an all-zero *output. */
void gbs_output_abandon(gbs_output *output);

#endif
