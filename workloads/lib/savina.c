#include "workloads/lib/savina.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double sb_savina_sin2(double theta)
{
	const double sine = sin(theta);

	return sine * sine;
}

int sb_savina_fifo_init(struct sb_savina_fifo *fifo, uint64_t bound)
{
	*fifo = (struct sb_savina_fifo){ .bound = bound };
	fifo->item = calloc(bound, sizeof(*fifo->item));
	return fifo->item ? 0 : -ENOMEM;
}

void sb_savina_fifo_fini(struct sb_savina_fifo *fifo)
{
	free(fifo->item);
}

int sb_savina_set_up(struct sb_workload_run *run, const struct sb_savina_group *group,
		     uint32_t groups)
{
	struct sb_savina_round *round = run->data;

	SB_ASSERT(groups, <=, SB_SAVINA_GROUPS);
	round->scheduler = run->scheduler;
	round->param = run->param;
	for (uint32_t i = 0; i < groups; i++) {
		round->group[i] = group[i];
		round->group[i].pid = calloc(group[i].processes, sizeof(sb_pid));
		if (!round->group[i].pid) {
			sb_savina_tear_down(run);
			return -ENOMEM;
		}
	}
	return 0;
}

void sb_savina_tear_down(struct sb_workload_run *run)
{
	struct sb_savina_round *round = run->data;

	for (uint32_t i = 0; i < SB_SAVINA_GROUPS; i++)
		free(round->group[i].pid);
}

/* PIDs of an earlier round name nobody any more. Those that a step spawns are
 * its process's to read, and to end. */
static void end_all(struct sb_savina_round *round)
{
	for (uint32_t i = 0; i < SB_SAVINA_GROUPS; i++) {
		const struct sb_savina_group *group = &round->group[i];

		for (uint64_t p = 0; p < group->processes; p++) {
			if (!group->is_spawned)
				sb_scheduler_terminate(round->scheduler, group->pid[p]);
		}
	}
}

void sb_savina_fail(struct sb_savina_round *round, int error)
{
	int none = 0;

	if (sb_cas_acq_rel(&round->error, &none, error))
		end_all(round);
}

static int submit_group(struct sb_savina_round *round, struct sb_savina_group *group)
{
	int rc = 0;

	for (uint64_t i = 0; i < group->processes && !rc; i++) {
		struct sb_savina_process process = { round, i };

		rc = sb_scheduler_submit(round->scheduler, group->ops, "main",
					 sb_value_ptr(&process), &group->pid[i]);
	}
	return rc;
}

int sb_savina_start(struct sb_workload_run *run)
{
	struct sb_savina_round *round = run->data;
	int rc = 0;

	sb_store_rlx(&round->wrong, 0);
	sb_store_rlx(&round->error, 0);
	for (uint32_t i = 0; i < SB_SAVINA_GROUPS && !rc; i++) {
		if (!round->group[i].is_spawned)
			rc = submit_group(round, &round->group[i]);
	}
	if (!rc)
		rc = sb_scheduler_send(round->scheduler, round->group[0].pid[0],
				       sb_savina_message(SB_SAVINA_START, 0));
	if (rc)
		end_all(round);
	return rc;
}

bool sb_savina_check(const struct sb_workload_run *run, char *why, size_t why_bytes)
{
	struct sb_savina_round *round = run->data;
	const int error = sb_load_rlx(&round->error);
	const uint64_t wrong = sb_load_rlx(&round->wrong);

	if (error)
		snprintf(why, why_bytes, "a process failed: %s", strerror(-error));
	else if (wrong)
		snprintf(why, why_bytes, "%" PRIu64 " messages were not what they should be",
			 wrong);
	return !error && !wrong;
}

int sb_savina_init(void *state, const char *method, union sb_value input)
{
	if (strcmp(method, "main"))
		return -ENOTSUP;
	*(struct sb_savina_process *)state = *(const struct sb_savina_process *)input.ptr;
	return 0;
}

int sb_savina_send_all(const struct sb_savina_process *self, struct sb_step *step, uint32_t group,
		       union sb_value message)
{
	const uint64_t processes = self->round->group[group].processes;
	int rc = 0;

	for (uint64_t i = 0; i < processes && !rc; i++)
		rc = sb_savina_send(self, step, group, i, message);
	return rc;
}
