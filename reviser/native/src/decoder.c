/* Keeping a decoder: its memory, its weights, its histories, and the calls that read ids into them. */

#include "decoder.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LINE = 64 };

/* ---- Memory ---- */

/* A sanitizer watches the bytes between two claims, which lie in memory that it does not know otherwise. */
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
enum { GAP = 64 };
#define FORBID(place, bytes) ASAN_POISON_MEMORY_REGION(place, bytes)
#define ALLOW(place, bytes) ASAN_UNPOISON_MEMORY_REGION(place, bytes)
#else
enum { GAP = 0 };
#define FORBID(place, bytes) ((void)0)
#define ALLOW(place, bytes) ((void)0)
#endif

static void *claim(Decoder *d, size_t bytes) {
    size_t whole = (bytes + LINE - 1) / LINE * LINE + GAP;
    unsigned char *place = d->arena ? d->arena + d->arena_used : NULL;
    if (place) FORBID(place + bytes, whole - bytes);
    d->arena_used += whole;
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
    in->halves = d->kernels->halve ? claim(d, values * sizeof(uint16_t)) : NULL;
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
    d->history.room = d->room;
    d->history.cells = claim(d, history_cells(d, d->room) * sizeof(uint16_t));

    int block = most_block(d);
    int longest = d->stride > d->ff_stride ? d->stride : d->ff_stride;
    d->x = claim_floats(d, (size_t)block * width);
    d->qkv = claim_floats(d, (size_t)block * (size_t)d->qkv_stride);
    d->attended = claim_floats(d, (size_t)block * width);
    d->hidden = claim_floats(d, (size_t)block * ff);
    claim_activations(d, &d->shared, block, longest);
    d->folds = claim(d, (size_t)strip_count(output_table(d)) * (size_t)block * sizeof(Fold));
    size_t parts = (size_t)MAX_STRETCHES * (size_t)s->heads;
    d->part_out = claim_floats(d, parts * (size_t)d->padded_dim);
    d->part_largest = claim_floats(d, parts);
    d->part_total = claim_floats(d, parts);

    for (int i = 0; i < s->threads; i++) {
        Scratch *scratch = &d->scratch[i];
        claim_activations(d, &scratch->in, 1, longest);
        int products = BLOCK_BATCH * block > BATCH ? BLOCK_BATCH * block : BATCH;
        scratch->products = claim_floats(d, (size_t)products * PANEL);
        scratch->unpacked =
            claim(d, (size_t)(MOST_PANELS * longest / GROUP) * (size_t)d->kernels->unpacked_bytes);
        scratch->highest = claim_floats(d, (size_t)block);
        size_t a_row = (size_t)(d->room + 2 * d->padded_dim + VALUE_BLOCK);
        scratch->scores = claim_floats(
            d, (size_t)d->attention->most_queries * a_row + (size_t)(VALUE_BLOCK * d->padded_dim));
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
        &kernels_amx,
        &kernels_vnni,
        &kernels_avxvnni,
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
    /* A model in full precision is for comparisons: nothing of it is rounded further. */
    const Attention *rounded = shape->bits == 32 ? NULL : kernels->rounded_attention(d->head_dim);
    d->attention = rounded ? rounded : &kernels->attention;
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
    if (d->arena) {
        ALLOW(d->arena, d->arena_size);
        munmap(d->arena, d->arena_size);
    }
    free(d->layers);
    free(d->scratch);
    free(d);
}

/* What four bytes of codes are exclusive-or-ed with. */
static uint32_t mask_of(const Decoder *d, const Matrix *matrix) {
    return 0x01010101u * (matrix->bits == 4 ? d->kernels->nibble_mask : d->kernels->byte_mask);
}

static void pack_row(const Decoder *d, const Matrix *matrix, int row, int from, const Rows *rows) {
    unsigned char *panel = matrix->data + (size_t)(row / PANEL) * matrix->panel_bytes;
    PanelHead *head = (PanelHead *)panel;
    int lane = row % PANEL;
    const uint32_t mask = mask_of(d, matrix);
    if (matrix->bits != 32) head->scales[lane] = rows->row_scales[from];
    if (matrix->bits == 4) head->minima[lane] = rows->row_minima[from];
    for (int group = 0; group < matrix->groups; group++) {
        size_t at = (size_t)from * (size_t)matrix->groups + (size_t)group;
        if (matrix->bits == 4) {
            Tile4 *tile = (Tile4 *)(head + 1) + group;
            const uint8_t *codes = (const uint8_t *)rows->codes + at * (GROUP / 2);
            tile->scales[lane] = rows->scales[at];
            tile->minima[lane] = rows->minima[at];
            for (int j = 0; j < GROUP / 8; j++) {
                uint32_t four;
                memcpy(&four, codes + 4 * j, sizeof four);
                four ^= mask;
                memcpy(tile->codes[j][lane], &four, sizeof four);
            }
        } else if (matrix->bits == 8) {
            Tile8 *tile = (Tile8 *)(head + 1) + group;
            const int8_t *codes = (const int8_t *)rows->codes + at * GROUP;
            for (int j = 0; j < GROUP / 4; j++) {
                uint32_t four;
                memcpy(&four, codes + 4 * j, sizeof four);
                four ^= mask;
                memcpy(tile->codes[j][lane], &four, sizeof four);
            }
        } else {
            Tile32 *tile = (Tile32 *)panel + group * GROUP;
            const float *values = (const float *)rows->codes + at * GROUP;
            for (int i = 0; i < GROUP; i++) tile[i].values[lane] = values[i];
        }
    }
}

/* Four words of 32 bits. */
typedef uint32_t Words __attribute__((vector_size(16)));

#if defined(__clang__) || __GNUC__ >= 12
#define PICK(one, other, a, b, c, d) __builtin_shufflevector(one, other, a, b, c, d)
#else
#define PICK(one, other, a, b, c, d) __builtin_shuffle(one, other, (Words){a, b, c, d})
#endif

/* Sixteen bytes of each of four rows, `apart` bytes from one another: the first words of all, then their second ones
 * and so on, each four words PANEL words after the last. */
static inline void turn_four(const uint8_t *from, size_t apart, uint32_t mask, uint8_t *to) {
    Words rows[4];
    for (int i = 0; i < 4; i++) {
        memcpy(&rows[i], from + (size_t)i * apart, sizeof rows[i]);
        rows[i] ^= mask;
    }
    Words low = PICK(rows[0], rows[1], 0, 4, 1, 5), high = PICK(rows[0], rows[1], 2, 6, 3, 7);
    Words low2 = PICK(rows[2], rows[3], 0, 4, 1, 5), high2 = PICK(rows[2], rows[3], 2, 6, 3, 7);
    Words turned[4] = {PICK(low, low2, 0, 1, 4, 5), PICK(low, low2, 2, 3, 6, 7), PICK(high, high2, 0, 1, 4, 5),
                       PICK(high, high2, 2, 3, 6, 7)};
    for (int j = 0; j < 4; j++) memcpy(to + j * PANEL * 4, &turned[j], sizeof turned[j]);
}

/* pack_row for all rows of a panel, a quantised one: in vectors, since words one by one take thrice the time. */
static void pack_panel(const Decoder *d, const Matrix *matrix, int row, int from, const Rows *rows) {
    PanelHead *head = (PanelHead *)(matrix->data + (size_t)(row / PANEL) * matrix->panel_bytes);
    size_t groups = (size_t)matrix->groups, bytes = matrix->bits == 4 ? GROUP / 2 : GROUP;
    const uint32_t mask = mask_of(d, matrix);
    memcpy(head->scales, rows->row_scales + from, sizeof head->scales);
    if (matrix->bits == 4) memcpy(head->minima, rows->row_minima + from, sizeof head->minima);
    for (size_t group = 0; group < groups; group++) {
        const uint8_t *codes = (const uint8_t *)rows->codes + ((size_t)from * groups + group) * bytes;
        if (matrix->bits == 4) {
            Tile4 *tile = (Tile4 *)(head + 1) + group;
            for (size_t lane = 0; lane < PANEL; lane++) {
                tile->scales[lane] = rows->scales[((size_t)from + lane) * groups + group];
                tile->minima[lane] = rows->minima[((size_t)from + lane) * groups + group];
            }
            for (size_t lane = 0; lane < PANEL; lane += 4)
                turn_four(codes + lane * groups * bytes, groups * bytes, mask, tile->codes[0][lane]);
        } else {
            Tile8 *tile = (Tile8 *)(head + 1) + group;
            for (size_t lane = 0; lane < PANEL; lane += 4)
                for (size_t half = 0; half < 2; half++)
                    turn_four(codes + lane * groups * bytes + half * 16, groups * bytes, mask,
                              (uint8_t *)tile->codes[4 * half][lane]);
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
    for (int row = 0; row < to.rows;) {
        int panel_start = row / PANEL * PANEL;
        int place = to.first + row + (to.by_turns ? panel_start : 0);
        if (to.matrix->bits != 32 && place % PANEL == 0 && row % PANEL == 0 && row + PANEL <= to.rows) {
            pack_panel(d, to.matrix, place, row, rows);
            row += PANEL;
        } else {
            pack_row(d, to.matrix, place, row, rows);
            row++;
        }
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

/* ---- Calls ---- */

/* Up to a block of ids that are read together, of as many texts as they come from. */
typedef struct {
    Job job;
    Token tokens[HALVED_BLOCK];
    Span spans[HALVED_BLOCK], ends[HALVED_BLOCK];
} Block;

static void start_block(Block *block, Decoder *d, bool halved) {
    block->job = (Job){
        .decoder = d, .tokens = block->tokens, .spans = block->spans, .ends = block->ends, .halved = halved};
}

/* Cut `count` neighbours into spans, as many in each as attention takes together; returns how many spans. */
static int cut_spans(const Decoder *d, int first, int count, int to, Span *spans) {
    int group = d->shape.heads / d->shape.kv_heads, made = 0;
    int at_once = d->attention->most_queries / group > 1 ? d->attention->most_queries / group : 1;
    for (int i = 0; i < count; i += at_once)
        spans[made++] = (Span){first + i, count - i < at_once ? count - i : at_once, to + i};
    return made;
}

/* Add ids of one history from position `start` on, as many as there is space for; returns how many. */
static int add_ids(Block *block, History *history, int start, const int32_t *ids, int count) {
    Job *job = &block->job;
    int space = block_size(job->halved) - job->count, added = count < space ? count : space;
    job->span_count += cut_spans(job->decoder, job->count, added, job->count, block->spans + job->span_count);
    for (int i = 0; i < added; i++) block->tokens[job->count++] = (Token){history, ids[i], start + i};
    return added;
}

/* What follows each of the `count` ids that were added last is to be scored. */
static void add_ends(Block *block, int count) {
    Job *job = &block->job;
    job->end_spans += cut_spans(job->decoder, job->count - count, count, job->end_count,
                                block->ends + job->end_spans);
    job->end_count += count;
}

static void run_block(Block *block) {
    team_run(block->job.decoder->team, read_step, &block->job, sizeof block->job);
}

static Status check_ids(const Decoder *d, int room, int start, const int32_t *ids, int count) {
    if (count < 1 || start < 0) return STATUS_BAD_VALUE;
    if (start > room || count > room - start) return STATUS_NO_ROOM;
    for (int i = 0; i < count; i++)
        if (ids[i] < 0 || ids[i] >= d->shape.vocab) return STATUS_BAD_ID;
    return STATUS_OK;
}

static void count_call(Decoder *d, int64_t started) {
    if (started) d->profile.total_ns += nanoseconds() - started;
    d->profile.steps++;
}

Status reviser_read_one(Decoder *d, int start, int32_t id, float *logits) {
    return reviser_read(d, start, &id, 1, logits);
}

Status reviser_read(Decoder *d, int start, const int32_t *ids, int count, float *logits) {
    Status status = check_ids(d, d->shape.capacity, start, ids, count);
    if (status != STATUS_OK) return status;
    int64_t started = d->profiling ? nanoseconds() : 0;
    Block block;
    for (int done = 0; done < count;) {
        start_block(&block, d, false);
        block.job.stretched = 1;
        block.job.start = start + done;
        done += add_ids(&block, &d->history, start + done, ids + done, count - done);
        if (done == count) {
            add_ends(&block, 1);
            block.job.finals = d->x + (size_t)(block.job.count - 1) * (size_t)d->stride;
            block.job.logits = logits;
        }
        run_block(&block);
    }
    count_call(d, started);
    return STATUS_OK;
}

struct Batch {
    Decoder *decoder;
    int rows, room;
    bool halved; /* as in Job */
    float *finals; /* of a block */
    unsigned char *memory;
    size_t size;
    History histories[];
};

Batch *reviser_batch_create(Decoder *d, int rows, int room, int halved) {
    if (rows < 1 || rows > MOST_ROWS || room < 1 || room > d->shape.capacity) return NULL;
    Batch *batch = calloc(1, sizeof *batch + (size_t)rows * sizeof *batch->histories);
    if (!batch) return NULL;
    int padded = round_up(room, POSITION_STEP);
    size_t cells = history_cells(d, padded), finals = (size_t)most_block(d) * (size_t)d->stride;
    *batch = (Batch){.decoder = d, .rows = rows, .room = room};
    batch->halved = halved && d->kernels->halve && d->shape.bits != 32;
    batch->size = finals * sizeof(float) + (size_t)rows * cells * sizeof(uint16_t);
    /* Pages that no text reaches are never made, so a row may have room for more than it will use. */
    batch->memory = mmap(NULL, batch->size, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (batch->memory == MAP_FAILED) {
        free(batch);
        return NULL;
    }
    batch->finals = (float *)batch->memory;
    uint16_t *first = (uint16_t *)(batch->finals + finals);
    for (int row = 0; row < rows; row++)
        batch->histories[row] = (History){first + (size_t)row * cells, padded};
    return batch;
}

void reviser_batch_free(Batch *batch) {
    if (!batch) return;
    munmap(batch->memory, batch->size);
    free(batch);
}

static Status check_texts(const Batch *batch, int texts, const int32_t *rows, const int32_t *starts,
                          const int32_t *counts, const int32_t *ids) {
    unsigned char taken[MOST_ROWS] = {0};
    if (texts < 1 || texts > batch->rows) return STATUS_BAD_VALUE;
    for (int i = 0; i < texts; ids += counts[i], i++) {
        if (rows[i] < 0 || rows[i] >= batch->rows || taken[rows[i]]) return STATUS_BAD_VALUE;
        taken[rows[i]] = 1;
        Status status = check_ids(batch->decoder, batch->room, starts[i], ids, counts[i]);
        if (status != STATUS_OK) return status;
    }
    return STATUS_OK;
}

/* A call that reads texts, and what it makes of their final states. */
typedef struct {
    Batch *batch;
    int kept; /* final states that are not scored yet */
    float *logits;
    /* If there are no logits: */
    const Choices *choices;
    const int32_t *expected;
    Outlook *outlooks;
    Questions questions;
} Call;

static void find_outlooks(const Call *call, const int32_t *expected, Outlook *outlooks, int count, int briefly) {
    Decoder *d = call->batch->decoder;
    OutlookJob job = {d,     call->batch->finals, expected, outlooks, *call->choices, call->questions,
                      count, briefly, call->batch->halved};
    team_run(d->team, outlook_step, &job, sizeof job);
}

/* Find outlooks by common ids first, and by all ids where these do not tell enough. */
static void find_outlooks_briefly(Call *call) {
    size_t stride = (size_t)call->batch->decoder->stride;
    float *finals = call->batch->finals;
    int32_t expected[HALVED_BLOCK], places[HALVED_BLOCK];
    Outlook outlooks[HALVED_BLOCK];
    int left = 0;
    find_outlooks(call, call->expected, call->outlooks, call->kept, 1);
    for (int p = 0; p < call->kept; p++) {
        if (call->outlooks[p].expected >= call->choices->enough) continue;
        if (left < p) memcpy(finals + (size_t)left * stride, finals + (size_t)p * stride, stride * sizeof(float));
        expected[left] = call->expected[p];
        places[left++] = p;
    }
    if (!left) return;
    find_outlooks(call, expected, outlooks, left, 0);
    for (int i = 0; i < left; i++) call->outlooks[places[i]] = outlooks[i];
}

static void score_kept(Call *call) {
    Decoder *d = call->batch->decoder;
    const float *finals = call->batch->finals;
    if (call->logits) {
        ScoringJob job = {d, finals, call->logits, call->kept, call->batch->halved};
        team_run(d->team, score_step, &job, sizeof job);
        call->logits += (size_t)call->kept * (size_t)d->shape.vocab;
    } else {
        if (call->choices->common)
            find_outlooks_briefly(call);
        else
            find_outlooks(call, call->expected, call->outlooks, call->kept, 0);
        call->expected += call->kept;
        call->outlooks += call->kept;
        if (call->questions.starts) call->questions.starts += call->kept;
    }
    call->kept = 0;
}

/* Read a block, and score states when there are as many as are scored at once. */
static void read_block(Call *call, Block *block) {
    Decoder *d = call->batch->decoder;
    if (call->kept + block->job.end_count > block_size(call->batch->halved)) score_kept(call);
    block->job.finals = call->batch->finals + (size_t)call->kept * (size_t)d->stride;
    run_block(block);
    call->kept += block->job.end_count;
    start_block(block, d, call->batch->halved);
}

/* Read texts and score what follows the last wanted[i] ids of each, or with NULL the last one. */
static void read_texts(Call *call, int texts, const int32_t *rows, const int32_t *starts,
                       const int32_t *counts, const int32_t *ids, const int32_t *wanted) {
    Decoder *d = call->batch->decoder;
    int64_t started = d->profiling ? nanoseconds() : 0;
    Block block;
    start_block(&block, d, call->batch->halved);
    for (int i = 0; i < texts; ids += counts[i], i++) {
        History *history = &call->batch->histories[rows[i]];
        int unscored = counts[i] - (wanted ? wanted[i] : 1);
        for (int done = 0; done < counts[i];) {
            if (block.job.count == block_size(block.job.halved)) read_block(call, &block);
            int added = add_ids(&block, history, starts[i] + done, ids + done, counts[i] - done);
            done += added;
            int ends = done - unscored < added ? done - unscored : added;
            if (ends > 0) add_ends(&block, ends);
        }
    }
    read_block(call, &block);
    score_kept(call);
    count_call(d, started);
}

Status reviser_batch_read(Batch *batch, int texts, const int32_t *rows, const int32_t *starts,
                          const int32_t *counts, const int32_t *ids, float *logits) {
    Status status = check_texts(batch, texts, rows, starts, counts, ids);
    if (status != STATUS_OK) return status;
    Call call = {.batch = batch, .logits = logits};
    read_texts(&call, texts, rows, starts, counts, ids, NULL);
    return STATUS_OK;
}

static int is_id(const Decoder *d, int32_t id) { return id >= 0 && id < d->shape.vocab; }

static Status check_questions(const Decoder *d, const Questions *questions, int places) {
    const int32_t *starts = questions->starts;
    if (starts[0] != 0) return STATUS_BAD_VALUE;
    for (int i = 0; i < places; i++)
        if (starts[i + 1] < starts[i]) return STATUS_BAD_VALUE;
    for (int i = 0; i < starts[places]; i++)
        if (!is_id(d, questions->ids[i])) return STATUS_BAD_ID;
    return STATUS_OK;
}

Status reviser_batch_outlooks(Batch *batch, int texts, const int32_t *rows, const int32_t *starts,
                              const int32_t *counts, const int32_t *ids, const int32_t *wanted,
                              const int32_t *expected, const Choices *choices, Outlook *outlooks,
                              const Questions *questions) {
    const Decoder *d = batch->decoder;
    Status status = check_texts(batch, texts, rows, starts, counts, ids);
    if (status != STATUS_OK) return status;
    int total = 0;
    for (int i = 0; i < texts; total += wanted[i], i++)
        if (wanted[i] < 1 || wanted[i] > counts[i]) return STATUS_BAD_VALUE;
    for (int i = 0; i < total; i++)
        if (!is_id(d, expected[i])) return STATUS_BAD_ID;
    if (choices->tokens < 0 || choices->tokens > d->shape.vocab || !is_id(d, choices->delete_id) ||
        !is_id(d, choices->stop_id))
        return STATUS_BAD_ID;
    if (choices->common < 0 || (choices->common && questions)) return STATUS_BAD_VALUE;
    if (questions && (status = check_questions(d, questions, total)) != STATUS_OK) return status;
    Call call = {.batch = batch, .choices = choices, .expected = expected, .outlooks = outlooks};
    if (questions) call.questions = *questions;
    read_texts(&call, texts, rows, starts, counts, ids, wanted);
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
