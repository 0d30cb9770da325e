/* What the tests of kernels on the host share: a job, the CPU's sampler as its oracle, and the
 * kernel's arguments for it. */
#ifndef GBS_TESTS_HOST_ORACLE_H
#define GBS_TESTS_HOST_ORACLE_H

#include "cuda_on_host.h"

#include "backend/cuda/sweep_args.cuh"

static int passed, failed;

template <typename T> struct job {
    int64_t dim, chains, sweeps, keep;
    gbs_order order;
    double omega;
    gbs_location location;
    gbs_stream stream;
};

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53 - 0.5;
}

template <typename T> static gbs_type type_of(void)
{
    return sizeof(T) == 4 ? GBS_F32 : GBS_F64;
}

template <typename T>
static std::vector<T> random_values(int64_t count, double scale, uint64_t seed)
{
    std::vector<T> values((size_t)count);
    for (T &value : values)
        value = (T)(scale * uniform(&seed));
    return values;
}

template <typename T>
static std::vector<T> oracle(const job<T> &of, const std::vector<T> &q,
                             const std::vector<T> &location, const std::vector<T> &x,
                             const std::vector<T> &noise, std::vector<T> *kept)
{
    gbs_context *ctx = NULL;
    gbs_model *model = NULL;
    gbs_sampler *sampler = NULL;
    std::vector<T> out((size_t)(of.dim * of.chains));
    gbs_model_spec m = gbs_model_spec_default();
    gbs_sampler_spec s = gbs_sampler_spec_default();
    m.dim = of.dim;
    m.matrix_type = m.location_type = type_of<T>();
    m.matrix = q.data();
    m.location_kind = of.location;
    m.location = of.location == GBS_LOCATION_ZERO ? NULL : location.data();
    s.type = type_of<T>();
    s.chains = of.chains;
    s.seed = 20261129;
    s.order = of.order;
    s.omega = of.omega;
    s.start = GBS_START_GIVEN;
    s.initial = x.data();
    s.initial_rows = of.chains;
    s.stream.kind = of.stream;
    s.stream.noise_type = type_of<T>();
    s.stream.noise = of.stream == GBS_STREAM_GIVEN ? noise.data() : NULL;
    s.stream.noise_sweeps = 2 * of.sweeps;
    gbs_status status = gbs_context_create(NULL, &ctx);
    if (status == GBS_OK)
        status = gbs_model_create(ctx, &m, &model);
    if (status == GBS_OK)
        status = gbs_sampler_create(ctx, model, &s, &sampler);
    for (int64_t done = 0; status == GBS_OK && done < of.sweeps;) {
        const int64_t step = of.keep > 0 && of.keep < of.sweeps - done ? of.keep : of.sweeps - done;
        status = gbs_sampler_run(sampler, step);
        done += step;
        if (status == GBS_OK)
            status = gbs_sampler_get_state(sampler, out.data());
        if (of.keep > 0 && done % of.keep == 0)
            kept->insert(kept->end(), out.begin(), out.end());
    }
    if (status != GBS_OK) {
        printf("oracle: %s\n", gbs_context_message(ctx));
        exit(1);
    }
    gbs_sampler_destroy(sampler);
    gbs_model_release(model);
    gbs_context_destroy(ctx);
    return out;
}

template <typename T> static std::vector<T> random_precision(int64_t dim)
{
    uint64_t seed = 11 + (uint64_t)dim;
    std::vector<T> q((size_t)(dim * dim));
    for (int64_t i = 0; i < dim; ++i)
        for (int64_t j = 0; j <= i; ++j)
            q[(size_t)(i * dim + j)] = q[(size_t)(j * dim + i)] =
                (T)(i == j ? 1.5 + uniform(&seed) : uniform(&seed) * 1.6 / (double)dim);
    return q;
}

/* The job's arrays, inputs filled. */
template <typename T> struct arrays {
    std::vector<T> q, location, x, noise, out, kept;
};

template <typename T> static arrays<T> arrays_of(const job<T> &of)
{
    const int64_t count = of.dim * of.chains;
    arrays<T> made;
    made.q = random_precision<T>(of.dim);
    made.location = random_values<T>(of.dim, 6.0, 5);
    made.x = random_values<T>(count, 4.0, 7);
    made.noise =
        random_values<T>(of.stream == GBS_STREAM_GIVEN ? 2 * of.sweeps * count : 1, 4.0, 9);
    made.out.resize((size_t)count);
    made.kept.resize((size_t)(of.keep > 0 ? of.sweeps / of.keep * count : 0));
    return made;
}

template <typename T> static gbs_sweep_args arguments_of(const job<T> &of, arrays<T> *on)
{
    gbs_sweep_args a;
    memset(&a, 0, sizeof a);
    a.groups = 1;
    a.chains = of.chains;
    a.dim = of.dim;
    a.precision = on->q.data();
    a.precision_row_stride = of.dim;
    a.location = on->location.data();
    a.location_kind = of.location;
    a.omega = of.omega;
    a.relaxed = of.omega != 1.0;
    a.x = on->x.data();
    a.out = on->out.data();
    a.x_stride[1] = a.out_stride[1] = of.dim;
    a.x_stride[2] = a.out_stride[2] = 1;
    a.sweeps = of.sweeps;
    a.passes = of.order == GBS_ORDER_SYMMETRIC ? 2 : 1;
    a.first_direction = of.order == GBS_ORDER_BACKWARD ? -1 : 1;
    a.keep_every = of.keep;
    a.kept = on->kept.data();
    a.noise.kind = of.stream;
    for (uint32_t round = 0; round < 10; ++round) {
        a.noise.key[round][0] = 20261129u + round * 0x9E3779B9u;
        a.noise.key[round][1] = round * 0xBB67AE85u;
    }
    a.noise.call_elements = of.chains;
    a.noise.given = on->noise.data();
    return a;
}

template <typename T> static int64_t differing(const std::vector<T> &a, const std::vector<T> &b)
{
    int64_t wrong = a.size() == b.size() ? 0 : 1;
    for (size_t i = 0; i < a.size() && i < b.size(); ++i)
        wrong += memcmp(&a[i], &b[i], sizeof(T)) != 0;
    return wrong;
}

/* Counts and says how a job came out. */
template <typename T> static void report(const job<T> &of, const char *what, const arrays<T> &on)
{
    std::vector<T> expected_kept;
    const std::vector<T> expected = oracle(of, on.q, on.location, on.x, on.noise, &expected_kept);
    const int64_t wrong = differing(expected, on.out),
                  wrong_kept = differing(expected_kept, on.kept);
    if (wrong == 0 && wrong_kept == 0) {
        ++passed;
        return;
    }
    ++failed;
    printf("FAIL %s %s, D=%lld B=%lld S=%lld keep=%lld order=%d omega=%g location=%d stream=%d: "
           "%lld of %lld differ, kept %lld\n",
           sizeof(T) == 4 ? "float" : "double", what, (long long)of.dim, (long long)of.chains,
           (long long)of.sweeps, (long long)of.keep, (int)of.order, of.omega, (int)of.location,
           (int)of.stream, (long long)wrong, (long long)expected.size(), (long long)wrong_kept);
    for (size_t i = 0, shown = 0; i < expected.size() && shown < 3; ++i)
        if (memcmp(&expected[i], &on.out[i], sizeof(T)) != 0) {
            ++shown;
            printf("  chain %lld site %lld: expected %.17g, got %.17g\n",
                   (long long)i / (long long)of.dim, (long long)i % (long long)of.dim,
                   (double)expected[i], (double)on.out[i]);
        }
}

#endif
