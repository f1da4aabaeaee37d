/* ranked.h - the configurations of one workload, at one load, ranked by one objective or by two. */
#ifndef SB_HARNESS_SWEEP_RANKED_H
#define SB_HARNESS_SWEEP_RANKED_H

#include "harness/sweep/table.h"
#include "results/record/record.h"
#include "results/stats/front.h"

struct sb_ranked_objective {
	enum sb_metric_id metric;
	bool higher;   /* is better: value has the inverse */
	double *value; /* [n * rounds] */
	struct sb_rank *rank;
};

/* Configurations count from 0 here; `of` has their numbers in the sweep. */
struct sb_ranked {
	const struct sb_sweep_view *view;
	uint32_t *of; /* [n] */
	uint32_t n;
	uint32_t rounds;
	uint32_t objectives;
	struct sb_ranked_objective by[SB_FRONT_OBJECTIVES];
	struct sb_front front;		/* of one objective: its first ranking alone */
	struct sb_front_member *member; /* of two: [n] */
};

const struct sb_configuration *sb_ranked_configuration(const struct sb_ranked *g, uint32_t i);

const struct sb_series *sb_ranked_series(const struct sb_ranked *g, uint32_t i);

/* Calls put for each workload of the sweep, and for each of its loads if something else varies,
 * too: which setting is best may depend on the load, and the least load is no choice. */
void sb_ranked_each_group(const struct sb_sweep_view *view,
			  void (*put)(const struct sb_ranked *g, FILE *out), FILE *out);

/* Whether a configuration has that metric. */
bool sb_ranked_any_has(const struct sb_ranked *g, enum sb_metric_id metric);

/* The default under the circumstances of configuration i, see sweep.h; SB_NO_LEVEL: the
 * sweep has none, or it has too few values. */
uint32_t sb_ranked_default(const struct sb_ranked *g, uint32_t i);

/* Whether nothing but the load varies, so that there is no choice to rank. */
bool sb_ranked_is_load(const struct sb_ranked *g);

/* "10.2 ns [10.0 ns .. 10.4 ns]": the estimate that ranks it in an objective, with its
 * interval; unranked: the median and the range, or "-". */
#define SB_RANKED_CELL_BYTES 112
void sb_ranked_estimate(char out[SB_RANKED_CELL_BYTES], const struct sb_ranked *g,
			const struct sb_ranked_objective *by, uint32_t i);

/* "batch=16 spin-yield=12", without the workload. */
const char *sb_ranked_settings(const struct sb_ranked *g, uint32_t i);

/* ", the same as spin-yield=64": what has the same values as configuration i; or nothing. */
void sb_ranked_put_ties(const struct sb_ranked *g, const struct sb_ranked_objective *by, uint32_t i,
			FILE *out);

/* The ratio of configuration i to another one in an objective, lower is better. */
struct sb_ratio sb_ranked_ratio(const struct sb_ranked *g, const struct sb_ranked_objective *by,
				uint32_t i, uint32_t to);

/* "3.6 % [1.2 % .. 6.1 %] lower than", or "2.1 times [1.9 .. 2.3] as high as". */
void sb_ranked_put_change(const struct sb_ranked_objective *by, const struct sb_ratio *ratio,
			  FILE *out);

/* The answer: which one to choose, with one objective and with two. The first line says
 * it, the others, which are indented, say how sure it is and what it costs. */
void sb_ranked_put_best(const struct sb_ranked *g, FILE *out);
void sb_ranked_put_tradeoff(const struct sb_ranked *g, FILE *out);

#endif
