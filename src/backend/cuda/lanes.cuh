/* Lanes that share a chain: for few chains or a single sweep.  LANES lanes hold one chain, each
 * four consecutive places, so a group of four normals is one lane's.  "Right-looking": first
 * every row takes the old values at later places, then, as the four values of a group become
 * final, they go to all later rows.  Each row's sum is in the canonical order.
 *
 * Coefficients sit in shared memory as at[column][row], so a lane reads its four rows of a
 * column at once.  Padding rows and columns hold A = -0 and x = +0, which change no sum. */
#ifndef GBS_CUDA_LANES_CUH
#define GBS_CUDA_LANES_CUH

#include "backend/cuda/coefficients.cuh"
#include "backend/cuda/device_noise.cuh"

#define LANES_THREADS 256

template <typename T, int LANES> struct lanes_shape {
    static constexpr int rows = 4 * LANES;
    static constexpr int stride = rows; /* quads of a column: neighbouring lanes, no conflicts */
    static constexpr int chains = LANES_THREADS / LANES;
    static constexpr size_t bytes = sizeof(T) * (size_t)(rows * stride + 3 * rows);
};

/* In the direction of the pass: the k-th of four, and the g-th of LANES. */
template <int DIRECTION> static __device__ __forceinline__ constexpr int turned(int k, int last)
{
    return DIRECTION > 0 ? k : last - k;
}

/* r[k] += a.v[k] value in the lanes where `on`, as predicated instructions: a branch would make the
 * warp run twice, a select would cost an instruction a sum. */
static __device__ __forceinline__ void add_column_if(bool on, const quad<float> &a, float value,
                                                     float r[4])
{
    asm("{\n\t.reg .pred p;\n\tsetp.ne.s32 p, %4, 0;\n\t"
        "@p fma.rn.f32 %0, %5, %9, %0;\n\t@p fma.rn.f32 %1, %6, %9, %1;\n\t"
        "@p fma.rn.f32 %2, %7, %9, %2;\n\t@p fma.rn.f32 %3, %8, %9, %3;\n\t}"
        : "+f"(r[0]), "+f"(r[1]), "+f"(r[2]), "+f"(r[3])
        : "r"((int)on), "f"(a.v[0]), "f"(a.v[1]), "f"(a.v[2]), "f"(a.v[3]), "f"(value));
}

static __device__ __forceinline__ void add_column_if(bool on, const quad<double> &a, double value,
                                                     double r[4])
{
    asm("{\n\t.reg .pred p;\n\tsetp.ne.s32 p, %4, 0;\n\t"
        "@p fma.rn.f64 %0, %5, %9, %0;\n\t@p fma.rn.f64 %1, %6, %9, %1;\n\t"
        "@p fma.rn.f64 %2, %7, %9, %2;\n\t@p fma.rn.f64 %3, %8, %9, %3;\n\t}"
        : "+d"(r[0]), "+d"(r[1]), "+d"(r[2]), "+d"(r[3])
        : "r"((int)on), "d"(a.v[0]), "d"(a.v[1]), "d"(a.v[2]), "d"(a.v[3]), "d"(value));
}

/* A lane's own four coefficients each way, its start values, and how it finds the others. */
template <typename T> struct lane_rows {
    T inner[4][4]; /* [row][column] among its own */
    T s[4], c[4], d[4];
    bool own[4]; /* a real place, not padding */
    int lane;
};

/* base = s z + c, then A_ii x, then the old values of the lane's own later places. */
template <typename T, int DIRECTION>
static __device__ __forceinline__ void lanes_start(const lane_rows<T> &rows, bool relaxed,
                                                   const T base[4], const T x[4], T r[4])
{
#pragma unroll
    for (int k = 0; k < 4; ++k)
        r[k] = relaxed ? vocab_fma(rows.d[k], x[k], base[k]) : base[k];
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = i + 1; j < 4; ++j) {
            const int k = turned<DIRECTION>(i, 3), q = turned<DIRECTION>(j, 3);
            r[k] = vocab_fma(rows.inner[k][q], x[q], r[k]);
        }
}

/* The old values of the later lanes. */
template <typename T, int LANES, int DIRECTION>
static __device__ __forceinline__ void lanes_old(const T *at, int stride, const lane_rows<T> &rows,
                                                 const T x[4], T r[4])
{
#pragma unroll 1
    for (int step = 1; step < LANES; ++step) {
        const int g = turned<DIRECTION>(step, LANES - 1);
        const bool later = DIRECTION > 0 ? g > rows.lane : g < rows.lane;
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const int q = turned<DIRECTION>(j, 3);
            const T value = __shfl_sync(0xFFFFFFFFu, x[q], g, LANES);
            add_column_if(later, *(const quad<T> *)(at + (4 * g + q) * stride + 4 * rows.lane),
                          value, r);
        }
    }
}

/* Group after group becomes final and goes to the lanes that still wait for it.  With AGAIN,
 * `next` is s z + c of the following sweep in the same direction: a lane that is done starts its
 * next sums and goes on listening, since a new value to the lanes behind is an old one to those
 * before.  A last sweep is rolled: a single one spends more on fetching code than on running it. */
template <typename T, int LANES, int DIRECTION, bool AGAIN>
static __device__ __forceinline__ void lanes_new(const T *at, int stride, const lane_rows<T> &rows,
                                                 bool relaxed, const T next[4], T x[4], T r[4])
{
#pragma unroll(AGAIN ? 4 : 1)
    for (int step = 0; step < LANES; ++step) {
        const int g = turned<DIRECTION>(step, LANES - 1);
        T y[4];
#pragma unroll
        for (int k = 0; k < 4; ++k)
            y[k] = r[k];
#pragma unroll
        for (int i = 0; i < 4; ++i)
#pragma unroll
            for (int j = i + 1; j < 4; ++j) {
                const int q = turned<DIRECTION>(i, 3), k = turned<DIRECTION>(j, 3);
                y[k] = vocab_fma(rows.inner[k][q], y[q], y[k]);
            }
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            y[k] = rows.own[k] ? y[k] : T(0);
            x[k] = rows.lane == g ? y[k] : x[k];
        }
        const bool listens = AGAIN ? rows.lane != g : DIRECTION > 0 ? rows.lane > g : rows.lane < g;
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const int q = turned<DIRECTION>(j, 3);
            const T value = __shfl_sync(0xFFFFFFFFu, y[q], g, LANES);
            add_column_if(listens, *(const quad<T> *)(at + (4 * g + q) * stride + 4 * rows.lane),
                          value, r);
        }
        if (AGAIN) {
            T start[4];
            lanes_start<T, DIRECTION>(rows, relaxed, next, x, start);
#pragma unroll
            for (int k = 0; k < 4; ++k)
                r[k] = rows.lane == g ? start[k] : r[k];
        }
    }
}

template <typename T, int LANES, int KIND>
__global__ void __launch_bounds__(LANES_THREADS)
    sweep_lanes(const __grid_constant__ gbs_sweep_args a)
{
    typedef lanes_shape<T, LANES> shape;
    extern __shared__ __align__(32) unsigned char shared_bytes[];
    T *const at = (T *)shared_bytes;
    T *const scale = at + shape::rows * shape::stride, *const centre = scale + shape::rows;
    T *const diagonal = centre + shape::rows;
    int64_t group, first;
    find_group(a, shape::chains, &group, &first);
    const int lane = threadIdx.x % LANES;
    const int64_t chain = first + threadIdx.x / LANES;
    const bool present = chain < a.chains;
    const int64_t e = group * a.chains + chain;

    /* what comes from memory is asked for first; normals are drawn while it is on its way */
    const coefficient_item<T> item = load_item<T>(a, group, shape::rows, threadIdx.x);
    T x[4];
    bool own[4];
    const T *const from = (const T *)a.x + group * a.x_stride[0] + chain * a.x_stride[1];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const int p = 4 * lane + k;
        own[k] = p < a.dim;
        x[k] = present && own[k] ? from[p * a.x_stride[2]] : T(0);
    }
    const gbs_philox_key key =
        KIND == GBS_STREAM_TORCH_CUDA ? torch_key(a.noise) : native_key(a.noise);
    const uint64_t offset = KIND == GBS_STREAM_TORCH_CUDA ? torch_offset(a.noise) : 0;
    const int64_t element = present ? e : group * a.chains;
    const torch_place torch =
        torch_place_of(a.noise, key, KIND == GBS_STREAM_TORCH_CUDA ? element : 0);
    const auto normals = [&](int64_t pass, bool backward, T z[4]) {
        const gbs_philox_fixed fixed =
            native_pass(native_key(a.noise), a.noise.first_chain + (uint64_t)element,
                        a.noise.first_pass + (uint64_t)pass, a.noise.purpose);
        group_normals<T, KIND>(a, key, fixed, torch, offset, pass, backward, 4 * lane, element, z);
    };
    lane_rows<T> rows;
    const auto scaled = [&](T z[4]) {
#pragma unroll
        for (int k = 0; k < 4; ++k)
            z[k] = vocab_fma(rows.s[k], z[k], rows.c[k]);
    };
    const bool backward = a.first_direction < 0;
    T z[4] = {}, r[4];
    normals(0, backward, z);
    make_coefficients<T>(a, group, shape::rows, shape::stride, item, at, scale, centre, diagonal);
    __syncthreads();

    rows.lane = lane;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        rows.own[k] = own[k];
        rows.s[k] = scale[4 * lane + k];
        rows.c[k] = centre[4 * lane + k];
        rows.d[k] = diagonal[4 * lane + k];
    }
#pragma unroll
    for (int q = 0; q < 4; ++q) {
        const quad<T> column = *(const quad<T> *)(at + (4 * lane + q) * shape::stride + 4 * lane);
#pragma unroll
        for (int k = 0; k < 4; ++k)
            rows.inner[k][q] = column.v[k];
    }
    scaled(z);

    for (int64_t sweep = 0; sweep < a.sweeps; ++sweep) {
        const bool last = sweep + 1 == a.sweeps;
        if (a.passes == 2) {
            /* the second pass goes the other way: each pass starts afresh */
            if (sweep > 0) {
                normals(2 * sweep, false, z);
                scaled(z);
            }
            lanes_start<T, 1>(rows, a.relaxed, z, x, r);
            lanes_old<T, LANES, 1>(at, shape::stride, rows, x, r);
            lanes_new<T, LANES, 1, false>(at, shape::stride, rows, a.relaxed, z, x, r);
            normals(2 * sweep + 1, true, z);
            scaled(z);
            lanes_start<T, -1>(rows, a.relaxed, z, x, r);
            lanes_old<T, LANES, -1>(at, shape::stride, rows, x, r);
            lanes_new<T, LANES, -1, false>(at, shape::stride, rows, a.relaxed, z, x, r);
        } else if (backward) {
            if (sweep == 0) {
                lanes_start<T, -1>(rows, a.relaxed, z, x, r);
                lanes_old<T, LANES, -1>(at, shape::stride, rows, x, r);
            }
            if (last) {
                lanes_new<T, LANES, -1, false>(at, shape::stride, rows, a.relaxed, z, x, r);
            } else {
                normals(sweep + 1, true, z);
                scaled(z);
                lanes_new<T, LANES, -1, true>(at, shape::stride, rows, a.relaxed, z, x, r);
            }
        } else {
            if (sweep == 0) {
                lanes_start<T, 1>(rows, a.relaxed, z, x, r);
                lanes_old<T, LANES, 1>(at, shape::stride, rows, x, r);
            }
            if (last) {
                lanes_new<T, LANES, 1, false>(at, shape::stride, rows, a.relaxed, z, x, r);
            } else {
                normals(sweep + 1, false, z);
                scaled(z);
                lanes_new<T, LANES, 1, true>(at, shape::stride, rows, a.relaxed, z, x, r);
            }
        }
        if (a.keep_every > 0 && (sweep + 1) % a.keep_every == 0 && present) {
            T *const kept =
                (T *)a.kept + (((sweep + 1) / a.keep_every - 1) * a.groups * a.chains + e) * a.dim;
#pragma unroll
            for (int k = 0; k < 4; ++k)
                if (own[k])
                    kept[4 * lane + k] = x[k];
        }
    }
    if (present) {
        T *const to = (T *)a.out + group * a.out_stride[0] + chain * a.out_stride[1];
#pragma unroll
        for (int k = 0; k < 4; ++k)
            if (own[k])
                to[(4 * lane + k) * a.out_stride[2]] = x[k];
    }
}

#endif
