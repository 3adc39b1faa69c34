/* The level for x86 processors with AVX2, FMA and half-precision conversion. */

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
/* A pair of byte products is at most 2 * 127 * 127, which 16 bits hold, but not two of them. */
TARGET static inline __m256i dot_bytes(__m256i sum, __m256i sizes, __m256i codes) {
    __m256i pairs = _mm256_maddubs_epi16(sizes, codes);
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}

#include "multiply_avx2.h"

#define LEVEL_NAME "avx2"
#define LEVEL_SUPPORTED has_avx2
#define LEVEL_KERNELS kernels_avx2
#include "kernels_common.h"

#else
typedef int reviser_level_avx2_is_for_x86; /* a translation unit must not be empty */
#endif
