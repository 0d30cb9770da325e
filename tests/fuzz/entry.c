/* A libFuzzer program of one target: built with TARGET=fuzz_NAME. */
#include "fuzz/targets.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    TARGET(bytes, count);
    return 0;
}
