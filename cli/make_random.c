/* A random matrix with known eigenvalues: a diagonal one, turned by n - 1 random Householder
 * reflections of growing size, which together are uniform on the orthogonal group (Stewart, The
 * efficient generation of random orthogonal matrices, SIAM J. Numer. Anal. 17, 1980; the update
 * is that of LAPACK's dlagsy).  The normals are the library's native stream and the rest is
 * +, *, / and sqrt, so a seed gives the same file everywhere. */
#include "make_random.h"

#include <math.h>
#include <stdlib.h>

/* cond^(i / last) from square roots of cond, one for each binary digit of i / last: pow is not
 * the same on every C library. */
static double eigenvalue(int64_t i, int64_t last, double cond)
{
    if (i == last)
        return cond;
    double value = 1, root = cond;
    int64_t rest = i;
    for (int bit = 0; bit < 52; bit++) {
        root = sqrt(root);
        rest *= 2;
        if (rest >= last) {
            rest -= last;
            value *= root;
        }
    }
    return value;
}

/* A' = H A H on rows and columns first .. n-1, H = I - beta u u': with y = beta A u and
 * v = y - (beta / 2)(u'y) u this is A - u v' - v u'.  Lower triangle only. */
static void reflect(int64_t n, int64_t first, const double *restrict u, double *restrict v,
                    double *restrict q)
{
    double norm2 = 0, dot = 0;
    for (int64_t i = first; i < n; i++) {
        norm2 += u[i] * u[i];
        v[i] = 0;
    }
    const double beta = 2 / norm2;
    for (int64_t i = first; i < n; i++) {
        const double *row = q + i * n;
        for (int64_t j = first; j < i; j++) {
            v[i] += row[j] * u[j];
            v[j] += row[j] * u[i];
        }
        v[i] += row[i] * u[i];
    }
    for (int64_t i = first; i < n; i++) {
        v[i] *= beta;
        dot += u[i] * v[i];
    }
    for (int64_t i = first; i < n; i++)
        v[i] -= beta / 2 * dot * u[i];
    for (int64_t i = first; i < n; i++)
        for (int64_t j = first; j <= i; j++)
            q[i * n + j] -= u[i] * v[j] + v[i] * u[j];
}

/* n chains of one site with precision 1: each sweep is n independent normals. */
static gbs_status normal_source(gbs_context *ctx, int64_t n, uint64_t seed, gbs_sampler **out)
{
    const double one = 1;
    gbs_model *model = NULL;
    gbs_model_spec unit = gbs_model_spec_default();
    unit.dim = 1;
    unit.matrix = &one;
    gbs_status status = gbs_model_create(ctx, &unit, &model);
    if (status != GBS_OK)
        return status;
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    spec.chains = n;
    spec.seed = seed;
    spec.start = GBS_START_ZERO;
    status = gbs_sampler_create(ctx, model, &spec, out);
    gbs_model_release(model);
    return status;
}

exit_code random_precision(int64_t n, double cond, uint64_t seed, double *q)
{
    gbs_context *ctx = NULL;
    gbs_sampler *normals = NULL;
    double *u = take(2 * n, sizeof *u, "random matrix");
    gbs_status status = GBS_ERROR_MEMORY;
    exit_code code = EXIT_FILE;
    if (!u || (status = gbs_context_create(NULL, &ctx)) != GBS_OK)
        goto done;
    if ((status = normal_source(ctx, n, seed, &normals)) != GBS_OK)
        goto done;
    for (int64_t i = 0; i < n; i++)
        q[i * n + i] = n == 1 ? 1 : eigenvalue(i, n - 1, cond);
    for (int64_t first = n - 2; first >= 0; first--) {
        if ((status = gbs_sampler_run(normals, 1)) != GBS_OK ||
            (status = gbs_sampler_get_state(normals, u)) != GBS_OK)
            goto done;
        reflect(n, first, u, u + n, q);
    }
    code = EXIT_FINE;
done:
    if (ctx && status != GBS_OK)
        code = complain_status(ctx, status);
    else if (u && status != GBS_OK)
        complain(code, "random matrix: no memory for a context");
    gbs_sampler_destroy(normals);
    gbs_context_destroy(ctx);
    free(u);
    return code;
}
