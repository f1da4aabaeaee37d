/*
 * Under which PID a process comes to be.
 *
 * Property: a chosen PID names one process, and later another one.
 * Method: threads that race for the same PIDs.
 * Bound: two threads, 2000 PIDs.
 */
#include "core/state.h"
#include "tests/script.h"

enum { MANY = 100 };

#define PIDS SB_SCALE(2000u)

/* ---- chosen PIDs ---- */

static int submit_as(struct fixture *f, sb_pid pid, struct script *script)
{
	return sb_scheduler_submit_as(f->s, pid, &scripted, "main", sb_value_ptr(script));
}

/* Of several processes, so it leaves the script alone. */
static int ends_at_a_message(struct script *script, struct sb_step *step,
			     const struct sb_event *events, uint32_t count)
{
	(void)script;
	(void)step;
	(void)events;
	return count ? SB_DONE : SB_IDLE;
}

static void a_chosen_pid_is_used_once(void **state)
{
	static const sb_pid good[] = { SB_PID_CHOSEN, SB_PID_CHOSEN + 12345, UINT64_MAX };
	static const sb_pid bad[] = { 0, 1, SB_PID_CHOSEN - 1 };
	struct fixture f;
	struct script script = { .f = &f, .step = ends_at_a_message };

	(void)state;
	fixture_start(&f, 2);
	for (size_t i = 0; i < SB_ARRAY_SIZE(bad); i++)
		CHECK_EQ(submit_as(&f, bad[i], &script), -EINVAL);
	CHECK_EQ(sb_load_rlx(&f.closed), 0); /* init was not called */
	for (size_t i = 0; i < SB_ARRAY_SIZE(good); i++) {
		CHECK_EQ(submit_as(&f, good[i], &script), 0);
		CHECK_EQ(submit_as(&f, good[i], &script), -EEXIST);
		CHECK_EQ(sb_scheduler_send(f.s, good[i], sb_value_u64(i)), 0);
	}
	fixture_wait(&f);
	CHECK_EQ(sb_load_rlx(&f.started), 3);
	CHECK_EQ(sb_load_rlx(&f.completed), 3);
	CHECK_EQ(sb_load_rlx(&f.closed), 3); /* nor was it for the others */
	/* They are dead, and keep their names; a restart changes nothing. */
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < SB_ARRAY_SIZE(good); i++) {
			CHECK_EQ(sb_scheduler_send(f.s, good[i], sb_value_u64(1)), -ESRCH);
			CHECK_EQ(submit_as(&f, good[i], &script), -EEXIST);
		}
		CHECK_EQ(sb_scheduler_stop(f.s, FIXTURE_TIMEOUT_NS), 0);
		CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	}
	fixture_end(&f);
}

/* Leaves its completer to the test, and waits. */
static int leave_completer(struct script *script, struct sb_step *step,
			   const struct sb_event *events, uint32_t count)
{
	(void)events;
	if (count)
		return SB_DONE;
	CHECK_EQ(sb_step_yield(step, KEEPS, sb_value_ptr(script), 3), 0);
	return SB_YIELD;
}

/* After a while, and what was meant for the first process never reaches another. */
static void a_chosen_pid_can_be_used_again(void **state)
{
	const sb_pid pid = SB_PID_CHOSEN + 5;
	struct fixture f;
	struct script first = { .f = &f, .step = leave_completer };
	struct script second = { .f = &f, .step = wait_for_message };
	int rc;

	(void)state;
	fixture_defaults(&f);
	f.config.pid_reuse_ns = 1000000;
	fixture_create(&f, 1);
	CHECK_EQ(sb_scheduler_register(f.s, KEEPS, keeps, NULL), 0);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	CHECK_EQ(submit_as(&f, pid, &first), 0);
	await_flag(&first);
	CHECK_EQ(sb_scheduler_send(f.s, pid, sb_value_u64(1)), 0);
	fixture_wait(&f);
	while ((rc = submit_as(&f, pid, &second)) == -EEXIST)
		sb_thread_yield();
	CHECK_EQ(rc, 0);
	CHECK_EQ(sb_complete(&first.later, sb_value_u64(2), 0), -ESRCH);
	CHECK_EQ(sb_scheduler_send(f.s, pid, sb_value_u64(4)), 0);
	fixture_wait(&f);
	CHECK_EQ(second.seen, 4);
	fixture_end(&f);
}

static int until_flagged(struct script *script, struct sb_step *step, const struct sb_event *events,
			 uint32_t count)
{
	(void)step;
	(void)events;
	(void)count;
	return flag_set(script) ? SB_DONE : SB_CONTINUE;
}

/* Also if few processes end, and its worker never runs out of work. */
static void a_busy_worker_frees_chosen_pids(void **state)
{
	const sb_pid pid = SB_PID_CHOSEN + 5;
	struct fixture f;
	struct script busy = { .f = &f, .step = until_flagged };
	struct script script = { .f = &f, .step = done_with_42 };
	int rc;

	(void)state;
	fixture_defaults(&f);
	f.config.pid_reuse_ns = 0;
	fixture_create(&f, 1);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	fixture_submit(&f, &scripted, &busy);
	CHECK_EQ(submit_as(&f, pid, &script), 0);
	while ((rc = submit_as(&f, pid, &script)) == -EEXIST)
		sb_thread_yield();
	CHECK_EQ(rc, 0);
	sb_store_rel(&busy.flag, 1);
	fixture_wait(&f);
	fixture_end(&f);
}

static void a_refused_pid_is_free_again(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = done_with_42 };

	(void)state;
	fixture_start(&f, 2);
	for (sb_pid pid = SB_PID_CHOSEN; pid < SB_PID_CHOSEN + MANY; pid++) {
		CHECK_EQ(
			sb_scheduler_submit_as(f.s, pid, &scripted, "other", sb_value_ptr(&script)),
			-ENOTSUP);
		sb_store_rlx(&f.refuse, -EPERM);
		CHECK_EQ(submit_as(&f, pid, &script), -EPERM);
		CHECK_EQ(submit_as(&f, pid, &script), -EPERM);
		sb_store_rlx(&f.refuse, 0);
		CHECK_EQ(submit_as(&f, pid, &script), 0);
		CHECK_EQ(submit_as(&f, pid, &script), -EEXIST);
	}
	fixture_wait(&f);
	CHECK_EQ(sb_load_rlx(&f.completed), MANY);
	CHECK_EQ(sb_load_rlx(&f.closed), 4 * MANY); /* once for each init */
	fixture_end(&f);
}

static void what_does_not_come_to_be_leaves_no_block(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = done_with_42 };

	(void)state;
	fixture_start(&f, 1);
	for (uint32_t i = 0; i < 10 * SB_PID_BLOCK; i++)
		CHECK_EQ(sb_scheduler_submit(f.s, &scripted, "other", sb_value_ptr(&script), NULL),
			 -ENOTSUP);
	assert_true(sb_pidmap_blocks(f.s->pidmap) <= 1);
	fixture_end(&f);
}

struct rivals {
	struct fixture f;
	struct script script;
	_Atomic(uint32_t) arrived; /* at a PID, both together */
	_Atomic(uint32_t) won;
};

static void *claim_all(void *arg)
{
	struct rivals *rivals = arg;

	for (uint32_t i = 0; i < PIDS; i++) {
		int rc;

		sb_add_acq_rel(&rivals->arrived, 1);
		while (sb_load_acq(&rivals->arrived) < 2 * (i + 1))
			sb_thread_yield();
		rc = submit_as(&rivals->f, SB_PID_CHOSEN + i, &rivals->script);
		if (rc)
			CHECK_EQ(rc, -EEXIST);
		else
			sb_add_acq_rel(&rivals->won, 1);
	}
	return NULL;
}

static void one_of_two_gets_the_pid(void **state)
{
	static struct rivals rivals;
	struct sb_thread thread;

	(void)state;
	fixture_start(&rivals.f, 2);
	rivals.script = (struct script){ .f = &rivals.f, .step = done_with_42 };
	CHECK_EQ(sb_thread_start(&thread, -1, claim_all, &rivals), 0);
	claim_all(&rivals);
	sb_thread_join(&thread);
	fixture_wait(&rivals.f);
	CHECK_EQ(sb_load_rlx(&rivals.won), PIDS);
	CHECK_EQ(sb_load_rlx(&rivals.f.completed), PIDS);
	fixture_end(&rivals.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_chosen_pid_is_used_once),
		cmocka_unit_test(a_chosen_pid_can_be_used_again),
		cmocka_unit_test(a_busy_worker_frees_chosen_pids),
		cmocka_unit_test(a_refused_pid_is_free_again),
		cmocka_unit_test(what_does_not_come_to_be_leaves_no_block),
		cmocka_unit_test(one_of_two_gets_the_pid),
	};

	return cmocka_run_group_tests_name("submit", tests, NULL, NULL);
}
