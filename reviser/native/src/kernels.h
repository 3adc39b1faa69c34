/* What a level offers: the arithmetic of a step, in the instructions of one kind of processor. */

#ifndef REVISER_KERNELS_H
#define REVISER_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    /* Columns that share a scale, in weights and in activations. */
    GROUP = 32,
    /* Rows that are stored together, one in each lane of a vector of sums. */
    PANEL = 8,
    /* Positions that a product takes at once, so that a weight is unpacked once for all of them. */
    QUAD = 4,
    /* Panels that are multiplied with several positions at once: their outcomes then fill whole cache lines. */
    MOST_PANELS = 4,
    /* Rows of queries that attention takes at once, at any level. */
    MAX_QUERIES = 48,
    /* Positions of one block of keys, which lie dimension by dimension inside it. */
    KEY_BLOCK = 8,
    /* Attention takes this many positions at once; what a cache allocates is a multiple of it. */
    POSITION_STEP = 2 * KEY_BLOCK,
    /* Positions whose values are summed up for all dimensions before the next ones: they stay in the first-level
     * cache meanwhile. */
    VALUE_BLOCK = 64,
};

/* A tile is eight rows of one group. The group's 32 columns lie as eight fours, and vector j holds the
 * j-th four of every row, which is what dot-product instructions want: lane r sums up row r.
 *
 * At 4 bits a weight is row scale * scale * code - row minimum * minimum, with codes 0 to 15. Low
 * nibbles hold the first 16 columns and high nibbles the last 16, in the form that the level's
 * `nibble_mask` gives them. */
typedef struct {
    uint8_t scales[PANEL];
    uint8_t minima[PANEL];
    uint8_t codes[GROUP / 8][PANEL][4];
} Tile4;

/* At 8 bits a weight is row scale * code, with codes -127 to 127 in the form that the level's `byte_mask` gives them. */
typedef struct {
    int8_t codes[GROUP / 4][PANEL][4];
} Tile8;

/* Full precision: eight rows of one column. */
typedef struct {
    float values[PANEL];
} Tile32;

/* What a panel of quantised rows begins with; minima at 4 bits only. */
typedef struct {
    float scales[PANEL];
    float minima[PANEL];
} PanelHead;

/* A matrix in panels of eight rows, each a run of tiles; a quantised one has its head first. Columns are padded to whole groups and rows
 * to whole panels, with zeros. */
typedef struct {
    int bits;
    int rows, cols;
    int panels, groups;
    size_t panel_bytes;
    unsigned char *data;
} Matrix;

/* The right-hand side of a product, for several positions. Values of position p begin at values + p * cols.
 * Codes and what belongs to them lie group by group for `together` neighbours, of which there is one unless a
 * level wants more: see `first_group`. A group's values are scale * code, and `sums` holds the sum of its values,
 * which meets the weights' minimum. A level may keep other codes for its products, and in `starts`
 * up to four copies of the number from which a group's sum of products begins. Products with 32-bit
 * matrices use `values`. If it is `halved`, others use `halves`: the values rounded to the upper halves of floats, as `halve` lays
 * them out. */
typedef struct {
    int cols, groups, together;
    bool halved;
    float *values;
    uint16_t *halves;
    int8_t *codes;
    float *scales;
    float *sums;
    int32_t *starts;
    unsigned char *unpacked; /* room for what a level makes of MOST_PANELS panels of a matrix */
} Activations;

/* Where the first group of a position lies, counted in groups; the next ones follow `together` further on each. */
static inline size_t first_group(const Activations *in, int position) {
    int ahead = position % in->together;
    return (size_t)(position - ahead) * (size_t)in->groups + (size_t)ahead;
}

/* Keys and values of one head in the cache, mostly as the upper halves of floats: reading them takes
 * no conversion. Keys: [block][dimension][8 positions].
 * Values: [position][padded dimension]. A level's rounded attention may keep them in its own way, in the same room and
 * `scale_cells` more numbers for each key. */
typedef struct {
    uint16_t *keys;
    uint16_t *values;
    int head_dim;
    int padded_dim;
} HeadCache;

/* Attention over the cache of one head. */
typedef struct {
    /* Rows of queries that it takes at once. */
    int most_queries;
    int scale_cells;
    /* Attend from `queries` rows (at most `most_queries`, each `stride` floats after the last) to cached
     * positions [from, limits[row]), where from is a multiple of POSITION_STEP. Row r's outcome is
     * the largest score, the sum of exp(score - largest) and the sum of values weighted by those.
     * `scratch` holds most_queries * (positions rounded up to POSITION_STEP + 2 * padded dimensions +
     * VALUE_BLOCK) + VALUE_BLOCK * padded dimensions floats. */
    void (*attend)(const HeadCache *cache, const float *queries, int stride, int rows, int from,
                   const int *limits, float scale, float *scratch, float *largest, float *total,
                   float *out, int out_stride);
    /* Write a key and a value; threads may write those of different positions at the same time. */
    void (*store)(const HeadCache *cache, int position, const float *key, const float *value);
} Attention;

/* What some of the scores of one position say: the largest, the sum of exp(score - largest), and the two
 * highest ones that may be chosen. */
typedef struct {
    float largest, total;
    float first, second;
    int32_t first_id, second_id;
} Fold;

typedef struct {
    const char *name;
    bool (*supported)(void);
    /* Exclusive-or of a byte with two 4-bit codes, as packed for this level. */
    uint8_t nibble_mask;
    /* The same of a byte with one 8-bit code. */
    uint8_t byte_mask;

    /* What a thread does before and after its part of a step, whose products may be of halves. */
    void (*begin_step)(bool halved);
    void (*end_step)(void);
    /* Positions whose codes lie together if there are several, and the bytes that it unpacks a group of a panel
     * to, for these. */
    int together, unpacked_bytes;
    /* Rows of panels [first, first + count) times positions [0, n): out[panel][position][8]. At most MOST_PANELS
     * panels if there are several positions. */
    void (*multiply)(const Matrix *matrix, int first, int count, const Activations *in, int n,
                     float *out);
    /* The values of one row, padded to whole groups. */
    void (*read_row)(const Matrix *matrix, int row, float *out);

    /* Quantise `in->values` of one position for products with matrices of 4 or 8 bits. */
    void (*quantise4)(const Activations *in, int position);
    void (*quantise8)(const Activations *in, int position);
    /* Round the values of one position to halves instead, or NULL. */
    void (*halve)(const Activations *in, int position, const float *values);

    /* Vectors below are padded with zeros to whole groups. */
    void (*rms_norm)(const float *x, const float *weight, int width, float eps, float *out);
    void (*layer_norm)(const float *x, const float *weight, const float *bias, int width, float eps,
                       float *out);
    /* What becomes of n positions' products with some panels, as `multiply` leaves them; positions of the outcome lie `stride`
     * floats apart. Panels of gates and of what they let through come by turns, in `pairs` pairs. */
    void (*swiglu)(const float *products, int pairs, int n, float *out, size_t stride);
    /* One panel. */
    void (*gelu)(const float *products, const float *bias, int n, float *out, size_t stride);

    /* Attention as exact as the cache's upper halves, and a quicker way that rounds more, or NULL for heads that it does not take. */
    Attention attention;
    const Attention *(*rounded_attention)(int head_dim);
    float (*exponential)(float x);
    /* The highest of a multiple of eight numbers, and the sum of the exponentials of x - shift. */
    float (*highest)(const float *x, int count);
    float (*sum_exponentials)(const float *x, int count, float shift);
    /* Add scores to what is known of n positions: `panels` panels of them, as `multiply` leaves them. Each
     * position's highest goes to `highest`. */
    void (*fold)(const float *scores, int panels, int n, Fold *folds, float *highest);
} Kernels;

/* The level of that name, or with NULL the best that this processor has. */
const Kernels *find_kernels(const char *name);

/* In the place of a level that the compiler cannot build: no processor has it. */
#define LEAVE_OUT(level)                       \
    static bool none(void) { return false; }   \
    const Kernels kernels_##level = {.name = #level, .supported = none}

extern const Kernels kernels_portable;
#if defined(__aarch64__)
extern const Kernels kernels_neon;
#elif defined(__x86_64__)
extern const Kernels kernels_avx2;
extern const Kernels kernels_avxvnni;
extern const Kernels kernels_vnni;
extern const Kernels kernels_amx;
#endif

#endif
