/* The parts of `gibbsite sample`: the plan from the command line, the objects it asks for, the
 * run itself, and its record. */
#ifndef GIBBSITE_CLI_SAMPLE_H
#define GIBBSITE_CLI_SAMPLE_H

#include "cli.h"
#include "json.h"
#include "load.h"
#include "options.h"

#include "io/results.h"

/* A method of the program's, beside the library's: the pilot chooses. */
enum {
    METHOD_AUTO = 3,
    METHOD_DEFAULT = 4
}; /* DEFAULT: where there turn out to be no bounds, GIBBS */

/* What the command line says, checked as far as that is possible without the files.  The ints
 * hold the library's enums. */
typedef struct sample_plan {
    model_files files;
    int method, dtype, order, isa, backend; /* method: METHOD_AUTO until the pilot has run */
    int64_t chains, warmup, draws, thin;
    int64_t cpu_threads; /* 0: one a processor */
    int64_t device;      /* with backend cuda: which GPU */
    uint64_t seed;
    double omega, overrelax;
    const char *init; /* a word or a file */
    gbs_start start;
    const char *stream; /* as typed */
    gbs_stream stream_kind;
    const char *noise; /* the file of given:FILE */
    int32_t multiprocessors, threads;
    bool force, quiet, json;
    const char *output; /* NULL: the summary goes to stdout */
    gbs_results_format format;
    bool keep_partial, moments_only, save_warmup;
    const char *checkpoint; /* file; NULL for none */
    int64_t every;          /* sweeps from one checkpoint to the next; 0: about a minute */
    /* What --resume names, and where it begins; NULL and zeros for a run from the start. */
    const char *resume;
    void *resume_bytes;
    size_t resume_size;
    int64_t first_sweep, first_draw;
    int64_t from_sweep; /* where the checkpoint must stand, if --from-sweep is given */
    char card[32];      /* room for `stream` where it comes from the checkpoint */
} sample_plan;

/* What a stream and an option for bounds are told where they do not go together. */
#define STREAM_OF_NORMALS                                                                          \
    "--stream %s holds normals, and %s asks for draws between bounds, which take words"

/* Fills the plan from the command line; false if there is nothing more to do than to leave with
 * *code. */
bool plan_parse(int argc, char **argv, sample_plan *plan, exit_code *code);
void plan_free(sample_plan *plan);

/* --resume: reads the checkpoint and takes from it every option that is not given; one that is
 * given and differs is an error. */
exit_code plan_resume(const cli_command *command, sample_plan *plan);

/* The sweep (for exact: draw) at which the run ends, counted from the start of its warm-up; and
 * the sweeps it makes, which are fewer where it resumes. */
int64_t plan_end(const sample_plan *plan);
int64_t plan_sweeps(const sample_plan *plan);

/* Draws of the warm-up that go into the file. */
int64_t plan_warmup_draws(const sample_plan *plan);

/* Does the file, or JSON, say what reproduces the run?  An .npy file holds numbers alone. */
bool plan_is_recorded(const sample_plan *plan);

/* The objects of a run. */
typedef struct sample_run {
    const sample_plan *plan; /* `settled` */
    sample_plan settled;     /* with the method that the pilot chose */
    bool piloted;            /* the pilot chose the method */
    gbs_pilot pilot;         /* what it tried; count is 0 where there was nothing to try */
    gbs_context *ctx;
    gbs_model *model;
    gbs_sampler *sampler;
    gbs_moments *moments; /* NULL where draws are kept */
    model_facts facts;
    gbs_array noise, initial; /* the files of --stream given and --init */
    double *inside; /* [dim] the start that was found inside constraints; NULL: none was */
    int64_t dim;
    void *checkpoint; /* room for one; NULL where none is wanted */
    size_t checkpoint_size;
    double checkpoint_time; /* seconds, when the last was written */
} sample_run;

/* Reads, checks and builds everything; ended by run_close, whatever it returns. */
exit_code run_open(sample_run *run, const sample_plan *plan);
void run_close(sample_run *run);

/* Draws that the run has completed so far, those before a resume not counted. */
int64_t run_kept(const sample_run *run);

/* Runs warm-up and draws.  Where only moments are wanted, draws go into run->moments.  Else with a
 * writer each block of draws is written and forgotten, and without one *kept is [chains, draws,
 * dim] of the plan's type, the caller's to free.  After EXIT_INTERRUPTED the writer has run_kept
 * draws if the plan keeps a part, else fewer. */
exit_code run_draw(sample_run *run, gbs_results_writer *writer, void **kept);

/* Checkpoints.  The first is written by open, so that a file which cannot be is known at once.
 * All do nothing where the plan wants none. */
exit_code checkpoint_open(sample_run *run);
exit_code checkpoint_write(sample_run *run);
exit_code checkpoint_if_due(sample_run *run);
/* Sweeps to the next that is due; INT64_MAX where the clock decides. */
int64_t checkpoint_distance(const sample_run *run);
/* Puts the sampler where the plan's checkpoint was written. */
exit_code checkpoint_restore(sample_run *run);

/* What the pilot chose and, with `why`, what it tried or why nothing, in one line, the caller's to
 * free; NULL without memory. */
char *pilot_text(const gbs_pilot *pilot, bool why);
json_t *pilot_json(const gbs_pilot *pilot);

/* The record of a run: attributes of the file at its start and at its end, and JSON. */
typedef struct sample_record {
    char *options; /* the explicit options that reproduce the run */
    unsigned char state[GBS_TORCH_CPU_STATE_BYTES];
    size_t state_bytes;              /* 0 for streams without a state */
    char *pilot;                     /* what the pilot tried, in words; NULL: none ran */
    char model_hash[17], run_id[17]; /* of the model, and of all that the draws depend on */
    gbs_attribute attributes[32];
    int64_t attribute_count;
} sample_record;

exit_code record_make(sample_record *record, const sample_run *run);
void record_free(sample_record *record);
/* Reads the torch generator's state, where the stream has one. */
exit_code record_finish(sample_record *record, const sample_run *run);
json_t *record_json(const sample_record *record, const sample_run *run);

#endif
