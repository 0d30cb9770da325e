/* Lengths and operation counts of the pilot (pilot.c): a change of any changes what it chooses, and
 * GBS_PILOT_VERSION.  Private. */
#ifndef GBS_SAMPLER_PILOT_H
#define GBS_SAMPLER_PILOT_H

#include "sampler/sampler_internal.h"

enum { GBS_PILOT_CHAINS = 16 };

/* Sweeps looked at, after half as many that are not: as many as make this many site updates a
 * chain, between the two. */
#define GBS_PILOT_WORK ((int64_t)1 << 17)
#define GBS_PILOT_LEAST_SWEEPS ((int64_t)128)
#define GBS_PILOT_MOST_SWEEPS ((int64_t)1024)

/* A time below this is taken for it: antithetic chains cannot make a choice. */
#define GBS_PILOT_LEAST_TIME 0.25

/* In multiply-adds: a draw between bounds, an over-relaxed one, and what a whitened update spends
 * on each site and row beside it, and a coordinate's on each row. */
#define GBS_PILOT_DRAW 400.0
#define GBS_PILOT_OVERRELAXED 700.0
#define GBS_PILOT_WHITENED 3.0
#define GBS_PILOT_ROWS 3.0

/* Sweeps that a figure takes to forget; y [GBS_PILOT_CHAINS, n] is overwritten. */
double gbs_pilot_time(double *y, int64_t n);

#endif
