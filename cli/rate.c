/* The spectral radius of the Gauss-Seidel (SOR) iteration matrix, by Young's formula where the
 * matrix is consistently ordered (Iterative Solution of Large Linear Systems, 1971, chapter 5) and
 * else by LAPACK's dgeev; printed only, as other BLAS builds round otherwise.  On chains and
 * lattices the matrix can be so far from normal that dgeev is wrong in the first digits.  The
 * sweep's mean map is this matrix (Roberts and Sahu, Updating schemes, correlation structure,
 * blocking and parameterization for the Gibbs sampler, J. R. Stat. Soc. B 59, 1997; Fox and Parker,
 * Bernoulli 23, 2017).  Q is first scaled to a unit diagonal, a similarity that keeps the
 * eigenvalues and makes badly scaled models harmless. */
#include "rate.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>

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

/* Are there numbers of the sites that rise by 1 from i to j > i wherever q_ij is not 0?  place and
 * queue [n] are room. */
static bool is_consistently_ordered(const double *q, int64_t n, int64_t *place, int64_t *queue)
{
    for (int64_t i = 0; i < n; i++)
        place[i] = INT64_MAX;
    for (int64_t start = 0; start < n; start++) {
        int64_t first = 0, last = 0;
        if (place[start] != INT64_MAX)
            continue;
        place[start] = 0;
        for (queue[last++] = start; first < last; first++) {
            const int64_t i = queue[first];
            for (int64_t j = 0; j < n; j++) {
                if (j == i || q[i * n + j] == 0)
                    continue;
                const int64_t there = place[i] + (j > i ? 1 : -1);
                if (place[j] == INT64_MAX)
                    queue[last++] = j;
                else if (place[j] != there)
                    return false;
                place[j] = there;
            }
        }
    }
    return true;
}

/* The largest root of (l + w - 1)^2 = l w^2 m^2, m = 1 - 1 / tau the radius of Jacobi's matrix. */
static double rate_of_ordered(double tau, double omega)
{
    const double m = omega * (1 - 1 / tau), square = m * m - 4 * (omega - 1);
    if (square < 0)
        return omega - 1;
    const double root = (m + sqrt(square)) / 2;
    return root * root;
}

exit_code gibbs_rate(const double *q, int64_t n, double omega, double tau, double *rate)
{
    *rate = NAN;
    int64_t *places = take(2 * n, sizeof *places, "Gibbs rate");
    if (!places)
        return EXIT_FILE;
    const bool ordered = isfinite(tau) && is_consistently_ordered(q, n, places, places + n);
    free(places);
    if (ordered) {
        *rate = rate_of_ordered(tau, omega);
        return EXIT_FINE;
    }
    double *g = take(n * n, sizeof *g, "Gibbs rate");
    double *scale = take(3 * n, sizeof *scale, "Gibbs rate");
    exit_code code = EXIT_FILE;
    if (!g || !scale)
        goto done;
    code = EXIT_FINE;
    double *real = scale + n, *imaginary = scale + 2 * n;
    for (int64_t i = 0; i < n; i++)
        scale[i] = 1 / sqrt(q[i * n + i]);
    for (int64_t i = 0; i < n; i++)
        iteration_row(q, scale, n, i, omega, g);
    /* Column-major reads the rows as columns: G', which has the same eigenvalues. */
    const lapack_int order = (lapack_int)n;
    const lapack_int failed = LAPACKE_dgeev(LAPACK_COL_MAJOR, 'N', 'N', order, g, order, real,
                                            imaginary, NULL, 1, NULL, 1);
    if (failed != 0) {
        code = complain(EXIT_FILE, "Gibbs rate: %s",
                        failed < 0 ? "no memory for dgeev" : "dgeev does not converge");
        goto done;
    }
    *rate = 0;
    for (int64_t i = 0; i < n; i++)
        *rate = fmax(*rate, hypot(real[i], imaginary[i]));
done:
    free(g);
    free(scale);
    return code;
}
