/* The level for ARM processors with the dot-product instructions of ARMv8.2. */

#if defined(__aarch64__)

#include <math.h>
#include <string.h>
#if defined(__linux__)
#include <sys/auxv.h>
#endif

#include "kernels.h"
#include "simd_neon.h"

static bool has_dot_product(void) {
#if defined(__linux__)
    return getauxval(AT_HWCAP) & (1ul << 20); /* HWCAP_ASIMDDP, which old headers do not name */
#elif defined(__APPLE__)
    return true;
#else
    return false;
#endif
}

#define INLINE TARGET static inline __attribute__((always_inline))
#define TINY 1e-30f
#define AHEAD 768

/* Conversions between whole numbers and floats are slow here, so bits are put in their places instead.
 *
 * A sum of products that starts from MAGIC is, read as a float, 12582912 plus the sum: the exponent
 * makes a unit of the last bit. That holds for sums under 2^22, which no group reaches. */
#define MAGIC 0x4b400000
#define MAGIC_FLOAT 12582912.0f

/* A scale or minimum, put into the third byte of a float, is 2^-133 times itself. The input's scales and
 * the row's make up for that, in two parts since one float cannot hold the whole. */
#define INPUT_LIFT 0x1p100f
#define ROW_LIFT 0x1p33f

/* Codes of 4-bit products.
 *
 * A byte b of two weights is 16 h + l. To split it costs two instructions for two products. Half of
 * that is saved by not isolating h: with x the input that h meets and y the one that l meets,
 *
 *     h x + l y  =  b (x / 16) + l (y - x / 16)
 *
 * so the inputs kept are a = x and c = y - x / 16, and a group's product is sum(b a) / 16 + sum(l c).
 * The dot product reads b as signed, hence the packed high nibble is h - 8 in two's complement, and
 * 8 sum(a) makes up for it. */
#define NIBBLE_MASK 0x80

/* Inputs of a group's bytes: a and c of the comment above. */
INLINE void pair_inputs(const float *values, v8 *a, v8 *c) {
    for (int i = 0; i < 2; i++) {
        a[i] = v8_load(values + GROUP / 2 + 8 * i);
        c[i] = v8_fma_scalar(a[i], -1.0f / 16, v8_load(values + 8 * i));
    }
}

TARGET static void quantise_pairs(const Activations *in, int position) {
    const float *values = in->values + (size_t)position * (size_t)in->cols;
    int8_t *codes = in->codes + (size_t)position * (size_t)in->cols;
    size_t first = (size_t)position * (size_t)in->groups;
    float *scales = in->scales + first, *sums = in->sums + first;
    int32_t *starts = in->starts + 4 * first;
    v8 a[2], c[2];
    /* In two rounds, so that groups need not wait for one another's divisions. */
    for (int group = 0; group < in->groups; group++) {
        pair_inputs(values + group * GROUP, a, c);
        v8 high = v8_max(v8_abs(a[0]), v8_abs(a[1])), low = v8_max(v8_abs(c[0]), v8_abs(c[1]));
        scales[group] = v8_largest(v8_max(high, low)) * (1.0f / 127);
    }
    for (int group = 0; group < in->groups; group++) {
        float scale = scales[group];
        v8 inverse = v8_splat(scale > TINY ? 1.0f / scale : 0.0f);
        pair_inputs(values + group * GROUP, a, c);
        for (int i = 0; i < 2; i++) {
            a[i] = v8_round(v8_mul(a[i], inverse));
            c[i] = v8_round(v8_mul(c[i], inverse));
            v8_store_int8(codes + group * GROUP + GROUP / 2 + 8 * i, a[i]);
            v8_store_int8(codes + group * GROUP + 8 * i, c[i]);
        }
        float a_sum = v8_sum(v8_add(a[0], a[1])), c_sum = v8_sum(v8_add(c[0], c[1]));
        scales[group] = scale * INPUT_LIFT;
        /* x + y = a + (c + a / 16) */
        sums[group] = scale * INPUT_LIFT * (c_sum + a_sum * (17.0f / 16));
        vst1q_s32(starts + 4 * group, vdupq_n_s32(MAGIC + 8 * (int32_t)a_sum));
    }
}

/* Zeros made where they are wanted, which costs nothing, while the compiler would rather make them once
 * and copy them, which costs as much as a product. */
INLINE int32x4_t new_zeros(void) {
    int32x4_t zeros;
    __asm__ volatile("movi %0.4s, #0" : "=w"(zeros));
    return zeros;
}

/* Sums of products that started from MAGIC, as floats. */
INLINE float32x4_t plain(int32x4_t sums) {
    return vsubq_f32(vreinterpretq_f32_s32(sums), vdupq_n_f32(MAGIC_FLOAT));
}

/* Where the bytes of rows 4h to 4h + 3 go: the third byte of each lane, zeros elsewhere. */
INLINE uint8x16_t third_bytes(const int first) {
    const uint32_t lanes[4] = {0xff00ffff | (uint32_t)first << 16, 0xff00ffff | (uint32_t)(first + 1) << 16,
                               0xff00ffff | (uint32_t)(first + 2) << 16,
                               0xff00ffff | (uint32_t)(first + 3) << 16};
    return vreinterpretq_u8_u32(vld1q_u32(lanes));
}

/* Add the products of four rows with one four of each position's codes. `lane` is a constant of the
 * instruction, hence a macro. */
#define ADD_FOUR(sum, rows, codes, lane) \
    for (int p = 0; p < count; p++) sum[p][h] = vdotq_laneq_s32(sum[p][h], rows, codes[p], lane)

#define ADD_NIBBLES(j)                                                                       \
    for (int h = first; h < last; h++) {                                                     \
        uint8x16_t both = vld1q_u8(&tile->codes[j][4 * h][0]);                               \
        ADD_FOUR(whole, vreinterpretq_s8_u8(both), high, j);                                 \
        ADD_FOUR(part, vreinterpretq_s8_u8(vandq_u8(both, nibble)), low, j);                 \
    }

/* Rows of the panel's halves [first, last) times `count` positions. Two halves of one position or one
 * half of four: more sums would not fit the registers. */
INLINE void multiply_halves4(const unsigned char *panel, int groups, const Activations *in,
                             int position, const int count, const int first, const int last,
                             float *out) {
    const PanelHead *head = (const PanelHead *)panel;
    const Tile4 *tile = (const Tile4 *)(head + 1);
    const int8_t *codes = in->codes + (size_t)position * (size_t)in->cols;
    size_t begin = (size_t)position * (size_t)in->groups;
    const float *scales = in->scales + begin, *sums = in->sums + begin;
    const int32_t *starts = in->starts + 4 * begin;
    const uint8x16_t nibble = vdupq_n_u8(15);
    const uint8x16_t scale_bytes[2] = {third_bytes(0), third_bytes(4)};
    const uint8x16_t minimum_bytes[2] = {third_bytes(8), third_bytes(12)};
    float32x4_t scaled[QUAD][2], lowered[QUAD][2];
    for (int p = 0; p < count; p++)
        for (int h = first; h < last; h++) scaled[p][h] = lowered[p][h] = vdupq_n_f32(0.0f);
    for (int group = 0; group < groups; group++, tile++) {
        int32x4_t whole[QUAD][2], part[QUAD][2];
        int8x16_t low[QUAD], high[QUAD];
        for (int p = 0; p < count; p++) {
            low[p] = vld1q_s8(codes + p * in->cols + group * GROUP);
            high[p] = vld1q_s8(codes + p * in->cols + group * GROUP + GROUP / 2);
            for (int h = first; h < last; h++) {
                whole[p][h] = new_zeros();
                part[p][h] = vld1q_s32(starts + 4 * (p * groups + group));
            }
        }
        if (count == 1) {
            /* Alone, a position waits for memory: ask for it a little earlier than the processor does. */
            __builtin_prefetch((const char *)tile + AHEAD, 0, 0);
            __builtin_prefetch((const char *)tile + AHEAD + 64, 0, 0);
        }
        ADD_NIBBLES(0)
        ADD_NIBBLES(1)
        ADD_NIBBLES(2)
        ADD_NIBBLES(3)
        uint8x16_t bytes = vld1q_u8(tile->scales); /* and the minima after them */
        for (int h = first; h < last; h++) {
            float32x4_t scale = vreinterpretq_f32_u8(vqtbl1q_u8(bytes, scale_bytes[h]));
            float32x4_t minimum = vreinterpretq_f32_u8(vqtbl1q_u8(bytes, minimum_bytes[h]));
            for (int p = 0; p < count; p++) {
                float32x4_t dot = plain(vrsraq_n_s32(part[p][h], whole[p][h], 4));
                scaled[p][h] =
                    vfmaq_n_f32(scaled[p][h], vmulq_f32(dot, scale), scales[p * groups + group]);
                lowered[p][h] = vfmaq_n_f32(lowered[p][h], minimum, sums[p * groups + group]);
            }
        }
    }
    for (int p = 0; p < count; p++)
        for (int h = first; h < last; h++) {
            float32x4_t below = vmulq_f32(lowered[p][h], vld1q_f32(head->minima + 4 * h));
            float32x4_t above = vmulq_f32(scaled[p][h], vld1q_f32(head->scales + 4 * h));
            float32x4_t difference = vmulq_n_f32(vsubq_f32(above, below), ROW_LIFT);
            vst1q_f32(out + p * PANEL + 4 * h, difference);
        }
}

#define ADD_BYTES(j)                                                                         \
    for (int h = first; h < last; h++) {                                                     \
        int8x16_t rows = vld1q_s8(&tile->codes[j][4 * h][0]);                                \
        if ((j) < 4) {                                                                       \
            ADD_FOUR(dot, rows, low, (j) % 4);                                               \
        } else {                                                                             \
            ADD_FOUR(dot, rows, high, (j) % 4);                                              \
        }                                                                                    \
    }

INLINE void multiply_halves8(const unsigned char *panel, int groups, const Activations *in,
                             int position, const int count, const int first, const int last,
                             float *out) {
    const PanelHead *head = (const PanelHead *)panel;
    const Tile8 *tile = (const Tile8 *)(head + 1);
    const int8_t *codes = in->codes + (size_t)position * (size_t)in->cols;
    const float *scales = in->scales + (size_t)position * (size_t)in->groups;
    float32x4_t scaled[QUAD][2];
    for (int p = 0; p < count; p++)
        for (int h = first; h < last; h++) scaled[p][h] = vdupq_n_f32(0.0f);
    for (int group = 0; group < groups; group++, tile++) {
        int32x4_t dot[QUAD][2];
        int8x16_t low[QUAD], high[QUAD];
        for (int p = 0; p < count; p++) {
            low[p] = vld1q_s8(codes + p * in->cols + group * GROUP);
            high[p] = vld1q_s8(codes + p * in->cols + group * GROUP + GROUP / 2);
            for (int h = first; h < last; h++) dot[p][h] = vdupq_n_s32(MAGIC);
        }
        ADD_BYTES(0)
        ADD_BYTES(1)
        ADD_BYTES(2)
        ADD_BYTES(3)
        ADD_BYTES(4)
        ADD_BYTES(5)
        ADD_BYTES(6)
        ADD_BYTES(7)
        for (int p = 0; p < count; p++)
            for (int h = first; h < last; h++)
                scaled[p][h] =
                    vfmaq_n_f32(scaled[p][h], plain(dot[p][h]), scales[p * groups + group]);
    }
    for (int p = 0; p < count; p++)
        for (int h = first; h < last; h++)
            vst1q_f32(out + p * PANEL + 4 * h,
                      vmulq_f32(scaled[p][h], vld1q_f32(head->scales + 4 * h)));
}

INLINE void multiply_panel4(const unsigned char *panel, int groups, const Activations *in,
                            int position, const int count, float *out) {
    if (count == 1) {
        multiply_halves4(panel, groups, in, position, count, 0, 2, out);
    } else {
        multiply_halves4(panel, groups, in, position, count, 0, 1, out);
        multiply_halves4(panel, groups, in, position, count, 1, 2, out);
    }
}

INLINE void multiply_panel8(const unsigned char *panel, int groups, const Activations *in,
                            int position, const int count, float *out) {
    if (count == 1) {
        multiply_halves8(panel, groups, in, position, count, 0, 2, out);
    } else {
        multiply_halves8(panel, groups, in, position, count, 0, 1, out);
        multiply_halves8(panel, groups, in, position, count, 1, 2, out);
    }
}

#define QUANTISE4 quantise_pairs
#define LEVEL_NAME "neon"
#define LEVEL_SUPPORTED has_dot_product
#define LEVEL_KERNELS kernels_neon
#include "kernels_common.h"

#else
typedef int reviser_level_neon_is_for_arm; /* a translation unit must not be empty */
#endif
