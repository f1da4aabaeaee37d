/*
 * third - fairness on one worker: two processes send a message back and forth,
 * so that one of them is always the newest that is Ready, and a third always
 * continues. Neither may keep the other from running. All workers but one are
 * held, each by a process that sleeps in its step, so that the three share what
 * is left, on any machine. The pair makes --round-trips round trips; the third
 * goes on until they are made. One operation is one round trip.
 *
 * A scheduler that runs the newest first and nothing else never runs the third;
 * one that lets a process continue at once never runs the pair.
 *
 * Check: the pair has made all of its round trips, in order; between two steps
 * of the third there were never more than --bound round trips, and between two
 * round trips never more than --bound steps of the third. These are counts, and
 * do not depend on the speed of anything. With the defaults, what continues is
 * looked at no later than every four ticks of 61 steps, 122 round trips.
 */
#include "core/platform/platform.h"
#include "workloads/lib/actor.h"
#include "workloads/lib/check.h"
#include "workloads/lib/meeting.h"

enum { ROUND_TRIPS, BOUND };

static const struct sb_param params[] = {
	[ROUND_TRIPS] = { "round-trips", 200000, 1, UINT32_MAX, NULL, "round trips of the pair" },
	[BOUND] = { "bound", 1000, 1, UINT32_MAX, NULL,
		    "most steps or round trips that one has to wait for" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

/* The three are on one worker, and nobody else writes this; but `over` is
 * everybody's. */
struct data {
	struct sb_meeting holders;
	struct sb_gate gate;
	_Atomic(bool) over;
	uint64_t round_trips;
	sb_pid ping;
	sb_pid pong;
	uint64_t trips;
	uint64_t steps; /* of the third */
	uint64_t trips_seen;
	uint64_t steps_seen;
	uint64_t trips_between; /* most, that the third has waited for */
	uint64_t steps_between;
};

struct state {
	struct data *data;
};

SB_ACTOR_INIT(init, struct state)

/* ---- who holds the other workers ---- */

static bool is_over(void *data)
{
	return sb_load_acq(&((struct data *)data)->over);
}

static int holder_step(void *state, struct sb_step *step, const struct sb_event *events,
		       uint32_t count)
{
	struct data *data = ((struct state *)state)->data;

	(void)step;
	(void)events;
	if (count)
		return -ECANCELED;
	sb_meeting_join(&data->holders);
	sb_gate_wait(&data->gate, is_over, data, UINT64_MAX);
	return SB_DONE;
}

static const struct sb_process_ops holder_ops = {
	.name = "holder",
	.state_bytes = sizeof(struct state),
	.init = init,
	.step = holder_step,
};

static int end(struct data *data, int status)
{
	sb_store_rel(&data->over, true);
	sb_gate_notify(&data->gate);
	return status;
}

/* ---- the third ---- */

static int third_step(void *state, struct sb_step *step, const struct sb_event *events,
		      uint32_t count)
{
	struct data *data = ((struct state *)state)->data;

	(void)step;
	(void)events;
	if (count)
		return -ECANCELED;
	data->steps++;
	data->trips_between = sb_max_u64(data->trips_between, data->trips - data->trips_seen);
	data->trips_seen = data->trips;
	return is_over(data) ? SB_DONE : SB_CONTINUE;
}

static const struct sb_process_ops third_ops = {
	.name = "third",
	.state_bytes = sizeof(struct state),
	.init = init,
	.step = third_step,
};

/* ---- the pair ---- */

static int ask(struct data *data, struct sb_step *step)
{
	const int rc = sb_step_send(step, data->pong, sb_value_u64(data->trips + 1));

	data->steps_seen = data->steps;
	return rc ? end(data, rc) : SB_IDLE;
}

static int ping_step(void *state, struct sb_step *step, const struct sb_event *events,
		     uint32_t count)
{
	struct data *data = ((struct state *)state)->data;

	if (!count) {
		data->ping = step->self;
		return ask(data, step);
	}
	if (count > 1 || events[0].type != SB_EVENT_MESSAGE ||
	    events[0].data.u64 != data->trips + 1)
		return end(data, -EPROTO);
	data->trips++;
	data->steps_between = sb_max_u64(data->steps_between, data->steps - data->steps_seen);
	if (data->trips < data->round_trips)
		return ask(data, step);
	return end(data, sb_step_send(step, data->pong, sb_value_u64(0)) ? -EPROTO : SB_DONE);
}

static int pong_step(void *state, struct sb_step *step, const struct sb_event *events,
		     uint32_t count)
{
	struct data *data = ((struct state *)state)->data;
	int rc;

	if (!count)
		return SB_IDLE;
	if (count > 1 || events[0].type != SB_EVENT_MESSAGE)
		return end(data, -EPROTO);
	if (!events[0].data.u64)
		return SB_DONE;
	rc = sb_step_send(step, data->ping, events[0].data);
	return rc ? end(data, rc) : SB_IDLE;
}

static const struct sb_process_ops ping_ops = {
	.name = "ping",
	.state_bytes = sizeof(struct state),
	.init = init,
	.step = ping_step,
};

static const struct sb_process_ops pong_ops = {
	.name = "pong",
	.state_bytes = sizeof(struct state),
	.init = init,
	.step = pong_step,
};

/* ---- the workload ---- */

static int setup(struct sb_workload_run *run)
{
	struct data *data = run->data;

	data->round_trips = run->param[ROUND_TRIPS];
	sb_gate_init(&data->gate);
	return 0;
}

static int submit(struct sb_workload_run *run, const struct sb_process_ops *ops, sb_pid *pid)
{
	struct state input = { .data = run->data };

	return sb_scheduler_submit(run->scheduler, ops, "main", sb_value_ptr(&input), pid);
}

static int hold_all_but_one(struct sb_workload_run *run)
{
	struct data *data = run->data;
	const uint64_t others = sb_scheduler_workers(run->scheduler) - 1;
	int rc = 0;

	sb_meeting_call(&data->holders, others);
	for (uint64_t i = 0; i < others && !rc; i++)
		rc = submit(run, &holder_ops, NULL);
	if (rc)
		sb_meeting_call_off(&data->holders);
	sb_meeting_wait(&data->holders);
	return rc;
}

static int start(struct sb_workload_run *run)
{
	struct data *data = run->data;
	int rc;

	sb_store_rlx(&data->over, false);
	data->trips = data->steps = 0;
	data->trips_seen = data->steps_seen = 0;
	data->trips_between = data->steps_between = 0;
	data->pong = 0;
	rc = hold_all_but_one(run);
	run->round.start_ns = sb_clock_ns();
	if (!rc)
		rc = submit(run, &third_ops, NULL);
	if (!rc)
		rc = submit(run, &pong_ops, &data->pong);
	if (!rc)
		rc = submit(run, &ping_ops, NULL);
	if (!rc)
		return 0;
	(void)sb_scheduler_terminate(run->scheduler, data->pong);
	return end(data, rc);
}

static uint64_t operations(const struct sb_workload_run *run)
{
	return run->param[ROUND_TRIPS];
}

static bool is_bounded(const char *who, uint64_t waited, const char *what, uint64_t bound,
		       char *why, size_t why_bytes)
{
	if (waited > bound)
		snprintf(why, why_bytes,
			 "%s had to wait for %" PRIu64 " %s, expected at most %" PRIu64, who,
			 waited, what, bound);
	return waited <= bound;
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	const struct data *data = run->data;
	const uint64_t bound = run->param[BOUND];

	return sb_expect(why, why_bytes, "round trips in order", data->trips, data->round_trips) &&
	       is_bounded("the third", data->trips_between, "round trips", bound, why, why_bytes) &&
	       is_bounded("the pair", data->steps_between, "steps of the third", bound, why,
			  why_bytes);
}

static void teardown(struct sb_workload_run *run)
{
	struct data *data = run->data;

	sb_gate_fini(&data->gate);
}

const struct sb_workload sb_workload_third = {
	.name = "third",
	.operation = "round trip",
	.doc = "a ping-pong pair against a third process that continues",
	.source = "this project",
	.params = params,
	.data_bytes = sizeof(struct data),
	.setup = setup,
	.start = start,
	.operations = operations,
	.check = check,
	.teardown = teardown,
};
