#include "harness/compare/gate_setup.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/topology.h"
#include "harness/cli/policy.h"
#include "harness/compare/gate.h"
#include "harness/output/facts.h"
#include "harness/plugin/plugin.h"
#include "harness/run/placing.h"
#include "harness/terminal/status.h"

/* ---- words ---- */

int sb_gate_add_word(struct sb_gate_job *job, const char *format, ...)
{
	va_list args;
	int length;

	SB_CHECK(job->words, <, SB_GATE_WORDS);
	va_start(args, format);
	length = vasprintf(&job->word[job->words], format, args);
	va_end(args);
	if (length < 0) {
		job->word[job->words] = NULL;
		return sb_fail_memory();
	}
	job->words++;
	return 0;
}

bool sb_gate_is_run_option(int id)
{
	const enum sb_option_id of_run = sb_option_find(SB_VERB_RUN, sb_option[id].name);

	if (!(sb_option[id].verbs & SB_VERB_GATE) || of_run == SB_OPTIONS ||
	    sb_option[id].verbs & SB_NOT_IN_JOBS)
		return false;
	switch (id) {
	case SB_OPT_workload:
	case SB_OPT_seed:
	case SB_OPT_output:
	case SB_OPT_output_root:
	case SB_OPT_quiet:
	case SB_OPT_format:
	case SB_OPT_gate_slowdown:
	case SB_OPT_gate_virtual:
	case SB_OPT_help:
		return false;
	default:
		return true;
	}
}

bool sb_gate_is_other_in_run(int id)
{
	return id != (int)sb_option_find(SB_VERB_RUN, sb_option[id].name);
}

int sb_gate_add_option(struct sb_gate_job *job, int id, const char *text)
{
	const bool yes = !strcmp(text, "yes") || !strcmp(text, "1");

	if (sb_option[id].form)
		return sb_gate_add_word(job, "--%s=%s", sb_option[id].name, text);
	return yes ? sb_gate_add_word(job, "--%s", sb_option[id].name) : 0;
}

/* workers: NULL, or instead of the option's. */
static int add_options(struct sb_gate_job *job, const struct sb_options *options,
		       const char *workers)
{
	int rc = 0;

	for (int id = 0; id < SB_OPTIONS && !rc; id++) {
		const bool is_other = workers && id == SB_OPT_gate_workers;

		if (sb_gate_is_run_option(id) &&
		    (sb_gate_is_other_in_run(id) || sb_policy_needs_said(options, id)))
			rc = sb_gate_add_option(job, id,
						is_other ? workers : options->value[id].text);
	}
	return rc;
}

struct sb_gate_job *sb_gate_add_job(struct sb_gate_setup *setup, const char *workload)
{
	struct sb_gate_job *all = reallocarray(setup->job, setup->jobs + 1, sizeof(*all));
	const struct sb_workload *found = sb_workload_find(workload);
	struct sb_gate_job *job;

	if (!all) {
		(void)sb_fail_memory();
		return NULL;
	}
	setup->job = all;
	job = &all[setup->jobs++];
	*job = (struct sb_gate_job){ .workload = workload, .limits = &setup->limits };
	if (sb_gate_add_word(job, "sched-bench") || sb_gate_add_word(job, "run") ||
	    sb_gate_add_word(job, "--workload=%s", found ? sb_plugin_word(found) : workload))
		return NULL;
	return job;
}

/* ---- which workloads ---- */

/*
 * One process each for messages, for commands, and for processes that come and go,
 * in rounds that are short beside a run: measured, these repeat best. And one for
 * what two workers do to each other, in which work has to move all the time.
 */
static const struct steady {
	const char *workload;
	const char *parameter;
	const char *workers; /* NULL: the option's, and limits of times */
} steady[] = {
	{ "pingpong", "--round-trips=100000", NULL },
	{ "yield", "--yields=200000", NULL },
	{ "skynet", "--leaves=10000", NULL },
	{ "imbalanced-tree", "--root-children=100", "2" },
};

/* A given number of workers holds everywhere. */
static int wants_two(const struct sb_options *options, bool *wanted)
{
	uint32_t room = 0;
	int rc = 0;

	*wanted = !strcmp(options->value[SB_OPT_gate_workers].source, "default");
	if (*wanted)
		rc = sb_placing_room(options, &room);
	if (!rc && *wanted && room < 2) {
		*wanted = false;
		sb_note("two workers have no room here: what they do to each other is not gated");
	}
	return rc;
}

static int add_row(struct sb_gate_setup *setup, const struct sb_options *options,
		   const struct steady *row)
{
	struct sb_gate_job *job = sb_gate_add_job(setup, row->workload);
	int rc = job ? sb_gate_add_word(job, "%s", row->parameter) : SB_EXIT_BUG;

	if (job && row->workers)
		job->limits = &setup->events;
	return rc ? rc : add_options(job, options, row->workers);
}

static int add_steady(struct sb_gate_setup *setup, const struct sb_options *options)
{
	bool with_two = false;
	int rc;

	if (options->givens)
		return sb_fail(SB_EXIT_USAGE, "--%s is a parameter of workloads; expected -w NAME",
			       options->given[0].name);
	rc = wants_two(options, &with_two);
	if (!rc && with_two)
		rc = sb_limits_split(&setup->limits, &setup->events);
	for (size_t i = 0; i < SB_ARRAY_SIZE(steady) && !rc; i++) {
		if (with_two || !steady[i].workers)
			rc = add_row(setup, options, &steady[i]);
	}
	return rc;
}

bool sb_gate_has_param(const struct sb_workload *workload, const char *name)
{
	for (const struct sb_param *p = workload->params; p->name; p++) {
		if (!strcmp(p->name, name))
			return true;
	}
	return false;
}

static int add_chosen(struct sb_gate_setup *setup, const struct sb_options *options,
		      const struct sb_workload *workload)
{
	struct sb_gate_job *job = sb_gate_add_job(setup, workload->name);
	int rc = job ? 0 : SB_EXIT_BUG;

	for (uint32_t i = 0; i < options->givens && !rc; i++) {
		const struct sb_given_param *given = &options->given[i];

		if (sb_gate_has_param(workload, given->name))
			rc = sb_gate_add_word(job, "--%s=%s", given->name, given->text);
	}
	return rc ? rc : add_options(job, options, NULL);
}

/* ---- all of it ---- */

/* Beyond its own times, a start, the clocks and the files. */
#define GRACE_NS UINT64_C(30000000000)

static int take_workloads(struct sb_gate_setup *setup, const struct sb_options *options)
{
	int rc = 0;

	if (sb_opt(options, SB_OPT_gate_virtual))
		return sb_gate_add_suite(setup, options);
	if (sb_gate_is_stored(setup))
		return sb_gate_take_result(setup);
	if (!options->chosens)
		return add_steady(setup, options);
	for (uint32_t i = 0; i < options->chosens && !rc; i++)
		rc = add_chosen(setup, options, options->chosen[i].workload);
	return rc;
}

/* The options of one side alone. name: of the option, as sides have theirs. */
static int take_side(struct sb_side_text *side, const char *name,
		     const struct sb_option_value *value)
{
	const char *first = value->text + strspn(value->text, " ");
	int rc;

	if (*first && *first != '-')
		return sb_fail(SB_EXIT_USAGE,
			       "-%s: '%s' is not valid; expected options alone, as --steal=one",
			       name, value->text);
	rc = sb_side_parse(side, name, value->text);
	return rc ? rc : sb_side_check(side);
}

static int take_sides(struct sb_gate_setup *setup)
{
	const struct sb_option_value *value = setup->options->value;
	const char *slowdown = value[SB_OPT_gate_slowdown].text;
	int rc = take_side(&setup->side[SB_SIDE_A], "-baseline-options",
			   &value[SB_OPT_baseline_options]);

	rc = rc ? rc
		: take_side(&setup->side[SB_SIDE_B], "-candidate-options",
			    &value[SB_OPT_candidate_options]);
	if (strcmp(slowdown, "none") != 0)
		setup->slowdown = slowdown;
	if (!rc && sb_gate_is_stored(setup) && setup->side[SB_SIDE_A].words.n)
		rc = sb_fail(SB_EXIT_USAGE,
			     "--baseline-options: a stored result has been measured; expected a "
			     "sched-bench or a git revision as --baseline");
	return rc;
}

int sb_gate_set_up(struct sb_gate_setup *setup, const struct sb_options *options)
{
	int rc;

	setup->options = options;
	setup->seed = sb_opt(options, SB_OPT_seed);
	setup->limit_ns = sb_opt(options, SB_OPT_gate_warmup) +
			  2 * sb_opt(options, SB_OPT_gate_duration) +
			  2 * sb_opt(options, SB_OPT_timeout) + GRACE_NS;
	rc = take_sides(setup);
	return rc ? rc : take_workloads(setup, options);
}

void sb_gate_setup_free(struct sb_gate_setup *setup)
{
	for (uint32_t i = 0; i < setup->jobs; i++) {
		for (uint32_t w = 0; w < setup->job[i].words; w++)
			free(setup->job[i].word[w]);
		free(setup->job[i].label);
	}
	for (int side = 0; side < SB_SIDES; side++)
		sb_side_free(&setup->side[side]);
	free(setup->job);
	setup->job = NULL;
	setup->jobs = 0;
	sb_baseline_free(&setup->baseline);
	sb_gate_values_free(&setup->values);
}

static void put_limits(const struct sb_limits *limits, FILE *out)
{
	for (uint32_t i = 0; i < limits->n; i++)
		fprintf(out, "%s%s=%c%g%%", i ? "," : "; ", sb_metric[limits->limit[i].metric].name,
			limits->limit[i].is_fall ? '-' : '+', 100 * limits->limit[i].part);
}

char *sb_gate_setup_text(const struct sb_gate_setup *setup)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	for (uint32_t i = 0; i < setup->jobs; i++) {
		fputs(i ? "; " : "", out);
		for (uint32_t w = 2; w < setup->job[i].words; w++)
			fprintf(out, "%s%s", w > 2 ? " " : "", setup->job[i].word[w]);
	}
	put_limits(&setup->limits, out);
	put_limits(&setup->events, out);
	fclose(out);
	return text;
}

int sb_gate_machine(struct sb_calibration *out)
{
	struct sb_topology *topology;
	struct sb_machine machine;

	*out = (struct sb_calibration){ .gates = 0 };
	if (sb_topology_load(&topology))
		return sb_fail(SB_EXIT_ENVIRONMENT, "this machine's topology cannot be read");
	sb_topology_machine(topology, &machine);
	snprintf(out->fingerprint, sizeof(out->fingerprint), "%016" PRIx64,
		 sb_topology_fingerprint(topology));
	snprintf(out->model, sizeof(out->model), "%s", machine.cpu_model ? machine.cpu_model : "");
	snprintf(out->build, sizeof(out->build), "%s", sb_facts_build());
	sb_topology_free(topology);
	return 0;
}
