/*
 * wake-latency - how long it takes a scheduler without work to begin some: a
 * thread that is no worker lets --pause-us pass, asleep or (--pause spin) spinning,
 * in which the workers have nothing to do and park; it wakes one, and waits for the
 * answer; then the next, --wakes times. Each is timed from just before the call to
 * the first instruction of the step that it causes: wake_ns_*. One operation is one
 * wake; ns_per_op is the mean of these times and contains no pause. cpu_ns_per_op
 * does: it is the whole program's. The Go origin's WakeupLatency times its sleeps,
 * too.
 *
 * --by submit  a process is submitted
 *      send    a message is sent to a process that is Idle
 *
 * With --park poll, or a pause too short to park in, the worker is awake: then
 * this is the time to notice. parked says how often workers slept.
 *
 * Check: each wake has been answered by one step, with its number, in order.
 */
#include "workloads/lib/actor.h"
#include "workloads/lib/check.h"
#include "workloads/lib/pause.h"

enum { WAKES, PAUSE_US, PAUSE, BY };
enum { SLEEP, SPIN };
enum { SUBMIT, SEND };

static const char *const pauses[] = { "sleep", "spin", NULL };
static const char *const means[] = { "submit", "send", NULL };

static const struct sb_param params[] = {
	[WAKES] = { "wakes", 200, 1, UINT32_MAX, NULL, "wakes of a round" },
	[PAUSE_US] = { "pause-us", 1000, 0, 10000000, NULL,
		       "time in which the workers can park, us" },
	[PAUSE] = { "pause", SLEEP, 0, 1, pauses, "what the thread that wakes does meanwhile" },
	[BY] = { "by", SUBMIT, 0, 1, means, "what wakes a worker" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

struct data {
	struct sb_parker parker; /* of the thread that wakes, */
	struct sb_parker *sleep; /* that, or NULL: it spins */
	uint64_t wakes;
	uint64_t begun_ns; /* when the step of the latest wake did */
	uint64_t wrong;
	_Atomic(uint64_t) answered; /* wakes; 0: none */
};

/* A process answers the wakes from number to number of last. */
struct state {
	struct data *data;
	uint64_t number;
	uint64_t last;
	bool waits; /* for a message first, before each of them */
};

SB_ACTOR_INIT(init, struct state)

static void answer(struct data *data, uint64_t number)
{
	data->wrong += number != sb_load_rlx(&data->answered) + 1;
	sb_store_rel(&data->answered, number);
	sb_unpark(&data->parker);
}

/* The first step of one that waits shows that it does: answers number 0. */
static int step(void *state, struct sb_step *step, const struct sb_event *events, uint32_t count)
{
	const uint64_t now = sb_clock_ns();
	struct state *self = state;

	(void)step;
	if (count > 1 || !sb_actor_only_messages(events, count))
		return -EPROTO;
	if (count && events[0].data.u64 != self->number)
		return -EPROTO;
	self->data->begun_ns = now;
	if (!count && self->waits) {
		self->number = 1;
		sb_store_rel(&self->data->answered, 0);
		sb_unpark(&self->data->parker);
		return SB_IDLE;
	}
	answer(self->data, self->number);
	return self->number++ == self->last ? SB_DONE : SB_IDLE;
}

static const struct sb_process_ops ops = {
	.name = "woken",
	.state_bytes = sizeof(struct state),
	.init = init,
	.step = step,
};

static int wake_by_submit(struct sb_workload_run *run, uint64_t number)
{
	struct state input = { .data = run->data, .number = number, .last = number };

	return sb_scheduler_submit(run->scheduler, &ops, "main", sb_value_ptr(&input), NULL);
}

static int wake(struct sb_workload_run *run, sb_pid sleeper, uint64_t number)
{
	return sleeper ? sb_scheduler_send(run->scheduler, sleeper, sb_value_u64(number))
		       : wake_by_submit(run, number);
}

/* Pauses, wakes, and waits for the answer. */
static int time_one(struct sb_workload_run *run, sb_pid sleeper, uint64_t number)
{
	struct data *data = run->data;
	uint64_t start_ns;
	int rc;

	sb_pause_until(data->sleep, sb_clock_ns() + run->param[PAUSE_US] * 1000);
	start_ns = sb_clock_ns();
	rc = wake(run, sleeper, number);
	if (rc)
		return rc;
	if (!sb_pause_for(data->sleep, &data->answered, number))
		return -ETIMEDOUT;
	sb_run_record_wake(run, data->begun_ns - start_ns);
	run->round.wall_ns += data->begun_ns - start_ns;
	return 0;
}

/* The one that is sent to; it is Idle, or will be within the first pause. */
static int submit_sleeper(struct sb_workload_run *run, sb_pid *pid)
{
	struct data *data = run->data;
	struct state input = { .data = data, .last = data->wakes, .waits = true };
	int rc;

	sb_store_rlx(&data->answered, UINT64_MAX);
	rc = sb_scheduler_submit(run->scheduler, &ops, "main", sb_value_ptr(&input), pid);
	if (rc)
		return rc;
	return sb_pause_for(data->sleep, &data->answered, 0) ? 0 : -ETIMEDOUT;
}

static int setup(struct sb_workload_run *run)
{
	struct data *data = run->data;

	data->wakes = run->param[WAKES];
	sb_parker_init(&data->parker, SB_PARKING_FUTEX);
	data->sleep = run->param[PAUSE] == SPIN ? NULL : &data->parker;
	return 0;
}

static int start(struct sb_workload_run *run)
{
	struct data *data = run->data;
	sb_pid sleeper = 0;
	int rc = 0;

	data->wrong = 0;
	sb_store_rlx(&data->answered, 0);
	if (run->param[BY] == SEND)
		rc = submit_sleeper(run, &sleeper);
	for (uint64_t number = 1; number <= data->wakes && !rc; number++)
		rc = time_one(run, sleeper, number);
	return rc;
}

static uint64_t operations(const struct sb_workload_run *run)
{
	return run->param[WAKES];
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	struct data *data = run->data;

	return sb_expect(why, why_bytes, "wakes have been answered", sb_load_acq(&data->answered),
			 data->wakes) &&
	       sb_expect(why, why_bytes, "answers out of order", data->wrong, 0);
}

static void teardown(struct sb_workload_run *run)
{
	struct data *data = run->data;

	sb_parker_fini(&data->parker);
}

const struct sb_workload sb_workload_wake_latency = {
	.name = "wake-latency",
	.operation = "wake",
	.doc = "a parked worker is woken from outside after a pause",
	.source = "wippyai/runtime, benchmark WakeupLatency",
	.params = params,
	.objective = "wake_ns_p90",
	.data_bytes = sizeof(struct data),
	.setup = setup,
	.start = start,
	.operations = operations,
	.check = check,
	.teardown = teardown,
};
