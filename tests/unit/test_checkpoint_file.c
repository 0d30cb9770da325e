/* Files of checkpoints when the system lets them down: every call that touches the disk is, one
 * after the other, where the process is killed, or fails.  Killed, the file is the last checkpoint
 * or the one before it, whole; failed, it is the one before it, and nothing lies beside it. */
#define _POSIX_C_SOURCE 200809L
#include "io/checkpoint_file.h"
#include "unit/sampler_fixture.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* The linker sends src/io's calls here (--wrap). */
ssize_t __real_pwrite(int file, const void *from, size_t bytes, off_t offset);
int __real_fsync(int file);
int __real_rename(const char *from, const char *to);
ssize_t __wrap_pwrite(int file, const void *from, size_t bytes, off_t offset);
int __wrap_fsync(int file);
int __wrap_rename(const char *from, const char *to);

static int64_t calls, fatal = -1; /* which call; -1 for none */
static int kills;

static int strikes(void)
{
    if (calls++ != fatal)
        return 0;
    if (kills)
        raise(SIGKILL);
    errno = ENOSPC;
    return 1;
}

/* Half of the bytes arrive before the end. */
ssize_t __wrap_pwrite(int file, const void *from, size_t bytes, off_t offset)
{
    if (calls == fatal)
        (void)!__real_pwrite(file, from, bytes / 2, offset);
    return strikes() ? -1 : __real_pwrite(file, from, bytes, offset);
}

int __wrap_fsync(int file)
{
    return strikes() ? -1 : __real_fsync(file);
}

int __wrap_rename(const char *from, const char *to)
{
    return strikes() ? -1 : __real_rename(from, to);
}

enum { SAVES = 3, EVERY = 10, CHAINS = 40 };

typedef struct folder {
    char path[64];
    char file[96];
} folder;

static folder new_folder(void)
{
    folder f = {"/tmp/gibbsite-test-XXXXXX", ""};
    assert_non_null(mkdtemp(f.path));
    snprintf(f.file, sizeof f.file, "%s/run.ck", f.path);
    return f;
}

/* Removes everything and returns how many files there were. */
static int empty_folder(const folder *f)
{
    int count = 0;
    DIR *const d = opendir(f->path);
    assert_non_null(d);
    for (const struct dirent *e; (e = readdir(d)) != NULL;) {
        char path[400];
        if (e->d_name[0] == '.' && (e->d_name[1] == 0 || e->d_name[1] == '.'))
            continue;
        snprintf(path, sizeof path, "%s/%s", f->path, e->d_name);
        count += unlink(path) == 0;
    }
    closedir(d);
    rmdir(f->path);
    return count;
}

static gbs_sampler_spec forty_chains(void)
{
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    spec.chains = CHAINS;
    spec.seed = 5;
    return spec;
}

/* Runs SAVES intervals, each followed by a save; returns how many saves succeeded. */
static int run_and_save(const fixture *f, const char *path)
{
    const gbs_sampler_spec spec = forty_chains();
    gbs_sampler *const sampler = make_sampler(f, &spec);
    size_t bytes;
    int saved = 0;
    assert_int_equal(gbs_checkpoint_size(sampler, NULL, &bytes), GBS_OK);
    void *const block = malloc(bytes);
    for (int k = 0; k < SAVES; ++k) {
        gbs_io_error error;
        assert_int_equal(gbs_sampler_run(sampler, EVERY), GBS_OK);
        assert_int_equal(gbs_checkpoint_write(sampler, NULL, NULL, block, bytes), GBS_OK);
        const gbs_io_status status = gbs_checkpoint_save(path, block, bytes, &error);
        if (status == GBS_IO_OK)
            saved++;
        else if (status != GBS_IO_WRITE || strstr(error.message, "cannot be written") == NULL)
            fail_msg("expected GBS_IO_WRITE and \"cannot be written\", got %d: %s", status,
                     error.message);
    }
    free(block);
    gbs_sampler_destroy(sampler);
    return saved;
}

/* The sweep that the file's checkpoint is of, read into a sampler that then runs to the end with
 * the right bits; 0 where there is no file. */
static int64_t sweep_of(const fixture *f, const char *path)
{
    gbs_io_error error;
    void *bytes;
    size_t size;
    if (access(path, F_OK) != 0)
        return 0;
    assert_int_equal(gbs_checkpoint_load(path, &bytes, &size, &error), GBS_IO_OK);
    const gbs_sampler_spec spec = forty_chains();
    gbs_sampler *const whole = make_sampler(f, &spec), *const resumed = make_sampler(f, &spec);
    if (gbs_checkpoint_read(resumed, NULL, bytes, size) != GBS_OK)
        fail_msg("half a checkpoint: %s", gbs_context_message(f->ctx));
    const int64_t sweep = gbs_sampler_next_sweep(resumed);
    double expected[CHAINS * 3], got[CHAINS * 3];
    assert_int_equal(gbs_sampler_run(whole, 100), GBS_OK);
    assert_int_equal(gbs_sampler_run(resumed, 100 - sweep), GBS_OK);
    assert_int_equal(gbs_sampler_get_state(whole, expected), GBS_OK);
    assert_int_equal(gbs_sampler_get_state(resumed, got), GBS_OK);
    assert_memory_equal(expected, got, sizeof got);
    gbs_sampler_destroy(whole);
    gbs_sampler_destroy(resumed);
    free(bytes);
    return sweep;
}

static int64_t calls_of_a_run(const fixture *f)
{
    const folder where = new_folder();
    calls = 0;
    fatal = -1;
    assert_int_equal(run_and_save(f, where.file), SAVES);
    assert_int_equal(empty_folder(&where), 1);
    return calls;
}

static void test_killed_at_each_call(void **state)
{
    const fixture *const f = *state;
    const int64_t total = calls_of_a_run(f), each = total / SAVES;
    assert_true(each >= 3);
    for (int64_t k = 0; k < total; ++k) {
        const folder where = new_folder();
        fflush(stdout);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            calls = 0;
            fatal = k;
            kills = 1;
            run_and_save(f, where.file);
            _exit(0);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        const int64_t sweep = sweep_of(f, where.file), begun = k / each; /* saves before this one */
        if (sweep < begun * EVERY || sweep > (begun + 1) * EVERY)
            fail_msg("killed at call %lld, in save %lld: the file is of sweep %lld, expected %lld "
                     "or %lld",
                     (long long)k, (long long)begun, (long long)sweep, (long long)begun * EVERY,
                     (long long)(begun + 1) * EVERY);
        empty_folder(&where);
    }
    printf("checked: killed at each of %lld calls of %d saves: the file is whole, at most one "
           "interval of %d sweeps is lost\n",
           (long long)total, SAVES, EVERY);
}

/* After the rename nothing that fails can undo it: the folder's own sync is the last call. */
static void test_each_call_fails(void **state)
{
    const fixture *const f = *state;
    const int64_t total = calls_of_a_run(f), each = total / SAVES;
    int64_t seen = 0;
    for (int64_t k = 0; k < each; ++k) {
        const folder where = new_folder();
        calls = 0;
        fatal = each + k; /* of the second save */
        kills = 0;
        const int saved = run_and_save(f, where.file);
        fatal = -1;
        seen += saved == SAVES - 1;
        assert_true(saved == SAVES - 1 || k == each - 1);
        assert_int_equal(sweep_of(f, where.file), SAVES * EVERY); /* the third came through */
        assert_int_equal(empty_folder(&where), 1);
    }
    assert_true(seen >= each - 1);
    printf("checked: each of %lld calls of a save fails: a status, no file beside it, and the next "
           "save succeeds\n",
           (long long)each);
}

static void test_failed_save_keeps_the_older_file(void **state)
{
    const fixture *const f = *state;
    const folder where = new_folder();
    gbs_io_error error;
    unsigned char older[100], newer[100], *got;
    size_t size;
    memset(older, 1, sizeof older);
    memset(newer, 2, sizeof newer);
    (void)f;
    fatal = -1;
    assert_int_equal(gbs_checkpoint_save(where.file, older, sizeof older, &error), GBS_IO_OK);
    calls = 0;
    fatal = 0;
    kills = 0;
    assert_int_equal(gbs_checkpoint_save(where.file, newer, sizeof newer, &error), GBS_IO_WRITE);
    fatal = -1;
    assert_int_equal(gbs_checkpoint_load(where.file, (void **)&got, &size, &error), GBS_IO_OK);
    assert_int_equal(size, sizeof older);
    assert_memory_equal(got, older, size);
    free(got);
    assert_int_equal(gbs_checkpoint_load("/nowhere/x", (void **)&got, &size, &error), GBS_IO_FILE);
    assert_null(got);
    assert_int_equal(gbs_checkpoint_save("/nowhere/x", older, 1, &error), GBS_IO_WRITE);
    assert_int_equal(empty_folder(&where), 1);
    printf("checked: a save that fails leaves the older file, a load names what it cannot open\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_killed_at_each_call, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(test_each_call_fails, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(test_failed_save_keeps_the_older_file, open_fixture,
                                        close_fixture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
