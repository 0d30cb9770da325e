/* One pair of normals as torch draws them in calls of fewer than 16.  Private. */
#ifndef GBS_RNG_TORCH_SINGLE_H
#define GBS_RNG_TORCH_SINGLE_H

#include <stdint.h>

/* The pair of a 53-bit radius u2 and angle u1, both fractions of 2^53 (higher bits ignored):
 * sqrt(-2 ln(1 - u2)) times cos(2 pi u1) and sin(2 pi u1). */
void gbs_torch_single_pair(uint64_t radius, uint64_t angle, double *cosine, double *sine);

#endif
