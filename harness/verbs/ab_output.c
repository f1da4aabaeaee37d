/* ab_output.c - what `ab` says of its pairs: findings, the result, and files. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/compare/compared.h"
#include "harness/output/facts.h"
#include "harness/output/outcome.h"
#include "harness/sweep/session.h"
#include "harness/terminal/status.h"
#include "harness/verbs/ab_session.h"
#include "harness/verbs/verbs.h"
#include "results/files/answer.h"
#include "results/files/csv.h"
#include "results/files/file.h"
#include "results/record/series.h"

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
static int find_one(struct sb_finding *f, const struct sb_ab_trial *trial, double level)
{
	static double a[SB_PAIRS_MAX];
	static double b[SB_PAIRS_MAX];
	static uint32_t block[SB_PAIRS_MAX];
	const struct sb_pair_values values = sb_pairs_values(&trial->pairs, f->metric, a, b, block);
	struct sb_paired paired;
	const int rc = sb_paired_compare(&paired, &values, level);

	snprintf(f->name, sizeof(f->name), "%s", trial->chosen->workload->name);
	if (!rc)
		fill_finding(f, &paired);
	return rc;
}

/* With the level for that many; what has no values does not count. */
static int find_all(struct sb_ab *s, uint32_t tests)
{
	struct sb_findings *findings = &s->findings;
	int rc = 0;

	findings->n = 0;
	for (uint32_t t = 0; t < s->begun; t++) {
		for (uint32_t m = 0; m < s->compared.n && !rc; m++) {
			struct sb_finding *f = &findings->finding[findings->n];

			f->metric = s->compared.metric[m];
			rc = find_one(f, &s->trial[t], SB_FINDINGS_ERROR / tests);
			findings->n += f->n_a || s->compared.is_chosen;
		}
	}
	return rc;
}

/* The reason of the first pair that has none, for the others may differ. */
static const char *first_reason(const struct sb_pairs *pairs)
{
	for (uint32_t i = 0; i < pairs->pairs; i++) {
		for (int side = 0; side < SB_SIDES && !pairs->pair[i].is_valid; side++) {
			const struct sb_record *record = &pairs->result[side].series->record[i];

			if (record->verdict == SB_INVALID)
				return record->reason;
		}
	}
	return "";
}

static int note_trial(struct sb_ab *s, const struct sb_ab_trial *trial)
{
	const struct sb_pairs *pairs = &trial->pairs;
	const uint32_t invalid = pairs->pairs - pairs->valid;
	char elapsed[SB_DURATION_BYTES];
	int rc = sb_findings_note(
		&s->findings,
		"%s: %" PRIu32 " pairs in %" PRIu32 " blocks (ABBA or BAAB, seed %" PRIu64
		") after one to warm up%s; %" PRIu32 " suspect, %" PRIu32 " invalid; %s",
		trial->chosen->workload->name, pairs->pairs, (pairs->pairs + 1) / 2, pairs->seed,
		pairs->is_kept_awake ? ", CPUs kept awake" : "", pairs->suspect, invalid,
		sb_session_format_duration(elapsed, 1e-9 * (double)pairs->elapsed_ns));

	if (!rc && invalid)
		rc = sb_findings_note(&s->findings, "%s: invalid: %s",
				      trial->chosen->workload->name, first_reason(pairs));
	return rc ? sb_fail_memory() : 0;
}

static int note_scale(struct sb_ab *s)
{
	int rc = 0;

	for (uint32_t i = 0; i < s->findings.n && !rc; i++) {
		const struct sb_finding *f = &s->findings.finding[i];

		if (f->scale == SB_PAIR_DIFFERENCE)
			rc = sb_findings_note(
				&s->findings,
				"%s, %s: a value is 0 or below, which has no ratio: differences",
				f->name, sb_metric[f->metric].name);
	}
	return rc ? sb_fail_memory() : 0;
}

int sb_ab_conclude(struct sb_ab *s)
{
	int rc;

	s->findings.verb = "ab";
	s->findings.finding =
		calloc((size_t)s->begun * s->compared.n + 1, sizeof(*s->findings.finding));
	if (!s->findings.finding || find_all(s, 1))
		return sb_fail_memory();
	if (s->findings.n && find_all(s, s->findings.n))
		return sb_fail_memory();
	sb_findings_adjust(&s->findings);
	rc = note_scale(s);
	for (uint32_t i = 0; i < s->begun && !rc; i++)
		rc = note_trial(s, &s->trial[i]);
	rc = rc ? rc : sb_findings_note_level(&s->findings, "");
	return rc ? sb_fail_memory() : 0;
}

static int set(struct sb_series *series, const char *name, const char *text)
{
	return sb_series_add_setting(series, &(struct sb_setting){ .name = (char *)(uintptr_t)name,
								   .text = (char *)(uintptr_t)text,
								   .number = sb_sweep_number(text),
								   .swept = true });
}

/* The settings of one run alone: its words, its pair, and where it wrote. */
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

/* The options that both runs report and that differ. */
static int set_options(struct sb_series *series, const struct sb_result *own,
		       const struct sb_result *other)
{
	int rc = 0;

	for (uint32_t i = 0; i < own->facts && !rc; i++) {
		const struct sb_fact *fact = &own->fact[i];
		const char *there = sb_result_fact(other, fact->group, fact->key);

		if (!strcmp(fact->group, "options") && !is_run_once(fact) &&
		    strcmp(there, fact->value) != 0)
			rc = set(series, fact->key, fact->value);
	}
	return rc;
}

/* Both sides' series become the result's. */
static int take_series(struct sb_ab *s, struct sb_ab_trial *trial)
{
	struct sb_result *sides = trial->pairs.result;
	int rc = 0;

	if (!sides[SB_SIDE_A].all_series || !sides[SB_SIDE_B].all_series)
		return 0;
	for (int side = 0; side < SB_SIDES && !rc; side++) {
		rc = set(sides[side].series, "side", sb_side_name(side));
		if (!rc)
			rc = set_options(sides[side].series, &sides[side], &sides[!side]);
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
			rc = sb_result_add_fact(result, fact->group, fact->key, fact->value);
		if (!rc && is_other && *there && !strcmp(fact->group, "run") &&
		    strcmp(fact->key, "date") != 0)
			rc = sb_result_add_fact(result, "b", fact->key, there);
	}
	return rc;
}

static int add_facts(struct sb_ab *s, const char *command)
{
	struct sb_result *result = &s->result;
	char seed[24];
	int rc;

	snprintf(seed, sizeof(seed), "%" PRIu64, sb_opt(s->options, SB_OPT_seed));
	rc = sb_result_add_fact(result, "run", "command_line", command);
	rc = rc ? rc : sb_result_add_fact(result, "ab", "a", s->side[SB_SIDE_A].text);
	rc = rc ? rc : sb_result_add_fact(result, "ab", "b", s->side[SB_SIDE_B].text);
	rc = rc ? rc : sb_result_add_fact(result, "ab", "seed", seed);
	rc = rc ? rc
		: sb_findings_store(result, &s->findings, sb_side_words(&s->side[SB_SIDE_A]),
				    sb_side_words(&s->side[SB_SIDE_B]));
	return rc;
}

int sb_ab_collect(struct sb_ab *s, const char *command)
{
	int rc = 0;

	s->result.series = calloc((size_t)s->begun * SB_SIDES + 1, sizeof(struct sb_series));
	if (!s->result.series)
		return sb_fail_memory();
	if (s->begun)
		rc = take_facts(&s->result, s->trial[0].pairs.result);
	for (uint32_t i = 0; i < s->begun && !rc; i++)
		rc = take_series(s, &s->trial[i]);
	rc = rc ? rc : add_facts(s, command);
	return rc ? sb_fail_memory() : 0;
}

static void put_pair(const struct sb_ab *s, const struct sb_ab_trial *trial, uint32_t i, FILE *out)
{
	const struct sb_pairs *pairs = &trial->pairs;
	const struct sb_pair *pair = &pairs->pair[i];
	const struct sb_record *record[SB_SIDES];

	for (int side = 0; side < SB_SIDES; side++)
		record[side] = &pairs->result[side].series->record[i];
	sb_csv_put_text(out, trial->chosen->workload->name);
	fprintf(out, ",%" PRIu32 ",%" PRIu32 ",%s,", i, pair->block,
		pair->first == SB_SIDE_A ? "AB" : "BA");
	sb_csv_put_number(out, 1e-9 * (double)pair->elapsed_ns);
	for (int side = 0; side < SB_SIDES; side++) {
		fprintf(out, ",%s,", sb_verdict_name(record[side]->verdict));
		sb_csv_put_text(out, record[side]->reason);
	}
	for (uint32_t m = 0; m < s->compared.n; m++) {
		for (int side = 0; side < SB_SIDES; side++) {
			fputc(',', out);
			sb_csv_put_number(out, record[side]->value[s->compared.metric[m]]);
		}
	}
	fputc('\n', out);
}

static void put_pairs(const struct sb_ab *s, FILE *out)
{
	fputs("workload,pair,block,order,elapsed_s,valid_a,reason_a,valid_b,reason_b", out);
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

static void put_findings(const struct sb_ab *s, FILE *out)
{
	sb_findings_write_csv(&s->findings, out);
}

static int write_table(const struct sb_ab *s, const char *name,
		       void (*put)(const struct sb_ab *s, FILE *out))
{
	struct sb_file file;
	int rc = sb_file_begin(&file, s->result.directory, name);

	if (!rc) {
		put(s, file.stream);
		rc = sb_file_commit(&file);
	}
	return rc;
}

int sb_ab_write_tables(const struct sb_ab *s)
{
	const int rc = write_table(s, "pairs.csv", put_pairs);

	return rc ? rc : write_table(s, "findings.csv", put_findings);
}
