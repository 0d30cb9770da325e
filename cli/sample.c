/* gibbsite sample: draws from a Gaussian, into a file or straight to a summary. */
#define _POSIX_C_SOURCE 200809L
#include "sample.h"

#include "interrupt.h"
#include "options.h"
#include "report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* What the native stream can number; checked again, exactly, by the library. */
#define MOST_CHAINS (INT64_C(1) << 40)
#define MOST_SWEEPS (INT64_C(1) << 48)

/* torch's kernel runs blocks of this many threads. */
enum { LEAST_THREADS = 256 };

static const char *const methods[] = {"gibbs", "exact", NULL};
static const char *const dtypes[] = {"f32", "f64", NULL};
static const char *const orders[] = {"forward", "backward", "symmetric", NULL};
static const char *const isas[] = {"auto", "scalar", "avx2", "avx512", NULL};
static const char *const formats[] = {"npy", "nc", NULL};

int64_t plan_sweeps(const sample_plan *plan)
{
    return plan->warmup + plan->draws * plan->thin;
}

/* ------------------------------------------------------------------ the command line */

static exit_code check_exact(const cli_command *command)
{
    static const char *const refused[] = {"--warmup", "--thin", "--order", "--omega", "--init"};
    for (size_t k = 0; k < sizeof refused / sizeof *refused; k++)
        if (option_given(command, refused[k]))
            return usage_error(command,
                               "%s has no meaning with --method exact, whose draws are "
                               "independent",
                               refused[k]);
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
        if (!card_number(&text, ':', 65535, &plan->multiprocessors) ||
            !card_number(&text, '\0', 65536, &plan->threads))
            return usage_error(command,
                               "--stream: '%s' is not torch-cuda:SMS:THREADS_PER_SM, as "
                               "torch-cuda:132:2048",
                               plan->stream);
        if (plan->threads < LEAST_THREADS)
            return usage_error(command,
                               "--stream: '%s' has %" PRId32
                               " threads a multiprocessor, at least %d are needed",
                               plan->stream, plan->threads, LEAST_THREADS);
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
                           "-o: '%s' ends neither in .nc nor in .npy; --format says which "
                           "is meant",
                           plan->output);
    return EXIT_FINE;
}

static exit_code check_counts(const cli_command *command, const sample_plan *plan)
{
    if (plan->draws > (MOST_SWEEPS - plan->warmup) / plan->thin)
        return usage_error(command,
                           "--warmup %" PRId64 " and --draws %" PRId64 " with --thin %" PRId64
                           " are more than 2^48 sweeps",
                           plan->warmup, plan->draws, plan->thin);
    return EXIT_FINE;
}

static exit_code settle_seed(const cli_command *command, sample_plan *plan)
{
    if (option_given(command, "--seed"))
        return EXIT_FINE;
    if (getrandom(&plan->seed, sizeof plan->seed, 0) != (ssize_t)sizeof plan->seed)
        return complain(EXIT_FILE, "the system gives no seed; give one with --seed");
    return EXIT_FINE;
}

static exit_code check_files(const cli_command *command, const sample_plan *plan)
{
    const char *const inputs[] = {
        plan->files.matrix, plan->files.mean, plan->files.info,
        plan->files.offset, plan->noise,      plan->start == GBS_START_GIVEN ? plan->init : NULL};
    return check_output(command, plan->output, inputs, sizeof inputs / sizeof *inputs);
}

static exit_code settle_plan(const cli_command *command, sample_plan *plan, int format)
{
    exit_code code = check_location(command);
    parse_start(plan);
    if (code == EXIT_FINE && plan->method == GBS_METHOD_EXACT) {
        code = check_exact(command);
        plan->warmup = 0;
    }
    if (code == EXIT_FINE)
        code = check_counts(command, plan);
    if (code == EXIT_FINE)
        code = parse_stream(command, plan);
    if (code == EXIT_FINE)
        code = settle_format(command, plan, format);
    if (code == EXIT_FINE)
        code = check_files(command, plan);
    if (code == EXIT_FINE && !gbs_isa_available((gbs_isa)plan->isa))
        code = usage_error(command, "--isa: %s is not available here", isas[plan->isa]);
    if (code == EXIT_FINE)
        code = settle_seed(command, plan);
    plan->files.quiet = plan->quiet;
    return code;
}

/* ------------------------------------------------------------------ the summary of kept draws */

typedef struct kept_draws {
    const sample_run *run;
    const void *x; /* [chains, draws, dim] */
} kept_draws;

static exit_code kept_read(void *user, int64_t first, int64_t n, double *out)
{
    const kept_draws *kept = user;
    const sample_plan *plan = kept->run->plan;
    const int64_t dim = kept->run->dim, rows = plan->chains * plan->draws;
    for (int64_t row = 0; row < rows; row++)
        for (int64_t k = 0; k < n; k++) {
            const int64_t at = row * dim + first + k;
            out[k * rows + row] = plan->dtype == GBS_F32 ? (double)((const float *)kept->x)[at]
                                                         : ((const double *)kept->x)[at];
        }
    return EXIT_FINE;
}

static const char *kept_name(void *user, int64_t variable, char *to, size_t capacity)
{
    (void)user;
    snprintf(to, capacity, "x[%" PRId64 "]", variable);
    return to;
}

static int64_t kept_chain(void *user, int64_t chain)
{
    (void)user;
    return chain;
}

/* ------------------------------------------------------------------ the run */

/* A Gaussian with one fixed matrix has a better tool than a chain that does not mix. */
static void say_advice(const report *r, const sample_plan *plan)
{
    const report_worst worst = report_find_worst(r);
    if (!plan->quiet && plan->method == GBS_METHOD_GIBBS && worst.rhat >= 0 &&
        r->rows[worst.rhat].s.rhat > 1.01)
        say("the chains have not mixed: run longer, or draw independently with --method exact");
}

/* The run's own object, with the summary in it where no file was asked for. */
static exit_code print_result(const sample_run *run, const sample_record *record, const void *x)
{
    const sample_plan *plan = run->plan;
    kept_draws kept = {run, x};
    const draw_source source = {.chains = plan->chains,
                                .draws = plan->draws,
                                .variables = run->dim,
                                .read = kept_read,
                                .name = kept_name,
                                .chain_number = kept_chain,
                                .user = &kept};
    report r = {0};
    const exit_code code = x ? report_make(&r, &source, 0) : EXIT_FINE;
    if (code != EXIT_FINE) {
        report_free(&r);
        return code;
    }
    if (plan->json) {
        json_t *object = record_json(record, run);
        if (object && x) {
            json_t *summary = json_object();
            if (json_object_set_new(object, "summary", summary) ||
                !report_json(&r, NULL, summary)) {
                json_decref(object);
                object = NULL;
            }
        }
        const exit_code printed = json_print(object, EXIT_FINE);
        report_free(&r);
        return printed;
    }
    if (x) {
        report_print(&r);
        say_advice(&r, plan);
    }
    report_free(&r);
    return finish_stdout(EXIT_FINE);
}

static exit_code open_writer(const sample_run *run, const sample_record *record,
                             gbs_results_writer **writer)
{
    static const char *const forms[] = {"zero", "mean", "information", "offset"};
    const sample_plan *plan = run->plan;
    double *diagonal = take(run->dim, sizeof *diagonal, "diagonal");
    if (!diagonal)
        return EXIT_FILE;
    for (int64_t i = 0; i < run->dim; i++)
        diagonal[i] = gbs_model_precision(run->model)[i * run->dim + i];
    const gbs_results_spec spec = {
        .format = plan->format,
        .type = (gbs_type)plan->dtype,
        .chains = plan->chains,
        .draws = plan->draws,
        .dim = run->dim,
        .location = gbs_model_location(run->model),
        .location_form = forms[gbs_model_location_kind(run->model)],
        .diag_precision = diagonal,
        .attributes = record->attributes,
        .attribute_count = record->attribute_count,
    };
    gbs_io_error error;
    const gbs_io_status status = gbs_results_create(plan->output, &spec, writer, &error);
    free(diagonal);
    if (status != GBS_IO_OK)
        return complain((exit_code)gbs_io_exit_code(status), "%s", error.message);
    return EXIT_FINE;
}

static exit_code close_writer(gbs_results_writer *writer, const sample_record *record,
                              exit_code code)
{
    if (code != EXIT_FINE) {
        gbs_results_abandon(writer);
        return code;
    }
    const gbs_attribute state =
        GBS_ATTRIBUTE_OF_BYTES("generator_state", 0, record->state, (int64_t)record->state_bytes);
    gbs_io_error error;
    const gbs_io_status status =
        gbs_results_finish(writer, &state, record->state_bytes ? 1 : 0, &error);
    if (status != GBS_IO_OK)
        return complain((exit_code)gbs_io_exit_code(status), "%s", error.message);
    return EXIT_FINE;
}

/* Samples into the file, or into memory, and says what came out. */
static exit_code perform(sample_run *run)
{
    gbs_results_writer *writer = NULL;
    sample_record record = {0};
    void *kept = NULL;
    const bool to_file = run->plan->output != NULL;
    exit_code code = record_make(&record, run);
    interrupt_hold();
    if (code == EXIT_FINE && to_file)
        code = open_writer(run, &record, &writer);
    if (code == EXIT_FINE)
        code = run_draw(run, writer, &kept);
    if (code == EXIT_FINE)
        code = record_finish(&record, run);
    if (writer)
        code = close_writer(writer, &record, code);
    interrupt_release();
    if (code == EXIT_INTERRUPTED)
        say("interrupted, nothing was written");
    if (code == EXIT_FINE)
        code = print_result(run, &record, kept);
    record_free(&record);
    free(kept);
    return code;
}

/* The seed must reach the user somewhere: --quiet hides it only where a file or JSON holds it. */
static void say_seed(const sample_plan *plan)
{
    const bool recorded = plan->json || (plan->output && plan->format == GBS_RESULTS_NETCDF);
    if (!plan->quiet || !recorded)
        say("seed %" PRIu64, plan->seed);
}

/* Fills the plan; false if there is nothing more to do than to leave with *code. */
static bool parse_plan(int argc, char **argv, sample_plan *p, exit_code *code)
{
    int format = GBS_RESULTS_NETCDF;
    cli_option options[] = {
        {"-Q", "FILE", "the precision matrix, .npy or Matrix Market", &p->files.matrix, OPTION_TEXT,
         .required = true},
        {"--covariance", NULL, "FILE holds the covariance instead", &p->files.covariance,
         OPTION_FLAG, .required = false},
        {"--mean", "FILE", "location as the mean mu (default 0)", &p->files.mean, OPTION_TEXT,
         .required = false},
        {"--info", "FILE", "location as the information vector b = Q mu", &p->files.info,
         OPTION_TEXT, .required = false},
        {"--offset", "FILE", "location as the offset m of each conditional mean:\nb_i = Q_ii m_i",
         &p->files.offset, OPTION_TEXT, .required = false},
        {"--method", "M",
         "gibbs, or exact: independent draws, usually the better\ntool where it is possible",
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
        {"--init", "START",
         "overdispersed (default: mean + 2 sd normals), zero, mean,\n"
         "or a file [chains, D] or [D], .npy or Matrix Market",
         &p->init, OPTION_TEXT, .required = false},
        {"--stream", "S",
         "native (default), given:FILE (.npy [sweeps, D, chains]),\n"
         "torch-cpu, torch-cuda:SMS:THREADS_PER_SM",
         &p->stream, OPTION_TEXT, .required = false},
        {"--isa", "I", "auto (default), scalar, avx2 or avx512; the draws are\nthe same", &p->isa,
         OPTION_CHOICE, .choices = isas},
        {"--format", "F", "nc or npy (default: by the name of -o)", &format, OPTION_CHOICE,
         .choices = formats},
        {"-o", "FILE",
         "write the draws: .nc, as ArviZ reads it, or\n"
         ".npy [chain, draw, D]; without it the summary is printed",
         &p->output, OPTION_TEXT, .required = false},
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

exit_code verb_sample(int argc, char **argv)
{
    sample_plan p = {.dtype = GBS_F64,
                     .chains = 4,
                     .warmup = 1000,
                     .draws = 1000,
                     .thin = 1,
                     .omega = 1,
                     .init = "overdispersed",
                     .stream = "native"};
    exit_code code;
    if (!parse_plan(argc, argv, &p, &code))
        return code;
    sample_run run;
    code = run_open(&run, &p);
    if (code == EXIT_FINE) {
        say_seed(&p);
        code = perform(&run);
    }
    run_close(&run);
    return code;
}
