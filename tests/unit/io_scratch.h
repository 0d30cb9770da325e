/* Files for the tests of src/io: a directory of their own per test program, and checks on
 * what a reader or writer said about them.  Include after cmocka.h. */
#ifndef GBS_TEST_IO_SCRATCH_H
#define GBS_TEST_IO_SCRATCH_H

#include "io/error.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char scratch_directory[512];

static int scratch_open(void **state)
{
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(scratch_directory, sizeof scratch_directory, "%s/gibbsite-test-XXXXXX",
             base && *base ? base : "/tmp");
    return mkdtemp(scratch_directory) ? 0 : -1;
}

/* A name in the directory; four of them stay valid at a time. */
static inline const char *scratch_path(const char *name)
{
    static char paths[4][1024];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", scratch_directory, name);
    return path;
}

/* How many entries the directory has; with `clear` they are removed. */
static int scratch_entries(int clear)
{
    DIR *directory = opendir(scratch_directory);
    assert_non_null(directory);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(directory));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        count++;
        if (clear)
            remove(scratch_path(entry->d_name));
    }
    closedir(directory);
    return count;
}

static int scratch_close(void **state)
{
    (void)state;
    scratch_entries(1);
    return rmdir(scratch_directory);
}

/* Writes a whole file and returns its path.  An old one is removed first: some file systems
 * flush a file to the disk when it is cut to nothing and written again. */
static inline const char *scratch_file(const char *name, const void *bytes, size_t count)
{
    const char *path = scratch_path(name);
    remove(path);
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, count, stream), count);
    assert_int_equal(fclose(stream), 0);
    return path;
}

static inline const char *scratch_text(const char *name, const char *text)
{
    return scratch_file(name, text, strlen(text));
}

/* Reads a whole file back, a 0 behind it; the caller frees it. */
static inline char *scratch_read(const char *path, size_t *count)
{
    FILE *stream = fopen(path, "rb");
    struct stat about;
    if (!stream || fstat(fileno(stream), &about) != 0)
        fail_msg("%s cannot be opened", path);
    char *bytes = calloc((size_t)about.st_size + 1, 1);
    assert_non_null(bytes);
    *count = fread(bytes, 1, (size_t)about.st_size, stream);
    fclose(stream);
    return bytes;
}

/* The call must have failed with this status and with these words in its message. */
static void assert_refused(const char *what, gbs_io_status got, const gbs_io_error *error,
                           gbs_io_status expected, const char *words)
{
    if (got != expected)
        fail_msg("%s: expected status %d, got %d (%s)", what, expected, got,
                 got ? error->message : "no error");
    if (!strstr(error->message, words))
        fail_msg("%s: expected a message with \"%s\", got \"%s\"", what, words, error->message);
    if (error->status != expected)
        fail_msg("%s: expected status %d in the error, got %d", what, expected, error->status);
}

static void assert_accepted(const char *what, gbs_io_status got, const gbs_io_error *error)
{
    if (got)
        fail_msg("%s: expected no error, got status %d: %s", what, got, error->message);
}

static inline void assert_count(const char *what, int64_t got, int64_t expected)
{
    if (got != expected)
        fail_msg("%s: expected %" PRId64 ", got %" PRId64, what, expected, got);
}

/* Bit for bit: readers and writers of exact formats have no rounding to allow for. */
static inline void assert_doubles(const char *what, const double *got, const double *expected,
                                  int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        if (memcmp(&got[i], &expected[i], sizeof *got) != 0)
            fail_msg("%s: element %" PRId64 ": expected %.17g, got %.17g, error %g, bound 0 bits",
                     what, i, expected[i], got[i], got[i] - expected[i]);
    }
}

/* Feeds a reader every prefix of a valid file, and every file with one byte replaced by each
 * of a few hostile ones.  It must accept or refuse, in bounded time and memory; a sanitizer
 * build sees to the rest.  `read` returns the status and frees what it read. */
static inline void damage_every_byte(const char *what, const void *valid, size_t count,
                                     gbs_io_status (*read)(const char *path, gbs_io_error *error))
{
    static const unsigned char hostile[] = {0, '\n', ' ', '-', '9', '%', 0x7f, 0xff};
    int64_t accepted = 0, refused = 0;
    unsigned char *damaged = malloc(count + 1);
    assert_non_null(damaged);
    for (size_t cut = 0; cut < count; cut++) {
        gbs_io_error error = {0};
        gbs_io_status status = read(scratch_file("damaged", valid, cut), &error);
        if (status != GBS_IO_OK && status != GBS_IO_CONTENT)
            fail_msg("%s cut to %zu bytes: expected success or status %d, got %d: %s", what, cut,
                     GBS_IO_CONTENT, status, error.message);
        status ? refused++ : accepted++;
    }
    for (size_t i = 0; i < count * sizeof hostile; i++) {
        gbs_io_error error = {0};
        memcpy(damaged, valid, count);
        damaged[i / sizeof hostile] = hostile[i % sizeof hostile];
        gbs_io_status status = read(scratch_file("damaged", damaged, count), &error);
        if (status != GBS_IO_OK && status != GBS_IO_CONTENT && status != GBS_IO_MEMORY)
            fail_msg("%s with byte %zu = %d: expected success or a refusal, got %d: %s", what,
                     i / sizeof hostile, hostile[i % sizeof hostile], status, error.message);
        status ? refused++ : accepted++;
    }
    free(damaged);
    print_message("%s: %zu cuts, %zu replacements: %" PRId64 " refused, %" PRId64
                  " still a valid file\n",
                  what, count, count * sizeof hostile, refused, accepted);
}

#endif
