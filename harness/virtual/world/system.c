/*
 * system.c - what harness/system/ and harness/run/ground.h say of a modelled machine: nobody
 * disturbs it, and its costs are known.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/platform/virtual/engine.h"
#include "harness/kernel/osview.h"
#include "harness/kernel/stops.h"
#include "harness/kernel/switches.h"
#include "harness/run/ground.h"
#include "harness/system/clock_cost.h"
#include "harness/system/fault_cost.h"

struct sb_osview {
	uint32_t workers;
	uint64_t fetches[SB_WAYS]; /* at the start of the repetition */
};

struct sb_osview *sb_osview_open(const struct sb_osview_request *request)
{
	struct sb_osview *view = calloc(1, sizeof(*view));

	if (view)
		view->workers = request->workers;
	return view;
}

void sb_osview_close(struct sb_osview *view)
{
	free(view);
}

static void read_fetches(uint64_t out[SB_WAYS])
{
	for (int way = 0; way < SB_WAYS; way++)
		out[way] = 0;
	for (const struct sb_site *s = sb_virtual_sites(); s; s = s->next) {
		for (int way = 0; way < SB_WAYS; way++)
			out[way] += s->fetches[way];
	}
}

void sb_osview_begin(struct sb_osview *view)
{
	read_fetches(view->fetches);
}

/* There is no operating system to ask: all but the model's own counts is unknown. */
void sb_osview_end(struct sb_osview *view, struct sb_os_counts *counts,
		   struct sb_os_machine *machine)
{
	uint64_t now[SB_WAYS];

	for (uint32_t i = 0; i < view->workers; i++) {
		counts[i].window_ms = NAN;
		for (int k = 0; k < SB_OS_COUNTS; k++)
			counts[i].value[k] = NAN;
	}
	*machine = (struct sb_os_machine){ NAN, NAN, NAN, NAN, NAN, NAN, NAN, { 0 } };
	read_fetches(now);
	for (int way = 0; way < SB_WAYS; way++)
		machine->fetches[way] = (double)(now[way] - view->fetches[way]);
}

double sb_osview_run_delay_ns(const struct sb_osview *view)
{
	(void)view;
	return NAN;
}

void sb_osview_window(struct sb_osview *view, uint64_t start_ns, uint64_t end_ns)
{
	(void)view;
	(void)start_ns;
	(void)end_ns;
}

void sb_stops_begin(struct sb_stops *stops)
{
	*stops = (struct sb_stops){ .stopped_ns = 0 };
}

void sb_stops_waited(struct sb_stops *stops, uint64_t took_ns, uint64_t most_ns)
{
	(void)stops;
	(void)took_ns;
	(void)most_ns;
}

bool sb_ground_holds(struct sb_ground *ground, const struct sb_scheduler *scheduler)
{
	(void)ground;
	(void)scheduler;
	return true;
}

bool sb_ground_is_lost(struct sb_ground *ground, uint32_t worker, int rc)
{
	(void)ground;
	(void)worker;
	(void)rc;
	return false;
}

/* Its transfers are those of the model. */
double sb_ground_transfer_ns(const struct sb_ground *ground)
{
	(void)ground;
	return NAN;
}

/* Pages have none. */
double sb_fault_ns(void)
{
	return NAN;
}

double sb_look_ns(void)
{
	return (double)sb_virtual_costs()->clock_read_ps / 1000;
}

/* ---- who takes a CPU: nobody ---- */

struct sb_switches *sb_switches_open(const char *root, const int *thread_id, uint32_t workers)
{
	(void)root;
	(void)thread_id;
	(void)workers;
	return NULL;
}

void sb_switches_close(struct sb_switches *switches)
{
	(void)switches;
}

struct sb_thief *sb_switches_take(struct sb_switches *switches, uint32_t *n)
{
	(void)switches;
	*n = 0;
	return NULL;
}
