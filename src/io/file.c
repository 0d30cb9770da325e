/* Input streams of known length, and output files that replace their target only by a rename
 * of a complete, synced temporary (POSIX rename is atomic on one file system, which is why the
 * temporary lies in the target's own directory). */
#define _POSIX_C_SOURCE 200809L

#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* The bytes that a check sees. */
enum { START = 65536 };

/* Reads a stream of unknown length to its end. */
static gbs_io_status slurp(FILE *stream, const char *path, gbs_input_check *check, char **memory,
                           int64_t *bytes, gbs_io_error *error)
{
    size_t capacity = START, used = 0;
    char *block = malloc(capacity);
    if (!block)
        return gbs_io_fail_memory(error, path, (int64_t)capacity, 1);
    for (;;) {
        used += fread(block + used, 1, capacity - used, stream);
        if (used > 0 && block[0] == 0) { /* no format begins so; a device of zeros has no end */
            free(block);
            return gbs_io_fail_byte(error, GBS_IO_CONTENT, path, 0,
                                    "is zero: neither a text nor an array");
        }
        gbs_io_status status =
            check && capacity == START ? check(path, block, (int64_t)used, error) : GBS_IO_OK;
        if (status) {
            free(block);
            return status;
        }
        if (used < capacity)
            break;
        char *larger = capacity <= INT64_MAX / 4 ? realloc(block, 2 * capacity) : NULL;
        if (!larger) {
            free(block);
            return gbs_io_fail_memory(error, path, (int64_t)capacity, 2);
        }
        block = larger;
        capacity *= 2;
    }
    if (ferror(stream)) {
        free(block);
        return gbs_io_fail(error, GBS_IO_FILE, path, "cannot be read: %s", strerror(errno));
    }
    *memory = block;
    *bytes = (int64_t)used;
    return GBS_IO_OK;
}

static gbs_io_status check_start(gbs_input *input, gbs_input_check *check, gbs_io_error *error)
{
    const int64_t bytes = input->bytes < START ? input->bytes : START;
    char *start = malloc((size_t)bytes + 1);
    if (!start)
        return gbs_io_fail_memory(error, input->path, bytes, 1);
    gbs_io_status status = gbs_input_read(input, 0, start, bytes, error);
    if (!status)
        status = check(input->path, start, bytes, error);
    free(start);
    return status;
}

gbs_io_status gbs_input_open(gbs_input *input, const char *path, gbs_io_error *error)
{
    return gbs_input_open_checked(input, path, NULL, error);
}

gbs_io_status gbs_input_open_checked(gbs_input *input, const char *path, gbs_input_check *check,
                                     gbs_io_error *error)
{
    *input = (gbs_input){.path = path};
    FILE *stream = fopen(path, "rb");
    struct stat about;
    if (!stream || fstat(fileno(stream), &about) != 0) {
        gbs_io_status status =
            gbs_io_fail(error, GBS_IO_FILE, path, "cannot be opened: %s", strerror(errno));
        if (stream)
            fclose(stream);
        *input = (gbs_input){0};
        return status;
    }
    if (S_ISREG(about.st_mode) && about.st_size > 0) { /* files of /proc have no size */
        input->stream = stream;
        input->bytes = (int64_t)about.st_size;
        const gbs_io_status status = check ? check_start(input, check, error) : GBS_IO_OK;
        if (status)
            gbs_input_close(input);
        return status;
    }
    char *memory = NULL;
    int64_t bytes = 0;
    gbs_io_status status = slurp(stream, path, check, &memory, &bytes, error);
    fclose(stream);
    *input = (gbs_input){0};
    return status ? status : gbs_input_from_memory(input, path, memory, bytes, error);
}

gbs_io_status gbs_input_from_memory(gbs_input *input, const char *path, char *memory, int64_t bytes,
                                    gbs_io_error *error)
{
    *input = (gbs_input){.path = path, .bytes = bytes, .memory = memory};
    /* fmemopen may refuse a size of 0; one blank that `bytes` does not count is harmless. */
    if (!bytes)
        *memory = '\n';
    input->stream = fmemopen(memory, bytes ? (size_t)bytes : 1, "rb");
    if (input->stream)
        return GBS_IO_OK;
    gbs_input_close(input);
    return gbs_io_fail_memory(error, path, 1, BUFSIZ);
}

int gbs_input_is_file(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

void gbs_input_close(gbs_input *input)
{
    if (input->stream)
        fclose(input->stream);
    free(input->memory);
    *input = (gbs_input){0};
}

gbs_io_status gbs_input_read(gbs_input *input, int64_t offset, void *to, int64_t n,
                             gbs_io_error *error)
{
    if (offset > input->bytes || n > input->bytes - offset)
        return gbs_io_fail(error, GBS_IO_CONTENT, input->path,
                           "ends after %" PRId64 " %s, %" PRId64 " %s needed", input->bytes,
                           gbs_plural(input->bytes, "byte", "bytes"), offset + n,
                           gbs_plural(offset + n, "is", "are"));
    if (fseeko(input->stream, (off_t)offset, SEEK_SET) == 0 &&
        fread(to, 1, (size_t)n, input->stream) == (size_t)n)
        return GBS_IO_OK;
    if (feof(input->stream))
        return gbs_io_fail_byte(error, GBS_IO_CONTENT, input->path, offset,
                                "the file has become shorter while it was read");
    return gbs_io_fail_byte(error, GBS_IO_FILE, input->path, offset, "cannot be read: %s",
                            strerror(errno));
}

gbs_io_status gbs_input_text(gbs_input *input, char **text, gbs_io_error *error)
{
    *text = NULL;
    char *block = input->bytes < INT64_MAX ? malloc((size_t)input->bytes + 1) : NULL;
    if (!block)
        return gbs_io_fail_memory(error, input->path, input->bytes, 1);
    gbs_io_status status = gbs_input_read(input, 0, block, input->bytes, error);
    block[input->bytes] = 0;
    const char *zero = status ? NULL : memchr(block, 0, (size_t)input->bytes);
    if (zero)
        status = gbs_io_fail_byte(error, GBS_IO_CONTENT, input->path, zero - block,
                                  "is zero: not a text file");
    if (status) {
        free(block);
        return status;
    }
    *text = block;
    return GBS_IO_OK;
}

/* What a symbolic link says, seen from the folder the link lies in; NULL with errno set. */
static char *follow_link(const char *path)
{
    char to[PATH_MAX];
    const ssize_t length = readlink(path, to, sizeof to - 1);
    if (length < 0)
        return NULL;
    to[length] = 0;
    const char *const slash = *to == '/' ? NULL : strrchr(path, '/');
    const size_t folder = slash ? (size_t)(slash - path) + 1 : 0;
    char *name = malloc(folder + (size_t)length + 1);
    if (!name)
        return NULL;
    memcpy(name, path, folder);
    memcpy(name + folder, to, (size_t)length + 1);
    return name;
}

char *gbs_output_target(const char *path)
{
    enum { MOST_LINKS = 40 }; /* as the kernel follows */
    struct stat about;
    char *name = strdup(path);
    for (int k = 0; name && lstat(name, &about) == 0 && S_ISLNK(about.st_mode); k++) {
        char *next = k < MOST_LINKS ? follow_link(name) : NULL;
        const int saved = k < MOST_LINKS ? errno : ELOOP;
        free(name);
        name = next;
        errno = saved;
    }
    return name;
}

/* "DIRECTORY/.gibbsite-PROCESS-NUMBER": short, so that the target's name may be as long as the file
 * system allows.  NULL without memory. */
static char *temporary_name(const char *path, int number)
{
    static const int own_bytes = 64;
    const char *slash = strrchr(path, '/');
    const size_t directory = slash ? (size_t)(slash - path) + 1 : 0;
    char *name = malloc(directory + (size_t)own_bytes);
    if (!name)
        return NULL;
    memcpy(name, path, directory);
    snprintf(name + directory, (size_t)own_bytes, ".gibbsite-%ld-%d", (long)getpid(), number);
    return name;
}

static gbs_io_status choose_target(gbs_output *output, const char *path, gbs_io_error *error)
{
    *output = (gbs_output){0};
    if (!*path)
        return gbs_io_fail(error, GBS_IO_WRITE, "output", "the file name is empty");
    output->path = gbs_output_target(path);
    if (!output->path)
        return gbs_io_fail(error, GBS_IO_WRITE, path, "cannot be written: %s", strerror(errno));
    struct stat about; /* by the name given: behind a link may lie a pipe, whose own name is none */
    const int missing = stat(path, &about) != 0;
    if (missing ? errno != ENAMETOOLONG : S_ISREG(about.st_mode))
        return GBS_IO_OK;
    /* A name that is too long must fail now, not when the temporary is renamed to it. */
    const char *why = missing ? strerror(ENAMETOOLONG) : "exists and is not a regular file";
    gbs_output_abandon(output);
    return gbs_io_fail(error, GBS_IO_WRITE, path, "cannot be written: %s", why);
}

/* The first free name of a temporary, taken by creating it; -1 with errno set on failure. */
static int create_temporary(gbs_output *output)
{
    for (int number = 0;; number++) {
        output->temporary = temporary_name(output->path, number);
        if (!output->temporary)
            return -1;
        const int file = open(output->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file >= 0)
            return file;
        const int saved = errno;
        free(output->temporary); /* not ours to remove */
        output->temporary = NULL;
        errno = saved;
        if (saved != EEXIST)
            return -1;
    }
}

gbs_io_status gbs_output_open(gbs_output *output, const char *path, gbs_io_error *error)
{
    gbs_io_status status = choose_target(output, path, error);
    if (status)
        return status;
    const int file = create_temporary(output);
    output->stream = file >= 0 ? fdopen(file, "w+b") : NULL;
    if (output->stream)
        return GBS_IO_OK;
    status = gbs_io_fail(error, GBS_IO_WRITE, path, "cannot be created: %s", strerror(errno));
    if (file >= 0)
        close(file);
    gbs_output_abandon(output);
    return status;
}

int gbs_output_write_at(const gbs_output *output, const void *from, size_t bytes, int64_t offset)
{
    const char *next = from;
    while (bytes) {
        ssize_t written = pwrite(fileno(output->stream), next, bytes, (off_t)offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            errno = written ? errno : EIO;
            return -1;
        }
        next += written;
        offset += written;
        bytes -= (size_t)written;
    }
    return 0;
}

int gbs_output_read_at(const gbs_output *output, void *to, size_t bytes, int64_t offset)
{
    char *next = to;
    while (bytes) {
        ssize_t got = pread(fileno(output->stream), next, bytes, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            errno = got ? errno : EIO;
            return -1;
        }
        next += got;
        offset += got;
        bytes -= (size_t)got;
    }
    return 0;
}

int64_t gbs_output_free_bytes(const gbs_output *output)
{
    struct statvfs about;
    int64_t bytes;
    if (fstatvfs(fileno(output->stream), &about) != 0 || about.f_frsize == 0 ||
        __builtin_mul_overflow(about.f_bavail, about.f_frsize, &bytes))
        return -1;
    return bytes;
}

gbs_io_status gbs_output_check_length(const gbs_output *output, double bytes, gbs_io_error *error)
{
    const int file = fileno(output->stream);
    if (bytes <=
        (double)gbs_output_free_bytes(output)) /* without holes a try would fill the disk */
        return GBS_IO_OK;
    errno = EFBIG;
    if (bytes < 0x1p63 && ftruncate(file, (off_t)bytes) == 0)
        errno = 0;
    if (errno != EFBIG && ftruncate(file, 0) == 0) /* other errors come when it is written */
        return GBS_IO_OK;
    return gbs_io_fail(error, GBS_IO_WRITE, output->path,
                       "cannot be written: it would have about %.3g GB, and no file may have so "
                       "many here: %s",
                       bytes / 1e9, strerror(errno));
}

/* A directory that cannot be opened or synced (some file systems refuse) does not undo a
 * rename that has happened, so this has no result. */
static void sync_directory(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t bytes = slash ? (size_t)(slash - path) + 1 : 1;
    char *directory = malloc(bytes + 1);
    if (!directory)
        return;
    memcpy(directory, slash ? path : ".", bytes);
    directory[bytes] = 0;
    int file = open(directory, O_RDONLY | O_CLOEXEC);
    free(directory);
    if (file < 0)
        return;
    fsync(file);
    close(file);
}

/* An existing target's permissions carry over to what replaces it, where the system allows. */
static int keep_permissions(int file, const char *path)
{
    struct stat about;
    if (stat(path, &about) != 0 || fchmod(file, about.st_mode & 07777) == 0 || errno == EPERM)
        return 0;
    return -1;
}

int gbs_output_close(gbs_output *output)
{
    if (!output->stream)
        return 0;
    int file = fileno(output->stream);
    int failed = fflush(output->stream) != 0 || ferror(output->stream) ||
                 keep_permissions(file, output->path) != 0 || fsync(file) != 0;
    int saved = errno;
    FILE *stream = output->stream;
    output->stream = NULL;
    if (fclose(stream) != 0 && !failed)
        return -1;
    errno = saved;
    return failed ? -1 : 0;
}

gbs_io_status gbs_output_commit(gbs_output *output, gbs_io_error *error)
{
    gbs_io_status status = GBS_IO_OK;
    if (gbs_output_close(output) != 0 || rename(output->temporary, output->path) != 0)
        status = gbs_io_fail(error, GBS_IO_WRITE, output->path, "cannot be written: %s",
                             strerror(errno));
    else {
        output->temporary[0] = 0;
        sync_directory(output->path);
    }
    gbs_output_abandon(output);
    return status;
}

void gbs_output_abandon(gbs_output *output)
{
    if (output->stream)
        fclose(output->stream);
    if (output->temporary && output->temporary[0])
        unlink(output->temporary);
    free(output->temporary);
    free(output->path);
    *output = (gbs_output){0};
}
