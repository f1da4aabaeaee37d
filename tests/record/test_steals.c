/*
 * The steal ledger: which stolen processes came back, and for how long work waited while a worker
 * was idle.
 *
 * Property: of all steals, what is counted as stolen again before it ran, as returned and as
 *   wandering is what the trace says, as far as that can; a message that a step holds while the other worker
 *   is idle is missed for as long as the trace and the processes' own clock reads say, and one
 *   that is not held is not; a process's trail holds what was put there.
 * Method: two workers. A process that spawns a child for each of its steps and continues behind
 *   it goes to and fro; a swarm from one step is stolen in batches. Steps have their worker and
 *   their order in the trace, so a process that ran elsewhere than before was stolen an odd
 *   number of times in between, and one that did not an even number. What both numbers leave
 *   open is stolen and not seen, and counted by the matrix of steals alone. For messages, two
 *   processes: one sends and works on, the other waits.
 * Bound: 500 steps; SB_SCALE(2000) processes; 40 messages. In virtual time much has to come back,
 *   and much be missed; in real time others may have the second CPU.
 */
#include <stdlib.h>

#include "core/record/trail.h"
#include "tests/script.h"

#define WORKERS 2
#define EVENTS	(1 << 17)

static void work_until(uint64_t end_ns)
{
	while (sb_clock_ns() < end_ns)
		sb_cpu_pause();
}

/* ---- the trail ---- */

static void a_trail_holds_what_was_put_there(void **state)
{
	static struct sb_process p;

	(void)state;
	CHECK_EQ(sb_trail_moves(&p), 0);
	CHECK_EQ(sb_trail_place(&p), SB_WAIT_OWN);
	for (uint32_t i = 1; i < 100; i++) {
		const uint32_t victim = SB_WORKERS_MAX - i;

		sb_trail_stolen(&p, victim);
		CHECK_EQ(sb_trail_victim(&p), victim);
		CHECK_EQ(sb_trail_moves(&p), i < SB_TRAIL_MOVES ? i : SB_TRAIL_MOVES);
		CHECK_EQ(sb_trail_place(&p), SB_WAIT_STOLEN);
		sb_trail_fetched(&p, SB_WAIT_GLOBAL);
		CHECK_EQ(sb_trail_place(&p), SB_WAIT_GLOBAL);
		CHECK_EQ(sb_trail_victim(&p), victim);
		sb_counter_add(&p.steps, i);
		CHECK_EQ(sb_trail_place(&p), SB_WAIT_OWN);
	}
}

/* ---- what the trace says of steals ---- */

struct step_at {
	uint64_t at_ns;
	sb_pid pid;
	uint32_t worker;
};

static int by_process(const void *a, const void *b)
{
	const struct step_at *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->at_ns < y->at_ns ? -1 : 1;
}

/* All steps, by process and time; *n: how many. */
static struct step_at *steps_of(struct sb_scheduler *s, size_t *n)
{
	struct step_at *step = calloc((size_t)WORKERS * EVENTS, sizeof(*step));

	*n = 0;
	for (uint32_t w = 0; w < WORKERS; w++) {
		const struct sb_trace *trace = sb_scheduler_read_trace(s, w);

		CHECK_EQ(sb_trace_dropped(trace), 0);
		for (uint32_t i = 0; i < sb_trace_kept(trace); i++) {
			const struct sb_trace_event *event = sb_trace_at(trace, i);

			if (event->kind == SB_TRACE_STEP)
				step[(*n)++] = (struct step_at){ event->at_ns, event->value, w };
		}
	}
	qsort(step, *n, sizeof(*step), by_process);
	return step;
}

struct seen {
	uint64_t moves;	    /* a step on the other worker than the one before */
	uint64_t movers;    /* processes that did */
	uint64_t wandering; /* moves beyond those that are none */
};

/* A process begins where it was spawned: with its parent, whose step that was is the latest one
 * that had begun, of those of the parent. */
static uint32_t birthplace(const struct step_at *step, size_t n, sb_pid parent, uint64_t before_ns)
{
	uint32_t worker = WORKERS;

	for (size_t i = 0; i < n && step[i].pid <= parent; i++) {
		if (step[i].pid == parent && step[i].at_ns < before_ns)
			worker = step[i].worker;
	}
	return worker;
}

/* Those of the parent are read from its second step on: it came from a queue. */
static struct seen see(const struct step_at *step, size_t n, sb_pid parent, const uint64_t *born_ns)
{
	struct seen seen = { 0 };
	uint64_t moves = 0;
	uint32_t last = WORKERS;

	for (size_t i = 0; i < n; i++) {
		if (!i || step[i].pid != step[i - 1].pid) {
			moves = 0;
			last = step[i].pid == parent
				       ? step[i].worker
				       : birthplace(step, n, parent, born_ns[step[i].pid]);
		}
		if (step[i].worker != last) {
			seen.moves++;
			seen.movers += !moves;
			seen.wandering += ++moves > SB_WANDERING + 1;
		}
		last = step[i].worker;
	}
	return seen;
}

/* With unseen steals between two steps, which are an even number more. */
static void check_ledger(const struct sb_steal_counts *steals, const struct seen *seen)
{
	const uint64_t unseen = steals->items - seen->moves;

	fprintf(stderr, "# %llu stolen, %llu seen; %llu again, %llu returned, %llu wandering\n",
		(unsigned long long)steals->items, (unsigned long long)seen->moves,
		(unsigned long long)steals->restolen, (unsigned long long)steals->returned,
		(unsigned long long)steals->wandering);
	assert_true(steals->items >= seen->moves);
	CHECK_EQ(unseen % 2, 0);
	assert_true(steals->restolen >= unseen / 2);
	assert_true(steals->restolen <= unseen);
	/* All but the first steal of each process, as there are two workers. */
	assert_true(steals->items - steals->returned >= seen->movers);
	assert_true(steals->items - steals->returned <= seen->movers + unseen / 2);
	assert_true(steals->wandering >= seen->wandering);
	assert_true(steals->wandering <= seen->wandering + unseen);
	assert_true(!steals->successes || steals->took_ns > 0);
}

#define PARENT_STEPS 500
#define CHILDREN     2000
#define PIDS_MAX     100000

struct family {
	struct script script;
	uint32_t children; /* of each step */
	uint32_t steps;
	uint64_t born_ns[PIDS_MAX];
};

static int child_works(struct script *script, struct sb_step *step, const struct sb_event *events,
		       uint32_t count)
{
	(void)script;
	(void)step;
	(void)events;
	(void)count;
	work_until(sb_clock_ns() + 2000);
	return SB_DONE;
}

static struct script child = { .step = child_works };

static int parent_spawns(struct script *script, struct sb_step *step, const struct sb_event *events,
			 uint32_t count)
{
	struct family *family = (struct family *)script;

	(void)events;
	(void)count;
	for (uint32_t i = 0; i < family->children; i++) {
		const uint64_t now = sb_clock_ns();
		sb_pid pid;

		CHECK_EQ(sb_step_spawn(step, &scripted, "main", sb_value_ptr(&child), &pid), 0);
		assert_true(pid < PIDS_MAX);
		family->born_ns[pid] = now;
	}
	return --family->steps ? SB_CONTINUE : SB_DONE;
}

static struct sb_steal_counts run_family(uint32_t steps, uint32_t children)
{
	static struct family family;
	struct sb_steal_counts steals;
	struct step_at *step;
	struct fixture f;
	struct seen seen;
	sb_pid parent;
	size_t n;

	family = (struct family){ .script = { .f = &f, .step = parent_spawns },
				  .children = children,
				  .steps = steps };
	child.f = &f;
	fixture_defaults(&f);
	f.config.park = SB_PARK_POLL;
	fixture_create(&f, WORKERS);
	CHECK_EQ(sb_scheduler_trace(f.s, EVENTS), 0);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	parent = fixture_submit(&f, &scripted, &family.script);
	fixture_wait(&f);
	CHECK_EQ(sb_scheduler_stop(f.s, FIXTURE_TIMEOUT_NS), 0);
	steals = fixture_steals(&f);
	step = steps_of(f.s, &n);
	CHECK_EQ(n, steps + (uint64_t)steps * children);
	seen = see(step, n, parent, family.born_ns);
	check_ledger(&steals, &seen);
	free(step);
	sb_scheduler_destroy(f.s);
	return steals;
}

static void a_parent_behind_its_child_goes_to_and_fro(void **state)
{
	const struct sb_steal_counts steals = run_family(PARENT_STEPS, 1);

	(void)state;
	if (SB_VIRTUAL)
		assert_true(steals.returned > PARENT_STEPS / 2 &&
			    steals.wandering > PARENT_STEPS / 2);
}

static void of_a_swarm_some_are_stolen_again(void **state)
{
	const struct sb_steal_counts steals = run_family(1, SB_SCALE(CHILDREN));

	(void)state;
	CHECK_EQ(steals.wandering, 0);
	if (SB_VIRTUAL)
		assert_true(steals.items > 100 && steals.returned < steals.items / 4);
}

/* ---- what is missed ---- */

#define MESSAGES 40
#define WORK_NS	 UINT64_C(100000)

struct talk {
	struct script script;
	struct script receiver;
	uint32_t sent;
	uint64_t before_ns[MESSAGES]; /* its send */
	uint64_t after_ns[MESSAGES];
	uint64_t end_ns[MESSAGES]; /* of the step, or a little before */
	uint64_t got_ns[MESSAGES];
};

static int send_and_work(struct script *script, struct sb_step *step, const struct sb_event *events,
			 uint32_t count)
{
	struct talk *talk = (struct talk *)script;
	const uint32_t i = talk->sent++;

	(void)events;
	(void)count;
	talk->before_ns[i] = sb_clock_ns();
	CHECK_EQ(sb_step_send(step, script->other, sb_value_u64(i)), 0);
	talk->after_ns[i] = sb_clock_ns();
	work_until(talk->after_ns[i] + WORK_NS);
	talk->end_ns[i] = sb_clock_ns();
	return talk->sent < MESSAGES ? SB_CONTINUE : SB_DONE;
}

static int note_arrival(struct script *script, struct sb_step *step, const struct sb_event *events,
			uint32_t count)
{
	struct talk *talk = (struct talk *)(uintptr_t)script->later.tag;

	(void)step;
	for (uint32_t i = 0; i < count; i++) {
		if (events[i].type == SB_EVENT_MESSAGE)
			talk->got_ns[events[i].data.u64] = sb_clock_ns();
	}
	sb_store_rel(&script->flag, 1);
	return talk->got_ns[MESSAGES - 1] ? SB_DONE : SB_IDLE;
}

/* Whether some worker had nothing to do all the while. */
static bool is_idle(struct sb_scheduler *s, uint64_t begin_ns, uint64_t end_ns)
{
	for (uint32_t w = 0; w < WORKERS; w++) {
		const struct sb_trace *trace = sb_scheduler_read_trace(s, w);
		uint64_t since = UINT64_MAX;

		for (uint32_t i = 0; i < sb_trace_kept(trace); i++) {
			const struct sb_trace_event *event = sb_trace_at(trace, i);

			if (event->at_ns > begin_ns &&
			    (event->kind == SB_TRACE_BUSY || event->at_ns >= end_ns)) {
				if (since <= begin_ns && event->at_ns >= end_ns)
					return true;
				break;
			}
			if (event->kind == SB_TRACE_BUSY)
				since = UINT64_MAX;
			else if (event->kind == SB_TRACE_SEARCH)
				since = sb_min_u64(since, event->at_ns);
		}
	}
	return false;
}

/* What was missed at least and at most, by the trace and the processes' own times. */
static void judge(struct sb_scheduler *s, const struct talk *talk, uint64_t *least, uint64_t *most)
{
	*least = *most = 0;
	for (uint32_t i = 0; i < MESSAGES; i++) {
		if (is_idle(s, talk->before_ns[i], talk->got_ns[i]))
			*least += talk->end_ns[i] - talk->after_ns[i];
		*most += talk->got_ns[i] - talk->before_ns[i];
	}
}

struct verdict {
	uint64_t least, most, held_ns, queued_ns;
};

static struct verdict run_talk(bool handover)
{
	static struct talk talk;
	struct verdict v;
	struct fixture f;

	memset(&talk, 0, sizeof(talk));
	talk.script = (struct script){ .f = &f, .step = send_and_work };
	talk.receiver = (struct script){ .f = &f, .step = note_arrival };
	talk.receiver.later.tag = (uintptr_t)&talk;
	fixture_defaults(&f);
	f.config.handover = handover;
	f.config.hold_ns = UINT64_MAX;
	f.config.sample_every = 1;
	fixture_create(&f, WORKERS);
	CHECK_EQ(sb_scheduler_trace(f.s, EVENTS), 0);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	talk.script.other = fixture_submit(&f, &scripted, &talk.receiver);
	await_flag(&talk.receiver);
	fixture_submit(&f, &scripted, &talk.script);
	fixture_wait(&f);
	CHECK_EQ(sb_scheduler_stop(f.s, FIXTURE_TIMEOUT_NS), 0);
	judge(f.s, &talk, &v.least, &v.most);
	v.held_ns = fixture_counter(&f, SB_COUNTER_missed_held_ns);
	v.queued_ns = fixture_counter(&f, SB_COUNTER_missed_own_ns) +
		      fixture_counter(&f, SB_COUNTER_missed_stolen_ns);
	CHECK_EQ(fixture_hist(&f, SB_HIST_missed)->sum,
		 v.held_ns + v.queued_ns + fixture_counter(&f, SB_COUNTER_missed_global_ns) +
			 fixture_counter(&f, SB_COUNTER_missed_inject_ns) +
			 fixture_counter(&f, SB_COUNTER_missed_remote_ns));
	fprintf(stderr, "# held %llu ns, in deques %llu; %llu to %llu by the trace\n",
		(unsigned long long)v.held_ns, (unsigned long long)v.queued_ns,
		(unsigned long long)v.least, (unsigned long long)v.most);
	sb_scheduler_destroy(f.s);
	return v;
}

static void what_a_step_holds_is_missed(void **state)
{
	const struct verdict v = run_talk(true);

	(void)state;
	/* A message that was not held has waited in a queue, as long as nobody has come for it. */
	assert_true(v.held_ns + v.queued_ns >= v.least);
	assert_true(v.held_ns <= v.most);
	if (SB_VIRTUAL)
		assert_true(v.held_ns >= v.least && v.least > MESSAGES * WORK_NS * 3 / 4);
}

/* The other worker is woken for each, and steals it. */
static void what_is_not_held_is_not(void **state)
{
	const struct verdict v = run_talk(false);

	(void)state;
	CHECK_EQ(v.held_ns, 0);
	if (SB_VIRTUAL)
		assert_true(v.queued_ns <= v.most && v.queued_ns < MESSAGES * WORK_NS / 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_trail_holds_what_was_put_there),
		cmocka_unit_test(a_parent_behind_its_child_goes_to_and_fro),
		cmocka_unit_test(of_a_swarm_some_are_stolen_again),
		cmocka_unit_test(what_a_step_holds_is_missed),
		cmocka_unit_test(what_is_not_held_is_not),
	};

	return cmocka_run_group_tests_name("steals", tests, NULL, NULL);
}
