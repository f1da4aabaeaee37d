/* exemplars.h - why the slowest events were slow: one cause each, in plain words. */
#ifndef SB_RESULTS_LEDGER_EXEMPLARS_H
#define SB_RESULTS_LEDGER_EXEMPLARS_H

#include <stdio.h>

#include "results/record/record.h"

/* In the order in which they are asked: the first that explains half of the time is the cause,
 * and if none does the one that explains most, unless that is less than a fifth. */
enum sb_cause {
	SB_CAUSE_STOPPED,
	SB_CAUSE_GENERATOR,
	SB_CAUSE_PREEMPTED,
	SB_CAUSE_BLOCKED,
	SB_CAUSE_FAULTS,
	SB_CAUSE_OWN_STEP,
	SB_CAUSE_STEP,
	SB_CAUSE_STEPS,
	SB_CAUSE_ASLEEP,
	SB_CAUSE_SEARCH,
	SB_CAUSE_BUSY,
	SB_CAUSE_UNKNOWN,
	SB_CAUSES
};

/* "stopped" and so on. */
const char *sb_cause_name(enum sb_cause cause);

#define SB_CAUSE_BYTES 320

/* The cause of one of these exemplars; text: caller's, for people, one line. */
enum sb_cause sb_exemplar_explain(char text[SB_CAUSE_BYTES], const struct sb_exemplars *all,
				  const struct sb_exemplar *exemplar);

/* One of a series, in all of its repetitions that count, and those that are invalid. */
struct sb_exemplar_spot {
	const struct sb_record *record;
	const struct sb_exemplar *exemplar;
};

/* The slowest of a kind, the slowest first, as many as one repetition keeps at most; for the
 * caller to free. NULL: there are none (*n is 0), or no memory. */
struct sb_exemplar_spot *sb_series_slowest(const struct sb_series *series,
					   enum sb_exemplar_kind kind, uint32_t *n);

/* Whether there are any. */
bool sb_series_has_exemplars(const struct sb_series *series, enum sb_exemplar_kind kind);

/* A line on the slowest event of the latency that the workload is for, if there is one. */
void sb_put_slowest(FILE *out, const struct sb_result *result, const struct sb_series *series);

/* Whether any series has any. */
bool sb_result_has_exemplars(const struct sb_result *result);

/* The kind that its workload is for, by the objective of it, a metric's name; else the first
 * that there is. SB_EXEMPLAR_KINDS: there is none. */
enum sb_exemplar_kind sb_series_main_exemplars(const struct sb_series *series,
					       const char *objective);

#endif
