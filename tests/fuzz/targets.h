/* What is fuzzed: one function a reader, which takes a file's bytes and aborts where the reader
 * breaks its word (tests/fuzz/targets.c).  entry.c makes a libFuzzer program of each, and
 * test_corpus.c runs all of them over the inputs that were kept. */
#ifndef GBS_TEST_FUZZ_TARGETS_H
#define GBS_TEST_FUZZ_TARGETS_H

#include <stddef.h>
#include <stdint.h>

/* X(name): a function fuzz_NAME and a folder corpus/NAME. */
#define FUZZ_TARGETS(X)                                                                            \
    X(npy)                                                                                         \
    X(npz)                                                                                         \
    X(matrix_market)                                                                               \
    X(csv)                                                                                         \
    X(graph)                                                                                       \
    X(npy_draws)                                                                                   \
    X(stan_csv)                                                                                    \
    X(checkpoint)

#define FUZZ_DECLARE(name) void fuzz_##name(const uint8_t *bytes, size_t count);
FUZZ_TARGETS(FUZZ_DECLARE)
#undef FUZZ_DECLARE

#endif
