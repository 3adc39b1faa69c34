/* The level for x86 processors with the dot-product instructions of AVX-512 VNNI. */

#if defined(__x86_64__)

#include <math.h>
#include <string.h>

#include "kernels.h"

#define TARGET __attribute__((target("avx2,fma,avx512f,avx512vl,avx512vnni")))
#include "simd_avx2.h"

static bool has_vnni(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni");
}

TARGET static inline __m256i dot_nibbles(__m256i sum, __m256i nibbles, __m256i codes) {
    return _mm256_dpbusd_epi32(sum, nibbles, codes);
}
TARGET static inline __m256i finish_nibbles(__m256i sum) { return sum; }

#include "multiply_avx2.h"

/* Bytes of 8-bit products: the instruction wants one factor unsigned, so codes of inputs are kept 128 higher, and
 * 128 times the sum of the weights is taken off again. */
#define HIGHER 0x80808080u

TARGET static void quantise(const Activations *in, int position);

TARGET static void quantise_higher(const Activations *in, int position) {
    int8_t *codes = in->codes + (size_t)position * (size_t)in->cols;
    quantise(in, position);
    for (int i = 0; i < in->cols; i += GROUP) {
        __m256i *group = (__m256i *)(codes + i);
        _mm256_storeu_si256(group, _mm256_xor_si256(_mm256_loadu_si256(group), _mm256_set1_epi32((int)HIGHER)));
    }
}

INLINE void multiply_panel8(const unsigned char *panel, int groups, const Activations *in, int position,
                            const int count, float *out) {
    const PanelHead *head = (const PanelHead *)panel;
    const Tile8 *tile = (const Tile8 *)(head + 1);
    const int8_t *codes = in->codes + (size_t)position * (size_t)in->cols;
    const float *scales = in->scales + (size_t)position * (size_t)in->groups;
    v8 scaled[QUAD];
    for (int p = 0; p < count; p++) scaled[p] = v8_splat(0.0f);
    for (int group = 0; group < groups; group++, tile++, codes += GROUP) {
        __m256i dot[QUAD], extra = _mm256_setzero_si256();
        for (int p = 0; p < count; p++) dot[p] = _mm256_setzero_si256();
        for (int j = 0; j < GROUP / 4; j++) {
            __m256i weight = _mm256_loadu_si256((const __m256i *)tile->codes[j]);
            extra = _mm256_dpbusd_epi32(extra, _mm256_set1_epi32((int)HIGHER), weight);
            for (int p = 0; p < count; p++)
                dot[p] = _mm256_dpbusd_epi32(dot[p], four(codes + p * in->cols + 4 * j), weight);
        }
        for (int p = 0; p < count; p++) {
            v8 sum = _mm256_cvtepi32_ps(_mm256_sub_epi32(dot[p], extra));
            scaled[p] = v8_fma_scalar(sum, scales[p * groups + group], scaled[p]);
        }
    }
    for (int p = 0; p < count; p++)
        v8_store(out + p * PANEL, v8_mul(scaled[p], v8_load(head->scales)));
}

/* ---- Two panels at once, in registers of 512 bits: the same sums in the same order ---- */

#define PAIR_POSITIONS 8

INLINE __m512i wide_four(const int8_t *codes) {
    int32_t bits;
    memcpy(&bits, codes, sizeof bits);
    return _mm512_set1_epi32(bits);
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

/* Alone, a position waits for memory. Ask for what the next two panels have in the place of a tile, since a processor does
 * not go on by itself from one page to the next. Past the end of the weights this does nothing. */
INLINE void ask_ahead(const void *tile, size_t bytes, size_t panel_bytes) {
    for (size_t at = 0; at < bytes; at += 64) _mm_prefetch((const char *)tile + 2 * panel_bytes + at, _MM_HINT_T0);
}

INLINE void multiply_pair4(const unsigned char *panel, size_t panel_bytes, int groups,
                           const Activations *in, int position, const int count, float *out,
                           size_t apart) {
    const PanelHead *head = (const PanelHead *)panel;
    const PanelHead *next_head = (const PanelHead *)(panel + panel_bytes);
    const Tile4 *tile = (const Tile4 *)(head + 1), *next = (const Tile4 *)(next_head + 1);
    const int8_t *codes = in->codes + (size_t)position * (size_t)in->cols;
    const float *scales = in->scales + (size_t)position * (size_t)in->groups;
    const float *sums = in->sums + (size_t)position * (size_t)in->groups;
    const __m512i nibble = _mm512_set1_epi32(0x0f0f0f0f);
    __m512 scaled[PAIR_POSITIONS], lowered[PAIR_POSITIONS];
    for (int p = 0; p < count; p++) scaled[p] = lowered[p] = _mm512_setzero_ps();
    for (int group = 0; group < groups; group++, tile++, next++, codes += GROUP) {
        __m512i dot[PAIR_POSITIONS];
        if (count == 1) {
            ask_ahead(tile, sizeof *tile, panel_bytes);
            ask_ahead(next, sizeof *next, panel_bytes);
        }
        for (int p = 0; p < count; p++) dot[p] = _mm512_setzero_si512();
        for (int j = 0; j < GROUP / 8; j++) {
            __m512i both = both_panels(tile->codes[j], next->codes[j]);
            __m512i low = _mm512_and_si512(both, nibble);
            __m512i high = _mm512_and_si512(_mm512_srli_epi32(both, 4), nibble);
            for (int p = 0; p < count; p++) {
                const int8_t *fours = codes + p * in->cols + 4 * j;
                dot[p] = _mm512_dpbusd_epi32(dot[p], low, wide_four(fours));
                dot[p] = _mm512_dpbusd_epi32(dot[p], high, wide_four(fours + GROUP / 2));
            }
        }
        /* Scales, and the minima after them. */
        __m128i bytes = _mm_loadu_si128((const __m128i *)tile->scales);
        __m128i next_bytes = _mm_loadu_si128((const __m128i *)next->scales);
        __m512 scale =
            _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_unpacklo_epi64(bytes, next_bytes)));
        __m512 minimum =
            _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_unpackhi_epi64(bytes, next_bytes)));
        for (int p = 0; p < count; p++) {
            __m512 sum = _mm512_mul_ps(_mm512_cvtepi32_ps(dot[p]), scale);
            scaled[p] = _mm512_fmadd_ps(sum, _mm512_set1_ps(scales[p * groups + group]), scaled[p]);
            lowered[p] = _mm512_fmadd_ps(minimum, _mm512_set1_ps(sums[p * groups + group]), lowered[p]);
        }
    }
    __m512 row_scales = both_floats(head->scales, next_head->scales);
    __m512 row_minima = both_floats(head->minima, next_head->minima);
    for (int p = 0; p < count; p++) {
        __m512 below = _mm512_mul_ps(lowered[p], row_minima);
        store_both(out + p * PANEL, apart, _mm512_sub_ps(_mm512_mul_ps(scaled[p], row_scales), below));
    }
}

INLINE void multiply_pair8(const unsigned char *panel, size_t panel_bytes, int groups,
                           const Activations *in, int position, const int count, float *out,
                           size_t apart) {
    const PanelHead *head = (const PanelHead *)panel;
    const PanelHead *next_head = (const PanelHead *)(panel + panel_bytes);
    const Tile8 *tile = (const Tile8 *)(head + 1), *next = (const Tile8 *)(next_head + 1);
    const int8_t *codes = in->codes + (size_t)position * (size_t)in->cols;
    const float *scales = in->scales + (size_t)position * (size_t)in->groups;
    __m512 scaled[PAIR_POSITIONS];
    for (int p = 0; p < count; p++) scaled[p] = _mm512_setzero_ps();
    for (int group = 0; group < groups; group++, tile++, next++, codes += GROUP) {
        __m512i dot[PAIR_POSITIONS], extra = _mm512_setzero_si512();
        if (count == 1) {
            ask_ahead(tile, sizeof *tile, panel_bytes);
            ask_ahead(next, sizeof *next, panel_bytes);
        }
        for (int p = 0; p < count; p++) dot[p] = _mm512_setzero_si512();
        for (int j = 0; j < GROUP / 4; j++) {
            __m512i weights = both_panels(tile->codes[j], next->codes[j]);
            extra = _mm512_dpbusd_epi32(extra, _mm512_set1_epi32((int)HIGHER), weights);
            for (int p = 0; p < count; p++)
                dot[p] = _mm512_dpbusd_epi32(dot[p], wide_four(codes + p * in->cols + 4 * j), weights);
        }
        for (int p = 0; p < count; p++) {
            __m512 sum = _mm512_cvtepi32_ps(_mm512_sub_epi32(dot[p], extra));
            scaled[p] = _mm512_fmadd_ps(sum, _mm512_set1_ps(scales[p * groups + group]), scaled[p]);
        }
    }
    __m512 row_scales = both_floats(head->scales, next_head->scales);
    for (int p = 0; p < count; p++)
        store_both(out + p * PANEL, apart, _mm512_mul_ps(scaled[p], row_scales));
}

#define QUANTISE8 quantise_higher
#define LEVEL_NAME "vnni"
#define LEVEL_SUPPORTED has_vnni
#define LEVEL_KERNELS kernels_vnni
#include "kernels_common.h"

#else
typedef int reviser_level_vnni_is_for_x86; /* a translation unit must not be empty */
#endif
