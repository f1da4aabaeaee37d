/*
 * ab.c - the verb `ab`: two sides -> pairs of processes for each workload
 * (pairs.h) -> what they differ in (results/stats/paired.h) -> one result with the series
 * of both sides, pairs.csv, findings.csv -> a table with a verdict for each metric.
 */
#include "harness/verbs/verbs.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/compare/compared.h"
#include "harness/output/facts.h"
#include "harness/cli/help.h"
#include "harness/terminal/interrupts.h"
#include "harness/output/outcome.h"
#include "harness/terminal/progress.h"
#include "harness/sweep/session.h"
#include "harness/compare/sides.h"
#include "harness/terminal/status.h"
#include "results/files/csv.h"
#include "results/files/file.h"

/* One workload's pairs, and the arguments of their sides. */
struct trial {
	const struct sb_chosen *chosen;
	struct sb_arguments arguments[SB_SIDES];
	struct sb_pairs pairs;
};

struct session {
	const struct sb_options *options;
	struct sb_compared compared;
	struct sb_side_text side[SB_SIDES];
	struct trial *trial; /* [trials] */
	uint32_t trials;
	uint32_t begun; /* trials that have been */
	struct sb_result result;
	struct sb_findings findings;
	char *failures; /* the file */
	struct sb_progress progress;
	const struct trial *now;
	double pair_ns; /* a guess, then what it takes */
	bool is_interrupted;
};

static const char *const side_name[SB_SIDES] = { "A", "B" };

/* ---- the plan ---- */

/* One process: its times, and starting and writing. */
#define START_NS   150e6
#define PAIRS_AUTO 20

static bool is_by_time(const struct sb_options *o)
{
	return o->value[SB_OPT_duration_total].alternative;
}

/* So few pairs show a difference in each metric of each workload, if all agree. */
static uint32_t least_pairs(const struct session *s)
{
	const uint32_t tests = s->compared.n * s->options->chosens;

	return 2 * sb_paired_units_needed(SB_COMPARED_ERROR / tests);
}

static uint32_t most_pairs(const struct session *s)
{
	const struct sb_option_value *given = &s->options->value[SB_OPT_pairs];
	const uint32_t least = least_pairs(s);

	if (is_by_time(s->options))
		return SB_PAIRS_MAX;
	if (given->alternative)
		return (uint32_t)given->number;
	return least > PAIRS_AUTO ? least : PAIRS_AUTO;
}

static int check_options(const struct session *s)
{
	const struct sb_options *o = s->options;

	if (!sb_option_is_said(o, SB_OPT_side_a) &&
	    !sb_option_is_said(o, SB_OPT_side_b))
		return sb_fail(SB_EXIT_USAGE,
			       "nothing to compare; expected -A OPTIONS and -B "
			       "OPTIONS, of which one may be missing or empty");
	if (is_by_time(o) && sb_option_is_said(o, SB_OPT_pairs))
		return sb_fail(SB_EXIT_USAGE,
			       "--pairs and --duration-total are given; "
			       "expected one of them");
	if (most_pairs(s) < least_pairs(s))
		return sb_fail(SB_EXIT_USAGE,
			       "--pairs: %" PRIu32
			       " cannot show a difference in %" PRIu32
			       " metrics with 95 %%; expected at least %" PRIu32
			       ", or less to compare (--metric)",
			       most_pairs(s), s->compared.n * o->chosens,
			       least_pairs(s));
	return 0;
}

static int plan_trial(struct session *s, struct trial *trial,
		      const struct sb_chosen *chosen)
{
	const struct sb_options *o = s->options;
	struct sb_pairs *pairs = &trial->pairs;
	int rc = 0;

	trial->chosen = chosen;
	for (int side = 0; side < SB_SIDES && !rc; side++) {
		rc = sb_side_arguments(&s->side[side], o, SB_VERB_AB, chosen,
				       &trial->arguments[side],
				       &pairs->side[side].limit_ns);
		pairs->side[side].program = s->side[side].program;
		pairs->side[side].argv = trial->arguments[side].word;
	}
	pairs->most = most_pairs(s);
	pairs->time_ns = is_by_time(o)
				 ? sb_opt(o, SB_OPT_duration_total) / o->chosens
				 : 0;
	pairs->seed = sb_opt(o, SB_OPT_seed);
	pairs->has_warm_up = true;
	pairs->keep_awake =
		(enum sb_awake_when)o->value[SB_OPT_keep_awake].alternative;
	return rc;
}

static int plan(struct session *s)
{
	const struct sb_options *o = s->options;
	int rc = sb_compared_choose(&s->compared, o);

	rc = rc ? rc : check_options(s);
	for (int side = 0; side < SB_SIDES && !rc; side++)
		rc = sb_side_parse(
			&s->side[side], side_name[side],
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
	return rc;
}

/* ---- progress ---- */

static void before_process(void *arg, uint32_t pair, enum sb_side_id side)
{
	struct session *s = arg;
	char phase[40];

	if (pair == SB_PAIR_WARM_UP)
		snprintf(phase, sizeof(phase), "warm-up %s", side_name[side]);
	else
		snprintf(phase, sizeof(phase), "pair %" PRIu32 " %s", pair + 1,
			 side_name[side]);
	sb_progress_phase(&s->progress, s->now->chosen->workload->name, phase);
}

/* B of A in percent, of the first metric, so far. */
static bool after_pair(void *arg)
{
	static double a[SB_PAIRS_MAX];
	static double b[SB_PAIRS_MAX];
	static uint32_t block[SB_PAIRS_MAX];
	struct session *s = arg;
	const struct sb_pair_values values = sb_pairs_values(
		&s->now->pairs, s->compared.metric[0], a, b, block);
	struct sb_paired paired;

	sb_progress_done(&s->progress, 1, s->pair_ns);
	if (!s->progress.out ||
	    sb_paired_compare(&paired, &values, SB_COMPARED_ERROR) ||
	    paired.scale != SB_PAIR_RATIO)
		return true;
	sb_progress_estimate(&s->progress,
			     &(struct sb_estimate){ 100 * paired.estimate, NAN,
						    NAN, "% of A" });
	return true;
}

static void plan_progress(struct session *s)
{
	const struct sb_pairs *pairs = &s->trial[0].pairs;
	const double pairs_each =
		pairs->time_ns ? fmax(1, (double)pairs->time_ns / s->pair_ns)
			       : pairs->most;

	sb_progress_open(&s->progress, stderr,
			 sb_opt(s->options, SB_OPT_quiet));
	sb_progress_plan(&s->progress, (uint32_t)(pairs_each * s->trials),
			 pairs_each * s->trials * s->pair_ns);
}

/* ---- the pairs ---- */

static int run_trial(struct session *s, struct trial *trial)
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

static int run_trials(struct session *s)
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

/* ---- what they say ---- */

static void fill_finding(struct sb_finding *f, const struct sb_paired *paired)
{
	f->n_a = f->n_b = paired->pairs;
	f->blocks = paired->units;
	f->scale = paired->scale;
	f->a = paired->a;
	f->b = paired->b;
	f->estimate = paired->estimate;
	f->low = paired->low;
	f->high = paired->high;
	f->level = paired->level;
	f->detectable = paired->detectable;
	f->p = f->p_holm = paired->p;
	f->superiority = NAN;
	f->sign = sb_paired_sign(paired);
}

/* Of one metric, or n_a is 0: it was not measured on both sides. */
static int find_one(struct sb_finding *f, const struct trial *trial,
		    double level)
{
	static double a[SB_PAIRS_MAX];
	static double b[SB_PAIRS_MAX];
	static uint32_t block[SB_PAIRS_MAX];
	const struct sb_pair_values values =
		sb_pairs_values(&trial->pairs, f->metric, a, b, block);
	struct sb_paired paired;
	const int rc = sb_paired_compare(&paired, &values, level);

	snprintf(f->name, sizeof(f->name), "%s", trial->chosen->workload->name);
	if (!rc)
		fill_finding(f, &paired);
	return rc;
}

/* With the level for that many; what has no values does not count. */
static int find_all(struct session *s, uint32_t tests)
{
	struct sb_findings *findings = &s->findings;
	int rc = 0;

	findings->n = 0;
	for (uint32_t t = 0; t < s->begun; t++) {
		for (uint32_t m = 0; m < s->compared.n && !rc; m++) {
			struct sb_finding *f = &findings->finding[findings->n];

			f->metric = s->compared.metric[m];
			rc = find_one(f, &s->trial[t],
				      SB_COMPARED_ERROR / tests);
			findings->n += f->n_a || s->compared.is_chosen;
		}
	}
	return rc;
}

/* The reason of the first pair that has none, for the others may differ. */
static const char *first_reason(const struct sb_pairs *pairs)
{
	for (uint32_t i = 0; i < pairs->pairs; i++) {
		for (int side = 0; side < SB_SIDES && !pairs->pair[i].is_valid;
		     side++) {
			const struct sb_record *record =
				&pairs->result[side].series->record[i];

			if (record->verdict == SB_INVALID)
				return record->reason;
		}
	}
	return "";
}

static int note_trial(struct session *s, const struct trial *trial)
{
	const struct sb_pairs *pairs = &trial->pairs;
	const uint32_t invalid = pairs->pairs - pairs->valid;
	char elapsed[SB_DURATION_BYTES];
	int rc = sb_findings_note(
		&s->findings,
		"%s: %" PRIu32 " pairs in %" PRIu32 " blocks (ABBA or BAAB, "
		"seed %" PRIu64 ") after one to warm up%s; %" PRIu32
		" suspect, %" PRIu32 " invalid; %s",
		trial->chosen->workload->name, pairs->pairs,
		(pairs->pairs + 1) / 2, pairs->seed,
		pairs->is_kept_awake ? ", CPUs kept awake" : "", pairs->suspect,
		invalid,
		sb_session_format_duration(elapsed,
					   1e-9 * (double)pairs->elapsed_ns));

	if (!rc && invalid)
		rc = sb_findings_note(&s->findings, "%s: invalid: %s",
				      trial->chosen->workload->name,
				      first_reason(pairs));
	return rc ? sb_fail_memory() : 0;
}

static int note_scale(struct session *s)
{
	int rc = 0;

	for (uint32_t i = 0; i < s->findings.n && !rc; i++) {
		const struct sb_finding *f = &s->findings.finding[i];

		if (f->scale == SB_PAIR_DIFFERENCE)
			rc = sb_findings_note(
				&s->findings,
				"%s, %s: a value is 0 or below, which has no "
				"ratio: differences",
				f->name, sb_metric[f->metric].name);
	}
	return rc ? sb_fail_memory() : 0;
}

static int conclude(struct session *s)
{
	int rc;

	s->findings.verb = "ab";
	s->findings.finding = calloc((size_t)s->begun * s->compared.n + 1,
				     sizeof(*s->findings.finding));
	if (!s->findings.finding || find_all(s, 1))
		return sb_fail_memory();
	if (s->findings.n && find_all(s, s->findings.n))
		return sb_fail_memory();
	sb_findings_adjust(&s->findings);
	rc = note_scale(s);
	for (uint32_t i = 0; i < s->begun && !rc; i++)
		rc = note_trial(s, &s->trial[i]);
	rc = rc ? rc : sb_compared_note_level(&s->findings, "");
	return rc ? sb_fail_memory() : 0;
}

/* ---- the result ---- */

static int set(struct sb_series *series, const char *name, const char *text)
{
	return sb_series_add_setting(
		series, &(struct sb_setting){ .name = (char *)(uintptr_t)name,
					      .text = (char *)(uintptr_t)text,
					      .number = sb_sweep_number(text),
					      .swept = true });
}

/* What is said of one run alone: its words, its pair, and where it wrote. */
static bool is_run_once(const struct sb_fact *fact)
{
	static const char *const keys[] = { "command_line", "executable" };

	for (size_t i = 0; i < SB_ARRAY_SIZE(keys); i++) {
		if (!strcmp(fact->group, "run") && !strcmp(fact->key, keys[i]))
			return true;
	}
	return !strcmp(fact->group, "options") &&
	       (!strcmp(fact->key, "seed") || !strcmp(fact->key, "output"));
}

/* What both runs have said of their options, and differs. */
static int set_options(struct sb_series *series, const struct sb_result *own,
		       const struct sb_result *other)
{
	int rc = 0;

	for (uint32_t i = 0; i < own->facts && !rc; i++) {
		const struct sb_fact *fact = &own->fact[i];
		const char *there =
			sb_result_fact(other, fact->group, fact->key);

		if (!strcmp(fact->group, "options") && !is_run_once(fact) &&
		    strcmp(there, fact->value) != 0)
			rc = set(series, fact->key, fact->value);
	}
	return rc;
}

/* Both sides' series become the result's. */
static int take_series(struct session *s, struct trial *trial)
{
	struct sb_result *sides = trial->pairs.result;
	int rc = 0;

	if (!sides[SB_SIDE_A].all_series || !sides[SB_SIDE_B].all_series)
		return 0;
	for (int side = 0; side < SB_SIDES && !rc; side++) {
		rc = set(sides[side].series, "side", side_name[side]);
		if (!rc)
			rc = set_options(sides[side].series, &sides[side],
					 &sides[!side]);
	}
	for (int side = 0; side < SB_SIDES; side++) {
		s->result.series[s->result.all_series++] = *sides[side].series;
		free(sides[side].series);
		sides[side].series = NULL;
		sides[side].all_series = 0;
	}
	return rc;
}

/* What the first run of A said, but for what B said otherwise: that is in the
 * series' settings, or under "b". */
static int take_facts(struct sb_result *result, const struct sb_result *sides)
{
	const struct sb_result *a = &sides[SB_SIDE_A];
	const struct sb_result *b = &sides[SB_SIDE_B];
	int rc = 0;

	for (uint32_t i = 0; i < a->facts && !rc; i++) {
		const struct sb_fact *fact = &a->fact[i];
		const char *there = sb_result_fact(b, fact->group, fact->key);
		const bool is_other = there && strcmp(there, fact->value) != 0;

		if (is_run_once(fact))
			continue;
		if (!is_other || strncmp(fact->group, "option", 6) != 0)
			rc = sb_result_add_fact(result, fact->group, fact->key,
						fact->value);
		if (!rc && is_other && *there && !strcmp(fact->group, "run") &&
		    strcmp(fact->key, "date") != 0)
			rc = sb_result_add_fact(result, "b", fact->key, there);
	}
	return rc;
}

static int add_facts(struct session *s, int argc, char **argv)
{
	struct sb_result *result = &s->result;
	char *command = sb_facts_join(argc, argv);
	char seed[24];
	int rc = command ? 0 : -ENOMEM;

	snprintf(seed, sizeof(seed), "%" PRIu64,
		 sb_opt(s->options, SB_OPT_seed));
	rc = rc ? rc
		: sb_result_add_fact(result, "run", "command_line", command);
	free(command);
	rc = rc ? rc
		: sb_result_add_fact(result, "ab", "a",
				     s->side[SB_SIDE_A].text);
	rc = rc ? rc
		: sb_result_add_fact(result, "ab", "b",
				     s->side[SB_SIDE_B].text);
	rc = rc ? rc : sb_result_add_fact(result, "ab", "seed", seed);
	for (uint32_t i = 0; i < s->findings.notes && !rc; i++) {
		char key[24];

		snprintf(key, sizeof(key), "note_%" PRIu32, i + 1);
		rc = sb_result_add_fact(result, "ab", key, s->findings.note[i]);
	}
	return rc;
}

static int collect(struct session *s, int argc, char **argv)
{
	int rc = 0;

	s->result.series = calloc((size_t)s->begun * SB_SIDES + 1,
				  sizeof(struct sb_series));
	if (!s->result.series)
		return sb_fail_memory();
	if (s->begun)
		rc = take_facts(&s->result, s->trial[0].pairs.result);
	for (uint32_t i = 0; i < s->begun && !rc; i++)
		rc = take_series(s, &s->trial[i]);
	rc = rc ? rc : add_facts(s, argc, argv);
	return rc ? sb_fail_memory() : 0;
}

/* ---- files ---- */

static void put_pair(const struct session *s, const struct trial *trial,
		     uint32_t i, FILE *out)
{
	const struct sb_pairs *pairs = &trial->pairs;
	const struct sb_pair *pair = &pairs->pair[i];
	const struct sb_record *record[SB_SIDES];

	for (int side = 0; side < SB_SIDES; side++)
		record[side] = &pairs->result[side].series->record[i];
	fprintf(out, "%s,%" PRIu32 ",%" PRIu32 ",%s,",
		trial->chosen->workload->name, i, pair->block,
		pair->first == SB_SIDE_A ? "AB" : "BA");
	sb_csv_put_number(out, 1e-9 * (double)pair->elapsed_ns);
	for (int side = 0; side < SB_SIDES; side++) {
		fprintf(out, ",%s,", sb_verdict_name(record[side]->verdict));
		sb_csv_put_text(out, record[side]->reason);
	}
	for (uint32_t m = 0; m < s->compared.n; m++) {
		for (int side = 0; side < SB_SIDES; side++) {
			fputc(',', out);
			sb_csv_put_number(
				out,
				record[side]->value[s->compared.metric[m]]);
		}
	}
	fputc('\n', out);
}

static void put_pairs(const struct session *s, FILE *out)
{
	fputs("workload,pair,block,order,elapsed_s,valid_a,reason_a,valid_b,"
	      "reason_b",
	      out);
	for (uint32_t m = 0; m < s->compared.n; m++) {
		const char *name = sb_metric[s->compared.metric[m]].name;

		fprintf(out, ",%s_a,%s_b", name, name);
	}
	fputc('\n', out);
	for (uint32_t t = 0; t < s->begun; t++) {
		for (uint32_t i = 0; i < s->trial[t].pairs.pairs; i++)
			put_pair(s, &s->trial[t], i, out);
	}
}

static void put_findings(const struct session *s, FILE *out)
{
	sb_findings_write_csv(&s->findings, out);
}

static int write_table(const struct session *s, const char *name,
		       void (*put)(const struct session *s, FILE *out))
{
	struct sb_file file;
	int rc = sb_file_begin(&file, s->result.directory, name);

	if (!rc) {
		put(s, file.stream);
		rc = sb_file_commit(&file);
	}
	return rc;
}

/* Returns 0 or -errno. */
static int write_tables(const struct session *s)
{
	const int rc = write_table(s, "pairs.csv", put_pairs);

	return rc ? rc : write_table(s, "findings.csv", put_findings);
}

/* ---- all of it ---- */

static void put_side(const struct session *s, enum sb_side_id side, FILE *out)
{
	fprintf(out, "%s: %s\n", side_name[side],
		*s->side[side].text ? s->side[side].text
				    : "(nothing of its "
				      "own)");
}

static void print_pretty(const void *session, FILE *out)
{
	const struct session *s = session;

	put_side(s, SB_SIDE_A, out);
	put_side(s, SB_SIDE_B, out);
	fputc('\n', out);
	sb_compared_put(&s->findings, out);
	fprintf(out,
		"result: %s (findings.csv, pairs.csv, report.html, "
		"result.json)\n",
		s->result.directory);
}

/* A workload of which a side has no value, or not enough. */
static int judge(const struct session *s)
{
	if (s->is_interrupted)
		return sb_fail(SB_EXIT_INVALID, "interrupted");
	if (s->result.all_series < SB_SIDES * s->trials)
		return sb_fail(SB_EXIT_INVALID, "a side has measured nothing");
	for (uint32_t i = 0; i < s->findings.n; i++) {
		const struct sb_finding *f = &s->findings.finding[i];

		if (!sb_finding_is_conclusive(f))
			return sb_fail(SB_EXIT_INVALID,
				       "%s, %s: %" PRIu32
				       " blocks have values; expected at least "
				       "%" PRIu32 " for %" PRIu32
				       " intervals with 95 %%",
				       f->name, sb_metric[f->metric].name,
				       f->blocks,
				       sb_paired_units_needed(f->level),
				       s->findings.n);
	}
	return 0;
}

static int measure(struct session *s, int argc, char **argv)
{
	int rc = sb_outcome_prepare(s->options, &s->result);
	int tables;

	rc = rc ? rc : run_trials(s);
	rc = rc ? rc : conclude(s);
	if (rc)
		return rc;
	/* While the pairs still have their records. */
	tables = write_tables(s);
	rc = collect(s, argc, argv);
	if (!rc && s->result.all_series)
		rc = sb_outcome_write(&s->result, s->options);
	sb_compared_print(&s->findings, s->options, print_pretty, s);
	if (rc)
		return rc;
	if (tables)
		return sb_fail(
			SB_EXIT_ENVIRONMENT,
			"pairs.csv and findings.csv cannot be written in "
			"%s: %s",
			s->result.directory, strerror(-tables));
	return judge(s);
}

static int compare_sides(const struct sb_options *options, int argc,
			 char **argv)
{
	static struct session s;
	int rc;

	s = (struct session){ .options = options };
	/* The runs take everything from their command lines. */
	sb_options_clear_environment();
	rc = plan(&s);
	rc = rc ? rc : measure(&s, argc, argv);
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

int sb_command_ab(int argc, char **argv)
{
	static struct sb_options options;
	int rc = sb_options_parse_for(&options, SB_VERB_AB, argc - 1, argv + 1);

	if (!rc && sb_opt(&options, SB_OPT_help))
		sb_help_verb(SB_VERB_AB);
	else if (!rc) {
		rc = sb_options_choose(&options);
		rc = rc ? rc : compare_sides(&options, argc, argv);
	}
	sb_options_free(&options);
	return rc;
}
