/*
 * benchstat.c - Go's benchmark format (golang.org/design/14313-benchmark-format)
 * with its later lines of units: a line for each fork, or each repetition of the only one, of which
 * benchstat makes medians and intervals. It ignores text after "#".
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/convert/convert.h"
#include "results/record/number.h"
#include "results/record/record.h"
#include "results/record/series.h"

/* benchstat knows ns by that name, and shows seconds. */
static const struct {
	enum sb_metric_id metric;
	const char *unit;
} known[] = {
	{ SB_METRIC_ns_per_op, "ns/op" },
	{ SB_METRIC_cpu_ns_per_op, "cpu-ns/op" },
	{ SB_METRIC_submit_ns_per_op, "submit-ns/op" },
	{ SB_METRIC_ops_per_s, "op/s" },
	{ SB_METRIC_bytes_per_process, "B/process" },
};

/* A word of its own: "wake_ns_p99" is "wake-p99-ns", "_" becomes "-". */
static void put_unit(enum sb_metric_id metric, FILE *out)
{
	const char *name = sb_metric[metric].name;
	const char *ns = strstr(name, "_ns_");

	for (size_t i = 0; i < SB_ARRAY_SIZE(known); i++) {
		if (known[i].metric == metric) {
			fputs(known[i].unit, out);
			return;
		}
	}
	for (const char *c = name; *c; c++) {
		if (c == ns)
			c += strlen("_ns");
		fputc(*c == '_' ? '-' : *c, out);
	}
	if (ns)
		fputs("-ns", out);
}

static bool is_judged(enum sb_metric_id metric)
{
	return sb_metric[metric].better != SB_NEITHER;
}

/* Printable, without white space; a "/" would begin another part. */
static void put_part(const char *text, FILE *out)
{
	for (; *text; text++)
		fputc(isgraph((uint8_t)*text) && *text != '/' ? *text : '_', out);
}

/* BenchmarkSkynet/batch=16-2: parts have a key each, the last number are the
 * workers. */
static void put_name(const struct sb_result *result, const struct sb_series *series, FILE *out)
{
	fprintf(out, "Benchmark%c", toupper((uint8_t)*series->workload));
	put_part(series->workload + 1, out);
	for (uint32_t i = 0; i < series->settings; i++) {
		const struct sb_setting *s = &series->setting[i];

		if (!sb_series_is_named_by(result, series, s))
			continue;
		fputc('/', out);
		put_part(s->name, out);
		fputc('=', out);
		put_part(s->text, out);
	}
	if (series->reality)
		fprintf(out, "/topology=%s", sb_series_topology(series));
	fprintf(out, "-%" PRIu32, series->placement.workers);
}

/* One line, whatever the text has in it. */
static void put_line(const char *before, const char *text, FILE *out)
{
	fputs(before, out);
	for (; *text; text++)
		fputc(iscntrl((uint8_t)*text) ? ' ' : *text, out);
	fputc('\n', out);
}

static void put_doubt(const struct sb_record *record, FILE *out)
{
	if (record->verdict == SB_VALID)
		return;
	fprintf(out, "# %s", sb_verdict_name(record->verdict));
	put_line(": ", record->reason, out);
}

static void put_record(const struct sb_result *result, const struct sb_series *series,
		       const struct sb_record *record, FILE *out)
{
	char text[SB_EXACT_BYTES];

	/* The format has no line without a count. */
	if (!isfinite(record->value[SB_METRIC_operations]))
		return;
	put_name(result, series, out);
	fprintf(out, " %.0f", record->value[SB_METRIC_operations]);
	for (enum sb_metric_id m = 0; m < sb_metrics(); m++) {
		if (!is_judged(m) || !isfinite(record->value[m]))
			continue;
		sb_exact(text, record->value[m]);
		fprintf(out, " %s ", text);
		put_unit(m, out);
	}
	fputc('\n', out);
}

/* Of these rows, which are of one fork, the medians. */
static void put_fork(const struct sb_result *result, const struct sb_series *series, uint32_t first,
		     uint32_t rows, FILE *out)
{
	struct sb_series fork = *series;
	struct sb_record medians = series->record[first];

	fork.record = &series->record[first];
	fork.records = rows;
	for (uint32_t r = 0; r < rows; r++)
		put_doubt(&fork.record[r], out);
	for (enum sb_metric_id m = 0; m < sb_metrics(); m++) {
		const struct sb_spread spread = sb_series_spread(&fork, m);

		medians.value[m] = spread.n >= 2 || spread.n == rows ? spread.median : (double)NAN;
	}
	put_record(result, series, &medians, out);
}

static void put_rows(const struct sb_result *result, const struct sb_series *series, FILE *out)
{
	const bool has_forks = sb_series_forks(series) > 1;
	uint32_t end;

	for (uint32_t r = 0; r < series->records; r = end) {
		for (end = r + 1; has_forks && end < series->records; end++) {
			if (series->record[end].fork != series->record[r].fork)
				break;
		}
		if (end - r > 1) {
			put_fork(result, series, r, end - r, out);
			continue;
		}
		put_doubt(&series->record[r], out);
		put_record(result, series, &series->record[r], out);
	}
}

/* The keys of `go test`; others would keep results from being compared. */
static void put_configuration(const struct sb_result *result, FILE *out)
{
	const char *cpu = sb_result_fact(result, "machine", "cpu_model");

	fputs("pkg: sched-bench\n", out);
	if (*cpu)
		put_line("cpu: ", cpu, out);
}

static bool is_measured(const struct sb_result *result, enum sb_metric_id m)
{
	for (uint32_t i = 0; i < result->all_series; i++) {
		if (sb_series_spread(&result->series[i], m).n)
			return true;
	}
	return false;
}

static void put_units(const struct sb_result *result, FILE *out)
{
	for (enum sb_metric_id m = 0; m < sb_metrics(); m++) {
		if (!is_judged(m) || !is_measured(result, m))
			continue;
		fputs("Unit ", out);
		put_unit(m, out);
		fprintf(out, " better=%s\n", sb_better_name(sb_metric[m].better));
	}
}

int sb_convert_benchstat(const struct sb_result *result, FILE *out)
{
	put_configuration(result, out);
	put_units(result, out);
	for (uint32_t i = 0; i < result->all_series; i++) {
		const struct sb_series *series = &result->series[i];

		if (*series->label)
			put_line("# ", series->label, out);
		put_rows(result, series, out);
	}
	return 0;
}
