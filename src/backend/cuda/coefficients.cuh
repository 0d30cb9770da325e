/* Coefficients of a sweep on the device, with the bits of the host's plan: every value is
 * computed in double and rounded once (for float input and w = 1 a float division is the same),
 * so a kernel may make them itself from the precision as given. */
#ifndef GBS_CUDA_COEFFICIENTS_CUH
#define GBS_CUDA_COEFFICIENTS_CUH

#include "backend/cuda/sweep_args.cuh"

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
    if (!a.relaxed)
        return divided(-entry, diagonal);
    return (T)(a.omega * (-(double)entry / (double)diagonal));
}

/* 1 / sqrt(q) rounded once, for q in [2^-60, 2^60], without double arithmetic and its latency: an
 * approximation and one corrected step, good to 2^-45 before the rounding.  The same bits as by
 * way of double for every q (tests/gpu/test_gpu_roots.cu). */
static __device__ __forceinline__ float rounded_rsqrt(float q)
{
    float y;
    asm("rsqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(q));
    const float h = q * y, l = __fmaf_rn(q, y, -h);
    const float e = __fmaf_rn(-l, y, __fmaf_rn(-h, y, 1.0f)); /* 1 - q y^2 */
    return y + (y * e) * __fmaf_rn(0.375f, e, 0.5f);
}

template <typename T>
static __device__ __forceinline__ T scale_by_double(const gbs_sweep_args &a, T diagonal)
{
    const double root = 1.0 / sqrt((double)diagonal);
    return (T)(a.relaxed ? root * sqrt(a.omega * (2.0 - a.omega)) : root);
}

static __device__ __forceinline__ float raw_scale(const gbs_sweep_args &a, float diagonal)
{
    if (!(diagonal > 0.0f))
        return nanf("");
    if (!a.relaxed && diagonal >= 0x1p-60f && diagonal <= 0x1p60f)
        return rounded_rsqrt(diagonal);
    return scale_by_double(a, diagonal);
}

static __device__ __forceinline__ double raw_scale(const gbs_sweep_args &a, double diagonal)
{
    return diagonal > 0.0 ? scale_by_double(a, diagonal) : nan("");
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

/* Coefficients are made in two steps, so that a kernel can do something else while the numbers
 * come from memory.  An item is four columns of one row; neighbouring threads take neighbouring
 * rows, so that stores to shared memory do not collide. */
template <typename T> struct coefficient_item {
    quad<T> entry;
    T own;    /* the diagonal entry of the row */
    T vector; /* the diagonal entry of the row whose s and c this thread makes */
    int p, q;
};

/* The row whose scale and centre a thread makes: counted from the last thread down, since the
 * first ones may have a matrix item more. */
static __device__ __forceinline__ int vector_row(void)
{
    return blockDim.x - 1 - threadIdx.x;
}

template <typename T>
static __device__ __forceinline__ coefficient_item<T> load_item(const gbs_sweep_args &a,
                                                                int64_t group, int rows, int index)
{
    const int dim = (int)a.dim;
    const T *const matrix = (const T *)a.precision + group * a.precision_group_stride;
    coefficient_item<T> item;
    item.p = index % rows;
    item.q = index / rows * 4;
    item.own = item.vector = T(1);
    item.entry = {{T(0), T(0), T(0), T(0)}};
    if (vector_row() < dim)
        item.vector = matrix[vector_row() * (a.precision_row_stride + 1)];
    if (item.p < dim && item.q < dim) {
        const T *const row = matrix + item.p * a.precision_row_stride;
        item.own = row[item.p];
        if (dim % 4 == 0 && a.precision_row_stride % 4 == 0 &&
            (uintptr_t)matrix % (4 * sizeof(T)) == 0) {
            item.entry = *(const quad<T> *)(row + item.q);
        } else {
#pragma unroll
            for (int m = 0; m < 4; ++m)
                item.entry.v[m] = row[item.q + m < dim ? item.q + m : item.q];
        }
    }
    return item;
}

template <typename T>
static __device__ __forceinline__ void
store_item(const gbs_sweep_args &a, const coefficient_item<T> &item, int stride, T *at)
{
    const int dim = (int)a.dim;
#pragma unroll
    for (int m = 0; m < 4; ++m) {
        const int q = item.q + m;
        const bool real = item.p < dim && q < dim && q != item.p;
        at[q * stride + item.p] = real ? raw_coefficient(a, item.entry.v[m], item.own) : T(-0.0);
    }
}

/* Fills at[column * stride + row] over `rows` padded places (a multiple of 4), scale, centre and
 * diagonal (A_ii), with all threads of the block; `item` is load_item of index threadIdx.x.  Ends
 * without a barrier. */
template <typename T>
static __device__ __forceinline__ void
make_coefficients(const gbs_sweep_args &a, int64_t group, int rows, int stride,
                  coefficient_item<T> item, T *at, T *scale, T *centre, T *diagonal)
{
    const int dim = (int)a.dim, items = rows * (rows / 4);
    const T *const matrix = (const T *)a.precision + group * a.precision_group_stride;
    const T *const location = (const T *)a.location + group * a.location_group_stride;
    T own = item.vector;
#pragma unroll 1
    for (int p = vector_row(); p < rows; p += blockDim.x) {
        T s = T(0), c = T(0);
        if (p < dim) {
            if (p != vector_row())
                own = matrix[p * (a.precision_row_stride + 1)];
            s = raw_scale(a, own);
            c = raw_centre(a, matrix + p * a.precision_row_stride, location, p);
        }
        scale[p] = s;
        centre[p] = c;
        diagonal[p] = p < dim && a.relaxed ? (T)(1.0 - a.omega) : T(-0.0);
    }
#pragma unroll 1
    for (int index = threadIdx.x; index < items; index += blockDim.x) {
        if (index != (int)threadIdx.x)
            item = load_item<T>(a, group, rows, index);
        store_item(a, item, stride, at);
    }
}

#endif
