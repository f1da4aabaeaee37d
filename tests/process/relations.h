/* relations.h - shared by the tests test_relations, test_monitor_races, test_link_races. */
#ifndef SB_TESTS_RELATIONS_H
#define SB_TESTS_RELATIONS_H

#include "tests/sequence.h"

/* ---- races: targets that end all the time ---- */

enum { SLOTS = 8 };

/*
 * The targets: in each slot one after another. Each runs a few steps, starts its
 * successor, and ends; in the odd slots with an error.
 */
struct arena {
	struct fixture f;
	_Atomic(sb_pid) current[SLOTS];
	_Atomic(uint64_t) added, removed, exits; /* monitors */
	_Atomic(uint64_t) safe, finished;	 /* linkers */
	_Atomic(uint64_t) cancelled;		 /* completions */
	_Atomic(uint64_t) targets_ended;
	int operations; /* of each watcher */
};

struct target_input {
	struct arena *arena;
	uint32_t slot;
	uint32_t successors;
	uint64_t seed;
};

struct target {
	struct arena *arena;
	uint32_t slot;
	uint32_t successors;
	struct sb_rng rng;
	uint32_t steps;
};

static inline int target_init(void *state, const char *method, union sb_value input)
{
	const struct target_input *in = input.ptr;
	struct target *t = state;

	(void)method;
	t->arena = in->arena;
	t->slot = in->slot;
	t->successors = in->successors;
	sb_rng_seed(&t->rng, in->seed);
	t->steps = sb_rng_below(&t->rng, 12);
	return 0;
}

static const struct sb_process_ops target_ops;

static inline void start_target(struct target *t, struct sb_step *step)
{
	struct target_input in = { t->arena, t->slot, t->successors - 1, sb_rng_next(&t->rng) };
	sb_pid pid;

	CHECK_EQ(sb_step_spawn(step, &target_ops, "main", sb_value_ptr(&in), &pid), 0);
	sb_store_rel(&t->arena->current[t->slot], pid);
}

static inline int target_step(void *state, struct sb_step *step, const struct sb_event *events,
			      uint32_t count)
{
	struct target *t = state;

	(void)events;
	(void)count;
	if (t->steps--)
		return SB_CONTINUE;
	if (t->successors)
		start_target(t, step);
	sb_add_rlx(&t->arena->targets_ended, 1);
	sb_step_result(step, sb_value_u64(step->self));
	return t->slot % 2 ? -EIO : SB_DONE;
}

static const struct sb_process_ops target_ops = {
	.name = "target",
	.state_bytes = sizeof(struct target),
	.init = target_init,
	.step = target_step,
};

static inline void count_cancelled(void *hook, const struct sb_exit *exit)
{
	struct arena *a = hook;

	if (exit->error == -ECANCELED)
		sb_add_rlx(&a->cancelled, 1);
}

static inline int start_nobody_refused(void *hook, sb_pid pid)
{
	(void)hook;
	(void)pid;
	return 0;
}

static inline void arena_start(struct arena *a, uint32_t workers, uint32_t successors)
{
	memset(a, 0, sizeof(*a));
	fixture_defaults(&a->f);
	a->f.config.hook = a;
	a->f.config.on_start = start_nobody_refused;
	a->f.config.on_complete = count_cancelled;
	a->f.config.on_drop = NULL;
	fixture_create(&a->f, workers);
	for (uint32_t i = 0; i < SLOTS; i++) {
		struct target_input in = { a, i, successors, sb_test_seed() + i };
		sb_pid pid;

		CHECK_EQ(sb_scheduler_submit(a->f.s, &target_ops, "main", sb_value_ptr(&in), &pid),
			 0);
		sb_store_rel(&a->current[i], pid);
	}
}

static inline sb_pid arena_pick(struct arena *a, uint32_t slot)
{
	return sb_load_acq(&a->current[slot]);
}

/* ---- watchers ---- */

enum watch {
	FREE,
	ADDING,
	WATCHED,
	DOUBLING, /* monitors a second time what it watches */
	REMOVING,
	REMOVING_TOLD, /* the exit event has come already */
	DOUBLING_TOLD,
	OWED, /* removed too late: the exit event must come */
};

enum { WATCHES = 6 };

struct watcher {
	struct arena *arena;
	struct sb_rng rng;
	int left;
	bool doomed; /* ends in the middle, with monitors set */
	uint64_t added, removed, exits;
	struct {
		enum watch state;
		sb_pid pid;
	} watch[WATCHES];
};

static inline void arena_run(struct arena *a, uint32_t successors)
{
	CHECK_EQ(sb_scheduler_start(a->f.s, NULL), 0);
	fixture_wait(&a->f);
	CHECK_EQ(sb_scheduler_stop(a->f.s, FIXTURE_TIMEOUT_NS), 0);
	sb_scheduler_destroy(a->f.s);
	CHECK_EQ(sb_load_rlx(&a->targets_ended), SLOTS * (1 + successors));
}

#endif
