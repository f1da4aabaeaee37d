/* sums.h - what a row and a series are computed from. */
#ifndef SB_RESULTS_RECORD_SUMS_H
#define SB_RESULTS_RECORD_SUMS_H

#include "core/worker/distance.h"
#include "results/record/record.h"

/* The sum over some pairs of thief and victim. */
struct sb_steal_sum {
	uint32_t pairs;
	struct sb_steal_counts sum;
};

void sb_packed_hist_free(struct sb_packed_hist *packed);

/* Of a row, packed or not. */
void sb_record_free_hists(struct sb_record *record);

/* Sums the steals of a row, of all and by distance. */
void sb_steals_sum(const struct sb_record *record, const struct sb_placement *p,
		   struct sb_steal_sum *all, struct sb_steal_sum by[SB_DISTANCES]);

/* No metric is measured yet. */
void sb_record_clear_values(struct sb_record *record);

#endif
