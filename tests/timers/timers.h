/* timers.h - shared by the tests test_timers, test_stop_timer, test_keeper. */
#ifndef SB_TESTS_TIMERS_H
#define SB_TESTS_TIMERS_H

#include "core/state.h"
#include "core/timers/timers.h"
#include "core/wake/idle.h"
#include "tests/sequence.h"

#define HOUR_NS UINT64_C(3600000000000)

static inline void start_parked(struct fixture *f, uint32_t workers, enum sb_park_policy park)
{
	fixture_defaults(f);
	f->config.park = park;
	fixture_create(f, workers);
	CHECK_EQ(sb_scheduler_start(f->s, NULL), 0);
}

/* Timers in all wheels, with those whose events have just been sent. */
static inline uint32_t pending(struct fixture *f)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->s->workers; i++) {
		struct sb_timers *timers = &f->s->worker[i]->timers;

		sb_lock_acquire(&timers->lock);
		n += timers->wheel.pending;
		sb_lock_release(&timers->lock);
	}
	return n;
}

static inline void await_pending(struct fixture *f, uint32_t n)
{
	while (pending(f) != n)
		sb_thread_yield();
}

/* Uniform in its magnitude: from 0 to below 2^bits. */
static inline uint64_t any_magnitude(struct sb_rng *rng, uint32_t bits)
{
	const uint32_t n = sb_rng_below(rng, bits + 1);

	return n ? sb_rng_next(rng) >> (64 - n) : 0;
}

/* ---- sleep ---- */

struct crowd {
	struct fixture f;
	_Atomic(uint64_t) early; /* what came before its time */
	_Atomic(uint64_t) wrong;
	_Atomic(uint64_t) woken;
	_Atomic(uint64_t) started, stopped, fired;
	int operations;
};

struct sleeper {
	struct crowd *crowd;
	struct sb_rng rng;
	int left;
	uint64_t start_ns;
	uint64_t delay_ns;
};

static inline void crowd_run(struct crowd *c, const struct sb_process_ops *ops, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		fixture_submit(&c->f, ops, c);
	fixture_wait(&c->f);
}

enum { START_TAG = 1, STOP_TAG };

/* ---- timers that their processes leave ---- */

/* Starts two timers and a ticker in each of so many steps; then it ends, or stays
 * until it is cancelled. */
struct leaver {
	struct crowd *crowd;
	int left;
	bool stays;
};

static inline int leaver_init(void *state, const char *method, union sb_value input)
{
	struct leaver *p = state;

	p->crowd = input.ptr;
	p->left = p->crowd->operations;
	p->stays = strcmp(method, "stays") == 0;
	return 0;
}

static inline int leaver_step(void *state, struct sb_step *step, const struct sb_event *events,
			      uint32_t count)
{
	const uint64_t delay[] = { HOUR_NS, 2 * HOUR_NS, HOUR_NS };
	struct leaver *p = state;

	for (uint32_t i = 0; i < count; i++) {
		CHECK_EQ(events[i].error, 0);
		if (events[i].type == SB_EVENT_CANCEL)
			return SB_DONE;
	}
	if (p->left-- <= 0)
		return p->stays ? SB_IDLE : SB_DONE;
	for (uint32_t i = 0; i < SB_ARRAY_SIZE(delay); i++) {
		CHECK_EQ(sb_step_yield(step, i == 1 ? SB_COMMAND_TICKER : SB_COMMAND_TIMER_START,
				       sb_value_u64(delay[i]), i),
			 0);
		sb_add_rlx(&p->crowd->started, 1);
	}
	return SB_CONTINUE;
}

static const struct sb_process_ops leaver_ops = {
	.name = "leaver",
	.state_bytes = sizeof(struct leaver),
	.init = leaver_init,
	.step = leaver_step,
};

/* No timer is left, and of each wheel's memory one chunk at most. */
static inline void check_nothing_left(struct crowd *c)
{
	CHECK_EQ(pending(&c->f), 0);
	for (uint32_t i = 0; i < c->f.s->workers; i++)
		assert_uint_in_range(c->f.s->worker[i]->timers.wheel.chunks, 0, 1);
}

#endif
