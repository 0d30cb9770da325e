/* A device library that runs the text of the kernels for whitened sweeps and sweeps within rows on
 * the host, thread by thread (cuda_on_host.h), from the plan that a GPU gets, packed by the code
 * that packs it for one.  Every run is made twice, with states in shared memory and in a workspace,
 * and fails where the two differ.  test_constrained_host holds it to the CPU's bits. */
#include "host_oracle.h"

#include <new>

#undef __grid_constant__
#define __grid_constant__
alignas(128) unsigned char shared_bytes_of_host[1 << 20];
#define shared_bytes shared_bytes_of_host
#undef __shared__
#define __shared__
#include "backend/cuda/constrained.cuh"
#undef shared_bytes
#include "backend/cuda/constrained_pack.cuh"

struct gbs_device {
    int32_t ordinal;
};

struct gbs_device_moments {
    int64_t count;
    std::vector<double> mean, m2;
};

namespace
{

/* Arrays as a device's memory has them: groups of four elements are read at once. */
struct memory {
    void *at = NULL;
    size_t bytes = 0;
    void take(size_t wanted)
    {
        bytes = wanted;
        at = ::operator new(wanted + 256, std::align_val_t(256));
        memset(at, 0, wanted + 256);
    }
    void take(const void *from, size_t wanted)
    {
        take(wanted);
        memcpy(at, from, wanted);
    }
    memory() = default;
    memory(const memory &) = delete;
    memory &operator=(const memory &) = delete;
    ~memory()
    {
        ::operator delete(at, std::align_val_t(256));
    }
};

} // namespace

struct gbs_device_sampler {
    gbs_device_plan plan;
    int64_t state, passes;
    memory columns, scale, centre, lower, upper, flags, site, place; /* sweep_rows' model */
    memory panels, boxes, kind, entry_start, entries, move_start, move_row, moves;
    memory x, noise, kept;
    int rows;
    constrained_arrays steps;
};

namespace
{

size_t size_of_type(gbs_type type)
{
    return type == GBS_F32 ? sizeof(float) : sizeof(double);
}

gbs_status failed(gbs_device_message message, const char *text)
{
    snprintf(message.text, message.bytes, "%s", text);
    return GBS_ERROR_UNAVAILABLE;
}

/* ---- planning ---- */

template <typename T> void take_sweeps(gbs_device_sampler *s, const gbs_device_plan *plan)
{
    const size_t dim = (size_t)plan->dim, rows = (size_t)whole_groups(plan->dim);
    const T *const matrix = (const T *)plan->coefficients;
    for (memory *const m : {&s->scale, &s->centre, &s->lower, &s->upper})
        m->take(rows * sizeof(T));
    memcpy(s->scale.at, plan->scale, dim * sizeof(T));
    memcpy(s->centre.at, plan->centre, dim * sizeof(T));
    memcpy(s->lower.at, plan->lower, dim * sizeof(T));
    memcpy(s->upper.at, plan->upper, dim * sizeof(T));
    s->columns.take(dim * rows * sizeof(T));
    for (size_t q = 0; q < dim; ++q)
        for (size_t p = 0; p < dim; ++p)
            ((T *)s->columns.at)[q * rows + p] = matrix[p * dim + q];
    s->flags.take(rows);
    pack_flags(plan->kind, plan->dim, (uint8_t *)s->flags.at);
}

template <typename T> void take_whitened(gbs_device_sampler *s, const gbs_device_plan *plan)
{
    s->panels.take((size_t)pack_panels(plan->dim) * sizeof(number_pair<T>));
    s->boxes.take((size_t)plan->dim * sizeof(number_pair<T>));
    pack_whitened(plan, (number_pair<T> *)s->panels.at);
    pack_boxes(plan, (number_pair<T> *)s->boxes.at);
    s->kind.take(plan->kind, (size_t)plan->dim);
}

template <typename T> void take_rows(gbs_device_sampler *s, const gbs_device_plan *plan)
{
    const gbs_row_lists *const rows = plan->rows;
    const size_t count = (size_t)rows->rows, dim = (size_t)plan->dim,
                 moves = (size_t)pack_moves(rows, plan->dim);
    s->rows = (int)count;
    if (count == 0)
        return;
    s->entries.take((size_t)pack_entries(rows) * sizeof(row_entry<T>));
    s->moves.take(moves * sizeof(row_move<T>));
    s->move_row.take(moves * sizeof(int32_t));
    s->entry_start.take(rows->entry_start, (count + 1) * sizeof(int64_t));
    s->move_start.take(rows->move_start, (dim + 1) * sizeof(int64_t));
    pack_row_entries(rows, (row_entry<T> *)s->entries.at);
    pack_row_moves(rows, plan->dim, (int32_t *)s->move_row.at, (row_move<T> *)s->moves.at);
}

template <typename T> void take_all(gbs_device_sampler *s, const gbs_device_plan *plan)
{
    take_rows<T>(s, plan);
    if (plan->method == GBS_METHOD_WHITENED)
        take_whitened<T>(s, plan);
    else
        take_sweeps<T>(s, plan);
}

void end_sampler(gbs_device_sampler *sampler)
{
    delete sampler;
}

gbs_status plan_sampler(gbs_device *, const gbs_device_plan *plan, gbs_device_sampler **out,
                        gbs_device_message message)
{
    *out = NULL;
    if (plan->kind == NULL)
        return failed(message, "only whitened sweeps, and sweeps within rows");
    gbs_device_sampler *const s = new gbs_device_sampler();
    s->plan = *plan;
    s->state = plan->dim * plan->chains;
    s->passes = plan->order == GBS_ORDER_SYMMETRIC ? 2 : 1;
    const size_t bytes = (size_t)s->state * size_of_type(plan->type);
    if (plan->type == GBS_F32)
        take_all<float>(s, plan);
    else
        take_all<double>(s, plan);
    if (plan->site != NULL)
        s->site.take(plan->site, (size_t)plan->dim * sizeof *plan->site);
    if (plan->place != NULL)
        s->place.take(plan->place, (size_t)plan->dim * sizeof *plan->place);
    s->x.take(bytes);
    s->kept.take((size_t)plan->kept_draws * bytes);
    if (plan->stream == GBS_STREAM_GIVEN)
        s->noise.take((size_t)plan->noise_passes * bytes);
    s->steps = {s->panels.at,  s->boxes.at,      s->kind.at,     s->entry_start.at,
                s->entries.at, s->move_start.at, s->move_row.at, s->moves.at};
    *out = s;
    return GBS_OK;
}

/* ---- running ---- */

template <typename T> constrained_args<T> host_args; /* of the run that is being made */

template <typename T, bool SHARED> void rows_body(void)
{
    sweep_rows<T, SHARED>(host_args<T>);
}

template <typename T, bool SHARED> void whitened_body(void)
{
    sweep_whitened<T, SHARED>(host_args<T>);
}

template <typename T>
bounded_args<T> bounded_arguments(gbs_device_sampler *s, const gbs_device_run *run)
{
    const gbs_device_plan *const plan = &s->plan;
    bounded_args<T> a;
    memset(&a, 0, sizeof a);
    a.groups = a.models = 1;
    a.dim = plan->dim;
    a.chains = plan->chains;
    a.columns = (const T *)s->columns.at;
    a.scale = (const T *)s->scale.at;
    a.centre = (const T *)s->centre.at;
    a.lower = (const T *)s->lower.at;
    a.upper = (const T *)s->upper.at;
    a.bounded = (const uint8_t *)s->flags.at;
    a.site = (const int64_t *)s->site.at;
    for (uint32_t round = 0; round < 10; ++round) {
        a.key[round][0] = (uint32_t)plan->seed + round * 0x9E3779B9u;
        a.key[round][1] = (uint32_t)(plan->seed >> 32) + round * 0xBB67AE85u;
    }
    a.passes = (int32_t)s->passes;
    a.first_pass = (uint64_t)run->first_sweep * (uint64_t)a.passes;
    a.first_chain = (uint64_t)plan->first_chain;
    a.given = (const T *)s->noise.at;
    a.x = a.out = (T *)s->x.at;
    a.x_stride[1] = a.out_stride[1] = plan->dim;
    a.x_stride[2] = a.out_stride[2] = 1;
    a.sweeps = run->sweeps;
    a.first_direction = plan->order == GBS_ORDER_BACKWARD ? -1 : 1;
    a.keep_every = run->keep_every;
    a.kept = (T *)s->kept.at + run->keep_from * s->state;
    return a;
}

/* Runs the kernel from x, with states where `shared` says. */
template <typename T> void run_kernel(gbs_device_sampler *s, const gbs_device_run *run, bool shared)
{
    static uint64_t order = 5;
    const bool whitened = s->plan.method == GBS_METHOD_WHITENED;
    const int threads = whitened ? WHITENED_THREADS : BOUNDED_THREADS;
    std::vector<T> workspace((size_t)((s->plan.dim + s->rows) * s->plan.chains), T(NAN));
    bounded_args<T> chains = bounded_arguments<T>(s, run);
    chains.workspace = shared ? NULL : workspace.data();
    host_args<T> = constrained_arguments(chains, s->rows, &s->steps);
    if (whitened)
        on_host::body = shared ? whitened_body<T, true> : whitened_body<T, false>;
    else
        on_host::body = shared ? rows_body<T, true> : rows_body<T, false>;
    for (int64_t b = 0; b < (s->plan.chains + threads - 1) / threads; ++b) {
        blockIdx.x = (unsigned)b;
        memset(shared_bytes_of_host, 0xFF, sizeof shared_bytes_of_host);
        on_host::run_block(threads, &order);
    }
}

template <typename T>
gbs_status run_typed(gbs_device_sampler *s, const gbs_device_run *run, gbs_device_message message)
{
    const size_t most = (size_t)(s->plan.dim + s->rows) * BOUNDED_THREADS * sizeof(T) +
                        (size_t)(s->plan.dim + 5) * (size_t)(s->plan.dim + 8) * sizeof(T);
    const std::vector<T> before((T *)s->x.at, (T *)s->x.at + s->state);
    if (most > sizeof shared_bytes_of_host)
        return failed(message, "a case too large for the test's shared memory");
    run_kernel<T>(s, run, true);
    const std::vector<T> after((T *)s->x.at, (T *)s->x.at + s->state);
    const std::vector<unsigned char> kept((unsigned char *)s->kept.at,
                                          (unsigned char *)s->kept.at + s->kept.bytes);
    memcpy(s->x.at, before.data(), before.size() * sizeof(T));
    run_kernel<T>(s, run, false);
    if (memcmp(after.data(), s->x.at, after.size() * sizeof(T)) != 0 ||
        memcmp(kept.data(), s->kept.at, kept.size()) != 0)
        return failed(message, "states in shared memory and in a workspace differ");
    return GBS_OK;
}

gbs_status run_sampler(gbs_device_sampler *s, const gbs_device_run *run, gbs_device_message message)
{
    return s->plan.type == GBS_F32 ? run_typed<float>(s, run, message)
                                   : run_typed<double>(s, run, message);
}

/* ---- the rest of the seam ---- */

gbs_status open_device(int32_t ordinal, const gbs_allocator *, const gbs_allocator *,
                       gbs_device **out, gbs_device_message)
{
    *out = new gbs_device{ordinal};
    return GBS_OK;
}

void close_device(gbs_device *device)
{
    delete device;
}

const char *kernel_name(const gbs_device_sampler *s)
{
    return s->plan.method == GBS_METHOD_WHITENED ? "whitened on the host" : "rows on the host";
}

gbs_status put_state(gbs_device_sampler *s, const void *x, gbs_device_message)
{
    memcpy(s->x.at, x, s->x.bytes);
    return GBS_OK;
}

gbs_status put_noise(gbs_device_sampler *s, int64_t pass, const void *z, gbs_device_message)
{
    memcpy((char *)s->noise.at + (size_t)pass * s->x.bytes, z, s->x.bytes);
    return GBS_OK;
}

gbs_status get_draws(gbs_device_sampler *s, int64_t first, int64_t count, void *x,
                     gbs_device_message)
{
    const void *const from =
        count > 0 ? (char *)s->kept.at + (size_t)first * s->x.bytes : (char *)s->x.at;
    memcpy(x, from, (size_t)(count > 0 ? count : 1) * s->x.bytes);
    return GBS_OK;
}

gbs_status moments_create(gbs_device *, int64_t chains, int64_t dim, gbs_device_moments **out,
                          gbs_device_message)
{
    const std::vector<double> zeros((size_t)(chains * dim));
    *out = new gbs_device_moments{chains * dim, zeros, zeros};
    return GBS_OK;
}

void moments_destroy(gbs_device_moments *moments)
{
    delete moments;
}

gbs_status moments_put(gbs_device_moments *moments, const double *mean, const double *m2,
                       gbs_device_message)
{
    moments->mean.assign(mean, mean + moments->count);
    moments->m2.assign(m2, m2 + moments->count);
    return GBS_OK;
}

gbs_status moments_get(gbs_device_moments *moments, double *mean, double *m2, gbs_device_message)
{
    memcpy(mean, moments->mean.data(), moments->mean.size() * sizeof *mean);
    memcpy(m2, moments->m2.data(), moments->m2.size() * sizeof *m2);
    return GBS_OK;
}

gbs_status accumulate(gbs_device_sampler *s, gbs_device_moments *moments, int64_t first,
                      int64_t count, int64_t seen, gbs_device_message)
{
    const int64_t *const place = (const int64_t *)s->place.at;
    for (int64_t at = 0; at < s->state; ++at)
        for (int64_t draw = 0; draw < count; ++draw) {
            const int64_t i = at % s->plan.dim, from = (first + draw) * s->state + at - i +
                                                       (place != NULL ? place[i] : i);
            const double x = s->plan.type == GBS_F32 ? (double)((const float *)s->kept.at)[from]
                                                     : ((const double *)s->kept.at)[from];
            double *const mean = &moments->mean[(size_t)at], *const m2 = &moments->m2[(size_t)at];
            const double d = x - *mean;
            *mean += d / (double)(seen + draw + 1);
            *m2 = fma(d, x - *mean, *m2);
        }
    return GBS_OK;
}

} // namespace

extern "C" GBS_API const gbs_device_functions *gbs_cuda_device_functions(void)
{
    static const gbs_device_functions functions = {
        GBS_DEVICE_VERSION, open_device,     close_device, plan_sampler, end_sampler,
        kernel_name,        put_state,       put_noise,    run_sampler,  get_draws,
        moments_create,     moments_destroy, moments_put,  moments_get,  accumulate,
    };
    return &functions;
}
