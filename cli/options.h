/* A command line from a table: each option names its kind, its bounds, where its value goes and
 * its line in the help, so that what is parsed and what --help says cannot differ. */
#ifndef GIBBSITE_CLI_OPTIONS_H
#define GIBBSITE_CLI_OPTIONS_H

#include "cli.h"

typedef enum option_kind {
    OPTION_FLAG,  /* bool *, no value */
    OPTION_TEXT,  /* const char ** */
    OPTION_COUNT, /* int64_t *, least <= value <= most */
    OPTION_REAL,  /* double *, low <= value <= high, or between them if open */
    OPTION_SEED,  /* uint64_t *, 0 ... 2^64-1, and -1 for 2^64-1 */
    OPTION_CHOICE /* int *, the index in choices, which ends with NULL */
} option_kind;

typedef struct cli_option {
    const char *name;     /* as typed: "--chains", "-Q" */
    const char *argument; /* what stands for the value in the help */
    const char *help;
    void *value;
    option_kind kind;
    bool required;
    bool given; /* set by the parser */
    bool open;
    double low, high;
    int64_t least, most;
    const char *const *choices;
} cli_option;

typedef struct cli_command {
    const char *name;    /* "sample", "make ar1" */
    const char *usage;   /* the rest of the usage line */
    const char *purpose; /* a few lines */
    const char *example; /* commands that work as they stand */
    cli_option *options;
    size_t count;
    const char *operand;        /* name of the one operand, NULL if it takes none */
    const char **operand_value; /* where it goes */
    size_t *operand_count; /* NULL, or as many as are given go into operand_value: their count */
} cli_command;

/* Fills the table's targets.  False if there is nothing more to do: *code is then EXIT_FINE
 * after --help and EXIT_USAGE after a message naming the option and its value. */
bool options_parse(const cli_command *command, int argc, char **argv, exit_code *code);

bool option_given(const cli_command *command, const char *name);

/* Prints the message and where help is; returns EXIT_USAGE. */
exit_code usage_error(const cli_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Whether two paths name one file, be it there yet or not. */
bool same_place(const char *a, const char *b);

/* Refuses the output that an option names where it is one of the inputs, under whatever name or
 * link: its contents would be lost, and then no run could be repeated.  NULLs among the names are
 * passed over. */
exit_code check_output(const cli_command *command, const char *option, const char *output,
                       const char *const inputs[], size_t count);

/* "-" where a file is complete when it appears, which standard output cannot be.  name may be NULL.
 */
exit_code refuse_dash(const cli_command *command, const char *option, const char *name);

#endif
