/*
 * When and under which PID a process comes to be, and the list of processes.
 *
 * Property: what is submitted while the workers do not run waits for the next
 *   start, or ends by force at destroy; a chosen PID names one process, and
 *   later another one; the list shows each process that stays exactly once, with its name,
 *   state and steps.
 * Method: a scheduler that is not started yet, or not any more; threads that
 *   race for the same PIDs; lists while other processes come and go.
 * Bound: two threads, 2000 PIDs; 40 processes that stay.
 */
#include "core/state.h"
#include "tests/script.h"

enum { MANY = 100 };

/* ---- before the start and after the stop ---- */

static void submit_many(struct fixture *f, struct script *script)
{
	for (int i = 0; i < MANY; i++)
		fixture_submit(f, &scripted, script);
}

static void what_is_submitted_before_the_start_waits(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = done_with_42 };
	struct script receiver = { .f = &f, .step = wait_for_message };
	struct script doomed = { .f = &f, .step = done_with_42 };
	sb_pid pid;

	(void)state;
	fixture_defaults(&f);
	fixture_create(&f, 3);
	submit_many(&f, &script);
	pid = fixture_submit(&f, &scripted, &receiver);
	CHECK_EQ(sb_scheduler_send(f.s, pid, sb_value_u64(7)), 0);
	CHECK_EQ(sb_scheduler_terminate(f.s, fixture_submit(&f, &scripted, &doomed)), 0);
	CHECK_EQ(sb_scheduler_wait_idle(f.s, 0), -ETIMEDOUT);
	CHECK_EQ(sb_load_rlx(&f.completed), 0);
	CHECK_EQ(sb_scheduler_stop(f.s, 0), -EALREADY);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	fixture_wait(&f);
	CHECK_EQ(sb_load_rlx(&script.steps), MANY);
	CHECK_EQ(receiver.seen, 7);
	CHECK_EQ(sb_load_rlx(&doomed.steps), 0);
	CHECK_EQ(sb_load_rlx(&f.closed), MANY + 2);
	fixture_end(&f);
}

static void what_is_submitted_after_the_stop_waits(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = done_with_42 };

	(void)state;
	fixture_defaults(&f);
	fixture_create(&f, 3);
	for (uint64_t cycle = 0; cycle < 10; cycle++) {
		submit_many(&f, &script);
		CHECK_EQ(sb_load_rlx(&f.completed), cycle * MANY);
		CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
		fixture_wait(&f);
		CHECK_EQ(sb_scheduler_stop(f.s, FIXTURE_TIMEOUT_NS), 0);
		CHECK_EQ(sb_load_rlx(&f.completed), (cycle + 1) * MANY);
	}
	sb_scheduler_destroy(f.s);
}

/* Before the first start, or after a stop; some with messages. */
static void check_destroy(bool has_run)
{
	struct fixture f;
	struct script script = { .f = &f, .step = done_with_42 };
	const uint64_t before = has_run ? MANY : 0;

	fixture_defaults(&f);
	fixture_create(&f, 2);
	if (has_run) {
		CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
		submit_many(&f, &script);
		fixture_wait(&f);
		CHECK_EQ(sb_scheduler_stop(f.s, FIXTURE_TIMEOUT_NS), 0);
	}
	for (uint64_t i = 0; i < MANY; i++) {
		const sb_pid pid = SB_PID_CHOSEN + i;

		CHECK_EQ(sb_scheduler_submit_as(f.s, pid, &scripted, "main", sb_value_ptr(&script)),
			 0);
		CHECK_EQ(sb_scheduler_send(f.s, pid, sb_value_u64(1)), 0);
	}
	CHECK_EQ(sb_load_rlx(&f.completed), before);
	sb_scheduler_destroy(f.s);
	CHECK_EQ(sb_load_rlx(&script.steps), before);
	CHECK_EQ(sb_load_rlx(&f.completed), before + MANY);
	CHECK_EQ(sb_load_rlx(&f.closed), before + MANY);
	CHECK_EQ(sb_load_rlx(&f.dropped), MANY);
	CHECK_EQ(sb_load_rlx(&f.last_error), -ECANCELED);
}

static void destroy_ends_those_that_never_ran(void **state)
{
	(void)state;
	check_destroy(false);
	check_destroy(true);
}

struct executor {
	struct script script;
	struct sb_thread thread;
	struct sb_exit exit;
};

static void *execute_it(void *arg)
{
	struct executor *executor = arg;

	CHECK_EQ(sb_scheduler_execute(executor->script.f->s, &scripted, "main",
				      sb_value_ptr(&executor->script), &executor->exit),
		 0);
	return NULL;
}

static void count_visit(void *arg, const struct sb_process_info *info)
{
	CHECK_EQ(info->state, SB_STATE_READY);
	++*(int *)arg;
}

/* Executes and has come so far that it is listed. */
static void start_executor(struct executor *executor, struct fixture *f)
{
	int listed = 0;

	*executor = (struct executor){ .script = { .f = f, .step = done_with_42 } };
	CHECK_EQ(sb_thread_start(&executor->thread, -1, execute_it, executor), 0);
	while (!listed) {
		sb_thread_yield();
		sb_scheduler_list(f->s, count_visit, &listed);
	}
	CHECK_EQ(listed, 1);
}

static void an_execute_waits_for_the_start(void **state)
{
	struct fixture f;
	struct executor executor;

	(void)state;
	fixture_defaults(&f);
	fixture_create(&f, 2);
	start_executor(&executor, &f);
	CHECK_EQ(sb_load_rlx(&f.completed), 0);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	sb_thread_join(&executor.thread);
	CHECK_EQ(executor.exit.error, 0);
	CHECK_EQ(executor.exit.result.u64, 42);
	fixture_end(&f);
}

static void destroy_ends_an_execute(void **state)
{
	struct fixture f;
	struct executor executor;

	(void)state;
	fixture_defaults(&f);
	fixture_create(&f, 2);
	start_executor(&executor, &f);
	sb_scheduler_destroy(f.s);
	sb_thread_join(&executor.thread);
	CHECK_EQ(executor.exit.error, -ECANCELED);
	CHECK_EQ(sb_load_rlx(&f.closed), 1);
}

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

#define PIDS SB_SCALE(2000u)

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

/* ---- the list ---- */

enum { STAY = 40 };

struct census {
	struct fixture f;
	struct script idler;
	struct script churn;
	sb_pid pid[STAY];
	uint64_t start_ns;
	uint64_t steps; /* that each idler has made */
	uint32_t seen[STAY];
	uint32_t in_state[SB_STATE_COMPLETE + 1];
	uint32_t others;
	_Atomic(uint32_t) over;
};

static void census_visit(void *arg, const struct sb_process_info *info)
{
	struct census *census = arg;

	assert_string_equal(info->name, "scripted");
	assert_in_range(info->state, SB_STATE_READY, SB_STATE_COMPLETE);
	for (int i = 0; i < STAY; i++) {
		if (census->pid[i] != info->pid)
			continue;
		census->seen[i]++;
		census->in_state[info->state]++;
		assert_in_range(info->start_ns, census->start_ns, sb_clock_ns());
		/* The state is seen before the steps. */
		if (info->state == SB_STATE_IDLE)
			CHECK_EQ(info->steps, census->steps);
		return;
	}
	census->others++;
}

/* How many are idle; each was listed once. */
static uint32_t take_census(struct census *census)
{
	memset(census->seen, 0, sizeof(census->seen));
	memset(census->in_state, 0, sizeof(census->in_state));
	census->others = 0;
	sb_scheduler_list(census->f.s, census_visit, census);
	for (int i = 0; i < STAY; i++)
		CHECK_EQ(census->seen[i], 1);
	return census->in_state[SB_STATE_IDLE];
}

static void start_census(struct census *census)
{
	*census = (struct census){ .start_ns = sb_clock_ns(), .steps = 1 };
	fixture_start(&census->f, 3);
	census->idler = (struct script){ .f = &census->f, .step = end_on_cancel };
	census->churn = (struct script){ .f = &census->f, .step = done_with_42 };
	for (int i = 0; i < STAY; i++)
		census->pid[i] = fixture_submit(&census->f, &scripted, &census->idler);
	while (take_census(census) < STAY)
		sb_thread_yield();
}

static void the_list_is_exact_when_nothing_moves(void **state)
{
	static struct census census;

	(void)state;
	start_census(&census);
	for (; census.steps < 10; census.steps++) {
		CHECK_EQ(take_census(&census), STAY);
		CHECK_EQ(census.others, 0);
		for (int i = 0; i < STAY; i++)
			CHECK_EQ(sb_scheduler_send(census.f.s, census.pid[i], sb_value_u64(1)), 0);
		await_steps(&census.idler, (census.steps + 1) * STAY);
		/* The last steps are over, but perhaps not yet let go of. */
		for (uint32_t idle = 0; idle < STAY;) {
			census.steps++;
			idle = take_census(&census);
			census.steps--;
		}
	}
	fixture_end(&census.f);
}

static void *churn_until_over(void *arg)
{
	struct census *census = arg;

	while (!sb_load_acq(&census->over)) {
		const uint64_t alive =
			sb_load_rlx(&census->f.started) - sb_load_rlx(&census->f.completed);

		if (alive < 8 * STAY)
			fixture_submit(&census->f, &scripted, &census->churn);
		else
			sb_thread_yield();
	}
	return NULL;
}

/* Others come and go, and the table grows; nobody who stays is missed. */
static void the_list_misses_nobody_who_stays(void **state)
{
	static struct census census;
	struct sb_thread thread;

	(void)state;
	start_census(&census);
	census.churn = (struct script){ .f = &census.f, .step = done_at_once };
	CHECK_EQ(sb_thread_start(&thread, -1, churn_until_over, &census), 0);
	for (int i = 0; i < SB_SCALE(2000); i++)
		CHECK_EQ(take_census(&census), STAY);
	sb_store_rel(&census.over, 1);
	sb_thread_join(&thread);
	fixture_end(&census.f);
}

/* What the list says of one process. */
struct wanted {
	sb_pid pid;
	struct sb_process_info info;
};

static void find_visit(void *arg, const struct sb_process_info *info)
{
	struct wanted *wanted = arg;

	if (info->pid == wanted->pid)
		wanted->info = *info;
}

static enum sb_state state_of(struct fixture *f, sb_pid pid, uint64_t *steps)
{
	struct wanted wanted = { .pid = pid };

	sb_scheduler_list(f->s, find_visit, &wanted);
	*steps = wanted.info.steps;
	return wanted.info.state;
}

static int look_at_self(struct script *script, struct sb_step *step, const struct sb_event *events,
			uint32_t count)
{
	uint64_t steps;

	CHECK_EQ(state_of(script->f, step->self, &steps), SB_STATE_RUNNING);
	CHECK_EQ(steps, 1);
	return hold_until_told(script, step, events, count);
}

static void the_list_shows_every_state(void **state)
{
	struct fixture f;
	struct script blocked = { .f = &f, .step = block_until_cancel };
	struct script running = { .f = &f, .step = look_at_self };
	struct script queued = { .f = &f, .step = end_on_cancel };
	uint64_t steps;
	sb_pid pid[3];

	(void)state;
	fixture_defaults(&f);
	fixture_create(&f, 1);
	CHECK_EQ(sb_scheduler_register(f.s, KEEPS, keeps, NULL), 0);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	pid[0] = fixture_submit(&f, &scripted, &blocked);
	pid[1] = fixture_submit(&f, &scripted, &running);
	await_flag(&running);
	pid[2] = fixture_submit(&f, &scripted, &queued);
	CHECK_EQ(state_of(&f, pid[0], &steps), SB_STATE_BLOCKED);
	CHECK_EQ(steps, 1);
	CHECK_EQ(state_of(&f, pid[1], &steps), SB_STATE_RUNNING);
	CHECK_EQ(state_of(&f, pid[2], &steps), SB_STATE_READY);
	CHECK_EQ(steps, 0);
	sb_store_rel(&running.flag, 2);
	fixture_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_submitted_before_the_start_waits),
		cmocka_unit_test(what_is_submitted_after_the_stop_waits),
		cmocka_unit_test(destroy_ends_those_that_never_ran),
		cmocka_unit_test(an_execute_waits_for_the_start),
		cmocka_unit_test(destroy_ends_an_execute),
		cmocka_unit_test(a_chosen_pid_is_used_once),
		cmocka_unit_test(a_chosen_pid_can_be_used_again),
		cmocka_unit_test(a_refused_pid_is_free_again),
		cmocka_unit_test(what_does_not_come_to_be_leaves_no_block),
		cmocka_unit_test(one_of_two_gets_the_pid),
		cmocka_unit_test(the_list_is_exact_when_nothing_moves),
		cmocka_unit_test(the_list_misses_nobody_who_stays),
		cmocka_unit_test(the_list_shows_every_state),
	};

	return cmocka_run_group_tests_name("submit", tests, NULL, NULL);
}
