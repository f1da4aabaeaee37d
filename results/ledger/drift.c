/*
 * drift.c - what a time series says: a drift within the repetitions, bursts, or neither.
 *
 * Points next to each other are alike, which no test of single points allows for. So a repetition
 * is looked at in at most BLOCKS parts, and a series drifts if most of its repetitions
 * do, which are independent of each other, and all the same way.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/ledger/timeseries.h"
#include "results/record/number.h"
#include "results/record/series.h"
#include "results/stats/statistics.h"
#include "results/text/escape.h"

#define BLOCKS	    16
#define LEAST	    6 /* points; the first and the last of a repetition do not count */
#define DRIFT_P	    0.01
#define DRIFT_PART  0.1
#define BURST_FENCE 3.0

/* The throughput, or a percentile of the latency. */
struct subject {
	bool is_latency;
	enum sb_point_quantile quantile;
	double burst; /* so many times the median is far, or as small a part of it */
};

static double value_of(const struct sb_timeseries *t, uint32_t point, const struct subject *s)
{
	return s->is_latency ? t->point[point].quantile[s->quantile]
			     : sb_point_rate(t, point, sb_timeseries_progress(t));
}

/* Points that are far from the median in one direction, and the furthest of them. */
enum direction { JUMPS, DROPS, DIRECTIONS };
struct far {
	uint32_t points;
	uint32_t repetitions; /* that have one */
	double factor, value, median;
	double run_delay_ns;
	uint64_t at_ns;
	uint32_t repetition;
};

/* What has been seen of a subject in all repetitions. */
struct seen {
	uint32_t repetitions, rises, falls;
	uint32_t points;
	double *from, *to; /* [repetitions], the first and the last quarter */
	double *off;	   /* [points], how far each is from the median: its factor - 1 */
	struct far far[DIRECTIONS];
};

/* A repetition's values. */
struct sample {
	uint32_t n;
	double value[SB_POINTS_MAX];
	uint32_t at[SB_POINTS_MAX]; /* the point of each */
	double scratch[SB_POINTS_MAX];
	struct sb_spread spread; /* of those that are not 0: pauses may be a quarter of all */
};

/* Before the first and after the last point with work in it nothing has begun, or all has ended;
 * and that was somewhere in these two. */
static void take_sample(struct sample *s, const struct sb_timeseries *t,
			const struct subject *subject)
{
	const enum sb_point_count progress = sb_timeseries_progress(t);
	uint32_t first = 0;
	uint32_t end = t->points;
	uint32_t known = 0;

	while (end && !t->point[end - 1].count[progress])
		end--;
	while (first < end && !t->point[first].count[progress])
		first++;
	s->n = 0;
	for (uint32_t i = first + 1; i + 1 < end; i++) {
		s->value[s->n] = value_of(t, i, subject);
		s->at[s->n] = i;
		if (s->value[s->n] > 0)
			s->scratch[known++] = s->value[s->n];
		s->n += !isnan(s->value[s->n]);
	}
	s->spread = sb_spread_of(s->scratch, known);
}

/* Of n values from the first on. */
static double median_of(struct sample *s, uint32_t first, uint32_t n)
{
	memcpy(s->scratch, &s->value[first], n * sizeof(*s->value));
	sb_sort(s->scratch, n);
	return sb_median_of_sorted(s->scratch, n);
}

/* By the test, and by enough: 1 or -1, else 0. */
static int drift_of(struct sample *s)
{
	const uint32_t blocks = s->n < BLOCKS ? s->n : BLOCKS;
	double block[BLOCKS];
	struct sb_trend trend;
	double part;

	for (uint32_t b = 0; b < blocks; b++) {
		const uint32_t first = b * s->n / blocks;

		block[b] = median_of(s, first, (b + 1) * s->n / blocks - first);
	}
	trend = sb_trend_of(block, blocks);
	part = trend.drift / s->spread.median;
	if (trend.p >= DRIFT_P || !(fabs(part) > DRIFT_PART))
		return 0;
	return part > 0 ? 1 : -1;
}

/* How many times as much, or as little. */
static double factor_of(double value, double median)
{
	return value > median ? value / median : median / value;
}

/* Beyond Tukey's outer fences of the logarithms, for what is as many times more or less is as
 * far; and by enough. */
static bool is_far(double value, const struct sb_spread *spread, double enough)
{
	const double reach = pow(spread->q3 / spread->q1, BURST_FENCE);

	return factor_of(value, spread->median) >= enough &&
	       (value > spread->q3 * reach || value < spread->q1 / reach);
}

/* The kernel counts a wait when it ends, which may be in the next interval. */
static double run_delay_ns(const struct sb_timeseries *t, uint32_t point)
{
	const double later =
		point + 1 < t->points ? t->point[point + 1].kernel[SB_POINT_run_delay_ns] : 0;

	return t->point[point].kernel[SB_POINT_run_delay_ns] + later;
}

static void look_for_bursts(struct seen *seen, const struct sb_record *record,
			    const struct subject *subject, const struct sample *s)
{
	const uint32_t before[DIRECTIONS] = { seen->far[JUMPS].points, seen->far[DROPS].points };

	for (uint32_t i = 0; i < s->n; i++) {
		const double factor = factor_of(s->value[i], s->spread.median);
		struct far *far = &seen->far[s->value[i] > s->spread.median ? JUMPS : DROPS];

		seen->off[seen->points++] = factor - 1;
		if (!is_far(s->value[i], &s->spread, subject->burst))
			continue;
		far->points++;
		if (factor <= far->factor)
			continue;
		far->factor = factor;
		far->value = s->value[i];
		far->median = s->spread.median;
		far->at_ns = sb_point_begin_ns(record->timeseries, s->at[i]);
		far->run_delay_ns = run_delay_ns(record->timeseries, s->at[i]);
		far->repetition = record->repetition;
	}
	for (int d = 0; d < DIRECTIONS; d++)
		seen->far[d].repetitions += seen->far[d].points > before[d];
}

/* That of the most repetitions; of two, that of the furthest point. */
static enum direction main_direction(const struct seen *seen)
{
	const struct far *jumps = &seen->far[JUMPS];
	const struct far *drops = &seen->far[DROPS];

	if (jumps->repetitions != drops->repetitions)
		return jumps->repetitions > drops->repetitions ? JUMPS : DROPS;
	return jumps->factor > drops->factor ? JUMPS : DROPS;
}

static void look_at(struct seen *seen, const struct sb_record *record,
		    const struct subject *subject)
{
	struct sample sample;
	int drift;

	take_sample(&sample, record->timeseries, subject);
	if (sample.spread.n < LEAST)
		return;
	drift = drift_of(&sample);
	seen->rises += drift > 0;
	seen->falls += drift < 0;
	seen->from[seen->repetitions] = median_of(&sample, 0, sample.n / 4);
	seen->to[seen->repetitions] = median_of(&sample, sample.n - sample.n / 4, sample.n / 4);
	seen->repetitions++;
	look_for_bursts(seen, record, subject, &sample);
}

/* False: no memory. */
static bool look_at_all(struct seen *seen, const struct sb_series *series,
			const struct subject *subject)
{
	const size_t rows = (size_t)series->records + 1;

	*seen = (struct seen){ .from = calloc(rows, sizeof(double)),
			       .to = calloc(rows, sizeof(double)),
			       .off = calloc(rows * SB_POINTS_MAX, sizeof(double)) };
	if (!seen->from || !seen->to || !seen->off)
		return false;
	for (uint32_t r = 0; r < series->records; r++) {
		if (series->record[r].timeseries && sb_series_pools(series, r))
			look_at(seen, &series->record[r], subject);
	}
	return true;
}

/* ---- in words ---- */

#define VALUE_BYTES (SB_HUMAN_BYTES + 2)
#define NAME_BYTES  80

static void put_value(char out[VALUE_BYTES], double value, const struct subject *subject)
{
	char text[SB_HUMAN_BYTES];

	sb_human(text, value, subject->is_latency ? "ns" : "1/s");
	snprintf(out, VALUE_BYTES, "%s%s", text, subject->is_latency ? "" : "/s");
}

static void say_drift(char *out, const char *name, const struct subject *subject, struct seen *seen)
{
	const bool rises = seen->rises > seen->falls;
	char from[VALUE_BYTES];
	char to[VALUE_BYTES];

	sb_sort(seen->from, seen->repetitions);
	sb_sort(seen->to, seen->repetitions);
	put_value(from, sb_median_of_sorted(seen->from, seen->repetitions), subject);
	put_value(to, sb_median_of_sorted(seen->to, seen->repetitions), subject);
	snprintf(out, SB_TIMESERIES_BYTES,
		 "%s %s from %s to %s within a repetition, in %" PRIu32 " of %" PRIu32
		 " repetitions",
		 name, rises ? "rises" : "falls", from, to, rises ? seen->rises : seen->falls,
		 seen->repetitions);
}

/* "4.20 ms at 310 ms of repetition 3 (median 40 us)"; where it is worse, with what may be why:
 * "(median 40 us, run delay 3.97 ms)" */
static void put_furthest(char *out, size_t bytes, const struct subject *subject,
			 const struct far *far)
{
	char value[VALUE_BYTES];
	char median[VALUE_BYTES];
	char at[SB_HUMAN_BYTES];
	char delay[SB_HUMAN_BYTES];
	const bool is_worse = subject->is_latency == (far->value > far->median);
	const bool is_delayed = is_worse && far->run_delay_ns > 0;

	put_value(value, far->value, subject);
	put_value(median, far->median, subject);
	sb_human(at, (double)far->at_ns, "ns");
	sb_human(delay, far->run_delay_ns, "ns");
	snprintf(out, bytes, "%s at %s of repetition %" PRIu32 " (median %s%s%s)", value, at,
		 far->repetition, median, is_delayed ? ", run delay " : "",
		 is_delayed ? delay : "");
}

static void say_burst(char *out, const char *name, const struct subject *subject,
		      const struct seen *seen)
{
	const enum direction direction = main_direction(seen);
	char furthest[200];

	put_furthest(furthest, sizeof(furthest), subject, &seen->far[direction]);
	snprintf(out, SB_TIMESERIES_BYTES, "%s %s in %" PRIu32 " of %" PRIu32 " repetitions, to %s",
		 name, direction == JUMPS ? "jumps" : "drops", seen->far[direction].repetitions,
		 seen->repetitions, furthest);
}

#define STEADY_PART 0.1

static void say_spread(char *out, const char *name, const struct subject *subject,
		       struct seen *seen)
{
	const struct far *jumps = &seen->far[JUMPS];
	const struct far *drops = &seen->far[DROPS];
	const struct far *far = jumps->factor > drops->factor ? jumps : drops;
	char furthest[200] = "";
	char within[80];
	double off;

	sb_sort(seen->off, seen->points);
	off = sb_quantile_of(seen->off, seen->points, 0.9);
	if (off < 1)
		snprintf(within, sizeof(within), "9 of 10 points are within %.2g %% of the median",
			 100 * off);
	else if (isinf(off))
		snprintf(within, sizeof(within), "more than 1 of 10 points is 0");
	else
		snprintf(within, sizeof(within),
			 "9 of 10 points are within a factor of %.2g of the median", 1 + off);
	if (far->points)
		put_furthest(furthest, sizeof(furthest), subject, far);
	snprintf(out, SB_TIMESERIES_BYTES, "%s %s: %s%s%s", name,
		 off < STEADY_PART ? "is steady" : "does not drift", within,
		 far->points ? "; furthest is " : "", furthest);
}

static enum sb_timeseries_found judge(char *out, const char *name, const struct subject *subject,
				      struct seen *seen)
{
	if (!seen->repetitions)
		return SB_TIMESERIES_NONE;
	if (2 * seen->rises > seen->repetitions || 2 * seen->falls > seen->repetitions) {
		say_drift(out, name, subject, seen);
		return SB_TIMESERIES_DRIFT;
	}
	if (2 * seen->far[main_direction(seen)].repetitions > seen->repetitions) {
		say_burst(out, name, subject, seen);
		return SB_TIMESERIES_BURST;
	}
	say_spread(out, name, subject, seen);
	return seen->far[JUMPS].points + seen->far[DROPS].points ? SB_TIMESERIES_POINTS
								 : SB_TIMESERIES_STEADY;
}

static void name_subject(char name[NAME_BYTES], const struct subject *subject,
			 const struct sb_series *series)
{
	const struct sb_record *record = sb_timeseries_median(series);
	const char *column = sb_point_quantile[subject->quantile].name;

	if (subject->is_latency && record)
		snprintf(name, NAME_BYTES, "%.*s of %s", (int)strcspn(column, "_"), column,
			 sb_latency[record->timeseries->latency].name);
	else
		snprintf(name, NAME_BYTES, "throughput");
}

enum sb_timeseries_found sb_timeseries_find(char out[SB_TIMESERIES_BYTES],
					    const struct sb_series *series)
{
	const enum sb_point_quantile tail = sb_timeseries_tail(series);
	const struct subject subjects[] = { { false, SB_POINT_p50_ns, 1.5 }, { true, tail, 3 } };
	enum sb_timeseries_found most = SB_TIMESERIES_NONE;

	*out = '\0';
	for (size_t i = 0; i < SB_ARRAY_SIZE(subjects); i++) {
		enum sb_timeseries_found found = SB_TIMESERIES_NONE;
		char text[SB_TIMESERIES_BYTES];
		char name[NAME_BYTES];
		struct seen seen;

		if (subjects[i].quantile == SB_POINT_QUANTILES)
			continue;
		name_subject(name, &subjects[i], series);
		if (look_at_all(&seen, series, &subjects[i]))
			found = judge(text, name, &subjects[i], &seen);
		free(seen.from);
		free(seen.to);
		free(seen.off);
		if (found <= most)
			continue;
		most = found;
		memcpy(out, text, sizeof(text));
	}
	return most;
}

void sb_put_timeseries_finding(FILE *out, const struct sb_result *result,
			       const struct sb_series *series)
{
	char title[SB_SERIES_TITLE_BYTES];
	char text[SB_TIMESERIES_BYTES];

	(void)result;
	if (sb_timeseries_find(text, series) < SB_TIMESERIES_BURST)
		return;
	sb_series_title(title, series);
	fprintf(out, "%s: %s (timeseries.csv)\n", sb_terminal_text(title), text);
}

/* ---- which to show ---- */

const struct sb_record *sb_timeseries_median(const struct sb_series *series)
{
	const double median = sb_series_spread(series, SB_METRIC_ns_per_op).median;
	const struct sb_record *found = NULL;

	for (uint32_t r = 0; r < series->records; r++) {
		const struct sb_record *record = &series->record[r];
		const double value = record->value[SB_METRIC_ns_per_op];

		if (!record->timeseries || !sb_series_pools(series, r))
			continue;
		if (!found ||
		    fabs(value - median) < fabs(found->value[SB_METRIC_ns_per_op] - median))
			found = record;
	}
	return found;
}

enum sb_point_quantile sb_timeseries_tail(const struct sb_series *series)
{
	enum sb_point_quantile tail = SB_POINT_QUANTILES;

	for (int q = 0; q < SB_POINT_max_ns; q++) {
		uint32_t points = 0;
		uint32_t known = 0;

		for (uint32_t r = 0; r < series->records; r++) {
			const struct sb_timeseries *t =
				sb_series_pools(series, r) ? series->record[r].timeseries : NULL;

			for (uint32_t i = 0; t && i < t->points; i++, points++)
				known += !isnan(t->point[i].quantile[q]);
		}
		if (points && 2 * known >= points)
			tail = (enum sb_point_quantile)q;
	}
	return tail;
}
