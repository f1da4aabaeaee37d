#include "results/gate/gate.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/files/table.h"
#include "results/files/wrap.h"
#include "results/record/number.h"
#include "results/record/record.h"
#include "results/text/escape.h"

void sb_gate_free(struct sb_gate_report *gate)
{
	for (uint32_t i = 0; i < gate->tests; i++)
		free(gate->test[i].workload);
	for (uint32_t i = 0; i < gate->workloads; i++)
		free(gate->workload[i].name);
	free(gate->test);
	free(gate->workload);
	free(gate->baseline);
	free(gate->candidate);
	free(gate->machine);
	*gate = (struct sb_gate_report){ .tests = 0 };
}

void sb_gate_conclude(struct sb_gate_report *gate)
{
	const struct sb_gate_test *undecided = NULL;

	gate->why[0] = '\0';
	gate->verdict = gate->tests ? SB_GATE_FINE : SB_GATE_UNDECIDED;
	for (uint32_t i = 0; i < gate->tests; i++) {
		const struct sb_gate_test *test = &gate->test[i];

		if (test->rule.verdict == SB_GATE_REGRESSED)
			gate->verdict = SB_GATE_REGRESSED;
		else if (test->rule.verdict == SB_GATE_UNDECIDED && !undecided)
			undecided = test;
	}
	if (gate->verdict == SB_GATE_REGRESSED || !undecided)
		return;
	gate->verdict = SB_GATE_UNDECIDED;
	snprintf(gate->why, sizeof(gate->why), "%.80s %s: %.250s", undecided->workload,
		 undecided->metric, undecided->why);
}

const char *sb_gate_interval_title(const struct sb_gate_report *gate)
{
	return gate->is_virtual ? "range of seeds" : "95 % interval";
}

void sb_gate_describe_hidden(const struct sb_gate_report *gate, char *out, size_t bytes)
{
	uint32_t n[SB_GATE_NONE + 1] = { 0 };

	for (uint32_t i = 0; i < gate->tests; i++)
		n[gate->test[i].difference]++;
	out[0] = '\0';
	if (gate->is_virtual)
		snprintf(out, bytes,
			 "%" PRIu32 " metrics: %" PRIu32 " have changed, %" PRIu32
			 " differ as seeds do, %" PRIu32 " are the same",
			 gate->tests, n[SB_GATE_CLEAR], n[SB_GATE_LUCK], n[SB_GATE_NONE]);
}

void sb_gate_percent(char out[SB_GATE_PERCENT_BYTES], double part)
{
	if (isfinite(part) && part >= 1)
		snprintf(out, SB_GATE_PERCENT_BYTES, "%.3g times", 1 + part);
	else if (isfinite(part))
		snprintf(out, SB_GATE_PERCENT_BYTES, "%+.*f %%", fabs(part) < 0.0995 ? 2 : 1,
			 100 * part);
	else
		snprintf(out, SB_GATE_PERCENT_BYTES, "%s", isnan(part) ? "-" : "from 0");
}

void sb_gate_limit(char out[SB_GATE_PERCENT_BYTES], const struct sb_gate_test *test)
{
	if (isfinite(test->limit))
		snprintf(out, SB_GATE_PERCENT_BYTES, "%c%g %%", test->is_fall ? '-' : '+',
			 100 * test->limit);
	else
		snprintf(out, SB_GATE_PERCENT_BYTES, "none");
}

static void put_interval(char *out, size_t bytes, const struct sb_gate_test *test)
{
	char low[SB_GATE_PERCENT_BYTES];
	char high[SB_GATE_PERCENT_BYTES];

	sb_gate_percent(low, test->low);
	sb_gate_percent(high, test->high);
	if (isnan(test->change))
		snprintf(out, bytes, "-");
	else if (test->low == test->high)
		snprintf(out, bytes, "exact");
	else
		snprintf(out, bytes, "%s .. %s", low, high);
}

/* "is within the limit of +3 %", or beyond it and fine all the same. */
static void put_relation(char *out, size_t bytes, const struct sb_gate_test *test)
{
	static const char *const is[SB_GATE_VERDICTS] = {
		[SB_GATE_FINE] = "is within",
		[SB_GATE_REGRESSED] = "is beyond",
		[SB_GATE_UNDECIDED] = "cannot be told from",
	};
	const bool is_excused = test->rule.verdict == SB_GATE_FINE && *test->why;
	char limit[SB_GATE_PERCENT_BYTES];

	sb_gate_limit(limit, test);
	if (isinf(test->limit))
		snprintf(out, bytes, "has no limit");
	else
		snprintf(out, bytes, "%s the limit of %s%s",
			 is_excused ? "is beyond" : is[test->rule.verdict], limit,
			 is_excused ? ", but fine" : "");
}

void sb_gate_describe(const struct sb_gate_test *test, char *out, size_t bytes)
{
	char change[SB_GATE_PERCENT_BYTES];
	char interval[2 * SB_GATE_PERCENT_BYTES + 8];
	char relation[2 * SB_GATE_PERCENT_BYTES + 40];

	if (isnan(test->change) && *test->why) {
		snprintf(out, bytes, "%s %s: %s", test->workload, test->metric, test->why);
		return;
	}
	sb_gate_percent(change, test->change);
	put_interval(interval, sizeof(interval), test);
	put_relation(relation, sizeof(relation), test);
	snprintf(out, bytes, "%s %s: %s (%s) %s%s%s", test->workload, test->metric, change,
		 interval, relation, *test->why ? ": " : "", test->why);
}

/* ---- for people ---- */

static const char *color_of(enum sb_gate_verdict verdict)
{
	static const char *const color[SB_GATE_VERDICTS] = {
		[SB_GATE_FINE] = "\033[32m",
		[SB_GATE_REGRESSED] = "\033[31m",
		[SB_GATE_UNDECIDED] = "\033[33m",
	};

	return color[verdict];
}

static void put_verdict(FILE *out, enum sb_gate_verdict verdict, bool color)
{
	fprintf(out, "%s%s%s", color ? color_of(verdict) : "", sb_gate_verdict_name(verdict),
		color ? "\033[0m" : "");
}

static void add_row(struct sb_table *table, const struct sb_gate_test *test, bool color)
{
	/* Of an undecided one it is at the end. */
	const bool is_said = *test->why && test->rule.verdict != SB_GATE_UNDECIDED;
	char base[SB_HUMAN_BYTES];
	char change[SB_GATE_PERCENT_BYTES];
	char limit[SB_GATE_PERCENT_BYTES];
	char interval[2 * SB_GATE_PERCENT_BYTES + 8];

	sb_human(base, test->base, test->unit);
	sb_gate_percent(change, test->change);
	sb_gate_limit(limit, test);
	put_interval(interval, sizeof(interval), test);
	sb_table_cell(table, "%s", sb_terminal_text(test->workload));
	sb_table_cell(table, "%s", test->metric);
	sb_table_cell(table, "%s", base);
	sb_table_cell(table, "%s", change);
	sb_table_cell(table, "%s", interval);
	sb_table_cell(table, "%s", limit);
	sb_table_cell(table, "%" PRIu32, test->values);
	sb_table_cell(table, "%s%s%s%s%s", color ? color_of(test->rule.verdict) : "",
		      sb_gate_verdict_name(test->rule.verdict), color ? "\033[0m" : "",
		      is_said ? ": " : "", is_said ? sb_terminal_text(test->why) : "");
}

static void put_workload(const struct sb_gate_workload *w, FILE *out)
{
	if (w->invalid)
		fprintf(out, "%s: %" PRIu32 " of %" PRIu32 " are invalid and do not count: %s\n",
			sb_terminal_text(w->name), w->invalid, w->pairs,
			sb_terminal_text(w->reason));
	if (w->suspect)
		fprintf(out, "%s: %" PRIu32 " of %" PRIu32 " are suspect\n",
			sb_terminal_text(w->name), w->suspect, w->pairs);
}

static void put_errors(const struct sb_gate_report *gate, FILE *out)
{
	if (gate->alpha > 0)
		fprintf(out,
			"a regression without any change: in at most %g %% of gates; a metric at "
			"its limit called fine: at most %g %%\n",
			100 * gate->alpha, 100 * gate->beta);
	if (*gate->calibration)
		fprintf(out, "%s\n", sb_terminal_text(gate->calibration));
}

/* The one that is furthest beyond, by its part of what it was; one that has failed has no part.
 * NULL: none is. */
static const struct sb_gate_test *find_worst(const struct sb_gate_report *gate, uint32_t *regressed)
{
	const struct sb_gate_test *worst = NULL;

	*regressed = 0;
	for (uint32_t i = 0; i < gate->tests; i++) {
		const struct sb_gate_test *test = &gate->test[i];

		if (test->rule.verdict != SB_GATE_REGRESSED)
			continue;
		++*regressed;
		if (!worst || isnan(test->change) || fabs(test->change) > fabs(worst->change))
			worst = test;
	}
	return worst;
}

void sb_gate_write_verdict(const struct sb_gate_report *gate, FILE *out, bool color)
{
	uint32_t regressed;
	const struct sb_gate_test *worst = find_worst(gate, &regressed);
	char words[SB_GATE_WHY_BYTES];

	fputs("gate: ", out);
	put_verdict(out, gate->verdict, color);
	if (worst) {
		sb_gate_describe(worst, words, sizeof(words));
		fprintf(out, ": %s", sb_terminal_text(words));
	} else if (*gate->why) {
		fprintf(out, ": %s", sb_terminal_text(gate->why));
	}
	if (regressed > 1)
		fprintf(out, "; and %" PRIu32 " more", regressed - 1);
	fprintf(out, "; after %.0f s\n", gate->elapsed_s);
}

static bool is_any_shown(const struct sb_gate_report *gate)
{
	for (uint32_t i = 0; i < gate->tests; i++) {
		if (sb_gate_is_shown(&gate->test[i]))
			return true;
	}
	return false;
}

/* Rows of a gate in virtual time, which has hundreds; verdict.md has all. */
#define ROWS_MOST 30

/* How many there are, and not in the table. */
struct left_out {
	uint32_t fine, others;
};

static void add_virtual_row(struct sb_table *table, const struct sb_gate_test *test, bool color,
			    uint32_t *rows, uint32_t *left_out)
{
	if (*rows < ROWS_MOST) {
		add_row(table, test, color);
		++*rows;
	} else {
		++*left_out;
	}
}

/* Those that are not fine come first. */
static void add_virtual_rows(struct sb_table *table, const struct sb_gate_report *gate,
			     struct left_out *left_out, bool color)
{
	uint32_t rows = 0;

	for (uint32_t i = 0; i < gate->tests; i++) {
		if (gate->test[i].rule.verdict != SB_GATE_FINE)
			add_virtual_row(table, &gate->test[i], color, &rows, &left_out->others);
	}
	for (uint32_t i = 0; i < gate->tests; i++) {
		const struct sb_gate_test *test = &gate->test[i];

		if (test->rule.verdict == SB_GATE_FINE && sb_gate_is_shown(test))
			add_virtual_row(table, test, color, &rows, &left_out->fine);
	}
}

static void put_left_out(const struct left_out *left_out, FILE *out)
{
	if (left_out->others)
		fprintf(out, "and %" PRIu32 " more that are not fine: verdict.md\n",
			left_out->others);
	if (left_out->fine)
		fprintf(out, "and %" PRIu32 " other changes that are fine: verdict.md\n",
			left_out->fine);
}

static void put_table(const struct sb_gate_report *gate, FILE *out, bool color, int columns)
{
	static const char *const titles[] = { "baseline", "change", NULL, "limit", "values" };
	struct sb_table table = { .keys = 2 };
	struct left_out left_out = { 0, 0 };

	sb_table_column(&table, "workload", SB_TABLE_LEFT, 0);
	sb_table_column(&table, "metric", SB_TABLE_LEFT, 0);
	for (size_t i = 0; i < SB_ARRAY_SIZE(titles); i++)
		sb_table_column(&table, titles[i] ? titles[i] : sb_gate_interval_title(gate),
				titles[i] ? 0 : SB_TABLE_LEFT, 0);
	sb_table_column(&table, "verdict", SB_TABLE_LEFT | SB_TABLE_WRAPS, 0);
	if (gate->is_virtual)
		add_virtual_rows(&table, gate, &left_out, color);
	for (uint32_t i = 0; i < gate->tests && !gate->is_virtual; i++)
		add_row(&table, &gate->test[i], color);
	sb_table_put(&table, out, columns, NULL);
	put_left_out(&left_out, out);
	fputc('\n', out);
}

static void put_text(const struct sb_gate_report *gate, FILE *out, bool color, int columns)
{
	char hidden[SB_GATE_WHY_BYTES];

	sb_gate_write_verdict(gate, out, color);
	fprintf(out, "baseline:  %s\ncandidate: %s\n%s\n\n", sb_terminal_text(gate->baseline),
		sb_terminal_text(gate->candidate), gate->method);
	if (is_any_shown(gate))
		put_table(gate, out, color, columns);
	sb_gate_describe_hidden(gate, hidden, sizeof(hidden));
	if (*hidden)
		fprintf(out, "%s\n", hidden);
	for (uint32_t i = 0; i < gate->workloads; i++)
		put_workload(&gate->workload[i], out);
	put_errors(gate, out);
}

void sb_gate_write_text(const struct sb_gate_report *gate, FILE *out, bool color, int columns)
{
	struct sb_wrap wrap;
	FILE *stream = sb_wrap_begin(&wrap, out, &columns);

	put_text(gate, stream, color, columns);
	sb_wrap_end(&wrap);
}
