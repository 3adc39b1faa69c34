/* Products with matrices of 4 and 8 bits in registers of 256 bits, for x86. Included by the levels, after simd_avx2.h.
 *
 * A level defines the steps that differ: `add_nibbles` and `add_bytes` add to each lane of a sum what a four of a weight's codes and a
 * four of an input's are together, `finish_nibbles` makes 32-bit sums of such sums at 4 bits, and `start_bytes` is where sums begin
 * at 8 bits. */

#define INLINE TARGET static inline __attribute__((always_inline))

enum { DISTANCE = 8192 }; /* bytes that memory is asked for ahead: a few panels */

INLINE v8 eight_bytes(const uint8_t *bytes) {
    return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)bytes)));
}

/* A group of a panel, unpacked: fours of codes as they lie in tiles; at 4 bits scales and minima, too. */
typedef struct {
    __m256i fours[GROUP / 4];
    __m256 scale, minimum;
} PanelGroup;

INLINE void unpack_group(const PanelHead *head, const int bits, int index, PanelGroup *group) {
    if (bits == 8) {
        const Tile8 *tile = (const Tile8 *)(head + 1) + index;
        ask_ahead(tile, sizeof *tile, DISTANCE);
        for (int j = 0; j < GROUP / 4; j++) group->fours[j] = _mm256_loadu_si256((const __m256i *)tile->codes[j]);
        return;
    }
    const Tile4 *tile = (const Tile4 *)(head + 1) + index;
    const __m256i nibble = _mm256_set1_epi8(15);
    ask_ahead(tile, sizeof *tile, DISTANCE);
    for (int j = 0; j < GROUP / 8; j++) {
        __m256i both = _mm256_loadu_si256((const __m256i *)tile->codes[j]);
        group->fours[j] = _mm256_and_si256(both, nibble);
        group->fours[j + GROUP / 8] = _mm256_and_si256(_mm256_srli_epi16(both, 4), nibble);
    }
    group->scale = eight_bytes(tile->scales);
    group->minimum = eight_bytes(tile->minima);
}

/* Compilers would load all of a group before its first product, and then run out of registers. */
INLINE __m256i load_here(const __m256i *from) {
    __m256i loaded;
    __asm__ volatile("vmovdqu %1, %0" : "=x"(loaded) : "m"(*from));
    return loaded;
}

/* A panel times `count` positions. Groups are unpacked already, or with `unpacked` NULL when they are met; then positions are one.
 * `bits` and `count` are constants in each call, so that sums stay in registers. */
INLINE void multiply_some(const PanelHead *head, const int bits, int groups, const PanelGroup *unpacked, const Activations *in,
                          int position, const int count, float *out) {
    /* How far codes of the next group are from those before, in groups; those of the next position follow at once. */
    const size_t step = unpacked ? QUAD : 1;
    const size_t first = first_group(in, position);
    const int8_t *codes = in->codes + first * GROUP;
    const float *scales = in->scales + first, *sums = in->sums + first;
    const int32_t *starts = in->starts + first;
    v8 scaled[QUAD], lowered[QUAD];
    for (int p = 0; p < count; p++) scaled[p] = lowered[p] = v8_splat(0.0f);
    for (int index = 0; index < groups; index++, codes += step * GROUP, scales += step, sums += step, starts += step) {
        PanelGroup met;
        if (!unpacked) unpack_group(head, bits, index, &met);
        const PanelGroup *group = unpacked ? unpacked + index : &met;
        __m256i dot[QUAD];
        for (int p = 0; p < count; p++) dot[p] = bits == 4 ? _mm256_setzero_si256() : start_bytes(starts + p);
        for (int j = 0; j < GROUP / 4; j++) {
            __m256i fours = load_here(&group->fours[j]);
            for (int p = 0; p < count; p++)
                if (bits == 4)
                    add_nibbles(&dot[p], fours, codes + p * GROUP + 4 * j);
                else
                    add_bytes(&dot[p], fours, codes + p * GROUP + 4 * j);
        }
        for (int p = 0; p < count; p++) {
            if (bits == 4) {
                v8 sum = v8_mul(_mm256_cvtepi32_ps(finish_nibbles(dot[p])), group->scale);
                scaled[p] = v8_fma_scalar(sum, scales[p], scaled[p]);
                lowered[p] = v8_fma_scalar(group->minimum, sums[p], lowered[p]);
            } else {
                scaled[p] = v8_fma_scalar(_mm256_cvtepi32_ps(dot[p]), scales[p], scaled[p]);
            }
        }
    }
    for (int p = 0; p < count; p++) {
        v8 product = v8_mul(scaled[p], v8_load(head->scales));
        if (bits == 4) product = v8_sub(product, v8_mul(lowered[p], v8_load(head->minima)));
        v8_store(out + p * PANEL, product);
    }
}

/* A panel times n positions: several with groups that are unpacked once for all. */
INLINE void multiply_panel(const Matrix *matrix, const int bits, const unsigned char *panel, const Activations *in, int n,
                           float *out) {
    const PanelHead *head = (const PanelHead *)panel;
    const int groups = matrix->groups;
    if (n == 1) {
        multiply_some(head, bits, groups, NULL, in, 0, 1, out);
        return;
    }
    PanelGroup *unpacked = (PanelGroup *)in->unpacked;
    for (int i = 0; i < groups; i++) unpack_group(head, bits, i, &unpacked[i]);
    int position = 0;
#define SOME(count) multiply_some(head, bits, groups, unpacked, in, position, count, out + position * PANEL)
    for (; n - position >= QUAD; position += QUAD) SOME(QUAD);
    if (n - position >= 2) {
        SOME(2);
        position += 2;
    }
    if (n - position >= 1) SOME(1);
#undef SOME
}
_Static_assert(QUAD == 4, "what is left are halves of it");

TARGET static void multiply_codes(const Matrix *matrix, int first, int count, const Activations *in, int n, float *out) {
    const unsigned char *panel = matrix->data + (size_t)first * matrix->panel_bytes;
    for (; count > 0; count--, panel += matrix->panel_bytes, out += n * PANEL)
        if (matrix->bits == 4)
            multiply_panel(matrix, 4, panel, in, n, out);
        else
            multiply_panel(matrix, 8, panel, in, n, out);
}

#define MULTIPLY_CODES multiply_codes
#define UNPACKED_BYTES sizeof(PanelGroup)
#define TOGETHER QUAD
