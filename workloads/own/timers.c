/*
 * timers - does a great many pending timers slow a step down? --processes
 * processes sleep, each again and again, for a random time, --sleep-s seconds on
 * average, or --sleep-us microseconds. When all are asleep, one more process does
 * --yields round trips through the dispatch registry, as the workload `yield` does;
 * ns_per_op is of these alone. Then all sleepers are cancelled. One operation is one
 * round trip. Compare with --processes 0. After each sleep and each round trip a
 * process works for --work-ns, which keeps workers busy.
 *
 * wake_ns_* is how late a sleep ended: from when it was due to the step that it
 * woke, of the first 65536 sleeps of a round.
 *
 * Check: every round trip came back, in order; no sleep was shorter than asked
 * for; every sleeper ended by its cancellation.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/commands.h"
#include "core/platform/platform.h"
#include "workloads/lib/swarm.h"
#include "workloads/workload.h"

enum { PROCESSES, YIELDS, SLEEP_S, SLEEP_US, WORK_NS };

static const struct sb_param params[] = {
	[PROCESSES] = { "processes", 100000, 0, 1 << 24, NULL, "processes that sleep" },
	[YIELDS] = { "yields", 5000000, 1, UINT32_MAX, NULL,
		     "round trips of the one that does not" },
	[SLEEP_S] = { "sleep-s", 60, 1, 86400, NULL,
		      "mean of a sleep, which takes 0 to twice so many seconds" },
	[SLEEP_US] = { "sleep-us", 0, 0, 1000000, NULL, "if above 0, that mean in us" },
	[WORK_NS] = { "work-ns", 0, 0, 1000000000, NULL,
		      "least time that a process works after a sleep or a round trip, ns" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

#define COMMAND_ECHO 19
#define NS_PER_US    UINT64_C(1000)
#define NS_PER_S     UINT64_C(1000000000)

/* Sleeps of a round whose lateness is kept. */
#define LATE_MAX 65536

struct data {
	struct sb_workload_run *run;
	sb_pid *sleeper;	  /* [PROCESSES] */
	_Atomic(uint64_t) asleep; /* have begun their first sleep */
	_Atomic(uint64_t) ended;
	_Atomic(uint64_t) early; /* sleeps that were too short */
	_Atomic(uint64_t) woken; /* sleeps that have ended */
	uint64_t *late_ns;	 /* [LATE_MAX], of the first of these */
	uint64_t mean_ns;	 /* of a sleep */
	uint64_t returned;
};

static void work(const struct data *data)
{
	const uint64_t ns = data->run->param[WORK_NS];

	if (ns)
		sb_work_ns(ns);
}

/* ---- the sleepers ---- */

struct sleeper {
	struct data *data;
	struct sb_rng rng;
	uint64_t due_ns;
};

static int sleeper_init(void *state, const char *method, union sb_value input)
{
	if (strcmp(method, "main"))
		return -ENOTSUP;
	((struct sleeper *)state)->data = input.ptr;
	return 0;
}

static int go_to_sleep(struct sleeper *sleeper, struct sb_step *step)
{
	const uint64_t ns = sleeper->data->mean_ns / 1024 * sb_rng_below(&sleeper->rng, 2 * 1024);
	int rc;

	sleeper->due_ns = sb_clock_ns() + ns;
	rc = sb_step_yield(step, SB_COMMAND_SLEEP, sb_value_u64(ns), 0);
	return rc ? rc : SB_YIELD;
}

static void note_end(struct data *data, uint64_t due_ns, int error)
{
	const uint64_t now_ns = sb_clock_stamp_ns();
	const uint64_t place = sb_add_rlx(&data->woken, 1);

	if (error || now_ns < due_ns)
		sb_add_rlx(&data->early, 1);
	if (place < LATE_MAX)
		data->late_ns[place] = sb_clock_passed(due_ns, now_ns);
}

static int sleeper_step(void *state, struct sb_step *step, const struct sb_event *events,
			uint32_t count)
{
	struct sleeper *sleeper = state;

	for (uint32_t i = 0; i < count; i++) {
		if (events[i].type == SB_EVENT_CANCEL) {
			sb_add_rlx(&sleeper->data->ended, 1);
			return SB_DONE;
		}
		note_end(sleeper->data, sleeper->due_ns, events[i].error);
		work(sleeper->data);
	}
	if (!count) {
		sb_rng_seed(&sleeper->rng, sb_step_self(step));
		sb_add_rlx(&sleeper->data->asleep, 1);
	}
	return go_to_sleep(sleeper, step);
}

static const struct sb_process_ops sleeper_ops = {
	.name = "sleeper",
	.state_bytes = sizeof(struct sleeper),
	.init = sleeper_init,
	.step = sleeper_step,
};

/* ---- the one that is timed ---- */

enum stage { SPAWNS, WAITS, YIELDING, CANCELS };

struct yielder {
	struct data *data;
	enum stage stage;
	uint64_t done; /* of this stage */
	uint64_t cpu_ns;
	uint64_t wall_ns;
};

/* Steps of the long stages do so much at a time. */
#define CHUNK 256

static int yielder_init(void *state, const char *method, union sb_value input)
{
	if (strcmp(method, "main"))
		return -ENOTSUP;
	((struct yielder *)state)->data = input.ptr;
	return 0;
}

static int enter(struct yielder *y, enum stage stage)
{
	y->stage = stage;
	y->done = 0;
	return SB_CONTINUE;
}

static int spawn_some(struct yielder *y, struct sb_step *step)
{
	struct data *data = y->data;
	const uint64_t all = data->run->param[PROCESSES];
	int rc = 0;

	for (int i = 0; i < CHUNK && y->done < all && !rc; i++) {
		rc = sb_step_spawn(step, &sleeper_ops, "main", sb_value_ptr(data),
				   &data->sleeper[y->done]);
		y->done += !rc;
	}
	if (rc)
		return rc;
	return y->done < all ? SB_CONTINUE : enter(y, WAITS);
}

static int wait_for_sleep(struct yielder *y)
{
	if (sb_load_rlx(&y->data->asleep) < y->data->run->param[PROCESSES])
		return SB_CONTINUE;
	y->cpu_ns = sb_clock_process_cpu_ns();
	y->wall_ns = sb_clock_ns();
	return enter(y, YIELDING);
}

static void report_time(struct yielder *y)
{
	struct sb_round *round = &y->data->run->round;

	round->wall_ns = sb_clock_ns() - y->wall_ns;
	round->cpu_ns = sb_clock_process_cpu_ns() - y->cpu_ns;
}

static int yield_again(struct yielder *y, struct sb_step *step, const struct sb_event *events,
		       uint32_t count)
{
	struct data *data = y->data;
	int rc;

	if (count) {
		if (events[0].type != SB_EVENT_COMPLETION || events[0].tag != data->returned ||
		    events[0].data.u64 != data->returned)
			return -EPROTO;
		data->returned++;
		work(data);
	}
	if (data->returned == data->run->param[YIELDS]) {
		report_time(y);
		return enter(y, CANCELS);
	}
	rc = sb_step_yield(step, COMMAND_ECHO, sb_value_u64(data->returned), data->returned);
	return rc ? rc : SB_YIELD;
}

static int cancel_some(struct yielder *y)
{
	struct data *data = y->data;
	const uint64_t all = data->run->param[PROCESSES];

	for (int i = 0; i < CHUNK && y->done < all; i++) {
		const int rc = sb_scheduler_cancel(data->run->scheduler, data->sleeper[y->done++]);

		if (rc)
			return rc;
	}
	return y->done < all ? SB_CONTINUE : SB_DONE;
}

static int yielder_step(void *state, struct sb_step *step, const struct sb_event *events,
			uint32_t count)
{
	struct yielder *y = state;

	switch (y->stage) {
	case SPAWNS:
		return spawn_some(y, step);
	case WAITS:
		return wait_for_sleep(y);
	case YIELDING:
		return yield_again(y, step, events, count);
	case CANCELS:
		break;
	}
	return cancel_some(y);
}

static const struct sb_process_ops yielder_ops = {
	.name = "yielder",
	.state_bytes = sizeof(struct yielder),
	.init = yielder_init,
	.step = yielder_step,
};

/* ---- the workload ---- */

static int handle_echo(void *context, const struct sb_command *command,
		       const struct sb_completer *completer)
{
	(void)context;
	return sb_complete(completer, command->arg, 0);
}

static int setup(struct sb_workload_run *run)
{
	struct data *data = calloc(1, sizeof(*data));
	int rc = data ? 0 : -ENOMEM;

	if (!rc) {
		data->run = run;
		data->mean_ns = run->param[SLEEP_US] ? run->param[SLEEP_US] * NS_PER_US
						     : run->param[SLEEP_S] * NS_PER_S;
		data->sleeper = calloc(run->param[PROCESSES] + 1, sizeof(*data->sleeper));
		data->late_ns = calloc(LATE_MAX, sizeof(*data->late_ns));
		rc = data->sleeper && data->late_ns ? 0 : -ENOMEM;
	}
	if (!rc)
		rc = sb_scheduler_register(run->scheduler, COMMAND_ECHO, handle_echo, NULL);
	run->data = data;
	if (rc && data) {
		free(data->sleeper);
		free(data->late_ns);
		free(data);
	}
	return rc;
}

static int start(struct sb_workload_run *run)
{
	struct data *data = run->data;

	sb_store_rlx(&data->asleep, 0);
	sb_store_rlx(&data->ended, 0);
	sb_store_rlx(&data->woken, 0);
	data->returned = 0;
	return sb_scheduler_submit(run->scheduler, &yielder_ops, "main", sb_value_ptr(data), NULL);
}

static uint64_t operations(const struct sb_workload_run *run)
{
	return run->param[YIELDS];
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	struct data *data = run->data;
	const uint64_t ended = sb_load_rlx(&data->ended);
	const uint64_t early = sb_load_rlx(&data->early);
	const uint64_t woken = sb_min_u64(sb_load_rlx(&data->woken), LATE_MAX);

	for (uint64_t i = 0; i < woken; i++)
		sb_run_record_wake(run, data->late_ns[i]);
	if (data->returned == run->param[YIELDS] && !early && ended == run->param[PROCESSES])
		return true;
	snprintf(why, why_bytes,
		 "%" PRIu64 " of %" PRIu64 " round trips, %" PRIu64 " sleeps too short, %" PRIu64
		 " of %" PRIu64 " sleepers cancelled",
		 data->returned, run->param[YIELDS], early, ended, run->param[PROCESSES]);
	return false;
}

static void teardown(struct sb_workload_run *run)
{
	struct data *data = run->data;

	free(data->sleeper);
	free(data->late_ns);
	free(data);
}

const struct sb_workload sb_workload_timers = {
	.name = "timers",
	.operation = "yield",
	.doc = "yields while so many processes sleep on timers",
	.source = "this project",
	.params = params,
	.setup = setup,
	.start = start,
	.operations = operations,
	.check = check,
	.teardown = teardown,
};
