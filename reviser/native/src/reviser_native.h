/* The library's interface: a decoder that keeps its weights packed and its history cached. */

#ifndef REVISER_NATIVE_H
#define REVISER_NATIVE_H

#include <stdint.h>

/* Changes with anything that the callers of this file rely on. */
enum { REVISER_NATIVE_VERSION = 9 };

typedef struct Decoder Decoder;

typedef enum { KIND_LLAMA, KIND_PAPER } Kind;

typedef struct {
    int32_t kind;
    int32_t vocab, layers, width, heads, kv_heads, ff;
    int32_t capacity;
    int32_t tied;
    float norm_eps;
    /* Bits of a weight, 4, 8 or 32, in the layers and in the embedding and output. */
    int32_t bits, table_bits;
    int32_t threads;
} Shape;

typedef enum {
    MATRIX_EMBEDDING,
    MATRIX_HEAD,
    MATRIX_Q,
    MATRIX_K,
    MATRIX_V,
    MATRIX_O,
    MATRIX_GATE,
    MATRIX_UP, /* the paper kind's first MLP matrix, too */
    MATRIX_DOWN,
} MatrixSlot;

typedef enum {
    VECTOR_ATTENTION_NORM,
    VECTOR_ATTENTION_NORM_BIAS,
    VECTOR_MLP_NORM,
    VECTOR_MLP_NORM_BIAS,
    VECTOR_UP_BIAS,
    VECTOR_DOWN_BIAS,
    VECTOR_FINAL_NORM,
    VECTOR_FINAL_NORM_BIAS,
} VectorSlot;

typedef enum {
    STATUS_OK,
    STATUS_NO_MEMORY,
    STATUS_NO_ROOM,   /* more ids than the cache can take */
    STATUS_BAD_ID,    /* an id outside the vocabulary */
    STATUS_BAD_VALUE, /* a slot, layer or length that does not exist */
} Status;

typedef struct {
    int64_t steps;
    int64_t total_ns;     /* in calls, as the caller's thread saw them */
    int64_t matrix_ns;    /* in products with weights, their input's norm and quantisation included */
    int64_t attention_ns; /* in attention, its rotation and cache writes included */
    int64_t prepare_ns;   /* the part of matrix_ns that is norm and quantisation */
} Profile;

int reviser_version(void);
/* The level `name`, or with NULL the best; NULL when this processor lacks it. */
const char *reviser_level(const char *name);

Decoder *reviser_create(const Shape *shape, const char *level);
void reviser_free(Decoder *decoder);

/* A row-major matrix, its columns padded with zeros to whole groups of 32.
 *
 * 4 bits: a weight is row_scale * scale * code - row_minimum * minimum. Two codes share a byte: column i
 * of the group is the low nibble of byte i, column i + 16 the high one.
 * 8 bits: a weight is row_scale * code, one code a byte. 32 bits: `codes` are floats.
 * What is not mentioned may be NULL. */
typedef struct {
    const void *codes;
    const uint8_t *scales, *minima;
    const float *row_scales, *row_minima;
} Rows;

Status reviser_set_matrix(Decoder *decoder, int slot, int layer, const Rows *rows);
Status reviser_set_vector(Decoder *decoder, int slot, int layer, const float *values);
/* Rotary tables of [capacity][head_dim / 2]. */
Status reviser_set_rotary(Decoder *decoder, const float *cosine, const float *sine);

/* Take in `count` ids after the first `start` that are cached, forgetting what came after those, and
 * write the scores of the next id to `logits`. The caller knows how many ids it has read. */
Status reviser_read(Decoder *decoder, int start, const int32_t *ids, int count, float *logits);
/* The same for one id, which spares the caller an array. */
Status reviser_read_one(Decoder *decoder, int start, int32_t id, float *logits);

/* Several histories that are read together, in rows of `room` ids each; NULL when there is no memory for
 * them, or they are more than 128, or longer than the decoder's capacity. They use the decoder's threads and
 * working memory: one call at a time to it and all its batches.
 *
 * With `halved`, products may be of floats of sixteen bits (bfloat16) where that is quicker for many ids, though it is slower for a few:
 * the scores are rounded otherwise then than those of the decoder itself. */
typedef struct Batch Batch;
Batch *reviser_batch_create(Decoder *decoder, int rows, int room, int halved);
void reviser_batch_free(Batch *batch);

/* Read into `texts` different rows at once: counts[i] ids into row rows[i], after the first starts[i] that
 * are cached there. `ids` has those of all texts one after the other, and `logits` gets a row of the
 * vocabulary's size for each: the scores after its last id. What a text gets does not depend on the others,
 * to the last bit. */
Status reviser_batch_read(Batch *batch, int texts, const int32_t *rows, const int32_t *starts,
                          const int32_t *counts, const int32_t *ids, float *logits);

/* The ids that matter to a reader which proposes what comes next: tokens below `tokens` where `insertable`
 * is not 0, and two operators.
 *
 * With `common` above 0, the first so many ids, those from `tokens` on and the proposed one are scored first. Where the
 * logarithm of the chance of the proposed id is `enough` among these, the others are not scored, and the outlook is as if
 * they had no chance. */
typedef struct {
    const uint8_t *insertable;
    int32_t tokens, delete_id, stop_id, common;
    double enough;
} Choices;

/* What the scores of the next id say, as logarithms of chances among all ids: of the id that was proposed,
 * of the operators, and of the two likeliest insertable tokens (of equal ones the lower id first; -1 where
 * there is none). */
typedef struct {
    double expected, delete_chance, stop_chance, first_chance, second_chance;
    int32_t first, second;
} Outlook;

/* More ids whose chances are asked for: those of place p, counted as outlooks are, lie from starts[p] to
 * starts[p + 1] of `ids`, and the logarithms of their chances go to the same places of `chances`. */
typedef struct {
    const int32_t *starts; /* one more than there are places */
    const int32_t *ids;
    double *chances;
} Questions;

/* Read as reviser_batch_read does, and say what follows each of the last wanted[i] ids of text i. `expected`
 * and `outlooks` have one entry for each of these, those of all texts one after the other. `questions` may be NULL, and are if
 * common ids are scored first. */
Status reviser_batch_outlooks(Batch *batch, int texts, const int32_t *rows, const int32_t *starts,
                              const int32_t *counts, const int32_t *ids, const int32_t *wanted,
                              const int32_t *expected, const Choices *choices, Outlook *outlooks,
                              const Questions *questions);

/* An id, with its probability or score. */
typedef struct {
    int64_t id;
    double value;
} Ranked;

/* What an id is drawn from, how, and what was drawn. One of the ids below `count` where `allowed` is not 0 is drawn: of the `wanted` highest
 * scores, at a temperature above 0, cut by top-p and min-p. The probabilities of moves, the ids [first_move, end_of_moves), are raised
 * to a power, and their odds before a first move multiplied. */
typedef struct {
    const float *scores;
    const uint8_t *allowed;
    Ranked *candidates; /* room for `wanted` */
    Ranked picked;
    double temperature, top_p, min_p, move_power, move_odds;
    int32_t count, wanted, first_move, end_of_moves;
} Choosing;

/* Draw an id by a number from 0 up to 1; `moving` says that the last action was a move. The candidates get their probabilities, highest
 * first and of equal scores the lower id first. Scores of minus infinity and not-a-number are left out. Returns how many candidates there
 * are; 0 where no id has a chance, or one a score of infinity. All comes in one structure because each argument of a call costs its caller time. */
int reviser_choose(Choosing *choosing, int moving, double drawn);

/* What rows of scores say about the ids [0, count) where `allowed` is not 0: the highest score, the first id
 * that has it (-1 where none has a chance), and the logarithm of the sum of their exponentials. */
typedef struct {
    double log_total;
    float highest;
    int32_t id;
} Summary;

void reviser_summarise(const float *scores, int rows, int stride, const uint8_t *allowed, int count,
                       Summary *summaries);

/* Bytes of weights that a step reads, and all bytes the decoder holds. */
int64_t reviser_step_bytes(const Decoder *decoder);
int64_t reviser_held_bytes(const Decoder *decoder);
/* Start (and clear) or stop measuring; `profile` may be NULL. */
void reviser_profile(Decoder *decoder, int on, Profile *profile);

#endif
