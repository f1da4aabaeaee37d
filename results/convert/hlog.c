/*
 * hlog.c - HdrHistogram's interval log, version 1.3. A tag is a series and a
 * histogram of it, its intervals are the repetitions. When these began is not
 * recorded, but how long their rounds took: in the log they follow each other
 * without a gap, from the date of the run on. Which rows there are, those without
 * numbers too, comments say before the first interval: some readers stumble over
 * comments behind the last.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "results/convert/convert.h"
#include "results/files/hdr.h"
#include "results/record/record.h"
#include "results/record/series.h"

#define NS_PER_MS 1e6

static void put_times(const struct sb_result *result, FILE *out)
{
	const char *date = sb_result_fact(result, "run", "date");
	struct tm parts = { 0 };
	const char *end = strptime(date, "%Y-%m-%dT%H:%M:%S%z", &parts);
	long offset;
	long long start;

	if (!end || *end)
		return;
	offset = parts.tm_gmtoff; /* timegm() sets it to 0 */
	start = (long long)timegm(&parts) - offset;
	fprintf(out, "#[StartTime: %lld.000 (seconds since epoch), %s]\n", start, date);
	fprintf(out, "#[BaseTime: %lld.000 (seconds since epoch)]\n", start);
}

/* Fields end at commas and white space, comments at line breaks. */
static void put_word(const char *text, const char *not_in_it, FILE *out)
{
	for (; *text; text++)
		fputc(strchr(not_in_it, *text) || iscntrl((uint8_t)*text) ? '_' : *text, out);
}

static void put_row(const struct sb_series *series, const struct sb_record *record,
		    const char *name, FILE *out)
{
	fputs("#[", out);
	put_word(name, "", out);
	fputs(", ", out);
	put_word(series->label, "", out);
	fprintf(out, ", repetition %" PRIu32 ": %s", record->repetition,
		sb_verdict_name(record->verdict));
	if (*record->reason) {
		fputs(": ", out);
		put_word(record->reason, "", out);
	}
	fputs("]\n", out);
}

static int put_interval(const char *name, uint32_t id, const struct sb_packed_hist *hist,
			double start_s, double length_s, FILE *out)
{
	struct sb_hist_counts *counts = calloc(1, sizeof(*counts));
	/* The maximum that readers decode: counts are encoded in the lower half of a bucket. */
	const uint32_t top = hist->bucket[hist->buckets - 1].index;
	const uint64_t most = sb_hist_bucket_low(top) + (sb_hist_bucket_width(top) - 1) / 2;
	char *encoded;
	int rc = -ENOMEM;

	if (counts) {
		sb_packed_add(hist, counts);
		rc = sb_hdr_encode(counts, &encoded);
	}
	if (!rc) {
		fputs("Tag=", out);
		put_word(name, ", ", out);
		fprintf(out, "/%s,%.6f,%.6f,%.6f,%s\n", sb_record_hist_info[id].name, start_s,
			length_s, (double)most / NS_PER_MS, encoded);
		free(encoded);
	}
	free(counts);
	return rc;
}

/* An interval has to have one: 0, where it is not known. */
static double length_of(const struct sb_record *record)
{
	return fmax(0, record->value[SB_METRIC_wall_s]);
}

static int put_record(const struct sb_record *record, const char *name, double start_s, FILE *out)
{
	const double length_s = length_of(record);
	int rc = 0;

	for (uint32_t i = 0; !rc && i < SB_RECORD_HISTS; i++) {
		const struct sb_packed_hist *hist = sb_record_hist(record, i);

		if (hist && hist->count && !strcmp(sb_record_hist_info[i].unit, "ns"))
			rc = put_interval(name, i, hist, start_s, length_s, out);
	}
	return rc;
}

static void put_rows(const struct sb_result *result, const struct sb_series *series, FILE *out)
{
	char name[SB_NAME_BYTES];

	sb_series_name(name, result, series);
	for (uint32_t r = 0; r < series->records; r++)
		put_row(series, &series->record[r], name, out);
}

static int put_intervals(const struct sb_result *result, const struct sb_series *series,
			 double *start_s, FILE *out)
{
	char name[SB_NAME_BYTES];
	int rc = 0;

	sb_series_name(name, result, series);
	for (uint32_t r = 0; r < series->records && !rc; r++) {
		const struct sb_record *record = &series->record[r];

		if (!sb_record_has_numbers(record))
			continue;
		rc = put_record(record, name, *start_s, out);
		*start_s += length_of(record);
	}
	return rc;
}

int sb_write_hlog(const struct sb_result *result, FILE *out)
{
	double start_s = 0;
	int rc = 0;

	fputs("#[Logged by sched-bench, in ns; maxima of intervals in ms]\n"
	      "#[Histogram log format version 1.3]\n",
	      out);
	put_times(result, out);
	for (uint32_t i = 0; i < result->all_series; i++)
		put_rows(result, &result->series[i], out);
	fputs("\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_"
	      "Histogram\"\n",
	      out);
	for (uint32_t i = 0; i < result->all_series && !rc; i++)
		rc = put_intervals(result, &result->series[i], &start_s, out);
	return rc;
}
