/*
 * The list of processes.
 *
 * Property: the list shows each process that stays exactly once, with its name, state
 *   and steps.
 * Method: lists while other processes come and go.
 * Bound: 40 processes that stay.
 */
#include "core/state.h"
#include "tests/script.h"

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
	assert_uint_in_range(info->state, SB_STATE_READY, SB_STATE_COMPLETE);
	for (int i = 0; i < STAY; i++) {
		if (census->pid[i] != info->pid)
			continue;
		census->seen[i]++;
		census->in_state[info->state]++;
		assert_uint_in_range(info->start_ns, census->start_ns, sb_clock_ns());
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
		cmocka_unit_test(the_list_is_exact_when_nothing_moves),
		cmocka_unit_test(the_list_misses_nobody_who_stays),
		cmocka_unit_test(the_list_shows_every_state),
	};

	return cmocka_run_group_tests_name("submit", tests, NULL, NULL);
}
