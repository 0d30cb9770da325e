/* The record of a run, as attributes of its file and as JSON: enough to run it again, bit for bit.
 * No date and no instruction set among the attributes: the same draws make the same file. */
#define _POSIX_C_SOURCE 200809L
#include "sample.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const stream_names[] = {"native", "given", "torch-cpu", "torch-cuda"};
/* Given normals are mapped by nobody. */
static const int64_t stream_versions[] = {
    GBS_STREAM_NATIVE_VERSION, 0, GBS_STREAM_TORCH_CPU_VERSION, GBS_STREAM_TORCH_CUDA_VERSION};
static const char *const method_names[] = {"gibbs", "exact", "whitened"};
static const char *const dtype_names[] = {"f32", "f64"};
static const char *const order_names[] = {"forward", "backward", "symmetric"};
static const char *const form_names[] = {"zero", "mean", "information", "offset"};

/* A word as a shell reads it back. */
static void put_word(FILE *to, const char *option, const char *word)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:-+,=@%";
    if (!word)
        return;
    fprintf(to, " %s ", option);
    if (word[strspn(word, plain)] == '\0') {
        fputs(word, to);
        return;
    }
    fputc('\'', to);
    for (const char *c = word; *c; c++)
        *c == '\'' ? fputs("'\\''", to) : fputc(*c, to);
    fputc('\'', to);
}

static void put_options(FILE *to, const sample_run *run)
{
    const sample_plan *plan = run->plan;
    const bool gibbs = plan->method == GBS_METHOD_GIBBS, chain = plan->method != GBS_METHOD_EXACT;
    char omega[32];
    fprintf(to, "--method %s", method_names[plan->method]);
    put_word(to, "-Q", plan->files.matrix);
    if (plan->files.covariance)
        fputs(" --covariance", to);
    put_word(to, "--mean", plan->files.mean);
    put_word(to, "--info", plan->files.info);
    put_word(to, "--offset", plan->files.offset);
    put_word(to, "--fix", plan->files.fix);
    put_word(to, "--lower", plan->files.lower);
    put_word(to, "--upper", plan->files.upper);
    put_word(to, "--rows", plan->files.rows);
    put_word(to, "--row-lower", plan->files.row_lower);
    put_word(to, "--row-upper", plan->files.row_upper);
    fprintf(to, " --chains %" PRId64, plan->chains);
    if (chain && !plan->resume)
        fprintf(to, " --warmup %" PRId64, plan->warmup);
    fprintf(to, " --draws %" PRId64, plan->draws);
    if (chain)
        fprintf(to, " --thin %" PRId64, plan->thin);
    fprintf(to, " --seed %" PRIu64 " --dtype %s", plan->seed, dtype_names[plan->dtype]);
    if (plan->force)
        fputs(" --force", to);
    if (gibbs) {
        fprintf(to, " --order %s", order_names[plan->order]);
        fprintf(to, " --omega %s", shortest(plan->omega, omega));
        if (plan->overrelax > 0)
            fprintf(to, " --overrelax %s", shortest(plan->overrelax, omega));
    }
    if (chain && !plan->resume && !run->inside) /* it is looked for again */
        put_word(to, "--init", plan->init);
    put_word(to, "--stream", plan->stream);
    if (plan->stream_kind == GBS_STREAM_TORCH_CUDA && plan->backend == GBS_BACKEND_CUDA)
        put_word(to, "--backend", "cuda"); /* torch's own bits; the CPU comes within 5e-6 */
    put_word(to, "--resume", plan->resume);
    if (plan->resume) /* a checkpoint moves on; these options then say so */
        fprintf(to, " --from-sweep %" PRId64, plan->first_sweep);
    if (plan->save_warmup)
        fputs(" --save-warmup", to);
    if (plan->moments_only)
        fputs(" --moments-only", to);
}

/* Where the chains began, in --init's words but for a start that was found. */
static const char *start_name(const sample_run *run)
{
    return run->inside ? "inside" : run->plan->init;
}

/* Whether the draws depend on the mapping of draws between bounds too. */
static bool between_bounds(const sample_run *run)
{
    return gbs_model_lower(run->model) || gbs_model_constraints(run->model);
}

static void add(sample_record *record, gbs_attribute attribute)
{
    record->attributes[record->attribute_count++] = attribute;
}

/* FNV-1a (Fowler, Noll, Vo), from a start of one's own. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash;
}

/* Files of one run carry one run_id; another model, seed or option makes another. */
static void identify(sample_record *record, const sample_run *run)
{
    const uint64_t model = gbs_model_hash(run->model);
    snprintf(record->model_hash, sizeof record->model_hash, "%016" PRIx64, model);
    snprintf(record->run_id, sizeof record->run_id, "%016" PRIx64,
             hash_text(model, record->options));
}

exit_code record_make(sample_record *record, const sample_run *run)
{
    const sample_plan *plan = run->plan;
    size_t length;
    *record = (sample_record){0};
    FILE *to = open_memstream(&record->options, &length);
    if (to)
        put_options(to, run);
    const bool failed = !to || ferror(to);
    if ((to && fclose(to)) || failed || !record->options)
        return complain(EXIT_FILE, "no memory for the record of the run");
    add(record, (gbs_attribute)GBS_ATTRIBUTE_OF_TEXT("inference_library", 1, "gibbsite"));
    add(record,
        (gbs_attribute)GBS_ATTRIBUTE_OF_TEXT("inference_library_version", 1, gbs_version()));
    identify(record, run);
    add(record, (gbs_attribute)GBS_ATTRIBUTE_OF_TEXT("model_hash", 0, record->model_hash));
    add(record, (gbs_attribute)GBS_ATTRIBUTE_OF_TEXT("run_id", 0, record->run_id));
    add(record, (gbs_attribute)GBS_ATTRIBUTE_OF_INT64("chains", 0, plan->chains));
    add(record, (gbs_attribute)GBS_ATTRIBUTE_OF_TEXT("method", 0, method_names[plan->method]));
    add(record, (gbs_attribute)GBS_ATTRIBUTE_OF_TEXT("stream", 0, stream_names[plan->stream_kind]));
    add(record, (gbs_attribute)GBS_ATTRIBUTE_OF_INT64("stream_mapping_version", 0,
                                                      stream_versions[plan->stream_kind]));
    if (between_bounds(run))
        add(record, (gbs_attribute)GBS_ATTRIBUTE_OF_INT64("truncnorm_mapping_version", 0,
                                                          GBS_TRUNCNORM_VERSION));
    add(record, (gbs_attribute)GBS_ATTRIBUTE_OF_UINT64("seed", 0, plan->seed));
    add(record, (gbs_attribute)GBS_ATTRIBUTE_OF_INT64("warmup", 0, plan->warmup));
    add(record, (gbs_attribute)GBS_ATTRIBUTE_OF_INT64("thin", 0, plan->thin));
    if (plan->method == GBS_METHOD_GIBBS) {
        add(record, (gbs_attribute)GBS_ATTRIBUTE_OF_TEXT("order", 0, order_names[plan->order]));
        add(record, (gbs_attribute)GBS_ATTRIBUTE_OF_DOUBLE("omega", 0, plan->omega));
        if (plan->overrelax > 0)
            add(record, (gbs_attribute)GBS_ATTRIBUTE_OF_DOUBLE("overrelax", 0, plan->overrelax));
    }
    if (plan->method != GBS_METHOD_EXACT && !plan->resume)
        add(record, (gbs_attribute)GBS_ATTRIBUTE_OF_TEXT("init", 0, start_name(run)));
    if (plan->resume)
        add(record, (gbs_attribute)GBS_ATTRIBUTE_OF_INT64("first_draw", 0, plan->first_draw));
    add(record, (gbs_attribute)GBS_ATTRIBUTE_OF_TEXT("options", 0, record->options));
    if (run->piloted) {
        record->pilot = pilot_text(&run->pilot, true);
        if (!record->pilot)
            return complain(EXIT_FILE, "no memory for the record of the run");
        add(record, (gbs_attribute)GBS_ATTRIBUTE_OF_TEXT("pilot", 0, record->pilot));
        add(record, (gbs_attribute)GBS_ATTRIBUTE_OF_INT64("pilot_version", 0, GBS_PILOT_VERSION));
    }
    return EXIT_FINE;
}

void record_free(sample_record *record)
{
    free(record->options);
    free(record->pilot);
    *record = (sample_record){0};
}

exit_code record_finish(sample_record *record, const sample_run *run)
{
    const gbs_stream kind = run->plan->stream_kind;
    record->state_bytes = kind == GBS_STREAM_TORCH_CPU    ? GBS_TORCH_CPU_STATE_BYTES
                          : kind == GBS_STREAM_TORCH_CUDA ? GBS_TORCH_CUDA_STATE_BYTES
                                                          : 0;
    if (!record->state_bytes)
        return EXIT_FINE;
    const gbs_status status =
        gbs_sampler_get_torch_state(run->sampler, record->state, record->state_bytes);
    return status == GBS_OK ? EXIT_FINE : complain_status(run->ctx, status);
}

static json_t *stream_json(const sample_record *record, const sample_run *run)
{
    const sample_plan *plan = run->plan;
    json_t *object = json_pack("{s:s}", "kind", stream_names[plan->stream_kind]);
    if (stream_versions[plan->stream_kind])
        json_object_set_new(object, "mapping_version",
                            json_integer(stream_versions[plan->stream_kind]));
    if (between_bounds(run))
        json_object_set_new(object, "truncnorm_mapping_version",
                            json_integer(GBS_TRUNCNORM_VERSION));
    if (record->state_bytes)
        json_object_set_new(object, "generator_state",
                            json_hex(record->state, record->state_bytes));
    return object;
}

json_t *record_json(const sample_record *record, const sample_run *run)
{
    const sample_plan *plan = run->plan;
    static const char *const formats[] = {"npy", "nc", "csv"};
    json_t *object = json_pack(
        "{s:s, s:s, s:o, s:s, s:I, s:s, s:s, s:I, s:I, s:I, s:I, s:o, s:s, s:o, s:s, s:s, s:s, "
        "s:I, s:o}",
        "gibbsite", gbs_version(), "verb", "sample", "matrix", json_text(plan->files.matrix),
        "kind", plan->files.covariance ? "covariance" : "precision", "size", (json_int_t)run->dim,
        "location_form", form_names[gbs_model_location_kind(run->model)], "method",
        method_names[plan->method], "chains", (json_int_t)plan->chains, "warmup",
        (json_int_t)plan->warmup, "draws", (json_int_t)plan->draws, "thin", (json_int_t)plan->thin,
        "seed", json_unsigned(plan->seed), "dtype", dtype_names[plan->dtype], "stream",
        stream_json(record, run), "backend", gbs_backend_name(gbs_context_backend(run->ctx)), "isa",
        gbs_isa_name(gbs_context_isa(run->ctx)), "kernel", gbs_sampler_kernel(run->sampler),
        "threads", (json_int_t)gbs_context_threads(run->ctx), "options",
        json_text(record->options));
    if (object && plan->method == GBS_METHOD_GIBBS) {
        json_object_set_new(object, "order", json_string(order_names[plan->order]));
        json_object_set_new(object, "omega", json_number(plan->omega));
        json_object_set_new(object, "overrelax", json_number(plan->overrelax));
    }
    if (object && plan->method != GBS_METHOD_EXACT && !plan->resume)
        json_object_set_new(object, "init", json_text(start_name(run)));
    if (object && run->piloted)
        json_object_set_new(object, "pilot", pilot_json(&run->pilot));
    if (object && run->inside) {
        json_t *start = json_array();
        for (int64_t i = 0; i < run->dim; i++)
            json_array_append_new(start, json_number(run->inside[i]));
        json_object_set_new(object, "start", start);
    }
    if (object && plan->resume) {
        json_object_set_new(object, "resume", json_text(plan->resume));
        json_object_set_new(object, "first_draw", json_integer(plan->first_draw));
        json_object_set_new(object, "first_sweep", json_integer(plan->first_sweep));
    }
    if (object) {
        json_object_set_new(object, "model_hash", json_string(record->model_hash));
        json_object_set_new(object, "run_id", json_string(record->run_id));
        json_object_set_new(object, "file", plan->output ? json_text(plan->output) : json_null());
        json_object_set_new(object, "format",
                            plan->output ? json_string(formats[plan->format]) : json_null());
    }
    return object;
}
