/* --resume: the options of the run that goes on come from its checkpoint.  Whoever gives one all
 * the same means what he gives: where it differs, the run would be another one, and is refused. */
#include "sample.h"

#include "io/checkpoint_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const dtypes[] = {"f32", "f64"};
static const char *const methods[] = {"gibbs", "exact", "whitened",
                                      "auto"}; /* no checkpoint has the last */
static const char *const orders[] = {"forward", "backward", "symmetric", "permuted"};

/* The message for an option that differs; text as it would be typed. */
static exit_code differs(const sample_plan *plan, const char *option, const char *its,
                         const char *given)
{
    return complain(EXIT_BAD_INPUT, "%s: is of a run with %s %s, %s was given", plan->resume,
                    option, its, given);
}

static exit_code agree_choice(const cli_command *command, const sample_plan *plan,
                              const char *option, const char *const *names, int its, int *value)
{
    if (option_given(command, option) && *value != its)
        return differs(plan, option, names[its], names[*value]);
    *value = its;
    return EXIT_FINE;
}

static exit_code agree_count(const cli_command *command, const sample_plan *plan,
                             const char *option, int64_t its, int64_t *value)
{
    char has[24], given[24];
    snprintf(has, sizeof has, "%" PRId64, its);
    snprintf(given, sizeof given, "%" PRId64, *value);
    if (option_given(command, option) && *value != its)
        return differs(plan, option, has, given);
    *value = its;
    return EXIT_FINE;
}

static exit_code agree_seed(const cli_command *command, sample_plan *plan, uint64_t its)
{
    char has[24], given[24];
    snprintf(has, sizeof has, "%" PRIu64, its);
    snprintf(given, sizeof given, "%" PRIu64, plan->seed);
    if (option_given(command, "--seed") && plan->seed != its)
        return differs(plan, "--seed", has, given);
    plan->seed = its;
    return EXIT_FINE;
}

static exit_code agree_omega(const cli_command *command, sample_plan *plan, double its)
{
    char has[32], given[32];
    if (option_given(command, "--omega") && plan->omega != its)
        return differs(plan, "--omega", shortest(its, has), shortest(plan->omega, given));
    plan->omega = its;
    return EXIT_FINE;
}

static exit_code agree_overrelax(const cli_command *command, sample_plan *plan, double its)
{
    char has[32], given[32];
    if (option_given(command, "--overrelax") && plan->overrelax != its)
        return differs(plan, "--overrelax", shortest(its, has), shortest(plan->overrelax, given));
    plan->overrelax = its;
    return EXIT_FINE;
}

static exit_code agree_stream(const cli_command *command, sample_plan *plan,
                              const gbs_checkpoint_info *info)
{
    static const char *const words[] = {"native", "given:FILE", "torch-cpu"};
    if (info->stream == GBS_STREAM_TORCH_CUDA)
        snprintf(plan->card, sizeof plan->card, "torch-cuda:%" PRId32 ":%" PRId32,
                 info->cuda_multiprocessors, info->cuda_threads_per_multiprocessor);
    else
        snprintf(plan->card, sizeof plan->card, "%s", words[info->stream]);
    if (option_given(command, "--stream")) {
        const bool same = plan->stream_kind == info->stream &&
                          plan->multiprocessors == info->cuda_multiprocessors &&
                          plan->threads == info->cuda_threads_per_multiprocessor;
        return same ? EXIT_FINE : differs(plan, "--stream", plan->card, plan->stream);
    }
    if (info->stream == GBS_STREAM_GIVEN)
        return usage_error(command,
                           "--resume: %s is of a run with --stream given:FILE, which "
                           "must be given again",
                           plan->resume);
    plan->stream = plan->card;
    plan->stream_kind = info->stream;
    plan->multiprocessors = info->cuda_multiprocessors;
    plan->threads = info->cuda_threads_per_multiprocessor;
    return EXIT_FINE;
}

/* Counts that no run of this program reaches are another program's, or forged. */
static exit_code check_counts(const sample_plan *plan, const gbs_checkpoint_info *info)
{
    const int64_t most = INT64_C(1) << 48;
    if (info->counts.warmup <= most && info->counts.thin <= most && info->next_sweep <= most)
        return EXIT_FINE;
    return complain(EXIT_BAD_INPUT,
                    "%s: its counts make no sense: %" PRId64 " sweeps, of them %" PRId64
                    " of warm-up, %" PRId64 " a draw; no stream has more than 2^48",
                    plan->resume, info->next_sweep, info->counts.warmup, info->counts.thin);
}

/* Where the run is: within its warm-up, or behind so many draws.  A checkpoint of another program
 * may know of no draws; then all it did was warm-up. */
static exit_code settle_position(const cli_command *command, sample_plan *plan,
                                 const gbs_checkpoint_info *info)
{
    exit_code code = check_counts(plan, info);
    plan->first_sweep = info->next_sweep;
    if (code == EXIT_FINE && option_given(command, "--from-sweep") &&
        plan->from_sweep != plan->first_sweep)
        code = complain(EXIT_BAD_INPUT,
                        "%s: stands behind %" PRId64 " %s, not behind --from-sweep %" PRId64
                        ": it has moved on, or is another one",
                        plan->resume, plan->first_sweep,
                        gbs_plural(plan->first_sweep, "sweep", "sweeps"), plan->from_sweep);
    if (code != EXIT_FINE)
        return code;
    if (info->counts.thin == 0) {
        plan->warmup = info->next_sweep;
        return EXIT_FINE;
    }
    plan->warmup = info->counts.warmup;
    code = agree_count(command, plan, "--thin", info->counts.thin, &plan->thin);
    if (code == EXIT_FINE && plan->first_sweep > plan->warmup)
        plan->first_draw = (plan->first_sweep - plan->warmup) / plan->thin;
    return code;
}

static exit_code agree(const cli_command *command, sample_plan *plan,
                       const gbs_checkpoint_info *info)
{
    if (info->order == GBS_ORDER_PERMUTED)
        return complain(EXIT_BAD_INPUT,
                        "%s: is of a run in a permuted order, which --order does "
                        "not offer",
                        plan->resume);
    exit_code code =
        agree_choice(command, plan, "--method", methods, (int)info->method, &plan->method);
    if (code == EXIT_FINE)
        code = agree_choice(command, plan, "--dtype", dtypes, (int)info->type, &plan->dtype);
    if (code == EXIT_FINE)
        code = agree_count(command, plan, "--chains", info->chains, &plan->chains);
    if (code == EXIT_FINE)
        code = agree_seed(command, plan, info->seed);
    if (code == EXIT_FINE)
        code = agree_choice(command, plan, "--order", orders, (int)info->order, &plan->order);
    if (code == EXIT_FINE)
        code = agree_omega(command, plan, info->omega);
    if (code == EXIT_FINE)
        code = agree_overrelax(command, plan, info->overrelax);
    if (code == EXIT_FINE)
        code = agree_stream(command, plan, info);
    const bool moments = info->moments_count >= 0;
    if (code == EXIT_FINE && plan->moments_only && !moments)
        return complain(EXIT_BAD_INPUT, "%s: is of a run without --moments-only", plan->resume);
    plan->moments_only = moments;
    if (code == EXIT_FINE)
        code = settle_position(command, plan, info);
    return code;
}

/* The library judges the bytes; it wants a context for its message. */
static exit_code inspect(const sample_plan *plan, gbs_checkpoint_info *info)
{
    gbs_context *ctx = NULL;
    if (gbs_context_create(NULL, &ctx) != GBS_OK)
        return complain(EXIT_FILE, "no memory for a context");
    const gbs_status status =
        gbs_checkpoint_inspect(ctx, plan->resume_bytes, plan->resume_size, info);
    exit_code code = EXIT_FINE;
    if (status != GBS_OK)
        code = complain(EXIT_BAD_INPUT, "%s: %s", plan->resume, gbs_context_message(ctx));
    gbs_context_destroy(ctx);
    return code;
}

exit_code plan_resume(const cli_command *command, sample_plan *plan)
{
    static const char *const refused[] = {"--warmup", "--init", "--save-warmup"};
    gbs_checkpoint_info info = {0};
    gbs_io_error error;
    if (!plan->resume)
        return EXIT_FINE;
    for (size_t k = 0; k < sizeof refused / sizeof *refused; k++)
        if (option_given(command, refused[k]))
            return usage_error(command,
                               "%s has no meaning with --resume, which starts where the "
                               "checkpoint was written",
                               refused[k]);
    const gbs_io_status status =
        gbs_checkpoint_load(plan->resume, &plan->resume_bytes, &plan->resume_size, &error);
    if (status != GBS_IO_OK)
        return complain((exit_code)gbs_io_exit_code(status), "%s", error.message);
    const exit_code code = inspect(plan, &info);
    return code == EXIT_FINE ? agree(command, plan, &info) : code;
}
