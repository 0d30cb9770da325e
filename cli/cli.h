/* What the verbs of the program share: exit codes, messages and the list of verbs.  The program
 * uses the public header and the readers of src/io alone, as any other program could. */
#ifndef GIBBSITE_CLI_H
#define GIBBSITE_CLI_H

#include "gibbsite/gibbsite.h"
#include "io/error.h" /* gbs_plural */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum exit_code {
    EXIT_FINE = 0,
    EXIT_CHECK_FAILED = 1, /* summary --check, selftest */
    EXIT_USAGE = 2,        /* the command line is wrong, or asks for what is not here */
    EXIT_BAD_INPUT = 3,    /* a file can be read and is wrong, or the model cannot be used */
    EXIT_FILE = 4,         /* a file cannot be opened, read or written; no memory; a GPU failed */
    EXIT_INTERRUPTED = 5   /* SIGINT or SIGTERM; nothing stands under the output's name
                              unless a part was to be kept */
} exit_code;

enum { MOST_THREADS = 1024 }; /* that a context takes */

/* One line on stderr, "gibbsite: " before it.  complain returns its first argument, so that
 * callers write `return complain(EXIT_USAGE, ...)`. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
exit_code complain(exit_code code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The exit code that a status of the library amounts to, after printing the context's message. */
exit_code complain_status(const gbs_context *ctx, gbs_status status);

/* count * size bytes, zeroed, for `what`; NULL after a message where there is no such memory, and
 * the caller then leaves with EXIT_FILE. */
void *take(int64_t count, size_t size, const char *what);

/* The shortest decimal that reads back as the same double; returns `to`, of at least 32 bytes. */
const char *shortest(double value, char *to);

/* Whether a quantity that is positive by its nature came out as such a number; at the ends of
 * double's range it may overflow or vanish on the way.  Where not, OUT_OF_RANGE is printed. */
bool in_range(double value);
#define OUT_OF_RANGE "not computed: beyond double's range"

/* Flushes stdout: a full disk or a closed pipe behind it must not pass for success. */
exit_code finish_stdout(exit_code code);

/* One line on what a verb does. */
const char *verb_purpose(const char *name);

/* Each verb gets its own arguments alone, after its name. */
exit_code verb_sample(int argc, char **argv);
exit_code verb_summary(int argc, char **argv);
exit_code verb_info(int argc, char **argv);
exit_code verb_make(int argc, char **argv);
exit_code verb_selftest(int argc, char **argv);
exit_code verb_bench(int argc, char **argv);

#endif
