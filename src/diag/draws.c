/* Lays a diagnostic's arrays out in the caller's workspace, and copies the draws into it: as they
 * are, and centred and scaled by a power of two.  On the centred copy fourth powers neither
 * overflow nor vanish, and 1e8 + 1e-3 z gives what z gives: x - shift is exact where draws lie
 * close together, and otherwise rounds relative to the deviation, not to the draw. */
#include "diag/diag.h"
#include "diag/lanes.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Hands out consecutive pieces of the workspace, or only counts them. */
typedef struct cursor {
    unsigned char *base;
    size_t used;
} cursor;

static void *take(cursor *c, int64_t count, size_t size)
{
    void *piece = c->base != NULL ? c->base + c->used : NULL;
    c->used += ((size_t)count * size + 63) / 64 * 64;
    return piece;
}

static void take_sorting(gbs_diag_work *work, cursor *c)
{
    work->keys = take(c, work->total, sizeof *work->keys);
    for (int i = 0; i < 2; i++)
        work->sorting[i] = take(c, work->total, sizeof *work->sorting[i]);
    work->order = take(c, work->total, sizeof *work->order);
}

size_t gbs_diag_layout(gbs_diag_work *work, int64_t chains, int64_t draws, void *memory)
{
    if (chains < 1 || draws < 1 || draws > GBS_DIAG_MAX_DRAWS ||
        chains > GBS_DIAG_MAX_TOTAL / draws || (uint64_t)chains * (uint64_t)draws > (SIZE_MAX >> 9))
        return 0;
    memset(work, 0, sizeof *work);
    work->chains = chains;
    work->draws = draws;
    work->total = chains * draws;
    work->half = draws / 2;
    work->halves = 2 * chains;
    work->kept = work->halves * work->half;
    work->words = work->half / 64 + 2;

    cursor c = {memory, 0};
    work->x = take(&c, work->total, sizeof(double));
    work->centred = take(&c, work->total, sizeof(double));
    work->y = take(&c, work->kept, sizeof(double));
    work->sorted = take(&c, work->total, sizeof(double));
    work->place = take(&c, work->total, sizeof(uint32_t));
    work->scores = take(&c, work->kept, sizeof(double));
    work->values = take(&c, work->total, sizeof(double));
    work->places = take(&c, work->total, sizeof(uint32_t));
    work->bits = take(&c, work->halves * work->words, sizeof(uint64_t));
    work->ones = take(&c, work->halves, sizeof(int64_t));
    work->head = take(&c, work->halves, sizeof(int64_t));
    work->tail = take(&c, work->halves, sizeof(int64_t));
    work->chain_mean = take(&c, work->halves, sizeof(double));
    work->chain_variance = take(&c, work->halves, sizeof(double));
    work->lag_sum = take(&c, work->half, sizeof(double));
    work->rho = take(&c, work->half, sizeof(double));

    /* Sorting is over before the first transform is made, so they share the rest. */
    cursor sorting = c;
    take_sorting(work, &sorting);
    work->transform_memory = take(&c, (int64_t)gbs_transform_bytes(work->half), 1);
    return sorting.used > c.used ? sorting.used : c.used;
}

size_t gbs_diag_workspace(int64_t chains, int64_t draws)
{
    gbs_diag_work work;
    return gbs_diag_layout(&work, chains, draws, NULL);
}

/* The smallest and largest of n numbers, in four lanes so that comparisons overlap. */
static void range_of(const double *x, int64_t n, double *low, double *high)
{
    double lo[4] = {x[0], x[0], x[0], x[0]}, hi[4] = {x[0], x[0], x[0], x[0]};
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        for (int k = 0; k < 4; k++) {
            lo[k] = x[i + k] < lo[k] ? x[i + k] : lo[k];
            hi[k] = x[i + k] > hi[k] ? x[i + k] : hi[k];
        }
    }
    for (; i < n; i++) {
        lo[0] = x[i] < lo[0] ? x[i] : lo[0];
        hi[0] = x[i] > hi[0] ? x[i] : hi[0];
    }
    *low = fmin(fmin(lo[0], lo[1]), fmin(lo[2], lo[3]));
    *high = fmax(fmax(hi[0], hi[1]), fmax(hi[2], hi[3]));
}

static void copy_chain(double *to, const double *from, int64_t n, int64_t stride)
{
    if (stride == 1) {
        memcpy(to, from, (size_t)n * sizeof *to);
        return;
    }
    for (int64_t t = 0; t < n; t++)
        to[t] = from[t * stride];
}

static int64_t count_not_finite(const double *x, int64_t n)
{
    int64_t count = 0;
    for (int64_t t = 0; t < n; t++)
        count += !(fabs(x[t]) <= DBL_MAX);
    return count;
}

/* Copies the draws and notes what is not finite or does not move. */
static void copy_draws(gbs_diag_work *work, const gbs_draws *draws, double *low, double *high)
{
    int64_t still = 0, first_still = -1;
    for (int64_t c = 0; c < work->chains; c++) {
        double *x = work->x + c * work->draws;
        copy_chain(x, draws->values + c * draws->chain_stride, work->draws, draws->draw_stride);
        const int64_t bad = count_not_finite(x, work->draws);
        if (bad > 0 && work->not_finite == 0)
            work->noted_chain = c;
        work->not_finite += bad;

        double lo, hi;
        range_of(x, work->draws, &lo, &hi);
        *low = c == 0 || lo < *low ? lo : *low;
        *high = c == 0 || hi > *high ? hi : *high;
        if (lo == hi) {
            first_still = still == 0 ? c : first_still;
            still++;
        }
    }
    if (work->not_finite > 0) {
        work->notes |= GBS_NOTE_NOT_FINITE;
    } else if (*low == *high) {
        work->notes |= GBS_NOTE_CONSTANT;
    } else if (work->draws > 1 && still == work->chains) {
        work->notes |= GBS_NOTE_CHAINS_CONSTANT;
    } else if (work->draws > 1 && still > 0) {
        work->notes |= GBS_NOTE_CHAIN_CONSTANT;
        work->noted_chain = first_still;
    }
    if (work->draws < 6)
        work->notes |= GBS_NOTE_TOO_SHORT;
}

/* Runs of 1,024 are summed apart, so that rounding grows with their number only. */
enum { RUN = 1024 };

static double sum_run(const double *x, int64_t n, double shift)
{
    const gbs_two by = gbs_twice(shift);
    gbs_two even = gbs_twice(0), odd = even;
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        even += gbs_load_two(x + i) - by;
        odd += gbs_load_two(x + i + 2) - by;
    }
    even += odd;
    double sum = even[0] + even[1];
    for (; i < n; i++)
        sum += x[i] - shift;
    return sum;
}

static double sum_run_of_squares(const double *x, int64_t n, double shift)
{
    const gbs_two by = gbs_twice(shift);
    gbs_two even = gbs_twice(0), odd = even;
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        const gbs_two a = gbs_load_two(x + i) - by, b = gbs_load_two(x + i + 2) - by;
        even += a * a;
        odd += b * b;
    }
    even += odd;
    double sum = even[0] + even[1];
    for (; i < n; i++)
        sum += (x[i] - shift) * (x[i] - shift);
    return sum;
}

double gbs_diag_sum(const double *x, int64_t n, double shift)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i += RUN)
        sum += sum_run(x + i, n - i < RUN ? n - i : RUN, shift);
    return sum;
}

double gbs_diag_sum_squares(const double *x, int64_t n, double shift)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i += RUN)
        sum += sum_run_of_squares(x + i, n - i < RUN ? n - i : RUN, shift);
    return sum;
}

/* Scales by 2^-k, k the exponent of the largest draw, and takes off a first mean.  The shifted
 * sum makes the mean of equal draws exact. */
static void centre(gbs_diag_work *work, double largest)
{
    const int64_t total = work->total;
    int exponent = 0;
    (void)frexp(largest, &exponent);
    exponent = exponent < -1021 ? -1021 : exponent > 1021 ? 1021 : exponent;
    const double factor = ldexp(1.0, -exponent);
    work->scale = ldexp(1.0, exponent);
    for (int64_t i = 0; i < total; i++)
        work->centred[i] = work->x[i] * factor;

    const double first = work->centred[0];
    work->shift = first + gbs_diag_sum(work->centred, total, first) / (double)total;
    for (int64_t i = 0; i < total; i++)
        work->centred[i] -= work->shift;
    work->mean = gbs_diag_sum(work->centred, total, 0) / (double)total;
    work->second = gbs_diag_sum_squares(work->centred, total, work->mean);
}

int gbs_diag_open(gbs_diag_work *work, const gbs_draws *draws, void *workspace)
{
    if (draws == NULL || draws->values == NULL || workspace == NULL ||
        gbs_diag_layout(work, draws->chains, draws->draws, workspace) == 0)
        return 0;
    work->noted_chain = -1;
    double low = 0, high = 0;
    copy_draws(work, draws, &low, &high);
    if (work->not_finite == 0)
        centre(work, fmax(-low, high));
    return 1;
}

void gbs_diag_keep(const gbs_diag_work *work, const double *from)
{
    const int64_t n = work->half, gap = work->draws - n;
    for (int64_t c = 0; c < work->chains; c++) {
        double *to = work->y + 2 * c * n;
        const double *chain = from + c * work->draws;
        memcpy(to, chain, (size_t)n * sizeof *to);
        memcpy(to + n, chain + gap, (size_t)n * sizeof *to);
    }
}

double gbs_diag_sd(const gbs_diag_work *work)
{
    if (work->total < 2)
        return NAN;
    return sqrt(work->second / (double)(work->total - 1)) * work->scale;
}

int gbs_diag_squares(const gbs_diag_work *work)
{
    gbs_diag_keep(work, work->centred);
    double *y = work->y;
    for (int64_t i = 0; i < work->kept; i++)
        y[i] = (y[i] - work->mean) * (y[i] - work->mean);
    /* Rounding in shift, mean and square moves equal ones apart by a few DBL_EPSILON. */
    double low, high;
    range_of(y, work->kept, &low, &high);
    return high - low > 16 * DBL_EPSILON * high;
}
