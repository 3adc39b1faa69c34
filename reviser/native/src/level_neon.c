/* The level for ARM processors with the dot-product instructions of ARMv8.2. */

#if defined(__aarch64__)

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

/* Inputs of a group's bytes: a and c of the comment above. */
INLINE void pair_inputs(const float *values, v8 *a, v8 *c) {
    for (int i = 0; i < 2; i++) {
        a[i] = v8_load(values + GROUP / 2 + 8 * i);
        c[i] = v8_fma_scalar(a[i], -1.0f / 16, v8_load(values + 8 * i));
    }
}

TARGET static void quantise_pairs(const Activations *in, int position) {
    const float *values = in->values + (size_t)position * (size_t)in->cols;
    size_t first = first_group(in, position), apart = (size_t)in->together;
    int8_t *codes = in->codes + first * GROUP;
    float *scales = in->scales + first, *sums = in->sums + first;
    int32_t *starts = in->starts + 4 * first;
    v8 a[2], c[2];
    /* In two rounds, so that groups need not wait for one another's divisions. */
    for (int group = 0; group < in->groups; group++) {
        pair_inputs(values + group * GROUP, a, c);
        v8 high = v8_max(v8_abs(a[0]), v8_abs(a[1])), low = v8_max(v8_abs(c[0]), v8_abs(c[1]));
        scales[(size_t)group * apart] = v8_largest(v8_max(high, low)) * (1.0f / 127);
    }
    for (int group = 0; group < in->groups; group++) {
        size_t at = (size_t)group * apart;
        float scale = scales[at];
        v8 inverse = v8_splat(scale > TINY ? 1.0f / scale : 0.0f);
        pair_inputs(values + group * GROUP, a, c);
        for (int i = 0; i < 2; i++) {
            a[i] = v8_round(v8_mul(a[i], inverse));
            c[i] = v8_round(v8_mul(c[i], inverse));
            v8_store_int8(codes + at * GROUP + GROUP / 2 + 8 * (size_t)i, a[i]);
            v8_store_int8(codes + at * GROUP + 8 * (size_t)i, c[i]);
        }
        float a_sum = v8_sum(v8_add(a[0], a[1])), c_sum = v8_sum(v8_add(c[0], c[1]));
        float shifted = in->together == 1 ? a_sum : a_sum + c_sum;
        scales[at] = scale * (INPUT_LIFT / 16);
        /* x + y = a + (c + a / 16) */
        sums[at] = scale * INPUT_LIFT * (c_sum + a_sum * (17.0f / 16));
        vst1q_s32(starts + 4 * at, vdupq_n_s32(MAGIC + 128 * (int32_t)shifted));
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
    float32x4_t below = vmulq_f32(lowered, vld1q_f32(head->minima + 4 * h));
    float32x4_t above = vmulq_f32(scaled, vld1q_f32(head->scales + 4 * h));
    vst1q_f32(out + 4 * h, vmulq_n_f32(vsubq_f32(above, below), ROW_LIFT));
}

/* ---- One position: a decoding step ---- */

/* Sums are written out in assembler, since compilers lose a tenth of the speed and more to the order of these
 * instructions. */
#define LOAD(to, from, at) "ldr q" #to ", [%[" #from "], #" #at "]\n"
#define DOT(sum, rows, codes, lane) "sdot v" #sum ".4s, v" #rows ".16b, v" #codes ".4b[" #lane "]\n"
#define ZERO(to) "movi v" #to ".4s, #0\n"

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
 * Panels are unpacked as far as all positions want it, and a few of them stay in the first-level cache
 * while positions pass. */

#define TOGETHER QUAD

/* A group of four rows, unpacked. */
typedef struct {
    int8_t low[GROUP / 8][4][4]; /* 16 (l - 8) */
    float scales[4];
    float shifts[4]; /* MAGIC_FLOAT times the scales, below zero */
    float minima[4];
} Unpacked;

#define UNPACKED_BYTES (2 * sizeof(Unpacked)) /* of one group of a panel */

INLINE void unpack(const unsigned char *panel, int groups, Unpacked *to) {
    const Tile4 *tile = (const Tile4 *)((const PanelHead *)panel + 1);
    const uint8x16_t sign = vdupq_n_u8(0x80);
    const uint8x16_t scale_bytes[2] = {third_bytes(0), third_bytes(4)};
    const uint8x16_t minimum_bytes[2] = {third_bytes(8), third_bytes(12)};
    for (int group = 0; group < groups; group++, tile++) {
        uint8x16_t bytes = vld1q_u8(tile->scales); /* and the minima after them */
        for (int h = 0; h < 2; h++, to++) {
            for (int j = 0; j < GROUP / 8; j++) {
                uint8x16_t low = vshlq_n_u8(vld1q_u8(tile->codes[j][4 * h]), 4);
                vst1q_s8(to->low[j][0], vreinterpretq_s8_u8(veorq_u8(low, sign)));
            }
            float32x4_t scale = vreinterpretq_f32_u8(vqtbl1q_u8(bytes, scale_bytes[h]));
            vst1q_f32(to->scales, scale);
            vst1q_f32(to->shifts, vmulq_n_f32(scale, -MAGIC_FLOAT));
            vst1q_f32(to->minima, vreinterpretq_f32_u8(vqtbl1q_u8(bytes, minimum_bytes[h])));
        }
    }
}

/* Add the products of four rows with one four of each position's codes. `lane` is a constant of the
 * instruction, hence a macro. */
#define ADD_FOUR(sum, rows, codes, lane)                                                     \
    do {                                                                                     \
        int8x16_t weights = vld1q_s8(rows);                                                  \
        for (int p = 0; p < count; p++) sum[p] = vdotq_laneq_s32(sum[p], weights, codes[p], lane); \
    } while (0)

/* The sums of multiply_four4 for four positions, in assembler as those of one. Both halves of some panels follow one another
 * without a stop.
 *
 * v0 to v3: scaled; v4 to v7: lowered; v8 to v11: sums of a group; v16 to v19: codes of the four positions; v12 to v15 and v20
 * to v23: weights; v24 to v27: products; v28 to v31: scales and minima of the rows, scales and sums of the inputs. */
#define PRODUCT(to, dot) "fmla v" #to ".4s, v" #dot ".4s, v28.4s\n"
#define LOWER(to, lane) "fmla v" #to ".4s, v29.4s, v31.s[" #lane "]\n"
#define SCALE(to, product, lane) "fmla v" #to ".4s, v" #product ".4s, v30.s[" #lane "]\n"

/* `between` comes when the last group is used up. */
#define SUM_FOUR(between)                                                                                           \
    LOAD(19, codes, 112) LOAD(17, codes, 48) LOAD(14, low, 32) PRODUCT(24, 8) PRODUCT(25, 9) PRODUCT(26, 10)        \
    PRODUCT(27, 11) LOWER(5, 1) LOWER(6, 2) SCALE(0, 24, 0) SCALE(3, 27, 3) LOAD(18, codes, 80)                     \
    LOAD(20, rows, 0) LOAD(9, starts, 16) LOAD(8, starts, 0) SCALE(1, 25, 1) LOAD(11, starts, 48)                   \
    LOAD(10, starts, 32) LOWER(7, 3) LOAD(21, rows, 32) LOAD(22, rows, 64) LOWER(4, 0) LOAD(23, rows, 96)           \
    LOAD(16, codes, 16) DOT(8, 20, 16, 0) DOT(9, 20, 17, 0) DOT(10, 20, 18, 0) LOAD(13, low, 16)                    \
    DOT(11, 20, 19, 0) SCALE(2, 26, 2) between DOT(8, 21, 16, 1) DOT(9, 21, 17, 1) DOT(10, 21, 18, 1)               \
    DOT(11, 21, 19, 1) DOT(8, 22, 16, 2) DOT(9, 22, 17, 2) DOT(10, 22, 18, 2) DOT(11, 22, 19, 2)                    \
    DOT(8, 23, 16, 3) DOT(9, 23, 17, 3) DOT(10, 23, 18, 3) DOT(11, 23, 19, 3) LOAD(12, low, 0) LOAD(29, low, 96)    \
    LOAD(15, low, 48) LOAD(16, codes, 0) LOAD(17, codes, 32) LOAD(18, codes, 64) LOAD(19, codes, 96)                \
    "ldr q30, [%[scales]], #16\n" DOT(8, 12, 16, 0) DOT(9, 12, 17, 0) DOT(11, 12, 19, 0) DOT(10, 12, 18, 0)         \
    "add %[codes], %[codes], #128\n" LOAD(25, low, 80) DOT(8, 13, 16, 1) DOT(9, 13, 17, 1) DOT(10, 13, 18, 1)       \
    DOT(11, 13, 19, 1) DOT(8, 14, 16, 2) DOT(9, 14, 17, 2) DOT(10, 14, 18, 2) DOT(11, 14, 19, 2)                    \
    DOT(8, 15, 16, 3) DOT(9, 15, 17, 3) DOT(10, 15, 18, 3) "add %[rows], %[rows], #144\n" DOT(11, 15, 19, 3)        \
    LOAD(28, low, 64) LOAD(24, low, 80) LOAD(26, low, 80) LOAD(27, low, 80) "add %[starts], %[starts], #64\n"       \
    "add %[low], %[low], #224\n" "ldr q31, [%[sums]], #16\n" "subs %w[groups], %w[groups], #1\n"

#define FINISH_FOUR                                                                                                 \
    PRODUCT(24, 8) PRODUCT(25, 9) PRODUCT(26, 10) PRODUCT(27, 11) LOWER(4, 0) LOWER(5, 1) LOWER(6, 2) LOWER(7, 3)   \
    SCALE(0, 24, 0) SCALE(1, 25, 1) SCALE(2, 26, 2) SCALE(3, 27, 3)

#define STORE_FOUR                                                                                                  \
    "stp q0, q1, [%[to]], #32\n stp q2, q3, [%[to]], #32\n stp q4, q5, [%[to]], #32\n stp q6, q7, [%[to]], #32\n"

#define NEXT_HALF STORE_FOUR ZERO(0) ZERO(1) ZERO(2) ZERO(3) ZERO(4) ZERO(5) ZERO(6) ZERO(7)

/* `to` gets what is to be multiplied with the scales of the rows, four floats for each position, and as much for their minima:
 * for both halves of every panel, after as much again that means nothing. The first group of the inputs is `first`. */
INLINE void sum_fours4(const unsigned char *panels, const Unpacked *unpacked, int count, int all_groups,
                       const Activations *in, size_t first, float *to) {
    const uint8_t *rows = ((const Tile4 *)((const PanelHead *)panels + 1))->codes[0][0];
    const int8_t *codes;
    const float *scales, *sums;
    const int32_t *starts;
    int groups, halves = 2 * count;
    /* From the end of a half to the start of the next, which is the panel's other half or the next panel's first. */
    int64_t to_other = (int64_t)sizeof *unpacked, to_panel = sizeof(PanelHead) - 16;
    int64_t row_step = 16 - (int64_t)sizeof(Tile4) * all_groups, low_step = to_other - 2 * to_other * all_groups;
    int64_t both_rows = row_step + to_panel, both_low = low_step - to_other;
    __asm__ volatile(
        ZERO(0) ZERO(1) ZERO(2) ZERO(3) ZERO(4) ZERO(5) ZERO(6) ZERO(7) ZERO(8) ZERO(9) ZERO(10) ZERO(11)
        ZERO(24) ZERO(25) ZERO(26) ZERO(27) ZERO(28) ZERO(29) ZERO(30) ZERO(31)
        "1:\n"
        "mov %[codes], %[all_codes]\n mov %[starts], %[all_starts]\n mov %[scales], %[all_scales]\n"
        "mov %[sums], %[all_sums]\n mov %w[groups], %w[all_groups]\n"
        SUM_FOUR(NEXT_HALF)
        "b.eq 3f\n"
        ".p2align 5\n"
        "2:\n"
        SUM_FOUR()
        "b.ne 2b\n"
        "3:\n"
        "add %[rows], %[rows], %[row_step]\n sub %[row_step], %[both_rows], %[row_step]\n"
        "add %[low], %[low], %[low_step]\n sub %[low_step], %[both_low], %[low_step]\n"
        "subs %w[halves], %w[halves], #1\n"
        "b.ne 1b\n"
        FINISH_FOUR
        STORE_FOUR
        : [codes] "=&r"(codes), [scales] "=&r"(scales), [sums] "=&r"(sums), [starts] "=&r"(starts),
          [groups] "=&r"(groups), [rows] "+r"(rows), [low] "+r"(unpacked), [row_step] "+r"(row_step),
          [low_step] "+r"(low_step), [halves] "+r"(halves), [to] "+r"(to)
        : [all_codes] "r"(in->codes + first * GROUP), [all_scales] "r"(in->scales + first),
          [all_sums] "r"(in->sums + first), [all_starts] "r"(in->starts + 4 * first),
          [all_groups] "r"(all_groups), [both_rows] "r"(both_rows), [both_low] "r"(both_low)
        : "cc", "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13",
          "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28",
          "v29", "v30", "v31");
}

_Static_assert(sizeof(Tile4) == 144 && sizeof(Unpacked) == 112 && offsetof(Unpacked, scales) == 64 &&
                   offsetof(Unpacked, shifts) == 80 && offsetof(Unpacked, minima) == 96,
               "the numbers in sum_fours4");

/* Half h of a panel times `count` of four positions that lie together, one to three. */
INLINE void multiply_four4(const unsigned char *panel, const Unpacked *unpacked, int groups,
                           const Activations *in, int position, const int count, const int h,
                           float *out) {
    const PanelHead *head = (const PanelHead *)panel;
    const Tile4 *tile = (const Tile4 *)(head + 1);
    size_t first = (size_t)position * (size_t)groups;
    const int8_t *codes = in->codes + first * GROUP;
    const float *scales = in->scales + first, *sums = in->sums + first;
    const int32_t *starts = in->starts + 4 * first;
    float32x4_t scaled[QUAD], lowered[QUAD];
    unpacked += h;
    for (int p = 0; p < count; p++) scaled[p] = lowered[p] = vdupq_n_f32(0.0f);
    for (int group = 0; group < groups; group++, tile++, unpacked += 2) {
        int32x4_t sum[QUAD];
        int8x16_t fours[QUAD];
        for (int p = 0; p < count; p++) {
            sum[p] = vld1q_s32(starts + 4 * p);
            fours[p] = vld1q_s8(codes + p * GROUP + GROUP / 2);
        }
        ADD_FOUR(sum, (const int8_t *)tile->codes[0][4 * h], fours, 0);
        ADD_FOUR(sum, (const int8_t *)tile->codes[1][4 * h], fours, 1);
        ADD_FOUR(sum, (const int8_t *)tile->codes[2][4 * h], fours, 2);
        ADD_FOUR(sum, (const int8_t *)tile->codes[3][4 * h], fours, 3);
        for (int p = 0; p < count; p++) fours[p] = vld1q_s8(codes + p * GROUP);
        ADD_FOUR(sum, unpacked->low[0][0], fours, 0);
        ADD_FOUR(sum, unpacked->low[1][0], fours, 1);
        ADD_FOUR(sum, unpacked->low[2][0], fours, 2);
        ADD_FOUR(sum, unpacked->low[3][0], fours, 3);
        float32x4_t scale = vld1q_f32(unpacked->scales), minimum = vld1q_f32(unpacked->minima);
        float32x4_t in_scales = vld1q_f32(scales), in_sums = vld1q_f32(sums);
#define FINISH(p)                                                                            \
    if (p < count) {                                                                         \
        /* (MAGIC + dot) * scale - MAGIC * scale, rounded once: the product of the two */    \
        float32x4_t dot = vreinterpretq_f32_s32(sum[p]);                                     \
        float32x4_t product = vfmaq_f32(vld1q_f32(unpacked->shifts), dot, scale);            \
        scaled[p] = vfmaq_laneq_f32(scaled[p], product, in_scales, p);                       \
        lowered[p] = vfmaq_laneq_f32(lowered[p], minimum, in_sums, p);                       \
    }
        FINISH(0)
        FINISH(1)
        FINISH(2)
        FINISH(3)
#undef FINISH
        codes += QUAD * GROUP;
        scales += QUAD;
        sums += QUAD;
        starts += 4 * QUAD;
    }
    for (int p = 0; p < count; p++) finish_rows(head, h, scaled[p], lowered[p], out + p * PANEL);
}

/* Some panels times four positions; `apart` floats lie between what two panels make. */
TARGET static void multiply_fours4(const Matrix *matrix, const unsigned char *panels, int count,
                                   const Activations *in, int position, float *out, size_t apart) {
    float made[(2 * MOST_PANELS + 1) * 2 * QUAD * 4];
    sum_fours4(panels, (const Unpacked *)in->unpacked, count, matrix->groups, in,
               (size_t)position * (size_t)matrix->groups, made);
    const float *sums = made;
    for (int i = 0; i < count; i++, panels += matrix->panel_bytes, out += apart)
        for (int h = 0; h < 2; h++) {
            sums += 2 * QUAD * 4;
            for (int p = 0; p < QUAD; p++)
                finish_rows((const PanelHead *)panels, h, vld1q_f32(sums + 4 * p), vld1q_f32(sums + 4 * (QUAD + p)),
                            out + p * PANEL);
        }
}

INLINE void multiply_four8(const unsigned char *panel, int groups, const Activations *in, int position,
                           const int count, const int h, float *out) {
    const PanelHead *head = (const PanelHead *)panel;
    const Tile8 *tile = (const Tile8 *)(head + 1);
    size_t first = (size_t)position * (size_t)groups;
    const int8_t *codes = in->codes + first * GROUP;
    const float *scales = in->scales + first;
    float32x4_t scaled[QUAD];
    for (int p = 0; p < count; p++) scaled[p] = vdupq_n_f32(0.0f);
    for (int group = 0; group < groups; group++, tile++, codes += QUAD * GROUP, scales += QUAD) {
        int32x4_t dot[QUAD];
        int8x16_t fours[QUAD];
        for (int p = 0; p < count; p++) {
            dot[p] = vdupq_n_s32(MAGIC);
            fours[p] = vld1q_s8(codes + p * GROUP);
        }
        ADD_FOUR(dot, tile->codes[0][4 * h], fours, 0);
        ADD_FOUR(dot, tile->codes[1][4 * h], fours, 1);
        ADD_FOUR(dot, tile->codes[2][4 * h], fours, 2);
        ADD_FOUR(dot, tile->codes[3][4 * h], fours, 3);
        for (int p = 0; p < count; p++) fours[p] = vld1q_s8(codes + p * GROUP + GROUP / 2);
        ADD_FOUR(dot, tile->codes[4][4 * h], fours, 0);
        ADD_FOUR(dot, tile->codes[5][4 * h], fours, 1);
        ADD_FOUR(dot, tile->codes[6][4 * h], fours, 2);
        ADD_FOUR(dot, tile->codes[7][4 * h], fours, 3);
        float32x4_t in_scales = vld1q_f32(scales);
#define FINISH(p) \
    if (p < count) scaled[p] = vfmaq_laneq_f32(scaled[p], plain(dot[p]), in_scales, p);
        FINISH(0)
        FINISH(1)
        FINISH(2)
        FINISH(3)
#undef FINISH
    }
    for (int p = 0; p < count; p++)
        vst1q_f32(out + p * PANEL + 4 * h, vmulq_f32(scaled[p], vld1q_f32(head->scales + 4 * h)));
}

/* `count` is a constant in each call, so that sums stay in registers. */
#define EIGHT_BITS(count)                                                                    \
    {                                                                                        \
        multiply_four8(panel, groups, in, position, count, 0, to);                           \
        multiply_four8(panel, groups, in, position, count, 1, to);                           \
    }
#define FOUR_STEP(count)                                                                     \
    if (matrix->bits == 4) {                                                                 \
        multiply_four4(panel, unpacked, groups, in, position, count, 0, to);                 \
        multiply_four4(panel, unpacked, groups, in, position, count, 1, to);                 \
    } else                                                                                   \
        EIGHT_BITS(count)

TARGET static void multiply_codes(const Matrix *matrix, int first, int count, const Activations *in, int n,
                                  float *out) {
    int groups = matrix->groups;
    const unsigned char *panels = matrix->data + (size_t)first * matrix->panel_bytes;
    if (n == 1) {
        if (matrix->bits == 4)
            multiply_alone4(matrix, first, count, in, out);
        else
            for (int i = 0; i < count; i++)
                multiply_alone8(panels + (size_t)i * matrix->panel_bytes, groups, in, out + i * PANEL);
        return;
    }
    if (matrix->bits == 4)
        for (int i = 0; i < count; i++)
            unpack(panels + (size_t)i * matrix->panel_bytes, groups, (Unpacked *)in->unpacked + 2 * i * groups);
    for (int position = 0; position < n; position += QUAD) {
        if (matrix->bits == 4 && n - position >= QUAD) {
            multiply_fours4(matrix, panels, count, in, position, out + position * PANEL, (size_t)n * PANEL);
            continue;
        }
        for (int i = 0; i < count; i++) {
            const unsigned char *panel = panels + (size_t)i * matrix->panel_bytes;
            const Unpacked *unpacked = (const Unpacked *)in->unpacked + 2 * i * groups;
            float *to = out + (size_t)(i * n + position) * PANEL;
            switch (n - position) {
                case 1: FOUR_STEP(1) break;
                case 2: FOUR_STEP(2) break;
                case 3: FOUR_STEP(3) break;
                default: EIGHT_BITS(4) break;
            }
        }
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
            vst1q_f32(to, vcombine_f32(vget_low_f32(a.val[0]), vget_low_f32(b.val[0])));
            vst1q_f32(to + MANY, vcombine_f32(vget_low_f32(a.val[1]), vget_low_f32(b.val[1])));
            vst1q_f32(to + 2 * MANY, vcombine_f32(vget_high_f32(a.val[0]), vget_high_f32(b.val[0])));
            vst1q_f32(to + 3 * MANY, vcombine_f32(vget_high_f32(a.val[1]), vget_high_f32(b.val[1])));
        }
}

#define LEVEL_NAME "neon"
#define LEVEL_SUPPORTED has_dot_product
#define LEVEL_KERNELS kernels_neon
#include "kernels_common.h"

#else
typedef int reviser_level_neon_is_for_arm; /* a translation unit must not be empty */
#endif
