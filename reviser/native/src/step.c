/* A step of the model: which products, norms and attentions make it, and in what order. */

#include "decoder.h"

#include <math.h>
#include <string.h>

/* ---- The input of a product ---- */

/* What a product reads: which states, and under which norm. */
typedef struct {
    const float *states;
    int stride;
    const float *norm, *norm_bias; /* NULL: as they are */
    bool halved; /* products are of halves; as in Job */
    int parted; /* 0, or of how many positions the states are attention's parts, to be put together first */
} Source;

/* How long a stretch of the history is that one thread attends to at a time. It depends on nothing but
 * the history, so that the outcome does not change with the number of threads. */
static int stretch_length(int positions) {
    int even = round_up((positions + MAX_STRETCHES - 1) / MAX_STRETCHES, POSITION_STEP);
    return even > MIN_STRETCH ? even : MIN_STRETCH;
}

static int stretch_count(int positions) {
    int length = stretch_length(positions);
    return (positions + length - 1) / length;
}

/* Put together what attention found in each stretch of the history. */
static void gather_parts(const Decoder *d, int positions, float *out) {
    int stretches = stretch_count(positions), heads = d->shape.heads;
    for (int head = 0; head < heads; head++) {
        float most = -INFINITY, total = 0.0f, weights[MAX_STRETCHES];
        for (int i = 0; i < stretches; i++) most = fmaxf(most, d->part_largest[i * heads + head]);
        for (int i = 0; i < stretches; i++) {
            weights[i] = d->kernels->exponential(d->part_largest[i * heads + head] - most);
            total += weights[i] * d->part_total[i * heads + head];
        }
        float *to = out + head * d->head_dim;
        for (int k = 0; k < d->head_dim; k++) to[k] = 0.0f;
        for (int i = 0; i < stretches; i++) {
            const float *from = d->part_out + (size_t)(i * heads + head) * (size_t)d->padded_dim;
            float weight = weights[i] / total;
            for (int k = 0; k < d->head_dim; k++) to[k] += weight * from[k];
        }
    }
}

/* Make position p of `in` from the states of one position. */
static void prepare(const Decoder *d, const Matrix *matrix, const Source *source, const float *states,
                    Activations *in, int p) {
    const Shape *s = &d->shape;
    in->cols = matrix->cols;
    in->groups = matrix->groups;
    if (in->halved && !source->norm && !source->parted) {
        d->kernels->halve(in, p, states);
        return;
    }
    float *values = in->values + (size_t)p * (size_t)in->cols;
    if (source->parted) {
        /* The buffer is shared by inputs of several lengths: clear the padding. */
        for (int i = s->width; i < in->cols; i++) values[i] = 0.0f;
        gather_parts(d, source->parted, values);
    } else if (!source->norm) {
        memcpy(values, states, (size_t)in->cols * sizeof(float));
    } else {
        for (int i = s->width; i < in->cols; i++) values[i] = 0.0f;
        if (s->kind == KIND_LLAMA)
            d->kernels->rms_norm(states, source->norm, s->width, s->norm_eps, values);
        else
            d->kernels->layer_norm(states, source->norm, source->norm_bias, s->width, s->norm_eps,
                                   values);
    }
    if (in->halved)
        d->kernels->halve(in, p, values);
    else if (matrix->bits == 4)
        d->kernels->quantise4(in, p);
    else if (matrix->bits == 8)
        d->kernels->quantise8(in, p);
}

/* ---- What becomes of a product ---- */

typedef enum { STORE, ADD, SWIGLU, GELU } Use;

typedef struct {
    Use use;
    float *to;
    int stride;
    const float *bias;
} Target;

typedef float Four __attribute__((vector_size(16)));

/* Add the eight products of one position; `bias` may be NULL. */
static inline void add_eight(const float *products, const float *bias, float *to) {
    for (int i = 0; i < PANEL; i += 4) {
        Four sum, four;
        memcpy(&sum, products + i, sizeof sum);
        if (bias) {
            memcpy(&four, bias + i, sizeof four);
            sum += four;
        }
        memcpy(&four, to + i, sizeof four);
        four += sum;
        memcpy(to + i, &four, sizeof four);
    }
}

/* Store or add products with panels [first, first + count) for n positions; `use` is a constant in each call. */
static inline void use_rows(Use use, const Target *target, int first, int count, int limit, int n,
                            const float *products) {
    enum { AHEAD = 6 }; /* positions; where products go lies in the second-level cache at best */
    size_t apart = (size_t)n * PANEL, stride = (size_t)target->stride;
    const float *bias = target->bias ? target->bias + first * PANEL : NULL;
    int whole = limit / PANEL - first < count ? limit / PANEL - first : count;
    for (int p = 0; p < n; p++, products += PANEL) {
        float *to = target->to + (size_t)p * stride + first * PANEL;
        if (p + AHEAD < n)
            for (int i = 0; i < whole; i += 2) __builtin_prefetch(to + AHEAD * stride + i * PANEL, 1);
        for (int i = 0; i < whole; i++)
            if (use == STORE)
                memcpy(to + i * PANEL, products + (size_t)i * apart, PANEL * sizeof(float));
            else
                add_eight(products + (size_t)i * apart, bias ? bias + i * PANEL : NULL, to + i * PANEL);
        if (whole == count) continue;
        const float *last = products + (size_t)whole * apart;
        for (int i = whole * PANEL; i < limit - first * PANEL; i++, last++)
            to[i] = use == STORE ? *last : to[i] + (bias ? *last + bias[i] : *last);
    }
}

/* Use the products of `count` panels from `first` on with n positions, as `multiply` leaves them; rows from `limit` on are there
 * to fill the last panel. */
static void use_products(const Decoder *d, const Target *target, int first, int count, int limit, int n,
                         const float *products) {
    size_t stride = (size_t)target->stride, apart = (size_t)n * PANEL;
    switch (target->use) {
        case STORE: use_rows(STORE, target, first, count, limit, n, products); break;
        case ADD: use_rows(ADD, target, first, count, limit, n, products); break;
        /* Rows past the limit are zeros here: their weights and biases are. */
        case SWIGLU:
            d->kernels->swiglu(products, count / 2, n, target->to + first / 2 * PANEL, stride);
            break;
        case GELU:
            for (int i = 0; i < count; i++, products += apart)
                d->kernels->gelu(products, target->bias + (first + i) * PANEL, n,
                                 target->to + (first + i) * PANEL, stride);
            break;
    }
}

/* ---- Phases ---- */

/* Start the clock where this thread is the caller and a profile is wanted. */
static int64_t clock_start(const Decoder *d, const Place *place) {
    return d->profiling && place->worker == 0 ? nanoseconds() : 0;
}

static void clock_stop(int64_t started, int64_t *sum) {
    if (started) *sum += nanoseconds() - started;
}

/* Prepare n positions of states for products with `matrix`. A single one is mostly left to every thread, which prepares it for
 * itself in `view`: that is quicker than to wait for one another. Returns whether it was not left. */
static bool prepare_all(Decoder *d, Place *place, const Matrix *matrix, const Source *source, int n, Activations *view) {
    Scratch *scratch = &d->scratch[place->worker];
    bool halved = source->halved && matrix->bits != 32, several = n > 1 || halved;
    *view = several ? d->shared : scratch->in;
    view->together = several ? d->kernels->together : 1;
    view->halved = halved;
    view->unpacked = scratch->unpacked;
    int from, to;
    if (several) {
        int64_t preparing = clock_start(d, place);
        while (phase_take(place, n, &from, &to)) {
            Activations mine = *view;
            for (int p = from; p < to; p++)
                prepare(d, matrix, source, source->states + (size_t)p * (size_t)source->stride, &mine, p);
            phase_done(place, to - from);
        }
        phase_finish(place, n);
        clock_stop(preparing, &d->profile.prepare_ns);
    }
    /* Everyone knows these without being told, so nobody writes to what all read. */
    view->cols = matrix->cols;
    view->groups = matrix->groups;
    return several;
}

/* All rows of `matrix` times n positions of states. */
static void product(Decoder *d, Place *place, const Matrix *matrix, Source source, Target target,
                    int n) {
    int64_t started = clock_start(d, place);
    Scratch *scratch = &d->scratch[place->worker];
    Activations view;
    bool several = prepare_all(d, place, matrix, &source, n, &view), prepared = several;
    int from, to;
    /* An item is as many panels as are multiplied together or used together, whichever is more. */
    int each = target.use == SWIGLU ? 2 : 1;
    int item = several ? BLOCK_BATCH : each;
    int total = (matrix->panels + item - 1) / item;
    int batch = several ? 1 : BATCH / item;
    int limit = matrix->rows / each;
    while (phase_take(place, total, &from, &to)) {
        /* The states are safe to read, since the phase cannot end without this range. */
        if (!prepared) {
            int64_t preparing = clock_start(d, place);
            prepare(d, matrix, &source, source.states, &view, 0);
            clock_stop(preparing, &d->profile.prepare_ns);
            prepared = true;
        }
        for (int at = from; at < to; at += batch) {
            int first = at * item, end = (at + batch < to ? at + batch : to) * item;
            int count = (end < matrix->panels ? end : matrix->panels) - first;
            d->kernels->multiply(matrix, first, count, &view, n, scratch->products);
            use_products(d, &target, first, count, limit, n, scratch->products);
        }
        phase_done(place, to - from);
    }
    phase_finish(place, total);
    clock_stop(started, &d->profile.matrix_ns);
}

/* Turn each pair (i, i + half) of a head by the position's angles. */
static void rotate(const Decoder *d, int position, const float *from, float *to) {
    int half = d->head_dim / 2;
    const float *cosine = d->cosine + (size_t)position * (size_t)half;
    const float *sine = d->sine + (size_t)position * (size_t)half;
    for (int i = 0; i < half; i++) {
        float a = from[i], b = from[i + half];
        to[i] = a * cosine[i] - b * sine[i];
        to[i + half] = b * cosine[i] + a * sine[i];
    }
}

static HeadCache head_cache(const Decoder *d, const History *history, int layer, int kv_head) {
    size_t head = (size_t)layer * (size_t)d->shape.kv_heads + (size_t)kv_head;
    uint16_t *keys = history->cells + head * head_cells(d, history->room);
    return (HeadCache){keys, keys + key_cells(d, history->room), d->head_dim, d->padded_dim};
}

static const float *qkv_of(const Decoder *d, int row) {
    return d->qkv + (size_t)row * (size_t)d->qkv_stride;
}

/* Write one id's key and value of one head to its history; `turned` is room for a key. */
static void remember(const Decoder *d, int layer, int kv_head, const Token *token, const float *qkv,
                     float *turned) {
    const float *key = qkv + d->shape.width + kv_head * d->head_dim;
    const float *value = key + d->shape.kv_heads * d->head_dim;
    HeadCache cache = head_cache(d, token->history, layer, kv_head);
    rotate(d, token->position, key, turned);
    d->attention->store(&cache, token->position, turned, value);
}

/* The id of one row alone: each head's history is cut into stretches, which threads share out. */
static void attention_of_one(const Job *job, Place *place, int layer, int row) {
    Decoder *d = job->decoder;
    const Shape *s = &d->shape;
    Scratch *scratch = &d->scratch[place->worker];
    const Token *token = &job->tokens[row];
    const float *qkv = qkv_of(d, row);
    int position = job->start + row, positions = position + 1, group = s->heads / s->kv_heads;
    int length = stretch_length(positions), stretches = stretch_count(positions);
    int total = s->kv_heads * stretches, first_item, end;
    int most = d->attention->most_queries;
    float scale = 1.0f / sqrtf((float)d->head_dim);
    int limits[MAX_QUERIES];
    while (phase_take(place, total, &first_item, &end)) {
        for (int item = first_item; item < end; item++) {
            int kv_head = item / stretches, stretch = item % stretches;
            int from = stretch * length, to = from + length < positions ? from + length : positions;
            /* The new id lies in the last stretch, and no other one looks at it. */
            if (to == positions) remember(d, layer, kv_head, token, qkv, scratch->queries);
            HeadCache cache = head_cache(d, token->history, layer, kv_head);
            for (int i = 0; i < MAX_QUERIES; i++) limits[i] = to;
            for (int done = 0; done < group; done += most) {
                int rows = group - done < most ? group - done : most;
                int head = kv_head * group + done, part = stretch * s->heads + head;
                for (int r = 0; r < rows; r++)
                    rotate(d, position, qkv + (head + r) * d->head_dim,
                           scratch->queries + r * d->padded_dim);
                d->attention->attend(&cache, scratch->queries, d->padded_dim, rows, from, limits, scale,
                                   scratch->scores, d->part_largest + part, d->part_total + part,
                                   d->part_out + (size_t)part * (size_t)d->padded_dim, d->padded_dim);
            }
        }
        phase_done(place, end - first_item);
    }
    phase_finish(place, total);
}

/* Write the keys and values of the first `count` ids to their histories. */
static void remember_ids(const Job *job, Place *place, int layer, int count) {
    Decoder *d = job->decoder;
    float *turned = d->scratch[place->worker].queries;
    int first, end;
    while (phase_take(place, count, &first, &end)) {
        for (int p = first; p < end; p++)
            for (int head = 0; head < d->shape.kv_heads; head++)
                remember(d, layer, head, &job->tokens[p], qkv_of(d, p), turned);
        phase_done(place, end - first);
    }
    phase_finish(place, count);
}

/* One head's queries of a span, a few rows at a time; keys and values are in the history. */
static void attend_span(const Job *job, Scratch *scratch, int layer, int kv_head, const Span *span) {
    const Decoder *d = job->decoder;
    int group = d->shape.heads / d->shape.kv_heads, rows_left = group * span->count;
    const Token *tokens = job->tokens + span->first;
    HeadCache cache = head_cache(d, tokens->history, layer, kv_head);
    float scale = 1.0f / sqrtf((float)d->head_dim);
    float largest[MAX_QUERIES], sums[MAX_QUERIES];
    int limits[MAX_QUERIES];
    float *outcome = scratch->queries + MAX_QUERIES * d->padded_dim;
    int most = d->attention->most_queries;
    for (int row = 0; rows_left > 0; row += most, rows_left -= most) {
        int rows = rows_left < most ? rows_left : most;
        for (int r = 0; r < rows; r++) {
            int p = (row + r) / group, head = kv_head * group + (row + r) % group;
            limits[r] = tokens[p].position + 1;
            rotate(d, tokens[p].position, qkv_of(d, span->first + p) + head * d->head_dim,
                   scratch->queries + r * d->padded_dim);
        }
        d->attention->attend(&cache, scratch->queries, d->padded_dim, rows, 0, limits, scale,
                           scratch->scores, largest, sums, outcome, d->padded_dim);
        for (int r = 0; r < rows; r++) {
            int p = (row + r) / group, head = kv_head * group + (row + r) % group;
            float *to = d->attended + (size_t)(span->to + p) * (size_t)d->stride + head * d->head_dim;
            for (int k = 0; k < d->head_dim; k++) to[k] = outcome[r * d->padded_dim + k] / sums[r];
        }
    }
}

static void attention_of_spans(const Job *job, Place *place, int layer, const Span *spans, int count) {
    Decoder *d = job->decoder;
    Scratch *scratch = &d->scratch[place->worker];
    int total = d->shape.kv_heads * count, first, end;
    while (phase_take(place, total, &first, &end)) {
        for (int item = first; item < end; item++)
            attend_span(job, scratch, layer, item / count, &spans[item % count]);
        phase_done(place, end - first);
    }
    phase_finish(place, total);
}

static float *states_of(const Decoder *d, int row) { return d->x + (size_t)row * (size_t)d->stride; }

static void embed(const Job *job, Place *place) {
    Decoder *d = job->decoder;
    int from, to;
    while (phase_take(place, job->count, &from, &to)) {
        for (int p = from; p < to; p++)
            d->kernels->read_row(&d->embedding, job->tokens[p].id, states_of(d, p));
        phase_done(place, to - from);
    }
    phase_finish(place, job->count);
}

static void make_qkv(const Job *job, Place *place, const Layer *layer) {
    Decoder *d = job->decoder;
    Source normed = {d->x, d->stride, layer->attention_norm, layer->attention_norm_bias, job->halved, 0};
    Target qkv = {STORE, d->qkv, d->qkv_stride, NULL};
    product(d, place, &layer->qkv, normed, qkv, job->count);
}

/* The rest of a layer, after attention, for `n` positions; `parted` as in Source. */
static void finish_layer(const Job *job, Place *place, const Layer *layer, float *states, int n, int parted) {
    Decoder *d = job->decoder;
    int llama = d->shape.kind == KIND_LLAMA;
    Source attended = {d->attended, d->stride, NULL, NULL, job->halved, parted};
    Target after_attention = {ADD, states, d->stride, NULL};
    product(d, place, &layer->o, attended, after_attention, n);

    Source normed = {states, d->stride, layer->mlp_norm, layer->mlp_norm_bias, job->halved, 0};
    Target active = {llama ? SWIGLU : GELU, d->hidden, d->ff_stride, layer->up_bias};
    product(d, place, &layer->up, normed, active, n);

    Source hidden = {d->hidden, d->ff_stride, NULL, NULL, job->halved, 0};
    Target after_mlp = {ADD, states, d->stride, llama ? NULL : layer->down_bias};
    product(d, place, &layer->down, hidden, after_mlp, n);
}

static void whole_layer(const Job *job, Place *place, int index) {
    Decoder *d = job->decoder;
    const Layer *layer = &d->layers[index];
    int alone = job->stretched && job->count == 1;
    make_qkv(job, place, layer);
    int64_t started = clock_start(d, place);
    if (alone) {
        attention_of_one(job, place, index, 0);
    } else {
        remember_ids(job, place, index, job->count);
        attention_of_spans(job, place, index, job->spans, job->span_count);
    }
    clock_stop(started, &d->profile.attention_ns);
    finish_layer(job, place, layer, d->x, job->count, alone ? job->start + 1 : 0);
}

/* Copy the states of the ends to where they are kept. */
static void keep_ends(const Job *job, Place *place) {
    const Decoder *d = job->decoder;
    size_t stride = (size_t)d->stride;
    int from, to;
    while (phase_take(place, job->end_spans, &from, &to)) {
        for (const Span *span = job->ends + from; span < job->ends + to; span++)
            memcpy(job->finals + (size_t)span->to * stride, states_of(d, span->first),
                   (size_t)span->count * stride * sizeof(float));
        phase_done(place, to - from);
    }
    phase_finish(place, job->end_spans);
}

/* Of the last layer, what comes after keys and values matters for the ends alone. */
static void last_layer(const Job *job, Place *place, int index) {
    Decoder *d = job->decoder;
    const Layer *layer = &d->layers[index];
    make_qkv(job, place, layer);
    int64_t started = clock_start(d, place);
    int parted = 0;
    if (job->stretched && job->end_count) {
        int row = job->count - 1;
        if (row) remember_ids(job, place, index, row);
        attention_of_one(job, place, index, row);
        parted = job->start + job->count;
    } else {
        remember_ids(job, place, index, job->count);
        if (job->end_count) {
            attention_of_spans(job, place, index, job->ends, job->end_spans);
            keep_ends(job, place);
        }
    }
    clock_stop(started, &d->profile.attention_ns);
    if (job->end_count) finish_layer(job, place, layer, job->finals, job->end_count, parted);
}

static Source final_states(const Decoder *d, const float *finals, bool halved) {
    return (Source){finals, d->stride, d->final_norm, d->final_norm_bias, halved, 0};
}

static void score(Decoder *d, Place *place, Source finals, int n, float *logits) {
    Target scores = {STORE, logits, d->shape.vocab, NULL};
    product(d, place, output_table(d), finals, scores, n);
}

/* ---- Outlooks ---- */

/* Take a score among the two highest if it is one of them; ids come in their order. */
static inline void place_score(Fold *fold, float score, int32_t id) {
    if (!(score > fold->second)) return;
    if (score > fold->first) {
        fold->second = fold->first;
        fold->second_id = fold->first_id;
        fold->first = score;
        fold->first_id = id;
    } else {
        fold->second = score;
        fold->second_id = id;
    }
}

/* Take in the scores of up to BLOCK_BATCH panels, from id `first` on, for all positions. */
static void take_scores(const OutlookJob *job, Scratch *scratch, int first, int panels, float *scores,
                        Fold *folds) {
    const Decoder *d = job->decoder;
    const Choices *choices = &job->choices;
    const Questions *asked = &job->questions;
    int n = job->count, ids = panels * PANEL;
    size_t apart = (size_t)n * PANEL;
    /* Rows that are there to fill the last panel are no ids. */
    for (int i = d->shape.vocab - first; i < ids; i++)
        for (int p = 0; p < n; p++)
            scores[(size_t)(i / PANEL) * apart + (size_t)(p * PANEL + i % PANEL)] = -INFINITY;
    d->kernels->fold(scores, panels, n, folds, scratch->highest);
    for (int p = 0; p < n; p++, scores += PANEL) {
        Outlook *outlook = &job->outlooks[p];
        unsigned expected = (unsigned)(job->expected[p] - first);
        unsigned delete_id = (unsigned)(choices->delete_id - first);
        unsigned stop_id = (unsigned)(choices->stop_id - first);
#define SCORE(id) scores[(size_t)((id) / PANEL) * apart + (id) % PANEL]
        if (expected < (unsigned)ids) outlook->expected = SCORE(expected);
        if (delete_id < (unsigned)ids) outlook->delete_chance = SCORE(delete_id);
        if (stop_id < (unsigned)ids) outlook->stop_chance = SCORE(stop_id);
        if (asked->starts)
            for (int i = asked->starts[p]; i < asked->starts[p + 1]; i++) {
                unsigned id = (unsigned)(asked->ids[i] - first);
                if (id < (unsigned)ids) asked->chances[i] = SCORE(id);
            }
        if (!(scratch->highest[p] > folds[p].second)) continue;
        for (unsigned i = 0; i < (unsigned)ids && first + (int)i < choices->tokens; i++)
            if (choices->insertable[first + (int)i]) place_score(&folds[p], SCORE(i), first + (int)i);
#undef SCORE
    }
}

/* Which strips of the table are scored: the first `common` of them, and those from `others` on. */
typedef struct {
    int common, others, end;
} Strips;

static Strips strips_of(const OutlookJob *job) {
    enum { IDS = STRIP * PANEL };
    int end = strip_count(output_table(job->decoder));
    const Choices *choices = &job->choices;
    int common = (choices->common + IDS - 1) / IDS, others = choices->tokens / IDS;
    int apart = choices->delete_id >= choices->tokens && choices->stop_id >= choices->tokens;
    return job->briefly && apart && common < others ? (Strips){common, others, end} : (Strips){0, 0, end};
}

static int count_of(const Strips *strips) { return strips->common + strips->end - strips->others; }

static int strip_at(const Strips *strips, int item) {
    return item < strips->common ? item : strips->others + item - strips->common;
}

static int has_strip(const Strips *strips, int strip) {
    return strip < strips->common || strip >= strips->others;
}

/* The score of the expected id of one position, where its strip is not among those that are scored. */
static void score_expected(const OutlookJob *job, Scratch *scratch, const Activations *view, int p) {
    const Matrix *table = output_table(job->decoder);
    int id = job->expected[p];
    job->decoder->kernels->multiply(table, id / PANEL, 1, view, job->count, scratch->products);
    job->outlooks[p].expected = scratch->products[p * PANEL + id % PANEL];
}

/* Put together what strips of the table say about one position, and make logarithms of chances of it. */
static void finish_outlook(const OutlookJob *job, int p, const Strips *strips) {
    const Decoder *d = job->decoder;
    const Questions *asked = &job->questions;
    Outlook *outlook = &job->outlooks[p];
    int32_t id = job->expected[p];
    int alone = !has_strip(strips, id / (STRIP * PANEL)), count = count_of(strips);
    Fold best = {-INFINITY, 0.0f, -INFINITY, -INFINITY, -1, -1};
    for (int i = 0; i < count; i++) {
        const Fold *fold = &d->folds[strip_at(strips, i) * most_block(d) + p];
        best.largest = fmaxf(best.largest, fold->largest);
        place_score(&best, fold->first, fold->first_id);
        place_score(&best, fold->second, fold->second_id);
    }
    if (alone) {
        best.largest = fmaxf(best.largest, (float)outlook->expected);
        if (id < job->choices.tokens && job->choices.insertable[id])
            place_score(&best, (float)outlook->expected, id);
    }
    double total = alone ? exp(outlook->expected - best.largest) : 0;
    for (int i = 0; i < count; i++) {
        const Fold *fold = &d->folds[strip_at(strips, i) * most_block(d) + p];
        total += fold->total * exp((double)fold->largest - best.largest);
    }
    double all = best.largest + log(total);
    if (asked->starts)
        for (int i = asked->starts[p]; i < asked->starts[p + 1]; i++) asked->chances[i] -= all;
    outlook->expected -= all;
    outlook->delete_chance -= all;
    outlook->stop_chance -= all;
    outlook->first_chance = best.first - all;
    outlook->second_chance = best.second - all;
    outlook->first = best.first_id;
    outlook->second = best.second_id;
}

void outlook_step(void *argument, Place *place) {
    const OutlookJob *job = argument;
    Decoder *d = job->decoder;
    d->kernels->begin_step(job->halved);
    int64_t started = clock_start(d, place);
    Scratch *scratch = &d->scratch[place->worker];
    const Matrix *table = output_table(d);
    Source source = final_states(d, job->finals, job->halved);
    Strips strips = strips_of(job);
    int n = job->count, total = count_of(&strips), from, to;
    Activations view;
    bool several = prepare_all(d, place, table, &source, n, &view), prepared = several;
    int at_once = several ? BLOCK_BATCH : BATCH;
    while (phase_take(place, total, &from, &to)) {
        if (!prepared) prepare(d, table, &source, source.states, &view, 0);
        prepared = true;
        for (int item = from; item < to; item++) {
            int strip = strip_at(&strips, item);
            Fold *folds = d->folds + strip * most_block(d);
            for (int p = 0; p < n; p++)
                folds[p] = (Fold){-INFINITY, 0.0f, -INFINITY, -INFINITY, -1, -1};
            int end = (strip + 1) * STRIP < table->panels ? (strip + 1) * STRIP : table->panels;
            for (int first = strip * STRIP; first < end; first += at_once) {
                int count = end - first < at_once ? end - first : at_once;
                d->kernels->multiply(table, first, count, &view, n, scratch->products);
                /* However many are multiplied at once, they are summed up in the same order. */
                for (int i = 0; i < count; i += BLOCK_BATCH)
                    take_scores(job, scratch, (first + i) * PANEL,
                                count - i < BLOCK_BATCH ? count - i : BLOCK_BATCH,
                                scratch->products + (size_t)(i * n) * PANEL, folds);
            }
        }
        phase_done(place, to - from);
    }
    phase_finish(place, total);
    while (phase_take(place, n, &from, &to)) {
        if (!prepared) prepare(d, table, &source, source.states, &view, 0);
        prepared = true;
        for (int p = from; p < to; p++) {
            if (!has_strip(&strips, job->expected[p] / (STRIP * PANEL))) score_expected(job, scratch, &view, p);
            finish_outlook(job, p, &strips);
        }
        phase_done(place, to - from);
    }
    phase_finish(place, n);
    clock_stop(started, &d->profile.matrix_ns);
    d->kernels->end_step();
}

void read_step(void *argument, Place *place) {
    const Job *job = argument;
    Decoder *d = job->decoder;
    d->kernels->begin_step(job->halved);
    embed(job, place);
    for (int i = 0; i < d->shape.layers - 1; i++) whole_layer(job, place, i);
    last_layer(job, place, d->shape.layers - 1);
    if (job->logits) score(d, place, final_states(d, job->finals, job->halved), 1, job->logits);
    d->kernels->end_step();
}

void score_step(void *argument, Place *place) {
    const ScoringJob *job = argument;
    Decoder *d = job->decoder;
    d->kernels->begin_step(job->halved);
    score(d, place, final_states(d, job->finals, job->halved), job->count, job->logits);
    d->kernels->end_step();
}
