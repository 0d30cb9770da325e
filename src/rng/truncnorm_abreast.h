/* Draws between bounds for a few vectors side by side, in one type: each step of rng/truncnorm.h is
 * done for all of them before the next one begins, since a draw is a chain of some 300 dependent
 * operations, of which a processor sees only a part at a time.  The including file says what V and
 * TYPED stand for, and has NO_UNROLL. */

/* From boxes to mixtures. */
GBS_INLINE void TYPED(mixtures_abreast)(TYPED(gbs_draw) * draw, const int vectors)
{
    enum { APART = TYPED(GBS_LONG_QUOTIENTS) };
    TYPED(gbs_quotients) all[GBS_MOST_ABREAST];
    NO_UNROLL for (int k = 0; k < vectors; ++k)
    {
        TYPED(gbs_quotients) one, *const q = APART ? &all[k] : &one;
        TYPED(gbs_truncnorm_quotients)(&draw[k], q);
        if (!APART)
            TYPED(gbs_truncnorm_ratios)(&draw[k], q);
    }
    NO_UNROLL for (int k = 0; k < vectors; ++k)
    {
        if (APART) /* its division beside the densities' multiply-adds, which do not wait for it */
            TYPED(gbs_truncnorm_ratios)(&draw[k], &all[k]);
        TYPED(gbs_truncnorm_densities)(&draw[k]);
    }
    NO_UNROLL for (int k = 0; k < vectors; ++k) TYPED(gbs_truncnorm_mixture)(&draw[k]);
}

/* From mixtures to distances. */
GBS_INLINE void TYPED(invert_abreast)(TYPED(gbs_draw) * draw, V *d, const int vectors)
{
    enum { TOGETHER = TYPED(GBS_FIRST_VECTORS), APART = TYPED(GBS_LONG_QUOTIENTS) };
    TYPED(gbs_first) first[GBS_MOST_ABREAST];
    V r[GBS_MOST_ABREAST], ratio[GBS_MOST_ABREAST];
    NO_UNROLL for (int k = 0; k < vectors; k += TOGETHER)
        TYPED(gbs_first_level)(&first[k], &draw[k], vectors - k);
    NO_UNROLL for (int k = 0; k < vectors; k += TOGETHER) TYPED(gbs_first_guess)(&first[k]);
    NO_UNROLL for (int k = 0; k < vectors; k += TOGETHER) TYPED(gbs_first_ratio)(&first[k]);
    NO_UNROLL for (int k = 0; k < vectors; k += TOGETHER)
        TYPED(gbs_first_step)(&first[k], &d[k], vectors - k);
    NO_UNROLL for (int k = 0; k < vectors; ++k)
    {
        TYPED(gbs_truncnorm_ahead)(&draw[k], d[k], &r[k], &ratio[k]);
        if (!APART)
            TYPED(gbs_truncnorm_compare)(&draw[k], d[k], &r[k], &ratio[k]);
    }
    NO_UNROLL for (int k = 0; k < vectors && APART; ++k)
        TYPED(gbs_truncnorm_compare)(&draw[k], d[k], &r[k], &ratio[k]);
    NO_UNROLL for (int k = 0; k < vectors; ++k) d[k] =
        TYPED(gbs_truncnorm_refine)(&draw[k], d[k], r[k], ratio[k]);
    NO_UNROLL for (int k = 0; k < vectors; ++k) d[k] = TYPED(gbs_truncnorm_choose)(&draw[k], d[k]);
}
