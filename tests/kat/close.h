/* Comparison with a bound, for known answers: remembers the largest error of a test and names the
 * first value out of bounds. */
#ifndef GBS_TESTS_CLOSE_H
#define GBS_TESTS_CLOSE_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>

typedef struct closeness {
    const char *what;
    double bound;
    double worst;
    int64_t count, failed;
} closeness;

static inline closeness closeness_start(const char *what, double bound)
{
    const closeness c = {what, bound, 0.0, 0, 0};
    return c;
}

static inline void closeness_add(closeness *c, int64_t index, double expected, double got)
{
    const double error = fabs(got - expected);
    c->count++;
    if (error > c->worst)
        c->worst = error;
    if (!(error <= c->bound) && c->failed++ == 0)
        printf("FAILED %s [%lld]: expected %.17g, got %.17g, error %.3g, bound %.3g\n", c->what,
               (long long)index, expected, got, error, c->bound);
}

/* Prints one line; 1 if all were within the bound. */
static inline int closeness_end(const closeness *c)
{
    printf("  %s: %lld values, largest error %.2g, bound %.2g%s\n", c->what, (long long)c->count,
           c->worst, c->bound, c->failed ? ", FAILED" : "");
    return c->failed == 0 && c->count > 0;
}

#endif
