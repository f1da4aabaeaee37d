/* ranked.h - the configurations of one workload, ranked. */
#ifndef SB_HARNESS_SWEEP_RANKED_H
#define SB_HARNESS_SWEEP_RANKED_H

#include "harness/sweep/table.h"
#include "results/record/record.h"
#include "results/stats/ranking.h"

/* The table of one workload. Configurations count from 0 here; first is where
 * they begin in the sweep. */
struct sb_ranked {
	const struct sb_sweep_view *view;
	uint32_t first;
	uint32_t n;
	uint32_t rounds;
	bool higher;   /* is better: value has the inverse */
	double *value; /* [n * rounds] */
	struct sb_rank *rank;
	struct sb_ranking ranking;
};

const struct sb_configuration *sb_ranked_configuration(const struct sb_ranked *g, uint32_t i);

const struct sb_series *sb_ranked_series(const struct sb_ranked *g, uint32_t i);

/* Calls put for each workload of the sweep. */
void sb_ranked_each_group(const struct sb_sweep_view *view,
			  void (*put)(const struct sb_ranked *g, FILE *out), FILE *out);

/* Whether a configuration has that metric. */
bool sb_ranked_any_has(const struct sb_ranked *g, enum sb_metric_id metric);

void sb_sweep_put_recommendation(const struct sb_ranked *g, FILE *out);

#endif
