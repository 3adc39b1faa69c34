/* The arithmetic of a step on vectors of eight floats, included once by each level.
 *
 * The level defines v8 and its operations, TARGET, NIBBLE_MASK, QUANTISE4, LEVEL_NAME, LEVEL_SUPPORTED and LEVEL_KERNELS. It defines
 * multiply_panel4 and multiply_panel8, or in their place MULTIPLY_CODES, which multiplies matrices of 4 and 8 bits with any number
 * of positions, and how the codes of several lie for that: TOGETHER and UNPACKED_BYTES. It may define QUANTISE8 and BYTE_MASK.
 * BEGIN_STEP and END_STEP are what a thread does around a step. HALVE rounds values to halves, which MULTIPLY_HALVES multiplies. If it
 * defines MANY, with v8_fma_many and v8_turn_many, attention takes so many rows at once. ATTENTION_FILE names a file with its rounded
 * attention, if it has one. */

#ifndef QUANTISE8
#define QUANTISE8 quantise
#endif

#ifndef BYTE_MASK
#define BYTE_MASK 0
#endif

#ifndef MULTIPLY_CODES
#define TOGETHER 1
#define UNPACKED_BYTES 0
#endif

#ifndef BEGIN_STEP
static void begin_nothing(bool halved) { (void)halved; }
static void end_nothing(void) {}
#define BEGIN_STEP begin_nothing
#define END_STEP end_nothing
#endif

#ifndef HALVE
#define HALVE NULL
#endif

/* Rows of queries whose sums fit the registers of any level. */
#define FEW 6
#ifdef MANY
#define MOST_QUERIES MAX_QUERIES
#else
#define MOST_QUERIES FEW
#endif

#ifndef INLINE
#define INLINE TARGET static inline __attribute__((always_inline))
#endif
#ifndef TINY
#define TINY 1e-30f /* a group whose values are all smaller counts as zeros */
#endif

/* e to the power of x, within 3 units in the last place; below -87 it gives the smallest normal. Numbers are at most 88. */
INLINE v8 v8_exp_below(v8 x) {
    x = v8_max(x, v8_splat(-87.0f));
    v8 whole = v8_round_product(x, 1.44269504f);
    /* The rest after whole * log(2), with log(2) in two parts so that nothing is lost. */
    v8 rest = v8_fma(whole, v8_splat(-0.693359375f), x);
    rest = v8_fma(whole, v8_splat(2.12194440e-4f), rest);
    /* Coefficients that make the largest error smallest (from Arm's optimized routines), in an order that waits little. */
    v8 square = v8_mul(rest, rest);
    v8 high = v8_fma(rest, v8_splat(0x1.0e4020p-7f), v8_splat(0x1.573e2ep-5f));
    v8 low = v8_fma(rest, v8_splat(0x1.555e66p-3f), v8_splat(0x1.fffdb6p-2f));
    v8 series = v8_fma(v8_fma(high, square, low), square, v8_mul(rest, v8_splat(0x1.ffffecp-1f)));
    v8 power = v8_power_of_two(whole);
    return v8_fma(series, power, power);
}

INLINE v8 v8_exp(v8 x) { return v8_exp_below(v8_min(x, v8_splat(88.0f))); }

TARGET static float exponential(float x) {
    float lanes[8];
    v8_store(lanes, v8_exp(v8_splat(x)));
    return lanes[0];
}

TARGET static float highest(const float *x, int count) {
    v8 most = v8_load(x);
    for (int i = 8; i < count; i += 8) most = v8_max(most, v8_load(x + i));
    return v8_largest(most);
}

TARGET static float sum_exponentials(const float *x, int count, float shift) {
    v8 sum = v8_splat(0.0f);
    for (int i = 0; i < count; i += 8)
        sum = v8_add(sum, v8_exp(v8_sub(v8_load(x + i), v8_splat(shift))));
    return v8_sum(sum);
}

TARGET static void fold(const float *scores, int panels, int n, Fold *folds, float *highest) {
    size_t apart = (size_t)n * PANEL;
    for (int p = 0; p < n; p++, scores += PANEL) {
        v8 most = v8_load(scores), sum = v8_splat(0.0f);
        for (int i = 1; i < panels; i++) most = v8_max(most, v8_load(scores + (size_t)i * apart));
        highest[p] = v8_largest(most);
        if (highest[p] > folds[p].largest) {
            folds[p].total *= exponential(folds[p].largest - highest[p]);
            folds[p].largest = highest[p];
        }
        v8 shift = v8_splat(folds[p].largest);
        for (int i = 0; i < panels; i++)
            sum = v8_add(sum, v8_exp_below(v8_sub(v8_load(scores + (size_t)i * apart), shift)));
        folds[p].total += v8_sum(sum);
    }
}

TARGET static void swiglu(const float *products, int pairs, int n, float *out, size_t stride) {
    size_t apart = (size_t)n * PANEL;
    v8 one = v8_splat(1.0f), zero = v8_splat(0.0f);
    /* A position's outcomes lie side by side: all of them are written before the next position's. */
    for (int p = 0; p < n; p++, products += PANEL, out += stride)
        for (int i = 0; i < pairs; i++) {
            const float *gate = products + 2 * (size_t)i * apart;
            v8 x = v8_load(gate);
            v8 divisor = v8_add(one, v8_exp(v8_sub(zero, x)));
            v8_store(out + i * PANEL, v8_div(v8_mul(x, v8_load(gate + apart)), divisor));
        }
}

/* x times the normal distribution's cumulative probability, from erf by Abramowitz and Stegun's
 * formula 7.1.26, which is within 1.5e-7. */
TARGET static void gelu(const float *values, const float *bias, int n, float *out, size_t stride) {
    v8 biases = v8_load(bias), one = v8_splat(1.0f), zero = v8_splat(0.0f);
    for (int p = 0; p < n; p++, values += PANEL, out += stride) {
        v8 x = v8_add(v8_load(values), biases);
        v8 z = v8_mul(v8_abs(x), v8_splat(0.70710678f));
        v8 t = v8_div(one, v8_fma(z, v8_splat(0.3275911f), one));
        v8 series = v8_splat(1.061405429f);
        series = v8_fma(series, t, v8_splat(-1.453152027f));
        series = v8_fma(series, t, v8_splat(1.421413741f));
        series = v8_fma(series, t, v8_splat(-0.284496736f));
        series = v8_fma(series, t, v8_splat(0.254829592f));
        v8 tail = v8_mul(v8_mul(series, t), v8_exp_below(v8_sub(zero, v8_mul(z, z))));
        /* x Phi(x) = max(x, 0) - |x| tail / 2, for both signs of x. */
        v8 half = v8_mul(v8_abs(x), v8_mul(tail, v8_splat(0.5f)));
        v8_store(out, v8_sub(v8_max(x, zero), half));
    }
}

TARGET static void rms_norm(const float *x, const float *weight, int width, float eps, float *out) {
    v8 squares = v8_splat(0.0f);
    for (int i = 0; i < width; i += 8) {
        v8 part = v8_load(x + i);
        squares = v8_fma(part, part, squares);
    }
    v8 factor = v8_splat(1.0f / sqrtf(v8_sum(squares) / (float)width + eps));
    for (int i = 0; i < width; i += 8)
        v8_store(out + i, v8_mul(v8_mul(v8_load(x + i), factor), v8_load(weight + i)));
}

TARGET static void layer_norm(const float *x, const float *weight, const float *bias, int width,
                              float eps, float *out) {
    v8 sum = v8_splat(0.0f);
    for (int i = 0; i < width; i += 8) sum = v8_add(sum, v8_load(x + i));
    float average = v8_sum(sum) / (float)width;
    v8 mean = v8_splat(average), squares = v8_splat(0.0f);
    for (int i = 0; i < width; i += 8) {
        v8 part = v8_sub(v8_load(x + i), mean);
        squares = v8_fma(part, part, squares);
    }
    int padding = (width + 7) / 8 * 8 - width;
    float variance = (v8_sum(squares) - (float)padding * average * average) / (float)width;
    v8 factor = v8_splat(1.0f / sqrtf(variance + eps));
    for (int i = 0; i < width; i += 8) {
        v8 part = v8_mul(v8_sub(v8_load(x + i), mean), factor);
        v8_store(out + i, v8_fma(part, v8_load(weight + i), v8_load(bias + i)));
    }
}

/* The largest of a group's values, signs aside. */
INLINE float largest_size(const float *values) {
    v8 largest = v8_abs(v8_load(values));
    for (int i = 8; i < GROUP; i += 8) largest = v8_max(largest, v8_abs(v8_load(values + i)));
    return v8_largest(largest);
}

TARGET static void quantise(const Activations *in, int position) {
    const float *values = in->values + (size_t)position * (size_t)in->cols;
    size_t first = first_group(in, position), apart = (size_t)in->together;
    int8_t *codes = in->codes + first * GROUP;
    float *scales = in->scales + first, *sums = in->sums + first;
    /* In two rounds, so that groups need not wait for one another's divisions. */
    for (int group = 0; group < in->groups; group++)
        scales[(size_t)group * apart] = largest_size(values + group * GROUP) * (1.0f / 127);
    for (int group = 0; group < in->groups; group++, values += GROUP, codes += GROUP * apart) {
        float scale = scales[(size_t)group * apart];
        v8 inverse = v8_splat(scale > TINY ? 1.0f / scale : 0.0f);
        v8 sum = v8_splat(0.0f);
        for (int i = 0; i < GROUP; i += 8) {
            v8 whole = v8_round(v8_mul(v8_load(values + i), inverse));
            sum = v8_add(sum, whole);
            v8_store_int8(codes + i, whole);
        }
        sums[(size_t)group * apart] = scale * v8_sum(sum);
    }
}

INLINE void multiply_panel32(const unsigned char *panel, int groups, const Activations *in,
                             int position, const int count, float *out) {
    const Tile32 *tile = (const Tile32 *)panel;
    int cols = groups * GROUP;
    const float *values = in->values + (size_t)position * (size_t)in->cols;
    v8 total[QUAD];
    for (int p = 0; p < count; p++) total[p] = v8_splat(0.0f);
    for (int col = 0; col < cols; col++) {
        v8 weight = v8_load(tile[col].values);
        for (int p = 0; p < count; p++)
            total[p] = v8_fma_scalar(weight, values[p * cols + col], total[p]);
    }
    for (int p = 0; p < count; p++) v8_store(out + p * PANEL, total[p]);
}

/* One panel times n positions: fours first, then one by one. */
#define MULTIPLY_ALL(function)                                                               \
    do {                                                                                     \
        int position = 0;                                                                    \
        for (; position + QUAD <= n; position += QUAD)                                       \
            function(panel, matrix->groups, in, position, QUAD, out + position * PANEL);     \
        for (; position < n; position++)                                                     \
            function(panel, matrix->groups, in, position, 1, out + position * PANEL);        \
    } while (0)

TARGET static void multiply(const Matrix *matrix, int first, int count, const Activations *in, int n,
                            float *out) {
    const unsigned char *panel = matrix->data + (size_t)first * matrix->panel_bytes;
#ifdef MULTIPLY_HALVES
    if (matrix->bits != 32 && in->halved) {
        MULTIPLY_HALVES(matrix, panel, count, in, n, out);
        return;
    }
#endif
#ifdef MULTIPLY_CODES
    if (matrix->bits != 32) {
        MULTIPLY_CODES(matrix, first, count, in, n, out);
        return;
    }
#endif
    for (int i = 0; i < count; i++, panel += matrix->panel_bytes, out += n * PANEL) {
#ifndef MULTIPLY_CODES
        if (matrix->bits == 4)
            MULTIPLY_ALL(multiply_panel4);
        else if (matrix->bits == 8)
            MULTIPLY_ALL(multiply_panel8);
        else
#endif
            MULTIPLY_ALL(multiply_panel32);
    }
}

TARGET static void read_row(const Matrix *matrix, int row, float *out) {
    const unsigned char *panel = matrix->data + (size_t)(row / PANEL) * matrix->panel_bytes;
    const PanelHead *head = (const PanelHead *)panel;
    int lane = row % PANEL;
    if (matrix->bits == 32) {
        for (int col = 0; col < matrix->cols; col++)
            out[col] = ((const Tile32 *)panel)[col].values[lane];
        return;
    }
    for (int group = 0; group < matrix->groups; group++, out += GROUP) {
        if (matrix->bits == 8) {
            const Tile8 *tile = (const Tile8 *)(head + 1) + group;
            for (int i = 0; i < GROUP; i++)
                out[i] = head->scales[lane] * (float)(int8_t)(tile->codes[i / 4][lane][i % 4] ^ BYTE_MASK);
            continue;
        }
        const Tile4 *tile = (const Tile4 *)(head + 1) + group;
        float scale = head->scales[lane] * (float)tile->scales[lane];
        float minimum = head->minima[lane] * (float)tile->minima[lane];
        for (int i = 0; i < GROUP / 2; i++) {
            int both = tile->codes[i / 4][lane][i % 4] ^ NIBBLE_MASK;
            out[i] = scale * (float)(both & 15) - minimum;
            out[i + GROUP / 2] = scale * (float)(both >> 4) - minimum;
        }
    }
}

/* The upper half of a float, rounded to the nearest, halves to even. */
static inline uint16_t upper(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static void store(const HeadCache *cache, int position, const float *key, const float *value) {
    size_t block = (size_t)(position / KEY_BLOCK) * KEY_BLOCK;
    uint16_t *keys = cache->keys + block * (size_t)cache->head_dim + position % KEY_BLOCK;
    uint16_t *values = cache->values + (size_t)position * (size_t)cache->padded_dim;
    for (int d = 0; d < cache->head_dim; d++) keys[d * KEY_BLOCK] = upper(key[d]);
    for (int d = 0; d < cache->head_dim; d++) values[d] = upper(value[d]);
}

/* Loops over sums are written out, so that sums stay in registers. */
#define ALL _Pragma("GCC unroll 12")


/* Scores of `rows` queries for `blocks` blocks of keys at a time. */
INLINE void score(const HeadCache *cache, const float *queries, int stride, const int rows, int from,
                  int width, const int blocks, float scale, float *scores) {
    int head_dim = cache->head_dim;
    const uint16_t *keys = cache->keys + (size_t)from * (size_t)head_dim;
    for (int at = 0; at < width; at += blocks * KEY_BLOCK, keys += blocks * KEY_BLOCK * head_dim) {
        v8 sum[FEW][2];
        for (int r = 0; r < rows; r++)
            for (int b = 0; b < blocks; b++) sum[r][b] = v8_splat(0.0f);
        for (int d = 0; d < head_dim; d++) {
            v8 key[2];
            for (int b = 0; b < blocks; b++)
                key[b] = v8_load_upper(keys + (b * head_dim + d) * KEY_BLOCK);
            for (int r = 0; r < rows; r++)
                for (int b = 0; b < blocks; b++)
                    sum[r][b] = v8_fma_scalar(key[b], queries[r * stride + d], sum[r][b]);
        }
        for (int r = 0; r < rows; r++)
            for (int b = 0; b < blocks; b++)
                v8_store(scores + r * width + at + b * KEY_BLOCK,
                         v8_mul(sum[r][b], v8_splat(scale)));
    }
}

/* Turn `count` scores into exp(score - largest), with zeros from there to `width`. */
TARGET static void soften(float *scores, int count, int width, float *largest, float *total) {
    for (int i = count; i < width; i++) scores[i] = -INFINITY;
    v8 highest = v8_load(scores);
    for (int i = 8; i < width; i += 8) highest = v8_max(highest, v8_load(scores + i));
    float most = v8_largest(highest);
    v8 sum = v8_splat(0.0f), shift = v8_splat(most);
    int i = 0;
    for (; i + 8 <= count; i += 8) {
        v8 weight = v8_exp_below(v8_sub(v8_load(scores + i), shift));
        v8_store(scores + i, weight);
        sum = v8_add(sum, weight);
    }
    if (i < count) {
        v8_store(scores + i, v8_exp_below(v8_sub(v8_load(scores + i), shift)));
        /* What lies past the end weighs nothing; the exponential never gets quite so low. */
        for (int j = count; j < i + 8; j++) scores[j] = 0.0f;
        sum = v8_add(sum, v8_load(scores + i));
        i += 8;
    }
    for (; i < width; i += 8) v8_store(scores + i, v8_splat(0.0f));
    *largest = most;
    *total = v8_sum(sum);
}

/* Add values weighted by the scores, for `parts` vectors of dimensions at a time. */
INLINE void gather(const uint16_t *values, int padded_dim, const float *scores, int width, int count,
                   const int rows, const int parts, float *out, int out_stride) {
    v8 sum[FEW][4];
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < parts; i++) sum[r][i] = v8_load(out + r * out_stride + 8 * i);
    for (int t = 0; t < count; t++, values += padded_dim) {
        v8 part[4];
        for (int i = 0; i < parts; i++) part[i] = v8_load_upper(values + 8 * i);
        for (int r = 0; r < rows; r++)
            for (int i = 0; i < parts; i++)
                sum[r][i] = v8_fma_scalar(part[i], scores[r * width + t], sum[r][i]);
    }
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < parts; i++) v8_store(out + r * out_stride + 8 * i, sum[r][i]);
}

INLINE int longest_of(const int *limits, int rows) {
    int longest = limits[0];
    for (int r = 1; r < rows; r++) longest = limits[r] > longest ? limits[r] : longest;
    return longest;
}

INLINE void attend_rows(const HeadCache *cache, const float *queries, int stride, const int rows,
                        int from, const int *limits, float scale, float *scratch, float *largest,
                        float *total, float *out, int out_stride) {
    int count = longest_of(limits, rows) - from;
    int width = (count + POSITION_STEP - 1) / POSITION_STEP * POSITION_STEP;
    /* As many sums at a time as the registers hold. */
    const int blocks = rows < 6 ? 2 : 1, parts = rows < 3 ? 4 : rows < 6 ? 2 : 1;
    score(cache, queries, stride, rows, from, width, blocks, scale, scratch);
    for (int r = 0; r < rows; r++)
        soften(scratch + r * width, limits[r] - from, width, &largest[r], &total[r]);

    for (int r = 0; r < rows; r++)
        for (int d = 0; d < cache->padded_dim; d += 8) v8_store(out + r * out_stride + d, v8_splat(0.0f));
    for (int t = 0; t < count; t += VALUE_BLOCK) {
        const uint16_t *values = cache->values + (size_t)(from + t) * (size_t)cache->padded_dim;
        int some = count - t < VALUE_BLOCK ? count - t : VALUE_BLOCK, d = 0;
        for (; d + 8 * parts <= cache->padded_dim; d += 8 * parts)
            gather(values + d, cache->padded_dim, scratch + t, width, some, rows, parts, out + d, out_stride);
        for (; d < cache->padded_dim; d += 8)
            gather(values + d, cache->padded_dim, scratch + t, width, some, rows, 1, out + d, out_stride);
    }
}

#ifdef MANY
/* ---- Attention of many rows, MANY at a time ----
 *
 * Keys and values become floats once for all rows, since to convert them between products costs as much as
 * some of these. What rows have of one dimension or position lies together. */

INLINE void unpack_upper(const uint16_t *from, int count, float *to) {
    for (int i = 0; i < count; i += 8) v8_store(to + i, v8_load_upper(from + i));
}

/* Scores of MANY queries for `count` positions, rounded up to whole blocks of keys. */
INLINE void score_many(const float *keys, const float *queries, int head_dim, int count, float scale,
                       float *scores, int width) {
    for (int at = 0; at < count; at += KEY_BLOCK) {
        v8 sum[MANY];
        ALL for (int r = 0; r < MANY; r++) sum[r] = v8_splat(0.0f);
        for (int d = 0; d < head_dim; d++, keys += KEY_BLOCK)
            v8_fma_many(v8_load(keys), queries + d * MANY, sum);
        ALL for (int r = 0; r < MANY; r++)
            v8_store(scores + r * width + at, v8_mul(sum[r], v8_splat(scale)));
    }
}

INLINE void gather_many(const float *values, int padded_dim, const float *weights, int count, float *out) {
    v8 sum[MANY];
    ALL for (int r = 0; r < MANY; r++) sum[r] = v8_load(out + r * padded_dim);
    for (int t = 0; t < count; t++, values += padded_dim, weights += MANY)
        v8_fma_many(v8_load(values), weights, sum);
    ALL for (int r = 0; r < MANY; r++) v8_store(out + r * padded_dim, sum[r]);
}

TARGET static void attend_many(const HeadCache *cache, const float *queries, int stride, int rows,
                               int from, const int *limits, float scale, float *scratch, float *largest,
                               float *total, float *out, int out_stride) {
    int count = longest_of(limits, rows) - from, head_dim = cache->head_dim, padded_dim = cache->padded_dim;
    int width = (count + POSITION_STEP - 1) / POSITION_STEP * POSITION_STEP;
    int sets = (rows + MANY - 1) / MANY, counts[MAX_QUERIES / MANY];
    float *turned = scratch + MAX_QUERIES * width, *sums = turned + MAX_QUERIES * padded_dim;
    float *weights = sums + MAX_QUERIES * padded_dim, *floats = weights + MANY * VALUE_BLOCK;
    for (int set = 0; set < sets; set++) {
        int some = rows - set * MANY < MANY ? rows - set * MANY : MANY;
        counts[set] = longest_of(limits + set * MANY, some) - from;
        for (int d = 0; d < head_dim; d++)
            for (int r = 0; r < MANY; r++)
                turned[(set * head_dim + d) * MANY + r] = r < some ? queries[(set * MANY + r) * stride + d] : 0.0f;
    }
    for (int t = 0; t < count; t += VALUE_BLOCK) {
        int block = width - t < VALUE_BLOCK ? width - t : VALUE_BLOCK;
        unpack_upper(cache->keys + (size_t)(from + t) * (size_t)head_dim, block * head_dim, floats);
        for (int set = 0; set < sets; set++) {
            int some = counts[set] - t < block ? counts[set] - t : block;
            score_many(floats, turned + set * head_dim * MANY, head_dim, some, scale,
                       scratch + set * MANY * width + t, width);
        }
    }
    for (int r = 0; r < rows; r++)
        soften(scratch + r * width, limits[r] - from, width, &largest[r], &total[r]);
    memset(sums, 0, (size_t)(sets * MANY * padded_dim) * sizeof *sums);
    for (int t = 0; t < count; t += VALUE_BLOCK) {
        int block = count - t < VALUE_BLOCK ? count - t : VALUE_BLOCK;
        unpack_upper(cache->values + (size_t)(from + t) * (size_t)padded_dim, block * padded_dim, floats);
        for (int set = 0; set < sets; set++) {
            int some = counts[set] - t < block ? counts[set] - t : block;
            if (some <= 0) continue;
            v8_turn_many(scratch + set * MANY * width + t, width, some, weights);
            for (int d = 0; d < padded_dim; d += 8)
                gather_many(floats + d, padded_dim, weights, some, sums + set * MANY * padded_dim + d);
        }
    }
    for (int r = 0; r < rows; r++)
        memcpy(out + r * out_stride, sums + r * padded_dim, (size_t)padded_dim * sizeof *out);
}
#endif

TARGET static void attend_few(const HeadCache *cache, const float *queries, int stride, int rows, int from,
                              const int *limits, float scale, float *scratch, float *largest,
                              float *total, float *out, int out_stride) {
    /* The number of rows is a constant in each call, so that their sums stay in registers. */
#define ATTEND(constant)                                                                         \
    case constant:                                                                               \
        attend_rows(cache, queries, stride, constant, from, limits, scale, scratch, largest, total, \
                    out, out_stride);                                                            \
        break;
    switch (rows) {
        ATTEND(1)
        ATTEND(2)
        ATTEND(3)
        ATTEND(4)
        ATTEND(5)
        ATTEND(6)
    }
#undef ATTEND
}

TARGET static void attend(const HeadCache *cache, const float *queries, int stride, int rows, int from,
                          const int *limits, float scale, float *scratch, float *largest, float *total,
                          float *out, int out_stride) {
#ifdef MANY
    if (rows > FEW) {
        attend_many(cache, queries, stride, rows, from, limits, scale, scratch, largest, total, out,
                    out_stride);
        return;
    }
#endif
    attend_few(cache, queries, stride, rows, from, limits, scale, scratch, largest, total, out, out_stride);
}

/* Few rows are one set of as many, others come in sets of `many`: a constant in each call, so that sums stay in registers. */
#define BY_ROWS(rows, many, attend)                                                                \
    switch (rows) {                                                                                \
        case 1: attend(1); break;                                                                  \
        case 2: attend(2); break;                                                                  \
        case 3: attend(3); break;                                                                  \
        case 4: attend(4); break;                                                                  \
        case 5: attend(5); break;                                                                  \
        case 6: attend(6); break;                                                                  \
        default: attend(many); break;                                                              \
    }
_Static_assert(FEW == 6, "the cases of BY_ROWS");

#ifdef ATTENTION_FILE
#include ATTENTION_FILE
#else
static const Attention *find_rounded_attention(int head_dim) {
    (void)head_dim;
    return NULL;
}
#endif

const Kernels LEVEL_KERNELS = {
    .name = LEVEL_NAME,
    .supported = LEVEL_SUPPORTED,
    .nibble_mask = NIBBLE_MASK,
    .byte_mask = BYTE_MASK,
    .begin_step = BEGIN_STEP,
    .end_step = END_STEP,
    .together = TOGETHER,
    .unpacked_bytes = UNPACKED_BYTES,
    .multiply = multiply,
    .read_row = read_row,
    .quantise4 = QUANTISE4,
    .quantise8 = QUANTISE8,
    .halve = HALVE,
    .rms_norm = rms_norm,
    .layer_norm = layer_norm,
    .swiglu = swiglu,
    .gelu = gelu,
    .attention = {.most_queries = MOST_QUERIES, .attend = attend, .store = store},
    .rounded_attention = find_rounded_attention,
    .exponential = exponential,
    .highest = highest,
    .sum_exponentials = sum_exponentials,
    .fold = fold,
};
