/* requests.c - the rules for rows of requests; and how sure a mean sojourn time is, from the means of equal
 * parts of each repetition: batch means; see Law and Kelton, Simulation Modeling and Analysis, chapter 9. Of
 * virtual time, where nothing but chance disturbs a repetition. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "results/record/number.h"
#include "results/record/series.h"
#include "results/record/validity.h"
#include "results/stats/ranking.h"

/* A part that lasts for fewer relaxation times depends on the one before it. */
#define BATCH_RELAXATIONS 5

/* ---- of a row ---- */

static bool has_batches(const struct sb_requests *r)
{
	bool has = r->relaxation_ns && !sb_requests_lost(r) &&
		   r->window_ns >= BATCH_RELAXATIONS * SB_REQUEST_BATCHES * r->relaxation_ns;

	for (uint32_t i = 0; i < SB_REQUEST_BATCHES; i++)
		has = has && r->batch[i].requests;
	return has;
}

/* Of n batches from the first on, and the square of its standard error. */
static double mean_of_batches(const struct sb_requests *r, uint32_t first, uint32_t n,
			      double *square)
{
	double sum = 0;
	double squares = 0;

	for (uint32_t i = first; i < first + n; i++)
		sum += (double)r->batch[i].sojourn_ns / (double)r->batch[i].requests;
	for (uint32_t i = first; i < first + n; i++) {
		const double off =
			(double)r->batch[i].sojourn_ns / (double)r->batch[i].requests - sum / n;

		squares += off * off;
	}
	*square = squares / (n * (n - 1.0));
	return sum / n;
}

double sb_requests_mean_error(const struct sb_requests *r)
{
	double square;

	if (!has_batches(r))
		return NAN;
	(void)mean_of_batches(r, 0, SB_REQUEST_BATCHES, &square);
	return sqrt(square);
}

#define HALVES_P    0.001
#define HALVES_PART 0.05

void sb_judge_halves(struct sb_record *record, const struct sb_requests *r)
{
	const uint32_t half = SB_REQUEST_BATCHES / 2;
	double before_square;
	double after_square;
	double before;
	double after;
	double p;

	if (!has_batches(r))
		return;
	before = mean_of_batches(r, 0, half, &before_square);
	after = mean_of_batches(r, half, half, &after_square);
	p = 2 * sb_student_below(-fabs(after - before) / sqrt(before_square + after_square),
				 2 * (half - 1));
	if (p < HALVES_P && fabs(after / before - 1) > HALVES_PART)
		sb_record_suspect(
			record,
			"not stationary: the mean sojourn time changes by %+.1f %% from the "
			"repetition's first half to its second (p = %.2g)",
			100 * (after / before - 1), p);
}

void sb_judge_length(struct sb_record *record, const struct sb_requests *r)
{
	char lasts[SB_HUMAN_BYTES];
	char needs[SB_HUMAN_BYTES];

	if (r->window_ns >= BATCH_RELAXATIONS * r->relaxation_ns)
		return;
	sb_human(lasts, (double)r->window_ns, "ns");
	sb_human(needs, (double)(BATCH_RELAXATIONS * r->relaxation_ns), "ns");
	sb_record_suspect(
		record,
		"it lasts %s, less than the 5 relaxation times of its queue that make one "
		"sample of it; expected --duration %s or more",
		lasts, needs);
}

/* ---- of a series ---- */

#define LEVEL 0.95

struct sb_interval sb_series_sojourn(const struct sb_series *series)
{
	const double none = NAN;
	const uint32_t n = sb_series_spread(series, SB_METRIC_sojourn_ns_mean).n;
	const bool has_errors = sb_series_spread(series, SB_METRIC_sojourn_ns_mean_error).n == n;
	const double mean = sb_series_mean(series, SB_METRIC_sojourn_ns_mean);
	const uint32_t batches = has_errors ? SB_REQUEST_BATCHES : 1;
	const double all = (double)n * batches;
	double squares = 0;
	double reach;

	if (series->reality != SB_SIMULATED || all < 3)
		return (struct sb_interval){ none, none };
	for (uint32_t i = 0; i < series->records; i++) {
		const double *value = series->record[i].value;
		const double off = value[SB_METRIC_sojourn_ns_mean] - mean;
		const double error = has_errors ? value[SB_METRIC_sojourn_ns_mean_error] : 0;

		if (sb_series_pools(series, i) && !isnan(off))
			squares += batches * off * off + batches * (batches - 1.0) * error * error;
	}
	reach = sb_student_quantile((1 + LEVEL) / 2, (uint32_t)all - 1) *
		sqrt(squares / (all * (all - 1)));
	return (struct sb_interval){ mean - reach, mean + reach };
}

#define MEAN_LEAST 3 /* repetitions: single ones are for others to put together */
#define MEAN_PART  0.05

void sb_judge_mean(struct sb_series *series)
{
	const struct sb_interval interval = sb_series_sojourn(series);
	const double mean = (interval.low + interval.high) / 2;
	const double part = (interval.high - interval.low) / 2 / mean;
	const double wall_s = sb_series_mean(series, SB_METRIC_wall_s);
	char needs[SB_HUMAN_BYTES];

	if (!(part > MEAN_PART) ||
	    sb_series_spread(series, SB_METRIC_sojourn_ns_mean).n < MEAN_LEAST)
		return;
	sb_human(needs, 1e9 * wall_s * (part / MEAN_PART) * (part / MEAN_PART), "ns");
	for (uint32_t r = 0; r < series->records; r++)
		sb_record_suspect(
			&series->record[r],
			"the mean sojourn time of all repetitions is known within %.0f %%, "
			"by its 95 %% interval; within %.0f %% about --duration %s",
			100 * part, 100 * MEAN_PART, needs);
}

/* ---- the rules ---- */

#define SCHEDULE_SUSPECT_PCT 99.9
#define SCHEDULE_INVALID_PCT 95.0

static void judge_schedule(struct sb_record *record, const struct sb_requests *r)
{
	const double kept = fmin(record->value[SB_METRIC_adherence_pct],
				 record->value[SB_METRIC_rate_kept_pct]);
	char reason[SB_REASON_BYTES];

	if (!r->is_open || !(kept < SCHEDULE_SUSPECT_PCT))
		return;
	snprintf(reason, sizeof(reason),
		 "the generators kept %.2f %% of their schedule, %.2f %% of the rate; the latest "
		 "was %.3g ms late",
		 record->value[SB_METRIC_adherence_pct], record->value[SB_METRIC_rate_kept_pct],
		 (double)sb_hist_max(&r->hist[SB_REQUEST_lateness]) / 1e6);
	if (kept < SCHEDULE_INVALID_PCT)
		sb_record_invalidate(record, reason);
	else
		sb_record_suspect(record, "%s", reason);
}

static void judge_lost(struct sb_record *record, const struct sb_requests *r)
{
	if (sb_requests_lost(r))
		sb_record_suspect(record, "%" PRIu64 " requests were lost", sb_requests_lost(r));
}

/* A right row is suspect once in 10^4, and the clock is read a bit before the
 * count changes. */
#define LITTLE_ERRORS  4
#define LITTLE_SKEW_NS 100

static void judge_little(struct sb_record *record, const struct sb_requests *r)
{
	const double bound = LITTLE_ERRORS * r->in_system_error + r->in_system_unknown +
			     LITTLE_SKEW_NS * (double)r->completed / r->observed_ns;

	if (fabs(r->in_system - r->in_system_expected) > bound)
		sb_record_suspect(record,
				  "Little's law: %.3g requests were seen in the system, expected "
				  "%.3g within %.2g",
				  r->in_system, r->in_system_expected, bound);
}

/* Where the thread that counts the requests in the system shares CPUs with the workers, it runs when
 * one of them gives a CPU up: its moments are not random. */
const struct sb_request_rule sb_request_rules[] = {
	{ "lost", "one or more", "requests were never completed", judge_lost, false },
	{ "little", "4 standard errors, and what late looks may have missed",
	  "the requests in the system, seen at random moments, are not their rate times their mean "
	  "time there",
	  judge_little, true },
	{ "schedule", "suspect below 99.9 %, invalid below 95 %",
	  "the generators have not kept their schedule: requests submitted within --late of their "
	  "time, or the rate",
	  judge_schedule, false },
	{ "halves", "in virtual time: 5 %, and p < 0.001",
	  "the mean sojourn time of the second half differs from that of the first (Student's test "
	  "of 8 batches each, of 5 relaxation times or more)",
	  sb_judge_halves, false },
	{ "length", "in virtual time: 5 relaxation times",
	  "the repetition is too short to be a sample of its queue", sb_judge_length, false },
	{ NULL, NULL, NULL, NULL, false },
};

void sb_judge_requests(struct sb_record *record, const struct sb_requests *r,
		       const struct sb_conditions *conditions)
{
	for (const struct sb_request_rule *rule = sb_request_rules; rule->name; rule++) {
		if (!(rule->unshared && conditions->shares))
			rule->judge(record, r);
	}
}
