/* Eight floats at a time in an AVX register. */

#ifndef REVISER_SIMD_AVX2_H
#define REVISER_SIMD_AVX2_H

#include <immintrin.h>
#include <stdint.h>

/* A level may ask for more than this before including the file. */
#ifndef TARGET
#define TARGET __attribute__((target("avx2,fma")))
#endif

typedef __m256 v8;

TARGET static inline v8 v8_splat(float x) { return _mm256_set1_ps(x); }
TARGET static inline v8 v8_load(const float *p) { return _mm256_loadu_ps(p); }
TARGET static inline void v8_store(float *p, v8 a) { _mm256_storeu_ps(p, a); }
TARGET static inline v8 v8_add(v8 a, v8 b) { return _mm256_add_ps(a, b); }
TARGET static inline v8 v8_sub(v8 a, v8 b) { return _mm256_sub_ps(a, b); }
TARGET static inline v8 v8_mul(v8 a, v8 b) { return _mm256_mul_ps(a, b); }
TARGET static inline v8 v8_div(v8 a, v8 b) { return _mm256_div_ps(a, b); }
TARGET static inline v8 v8_max(v8 a, v8 b) { return _mm256_max_ps(a, b); }
TARGET static inline v8 v8_min(v8 a, v8 b) { return _mm256_min_ps(a, b); }
TARGET static inline v8 v8_abs(v8 a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a); }
TARGET static inline v8 v8_fma(v8 a, v8 b, v8 c) { return _mm256_fmadd_ps(a, b, c); }
TARGET static inline v8 v8_fma_scalar(v8 a, float b, v8 c) {
    return _mm256_fmadd_ps(a, _mm256_set1_ps(b), c);
}
TARGET static inline v8 v8_round(v8 a) {
    return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
TARGET static inline v8 v8_round_product(v8 a, float b) { return v8_round(v8_mul(a, v8_splat(b))); }
TARGET static inline v8 v8_power_of_two(v8 a) {
    __m256i exponent = _mm256_add_epi32(_mm256_cvtps_epi32(a), _mm256_set1_epi32(127));
    return _mm256_castsi256_ps(_mm256_slli_epi32(exponent, 23));
}
TARGET static inline float v8_sum(v8 a) {
    __m128 half = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    half = _mm_hadd_ps(half, half);
    return _mm_cvtss_f32(_mm_hadd_ps(half, half));
}
TARGET static inline float v8_largest(v8 a) {
    __m128 half = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    half = _mm_max_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_max_ss(half, _mm_shuffle_ps(half, half, 1)));
}
TARGET static inline v8 v8_load_upper(const uint16_t *p) {
    __m256i bits = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p));
    return _mm256_castsi256_ps(_mm256_slli_epi32(bits, 16));
}
TARGET static inline void v8_store_int8(int8_t *p, v8 a) {
    __m256i whole = _mm256_cvtps_epi32(a);
    __m128i words =
        _mm_packs_epi32(_mm256_castsi256_si128(whole), _mm256_extracti128_si256(whole, 1));
    _mm_storel_epi64((__m128i *)p, _mm_packs_epi16(words, words));
}

/* A number in a lane of a vector, read as what it is. */
typedef int32_t Lane __attribute__((may_alias));

/* Ask for what lies `distance` bytes behind a tile, since a processor does not go on by itself from one page to the next. Past the
 * end of the weights this does nothing. */
TARGET static inline __attribute__((always_inline)) void ask_ahead(const void *tile, size_t bytes, size_t distance) {
    for (size_t at = 0; at < bytes; at += 64) _mm_prefetch((const char *)tile + distance + at, _MM_HINT_T0);
}

#define MANY 12 /* a register of sums for each: enough that none waits for its last sum, and four are left */

/* Add `a` times one of twelve numbers to each of twelve sums. */
TARGET static inline __attribute__((always_inline)) void v8_fma_many(v8 a, const float *numbers, v8 *sum) {
    _Pragma("GCC unroll 12") for (int r = 0; r < MANY; r++)
        sum[r] = _mm256_fmadd_ps(a, _mm256_broadcast_ss(numbers + r), sum[r]);
}

/* Twelve rows of `count` numbers, `width` apart, number by number. Reads whole fours, which rows have. */
TARGET static inline void v8_turn_many(const float *rows, int width, int count, float *out) {
    for (int t = 0; t < count; t += 4)
        for (int r = 0; r < MANY; r += 4) {
            const float *from = rows + r * width + t;
            __m128 a = _mm_loadu_ps(from), b = _mm_loadu_ps(from + width);
            __m128 c = _mm_loadu_ps(from + 2 * width), d = _mm_loadu_ps(from + 3 * width);
            float *to = out + t * MANY + r;
            _MM_TRANSPOSE4_PS(a, b, c, d);
            _mm_storeu_ps(to, a);
            _mm_storeu_ps(to + MANY, b);
            _mm_storeu_ps(to + 2 * MANY, c);
            _mm_storeu_ps(to + 3 * MANY, d);
        }
}

#endif
