/* gate_stored.c - a stored result as the baseline of a gate: its workloads, and whether
 * its options are those of the candidate. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "harness/cli/policy.h"
#include "harness/compare/gate.h"
#include "harness/compare/gate_setup.h"
#include "harness/output/facts.h"
#include "harness/run/placing.h"
#include "harness/system/awake.h"
#include "harness/terminal/status.h"
#include "results/json/read.h"
#include "results/record/series.h"

static int other_option(const char *name, const char *stored, const char *now)
{
	return sb_fail(SB_EXIT_USAGE,
		       "--baseline: it was measured with --%s %s, this is --%s %s; expected the "
		       "same options",
		       name, stored, name, now);
}

/* "2", where the baseline's "per-core" were two. */
static bool is_number_of_workers(const struct sb_series *series, const char *text)
{
	char workers[16];

	snprintf(workers, sizeof(workers), "%" PRIu32, series->placement.workers);
	return !strcmp(workers, text);
}

/* An option is the baseline's, unless it was said, and then it has to be. The
 * baseline's policy decides nothing here: all that it could is said. */
static int take_option(struct sb_gate_job *job, const struct sb_result *stored,
		       const struct sb_series *series, const struct sb_options *options, int id)
{
	const char *name = sb_option[id].name;
	const char *was = sb_series_option(series, stored, name);
	const char *is = options->value[id].text;

	if (!*was)
		return 0;
	if (sb_option_is_said(options, (enum sb_option_id)id) && strcmp(was, is) != 0 &&
	    !(id == SB_OPT_gate_workers && is_number_of_workers(series, is)))
		return other_option(name, was, is);
	if (sb_gate_is_other_in_run(id) || sb_policy_sets(id) ||
	    strcmp(was, sb_option[id].initial) != 0)
		return sb_gate_add_option(job, id, was);
	return 0;
}

static int take_params(struct sb_gate_job *job, const struct sb_series *series,
		       const struct sb_options *options)
{
	const struct sb_workload *workload = sb_workload_find(series->workload);
	int rc = 0;

	if (!workload)
		return sb_fail(SB_EXIT_USAGE, "--baseline: its workload '%s' is not known",
			       series->workload);
	for (uint32_t i = 0; i < options->givens; i++) {
		const struct sb_setting *was = sb_series_setting(series, options->given[i].name);

		if (was && strcmp(was->text, options->given[i].text) != 0)
			return other_option(was->name, was->text, options->given[i].text);
	}
	for (uint32_t i = 0; i < series->settings && !rc; i++) {
		if (sb_gate_has_param(workload, series->setting[i].name))
			rc = sb_gate_add_word(job, "--%s=%s", series->setting[i].name,
					      series->setting[i].text);
	}
	return rc;
}

/* Too few would be found out after all runs; too many would be left out without a word. */
static int check_values(const struct sb_series *series)
{
	if (series->records >= SB_GATE_VALUES_MIN && series->records <= SB_GATE_VALUES_MAX)
		return 0;
	return sb_fail(SB_EXIT_USAGE,
		       "--baseline: %s has %" PRIu32 " repetitions; expected %d to %d",
		       series->workload, series->records, SB_GATE_VALUES_MIN, SB_GATE_VALUES_MAX);
}

static int take_series(struct sb_gate_setup *setup, const struct sb_result *stored,
		       const struct sb_series *series)
{
	const struct sb_workload *workload = sb_workload_find(series->workload);
	struct sb_gate_job *job = sb_gate_add_job(setup, workload ? workload->name : "");
	int rc = job ? check_values(series) : SB_EXIT_BUG;

	rc = rc ? rc : take_params(job, series, setup->options);
	if (job)
		job->series = (uint32_t)(series - stored->series);
	for (int id = 0; id < SB_OPTIONS && !rc; id++) {
		if (sb_gate_is_run_option(id))
			rc = take_option(job, stored, series, setup->options, id);
	}
	return rc;
}

static bool is_wanted(const struct sb_options *options, const char *workload)
{
	for (uint32_t i = 0; i < options->chosens; i++) {
		if (!strcmp(options->chosen[i].workload->name, workload))
			return true;
	}
	return !options->chosens;
}

/* Facts that must be the same, apart from options: with their values here. */
static int check_same(const struct sb_result *stored, const char *group, const char *key,
		      const char *what, const char *now)
{
	const char *was = sb_result_fact(stored, group, key);

	if (!strcmp(was, now))
		return 0;
	return sb_fail(SB_EXIT_USAGE,
		       "--baseline: it is from %s: %s, and this is %s; times of the two cannot be "
		       "compared",
		       what, *was ? was : "unknown", now);
}

static int check_stored(const struct sb_result *stored)
{
	struct sb_calibration machine;
	const char *slowdown = sb_result_fact(stored, "options", "slowdown");
	int rc = sb_gate_machine(&machine);

	rc = rc ? rc
		: check_same(stored, "machine", "topology_fingerprint", "another machine",
			     machine.fingerprint);
	rc = rc ? rc
		: check_same(stored, "machine", "cpu_model", "another processor", machine.model);
	rc = rc ? rc
		: check_same(stored, "run", "build_mode", "another kind of build", SB_BUILD_MODE);
	if (!rc && *slowdown && strcmp(slowdown, "none") != 0)
		rc = sb_fail(SB_EXIT_USAGE,
			     "--baseline: it was slowed down by %s on purpose (--slowdown); "
			     "expected one that was not",
			     slowdown);
	return rc;
}

int sb_gate_take_result(struct sb_gate_setup *setup)
{
	struct sb_result stored;
	char why[400];
	int rc;

	if (setup->options->value[SB_OPT_keep_awake].alternative == SB_AWAKE_YES)
		return sb_fail(
			SB_EXIT_USAGE,
			"--keep-awake: a stored result was measured without; expected auto or no");
	rc = sb_result_read(&stored, setup->baseline.path, why, sizeof(why));
	if (rc)
		return sb_fail(sb_status_of(rc), "--baseline: %s", why);
	rc = check_stored(&stored);
	for (uint32_t i = 0; i < stored.all_series && !rc; i++) {
		if (is_wanted(setup->options, stored.series[i].workload))
			rc = take_series(setup, &stored, &stored.series[i]);
	}
	sb_result_free(&stored);
	if (!rc && !setup->jobs)
		rc = sb_fail(SB_EXIT_USAGE, "--baseline: '%s' has none of the workloads",
			     setup->baseline.description);
	return rc;
}
