/* The level for any processor: plain C. */

#include <math.h>
#include <string.h>

#include "kernels.h"
#include "simd_portable.h"

static bool always(void) { return true; }

static inline void multiply_panel4(const unsigned char *panel, int groups, const Activations *in,
                                   int position, int count, float *out) {
    const PanelHead *head = (const PanelHead *)panel;
    for (int p = 0; p < count; p++) {
        const Tile4 *tile = (const Tile4 *)(head + 1);
        const int8_t *codes = in->codes + (size_t)(position + p) * (size_t)in->cols;
        const float *scales = in->scales + (size_t)(position + p) * (size_t)in->groups;
        const float *sums = in->sums + (size_t)(position + p) * (size_t)in->groups;
        float scaled[PANEL] = {0}, lowered[PANEL] = {0};
        for (int group = 0; group < groups; group++, tile++, codes += GROUP) {
            for (int row = 0; row < PANEL; row++) {
                int32_t dot = 0;
                for (int i = 0; i < GROUP / 2; i++) {
                    int both = tile->codes[i / 4][row][i % 4];
                    dot += (both & 15) * codes[i] + (both >> 4) * codes[i + GROUP / 2];
                }
                scaled[row] += (float)dot * (float)tile->scales[row] * scales[group];
                lowered[row] += (float)tile->minima[row] * sums[group];
            }
        }
        for (int row = 0; row < PANEL; row++)
            out[p * PANEL + row] = scaled[row] * head->scales[row] - lowered[row] * head->minima[row];
    }
}

static inline void multiply_panel8(const unsigned char *panel, int groups, const Activations *in,
                                   int position, int count, float *out) {
    const PanelHead *head = (const PanelHead *)panel;
    for (int p = 0; p < count; p++) {
        const Tile8 *tile = (const Tile8 *)(head + 1);
        const int8_t *codes = in->codes + (size_t)(position + p) * (size_t)in->cols;
        const float *scales = in->scales + (size_t)(position + p) * (size_t)in->groups;
        float scaled[PANEL] = {0};
        for (int group = 0; group < groups; group++, tile++, codes += GROUP) {
            for (int row = 0; row < PANEL; row++) {
                int32_t dot = 0;
                for (int i = 0; i < GROUP; i++) dot += tile->codes[i / 4][row][i % 4] * codes[i];
                scaled[row] += (float)dot * scales[group];
            }
        }
        for (int row = 0; row < PANEL; row++)
            out[p * PANEL + row] = scaled[row] * head->scales[row];
    }
}

#define NIBBLE_MASK 0
#define QUANTISE4 quantise
#define LEVEL_NAME "portable"
#define LEVEL_SUPPORTED always
#define LEVEL_KERNELS kernels_portable
#include "kernels_common.h"
