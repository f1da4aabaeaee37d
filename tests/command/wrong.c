/*
 * wrong.c - workloads for the tests: `wrong`, whose answer is never right,
 * `stuck`, whose process never ends, `deaf`, whose step never returns,
 * `crashing`, whose step writes where nothing may be written, and `faulting`, whose steps
 * do nothing but touch new memory. A run with the first two must have no numbers and exit
 * with status 2.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "workloads/workload.h"

static const struct sb_param no_params[] = { { NULL, 0, 0, 0, NULL, NULL } };

static int init(void *state, const char *method, union sb_value input)
{
	(void)method;
	*(bool *)state = input.u64;
	return 0;
}

static int step(void *state, struct sb_step *output, const struct sb_event *events, uint32_t count)
{
	(void)output;
	(void)events;
	(void)count;
	return *(bool *)state ? SB_IDLE : SB_DONE;
}

static int step_deaf(void *state, struct sb_step *output, const struct sb_event *events,
		     uint32_t count)
{
	(void)state;
	(void)output;
	(void)events;
	(void)count;
	fputs("deaf\n", stderr);
	while (pause())
		continue;
	return SB_DONE;
}

static int step_crashing(void *state, struct sb_step *output, const struct sb_event *events,
			 uint32_t count)
{
	char *page = mmap(NULL, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	(void)output;
	(void)events;
	(void)count;
	if (page != MAP_FAILED)
		*page = 1;
	return SB_DONE;
}

#define FAULTS 512

static int step_faulting(void *state, struct sb_step *output, const struct sb_event *events,
			 uint32_t count)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *block = mmap(NULL, FAULTS * page, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	(void)output;
	(void)events;
	(void)count;
	if (block == MAP_FAILED)
		return SB_DONE;
	(void)madvise((void *)(uintptr_t)block, FAULTS * page, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < FAULTS; i++)
		block[i * page] = 1;
	(void)munmap((void *)(uintptr_t)block, FAULTS * page);
	return SB_DONE;
}

static const struct sb_process_ops ops = {
	.name = "wrong",
	.state_bytes = sizeof(bool),
	.init = init,
	.step = step,
};

static const struct sb_process_ops ops_deaf = {
	.name = "deaf",
	.state_bytes = sizeof(bool),
	.init = init,
	.step = step_deaf,
};

static const struct sb_process_ops ops_crashing = {
	.name = "crashing",
	.state_bytes = sizeof(bool),
	.init = init,
	.step = step_crashing,
};

static const struct sb_process_ops ops_faulting = {
	.name = "faulting",
	.state_bytes = sizeof(bool),
	.init = init,
	.step = step_faulting,
};

static int setup(struct sb_workload_run *run)
{
	(void)run;
	return 0;
}

static int start_wrong(struct sb_workload_run *run)
{
	return sb_scheduler_submit(run->scheduler, &ops, "main", sb_value_u64(false), NULL);
}

static int start_stuck(struct sb_workload_run *run)
{
	return sb_scheduler_submit(run->scheduler, &ops, "main", sb_value_u64(true), NULL);
}

static int start_deaf(struct sb_workload_run *run)
{
	return sb_scheduler_submit(run->scheduler, &ops_deaf, "main", sb_value_u64(true), NULL);
}

static int start_crashing(struct sb_workload_run *run)
{
	return sb_scheduler_submit(run->scheduler, &ops_crashing, "main", sb_value_u64(true), NULL);
}

static int start_faulting(struct sb_workload_run *run)
{
	return sb_scheduler_submit(run->scheduler, &ops_faulting, "main", sb_value_u64(false),
				   NULL);
}

static bool always_right(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	(void)run;
	(void)why;
	(void)why_bytes;
	return true;
}

static uint64_t operations(const struct sb_workload_run *run)
{
	(void)run;
	return 1;
}

static bool never_right(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	(void)run;
	snprintf(why, why_bytes, "it never is right");
	return false;
}

static void teardown(struct sb_workload_run *run)
{
	(void)run;
}

const struct sb_workload sb_workload_wrong = {
	.name = "wrong",
	.operation = "process",
	.doc = "for tests: its answer is never right",
	.source = "tests",
	.params = no_params,
	.setup = setup,
	.start = start_wrong,
	.operations = operations,
	.check = never_right,
	.teardown = teardown,
};

const struct sb_workload sb_workload_stuck = {
	.name = "stuck",
	.operation = "process",
	.doc = "for tests: it never ends",
	.source = "tests",
	.params = no_params,
	.setup = setup,
	.start = start_stuck,
	.operations = operations,
	.check = never_right,
	.teardown = teardown,
};

const struct sb_workload sb_workload_deaf = {
	.name = "deaf",
	.operation = "process",
	.doc = "for tests: its step never returns",
	.source = "tests",
	.params = no_params,
	.setup = setup,
	.start = start_deaf,
	.operations = operations,
	.check = never_right,
	.teardown = teardown,
};

const struct sb_workload sb_workload_crashing = {
	.name = "crashing",
	.operation = "process",
	.doc = "for tests: its step writes where nothing may be written",
	.source = "tests",
	.params = no_params,
	.setup = setup,
	.start = start_crashing,
	.operations = operations,
	.check = never_right,
	.teardown = teardown,
};

const struct sb_workload sb_workload_faulting = {
	.name = "faulting",
	.operation = "process",
	.doc = "for tests: its steps fault for pages",
	.source = "tests",
	.params = no_params,
	.setup = setup,
	.start = start_faulting,
	.operations = operations,
	.check = always_right,
	.teardown = teardown,
};
