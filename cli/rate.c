/* The spectral radius of the Gauss-Seidel (SOR) iteration matrix by LAPACK's dgeev, where no
 * formula gives it; printed only, as other BLAS builds round otherwise.  Long banded matrices can
 * make it so far from normal that dgeev is wrong in the first digits.  The sweep's mean map is this
 * matrix (Roberts and Sahu, Updating schemes, correlation structure, blocking and parameterization
 * for the Gibbs sampler, J. R. Stat. Soc. B 59, 1997; Fox and Parker, Bernoulli 23, 2017).  Q is
 * first scaled to a unit diagonal, a similarity that keeps the eigenvalues and makes badly scaled
 * models harmless. */
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

exit_code general_gibbs_rate(const double *q, int64_t n, double omega, double *rate)
{
    *rate = NAN;
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
