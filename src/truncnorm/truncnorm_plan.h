/* What gbs_truncnorm and gbs_cuda_truncnorm share: the arguments checked once, and the shapes'
 * broadcasting turned into as few dimensions as possible.  C and C++.  Private. */
#ifndef GBS_TRUNCNORM_PLAN_H
#define GBS_TRUNCNORM_PLAN_H

#include "gibbsite/gibbsite.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { GBS_OPERANDS = 5 }; /* mean, sd, lower, upper, word */

static const char *const gbs_operand_names[GBS_OPERANDS] = {"mean", "sd", "lower", "upper", "word"};

/* Element i of out, flat, has along dimension d of `dims` the index of a row-major array of
 * `extent`; operand k's element for it lies at the sum of index times stride[k][d].  The last
 * dimension's strides are 0 or 1. */
typedef struct gbs_truncnorm_plan {
    int64_t count;
    int32_t dims; /* at least 1 */
    int64_t extent[GBS_DIMS];
    int64_t stride[GBS_OPERANDS][GBS_DIMS];
    const void *values[GBS_OPERANDS]; /* NULL: the default */
} gbs_truncnorm_plan;

#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
static inline gbs_status
gbs_plan_refuse(char *message, size_t bytes, gbs_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (message != NULL && bytes > 0)
        vsnprintf(message, bytes, format, arguments);
    va_end(arguments);
    return status;
}

/* "[2, 3]" */
static inline const char *gbs_plan_shape(const int64_t *shape, int32_t dims, char text[200])
{
    size_t used = 0;
    text[used++] = '[';
    for (int32_t d = 0; d < dims; ++d)
        used +=
            (size_t)snprintf(text + used, 200 - used, d > 0 ? ", %" PRId64 : "%" PRId64, shape[d]);
    snprintf(text + used, 200 - used, "]");
    return text;
}

/* One operand's strides along out's dimensions, by NumPy's rule: aligned at the last one, an
 * extent of 1 is repeated. */
static inline gbs_status gbs_plan_operand(const gbs_truncnorm_spec *spec, int k,
                                          const gbs_operand *operand, int64_t *stride,
                                          char *message, size_t bytes)
{
    char own[200], whole[200];
    int fits = operand->dims >= 0 && operand->dims <= spec->dims;
    int64_t step = 1;
    for (int32_t d = spec->dims - 1, e = operand->dims - 1; fits && e >= 0; --d, --e) {
        fits = operand->shape[e] == spec->shape[d] || operand->shape[e] == 1;
        stride[d] = operand->shape[e] == 1 ? 0 : step;
        step *= operand->shape[e];
    }
    if (fits)
        return GBS_OK;
    if (operand->dims < 0 || operand->dims > GBS_DIMS)
        return gbs_plan_refuse(message, bytes, GBS_ERROR_ARGUMENT, "%s: dims: %d is not in [0, %d]",
                               gbs_operand_names[k], (int)operand->dims, GBS_DIMS);
    return gbs_plan_refuse(message, bytes, GBS_ERROR_ARGUMENT,
                           "%s: shape %s does not broadcast to out's %s", gbs_operand_names[k],
                           gbs_plan_shape(operand->shape, operand->dims, own),
                           gbs_plan_shape(spec->shape, spec->dims, whole));
}

/* Two neighbouring dimensions are one where every operand walks them as one. */
static inline int gbs_plan_joins(const gbs_truncnorm_plan *plan, int32_t d,
                                 const int64_t stride[GBS_OPERANDS][GBS_DIMS], int32_t next,
                                 int64_t extent)
{
    for (int k = 0; k < GBS_OPERANDS; ++k)
        if (plan->stride[k][d] != stride[k][next] * extent)
            return 0;
    return 1;
}

static inline void gbs_plan_collapse(const gbs_truncnorm_spec *spec,
                                     const int64_t stride[GBS_OPERANDS][GBS_DIMS],
                                     gbs_truncnorm_plan *plan)
{
    plan->dims = 0;
    for (int32_t d = 0; d < spec->dims; ++d) {
        if (spec->shape[d] == 1)
            continue;
        if (plan->dims > 0 && gbs_plan_joins(plan, plan->dims - 1, stride, d, spec->shape[d]))
            plan->extent[plan->dims - 1] *= spec->shape[d];
        else
            plan->extent[plan->dims++] = spec->shape[d];
        for (int k = 0; k < GBS_OPERANDS; ++k)
            plan->stride[k][plan->dims - 1] = stride[k][d];
    }
    if (plan->dims == 0)
        plan->extent[plan->dims++] = 1;
}

static inline gbs_status gbs_plan_count(const gbs_truncnorm_spec *spec, int64_t *count,
                                        char *message, size_t bytes)
{
    char text[200];
    if (spec->dims < 0 || spec->dims > GBS_DIMS)
        return gbs_plan_refuse(message, bytes, GBS_ERROR_ARGUMENT, "dims: %d is not in [0, %d]",
                               (int)spec->dims, GBS_DIMS);
    int empty = 0;
    *count = 1;
    for (int32_t d = 0; d < spec->dims; ++d) {
        if (spec->shape[d] < 0)
            return gbs_plan_refuse(message, bytes, GBS_ERROR_ARGUMENT,
                                   "shape[%d]: %" PRId64 " is negative", (int)d, spec->shape[d]);
        empty |= spec->shape[d] == 0;
    }
    for (int32_t d = 0; d < spec->dims && !empty; ++d) {
        if (spec->shape[d] > ((int64_t)1 << 60) / *count)
            return gbs_plan_refuse(message, bytes, GBS_ERROR_ARGUMENT,
                                   "shape: %s elements are too many",
                                   gbs_plan_shape(spec->shape, spec->dims, text));
        *count *= spec->shape[d];
    }
    *count = empty ? 0 : *count;
    return GBS_OK;
}

static inline gbs_status gbs_plan_stream(const gbs_truncnorm_spec *spec, gbs_type type,
                                         int64_t count, char *message, size_t bytes)
{
    const int64_t places = (int64_t)1 << (type == GBS_F32 ? 34 : 33);
    if (spec->stream == GBS_STREAM_GIVEN) {
        if (spec->word.values == NULL)
            return gbs_plan_refuse(message, bytes, GBS_ERROR_ARGUMENT, "word: NULL");
        return GBS_OK;
    }
    if (spec->stream != GBS_STREAM_NATIVE)
        return gbs_plan_refuse(message, bytes, GBS_ERROR_ARGUMENT,
                               "stream: %d is not native or given", (int)spec->stream);
    if (spec->word.values != NULL)
        return gbs_plan_refuse(message, bytes, GBS_ERROR_ARGUMENT,
                               "word: given, but stream is native");
    if (spec->sweep < 0 || spec->chain < 0 || spec->place < 0)
        return gbs_plan_refuse(message, bytes, GBS_ERROR_ARGUMENT,
                               "sweep: %" PRId64 ", chain: %" PRId64 ", place: %" PRId64
                               "; none may be negative",
                               spec->sweep, spec->chain, spec->place);
    if (spec->sweep >> 48 != 0 || spec->chain >> 40 != 0 || spec->place > places ||
        count > places - spec->place)
        return gbs_plan_refuse(message, bytes, GBS_ERROR_LIMIT,
                               "sweep %" PRId64 ", chain %" PRId64 " and %" PRId64
                               " places from %" PRId64 " on are beyond what the stream numbers",
                               spec->sweep, spec->chain, count, spec->place);
    return GBS_OK;
}

/* Fails: ARGUMENT, LIMIT; the message says what. */
static inline gbs_status gbs_truncnorm_plan_make(const gbs_truncnorm_spec *spec, gbs_type type,
                                                 gbs_truncnorm_plan *plan, char *message,
                                                 size_t bytes)
{
    const gbs_operand *const operand[GBS_OPERANDS] = {&spec->mean, &spec->sd, &spec->lower,
                                                      &spec->upper, &spec->word};
    int64_t stride[GBS_OPERANDS][GBS_DIMS];
    memset(plan, 0, sizeof *plan);
    memset(stride, 0, sizeof stride);
    gbs_status status = gbs_plan_count(spec, &plan->count, message, bytes);
    for (int k = 0; k < GBS_OPERANDS && status == GBS_OK; ++k) {
        plan->values[k] = operand[k]->values;
        if (operand[k]->values != NULL)
            status = gbs_plan_operand(spec, k, operand[k], stride[k], message, bytes);
    }
    if (status == GBS_OK)
        status = gbs_plan_stream(spec, type, plan->count, message, bytes);
    if (status == GBS_OK)
        gbs_plan_collapse(spec, stride, plan);
    return status;
}

#endif
