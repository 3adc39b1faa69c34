#include "team.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    /* Phases share counters in turn; a late helper can be many phases behind, and the tag tells it. */
    SLOTS = 8,
    COUNT_BITS = 24,
    /* Ranges in which a thread takes its share: what is not yet taken, others can help with. */
    RANGES = 4,
    /* Looks before a waiting thread lets others run: tens of microseconds, longer than any phase
     * of a decoding step needs when both cores are free. */
    LOOKS_BEFORE_YIELD = 4096,
    /* A helper stays awake this long after a step, since the next one usually follows at once. */
    AWAKE_NANOSECONDS = 2000000,
};

/* A counter that belongs to one phase: the phase's number above COUNT_BITS, the count below. It has a
 * cache line to itself. */
typedef struct {
    _Alignas(64) _Atomic uint64_t value;
} Counter;

struct Team {
    Counter done[SLOTS];
    Counter *taken; /* [slot][thread]: of each thread's share */
    _Alignas(64) _Atomic uint64_t generation;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    int sleepers;
    bool stopping;

    /* The current step, written under the mutex. */
    StepFunction step;
    _Alignas(16) unsigned char job[MAX_JOB_BYTES];
    uint64_t first_phase;

    uint64_t next_phase;
    pid_t process;
    int threads;
    int started;
    pthread_t helpers[];
};

typedef struct {
    Team *team;
    int worker;
} HelperStart;

static void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#endif
}

int64_t nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static uint64_t tagged(uint64_t phase, uint64_t count) { return phase << COUNT_BITS | count; }

/* What `counter` says about `phase`: its count, or that another phase has it by now. */
static int64_t count_of(uint64_t counter, uint64_t phase) {
    uint64_t owner = counter >> COUNT_BITS;
    if (owner > phase) return -1;
    return owner == phase ? (int64_t)(counter & ((1u << COUNT_BITS) - 1)) : 0;
}

bool phase_take(Place *place, int total, int *from, int *to) {
    Team *team = place->team;
    for (; place->share < team->threads; place->share++) {
        /* Its own share first, in a few ranges that lie one after the other, as memory is read best.
         * Others' shares are touched only when its own is gone. */
        int owner = (place->worker + place->share) % team->threads;
        int begin = (int)((int64_t)total * owner / team->threads);
        int end = (int)((int64_t)total * (owner + 1) / team->threads);
        int range = (end - begin + RANGES - 1) / RANGES;
        Counter *taken = &team->taken[(place->phase % SLOTS) * (uint64_t)team->threads + (uint64_t)owner];
        uint64_t seen = atomic_load_explicit(&taken->value, memory_order_acquire);
        for (;;) {
            int64_t before = count_of(seen, place->phase);
            if (before < 0 || begin + before >= end) break;
            int count = end - begin - (int)before < range ? end - begin - (int)before : range;
            uint64_t next = tagged(place->phase, (uint64_t)(before + count));
            if (atomic_compare_exchange_weak_explicit(&taken->value, &seen, next,
                                                      memory_order_acq_rel, memory_order_acquire)) {
                *from = begin + (int)before;
                *to = *from + count;
                return true;
            }
        }
    }
    return false;
}

void phase_done(Place *place, int count) {
    Counter *done = &place->team->done[place->phase % SLOTS];
    uint64_t seen = atomic_load_explicit(&done->value, memory_order_relaxed);
    uint64_t next;
    do {
        /* This thread's items are not yet counted, so the counter cannot belong to a later phase. */
        next = tagged(place->phase, (uint64_t)(count_of(seen, place->phase) + count));
    } while (!atomic_compare_exchange_weak_explicit(&done->value, &seen, next, memory_order_acq_rel,
                                                    memory_order_relaxed));
}

void phase_finish(Place *place, int total) {
    Counter *done = &place->team->done[place->phase % SLOTS];
    for (int looks = 0;; looks++) {
        uint64_t seen = atomic_load_explicit(&done->value, memory_order_acquire);
        int64_t count = count_of(seen, place->phase);
        if (count < 0 || count == total) break;
        if (looks < LOOKS_BEFORE_YIELD)
            relax();
        else
            sched_yield();
    }
    place->phase++;
    place->share = 0;
}

/* Wait for a step after `generation`; false when the team is being dissolved. */
static bool next_job(Team *team, uint64_t *generation, StepFunction *step, void *job,
                     uint64_t *first_phase) {
    int64_t sleep_at = 0;
    for (int looks = 0;
         atomic_load_explicit(&team->generation, memory_order_acquire) == *generation; looks++) {
        relax();
        if (looks % 256) continue;
        int64_t now = nanoseconds();
        if (!sleep_at) sleep_at = now + AWAKE_NANOSECONDS;
        if (now > sleep_at) break;
        if (looks) sched_yield();
    }
    pthread_mutex_lock(&team->mutex);
    team->sleepers++;
    while (team->generation == *generation) pthread_cond_wait(&team->wake, &team->mutex);
    team->sleepers--;
    *generation = team->generation;
    *step = team->step;
    *first_phase = team->first_phase;
    memcpy(job, team->job, MAX_JOB_BYTES);
    bool go_on = !team->stopping;
    pthread_mutex_unlock(&team->mutex);
    return go_on;
}

static void *help(void *argument) {
    HelperStart start = *(HelperStart *)argument;
    free(argument);
    _Alignas(16) unsigned char job[MAX_JOB_BYTES];
    uint64_t generation = 0;
    StepFunction step;
    Place place = {.team = start.team, .worker = start.worker};
    while (next_job(start.team, &generation, &step, job, &place.phase)) step(job, &place);
    return NULL;
}

static void publish(Team *team) {
    atomic_fetch_add_explicit(&team->generation, 1, memory_order_acq_rel);
    if (team->sleepers) pthread_cond_broadcast(&team->wake);
}

static bool start_helpers(Team *team) {
    pthread_mutex_init(&team->mutex, NULL);
    pthread_cond_init(&team->wake, NULL);
    team->process = getpid();
    team->sleepers = 0;
    team->started = 0;
    atomic_store(&team->generation, 0);
    for (int worker = 1; worker < team->threads; worker++) {
        HelperStart *start = malloc(sizeof *start);
        if (!start) return false;
        *start = (HelperStart){team, worker};
        if (pthread_create(&team->helpers[team->started], NULL, help, start)) {
            free(start);
            return false;
        }
        team->started++;
    }
    return true;
}

Team *team_create(int threads) {
    size_t bytes = sizeof(Team) + (size_t)threads * sizeof(pthread_t);
    size_t counters = SLOTS * (size_t)threads * sizeof(Counter);
    bytes = (bytes + sizeof(Counter) - 1) / sizeof(Counter) * sizeof(Counter);
    Team *team = aligned_alloc(sizeof(Counter), bytes + counters);
    if (!team) return NULL;
    memset(team, 0, bytes + counters);
    team->taken = (Counter *)((char *)team + bytes);
    team->threads = threads;
    team->next_phase = 1;
    if (!start_helpers(team)) {
        team_destroy(team);
        return NULL;
    }
    return team;
}

void team_destroy(Team *team) {
    if (!team) return;
    /* The helpers of a forked copy stayed behind in the parent: there is nobody to dismiss. */
    if (team->process == getpid()) {
        pthread_mutex_lock(&team->mutex);
        team->stopping = true;
        publish(team);
        pthread_mutex_unlock(&team->mutex);
        for (int i = 0; i < team->started; i++) pthread_join(team->helpers[i], NULL);
    }
    free(team);
}

void team_run(Team *team, StepFunction step, const void *job, int job_bytes) {
    /* After a fork only the caller lives on, and it needs new helpers. Should they not start, it
     * does all the work itself: no phase waits for a thread. */
    if (team->process != getpid()) start_helpers(team);

    Place place = {.team = team, .worker = 0, .phase = team->next_phase};
    if (team->started) {
        pthread_mutex_lock(&team->mutex);
        team->step = step;
        memcpy(team->job, job, (size_t)job_bytes);
        team->first_phase = place.phase;
        publish(team);
        pthread_mutex_unlock(&team->mutex);
    }
    _Alignas(16) unsigned char copy[MAX_JOB_BYTES];
    memcpy(copy, job, (size_t)job_bytes);
    step(copy, &place);
    team->next_phase = place.phase;
}
