/* The command line of `gibbsite sample`: the table of options, and what can be checked without the
 * files that they name. */
#define _POSIX_C_SOURCE 200809L
#include "sample.h"

#include "options.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* What the native stream can number; checked again, exactly, by the library. */
#define MOST_CHAINS (INT64_C(1) << 40)
#define MOST_SWEEPS (INT64_C(1) << 48)

#define MOST_DEVICES 65535

/* torch's kernel runs blocks of this many threads. */
enum { LEAST_THREADS = 256, MOST_CARD_THREADS = 65536, MOST_MULTIPROCESSORS = 65535 };

static const char *const methods[] = {"gibbs", "exact", "whitened", "auto", NULL};
static const char *const dtypes[] = {"f32", "f64", NULL};
static const char *const orders[] = {"forward", "backward", "symmetric", NULL};
static const char *const backends[] = {"cpu", "cuda", NULL};
static const char *const isas[] = {"auto", "scalar", "avx2", "avx512", "neon", NULL};
static const char *const formats[] = {"npy", "nc", "csv", NULL};

int64_t plan_end(const sample_plan *plan)
{
    return plan->warmup + (plan->first_draw + plan->draws) * plan->thin;
}

int64_t plan_sweeps(const sample_plan *plan)
{
    return plan_end(plan) - plan->first_sweep;
}

int64_t plan_warmup_draws(const sample_plan *plan)
{
    return plan->save_warmup ? plan->warmup / plan->thin : 0;
}

bool plan_is_recorded(const sample_plan *plan)
{
    return plan->json || (plan->output && plan->format != GBS_RESULTS_NPY);
}

void plan_free(sample_plan *plan)
{
    free(plan->resume_bytes);
    plan->resume_bytes = NULL;
}

static exit_code check_exact(const cli_command *command, const sample_plan *plan)
{
    static const char *const refused[] = {"--warmup",    "--thin", "--order",      "--omega",
                                          "--overrelax", "--init", "--save-warmup"};
    for (size_t k = 0; k < sizeof refused / sizeof *refused; k++)
        if (option_given(command, refused[k]))
            return usage_error(command,
                               "%s has no meaning with --method exact, whose draws are "
                               "independent",
                               refused[k]);
    if (plan->files.rows)
        return usage_error(command, "--method: exact draws would not keep the constraints of "
                                    "--rows; --method gibbs or whitened does");
    return EXIT_FINE;
}

static exit_code check_whitened(const cli_command *command)
{
    static const char *const refused[] = {"--order", "--omega", "--overrelax"};
    for (size_t k = 0; k < sizeof refused / sizeof *refused; k++)
        if (option_given(command, refused[k]))
            return usage_error(command, "%s has no meaning with --method whitened", refused[k]);
    return EXIT_FINE;
}

/* --method auto, and where that is not given: bounds without an option that asks for sweeps. */
static exit_code settle_method(const cli_command *command, sample_plan *plan)
{
    static const char *const of_sweeps[] = {"--order", "--omega", "--overrelax"};
    const char *given = NULL;
    const model_files *files = &plan->files;
    const bool bounded = files->lower || files->upper || files->rows;
    const bool able = plan->stream_kind == GBS_STREAM_NATIVE && !plan->resume;
    for (size_t k = 0; k < sizeof of_sweeps / sizeof *of_sweeps; k++)
        if (!given && option_given(command, of_sweeps[k]))
            given = of_sweeps[k];
    /* the pilot would look for a start of its own within rows, and there may be no solver for it */
    const bool started = files->rows && plan->start != GBS_START_OVERDISPERSED;
    if (!option_given(command, "--method") && bounded && able && !given && !started)
        plan->method = METHOD_DEFAULT;
    if (plan->method != METHOD_AUTO)
        return EXIT_FINE;
    if (given)
        return usage_error(command, "--method auto: %s is part of what the pilot chooses", given);
    if (!able)
        return usage_error(command, "--method auto: the pilot may choose whitened sweeps, which "
                                    "take the native stream");
    return EXIT_FINE;
}

/* The two kinds of over-relaxation, and what bounds rule out. */
static exit_code check_overrelax(const cli_command *command, const sample_plan *plan)
{
    const model_files *files = &plan->files;
    const char *bound = files->lower ? "--lower" : files->upper ? "--upper" : NULL;
    if (plan->overrelax >= 1)
        return usage_error(command, "--overrelax: 1 is out of range, it must be below 1");
    if (plan->omega != 1 && plan->overrelax > 0)
        return usage_error(command, "--overrelax and --omega both over-relax, one is allowed");
    if (files->rows && plan->method == GBS_METHOD_GIBBS &&
        (plan->omega != 1 || plan->overrelax > 0))
        return usage_error(command,
                           "%s over-relaxes, which sweeps under the constraints of --rows do not",
                           plan->omega != 1 ? "--omega" : "--overrelax");
    if (plan->omega != 1 && bound)
        return usage_error(command, "--omega cannot keep bounds, and %s is given; --overrelax can",
                           bound);
    return EXIT_FINE;
}

/* Streams that have no numbers for what is asked.  A torch stream with --lower or --upper is left
 * to the library: a file may hold no finite bound. */
static exit_code check_stream(const cli_command *command, const sample_plan *plan)
{
    const model_files *files = &plan->files;
    const bool given = plan->stream_kind == GBS_STREAM_GIVEN;
    const char *bound = !given ? NULL : files->lower ? "--lower" : files->upper ? "--upper" : NULL;
    if (!bound && files->rows)
        bound = "--rows";
    if (plan->stream_kind == GBS_STREAM_NATIVE)
        return EXIT_FINE;
    if (plan->method == GBS_METHOD_WHITENED)
        return usage_error(command,
                           "--method whitened takes the native stream, --stream %s is given",
                           plan->stream);
    if (bound)
        return usage_error(command, STREAM_OF_NORMALS, given ? "given:FILE" : plan->stream, bound);
    if (plan->overrelax > 0 && given)
        return usage_error(command, "--overrelax takes more numbers than --stream given:FILE has");
    return EXIT_FINE;
}

static exit_code check_location(const cli_command *command)
{
    const char *const forms[] = {"--mean", "--info", "--offset"};
    const char *first = NULL;
    for (size_t k = 0; k < 3; k++) {
        if (!option_given(command, forms[k]))
            continue;
        if (first)
            return usage_error(command, "%s and %s both give the location, one is allowed", first,
                               forms[k]);
        first = forms[k];
    }
    return EXIT_FINE;
}

/* A card's number in torch-cuda:SMS:THREADS; moves *text behind it. */
static bool card_number(const char **text, char end, int32_t most, int32_t *value)
{
    char *rest;
    if (**text < '1' || **text > '9')
        return false;
    const long number = strtol(*text, &rest, 10);
    if (*rest != end || number > most)
        return false;
    *value = (int32_t)number;
    *text = rest + 1;
    return true;
}

static exit_code parse_stream(const cli_command *command, sample_plan *plan)
{
    const char *text = plan->stream;
    if (!strcmp(text, "native"))
        plan->stream_kind = GBS_STREAM_NATIVE;
    else if (!strcmp(text, "torch-cpu"))
        plan->stream_kind = GBS_STREAM_TORCH_CPU;
    else if (!strncmp(text, "given:", 6) && text[6]) {
        plan->stream_kind = GBS_STREAM_GIVEN;
        plan->noise = text + 6;
    } else if (!strncmp(text, "torch-cuda:", 11)) {
        text += 11;
        plan->stream_kind = GBS_STREAM_TORCH_CUDA;
        if (!card_number(&text, ':', MOST_MULTIPROCESSORS, &plan->multiprocessors) ||
            !card_number(&text, '\0', MOST_CARD_THREADS, &plan->threads))
            return usage_error(command,
                               "--stream: '%s' is not torch-cuda:SMS:THREADS_PER_SM, as "
                               "torch-cuda:132:2048; SMS is 1 to %d, THREADS_PER_SM %d to %d",
                               plan->stream, MOST_MULTIPROCESSORS, LEAST_THREADS,
                               MOST_CARD_THREADS);
        if (plan->threads < LEAST_THREADS)
            return usage_error(command,
                               "--stream: '%s' has %" PRId32
                               " %s a multiprocessor, at least %d are needed",
                               plan->stream, plan->threads,
                               gbs_plural(plan->threads, "thread", "threads"), LEAST_THREADS);
    } else
        return usage_error(command,
                           "--stream: '%s' is not one of native, given:FILE, torch-cpu, "
                           "torch-cuda:SMS:THREADS_PER_SM",
                           text);
    return EXIT_FINE;
}

static void parse_start(sample_plan *plan)
{
    if (!strcmp(plan->init, "overdispersed"))
        plan->start = GBS_START_OVERDISPERSED;
    else if (!strcmp(plan->init, "zero"))
        plan->start = GBS_START_ZERO;
    else if (!strcmp(plan->init, "mean"))
        plan->start = GBS_START_MEAN;
    else
        plan->start = GBS_START_GIVEN;
}

/* The format follows the name unless it is given. */
static exit_code settle_format(const cli_command *command, sample_plan *plan, int format)
{
    const bool given = option_given(command, "--format");
    if (!plan->output)
        return given
                   ? usage_error(command, "--format is that of the file of -o, which is not given")
                   : EXIT_FINE;
    if (given)
        plan->format = (gbs_results_format)format;
    else if (!gbs_results_format_of(plan->output, &plan->format))
        return usage_error(command,
                           "-o: '%s' ends in none of .nc, .npy and .csv; --format says which "
                           "is meant",
                           plan->output);
    return EXIT_FINE;
}

static exit_code check_counts(const cli_command *command, const sample_plan *plan)
{
    const bool twice = plan->order == GBS_ORDER_SYMMETRIC; /* two of the stream's sweeps */
    const int64_t most = twice ? MOST_SWEEPS / 2 : MOST_SWEEPS;
    if (plan->draws > (most - plan->warmup) / plan->thin - plan->first_draw)
        return usage_error(command,
                           "--warmup %" PRId64 " and --draws %" PRId64 " with --thin %" PRId64
                           " are more than 2^%d sweeps%s",
                           plan->warmup, plan->first_draw + plan->draws, plan->thin,
                           twice ? 47 : 48, twice ? " of --order symmetric" : "");
    return EXIT_FINE;
}

static exit_code settle_seed(const cli_command *command, sample_plan *plan)
{
    if (option_given(command, "--seed") || plan->resume)
        return EXIT_FINE;
    if (getrandom(&plan->seed, sizeof plan->seed, 0) != (ssize_t)sizeof plan->seed)
        return complain(EXIT_FILE, "the system gives no seed; give one with --seed");
    return EXIT_FINE;
}

/* A file of draws is none of the inputs, nor the checkpoint. */
static exit_code check_output_file(const cli_command *command, const sample_plan *plan,
                                   const char *output, const char *const inputs[], size_t count)
{
    if (output && plan->checkpoint && same_place(output, plan->checkpoint))
        return usage_error(command, "--checkpoint: '%s' is a file of -o, '%s'", plan->checkpoint,
                           output);
    return check_output(command, "-o", output, inputs, count);
}

/* The file, or with CSV every chain's. */
static exit_code check_output_files(const cli_command *command, const sample_plan *plan,
                                    const char *const inputs[], size_t count)
{
    if (!plan->output || plan->format != GBS_RESULTS_CSV)
        return check_output_file(command, plan, plan->output, inputs, count);
    exit_code code = EXIT_FINE;
    for (int64_t chain = 0; code == EXIT_FINE && chain < plan->chains; chain++) {
        char *name = gbs_stan_csv_chain_path(plan->output, plan->chains, chain);
        code = name ? check_output_file(command, plan, name, inputs, count)
                    : complain(EXIT_FILE, "no memory for the names of files");
        free(name);
    }
    return code;
}

/* No output over an input, and no two outputs in one file; --checkpoint may go on in --resume's. */
static exit_code check_files(const cli_command *command, const sample_plan *plan)
{
    const char *const inputs[] = {
        plan->files.matrix,    plan->files.mean,
        plan->files.info,      plan->files.offset,
        plan->files.fix,       plan->files.rows,
        plan->files.row_lower, plan->files.row_upper,
        plan->files.lower,     plan->files.upper,
        plan->noise,           plan->start == GBS_START_GIVEN ? plan->init : NULL,
        plan->resume};
    enum { INPUTS = sizeof inputs / sizeof *inputs };
    const exit_code code = check_output_files(command, plan, inputs, INPUTS);
    if (code != EXIT_FINE || !plan->checkpoint)
        return code;
    return check_output(command, "--checkpoint", plan->checkpoint, inputs, INPUTS - 1);
}

static exit_code check_checkpoint(const cli_command *command, const sample_plan *plan)
{
    if (option_given(command, "--every") && !plan->checkpoint)
        return usage_error(command, "--every is that of --checkpoint, which is not given");
    if (option_given(command, "--from-sweep") && !plan->resume)
        return usage_error(command, "--from-sweep is that of --resume, which is not given");
    if (plan->keep_partial && !plan->output)
        return usage_error(command, "--keep-partial keeps the file of -o, which is not given");
    return EXIT_FINE;
}

/* What goes into the file, beside draws or instead of them. */
static exit_code check_contents(const cli_command *command, const sample_plan *plan)
{
    const bool npy = plan->output && plan->format == GBS_RESULTS_NPY;
    if (plan->save_warmup && !plan->output)
        return usage_error(command, "--save-warmup: into the file of -o, which is not given");
    if (plan->save_warmup && plan->moments_only)
        return usage_error(command, "--save-warmup has no meaning with --moments-only");
    if (npy && plan->save_warmup)
        return usage_error(command,
                           "--save-warmup: one .npy array has no place for it, netCDF has");
    if (plan->output && plan->moments_only && (npy || plan->format == GBS_RESULTS_CSV)) {
        const char *const file = npy ? "one .npy array" : "CSV";
        if (option_given(command, "--moments-only"))
            return usage_error(command, "--moments-only: %s has no place for it, netCDF has", file);
        return usage_error(command,
                           "-o: %s is of a run with --moments-only: %s has no place for "
                           "moments, netCDF has",
                           plan->resume, file);
    }
    return EXIT_FINE;
}

static exit_code settle_plan(const cli_command *command, sample_plan *plan, int format)
{
    exit_code code = check_location(command);
    parse_start(plan);
    if (code == EXIT_FINE)
        code = parse_stream(command, plan);
    if (code == EXIT_FINE)
        code = plan_resume(command, plan);
    if (code == EXIT_FINE)
        code = settle_method(command, plan);
    if (code == EXIT_FINE && plan->method == GBS_METHOD_EXACT) {
        code = check_exact(command, plan);
        plan->warmup = 0;
    }
    if (code == EXIT_FINE)
        code = check_overrelax(command, plan);
    if (code == EXIT_FINE)
        code = check_stream(command, plan);
    if (code == EXIT_FINE && plan->method == GBS_METHOD_WHITENED)
        code = check_whitened(command);
    if (code == EXIT_FINE)
        code = check_bound_options(command, &plan->files);
    if (code == EXIT_FINE)
        code = check_counts(command, plan);
    if (code == EXIT_FINE)
        code = refuse_dash(command, "-o", plan->output);
    if (code == EXIT_FINE)
        code = refuse_dash(command, "--checkpoint", plan->checkpoint);
    if (code == EXIT_FINE)
        code = settle_format(command, plan, format);
    if (code == EXIT_FINE)
        code = check_contents(command, plan);
    if (code == EXIT_FINE)
        code = check_checkpoint(command, plan);
    if (code == EXIT_FINE)
        code = check_files(command, plan);
    if (code == EXIT_FINE && plan->backend == GBS_BACKEND_CPU && option_given(command, "--device"))
        code = usage_error(command, "--device is a GPU of --backend cuda, which is not given");
    if (code == EXIT_FINE && !gbs_isa_available((gbs_isa)plan->isa))
        code = usage_error(command, "--isa: %s is not available here", isas[plan->isa]);
    if (code == EXIT_FINE)
        code = settle_seed(command, plan);
    plan->files.quiet = plan->quiet;
    plan->files.single = plan->dtype == GBS_F32;
    return code;
}

bool plan_parse(int argc, char **argv, sample_plan *p, exit_code *code)
{
    int format = GBS_RESULTS_NETCDF;
    cli_option options[] = {
        {"-Q", "FILE",
         "the precision matrix: .npy, FILE.npz:MEMBER, Matrix\nMarket or CSV, whose names become "
         "those of the draws",
         &p->files.matrix, OPTION_TEXT, .required = true},
        {"--covariance", NULL, "FILE holds the covariance instead", &p->files.covariance,
         OPTION_FLAG, .required = false},
        {"--mean", "FILE", "location as the mean mu (default 0)", &p->files.mean, OPTION_TEXT,
         .required = false},
        {"--info", "FILE", "location as the information vector b = Q mu", &p->files.info,
         OPTION_TEXT, .required = false},
        {"--offset", "FILE", "location as the offset m of each conditional mean:\nb_i = Q_ii m_i",
         &p->files.offset, OPTION_TEXT, .required = false},
        {"--fix", "FILE", "hold sites at these values: D numbers, nan for a free site",
         &p->files.fix, OPTION_TEXT, .required = false},
        {"--lower", "FILE|VALUE",
         "lower bounds of sites: D numbers, -inf for none, or one\nfor all", &p->files.lower,
         OPTION_TEXT, .required = false},
        {"--upper", "FILE|VALUE", "their upper bounds", &p->files.upper, OPTION_TEXT,
         .required = false},
        {"--rows", "FILE", "constraints: the rows A of lower <= A x <= upper, [R, D]",
         &p->files.rows, OPTION_TEXT, .required = false},
        {"--row-lower", "FILE|VALUE", "their lower bounds: R numbers, or one for all rows",
         &p->files.row_lower, OPTION_TEXT, .required = false},
        {"--row-upper", "FILE|VALUE", "their upper bounds", &p->files.row_upper, OPTION_TEXT,
         .required = false},
        {"--method", "M",
         "gibbs (default); exact: independent draws, usually the\nbetter tool where it is "
         "possible; "
         "whitened: sweeps that\nmove all sites at once, within bounds and constraints;\n"
         "auto (default with those): chosen by short runs",
         &p->method, OPTION_CHOICE, .choices = methods},
        {"--chains", "N", "chains (default 4)", &p->chains, OPTION_COUNT, .least = 1,
         .most = MOST_CHAINS},
        {"--warmup", "N", "sweeps before the first draw (default 1000)", &p->warmup, OPTION_COUNT,
         .least = 0, .most = MOST_SWEEPS},
        {"--draws", "N", "draws kept of each chain (default 1000)", &p->draws, OPTION_COUNT,
         .least = 1, .most = MOST_SWEEPS},
        {"--thin", "N", "sweeps for each kept draw (default 1)", &p->thin, OPTION_COUNT, .least = 1,
         .most = MOST_SWEEPS},
        {"--seed", "N", "0 to 2^64-1, or -1 for the last; by default from the\nsystem, and printed",
         &p->seed, OPTION_SEED, .required = false},
        {"--dtype", "T", "f32 or f64 (default)", &p->dtype, OPTION_CHOICE, .choices = dtypes},
        {"--force", NULL, "use f32 even where it moves the covariance above 10 %", &p->force,
         OPTION_FLAG, .required = false},
        {"--order", "O",
         "forward (default), backward, or symmetric: forward then\nbackward, counted as one sweep",
         &p->order, OPTION_CHOICE, .choices = orders},
        {"--omega", "W", "over-relaxation weight, 0 < W < 2 (default 1)", &p->omega, OPTION_REAL,
         .low = 0, .high = 2, .open = true},
        {"--overrelax", "R",
         "over-relaxed draws between bounds, 0 <= R < 1 (default\n0): .8 where chains are slow",
         &p->overrelax, OPTION_REAL, .low = 0, .high = 1},
        {"--init", "START",
         "overdispersed (default: mean + 2 sd normals, but with\n"
         "--rows one point inside them), zero, mean, or a file\n"
         "[chains, D] or [D]",
         &p->init, OPTION_TEXT, .required = false},
        {"--stream", "S",
         "native (default), given:FILE (.npy [sweeps, D, chains]),\n"
         "torch-cpu, torch-cuda:SMS:THREADS_PER_SM",
         &p->stream, OPTION_TEXT, .required = false},
        {"--backend", "B", "cpu (default), or cuda: an NVIDIA GPU; the draws are the same",
         &p->backend, OPTION_CHOICE, .choices = backends},
        {"--device", "N", "with --backend cuda: which GPU, counted from 0 (default)", &p->device,
         OPTION_COUNT, .least = 0, .most = MOST_DEVICES},
        {"--isa", "I", "auto (default), scalar, avx2, avx512 or neon; the\ndraws are the same",
         &p->isa, OPTION_CHOICE, .choices = isas},
        {"--threads", "N",
         "threads (default 0: as many as there are processors for\nthem); the draws are the same",
         &p->cpu_threads, OPTION_COUNT, .least = 0, .most = MOST_THREADS},
        {"--format", "F", "nc, npy or csv (default: by the name of -o)", &format, OPTION_CHOICE,
         .choices = formats},
        {"-o", "FILE",
         "write the draws: .nc, as ArviZ reads it, .npy\n"
         "[chain, draw, D], or .csv as CmdStan writes it, one file\n"
         "a chain: FILE_1.csv, ...; without it the summary is\nprinted",
         &p->output, OPTION_TEXT, .required = false},
        {"--save-warmup", NULL, "write the warm-up's draws too, every --thin sweeps",
         &p->save_warmup, OPTION_FLAG, .required = false},
        {"--moments-only", NULL,
         "keep no draws, but each chain's means and sums of\nsquares, in double", &p->moments_only,
         OPTION_FLAG, .required = false},
        {"--checkpoint", "FILE", "keep a checkpoint there, from which --resume goes on",
         &p->checkpoint, OPTION_TEXT, .required = false},
        {"--every", "N", "sweeps from one checkpoint to the next (default: about a\nminute)",
         &p->every, OPTION_COUNT, .least = 1, .most = MOST_SWEEPS},
        {"--resume", "FILE",
         "go on from a checkpoint: --draws further ones, without\n"
         "warm-up again; the run's options come from it",
         &p->resume, OPTION_TEXT, .required = false},
        {"--from-sweep", "N",
         "refuse a checkpoint of --resume that stands elsewhere\nthan behind N sweeps",
         &p->from_sweep, OPTION_COUNT, .least = 0, .most = MOST_SWEEPS},
        {"--keep-partial", NULL, "if interrupted, leave a complete file of the draws so far",
         &p->keep_partial, OPTION_FLAG, .required = false},
        {"--quiet", NULL, "no notices and no progress line", &p->quiet, OPTION_FLAG,
         .required = false},
        {"--json", NULL, "one JSON object on standard output", &p->json, OPTION_FLAG,
         .required = false},
    };
    const cli_command command = {
        .name = "sample",
        .usage = "-Q FILE [options]",
        .purpose =
            "Draws from N(mu, Q^-1) by systematic Gibbs sweeps, or exactly.  Kept draw k is\n"
            "the state after warmup + (k + 1) thin sweeps.",
        .example = "  gibbsite make lattice --rows 10 --cols 10 --kappa 1 -o q.mtx\n"
                   "  gibbsite sample -Q q.mtx --seed 1\n"
                   "  gibbsite sample -Q q.mtx --seed 1 --chains 8 --draws 4000 -o draws.nc",
        .options = options,
        .count = sizeof options / sizeof *options,
    };
    if (!options_parse(&command, argc, argv, code))
        return false;
    *code = settle_plan(&command, p, format);
    return *code == EXIT_FINE;
}
