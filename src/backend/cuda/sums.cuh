/* The sums of all rows in registers: for many chains of middling size.  A warp owns eight rows of
 * all the block's chains, a lane 8 x CHAINS sums.  New values appear eight at a time, go to shared
 * memory, and every warp adds what they contribute to its rows: to those that come later as new
 * values of this sweep, to those that came before as old values of the next.  So each row meets
 * its columns in the order of the contract, and a value is loaded once for 8 rows, a coefficient
 * once for CHAINS chains.
 *
 * A step is about group g's values.  In it the warp that owns them starts its rows' next sums, the
 * one that owns the next group adds them and finishes that group's rows, the others add them, and
 * all make the normals that the next step starts with.  One barrier a step.  Sweep -1 brings the
 * old values from memory.
 *
 * Native stream, one direction.  Padding rows and columns (up to a multiple of eight) hold A = -0
 * and x = +0. */
#ifndef GBS_CUDA_SUMS_CUH
#define GBS_CUDA_SUMS_CUH

#include "backend/cuda/device_noise.cuh"
#include "backend/cuda/panel_shape.cuh"

#include <cuda_pipeline.h>

#define SUMS_ROWS 8
#define SUMS_MOST_WARPS 16

/* How a block's sums are cut.  LANES lanes share a group of eight rows, CHAINS chains each.  A
 * lane's chains come in units of 16 bytes, a unit of all lanes side by side, so that neither loads
 * nor stores of a row collide.  COLUMN_STEP: from one unit of a column's eight coefficients to the
 * next. */
template <typename TYPE, int CHAINS, int LANES, int COLUMN_STEP> struct sums_shape {
    typedef TYPE type;
    static constexpr int chains_each = CHAINS, unit = panel_unit<TYPE>::width;
    static constexpr int unit_step = LANES * unit, column_step = COLUMN_STEP;
    static constexpr int chains = LANES * CHAINS; /* of a block */
    static constexpr int stride = chains + 4;     /* of a row of values or normals */
    static constexpr int buffer = SUMS_ROWS * stride;
};

/* A row's values of a lane's chains; `row` is the lane's first. */
template <typename S>
static __device__ __forceinline__ void sums_load(const typename S::type *row,
                                                 typename S::type to[S::chains_each])
{
    typedef panel_unit<typename S::type> unit_type;
#pragma unroll
    for (int p = 0; p < S::chains_each / S::unit; ++p) {
        const unit_type unit = *(const unit_type *)(row + p * S::unit_step);
#pragma unroll
        for (int m = 0; m < S::unit; ++m)
            to[p * S::unit + m] = unit.v[m];
    }
}

template <typename S>
static __device__ __forceinline__ void sums_store(typename S::type *row,
                                                  const typename S::type from[S::chains_each])
{
    typedef panel_unit<typename S::type> unit_type;
#pragma unroll
    for (int p = 0; p < S::chains_each / S::unit; ++p) {
        unit_type unit;
#pragma unroll
        for (int m = 0; m < S::unit; ++m)
            unit.v[m] = from[p * S::unit + m];
        *(unit_type *)(row + p * S::unit_step) = unit;
    }
}

/* What a group's values contribute; `at` is its first column at the warp's first row. */
template <typename S, int DIRECTION, typename T>
static __device__ __forceinline__ void sums_add(const T *at, int rows, const T *values,
                                                T r[SUMS_ROWS][S::chains_each])
{
#pragma unroll
    for (int j = 0; j < SUMS_ROWS; ++j) {
        const int q = turned<DIRECTION>(j, SUMS_ROWS - 1);
        T a[SUMS_ROWS], x[S::chains_each];
        load_eight(at + q * rows, S::column_step, a);
        sums_load<S>(values + q * S::stride, x);
#pragma unroll
        for (int k = 0; k < SUMS_ROWS; ++k)
#pragma unroll
            for (int c = 0; c < S::chains_each; ++c)
                r[k][c] = vocab_fma(a[k], x[c], r[k][c]);
    }
}

/* The own rows, all other columns added, become values.  `block` is the diagonal block, `rows` from
 * column to column.  Rows outside low .. high - 1 are padding. */
template <typename S, int DIRECTION, typename T>
static __device__ __forceinline__ void sums_finish(const T *block, int rows, int low, int high,
                                                   T *values, T r[SUMS_ROWS][S::chains_each])
{
#pragma unroll
    for (int i = 0; i < SUMS_ROWS - 1; ++i) {
        const int q = turned<DIRECTION>(i, SUMS_ROWS - 1);
        T a[SUMS_ROWS];
        load_eight(block + q * rows, S::unit, a);
#pragma unroll
        for (int j = i + 1; j < SUMS_ROWS; ++j) {
            const int k = turned<DIRECTION>(j, SUMS_ROWS - 1);
#pragma unroll
            for (int c = 0; c < S::chains_each; ++c)
                r[k][c] = vocab_fma(a[k], r[q][c], r[k][c]);
        }
    }
    if (low > 0 || high < SUMS_ROWS) { /* padding stays +0, whatever the chain holds */
#pragma unroll
        for (int k = 0; k < SUMS_ROWS; ++k)
#pragma unroll
            for (int c = 0; c < S::chains_each; ++c)
                r[k][c] = k >= low && k < high ? r[k][c] : T(0);
    }
#pragma unroll
    for (int k = 0; k < SUMS_ROWS; ++k)
        sums_store<S>(values + k * S::stride, r[k]);
}

/* The own rows' sums of the next sweep as far as their own group goes. */
template <typename S, int DIRECTION, typename T>
static __device__ __forceinline__ void
sums_start(const T *block, int rows, const T *scale, const T *centre, bool relaxed, T diagonal,
           const T *normals, const T *values, T r[SUMS_ROWS][S::chains_each])
{
#pragma unroll
    for (int k = 0; k < SUMS_ROWS; ++k) {
        T z[S::chains_each];
        sums_load<S>(normals + k * S::stride, z);
#pragma unroll
        for (int c = 0; c < S::chains_each; ++c)
            r[k][c] = vocab_fma(scale[k], z[c], centre[k]);
    }
    if (relaxed) {
#pragma unroll
        for (int k = 0; k < SUMS_ROWS; ++k) {
            T mine[S::chains_each];
            sums_load<S>(values + k * S::stride, mine);
#pragma unroll
            for (int c = 0; c < S::chains_each; ++c)
                r[k][c] = vocab_fma(diagonal, mine[c], r[k][c]);
        }
    }
#pragma unroll
    for (int j = 1; j < SUMS_ROWS; ++j) {
        const int q = turned<DIRECTION>(j, SUMS_ROWS - 1);
        T a[SUMS_ROWS], old[S::chains_each];
        load_eight(block + q * rows, S::unit, a);
        sums_load<S>(values + q * S::stride, old);
#pragma unroll
        for (int i = 0; i < j; ++i) {
            const int k = turned<DIRECTION>(i, SUMS_ROWS - 1);
#pragma unroll
            for (int c = 0; c < S::chains_each; ++c)
                r[k][c] = vocab_fma(a[k], old[c], r[k][c]);
        }
    }
}

/* A group's normals of a pass, by all warps.  A warp makes those of four rows and 32 chains at a
 * time.  `turn` is how far from the warp that starts sums it is, against the direction: that one
 * has time for most, and the last, which finishes rows, for none. */
template <typename S, typename Source>
static __device__ __forceinline__ void sums_normals(const gbs_sweep_args &a, const Source &source,
                                                    int64_t first_element, int g, int64_t sweep,
                                                    int turn, typename S::type *to)
{
    constexpr int parts = S::chains / 32;
    const gbs_philox_key &key = native_key(a.noise);
    const int last = (int)blockDim.x / 32 - 1, makers = last > 0 ? last : 1;
#pragma unroll 1
    for (int job = turn < makers ? turn : 2 * parts; job < 2 * parts; job += makers) {
        const int half = job / parts, chain = job % parts * 32 + (int)threadIdx.x % 32;
        const int row = g * SUMS_ROWS + 4 * half;
        const gbs_philox_fixed fixed =
            native_pass(key, a.noise.first_chain + (uint64_t)(first_element + chain),
                        a.noise.first_pass + (uint64_t)sweep, a.noise.purpose);
        typename S::type z[4];
        native_group(key, fixed,
                     (uint32_t)(source.turned_round() ? source.place(row + 3) : row) / 4, z);
#pragma unroll
        for (int k = 0; k < 4; ++k)
            to[(4 * half + (source.turned_round() ? 3 - k : k)) * S::stride + chain] = z[k];
    }
}

/* A group's values from or to memory, by all threads: eight places of a chain lie together. */
template <typename S, typename Source>
static __device__ __forceinline__ void sums_fetch(const gbs_sweep_args &a, const Source &source,
                                                  const typename S::type *from, int g,
                                                  int64_t first, typename S::type *values)
{
#pragma unroll 1
    for (int index = (int)threadIdx.x; index < SUMS_ROWS * S::chains; index += (int)blockDim.x) {
        const int chain = index / SUMS_ROWS, k = index % SUMS_ROWS;
        const int place = source.place(g * SUMS_ROWS + k);
        typename S::type value = 0;
        if (place < a.dim && first + chain < a.chains)
            value = from[(first + chain) * a.x_stride[1] + place * a.x_stride[2]];
        values[k * S::stride + chain] = value;
    }
}

template <typename S, typename Source>
static __device__ __forceinline__ void
sums_put(const gbs_sweep_args &a, const Source &source, const typename S::type *values, int g,
         int64_t first, typename S::type *to, int64_t chain_stride, int64_t place_stride)
{
#pragma unroll 1
    for (int index = (int)threadIdx.x; index < SUMS_ROWS * S::chains; index += (int)blockDim.x) {
        const int chain = index / SUMS_ROWS, k = index % SUMS_ROWS;
        const int place = source.place(g * SUMS_ROWS + k);
        if (place < a.dim && first + chain < a.chains)
            to[(first + chain) * chain_stride + place * place_stride] =
                values[k * S::stride + chain];
    }
}

/* All sweeps of a block.  `buffers`: two of values, two of normals.  `source` knows which group a
 * lane owns and where its coefficients are; it moves on with every step. */
template <typename S, int DIRECTION, typename Source>
static __device__ __forceinline__ void sums_run(const gbs_sweep_args &a, Source &source,
                                                int64_t group, int64_t first, int groups,
                                                typename S::type *buffers)
{
    typedef typename S::type T;
    T *const values = buffers, *const normals = buffers + 2 * S::buffer;
    const T *const from = (const T *)a.x + group * a.x_stride[0];
    T *const out = (T *)a.out + group * a.out_stride[0];
    const int64_t first_element = group * a.chains + first;
    const int64_t kept_stride = a.groups * a.chains * a.dim;
    const int g_first = turned<DIRECTION>(0, groups - 1), g_last = groups - 1 - g_first;
    const int warps = (int)blockDim.x / 32, own = source.own;
    const int mine = (int)threadIdx.x % (S::unit_step / S::unit) * S::unit;
    T r[SUMS_ROWS][S::chains_each] = {};
    sums_fetch<S>(a, source, from, g_first, first, values);
    sums_normals<S>(a, source, first_element, g_first, 0, (int)threadIdx.x / 32, normals);
    int g = g_first, buffer = 0;
    int64_t sweep = -1;
#pragma unroll 1
    for (;;) {
        source.wait();
        const T *const now = values + buffer * S::buffer;
        const T *const now_normals = normals + buffer * S::buffer;
        buffer = 1 - buffer;
        T *const next = values + buffer * S::buffer;
        const int g_next = g == g_last ? g_first : g + DIRECTION;
        const int64_t sweep_next = g == g_last ? sweep + 1 : sweep;
        const bool visited = DIRECTION > 0 ? own < g : own > g;

        if (own == g) {
            if (sweep + 1 < a.sweeps)
                sums_start<S, DIRECTION>(source.block(), source.block_rows(), source.scale(),
                                         source.centre(), a.relaxed != 0, (T)(1.0 - a.omega),
                                         now_normals + mine, now + mine, r);
        } else if (visited ? sweep + 1 < a.sweeps : sweep >= 0) {
            sums_add<S, DIRECTION>(source.columns(g), source.rows(), now + mine, r);
        }
        if (sweep_next < 0)
            sums_fetch<S>(a, source, from, g_next, first, next);
        else if (own == g_next && sweep_next < a.sweeps)
            sums_finish<S, DIRECTION>(source.next_block(), source.block_rows(), source.low(),
                                      source.high(), next + mine, r);
        if (sweep_next + 1 < a.sweeps)
            sums_normals<S>(a, source, first_element, g_next, sweep_next + 1, source.turn(g, warps),
                            normals + buffer * S::buffer);

        if (a.keep_every > 0 && sweep >= 0 && (sweep + 1) % a.keep_every == 0)
            sums_put<S>(a, source, now, g, first,
                        (T *)a.kept + ((sweep + 1) / a.keep_every - 1) * kept_stride +
                            group * a.chains * a.dim,
                        a.dim, 1);
        if (sweep + 1 == a.sweeps)
            sums_put<S>(a, source, now, g, first, out, a.out_stride[1], a.out_stride[2]);
        if (sweep + 1 == a.sweeps && g == g_last)
            break;
        g = g_next;
        sweep = sweep_next;
    }
    source.end();
}

/* ---- coefficients in shared memory: a warp to a group ---- */

template <typename T, int DIRECTION> struct sums_matrix {
    const T *at, *vectors; /* [column][row]; scales, then centres */
    int size, dim, own;

    __device__ __forceinline__ void wait() const
    {
        __syncthreads();
    }
    __device__ __forceinline__ void end() const {}
    __device__ __forceinline__ const T *columns(int g) const
    {
        return at + (g * size + own) * SUMS_ROWS;
    }
    __device__ __forceinline__ int rows() const
    {
        return size;
    }
    __device__ __forceinline__ const T *block() const
    {
        return columns(own);
    }
    __device__ __forceinline__ const T *next_block() const
    {
        return columns(own);
    }
    __device__ __forceinline__ int block_rows() const
    {
        return size;
    }
    __device__ __forceinline__ const T *scale() const
    {
        return vectors + own * SUMS_ROWS;
    }
    __device__ __forceinline__ const T *centre() const
    {
        return vectors + size + own * SUMS_ROWS;
    }
    __device__ __forceinline__ int low() const
    {
        return 0;
    }
    __device__ __forceinline__ int high() const
    {
        return dim - own * SUMS_ROWS;
    }
    __device__ __forceinline__ int place(int row) const
    {
        return row;
    }
    __device__ __forceinline__ bool turned_round() const
    {
        return false;
    }
    __device__ __forceinline__ int turn(int g, int warps) const
    {
        const int behind = DIRECTION > 0 ? g - own : own - g;
        return behind < 0 ? behind + warps : behind;
    }
};

/* Shared memory: coefficients [rows][rows], three vectors [rows], the buffers.  As many warps as
 * groups. */
template <typename T, int CHAINS, int DIRECTION>
__global__ void __launch_bounds__(32 * SUMS_MOST_WARPS, 1)
    sweep_sums(const __grid_constant__ gbs_sweep_args a)
{
    typedef sums_shape<T, CHAINS, 32, panel_unit<T>::width> shape;
    extern __shared__ __align__(32) unsigned char shared_bytes[];
    const int groups = (int)blockDim.x / 32, rows = groups * SUMS_ROWS;
    T *const at = (T *)shared_bytes, *const vectors = at + rows * rows;
    int64_t group, first;
    find_group(a, shape::chains, &group, &first);
    make_coefficients<T>(a, group, rows, rows, at, vectors, vectors + rows, vectors + 2 * rows);
    sums_matrix<T, DIRECTION> source = {at, vectors, rows, (int)a.dim, (int)threadIdx.x / 32};
    sums_run<shape, DIRECTION>(a, source, group, first, groups, vectors + 3 * rows);
}

template <typename T, int CHAINS> static size_t sums_kernel_bytes(int64_t dim)
{
    const size_t rows = (size_t)((dim + SUMS_ROWS - 1) / SUMS_ROWS * SUMS_ROWS);
    return sizeof(T) * (rows * rows + 3 * rows + 4 * (size_t)sums_shape<T, CHAINS, 32, 4>::buffer);
}

/* ---- coefficients from the workspace, as the tiles' packing lays them out ---- */

/* Columns come a group at a time, three steps ahead, with the group's record; rows are slots, in
 * the order of visit, and half a warp owns a group: warp w groups w and w + warps. */
#define SUMS_STAGES 4
#define SUMS_PACKED_ROWS 256

template <typename T> struct sums_stage {
    T a[SUMS_ROWS][SUMS_PACKED_ROWS];
    T record[PANEL_RECORD];
};

template <typename T> struct sums_packed {
    const T *packed, *records; /* of this model and direction */
    sums_stage<T> *stage;
    int stride, used; /* of a column in memory; its rows in use */
    int groups, slots, dim, own;
    bool backward;
    int step, coming; /* the step's stage; the group to ask for next */

    __device__ __forceinline__ void ask(int number)
    {
        constexpr int width = panel_unit<T>::width;
        sums_stage<T> *const to = stage + number % SUMS_STAGES;
        const T *const from = packed + (int64_t)coming * SUMS_ROWS * stride;
        const int units = used / width;
#pragma unroll 1
        for (int item = (int)threadIdx.x; item < SUMS_ROWS * units; item += (int)blockDim.x) {
            const int column = item / units, row = item % units * width;
            __pipeline_memcpy_async(&to->a[column][row], from + column * stride + row, 16);
        }
        for (int item = (int)threadIdx.x * width; item < PANEL_RECORD;
             item += (int)blockDim.x * width)
            __pipeline_memcpy_async(&to->record[item],
                                    records + (int64_t)coming * PANEL_RECORD + item, 16);
        __pipeline_commit();
        coming = coming + 1 == groups ? 0 : coming + 1;
    }
    __device__ __forceinline__ void begin()
    {
        step = -1;
        coming = 0;
#pragma unroll 1
        for (int number = 0; number < SUMS_STAGES - 1; ++number)
            ask(number);
    }
    /* This step's columns and the next one's record are there, and the step's before are done with.
     */
    __device__ __forceinline__ void wait()
    {
        __pipeline_wait_prior(SUMS_STAGES - 3);
        __syncthreads();
        step = (step + 1) % SUMS_STAGES;
        ask(step + SUMS_STAGES - 1);
    }
    __device__ __forceinline__ void end() const
    {
        __pipeline_wait_prior(0); /* for what was asked for beyond the last step */
    }
    __device__ __forceinline__ const T *columns(int) const
    {
        return &stage[step].a[0][0] + own / PANEL_GROUP * PANEL_SLAB +
               slab_index<T>(own % PANEL_GROUP, 0);
    }
    __device__ __forceinline__ int rows() const
    {
        return SUMS_PACKED_ROWS;
    }
    __device__ __forceinline__ const T *block() const
    {
        return stage[step].record;
    }
    __device__ __forceinline__ const T *next_block() const
    {
        return stage[(step + 1) % SUMS_STAGES].record;
    }
    __device__ __forceinline__ int block_rows() const
    {
        return SUMS_ROWS;
    }
    __device__ __forceinline__ const T *scale() const
    {
        return block() + RECORD_SCALE;
    }
    __device__ __forceinline__ const T *centre() const
    {
        return block() + RECORD_CENTRE;
    }
    __device__ __forceinline__ int low() const
    {
        return backward ? slots - dim - own * SUMS_ROWS : 0;
    }
    __device__ __forceinline__ int high() const
    {
        return backward ? SUMS_ROWS : dim - own * SUMS_ROWS;
    }
    __device__ __forceinline__ int place(int slot) const
    {
        return panel_place(slot, slots, backward);
    }
    __device__ __forceinline__ bool turned_round() const
    {
        return backward;
    }
    __device__ __forceinline__ int turn(int g, int warps) const
    {
        const int behind = (g < warps ? g : g - warps) - (int)threadIdx.x / 32;
        return behind < 0 ? behind + warps : behind;
    }
};

/* Shared memory: the stages, the buffers.  Half as many warps as groups. */
template <typename T, int CHAINS>
__global__ void __launch_bounds__(32 * SUMS_MOST_WARPS, 1)
    sweep_sums_packed(const __grid_constant__ gbs_sweep_args a,
                      const __grid_constant__ gbs_tile_args t)
{
    typedef sums_shape<T, CHAINS, 16, PANEL_GROUP * panel_unit<T>::width> shape;
    extern __shared__ __align__(32) unsigned char shared_bytes[];
    int64_t group, first;
    find_group(a, shape::chains, &group, &first);
    const int backward = a.first_direction < 0, warps = (int)blockDim.x / 32;
    sums_packed<T> source;
    source.packed = (const T *)t.packed[backward] + group * t.packed_group_stride;
    source.records = (const T *)t.records[backward] + group * t.record_group_stride;
    source.stage = (sums_stage<T> *)shared_bytes;
    source.stride = t.stride;
    source.used = t.rows;
    source.groups = t.groups;
    source.slots = t.groups * SUMS_ROWS;
    source.dim = (int)a.dim;
    source.own = (int)threadIdx.x / 32 + (threadIdx.x % 32 < 16 ? 0 : warps);
    source.backward = backward != 0;
    source.begin();
    sums_run<shape, 1>(a, source, group, first, t.groups,
                       (T *)(shared_bytes + SUMS_STAGES * sizeof(sums_stage<T>)));
}

template <typename T, int CHAINS> static constexpr size_t sums_packed_bytes(void)
{
    return SUMS_STAGES * sizeof(sums_stage<T>) +
           sizeof(T) * 4 * (size_t)sums_shape<T, CHAINS, 16, 4>::buffer;
}

#endif
