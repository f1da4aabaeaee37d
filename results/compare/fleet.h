/*
 * fleet.h - sweeps of several machines: the best setting of each, and the one that is best over all
 * of them, with how far it is from each machine's own best.
 *
 * Settings are the same if what was swept has the same values. Those that all machines have are
 * compared, by the estimates of contest.h for the workload's objective. Over all machines the best is the one
 * whose geometric mean of the ratios to each machine's best is the best: a machine that is slow
 * does not count more. Of settings that are equally good, the default is best.
 */
#ifndef SB_RESULTS_COMPARE_FLEET_H
#define SB_RESULTS_COMPARE_FLEET_H

#include "results/record/record.h"

struct sb_fleet_row {
	const struct sb_result *result;
	char *best; /* "steal=half batch=1" */
	double best_value;
	double overall_value; /* of the setting that is best over all */
	double ratio;	      /* of both; 1: it is this machine's best, too */
};

/* One workload. */
struct sb_fleet_table {
	const char *workload; /* the results' */
	enum sb_metric_id metric;
	char *overall;
	struct sb_fleet_row *row; /* [results] */
};

struct sb_fleet {
	uint32_t results;
	struct sb_fleet_table *table; /* [tables] */
	uint32_t tables;	      /* 0: they are not sweeps, or share no settings */
};

/* Returns 0 or -ENOMEM; for sb_fleet_free in both cases. */
SB_MUST_CHECK int sb_fleet_make(struct sb_fleet *fleet, const struct sb_result *result,
				uint32_t results);
void sb_fleet_free(struct sb_fleet *fleet);

/* "xeon-2s": the machine's own name, as a processor or as a profile. */
const char *sb_fleet_machine_name(const struct sb_result *result);

/* By how much the setting that is best over all is worse than the machine's best, in per cent. */
double sb_fleet_loss(const struct sb_fleet_row *row);

/* What was found, as a sentence without its full stop; for the caller to free, NULL: no memory. */
char *sb_fleet_answer(const struct sb_fleet_table *table, uint32_t results);

#endif
