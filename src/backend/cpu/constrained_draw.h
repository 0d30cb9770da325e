/* A draw between bounds for a few vectors side by side, in one type: rng/truncnorm.h step by step,
 * since of one vector's 270 dependent operations a processor sees only a part at a time.  Not
 * inlined: a call costs nothing beside it. */

enum { TYPED(ABREAST) = WIDE_VECTORS };

static __attribute__((noinline)) void TYPED(draw)(int vectors, const V *mean, V sd, const V *lower,
                                                  const V *upper, const T *words, V *out)
{
    TYPED(gbs_draw) draw[TYPED(ABREAST)];
    V t[TYPED(ABREAST)], d[TYPED(ABREAST)], r[TYPED(ABREAST)], ratio[TYPED(ABREAST)];
    NO_UNROLL for (int k = 0; k < vectors; ++k)
    {
        W word;
        memcpy(&word, words + k * V_LANES, sizeof word);
        TYPED(gbs_truncnorm_box)(&draw[k], mean[k], sd, lower[k], upper[k], word);
    }
    NO_UNROLL for (int k = 0; k < vectors; ++k) TYPED(gbs_truncnorm_ratios)(&draw[k]);
    NO_UNROLL for (int k = 0; k < vectors; ++k) TYPED(gbs_truncnorm_densities)(&draw[k]);
    NO_UNROLL for (int k = 0; k < vectors; ++k) TYPED(gbs_truncnorm_mixture)(&draw[k]);
    NO_UNROLL for (int k = 0; k < vectors; ++k) t[k] =
        TYPED(gbs_minus_log)(draw[k].whole, draw[k].part);
    NO_UNROLL for (int k = 0; k < vectors; ++k) d[k] =
        TYPED(gbs_truncnorm_guess)(draw[k].r, draw[k].d1, t[k]);
    for (int step = 0; step < TYPED(gbs_truncnorm_halley_steps); ++step) {
        NO_UNROLL for (int k = 0; k < vectors; ++k)
            TYPED(gbs_truncnorm_ahead)(&draw[k], d[k], &r[k], &ratio[k]);
        NO_UNROLL for (int k = 0; k < vectors; ++k) d[k] =
            TYPED(gbs_truncnorm_halley)(&draw[k], t[k], d[k], r[k], ratio[k]);
    }
    NO_UNROLL for (int k = 0; k < vectors; ++k) d[k] =
        TYPED(gbs_truncnorm_choose)(&draw[k], t[k], d[k]);
    NO_UNROLL for (int k = 0; k < vectors; ++k) out[k] =
        TYPED(gbs_truncnorm_place)(&draw[k], mean[k], sd, lower[k], upper[k], d[k]);
}
