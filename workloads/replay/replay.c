/*
 * replay - does again what processes did in a run that was recorded (run --record-actors), or that
 * another program's trace was converted to: who spawns whom, who sends to whom, and for how long
 * each step works. A step begins when its messages have come, so what depended on what still does;
 * on which worker and when is up to the scheduler. What came from outside comes at the recorded
 * time, --pace times as fast. One operation is one recorded step.
 *
 * Check: every process made all of its steps, and spawned and sent as recorded.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/platform/platform.h"
#include "core/scheduler.h"
#include "workloads/lib/actor.h"
#include "workloads/lib/failure.h"
#include "workloads/lib/work.h"
#include "workloads/replay/actors.h"
#include "workloads/workload.h"

enum { ACTORS, PACE };

static const char *const initial[] = { "example", NULL };

static const struct sb_param params[] = {
	[ACTORS] = { "actors", 0, 0, SB_PARAM_TEXT, initial,
		     "file of run --record-actors; example: a small one that is built in" },
	[PACE] = { "pace", 100, 0, 100000, NULL,
		   "how fast what comes from outside comes, in percent of the recorded pace; 0: at "
		   "once" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

/* One process spawns two, which send to a fourth. */
static const char example[] = SB_ACTORS_FIRST_LINE "\n"
						   "spawn 0 0\n"
						   "step 0 0 0 2000 +1 +2 +3 >1 >2\n"
						   "step 2000 1 1 5000 >3\n"
						   "step 2100 2 1 3000 >3\n"
						   "step 5500 3 1 1000\n"
						   "step 7500 3 1 1000\n";

/*
 * Whom to send to, by its number: its PID shifted by one, and 1; or, before it has been spawned,
 * twice the number of messages that wait for that.
 */
typedef _Atomic(uint64_t) slot;

struct data {
	struct sb_failure failure;
	struct sb_actors actors;
	double units_per_ns;
	double pace; /* 0: at once */
	slot *slot;  /* [actors] */
	sb_pid anchor;
	struct sb_thread thread; /* what comes from outside */
	bool is_running;
	_Atomic(bool) is_stopped;
	/* Of processes that have ended. */
	_Atomic(uint64_t) steps;
	_Atomic(uint64_t) acts;
};

struct process {
	struct data *data; /* first: see failure.h */
	uint32_t number;
	uint64_t next;	   /* step */
	uint64_t messages; /* that no step has taken */
	uint64_t acts;
};

static const struct sb_process_ops process_ops;

/* ---- spawning and sending, from a step or from outside (step NULL) ---- */

static int send_to(struct data *data, struct sb_step *step, sb_pid pid)
{
	int rc;

	do {
		rc = step ? sb_step_send(step, pid, sb_value_u64(0))
			  : sb_scheduler_send(data->failure.scheduler, pid, sb_value_u64(0));
	} while (rc == -EWOULDBLOCK && !step);
	/* It may have ended, as it had when this was recorded. */
	return rc == -ESRCH ? 0 : rc;
}

static int send(struct data *data, struct sb_step *step, uint32_t number)
{
	uint64_t word = sb_load_acq(&data->slot[number]);

	while (!(word & 1)) {
		if (sb_cas_weak_acq_rel(&data->slot[number], &word, word + 2))
			return 0;
	}
	return send_to(data, step, word >> 1);
}

static int spawn(struct data *data, struct sb_step *step, uint32_t number)
{
	struct process input = { .data = data, .number = number };
	uint64_t waiting;
	sb_pid pid;
	int rc = step ? sb_step_spawn(step, &process_ops, "main", sb_value_ptr(&input), &pid)
		      : sb_scheduler_submit(data->failure.scheduler, &process_ops, "main",
					    sb_value_ptr(&input), &pid);

	if (rc)
		return rc;
	for (waiting = sb_xchg_acq_rel(&data->slot[number], pid << 1 | 1) >> 1; waiting && !rc;
	     waiting--)
		rc = send_to(data, step, pid);
	return rc;
}

static int act(struct data *data, struct sb_step *step, const struct sb_actor_act *act)
{
	return act->spawns ? spawn(data, step, act->process) : send(data, step, act->process);
}

/* ---- a process ---- */

static int process_init(void *state, const char *method, union sb_value input)
{
	(void)method; /* there is one */
	*(struct process *)state = *(const struct process *)input.ptr;
	return 0;
}

static const struct sb_actor_step *next_step(const struct process *p)
{
	const struct sb_actors *actors = &p->data->actors;
	const struct sb_actor *actor = &actors->actor[p->number];

	return p->next < actor->steps ? &actors->step[actor->first_step + p->next] : NULL;
}

static int do_step(struct process *p, struct sb_step *step, const struct sb_actor_step *recorded)
{
	struct data *data = p->data;
	int rc = 0;

	p->messages -= recorded->messages;
	p->next++;
	sb_work_spin((uint64_t)((double)recorded->work_ns * data->units_per_ns));
	for (uint32_t i = 0; i < recorded->acts && !rc; i++)
		rc = act(data, step, &data->actors.act[recorded->first_act + i]);
	p->acts += recorded->acts;
	return rc;
}

static int process_advance(void *state, struct sb_step *step, const struct sb_event *events,
			   uint32_t count)
{
	struct process *p = state;
	const struct sb_actor_step *recorded = next_step(p);
	int rc;

	if (!sb_actor_only_messages(events, count))
		return -ECANCELED;
	p->messages += count;
	if (recorded && p->messages < recorded->messages)
		return SB_IDLE;
	rc = recorded ? do_step(p, step, recorded) : 0;
	if (rc)
		return rc;
	recorded = next_step(p);
	if (recorded)
		return p->messages < recorded->messages ? SB_IDLE : SB_CONTINUE;
	sb_add_rlx(&p->data->steps, p->next);
	sb_add_rlx(&p->data->acts, p->acts);
	return SB_DONE;
}

SB_FAILURE_STEP(process)

static const struct sb_process_ops process_ops = {
	.name = "replayed",
	.state_bytes = sizeof(struct process),
	.init = process_init,
	.step = process_step,
};

/* Keeps the round from being over while something is still to come: ends with a message. */
static int anchor_init(void *state, const char *method, union sb_value input)
{
	(void)state;
	(void)method;
	(void)input;
	return 0;
}

static int anchor_step(void *state, struct sb_step *step, const struct sb_event *events,
		       uint32_t count)
{
	(void)state;
	(void)step;
	(void)events;
	return count ? SB_DONE : SB_IDLE;
}

static const struct sb_process_ops anchor_ops = {
	.name = "anchor",
	.state_bytes = 1,
	.init = anchor_init,
	.step = anchor_step,
};

/* ---- what comes from outside, on a thread of its own ---- */

static void wait_until(const struct data *data, uint64_t start_ns, uint64_t at_ns)
{
	const uint64_t until =
		data->pace > 0 ? start_ns + (uint64_t)((double)at_ns / data->pace) : 0;
	uint64_t now = sb_clock_ns();

	while (now < until && !sb_load_rlx(&data->failure.error) &&
	       !sb_load_rlx(&data->is_stopped)) {
		sb_thread_sleep(sb_min_u64(until - now, 10000000));
		now = sb_clock_ns();
	}
}

static void *run_outside(void *arg)
{
	struct data *data = arg;
	const uint64_t start_ns = sb_clock_ns();
	int rc = 0;

	sb_thread_name("sb", "gen", 0);
	for (uint64_t i = 0; i < data->actors.arrivals && !rc; i++) {
		const struct sb_actor_arrival *arrival = &data->actors.arrival[i];

		wait_until(data, start_ns, arrival->at_ns);
		rc = sb_load_rlx(&data->failure.error);
		rc = rc ? rc : act(data, NULL, &arrival->act);
	}
	if (rc)
		sb_failure_report(&data->failure, rc);
	(void)send_to(data, NULL, data->anchor);
	return NULL;
}

/* ---- a round ---- */

static int start(struct sb_workload_run *run)
{
	struct data *data = run->data;
	int rc;

	sb_failure_clear(run);
	for (uint32_t i = 0; i < data->actors.actors; i++)
		sb_store_rlx(&data->slot[i], 0);
	sb_store_rlx(&data->steps, 0);
	sb_store_rlx(&data->acts, 0);
	rc = sb_scheduler_submit(run->scheduler, &anchor_ops, "main", sb_value_u64(0),
				 &data->anchor);
	if (!rc)
		rc = sb_thread_start(&data->thread, -1, run_outside, data);
	data->is_running = !rc;
	return sb_failure_started(run, rc);
}

static uint64_t operations(const struct sb_workload_run *run)
{
	const struct data *data = run->data;

	return data->actors.steps;
}

static void join(struct data *data)
{
	if (data->is_running)
		sb_thread_join(&data->thread);
	data->is_running = false;
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	struct data *data = run->data;
	const struct sb_actors *actors = &data->actors;
	const uint64_t steps = sb_load_rlx(&data->steps);
	const uint64_t acts = sb_load_rlx(&data->acts);

	join(data);
	if (!sb_failure_check(run, why, why_bytes))
		return false;
	if (steps == actors->steps && acts == actors->acts)
		return true;
	snprintf(why, why_bytes,
		 "%" PRIu64 " steps with %" PRIu64 " spawns and messages, expected %" PRIu64
		 " with %" PRIu64,
		 steps, acts, actors->steps, actors->acts);
	return false;
}

/* ---- set-up ---- */

static int read_actors(struct sb_actors *actors, const char *text, char *why)
{
	if (!strcmp(text, initial[0]))
		return sb_actors_parse(actors, example, strlen(example), why);
	return sb_actors_read(actors, text, why);
}

static bool accept(const struct sb_param *param, const char *text, char *why)
{
	struct sb_actors actors;

	(void)param;
	if (read_actors(&actors, text, why))
		return false;
	sb_actors_free(&actors);
	return true;
}

static void teardown(struct sb_workload_run *run)
{
	struct data *data = run->data;

	sb_store_rlx(&data->is_stopped, true);
	join(data);
	sb_actors_free(&data->actors);
	free(data->slot);
}

static int setup(struct sb_workload_run *run)
{
	struct data *data = run->data;
	char why[SB_WHY_BYTES];
	int rc = read_actors(&data->actors, run->text[ACTORS], why);

	if (rc)
		return rc;
	data->pace = (double)run->param[PACE] / 100;
	data->units_per_ns = (double)sb_work_units_per_ms() / 1e6;
	data->slot = calloc(data->actors.actors, sizeof(*data->slot));
	if (data->slot)
		return 0;
	teardown(run);
	return -ENOMEM;
}

static bool describe_bound(const struct sb_workload_run *run, char *out, size_t bytes)
{
	const struct data *data = run->data;
	const struct sb_actors *actors = &data->actors;
	const uint64_t last_ns = actors->arrivals ? actors->arrival[actors->arrivals - 1].at_ns : 0;

	if (data->pace > 0)
		snprintf(out, bytes,
			 "the recorded pace of what comes from outside bounds the result: a round "
			 "takes at "
			 "least %.3g ms; --pace 0 removes that",
			 1e-6 * (double)last_ns / data->pace);
	return data->pace > 0 && last_ns;
}

const struct sb_workload sb_workload_replay = {
	.name = "replay",
	.operation = "step",
	.doc = "does again what processes did in a recorded run, with what depended on what",
	.source = "this project",
	.params = params,
	.data_bytes = sizeof(struct data),
	.accept = accept,
	.submitters = sb_workload_one_submitter,
	.setup = setup,
	.describe_bound = describe_bound,
	.start = start,
	.operations = operations,
	.check = check,
	.teardown = teardown,
};
