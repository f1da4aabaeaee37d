/*
 * calibrate.c - the verb `calibrate`: the clock, then each part of the
 * table, then the rows in the form that was asked for.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/calibrate/costs.h"
#include "harness/calibrate/model.h"
#include "harness/calibrate/primitives.h"
#include "harness/calibrate/recording.h"
#include "harness/calibrate/runs.h"
#include "harness/cli/help.h"
#include "harness/cli/options.h"
#include "harness/output/output.h"
#include "harness/system/clock_choice.h"
#include "harness/terminal/status.h"
#include "harness/verbs/verbs.h"
#include "harness/virtual/ground.h"

/* In the order of --only's alternatives, which begin with all. */
static const struct {
	const char *what;
	void (*measure)(struct sb_calibration *c);
} parts[] = {
	{ "clocks", sb_measure_clock },
	{ "an atomic addition", sb_measure_atomic },
	{ "cache lines", sb_measure_transfers },
	{ "wakes", sb_measure_wakes },
	{ "changes of threads", sb_measure_switches },
	{ "steals", sb_measure_steals },
	{ "units of work", sb_measure_work },
};

/* On a terminal only; the line is taken back at the end. */
static void show_progress(size_t done, const char *what)
{
	if (!isatty(STDERR_FILENO))
		return;
	if (what)
		fprintf(stderr, "\r\033[K%zu/%zu  %s", done, SB_ARRAY_SIZE(parts) + 1, what);
	else
		fputs("\r\033[K", stderr);
}

/* only: 0 for all. Recording comes last: it starts schedulers, whose helper threads stay. */
static int measure(struct sb_calibration *c, unsigned int only)
{
	int rc = 0;

	for (unsigned int i = 0; i < SB_ARRAY_SIZE(parts); i++) {
		if (only && only != i + 1)
			continue;
		show_progress(i, parts[i].what);
		parts[i].measure(c);
	}
	if (!only || only == SB_ARRAY_SIZE(parts) + 1) {
		show_progress(SB_ARRAY_SIZE(parts), "recording");
		rc = sb_measure_recording(c);
	}
	show_progress(0, NULL);
	if (!rc && c->no_memory)
		rc = sb_fail_memory();
	return rc;
}

static int prepare(struct sb_calibration *c, const struct sb_options *options)
{
	int rc;

	c->quick = sb_opt(options, SB_OPT_fast);
	if (getloadavg(&c->load, 1) != 1)
		c->load = NAN;
	rc = sb_timing_cpus(&c->cpu, &c->cpus);
	if (rc)
		return sb_fail(SB_EXIT_ENVIRONMENT, "the CPUs that may be used cannot be read: %s",
			       strerror(-rc));
	/* Measured in any case, by whatever clock it is then. */
	(void)!sb_clock_calibrate(c->cpu, c->cpus, &c->clock);
	return 0;
}

static int print(const struct sb_calibration *c, unsigned int format)
{
	/* pretty|json|csv */
	static int (*const forms[])(const struct sb_calibration *c, FILE *out) = {
		sb_calibration_write_pretty,
		sb_calibration_write_json,
		sb_calibration_write_csv,
	};
	int rc = forms[format](c, stdout);

	if (!rc && (fflush(stdout) || ferror(stdout)))
		rc = -errno;
	return rc ? sb_fail(SB_EXIT_ENVIRONMENT, "standard output: %s", strerror(-rc)) : 0;
}

/* The file of --save-model, the given one or this machine's in the user's cache, which is tried
 * before minutes of measurement. */
static int choose_model(const struct sb_options *options, char **path)
{
	const char *given = options->value[SB_OPT_calibrate_output].text;
	int rc;

	if (options->value[SB_OPT_part].alternative)
		return sb_fail(SB_EXIT_USAGE, "--only: a model needs all parts; expected "
					      "--save-model without it");
	*path = *given ? strdup(given) : sb_cache_path(SB_MODEL_OWN);
	if (!*path)
		return sb_fail(SB_EXIT_ENVIRONMENT, "--save-model: no cache for it; expected "
						    "--output FILE");
	rc = sb_output_try(*path);
	return rc ? sb_output_failed(*path, rc) : 0;
}

static int calibrate(const struct sb_options *options)
{
	struct sb_calibration c = { .costs = 0 };
	const unsigned int only = options->value[SB_OPT_part].alternative;
	char *model = NULL;
	int rc = sb_opt(options, SB_OPT_save_model) ? choose_model(options, &model) : 0;

	if (!rc)
		rc = prepare(&c, options);
	if (!rc)
		rc = measure(&c, only);
	if (!rc)
		rc = print(&c, options->value[SB_OPT_format].alternative);
	if (!rc && model)
		rc = sb_calibration_save_model(&c, model);
	sb_calibration_free(&c);
	free(model);
	return rc;
}

/* Options of runs need --runs, and with it nothing else is measured. */
static int check_runs(const struct sb_options *options)
{
	static const enum sb_option_id of_runs[] = { SB_OPT_workload,	 SB_OPT_workers,
						     SB_OPT_forks,	 SB_OPT_duration,
						     SB_OPT_repetitions, SB_OPT_warmup,
						     SB_OPT_load,	 SB_OPT_rate };
	static const enum sb_option_id others[] = { SB_OPT_fast, SB_OPT_part, SB_OPT_save_model,
						    SB_OPT_format };
	const bool has_runs = sb_opt(options, SB_OPT_runs) > 0;
	const enum sb_option_id *refused = has_runs ? others : of_runs;
	const size_t n = has_runs ? SB_ARRAY_SIZE(others) : SB_ARRAY_SIZE(of_runs);

	for (size_t i = 0; i < n; i++) {
		if (sb_option_is_said(options, refused[i]))
			return sb_fail(SB_EXIT_USAGE, "--%s: expected it %s --runs",
				       sb_option[refused[i]].name, has_runs ? "without" : "with");
	}
	return 0;
}

int sb_command_calibrate(int argc, char **argv)
{
	static struct sb_options options;
	int rc = sb_options_parse_for(&options, SB_VERB_CALIBRATE, argc - 1, argv + 1);

	if (!rc && sb_opt(&options, SB_OPT_help))
		sb_help_verb(SB_VERB_CALIBRATE);
	else if (!rc)
		rc = check_runs(&options);
	if (!rc && !sb_opt(&options, SB_OPT_help))
		rc = sb_opt(&options, SB_OPT_runs) ? sb_calibrate_runs(&options)
						   : calibrate(&options);
	sb_options_free(&options);
	return rc;
}
