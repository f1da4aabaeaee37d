/*
 * sweep.c - the verb `sweep`: options -> plan -> store -> each row in a
 * process of its own -> one result -> files, pictures, page -> table and
 * recommendation.
 *
 * The plan is made from a command line, which the store keeps: --resume makes it
 * again from there. A row is in the store before the next one starts.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli/help.h"
#include "harness/cli/job.h"
#include "harness/cli/policy.h"
#include "harness/output/facts.h"
#include "harness/output/outcome.h"
#include "harness/run/placing.h"
#include "harness/sweep/collect.h"
#include "harness/sweep/session.h"
#include "harness/sweep/table.h"
#include "harness/terminal/metrics.h"
#include "harness/terminal/status.h"
#include "harness/terminal/text.h"
#include "harness/verbs/verbs.h"
#include "harness/virtual/ground.h"
#include "results/files/answer.h"
#include "results/files/summary_virtual.h"
#include "results/files/wrap.h"
#include "results/record/series.h"

/* ---- the plan ---- */

/* Whether the machine, and with --virtual its model, have what the run needs. */
static int check_place(const struct sb_session *s, struct sb_options *run)
{
	struct sb_virtual_machine machine;
	struct sb_plan plan;
	int rc = sb_placing_plan(run, s->topology, &plan);

	if (rc)
		return rc;
	if (sb_opt(run, SB_OPT_virtual)) {
		rc = sb_virtual_machine_make(&machine, run, s->topology, &plan);
		sb_virtual_machine_free(&machine);
	}
	sb_plan_free(&plan);
	return rc;
}

/* Every combination by the parser of `run`, and on this machine. */
static int check_one(struct sb_session *s, struct sb_configuration *c)
{
	static struct sb_options run;
	struct sb_arguments arguments;
	int rc = sb_configuration_parse(&s->sweep, c, &arguments, &run);

	if (!rc) {
		sb_fail_about(c->label);
		rc = check_place(s, &run);
		sb_fail_about(NULL);
		sb_hidden_count(&s->hidden, &run);
		c->row_ns = sb_sweep_row_ns(&run);
		c->limit_ns = sb_sweep_limit_ns(&run, s->options);
	}
	sb_options_free(&run);
	sb_arguments_free(&arguments);
	return rc;
}

int sb_session_plan(struct sb_session *s)
{
	int rc = sb_sweep_plan(&s->sweep, s->options);

	rc = rc ? rc : sb_sweep_choose_objectives(&s->sweep, s->given);
	rc = rc ? rc : sb_placing_open(s->options, &s->topology);
	for (uint32_t i = 0; i < s->sweep.configurations && !rc; i++)
		rc = check_one(s, &s->sweep.configuration[i]);
	if (rc)
		return rc;
	s->rows = s->sweep.configurations * s->sweep.repetitions;
	SB_CHECK(s->rows, >, 0);
	s->done = calloc(s->rows, sizeof(*s->done));
	s->latest = calloc(s->sweep.configurations, sizeof(*s->latest));
	for (uint32_t i = 0; s->latest && i < s->sweep.configurations; i++)
		s->latest[i] = NAN;
	return s->done && s->latest ? 0 : sb_fail_memory();
}

static void put_plan(const struct sb_session *s)
{
	char left[SB_DURATION_BYTES];

	printf("%" PRIu32 " configuration%s x %" PRIu32 " repetition%s = %" PRIu32 " rows",
	       s->sweep.configurations, s->sweep.configurations == 1 ? "" : "s",
	       s->sweep.repetitions, s->sweep.repetitions == 1 ? "" : "s", s->rows);
	if (s->rows_done)
		printf(", %" PRIu32 " of them there", s->rows_done);
	printf("; about %s\n", sb_session_format_duration(left, 1e-9 * sb_session_planned_ns(s)));
}

static void put_order(const struct sb_session *s)
{
	const uint32_t n = s->sweep.configurations;

	for (uint32_t i = 0; i < n; i++)
		printf("%5" PRIu32 "  %s\n", i, s->sweep.configuration[i].label);
	for (uint32_t r = 0; r < s->sweep.repetitions; r++) {
		printf("round %" PRIu32 ":", r);
		for (uint32_t i = r * n; i < (r + 1) * n; i++)
			printf(" %" PRIu32, s->sweep.order[i].configuration);
		putchar('\n');
	}
}

static bool wants_text(const struct sb_session *s)
{
	return !sb_session_is(s, SB_OPT_quiet) && !s->given->value[SB_OPT_format].alternative;
}

/* ---- the result ---- */

/* "2.0 0.0 1.0 ...": configuration and repetition, in the order of the plan. */
static char *order_text(const struct sb_session *s)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	for (uint32_t i = 0; i < s->rows; i++)
		fprintf(out, "%s%" PRIu32 ".%" PRIu32, i ? " " : "",
			s->sweep.order[i].configuration, s->sweep.order[i].repetition);
	fclose(out);
	return text;
}

/* The series that run with the defaults, by number: "3 7". */
static char *default_text(const struct sb_session *s)
{
	const char *before = "";
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	for (uint32_t i = 0; i < s->sweep.configurations; i++) {
		if (!sb_sweep_is_default(&s->sweep, &s->sweep.configuration[i]))
			continue;
		fprintf(out, "%s%" PRIu32, before, i);
		before = " ";
	}
	fclose(out);
	return text;
}

static char *answer_text(const struct sb_sweep_view *view)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	sb_sweep_put_answers(view, out);
	fclose(out);
	return text;
}

/* As it can be given again: the plan, and what it is ranked by and written to, which are no part of
 * it. */
static char *command_text(const struct sb_session *s, const struct sb_arguments *plan)
{
	static const enum sb_option_id others[] = { SB_OPT_objective, SB_OPT_output };
	static char program[] = "sched-bench";
	struct sb_arguments also = { .n = 0 };
	char *words[2 * SB_SWEEP_ARGS_MAX + 1] = { program };
	char *text = NULL;
	int n = 1;
	int rc = 0;

	for (size_t i = 0; i < SB_ARRAY_SIZE(others) && !rc; i++) {
		if (*s->given->value[others[i]].text)
			rc = sb_arguments_add(&also, "--%s=%s", sb_option[others[i]].name,
					      s->given->value[others[i]].text);
	}
	for (uint32_t i = 0; i < plan->n; i++)
		words[n++] = plan->word[i];
	for (uint32_t i = 0; i < also.n; i++)
		words[n++] = also.word[i];
	if (!rc)
		text = sb_facts_join(n, words);
	sb_arguments_free(&also);
	return text;
}

static int add_owned(struct sb_result *result, const char *group, const char *key, char *value)
{
	const int rc = value ? sb_result_add_fact(result, group, key, value) : -ENOMEM;

	free(value);
	return rc;
}

static int add_number(struct sb_result *result, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	return sb_result_add_fact(result, "sweep", key, text);
}

/* Whether the dimension goes through the option's values, itself or as policy. */
static bool goes_through(const struct sb_session *s, const struct sb_dimension *d, int id)
{
	return d->option == id ||
	       (d->option == SB_OPT_policy && sb_policy_decides(s->options, (enum sb_option_id)id));
}

static bool is_swept(const struct sb_session *s, int id)
{
	for (uint32_t d = 0; d < s->sweep.dimensions; d++) {
		if (goes_through(s, &s->sweep.dimension[d], id))
			return true;
	}
	return false;
}

/* The runs' own options said one repetition, and one value of each. */
static int correct_options(struct sb_session *s)
{
	int rc = 0;

	for (int id = 0; id < SB_OPTIONS && !rc; id++) {
		const struct sb_option_value *value = &s->options->value[id];

		if (!(sb_option[id].verbs & SB_VERB_RUN) || !(sb_option[id].verbs & SB_VERB_SWEEP))
			continue;
		rc = sb_result_add_fact(&s->result, "options", sb_option[id].name,
					is_swept(s, id) ? "swept" : value->text);
		rc |= sb_result_add_fact(&s->result, "option_sources", sb_option[id].name,
					 value->source);
	}
	return rc;
}

/* "wake_ns_p99,cpu_ns_per_op", of each workload. */
static int add_objectives(struct sb_session *s)
{
	int rc = 0;

	for (uint32_t i = 0; i < s->options->chosens && !rc; i++) {
		const struct sb_chosen *chosen = &s->options->chosen[i];
		const struct sb_objectives *o = sb_sweep_objectives(&s->sweep, chosen);
		char text[160];

		snprintf(text, sizeof(text), "%s%s%s", sb_metric[o->metric[0]].name,
			 o->n > 1 ? "," : "", o->n > 1 ? sb_metric[o->metric[1]].name : "");
		rc = sb_result_add_fact(&s->result, "objectives", chosen->workload->name, text);
	}
	return rc;
}

static int add_facts(struct sb_session *s, struct sb_arguments *arguments,
		     const struct sb_sweep_view *view)
{
	struct sb_result *result = &s->result;
	int rc = correct_options(s);

	rc |= add_owned(result, "run", "command_line", command_text(s, arguments));
	rc |= add_number(result, "configurations", s->sweep.configurations);
	rc |= add_number(result, "repetitions", s->sweep.repetitions);
	rc |= add_number(result, "rows_done", s->rows_done);
	rc |= add_number(result, "seed", sb_opt(s->options, SB_OPT_seed));
	rc |= add_objectives(s);
	rc |= add_owned(result, "sweep", "order", order_text(s));
	rc |= add_owned(result, "sweep", "default_series", default_text(s));
	rc |= add_owned(result, "answer", "text", answer_text(view));
	return rc ? sb_fail_memory() : 0;
}

static struct sb_sweep_view view_of(const struct sb_session *s)
{
	return (struct sb_sweep_view){ .sweep = &s->sweep,
				       .result = &s->result,
				       .seed = sb_opt(s->options, SB_OPT_seed) };
}

static void print_pretty(const void *session, FILE *out)
{
	struct sb_sweep_view view = view_of(session);
	struct sb_wrap wrap;

	view.columns = sb_terminal_width(out);
	out = sb_wrap_begin(&wrap, out, &view.columns);
	fprintf(out, "\n%s\n", sb_answer_of(view.result));
	sb_summary_put_virtual(out, view.result);
	sb_sweep_put_tables(&view, out);
	sb_wrap_end(&wrap);
}

static int finish(struct sb_session *s, struct sb_arguments *arguments)
{
	const struct sb_sweep_view view = view_of(s);
	int rc = sb_collect(&s->sweep, s->store, s->topology, &s->result);

	rc = rc ? rc : add_facts(s, arguments, &view);
	if (rc)
		return rc;
	rc = sb_outcome_write(&s->result, s->given);
	sb_outcome_print(&s->result, s->given, !rc, print_pretty, s);
	if (rc)
		return rc;
	if (s->rows_done < s->rows && !sb_session_is(s, SB_OPT_quiet))
		sb_note("%" PRIu32 " of %" PRIu32
			" rows are missing: sched-bench sweep --resume %s",
			s->rows - s->rows_done, s->rows, s->result.directory);
	return sb_outcome_status(&s->result, s->given);
}

/* ---- the verb ---- */

static int prepare(struct sb_session *s, struct sb_arguments *stored)
{
	const bool is_there = sb_session_is(s, SB_OPT_resume) || sb_session_is(s, SB_OPT_collect);
	int rc = 0;

	if (sb_sweep_canonical(s->given, &s->canonical))
		return sb_fail_memory();
	if (is_there)
		return sb_session_resume(s, stored);
	/* A job's are chosen already. */
	if (!s->given->chosens)
		rc = sb_options_choose(s->given);
	rc = rc ? rc : sb_session_plan(s);
	if (!rc && !sb_session_is(s, SB_OPT_dry_run))
		rc = sb_session_begin(s);
	return rc;
}

static int run_session(struct sb_session *s, struct sb_arguments *stored)
{
	const bool is_new = !stored->n;
	int rc = 0;

	if (!sb_session_is(s, SB_OPT_collect))
		sb_hidden_note(&s->hidden, &s->sweep);
	if (sb_session_is(s, SB_OPT_dry_run)) {
		put_plan(s);
		put_order(s);
		return 0;
	}
	if (wants_text(s) && !sb_session_is(s, SB_OPT_collect)) {
		put_plan(s);
		fflush(stdout);
	}
	if (!sb_session_is(s, SB_OPT_collect))
		rc = sb_session_run(s);
	return rc ? rc : finish(s, is_new ? &s->canonical : stored);
}

static int sweep(struct sb_options *given)
{
	static struct sb_session s;
	struct sb_arguments stored = { .n = 0 };
	int rc;

	s = (struct sb_session){ .given = given, .options = given };
	/* The runs take everything from their command lines. */
	sb_options_clear_environment();
	rc = prepare(&s, &stored);
	rc = rc ? rc : run_session(&s, &stored);
	sb_store_close(s.store);
	sb_topology_free(s.topology);
	sb_sweep_free(&s.sweep);
	sb_result_free(&s.result);
	sb_options_free(&s.plan_options);
	sb_arguments_free(&s.canonical);
	sb_arguments_free(&stored);
	free(s.done);
	free(s.latest);
	return rc;
}

/* --resume DIRECTORY is --resume -o DIRECTORY; so for --collect. */
static int take_directory(struct sb_options *options)
{
	struct sb_option_value *output = &options->value[SB_OPT_output];

	if (!options->words)
		return 0;
	if (options->words > 1 || sb_option_is_said(options, SB_OPT_output))
		return sb_fail(SB_EXIT_USAGE,
			       "sweep: '%s' is not expected; one directory has been named",
			       options->word[options->words - 1]);
	output->text = options->word[0];
	output->source = "command line";
	return 0;
}

/* ---- a job file ---- */

/* "batch=1,4" as -L batch=1,4 and "batch=1..4" as -P batch=1..4. The text lives
 * until the options are freed. */
static int add_list(struct sb_options *options, const struct sb_entry *list, char **text)
{
	const enum sb_option_id id = sb_option_find(SB_VERB_SWEEP, list->name);

	*text = NULL;
	if (id != SB_OPTIONS && sb_option_is_said(options, id))
		return 0;
	if (options->sweeps == SB_SWEEPS_MAX)
		return sb_fail(SB_EXIT_USAGE, "%s: %s: one list too many; expected at most %d",
			       list->where, list->name, SB_SWEEPS_MAX);
	if (asprintf(text, "%s=%s", list->name, list->text) < 0)
		return sb_fail_memory();
	options->sweep[options->sweeps++] =
		(struct sb_given_sweep){ strstr(list->text, "..") ? 'P' : 'L', *text };
	return 0;
}

static int sweep_job(struct sb_job *job)
{
	char **text = calloc(job->lists + 1, sizeof(*text));
	int rc = 0;

	if (!text)
		return sb_fail_memory();
	for (uint32_t i = 0; i < job->lists && !rc; i++)
		rc = add_list(&job->options, &job->list[i], &text[i]);
	if (!rc)
		rc = sweep(&job->options);
	for (uint32_t i = 0; i < job->lists; i++)
		free(text[i]);
	free(text);
	return rc;
}

static int sweep_file(int argc, char **argv)
{
	struct sb_jobs jobs;
	int rc = sb_jobs_parse(&jobs, SB_VERB_SWEEP, argc, argv);

	if (!rc && jobs.jobs != 1)
		rc = sb_fail(SB_EXIT_USAGE, "sweep: %" PRIu32 " jobs are given; expected one",
			     jobs.jobs);
	if (!rc)
		rc = sweep_job(&jobs.job[0]);
	sb_jobs_free(&jobs);
	return rc;
}

/* ---- which of them ---- */

static int sweep_options(struct sb_options *options, int argc, char **argv)
{
	const bool is_there = sb_opt(options, SB_OPT_resume) || sb_opt(options, SB_OPT_collect);
	int rc;

	if (sb_opt(options, SB_OPT_help)) {
		sb_help_verb(SB_VERB_SWEEP);
		return 0;
	}
	if (options->words && !is_there)
		return sweep_file(argc, argv);
	rc = take_directory(options);
	return rc ? rc : sweep(options);
}

int sb_command_sweep(int argc, char **argv)
{
	static struct sb_options options;
	int rc = sb_options_parse_for(&options, SB_VERB_SWEEP, argc - 1, argv + 1);

	if (!rc)
		rc = sweep_options(&options, argc - 1, argv + 1);
	sb_options_free(&options);
	return rc;
}
