/*
 * costs.h - what `calibrate` has measured, as rows: a cost of costs.def, of
 * what, and the distribution of its samples.
 */
#ifndef SB_HARNESS_CALIBRATE_COSTS_H
#define SB_HARNESS_CALIBRATE_COSTS_H

#include <stdio.h>

#include "core/platform/clock.h"
#include "results/record/record.h"

enum sb_cost_id {
#define COST(name, unit, doc) SB_COST_##name,
#include "harness/calibrate/costs.def"
#undef COST
	SB_COSTS
};

struct sb_cost {
	enum sb_cost_id id;
	char of[48]; /* "CPU 0 to 1"; "" if there is only one */
	struct sb_spread spread;
	double p99; /* NaN: fewer than 100 samples */
};

struct sb_calibration {
	struct sb_clock_info clock;
	int *cpu; /* those that may be used */
	uint32_t cpus;
	bool quick;
	double load;	/* average of the last minute, at the start; NaN: unknown */
	char note[160]; /* what has been left out; "": nothing */
	struct sb_cost *cost;
	uint32_t costs;
	bool no_memory; /* something is missing */
};

/* Adds a row; sorts the samples. A row without any is not added. */
void sb_calibration_add(struct sb_calibration *c, enum sb_cost_id id, const char *of,
			double *sample, uint32_t samples);

/* The same with the one value that there is; NaN: none. */
void sb_calibration_add_one(struct sb_calibration *c, enum sb_cost_id id, const char *of,
			    double value);

/* Returns the median of the first row of that cost whose `of` is the given text, or begins with it and a
 * space. NaN: there is none. */
double sb_calibration_median(const struct sb_calibration *c, enum sb_cost_id id, const char *of);

/* How many samples, of so many if there is time. */
static inline uint32_t sb_calibration_samples(const struct sb_calibration *c, uint32_t samples)
{
	return c->quick ? (samples + 9) / 10 : samples;
}

/* Whether other programs probably disturbed it. */
static inline bool sb_calibration_is_disturbed(const struct sb_calibration *c)
{
	return c->load > 0.5 * c->cpus;
}

void sb_calibration_free(struct sb_calibration *c);

/* As a table, one JSON document, or CSV. Each returns 0 or -errno. */
int sb_calibration_write_pretty(const struct sb_calibration *c, FILE *out);
int sb_calibration_write_json(const struct sb_calibration *c, FILE *out);
int sb_calibration_write_csv(const struct sb_calibration *c, FILE *out);

#endif
