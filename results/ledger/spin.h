/*
 * spin.h - the spin ledger: what every spin threshold would have cost, computed from one run.
 *
 * A worker that runs out of work spins until there is some, or for as long as a threshold says, and
 * then parks. The gaps of a run, from running out to the next work that could be had, say for every
 * threshold T what that comes to: a gap g costs min(g, T) of CPU time, and if g > T also the CPU time
 * of a sleep and a wake, and the latency of a wake. This is the ski-rental problem; see Karlin, Li,
 * Manasse and Owicki, Empirical studies of competitive spinning for a shared-memory multiprocessor,
 * SOSP 1991.
 *
 * What this cannot know: another threshold changes the gaps themselves. A worker that spins finds
 * work that another would have been woken for. That a wake delays what comes after it is computed
 * for requests that come by a schedule, as if they came at random. That not all workers may spin at
 * once (--searchers) is computed as if workers were independent of each other. scripts/spin-check
 * compares it with sweeps.
 */
#ifndef SB_RESULTS_LEDGER_SPIN_H
#define SB_RESULTS_LEDGER_SPIN_H

#include <stdio.h>

#include "results/record/record.h"

/* From 0, then from 100 ns to 1 s, twenty for each power of ten. */
#define SB_SPIN_POINTS 142

/* How many ns of CPU time a ns of latency is worth. */
#define SB_SPIN_PRICES 3
extern const double sb_spin_price[SB_SPIN_PRICES];
#define SB_SPIN_PRICE 1 /* the one that the finding is by: as much */

/* Of one operation. NaN: unknown. */
struct sb_spin_point {
	double threshold_ns;
	double spins; /* spin-tight and spin-yield together that take so long */
	double parks;
	double cpu_ns;		/* of spinning, sleeping and being woken */
	double total_cpu_ns;	/* and of everything else */
	double latency_ns_mean; /* that wakes add to it */
	double latency_ns_p99;	/* of an idle episode's end */
	/* By how much it costs more than what is least if the future is known, at each
	 * price: 0.1 is 10 %. */
	double regret[SB_SPIN_PRICES];
};

struct sb_spin_ledger {
	double wake_ns;	    /* mean latency of a wake */
	double wake_cpu_ns; /* CPU time of a sleep and a wake */
	uint32_t best[SB_SPIN_PRICES];
	/* As measured; its threshold is the time of so many spins. */
	struct sb_spin_point now;
	struct sb_spin_point point[SB_SPIN_POINTS];
};

/* A reason why there is no ledger: threads that wait for a CPU spin by the clock, and use none. */
extern const char sb_spin_preempted[];

/* For the caller to free. NULL: there is nothing to compute it from, or no memory; *why says it. */
struct sb_spin_ledger *sb_spin_ledger_make(const struct sb_series *series,
					   const struct sb_result *result, const char **why);

/* What the threshold that is best at SB_SPIN_PRICE would change. */
#define SB_SPIN_FINDING_BYTES 300
void sb_spin_ledger_describe(const struct sb_spin_ledger *ledger, char out[SB_SPIN_FINDING_BYTES]);

/* A line with that, if the series has a ledger, or that there is none because of sb_spin_preempted. */
void sb_put_spin_finding(FILE *out, const struct sb_result *result, const struct sb_series *series);

/* Whether a series of it has one. */
bool sb_result_has_spin_ledger(const struct sb_result *result);

/* spin_ledger.csv. Returns 0 or -ENOMEM. */
int sb_write_spin_ledger_csv(const struct sb_result *result, FILE *out);

#endif
