/* The highest scores of a vocabulary, how likely they are, and the draw among them. */

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "kernels.h"
#include "reviser_native.h"

enum {
    BLOCK = 32,
    /* Blocks in which the highest scores are looked for first: so many, of so many ids or more. */
    MOST_BLOCKS = 1024,
    SEARCH_BLOCK = 64,
    /* Blocks that are looked into beside one for each score that is wanted: the likeliest ids of some may not be allowed. */
    SPARE_BLOCKS = 4,
    /* Exponentials that are added up in single precision. */
    PIECE = 128,
};

/* Whether a comes before b among the highest. */
static bool before(Ranked a, Ranked b) {
    return a.value > b.value || (a.value == b.value && a.id < b.id);
}

/* `heap` has the last of those so far at its root, where it is replaced. Let the one at `at` sink to
 * its place among `size`. */
static void sink(Ranked *heap, int size, int at) {
    Ranked one = heap[at];
    for (int child; (child = 2 * at + 1) < size; at = child) {
        if (child + 1 < size && before(heap[child], heap[child + 1])) child++;
        if (before(heap[child], one)) break;
        heap[at] = heap[child];
    }
    heap[at] = one;
}

static void make_heap(Ranked *heap, int size) {
    for (int at = size / 2 - 1; at >= 0; at--) sink(heap, size, at);
}

/* Take those of the scores [from, to) that are among the `wanted` highest so far, and not below `least`. Without `allowed`, all may be
 * taken. */
static int take_highest(const float *scores, const uint8_t *allowed, int from, int to, double least, int wanted,
                        Ranked *heap, int found) {
    if (found == wanted && heap[0].value > least) least = heap[0].value;
    for (int id = from; id < to; id++) {
        float score = scores[id];
        /* Not a number is not above anything. */
        if (!(score >= least) || score == -INFINITY || (allowed && !allowed[id])) continue;
        Ranked one = {id, score};
        if (found < wanted) {
            heap[found++] = one;
            if (found < wanted) continue;
            make_heap(heap, found);
        } else if (before(one, heap[0])) {
            heap[0] = one;
            sink(heap, found, 0);
        }
        if (heap[0].value > least) least = heap[0].value;
    }
    return found;
}

/* Highest first. */
static void sort_falling(Ranked *found, int size) {
    make_heap(found, size);
    while (--size > 0) {
        Ranked last = found[0];
        found[0] = found[size];
        found[size] = last;
        sink(found, size, 0);
    }
}

/* The highest score of each block of `size` ids. Scores are numbers: beside one that is none, others of its block may be passed over. */
static void find_maxima(const float *scores, int count, int size, float *maxima) {
    const Kernels *kernels = find_kernels(NULL);
    for (int from = 0; from < count; from += size, maxima++) {
        int length = from + size < count ? size : count - from, whole = length / 8 * 8;
        float most = whole ? kernels->highest(scores + from, whole) : -INFINITY;
        for (int i = whole; i < length; i++)
            if (!(scores[from + i] <= most)) most = scores[from + i];
        *maxima = isnan(most) ? INFINITY : most;
    }
}

/* As many scores as there are blocks are at least as high as the lowest maximum of these blocks. So only the blocks with the highest
 * maxima are looked into, for scores that are as high as that. Where so many of these are not allowed, or equal, that other blocks may have
 * the wanted ones, too, more blocks are looked into. */
static int find_in_blocks(const float *scores, const uint8_t *allowed, int count, int wanted, Ranked *top) {
    float maxima[MOST_BLOCKS];
    Ranked chosen[MOST_BLOCKS];
    int size = SEARCH_BLOCK;
    while ((count - 1) / size >= MOST_BLOCKS) size *= 2;
    int blocks = (count + size - 1) / size;
    if (wanted + SPARE_BLOCKS >= blocks) return 0;
    find_maxima(scores, count, size, maxima);
    for (int most = wanted + SPARE_BLOCKS; most < blocks; most *= 4) {
        if (take_highest(maxima, NULL, 0, blocks, -INFINITY, most, chosen, 0) < most) return 0;
        double least = chosen[0].value;
        int found = 0;
        for (int i = 0; i < most; i++) {
            int from = (int)chosen[i].id * size, to = from + size < count ? from + size : count;
            found = take_highest(scores, allowed, from, to, least, wanted, top, found);
        }
        if (found == wanted && top[0].value > least) return found;
    }
    return 0;
}

static int find_top(const float *scores, const uint8_t *allowed, int count, int wanted, Ranked *top) {
    if (wanted < 1) return 0;
    int found = find_in_blocks(scores, allowed, count, wanted, top);
    if (!found) found = take_highest(scores, allowed, 0, count, -INFINITY, wanted, top, 0);
    sort_falling(top, found);
    return found;
}

static double total_of(const Ranked *candidates, int count) {
    double total = 0;
    for (int i = 0; i < count; i++) total += candidates[i].value;
    return total;
}

static void divide(Ranked *candidates, int count, double by) {
    for (int i = 0; i < count; i++) candidates[i].value /= by;
}

/* How many of the falling probabilities top-p and min-p leave; always one at least. */
static int cut(const Ranked *candidates, int count, double top_p, double min_p) {
    if (top_p < 1) {
        double total = 0;
        for (int i = 0; i < count; i++) {
            total += candidates[i].value;
            if (total >= top_p) count = i + 1;
        }
    }
    double least = min_p * candidates[0].value;
    while (count > 1 && candidates[count - 1].value < least) count--;
    return count;
}

static bool is_move(const Choosing *rule, int64_t id) {
    return id >= rule->first_move && id < rule->end_of_moves;
}

/* Raise the probabilities of moves to a power. The odds of a move, whichever it is, become `move_odds` times what they were. After a
 * move they do not: all other actions together are then one more choice among the moves. Whether anything has changed. */
static bool sharpen_moves(Ranked *candidates, int count, const Choosing *rule, bool moving) {
    double highest = 0, together = 0, staying = 0, raised = 0;
    for (int i = 0; i < count; i++) {
        double value = candidates[i].value;
        if (!is_move(rule, candidates[i].id)) {
            staying += value;
            continue;
        }
        together += value;
        if (value > highest) highest = value;
    }
    if (highest == 0) return false;
    /* Divided by the largest first, since high powers of small numbers are 0. */
    double largest = moving && staying > highest ? staying : highest;
    for (int i = 0; i < count; i++) {
        if (!is_move(rule, candidates[i].id)) continue;
        candidates[i].value = pow(candidates[i].value / largest, rule->move_power);
        raised += candidates[i].value;
    }
    double moves, others;
    if (moving) {
        double together_stay = pow(staying / largest, rule->move_power), total = raised + together_stay;
        moves = 1 / total;
        others = staying > 0 ? together_stay / (staying * total) : 0;
    } else if (staying > 0 && together < 1) {
        double wanted = rule->move_odds * together / (1 + (rule->move_odds - 1) * together);
        moves = wanted / raised;
        others = (1 - wanted) / (1 - together);
    } else {
        /* Where there is nothing but moves, one is made whatever its odds are. */
        moves = 1 / raised;
        others = 1;
    }
    for (int i = 0; i < count; i++)
        candidates[i].value *= is_move(rule, candidates[i].id) ? moves : others;
    return true;
}

/* The place where probabilities, added up one by one, pass `drawn`. */
static int draw(const Ranked *candidates, int count, double drawn) {
    for (int i = 0; i < count; i++) {
        drawn -= candidates[i].value;
        if (drawn < 0) return i;
    }
    return count - 1;
}

/* Few are out of place; those with equal values keep their order. */
static void restore_order(Ranked *candidates, int count) {
    for (int i = 1; i < count; i++) {
        Ranked one = candidates[i];
        int at = i;
        for (; at > 0 && candidates[at - 1].value < one.value; at--) candidates[at] = candidates[at - 1];
        candidates[at] = one;
    }
}

int reviser_choose(Choosing *rule, int moving, double drawn) {
    Ranked *candidates = rule->candidates;
    int found = find_top(rule->scores, rule->allowed, rule->count, rule->wanted, candidates);
    if (!found || isinf(candidates[0].value)) return 0;
    double highest = candidates[0].value;
    for (int i = 0; i < found; i++)
        candidates[i].value = exp((candidates[i].value - highest) / rule->temperature);
    divide(candidates, found, total_of(candidates, found));
    int kept = cut(candidates, found, rule->top_p, rule->min_p);
    if (kept < found) divide(candidates, kept, total_of(candidates, kept));
    bool sharper = sharpen_moves(candidates, kept, rule, moving);
    rule->picked = candidates[draw(candidates, kept, drawn)];
    if (sharper) restore_order(candidates, kept);
    return kept;
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
