/* What rounded attention does with registers of 512 bits. Included at the end of a level, with attention_x86.h. */

enum { LANES = 16, SET = 12, MOST_SUMS = 24 };
typedef __m512 Floats;
typedef __m512i Pairs;

INLINE Floats floats_splat(float x) { return _mm512_set1_ps(x); }
INLINE Floats floats_load(const float *from) { return _mm512_loadu_ps(from); }
INLINE void floats_store(float *to, Floats a) { _mm512_storeu_ps(to, a); }
INLINE Floats floats_mul(Floats a, Floats b) { return _mm512_mul_ps(a, b); }
INLINE Floats floats_max(Floats a, Floats b) { return _mm512_max_ps(a, b); }
INLINE Floats floats_abs(Floats a) { return _mm512_abs_ps(a); }
INLINE Floats floats_fma(Floats a, Floats b, Floats c) { return _mm512_fmadd_ps(a, b, c); }
INLINE float floats_largest(Floats a) { return _mm512_reduce_max_ps(a); }

INLINE Pairs pairs_zero(void) { return _mm512_setzero_si512(); }
INLINE Pairs pairs_load(const void *from) { return _mm512_loadu_si512(from); }
INLINE Floats pairs_floats(Pairs sums) { return _mm512_cvtepi32_ps(sums); }

/* Written out as dot_fours. */
INLINE void dot_pairs(Pairs *sums, const Pairs *numbers, const int count, const int16_t *codes) {
    for (int i = 0; i < count; i++)
        __asm__("vpdpwssd %2%{1to16%}, %1, %0" : "+v"(sums[i]) : "v"(numbers[i]), "m"(*(const Lane *)codes));
}

INLINE void put_words(int16_t *to, Floats a) {
    _mm256_storeu_si256((__m256i *)to, _mm512_cvtepi32_epi16(_mm512_cvtps_epi32(a)));
}

INLINE void put_every_other_word(int16_t *to, Floats a) {
    _mm512_mask_storeu_epi16(to, 0x55555555u, _mm512_cvtps_epi32(a));
}

#include "attention_x86.h"
