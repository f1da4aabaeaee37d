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
#include "harness/cli/trust.h"
#include "harness/fleet/machines.h"
#include "harness/fleet/remote.h"
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
#include "results/text/escape.h"

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
	rc = sb_chunk_check(&s->chunk, &s->sweep);
	if (rc)
		return rc;
	s->rows_here = sb_chunk_rows(&s->chunk, &s->sweep);
	s->done = calloc(s->rows, sizeof(*s->done));
	s->latest = calloc(s->sweep.configurations, sizeof(*s->latest));
	for (uint32_t i = 0; s->latest && i < s->sweep.configurations; i++)
		s->latest[i] = NAN;
	return s->done && s->latest ? 0 : sb_fail_memory();
}

int sb_session_add_round(struct sb_session *s)
{
	const uint32_t n = s->sweep.configurations;
	bool *done = reallocarray(s->done, s->rows + n, sizeof(*done));

	if (!done)
		return sb_fail_memory();
	s->done = done;
	if (sb_sweep_add_round(&s->sweep))
		return sb_fail_memory();
	memset(&done[s->rows], 0, n * sizeof(*done));
	s->rows += n;
	s->rows_here += n;
	return 0;
}

static void put_plan(const struct sb_session *s)
{
	char left[SB_DURATION_BYTES];

	printf("%" PRIu32 " configuration%s x %" PRIu32 " repetition%s = %" PRIu32 " rows",
	       s->sweep.configurations, s->sweep.configurations == 1 ? "" : "s",
	       s->sweep.repetitions, s->sweep.repetitions == 1 ? "" : "s", s->rows);
	if (s->chunk.of)
		printf(", %" PRIu32 " of them in chunk %" PRIu32 " of %" PRIu32, s->rows_here,
		       s->chunk.number, s->chunk.of);
	if (s->rows_done)
		printf(", %" PRIu32 " done", s->rows_done);
	if (s->store_directory)
		puts("; a cluster runs them");
	else
		printf("; about %s\n",
		       sb_session_format_duration(left, 1e-9 * sb_session_planned_ns(s)));
}

static void put_order(const struct sb_session *s)
{
	const uint32_t n = s->sweep.configurations;

	for (uint32_t i = 0; i < n; i++)
		printf("%5" PRIu32 "  %s\n", i, sb_terminal_text(s->sweep.configuration[i].label));
	for (uint32_t r = 0; r < s->sweep.repetitions; r++) {
		printf("repetition %" PRIu32 ":", r);
		for (uint32_t i = r * n; i < (r + 1) * n; i++) {
			if (sb_chunk_has(&s->chunk, &s->sweep, i))
				printf(" %" PRIu32, s->sweep.order[i].configuration);
		}
		putchar('\n');
	}
}

static bool wants_text(const struct sb_session *s)
{
	return !sb_session_is(s, SB_OPT_quiet) && !s->given->value[SB_OPT_format].alternative;
}

/* ---- the verb ---- */

/* Whether rows have been run already, and their stores have the plan. */
static bool exists(const struct sb_options *given)
{
	return sb_opt(given, SB_OPT_resume) || sb_opt(given, SB_OPT_collect) ||
	       sb_opt(given, SB_OPT_merge);
}

/* Whether a cluster runs the rows. */
static bool is_remote(const struct sb_session *s)
{
	if (exists(s->given))
		return sb_session_is(s, SB_OPT_resume) &&
		       sb_remote_is_there(s->given->value[SB_OPT_output].text);
	return *s->given->value[SB_OPT_on].text;
}

static int check_cluster(const struct sb_options *o)
{
	const char *on = o->value[SB_OPT_on].text;

	if (*on && *o->value[SB_OPT_chunk].text)
		return sb_fail(SB_EXIT_USAGE, "--chunk and --on: expected one of them");
	return *on && !sb_remote_options(on) ? SB_EXIT_USAGE : 0;
}

static int begin(struct sb_session *s)
{
	if (sb_session_is(s, SB_OPT_dry_run))
		return sb_outcome_check(s->given);
	return is_remote(s) ? sb_remote_begin(s, &s->canonical)
			    : sb_session_begin(s, &s->canonical);
}

static int prepare(struct sb_session *s, struct sb_arguments *stored)
{
	int rc = 0;

	if (sb_sweep_canonical(s->given, &s->canonical))
		return sb_fail_memory();
	if (sb_session_is(s, SB_OPT_merge))
		return sb_session_merge(s, stored);
	if (exists(s->given))
		return is_remote(s) ? sb_remote_resume(s, stored) : sb_session_resume(s, stored);
	/* A job's are chosen already. */
	if (!s->given->chosens)
		rc = sb_options_choose(s->given);
	rc = rc ? rc : sb_chunk_parse(&s->chunk, s->given->value[SB_OPT_chunk].text);
	rc = rc ? rc : check_cluster(s->given);
	rc = rc ? rc : sb_session_plan(s);
	return rc ? rc : begin(s);
}

/* Whether rows are run, and not only put into a result. */
static bool runs_rows(const struct sb_session *s)
{
	return !sb_session_is(s, SB_OPT_collect) && !sb_session_is(s, SB_OPT_merge);
}

/* A chunk is a store of rows; the result is that of all chunks. */
static int finish_chunk(const struct sb_session *s)
{
	if (s->rows_done < s->rows_here)
		sb_note("%" PRIu32 " of %" PRIu32
			" rows are missing: sched-bench sweep --resume %s%s",
			s->rows_here - s->rows_done, s->rows_here, s->result.directory,
			sb_trust_hint(s->options));
	if (wants_text(s))
		printf("chunk %" PRIu32 " of %" PRIu32 ": %s; with the others: sched-bench sweep "
		       "--merge CHUNK... -o DIRECTORY\n",
		       s->chunk.number, s->chunk.of, sb_terminal_text(s->result.directory));
	return s->rows_done < s->rows_here ? SB_EXIT_INVALID : 0;
}

static int run_session(struct sb_session *s, struct sb_arguments *stored)
{
	const bool is_new = !stored->n;
	int rc = 0;

	if (runs_rows(s))
		sb_hidden_note(&s->hidden, &s->sweep);
	if (sb_session_is(s, SB_OPT_dry_run)) {
		put_plan(s);
		put_order(s);
		return 0;
	}
	if (wants_text(s) && runs_rows(s)) {
		put_plan(s);
		fflush(stdout);
	}
	if (s->store_directory)
		rc = sb_remote_run(s, is_new ? &s->canonical : stored);
	else if (runs_rows(s))
		rc = sb_session_run(s);
	if (rc)
		return rc;
	if (s->chunk.of && runs_rows(s))
		return finish_chunk(s);
	return sb_session_finish(s, is_new ? &s->canonical : stored);
}

/* One for each machine. */
static int sweep_machines(const struct sb_options *given)
{
	struct sb_arguments plan;
	int rc;

	if (sb_sweep_canonical(given, &plan))
		rc = sb_fail_memory();
	else if (sb_opt(given, SB_OPT_resume))
		rc = sb_machines_resume(given, &plan);
	else
		rc = sb_machines_sweep(given, &plan);
	sb_arguments_free(&plan);
	return rc;
}

/* Whether the sweep is one for each of several machines. */
static bool is_of_machines(const struct sb_options *given)
{
	if (sb_opt(given, SB_OPT_resume))
		return sb_machines_have_begun(given->value[SB_OPT_output].text);
	return !exists(given) && !sb_opt(given, SB_OPT_dry_run) && sb_machines_asked_for(given);
}

static int sweep(struct sb_options *given)
{
	static struct sb_session s;
	struct sb_arguments stored = { .n = 0 };
	int rc;

	if (is_of_machines(given))
		return sweep_machines(given);
	s = (struct sb_session){ .given = given, .options = given };
	/* The runs take everything from their command lines. */
	sb_options_clear_environment();
	rc = prepare(&s, &stored);
	rc = rc ? rc : run_session(&s, &stored);
	if (s.origin != s.store)
		sb_store_close(s.origin);
	sb_store_close(s.store);
	sb_remote_end(&s);
	free(s.store_directory);
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

static int check_merge(const struct sb_options *options)
{
	if (options->words)
		return 0;
	return sb_fail(SB_EXIT_USAGE, "--merge: directories are missing; expected those of the "
				      "chunks of a sweep");
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
	int rc;

	if (sb_opt(options, SB_OPT_help)) {
		sb_help_verb(SB_VERB_SWEEP);
		return 0;
	}
	if (options->words && !exists(options))
		return sweep_file(argc, argv);
	rc = sb_opt(options, SB_OPT_merge) ? check_merge(options) : take_directory(options);
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
