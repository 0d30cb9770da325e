/* Matrices that the tests of the model share: lattices with known spectra and random positive
 * definite ones from a fixed generator. */
#ifndef GBS_TEST_MATRICES_H
#define GBS_TEST_MATRICES_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* SplitMix64: the same numbers on every machine. */
static inline uint64_t next_word(uint64_t *state)
{
    uint64_t w = *state += UINT64_C(0x9E3779B97F4A7C15);
    w = (w ^ (w >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    w = (w ^ (w >> 27)) * UINT64_C(0x94D049BB133111EB);
    return w ^ (w >> 31);
}

/* Uniform on (-1, 1). */
static inline double next_signed(uint64_t *state)
{
    return (double)(next_word(state) >> 11) * 0x1p-52 - 1;
}

static inline double *new_matrix(int64_t n)
{
    double *const a = calloc((size_t)(n * n), sizeof *a);
    if (a == NULL)
        abort();
    return a;
}

/* Symmetric, off-diagonal entries uniform on (-1, 1), diagonal n: positive definite because
 * diagonally dominant.  A third of the entries are zeros, of both signs. */
static inline double *random_matrix(int64_t n, uint64_t seed)
{
    double *const a = new_matrix(n);
    for (int64_t i = 0; i < n; ++i) {
        a[i * n + i] = (double)n;
        for (int64_t j = 0; j < i; ++j) {
            const uint64_t kind = next_word(&seed) % 6;
            const double x = next_signed(&seed);
            a[i * n + j] = a[j * n + i] = kind == 0 ? 0.0 : kind == 1 ? -0.0 : x;
        }
    }
    return a;
}

static inline void add_edge(double *q, int64_t n, int64_t i, int64_t j, double rho)
{
    q[i * n + j] = q[j * n + i] = -rho;
    q[i * n + i] += 1;
    q[j * n + j] += 1;
}

/* D - rho W + kappa I of the rows x columns grid: neighbours up, down, left and right. */
static inline double *lattice(int64_t rows, int64_t columns, double rho, double kappa)
{
    const int64_t n = rows * columns;
    double *const q = new_matrix(n);
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < columns; ++c) {
            const int64_t i = r * columns + c;
            if (c + 1 < columns)
                add_edge(q, n, i, i + 1, rho);
            if (r + 1 < rows)
                add_edge(q, n, i, i + columns, rho);
        }
    for (int64_t i = 0; i < n; ++i)
        q[i * n + i] += kappa;
    return q;
}

#endif
