#include "results/ledger/spin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/record/series.h"

const double sb_spin_price[SB_SPIN_PRICES] = { 0.1, 1, 10 };

static const enum sb_hist_id gaps[] = { SB_HIST_gap_inject, SB_HIST_gap_global, SB_HIST_gap_steal,
					SB_HIST_gap_timer, SB_HIST_gap_refused };
static const enum sb_hist_id spins[] = { SB_HIST_spins_inject, SB_HIST_spins_global,
					 SB_HIST_spins_steal, SB_HIST_spins_timer,
					 SB_HIST_spins_blocked };

/* Of all repetitions that count. */
struct sums {
	uint64_t counter[SB_COUNTERS];
	double operations;
	double cpu_ns;	      /* of the process */
	double thread_cpu_ns; /* of the workers; NaN: not known */
	double on_cpu;	      /* part of the time of searches in which the worker had its CPU */
	struct sb_hist_counts gap;
	struct sb_hist_counts wake;
	struct sb_hist_counts spins;
	double tight, yield; /* the options */
	double searchers;    /* most that may search; 0: half of the awake */
	uint32_t workers;
	uint32_t rows;
	double arrivals; /* at a worker by a schedule, in the time of a wake; 0: not known */
	double refused;	 /* part of the idle episodes that parked at once, as measured */
	double parked;	 /* part of the idle episodes that parked, as measured */
	double time_ns;	 /* of all workers together */
	double busy;	 /* part of it */
	double same; /* that two idle episodes are of one worker: 1 / workers, if all are alike */
	double look_ns;		      /* of a spin */
	double yield_ns;	      /* of one that gives the thread away; NaN: there was none */
	double least[SB_SPIN_PRICES]; /* cost of an operation, if the future is known */
};

static double middle(uint32_t bucket)
{
	return (double)sb_hist_bucket_low(bucket) +
	       0.5 * (double)(sb_hist_bucket_width(bucket) - 1);
}

/* ---- from the series ---- */

/* other: room for one. */
static void merge(struct sb_hist_counts *into, const struct sb_series *series,
		  const enum sb_hist_id *id, size_t n, struct sb_hist_counts *other)
{
	for (size_t i = 0; i < n; i++) {
		sb_series_hist(series, id[i], other);
		sb_hist_merge(into, other);
	}
}

/* Adds how likely two idle episodes are to be of one worker, times the repetition's episodes. */
static void add_same(struct sums *s, const struct sb_record *record, uint32_t workers)
{
	double squares = 0;
	double all = 0;

	for (uint32_t w = 0; w < workers; w++) {
		const double n = (double)record->worker[w].counter[SB_COUNTER_idle_episodes];

		squares += n * n;
		all += n;
	}
	s->same += all > 0 ? squares / all : 0;
}

static void add_records(struct sums *s, const struct sb_series *series)
{
	for (uint32_t r = 0; r < series->records; r++) {
		const struct sb_record *record = &series->record[r];

		if (!sb_series_pools(series, r))
			continue;
		s->operations += record->value[SB_METRIC_operations];
		s->cpu_ns += 1e9 * record->value[SB_METRIC_cpu_s];
		s->thread_cpu_ns += 1e6 * record->value[SB_METRIC_thread_cpu_ms];
		s->rows++;
		add_same(s, record, series->placement.workers);
		for (uint32_t w = 0; w < series->placement.workers; w++) {
			for (int c = 0; c < SB_COUNTERS; c++)
				s->counter[c] += record->worker[w].counter[c];
		}
	}
}

static double option(const struct sb_series *series, const struct sb_result *result,
		     const char *name)
{
	return strtod(sb_series_option(series, result, name), NULL);
}

static double searched_ns(const struct sums *s)
{
	return (double)(s->counter[SB_COUNTER_spin_ns] + s->counter[SB_COUNTER_steal_failed_ns]);
}

/* Each beginning is a look, too. */
static void time_spins(struct sums *s)
{
	const double asides = (double)s->counter[SB_COUNTER_asides];
	const double episodes = (double)s->counter[SB_COUNTER_idle_episodes];
	double looks = episodes;
	double yields = 0;

	for (uint32_t b = 0; b < SB_HIST_BUCKETS; b++) {
		const double n = (double)s->spins.bucket[b];

		looks += n * fmin(middle(b), s->tight);
		yields += n * fmax(0, middle(b) - s->tight);
	}
	s->yield_ns = asides > 0 ? (double)s->counter[SB_COUNTER_aside_ns] / asides : (double)NAN;
	s->look_ns = (searched_ns(s) - (yields > 0 ? yields * s->yield_ns : 0)) / looks;
}

static void add_options(struct sums *s, const struct sb_series *series,
			const struct sb_result *result)
{
	const char *searchers = sb_series_option(series, result, "searchers");

	s->tight = option(series, result, "spin-tight");
	s->yield = option(series, result, "spin-yield");
	s->searchers = !strcmp(searchers, "all") ? INFINITY : strtod(searchers, NULL);
	s->workers = series->placement.workers;
}

static void add_times(struct sums *s)
{
	const uint64_t *c = s->counter;

	s->busy = (double)(c[SB_COUNTER_busy_ns] + c[SB_COUNTER_steal_ns]);
	s->on_cpu =
		s->thread_cpu_ns > 0 ? fmin(1, s->thread_cpu_ns / (s->busy + searched_ns(s))) : 1;
	s->time_ns = s->busy + searched_ns(s) + (double)c[SB_COUNTER_blocked_ns];
	s->busy /= s->time_ns;
	s->same /= (double)c[SB_COUNTER_idle_episodes];
	time_spins(s);
}

/* The kernel's account of a thread that runs may be a tick late. */
#define TICK_NS	     4e6
#define ON_CPU_LEAST 0.9

const char sb_spin_preempted[] = "other threads had the workers' CPUs for part of the time";

static bool is_preempted(const struct sums *s)
{
	const double awake_ns = s->busy * s->time_ns + searched_ns(s);

	return s->on_cpu < ON_CPU_LEAST &&
	       awake_ns - s->thread_cpu_ns > TICK_NS * s->workers * s->rows;
}

/* What another threshold changes of the number of idle episodes is by these. */
static void add_arrivals(struct sums *s, const struct sb_series *series)
{
	const double offered = sb_series_spread(series, SB_METRIC_offered_per_s).median;
	const double parks = (double)s->counter[SB_COUNTER_blocks];
	const double vain = (double)s->counter[SB_COUNTER_spurious_wakes];

	if (offered > 0)
		s->arrivals = offered / 1e9 / s->workers * sb_hist_mean(&s->wake);
	s->parked = fmin(1, fmax(0, parks - vain) / (double)s->gap.count);
}

static const char *collect(struct sums *s, const struct sb_series *series,
			   const struct sb_result *result, struct sb_hist_counts *other)
{
	static const enum sb_hist_id wake[] = { SB_HIST_wake_to_running };

	merge(&s->gap, series, gaps, SB_ARRAY_SIZE(gaps), other);
	sb_series_hist(series, SB_HIST_gap_refused, other);
	s->refused = s->gap.count ? (double)other->count / (double)s->gap.count : 0;
	merge(&s->wake, series, wake, SB_ARRAY_SIZE(wake), other);
	merge(&s->spins, series, spins, SB_ARRAY_SIZE(spins), other);
	add_records(s, series);
	add_options(s, series, result);
	add_times(s);
	if (!s->gap.count)
		return "no time without work was recorded";
	if (is_preempted(s))
		return sb_spin_preempted;
	add_arrivals(s, series);
	if (!s->wake.count || !s->counter[SB_COUNTER_timed_sleeps] ||
	    !s->counter[SB_COUNTER_timed_calls])
		return "workers parked so seldom that no sleep was timed";
	return NULL;
}

/* ---- the points ---- */

static double threshold_of(const struct sums *s, double count)
{
	const double yields = fmax(0, count - s->tight);

	return (count - yields) * s->look_ns + (yields > 0 ? yields * s->yield_ns : 0);
}

static double spins_of(const struct sums *s, double ns)
{
	const double tight_ns = s->tight * s->look_ns;

	return ns <= tight_ns ? ns / s->look_ns : s->tight + (ns - tight_ns) / s->yield_ns;
}

/* parked: of idle episodes. */
static void set_latency(struct sb_spin_point *point, const struct sums *s, double parked)
{
	point->latency_ns_mean = point->parks * sb_hist_mean(&s->wake);
	point->latency_ns_p99 =
		parked > 0.01 ? (double)sb_hist_quantile(&s->wake, 1 - 0.01 / parked) : 0;
}

/* If each gap were known when it begins. */
static void set_least(struct sums *s, const struct sb_spin_ledger *ledger)
{
	for (int price = 0; price < SB_SPIN_PRICES; price++) {
		const double park = ledger->wake_cpu_ns + sb_spin_price[price] * ledger->wake_ns;
		double all = 0;

		for (uint32_t b = 0; b < SB_HIST_BUCKETS; b++)
			all += fmin(middle(b), park) * (double)s->gap.bucket[b];
		s->least[price] = all / s->operations;
	}
}

static void set_regrets(struct sb_spin_point *point, const struct sums *s)
{
	for (int price = 0; price < SB_SPIN_PRICES; price++) {
		const double cost = point->cpu_ns + sb_spin_price[price] * point->latency_ns_mean;

		point->regret[price] =
			s->least[price] > 0 ? cost / s->least[price] - 1 : (double)NAN;
	}
}

/* ---- those that may not search ---- */

/* Below it the distribution is summed up, above it is nearly normal. */
#define FEW 16

/* That others who count two with the one probability, and one with the other, count at least so much. */
static double chance_of(uint32_t others, double two, double one, uint32_t least)
{
	double at[2 * FEW + 1] = { 1 };
	double all = 0;

	if (others > FEW) {
		const double mean = 2 * two + one;
		const double variance = 4 * two + one - mean * mean;

		return 0.5 * erfc((least - 0.5 - others * mean) / sqrt(2 * others * variance));
	}
	for (uint32_t i = 1; i <= others; i++) {
		for (int64_t n = 2 * i; n >= 0; n--)
			at[n] = at[n] * (1 - two - one) + (n > 0 ? at[n - 1] * one : 0) +
				(n > 1 ? at[n - 2] * two : 0);
	}
	for (uint32_t n = least; n <= 2 * others; n++)
		all += at[n];
	return all;
}

/*
 * The part of idle episodes in which a worker may not search, because enough others do: it parks at
 * once. spun: the part of all time that would be spun if none were refused. Episodes are as much
 * one worker's as they were, and workers else independent of each other. core/wake/idle.c has the
 * bound.
 */
static double refused(const struct sums *s, double spun)
{
	const uint32_t others = s->workers - 1;
	double part = 0;

	if (!others || s->searchers > others)
		return 0;
	spun *= (1 - s->same) * s->workers / others;
	for (int i = 0; i < 30; i++) {
		const double searching = fmin((1 - part) * spun, 1 - s->busy);
		const double sleeping = 1 - s->busy - searching;
		const double chance =
			s->searchers > 0 ? chance_of(others, 0, searching, (uint32_t)s->searchers)
					 : chance_of(others, searching, sleeping, s->workers);

		part += (chance - part) / 2;
	}
	return part;
}

/* As many as were, where workers would spin for as long as they did, --spin-time included: that they
 * run out of work together, as at the end of a round, is in no independence. */
static double at_least_refused(const struct sums *s, double ns, double spun)
{
	const bool as_long = ns >= threshold_of(s, s->tight + s->yield) &&
			     (1 - s->refused) * spun >= 0.9 * searched_ns(s);

	return as_long ? s->refused : 0;
}

/*
 * How many idle episodes there are if that part of them parks, of one as measured. Requests that
 * come by a schedule come during wakes, too, and so lengthen the time with work that follows, by
 * 1 + arrivals during a wake (queues with set-up times; Welch, Operations Research 12, 1964).
 */
static double scale_of(const struct sums *s, double parked)
{
	return (1 + s->arrivals * s->parked) / (1 + s->arrivals * parked);
}

static void set_point(struct sb_spin_point *point, double ns, const struct sb_spin_ledger *ledger,
		      const struct sums *s)
{
	double spun = 0;
	double parked = 0;
	double part;
	double scale;

	for (uint32_t b = 0; b < SB_HIST_BUCKETS; b++) {
		const double n = (double)s->gap.bucket[b];

		if (!s->gap.bucket[b])
			continue;
		spun += n * fmin(middle(b), ns);
		parked += middle(b) > ns ? n : 0;
	}
	part = fmax(refused(s, spun / s->time_ns), at_least_refused(s, ns, spun));
	spun *= 1 - part;
	parked += part * ((double)s->gap.count - parked);
	scale = scale_of(s, parked / (double)s->gap.count) / s->operations;
	point->threshold_ns = ns;
	point->spins = spins_of(s, ns);
	point->parks = parked * scale;
	point->cpu_ns = spun * s->on_cpu * scale + point->parks * ledger->wake_cpu_ns;
	point->total_cpu_ns = s->cpu_ns / s->operations - ledger->now.cpu_ns + point->cpu_ns;
	set_latency(point, s, parked / (double)s->gap.count);
	set_regrets(point, s);
}

/* As it was, with what --spin-time, --searchers and the work made of the thresholds. */
static void set_now(struct sb_spin_ledger *ledger, const struct sums *s)
{
	const double parks = (double)s->counter[SB_COUNTER_blocks];
	struct sb_spin_point *now = &ledger->now;

	now->spins = s->tight + s->yield;
	now->threshold_ns = threshold_of(s, now->spins);
	now->parks = parks / s->operations;
	now->cpu_ns = (searched_ns(s) * s->on_cpu + parks * ledger->wake_cpu_ns) / s->operations;
	now->total_cpu_ns = s->cpu_ns / s->operations;
	set_latency(now, s, fmin(1, parks / (double)s->gap.count));
	set_regrets(now, s);
}

static double grid(uint32_t i)
{
	return i ? 100 * pow(10, (i - 1) / 20.0) : 0;
}

/* False: spinning and waking have cost more than the process has used, so that others had the CPUs. */
static bool fill(struct sb_spin_ledger *ledger, struct sums *s)
{
	const uint64_t *counter = s->counter;

	ledger->wake_ns = sb_hist_mean(&s->wake);
	ledger->wake_cpu_ns =
		(double)counter[SB_COUNTER_sleep_cpu_ns] /
			(double)counter[SB_COUNTER_timed_sleeps] +
		(double)counter[SB_COUNTER_call_ns] / (double)counter[SB_COUNTER_timed_calls];
	set_least(s, ledger);
	set_now(ledger, s);
	if (ledger->now.cpu_ns > ledger->now.total_cpu_ns)
		return false;
	for (uint32_t i = 0; i < SB_SPIN_POINTS; i++) {
		set_point(&ledger->point[i], grid(i), ledger, s);
		for (int price = 0; price < SB_SPIN_PRICES; price++) {
			if (ledger->point[i].regret[price] <
			    ledger->point[ledger->best[price]].regret[price])
				ledger->best[price] = i;
		}
	}
	return true;
}

struct sb_spin_ledger *sb_spin_ledger_make(const struct sb_series *series,
					   const struct sb_result *result, const char **why)
{
	struct sb_spin_ledger *ledger = calloc(1, sizeof(*ledger));
	struct sb_hist_counts *other = calloc(1, sizeof(*other));
	struct sums *s = calloc(1, sizeof(*s));

	*why = "no memory";
	if (ledger && other && s)
		*why = collect(s, series, result, other);
	if (!*why && !fill(ledger, s))
		*why = sb_spin_preempted;
	if (*why) {
		free(ledger);
		ledger = NULL;
	}
	free(other);
	free(s);
	return ledger;
}

bool sb_result_has_spin_ledger(const struct sb_result *result)
{
	bool has = false;

	for (uint32_t i = 0; i < result->all_series && !has; i++) {
		const char *why;
		struct sb_spin_ledger *ledger =
			sb_spin_ledger_make(&result->series[i], result, &why);

		has = ledger;
		free(ledger);
	}
	return has;
}
