/*
 * slo.h - the highest rate of requests that meets a service level objective
 * such as p99<200us of the sojourn time, by bisection.
 *
 * A step is a repetition at one rate, and as long as the percentile needs at that rate. A row
 * that is invalid, or has too few requests all the same, decides nothing, and neither does a
 * suspect one that has missed: the same rate is tried again, and after two such steps a lower one.
 * A suspect row decides if it meets the objective, or if it misses in the second try. A percentile
 * that is not there, because so many requests were lost, does not meet anything.
 */
#ifndef SB_HARNESS_RUN_SLO_H
#define SB_HARNESS_RUN_SLO_H

#include "results/record/record.h"

struct sb_slo {
	enum sb_metric_id metric;
	double share; /* of the percentile; 0: it is none */
	double below_ns;
};

/* "p99<200us", or with blanks: mean, p50, p90, p99, p99.9 or max. False: it is none. */
bool sb_slo_parse(const char *text, struct sb_slo *slo);

bool sb_slo_is_met(const struct sb_slo *slo, const struct sb_record *record);

/* Whether a row says anything about it. */
bool sb_slo_is_decided(const struct sb_slo *slo, const struct sb_record *record);

/* The answer lies between the highest rate that met it (0: none has) and the
 * lowest that missed it (at first the capacity, which nobody has tried). */
struct sb_search {
	double met_per_s;
	double missed_per_s;
	bool missed_is_measured;
	/* The same by the requests that came, whose number is random: the highest rate that met the
	 * objective, the lowest that missed it; 0: none has. */
	double met_offered_per_s;
	double missed_offered_per_s;
	double capacity_per_s;
	uint32_t met_step; /* 1 + the step that did; 0: none has */
	uint32_t steps;
	uint32_t undecided; /* of these: they said nothing */
	uint32_t stalled;   /* such steps since the last that decided */
	uint32_t suspect;   /* of these */
};

/* The rate to try next. */
double sb_search_next(const struct sb_search *search);

/* How long the step at that rate has to be, at least as long as asked for, and at most 20 times. */
uint64_t sb_search_duration(const struct sb_search *search, const struct sb_slo *slo,
			    uint64_t least_ns);

/* After the repetition at that rate. */
void sb_search_take(struct sb_search *search, const struct sb_slo *slo,
		    const struct sb_record *record);

/* One line without its end, for people; out has room for SB_SLO_BYTES. */
#define SB_SLO_BYTES (SB_REASON_BYTES + 200)
void sb_search_describe_step(char *out, double rate_per_s, const struct sb_slo *slo,
			     const struct sb_record *record);
void sb_search_describe(char *out, const struct sb_search *search, const char *slo_text);

#endif
