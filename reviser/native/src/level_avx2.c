/* The level for x86 processors with AVX2 and FMA. */

#if defined(__x86_64__)

#include <math.h>
#include <string.h>

#include "kernels.h"
#include "simd_avx2.h"

static bool has_avx2(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

/* Sixteen sums of pairs. A pair of nibble products is at most 2 * 15 * 127, and a group adds eight of
 * them: 30480 still fits 16 bits, so widening can wait until the group is done. */
TARGET static inline __m256i dot_nibbles(__m256i sum, __m256i nibbles, __m256i codes) {
    return _mm256_add_epi16(sum, _mm256_maddubs_epi16(nibbles, codes));
}
TARGET static inline __m256i finish_nibbles(__m256i sum) {
    return _mm256_madd_epi16(sum, _mm256_set1_epi16(1));
}

#include "multiply_avx2.h"

/* A pair of byte products is at most 2 * 127 * 127, which 16 bits hold, but not two of them. */
INLINE __m256i dot_bytes(__m256i sum, __m256i sizes, __m256i codes) {
    __m256i pairs = _mm256_maddubs_epi16(sizes, codes);
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}

INLINE void multiply_panel8(const unsigned char *panel, int groups, const Activations *in,
                              int position, const int count, float *out) {
    const PanelHead *head = (const PanelHead *)panel;
    const Tile8 *tile = (const Tile8 *)(head + 1);
    const int8_t *codes = in->codes + (size_t)position * (size_t)in->cols;
    const float *scales = in->scales + (size_t)position * (size_t)in->groups;
    v8 scaled[QUAD];
    for (int p = 0; p < count; p++) scaled[p] = v8_splat(0.0f);
    for (int group = 0; group < groups; group++, tile++, codes += GROUP) {
        __m256i dot[QUAD];
        for (int p = 0; p < count; p++) dot[p] = _mm256_setzero_si256();
        for (int j = 0; j < GROUP / 4; j++) {
            __m256i weight = _mm256_loadu_si256((const __m256i *)tile->codes[j]);
            /* The instructions want one factor unsigned: move the weight's sign to the other. */
            __m256i size = _mm256_abs_epi8(weight);
            for (int p = 0; p < count; p++) {
                __m256i fours = four(codes + p * in->cols + 4 * j);
                dot[p] = dot_bytes(dot[p], size, _mm256_sign_epi8(fours, weight));
            }
        }
        for (int p = 0; p < count; p++)
            scaled[p] = v8_fma_scalar(_mm256_cvtepi32_ps(dot[p]), scales[p * groups + group], scaled[p]);
    }
    for (int p = 0; p < count; p++)
        v8_store(out + p * PANEL, v8_mul(scaled[p], v8_load(head->scales)));
}

#define LEVEL_NAME "avx2"
#define LEVEL_SUPPORTED has_avx2
#define LEVEL_KERNELS kernels_avx2
#include "kernels_common.h"

#else
typedef int reviser_level_avx2_is_for_x86; /* a translation unit must not be empty */
#endif
