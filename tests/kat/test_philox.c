/* Philox4x32-10 by its published vectors, in every vocabulary, and the native stream's counter
 * from end to end: what a sampler draws at the far corners of seeds, chains, sweeps and purposes,
 * against a textbook Philox (native_reference.h).  With Q = I and no location one sweep leaves
 * the noise itself in the state. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "kat/native_reference.h"
#include "kat/pairs.h"
#include "unit/matrices.h"

typedef struct philox_vector {
    uint32_t counter[4];
    uint64_t seed;
    uint32_t words[4];
} philox_vector;

static const philox_vector published[] = {
    {{0, 0, 0, 0}, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
     UINT64_MAX,
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     UINT64_C(0x299f31d0a4093822),
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

static void check_words(const char *who, const philox_vector *v, const uint32_t got[4])
{
    for (int k = 0; k < 4; ++k)
        if (got[k] != v->words[k])
            fail_msg("%s, counter %08x %08x %08x %08x, word %d: expected %08x, got %08x, bound 0",
                     who, v->counter[0], v->counter[1], v->counter[2], v->counter[3], k,
                     v->words[k], got[k]);
}

static void test_published_vectors(void **state)
{
    (void)state;
    const size_t count = sizeof published / sizeof *published;
    for (size_t i = 0; i < count; ++i) {
        uint32_t words[4];
        reference_philox(published[i].counter, published[i].seed, words);
        check_words("textbook", &published[i], words);
        for (int k = 0; pairs_at(k) != NULL; ++k) {
            if (!pairs_at(k)->philox(published[i].counter, published[i].seed, words))
                fail_msg("%s: lanes differ", pairs_at(k)->name);
            check_words(pairs_at(k)->name, &published[i], words);
        }
    }
    printf("checked: %zu published vectors, by the textbook and", count);
    for (int k = 0; pairs_at(k) != NULL; ++k)
        printf(" %s", pairs_at(k)->name);
    printf("\n");
}

static void test_random_counters(void **state)
{
    (void)state;
    enum { COUNTERS = 20000 };
    uint64_t random = 1;
    for (int i = 0; i < COUNTERS; ++i) {
        philox_vector v;
        uint32_t words[4];
        for (int k = 0; k < 4; ++k)
            v.counter[k] = (uint32_t)next_word(&random);
        v.seed = next_word(&random);
        reference_philox(v.counter, v.seed, v.words);
        for (int k = 0; pairs_at(k) != NULL; ++k) {
            assert_true(pairs_at(k)->philox(v.counter, v.seed, words));
            check_words(pairs_at(k)->name, &v, words);
        }
    }
    printf("checked: %d random counters and keys equal the textbook\n", COUNTERS);
}

/* ---- the counter, through a sampler ---- */

typedef struct corner {
    uint64_t seed;
    int64_t first_chain, first_sweep;
    const char *what;
} corner;

static const corner corners[] = {
    {0, 0, 0, "origin"},
    {1, (INT64_C(1) << 32) - 5, 0, "chains across 2^32 within a block"},
    {UINT64_C(0xfedcba9876543210), (INT64_C(1) << 40) - 67, 3, "the last chains"},
    {UINT64_MAX, (INT64_C(0xa5) << 32) + 77, (INT64_C(1) << 32) - 1, "sweeps across 2^32"},
    {UINT64_C(1) << 63, INT64_C(0x123456789), (INT64_C(1) << 47) - 2, "the last symmetric sweeps"},
    {INT64_C(1) << 32, 0, INT64_C(0x123456789ab), "sweep bits 32 to 40"},
};

enum { DIM = 7, CHAINS = 67, SWEEPS = 2 };

static gbs_model *identity_model(gbs_context *ctx)
{
    double q[DIM * DIM] = {0};
    for (int i = 0; i < DIM; ++i)
        q[i * (DIM + 1)] = 1;
    gbs_model_spec spec = gbs_model_spec_default();
    gbs_model *model = NULL;
    spec.dim = DIM;
    spec.matrix = q;
    if (gbs_model_create(ctx, &spec, &model) != GBS_OK)
        fail_msg("model: %s", gbs_context_message(ctx));
    return model;
}

static double element(gbs_type type, const void *x, int64_t at)
{
    return type == GBS_F32 ? (double)((const float *)x)[at] : ((const double *)x)[at];
}

/* The state of all chains against `scale` times the normals at this address. */
static void check_state(const gbs_sampler *sampler, gbs_type type, const char *what,
                        native_address at, int64_t first_chain, double scale)
{
    double x[CHAINS * DIM], z[DIM];
    assert_int_equal(gbs_sampler_get_state(sampler, x), GBS_OK);
    for (int64_t chain = 0; chain < CHAINS; ++chain) {
        at.chain = first_chain + chain;
        reference_normals(type, at, DIM, z);
        for (int64_t i = 0; i < DIM; ++i) {
            const double expected = scale * z[i], got = element(type, x, chain * DIM + i);
            if (got != expected)
                fail_msg("%s, %s: chain %lld, sweep %llu, purpose %u, site %lld: expected %a, got "
                         "%a, bound 0",
                         what, type == GBS_F32 ? "float" : "double", (long long)at.chain,
                         (unsigned long long)at.sweep, at.purpose, (long long)i, expected, got);
        }
    }
}

static gbs_sampler *sampler_at(gbs_context *ctx, gbs_model *model, const corner *c, gbs_type type,
                               gbs_method method, gbs_order order)
{
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    gbs_sampler *sampler = NULL;
    spec.type = type;
    spec.method = method;
    spec.order = order;
    spec.chains = CHAINS;
    spec.seed = c->seed;
    spec.first_chain = c->first_chain;
    spec.first_sweep = c->first_sweep;
    if (gbs_sampler_create(ctx, model, &spec, &sampler) != GBS_OK)
        fail_msg("%s: %s", c->what, gbs_context_message(ctx));
    return sampler;
}

static void check_corner(gbs_context *ctx, gbs_model *model, const corner *c, gbs_type type)
{
    static const gbs_order orders[] = {GBS_ORDER_FORWARD, GBS_ORDER_BACKWARD, GBS_ORDER_SYMMETRIC};
    native_address at = {.seed = c->seed};
    for (size_t k = 0; k < sizeof orders / sizeof *orders; ++k) {
        const uint64_t passes = orders[k] == GBS_ORDER_SYMMETRIC ? 2 : 1;
        gbs_sampler *const sampler = sampler_at(ctx, model, c, type, GBS_METHOD_GIBBS, orders[k]);
        at.purpose = 1;
        at.sweep = 0;
        check_state(sampler, type, c->what, at, c->first_chain, 2);
        at.purpose = 0;
        for (int64_t sweep = 0; sweep < SWEEPS; ++sweep) {
            assert_int_equal(gbs_sampler_run(sampler, 1), GBS_OK);
            at.sweep = (uint64_t)(c->first_sweep + sweep) * passes + passes - 1;
            check_state(sampler, type, c->what, at, c->first_chain, 1);
        }
        gbs_sampler_destroy(sampler);
    }
    gbs_sampler *const exact = sampler_at(ctx, model, c, type, GBS_METHOD_EXACT, GBS_ORDER_FORWARD);
    at.purpose = 5;
    for (int64_t draw = 0; draw < SWEEPS; ++draw) {
        assert_int_equal(gbs_sampler_run(exact, 1), GBS_OK);
        at.sweep = (uint64_t)(c->first_sweep + draw);
        check_state(exact, type, c->what, at, c->first_chain, 1);
    }
    gbs_sampler_destroy(exact);
}

static void test_counter(void **state)
{
    (void)state;
    const size_t count = sizeof corners / sizeof *corners;
    for (gbs_isa isa = GBS_ISA_SCALAR; isa <= GBS_ISA_NEON; ++isa) {
        if (!gbs_isa_available(isa)) {
            printf("not here: %s\n", gbs_isa_name(isa));
            continue;
        }
        gbs_context_options options = gbs_context_options_default();
        gbs_context *ctx = NULL;
        options.isa = isa;
        assert_int_equal(gbs_context_create(&options, &ctx), GBS_OK);
        gbs_model *const model = identity_model(ctx);
        for (size_t k = 0; k < count; ++k) {
            check_corner(ctx, model, &corners[k], GBS_F32);
            check_corner(ctx, model, &corners[k], GBS_F64);
        }
        gbs_model_release(model);
        gbs_context_destroy(ctx);
        printf("checked: %s draws what the textbook draws at %zu corners of seed, chain and sweep, "
               "purposes 0, 1 and 5, symmetric sweeps numbered 2n and 2n + 1\n",
               gbs_isa_name(isa), count);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published_vectors),
        cmocka_unit_test(test_random_counters),
        cmocka_unit_test(test_counter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
