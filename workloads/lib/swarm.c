#include "workloads/lib/swarm.h"

#include <stdlib.h>

#include "core/platform/platform.h"
#include "workloads/lib/actor.h"
#include "workloads/lib/check.h"

struct state {
	struct sb_swarm_member *member;
};

SB_ACTOR_INIT(init, struct state)

void sb_work_ns(uint64_t ns)
{
	const uint64_t start = sb_clock_ns();

	if (sb_cpu_works(ns))
		return;
	while (sb_clock_ns() - start < ns)
		sb_cpu_pause();
}

static int step(void *state, struct sb_step *step, const struct sb_event *events, uint32_t count)
{
	struct sb_swarm_member *member = ((struct state *)state)->member;

	(void)events;
	if (count)
		return -ECANCELED;
	if (member->swarm->work_ns)
		sb_work_ns(member->swarm->work_ns);
	member->ran_on = step->worker;
	member->runs++;
	return SB_DONE;
}

static const struct sb_process_ops member_ops = {
	.name = "member",
	.state_bytes = sizeof(struct state),
	.init = init,
	.step = step,
};

int sb_swarm_init(struct sb_swarm *swarm, uint64_t size, uint64_t work_ns)
{
	swarm->size = size;
	swarm->work_ns = work_ns;
	swarm->member = calloc(size, sizeof(*swarm->member));
	for (uint64_t i = 0; swarm->member && i < size; i++)
		swarm->member[i].swarm = swarm;
	return swarm->member ? 0 : -ENOMEM;
}

void sb_swarm_fini(struct sb_swarm *swarm)
{
	free(swarm->member);
}

int sb_swarm_submit(struct sb_swarm *swarm, struct sb_scheduler *scheduler, uint64_t first,
		    uint64_t count)
{
	int rc = 0;

	for (uint64_t i = first; i < first + count && !rc; i++) {
		struct state state = { &swarm->member[i] };

		rc = sb_scheduler_submit(scheduler, &member_ops, "main", sb_value_ptr(&state),
					 NULL);
	}
	return rc;
}

int sb_swarm_spawn(struct sb_swarm *swarm, struct sb_step *step, uint64_t first, uint64_t count)
{
	int rc = 0;

	for (uint64_t i = first; i < first + count && !rc; i++) {
		struct state state = { &swarm->member[i] };

		state.member->made_by = step->worker;
		rc = sb_step_spawn(step, &member_ops, "main", sb_value_ptr(&state), NULL);
	}
	return rc;
}

bool sb_swarm_check(struct sb_swarm *swarm, uint64_t stolen, char *why, size_t why_bytes)
{
	uint64_t moved = 0;
	bool ok = true;

	for (uint64_t i = 0; i < swarm->size; i++) {
		struct sb_swarm_member *member = &swarm->member[i];

		ok = ok &&
		     sb_expect_of(why, why_bytes, SB_OF("process", i), "runs", member->runs, 1);
		moved += member->made_by && member->ran_on != member->made_by;
		member->runs = 0;
	}
	if (!ok || moved <= stolen)
		return ok;
	snprintf(why, why_bytes,
		 "%" PRIu64
		 " processes ran on another worker than the one that spawned them, but %" PRIu64
		 " were stolen",
		 moved, stolen);
	return false;
}

/* ---- what the workers have counted ---- */

struct sb_totals sb_read_totals(struct sb_scheduler *scheduler)
{
	const uint32_t workers = sb_scheduler_workers(scheduler);
	struct sb_worker_reading reading = { .steals = calloc(workers, sizeof(*reading.steals)) };
	struct sb_totals totals = { 0 };

	for (uint32_t i = 0; reading.steals && i < workers; i++) {
		sb_scheduler_read(scheduler, i, &reading);
		totals.steps += reading.counter[SB_COUNTER_steps];
		for (uint32_t victim = 0; victim < workers; victim++)
			totals.stolen += reading.steals[victim].items;
		if (!reading.recorded)
			totals.stolen = UINT64_MAX;
	}
	free(reading.steals);
	return totals;
}

/* ---- a workload of one swarm ---- */

struct producer {
	struct sb_swarm *swarm;
};

SB_ACTOR_INIT(producer_init, struct producer)

static int producer_step(void *state, struct sb_step *step, const struct sb_event *events,
			 uint32_t count)
{
	struct sb_swarm *swarm = ((struct producer *)state)->swarm;
	int rc;

	(void)events;
	if (count)
		return -ECANCELED;
	rc = sb_swarm_spawn(swarm, step, 0, swarm->size);
	return rc ? rc : SB_DONE;
}

static const struct sb_process_ops producer_ops = {
	.name = "producer",
	.state_bytes = sizeof(struct producer),
	.init = producer_init,
	.step = producer_step,
};

void sb_swarm_begin(struct sb_workload_run *run)
{
	struct sb_swarm *swarm = run->data;

	swarm->stolen_before = sb_read_totals(run->scheduler).stolen;
}

int sb_swarm_start_producer(struct sb_workload_run *run)
{
	struct producer input = { .swarm = run->data };

	sb_swarm_begin(run);
	run->round.start_ns = sb_clock_ns();
	return sb_scheduler_submit(run->scheduler, &producer_ops, "main", sb_value_ptr(&input),
				   NULL);
}

int sb_swarm_start_outside(struct sb_workload_run *run)
{
	struct sb_swarm *swarm = run->data;
	const uint64_t start_ns = sb_clock_ns();
	const int rc = sb_swarm_submit(swarm, run->scheduler, 0, swarm->size);

	run->round.submit_ns = sb_clock_ns() - start_ns;
	return rc;
}

bool sb_swarm_check_outside(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	return sb_swarm_check(run->data, 0, why, why_bytes);
}

bool sb_swarm_check_stolen(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	struct sb_swarm *swarm = run->data;
	const uint64_t stolen = sb_read_totals(run->scheduler).stolen;

	return sb_swarm_check(swarm,
			      stolen == UINT64_MAX ? UINT64_MAX : stolen - swarm->stolen_before,
			      why, why_bytes);
}

void sb_swarm_teardown(struct sb_workload_run *run)
{
	sb_swarm_fini(run->data);
}
