/* Many places: a block of threads takes 32 chains through all sweeps, a panel of rows at a time,
 * so that no two blocks ever wait for each other.  The panel's sums stay in registers while
 * groups of eight columns pass by in the canonical order ("right-looking"): the panel's own old
 * values, those of later panels, the new ones of earlier panels, its own new ones.
 *
 * The steps of a panel are one list, a group of columns each, with one barrier each.  When the next
 * step's columns are the panel's own new values, one warp, the finisher, meanwhile takes this step
 * to those rows and finishes them: the others never wait for a group to be finished.
 *
 * Where one panel holds all places and sweeps go one way, a finished group starts its next sums
 * at once and listens on: a new value to the rows behind is an old one to those before, so every
 * group of columns serves all rows once a sweep. */
#ifndef GBS_CUDA_TILES_CUH
#define GBS_CUDA_TILES_CUH

#include "backend/cuda/panel_sums.cuh"

#include <cuda_pipeline.h>

/* Sweeps that one walk over the steps may take, so that steps are counted in 32 bits. */
#define PANEL_WALK 65536

/* One step: which group's columns.  Steps 0 .. all-1 bring old values (the panel's own first) and
 * those of earlier panels; from then on the panel's own new ones, `sweeps` times. */
struct panel_step {
    int number, column; /* column: the group, counted over all panels */
    int own, sweep;     /* of a step that brings new values */
};

template <typename T>
static __device__ __forceinline__ panel_step next_step(const panel_view<T> &view, panel_step s)
{
    ++s.number;
    if (s.number <= view.all) {
        s.column = s.number == view.all ? view.first : s.column + 1 < view.all ? s.column + 1 : 0;
    } else {
        const bool around = s.own + 1 == view.groups;
        s.own = around ? 0 : s.own + 1;
        s.sweep += around;
        s.column = view.first + s.own;
    }
    return s;
}

/* The threads that ask for columns: the last four warps, one on each scheduler. */
#define PANEL_FETCHERS 128

/* Asks for a step's columns, of those rows that will take them; for x unless the panel makes it;
 * and for the record of the group that is finished meanwhile, whose new values the following step
 * brings. */
template <typename T, int HALVES, int WARPS>
static __device__ __forceinline__ void fetch_step(const panel_view<T> &view, const panel_step &s,
                                                  const panel_step &following, int sweeps,
                                                  panel_stage<T, HALVES, WARPS> *stage)
{
    constexpr int width = panel_unit<T>::width, stride = HALVES * WARPS * PANEL_SLAB;
    constexpr int units = stride / width; /* of a column */
    static_assert(PANEL_FETCHERS % units == 0 || units % PANEL_FETCHERS == 0,
                  "a fetcher takes the same rows of every column");
    const int item = (int)threadIdx.x - (32 * WARPS - PANEL_FETCHERS);
    const int steps = view.all + view.groups * sweeps;
    if (item < 0 || s.number >= steps)
        return;
    const bool last = s.number >= view.all && s.sweep + 1 == sweeps;
    const int low = last ? (s.own + 1) / 8 * PANEL_SLAB : 0;
    const int high = ((s.number < view.groups ? s.number : view.groups) + 7) / 8 * PANEL_SLAB;
    /* a loop, so that the compiler steps two pointers and does not make each address anew */
    constexpr int some = units < PANEL_FETCHERS ? PANEL_FETCHERS : units; /* units at a time */
    const T *from = view.packed + (int64_t)s.column * (PANEL_GROUP * stride) + item * width;
    T *to = &stage->a[0][0] + item * width;
#pragma unroll 1
    for (int k = 0; k < PANEL_GROUP * units; k += some) {
#pragma unroll
        for (int j = 0; j < some; j += PANEL_FETCHERS) {
            const int row = (item % units + j) * width;
            if (row >= low && row < high)
                __pipeline_memcpy_async(to + j * width, from + j * width, 16);
        }
        from += some * width;
        to += some * width;
    }
    constexpr int x_units = PANEL_CHAINS / width;
    if (s.number < view.all && item < PANEL_GROUP * x_units) {
        const int k = item / x_units, chain = item % x_units * width;
        const int place = panel_place(s.column * PANEL_GROUP + k, view.slots, view.backward);
        __pipeline_memcpy_async(&stage->x[k][chain], view.state + place * PANEL_CHAINS + chain, 16);
    }
    if (following.number >= view.all && following.number < steps && item < PANEL_RECORD / width)
        __pipeline_memcpy_async(
            &stage->record[item * width],
            view.records + (int64_t)following.column * PANEL_RECORD + item * width, 16);
}

/* s z + c of the panel's rows and what follows from its own lane.  A quarter of the panel's normals
 * at a time goes through a stage that is not in use yet. */
template <typename T, int HALVES, int WARPS>
static __device__ __forceinline__ void
start_panel(const gbs_sweep_args &a, const panel_view<T> &view, const int group[HALVES], int lane,
            T *z, T r[HALVES][PANEL_GROUP][8])
{
    constexpr int batch = HALVES * WARPS * PANEL_SLAB / 4;
    static_assert(sizeof(T[batch][PANEL_CHAINS]) <=
                      sizeof(T[PANEL_GROUP][HALVES * WARPS * PANEL_SLAB]),
                  "a stage holds a quarter of the panel's normals");
#pragma unroll
    for (int half = 0; half < HALVES; ++half)
#pragma unroll
        for (int k = 0; k < PANEL_GROUP; ++k)
#pragma unroll
            for (int c = 0; c < 8; ++c)
                r[half][k][c] = T(0);
    const int rows = view.groups * PANEL_GROUP;
#pragma unroll 1
    for (int row = 0; row < rows; row += batch) {
        panel_normals<T, WARPS>(a, view, view.pass, view.first * PANEL_GROUP + row,
                                rows - row < batch ? rows - row : batch, z);
        __syncthreads();
#pragma unroll
        for (int half = 0; half < HALVES; ++half) {
            const int at = group[half] * PANEL_GROUP - row;
            if (at >= 0 && at < batch && group[half] < view.groups)
                start_group<T>(a, view, view.first + group[half], lane,
                               z + at * PANEL_CHAINS + chain_index<T>(lane), r[half]);
        }
        __syncthreads();
    }
}

/* A lane's sums of the group it owns, to or from shared memory. */
template <typename T, int HALVES, bool STORE>
static __device__ __forceinline__ void pass_sums(T *sums, int lane, int half_of_group,
                                                 T r[HALVES][PANEL_GROUP][8])
{
#pragma unroll
    for (int half = 0; half < HALVES; ++half)
        if (half == half_of_group)
#pragma unroll
            for (int k = 0; k < PANEL_GROUP; ++k) {
                T *const at = sums + k * PANEL_CHAINS + chain_index<T>(lane);
                if (STORE)
                    store_eight(at, CHAIN_STEP(T), r[half][k]);
                else
                    load_eight(at, CHAIN_STEP(T), r[half][k]);
            }
}

/* The warp that finishes groups: one without rows of its own if there is one, else the first, whose
 * rows of the first half are done with soonest. */
template <int HALVES, int WARPS> static __device__ __forceinline__ int finisher_of(int groups)
{
    return HALVES == 1 && groups <= 8 * (WARPS - 1) ? warp_of_slab<WARPS>(WARPS - 1) : 0;
}

/* During step n the finisher takes this step's columns to the group whose new values step
 * n+1 brings, and finishes it; the group's sums without them were handed over in step n-1.  So
 * no sum waits for a value, and the finisher's latency hides behind the other warps' sums. */
template <typename T, int HALVES, int WARPS>
static __device__ __forceinline__ void walk_panel(const gbs_sweep_args &a, const gbs_tile_args &t,
                                                  const panel_view<T> &view, int sweeps,
                                                  panel_shared<T, HALVES, WARPS> *shared)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int stages = t.stages, steps = view.all + view.groups * sweeps;
    const int finisher = finisher_of<HALVES, WARPS>(view.groups);
    int group[HALVES], row[HALVES]; /* the lane's */
#pragma unroll
    for (int half = 0; half < HALVES; ++half) {
        const int slab = slab_of<WARPS>(warp, half);
        group[half] = slab * 8 + lane / 4;
        row[half] = slab * PANEL_SLAB + slab_index<T>(lane / 4, 0);
    }
    panel_step now = {0, view.first, 0, 0}, ahead = now;
    for (int stage = 0; stage < stages - 1; ++stage) {
        const panel_step following = next_step(view, ahead);
        fetch_step<T, HALVES, WARPS>(view, ahead, following, sweeps, &shared->stage[stage]);
        __pipeline_commit();
        ahead = following;
    }
    T r[HALVES][PANEL_GROUP][8];
    start_panel<T, HALVES, WARPS>(a, view, group, lane, &shared->stage[stages - 1].a[0][0], r);
    if (sweeps > 1)
        panel_normals<T, WARPS>(a, view, view.pass + 1, 0,
                                (view.groups < 8 ? view.groups : 8) * PANEL_GROUP,
                                &shared->z[0][0][0]);

    int use = 0, fill = stages - 1, z_parity = 0;
#pragma unroll 1
    while (now.number < steps) {
        if (stages == 2)
            __pipeline_wait_prior(0);
        else
            __pipeline_wait_prior(PANEL_STAGES - 2);
        __syncthreads();
        const panel_step following = next_step(view, ahead);
        fetch_step<T, HALVES, WARPS>(view, ahead, following, sweeps, &shared->stage[fill]);
        __pipeline_commit();
        ahead = following;
        const panel_stage<T, HALVES, WARPS> *const stage = &shared->stage[use];
        fill = use;
        use = use + 1 < stages ? use + 1 : 0;

        const panel_step next = next_step(view, now);
        const bool brings_new = now.number >= view.all;
        const bool finishes = next.number >= view.all && next.number < steps;
        const int parity = now.number & 1;
        /* the first group of eight to be finished: the normals of the eight after it */
        if (finishes && sweeps > 1 && next.own % 8 == 0) {
            z_parity ^= next.number > view.all;
            const bool wraps = next.own + 8 >= view.groups;
            const int begin = wraps ? 0 : next.own + 8, sweep = next.sweep + 1 + wraps;
            if (sweep < sweeps)
                panel_normals<T, WARPS>(a, view, view.pass + sweep, begin * PANEL_GROUP,
                                        (view.groups - begin < 8 ? view.groups - begin : 8) *
                                            PANEL_GROUP,
                                        &shared->z[z_parity ^ 1][0][0]);
        }
        if (finishes && warp == finisher) {
            const int own = opaque(next.own), to = opaque(parity ^ 1);
            const T *const from = brings_new ? &shared->x[to ^ 1][0][0] : &stage->x[0][0];
            finish_group<T>(
                a, view, view.first + own, lane, stage->record,
                &stage->a[0][own / 8 * PANEL_SLAB + slab_index<T>(own % 8, 0)],
                HALVES * WARPS * PANEL_SLAB, from + lane, &shared->handed[to ^ 1][0][lane],
                next.sweep + 1 < sweeps ? &shared->z[z_parity][own % 8 * PANEL_GROUP][lane] : NULL,
                &shared->next[to][0][lane], &shared->x[to][0][lane]);
        }

        /* Which halves take these columns; the group's own rows may take them in vain: they are
         * final, or their next sums are on their way. */
        const int high = now.number < view.groups ? now.number : view.groups;
        const int low = brings_new && now.sweep + 1 == sweeps ? now.own : -1;
        bool on[HALVES];
#pragma unroll
        for (int half = 0; half < HALVES; ++half)
            on[half] = group[half] < high && (group[half] | 7) > low;
        const T *const x =
            (brings_new ? &shared->x[parity][0][0] : &stage->x[0][0]) + chain_index<T>(lane);
        if (HALVES == 2 && on[0] && on[HALVES - 1])
            add_columns<T, HALVES, 0, HALVES>(stage->a, x, row, r);
        else if (on[0])
            add_columns<T, HALVES, 0, 1>(stage->a, x, row, r);
        else if (HALVES == 2 && on[HALVES - 1])
            add_columns<T, HALVES, HALVES - 1, HALVES>(stage->a, x, row, r);

        /* the group finished last step gets its next sums, the one finished next step is handed
         * over */
        if (brings_new && now.sweep + 1 < sweeps && lane / 4 == now.own % 8 &&
            warp == warp_of_slab<WARPS>(now.own / 8))
            pass_sums<T, HALVES, false>(&shared->next[parity][0][0], lane,
                                        half_of_slab<WARPS>(now.own / 8), r);
        const int hand = next.number + 1 == view.all   ? 0
                         : next.own + 1 == view.groups ? 0
                                                       : next.own + 1;
        if (next.number + 1 >= view.all && next.number + 1 < steps && lane / 4 == hand % 8 &&
            warp == warp_of_slab<WARPS>(hand / 8))
            pass_sums<T, HALVES, true>(&shared->handed[parity ^ 1][0][0], lane,
                                       half_of_slab<WARPS>(hand / 8), r);
        now = next;
    }
}

/* Copies the chains' values between the caller's array and the state, whose padding is zero.
 * Lanes run over places or chains, whichever lie closer together in the caller's array; places
 * go through shared memory, so that the state too is read and written in runs. */
template <typename T, int WARPS, bool OUT>
static __device__ __forceinline__ void copy_state(T *array, int64_t chain_stride,
                                                  int64_t place_stride, int64_t dim, int slots,
                                                  int64_t chains, T *state, T *scratch)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int count = chains < PANEL_CHAINS ? (int)chains : PANEL_CHAINS;
    __syncthreads();
    if (place_stride > chain_stride) {
        for (int place = warp; place < slots; place += WARPS) {
            const bool real = place < dim && lane < count;
            T *const at = array + lane * chain_stride + place * place_stride;
            if (!OUT)
                state[place * PANEL_CHAINS + lane] = real ? *at : T(0);
            else if (real)
                *at = state[place * PANEL_CHAINS + lane];
        }
        return;
    }
    T *const tile = scratch + warp * (32 * 33);
    for (int place = 32 * warp; place < slots; place += 32 * WARPS) {
        T *const at = array + (place + lane) * place_stride;
        if (OUT) {
#pragma unroll 8
            for (int k = 0; k < 32; ++k)
                if (place + k < slots)
                    tile[k * 33 + lane] = state[(place + k) * PANEL_CHAINS + lane];
            __syncwarp();
#pragma unroll 8
            for (int c = 0; c < 32; ++c)
                if (c < count && place + lane < dim)
                    at[c * chain_stride] = tile[lane * 33 + c];
        } else {
#pragma unroll 8
            for (int c = 0; c < 32; ++c)
                tile[lane * 33 + c] = c < count && place + lane < dim ? at[c * chain_stride] : T(0);
            __syncwarp();
#pragma unroll 8
            for (int k = 0; k < 32; ++k)
                if (place + k < slots)
                    state[(place + k) * PANEL_CHAINS + lane] = tile[k * 33 + lane];
        }
        __syncwarp();
    }
}

template <typename T, int HALVES, int WARPS, int BLOCKS>
__global__ void __launch_bounds__(32 * WARPS, BLOCKS)
    sweep_tiles(const __grid_constant__ gbs_sweep_args a, const __grid_constant__ gbs_tile_args t)
{
    extern __shared__ __align__(128) unsigned char shared_bytes[];
    panel_shared<T, HALVES, WARPS> *const shared = (panel_shared<T, HALVES, WARPS> *)shared_bytes;
    T *const scratch = &shared->stage[0].a[0][0];
    static_assert(sizeof(T[WARPS][32 * 33]) <= 2 * sizeof(panel_stage<T, HALVES, WARPS>),
                  "two stages hold the transposed tiles of copy_state");
    panel_view<T> view;
    find_group(a, PANEL_CHAINS, &view.model, &view.first_chain);
    view.all = t.groups;
    view.slots = t.groups * PANEL_GROUP;
    view.state = (T *)t.state + (int64_t)blockIdx.x * view.slots * PANEL_CHAINS;
    const int64_t chains = a.chains - view.first_chain,
                  e = view.model * a.chains + view.first_chain;
    copy_state<T, WARPS, false>(
        (T *)a.x + view.model * a.x_stride[0] + view.first_chain * a.x_stride[1], a.x_stride[1],
        a.x_stride[2], a.dim, view.slots, chains, view.state, scratch);
    const int64_t passes = a.sweeps * a.passes;
    for (int64_t pass = 0; pass < passes;) {
        view.pass = pass;
        view.backward = (pass % a.passes == 0) == (a.first_direction < 0);
        view.records = (const T *)t.records[view.backward] + view.model * t.record_group_stride;
        int64_t sweeps = 1;
        if (t.panels == 1 && a.passes == 1) {
            sweeps = passes - pass < PANEL_WALK ? passes - pass : PANEL_WALK;
            if (a.keep_every > 0 && a.keep_every - pass % a.keep_every < sweeps)
                sweeps = a.keep_every - pass % a.keep_every;
        }
        for (int panel = 0; panel < t.panels; ++panel) {
            const int groups = t.rows / PANEL_GROUP;
            view.first = panel * groups;
            view.groups = view.all - view.first < groups ? view.all - view.first : groups;
            view.packed = (const T *)t.packed[view.backward] + view.model * t.packed_group_stride +
                          (int64_t)panel * view.slots * (HALVES * WARPS * PANEL_SLAB);
            __syncthreads();
            walk_panel<T, HALVES, WARPS>(a, t, view, (int)sweeps, shared);
        }
        pass += sweeps;
        const int64_t done = pass / a.passes;
        if (a.keep_every > 0 && pass % a.passes == 0 && done % a.keep_every == 0)
            copy_state<T, WARPS, true>(
                (T *)a.kept + ((done / a.keep_every - 1) * a.groups * a.chains + e) * a.dim, a.dim,
                1, a.dim, view.slots, chains, view.state, scratch);
    }
    copy_state<T, WARPS, true>(
        (T *)a.out + view.model * a.out_stride[0] + view.first_chain * a.out_stride[1],
        a.out_stride[1], a.out_stride[2], a.dim, view.slots, chains, view.state, scratch);
}

#endif
