#include "workloads/load/load.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/load/quantity.h"

#define NS_PER_S 1e9

/* ---- from text ---- */

static int parse_bursty(struct sb_load *load, char *text)
{
	const char *on = strsep(&text, ":");

	if (!text || !sb_quantity_time(on, &load->on_ns) ||
	    !sb_quantity_time(text, &load->off_ns) || load->on_ns <= 0)
		return -EINVAL;
	load->arrival = SB_ARRIVAL_BURSTY;
	return 0;
}

static int parse_trace(struct sb_load *load, const char *path, char *why)
{
	double sum = 0;
	int rc = sb_times_read(&load->trace, path, why);

	for (uint32_t i = 0; i < load->trace.count; i++)
		sum += load->trace.ns[i];
	if (rc)
		return rc;
	load->arrival = SB_ARRIVAL_TRACE;
	if (sum > 0) {
		load->rate_per_s = NS_PER_S * load->trace.count / sum;
		return 0;
	}
	sb_load_fini(load);
	snprintf(why, SB_WHY_BYTES, "%s: all gaps are 0", path);
	return -EINVAL;
}

static int parse_arrival(struct sb_load *load, char *text, char *why)
{
	char *rest = text;
	const char *name = strsep(&rest, ":");

	snprintf(why, SB_WHY_BYTES,
		 "expected poisson, fixed, bursty:ON:OFF (times with their units) or trace:FILE");
	if (rest && !strcmp(name, "bursty"))
		return parse_bursty(load, rest);
	if (rest && !strcmp(name, "trace"))
		return parse_trace(load, rest, why);
	if (!rest && !strcmp(name, "poisson"))
		load->arrival = SB_ARRIVAL_POISSON;
	else if (!rest && !strcmp(name, "fixed"))
		load->arrival = SB_ARRIVAL_FIXED;
	else
		return -EINVAL;
	return 0;
}

int sb_load_set_arrival(struct sb_load *load, const char *text, char *why)
{
	char *copy = strdup(text);
	int rc = -ENOMEM;

	snprintf(why, SB_WHY_BYTES, "no memory");
	if (copy)
		rc = parse_arrival(load, copy, why);
	free(copy);
	return rc;
}

void sb_load_fini(struct sb_load *load)
{
	sb_times_fini(&load->trace);
}

double sb_load_arrival_scv(const struct sb_load *load)
{
	const struct sb_times *trace = &load->trace;
	const double mean = NS_PER_S / load->rate_per_s;
	double squares = 0;

	if (load->arrival == SB_ARRIVAL_FIXED)
		return 0;
	if (load->arrival != SB_ARRIVAL_TRACE)
		return 1;
	for (uint32_t i = 0; i < trace->count; i++)
		squares += (trace->ns[i] - mean) * (trace->ns[i] - mean);
	return squares / trace->count / (mean * mean);
}

double sb_load_cycle_ns(const struct sb_load *load)
{
	return load->arrival == SB_ARRIVAL_BURSTY ? load->on_ns + load->off_ns : 0;
}

/* ---- intended times ---- */

void sb_arrivals_init(struct sb_arrivals *a, const struct sb_load *load, uint32_t generator)
{
	*a = (struct sb_arrivals){
		.load = load,
		.phase_ns = NS_PER_S / load->rate_per_s * generator,
		.skip = generator,
	};
	sb_rng_seed(&a->rng, load->seed + generator);
}

/* Between two of one generator's requests, on average and without silence. */
static double own_gap(const struct sb_load *load)
{
	const double share =
		load->arrival == SB_ARRIVAL_BURSTY ? load->on_ns / (load->on_ns + load->off_ns) : 1;

	return NS_PER_S / load->rate_per_s * load->generators * share;
}

/* Time on becomes time with the silences before it. */
static double with_silence(const struct sb_load *load, double on_ns)
{
	const double bursts = floor(on_ns / load->on_ns);

	return on_ns + bursts * load->off_ns;
}

/* Every generator walks through the whole trace and takes its share of it. */
static double next_of_trace(struct sb_arrivals *a)
{
	const struct sb_times *trace = &a->load->trace;

	for (uint32_t i = 0; i <= a->skip; i++) {
		a->now_ns += trace->ns[a->gap];
		a->gap = a->gap + 1 < trace->count ? a->gap + 1 : 0;
	}
	a->skip = a->load->generators - 1;
	return a->now_ns;
}

double sb_arrivals_next(struct sb_arrivals *a)
{
	const struct sb_load *load = a->load;
	double time;

	switch (load->arrival) {
	case SB_ARRIVAL_TRACE:
		return next_of_trace(a);
	case SB_ARRIVAL_FIXED:
		time = a->phase_ns + a->now_ns;
		a->now_ns += own_gap(load);
		return time;
	case SB_ARRIVAL_POISSON:
	case SB_ARRIVAL_BURSTY:
	default:
		a->now_ns += own_gap(load) * sb_rng_exponential(&a->rng);
		break;
	}
	return load->arrival == SB_ARRIVAL_BURSTY ? with_silence(load, a->now_ns) : a->now_ns;
}
