#include "results/ledger/steal.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/files/csv.h"
#include "results/files/csv_series.h"
#include "results/record/number.h"
#include "results/record/series.h"

/* The last one is of messages, all others are of waits in queues. */
#define QUEUES (SB_MISSED_PLACES - 1)

const char *sb_missed_place_name(uint32_t place)
{
	static const char *const names[] = { "own deque",    "other deque",  "own inject",
					     "other inject", "global queue", "held by step" };

	static_assert(SB_ARRAY_SIZE(names) == SB_MISSED_PLACES, "a name for each counter");
	return names[place];
}

static double ratio(double a, double b)
{
	return b > 0 ? a / b : (double)NAN;
}

/* ---- sums ---- */

static bool counts_steals(const struct sb_record *record, uint32_t workers)
{
	struct sb_steal_counts sum = { 0 };

	if (!record->worker[0].recorded)
		return false;
	for (uint32_t i = 0; i < workers * workers; i++)
		sb_steal_add(&sum, &record->worker[i / workers].steals[i % workers]);
	return !sum.successes || sum.took_ns;
}

static uint64_t failures(const struct sb_steal_counts *cell)
{
	return cell->attempts - cell->successes;
}

static uint64_t all_failures(const struct sb_worker_reading *thief, uint32_t workers)
{
	uint64_t all = 0;

	for (uint32_t v = 0; v < workers; v++)
		all += failures(&thief->steals[v]);
	return all;
}

/* Of a thief's time of rounds that took nothing, by attempts. all: its failures. */
static double failed_ns(const struct sb_worker_reading *thief, uint32_t victim, uint64_t all)
{
	return all ? (double)thief->counter[SB_COUNTER_steal_failed_ns] *
			       (double)failures(&thief->steals[victim]) / (double)all
		   : 0;
}

static enum sb_distance distance_of(const struct sb_series *series, uint32_t thief, uint32_t victim)
{
	const struct sb_place *place = series->placement.place;

	return sb_place_distance(&place[thief], &place[victim]);
}

/* pairs: 1 for the first repetition. */
static void add_pair(struct sb_steal_line *line, const struct sb_steal_counts *cell, double failed,
		     uint32_t pairs)
{
	line->pairs += pairs;
	sb_steal_add(&line->sum, cell);
	line->failed_ns += failed;
}

static void add_record(struct sb_steal_ledger *ledger, const struct sb_series *series,
		       const struct sb_record *record, bool first)
{
	const uint32_t n = series->placement.workers;

	for (uint32_t t = 0; t < n; t++) {
		const struct sb_worker_reading *thief = &record->worker[t];
		const uint64_t all = all_failures(thief, n);

		for (uint32_t v = 0; v < n; v++) {
			const double failed = failed_ns(thief, v, all);

			if (t == v)
				continue;
			add_pair(&ledger->all, &thief->steals[v], failed, first);
			add_pair(&ledger->by[distance_of(series, t, v)], &thief->steals[v], failed,
				 first);
		}
	}
	for (uint32_t i = 0; i < n * SB_MISSED_PLACES; i++) {
		const uint32_t place = i % SB_MISSED_PLACES;

		ledger->missed_ns[place] += record->worker[i / SB_MISSED_PLACES]
						    .counter[SB_COUNTER_missed_own_ns + place];
	}
}

static double hist_sum(const struct sb_series *series, enum sb_hist_id id, double *median)
{
	struct sb_hist_counts *counts = calloc(1, sizeof(*counts));
	double sum = NAN;

	*median = NAN;
	if (counts) {
		sb_series_hist(series, id, counts);
		sum = (double)counts->sum;
		if (counts->count)
			*median = (double)sb_hist_quantile(counts, 0.5);
	}
	free(counts);
	return sum;
}

static void add_steps(struct sb_steal_ledger *ledger, const struct sb_series *series)
{
	double timed = 0;
	double ns = 0;

	for (uint32_t r = 0; r < series->records; r++) {
		if (!sb_series_pools(series, r))
			continue;
		for (uint32_t w = 0; w < series->placement.workers; w++) {
			const uint64_t *counter = series->record[r].worker[w].counter;

			ledger->steps += counter[SB_COUNTER_steps];
			timed += (double)counter[SB_COUNTER_timed_steps];
			ns += (double)counter[SB_COUNTER_timed_step_ns];
		}
	}
	ledger->stayed_ns = ratio(ns - (double)ledger->all.sum.moved_step_ns,
				  timed - (double)ledger->all.sum.moved_steps);
}

bool sb_series_steal_ledger(const struct sb_series *series, struct sb_steal_ledger *out)
{
	bool any = false;
	double unused;

	memset(out, 0, sizeof(*out));
	for (uint32_t r = 0; r < series->records; r++) {
		const struct sb_record *record = &series->record[r];

		if (!sb_series_pools(series, r) ||
		    !counts_steals(record, series->placement.workers))
			continue;
		add_record(out, series, record, !any);
		any = true;
	}
	if (!any)
		return false;
	out->waited_ns = hist_sum(series, SB_HIST_ready_to_running, &unused);
	out->sent_ns = hist_sum(series, SB_HIST_send_to_step, &unused);
	hist_sum(series, SB_HIST_missed, &out->missed_p50);
	add_steps(out, series);
	return true;
}

double sb_steal_move_ns(const struct sb_steal_ledger *ledger, const struct sb_steal_line *line)
{
	return ratio((double)line->sum.moved_step_ns, (double)line->sum.moved_steps) -
	       ledger->stayed_ns;
}

double sb_steal_missed_pct(const struct sb_steal_ledger *ledger, uint32_t place)
{
	return 100 * ratio((double)ledger->missed_ns[place],
			   place < QUEUES ? ledger->waited_ns : ledger->sent_ns);
}

/* ---- in words ---- */

static uint32_t worst_place(const struct sb_steal_ledger *ledger)
{
	uint32_t worst = 0;

	for (uint32_t p = 1; p < SB_MISSED_PLACES; p++)
		worst = ledger->missed_ns[p] > ledger->missed_ns[worst] ? p : worst;
	return worst;
}

static void describe_steals(const struct sb_steal_ledger *ledger, char *text, size_t bytes)
{
	const struct sb_steal_counts *sum = &ledger->all.sum;
	const double items = (double)sum->items;

	snprintf(text, bytes,
		 "%.3g %% of %" PRIu64 " stolen processes were stolen again before they ran, "
		 "%.3g %% went back, %.3g %% had been stolen more than %d times",
		 100 * (double)sum->restolen / items, sum->items,
		 100 * (double)sum->returned / items, 100 * (double)sum->wandering / items,
		 SB_WANDERING);
}

static void describe_missed(const struct sb_steal_ledger *ledger, char *text, size_t bytes)
{
	static const char *const waits[] = { "work waited in the deque of the worker that ran it",
					     "work waited in a deque to be stolen",
					     "work waited in the inject queue of its worker",
					     "work waited in another worker's inject queue",
					     "work waited in the global queue",
					     "steps held messages" };
	const uint32_t worst = worst_place(ledger);
	char median[SB_HUMAN_BYTES];

	static_assert(SB_ARRAY_SIZE(waits) == SB_MISSED_PLACES, "words for each counter");
	sb_human(median, ledger->missed_p50, "ns");
	snprintf(text, bytes, "a worker was idle for %.3g %% of the time that %s (median %s)",
		 sb_steal_missed_pct(ledger, worst), waits[worst], median);
}

void sb_steal_title(const struct sb_steal_ledger *ledger, char text[SB_STEAL_TEXT_BYTES])
{
	*text = '\0';
	if (ledger->all.sum.items) {
		describe_steals(ledger, text, SB_STEAL_TEXT_BYTES);
	} else if (!isnan(ledger->missed_p50)) {
		describe_missed(ledger, text, SB_STEAL_TEXT_BYTES);
		*text = 'A';
	}
}

void sb_steal_describe(const struct sb_steal_ledger *ledger, char text[SB_STEAL_TEXT_BYTES])
{
	size_t n = 0;

	*text = '\0';
	if (ledger->all.sum.items)
		describe_steals(ledger, text, SB_STEAL_TEXT_BYTES);
	if (isnan(ledger->missed_p50))
		return;
	n = strlen(text);
	if (n)
		n += (size_t)snprintf(text + n, SB_STEAL_TEXT_BYTES - n, "; ");
	describe_missed(ledger, text + n, SB_STEAL_TEXT_BYTES - n);
}

/* What is told without being asked for: ping-pong, if it is so much of the stolen and one for so
 * many steps; or waits, if so much of them was missed and far more than a wake takes. */
#define TOLD_PCT       10
#define TOLD_STEPS     100
#define TOLD_MISSED_NS 50000

static bool is_told(const struct sb_steal_ledger *ledger)
{
	const struct sb_steal_counts *sum = &ledger->all.sum;
	const uint64_t most = sb_max_u64(sum->restolen, sb_max_u64(sum->returned, sum->wandering));

	if (most && 100 * most >= TOLD_PCT * sum->items && TOLD_STEPS * most >= ledger->steps)
		return true;
	return ledger->missed_p50 >= TOLD_MISSED_NS &&
	       sb_steal_missed_pct(ledger, worst_place(ledger)) >= TOLD_PCT;
}

void sb_put_steal_finding(FILE *out, const struct sb_result *result, const struct sb_series *series)
{
	struct sb_steal_ledger ledger;
	char text[SB_STEAL_TEXT_BYTES];
	char name[SB_NAME_BYTES];

	if (!sb_series_steal_ledger(series, &ledger) || !is_told(&ledger))
		return;
	sb_series_name(name, result, series);
	sb_steal_describe(&ledger, text);
	fprintf(out, "%s: %s\n", sb_terminal_text(name), text);
}

/* ---- steal_ledger.csv ---- */

bool sb_result_has_steal_ledger(const struct sb_result *result)
{
	for (uint32_t i = 0; i < result->all_series; i++) {
		const struct sb_series *series = &result->series[i];

		for (uint32_t r = 0; r < series->records; r++) {
			if (sb_record_has_numbers(&series->record[r]) &&
			    counts_steals(&series->record[r], series->placement.workers))
				return true;
		}
	}
	return false;
}

static void put_pair(FILE *out, const struct sb_series *series, const struct sb_record *record,
		     uint32_t t, uint32_t v, uint64_t failures_of_t)
{
	const struct sb_worker_reading *thief = &record->worker[t];
	const uint64_t *count = (const uint64_t *)&thief->steals[v];

	sb_csv_put_text(out, series->workload);
	fputc(',', out);
	sb_csv_put_text(out, series->label);
	fprintf(out, ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%s", record->repetition, t, v,
		sb_distance_name(distance_of(series, t, v)));
	for (size_t i = 0; i < sizeof(struct sb_steal_counts) / sizeof(*count); i++)
		fprintf(out, ",%" PRIu64, count[i]);
	fprintf(out, ",%.0f", failed_ns(thief, v, failures_of_t));
	sb_csv_put_row_end(out, series);
}

static void put_record(FILE *out, const struct sb_series *series, const struct sb_record *record)
{
	const uint32_t n = series->placement.workers;

	for (uint32_t t = 0; t < n; t++) {
		const uint64_t all = all_failures(&record->worker[t], n);

		for (uint32_t v = 0; v < n; v++) {
			if (t != v)
				put_pair(out, series, record, t, v, all);
		}
	}
}

int sb_write_steal_ledger_csv(const struct sb_result *result, FILE *out)
{
	fputs("workload,label,repetition,thief,victim,distance"
#define X(name, doc) "," #name
#include "core/steals.def"
#undef X
	      ",failed_ns,topology\n",
	      out);
	for (uint32_t i = 0; i < result->all_series; i++) {
		const struct sb_series *series = &result->series[i];

		for (uint32_t r = 0; r < series->records; r++) {
			if (!sb_record_has_numbers(&series->record[r]) ||
			    !counts_steals(&series->record[r], series->placement.workers))
				continue;
			put_record(out, series, &series->record[r]);
		}
	}
	return 0;
}
