/* Finds a chain that has stopped moving: its last draws are all equal, and so many that this would
 * happen by chance less than once in 2^32 if a draw repeated the one before it as often as draws
 * do in all chains.  A sampler that rejects, or a variable of few values, repeats often. */
#include "diag/diag.h"

#include <math.h>

/* An end of fewer equal draws is not called stuck, however rare repeats are. */
enum { LEAST = 8 };
static const double ENOUGH_BITS = 32;

static int64_t equal_at_end(const double *chain, int64_t draws)
{
    int64_t count = 1;
    while (count < draws && chain[draws - 1 - count] == chain[draws - 1])
        count++;
    return count;
}

void gbs_note_stuck(gbs_diag_work *work)
{
    const int64_t draws = work->draws;
    int64_t longest = 0, stuck = -1, repeats = 0;
    for (int64_t c = 0; c < work->chains; c++) {
        const int64_t count = equal_at_end(work->x + c * draws, draws);
        if (count > longest && count < draws) { /* a chain that never moves has its own note */
            longest = count;
            stuck = c;
        }
    }
    if (longest < LEAST)
        return;
    for (int64_t c = 0; c < work->chains; c++)
        repeats += work->loops->equal_neighbours(work->x + c * draws, draws);
    const double steps = (double)(work->total - work->chains);
    if (-log2((double)repeats / steps) * (double)(longest - 1) < ENOUGH_BITS)
        return;
    work->notes |= GBS_NOTE_CHAIN_STUCK;
    work->stuck_chain = stuck;
}
