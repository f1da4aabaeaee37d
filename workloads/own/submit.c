/*
 * submit - --submitters threads that are no workers submit --processes processes
 * of one step, as fast as they can. One operation is one process. ns_per_op is
 * from the first submission to the last completion, submit_ns_per_op to the
 * moment at which all submitters are through: the second never stands for the
 * first. The Go origin's Submit, Throughput and ParallelSubmit stop their clock
 * before the processes have run.
 *
 * The submitters wait for each other before they begin; that is not timed. They
 * run where the harness's thread may run: see --generator-cpus.
 *
 * Check: each process has run exactly once.
 */
#include <errno.h>
#include <stdlib.h>

#include "core/platform/platform.h"
#include "workloads/lib/meeting.h"
#include "workloads/lib/swarm.h"

enum { PROCESSES, SUBMITTERS };

static const struct sb_param params[] = {
	[PROCESSES] = { "processes", 100000, 1, 1 << 24, NULL, "processes that are submitted" },
	[SUBMITTERS] = { "submitters", 2, 1, 1024, NULL, "threads that submit them" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

struct submitter {
	struct data *data;
	struct sb_thread thread;
	uint64_t first;
	uint64_t count;
	uint64_t end_ns;
	int error;
};

struct data {
	struct sb_scheduler *scheduler;
	struct sb_swarm swarm;
	struct sb_meeting meeting;
	_Atomic(bool) cancelled;
	struct submitter *submitter; /* [SUBMITTERS] */
};

static void *submit_share(void *arg)
{
	struct submitter *self = arg;
	struct data *data = self->data;

	sb_thread_name("sb", "submit", -1);
	sb_meeting_join(&data->meeting);
	if (!sb_load_acq(&data->cancelled))
		self->error =
			sb_swarm_submit(&data->swarm, data->scheduler, self->first, self->count);
	self->end_ns = sb_clock_ns();
	return NULL;
}

static void divide(const struct sb_workload_run *run)
{
	struct data *data = run->data;
	const uint64_t n = run->param[SUBMITTERS];

	for (uint64_t i = 0; i < n; i++) {
		struct submitter *s = &data->submitter[i];
		const uint64_t end = data->swarm.size * (i + 1) / n;

		s->data = data;
		s->first = data->swarm.size * i / n;
		s->count = end - s->first;
		s->error = 0;
	}
}

/* Returns how many there are; the harness's thread takes part in the meeting. */
static uint64_t start_threads(struct data *data, uint64_t n, int *error)
{
	uint64_t started = 0;

	*error = 0;
	sb_store_rlx(&data->cancelled, false);
	sb_meeting_call(&data->meeting, n + 1);
	while (started < n && !*error) {
		struct submitter *s = &data->submitter[started];

		*error = sb_thread_start(&s->thread, -1, submit_share, s);
		started += !*error;
	}
	if (*error) {
		sb_store_rel(&data->cancelled, true);
		sb_meeting_call_off(&data->meeting);
	}
	return started;
}

static int start(struct sb_workload_run *run)
{
	struct data *data = run->data;
	uint64_t started;
	uint64_t end_ns = 0;
	int rc;

	divide(run);
	started = start_threads(data, run->param[SUBMITTERS], &rc);
	/* All but this thread have come, or will have a moment later. */
	while (sb_load_acq(&data->meeting.come) + 1 < data->meeting.expected)
		sb_thread_yield();
	run->round.start_ns = sb_clock_ns();
	sb_meeting_join(&data->meeting);
	for (uint64_t i = 0; i < started; i++) {
		struct submitter *s = &data->submitter[i];

		sb_thread_join(&s->thread);
		end_ns = sb_max_u64(end_ns, s->end_ns);
		rc = rc ? rc : s->error;
	}
	run->round.submit_ns = end_ns - run->round.start_ns;
	return rc;
}

static int setup(struct sb_workload_run *run)
{
	struct data *data = run->data;
	int rc;

	data->scheduler = run->scheduler;
	data->submitter = calloc(run->param[SUBMITTERS], sizeof(*data->submitter));
	if (!data->submitter)
		return -ENOMEM;
	rc = sb_swarm_init(&data->swarm, run->param[PROCESSES], 0);
	if (rc)
		free(data->submitter);
	return rc;
}

static uint32_t submitters(const uint64_t *param)
{
	return (uint32_t)param[SUBMITTERS];
}

static uint64_t operations(const struct sb_workload_run *run)
{
	return run->param[PROCESSES];
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	struct data *data = run->data;

	return sb_swarm_check(&data->swarm, 0, why, why_bytes);
}

static void teardown(struct sb_workload_run *run)
{
	struct data *data = run->data;

	sb_swarm_fini(&data->swarm);
	free(data->submitter);
}

const struct sb_workload sb_workload_submit = {
	.name = "submit",
	.operation = "process",
	.doc = "threads that are no workers submit processes of one step",
	.source = "wippyai/runtime, benchmarks Submit and ParallelSubmit",
	.params = params,
	.data_bytes = sizeof(struct data),
	.submitters = submitters,
	.setup = setup,
	.start = start,
	.operations = operations,
	.check = check,
	.teardown = teardown,
};
