/* The inner loops of draws between bounds, once per instruction set: stretches of plain arrays.
 * All give the same bits (rng/truncnorm.h).  Private. */
#ifndef GBS_TRUNCNORM_KERNELS_H
#define GBS_TRUNCNORM_KERNELS_H

#include "gibbsite/gibbsite.h"

/* Counts are multiples of this, the most lanes there are. */
#define GBS_TRUNCNORM_GRANULE 16

/* Arrays of `count` elements of one type; words are uint32_t (float) or uint64_t (double). */
typedef struct gbs_truncnorm_stretch {
    int64_t count;
    const void *mean, *sd, *lower, *upper;
    const void *word;
    void *out;
} gbs_truncnorm_stretch;

/* Where native words come from: counter word 0 runs from `group` on. */
typedef struct gbs_truncnorm_words {
    uint64_t seed;
    uint32_t group, word1, word2, word3;
    int64_t groups; /* of 4 words (float) or 2 (double); the last vector is written whole */
    void *out;
} gbs_truncnorm_words;

/* Groups are written up to the next multiple of this. */
#define GBS_TRUNCNORM_GROUPS 32

typedef struct gbs_truncnorm_kernels {
    const char *name;
    void (*draw[2])(const gbs_truncnorm_stretch *stretch); /* by type */
    int (*valid[2])(const gbs_truncnorm_stretch *stretch); /* 0 if an element must be refused */
    void (*words[2])(const gbs_truncnorm_words *words);
} gbs_truncnorm_kernels;

/* Of an available instruction set. */
const gbs_truncnorm_kernels *gbs_truncnorm_kernels_for(gbs_isa isa);

/* All that this machine and build have, the reference first; NULL past the last. */
const gbs_truncnorm_kernels *gbs_truncnorm_kernels_at(int index);

#endif
