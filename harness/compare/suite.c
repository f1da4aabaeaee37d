/* suite.c - the jobs of a gate in virtual time: each kind of work on each machine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/compare/gate_setup.h"
#include "harness/terminal/status.h"

#define WORDS_MAX 5

struct machine {
	const char *name;
	uint32_t workers;
	const char *word[WORDS_MAX]; /* ends with NULL */
};

struct work {
	const char *name;
	const char *workload;
	uint32_t load; /* percent; 0: no requests */
	const char *word[WORDS_MAX];
};

static const struct machine machines[] = {
#define MACHINE(name, workers, ...) { name, workers, { __VA_ARGS__, NULL } },
#include "harness/compare/suite.def"
};

static const struct work works[] = {
#define WORK(name, workload, load, ...) { name, workload, load, { __VA_ARGS__, NULL } },
#include "harness/compare/suite.def"
};

/* What a worker serves per second: SERVICE of suite.def. */
#define SERVED_PER_S 20000.0

/* ---- words ---- */

static int add_words(struct sb_gate_job *job, const char *const *word)
{
	int rc = 0;

	for (; *word && !rc; word++)
		rc = sb_gate_add_word(job, "%s", *word);
	return rc;
}

/* For all runs: short, and each step is timed, so that there are percentiles. */
static int add_common(struct sb_gate_job *job)
{
	static const char *const words[] = { "--virtual", "--warmup=0s", "--duration=1ms",
					     "--record=full", NULL };

	return add_words(job, words);
}

/* The load that the option gives is measured first, and changes with what it is to measure. */
static int add_load(struct sb_gate_job *job, const struct work *work, const struct machine *machine)
{
	if (!work->load)
		return 0;
	if (!machine)
		return sb_gate_add_word(job, "--load=%u%%", work->load);
	return sb_gate_add_word(job, "--rate=%.0f/s",
				SERVED_PER_S * machine->workers * work->load / 100);
}

static int add_machine(struct sb_gate_job *job, const struct machine *machine)
{
	const int rc = add_words(job, machine->word);

	return rc ? rc : sb_gate_add_word(job, "--workers=%u", machine->workers);
}

/* Options that were given are for all runs, and count more than the suite's. */
static int add_said(struct sb_gate_job *job, const struct sb_options *options)
{
	int rc = 0;

	for (int id = 0; id < SB_OPTIONS && !rc; id++) {
		if (sb_gate_is_run_option(id) && sb_option_is_said(options, (enum sb_option_id)id))
			rc = sb_gate_add_option(job, id, options->value[id].text);
	}
	return rc;
}

static int add_params(struct sb_gate_job *job, const struct sb_options *options)
{
	const struct sb_workload *workload = sb_workload_find(job->workload);
	int rc = 0;

	for (uint32_t i = 0; i < options->givens && !rc; i++) {
		const struct sb_given_param *given = &options->given[i];

		if (sb_gate_has_param(workload, given->name))
			rc = sb_gate_add_word(job, "--%s=%s", given->name, given->text);
	}
	return rc;
}

/* ---- jobs ---- */

/* It is in a line whose parts commas part. */
static int add_label(struct sb_gate_job *job, const char *work, const char *machine)
{
	if (asprintf(&job->label, "%s on %s", work, machine) < 0) {
		job->label = NULL;
		return sb_fail_memory();
	}
	for (char *c = job->label; *c; c++)
		*c = *c == ',' || *c == '\n' ? ' ' : *c;
	return 0;
}

/* machine: NULL: the one that --profile names. */
static int add_job(struct sb_gate_setup *setup, const struct sb_options *options,
		   const struct work *work, const struct machine *machine)
{
	struct sb_gate_job *job = sb_gate_add_job(setup, work->workload);
	int rc = job ? add_common(job) : SB_EXIT_BUG;

	if (!rc)
		rc = add_label(job, work->name,
			       machine ? machine->name : options->value[SB_OPT_profile].text);
	if (!rc && machine)
		rc = add_machine(job, machine);
	rc = rc ? rc : add_words(job, work->word);
	rc = rc ? rc : add_load(job, work, machine);
	rc = rc ? rc : add_params(job, options);
	return rc ? rc : add_said(job, options);
}

static int add_work(struct sb_gate_setup *setup, const struct sb_options *options,
		    const struct work *work)
{
	int rc = 0;

	if (sb_option_is_said(options, SB_OPT_profile))
		return add_job(setup, options, work, NULL);
	for (size_t m = 0; m < SB_ARRAY_SIZE(machines) && !rc; m++)
		rc = add_job(setup, options, work, &machines[m]);
	return rc;
}

/* The suite's works of that workload, or the workload as it was asked for. */
static int add_chosen(struct sb_gate_setup *setup, const struct sb_options *options,
		      const struct sb_workload *workload)
{
	const struct work own = { .name = workload->name, .workload = workload->name };
	bool found = false;
	int rc = 0;

	for (size_t w = 0; w < SB_ARRAY_SIZE(works) && !rc && !options->givens; w++) {
		if (strcmp(works[w].workload, workload->name) != 0)
			continue;
		found = true;
		rc = add_work(setup, options, &works[w]);
	}
	return found || rc ? rc : add_work(setup, options, &own);
}

int sb_gate_add_suite(struct sb_gate_setup *setup, const struct sb_options *options)
{
	int rc = 0;

	if (options->givens && !options->chosens)
		return sb_fail(SB_EXIT_USAGE, "--%s is a parameter of workloads; expected -w NAME",
			       options->given[0].name);
	for (uint32_t i = 0; i < options->chosens && !rc; i++)
		rc = add_chosen(setup, options, options->chosen[i].workload);
	for (size_t w = 0; w < SB_ARRAY_SIZE(works) && !rc && !options->chosens; w++)
		rc = add_work(setup, options, &works[w]);
	return rc;
}
