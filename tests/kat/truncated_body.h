/* truncated.h in one vocabulary.  The including file has chosen the vocabulary and defines
 *   TRUNCATED_NAME  the name of the instance: truncated_scalar ... */
#include "kat/truncated.h"
#include "rng/truncnorm.h"

#include <string.h>

/* map_##type and draw_##type over vectors V and words W of LANES elements of T. */
#define DEFINE_FUNCTIONS(type, T, V, W, Word, LANES, vf_, vfm_)                                    \
    static void map_##type(int64_t n, const T *a, const T *w, const Word *word, T *d, int *middle) \
    {                                                                                              \
        for (int64_t i = 0; i < n; i += LANES) {                                                   \
            gbs_quotients_##type quotients;                                                        \
            gbs_draw_##type draw;                                                                  \
            T one[LANES];                                                                          \
            memcpy(&draw.a, a + i, sizeof draw.a);                                                 \
            memcpy(&draw.w, w + i, sizeof draw.w);                                                 \
            memcpy(&draw.word, word + i, sizeof draw.word);                                        \
            draw.b = vf_##add(draw.a, draw.w);                                                     \
            gbs_truncnorm_quotients_##type(&draw, &quotients);                                     \
            gbs_truncnorm_ratios_##type(&draw, &quotients);                                        \
            gbs_truncnorm_densities_##type(&draw);                                                 \
            gbs_truncnorm_mixture_##type(&draw);                                                   \
            const V far = gbs_truncnorm_invert_##type(&draw);                                      \
            const V signed_d = vf_##negate_where(vfm_## and (draw.middle, draw.left), far);        \
            const V flag = vf_##select(draw.middle, vf_##set1((T)0), vf_##set1((T)1));             \
            memcpy(d + i, &signed_d, sizeof signed_d);                                             \
            memcpy(one, &flag, sizeof flag);                                                       \
            for (int lane = 0; lane < LANES; ++lane)                                               \
                middle[i + lane] = one[lane] > 0;                                                  \
        }                                                                                          \
    }                                                                                              \
    static void draw_##type(int64_t n, const T *m, const T *s, const T *lo, const T *hi,           \
                            const Word *word, T *x)                                                \
    {                                                                                              \
        for (int64_t i = 0; i < n; i += LANES) {                                                   \
            V in[4];                                                                               \
            W words;                                                                               \
            memcpy(&in[0], m + i, sizeof in[0]);                                                   \
            memcpy(&in[1], s + i, sizeof in[1]);                                                   \
            memcpy(&in[2], lo + i, sizeof in[2]);                                                  \
            memcpy(&in[3], hi + i, sizeof in[3]);                                                  \
            memcpy(&words, word + i, sizeof words);                                                \
            const V out = gbs_between_##type(in[0], in[1], in[2], in[3], words);                   \
            memcpy(x + i, &out, sizeof out);                                                       \
        }                                                                                          \
    }

DEFINE_FUNCTIONS(f32, float, vf, vw, uint32_t, VF_LANES, vf_, vfm_)
DEFINE_FUNCTIONS(f64, double, vd, vq, uint64_t, VD_LANES, vd_, vdm_)

#define TRUNCATED_STRING_(name) #name
#define TRUNCATED_STRING(name) TRUNCATED_STRING_(name)

const truncated_instance TRUNCATED_NAME = {TRUNCATED_STRING(TRUNCATED_NAME), map_f32, map_f64,
                                           draw_f32, draw_f64};
