/*
 * What workers did and when: the ring, and what the scheduler puts into it.
 *
 * Property: a ring keeps its newest events, counts those that went, and gives
 *   them back in order, with times that differ; a scheduler's trace has a slice
 *   for each step and an activity at every moment, its steals are those of the
 *   matrix, each wake is received at most once and after it was sent; and a
 *   scheduler without a trace has none.
 * Method: rings of all lengths; a scripted process; a storm of spawns on several
 *   workers with submissions from outside, started and stopped again and again
 *   with rings of different sizes, large enough for everything or far too small.
 * Bound: one process of 100 steps; SB_SCALE(4000) processes a round, 8 rounds, or
 *   more until something was stolen and somebody woken.
 */
#include <errno.h>
#include <string.h>

#include "core/memory/arena.h"
#include "core/trace.h"
#include "tests/script.h"

/* ---- the ring ---- */

static void check_ring(const struct sb_trace *trace, uint64_t put)
{
	const uint32_t kept = sb_trace_kept(trace);

	CHECK_EQ(kept, put < trace->room ? put : trace->room);
	CHECK_EQ(sb_trace_dropped(trace), put - kept);
	for (uint32_t i = 0; i < kept; i++) {
		CHECK_EQ(sb_trace_at(trace, i)->value, put - kept + i);
		assert_true(!i || sb_trace_at(trace, i)->at_ns > sb_trace_at(trace, i - 1)->at_ns);
	}
}

static void a_ring_keeps_the_newest(void **state)
{
	(void)state;
	for (uint32_t room = 1; room < 10; room++) {
		struct sb_trace trace = { .event = NULL };

		CHECK_EQ(sb_trace_init(&trace, room, SB_HEAP), 0);
		check_ring(&trace, 0);
		for (uint64_t n = 0; n < 4 * (uint64_t)room; n++) {
			sb_trace_note(&trace, SB_TRACE_TICK, 0, n);
			check_ring(&trace, n + 1);
		}
		sb_trace_fini(&trace);
	}
}

static void an_event_is_what_was_put(void **state)
{
	struct sb_trace trace = { .event = NULL };
	const struct sb_trace_event *event;
	const uint64_t before = sb_clock_ns();

	(void)state;
	CHECK_EQ(sb_trace_init(&trace, 3, SB_HEAP), 0);
	sb_trace_note(&trace, SB_TRACE_STEAL, 7, 12);
	event = sb_trace_at(&trace, 0);
	CHECK_EQ(event->kind, SB_TRACE_STEAL);
	CHECK_EQ(event->other, 7);
	CHECK_EQ(event->value, 12);
	assert_true(event->at_ns >= before && event->at_ns <= sb_clock_ns());
	/* A clock that goes back, or stands still. */
	trace.last_ns += UINT64_C(3600000000000);
	sb_trace_note(&trace, SB_TRACE_TICK, 0, 0);
	CHECK_EQ(sb_trace_at(&trace, 1)->at_ns, event->at_ns + UINT64_C(3600000000001));
	sb_trace_fini(&trace);
}

static void without_a_ring_nothing_is_kept(void **state)
{
	struct sb_trace trace = { .event = NULL };

	(void)state;
	sb_trace_note(&trace, SB_TRACE_TICK, 0, 0);
	CHECK_EQ(sb_trace_kept(&trace), 0);
	CHECK_EQ(sb_trace_init(&trace, 5, SB_HEAP), 0);
	sb_trace_note(&trace, SB_TRACE_TICK, 0, 0);
	CHECK_EQ(sb_trace_init(&trace, 5, SB_HEAP), 0); /* forgets */
	CHECK_EQ(sb_trace_kept(&trace), 0);
	CHECK_EQ(sb_trace_init(&trace, 0, SB_HEAP), 0);
	CHECK_EQ(sb_trace_is_on(&trace), false);
}

/* ---- what all traces have in common ---- */

struct book {
	uint64_t steps;
	uint64_t items[FIXTURE_WORKERS_MAX]; /* by victim */
};

/* Activities follow each other as the worker's loop goes, steps are whole and in
 * busy ones. Of a trace without gaps, from the first event on. */
static void check_order(const struct sb_trace *trace, struct book *book)
{
	static const bool may_follow[][SB_TRACE_REST + 1] = {
		[SB_TRACE_BUSY] = { [SB_TRACE_SEARCH] = true, [SB_TRACE_REST] = true },
		[SB_TRACE_SEARCH] = { [SB_TRACE_BUSY] = true, [SB_TRACE_PARK] = true },
		[SB_TRACE_PARK] = { [SB_TRACE_SEARCH] = true },
		[SB_TRACE_REST] = { [SB_TRACE_BUSY] = true },
	};
	uint32_t now = SB_TRACE_REST;
	uint64_t running = 0;
	uint64_t last_ns = 0;

	for (uint32_t i = 0; i < sb_trace_kept(trace); i++) {
		const struct sb_trace_event *event = sb_trace_at(trace, i);

		assert_true(event->at_ns > last_ns);
		last_ns = event->at_ns;
		if (event->kind <= SB_TRACE_REST) {
			assert_true(may_follow[now][event->kind]);
			CHECK_EQ(running, 0);
			now = event->kind;
		} else if (event->kind == SB_TRACE_STEP) {
			CHECK_EQ(now, SB_TRACE_BUSY);
			CHECK_EQ(running, 0);
			running = event->value;
			assert_true(running != 0);
			book->steps++;
		} else if (event->kind == SB_TRACE_STEP_END) {
			CHECK_EQ(event->value, running);
			running = 0;
		} else if (event->kind == SB_TRACE_STEAL) {
			CHECK_EQ(now, SB_TRACE_SEARCH);
			book->items[event->other] += event->value;
		}
	}
	CHECK_EQ(now, SB_TRACE_REST);
}

static uint64_t steps_of(struct fixture *f, uint32_t worker, struct sb_steal_counts *steals)
{
	struct sb_worker_reading reading = { .steals = steals };

	sb_scheduler_read(f->s, worker, &reading);
	return reading.counter[SB_COUNTER_steps];
}

/* ---- one worker ---- */

#define STEPS 100

static int continue_and_end(struct script *script, struct sb_step *step,
			    const struct sb_event *events, uint32_t count)
{
	(void)step;
	(void)events;
	(void)count;
	return sb_load_rlx(&script->steps) < STEPS ? SB_CONTINUE : -EPROTO;
}

static const struct sb_trace_event *last_step_end(const struct sb_trace *trace)
{
	const struct sb_trace_event *last = NULL;

	for (uint32_t i = 0; i < sb_trace_kept(trace); i++) {
		if (sb_trace_at(trace, i)->kind == SB_TRACE_STEP_END)
			last = sb_trace_at(trace, i);
	}
	return last;
}

static void every_step_is_in_the_trace(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = continue_and_end };
	struct book book = { 0 };
	const struct sb_trace *trace;
	const struct sb_trace_event *last;
	sb_pid pid;

	(void)state;
	fixture_defaults(&f);
	fixture_create(&f, 1);
	CHECK_EQ(sb_scheduler_trace(f.s, 1000), 0);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	CHECK_EQ(sb_scheduler_trace(f.s, 0), -EBUSY);
	pid = fixture_submit(&f, &scripted, &script);
	fixture_wait(&f);
	CHECK_EQ(sb_scheduler_stop(f.s, FIXTURE_TIMEOUT_NS), 0);
	trace = sb_scheduler_read_trace(f.s, 0);
	check_order(trace, &book);
	CHECK_EQ(book.steps, STEPS);
	CHECK_EQ(sb_trace_dropped(trace), 0);
	last = last_step_end(trace);
	CHECK_EQ(last->other, -EPROTO);
	CHECK_EQ(last->value, pid);
	assert_string_equal(last->name, "scripted");
	sb_scheduler_destroy(f.s);
}

/* Runs one process of STEPS steps, from start to stop. */
static void run_once(struct fixture *f)
{
	struct script script = { .f = f, .step = continue_and_end };

	CHECK_EQ(sb_scheduler_start(f->s, NULL), 0);
	fixture_submit(f, &scripted, &script);
	fixture_wait(f);
	CHECK_EQ(sb_scheduler_stop(f->s, FIXTURE_TIMEOUT_NS), 0);
}

static void each_start_has_a_trace_of_its_own(void **state)
{
	struct fixture f;
	const struct sb_trace *trace;
	struct book book = { 0 };

	(void)state;
	fixture_defaults(&f);
	fixture_create(&f, 1);
	run_once(&f);
	trace = sb_scheduler_read_trace(f.s, 0);
	CHECK_EQ(sb_trace_kept(trace), 0);
	CHECK_EQ(sb_scheduler_trace(f.s, 16), 0);
	run_once(&f);
	CHECK_EQ(sb_trace_kept(trace), 16);
	assert_true(sb_trace_dropped(trace) >= 2 * STEPS - 16);
	CHECK_EQ(sb_trace_at(trace, 15)->kind, SB_TRACE_REST);
	CHECK_EQ(sb_scheduler_trace(f.s, 1000), 0);
	run_once(&f);
	CHECK_EQ(sb_trace_dropped(trace), 0);
	check_order(trace, &book);
	CHECK_EQ(book.steps, STEPS);
	CHECK_EQ(sb_scheduler_trace(f.s, 0), 0);
	run_once(&f);
	CHECK_EQ(sb_trace_kept(trace), 0);
	sb_scheduler_destroy(f.s);
}

/* ---- several ---- */

#define WORKERS 4
#define ROUNDS	8
#define ROOM	200000
#define SENDERS 2

struct storm {
	struct fixture f;
	_Atomic(int64_t) left; /* processes to spawn */
};

static const struct sb_process_ops stormy;

/* Two more, as long as there are any left: they are stolen, and wake others. */
static int storm_step(struct script *script, struct sb_step *step, const struct sb_event *events,
		      uint32_t count)
{
	struct storm *storm = sb_container_of(script->f, struct storm, f);

	(void)events;
	(void)count;
	for (int i = 0; i < 2; i++) {
		if (sb_add_rlx(&storm->left, -1) > 0)
			CHECK_EQ(sb_step_spawn(step, &stormy, "main", sb_value_ptr(script), NULL),
				 0);
	}
	return SB_DONE;
}

static const struct sb_process_ops stormy = {
	.name = "stormy",
	.state_bytes = sizeof(struct script *),
	.init = script_init,
	.step = script_step,
};

/* A foreign thread's submissions wake workers, too, and are in no trace. */
static void *submit_some(void *arg)
{
	struct script *script = arg;

	for (int i = 0; i < SB_SCALE(400); i++) {
		CHECK_EQ(sb_scheduler_submit(script->f->s, &stormy, "main", sb_value_ptr(script),
					     NULL),
			 0);
		if (i % 16 == 0)
			sb_thread_yield();
	}
	return NULL;
}

static void run_storm(struct storm *storm)
{
	struct script script = { .f = &storm->f, .step = storm_step };
	struct sb_thread sender[SENDERS];

	sb_store_rlx(&storm->left, SB_SCALE(4000));
	CHECK_EQ(sb_scheduler_start(storm->f.s, NULL), 0);
	for (int i = 0; i < SENDERS; i++)
		CHECK_EQ(sb_thread_start(&sender[i], -1, submit_some, &script), 0);
	for (int i = 0; i < SENDERS; i++)
		sb_thread_join(&sender[i]);
	fixture_wait(&storm->f);
	CHECK_EQ(sb_scheduler_stop(storm->f.s, FIXTURE_TIMEOUT_NS), 0);
}

/* The wake of that name, in the waker's trace; NULL: not there. */
static const struct sb_trace_event *find_wake(struct fixture *f, uint64_t wake, uint32_t *found)
{
	const struct sb_trace_event *last = NULL;

	*found = 0;
	for (uint32_t w = 0; w < WORKERS; w++) {
		const struct sb_trace *trace = sb_scheduler_read_trace(f->s, w);

		for (uint32_t i = 0; i < sb_trace_kept(trace); i++) {
			const struct sb_trace_event *event = sb_trace_at(trace, i);

			if (event->kind != SB_TRACE_WAKE || event->value != wake)
				continue;
			last = event;
			++*found;
		}
	}
	return last;
}

/* Each is one that was sent, once, to this worker, earlier. */
static uint64_t check_wakes(struct fixture *f, uint32_t worker)
{
	const struct sb_trace *trace = sb_scheduler_read_trace(f->s, worker);
	uint64_t received = 0;

	for (uint32_t i = 0; i < sb_trace_kept(trace); i++) {
		const struct sb_trace_event *event = sb_trace_at(trace, i);
		const struct sb_trace_event *wake;
		uint32_t found;

		if (event->kind != SB_TRACE_SEARCH || !event->value)
			continue;
		wake = find_wake(f, event->value, &found);
		CHECK_EQ(found, 1);
		CHECK_EQ(wake->other, worker);
		assert_true(wake->at_ns < event->at_ns);
		received++;
	}
	return received;
}

static void a_storm_is_in_the_traces(void **state)
{
	static struct storm storm;
	struct sb_steal_counts steals[2][WORKERS][WORKERS];
	uint64_t steps[2][WORKERS];
	uint64_t wakes = 0;
	uint64_t items = 0;

	(void)state;
	fixture_defaults(&storm.f);
	fixture_create(&storm.f, WORKERS);
	run_storm(&storm);
	/* Until there were both: on a busy machine one worker may do it all. */
	for (int round = 0; round < ROUNDS || !items || !wakes; round++) {
		const bool whole = round % 2;

		for (uint32_t w = 0; w < WORKERS; w++)
			steps[0][w] = steps_of(&storm.f, w, steals[0][w]);
		CHECK_EQ(sb_scheduler_trace(storm.f.s, whole ? ROOM : 64), 0);
		run_storm(&storm);
		for (uint32_t w = 0; w < WORKERS && whole; w++) {
			const struct sb_trace *trace = sb_scheduler_read_trace(storm.f.s, w);
			struct book book = { 0 };

			steps[1][w] = steps_of(&storm.f, w, steals[1][w]);
			CHECK_EQ(sb_trace_dropped(trace), 0);
			check_order(trace, &book);
			CHECK_EQ(book.steps, steps[1][w] - steps[0][w]);
			for (uint32_t v = 0; v < WORKERS; v++) {
				CHECK_EQ(book.items[v],
					 steals[1][w][v].items - steals[0][w][v].items);
				items += book.items[v];
			}
			wakes += check_wakes(&storm.f, w);
		}
	}
	sb_scheduler_destroy(storm.f.s);
	fprintf(stderr, "# %llu items stolen, %llu wakes received\n", (unsigned long long)items,
		(unsigned long long)wakes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ring_keeps_the_newest),
		cmocka_unit_test(an_event_is_what_was_put),
		cmocka_unit_test(without_a_ring_nothing_is_kept),
		cmocka_unit_test(every_step_is_in_the_trace),
		cmocka_unit_test(each_start_has_a_trace_of_its_own),
		cmocka_unit_test(a_storm_is_in_the_traces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
