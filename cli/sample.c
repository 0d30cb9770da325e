/* gibbsite sample: draws from a Gaussian, into a file or straight to a summary. */
#include "sample.h"

#include "interrupt.h"
#include "report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    const kept_draws *kept = user;
    char *const *names = kept->run->facts.names;
    if (names)
        snprintf(to, capacity, "x[%s]", names[variable]);
    else
        snprintf(to, capacity, "x[%" PRId64 "]", variable);
    return to;
}

static int64_t kept_chain(void *user, int64_t chain)
{
    (void)user;
    return chain;
}

/* ------------------------------------------------------------------ the run */

/* What may mix better than the sweeps of this run; "" where nothing is known to. */
static const char *better_method(const sample_run *run)
{
    const sample_plan *plan = run->plan;
    const bool rows = gbs_model_constraints(run->model) != NULL;
    const bool whitened = plan->method == GBS_METHOD_WHITENED;
    if (run->pilot.count > 0) /* it has compared them */
        return "";
    if (!rows &&
        !gbs_model_lower(run->model)) /* a plain Gaussian; whitened draws are independent */
        return whitened ? "" : ", or draw independently with --method exact";
    if (whitened)
        return ", or try --method gibbs";
    if (rows || plan->overrelax > 0)
        return ", or try --method whitened";
    return ", or try --overrelax .8, or --method whitened";
}

static void say_advice(const report *r, const sample_run *run)
{
    const sample_plan *plan = run->plan;
    const report_worst worst = report_find_worst(r);
    if (plan->quiet || plan->method == GBS_METHOD_EXACT || worst.rhat < 0 ||
        !(r->rows[worst.rhat].s.rhat > 1.01))
        return;
    say("the chains have not mixed: run longer%s", better_method(run));
}

/* Moments that a GPU holds are fetched when they are first read. */
static exit_code fetch_moments(const sample_run *run)
{
    if (run->moments && !gbs_moments_mean(run->moments))
        return complain(EXIT_FILE, "the moments could not be fetched from the GPU");
    return EXIT_FINE;
}

/* The summary of what is in memory. */
static exit_code summarise(const sample_run *run, const draw_source *source, report *r)
{
    const gbs_moments *m = run->moments;
    const exit_code code = fetch_moments(run);
    if (code != EXIT_FINE)
        return code;
    if (m)
        return report_from_moments(r, source, gbs_moments_mean(m), gbs_moments_m2(m), 0);
    return report_make(r, run->ctx, source, 0);
}

/* The run's own object, with the summary in it where no file was asked for. */
static exit_code print_result(const sample_run *run, const sample_record *record, const void *x)
{
    const sample_plan *plan = run->plan;
    const bool print = !plan->output;
    kept_draws kept = {run, x};
    const draw_source source = {.chains = plan->chains,
                                .draws =
                                    run->moments ? gbs_moments_count(run->moments) : plan->draws,
                                .variables = run->dim,
                                .read = kept_read,
                                .name = kept_name,
                                .chain_number = kept_chain,
                                .user = &kept};
    report r = {0};
    const exit_code code = print ? summarise(run, &source, &r) : EXIT_FINE;
    if (code != EXIT_FINE) {
        report_free(&r);
        return code;
    }
    if (plan->json) {
        json_t *object = record_json(record, run);
        if (object && print) {
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
    if (print) {
        report_print(&r);
        say_advice(&r, run);
    }
    report_free(&r);
    return finish_stdout(EXIT_FINE);
}

/* What goes into the file but the draws.  Owns: diagonal [dim] is the caller's, ended by free(). */
static exit_code describe_file(const sample_run *run, const sample_record *record,
                               double **diagonal, gbs_results_spec *spec)
{
    static const char *const forms[] = {"zero", "mean", "information", "offset"};
    const sample_plan *plan = run->plan;
    *diagonal = take(run->dim, sizeof **diagonal, "diagonal");
    if (!*diagonal)
        return EXIT_FILE;
    for (int64_t i = 0; i < run->dim; i++)
        (*diagonal)[i] = gbs_model_precision(run->model)[i * run->dim + i];
    *spec = (gbs_results_spec){
        .format = plan->format,
        .type = (gbs_type)plan->dtype,
        .chains = plan->chains,
        .draws = plan->draws,
        .dim = run->dim,
        .names = run->facts.names,
        .first_draw = plan->first_draw,
        .warmup_draws = plan_warmup_draws(plan),
        .moments_only = plan->moments_only,
        .location = gbs_model_location(run->model),
        .location_form = forms[gbs_model_location_kind(run->model)],
        .diag_precision = *diagonal,
        .fixed = gbs_model_fixed(run->model),
        .lower = gbs_model_lower(run->model),
        .upper = gbs_model_upper(run->model),
        .start = run->inside,
        .attributes = record->attributes,
        .attribute_count = record->attribute_count,
    };
    return EXIT_FINE;
}

static exit_code judge(gbs_io_status status, const gbs_io_error *error)
{
    if (status != GBS_IO_OK)
        return complain((exit_code)gbs_io_exit_code(status), "%s", error->message);
    return EXIT_FINE;
}

/* What will not fit is told before the run, not only when the disk is full; a warning alone, since
 * room may yet be made, and some file systems compress. */
static void say_room(const char *path, const gbs_results_spec *spec,
                     const gbs_results_writer *writer)
{
    const double needed = gbs_results_bytes(spec), room = (double)gbs_results_free_bytes(writer);
    const double unit = needed < 1e9 ? 1e6 : 1e9;
    if (room >= 0 && needed > room)
        say("warning: %s: about %.3g %s will be written, but its file system has %.3g %s left",
            path, needed / unit, unit == 1e6 ? "MB" : "GB", room / unit, unit == 1e6 ? "MB" : "GB");
}

/* Files that an earlier run with more chains has left: FILE_5.csv beside four of this run's. */
static void say_older(const sample_plan *plan)
{
    const int64_t first = plan->chains == 1 ? 0 : plan->chains;
    int64_t count = 0;
    char *name = NULL;
    if (plan->format != GBS_RESULTS_CSV)
        return;
    do {
        free(name);
        name = gbs_stan_csv_chain_path(plan->output, INT64_MAX, first + count); /* numbered */
    } while (name && gbs_input_is_file(name) && ++count);
    free(name);
    name = count ? gbs_stan_csv_chain_path(plan->output, INT64_MAX, first) : NULL;
    if (name)
        say("warning: %s%s: left by an earlier run; a pattern of names takes it for one of this "
            "run's",
            name, count > 1 ? " and those that follow it" : "");
    free(name);
}

static exit_code open_writer(const sample_run *run, const sample_record *record,
                             gbs_results_writer **writer)
{
    double *diagonal;
    gbs_results_spec spec;
    gbs_io_error error;
    exit_code code = describe_file(run, record, &diagonal, &spec);
    if (code == EXIT_FINE)
        code = judge(gbs_results_create(run->plan->output, &spec, writer, &error), &error);
    if (code == EXIT_FINE) {
        say_room(run->plan->output, &spec, *writer);
        say_older(run->plan);
    }
    free(diagonal);
    return code;
}

static exit_code finish_writer(gbs_results_writer *writer, sample_record *record,
                               const sample_run *run)
{
    const exit_code code = record_finish(record, run);
    if (code != EXIT_FINE) {
        gbs_results_abandon(writer);
        return code;
    }
    const gbs_attribute state =
        GBS_ATTRIBUTE_OF_BYTES("generator_state", 0, record->state, (int64_t)record->state_bytes);
    gbs_io_error error;
    return judge(gbs_results_finish(writer, &state, record->state_bytes ? 1 : 0, &error), &error);
}

static exit_code write_moments(const sample_run *run, gbs_results_writer *writer)
{
    const gbs_moments *m = run->moments;
    gbs_io_error error;
    const exit_code code = fetch_moments(run);
    if (code != EXIT_FINE)
        return code;
    return judge(gbs_results_write_moments(writer, gbs_moments_count(m), gbs_moments_mean(m),
                                           gbs_moments_m2(m), &error),
                 &error);
}

/* The file of an interrupted run: what is there of it, under a record of its own, which says how
 * many draws that is.  Ends the writer. */
static exit_code keep_part(const sample_run *run, gbs_results_writer *writer)
{
    sample_plan part = *run->plan;
    sample_run shorter = *run;
    sample_record record;
    gbs_results_writer *copy = NULL;
    gbs_io_error error;
    part.draws = run_kept(run);
    shorter.plan = &part;
    exit_code code = record_make(&record, &shorter);
    if (code == EXIT_FINE)
        code = open_writer(&shorter, &record, &copy);
    if (code == EXIT_FINE)
        code = run->moments ? write_moments(run, copy)
                            : judge(gbs_results_copy(writer, copy, &error), &error);
    gbs_results_abandon(writer);
    if (code == EXIT_FINE)
        code = finish_writer(copy, &record, run);
    else
        gbs_results_abandon(copy);
    record_free(&record);
    if (code == EXIT_FINE)
        say("%s: the %" PRId64 " %s so far", part.output, part.draws,
            gbs_plural(part.draws, "draw", "draws"));
    return code;
}

/* An interrupted run leaves what was asked for, its file first: a checkpoint stands for draws that
 * are safe.  Ends the writer. */
static exit_code leave(sample_run *run, gbs_results_writer *writer)
{
    const sample_plan *plan = run->plan;
    exit_code code = EXIT_FINE;
    const bool part = writer && plan->keep_partial && run_kept(run) > 0;
    if (part)
        code = keep_part(run, writer);
    else
        gbs_results_abandon(writer);
    if (code == EXIT_FINE)
        code = checkpoint_write(run);
    if (code != EXIT_FINE)
        return code;
    if (run->checkpoint)
        say("%s: checkpoint after %" PRId64 " %s", plan->checkpoint,
            gbs_sampler_next_sweep(run->sampler),
            gbs_plural(gbs_sampler_next_sweep(run->sampler), "sweep", "sweeps"));
    say("interrupted%s", part || run->checkpoint ? "" : ", nothing was written");
    return EXIT_INTERRUPTED;
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
        code = checkpoint_open(run);
    if (code == EXIT_FINE)
        code = run_draw(run, writer, &kept);
    if (code == EXIT_FINE && writer && run->moments)
        code = write_moments(run, writer);
    if (code == EXIT_INTERRUPTED)
        code = leave(run, writer);
    else if (code != EXIT_FINE)
        gbs_results_abandon(writer);
    else if (writer)
        code = finish_writer(writer, &record, run);
    else
        code = record_finish(&record, run);
    if (code == EXIT_FINE)
        code = checkpoint_write(run);
    interrupt_release();
    if (code == EXIT_FINE)
        code = print_result(run, &record, kept);
    record_free(&record);
    free(kept);
    return code;
}

/* What reproduces the run must reach the user somewhere: --quiet hides seed, choice and start only
 * where a file or JSON holds them. */
static void say_seed(const sample_plan *plan)
{
    if (!plan->quiet || !plan_is_recorded(plan))
        say("seed %" PRIu64, plan->seed);
}

static void say_pilot(const sample_run *run)
{
    if (!run->piloted || (run->plan->quiet && plan_is_recorded(run->plan)))
        return;
    char *text = pilot_text(&run->pilot, !run->plan->quiet);
    if (text)
        say("method auto: %s", text);
    free(text);
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
    if (plan_parse(argc, argv, &p, &code)) {
        sample_run run;
        code = run_open(&run, &p);
        if (code == EXIT_FINE) {
            say_seed(&p);
            say_pilot(&run);
            code = perform(&run);
        }
        run_close(&run);
    }
    plan_free(&p);
    return code;
}
