/* The linear algebra of draws, as the model uses it: picks the inner loops and runs the
 * blocked algorithms over them. */
#include "model/linalg.h"
#include "backend/cpu/linalg_kernels.h"

#include <string.h>

int64_t gbs_cholesky(double *a, int64_t n, gbs_isa isa, double *pivot)
{
    return gbs_blocked_cholesky(gbs_linalg_kernels_for(isa), a, n, pivot);
}

void gbs_solve_forward(const double *l, int64_t n, double *x)
{
    gbs_linalg_kernels_for(GBS_ISA_AUTO)->solve_forward(n, l, n, x);
}

void gbs_solve_backward(const double *l, int64_t n, double *x)
{
    gbs_linalg_kernels_for(GBS_ISA_AUTO)->solve_backward(n, l, n, x);
}

void gbs_inverse_factor(const double *l, int64_t n, gbs_isa isa, double *out)
{
    gbs_blocked_inverse_factor(gbs_linalg_kernels_for(isa), l, n, out);
}

void gbs_inverse_from_factor(const double *l, int64_t n, gbs_isa isa, double *work, double *out)
{
    const gbs_linalg_kernels *const kernels = gbs_linalg_kernels_for(isa);
    gbs_blocked_inverse_factor(kernels, l, n, work);
    gbs_blocked_gram(kernels, work, n, out);
}

void gbs_inverse_diagonal(const double *l, int64_t n, gbs_isa isa, double *work, double *out)
{
    const gbs_linalg_kernels *const kernels = gbs_linalg_kernels_for(isa);
    gbs_blocked_inverse_factor(kernels, l, n, work);
    memset(out, 0, (size_t)n * sizeof *out);
    for (int64_t k = 0; k < n; ++k)
        kernels->add_squares(k + 1, work + k * n, out);
}
