/* What a decoder holds, and the work that its threads share: decoder.c keeps it, step.c computes with it. */

#ifndef REVISER_DECODER_H
#define REVISER_DECODER_H

#include <stdint.h>

#include "kernels.h"
#include "reviser_native.h"
#include "team.h"

enum {
    /* Positions that go through a layer together: enough that reading the weights costs little beside
     * using them, few enough that their states stay in the second-level cache. */
    BLOCK = 128,
    /* The same where products are of halves, for which weights take longer to unpack. */
    HALVED_BLOCK = 256,
    /* Texts that are read together. */
    MOST_ROWS = 128,
    /* Panels that a decoding step multiplies before it uses the outcome. */
    BATCH = 32,
    /* The same for several positions. */
    BLOCK_BATCH = MOST_PANELS,
    /* Attention of one new id is cut into at most this many stretches of the history. */
    MAX_STRETCHES = 8,
    MIN_STRETCH = 32,
    /* Panels of the output table whose scores are summed up by one thread: whoever does it, the sums are the
     * same. A multiple of BATCH and of BLOCK_BATCH. */
    STRIP = 128,
};

typedef struct {
    Matrix qkv;
    Matrix o;
    Matrix up; /* llama: panels of gate and up by turns, so that one thread has both of a row */
    Matrix down;
    float *attention_norm, *attention_norm_bias;
    float *mlp_norm, *mlp_norm_bias;
    float *up_bias, *down_bias;
} Layer;

/* Keys and values of one history: for each layer and head, `room` keys and then as many values. */
typedef struct {
    uint16_t *cells;
    int room; /* a multiple of POSITION_STEP */
} History;

/* An id to be read, and where it stands. */
typedef struct {
    History *history;
    int32_t id;
    int32_t position;
} Token;

/* Neighbours in one history whose queries attention takes together; their outcome goes to rows from
 * `to` on. */
typedef struct {
    int32_t first, count, to;
} Span;

/* What a thread needs to itself. */
typedef struct {
    Activations in; /* one position */
    float *products;
    unsigned char *unpacked; /* of the matrix's panels, for several positions */
    float *highest; /* of the products of each position */
    float *scores;
    float *queries; /* and after them, what attention made of them */
} Scratch;

struct Decoder {
    Shape shape;
    const Kernels *kernels;
    const Attention *attention;
    Team *team;

    int head_dim, padded_dim;
    int stride, ff_stride, qkv_stride; /* floats from one position to the next */
    int room;                          /* capacity, rounded up for attention */

    Layer *layers;
    Matrix embedding, separate_head;
    float *final_norm, *final_norm_bias;
    float *cosine, *sine;
    History history; /* of reviser_read */

    /* States of as many positions as go through a layer together, which is a block. */
    float *x, *qkv, *attended, *hidden;
    Activations shared;
    Fold *folds; /* of a block for each strip of the output table */
    /* Outcomes of attention by stretch and head, for one new id. */
    float *part_out, *part_largest, *part_total;
    Scratch *scratch;

    /* All memory: sized by a first round of claims, handed out by a second. */
    unsigned char *arena;
    size_t arena_size, arena_used, weights_size;

    int profiling;
    Profile profile;
};

/* Some ids' worth of work, copied to every thread. What its pointers lead to is gone when the step is complete,
 * and a thread that comes late runs through the phases even then: only who has taken items may follow them. */
typedef struct {
    Decoder *decoder;
    const Token *tokens; /* at most a block */
    const Span *spans;   /* all of the tokens */
    const Span *ends;    /* ids at the ends of their texts: what follows them is scored */
    float *finals;       /* where the final states of the ends go */
    float *logits;       /* of the one end, or NULL */
    int count, span_count;
    int end_count, end_spans; /* ids of the ends, and spans that they are in */
    /* One text alone, from position `start` on: attention of a single id is cut into stretches for all
     * threads. Otherwise it is not, and the outcome is the same bit for bit whatever else is read. */
    int stretched, start;
    /* Products are of halves rather than codes; see reviser_batch_create. */
    bool halved;
} Job;

_Static_assert(sizeof(Job) <= MAX_JOB_BYTES, "a job must fit the place where threads find it");

/* Scores of what follows some final states. */
typedef struct {
    Decoder *decoder;
    const float *finals;
    float *logits; /* rows of the vocabulary's size */
    int count;     /* at most a block */
    bool halved;   /* as in Job */
} ScoringJob;

_Static_assert(sizeof(ScoringJob) <= MAX_JOB_BYTES, "a job must fit the place where threads find it");

/* Outlooks of what follows some final states; the same of them as in the interface. */
typedef struct {
    Decoder *decoder;
    const float *finals;
    const int32_t *expected;
    Outlook *outlooks;
    Choices choices;
    Questions questions; /* no `starts`: none */
    int count;           /* at most a block */
    int briefly;         /* only common ids, those behind the tokens, and the expected one */
    bool halved;         /* as in Job */
} OutlookJob;

_Static_assert(sizeof(OutlookJob) <= MAX_JOB_BYTES, "a job must fit the place where threads find it");

/* Positions of a block, and of one that the level may read. */
static inline int block_size(bool halved) { return halved ? HALVED_BLOCK : BLOCK; }
static inline int most_block(const Decoder *d) { return block_size(d->kernels->halve != NULL); }

/* Steps for team_run: a Job's ids through all layers; the states of a ScoringJob or an OutlookJob through the
 * output table. */
void read_step(void *job, Place *place);
void score_step(void *job, Place *place);
void outlook_step(void *job, Place *place);

static inline const Matrix *output_table(const Decoder *d) {
    return d->shape.tied ? &d->embedding : &d->separate_head;
}

static inline int strip_count(const Matrix *table) { return (table->panels + STRIP - 1) / STRIP; }

/* Numbers that a head's keys take, and those from one head's first key to the next head's. */
static inline size_t key_cells(const Decoder *d, int room) {
    return (size_t)room * (size_t)(d->head_dim + d->attention->scale_cells);
}

static inline size_t head_cells(const Decoder *d, int room) {
    return key_cells(d, room) + (size_t)room * (size_t)d->padded_dim;
}

static inline size_t history_cells(const Decoder *d, int room) {
    return (size_t)d->shape.layers * (size_t)d->shape.kv_heads * head_cells(d, room);
}

static inline int round_up(int value, int multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

#endif
