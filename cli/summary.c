/* gibbsite summary: diagnoses a file of draws, ours or any that ArviZ writes. */
#include "cli.h"
#include "options.h"
#include "report.h"

#include "io/results.h"

#include <math.h>
#include <stdio.h>

/* The variables of a file, one after the other. */
typedef struct file_draws {
    gbs_results_reader *reader;
    const char *path;
} file_draws;

/* Splits a running number into the file's variable and the element of it. */
static int64_t locate(const gbs_results_reader *reader, int64_t running, int64_t *element)
{
    int64_t variable = 0;
    while (running >= gbs_results_variable_size(reader, variable))
        running -= gbs_results_variable_size(reader, variable++);
    *element = running;
    return variable;
}

static exit_code file_read(void *user, int64_t first, int64_t n, double *out)
{
    file_draws *file = user;
    const int64_t size = gbs_results_chains(file->reader) * gbs_results_draws(file->reader);
    gbs_io_error error;
    for (int64_t done = 0; done < n;) {
        int64_t element;
        const int64_t variable = locate(file->reader, first + done, &element);
        const int64_t left = gbs_results_variable_size(file->reader, variable) - element;
        const int64_t now = left < n - done ? left : n - done;
        const gbs_io_status status =
            gbs_results_read(file->reader, variable, element, now, out + done * size, &error);
        if (status != GBS_IO_OK)
            return complain((exit_code)gbs_io_exit_code(status), "%s", error.message);
        done += now;
    }
    return EXIT_FINE;
}

static const char *file_name(void *user, int64_t running, char *to, size_t capacity)
{
    file_draws *file = user;
    int64_t element;
    const int64_t variable = locate(file->reader, running, &element);
    return gbs_results_element_name(file->reader, variable, element, to, capacity);
}

static int64_t file_chain_number(void *user, int64_t chain)
{
    return gbs_results_chain_number(((file_draws *)user)->reader, chain);
}

static draw_source file_source(file_draws *file)
{
    draw_source source = {.chains = gbs_results_chains(file->reader),
                          .draws = gbs_results_draws(file->reader),
                          .read = file_read,
                          .name = file_name,
                          .chain_number = file_chain_number,
                          .user = file};
    for (int64_t v = 0; v < gbs_results_variable_count(file->reader); v++)
        source.variables += gbs_results_variable_size(file->reader, v);
    return source;
}

static exit_code print_json(const report *r, const report_limits *limits, const char *path,
                            exit_code code)
{
    json_t *object = json_pack("{s:s, s:s, s:o}", "gibbsite", gbs_version(), "verb", "summary",
                               "file", json_text(path));
    if (object && !report_json(r, limits, object)) {
        json_decref(object);
        object = NULL;
    }
    return json_print(object, code);
}

static exit_code summarise_file(file_draws *file, int64_t superchains, const report_limits *limits,
                                bool check, bool json)
{
    const draw_source source = file_source(file);
    if (superchains && source.chains % superchains)
        return complain(EXIT_USAGE,
                        "--superchains: %lld chains cannot be split into %lld of equal size",
                        (long long)source.chains, (long long)superchains);
    report r;
    exit_code code = report_make(&r, &source, superchains);
    if (code == EXIT_FINE) {
        if (check && report_failures(&r, limits))
            code = EXIT_CHECK_FAILED;
        if (json) {
            code = print_json(&r, check ? limits : NULL, file->path, code);
        } else {
            report_print(&r);
            if (check)
                report_print_check(&r, limits);
            code = finish_stdout(code);
        }
    }
    report_free(&r);
    return code;
}

exit_code verb_summary(int argc, char **argv)
{
    const char *path = NULL;
    bool json = false, check = false;
    int64_t superchains = 0;
    report_limits limits = {.rhat = 1.01, .ess = 400};
    cli_option options[] = {
        {"--check", NULL,
         "exit 1 unless every R-hat is at most --rhat (undefined\n"
         "is not) and every bulk and tail ESS at least --ess,\nand no chain repeats another",
         &check, OPTION_FLAG, .required = false},
        {"--rhat", "R", "limit of --check (default 1.01)", &limits.rhat, OPTION_REAL, .low = 0,
         .high = INFINITY, .open = true},
        {"--ess", "N", "limit of --check (default 400)", &limits.ess, OPTION_REAL, .low = 0,
         .high = INFINITY},
        {"--superchains", "K",
         "adds nested R-hat over K superchains of consecutive\nchains, equally many in each",
         &superchains, OPTION_COUNT, .least = 2, .most = INT32_MAX},
        {"--json", NULL, "one JSON object on standard output", &json, OPTION_FLAG,
         .required = false},
    };
    const cli_command command = {
        .name = "summary",
        .usage = "FILE [options]",
        .purpose =
            "Per variable: mean, sd, Monte Carlo errors, quantiles, bulk and tail ESS and rank-\n"
            "normalised split R-hat; then the trace (sum over variables of (x - mean)^2, whose\n"
            "mean is the sum of the variances), warnings and the worst figures.\n"
            "FILE: .npy [chain, draw, variable], or netCDF with a posterior group.",
        .example = "  gibbsite make ar1 -n 10 --phi 0.5 -o q.mtx\n"
                   "  gibbsite sample -Q q.mtx --draws 4000 --seed 1 -o draws.nc\n"
                   "  gibbsite summary draws.nc --check",
        .options = options,
        .count = sizeof options / sizeof *options,
        .operand = "FILE",
        .operand_value = &path,
    };
    exit_code code;
    if (!options_parse(&command, argc, argv, &code))
        return code;
    if (!check && (option_given(&command, "--rhat") || option_given(&command, "--ess")))
        return usage_error(&command, "--rhat and --ess are limits of --check, which is not given");
    file_draws file = {.path = path};
    gbs_io_error error;
    const gbs_io_status status = gbs_results_open(path, &file.reader, &error);
    if (status != GBS_IO_OK)
        return complain((exit_code)gbs_io_exit_code(status), "%s", error.message);
    code = summarise_file(&file, superchains, &limits, check, json);
    gbs_results_close(file.reader);
    return code;
}
