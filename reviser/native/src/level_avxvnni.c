/* The level for x86 processors with the dot-product instructions of AVX-VNNI and without AVX-512, as in Intel's laptops and desktops
 * since 2021. */

#if defined(__x86_64__) && !defined(REVISER_LEFT_OUT) && (defined(__clang__) ? __clang_major__ >= 12 : __GNUC__ >= 11)

#include <cpuid.h>
#include <math.h>
#include <string.h>

#include "kernels.h"

#define TARGET __attribute__((target("avx2,fma,avxvnni")))
#include "simd_avx2.h"

static bool has_avx_vnni(void) {
    unsigned a = 0, b, c, d;
    __builtin_cpu_init();
    return __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & 1u << 4) && __builtin_cpu_supports("avx2") &&
           __builtin_cpu_supports("fma");
}

#include "bytes_vnni.h"

/* Add to each lane what its four bytes, unsigned, and the four codes are together. Written out and in this order, as at the level avx2. */
TARGET static inline void add_fours(__m256i *sum, __m256i bytes, const int8_t *codes) {
    __m256i fours;
    __asm__ volatile("vpbroadcastd %3, %1\n\t"
            "%{vex%} vpdpbusd %1, %2, %0"
            : "+x"(*sum), "=&x"(fours)
            : "x"(bytes), "m"(*(const Lane *)codes));
}
TARGET static inline void add_pairs(__m256i *sum, __m256i numbers, __m256i codes) {
    __asm__ volatile("%{vex%} vpdpwssd %2, %1, %0" : "+x"(*sum) : "x"(numbers), "x"(codes));
}
#define ATTENTION_FILE "words_avx2.h"

#define add_nibbles add_fours
#define add_bytes add_fours
TARGET static inline __m256i finish_nibbles(__m256i sum) { return sum; }
TARGET static inline __m256i start_bytes(const int32_t *start) { return _mm256_set1_epi32(*start); }
#include "multiply_avx2.h"

#define LEVEL_NAME "avxvnni"
#define LEVEL_SUPPORTED has_avx_vnni
#define LEVEL_KERNELS kernels_avxvnni
#include "kernels_common.h"

#elif defined(__x86_64__)

#include "kernels.h"

LEAVE_OUT(avxvnni);

#else
typedef int reviser_level_avxvnni_is_for_x86; /* a translation unit must not be empty */
#endif
