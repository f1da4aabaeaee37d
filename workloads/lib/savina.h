/*
 * savina.h - what the Savina workloads share (S. Imam and V. Sarkar, "Savina -
 * An Actor Benchmark Suite", AGERE 2014).
 *
 * Savina's random numbers are one sequence of period 65536 for every language;
 * each process that needs some has its own generator and its own seed, so that
 * what a process draws does not depend on what others do.
 *
 * A round's processes are declared as groups: so many of this kind. All are
 * submitted and wait; then the first of the first group gets SB_SAVINA_START.
 * A process that fails ends them all, so that a round with a mistake is over
 * and its check can say what went wrong.
 */
#ifndef SB_WORKLOADS_LIB_SAVINA_H
#define SB_WORKLOADS_LIB_SAVINA_H

#include <errno.h>
#include <stdint.h>

#include "core/platform/platform.h"
#include "workloads/workload.h"

#define SB_SAVINA(number_and_name)                                                                 \
	"Savina benchmarks (Imam and Sarkar, AGERE 2014), " number_and_name

/* ---- random numbers and work ---- */

/* Savina's default seed of a generator. */
#define SB_SAVINA_SEED 74755

struct sb_savina_random {
	uint64_t value;
};

static inline void sb_savina_random_seed(struct sb_savina_random *random, uint64_t seed)
{
	random->value = seed;
}

/* In [0, 65535]. */
static inline uint32_t sb_savina_random_next(struct sb_savina_random *random)
{
	random->value = (random->value * 1309 + 13849) & 65535;
	return (uint32_t)random->value;
}

/* In [0, bound), if bound is at most 65536; bound > 0. */
static inline uint32_t sb_savina_random_below(struct sb_savina_random *random, uint32_t bound)
{
	return sb_savina_random_next(random) % bound;
}

/* The square of theta's sine. Not inline, so that it is computed each time;
 * SB_SAVINA_THETA is the angle that Savina's fork-join benchmarks take. */
#define SB_SAVINA_THETA 37.2

double sb_savina_sin2(double theta);

/* A wait that Savina counts in draws of a random number. Returns the last, so
 * that the draws are made. */
static inline uint64_t sb_savina_busy_wait(struct sb_rng *rng, uint32_t draws)
{
	uint64_t last = 0;

	while (draws--)
		last = sb_rng_next(rng);
	return last;
}

/* ---- a round and its processes ---- */

#define SB_SAVINA_GROUPS 4

struct sb_savina_group {
	const struct sb_process_ops *ops; /* NULL: no such group */
	uint64_t processes;
	bool is_spawned; /* by a process that stores the PIDs, and that ends
			  * them if it does not run to its end */
	sb_pid *pid;	 /* [processes] */
};

/* A workload's data begin with it. */
struct sb_savina_round {
	struct sb_scheduler *scheduler;
	const uint64_t *param; /* of the run */
	struct sb_savina_group group[SB_SAVINA_GROUPS];
	/* Messages, or what they led to, that the definition does not allow. */
	_Atomic(uint64_t) wrong;
	_Atomic(int) error; /* of the first process that failed; or 0 */
};

/* A process's input; its state begins with it. */
struct sb_savina_process {
	struct sb_savina_round *round;
	uint64_t id; /* within its group */
};

/* For setup and teardown; run->data is data_bytes of the workload's. */
int sb_savina_set_up(struct sb_workload_run *run, const struct sb_savina_group *group,
		     uint32_t groups);
void sb_savina_tear_down(struct sb_workload_run *run);

/* For start: submits all groups and sends the first process the start. After an
 * error nothing is left alive. */
int sb_savina_start(struct sb_workload_run *run);

/* For check: no process failed, and none saw what is wrong. */
bool sb_savina_check(const struct sb_workload_run *run, char *why, size_t why_bytes);

/* init of a process: input points to a struct sb_savina_process. */
int sb_savina_init(void *state, const char *method, union sb_value input);

/* Ends the round's other processes, because one has failed with error. */
void sb_savina_fail(struct sb_savina_round *round, int error);

static inline void sb_savina_expect(struct sb_savina_process *self, bool ok)
{
	if (SB_UNLIKELY(!ok))
		sb_add_rlx(&self->round->wrong, 1);
}

/* ---- a queue of bounded length ---- */

struct sb_savina_fifo {
	uint64_t bound;
	uint64_t taken; /* since it was last emptied */
	uint64_t put;
	uint64_t *item; /* [bound] */
};

/* bound > 0. Returns 0 or -ENOMEM; fini also if it was never made. */
SB_MUST_CHECK int sb_savina_fifo_init(struct sb_savina_fifo *fifo, uint64_t bound);
void sb_savina_fifo_fini(struct sb_savina_fifo *fifo);

static inline void sb_savina_fifo_empty(struct sb_savina_fifo *fifo)
{
	fifo->taken = 0;
	fifo->put = 0;
}

static inline uint64_t sb_savina_fifo_length(const struct sb_savina_fifo *fifo)
{
	return fifo->put - fifo->taken;
}

/* Returns 0, or -ENOBUFS: it is full. */
static inline int sb_savina_fifo_put(struct sb_savina_fifo *fifo, uint64_t item)
{
	if (SB_UNLIKELY(sb_savina_fifo_length(fifo) == fifo->bound))
		return -ENOBUFS;
	fifo->item[fifo->put++ % fifo->bound] = item;
	return 0;
}

/* It must not be empty. */
static inline uint64_t sb_savina_fifo_take(struct sb_savina_fifo *fifo)
{
	return fifo->item[fifo->taken++ % fifo->bound];
}

/* ---- messages: a kind, 1 to 15, and a number below 2^60 ---- */

#define SB_SAVINA_START 0

static inline union sb_value sb_savina_message(uint32_t kind, uint64_t number)
{
	return sb_value_u64(number << 4 | kind);
}

static inline uint32_t sb_savina_kind(union sb_value message)
{
	return (uint32_t)(message.u64 & 15);
}

static inline uint64_t sb_savina_number(union sb_value message)
{
	return message.u64 >> 4;
}

static inline sb_pid sb_savina_pid(const struct sb_savina_process *self, uint32_t group,
				   uint64_t id)
{
	return self->round->group[group].pid[id];
}

/* To one process of a group. Returns 0 or -errno. */
static inline int sb_savina_send(const struct sb_savina_process *self, struct sb_step *step,
				 uint32_t group, uint64_t id, union sb_value message)
{
	return sb_step_send(step, sb_savina_pid(self, group, id), message);
}

/* To all of a group. */
int sb_savina_send_all(const struct sb_savina_process *self, struct sb_step *step, uint32_t group,
		       union sb_value message);

/* SB_IDLE, unless it is an error: what to return after the last send. */
static inline int sb_savina_idle(int rc)
{
	return rc ? rc : SB_IDLE;
}

static inline int sb_savina_done(int rc)
{
	return rc ? rc : SB_DONE;
}

typedef int (*sb_savina_receive)(void *state, struct sb_step *step, union sb_value message);
typedef int (*sb_savina_go_on)(void *state, struct sb_step *step);

/* Hands over one message after the other, until receive returns something else
 * than SB_IDLE: that must then have been the last. */
static inline int sb_savina_receive_all(struct sb_savina_process *self, struct sb_step *step,
					const struct sb_event *events, uint32_t count,
					sb_savina_receive receive)
{
	int status = SB_IDLE;
	uint32_t i;

	for (i = 0; i < count && status == SB_IDLE; i++)
		status = events[i].type == SB_EVENT_MESSAGE ? receive(self, step, events[i].data)
							    : -ECANCELED;
	sb_savina_expect(self, i == count || status < 0);
	return status;
}

/* A step: the messages, and then, if go_on is not NULL, what the process does by
 * itself. */
static inline int sb_savina_step(void *state, struct sb_step *step, const struct sb_event *events,
				 uint32_t count, sb_savina_receive receive, sb_savina_go_on go_on)
{
	struct sb_savina_process *self = state;
	int status = sb_savina_receive_all(self, step, events, count, receive);

	if (go_on && status == SB_IDLE)
		status = go_on(state, step);
	if (SB_UNLIKELY(status < 0))
		sb_savina_fail(self->round, status);
	return status;
}

/* Defines <name>_ops: a process with struct <name> as its state, that receives
 * with <name>_receive and goes on with go_on, which may be NULL. What follows
 * are other fields of its operations. */
#define SB_SAVINA_PROCESS(name_, go_on, ...)                                                       \
	static int name_##_step(void *state, struct sb_step *step, const struct sb_event *events,  \
				uint32_t count)                                                    \
	{                                                                                          \
		return sb_savina_step(state, step, events, count, name_##_receive, go_on);         \
	}                                                                                          \
	static const struct sb_process_ops name_##_ops = { .name = #name_,                         \
							   .state_bytes = sizeof(struct name_),    \
							   .init = sb_savina_init,                 \
							   .step = name_##_step,                   \
							   __VA_ARGS__ }

#endif
