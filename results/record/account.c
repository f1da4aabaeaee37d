#include "results/record/account.h"

#include <math.h>

#include "results/record/series.h"

bool sb_counter_is_account(enum sb_counter_id id)
{
	switch ((int)id) {
	case SB_COUNTER_busy_ns:
	case SB_COUNTER_steal_ns:
	case SB_COUNTER_steal_failed_ns:
	case SB_COUNTER_spin_ns:
	case SB_COUNTER_blocked_ns:
		return true;
	default:
		return false;
	}
}

/* Sums of readings, as far as the account needs them. */
struct sums {
	double wall_ns; /* of each worker, added up */
	double counter[SB_COUNTERS];
};

static struct sums add_up(const struct sb_record *record, uint32_t first, uint32_t count)
{
	struct sums sums = { 0 };

	for (uint32_t w = first; w < first + count; w++) {
		const struct sb_worker_reading *r = &record->worker[w];

		if (!r->recorded)
			return (struct sums){ 0 };
		sums.wall_ns += (double)r->read_ns;
		for (uint32_t c = 0; c < SB_COUNTERS; c++)
			sums.counter[c] += (double)r->counter[c];
	}
	return sums;
}

/*
 * All steps at the mean of those timed, less the look at the clock that is in
 * each of these. An estimate may be more than there is room for.
 */
static double work_of(const struct sums *sums, double look_ns, double room_ns)
{
	const double steps = sums->counter[SB_COUNTER_steps];
	const double timed = sums->counter[SB_COUNTER_timed_steps];
	double mean_ns;

	if (!(steps > 0))
		return 0;
	if (!(timed > 0))
		return NAN;
	mean_ns = sums->counter[SB_COUNTER_timed_step_ns] / timed - look_ns;
	return fmin(fmax(0, steps * mean_ns), room_ns);
}

static void fill_times(double ns[SB_TIMES], const struct sums *sums, double look_ns)
{
	const double *counter = sums->counter;
	const double busy = counter[SB_COUNTER_busy_ns];
	const double harness = fmin(busy, counter[SB_COUNTER_clock_looks] * look_ns);

	ns[SB_TIME_busy] = busy;
	ns[SB_TIME_harness] = harness;
	ns[SB_TIME_work] = work_of(sums, look_ns, busy - harness);
	ns[SB_TIME_scheduler] = busy - harness - ns[SB_TIME_work];
	ns[SB_TIME_steal_ok] = counter[SB_COUNTER_steal_ns];
	ns[SB_TIME_steal_failed] = counter[SB_COUNTER_steal_failed_ns];
	ns[SB_TIME_spin] = counter[SB_COUNTER_spin_ns];
	ns[SB_TIME_blocked] = counter[SB_COUNTER_blocked_ns];
	ns[SB_TIME_unaccounted] = sums->wall_ns - busy - ns[SB_TIME_steal_ok] -
				  ns[SB_TIME_steal_failed] - ns[SB_TIME_spin] - ns[SB_TIME_blocked];
}

struct sb_shares sb_record_shares(const struct sb_record *record, uint32_t first, uint32_t count)
{
	const struct sums sums = add_up(record, first, count);
	struct sb_shares shares;

	fill_times(shares.pct, &sums, record->value[SB_METRIC_look_ns]);
	for (int t = 0; t < SB_TIMES; t++)
		shares.pct[t] = sums.wall_ns > 0 ? 100 * shares.pct[t] / sums.wall_ns : (double)NAN;
	return shares;
}

struct sb_shares sb_series_shares(const struct sb_series *series, uint32_t worker)
{
	const double valid = sb_series_measured(series);
	struct sb_shares mean;

	for (int t = 0; t < SB_TIMES; t++)
		mean.pct[t] = valid > 0 ? 0 : (double)NAN;
	for (uint32_t r = 0; r < series->records; r++) {
		struct sb_shares one;

		if (!sb_series_pools(series, r))
			continue;
		one = sb_record_shares(&series->record[r], worker, 1);
		for (int t = 0; t < SB_TIMES; t++)
			mean.pct[t] += one.pct[t] / valid;
	}
	return mean;
}

/* Of the values as bucketed, which is within the histogram's 1 %. */
static double variance(const struct sb_hist_counts *hist)
{
	const double mean = sb_hist_mean(hist);
	double sum = 0;

	for (uint32_t b = 0; b < SB_HIST_BUCKETS; b++) {
		const double middle =
			(double)sb_hist_bucket_low(b) + (double)(sb_hist_bucket_width(b) - 1) / 2;

		sum += (double)hist->bucket[b] * (middle - mean) * (middle - mean);
	}
	return sum / (double)(hist->count - 1);
}

/* Of a mean of n without replacement among N, times N. */
double sb_record_work_error(const struct sb_record *record, uint32_t workers)
{
	const struct sb_hist_counts *hist = &record->hist[SB_HIST_step_time];
	const struct sums sums = add_up(record, 0, workers);
	const double steps = sums.counter[SB_COUNTER_steps];
	const double n = (double)hist->count;

	if (hist->count < 2 || !(sums.wall_ns > 0))
		return NAN;
	return 100 * steps * sqrt(variance(hist) / n * fmax(0, 1 - n / steps)) / sums.wall_ns;
}

double sb_record_off_cpu_ms(const struct sb_record *record, uint32_t workers, double stopped_ms)
{
	double sum = 0;

	for (uint32_t i = 0; i < workers; i++) {
		const struct sb_worker_reading *r = &record->worker[i];
		const double *os = record->os[i].value;
		const double parked_ms = r->recorded
						 ? 1e-6 * (double)r->counter[SB_COUNTER_blocked_ns]
						 : (double)NAN;
		const double rest_ms = record->os[i].window_ms - os[SB_OS_thread_cpu_ms] -
				       os[SB_OS_run_delay_ms] - parked_ms - stopped_ms;

		sum += rest_ms < 0 ? 0 : rest_ms;
	}
	return sum;
}
