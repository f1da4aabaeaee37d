/*
 * steal.h - the steal ledger: what stealing took, which processes went to and fro, what a move
 * cost, and for how long work waited while a worker was idle.
 */
#ifndef SB_RESULTS_LEDGER_STEAL_H
#define SB_RESULTS_LEDGER_STEAL_H

#include <stdio.h>

#include "core/worker/distance.h"
#include "results/record/record.h"

#define SB_MISSED_PLACES (SB_COUNTER_missed_held_ns - SB_COUNTER_missed_own_ns + 1)

/* "own deque" and so on, in the order of the counters. */
const char *sb_missed_place_name(uint32_t place);

/* Between workers that are that far apart. */
struct sb_steal_line {
	uint32_t pairs;
	struct sb_steal_counts sum;
	double failed_ns; /* rounds that took nothing: each thief's, by its failed attempts */
};

/* Of all repetitions that count. */
struct sb_steal_ledger {
	struct sb_steal_line all;
	struct sb_steal_line by[SB_DISTANCES];
	uint64_t steps;
	uint64_t missed_ns[SB_MISSED_PLACES];
	double waited_ns;  /* of the timed processes in queues: the first five are of that, */
	double sent_ns;	   /* and the last is of the time from send to step */
	double stayed_ns;  /* a timed step on the worker of the step before, mean; NaN: none */
	double missed_p50; /* NaN: nothing was missed */
};

/* False: nothing was recorded, or by a version that did not count this. */
bool sb_series_steal_ledger(const struct sb_series *series, struct sb_steal_ledger *out);

/* Of timed steps after a move: how much longer they take than the others, mean; NaN: none. */
double sb_steal_move_ns(const struct sb_steal_ledger *ledger, const struct sb_steal_line *line);

/* In percent of the waits that it is of; NaN: there was none. */
double sb_steal_missed_pct(const struct sb_steal_ledger *ledger, uint32_t place);

#define SB_STEAL_TEXT_BYTES 400

/* What it says, for people, in one sentence; "": nothing was stolen, nor missed. */
void sb_steal_describe(const struct sb_steal_ledger *ledger, char text[SB_STEAL_TEXT_BYTES]);

/* The first half of it that there is. */
void sb_steal_title(const struct sb_steal_ledger *ledger, char text[SB_STEAL_TEXT_BYTES]);

/* A line, if the series has much ping-pong, or misses more than wakes take. */
void sb_put_steal_finding(FILE *out, const struct sb_result *result,
			  const struct sb_series *series);

bool sb_result_has_steal_ledger(const struct sb_result *result);

/* steal_ledger.csv: a row for each thief and victim. Returns 0 or -errno. */
int sb_write_steal_ledger_csv(const struct sb_result *result, FILE *out);

#endif
