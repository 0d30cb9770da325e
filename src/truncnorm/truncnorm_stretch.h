/* The loops over stretches for one type; included by truncnorm_kernels_body.h, which says what T, V
 * and the other names stand for. */

#include "rng/truncnorm_abreast.h"

GBS_INLINE V TYPED(load)(const void *array, int64_t at)
{
    V v;
    memcpy(&v, (const T *)array + at, sizeof v);
    return v;
}

GBS_INLINE W TYPED(load_words)(const void *array, int64_t at)
{
    W w;
    memcpy(&w, (const char *)array + at * (int64_t)sizeof(T), sizeof w);
    return w;
}

/* Bounds are numbers of the type: a draw of a very wide scale is not infinite. */
GBS_INLINE V TYPED(load_lower)(const gbs_truncnorm_stretch *s, int64_t at)
{
    return V_(max)(V_(set1)(-LARGEST), TYPED(load)(s->lower, at));
}

GBS_INLINE V TYPED(load_upper)(const gbs_truncnorm_stretch *s, int64_t at)
{
    return V_(min)(V_(set1)(LARGEST), TYPED(load)(s->upper, at));
}

/* `vectors` vectors from element `at` on, step by step. */
GBS_INLINE void TYPED(draw_abreast)(const gbs_truncnorm_stretch *s, int64_t at, int vectors)
{
    TYPED(gbs_draw) draw[ABREAST];
    V d[ABREAST];
    NO_UNROLL for (int k = 0; k < vectors; ++k)
    {
        const int64_t i = at + k * LANES;
        TYPED(gbs_truncnorm_box)
        (&draw[k], TYPED(load)(s->mean, i), TYPED(load)(s->sd, i), TYPED(load_lower)(s, i),
         TYPED(load_upper)(s, i), TYPED(load_words)(s->word, i));
    }
    TYPED(mixtures_abreast)(draw, vectors);
    TYPED(invert_abreast)(draw, d, vectors);
    NO_UNROLL for (int k = 0; k < vectors; ++k)
    {
        const int64_t i = at + k * LANES;
        const V x =
            TYPED(gbs_truncnorm_place)(&draw[k], TYPED(load)(s->mean, i), TYPED(load)(s->sd, i),
                                       TYPED(load_lower)(s, i), TYPED(load_upper)(s, i), d[k]);
        memcpy((T *)s->out + i, &x, sizeof x);
    }
}

static void TYPED(draw)(const gbs_truncnorm_stretch *s)
{
    int64_t at = 0;
    for (; at + ABREAST * LANES <= s->count; at += ABREAST * LANES)
        TYPED(draw_abreast)(s, at, ABREAST);
    for (; at < s->count; at += LANES)
        TYPED(draw_abreast)(s, at, 1);
}

/* m finite, s normal, lo <= hi, lo < inf, hi > -inf. */
static int TYPED(valid)(const gbs_truncnorm_stretch *s)
{
    const V infinite = V_(set1)(INFINITE), below_least = V_(set1)(BELOW_NORMAL);
    M good = V_(equal)(infinite, infinite);
    for (int64_t i = 0; i < s->count; i += LANES) {
        const V m = TYPED(load)(s->mean, i), sd = TYPED(load)(s->sd, i);
        const V lo = TYPED(load)(s->lower, i), hi = TYPED(load)(s->upper, i);
        good = M_(and)(good, V_(less)(V_(abs)(m), infinite));
        good = M_(and)(good, V_(less)(below_least, sd));
        good = M_(and)(good, V_(less)(sd, infinite));
        good = M_(and)(good, V_(less)(lo, infinite));
        good = M_(and)(good, V_(less)(V_(set1)(-INFINITE), hi));
        good = M_(and)(good, M_(not )(V_(less)(hi, lo)));
    }
    return !M_(any)(M_(not )(good));
}

#undef T
#undef V
#undef M
#undef W
#undef LANES
#undef V_
#undef M_
#undef TYPED
#undef BELOW_NORMAL
#undef LARGEST
#undef INFINITE
