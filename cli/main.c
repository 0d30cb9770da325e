/* The program gibbsite: a table of verbs, each in a file of its own. */
#include "cli.h"
#include "help.h"
#include "interrupt.h"
#include "json.h"

#include <stdio.h>
#include <string.h>

static const struct verb {
    const char *name;
    exit_code (*start)(int argc, char **argv);
    const char *purpose;
} verbs[] = {
    {"sample", verb_sample, "draw from a Gaussian given by its precision or covariance matrix"},
    {"summary", verb_summary,
     "means, quantiles, Monte Carlo errors, ESS and R-hat of a file of draws"},
    {"info", verb_info, "what to expect of a matrix: size, condition, how slowly it mixes, advice"},
    {"make", verb_make, "write the precision matrix of a standard model"},
    {"selftest", verb_selftest, "check this build on this machine, one line per check"},
    {"bench", verb_bench, "site updates a second on this machine, and their share of its ceiling"},
};

enum { VERBS = sizeof verbs / sizeof *verbs };

static const char aim[] = "Gibbs sampling of Gaussian models: same seed, same bits, everywhere.";
static const char example[] = "  gibbsite make ar1 -n 10 --phi 0.5 -o q.mtx\n"
                              "  gibbsite info -Q q.mtx\n"
                              "  gibbsite sample -Q q.mtx --seed 1";

const char *verb_purpose(const char *name)
{
    for (int k = 0; k < VERBS; k++)
        if (!strcmp(name, verbs[k].name))
            return verbs[k].purpose;
    return "";
}

static void print_text(FILE *to)
{
    fprintf(to, "Usage: gibbsite VERB [options]\n\n%s\n\nVerbs:\n", aim);
    for (int k = 0; k < VERBS; k++)
        fprintf(to, "  %-10s %s\n", verbs[k].name, verbs[k].purpose);
    fprintf(to,
            "\n'gibbsite VERB --help' lists a verb's options, with an example.\n"
            "Exit codes: %s\n\nExample:\n%s\n",
            help_exit_codes, example);
}

static void print_page(void)
{
    help_man_start("", aim);
    help_man_heading("SYNOPSIS");
    puts(".B gibbsite\nVERB [options]");
    help_man_heading("DESCRIPTION");
    for (int k = 0; k < VERBS; k++) {
        printf(".TP\n.BR gibbsite\\-%s (1)\n", verbs[k].name);
        help_man_text(verbs[k].purpose);
    }
    help_man_heading("EXAMPLE");
    help_man_lines(example);
    help_man_end();
}

/* A word that begins with a dash is completed from the options of its command, one behind an option
 * with choices from those, and any other as bash completes files. */
static void print_completion(void)
{
    puts("# Completion of gibbsite's command line, printed by 'gibbsite --help=bash'.\n"
         "_gibbsite() {\n"
         "    local word=${COMP_WORDS[COMP_CWORD]} last=${COMP_WORDS[COMP_CWORD - 1]}\n"
         "    local command=${COMP_WORDS[1]} words=\n"
         "    local -A values=()\n"
         "    ((COMP_CWORD > 1)) || command=\n"
         "    [[ $command != make ]] || ((COMP_CWORD == 2)) || command=\"make ${COMP_WORDS[2]}\"\n"
         "    case $command in");
    help_bash_start("", "");
    fputs("        words='", stdout);
    for (int k = 0; k < VERBS; k++)
        printf("%s ", verbs[k].name);
    puts("--help --version'");
    help_bash_end();
    for (int k = 0; k < VERBS; k++)
        verbs[k].start(1, (char *[]){"--help=bash", NULL});
    puts("    esac\n"
         "    if [[ -n $last && -n ${values[$last]} ]]; then\n"
         "        words=${values[$last]}\n"
         "    elif [[ -n $command && $command != make && $word != -* ]]; then\n"
         "        words=\n"
         "    fi\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "}\n"
         "complete -o bashdefault -o default -F _gibbsite gibbsite");
}

static exit_code print_help(help_form form)
{
    if (form == HELP_MAN)
        print_page();
    else if (form == HELP_BASH)
        print_completion();
    else
        print_text(stdout);
    return finish_stdout(EXIT_FINE);
}

static exit_code run(int argc, char **argv)
{
    if (argc < 2) {
        print_text(stderr);
        return EXIT_USAGE;
    }
    if (help_asked(argv[1]) != HELP_NONE)
        return print_help(help_asked(argv[1]));
    if (!strcmp(argv[1], "--version")) {
        printf("gibbsite %s\n", gbs_version());
        return finish_stdout(EXIT_FINE);
    }
    interrupt_install();
    json_start();
    for (int k = 0; k < VERBS; k++)
        if (!strcmp(argv[1], verbs[k].name))
            return verbs[k].start(argc - 2, argv + 2);
    return complain(EXIT_USAGE, "unknown verb '%s'; 'gibbsite --help' lists them", argv[1]);
}

int main(int argc, char **argv)
{
    return (int)run(argc, argv);
}
