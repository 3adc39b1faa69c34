/* The level for x86 processors with AVX2 and FMA. */

#if defined(__x86_64__) && !defined(REVISER_LEFT_OUT)

#include <math.h>
#include <string.h>

#include "kernels.h"
#include "simd_avx2.h"

static bool has_avx2(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

/* Steps of sums, written out and in this order: compilers choose others and then run out of registers.
 *
 * At 4 bits sums are sixteen, of pairs. A pair of products is at most 2 * 15 * 127, and a group adds eight of them: 30480 still
 * fits 16 bits, so widening can wait until the group is done. */
TARGET static inline void add_nibbles(__m256i *sum, __m256i nibbles, const int8_t *codes) {
    __m256i products;
    __asm__ volatile("vpbroadcastd %3, %1\n\t"
            "vpmaddubsw %1, %2, %1\n\t"
            "vpaddw %1, %0, %0"
            : "+x"(*sum), "=&x"(products)
            : "x"(nibbles), "m"(*(const Lane *)codes));
}
TARGET static inline __m256i finish_nibbles(__m256i sum) {
    return _mm256_madd_epi16(sum, _mm256_set1_epi16(1));
}

/* The instructions want one factor unsigned: the weight's sign moves to the other. A pair of products is at most 2 * 127 * 127,
 * which 16 bits hold, but not two of them. */
TARGET static inline void add_bytes(__m256i *sum, __m256i bytes, const int8_t *codes) {
    __m256i products;
    __asm__ volatile("vpbroadcastd %3, %1\n\t"
            "vpsignb %2, %1, %1\n\t"
            "vpmaddubsw %1, %4, %1\n\t"
            "vpmaddwd %5, %1, %1\n\t"
            "vpaddd %1, %0, %0"
            : "+x"(*sum), "=&x"(products)
            : "x"(bytes), "m"(*(const Lane *)codes), "x"(_mm256_abs_epi8(bytes)), "x"(_mm256_set1_epi16(1)));
}
TARGET static inline __m256i start_bytes(const int32_t *start) {
    (void)start;
    return _mm256_setzero_si256();
}

TARGET static inline void add_pairs(__m256i *sum, __m256i numbers, __m256i codes) {
    __m256i products;
    __asm__ volatile("vpmaddwd %3, %2, %1\n\t"
                     "vpaddd %1, %0, %0"
                     : "+x"(*sum), "=&x"(products)
                     : "x"(numbers), "x"(codes));
}
#define ATTENTION_FILE "words_avx2.h"

#define NIBBLE_MASK 0
#define QUANTISE4 quantise
#include "multiply_avx2.h"

#define LEVEL_NAME "avx2"
#define LEVEL_SUPPORTED has_avx2
#define LEVEL_KERNELS kernels_avx2
#include "kernels_common.h"

#elif defined(__x86_64__)

#include "kernels.h"

LEAVE_OUT(avx2);

#else
typedef int reviser_level_avx2_is_for_x86; /* a translation unit must not be empty */
#endif
