#include "results/gate/values.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/files/file.h"
#include "results/text/escape.h"

/* ---- in memory ---- */

static double rounded(double value)
{
	char text[40];

	snprintf(text, sizeof(text), "%.*g", SB_GATE_DIGITS, value);
	return strtod(text, NULL);
}

int sb_gate_values_add(struct sb_gate_values *values, const char *workload,
		       enum sb_metric_id metric, const double value[SB_GATE_SEEDS_ALL])
{
	struct sb_gate_row *all;
	struct sb_gate_row *row;
	uint32_t seeds = 0;

	while (seeds < SB_GATE_SEEDS_ALL && isfinite(value[seeds]))
		seeds++;
	if (seeds < SB_GATE_SEEDS)
		return 0;
	all = reallocarray(values->row, values->rows + 1, sizeof(*all));
	if (!all)
		return -ENOMEM;
	values->row = all;
	row = &all[values->rows];
	*row = (struct sb_gate_row){ .workload = strdup(workload),
				     .metric = metric,
				     .sets = seeds / SB_GATE_SEEDS };
	if (!row->workload)
		return -ENOMEM;
	for (uint32_t i = 0; i < row->sets * SB_GATE_SEEDS; i++)
		row->value[i] = rounded(value[i]);
	values->rows++;
	return 0;
}

void sb_gate_values_free(struct sb_gate_values *values)
{
	for (uint32_t i = 0; i < values->rows; i++)
		free(values->row[i].workload);
	free(values->row);
	*values = (struct sb_gate_values){ .rows = 0 };
}

const struct sb_gate_row *sb_gate_values_find(const struct sb_gate_values *values,
					      const char *workload, enum sb_metric_id metric)
{
	for (uint32_t i = 0; i < values->rows; i++) {
		if (values->row[i].metric == metric && !strcmp(values->row[i].workload, workload))
			return &values->row[i];
	}
	return NULL;
}

/* ---- as a file ---- */

#define HEAD	       "workload,metric"
#define FILE_BYTES_MAX (UINT64_C(16) << 20)

void sb_gate_values_write(const struct sb_gate_values *values, FILE *out)
{
	uint64_t seeds = SB_GATE_SEEDS;

	for (uint32_t r = 0; r < values->rows; r++)
		seeds = sb_max_u64(seeds, (uint64_t)values->row[r].sets * SB_GATE_SEEDS);
	fputs(HEAD, out);
	for (uint64_t i = 0; i < seeds; i++)
		fprintf(out, ",seed %" PRIu64, i + 1);
	fputc('\n', out);
	for (uint32_t r = 0; r < values->rows; r++) {
		const struct sb_gate_row *row = &values->row[r];

		sb_csv_put_text(out, row->workload);
		fprintf(out, ",%s", sb_metric[row->metric].name);
		for (uint32_t i = 0; i < row->sets * SB_GATE_SEEDS; i++)
			fprintf(out, ",%.15g", row->value[i]);
		fputc('\n', out);
	}
}

/* The number that the text is, all of it. */
static bool take_number(double *out, const char *text)
{
	char *end;

	if (!text || !*text)
		return false;
	*out = strtod(text, &end);
	return !*end && isfinite(*out);
}

/* -EINVAL: it is no row. The line is cut up. */
static int take_row(struct sb_gate_values *out, char *line)
{
	char *workload = strsep(&line, ",");
	const char *name = strsep(&line, ",");
	double value[SB_GATE_SEEDS_ALL];
	enum sb_metric_id metric;
	uint32_t seeds = 0;

	for (; line && seeds < SB_GATE_SEEDS_ALL; seeds++) {
		if (!take_number(&value[seeds], strsep(&line, ",")))
			return -EINVAL;
	}
	if (!*workload || line || !seeds || seeds % SB_GATE_SEEDS)
		return -EINVAL;
	if (seeds < SB_GATE_SEEDS_ALL)
		value[seeds] = NAN;
	sb_csv_restore(workload);
	metric = sb_metric_find(name);
	out->skipped += metric == SB_METRICS;
	return metric == SB_METRICS ? 0 : sb_gate_values_add(out, workload, metric, value);
}

/* Some editors begin with a byte order mark. */
static bool is_head(const char *line)
{
	line += strncmp(line, "\xef\xbb\xbf", 3) ? 0 : 3;
	return !strncmp(line, HEAD ",", strlen(HEAD ","));
}

static int take_lines(struct sb_gate_values *out, FILE *in, uint32_t *number)
{
	char *line = NULL;
	size_t bytes = 0;
	int rc = 0;

	for (*number = 1; !rc && getline(&line, &bytes, in) >= 0; (*number)++) {
		line[strcspn(line, "\n")] = '\0';
		if (*number == 1)
			rc = is_head(line) ? 0 : -EINVAL;
		else
			rc = take_row(out, line);
	}
	if (!rc && ferror(in))
		rc = -EIO;
	if (!rc && *number == 1)
		rc = -EINVAL;
	free(line);
	return rc;
}

int sb_gate_values_read(struct sb_gate_values *out, const char *path, char *why, size_t bytes)
{
	uint32_t line = 0;
	int rc;
	FILE *in = sb_file_open(path, FILE_BYTES_MAX, &rc);

	*out = (struct sb_gate_values){ .rows = 0 };
	if (in) {
		rc = take_lines(out, in, &line);
		fclose(in);
	}
	if (rc == -EINVAL)
		snprintf(why, bytes,
			 "'%s', line %u: expected a workload, a metric and %d or %d values, as "
			 "gate --virtual --save-baseline writes them",
			 path, line > 1 ? line - 1 : 1, SB_GATE_SEEDS, SB_GATE_SEEDS_ALL);
	else if (rc)
		snprintf(why, bytes, "'%s' cannot be read: %s", path, strerror(-rc));
	else if (!out->rows)
		snprintf(why, bytes, "'%s' has no row of a metric that this version knows", path);
	return rc || out->rows ? rc : -EINVAL;
}

/* ---- verdicts ---- */

/* Sorts a copy. */
static struct sb_spread spread_of(const double *values)
{
	double value[SB_GATE_SEEDS];

	memcpy(value, values, sizeof(value));
	return sb_spread_of(value, SB_GATE_SEEDS);
}

/* As a part of the baseline's; what comes out of nothing has grown without a limit. */
static double change_from(double base, double now)
{
	if (base == now)
		return 0;
	if (base == 0)
		return now > 0 ? INFINITY : -INFINITY;
	return now / base - 1;
}

static bool are_same(const double *a, const double *b)
{
	for (int i = 0; i < SB_GATE_SEEDS; i++) {
		if (a[i] != b[i])
			return false;
	}
	return true;
}

void sb_gate_compare(struct sb_gate_test *test, const struct sb_gate_row *base,
		     const struct sb_gate_row *candidate, uint32_t set)
{
	const double *before = &base->value[(size_t)set * SB_GATE_SEEDS];
	const double *now = &candidate->value[(size_t)set * SB_GATE_SEEDS];
	const struct sb_spread was = spread_of(before);
	const struct sb_spread is = spread_of(now);

	test->values = SB_GATE_SEEDS;
	test->base = was.median;
	test->candidate = is.median;
	test->change = change_from(was.median, is.median);
	test->low = change_from(was.max, is.min);
	test->high = change_from(was.min, is.max);
	if (are_same(before, now))
		test->difference = SB_GATE_NONE;
	else if (is.min > was.max || is.max < was.min)
		test->difference = SB_GATE_CLEAR;
	else
		test->difference = SB_GATE_LUCK;
}

void sb_gate_set_limit(struct sb_gate_test *test, bool is_fall, double limit, double least)
{
	const double worse = is_fall ? -test->change : test->change;

	test->is_fall = is_fall;
	test->limit = limit;
	test->rule.verdict = SB_GATE_FINE;
	test->why[0] = '\0';
	if (!(worse > limit))
		return;
	if (test->difference != SB_GATE_CLEAR)
		snprintf(test->why, sizeof(test->why), "other seeds alone differ as much");
	else if (fabs(test->candidate - test->base) < least)
		snprintf(test->why, sizeof(test->why), "the absolute change is below %g", least);
	else
		test->rule.verdict = SB_GATE_REGRESSED;
}

void sb_gate_confirm(struct sb_gate_test *test, const struct sb_gate_row *base,
		     const struct sb_gate_row *candidate, double least)
{
	struct sb_gate_test second = *test;

	if (test->rule.verdict != SB_GATE_REGRESSED || base->sets < SB_GATE_SETS ||
	    candidate->sets < SB_GATE_SETS)
		return;
	sb_gate_compare(&second, base, candidate, 1);
	sb_gate_set_limit(&second, test->is_fall, test->limit, least);
	test->values += second.values;
	test->low = fmin(test->low, second.low);
	test->high = fmax(test->high, second.high);
	if (second.rule.verdict == SB_GATE_REGRESSED)
		return;
	test->rule.verdict = SB_GATE_FINE;
	test->difference = SB_GATE_LUCK;
	snprintf(test->why, sizeof(test->why), "a second set of seeds does not confirm it");
}
