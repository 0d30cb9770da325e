/* Reads the files that tools/make_torch_records.py writes: named little-endian arrays, one after
 * the other.  Views point into the loaded bytes, so values are copied out before use. */
#ifndef GBS_TESTS_RECORDS_H
#define GBS_TESTS_RECORDS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct records {
    unsigned char *bytes;
    size_t size;
} records;

typedef struct record {
    char type[5];
    int64_t rows, columns; /* columns 1 for a vector */
    const unsigned char *data;
} record;

enum { RECORD_NAME = 48, RECORD_HEAD = 72 };

static inline void records_stop(const char *what, const char *name)
{
    fprintf(stderr, "test data: %s: %s\n", what, name);
    abort();
}

static inline records records_load(const char *path)
{
    records r = {NULL, 0};
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0)
        records_stop("cannot open", path);
    const long size = ftell(file);
    rewind(file);
    r.bytes = malloc((size_t)size);
    if (r.bytes == NULL || fread(r.bytes, 1, (size_t)size, file) != (size_t)size)
        records_stop("cannot read", path);
    r.size = (size_t)size;
    fclose(file);
    return r;
}

static inline size_t record_bytes(const record *r)
{
    return (size_t)(r->rows * r->columns) * (size_t)(r->type[1] - '0');
}

static inline record record_at(const records *all, size_t at)
{
    record r;
    memset(&r, 0, sizeof r);
    memcpy(r.type, all->bytes + at + RECORD_NAME, 4);
    memcpy(&r.rows, all->bytes + at + RECORD_NAME + 8, 8);
    memcpy(&r.columns, all->bytes + at + RECORD_NAME + 16, 8);
    r.data = all->bytes + at + RECORD_HEAD;
    return r;
}

static inline int records_has(const records *all, const char *name, record *found)
{
    for (size_t at = 0; at + RECORD_HEAD <= all->size;) {
        const record r = record_at(all, at);
        if (strncmp((const char *)all->bytes + at, name, RECORD_NAME) == 0) {
            *found = r;
            return 1;
        }
        at += RECORD_HEAD + record_bytes(&r);
    }
    return 0;
}

static inline record records_get(const records *all, const char *name)
{
    record found;
    memset(&found, 0, sizeof found);
    if (!records_has(all, name, &found))
        records_stop("no record", name);
    return found;
}

/* Element k, whatever the type. */
static inline double record_value(const record *r, int64_t k)
{
    float f;
    double d;
    int64_t i;
    switch (r->type[0] == 'f' ? r->type[1] : 'i') {
    case '4': memcpy(&f, r->data + 4 * k, 4); return (double)f;
    case '8': memcpy(&d, r->data + 8 * k, 8); return d;
    default: memcpy(&i, r->data + 8 * k, 8); return (double)i;
    }
}

static inline int64_t record_integer(const record *r, int64_t k)
{
    int64_t i;
    memcpy(&i, r->data + 8 * k, 8);
    return i;
}

static inline int record_is_f32(const record *r)
{
    return strcmp(r->type, "f4") == 0;
}

#endif
