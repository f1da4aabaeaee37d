/* ranked.h - the configurations of one workload, at one load, ranked by one objective or by two. */
#ifndef SB_HARNESS_SWEEP_RANKED_H
#define SB_HARNESS_SWEEP_RANKED_H

#include "harness/sweep/table.h"
#include "results/compare/contest.h"
#include "results/record/record.h"
#include "results/stats/front.h"

/* Configurations count from 0 here; `of` has their numbers in the sweep. */
struct sb_ranked {
	const struct sb_sweep_view *view;
	uint32_t *of;	   /* [n] */
	const char **name; /* [n] "batch=16 spin-yield=12", without the workload */
	uint32_t n;
	bool is_load; /* nothing but the load varies, so that there is no choice to rank */
	uint32_t objectives;
	struct sb_contest by[SB_FRONT_OBJECTIVES];
	struct sb_front front;		/* of two objectives */
	struct sb_front_member *member; /* the same: [n] */
};

const struct sb_configuration *sb_ranked_configuration(const struct sb_ranked *g, uint32_t i);

const struct sb_series *sb_ranked_series(const struct sb_ranked *g, uint32_t i);

/* Calls put for each workload of the sweep, and for each of its loads if something else varies,
 * too: which setting is best may depend on the load. */
void sb_ranked_each_group(const struct sb_sweep_view *view,
			  void (*put)(const struct sb_ranked *g, void *arg), void *arg);

/* Whether a configuration has that metric. */
bool sb_ranked_any_has(const struct sb_ranked *g, enum sb_metric_id metric);

/* Whether configurations are ranked: there are several, and one at least is judged in each
 * objective. */
bool sb_ranked_is_ranked(const struct sb_ranked *g);

/* The default under the circumstances of configuration i, see sweep.h; SB_NO_LEVEL: the
 * sweep has none, or it has no numbers. */
uint32_t sb_ranked_default(const struct sb_ranked *g, uint32_t i);

/* Of two objectives: "on" the front by the estimates; "~" or "?": it may be, as its mark in an
 * objective says; else "". */
const char *sb_ranked_front(const struct sb_ranked *g, uint32_t i);

/* sb_contest_put, of one objective. */
void sb_ranked_put_headline(const struct sb_contest *contest, const char *const *name, FILE *out);

/* "3.6 % lower than", "2.1 times as high as" or "the same as": configuration i against another one. */
void sb_ranked_put_change(const struct sb_contest *by, uint32_t i, uint32_t to, FILE *out);

/* The answer: which one to choose, with one objective and with two. The first line says
 * it, the others, which are indented, what it gains and costs. */
void sb_ranked_put_best(const struct sb_ranked *g, FILE *out);
void sb_ranked_put_tradeoff(const struct sb_ranked *g, FILE *out);

#endif
