/* The sampler's insides.  Private. */
#ifndef GBS_SAMPLER_INTERNAL_H
#define GBS_SAMPLER_INTERNAL_H

#include "backend/backend.h"
#include "model/model.h"
#include "sampler/forms.h"
#include "rng/torch_stream.h"

#include <math.h>

/* One direction through the sites: a sweep makes one pass, a symmetric one two. */
typedef struct gbs_pass_plan {
    int64_t *site;     /* [D] site at each place of this pass */
    void *wide_panels; /* coefficients as the wide kernel reads them, and as the narrow one */
    void *narrow_panels;
    void *few_panels;
    void *tile_panels;
} gbs_pass_plan;

/* A run of chains handled together. */
typedef struct gbs_block {
    int64_t chain;                    /* first chain of this sampler in it */
    int64_t count;                    /* chains that exist; the lanes above are padding */
    const gbs_block_kernels *kernels; /* few chains: for their normals alone */
    int wide;
    int64_t width;   /* of a row of its state */
    int64_t z_width; /* of a row of its noise, drawn for it alone */
} gbs_block;

struct gbs_on_device;
struct gbs_constrained;

struct gbs_sampler {
    gbs_context *ctx;
    gbs_model *model; /* one reference is ours */
    gbs_type type;
    gbs_method method;
    int64_t dim, chains, first_chain, first_sweep;
    uint64_t seed;
    gbs_order order;
    double omega;     /* w of sites without bounds: 1 + overrelax where that is given */
    double overrelax; /* r */
    int relaxed;      /* omega is not 1 */
    int stateless;    /* START_LATER, and no state yet */

    struct gbs_on_device *on_device; /* NULL on the CPU; else it holds the chains, not `state` */

    struct gbs_constrained *constrained; /* NULL but for whitened sweeps and row constraints */

    const gbs_kernels *kernels;
    const gbs_few_kernels *few; /* NULL: blocks of chains */
    int64_t together;           /* wide blocks of a bundle; 0: no bundles */
    int tiled;                  /* bundles go tile by tile; else, with bounds, site by site */
    int64_t blocks, wide_blocks;
    int64_t padded_chains; /* lanes of all blocks */
    int passes;            /* 1, or 2 for symmetric sweeps */
    gbs_pass_plan pass[2];
    int64_t *place; /* [D] place of each site in pass 0, whose order the state is kept in */

    /* Sites between bounds; all pointers are NULL where no site has any in this type. */
    gbs_bounded_sites boxes;
    void *cells; /* over-relaxed draws: rooms as those of `noise`, for words of purpose 3 */

    gbs_stream_spec stream;
    gbs_torch_cpu *torch_cpu; /* NULL for other streams */
    gbs_torch_cuda torch_cuda;

    /* One-call sweeps put several models side by side: `chains` chains in each of `groups`
     * groups, chain c of group g being element g chains + c of a torch call.  Else 1 and 0. */
    int64_t groups, group;
    int one_block; /* `state` holds one block at a time, not all of them */
    void *line;    /* several groups and torch_cpu: one call's normals, [groups chains] */

    void *state;  /* blocks of [D][width] */
    void *noise;  /* rooms [threads][together, or 1] of [D][width], a block for each; torch_cpu: a
                     pass for all,   [D][groups padded_chains]; few chains: two passes */
    int64_t room; /* elements from one room of noise, or of cells, to the next */
    void *sums;   /* few chains: [threads][chains][rows] of the panels being worked on;
                     bundles: [threads][together][rows][width] */
    int64_t sums_room; /* elements from one thread's sums to the next one's */
    void *staging;     /* [B, D] for the callback; exact draws add the mean here */
    int64_t done;      /* sweeps or draws since create */
};

/* Whitened, or under row constraints: planned and run by constrained.c, block by block. */
int gbs_sampler_is_constrained(const gbs_sampler *sampler);

/* rows * columns elements, zeroed, or NULL with *status set; does nothing once *status is a
 * failure. */
void *gbs_sampler_take(gbs_sampler *sampler, const char *what, int64_t rows, int64_t columns,
                       size_t size, gbs_status *status);

/* As many rooms of rows * columns elements, each with a gap behind it that keeps threads apart;
 * *room is then the number of elements from one room to the next. */
void *gbs_sampler_take_rooms(gbs_sampler *sampler, const char *what, int64_t rooms, int64_t rows,
                             int64_t columns, size_t size, int64_t *room, gbs_status *status);

/* Sets blocks, wide_blocks and padded_chains: all chains in one block where `few` is set; else
 * whole wide blocks, of which a rest of more than half makes one more, else narrow ones. */
void gbs_sampler_split(gbs_sampler *sampler);

gbs_block gbs_sampler_block(const gbs_sampler *sampler, int64_t index);

/* Rows in a group of the panels for wide blocks, or narrow ones; and the more of the two. */
int32_t gbs_sampler_rows(const gbs_sampler *sampler, int wide);
int32_t gbs_sampler_most_rows(const gbs_sampler *sampler);

/* One pass of one block, with the noise of sweep `ahead` from now, drawn into room number `room`.
 */
void gbs_sampler_pass(gbs_sampler *sampler, const gbs_block *block, int64_t ahead, int half,
                      int64_t room);

/* Element offset of a block's state. */
int64_t gbs_block_offset(const gbs_sampler *sampler, const gbs_block *block);

/* The number that the native stream gives to pass `half` of the sweep that follows `done`. */
uint64_t gbs_stream_sweep(const gbs_sampler *sampler, int64_t done, int half);

/* 1 if a pass's noise must be drawn for all chains at once, site by site. */
int gbs_noise_is_sequential(const gbs_sampler *sampler);

/* Sequential streams: draws one whole pass, rows gbs_noise_row elements apart. */
void gbs_noise_draw_pass(gbs_sampler *sampler, int half, void *noise);
int64_t gbs_noise_row(const gbs_sampler *sampler);

/* Other streams: a block's noise for pass `half` of the sweep `ahead` from now, for `count` sites
 * from `first` on, a multiple of 4; rows of `to`, which starts at site 0, are block->z_width
 * apart.  Only the native stream takes less than all sites. */
void gbs_noise_draw_block(const gbs_sampler *sampler, const gbs_block *block, int64_t ahead,
                          int half, int64_t first, int64_t count, void *to);

/* What a kernel of the block's width is asked for, of its first lanes. */
gbs_normals_job gbs_noise_job(const gbs_sampler *sampler, const gbs_block *block, int32_t purpose,
                              uint64_t sweep, int64_t first, int64_t count, void *to);

/* Given words from element `from` on: those of double count by their low 53 bits. */
void gbs_noise_copy_words(const gbs_sampler *sampler, int64_t from, int64_t count, void *to);

/* The native stream's normals with any purpose and sweep number, into `to` as above. */
void gbs_noise_draw_native(const gbs_sampler *sampler, const gbs_block *block, int32_t purpose,
                           uint64_t sweep, int64_t first, int64_t count, void *to);

/* After `sweeps` sweeps of a torch-cuda stream: the generator's offset moves on. */
void gbs_noise_advance(gbs_sampler *sampler, int64_t sweeps);

/* Is there noise, and are there stream numbers, for `sweeps` more? */
gbs_status gbs_noise_check(const gbs_sampler *sampler, int64_t sweeps);

/* State in and out of the blocks: x [B, D] with any strides, of the sampler's type; a block's
 * own functions take the same x. */
void gbs_block_scatter(gbs_sampler *sampler, const gbs_block *block, const void *x,
                       int64_t chain_stride, int64_t site_stride);
void gbs_block_gather(const gbs_sampler *sampler, const gbs_block *block, void *x,
                      int64_t chain_stride, int64_t site_stride);
void gbs_state_scatter(gbs_sampler *sampler, const void *x, int64_t chain_stride,
                       int64_t site_stride);
void gbs_state_gather(const gbs_sampler *sampler, void *x, int64_t chain_stride,
                      int64_t site_stride);
/* Fixed sites at their values, in every chain. */
void gbs_state_hold_fixed(gbs_sampler *sampler);
/* Takes a block into the moments as their draw number `count`, from 1. */
void gbs_block_accumulate(const gbs_sampler *sampler, const gbs_block *block, int64_t count,
                          gbs_moments *moments);
/* A call's work on the blocks, shared out among threads: `draws` times `thin` sweeps, after each of
 * which the state is kept. */
typedef struct gbs_run_job {
    gbs_sampler *sampler;
    int64_t first_draw; /* of the call; these are kept as first_draw, first_draw + 1, ... */
    int64_t draws, thin;
    gbs_sink sink;          /* `callback` stands for: fill `staging` */
    int64_t moments_before; /* draws that the moments had at the start of the call */
    /* sweep by sweep: which pass is due, and whether a draw ends with it */
    int64_t ahead;
    int half, ends_draw;
} gbs_run_job;

/* A block's share of draw `draw` of the job. */
void gbs_run_keep(const gbs_run_job *job, const gbs_block *block, int64_t draw);

/* Blocks first .. first + count - 1, wide ones, through one pass of the sweep `ahead` from now,
 * tile by tile; jobs[k] is block first + k's pass. */
void gbs_run_tiles(const gbs_sampler *sampler, const gbs_pass_plan *plan, const gbs_pass_job *jobs,
                   int64_t count, int32_t worker);

/* The whole job for few chains. */
void gbs_run_few(const gbs_run_job *job);

/* state[at] = value, rounded to T. */
void gbs_state_store(gbs_sampler *sampler, int64_t at, double value);

struct gbs_moments {
    gbs_allocator allocator;
    int64_t chains, dim, count;
    double *mean, *m2; /* [B, D] */
    /* Made by a context of a device: a copy there, and which of the two is the newer. */
    const gbs_device_functions *device_functions;
    gbs_device_moments *device;
    int32_t device_ordinal;
    int newer_on_device;
};

/* Makes the copy here, or there, the one to go on from. */
gbs_status gbs_moments_to_host(gbs_moments *moments, gbs_device_message message);
gbs_status gbs_moments_to_device(gbs_moments *moments, gbs_device_message message);

/* One draw x, the n-th. */
static inline void gbs_welford(double n, double x, double *mean, double *m2)
{
    const double d = x - *mean;
    *mean += d / n;
    *m2 = fma(d, x - *mean, *m2);
}

#endif
