/* Every input that fuzzing kept, through its target: what was once found stays found, in every
 * build and under every sanitizer, without a fuzzer. */
#define _POSIX_C_SOURCE 200809L

#include "fuzz/targets.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <cmocka.h>

static void run_file(const char *path, void (*target)(const uint8_t *, size_t))
{
    struct stat about;
    FILE *stream = fopen(path, "rb");
    if (!stream || fstat(fileno(stream), &about) != 0)
        fail_msg("%s cannot be opened", path);
    uint8_t *bytes = malloc((size_t)about.st_size + 1);
    assert_non_null(bytes);
    const size_t count = fread(bytes, 1, (size_t)about.st_size, stream);
    fclose(stream);
    target(bytes, count);
    free(bytes);
}

static void run_folder(const char *name, void (*target)(const uint8_t *, size_t))
{
    char path[4096];
    int files = 0;
    snprintf(path, sizeof path, GBS_TEST_DATA "/fuzz/corpus/%s", name);
    DIR *folder = opendir(path);
    if (!folder)
        fail_msg("%s cannot be opened", path);
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, GBS_TEST_DATA "/fuzz/corpus/%s/%s", name, entry->d_name);
        run_file(path, target);
        files++;
    }
    closedir(folder);
    assert_true(files > 0);
    print_message("%s: %d files\n", name, files);
}

#define TEST(name)                                                                                 \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        run_folder(#name, fuzz_##name);                                                            \
    }
FUZZ_TARGETS(TEST)

int main(void)
{
#define ENTRY(name) cmocka_unit_test(test_##name),
    const struct CMUnitTest tests[] = {FUZZ_TARGETS(ENTRY)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
