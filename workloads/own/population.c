/*
 * population - what an idle process costs: --processes processes are spawned,
 * each runs one step and becomes Idle. When all are, the memory of this program
 * is read; then each is sent one message and is done. One operation is one
 * process: spawned, stepped, idle, woken, ended.
 *
 * bytes_per_process is the growth of the resident set since before the first of
 * them, divided by their number: process, state, PID map, event queue, and
 * whatever else there is, all included. Not counted is what the pools keep of
 * earlier rounds for later: free memory, which the processes do not use.
 *
 * Check: every process was idle at the same moment and got its own message.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "workloads/workload.h"

enum { PROCESSES };

static const struct sb_param params[] = {
	[PROCESSES] = { "processes", 1000000, 1, 1 << 24, NULL,
			"processes that are idle at the same time" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

struct data {
	struct sb_workload_run *run;
	uint64_t resident_before;
	sb_pid *member; /* [PROCESSES] */
	_Atomic(uint64_t) idle;
	_Atomic(uint64_t) answered;
};

/* Bytes of this program in memory; 0: not to be had. */
static uint64_t read_resident(void)
{
	FILE *statm = fopen("/proc/self/statm", "r");
	char line[128] = "";
	char *size_end;

	if (!statm)
		return 0;
	/* Pages: of the address space, then resident ones. */
	if (!fgets(line, sizeof(line), statm))
		line[0] = '\0';
	fclose(statm);
	(void)strtoull(line, &size_end, 10);
	return strtoull(size_end, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* ---- a member ---- */

static int member_init(void *state, const char *method, union sb_value input)
{
	if (strcmp(method, "main"))
		return -ENOTSUP;
	*(struct data **)state = input.ptr;
	return 0;
}

static int member_step(void *state, struct sb_step *step, const struct sb_event *events,
		       uint32_t count)
{
	struct data *data = *(struct data **)state;

	if (!count) {
		sb_add_rlx(&data->idle, 1);
		return SB_IDLE;
	}
	if (count != 1 || events[0].type != SB_EVENT_MESSAGE ||
	    events[0].data.u64 != sb_step_self(step))
		return -EPROTO;
	sb_add_rlx(&data->answered, 1);
	return SB_DONE;
}

static const struct sb_process_ops member_ops = {
	.name = "member",
	.state_bytes = sizeof(struct data *),
	.init = member_init,
	.step = member_step,
};

/* ---- the one who counts them ---- */

enum stage { SPAWNS, COUNTS, WAKES };

struct census {
	struct data *data;
	enum stage stage;
	uint64_t done; /* of this stage */
};

/* Steps of the long stages do so much at a time. */
#define CHUNK 256

static int census_init(void *state, const char *method, union sb_value input)
{
	if (strcmp(method, "main"))
		return -ENOTSUP;
	((struct census *)state)->data = input.ptr;
	return 0;
}

static int enter(struct census *c, enum stage stage)
{
	c->stage = stage;
	c->done = 0;
	return SB_CONTINUE;
}

static int spawn_some(struct census *c, struct sb_step *step)
{
	struct data *data = c->data;
	const uint64_t all = data->run->param[PROCESSES];
	int rc = 0;

	for (int i = 0; i < CHUNK && c->done < all && !rc; i++) {
		rc = sb_step_spawn(step, &member_ops, "main", sb_value_ptr(data),
				   &data->member[c->done]);
		c->done += !rc;
	}
	if (rc)
		return rc;
	return c->done < all ? SB_CONTINUE : enter(c, COUNTS);
}

static double measure_bytes(const struct data *data)
{
	const uint64_t resident = read_resident();
	struct sb_memory memory;

	if (!resident)
		return 0;
	sb_scheduler_read_memory(data->run->scheduler, &memory);
	return ((double)resident - (double)data->resident_before -
		(double)(memory.held_bytes - memory.used_bytes)) /
	       (double)data->run->param[PROCESSES];
}

static int count_them(struct census *c)
{
	struct data *data = c->data;

	if (sb_load_rlx(&data->idle) < data->run->param[PROCESSES])
		return SB_CONTINUE;
	data->run->round.bytes_per_process = measure_bytes(data);
	return enter(c, WAKES);
}

static int wake_some(struct census *c, struct sb_step *step)
{
	struct data *data = c->data;
	const uint64_t all = data->run->param[PROCESSES];

	for (int i = 0; i < CHUNK && c->done < all; i++) {
		const sb_pid pid = data->member[c->done++];
		const int rc = sb_step_send(step, pid, sb_value_u64(pid));

		if (rc)
			return rc;
	}
	return c->done < all ? SB_CONTINUE : SB_DONE;
}

static int census_step(void *state, struct sb_step *step, const struct sb_event *events,
		       uint32_t count)
{
	struct census *c = state;

	(void)events;
	if (count)
		return -ECANCELED;
	switch (c->stage) {
	case SPAWNS:
		return spawn_some(c, step);
	case COUNTS:
		return count_them(c);
	case WAKES:
		break;
	}
	return wake_some(c, step);
}

static const struct sb_process_ops census_ops = {
	.name = "census",
	.state_bytes = sizeof(struct census),
	.init = census_init,
	.step = census_step,
};

/* ---- the workload ---- */

static int setup(struct sb_workload_run *run)
{
	struct data *data = calloc(1, sizeof(*data));

	if (!data)
		return -ENOMEM;
	data->run = run;
	data->member = calloc(run->param[PROCESSES], sizeof(*data->member));
	if (!data->member) {
		free(data);
		return -ENOMEM;
	}
	/* Touched now: the list of PIDs is no part of what they cost. */
	memset(data->member, 1, run->param[PROCESSES] * sizeof(*data->member));
	data->resident_before = read_resident();
	run->data = data;
	return 0;
}

static int start(struct sb_workload_run *run)
{
	struct data *data = run->data;

	sb_store_rlx(&data->idle, 0);
	sb_store_rlx(&data->answered, 0);
	return sb_scheduler_submit(run->scheduler, &census_ops, "main", sb_value_ptr(data), NULL);
}

static uint64_t operations(const struct sb_workload_run *run)
{
	return run->param[PROCESSES];
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	struct data *data = run->data;
	const uint64_t idle = sb_load_rlx(&data->idle);
	const uint64_t answered = sb_load_rlx(&data->answered);

	if (idle == run->param[PROCESSES] && answered == idle)
		return true;
	snprintf(why, why_bytes,
		 "%" PRIu64 " of %" PRIu64 " processes were idle, %" PRIu64 " got their message",
		 idle, run->param[PROCESSES], answered);
	return false;
}

static void teardown(struct sb_workload_run *run)
{
	struct data *data = run->data;

	free(data->member);
	free(data);
}

const struct sb_workload sb_workload_population = {
	.name = "population",
	.operation = "process",
	.doc = "processes that are all idle at once: time and memory of each",
	.source = "this project",
	.params = params,
	.setup = setup,
	.start = start,
	.operations = operations,
	.check = check,
	.teardown = teardown,
};
