/* Contexts: options, instruction sets, messages, hooks; and the list of statuses. */
#include "core/internal.h"
#include "unit/counting.h"
#include "unit/model_fixture.h"

#include <stdlib.h>
#include <string.h>

static void test_statuses(void **state)
{
    (void)state;
    int count = 0;
#define GBS_X(name, value, text)                                                                   \
    assert_int_equal(name, value);                                                                 \
    assert_string_equal(gbs_status_name(name), #name);                                             \
    assert_string_equal(gbs_status_text(name), text);                                              \
    ++count;
    GBS_STATUS_LIST(GBS_X)
#undef GBS_X
    assert_string_equal(gbs_status_name((gbs_status)99), "unknown status");
    assert_string_equal(gbs_status_text((gbs_status)-1), "unknown status");
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", GBS_VERSION_MAJOR, GBS_VERSION_MINOR,
             GBS_VERSION_PATCH);
    assert_string_equal(gbs_version(), version);
    printf("checked: %d statuses by name and sentence, others unknown; version %s\n", count,
           version);
}

static void test_instruction_sets(void **state)
{
    (void)state;
    static const char *const names[] = {"auto", "scalar", "avx2", "avx512", "neon"};
    gbs_isa widest = GBS_ISA_SCALAR;
    for (gbs_isa isa = GBS_ISA_AUTO; isa <= GBS_ISA_NEON; ++isa) {
        gbs_context_options options = gbs_context_options_default();
        gbs_context *ctx = (gbs_context *)&options;
        assert_string_equal(gbs_isa_name(isa), names[isa]);
        char why[256] = "";
        options.isa = isa;
        options.message = why;
        options.message_bytes = sizeof why;
        const gbs_status status = gbs_context_create(&options, &ctx);
        if (gbs_isa_available(isa)) {
            assert_int_equal(status, GBS_OK);
            if (isa != GBS_ISA_AUTO)
                assert_int_equal(gbs_context_isa(ctx), isa);
            widest = isa;
        } else {
            assert_int_equal(status, GBS_ERROR_UNAVAILABLE);
            assert_null(ctx);
            assert_non_null(strstr(why, names[isa]));
        }
        printf("checked: %s is %s\n", gbs_isa_name(isa),
               gbs_isa_available(isa) ? "available" : "refused");
        gbs_context_destroy(ctx);
    }
    gbs_context *const ctx = new_context(GBS_ISA_AUTO);
    assert_int_equal(gbs_context_isa(ctx), widest);
    gbs_context_destroy(ctx);
    assert_string_equal(gbs_isa_name((gbs_isa)17), "unknown");
    assert_int_equal(gbs_isa_available((gbs_isa)17), 0);
    printf("checked: auto takes the widest, %s\n", gbs_isa_name(widest));
}

static void *allocate_none(size_t bytes, void *user)
{
    (void)bytes;
    (void)user;
    return NULL;
}

static void release_none(void *memory, void *user)
{
    (void)memory;
    (void)user;
}

static void refuse_context(const gbs_context_options *options, gbs_status status, const char *says)
{
    gbs_context_options telling = *options;
    gbs_context *ctx = (gbs_context *)&telling;
    char message[256] = "";
    telling.message = message;
    telling.message_bytes = sizeof message;
    assert_int_equal(gbs_context_create(&telling, &ctx), status);
    assert_null(ctx);
    assert_string_equal(message, says);
}

static void test_refused(void **state)
{
    (void)state;
    gbs_context_options options = gbs_context_options_default();
    assert_int_equal(gbs_context_create(&options, NULL), GBS_ERROR_ARGUMENT);
    options.isa = (gbs_isa)(GBS_ISA_NEON + 1);
    refuse_context(&options, GBS_ERROR_ARGUMENT, "isa: 5 is not known");
    options = gbs_context_options_default();
    options.threads = -1;
    refuse_context(&options, GBS_ERROR_ARGUMENT, "threads: -1 is not in 0 .. 1024");
    options.threads = 1025;
    refuse_context(&options, GBS_ERROR_ARGUMENT, "threads: 1025 is not in 0 .. 1024");
    options = gbs_context_options_default();
    options.backend = (gbs_backend)2;
    refuse_context(&options, GBS_ERROR_ARGUMENT, "backend: 2 is not known");
    static const char pair[] =
        "allocator, cuda_memory: allocate and release must both be given, or neither";
    options = gbs_context_options_default();
    options.allocator.allocate = allocate_none; /* one hook without the other */
    refuse_context(&options, GBS_ERROR_ARGUMENT, pair);
    options.allocator.release = release_none;
    refuse_context(&options, GBS_ERROR_MEMORY, "context: no memory");
    options.allocator.allocate = NULL;
    refuse_context(&options, GBS_ERROR_ARGUMENT, pair);
    gbs_context_destroy(NULL);
    assert_string_equal(gbs_context_message(NULL), "");
    assert_int_equal(gbs_context_isa(NULL), GBS_ISA_AUTO);
    printf(
        "checked: no out, unknown instruction sets and backends, threads out of range, half a pair "
        "of hooks, no memory; NULL\n");
}

static void test_message(void **state)
{
    (void)state;
    gbs_context *const ctx = new_context(GBS_ISA_AUTO);
    assert_string_equal(gbs_context_message(ctx), "");
    gbs_model *model = NULL;
    const double negative[1] = {-1}, one[1] = {1};
    gbs_model_spec spec = spec_of(negative, 1);
    assert_int_equal(gbs_model_create(ctx, &spec, &model), GBS_ERROR_NOT_POSITIVE_DEFINITE);
    char kept[GBS_MESSAGE_BYTES];
    strcpy(kept, gbs_context_message(ctx));
    assert_true(strlen(kept) > 0);
    spec.matrix = one;
    assert_int_equal(gbs_model_create(ctx, &spec, &model), GBS_OK);
    assert_string_equal(gbs_context_message(ctx), kept);
    gbs_model_release(model);
    spec.dim = 0;
    assert_int_equal(gbs_model_create(ctx, &spec, &model), GBS_ERROR_ARGUMENT);
    assert_true(strcmp(gbs_context_message(ctx), kept) != 0);
    gbs_context_destroy(ctx);
    printf("checked: a message stays until the next call that fails\n");
}

/* What messages are cut to, and failing without a context. */
static void test_long_message(void **state)
{
    (void)state;
    gbs_context *const ctx = new_context(GBS_ISA_AUTO);
    char word[2 * GBS_MESSAGE_BYTES];
    memset(word, 'x', sizeof word);
    word[sizeof word - 1] = '\0';
    assert_int_equal(gbs_fail(ctx, GBS_ERROR_LIMIT, "%s", word), GBS_ERROR_LIMIT);
    assert_int_equal(strlen(gbs_context_message(ctx)), GBS_MESSAGE_BYTES - 1);
    assert_int_equal(gbs_fail(NULL, GBS_ERROR_LIMIT, "%s", word), GBS_ERROR_LIMIT);
    gbs_context_destroy(ctx);
    printf("checked: long messages are cut at %d bytes\n", GBS_MESSAGE_BYTES);
}

static void test_memory(void **state)
{
    (void)state;
    counting c = {.refuse = -1};
    const gbs_allocator allocator = {counting_allocate, counting_release, &c};
    for (int64_t bytes = 0; bytes < 300; bytes += 7) {
        unsigned char *const memory = gbs_memory_take(&allocator, bytes, 1);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % GBS_ALIGNMENT, 0);
        for (int64_t k = 0; k < bytes; ++k)
            assert_int_equal(memory[k], 0);
        memset(memory, 255, (size_t)bytes);
        gbs_memory_give(&allocator, memory);
    }
    assert_int_equal(c.taken, c.given);
    const int64_t taken = c.taken;
    assert_null(gbs_memory_take(&allocator, -1, 1));
    assert_null(gbs_memory_take(&allocator, INT64_MAX, 8));
    assert_null(gbs_memory_take(&allocator, INT64_MAX / 4, 8));
    assert_null(gbs_memory_take(&allocator, INT64_MAX, SIZE_MAX));
    assert_int_equal(c.taken, taken);
    gbs_memory_give(&allocator, NULL);
    printf("checked: blocks are aligned to %d and zeroed; sizes that overflow reach no hook\n",
           GBS_ALIGNMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_statuses),     cmocka_unit_test(test_instruction_sets),
        cmocka_unit_test(test_refused),      cmocka_unit_test(test_message),
        cmocka_unit_test(test_long_message), cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
