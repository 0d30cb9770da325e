/* Elements of .npy files, turned exactly into float or double and into row-major order, in
 * chunks: the file's bytes are never in memory at once beside the array. */
#define _POSIX_C_SOURCE 200809L

#include "io/npy.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Elements converted at a time. */
#define CHUNK 16384

/* The element's bits in the low bytes of a word. */
static uint64_t load_bits(const unsigned char *from, int size, int big_endian)
{
    uint64_t bits = 0;
    for (int i = 0; i < size; i++)
        bits = bits << 8 | from[big_endian ? i : size - 1 - i];
    return bits;
}

/* 1 where the elements lie in the file as they do in memory. */
static int is_native(const gbs_npy_header *header, gbs_type type)
{
    const uint16_t probe = 1;
    unsigned char first;
    memcpy(&first, &probe, 1);
    return header->kind == GBS_NPY_FLOAT && header->size == (type == GBS_F32 ? 4 : 8) &&
           header->big_endian == (first == 0);
}

/* IEEE binary16 to binary32, exact.  A half's subnormal is mantissa * 2^-24. */
static uint32_t half_to_float_bits(uint32_t half)
{
    uint32_t sign = (half & 0x8000) << 16, exponent = half >> 10 & 31, mantissa = half & 0x3ff;
    if (exponent == 31)
        return sign | 0x7f800000 | mantissa << 13;
    if (exponent)
        return sign | (exponent + 112) << 23 | mantissa << 13;
    float value = (float)mantissa * 0x1p-24f;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return sign | bits;
}

static double float_value(uint64_t bits, int size)
{
    if (size == 8) {
        double value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    uint32_t low = size == 2 ? half_to_float_bits((uint32_t)bits) : (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return value;
}

/* Two's complement of `size` bytes, widened without relying on the machine's shifts. */
static int64_t signed_value(uint64_t bits, int size)
{
    uint64_t sign = (uint64_t)1 << (8 * size - 1);
    uint64_t magnitude = ~bits & (sign - 1);
    return bits & sign ? -(int64_t)magnitude - 1 : (int64_t)bits;
}

static const int64_t exact_limit = (int64_t)1 << 53;

static gbs_io_status integer_value(const gbs_npy_header *h, uint64_t bits, int64_t index,
                                   double *value, const char *path, gbs_io_error *error)
{
    if (h->kind == GBS_NPY_BOOL && bits > 1)
        return gbs_io_fail_byte(error, GBS_IO_CONTENT, path, h->offset + index,
                                "element %" PRId64 " of dtype |b1 is %d, neither 0 nor 1", index,
                                (int)bits);
    if (h->kind == GBS_NPY_INT) {
        int64_t whole = signed_value(bits, h->size);
        *value = (double)whole;
        if (whole >= -exact_limit && whole <= exact_limit)
            return GBS_IO_OK;
        return gbs_io_fail(error, GBS_IO_CONTENT, path,
                           "element %" PRId64 " of dtype i8 is %" PRId64
                           ", beyond 2^53: a double does not hold it exactly",
                           index, whole);
    }
    *value = (double)bits;
    if (bits <= (uint64_t)exact_limit)
        return GBS_IO_OK;
    return gbs_io_fail(error, GBS_IO_CONTENT, path,
                       "element %" PRId64 " of dtype u8 is %" PRIu64
                       ", beyond 2^53: a double does not hold it exactly",
                       index, bits);
}

gbs_io_status gbs_npy_convert(const gbs_npy_header *header, const unsigned char *from,
                              int64_t first, int64_t count, gbs_type type, void *to,
                              const char *path, gbs_io_error *error)
{
    if (is_native(header, type)) {
        memcpy(to, from, (size_t)(count * header->size));
        return GBS_IO_OK;
    }
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits = load_bits(from + i * header->size, header->size, header->big_endian);
        double value = 0;
        if (header->kind == GBS_NPY_FLOAT) {
            value = float_value(bits, header->size);
        } else {
            gbs_io_status status = integer_value(header, bits, first + i, &value, path, error);
            if (status)
                return status;
        }
        if (type == GBS_F32)
            ((float *)to)[i] = (float)value;
        else
            ((double *)to)[i] = value;
    }
    return GBS_IO_OK;
}

/* Where element `index` of a column-major file goes in row-major order. */
static int64_t row_major_place(const gbs_npy_header *h, int64_t index)
{
    int64_t i = index % h->shape[0];
    int64_t j = index / h->shape[0] % h->shape[1];
    int64_t k = index / h->shape[0] / h->shape[1];
    return (i * h->shape[1] + j) * h->shape[2] + k;
}

static void scatter(const gbs_npy_header *h, const gbs_array *chunk, int64_t first, gbs_array *out)
{
    for (int64_t i = 0; i < chunk->count; i++) {
        int64_t place = row_major_place(h, first + i);
        if (out->type == GBS_F32)
            ((float *)out->data)[place] = ((const float *)chunk->data)[i];
        else
            ((double *)out->data)[place] = ((const double *)chunk->data)[i];
    }
}

static gbs_io_status read_elements(gbs_input *input, const gbs_npy_header *h, gbs_array *out,
                                   gbs_io_error *error)
{
    unsigned char raw[CHUNK * sizeof(double)];
    double converted[CHUNK];
    gbs_array chunk = {.type = out->type, .data = converted};
    for (int64_t first = 0; first < h->count; first += chunk.count) {
        int64_t left = h->count - first;
        chunk.count = left < CHUNK ? left : CHUNK;
        gbs_io_status status =
            gbs_input_read(input, h->offset + first * h->size, raw, chunk.count * h->size, error);
        if (!status)
            status = gbs_npy_convert(h, raw, first, chunk.count, out->type, converted, input->path,
                                     error);
        if (status)
            return status;
        size_t width = out->type == GBS_F32 ? sizeof(float) : sizeof(double);
        if (h->fortran_order)
            scatter(h, &chunk, first, out);
        else
            memcpy((char *)out->data + (size_t)first * width, converted,
                   (size_t)chunk.count * width);
    }
    return GBS_IO_OK;
}

gbs_io_status gbs_npy_read_input(gbs_input *input, gbs_array *out, gbs_io_error *error)
{
    *out = (gbs_array){0};
    gbs_npy_header header;
    gbs_io_status status = gbs_npy_read_header(input, &header, error);
    if (status)
        return status;
    gbs_array array = {.type = gbs_npy_type(&header), .axes = header.axes, .count = header.count};
    memcpy(array.shape, header.shape, sizeof array.shape);
    size_t width = array.type == GBS_F32 ? sizeof(float) : sizeof(double);
    array.data =
        (uint64_t)array.count > SIZE_MAX / width ? NULL : malloc((size_t)array.count * width);
    if (!array.data)
        return gbs_io_fail_memory(error, input->path, array.count, (int64_t)width);
    status = read_elements(input, &header, &array, error);
    if (status)
        gbs_array_free(&array);
    *out = array;
    return status;
}

gbs_io_status gbs_npy_read(const char *path, gbs_array *out, gbs_io_error *error)
{
    *out = (gbs_array){0};
    gbs_input input;
    gbs_io_status status = gbs_input_open(&input, path, error);
    if (status)
        return status;
    status = gbs_npy_read_input(&input, out, error);
    gbs_input_close(&input);
    return status;
}
