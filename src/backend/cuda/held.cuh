/* Lanes that share a chain, four rows each, for many sweeps of up to 32 places of few chains.  A
 * lane holds its rows' coefficients in registers, so that a step is shuffles and sums alone.
 *
 * A group of four places becomes final, goes to all other lanes, and its lane at once starts its
 * sums of the following sweep: a new value to the rows behind is an old one to the rows before.
 * Sums of the lane that has just finished take the values too, and are then overwritten.  A
 * sweep is one straight piece of code, and the normals drawn in it are those of the sweep after
 * next: they depend on nothing in it, so they fill the gaps of its long chain of steps.
 *
 * Places are counted in the order of visit; padding holds A = -0 and x = +0. */
#ifndef GBS_CUDA_HELD_CUH
#define GBS_CUDA_HELD_CUH

#include "backend/cuda/coefficients.cuh"
#include "backend/cuda/device_noise.cuh"

#define HELD_THREADS 128

template <typename T, int LANES> struct held_shape {
    static constexpr int rows = 4 * LANES;
    static constexpr int chains = HELD_THREADS / LANES;
    static constexpr size_t bytes = sizeof(T) * (size_t)(rows * rows + 3 * rows);
};

template <typename T, int LANES> struct held_rows {
    T a[4][4 * LANES]; /* [own row][column] */
    T inner[4][4];     /* the columns among its own rows */
    T s[4], c[4], d;   /* d: A_ii, the same for all rows */
    bool own[4];       /* a real place, not padding */
    int lane;
};

/* Where `on`: r = base, then the row's own later places, as predicated instructions. */
#ifdef __CUDA_ARCH__
static __device__ __forceinline__ void restart_if(bool on, const float base[4], const float u[4][4],
                                                  const float y[4], float r[4])
{
    asm("{\n\t.reg .pred p;\n\tsetp.ne.s32 p, %4, 0;\n\t"
        "@p fma.rn.f32 %0, %9, %5, %12;\n\t@p fma.rn.f32 %1, %11, %6, %13;\n\t"
        "@p mov.f32 %2, %14;\n\t@p mov.f32 %3, %15;\n\t"
        "@p fma.rn.f32 %0, %10, %6, %0;\n\t@p fma.rn.f32 %2, %8, %7, %2;\n\t}"
        : "+f"(r[0]), "+f"(r[1]), "+f"(r[2]), "+f"(r[3])
        : "r"((int)on), "f"(y[1]), "f"(y[2]), "f"(y[3]), "f"(u[2][3]), "f"(u[0][1]), "f"(u[0][2]),
          "f"(u[1][2]), "f"(base[0]), "f"(base[1]), "f"(base[2]), "f"(base[3]));
    asm("{\n\t.reg .pred p;\n\tsetp.ne.s32 p, %2, 0;\n\t"
        "@p fma.rn.f32 %0, %4, %3, %0;\n\t@p fma.rn.f32 %1, %5, %3, %1;\n\t}"
        : "+f"(r[0]), "+f"(r[1])
        : "r"((int)on), "f"(y[3]), "f"(u[0][3]), "f"(u[1][3]));
}

static __device__ __forceinline__ void
restart_if(bool on, const double base[4], const double u[4][4], const double y[4], double r[4])
{
    asm("{\n\t.reg .pred p;\n\tsetp.ne.s32 p, %4, 0;\n\t"
        "@p fma.rn.f64 %0, %9, %5, %12;\n\t@p fma.rn.f64 %1, %11, %6, %13;\n\t"
        "@p mov.f64 %2, %14;\n\t@p mov.f64 %3, %15;\n\t"
        "@p fma.rn.f64 %0, %10, %6, %0;\n\t@p fma.rn.f64 %2, %8, %7, %2;\n\t}"
        : "+d"(r[0]), "+d"(r[1]), "+d"(r[2]), "+d"(r[3])
        : "r"((int)on), "d"(y[1]), "d"(y[2]), "d"(y[3]), "d"(u[2][3]), "d"(u[0][1]), "d"(u[0][2]),
          "d"(u[1][2]), "d"(base[0]), "d"(base[1]), "d"(base[2]), "d"(base[3]));
    asm("{\n\t.reg .pred p;\n\tsetp.ne.s32 p, %2, 0;\n\t"
        "@p fma.rn.f64 %0, %4, %3, %0;\n\t@p fma.rn.f64 %1, %5, %3, %1;\n\t}"
        : "+d"(r[0]), "+d"(r[1])
        : "r"((int)on), "d"(y[3]), "d"(u[0][3]), "d"(u[1][3]));
}
#else
template <typename T>
static __device__ __forceinline__ void restart_if(bool on, const T base[4], const T u[4][4],
                                                  const T y[4], T r[4])
{
    for (int k = 0; on && k < 4; ++k) {
        r[k] = base[k];
        for (int q = k + 1; q < 4; ++q)
            r[k] = vocab_fma(u[k][q], y[q], r[k]);
    }
}
#endif

/* base = s z + c of this sweep, to the sums that the first step finds. */
template <typename T, int LANES, bool RELAXED>
static __device__ __forceinline__ void held_start(const held_rows<T, LANES> &rows, const T base[4],
                                                  const T x[4], T r[4])
{
#pragma unroll
    for (int k = 0; k < 4; ++k)
        r[k] = RELAXED ? vocab_fma(rows.d, x[k], base[k]) : base[k];
#pragma unroll
    for (int k = 0; k < 4; ++k)
#pragma unroll
        for (int q = k + 1; q < 4; ++q)
            r[k] = vocab_fma(rows.inner[k][q], x[q], r[k]);
#pragma unroll
    for (int g = 1; g < LANES; ++g)
#pragma unroll
        for (int q = 0; q < 4; ++q) {
            const T value = __shfl_sync(0xFFFFFFFFu, x[q], g, LANES);
            add_if(g > rows.lane, rows.a[0][4 * g + q], rows.a[1][4 * g + q], value, r);
            add_if(g > rows.lane, rows.a[2][4 * g + q], rows.a[3][4 * g + q], value, r + 2);
        }
}

/* One sweep; `next` is s z + c of the following one.  STORE: x becomes this sweep's state. */
template <typename T, int LANES, bool FULL, bool RELAXED, bool STORE>
static __device__ __forceinline__ void held_sweep(const held_rows<T, LANES> &rows, const T next[4],
                                                  T r[4], T x[4])
{
#pragma unroll
    for (int g = 0; g < LANES; ++g) {
        T y[4], start[4];
#pragma unroll
        for (int k = 0; k < 4; ++k)
            y[k] = r[k];
#pragma unroll
        for (int q = 0; q < 4; ++q)
#pragma unroll
            for (int k = q + 1; k < 4; ++k)
                y[k] = vocab_fma(rows.inner[k][q], y[q], y[k]);
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            if (!FULL)
                y[k] = rows.own[k] ? y[k] : T(0);
            if (STORE)
                x[k] = rows.lane == g ? y[k] : x[k];
            start[k] = RELAXED ? vocab_fma(rows.d, y[k], next[k]) : next[k];
        }
#pragma unroll
        for (int q = 0; q < 4; ++q) {
            const T value = __shfl_sync(0xFFFFFFFFu, y[q], g, LANES);
#pragma unroll
            for (int k = 0; k < 4; ++k)
                r[k] = vocab_fma(rows.a[k][4 * g + q], value, r[k]);
        }
        restart_if(rows.lane == g, start, rows.inner, y, r);
    }
}

/* FULL: no padding, dim = 4 LANES. */
template <typename T, int LANES, bool FULL, bool RELAXED>
__global__ void __launch_bounds__(HELD_THREADS) sweep_held(const __grid_constant__ gbs_sweep_args a)
{
    typedef held_shape<T, LANES> shape;
    extern __shared__ __align__(32) unsigned char shared_bytes[];
    T *const at = (T *)shared_bytes;
    T *const scale = at + shape::rows * shape::rows, *const centre = scale + shape::rows;
    int64_t group, first;
    find_group(a, shape::chains, &group, &first);
    const int lane = threadIdx.x % LANES;
    const int64_t chain = first + threadIdx.x / LANES;
    const bool present = chain < a.chains, backward = a.first_direction < 0;
    const int64_t e = group * a.chains + (present ? chain : 0);
    make_coefficients<T>(a, group, shape::rows, shape::rows, at, scale, centre,
                         centre + shape::rows);
    __syncthreads();

    held_rows<T, LANES> rows;
    T x[4];
    const T *const from = (const T *)a.x + group * a.x_stride[0] + chain * a.x_stride[1];
    rows.lane = lane;
    rows.d = (T)(1.0 - a.omega);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const int p = backward ? shape::rows - 1 - (4 * lane + k) : 4 * lane + k;
        rows.own[k] = p < a.dim;
        rows.s[k] = scale[p];
        rows.c[k] = centre[p];
        x[k] = present && rows.own[k] ? from[p * a.x_stride[2]] : T(0);
#pragma unroll
        for (int v = 0; v < shape::rows; ++v)
            rows.a[k][v] = at[(backward ? shape::rows - 1 - v : v) * shape::rows + p];
#pragma unroll
        for (int q = 0; q < 4; ++q) {
            const int v = 4 * lane + q;
            rows.inner[k][q] = at[(backward ? shape::rows - 1 - v : v) * shape::rows + p];
        }
    }
    const auto bases = [&](int64_t pass, T base[4]) {
        T z[4];
        const gbs_philox_fixed fixed =
            native_pass(native_key(a.noise), a.noise.first_chain + (uint64_t)e,
                        a.noise.first_pass + (uint64_t)pass, a.noise.purpose);
        native_group(native_key(a.noise), fixed, (uint32_t)(backward ? LANES - 1 - lane : lane), z);
#pragma unroll
        for (int k = 0; k < 4; ++k)
            base[k] = vocab_fma(rows.s[k], backward ? z[3 - k] : z[k], rows.c[k]);
    };
    const auto write = [&](T *to, int64_t stride) {
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const int p = backward ? shape::rows - 1 - (4 * lane + k) : 4 * lane + k;
            if (present && rows.own[k])
                to[p * stride] = x[k];
        }
    };
    T r[4], next[4], after[4];
    bases(0, next);
    held_start<T, LANES, RELAXED>(rows, next, x, r);
    bases(1, next);
    T *kept = (T *)a.kept + e * a.dim;
    int64_t until_kept = a.keep_every; /* 0: never */
    for (int64_t sweep = 0; sweep < a.sweeps; ++sweep) {
        if (--until_kept == 0 || sweep + 1 == a.sweeps) {
            held_sweep<T, LANES, FULL, RELAXED, true>(rows, next, r, x);
            bases(sweep + 2, next);
            if (until_kept == 0) {
                write(kept, 1);
                kept += a.groups * a.chains * a.dim;
                until_kept = a.keep_every;
            }
        } else {
            bases(sweep + 2, after);
            held_sweep<T, LANES, FULL, RELAXED, false>(rows, next, r, x);
#pragma unroll
            for (int k = 0; k < 4; ++k)
                next[k] = after[k];
        }
    }
    write((T *)a.out + group * a.out_stride[0] + chain * a.out_stride[1], a.out_stride[2]);
}

#endif
