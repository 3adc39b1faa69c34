/* What rounded attention does with registers of 256 bits, in terms of the level's `add_pairs`. Included at the end of a level, with
 * attention_x86.h. */

enum { LANES = 8, SET = 6, MOST_SUMS = 12 };
typedef v8 Floats;
typedef __m256i Pairs;

#define floats_splat v8_splat
#define floats_load v8_load
#define floats_store v8_store
#define floats_mul v8_mul
#define floats_max v8_max
#define floats_abs v8_abs
#define floats_fma v8_fma
#define floats_largest v8_largest

INLINE Pairs pairs_zero(void) { return _mm256_setzero_si256(); }
INLINE Pairs pairs_load(const void *from) { return _mm256_loadu_si256(from); }
INLINE Floats pairs_floats(Pairs sums) { return _mm256_cvtepi32_ps(sums); }

INLINE void dot_pairs(Pairs *sums, const Pairs *numbers, const int count, const int16_t *codes) {
    Pairs both = _mm256_set1_epi32(*(const Lane *)codes);
    for (int i = 0; i < count; i++) add_pairs(&sums[i], numbers[i], both);
}

INLINE __m128i eight_words(Floats a) {
    __m256i whole = _mm256_cvtps_epi32(a);
    return _mm_packs_epi32(_mm256_castsi256_si128(whole), _mm256_extracti128_si256(whole, 1));
}

INLINE void put_words(int16_t *to, Floats a) { _mm_storeu_si128((__m128i *)to, eight_words(a)); }

INLINE void put_every_other_word(int16_t *to, Floats a) {
    int16_t words[LANES];
    put_words(words, a);
    for (int i = 0; i < LANES; i++) to[2 * i] = words[i];
}

#include "attention_x86.h"
