/* compute.c - the metrics of a row, from what was read before and after it. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/commands.h"
#include "core/worker/distance.h"
#include "results/record/account.h"
#include "results/record/record.h"
#include "results/record/sums.h"

/* An order statistic with fewer values beyond it is set by one or two of them. */
#define BEYOND_LEAST 10

uint64_t sb_percentile_needs(double q)
{
	/* 1 - 0.9 is a bit less than 0.1. */
	return (uint64_t)llround(BEYOND_LEAST / (1 - q));
}

/* Of those counted and as many more as were lost, which are later than all. NaN:
 * it is one of the lost, or there are too few of them. */
static double quantile(const struct sb_hist_counts *hist, uint64_t lost, double q)
{
	const double wanted = q * (double)(hist->count + lost);

	if (hist->count + lost < sb_percentile_needs(q) || (lost && wanted > (double)hist->count))
		return NAN;
	return (double)sb_hist_quantile(hist, wanted / (double)hist->count);
}

/* The seven metrics of a latency, in the order of metrics.def. lost: as many more were
 * later than all that were timed. */
static void compute_latency(double *value, const struct sb_hist_counts *hist, uint64_t lost)
{
	value[6] = (double)hist->count;
	if (!hist->count)
		return;
	value[0] = lost ? NAN : sb_hist_mean(hist);
	value[1] = quantile(hist, lost, 0.5);
	value[2] = quantile(hist, lost, 0.9);
	value[3] = quantile(hist, lost, 0.99);
	value[4] = quantile(hist, lost, 0.999);
	value[5] = lost ? NAN : (double)sb_hist_max(hist);
}

static void compute_schedule(double *value, const struct sb_requests *r)
{
	/* The last one may be late as any other. */
	const uint64_t took = sb_max_u64(r->schedule_ns + r->late_ns, r->sending_ns) - r->late_ns;

	if (!sb_requests_scheduled(r) || !took)
		return;
	value[SB_METRIC_offered_per_s] =
		1e9 * (double)r->intended / (double)(r->window_ns ? r->window_ns : r->schedule_ns);
	value[SB_METRIC_adherence_pct] = 100.0 * (double)r->on_time / (double)r->intended;
	value[SB_METRIC_rate_kept_pct] = 100.0 * (double)r->schedule_ns / (double)took;
}

static void compute_requests(double *value, const struct sb_requests *r)
{
	compute_schedule(value, r);
	value[SB_METRIC_achieved_per_s] =
		r->is_open && r->window_ns ? 1e9 * (double)r->in_window / (double)r->window_ns
					   : 1e9 * (double)r->completed / (double)r->wall_ns;
	value[SB_METRIC_sojourn_ns_mean_error] = sb_requests_mean_error(r);
	value[SB_METRIC_lost] = (double)sb_requests_lost(r);
	value[SB_METRIC_in_system] = r->in_system;
	value[SB_METRIC_in_system_expected] = r->in_system_expected;
}

/* Closed loops have no schedule to be late against. */
static bool is_timed(const struct sb_requests *r, uint32_t hist)
{
	if (hist < SB_RECORD_REQUEST)
		return true;
	switch (hist - SB_RECORD_REQUEST) {
	case SB_REQUEST_lateness:
		return r && sb_requests_scheduled(r);
	case SB_REQUEST_ideal:
	case SB_REQUEST_replayed:
		return r && !r->not_replayed;
	default:
		return r;
	}
}

static void compute_latencies(double *value, const struct sb_hist_counts *hists,
			      const struct sb_requests *r)
{
	for (size_t i = 0; i < sb_latencies; i++) {
		const uint32_t hist = sb_latency[i].hist;
		const bool is_request = hist >= SB_RECORD_REQUEST;
		const struct sb_hist_counts *counts;

		if (!is_timed(r, hist))
			continue;
		counts = is_request ? &r->hist[hist - SB_RECORD_REQUEST] : &hists[hist];
		compute_latency(&value[sb_latency[i].first], counts,
				is_request ? sb_requests_untimed(r, hist, counts->count) : 0);
	}
}

static double mean_or_nan(const struct sb_hist_counts *hist)
{
	return hist->count ? sb_hist_mean(hist) : (double)NAN;
}

static void compute_depths(double *value, const struct sb_hist_counts *hist)
{
	value[SB_METRIC_depth_own_mean] = mean_or_nan(&hist[SB_HIST_depth_own]);
	value[SB_METRIC_depth_inject_mean] = mean_or_nan(&hist[SB_HIST_depth_inject]);
	value[SB_METRIC_depth_global_mean] = mean_or_nan(&hist[SB_HIST_depth_global]);
}

static void compute_times(double *value, const struct sb_record *record, uint32_t workers)
{
	const struct sb_shares shares = sb_record_shares(record, 0, workers);

	memcpy(&value[SB_METRIC_busy_pct], shares.pct, sizeof(shares.pct));
	value[SB_METRIC_work_pct_error] = sb_record_work_error(record, workers);
}

static double ratio_or_nan(double a, uint64_t b)
{
	return b ? a / (double)b : (double)NAN;
}

/* The four metrics of STEALS() in metrics.def, in their order. */
static void compute_steal_rates(double *value, const struct sb_steal_sum *steals,
				const struct sb_measured *m)
{
	const struct sb_steal_counts *sum = &steals->sum;
	const double successes = (double)sum->successes;

	if (!steals->pairs)
		return;
	value[0] = ratio_or_nan(successes, m->operations);
	value[1] = ratio_or_nan(1e9 * successes, m->wall_ns);
	value[2] = ratio_or_nan(100 * successes, sum->attempts);
	value[3] = ratio_or_nan((double)sum->items, sum->successes);
}

static double ns_of(const struct sb_record *record, enum sb_counter_id first,
		    enum sb_counter_id last, uint32_t workers)
{
	uint64_t sum = 0;

	for (uint32_t w = 0; w < workers; w++) {
		for (int c = (int)first; c <= (int)last; c++)
			sum += record->worker[w].counter[c];
	}
	return (double)sum;
}

static void compute_steal_ledger(double *value, const struct sb_record *record,
				 const struct sb_steal_counts *sum, uint32_t workers)
{
	const struct sb_hist_counts *hist = record->hist;
	const uint64_t steps = hist[SB_HIST_step_time].count;
	const double step_ns =
		ns_of(record, SB_COUNTER_timed_step_ns, SB_COUNTER_timed_step_ns, workers);

	value[SB_METRIC_missed_pct] = ratio_or_nan(
		100 * ns_of(record, SB_COUNTER_missed_own_ns, SB_COUNTER_missed_global_ns, workers),
		hist[SB_HIST_ready_to_running].sum);
	value[SB_METRIC_missed_held_pct] = ratio_or_nan(
		100 * ns_of(record, SB_COUNTER_missed_held_ns, SB_COUNTER_missed_held_ns, workers),
		hist[SB_HIST_send_to_step].sum);
	value[SB_METRIC_restolen_pct] = ratio_or_nan(100 * (double)sum->restolen, sum->items);
	value[SB_METRIC_returned_pct] = ratio_or_nan(100 * (double)sum->returned, sum->items);
	value[SB_METRIC_wandering_pct] = ratio_or_nan(100 * (double)sum->wandering, sum->items);
	value[SB_METRIC_migration_ns] =
		ratio_or_nan((double)sum->moved_step_ns, sum->moved_steps) -
		ratio_or_nan(step_ns - (double)sum->moved_step_ns, steps - sum->moved_steps);
}

static void compute_steals(double *value, const struct sb_record *record,
			   const struct sb_measured *m, const struct sb_placement *placement)
{
	static const enum sb_metric_id first[SB_DISTANCES] = {
		[SB_DISTANCE_SMT] = SB_METRIC_steals_smt_per_op,
		[SB_DISTANCE_CACHE] = SB_METRIC_steals_cache_per_op,
		[SB_DISTANCE_NODE] = SB_METRIC_steals_node_per_op,
		[SB_DISTANCE_REMOTE] = SB_METRIC_steals_remote_per_op,
	};
	struct sb_steal_sum all = { 0 };
	struct sb_steal_sum by[SB_DISTANCES] = { 0 };

	if (!record->worker[0].recorded)
		return;
	sb_steals_sum(record, placement, &all, by);
	compute_steal_rates(&value[SB_METRIC_steals_per_op], &all, m);
	for (int d = SB_DISTANCE_SMT; d < SB_DISTANCES; d++)
		compute_steal_rates(&value[first[d]], &by[d], m);
	compute_steal_ledger(value, record, &all.sum, placement->workers);
	value[SB_METRIC_steal_attempts] = (double)all.sum.attempts;
	value[SB_METRIC_steal_successes] = (double)all.sum.successes;
	value[SB_METRIC_steal_items] = (double)all.sum.items;
	value[SB_METRIC_steal_lost] = (double)all.sum.lost;
	value[SB_METRIC_steal_empty] = (double)all.sum.empty;
}

/* Episodes end in one of five ways; each has its histogram of spins. */
static void compute_spins(double *value, const struct sb_hist_counts *hist)
{
	static const enum sb_hist_id ends[] = {
		SB_HIST_spins_inject, SB_HIST_spins_global,  SB_HIST_spins_steal,
		SB_HIST_spins_timer,  SB_HIST_spins_blocked,
	};
	uint64_t episodes = 0;
	uint64_t spins = 0;

	for (size_t e = 0; e < SB_ARRAY_SIZE(ends); e++) {
		episodes += hist[ends[e]].count;
		spins += hist[ends[e]].sum;
	}
	if (!episodes)
		return;
	value[SB_METRIC_spins_mean] = (double)spins / (double)episodes;
	value[SB_METRIC_parked_pct] =
		100.0 * (double)hist[SB_HIST_spins_blocked].count / (double)episodes;
}

static void compute_yields(double *value, const struct sb_record *record, uint32_t workers)
{
	double *built_in = &value[SB_METRIC_yields_send];

	value[SB_METRIC_yields_other] = 0;
	for (uint32_t i = 0; i < SB_YIELD_COUNTS; i++) {
		uint64_t sum = 0;

		for (uint32_t w = 0; w < workers; w++)
			sum += record->worker[w].yields[i];
		if (sb_command_name(i))
			built_in[i - SB_COMMAND_SEND] = (double)sum;
		else
			value[SB_METRIC_yields_other] += (double)sum;
	}
}

static void compute_counters(double *value, const struct sb_record *record, uint32_t workers,
			     uint64_t operations)
{
	for (uint32_t c = 0; c < SB_COUNTERS; c++) {
		uint64_t sum = 0;

		if (sb_counter_is_account(c) && !record->worker[0].recorded)
			continue;
		for (uint32_t i = 0; i < workers; i++)
			sum += record->worker[i].counter[c];
		/* The counters are the last metrics, in their own order. */
		value[SB_METRIC_steps + c] = (double)sum;
	}
	value[SB_METRIC_parks_per_op] = ratio_or_nan(value[SB_METRIC_blocks], operations);
	value[SB_METRIC_wakes_per_op] = ratio_or_nan(value[SB_METRIC_wakes], operations);
}

static void compute_stops(double *value, const struct sb_record *record,
			  const struct sb_measured *m, uint32_t workers)
{
	const double elapsed_ms = 1e-6 * (double)m->elapsed_ns;
	const double throttled_ms = m->machine.throttled_ms;
	const double quota_ms = throttled_ms > 0 ? throttled_ms : 0;
	/* Some kernels do not take waiting for the quota for waiting. */
	const double stopped_ms = fmax(0, 1e-6 * (double)m->stopped_ns - quota_ms);

	value[SB_METRIC_suspended_ms] = m->machine.suspended_ms;
	value[SB_METRIC_throttled_ms] = throttled_ms;
	value[SB_METRIC_throttled_pct] = 100 * throttled_ms / (elapsed_ms * workers);
	value[SB_METRIC_stopped_ms] = stopped_ms;
	value[SB_METRIC_stopped_pct] = 100 * stopped_ms / elapsed_ms;
	if (!record->os)
		return;
	value[SB_METRIC_off_cpu_ms] = sb_record_off_cpu_ms(record, workers, stopped_ms);
	value[SB_METRIC_off_cpu_pct] = 100 * value[SB_METRIC_off_cpu_ms] / (elapsed_ms * workers);
}

/* One worker of which it is not known makes the sum unknown. */
static void compute_os(double *value, const struct sb_record *record, const struct sb_measured *m,
		       uint32_t workers)
{
	const double worker_s = 1e-9 * (double)m->elapsed_ns * workers;

	for (int c = 0; c < SB_OS_COUNTS && record->os; c++) {
		value[SB_METRIC_vol_ctxsw + c] = 0;
		for (uint32_t i = 0; i < workers; i++)
			value[SB_METRIC_vol_ctxsw + c] += record->os[i].value[c];
	}
	value[SB_METRIC_invol_ctxsw_per_s] = value[SB_METRIC_invol_ctxsw] / worker_s;
	value[SB_METRIC_run_delay_pct] = 0.1 * value[SB_METRIC_run_delay_ms] / worker_s;
	/* fmin would take the one that is known. */
	if (!isnan(m->machine.own_cpu_ms))
		value[SB_METRIC_run_delay_own_pct] =
			0.1 * fmin(value[SB_METRIC_run_delay_ms], m->machine.own_cpu_ms) / worker_s;
	value[SB_METRIC_run_delay_other_pct] =
		value[SB_METRIC_run_delay_pct] -
		(isnan(m->machine.own_cpu_ms) ? 0 : value[SB_METRIC_run_delay_own_pct]);
	value[SB_METRIC_host_steal_ms] = m->machine.steal_ms;
	value[SB_METRIC_host_steal_pct] = m->machine.steal_pct;
	value[SB_METRIC_clock_step_ms] = m->machine.clock_step_ms;
	value[SB_METRIC_clock_slew_ppm] = m->machine.clock_slew_ppm;
	compute_stops(value, record, m, workers);
}

/* The metrics are in the order of the ways. */
static void compute_fetches(double *value, const struct sb_measured *m)
{
	const double *fetches = m->machine.fetches;
	double transfers = 0;

	static_assert(SB_METRIC_memory_fetches_per_op - SB_METRIC_transfers_core_per_op ==
			      SB_WAITING_WAYS - 1,
		      "a metric for each way");
	for (int way = 0; way < SB_WAITING_WAYS; way++) {
		value[SB_METRIC_transfers_core_per_op + way] =
			ratio_or_nan(fetches[way], m->operations);
		if (way < SB_WAITING_WAYS - 1)
			transfers += fetches[way];
	}
	value[SB_METRIC_transfers_per_op] = ratio_or_nan(transfers, m->operations);
}

void sb_record_clear_values(struct sb_record *record)
{
	for (uint32_t i = 0; i < SB_METRICS; i++)
		record->value[i] = NAN;
}

/* A quotient by 0 is no measurement. */
static void clear_infinite(double *value)
{
	for (uint32_t i = 0; i < SB_METRICS; i++)
		value[i] = isfinite(value[i]) ? value[i] : (double)NAN;
}

void sb_record_compute(struct sb_record *record, const struct sb_measured *m,
		       const struct sb_placement *placement)
{
	const uint32_t workers = placement->workers;
	double *value = record->value;
	const double ops = (double)m->operations;

	sb_record_clear_values(record);
	record->verdict = SB_VALID;
	record->reason[0] = '\0';
	value[SB_METRIC_ns_per_op] = (double)m->wall_ns / ops;
	value[SB_METRIC_cpu_ns_per_op] = (double)m->cpu_ns / ops;
	value[SB_METRIC_ops_per_s] = 1e9 * ops / (double)m->wall_ns;
	if (m->bytes_per_process > 0)
		value[SB_METRIC_bytes_per_process] = m->bytes_per_process / (double)m->rounds;
	if (m->submit_ns)
		value[SB_METRIC_submit_ns_per_op] = (double)m->submit_ns / ops;
	value[SB_METRIC_operations] = ops;
	value[SB_METRIC_rounds] = (double)m->rounds;
	value[SB_METRIC_wall_s] = 1e-9 * (double)m->wall_ns;
	value[SB_METRIC_cpu_s] = 1e-9 * (double)m->cpu_ns;
	value[SB_METRIC_cpu_cores] = (double)m->cpu_ns / (double)m->elapsed_ns;
	value[SB_METRIC_arena_bytes] = (double)m->memory.mapped_bytes;
	value[SB_METRIC_huge_page_bytes] = (double)m->memory.explicit_bytes;
	value[SB_METRIC_arena_growth_bytes] =
		(double)m->memory.mapped_bytes - (double)m->mapped_before;
	if (m->capacity_per_s > 0)
		value[SB_METRIC_capacity_per_s] = m->capacity_per_s;
	if (m->requests)
		compute_requests(value, m->requests);
	value[SB_METRIC_look_ns] = m->look_ns;
	value[SB_METRIC_line_transfer_ns] = m->line_transfer_ns;
	value[SB_METRIC_memory_line_ns] = m->line_ns;
	compute_latencies(value, record->hist, m->requests);
	compute_depths(value, record->hist);
	compute_times(value, record, workers);
	compute_steals(value, record, m, placement);
	compute_spins(value, record->hist);
	compute_os(value, record, m, workers);
	compute_fetches(value, m);
	compute_yields(value, record, workers);
	compute_counters(value, record, workers, m->operations);
	clear_infinite(value);
}
