/* gibbsite summary: diagnoses files of draws, ours or any that ArviZ or CmdStan write. */
#include "cli.h"
#include "draw_files.h"
#include "options.h"
#include "report.h"

#include <math.h>
#include <stdlib.h>

/* "file", or "files" where there are several. */
static bool set_files(json_t *object, const draw_files *files)
{
    if (files->count == 1)
        return !json_object_set_new(object, "file", json_text(files->path[0]));
    json_t *list = json_array();
    for (int64_t f = 0; list && f < files->count; f++)
        if (json_array_append_new(list, json_text(files->path[f]))) {
            json_decref(list);
            list = NULL;
        }
    return !json_object_set_new(object, "files", list);
}

static exit_code print_json(const report *r, const report_limits *limits, const draw_files *files,
                            exit_code code)
{
    json_t *object = json_pack("{s:s, s:s}", "gibbsite", gbs_version(), "verb", "summary");
    if (object && (!set_files(object, files) || !report_json(r, limits, object))) {
        json_decref(object);
        object = NULL;
    }
    return json_print(object, code);
}

static exit_code summarise(const draw_files *files, int64_t superchains,
                           const report_limits *limits, bool check, bool json)
{
    if (superchains && files->source.chains % superchains)
        return complain(EXIT_USAGE,
                        "--superchains: %lld chains cannot be split into %lld of equal size",
                        (long long)files->source.chains, (long long)superchains);
    report r;
    exit_code code = report_make(&r, &files->source, superchains);
    if (code == EXIT_FINE) {
        if (check && report_failures(&r, limits))
            code = EXIT_CHECK_FAILED;
        if (json) {
            code = print_json(&r, check ? limits : NULL, files, code);
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

static exit_code run(int argc, char **argv, const char **paths)
{
    size_t count = 0;
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
        .usage = "FILE... [options]",
        .purpose =
            "Per variable: mean, sd, Monte Carlo errors, quantiles, bulk and tail ESS and rank-\n"
            "normalised split R-hat; then the trace (sum over variables of (x - mean)^2, whose\n"
            "mean is the sum of the variances), warnings and the worst figures.\n"
            "FILE: .npy [chain, draw, variable], netCDF with a posterior group, or CmdStan's\n"
            "CSV.  Several files are the chains of one run, one file behind the other.",
        .example = "  gibbsite make ar1 -n 10 --phi 0.5 -o q.mtx\n"
                   "  gibbsite sample -Q q.mtx --draws 4000 --seed 1 -o draws.nc\n"
                   "  gibbsite summary draws.nc --check",
        .options = options,
        .count = sizeof options / sizeof *options,
        .operand = "FILE",
        .operand_value = paths,
        .operand_count = &count,
    };
    exit_code code;
    if (!options_parse(&command, argc, argv, &code))
        return code;
    if (!check && (option_given(&command, "--rhat") || option_given(&command, "--ess")))
        return usage_error(&command, "--rhat and --ess are limits of --check, which is not given");
    draw_files files;
    code = draw_files_open(&files, paths, (int64_t)count);
    if (code == EXIT_FINE)
        code = summarise(&files, superchains, &limits, check, json);
    draw_files_close(&files);
    return code;
}

exit_code verb_summary(int argc, char **argv)
{
    const char **paths = take(argc, sizeof *paths, "command line");
    const exit_code code = paths ? run(argc, argv, paths) : EXIT_FILE;
    free((void *)paths);
    return code;
}
