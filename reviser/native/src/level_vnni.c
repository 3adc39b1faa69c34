/* The level for x86 processors with the dot-product instructions of AVX-512 VNNI. */

#if defined(__x86_64__) && !defined(REVISER_LEFT_OUT)

#include <math.h>
#include <string.h>

#include "kernels.h"

#define TARGET __attribute__((target("avx2,fma,avx512f,avx512bw,avx512vl,avx512vnni")))
#include "simd_avx2.h"

static bool has_vnni(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni");
}

#include "multiply_vnni.h"

/* A panel and the next one, or a single one, times n positions: several with tiles that are unpacked once for all. */
INLINE void multiply_pair(const Matrix *matrix, const int bits, const unsigned char *panel, const bool single,
                          const Activations *in, int n, float *out) {
    if (n == 1) {
        multiply_pair_alone(matrix, bits, panel, single, in, out);
        return;
    }
    const Pair pair = make_pair(matrix, bits, panel, single, (Group *)in->unpacked);
    multiply_rest(&pair, in, 0, n, 0, n / AT_ONCE + 1, out, single ? 0 : (size_t)n * PANEL);
}

#include "pairs_vnni.h"

#define LEVEL_NAME "vnni"
#define LEVEL_SUPPORTED has_vnni
#define LEVEL_KERNELS kernels_vnni
#define ATTENTION_FILE "words_avx512.h"
#include "kernels_common.h"

#elif defined(__x86_64__)

#include "kernels.h"

LEAVE_OUT(vnni);

#else
typedef int reviser_level_vnni_is_for_x86; /* a translation unit must not be empty */
#endif
