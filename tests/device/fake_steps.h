/* Whitened sweeps, and sweeps within rows, of the fake device (fake_device.c). */
#ifndef GBS_TEST_FAKE_STEPS_H
#define GBS_TEST_FAKE_STEPS_H

#include "core/device.h"

typedef struct fake_steps {
    gbs_type type;
    int64_t dim, rows;
    const int64_t *kind, *site; /* by place */
    const double *lower, *upper, *panels;
    const int64_t *entry_start, *entry_place, *move_start, *move_row;
    const double *row_bounds, *entry_value, *change, *inverse;
    double *sums; /* of the chain at work */
    void *block;  /* all of these */
} fake_steps;

/* Copies what the plan points to, into one block of `memory`; 0 if there is none. */
int fake_steps_make(const gbs_device_plan *plan, const gbs_allocator *memory, fake_steps *out);

/* The normal (FREE) or the word (HELD) of the step of the site at `place`. */
typedef struct fake_numbers {
    double (*normal)(const void *user, int64_t place);
    uint64_t (*word)(const void *user, int64_t place);
    const void *user;
} fake_numbers;

/* One sweep of a chain x [D], numbers of T by place. */
void fake_steps_whitened(const fake_steps *steps, const fake_numbers *numbers, double *x);

/* One pass site by site: A [D, D], s and c [D] by place. */
void fake_steps_sweep(const fake_steps *steps, const double *coefficients, const double *scale,
                      const double *centre, int backward, const fake_numbers *numbers, double *x);

#endif
