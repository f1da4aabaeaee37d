/*
 * Whose turn it is: processes that continue, floods of messages, long steps.
 *
 * Property: a process that continues, or has had its batch of events, goes
 *   behind the others of its worker and can be stolen there; those that
 *   continue take turns; and while steps take longer than their time budget,
 *   batches get smaller and ticks more frequent, and recover.
 * Method: one worker, so that the order is exact, and processes that write down
 *   who ran or what they got. Steps are made long by spinning until the budget
 *   has passed; a step that should be short and is not only delays the end.
 * Bound: batches of 64 events, ticks of 64 steps; both deques.
 */
#include "core/state.h"
#include "tests/script.h"

/* ---- those that continue ---- */

/* Who ran, in order. One worker, so one writer. */
enum { LOG = 64 };

struct log {
	uint32_t n;
	uint64_t who[LOG];
};

static void note(struct log *log, uint64_t who)
{
	if (log->n < LOG)
		log->who[log->n++] = who;
}

static int note_once(struct script *script, struct sb_step *step, const struct sb_event *events,
		     uint32_t count)
{
	(void)step;
	(void)events;
	(void)count;
	note((struct log *)(uintptr_t)script->other, script->seen);
	return SB_DONE;
}

/* other: the log; seen: its name; flag: how often it continues. */
static int note_and_continue(struct script *script, struct sb_step *step,
			     const struct sb_event *events, uint32_t count)
{
	note_once(script, step, events, count);
	return sb_load_rlx(&script->steps) > sb_load_rlx(&script->flag) ? SB_DONE : SB_CONTINUE;
}

struct family {
	struct script parent;
	struct script child[3];
	struct log log;
};

static int spawn_family(struct script *script, struct sb_step *step, const struct sb_event *events,
			uint32_t count)
{
	struct family *family = sb_container_of(script, struct family, parent);

	(void)events;
	(void)count;
	/* A tick follows a worker's first step if the watcher slept by then. */
	if (sb_load_rlx(&script->steps) == 1)
		return SB_CONTINUE;
	note(&family->log, 99);
	if (sb_load_rlx(&script->steps) > 2)
		return SB_DONE;
	for (int i = 0; i < 3; i++)
		CHECK_EQ(sb_step_spawn(step, &scripted, "main", sb_value_ptr(&family->child[i]),
				       NULL),
			 0);
	return SB_CONTINUE;
}

static void run_family(struct family *family, enum sb_deque_kind deque, uint32_t tick,
		       uint32_t continues)
{
	struct fixture f;

	*family = (struct family){
		.parent = { .f = &f, .step = spawn_family },
	};
	for (uint64_t i = 0; i < 3; i++) {
		struct script *child = &family->child[i];

		*child = (struct script){ .f = &f,
					  .step = note_and_continue,
					  .seen = i,
					  .other = (uintptr_t)&family->log };
		sb_store_rlx(&child->flag, continues);
	}
	fixture_defaults(&f);
	f.config.deque = deque;
	f.config.tick = tick;
	f.config.tick_ns = 0;
	fixture_create(&f, 1);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	fixture_submit(&f, &scripted, &family->parent);
	fixture_wait(&f);
	fixture_end(&f);
}

/* It has spawned three: newest first they run, and then it. */
static void check_siblings_first(enum sb_deque_kind deque)
{
	static const uint64_t order[] = { 99, 2, 1, 0, 99 };
	struct family family;

	run_family(&family, deque, 1u << 20, 0);
	CHECK_EQ(family.log.n, SB_ARRAY_SIZE(order));
	for (size_t i = 0; i < SB_ARRAY_SIZE(order); i++)
		CHECK_EQ(family.log.who[i], order[i]);
}

static void continue_goes_behind_the_siblings(void **state)
{
	(void)state;
	check_siblings_first(SB_DEQUE_COUNTED);
	check_siblings_first(SB_DEQUE_CHASE_LEV);
}

/* After the parent's second step only they are left: 2, 1, 0, 2, 1, 0, ... The
 * tick makes no difference, for it takes the oldest, too. */
static void check_turns(enum sb_deque_kind deque, uint32_t tick)
{
	struct family family;

	run_family(&family, deque, tick, 12);
	CHECK_EQ(family.log.n, 2 + 3 * 13);
	for (uint32_t i = 5; i < family.log.n; i++)
		CHECK_EQ(family.log.who[i], (family.log.n - 1 - i) % 3);
}

static void those_that_continue_take_turns(void **state)
{
	(void)state;
	check_turns(SB_DEQUE_COUNTED, 1u << 20);
	check_turns(SB_DEQUE_COUNTED, 61);
	check_turns(SB_DEQUE_CHASE_LEV, 1u << 20);
	check_turns(SB_DEQUE_CHASE_LEV, 61);
}

/* A process in a step that lasts until the others of its worker, which
 * continue, have run somewhere else. */
struct stuck {
	struct script script;
	struct script other[3];
	struct script guard; /* holds the second worker until then */
};

static int get_stuck(struct script *script, struct sb_step *step, const struct sb_event *events,
		     uint32_t count)
{
	struct stuck *stuck = sb_container_of(script, struct stuck, script);
	uint64_t seen[3];

	(void)events;
	(void)count;
	if (sb_load_rlx(&script->steps) == 1) {
		for (int i = 0; i < 3; i++)
			CHECK_EQ(sb_step_spawn(step, &scripted, "main",
					       sb_value_ptr(&stuck->other[i]), NULL),
				 0);
		return SB_CONTINUE;
	}
	/* All three wait among those that continue. One more step ends each. */
	for (int i = 0; i < 3; i++) {
		seen[i] = sb_load_acq(&stuck->other[i].steps);
		sb_store_rel(&stuck->other[i].flag, 1);
	}
	sb_store_rel(&stuck->guard.flag, 2);
	for (int i = 0; i < 3; i++)
		await_steps(&stuck->other[i], seen[i] + 1);
	return SB_DONE;
}

static void those_that_continue_can_be_stolen(void **state)
{
	(void)state;
	for (int round = 0; round < SB_SCALE(80); round++) {
		struct fixture f;
		struct stuck stuck = {
			.script = { .f = &f, .step = get_stuck },
			.guard = { .f = &f, .step = hold_until_told },
		};

		for (int i = 0; i < 3; i++)
			stuck.other[i] = (struct script){ .f = &f, .step = endless };
		fixture_defaults(&f);
		f.config.deque = round % 2 ? SB_DEQUE_CHASE_LEV : SB_DEQUE_COUNTED;
		fixture_create(&f, 2);
		CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
		fixture_submit(&f, &scripted, &stuck.guard);
		await_flag(&stuck.guard);
		fixture_submit(&f, &scripted, &stuck.script);
		fixture_wait(&f);
		fixture_end(&f);
	}
}

/* ---- a flood of messages to one process ---- */

enum { FLOOD = 4000, FLOOD_BUDGET = 4, FLOOD_TICK = 8 };

struct flood {
	struct script holder; /* sends the flood when it is told */
	struct script target;
	struct script spawned;
	struct script submitted;
	sb_pid pid;
};

static int drink(struct script *script, struct sb_step *step, const struct sb_event *events,
		 uint32_t count)
{
	(void)step;
	(void)events;
	script->seen += count;
	return script->seen == FLOOD ? SB_DONE : SB_IDLE;
}

/* other: the target's script. */
static int note_the_level(struct script *script, struct sb_step *step,
			  const struct sb_event *events, uint32_t count)
{
	(void)step;
	(void)events;
	(void)count;
	script->seen = ((struct script *)(uintptr_t)script->other)->seen;
	return SB_DONE;
}

static int send_the_flood(struct script *script, struct sb_step *step,
			  const struct sb_event *events, uint32_t count)
{
	struct flood *flood = sb_container_of(script, struct flood, holder);

	hold_until_told(script, step, events, count);
	/* Below the target in the deque. */
	CHECK_EQ(sb_step_spawn(step, &scripted, "main", sb_value_ptr(&flood->spawned), NULL), 0);
	for (uint64_t i = 0; i < FLOOD; i++)
		CHECK_EQ(sb_step_send(step, flood->pid, sb_value_u64(i)), 0);
	return SB_DONE;
}

/* The first in the deque waits for one batch, the first in the global queue for
 * four ticks: each kind of queue comes first on every fourth. */
static void a_flood_keeps_nobody_out(void **state)
{
	struct fixture f;
	struct flood flood = {
		.holder = { .f = &f, .step = send_the_flood },
		.target = { .f = &f, .step = drink },
		.spawned = { .f = &f, .step = note_the_level },
		.submitted = { .f = &f, .step = note_the_level },
	};

	(void)state;
	flood.spawned.other = flood.submitted.other = (uintptr_t)&flood.target;
	fixture_defaults(&f);
	f.config.event_budget = FLOOD_BUDGET;
	f.config.tick = FLOOD_TICK;
	fixture_create(&f, 1);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	flood.pid = fixture_submit(&f, &scripted, &flood.target);
	await_steps(&flood.target, 1);
	fixture_submit(&f, &scripted, &flood.holder);
	await_flag(&flood.holder);
	fixture_submit(&f, &scripted, &flood.submitted);
	sb_store_rel(&flood.holder.flag, 2);
	fixture_wait(&f);
	CHECK_EQ(flood.target.seen, FLOOD);
	assert_uint_in_range(flood.spawned.seen, 0, FLOOD_BUDGET);
	assert_uint_in_range(flood.submitted.seen, 0, (4 * FLOOD_TICK + 1) * FLOOD_BUDGET);
	fixture_end(&f);
}

/* ---- time budgets ---- */

static void spin_for(uint64_t ns)
{
	const uint64_t start = sb_clock_ns();

	while (sb_clock_ns() - start <= ns)
		sb_cpu_pause();
}

enum { BATCH = 64, SLOW_STEPS = 10, STEPS_MAX = 100000 };

struct glutton {
	struct script script;
	uint64_t slow_ns; /* how long each of the first steps takes */
	uint32_t steps;
	uint32_t got[SLOW_STEPS + 1];
	uint32_t before;
	struct script sibling; /* spawned in the first short step */
};

/* Has always more messages than it gets: it sends as many to itself. */
static int eat(struct script *script, struct sb_step *step, const struct sb_event *events,
	       uint32_t count)
{
	struct glutton *glutton = sb_container_of(script, struct glutton, script);
	const uint32_t n = count ? count : 4 * BATCH;

	(void)events;
	for (uint32_t i = 0; i < n; i++)
		CHECK_EQ(sb_step_send(step, step->self, sb_value_u64(i)), 0);
	if (!count)
		return SB_IDLE;
	/* It grows by doubling, if at all. */
	if (glutton->before)
		assert_uint_in_range(count, 1, 2 * glutton->before);
	glutton->before = count;
	if (glutton->steps <= SLOW_STEPS)
		glutton->got[glutton->steps] = count;
	if (glutton->steps++ < SLOW_STEPS) {
		spin_for(glutton->slow_ns);
		return SB_IDLE;
	}
	if (glutton->steps == SLOW_STEPS + 1)
		CHECK_EQ(sb_step_spawn(step, &scripted, "main", sb_value_ptr(&glutton->sibling),
				       NULL),
			 0);
	return count == BATCH ? SB_DONE : SB_IDLE;
}

static int note_the_steps(struct script *script, struct sb_step *step,
			  const struct sb_event *events, uint32_t count)
{
	(void)step;
	(void)events;
	(void)count;
	script->seen = sb_container_of(script, struct glutton, sibling)->steps;
	return SB_DONE;
}

static void feed(struct glutton *glutton, uint64_t event_ns, uint64_t slow_ns)
{
	struct fixture f;

	*glutton = (struct glutton){
		.script = { .f = &f, .step = eat },
		.sibling = { .f = &f, .step = note_the_steps },
		.slow_ns = slow_ns,
	};
	fixture_defaults(&f);
	f.config.event_budget = BATCH;
	f.config.event_ns = event_ns;
	f.config.tick = 1u << 20; /* none comes in between */
	f.config.tick_ns = 0;
	fixture_create(&f, 1);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	fixture_submit(&f, &scripted, &glutton->script);
	fixture_wait(&f);
	fixture_end(&f);
}

/* Long steps: half as many each time, down to one. Then, when they are short
 * again, more, until the glutton gets a whole batch and ends. */
static void long_steps_get_fewer_events(void **state)
{
	static const uint32_t expected[] = { 64, 32, 16, 8, 4, 2, 1, 1, 1, 1, 1 };
	struct glutton glutton;

	(void)state;
	feed(&glutton, 4000000, 4000000);
	for (size_t i = 0; i < SB_ARRAY_SIZE(expected); i++)
		CHECK_EQ(glutton.got[i], expected[i]);
}

/* It got all that it may get at once, and next time it gets more. */
static void a_batch_that_grows_is_a_whole_one(void **state)
{
	struct glutton glutton;

	(void)state;
	feed(&glutton, 4000000, 4000000);
	CHECK_EQ(glutton.sibling.seen, SLOW_STEPS + 1);
}

static void without_a_time_budget_batches_stay(void **state)
{
	struct glutton glutton;

	(void)state;
	feed(&glutton, 0, 1000000);
	for (size_t i = 0; i < SB_ARRAY_SIZE(glutton.got); i++)
		CHECK_EQ(glutton.got[i], BATCH);
}

/* Continues for ever. First its steps are long, until ticks can come no more
 * often; then it waits for a submission and counts the steps until that runs;
 * then its steps are short, until ticks are rare again. */
enum { TICK = 64, TICK_NS = 1000000, TURNS = 4 };

struct slowpoke {
	struct script script;
	struct script victim;
	uint32_t adapted; /* steps with the shortest tick */
	uint64_t submitted_at;
	uint64_t waited;
	bool grown;
};

static int trudge(struct script *script, struct sb_step *step, const struct sb_event *events,
		  uint32_t count)
{
	struct slowpoke *slow = sb_container_of(script, struct slowpoke, script);
	const uint64_t steps = sb_load_rlx(&script->steps);

	(void)events;
	(void)count;
	if (slow->adapted < 3) {
		spin_for(TICK_NS);
		slow->adapted += step->worker->tick.every == 1;
		return SB_CONTINUE;
	}
	if (!slow->submitted_at) {
		hold_until_told(script, step, events, count);
		slow->submitted_at = steps;
	}
	if (!slow->waited) {
		spin_for(TICK_NS);
		if (sb_load_acq(&slow->victim.steps))
			slow->waited = steps - slow->submitted_at;
		return SB_CONTINUE;
	}
	return step->worker->tick.every == TICK ? SB_DONE : SB_CONTINUE;
}

static void long_steps_make_ticks_frequent(void **state)
{
	struct fixture f;
	struct slowpoke slow = {
		.script = { .f = &f, .step = trudge },
		.victim = { .f = &f, .step = done_with_42 },
	};

	(void)state;
	fixture_defaults(&f);
	f.config.tick = TICK;
	f.config.tick_ns = TICK_NS;
	fixture_create(&f, 1);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	fixture_submit(&f, &scripted, &slow.script);
	await_flag(&slow.script);
	fixture_submit(&f, &scripted, &slow.victim);
	sb_store_rel(&slow.script.flag, 2);
	fixture_wait(&f);
	/* A tick after each step, and each fourth looks there first. */
	assert_uint_in_range(slow.waited, 1, TURNS + 1);
	fixture_end(&f);
}

static int trudge_on(struct script *script, struct sb_step *step, const struct sb_event *events,
		     uint32_t count)
{
	(void)events;
	(void)count;
	CHECK_EQ(step->worker->tick.every, 2);
	spin_for(100000);
	return sb_load_rlx(&script->steps) < 100 ? SB_CONTINUE : SB_DONE;
}

static void without_a_time_budget_ticks_stay(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = trudge_on };

	(void)state;
	fixture_defaults(&f);
	f.config.tick = 2;
	f.config.tick_ns = 0;
	fixture_create(&f, 1);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	fixture_submit(&f, &scripted, &script);
	fixture_wait(&f);
	CHECK_EQ(sb_load_rlx(&script.steps), 100);
	CHECK_EQ(sb_load_rlx(&f.last_error), 0);
	fixture_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(continue_goes_behind_the_siblings),
		cmocka_unit_test(those_that_continue_take_turns),
		cmocka_unit_test(those_that_continue_can_be_stolen),
		cmocka_unit_test(a_flood_keeps_nobody_out),
		cmocka_unit_test(long_steps_get_fewer_events),
		cmocka_unit_test(a_batch_that_grows_is_a_whole_one),
		cmocka_unit_test(without_a_time_budget_batches_stay),
		cmocka_unit_test(long_steps_make_ticks_frequent),
		cmocka_unit_test(without_a_time_budget_ticks_stay),
	};

	return cmocka_run_group_tests_name("turns", tests, NULL, NULL);
}
