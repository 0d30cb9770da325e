/* The steps of a draw between bounds, in one type (truncnorm.h), each a function of its own so that
 * a caller can run a step for several vectors side by side.
 *
 *   box        the bounds in standard deviations from the mean, turned round so that the nearer
 *              one is the lower and u counts from it
 *   quotients  Mills' ratios at the bounds, two polynomials each, and the density at the farther
 *              one
 *   ratios     of them
 *   densities  the normal's density at the nearer one
 *   mixture    of the tails beyond the bounds: the survival probability e^-t of the draw
 *   invert     d with Q(a + d) / Q(a) = e^-t, by steps of its own
 *   place      back to the user's bounds: lo + s d or hi - s d, never m + s z, where the box does
 *              not hold the mean, so that nothing cancels however far out it lies
 *
 * Three kinds of lane.  Middle, a box that holds the mean: from 0 on, t = -ln of twice the smaller
 * tail.  Side: from the nearer bound.  Far, a beyond the reach of R's quotient: d by the first two
 * terms of its expansion in 1/a.
 * A narrow box is always of the second kind, or the third; Taylor polynomials stand for
 * differences that would lose the digits of a small t. */

#define FARTHEST CONSTANT(512.0, 0x1p24) /* of a: from here on d by its expansion in 1/a */
#define FARTHEST_CROSS                                                                             \
    CONSTANT(0x1.3ea99ep-69, 0x1.3ee345474b4f3p-378) /* 1 / (above below) there */
#define FARTHEST_ABOVE CONSTANT(0x1.cae7e6p+29, 0x1.cabea111a26ffp+176) /* R's quotient there */
#define FARTHEST_BELOW CONSTANT(0x1.cae858p+38, 0x1.cabea111a2699p+200)
#define NARROW CONSTANT(0x1p-3, 0x1p-8)    /* of w: below, 1 - R(b)/R(a) by Taylor */
#define GENTLE CONSTANT(0x1p-2, 0x1p-2)    /* of a w + w^2/2: likewise */
#define SMALL CONSTANT(0.05, 0x1p-10)      /* of t: below, d by Taylor */
#define LEAST_DENSITY CONSTANT(44.0, 90.0) /* e^-this is as good as 0, its products normal */
#define MILLS_AT_0 CONSTANT(0x1.40d932p+0, 0x1.40d931ff62706p+0)       /* sqrt(pi/2) */
#define ABOVE_AT_0 CONSTANT(0x1.40d932p+0, 0x1.40d931ff6272ep+0)       /* of R's quotient */
#define DENSITY_THERE CONSTANT(0x1.6f741ep-64, 0x1.1d8508fa8242ap-130) /* e^-that */
#define NUMBER(value) CONSTANT(value, value)

typedef struct NAME(draw) {
    V a, b, w; /* |a| <= b, but for rounding */
    W word;    /* counts from a */
    M mirrored, middle;
    V start;                  /* of the equation for d: a, or 0 for the middle kind */
    V above, below, r;        /* R(start) as a quotient and as a number */
    V mills_a, mills_b;       /* middle: R(-a) and R(b) */
    V ratio, inverse;         /* side: R(b) / R(a) and 1 / R(a) */
    V density_b, power, rise; /* see truncnorm_quotients, truncnorm_densities */
    V kept, lost;             /* e^-t and 1 - e^-t */
    int some_middle, some_side, some_narrow; /* lanes; narrow: see truncnorm_side */
    int two_ended;                           /* does any lane have an upper bound within reach? */
    M left;  /* of the middle kind, and the draw lies below the mean */
    V level; /* float: t; double: e^-t in one number */
} NAME(draw);

/* m finite, s normal, lo <= hi, lo < inf, hi > -inf. */
GBS_INLINE void NAME(truncnorm_box)(NAME(draw) * draw, V m, V s, V lo, V hi, W word)
{
    const V inverse = V_(div)(NUMBER(1.0), s);
    const V a = V_(mul)(V_(sub)(lo, m), inverse), b = V_(mul)(V_(sub)(hi, m), inverse);
    /* the sign of a sum is never lost to rounding; of infinite bounds' it is NaN, as good as 0 */
    const V sum = V_(add)(a, b), zero = NUMBER(0.0);
    const M tied = V_(not_less_in)(NAME(upper_half)(word), zero, sum);
    draw->mirrored = M_(or)(V_(less)(sum, zero), tied);
    draw->w = V_(mul)(V_(sub)(hi, lo), inverse);
    draw->a = V_(select_minus)(draw->mirrored, a, b);
    draw->b = V_(select_minus)(draw->mirrored, b, a);
    draw->word = NAME(complement_where)(draw->mirrored, word);
}

/* R at the bounds, of the middle kind R(-a), as quotients. */
typedef struct NAME(quotients) {
    V above_a, below_a, above_b, below_b;
} NAME(quotients);

/* And density_b, which is e^(-b^2/2) for the middle kind. */
GBS_INLINE void NAME(truncnorm_quotients)(NAME(draw) * draw, NAME(quotients) * q)
{
    const V a = draw->a, b = draw->b;
    const M wide = V_(not_less)(draw->w, NARROW);
    draw->middle = V_(less_in)(wide, a, NUMBER(0.0));
    draw->some_middle = M_(any)(draw->middle);
    draw->some_side = !M_(all)(draw->middle);
    draw->some_narrow = !M_(all)(wide);
    NAME(mills)
    (V_(min)(V_(negate_where)(draw->middle, a), FARTHEST), &q->above_a, &q->below_a);
    q->above_b = FARTHEST_ABOVE;
    q->below_b = FARTHEST_BELOW;
    draw->density_b = DENSITY_THERE;
    draw->two_ended = M_(any)(V_(less)(b, FARTHEST));
    if (draw->two_ended)
        NAME(mills)(V_(min)(b, FARTHEST), &q->above_b, &q->below_b);
    if (draw->two_ended && draw->some_middle) {
        V power;
        const V exponent = V_(min)(V_(mul)(V_(mul)(b, NUMBER(0.5)), b), LEAST_DENSITY);
        const V rise = NAME(exp_minus)(exponent, &power);
        draw->density_b = V_(fma)(power, rise, power);
    }
}

GBS_INLINE void NAME(truncnorm_ratios)(NAME(draw) * draw, const NAME(quotients) * q)
{
    const V one = NUMBER(1.0), a = draw->a;
    const M near = V_(less)(a, FARTHEST);
    const V above_a = q->above_a, below_a = q->below_a;
    const V above_b = q->above_b, below_b = q->below_b;
    /* 1 / below_a (far: 1 / a) and 1 / (above_a below_b), which far is a constant, by one division
     */
    const V second = V_(mul)(above_a, below_b);
    const V both = V_(div)(one, V_(select)(near, a, V_(mul)(below_a, second)));
    const V inverse = V_(select)(near, both, V_(mul)(second, both));
    const V cross = V_(select)(near, FARTHEST_CROSS, V_(mul)(below_a, both));
    draw->mills_a = V_(mul)(above_a, inverse);
    draw->mills_b = V_(mul)(above_b, V_(mul)(above_a, cross));
    draw->ratio = V_(mul)(above_b, V_(mul)(below_a, cross));
    draw->inverse = V_(mul)(below_b, V_(mul)(below_a, cross));

    draw->start = V_(select)(draw->middle, a, NUMBER(0.0));
    draw->above = V_(select)(draw->middle, above_a, ABOVE_AT_0);
    draw->below = V_(select)(draw->middle, below_a, one);
    draw->r = V_(select)(draw->middle, draw->mills_a, MILLS_AT_0);
    if (!M_(all)(near)) /* 1/a - 1/a^3 */
        draw->r = V_(select)(near, V_(nfma)(V_(mul)(inverse, inverse), inverse, inverse), draw->r);
}

/* power (1 + rise) is e^(-a^2/2) for the middle kind, else the ratio of the densities at the
 * bounds. */
GBS_INLINE void NAME(truncnorm_densities)(NAME(draw) * draw)
{
    const V half = NUMBER(0.5), a = draw->a;
    const V drop = V_(mul)(V_(fma)(draw->w, half, a), draw->w);
    const V exponent = V_(select)(draw->middle, drop, V_(mul)(V_(mul)(a, half), a));
    draw->rise = NAME(exp_minus)(V_(min)(exponent, LEAST_DENSITY), &draw->power);
}

/* Of R at start, -d1, d2 and -d3, from R' = a R - 1 and R^(n+1) = a R^(n) + n R^(n-1). */
typedef struct NAME(derivatives) {
    V d1, d2, d3;
} NAME(derivatives);

GBS_INLINE NAME(derivatives) NAME(truncnorm_derivatives)(const NAME(draw) * draw)
{
    const V a = draw->start, r = draw->r;
    NAME(derivatives) of;
    of.d1 = V_(nfma)(a, r, NUMBER(1.0));
    of.d2 = V_(nfma)(a, of.d1, r);
    of.d3 = V_(nfma)(a, of.d2, V_(add)(of.d1, of.d1));
    return of;
}

/* 1 - R(a + w) / R(a) for a small w, to the fifth derivative; what is left out is w^5 / 30 of
 * 1 - Q(b) / Q(a) at most. */
GBS_INLINE V NAME(truncnorm_fall)(const NAME(draw) * draw, V w)
{
    const V a = draw->start;
    const NAME(derivatives) of = NAME(truncnorm_derivatives)(draw);
    const V d4 = V_(nfma)(a, of.d3, V_(mul)(NUMBER(3.0), of.d2));
    const V d5 = V_(nfma)(a, d4, V_(mul)(NUMBER(4.0), of.d3));
    V sum = V_(nfma)(V_(mul)(w, CONSTANT(0x1.99999ap-3, 0x1.999999999999ap-3)), d5, d4);
    sum = V_(nfma)(V_(mul)(w, NUMBER(0.25)), sum, of.d3);
    sum = V_(nfma)(V_(mul)(w, CONSTANT(0x1.555556p-2, 0x1.5555555555555p-2)), sum, of.d2);
    sum = V_(nfma)(V_(mul)(w, NUMBER(0.5)), sum, of.d1);
    return V_(mul)(V_(mul)(w, draw->inverse), sum);
}

/* e^-t = v from_a + u from_b, and 1 - e^-t, which is the better number where t is small. */
typedef struct NAME(mixture) {
    V from_a, from_b, lost;
} NAME(mixture);

/* From the nearer bound on: v + u E = 1 - u (1 - E) with E = Q(b) / Q(a). */
GBS_INLINE NAME(mixture) NAME(truncnorm_side)(const NAME(draw) * draw, V u)
{
    const V one = NUMBER(1.0);
    V fall = V_(sub)(one, draw->ratio);
    if (draw->some_narrow) {
        const V drop = V_(mul)(V_(fma)(draw->w, NUMBER(0.5), draw->a), draw->w);
        const M gentle = V_(less_in)(V_(less)(draw->w, NARROW), drop, GENTLE);
        if (M_(any)(gentle))
            fall = V_(select)(gentle, fall, NAME(truncnorm_fall)(draw, draw->w));
    }
    const V less_one = V_(fma)(draw->power, draw->rise, V_(sub)(draw->power, one));
    const V density = V_(fma)(draw->power, draw->rise, draw->power);
    NAME(mixture) side;
    side.from_a = one;
    side.from_b = V_(mul)(draw->ratio, density);
    side.lost = V_(mul)(u, V_(nfma)(V_(sub)(one, fall), less_one, fall));
    return side;
}

/* From the mean on: twice the smaller of Phi(z) and Q(z), as mixtures of Phi(a) and Phi(b) or of
 * Q(a) and Q(b). */
GBS_INLINE NAME(mixture) NAME(truncnorm_middle)(NAME(draw) * draw, V u, V v)
{
    const V one = NUMBER(1.0), two = NUMBER(2.0);
    const V root = CONSTANT(0x1.988454p-1, 0x1.9884533d43651p-1); /* 2 phi(0) */
    const V density = V_(fma)(draw->power, draw->rise, draw->power);
    const V tail_a = V_(mul)(V_(mul)(density, root), draw->mills_a);
    const V tail_b = V_(mul)(V_(mul)(draw->density_b, root), draw->mills_b);
    const V delta = V_(nfma)(v, V_(sub)(one, tail_a), V_(mul)(u, V_(sub)(one, tail_b)));
    draw->left = V_(less_in)(draw->middle, delta, NUMBER(0.0)); /* delta = 2 Phi(z) - 1 */
    NAME(mixture) middle;
    middle.from_a = V_(select)(draw->left, V_(sub)(two, tail_a), tail_a);
    middle.from_b = V_(select)(draw->left, tail_b, V_(sub)(two, tail_b));
    middle.lost = V_(abs)(delta);
    return middle;
}

/* Of a uniform u, v = 1 - u.  Vectors whose lanes are all of one kind, the usual case, take its
 * part alone. */
GBS_INLINE void NAME(truncnorm_mixture_of)(NAME(draw) * draw, V u, V v)
{
    NAME(mixture) mixture;
    if (draw->some_middle) {
        mixture = NAME(truncnorm_middle)(draw, u, v);
        if (draw->some_side) {
            const NAME(mixture) side = NAME(truncnorm_side)(draw, u);
            mixture.from_a = V_(select)(draw->middle, side.from_a, mixture.from_a);
            mixture.from_b = V_(select)(draw->middle, side.from_b, mixture.from_b);
            mixture.lost = V_(select)(draw->middle, side.lost, mixture.lost);
        }
    } else {
        mixture = NAME(truncnorm_side)(draw, u);
        draw->left = draw->middle; /* none */
    }
    draw->kept = V_(fma)(v, mixture.from_a, V_(mul)(u, mixture.from_b));
    draw->lost = mixture.lost;
}

/* e^-t in two parts, 1 and a small one, or 0 and all: of kept and lost the smaller has all digits.
 */
GBS_INLINE V NAME(truncnorm_parts)(const NAME(draw) * draw, V *whole)
{
    const M close = V_(less)(draw->lost, NUMBER(0.5));
    *whole = V_(select)(close, NUMBER(0.0), NUMBER(1.0));
    return V_(select)(close, draw->kept, V_(neg)(draw->lost));
}

GBS_INLINE void NAME(truncnorm_mixture)(NAME(draw) * draw)
{
    NAME(truncnorm_mixture_of)
    (draw, NAME(unit)(draw->word), NAME(unit)(NAME(complement)(draw->word)));
}

/* d of a small t: along t z has the derivative r, r has -r d1, d1 has -r d2, d2 has -r d3, so
 * d = r t (1 - d1 t/2 + q t^2/6 - (d1 q + r (r d3 + 3 d1 d2)) t^3/24), q = r d2 + d1^2, but for
 * t^4 / 2. */
GBS_INLINE V NAME(truncnorm_series)(const NAME(draw) * draw, V t)
{
    const NAME(derivatives) of = NAME(truncnorm_derivatives)(draw);
    const V r = draw->r, d1 = of.d1, d2 = of.d2;
    const V q = V_(fma)(r, d2, V_(mul)(d1, d1));
    const V twist = V_(fma)(r, of.d3, V_(mul)(NUMBER(3.0), V_(mul)(d1, d2)));
    const V last = V_(fma)(r, twist, V_(mul)(d1, q));
    V sum = V_(nfma)(V_(mul)(t, NUMBER(0.25)), last, q);
    sum = V_(nfma)(V_(mul)(t, CONSTANT(0x1.555556p-2, 0x1.5555555555555p-2)), sum, d1);
    sum = V_(nfma)(V_(mul)(t, NUMBER(0.5)), sum, NUMBER(1.0));
    return V_(mul)(V_(mul)(r, t), sum);
}

/* The first two terms of its expansion in 1/a: t/a (1 - (1 + t/2)/a^2). */
GBS_INLINE V NAME(truncnorm_far)(const NAME(draw) * draw, V t)
{
    const V first = V_(mul)(t, draw->r), r_half = V_(mul)(draw->r, NUMBER(0.5));
    return V_(nfma)(V_(mul)(first, first), r_half, first);
}

/* What solves it:
 *   first     a solution for the next step to begin with, of FIRST_VECTORS vectors together:
 *             level, guess, ratio and step
 *   ahead     Mills' ratio at a + d, and as a multiple of R(a), of more in double
 *   refine    d by them
 *   choose    d of the kind and size at hand. */
#include EQUATION

GBS_INLINE V NAME(truncnorm_invert)(NAME(draw) * draw)
{
    NAME(first) first;
    V r, ratio, d;
    NAME(first_level)(&first, draw, 1);
    NAME(first_guess)(&first);
    NAME(first_ratio)(&first);
    NAME(first_step)(&first, &d, 1);
    NAME(truncnorm_ahead)(draw, d, &r, &ratio);
    NAME(truncnorm_compare)(draw, d, &r, &ratio);
    return NAME(truncnorm_choose)(draw, NAME(truncnorm_refine)(draw, d, r, ratio));
}

GBS_INLINE V NAME(truncnorm_place)(const NAME(draw) * draw, V m, V s, V lo, V hi, V d)
{
    const M down = M_(xor)(draw->mirrored, draw->left);
    const V from = V_(select)(draw->middle, V_(select)(draw->mirrored, lo, hi), m);
    const V x = V_(fma)(V_(negate_where)(down, s), d, from);
    return V_(min)(V_(max)(x, lo), hi);
}

/* All of it. */
GBS_INLINE V NAME(between)(V m, V s, V lo, V hi, W word)
{
    NAME(draw) draw;
    NAME(quotients) quotients;
    NAME(truncnorm_box)(&draw, m, s, lo, hi, word);
    NAME(truncnorm_quotients)(&draw, &quotients);
    NAME(truncnorm_ratios)(&draw, &quotients);
    NAME(truncnorm_densities)(&draw);
    NAME(truncnorm_mixture)(&draw);
    const V d = NAME(truncnorm_invert)(&draw);
    return NAME(truncnorm_place)(&draw, m, s, lo, hi, d);
}

#include "rng/overrelax_body.h"

#undef FARTHEST
#undef FARTHEST_CROSS
#undef FARTHEST_ABOVE
#undef FARTHEST_BELOW
#undef NARROW
#undef GENTLE
#undef SMALL
#undef LEAST_DENSITY
#undef DENSITY_THERE
#undef MILLS_AT_0
#undef ABOVE_AT_0
#undef NUMBER
#undef V
#undef M
#undef W
#undef V_
#undef M_
#undef NAME
#undef CONSTANT
#undef EQUATION
