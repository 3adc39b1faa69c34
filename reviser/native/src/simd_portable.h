/* Eight floats at a time in plain C, for processors that no other level knows. */

#ifndef REVISER_SIMD_PORTABLE_H
#define REVISER_SIMD_PORTABLE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#define TARGET

typedef struct {
    float lane[8];
} v8;

#define V8_LANES(expression)                                  \
    do {                                                      \
        v8 result;                                            \
        for (int i = 0; i < 8; i++) result.lane[i] = (expression); \
        return result;                                        \
    } while (0)

static inline v8 v8_splat(float x) { V8_LANES(x); }
static inline v8 v8_load(const float *p) { V8_LANES(p[i]); }
static inline void v8_store(float *p, v8 a) { memcpy(p, a.lane, sizeof a.lane); }
static inline v8 v8_add(v8 a, v8 b) { V8_LANES(a.lane[i] + b.lane[i]); }
static inline v8 v8_sub(v8 a, v8 b) { V8_LANES(a.lane[i] - b.lane[i]); }
static inline v8 v8_mul(v8 a, v8 b) { V8_LANES(a.lane[i] * b.lane[i]); }
static inline v8 v8_div(v8 a, v8 b) { V8_LANES(a.lane[i] / b.lane[i]); }
static inline v8 v8_max(v8 a, v8 b) { V8_LANES(a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i]); }
static inline v8 v8_min(v8 a, v8 b) { V8_LANES(a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i]); }
static inline v8 v8_abs(v8 a) { V8_LANES(fabsf(a.lane[i])); }
static inline v8 v8_fma(v8 a, v8 b, v8 c) { V8_LANES(a.lane[i] * b.lane[i] + c.lane[i]); }
static inline v8 v8_fma_scalar(v8 a, float b, v8 c) { V8_LANES(a.lane[i] * b + c.lane[i]); }

/* Nearest whole number, halves to even, for |x| below 2^22: the addition rounds, and the volatile
 * keeps the compiler from reasoning it away. */
static inline float round_even(float x) {
    volatile float shifted = x + 12582912.0f;
    return shifted - 12582912.0f;
}
static inline v8 v8_round(v8 a) { V8_LANES(round_even(a.lane[i])); }
static inline v8 v8_round_product(v8 a, float b) { V8_LANES(round_even(a.lane[i] * b)); }

/* 2 to the power of a whole number from -126 to 127, by writing the exponent bits. */
static inline v8 v8_power_of_two(v8 a) {
    v8 result;
    for (int i = 0; i < 8; i++) {
        uint32_t bits = (uint32_t)((int32_t)a.lane[i] + 127) << 23;
        memcpy(&result.lane[i], &bits, sizeof bits);
    }
    return result;
}

/* Sums and maxima pair lanes as the vector units do, so that levels differ as little as possible. */
static inline float v8_sum(v8 a) {
    float half[4];
    for (int i = 0; i < 4; i++) half[i] = a.lane[i] + a.lane[i + 4];
    return (half[0] + half[1]) + (half[2] + half[3]);
}
static inline float v8_largest(v8 a) {
    float largest = a.lane[0];
    for (int i = 1; i < 8; i++) largest = a.lane[i] > largest ? a.lane[i] : largest;
    return largest;
}

static inline v8 v8_load_upper(const uint16_t *p) {
    v8 result;
    for (int i = 0; i < 8; i++) {
        uint32_t bits = (uint32_t)p[i] << 16;
        memcpy(&result.lane[i], &bits, sizeof bits);
    }
    return result;
}
/* Lanes hold whole numbers from -127 to 127. */
static inline void v8_store_int8(int8_t *p, v8 a) {
    for (int i = 0; i < 8; i++) p[i] = (int8_t)a.lane[i];
}

#endif
