#include "results/record/record.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/commands.h"
#include "results/record/account.h"

#define LOWER	SB_LOWER
#define HIGHER	SB_HIGHER
#define NEITHER SB_NEITHER

const struct sb_metric sb_metric[SB_METRICS] = {
#define METRIC(name, unit, better, doc)                                        \
	[SB_METRIC_##name] = { #name, unit, better, doc },
#include "results/record/metrics.def"
#undef METRIC
};

const struct sb_metric sb_counter_info[SB_COUNTERS] = {
#define X(name, doc) [SB_COUNTER_##name] = { #name, "count", NEITHER, doc },
#include "core/counters.def"
#undef X
};

const struct sb_metric sb_hist_info[SB_HISTS] = {
#define X(name, unit, doc) [SB_HIST_##name] = { #name, unit, NEITHER, doc },
#include "core/hists.def"
#undef X
};

/* ---- one row ---- */

/* An order statistic with fewer values beyond it is set by one or two of them. */
#define BEYOND_LEAST 10

uint64_t sb_percentile_needs(double q)
{
	/* 1 - 0.9 is a bit less than 0.1. */
	return (uint64_t)llround(BEYOND_LEAST / (1 - q));
}

/* Of those counted and as many more as were lost, which are later than all. NaN:
 * it is one of the lost, or there are too few of them. */
static double quantile(const struct sb_hist_counts *hist, uint64_t lost,
		       double q)
{
	const double wanted = q * (double)(hist->count + lost);

	if (hist->count + lost < sb_percentile_needs(q) ||
	    (lost && wanted > (double)hist->count))
		return NAN;
	return (double)sb_hist_quantile(hist, wanted / (double)hist->count);
}

/* The seven metrics of a latency, in the order of metrics.def. */
static void compute_latency(double *value, const struct sb_hist_counts *hist,
			    uint64_t lost)
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
	const uint64_t took =
		sb_max_u64(r->schedule_ns + r->late_ns, r->sending_ns) -
		r->late_ns;

	if (!r->intended || !took)
		return;
	value[SB_METRIC_offered_per_s] =
		1e9 * (double)r->intended / (double)r->schedule_ns;
	value[SB_METRIC_adherence_pct] =
		100.0 * (double)r->on_time / (double)r->intended;
	value[SB_METRIC_rate_kept_pct] =
		100.0 * (double)r->schedule_ns / (double)took;
	compute_latency(&value[SB_METRIC_lateness_ns_mean],
			&r->hist[SB_REQUEST_LATENESS],
			r->intended - r->hist[SB_REQUEST_LATENESS].count);
}

static void compute_requests(double *value, const struct sb_requests *r)
{
	const uint64_t lost = sb_requests_lost(r);

	if (r->is_open)
		compute_schedule(value, r);
	value[SB_METRIC_achieved_per_s] =
		1e9 * (double)r->completed / (double)r->wall_ns;
	value[SB_METRIC_lost] = (double)lost;
	value[SB_METRIC_in_system] = r->in_system;
	value[SB_METRIC_in_system_expected] = r->in_system_expected;
	compute_latency(&value[SB_METRIC_sojourn_ns_mean],
			&r->hist[SB_REQUEST_SOJOURN], lost);
	compute_latency(&value[SB_METRIC_wait_ns_mean],
			&r->hist[SB_REQUEST_WAIT], lost);
	compute_latency(&value[SB_METRIC_service_ns_mean],
			&r->hist[SB_REQUEST_SERVICE], 0);
	if (r->not_replayed)
		return;
	compute_latency(&value[SB_METRIC_ideal_ns_mean],
			&r->hist[SB_REQUEST_IDEAL], lost);
	compute_latency(&value[SB_METRIC_replayed_ns_mean],
			&r->hist[SB_REQUEST_REPLAYED], lost);
}

const char *sb_request_hist_name(enum sb_request_hist_id hist)
{
	static const char *const names[SB_REQUEST_HISTS] = {
		[SB_REQUEST_SOJOURN] = "sojourn",
		[SB_REQUEST_WAIT] = "wait",
		[SB_REQUEST_SERVICE] = "service",
		[SB_REQUEST_LATENESS] = "lateness",
		[SB_REQUEST_IDEAL] = "ideal",
		[SB_REQUEST_REPLAYED] = "replayed",
	};

	return names[hist];
}

bool sb_record_hist(const struct sb_record *record, uint32_t i,
		    struct sb_named_hist *out)
{
	if (i >= (record->requests ? SB_RECORD_HISTS : SB_HISTS))
		return false;
	out->packed = &record->packed[i];
	out->name = i < SB_HISTS ? sb_hist_info[i].name
				 : sb_request_hist_name(i - SB_HISTS);
	out->unit = i < SB_HISTS ? sb_hist_info[i].unit : "ns";
	return true;
}

static void free_packed(struct sb_packed_hist *packed)
{
	for (uint32_t i = 0; packed && i < SB_RECORD_HISTS; i++)
		sb_packed_free(&packed[i]);
	free(packed);
}

static void free_hists(struct sb_record *record)
{
	free(record->hist);
	record->hist = NULL;
	if (!record->requests)
		return;
	free(record->requests->hist);
	record->requests->hist = NULL;
}

int sb_record_pack(struct sb_record *record)
{
	struct sb_packed_hist *packed;
	int rc = 0;

	if (!record->hist)
		return 0;
	packed = calloc(SB_RECORD_HISTS, sizeof(*packed));
	if (!packed)
		return -ENOMEM;
	for (uint32_t i = 0; i < SB_HISTS && !rc; i++)
		rc = sb_hist_pack(&record->hist[i], &packed[i]);
	for (uint32_t i = 0; record->requests && i < SB_REQUEST_HISTS && !rc;
	     i++)
		rc = sb_hist_pack(&record->requests->hist[i],
				  &packed[SB_HISTS + i]);
	if (rc) {
		free_packed(packed);
		return rc;
	}
	free_hists(record);
	record->packed = packed;
	return 0;
}

static const struct {
	enum sb_metric_id first;
	enum sb_hist_id hist;
} latencies[] = {
#define LATENCY_OF(name)                                                       \
	{                                                                      \
		SB_METRIC_##name##_ns_mean, SB_HIST_##name                     \
	}
	LATENCY_OF(ready_to_running), LATENCY_OF(send_to_step),
	LATENCY_OF(submit_to_step),   LATENCY_OF(yield_to_resumed),
	LATENCY_OF(wake_to_running),  LATENCY_OF(step_time),
	LATENCY_OF(lifetime),
#undef LATENCY_OF
};

static double mean_or_nan(const struct sb_hist_counts *hist)
{
	return hist->count ? sb_hist_mean(hist) : (double)NAN;
}

static void compute_hists(double *value, const struct sb_hist_counts *hist)
{
	for (size_t i = 0; i < SB_ARRAY_SIZE(latencies); i++)
		compute_latency(&value[latencies[i].first],
				&hist[latencies[i].hist], 0);
	value[SB_METRIC_depth_own_mean] = mean_or_nan(&hist[SB_HIST_depth_own]);
	value[SB_METRIC_depth_inject_mean] =
		mean_or_nan(&hist[SB_HIST_depth_inject]);
	value[SB_METRIC_depth_global_mean] =
		mean_or_nan(&hist[SB_HIST_depth_global]);
}

static void compute_times(double *value, const struct sb_record *record,
			  uint32_t workers)
{
	const struct sb_shares shares = sb_record_shares(record, 0, workers);

	memcpy(&value[SB_METRIC_busy_pct], shares.pct, sizeof(shares.pct));
	value[SB_METRIC_work_pct_error] = sb_record_work_error(record, workers);
}

static_assert(SB_METRIC_unaccounted_pct - SB_METRIC_busy_pct == SB_TIMES - 1,
	      "the shares are metrics in their own order");

/* What some pairs of thief and victim come to together. */
struct steals {
	uint32_t pairs;
	struct sb_steal_counts sum;
};

static void add_steals(struct steals *to, const struct sb_steal_counts *cell)
{
	to->pairs++;
	sb_steal_add(&to->sum, cell);
}

static void sum_steals(const struct sb_record *record,
		       const struct sb_placement *p, struct steals *all,
		       struct steals by[SB_DISTANCES])
{
	for (uint32_t i = 0; i < p->workers * p->workers; i++) {
		const uint32_t thief = i / p->workers;
		const uint32_t victim = i % p->workers;
		const struct sb_steal_counts *cell =
			&record->worker[thief].steals[victim];

		if (thief == victim)
			continue;
		add_steals(all, cell);
		add_steals(&by[sb_place_distance(&p->place[thief],
						 &p->place[victim])],
			   cell);
	}
}

static double ratio_or_nan(double a, uint64_t b)
{
	return b ? a / (double)b : (double)NAN;
}

/* The four metrics of STEALS() in metrics.def, in their order. */
static void compute_steal_rates(double *value, const struct steals *steals,
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

static void compute_steals(double *value, const struct sb_record *record,
			   const struct sb_measured *m,
			   const struct sb_placement *placement)
{
	static const enum sb_metric_id first[SB_DISTANCES] = {
		[SB_DISTANCE_SMT] = SB_METRIC_steals_smt_per_op,
		[SB_DISTANCE_CACHE] = SB_METRIC_steals_cache_per_op,
		[SB_DISTANCE_NODE] = SB_METRIC_steals_node_per_op,
		[SB_DISTANCE_REMOTE] = SB_METRIC_steals_remote_per_op,
	};
	struct steals all = { 0 };
	struct steals by[SB_DISTANCES] = { 0 };

	if (!record->worker[0].recorded)
		return;
	sum_steals(record, placement, &all, by);
	compute_steal_rates(&value[SB_METRIC_steals_per_op], &all, m);
	for (int d = SB_DISTANCE_SMT; d < SB_DISTANCES; d++)
		compute_steal_rates(&value[first[d]], &by[d], m);
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
		SB_HIST_spins_inject,  SB_HIST_spins_global,
		SB_HIST_spins_steal,   SB_HIST_spins_timer,
		SB_HIST_spins_blocked,
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
		100.0 * (double)hist[SB_HIST_spins_blocked].count /
		(double)episodes;
}

static void compute_yields(double *value, const struct sb_record *record,
			   uint32_t workers)
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

static_assert(SB_METRIC_yields_other - SB_METRIC_yields_send ==
		      SB_COMMAND_BUILTIN_END - SB_COMMAND_SEND,
	      "built-in commands are metrics in the order of their ids");

static void compute_counters(double *value, const struct sb_record *record,
			     uint32_t workers, uint64_t operations)
{
	for (uint32_t c = 0; c < SB_COUNTERS; c++) {
		uint64_t sum = 0;

		if (sb_counter_is_account(c) && !record->worker[0].recorded)
			continue;
		for (uint32_t i = 0; i < workers; i++)
			sum += record->worker[i].counter[c];
		/* The counters are the last metrics, in their own order. */
		value[SB_METRICS - SB_COUNTERS + c] = (double)sum;
	}
	value[SB_METRIC_parks_per_op] =
		ratio_or_nan(value[SB_METRIC_blocks], operations);
	value[SB_METRIC_wakes_per_op] =
		ratio_or_nan(value[SB_METRIC_wakes], operations);
}

static void compute_stops(double *value, const struct sb_record *record,
			  const struct sb_measured *m, uint32_t workers)
{
	const double elapsed_ms = 1e-6 * (double)m->elapsed_ns;
	const double throttled_ms = m->machine.throttled_ms;
	const double quota_ms = throttled_ms > 0 ? throttled_ms : 0;
	/* Some kernels do not take waiting for the quota for waiting. */
	const double stopped_ms =
		fmax(0, 1e-6 * (double)m->stopped_ns - quota_ms);

	value[SB_METRIC_suspended_ms] = m->machine.suspended_ms;
	value[SB_METRIC_throttled_ms] = throttled_ms;
	value[SB_METRIC_throttled_pct] =
		100 * throttled_ms / (elapsed_ms * workers);
	value[SB_METRIC_stopped_ms] = stopped_ms;
	value[SB_METRIC_stopped_pct] = 100 * stopped_ms / elapsed_ms;
	if (!record->os)
		return;
	value[SB_METRIC_off_cpu_ms] =
		sb_record_off_cpu_ms(record, workers, stopped_ms);
	value[SB_METRIC_off_cpu_pct] =
		100 * value[SB_METRIC_off_cpu_ms] / (elapsed_ms * workers);
}

/* One worker of which it is not known makes the sum unknown. */
static void compute_os(double *value, const struct sb_record *record,
		       const struct sb_measured *m, uint32_t workers)
{
	const double worker_s = 1e-9 * (double)m->elapsed_ns * workers;

	for (int c = 0; c < SB_OS_COUNTS && record->os; c++) {
		value[SB_METRIC_vol_ctxsw + c] = 0;
		for (uint32_t i = 0; i < workers; i++)
			value[SB_METRIC_vol_ctxsw + c] +=
				record->os[i].value[c];
	}
	value[SB_METRIC_invol_ctxsw_per_s] =
		value[SB_METRIC_invol_ctxsw] / worker_s;
	value[SB_METRIC_run_delay_pct] =
		0.1 * value[SB_METRIC_run_delay_ms] / worker_s;
	value[SB_METRIC_steal_ms] = m->machine.steal_ms;
	value[SB_METRIC_steal_pct] = m->machine.steal_pct;
	value[SB_METRIC_clock_step_ms] = m->machine.clock_step_ms;
	value[SB_METRIC_clock_slew_ppm] = m->machine.clock_slew_ppm;
	compute_stops(value, record, m, workers);
}

static_assert(SB_METRIC_cache_misses - SB_METRIC_vol_ctxsw == SB_OS_COUNTS - 1,
	      "the system's counts are side by side, in their own order");
static_assert(SB_METRICS - SB_COUNTERS == SB_METRIC_steps, "counters are last");

static void clear_values(struct sb_record *record)
{
	for (uint32_t i = 0; i < SB_METRICS; i++)
		record->value[i] = NAN;
}

void sb_record_compute(struct sb_record *record, const struct sb_measured *m,
		       const struct sb_placement *placement)
{
	const uint32_t workers = placement->workers;
	double *value = record->value;
	const double ops = (double)m->operations;

	clear_values(record);
	record->verdict = SB_VALID;
	record->reason[0] = '\0';
	value[SB_METRIC_ns_per_op] = (double)m->wall_ns / ops;
	value[SB_METRIC_cpu_ns_per_op] = (double)m->cpu_ns / ops;
	value[SB_METRIC_ops_per_s] = 1e9 * ops / (double)m->wall_ns;
	if (m->bytes_per_process > 0)
		value[SB_METRIC_bytes_per_process] =
			m->bytes_per_process / (double)m->rounds;
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
	compute_latency(&value[SB_METRIC_wake_ns_mean], &m->wake_ns, 0);
	compute_latency(&value[SB_METRIC_wake_long_step_ns_mean],
			&m->wake_long_step_ns, 0);
	value[SB_METRIC_look_ns] = m->look_ns;
	compute_hists(value, record->hist);
	compute_times(value, record, workers);
	compute_steals(value, record, m, placement);
	compute_spins(value, record->hist);
	compute_os(value, record, m, workers);
	compute_yields(value, record, workers);
	compute_counters(value, record, workers, m->operations);
}

void sb_reading_subtract(struct sb_worker_reading *a,
			 const struct sb_worker_reading *b, uint32_t workers)
{
	for (uint32_t c = 0; c < SB_COUNTERS; c++)
		a->counter[c] -= b->counter[c];
	for (uint32_t i = 0; i < SB_YIELD_COUNTS; i++)
		a->yields[i] -= b->yields[i];
	a->read_ns -= b->read_ns;
	a->account_ns -= b->account_ns;
	for (uint32_t v = 0; v < workers; v++) {
		a->steals[v].attempts -= b->steals[v].attempts;
		a->steals[v].successes -= b->steals[v].successes;
		a->steals[v].items -= b->steals[v].items;
		a->steals[v].lost -= b->steals[v].lost;
		a->steals[v].empty -= b->steals[v].empty;
	}
}

const char *sb_verdict_name(enum sb_verdict verdict)
{
	static const char *const names[] = {
		[SB_VALID] = "valid",
		[SB_SUSPECT] = "suspect",
		[SB_INVALID] = "invalid",
	};

	return names[verdict];
}

void sb_record_suspect(struct sb_record *record, const char *format, ...)
{
	const size_t used = strlen(record->reason);
	char *end = record->reason + used;
	const size_t room = sizeof(record->reason) - used;
	const char *joint = used ? "; " : "";
	char reason[SB_REASON_BYTES];
	va_list args;

	if (record->verdict == SB_INVALID)
		return;
	record->verdict = SB_SUSPECT;
	va_start(args, format);
	vsnprintf(reason, sizeof(reason), format, args);
	va_end(args);
	if (!strstr(record->reason, reason) &&
	    strlen(joint) + strlen(reason) < room)
		snprintf(end, room, "%s%s", joint, reason);
}

void sb_record_invalidate(struct sb_record *record, const char *reason)
{
	clear_values(record);
	record->verdict = SB_INVALID;
	snprintf(record->reason, sizeof(record->reason), "%s", reason);
}

/* ---- a series ---- */

const char *sb_memory_kind_name(enum sb_memory_kind kind)
{
	static const char *const names[SB_MEMORY_KINDS] = {
		[SB_MEMORY_DEQUES] = "deques",
		[SB_MEMORY_WORKER] = "worker",
		[SB_MEMORY_PROCESSES] = "processes",
		[SB_MEMORY_ARENA] = "arena",
	};

	return names[kind];
}

const char *sb_series_binding(const struct sb_series *series,
			      const struct sb_result *result)
{
	if (!series->memory.is_bound)
		return "none";
	return series->memory.bind_error
		       ? "refused"
		       : sb_series_option(series, result, "membind");
}

void sb_series_title(char *out, const struct sb_series *series)
{
	const struct sb_setting *job = sb_series_setting(series, "job");

	if (!job || !strcmp(job->text, series->workload))
		snprintf(out, SB_SERIES_TITLE_BYTES, "%s", series->workload);
	else
		snprintf(out, SB_SERIES_TITLE_BYTES, "%s/%s", job->text,
			 series->workload);
}

const char *sb_series_option(const struct sb_series *series,
			     const struct sb_result *result, const char *name)
{
	const struct sb_setting *setting = sb_series_setting(series, name);

	return setting ? setting->text
		       : sb_result_fact(result, "options", name);
}

void sb_series_hist(const struct sb_series *series, enum sb_hist_id hist,
		    struct sb_hist_counts *out)
{
	memset(out, 0, sizeof(*out));
	for (uint32_t r = 0; r < series->records; r++) {
		if (sb_series_pools(series, r))
			sb_packed_add(&series->record[r].packed[hist], out);
	}
}

struct sb_steal_counts sb_series_steals(const struct sb_series *series,
					uint32_t thief, uint32_t victim)
{
	struct sb_steal_counts sum = { 0 };

	for (uint32_t r = 0; r < series->records; r++) {
		if (sb_series_pools(series, r))
			sb_steal_add(&sum, &series->record[r]
						    .worker[thief]
						    .steals[victim]);
	}
	return sum;
}

uint32_t sb_series_count(const struct sb_series *series,
			 enum sb_verdict verdict)
{
	uint32_t n = 0;

	for (uint32_t r = 0; r < series->records; r++)
		n += series->record[r].verdict == verdict;
	return n;
}

bool sb_series_pools(const struct sb_series *series, uint32_t row)
{
	return sb_record_has_numbers(&series->record[row]) &&
	       (!series->answer || row + 1 == series->answer_row);
}

uint32_t sb_series_measured(const struct sb_series *series)
{
	uint32_t n = 0;

	for (uint32_t r = 0; r < series->records; r++)
		n += sb_series_pools(series, r);
	return n;
}

static void add_pair(struct sb_distance_steals *sum,
		     const struct sb_steal_counts *cell, double repetitions)
{
	sum->pairs++;
	sum->attempts += (double)cell->attempts / repetitions;
	sum->successes += (double)cell->successes / repetitions;
	sum->items += (double)cell->items / repetitions;
}

uint32_t sb_series_distances(const struct sb_series *series,
			     struct sb_distance_steals out[SB_DISTANCES])
{
	const struct sb_placement *p = &series->placement;
	const uint32_t measured = sb_series_measured(series);
	uint32_t distances = 0;

	memset(out, 0, SB_DISTANCES * sizeof(*out));
	for (uint32_t i = 0; i < p->workers * p->workers && measured; i++) {
		const uint32_t thief = i / p->workers;
		const uint32_t victim = i % p->workers;
		const struct sb_steal_counts cell =
			sb_series_steals(series, thief, victim);

		if (thief != victim)
			add_pair(&out[sb_place_distance(&p->place[thief],
							&p->place[victim])],
				 &cell, measured);
	}
	for (int d = 0; d < SB_DISTANCES; d++)
		distances += out[d].pairs > 0;
	return distances;
}

struct sb_spread sb_series_spread(const struct sb_series *series,
				  enum sb_metric_id metric)
{
	double *values = calloc(series->records + 1, sizeof(*values));
	struct sb_spread spread;
	uint32_t n = 0;

	if (!values)
		return sb_spread_of(NULL, 0);
	for (uint32_t i = 0; i < series->records; i++) {
		const double v = series->record[i].value[metric];

		if (sb_series_pools(series, i) && !isnan(v))
			values[n++] = v;
	}
	spread = sb_spread_of(values, n);
	free(values);
	return spread;
}

/* ---- the whole ---- */

static void free_fact(struct sb_fact *fact)
{
	free(fact->group);
	free(fact->key);
	free(fact->value);
}

/* Where a fact belongs: in its own place, or behind the last of its group. */
static uint32_t find_fact(const struct sb_result *result, const char *group,
			  const char *key)
{
	uint32_t behind = result->facts;

	for (uint32_t i = 0; i < result->facts; i++) {
		if (strcmp(result->fact[i].group, group))
			continue;
		behind = i + 1;
		if (!strcmp(result->fact[i].key, key))
			return i;
	}
	return behind;
}

static bool is_fact(const struct sb_result *result, uint32_t i,
		    const char *group, const char *key)
{
	return i < result->facts && !strcmp(result->fact[i].group, group) &&
	       !strcmp(result->fact[i].key, key);
}

static int insert_fact(struct sb_result *result, uint32_t i,
		       const struct sb_fact *new)
{
	struct sb_fact *fact =
		reallocarray(result->fact, result->facts + 1, sizeof(*fact));

	if (!fact)
		return -ENOMEM;
	memmove(&fact[i + 1], &fact[i], (result->facts - i) * sizeof(*fact));
	fact[i] = *new;
	result->fact = fact;
	result->facts++;
	return 0;
}

int sb_result_add_fact(struct sb_result *result, const char *group,
		       const char *key, const char *value)
{
	struct sb_fact made = { sb_text_copy(group), sb_text_copy(key),
				sb_text_copy(value) };
	const uint32_t i = find_fact(result, group, key);
	int rc = -ENOMEM;

	if (made.group && made.key && made.value) {
		if (is_fact(result, i, group, key)) {
			free_fact(&result->fact[i]);
			result->fact[i] = made;
			return 0;
		}
		rc = insert_fact(result, i, &made);
	}
	if (rc)
		free_fact(&made);
	return rc;
}

const char *sb_result_fact(const struct sb_result *result, const char *group,
			   const char *key)
{
	for (uint32_t i = 0; i < result->facts; i++) {
		if (!strcmp(result->fact[i].group, group) &&
		    !strcmp(result->fact[i].key, key))
			return result->fact[i].value;
	}
	return "";
}

void sb_result_drop_fact(struct sb_result *result, const char *group,
			 const char *key)
{
	for (uint32_t i = 0; i < result->facts; i++) {
		struct sb_fact *fact = &result->fact[i];

		if (strcmp(fact->group, group) || strcmp(fact->key, key))
			continue;
		free_fact(fact);
		memmove(fact, fact + 1,
			(result->facts - i - 1) * sizeof(*fact));
		result->facts--;
		return;
	}
}

const char *sb_result_topology(const struct sb_result *result)
{
	for (uint32_t i = 0; i < result->all_series; i++) {
		if (result->series[i].emulated)
			return sb_series_topology(&result->series[i]);
	}
	return "native";
}

static int append_to_label(struct sb_series *series,
			   const struct sb_setting *setting)
{
	const char *before = series->label ? series->label : "";
	char *label;

	if (asprintf(&label, "%s%s%s=%s", before, *before ? " " : "",
		     setting->name, setting->text) < 0)
		return -ENOMEM;
	free(series->label);
	series->label = label;
	return 0;
}

static void free_setting(struct sb_setting *setting)
{
	free(setting->name);
	free(setting->text);
}

int sb_series_add_setting(struct sb_series *series,
			  const struct sb_setting *setting)
{
	struct sb_setting *all =
		realloc(series->setting,
			(series->settings + 1) * sizeof(*series->setting));
	struct sb_setting copy = *setting;

	if (!all)
		return -ENOMEM;
	series->setting = all;
	copy.name = sb_text_copy(setting->name);
	copy.text = sb_text_copy(setting->text);
	if (!copy.name || !copy.text || append_to_label(series, &copy)) {
		free_setting(&copy);
		return -ENOMEM;
	}
	series->setting[series->settings++] = copy;
	return 0;
}

const struct sb_setting *sb_series_setting(const struct sb_series *series,
					   const char *name)
{
	for (uint32_t i = 0; i < series->settings; i++) {
		if (!strcmp(series->setting[i].name, name))
			return &series->setting[i];
	}
	return NULL;
}

/* Whether it is a choice between the series of one workload. */
static bool tells_apart(const struct sb_result *result,
			const struct sb_series *series,
			const struct sb_setting *setting)
{
	for (uint32_t i = 0; i < result->all_series; i++) {
		const struct sb_series *other = &result->series[i];
		const struct sb_setting *its;

		if (other == series ||
		    strcmp(other->workload, series->workload))
			continue;
		its = sb_series_setting(other, setting->name);
		if (!its || strcmp(its->text, setting->text))
			return true;
	}
	return setting->swept;
}

bool sb_series_is_named_by(const struct sb_result *result,
			   const struct sb_series *series,
			   const struct sb_setting *setting)
{
	/* Their number is there in any case. */
	return strcmp(setting->name, "workers") != 0 &&
	       tells_apart(result, series, setting);
}

void sb_series_name(char out[SB_NAME_BYTES], const struct sb_result *result,
		    const struct sb_series *series)
{
	FILE *name = fmemopen(out, SB_NAME_BYTES, "w");

	*out = '\0';
	if (!name)
		return;
	fputs(series->workload, name);
	for (uint32_t i = 0; i < series->settings; i++) {
		const struct sb_setting *setting = &series->setting[i];

		if (sb_series_is_named_by(result, series, setting))
			fprintf(name, "/%s:%s", setting->name, setting->text);
	}
	fprintf(name, "/workers:%" PRIu32 "%s", series->placement.workers,
		series->emulated ? "/emulated" : "");
	fclose(name);
	out[SB_NAME_BYTES - 1] = '\0';
}

static void free_record(struct sb_record *record, uint32_t workers)
{
	for (uint32_t i = 0; record->worker && i < workers; i++)
		free(record->worker[i].steals);
	free(record->worker);
	free_hists(record);
	free_packed(record->packed);
	free(record->os);
	free(record->requests);
}

void sb_series_forget_rows(struct sb_series *series)
{
	for (uint32_t r = 0; r < series->records; r++) {
		struct sb_record *record = &series->record[r];

		free_record(record, series->placement.workers);
		*record = (struct sb_record){ .repetition = r };
		sb_record_invalidate(record, "not measured");
	}
}

void sb_traced_free(struct sb_traced *traced)
{
	if (!traced)
		return;
	for (uint32_t i = 0; traced->worker && i < traced->workers; i++) {
		free(traced->worker[i].event);
		free(traced->worker[i].reading.steals);
	}
	free(traced->worker);
	free(traced);
}

static void free_series(struct sb_series *series)
{
	for (uint32_t r = 0; r < series->records; r++)
		free_record(&series->record[r], series->placement.workers);
	for (uint32_t i = 0; i < series->settings; i++)
		free_setting(&series->setting[i]);
	sb_placement_free(&series->placement);
	free(series->record);
	free(series->residence);
	sb_traced_free(series->traced);
	free(series->setting);
	free(series->workload);
	free(series->operation);
	free(series->label);
	free(series->answer);
}

void sb_result_free(struct sb_result *result)
{
	for (uint32_t i = 0; i < result->all_series; i++)
		free_series(&result->series[i]);
	for (uint32_t i = 0; i < result->facts; i++)
		free_fact(&result->fact[i]);
	free(result->fact);
	free(result->series);
	free(result->directory);
}
