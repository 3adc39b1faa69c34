/* Products of a panel of 4 bits with quantised positions on x86, in terms of `dot_nibbles`, which the level
 * defines. Included by the levels, after simd_avx2.h. */

#define INLINE TARGET static inline __attribute__((always_inline))
#define NIBBLE_MASK 0
#define QUANTISE4 quantise

/* A four of codes in every lane. */
INLINE __m256i four(const int8_t *codes) {
    int32_t bits;
    memcpy(&bits, codes, sizeof bits);
    return _mm256_set1_epi32(bits);
}

INLINE v8 eight_bytes(const uint8_t *bytes) {
    return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)bytes)));
}

INLINE void multiply_panel4(const unsigned char *panel, int groups, const Activations *in,
                              int position, const int count, float *out) {
    const PanelHead *head = (const PanelHead *)panel;
    const Tile4 *tile = (const Tile4 *)(head + 1);
    const int8_t *codes = in->codes + (size_t)position * (size_t)in->cols;
    const float *scales = in->scales + (size_t)position * (size_t)in->groups;
    const float *sums = in->sums + (size_t)position * (size_t)in->groups;
    const __m256i nibble = _mm256_set1_epi8(15);
    v8 scaled[QUAD], lowered[QUAD];
    for (int p = 0; p < count; p++) scaled[p] = lowered[p] = v8_splat(0.0f);
    for (int group = 0; group < groups; group++, tile++, codes += GROUP) {
        __m256i dot[QUAD];
        for (int p = 0; p < count; p++) dot[p] = _mm256_setzero_si256();
        for (int j = 0; j < GROUP / 8; j++) {
            __m256i both = _mm256_loadu_si256((const __m256i *)tile->codes[j]);
            __m256i low = _mm256_and_si256(both, nibble);
            __m256i high = _mm256_and_si256(_mm256_srli_epi16(both, 4), nibble);
            for (int p = 0; p < count; p++) {
                const int8_t *fours = codes + p * in->cols + 4 * j;
                dot[p] = dot_nibbles(dot[p], low, four(fours));
                dot[p] = dot_nibbles(dot[p], high, four(fours + GROUP / 2));
            }
        }
        v8 scale = eight_bytes(tile->scales), minimum = eight_bytes(tile->minima);
        for (int p = 0; p < count; p++) {
            v8 sum = _mm256_cvtepi32_ps(finish_nibbles(dot[p]));
            scaled[p] = v8_fma_scalar(v8_mul(sum, scale), scales[p * groups + group], scaled[p]);
            lowered[p] = v8_fma_scalar(minimum, sums[p * groups + group], lowered[p]);
        }
    }
    for (int p = 0; p < count; p++) {
        v8 below = v8_mul(lowered[p], v8_load(head->minima));
        v8_store(out + p * PANEL, v8_sub(v8_mul(scaled[p], v8_load(head->scales)), below));
    }
}
