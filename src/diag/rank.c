/* Rank normalisation: z = Phi^-1((r - 3/8) / (S + 1/4)), ranks averaged over ties (Vehtari and
 * others 2021, eq. 14; the offset is Blom's).  One sort serves the draws and the folded draws
 * |x - median|, whose order is a merge of the two sides.  Phi^-1 is Wichura's PPND16 (Applied
 * Statistics 37, 1988, algorithm AS 241), relative error about 1e-16. */
#include "diag/diag.h"

#include <math.h>
#include <string.h>

/* The quantile for |p - 1/2| <= 0.425, q = p - 1/2. */
static inline double central_quantile(double q)
{
    const double r = 0.180625 - q * q;
    const double top =
        ((((((2509.0809287301226727 * r + 33430.575583588128105) * r + 67265.770927008700853) * r +
            45921.953931549871457) *
               r +
           13731.693765509461125) *
              r +
          1971.5909503065514427) *
             r +
         133.14166789178437745) *
            r +
        3.387132872796366608;
    const double bottom =
        ((((((5226.495278852854561 * r + 28729.085735721942674) * r + 39307.89580009271061) * r +
            21213.794301586595867) *
               r +
           5394.1960214247511077) *
              r +
          687.1870074920579083) *
             r +
         42.313330701600911252) *
            r +
        1.0;
    return q * top / bottom;
}

/* Minus the quantile of a p below 0.075 and above e^-25; ranks among fewer than 2^32 draws never
 * reach the part of the algorithm beyond. */
static double tail_quantile(double p)
{
    const double r = sqrt(-log(p)) - 1.6;
    const double top = ((((((7.7454501427834140764e-4 * r + 0.0227238449892691845833) * r +
                            0.24178072517745061177) *
                               r +
                           1.27045825245236838258) *
                              r +
                          3.64784832476320460504) *
                             r +
                         5.7694972214606914055) *
                            r +
                        4.6303378461565452959) *
                           r +
                       1.42343711074968357734;
    const double bottom = ((((((1.05075007164441684324e-9 * r + 5.475938084995344946e-4) * r +
                               0.0151986665636164571966) *
                                  r +
                              0.14810397642748007459) *
                                 r +
                             0.68976733498510000455) *
                                r +
                            1.6763848301838038494) *
                               r +
                           2.05319162663775882187) *
                              r +
                          1.0;
    return top / bottom;
}

double gbs_normal_quantile(double p)
{
    const double q = p - 0.5;
    if (fabs(q) <= 0.425)
        return central_quantile(q);
    return q < 0 ? -tail_quantile(p) : tail_quantile(1 - p);
}

static double score_of_rank(double rank, int64_t kept)
{
    return gbs_normal_quantile((rank - 0.375) / ((double)kept + 0.25));
}

/* Ranks beyond the first 7.5 % lie in the central part, which vectorises: 32-bit counters do,
 * 64-bit ones convert to double too slowly. */
void gbs_score_table(gbs_diag_work *work)
{
    if (work->has_scores)
        return;
    work->has_scores = 1;
    const int64_t kept = work->kept, below = kept / 2;
    const double total = (double)kept + 0.25;
    double *scores = work->scores;
    const int64_t tail = (int64_t)(0.075 * total + 0.375);
    for (int64_t i = 0; i < tail && i < below; i++)
        scores[i] = score_of_rank((double)(i + 1), kept);
    for (int64_t i = tail; i < below; i += 1024) {
        const int32_t stop = below - i < 1024 ? (int32_t)(below - i) : 1024;
        const double first = (double)(i + 1) - 0.375;
        for (int32_t k = 0; k < stop; k++)
            scores[i + k] = central_quantile((first + k) / total - 0.5);
    }
    for (int64_t i = 0; i < below; i++) /* kept is even */
        scores[kept - 1 - i] = -scores[i];
}

/* y[places[i]] = score of the rank of values[i] in the ascending list. */
static void assign_with_ties(const gbs_diag_work *work, const double *values,
                             const uint32_t *places)
{
    const int64_t kept = work->kept;
    double *y = work->y;
    for (int64_t i = 0, j; i < kept; i = j) {
        for (j = i + 1; j < kept && values[j] == values[i]; j++) {
        }
        double score = work->scores[i];
        if (j > i + 1 && (i + j) % 2 != 0)
            score = work->scores[(i + j) / 2];
        else if (j > i + 1)
            score = score_of_rank((double)(i + j + 1) / 2, kept);
        for (int64_t k = i; k < j; k++)
            y[places[k]] = score;
    }
}

static void assign_scores(const gbs_diag_work *work, const double *values, const uint32_t *places)
{
    if (work->loops->equal_neighbours(values, work->kept) > 0) {
        assign_with_ties(work, values, places);
        return;
    }
    for (int64_t i = 0; i < work->kept; i++)
        work->y[places[i]] = work->scores[i];
}

/* Takes the middle draws of odd chains out of values and places. */
static void drop_middles(const gbs_diag_work *work)
{
    int64_t count = 0;
    for (int64_t i = 0; i < work->total; i++) {
        work->values[count] = work->values[i];
        work->places[count] = work->places[i];
        count += work->places[i] != GBS_PLACE_NONE;
    }
}

void gbs_rank_draws(const gbs_diag_work *work)
{
    if (work->kept == work->total) {
        assign_scores(work, work->sorted, work->place);
        return;
    }
    memcpy(work->values, work->sorted, (size_t)work->total * sizeof *work->values);
    memcpy(work->places, work->place, (size_t)work->total * sizeof *work->places);
    drop_middles(work);
    assign_scores(work, work->values, work->places);
}

/* Distances, not being negative, are compared as integers, which is faster. */
static inline int64_t distance_at(const double *distance, int64_t i)
{
    int64_t bits;
    memcpy(&bits, distance + i, sizeof bits);
    return bits;
}

/* A part of the merge below.  Along the lower side of the sorted draws distances fall, along the
 * upper one they rise; `low` and `high` are the next of each.  Outwards from the median (step 1)
 * the nearer is taken, inwards from the ends (-1) the farther, and goes to place `at`. */
typedef struct strand {
    int64_t low, high, at, step, left;
} strand;

static inline int takes_low(int64_t below, int64_t above, int64_t step)
{
    return step > 0 ? below <= above : below > above;
}

/* Takes the next one without a branch, for no predictor can guess it. */
static inline void advance(const gbs_diag_work *work, const double *distance, strand *s,
                           const int64_t step)
{
    const int64_t below = distance_at(distance, s->low), above = distance_at(distance, s->high);
    const int64_t mask = -(int64_t)takes_low(below, above, step);
    const int64_t taken = (below & mask) | (above & ~mask);
    memcpy(work->values + s->at, &taken, sizeof taken);
    work->places[s->at] = work->place[(s->low & mask) | (s->high & ~mask)];
    s->low -= step & mask;
    s->high += step & ~mask;
    s->at += step;
}

/* Splits off the later half of a strand that merges `lows` and `highs` draws: a search finds how
 * many of the first half's draws come from the lower side. */
static strand split_off(const double *distance, strand *s, int64_t lows, int64_t highs)
{
    const int64_t first = s->left / 2;
    int64_t least = first > highs ? first - highs : 0, most = first < lows ? first : lows;
    while (least < most) {
        const int64_t middle = least + (most - least) / 2;
        const int64_t below = distance_at(distance, s->low - s->step * middle);
        const int64_t above = distance_at(distance, s->high + s->step * (first - middle - 1));
        if (takes_low(below, above, s->step))
            least = middle + 1;
        else
            most = middle;
    }
    const strand later = {s->low - s->step * least, s->high + s->step * (first - least),
                          s->at + s->step * first, s->step, s->left - first};
    s->left = first;
    return later;
}

/* The order of |x - median| is a merge of the lower half of the sorted draws, read backwards, and
 * the upper half.  It is merged from both ends at once, so that neither half of the input runs
 * out, and in two parts from each, so that four chains of comparisons overlap. */
static void fold(const gbs_diag_work *work, double origin, double median)
{
    const int64_t total = work->total, half = total / 2;
    double *const distance = (double *)(void *)work->keys; /* the sort is over */
    work->loops->distances(distance, work->sorted, total, origin, median);
    strand near = {half - 1, half, 0, 1, half}, far = {0, total - 1, total - 1, -1, total - half};
    strand middle_near = split_off(distance, &near, half, total - half);
    strand middle_far = split_off(distance, &far, half, total - half);
    for (int64_t k = 0; k < near.left; k++) { /* the shortest of the four */
        advance(work, distance, &near, 1);
        advance(work, distance, &middle_near, 1);
        advance(work, distance, &far, -1);
        advance(work, distance, &middle_far, -1);
    }
    for (int64_t k = near.left; k < middle_near.left; k++)
        advance(work, distance, &middle_near, 1);
    for (int64_t k = near.left; k < far.left; k++)
        advance(work, distance, &far, -1);
    for (int64_t k = near.left; k < middle_far.left; k++)
        advance(work, distance, &middle_far, -1);
}

/* The median is rounded as R rounds it, since ties depend on that; only where draws agree in
 * their first 20 bits, as in 1e8 + 1e-3 z, is it taken relative to one of them: the differences
 * are then exact, and the median keeps the digits that it would lose. */
void gbs_rank_folded(const gbs_diag_work *work)
{
    const double *x = work->sorted;
    const int64_t total = work->total;
    const double low = x[(total - 1) / 2], high = x[total / 2];
    const double reach = x[total - 1] - x[0];
    const double origin = fabs(low) > 0x1p20 * reach ? low : 0;
    fold(work, origin, 0.5 * (low - origin) + 0.5 * (high - origin));
    if (work->kept < total)
        drop_middles(work);
    assign_scores(work, work->values, work->places);
}
