#include "harness/fleet/slurm.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "harness/fleet/slurm_job.h"
#include "harness/system/program.h"
#include "harness/terminal/interrupts.h"
#include "harness/terminal/status.h"

/* How often the controller is asked. */
#define POLL_S	     2
/* After its job a chunk's store may be seen late, on a network file system. */
#define SETTLE_POLLS 2
/* So many tries that brought nothing end it. */
#define TRIES_MAX    3

/* The state of a chunk, as the controller has it. */
struct task {
	unsigned long job; /* the latest that had it; 0: none is known */
	bool is_under_way;
	bool is_held; /* Slurm could not start it, and would not try again */
	char state[24];
	char node[64];
};

struct run {
	struct sb_slurm *slurm;
	struct task *task; /* [chunks + 1], by number */
	uint32_t running;
	uint32_t waiting;
	uint32_t whole;	    /* chunks that have completed */
	uint64_t partial;   /* bytes of those that were stopped */
	bool is_known;	    /* the controller has answered once */
	bool is_unanswered; /* it did not the last time */
	char reason[64];    /* why a task waits */
};

/* ---- the chunks' files ---- */

/* Whether there is more than at the last look. */
static bool look(struct run *run)
{
	const struct sb_slurm *slurm = run->slurm;
	uint64_t partial = 0;
	uint32_t whole = 0;
	bool is_more;

	for (uint32_t k = 1; k <= slurm->chunks; k++) {
		if (sb_slurm_has(slurm, k))
			whole++;
		else
			partial += sb_slurm_bytes(slurm, k, SB_SLURM_PARTIAL);
	}
	is_more = whole > run->whole || partial > run->partial;
	sb_progress_done(slurm->progress, whole - run->whole, whole - run->whole);
	run->whole = whole;
	run->partial = partial;
	return is_more;
}

/* ---- the state of the tasks ---- */

/* Of a job that will not run again by itself. */
static bool has_ended(const char *state)
{
	static const char *const ends[] = { "COMPLETED", "CANCELLED",	  "FAILED",   "TIMEOUT",
					    "NODE_FAIL", "BOOT_FAIL",	  "DEADLINE", "PREEMPTED",
					    "REVOKED",	 "OUT_OF_MEMORY", NULL };

	for (uint32_t i = 0; ends[i]; i++) {
		if (!strcmp(state, ends[i]))
			return true;
	}
	return false;
}

enum { JOB, CHUNK, STATE, NODE, REASON, FIELDS };

/* "17|3|RUNNING|n1|None" */
static void take_task(struct run *run, char *line)
{
	char *field[FIELDS];
	uint32_t n = 0;
	struct task now;
	struct task *task;
	unsigned long number;

	while (n < FIELDS && (field[n] = strsep(&line, "|")))
		n++;
	number = n == FIELDS ? strtoul(field[CHUNK], NULL, 10) : 0;
	if (!number || number > run->slurm->chunks)
		return;
	now = (struct task){ .job = strtoul(field[JOB], NULL, 10),
			     .is_under_way = !has_ended(field[STATE]),
			     .is_held = strstr(field[REASON], "requeued held") };
	now.is_under_way &= !now.is_held;
	snprintf(now.state, sizeof(now.state), "%s", field[STATE]);
	snprintf(now.node, sizeof(now.node), "%s", field[NODE]);
	task = &run->task[number];
	if (now.job >= task->job)
		*task = now;
	if (!now.is_under_way)
		return;
	if (strcmp(now.state, "PENDING") != 0) {
		run->running++;
		return;
	}
	run->waiting++;
	snprintf(run->reason, sizeof(run->reason), "%s", field[REASON]);
}

/* The chunk is submitted again, as one that has ended early. */
static void cancel(const struct task *task, uint32_t chunk)
{
	char name[50];
	const char *argv[] = { "scancel", name, NULL };
	struct sb_program program = { .argv = argv };
	int rc;

	snprintf(name, sizeof(name), "%lu_%" PRIu32, task->job, chunk);
	rc = sb_program_run(&program);
	if (rc || !sb_program_succeeded(&program))
		sb_note("%s is held by Slurm, and cannot be cancelled", name);
	sb_program_free(&program);
}

static void cancel_held(const struct run *run)
{
	for (uint32_t k = 1; k <= run->slurm->chunks; k++) {
		if (run->task[k].is_held)
			cancel(&run->task[k], k);
	}
}

static void take_tasks(struct run *run, char *rest)
{
	char *line;

	run->running = run->waiting = 0;
	run->reason[0] = '\0';
	while (rest && (line = strsep(&rest, "\n")))
		take_task(run, line);
}

/* Nothing is known from a controller that does not answer any more: it may be started again. */
static int ask(struct run *run)
{
	char name[100];
	const char *argv[] = {
		"squeue", "--noheader", "--array", "--states=all", "--format=%F|%K|%T|%N|%r",
		name,	  NULL
	};
	struct sb_program squeue = { .argv = argv };
	int rc;

	snprintf(name, sizeof(name), "--name=%s", run->slurm->name);
	/* The first failure is an error, a later one is not. */
	rc = run->is_known ? sb_program_run(&squeue) : sb_slurm_call(&squeue);
	if (!run->is_known && rc) {
		sb_program_free(&squeue);
		return rc;
	}
	if (!rc && sb_program_succeeded(&squeue)) {
		take_tasks(run, squeue.text);
		cancel_held(run);
		run->is_known = true;
		run->is_unanswered = false;
	} else {
		if (!run->is_unanswered)
			sb_note("squeue does not answer (%s); still waiting",
				sb_program_line(&squeue));
		run->is_unanswered = true;
	}
	sb_program_free(&squeue);
	return 0;
}

/* ---- waiting ---- */

static void show(const struct run *run)
{
	char text[160];

	snprintf(text, sizeof(text), "%" PRIu32 " running, %" PRIu32 " waiting%s%s%s", run->running,
		 run->waiting, *run->reason ? " (" : "", run->reason, *run->reason ? ")" : "");
	sb_progress_phase(run->slurm->progress, "slurm", text);
}

static void pause_between(void)
{
	const struct timespec time = { .tv_sec = POLL_S };

	/* A signal ends it, as it should. */
	(void)nanosleep(&time, NULL);
}

/* Waits until no task is under way. is_more: whether chunks or rows have arrived. */
static int wait_for_tasks(struct run *run, bool *is_more)
{
	uint32_t settled = 0;

	*is_more = false;
	while (settled < SETTLE_POLLS && run->whole < run->slurm->chunks &&
	       !sb_load_rlx(&sb_interrupted)) {
		const int rc = ask(run);

		if (rc)
			return rc;
		*is_more |= look(run);
		show(run);
		settled = run->is_unanswered || run->running || run->waiting ? 0 : settled + 1;
		if (run->whole < run->slurm->chunks)
			pause_between();
	}
	return 0;
}

/* Notes each chunk that has stopped before its end. */
static void tell_early_ends(const struct run *run)
{
	for (uint32_t k = 1; k <= run->slurm->chunks; k++) {
		const struct task *task = &run->task[k];

		if (!sb_slurm_has(run->slurm, k))
			sb_note("chunk %" PRIu32 " of %" PRIu32 " ended early: %s%s%s (%s/%" PRIu32
				".out)",
				k, run->slurm->chunks, *task->state ? task->state : "unknown",
				*task->node ? " on " : "", task->node, run->slurm->directory, k);
	}
}

static int run_tries(struct run *run)
{
	const uint32_t chunks = run->slurm->chunks;
	uint32_t in_vain = 0;
	bool is_more;
	/* Tasks that an earlier submitter left. */
	int rc = wait_for_tasks(run, &is_more);

	while (!rc && run->whole < chunks && in_vain < TRIES_MAX && !sb_load_rlx(&sb_interrupted)) {
		rc = sb_slurm_submit(run->slurm);
		rc = rc ? rc : wait_for_tasks(run, &is_more);
		if (rc)
			break;
		in_vain = is_more ? 0 : in_vain + 1;
		if (run->whole < chunks && !sb_load_rlx(&sb_interrupted))
			tell_early_ends(run);
	}
	return rc;
}

int sb_slurm_run(struct sb_slurm *slurm)
{
	struct run run = { .slurm = slurm };
	int rc;

	run.task = calloc(slurm->chunks + 1, sizeof(*run.task));
	if (!run.task)
		return sb_fail_memory();
	rc = run_tries(&run);
	free(run.task);
	return rc;
}

/* ---- the cluster ---- */

static bool is_known(char *const *types, uint32_t n, const char *type)
{
	for (uint32_t i = 0; i < n; i++) {
		if (!strcmp(types[i], type))
			return true;
	}
	return false;
}

/* "rome,nvme" is "rome&nvme". */
static int add_type(char ***types, uint32_t *n, char *features)
{
	char **more;

	for (char *c = features; *c; c++) {
		if (*c == ',')
			*c = '&';
	}
	if (!*features || !strcmp(features, "(null)"))
		return sb_fail(SB_EXIT_USAGE,
			       "--nodes-as: a node has no features; expected a type of each node, "
			       "as Feature= in slurm.conf");
	if (is_known(*types, *n, features))
		return 0;
	more = reallocarray(*types, *n + 1, sizeof(*more));
	if (!more)
		return sb_fail_memory();
	*types = more;
	more[*n] = strdup(features);
	if (!more[*n])
		return sb_fail_memory();
	(*n)++;
	return 0;
}

int sb_slurm_node_types(char ***types, uint32_t *n)
{
	const char *argv[] = { "sinfo", "--noheader", "--Node", "--format=%f", NULL };
	struct sb_program sinfo = { .argv = argv };
	int rc = sb_slurm_call(&sinfo);
	char *rest = sinfo.text;
	char *line;

	*types = NULL;
	*n = 0;
	while (!rc && rest && (line = strsep(&rest, "\n"))) {
		line[strcspn(line, " ")] = '\0';
		if (*line)
			rc = add_type(types, n, line);
	}
	if (!rc && !*n)
		rc = sb_fail(SB_EXIT_ENVIRONMENT, "--nodes-as: sinfo names no nodes");
	sb_program_free(&sinfo);
	return rc;
}

uint32_t sb_slurm_chunks(uint32_t max)
{
	const char *argv[] = { "sinfo", "--noheader", "--format=%D", NULL };
	struct sb_program sinfo = { .argv = argv };
	uint32_t nodes = 0;

	if (sb_slurm_call(&sinfo)) {
		sb_program_free(&sinfo);
		return 0;
	}
	for (char *line = sinfo.text; line && *line; line += *line == '\n') {
		nodes += (uint32_t)strtoul(line, &line, 10);
		line += strcspn(line, "\n");
	}
	sb_program_free(&sinfo);
	nodes = nodes ? 2 * nodes : 1;
	max = max < SB_SLURM_CHUNKS_MAX ? max : SB_SLURM_CHUNKS_MAX;
	return nodes < max ? nodes : max;
}
