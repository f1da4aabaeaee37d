/*
 * ab.c - the verb `ab`: two sides -> pairs of processes for each workload
 * (pairs.h) -> what they differ in (results/stats/paired.h) -> one result with the series
 * of both sides, pairs.csv, findings.csv -> a table with a verdict for each metric.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli/help.h"
#include "harness/compare/compared.h"
#include "harness/compare/sides.h"
#include "harness/output/facts.h"
#include "harness/output/outcome.h"
#include "harness/sweep/session.h"
#include "harness/terminal/interrupts.h"
#include "harness/terminal/progress.h"
#include "harness/terminal/status.h"
#include "harness/verbs/ab_session.h"
#include "harness/verbs/verbs.h"
#include "results/files/answer.h"
#include "results/files/file.h"
#include "results/files/summary_virtual.h"
#include "results/files/wrap.h"
#include "results/record/series.h"
#include "results/text/escape.h"

/* ---- the plan ---- */

/* One process: its times, and starting and writing. */
#define START_NS   150e6
#define PAIRS_AUTO 20

static bool is_by_time(const struct sb_options *o)
{
	return o->value[SB_OPT_duration_total].alternative;
}

/* So few pairs show a difference in each metric of each workload, if all agree. */
static uint32_t least_pairs(const struct sb_ab *s)
{
	const uint32_t tests = s->compared.n * s->options->chosens;

	return 2 * sb_paired_units_needed(SB_FINDINGS_ERROR / tests);
}

static uint32_t most_pairs(const struct sb_ab *s)
{
	const struct sb_option_value *given = &s->options->value[SB_OPT_pairs];
	const uint32_t least = least_pairs(s);

	if (is_by_time(s->options))
		return SB_PAIRS_MAX;
	if (given->alternative)
		return (uint32_t)given->number;
	return least > PAIRS_AUTO ? least : PAIRS_AUTO;
}

static int check_options(const struct sb_ab *s)
{
	const struct sb_options *o = s->options;

	if (!sb_option_is_said(o, SB_OPT_side_a) && !sb_option_is_said(o, SB_OPT_side_b))
		return sb_fail(SB_EXIT_USAGE, "nothing to compare; expected -A OPTIONS and -B "
					      "OPTIONS, of which one may be missing or empty");
	if (is_by_time(o) && sb_option_is_said(o, SB_OPT_pairs))
		return sb_fail(SB_EXIT_USAGE,
			       "--pairs and --duration-total are given; expected one of them");
	if (most_pairs(s) < least_pairs(s))
		return sb_fail(SB_EXIT_USAGE,
			       "--pairs: %" PRIu32 " are too few; expected at least %" PRIu32
			       " to show a difference in any of %" PRIu32
			       " metrics with 95 %% (--metric chooses them)",
			       most_pairs(s), least_pairs(s), s->compared.n * o->chosens);
	return 0;
}

static int plan_trial(struct sb_ab *s, struct sb_ab_trial *trial, const struct sb_chosen *chosen)
{
	const struct sb_options *o = s->options;
	struct sb_pairs *pairs = &trial->pairs;
	int rc = 0;

	trial->chosen = chosen;
	for (int side = 0; side < SB_SIDES && !rc; side++) {
		rc = sb_side_arguments(&s->side[side], o, SB_VERB_AB, chosen,
				       &trial->arguments[side], &pairs->side[side].limit_ns);
		pairs->side[side].program = s->side[side].program;
		pairs->side[side].argv = trial->arguments[side].word;
	}
	pairs->most = most_pairs(s);
	pairs->time_ns = is_by_time(o) ? sb_opt(o, SB_OPT_duration_total) / o->chosens : 0;
	pairs->seed = sb_opt(o, SB_OPT_seed);
	pairs->saved = s->saved;
	pairs->first_series = SB_SIDES * s->trials;
	pairs->has_warm_up = true;
	pairs->keep_awake = (enum sb_awake_when)o->value[SB_OPT_keep_awake].alternative;
	return rc;
}

static int plan(struct sb_ab *s)
{
	const struct sb_options *o = s->options;
	int rc = sb_compared_choose(&s->compared, o);

	rc = rc ? rc : check_options(s);
	for (int side = 0; side < SB_SIDES && !rc; side++)
		rc = sb_side_parse(&s->side[side], sb_side_name(side),
				   o->value[side ? SB_OPT_side_b : SB_OPT_side_a].text);
	if (rc)
		return rc;
	s->trial = calloc(o->chosens, sizeof(*s->trial));
	if (!s->trial)
		return sb_fail_memory();
	while (s->trials < o->chosens && !rc) {
		rc = plan_trial(s, &s->trial[s->trials], &o->chosen[s->trials]);
		s->trials++;
	}
	s->pair_ns = 2 * ((double)sb_sweep_row_ns(o) + START_NS);
	for (int side = 0; side < SB_SIDES; side++)
		s->saved->file[side] = s->side[side].program;
	return rc || !s->saved->store ? rc : sb_saved_check(s->saved);
}

static bool saved_series(const struct sb_saved *saved, uint32_t index, struct sb_saved_series *out)
{
	const struct sb_ab *s = saved->plan;

	if (index >= SB_SIDES * s->trials)
		return false;
	*out = sb_pairs_series(s->trial[index / SB_SIDES].chosen->workload->name, most_pairs(s));
	return true;
}

/* ---- progress ---- */

static void before_process(void *arg, uint32_t pair, enum sb_side_id side)
{
	struct sb_ab *s = arg;
	char phase[40];

	if (pair == SB_PAIR_WARM_UP)
		snprintf(phase, sizeof(phase), "warm-up %s", sb_side_name(side));
	else
		snprintf(phase, sizeof(phase), "pair %" PRIu32 " %s", pair + 1, sb_side_name(side));
	sb_progress_phase(&s->progress, s->now->chosen->workload->name, phase);
}

/* B of A in percent, of the first metric, so far. */
static bool after_pair(void *arg)
{
	static double a[SB_PAIRS_MAX];
	static double b[SB_PAIRS_MAX];
	static uint32_t block[SB_PAIRS_MAX];
	struct sb_ab *s = arg;
	const struct sb_pair_values values =
		sb_pairs_values(&s->now->pairs, s->compared.metric[0], a, b, block);
	struct sb_paired paired;

	sb_progress_done(&s->progress, 1, s->pair_ns);
	if (!s->progress.out || sb_paired_compare(&paired, &values, SB_FINDINGS_ERROR) ||
	    paired.scale != SB_PAIR_RATIO)
		return true;
	sb_progress_estimate(&s->progress,
			     &(struct sb_estimate){ 100 * paired.estimate, NAN, NAN, "% of A" });
	return true;
}

static void plan_progress(struct sb_ab *s)
{
	const struct sb_pairs *pairs = &s->trial[0].pairs;
	const double pairs_each =
		pairs->time_ns ? fmax(1, (double)pairs->time_ns / s->pair_ns) : pairs->most;

	sb_progress_open(&s->progress, stderr, sb_opt(s->options, SB_OPT_quiet));
	sb_progress_plan(&s->progress, (uint32_t)(pairs_each * s->trials),
			 pairs_each * s->trials * s->pair_ns);
}

/* ---- the pairs ---- */

static int run_trial(struct sb_ab *s, struct sb_ab_trial *trial)
{
	int rc;

	trial->pairs.scratch = s->result.directory;
	trial->pairs.failures = s->failures;
	trial->pairs.before = before_process;
	trial->pairs.after = after_pair;
	trial->pairs.arg = s;
	s->now = trial;
	s->begun++;
	rc = sb_pairs_run(&trial->pairs);
	s->is_interrupted |= trial->pairs.is_interrupted;
	return rc;
}

static int run_trials(struct sb_ab *s)
{
	int rc = 0;

	s->failures = sb_path_join(s->result.directory, "failures.txt");
	if (!s->failures)
		return sb_fail_memory();
	sb_interrupts_catch();
	plan_progress(s);
	for (uint32_t i = 0; i < s->trials && !rc && !s->is_interrupted; i++)
		rc = run_trial(s, &s->trial[i]);
	sb_progress_close(&s->progress);
	return rc;
}

/* ---- all of it ---- */

/* Says of a virtual result that its times are predictions. */
static void put_machine(const struct sb_result *result, FILE *out)
{
	int columns = sb_terminal_width(out);
	struct sb_wrap wrap;
	FILE *stream = sb_wrap_begin(&wrap, out, &columns);

	sb_summary_put_virtual(stream, result);
	sb_wrap_end(&wrap);
}

static void print_pretty(const void *session, FILE *out)
{
	const struct sb_ab *s = session;

	sb_compared_put(sb_answer_of(&s->result), &s->findings, out);
	put_machine(&s->result, out);
	fprintf(out, "result: %s (findings.csv, pairs.csv, report.html, result.json)\n",
		sb_terminal_text(s->result.directory));
}

/* A workload of which a side has no value, or not enough. */
static int judge(const struct sb_ab *s)
{
	if (s->is_interrupted)
		return sb_saved_interrupted(s->saved, s->result.directory);
	if (s->result.all_series < SB_SIDES * s->trials)
		return sb_fail(SB_EXIT_INVALID, "a side has measured nothing");
	for (uint32_t i = 0; i < s->findings.n; i++) {
		const struct sb_finding *f = &s->findings.finding[i];

		if (!sb_finding_is_conclusive(f))
			return sb_fail(SB_EXIT_INVALID,
				       "%s, %s: %" PRIu32
				       " blocks have values; expected at least %" PRIu32
				       " for %" PRIu32 " intervals with 95 %%",
				       f->name, sb_metric[f->metric].name, f->blocks,
				       sb_paired_units_needed(f->level), s->findings.n);
	}
	return 0;
}

static int measure(struct sb_ab *s)
{
	int rc = sb_outcome_prepare(s->options, &s->result);
	int tables;

	if (!rc) {
		sb_outcome_try_plots(s->options);
		rc = run_trials(s);
	}
	rc = rc ? rc : sb_ab_conclude(s);
	if (rc)
		return rc;
	/* While the pairs still have their records. */
	tables = sb_ab_write_tables(s);
	rc = sb_ab_collect(s, s->saved->command);
	if (!rc && s->result.all_series)
		rc = sb_outcome_write(&s->result, s->options);
	sb_compared_print(&s->findings, s->options, print_pretty, s);
	if (rc)
		return rc;
	if (tables)
		return sb_fail(SB_EXIT_ENVIRONMENT,
			       "pairs.csv and findings.csv cannot be written in %s: %s",
			       s->result.directory, strerror(-tables));
	if (!s->is_interrupted)
		sb_saved_remove(s->saved);
	return judge(s);
}

static int compare_sides(const struct sb_options *options, struct sb_saved *saved)
{
	static struct sb_ab s;
	int rc;

	s = (struct sb_ab){ .options = options, .saved = saved };
	saved->plan = &s;
	/* The runs take everything from their command lines. */
	sb_options_clear_environment();
	rc = plan(&s);
	rc = rc ? rc : measure(&s);
	for (uint32_t i = 0; i < s.trials; i++) {
		sb_pairs_free(&s.trial[i].pairs);
		sb_arguments_free(&s.trial[i].arguments[SB_SIDE_A]);
		sb_arguments_free(&s.trial[i].arguments[SB_SIDE_B]);
	}
	free(s.trial);
	sb_side_free(&s.side[SB_SIDE_A]);
	sb_side_free(&s.side[SB_SIDE_B]);
	sb_findings_free(&s.findings);
	sb_result_free(&s.result);
	free(s.failures);
	return rc;
}

static int begin(struct sb_job *job, int argc, char **argv)
{
	const struct sb_jobs jobs = { .job = job, .jobs = 1 };
	struct sb_saved saved = { .kind = &sb_store_of_ab, .jobs = &jobs, .series = saved_series };
	int rc = sb_options_choose(&job->options);

	saved.command = sb_facts_join(argc, argv);
	if (!rc)
		rc = saved.command ? compare_sides(&job->options, &saved) : sb_fail_memory();
	sb_saved_close(&saved);
	return rc;
}

static int resume(const struct sb_options *given, int argc, char **argv)
{
	struct sb_saved saved = { .kind = &sb_store_of_ab, .series = saved_series };
	struct sb_jobs jobs;
	int rc = sb_saved_resume(&saved, given, argc - 1, argv + 1, &jobs);

	rc = rc ? rc : compare_sides(&jobs.job[0].options, &saved);
	sb_saved_close(&saved);
	sb_jobs_free(&jobs);
	return rc;
}

int sb_command_ab(int argc, char **argv)
{
	static struct sb_job job;
	int rc = sb_options_parse_for(&job.options, SB_VERB_AB, argc - 1, argv + 1);

	if (!rc && sb_opt(&job.options, SB_OPT_help))
		sb_help_verb(SB_VERB_AB);
	else if (!rc && sb_opt(&job.options, SB_OPT_resume))
		rc = resume(&job.options, argc, argv);
	else if (!rc)
		rc = begin(&job, argc, argv);
	sb_options_free(&job.options);
	return rc;
}
