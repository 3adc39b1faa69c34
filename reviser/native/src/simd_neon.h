/* Eight floats at a time as two NEON registers. */

#ifndef REVISER_SIMD_NEON_H
#define REVISER_SIMD_NEON_H

#include <arm_neon.h>
#include <stdint.h>

#if defined(__clang__)
#define TARGET __attribute__((target("dotprod")))
#else
#define TARGET __attribute__((target("arch=armv8.2-a+dotprod")))
#endif

typedef struct {
    float32x4_t low, high;
} v8;

#define V8_BOTH(low, high) ((v8){(low), (high)})

TARGET static inline v8 v8_splat(float x) { return V8_BOTH(vdupq_n_f32(x), vdupq_n_f32(x)); }
TARGET static inline v8 v8_load(const float *p) { return V8_BOTH(vld1q_f32(p), vld1q_f32(p + 4)); }
TARGET static inline void v8_store(float *p, v8 a) {
    vst1q_f32(p, a.low);
    vst1q_f32(p + 4, a.high);
}
TARGET static inline v8 v8_add(v8 a, v8 b) {
    return V8_BOTH(vaddq_f32(a.low, b.low), vaddq_f32(a.high, b.high));
}
TARGET static inline v8 v8_sub(v8 a, v8 b) {
    return V8_BOTH(vsubq_f32(a.low, b.low), vsubq_f32(a.high, b.high));
}
TARGET static inline v8 v8_mul(v8 a, v8 b) {
    return V8_BOTH(vmulq_f32(a.low, b.low), vmulq_f32(a.high, b.high));
}
TARGET static inline v8 v8_div(v8 a, v8 b) {
    return V8_BOTH(vdivq_f32(a.low, b.low), vdivq_f32(a.high, b.high));
}
TARGET static inline v8 v8_max(v8 a, v8 b) {
    return V8_BOTH(vmaxq_f32(a.low, b.low), vmaxq_f32(a.high, b.high));
}
TARGET static inline v8 v8_min(v8 a, v8 b) {
    return V8_BOTH(vminq_f32(a.low, b.low), vminq_f32(a.high, b.high));
}
TARGET static inline v8 v8_abs(v8 a) { return V8_BOTH(vabsq_f32(a.low), vabsq_f32(a.high)); }
TARGET static inline v8 v8_fma(v8 a, v8 b, v8 c) {
    return V8_BOTH(vfmaq_f32(c.low, a.low, b.low), vfmaq_f32(c.high, a.high, b.high));
}
TARGET static inline v8 v8_fma_scalar(v8 a, float b, v8 c) {
    return V8_BOTH(vfmaq_n_f32(c.low, a.low, b), vfmaq_n_f32(c.high, a.high, b));
}
/* Conversions between floats and whole numbers are slow here, and so is rounding. But a float of
 * this size has a unit for its last bit: to add it rounds to the nearest whole number, halves to even,
 * and leaves that number in the low bits. Good for numbers below 2^22. */
#define ROUNDER 12582912.0f

TARGET static inline v8 v8_round(v8 a) {
    v8 rounder = v8_splat(ROUNDER);
    return v8_sub(v8_add(a, rounder), rounder);
}
/* The same of a times b, which is rounded once. */
TARGET static inline v8 v8_round_product(v8 a, float b) {
    v8 rounder = v8_splat(ROUNDER);
    return v8_sub(v8_fma_scalar(a, b, rounder), rounder);
}
/* Whole numbers from -126 to 127. */
TARGET static inline v8 v8_power_of_two(v8 a) {
    v8 shifted = v8_add(a, v8_splat(ROUNDER + 127.0f));
    return V8_BOTH(vreinterpretq_f32_s32(vshlq_n_s32(vreinterpretq_s32_f32(shifted.low), 23)),
                   vreinterpretq_f32_s32(vshlq_n_s32(vreinterpretq_s32_f32(shifted.high), 23)));
}
TARGET static inline float v8_sum(v8 a) { return vaddvq_f32(vaddq_f32(a.low, a.high)); }
TARGET static inline float v8_largest(v8 a) { return vmaxvq_f32(vmaxq_f32(a.low, a.high)); }

TARGET static inline v8 v8_load_upper(const uint16_t *p) {
    uint16x8_t bits = vld1q_u16(p), zero = vdupq_n_u16(0);
    return V8_BOTH(vreinterpretq_f32_u16(vzip1q_u16(zero, bits)),
                   vreinterpretq_f32_u16(vzip2q_u16(zero, bits)));
}
TARGET static inline void v8_store_int8(int8_t *p, v8 a) {
    v8 shifted = v8_add(a, v8_splat(ROUNDER));
    int16x8_t words = vuzp1q_s16(vreinterpretq_s16_f32(shifted.low), vreinterpretq_s16_f32(shifted.high));
    vst1_s8(p, vmovn_s16(words));
}

#endif
