/* Coefficients of a sweep on the device, with the bits of the host's plan: every value is
 * computed in double and rounded once (for float input and w = 1 a float division is the same),
 * so a kernel may make them itself from the precision as given.  The device's own instructions have
 * twins for tests that run a kernel's text on the host. */
#ifndef GBS_CUDA_COEFFICIENTS_CUH
#define GBS_CUDA_COEFFICIENTS_CUH

#include "backend/cuda/sweep_args.cuh"

/* In the direction of the pass: the k-th of last + 1. */
template <int DIRECTION> static __device__ __forceinline__ constexpr int turned(int k, int last)
{
    return DIRECTION > 0 ? k : last - k;
}

template <typename T> struct alignas(4 * sizeof(T)) quad {
    T v[4];
};

static __device__ __forceinline__ float vocab_fma(float a, float b, float c)
{
    return __fmaf_rn(a, b, c);
}

static __device__ __forceinline__ double vocab_fma(double a, double b, double c)
{
    return __fma_rn(a, b, c);
}

/* r += a value in the lanes where `on`, as predicated instructions: a branch would make the warp
 * run twice, a select would cost an instruction a sum.  Two rows at a time. */
#ifdef __CUDA_ARCH__
static __device__ __forceinline__ void add_if(bool on, float a0, float a1, float value, float *r)
{
    asm("{\n\t.reg .pred p;\n\tsetp.ne.s32 p, %2, 0;\n\t"
        "@p fma.rn.f32 %0, %3, %5, %0;\n\t@p fma.rn.f32 %1, %4, %5, %1;\n\t}"
        : "+f"(r[0]), "+f"(r[1])
        : "r"((int)on), "f"(a0), "f"(a1), "f"(value));
}

static __device__ __forceinline__ void add_if(bool on, double a0, double a1, double value,
                                              double *r)
{
    asm("{\n\t.reg .pred p;\n\tsetp.ne.s32 p, %2, 0;\n\t"
        "@p fma.rn.f64 %0, %3, %5, %0;\n\t@p fma.rn.f64 %1, %4, %5, %1;\n\t}"
        : "+d"(r[0]), "+d"(r[1])
        : "r"((int)on), "d"(a0), "d"(a1), "d"(value));
}
#else
template <typename T>
static __device__ __forceinline__ void add_if(bool on, T a0, T a1, T value, T *r)
{
    r[0] = on ? vocab_fma(a0, value, r[0]) : r[0];
    r[1] = on ? vocab_fma(a1, value, r[1]) : r[1];
}
#endif

static __device__ __forceinline__ float divided(float a, float b)
{
    return __fdiv_rn(a, b);
}

static __device__ __forceinline__ double divided(double a, double b)
{
    return __ddiv_rn(a, b);
}

/* A_ij for j != i. */
template <typename T>
static __device__ __forceinline__ T raw_coefficient(const gbs_sweep_args &a, T entry, T diagonal)
{
    if (a.ready_scale != NULL)
        return entry;
    if (!a.relaxed)
        return divided(-entry, diagonal);
    return (T)(a.omega * (-(double)entry / (double)diagonal));
}

/* 1 / own to within 2^-51, without a branch.  A quotient of floats is at least 2^-49 of itself from
 * where rounding to float changes, so (float)(entry times this) is the rounded quotient
 * (tests/gpu/test_gpu_roots.cu). */
static __device__ __forceinline__ double close_reciprocal(float own)
{
    const double d = (double)own;
    double y;
#ifdef __CUDA_ARCH__
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(d));
#else
    y = 1.0 / d;
#endif
    y = __fma_rn(y, __fma_rn(-d, y, 1.0), y);
    y = __fma_rn(y, __fma_rn(-d, y, 1.0), y);
    return isinf(own) ? copysign(0.0, d) : y;
}

static __device__ __forceinline__ float times_reciprocal(float entry, double reciprocal)
{
    return (float)((double)entry * reciprocal);
}

/* 1 / sqrt(q) rounded once, for q in [2^-60, 2^60], without double arithmetic and its latency: an
 * approximation and one corrected step, good to 2^-45 before the rounding.  The same bits as by
 * way of double for every q (tests/gpu/test_gpu_roots.cu). */
static __device__ __forceinline__ float rounded_rsqrt(float q)
{
    float y;
#ifdef __CUDA_ARCH__
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(q));
#else
    y = 1.0f / sqrtf(q);
#endif
    const float h = q * y, l = __fmaf_rn(q, y, -h);
    const float e = __fmaf_rn(-l, y, __fmaf_rn(-h, y, 1.0f)); /* 1 - q y^2 */
    return y + (y * e) * __fmaf_rn(0.375f, e, 0.5f);
}

/* s_i for w = 1, without a branch: extreme exponents are moved by an even number first. */
static __device__ __forceinline__ float plain_scale(float own)
{
    const float up = own < 0x1p-60f ? 0x1p96f : own > 0x1p60f ? 0x1p-96f : 1.0f;
    const float back = own < 0x1p-60f ? 0x1p48f : own > 0x1p60f ? 0x1p-48f : 1.0f;
    const float s = rounded_rsqrt(own * up) * back;
    return own > 0.0f ? isinf(own) ? 0.0f : s : nanf("");
}

static __device__ __forceinline__ double plain_scale(double own)
{
    return own > 0.0 ? 1.0 / sqrt(own) : nan("");
}

template <typename T> static __device__ __forceinline__ T raw_scale(const gbs_sweep_args &a, T own)
{
    if (!a.relaxed)
        return plain_scale(own);
    const double root = 1.0 / sqrt((double)own);
    return own > T(0) ? (T)(root * sqrt(a.omega * (2.0 - a.omega))) : (T)nan("");
}

/* c_i; `row` is row i of the precision, `location` the group's. */
template <typename T>
static __device__ __forceinline__ T raw_centre(const gbs_sweep_args &a, const T *row,
                                               const T *location, int64_t i)
{
    const T diagonal = row[i];
    switch (a.location_kind) {
    case GBS_LOCATION_MEAN: {
        double t = (double)location[i];
#pragma unroll 1
        for (int64_t j = 0; j < a.dim; ++j) {
            const T coefficient = j == i ? (a.relaxed ? (T)(1.0 - a.omega) : T(0))
                                         : raw_coefficient(a, row[j], diagonal);
            t = __fma_rn(-(double)coefficient, (double)location[j], t);
        }
        return (T)t;
    }
    case GBS_LOCATION_INFORMATION: return (T)(a.omega * ((double)location[i] / (double)diagonal));
    case GBS_LOCATION_OFFSET: return (T)(a.omega * (double)location[i]);
    default: return T(0);
    }
}

/* s_i and c_i, ready or made. */
template <typename T>
static __device__ __forceinline__ T row_scale(const gbs_sweep_args &a, T diagonal, int64_t i)
{
    return a.ready_scale != NULL ? ((const T *)a.ready_scale)[i] : raw_scale(a, diagonal);
}

template <typename T>
static __device__ __forceinline__ T row_centre(const gbs_sweep_args &a, const T *row,
                                               const T *location, int64_t i)
{
    return a.ready_scale != NULL ? ((const T *)a.ready_centre)[i] : raw_centre(a, row, location, i);
}

/* Which group of models a block works for, and which of that group's blocks it is. */
static __device__ __forceinline__ void find_group(const gbs_sweep_args &a, int chains_per_block,
                                                  int64_t *group, int64_t *first_chain)
{
    unsigned g = 0, block = blockIdx.x;
    if (a.groups > 1) { /* a division would cost every launch of a single model */
        const unsigned blocks = (unsigned)((a.chains + chains_per_block - 1) / chains_per_block);
        g = block / blocks;
        block -= g * blocks;
    }
    *group = g;
    *first_chain = (int64_t)block * chains_per_block;
}

/* Four columns of a row, and the row's diagonal entry, which a thread turns into coefficients. */
template <typename T> struct row_item {
    quad<T> entry;
    T own; /* the row's diagonal entry */
    int p, q;
};

template <typename T>
static __device__ __forceinline__ row_item<T> load_row_item(const gbs_sweep_args &a,
                                                            const T *matrix, int p, int q)
{
    const int dim = (int)a.dim;
    row_item<T> item;
    item.p = p;
    item.q = q;
    item.own = T(1);
    item.entry = {{T(0), T(0), T(0), T(0)}};
    if (p < dim && q < dim) {
        const T *const row = matrix + p * a.precision_row_stride;
        item.own = row[p];
        if (dim % 4 == 0 && a.precision_row_stride % 4 == 0 &&
            (uintptr_t)matrix % (4 * sizeof(T)) == 0) {
            item.entry = *(const quad<T> *)(row + q);
        } else {
#pragma unroll
            for (int m = 0; m < 4; ++m)
                item.entry.v[m] = row[q + m < dim ? q + m : q];
        }
    }
    return item;
}

static __device__ __forceinline__ void quotients(const gbs_sweep_args &a, float entry[4], float own)
{
    if (!a.relaxed && a.ready_scale == NULL) {
        const double reciprocal = close_reciprocal(own);
#pragma unroll
        for (int m = 0; m < 4; ++m)
            entry[m] = times_reciprocal(-entry[m], reciprocal);
    } else {
#pragma unroll 1
        for (int m = 0; m < 4; ++m) { /* turned round, so that they stay in registers */
            const float one = raw_coefficient(a, entry[0], own);
            entry[0] = entry[1];
            entry[1] = entry[2];
            entry[2] = entry[3];
            entry[3] = one;
        }
    }
}

static __device__ __forceinline__ void quotients(const gbs_sweep_args &a, double entry[4],
                                                 double own)
{
#pragma unroll
    for (int m = 0; m < 4; ++m)
        entry[m] = raw_coefficient(a, entry[m], own);
}

/* Entries become coefficients; padding and the diagonal become -0. */
template <typename T>
static __device__ __forceinline__ void make_row_item(const gbs_sweep_args &a, row_item<T> *item)
{
    const int dim = (int)a.dim;
    quotients(a, item->entry.v, item->own);
#pragma unroll
    for (int m = 0; m < 4; ++m) {
        const int q = item->q + m;
        if (item->p >= dim || q >= dim || q == item->p)
            item->entry.v[m] = T(-0.0);
    }
}

/* Fills at[column * stride + row] over `rows` padded places (a multiple of 4), scale, centre and
 * diagonal (A_ii), with all threads of the block.  Neighbouring threads take neighbouring rows, so
 * that stores to shared memory do not collide.  Ends without a barrier. */
template <typename T>
static __device__ __forceinline__ void make_coefficients(const gbs_sweep_args &a, int64_t group,
                                                         int rows, int stride, T *at, T *scale,
                                                         T *centre, T *diagonal)
{
    const int dim = (int)a.dim;
    const T *const matrix = (const T *)a.precision + group * a.precision_group_stride;
    const T *const location = (const T *)a.location + group * a.location_group_stride;
#pragma unroll 1
    for (int p = threadIdx.x; p < rows; p += blockDim.x) {
        const T *const row = matrix + p * a.precision_row_stride;
        const bool real = p < dim;
        scale[p] = real ? row_scale(a, row[p], p) : T(0);
        centre[p] = real ? row_centre(a, row, location, p) : T(0);
        diagonal[p] = real && a.relaxed ? (T)(1.0 - a.omega) : T(-0.0);
    }
#pragma unroll 1
    for (int index = threadIdx.x; index < rows * (rows / 4); index += blockDim.x) {
        row_item<T> item = load_row_item(a, matrix, index % rows, index / rows * 4);
        make_row_item(a, &item);
#pragma unroll
        for (int m = 0; m < 4; ++m)
            at[(item.q + m) * stride + item.p] = item.entry.v[m];
    }
}

#endif
