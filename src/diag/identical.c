/* Finds two chains that hold the same draws from some draw on: the trace of chains that were given
 * one seed.  A few equal last draws prove nothing where draws take few values, so a common ending
 * counts once its moves, times log2 of the number of distinct draws, make 32 bits: 3 moves for
 * 4,000 different numbers, 32 for a binary variable.  Endings of just that length are hashed and
 * sorted, so that many chains cost no more than a sort; equal hashes are then compared. */
#include "diag/diag.h"

#include <math.h>
#include <string.h>

static const double ENOUGH_BITS = 32;

/* Length of the shortest ending of a chain with that many moves; 0 if it has fewer. */
static int64_t ending_of(const double *chain, int64_t draws, int64_t moves)
{
    int64_t t = draws - 1;
    while (t > 0 && moves > 0) {
        moves -= chain[t] != chain[t - 1];
        t--;
    }
    return moves == 0 ? draws - t : 0;
}

/* FNV-1a over the bits of the numbers, -0 as 0. */
static uint64_t hash_draws(const double *x, int64_t n)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (int64_t i = 0; i < n; i++) {
        const double value = x[i] + 0.0;
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        hash = (hash ^ bits) * 0x100000001b3u;
        hash ^= hash >> 29;
    }
    return hash;
}

static int same_draws(const double *a, const double *b, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (a[i] != b[i])
            return 0;
    return 1;
}

void gbs_note_identical(gbs_diag_work *work)
{
    const int64_t draws = work->draws;
    const int64_t distinct = work->total - work->loops->equal_neighbours(work->sorted, work->total);
    const double bits = log2((double)distinct);
    const int64_t moves = (int64_t)ceil(ENOUGH_BITS / bits);
    if (work->chains < 2 || moves >= draws)
        return;
    /* Chains without such an ending get hashes too, of length 0, and are passed over below. */
    for (int64_t c = 0; c < work->chains; c++) {
        const double *chain = work->x + c * draws;
        const int64_t length = ending_of(chain, draws, moves);
        work->keys[c] = hash_draws(chain + draws - length, length);
    }
    gbs_sort_order(work->keys, work->chains, work->sorting, work->order);

    int64_t found = -1;
    for (int64_t i = 1; i < work->chains; i++) {
        const int64_t a = work->order[i - 1], b = work->order[i];
        if (work->keys[a] != work->keys[b] || (found >= 0 && found <= b))
            continue;
        const double *chain_a = work->x + a * draws, *chain_b = work->x + b * draws;
        const int64_t length = ending_of(chain_a, draws, moves);
        if (length > 0 && same_draws(chain_a + draws - length, chain_b + draws - length, length))
            found = b;
    }
    if (found < 0)
        return;
    work->notes |= GBS_NOTE_CHAINS_IDENTICAL;
    work->identical_chain = found;
}
