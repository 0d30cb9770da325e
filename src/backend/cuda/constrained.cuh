/* Sweeps within rows lo <= A x <= hi, and whitened sweeps: backend/cpu/constrained_body.h's steps,
 * operation by operation, a thread to a chain.  A chain's rows' sums lie behind its states.
 *
 * Within rows a sweep is bounded.cuh's, eight sums at a time, with other draws.  A whitened step
 * walks over all states twice, once to take the step before it along and ask for bounds, once for
 * what it has been, so that loads, not draws, bound it: what all threads read alike lies in pairs,
 * and a state is read once for both ends of two steps. */
#ifndef GBS_CUDA_CONSTRAINED_CUH
#define GBS_CUDA_CONSTRAINED_CUH

#include "backend/cuda/bounded.cuh"
#include "backend/cuda/constrained_args.cuh"

#define KIND_NONE 0 /* gbs_step_kind */
#define KIND_HELD 2

/* What nobody writes while kernels run, through the read-only cache. */
static __device__ __forceinline__ number_pair<float> read_alike(const number_pair<float> *from)
{
#ifdef __CUDA_ARCH__
    const float2 read = __ldg((const float2 *)from);
    return {read.x, read.y};
#else
    return *from;
#endif
}
static __device__ __forceinline__ number_pair<double> read_alike(const number_pair<double> *from)
{
#ifdef __CUDA_ARCH__
    const double2 read = __ldg((const double2 *)from);
    return {read.x, read.y};
#else
    return *from;
#endif
}

/* The vocabulary's min and max: the second where the two are equal. */
static __device__ __forceinline__ float smaller(float a, float b)
{
    return vf_min(a, b);
}
static __device__ __forceinline__ double smaller(double a, double b)
{
    return vd_min(a, b);
}
static __device__ __forceinline__ float larger(float a, float b)
{
    return vf_max(a, b);
}
static __device__ __forceinline__ double larger(double a, double b)
{
    return vd_max(a, b);
}

/* The same where the sign of a zero does not matter, in an instruction of their own; `a` may be
 * NaN, which gives b. */
static __device__ __forceinline__ float least(float a, float b)
{
    return fminf(a, b);
}
static __device__ __forceinline__ double least(double a, double b)
{
    return vd_min(a, b);
}
static __device__ __forceinline__ float most(float a, float b)
{
    return fmaxf(a, b);
}
static __device__ __forceinline__ double most(double a, double b)
{
    return vd_max(a, b);
}

/* How far a step may go, down and up. */
template <typename T> struct step_interval {
    T low, up;

    __device__ __forceinline__ step_interval() : low(-T(INFINITY)), up(T(INFINITY)) {}
    /* Until `value` meets its bounds.  Of the two ways one is down, whatever inverse's sign; an
     * infinite bound gives an infinite way, and an inverse of NaN, of what does not move, two NaN.
     */
    __device__ __forceinline__ void narrow(T lower, T upper, T inverse, T value)
    {
        const T to_lower = (lower - value) * inverse, to_upper = (upper - value) * inverse;
        low = most(least(to_lower, to_upper), low);
        up = least(most(to_lower, to_upper), up);
    }
    /* Holds `here` if it is closed; zero has one sign. */
    __device__ __forceinline__ void open(T here)
    {
        low += T(0);
        up += T(0);
        if (!(low < up)) {
            low = smaller(low, here);
            up = larger(up, here);
        }
    }
};

/* ---- rows ---- */

template <typename T, typename STATES>
static __device__ __forceinline__ void rows_begin(const row_args<T> &a, const STATES &at, int dim)
{
#pragma unroll 1
    for (int r = 0; r < a.rows; ++r) {
        T sum = T(0);
        const int64_t end = a.entry_start[r + 1];
#pragma unroll 4
        for (int64_t e = a.entry_start[r]; e < end; ++e) {
            const row_entry<T> entry = a.entries[e];
            sum = vocab_fma(entry.value, at.x(entry.place), sum);
        }
        at.x(dim + r) = sum;
    }
}

template <typename T, typename STATES>
static __device__ __forceinline__ void rows_narrow(const row_args<T> &a, const STATES &at, int dim,
                                                   int site, step_interval<T> *of)
{
    if (a.rows == 0)
        return;
    const int64_t end = a.move_start[site + 1];
#pragma unroll 4
    for (int64_t e = a.move_start[site]; e < end; ++e) {
        const row_move<T> move = a.moves[e];
        of->narrow(move.lower, move.upper, move.inverse, at.x(dim + a.move_row[e]));
    }
}

template <typename T, typename STATES>
static __device__ __forceinline__ void rows_move(const row_args<T> &a, const STATES &at, int dim,
                                                 int site, T step)
{
    if (a.rows == 0)
        return;
    const int64_t end = a.move_start[site + 1];
#pragma unroll 4
    for (int64_t e = a.move_start[site]; e < end; ++e) {
        T &sum = at.x(dim + a.move_row[e]);
        sum = vocab_fma(a.moves[e].change, step, sum);
    }
}

/* ---- site by site ---- */

template <typename T, bool SHARED> struct row_draws {
    const row_args<T> &rows;
    int dim;

    __device__ __forceinline__ void begin(const bounded_place<T, SHARED> &at) const
    {
        rows_begin(rows, at, dim);
    }
    __device__ __forceinline__ T draw(const bounded_args<T> &a, const bounded_place<T, SHARED> &at,
                                      chain_noise<T> *noise, int p, T mean) const
    {
        const T x = at.x(p);
        if (at.bounded[p] != KIND_HELD - 1)
            return x;
        const int site = a.site != NULL ? (int)a.site[p] : p;
        step_interval<T> of;
        rows_narrow(rows, at, dim, site, &of);
        const T here = x + T(0);
        of.low = larger(here + of.low, at.lower[p]);
        of.up = smaller(here + of.up, at.upper[p]);
        of.open(here);
        const T value = between(mean, at.scale[p], of.low, of.up, noise->word(p));
        rows_move(rows, at, dim, site, value - x);
        return value;
    }
};

template <typename T, bool SHARED>
__global__ void __launch_bounds__(BOUNDED_THREADS)
    sweep_rows(const __grid_constant__ constrained_args<T> a)
{
    extern __shared__ __align__(32) unsigned char shared_bytes[];
    const row_draws<T, SHARED> draws = {a.rows, (int)a.chains.dim};
    sweep_chains<T, SHARED>(a.chains, bounded_key<false>(a.chains), a.rows.rows, shared_bytes,
                            draws);
}

/* ---- whitened ---- */

/* Beyond this a multiprocessor holds no warp for each of its schedulers. */
#define MOST_WHITENED_BYTES ((size_t)48 << 10)

template <typename T> static inline size_t whitened_bytes_of(int64_t dim, int64_t rows)
{
    return sizeof(T) * (size_t)(dim + rows) * WHITENED_THREADS;
}

/* Place j takes the step before along. */
template <typename T>
static __device__ __forceinline__ T moved_along(T w, T step, T value, const number_pair<T> &box)
{
    return smaller(larger(vocab_fma(w, step, value), box.a), box.b);
}

/* The places that the step before moves, and what all places up to `asked` leave the next one. */
template <typename T, typename STATES>
static __device__ __forceinline__ step_interval<T>
walk_and_ask(const constrained_args<T> &a, const STATES &at, const number_pair<T> *panel, int moved,
             int asked, T step)
{
    const number_pair<T> *boxes = a.boxes;
    step_interval<T> of;
    int j = 0;
#pragma unroll 4
    for (; j < moved; ++j, ++panel, ++boxes) {
        const number_pair<T> along = read_alike(panel), box = read_alike(boxes);
        const T value = moved_along(along.a, step, at.x(j), box);
        at.x(j) = value;
        of.narrow(box.a, box.b, along.b, value);
    }
#pragma unroll 1
    for (; j < asked; ++j, ++panel, ++boxes) {
        const number_pair<T> box = read_alike(boxes);
        of.narrow(box.a, box.b, read_alike(panel).b, at.x(j));
    }
    return of;
}

template <typename T, typename STATES>
static __device__ __forceinline__ void walk(const constrained_args<T> &a, const STATES &at,
                                            const number_pair<T> *panel, int moved, T step)
{
    const number_pair<T> *boxes = a.boxes;
#pragma unroll 4
    for (int j = 0; j < moved; ++j, ++panel, ++boxes)
        at.x(j) = moved_along(read_alike(panel).a, step, at.x(j), read_alike(boxes));
}

/* (L' (x - mu))_i of the state as it is. */
template <typename T, typename STATES>
static __device__ __forceinline__ T whitened_value(const number_pair<T> *factor, const STATES &at,
                                                   int dim, int i)
{
    T y = T(0);
#pragma unroll 4
    for (int j = i; j < dim; ++j, ++factor) {
        const number_pair<T> of = read_alike(factor);
        y = vocab_fma(of.a, at.x(j) - of.b, y);
    }
    return y;
}

template <typename T, typename STATES>
static __device__ __forceinline__ void whitened_sweep(const constrained_args<T> &a,
                                                      const STATES &at, chain_noise<T> *noise)
{
    const int dim = (int)a.chains.dim;
    const number_pair<T> *panel = a.panels;
    int moved = 0;
    T step = T(0);
    rows_begin(a.rows, at, dim);
#pragma unroll 1
    for (int i = 0; i < dim; ++i, panel += dim + 1) {
        const int kind = a.kind[i];
        if (kind == KIND_NONE)
            continue;
        step_interval<T> of;
        if (kind == KIND_HELD)
            of = walk_and_ask(a, at, panel, moved, i + 1, step);
        else
            walk(a, at, panel, moved, step);
        const T y = whitened_value(panel + i + 1, at, dim, i);
        if (kind == KIND_HELD) {
            rows_narrow(a.rows, at, dim, i, &of);
            of.open(T(0));
            step = between(-y, T(1), of.low, of.up, noise->word(i));
        } else {
            step = noise->normal(i) - y;
        }
        rows_move(a.rows, at, dim, i, step);
        moved = i + 1;
    }
    walk(a, at, panel, moved, step);
}

/* SHARED: states and sums [D + R][threads]; else they are in the workspace, [D + R][chains]. */
template <typename T, bool SHARED>
__global__ void __launch_bounds__(WHITENED_THREADS)
    sweep_whitened(const __grid_constant__ constrained_args<T> a)
{
    extern __shared__ __align__(32) unsigned char shared_bytes[];
    const int64_t chain = (int64_t)blockIdx.x * WHITENED_THREADS + threadIdx.x;
    chain_states<T, SHARED ? WHITENED_THREADS : 0> at;
    if (SHARED)
        at.states = (T *)shared_bytes + threadIdx.x;
    else
        at.states = a.chains.workspace + chain;
    at.chains = a.chains.chains;
    if (chain >= a.chains.chains)
        return;
    run_chain(a.chains, bounded_key<false>(a.chains), at, 0, chain,
              [&](chain_noise<T> *noise, int) { whitened_sweep(a, at, noise); });
}

#endif
