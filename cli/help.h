/* What a command says of itself, from its one table in three forms: the text of --help, a manual
 * page, and its words for bash's completion. */
#ifndef GIBBSITE_CLI_HELP_H
#define GIBBSITE_CLI_HELP_H

#include "options.h"

typedef enum help_form {
    HELP_NONE, /* none was asked for */
    HELP_TEXT, /* --help, -h */
    HELP_MAN,  /* --help=man: a page for man(1), in roff */
    HELP_BASH  /* --help=bash: a branch of the completion's case, or all of the script */
} help_form;

help_form help_asked(const char *word);

/* In any form.  As a page, a command whose name has a space ("make ar1") is a section of the page
 * of its verb, which has printed the rest. */
void help_command(const cli_command *command, help_form form);

/* Parts of a page: the start with its name ("make", or "" for the program) and purpose; a heading;
 * text whose lines are joined; lines as they are; exit codes and where to read on. */
void help_man_start(const char *verb, const char *purpose);
void help_man_heading(const char *heading);
void help_man_text(const char *text);
void help_man_lines(const char *lines);
void help_man_end(void);

/* A branch of the completion's case: what may follow `command`, separated by blanks; closed by
 * help_bash_end, between which are the values of options. */
void help_bash_start(const char *command, const char *words);
void help_bash_end(void);

/* The meaning of the program's exit codes, for every form. */
extern const char help_exit_codes[];

#endif
