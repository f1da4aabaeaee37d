/*
 * gate.c - the verb `gate`: baseline and candidate -> pairs until it is
 * clear -> verdict, in all the forms that CI systems read. Its own
 * trials, --calibrate and --selftest, are in gate_trials.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/platform/clock.h"
#include "harness/cli/help.h"
#include "harness/compare/gate_trials.h"
#include "harness/output/outcome.h"
#include "harness/output/output.h"
#include "harness/run/measure.h"
#include "harness/terminal/interrupts.h"
#include "harness/terminal/status.h"
#include "harness/terminal/text.h"
#include "harness/verbs/verbs.h"
#include "results/files/file.h"
#include "results/record/series.h"
#include "results/text/escape.h"

struct command {
	struct sb_options *options;
	struct sb_saved *saved;
	struct sb_gate_setup setup;
	struct sb_calibration calibration; /* of this machine; no gates: none */
	struct sb_result place;		   /* its directory alone */
	char *failures;
	char *stored; /* result.json of a baseline that is a directory; NULL: it is none */
};

static bool is(const struct command *c, enum sb_option_id id)
{
	return sb_opt(c->options, id);
}

static const char *text_of(const struct command *c, enum sb_option_id id)
{
	return c->options->value[id].text;
}

/* ---- before a gate ---- */

/* Where nothing is to differ but the program, if that. */
static int check_alike(const struct command *c, const char *mode)
{
	static const enum sb_option_id differ[] = { SB_OPT_baseline_options,
						    SB_OPT_candidate_options,
						    SB_OPT_gate_slowdown };

	for (size_t i = 0; i < SB_ARRAY_SIZE(differ); i++) {
		if (sb_option_is_said(c->options, differ[i]))
			return sb_fail(SB_EXIT_USAGE, "--%s: it is not for %s; expected it without",
				       sb_option[differ[i]].name, mode);
	}
	return 0;
}

static int check_trial(const struct command *c)
{
	const int rc = check_alike(c, "a trial");

	return rc ? rc : sb_gate_check_slowdowns(text_of(c, SB_OPT_slowdowns));
}

static int check_virtual(const struct command *c)
{
	const char *saved = text_of(c, SB_OPT_save_baseline);

	if (sb_option_is_said(c->options, SB_OPT_gate_slowdown))
		return sb_fail(SB_EXIT_USAGE, "--slowdown: it is not for --virtual; expected it "
					      "without, as --candidate-options '--steal one'");
	if (*saved && !sb_is_values_file(saved))
		return sb_fail(SB_EXIT_USAGE, "--save-baseline: '%s' is not valid; expected *.csv",
			       saved);
	if (!*saved && !*text_of(c, SB_OPT_baseline))
		return sb_fail(SB_EXIT_USAGE,
			       "gate: no baseline; expected --baseline and a sched-bench, a git "
			       "revision or a file of --save-baseline, or --save-baseline FILE");
	return 0;
}

/* Which of them it is, and that there is no other. */
static int check_mode(const struct command *c)
{
	static const enum sb_option_id modes[] = { SB_OPT_calibrate, SB_OPT_selftest, SB_OPT_counts,
						   SB_OPT_gate_virtual };
	const bool has_baseline = *text_of(c, SB_OPT_baseline);
	uint32_t n = 0;

	for (size_t i = 0; i < SB_ARRAY_SIZE(modes); i++)
		n += is(c, modes[i]);
	if (n > 1)
		return sb_fail(SB_EXIT_USAGE,
			       "gate: expected one of --calibrate, --selftest, --counts and "
			       "--virtual");
	if (is(c, SB_OPT_calibrate) || is(c, SB_OPT_selftest))
		return has_baseline
			       ? sb_fail(SB_EXIT_USAGE, "--baseline: there is none in a trial: the "
							"candidate is compared with itself")
			       : check_trial(c);
	if (c->options->words)
		return sb_fail(SB_EXIT_USAGE,
			       "gate: '%s' is not expected; the baseline is named with --baseline, "
			       "workloads with -w",
			       c->options->word[0]);
	if (is(c, SB_OPT_gate_virtual))
		return check_virtual(c);
	if (*text_of(c, SB_OPT_save_baseline))
		return sb_fail(SB_EXIT_USAGE, "--save-baseline: expected it with --virtual");
	if (!has_baseline)
		return sb_fail(SB_EXIT_USAGE, "gate: no baseline; expected --baseline and a "
					      "sched-bench, a git revision or a stored result");
	return is(c, SB_OPT_counts) ? check_alike(c, "--counts") : 0;
}

static bool is_quiet(const struct command *c)
{
	return is(c, SB_OPT_quiet);
}

/* Each way of gating has its own kind of file. */
static int check_kind(const struct command *c)
{
	const bool is_virtual = is(c, SB_OPT_gate_virtual);

	if (!c->setup.baseline.path)
		return 0;
	if (is(c, SB_OPT_counts) && c->setup.baseline.kind != SB_BASELINE_PROGRAM)
		return sb_fail(SB_EXIT_USAGE, "--counts: a stored result has no counts; expected a "
					      "sched-bench or a git revision");
	if (is_virtual && c->setup.baseline.kind == SB_BASELINE_RESULT)
		return sb_fail(SB_EXIT_USAGE,
			       "--baseline: a result is not for --virtual; expected a sched-bench, "
			       "a git revision or a file of --save-baseline");
	if (!is_virtual && c->setup.baseline.kind == SB_BASELINE_VALUES)
		return sb_fail(SB_EXIT_USAGE,
			       "--baseline: '%s' is of gates in virtual time; expected --virtual",
			       text_of(c, SB_OPT_baseline));
	return 0;
}

static int find_sides(struct command *c)
{
	const char *candidate = text_of(c, SB_OPT_candidate);
	const char *baseline = text_of(c, SB_OPT_baseline);
	int rc = 0;

	if (*candidate) {
		const bool is_file = is(c, SB_OPT_gate_virtual) && sb_is_values_file(candidate);

		rc = is_file ? 0 : sb_program_check(candidate, "candidate");
		c->setup.candidate = candidate;
	}
	if (!rc && *baseline)
		rc = sb_baseline_find(&c->setup.baseline, baseline, is_quiet(c));
	return rc ? rc : check_kind(c);
}

static int take_limits(struct command *c)
{
	const char *text = text_of(c, SB_OPT_limit);

	if (is(c, SB_OPT_counts))
		return sb_limit_of_counts(text, &c->setup.count_limit);
	if (is(c, SB_OPT_gate_virtual) && !*text)
		return sb_limits_of_virtual(&c->setup.limits);
	return sb_limits_parse(&c->setup.limits, text);
}

/* Gates by counts or in virtual time have none, and many gates would have too many. */
static bool keeps_pairs(const struct command *c)
{
	return !is(c, SB_OPT_calibrate) && !is(c, SB_OPT_selftest) && !is(c, SB_OPT_counts) &&
	       !is(c, SB_OPT_gate_virtual);
}

static int check_saved(struct command *c)
{
	const char *baseline = c->setup.baseline.path;
	struct stat info;

	c->saved->plan = &c->setup;
	if (baseline && !stat(baseline, &info) && S_ISDIR(info.st_mode)) {
		c->stored = sb_path_join(baseline, "result.json");
		baseline = c->stored;
	}
	c->saved->file[SB_SIDE_A] = baseline;
	c->saved->file[SB_SIDE_B] = c->setup.candidate;
	return c->saved->store ? sb_saved_check(c->saved) : 0;
}

static int prepare(struct command *c)
{
	int rc = check_mode(c);

	if (!rc && !c->options->chosens && *text_of(c, SB_OPT_workload))
		rc = sb_options_choose(c->options);
	rc = rc ? rc : take_limits(c);
	rc = rc ? rc : find_sides(c);
	rc = rc ? rc : sb_gate_set_up(&c->setup, c->options);
	rc = rc ? rc : check_saved(c);
	rc = rc ? rc : sb_gate_read_calibration(&c->setup, &c->calibration);
	rc = rc ? rc : sb_outcome_prepare(c->options, &c->place);
	rc = rc ? rc : sb_outputs_try(c->options, SB_VERB_GATE);
	if (rc)
		return rc;
	c->failures = sb_path_join(c->place.directory, "failures.txt");
	c->setup.scratch = c->place.directory;
	c->setup.saved = keeps_pairs(c) ? c->saved : NULL;
	c->setup.failures = c->failures;
	return c->failures ? 0 : sb_fail_memory();
}

/* ---- what is written ---- */

static int write_json(const void *gate, FILE *out)
{
	return sb_gate_write_json(gate, out);
}

static int write_junit(const void *gate, FILE *out)
{
	sb_gate_write_junit(gate, out);
	return 0;
}

static int write_markdown(const void *gate, FILE *out)
{
	sb_gate_write_markdown(gate, out);
	return 0;
}

static int write_values(const void *values, FILE *out)
{
	sb_gate_values_write(values, out);
	return 0;
}

static const struct form {
	const char *name;	  /* in the directory */
	enum sb_option_id option; /* SB_OPTIONS: it has none */
	sb_output_writer write;
} forms[] = {
	{ "verdict.json", SB_OPTIONS, write_json },
	{ "junit.xml", SB_OPT_junit, write_junit },
	{ "verdict.md", SB_OPT_markdown, write_markdown },
};

/* The values of the candidate, to be a later gate's baseline. */
static int save_values(const struct command *c)
{
	const char *path = text_of(c, SB_OPT_save_baseline);
	int rc;

	if (!*path || !c->setup.values.rows || sb_load_rlx(&sb_interrupted))
		return 0;
	rc = sb_output(path, write_values, &c->setup.values);
	if (rc)
		return sb_output_failed(path, rc);
	sb_note("%s: %" PRIu32 " metrics, a baseline for later gates", path, c->setup.values.rows);
	return 0;
}

static bool is_stdout(const struct command *c, enum sb_option_id id)
{
	return !strcmp(text_of(c, id), "-");
}

static int write_form(const struct command *c, const struct sb_gate_report *gate,
		      const struct form *form)
{
	char *path = sb_path_join(c->place.directory, form->name);
	const char *also = form->option == SB_OPTIONS ? "" : text_of(c, form->option);
	int rc = path ? sb_output_inside(path, form->write, gate) : -ENOMEM;

	if (rc)
		rc = sb_output_failed(path, rc);
	free(path);
	if (rc || !*also)
		return rc;
	rc = sb_output(also, form->write, gate);
	return rc ? sb_output_failed(also, rc) : 0;
}

/* Standard output is a program's, if something was sent there. */
static FILE *for_people(const struct command *c)
{
	return is_stdout(c, SB_OPT_junit) || is_stdout(c, SB_OPT_markdown) ||
			       c->options->value[SB_OPT_format].alternative
		       ? stderr
		       : stdout;
}

static int tell(const struct command *c, const struct sb_gate_report *gate)
{
	static int (*const printed[])(const struct sb_gate_report *gate, FILE *out) = {
		[SB_FORMAT_JSON] = sb_gate_write_json, [SB_FORMAT_CSV] = sb_gate_write_csv
	};
	FILE *people = for_people(c);
	int rc = 0;

	if (!is_quiet(c)) {
		sb_gate_write_text(gate, people, sb_terminal_has_color(people),
				   sb_terminal_width(people));
		fprintf(people, "result: %s (verdict.json, junit.xml, verdict.md)\n",
			sb_terminal_text(c->place.directory));
	} else {
		sb_gate_write_verdict(gate, people, false);
	}
	for (size_t i = 0; i < SB_ARRAY_SIZE(forms) && !rc; i++)
		rc = write_form(c, gate, &forms[i]);
	if (!rc && printed[c->options->value[SB_OPT_format].alternative])
		rc = printed[c->options->value[SB_OPT_format].alternative](gate, stdout)
			     ? sb_fail_memory()
			     : 0;
	if (!rc && (is(c, SB_OPT_annotations) || getenv("GITHUB_ACTIONS")))
		sb_gate_write_annotations(gate, people);
	return rc;
}

static int status_of(enum sb_gate_verdict verdict)
{
	static const int status[SB_GATE_VERDICTS] = {
		[SB_GATE_FINE] = SB_EXIT_OK,
		[SB_GATE_REGRESSED] = SB_EXIT_REGRESSED,
		[SB_GATE_UNDECIDED] = SB_EXIT_INVALID,
	};

	return status[verdict];
}

/* ---- one gate ---- */

static double deviation_of(const struct sb_calibration *c, const char *workload, const char *metric)
{
	for (uint32_t i = 0; i < c->noises; i++) {
		if (!strcmp(c->noise[i].workload, workload) && !strcmp(c->noise[i].metric, metric))
			return c->noise[i].deviation;
	}
	return NAN;
}

static void say_forecast(const struct command *c, const struct sb_gate_job *job)
{
	const struct sb_limits *limits = job->limits;
	const char *workload = job->workload;
	uint32_t most = 0;
	bool is_known = true;
	bool is_enough = true;

	for (uint32_t i = 0; i < limits->n; i++) {
		const struct sb_limit *limit = &limits->limit[i];
		const double deviation =
			deviation_of(&c->calibration, workload, sb_metric[limit->metric].name);
		const uint32_t n =
			isnan(deviation)
				? 0
				: sb_sequential_forecast(limit->is_fall ? -log1p(-limit->part)
									: log1p(limit->part),
							 SB_GATE_BETA, deviation);

		is_known &= !isnan(deviation);
		is_enough &= n > 0;
		most = n > most ? n : most;
	}
	if (!is_known)
		return;
	if (is_enough)
		sb_note("%s: about %" PRIu32 " blocks, by this machine's noise", workload, most);
	else
		sb_note("%s: this machine's noise is too much for the limits in %d blocks",
			workload, SB_LOOK_LAST);
}

/* It applies to gates like those. */
static int compare_setups(const struct command *c)
{
	char *now;

	if (!c->setup.calibration || is_quiet(c))
		return 0;
	now = sb_gate_setup_text(&c->setup);
	if (!now)
		return sb_fail_memory();
	if (strncmp(now, c->calibration.setup, sizeof(c->calibration.setup) - 1) != 0)
		sb_note("the calibration is of gates with other options: %s", c->calibration.setup);
	free(now);
	return 0;
}

/* What an interrupt leaves undecided can go on. */
static int end_pairs(struct command *c, enum sb_gate_verdict verdict)
{
	if (sb_load_rlx(&sb_interrupted) && verdict == SB_GATE_UNDECIDED)
		return sb_saved_interrupted(c->saved, c->place.directory);
	sb_saved_remove(c->saved);
	return status_of(verdict);
}

static int gate_once(struct command *c)
{
	struct sb_gate_report gate;
	int rc = compare_setups(c);

	if (rc)
		return rc;
	for (uint32_t i = 0; c->setup.calibration && !is_quiet(c) && i < c->setup.jobs; i++)
		say_forecast(c, &c->setup.job[i]);
	rc = sb_gate_run(&c->setup, &gate);
	sb_progress_close(&c->setup.progress);
	rc = rc ? rc : save_values(c);
	/* Without a baseline, failures alone are reported. */
	if (!rc && (c->setup.baseline.path || gate.tests)) {
		rc = tell(c, &gate);
		rc = rc ? rc : end_pairs(c, gate.verdict);
	}
	sb_gate_free(&gate);
	return rc;
}

/* ---- the verb ---- */

static int run_command(struct command *c)
{
	uint32_t trials = 1;
	int rc = sb_gate_trials_of(&c->setup, &trials);

	if (rc)
		return rc;
	/* The runs take everything from their command lines. */
	sb_options_clear_environment();
	sb_interrupts_catch();
	sb_progress_open(&c->setup.progress, stderr, is_quiet(c));
	if (is(c, SB_OPT_calibrate))
		return sb_gate_calibrate(&c->setup, trials);
	if (is(c, SB_OPT_selftest))
		return sb_gate_selftest(&c->setup, trials);
	return gate_once(c);
}

static int gate(struct sb_options *options, struct sb_saved *saved)
{
	static struct command c;
	int rc;

	c = (struct command){ .options = options, .saved = saved };
	rc = prepare(&c);
	rc = rc ? rc : run_command(&c);
	sb_saved_close(saved);
	sb_gate_setup_free(&c.setup);
	sb_result_free(&c.place);
	free(c.failures);
	free(c.stored);
	return rc;
}

static int resume(const struct sb_options *given, int argc, char **argv)
{
	struct sb_saved saved = { .kind = &sb_store_of_gate, .series = sb_gate_saved_series };
	struct sb_jobs jobs;
	int rc = sb_saved_resume(&saved, given, argc - 1, argv + 1, &jobs);

	rc = rc ? rc : gate(&jobs.job[0].options, &saved);
	sb_saved_close(&saved);
	sb_jobs_free(&jobs);
	return rc;
}

int sb_command_gate(int argc, char **argv)
{
	static struct sb_job job;
	const struct sb_jobs jobs = { .job = &job, .jobs = 1 };
	struct sb_saved saved = { .kind = &sb_store_of_gate,
				  .jobs = &jobs,
				  .series = sb_gate_saved_series };
	int rc = sb_options_parse_for(&job.options, SB_VERB_GATE, argc - 1, argv + 1);

	if (!rc && sb_opt(&job.options, SB_OPT_help))
		sb_help_verb(SB_VERB_GATE);
	else if (!rc && sb_opt(&job.options, SB_OPT_resume))
		rc = resume(&job.options, argc, argv);
	else if (!rc)
		rc = gate(&job.options, &saved);
	sb_options_free(&job.options);
	return rc;
}
