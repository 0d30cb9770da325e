/* Gibbsite: Gibbs sampling for Gaussian models, many chains at once.
 *
 * This header is the whole C interface, and is meant to be read from top to bottom:
 *
 *   1. statuses       every call that can fail returns one; the context holds the words
 *   2. context        allocator, instruction set, threads, backend, last error message
 *   3. model          a precision matrix and a location, checked, copied and frozen
 *   4. streams        where the normals come from
 *   5. sampler        B chains over one model: run, read, sample
 *   6. moments        means and variances without storing draws
 *   7. diagnostics    R-hat, effective sample size, Monte Carlo errors: pure functions
 *   8. one call       sweeps over arrays that the caller keeps, many small models at once
 *   9. checkpoints    a run's state as bytes, to go on elsewhere or later
 *   10. between bounds draws of truncated normals over arrays
 *
 * The shortest complete program (examples/c/00_first.c):
 *
 *     gbs_context *ctx;  gbs_model *model;  gbs_sampler *sampler;
 *     double Q[4] = {2, -1, -1, 2}, x[1000 * 2];
 *     gbs_context_create(NULL, &ctx);
 *
 *     gbs_model_spec m = gbs_model_spec_default();
 *     m.dim = 2;  m.matrix = Q;
 *     gbs_model_create(ctx, &m, &model);
 *
 *     gbs_sampler_spec s = gbs_sampler_spec_default();
 *     s.chains = 1000;  s.seed = 1;
 *     gbs_sampler_create(ctx, model, &s, &sampler);
 *     gbs_sampler_run(sampler, 100);
 *     gbs_sampler_get_state(sampler, x);
 *
 * Letters used everywhere: Q precision, mu mean, b information vector, x state, z normal,
 * D sites (the dimension), B chains, T the sampler's type (float or double), w the
 * over-relaxation weight.  Arrays are row-major, last index fastest.  Counts and indices
 * are int64_t.  Sites, chains, sweeps and draws are numbered from 0.
 *
 * The promise: with the native stream, one model, one seed and one set of options give the
 * same bits on every instruction set and any number of threads, however chains are split into
 * batches and sweeps into runs.  docs/reproducibility.md says what that rests on.
 */
#ifndef GIBBSITE_GIBBSITE_H
#define GIBBSITE_GIBBSITE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32) || !defined(__GNUC__)
#define GBS_API
#else
#define GBS_API __attribute__((visibility("default")))
#endif

#define GBS_VERSION_MAJOR 0
#define GBS_VERSION_MINOR 1
#define GBS_VERSION_PATCH 0

/* "0.1.0", of the library that is running (the macros speak of the header). */
GBS_API const char *gbs_version(void);

/* ------------------------------------------------------------------ 1. statuses */

/* One list: the enum, the names and the sentences all come from it. */
#define GBS_STATUS_LIST(X)                                                                  \
    X(GBS_OK, 0, "success")                                                                 \
    X(GBS_STOPPED, 1, "the callback asked to stop")                                         \
    X(GBS_ERROR_ARGUMENT, 2, "an argument is out of its range")                             \
    X(GBS_ERROR_MEMORY, 3, "memory could not be allocated")                                 \
    X(GBS_ERROR_NOT_FINITE, 4, "a number is NaN or infinite, or not so in the type asked")  \
    X(GBS_ERROR_NOT_SYMMETRIC, 5, "the matrix is not symmetric")                            \
    X(GBS_ERROR_NOT_POSITIVE_DEFINITE, 6, "the matrix is not positive definite")            \
    X(GBS_ERROR_LIMIT, 7, "a number is beyond what the random stream can address")          \
    X(GBS_ERROR_EXHAUSTED, 8, "the given noise has no more sweeps")                         \
    X(GBS_ERROR_UNAVAILABLE, 9, "this machine or build does not have what was asked for")   \
    X(GBS_ERROR_STATE, 10, "a generator state or checkpoint is damaged or of another kind")

typedef enum gbs_status {
#define GBS_X(name, value, text) name = value,
    GBS_STATUS_LIST(GBS_X)
#undef GBS_X
} gbs_status;

/* "GBS_ERROR_MEMORY" and "memory could not be allocated"; never NULL, static. */
GBS_API const char *gbs_status_name(gbs_status status);
GBS_API const char *gbs_status_text(gbs_status status);

/* Element type of an array, and of a sampler's state. */
typedef enum gbs_type { GBS_F32 = 0, GBS_F64 = 1 } gbs_type;

/* ------------------------------------------------------------------ 2. context */

/* Instruction sets.  AUTO takes the widest that this machine and this build have. */
typedef enum gbs_isa {
    GBS_ISA_AUTO = 0,
    GBS_ISA_SCALAR = 1, /* the reference: one chain at a time, in plain C */
    GBS_ISA_AVX2 = 2,   /* AVX2 and FMA */
    GBS_ISA_AVX512 = 3, /* AVX-512 F, DQ, VL and BW */
    GBS_ISA_NEON = 4    /* of 64-bit Arm */
} gbs_isa;

GBS_API const char *gbs_isa_name(gbs_isa isa); /* "auto", "scalar", "avx2", "avx512", "neon" */
GBS_API int gbs_isa_available(gbs_isa isa);    /* 1 if this machine and build can run it */

/* Memory hooks.  allocate returns NULL on failure; memory need only be aligned as malloc's
 * is.  Both may be called from any thread that uses an object made with them. */
typedef struct gbs_allocator {
    void *(*allocate)(size_t bytes, void *user);
    void (*release)(void *memory, void *user);
    void *user;
} gbs_allocator;

/* Where samplers keep their chains and run; the draws of the native stream are the same. */
typedef enum gbs_backend {
    GBS_BACKEND_CPU = 0,
    GBS_BACKEND_CUDA = 1 /* an NVIDIA GPU, by libgibbsite_cuda, which is loaded when asked for */
} gbs_backend;

GBS_API const char *gbs_backend_name(gbs_backend backend); /* "cpu", "cuda" */

typedef struct gbs_context_options {
    gbs_allocator allocator; /* all NULL: malloc and free */
    gbs_isa isa;             /* default AUTO */
    int32_t threads;         /* that a call may run on, the caller's among them, at most 1024;
                                default 1; 0: as many as there are processors for this process */
    gbs_backend backend;     /* default CPU */
    /* CUDA: which GPU; where the library is (NULL: the path in GIBBSITE_CUDA_LIBRARY, else beside
     * this library, else where the system looks); hooks for memory on the GPU (all NULL:
     * cudaMalloc and cudaFree), called with that GPU as the current device. */
    int32_t cuda_device;
    const char *cuda_library;
    gbs_allocator cuda_memory;
    /* Where create says why it failed, since there is no context to ask then; may be NULL. */
    char *message;
    size_t message_bytes;
} gbs_context_options;

typedef struct gbs_context gbs_context;

GBS_API gbs_context_options gbs_context_options_default(void);

/* Makes a context: allocator, chosen instruction set and backend, room for the last error message.
 * Owns: *out is the caller's, ended by gbs_context_destroy.  options may be NULL.
 * Fails: ARGUMENT, MEMORY, UNAVAILABLE (the instruction set asked for; the CUDA library, a driver
 * or a GPU); *out is then NULL.
 * Threads: use a context from one thread at a time; two threads may use two contexts.  Sampling
 * with it runs on `threads` threads of its own making, the caller's among them, which start with
 * the first call that has work for them and end with the context; the draws are the same for any
 * number.  Threads that the system refuses are done without.  A forked child may go on with the
 * context, in threads of its own. */
GBS_API gbs_status gbs_context_create(const gbs_context_options *options, gbs_context **out);

/* Accepts NULL.  Destroy the samplers made with it first; models may outlive it. */
GBS_API void gbs_context_destroy(gbs_context *ctx);

/* What went wrong in the last call that failed with this context, with names, places and
 * numbers; "" if none did.  Owns: the context's, valid until its next failing call. */
GBS_API const char *gbs_context_message(const gbs_context *ctx);

/* How many threads samplers of this context run on; fewer than asked for once the system has
 * refused one; 0 for NULL. */
GBS_API int32_t gbs_context_threads(const gbs_context *ctx);

/* The instruction set that samplers of this context run on; never AUTO. */
GBS_API gbs_isa gbs_context_isa(const gbs_context *ctx);
GBS_API gbs_backend gbs_context_backend(const gbs_context *ctx);

/* ------------------------------------------------------------------ 3. model */

typedef enum gbs_matrix { GBS_MATRIX_PRECISION = 0, GBS_MATRIX_COVARIANCE = 1 } gbs_matrix;

/* How the location is given; each names one conditional mean of site i:
 *   MEAN         mu   mu_i - sum_{j!=i} Q_ij (x_j - mu_j) / Q_ii       law N(mu, Q^-1)
 *   INFORMATION  b    (b_i - sum_{j!=i} Q_ij x_j) / Q_ii               law N(Q^-1 b, Q^-1)
 *   OFFSET       m    m_i - sum_{j!=i} Q_ij x_j / Q_ii                 law N(Q^-1 (Q_ii m_i), Q^-1)
 * OFFSET is what a widespread PyTorch loop computes; its law has mean m only where m = 0. */
typedef enum gbs_location {
    GBS_LOCATION_ZERO = 0,
    GBS_LOCATION_MEAN = 1,
    GBS_LOCATION_INFORMATION = 2,
    GBS_LOCATION_OFFSET = 3
} gbs_location;

/* Rows lower_r <= (A x)_r <= upper_r that hold together with the sites' bounds. */
typedef struct gbs_constraints {
    int64_t rows;          /* R; 0: none */
    const double *matrix;  /* A [R, D], row-major; or NULL, and A by its entries: */
    const int64_t *start;  /* [R + 1]: row r has the entries start[r] .. start[r + 1] - 1 */
    const int64_t *site;   /* of each entry; in a row ascending */
    const double *value;
    const double *lower;   /* [R], -infinity and infinity for none; either may be NULL: none */
    const double *upper;
} gbs_constraints;

typedef struct gbs_model_spec {
    int64_t dim;               /* D >= 1 */
    gbs_matrix matrix_kind;    /* default PRECISION */
    gbs_type matrix_type;      /* default F64; the symmetry tolerance depends on it */
    const void *matrix;        /* [D, D] */
    int64_t row_stride;        /* elements from row to row; 0 means D; else >= D */
    gbs_location location_kind; /* default ZERO */
    gbs_type location_type;    /* default F64 */
    const void *location;      /* [D]; NULL with ZERO */
    const double *fixed;       /* [D] values of sites to hold, NaN for a free site; NULL: all free */
    const double *lower;       /* [D] bounds, -infinity and infinity for none; NULL: none at all */
    const double *upper;
    gbs_constraints constraints; /* default: none */
} gbs_model_spec;

typedef struct gbs_model gbs_model;

GBS_API gbs_model_spec gbs_model_spec_default(void);

/* Checks, copies and freezes a model; a float input is widened exactly.  Row and column of
 * an asymmetric pair are averaged if they differ by at most 1e-8 (double) or 1e-4 (float)
 * times sqrt(Q_ii Q_jj).  Positive definite means: every pivot of the Cholesky
 * factorisation is above D 2^-52 Q_ii.  A covariance passes the same checks and is then
 * inverted by the same factorisation.
 * With `fixed` the model is the law of the free sites given the others: of the same size, its
 * precision without what couples fixed sites, its location moved by their values, in double; their
 * mean is their value and their standard deviation 0.  The matrix need only be positive definite
 * among the free sites, its diagonal above 0 everywhere.  Sweeps take fixed sites in their turn and leave them at their values; the
 * stream's numbers are those of the whole model.
 * With bounds the model is the law restricted to the box: lower_i <= x_i <= upper_i.  Equal bounds
 * fix the site.  Its mean, standard deviations, density and spectrum stay those of the Gaussian.
 * Constraints restrict it further (docs/constraints.md); a row with equal bounds is refused, since
 * what it leaves has no volume: eliminate a site with it; one from -infinity to infinity is taken.
 * Shape: matrix [D, D], location, fixed and bounds [D].  Cost: D^3/3 multiply-adds, 16 D^2 bytes kept.
 * Owns: copies everything; *out carries one reference, given back by gbs_model_release.
 * Fails: ARGUMENT (among it lower > upper, lower = infinity, a fixed value outside its bounds,
 * constraints with lower and upper both NULL, a row of zeros, or that fixed sites break), MEMORY,
 * NOT_FINITE (NaN bounds too), NOT_SYMMETRIC, NOT_POSITIVE_DEFINITE; the message names the entry,
 * and for a singular matrix its null vector.  *out is then NULL.
 * Threads: a model never changes; any thread may use it, with any context. */
GBS_API gbs_status gbs_model_create(gbs_context *ctx, const gbs_model_spec *spec, gbs_model **out);

GBS_API void gbs_model_retain(gbs_model *model);
GBS_API void gbs_model_release(gbs_model *model); /* accepts NULL; the last one frees */

GBS_API int64_t gbs_model_dim(const gbs_model *model);
GBS_API gbs_location gbs_model_location_kind(const gbs_model *model);
/* The frozen arrays, in double; the model's, valid while it lives.  With fixed sites they are
 * those of the law given them: precision, location (ZERO has become MEAN) and mean. */
GBS_API const double *gbs_model_precision(const gbs_model *model); /* [D, D] */
GBS_API const double *gbs_model_location(const gbs_model *model);  /* [D] as given; zeros if none */
GBS_API const double *gbs_model_fixed(const gbs_model *model);     /* [D], those with equal bounds
                                                                      among them; NULL if none */
GBS_API const double *gbs_model_lower(const gbs_model *model);     /* [D] as given; both NULL where */
GBS_API const double *gbs_model_upper(const gbs_model *model);     /* no site has a finite bound */
GBS_API const gbs_constraints *gbs_model_constraints(const gbs_model *model); /* by their entries,
                                                                      without zeros; NULL if none */
GBS_API const double *gbs_model_mean(const gbs_model *model);      /* [D] mean of the law */

/* A hash of the frozen model: of two models with the same precision, location, fixed sites,
 * bounds and constraints, to the bit, it is the same on every machine; of others it differs but
 * by chance (2^-64).
 * The first call takes D^2 steps; 0 for NULL. */
GBS_API uint64_t gbs_model_hash(const gbs_model *model);

/* Marginal standard deviations sqrt((Q^-1)_ii).  Computed at the first call (D^3/3) and
 * kept.  Shape: sd [D].  Fails: MEMORY; sd is then untouched. */
GBS_API gbs_status gbs_model_sd(gbs_context *ctx, const gbs_model *model, double *sd);

/* Log density of N(mu, Q^-1) up to its constant, -(x - mu)' Q (x - mu) / 2, in double.
 * Shape: x [n, D] of the given type, rows row_stride elements apart (0: D); out [n].
 * Fails: ARGUMENT, MEMORY. */
GBS_API gbs_status gbs_model_log_density(gbs_context *ctx, const gbs_model *model, gbs_type type,
                                         const void *x, int64_t n, int64_t row_stride,
                                         double *out);

/* What can be said of a model before a run.  Eigenvalues by Lanczos with full
 * reorthogonalisation, in double. */
typedef struct gbs_spectrum {
    double asymmetry;              /* largest |Q_ij - Q_ji| / sqrt(Q_ii Q_jj) of the input */
    int64_t asymmetry_row;         /* and where it was; -1, -1 if none */
    int64_t asymmetry_column;
    double eigenvalue_min;         /* of Q */
    double eigenvalue_max;
    double condition;              /* their ratio */
    double tau_max;                /* 1 / lambda_min(D^-1/2 Q D^-1/2): with weight w the slowest
                                      linear function needs (2/w - 1) tau_max sweeps per
                                      effective draw */
    double f32_covariance_error;   /* how far float moves the law: 2^-24 tau_max, or where it is more,
                                      h^2 Q_ii / 12, h between floats at the mean of a site that
                                      nothing bounds */
    int64_t f32_site;              /* that site, or -1 */
} gbs_spectrum;

GBS_API gbs_status gbs_model_spectrum(gbs_context *ctx, const gbs_model *model, gbs_spectrum *out);

/* The Gibbs rate, the spectral radius of a forward sweep's effect on the mean, (D + wL)^-1 ((1 - w) D
 * - wU) with Q = L + D + U: 1 / (1 - rate) sweeps forget the start by a factor of about e.  It is
 * exact, by Young's formula, where Q is consistently ordered among the free sites: where they can be
 * given heights that rise by 1 from i to j > i wherever Q_ij is not 0, as in chains and lattices row
 * by row.  Elsewhere *rate is NAN, as where tau_max is not finite: it takes a solver for eigenvalues of
 * general matrices.
 * Shape: spectrum is that of the model; 0 < omega < 2.  Cost: D^2 steps.
 * Fails: ARGUMENT, MEMORY; *rate is then untouched. */
GBS_API gbs_status gbs_model_gibbs_rate(gbs_context *ctx, const gbs_model *model,
                                        const gbs_spectrum *spectrum, double omega, double *rate);

/* What a sampler's type T makes of a model's bounds, which it rounds inward: no draw leaves them. */
typedef struct gbs_boxes {
    int64_t bounded;    /* free sites with a bound in T; a lower one below all of T is none, and an
                           upper one above it */
    int64_t empty;      /* sites with no number of T between their bounds, equal ones that T does
                           not hold among them: held at the nearest */
    int64_t empty_site; /* the first of these; -1: there is none */
    /* Sites of whose draws a fifth or more would be the bound, since T has no number near enough
     * to it.  Told before any draw, from the conditional means in the mode of the law between the
     * sites' bounds: one that lies d conditional standard deviations sd beyond a bound leaves draws
     * about sd / d inside it (sd if d < 1), and two steps of T are asked for.  The mode is as near
     * as 4096 passes over the matrix come to it (above D = 362, 2^29 / D^2, but 64 at least).  Of
     * bounds of rows nothing is told, nor is heed taken of them. */
    int64_t unresolved;
    int64_t unresolved_site;
} gbs_boxes;

/* Cost: D^2 steps where all bounds are clearly resolved, else as many passes of them.
 * Fails: ARGUMENT, MEMORY; out is then untouched. */
GBS_API gbs_status gbs_model_boxes(gbs_context *ctx, const gbs_model *model, gbs_type type,
                                   gbs_boxes *out);

/* A point inside all bounds and constraints, by a 64th of a standard deviation or half of what they
 * leave, and then as near to the mean as it can be, by linear programmes: where samplers with
 * constraints start, unless a start is given.  It comes from a solver, Clp, and is outside the
 * promise of same bits: give it as the start to repeat a run elsewhere.
 * Shape: x [D].
 * Fails: ARGUMENT (no point keeps them all, or they leave no room: the message names a set of rows
 * and sites whose bounds contradict each other), UNAVAILABLE (no Clp on this machine, or bounds too
 * far from the mean for it), MEMORY, LIMIT; x is then untouched. */
GBS_API gbs_status gbs_model_interior(gbs_context *ctx, const gbs_model *model, double *x);

/* ------------------------------------------------------------------ 4. streams */

/* Versions of the mappings from words to normals; a change of bits changes the number. */
#define GBS_STREAM_NATIVE_VERSION 1
#define GBS_STREAM_TORCH_CPU_VERSION 1  /* as PyTorch 1.13 to 2.13 draw on a CPU */
#define GBS_STREAM_TORCH_CUDA_VERSION 1 /* as PyTorch up to 2.11 draws on a GPU */

typedef enum gbs_stream {
    GBS_STREAM_NATIVE = 0,    /* Philox4x32-10 by seed, chain, sweep and site; stateless */
    GBS_STREAM_GIVEN = 1,     /* the caller's normals */
    GBS_STREAM_TORCH_CPU = 2, /* what torch.randn(B) draws on a CPU, one call a site */
    GBS_STREAM_TORCH_CUDA = 3 /* what torch.randn(B, device="cuda") draws, one call a site */
} gbs_stream;

/* The native stream's normals of one sweep (counted in stream sweeps: a symmetric sweep takes two):
 * what a sampler with this seed draws for site i of chain first_chain + c, and what GIVEN takes.
 * Shape: z [sites, chains] of the type; fastest where it is aligned to 64 bytes and chains is a
 * multiple of 64.
 * Fails: ARGUMENT, LIMIT; z is then untouched.
 * Threads: on the caller's thread; two threads may run at once with two contexts. */
GBS_API gbs_status gbs_native_normals(gbs_context *ctx, gbs_type type, uint64_t seed, int64_t sweep,
                                      int64_t first_chain, int64_t chains, int64_t sites, void *z);

/* The native stream's words of one sweep for draws between bounds, uint32_t (float) or 53 bits in
 * uint64_t (double): what GIVEN takes as `words`, and gbs_truncnorm as `word`.
 * Otherwise as gbs_native_normals. */
GBS_API gbs_status gbs_native_words(gbs_context *ctx, gbs_type type, uint64_t seed, int64_t sweep,
                                    int64_t first_chain, int64_t chains, int64_t sites,
                                    void *words);

/* Sizes of torch's generator states, as torch.get_rng_state() and
 * torch.cuda.get_rng_state() return them. */
#define GBS_TORCH_CPU_STATE_BYTES 5056
#define GBS_TORCH_CUDA_STATE_BYTES 16

typedef struct gbs_stream_spec {
    gbs_stream kind; /* default NATIVE */
    /* GIVEN: noise[n, i, b] is for stream sweep n (a symmetric sweep takes two), site i, chain
     * b of this run, whatever the order of visit; rounded to T.  Not copied: it must outlive
     * the sampler.  With method EXACT: noise[draw, i, b]. */
    gbs_type noise_type;
    const void *noise;
    int64_t noise_sweeps;
    /* GIVEN, sites between bounds: words[n, i, b], in the same places and for as many sweeps, is
     * uint32_t (T float) or the low 53 bits of uint64_t (double), as in gbs_truncnorm_spec; noise is
     * not read there, nor words elsewhere, and the one that no site needs may be NULL.  WHITENED,
     * and models with constraints, read words wherever something holds a step and want both. */
    const void *words;
    /* TORCH: a state to start from; NULL starts from the sampler's seed.  Copied at create. */
    const void *torch_state;
    size_t torch_state_bytes;
    /* TORCH_CUDA: the card whose numbers to reproduce, e.g. 132 and 2048 for an H200. */
    int32_t cuda_multiprocessors;
    int32_t cuda_threads_per_multiprocessor;
} gbs_stream_spec;

/* ------------------------------------------------------------------ 5. sampler */

typedef enum gbs_method {
    GBS_METHOD_GIBBS = 0, /* systematic single-site sweeps */
    GBS_METHOD_EXACT = 1, /* independent draws, one triangular solve each: for a plain
                             Gaussian with a fixed Q usually the better tool */
    GBS_METHOD_WHITENED = 2 /* sweeps over y, x = mu + L^-T y, each of which moves every site within
                               bounds and constraints (docs/constraints.md); without them
                               independent draws.  Forward, omega 1, native or given stream */
} gbs_method;

typedef enum gbs_order {
    GBS_ORDER_FORWARD = 0,
    GBS_ORDER_BACKWARD = 1,
    GBS_ORDER_SYMMETRIC = 2, /* forward, then backward, each with its own noise: one sweep */
    GBS_ORDER_PERMUTED = 3   /* the caller's permutation */
} gbs_order;

typedef enum gbs_start {
    GBS_START_OVERDISPERSED = 0, /* mu + 2 sd z, z from the native stream; with constraints all
                                    chains at gbs_model_interior's point */
    GBS_START_ZERO = 1,
    GBS_START_MEAN = 2,
    GBS_START_GIVEN = 3,
    GBS_START_LATER = 4 /* a state is set, or read from a checkpoint, before the first sweep */
} gbs_start;

typedef struct gbs_sampler_spec {
    gbs_type type;              /* T, default F64 */
    gbs_method method;          /* default GIBBS */
    int64_t chains;             /* B >= 1 */
    int64_t first_chain;        /* global number of chain 0; shifts the native stream */
    int64_t first_sweep;        /* number of the first sweep (or exact draw); likewise */
    uint64_t seed;
    gbs_order order;            /* default FORWARD */
    const int64_t *permutation; /* [D] with PERMUTED: site visited p-th; copied */
    double omega;               /* w in (0, 2), default 1; must be 1 where sites have bounds */
    double overrelax;           /* r in [0, 1), default 0: over-relaxed draws between bounds, and
                                   w = 1 + r at sites without any; not with GIVEN */
    gbs_start start;            /* default OVERDISPERSED */
    const void *initial;        /* with GIVEN: [initial_rows, D] of type T; copied */
    int64_t initial_rows;       /* B, or 1 for the same start in every chain */
    gbs_stream_spec stream;
} gbs_sampler_spec;

typedef struct gbs_sampler gbs_sampler;
typedef struct gbs_moments gbs_moments;

GBS_API gbs_sampler_spec gbs_sampler_spec_default(void);

/* Plans a sampler: coefficients rounded to T, state laid out, all memory taken, chains at
 * their starts.  EXACT takes no order, omega or start other than the defaults.
 * Owns: *out is the caller's; it keeps a reference to the model and uses ctx (allocator and
 * message) until destroyed.
 * Fails: ARGUMENT (among it a start outside bounds or constraints, and a method, order, stream or
 * omega that cannot keep them), MEMORY, LIMIT (sites, chains or sweeps beyond the stream),
 * NOT_FINITE (given noise, or a coefficient, or a start or draw about the mean, does not fit in T:
 * the message names the site), STATE (torch_state), UNAVAILABLE (the GPU failed; no start inside
 * constraints without Clp).
 * Threads: one thread at a time per sampler; samplers of one model may run in parallel, each
 * with its own context. */
GBS_API gbs_status gbs_sampler_create(gbs_context *ctx, gbs_model *model,
                                      const gbs_sampler_spec *spec, gbs_sampler **out);

GBS_API void gbs_sampler_destroy(gbs_sampler *sampler); /* accepts NULL */

/* Advances every chain by `sweeps` sweeps (EXACT: draws).  Allocates nothing.
 * Fails: ARGUMENT (START_LATER, and no state yet, among it), EXHAUSTED, LIMIT; the chains are then
 * where they were.  UNAVAILABLE: the GPU
 * failed, and the chains may be lost. */
GBS_API gbs_status gbs_sampler_run(gbs_sampler *sampler, int64_t sweeps);

/* Reads or replaces the chains' state.  Shape: x [B, D] of type T.
 * Fails (set): NOT_FINITE, and ARGUMENT for one outside bounds or constraints, naming chain and
 * site; the state is then as it was.  Both: UNAVAILABLE
 * (the GPU failed). */
GBS_API gbs_status gbs_sampler_get_state(const gbs_sampler *sampler, void *x);
GBS_API gbs_status gbs_sampler_set_state(gbs_sampler *sampler, const void *x);

/* Sweeps (EXACT: draws) done since create, plus first_sweep: give it as first_sweep, with
 * the state as start, and the run goes on as if it had never stopped. */
GBS_API int64_t gbs_sampler_next_sweep(const gbs_sampler *sampler);

/* The torch generator's state now, in torch's own layout; bytes must be
 * GBS_TORCH_CPU_STATE_BYTES or GBS_TORCH_CUDA_STATE_BYTES.
 * Fails: ARGUMENT for other sizes and other streams. */
GBS_API gbs_status gbs_sampler_get_torch_state(const gbs_sampler *sampler, void *state,
                                               size_t bytes);

GBS_API const char *gbs_sampler_kernel(const gbs_sampler *sampler); /* e.g. "sweep_dense_f32_avx512" */

/* Called after each kept draw.  x [B, D] of type T is the sampler's, valid during the call.
 * Return 0 to go on, anything else to stop after this draw. */
typedef int (*gbs_draw_callback)(void *user, int64_t draw, const void *x);

/* Where kept draws go; any of the three, or several at once. */
typedef struct gbs_sink {
    void *out;             /* of type T; NULL for none */
    int64_t chain_stride;  /* in elements; all three 0 means [B, draws, D] contiguous */
    int64_t draw_stride;
    int64_t site_stride;
    gbs_draw_callback callback;
    void *user;
    gbs_moments *moments;  /* [B, D], accumulated */
} gbs_sink;

/* Runs draws * thin sweeps and keeps every thin-th state: kept draw k is the state after
 * (k + 1) thin of them.  EXACT takes thin = 1.  Allocates nothing.
 * Fails: as run, with nothing done; STOPPED when the callback stopped it: the draws up to
 * and including that one are complete and the state is that draw's. */
GBS_API gbs_status gbs_sampler_sample(gbs_sampler *sampler, int64_t draws, int64_t thin,
                                      const gbs_sink *sink);

#define GBS_PILOT_VERSION 2
#define GBS_PILOT_MOST 5
#define GBS_PILOT_WHY_BYTES 512

/* What a pilot tried: the sweeps that each of three figures takes to forget (integrated
 * autocorrelation times), and what one costs. */
typedef struct gbs_pilot_candidate {
    gbs_method method;
    double overrelax;
    double time[3];    /* of the mean of the sites, site D / 2, and (x - mu)' Q (x - mu); infinite
                          for one that moves under another candidate alone, 1 if under none */
    double slowest;    /* the largest of them */
    double operations; /* of a sweep of one chain, in multiply-adds */
    char why[GBS_PILOT_WHY_BYTES]; /* it was left out, and the sampler's message; its times are NaN.
                                      "" where it ran */
} gbs_pilot_candidate;

typedef struct gbs_pilot {
    gbs_method method; /* the choice, for a sampler's spec */
    double overrelax;
    int32_t chosen, count; /* which of `tried`, and how many those are, those left out among them;
                              0 where nothing was run */
    gbs_pilot_candidate tried[GBS_PILOT_MOST];
} gbs_pilot;

/* Chooses method and over-relaxation for a model with bounds or row constraints by short runs of
 * each, a function of model, type and seed alone: the least slowest * operations.  A model without
 * either gets EXACT, and nothing is run.  A candidate that the model rules out in this type (its
 * sampler fails with ARGUMENT or NOT_FINITE, or draws what is not finite) is left out.  Costs some
 * ten thousand sweeps; memory is given back.
 * Fails: ARGUMENT and NOT_FINITE where no candidate is left, with what the first failed with;
 * otherwise as gbs_sampler_create.  *out is then as it was. */
GBS_API gbs_status gbs_pilot_run(gbs_context *ctx, gbs_model *model, gbs_type type, uint64_t seed,
                                 gbs_pilot *out);

/* ------------------------------------------------------------------ 6. moments */

/* Means and variances per chain and site by Welford's recurrence, in double.  Made by a CUDA
 * context they are kept on its GPU, for samplers there, and fetched when they are read; should
 * that fail, mean and m2 are NULL and the merged figures NaN. */
GBS_API gbs_status gbs_moments_create(gbs_context *ctx, int64_t chains, int64_t dim,
                                      gbs_moments **out);
GBS_API void gbs_moments_destroy(gbs_moments *moments); /* accepts NULL */
GBS_API int64_t gbs_moments_count(const gbs_moments *moments); /* draws seen per chain */
GBS_API const double *gbs_moments_mean(const gbs_moments *moments); /* [B, D] */
GBS_API const double *gbs_moments_m2(const gbs_moments *moments);   /* [B, D] sums of squares about it */
/* All chains together, merged in ascending order by Chan, Golub and LeVeque's formula.
 * Shape: mean [D], variance [D] (divisor n - 1; NaN for n < 2); either may be NULL. */
GBS_API void gbs_moments_merged(const gbs_moments *moments, double *mean, double *variance);

/* ------------------------------------------------------------------ 7. diagnostics */

/* Draws of one variable: chain c, draw t at values[c * chain_stride + t * draw_stride]. */
typedef struct gbs_draws {
    const double *values;
    int64_t chains;
    int64_t draws;
    int64_t chain_stride;
    int64_t draw_stride;
} gbs_draws;

/* Reasons and warnings; more than one may be set. */
enum {
    GBS_NOTE_NOT_FINITE = 1,      /* NaN or infinite draws: everything is NaN */
    GBS_NOTE_CONSTANT = 2,        /* all draws equal: R-hat and ESS are NaN */
    GBS_NOTE_CHAINS_CONSTANT = 4, /* every chain constant, not all equal: R-hat inf, ESS NaN */
    GBS_NOTE_CHAIN_CONSTANT = 8,  /* one chain constant among moving ones */
    GBS_NOTE_TOO_SHORT = 16,      /* fewer than 6 draws a chain: ESS is NaN, below 4 R-hat too */
    GBS_NOTE_ESS_CAPPED = 32,     /* ESS reached its cap S log10 S */
    GBS_NOTE_CHAINS_IDENTICAL = 64, /* two chains hold the same draws from some draw on */
    GBS_NOTE_TIED = 128, /* ties leave nothing to compare at a quantile (ESS tail is NaN), in the
                            distances from the median (R-hat) or from the mean (MCSE sd) */
    GBS_NOTE_CHAIN_STUCK = 256 /* one chain stopped moving before its end, where others move on */
};

typedef struct gbs_summary {
    double mean, sd, mcse_mean, mcse_sd;
    double q5, median, q95;
    double ess_bulk, ess_tail, rhat;
    int64_t not_finite;     /* how many draws are NaN or infinite */
    /* The chain that a note speaks of; -1 without that note. */
    int64_t not_finite_chain, constant_chain, identical_chain, stuck_chain;
    uint32_t notes;         /* GBS_NOTE_... */
} gbs_summary;

/* Definitions are those of Vehtari, Gelman, Simpson, Carpenter and Buerkner (2021) as the R
 * package posterior computes them.  All functions are pure: the caller brings `workspace`
 * of gbs_diag_workspace(chains, draws) bytes, aligned as malloc's memory is, and two threads may run at once with
 * two workspaces.  Scalars come back as the value, NaN where undefined (a note says why in
 * gbs_diag_summary). */
GBS_API size_t gbs_diag_workspace(int64_t chains, int64_t draws); /* 0 if out of range */

/* Everything in one pass over shared sorts and transforms; what `gibbsite summary` prints.
 * Fails: ARGUMENT (NULL, counts < 1); out is then untouched. */
GBS_API gbs_status gbs_diag_summary(const gbs_draws *draws, void *workspace, gbs_summary *out);

/* The same for many variables, shared out among the context's threads: `draws` is the first, and
 * each of the others starts variable_stride numbers after the one before.  With superchains
 * (superchain [chains], as in gbs_diag_rhat_nested) it adds nested R-hat.
 * Shape: out [variables], rhat_nested [variables]; superchain and rhat_nested may both be NULL.
 * Owns: nothing; it takes gbs_diag_workspace(chains, draws) bytes a thread from the context's
 * allocator, and eight variables' draws where they lie interleaved, and gives them back.
 * Fails: ARGUMENT, MEMORY; out and rhat_nested are then untouched. */
GBS_API gbs_status gbs_diag_summaries(gbs_context *ctx, const gbs_draws *draws, int64_t variables,
                                      int64_t variable_stride, const int32_t *superchain,
                                      gbs_summary *out, double *rhat_nested);

GBS_API double gbs_diag_rhat_split(const gbs_draws *draws, void *workspace); /* classic, chains halved */
GBS_API double gbs_diag_rhat(const gbs_draws *draws, void *workspace);  /* rank-normalised, max of bulk and folded */
/* Nested R-hat (Margossian and others 2024) without splitting; superchain[c] is the
 * superchain of chain c; every superchain holds the same number of chains. */
GBS_API double gbs_diag_rhat_nested(const gbs_draws *draws, const int32_t *superchain,
                                    void *workspace);
GBS_API double gbs_diag_ess_mean(const gbs_draws *draws, void *workspace); /* posterior's ess_mean, ess_basic */
GBS_API double gbs_diag_ess_sd(const gbs_draws *draws, void *workspace);   /* ESS of (x - mean)^2 */
GBS_API double gbs_diag_ess_bulk(const gbs_draws *draws, void *workspace);
GBS_API double gbs_diag_ess_tail(const gbs_draws *draws, void *workspace);
GBS_API double gbs_diag_ess_quantile(const gbs_draws *draws, double prob, void *workspace);
GBS_API double gbs_diag_mcse_mean(const gbs_draws *draws, void *workspace);
GBS_API double gbs_diag_mcse_sd(const gbs_draws *draws, void *workspace);
GBS_API double gbs_diag_mcse_quantile(const gbs_draws *draws, double prob, void *workspace);
GBS_API double gbs_diag_quantile(const gbs_draws *draws, double prob, void *workspace); /* R's type 7 */

/* ------------------------------------------------------------------ 8. sweeps in one call */

/* For a caller that keeps its own state and perhaps changes the precision at every call: G
 * models of one size, B chains each, no objects to keep.  This is what the PyTorch op is made
 * of.  Unlike gbs_model_create it takes row i of the precision as it is given: nothing is
 * averaged, factored or checked, as a hand-written loop would not; a diagonal entry that is not
 * > 0 makes that site NaN, and the sites of its chain that read it after. */
typedef struct gbs_sweep_spec {
    gbs_type type;                   /* of every array below; default F32 */
    int64_t groups, chains, dim;     /* G, B, D; default G = 1 */
    const void *precision;           /* [G, D, D] */
    int64_t precision_group_stride;  /* elements; 0 with G > 1: one matrix for all groups */
    int64_t precision_row_stride;    /* elements; columns are contiguous */
    gbs_location location_kind;
    const void *location;            /* [G, D] */
    int64_t location_group_stride;   /* elements; 0 with G > 1: one location for all */
    const void *x;                   /* [G, B, D], any strides */
    int64_t x_stride[3];
    void *out;                       /* [G, B, D], any strides; may be x itself (same strides) */
    int64_t out_stride[3];
    int64_t sweeps;                  /* >= 0; default 1 */
    gbs_order order;                 /* FORWARD, BACKWARD or SYMMETRIC */
    double omega;                    /* default 1 */
    /* Bounds, of the arrays' type and as in gbs_model_spec: [G, D]; NULL: none.  x must lie between
     * them.  Equal ones hold the site there.  overrelax as in gbs_sampler_spec. */
    const void *lower, *upper;
    int64_t bounds_group_stride;     /* elements; 0 with G > 1: one pair for all groups */
    double overrelax;                /* default 0 */
    int64_t keep_every;              /* k > 0: every k-th state also goes to `kept` */
    void *kept;                      /* [sweeps / k, G, B, D] contiguous */
    /* Normals.  Chain (g, b) is number first_chain + g B + b of the native stream; a torch
     * stream makes one call of G B normals per site; noise is [stream sweeps, D, G B], and so are
     * the words of sites with bounds (gbs_stream_spec). */
    gbs_stream stream;
    uint64_t seed;
    int64_t first_sweep, first_chain;
    const void *noise;
    const void *words;
    /* TORCH_CPU: the generator's state, 5,056 bytes, moved on by the call.  Bounds take the native
     * or the given stream: torch's are of normals alone, and refused. */
    void *torch_state;
    /* TORCH_CUDA: seed above, and the generator's offset; how far the call moves it comes from
     * gbs_sweep_torch_cuda_advance.  The card as in gbs_stream_spec. */
    uint64_t torch_offset;
    int32_t cuda_multiprocessors, cuda_threads_per_multiprocessor;
} gbs_sweep_spec;

GBS_API gbs_sweep_spec gbs_sweep_spec_default(void);

/* Runs the sweeps on the CPU.  Works in memory of its own: about D^2 + 64 D elements for each
 * thread, with TORCH_CPU about G D^2 + 2 G B D.
 * Fails: ARGUMENT (among it x outside its bounds), NOT_FINITE (bounds), MEMORY, LIMIT, STATE; out and
 * torch_state are then as they were. */
GBS_API gbs_status gbs_sweep(gbs_context *ctx, const gbs_sweep_spec *spec);

/* How far the whole call moves a torch CUDA generator's offset; 0 for NULL. */
GBS_API uint64_t gbs_sweep_torch_cuda_advance(const gbs_sweep_spec *spec);

/* ------------------------------------------------------------------ 9. checkpoints */

/* Everything that the rest of a run depends on, as bytes that every machine reads alike
 * (docs/file-formats.md): the chains' state, the place in the stream, a torch generator's state,
 * moments; and what must agree when they are read: type, method, counts, seed, stream and version
 * of its mapping, order, omega, overrelax, and hashes of the model and its bounds.  Read into a
 * sampler made of the same model and options, in another process or on another instruction set, the
 * run goes on as if it had never stopped.  The format carries a version and a checksum. */
#define GBS_CHECKPOINT_VERSION 1

/* The caller's own counts, which a sampler does not know; kept and given back as they are. */
typedef struct gbs_checkpoint_counts {
    int64_t warmup; /* sweeps before the first draw */
    int64_t thin;   /* sweeps for each draw */
    int64_t draws;  /* draws kept so far */
} gbs_checkpoint_counts;

typedef struct gbs_checkpoint_info {
    gbs_type type;
    gbs_method method;
    gbs_order order;
    double omega, overrelax;
    int64_t chains, dim, first_chain;
    int64_t next_sweep; /* as gbs_sampler_next_sweep */
    uint64_t seed;
    gbs_stream stream;
    int64_t stream_mapping_version; /* 0 for GIVEN */
    int32_t cuda_multiprocessors, cuda_threads_per_multiprocessor; /* 0 but for TORCH_CUDA */
    int64_t moments_count; /* draws that the moments have seen; -1 if there are none */
    gbs_checkpoint_counts counts;
} gbs_checkpoint_info;

/* How many bytes a checkpoint of this sampler takes; moments may be NULL.
 * Fails: ARGUMENT (NULL, moments of another shape), LIMIT (beyond what memory can hold). */
GBS_API gbs_status gbs_checkpoint_size(const gbs_sampler *sampler, const gbs_moments *moments,
                                       size_t *bytes);

/* Writes one; also from within a draw callback.  Allocates nothing.  moments and counts may be
 * NULL: none, and zeros.
 * Shape: to [bytes], aligned as malloc's memory is, bytes as gbs_checkpoint_size says.
 * Fails: ARGUMENT; `to` is then untouched. */
GBS_API gbs_status gbs_checkpoint_write(const gbs_sampler *sampler, const gbs_moments *moments,
                                        const gbs_checkpoint_counts *counts, void *to,
                                        size_t bytes);

/* What a checkpoint is of, before there is a sampler to read it into.
 * Fails: ARGUMENT, STATE (cut short, changed, of another version: the message says which); *out
 * is then untouched. */
GBS_API gbs_status gbs_checkpoint_inspect(gbs_context *ctx, const void *from, size_t bytes,
                                          gbs_checkpoint_info *out);

/* Puts the sampler, and moments if they are not NULL, where the checkpoint was written;
 * next_sweep too, whatever first_sweep the sampler was made with.  With GIVEN the same noise must
 * be given: the run goes on behind what was used of it.
 * Fails: ARGUMENT, NOT_FINITE, STATE (damaged, or of another run: the message names what differs,
 * or moments are asked for and not there); sampler and moments are then as they were. */
GBS_API gbs_status gbs_checkpoint_read(gbs_sampler *sampler, gbs_moments *moments,
                                       const void *from, size_t bytes);

/* ------------------------------------------------------------------ 10. between bounds */

/* Version of the mapping from words to draws between bounds, and of the intervals that row
 * constraints leave; a change of bits changes it. */
#define GBS_TRUNCNORM_VERSION 4

#define GBS_DIMS 8 /* the most dimensions of an array here */

/* An array to be broadcast: contiguous, row-major.  dims = 0 is one number. */
typedef struct gbs_operand {
    const void *values; /* NULL: the default */
    int32_t dims;
    int64_t shape[GBS_DIMS];
} gbs_operand;

GBS_API gbs_operand gbs_operand_array(const void *values, int32_t dims, const int64_t *shape);

/* Draws x ~ N(mean, sd^2) restricted to [lower, upper], one for each element of out, by inversion:
 * one word a draw.  With F the restricted distribution function, F(x) is the word's uniform to
 * 2e-5 in float and 4e-11 in double (and the rounding of x), wherever the bounds lie: nothing is
 * infinite, NaN or outside, and 100 standard deviations out is as good as 0. */
typedef struct gbs_truncnorm_spec {
    int32_t dims; /* of out; 0: one draw */
    int64_t shape[GBS_DIMS];
    /* Of out's type.  Broadcast as NumPy does: aligned at the last dimension, an extent of 1 is
     * repeated, all others must equal out's. */
    gbs_operand mean;  /* default 0; finite */
    gbs_operand sd;    /* default 1; a normal number > 0 */
    gbs_operand lower; /* default -infinity */
    gbs_operand upper; /* default +infinity; lower <= upper, equal ones give that number */
    gbs_stream stream; /* NATIVE or GIVEN */
    /* NATIVE: element k of out, flat, takes the word of place `place` + k of the stream's purpose
     * 2, with this seed, sweep and chain: a call for each sweep of a sampler of one's own, with
     * sweep = 0, 1, 2, ..., draws afresh each time, and out may be made in parts. */
    uint64_t seed;
    int64_t sweep, chain, place;
    /* GIVEN: uint32_t (float) or the low 53 bits of uint64_t (double), also broadcast.  Word w is
     * the uniform (w + 1/2) / 2^32, or (w + 1/2) / 2^53; the complement of w with (-mean, -upper,
     * -lower) gives -x to the bit. */
    gbs_operand word;
    /* If not NULL: how many draws equal a bound of a box that has room for others.  Many of them
     * say that the type cannot resolve the law there: lower = 1e9, sd = 1 in float. */
    int64_t *on_bound;
} gbs_truncnorm_spec;

GBS_API gbs_truncnorm_spec gbs_truncnorm_spec_default(void);

/* Shape: out [shape], contiguous; it may be one of the operands if that has out's shape.
 * Fails: ARGUMENT (a shape that does not broadcast, lower > upper, lower = infinity, sd not above
 * 0), NOT_FINITE (NaN, an infinite mean), LIMIT; the message names the operand's element.  out is
 * then untouched.
 * Threads: as samplers of the context; the draws are the same for any number. */
GBS_API gbs_status gbs_truncnorm_f32(gbs_context *ctx, const gbs_truncnorm_spec *spec, float *out);
GBS_API gbs_status gbs_truncnorm_f64(gbs_context *ctx, const gbs_truncnorm_spec *spec,
                                     double *out);

#ifdef __cplusplus
}
#endif

#endif
