/* Products with matrices of 4 and 8 bits in the dot-product instructions of AVX-512 VNNI, for the levels of processors that have them.
 * A level defines TARGET, includes simd_avx2.h before, and may define TOGETHER. */

#ifndef TOGETHER
#define TOGETHER 1
#endif

#include "bytes_vnni.h"

#define INLINE TARGET static inline __attribute__((always_inline))

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

/* A group that is met alone: memory is asked for the same group of the next two panels, since a position alone waits for it. */
INLINE Group met_group(const Pair *pair, int index) {
    Group group;
    if (pair->bits == 4) {
        const Tile4 *tile = (const Tile4 *)(pair->head + 1) + index, *next = (const Tile4 *)(pair->next_head + 1) + index;
        ask_ahead(tile, sizeof *tile, 2 * pair->panel_bytes);
        ask_ahead(next, sizeof *next, 2 * pair->panel_bytes);
        unpack4(tile, next, &group);
    } else {
        const Tile8 *tile = (const Tile8 *)(pair->head + 1) + index, *next = (const Tile8 *)(pair->next_head + 1) + index;
        ask_ahead(tile, sizeof *tile, 2 * pair->panel_bytes);
        ask_ahead(next, sizeof *next, 2 * pair->panel_bytes);
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

/* A panel and the next one, or a single one, times one position, as it meets the tiles. */
INLINE void multiply_pair_alone(const Matrix *matrix, const int bits, const unsigned char *panel, const bool single,
                                const Activations *in, float *out) {
    const Pair pair = make_pair(matrix, bits, panel, single, NULL);
    multiply_some(&pair, in, 0, 1, (Wanted){0}, out, single ? 0 : PANEL);
}

