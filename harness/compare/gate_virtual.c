/* gate_virtual.c - a gate in virtual time: the same on every machine, and without noise. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "core/platform/clock.h"
#include "core/platform/platform.h"
#include "harness/compare/gate.h"
#include "harness/system/child.h"
#include "harness/terminal/interrupts.h"
#include "harness/terminal/status.h"
#include "results/files/file.h"
#include "results/json/read.h"
#include "results/record/series.h"

#define WORDS_ADDED 5

/* A run takes less than a second, but a policy may be so bad that it does not end. In CPU time, so
 * that a busy machine kills none. */
#define LIMIT_CPU_S 20

/* ---- all runs ---- */

/* Of the lowest seed whose run failed, which is the same on every machine. */
struct failure {
	uint32_t seed;
	char why[SB_REASON_BYTES]; /* "": none has */
};

/* What the runs of a side have measured. */
struct side {
	enum sb_side_id id;
	const char *name;    /* "baseline" */
	const char *program; /* NULL: this one */
	/* [jobs][limits][SB_GATE_SEEDS_ALL] */
	double *value;
	struct failure *failure; /* [jobs] */
};

struct runs {
	struct sb_gate_setup *setup;
	const struct sb_gate_report *gate; /* verdicts of the sets of seeds that have ended */
	struct side side[SB_SIDES];
	uint32_t sides;
	uint32_t set;	     /* number of the current set of seeds, from 0 */
	bool saves_baseline; /* --save-baseline: all sets of all jobs are run */
	struct sb_lock lock; /* of all below, and of what has no room for several threads */
	uint32_t begun;	     /* runs, in the order of job, seed and side */
	uint32_t all;
	uint32_t threads; /* that have a directory of their own */
	int rc;
};

/* One run, of one thread. */
struct run {
	struct runs *runs;
	struct side *side;
	uint32_t job;
	uint32_t seed;
	char *directory;
	char output[4200];
	char seed_word[40];
	char *argv[SB_GATE_WORDS + SB_WORDS_MAX + WORDS_ADDED + 1];
	struct sb_child child;
};

static const struct sb_gate_job *job_of(const struct run *run)
{
	return &run->runs->setup->job[run->job];
}

static double *values_of(const struct runs *runs, const struct side *side, uint32_t job,
			 uint32_t limit)
{
	return &side->value[((size_t)job * runs->setup->limits.n + limit) * SB_GATE_SEEDS_ALL];
}

/* ---- one run ---- */

static void make_arguments(struct run *run)
{
	static char repetitions[] = "--repetitions=1";
	static char no_plots[] = "--no-plots";
	static char quiet[] = "--quiet";
	const struct sb_gate_setup *setup = run->runs->setup;
	const struct sb_words *own = &setup->side[run->side->id].words;
	const struct sb_gate_job *job = job_of(run);
	uint32_t n = 0;

	for (uint32_t i = 0; i < job->words; i++)
		run->argv[n++] = job->word[i];
	for (uint32_t i = 0; i < own->n; i++)
		run->argv[n++] = own->word[i];
	snprintf(run->output, sizeof(run->output), "--output=%s", run->directory);
	snprintf(run->seed_word, sizeof(run->seed_word), "--seed=%" PRIu64,
		 setup->seed + run->seed);
	run->argv[n++] = run->output;
	run->argv[n++] = run->seed_word;
	run->argv[n++] = repetitions;
	run->argv[n++] = no_plots;
	run->argv[n++] = quiet;
	run->argv[n] = NULL;
}

static bool has_status(const struct sb_child *child, int status)
{
	return !child->hung && WIFEXITED(child->wait_status) &&
	       WEXITSTATUS(child->wait_status) == status;
}

static void keep_values(const struct run *run, const struct sb_record *record)
{
	const struct sb_limits *limits = &run->runs->setup->limits;

	for (uint32_t i = 0; i < limits->n; i++)
		values_of(run->runs, run->side, run->job, i)[run->seed] =
			record->value[limits->limit[i].metric];
}

static void read_result(struct run *run)
{
	struct failure *failure = &run->side->failure[run->job];
	char reason[SB_REASON_BYTES] = "";
	struct sb_result result;

	if (!has_status(&run->child, SB_EXIT_OK) && !has_status(&run->child, SB_EXIT_INVALID)) {
		sb_child_describe(&run->child, reason, sizeof(reason));
	} else if (!sb_result_read(&result, run->directory, reason, sizeof(reason))) {
		if (result.all_series != 1 || result.series->records != 1)
			snprintf(reason, sizeof(reason), "it wrote no result of one repetition");
		else if (!sb_record_has_numbers(result.series->record))
			snprintf(reason, sizeof(reason), "%s", result.series->record->reason);
		else
			keep_values(run, result.series->record);
		sb_result_free(&result);
	}
	if (!*reason || (*failure->why && failure->seed < run->seed))
		return;
	failure->seed = run->seed;
	snprintf(failure->why, sizeof(failure->why), "seed %" PRIu64 ": %.350s",
		 run->runs->setup->seed + run->seed, reason);
}

static int refuse(const struct run *run)
{
	static const char prefix[] = "sched-bench: ";
	const char *words = run->child.stderr_text;

	if (!strncmp(words, prefix, strlen(prefix)))
		words += strlen(prefix);
	return sb_fail((enum sb_status_code)WEXITSTATUS(run->child.wait_status), "%s, %s: %.*s",
		       job_of(run)->label, run->side->name, (int)strcspn(words, "\n"), words);
}

/* What is refused once is refused for every seed. */
static int take_result(struct run *run)
{
	const struct sb_child *child = &run->child;

	if (child->interrupted)
		return 0;
	if (has_status(child, SB_EXIT_USAGE) || has_status(child, SB_EXIT_ENVIRONMENT))
		return refuse(run);
	read_result(run);
	return 0;
}

static bool is_job_lost(const struct runs *runs, uint32_t job)
{
	for (uint32_t s = 0; s < runs->sides; s++) {
		if (*runs->side[s].failure[job].why)
			return true;
	}
	return false;
}

/* The second set is for a baseline, and to confirm what has regressed in the first. */
static bool is_job_wanted(const struct runs *runs, uint32_t job)
{
	const struct sb_gate_report *gate = runs->gate;

	if (!runs->set || runs->saves_baseline)
		return true;
	for (uint32_t i = 0; i < gate->tests; i++) {
		if (gate->test[i].rule.verdict == SB_GATE_REGRESSED &&
		    !strcmp(gate->test[i].workload, runs->setup->job[job].label))
			return true;
	}
	return false;
}

/* The next run; false: there is none. Where one has failed there is nothing left to compare. */
static bool take_next(struct run *run)
{
	struct runs *runs = run->runs;
	char phase[SB_PROGRESS_TEXT];
	uint32_t i;

	do {
		if (runs->rc || runs->begun == runs->all || sb_load_rlx(&sb_interrupted))
			return false;
		i = runs->begun++;
		run->job = i / runs->sides / SB_GATE_SEEDS;
		sb_progress_done(&runs->setup->progress, 1, 1);
	} while (is_job_lost(runs, run->job) || !is_job_wanted(runs, run->job));
	run->side = &runs->side[i % runs->sides];
	run->seed = runs->set * SB_GATE_SEEDS + i / runs->sides % SB_GATE_SEEDS;
	snprintf(phase, sizeof(phase), "%s, seed %" PRIu64, run->side->name,
		 runs->setup->seed + run->seed);
	sb_progress_phase(&runs->setup->progress, job_of(run)->label, phase);
	return true;
}

static int run_one(struct run *run)
{
	const struct sb_gate_setup *setup = run->runs->setup;
	int rc;

	make_arguments(run);
	run->child.argv = run->argv;
	run->child.program = run->side->program;
	run->child.limit_ns = UINT64_MAX;
	run->child.limit_cpu_s = LIMIT_CPU_S;
	run->child.stacks = setup->failures;
	sb_directory_remove(run->directory);
	rc = sb_child_run(&run->child);
	return rc ? sb_fail(SB_EXIT_ENVIRONMENT, "a run cannot be started: %s", strerror(-rc)) : 0;
}

/* The lock is held. Returns an exit status. */
static int run_in_turn(struct run *run)
{
	struct runs *runs = run->runs;
	int rc = 0;

	while (!rc && take_next(run)) {
		sb_lock_release(&runs->lock);
		rc = run_one(run);
		sb_lock_acquire(&runs->lock);
		/* Another thread may have said it. */
		if (!rc)
			rc = runs->rc ? runs->rc : take_result(run);
	}
	return rc;
}

static void *run_many(void *arg)
{
	struct runs *runs = arg;
	struct run *run = calloc(1, sizeof(*run));
	char name[40];
	int rc;

	sb_lock_acquire(&runs->lock);
	snprintf(name, sizeof(name), "runs.%" PRIu32, runs->threads++);
	if (run) {
		run->runs = runs;
		run->directory = sb_path_join(runs->setup->scratch, name);
		rc = run->directory ? run_in_turn(run) : sb_fail_memory();
		if (run->directory)
			sb_directory_remove(run->directory);
		free(run->directory);
		free(run);
	} else {
		rc = sb_fail_memory();
	}
	runs->rc = runs->rc ? runs->rc : rc;
	sb_lock_release(&runs->lock);
	return NULL;
}

/* ---- all of them ---- */

static int add_side(struct runs *runs, enum sb_side_id id, const char *name, const char *program)
{
	struct side *side = &runs->side[runs->sides++];
	const size_t values = (size_t)runs->setup->jobs * runs->setup->limits.n * SB_GATE_SEEDS_ALL;

	*side = (struct side){ .id = id,
			       .name = name,
			       .program = program,
			       .value = calloc(values, sizeof(*side->value)),
			       .failure = calloc(runs->setup->jobs, sizeof(*side->failure)) };
	for (size_t i = 0; side->value && i < values; i++)
		side->value[i] = NAN;
	return side->value && side->failure ? 0 : sb_fail_memory();
}

/* A metric with two limits is one row. */
static int collect(const struct runs *runs, const struct side *side, struct sb_gate_values *out)
{
	const struct sb_limits *limits = &runs->setup->limits;
	int rc = 0;

	sb_gate_values_free(out); /* without the second set */
	for (uint32_t j = 0; j < runs->setup->jobs; j++) {
		for (uint32_t i = 0; i < limits->n && !rc && !*side->failure[j].why; i++) {
			const enum sb_metric_id metric = limits->limit[i].metric;
			const char *label = runs->setup->job[j].label;

			if (!sb_gate_values_find(out, label, metric))
				rc = sb_gate_values_add(out, label, metric,
							values_of(runs, side, j, i));
		}
	}
	return rc ? sb_fail_memory() : 0;
}

/* ---- verdicts ---- */

static struct sb_gate_test *add_test(struct sb_gate_report *gate, const char *workload,
				     const char *metric, const char *unit)
{
	struct sb_gate_test *all = reallocarray(gate->test, gate->tests + 1, sizeof(*all));
	struct sb_gate_test *test;

	if (!all)
		return NULL;
	gate->test = all;
	test = &all[gate->tests];
	*test = (struct sb_gate_test){ .workload = strdup(workload),
				       .metric = metric,
				       .unit = unit,
				       .limit = INFINITY,
				       .base = NAN,
				       .candidate = NAN,
				       .change = NAN,
				       .low = NAN,
				       .high = NAN,
				       .deviation = NAN,
				       .chance = NAN };
	if (!test->workload)
		return NULL;
	gate->tests++;
	return test;
}

static int compare_rows(struct sb_gate_report *gate, const struct sb_limits *limits,
			const struct sb_gate_row *base, const struct sb_gate_row *now)
{
	const struct sb_metric *metric = &sb_metric[now->metric];
	struct sb_gate_test *test = add_test(gate, now->workload, metric->name, metric->unit);
	const struct sb_limit *limit;

	if (!test)
		return sb_fail_memory();
	sb_gate_compare(test, base, now, 0);
	limit = sb_limit_for(limits, now->metric, test->change < 0);
	if (!limit) {
		free(gate->test[--gate->tests].workload);
		return 0;
	}
	sb_gate_set_limit(test, limit->is_fall, limit->part, sb_limit_least(now->metric));
	sb_gate_confirm(test, base, now, sb_limit_least(now->metric));
	return 0;
}

/* What only one side has, or has measured, is not compared. */
static int compare_values(struct sb_gate_report *gate, const struct sb_limits *limits,
			  const struct sb_gate_values *base, const struct sb_gate_values *now)
{
	int rc = 0;

	for (uint32_t i = 0; i < now->rows && !rc; i++) {
		const struct sb_gate_row *row = &now->row[i];
		const struct sb_gate_row *was =
			sb_gate_values_find(base, row->workload, row->metric);

		if (was)
			rc = compare_rows(gate, limits, was, row);
	}
	return rc;
}

/* Runs that end without a result are worse than any. */
static int report_failures(struct sb_gate_report *gate, const struct runs *runs)
{
	for (uint32_t s = 0; s < runs->sides; s++) {
		const struct side *side = &runs->side[s];

		for (uint32_t j = 0; j < runs->setup->jobs; j++) {
			struct sb_gate_test *test;

			if (!*side->failure[j].why)
				continue;
			test = add_test(gate, runs->setup->job[j].label, "runs", "");
			if (!test)
				return sb_fail_memory();
			test->rule.verdict =
				side->id == SB_SIDE_B ? SB_GATE_REGRESSED : SB_GATE_UNDECIDED;
			snprintf(test->why, sizeof(test->why), "the %s: %.350s", side->name,
				 side->failure[j].why);
		}
	}
	return 0;
}

/* ---- both sides ---- */

static int read_values(struct sb_gate_values *out, const char *option, const char *path)
{
	char why[400];
	const int rc = sb_gate_values_read(out, path, why, sizeof(why));

	if (!rc && out->skipped)
		sb_note("--%s: skipped %" PRIu32 " of %" PRIu32
			" rows: this version does not know their metrics",
			option, out->skipped, out->rows + out->skipped);
	if (!rc && out->row->sets < SB_GATE_SETS)
		sb_note("--%s: it has one set of seeds, so nothing confirms what has regressed; "
			"make it again with --save-baseline",
			option);
	return rc ? sb_fail(sb_status_of(rc), "--%s: %s", option, why) : 0;
}

/* From files, or to be run. */
static int add_sides(struct runs *runs, struct sb_gate_values *base, struct sb_gate_values *now)
{
	const struct sb_gate_setup *setup = runs->setup;
	const struct sb_baseline *baseline = &setup->baseline;
	int rc = 0;

	if (baseline->path && baseline->kind == SB_BASELINE_VALUES)
		rc = read_values(base, "baseline", baseline->path);
	else if (baseline->path)
		rc = add_side(runs, SB_SIDE_A, "baseline", baseline->path);
	if (!rc && setup->candidate && sb_is_values_file(setup->candidate))
		rc = read_values(now, "candidate", setup->candidate);
	else if (!rc)
		rc = add_side(runs, SB_SIDE_B, "candidate", setup->candidate);
	return rc;
}

static int run_sides(struct runs *runs)
{
	const uint32_t sets = runs->set + 1;

	runs->all = runs->setup->jobs * SB_GATE_SEEDS * runs->sides;
	runs->begun = runs->threads = 0;
	sb_lock_init(&runs->lock);
	sb_progress_plan(&runs->setup->progress, sets * runs->all, sets * runs->all);
	sb_child_on_all_cpus(run_many, runs);
	return runs->rc;
}

static int report_interrupt(struct sb_gate_report *gate)
{
	struct sb_gate_test *test = add_test(gate, "suite", "runs", "");

	if (!test)
		return sb_fail_memory();
	test->rule.verdict = SB_GATE_UNDECIDED;
	snprintf(test->why, sizeof(test->why), "interrupted");
	return 0;
}

static int compare_sides(struct runs *runs, struct sb_gate_report *gate,
			 struct sb_gate_values *base, struct sb_gate_values *now)
{
	int rc = 0;

	while (gate->tests)
		free(gate->test[--gate->tests].workload);
	if (sb_load_rlx(&sb_interrupted))
		return report_interrupt(gate);
	for (uint32_t s = 0; s < runs->sides && !rc; s++)
		rc = collect(runs, &runs->side[s], runs->side[s].id == SB_SIDE_A ? base : now);
	rc = rc ? rc : report_failures(gate, runs);
	return rc ? rc : compare_values(gate, &runs->setup->limits, base, now);
}

int sb_gate_run_virtual(struct sb_gate_setup *setup, struct sb_gate_report *gate,
			struct sb_gate_values *candidate)
{
	struct runs runs = { .setup = setup,
			     .gate = gate,
			     .saves_baseline =
				     sb_option_is_said(setup->options, SB_OPT_save_baseline) };
	struct sb_gate_values base = { .rows = 0 };
	int rc = add_sides(&runs, &base, candidate);

	gate->alpha = gate->beta = 0;
	do {
		if (!rc && runs.sides)
			rc = run_sides(&runs);
		rc = rc ? rc : compare_sides(&runs, gate, &base, candidate);
		sb_gate_conclude(gate);
	} while (!rc && runs.sides && ++runs.set < SB_GATE_SETS &&
		 (runs.saves_baseline || gate->verdict == SB_GATE_REGRESSED));
	for (uint32_t s = 0; s < runs.sides; s++) {
		free(runs.side[s].value);
		free(runs.side[s].failure);
	}
	sb_gate_values_free(&base);
	return rc;
}
