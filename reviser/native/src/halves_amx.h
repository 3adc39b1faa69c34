/* Products in halves, which AMX tiles multiply: up to 32 positions with 32 rows at once. Sums stay in their tiles from the first column
 * to the last, while tiles of codes give theirs up for the scales of every group.
 *
 * Included by level_amx.c, behind its tiles of codes. */

typedef uint16_t Half;

/* A group of two panels: pairs of columns, and of each pair what 16 rows have. */
typedef struct {
    Half rows[GROUP / 2][2 * PANEL][2];
} HalfGroup;
#undef UNPACKED_BYTES
#define UNPACKED_BYTES (sizeof(HalfGroup) / 2)
_Static_assert(sizeof(HalfGroup) >= sizeof(Group), "groups of either kind have room");

/* ---- Rounding to halves ---- */

/* Halves of sixteen positions lie group by group, so that each tile of them is one piece of memory. */
static inline Half *halves_of(const Activations *in, int tile, int group) {
    return in->halves + (size_t)(tile * in->groups + group) * TILE * GROUP;
}

/* Of four columns, the order is first, third, second, fourth: as pairs of columns lie in the words of weights. */
TARGET static void halve(const Activations *in, int position, const float *values) {
    const __m512 raised = _mm512_set1_ps(0x1p64f);
    const __m512i order = _mm512_set_epi16(31, 29, 30, 28, 27, 25, 26, 24, 23, 21, 22, 20, 19, 17, 18, 16, 15, 13, 14, 12, 11, 9, 10, 8, 7,
                                           5, 6, 4, 3, 1, 2, 0);
    for (int group = 0; group < in->groups; group++, values += GROUP) {
        __m512 first = _mm512_mul_ps(raised, _mm512_loadu_ps(values));
        __m512 second = _mm512_mul_ps(raised, _mm512_loadu_ps(values + GROUP / 2));
        __m512i halves = _mm512_permutexvar_epi16(order, (__m512i)_mm512_cvtne2ps_pbh(second, first));
        _mm512_storeu_si512(halves_of(in, position / TILE, group) + position % TILE * GROUP, halves);
    }
}
#define HALVE halve

/* Weights are worked out in half precision (of five and ten bits) and rounded to the seven bits of a half. The exponent is left as it is,
 * which makes them smaller by 112 powers of two: values are raised by 64, and sums by the rest. */
INLINE __m512i shorten(__m512h weights) {
    __m512i bits = _mm512_add_epi16(_mm512_castph_si512(weights), _mm512_set1_epi16(4));
    return _mm512_and_si512(_mm512_srai_epi16(bits, 3), _mm512_set1_epi16((int16_t)0x8fff));
}
#define LOWERED 0x1p48f

/* Each of sixteen numbers twice. */
INLINE __m512h twice(__m256h numbers) {
    __m512i words = _mm512_cvtepu16_epi32((__m256i)numbers);
    return _mm512_castsi512_ph(_mm512_or_si512(words, _mm512_slli_epi32(words, 16)));
}

INLINE __m512h twice_floats(__m512 numbers) { return twice(_mm512_cvtxps_ph(numbers)); }

INLINE __m512h twice_bytes(const uint8_t *bytes, const uint8_t *next) {
    __m128i both = _mm_unpacklo_epi64(_mm_loadl_epi64((const __m128i *)bytes), _mm_loadl_epi64((const __m128i *)next));
    return twice(_mm256_cvtepu16_ph(_mm256_cvtepu8_epi16(both)));
}

/* Two panels, or one twice, and what their rows are multiplied with: in halves as they are unpacked, and at the end, so that no weight
 * is too large for half precision. */
typedef struct {
    const PanelHead *head, *next_head;
    HalfGroup *unpacked;
    __m512h scales, minima;
    __m512 last_scales;
} PanelPair;

INLINE PanelPair pair_of(const int bits, const unsigned char *panel, size_t apart, HalfGroup *unpacked) {
    const PanelHead *head = (const PanelHead *)panel, *next = (const PanelHead *)(panel + apart);
    PanelPair pair = {.head = head, .next_head = next, .unpacked = unpacked};
    __m512 scales = both_floats(head->scales, next->scales), last = scales;
    if (bits == 4) {
        __m512 minima = both_floats(head->minima, next->minima);
        last = _mm512_max_ps(_mm512_abs_ps(scales), _mm512_mul_ps(_mm512_abs_ps(minima), _mm512_set1_ps(1.0f / 16)));
        last = _mm512_max_ps(last, _mm512_set1_ps(0x1p-90f));
        pair.scales = twice_floats(_mm512_div_ps(scales, last));
        pair.minima = twice_floats(_mm512_div_ps(minima, last));
    }
    pair.last_scales = _mm512_mul_ps(last, _mm512_set1_ps(LOWERED));
    return pair;
}

INLINE void halve_group4(const PanelPair *pair, int group) {
    const Tile4 *tile = (const Tile4 *)(pair->head + 1) + group, *next = (const Tile4 *)(pair->next_head + 1) + group;
    /* The instruction looks at the lowest five bits of a word, of which the lowest four are a code. */
    const __m512i numbers = (__m512i)_mm512_cvtepu16_ph(_mm512_set_epi16(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12,
                                                                          11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
    __m512h scale = _mm512_mul_ph(pair->scales, twice_bytes(tile->scales, next->scales));
    __m512h minimum = _mm512_mul_ph(pair->minima, twice_bytes(tile->minima, next->minima));
    HalfGroup *to = pair->unpacked + group;
    for (int j = 0; j < GROUP / 8; j++) {
        __m512i fours = both_panels(tile->codes[j], next->codes[j]);
        for (int i = 0; i < 4; i++) {
            /* Low nibbles are of the first half of the columns. */
            int row = i % 2 * GROUP / 4 + 2 * j + i / 2;
            __m512i number = _mm512_permutexvar_epi16(_mm512_srli_epi16(fours, 4 * i), numbers);
            __m512h weights = _mm512_fmsub_ph(_mm512_castsi512_ph(number), scale, minimum);
            _mm512_storeu_si512(to->rows[row], shorten(weights));
        }
    }
}

/* Codes as they are: so halves are exact. */
INLINE void halve_group8(const PanelPair *pair, int group) {
    const Tile8 *tile = (const Tile8 *)(pair->head + 1) + group, *next = (const Tile8 *)(pair->next_head + 1) + group;
    const __m512i mask = _mm512_set1_epi8((char)BYTE_MASK);
    HalfGroup *to = pair->unpacked + group;
    for (int j = 0; j < GROUP / 4; j++) {
        __m512i fours = _mm512_xor_si512(mask, both_panels(tile->codes[j], next->codes[j]));
        __m512i low = _mm512_srai_epi16(_mm512_slli_epi16(fours, 8), 8), high = _mm512_srai_epi16(fours, 8);
        _mm512_storeu_si512(to->rows[2 * j], shorten(_mm512_cvtepi16_ph(low)));
        _mm512_storeu_si512(to->rows[2 * j + 1], shorten(_mm512_cvtepi16_ph(high)));
    }
}

/* ---- Tiles ---- */

/* The tiles' numbers, which are part of the instructions: sums of two tiles of positions with two pairs of panels, and what they are of. */
#define SUMS_00 0
#define SUMS_01 1
#define SUMS_10 2
#define SUMS_11 3
#define POSITIONS_0 4
#define POSITIONS_1 5
#define WEIGHTS_0 6
#define WEIGHTS_1 7

#define EIGHT(x) {x, x, x, x, x, x, x, x}
static const TileConfig config_of_halves = {.palette = 1, .rows = EIGHT(TILE), .row_bytes = EIGHT(sizeof(__m512i))};

/* Up to two pairs of panels, which are unpacked as they are multiplied for the first time, and the weights that come after them. */
typedef struct {
    PanelPair pairs[2];
    int groups;
    const char *coming, *end;
    int lines; /* to ask for with each group */
} Panels;

/* Groups that are unpacked ahead of their products: what was stored just now cannot be loaded at once. */
enum { AHEAD = 2 };

/* Sums of one or two tiles of positions with one or two pairs of panels, in memory. Constants in each call: how many of both there are,
 * and of how many bits the codes are that are unpacked first, or 0. */
INLINE void multiply_half_tiles(Panels *panels, const Activations *in, int tile, const int bits, const int tiles, const int pairs,
                                float sums[2][2][TILE][2 * PANEL]) {
    const size_t line = sizeof(__m512i);
    const int groups = panels->groups, ahead = bits ? AHEAD : 0;
    const Half *first = halves_of(in, tile, 0), *second = halves_of(in, tile + tiles - 1, 0);
    const HalfGroup *weights = panels->pairs[0].unpacked, *more = panels->pairs[pairs - 1].unpacked;
    const char *coming = panels->coming;
    _tile_zero(SUMS_00);
    if (pairs == 2) _tile_zero(SUMS_01);
    if (tiles == 2) _tile_zero(SUMS_10);
    if (tiles == 2 && pairs == 2) _tile_zero(SUMS_11);
    for (int group = 0; group < groups + ahead; group++) {
        for (int i = 0; i < panels->lines && coming < panels->end; i++, coming += 64) _mm_prefetch(coming, _MM_HINT_T1);
        for (int pair = 0; bits && pair < pairs && group < groups; pair++)
            if (bits == 4)
                halve_group4(&panels->pairs[pair], group);
            else
                halve_group8(&panels->pairs[pair], group);
        if (group < ahead) continue;
        /* Compilers do not know what loads of tiles read: it must be in memory by now. */
        if (bits) __asm__ volatile("" ::: "memory");
        _tile_loadd(POSITIONS_0, first, line);
        _tile_loadd(WEIGHTS_0, weights, line);
        _tile_dpbf16ps(SUMS_00, POSITIONS_0, WEIGHTS_0);
        if (pairs == 2) {
            _tile_loadd(WEIGHTS_1, more, line);
            _tile_dpbf16ps(SUMS_01, POSITIONS_0, WEIGHTS_1);
        }
        if (tiles == 2) {
            _tile_loadd(POSITIONS_1, second, line);
            _tile_dpbf16ps(SUMS_10, POSITIONS_1, WEIGHTS_0);
            if (pairs == 2) _tile_dpbf16ps(SUMS_11, POSITIONS_1, WEIGHTS_1);
        }
        first += TILE * GROUP;
        second += TILE * GROUP;
        weights++;
        more++;
    }
    panels->coming = coming;
    _tile_stored(SUMS_00, sums[0][0], line);
    if (pairs == 2) _tile_stored(SUMS_01, sums[0][1], line);
    if (tiles == 2) _tile_stored(SUMS_10, sums[1][0], line);
    if (tiles == 2 && pairs == 2) _tile_stored(SUMS_11, sums[1][1], line);
}

/* The panels of one or two pairs, of which the last may have no second one, times n positions. */
INLINE void multiply_half_panels(const Matrix *matrix, const int bits, const int pairs, const unsigned char *panel, int count,
                                 const Activations *in, int n, float *out) {
    size_t apart = (size_t)n * PANEL, bytes = matrix->panel_bytes;
    float sums[2][2][TILE][2 * PANEL] __attribute__((aligned(64)));
    const char *coming = (const char *)panel + (size_t)count * bytes, *end = coming + (size_t)count * bytes;
    int steps = matrix->groups * ((n + 2 * TILE - 1) / (2 * TILE));
    Panels panels = {.groups = matrix->groups, .coming = coming, .end = end, .lines = (int)(end - coming) / 64 / steps + 1};
    HalfGroup *unpacked = (HalfGroup *)in->unpacked;
    for (int pair = 0; pair < pairs; pair++, unpacked += matrix->groups)
        panels.pairs[pair] = pair_of(bits, panel + 2 * (size_t)pair * bytes, 2 * pair + 1 < count ? bytes : 0, unpacked);
    for (int position = 0; position < n; position += 2 * TILE) {
        int left = n - position < 2 * TILE ? n - position : 2 * TILE, tile = position / TILE;
        if (position && left > TILE)
            multiply_half_tiles(&panels, in, tile, 0, 2, pairs, sums);
        else if (position)
            multiply_half_tiles(&panels, in, tile, 0, 1, pairs, sums);
        else if (left > TILE)
            multiply_half_tiles(&panels, in, tile, bits, 2, pairs, sums);
        else
            multiply_half_tiles(&panels, in, tile, bits, 1, pairs, sums);
        for (int pair = 0; pair < pairs; pair++) {
            size_t next = 2 * pair + 1 < count ? apart : 0;
            float *to = out + 2 * (size_t)pair * apart + (size_t)position * PANEL;
            for (int p = 0; p < left; p++, to += PANEL)
                store_both(to, next, _mm512_mul_ps(_mm512_load_ps(sums[p / TILE][pair][p % TILE]), panels.pairs[pair].last_scales));
        }
    }
}

TARGET static void multiply_halves(const Matrix *matrix, const unsigned char *panel, int count, const Activations *in, int n,
                                   float *out) {
#define PANELS(bits, pairs) multiply_half_panels(matrix, bits, pairs, panel, count, in, n, out)
    if (matrix->bits == 4 && count > 2)
        PANELS(4, 2);
    else if (matrix->bits == 4)
        PANELS(4, 1);
    else if (count > 2)
        PANELS(8, 2);
    else
        PANELS(8, 1);
#undef PANELS
}
_Static_assert(MOST_PANELS == 4, "two pairs of panels");
#define MULTIPLY_HALVES multiply_halves
