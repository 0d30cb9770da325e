/* Builds the objects of a run: context, model, start and noise from their files, sampler. */
#include "sample.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Float is offered for models that it does not bend (numerics.md, section 2). */
static exit_code check_float(sample_run *run)
{
    const sample_plan *plan = run->plan;
    gbs_spectrum spectrum;
    if (plan->dtype != GBS_F32)
        return EXIT_FINE;
    const gbs_status status = gbs_model_spectrum(run->ctx, run->model, &spectrum);
    if (status != GBS_OK)
        return complain_status(run->ctx, status);
    char why[96];
    if (spectrum.f32_site < 0)
        snprintf(why, sizeof why, "tau_max at w = 1: %.3g", spectrum.tau_max);
    else
        snprintf(why, sizeof why, "site %" PRId64 ": at its mean floats lie far apart",
                 spectrum.f32_site);
    const f32_verdict verdict = f32_judge(&spectrum);
    if (verdict == F32_REFUSE && !plan->force)
        return complain(EXIT_BAD_INPUT,
                        "%s: --dtype f32 would move the covariance by about %.2g (%s); use f64, or "
                        "--force",
                        plan->files.matrix, spectrum.f32_covariance_error, why);
    if (verdict != F32_FINE)
        say("warning: %s: --dtype f32 moves the covariance by about %.2g (%s)", plan->files.matrix,
            spectrum.f32_covariance_error, why);
    return EXIT_FINE;
}

/* "site 3 has", or "2 sites, the first of them 3, have". */
static const char *sites_of(int64_t count, int64_t first, const char *one, const char *many,
                            char to[96])
{
    if (count == 1)
        snprintf(to, 96, "site %" PRId64 " %s", first, one);
    else
        snprintf(to, 96, "%" PRId64 " sites, the first of them %" PRId64 ", %s", count, first,
                 many);
    return to;
}

/* What the bounds become in the run's type, where that is not what the user would expect. */
static exit_code check_bounds(const sample_run *run)
{
    const sample_plan *plan = run->plan;
    char source[64];
    const char *path = plan->files.lower ? bound_source("--lower", plan->files.lower, source)
                                         : bound_source("--upper", plan->files.upper, source);
    const char *const type = plan->dtype == GBS_F32 ? "f32" : "f64";
    char sites[96];
    gbs_boxes boxes;
    const gbs_status status = gbs_model_boxes(run->ctx, run->model, (gbs_type)plan->dtype, &boxes);
    if (status != GBS_OK)
        return complain_status(run->ctx, status);
    if (boxes.empty)
        say("warning: %s: %s no number of %s between %s bounds and %s held at the nearest", path,
            sites_of(boxes.empty, boxes.empty_site, "has", "have", sites), type,
            gbs_plural(boxes.empty, "its", "their"), gbs_plural(boxes.empty, "is", "are"));
    if (boxes.unresolved)
        say("warning: %s: the bounds of %s so far out that %s cannot tell draws from the bound",
            path, sites_of(boxes.unresolved, boxes.unresolved_site, "are", "are", sites), type);
    return EXIT_FINE;
}

/* Refuses the first number of a start that is not finite in type T, by its place in the file. */
static exit_code check_start(const gbs_array *a, const char *path, gbs_type type)
{
    for (int64_t k = 0; k < a->count; k++)
        if (!isfinite(array_at(a, k)))
            return complain_element(a, path, k, "no chain can start from");
    return type == GBS_F32 ? check_single(a, path) : EXIT_FINE;
}

/* The array's numbers in type T. */
static exit_code convert(gbs_array *array, gbs_type type)
{
    if (array->type == type)
        return EXIT_FINE;
    void *typed = take(array->count, type == GBS_F32 ? sizeof(float) : sizeof(double), "start");
    if (!typed)
        return EXIT_FILE;
    for (int64_t k = 0; k < array->count; k++)
        if (type == GBS_F32)
            ((float *)typed)[k] = (float)array_at(array, k);
        else
            ((double *)typed)[k] = array_at(array, k);
    free(array->data);
    array->data = typed;
    array->type = type;
    return EXIT_FINE;
}

/* With constraints and no other start: a point inside them, which a solver finds.  It is told and
 * recorded, since another machine's may differ in its last digits. */
static exit_code find_start(sample_run *run, gbs_sampler_spec *spec)
{
    const sample_plan *plan = run->plan;
    gbs_array *a = &run->initial;
    run->inside = take(run->dim, sizeof *run->inside, "start");
    a->data = take(run->dim, sizeof(double), "start");
    if (!run->inside || !a->data)
        return EXIT_FILE;
    a->type = GBS_F64;
    a->count = run->dim;
    const gbs_status status = gbs_model_interior(run->ctx, run->model, a->data);
    if (status == GBS_ERROR_UNAVAILABLE)
        return complain(EXIT_USAGE, "%s, by --init FILE", gbs_context_message(run->ctx));
    if (status != GBS_OK)
        return complain(status == GBS_ERROR_MEMORY ? EXIT_FILE : EXIT_BAD_INPUT, "%s: %s",
                        plan->files.rows, gbs_context_message(run->ctx));
    const exit_code code = convert(a, spec->type);
    for (int64_t i = 0; code == EXIT_FINE && i < run->dim; i++)
        run->inside[i] = array_at(a, i);
    spec->start = GBS_START_GIVEN;
    spec->initial = a->data;
    spec->initial_rows = 1;
    return code;
}

static void say_start(const sample_run *run)
{
    enum { SHOWN = 6 };
    char numbers[SHOWN * 32] = "", number[32];
    size_t used = 0;
    for (int64_t i = 0; i < run->dim && i < SHOWN; i++)
        used += (size_t)snprintf(numbers + used, sizeof numbers - used, " %s",
                                 shortest(run->inside[i], number));
    const char *const rest = run->dim <= SHOWN             ? ""
                             : plan_is_recorded(run->plan) ? " ..."
                                                           : " ... (--json and .nc hold all of it)";
    say("start inside the constraints:%s%s", numbers, rest);
}

/* --init FILE: [chains, D], or [D] for the same start in every chain. */
static exit_code load_start(sample_run *run, gbs_sampler_spec *spec)
{
    const sample_plan *plan = run->plan;
    if (spec->start == GBS_START_OVERDISPERSED && plan->method != GBS_METHOD_EXACT &&
        gbs_model_constraints(run->model))
        return find_start(run, spec);
    if (plan->start != GBS_START_GIVEN)
        return EXIT_FINE;
    gbs_array *a = &run->initial;
    exit_code code = load_array_rows(plan->init, a);
    if (code != EXIT_FINE)
        return code;
    const bool column =
        a->axes == 2 && a->shape[1] == 1 && run->dim > 1; /* Matrix Market's vector */
    const bool one = (a->axes == 1 || column) && a->shape[0] == run->dim;
    const bool each = a->axes == 2 && a->shape[1] == run->dim &&
                      (a->shape[0] == plan->chains || a->shape[0] == 1);
    if (!one && !each) {
        char needed[96];
        snprintf(needed, sizeof needed, "(%" PRId64 ", %" PRId64 ") or (%" PRId64 ")", plan->chains,
                 run->dim, run->dim);
        return complain_shape(a, plan->init, needed);
    }
    code = match_names(&run->facts, plan->init, a);
    if (code == EXIT_FINE)
        code = check_start(a, plan->init, spec->type);
    if (code == EXIT_FINE)
        code = convert(a, spec->type);
    spec->initial = a->data;
    spec->initial_rows = one ? 1 : a->shape[0];
    return code;
}

/* --stream given:FILE: [sweeps, D, chains] with enough sweeps for the whole run. */
static exit_code load_noise(sample_run *run, gbs_stream_spec *stream)
{
    const sample_plan *plan = run->plan;
    if (plan->stream_kind != GBS_STREAM_GIVEN)
        return EXIT_FINE;
    gbs_array *a = &run->noise;
    const exit_code code = load_array(plan->noise, a);
    if (code != EXIT_FINE)
        return code;
    const int64_t needed =
        plan_end(plan) * (plan->order == GBS_ORDER_SYMMETRIC ? 2 : 1); /* < 2^50 */
    if (a->axes != 3 || a->shape[0] < needed || a->shape[1] != run->dim ||
        a->shape[2] != plan->chains) {
        char shape[128];
        snprintf(shape, sizeof shape,
                 "(sweeps, sites, chains) = (%" PRId64 " or more, %" PRId64 ", %" PRId64 ")",
                 needed, run->dim, plan->chains);
        return complain_shape(a, plan->noise, shape);
    }
    stream->noise_type = a->type;
    stream->noise = a->data;
    stream->noise_sweeps = a->shape[0];
    return EXIT_FINE;
}

/* A number of a file that the library found not finite, or out of the run's type. */
static exit_code complain_range(const sample_run *run)
{
    const sample_plan *plan = run->plan;
    const char *message = gbs_context_message(run->ctx);
    const model_files *files = &plan->files;
    const char *location = files->mean     ? files->mean
                           : files->info   ? files->info
                           : files->offset ? files->offset
                                           : files->fix;
    if (plan->noise && !strncmp(message, "noise:", 6))
        return complain(EXIT_BAD_INPUT, "%s: %s", plan->noise, message);
    if (location && !strncmp(message, "mean:", 5))
        return complain(EXIT_BAD_INPUT, "%s: %s", location, message);
    if (plan->files.rows && !strncmp(message, "constraints:", 12))
        return complain(EXIT_BAD_INPUT, "%s: %s", plan->files.rows, message);
    const bool moved = strstr(message, "constant") || strstr(message, "its mean");
    return complain(EXIT_BAD_INPUT, "%s: %s", moved && location ? location : plan->files.matrix,
                    message);
}

/* --method auto: the pilot's choice goes where the plan's would be. */
static exit_code settle_method(sample_run *run)
{
    sample_plan *plan = &run->settled;
    const int without = plan->method == METHOD_AUTO ? GBS_METHOD_WHITENED : GBS_METHOD_GIBBS;
    if (plan->method != METHOD_AUTO && plan->method != METHOD_DEFAULT)
        return EXIT_FINE;
    const gbs_status status =
        gbs_pilot_run(run->ctx, run->model, (gbs_type)plan->dtype, plan->seed, &run->pilot);
    if (status == GBS_ERROR_UNAVAILABLE) /* the pilot starts inside the rows too */
        return complain(EXIT_USAGE, "%s, by --init FILE%s", gbs_context_message(run->ctx),
                        plan->method == METHOD_AUTO
                            ? ", and leave --method auto out: its pilot would look for one too"
                            : "");
    if (status == GBS_ERROR_ARGUMENT && plan->files.rows)
        return complain(EXIT_BAD_INPUT, "%s: %s", plan->files.rows, gbs_context_message(run->ctx));
    if (status == GBS_ERROR_NOT_FINITE)
        return complain_range(run);
    if (status != GBS_OK)
        return complain_status(run->ctx, status);
    run->piloted = run->pilot.count > 0 || plan->method == METHOD_AUTO;
    /* without bounds whitened draws are independent too, and take every option that sweeps take */
    plan->method = run->pilot.count > 0 ? (int)run->pilot.method : without;
    plan->overrelax = run->pilot.overrelax;
    return EXIT_FINE;
}

/* What the library refuses of the options' combination, once the files are read: its messages begin
 * with the argument, which is the option's name. */
static exit_code complain_options(const sample_run *run, gbs_status status)
{
    static const char *const options[] = {"chains", "method",    "order",
                                          "omega",  "overrelax", "stream"};
    const sample_plan *plan = run->plan;
    const char *message = gbs_context_message(run->ctx);
    const char *const bound = plan->files.lower ? "--lower" : "--upper";
    char source[64];
    if (gbs_model_lower(run->model) && !strncmp(message, "method:", 7))
        return complain(EXIT_USAGE,
                        "--method: exact draws know no bounds, and %s gives some; --method gibbs "
                        "or whitened keeps them",
                        bound);
    if (gbs_model_lower(run->model) && !strncmp(message, "stream:", 7))
        return complain(EXIT_USAGE, STREAM_OF_NORMALS, plan->stream, bound);
    if (gbs_model_lower(run->model) && !strncmp(message, "site ", 5))
        return complain(EXIT_BAD_INPUT, "%s: %s",
                        plan->files.lower ? bound_source("--lower", plan->files.lower, source)
                                          : bound_source("--upper", plan->files.upper, source),
                        message);
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
        const size_t length = strlen(options[k]);
        if (!strncmp(message, options[k], length) && message[length] == ':')
            return complain(EXIT_USAGE, "--%s", message);
    }
    return complain_status(run->ctx, status);
}

static exit_code make_sampler(sample_run *run)
{
    const sample_plan *plan = run->plan;
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    spec.type = (gbs_type)plan->dtype;
    spec.method = (gbs_method)plan->method;
    spec.chains = plan->chains;
    spec.seed = plan->seed;
    spec.order = (gbs_order)plan->order;
    spec.omega = plan->omega;
    spec.overrelax = plan->overrelax;
    spec.start = plan->resume && plan->method != GBS_METHOD_EXACT ? GBS_START_LATER : plan->start;
    spec.stream.kind = plan->stream_kind;
    spec.stream.cuda_multiprocessors = plan->multiprocessors;
    spec.stream.cuda_threads_per_multiprocessor = plan->threads;
    exit_code code = load_start(run, &spec);
    if (code == EXIT_FINE)
        code = load_noise(run, &spec.stream);
    if (code != EXIT_FINE)
        return code;
    const gbs_status status = gbs_sampler_create(run->ctx, run->model, &spec, &run->sampler);
    if (status == GBS_ERROR_MEMORY) /* the library counts chains in whole batches */
        return complain(EXIT_FILE, "--chains %" PRId64 ": %s", plan->chains,
                        gbs_context_message(run->ctx));
    if (status == GBS_ERROR_ARGUMENT && plan->start != GBS_START_OVERDISPERSED &&
        (!strncmp(gbs_context_message(run->ctx), "start:", 6) ||
         !strncmp(gbs_context_message(run->ctx), "initial:", 8)))
        return complain(EXIT_BAD_INPUT, "%s%s: %s", plan->start == GBS_START_GIVEN ? "" : "--init ",
                        plan->init, gbs_context_message(run->ctx));
    if (status == GBS_ERROR_NOT_FINITE)
        return complain_range(run);
    if (status != GBS_OK)
        return complain_options(run, status);
    if (run->inside && !(plan->quiet && plan_is_recorded(plan)))
        say_start(run);
    if (plan->moments_only) {
        const gbs_status made = gbs_moments_create(run->ctx, plan->chains, run->dim, &run->moments);
        if (made != GBS_OK)
            return complain_status(run->ctx, made);
    }
    return checkpoint_restore(run);
}

/* Why there is no context, by the option where an argument is one. */
static exit_code complain_context(gbs_status status, const char *why)
{
    static const char device[] = "cuda_device:";
    const exit_code code = status == GBS_ERROR_MEMORY ? EXIT_FILE : EXIT_USAGE;
    if (!strncmp(why, device, sizeof device - 1))
        return complain(code, "--device:%s", why + sizeof device - 1);
    return complain(code, "%s%s", strncmp(why, "backend cuda:", 13) ? "" : "--", why);
}

exit_code run_open(sample_run *run, const sample_plan *plan)
{
    *run = (sample_run){.settled = *plan};
    run->plan = &run->settled;
    gbs_context_options options = gbs_context_options_default();
    options.isa = (gbs_isa)plan->isa;
    options.threads = (int32_t)plan->cpu_threads;
    options.backend = (gbs_backend)plan->backend;
    options.cuda_device = (int32_t)plan->device;
    char why[512] = "";
    options.message = why;
    options.message_bytes = sizeof why;
    const gbs_status status = gbs_context_create(&options, &run->ctx);
    if (status != GBS_OK)
        return complain_context(status, why);
    exit_code code = load_model(run->ctx, &plan->files, &run->model, &run->facts);
    if (code != EXIT_FINE)
        return code;
    run->dim = gbs_model_dim(run->model);
    code = check_float(run);
    if (code == EXIT_FINE)
        code = check_bounds(run);
    if (code == EXIT_FINE)
        code = settle_method(run);
    return code == EXIT_FINE ? make_sampler(run) : code;
}

void run_close(sample_run *run)
{
    gbs_moments_destroy(run->moments);
    gbs_sampler_destroy(run->sampler);
    gbs_model_release(run->model);
    gbs_context_destroy(run->ctx);
    model_facts_free(&run->facts);
    gbs_array_free(&run->noise);
    gbs_array_free(&run->initial);
    free(run->inside);
    free(run->checkpoint);
}
