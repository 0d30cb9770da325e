/* Lays a diagnostic's arrays out in the caller's workspace, and copies the draws into it: as they
 * are, and centred and scaled by a power of two.  On the centred copy fourth powers neither
 * overflow nor vanish, and 1e8 + 1e-3 z gives what z gives: x - shift is exact where draws lie
 * close together, and otherwise rounds relative to the deviation, not to the draw. */
#include "diag/diag.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Hands out consecutive pieces of the workspace, or only counts them. */
typedef struct cursor {
    unsigned char *base;
    size_t used;
} cursor;

enum { ALIGNMENT = 64 }; /* of the widest vector; the caller's memory has malloc's */

static unsigned char *align(unsigned char *memory)
{
    const size_t over = (size_t)((uintptr_t)memory % ALIGNMENT);
    return over == 0 ? memory : memory + (ALIGNMENT - over);
}

static void *take(cursor *c, int64_t count, size_t size)
{
    void *piece = c->base != NULL ? c->base + c->used : NULL;
    c->used += ((size_t)count * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return piece;
}

static void take_sorting(gbs_diag_work *work, cursor *c)
{
    work->keys = take(c, work->total, sizeof *work->keys);
    for (int i = 0; i < 2; i++)
        work->sorting[i] = take(c, work->total, sizeof *work->sorting[i]);
    work->order = take(c, work->total, sizeof *work->order);
}

/* Beyond this many draws a half-chain, wide lanes no longer fit into a second-level cache. */
enum { LONGEST_WIDE = 2048 };

size_t gbs_diag_layout(gbs_diag_work *work, const gbs_diag_loops *loops, int64_t chains,
                       int64_t draws, void *memory)
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
    work->loops = loops;
    work->transforms = work->half > LONGEST_WIDE ? &gbs_diag_loops_narrow : loops;

    cursor c = {align(memory), 0};
    work->scores = take(&c, work->kept, sizeof(double));
    work->plan_memory = take(&c, (int64_t)work->transforms->plan_bytes(work->half), 1);
    work->x = take(&c, work->total, sizeof(double));
    work->centred = take(&c, work->total, sizeof(double));
    work->y = take(&c, work->kept, sizeof(double));
    for (int s = 0; s < GBS_MOST_SERIES - 1; s++)
        work->more_y[s] = take(&c, work->kept, sizeof(double));
    work->sorted = take(&c, work->total, sizeof(double));
    work->place = take(&c, work->total, sizeof(uint32_t));
    work->values = take(&c, work->total, sizeof(double));
    work->places = take(&c, work->total, sizeof(uint32_t));
    work->bits = take(&c, work->halves * work->words, sizeof(uint64_t));
    work->ones = take(&c, work->halves, sizeof(int64_t));
    work->chain_mean = take(&c, work->halves, sizeof(double));
    work->chain_variance = take(&c, work->halves, sizeof(double));
    for (int s = 0; s < GBS_MOST_SERIES; s++)
        work->lag_sum[s] = take(&c, work->half, sizeof(double));
    work->rho = take(&c, work->half, sizeof(double));

    /* Sorting is over before the first transform is made, so they share the rest. */
    cursor sorting = c;
    take_sorting(work, &sorting);
    work->scratch = take(&c, (int64_t)work->transforms->scratch_bytes(work->half), 1);
    return ALIGNMENT + (sorting.used > c.used ? sorting.used : c.used);
}

size_t gbs_diag_workspace(int64_t chains, int64_t draws)
{
    gbs_diag_work work;
    return gbs_diag_layout(&work, gbs_diag_loops_here(), chains, draws, NULL);
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

/* Copies the draws and notes what is not finite or does not move. */
static void copy_draws(gbs_diag_work *work, const gbs_draws *draws, double *low, double *high)
{
    int64_t still = 0, first_still = -1;
    for (int64_t c = 0; c < work->chains; c++) {
        double *x = work->x + c * work->draws;
        copy_chain(x, draws->values + c * draws->chain_stride, work->draws, draws->draw_stride);
        const int64_t bad = work->loops->count_not_finite(x, work->draws);
        if (bad > 0 && work->not_finite == 0)
            work->not_finite_chain = c;
        work->not_finite += bad;

        double lo, hi;
        work->loops->range(x, work->draws, &lo, &hi);
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
        work->constant_chain = first_still;
    }
    if (work->draws < 6)
        work->notes |= GBS_NOTE_TOO_SHORT;
}

/* Scales by 2^-k, k the exponent of the largest draw, and takes off a first mean.  The shifted
 * sum makes the mean of equal draws exact. */
static void centre(gbs_diag_work *work, double largest)
{
    const gbs_diag_loops *loops = work->loops;
    const int64_t total = work->total;
    int exponent = 0;
    (void)frexp(largest, &exponent);
    exponent = exponent < -1021 ? -1021 : exponent > 1021 ? 1021 : exponent;
    work->scale = ldexp(1.0, exponent);
    double *const centred = work->centred;
    loops->scale(centred, work->x, total, ldexp(1.0, -exponent));

    const double first = centred[0];
    work->shift = first + loops->sum(centred, total, first) / (double)total;
    loops->subtract(centred, centred, total, work->shift);
    work->mean = loops->sum(centred, total, 0) / (double)total;
    work->second = loops->sum_squares(centred, total, work->mean);
}

void gbs_diag_load(gbs_diag_work *work, const gbs_draws *draws)
{
    work->notes = 0;
    work->not_finite = 0;
    work->not_finite_chain = work->constant_chain = -1;
    work->identical_chain = work->stuck_chain = -1;
    double low = 0, high = 0;
    copy_draws(work, draws, &low, &high);
    if (work->not_finite == 0)
        centre(work, fmax(-low, high));
}

int gbs_diag_prepare(gbs_diag_work *work, const gbs_draws *draws, void *workspace)
{
    return draws != NULL && draws->values != NULL && workspace != NULL &&
           gbs_diag_layout(work, gbs_diag_loops_here(), draws->chains, draws->draws, workspace) !=
               0;
}

int gbs_diag_open(gbs_diag_work *work, const gbs_draws *draws, void *workspace)
{
    if (!gbs_diag_prepare(work, draws, workspace))
        return 0;
    gbs_diag_load(work, draws);
    return 1;
}

void gbs_diag_keep(const gbs_diag_work *work, const double *from, double *y)
{
    const int64_t n = work->half, gap = work->draws - n;
    for (int64_t c = 0; c < work->chains; c++) {
        double *to = y + 2 * c * n;
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

int gbs_diag_squares(const gbs_diag_work *work, double *y)
{
    gbs_diag_keep(work, work->centred, y);
    work->loops->squares(y, y, work->kept, work->mean);
    /* Rounding in shift, mean and square moves equal ones apart by a few DBL_EPSILON. */
    double low, high;
    work->loops->range(y, work->kept, &low, &high);
    return high - low > 16 * DBL_EPSILON * high;
}
