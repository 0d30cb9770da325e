/* Help, manual pages and completion from a command's table.  roff: man(7); a page has no date, so
 * that the same program makes the same page. */
#include "help.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

const char help_exit_codes[] =
    "0 fine, 1 check failed, 2 usage, 3 bad input, 4 file trouble, 5 interrupted.";

help_form help_asked(const char *word)
{
    static const struct {
        const char *word;
        help_form form;
    } forms[] = {{"--help", HELP_TEXT},
                 {"-h", HELP_TEXT},
                 {"--help=man", HELP_MAN},
                 {"--help=bash", HELP_BASH}};
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++)
        if (!strcmp(word, forms[k].word))
            return forms[k].form;
    return HELP_NONE;
}

/* ------------------------------------------------------------------ text */

/* "  --chains N            text", the text's own line breaks indented to its column. */
static void print_option(const cli_option *o)
{
    enum { COLUMN = 26 };
    const int width =
        printf("  %s%s%s", o->name, o->argument ? " " : "", o->argument ? o->argument : "");
    printf("%*s", width < COLUMN - 1 ? COLUMN - width : 1, "");
    for (const char *c = o->help; *c; c++) {
        putchar(*c);
        if (*c == '\n')
            printf("%*s", COLUMN, "");
    }
    putchar('\n');
}

static void print_text(const cli_command *command)
{
    printf("Usage: gibbsite %s%s%s\n\n%s\n", command->name, *command->usage ? " " : "",
           command->usage, command->purpose);
    if (command->count)
        puts("\nOptions:");
    for (size_t k = 0; k < command->count; k++)
        print_option(&command->options[k]);
    printf("\nExample:\n%s\n", command->example);
}

/* ------------------------------------------------------------------ manual pages */

/* One line, with what roff would take for its own made plain. */
static void print_roff(const char *text, size_t length)
{
    if (length && strchr(".'", *text))
        fputs("\\&", stdout);
    for (size_t k = 0; k < length; k++)
        switch (text[k]) {
        case '\\': fputs("\\e", stdout); break;
        case '-': fputs("\\-", stdout); break;
        case '\'': fputs("\\(aq", stdout); break;
        case '^': fputs("\\(ha", stdout); break;
        case '~': fputs("\\(ti", stdout); break;
        default: putchar(text[k]);
        }
}

void help_man_text(const char *text)
{
    while (*text) {
        const size_t length = strcspn(text, "\n");
        print_roff(text, length);
        putchar('\n');
        text += length + (text[length] != 0);
    }
}

void help_man_lines(const char *lines)
{
    puts(".PP\n.nf");
    help_man_text(lines);
    puts(".fi");
}

void help_man_heading(const char *heading)
{
    printf(".SH \"%s\"\n", heading);
}

void help_man_start(const char *verb, const char *purpose)
{
    printf(".TH \"GIBBSITE%s", *verb ? "-" : "");
    for (const char *c = verb; *c; c++)
        putchar(toupper((unsigned char)*c));
    printf("\" 1 \"\" \"gibbsite %s\" \"User Commands\"\n", gbs_version());
    help_man_heading("NAME");
    printf("gibbsite%s%s \\- ", *verb ? "\\-" : "", verb);
    help_man_text(purpose);
}

void help_man_end(void)
{
    help_man_heading("EXIT STATUS");
    help_man_text(help_exit_codes);
    help_man_heading("SEE ALSO");
    puts(".BR gibbsite (1);\nthe pages docs/program.md and docs/file\\-formats.md of the source, "
         "in\n"
         "share/doc/gibbsite where it is installed.");
}

static void print_man_option(const cli_option *o)
{
    puts(".TP");
    fputs(".BR \"", stdout);
    print_roff(o->name, strlen(o->name));
    fputs("\"", stdout);
    if (o->argument)
        printf(" \" \\fI%s\\fR\"", o->argument);
    putchar('\n');
    help_man_text(o->help);
}

static void print_man(const cli_command *command)
{
    const bool section = strchr(command->name, ' ') != NULL;
    if (section) {
        help_man_heading(command->name);
    } else {
        help_man_start(command->name, verb_purpose(command->name));
        help_man_heading("SYNOPSIS");
    }
    printf(".B gibbsite %s\n", command->name);
    help_man_text(command->usage);
    if (section)
        puts(".PP");
    else
        help_man_heading("DESCRIPTION");
    help_man_text(command->purpose);
    if (!section && command->count)
        help_man_heading("OPTIONS");
    for (size_t k = 0; k < command->count; k++)
        print_man_option(&command->options[k]);
    if (section)
        puts(".PP\nExample:");
    else
        help_man_heading("EXAMPLE");
    help_man_lines(command->example);
    if (!section)
        help_man_end();
}

/* ------------------------------------------------------------------ completion */

void help_bash_start(const char *command, const char *words)
{
    printf("    '%s')\n", command);
    if (*words)
        printf("        words='%s'\n", words);
}

void help_bash_end(void)
{
    puts("        ;;");
}

static void print_bash(const cli_command *command)
{
    char words[2048] = "";
    size_t used = 0;
    for (size_t k = 0; k < command->count && used < sizeof words / 2; k++)
        used +=
            (size_t)snprintf(words + used, sizeof words - used, "%s ", command->options[k].name);
    snprintf(words + used, sizeof words - used, "--help");
    help_bash_start(command->name, words);
    for (size_t k = 0; k < command->count; k++) {
        const cli_option *o = &command->options[k];
        if (o->kind != OPTION_CHOICE)
            continue;
        printf("        values[%s]='", o->name);
        for (int c = 0; o->choices[c]; c++)
            printf("%s%s", c ? " " : "", o->choices[c]);
        puts("'");
    }
    help_bash_end();
}

void help_command(const cli_command *command, help_form form)
{
    switch (form) {
    case HELP_NONE: break;
    case HELP_TEXT: print_text(command); break;
    case HELP_MAN: print_man(command); break;
    case HELP_BASH: print_bash(command); break;
    }
}
