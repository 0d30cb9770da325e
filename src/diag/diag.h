/* What the diagnostics share.  A call lays its arrays out in the caller's workspace, copies the
 * draws of one variable once (chain after chain, each chain's two halves side by side), and then
 * works on plain contiguous arrays.  Private.
 *
 * Letters: C chains, N draws a chain, S = C N draws, n = floor(N / 2) draws in a half-chain,
 * H = 2 C half-chains, K = H n kept draws: for odd N the middle draw of each chain is in no half.
 */
#ifndef GBS_DIAG_DIAG_H
#define GBS_DIAG_DIAG_H

#include "gibbsite/gibbsite.h"
#include "diag/loops.h"

#include <stddef.h>
#include <stdint.h>

/* Ranges: positions are kept in 32 bits, and the transform counts in int. */
#define GBS_DIAG_MAX_TOTAL ((int64_t)UINT32_MAX - 1)
#define GBS_DIAG_MAX_DRAWS ((int64_t)1 << 29)

/* Place of a draw that is in no half-chain. */
#define GBS_PLACE_NONE UINT32_MAX

/* Over half-chains: of ones times the members that lag t reaches from either end, and of ones^2. */
typedef struct gbs_bit_sums {
    int64_t reached, squares;
} gbs_bit_sums;

typedef struct gbs_diag_work {
    const gbs_diag_loops *loops;
    const gbs_diag_loops *transforms; /* the same, or narrow ones for long sequences */
    int64_t chains, draws, total;     /* C, N, S */
    int64_t half, halves, kept;       /* n, H, K */

    /* These last from one variable to the next. */
    double *scores;      /* [K] normal scores of the ranks 1 .. K */
    int has_scores;      /* 0: not made yet */
    void *plan_memory;   /* room for the plan */
    gbs_transform *plan; /* NULL until one is needed */

    double *x;       /* [S] the draws */
    double *centred; /* [S] (x / scale - shift), shift near the mean, scale a power of two */
    double *y;       /* [K] one statistic, half-chain after half-chain */
    double *more_y[GBS_MOST_SERIES - 1]; /* [K] others beside it */
    double *sorted;                      /* [S] the draws in ascending order */
    uint32_t *place;                     /* [S] where each of them sits in y, or GBS_PLACE_NONE */
    double *values; /* [S] the kept draws, or the folded ones, ascending, with their places */
    uint32_t *places;
    uint64_t *bits; /* [H, words] an indicator */
    int64_t words;  /* 64-bit words a half-chain, the last one empty */
    int64_t *ones;  /* [H] its members */
    gbs_bit_sums bit_sums;
    uint64_t *keys;       /* [S] sorting */
    uint64_t *sorting[2]; /* [S] */
    uint32_t *order;      /* [S] */
    double *chain_mean;   /* [C] and variances; by half-chain [H] where split */
    double *chain_variance;
    double *lag_sum[GBS_MOST_SERIES]; /* [n] sums of lagged products, as far as known */
    double *rho;                      /* [n] Geyer's sequence */
    void *scratch;                    /* the transforms'; shared with the sort's arrays */

    double scale, shift;
    double mean;   /* of `centred`: a small rest */
    double second; /* sum of squared deviations, in `centred`'s units */
    uint32_t notes;
    int64_t not_finite;
    int64_t not_finite_chain, constant_chain, identical_chain, stuck_chain; /* noted ones, or -1 */
} gbs_diag_work;

/* Within-chain and between-chain variance of a statistic over chains (or half-chains). */
typedef struct gbs_split {
    double within;  /* mean over chains of the variances, divisor n - 1 */
    double between; /* variance over chains of the means */
} gbs_split;

/* draws.c: the draws */

/* Lays the work out at `memory` (NULL: only counts) and returns the bytes; 0 if out of range. */
size_t gbs_diag_layout(gbs_diag_work *work, const gbs_diag_loops *loops, int64_t chains,
                       int64_t draws, void *memory);

/* Copies and centres the draws of a variable and takes the notes that R-hat and ESS depend on. */
void gbs_diag_load(gbs_diag_work *work, const gbs_draws *draws);

/* Lays out for these draws, and loads them too.  Return 0 if an argument is NULL or out of range.
 */
int gbs_diag_prepare(gbs_diag_work *work, const gbs_draws *draws, void *workspace);
int gbs_diag_open(gbs_diag_work *work, const gbs_draws *draws, void *workspace);

/* Copies `from` [S] to y [K], leaving the middle draw of odd chains out. */
void gbs_diag_keep(const gbs_diag_work *work, const double *from, double *y);

/* Standard deviation of all draws; 0 if constant, NaN for a single draw. */
double gbs_diag_sd(const gbs_diag_work *work);
/* y = squared deviations from the mean.  Returns 0 where they are all equal. */
int gbs_diag_squares(const gbs_diag_work *work, double *y);

/* sort.c: ascending order of unsigned integers and of doubles */

/* order[k] = index of the k-th smallest key, equal keys in ascending index. */
void gbs_sort_order(const uint64_t *keys, int64_t count, uint64_t *const work[2], uint32_t *order);
/* Fills sorted and place. */
void gbs_diag_sort(gbs_diag_work *work);

/* rank.c: normal scores of ranks */

double gbs_normal_quantile(double p); /* p in [2^-36, 1 - 2^-36] */
void gbs_score_table(gbs_diag_work *work);
/* y = scores of the ranks of the draws, or of their distances from the median. */
void gbs_rank_draws(const gbs_diag_work *work);
void gbs_rank_folded(const gbs_diag_work *work);

/* rhat.c: variances within and between */

gbs_split gbs_split_of(const gbs_diag_loops *loops, const double *mean, const double *variance,
                       int64_t count);
/* Moments of y by half-chain; y is centred half by half, for the autocovariances. */
gbs_split gbs_split_halves(const gbs_diag_work *work, double *y);
/* Nested, or NaN where superchains differ in size; ends the sort's arrays. */
double gbs_rhat_nested_of(gbs_diag_work *work, const int32_t *superchain);
/* The larger of folded and bulk; needs the sort and the scores.  y is left as the bulk's. */
double gbs_rhat_ranked(const gbs_diag_work *work, gbs_split *bulk);

/* quantile.c, beta.c */

double gbs_quantile_sorted(const double *sorted, int64_t n, double prob);
int64_t gbs_count_up_to(const double *sorted, int64_t n, double q); /* how many are <= q */
double gbs_beta_quantile(double p, double a, double b);             /* a, b >= 1 */

/* autocovariance.c */

/* Autocovariances of one statistic, averaged over half-chains, computed as far as asked for. */
typedef struct gbs_lags {
    gbs_diag_work *work;
    double *y;   /* as gbs_split_halves leaves it; room for it, where of_bits */
    double *sum; /* one of lag_sum */
    int of_bits; /* of the indicator in `bits`, else of y */
    int64_t known;
} gbs_lags;

/* The first lags of a few statistics y at once, and all lags of the slow ones among them by
 * transforms that they share.  Optional: gbs_lag starts by itself. */
void gbs_lags_start(gbs_lags *lags, int count);
double gbs_lag(gbs_lags *lags, int64_t t);

/* The indicator of the draws sorted[0 .. count): bits of the rarer side, which has the same
 * autocovariances. */
gbs_split gbs_indicate(gbs_diag_work *work, int64_t count);

/* ess.c: these may set GBS_NOTE_ESS_CAPPED */

int gbs_has_ess(const gbs_diag_work *work); /* 0: undefined, whatever the statistic */
double gbs_ess_of(gbs_lags *lags, gbs_split split);
/* Of the scores in y with their split, the draws, and the squared deviations from the mean. */
void gbs_ess_together(gbs_diag_work *work, gbs_split bulk, double ess[GBS_MOST_SERIES]);
double gbs_ess_of_draws(gbs_diag_work *work);
double gbs_ess_of_squares(gbs_diag_work *work);
double gbs_ess_of_quantile(gbs_diag_work *work, double prob); /* needs the sort */
double gbs_ess_of_tail(gbs_diag_work *work);                  /* likewise */

/* mcse.c */

double gbs_mcse_mean_from(const gbs_diag_work *work, double ess);
double gbs_mcse_sd_from(const gbs_diag_work *work, double ess_of_squares);

/* identical.c: sets GBS_NOTE_CHAINS_IDENTICAL; needs the sort and ends its arrays. */
void gbs_note_identical(gbs_diag_work *work);
/* stuck.c: sets GBS_NOTE_CHAIN_STUCK. */
void gbs_note_stuck(gbs_diag_work *work);

/* summary.c: everything about one variable; `work` is laid out, and may have served others. */
gbs_summary gbs_diag_summarise(gbs_diag_work *work, const gbs_draws *draws);

#endif
