/* gibbsite summary: diagnoses files of draws, ours or any that ArviZ or CmdStan write. */
#include "cli.h"
#include "draw_files.h"
#include "options.h"
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* "file", or "files" where there are several. */
static bool set_files(json_t *object, const char *const *paths, int64_t count)
{
    if (count == 1)
        return !json_object_set_new(object, "file", json_text(paths[0]));
    json_t *list = json_array();
    for (int64_t f = 0; list && f < count; f++)
        if (json_array_append_new(list, json_text(paths[f]))) {
            json_decref(list);
            list = NULL;
        }
    return !json_object_set_new(object, "files", list);
}

static exit_code print_json(const report *r, const report_limits *limits, const char *const *paths,
                            int64_t count, exit_code code)
{
    json_t *object = json_pack("{s:s, s:s}", "gibbsite", gbs_version(), "verb", "summary");
    if (object && (!set_files(object, paths, count) || !report_json(r, limits, object))) {
        json_decref(object);
        object = NULL;
    }
    return json_print(object, code);
}

/* Prints what was made, and gives it back. */
static exit_code tell(report *r, const report_limits *limits, const char *const *paths,
                      int64_t count, bool check, bool json)
{
    exit_code code = check && report_failures(r, limits) ? EXIT_CHECK_FAILED : EXIT_FINE;
    if (json) {
        code = print_json(r, check ? limits : NULL, paths, count, code);
    } else {
        report_print(r);
        if (check)
            report_print_check(r, limits);
        code = finish_stdout(code);
    }
    report_free(r);
    return code;
}

static exit_code check_superchains(int64_t superchains, int64_t chains)
{
    if (superchains && chains % superchains)
        return complain(
            EXIT_USAGE, "--superchains: %lld %s cannot be split into %lld of equal size",
            (long long)chains, gbs_plural(chains, "chain", "chains"), (long long)superchains);
    return EXIT_FINE;
}

static exit_code summarise(gbs_context *ctx, const draw_files *files, int64_t superchains,
                           const report_limits *limits, bool check, bool json)
{
    report r;
    exit_code code = check_superchains(superchains, files->source.chains);
    if (code != EXIT_FINE)
        return code;
    code = report_make(&r, ctx, &files->source, superchains);
    if (code == EXIT_FINE)
        return tell(&r, limits, files->path, files->count, check, json);
    report_free(&r);
    return code;
}

static const char *moments_name(void *user, int64_t variable, char *to, size_t capacity)
{
    const gbs_moments_file *file = user;
    if (file->name)
        snprintf(to, capacity, "x[%s]", file->name[variable]);
    else
        snprintf(to, capacity, "x[%lld]", (long long)variable);
    return to;
}

static int64_t moments_chain(void *user, int64_t chain)
{
    return ((gbs_moments_file *)user)->chain_number[chain];
}

/* A file of sample --moments-only; *found tells whether it is one. */
static exit_code summarise_moments(const cli_command *command, const char *path, bool *found,
                                   int64_t superchains, bool check, bool json)
{
    gbs_moments_file file;
    gbs_io_error error;
    int is_one;
    const gbs_io_status status = gbs_moments_file_read(path, &is_one, &file, &error);
    *found = status != GBS_IO_OK || is_one;
    if (status != GBS_IO_OK)
        return complain((exit_code)gbs_io_exit_code(status), "%s", error.message);
    exit_code code = EXIT_FINE;
    if (is_one && check)
        code = usage_error(command, "--check needs draws, and %s holds moments only", path);
    else if (is_one)
        code = check_superchains(superchains, file.chains);
    if (is_one && code == EXIT_FINE) {
        const draw_source source = {.chains = file.chains,
                                    .draws = file.draws,
                                    .variables = file.dim,
                                    .name = moments_name,
                                    .chain_number = moments_chain,
                                    .user = &file};
        report r;
        code = report_from_moments(&r, &source, file.mean, file.m2, superchains);
        if (code == EXIT_FINE)
            code = tell(&r, NULL, &path, 1, false, json);
        else
            report_free(&r);
    }
    gbs_moments_file_free(&file);
    return code;
}

/* Moments are summarised one run at a time. */
static exit_code refuse_moments(const cli_command *command, const char *const *paths, size_t count)
{
    exit_code code = EXIT_FINE;
    for (size_t f = 0; code == EXIT_FINE && f < count; f++) {
        gbs_moments_file file;
        gbs_io_error error;
        int is_one;
        if (gbs_moments_file_read(paths[f], &is_one, &file, &error) == GBS_IO_OK && is_one)
            code = usage_error(command,
                               "%s holds the moments of a run, not its draws: such a file is "
                               "summarised by itself",
                               paths[f]);
        gbs_moments_file_free(&file);
    }
    return code;
}

static exit_code run(int argc, char **argv, const char **paths)
{
    size_t count = 0;
    bool json = false, check = false;
    int64_t superchains = 0, threads = 0;
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
        {"--threads", "N",
         "threads (default 0: as many as there are processors for\nthem); the figures are the same",
         &threads, OPTION_COUNT, .least = 0, .most = MOST_THREADS},
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
            "FILE: .npy [chain, draw, variable], netCDF with a posterior group or of sample\n"
            "--moments-only, or CmdStan's CSV.  Several files are the chains of one run, or "
            "pieces\n"
            "of a run that was resumed.",
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
    bool moments = false;
    if (count == 1)
        code = summarise_moments(&command, paths[0], &moments, superchains, check, json);
    else
        code = refuse_moments(&command, paths, count);
    if (moments || code != EXIT_FINE)
        return code;
    draw_files files;
    code = draw_files_open(&files, paths, (int64_t)count);
    gbs_context *ctx = NULL;
    gbs_context_options context = gbs_context_options_default();
    context.threads = (int32_t)threads;
    if (code == EXIT_FINE && gbs_context_create(&context, &ctx) != GBS_OK)
        code = complain(EXIT_FILE, "no memory for a context");
    if (code == EXIT_FINE)
        code = summarise(ctx, &files, superchains, &limits, check, json);
    gbs_context_destroy(ctx);
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
