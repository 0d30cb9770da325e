/* The seam between the sampler and the code that does the arithmetic: a table of a few coarse
 * functions per instruction set.  The scalar table is the reference; every other one must give
 * the same bits.
 *
 * Chains are handled in blocks of `width` (wide or narrow): a block's state is x[k][lane],
 * k the place in visiting order, lane the chain within the block; noise is z[site][lane] in
 * storage order, rows z_row elements apart.  All rows are aligned to GBS_ALIGNMENT when width
 * is at least a vector. */
#ifndef GBS_BACKEND_BACKEND_H
#define GBS_BACKEND_BACKEND_H

#include "core/internal.h"

/* Purposes of native words (counter word 3). */
enum {
    GBS_PURPOSE_SITE = 0,
    GBS_PURPOSE_START = 1,
    GBS_PURPOSE_TRUNCATED = 2,
    GBS_PURPOSE_CELL = 3, /* position within the rounding cell of a draw between bounds */
    GBS_PURPOSE_PILOT = 4,
    GBS_PURPOSE_EXACT = 5
};

/* Normals of the native stream for all sites of a block of consecutive chains. */
typedef struct gbs_normals_job {
    uint64_t seed;
    uint64_t sweep; /* stream sweep number, < 2^48 */
    int32_t purpose;
    int64_t chain;      /* global number of lane 0 */
    int64_t first_site; /* a multiple of 4 */
    int64_t sites;      /* how many from there on */
    void *z;            /* [sites][width] */
    int64_t z_row;
} gbs_normals_job;

/* One pass over a block's sites in one direction.
 *
 * `panels` holds the coefficients in the order in which they are used.  Rows are taken in
 * groups of `rows`, the last group having what is left.  Group of R rows at places p .. p+R-1:
 *     for each row: start (s, c, and for w != 1 its A_ii); solving: the divisor L_ii
 *     sweeps: row by row, its coefficients of the old values at places p+q+1 .. p+R-1
 *     sweeps: for each place k = p+R .. D-1, old values: R coefficients
 *     for each place k = 0 .. p-1, new values: R coefficients
 *     for q = 0 .. R-2: coefficients of the new value at p+q in rows p+q+1 .. p+R-1 */
typedef struct gbs_pass_job {
    int64_t dim;
    const void *panels;
    const int64_t *site; /* [D] site at each place, in this pass's visiting order */
    void *x;             /* row of place 0 */
    int64_t x_step;      /* elements from one place to the next; negative backwards */
    const void *z;
    int64_t z_row;
    int relaxed; /* w != 1: rows carry A_ii */
} gbs_pass_job;

/* Few chains, many sites: lanes hold rows, so that a coefficient is read once a sweep for all
 * chains and a vector of them at a time.  `rows` consecutive places make a panel, stored as
 *     s [rows], c [rows]       starts; zeros behind the last site, as below
 *     columns [D][rows]        place by place, what each row takes from it; A_ii on the diagonal
 * and worked on in three steps over sums [chains][rows]: begin starts them and takes the old
 * values at the panel's later places; add takes those at any `places` consecutive places; finish
 * makes the panel's values final one after the other. */
typedef struct gbs_few_job {
    int64_t rows;        /* that exist */
    const void *panel;   /* its starts */
    const void *square;  /* its columns of the panel's own places */
    const int64_t *site; /* of the panel's places */
    void *x;             /* [chains] at the panel's first place */
    int64_t x_step;
    const void *z; /* [site][chains], rows z_row apart */
    int64_t z_row;
    int relaxed;
    void *sums;
} gbs_few_job;

typedef struct gbs_few_kernels {
    int32_t chains;
    int32_t rows;
    void (*begin)(const gbs_few_job *job);
    void (*add)(const void *columns, int64_t places, const void *x, int64_t x_step, void *sums);
    void (*finish)(const gbs_few_job *job);
} gbs_few_kernels;

/* Kernels for 1, 2, 4, 8 and 16 chains. */
enum { GBS_FEW_KERNELS = 5, GBS_FEW_CHAINS = 16 };

typedef void (*gbs_normals_function)(const gbs_normals_job *job);
typedef void (*gbs_pass_function)(const gbs_pass_job *job);

/* Kernels of one element type and one block width. */
typedef struct gbs_block_kernels {
    int32_t width;
    int32_t rows; /* rows in a group: what `panels` must be packed for */
    gbs_normals_function normals;
    gbs_pass_function sweep;
    gbs_pass_function solve; /* back substitution: r = z, minus earlier places, over L_ii */
} gbs_block_kernels;

/* Many chains of many sites: a panel of rows is worked on in three steps, so that its coefficients
 * serve several wide blocks of chains, and a stretch of a block's state several groups of rows,
 * while they are near.  The same groups of rows as in a pass; panel of places f .. e-1, its sums
 * [rows][width]:
 *     begin    group by group: starts, then as in a pass old values up to place e-1
 *     add      group by group: `places` places from `from` on, for each one coefficient a row
 *     finish   group by group: new values from place f on, as in a pass
 * Steps are stored in this order, adds by panel of the places: those behind, then those before. */
typedef struct gbs_tile_job {
    const gbs_pass_job *pass; /* of one block; its panels are not read */
    int64_t first, rows;
    const void *coefficients; /* of this step */
    int64_t from, places;     /* add */
    const void *next;         /* add: what the step after this one reads, as many places */
    void *sums;
} gbs_tile_job;

typedef struct gbs_tile_kernels {
    int32_t rows; /* of a panel but the last: a multiple of the wide kernel's */
    void (*begin)(const gbs_tile_job *job);
    void (*add)(const gbs_tile_job *job);
    void (*finish)(const gbs_tile_job *job);
} gbs_tile_kernels;

/* Words of the native stream, uint32_t for float and 53 bits in uint64_t for double, in the places
 * of a normals job's normals: rows of the sites where `wanted` is set, the others untouched. */
typedef struct gbs_words_job {
    gbs_normals_job like;
    const uint8_t *wanted; /* by site; NULL: all are */
} gbs_words_job;

/* Sites between bounds: all by site, [D], numbers of type T. */
typedef struct gbs_bounded_sites {
    uint8_t *bounded;            /* is this one? */
    void *lower, *upper, *scale; /* infinite where there is no such bound; s_i */
    /* r and sqrt(1 - r^2), rounded to T: over-relaxed draws; r = 0: plain ones */
    double overrelax, beside;
} gbs_bounded_sites;

/* A sweep's pass over a model with bounds: the sum of a bounded site starts at c and takes no noise
 * (with w != 1 the A_ii of its row is 0), and its value is drawn between its bounds with the sum
 * for the mean. */
typedef struct gbs_bounded_job {
    gbs_pass_job pass; /* z: at bounded sites words of purpose 2; over-relaxed: normals at all */
    const gbs_bounded_sites *sites;
    const void *cells; /* over-relaxed: words of purpose 3 at bounded sites, rows as those of z */
} gbs_bounded_job;

typedef void (*gbs_words_function)(const gbs_words_job *job);

/* The most wide blocks whose sites are drawn side by side: 12 vectors. */
enum { GBS_BOUNDED_TOGETHER = 3 };

/* The jobs of a pass differ in x, z and cells alone; narrow ones come one at a time. */
typedef void (*gbs_bounded_function)(const gbs_bounded_job *jobs, int count);

/* For blocks as wide as those of the gbs_block_kernels beside which they are used. */
typedef struct gbs_bounded_block_kernels {
    int32_t width;
    int32_t rows;
    gbs_words_function words;
    gbs_bounded_function sweep;
} gbs_bounded_block_kernels;

typedef struct gbs_bounded_kernels {
    const char *name[2]; /* by type */
    gbs_bounded_block_kernels wide[2], narrow[2];
} gbs_bounded_kernels;

typedef struct gbs_kernels {
    const char *sweep_name[2]; /* by type, as tests and bench print it */
    const char *few_name[2];
    const char *tile_name[2];
    gbs_block_kernels wide[2]; /* by type */
    gbs_block_kernels narrow[2];
    gbs_few_kernels few[2][GBS_FEW_KERNELS];
    gbs_tile_kernels tiles[2];
    const gbs_bounded_kernels *bounded;
} gbs_kernels;

/* The CPU's tables, each in its own file with its own compile flags. */
extern const gbs_kernels gbs_kernels_scalar;
extern const gbs_kernels gbs_kernels_scalar_fma;
extern const gbs_kernels gbs_kernels_avx2;
extern const gbs_kernels gbs_kernels_avx512;
extern const gbs_kernels gbs_kernels_neon;
extern const gbs_bounded_kernels gbs_bounded_scalar;
extern const gbs_bounded_kernels gbs_bounded_scalar_fma;
extern const gbs_bounded_kernels gbs_bounded_avx2;
extern const gbs_bounded_kernels gbs_bounded_avx512;
extern const gbs_bounded_kernels gbs_bounded_neon;

/* The table of an available instruction set. */
const gbs_kernels *gbs_cpu_kernels(gbs_isa isa);

#endif
