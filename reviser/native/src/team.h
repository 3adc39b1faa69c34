/* A team of threads that works through the phases of a step together.
 *
 * A step is a fixed list of phases, and a phase is a number of equal items (rows of a matrix, heads,
 * positions). Every thread has a share of them, takes ranges of its own share and then of the others',
 * and the next phase begins when every item is done. Nobody waits for a thread, only for work: a
 * helper that the system has put aside delays nothing unless it holds a range, and one that comes
 * late finds its phases finished and runs on to where the others are. */

#ifndef REVISER_TEAM_H
#define REVISER_TEAM_H

#include <stdbool.h>
#include <stdint.h>

/* What team_run copies to every thread is at most this long. */
enum { MAX_JOB_BYTES = 128 };

typedef struct Team Team;

/* One thread's place in the step. `worker` counts from 0, which is the caller. */
typedef struct {
    Team *team;
    int worker;
    uint64_t phase;
    int share; /* whose items it takes at present: its own, or those `share` threads further on */
} Place;

typedef void (*StepFunction)(void *job, Place *place);

/* `threads` counts the caller. Returns NULL when a thread cannot be started. */
Team *team_create(int threads);
void team_destroy(Team *team);

/* Run `step` on every thread with a copy of the `job_bytes` at `job`; returns when it is complete. All
 * threads must pass through the same phases. */
void team_run(Team *team, StepFunction step, const void *job, int job_bytes);

/* Take some of the `total` items of the current phase: true, and [*from, *to), while some are left.
 * Report them with phase_done. */
bool phase_take(Place *place, int total, int *from, int *to);
void phase_done(Place *place, int count);

/* Wait until all items of the current phase are done and go on to the next phase. */
void phase_finish(Place *place, int total);

/* A clock that only goes forward. */
int64_t nanoseconds(void);

#endif
