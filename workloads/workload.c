#include "workloads/workload.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "workloads/load/quantity.h"

#define TIME_MAX_NS 1e10

static void free_data(struct sb_workload_run *run)
{
	if (!run->workload->data_bytes)
		return;
	free(run->data);
	run->data = NULL;
}

int sb_workload_set_up(struct sb_workload_run *run)
{
	const struct sb_workload *workload = run->workload;
	int rc = 0;

	if (workload->data_bytes) {
		run->data = calloc(1, workload->data_bytes);
		if (!run->data)
			return -ENOMEM;
	}
	if (workload->setup)
		rc = workload->setup(run);
	if (rc)
		free_data(run);
	return rc;
}

void sb_workload_tear_down(struct sb_workload_run *run)
{
	if (run->workload->teardown)
		run->workload->teardown(run);
	free_data(run);
}

bool sb_workload_accept_time(const struct sb_param *param, const char *text, char *why)
{
	double ns;

	(void)param;
	snprintf(why, SB_WHY_BYTES, "expected a time with its unit, such as 10us, of at most 10s");
	return sb_quantity_time(text, &ns) && ns <= TIME_MAX_NS;
}

uint64_t sb_workload_now_ns(void)
{
	return sb_clock_ns();
}

uint64_t sb_workload_time_ns(const char *text)
{
	double ns = 0;

	(void)sb_quantity_time(text, &ns);
	return (uint64_t)ns;
}
