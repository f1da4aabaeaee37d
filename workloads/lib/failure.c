#include "workloads/lib/failure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct living {
	sb_pid *pid;
	size_t count;
	size_t room;
};

/* Those for whom there is no memory are left to the round's time-out. */
static void collect(void *arg, const struct sb_process_info *info)
{
	struct living *living = arg;

	if (living->count == living->room) {
		const size_t room = living->room ? 2 * living->room : 256;
		sb_pid *pid = realloc(living->pid, room * sizeof(*pid));

		if (!pid)
			return;
		living->pid = pid;
		living->room = room;
	}
	living->pid[living->count++] = info->pid;
}

void sb_failure_report(struct sb_failure *failure, int error)
{
	struct living living = { .room = 0 };
	int none = 0;

	if (!sb_cas_acq_rel(&failure->error, &none, error))
		return;
	sb_scheduler_list(failure->scheduler, collect, &living);
	for (size_t i = 0; i < living.count; i++)
		sb_scheduler_terminate(failure->scheduler, living.pid[i]);
	free(living.pid);
}

bool sb_failure_check(const struct sb_workload_run *run, char *why, size_t why_bytes)
{
	struct sb_failure *failure = run->data;
	const int error = sb_load_rlx(&failure->error);

	if (error)
		snprintf(why, why_bytes, "a process failed: %s", strerror(-error));
	return !error;
}
