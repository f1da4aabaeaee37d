#include "harness/compare/gate_trials.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "harness/output/output.h"
#include "harness/terminal/interrupts.h"
#include "harness/terminal/status.h"
#include "harness/terminal/text.h"
#include "results/text/escape.h"

/* The given file, or this machine's in the cache; for the caller to free. */
static char *calibration_path(const struct sb_gate_setup *setup,
			      const struct sb_calibration *machine)
{
	const char *given = setup->options->value[SB_OPT_calibration].text;
	char name[80];

	if (*given)
		return strdup(given);
	snprintf(name, sizeof(name), "gate-%s.json", machine->fingerprint);
	return sb_cache_path(name);
}

static bool is_of(const struct sb_calibration *c, const struct sb_calibration *machine)
{
	return !strcmp(c->fingerprint, machine->fingerprint) && !strcmp(c->model, machine->model);
}

/* The cache's may be missing, another user's, or of another machine or version. */
static int refuse_calibration(const struct sb_gate_setup *setup, int rc, const char *why)
{
	if (*setup->options->value[SB_OPT_calibration].text)
		return sb_fail(sb_status_of(rc), "--calibration: %s", why);
	if (rc == -ENOENT)
		return 0;
	if (rc != -EINVAL && rc != -EACCES)
		return sb_fail(sb_status_of(rc), "%s", why);
	sb_note("%s", why);
	return 0;
}

static int take_calibration(struct sb_gate_setup *setup, struct sb_calibration *read,
			    const struct sb_calibration *machine, const char *path)
{
	char why[600];
	int rc = sb_calibration_read(read, path, why, sizeof(why));

	if (!rc && is_of(read, machine)) {
		setup->calibration = read;
		return 0;
	}
	if (!rc) {
		snprintf(why, sizeof(why), "'%s' is of another machine, %s %s; this is %s %s", path,
			 read->fingerprint, read->model, machine->fingerprint, machine->model);
		rc = -EINVAL;
	}
	read->gates = 0;
	return refuse_calibration(setup, rc, why);
}

/* The file that --calibrate writes. */
static int try_calibration(const char *path)
{
	int rc;

	if (!path)
		return sb_fail(SB_EXIT_ENVIRONMENT,
			       "no cache for the calibration; expected XDG_CACHE_HOME or HOME, or "
			       "--calibration FILE");
	rc = sb_output_try(path);
	return rc ? sb_output_failed(path, rc) : 0;
}

int sb_gate_read_calibration(struct sb_gate_setup *setup, struct sb_calibration *read)
{
	struct sb_calibration machine;
	char *path;
	int rc = sb_gate_machine(&machine);

	if (rc || sb_opt(setup->options, SB_OPT_counts) ||
	    sb_opt(setup->options, SB_OPT_gate_virtual))
		return rc;
	path = calibration_path(setup, &machine);
	if (sb_opt(setup->options, SB_OPT_calibrate))
		rc = try_calibration(path);
	else if (path)
		rc = take_calibration(setup, read, &machine, path);
	free(path);
	return rc;
}

/* As `run --slowdown` takes them, but for "none". */
int sb_gate_check_slowdowns(const char *text)
{
	char *list = strdup(text);
	char *rest = list;
	int rc = list ? 0 : sb_fail_memory();

	while (!rc && rest) {
		const char *part = strsep(&rest, ",");
		uint64_t ppm;

		if (!sb_parse_percent(part, &ppm) || ppm < 100 || ppm > 1000000)
			rc = sb_fail(SB_EXIT_USAGE,
				     "--slowdowns: '%s' is not valid; expected percentages from "
				     "0.01%% to 100%%, as 1%%,5%%",
				     part);
	}
	free(list);
	return rc;
}

#define TRIALS_DEFAULT 20
#define TRIALS_MAX     1000

struct tally {
	uint32_t gates;
	uint32_t of[SB_GATE_VERDICTS];
	double elapsed_s;
	uint32_t tests; /* of each gate; the first one's names */
	char *workload[SB_NOISES_MAX];
	const char *metric[SB_NOISES_MAX];
	double *deviation[SB_NOISES_MAX]; /* [TRIALS_MAX] */
	uint32_t deviations[SB_NOISES_MAX];
	double *ratio; /* [ratios] what each workload of each gate came to */
	uint32_t ratios;
};

int sb_gate_trials_of(const struct sb_gate_setup *setup, uint32_t *out)
{
	const struct sb_options *o = setup->options;
	uint64_t n = TRIALS_DEFAULT;

	if (o->words > 1 || (o->words && (!sb_parse_count(o->word[0], &n) || !n || n > TRIALS_MAX)))
		return sb_fail(SB_EXIT_USAGE,
			       "gate: '%s' is not valid; expected how many gates, 1 to %d",
			       o->word[o->words - 1], TRIALS_MAX);
	*out = (uint32_t)n;
	return 0;
}

static void free_tally(struct tally *tally)
{
	for (uint32_t i = 0; i < SB_NOISES_MAX; i++) {
		free(tally->workload[i]);
		free(tally->deviation[i]);
	}
	free(tally->ratio);
}

static int note_test(struct tally *tally, uint32_t i, const struct sb_gate_test *test)
{
	if (!tally->deviation[i]) {
		tally->workload[i] = strdup(test->workload);
		tally->metric[i] = test->metric;
		tally->deviation[i] = calloc(TRIALS_MAX, sizeof(*tally->deviation[i]));
		if (!tally->workload[i] || !tally->deviation[i])
			return sb_fail_memory();
		tally->tests = i + 1;
	}
	if (!isnan(test->deviation))
		tally->deviation[i][tally->deviations[i]++] = test->deviation;
	return 0;
}

static int note_gate(struct tally *tally, const struct sb_gate_report *gate)
{
	double *ratio = reallocarray(tally->ratio, tally->ratios + gate->workloads, sizeof(*ratio));
	int rc = 0;

	if (!ratio)
		return sb_fail_memory();
	tally->ratio = ratio;
	for (uint32_t i = 0; i < gate->workloads; i++) {
		if (!isnan(gate->workload[i].ratio))
			ratio[tally->ratios++] = gate->workload[i].ratio;
	}
	tally->gates++;
	tally->of[gate->verdict]++;
	tally->elapsed_s += gate->elapsed_s;
	for (uint32_t i = 0; i < gate->tests && i < SB_NOISES_MAX && !rc; i++)
		rc = note_test(tally, i, &gate->test[i]);
	return rc;
}

static int run_trial(struct sb_gate_setup *setup, struct tally *tally)
{
	struct sb_gate_report gate;
	int rc = sb_gate_run(setup, &gate);

	if (!rc && !sb_load_rlx(&sb_interrupted))
		rc = note_gate(tally, &gate);
	sb_gate_free(&gate);
	/* Runs of one gate have seeds one after the other. */
	setup->seed += SB_LOOK_LAST * 4;
	return rc;
}

static int run_trials(struct sb_gate_setup *setup, struct tally *tally, uint32_t trials,
		      const char *what)
{
	int rc = 0;

	for (uint32_t i = 0; i < trials && !rc; i++) {
		if (sb_load_rlx(&sb_interrupted))
			break;
		snprintf(setup->prefix, sizeof(setup->prefix), "%s%u of %u, ", what, i + 1, trials);
		rc = run_trial(setup, tally);
	}
	return rc;
}

static void put_rate(FILE *out, uint32_t k, uint32_t n)
{
	const struct sb_rate rate = sb_rate_of(k, n);

	fprintf(out, "%" PRIu32 " of %" PRIu32 " (%.3g %%, 95 %% interval %.2g .. %.3g %%)", k, n,
		100.0 * k / n, 100 * rate.low, 100 * rate.high);
}

/* ---- --calibrate ---- */

static int fill_calibration(struct sb_gate_setup *setup, struct sb_calibration *out,
			    struct tally *tally)
{
	char *text = sb_gate_setup_text(setup);
	int rc = text ? sb_gate_machine(out) : sb_fail_memory();

	if (rc) {
		free(text);
		return rc;
	}
	sb_format_now(out->date);
	snprintf(out->setup, sizeof(out->setup), "%s", text);
	free(text);
	out->gates = tally->gates;
	out->false_alarms = tally->of[SB_GATE_REGRESSED];
	out->undecided = tally->of[SB_GATE_UNDECIDED];
	for (uint32_t i = 0; i < tally->tests; i++) {
		struct sb_noise *noise = &out->noise[out->noises];

		if (!tally->deviations[i])
			continue;
		snprintf(noise->workload, sizeof(noise->workload), "%s", tally->workload[i]);
		snprintf(noise->metric, sizeof(noise->metric), "%s", tally->metric[i]);
		noise->deviation = sb_spread_of(tally->deviation[i], tally->deviations[i]).median;
		out->noises++;
	}
	return 0;
}

static int put_calibration_file(const void *calibration, FILE *out)
{
	return sb_calibration_write(calibration, out);
}

static int write_calibration(struct sb_gate_setup *setup, const struct sb_calibration *calibration)
{
	char *path = calibration_path(setup, calibration);
	int rc = path ? sb_output(path, put_calibration_file, calibration) : -ENOMEM;

	if (rc)
		rc = sb_output_failed(path, rc);
	else if (!sb_opt(setup->options, SB_OPT_quiet))
		printf("calibration: %s\n", sb_terminal_text(path));
	free(path);
	return rc;
}

static void put_calibration(const struct sb_calibration *calibration, const struct tally *tally)
{
	printf("false alarms: ");
	put_rate(stdout, tally->of[SB_GATE_REGRESSED], tally->gates);
	printf("\nundecided:    ");
	put_rate(stdout, tally->of[SB_GATE_UNDECIDED], tally->gates);
	printf("\ntime:         %.0f s a gate\n\n", tally->elapsed_s / tally->gates);
	printf("%-20s %-16s noise of a block\n", "workload", "metric");
	for (uint32_t i = 0; i < calibration->noises; i++)
		printf("%-20s %-16s %.2f %%\n", sb_terminal_text(calibration->noise[i].workload),
		       calibration->noise[i].metric, 100 * calibration->noise[i].deviation);
}

int sb_gate_calibrate(struct sb_gate_setup *setup, uint32_t trials)
{
	static struct sb_calibration calibration;
	static struct tally tally;
	int rc = run_trials(setup, &tally, trials, "gate ");

	sb_progress_close(&setup->progress);
	if (!rc && !tally.gates)
		rc = sb_fail(SB_EXIT_INVALID, "interrupted");
	rc = rc ? rc : fill_calibration(setup, &calibration, &tally);
	if (!rc && !sb_opt(setup->options, SB_OPT_quiet))
		put_calibration(&calibration, &tally);
	rc = rc ? rc : write_calibration(setup, &calibration);
	free_tally(&tally);
	return rc;
}

/* ---- --selftest ---- */

static void put_selftest(const char *slowdown, struct tally *tally)
{
	const double ratio = sb_spread_of(tally->ratio, tally->ratios).median;

	printf("%-9s ", sb_terminal_text(slowdown));
	if (isnan(ratio))
		printf("%9s  ", "-");
	else
		printf("%+8.2f %%  ", 100 * (ratio - 1));
	put_rate(stdout, tally->of[SB_GATE_REGRESSED], tally->gates);
	printf(", %" PRIu32 " fine, %" PRIu32 " undecided, %.0f s each\n", tally->of[SB_GATE_FINE],
	       tally->of[SB_GATE_UNDECIDED], tally->elapsed_s / tally->gates);
	fflush(stdout);
}

/* The gates of one slowdown; its text is for the runs, which know it better. */
static int try_slowdown(struct sb_gate_setup *setup, const char *slowdown, uint32_t trials)
{
	struct tally tally = { .gates = 0 };
	char what[60];
	int rc;

	setup->slowdown = slowdown;
	snprintf(what, sizeof(what), "slower by %s, gate ", slowdown);
	rc = run_trials(setup, &tally, trials, what);
	if (!rc && !tally.gates)
		rc = sb_fail(SB_EXIT_INVALID, "interrupted");
	sb_progress_hide();
	if (!rc)
		put_selftest(slowdown, &tally);
	free_tally(&tally);
	return rc;
}

int sb_gate_selftest(struct sb_gate_setup *setup, uint32_t trials)
{
	char *list = strdup(setup->options->value[SB_OPT_slowdowns].text);
	char *rest = list;
	int rc = list ? 0 : sb_fail_memory();

	printf("injected  measured   found\n");
	while (!rc && rest)
		rc = try_slowdown(setup, strsep(&rest, ","), trials);
	free(list);
	sb_progress_close(&setup->progress);
	return rc;
}
