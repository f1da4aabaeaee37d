#include "results/files/answer.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/record/metric.h"
#include "results/record/number.h"
#include "results/record/series.h"
#include "results/record/validity.h"
#include "results/text/escape.h"

/* ---- the answer of a run ---- */

enum sb_metric_id sb_answer_metric(const struct sb_result *result, const struct sb_series *series)
{
	const char *text = sb_result_fact(result, "objectives", series->workload);
	enum sb_metric_id metric;

	if (sb_metric_list(text, &metric, 1) && metric < SB_METRICS &&
	    sb_series_spread(series, metric).n)
		return metric;
	return SB_METRIC_ns_per_op;
}

static void put_value(FILE *out, double value, enum sb_metric_id metric)
{
	char text[SB_HUMAN_BYTES];

	sb_human(text, value, sb_metric[metric].unit);
	fprintf(out, "%s%s", text, strcmp(sb_metric[metric].unit, "1/s") ? "" : "/s");
}

/* "131 ns [130 ns .. 146 ns], 95 % interval of ...". Repetitions of one fork have no interval, and
 * few forks neither. */
static void put_median(FILE *out, const struct sb_median *median, enum sb_metric_id metric)
{
	put_value(out, median->at, metric);
	if (median->n < 2)
		return;
	fputs(" [", out);
	put_value(out, median->low, metric);
	fputs(" .. ", out);
	put_value(out, median->high, metric);
	fputs(median->is_interval
		      ? "], 95 % interval of the median of forks started during this run"
		      : "], least and largest",
	      out);
}

/* The reason of the first that is invalid, or else suspect. */
static void put_reason(FILE *out, const struct sb_series *series)
{
	const enum sb_verdict verdict =
		sb_series_count(series, SB_INVALID) ? SB_INVALID : SB_SUSPECT;

	for (uint32_t r = 0; r < series->records; r++) {
		const struct sb_record *record = &series->record[r];

		if (record->verdict != verdict)
			continue;
		fprintf(out, " (%s: %.*s)", sb_verdict_name(verdict),
			(int)strcspn(record->reason, ";\n"), record->reason);
		return;
	}
}

/* "9 forks x 3, " or "8 of 9 forks x 3, ": of one that was lost there is no value. */
static void put_forks(FILE *out, const struct sb_series *series, uint32_t forks)
{
	const uint32_t with_value = sb_series_spread(series, SB_METRIC_ns_per_op).n;

	if (with_value < forks)
		fprintf(out, "%" PRIu32 " of ", with_value);
	fprintf(out, "%" PRIu32 " forks x %" PRIu32 ", ", forks, series->records / forks);
}

/* How many repetitions count, and why others do not; if the host has changed, that has been said. */
static void put_validity(FILE *out, const struct sb_series *series, bool has_host_changed)
{
	const uint32_t valid = sb_series_count(series, SB_VALID);
	const uint32_t forks = sb_series_forks(series);

	if (sb_series_count(series, SB_ONLY_EMULATED)) {
		fputs("; emulated: the times are this machine's, not those of the profile, which "
		      "--virtual predicts",
		      out);
		return;
	}
	fputs("; ", out);
	if (forks > 1)
		put_forks(out, series, forks);
	if (valid == series->records && forks > 1) {
		fputs("all valid", out);
		return;
	}
	if (valid == series->records) {
		fprintf(out, "%" PRIu32 " repetition%s, %s valid", valid, valid == 1 ? "" : "s",
			valid == 1 ? "it is" : "all");
		return;
	}
	fprintf(out, "%" PRIu32 " of %" PRIu32 " repetitions valid", valid, series->records);
	if (!has_host_changed || sb_series_count(series, SB_INVALID))
		put_reason(out, series);
}

static void put_measured(FILE *out, const struct sb_result *result, const struct sb_series *series)
{
	const enum sb_metric_id metric = sb_answer_metric(result, series);
	const struct sb_median median = sb_series_median(series, metric);
	const struct sb_spread offered = sb_series_spread(series, SB_METRIC_offered_per_s);

	if (!median.n) {
		fputs("no result", out);
		return;
	}
	fprintf(out, "%s ", sb_metric[metric].name);
	put_median(out, &median, metric);
	if (offered.n) {
		fputs(", at ", out);
		put_value(out, offered.median, SB_METRIC_offered_per_s);
	}
}

static void put_row(FILE *out, const struct sb_result *result, const struct sb_series *series)
{
	const enum sb_metric_id metric = sb_answer_metric(result, series);
	const struct sb_host_change host = sb_series_host_change(series, metric);
	char title[SB_SERIES_TITLE_BYTES];
	char change[SB_REASON_BYTES];
	const char *another;

	sb_series_title(title, series);
	fprintf(out, "%s%s: ", title, sb_series_topology_mark(series));
	if (series->answer) {
		fputs(series->answer, out);
	} else if (host.changes) {
		sb_host_change_describe(&host, metric, change);
		fputs(change, out);
	} else {
		put_measured(out, result, series);
	}
	put_validity(out, series, host.changes > 0);
	fputs(".\n", out);
	another = sb_result_fact(result, "another_run", title);
	if (*another)
		fprintf(out, "  another run on this machine %s\n", another);
}

/* More than that are in the table. */
#define SERIES_NAMED 12

static void put_rows(FILE *out, const struct sb_result *result)
{
	for (uint32_t i = 0; i < result->all_series && i < SERIES_NAMED; i++)
		put_row(out, result, &result->series[i]);
	if (result->all_series > SERIES_NAMED)
		fprintf(out, "And %" PRIu32 " more series.\n", result->all_series - SERIES_NAMED);
}

int sb_answer_from_rows(struct sb_result *result)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	int rc = -ENOMEM;

	if (!out)
		return -ENOMEM;
	put_rows(out, result);
	if (!fclose(out))
		rc = sb_result_add_fact(result, "answer", "text", text);
	free(text);
	return rc;
}

/* ---- an answer, line by line ---- */

const char *sb_answer_of(const struct sb_result *result)
{
	return sb_result_fact(result, "answer", "text");
}

bool sb_answer_next(const char **rest, struct sb_answer_line *line)
{
	const char *text = *rest;
	const size_t bytes = strcspn(text, "\n");
	const size_t blanks = strspn(text, " ");

	if (!bytes)
		return false;
	*line = (struct sb_answer_line){ .text = text + blanks,
					 .bytes = (int)(bytes - blanks),
					 .is_reason = blanks > 0 };
	*rest = text + bytes + (text[bytes] == '\n');
	return true;
}

void sb_answer_put(FILE *out, const char *answer, const char *bold, const char *plain)
{
	struct sb_answer_line line;

	while (sb_answer_next(&answer, &line)) {
		char *text = strndup(line.text, (size_t)line.bytes);

		fprintf(out, "%s%s%s\n", line.is_reason ? "  " : bold,
			sb_terminal_text(text ? text : ""), line.is_reason ? "" : plain);
		free(text);
	}
}
