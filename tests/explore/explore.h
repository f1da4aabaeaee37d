/* explore.h - scenarios: each brings the sides of one protocol together, in as few operations as
 * that takes, and checks what must hold whatever the schedule. */
#ifndef SB_TESTS_EXPLORE_H
#define SB_TESTS_EXPLORE_H

#include "tests/fixture.h"

struct scenario {
	const char *name;
	const char *meaning;
	void (*run)(void);
};

/* End with one without a name. */
extern const struct scenario queue_scenarios[], scheduler_scenarios[], process_scenarios[],
	message_scenarios[], sequence_scenarios[], torture_scenarios[];

/* Calls of a sequence. */
#define SEQUENCE_CALLS 32

/* Parts of a small script of the torture driver that have a bit each. */
#define TORTURE_CALLS 64

/* Far more than any schedule takes by itself: who is not done then has been forgotten. */
#define PATIENCE_NS UINT64_C(100000000)

/* Of workers that hardly spin. */
static inline void scenario_defaults(struct fixture *f)
{
	fixture_defaults(f);
	f->config.spin_tight = 1;
	f->config.spin_yield = 0;
	f->config.spin_ns = 0;
	f->config.gather = false;
}

static inline void scenario_start(struct fixture *f, uint32_t workers)
{
	scenario_defaults(f);
	fixture_create(f, workers);
	CHECK_EQ(sb_scheduler_start(f->s, NULL), 0);
}

static inline void scenario_wait(struct fixture *f)
{
	CHECK_EQ(sb_scheduler_wait_idle(f->s, PATIENCE_NS), 0);
}

/* All that has started has ended, once. */
static inline void scenario_end(struct fixture *f)
{
	CHECK_EQ(sb_scheduler_stop(f->s, PATIENCE_NS), 0);
	CHECK_EQ(sb_load_rlx(&f->completed), sb_load_rlx(&f->started));
	fixture_check_conservation(f);
	sb_scheduler_destroy(f->s);
}

/* Its state is the input. */
static inline int take_input(void *state, const char *method, union sb_value input)
{
	(void)method;
	*(union sb_value *)state = input;
	return 0;
}

static inline int take_nothing(void *state, const char *method, union sb_value input)
{
	(void)state;
	(void)method;
	(void)input;
	return 0;
}

#endif
