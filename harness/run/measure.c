#include "harness/run/measure.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/platform/platform.h"
#include "harness/run/config.h"
#include "harness/terminal/interrupts.h"
#include "harness/run/load.h"
#include "harness/system/clock_cost.h"
#include "harness/system/osview.h"
#include "harness/terminal/progress.h"
#include "harness/run/slo.h"
#include "harness/terminal/status.h"
#include "harness/system/stops.h"
#include "harness/run/tracing.h"

/* How often a wait looks for an interrupt. */
#define SLICE_NS UINT64_C(100000000)

/* Everything about the one workload that is being measured. */
struct measurement {
	struct sb_workload_run run;
	const struct sb_options *options;
	struct sb_ground *ground;
	const struct sb_watch *watch; /* NULL: nobody */
	const struct sb_series *series;
	uint32_t workers;
	double look_ns; /* of a look at the clock */
	/* Readings at the start of a repetition. */
	struct sb_worker_reading *worker; /* [workers] */
	struct sb_hist_counts *hist;	  /* [SB_HISTS] */
	struct sb_osview *os;
	struct sb_cpu_mask os_cpus; /* what os looks at */
	struct sb_conditions conditions;
	bool restless; /* the warm-up has found no end */
	struct sb_load load;
	/* Of the rounds since both were cleared. */
	struct sb_measured measured;
	struct sb_requests requests;
	double capacity_per_s;	 /* 0: not asked for */
	struct sb_search search; /* --find-slo */
	struct sb_stops stops;	 /* of the rounds of run_rounds */
	char why[160];		 /* of the failure, "" while there is none */
	bool met_limit;		 /* that is the failure */
};

/* ---- who watches ---- */

static void tell_begin(const struct measurement *m, enum sb_phase phase,
		       uint32_t repetition)
{
	if (m->watch)
		m->watch->begin(m->watch->arg, m->series, phase, repetition);
}

static void tell_end(const struct measurement *m, enum sb_phase phase,
		     uint32_t repetition)
{
	if (m->watch)
		m->watch->end(m->watch->arg, m->series, phase, repetition);
}

/* ---- readings ---- */

static void free_readings(struct sb_worker_reading *r, uint32_t workers)
{
	for (uint32_t i = 0; r && i < workers; i++)
		free(r[i].steals);
	free(r);
}

static struct sb_worker_reading *make_readings(uint32_t workers)
{
	struct sb_worker_reading *r = calloc(workers, sizeof(*r));

	for (uint32_t i = 0; r && i < workers; i++) {
		r[i].steals = calloc(workers, sizeof(*r[i].steals));
		if (!r[i].steals) {
			free_readings(r, i);
			return NULL;
		}
	}
	return r;
}

static void read_all(struct sb_scheduler *s, struct sb_worker_reading *worker,
		     struct sb_hist_counts *hist)
{
	for (uint32_t i = 0; i < sb_scheduler_workers(s); i++)
		sb_scheduler_read(s, i, &worker[i]);
	for (int h = 0; h < SB_HISTS; h++)
		sb_scheduler_read_hist(s, h, &hist[h]);
}

/* What the repetition added to the readings at its start. */
static void read_difference(struct measurement *m, struct sb_record *record)
{
	read_all(m->run.scheduler, record->worker, record->hist);
	for (uint32_t i = 0; i < m->workers; i++)
		sb_reading_subtract(&record->worker[i], &m->worker[i],
				    m->workers);
	for (int h = 0; h < SB_HISTS; h++)
		sb_hist_subtract(&record->hist[h], &m->hist[h]);
}

/* Where the memory lies, at the end; the scheduler is stopped. */
static void read_memory(struct measurement *m, struct sb_series *series)
{
	if (series->residence)
		return;
	series->residence = calloc(m->workers, sizeof(*series->residence));
	for (uint32_t i = 0; series->residence && i < m->workers; i++)
		sb_scheduler_locate(m->run.scheduler, i, &series->residence[i]);
	sb_scheduler_read_memory(m->run.scheduler, &series->memory);
}

/* ---- rounds ---- */

static bool ground_holds(struct measurement *m)
{
	if (sb_ground_holds(m->ground, m->run.scheduler))
		return true;
	snprintf(m->why, sizeof(m->why), "%s", m->ground->lost);
	return false;
}

static bool interrupted(struct measurement *m)
{
	if (!sb_load_rlx(&sb_interrupted))
		return false;
	snprintf(m->why, sizeof(m->why), "interrupted");
	return true;
}

/* Of memory, threads, or processes alive. */
static void fail_round(struct measurement *m, const char *what, int rc)
{
	char limits[120] = "";

	if (rc == -EAGAIN)
		snprintf(limits, sizeof(limits),
			 " (--max-processes %s, or a limit of threads or "
			 "address space)",
			 m->options->value[SB_OPT_max_processes].text);
	snprintf(m->why, sizeof(m->why), "%s: %s%s", what, strerror(-rc),
		 limits);
	m->met_limit = rc == -EAGAIN || rc == -ENOMEM;
}

/* Those that wait for a process that ended early may wait for ever. */
static bool ran_short(struct measurement *m)
{
	const int rc = sb_scheduler_take_shortage(m->run.scheduler);

	if (rc)
		fail_round(m, "a process failed", rc);
	return rc;
}

/* Whether there is more to wait for. */
static bool wait_slice(struct measurement *m)
{
	const uint64_t start = sb_clock_ns();
	const int rc = sb_scheduler_wait_idle(m->run.scheduler, SLICE_NS);

	sb_stops_waited(&m->stops, sb_clock_ns() - start, SLICE_NS);
	return rc;
}

static bool wait_idle(struct measurement *m)
{
	const uint64_t start = sb_clock_ns();
	/* A round that takes requests lasts as long as it is to. */
	const uint64_t timeout =
		sb_opt(m->options, SB_OPT_timeout) +
		(m->run.workload->takes_requests ? m->run.duration_ns : 0);

	while (wait_slice(m)) {
		if (interrupted(m) || ran_short(m))
			return false;
		if (sb_clock_ns() - start < timeout)
			continue;
		snprintf(m->why, sizeof(m->why),
			 "a round did not end within %s",
			 m->options->value[SB_OPT_timeout].text);
		return false;
	}
	return true;
}

static void add_round(struct sb_measured *sum, const struct sb_round *round,
		      uint64_t wall_ns)
{
	sum->wall_ns += round->wall_ns ? round->wall_ns : wall_ns;
	sum->submit_ns += round->submit_ns;
	sum->part_cpu_ns += round->cpu_ns;
	sum->bytes_per_process += round->bytes_per_process;
}

/*
 * Polling workers need the kernel for nothing, but for the last round's
 * remains, in the middle of this one. That is waited for in between, and what
 * it costs is no part of the measurement.
 */
static void settle(struct measurement *m, struct sb_measured *sum)
{
	const uint64_t start = sb_clock_ns();
	const uint64_t cpu = sb_clock_process_cpu_ns();

	if (!m->conditions.polls)
		return;
	(void)sb_scheduler_settle(m->run.scheduler);
	sum->settle_cpu_ns += sb_clock_process_cpu_ns() - cpu;
	sum->settle_ns += sb_clock_ns() - start;
}

/* One round; adds what it measured. False: m->why says why there is none. */
static bool run_round(struct measurement *m, struct sb_measured *sum)
{
	const struct sb_workload *workload = m->run.workload;
	uint64_t start;
	uint64_t end;
	char why[120] = "";
	int rc;

	settle(m, sum);
	start = sb_clock_ns();
	m->run.round = (struct sb_round){ 0 };
	(void)sb_scheduler_take_shortage(m->run.scheduler);
	rc = workload->start(&m->run);
	/* Those that did start may wait for others for ever; stop ends them. */
	if (rc) {
		fail_round(m, "it could not start", rc);
		return false;
	}
	if (!wait_idle(m))
		return false;
	if (m->run.round.start_ns)
		start = m->run.round.start_ns;
	end = sb_scheduler_idle_since_ns(m->run.scheduler);
	if (m->os)
		sb_osview_window(m->os, start, end);
	add_round(sum, &m->run.round, end - start);
	sum->operations += workload->operations(&m->run);
	sum->rounds++;
	if (workload->check(&m->run, why, sizeof(why)))
		return true;
	if (!ran_short(m))
		snprintf(m->why, sizeof(m->why), "wrong answer: %s", why);
	return false;
}

static void clear_requests(struct measurement *m)
{
	struct sb_hist_counts *hist = m->requests.hist;

	m->requests = (struct sb_requests){ .hist = hist };
	memset(hist, 0, SB_REQUEST_HISTS * sizeof(*hist));
}

/* Rounds until the time has passed, but at least one. Afterwards, and so for the
 * warm-up and each repetition, the ground must be the same. */
static bool run_rounds(struct measurement *m, uint64_t duration_ns)
{
	struct sb_measured *sum = &m->measured;
	const uint64_t start = sb_clock_ns();
	const uint64_t cpu = sb_clock_process_cpu_ns();
	bool ok;

	*sum = (struct sb_measured){ .capacity_per_s = m->capacity_per_s };
	clear_requests(m);
	sb_stops_begin(&m->stops);
	if (m->run.workload->takes_requests)
		sum->requests = &m->requests;
	m->run.duration_ns = duration_ns;
	/* Each time other requests, but the same in each run. */
	m->load.seed += SB_GENERATORS_MAX;
	do {
		ok = !interrupted(m) && run_round(m, sum);
	} while (ok && sb_clock_ns() - start < duration_ns);
	sum->elapsed_ns = sb_clock_ns() - start - sum->settle_ns;
	sum->stopped_ns = m->stops.stopped_ns;
	sum->cpu_ns = sum->part_cpu_ns ? sum->part_cpu_ns
				       : sb_clock_process_cpu_ns() - cpu -
						 sum->settle_cpu_ns;
	return ok && ground_holds(m);
}

/* Slices of the warm-up, and when to give it up. */
#define WARM_SLICE_NS UINT64_C(20000000)
#define WARM_SLICES   250
#define WARM_MAX_NS   UINT64_C(10000000000)

/* --warmup auto: until the time per operation has come to rest. */
static bool warm_up_until_rest(struct measurement *m)
{
	const uint64_t start = sb_clock_ns();
	double cost[WARM_SLICES];
	uint32_t n = 0;

	while (n < WARM_SLICES && sb_clock_ns() - start < WARM_MAX_NS) {
		if (!run_rounds(m, WARM_SLICE_NS))
			return false;
		cost[n++] = (double)m->measured.wall_ns /
			    (double)m->measured.operations;
		if (sb_is_at_rest(cost, n))
			return true;
	}
	m->restless = true;
	sb_note("%s: --warmup auto: not steady after %.1f s; measured all the "
		"same",
		m->run.workload->name, 1e-9 * (double)(sb_clock_ns() - start));
	return true;
}

static bool is_search(const struct sb_options *options)
{
	return *options->value[SB_OPT_find_slo].text;
}

/* For --load and --find-slo: a closed loop says how many requests per second there can be. From
 * then on the load is the asked share of that. */
#define CAPACITY_NS UINT64_C(300000000)

uint64_t sb_capacity_ns(const struct sb_options *options)
{
	return sb_max_u64(CAPACITY_NS, sb_opt(options, SB_OPT_warmup));
}

bool sb_measures_capacity(const struct sb_options *options,
			  const struct sb_workload *workload)
{
	return workload->takes_requests &&
	       (!isnan(sb_load_share(options)) || is_search(options));
}

static bool find_capacity(struct measurement *m)
{
	const double share = sb_load_share(m->options);

	if (!sb_measures_capacity(m->options, m->run.workload))
		return true;
	tell_begin(m, SB_PHASE_CAPACITY, 0);
	sb_load_saturate(&m->load, m->workers);
	if (!run_rounds(m, sb_capacity_ns(m->options)))
		return false;
	m->capacity_per_s = sb_load_capacity(&m->requests, m->workers);
	m->search = (struct sb_search){ .missed_per_s = m->capacity_per_s };
	sb_load_open(&m->load, is_search(m->options)
				       ? sb_search_next(&m->search)
				       : share * m->capacity_per_s);
	tell_end(m, SB_PHASE_CAPACITY, 0);
	return true;
}

/* Until it is steady, most workloads need about so long. */
#define WARM_GUESS_NS UINT64_C(500000000)

uint64_t sb_warm_up_ns(const struct sb_options *options)
{
	const struct sb_option_value *warmup = &options->value[SB_OPT_warmup];

	return warmup->alternative ? WARM_GUESS_NS : warmup->number;
}

static bool warm_up(struct measurement *m)
{
	const struct sb_option_value *warmup =
		&m->options->value[SB_OPT_warmup];
	bool ok;

	if (!sb_warm_up_ns(m->options))
		return true;
	tell_begin(m, SB_PHASE_WARM_UP, 0);
	ok = warmup->alternative ? warm_up_until_rest(m)
				 : run_rounds(m, warmup->number);
	if (ok)
		tell_end(m, SB_PHASE_WARM_UP, 0);
	return ok;
}

static bool make_requests(struct sb_record *record)
{
	record->requests = calloc(1, sizeof(*record->requests));
	if (record->requests)
		record->requests->hist = calloc(
			SB_REQUEST_HISTS, sizeof(*record->requests->hist));
	return record->requests && record->requests->hist;
}

static bool make_room(const struct measurement *m, struct sb_record *record)
{
	record->worker = make_readings(m->workers);
	record->hist = calloc(SB_HISTS, sizeof(*record->hist));
	record->os = calloc(m->workers, sizeof(*record->os));
	return record->worker && record->hist && record->os &&
	       (!m->run.workload->takes_requests || make_requests(record));
}

static void keep_requests(struct measurement *m, struct sb_record *record)
{
	struct sb_requests *kept = record->requests;
	struct sb_hist_counts *hist = kept ? kept->hist : NULL;

	if (!kept)
		return;
	*kept = m->requests;
	kept->hist = hist;
	memcpy(hist, m->requests.hist, SB_REQUEST_HISTS * sizeof(*hist));
}

static bool run_repetition(struct measurement *m, struct sb_record *record)
{
	struct sb_measured *measured = &m->measured;
	struct sb_memory before;

	if (!make_room(m, record)) {
		fail_round(m, "no room for a record", -ENOMEM);
		return false;
	}
	read_all(m->run.scheduler, m->worker, m->hist);
	/* This one is the harness's own, so it can be emptied. */
	*m->run.wakes = (struct sb_wake_times){ 0 };
	sb_scheduler_read_memory(m->run.scheduler, &before);
	sb_osview_begin(m->os);
	if (!run_rounds(m, sb_opt(m->options, SB_OPT_duration)))
		return false;
	sb_osview_end(m->os, record->os, &measured->machine);
	read_difference(m, record);
	sb_hist_read(&m->run.wakes->all, &measured->wake_ns);
	sb_hist_read(&m->run.wakes->long_step, &measured->wake_long_step_ns);
	sb_scheduler_read_memory(m->run.scheduler, &measured->memory);
	measured->mapped_before = before.mapped_bytes;
	measured->look_ns = m->look_ns;
	sb_record_compute(record, measured, &m->series->placement);
	keep_requests(m, record);
	sb_judge_record(record, &m->conditions);
	if (m->restless)
		sb_record_suspect(record, "the warm-up found no steady state");
	if (sb_opt(m->options, SB_OPT_slowdown))
		sb_record_suspect(record,
				  "slowed down by %s on purpose (--slowdown)",
				  m->options->value[SB_OPT_slowdown].text);
	if (sb_record_pack(record)) {
		fail_round(m, "no room for a record", -ENOMEM);
		return false;
	}
	return true;
}

/* ---- how many ---- */

uint32_t sb_repetitions_max(const struct sb_options *options)
{
	const uint32_t wanted = (uint32_t)sb_opt(options, SB_OPT_repetitions);
	const uint32_t most = (uint32_t)sb_opt(options, SB_OPT_max_repetitions);

	if (!options->value[SB_OPT_until_ci].alternative || wanted > most)
		return wanted;
	return most;
}

/* After the last wanted one: whether there has to be another. */
static bool is_uncertain(const struct measurement *m,
			 const struct sb_series *series)
{
	const struct sb_option_value *until =
		&m->options->value[SB_OPT_until_ci];
	double width;

	if (!until->alternative)
		return false;
	width = sb_series_uncertainty(series, SB_METRIC_ns_per_op);
	if (width <= 1e-6 * (double)until->number)
		return false;
	if (series->records < sb_repetitions_max(m->options))
		return true;
	sb_note("%s: --until-ci %s: the median's 95 %% interval is %.3g %% "
		"wide "
		"after %" PRIu32 " repetitions, the most that may be made "
		"(--max-repetitions)",
		series->workload, until->text, 100 * width, series->records);
	return false;
}

/* What --find-slo makes of a repetition. */
static void search_on(struct measurement *m, const struct sb_record *record,
		      struct sb_series *series)
{
	const struct sb_option_value *text =
		&m->options->value[SB_OPT_find_slo];
	char line[SB_SLO_BYTES];
	struct sb_slo slo;

	if (!is_search(m->options) || !sb_slo_parse(text->text, &slo))
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

static bool is_missing(const struct sb_series *series)
{
	for (uint32_t r = 0; r < series->records; r++) {
		if (!series->record[r].is_measured)
			return true;
	}
	return false;
}

static bool measure_row(struct measurement *m, struct sb_series *series,
			uint32_t r)
{
	struct sb_record *record = &series->record[r];

	tell_begin(m, SB_PHASE_REPETITION, r);
	if (!run_repetition(m, record))
		return false;
	record->is_measured = true;
	tell_end(m, SB_PHASE_REPETITION, r);
	search_on(m, record, series);
	return true;
}

/* After a failure there is no point in going on: the rest is invalid, too. */
static void run_repetitions(struct measurement *m, struct sb_series *series)
{
	bool ok = !is_missing(series) || (find_capacity(m) && warm_up(m));

	for (uint32_t r = 0; r < series->records; r++) {
		struct sb_record *record = &series->record[r];

		if (!record->is_measured)
			ok = ok && measure_row(m, series, r);
		if (!record->is_measured)
			sb_record_invalidate(record, m->why);
		else if (r + 1 == series->records)
			series->records += is_uncertain(m, series);
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

/* ---- the trace ---- */

/* One round, with the load of the repetitions. The workers have just started,
 * but for their memory nothing is cold. */
static bool run_traced(struct measurement *m)
{
	m->measured = (struct sb_measured){ 0 };
	clear_requests(m);
	m->run.duration_ns = sb_opt(m->options, SB_OPT_duration);
	m->load.seed += SB_GENERATORS_MAX;
	return run_round(m, &m->measured) && ground_holds(m);
}

/* The scheduler is stopped, and is so again. */
static bool make_trace(struct measurement *m, struct sb_series *series)
{
	struct sb_scheduler *s = m->run.scheduler;
	bool ok;
	int rc = sb_scheduler_trace(
		s, (uint32_t)sb_opt(m->options, SB_OPT_trace_events));

	read_all(s, m->worker, m->hist);
	if (!rc)
		rc = sb_scheduler_start(s, NULL);
	if (rc) {
		snprintf(m->why, sizeof(m->why),
			 "the workers cannot be started again: %s",
			 strerror(-rc));
		return false;
	}
	ok = run_traced(m);
	sb_scheduler_stop(s, SLICE_NS);
	if (!ok)
		return false;
	series->traced = sb_tracing_collect(s, m->worker);
	if (!series->traced) {
		snprintf(m->why, sizeof(m->why), "no memory");
		return false;
	}
	series->traced->operations = m->measured.operations;
	series->traced->wall_ns = m->measured.wall_ns;
	return true;
}

/*
 * After the repetitions, on a fresh start of the same workers: tracing makes
 * steps longer, so what is traced is no row, and what is a row is not traced.
 */
static void trace(struct measurement *m, struct sb_series *series)
{
	if (!sb_opt(m->options, SB_OPT_trace) || *m->why ||
	    make_trace(m, series))
		return;
	sb_note("%s: no trace: %s", m->run.workload->name, m->why);
}

/* ---- the scheduler around them ---- */

/* Whose steal time is the workers': their own CPUs', or of those that are not
 * pinned all that may be used. */
static void note_cpus(struct measurement *m)
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

static bool open_osview(struct measurement *m)
{
	struct sb_osview_request request = {
		.root = "",
		.workers = m->workers,
		.cpus = &m->os_cpus,
		.counts_syscalls = m->conditions.polls,
	};
	int *thread_id = calloc(m->workers, sizeof(*thread_id));

	for (uint32_t i = 0; thread_id && i < m->workers; i++)
		thread_id[i] = sb_scheduler_thread_id(m->run.scheduler, i);
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

static int cannot_start(const struct sb_placement *placement, uint32_t worker,
			int rc)
{
	if (rc == -EINVAL)
		return sb_fail(
			SB_EXIT_ENVIRONMENT,
			"worker %" PRIu32 " cannot be pinned to CPU %d: %s",
			worker, placement->place[worker].os_cpu, strerror(-rc));
	return sb_fail(SB_EXIT_ENVIRONMENT,
		       "worker %" PRIu32 " cannot be started: %s%s", worker,
		       strerror(-rc), limits(rc));
}

static int measure_started(struct measurement *m, struct sb_series *series)
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
	if (open_osview(m)) {
		run_repetitions(m, series);
	} else {
		run_nothing(series, strerror(ENOMEM));
		tell_limit(series, strerror(ENOMEM));
	}
	sb_osview_close(m->os);
	m->os = NULL;
	/* Nothing is alive, unless a round failed; force ends that. */
	sb_scheduler_stop(m->run.scheduler, SLICE_NS);
	read_memory(m, series);
	trace(m, series);
	return 0;
}

static int measure_set_up(struct measurement *m, struct sb_series *series)
{
	int rc = sb_workload_set_up(&m->run);

	if (rc)
		return sb_fail(SB_EXIT_ENVIRONMENT, "%s cannot be set up: %s%s",
			       m->run.workload->name, strerror(-rc),
			       limits(rc));
	rc = measure_started(m, series);
	sb_workload_tear_down(&m->run);
	return rc;
}

static int measure_loaded(struct measurement *m, struct sb_series *series)
{
	const struct sb_config config = sb_config_of(m->options);
	int rc;

	m->run.load = &m->load;
	m->run.requests = &m->requests;
	note_cpus(m);
	m->worker = make_readings(m->workers);
	m->hist = calloc(SB_HISTS, sizeof(*m->hist));
	m->run.wakes = calloc(1, sizeof(*m->run.wakes));
	m->requests.hist = calloc(SB_REQUEST_HISTS, sizeof(*m->requests.hist));
	rc = m->worker && m->hist && m->run.wakes && m->requests.hist
		     ? sb_scheduler_create(&m->run.scheduler, &config,
					   m->ground->placement)
		     : -ENOMEM;
	if (rc)
		rc = sb_fail(SB_EXIT_ENVIRONMENT,
			     "the scheduler cannot be created: %s%s",
			     strerror(-rc), limits(rc));
	else
		rc = measure_set_up(m, series);
	sb_scheduler_destroy(m->run.scheduler);
	free_readings(m->worker, m->workers);
	free(m->hist);
	free(m->run.wakes);
	free(m->requests.hist);
	return rc;
}

int sb_measure(struct sb_series *series, const struct sb_chosen *chosen,
	       const struct sb_options *options, struct sb_ground *ground,
	       const struct sb_watch *watch)
{
	struct measurement *m;
	int rc;

	if (*ground->lost) {
		run_nothing(series, ground->lost);
		return 0;
	}
	/* All of it was saved. */
	if (series->residence && !sb_opt(options, SB_OPT_trace)) {
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
	m->conditions.polls =
		options->value[SB_OPT_park].alternative == SB_PARK_POLL;
	m->look_ns = sb_look_ns();
	rc = sb_load_make(&m->load, options, m->workers);
	if (!rc) {
		rc = measure_loaded(m, series);
		sb_load_fini(&m->load);
	}
	free(m);
	return rc;
}
