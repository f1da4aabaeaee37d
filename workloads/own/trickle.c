/*
 * trickle - a little work now and then: a thread that is no worker submits a
 * process of one step every --period-us, --count times, whether or not the one
 * before has run. Between two of them the workers go through all of their way
 * from spinning to sleep; what that costs is cpu_ns_per_op, CPU time of the whole
 * program per process, and what it costs the one who waits is wake_ns_*, from
 * just before each submission to the first instruction of its step. ns_per_op is
 * about the period. One operation is one process.
 *
 * The times are those at which submissions were due, counted from the first, so
 * one that comes late does not delay those after it; a submission that is late
 * already goes out at once.
 *
 * Check: each process has run exactly once, and none before its submission.
 */
#include <stdlib.h>

#include "workloads/lib/actor.h"
#include "workloads/lib/check.h"
#include "workloads/lib/pause.h"

enum { COUNT, PERIOD_US };

static const struct sb_param params[] = {
	[COUNT] = { "count", 250, 1, 1 << 24, NULL, "processes of a round" },
	[PERIOD_US] = { "period-us", 1000, 1, 10000000, NULL,
			"time from one submission to the next, us" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

/* A process's input and output. */
struct drop {
	uint64_t submitted_ns;
	uint64_t begun_ns;
	uint64_t runs;
};

struct data {
	struct sb_parker parker; /* of the thread that submits */
	struct drop *drop;	 /* [COUNT] */
};

struct state {
	struct drop *drop;
};

SB_ACTOR_INIT(init, struct state)

static int step(void *state, struct sb_step *step, const struct sb_event *events, uint32_t count)
{
	struct drop *drop = ((struct state *)state)->drop;

	(void)step;
	(void)events;
	if (count)
		return -ECANCELED;
	drop->begun_ns = sb_clock_ns();
	drop->runs++;
	return SB_DONE;
}

static const struct sb_process_ops ops = {
	.name = "drop",
	.state_bytes = sizeof(struct state),
	.init = init,
	.step = step,
};

static int setup(struct sb_workload_run *run)
{
	struct data *data = run->data;

	data->drop = calloc(run->param[COUNT], sizeof(*data->drop));
	if (!data->drop)
		return -ENOMEM;
	sb_parker_init(&data->parker, SB_PARKING_FUTEX);
	return 0;
}

static int start(struct sb_workload_run *run)
{
	struct data *data = run->data;
	const uint64_t period_ns = run->param[PERIOD_US] * 1000;
	const uint64_t first_ns = sb_clock_ns();
	int rc = 0;

	for (uint64_t i = 0; i < run->param[COUNT] && !rc; i++) {
		struct state input = { .drop = &data->drop[i] };

		sb_pause_until(&data->parker, first_ns + i * period_ns);
		*input.drop = (struct drop){ .submitted_ns = sb_clock_ns() };
		rc = sb_scheduler_submit(run->scheduler, &ops, "main", sb_value_ptr(&input), NULL);
	}
	return rc;
}

static uint64_t operations(const struct sb_workload_run *run)
{
	return run->param[COUNT];
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	const struct data *data = run->data;
	bool ok = true;

	for (uint64_t i = 0; i < run->param[COUNT] && ok; i++) {
		const struct drop *drop = &data->drop[i];

		ok = sb_expect_of(why, why_bytes, SB_OF("process", i), "runs", drop->runs, 1) &&
		     sb_expect_of(why, why_bytes, SB_OF("process", i),
				  "steps before its submission",
				  drop->begun_ns < drop->submitted_ns, 0);
		if (ok)
			sb_run_record_wake(run, drop->begun_ns - drop->submitted_ns);
	}
	return ok;
}

static void teardown(struct sb_workload_run *run)
{
	struct data *data = run->data;

	sb_parker_fini(&data->parker);
	free(data->drop);
}

const struct sb_workload sb_workload_trickle = {
	.name = "trickle",
	.operation = "process",
	.doc = "a submission now and then: CPU time and time to wake",
	.source = "this project",
	.params = params,
	.objective = "wake_ns_p90",
	.data_bytes = sizeof(struct data),
	.setup = setup,
	.start = start,
	.operations = operations,
	.check = check,
	.teardown = teardown,
};
