/* The inner loops of the torch streams give the same bits on every instruction set, for random
 * words and for the words at the ends of the range. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "core/internal.h"
#include "rng/torch_kernels.h"

enum { PAIRS = 4096, ROUNDS = 64, THREADS = 1003 };

static uint64_t next_word(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state ^ *state >> 29;
}

typedef struct arrays {
    _Alignas(GBS_ALIGNMENT) uint64_t radius[PAIRS];
    _Alignas(GBS_ALIGNMENT) uint64_t angle[PAIRS];
    _Alignas(GBS_ALIGNMENT) uint32_t radius_f32[PAIRS];
    _Alignas(GBS_ALIGNMENT) uint32_t angle_f32[PAIRS];
    _Alignas(GBS_ALIGNMENT) double cosine[2][PAIRS];
    _Alignas(GBS_ALIGNMENT) double sine[2][PAIRS];
    _Alignas(GBS_ALIGNMENT) float cosine_f32[2][PAIRS];
    _Alignas(GBS_ALIGNMENT) float sine_f32[2][PAIRS];
} arrays;

static arrays a;

/* Random words; in the first round words within 32 of either end and of each eighth of a turn. */
static void fill_words(int round, uint64_t *state)
{
    for (int k = 0; k < PAIRS; k++) {
        a.radius[k] = next_word(state);
        a.angle[k] = next_word(state);
        if (round == 0) {
            const uint64_t eighth = (uint64_t)(k % 8) << 50, near = (uint64_t)(k / 8 % 64);
            a.angle[k] = eighth + near - 32;
            a.radius[k] = (k & 512 ? UINT64_C(0) : ~UINT64_C(0)) + (uint64_t)(k / 1024) * near;
        }
        a.radius_f32[k] = (uint32_t)(round == 0 ? a.radius[k] : a.radius[k] >> 32);
        a.angle_f32[k] = (uint32_t)(round == 0 ? a.angle[k] >> 29 ^ a.angle[k] : a.angle[k] >> 32);
    }
}

static void cpu_words_give_the_same_bits(void **unused)
{
    (void)unused;
    const gbs_torch_kernels *reference = gbs_torch_kernels_at(0);
    uint64_t state = 1;
    int count = 0;
    for (int round = 0; round < ROUNDS; round++) {
        const int64_t pairs = round < 40 ? PAIRS - round : 1 + round - 40;
        const size_t n = (size_t)pairs;
        fill_words(round, &state);
        reference->cpu_f32(pairs, a.radius_f32, a.angle_f32, a.cosine_f32[0], a.sine_f32[0]);
        reference->cpu_f64(pairs, a.radius, a.angle, a.cosine[0], a.sine[0]);
        const gbs_torch_kernels *other;
        for (count = 1; (other = gbs_torch_kernels_at(count)) != NULL; count++) {
            other->cpu_f32(pairs, a.radius_f32, a.angle_f32, a.cosine_f32[1], a.sine_f32[1]);
            other->cpu_f64(pairs, a.radius, a.angle, a.cosine[1], a.sine[1]);
            assert_memory_equal(a.cosine_f32[0], a.cosine_f32[1], n * sizeof(float));
            assert_memory_equal(a.sine_f32[0], a.sine_f32[1], n * sizeof(float));
            assert_memory_equal(a.cosine[0], a.cosine[1], n * sizeof(double));
            assert_memory_equal(a.sine[0], a.sine[1], n * sizeof(double));
        }
    }
    printf("  cpu maps: %d sets of kernels, %d words, same bits\n", count, PAIRS * ROUNDS);
}

static void cuda_threads_give_the_same_bits(void **unused)
{
    (void)unused;
    static float f32[2][THREADS];
    static double f64[2][THREADS];
    const gbs_torch_kernels *reference = gbs_torch_kernels_at(0);
    uint64_t state = 2;
    int count = 0;
    for (int round = 0; round < ROUNDS; round++) {
        const uint64_t seed = next_word(&state), at = next_word(&state) >> (round % 40);
        const uint64_t thread = next_word(&state) >> (20 + round % 40);
        const int64_t n = round % 2 ? THREADS : 1 + round;
        for (int output = 0; output < 4; output++) {
            reference->cuda_f32(seed, at, thread, output, n, f32[0]);
            reference->cuda_f64(seed, at, thread, output & 1, n, f64[0]);
            const gbs_torch_kernels *other;
            for (count = 1; (other = gbs_torch_kernels_at(count)) != NULL; count++) {
                other->cuda_f32(seed, at, thread, output, n, f32[1]);
                other->cuda_f64(seed, at, thread, output & 1, n, f64[1]);
                assert_memory_equal(f32[0], f32[1], (size_t)n * sizeof(float));
                assert_memory_equal(f64[0], f64[1], (size_t)n * sizeof(double));
            }
        }
    }
    printf("  cuda maps: %d sets of kernels, %d calls, same bits\n", count, 8 * ROUNDS);
}

/* As many as the machine offers really ran. */
static void names_the_kernels(void **unused)
{
    (void)unused;
    const int expected = gbs_isa_available(GBS_ISA_AVX512) ? 4
                         : gbs_isa_available(GBS_ISA_AVX2) ? 3
                                                           : 1;
    int count = 0;
    for (; gbs_torch_kernels_at(count) != NULL; count++)
        printf("  %s\n", gbs_torch_kernels_at(count)->name);
    assert_true(count >= expected);
    assert_ptr_equal(gbs_torch_kernels_best(), gbs_torch_kernels_at(count - 1));
    assert_null(gbs_torch_kernels_at(-1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_the_kernels),
        cmocka_unit_test(cpu_words_give_the_same_bits),
        cmocka_unit_test(cuda_threads_give_the_same_bits),
    };
    return cmocka_run_group_tests_name("torch kernels", tests, NULL, NULL);
}
