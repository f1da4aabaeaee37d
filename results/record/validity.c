#include "results/record/validity.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/record/number.h"
#include "results/record/record.h"
#include "results/record/series.h"
#include "results/stats/statistics.h"
#include "results/stats/unpaired.h"

/* ---- one row ---- */

const struct sb_rule sb_rules[] = {
	{ "no-operations", SB_RULE_MORE, SB_METRIC_operations, 0, 0, SB_METRIC_rounds, 0,
	  SB_METRICS, "no operation was measured" },
	{ "steal", SB_RULE_ALWAYS, SB_METRIC_host_steal_pct, 1, INFINITY, SB_METRIC_host_steal_ms,
	  30, SB_METRICS, "the hypervisor gave the CPUs to others" },
	{ "steal-heavy", SB_RULE_ALWAYS, SB_METRIC_host_steal_pct, 20, 20, SB_METRIC_host_steal_ms,
	  500, SB_METRICS, "the hypervisor gave the CPUs to others" },
	{ "quota", SB_RULE_ALWAYS, SB_METRIC_throttled_pct, 1, 20, SB_METRIC_throttled_ms, 10,
	  SB_METRICS, "a cgroup's CPU quota was used up" },
	{ "stopped", SB_RULE_ALWAYS, SB_METRIC_stopped_pct, 1, 10, SB_METRIC_stopped_ms, 5,
	  SB_METRIC_host_steal_pct,
	  "the process was stopped (SIGSTOP, a frozen cgroup, or a paused virtual machine)" },
	/* A wait for a CPU that goes on at the end is not counted: below 1 ms on a quiet machine, 20 ms or
	 * more on a busy one. */
	{ "off-cpu", SB_RULE_ALWAYS, SB_METRIC_off_cpu_pct, 1, INFINITY, SB_METRIC_off_cpu_ms, 1,
	  SB_METRIC_host_steal_pct,
	  "the workers were neither running, nor waiting for a CPU, nor parked" },
	{ "off-cpu-heavy", SB_RULE_ALWAYS, SB_METRIC_off_cpu_pct, 20, 20, SB_METRIC_wall_s, 0.4,
	  SB_METRIC_host_steal_pct,
	  "the workers were neither running, nor waiting for a CPU, nor parked" },
	{ "suspended", SB_RULE_ALWAYS, SB_METRIC_suspended_ms, 1, INFINITY, SB_METRIC_suspended_ms,
	  1, SB_METRICS, "the machine was suspended" },
	{ "involuntary", SB_RULE_ALONE, SB_METRIC_run_delay_other_pct, 2, INFINITY,
	  SB_METRIC_invol_ctxsw, 5, SB_METRIC_throttled_pct,
	  "other programs took the CPUs from the workers" },
	{ "own-threads", SB_RULE_UNSHARED, SB_METRIC_run_delay_own_pct, 5, INFINITY,
	  SB_METRIC_invol_ctxsw, 5, SB_METRICS,
	  "sched-bench's own threads took the CPUs from the workers" },
	{ "migrations", SB_RULE_ALONE, SB_METRIC_cpu_migrations, 0, INFINITY,
	  SB_METRIC_cpu_migrations, 1, SB_METRICS, "pinned workers were moved" },
	{ "major-faults", SB_RULE_ALWAYS, SB_METRIC_major_faults, 0, INFINITY,
	  SB_METRIC_major_faults, 1, SB_METRICS, "workers waited for pages from a disk" },
	{ "clock-step", SB_RULE_ALWAYS, SB_METRIC_clock_step_ms, 1, INFINITY,
	  SB_METRIC_clock_step_ms, 0, SB_METRIC_suspended_ms, "the wall clock was set" },
	{ "clock-slew", SB_RULE_ALWAYS, SB_METRIC_clock_slew_ppm, 1000, INFINITY, SB_METRIC_wall_s,
	  0.1, SB_METRICS, "the clock ran faster or slower than the hardware's" },
	{ "polling", SB_RULE_POLLS, SB_METRIC_syscalls, 0, INFINITY, SB_METRIC_syscalls, 1,
	  SB_METRICS, "polling workers made system calls" },
	{ "polling-faults", SB_RULE_POLLS, SB_METRIC_minor_faults, 0, INFINITY,
	  SB_METRIC_minor_faults, 1, SB_METRICS, "polling workers had page faults" },
	{ "polling-memory", SB_RULE_POLLS, SB_METRIC_arena_growth_bytes, 0, INFINITY,
	  SB_METRIC_arena_growth_bytes, 1, SB_METRICS,
	  "polling workers asked the system for memory" },
	{ NULL, SB_RULE_ALWAYS, 0, 0, 0, 0, 0, 0, NULL },
};

static bool rule_applies(const struct sb_rule *rule, const struct sb_conditions *conditions)
{
	switch (rule->applies) {
	case SB_RULE_ALONE:
		return conditions->alone;
	case SB_RULE_UNSHARED:
		return conditions->alone && !conditions->shares;
	case SB_RULE_POLLS:
		return conditions->polls;
	case SB_RULE_ALWAYS:
	case SB_RULE_MORE:
	default:
		return true;
	}
}

static double value_of(const struct sb_record *record, const struct sb_rule *rule)
{
	const double value = record->value[rule->metric];
	const double explained = rule->explained < SB_METRICS ? record->value[rule->explained] : 0;

	return explained > 0 ? value - explained : value;
}

/* NaN breaks no rule. */
static bool is_broken(const struct sb_rule *rule, double value, double limit)
{
	return rule->applies == SB_RULE_MORE ? value <= limit : value > limit;
}

static void judge_by(struct sb_record *record, const struct sb_rule *rule)
{
	const double value = value_of(record, rule);
	char reason[SB_REASON_BYTES];
	char is[SB_HUMAN_BYTES];
	char limit[SB_HUMAN_BYTES];
	const bool bad = is_broken(rule, value, rule->invalid);

	if (!is_broken(rule, value, rule->suspect) ||
	    !(record->value[rule->evidence] >= rule->least))
		return;
	sb_human(is, value, sb_metric[rule->metric].unit);
	sb_human(limit, bad ? rule->invalid : rule->suspect, sb_metric[rule->metric].unit);
	snprintf(reason, sizeof(reason), "%s: %s is %s, %s %s", rule->doc,
		 sb_metric[rule->metric].name, is,
		 rule->applies == SB_RULE_MORE ? "expected more than" : "more than", limit);
	if (bad)
		sb_record_invalidate(record, reason);
	else
		sb_record_suspect(record, "%s", reason);
}

void sb_judge_record(struct sb_record *record, const struct sb_conditions *conditions)
{
	if (conditions->is_emulated) {
		record->verdict = SB_ONLY_EMULATED;
		snprintf(record->reason, sizeof(record->reason),
			 "the workers of a profile share this machine's CPUs");
		return;
	}
	if (record->requests)
		sb_judge_requests(record, record->requests, conditions);
	for (const struct sb_rule *rule = sb_rules; rule->name; rule++) {
		if (rule_applies(rule, conditions))
			judge_by(record, rule);
	}
}

/* ---- the rows of a series ---- */

/* A first repetition is slow by Tukey's outer fence over the second half. */
#define WARM_FENCE 3.0
#define WARM_PART  0.05
#define WARM_LEAST 6

/* Values above that are not like the second half; n is its size. */
static double slow_limit(double *half, uint32_t n)
{
	double q1;
	double q3;
	double median;

	sb_sort(half, n);
	q1 = half[n / 4];
	q3 = half[n - 1 - n / 4];
	median = sb_median_of_sorted(half, n);
	return fmax(q3 + WARM_FENCE * (q3 - q1), median * (1 + WARM_PART));
}

/* The rows that came before the workers were warm: the first ones, up to the
 * first that is as the second half is. */
static void judge_warm_up(struct sb_series *series)
{
	uint32_t n;
	double *value = sb_series_values(series, SB_METRIC_ns_per_op, &n);
	const uint32_t half = n / 2;
	double limit;

	/* Each fork has judged its own. */
	if (n < WARM_LEAST || sb_series_forks(series) > 1) {
		free(value);
		return;
	}
	limit = slow_limit(value + half, n - half);
	for (uint32_t r = 0, seen = 0; r < series->records && seen < half; r++) {
		struct sb_record *record = &series->record[r];

		if (!sb_record_has_numbers(record))
			continue;
		seen++;
		if (!(record->value[SB_METRIC_ns_per_op] > limit))
			break;
		sb_record_suspect(record,
				  "slower than the later repetitions: the warm-up was too short");
	}
	free(value);
}

static bool is_in_state(const struct sb_record *record, double limit_ns, bool is_above)
{
	const double ns = record->value[SB_METRIC_line_transfer_ns];

	return is_above ? ns > limit_ns : ns <= limit_ns;
}

/* Over the forks on one side of a limit. */
static struct sb_spread spread_in(const struct sb_series *series, enum sb_metric_id metric,
				  double limit_ns, bool is_above)
{
	double *value = calloc(series->records, sizeof(*value));
	uint32_t *fork = calloc(series->records, sizeof(*fork));
	uint32_t n = value && fork ? series->records : 0;
	struct sb_spread spread;

	for (uint32_t r = 0; r < n; r++) {
		const struct sb_record *record = &series->record[r];

		value[r] = sb_series_pools(series, r) && is_in_state(record, limit_ns, is_above)
				   ? record->value[metric]
				   : (double)NAN;
		fork[r] = record->fork;
	}
	n = n ? sb_fork_medians(value, fork, n) : 0;
	spread = sb_spread_of(value, n);
	free(value);
	free(fork);
	return spread;
}

/* The changes from one side of the limit to the other. */
static void count_changes(struct sb_host_change *change, const struct sb_series *series,
			  double limit_ns, bool *starts_above)
{
	const struct sb_record *last = NULL;

	for (uint32_t r = 0; r < series->records; r++) {
		const struct sb_record *record = &series->record[r];

		if (!sb_series_pools(series, r) || isnan(record->value[SB_METRIC_line_transfer_ns]))
			continue;
		if (!last)
			*starts_above = is_in_state(record, limit_ns, true);
		else if (is_in_state(last, limit_ns, true) != is_in_state(record, limit_ns, true) &&
			 !change->changes++) {
			change->fork[0] = last->fork + 1;
			change->fork[1] = record->fork + 1;
		}
		last = record;
	}
}

#define HOST_PART  0.05
#define HOST_FORKS 2

/* Whether the one's forks are all below the other's: work that the host's state does not slow down has
 * one number, and one odd fork is in no state. */
static bool are_apart(const struct sb_spread *low, const struct sb_spread *high)
{
	return low->n >= HOST_FORKS && high->n >= HOST_FORKS && low->max < high->min &&
	       low->median * (1 + HOST_PART) < high->median;
}

struct sb_host_change sb_series_host_change(const struct sb_series *series,
					    enum sb_metric_id metric)
{
	const struct sb_spread all = sb_series_row_spread(series, SB_METRIC_line_transfer_ns);
	const double limit_ns = sqrt(all.min * all.max);
	struct sb_host_change change = { .changes = 0 };
	struct sb_spread of[2];
	bool is_above = false;

	if (!sb_series_passes_lines(series) || !(all.max > SB_HOST_STATES * all.min))
		return change;
	count_changes(&change, series, limit_ns, &is_above);
	for (int state = 0; state < 2; state++, is_above = !is_above) {
		of[state] = spread_in(series, metric, limit_ns, is_above);
		change.line_ns[state] =
			spread_in(series, SB_METRIC_line_transfer_ns, limit_ns, is_above).median;
		change.value[state] = of[state].median;
		change.forks[state] = of[state].n;
	}
	if (!are_apart(&of[0], &of[1]) && !are_apart(&of[1], &of[0]))
		change.changes = 0;
	return change;
}

void sb_host_change_describe(const struct sb_host_change *c, enum sb_metric_id metric,
			     char out[SB_REASON_BYTES])
{
	char times[40] = "";
	char line[2][SB_HUMAN_BYTES];
	char value[2][SB_HUMAN_BYTES];

	if (c->changes > 1)
		snprintf(times, sizeof(times), "%" PRIu32 " times, first ", c->changes);
	for (int state = 0; state < 2; state++) {
		sb_human(line[state], c->line_ns[state], "ns");
		sb_human(value[state], c->value[state], sb_metric[metric].unit);
	}
	snprintf(out, SB_REASON_BYTES,
		 "the host changed %sbetween fork %" PRIu32 " and %" PRIu32
		 " (cache line %s -> %s): %s is %s in %" PRIu32 " fork%s, %s in %" PRIu32,
		 times, c->fork[0], c->fork[1], line[0], line[1], sb_metric[metric].name, value[0],
		 c->forks[0], c->forks[0] == 1 ? "" : "s", value[1], c->forks[1]);
}

/* All rows count, and none stands for the series. */
static void judge_host(struct sb_series *series)
{
	const struct sb_host_change change = sb_series_host_change(series, SB_METRIC_ns_per_op);
	char why[SB_REASON_BYTES];

	if (!change.changes)
		return;
	sb_host_change_describe(&change, SB_METRIC_ns_per_op, why);
	for (uint32_t r = 0; r < series->records; r++)
		sb_record_suspect(&series->record[r], "%s", why);
}

/* A host that has changed explains why the times have another level. */
static bool has_host_changed(const struct sb_series *series)
{
	return sb_series_host_change(series, SB_METRIC_ns_per_op).changes > 0;
}

#define TREND_P	    0.01
#define TREND_PART  0.05
#define TREND_LEAST 8

/* What the rules look at in the order of time. */
static const char *unit_of(const struct sb_series *series)
{
	return sb_series_forks(series) > 1 ? "forks" : "repetitions";
}

static void suspect_all(struct sb_series *series, const struct sb_trend *trend, double part)
{
	for (uint32_t r = 0; r < series->records; r++)
		sb_record_suspect(&series->record[r],
				  "not stationary: ns_per_op drifts by %+.1f %% over the %s (p = "
				  "%.2g)",
				  100 * part, unit_of(series), trend->p);
}

static void judge_trend(struct sb_series *series)
{
	uint32_t n;
	double *value = sb_series_values(series, SB_METRIC_ns_per_op, &n);
	const struct sb_trend trend = sb_trend_of(value, n);
	double part;

	if (n >= TREND_LEAST && trend.p < TREND_P && !has_host_changed(series)) {
		sb_sort(value, n);
		part = trend.drift / sb_median_of_sorted(value, n);
		if (fabs(part) > TREND_PART)
			suspect_all(series, &trend, part);
	}
	free(value);
}

#define STEP_P	   0.05
#define STEP_PART  0.05
#define STEP_LEAST 8

static double median_of(double *value, uint32_t n)
{
	sb_sort(value, n);
	return sb_median_of_sorted(value, n);
}

static void judge_step(struct sb_series *series)
{
	uint32_t n;
	double *value = sb_series_values(series, SB_METRIC_ns_per_op, &n);
	struct sb_step_change step = { .p = 1 };
	double part = 0;

	if (n >= STEP_LEAST && !has_host_changed(series))
		step = sb_step_of(value, n);
	if (step.p < STEP_P)
		part = median_of(value + step.before, n - step.before) /
			       median_of(value, step.before) -
		       1;
	for (uint32_t r = 0; r < series->records && fabs(part) > STEP_PART; r++)
		sb_record_suspect(&series->record[r],
				  "not stationary: ns_per_op changes by %+.1f %% after %" PRIu32
				  " %s (p = %.2g)",
				  100 * part, step.before, unit_of(series), step.p);
	free(value);
}

#define MEMORY_LEAST 6
#define MEMORY_PART  0.25
#define MEMORY_P     0.01
#define MEMORY_HARM  0.03

/* The service time of requests, as the time between two of them is the schedule's; else the time per
 * operation. NaN: the row has no numbers, or no reading of the memory. */
static double own_time(const struct sb_record *record)
{
	const double service_ns = record->value[SB_METRIC_service_ns_mean];

	if (!sb_record_has_numbers(record) || isnan(record->value[SB_METRIC_memory_line_ns]))
		return NAN;
	return isnan(service_ns) ? record->value[SB_METRIC_ns_per_op] : service_ns;
}

/* The reading of the memory up to which a row counts as undisturbed. value: room for all rows. */
static double memory_bound(const struct sb_series *series, double *value)
{
	uint32_t n = 0;

	for (uint32_t r = 0; r < series->records; r++) {
		if (!isnan(own_time(&series->record[r])))
			value[n++] = series->record[r].value[SB_METRIC_memory_line_ns];
	}
	sb_sort(value, n);
	return n < MEMORY_LEAST ? INFINITY : value[n / 4] * (1 + MEMORY_PART);
}

/* The own times of the rows whose reading is above the bound, or not above it; how many there are. */
static uint32_t times_beside(const struct sb_series *series, double bound, bool is_above,
			     double *value)
{
	uint32_t n = 0;

	for (uint32_t r = 0; r < series->records; r++) {
		const struct sb_record *record = &series->record[r];

		if (!isnan(own_time(record)) &&
		    (record->value[SB_METRIC_memory_line_ns] > bound) == is_above)
			value[n++] = own_time(record);
	}
	return n;
}

/* A neighbour that takes cache or bandwidth harms some workloads and others not; and readings
 * differ without a neighbour. So repetitions beside slow readings must be slower as a group, too. */
static void judge_memory(struct sb_series *series)
{
	double *calm = calloc(series->records, sizeof(*calm));
	double *beside = calloc(series->records, sizeof(*beside));
	double bound = INFINITY;
	uint32_t n_calm = 0;
	uint32_t n = 0;
	struct sb_unpaired u;

	if (calm && beside) {
		bound = memory_bound(series, calm);
		n_calm = times_beside(series, bound, false, calm);
		n = times_beside(series, bound, true, beside);
	}
	if (n && !sb_unpaired_compare(&u, calm, n_calm, beside, n, 0.05) && u.p_above < MEMORY_P) {
		for (uint32_t r = 0; r < series->records; r++) {
			struct sb_record *record = &series->record[r];

			if (record->value[SB_METRIC_memory_line_ns] > bound &&
			    own_time(record) > u.a * (1 + MEMORY_HARM))
				sb_record_suspect(
					record,
					"memory was slower than in other repetitions, and so was "
					"the work: memory_line_ns is %.3g",
					record->value[SB_METRIC_memory_line_ns]);
		}
	}
	free(calm);
	free(beside);
}

const struct sb_series_rule sb_series_rules[] = {
	{ "warm-up",
	  "of 6 repetitions of a fork or more: 5 % and 3 quartile distances above the second "
	  "half's third "
	  "quartile",
	  "the first repetitions are slower than the later ones; each of them is suspect",
	  judge_warm_up },
	{ "host",
	  "of 4 forks or more: a factor of 2 between the readings of line_transfer_ns, and the "
	  "forks "
	  "of one group are all faster than the 2 or more of the other, by 5 % in the median",
	  "the hypervisor has moved a CPU: workers are further apart in some of the forks; all of "
	  "them are suspect, and trend and step do not apply",
	  judge_host },
	{ "trend",
	  "of 8 forks, or repetitions of one, or more: 5 % from first to last, and p < 0.01",
	  "time per operation rises or falls over them (Mann and Kendall's test, Sen's "
	  "slope); all of them are suspect",
	  judge_trend },
	{ "step",
	  "of 8 forks, or repetitions of one, or more: 5 % between the medians before and after, "
	  "and "
	  "p < 0.05",
	  "time per operation has another level from some of them on (ranks, the split that "
	  "differs most, random orders); all of them are suspect",
	  judge_step },
	{ "memory",
	  "of 6 repetitions or more: memory_line_ns 25 % above the lower quartile, and the time "
	  "per "
	  "operation (of requests: service_ns_mean) 3 % above the median of those that are not, if "
	  "those that are are slower as a group (p < 0.01)",
	  "other programs or guests take cache or bandwidth of the memory, and the repetition is "
	  "slower",
	  judge_memory },
	{ "mean", "in virtual time, of 3 repetitions or more: 5 % to either side",
	  "the 95 % interval of the mean sojourn time is wider; all of them are suspect",
	  sb_judge_mean },
	{ NULL, NULL, NULL, NULL },
};

void sb_judge_series(struct sb_series *series)
{
	for (const struct sb_series_rule *rule = sb_series_rules; rule->name; rule++)
		rule->judge(series);
}
