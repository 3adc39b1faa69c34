/* The decoder: which products, norms and attentions make a step, and in what order. */

#include "reviser_native.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "kernels.h"
#include "team.h"

enum {
    /* Positions that a prefill takes through a layer together: enough that reading the weights
     * costs little beside using them, few enough that their states stay in the second-level cache. */
    BLOCK = 128,
    /* Panels that a decoding step multiplies before it uses the outcome. */
    BATCH = 32,
    /* Attention of one new id is cut into at most this many stretches of the history. */
    MAX_STRETCHES = 8,
    MIN_STRETCH = 32,
    LINE = 64,
};

typedef struct {
    Matrix qkv;
    Matrix o;
    Matrix up; /* llama: panels of gate and up by turns, so that one thread has both of a row */
    Matrix down;
    float *attention_norm, *attention_norm_bias;
    float *mlp_norm, *mlp_norm_bias;
    float *up_bias, *down_bias;
    uint16_t *keys, *values;
} Layer;

/* What a thread needs to itself. */
typedef struct {
    Activations in; /* one position */
    float *products;
    float *scores;
    float *queries; /* and after them, what attention made of them */
} Scratch;

struct Decoder {
    Shape shape;
    const Kernels *kernels;
    Team *team;

    int head_dim, padded_dim;
    int stride, ff_stride, qkv_stride; /* floats from one position to the next */
    int room;                          /* capacity, rounded up for attention */

    Layer *layers;
    Matrix embedding, separate_head;
    float *final_norm, *final_norm_bias;
    float *cosine, *sine;

    /* States of up to BLOCK positions. */
    float *x, *qkv, *attended, *hidden;
    Activations shared;
    /* Outcomes of attention by stretch and head, for one new id. */
    float *part_out, *part_largest, *part_total;
    Scratch *scratch;

    /* All memory: sized by a first round of claims, handed out by a second. */
    unsigned char *arena;
    size_t arena_size, arena_used, weights_size;

    int profiling;
    Profile profile;
};

/* Some positions' worth of work, copied to every thread. */
typedef struct {
    Decoder *decoder;
    const int32_t *ids;
    int count;
    int start;     /* position of the first id in the history */
    int row;       /* where its states are among those of the block */
    float *logits; /* NULL when more ids follow */
} Job;

static int round_up(int value, int multiple) { return (value + multiple - 1) / multiple * multiple; }

static int64_t nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- Memory ---- */

static void *claim(Decoder *d, size_t bytes) {
    void *place = d->arena ? d->arena + d->arena_used : NULL;
    d->arena_used += (bytes + LINE - 1) / LINE * LINE;
    return place;
}

static float *claim_floats(Decoder *d, size_t count) { return claim(d, count * sizeof(float)); }

static void claim_matrix(Decoder *d, Matrix *matrix, int bits, int rows, int cols) {
    size_t tile = bits == 4 ? sizeof(Tile4) : bits == 8 ? sizeof(Tile8) : GROUP * sizeof(Tile32);
    size_t head = bits == 32 ? 0 : sizeof(PanelHead);
    matrix->bits = bits;
    matrix->rows = rows;
    matrix->cols = round_up(cols, GROUP);
    matrix->groups = matrix->cols / GROUP;
    matrix->panels = round_up(rows, PANEL) / PANEL;
    matrix->panel_bytes = head + (size_t)matrix->groups * tile;
    matrix->data = claim(d, (size_t)matrix->panels * matrix->panel_bytes);
}

static void claim_activations(Decoder *d, Activations *in, int positions, int cols) {
    size_t values = (size_t)positions * (size_t)round_up(cols, GROUP);
    in->values = claim_floats(d, values);
    in->codes = claim(d, values);
    in->scales = claim_floats(d, values / GROUP);
    in->sums = claim_floats(d, values / GROUP);
    in->starts = claim(d, values / GROUP * 4 * sizeof(int32_t));
}

/* Weights first and in the order of their use, so that a step reads memory from one end to the
 * other; what a step writes comes after. */
static void claim_everything(Decoder *d) {
    const Shape *s = &d->shape;
    int llama = s->kind == KIND_LLAMA;
    int kv_rows = s->kv_heads * d->head_dim;
    size_t width = (size_t)d->stride, ff = (size_t)d->ff_stride;
    for (int i = 0; i < s->layers; i++) {
        Layer *layer = &d->layers[i];
        layer->attention_norm = claim_floats(d, width);
        layer->attention_norm_bias = claim_floats(d, llama ? 0 : width);
        claim_matrix(d, &layer->qkv, s->bits, s->width + 2 * kv_rows, s->width);
        claim_matrix(d, &layer->o, s->bits, s->width, s->width);
        layer->mlp_norm = claim_floats(d, width);
        layer->mlp_norm_bias = claim_floats(d, llama ? 0 : width);
        claim_matrix(d, &layer->up, s->bits, round_up(s->ff, PANEL) * (llama ? 2 : 1), s->width);
        layer->up_bias = claim_floats(d, llama ? 0 : ff);
        claim_matrix(d, &layer->down, s->bits, s->width, s->ff);
        layer->down_bias = claim_floats(d, llama ? 0 : width);
    }
    d->final_norm = claim_floats(d, width);
    d->final_norm_bias = claim_floats(d, llama ? 0 : width);
    claim_matrix(d, &d->embedding, s->table_bits, s->vocab, s->width);
    if (!s->tied) claim_matrix(d, &d->separate_head, s->table_bits, s->vocab, s->width);

    d->weights_size = d->arena_used;
    size_t rotary = (size_t)s->capacity * (size_t)(d->head_dim / 2);
    d->cosine = claim_floats(d, rotary);
    d->sine = claim_floats(d, rotary);
    size_t cached = (size_t)s->kv_heads * (size_t)d->room;
    for (int i = 0; i < s->layers; i++) {
        d->layers[i].keys = claim(d, cached * (size_t)d->head_dim * sizeof(uint16_t));
        d->layers[i].values = claim(d, cached * (size_t)d->padded_dim * sizeof(uint16_t));
    }

    int block = s->capacity < BLOCK ? s->capacity : BLOCK;
    int longest = d->stride > d->ff_stride ? d->stride : d->ff_stride;
    d->x = claim_floats(d, (size_t)block * width);
    d->qkv = claim_floats(d, (size_t)block * (size_t)d->qkv_stride);
    d->attended = claim_floats(d, (size_t)block * width);
    d->hidden = claim_floats(d, (size_t)block * ff);
    claim_activations(d, &d->shared, block, longest);
    size_t parts = (size_t)MAX_STRETCHES * (size_t)s->heads;
    d->part_out = claim_floats(d, parts * (size_t)d->padded_dim);
    d->part_largest = claim_floats(d, parts);
    d->part_total = claim_floats(d, parts);

    for (int i = 0; i < s->threads; i++) {
        Scratch *scratch = &d->scratch[i];
        claim_activations(d, &scratch->in, 1, longest);
        int products = 2 * BLOCK > BATCH ? 2 * BLOCK : BATCH;
        scratch->products = claim_floats(d, (size_t)products * PANEL);
        scratch->scores = claim_floats(d, (size_t)MAX_QUERIES * (size_t)d->room);
        scratch->queries = claim_floats(d, 2 * MAX_QUERIES * (size_t)d->padded_dim);
    }
}

static int make_arena(Decoder *d) {
    const size_t huge = (size_t)2 << 20;
    claim_everything(d);
    d->arena_size = (d->arena_used + huge - 1) / huge * huge;
    void *arena = mmap(NULL, d->arena_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (arena == MAP_FAILED) return 0;
    /* A step walks through all weights, and with small pages it would wait for the page tables. The
     * cache gets small ones, so that a short history in a large cache takes little memory. */
#ifdef MADV_HUGEPAGE
    madvise(arena, d->weights_size / huge * huge, MADV_HUGEPAGE);
#endif
    d->arena = arena;
    d->arena_used = 0;
    claim_everything(d);
    return 1;
}

/* ---- Making and filling a decoder ---- */

int reviser_version(void) { return REVISER_NATIVE_VERSION; }

const Kernels *find_kernels(const char *name) {
    static const Kernels *const best_first[] = {
#if defined(__aarch64__)
        &kernels_neon,
#elif defined(__x86_64__)
        &kernels_vnni,
        &kernels_avx2,
#endif
        &kernels_portable,
    };
    for (size_t i = 0; i < sizeof best_first / sizeof *best_first; i++) {
        const Kernels *kernels = best_first[i];
        if ((!name || !strcmp(name, kernels->name)) && kernels->supported()) return kernels;
    }
    return NULL;
}

const char *reviser_level(const char *name) {
    const Kernels *kernels = find_kernels(name);
    return kernels ? kernels->name : NULL;
}

Decoder *reviser_create(const Shape *shape, const char *level) {
    const Kernels *kernels = find_kernels(level);
    if (!kernels) return NULL;
    Decoder *d = calloc(1, sizeof *d);
    if (!d) return NULL;
    d->shape = *shape;
    d->kernels = kernels;
    d->head_dim = shape->width / shape->heads;
    d->padded_dim = round_up(d->head_dim, 8);
    d->stride = round_up(shape->width, GROUP);
    d->ff_stride = round_up(shape->ff, GROUP);
    d->qkv_stride = round_up(shape->width + 2 * shape->kv_heads * d->head_dim, PANEL);
    d->room = round_up(shape->capacity, POSITION_STEP);
    d->layers = calloc((size_t)shape->layers, sizeof *d->layers);
    d->scratch = calloc((size_t)shape->threads, sizeof *d->scratch);
    if (d->layers && d->scratch && make_arena(d)) d->team = team_create(shape->threads);
    if (!d->team) {
        reviser_free(d);
        return NULL;
    }
    return d;
}

void reviser_free(Decoder *d) {
    if (!d) return;
    team_destroy(d->team);
    if (d->arena) munmap(d->arena, d->arena_size);
    free(d->layers);
    free(d->scratch);
    free(d);
}

static void pack_row(const Decoder *d, const Matrix *matrix, int row, int from, const Rows *rows) {
    unsigned char *panel = matrix->data + (size_t)(row / PANEL) * matrix->panel_bytes;
    PanelHead *head = (PanelHead *)panel;
    int lane = row % PANEL;
    if (matrix->bits != 32) head->scales[lane] = rows->row_scales[from];
    if (matrix->bits == 4) head->minima[lane] = rows->row_minima[from];
    for (int group = 0; group < matrix->groups; group++) {
        size_t at = (size_t)from * (size_t)matrix->groups + (size_t)group;
        if (matrix->bits == 4) {
            Tile4 *tile = (Tile4 *)(head + 1) + group;
            const uint8_t *codes = (const uint8_t *)rows->codes + at * (GROUP / 2);
            tile->scales[lane] = rows->scales[at];
            tile->minima[lane] = rows->minima[at];
            for (int i = 0; i < GROUP / 2; i++)
                tile->codes[i / 4][lane][i % 4] = codes[i] ^ d->kernels->nibble_mask;
        } else if (matrix->bits == 8) {
            Tile8 *tile = (Tile8 *)(head + 1) + group;
            const int8_t *codes = (const int8_t *)rows->codes + at * GROUP;
            for (int j = 0; j < GROUP / 4; j++) memcpy(tile->codes[j][lane], codes + 4 * j, 4);
        } else {
            Tile32 *tile = (Tile32 *)panel + group * GROUP;
            const float *values = (const float *)rows->codes + at * GROUP;
            for (int i = 0; i < GROUP; i++) tile[i].values[lane] = values[i];
        }
    }
}

/* Where a slot's rows go: `rows` of them from `first` on; by panels of two matrices in turn if
 * `by_turns`. */
typedef struct {
    Matrix *matrix;
    int first, rows, by_turns;
} Destination;

static Destination destination(Decoder *d, int slot, int index) {
    const Shape *s = &d->shape;
    int kv_rows = s->kv_heads * d->head_dim, llama = s->kind == KIND_LLAMA;
    if (slot == MATRIX_EMBEDDING) return (Destination){&d->embedding, 0, s->vocab, 0};
    if (slot == MATRIX_HEAD && !s->tied) return (Destination){&d->separate_head, 0, s->vocab, 0};
    if (index < 0 || index >= s->layers) return (Destination){0};
    Layer *layer = &d->layers[index];
    switch (slot) {
        case MATRIX_Q: return (Destination){&layer->qkv, 0, s->width, 0};
        case MATRIX_K: return (Destination){&layer->qkv, s->width, kv_rows, 0};
        case MATRIX_V: return (Destination){&layer->qkv, s->width + kv_rows, kv_rows, 0};
        case MATRIX_O: return (Destination){&layer->o, 0, s->width, 0};
        case MATRIX_GATE: return (Destination){llama ? &layer->up : NULL, 0, s->ff, 1};
        case MATRIX_UP: return (Destination){&layer->up, llama ? PANEL : 0, s->ff, llama};
        case MATRIX_DOWN: return (Destination){&layer->down, 0, s->width, 0};
        default: return (Destination){0};
    }
}

Status reviser_set_matrix(Decoder *d, int slot, int layer, const Rows *rows) {
    Destination to = destination(d, slot, layer);
    if (!to.matrix) return STATUS_BAD_VALUE;
    for (int row = 0; row < to.rows; row++) {
        int panel_start = row / PANEL * PANEL;
        int place = to.first + row + (to.by_turns ? panel_start : 0);
        pack_row(d, to.matrix, place, row, rows);
    }
    return STATUS_OK;
}

Status reviser_set_vector(Decoder *d, int slot, int index, const float *values) {
    int final = slot == VECTOR_FINAL_NORM || slot == VECTOR_FINAL_NORM_BIAS;
    if (!final && (index < 0 || index >= d->shape.layers)) return STATUS_BAD_VALUE;
    Layer *layer = final ? NULL : &d->layers[index];
    float *to;
    switch (slot) {
        case VECTOR_ATTENTION_NORM: to = layer->attention_norm; break;
        case VECTOR_ATTENTION_NORM_BIAS: to = layer->attention_norm_bias; break;
        case VECTOR_MLP_NORM: to = layer->mlp_norm; break;
        case VECTOR_MLP_NORM_BIAS: to = layer->mlp_norm_bias; break;
        case VECTOR_UP_BIAS: to = layer->up_bias; break;
        case VECTOR_DOWN_BIAS: to = layer->down_bias; break;
        case VECTOR_FINAL_NORM: to = d->final_norm; break;
        case VECTOR_FINAL_NORM_BIAS: to = d->final_norm_bias; break;
        default: return STATUS_BAD_VALUE;
    }
    int is_bias = slot != VECTOR_ATTENTION_NORM && slot != VECTOR_MLP_NORM && slot != VECTOR_FINAL_NORM;
    if (is_bias && d->shape.kind == KIND_LLAMA) return STATUS_BAD_VALUE;
    int count = slot == VECTOR_UP_BIAS ? d->shape.ff : d->shape.width;
    memcpy(to, values, (size_t)count * sizeof(float));
    return STATUS_OK;
}

Status reviser_set_rotary(Decoder *d, const float *cosine, const float *sine) {
    size_t bytes = (size_t)d->shape.capacity * (size_t)(d->head_dim / 2) * sizeof(float);
    memcpy(d->cosine, cosine, bytes);
    memcpy(d->sine, sine, bytes);
    return STATUS_OK;
}

/* ---- The input of a product ---- */

/* What a product reads: which states, and under which norm. */
typedef struct {
    const float *states;
    int stride;
    const float *norm, *norm_bias; /* NULL: as they are */
    int gathers_parts;             /* the states are attention's parts, to be put together first */
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
static void prepare(const Decoder *d, const Matrix *matrix, const Source *source, int positions,
                    const float *states, Activations *in, int p) {
    const Shape *s = &d->shape;
    in->cols = matrix->cols;
    in->groups = matrix->groups;
    float *values = in->values + (size_t)p * (size_t)in->cols;
    if (source->gathers_parts) {
        /* The buffer is shared by inputs of several lengths: clear the padding. */
        for (int i = s->width; i < in->cols; i++) values[i] = 0.0f;
        gather_parts(d, positions, values);
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
    if (matrix->bits == 4) d->kernels->quantise4(in, p);
    if (matrix->bits == 8) d->kernels->quantise8(in, p);
}

/* ---- What becomes of a product ---- */

typedef enum { STORE, ADD, SWIGLU, GELU } Use;

typedef struct {
    Use use;
    float *to;
    int stride;
    const float *bias;
} Target;

/* Use eight products of one position; `panel` counts panels of the outcome. */
static void use_products(const Decoder *d, const Target *target, int panel, int limit, float *to,
                         const float *products, const float *second) {
    int row = panel * PANEL;
    int count = limit - row < PANEL ? limit - row : PANEL;
    to += row;
    switch (target->use) {
        case STORE: memcpy(to, products, (size_t)count * sizeof(float)); break;
        case ADD:
            for (int i = 0; i < count; i++)
                to[i] += target->bias ? products[i] + target->bias[row + i] : products[i];
            break;
        /* Rows past the limit are zeros here: their weights and biases are. */
        case SWIGLU: d->kernels->swiglu(products, second, to); break;
        case GELU: d->kernels->gelu(products, target->bias + row, to); break;
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

/* All rows of `matrix` times the last of one position's states, or times n positions of them. */
static void product(const Job *job, Place *place, const Matrix *matrix, Source source, Target target,
                    int n) {
    Decoder *d = job->decoder;
    int64_t started = clock_start(d, place);
    Scratch *scratch = &d->scratch[place->worker];
    Activations *in = n == 1 ? &scratch->in : &d->shared;
    int from, to, positions = job->start + job->count;

    if (n > 1) {
        while (phase_take(place, n, &from, &to)) {
            Activations mine = *in;
            for (int p = from; p < to; p++)
                prepare(d, matrix, &source, positions, source.states + (size_t)p * (size_t)source.stride,
                        &mine, p);
            phase_done(place, to - from);
        }
        phase_finish(place, n);
    }

    /* Everyone knows these without being told, so nobody writes to what all read. */
    Activations view = *in;
    view.cols = matrix->cols;
    view.groups = matrix->groups;
    int each = target.use == SWIGLU ? 2 : 1;
    int total = matrix->panels / each;
    int batch = n == 1 ? BATCH / each : 1;
    int limit = matrix->rows / each;
    int prepared = n > 1;
    while (phase_take(place, total, &from, &to)) {
        /* One position is prepared by every thread for itself: that is quicker than to wait for one
         * another. The states are safe to read, since the phase cannot end without this range. */
        if (!prepared) {
            int64_t preparing = clock_start(d, place);
            prepare(d, matrix, &source, positions, source.states, &view, 0);
            clock_stop(preparing, &d->profile.prepare_ns);
            prepared = 1;
        }
        for (int panel = from; panel < to; panel += batch) {
            int count = to - panel < batch ? to - panel : batch;
            d->kernels->multiply(matrix, panel * each, count * each, &view, n, scratch->products);
            for (int i = 0; i < count; i++) {
                const float *products = scratch->products + (size_t)(i * each * n) * PANEL;
                for (int p = 0; p < n; p++)
                    use_products(d, &target, panel + i, limit,
                                 target.to + (size_t)p * (size_t)target.stride, products + p * PANEL,
                                 products + (n + p) * PANEL);
            }
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

static uint16_t *keys_of(const Decoder *d, const Layer *layer, int kv_head) {
    return layer->keys + (size_t)kv_head * (size_t)d->room * (size_t)d->head_dim;
}

static uint16_t *values_of(const Decoder *d, const Layer *layer, int kv_head) {
    return layer->values + (size_t)kv_head * (size_t)d->room * (size_t)d->padded_dim;
}

/* Write one position's key and value of one head to the cache; `turned` is room for a key. */
static void remember(const Decoder *d, const Layer *layer, int kv_head, int position, const float *qkv,
                     float *turned) {
    const float *key = qkv + d->shape.width + kv_head * d->head_dim;
    const float *value = key + d->shape.kv_heads * d->head_dim;
    rotate(d, position, key, turned);
    d->kernels->store_key(keys_of(d, layer, kv_head), d->head_dim, position, turned);
    d->kernels->store_value(values_of(d, layer, kv_head), d->head_dim, d->padded_dim, position, value);
}

static HeadCache head_cache(const Decoder *d, const Layer *layer, int kv_head) {
    return (HeadCache){keys_of(d, layer, kv_head), values_of(d, layer, kv_head), d->head_dim,
                       d->padded_dim};
}

static float *states_of(const Job *job) {
    return job->decoder->x + (size_t)job->row * (size_t)job->decoder->stride;
}

static float *qkv_of(const Job *job) {
    return job->decoder->qkv + (size_t)job->row * (size_t)job->decoder->qkv_stride;
}

/* One new id: each head's history is cut into stretches, which threads share out. */
static void attention_of_one(const Job *job, Place *place, const Layer *layer) {
    Decoder *d = job->decoder;
    const Shape *s = &d->shape;
    Scratch *scratch = &d->scratch[place->worker];
    const float *qkv = qkv_of(job);
    int positions = job->start + 1, group = s->heads / s->kv_heads;
    int length = stretch_length(positions), stretches = stretch_count(positions);
    int total = s->kv_heads * stretches, first_item, end;
    float scale = 1.0f / sqrtf((float)d->head_dim);
    int limits[MAX_QUERIES];
    while (phase_take(place, total, &first_item, &end)) {
        for (int item = first_item; item < end; item++) {
            int kv_head = item / stretches, stretch = item % stretches;
            int from = stretch * length, to = from + length < positions ? from + length : positions;
            /* The new id lies in the last stretch, and no other one looks at it. */
            if (to == positions)
                remember(d, layer, kv_head, job->start, qkv, scratch->queries);
            HeadCache cache = head_cache(d, layer, kv_head);
            for (int i = 0; i < MAX_QUERIES; i++) limits[i] = to;
            for (int done = 0; done < group; done += MAX_QUERIES) {
                int rows = group - done < MAX_QUERIES ? group - done : MAX_QUERIES;
                int head = kv_head * group + done, part = stretch * s->heads + head;
                for (int r = 0; r < rows; r++)
                    rotate(d, job->start, qkv + (head + r) * d->head_dim,
                           scratch->queries + r * d->padded_dim);
                d->kernels->attend(&cache, scratch->queries, d->padded_dim, rows, from, limits, scale,
                                   scratch->scores, d->part_largest + part, d->part_total + part,
                                   d->part_out + (size_t)part * (size_t)d->padded_dim, d->padded_dim);
            }
        }
        phase_done(place, end - first_item);
    }
    phase_finish(place, total);
}

/* Write the keys and values of the first `count` ids to the cache. */
static void remember_block(const Job *job, Place *place, const Layer *layer, int count) {
    Decoder *d = job->decoder;
    float *turned = d->scratch[place->worker].queries;
    int first, end;
    while (phase_take(place, count, &first, &end)) {
        for (int p = first; p < end; p++)
            for (int head = 0; head < d->shape.kv_heads; head++)
                remember(d, layer, head, job->start + p,
                         qkv_of(job) + (size_t)p * (size_t)d->qkv_stride, turned);
        phase_done(place, end - first);
    }
    phase_finish(place, count);
}

/* Several new ids, whose keys and values are in the cache: a few rows of queries at a time. */
static void attention_of_block(const Job *job, Place *place, const Layer *layer) {
    Decoder *d = job->decoder;
    const Shape *s = &d->shape;
    Scratch *scratch = &d->scratch[place->worker];
    int n = job->count, first, end, group = s->heads / s->kv_heads;
    int at_once = MAX_QUERIES / group > 1 ? MAX_QUERIES / group : 1;
    int batches = (n + at_once - 1) / at_once, total = s->kv_heads * batches;
    float scale = 1.0f / sqrtf((float)d->head_dim);
    float largest[MAX_QUERIES], sums[MAX_QUERIES];
    int limits[MAX_QUERIES];
    while (phase_take(place, total, &first, &end)) {
        for (int item = first; item < end; item++) {
            int kv_head = item / batches, start = item % batches * at_once;
            int stop = start + at_once < n ? start + at_once : n;
            int rows_left = group * (stop - start);
            HeadCache cache = head_cache(d, layer, kv_head);
            for (int row = 0; rows_left > 0; row += MAX_QUERIES, rows_left -= MAX_QUERIES) {
                int rows = rows_left < MAX_QUERIES ? rows_left : MAX_QUERIES;
                for (int r = 0; r < rows; r++) {
                    int p = start + (row + r) / group, head = kv_head * group + (row + r) % group;
                    limits[r] = job->start + p + 1;
                    rotate(d, job->start + p,
                           qkv_of(job) + (size_t)p * (size_t)d->qkv_stride + head * d->head_dim,
                           scratch->queries + r * d->padded_dim);
                }
                float *outcome = scratch->queries + MAX_QUERIES * d->padded_dim;
                d->kernels->attend(&cache, scratch->queries, d->padded_dim, rows, 0, limits, scale,
                                   scratch->scores, largest, sums, outcome, d->padded_dim);
                for (int r = 0; r < rows; r++) {
                    int p = start + (row + r) / group, head = kv_head * group + (row + r) % group;
                    float *to = d->attended + (size_t)p * (size_t)d->stride + head * d->head_dim;
                    for (int k = 0; k < d->head_dim; k++)
                        to[k] = outcome[r * d->padded_dim + k] / sums[r];
                }
            }
        }
        phase_done(place, end - first);
    }
    phase_finish(place, total);
}

static void embed(const Job *job, Place *place) {
    Decoder *d = job->decoder;
    int from, to;
    while (phase_take(place, job->count, &from, &to)) {
        for (int p = from; p < to; p++)
            d->kernels->read_row(&d->embedding, job->ids[p], d->x + (size_t)p * (size_t)d->stride);
        phase_done(place, to - from);
    }
    phase_finish(place, job->count);
}

static void make_qkv(const Job *job, Place *place, const Layer *layer) {
    Decoder *d = job->decoder;
    Source normed = {states_of(job), d->stride, layer->attention_norm, layer->attention_norm_bias, 0};
    Target qkv = {STORE, qkv_of(job), d->qkv_stride, NULL};
    product(job, place, &layer->qkv, normed, qkv, job->count);
}

static void attend(const Job *job, Place *place, const Layer *layer) {
    int64_t started = clock_start(job->decoder, place);
    if (job->count == 1) {
        attention_of_one(job, place, layer);
    } else {
        remember_block(job, place, layer, job->count);
        attention_of_block(job, place, layer);
    }
    clock_stop(started, &job->decoder->profile.attention_ns);
}

/* The rest of a layer, after attention. */
static void finish_layer(const Job *job, Place *place, const Layer *layer) {
    Decoder *d = job->decoder;
    int n = job->count, llama = d->shape.kind == KIND_LLAMA;
    Source attended = {d->attended, d->stride, NULL, NULL, n == 1};
    Target after_attention = {ADD, states_of(job), d->stride, NULL};
    product(job, place, &layer->o, attended, after_attention, n);

    Source normed = {states_of(job), d->stride, layer->mlp_norm, layer->mlp_norm_bias, 0};
    Target active = {llama ? SWIGLU : GELU, d->hidden, d->ff_stride, layer->up_bias};
    product(job, place, &layer->up, normed, active, n);

    Source hidden = {d->hidden, d->ff_stride, NULL, NULL, 0};
    Target after_mlp = {ADD, states_of(job), d->stride, llama ? NULL : layer->down_bias};
    product(job, place, &layer->down, hidden, after_mlp, n);
}

static void score_next(const Job *job, Place *place) {
    Decoder *d = job->decoder;
    Source normed = {states_of(job), d->stride, d->final_norm, d->final_norm_bias, 0};
    const Matrix *head = d->shape.tied ? &d->embedding : &d->separate_head;
    product(job, place, head, normed, (Target){STORE, job->logits, 0, NULL}, 1);
}

static void run_step(void *argument, Place *place) {
    const Job *job = argument;
    Decoder *d = job->decoder;
    embed(job, place);
    for (int i = 0; i < d->shape.layers - 1; i++) {
        make_qkv(job, place, &d->layers[i]);
        attend(job, place, &d->layers[i]);
        finish_layer(job, place, &d->layers[i]);
    }
    /* Of the last layer, what comes after keys and values matters for the last id alone. */
    const Layer *layer = &d->layers[d->shape.layers - 1];
    make_qkv(job, place, layer);
    Job last = *job;
    int more = job->logits ? job->count - 1 : job->count;
    if (more) remember_block(job, place, layer, more);
    if (!job->logits) return;
    last.ids += more;
    last.start += more;
    last.row += more;
    last.count = 1;
    attend(&last, place, layer);
    finish_layer(&last, place, layer);
    score_next(&last, place);
}

/* ---- Calls ---- */

Status reviser_read(Decoder *d, int start, const int32_t *ids, int count, float *logits) {
    if (count < 1 || start < 0) return STATUS_BAD_VALUE;
    if (start > d->shape.capacity || count > d->shape.capacity - start) return STATUS_NO_ROOM;
    for (int i = 0; i < count; i++)
        if (ids[i] < 0 || ids[i] >= d->shape.vocab) return STATUS_BAD_ID;
    int64_t started = d->profiling ? nanoseconds() : 0;
    for (int done = 0; done < count;) {
        int block = count - done < BLOCK ? count - done : BLOCK;
        Job job = {d, ids + done, block, start + done, 0, done + block == count ? logits : NULL};
        team_run(d->team, run_step, &job, sizeof job);
        done += block;
    }
    clock_stop(started, &d->profile.total_ns);
    d->profile.steps++;
    return STATUS_OK;
}

static int64_t matrix_bytes(const Matrix *matrix) {
    return (int64_t)matrix->panels * (int64_t)matrix->panel_bytes;
}

int64_t reviser_step_bytes(const Decoder *d) {
    int64_t bytes = matrix_bytes(d->shape.tied ? &d->embedding : &d->separate_head);
    for (int i = 0; i < d->shape.layers; i++) {
        const Layer *layer = &d->layers[i];
        bytes += matrix_bytes(&layer->qkv) + matrix_bytes(&layer->o);
        bytes += matrix_bytes(&layer->up) + matrix_bytes(&layer->down);
    }
    return bytes;
}

int64_t reviser_held_bytes(const Decoder *d) { return (int64_t)d->arena_size; }

void reviser_profile(Decoder *d, int on, Profile *profile) {
    if (profile) *profile = d->profile;
    if (on) d->profile = (Profile){0};
    d->profiling = on;
}
