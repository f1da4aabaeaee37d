/*
 * fixture.h - a scheduler for tests: so many workers that are not pinned, and
 * a book that sees every process start, complete and close.
 */
#ifndef SB_TESTS_FIXTURE_H
#define SB_TESTS_FIXTURE_H

#include "core/readings.h"
#include "tests/test.h"

#define FIXTURE_WORKERS_MAX 16

/* Far more than any test needs; a test that waits so long has hung. */
#define FIXTURE_TIMEOUT_NS UINT64_C(60000000000)

struct fixture {
	struct sb_scheduler *s;
	struct sb_config config;
	_Atomic(uint64_t) started;
	_Atomic(uint64_t) completed;
	_Atomic(uint64_t) closed;
	_Atomic(uint64_t) dropped;
	_Atomic(int) last_error;
	_Atomic(uint64_t) last_result;
	_Atomic(int) refuse; /* what on_start returns */
	int yields_in_start; /* on_start gives the processor away so often */
};

static inline int fixture_on_start(void *hook, sb_pid pid)
{
	struct fixture *f = hook;

	(void)pid;
	if (sb_load_rlx(&f->refuse))
		return sb_load_rlx(&f->refuse);
	for (int i = 0; i < f->yields_in_start; i++)
		sb_thread_yield();
	sb_add_rlx(&f->started, 1);
	return 0;
}

static inline void fixture_on_complete(void *hook, const struct sb_exit *exit)
{
	struct fixture *f = hook;

	sb_store_rlx(&f->last_error, exit->error);
	sb_store_rlx(&f->last_result, exit->result.u64);
	sb_add_rlx(&f->completed, 1);
}

static inline void fixture_on_drop(void *hook, const struct sb_event *event)
{
	(void)event;
	sb_add_rlx(&((struct fixture *)hook)->dropped, 1);
}

/* For tests that change the configuration first. */
static inline void fixture_defaults(struct fixture *f)
{
	*f = (struct fixture){ .config = SB_CONFIG_DEFAULT };
	f->config.seed = sb_test_seed();
	f->config.hook = f;
	f->config.on_start = fixture_on_start;
	f->config.on_complete = fixture_on_complete;
	f->config.on_drop = fixture_on_drop;
}

static inline void fixture_create_at(struct fixture *f, uint32_t workers, struct sb_place *place)
{
	const struct sb_placement placement = { .workers = workers, .place = place };

	CHECK_EQ(sb_scheduler_create(&f->s, &f->config, &placement), 0);
}

static inline void fixture_create(struct fixture *f, uint32_t workers)
{
	struct sb_place place[FIXTURE_WORKERS_MAX];

	for (uint32_t i = 0; i < workers; i++)
		place[i] = (struct sb_place){ -1, (int)i, (int)i, 0, 0, 0 };
	fixture_create_at(f, workers, place);
}

static inline void fixture_start(struct fixture *f, uint32_t workers)
{
	fixture_defaults(f);
	fixture_create(f, workers);
	CHECK_EQ(sb_scheduler_start(f->s, NULL), 0);
}

static inline void fixture_wait(struct fixture *f)
{
	CHECK_EQ(sb_scheduler_wait_idle(f->s, FIXTURE_TIMEOUT_NS), 0);
}

/* Every process that started has completed, once. */
static inline void fixture_end(struct fixture *f)
{
	CHECK_EQ(sb_scheduler_stop(f->s, FIXTURE_TIMEOUT_NS), 0);
	CHECK_EQ(sb_load_rlx(&f->completed), sb_load_rlx(&f->started));
	sb_scheduler_destroy(f->s);
}

static inline sb_pid fixture_submit(struct fixture *f, const struct sb_process_ops *ops,
				    void *input)
{
	sb_pid pid = 0;

	CHECK_EQ(sb_scheduler_submit(f->s, ops, "main", sb_value_ptr(input), &pid), 0);
	return pid;
}

static inline uint64_t fixture_counter(struct fixture *f, enum sb_counter_id id)
{
	struct sb_steal_counts steals[FIXTURE_WORKERS_MAX];
	struct sb_worker_reading reading = { .steals = steals };
	uint64_t sum = 0;

	for (uint32_t i = 0; i < sb_scheduler_workers(f->s); i++) {
		sb_scheduler_read(f->s, i, &reading);
		sum += reading.counter[id];
	}
	return sum;
}

/* What all workers stole from all. */
static inline struct sb_steal_counts fixture_steals(struct fixture *f)
{
	const uint32_t workers = sb_scheduler_workers(f->s);
	struct sb_steal_counts steals[FIXTURE_WORKERS_MAX];
	struct sb_worker_reading reading = { .steals = steals };
	struct sb_steal_counts sum = { 0 };

	for (uint32_t thief = 0; thief < workers; thief++) {
		sb_scheduler_read(f->s, thief, &reading);
		CHECK_EQ(steals[thief].attempts, 0);
		for (uint32_t victim = 0; victim < workers; victim++)
			sb_steal_add(&sum, &steals[victim]);
	}
	return sum;
}

static inline struct sb_hist_counts *fixture_hist(struct fixture *f, enum sb_hist_id id)
{
	static struct sb_hist_counts counts;

	sb_scheduler_read_hist(f->s, id, &counts);
	return &counts;
}

/* The laws of the counters, once the workers are gone. No process may have been
 * terminated: one that has is taken and not stepped. */
static inline void fixture_check_conservation(struct fixture *f)
{
	const struct sb_steal_counts steals = fixture_steals(f);
	const uint64_t pops = fixture_counter(f, SB_COUNTER_direct_steps) +
			      fixture_counter(f, SB_COUNTER_local_pops) +
			      fixture_counter(f, SB_COUNTER_oldest_pops) +
			      fixture_counter(f, SB_COUNTER_cold_pops);
	const uint64_t batches = fixture_counter(f, SB_COUNTER_inject_pops) +
				 fixture_counter(f, SB_COUNTER_global_pops) +
				 fixture_counter(f, SB_COUNTER_remote_pops);

	CHECK_EQ(steals.attempts, steals.successes + steals.lost + steals.empty);
	CHECK_EQ(fixture_hist(f, SB_HIST_batch_steal)->count, steals.successes);
	CHECK_EQ(fixture_hist(f, SB_HIST_batch_steal)->sum, steals.items);
	/* Each step began with one process taken from somewhere. */
	CHECK_EQ(fixture_counter(f, SB_COUNTER_steps), pops + batches + steals.successes);
	CHECK_EQ(fixture_counter(f, SB_COUNTER_completions), sb_load_rlx(&f->completed));
}

#endif
