/* The level for ARM processors with the dot-product instructions of ARMv8.2. */

#if defined(__aarch64__) && !defined(REVISER_LEFT_OUT)

#include <math.h>
#include <stddef.h>
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
 *     16 (h x + l y)  =  b x + 16 l (y - x / 16)
 *
 * so the inputs kept are a = x and c = y - x / 16, and 16 times a group's product is sum(b a) + sum(16 l c); the
 * scales of the input make up for the 16. The dot product reads b as signed, hence the packed high nibble is h - 8 in
 * two's complement, and 128 sum(a) makes up for it. For several positions 16 (l - 8) is a byte, too, and one sum
 * takes both; 128 sum(c) makes up for that. */
#define NIBBLE_MASK 0x80

/* Inputs of a group's bytes, four vectors each: a and c of the comment above. */
INLINE void pair_inputs(const float *values, float32x4_t *a, float32x4_t *c) {
    for (int i = 0; i < 4; i++) {
        a[i] = vld1q_f32(values + GROUP / 2 + 4 * i);
        c[i] = vfmaq_n_f32(vld1q_f32(values + 4 * i), a[i], -1.0f / 16);
    }
}

INLINE float32x4_t larger_size(float32x4_t one, float32x4_t other) { return vmaxq_f32(vabsq_f32(one), vabsq_f32(other)); }

/* Sixteen values times `inverse`, rounded to bytes: added to ROUNDER, a number has its whole part in the low bits. */
INLINE int8x16_t round_bytes(const float32x4_t *values, float inverse) {
    int16x8_t words[2];
    for (int i = 0; i < 2; i++) {
        float32x4_t first = vfmaq_n_f32(vdupq_n_f32(ROUNDER), values[2 * i], inverse);
        float32x4_t second = vfmaq_n_f32(vdupq_n_f32(ROUNDER), values[2 * i + 1], inverse);
        words[i] = vuzp1q_s16(vreinterpretq_s16_f32(first), vreinterpretq_s16_f32(second));
    }
    return vuzp1q_s8(vreinterpretq_s8_s16(words[0]), vreinterpretq_s8_s16(words[1]));
}

TARGET static void quantise_pairs(const Activations *in, int position) {
    const float *values = in->values + (size_t)position * (size_t)in->cols;
    size_t first = first_group(in, position), apart = (size_t)in->together;
    int8_t *codes = in->codes + first * GROUP;
    float *scales = in->scales + first, *sums = in->sums + first;
    int32_t *starts = in->starts + 4 * first;
    float32x4_t a[4], c[4];
    /* In two rounds, so that groups need not wait for one another's divisions. */
    for (int group = 0; group < in->groups; group++) {
        pair_inputs(values + group * GROUP, a, c);
        float32x4_t high = vmaxq_f32(larger_size(a[0], a[1]), larger_size(a[2], a[3]));
        float32x4_t low = vmaxq_f32(larger_size(c[0], c[1]), larger_size(c[2], c[3]));
        scales[(size_t)group * apart] = vmaxvq_f32(vmaxq_f32(high, low)) * (1.0f / 127);
    }
    const int8x16_t ones = vdupq_n_s8(1);
    for (int group = 0; group < in->groups; group++) {
        size_t at = (size_t)group * apart;
        float scale = scales[at], inverse = scale > TINY ? 1.0f / scale : 0.0f;
        pair_inputs(values + group * GROUP, a, c);
        int8x16_t a_codes = round_bytes(a, inverse), c_codes = round_bytes(c, inverse);
        vst1q_s8(codes + at * GROUP, c_codes);
        vst1q_s8(codes + at * GROUP + GROUP / 2, a_codes);
        int32_t a_sum = vaddvq_s32(vdotq_s32(vdupq_n_s32(0), a_codes, ones));
        int32_t c_sum = vaddvq_s32(vdotq_s32(vdupq_n_s32(0), c_codes, ones));
        scales[at] = scale * (INPUT_LIFT / 16);
        /* x + y = a + (c + a / 16) */
        sums[at] = scale * (INPUT_LIFT / 16) * (float)(16 * c_sum + 17 * a_sum);
        int32_t shifted = in->together == 1 ? a_sum : a_sum + c_sum;
        vst1q_s32(starts + 4 * at, vdupq_n_s32(MAGIC + 128 * shifted));
    }
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

/* What four rows have for one position, from their sums. */
INLINE void finish_rows(const PanelHead *head, const int h, float32x4_t scaled, float32x4_t lowered, float *out) {
    float32x4_t scales = vmulq_n_f32(vld1q_f32(head->scales + 4 * h), ROW_LIFT);
    float32x4_t minima = vmulq_n_f32(vld1q_f32(head->minima + 4 * h), ROW_LIFT);
    vst1q_f32(out + 4 * h, vfmsq_f32(vmulq_f32(scaled, scales), lowered, minima));
}

/* ---- One position: a decoding step ---- */

/* Sums are written out in assembler, since compilers lose a tenth of the speed and more to the order of these
 * instructions. */
#define LOAD(to, from, at) "ldr q" #to ", [%[" #from "], #" #at "]\n"
#define DOT(sum, rows, codes, lane) "sdot v" #sum ".4s, v" #rows ".16b, v" #codes ".4b[" #lane "]\n"
#define ZERO(to) "movi v" #to ".2d, #0\n"

/* A panel times one position. sum(b a), which starts from MAGIC, and sum(l c) are summed up apart. To multiply the second by 16
 * costs nothing if it starts from MAGIC_16, whose last bit is worth 16 as a float. Then both become the group's product
 * without either constant, and no step rounds: all are whole numbers under 2^24, or multiples of 16 under 2^28.
 *
 * What became of the last group's sums is used while this group's are made, so that neither waits for the other.
 *
 * v0 and v1: scaled; v2 and v3: lowered; v4 and v5: sum(l c); v6 and v7: products; v8: the bits of a nibble; v9 to v12: where
 * bytes go; v13: both constants; v14 and v15: codes of the input; v16 to v23: weights; v24 and v25: sum(b a); v26, v27,
 * v31 and v28: scales and minima of the rows, in v28 their bytes before; v29 and v30: scale and sum of the input. */
#define MAGIC_16 0x4d400000
#define MAGIC_16_FLOAT 201326592.0f

#define LOW(rows) "and v" #rows ".16b, v" #rows ".16b, v8.16b\n"
#define BYTES(to, places) "tbl v" #to ".16b, {v28.16b}, v" #places ".16b\n"
#define SUBTRACT(to, from) "fsub v" #to ".4s, v" #from ".4s, v13.4s\n"
#define ADD(to, sum) "fadd v" #to ".4s, v" #to ".4s, v" #sum ".4s\n"
#define TIMES(to, scale) "fmul v" #to ".4s, v" #to ".4s, v" #scale ".4s\n"
#define ADD_TIMES(to, product, factor) "fmla v" #to ".4s, v" #product ".4s, v" #factor ".s[0]\n"
/* Alone, a position waits for memory: ask for it a little earlier than the processor does. */
#define ASK(at) "prfm pldl1strm, [%[tile], #" #at "]\n"

/* `between` comes when the last group is used up. */
#define SUM_ALONE(between)                                                                          \
    LOAD(16, tile, 16) BYTES(27, 10) LOAD(23, tile, 128) SUBTRACT(7, 5) LOAD(17, tile, 32)          \
    LOAD(15, codes, 16) BYTES(26, 9) SUBTRACT(6, 4) ADD(6, 24) ADD(7, 25) LOAD(20, tile, 80)        \
    LOAD(24, starts, 0) BYTES(31, 11) TIMES(7, 27) TIMES(6, 26) ADD_TIMES(1, 7, 29)                 \
    LOAD(25, starts, 0) BYTES(28, 12) DOT(25, 17, 15, 0) LOAD(19, tile, 64) DOT(24, 16, 15, 0)      \
    LOAD(18, tile, 48) LOAD(21, tile, 96) LOW(17) LOAD(14, codes, 0) LOAD(4, constants, 64)         \
    DOT(24, 18, 15, 1) DOT(25, 19, 15, 1) DOT(24, 20, 15, 2) DOT(25, 21, 15, 2)                     \
    ADD_TIMES(0, 6, 29) LOW(16) ADD_TIMES(3, 28, 30) LOW(18) LOAD(5, constants, 64)                 \
    DOT(4, 16, 14, 0) "ldr s29, [%[scales]], #4\n" DOT(5, 17, 14, 0) ASK(1360) ASK(1424) ADD_TIMES(2, 31, 30)  \
    between LOAD(28, tile, 0) DOT(25, 23, 15, 3) LOW(21) LOW(19) DOT(4, 18, 14, 1)                          \
    "ldr s30, [%[sums]], #4\n" ASK(1296) DOT(5, 19, 14, 1) LOW(20) LOAD(22, tile, 112)               \
    "add %[starts], %[starts], #16\n" DOT(5, 21, 14, 2) "subs %w[groups], %w[groups], #1\n"         \
    DOT(4, 20, 14, 2) LOW(23) DOT(24, 22, 15, 3) LOW(22) DOT(4, 22, 14, 3)                          \
    "add %[codes], %[codes], #32\n add %[tile], %[tile], #144\n" DOT(5, 23, 14, 3)

#define FINISH_ALONE                                                                                \
    SUBTRACT(6, 4) SUBTRACT(7, 5) BYTES(26, 9) BYTES(27, 10) ADD(6, 24) ADD(7, 25)                  \
    BYTES(31, 11) BYTES(28, 12) TIMES(6, 26) TIMES(7, 27) ADD_TIMES(2, 31, 30)                      \
    ADD_TIMES(3, 28, 30) ADD_TIMES(0, 6, 29) ADD_TIMES(1, 7, 29)

/* The first group of a panel finds the last panel's sums complete. */
#define NEXT_PANEL                                                                                  \
    "stp q0, q1, [%[to]], #32\n stp q2, q3, [%[to]], #32\n" ZERO(0) ZERO(1) ZERO(2) ZERO(3)

/* What is to be multiplied with the scales of the rows, and what with their minima: PANEL floats each for every panel, after
 * as many that mean nothing. */
INLINE void sum_alone4(const unsigned char *panels, int count, int all_groups, const Activations *in, float *to) {
    const Tile4 *tile = (const Tile4 *)((const PanelHead *)panels + 1);
    const int8_t *codes;
    const float *scales, *sums;
    const int32_t *starts;
    int groups;
    const uint8x16_t constants[5] = {third_bytes(0), third_bytes(4), third_bytes(8), third_bytes(12),
                                     vreinterpretq_u8_u32(vdupq_n_u32(MAGIC_16))};
    const float both = MAGIC_16_FLOAT + MAGIC_FLOAT;
    __asm__ volatile(
        ZERO(0) ZERO(1) ZERO(2) ZERO(3) ZERO(4) ZERO(5) ZERO(24) ZERO(25) ZERO(28) ZERO(29) ZERO(30)
        "movi v8.16b, #15\n"
        LOAD(9, constants, 0) LOAD(10, constants, 16) LOAD(11, constants, 32) LOAD(12, constants, 48)
        "ld1r {v13.4s}, [%[both]]\n"
        "1:\n"
        "mov %[codes], %[all_codes]\n mov %[starts], %[all_starts]\n mov %[scales], %[all_scales]\n"
        "mov %[sums], %[all_sums]\n mov %w[groups], %w[all_groups]\n"
        SUM_ALONE(NEXT_PANEL)
        "b.eq 3f\n"
        ".p2align 5\n"
        "2:\n"
        SUM_ALONE()
        "b.ne 2b\n"
        "3:\n"
        "add %[tile], %[tile], #64\n subs %w[count], %w[count], #1\n"
        "b.ne 1b\n"
        FINISH_ALONE
        "stp q0, q1, [%[to]], #32\n stp q2, q3, [%[to]], #32\n"
        : [codes] "=&r"(codes), [scales] "=&r"(scales), [sums] "=&r"(sums), [starts] "=&r"(starts),
          [groups] "=&r"(groups), [tile] "+r"(tile), [count] "+r"(count), [to] "+r"(to)
        : [all_codes] "r"(in->codes), [all_scales] "r"(in->scales), [all_sums] "r"(in->sums),
          [all_starts] "r"(in->starts), [all_groups] "r"(all_groups), [constants] "r"(constants),
          [both] "r"(&both)
        : "cc", "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13",
          "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28",
          "v29", "v30", "v31");
}

_Static_assert(sizeof(Tile4) == 144 && offsetof(Tile4, codes) == 16 && offsetof(Tile4, minima) == PANEL &&
                   sizeof(PanelHead) == 64,
               "the numbers in sum_alone4");

/* Panels that are summed up before their scales come in. */
#define ALONE_PANELS 8

TARGET static void multiply_alone4(const Matrix *matrix, int first, int count, const Activations *in, float *out) {
    float made[(ALONE_PANELS + 1) * 2 * PANEL];
    const unsigned char *panel = matrix->data + (size_t)first * matrix->panel_bytes;
    for (int some; count > 0; count -= some) {
        some = count < ALONE_PANELS ? count : ALONE_PANELS;
        sum_alone4(panel, some, matrix->groups, in, made);
        const float *sums = made + 2 * PANEL;
        for (int i = 0; i < some; i++, panel += matrix->panel_bytes, sums += 2 * PANEL, out += PANEL) {
            const PanelHead *head = (const PanelHead *)panel;
            finish_rows(head, 0, vld1q_f32(sums), vld1q_f32(sums + PANEL), out);
            finish_rows(head, 1, vld1q_f32(sums + 4), vld1q_f32(sums + PANEL + 4), out);
        }
    }
}

#define ADD_BYTES(fours, j, lane)                                                            \
    for (int h = 0; h < 2; h++)                                                              \
        dot[h] = vdotq_laneq_s32(dot[h], vld1q_s8(&tile->codes[j][4 * h][0]), fours, lane);

INLINE void multiply_alone8(const unsigned char *panel, int groups, const Activations *in, float *out) {
    const PanelHead *head = (const PanelHead *)panel;
    const Tile8 *tile = (const Tile8 *)(head + 1);
    float32x4_t scaled[2] = {vdupq_n_f32(0.0f), vdupq_n_f32(0.0f)};
    for (int group = 0; group < groups; group++, tile++) {
        int32x4_t dot[2] = {vdupq_n_s32(MAGIC), vdupq_n_s32(MAGIC)};
        int8x16_t low = vld1q_s8(in->codes + group * GROUP);
        int8x16_t high = vld1q_s8(in->codes + group * GROUP + GROUP / 2);
        ADD_BYTES(low, 0, 0)
        ADD_BYTES(low, 1, 1)
        ADD_BYTES(low, 2, 2)
        ADD_BYTES(low, 3, 3)
        ADD_BYTES(high, 4, 0)
        ADD_BYTES(high, 5, 1)
        ADD_BYTES(high, 6, 2)
        ADD_BYTES(high, 7, 3)
        for (int h = 0; h < 2; h++)
            scaled[h] = vfmaq_n_f32(scaled[h], plain(dot[h]), in->scales[group]);
    }
    for (int h = 0; h < 2; h++)
        vst1q_f32(out + 4 * h, vmulq_f32(scaled[h], vld1q_f32(head->scales + 4 * h)));
}

/* ---- Several positions: the same sums in the same order ----
 *
 * Inputs of four positions lie together group by group, so that they are read from one end to the other.
 * A panel is unpacked as far as all positions want it, and stays in the first-level cache while they pass. */

#define TOGETHER QUAD

/* A group of a panel, unpacked; halves are rows 0 to 3 and 4 to 7. */
typedef struct {
    int8_t low[GROUP / 8][PANEL][4]; /* 16 (l - 8) */
    float scales[2][4];
    float minima[2][4];
    float shifts[2][4]; /* MAGIC_FLOAT times the scales, below zero */
} Unpacked;

#define UNPACKED_BYTES sizeof(Unpacked) /* of one group of a panel */

INLINE void unpack(const unsigned char *panel, int groups, Unpacked *to) {
    const Tile4 *tile = (const Tile4 *)((const PanelHead *)panel + 1);
    const uint8x16_t sign = vdupq_n_u8(0x80);
    const uint8x16_t scale_bytes[2] = {third_bytes(0), third_bytes(4)};
    const uint8x16_t minimum_bytes[2] = {third_bytes(8), third_bytes(12)};
    for (int group = 0; group < groups; group++, tile++, to++) {
        uint8x16_t bytes = vld1q_u8(tile->scales); /* and the minima after them */
        for (int j = 0; j < GROUP / 8; j++)
            for (int h = 0; h < 2; h++) {
                uint8x16_t low = vshlq_n_u8(vld1q_u8(tile->codes[j][4 * h]), 4);
                vst1q_s8(to->low[j][4 * h], vreinterpretq_s8_u8(veorq_u8(low, sign)));
            }
        for (int h = 0; h < 2; h++) {
            float32x4_t scale = vreinterpretq_f32_u8(vqtbl1q_u8(bytes, scale_bytes[h]));
            vst1q_f32(to->scales[h], scale);
            vst1q_f32(to->minima[h], vreinterpretq_f32_u8(vqtbl1q_u8(bytes, minimum_bytes[h])));
            vst1q_f32(to->shifts[h], vmulq_n_f32(scale, -MAGIC_FLOAT));
        }
    }
}

/* A panel times four positions, in assembler as that of one. Units that have begun to multiply floats lose a cycle or two before they take
 * up dot products again, so all 64 dot products of a group come first, and then its 24 products with scales and minima.
 * Two of these start in a cycle, and two other instructions beside them: what is loaded is spread among them evenly, or they would
 * wait for it. Hence the first numbers of a group are loaded while the last group is used up, and after the last one come
 * numbers that nobody uses: they lie in the decoder's memory, as something follows all that is read here.
 *
 * v0 to v7: sums of a group, the first half of the rows for each position and then the other; v8 to v15: scaled, likewise; v16 to
 * v23: lowered; v24 to v27: codes of the positions, and then products; v28 to v31: weights, and then scales and minima of
 * the rows, and scales and sums of the inputs. */
#define LOAD_PAIR(to, other, from, at) "ldp q" #to ", q" #other ", [%[" #from "], #" #at "]\n"
#define STEP(pointer, by) "add %[" #pointer "], %[" #pointer "], #" #by "\n"
/* With what comes after the two of each position. */
#define DOT_EIGHT(first, second, lane, after0, after1, after2, after3)                              \
    DOT(0, first, 24, lane) DOT(4, second, 24, lane) after0                                         \
    DOT(1, first, 25, lane) DOT(5, second, 25, lane) after1                                         \
    DOT(2, first, 26, lane) DOT(6, second, 26, lane) after2                                         \
    DOT(3, first, 27, lane) DOT(7, second, 27, lane) after3
#define PRODUCT(to, dot) "fmla v" #to ".4s, v" #dot ".4s, v28.4s\n"
#define SCALE(to, product, lane) "fmla v" #to ".4s, v" #product ".4s, v30.s[" #lane "]\n"
#define LOWER(to, lane) "fmla v" #to ".4s, v29.4s, v31.s[" #lane "]\n"

/* What the first group of a panel begins with. */
#define FIRST_FOUR                                                                                  \
    LOAD(24, codes, 16) LOAD(25, codes, 48) LOAD(26, codes, 80) LOAD(27, codes, 112)                \
    LOAD_PAIR(28, 29, rows, 0) LOAD_PAIR(30, 31, rows, 32)                                          \
    LOAD_PAIR(0, 1, starts, 0) LOAD_PAIR(2, 3, starts, 32)                                          \
    LOAD_PAIR(4, 5, starts, 0) LOAD_PAIR(6, 7, starts, 32)

#define SUM_FOUR                                                                                    \
    DOT_EIGHT(28, 29, 0, , , , )                                                                    \
    DOT_EIGHT(30, 31, 1, LOAD(28, rows, 64), LOAD(29, rows, 80), , )                                \
    DOT_EIGHT(28, 29, 2, LOAD(30, rows, 96), LOAD(31, rows, 112), , )                               \
    DOT_EIGHT(30, 31, 3, LOAD(24, codes, 0) LOAD(28, low, 0), LOAD(25, codes, 32) LOAD(29, low, 16), \
              LOAD(26, codes, 64), LOAD(27, codes, 96))                                             \
    DOT_EIGHT(28, 29, 0, LOAD(30, low, 32), LOAD(31, low, 48), , )                                  \
    DOT_EIGHT(30, 31, 1, LOAD(28, low, 64), LOAD(29, low, 80), , )                                  \
    DOT_EIGHT(28, 29, 2, LOAD(30, low, 96), LOAD(31, low, 112), , )                                 \
    DOT_EIGHT(30, 31, 3, LOAD(24, low, 192) LOAD(28, low, 128), LOAD(25, low, 192) LOAD(29, low, 160), \
              LOAD(26, low, 192), LOAD(27, low, 192))                                               \
    "ldr q30, [%[scales]], #16\n ldr q31, [%[sums]], #16\n"                                         \
    PRODUCT(24, 0) PRODUCT(25, 1) LOAD(0, starts, 64) PRODUCT(26, 2) PRODUCT(27, 3) LOAD(1, starts, 80) \
    LOWER(16, 0) LOWER(17, 1) LOAD(28, low, 144) LOAD(2, starts, 96)                                \
    LOWER(18, 2) LOWER(19, 3) LOAD(29, low, 176) LOAD(3, starts, 112)                               \
    SCALE(8, 24, 0) LOAD(24, low, 208) SCALE(9, 25, 1) LOAD(25, low, 208)                           \
    "subs %w[groups], %w[groups], #1\n"                                                             \
    SCALE(10, 26, 2) LOAD(26, low, 208) SCALE(11, 27, 3) LOAD(27, low, 208)                         \
    PRODUCT(24, 4) PRODUCT(25, 5) LOAD(4, starts, 64) LOAD(5, starts, 80)                           \
    PRODUCT(26, 6) PRODUCT(27, 7) LOAD(28, rows, 144) LOAD(6, starts, 96)                           \
    LOWER(20, 0) LOWER(21, 1) LOAD(7, starts, 112) STEP(starts, 64)                                 \
    LOWER(22, 2) LOWER(23, 3) LOAD(29, rows, 160) LOAD(31, rows, 192)                               \
    SCALE(12, 24, 0) LOAD(24, codes, 144) SCALE(13, 25, 1) LOAD(25, codes, 176) STEP(low, 224)      \
    SCALE(14, 26, 2) LOAD(26, codes, 208) SCALE(15, 27, 3) LOAD(27, codes, 240) LOAD(30, rows, 176) \
    STEP(rows, 144) STEP(codes, 128)

/* finish_rows for one position and one half. */
#define LIFT(to) "fmul v" #to ".4s, v" #to ".4s, v24.4s\n"
#define FINISH(scaled, lowered, scales, minima)                                                     \
    "fmul v" #scaled ".4s, v" #scaled ".4s, v" #scales ".4s\n"                                      \
    "fmls v" #scaled ".4s, v" #lowered ".4s, v" #minima ".4s\n"

/* `count` panels times four positions from `position` on, one panel after the other without a stop; `apart` floats lie between
 * what two panels make. */
TARGET static void multiply_fours4(const unsigned char *panel, const Unpacked *unpacked, int count, int all_groups,
                                   const Activations *in, int position, float *out, size_t apart) {
    size_t first = (size_t)position * (size_t)all_groups;
    const uint8_t *rows = ((const Tile4 *)((const PanelHead *)panel + 1))->codes[0][0];
    const int8_t *codes;
    const float *scales, *sums, lift = ROW_LIFT;
    const int32_t *starts;
    int groups;
    __asm__ volatile(
        "1:\n"
        "mov %[codes], %[all_codes]\n mov %[starts], %[all_starts]\n mov %[scales], %[all_scales]\n"
        "mov %[sums], %[all_sums]\n mov %w[groups], %w[all_groups]\n"
        ZERO(8) ZERO(9) ZERO(10) ZERO(11) ZERO(12) ZERO(13) ZERO(14) ZERO(15)
        ZERO(16) ZERO(17) ZERO(18) ZERO(19) ZERO(20) ZERO(21) ZERO(22) ZERO(23)
        FIRST_FOUR
        ".p2align 5\n"
        "2:\n"
        SUM_FOUR
        "b.ne 2b\n"
        LOAD_PAIR(28, 29, panel, 0) LOAD_PAIR(30, 31, panel, 32) "ld1r {v24.4s}, [%[lift]]\n"
        /* The head of a panel comes before its tiles, which begin with scales. */
        "sub %[panel], %[rows], #16\n add %[rows], %[rows], #64\n subs %w[count], %w[count], #1\n"
        LIFT(28) LIFT(29) LIFT(30) LIFT(31)
        FINISH(8, 16, 28, 30) FINISH(12, 20, 29, 31) FINISH(9, 17, 28, 30) FINISH(13, 21, 29, 31)
        FINISH(10, 18, 28, 30) FINISH(14, 22, 29, 31) FINISH(11, 19, 28, 30) FINISH(15, 23, 29, 31)
        "stp q8, q12, [%[out]]\n stp q9, q13, [%[out], #32]\n stp q10, q14, [%[out], #64]\n stp q11, q15, [%[out], #96]\n"
        "add %[out], %[out], %[apart]\n"
        "b.ne 1b\n"
        : [codes] "=&r"(codes), [scales] "=&r"(scales), [starts] "=&r"(starts), [sums] "=&r"(sums),
          [groups] "=&r"(groups), [rows] "+r"(rows), [low] "+r"(unpacked), [panel] "+r"(panel),
          [count] "+r"(count), [out] "+r"(out)
        : [all_codes] "r"(in->codes + first * GROUP), [all_scales] "r"(in->scales + first),
          [all_sums] "r"(in->sums + first), [all_starts] "r"(in->starts + 4 * first),
          [all_groups] "r"(all_groups), [apart] "r"(apart * sizeof *out), [lift] "r"(&lift)
        : "cc", "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13",
          "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28",
          "v29", "v30", "v31");
}

_Static_assert(sizeof(Tile4) == 144 && sizeof(Unpacked) == 224 && offsetof(Unpacked, scales) == 128 &&
                   offsetof(Unpacked, minima) == 160 && offsetof(Unpacked, shifts) == 192 &&
                   offsetof(PanelHead, minima) == 32 && sizeof(PanelHead) == 64 && offsetof(Tile4, codes) == 16,
               "the numbers in multiply_fours4");

/* ---- What is left over, one to three of four positions that lie together ---- */

/* Add the products of eight rows with one four of each position's codes. `lane` is a constant of the
 * instruction, hence a macro. */
#define ADD_FOURS(sum, rows, codes, lane)                                                           \
    for (int h = 0; h < 2; h++) {                                                                   \
        int8x16_t weights = vld1q_s8((const int8_t *)(rows)[4 * h]);                                \
        for (int p = 0; p < count; p++) sum[h][p] = vdotq_laneq_s32(sum[h][p], weights, codes[p], lane); \
    }

INLINE void multiply_some4(const unsigned char *panel, const Unpacked *unpacked, int groups, const Activations *in,
                           int position, const int count, float *out) {
    const PanelHead *head = (const PanelHead *)panel;
    const Tile4 *tile = (const Tile4 *)(head + 1);
    size_t first = (size_t)position * (size_t)groups;
    const int8_t *codes = in->codes + first * GROUP;
    const float *scales = in->scales + first, *sums = in->sums + first;
    const int32_t *starts = in->starts + 4 * first;
    float32x4_t scaled[2][QUAD], lowered[2][QUAD];
    for (int h = 0; h < 2; h++)
        for (int p = 0; p < count; p++) scaled[h][p] = lowered[h][p] = vdupq_n_f32(0.0f);
    for (int group = 0; group < groups; group++, tile++, unpacked++) {
        int32x4_t sum[2][QUAD];
        int8x16_t fours[QUAD];
        for (int p = 0; p < count; p++) {
            sum[0][p] = sum[1][p] = vld1q_s32(starts + 4 * p);
            fours[p] = vld1q_s8(codes + p * GROUP + GROUP / 2);
        }
        ADD_FOURS(sum, tile->codes[0], fours, 0)
        ADD_FOURS(sum, tile->codes[1], fours, 1)
        ADD_FOURS(sum, tile->codes[2], fours, 2)
        ADD_FOURS(sum, tile->codes[3], fours, 3)
        for (int p = 0; p < count; p++) fours[p] = vld1q_s8(codes + p * GROUP);
        ADD_FOURS(sum, unpacked->low[0], fours, 0)
        ADD_FOURS(sum, unpacked->low[1], fours, 1)
        ADD_FOURS(sum, unpacked->low[2], fours, 2)
        ADD_FOURS(sum, unpacked->low[3], fours, 3)
        for (int h = 0; h < 2; h++) {
            float32x4_t scale = vld1q_f32(unpacked->scales[h]), minimum = vld1q_f32(unpacked->minima[h]);
            float32x4_t shift = vld1q_f32(unpacked->shifts[h]);
            for (int p = 0; p < count; p++) {
                /* (MAGIC + dot) * scale - MAGIC * scale, rounded once: the product of the two */
                float32x4_t product = vfmaq_f32(shift, vreinterpretq_f32_s32(sum[h][p]), scale);
                scaled[h][p] = vfmaq_n_f32(scaled[h][p], product, scales[p]);
                lowered[h][p] = vfmaq_n_f32(lowered[h][p], minimum, sums[p]);
            }
        }
        codes += QUAD * GROUP;
        scales += QUAD;
        sums += QUAD;
        starts += 4 * QUAD;
    }
    for (int h = 0; h < 2; h++)
        for (int p = 0; p < count; p++) finish_rows(head, h, scaled[h][p], lowered[h][p], out + p * PANEL);
}

INLINE void multiply_some8(const unsigned char *panel, int groups, const Activations *in, int position, const int count,
                           float *out) {
    const PanelHead *head = (const PanelHead *)panel;
    const Tile8 *tile = (const Tile8 *)(head + 1);
    size_t first = (size_t)position * (size_t)groups;
    const int8_t *codes = in->codes + first * GROUP;
    const float *scales = in->scales + first;
    float32x4_t scaled[2][QUAD];
    for (int h = 0; h < 2; h++)
        for (int p = 0; p < count; p++) scaled[h][p] = vdupq_n_f32(0.0f);
    for (int group = 0; group < groups; group++, tile++, codes += QUAD * GROUP, scales += QUAD) {
        int32x4_t sum[2][QUAD];
        int8x16_t fours[QUAD];
        for (int p = 0; p < count; p++) {
            sum[0][p] = sum[1][p] = vdupq_n_s32(MAGIC);
            fours[p] = vld1q_s8(codes + p * GROUP);
        }
        ADD_FOURS(sum, tile->codes[0], fours, 0)
        ADD_FOURS(sum, tile->codes[1], fours, 1)
        ADD_FOURS(sum, tile->codes[2], fours, 2)
        ADD_FOURS(sum, tile->codes[3], fours, 3)
        for (int p = 0; p < count; p++) fours[p] = vld1q_s8(codes + p * GROUP + GROUP / 2);
        ADD_FOURS(sum, tile->codes[4], fours, 0)
        ADD_FOURS(sum, tile->codes[5], fours, 1)
        ADD_FOURS(sum, tile->codes[6], fours, 2)
        ADD_FOURS(sum, tile->codes[7], fours, 3)
        for (int h = 0; h < 2; h++)
            for (int p = 0; p < count; p++) scaled[h][p] = vfmaq_n_f32(scaled[h][p], plain(sum[h][p]), scales[p]);
    }
    for (int h = 0; h < 2; h++)
        for (int p = 0; p < count; p++)
            vst1q_f32(out + p * PANEL + 4 * h, vmulq_f32(scaled[h][p], vld1q_f32(head->scales + 4 * h)));
}

/* The same sums for four positions and several panels, as in multiply_fours4: 64 dot products, and 16 other instructions.
 *
 * v0 to v7: sums of a group, as there; v8 to v15: scaled; v16 to v19 and v20 to v23: codes of the positions, the first and the last
 * 16; v24 to v27: weights; v28: MAGIC_FLOAT; v30: scales of the inputs. */
#define DOT_BYTES(first, second, k, l, m, n, lane)                                                  \
    DOT(0, first, k, lane) DOT(1, first, l, lane) DOT(2, first, m, lane) DOT(3, first, n, lane)     \
    DOT(4, second, k, lane) DOT(5, second, l, lane) DOT(6, second, m, lane) DOT(7, second, n, lane)
#define PLAIN(sum) "fsub v" #sum ".4s, v" #sum ".4s, v28.4s\n"
#define TIMES_SCALE(to, by) "fmul v" #to ".4s, v" #to ".4s, v" #by ".4s\n"

#define SUM_FOUR_BYTES                                                                              \
    LOAD_PAIR(16, 20, codes, 0) LOAD_PAIR(0, 1, magic, 0) LOAD_PAIR(24, 25, rows, 0)                \
    LOAD_PAIR(17, 21, codes, 32) LOAD_PAIR(2, 3, magic, 0) LOAD_PAIR(18, 22, codes, 64)             \
    LOAD_PAIR(19, 23, codes, 96) LOAD_PAIR(4, 5, magic, 0) LOAD_PAIR(6, 7, magic, 0)                \
    LOAD_PAIR(26, 27, rows, 32)                                                                     \
    DOT_BYTES(24, 25, 16, 17, 18, 19, 0) LOAD_PAIR(24, 25, rows, 64)                                \
    DOT_BYTES(26, 27, 16, 17, 18, 19, 1) LOAD_PAIR(26, 27, rows, 96)                                \
    DOT_BYTES(24, 25, 16, 17, 18, 19, 2) LOAD_PAIR(24, 25, rows, 128)                               \
    DOT_BYTES(26, 27, 16, 17, 18, 19, 3) LOAD_PAIR(26, 27, rows, 160)                               \
    DOT_BYTES(24, 25, 20, 21, 22, 23, 0) LOAD_PAIR(24, 25, rows, 192)                               \
    DOT_BYTES(26, 27, 20, 21, 22, 23, 1) LOAD_PAIR(26, 27, rows, 224)                               \
    DOT_BYTES(24, 25, 20, 21, 22, 23, 2) "ldr q30, [%[scales]], #16\n"                              \
    DOT_BYTES(26, 27, 20, 21, 22, 23, 3)                                                            \
    "subs %w[groups], %w[groups], #1\n add %[codes], %[codes], #128\n add %[rows], %[rows], #256\n" \
    PLAIN(0) PLAIN(1) PLAIN(2) PLAIN(3) PLAIN(4) PLAIN(5) PLAIN(6) PLAIN(7)                         \
    SCALE(8, 0, 0) SCALE(9, 1, 1) SCALE(10, 2, 2) SCALE(11, 3, 3)                                   \
    SCALE(12, 4, 0) SCALE(13, 5, 1) SCALE(14, 6, 2) SCALE(15, 7, 3)

TARGET static void multiply_fours8(const unsigned char *panel, int count, int all_groups, const Activations *in,
                                   int position, float *out, size_t apart) {
    size_t first = (size_t)position * (size_t)all_groups;
    const int8_t *rows = ((const Tile8 *)((const PanelHead *)panel + 1))->codes[0][0], *codes;
    const float *scales;
    const int32x4_t magic[2] = {vdupq_n_s32(MAGIC), vdupq_n_s32(MAGIC)};
    int groups;
    __asm__ volatile(
        LOAD(28, magic, 0)
        "1:\n"
        "mov %[codes], %[all_codes]\n mov %[scales], %[all_scales]\n mov %w[groups], %w[all_groups]\n"
        ZERO(8) ZERO(9) ZERO(10) ZERO(11) ZERO(12) ZERO(13) ZERO(14) ZERO(15)
        ".p2align 5\n"
        "2:\n"
        SUM_FOUR_BYTES
        "b.ne 2b\n"
        LOAD_PAIR(24, 25, panel, 0)
        "mov %[panel], %[rows]\n add %[rows], %[rows], #64\n subs %w[count], %w[count], #1\n"
        TIMES_SCALE(8, 24) TIMES_SCALE(12, 25) TIMES_SCALE(9, 24) TIMES_SCALE(13, 25)
        TIMES_SCALE(10, 24) TIMES_SCALE(14, 25) TIMES_SCALE(11, 24) TIMES_SCALE(15, 25)
        "stp q8, q12, [%[out]]\n stp q9, q13, [%[out], #32]\n stp q10, q14, [%[out], #64]\n stp q11, q15, [%[out], #96]\n"
        "add %[out], %[out], %[apart]\n"
        "b.ne 1b\n"
        : [codes] "=&r"(codes), [scales] "=&r"(scales), [groups] "=&r"(groups), [rows] "+r"(rows),
          [panel] "+r"(panel), [count] "+r"(count), [out] "+r"(out)
        : [all_codes] "r"(in->codes + first * GROUP), [all_scales] "r"(in->scales + first),
          [all_groups] "r"(all_groups), [apart] "r"(apart * sizeof *out), [magic] "r"(magic)
        : "cc", "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13",
          "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28",
          "v30");
}

_Static_assert(sizeof(Tile8) == 256 && sizeof(PanelHead) == 64, "the numbers in multiply_fours8");

/* `count` is a constant in each call, so that sums stay in registers. */
#define SOME_LEFT(count)                                                                     \
    if (matrix->bits == 4)                                                                   \
        multiply_some4(panel, unpacked, groups, in, position, count, to);                    \
    else                                                                                     \
        multiply_some8(panel, groups, in, position, count, to);

/* What panels that pass together take of the first-level cache at most: the rest is for the inputs. */
#define SWEEP_BYTES (32 << 10)

/* `count` panels times several positions; they are unpacked if they have to be. */
TARGET static void multiply_several(const Matrix *matrix, const unsigned char *panels, int count, const Activations *in,
                                    int n, float *out) {
    int groups = matrix->groups, position = 0;
    const Unpacked *unpacked = (const Unpacked *)in->unpacked;
    size_t apart = (size_t)n * PANEL;
    for (; n - position >= QUAD; position += QUAD)
        if (matrix->bits == 4)
            multiply_fours4(panels, unpacked, count, groups, in, position, out + position * PANEL, apart);
        else
            multiply_fours8(panels, count, groups, in, position, out + position * PANEL, apart);
    for (int i = 0; i < count; i++, unpacked += groups) {
        const unsigned char *panel = panels + (size_t)i * matrix->panel_bytes;
        float *to = out + (size_t)i * apart + position * PANEL;
        switch (n - position) {
            case 1: SOME_LEFT(1) break;
            case 2: SOME_LEFT(2) break;
            case 3: SOME_LEFT(3) break;
        }
    }
}

TARGET static void multiply_codes(const Matrix *matrix, int first, int count, const Activations *in, int n,
                                  float *out) {
    int groups = matrix->groups, some;
    const unsigned char *panel = matrix->data + (size_t)first * matrix->panel_bytes;
    if (n == 1) {
        if (matrix->bits == 4)
            multiply_alone4(matrix, first, count, in, out);
        else
            for (int i = 0; i < count; i++, panel += matrix->panel_bytes)
                multiply_alone8(panel, groups, in, out + i * PANEL);
        return;
    }
    size_t bytes = matrix->panel_bytes + (matrix->bits == 4 ? (size_t)groups * sizeof(Unpacked) : 0);
    int most = bytes < SWEEP_BYTES ? (int)(SWEEP_BYTES / bytes) : 1;
    for (; count > 0; count -= some, panel += (size_t)some * matrix->panel_bytes, out += some * n * PANEL) {
        some = most < count ? most : count;
        if (matrix->bits == 4)
            for (int i = 0; i < some; i++)
                unpack(panel + (size_t)i * matrix->panel_bytes, groups, (Unpacked *)in->unpacked + i * groups);
        multiply_several(matrix, panel, some, in, n, out);
    }
}

#define MULTIPLY_CODES multiply_codes
#define QUANTISE4 quantise_pairs
#define MANY 12 /* two registers of sums for each, and eight for the rest */

/* Add `a` times one of twelve numbers to each of twelve sums. */
INLINE void v8_fma_many(v8 a, const float *numbers, v8 *sum) {
    float32x4_t first = vld1q_f32(numbers), second = vld1q_f32(numbers + 4), third = vld1q_f32(numbers + 8);
#define ADD_LANE(r, four, lane)                                        \
    sum[r].low = vfmaq_laneq_f32(sum[r].low, a.low, four, lane);       \
    sum[r].high = vfmaq_laneq_f32(sum[r].high, a.high, four, lane);
#define ADD_LANES(r, four) \
    ADD_LANE(r, four, 0) ADD_LANE(r + 1, four, 1) ADD_LANE(r + 2, four, 2) ADD_LANE(r + 3, four, 3)
    ADD_LANES(0, first)
    ADD_LANES(4, second)
    ADD_LANES(8, third)
}

/* Twelve rows of `count` numbers, `width` apart, number by number. Reads whole fours, which rows have. */
INLINE void v8_turn_many(const float *rows, int width, int count, float *out) {
    for (int t = 0; t < count; t += 4)
        for (int r = 0; r < MANY; r += 4) {
            const float *from = rows + r * width + t;
            float32x4x2_t a = vtrnq_f32(vld1q_f32(from), vld1q_f32(from + width));
            float32x4x2_t b = vtrnq_f32(vld1q_f32(from + 2 * width), vld1q_f32(from + 3 * width));
            float *to = out + t * MANY + r;
            for (int i = 0; i < 2; i++) {
                float64x2_t first = vreinterpretq_f64_f32(a.val[i]), second = vreinterpretq_f64_f32(b.val[i]);
                vst1q_f32(to + i * MANY, vreinterpretq_f32_f64(vtrn1q_f64(first, second)));
                vst1q_f32(to + (i + 2) * MANY, vreinterpretq_f32_f64(vtrn2q_f64(first, second)));
            }
        }
}

#define LEVEL_NAME "neon"
#define LEVEL_SUPPORTED has_dot_product
#define LEVEL_KERNELS kernels_neon
#define ATTENTION_FILE "attention_neon.h"
#include "kernels_common.h"

#elif defined(__aarch64__)

#include "kernels.h"

LEAVE_OUT(neon);

#else
typedef int reviser_level_neon_is_for_arm; /* a translation unit must not be empty */
#endif
