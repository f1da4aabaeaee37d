/*
 * rounds.c - the rounds of a repetition: each runs a workload once, with a reading of
 * everything before and after it; and the warm-up before the first repetition.
 */
#include "harness/run/rounds.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/platform/platform.h"
#include "harness/kernel/osview.h"
#include "harness/kernel/stops.h"
#include "harness/run/config.h"
#include "harness/run/measure.h"
#include "harness/run/slo.h"
#include "harness/run/tracing.h"
#include "harness/system/crash.h"
#include "harness/terminal/interrupts.h"
#include "harness/terminal/status.h"
#include "harness/within/glances.h"

void sb_phase_begins(const struct sb_measurement *m, enum sb_phase phase, uint32_t repetition)
{
	if (m->watch)
		m->watch->begin(m->watch->arg, m->series, phase, repetition);
}

void sb_phase_ends(const struct sb_measurement *m, enum sb_phase phase, uint32_t repetition)
{
	if (m->watch)
		m->watch->end(m->watch->arg, m->series, phase, repetition);
}

void sb_readings_free(struct sb_worker_reading *r, uint32_t n)
{
	for (uint32_t i = 0; r && i < n; i++)
		free(r[i].steals);
	free(r);
}

struct sb_worker_reading *sb_readings_make(uint32_t n, uint32_t workers)
{
	struct sb_worker_reading *r = calloc(n, sizeof(*r));

	for (uint32_t i = 0; r && i < n; i++) {
		r[i].steals = calloc(workers, sizeof(*r[i].steals));
		if (!r[i].steals) {
			sb_readings_free(r, i);
			return NULL;
		}
	}
	return r;
}

int *sb_worker_thread_ids(const struct sb_measurement *m)
{
	int *thread_id = calloc(m->workers, sizeof(*thread_id));

	for (uint32_t i = 0; thread_id && i < m->workers; i++)
		thread_id[i] = sb_scheduler_thread_id(m->run.scheduler, i);
	return thread_id;
}

void sb_readings_take(struct sb_measurement *m, struct sb_worker_reading *worker)
{
	for (uint32_t i = 0; i < m->workers; i++)
		sb_scheduler_read(m->run.scheduler, i, &worker[i]);
	for (int h = 0; h < SB_HISTS; h++)
		sb_scheduler_read_hist(m->run.scheduler, h, &m->hist[h]);
}

void sb_repetition_begin(struct sb_measurement *m)
{
	struct sb_memory memory;

	sb_scheduler_forget_maxima(m->run.scheduler);
	sb_readings_take(m, m->record->worker);
	/* This one is the harness's own, so it can be emptied. */
	*m->run.wakes = (struct sb_wake_times){ 0 };
	sb_scheduler_read_memory(m->run.scheduler, &memory);
	m->mapped_before = memory.mapped_bytes;
	sb_osview_begin(m->os);
	sb_exemplars_begin(m);
}

/* The row of the steal matrix that is left over is the next one's. */
static void subtract_worker(struct sb_measurement *m, uint32_t i, struct sb_worker_reading *start)
{
	const struct sb_worker_reading before = *start;

	sb_scheduler_read(m->run.scheduler, i, m->now);
	sb_reading_subtract(m->now, start, m->workers);
	*start = *m->now;
	*m->now = before;
}

void sb_readings_subtract(struct sb_measurement *m, struct sb_record *record)
{
	for (uint32_t i = 0; i < m->workers; i++)
		subtract_worker(m, i, &record->worker[i]);
	for (int h = 0; h < SB_HISTS; h++) {
		sb_scheduler_read_hist(m->run.scheduler, h, &record->hist[h]);
		sb_hist_subtract(&record->hist[h], &m->hist[h]);
	}
}

void sb_measurement_read_memory(struct sb_measurement *m, struct sb_series *series)
{
	if (series->residence)
		return;
	series->residence = calloc(m->workers, sizeof(*series->residence));
	for (uint32_t i = 0; series->residence && i < m->workers; i++)
		sb_scheduler_locate(m->run.scheduler, i, &series->residence[i]);
	sb_scheduler_read_memory(m->run.scheduler, &series->memory);
}

bool sb_measurement_ground_holds(struct sb_measurement *m)
{
	if (sb_ground_holds(m->ground, m->run.scheduler))
		return true;
	snprintf(m->why, sizeof(m->why), "%s", m->ground->lost);
	return false;
}

static bool interrupted(struct sb_measurement *m)
{
	if (!sb_load_rlx(&sb_interrupted))
		return false;
	snprintf(m->why, sizeof(m->why), "interrupted");
	return true;
}

void sb_measurement_fail(struct sb_measurement *m, const char *what, int rc)
{
	char limits[120] = "";

	if (rc == -EAGAIN)
		snprintf(limits, sizeof(limits),
			 " (--max-processes %s, or a limit of threads or address space)",
			 m->options->value[SB_OPT_max_processes].text);
	snprintf(m->why, sizeof(m->why), "%s: %s%s", what, strerror(-rc), limits);
	m->met_limit = rc == -EAGAIN || rc == -ENOMEM;
}

/* Those that wait for a process that ended early may wait for ever. */
static bool sb_measurement_ran_short(struct sb_measurement *m)
{
	const int rc = sb_scheduler_take_shortage(m->run.scheduler);

	if (rc)
		sb_measurement_fail(m, "a process failed", rc);
	return rc;
}

/* Whether there is more to wait for. */
static bool wait_slice(struct sb_measurement *m)
{
	const uint64_t start = sb_clock_ns();
	const int rc = sb_scheduler_wait_idle(m->run.scheduler, SLICE_NS);

	sb_stops_waited(&m->stops, sb_clock_ns() - start, SLICE_NS);
	return rc;
}

static bool wait_idle(struct sb_measurement *m)
{
	const uint64_t start = sb_clock_ns();
	/* A round that takes requests lasts as long as it is to. */
	const uint64_t timeout = sb_opt(m->options, SB_OPT_timeout) +
				 (m->run.workload->takes_requests ? m->run.duration_ns : 0);

	while (wait_slice(m)) {
		if (interrupted(m) || sb_measurement_ran_short(m))
			return false;
		if (sb_clock_ns() - start < timeout)
			continue;
		snprintf(m->why, sizeof(m->why), "a round did not end within %s",
			 m->options->value[SB_OPT_timeout].text);
		return false;
	}
	return true;
}

static void add_round(struct sb_measured *sum, const struct sb_round *round, uint64_t wall_ns)
{
	const uint64_t whole_ns = round->wall_ns ? round->wall_ns : wall_ns;

	sum->wall_ns += whole_ns;
	/* Who submits may learn of it when all has been done. */
	sum->submit_ns += sb_min_u64(round->submit_ns, whole_ns);
	sum->part_cpu_ns += round->cpu_ns;
	sum->bytes_per_process += round->bytes_per_process;
}

/*
 * Polling workers need the kernel for nothing, but for the last round's
 * remains, in the middle of this one. That is waited for in between, and what
 * it costs is no part of the measurement.
 */
static void settle(struct sb_measurement *m, struct sb_measured *sum)
{
	const uint64_t start = sb_clock_ns();
	const uint64_t cpu = sb_clock_process_cpu_ns();

	if (!m->conditions.polls)
		return;
	(void)sb_scheduler_settle(m->run.scheduler);
	sum->settle_cpu_ns += sb_clock_process_cpu_ns() - cpu;
	sum->settle_ns += sb_clock_ns() - start;
}

/*
 * Waits for the relaxation time of the queue, which is empty at first. The repetition starts after that:
 * the time and the CPU time of the wait are subtracted, and all readings are taken again.
 */
static bool relax(struct sb_measurement *m, struct sb_measured *sum, uint64_t start, uint64_t cpu)
{
	uint64_t now;
	int rc = 0;

	if (!m->run.relax_ns)
		return true;
	while (!interrupted(m) && (now = sb_clock_ns()) < m->run.round.start_ns)
		sb_thread_sleep(sb_min_u64(m->run.round.start_ns - now, SLICE_NS));
	if (m->record) {
		(void)sb_glances_stop(m->glances);
		sb_repetition_begin(m);
		rc = sb_glances_start(m->glances, m->record->worker, m->hist);
	}
	sum->settle_cpu_ns += sb_clock_process_cpu_ns() - cpu;
	sum->settle_ns += sb_clock_ns() - start;
	if (rc)
		sb_measurement_fail(m, "no time series", rc);
	return !rc && !interrupted(m);
}

void sb_measurement_stop(struct sb_measurement *m)
{
	sb_crash_limit(m->run.workload->name, "a step does not return, so the run cannot go on",
		       sb_opt(m->options, SB_OPT_timeout));
	sb_scheduler_stop(m->run.scheduler, SLICE_NS);
	sb_crash_limit(NULL, NULL, 0);
}

/* After the check, which computes them. */
static void add_own_metrics(struct sb_measurement *m)
{
	const struct sb_workload_metric *metric = m->run.workload->metrics;

	for (uint32_t i = 0; metric && metric[i].name; i++)
		m->own[i] += m->run.round.own[i];
}

bool sb_round_run(struct sb_measurement *m, struct sb_measured *sum)
{
	const struct sb_workload *workload = m->run.workload;
	uint64_t start;
	uint64_t cpu;
	uint64_t end;
	char why[120] = "";
	bool ended;
	int rc;

	settle(m, sum);
	cpu = sb_clock_process_cpu_ns();
	start = sb_clock_ns();
	m->run.round = (struct sb_round){ 0 };
	(void)sb_scheduler_take_shortage(m->run.scheduler);
	rc = workload->start(&m->run);
	/* Those that did start may wait for others for ever; stop ends them. */
	if (rc) {
		sb_measurement_fail(m, "it could not start", rc);
		return false;
	}
	if (sb_opt(m->options, SB_OPT_virtual))
		sb_crash_limit(workload->name,
			       "a round in virtual time did not end within --timeout",
			       sb_opt(m->options, SB_OPT_timeout));
	ended = relax(m, sum, start, cpu);
	sb_glances_round(m->glances, true);
	ended = ended && wait_idle(m);
	sb_crash_limit(NULL, NULL, 0);
	if (!ended)
		return false;
	sb_glances_round(m->glances, false);
	if (m->run.round.start_ns)
		start = m->run.round.start_ns;
	end = sb_scheduler_idle_since_ns(m->run.scheduler);
	if (m->os)
		sb_osview_window(m->os, start, end);
	add_round(sum, &m->run.round, end - start);
	sum->operations += workload->operations(&m->run);
	sum->rounds++;
	if (workload->check(&m->run, why, sizeof(why))) {
		add_own_metrics(m);
		return true;
	}
	if (!sb_measurement_ran_short(m))
		snprintf(m->why, sizeof(m->why), "wrong answer: %s", why);
	return false;
}

void sb_measurement_clear_requests(struct sb_measurement *m)
{
	struct sb_hist_counts *hist = m->requests.hist;

	m->requests = (struct sb_requests){ .hist = hist };
	memset(hist, 0, SB_REQUEST_HISTS * sizeof(*hist));
}

bool sb_rounds_run(struct sb_measurement *m, uint64_t duration_ns)
{
	struct sb_measured *sum = &m->measured;
	const uint64_t start = sb_clock_ns();
	const uint64_t cpu = sb_clock_process_cpu_ns();
	bool ok;

	*sum = (struct sb_measured){ .capacity_per_s = m->capacity_per_s };
	memset(m->own, 0, sizeof(m->own));
	sb_measurement_clear_requests(m);
	sb_stops_begin(&m->stops);
	if (m->run.workload->takes_requests)
		sum->requests = &m->requests;
	m->run.duration_ns = duration_ns;
	m->run.relax_ns = m->record ? m->steady.relax_ns : 0;
	m->requests.relaxation_ns = (uint64_t)m->steady.relaxation_ns;
	/* Each time other requests, but the same in each run. */
	m->load.seed += SB_GENERATORS_MAX;
	do {
		ok = !interrupted(m) && sb_round_run(m, sum);
	} while (ok && sb_clock_ns() - start < duration_ns);
	sum->elapsed_ns = sb_clock_ns() - start - sum->settle_ns;
	for (uint32_t i = 0; i < m->requests.stops; i++)
		sb_stops_add(&m->stops, m->requests.stop[i]);
	sum->stopped_ns = m->stops.stopped_ns;
	sum->cpu_ns = sum->part_cpu_ns ? sum->part_cpu_ns
				       : sb_clock_process_cpu_ns() - cpu - sum->settle_cpu_ns;
	return ok && sb_measurement_ground_holds(m);
}

/* Slices of the warm-up, and when to give it up. */
#define WARM_SLICE_NS UINT64_C(20000000)
#define WARM_SLICES   250
#define WARM_MAX_NS   UINT64_C(10000000000)

/* --warmup auto: until the time per operation has come to rest. */
static bool warm_up_until_rest(struct sb_measurement *m)
{
	const uint64_t start = sb_clock_ns();
	double cost[WARM_SLICES];
	uint32_t n = 0;

	while (n < WARM_SLICES && sb_clock_ns() - start < WARM_MAX_NS) {
		if (!sb_rounds_run(m, WARM_SLICE_NS))
			return false;
		cost[n++] = (double)m->measured.wall_ns / (double)m->measured.operations;
		if (sb_is_at_rest(cost, n))
			return true;
	}
	m->restless = true;
	sb_note("%s: --warmup auto: not steady after %.1f s; measured all the same",
		m->run.workload->name, 1e-9 * (double)(sb_clock_ns() - start));
	return true;
}

bool sb_is_search(const struct sb_options *options)
{
	return *options->value[SB_OPT_find_slo].text;
}

/* For --load and --find-slo: a closed loop says how many requests per second there can be. From
 * then on the load is the asked share of that. */
#define CAPACITY_NS		  UINT64_C(300000000)
#define VIRTUAL_CAPACITY_NS	  UINT64_C(10000000)
/* The closed loop lasts for this many requests of each worker, because workers run out of work at its end,
 * for the time of a few requests. */
#define VIRTUAL_CAPACITY_REQUESTS 1000

uint64_t sb_capacity_ns(const struct sb_options *options)
{
	return sb_max_u64(sb_opt(options, SB_OPT_virtual) ? VIRTUAL_CAPACITY_NS : CAPACITY_NS,
			  sb_opt(options, SB_OPT_warmup));
}

bool sb_measures_capacity(const struct sb_options *options, const struct sb_workload *workload)
{
	return workload->takes_requests &&
	       (!isnan(sb_load_share(options)) || sb_is_search(options));
}

bool sb_measurement_find_capacity(struct sb_measurement *m)
{
	const double share = sb_load_share(m->options);
	const uint64_t least_ns = sb_opt(m->options, SB_OPT_virtual)
					  ? (uint64_t)(VIRTUAL_CAPACITY_REQUESTS * m->run.asked_ns)
					  : 0;

	if (!sb_measures_capacity(m->options, m->run.workload))
		return true;
	sb_phase_begins(m, SB_PHASE_CAPACITY, 0);
	sb_load_saturate(&m->load, m->workers);
	if (!sb_rounds_run(m, sb_max_u64(sb_capacity_ns(m->options), least_ns)))
		return false;
	m->capacity_per_s = sb_load_capacity(&m->requests, m->workers);
	m->search = (struct sb_search){ .missed_per_s = m->capacity_per_s };
	sb_load_open(&m->load, sb_is_search(m->options) ? sb_search_next(&m->search)
							: share * m->capacity_per_s);
	sb_phase_ends(m, SB_PHASE_CAPACITY, 0);
	return true;
}

/* Until it is steady, most workloads need about so long. */
#define WARM_GUESS_NS UINT64_C(500000000)

uint64_t sb_warm_up_ns(const struct sb_options *options)
{
	const struct sb_option_value *warmup = &options->value[SB_OPT_warmup];

	return warmup->alternative ? WARM_GUESS_NS : warmup->number;
}

bool sb_measurement_warm_up(struct sb_measurement *m)
{
	const struct sb_option_value *warmup = &m->options->value[SB_OPT_warmup];
	bool ok;

	if (!sb_warm_up_ns(m->options))
		return true;
	sb_phase_begins(m, SB_PHASE_WARM_UP, 0);
	ok = warmup->alternative ? warm_up_until_rest(m) : sb_rounds_run(m, warmup->number);
	if (ok)
		sb_phase_ends(m, SB_PHASE_WARM_UP, 0);
	return ok;
}
