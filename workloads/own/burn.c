/*
 * burn - what workers cost that have nothing to do: one process is Idle, nothing
 * else is there, and nothing comes for --time-ms. One operation is one
 * millisecond of that, and only that time is measured: so cpu_ns_per_op is CPU
 * time per millisecond, of all workers and whatever other threads the program
 * has, and ns_per_op is 1 ms by definition, give or take a late timer. Workers
 * that sleep cost next to nothing; with --park poll each costs 1 ms.
 *
 * Check: in that time no worker has run a step, the time was not shorter than
 * asked for, and the process was still there to get its message at the end.
 */
#include "workloads/lib/actor.h"
#include "workloads/lib/check.h"
#include "workloads/lib/pause.h"
#include "workloads/lib/swarm.h"

enum { TIME_MS };

#define NS_PER_MS UINT64_C(1000000)

static const struct sb_param params[] = {
	[TIME_MS] = { "time-ms", 250, 1, 3600000, NULL, "time without anything to do, ms" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

struct data {
	struct sb_parker parker; /* of the thread that waits */
	_Atomic(uint64_t) steps; /* of the process */
	uint64_t steps_of_all;	 /* in the time that counts */
	uint64_t too_short_ns;
};

struct state {
	struct data *data;
};

SB_ACTOR_INIT(init, struct state)

static int step(void *state, struct sb_step *step, const struct sb_event *events, uint32_t count)
{
	struct data *data = ((struct state *)state)->data;

	(void)step;
	if (!sb_actor_only_messages(events, count))
		return -ECANCELED;
	sb_store_rel(&data->steps, sb_load_rlx(&data->steps) + 1);
	sb_unpark(&data->parker);
	return count ? SB_DONE : SB_IDLE;
}

static const struct sb_process_ops ops = {
	.name = "idle",
	.state_bytes = sizeof(struct state),
	.init = init,
	.step = step,
};

/* The worker counts a step a moment after the process can tell that it runs. */
static uint64_t wait_for_steps(struct sb_scheduler *scheduler, uint64_t steps)
{
	const uint64_t deadline_ns = sb_clock_ns() + SB_ANSWER_NS;
	uint64_t now;

	while ((now = sb_read_totals(scheduler).steps) < steps && sb_clock_ns() < deadline_ns)
		sb_thread_yield();
	return now;
}

static void do_nothing(struct sb_workload_run *run, uint64_t steps)
{
	struct data *data = run->data;
	struct sb_round *round = &run->round;
	const uint64_t cpu_ns = sb_clock_process_cpu_ns();
	const uint64_t start_ns = sb_clock_ns();
	const uint64_t time_ns = run->param[TIME_MS] * NS_PER_MS;

	sb_pause_until(&data->parker, start_ns + time_ns);
	round->wall_ns = sb_clock_ns() - start_ns;
	round->cpu_ns = sb_clock_process_cpu_ns() - cpu_ns;
	data->steps_of_all = sb_read_totals(run->scheduler).steps - steps;
	data->too_short_ns = round->wall_ns < time_ns ? time_ns - round->wall_ns : 0;
}

static int setup(struct sb_workload_run *run)
{
	struct data *data = run->data;

	sb_parker_init(&data->parker, SB_PARKING_FUTEX);
	return 0;
}

static int start(struct sb_workload_run *run)
{
	struct data *data = run->data;
	struct state input = { .data = data };
	const uint64_t before = sb_read_totals(run->scheduler).steps;
	sb_pid pid;
	int rc;

	sb_store_rlx(&data->steps, 0);
	rc = sb_scheduler_submit(run->scheduler, &ops, "main", sb_value_ptr(&input), &pid);
	if (rc)
		return rc;
	if (!sb_pause_for(&data->parker, &data->steps, 1))
		return -ETIMEDOUT;
	do_nothing(run, wait_for_steps(run->scheduler, before + 1));
	return sb_scheduler_send(run->scheduler, pid, sb_value_u64(0));
}

static uint64_t operations(const struct sb_workload_run *run)
{
	return run->param[TIME_MS];
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	struct data *data = run->data;

	return sb_expect(why, why_bytes, "steps without anything to do", data->steps_of_all, 0) &&
	       sb_expect(why, why_bytes, "ns too short", data->too_short_ns, 0) &&
	       sb_expect(why, why_bytes, "steps of the idle process", sb_load_acq(&data->steps), 2);
}

static void teardown(struct sb_workload_run *run)
{
	struct data *data = run->data;

	sb_parker_fini(&data->parker);
}

const struct sb_workload sb_workload_burn = {
	.name = "burn",
	.operation = "ms",
	.doc = "nothing to do: what idle workers cost in CPU time",
	.source = "this project",
	.params = params,
	.data_bytes = sizeof(struct data),
	.setup = setup,
	.start = start,
	.operations = operations,
	.check = check,
	.teardown = teardown,
};
