/* Why a pivot failed.  With l_k the failing row of the factor, v = (-L11'^-1 l_k, 1, 0 ...) has
 * v'Qv = pivot, the smallest value over all vectors that end in 1 at site k.  Where that is 0
 * to rounding, Q is singular and v its null vector, which an intrinsic model is known by: 1 on
 * a connected component and 0 elsewhere.  Otherwise Q is indefinite, and v shows it. */
#define _POSIX_C_SOURCE 200809L
#include "model/linalg.h"
#include "model/validate.h"
#include "backend/cpu/linalg_kernels.h"
#include "core/message.h"

#include <math.h>
#include <string.h>

/* A vector over sites 0 .. count-1 and what decides which of its entries matter: an entry
 * counts by |v_i| sqrt(Q_ii), so that units of the sites do not. */
typedef struct direction {
    const double *v;
    const double *q;
    int64_t n, count;
    double noise; /* relative size below which entries are rounding */
} direction;

/* Text that grows up to the room it has. */
typedef struct text {
    char at[256];
    size_t used;
} text;

static void append(text *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void append(text *to, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int wrote =
        gbs_message_write(to->at + to->used, sizeof to->at - to->used, format, arguments);
    va_end(arguments);
    if (wrote > 0)
        to->used += (size_t)wrote;
    if (to->used >= sizeof to->at)
        to->used = sizeof to->at - 1;
}

static double weight(const direction *d, int64_t i)
{
    return fabs(d->v[i]) * sqrt(d->q[i * d->n + i]);
}

/* The site of the largest weight below `limit`, ties to the lower site; -1 if none. */
static int64_t heaviest_below(const direction *d, double limit)
{
    int64_t best = -1;
    for (int64_t i = 0; i < d->count; ++i)
        if (weight(d, i) < limit && (best < 0 || weight(d, i) > weight(d, best)))
            best = i;
    return best;
}

static void describe_constant(const direction *d, double floor, int64_t first, int64_t last,
                              int64_t support, text *to)
{
    enum { LISTED = 8 };
    if (support == last - first + 1) {
        static const char *const ones[] = {"(1)", "(1, 1)", "(1, 1, 1)", "(1, 1, ..., 1)"};
        append(to, "%s over %s %lld", ones[support < 4 ? support - 1 : 3],
               gbs_plural(support, "site", "sites"), (long long)first);
        if (support > 1)
            append(to, "..%lld", (long long)last);
        return;
    }
    append(to, "constant over %lld sites: ", (long long)support);
    int64_t listed = 0;
    for (int64_t i = first; i <= last && listed < LISTED; ++i)
        if (weight(d, i) > floor)
            append(to, "%s%lld", listed++ > 0 ? ", " : "", (long long)i);
    if (listed < support)
        append(to, ", ... %lld", (long long)last);
}

/* Entries in units of the heaviest, heaviest first; equal weights are taken by site. */
static void describe_largest(const direction *d, double floor, double unit, text *to)
{
    enum { LISTED = 4 };
    int64_t listed = 0;
    double limit = HUGE_VAL;
    append(to, "with largest entries ");
    while (listed < LISTED) {
        const int64_t best = heaviest_below(d, limit);
        if (best < 0 || weight(d, best) <= floor)
            return;
        limit = weight(d, best);
        for (int64_t i = best; i < d->count && listed < LISTED; ++i)
            if (weight(d, i) == limit)
                append(to, "%s%.6g at site %lld", listed++ > 0 ? ", " : "", d->v[i] / unit,
                       (long long)i);
    }
}

static void describe(const direction *d, text *to)
{
    const int64_t top = heaviest_below(d, HUGE_VAL);
    const double floor = d->noise * weight(d, top), unit = d->v[top];
    int64_t first = -1, last = -1, support = 0;
    int constant = 1;
    for (int64_t i = 0; i < d->count; ++i) {
        if (weight(d, i) <= floor)
            continue;
        first = first < 0 ? i : first;
        last = i;
        ++support;
        constant = constant && fabs(d->v[i] / unit - 1) <= d->noise;
    }
    if (constant)
        describe_constant(d, floor, first, last, support, to);
    else
        describe_largest(d, floor, unit, to);
}

/* v'Qv, and the same with all terms positive: the scale that its rounding is measured by. */
static double quadratic_form(const direction *d, double *scale)
{
    double form = 0;
    *scale = 0;
    for (int64_t i = 0; i < d->count; ++i) {
        double row = 0, size = 0;
        for (int64_t j = 0; j < d->count; ++j) {
            row += d->q[i * d->n + j] * d->v[j];
            size += fabs(d->q[i * d->n + j] * d->v[j]);
        }
        form += row * d->v[i];
        *scale += size * fabs(d->v[i]);
    }
    return form;
}

/* In a semidefinite matrix |(Qv)_i| <= sqrt(Q_ii v'Qv) for every i (Cauchy and Schwarz), so a
 * larger one shows an indefinite matrix even where v'Qv is 0. */
static int annihilates(const direction *d, double form)
{
    for (int64_t i = 0; i < d->n; ++i) {
        double row = 0;
        for (int64_t j = 0; j < d->count; ++j)
            row += d->q[i * d->n + j] * d->v[j];
        if (fabs(row) > sqrt(d->q[i * d->n + i]) * sqrt(form))
            return 0;
    }
    return 1;
}

static gbs_status fail_singular(gbs_context *ctx, gbs_matrix_label label, const char *vector,
                                int64_t site, double pivot)
{
    const char *const meaning =
        label.letter == 'C'
            ? "some combination of sites has no variance"
            : "an intrinsic (improper) model, which has no draws until some of its sites are held "
              "fixed";
    return gbs_fail(ctx, GBS_ERROR_NOT_POSITIVE_DEFINITE,
                    "%s: singular (pivot %.3g at site %lld), null vector %s: %s", label.word, pivot,
                    (long long)site, vector, meaning);
}

gbs_status gbs_explain_pivot(gbs_context *ctx, gbs_matrix_label label, const double *q, int64_t n,
                             double *factor, int64_t site, double pivot)
{
    double *const v = factor + site * n;
    gbs_linalg_kernels_for(ctx->isa)->solve_backward(site, factor, n, v);
    for (int64_t j = 0; j < site; ++j)
        v[j] = -v[j];
    v[site] = 1;
    const direction d = {v, q, n, site + 1, label.type == GBS_F32 ? 1e-3 : 1e-6};
    double scale;
    const double form = quadratic_form(&d, &scale);
    if (!isfinite(form) || !isfinite(scale))
        return gbs_fail(ctx, GBS_ERROR_NOT_POSITIVE_DEFINITE,
                        "%s: not positive definite: pivot %.3g at site %lld", label.word, pivot,
                        (long long)site);
    text vector = {"", 0};
    describe(&d, &vector);
    const double rounding =
        scale * fmax(label.type == GBS_F32 ? 0x1p-22 : 0x1p-51, (double)n * 0x1p-52);
    if (fabs(form) <= rounding && annihilates(&d, rounding))
        return fail_singular(ctx, label, vector.at, site, pivot);
    /* v is shown in units of its heaviest entry */
    const double unit = v[heaviest_below(&d, HUGE_VAL)];
    return gbs_fail(ctx, GBS_ERROR_NOT_POSITIVE_DEFINITE,
                    "%s: not positive definite: pivot %.6g at site %lld; v'%cv = %.6g for v %s",
                    label.word, pivot, (long long)site, label.letter, form / unit / unit,
                    vector.at);
}
