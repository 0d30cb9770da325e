/* gbs_native_normals: what a sampler draws by itself.  A sampler that is given them ends in the
 * native one's bits, on every instruction set, into arrays of any alignment and width. */
#include "unit/sampler_fixture.h"

enum { SITES = 70, SWEEPS = 3, FIRST_SWEEP = 5 };

static gbs_model *ring(gbs_context *ctx)
{
    static double q[SITES * SITES];
    memset(q, 0, sizeof q);
    for (int i = 0; i < SITES; i++) {
        q[i * SITES + i] = 3;
        q[i * SITES + (i + 1) % SITES] = q[(i + 1) % SITES * SITES + i] = -1;
    }
    const gbs_model_spec spec = spec_of(q, SITES);
    return new_model(ctx, &spec);
}

static void final_state(gbs_context *ctx, gbs_model *model, const gbs_sampler_spec *spec, void *x)
{
    gbs_sampler *sampler = NULL;
    if (gbs_sampler_create(ctx, model, spec, &sampler) != GBS_OK)
        fail_msg("expected a sampler, got: %s", gbs_context_message(ctx));
    assert_int_equal(gbs_sampler_run(sampler, SWEEPS), GBS_OK);
    assert_int_equal(gbs_sampler_get_state(sampler, x), GBS_OK);
    gbs_sampler_destroy(sampler);
}

/* `offset` numbers into an array that is aligned to a cache line. */
static void check(gbs_context *ctx, gbs_type type, int64_t chains, size_t offset)
{
    const size_t size = type == GBS_F32 ? sizeof(float) : sizeof(double);
    const size_t numbers = (size_t)(SITES * chains);
    const size_t bytes = (SWEEPS * numbers * size + offset * size + 127) / 64 * 64;
    gbs_model *const model = ring(ctx);
    char *const room = aligned_alloc(64, bytes), *const z = room + offset * size;
    char *const native = calloc(numbers, size), *const given = calloc(numbers, size);
    assert_true(room != NULL && native != NULL && given != NULL);
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    spec.type = type;
    spec.chains = chains;
    spec.seed = 77;
    spec.start = GBS_START_ZERO;
    spec.first_sweep = FIRST_SWEEP;
    spec.first_chain = 1000;
    final_state(ctx, model, &spec, native);
    for (int64_t n = 0; n < SWEEPS; n++)
        assert_int_equal(gbs_native_normals(ctx, type, 77, FIRST_SWEEP + n, 1000, chains, SITES,
                                            z + (size_t)n * numbers * size),
                         GBS_OK);
    spec.first_sweep = spec.first_chain = 0;
    spec.stream = (gbs_stream_spec){
        .kind = GBS_STREAM_GIVEN, .noise_type = type, .noise = z, .noise_sweeps = SWEEPS};
    final_state(ctx, model, &spec, given);
    if (memcmp(native, given, numbers * size) != 0)
        fail_msg("%lld chains, offset %zu: a sampler given its normals ends elsewhere",
                 (long long)chains, offset);
    gbs_model_release(model);
    free(given);
    free(native);
    free(room);
}

static void test_same_as_sampler(void **state)
{
    (void)state;
    for (gbs_isa isa = GBS_ISA_SCALAR; isa <= GBS_ISA_NEON; ++isa) {
        if (!gbs_isa_available(isa))
            continue;
        gbs_context *const ctx = new_context(isa);
        const int64_t chains[] = {1, 5, 64, 67, 128};
        for (int type = GBS_F32; type <= GBS_F64; type++)
            for (int k = 0; k < 5; k++)
                for (size_t offset = 0; offset < 2; offset++)
                    check(ctx, (gbs_type)type, chains[k], offset);
        printf("checked: %s, float and double, 1 to 128 chains: a sampler's own normals\n",
               gbs_isa_name(isa));
        gbs_context_destroy(ctx);
    }
}

static void refuse(gbs_context *ctx, gbs_status status, int64_t sweep, int64_t first_chain,
                   int64_t chains, int64_t sites, void *z)
{
    assert_int_equal(gbs_native_normals(ctx, GBS_F32, 1, sweep, first_chain, chains, sites, z),
                     status);
    assert_true(gbs_context_message(ctx)[0] != '\0');
}

static void test_refused(void **state)
{
    (void)state;
    gbs_context *const ctx = new_context(GBS_ISA_AUTO);
    float z[4] = {7, 7, 7, 7};
    const int64_t chains = INT64_C(1) << 40, sweeps = INT64_C(1) << 48;
    refuse(ctx, GBS_ERROR_ARGUMENT, 0, 0, 2, 2, NULL);
    refuse(ctx, GBS_ERROR_ARGUMENT, -1, 0, 2, 2, z);
    refuse(ctx, GBS_ERROR_ARGUMENT, 0, -1, 2, 2, z);
    refuse(ctx, GBS_ERROR_ARGUMENT, 0, 0, -2, 2, z);
    refuse(ctx, GBS_ERROR_ARGUMENT, 0, 0, 2, -2, z);
    refuse(ctx, GBS_ERROR_LIMIT, sweeps, 0, 2, 2, z);
    refuse(ctx, GBS_ERROR_LIMIT, 0, chains - 1, 2, 2, z);
    refuse(ctx, GBS_ERROR_LIMIT, 0, 0, 2, (INT64_C(1) << 34) + 1, z);
    assert_int_equal(gbs_native_normals(NULL, GBS_F32, 1, 0, 0, 2, 2, z), GBS_ERROR_ARGUMENT);
    assert_int_equal(gbs_native_normals(ctx, (gbs_type)9, 1, 0, 0, 2, 2, z), GBS_ERROR_ARGUMENT);
    for (int k = 0; k < 4; k++)
        assert_true(z[k] == 7);
    assert_int_equal(gbs_native_normals(ctx, GBS_F32, 1, sweeps - 1, chains - 2, 2, 2, z), GBS_OK);
    assert_int_equal(gbs_native_normals(ctx, GBS_F32, 1, 0, 0, 0, 2, NULL), GBS_OK);
    gbs_context_destroy(ctx);
    printf("refused: below 0, beyond the stream, no array; the last sweep and chains are fine\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_sampler),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
