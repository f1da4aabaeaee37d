#include "harness/within/glances.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/platform/platform.h"
#include "harness/kernel/osview.h"
#include "results/ledger/timeseries.h"

struct sb_glances {
	const struct sb_workload_run *run;
	const struct sb_osview *os;
	uint64_t interval_ns;
	uint32_t latency; /* in sb_latency */
	struct sb_thread thread;
	struct sb_gate gate;
	bool is_stopping; /* under the gate's lock */
	bool runs;	  /* the thread */
	uint64_t cpu_ns;  /* when it has ended */
	bool lacked_memory;

	/* The workload may be asked while a round goes on, and this is held. */
	struct sb_lock lock;
	bool round_goes_on;
	uint64_t requests;	     /* completed so far */
	struct sb_hist_counts ended; /* their sojourn times, at the end of the last round */

	/* The thread's, while it runs. */
	uint64_t next_ns;
	struct sb_points *points;
	struct sb_glance glance;

	struct sb_moment start;
	struct sb_hist_counts start_hist;
};

/* ---- which series ---- */

static bool is_worth(const struct sb_options *options)
{
	return options->value[SB_OPT_series].alternative &&
	       options->value[SB_OPT_record].alternative &&
	       sb_opt(options, SB_OPT_duration) >=
		       SB_GLANCES_LEAST * sb_opt(options, SB_OPT_series);
}

int sb_glances_check(const struct sb_options *options)
{
	if (!sb_option_is_said(options, SB_OPT_series) ||
	    !options->value[SB_OPT_series].alternative || is_worth(options))
		return 0;
	return sb_option_refuse(options, SB_OPT_series,
				options->value[SB_OPT_record].alternative
					? "expected at most an eighth of --duration"
					: "expected none with --record off");
}

static bool can_be_read(uint32_t hist)
{
	return hist < SB_RECORD_REQUEST || hist == SB_RECORD_REQUEST + SB_REQUEST_sojourn;
}

/* The one that the workload is for, if it is for a latency; else the time in queues. */
static uint32_t main_latency(const struct sb_workload *workload)
{
	const enum sb_metric_id metric = sb_metric_find(sb_workload_objective(workload));
	uint32_t queue = 0;

	for (uint32_t i = 0; i < sb_latencies; i++) {
		if (metric >= sb_latency[i].first &&
		    metric < sb_latency[i].first + SB_LATENCY_METRICS &&
		    can_be_read(sb_latency[i].hist))
			return i;
		if (sb_latency[i].hist == SB_HIST_ready_to_running)
			queue = i;
	}
	return queue;
}

struct sb_glances *sb_glances_make(const struct sb_options *options,
				   const struct sb_workload_run *run, const struct sb_osview *os)
{
	struct sb_glances *g = is_worth(options) ? calloc(1, sizeof(*g)) : NULL;

	if (!g)
		return NULL;
	g->run = run;
	g->os = os;
	g->interval_ns = sb_opt(options, SB_OPT_series);
	g->latency = main_latency(run->workload);
	sb_gate_init(&g->gate);
	sb_lock_init(&g->lock);
	return g;
}

void sb_glances_free(struct sb_glances *g)
{
	if (!g)
		return;
	sb_points_free(g->points);
	sb_gate_fini(&g->gate);
	free(g);
}

/* ---- a look ---- */

static void take_counts(const struct sb_glance *glance, uint64_t requests, struct sb_moment *out)
{
#define COUNT(name, doc)	 out->count[SB_POINT_##name] = glance->counter[SB_COUNTER_##name];
#define STEAL(name, member, doc) out->count[SB_POINT_##name] = glance->steals.member;
#define REQUEST(name, doc)	 out->count[SB_POINT_##name] = requests;
#define DEPTH(name, doc)	 out->depth[SB_POINT_##name] = glance->name;
#include "results/ledger/timeseries.def"
}

/* All rounds so far, the one that goes on included. Adds to the histogram. */
static void ask_workload(struct sb_glances *g, struct sb_hist_counts *sojourn)
{
	g->requests = g->run->requests->completed;
	sb_hist_merge(sojourn, &g->run->requests->hist[SB_REQUEST_sojourn]);
	g->run->workload->peek(g->run, &g->requests, sojourn);
}

static void read_requests(struct sb_glances *g, struct sb_hist_counts *sojourn)
{
	sb_lock_acquire(&g->lock);
	if (g->round_goes_on)
		ask_workload(g, sojourn);
	else
		*sojourn = g->ended;
	sb_lock_release(&g->lock);
}

static uint64_t requests_so_far(struct sb_glances *g)
{
	uint64_t requests;

	sb_lock_acquire(&g->lock);
	requests = g->requests;
	sb_lock_release(&g->lock);
	return requests;
}

static void read_latency(struct sb_glances *g, struct sb_hist_counts *out)
{
	const uint32_t hist = sb_latency[g->latency].hist;
	struct sb_wake_times *wakes = g->run->wakes;

	if (hist == SB_RECORD_REQUEST + SB_REQUEST_sojourn)
		read_requests(g, out);
	else if (hist < SB_HISTS)
		sb_scheduler_read_hist(g->run->scheduler, (enum sb_hist_id)hist, out);
	else
		sb_hist_read(hist == SB_RECORD_wake ? &wakes->all : &wakes->long_step, out);
}

static int look(struct sb_glances *g)
{
	struct sb_moment now;

	sb_scheduler_glance(g->run->scheduler, &g->glance);
	read_latency(g, sb_points_next_hist(g->points));
	now.at_ns = sb_clock_ns();
	take_counts(&g->glance, requests_so_far(g), &now);
	now.kernel[SB_POINT_run_delay_ns] = sb_osview_run_delay_ns(g->os);
	return sb_points_add(g->points, &now);
}

static bool is_stopping(void *arg)
{
	return ((struct sb_glances *)arg)->is_stopping;
}

/* Looks that are late are not made up for. */
static uint64_t wait_ns(struct sb_glances *g)
{
	const uint64_t interval = sb_points_interval_ns(g->points);
	const uint64_t now = sb_clock_ns();

	if (g->next_ns <= now)
		g->next_ns += interval * ((now - g->next_ns) / interval + 1);
	return g->next_ns - now;
}

/* Its part of the time since it began; more at first, when nothing is cached. */
static bool takes_too_much(const struct sb_glances *g, uint64_t cpu_ns)
{
	return cpu_ns > SB_GLANCE_FREE_NS + (sb_clock_ns() - g->start.at_ns) / SB_GLANCE_PART;
}

static void *run_glances(void *arg)
{
	struct sb_glances *g = arg;
	const uint64_t start = sb_clock_thread_cpu_ns();
	int rc = 0;

	sb_thread_name("sb", "sampler", -1);
	while (!rc && !sb_gate_wait(&g->gate, is_stopping, g, wait_ns(g))) {
		rc = look(g);
		if (!rc && takes_too_much(g, sb_clock_thread_cpu_ns() - start))
			rc = sb_points_merge(g->points);
	}
	g->lacked_memory = rc;
	g->cpu_ns = sb_clock_thread_cpu_ns() - start;
	return NULL;
}

/* ---- a repetition ---- */

/* A sum over the workers of what was read at an end of it. */
static void sum_readings(const struct sb_worker_reading *reading, uint32_t workers,
			 struct sb_glance *sum)
{
	*sum = (struct sb_glance){ .depth_own = 0 };
	for (uint32_t w = 0; w < workers; w++) {
		for (uint32_t c = 0; c < SB_COUNTERS; c++)
			sum->counter[c] += reading[w].counter[c];
		for (uint32_t v = 0; v < workers; v++)
			sb_steal_add(&sum->steals, &reading[w].steals[v]);
	}
}

int sb_glances_start(struct sb_glances *g, const struct sb_worker_reading *start,
		     const struct sb_hist_counts *hists)
{
	const uint32_t hist = g ? sb_latency[g->latency].hist : 0;

	if (!g)
		return 0;
	sum_readings(start, sb_scheduler_workers(g->run->scheduler), &g->glance);
	g->requests = 0;
	g->ended = (struct sb_hist_counts){ .count = 0 };
	g->start_hist = hist < SB_HISTS ? hists[hist] : (struct sb_hist_counts){ .count = 0 };
	g->start = (struct sb_moment){ .at_ns = sb_clock_ns() };
	take_counts(&g->glance, 0, &g->start);
	g->start.kernel[SB_POINT_run_delay_ns] = sb_osview_run_delay_ns(g->os);
	sb_points_free(g->points);
	g->points = sb_points_new(g->interval_ns);
	if (!g->points)
		return -ENOMEM;
	*sb_points_next_hist(g->points) = g->start_hist;
	sb_points_begin(g->points, &g->start);
	g->next_ns = g->start.at_ns;
	g->is_stopping = false;
	g->round_goes_on = false;
	g->runs = !sb_thread_start(&g->thread, -1, run_glances, g);
	return g->runs ? 0 : -EAGAIN;
}

void sb_glances_round(struct sb_glances *g, bool goes_on)
{
	if (!g || !g->runs || !g->run->workload->peek)
		return;
	sb_lock_acquire(&g->lock);
	if (!goes_on) {
		g->ended = (struct sb_hist_counts){ .count = 0 };
		ask_workload(g, &g->ended);
	}
	g->round_goes_on = goes_on;
	sb_lock_release(&g->lock);
}

uint64_t sb_glances_stop(struct sb_glances *g)
{
	if (!g || !g->runs)
		return 0;
	sb_gate_lock(&g->gate);
	g->is_stopping = true;
	sb_gate_notify_and_unlock(&g->gate);
	sb_thread_join(&g->thread);
	g->runs = false;
	return g->cpu_ns;
}

struct sb_timeseries *sb_glances_keep(struct sb_glances *g, const struct sb_record *record)
{
	struct sb_moment end = { .at_ns = sb_clock_ns() };
	struct sb_hist_counts *hist;
	struct sb_timeseries *t;

	if (!g || g->lacked_memory)
		return NULL;
	sum_readings(record->worker, sb_scheduler_workers(g->run->scheduler), &g->glance);
	take_counts(&g->glance, record->requests ? record->requests->completed : 0, &end);
	for (int c = 0; c < SB_POINT_COUNTS; c++)
		end.count[c] += g->start.count[c];
	end.kernel[SB_POINT_run_delay_ns] = g->start.kernel[SB_POINT_run_delay_ns] +
					    round(1e6 * record->value[SB_METRIC_run_delay_ms]);
	hist = sb_points_next_hist(g->points);
	*hist = g->start_hist;
	sb_hist_merge(hist, &record->hist[sb_latency[g->latency].hist]);
	t = sb_points_end(g->points, &end);
	if (t) {
		t->latency = g->latency;
		t->has_requests = g->run->workload->peek;
	}
	return t;
}
