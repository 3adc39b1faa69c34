/* Inputs of 8-bit products for the dot-product instructions of VNNI, which want one factor unsigned: so codes of weights are kept 128
 * higher, and a group's sum of products begins at -128 times the sum of its inputs. */

#define NIBBLE_MASK 0
#define BYTE_MASK 0x80
#define QUANTISE4 quantise
#define QUANTISE8 quantise_with_starts

TARGET static void quantise(const Activations *in, int position);

TARGET static void quantise_with_starts(const Activations *in, int position) {
    quantise(in, position);
    size_t at = first_group(in, position);
    for (int group = 0; group < in->groups; group++, at += (size_t)in->together) {
        __m256i all = _mm256_loadu_si256((const __m256i *)(in->codes + at * GROUP));
        __m256i pairs = _mm256_maddubs_epi16(_mm256_set1_epi8(1), all);
        __m256i sums = _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
        __m128i four = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
        four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4e));
        in->starts[at] = -128 * _mm_cvtsi128_si32(_mm_add_epi32(four, _mm_shuffle_epi32(four, 0xb1)));
    }
}
