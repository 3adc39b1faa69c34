/* Attention for ARM processors with dot products and half precision, beside models whose weights are rounded, too.
 *
 * Keys and queries are bytes with one scale for each half of a head, so that a dot product takes four dimensions at once. Values,
 * and the weights that they get, have half precision; 64 positions at most are summed up in it, and these sums in single precision.
 * The outcome of a row does not depend on which rows come with it: sums of bytes are exact, and the others have one order.
 *
 * Included by level_neon.c, behind kernels_common.h. */

#if defined(__clang__)
#define HALF_TARGET __attribute__((target("dotprod,fullfp16")))
#else
#define HALF_TARGET __attribute__((target("arch=armv8.2-a+dotprod+fp16")))
#endif
#define HALF_INLINE HALF_TARGET static inline __attribute__((always_inline))

static bool has_half_precision(void) {
#if defined(__linux__)
    return getauxval(AT_HWCAP) & (1ul << 10); /* HWCAP_ASIMDHP */
#else
    return true;
#endif
}

/* A block of keys: scales of [half][position], then codes of [four dimensions][position]. It takes at most as much as one of
 * KEY_BLOCK keys of sixteen bits, which the cache has room for. */
enum { SCALE_BYTES = 2 * KEY_BLOCK * sizeof(float) };

static inline size_t rounded_block_bytes(int head_dim) { return SCALE_BYTES + (size_t)(KEY_BLOCK * head_dim); }

/* Heads whose halves are whole fours, and short enough for sums that begin at MAGIC. */
static bool rounds_heads(int head_dim) { return head_dim % 8 == 0 && head_dim <= 512; }

/* Round numbers to bytes, a four of them to every `apart`-th four; returns their scale. */
HALF_INLINE float round_fours(const float *from, int count, int8_t *to, int apart) {
    float32x4_t most = vdupq_n_f32(0.0f);
    for (int i = 0; i < count; i += 4) most = vmaxq_f32(most, vabsq_f32(vld1q_f32(from + i)));
    float scale = vmaxvq_f32(most) * (1.0f / 127), inverse = scale > TINY ? 1.0f / scale : 0.0f;
    for (int i = 0; i < count; i += 4, to += 4 * apart) {
        float32x4_t whole = vfmaq_n_f32(vdupq_n_f32(ROUNDER), vld1q_f32(from + i), inverse);
        int16x4_t words = vmovn_s32(vreinterpretq_s32_f32(whole));
        int32x2_t bytes = vreinterpret_s32_s8(vmovn_s16(vcombine_s16(words, words)));
        vst1_lane_s32((int32_t *)to, bytes, 0);
    }
    return scale;
}

HALF_INLINE void store_rounded_key(const HeadCache *cache, int position, const float *key) {
    int head_dim = cache->head_dim, half = head_dim / 2, lane = position % KEY_BLOCK;
    unsigned char *block =
        (unsigned char *)cache->keys + (size_t)(position / KEY_BLOCK) * rounded_block_bytes(head_dim);
    float *scales = (float *)block;
    int8_t *codes = (int8_t *)block + SCALE_BYTES + 4 * lane;
    for (int part = 0; part < 2; part++)
        scales[part * KEY_BLOCK + lane] =
            round_fours(key + part * half, half, codes + part * half * KEY_BLOCK, KEY_BLOCK);
}

HALF_INLINE void store_half_value(const HeadCache *cache, int position, const float *value) {
    /* So that no sum of VALUE_BLOCK values exceeds half precision. */
    const float32x4_t most = vdupq_n_f32(65504.0f / VALUE_BLOCK);
    float16_t *slot = (float16_t *)cache->values + (size_t)position * (size_t)cache->padded_dim;
    for (int d = 0; d < cache->head_dim; d += 4) {
        float32x4_t within = vmaxq_f32(vminq_f32(vld1q_f32(value + d), most), vnegq_f32(most));
        vst1_f16(slot + d, vcvt_f16_f32(within));
    }
}

HALF_TARGET static void store_rounded(const HeadCache *cache, int position, const float *key, const float *value) {
    store_rounded_key(cache, position, key);
    store_half_value(cache, position, value);
}

/* Rows of a set as they lie in vectors of four. */
#define PADDED(size) (((size) + 3) / 4 * 4)

/* Queries of a set as bytes, of [half][four dimensions][row], and their scales of [half][row]. */
HALF_INLINE void round_queries(const float *queries, int stride, int rows, const int size, int head_dim, float scale,
                               int8_t *codes, float *scales) {
    int half = head_dim / 2;
    memset(codes, 0, (size_t)(PADDED(size) * head_dim));
    memset(scales, 0, 2 * PADDED(size) * sizeof *scales);
    for (int r = 0; r < rows; r++)
        for (int part = 0; part < 2; part++)
            scales[part * PADDED(size) + r] =
                scale * round_fours(queries + r * stride + part * half, half,
                                    codes + (part * half * PADDED(size)) + 4 * r, PADDED(size));
}

/* Rows are written out, since lanes are constants. */
#define EACH_ROW(do) do(0) do(1) do(2) do(3) do(4) do(5) do(6) do(7) do(8) do(9) do(10) do(11)
#define ROW_DOT(r)                                                                                 \
    if (size > r)                                                                                  \
        for (int b = 0; b < vectors; b++) sum[r][b] = vdotq_laneq_s32(sum[r][b], key[b], query[r / 4], r % 4);
#define ROW_SCALE(r)                                                                               \
    if (size > r)                                                                                  \
        for (int b = 0; b < vectors; b++) {                                                        \
            float32x4_t product = vfmaq_f32(shift[b], vreinterpretq_f32_s32(sum[r][b]), key_scale[b]); \
            total[r][b] = vfmaq_laneq_f32(total[r][b], product, query_scale[r / 4], r % 4);        \
        }

/* Scores of `size` queries for `count` positions, rounded up to whole blocks; `vectors` of four keys at a time. */
HALF_INLINE void score_bytes(const unsigned char *keys, int head_dim, const int8_t *codes, const float *scales, const int size,
                             const int vectors, int count, float *scores, int width) {
    int fours = head_dim / 8;
    for (int at = 0; at < count; at += KEY_BLOCK, keys += rounded_block_bytes(head_dim))
        for (int first = 0; first < 2; first += vectors) {
            float32x4_t total[12][2];
            const int8_t *from = (const int8_t *)keys + SCALE_BYTES + 16 * first, *with = codes;
            ALL for (int r = 0; r < size; r++)
                for (int b = 0; b < vectors; b++) total[r][b] = vdupq_n_f32(0.0f);
            for (int part = 0; part < 2; part++) {
                int32x4_t sum[12][2];
                float32x4_t key_scale[2], shift[2], query_scale[3];
                ALL for (int r = 0; r < size; r++)
                    for (int b = 0; b < vectors; b++) sum[r][b] = vdupq_n_s32(MAGIC);
                for (int i = 0; i < fours; i++, from += 4 * KEY_BLOCK, with += 4 * PADDED(size)) {
                    int8x16_t key[2], query[3];
                    for (int b = 0; b < vectors; b++) key[b] = vld1q_s8(from + 16 * b);
                    for (int v = 0; v < PADDED(size) / 4; v++) query[v] = vld1q_s8(with + 16 * v);
                    EACH_ROW(ROW_DOT)
                }
                for (int b = 0; b < vectors; b++) {
                    key_scale[b] = vld1q_f32((const float *)keys + part * KEY_BLOCK + 4 * (first + b));
                    shift[b] = vmulq_n_f32(key_scale[b], -MAGIC_FLOAT);
                }
                for (int v = 0; v < PADDED(size) / 4; v++) query_scale[v] = vld1q_f32(scales + part * PADDED(size) + 4 * v);
                EACH_ROW(ROW_SCALE)
            }
            ALL for (int r = 0; r < size; r++)
                for (int b = 0; b < vectors; b++) vst1q_f32(scores + r * width + at + 4 * (first + b), total[r][b]);
        }
}

/* Weights of rows, `width` apart, position by position in half precision. Reads whole fours of both. */
HALF_INLINE void turn_halves(const float *rows, int width, int count, const int size, float16_t *out) {
    for (int t = 0; t < count; t += 4)
        for (int r = 0; r < size; r += 4) {
            const float *from = rows + r * width + t;
            float32x4x2_t a = vtrnq_f32(vld1q_f32(from), vld1q_f32(from + width));
            float32x4x2_t b = vtrnq_f32(vld1q_f32(from + 2 * width), vld1q_f32(from + 3 * width));
            float16_t *to = out + t * PADDED(size) + r;
            for (int i = 0; i < 2; i++) {
                float64x2_t first = vreinterpretq_f64_f32(a.val[i]), second = vreinterpretq_f64_f32(b.val[i]);
                vst1_f16(to + i * PADDED(size), vcvt_f16_f32(vreinterpretq_f32_f64(vtrn1q_f64(first, second))));
                vst1_f16(to + (i + 2) * PADDED(size), vcvt_f16_f32(vreinterpretq_f32_f64(vtrn2q_f64(first, second))));
            }
        }
}

#define ROW_ADD(r)                                                                                 \
    if (size > r)                                                                                  \
        for (int i = 0; i < parts; i++) sum[r][i] = vfmaq_lane_f16(sum[r][i], value[i], weight[r / 4], r % 4);

/* Add values weighted for `size` rows, for `parts` vectors of dimensions at a time. */
HALF_INLINE void gather_halves(const float16_t *values, int padded_dim, const float16_t *weights, int count, const int size,
                               const int parts, float *out) {
    float16x8_t sum[12][4];
    ALL for (int r = 0; r < size; r++)
        for (int i = 0; i < parts; i++) sum[r][i] = vdupq_n_f16(0.0f);
    for (int t = 0; t < count; t++, values += padded_dim, weights += PADDED(size)) {
        float16x8_t value[4];
        float16x4_t weight[3];
        for (int i = 0; i < parts; i++) value[i] = vld1q_f16(values + 8 * i);
        for (int v = 0; v < PADDED(size) / 4; v++) weight[v] = vld1_f16(weights + 4 * v);
        EACH_ROW(ROW_ADD)
    }
    ALL for (int r = 0; r < size; r++)
        for (int i = 0; i < parts; i++) {
            float *to = out + r * padded_dim + 8 * i;
            vst1q_f32(to, vaddq_f32(vld1q_f32(to), vcvt_f32_f16(vget_low_f16(sum[r][i]))));
            vst1q_f32(to + 4, vaddq_f32(vld1q_f32(to + 4), vcvt_high_f32_f16(sum[r][i])));
        }
}

/* The same for twelve rows and sixteen dimensions, written out since compilers load one weight at a time.
 *
 * v0 and v1, v4 and v5: weights of two positions; v2 and v3, v6 and v7: their values; v8 to v31: sums, two of each row. */
#define ADD_ROW(a, b, first, second, weights, lane)                                                \
    "fmla v" #a ".8h, v" #first ".8h, v" #weights ".h[" #lane "]\n"                                \
    "fmla v" #b ".8h, v" #second ".8h, v" #weights ".h[" #lane "]\n"
#define ADD_DOZEN(first, second, weights, more)                                                    \
    ADD_ROW(8, 9, first, second, weights, 0) ADD_ROW(10, 11, first, second, weights, 1)            \
    ADD_ROW(12, 13, first, second, weights, 2) ADD_ROW(14, 15, first, second, weights, 3)          \
    ADD_ROW(16, 17, first, second, weights, 4) ADD_ROW(18, 19, first, second, weights, 5)          \
    ADD_ROW(20, 21, first, second, weights, 6) ADD_ROW(22, 23, first, second, weights, 7)          \
    ADD_ROW(24, 25, first, second, more, 0) ADD_ROW(26, 27, first, second, more, 1)                \
    ADD_ROW(28, 29, first, second, more, 2) ADD_ROW(30, 31, first, second, more, 3)
#define NEXT_POSITION(first, second, weight, more)                                                 \
    "ldp q" #first ", q" #second ", [%[values]]\n ldr q" #weight ", [%[weights]]\n"                \
    "ldr d" #more ", [%[weights], #16]\n add %[values], %[values], %[apart]\n add %[weights], %[weights], #24\n"
#define KEEP_ROW(a, b)                                                                             \
    "ldp q0, q1, [%[out]]\n ldp q2, q3, [%[out], #32]\n"                                          \
    "fcvtl v4.4s, v" #a ".4h\n fcvtl2 v5.4s, v" #a ".8h\n fcvtl v6.4s, v" #b ".4h\n fcvtl2 v7.4s, v" #b ".8h\n" \
    "fadd v0.4s, v0.4s, v4.4s\n fadd v1.4s, v1.4s, v5.4s\n fadd v2.4s, v2.4s, v6.4s\n fadd v3.4s, v3.4s, v7.4s\n" \
    "stp q0, q1, [%[out]]\n stp q2, q3, [%[out], #32]\n add %[out], %[out], %[row]\n"

HALF_TARGET static void gather_dozen(const float16_t *values, int padded_dim, const float16_t *weights, int count,
                                     float *out) {
    size_t apart = (size_t)padded_dim * sizeof *values, row = (size_t)padded_dim * sizeof *out;
    __asm__ volatile(
        ZERO(8) ZERO(9) ZERO(10) ZERO(11) ZERO(12) ZERO(13) ZERO(14) ZERO(15) ZERO(16) ZERO(17) ZERO(18) ZERO(19)
        ZERO(20) ZERO(21) ZERO(22) ZERO(23) ZERO(24) ZERO(25) ZERO(26) ZERO(27) ZERO(28) ZERO(29) ZERO(30) ZERO(31)
        "subs %w[count], %w[count], #2\n"
        "b.lt 2f\n"
        ".p2align 5\n"
        "1:\n"
        NEXT_POSITION(2, 3, 0, 1) NEXT_POSITION(6, 7, 4, 5) ADD_DOZEN(2, 3, 0, 1)
        "subs %w[count], %w[count], #2\n"
        ADD_DOZEN(6, 7, 4, 5)
        "b.ge 1b\n"
        "2:\n"
        "tbz %w[count], #0, 3f\n"
        NEXT_POSITION(2, 3, 0, 1) ADD_DOZEN(2, 3, 0, 1)
        "3:\n"
        KEEP_ROW(8, 9) KEEP_ROW(10, 11) KEEP_ROW(12, 13) KEEP_ROW(14, 15) KEEP_ROW(16, 17) KEEP_ROW(18, 19)
        KEEP_ROW(20, 21) KEEP_ROW(22, 23) KEEP_ROW(24, 25) KEEP_ROW(26, 27) KEEP_ROW(28, 29) KEEP_ROW(30, 31)
        : [values] "+r"(values), [weights] "+r"(weights), [count] "+r"(count), [out] "+r"(out)
        : [apart] "r"(apart), [row] "r"(row)
        : "cc", "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13",
          "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28",
          "v29", "v30", "v31");
}

_Static_assert(MANY == 12 && VALUE_BLOCK % 2 == 0, "the numbers in gather_dozen");

/* `rows` queries in sets of `size`; the memory is that of attend_many. */
HALF_INLINE void attend_sets(const HeadCache *cache, const float *queries, int stride, int rows, const int size, int from,
                             const int *limits, float scale, float *scratch, float *largest, float *total, float *out,
                             int out_stride) {
    int count = longest_of(limits, rows) - from, head_dim = cache->head_dim, padded_dim = cache->padded_dim;
    int width = (count + POSITION_STEP - 1) / POSITION_STEP * POSITION_STEP;
    int sets = (rows + size - 1) / size, counts[MAX_QUERIES];
    /* As many sums at a time as the registers hold. */
    const int vectors = size <= 6 ? 2 : 1, parts = size <= 6 ? 4 : 2;
    int8_t *codes = (int8_t *)(scratch + MAX_QUERIES * width);
    float *scales = (float *)(codes + MAX_QUERIES * head_dim), *sums = scratch + MAX_QUERIES * (width + padded_dim);
    float16_t *weights = (float16_t *)(sums + MAX_QUERIES * padded_dim);
    size_t block_bytes = rounded_block_bytes(head_dim);
    for (int set = 0; set < sets; set++) {
        int some = rows - set * size < size ? rows - set * size : size;
        counts[set] = longest_of(limits + set * size, some) - from;
        round_queries(queries + set * size * stride, stride, some, size, head_dim, scale,
                      codes + set * PADDED(size) * head_dim, scales + set * 2 * PADDED(size));
    }
    for (int t = 0; t < count; t += VALUE_BLOCK) {
        const unsigned char *keys = (const unsigned char *)cache->keys + (size_t)((from + t) / KEY_BLOCK) * block_bytes;
        for (int set = 0; set < sets; set++) {
            int some = counts[set] - t < VALUE_BLOCK ? counts[set] - t : VALUE_BLOCK;
            score_bytes(keys, head_dim, codes + set * PADDED(size) * head_dim, scales + set * 2 * PADDED(size), size,
                        vectors, some, scratch + set * size * width + t, width);
        }
    }
    for (int r = 0; r < rows; r++)
        soften(scratch + r * width, limits[r] - from, width, &largest[r], &total[r]);
    memset(sums, 0, (size_t)(sets * size * padded_dim) * sizeof *sums);
    for (int t = 0; t < count; t += VALUE_BLOCK) {
        const float16_t *values = (const float16_t *)cache->values + (size_t)(from + t) * (size_t)padded_dim;
        for (int set = 0; set < sets; set++) {
            int some = counts[set] - t < VALUE_BLOCK ? counts[set] - t : VALUE_BLOCK, d = 0;
            if (some <= 0) continue;
            float *to = sums + set * size * padded_dim;
            turn_halves(scratch + set * size * width + t, width, some, size, weights);
            for (; d + 8 * parts <= padded_dim; d += 8 * parts)
                if (size == MANY)
                    gather_dozen(values + d, padded_dim, weights, some, to + d);
                else
                    gather_halves(values + d, padded_dim, weights, some, size, parts, to + d);
            for (; d < padded_dim; d += 8) gather_halves(values + d, padded_dim, weights, some, size, 1, to + d);
        }
    }
    for (int r = 0; r < rows; r++)
        memcpy(out + r * out_stride, sums + r * padded_dim, (size_t)padded_dim * sizeof *out);
}

HALF_TARGET static void attend_rounded(const HeadCache *cache, const float *queries, int stride, int rows, int from,
                                       const int *limits, float scale, float *scratch, float *largest, float *total,
                                       float *out, int out_stride) {
#define ATTEND(size)                                                                               \
    attend_sets(cache, queries, stride, rows, size, from, limits, scale, scratch, largest, total, out, out_stride)
    BY_ROWS(rows, MANY, ATTEND)
#undef ATTEND
}

static const Attention rounded_attention = {
    .most_queries = MAX_QUERIES,
    .attend = attend_rounded,
    .store = store_rounded,
};

static const Attention *find_rounded_attention(int head_dim) {
    return has_half_precision() && rounds_heads(head_dim) ? &rounded_attention : NULL;
}
