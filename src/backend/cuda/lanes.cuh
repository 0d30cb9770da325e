/* Lanes that share a chain: for few chains or a single sweep.  LANES lanes hold one chain, each
 * OWN_ROWS consecutive places: four, so that a group of four normals is one lane's, or two, which
 * is twice the warps to hide a single sweep's latency.  "Right-looking": first every row takes the
 * old values at later places, then, as the values of a lane become final, they go to all later
 * rows.  Each row's sum is in the canonical order.
 *
 * Coefficients sit in shared memory as at[column][row], so a lane reads its rows of a column at
 * once.  Padding rows and columns hold A = -0 and x = +0, which change no sum. */
#ifndef GBS_CUDA_LANES_CUH
#define GBS_CUDA_LANES_CUH

#include "backend/cuda/coefficients.cuh"
#include "backend/cuda/device_noise.cuh"

#define LANES_THREADS 256

template <typename T, int LANES, int OWN_ROWS> struct lanes_shape {
    static constexpr int rows = OWN_ROWS * LANES;
    static constexpr int stride = rows; /* a column is read by neighbouring lanes: no conflicts */
    static constexpr int chains = LANES_THREADS / LANES;
    static constexpr size_t bytes = sizeof(T) * (size_t)(rows * stride + 3 * rows);
};

/* In the direction of the pass: the k-th of four, and the g-th of LANES. */
template <int DIRECTION> static __device__ __forceinline__ constexpr int turned(int k, int last)
{
    return DIRECTION > 0 ? k : last - k;
}

/* r += a value in the lanes where `on`, as predicated instructions: a branch would make the warp
 * run twice, a select would cost an instruction a sum.  Two rows at a time. */
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

template <typename T, int OWN_ROWS> struct alignas(OWN_ROWS * sizeof(T)) lane_column {
    T v[OWN_ROWS];
};

/* One column's value to this lane's rows. */
template <typename T, int OWN_ROWS>
static __device__ __forceinline__ void add_column_if(bool on, const T *at, T value, T r[OWN_ROWS])
{
    const lane_column<T, OWN_ROWS> a = *(const lane_column<T, OWN_ROWS> *)at;
#pragma unroll
    for (int k = 0; k < OWN_ROWS; k += 2)
        add_if(on, a.v[k], a.v[k + 1], value, r + k);
}

/* The coefficients among a lane's own rows, its start values, and how it finds the others. */
template <typename T, int OWN_ROWS> struct lane_rows {
    T inner[OWN_ROWS][OWN_ROWS]; /* [row][column] among its own */
    T s[OWN_ROWS], c[OWN_ROWS], d[OWN_ROWS];
    bool own[OWN_ROWS]; /* a real place, not padding */
    int lane;
};

/* base = s z + c, then A_ii x, then the old values of the lane's own later places. */
template <typename T, int OWN_ROWS, int DIRECTION>
static __device__ __forceinline__ void lanes_start(const lane_rows<T, OWN_ROWS> &rows, bool relaxed,
                                                   const T base[OWN_ROWS], const T x[OWN_ROWS],
                                                   T r[OWN_ROWS])
{
#pragma unroll
    for (int k = 0; k < OWN_ROWS; ++k)
        r[k] = relaxed ? vocab_fma(rows.d[k], x[k], base[k]) : base[k];
#pragma unroll
    for (int i = 0; i < OWN_ROWS; ++i)
#pragma unroll
        for (int j = i + 1; j < OWN_ROWS; ++j) {
            const int k = turned<DIRECTION>(i, OWN_ROWS - 1),
                      q = turned<DIRECTION>(j, OWN_ROWS - 1);
            r[k] = vocab_fma(rows.inner[k][q], x[q], r[k]);
        }
}

/* The old values of the later lanes. */
template <typename T, int OWN_ROWS, int LANES, int DIRECTION>
static __device__ __forceinline__ void lanes_old(const T *at, int stride,
                                                 const lane_rows<T, OWN_ROWS> &rows,
                                                 const T x[OWN_ROWS], T r[OWN_ROWS])
{
#pragma unroll 1
    for (int step = 1; step < LANES; ++step) {
        const int g = turned<DIRECTION>(step, LANES - 1);
        const bool later = DIRECTION > 0 ? g > rows.lane : g < rows.lane;
#pragma unroll
        for (int j = 0; j < OWN_ROWS; ++j) {
            const int q = turned<DIRECTION>(j, OWN_ROWS - 1);
            const T value = __shfl_sync(0xFFFFFFFFu, x[q], g, LANES);
            add_column_if<T, OWN_ROWS>(
                later, at + (OWN_ROWS * g + q) * stride + OWN_ROWS * rows.lane, value, r);
        }
    }
}

/* Group after group becomes final and goes to the lanes that still wait for it.  With AGAIN,
 * `next` is s z + c of the following sweep in the same direction: a lane that is done starts its
 * next sums and goes on listening, since a new value to the lanes behind is an old one to those
 * before.  A last sweep is rolled: a single one spends more on fetching code than on running it. */
template <typename T, int OWN_ROWS, int LANES, int DIRECTION, bool AGAIN>
static __device__ __forceinline__ void
lanes_new(const T *at, int stride, const lane_rows<T, OWN_ROWS> &rows, bool relaxed,
          const T next[OWN_ROWS], T x[OWN_ROWS], T r[OWN_ROWS])
{
#pragma unroll(AGAIN ? 4 : 1)
    for (int step = 0; step < LANES; ++step) {
        const int g = turned<DIRECTION>(step, LANES - 1);
        T y[OWN_ROWS];
#pragma unroll
        for (int k = 0; k < OWN_ROWS; ++k)
            y[k] = r[k];
#pragma unroll
        for (int i = 0; i < OWN_ROWS; ++i)
#pragma unroll
            for (int j = i + 1; j < OWN_ROWS; ++j) {
                const int q = turned<DIRECTION>(i, OWN_ROWS - 1),
                          k = turned<DIRECTION>(j, OWN_ROWS - 1);
                y[k] = vocab_fma(rows.inner[k][q], y[q], y[k]);
            }
#pragma unroll
        for (int k = 0; k < OWN_ROWS; ++k) {
            y[k] = rows.own[k] ? y[k] : T(0);
            x[k] = rows.lane == g ? y[k] : x[k];
        }
        const bool listens = AGAIN ? rows.lane != g : DIRECTION > 0 ? rows.lane > g : rows.lane < g;
#pragma unroll
        for (int j = 0; j < OWN_ROWS; ++j) {
            const int q = turned<DIRECTION>(j, OWN_ROWS - 1);
            const T value = __shfl_sync(0xFFFFFFFFu, y[q], g, LANES);
            add_column_if<T, OWN_ROWS>(
                listens, at + (OWN_ROWS * g + q) * stride + OWN_ROWS * rows.lane, value, r);
        }
        if (AGAIN) {
            T start[OWN_ROWS];
            lanes_start<T, OWN_ROWS, DIRECTION>(rows, relaxed, next, x, start);
#pragma unroll
            for (int k = 0; k < OWN_ROWS; ++k)
                r[k] = rows.lane == g ? start[k] : r[k];
        }
    }
}

template <typename T, int OWN_ROWS, int LANES, int KIND>
__global__ void __launch_bounds__(LANES_THREADS)
    sweep_lanes(const __grid_constant__ gbs_sweep_args a)
{
    typedef lanes_shape<T, LANES, OWN_ROWS> shape;
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
    T x[OWN_ROWS];
    bool own[OWN_ROWS];
    const T *const from = (const T *)a.x + group * a.x_stride[0] + chain * a.x_stride[1];
#pragma unroll
    for (int k = 0; k < OWN_ROWS; ++k) {
        const int p = OWN_ROWS * lane + k;
        own[k] = p < a.dim;
        x[k] = present && own[k] ? from[p * a.x_stride[2]] : T(0);
    }
    const gbs_philox_key key = noise_key<KIND>(a.noise);
    const uint64_t offset = KIND == GBS_STREAM_TORCH_CUDA ? torch_offset(a.noise) : 0;
    const int64_t element = present ? e : group * a.chains;
    const torch_place torch =
        torch_place_of(a.noise, key, KIND == GBS_STREAM_TORCH_CUDA ? element : 0);
    const auto normals = [&](int64_t pass, bool backward, T z[OWN_ROWS]) {
        const gbs_philox_fixed fixed =
            native_pass(native_key<KIND>(a.noise, key), a.noise.first_chain + (uint64_t)element,
                        a.noise.first_pass + (uint64_t)pass, a.noise.purpose);
        group_normals<T, KIND, OWN_ROWS>(a, key, fixed, torch, offset, pass, backward,
                                         OWN_ROWS * lane, element, z);
    };
    lane_rows<T, OWN_ROWS> rows;
    const auto scaled = [&](T z[OWN_ROWS]) {
#pragma unroll
        for (int k = 0; k < OWN_ROWS; ++k)
            z[k] = vocab_fma(rows.s[k], z[k], rows.c[k]);
    };
    const bool backward = a.first_direction < 0;
    T z[OWN_ROWS], r[OWN_ROWS];
    normals(0, backward, z);
    make_coefficients<T>(a, group, shape::rows, shape::stride, item, at, scale, centre, diagonal);
    __syncthreads();

    rows.lane = lane;
#pragma unroll
    for (int k = 0; k < OWN_ROWS; ++k) {
        rows.own[k] = own[k];
        rows.s[k] = scale[OWN_ROWS * lane + k];
        rows.c[k] = centre[OWN_ROWS * lane + k];
        rows.d[k] = diagonal[OWN_ROWS * lane + k];
    }
#pragma unroll
    for (int q = 0; q < OWN_ROWS; ++q) {
        const lane_column<T, OWN_ROWS> column =
            *(const lane_column<T, OWN_ROWS> *)(at + (OWN_ROWS * lane + q) * shape::stride +
                                                OWN_ROWS * lane);
#pragma unroll
        for (int k = 0; k < OWN_ROWS; ++k)
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
            lanes_start<T, OWN_ROWS, 1>(rows, a.relaxed, z, x, r);
            lanes_old<T, OWN_ROWS, LANES, 1>(at, shape::stride, rows, x, r);
            lanes_new<T, OWN_ROWS, LANES, 1, false>(at, shape::stride, rows, a.relaxed, z, x, r);
            normals(2 * sweep + 1, true, z);
            scaled(z);
            lanes_start<T, OWN_ROWS, -1>(rows, a.relaxed, z, x, r);
            lanes_old<T, OWN_ROWS, LANES, -1>(at, shape::stride, rows, x, r);
            lanes_new<T, OWN_ROWS, LANES, -1, false>(at, shape::stride, rows, a.relaxed, z, x, r);
        } else if (backward) {
            if (sweep == 0) {
                lanes_start<T, OWN_ROWS, -1>(rows, a.relaxed, z, x, r);
                lanes_old<T, OWN_ROWS, LANES, -1>(at, shape::stride, rows, x, r);
            }
            if (last) {
                lanes_new<T, OWN_ROWS, LANES, -1, false>(at, shape::stride, rows, a.relaxed, z, x,
                                                         r);
            } else {
                normals(sweep + 1, true, z);
                scaled(z);
                lanes_new<T, OWN_ROWS, LANES, -1, true>(at, shape::stride, rows, a.relaxed, z, x,
                                                        r);
            }
        } else {
            if (sweep == 0) {
                lanes_start<T, OWN_ROWS, 1>(rows, a.relaxed, z, x, r);
                lanes_old<T, OWN_ROWS, LANES, 1>(at, shape::stride, rows, x, r);
            }
            if (last) {
                lanes_new<T, OWN_ROWS, LANES, 1, false>(at, shape::stride, rows, a.relaxed, z, x,
                                                        r);
            } else {
                normals(sweep + 1, false, z);
                scaled(z);
                lanes_new<T, OWN_ROWS, LANES, 1, true>(at, shape::stride, rows, a.relaxed, z, x, r);
            }
        }
        if (a.keep_every > 0 && (sweep + 1) % a.keep_every == 0 && present) {
            T *const kept =
                (T *)a.kept + (((sweep + 1) / a.keep_every - 1) * a.groups * a.chains + e) * a.dim;
#pragma unroll
            for (int k = 0; k < OWN_ROWS; ++k)
                if (own[k])
                    kept[OWN_ROWS * lane + k] = x[k];
        }
    }
    if (present) {
        T *const to = (T *)a.out + group * a.out_stride[0] + chain * a.out_stride[1];
#pragma unroll
        for (int k = 0; k < OWN_ROWS; ++k)
            if (own[k])
                to[(OWN_ROWS * lane + k) * a.out_stride[2]] = x[k];
    }
}

#endif
