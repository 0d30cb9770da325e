/* One thread per chain, CHAINS of them, state in registers: for many chains of up to 24 places,
 * native stream, storage order.  Code is unrolled over GROUPS groups of four places.  A column's
 * coefficients for the four rows of a group come with one 16-byte load from shared memory and
 * serve every chain of the thread: loads, not arithmetic, bound the kernel with one chain. */
#ifndef GBS_CUDA_THREADS_CUH
#define GBS_CUDA_THREADS_CUH

#include "backend/cuda/coefficients.cuh"
#include "backend/cuda/device_noise.cuh"

#define THREADS_THREADS 128

/* Keeps the compiler from hoisting shared loads out of the sweep and spilling them. */
#define PIN_LOADS() asm volatile("" ::: "memory")

template <typename T, int GROUPS, int CHAINS> struct threads_shape {
    static constexpr int rows = 4 * GROUPS;
    /* The code of more than four groups' normals would cost more to fetch than it takes to put a
     * sweep's normals through shared memory. */
    static constexpr bool staged = GROUPS > 4;
    static constexpr int stages = staged ? GROUPS * CHAINS * THREADS_THREADS * 4 : 0;
    static constexpr size_t bytes = sizeof(T) * (size_t)(rows * rows + 3 * rows + stages);
};

template <typename T, int GROUPS, int CHAINS, int G>
static __device__ __forceinline__ void threads_columns(const T *at, int jg,
                                                       const T x[CHAINS][4 * GROUPS],
                                                       const int direction, T r[CHAINS][4])
{
    constexpr int rows = 4 * GROUPS;
#pragma unroll
    for (int m = 0; m < 4; ++m) {
        const int j = 4 * jg + (direction > 0 ? m : 3 - m);
        const quad<T> coefficient = *(const quad<T> *)(at + j * rows + 4 * G);
#pragma unroll
        for (int c = 0; c < CHAINS; ++c)
#pragma unroll
            for (int k = 0; k < 4; ++k)
                r[c][k] = vocab_fma(coefficient.v[k], x[c][j], r[c][k]);
    }
}

template <typename T, int GROUPS, int CHAINS, int DIRECTION, int G>
static __device__ __forceinline__ void
threads_group(const gbs_sweep_args &a, const T *at, const T *scale, const gbs_philox_key &key,
              const gbs_philox_fixed fixed[CHAINS], const T *staged, T x[CHAINS][4 * GROUPS])
{
    constexpr int rows = 4 * GROUPS;
    const T *const centre = scale + rows, *const diagonal = centre + rows;
    T r[CHAINS][4];
    PIN_LOADS();
    const quad<T> s = *(const quad<T> *)(scale + 4 * G), t = *(const quad<T> *)(centre + 4 * G);
#pragma unroll
    for (int c = 0; c < CHAINS; ++c) {
        quad<T> z;
        if constexpr (threads_shape<T, GROUPS, CHAINS>::staged)
            z = *(const quad<T> *)(staged + (G * CHAINS + c) * THREADS_THREADS * 4);
        else
            native_group(key, fixed[c], G, z.v);
#pragma unroll
        for (int k = 0; k < 4; ++k)
            r[c][k] = vocab_fma(s.v[k], z.v[k], t.v[k]);
    }
    if (a.relaxed) {
        const quad<T> d = *(const quad<T> *)(diagonal + 4 * G);
#pragma unroll
        for (int c = 0; c < CHAINS; ++c)
#pragma unroll
            for (int k = 0; k < 4; ++k)
                r[c][k] = vocab_fma(d.v[k], x[c][4 * G + k], r[c][k]);
    }
    quad<T> inner[4]; /* inner[q].v[k]: row k's coefficient of column q */
#pragma unroll
    for (int q = 0; q < 4; ++q)
        inner[q] = *(const quad<T> *)(at + (4 * G + q) * rows + 4 * G);
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = i + 1; j < 4; ++j) {
            const int k = turned<DIRECTION>(i, 3), q = turned<DIRECTION>(j, 3);
#pragma unroll
            for (int c = 0; c < CHAINS; ++c)
                r[c][k] = vocab_fma(inner[q].v[k], x[c][4 * G + q], r[c][k]);
        }
    constexpr int step = turned<DIRECTION>(G, GROUPS - 1);
#pragma unroll
    for (int next = step + 1; next < GROUPS; ++next)
        threads_columns<T, GROUPS, CHAINS, G>(at, turned<DIRECTION>(next, GROUPS - 1), x, DIRECTION,
                                              r);
#pragma unroll
    for (int before = 0; before < step; ++before)
        threads_columns<T, GROUPS, CHAINS, G>(at, turned<DIRECTION>(before, GROUPS - 1), x,
                                              DIRECTION, r);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int q = turned<DIRECTION>(i, 3);
#pragma unroll
        for (int c = 0; c < CHAINS; ++c) {
            x[c][4 * G + q] = G < GROUPS - 1 || 4 * G + q < a.dim ? r[c][q] : T(0);
#pragma unroll
            for (int j = i + 1; j < 4; ++j) {
                const int k = turned<DIRECTION>(j, 3);
                r[c][k] = vocab_fma(inner[q].v[k], r[c][q], r[c][k]);
            }
        }
    }
}

/* Groups STEP, STEP + 1, ... in the direction of the pass. */
template <typename T, int GROUPS, int CHAINS, int DIRECTION, int STEP> struct threads_pass {
    static __device__ __forceinline__ void run(const gbs_sweep_args &a, const T *at, const T *scale,
                                               const gbs_philox_key &key,
                                               const gbs_philox_fixed fixed[CHAINS],
                                               const T *staged, T x[CHAINS][4 * GROUPS])
    {
        threads_group<T, GROUPS, CHAINS, DIRECTION, turned<DIRECTION>(STEP, GROUPS - 1)>(
            a, at, scale, key, fixed, staged, x);
        threads_pass<T, GROUPS, CHAINS, DIRECTION, STEP + 1>::run(a, at, scale, key, fixed, staged,
                                                                  x);
    }
};
template <typename T, int GROUPS, int CHAINS, int DIRECTION>
struct threads_pass<T, GROUPS, CHAINS, DIRECTION, GROUPS> {
    static __device__ __forceinline__ void run(const gbs_sweep_args &, const T *, const T *,
                                               const gbs_philox_key &, const gbs_philox_fixed *,
                                               const T *, T (*)[4 * GROUPS])
    {
    }
};

template <typename T, int GROUPS, int CHAINS>
__global__ void __launch_bounds__(THREADS_THREADS)
    sweep_threads(const __grid_constant__ gbs_sweep_args a)
{
    constexpr int rows = 4 * GROUPS;
    extern __shared__ __align__(32) unsigned char shared_bytes[];
    T *const at = (T *)shared_bytes;
    T *const scale = at + rows * rows;
    T *const staged = scale + 3 * rows + threadIdx.x * 4;
    int64_t group, first;
    find_group(a, THREADS_THREADS * CHAINS, &group, &first);
    make_coefficients<T>(a, group, rows, rows, at, scale, scale + rows, scale + 2 * rows);

    T x[CHAINS][rows];
    int64_t chain[CHAINS], e[CHAINS];
    bool present[CHAINS];
#pragma unroll
    for (int c = 0; c < CHAINS; ++c) {
        chain[c] = first + c * THREADS_THREADS + threadIdx.x;
        present[c] = chain[c] < a.chains;
        e[c] = group * a.chains + (present[c] ? chain[c] : 0);
        const T *const from =
            (const T *)a.x + group * a.x_stride[0] + (present[c] ? chain[c] : 0) * a.x_stride[1];
#pragma unroll
        for (int p = 0; p < rows; ++p)
            x[c][p] = p < a.dim ? from[p * a.x_stride[2]] : T(0);
    }
    const gbs_philox_key &key = native_key(a.noise);
    __syncthreads();

    for (int64_t sweep = 0; sweep < a.sweeps; ++sweep) {
        for (int half = 0; half < a.passes; ++half) {
            const int64_t pass = sweep * a.passes + half;
            gbs_philox_fixed fixed[CHAINS];
#pragma unroll
            for (int c = 0; c < CHAINS; ++c)
                fixed[c] = native_pass(key, a.noise.first_chain + (uint64_t)e[c],
                                       a.noise.first_pass + (uint64_t)pass, a.noise.purpose);
            if constexpr (threads_shape<T, GROUPS, CHAINS>::staged) {
#pragma unroll 1
                for (int g = 0; g < GROUPS; ++g)
#pragma unroll
                    for (int c = 0; c < CHAINS; ++c) {
                        quad<T> z;
                        native_group(key, fixed[c], (uint32_t)g, z.v);
                        *(quad<T> *)(staged + (g * CHAINS + c) * THREADS_THREADS * 4) = z;
                    }
            }
            if ((half == 0) == (a.first_direction < 0))
                threads_pass<T, GROUPS, CHAINS, -1, 0>::run(a, at, scale, key, fixed, staged, x);
            else
                threads_pass<T, GROUPS, CHAINS, 1, 0>::run(a, at, scale, key, fixed, staged, x);
        }
        if (a.keep_every > 0 && (sweep + 1) % a.keep_every == 0) {
#pragma unroll
            for (int c = 0; c < CHAINS; ++c) {
                T *const kept =
                    (T *)a.kept +
                    (((sweep + 1) / a.keep_every - 1) * a.groups * a.chains + e[c]) * a.dim;
#pragma unroll
                for (int p = 0; p < rows; ++p)
                    if (present[c] && p < a.dim)
                        kept[p] = x[c][p];
            }
        }
    }
#pragma unroll
    for (int c = 0; c < CHAINS; ++c) {
        T *const to = (T *)a.out + group * a.out_stride[0] + chain[c] * a.out_stride[1];
#pragma unroll
        for (int p = 0; p < rows; ++p)
            if (present[c] && p < a.dim)
                to[p * a.out_stride[2]] = x[c][p];
    }
}

#endif
