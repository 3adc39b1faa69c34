/* Products with matrices of 4 and 8 bits in the dot-product instructions of AVX-512 VNNI, for the levels of processors that have them.
 * A level defines TARGET, includes simd_avx2.h before, and may define TOGETHER. */

#ifndef TOGETHER
#define TOGETHER 1
#endif

TARGET static inline __m256i dot_nibbles(__m256i sum, __m256i nibbles, __m256i codes) {
    return _mm256_dpbusd_epi32(sum, nibbles, codes);
}
TARGET static inline __m256i finish_nibbles(__m256i sum) { return sum; }

#include "multiply_avx2.h"

/* Bytes of 8-bit products: the instruction wants one factor unsigned, so codes of weights are kept 128 higher. A group's
 * sum of products begins at -128 times the sum of its inputs. */
#define BYTE_MASK 0x80
#define QUANTISE8 quantise_with_starts

TARGET static void quantise(const Activations *in, int position);

TARGET static void quantise_with_starts(const Activations *in, int position) {
    quantise(in, position);
    size_t at = first_group(in, position);
    for (int group = 0; group < in->groups; group++, at += (size_t)in->together) {
        __m256i all = _mm256_loadu_si256((const __m256i *)(in->codes + at * GROUP));
        __m256i sums = _mm256_dpbusd_epi32(_mm256_setzero_si256(), _mm256_set1_epi8(1), all);
        __m128i four = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
        four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4e));
        in->starts[at] = -128 * _mm_cvtsi128_si32(_mm_add_epi32(four, _mm_shuffle_epi32(four, 0xb1)));
    }
}

INLINE void multiply_panel8(const unsigned char *panel, int groups, const Activations *in, int position,
                            const int count, float *out) {
    const PanelHead *head = (const PanelHead *)panel;
    const Tile8 *tile = (const Tile8 *)(head + 1);
    const int8_t *codes = in->codes + (size_t)position * (size_t)in->cols;
    const float *scales = in->scales + (size_t)position * (size_t)in->groups;
    const int32_t *starts = in->starts + (size_t)position * (size_t)in->groups;
    v8 scaled[QUAD];
    for (int p = 0; p < count; p++) scaled[p] = v8_splat(0.0f);
    for (int group = 0; group < groups; group++, tile++, codes += GROUP) {
        __m256i dot[QUAD];
        for (int p = 0; p < count; p++) dot[p] = _mm256_set1_epi32(starts[p * groups + group]);
        for (int j = 0; j < GROUP / 4; j++) {
            __m256i weight = _mm256_loadu_si256((const __m256i *)tile->codes[j]);
            for (int p = 0; p < count; p++)
                dot[p] = _mm256_dpbusd_epi32(dot[p], weight, four(codes + p * in->cols + 4 * j));
        }
        for (int p = 0; p < count; p++)
            scaled[p] = v8_fma_scalar(_mm256_cvtepi32_ps(dot[p]), scales[p * groups + group], scaled[p]);
    }
    for (int p = 0; p < count; p++)
        v8_store(out + p * PANEL, v8_mul(scaled[p], v8_load(head->scales)));
}

/* ---- Two panels at once, in registers of 512 bits: the same sums in the same order ---- */

typedef int32_t Lane __attribute__((may_alias));

/* Add to each lane what its four bytes, unsigned, and the four codes are together. Written out, since compilers copy sums from
 * register to register around the intrinsic. */
INLINE void dot_fours(__m512i *sum, __m512i bytes, const int8_t *codes) {
    __asm__("vpdpbusd %2%{1to16%}, %1, %0" : "+v"(*sum) : "v"(bytes), "m"(*(const Lane *)codes));
}

/* 32 bytes of each of the panels. */
INLINE __m512i both_panels(const void *first, const void *second) {
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_loadu_si256(first)),
                              _mm256_loadu_si256(second), 1);
}

INLINE __m512 both_floats(const float *first, const float *second) {
    return _mm512_castsi512_ps(both_panels(first, second));
}

/* The products of one position with both panels, which lie `apart` floats from each other. */
INLINE void store_both(float *out, size_t apart, __m512 products) {
    v8_store(out, _mm512_castps512_ps256(products));
    __m512d halves = _mm512_castps_pd(products);
    v8_store(out + apart, _mm256_castpd_ps(_mm512_extractf64x4_pd(halves, 1)));
}

/* A group of both panels, unpacked: fours of bytes as they lie in tiles; at 4 bits scales and minima, too. */
typedef struct {
    __m512i fours[GROUP / 4];
    __m512 scale, minimum;
} Group;
#define UNPACKED_BYTES (sizeof(Group) / 2)

INLINE void unpack4(const Tile4 *tile, const Tile4 *next, Group *group) {
    const __m512i nibble = _mm512_set1_epi32(0x0f0f0f0f);
    for (int j = 0; j < GROUP / 8; j++) {
        __m512i both = both_panels(tile->codes[j], next->codes[j]);
        group->fours[j] = _mm512_and_si512(both, nibble);
        group->fours[j + GROUP / 8] = _mm512_and_si512(_mm512_srli_epi32(both, 4), nibble);
    }
    /* Scales, and the minima after them. */
    __m128i bytes = _mm_loadu_si128((const __m128i *)tile->scales);
    __m128i next_bytes = _mm_loadu_si128((const __m128i *)next->scales);
    group->scale = _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_unpacklo_epi64(bytes, next_bytes)));
    group->minimum = _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_unpackhi_epi64(bytes, next_bytes)));
}

INLINE void unpack8(const Tile8 *tile, const Tile8 *next, Group *group) {
    for (int j = 0; j < GROUP / 4; j++) group->fours[j] = both_panels(tile->codes[j], next->codes[j]);
}

/* What a product of both panels goes through: tiles, or groups that were unpacked before. */
typedef struct {
    const PanelHead *head, *next_head;
    const Group *unpacked; /* NULL: unpack each group when it is met */
    const char *following; /* where the panels after these lie */
    int bits, groups;
    size_t panel_bytes;
} Pair;

/* Alone, a position waits for memory. Ask for what the next two panels have in the place of a tile, since a processor does
 * not go on by itself from one page to the next. Past the end of the weights this does nothing. */
INLINE void ask_ahead(const void *tile, size_t bytes, size_t panel_bytes) {
    for (size_t at = 0; at < bytes; at += 64) _mm_prefetch((const char *)tile + 2 * panel_bytes + at, _MM_HINT_T0);
}

INLINE Group met_group(const Pair *pair, int index) {
    Group group;
    if (pair->bits == 4) {
        const Tile4 *tile = (const Tile4 *)(pair->head + 1) + index, *next = (const Tile4 *)(pair->next_head + 1) + index;
        ask_ahead(tile, sizeof *tile, pair->panel_bytes);
        ask_ahead(next, sizeof *next, pair->panel_bytes);
        unpack4(tile, next, &group);
    } else {
        const Tile8 *tile = (const Tile8 *)(pair->head + 1) + index, *next = (const Tile8 *)(pair->next_head + 1) + index;
        ask_ahead(tile, sizeof *tile, pair->panel_bytes);
        ask_ahead(next, sizeof *next, pair->panel_bytes);
        unpack8(tile, next, &group);
    }
    return group;
}

enum { AT_ONCE = 8 };

/* While several positions are multiplied, ask for a part of the panels that come next: lines from `part` of `parts` on, for each group. */
typedef struct {
    const char *from;
    int lines;
} Wanted;

INLINE Wanted wanted_part(const Pair *pair, int part, int parts) {
    int lines = (int)(2 * pair->panel_bytes / 64), share = (lines + parts - 1) / parts;
    int each = (share + pair->groups - 1) / pair->groups;
    int done = part * each * pair->groups;
    return (Wanted){pair->following + 64 * (size_t)done, done < lines ? each : 0};
}

INLINE void ask_for(Wanted *wanted) {
    for (int i = 0; i < wanted->lines; i++, wanted->from += 64) _mm_prefetch(wanted->from, _MM_HINT_T1);
}

/* Both panels times `count` positions whose codes lie in one run or together; `bits`, `count` and whether groups are unpacked are
 * constants in each call. */
INLINE void multiply_some(const Pair *pair, const Activations *in, int position, const int count, Wanted wanted, float *out,
                          size_t apart) {
    const int groups = pair->groups;
    /* How far codes of the next position and of the next group are from those before, in groups. */
    const size_t step = pair->unpacked ? TOGETHER : 1, next = step == 1 ? (size_t)groups : 1;
    size_t first = first_group(in, position);
    const int8_t *codes = in->codes + first * GROUP;
    const float *scales = in->scales + first, *sums = in->sums + first;
    const int32_t *starts = in->starts + first;
    __m512 scaled[AT_ONCE], lowered[AT_ONCE];
    for (int p = 0; p < count; p++) scaled[p] = lowered[p] = _mm512_setzero_ps();
    for (int index = 0; index < groups; index++, codes += step * GROUP, scales += step, sums += step, starts += step) {
        Group met;
        if (!pair->unpacked)
            met = met_group(pair, index);
        else
            ask_for(&wanted);
        const Group *group = pair->unpacked ? pair->unpacked + index : &met;
        __m512i dot[AT_ONCE];
        for (int p = 0; p < count; p++)
            dot[p] = pair->bits == 4 ? _mm512_setzero_si512() : _mm512_set1_epi32(starts[p * next]);
        for (int j = 0; j < GROUP / 4; j++) {
            __m512i bytes = group->fours[j];
            for (int p = 0; p < count; p++) dot_fours(&dot[p], bytes, codes + p * next * GROUP + 4 * j);
        }
        for (int p = 0; p < count; p++) {
            __m512 sum = _mm512_cvtepi32_ps(dot[p]);
            if (pair->bits == 4) {
                sum = _mm512_mul_ps(sum, group->scale);
                lowered[p] = _mm512_fmadd_ps(group->minimum, _mm512_set1_ps(sums[p * next]), lowered[p]);
            }
            scaled[p] = _mm512_fmadd_ps(sum, _mm512_set1_ps(scales[p * next]), scaled[p]);
        }
    }
    __m512 row_scales = both_floats(pair->head->scales, pair->next_head->scales);
    __m512 row_minima = both_floats(pair->head->minima, pair->next_head->minima);
    for (int p = 0; p < count; p++) {
        __m512 product = _mm512_mul_ps(scaled[p], row_scales);
        if (pair->bits == 4) product = _mm512_sub_ps(product, _mm512_mul_ps(lowered[p], row_minima));
        store_both(out + p * PANEL, apart, product);
    }
}

/* A panel and the next one, or the panel twice. Groups are unpacked where there is room for that. */
INLINE Pair make_pair(const Matrix *matrix, const int bits, const unsigned char *panel, const bool twice, Group *unpacked) {
    const unsigned char *next = panel + (twice ? 0 : matrix->panel_bytes);
    const PanelHead *head = (const PanelHead *)panel, *next_head = (const PanelHead *)next;
    for (int i = 0; unpacked && i < matrix->groups; i++)
        if (bits == 4)
            unpack4((const Tile4 *)(head + 1) + i, (const Tile4 *)(next_head + 1) + i, &unpacked[i]);
        else
            unpack8((const Tile8 *)(head + 1) + i, (const Tile8 *)(next_head + 1) + i, &unpacked[i]);
    const char *following = (const char *)next + matrix->panel_bytes;
    return (Pair){head, next_head, unpacked, following, bits, matrix->groups, matrix->panel_bytes};
}

/* Both panels times the positions from one on, which is a multiple of eight; `part` of `parts` of all positions are done. */
INLINE void multiply_rest(const Pair *pair, const Activations *in, int position, int n, int part, int parts, float *out,
                          size_t apart) {
#define SOME(count) multiply_some(pair, in, position, count, wanted_part(pair, part, parts), out + position * PANEL, apart)
    for (; position + AT_ONCE <= n; position += AT_ONCE, part++) SOME(AT_ONCE);
    if (n - position >= 4) { SOME(4); position += 4; }
    if (n - position >= 2) { SOME(2); position += 2; }
    if (n - position >= 1) SOME(1);
#undef SOME
}
_Static_assert(AT_ONCE == 8, "what is left are halves of it");

/* Both panels times one position, as it meets the tiles. */
INLINE void multiply_pair_alone(const Matrix *matrix, const int bits, const unsigned char *panel, const Activations *in, float *out) {
    const Pair pair = make_pair(matrix, bits, panel, false, NULL);
    multiply_some(&pair, in, 0, 1, (Wanted){0}, out, PANEL);
}
