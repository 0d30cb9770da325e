/* A draw between bounds for a few vectors side by side, in one type: rng/truncnorm.h step by step,
 * since of one vector's 270 dependent operations a processor sees only a part at a time.  Not
 * inlined: a call costs nothing beside it. */

#include "rng/truncnorm_abreast.h"

static __attribute__((noinline)) void TYPED(draw)(int vectors, const V *mean, V sd, const V *lower,
                                                  const V *upper, const T *words, V *out)
{
    TYPED(gbs_draw) draw[WIDE_VECTORS];
    V d[WIDE_VECTORS];
    NO_UNROLL for (int k = 0; k < vectors; ++k)
    {
        W word;
        memcpy(&word, words + k * V_LANES, sizeof word);
        TYPED(gbs_truncnorm_box)(&draw[k], mean[k], sd, lower[k], upper[k], word);
    }
    TYPED(mixtures_abreast)(draw, vectors);
    TYPED(invert_abreast)(draw, d, vectors);
    NO_UNROLL for (int k = 0; k < vectors; ++k) out[k] =
        TYPED(gbs_truncnorm_place)(&draw[k], mean[k], sd, lower[k], upper[k], d[k]);
}
