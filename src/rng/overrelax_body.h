/* Over-relaxation between bounds, in one type: the steps that truncnorm_body.h, which includes
 * this, leaves out.  With F the restricted distribution function and zeta = Phi^-1(F(x)), the new
 * draw is F^-1(Phi(zeta')), zeta' = -r zeta + sqrt(1 - r^2) z, z normal: it leaves F's law as it
 * is, and without bounds it is Adler's over-relaxation (1981) with weight 1 + r.
 *
 *   distance   of a point uniform in x's rounding cell from where the draw's equation starts: F of
 *              the rounded x alone would be off by the probability of a cell, which is no small one
 *              close to a bound
 *   masses     the shares u below that point and v above it; neither is 1 less the other
 *   size       |zeta|, by the equation of a box from 0 on, which has Phi^-1
 *   move       zeta', and its shares
 * Then truncnorm_mixture_of and the steps after it, as for a plain draw. */

#define LEAST_SHARE CONSTANT(0x1p-40, 0x1p-64)
#define TWICE_PEAK CONSTANT(0x1.988454p-1, 0x1.9884533d43651p-1) /* 2 phi(0) */

typedef struct NAME(shares) {
    V u, v;
} NAME(shares);

/* Phi^-1 as a draw from 0 on: Q(d) = e^-t / 2. */
GBS_INLINE void NAME(overrelax_standard)(NAME(draw) * standard)
{
    standard->start = NUMBER(0.0);
    standard->below = NUMBER(1.0);
    standard->above = ABOVE_AT_0;
    standard->r = MILLS_AT_0;
}

/* In standard deviations, counted the way the draw is turned; x in [lo, hi], the draw's word of
 * purpose 3. */
GBS_INLINE V NAME(overrelax_distance)(const NAME(draw) * draw, V m, V s, V lo, V hi, V x)
{
    const M mirrored = draw->mirrored;
    const V below = V_(sub)(lo, m), above = V_(sub)(hi, m);
    const V origin = V_(select)(draw->middle, V_(select)(mirrored, lo, hi), m);
    const V least =
        V_(select)(draw->middle, NUMBER(0.0), V_(select)(mirrored, below, V_(neg)(above)));
    const V most =
        V_(select)(draw->middle, V_(sub)(hi, lo), V_(select)(mirrored, above, V_(neg)(below)));
    const V distance = V_(negate_where)(mirrored, V_(sub)(x, origin));
    const V half = NAME(half_step)(x);
    const V first = V_(max)(V_(sub)(distance, half), least);
    const V last = V_(min)(V_(add)(distance, half), most);
    const V point = V_(fma)(NAME(unit)(draw->word), V_(sub)(last, first), first);
    return V_(mul)(point, V_(div)(NUMBER(1.0), s));
}

/* e^-x = power (1 + rise) with x held where it is as good as 0. */
GBS_INLINE V NAME(overrelax_exp)(V x, V *power)
{
    return NAME(exp_minus)(V_(min)(x, LEAST_DENSITY), power);
}

/* 2 Q(z), z >= 0. */
GBS_INLINE V NAME(overrelax_tails)(V z)
{
    V above, below, power;
    NAME(mills)(V_(min)(z, FARTHEST), &above, &below);
    const V rise = NAME(overrelax_exp)(V_(mul)(V_(mul)(z, NUMBER(0.5)), z), &power);
    const V density = V_(mul)(V_(fma)(power, rise, power), TWICE_PEAK);
    return V_(mul)(density, V_(div)(above, below));
}

/* From the nearer bound on: 1 - Q(a + d) / Q(a) and Q(a + d) / Q(a) less E = Q(b) / Q(a), both over
 * 1 - E. */
GBS_INLINE NAME(shares) NAME(overrelax_side)(const NAME(draw) * draw, V d)
{
    const V one = NUMBER(1.0), a = draw->start;
    const M near = V_(less)(a, FARTHEST);
    V above, below, power;
    NAME(mills)(V_(min)(V_(add)(a, d), FARTHEST), &above, &below);
    const V quotient = V_(div)(V_(mul)(above, draw->below), V_(mul)(below, draw->above));
    const V ratio = V_(select)(near, one, quotient);
    V drop = V_(mul)(V_(fma)(d, NUMBER(0.5), a), d);
    drop = V_(select)(near, V_(fma)(d, draw->r, drop), drop); /* far, R(a + d) is 1 / (a + d) */
    const V rise = NAME(overrelax_exp)(drop, &power);
    const M gentle = M_(and)(M_(and)(near, V_(less)(d, NARROW)), V_(less)(drop, GENTLE));
    V fall = V_(sub)(one, ratio);
    if (M_(any)(gentle))
        fall = V_(select)(gentle, fall, NAME(truncnorm_fall)(draw, d));
    const V less_one = V_(fma)(power, rise, V_(sub)(power, one));
    const V lost = V_(nfma)(V_(sub)(one, fall), less_one, fall);
    const V kept = V_(mul)(ratio, V_(fma)(power, rise, power));

    const NAME(mixture) box = NAME(truncnorm_side)(draw, one); /* lost is 1 - E, from_b is E */
    const V inverse = V_(div)(one, box.lost);
    const V left = V_(select)(V_(less)(box.lost, NUMBER(0.5)), V_(sub)(kept, box.from_b),
                              V_(sub)(box.lost, lost));
    NAME(shares) shares;
    shares.u = V_(mul)(lost, inverse);
    shares.v = V_(mul)(left, inverse);
    return shares;
}

/* From the mean on, d on either side of it. */
GBS_INLINE NAME(shares) NAME(overrelax_middle)(const NAME(draw) * draw, V d)
{
    const V two = NUMBER(2.0);
    const V density = V_(fma)(draw->power, draw->rise, draw->power);
    const V tail_a = V_(mul)(V_(mul)(density, TWICE_PEAK), draw->mills_a);
    const V tail_b = V_(mul)(V_(mul)(draw->density_b, TWICE_PEAK), draw->mills_b);
    const V tail = NAME(overrelax_tails)(V_(abs)(d)), rest = V_(sub)(two, tail);
    const M left = V_(less)(d, NUMBER(0.0));
    const V inverse = V_(div)(NUMBER(1.0), V_(sub)(V_(sub)(two, tail_a), tail_b));
    NAME(shares) shares;
    shares.u = V_(mul)(V_(sub)(V_(select)(left, rest, tail), tail_a), inverse);
    shares.v = V_(mul)(V_(sub)(V_(select)(left, tail, rest), tail_b), inverse);
    return shares;
}

/* After ratios, densities and derivatives.  Neither share is below LEAST_SHARE, nor NaN: not where
 * the box has no room either. */
GBS_INLINE NAME(shares) NAME(overrelax_masses)(const NAME(draw) * draw, V d)
{
    NAME(shares) shares;
    if (draw->some_middle) {
        shares = NAME(overrelax_middle)(draw, d);
        if (draw->some_side) {
            const NAME(shares) side = NAME(overrelax_side)(draw, d);
            shares.u = V_(select)(draw->middle, side.u, shares.u);
            shares.v = V_(select)(draw->middle, side.v, shares.v);
        }
    } else {
        shares = NAME(overrelax_side)(draw, d);
    }
    shares.u = V_(max)(shares.u, LEAST_SHARE);
    shares.v = V_(max)(shares.v, LEAST_SHARE);
    return shares;
}

/* |zeta|: e^-t is twice the smaller share. */
GBS_INLINE V NAME(overrelax_size)(NAME(draw) standard, NAME(shares) of)
{
    const V smaller = V_(min)(of.u, of.v), apart = V_(abs)(V_(sub)(of.u, of.v));
    standard.kept = V_(add)(smaller, smaller);
    standard.lost = apart;
    return NAME(truncnorm_invert)(&standard);
}

/* zeta' and its shares; size is |zeta|, z the normal, r and beside = sqrt(1 - r^2). */
GBS_INLINE NAME(shares)
    NAME(overrelax_move)(const NAME(draw) * draw, NAME(shares) of, V size, V z, V r, V beside)
{
    const V zeta = V_(negate_where)(V_(less)(of.u, of.v), size);
    const V moved = V_(nfma)(r, zeta, V_(mul)(beside, V_(negate_where)(draw->mirrored, z)));
    const V tail =
        V_(max)(V_(mul)(NUMBER(0.5), NAME(overrelax_tails)(V_(abs)(moved))), LEAST_SHARE);
    const V rest = V_(sub)(NUMBER(1.0), tail);
    const M left = V_(less)(moved, NUMBER(0.0));
    NAME(shares) shares;
    shares.u = V_(select)(left, rest, tail);
    shares.v = V_(select)(left, tail, rest);
    return shares;
}

/* All of it: the normal between lo and hi again, over-relaxed from x in [lo, hi]. */
GBS_INLINE V NAME(overrelaxed)(V m, V s, V lo, V hi, V x, V z, W word, V r, V beside)
{
    NAME(draw) draw, standard;
    NAME(quotients) quotients;
    NAME(overrelax_standard)(&standard);
    NAME(truncnorm_box)(&draw, m, s, lo, hi, word);
    NAME(truncnorm_quotients)(&draw, &quotients);
    NAME(truncnorm_ratios)(&draw, &quotients);
    NAME(truncnorm_densities)(&draw);
    const V d = NAME(overrelax_distance)(&draw, m, s, lo, hi, x);
    const NAME(shares) old = NAME(overrelax_masses)(&draw, d);
    const V size = NAME(overrelax_size)(standard, old);
    const NAME(shares) moved = NAME(overrelax_move)(&draw, old, size, z, r, beside);
    NAME(truncnorm_mixture_of)(&draw, moved.u, moved.v);
    const V to = NAME(truncnorm_invert)(&draw);
    return NAME(truncnorm_place)(&draw, m, s, lo, hi, to);
}

#undef LEAST_SHARE
#undef TWICE_PEAK
