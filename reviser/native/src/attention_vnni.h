/* Attention for x86 processors with the dot products of AVX-512 VNNI, beside models whose weights are rounded, too.
 *
 * Queries, keys and values are whole numbers of twelve bits with one scale for a head, and the weights that values get, of fourteen
 * bits with one scale for VALUE_BLOCK positions: so a dot product takes two dimensions or two positions, and no sum exceeds
 * 32 bits. The outcome of a row does not depend on which rows come with it: sums of whole numbers are exact, and the others
 * have one order.
 *
 * Included by level_vnni.c, behind kernels_common.h. */

enum {
    KEYS = POSITION_STEP, /* positions of a block: one in each lane */
    MOST_CODE = 2047,
    MOST_WEIGHT = 16383,
    WIDEST_HEAD = 512,
    SET = 12, /* rows of queries that are taken together if there are more than FEW */
};
_Static_assert(KEYS == 16, "a block of keys fills the lanes of a register");
_Static_assert((int64_t)MOST_CODE * MOST_CODE * WIDEST_HEAD <= INT32_MAX, "products of keys fit 32 bits");
_Static_assert((int64_t)MOST_CODE * MOST_WEIGHT * VALUE_BLOCK <= INT32_MAX, "sums of values fit 32 bits");
_Static_assert(MAX_QUERIES % SET == 0, "whole sets of rows");

/* A block of keys, and the scales of its values. Values lie apart: [pair of positions][dimension][position of the pair]. */
typedef struct {
    float scales[KEYS], value_scales[KEYS];
    int16_t codes[][KEYS][2]; /* [pair of dimensions] */
} KeyBlock;

/* Numbers of sixteen bits that the scales of a position take. */
enum { SCALE_CELLS = 2 * sizeof(float) / sizeof(uint16_t) };

static bool rounds_heads(int head_dim) { return head_dim % 16 == 0 && head_dim <= WIDEST_HEAD; }

INLINE KeyBlock *key_block(const HeadCache *cache, int position) {
    size_t cells = (size_t)(KEYS * (cache->head_dim + SCALE_CELLS));
    return (KeyBlock *)(cache->keys + (size_t)(position / KEYS) * cells);
}

INLINE int16_t *value_pair(const HeadCache *cache, int position) {
    return (int16_t *)cache->values + (size_t)(position / 2 * 2) * (size_t)cache->padded_dim;
}

/* The scale of a head's numbers as codes, and its inverse. */
INLINE float scale_of(const float *from, int count, float *inverse) {
    __m512 most = _mm512_setzero_ps();
    for (int i = 0; i < count; i += 16) most = _mm512_max_ps(most, _mm512_abs_ps(_mm512_loadu_ps(from + i)));
    float scale = _mm512_reduce_max_ps(most) / (float)MOST_CODE;
    *inverse = scale > TINY ? 1.0f / scale : 0.0f;
    return scale;
}

INLINE __m512i sixteen_codes(const float *from, float inverse) {
    return _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_loadu_ps(from), _mm512_set1_ps(inverse)));
}

/* Round a head to codes, each pair of them `apart` pairs behind the last; returns their scale. */
INLINE float round_pairs(const float *from, int count, int16_t *to, int apart) {
    float inverse, scale = scale_of(from, count, &inverse);
    for (int i = 0; i < count; i += 16) {
        uint32_t pairs[8];
        _mm256_storeu_si256((__m256i *)pairs, _mm512_cvtepi32_epi16(sixteen_codes(from + i, inverse)));
        for (int j = 0; j < 8; j++, to += 2 * apart) memcpy(to, &pairs[j], sizeof pairs[j]);
    }
    return scale;
}

TARGET static void store_rounded(const HeadCache *cache, int position, const float *key, const float *value) {
    int lane = position % KEYS;
    KeyBlock *block = key_block(cache, position);
    block->scales[lane] = round_pairs(key, cache->head_dim, block->codes[0][lane], KEYS);

    float inverse;
    block->value_scales[lane] = scale_of(value, cache->head_dim, &inverse);
    int16_t *pair = value_pair(cache, position);
    /* Another thread may be writing the other position of the pair: touch only this one's words. */
    __mmask32 mine = position % 2 ? 0xaaaaaaaau : 0x55555555u;
    __m128i shift = _mm_cvtsi32_si128(position % 2 ? 16 : 0);
    for (int d = 0; d < cache->head_dim; d += 16)
        _mm512_mask_storeu_epi16(pair + 2 * d, mine, _mm512_sll_epi32(sixteen_codes(value + d, inverse), shift));
}

/* Add to each lane what its two numbers and the two codes are together; as dot_fours. */
INLINE void dot_pairs(__m512i *sum, __m512i numbers, const int16_t *codes) {
    __asm__("vpdpwssd %2%{1to16%}, %1, %0" : "+v"(*sum) : "v"(numbers), "m"(*(const Lane *)codes));
}

/* Queries of a set: codes of [pair of dimensions][row], and the scale of each row. */
typedef struct {
    int16_t *codes;
    float scales[SET];
} QuerySet;

INLINE void round_queries(const float *queries, int stride, int rows, const int size, int head_dim, float scale,
                          QuerySet *set) {
    memset(set->codes, 0, (size_t)(size * head_dim) * sizeof *set->codes);
    memset(set->scales, 0, sizeof set->scales);
    for (int r = 0; r < rows; r++)
        set->scales[r] = scale * round_pairs(queries + r * stride, head_dim, set->codes + 2 * r, size);
}

/* Scores of `size` queries for `vectors` blocks of keys. */
INLINE void score_blocks(const HeadCache *cache, int position, const QuerySet *set, const int size, const int vectors,
                         float *scores, int width) {
    const KeyBlock *blocks[4];
    const int16_t *with = set->codes;
    __m512i sum[SET][4];
    for (int b = 0; b < vectors; b++) blocks[b] = key_block(cache, position + b * KEYS);
    ALL for (int r = 0; r < size; r++)
        for (int b = 0; b < vectors; b++) sum[r][b] = _mm512_setzero_si512();
    for (int i = 0; i < cache->head_dim / 2; i++, with += 2 * size) {
        __m512i key[4];
        for (int b = 0; b < vectors; b++) key[b] = _mm512_loadu_si512(blocks[b]->codes[i]);
        ALL for (int r = 0; r < size; r++)
            for (int b = 0; b < vectors; b++) dot_pairs(&sum[r][b], key[b], with + 2 * r);
    }
    for (int b = 0; b < vectors; b++) {
        __m512 key_scale = _mm512_loadu_ps(blocks[b]->scales);
        ALL for (int r = 0; r < size; r++) {
            __m512 product = _mm512_mul_ps(_mm512_cvtepi32_ps(sum[r][b]), key_scale);
            _mm512_storeu_ps(scores + r * width + b * KEYS, _mm512_mul_ps(product, _mm512_set1_ps(set->scales[r])));
        }
    }
}

/* The weights of a row for up to VALUE_BLOCK positions, times the scales of their values, as words; returns the scale of these. */
INLINE float round_weights(const HeadCache *cache, int position, const float *row, int count, int16_t *words) {
    __m512 products[VALUE_BLOCK / KEYS], most = _mm512_setzero_ps();
    for (int i = 0; i < VALUE_BLOCK / KEYS; i++) {
        products[i] = _mm512_setzero_ps();
        if (i * KEYS >= count) continue;
        const KeyBlock *block = key_block(cache, position + i * KEYS);
        products[i] = _mm512_mul_ps(_mm512_loadu_ps(row + i * KEYS), _mm512_loadu_ps(block->value_scales));
        most = _mm512_max_ps(most, products[i]);
    }
    float scale = _mm512_reduce_max_ps(most) / (float)MOST_WEIGHT;
    __m512 inverse = _mm512_set1_ps(scale > TINY ? 1.0f / scale : 0.0f);
    for (int i = 0; i < VALUE_BLOCK / KEYS; i++) {
        __m512i whole = _mm512_cvtps_epi32(_mm512_mul_ps(products[i], inverse));
        _mm256_storeu_si256((__m256i *)(words + i * KEYS), _mm512_cvtepi32_epi16(whole));
    }
    return scale;
}

/* Add values weighted for `size` rows, for `parts` vectors of dimensions. */
INLINE void gather_words(const int16_t *values, int padded_dim, const int16_t *words, const float *scales, int pairs,
                         const int size, const int parts, float *out) {
    __m512i sum[SET][4];
    ALL for (int r = 0; r < size; r++)
        for (int i = 0; i < parts; i++) sum[r][i] = _mm512_setzero_si512();
    for (int t = 0; t < pairs; t++, values += 2 * padded_dim, words += 2) {
        __m512i value[4];
        for (int i = 0; i < parts; i++) value[i] = _mm512_loadu_si512(values + 32 * i);
        ALL for (int r = 0; r < size; r++)
            for (int i = 0; i < parts; i++)
                dot_pairs(&sum[r][i], value[i], words + r * VALUE_BLOCK);
    }
    ALL for (int r = 0; r < size; r++)
        for (int i = 0; i < parts; i++) {
            float *to = out + r * padded_dim + 16 * i;
            _mm512_storeu_ps(to, _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum[r][i]), _mm512_set1_ps(scales[r]),
                                                 _mm512_loadu_ps(to)));
        }
}

/* `rows` queries in sets of `size`. */
INLINE void attend_sets(const HeadCache *cache, const float *queries, int stride, int rows, const int size, int from,
                        const int *limits, float scale, float *scratch, float *largest, float *total, float *out,
                        int out_stride) {
    int count = longest_of(limits, rows) - from, head_dim = cache->head_dim, padded_dim = cache->padded_dim;
    int width = (count + POSITION_STEP - 1) / POSITION_STEP * POSITION_STEP;
    int sets = (rows + size - 1) / size, counts[MAX_QUERIES], sizes[MAX_QUERIES];
    /* As many sums at a time as the registers hold. */
    const int vectors = size <= FEW ? 4 : 2, parts = size <= FEW ? 4 : 2;
    int16_t *codes = (int16_t *)(scratch + MAX_QUERIES * width);
    float *sums = scratch + MAX_QUERIES * (width + padded_dim);
    QuerySet query_sets[MAX_QUERIES / SET];
    int16_t words[SET * VALUE_BLOCK];
    float scales[SET];
    for (int s = 0; s < sets; s++) {
        sizes[s] = rows - s * size < size ? rows - s * size : size;
        counts[s] = longest_of(limits + s * size, sizes[s]) - from;
        query_sets[s].codes = codes + s * size * head_dim;
        round_queries(queries + s * size * stride, stride, sizes[s], size, head_dim, scale, &query_sets[s]);
    }
    for (int t = 0; t < count; t += VALUE_BLOCK)
        for (int s = 0; s < sets; s++) {
            int end = counts[s] - t < VALUE_BLOCK ? counts[s] - t : VALUE_BLOCK, at = 0;
            float *scores = scratch + s * size * width + t;
            for (; at + (vectors - 1) * KEYS < end; at += vectors * KEYS)
                score_blocks(cache, from + t + at, &query_sets[s], size, vectors, scores + at, width);
            for (; at < end; at += KEYS)
                score_blocks(cache, from + t + at, &query_sets[s], size, 1, scores + at, width);
        }
    for (int r = 0; r < rows; r++)
        soften(scratch + r * width, limits[r] - from, width, &largest[r], &total[r]);
    memset(sums, 0, (size_t)(sets * size * padded_dim) * sizeof *sums);
    memset(words, 0, sizeof words);
    memset(scales, 0, sizeof scales);
    for (int t = 0; t < count; t += VALUE_BLOCK) {
        const int16_t *values = value_pair(cache, from + t);
        for (int s = 0; s < sets; s++) {
            int some = counts[s] - t < VALUE_BLOCK ? counts[s] - t : VALUE_BLOCK, d = 0;
            if (some <= 0) continue;
            for (int r = 0; r < sizes[s]; r++)
                scales[r] = round_weights(cache, from + t, scratch + (s * size + r) * width + t, some,
                                          words + r * VALUE_BLOCK);
            float *to = sums + s * size * padded_dim;
            int pairs = (some + 1) / 2;
            for (; d + 16 * parts <= head_dim; d += 16 * parts)
                gather_words(values + 2 * d, padded_dim, words, scales, pairs, size, parts, to + d);
            for (; d < head_dim; d += 16)
                gather_words(values + 2 * d, padded_dim, words, scales, pairs, size, 1, to + d);
        }
    }
    for (int r = 0; r < rows; r++)
        memcpy(out + r * out_stride, sums + r * padded_dim, (size_t)padded_dim * sizeof *out);
}

TARGET static void attend_rounded(const HeadCache *cache, const float *queries, int stride, int rows, int from,
                                  const int *limits, float scale, float *scratch, float *largest, float *total,
                                  float *out, int out_stride) {
#define ATTEND(size)                                                                               \
    attend_sets(cache, queries, stride, rows, size, from, limits, scale, scratch, largest, total, out, out_stride)
    BY_ROWS(rows, SET, ATTEND)
#undef ATTEND
}

static const Attention rounded_attention = {
    .most_queries = MAX_QUERIES,
    .scale_cells = SCALE_CELLS,
    .attend = attend_rounded,
    .store = store_rounded,
};

static const Attention *find_rounded_attention(int head_dim) {
    return rounds_heads(head_dim) ? &rounded_attention : NULL;
}
