/* Autocovariances by the fast Fourier transform: two half-chains make one complex sequence;
 * |Z|^2 of its transform, summed over all pairs, is, up to an odd part, the power spectrum summed
 * over half-chains, and the real part of its own transform holds the sums of lagged products.
 *
 * The sequences are thought of as padded with zeros to 2 M, M >= n, so that no product wraps
 * around.  The first step of such a transform is free: its even entries are the transform of
 * length M of z_j, the odd ones that of z_j w^j, w = exp(-i pi / M), and going back, entry t is
 * that of the even powers plus w^t times that of the odd ones.
 *
 * KissFFT is compiled here, once per instruction set and under our own names, for a number type
 * of LANES doubles, as its USE_SIMD does for four floats: one call then transforms LANES
 * sequences, pairs of half-chains of up to three statistics side by side.  It is only given
 * lengths 2^a 3^b 5^c, for which it allocates nothing.  A lane never sees the others, and powers
 * are summed pair by pair, so results do not depend on LANES nor on what shares a call. */
typedef double vector __attribute__((vector_size(8 * LANES)));

#define kiss_fft_scalar vector
#define kiss_fft_alloc LOOPS(gbs_kiss_fft_alloc)
#define kiss_fft LOOPS(gbs_kiss_fft)
#define kiss_fft_stride LOOPS(gbs_kiss_fft_stride)
#define kiss_fft_cleanup LOOPS(gbs_kiss_fft_cleanup)
#define kiss_fft_next_fast_size LOOPS(gbs_kiss_fft_next_fast_size)
#define KISS_FFT_MALLOC(bytes) NULL
#define KISS_FFT_FREE(memory) ((void)(memory))
#ifndef NDEBUG
#define NDEBUG /* or it would print, where its allocation fails */
#endif
#include "kissfft/_kiss_fft_guts.h"
#undef KISS_FFT_COS
#undef KISS_FFT_SIN
#undef HALF_OF
#define KISS_FFT_COS(phase) ((vector){0} + cos(phase))
#define KISS_FFT_SIN(phase) ((vector){0} + sin(phase))
#define HALF_OF(x) ((x)*0.5)

#include "kissfft/kiss_fft.c"

struct gbs_transform {
    int length; /* M */
    kiss_fft_cfg kiss;
    double *turn; /* [M, 2] cosine and sine of w^j */
};

typedef struct buffers {
    kiss_fft_cpx *in, *out; /* [M] */
    double *power;          /* [series, 2, M] even and odd entries */
} buffers;

static size_t round_up(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static int transform_length(int64_t n)
{
    return kiss_fft_next_fast_size(n < 2 ? 2 : (int)n);
}

static size_t kiss_bytes(int length)
{
    size_t bytes = 0;
    (void)kiss_fft_alloc(length, 0, NULL, &bytes);
    return round_up(bytes);
}

static size_t plan_bytes(int64_t n)
{
    const int length = transform_length(n);
    return round_up(sizeof(gbs_transform)) + kiss_bytes(length) +
           2 * (size_t)length * sizeof(double);
}

static size_t scratch_bytes(int64_t n)
{
    const size_t length = (size_t)transform_length(n);
    return 2 * round_up(length * sizeof(kiss_fft_cpx)) +
           2 * GBS_MOST_SERIES * length * sizeof(double);
}

static gbs_transform *plan(int64_t n, void *memory)
{
    unsigned char *bytes = memory;
    gbs_transform *p = memory;
    p->length = transform_length(n);
    size_t room = kiss_bytes(p->length);
    bytes += round_up(sizeof *p);
    p->kiss = kiss_fft_alloc(p->length, 0, bytes, &room);
    p->turn = (double *)(void *)(bytes + kiss_bytes(p->length));
    for (int j = 0; j < p->length; j++) {
        const double angle = -3.14159265358979323846 * j / p->length;
        p->turn[2 * j] = cos(angle);
        p->turn[2 * j + 1] = sin(angle);
    }
    return p;
}

static buffers divide(const gbs_transform *p, void *scratch)
{
    const size_t sequence = round_up((size_t)p->length * sizeof(kiss_fft_cpx));
    unsigned char *bytes = scratch;
    return (buffers){(kiss_fft_cpx *)bytes, (kiss_fft_cpx *)(bytes + sequence),
                     (double *)(bytes + 2 * sequence)};
}

/* in = half-chains y[2 lane] + i y[2 lane + 1], lane by lane, and zeros. */
static void fill(const gbs_transform *p, kiss_fft_cpx *in, const double *const *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double *to = (double *)&in[i];
        for (int lane = 0; lane < LANES; lane++) {
            to[lane] = y[2 * lane][i];
            to[LANES + lane] = y[2 * lane + 1][i];
        }
    }
    memset(in + n, 0, (size_t)(p->length - n) * sizeof *in);
}

/* in_j *= w^j */
static void turn(const gbs_transform *p, kiss_fft_cpx *in)
{
    for (int j = 0; j < p->length; j++) {
        const double c = p->turn[2 * j], s = p->turn[2 * j + 1];
        const vector r = in[j].r * c - in[j].i * s;
        in[j].i = in[j].r * s + in[j].i * c;
        in[j].r = r;
    }
}

/* power[lane] += |Z|^2 of each lane that is used, in ascending order. */
static void add_powers(double *const *power, int used, const kiss_fft_cpx *out, int length)
{
    for (int k = 0; k < length; k++) {
        const vector squared = out[k].r * out[k].r + out[k].i * out[k].i;
        for (int lane = 0; lane < used; lane++)
            power[lane][k] += squared[lane];
    }
}

/* The power spectrum of each series. */
static void power_spectra(const gbs_transform *p, const buffers *b, int count,
                          const double *const *series, int64_t n, int64_t halves)
{
    const int64_t pairs = halves / 2, all = count * pairs;
    memset(b->power, 0, 2 * (size_t)count * (size_t)p->length * sizeof *b->power);
    for (int64_t item = 0; item < all; item += LANES) {
        const int used = (int)(all - item < LANES ? all - item : LANES);
        const double *y[2 * LANES];
        double *even[LANES], *odd[LANES];
        for (int lane = 0; lane < LANES; lane++) {
            const int64_t at = item + (lane < used ? lane : 0); /* unused lanes repeat the first */
            y[2 * lane] = series[at / pairs] + at % pairs * 2 * n;
            y[2 * lane + 1] = y[2 * lane] + n;
            even[lane] = b->power + at / pairs * 2 * p->length;
            odd[lane] = even[lane] + p->length;
        }
        fill(p, b->in, y, n);
        kiss_fft(p->kiss, b->in, b->out);
        add_powers(even, used, b->out, p->length);
        turn(p, b->in);
        kiss_fft(p->kiss, b->in, b->out);
        add_powers(odd, used, b->out, p->length);
    }
}

/* Two lanes for each series: the even entries of its power spectrum, and the odd ones. */
static void transform(const gbs_transform *p, void *scratch, int count, const double *const *series,
                      double *const *lag_sum, int64_t n, int64_t halves)
{
    enum { AT_ONCE = LANES / 2 };
    const buffers b = divide(p, scratch);
    const double whole = 2 * (double)p->length;
    power_spectra(p, &b, count, series, n, halves);
    memset(b.in, 0, (size_t)p->length * sizeof *b.in);
    for (int first = 0; first < count; first += AT_ONCE) {
        const int used = count - first < AT_ONCE ? count - first : AT_ONCE;
        const double *power = b.power + (int64_t)first * 2 * p->length;
        for (int k = 0; k < p->length; k++)
            for (int lane = 0; lane < 2 * used; lane++)
                ((double *)&b.in[k])[lane] = power[lane * (int64_t)p->length + k];
        kiss_fft(p->kiss, b.in, b.out);
        for (int s = 0; s < used; s++) {
            for (int64_t t = 0; t < n; t++) {
                const double *real = (const double *)&b.out[t] + 2 * s, *imaginary = real + LANES;
                const double turned = real[1] * p->turn[2 * t] - imaginary[1] * p->turn[2 * t + 1];
                lag_sum[first + s][t] = (real[0] + turned) / whole;
            }
        }
    }
}
