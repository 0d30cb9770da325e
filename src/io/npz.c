/* Members of .npz archives by libzip, which knows both ways NumPy stores them (deflated or not,
 * with 64-bit sizes) and checks their sums.  Format: PKWARE's APPNOTE.TXT. */
#define _POSIX_C_SOURCE 200809L

#include "io/npz.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zip.h>

/* Of an archive's list of members in a message. */
#define LIST_BYTES 400

static const char suffix[] = ".npy";

/* Whether the first `length` bytes of a path name a file that is there. */
static int is_there(const char *path, size_t length)
{
    struct stat about;
    char *name = strndup(path, length);
    const int found = name && stat(name, &about) == 0;
    free(name);
    return found;
}

/* Names of folders, files and members may all hold colons: the first ".npz:" behind which an
 * archive ends that is there, else the first. */
size_t gbs_npz_file_length(const char *path)
{
    static const char ending[] = ".npz:";
    const size_t all = strlen(path);
    size_t first = 0;
    if (is_there(path, all))
        return all;
    for (const char *at = path; (at = strstr(at, ending)); at++) {
        const size_t length = (size_t)(at - path) + sizeof ending - 2;
        if (is_there(path, length))
            return length;
        first = first ? first : length;
    }
    return first ? first : all;
}

/* A member's name as NumPy gives it: without the ending .npy. */
static int name_length(const char *name)
{
    const size_t length = strlen(name), tail = sizeof suffix - 1;
    return (int)(length > tail && strcmp(name + length - tail, suffix) == 0 ? length - tail
                                                                            : length);
}

static gbs_io_status refuse_member(zip_t *zip, const char *path, const char *what,
                                   gbs_io_error *error)
{
    char list[LIST_BYTES + 4] = "";
    const zip_int64_t count = zip_get_num_entries(zip, 0);
    size_t used = 0;
    if (count == 0)
        return gbs_io_fail(error, GBS_IO_CONTENT, path, "is an empty archive");
    for (zip_int64_t i = 0; i < count && used < LIST_BYTES; i++) {
        const char *name = zip_get_name(zip, (zip_uint64_t)i, 0);
        if (name)
            used += (size_t)snprintf(list + used, LIST_BYTES - used, "%s%.*s", used ? ", " : "",
                                     name_length(name), name);
    }
    if (used >= LIST_BYTES)
        memcpy(list + LIST_BYTES - 1, "...", 4);
    return gbs_io_fail(error, GBS_IO_CONTENT, path, "%s: the archive holds %" PRId64 " %s: %s",
                       what, (int64_t)count, gbs_plural((int64_t)count, "member", "members"), list);
}

static gbs_io_status find_member(zip_t *zip, const char *path, const char *member,
                                 zip_uint64_t *index, gbs_io_error *error)
{
    const zip_int64_t count = zip_get_num_entries(zip, 0);
    if (!member && count == 1) {
        *index = 0;
        return GBS_IO_OK;
    }
    if (!member)
        return refuse_member(zip, path, "name one of the members, as FILE.npz:MEMBER", error);
    for (zip_int64_t i = 0; i < count; i++) {
        const char *name = zip_get_name(zip, (zip_uint64_t)i, 0);
        const int length = name ? name_length(name) : 0;
        if (name && (strcmp(name, member) == 0 || (strlen(member) == (size_t)length &&
                                                   strncmp(name, member, (size_t)length) == 0))) {
            *index = (zip_uint64_t)i;
            return GBS_IO_OK;
        }
    }
    return refuse_member(zip, path, "there is no such member", error);
}

/* Reads a member to its end; what it says of its length is not believed. */
static gbs_io_status unpack(zip_file_t *file, const char *path, char **memory, int64_t *bytes,
                            gbs_io_error *error)
{
    size_t capacity = 65536, used = 0;
    char *block = malloc(capacity);
    while (block) {
        const zip_int64_t n = zip_fread(file, block + used, capacity - used);
        if (n < 0) {
            free(block);
            return gbs_io_fail(error, GBS_IO_CONTENT, path, "cannot be unpacked: %s",
                               zip_file_strerror(file));
        }
        if (n == 0) {
            *memory = block;
            *bytes = (int64_t)used;
            return GBS_IO_OK;
        }
        used += (size_t)n;
        if (used < capacity)
            continue;
        capacity *= 2;
        char *larger = capacity <= INT64_MAX / 4 ? realloc(block, capacity) : NULL;
        if (!larger)
            free(block);
        block = larger;
    }
    return gbs_io_fail_memory(error, path, (int64_t)capacity, 1);
}

static gbs_io_status read_member(zip_t *zip, const char *path, const char *member, gbs_input *input,
                                 gbs_io_error *error)
{
    zip_uint64_t index = 0;
    gbs_io_status status = find_member(zip, path, member, &index, error);
    if (status)
        return status;
    zip_file_t *file = zip_fopen_index(zip, index, 0);
    if (!file)
        return gbs_io_fail(error, GBS_IO_CONTENT, path, "cannot be unpacked: %s",
                           zip_strerror(zip));
    char *memory = NULL;
    int64_t bytes = 0;
    status = unpack(file, path, &memory, &bytes, error);
    zip_fclose(file);
    return status ? status : gbs_input_from_memory(input, path, memory, bytes, error);
}

/* What libzip could not open as an archive. */
static gbs_io_status refuse_archive(zip_error_t *why, const char *path, gbs_io_error *error)
{
    const gbs_io_status status =
        zip_error_code_zip(why) == ZIP_ER_MEMORY ? GBS_IO_MEMORY : GBS_IO_CONTENT;
    gbs_io_fail(error, status, path, "is not a readable archive: %s", zip_error_strerror(why));
    zip_error_fini(why);
    return status;
}

gbs_io_status gbs_npz_member(gbs_input *archive, const char *path, const char *member,
                             gbs_input *input, gbs_io_error *error)
{
    zip_error_t why;
    zip_error_init(&why);
    *input = (gbs_input){0};
    zip_source_t *source =
        archive->memory
            ? zip_source_buffer_create(archive->memory, (zip_uint64_t)archive->bytes, 0, &why)
            : zip_source_file_create(archive->path, 0, -1, &why);
    if (!source)
        return refuse_archive(&why, path, error);
    zip_t *zip = zip_open_from_source(source, ZIP_RDONLY, &why);
    if (!zip) {
        zip_source_free(source);
        return refuse_archive(&why, path, error);
    }
    const gbs_io_status status = read_member(zip, path, member, input, error);
    zip_discard(zip);
    zip_error_fini(&why);
    return status;
}

gbs_io_status gbs_npz_input_open(gbs_input *input, const char *path, gbs_input_check *check,
                                 gbs_io_error *error)
{
    const size_t length = gbs_npz_file_length(path);
    const char *member = path[length] ? path + length + 1 : NULL;
    char *name = member ? strndup(path, length) : NULL;
    if (member && !name)
        return gbs_io_fail_memory(error, path, (int64_t)length, 1);
    gbs_io_status status = gbs_input_open_checked(input, member ? name : path, check, error);
    unsigned char start[4] = {0};
    const int64_t known = status || input->bytes >= 4 ? 4 : input->bytes;
    if (!status)
        status = gbs_input_read(input, 0, start, known, error);
    if (status == GBS_IO_OK &&
        (member || memcmp(start, "PK\3\4", 4) == 0 || memcmp(start, "PK\5\6", 4) == 0)) {
        gbs_input archive = *input;
        status = gbs_npz_member(&archive, path, member, input, error);
        gbs_input_close(&archive);
    } else if (status) {
        gbs_input_close(input);
    }
    free(name);
    return status;
}
