/* Chains and checks for the tests of the diagnostics. */
#ifndef GBS_TESTS_DIAG_FIXTURE_H
#define GBS_TESTS_DIAG_FIXTURE_H

#include "gibbsite/gibbsite.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void check_close(const char *what, double expected, double got, double bound)
{
    const int same = (isnan(expected) && isnan(got)) || expected == got;
    if (same || fabs(got - expected) <= bound)
        return;
    printf("%s: expected %.17g, got %.17g, error %.3g, bound %.3g\n", what, expected, got,
           fabs(got - expected), bound);
    fail();
}

static inline void check_relative(const char *what, double expected, double got, double relative)
{
    check_close(what, expected, got, relative * fabs(expected));
}

/* Chains [M, N] of x = phi x + (s / 2^31 - 1/2), s a linear congruential generator started at
 * 12345 + chain, chains counted from 1. */
static inline double *lcg_chains(int64_t draws, int64_t chains, double phi)
{
    double *const x = malloc((size_t)(draws * chains) * sizeof *x);
    assert_non_null(x);
    for (int64_t c = 0; c < chains; c++) {
        uint64_t s = 12345 + (uint64_t)c + 1;
        double last = 0;
        for (int64_t t = 0; t < draws; t++) {
            s = (1103515245 * s + 12345) % 2147483648u;
            last = phi * last + ((double)s / 2147483648.0 - 0.5);
            x[c * draws + t] = last;
        }
    }
    return x;
}

/* Splitmix64 and Box-Muller: for inputs, not for the library. */
static inline uint64_t next_word(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline double next_uniform(uint64_t *state)
{
    return ((double)(next_word(state) >> 11) + 0.5) / 9007199254740992.0;
}

static inline double next_normal(uint64_t *state)
{
    const double radius = sqrt(-2 * log(next_uniform(state)));
    return radius * cos(6.283185307179586 * next_uniform(state));
}

/* Stationary AR(1) chains [chains, draws] with unit variance; phi = 0 gives independent normals. */
static inline double *ar_chains(int64_t draws, int64_t chains, double phi, uint64_t seed)
{
    double *const x = malloc((size_t)(draws * chains) * sizeof *x);
    assert_non_null(x);
    for (int64_t c = 0; c < chains; c++) {
        double last = next_normal(&seed);
        for (int64_t t = 0; t < draws; t++) {
            x[c * draws + t] = last;
            last = phi * last + sqrt(1 - phi * phi) * next_normal(&seed);
        }
    }
    return x;
}

static inline gbs_draws draws_of(const double *x, int64_t chains, int64_t draws)
{
    const gbs_draws d = {x, chains, draws, draws, 1};
    return d;
}

/* Not cleared: a memory checker then sees every read of what was not written. */
static inline void *new_workspace(int64_t chains, int64_t draws)
{
    const size_t bytes = gbs_diag_workspace(chains, draws);
    assert_true(bytes > 0);
    void *const workspace = malloc(bytes);
    assert_non_null(workspace);
    return workspace;
}

static inline gbs_summary summary_of(const double *x, int64_t chains, int64_t draws)
{
    const gbs_draws d = draws_of(x, chains, draws);
    void *const workspace = new_workspace(chains, draws);
    gbs_summary s;
    assert_int_equal(gbs_diag_summary(&d, workspace, &s), GBS_OK);
    free(workspace);
    return s;
}

static inline int same_double(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* Bit for bit, padding aside. */
static inline int same_summary(const gbs_summary *a, const gbs_summary *b)
{
    return same_double(a->mean, b->mean) && same_double(a->sd, b->sd) &&
           same_double(a->mcse_mean, b->mcse_mean) && same_double(a->mcse_sd, b->mcse_sd) &&
           same_double(a->q5, b->q5) && same_double(a->median, b->median) &&
           same_double(a->q95, b->q95) && same_double(a->ess_bulk, b->ess_bulk) &&
           same_double(a->ess_tail, b->ess_tail) && same_double(a->rhat, b->rhat) &&
           a->not_finite == b->not_finite && a->not_finite_chain == b->not_finite_chain &&
           a->constant_chain == b->constant_chain && a->identical_chain == b->identical_chain &&
           a->stuck_chain == b->stuck_chain && a->notes == b->notes;
}

#endif
