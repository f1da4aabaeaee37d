#include "harness/run/measure.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/kernel/osview.h"
#include "harness/run/config.h"
#include "harness/run/load.h"
#include "harness/run/rounds.h"
#include "harness/run/slo.h"
#include "harness/run/tracing.h"
#include "harness/system/clock_cost.h"
#include "harness/system/fault_cost.h"
#include "harness/terminal/progress.h"
#include "harness/terminal/status.h"
#include "harness/terminal/text.h"
#include "harness/within/glances.h"
#include "results/record/number.h"
#include "results/record/series.h"

/* ---- rounds ---- */

static bool make_room(const struct sb_measurement *m, struct sb_record *record)
{
	record->worker = sb_readings_make(m->workers, m->workers);
	record->hist = calloc(SB_RECORD_HISTS, sizeof(*record->hist));
	record->os = calloc(m->workers, sizeof(*record->os));
	if (m->run.workload->takes_requests)
		record->requests = calloc(1, sizeof(*record->requests));
	return record->worker && record->hist && record->os &&
	       (!m->run.workload->takes_requests || record->requests);
}

static void keep_requests(struct sb_measurement *m, struct sb_record *record)
{
	struct sb_hist_counts *hist = &record->hist[SB_RECORD_REQUEST];

	if (!record->requests)
		return;
	*record->requests = m->requests;
	record->requests->hist = hist;
	memcpy(hist, m->requests.hist, SB_REQUEST_HISTS * sizeof(*hist));
}

/* Returns the duration of a repetition: --duration, or the duration that the queue or the step of --find-slo
 * needs if that is longer. */
static uint64_t duration_of(const struct sb_measurement *m)
{
	uint64_t least_ns = sb_opt(m->options, SB_OPT_duration);
	struct sb_slo slo;

	if (m->options->value[SB_OPT_duration].alternative)
		least_ns = sb_max_u64(least_ns, m->steady.duration_ns);
	if (!sb_is_search(m->options) ||
	    !sb_slo_parse(m->options->value[SB_OPT_find_slo].text, &slo))
		return least_ns;
	return sb_search_duration(&m->search, &slo, least_ns);
}

/* All rounds of a repetition, looked at from outside. */
static bool run_rounds(struct sb_measurement *m, struct sb_record *record)
{
	struct sb_measured *measured = &m->measured;
	uint64_t cpu_ns;
	bool ok;
	int rc;

	m->record = record;
	sb_repetition_begin(m);
	rc = sb_glances_start(m->glances, record->worker, m->hist);
	if (rc) {
		sb_measurement_fail(m, "no time series", rc);
		return false;
	}
	ok = sb_rounds_run(m, duration_of(m));
	m->record = NULL;
	cpu_ns = sb_glances_stop(m->glances);
	/* Where the workload times a part of its round, nobody knows how much is of that part. */
	if (!measured->part_cpu_ns)
		measured->cpu_ns -= sb_min_u64(cpu_ns, measured->cpu_ns);
	return ok;
}

/* They were added when the workload was. */
static void keep_own_metrics(const struct sb_measurement *m, struct sb_record *record)
{
	const struct sb_workload_metric *metric = m->run.workload->metrics;

	for (uint32_t i = 0; metric && metric[i].name; i++) {
		const enum sb_metric_id id = sb_metric_find(metric[i].name);

		if (id < SB_METRICS && isfinite(m->own[i]))
			record->value[id] = m->own[i] / (double)m->measured.rounds;
	}
}

/* The load has a steady state that takes longer than a run may, or has none. */
static void judge_steady(const struct sb_measurement *m, struct sb_record *record)
{
	const struct sb_steady *s = &m->steady;
	const double lasts_ns = (double)m->run.duration_ns;
	char lasts[SB_HUMAN_BYTES];
	char needs[SB_HUMAN_BYTES];

	sb_human(lasts, lasts_ns, "ns");
	sb_human(needs, s->needed_ns, "ns");
	if (s->load >= 1)
		sb_record_suspect(record, "no steady state: requests come as fast as the workers "
					  "can serve them, or faster");
	else if (isinf(s->needed_ns))
		sb_record_suspect(record, "the variance of the service time is infinite, so no "
					  "repetition is long enough for a mean sojourn time");
	else if (m->options->value[SB_OPT_duration].alternative && lasts_ns < s->needed_ns)
		sb_record_suspect(
			record,
			"the mean sojourn time needs repetitions of %s at this load; this "
			"one lasts %s, as all of them have to end within about a minute",
			needs, lasts);
}

/* Returns the mean of the readings at both ends of the repetition, which has just ended. */
static double read_memory(struct sb_measurement *m)
{
	const double before_ns = m->line_ns;

	m->line_ns = sb_memory_probe_ns(&m->probe);
	return (before_ns + m->line_ns) / 2;
}

static bool run_repetition(struct sb_measurement *m, struct sb_record *record)
{
	struct sb_measured *measured = &m->measured;

	if (!make_room(m, record)) {
		sb_measurement_fail(m, "no room for a record", -ENOMEM);
		return false;
	}
	if (m->run.workload->takes_requests)
		m->steady = sb_load_steady(&m->load, m->options, m->workers, m->capacity_per_s,
					   m->run.asked_ns, m->run.asked_scv);
	if (isnan(m->line_ns))
		m->line_ns = sb_memory_probe_ns(&m->probe);
	if (!run_rounds(m, record))
		return false;
	sb_osview_end(m->os, record->os, &measured->machine);
	sb_readings_subtract(m, record);
	record->exemplars = sb_exemplars_collect(m);
	measured->line_ns = read_memory(m);
	sb_hist_read(&m->run.wakes->all, &record->hist[SB_RECORD_wake]);
	sb_hist_read(&m->run.wakes->long_step, &record->hist[SB_RECORD_wake_long_step]);
	sb_scheduler_read_memory(m->run.scheduler, &measured->memory);
	measured->mapped_before = m->mapped_before;
	measured->look_ns = m->look_ns;
	measured->line_transfer_ns = m->line_transfer_ns;
	sb_record_compute(record, measured, &m->series->placement);
	keep_requests(m, record);
	keep_own_metrics(m, record);
	record->timeseries = sb_glances_keep(m->glances, record);
	sb_judge_record(record, &m->conditions);
	judge_steady(m, record);
	if (m->restless)
		sb_record_suspect(record, "the warm-up found no steady state");
	if (sb_opt(m->options, SB_OPT_slowdown))
		sb_record_suspect(record, "slowed down by %s on purpose (--slowdown)",
				  m->options->value[SB_OPT_slowdown].text);
	if (sb_record_pack(record)) {
		sb_measurement_fail(m, "no room for a record", -ENOMEM);
		return false;
	}
	return true;
}

/* ---- how many ---- */

static bool repeats(const struct sb_options *options)
{
	return options->value[SB_OPT_until_ci].alternative && sb_opt(options, SB_OPT_forks) > 1;
}

uint32_t sb_forks_least(const struct sb_options *options)
{
	const uint32_t forks = (uint32_t)sb_opt(options, SB_OPT_forks);
	const uint32_t look = sb_next_look(forks - 1);

	return repeats(options) && look ? look : forks;
}

uint32_t sb_repetitions_max(const struct sb_options *options)
{
	const uint32_t least = sb_forks_least(options);
	const uint32_t most =
		repeats(options) && least < SB_LOOK_FORKS_MAX ? SB_LOOK_FORKS_MAX : least;

	return most * (uint32_t)sb_opt(options, SB_OPT_repetitions);
}

/* The step of --find-slo that a repetition is. */
static void search_on(struct sb_measurement *m, const struct sb_record *record,
		      struct sb_series *series)
{
	const struct sb_option_value *text = &m->options->value[SB_OPT_find_slo];
	char line[SB_SLO_BYTES];
	struct sb_slo slo;

	if (!sb_is_search(m->options) || !sb_slo_parse(text->text, &slo))
		return;
	sb_search_describe_step(line, m->load.rate_per_s, &slo, record);
	if (!sb_opt(m->options, SB_OPT_quiet)) {
		sb_progress_hide();
		fprintf(stderr, "%s\n", line);
	}
	sb_search_take(&m->search, &slo, record);
	sb_load_open(&m->load, sb_search_next(&m->search));
	sb_search_describe(line, &m->search, text->text);
	free(series->answer);
	series->answer = strdup(line);
	series->answer_row = m->search.met_step;
}

static void tell_limit(struct sb_series *series, const char *why)
{
	series->met_limit = true;
	sb_note("%s: %s", series->workload, why);
}

static bool measure_row(struct sb_measurement *m, struct sb_series *series, uint32_t r)
{
	struct sb_record *record = &series->record[r];

	sb_phase_begins(m, SB_PHASE_REPETITION, r);
	if (!run_repetition(m, record))
		return false;
	record->is_measured = true;
	sb_phase_ends(m, SB_PHASE_REPETITION, r);
	search_on(m, record, series);
	return true;
}

/* After a failure there is no point in going on: the rest is invalid, too. */
static void run_repetitions(struct sb_measurement *m, struct sb_series *series)
{
	bool ok = !sb_series_lacks_rows(series) ||
		  (sb_measurement_find_capacity(m) && sb_measurement_warm_up(m));

	for (uint32_t r = 0; r < series->records; r++) {
		struct sb_record *record = &series->record[r];

		if (!record->is_measured)
			ok = ok && measure_row(m, series, r);
		if (!record->is_measured)
			sb_record_invalidate(record, m->why);
	}
	sb_judge_series(series);
	if (m->met_limit)
		tell_limit(series, m->why);
}

static void run_nothing(struct sb_series *series, const char *why)
{
	for (uint32_t r = 0; r < series->records; r++) {
		if (!series->record[r].is_measured)
			sb_record_invalidate(&series->record[r], why);
	}
}

/* ---- the scheduler around them ---- */

/* Whose steal time is the workers': their own CPUs', or of those that are not
 * pinned all that may be used. */
static void note_cpus(struct sb_measurement *m)
{
	const struct sb_placement *p = m->ground->placement;

	m->conditions.alone = true;
	for (uint32_t i = 0; i < p->workers; i++) {
		const int cpu = p->place[i].os_cpu;

		if (cpu < 0)
			m->os_cpus = m->ground->usable;
		if (cpu < 0 || sb_cpu_mask_has(&m->os_cpus, cpu))
			m->conditions.alone = false;
		sb_cpu_mask_add(&m->os_cpus, cpu);
	}
}

static bool open_osview(struct sb_measurement *m)
{
	struct sb_osview_request request = {
		.root = "",
		.workers = m->workers,
		.cpus = &m->os_cpus,
		.counts_syscalls = m->conditions.polls,
	};
	int *thread_id = sb_worker_thread_ids(m);

	request.thread_id = thread_id;
	m->os = thread_id ? sb_osview_open(&request) : NULL;
	free(thread_id);
	return m->os;
}

/* pthread_create(3) gives the same error for both limits. */
static const char *limits(int rc)
{
	return rc == -EAGAIN ? " (limit of processes or address space)" : "";
}

static int cannot_start(const struct sb_placement *placement, uint32_t worker, int rc)
{
	if (rc == -EINVAL)
		return sb_fail(SB_EXIT_ENVIRONMENT,
			       "worker %" PRIu32 " cannot be pinned to CPU %d: %s", worker,
			       placement->place[worker].os_cpu, strerror(-rc));
	return sb_fail(SB_EXIT_ENVIRONMENT, "worker %" PRIu32 " cannot be started: %s%s", worker,
		       strerror(-rc), limits(rc));
}

/* This thread is woken when a round has ended, while workers still look for work. In the batch
 * class its wakeup preempts none of them (sched(7)). Threads that it starts are in the usual one. */
static void become_batch(void)
{
	const struct sched_param param = { .sched_priority = 0 };

	if (sched_getscheduler(0) == SCHED_OTHER)
		(void)sched_setscheduler(0, SCHED_BATCH | SCHED_RESET_ON_FORK, &param);
}

static int measure_started(struct sb_measurement *m, struct sb_series *series)
{
	uint32_t failed = 0;
	const int rc = sb_scheduler_start(m->run.scheduler, &failed);

	if (rc && !sb_ground_is_lost(m->ground, failed, rc))
		return cannot_start(m->ground->placement, failed, rc);
	if (rc) {
		run_nothing(series, m->ground->lost);
		return 0;
	}
	m->ground->held = true;
	become_batch();
	if (open_osview(m)) {
		m->glances = sb_glances_make(m->options, &m->run, m->os);
		m->line_ns = NAN;
		if (!sb_opt(m->options, SB_OPT_virtual))
			sb_memory_probe_open(&m->probe, m->ground->placement->place[0].os_cpu);
		run_repetitions(m, series);
	} else {
		run_nothing(series, strerror(ENOMEM));
		tell_limit(series, strerror(ENOMEM));
	}
	sb_glances_free(m->glances);
	m->glances = NULL;
	sb_osview_close(m->os);
	m->os = NULL;
	sb_memory_probe_close(&m->probe);
	sb_measurement_stop(m);
	sb_measurement_read_memory(m, series);
	sb_tracing_run(m, series);
	return 0;
}

static int measure_set_up(struct sb_measurement *m, struct sb_series *series)
{
	const struct sb_workload *workload = m->run.workload;
	int rc = sb_workload_set_up(&m->run);
	char bound[SB_WHY_BYTES];

	if (rc)
		return sb_fail(SB_EXIT_ENVIRONMENT, "%s cannot be set up: %s%s", workload->name,
			       strerror(-rc), limits(rc));
	if (workload->describe_bound && workload->describe_bound(&m->run, bound, sizeof(bound)))
		sb_note("%s: %s", workload->name, bound);
	rc = measure_started(m, series);
	sb_workload_tear_down(&m->run);
	return rc;
}

static int measure_loaded(struct sb_measurement *m, struct sb_series *series)
{
	const struct sb_config config = sb_config_of(m->options);
	int rc;

	m->run.load = &m->load;
	m->run.requests = &m->requests;
	note_cpus(m);
	m->now = sb_readings_make(1, m->workers);
	m->hist = calloc(SB_HISTS, sizeof(*m->hist));
	m->run.wakes = calloc(1, sizeof(*m->run.wakes));
	m->requests.hist = calloc(SB_REQUEST_HISTS, sizeof(*m->requests.hist));
	rc = m->now && m->hist && m->run.wakes && m->requests.hist
		     ? sb_scheduler_create(&m->run.scheduler, &config, m->ground->placement)
		     : -ENOMEM;
	if (!rc)
		rc = sb_scheduler_slow_down(m->run.scheduler,
					    (uint32_t)sb_opt(m->options, SB_OPT_slowdown));
	if (rc)
		rc = sb_fail(SB_EXIT_ENVIRONMENT, "the scheduler cannot be created: %s%s",
			     strerror(-rc), limits(rc));
	else
		rc = measure_set_up(m, series);
	sb_scheduler_destroy(m->run.scheduler);
	sb_readings_free(m->now, 1);
	free(m->hist);
	free(m->run.wakes);
	free(m->requests.hist);
	return rc;
}

int sb_measure(struct sb_series *series, const struct sb_chosen *chosen,
	       const struct sb_options *options, struct sb_ground *ground,
	       const struct sb_watch *watch)
{
	struct sb_measurement *m;
	uint32_t cpus;
	int rc;

	if (*ground->lost) {
		run_nothing(series, ground->lost);
		return 0;
	}
	/* All of it was saved. */
	if (series->residence && !sb_opt_traces_round(options)) {
		sb_judge_series(series);
		return 0;
	}
	/* Too large for a stack that the user has limited. */
	m = calloc(1, sizeof(*m));
	if (!m)
		return sb_fail_memory();
	m->run.workload = chosen->workload;
	m->run.param = chosen->param;
	m->run.text = chosen->text;
	m->options = options;
	m->ground = ground;
	m->watch = watch;
	m->series = series;
	m->workers = ground->placement->workers;
	m->conditions.is_emulated = series->reality == SB_EMULATED;
	m->conditions.shares = sb_load_sharing(options, chosen, ground, &cpus);
	m->conditions.polls = options->value[SB_OPT_park].alternative == SB_PARK_POLL;
	m->look_ns = sb_look_ns();
	m->line_transfer_ns = sb_ground_transfer_ns(ground);
	m->fault_ns = sb_opt(options, SB_OPT_exemplars) ? sb_fault_ns() : (double)NAN;
	rc = sb_load_make(&m->load, options, m->workers);
	if (!rc) {
		rc = measure_loaded(m, series);
		sb_load_fini(&m->load);
	}
	free(m);
	return rc;
}
