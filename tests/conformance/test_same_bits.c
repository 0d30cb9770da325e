/* One model, one seed, one answer: the same bits on every instruction set, however the chains are
 * split into batches and the sweeps into runs, whether draws are kept or not, with any number of
 * threads.  Prints the table,
 * and a checksum that must be the same on every machine and from every compiler, so that it is
 * frozen with GBS_STREAM_NATIVE_VERSION.  The models are made of exact arithmetic for that. */
#include "backend/backend.h"
#include "core/cpu.h"
#include "exact/trial.h"
#include "sampler/sampler_internal.h"

#include <stdio.h>

#define FROZEN_CHECKSUM UINT64_C(0xd8cd2ed364b3035c)

enum { SWEEPS = 6, THIN = 2, MOST_INSTANCES = 4, WAYS = 7, COUNTS = 3 };

static const char *const ways[WAYS] = {"whole",  "batches", "singles", "pieces",
                                       "resume", "draws",   "threads"};
static const int32_t thread_counts[COUNTS] = {2, 3, 7};

/* A kernel table to run on.  `table` replaces the context's choice: the plain C kernels, whose fma
 * is a function, are never chosen where there is an instruction. */
typedef struct instance {
    gbs_context *ctx;
    gbs_context *threaded[COUNTS];
    const gbs_kernels *table;
    char kernel[2][48]; /* by type, as the sampler says */
} instance;

typedef struct instances {
    instance at[MOST_INSTANCES];
    int count;
} instances;

/* One row of the table. */
typedef struct row {
    int64_t dim, chains;
    gbs_type type;
    gbs_method method;
    gbs_order order;
    double w;
    const double *q, *location;
    gbs_matrix matrix;
    const char *what;
} row;

/* What a row must give: states after each sweep or draw, [SWEEPS, B, D] of its type, and moments.
 */
typedef struct answer {
    char *states;
    double *mean, *m2; /* [B, D] over every THIN-th state */
} answer;

static size_t state_bytes(const row *r)
{
    return (size_t)(r->chains * r->dim) * type_size(r->type);
}

static gbs_sampler_spec spec_for(const row *r, const int64_t *permutation)
{
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    spec.type = r->type;
    spec.method = r->method;
    spec.chains = r->chains;
    spec.first_chain = 1000;
    spec.first_sweep = 20;
    spec.seed = UINT64_C(0x0123456789abcdef);
    spec.order = r->order;
    spec.omega = r->w;
    spec.permutation = r->order == GBS_ORDER_PERMUTED ? permutation : NULL;
    return spec;
}

static gbs_sampler *sampler_on(instance *on, gbs_model *model, const gbs_sampler_spec *spec)
{
    gbs_sampler *const sampler = new_sampler(on->ctx, model, spec);
    if (on->table != NULL)
        sampler->kernels = on->table;
    snprintf(on->kernel[spec->type], sizeof on->kernel[0], "%s", gbs_sampler_kernel(sampler));
    return sampler;
}

/* ---- the ways of running; each returns 1 if the final states have the expected bits ---- */

typedef struct run {
    instance *on;
    gbs_model *model;
    const row *r;
    gbs_sampler_spec spec;
    const answer *expected;
    char *x; /* room for one state */
} run;

static const char *state_after(const run *n, int64_t sweeps)
{
    return n->expected->states + (size_t)(sweeps - 1) * state_bytes(n->r);
}

static int final_state_is(run *n, gbs_sampler *sampler, int64_t first, int64_t chains)
{
    const size_t row_bytes = (size_t)n->r->dim * type_size(n->r->type);
    must(n->on->ctx, gbs_sampler_get_state(sampler, n->x));
    return memcmp(n->x, state_after(n, SWEEPS) + (size_t)first * row_bytes,
                  (size_t)chains * row_bytes) == 0;
}

static int run_whole(run *n)
{
    gbs_sampler *const sampler = sampler_on(n->on, n->model, &n->spec);
    must(n->on->ctx, gbs_sampler_run(sampler, SWEEPS));
    const int same = final_state_is(n, sampler, 0, n->r->chains);
    gbs_sampler_destroy(sampler);
    return same;
}

static int run_batch(run *n, int64_t first, int64_t chains)
{
    gbs_sampler_spec spec = n->spec;
    spec.first_chain += first;
    spec.chains = chains;
    gbs_sampler *const sampler = sampler_on(n->on, n->model, &spec);
    must(n->on->ctx, gbs_sampler_run(sampler, SWEEPS));
    const int same = final_state_is(n, sampler, first, chains);
    gbs_sampler_destroy(sampler);
    return same;
}

static int run_batches(run *n)
{
    const int64_t a = n->r->chains / 3, b = n->r->chains / 7;
    return run_batch(n, 0, a) && run_batch(n, a, b) && run_batch(n, a + b, n->r->chains - a - b);
}

/* Every chain alone where sweeps are cheap, else every 23rd. */
static int run_singles(run *n)
{
    int same = 1;
    for (int64_t chain = 0; chain < n->r->chains; chain += n->r->dim <= 5 && !quick() ? 1 : 23)
        same &= run_batch(n, chain, 1);
    return same;
}

static int run_pieces(run *n)
{
    gbs_sampler *const sampler = sampler_on(n->on, n->model, &n->spec);
    int same = 1;
    for (int64_t done = 0, piece = 0; done < SWEEPS; done += piece, piece = piece == 1 ? 2 : 1) {
        must(n->on->ctx, gbs_sampler_run(sampler, piece));
        must(n->on->ctx, gbs_sampler_get_state(sampler, n->x));
        if (done + piece > 0)
            same &= memcmp(n->x, state_after(n, done + piece), state_bytes(n->r)) == 0;
    }
    gbs_sampler_destroy(sampler);
    return same;
}

/* A sampler that stops after two, another that takes over. */
static int run_resume(run *n)
{
    gbs_sampler *const sampler = sampler_on(n->on, n->model, &n->spec);
    must(n->on->ctx, gbs_sampler_run(sampler, 2));
    must(n->on->ctx, gbs_sampler_get_state(sampler, n->x));
    gbs_sampler_spec spec = n->spec;
    spec.first_sweep = gbs_sampler_next_sweep(sampler);
    gbs_sampler_destroy(sampler);
    if (spec.method == GBS_METHOD_GIBBS) {
        spec.start = GBS_START_GIVEN;
        spec.initial = n->x;
        spec.initial_rows = spec.chains;
    }
    gbs_sampler *const next = sampler_on(n->on, n->model, &spec);
    must(n->on->ctx, gbs_sampler_run(next, SWEEPS - 2));
    const int same = final_state_is(n, next, 0, n->r->chains);
    gbs_sampler_destroy(next);
    return same;
}

static int check_draw(void *user, int64_t draw, const void *x)
{
    const run *const n = user;
    const int64_t thin = n->r->method == GBS_METHOD_EXACT ? 1 : THIN;
    return memcmp(x, state_after(n, (draw + 1) * thin), state_bytes(n->r)) != 0;
}

/* Kept draws in an array and through a callback, and moments over them. */
static int run_draws(run *n)
{
    const row *const r = n->r;
    const int64_t thin = r->method == GBS_METHOD_EXACT ? 1 : THIN, draws = SWEEPS / thin;
    const size_t row_bytes = (size_t)r->dim * type_size(r->type);
    char *const out = calloc((size_t)draws, state_bytes(r));
    gbs_moments *moments = NULL;
    must(n->on->ctx, gbs_moments_create(n->on->ctx, r->chains, r->dim, &moments));
    gbs_sampler *const sampler = sampler_on(n->on, n->model, &n->spec);
    const gbs_sink sink = {.out = out, .callback = check_draw, .user = n, .moments = moments};
    int same = gbs_sampler_sample(sampler, draws, thin, &sink) == GBS_OK;
    for (int64_t chain = 0; chain < r->chains; ++chain)
        for (int64_t draw = 0; draw < draws; ++draw)
            same &= memcmp(out + (size_t)(chain * draws + draw) * row_bytes,
                           state_after(n, (draw + 1) * thin) + (size_t)chain * row_bytes,
                           row_bytes) == 0;
    const size_t moment_bytes = (size_t)(r->chains * r->dim) * sizeof(double);
    same &= memcmp(gbs_moments_mean(moments), n->expected->mean, moment_bytes) == 0 &&
            memcmp(gbs_moments_m2(moments), n->expected->m2, moment_bytes) == 0;
    gbs_moments_destroy(moments);
    gbs_sampler_destroy(sampler);
    free(out);
    return same;
}

/* Draws kept without a callback, when each block goes through all of them by itself. */
static int run_quiet_draws(run *n)
{
    const row *const r = n->r;
    const int64_t thin = r->method == GBS_METHOD_EXACT ? 1 : THIN, draws = SWEEPS / thin;
    char *const out = calloc((size_t)draws, state_bytes(r));
    gbs_moments *moments = NULL;
    must(n->on->ctx, gbs_moments_create(n->on->ctx, r->chains, r->dim, &moments));
    gbs_sampler *const sampler = sampler_on(n->on, n->model, &n->spec);
    const gbs_sink sink = {.out = out,
                           .chain_stride = r->dim,
                           .draw_stride = r->chains * r->dim,
                           .site_stride = 1,
                           .moments = moments};
    int same = gbs_sampler_sample(sampler, draws, thin, &sink) == GBS_OK;
    for (int64_t draw = 0; draw < draws; ++draw)
        same &= memcmp(out + (size_t)draw * state_bytes(r), state_after(n, (draw + 1) * thin),
                       state_bytes(r)) == 0;
    const size_t moment_bytes = (size_t)(r->chains * r->dim) * sizeof(double);
    same &= memcmp(gbs_moments_mean(moments), n->expected->mean, moment_bytes) == 0 &&
            memcmp(gbs_moments_m2(moments), n->expected->m2, moment_bytes) == 0;
    gbs_moments_destroy(moments);
    gbs_sampler_destroy(sampler);
    free(out);
    return same;
}

/* On several threads, with the same kernels. */
static int run_threads(run *n)
{
    int same = 1;
    for (int k = 0; k < COUNTS; ++k) {
        instance on = *n->on;
        run threaded = *n;
        on.ctx = n->on->threaded[k];
        threaded.on = &on;
        same &= run_whole(&threaded) && run_draws(&threaded) && run_quiet_draws(&threaded);
    }
    return same;
}

/* ---- the reference: the scalar instance, sweep by sweep ---- */

static answer find_answer(run *n)
{
    const row *const r = n->r;
    const int64_t size = r->chains * r->dim, thin = r->method == GBS_METHOD_EXACT ? 1 : THIN;
    answer a = {calloc(SWEEPS, state_bytes(r)), naive_new(size), naive_new(size)};
    gbs_sampler *const sampler = sampler_on(n->on, n->model, &n->spec);
    double count = 0;
    for (int64_t sweep = 0; sweep < SWEEPS; ++sweep) {
        char *const x = a.states + (size_t)sweep * state_bytes(r);
        must(n->on->ctx, gbs_sampler_run(sampler, 1));
        must(n->on->ctx, gbs_sampler_get_state(sampler, x));
        if ((sweep + 1) % thin != 0)
            continue;
        ++count;
        for (int64_t at = 0; at < size; ++at) { /* Welford's recurrence */
            const double value = element(r->type, x, at), d = value - a.mean[at];
            a.mean[at] += d / count;
            a.m2[at] = fma(d, value - a.mean[at], a.m2[at]);
        }
    }
    gbs_sampler_destroy(sampler);
    return a;
}

static void free_answer(answer *a)
{
    free(a->states);
    free(a->mean);
    free(a->m2);
}

/* FNV-1a over the bits of the values, in the order of their significance. */
static uint64_t checksum(uint64_t sum, const row *r, const void *x, int64_t count)
{
    for (int64_t at = 0; at < count; ++at) {
        uint64_t bits = 0;
        uint32_t narrow;
        if (r->type == GBS_F32) {
            memcpy(&narrow, (const float *)x + at, sizeof narrow);
            bits = narrow;
        } else {
            memcpy(&bits, (const double *)x + at, sizeof bits);
        }
        for (int byte = 0; byte < 8; ++byte)
            sum = (sum ^ ((bits >> (8 * byte)) & 255)) * UINT64_C(0x100000001b3);
    }
    return sum;
}

/* ---- the table ---- */

static gbs_model *model_for(instance *on, const row *r)
{
    gbs_model_spec spec = spec_of(r->q, r->dim);
    spec.matrix_kind = r->matrix;
    spec.location_kind = r->location != NULL ? GBS_LOCATION_MEAN : GBS_LOCATION_ZERO;
    spec.location = r->location;
    return new_model(on->ctx, &spec);
}

/* Runs a row in every way on every instance and prints it; counts what differs. */
static int check_row(instances *all, const row *r, uint64_t *sum)
{
    static int (*const run_way[WAYS])(run *) = {run_whole,  run_batches, run_singles, run_pieces,
                                                run_resume, run_draws,   run_threads};
    int64_t *const permutation = calloc((size_t)r->dim, sizeof *permutation);
    shuffle(r->dim, 5, permutation);
    gbs_model *const first = model_for(&all->at[0], r);
    run n = {&all->at[0], first, r, spec_for(r, permutation), NULL, malloc(state_bytes(r))};
    answer expected = find_answer(&n);
    n.expected = &expected;
    *sum = checksum(*sum, r, expected.states, SWEEPS * r->chains * r->dim);
    int different = 0;
    printf("  %-5s %-4s %-9s %4lld %5lld %4.1f ", r->what, type_name(r->type),
           r->method == GBS_METHOD_EXACT ? "exact" : order_name(r->order), (long long)r->dim,
           (long long)r->chains, r->w);
    for (int k = 0; k < all->count; ++k) {
        char marks[WAYS + 1] = "";
        n.on = &all->at[k];
        n.model = model_for(n.on, r);
        for (int way = 0; way < WAYS; ++way) {
            const int same = run_way[way](&n);
            marks[way] = same ? '=' : 'X';
            different += !same;
        }
        gbs_model_release(n.model);
        printf(" %-10s", marks);
    }
    printf(" %016llx\n", (unsigned long long)*sum);
    gbs_model_release(first);
    free_answer(&expected);
    free(n.x);
    free(permutation);
    return different;
}

static int check_orders(instances *all, row r, uint64_t *sum)
{
    int different = 0;
    for (r.type = GBS_F32; r.type <= GBS_F64; ++r.type) {
        r.method = GBS_METHOD_GIBBS;
        for (r.order = GBS_ORDER_FORWARD; r.order <= GBS_ORDER_PERMUTED; ++r.order) {
            r.w = r.order == GBS_ORDER_BACKWARD || r.order == GBS_ORDER_SYMMETRIC ? 1.3 : 1;
            different += check_row(all, &r, sum);
        }
        r.method = GBS_METHOD_EXACT;
        r.order = GBS_ORDER_FORWARD;
        r.w = 1;
        different += check_row(all, &r, sum);
    }
    return different;
}

/* Case C38: correlation 0.7 everywhere, given as precision; variances from 5.8e-5 to 5.8e-2, as
 * covariance. */
static int check_c38(instances *all, uint64_t *sum)
{
    double five[25], ten[100], sd[10], variance = 5.8e-5;
    for (int k = 0; k < 25; ++k)
        five[k] = k % 6 == 0 ? 2.719298246 : -0.614035088;
    for (int i = 0; i < 10; ++i, variance *= 2.15443469003188)
        sd[i] = sqrt(variance);
    for (int i = 0; i < 10; ++i)
        for (int j = 0; j <= i; ++j) {
            double correlation = 1;
            for (int k = j; k < i; ++k)
                correlation *= -0.6;
            ten[i * 10 + j] = ten[j * 10 + i] = correlation * sd[i] * sd[j];
        }
    const row a = {.dim = 5, .chains = 64, .q = five, .what = "C38a"};
    const row b = {
        .dim = 10, .chains = 37, .q = ten, .matrix = GBS_MATRIX_COVARIANCE, .what = "C38b"};
    return check_orders(all, a, sum) + check_orders(all, b, sum);
}

static void print_instances(const instances *all)
{
    printf("kernels that ran:\n");
    for (int k = 0; k < all->count; ++k)
        printf("  %d: %s %s\n", k, all->at[k].kernel[GBS_F32], all->at[k].kernel[GBS_F64]);
}

/* The kernels' names say what ran: one of each instruction set that the processor has. */
static void check_instances(const instances *all)
{
    static const char *const suffixes[] = {"_scalar", "_avx2", "_avx512"};
    int found = 0, expected = 1;
#if defined(__x86_64__)
    const int avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    const int avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                       __builtin_cpu_supports("avx512bw");
    expected = 1 + avx2 + avx512;
#endif
    for (int s = 0; s < 3; ++s)
        for (int k = 0; k < all->count; ++k)
            if (strstr(all->at[k].kernel[GBS_F32], suffixes[s]) != NULL &&
                strstr(all->at[k].kernel[GBS_F64], suffixes[s]) != NULL) {
                ++found;
                break;
            }
    printf("checked: %d instruction sets ran of %d that this processor has\n", found, expected);
    if (found < expected)
        fail_msg("instruction sets: expected %d, got %d, bound 0", expected, found);
}

static void test_same_bits(void **state)
{
    static const int64_t dims[] = {1, 5, 32, 33, 100};
    instances *const all = *state;
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    int different = 0;
    printf("'=' where the bits are those of the first instance run sweep by sweep, 'X' where not, "
           "one mark a way:");
    for (int way = 0; way < WAYS; ++way)
        printf(" %s", ways[way]);
    printf("\n  model type order        D     B    w ");
    for (int k = 0; k < all->count; ++k)
        printf(" %-10s",
               all->at[k].table == NULL ? gbs_isa_name(gbs_context_isa(all->at[k].ctx)) : "no fma");
    printf(" checksum so far\n");
    for (int d = 0; d < COUNT(dims); ++d) {
        double *const q = random_matrix(dims[d], 38), *const mu = random_vector(dims[d], 3, 10);
        const row r = {.dim = dims[d],
                       .chains = dims[d] <= 5    ? 1000
                                 : dims[d] < 100 ? 300
                                                 : 100,
                       .q = q,
                       .location = d % 2 == 0 ? mu : NULL,
                       .what = "dense"};
        different += check_orders(all, r, &sum);
        free(q);
        free(mu);
    }
    different += check_c38(all, &sum);
    print_instances(all);
    printf("checked: cells that differ: expected 0, got %d, bound 0; checksum %016llx\n", different,
           (unsigned long long)sum);
    if (different != 0)
        fail_msg("%d cells of the table differ", different);
    if (sum != FROZEN_CHECKSUM)
        fail_msg("checksum of all draws: expected %016llx, got %016llx: bits have changed",
                 (unsigned long long)FROZEN_CHECKSUM, (unsigned long long)sum);
    check_instances(all);
}

static int start_instances(void **state)
{
    static instances all;
    all.count = 0;
    for (gbs_isa isa = GBS_ISA_SCALAR; isa <= GBS_ISA_NEON; ++isa) {
        if (gbs_isa_available(isa))
            all.at[all.count++].ctx = new_context(isa);
        else
            printf("not here: %s\n", gbs_isa_name(isa));
    }
    if (gbs_cpu_kernels(GBS_ISA_SCALAR) != &gbs_kernels_scalar) {
        all.at[all.count].ctx = new_context(GBS_ISA_SCALAR);
        all.at[all.count++].table = &gbs_kernels_scalar;
    }
    for (int k = 0; k < all.count; ++k)
        for (int t = 0; t < COUNTS; ++t) {
            gbs_context_options options = gbs_context_options_default();
            options.isa = gbs_context_isa(all.at[k].ctx);
            options.threads = thread_counts[t];
            assert_int_equal(gbs_context_create(&options, &all.at[k].threaded[t]), GBS_OK);
        }
    *state = &all;
    return 0;
}

static int stop_instances(void **state)
{
    instances *const all = *state;
    for (int k = 0; k < all->count; ++k) {
        for (int t = 0; t < COUNTS; ++t)
            gbs_context_destroy(all->at[k].threaded[t]);
        gbs_context_destroy(all->at[k].ctx);
    }
    return 0;
}

int main(void)
{
    if (quick())
        printf("GBS_TEST_QUICK is set: fewer single chains\n");
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_bits)};
    return cmocka_run_group_tests(tests, start_instances, stop_instances);
}
