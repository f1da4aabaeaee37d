/*
 * Monitors and links: who is told of an end, and who ends with it.
 *
 * Property: every monitor that was set gives one exit event, or was taken back
 *   in time; a link ends the other side if and only if one side has failed; the
 *   two sides of a relation agree, whatever runs at the same time.
 * Method: small groups for each rule; then watchers and linkers that add and
 *   remove relations while their targets end on other workers, with exact
 *   counting. The pools' balance, checked at each destroy, finds entries that
 *   were left behind.
 * Bound: 8 workers, 24 watchers, chains and rings of 40.
 */
#include "tests/sequence.h"

/* ---- exit events ---- */

/* A target ends in the given way while two watch it; how, they must agree. */
static void check_exit(struct sequence *target, uint64_t message, bool terminate, int error,
		       uint64_t result)
{
	struct fixture f;
	struct sequence watcher[2] = { { .stays = true }, { .stays = true } };
	sb_pid pid;

	target->stays = true;
	fixture_start(&f, 2);
	pid = sequence_submit(&f, target);
	sequence_await(target);
	for (int i = 0; i < 2; i++) {
		sequence_add_u64(&watcher[i], SB_COMMAND_MONITOR, pid);
		sequence_submit(&f, &watcher[i]);
		sequence_await(&watcher[i]);
		CHECK_EQ(watcher[i].failure[0], 0);
		CHECK_EQ(watcher[i].events, 0);
	}
	if (terminate)
		CHECK_EQ(sb_scheduler_terminate(f.s, pid), 0);
	else
		CHECK_EQ(sb_scheduler_send(f.s, pid, sb_value_u64(message)), 0);
	for (int i = 0; i < 2; i++) {
		sequence_await_events(&watcher[i], 1);
		CHECK_EQ(watcher[i].event[0].type, SB_EVENT_EXIT);
		CHECK_EQ(watcher[i].event[0].tag, pid);
		CHECK_EQ(watcher[i].event[0].error, error);
		CHECK_EQ(watcher[i].event[0].data.u64, result);
	}
	fixture_end(&f);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(watcher[i].events, 2); /* that, and the cancel event */
}

static void an_exit_event_says_how(void **state)
{
	struct sequence done = { .gives = 4711 };
	struct sequence failed = { .gives = 4712 };
	struct sequence terminated = { .gives = 4713 };

	(void)state;
	check_exit(&done, 0, false, 0, 4711);
	check_exit(&failed, EIO, false, -EIO, 4712);
	check_exit(&terminated, 0, true, -ECANCELED, 0);
}

/* It comes to a process that waits for something else, too. */
static void an_exit_event_wakes_the_blocked(void **state)
{
	struct fixture f;
	struct sequence target = { .stays = true };
	struct sequence watcher = { .length = 0 };
	sb_pid pid;

	(void)state;
	fixture_start(&f, 2);
	pid = sequence_submit(&f, &target);
	sequence_add_u64(&watcher, SB_COMMAND_MONITOR, pid);
	sequence_add_u64(&watcher, SB_COMMAND_SLEEP, UINT64_MAX);
	sequence_submit(&f, &watcher);
	while (fixture_counter(&f, SB_COUNTER_timers_started) == 0)
		sb_thread_yield();
	CHECK_EQ(sb_scheduler_send(f.s, pid, sb_value_u64(0)), 0);
	sequence_await_events(&watcher, 1);
	CHECK_EQ(watcher.event[0].type, SB_EVENT_EXIT);
	CHECK_EQ(watcher.completions, 1);
	/* It waits for its sleep, cancelled or not, so by force. */
	CHECK_EQ(sb_scheduler_stop(f.s, 1), -ETIMEDOUT);
	sb_scheduler_destroy(f.s);
}

static void what_was_taken_back_does_not_come(void **state)
{
	struct fixture f;
	struct sequence target = { .stays = true };
	struct sequence watcher = { .stays = true };
	sb_pid pid;

	(void)state;
	fixture_start(&f, 2);
	pid = sequence_submit(&f, &target);
	sequence_add_u64(&watcher, SB_COMMAND_MONITOR, pid);
	sequence_add_u64(&watcher, SB_COMMAND_UNMONITOR, pid);
	sequence_submit(&f, &watcher);
	sequence_await(&watcher);
	CHECK_EQ(watcher.failure[1], 0);
	CHECK_EQ(sb_scheduler_send(f.s, pid, sb_value_u64(EIO)), 0);
	fixture_end(&f);
	CHECK_EQ(watcher.events, 1);
	CHECK_EQ(watcher.event[0].type, SB_EVENT_CANCEL);
}

/* It is too late to take back a monitor whose event is there. */
static void what_has_come_cannot_be_taken_back(void **state)
{
	struct fixture f;
	struct sequence target = { .stays = true };
	struct sequence watcher = { .stays = true };
	sb_pid pid;

	(void)state;
	fixture_start(&f, 2);
	pid = sequence_submit(&f, &target);
	sequence_add_u64(&watcher, SB_COMMAND_MONITOR, pid);
	sequence_submit(&f, &watcher);
	sequence_await(&watcher);
	sequence_add_u64(&watcher, SB_COMMAND_UNMONITOR, pid);
	CHECK_EQ(sb_scheduler_send(f.s, pid, sb_value_u64(0)), 0);
	sequence_await_events(&watcher, 1);
	fixture_end(&f);
	/* The exit event woke it, and it went on with its next command. */
	CHECK_EQ(watcher.failure[1], -ENOENT);
	CHECK_EQ(watcher.event[0].type, SB_EVENT_EXIT);
}

/* ---- groups that are ended by force, and those that die first ---- */

enum { GROUP = 40 };

/* Each does `command` on each of the next `reach` of its group. */
struct group {
	struct fixture f;
	struct sequence member[GROUP];
	sb_pid pid[GROUP];
};

static void group_start(struct group *g, uint32_t workers)
{
	fixture_start(&g->f, workers);
	for (int i = 0; i < GROUP; i++) {
		g->member[i] = (struct sequence){ .stays = true };
		g->member[i].after_cancel = true;
		g->member[i].stubborn = true;
		g->pid[i] = sequence_submit(&g->f, &g->member[i]);
	}
	for (int i = 0; i < GROUP; i++)
		sequence_await(&g->member[i]);
}

static void group_add(struct group *g, int i, uint32_t command, int peer)
{
	sequence_add_u64(&g->member[i], command, g->pid[(peer + GROUP) % GROUP]);
}

/* All of their commands, which all succeed. */
static void group_relate(struct group *g)
{
	for (int i = 0; i < GROUP; i++)
		sb_store_rlx(&g->member[i].script.flag, 0);
	for (int i = 0; i < GROUP; i++)
		CHECK_EQ(sb_scheduler_cancel(g->f.s, g->pid[i]), 0);
	for (int i = 0; i < GROUP; i++) {
		sequence_await(&g->member[i]);
		for (uint32_t n = 0; n < g->member[i].length; n++)
			CHECK_EQ(g->member[i].failure[n], 0);
	}
}

/* Everybody watches and is linked with several others; all are ended by force,
 * in whatever order. */
static void force_ends_the_related(void **state)
{
	static struct group g;

	(void)state;
	for (int round = 0; round < SB_SCALE(24); round++) {
		group_start(&g, 2);
		for (int i = 0; i < GROUP; i++) {
			group_add(&g, i, SB_COMMAND_MONITOR, i + 1);
			group_add(&g, i, SB_COMMAND_MONITOR, i - 1);
			group_add(&g, i, SB_COMMAND_LINK, i + 2);
		}
		group_relate(&g);
		CHECK_EQ(sb_scheduler_stop(g.f.s, 0), -ETIMEDOUT);
		CHECK_EQ(sb_load_rlx(&g.f.completed), GROUP);
		CHECK_EQ(sb_load_rlx(&g.f.closed), GROUP);
		CHECK_EQ(sb_load_rlx(&g.f.last_error), -ECANCELED);
		sb_scheduler_destroy(g.f.s);
	}
}

/* A's monitor of B, and B's of A: the first end is told, the second finds
 * nobody. */
static void mutual_monitors(void **state)
{
	static struct group g;

	(void)state;
	group_start(&g, 2);
	for (int i = 0; i < GROUP; i++)
		group_add(&g, i, SB_COMMAND_MONITOR, i ^ 1);
	group_relate(&g);
	for (int i = 0; i < GROUP; i += 2) {
		const struct sequence *other = &g.member[i + 1];

		CHECK_EQ(sb_scheduler_send(g.f.s, g.pid[i], sb_value_u64(EIO)), 0);
		sequence_await_events(&g.member[i + 1], 2);
		CHECK_EQ(other->event[1].type, SB_EVENT_EXIT);
		CHECK_EQ(other->event[1].tag, g.pid[i]);
		CHECK_EQ(other->event[1].error, -EIO);
		CHECK_EQ(sb_scheduler_send(g.f.s, g.pid[i + 1], sb_value_u64(0)), 0);
	}
	fixture_wait(&g.f);
	for (int i = 0; i < GROUP; i += 2) /* cancel, and its own end */
		CHECK_EQ(g.member[i].events, 2);
	fixture_end(&g.f);
}

/* The watchers end first; then those they watched, with nobody to tell. */
static void watchers_may_end_first(void **state)
{
	static struct group g;

	(void)state;
	group_start(&g, 3);
	for (int i = 1; i < GROUP; i++) {
		group_add(&g, i, SB_COMMAND_MONITOR, 0);
		group_add(&g, i, SB_COMMAND_LINK, 0);
	}
	group_relate(&g);
	for (int i = 1; i < GROUP; i++)
		CHECK_EQ(sb_scheduler_send(g.f.s, g.pid[i], sb_value_u64(0)), 0);
	while (sb_load_rlx(&g.f.completed) < GROUP - 1)
		sb_thread_yield();
	CHECK_EQ(g.member[0].events, 1);
	CHECK_EQ(sb_scheduler_send(g.f.s, g.pid[0], sb_value_u64(EIO)), 0);
	fixture_wait(&g.f);
	fixture_end(&g.f);
}

/* ---- links in chains and rings ---- */

/* links: GROUP makes a ring, GROUP - 1 a chain. */
static void link_group(struct group *g, int links)
{
	group_start(g, 3);
	for (int i = 0; i < links; i++)
		group_add(g, i, SB_COMMAND_LINK, i + 1);
	group_relate(g);
}

static void check_links(int links)
{
	static struct group g;
	struct sb_rng rng;

	sb_rng_seed(&rng, sb_test_seed());
	for (int round = 0; round < SB_SCALE(24); round++) {
		const uint32_t first = sb_rng_below(&rng, GROUP);

		/* One fails: all end, the others without another step. */
		link_group(&g, links);
		CHECK_EQ(sb_scheduler_send(g.f.s, g.pid[first], sb_value_u64(EIO)), 0);
		fixture_wait(&g.f);
		for (uint32_t i = 0; i < GROUP; i++)
			CHECK_EQ(g.member[i].events, i == first ? 2 : 1);
		fixture_end(&g.f);
		/* One is done: nobody else ends, and its links end with it. */
		link_group(&g, links);
		CHECK_EQ(sb_scheduler_send(g.f.s, g.pid[first], sb_value_u64(0)), 0);
		while (sb_load_rlx(&g.f.completed) < 1)
			sb_thread_yield();
		for (uint32_t i = 0; i < GROUP; i++)
			CHECK_EQ(sb_scheduler_send(g.f.s, g.pid[i], sb_value_u64(SEQUENCE_HELLO)),
				 i == first ? -ESRCH : 0);
		for (uint32_t i = 0; i < GROUP; i++) {
			if (i != first)
				sequence_await_events(&g.member[i], 2);
		}
		CHECK_EQ(sb_load_rlx(&g.f.completed), 1);
		/* To be terminated is a failure, and a ring with a gap is still
		 * a chain; of a chain there are two pieces. */
		CHECK_EQ(sb_scheduler_terminate(g.f.s, g.pid[(first + 1) % GROUP]), 0);
		if (links < GROUP && first)
			(void)sb_scheduler_terminate(g.f.s, g.pid[first - 1]);
		fixture_wait(&g.f);
		fixture_end(&g.f);
	}
}

static void failure_runs_along_a_chain(void **state)
{
	(void)state;
	check_links(GROUP - 1);
}

static void failure_runs_round_a_ring(void **state)
{
	(void)state;
	check_links(GROUP);
}

/* Pairs; one of each undoes it, and the other side's failure is its own. */
static void an_undone_link_does_nothing(void **state)
{
	static struct group g;

	(void)state;
	group_start(&g, 3);
	for (int i = 0; i < GROUP; i += 2) {
		group_add(&g, i, SB_COMMAND_LINK, i + 1);
		group_add(&g, i, SB_COMMAND_UNLINK, i + 1);
	}
	group_relate(&g);
	for (int i = 0; i < GROUP; i++) {
		const int failing = i % 4 == 0 || i % 4 == 3;

		if (failing)
			CHECK_EQ(sb_scheduler_send(g.f.s, g.pid[i], sb_value_u64(EIO)), 0);
	}
	while (sb_load_rlx(&g.f.completed) < GROUP / 2)
		sb_thread_yield();
	for (int i = 0; i < GROUP; i++) {
		if (i % 4 == 1 || i % 4 == 2)
			CHECK_EQ(sb_scheduler_send(g.f.s, g.pid[i], sb_value_u64(0)), 0);
	}
	fixture_wait(&g.f);
	for (int i = 0; i < GROUP; i++) /* each has seen the message */
		CHECK_EQ(g.member[i].events, 2);
	fixture_end(&g.f);
}

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

static int target_init(void *state, const char *method, union sb_value input)
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

static void start_target(struct target *t, struct sb_step *step)
{
	struct target_input in = { t->arena, t->slot, t->successors - 1, sb_rng_next(&t->rng) };
	sb_pid pid;

	CHECK_EQ(sb_step_spawn(step, &target_ops, "main", sb_value_ptr(&in), &pid), 0);
	sb_store_rel(&t->arena->current[t->slot], pid);
}

static int target_step(void *state, struct sb_step *step, const struct sb_event *events,
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

static void count_cancelled(void *hook, const struct sb_exit *exit)
{
	struct arena *a = hook;

	if (exit->error == -ECANCELED)
		sb_add_rlx(&a->cancelled, 1);
}

static int start_nobody_refused(void *hook, sb_pid pid)
{
	(void)hook;
	(void)pid;
	return 0;
}

static void arena_start(struct arena *a, uint32_t workers, uint32_t successors)
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

static sb_pid arena_pick(struct arena *a, uint32_t slot)
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

static int watcher_init(void *state, const char *method, union sb_value input)
{
	struct arena *arena = input.ptr;
	struct watcher *w = state;

	w->arena = arena;
	w->left = arena->operations;
	w->doomed = strcmp(method, "doomed") == 0;
	sb_rng_seed(&w->rng, sb_test_seed() ^ (uintptr_t)state);
	if (w->doomed)
		w->left = (int)sb_rng_below(&w->rng, (uint32_t)arena->operations);
	return 0;
}

static int watch_of(const struct watcher *w, sb_pid pid)
{
	for (int i = 0; i < WATCHES; i++) {
		if (w->watch[i].state != FREE && w->watch[i].pid == pid)
			return i;
	}
	return -1;
}

static void watcher_exit(struct watcher *w, const struct sb_event *e)
{
	const int i = watch_of(w, e->tag);

	assert_in_range(i, 0, WATCHES - 1); /* else nobody asked for it */
	if (e->error)
		CHECK_EQ(e->error, -EIO);
	else
		CHECK_EQ(e->data.u64, e->tag);
	w->exits++;
	switch (w->watch[i].state) {
	case WATCHED:
	case OWED:
		w->watch[i].state = FREE;
		break;
	case REMOVING:
		w->watch[i].state = REMOVING_TOLD;
		break;
	case DOUBLING:
		w->watch[i].state = DOUBLING_TOLD;
		break;
	default:
		fail();
	}
}

/* What the command that the watch waits for has said. */
static void watcher_completion(struct watcher *w, const struct sb_event *e)
{
	enum watch *watch = &w->watch[e->tag].state;

	switch (*watch) {
	case ADDING:
		if (e->error)
			CHECK_EQ(e->error, -ESRCH);
		w->added += !e->error;
		*watch = e->error ? FREE : WATCHED;
		break;
	case DOUBLING:
	case DOUBLING_TOLD:
		if (e->error != -ESRCH)
			CHECK_EQ(e->error, -EEXIST);
		*watch = *watch == DOUBLING ? WATCHED : FREE;
		break;
	case REMOVING:
		if (e->error)
			CHECK_EQ(e->error, -ENOENT);
		w->removed += !e->error;
		*watch = e->error ? OWED : FREE;
		break;
	case REMOVING_TOLD:
		CHECK_EQ(e->error, -ENOENT);
		*watch = FREE;
		break;
	default:
		fail();
	}
}

static void watcher_yield(struct watcher *w, struct sb_step *step, int i, uint32_t command,
			  enum watch state)
{
	w->watch[i].state = state;
	CHECK_EQ(sb_step_yield(step, command, sb_value_u64(w->watch[i].pid), (uint64_t)i), 0);
}

/* One operation on one of its watches, if there is one for it to do. */
static void watcher_act(struct watcher *w, struct sb_step *step, int i)
{
	const sb_pid pid = arena_pick(w->arena, sb_rng_below(&w->rng, SLOTS));

	if (w->watch[i].state == FREE && watch_of(w, pid) < 0) {
		w->watch[i].pid = pid;
		watcher_yield(w, step, i, SB_COMMAND_MONITOR, ADDING);
	} else if (w->watch[i].state == WATCHED) {
		if (sb_rng_below(&w->rng, 4) == 0)
			watcher_yield(w, step, i, SB_COMMAND_MONITOR, DOUBLING);
		else
			watcher_yield(w, step, i, SB_COMMAND_UNMONITOR, REMOVING);
	}
}

static bool watcher_is_over(const struct watcher *w)
{
	for (int i = 0; i < WATCHES; i++) {
		if (w->watch[i].state != FREE)
			return false;
	}
	return true;
}

static int watcher_end(const struct watcher *w)
{
	if (w->doomed)
		return -EINTR;
	if (!watcher_is_over(w))
		return SB_IDLE;
	sb_add_rlx(&w->arena->added, w->added);
	sb_add_rlx(&w->arena->removed, w->removed);
	sb_add_rlx(&w->arena->exits, w->exits);
	return SB_DONE;
}

static int watcher_step(void *state, struct sb_step *step, const struct sb_event *events,
			uint32_t count)
{
	struct watcher *w = state;

	for (uint32_t i = 0; i < count; i++) {
		if (events[i].type == SB_EVENT_EXIT)
			watcher_exit(w, &events[i]);
		else
			watcher_completion(w, &events[i]);
	}
	if (w->left <= 0)
		return watcher_end(w);
	w->left--;
	for (uint32_t n = 1 + sb_rng_below(&w->rng, 3); n; n--)
		watcher_act(w, step, (int)sb_rng_below(&w->rng, WATCHES));
	return SB_CONTINUE;
}

static const struct sb_process_ops watcher_ops = {
	.name = "watcher",
	.state_bytes = sizeof(struct watcher),
	.init = watcher_init,
	.step = watcher_step,
};

static void submit_many(struct arena *a, const struct sb_process_ops *ops, const char *method,
			uint32_t n)
{
	while (n--)
		CHECK_EQ(sb_scheduler_submit(a->f.s, ops, method, sb_value_ptr(a), NULL), 0);
}

static void arena_run(struct arena *a, uint32_t successors)
{
	CHECK_EQ(sb_scheduler_start(a->f.s, NULL), 0);
	fixture_wait(&a->f);
	CHECK_EQ(sb_scheduler_stop(a->f.s, FIXTURE_TIMEOUT_NS), 0);
	sb_scheduler_destroy(a->f.s);
	CHECK_EQ(sb_load_rlx(&a->targets_ended), SLOTS * (1 + successors));
}

static void every_monitor_is_answered(void **state)
{
	static struct arena a;
	const uint32_t successors = SB_SCALE(4000);

	(void)state;
	for (uint32_t workers = 4; workers <= 8; workers += 4) {
		arena_start(&a, workers, successors);
		a.operations = SB_SCALE(4000);
		submit_many(&a, &watcher_ops, "main", 16);
		submit_many(&a, &watcher_ops, "doomed", 8);
		arena_run(&a, successors);
		CHECK_EQ(sb_load_rlx(&a.added), sb_load_rlx(&a.removed) + sb_load_rlx(&a.exits));
		assert_in_range(sb_load_rlx(&a.added), 1, UINT64_MAX);
		CHECK_EQ(sb_load_rlx(&a.cancelled), 0);
	}
}

/* ---- linkers ---- */

enum linker_stage { NEW, LINKING, UNLINKING, SAFE, LOST };

/* Links itself with a target, and may undo that in time, or not. */
struct linker {
	struct arena *arena;
	enum linker_stage stage;
	uint32_t slot;
	sb_pid pid;
	uint32_t rest; /* steps, when it is safe */
	struct sb_rng rng;
};

static int linker_init(void *state, const char *method, union sb_value input)
{
	struct linker *l = state;

	(void)method;
	l->arena = input.ptr;
	sb_rng_seed(&l->rng,
		    sb_test_seed() ^ (uintptr_t)state ^ sb_load_rlx(&l->arena->safe) << 20);
	l->slot = sb_rng_below(&l->rng, SLOTS);
	return 0;
}

/* It must not be ended by its link, from now on. */
static int linker_safe(struct linker *l)
{
	l->stage = SAFE;
	l->rest = sb_rng_below(&l->rng, 8);
	sb_add_rlx(&l->arena->safe, 1);
	return SB_CONTINUE;
}

static int linker_linked(struct linker *l, struct sb_step *step, int error)
{
	const bool fails = l->slot % 2;

	if (error) {
		CHECK_EQ(error, -ESRCH);
		return linker_safe(l);
	}
	if (sb_rng_below(&l->rng, 4)) {
		l->stage = UNLINKING;
		CHECK_EQ(sb_step_yield(step, SB_COMMAND_UNLINK, sb_value_u64(l->pid), 0), 0);
		return SB_YIELD;
	}
	if (!fails)
		return linker_safe(l);
	l->stage = LOST;
	return SB_IDLE;
}

/* -ENOENT: too late. If the target has failed, so does this one. */
static int linker_unlinked(struct linker *l, int error)
{
	if (error)
		CHECK_EQ(error, -ENOENT);
	if (!error || l->slot % 2 == 0)
		return linker_safe(l);
	l->stage = LOST;
	return SB_IDLE;
}

static int linker_step(void *state, struct sb_step *step, const struct sb_event *events,
		       uint32_t count)
{
	struct linker *l = state;

	switch (l->stage) {
	case NEW:
		l->pid = arena_pick(l->arena, l->slot);
		l->stage = LINKING;
		CHECK_EQ(sb_step_yield(step, SB_COMMAND_LINK, sb_value_u64(l->pid), 0), 0);
		return SB_YIELD;
	case LINKING:
		CHECK_EQ(count, 1);
		return linker_linked(l, step, events[0].error);
	case UNLINKING:
		CHECK_EQ(count, 1);
		return linker_unlinked(l, events[0].error);
	case SAFE:
		if (l->rest--)
			return SB_CONTINUE;
		sb_add_rlx(&l->arena->finished, 1);
		return SB_DONE;
	case LOST:
		break;
	}
	fail(); /* it is not to be stepped again */
	return -EINVAL;
}

static const struct sb_process_ops linker_ops = {
	.name = "linker",
	.state_bytes = sizeof(struct linker),
	.init = linker_init,
	.step = linker_step,
};

/* Starts linkers until the targets are through. */
static int spawn_linkers(struct script *script, struct sb_step *step, const struct sb_event *events,
			 uint32_t count)
{
	struct arena *a = (void *)(uintptr_t)script->other;

	(void)events;
	(void)count;
	if (!script->seen)
		return SB_DONE;
	for (int i = 0; i < 4 && script->seen; i++, script->seen--)
		CHECK_EQ(sb_step_spawn(step, &linker_ops, "main", sb_value_ptr(a), NULL), 0);
	return SB_CONTINUE;
}

static void every_link_does_its_work(void **state)
{
	static struct arena a;
	const uint32_t successors = SB_SCALE(4000);
	const uint32_t linkers = SB_SCALE(40000);

	(void)state;
	for (uint32_t workers = 4; workers <= 8; workers += 4) {
		struct script spawner = {
			.f = &a.f, .step = spawn_linkers, .other = (uintptr_t)&a, .seen = linkers
		};

		arena_start(&a, workers, successors);
		fixture_submit(&a.f, &scripted, &spawner);
		arena_run(&a, successors);
		CHECK_EQ(sb_load_rlx(&a.finished), sb_load_rlx(&a.safe));
		CHECK_EQ(sb_load_rlx(&a.finished) + sb_load_rlx(&a.cancelled), linkers);
	}
}

/* ---- two that link each other at the same time ---- */

struct pair;

struct partner {
	struct script script;
	struct pair *pair;
	uint32_t side;
	uint32_t stage;
	uint32_t kind;	 /* of this round */
	uint32_t passed; /* barriers */
	uint32_t results;
	int result[3];
	int check; /* of the unlink at the end of a round */
	struct sb_rng rng;
};

struct pair {
	struct partner partner[2];
	_Atomic(sb_pid) pid[2];
	_Atomic(uint32_t) arrived;
	uint32_t rounds;
	uint32_t one_sided; /* rounds that went wrong */
	uint32_t unlinked;
};

static void barrier(struct partner *me)
{
	sb_add_acq_rel(&me->pair->arrived, 1);
	me->passed++;
	for (uint32_t spins = 1; sb_load_acq(&me->pair->arrived) < 2 * me->passed; spins++) {
		if (spins % 512)
			sb_cpu_pause();
		else
			sb_thread_yield();
	}
}

static int partner_yield(struct partner *me, struct sb_step *step, uint32_t command)
{
	const sb_pid peer = sb_load_acq(&me->pair->pid[1 - me->side]);

	CHECK_EQ(sb_step_yield(step, command, sb_value_u64(peer), 0), 0);
	return SB_YIELD;
}

/* Kind 0: both link, and nothing else. Else whatever comes. */
static int partner_act(struct partner *me, struct sb_step *step)
{
	if (me->kind == 0)
		return partner_yield(me, step, SB_COMMAND_LINK);
	for (uint32_t n = 1 + sb_rng_below(&me->rng, 3); n; n--)
		partner_yield(me, step,
			      sb_rng_below(&me->rng, 2) ? SB_COMMAND_LINK : SB_COMMAND_UNLINK);
	return SB_YIELD;
}

/*
 * After a round both have undone the link, one after the other: the first for
 * both, so there is none for the second. If both had linked and done nothing
 * else, there was a link to be undone, and one of the two had made it.
 */
static void judge_round(struct pair *pair)
{
	const struct partner *a = &pair->partner[0];
	const struct partner *b = &pair->partner[1];

	pair->one_sided += b->check != -ENOENT;
	if (a->kind == 0)
		pair->unlinked += a->check || (a->result[0] && b->result[0]);
}

static int partner_check(struct partner *me, struct sb_step *step)
{
	barrier(me); /* both have done what they would */
	if (me->side == 1)
		barrier(me); /* the other has undone it */
	return partner_yield(me, step, SB_COMMAND_UNLINK);
}

static void partner_round_ends(struct partner *me)
{
	struct pair *pair = me->pair;

	if (me->side == 0)
		barrier(me);
	barrier(me); /* both have undone it */
	if (me->side == 0)
		judge_round(pair);
	me->kind = me->passed / 4 % 2;
}

static int partner_step(struct script *script, struct sb_step *step, const struct sb_event *events,
			uint32_t count)
{
	struct partner *me = sb_container_of(script, struct partner, script);

	switch (me->stage++ % 3) {
	case 0:
		sb_store_rel(&me->pair->pid[me->side], step->self);
		barrier(me);
		return partner_act(me, step);
	case 1:
		for (uint32_t i = 0; i < count; i++)
			me->result[i] = events[i].error;
		return partner_check(me, step);
	default:
		CHECK_EQ(count, 1);
		me->check = events[0].error;
		partner_round_ends(me);
		return me->passed < 4 * me->pair->rounds ? SB_CONTINUE : SB_DONE;
	}
}

static void both_sides_of_a_link_agree(void **state)
{
	static struct pair pair;
	struct fixture f;

	(void)state;
	memset(&pair, 0, sizeof(pair));
	pair.rounds = SB_SCALE(8000);
	fixture_defaults(&f);
	fixture_create(&f, 2);
	for (uint32_t i = 0; i < 2; i++) {
		pair.partner[i] =
			(struct partner){ .script = { .f = &f }, .pair = &pair, .side = i };
		pair.partner[i].script.step = partner_step;
		sb_rng_seed(&pair.partner[i].rng, sb_test_seed() + i);
		fixture_submit(&f, &scripted, &pair.partner[i].script);
	}
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	fixture_wait(&f);
	CHECK_EQ(pair.one_sided, 0);
	CHECK_EQ(pair.unlinked, 0);
	fixture_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_exit_event_says_how),
		cmocka_unit_test(an_exit_event_wakes_the_blocked),
		cmocka_unit_test(what_was_taken_back_does_not_come),
		cmocka_unit_test(what_has_come_cannot_be_taken_back),
		cmocka_unit_test(force_ends_the_related),
		cmocka_unit_test(mutual_monitors),
		cmocka_unit_test(watchers_may_end_first),
		cmocka_unit_test(failure_runs_along_a_chain),
		cmocka_unit_test(failure_runs_round_a_ring),
		cmocka_unit_test(an_undone_link_does_nothing),
		cmocka_unit_test(every_monitor_is_answered),
		cmocka_unit_test(every_link_does_its_work),
		cmocka_unit_test(both_sides_of_a_link_agree),
	};

	return cmocka_run_group_tests_name("relations", tests, NULL, NULL);
}
