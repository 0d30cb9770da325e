/* The program gibbsite: a table of verbs, each in a file of its own. */
#include "cli.h"
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
};

enum { VERBS = sizeof verbs / sizeof *verbs };

static void print_help(FILE *to)
{
    fputs("Usage: gibbsite VERB [options]\n\n"
          "Gibbs sampling of Gaussian models: same seed, same bits, everywhere.\n\nVerbs:\n",
          to);
    for (int k = 0; k < VERBS; k++)
        fprintf(to, "  %-10s %s\n", verbs[k].name, verbs[k].purpose);
    fputs(
        "\n'gibbsite VERB --help' lists a verb's options, with an example.\n"
        "Exit codes: 0 fine, 1 check failed, 2 usage, 3 bad input, 4 file trouble, 5 interrupted.\n"
        "\nExample:\n"
        "  gibbsite make ar1 -n 10 --phi 0.5 -o q.mtx\n"
        "  gibbsite info -Q q.mtx\n"
        "  gibbsite sample -Q q.mtx --seed 1\n",
        to);
}

static exit_code run(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
        print_help(stdout);
        return finish_stdout(EXIT_FINE);
    }
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
