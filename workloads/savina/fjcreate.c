/*
 * savina-fjcreate - Savina benchmark 4, Fork Join (actor creation).
 *
 * A driver creates so many processes, one after another, and sends each one
 * message, for which it computes the square of the sine of 37.2 and ends. One
 * operation is one process: spawned, sent to, stepped, ended.
 *
 * Check: every process got its own message, once, and computed what is computed
 * here.
 *
 * In Savina the driver is the main thread; here it is a process, which creates
 * them all in one step.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "workloads/lib/savina.h"

enum { PROCESSES };
enum { DRIVER };
enum { WORK = SB_SAVINA_START + 1 };

static const struct sb_param params[] = {
	[PROCESSES] = { "processes", 40000, 1, 1 << 23, NULL, "processes that are created" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

struct data {
	struct sb_savina_round round;
	double *square; /* [PROCESSES], what each has computed */
};

struct driver {
	struct sb_savina_process self;
};

struct actor {
	struct sb_savina_process self;
};

static int actor_receive(void *state, struct sb_step *step, union sb_value message)
{
	struct actor *a = state;
	struct data *data = (struct data *)a->self.round;

	(void)step;
	sb_savina_expect(&a->self, sb_savina_number(message) == a->self.id);
	/* Added: one that did it twice has twice as much. */
	data->square[a->self.id] += sb_savina_sin2(SB_SAVINA_THETA);
	return SB_DONE;
}

SB_SAVINA_PROCESS(actor, NULL);

static int create(struct driver *d, struct sb_step *step, uint64_t id)
{
	struct sb_savina_process process = { d->self.round, id };
	sb_pid pid;
	int rc = sb_step_spawn(step, &actor_ops, "main", sb_value_ptr(&process), &pid);

	if (rc)
		return rc;
	rc = sb_step_send(step, pid, sb_savina_message(WORK, id));
	if (rc)
		sb_scheduler_terminate(d->self.round->scheduler, pid);
	return rc;
}

static int driver_receive(void *state, struct sb_step *step, union sb_value message)
{
	struct driver *d = state;
	const uint64_t processes = d->self.round->param[PROCESSES];
	int rc = 0;

	sb_savina_expect(&d->self, sb_savina_kind(message) == SB_SAVINA_START);
	for (uint64_t i = 0; i < processes && !rc; i++)
		rc = create(d, step, i);
	return sb_savina_done(rc);
}

SB_SAVINA_PROCESS(driver, NULL);

static void teardown(struct sb_workload_run *run)
{
	free(((struct data *)run->data)->square);
	sb_savina_tear_down(run);
}

static int setup(struct sb_workload_run *run)
{
	struct data *data = run->data;
	const struct sb_savina_group group[] = {
		[DRIVER] = { .ops = &driver_ops, .processes = 1 },
	};
	const int rc = sb_savina_set_up(run, group, SB_ARRAY_SIZE(group));

	if (rc)
		return rc;
	data->square = calloc(run->param[PROCESSES], sizeof(*data->square));
	if (data->square)
		return 0;
	teardown(run);
	return -ENOMEM;
}

static int start(struct sb_workload_run *run)
{
	struct data *data = run->data;

	for (uint64_t i = 0; i < run->param[PROCESSES]; i++)
		data->square[i] = 0;
	return sb_savina_start(run);
}

static uint64_t operations(const struct sb_workload_run *run)
{
	return run->param[PROCESSES];
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	const struct data *data = run->data;
	const double expected = sb_savina_sin2(SB_SAVINA_THETA);

	if (!sb_savina_check(run, why, why_bytes))
		return false;
	for (uint64_t i = 0; i < run->param[PROCESSES]; i++) {
		if (data->square[i] == expected)
			continue;
		snprintf(why, why_bytes, "process %" PRIu64 " computed %g, expected %g", i,
			 data->square[i], expected);
		return false;
	}
	return true;
}

const struct sb_workload sb_workload_savina_fjcreate = {
	.name = "savina-fjcreate",
	.operation = "process",
	.doc = "processes created one after another for one message each (Savina 4, Fork Join "
	       "creation)",
	.source = SB_SAVINA("4: Fork Join (actor creation)"),
	.params = params,
	.data_bytes = sizeof(struct data),
	.setup = setup,
	.start = start,
	.operations = operations,
	.check = check,
	.teardown = teardown,
};
