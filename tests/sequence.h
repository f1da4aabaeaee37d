/*
 * sequence.h - a process that yields commands, one after another or all at once,
 * and keeps everything that it saw.
 *
 * A test sets the first part and reads the second, once the flag of its script
 * is raised (all commands have completed) or the process has ended.
 */
#ifndef SB_TESTS_SEQUENCE_H
#define SB_TESTS_SEQUENCE_H

#include "core/commands.h"
#include "tests/script.h"

#define SEQUENCE_MAX 16

/* A message of less than this ends a process that stays: 0 is done, all else
 * an error. */
#define SEQUENCE_ENDS  4096
#define SEQUENCE_HELLO UINT64_C(7777) /* one that does not */

struct sequence {
	struct script script;
	struct sb_command command[SEQUENCE_MAX];
	uint32_t length;
	bool at_once;
	bool after_cancel; /* begins with the cancel event */
	bool stubborn;	   /* does not end with it */
	bool stays;	   /* Idle at its end, until a message ends it */
	int error;	   /* which it ends with; 0: done */
	uint64_t gives;	   /* its result */

	/* What it saw; of each command, and whatever else came. */
	uint32_t issued;
	uint32_t completions;
	int failure[SEQUENCE_MAX];
	uint64_t result[SEQUENCE_MAX];
	_Atomic(uint32_t) events;
	struct sb_event event[SEQUENCE_MAX];
	bool cancelled;
	bool told;
};

static inline void sequence_note(struct sequence *q, const struct sb_event *e)
{
	const uint32_t n = sb_load_rlx(&q->events);

	if (e->type == SB_EVENT_COMPLETION) {
		CHECK_EQ(e->tag < q->issued, true);
		q->failure[e->tag] = e->error;
		q->result[e->tag] = e->data.u64;
		q->completions++;
		return;
	}
	if (e->type == SB_EVENT_CANCEL)
		q->cancelled = true;
	if (e->type == SB_EVENT_MESSAGE && e->data.u64 < SEQUENCE_ENDS) {
		q->error = -(int)e->data.u64;
		q->told = true;
	}
	/* On a busy machine a ticker may tick any number of times. */
	if (e->type == SB_EVENT_TIMER && n == SEQUENCE_MAX)
		return;
	CHECK_EQ(n < SEQUENCE_MAX, true);
	q->event[n] = *e;
	sb_store_rel(&q->events, n + 1);
}

static inline int sequence_next(struct sequence *q, struct sb_step *step)
{
	do {
		const struct sb_command *c = &q->command[q->issued];

		CHECK_EQ(sb_step_yield(step, c->id, c->arg, q->issued), 0);
		q->issued++;
	} while (q->at_once && q->issued < q->length);
	return SB_YIELD;
}

static inline int sequence_end(struct sequence *q, struct sb_step *step)
{
	sb_store_rel(&q->script.flag, 1);
	if (q->stays && !q->told && (!q->cancelled || q->stubborn))
		return SB_IDLE;
	sb_step_result(step, sb_value_u64(q->gives));
	return q->error ? q->error : SB_DONE;
}

static inline int sequence_step(struct script *script, struct sb_step *step,
				const struct sb_event *events, uint32_t count)
{
	struct sequence *q = sb_container_of(script, struct sequence, script);

	for (uint32_t i = 0; i < count; i++)
		sequence_note(q, &events[i]);
	if (q->after_cancel && !q->cancelled) {
		sb_store_rel(&script->flag, 1);
		return SB_IDLE;
	}
	if (q->completions < q->issued)
		return SB_YIELD;
	return q->issued < q->length ? sequence_next(q, step) : sequence_end(q, step);
}

static inline void sequence_add(struct sequence *q, uint32_t command, union sb_value arg)
{
	CHECK_EQ(q->length < SEQUENCE_MAX, true);
	q->command[q->length++] = (struct sb_command){ command, arg };
}

static inline void sequence_add_u64(struct sequence *q, uint32_t command, uint64_t arg)
{
	sequence_add(q, command, sb_value_u64(arg));
}

static inline sb_pid sequence_submit(struct fixture *f, struct sequence *q)
{
	q->script.f = f;
	q->script.step = sequence_step;
	return fixture_submit(f, &scripted, &q->script);
}

/* Until all of its commands have completed. */
static inline void sequence_await(struct sequence *q)
{
	await_flag(&q->script);
}

static inline void sequence_await_events(struct sequence *q, uint32_t n)
{
	while (sb_load_acq(&q->events) < n)
		sb_thread_yield();
}

/* Runs it to its end, while others live. */
static inline void sequence_execute(struct fixture *f, struct sequence *q)
{
	struct sb_exit exit;

	q->script.f = f;
	q->script.step = sequence_step;
	CHECK_EQ(sb_scheduler_execute(f->s, &scripted, "main", sb_value_ptr(&q->script), &exit), 0);
	CHECK_EQ(q->completions, q->length);
	CHECK_EQ(exit.error, q->error);
}

/* What one command by a process of its own fails with, or 0. */
static inline int sequence_one(struct fixture *f, uint32_t command, uint64_t arg)
{
	struct sequence q = { .length = 0 };

	sequence_add_u64(&q, command, arg);
	sequence_execute(f, &q);
	return q.failure[0];
}

#endif
