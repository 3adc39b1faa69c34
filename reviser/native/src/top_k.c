/* The highest scores of a vocabulary, in one pass, and how likely they are. */

#include <math.h>
#include <string.h>

#include "kernels.h"
#include "reviser_native.h"

enum {
    BLOCK = 32,
    /* Exponentials that are added up in single precision. */
    PIECE = 128,
};

/* Whether a comes before b among the highest. */
static int before(const float *scores, int64_t a, int64_t b) {
    return scores[a] > scores[b] || (scores[a] == scores[b] && a < b);
}

/* `heap` has the last of the ids so far at its root, where it is replaced. Let the id at `at` sink to
 * its place among `size`. */
static void sink(const float *scores, int64_t *heap, int size, int at) {
    int64_t id = heap[at];
    for (int child; (child = 2 * at + 1) < size; at = child) {
        if (child + 1 < size && before(scores, heap[child], heap[child + 1])) child++;
        if (before(scores, heap[child], id)) break;
        heap[at] = heap[child];
    }
    heap[at] = id;
}

/* Take the next id, which is higher than all before it: equal scores do not displace one another. */
static int consider(const float *scores, const uint8_t *allowed, int64_t id, int wanted, int64_t *heap,
                    int found) {
    if (!allowed[id] || !(scores[id] > -INFINITY)) return found;
    if (found < wanted) {
        heap[found++] = id;
        if (found == wanted)
            for (int at = found / 2 - 1; at >= 0; at--) sink(scores, heap, found, at);
    } else if (scores[id] > scores[heap[0]]) {
        heap[0] = id;
        sink(scores, heap, found, 0);
    }
    return found;
}

static int find_top(const float *scores, const uint8_t *allowed, int count, int wanted, int64_t *ids) {
    if (wanted < 1) return 0;
    int found = 0, id = 0;
    for (; id < count && found < wanted; id++)
        found = consider(scores, allowed, id, wanted, ids, found);
    /* Few scores pass the lowest of those found, so they are looked at in blocks; a block with a
     * not-a-number in it may say that this is its highest, and is looked at, too. */
    const Kernels *kernels = find_kernels(NULL);
    for (; id + BLOCK <= count; id += BLOCK) {
        if (kernels->highest(scores + id, BLOCK) <= scores[ids[0]]) continue;
        for (int i = 0; i < BLOCK; i++) found = consider(scores, allowed, id + i, wanted, ids, found);
    }
    for (; id < count; id++) found = consider(scores, allowed, id, wanted, ids, found);
    /* A heap that was never full is no heap yet. Then take the lowest to the end, again and again. */
    for (int at = found / 2 - 1; at >= 0; at--) sink(scores, ids, found, at);
    for (int size = found - 1; size > 0; size--) {
        int64_t lowest = ids[0];
        ids[0] = ids[size];
        ids[size] = lowest;
        sink(scores, ids, size, 0);
    }
    return found;
}

int reviser_top_k(const float *scores, const uint8_t *allowed, int count, int wanted,
                      double temperature, int64_t *ids, double *probabilities) {
    int found = find_top(scores, allowed, count, wanted, ids);
    double total = 0;
    for (int i = 0; i < found; i++) {
        probabilities[i] = exp(((double)scores[ids[i]] - scores[ids[0]]) / temperature);
        total += probabilities[i];
    }
    for (int i = 0; i < found; i++) probabilities[i] /= total;
    return found;
}

/* The next ids in a row that are allowed, from *from on; false when there are none. */
static bool next_run(const uint8_t *allowed, int count, int *from, int *to) {
    while (*from < count && !allowed[*from]) ++*from;
    if (*from == count) return false;
    const uint8_t *end = memchr(allowed + *from, 0, (size_t)(count - *from));
    *to = end ? (int)(end - allowed) : count;
    return true;
}

static void find_highest(const Kernels *kernels, const float *scores, int from, int to, Summary *found) {
    for (; from < to; from += BLOCK) {
        int end = from + BLOCK < to ? from + BLOCK : to;
        if (end - from == BLOCK && kernels->highest(scores + from, BLOCK) <= found->highest) continue;
        for (int id = from; id < end; id++) {
            if (!(scores[id] > found->highest)) continue;
            found->highest = scores[id];
            found->id = id;
        }
    }
}

static double sum_run(const Kernels *kernels, const float *scores, int count, float shift) {
    double total = 0;
    while (count >= 8) {
        int piece = count < PIECE ? count / 8 * 8 : PIECE;
        total += kernels->sum_exponentials(scores, piece, shift);
        scores += piece;
        count -= piece;
    }
    for (int i = 0; i < count; i++) total += exp((double)scores[i] - shift);
    return total;
}

void reviser_summarise(const float *scores, int rows, int stride, const uint8_t *allowed, int count,
                       Summary *summaries) {
    const Kernels *kernels = find_kernels(NULL);
    for (int row = 0; row < rows; row++, scores += stride) {
        Summary found = {-INFINITY, -INFINITY, -1};
        for (int from = 0, to; next_run(allowed, count, &from, &to); from = to)
            find_highest(kernels, scores, from, to, &found);
        double total = 0;
        for (int from = 0, to; found.id >= 0 && next_run(allowed, count, &from, &to); from = to)
            total += sum_run(kernels, scores + from, to - from, found.highest);
        if (found.id >= 0) found.log_total = found.highest + log(total);
        summaries[row] = found;
    }
}
