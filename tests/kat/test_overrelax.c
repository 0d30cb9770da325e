/* Over-relaxed draws between bounds against the definition in long double: v = F(y) at the point of
 * x's rounding cell that the word names, zeta = Phi^-1(v), zeta' = -r zeta + sqrt(1 - r^2) z, and
 * F(x') must be Phi(zeta').  Boxes from straddling to 30 standard deviations out, words 0 and all
 * ones among them; nothing outside, the mirror image to the bit.
 *
 * F(x') may be off by twice what a plain draw's may, E = 2e-5 (float) or 4e-11 (double), once for
 * the last step and once for the tail that zeta' becomes, and by what an error of v does there.  v
 * is good to E times the smaller of v and 1 - v and some roundings of the larger tail over the
 * box's mass; no share counts as less than 2^-40, 2^-64.  The rounding of x' adds the density there
 * times half its step, that of m and s in (x - m) / s the density at y times |y - m| eps. */
#include "exact/trial.h"
#include "rng/vocab_scalar.h"
#include "rng/truncnorm.h"

#include <float.h>

typedef long double wide;

static wide tail(wide z) /* Q */
{
    return erfcl(z / sqrtl(2)) / 2;
}

static wide density(wide z)
{
    return expl(-z * z / 2) / sqrtl(2 * acosl(-1));
}

/* A box in standard deviations, turned so that the nearer bound is below; masses in units of the
 * tail beyond it where it is above the mean. */
typedef struct frame {
    wide a, b, total;
    int mirrored;
} frame;

static frame frame_of(wide m, wide s, wide lo, wide hi)
{
    frame f = {(lo - m) / s, (hi - m) / s, 0, 0};
    if (fabsl(f.b) < fabsl(f.a)) {
        const wide a = f.a;
        f.a = -f.b;
        f.b = -a;
        f.mirrored = 1;
    }
    f.total = tail(f.a) - tail(f.b);
    return f;
}

/* Shares below and above z, of the frame. */
static void shares(const frame *f, wide z, wide *u, wide *v)
{
    *u = (tail(f->a) - tail(z)) / f->total;
    *v = (tail(z) - tail(f->b)) / f->total;
    if (f->a < 0 && z < 0) { /* both from the left */
        *u = (tail(-z) - tail(-f->a)) / f->total;
        *v = 1 - *u;
    }
}

/* z with Q(|z|) the smaller share. */
static wide score(wide u, wide v)
{
    const wide smaller = u < v ? u : v;
    wide low = 0, high = 40;
    for (int step = 0; step < 80; ++step) {
        const wide middle = (low + high) / 2;
        if (tail(middle) > smaller)
            low = middle;
        else
            high = middle;
    }
    return u < v ? -low : low;
}

typedef struct instance {
    gbs_type type;
    double m, s, lo, hi, x, z, r;
    uint64_t word;
} instance;

static double apply(const instance *i)
{
    const double beside = sqrt((1 - i->r) * (1 + i->r));
    if (i->type == GBS_F64)
        return gbs_overrelaxed_f64(i->m, i->s, i->lo, i->hi, i->x, i->z, i->word, i->r, beside);
    return (double)gbs_overrelaxed_f32((float)i->m, (float)i->s, (float)i->lo, (float)i->hi,
                                       (float)i->x, (float)i->z, (uint32_t)i->word, (float)i->r,
                                       (float)beside);
}

static double step_of(gbs_type type, double x)
{
    const double size = fabs(x);
    return type == GBS_F32 ? (double)nextafterf((float)size, INFINITY) - size
                           : nextafter(size, INFINITY) - size;
}

/* Phi(zeta'). */
static wide moved(const instance *i, wide sign, wide u, wide v)
{
    const wide least = i->type == GBS_F32 ? 0x1p-40L : 0x1p-64L;
    const wide zeta = score(u < least ? least : u, v < least ? least : v), r = i->r;
    return tail(r * zeta - sqrtl((1 - r) * (1 + r)) * sign * i->z);
}

/* How far F(x') is beyond what v's errors allow, over the rest of the bound. */
static double judge(const instance *i, double got)
{
    const wide eps = i->type == GBS_F32 ? FLT_EPSILON : DBL_EPSILON;
    const wide good = i->type == GBS_F32 ? 2e-5L : 4e-11L;
    const wide bits = i->type == GBS_F32 ? 32 : 53;
    const frame f = frame_of(i->m, i->s, i->lo, i->hi);
    const wide unit = ((wide)i->word + 0.5L) / exp2l(bits), half = step_of(i->type, i->x) / 2;
    const wide first = fmaxl(i->x - half, i->lo), last = fminl(i->x + half, i->hi);
    const wide y = first + unit * (last - first), sign = f.mirrored ? -1 : 1;
    const wide at = sign * (y - i->m) / i->s, to = sign * ((wide)got - i->m) / i->s;
    wide u, v, u1, v1;
    shares(&f, at, &u, &v);
    const wide near_tail = f.a > 0 ? tail(f.a) : 0.5L;
    const wide smaller = u < v ? u : v, share_error = good * smaller +
                                                      8 * eps * near_tail / f.total +
                                                      density(at) / f.total * fabsl(at) * eps;
    const wide from = moved(i, sign, u + share_error, v - share_error),
               upto = moved(i, sign, u - share_error, v + share_error);
    shares(&f, to, &u1, &v1);
    const wide room =
        2 * good + density(to) / f.total * (fabsl(to) * eps + step_of(i->type, got) / i->s);
    const wide beyond = u1 < from ? from - u1 : u1 > upto ? u1 - upto : 0;
    return (double)(beyond / room);
}

/* Inlined, gcc 12 loses the rounding. */
static __attribute__((noinline)) double in_type(gbs_type type, double x)
{
    return type == GBS_F32 ? (double)(float)x : x;
}

static void test_definition(void **state)
{
    (void)state;
    static const double boxes[][2] = {{0, INFINITY}, {-1, 2},     {-0.3, 0.2},    {1, 1.5},
                                      {3, INFINITY}, {5, 5.25},   {-2, 9},        {0.5, 0.52},
                                      {8, 9},        {12, 12.01}, {30, INFINITY}, {-8, -5}};
    static const double rs[] = {0.3, 0.8, 0.95};
    uint64_t seed = 3;
    int64_t count = 0;
    double worst[2] = {0, 0};
    for (int64_t turn = 0; turn < (quick() ? 4000 : 60000); ++turn)
        for (int type = GBS_F32; type <= GBS_F64; ++type, ++count) {
            const double *const box = boxes[turn % COUNT(boxes)];
            const double share = (next_signed(&seed) + 1) / 2;
            instance i = {.type = (gbs_type)type, .r = rs[turn / 12 % 3]};
            i.m = in_type(i.type, 2 * next_signed(&seed));
            i.s = in_type(i.type, exp2(3 * next_signed(&seed)));
            i.lo = in_type(i.type, i.m + i.s * box[0]);
            i.hi = in_type(i.type, i.m + i.s * box[1]);
            /* anywhere the law is likely to be, the bounds and their neighbours among it */
            const double reach = fmin(box[1] - box[0], box[0] > 1 ? 6 / box[0] : 4);
            i.x = in_type(i.type, i.lo + i.s * reach * (turn % 5 == 0 ? 1e-6 * share : share));
            i.x = fmin(fmax(turn % 31 == 0 ? i.lo : i.x, i.lo), i.hi);
            i.z = in_type(i.type, 2.5 * next_signed(&seed));
            i.r = in_type(i.type, i.r);
            i.word = turn % 17 == 0 ? 0 : turn % 19 == 0 ? UINT64_MAX : next_word(&seed);
            i.word &= type == GBS_F32 ? UINT64_C(0xFFFFFFFF) : UINT64_C(0x1FFFFFFFFFFFFF);
            const double got = apply(&i), error = judge(&i, got);
            if (!(got >= i.lo && got <= i.hi) || !(error <= 1))
                fail_msg("type %d: m %a, s %a, [%a, %a], x %a, z %a, word %llx, r %g: got %a, "
                         "error %.3g of the bound",
                         type, i.m, i.s, i.lo, i.hi, i.x, i.z, (unsigned long long)i.word, i.r, got,
                         error);
            worst[type] = fmax(worst[type], error);
            const instance mirror = {
                i.type,
                -i.m,
                i.s,
                -i.hi,
                -i.lo,
                -i.x,
                -i.z,
                i.r,
                i.word ^ (type == GBS_F32 ? UINT64_C(0xFFFFFFFF) : UINT64_C(0x1FFFFFFFFFFFFF))};
            if (apply(&mirror) != -got)
                fail_msg("mirror image: expected %a, got %a, bound 0", -got, apply(&mirror));
        }
    printf("checked: %lld over-relaxed draws, worst %.2f (float) and %.2f (double) of the bound\n",
           (long long)count, worst[0], worst[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_definition)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
