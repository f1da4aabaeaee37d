#include "harness/run/load.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/run/slo.h"
#include "harness/terminal/status.h"
#include "workloads/load/quantity.h"
#include "workloads/load/steady.h"

/* Requests under way for each worker, so that none ever waits for one. */
#define SATURATING_DEPTH 64

#define RATE_MAX 1e9

/* ---- from the options ---- */

static bool is_given(const struct sb_options *options, enum sb_option_id id)
{
	return *options->value[id].text;
}

double sb_load_share(const struct sb_options *options)
{
	double share = NAN;

	if (!is_given(options, SB_OPT_load))
		return NAN;
	return sb_quantity_percent(options->value[SB_OPT_load].text, &share) ? share : NAN;
}

static int set_rate(struct sb_load *load, const struct sb_options *options)
{
	struct sb_slo slo;
	double share;

	if (is_given(options, SB_OPT_rate)) {
		load->kind = SB_LOAD_OPEN;
		if (!sb_quantity_rate(options->value[SB_OPT_rate].text, &load->rate_per_s) ||
		    load->rate_per_s <= 0 || load->rate_per_s > RATE_MAX)
			return sb_option_refuse(
				options, SB_OPT_rate,
				"expected a rate above 0 with its unit, /s, k/s or M/s (200k/s)");
	}
	if (is_given(options, SB_OPT_find_slo)) {
		load->kind = SB_LOAD_OPEN;
		if (!sb_slo_parse(options->value[SB_OPT_find_slo].text, &slo))
			return sb_option_refuse(options, SB_OPT_find_slo,
						"expected mean, p50, p90, p99, p99.9 or max below "
						"a time with its unit (p99<200us)");
	}
	if (is_given(options, SB_OPT_load)) {
		load->kind = SB_LOAD_OPEN;
		share = sb_load_share(options);
		if (!(share > 0 && share <= 10))
			return sb_option_refuse(
				options, SB_OPT_load,
				"expected a share above 0% and up to 1000%, such as 70%");
	}
	return 0;
}

static int set_arrival(struct sb_load *load, const struct sb_options *options)
{
	char why[SB_WHY_BYTES];

	if (sb_load_set_arrival(load, options->value[SB_OPT_arrival].text, why))
		return sb_option_refuse(options, SB_OPT_arrival, why);
	if (load->arrival == SB_ARRIVAL_TRACE)
		load->kind = SB_LOAD_OPEN;
	return 0;
}

int sb_load_make(struct sb_load *load, const struct sb_options *options, uint32_t workers)
{
	const struct sb_option_value *closed = &options->value[SB_OPT_closed];
	int rc;

	*load = (struct sb_load){
		.kind = SB_LOAD_CLOSED,
		.depth = closed->alternative ? (uint32_t)closed->number : 2 * workers,
		.generators = (uint32_t)sb_opt(options, SB_OPT_generators),
		.late_ns = sb_opt(options, SB_OPT_late),
		.seed = sb_opt(options, SB_OPT_seed),
	};
	rc = set_arrival(load, options);
	if (!rc)
		rc = set_rate(load, options);
	if (rc)
		sb_load_fini(load);
	return rc;
}

/* ---- the CPUs ---- */

static uint32_t submitters(const struct sb_options *options, const struct sb_chosen *chosen)
{
	const struct sb_workload *workload = chosen->workload;

	if (workload->takes_requests)
		return (uint32_t)sb_opt(options, SB_OPT_generators);
	return workload->submitters ? workload->submitters(chosen->param) : 0;
}

uint32_t sb_load_sharing(const struct sb_options *options, const struct sb_chosen *chosen,
			 const struct sb_ground *ground, uint32_t *cpus)
{
	const uint32_t threads = submitters(options, chosen);
	const struct sb_placement *p = ground->placement;
	struct sb_cpu_mask workers = { 0 };
	struct sb_cpu_mask all = ground->usable;
	uint32_t free;

	for (uint32_t i = 0; i < p->workers; i++) {
		sb_cpu_mask_add(&workers, p->place[i].os_cpu);
		sb_cpu_mask_add(&all, p->place[i].os_cpu);
	}
	*cpus = sb_cpu_mask_count(&all);
	free = *cpus - sb_cpu_mask_count(&workers);
	return free < sb_cpu_mask_count(&ground->usable) && free < threads ? threads : 0;
}

/* ---- what does not go together ---- */

static int check_ways(const struct sb_options *options, const struct sb_load *load)
{
	const bool closed = options->value[SB_OPT_closed].alternative;
	const int ways = closed + is_given(options, SB_OPT_rate) + is_given(options, SB_OPT_load) +
			 is_given(options, SB_OPT_find_slo) + (load->arrival == SB_ARRIVAL_TRACE);

	if (ways > 1)
		return sb_fail(SB_EXIT_USAGE, "--closed, --rate, --load, --find-slo and --arrival "
					      "trace: expected at most one of them");
	if (load->kind == SB_LOAD_CLOSED && sb_option_is_said(options, SB_OPT_arrival))
		return sb_fail(SB_EXIT_USAGE, "--arrival: a closed loop has no arrivals; expected "
					      "--rate or --load with it");
	return 0;
}

bool sb_load_is_taken(const struct sb_options *options)
{
	for (uint32_t i = 0; i < options->chosens; i++) {
		if (options->chosen[i].workload->takes_requests)
			return true;
	}
	return false;
}

static int check_use(const struct sb_options *options)
{
	static const enum sb_option_id ids[] = {
		SB_OPT_closed,	   SB_OPT_rate, SB_OPT_load,	 SB_OPT_arrival,
		SB_OPT_generators, SB_OPT_late, SB_OPT_find_slo,
	};

	if (sb_load_is_taken(options))
		return 0;
	for (size_t i = 0; i < SB_ARRAY_SIZE(ids); i++) {
		if (sb_option_is_said(options, ids[i]))
			return sb_fail(SB_EXIT_USAGE,
				       "--%s: none of the chosen workloads (%s) takes requests",
				       sb_option[ids[i]].name,
				       options->value[SB_OPT_workload].text);
	}
	return 0;
}

static int check_slo(const struct sb_options *options)
{
	if (is_given(options, SB_OPT_find_slo) && options->chosens > 1)
		return sb_fail(SB_EXIT_USAGE,
			       "--find-slo: %" PRIu32 " workloads are chosen; expected one",
			       options->chosens);
	return 0;
}

int sb_load_check(const struct sb_options *options)
{
	struct sb_load load;
	int rc = sb_load_make(&load, options, 1);

	if (rc)
		return rc;
	rc = check_ways(options, &load);
	sb_load_fini(&load);
	if (!rc)
		rc = check_slo(options);
	return rc ? rc : check_use(options);
}

bool sb_load_has_schedule(const struct sb_options *options)
{
	struct sb_load load;

	for (uint32_t i = 0; i < options->chosens; i++) {
		if (!options->chosen[i].workload->takes_requests)
			return false;
	}
	if (!options->chosens || sb_load_make(&load, options, 1))
		return false;
	sb_load_fini(&load);
	return load.kind == SB_LOAD_OPEN;
}

/* ---- the capacity ---- */

void sb_load_saturate(struct sb_load *load, uint32_t workers)
{
	load->kind = SB_LOAD_CLOSED;
	load->depth = SATURATING_DEPTH * workers;
	/* In an open loop the workers have no generators to wake. */
	load->in_bulk = true;
}

double sb_load_capacity(const struct sb_requests *r, uint32_t workers)
{
	const double each = (double)r->wall_ns / (double)r->completed;
	const double asked = r->asked_ns / (double)r->completed;

	return 1e9 / (each + (r->asked_mean_ns - asked) / workers);
}

void sb_load_open(struct sb_load *load, double rate_per_s)
{
	load->kind = SB_LOAD_OPEN;
	load->in_bulk = false;
	load->rate_per_s = rate_per_s;
}

/* ---- the steady state ---- */

/* After 3 relaxation times, 6 units of the diffusion, the mean is within 0.3 % of its final one (Abate
 * and Whitt, see workloads/load/steady.h). */
#define RELAXED		  3
/* A repetition is long enough for batches of 5 relaxation times, and some more. */
#define LEAST_RELAXATIONS 100
/* To either side of the mean, as a part of it: of all repetitions together, so that it is within 5 % in
 * 999 of 1000 runs; and of a step of a search, or of a single one that others are put beside. */
#define MEAN_PART	  0.03
#define STEP_PART	  0.05
/* Requests of all repetitions, times servers: half a minute. One of them is not much longer than by
 * default, for --timeout bounds it. */
#define MOST_WORK	  8e6
#define LEAST_PARTS	  3

/* By whole cycles of the arrivals, so that none of their phases counts twice. */
static uint64_t whole_cycles(const struct sb_load *load, double ns)
{
	const double cycle_ns = sb_load_cycle_ns(load);

	return (uint64_t)(cycle_ns > 0 ? ceil(ns / cycle_ns) * cycle_ns : ceil(ns));
}

struct sb_steady sb_load_steady(const struct sb_load *load, const struct sb_options *options,
				uint32_t workers, double capacity_per_s, double asked_ns,
				double asked_scv)
{
	const double repetitions = (double)sb_opt(options, SB_OPT_repetitions);
	const double rate = load->rate_per_s;
	const double servers = capacity_per_s > 0
				       ? fmax(1, fmin(workers, capacity_per_s * asked_ns / 1e9))
				       : workers;
	const double service_ns = capacity_per_s > 0 ? 1e9 * servers / capacity_per_s : asked_ns;
	const struct sb_queue queue = {
		.load = rate * service_ns / 1e9 / servers,
		.servers = servers,
		.service_ns = service_ns,
		.arrival_scv = sb_load_arrival_scv(load),
		.service_scv = asked_scv,
	};
	struct sb_steady s = { .load = queue.load };
	const double most_ns = 1e9 * MOST_WORK / (rate * servers * fmax(repetitions, LEAST_PARTS));

	if (load->kind != SB_LOAD_OPEN || !sb_opt(options, SB_OPT_virtual) || !(queue.load > 0))
		return (struct sb_steady){ 0 };
	if (queue.load >= 1)
		return s;
	s.relaxation_ns = fmin(sb_queue_relaxation_ns(&queue), most_ns);
	s.needed_ns = repetitions < 2 || is_given(options, SB_OPT_find_slo)
			      ? sb_queue_mean_ns(&queue, STEP_PART)
			      : sb_queue_mean_ns(&queue, MEAN_PART) / repetitions;
	s.needed_ns = fmax(s.needed_ns, LEAST_RELAXATIONS * s.relaxation_ns);
	s.relax_ns = whole_cycles(load, fmin(RELAXED * s.relaxation_ns, most_ns / 10));
	s.duration_ns = whole_cycles(load, fmin(s.needed_ns, most_ns));
	return s;
}
