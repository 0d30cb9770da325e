/* The readers under fuzzing.  Beside what the sanitizers see (and libFuzzer, which limits what one
 * request may take), each must keep its word: on failure a status that fits, a message and an
 * empty result; on success a result within its stated bounds. */
#define _POSIX_C_SOURCE 200809L

#include "fuzz/targets.h"

#include "core/hash.h"
#include "io/array.h"
#include "io/csv.h"
#include "io/graph.h"
#include "io/graph_builder.h"
#include "io/matrix_market.h"
#include "io/npy.h"
#include "io/npz.h"
#include "io/results.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #condition);                \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* ------------------------------------------------------------------ files in memory */

static void open_bytes(gbs_input *input, const uint8_t *bytes, size_t count)
{
    gbs_io_error error;
    char *copy = malloc(count + 1);
    MUST(copy);
    memcpy(copy, bytes, count);
    MUST(gbs_input_from_memory(input, "fuzz", copy, (int64_t)count, &error) == GBS_IO_OK);
}

static void check_failure(gbs_io_status status, const gbs_io_error *error)
{
    MUST(status == GBS_IO_CONTENT || status == GBS_IO_MEMORY);
    MUST(error->status == status);
    MUST(strncmp(error->message, "fuzz: ", 6) == 0 && strlen(error->message) > 6);
}

static void check_array(gbs_io_status status, const gbs_io_error *error, gbs_array *array)
{
    if (status) {
        static const gbs_array none;
        check_failure(status, error);
        MUST(memcmp(array, &none, sizeof none) == 0);
        return;
    }
    MUST(array->axes >= 1 && array->axes <= GBS_ARRAY_AXES && array->data);
    MUST(array->count == array->shape[0] * array->shape[1] * array->shape[2]);
    for (int64_t i = 0; array->name && i < array->shape[array->axes - 1]; i++)
        MUST(array->name[i]);
    gbs_array_free(array);
}

void fuzz_npy(const uint8_t *bytes, size_t count)
{
    gbs_input input;
    gbs_array array;
    gbs_io_error error;
    open_bytes(&input, bytes, count);
    check_array(gbs_npy_read_input(&input, &array, &error), &error, &array);
    gbs_input_close(&input);
}

void fuzz_csv(const uint8_t *bytes, size_t count)
{
    gbs_input input;
    gbs_array array;
    gbs_io_error error;
    open_bytes(&input, bytes, count);
    check_array(gbs_csv_read_input(&input, &array, &error), &error, &array);
    gbs_input_close(&input);
}

/* The member Q, and the only one; each goes on to the reader of its format. */
void fuzz_npz(const uint8_t *bytes, size_t count)
{
    static const char *const members[] = {"Q", NULL};
    for (int k = 0; k < 2; k++) {
        gbs_input archive, member;
        gbs_array array = {0};
        gbs_io_error error;
        open_bytes(&archive, bytes, count);
        gbs_io_status status = gbs_npz_member(&archive, "fuzz", members[k], &member, &error);
        if (!status)
            status = gbs_array_read_input(&member, &array, &error);
        check_array(status, &error, &array);
        gbs_input_close(&member);
        gbs_input_close(&archive);
    }
}

void fuzz_matrix_market(const uint8_t *bytes, size_t count)
{
    gbs_input input;
    gbs_mtx m;
    gbs_io_error error;
    open_bytes(&input, bytes, count);
    const gbs_io_status status = gbs_mtx_read_input(&input, &m, &error);
    if (status)
        check_failure(status, &error);
    for (int64_t k = 0; k < m.count; k++) {
        MUST(m.row[k] >= 0 && m.row[k] < m.rows && m.column[k] >= 0 && m.column[k] < m.columns);
        MUST(k == 0 || m.row[k] > m.row[k - 1] ||
             (m.row[k] == m.row[k - 1] && m.column[k] > m.column[k - 1]));
    }
    gbs_mtx_free(&m);
    gbs_input_close(&input);
}

void fuzz_graph(const uint8_t *bytes, size_t count)
{
    gbs_input input;
    gbs_graph g;
    gbs_io_error error;
    open_bytes(&input, bytes, count);
    const gbs_io_status status = gbs_graph_read_input(&input, 0, &g, &error);
    if (status)
        check_failure(status, &error);
    else
        MUST(g.nodes >= 1 && g.start[g.nodes] == 2 * g.links && g.base >= 0 && g.base <= 1);
    for (int64_t i = 0; i < g.nodes; i++) {
        for (int64_t k = g.start[i]; k < g.start[i + 1]; k++) {
            MUST(g.neighbour[k] >= 0 && g.neighbour[k] < g.nodes && g.neighbour[k] != i);
            MUST(k == g.start[i] || g.neighbour[k] > g.neighbour[k - 1]);
        }
    }
    gbs_graph_free(&g);
    gbs_input_close(&input);
}

/* ------------------------------------------------------------------ draws */

/* Reads every element, in ranges of two widths and out of order. */
static void read_draws(gbs_results_reader *reader)
{
    const int64_t size = gbs_results_variable_size(reader, 0);
    const int64_t all = gbs_results_chains(reader) * gbs_results_draws(reader);
    char name[64];
    gbs_io_error error;
    MUST(size >= 1 && all >= 1 && gbs_results_variable_count(reader) == 1);
    double *got = malloc((size_t)(3 * all) * sizeof *got);
    MUST(got);
    for (int64_t first = 0; first < size && first < 64; first += 3) {
        const int64_t n = size - first < 3 ? size - first : 3;
        MUST(*gbs_results_element_name(reader, 0, first, name, sizeof name) || size);
        gbs_io_status status = gbs_results_read(reader, 0, first, n, got, &error);
        if (!status)
            status = gbs_results_read(reader, 0, size - 1 - first, 1, got, &error);
        if (status) {
            check_failure(status, &error);
            break;
        }
    }
    free(got);
    gbs_results_close(reader);
}

static void open_draws(const uint8_t *bytes, size_t count)
{
    gbs_input input;
    gbs_results_reader *reader;
    gbs_io_error error;
    open_bytes(&input, bytes, count);
    const gbs_io_status status = gbs_results_open_input(&input, &reader, &error);
    if (status == GBS_IO_FILE) /* HDF5, which is not read from memory */
        MUST(!reader);
    else if (status)
        check_failure(status, &error);
    else
        read_draws(reader);
    gbs_input_close(&input);
}

void fuzz_npy_draws(const uint8_t *bytes, size_t count)
{
    if (count >= GBS_NPY_MAGIC_BYTES && memcmp(bytes, GBS_NPY_MAGIC, GBS_NPY_MAGIC_BYTES) == 0)
        open_draws(bytes, count);
}

void fuzz_stan_csv(const uint8_t *bytes, size_t count)
{
    if (count == 0 || bytes[0] != (uint8_t)GBS_NPY_MAGIC[0])
        open_draws(bytes, count);
}

/* ------------------------------------------------------------------ checkpoints */

typedef struct run {
    gbs_context *ctx;
    gbs_sampler *sampler;
    gbs_moments *moments;
    unsigned char *before, *after; /* [bytes] */
    size_t bytes;
} run;

static run start_run(void)
{
    static const double precision[4] = {2, -1, -1, 2};
    run r = {0};
    gbs_model *model;
    gbs_model_spec m = gbs_model_spec_default();
    gbs_sampler_spec s = gbs_sampler_spec_default();
    m.dim = 2;
    m.matrix = precision;
    s.chains = 3;
    MUST(gbs_context_create(NULL, &r.ctx) == GBS_OK);
    MUST(gbs_model_create(r.ctx, &m, &model) == GBS_OK);
    MUST(gbs_sampler_create(r.ctx, model, &s, &r.sampler) == GBS_OK);
    MUST(gbs_moments_create(r.ctx, 3, 2, &r.moments) == GBS_OK);
    MUST(gbs_checkpoint_size(r.sampler, r.moments, &r.bytes) == GBS_OK);
    r.before = malloc(r.bytes);
    r.after = malloc(r.bytes);
    MUST(r.before && r.after);
    gbs_model_release(model);
    return r;
}

static void end_run(run *r)
{
    gbs_moments_destroy(r->moments);
    gbs_sampler_destroy(r->sampler);
    gbs_context_destroy(r->ctx);
    free(r->before);
    free(r->after);
}

/* The last word made the checksum of the others, which no fuzzer would guess. */
static void seal(unsigned char *bytes, size_t count)
{
    uint64_t hash = GBS_HASH_START;
    size_t at = 0;
    for (; at + 16 <= count; at += 8) {
        uint64_t word = 0;
        for (int k = 0; k < 8; k++)
            word |= (uint64_t)bytes[at + (size_t)k] << (8 * k);
        hash = gbs_hash_words(hash, &word, 1, 8);
    }
    for (int k = 0; at + 8 <= count && k < 8; k++)
        bytes[at + (size_t)k] = (unsigned char)(hash >> (8 * k));
}

/* A checkpoint that is refused must leave the sampler and the moments as they were. */
static void read_checkpoint(run *r, const unsigned char *bytes, size_t count)
{
    gbs_checkpoint_info info;
    const gbs_status seen = gbs_checkpoint_inspect(r->ctx, bytes, count, &info);
    MUST(seen == GBS_OK || strlen(gbs_context_message(r->ctx)) > 0);
    MUST(gbs_checkpoint_write(r->sampler, r->moments, NULL, r->before, r->bytes) == GBS_OK);
    const gbs_status status = gbs_checkpoint_read(r->sampler, r->moments, bytes, count);
    MUST(gbs_checkpoint_write(r->sampler, r->moments, NULL, r->after, r->bytes) == GBS_OK);
    MUST(status != GBS_OK || seen == GBS_OK);
    MUST(status == GBS_OK || memcmp(r->before, r->after, r->bytes) == 0);
}

void fuzz_checkpoint(const uint8_t *bytes, size_t count)
{
    run r = start_run();
    unsigned char *copy = malloc(count + 1); /* aligned as malloc's memory is */
    MUST(copy);
    memcpy(copy, bytes, count);
    read_checkpoint(&r, copy, count);
    seal(copy, count);
    read_checkpoint(&r, copy, count);
    free(copy);
    end_run(&r);
}
