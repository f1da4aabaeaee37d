/*
 * check.c - the verb `check`: every probe of probes.c, a line each, as
 * text, JSON or CSV.
 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "harness/check/probes.h"
#include "harness/cli/help.h"
#include "harness/cli/options.h"
#include "harness/output/rows.h"
#include "harness/terminal/progress.h"
#include "harness/terminal/status.h"
#include "harness/verbs/verbs.h"
#include "results/files/wrap.h"
#include "results/text/escape.h"

static void pause_quarter(void *unused)
{
	const struct timespec quarter = { .tv_nsec = 250000000 };

	(void)unused;
	nanosleep(&quarter, NULL);
}

/* ---- output ---- */

static void put_finding(const struct sb_probe *probe, const struct sb_finding *finding, FILE *out,
			bool color)
{
	static const char *const colors[] = {
		[SB_PROBE_OK] = "\033[32m",
		[SB_PROBE_WARN] = "\033[31m",
		[SB_PROBE_UNKNOWN] = "\033[33m",
	};

	fprintf(out, "%s%-8s%s%-15s %s", color ? colors[finding->state] : "",
		sb_probe_state_name(finding->state), color ? "\033[0m" : "", probe->name,
		sb_terminal_text(finding->found));
	if (finding->state == SB_PROBE_WARN)
		fprintf(out, " (%s)", probe->spoils);
	if (finding->state == SB_PROBE_WARN && *finding->mend)
		fprintf(out, ": %s", sb_terminal_text(finding->mend));
	fputc('\n', out);
}

static json_t *finding_to_json(const struct sb_probe *probe, const struct sb_finding *finding)
{
	return json_pack("{ssssssssss}", "name", probe->name, "state",
			 sb_probe_state_name(finding->state), "found", finding->found, "spoils",
			 probe->spoils, "mend", finding->mend);
}

/* ---- the verb ---- */

/* Runs all; prints them, or with a list appends them. Returns how many warn. */
static int run_probes(const struct sb_probe_view *view, json_t *list)
{
	const bool color = sb_terminal_has_color(stdout);
	int columns = sb_terminal_width(stdout);
	struct sb_wrap wrap;
	FILE *out = sb_wrap_begin(&wrap, stdout, &columns);
	int warnings = 0;

	for (const struct sb_probe *probe = sb_probes; probe->name; probe++) {
		struct sb_finding finding;

		sb_probe_run(probe, view, &finding);
		warnings += finding.state == SB_PROBE_WARN;
		if (!list)
			put_finding(probe, &finding, out, color);
		else
			json_array_append_new(list, finding_to_json(probe, &finding));
	}
	sb_wrap_end(&wrap);
	return warnings;
}

static int check(const struct sb_options *options)
{
	const enum sb_format format = options->value[SB_OPT_format].alternative;
	struct sb_cpu_mask cpus;
	const struct sb_probe_view view = {
		.root = "",
		.cpus = &cpus,
		.privileged = geteuid() == 0,
		.own_pid = getpid(),
		.pause = pause_quarter,
	};
	const int rc = sb_cpu_mask_read(&cpus);
	json_t *list = NULL;
	int warnings;

	if (rc)
		return sb_fail(SB_EXIT_ENVIRONMENT, "the CPUs that may be used cannot be read: %s",
			       strerror(-rc));
	if (format != SB_FORMAT_PRETTY)
		list = json_array();
	if (format != SB_FORMAT_PRETTY && !list)
		return sb_fail_memory();
	warnings = run_probes(&view, list);
	if (list && sb_rows_put(list, format))
		return SB_EXIT_ENVIRONMENT;
	return warnings && sb_opt(options, SB_OPT_strict) ? SB_EXIT_ENVIRONMENT : SB_EXIT_OK;
}

int sb_command_check(int argc, char **argv)
{
	static struct sb_options options;
	int rc = sb_options_parse_for(&options, SB_VERB_CHECK, argc - 1, argv + 1);

	if (!rc && sb_opt(&options, SB_OPT_help))
		sb_help_verb(SB_VERB_CHECK);
	else if (!rc)
		rc = check(&options);
	sb_options_free(&options);
	return rc;
}
