/* The level for x86 processors that also have AMX. Tiles of codes multiply up to 16 positions with 16 rows at once; a single position
 * waits for memory anyway and goes the way of the level "vnni". All sums are the same as there, in the same order. Texts whose scores
 * may be rounded otherwise are read in halves. */

#if defined(__x86_64__) && defined(__linux__) && !defined(REVISER_LEFT_OUT) && (defined(__clang__) ? __clang_major__ >= 16 : __GNUC__ >= 12)

#include <cpuid.h>
#include <math.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernels.h"

#define TARGET __attribute__((target("avx2,fma,avx512f,avx512bw,avx512vl,avx512vnni,avx512bf16,avx512fp16,amx-tile,amx-int8,amx-bf16")))
#include "simd_avx2.h"

/* Linux lets a process use tiles after it has asked. */
static bool may_use_tiles(void) {
    enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };
    return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
}

static bool has_amx(void) {
    const unsigned wanted = 1u << 24 | 1u << 25 | 1u << 22 | 1u << 23; /* tiles, of bytes, of bfloat16, and half precision */
    unsigned a, b, c, d = 0;
    __builtin_cpu_init();
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & wanted) == wanted && __builtin_cpu_supports("avx2") &&
           __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni") &&
           __builtin_cpu_supports("avx512bf16") && may_use_tiles();
}

/* Codes of sixteen positions lie together group by group, so that each tile of them is one piece of memory. */
#define TOGETHER 16
#include "multiply_vnni.h"

/* Rows of a tile: positions in those of codes and of sums, which have the lanes of two panels in a row. */
enum { TILE = TOGETHER };
_Static_assert(TILE == 2 * PANEL, "a row of sums holds both panels");

/* What is left of the positions goes through a tile that it fills this far, or further. */
enum { FILLED = 13 };

/* The tiles' numbers, which are part of the instructions. */
#define SUMS 0
#define CODES 1
#define WEIGHTS 2

typedef struct {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} TileConfig;
_Static_assert(sizeof(TileConfig) == 64, "what the instruction reads");

/* In memory as it is: compilers do not know how much of it the instruction reads. */
static const TileConfig config_of_codes = {
    .palette = 1,
    .rows = {[SUMS] = TILE, [CODES] = TILE, [WEIGHTS] = GROUP / 4},
    .row_bytes = {[SUMS] = sizeof(__m512i), [CODES] = GROUP, [WEIGHTS] = sizeof(__m512i)},
};

/* Sums of the products of a group's weights with the codes of sixteen positions. */
INLINE void multiply_tile(const Group *group, const int8_t *codes, __m512i *to) {
    _tile_zero(SUMS);
    _tile_loadd(CODES, codes, GROUP);
    _tile_loadd(WEIGHTS, group->fours, sizeof(__m512i));
    _tile_dpbsud(SUMS, CODES, WEIGHTS);
    _tile_stored(SUMS, to, sizeof(__m512i));
}

/* How many groups further on the tiles are than the use of their sums, which lie in a ring: what tiles do takes long. */
enum { TILES_AHEAD = 3, RING = TILES_AHEAD + 1 };

/* Both panels times sixteen positions, of which the first `wanted` are there. */
INLINE void multiply_tiles(const Pair *pair, const Activations *in, int position, int wanted, Wanted lines, float *out,
                           size_t apart) {
    const int groups = pair->groups;
    size_t first = first_group(in, position);
    const int8_t *codes = in->codes + first * GROUP;
    const float *scales = in->scales + first, *sums = in->sums + first;
    const int32_t *starts = in->starts + first;
    __m512i made[RING][TILE];
    __m512 scaled[TILE], products[TILE];
    for (int p = 0; p < TILE; p++) scaled[p] = _mm512_setzero_ps();
    for (int index = 0; index < groups && index < TILES_AHEAD; index++)
        multiply_tile(pair->unpacked + index, codes + index * TILE * GROUP, made[index]);
    for (int index = 0; index < groups; index++, scales += TILE, starts += TILE) {
        int ahead = index + TILES_AHEAD;
        if (ahead < groups) multiply_tile(pair->unpacked + ahead, codes + ahead * TILE * GROUP, made[ahead % RING]);
        ask_for(&lines);
        const __m512i *dot = made[index % RING];
        __m512 scale = pair->unpacked[index].scale;
        for (int p = 0; p < TILE; p++) {
            __m512i whole = dot[p];
            if (pair->bits == 8) whole = _mm512_add_epi32(whole, _mm512_set1_epi32(starts[p]));
            __m512 sum = _mm512_cvtepi32_ps(whole);
            if (pair->bits == 4) sum = _mm512_mul_ps(sum, scale);
            scaled[p] = _mm512_fmadd_ps(sum, _mm512_set1_ps(scales[p]), scaled[p]);
        }
    }
    __m512 row_scales = both_floats(pair->head->scales, pair->next_head->scales);
    for (int p = 0; p < TILE; p++) products[p] = _mm512_mul_ps(scaled[p], row_scales);
    if (pair->bits == 4) {
        __m512 lowered[TILE], row_minima = both_floats(pair->head->minima, pair->next_head->minima);
        for (int p = 0; p < TILE; p++) lowered[p] = _mm512_setzero_ps();
        for (int index = 0; index < groups; index++, sums += TILE)
            for (int p = 0; p < TILE; p++)
                lowered[p] = _mm512_fmadd_ps(pair->unpacked[index].minimum, _mm512_set1_ps(sums[p]), lowered[p]);
        for (int p = 0; p < TILE; p++)
            products[p] = _mm512_sub_ps(products[p], _mm512_mul_ps(lowered[p], row_minima));
    }
    for (int p = 0; p < wanted; p++) store_both(out + p * PANEL, apart, products[p]);
}

/* A panel and the next one, or a single one, times n positions. */
INLINE void multiply_pair(const Matrix *matrix, const int bits, const unsigned char *panel, const bool single,
                          const Activations *in, int n, float *out) {
    if (n == 1) {
        multiply_pair_alone(matrix, bits, panel, single, in, out);
        return;
    }
    const Pair pair = make_pair(matrix, bits, panel, single, (Group *)in->unpacked);
    /* Compilers do not know what loads of tiles read: it must be in memory by now. */
    __asm__ volatile("" ::: "memory");
    size_t apart = single ? 0 : (size_t)n * PANEL;
    int position = 0, part = 0, parts = n / TILE + 1;
    for (; n - position >= FILLED; position += TILE, part++)
        multiply_tiles(&pair, in, position, n - position < TILE ? n - position : TILE, wanted_part(&pair, part, parts),
                       out + position * PANEL, apart);
    multiply_rest(&pair, in, position, n, part, parts, out, apart);
}

#include "pairs_vnni.h"
#include "halves_amx.h"

/* What the thread's tiles were before: other libraries in the process may set them up once and count on it. */
static _Thread_local TileConfig config_before;

TARGET static void begin_tiles(bool halved) {
    _tile_storeconfig(&config_before);
    _tile_loadconfig(halved ? &config_of_halves : &config_of_codes);
}

TARGET static void end_tiles(void) {
    if (config_before.palette)
        _tile_loadconfig(&config_before);
    else
        _tile_release();
}

#define BEGIN_STEP begin_tiles
#define END_STEP end_tiles

#define LEVEL_NAME "amx"
#define LEVEL_SUPPORTED has_amx
#define LEVEL_KERNELS kernels_amx
#define ATTENTION_FILE "words_avx512.h"
#include "kernels_common.h"

#elif defined(__x86_64__)

#include "kernels.h"

/* Without Linux, or with an older compiler. */
LEAVE_OUT(amx);

#else
typedef int reviser_level_amx_is_for_x86; /* a translation unit must not be empty */
#endif
