/* The table-driven parser behind every verb.  getopt_long would give positions and strings; what
 * we need beyond it (bounds, choices, "given twice", help from the same table) is most of the
 * work, so all of it is here.  Values may follow as "--name value" or "--name=value". */
#define _POSIX_C_SOURCE 200809L
#include "help.h"
#include "options.h"

#include "io/file.h"
#include "io/npz.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

exit_code usage_error(const cli_command *command, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("gibbsite: ", stderr);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\ngibbsite: try 'gibbsite %s --help'\n", command->name);
    va_end(arguments);
    return EXIT_USAGE;
}

/* strtoll and strtod skip white space and strtod takes names and hexadecimal; a value that is
 * not plainly a decimal number is a slip worth telling. */
static bool looks_decimal(const char *text, bool real)
{
    const char *first = text + (*text == '-' || *text == '+');
    if (!isdigit((unsigned char)*first) && !(real && *first == '.'))
        return false;
    for (const char *c = first; *c; c++)
        if (!isdigit((unsigned char)*c) && !(real && strchr(".eE+-", *c)))
            return false;
    return true;
}

static bool parse_count(const cli_command *command, const cli_option *o, const char *text)
{
    if (!looks_decimal(text, false)) {
        usage_error(command, "%s: '%s' is not a whole number", o->name, text);
        return false;
    }
    errno = 0;
    const long long value = strtoll(text, NULL, 10);
    if (errno == ERANGE || value < o->least || value > o->most) {
        if (o->most == INT64_MAX)
            usage_error(command, "%s: %s is out of range, at least %lld is needed", o->name, text,
                        (long long)o->least);
        else
            usage_error(command, "%s: %s is out of range, %lld to %lld is allowed", o->name, text,
                        (long long)o->least, (long long)o->most);
        return false;
    }
    *(int64_t *)o->value = value;
    return true;
}

static bool parse_real(const cli_command *command, const cli_option *o, const char *text)
{
    char *end = NULL;
    const double value = looks_decimal(text, true) ? strtod(text, &end) : 0;
    if (!end || *end) {
        usage_error(command, "%s: '%s' is not a number", o->name, text);
        return false;
    }
    if (value > DBL_MAX && isinf(o->high)) {
        usage_error(command, "%s: %s is beyond the range of double", o->name, text);
        return false;
    }
    const bool inside =
        o->open ? value > o->low && value < o->high : value >= o->low && value <= o->high;
    if (!isfinite(value) || !inside) {
        if (isinf(o->high))
            usage_error(command, "%s: %s is out of range, it must be %s %g", o->name, text,
                        o->open ? "above" : "at least", o->low);
        else
            usage_error(command, "%s: %s is out of range, it must be %s %g and %g", o->name, text,
                        o->open ? "strictly between" : "between", o->low, o->high);
        return false;
    }
    *(double *)o->value = value;
    return true;
}

/* Seeds go to 2^64-1, and -1 is the same seed: a seed that some program reported as a signed
 * number can be given back. */
static bool parse_seed(const cli_command *command, const cli_option *o, const char *text)
{
    if (!strcmp(text, "-1")) {
        *(uint64_t *)o->value = UINT64_MAX;
        return true;
    }
    errno = 0;
    const bool digits = isdigit((unsigned char)*text) && looks_decimal(text, false);
    const unsigned long long value = digits ? strtoull(text, NULL, 10) : 0;
    if (!digits || errno == ERANGE) {
        usage_error(command,
                    "%s: '%s' is not a seed: 0 to 18446744073709551615, or -1 for the last",
                    o->name, text);
        return false;
    }
    *(uint64_t *)o->value = value;
    return true;
}

static bool parse_choice(const cli_command *command, const cli_option *o, const char *text)
{
    char list[256] = "";
    for (int k = 0; o->choices[k]; k++) {
        if (!strcmp(o->choices[k], text)) {
            *(int *)o->value = k;
            return true;
        }
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", k ? ", " : "", o->choices[k]);
    }
    usage_error(command, "%s: '%s' is not one of %s", o->name, text, list);
    return false;
}

static bool store(const cli_command *command, const cli_option *o, const char *text)
{
    switch (o->kind) {
    case OPTION_FLAG: *(bool *)o->value = true; return true;
    case OPTION_COUNT: return parse_count(command, o, text);
    case OPTION_REAL: return parse_real(command, o, text);
    case OPTION_SEED: return parse_seed(command, o, text);
    case OPTION_CHOICE: return parse_choice(command, o, text);
    case OPTION_TEXT: break;
    }
    if (!*text) {
        usage_error(command, "%s: the value is empty", o->name);
        return false;
    }
    *(const char **)o->value = text;
    return true;
}

/* The option that the first `length` bytes of `typed` name. */
static cli_option *find_option(const cli_command *command, const char *typed, size_t length)
{
    for (size_t k = 0; k < command->count; k++) {
        const char *name = command->options[k].name;
        if (strlen(name) == length && !memcmp(name, typed, length))
            return &command->options[k];
    }
    return NULL;
}

/* One option at argv[*at]; leaves *at at the last word it used. */
static bool parse_option(const cli_command *command, int argc, char **argv, int *at)
{
    const char *typed = argv[*at];
    const char *equals = strncmp(typed, "--", 2) ? NULL : strchr(typed, '=');
    const size_t length = equals ? (size_t)(equals - typed) : strlen(typed);
    cli_option *o = find_option(command, typed, length);
    if (!o) {
        usage_error(command, "unknown option '%.*s'", (int)length, typed);
        return false;
    }
    if (o->given) {
        usage_error(command, "%s is given twice", o->name);
        return false;
    }
    if (o->kind == OPTION_FLAG && equals) {
        usage_error(command, "%s takes no value, '%s' was given", o->name, equals + 1);
        return false;
    }
    const char *text = equals ? equals + 1 : "";
    if (o->kind != OPTION_FLAG && !equals) {
        if (*at + 1 >= argc) {
            usage_error(command, "%s: its value %s is missing", o->name, o->argument);
            return false;
        }
        text = argv[++*at];
    }
    o->given = true;
    return store(command, o, text);
}

static bool parse_operand(const cli_command *command, const char *text)
{
    if (command->operand && command->operand_count) {
        command->operand_value[(*command->operand_count)++] = text;
        return true;
    }
    if (!command->operand || *command->operand_value) {
        usage_error(command, "unexpected argument '%s'", text);
        return false;
    }
    *command->operand_value = text;
    return true;
}

static bool all_there(const cli_command *command)
{
    for (size_t k = 0; k < command->count; k++)
        if (command->options[k].required && !command->options[k].given) {
            usage_error(command, "%s %s is needed", command->options[k].name,
                        command->options[k].argument);
            return false;
        }
    if (command->operand &&
        (command->operand_count ? !*command->operand_count : !*command->operand_value)) {
        usage_error(command, "%s is needed", command->operand);
        return false;
    }
    return true;
}

bool options_parse(const cli_command *command, int argc, char **argv, exit_code *code)
{
    *code = EXIT_FINE;
    for (int k = 0; k < argc; k++)
        if (help_asked(argv[k]) != HELP_NONE) {
            help_command(command, help_asked(argv[k]));
            *code = finish_stdout(EXIT_FINE);
            return false;
        }
    *code = EXIT_USAGE;
    for (int k = 0; k < argc; k++) {
        const bool dashed = argv[k][0] == '-' && argv[k][1];
        if (dashed ? !parse_option(command, argc, argv, &k) : !parse_operand(command, argv[k]))
            return false;
    }
    if (!all_there(command))
        return false;
    *code = EXIT_FINE;
    return true;
}

bool option_given(const cli_command *command, const char *name)
{
    const cli_option *o = find_option(command, name, strlen(name));
    return o && o->given;
}

/* Whether an input lies in this file, as a member of it or as all of it. */
static bool lies_in(const char *input, const struct stat *target)
{
    char *name = strndup(input, gbs_npz_file_length(input));
    struct stat about;
    const bool same = name && !stat(name, &about) && about.st_dev == target->st_dev &&
                      about.st_ino == target->st_ino;
    free(name);
    return same;
}

/* The folder of a path, and where its name begins. */
static const char *split_path(const char *path, char **folder)
{
    const char *const slash = strrchr(path, '/');
    *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    return slash ? slash + 1 : path;
}

/* Where there is no file yet: of one name in one folder. */
static bool same_name(const char *a, const char *b)
{
    struct stat about_a, about_b;
    char *folder_a, *folder_b;
    const char *const name_a = split_path(a, &folder_a), *const name_b = split_path(b, &folder_b);
    const bool same = folder_a && folder_b && !strcmp(name_a, name_b) &&
                      !stat(folder_a, &about_a) && !stat(folder_b, &about_b) &&
                      about_a.st_dev == about_b.st_dev && about_a.st_ino == about_b.st_ino;
    free(folder_a);
    free(folder_b);
    return same;
}

bool same_place(const char *a, const char *b)
{
    struct stat about_a, about_b;
    if (!stat(a, &about_a) && !stat(b, &about_b))
        return about_a.st_dev == about_b.st_dev && about_a.st_ino == about_b.st_ino;
    char *target_a = gbs_output_target(a), *target_b = gbs_output_target(b);
    const bool same = target_a && target_b && same_name(target_a, target_b);
    free(target_a);
    free(target_b);
    return same;
}

exit_code check_output(const cli_command *command, const char *option, const char *output,
                       const char *const inputs[], size_t count)
{
    struct stat target;
    if (!output || stat(output, &target))
        return EXIT_FINE;
    for (size_t k = 0; k < count; k++) {
        if (!inputs[k] || !lies_in(inputs[k], &target))
            continue;
        if (!strcmp(inputs[k], output))
            return usage_error(command, "%s: '%s' is an input of this run", option, output);
        return usage_error(command, "%s: '%s' is an input of this run, '%s'", option, output,
                           inputs[k]);
    }
    return EXIT_FINE;
}

exit_code refuse_dash(const cli_command *command, const char *option, const char *name)
{
    if (!name || strcmp(name, "-") != 0)
        return EXIT_FINE;
    return usage_error(command,
                       "%s: '-' is no file, and standard output cannot take what goes there; a "
                       "file of that name is './-'",
                       option);
}
