/* The spectral radius of the Gauss-Seidel (SOR) iteration matrix by LAPACK, in the steps of dgeev,
 * where no formula gives it; printed only, as other BLAS builds round otherwise.  The sweep's mean
 * map is this matrix (Roberts and Sahu, J. R. Stat. Soc. B 59, 1997; Fox and Parker, Bernoulli 23,
 * 2017).  Q is first scaled to a unit diagonal, a similarity that keeps the eigenvalues and makes
 * badly scaled models harmless.  Long banded matrices can make it so far from normal that the
 * first digits are wrong, so the leading eigenvalue's condition number comes with it (Golub and Van
 * Loan, Matrix Computations, section 7.2.2): two vectors by inverse iteration on the Hessenberg
 * form, n^2 steps beside the 10 n^3 of the eigenvalues. */
#include "rate.h"

#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Row i of G from the rows above it: g_i = (1 - w) e_i - w sum_{j>i} q_ij e_j - w sum_{j<i} q_ij
 * g_j. */
static void iteration_row(const double *q, const double *scale, int64_t n, int64_t i, double omega,
                          double *g)
{
    double *row = g + i * n;
    row[i] = 1 - omega;
    for (int64_t j = i + 1; j < n; j++)
        row[j] = -omega * q[i * n + j] * scale[i] * scale[j];
    for (int64_t j = 0; j < i; j++) {
        const double weight = omega * q[i * n + j] * scale[i] * scale[j];
        if (weight == 0)
            continue;
        const double *above = g + j * n;
        for (int64_t k = 0; k < n; k++)
            row[k] -= weight * above[k];
    }
}

static double size_of(const double *x, int64_t count)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

/* How far rounding moves eigenvalue k of the Hessenberg h, to first order: d / |y'x| with unit
 * eigenvectors x and y of h and h', and d = sqrt(n) eps |h|, as n roundings of h add up.  That is
 * also more than the distance of neighbours among eigenvalues that rounding has spread over a
 * curve, some 1 / n, which is all that their own condition shows.  Infinite where x and y are not
 * found.  room [4 n].  Returns as LAPACK does: negative without memory. */
static lapack_int eigenvalue_error(const double *h, int64_t n, int64_t k, double *real,
                                   const double *imaginary, lapack_logical *chosen, double *room,
                                   double *error)
{
    const bool pair = imaginary[k] != 0;
    const double *y = room, *x = room + 2 * n;
    const lapack_int order = (lapack_int)n;
    lapack_int found = 0, failed_left[2] = {0, 0}, failed_right[2] = {0, 0};
    for (int64_t i = 0; i < n; i++)
        chosen[i] = i == k;
    const lapack_int failed =
        LAPACKE_dhsein(LAPACK_COL_MAJOR, 'B', 'Q', 'N', chosen, order, h, order, real, imaginary,
                       room, order, room + 2 * n, order, 2, &found, failed_left, failed_right);
    *error = INFINITY;
    if (failed != 0)
        return failed < 0 ? failed : 0;
    double square = 0, re = 0, im = 0;
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i <= j + 1 && i < n; i++)
            square += h[i + j * n] * h[i + j * n];
    for (int64_t i = 0; i < n; i++) {
        re += y[i] * x[i] + (pair ? y[i + n] * x[i + n] : 0);
        im += pair ? y[i] * x[i + n] - y[i + n] * x[i] : 0;
    }
    const int64_t count = pair ? 2 * n : n;
    *error = DBL_EPSILON * sqrt((double)n * square) * size_of(x, count) * size_of(y, count) /
             hypot(re, im);
    return 0;
}

/* Of g [n, n], which it destroys; h [n, n], room [7 n] and chosen [n] are room. */
static lapack_int leading_eigenvalue(double *g, double *h, int64_t n, double *room,
                                     lapack_logical *chosen, double *size, double *error)
{
    double *scale = room, *real = room + n, *imaginary = room + 2 * n;
    const lapack_int order = (lapack_int)n;
    lapack_int low, high, failed;
    failed = LAPACKE_dgebal(LAPACK_COL_MAJOR, 'B', order, g, order, &low, &high, scale);
    if (failed == 0)
        failed = LAPACKE_dgehrd(LAPACK_COL_MAJOR, order, low, high, g, order, room + 3 * n);
    if (failed != 0)
        return failed;
    memcpy(h, g, (size_t)(n * n) * sizeof *h);
    failed = LAPACKE_dhseqr(LAPACK_COL_MAJOR, 'E', 'N', order, low, high, g, order, real, imaginary,
                            NULL, 1);
    if (failed != 0)
        return failed;
    int64_t leading = 0;
    for (int64_t i = 1; i < n; i++)
        if (hypot(real[i], imaginary[i]) > hypot(real[leading], imaginary[leading]))
            leading = i;
    *size = hypot(real[leading], imaginary[leading]);
    return eigenvalue_error(h, n, leading, real, imaginary, chosen, room + 3 * n, error);
}

exit_code general_gibbs_rate(const double *q, int64_t n, double omega, double *rate, double *error)
{
    double *g = take(n * n, sizeof *g, "Gibbs rate"), *h = take(n * n, sizeof *h, "Gibbs rate");
    double *room = take(7 * n, sizeof *room, "Gibbs rate");
    lapack_logical *chosen = take(n, sizeof *chosen, "Gibbs rate");
    exit_code code = EXIT_FILE;
    if (g && h && room && chosen) {
        for (int64_t i = 0; i < n; i++)
            room[i] = 1 / sqrt(q[i * n + i]);
        for (int64_t i = 0; i < n; i++)
            iteration_row(q, room, n, i, omega, g);
        /* Column-major reads the rows as columns: G', which has the same eigenvalues. */
        const lapack_int failed = leading_eigenvalue(g, h, n, room, chosen, rate, error);
        code = failed == 0 ? EXIT_FINE
                           : complain(EXIT_FILE, "Gibbs rate: %s",
                                      failed < 0 ? "no memory for LAPACK"
                                                 : "LAPACK's dhseqr does not converge");
    }
    free(g);
    free(h);
    free(room);
    free(chosen);
    return code;
}

bool rate_is_certain(double rate, double error)
{
    const double gap = 1 - rate;
    return error <= (gap < RATE_NEAREST ? RATE_NEAREST : gap / 100);
}
