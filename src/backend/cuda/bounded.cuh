/* Sweeps between bounds.  A draw costs some 400 instructions and a sum a few dozen, so a thread has
 * a chain of its own and eight rows' sums in registers; the rows are then drawn one after another
 * in a rolled loop, as eight copies of a draw would not fit the instruction cache.  All threads are
 * at the same site, so what depends on the site alone, bounded or free, is no divergent branch.
 *
 * States lie by place and chain: in shared memory where they fit, else in a workspace. Coefficients
 * lie by column, a column's rows side by side, padded with zeros to whole groups of rows. */
#ifndef GBS_CUDA_BOUNDED_CUH
#define GBS_CUDA_BOUNDED_CUH

#include "backend/cuda/chain.cuh"
#include "backend/cuda/coefficients.cuh"

#define BOUNDED_ROWS 8

/* What the kernel finds where: by place, columns [dim][rows] and this thread's states.  Offsets in
 * shared memory fit an int, and the distance between a thread's states there is known. */
template <typename T, bool SHARED>
struct bounded_place : chain_states<T, SHARED ? BOUNDED_THREADS : 0> {
    const T *columns, *scale, *centre, *lower, *upper;
    const uint8_t *bounded;
    int rows;

    __device__ __forceinline__ const T *column(int q) const
    {
        return columns + (SHARED ? q * rows : (int64_t)q * rows);
    }
};

/* r[k] += a x for a column's rows, in the order of visit. */
template <typename T, int DIRECTION>
static __device__ __forceinline__ void add_column(const T *column, T value, T r[BOUNDED_ROWS])
{
    const quad<T> low = *(const quad<T> *)column, high = *(const quad<T> *)(column + 4);
#pragma unroll
    for (int k = 0; k < BOUNDED_ROWS; ++k) {
        const int row = turned<DIRECTION>(k, BOUNDED_ROWS - 1);
        r[k] = vocab_fma(row < 4 ? low.v[row % 4] : high.v[row % 4], value, r[k]);
    }
}

/* Eight flags of 1. */
#define ALL_BOUNDED 0x0101010101010101u

/* The starts of a group's sums, in the order of visit: one row after another, the newest entering
 * from the right, so that the array stays in registers. */
template <typename T, int DIRECTION, bool SHARED>
static __device__ __forceinline__ void
bounded_starts(const bounded_args<T> &a, const bounded_place<T, SHARED> &at, chain_noise<T> *noise,
               int dim, int base, T r[BOUNDED_ROWS])
{
    if (base + BOUNDED_ROWS <= dim && !a.relaxed &&
        *(const uint64_t *)(at.bounded + base) == ALL_BOUNDED) {
        const quad<T> low = *(const quad<T> *)(at.centre + base),
                      high = *(const quad<T> *)(at.centre + base + 4);
#pragma unroll
        for (int k = 0; k < BOUNDED_ROWS; ++k) {
            const int row = turned<DIRECTION>(k, BOUNDED_ROWS - 1);
            r[k] = row < 4 ? low.v[row % 4] : high.v[row % 4];
        }
        return;
    }
#pragma unroll
    for (int k = 0; k < BOUNDED_ROWS; ++k)
        r[k] = T(0);
#pragma unroll 1
    for (int k = 0; k < BOUNDED_ROWS; ++k) {
        const int p = base + turned<DIRECTION>(k, BOUNDED_ROWS - 1);
        T start = T(0);
        if (p < dim) {
            start = at.centre[p];
            if (!at.bounded[p])
                start = vocab_fma(at.scale[p], noise->normal(p), start);
            if (a.relaxed)
                start = vocab_fma(at.column(p)[p], at.x(p), start);
        }
#pragma unroll
        for (int j = 0; j < BOUNDED_ROWS - 1; ++j)
            r[j] = r[j + 1];
        r[BOUNDED_ROWS - 1] = start;
    }
}

/* Draws of places that a box holds, whose conditional mean is `mean`. */
template <typename T, bool SHARED> struct box_draws {
    __device__ __forceinline__ void begin(const bounded_place<T, SHARED> &) const {}
    __device__ __forceinline__ T draw(const bounded_args<T> &a, const bounded_place<T, SHARED> &at,
                                      chain_noise<T> *noise, int p, T mean) const
    {
        const T s = at.scale[p], lo = at.lower[p], hi = at.upper[p];
        return a.overrelaxed ? overrelaxed(mean, s, lo, hi, at.x(p), noise->normal(p),
                                           noise->word(p), a.overrelax, a.beside)
                             : between(mean, s, lo, hi, noise->word(p));
    }
};

/* The rows at places base .. base + 7, of which those at dim and beyond do not exist. */
template <typename T, int DIRECTION, bool SHARED, typename DRAWS>
static __device__ __forceinline__ void
bounded_group(const bounded_args<T> &a, const bounded_place<T, SHARED> &at, chain_noise<T> *noise,
              const DRAWS &draws, int dim, int base)
{
    T r[BOUNDED_ROWS]; /* in the order of visit */
    bounded_starts<T, DIRECTION, SHARED>(a, at, noise, dim, base, r);
    /* old values of the group itself: column j goes to the rows visited before it */
#pragma unroll
    for (int j = 1; j < BOUNDED_ROWS; ++j) {
        const int q = base + turned<DIRECTION>(j, BOUNDED_ROWS - 1);
        if (q < dim) {
            const T value = at.x(q);
            const T *const column = at.column(q) + base;
#pragma unroll
            for (int k = 0; k < j; ++k)
                r[k] = vocab_fma(column[turned<DIRECTION>(k, BOUNDED_ROWS - 1)], value, r[k]);
        }
    }
    const int behind = DIRECTION > 0 ? base + BOUNDED_ROWS : base - 1,
              first = DIRECTION > 0 ? 0 : dim - 1;
#pragma unroll 4
    for (int q = behind; q >= 0 && q < dim; q += DIRECTION)
        add_column<T, DIRECTION>(at.column(q) + base, at.x(q), r);
#pragma unroll 4
    for (int q = first; DIRECTION > 0 ? q < base : q >= base + BOUNDED_ROWS; q += DIRECTION)
        add_column<T, DIRECTION>(at.column(q) + base, at.x(q), r);
#pragma unroll 1
    for (int k = 0; k < BOUNDED_ROWS; ++k) {
        const int p = base + turned<DIRECTION>(k, BOUNDED_ROWS - 1);
        if (p < dim) {
            T value = r[0];
            if (at.bounded[p])
                value = draws.draw(a, at, noise, p, value);
            at.x(p) = value;
            const T *const column = at.column(p) + base;
#pragma unroll
            for (int j = 1; j < BOUNDED_ROWS; ++j) /* behind the last row it takes what is there */
                if (k + j < BOUNDED_ROWS)
                    r[j] =
                        vocab_fma(column[turned<DIRECTION>(k + j, BOUNDED_ROWS - 1)], value, r[j]);
        }
#pragma unroll
        for (int j = 0; j < BOUNDED_ROWS - 1; ++j)
            r[j] = r[j + 1];
    }
}

static __host__ __device__ __forceinline__ int64_t whole_groups(int64_t dim)
{
    return (dim + BOUNDED_ROWS - 1) / BOUNDED_ROWS * BOUNDED_ROWS;
}

/* Beyond this a multiprocessor holds too few blocks of threads to hide a draw's latency. */
#define MOST_SHARED_BYTES ((size_t)64 << 10)

/* Of a block of threads, whose chains have `behind` numbers behind their states. */
template <typename T> static inline size_t shared_bytes_of(int64_t dim, int64_t behind = 0)
{
    const size_t rows = (size_t)whole_groups(dim), d = (size_t)dim;
    return sizeof(T) * (d * rows + 4 * rows + (d + (size_t)behind) * BOUNDED_THREADS) + rows;
}

template <typename T> static inline bool is_shared(int64_t dim, int64_t behind = 0)
{
    return dim <= 1024 && behind <= 1024 && shared_bytes_of<T>(dim, behind) <= MOST_SHARED_BYTES;
}

/* All threads of a block copy `count` elements. */
template <typename E>
static __device__ __forceinline__ const E *brought(E *to, const E *from, int64_t count)
{
    for (int64_t i = threadIdx.x; i < count; i += BOUNDED_THREADS)
        to[i] = from[i];
    return to;
}

/* The key of the native stream, in the kernel's arguments, where it is an operand that costs no
 * instruction, or REPLAYED, in memory. */
template <bool REPLAYED, typename T>
static __device__ __forceinline__ const gbs_philox_key &bounded_key(const bounded_args<T> &a)
{
    if constexpr (REPLAYED)
        return *(const gbs_philox_key *)a.device_key;
    return *(const gbs_philox_key *)a.key;
}

/* SHARED: columns, four vectors, states [dim and those behind][threads], flags.  Else nothing, and
 * the workspace holds states [dim and those behind][chains].  What is behind is DRAWS' own. */
template <typename T, bool SHARED, typename DRAWS>
static __device__ __forceinline__ void sweep_chains(const bounded_args<T> &a,
                                                    const gbs_philox_key &key, int behind,
                                                    unsigned char *shared, const DRAWS &draws)
{
    const int64_t blocks = (a.chains + BOUNDED_THREADS - 1) / BOUNDED_THREADS;
    const int64_t group = a.groups > 1 ? blockIdx.x / blocks : 0;
    const int64_t chain = (blockIdx.x - group * blocks) * BOUNDED_THREADS + threadIdx.x;
    const int dim = (int)a.dim, rows = (int)whole_groups(dim);
    const int64_t model = a.models > 1 ? group : 0, vector = model * rows;
    bounded_place<T, SHARED> at;
    at.rows = rows;
    at.columns = a.columns + model * dim * rows;
    at.scale = a.scale + vector;
    at.centre = a.centre + vector;
    at.lower = a.lower + vector;
    at.upper = a.upper + vector;
    at.bounded = a.bounded + vector;
    if constexpr (SHARED) {
        T *const vectors = (T *)shared + dim * rows, *const states = vectors + 4 * rows;
        at.columns = brought((T *)shared, at.columns, dim * rows);
        at.scale = brought(vectors, at.scale, rows);
        at.centre = brought(vectors + rows, at.centre, rows);
        at.lower = brought(vectors + 2 * rows, at.lower, rows);
        at.upper = brought(vectors + 3 * rows, at.upper, rows);
        at.bounded =
            brought((uint8_t *)(states + (dim + behind) * BOUNDED_THREADS), at.bounded, rows);
        at.states = states + threadIdx.x;
        __syncthreads();
    } else {
        at.states = a.workspace + group * (dim + behind) * a.chains + chain;
        at.chains = a.chains;
    }
    if (chain >= a.chains)
        return;
    run_chain(a, key, at, group, chain, [&](chain_noise<T> *noise, int half) {
        draws.begin(at);
        if ((half == 0) == (a.first_direction < 0)) {
#pragma unroll 1
            for (int base = rows - BOUNDED_ROWS; base >= 0; base -= BOUNDED_ROWS)
                bounded_group<T, -1, SHARED>(a, at, noise, draws, dim, base);
        } else {
#pragma unroll 1
            for (int base = 0; base < rows; base += BOUNDED_ROWS)
                bounded_group<T, 1, SHARED>(a, at, noise, draws, dim, base);
        }
    });
}

template <typename T, bool SHARED, bool REPLAYED = false>
__global__ void __launch_bounds__(BOUNDED_THREADS, sizeof(T) == 4 ? 7 : 1) /* blocks at once */
    sweep_bounded(const __grid_constant__ bounded_args<T> a)
{
    extern __shared__ __align__(32) unsigned char shared_bytes[];
    sweep_chains<T, SHARED>(a, bounded_key<REPLAYED>(a), 0, shared_bytes, box_draws<T, SHARED>());
}

/* A one-call sweep's model from the precision as it is: a block for each eight rows of each group.
 * `plain` and `relaxed` differ in omega, 1 and 1 + r, which is that of sites without bounds. Bounds
 * that the CPU would refuse make their site's column NaN, as a precision without a positive
 * diagonal does. */
template <typename T>
__global__ void prepare_bounded(const gbs_sweep_args plain, const gbs_sweep_args relaxed,
                                const T *lower, const T *upper, int64_t bounds_group_stride,
                                bounded_args<T> to)
{
    const int dim = (int)plain.dim, rows = (int)whole_groups(dim), parts = rows / BOUNDED_ROWS;
    const int64_t group = blockIdx.x / parts;
    const int base = (int)(blockIdx.x % parts) * BOUNDED_ROWS;
    const T *const matrix = (const T *)plain.precision + group * plain.precision_group_stride;
    const T *const location = (const T *)plain.location + group * plain.location_group_stride;
    T *const columns = (T *)to.columns + group * dim * rows,
             *const scale = (T *)to.scale + group * rows,
             *const centre = (T *)to.centre + group * rows,
             *const low = (T *)to.lower + group * rows, *const high = (T *)to.upper + group * rows;
    uint8_t *const bounded = (uint8_t *)to.bounded + group * rows;
    if (to.device_key != NULL && blockIdx.x == 0 && threadIdx.x == 0)
        *(gbs_philox_key *)to.device_key = gbs_philox_schedule(replayed_seed(plain.noise));
    if (threadIdx.x < BOUNDED_ROWS) {
        const int p = base + (int)threadIdx.x;
        const bool real = p < dim;
        const T *const row = matrix + (int64_t)p * plain.precision_row_stride;
        const T lo = real && lower != NULL ? lower[group * bounds_group_stride + p] : -T(INFINITY);
        const T hi = real && upper != NULL ? upper[group * bounds_group_stride + p] : T(INFINITY);
        const bool held = lo > -T(INFINITY) || hi < T(INFINITY);
        const bool good = lo <= hi && lo < T(INFINITY) && hi > -T(INFINITY);
        const bool sound = real && row[p] > T(0);
        bounded[p] = real && held && good && sound;
        const gbs_sweep_args &its = bounded[p] ? plain : relaxed;
        scale[p] = !real ? T(0) : good ? row_scale(its, row[p], p) : (T)nan("");
        centre[p] = real ? row_centre(its, row, location, p) : T(0);
        low[p] = lo;
        high[p] = hi;
    }
    __syncthreads();
    for (int i = (int)threadIdx.x; i < dim * BOUNDED_ROWS; i += (int)blockDim.x) {
        const int q = i / BOUNDED_ROWS, p = base + i % BOUNDED_ROWS;
        T a = T(0);
        if (p < dim) {
            const gbs_sweep_args &its = bounded[p] ? plain : relaxed;
            const T *const row = matrix + (int64_t)p * plain.precision_row_stride;
            a = p == q ? (its.relaxed ? (T)(1.0 - its.omega) : T(0))
                       : raw_coefficient(its, row[q], row[p]);
        }
        columns[(int64_t)q * rows + p] = a;
    }
}

/* A, row after row, to columns padded with zeros: one thread an element. */
template <typename T> __global__ void pack_columns(int64_t dim, const T *matrix, T *columns)
{
    const int64_t rows = whole_groups(dim), count = dim * rows;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (int64_t)gridDim.x * blockDim.x) {
        const int64_t q = i / rows, p = i % rows;
        columns[i] = p < dim ? matrix[p * dim + q] : T(0);
    }
}

#endif
