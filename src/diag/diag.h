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

#include <stddef.h>
#include <stdint.h>

/* Ranges: positions are kept in 32 bits, and the transform counts in int. */
#define GBS_DIAG_MAX_TOTAL ((int64_t)UINT32_MAX - 1)
#define GBS_DIAG_MAX_DRAWS ((int64_t)1 << 29)

/* Place of a draw that is in no half-chain. */
#define GBS_PLACE_NONE UINT32_MAX

typedef struct gbs_transform gbs_transform;

typedef struct gbs_diag_work {
    int64_t chains, draws, total; /* C, N, S */
    int64_t half, halves, kept;   /* n, H, K */

    double *x;       /* [S] the draws */
    double *centred; /* [S] (x / scale - shift), shift near the mean, scale a power of two */
    double *y;       /* [K] one statistic, half-chain after half-chain */
    double *sorted;  /* [S] the draws in ascending order */
    uint32_t *place; /* [S] where each of them sits in y, or GBS_PLACE_NONE */
    double *scores;  /* [K] normal scores of the ranks 1 .. K */
    double *values;  /* [S] the kept draws, or the folded ones, ascending, with their places */
    uint32_t *places;
    uint64_t *bits; /* [H, words] an indicator */
    int64_t words;  /* 64-bit words a half-chain, the last one empty */
    int64_t *ones;  /* [H] members, and those of the first and last t draws */
    int64_t *head;
    int64_t *tail;
    uint64_t *keys;       /* [S] sorting */
    uint64_t *sorting[2]; /* [S] */
    uint32_t *order;      /* [S] */
    double *chain_mean;   /* [C] and variances; by half-chain [H] where split */
    double *chain_variance;
    double *lag_sum;          /* [n] sums of lagged products, as far as known */
    double *rho;              /* [n] Geyer's sequence */
    void *transform_memory;   /* shared with the sort's arrays */
    gbs_transform *transform; /* NULL until one is needed */

    double scale, shift;
    double mean;   /* of `centred`: a small rest */
    double second; /* sum of squared deviations, in `centred`'s units */
    uint32_t notes;
    int64_t not_finite;
    int64_t noted_chain;
} gbs_diag_work;

/* Within-chain and between-chain variance of a statistic over chains (or half-chains). */
typedef struct gbs_split {
    double within;  /* mean over chains of the variances, divisor n - 1 */
    double between; /* variance over chains of the means */
} gbs_split;

/* draws.c: the draws */

/* Lays the work out at `memory` (NULL: only counts) and returns the bytes; 0 if out of range. */
size_t gbs_diag_layout(gbs_diag_work *work, int64_t chains, int64_t draws, void *memory);

/* Lays out, copies, centres and takes the notes that R-hat and ESS depend on.  Returns 0 if an
 * argument is NULL or out of range. */
int gbs_diag_open(gbs_diag_work *work, const gbs_draws *draws, void *workspace);

/* Copies `from` [S] to y [K], leaving the middle draw of odd chains out. */
void gbs_diag_keep(const gbs_diag_work *work, const double *from);

double gbs_diag_sum(const double *x, int64_t n, double shift); /* of x - shift */
double gbs_diag_sum_squares(const double *x, int64_t n, double shift);

/* Standard deviation of all draws; 0 if constant, NaN for a single draw. */
double gbs_diag_sd(const gbs_diag_work *work);
/* y = squared deviations from the mean.  Returns 0 where they are all equal. */
int gbs_diag_squares(const gbs_diag_work *work);

/* sort.c: ascending order of unsigned integers and of doubles */

/* order[k] = index of the k-th smallest key, equal keys in ascending index. */
void gbs_sort_order(const uint64_t *keys, int64_t count, uint64_t *const work[2], uint32_t *order);
/* Fills sorted and place. */
void gbs_diag_sort(gbs_diag_work *work);

/* rank.c: normal scores of ranks */

double gbs_normal_quantile(double p); /* p in [2^-36, 1 - 2^-36] */
void gbs_score_table(const gbs_diag_work *work);
/* y = scores of the ranks of the draws, or of their distances from the median. */
void gbs_rank_draws(const gbs_diag_work *work);
void gbs_rank_folded(const gbs_diag_work *work);

/* rhat.c: variances within and between */

gbs_split gbs_split_of(const double *mean, const double *variance, int64_t count);
/* Moments of y by half-chain; y is centred half by half, for the autocovariances. */
gbs_split gbs_split_halves(const gbs_diag_work *work);
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
    int of_bits; /* of the indicator in `bits`, else of y */
    int64_t known;
} gbs_lags;

double gbs_lag(gbs_lags *lags, int64_t t);

/* The indicator of the draws sorted[0 .. count): bits of the rarer side, which has the same
 * autocovariances. */
gbs_split gbs_indicate(const gbs_diag_work *work, int64_t count);

/* transform.c: the only user of KissFFT */

size_t gbs_transform_bytes(int64_t n); /* for half-chains of n draws */
/* lag_sum[t] = sum over half-chains and i of y_i y_{i+t}, t = 0 .. n-1.  The first call lays the
 * transform out over the sort's arrays. */
void gbs_transform_lags(gbs_diag_work *work);

/* ess.c: these may set GBS_NOTE_ESS_CAPPED */

int gbs_has_ess(const gbs_diag_work *work); /* 0: undefined, whatever the statistic */
double gbs_ess_of_y(gbs_diag_work *work, gbs_split split); /* y from gbs_split_halves */
double gbs_ess_of_draws(gbs_diag_work *work);
double gbs_ess_of_squares(gbs_diag_work *work); /* of squared deviations from the mean */
double gbs_ess_of_quantile(gbs_diag_work *work, double prob); /* needs the sort */
double gbs_ess_of_tail(gbs_diag_work *work);                  /* likewise */

/* mcse.c */

double gbs_mcse_mean_from(const gbs_diag_work *work, double ess);
double gbs_mcse_sd_from(const gbs_diag_work *work, double ess_of_squares);

/* identical.c: sets GBS_NOTE_CHAINS_IDENTICAL; needs the sort and ends its arrays. */
void gbs_note_identical(gbs_diag_work *work);

#endif
