/* Autocovariances by the fast Fourier transform: two half-chains, zero-padded, make one complex
 * sequence; |Z|^2 of its transform, summed over all pairs, is, up to an odd part, the power
 * spectrum summed over half-chains, and the real part of its own transform holds the sums of
 * lagged products.
 *
 * KissFFT is compiled here, under our own names, so that it cannot meet another copy of it, and
 * for a number type of two doubles, as its USE_SIMD does for four floats: one call then
 * transforms two sequences.  It is only given lengths 2^a 3^b 5^c, for which it allocates
 * nothing. */
#include "diag/diag.h"
#include "diag/lanes.h"

#include <math.h>

#define kiss_fft_scalar gbs_two
#define kiss_fft_alloc gbs_kiss_fft_alloc
#define kiss_fft gbs_kiss_fft
#define kiss_fft_stride gbs_kiss_fft_stride
#define kiss_fft_cleanup gbs_kiss_fft_cleanup
#define kiss_fft_next_fast_size gbs_kiss_fft_next_fast_size
#define KISS_FFT_MALLOC(bytes) NULL
#define KISS_FFT_FREE(memory) ((void)(memory))
#ifndef NDEBUG
#define NDEBUG /* or it would print, where its allocation fails */
#endif
#include "kissfft/_kiss_fft_guts.h"
#undef KISS_FFT_COS
#undef KISS_FFT_SIN
#undef HALF_OF
#define KISS_FFT_COS(phase) gbs_twice(cos(phase))
#define KISS_FFT_SIN(phase) gbs_twice(sin(phase))
#define HALF_OF(x) ((x)*0.5)

#include "kissfft/kiss_fft.c"

struct gbs_transform {
    int length; /* >= 2 n - 1, so that no product wraps around */
    kiss_fft_cfg plan;
    kiss_fft_cpx *in;
    kiss_fft_cpx *out;
    gbs_two *power;
};

static size_t round_up(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static int padded_length(int64_t n)
{
    return kiss_fft_next_fast_size(n < 2 ? 2 : (int)(2 * n - 1));
}

static size_t plan_bytes(int length)
{
    size_t bytes = 0;
    (void)kiss_fft_alloc(length, 0, NULL, &bytes);
    return bytes;
}

size_t gbs_transform_bytes(int64_t n)
{
    const int length = padded_length(n);
    return round_up(sizeof(gbs_transform)) + round_up(plan_bytes(length)) +
           2 * round_up((size_t)length * sizeof(kiss_fft_cpx)) +
           round_up((size_t)length * sizeof(gbs_two));
}

static gbs_transform *plan_transform(int64_t n, unsigned char *memory)
{
    gbs_transform *t = (gbs_transform *)memory;
    t->length = padded_length(n);
    memory += round_up(sizeof *t);
    size_t bytes = plan_bytes(t->length);
    t->plan = kiss_fft_alloc(t->length, 0, memory, &bytes);
    memory += round_up(bytes);
    t->in = (kiss_fft_cpx *)memory;
    memory += round_up((size_t)t->length * sizeof *t->in);
    t->out = (kiss_fft_cpx *)memory;
    memory += round_up((size_t)t->length * sizeof *t->out);
    t->power = (gbs_two *)memory;
    return t;
}

/* power += |Z|^2 for the sequences a + i b and c + i d. */
static void add_power(const gbs_transform *t, const double *a, const double *b, const double *c,
                      const double *d, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        t->in[i].r = (gbs_two){a[i], c[i]};
        t->in[i].i = (gbs_two){b[i], d[i]};
    }
    kiss_fft(t->plan, t->in, t->out);
    for (int k = 0; k < t->length; k++)
        t->power[k] += t->out[k].r * t->out[k].r + t->out[k].i * t->out[k].i;
}

void gbs_transform_lags(gbs_diag_work *work)
{
    const int64_t n = work->half;
    if (work->transform == NULL)
        work->transform = plan_transform(n, work->transform_memory);
    const gbs_transform *t = work->transform;
    memset(t->in, 0, (size_t)t->length * sizeof *t->in);
    memset(t->power, 0, (size_t)t->length * sizeof *t->power);
    const double *zeros = (const double *)(t->in + n); /* the padding */
    for (int64_t h = 0; h < work->halves; h += 4) {
        const double *y = work->y + h * n;
        const int both = h + 2 < work->halves;
        add_power(t, y, y + n, both ? y + 2 * n : zeros, both ? y + 3 * n : zeros, n);
    }

    for (int k = 0; k < t->length; k++) {
        t->in[k].r = gbs_twice(t->power[k][0] + t->power[k][1]);
        t->in[k].i = gbs_twice(0);
    }
    kiss_fft(t->plan, t->in, t->out);
    for (int64_t i = 0; i < n; i++)
        work->lag_sum[i] = t->out[i].r[0] / t->length;
}
