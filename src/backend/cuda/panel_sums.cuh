/* Parts of sweep_tiles that work on a panel's sums: normals, the start of a panel, a group of
 * columns to all its rows, and finishing a group.  Every sum is in the canonical order. */
#ifndef GBS_CUDA_PANEL_SUMS_CUH
#define GBS_CUDA_PANEL_SUMS_CUH

#include "backend/cuda/device_noise.cuh"
#include "backend/cuda/panel_shape.cuh"

/* What does not change while a block of threads works on one panel. */
template <typename T> struct panel_view {
    const T *packed;  /* the panel's columns */
    const T *records; /* all groups' */
    T *state;
    int64_t pass, model, first_chain;
    int groups, all; /* the panel's groups, and those of all panels */
    int first;       /* the panel's first group */
    int slots;       /* 8 all */
    bool backward;
};

/* Four normals of chain e from `place` on, of one kind of noise: a function of its own, so that
 * what it keeps in registers is known only where it is called. */
template <typename T, int KIND>
static __device__ __forceinline__ void other_normals(const gbs_sweep_args &a, int64_t pass,
                                                     bool backward, int place, int64_t e, T z[4])
{
    const gbs_noise_args &noise = a.noise;
    const gbs_philox_key key = noise_key<KIND>(noise);
    const gbs_philox_fixed fixed = native_pass(key, noise.first_chain + (uint64_t)e,
                                               noise.first_pass + (uint64_t)pass, noise.purpose);
    group_normals<T, KIND, 4>(a, key, fixed, torch_place_of(noise, key, e), torch_offset(noise),
                              pass, backward, place, e, z);
}

/* Normals of `count` slots from `slot` on (multiples of four) for the 32 chains, [slot][chain], by
 * all threads; four places of a chain at a time. */
template <typename T, int WARPS>
static __device__ __forceinline__ void panel_normals(const gbs_sweep_args &a,
                                                     const panel_view<T> &view, int64_t pass,
                                                     int slot, int count, T *z)
{
    const gbs_noise_args &noise = a.noise;
    const int chain = threadIdx.x % PANEL_CHAINS;
    const int64_t c = view.first_chain + chain, e = view.model * a.chains + (c < a.chains ? c : 0);
    const bool replayed = noise.device_seed != NULL;
    const gbs_philox_fixed fixed = native_pass(native_key(noise), noise.first_chain + (uint64_t)e,
                                               noise.first_pass + (uint64_t)pass, noise.purpose);
#pragma unroll 1
    for (int item = threadIdx.x / PANEL_CHAINS; item < count / 4; item += WARPS) {
        const int at = slot + 4 * item;
        const int place = view.backward ? view.slots - 4 - at : at;
        T four[4];
        if (noise.kind == GBS_STREAM_TORCH_CUDA)
            other_normals<T, GBS_STREAM_TORCH_CUDA>(a, pass, view.backward, place, e, four);
        else if (noise.kind == GBS_STREAM_GIVEN)
            other_normals<T, GBS_STREAM_GIVEN>(a, pass, view.backward, place, e, four);
        else if (replayed)
            other_normals<T, NATIVE_REPLAYED>(a, pass, view.backward, place, e, four);
        else
            native_group(native_key(noise), fixed, (uint32_t)place / 4, four);
#pragma unroll
        for (int k = 0; k < 4; ++k)
            z[(4 * item + (view.backward ? 3 - k : k)) * PANEL_CHAINS + chain] = four[k];
    }
}

/* A lane's rows of a group begin: s z + c, then A_ii x, then the group's own later places.  z is
 * the group's first row, at the lane's chains. */
template <typename T>
static __device__ __forceinline__ void start_group(const gbs_sweep_args &a,
                                                   const panel_view<T> &view, int group, int lane,
                                                   const T *z, T r[PANEL_GROUP][8])
{
    const T *const record = view.records + (int64_t)group * PANEL_RECORD;
    const T diagonal = (T)(1.0 - a.omega);
#pragma unroll
    for (int k = 0; k < PANEL_GROUP; ++k) {
        T normal[8];
        load_eight(z + k * PANEL_CHAINS, CHAIN_STEP(T), normal);
        const T s = record[RECORD_SCALE + k], centre = record[RECORD_CENTRE + k];
#pragma unroll
        for (int c = 0; c < 8; ++c)
            r[k][c] = vocab_fma(s, normal[c], centre);
    }
#pragma unroll
    for (int q = 0; q < PANEL_GROUP; ++q) {
        const int place = panel_place(group * PANEL_GROUP + q, view.slots, view.backward);
        T x[8];
        load_eight(view.state + place * PANEL_CHAINS + chain_index<T>(lane), CHAIN_STEP(T), x);
        if (a.relaxed) {
#pragma unroll
            for (int c = 0; c < 8; ++c)
                r[q][c] = vocab_fma(diagonal, x[c], r[q][c]);
        }
#pragma unroll
        for (int k = 0; k < q; ++k) {
            const T coefficient = record[q * PANEL_GROUP + k];
#pragma unroll
            for (int c = 0; c < 8; ++c)
                r[k][c] = vocab_fma(coefficient, x[c], r[k][c]);
        }
    }
}

/* A group of columns to the rows of halves FIRST .. LAST-1. */
template <typename T, int HALVES, int FIRST, int LAST, int ROWS>
static __device__ __forceinline__ void
add_columns(const T (*a)[ROWS], const T *x, const int row[HALVES], T r[HALVES][PANEL_GROUP][8])
{
#pragma unroll
    for (int column = 0; column < PANEL_GROUP; ++column) {
        T values[8];
        load_eight(x + column * PANEL_CHAINS, CHAIN_STEP(T), values);
#pragma unroll
        for (int half = FIRST; half < LAST; ++half) {
            T coefficient[PANEL_GROUP];
            load_eight(&a[column][row[half]], ROW_STEP(T), coefficient);
#pragma unroll
            for (int k = 0; k < PANEL_GROUP; ++k)
#pragma unroll
                for (int c = 0; c < 8; ++c)
                    r[half][k][c] = vocab_fma(coefficient[k], values[c], r[half][k][c]);
        }
    }
}

/* Finishes a group, a lane a chain: `handed`, `next` and the values are the lane's columns of
 * [8][32].  First come eight columns more, a[column * stride] with x before; then its own rows.
 * With `z` (the lane's normals of the next sweep) also the next sweep's sums start: s z + c, A_ii
 * x, the group's own later places. */
template <typename T>
static __device__ __forceinline__ void
finish_group(const gbs_sweep_args &a, const panel_view<T> &view, int group, int lane,
             const T *record, const T *columns, int stride, const T *before, const T *handed,
             const T *z, T *next_sums, T *x)
{
    T value[PANEL_GROUP];
#pragma unroll
    for (int k = 0; k < PANEL_GROUP; ++k)
        value[k] = handed[k * PANEL_CHAINS];
#pragma unroll
    for (int q = 0; q < PANEL_GROUP; ++q) {
        T coefficient[PANEL_GROUP];
        load_eight(columns + q * stride, ROW_STEP(T), coefficient);
        const T old = before[q * PANEL_CHAINS];
#pragma unroll
        for (int k = 0; k < PANEL_GROUP; ++k)
            value[k] = vocab_fma(coefficient[k], old, value[k]);
    }
    const bool backward = opaque(view.backward) != 0;
    const int first = panel_place(group * PANEL_GROUP, view.slots, backward);
    const int step = backward ? -1 : 1;
    T *const state = view.state + first * PANEL_CHAINS + lane;
#pragma unroll
    for (int q = 0; q < PANEL_GROUP; ++q) {
        value[q] = first + q * step < (int)a.dim ? value[q] : T(0);
        x[q * PANEL_CHAINS] = value[q];
        state[q * step * PANEL_CHAINS] = value[q];
        T own[PANEL_GROUP];
        load_eight(record + q * PANEL_GROUP, panel_unit<T>::width, own);
#pragma unroll
        for (int k = q + 1; k < PANEL_GROUP; ++k)
            value[k] = vocab_fma(own[k], value[q], value[k]);
    }
    if (z == NULL)
        return;
    const T diagonal = (T)(1.0 - a.omega);
    T next[PANEL_GROUP];
#pragma unroll
    for (int q = 0; q < PANEL_GROUP; ++q) {
        next[q] =
            vocab_fma(record[RECORD_SCALE + q], z[q * PANEL_CHAINS], record[RECORD_CENTRE + q]);
        if (a.relaxed)
            next[q] = vocab_fma(diagonal, value[q], next[q]);
        T own[PANEL_GROUP];
        load_eight(record + q * PANEL_GROUP, panel_unit<T>::width, own);
#pragma unroll
        for (int k = 0; k < q; ++k)
            next[k] = vocab_fma(own[k], value[q], next[k]);
    }
#pragma unroll
    for (int k = 0; k < PANEL_GROUP; ++k)
        next_sums[k * PANEL_CHAINS] = next[k];
}

#endif
