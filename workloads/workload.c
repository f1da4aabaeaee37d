#include "workloads/workload.h"

#include <errno.h>
#include <stdlib.h>

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
