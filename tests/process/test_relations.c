/*
 * Monitors and links: who is told of an end, and who ends with it.
 *
 * Property: every monitor that was set gives one exit event, or was taken back
 *   in time; a link ends the other side if and only if one side has failed.
 * Method: small groups for each rule.
 * Bound: chains and rings of 40.
 */
#include "tests/process/relations.h"

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
	};

	return cmocka_run_group_tests_name("relations", tests, NULL, NULL);
}
