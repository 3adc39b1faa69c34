/* Attention for x86 processors beside models whose weights are rounded, too.
 *
 * Queries, keys and values are whole numbers of twelve bits with one scale for a head, and the weights that values get, of fourteen
 * bits with one scale for VALUE_BLOCK positions: so a dot product takes two dimensions or two positions, and no sum exceeds
 * 32 bits. The outcome of a row does not depend on which rows come with it: sums of whole numbers are exact, and the others
 * have one order.
 *
 * Included behind kernels_common.h and the level's operations on registers of LANES floats, `Floats`, or pairs of words, `Pairs`:
 * the functions below that begin with `floats` and `pairs`; `dot_pairs`, which adds to each lane of several sums what its two numbers
 * and the two codes are together; `put_words`, which rounds floats to words, and `put_every_other_word`. SET is the number of rows of queries
 * that are taken together if there are more than FEW, and MOST_SUMS how many sums the registers hold. */

enum {
    KEYS = POSITION_STEP, /* positions of a block */
    MOST_CODE = 2047,
    MOST_WEIGHT = 16383,
    WIDEST_HEAD = 512,
};
_Static_assert(KEYS % LANES == 0, "blocks of keys fill registers");
_Static_assert((int64_t)MOST_CODE * MOST_CODE * WIDEST_HEAD <= INT32_MAX, "products of keys fit 32 bits");
_Static_assert((int64_t)MOST_CODE * MOST_WEIGHT * VALUE_BLOCK <= INT32_MAX, "sums of values fit 32 bits");
_Static_assert(MAX_QUERIES % SET == 0 && MOST_SUMS / SET >= 2, "whole sets of rows, whose sums fit the registers");

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
    Floats most = floats_splat(0.0f);
    for (int i = 0; i < count; i += LANES) most = floats_max(most, floats_abs(floats_load(from + i)));
    float scale = floats_largest(most) / (float)MOST_CODE;
    *inverse = scale > TINY ? 1.0f / scale : 0.0f;
    return scale;
}

/* Round a head to codes, each pair of them `apart` pairs behind the last; returns their scale. */
INLINE float round_pairs(const float *from, int count, int16_t *to, int apart) {
    float inverse, scale = scale_of(from, count, &inverse);
    for (int i = 0; i < count; i += LANES) {
        uint32_t pairs[LANES / 2];
        put_words((int16_t *)pairs, floats_mul(floats_load(from + i), floats_splat(inverse)));
        for (int j = 0; j < LANES / 2; j++, to += 2 * apart) memcpy(to, &pairs[j], sizeof pairs[j]);
    }
    return scale;
}

TARGET static void store_rounded(const HeadCache *cache, int position, const float *key, const float *value) {
    int lane = position % KEYS;
    KeyBlock *block = key_block(cache, position);
    block->scales[lane] = round_pairs(key, cache->head_dim, block->codes[0][lane], KEYS);

    float inverse;
    block->value_scales[lane] = scale_of(value, cache->head_dim, &inverse);
    /* Another thread may be writing the other position of the pair: touch only this one's words. */
    int16_t *to = value_pair(cache, position) + position % 2;
    for (int d = 0; d < cache->head_dim; d += LANES)
        put_every_other_word(to + 2 * d, floats_mul(floats_load(value + d), floats_splat(inverse)));
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

/* Scores of `size` queries for `vectors` registers of keys. */
INLINE void score_keys(const HeadCache *cache, int position, const QuerySet *set, const int size, const int vectors,
                       float *scores, int width) {
    const int16_t *keys[4], *with = set->codes;
    const float *key_scales[4];
    Pairs sum[SET][4];
    for (int b = 0; b < vectors; b++) {
        const KeyBlock *block = key_block(cache, position + b * LANES);
        int lane = (position + b * LANES) % KEYS;
        keys[b] = block->codes[0][lane];
        key_scales[b] = block->scales + lane;
    }
    ALL for (int r = 0; r < size; r++)
        for (int b = 0; b < vectors; b++) sum[r][b] = pairs_zero();
    for (int i = 0; i < cache->head_dim; i += 2, with += 2 * size) {
        Pairs key[4];
        for (int b = 0; b < vectors; b++) key[b] = pairs_load(keys[b] + i * KEYS);
        ALL for (int r = 0; r < size; r++) dot_pairs(sum[r], key, vectors, with + 2 * r);
    }
    for (int b = 0; b < vectors; b++) {
        Floats key_scale = floats_load(key_scales[b]);
        ALL for (int r = 0; r < size; r++) {
            Floats product = floats_mul(pairs_floats(sum[r][b]), key_scale);
            floats_store(scores + r * width + b * LANES, floats_mul(product, floats_splat(set->scales[r])));
        }
    }
}

/* The weights of a row for up to VALUE_BLOCK positions, times the scales of their values, as words; returns the scale of these. */
INLINE float round_weights(const HeadCache *cache, int position, const float *row, int count, int16_t *words) {
    Floats products[VALUE_BLOCK / LANES], most = floats_splat(0.0f);
    for (int i = 0; i < VALUE_BLOCK / LANES; i++) {
        products[i] = floats_splat(0.0f);
        if (i * LANES >= count) continue;
        const KeyBlock *block = key_block(cache, position + i * LANES);
        products[i] = floats_mul(floats_load(row + i * LANES), floats_load(block->value_scales + i * LANES % KEYS));
        most = floats_max(most, products[i]);
    }
    float scale = floats_largest(most) / (float)MOST_WEIGHT;
    Floats inverse = floats_splat(scale > TINY ? 1.0f / scale : 0.0f);
    for (int i = 0; i < VALUE_BLOCK / LANES; i++) put_words(words + i * LANES, floats_mul(products[i], inverse));
    return scale;
}

/* Add values weighted for `size` rows, for `parts` vectors of dimensions. */
INLINE void gather_words(const int16_t *values, int padded_dim, const int16_t *words, const float *scales, int pairs,
                         const int size, const int parts, float *out) {
    Pairs sum[SET][4];
    ALL for (int r = 0; r < size; r++)
        for (int i = 0; i < parts; i++) sum[r][i] = pairs_zero();
    for (int t = 0; t < pairs; t++, values += 2 * padded_dim, words += 2) {
        Pairs value[4];
        for (int i = 0; i < parts; i++) value[i] = pairs_load(values + 2 * LANES * i);
        ALL for (int r = 0; r < size; r++) dot_pairs(sum[r], value, parts, words + r * VALUE_BLOCK);
    }
    ALL for (int r = 0; r < size; r++)
        for (int i = 0; i < parts; i++) {
            float *to = out + r * padded_dim + LANES * i;
            floats_store(to, floats_fma(pairs_floats(sum[r][i]), floats_splat(scales[r]), floats_load(to)));
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
    const int vectors = MOST_SUMS / size >= 4 ? 4 : 2, parts = vectors;
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
            for (; at + (vectors - 1) * LANES < end; at += vectors * LANES)
                score_keys(cache, from + t + at, &query_sets[s], size, vectors, scores + at, width);
            for (; at < end; at += LANES)
                score_keys(cache, from + t + at, &query_sets[s], size, 1, scores + at, width);
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
            for (; d + LANES * parts <= head_dim; d += LANES * parts)
                gather_words(values + 2 * d, padded_dim, words, scales, pairs, size, parts, to + d);
            for (; d < head_dim; d += LANES)
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
