/* The level for x86 processors with the dot-product instructions of AVX-512 VNNI. */

#if defined(__x86_64__)

#include <math.h>
#include <string.h>

#include "kernels.h"

#define TARGET __attribute__((target("avx2,fma,f16c,avx512f,avx512vl,avx512vnni")))
#include "simd_avx2.h"

static bool has_vnni(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni");
}

TARGET static inline __m256i dot_nibbles(__m256i sum, __m256i nibbles, __m256i codes) {
    return _mm256_dpbusd_epi32(sum, nibbles, codes);
}
TARGET static inline __m256i finish_nibbles(__m256i sum) { return sum; }
TARGET static inline __m256i dot_bytes(__m256i sum, __m256i sizes, __m256i codes) {
    return _mm256_dpbusd_epi32(sum, sizes, codes);
}

#include "multiply_avx2.h"

#define LEVEL_NAME "vnni"
#define LEVEL_SUPPORTED has_vnni
#define LEVEL_KERNELS kernels_vnni
#include "kernels_common.h"

#else
typedef int reviser_level_vnni_is_for_x86; /* a translation unit must not be empty */
#endif
