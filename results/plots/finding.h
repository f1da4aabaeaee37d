/*
 * finding.h - what a picture's numbers settle: medians with their intervals, and
 * which of its lines is best, as words for sb_plot_finding.
 */
#ifndef SB_RESULTS_PLOTS_FINDING_H
#define SB_RESULTS_PLOTS_FINDING_H

#include "results/plots/plot.h"
#include "results/stats/ranking.h"

/*
 * A value with its 95 % interval: in a sweep the estimate by which its configurations are compared
 * (compare/contest.h), which the headline and the table have, too; else the median, with the extremes if
 * there are fewer than 6 repetitions.
 */
struct sb_plot_median {
	uint32_t n; /* repetitions; 0: none, and NaN */
	bool is_interval;
	double at, low, high;
	bool is_estimate;
	bool is_incomplete; /* an estimate, and repetitions are missing */
};
struct sb_plot_median sb_plot_median(const struct sb_plot_view *view, uint32_t line,
				     enum sb_metric_id metric);

/* A line in the block that is open: a median with its interval, at x. */
void sb_plot_put_median(struct sb_plot *plot, double x, const struct sb_plot_median *median,
			double edge, uint32_t style, bool is_suspect);

/* For the caption: which kinds of values are drawn. sb_plot_put_median does it. */
void sb_plot_note_median(struct sb_plot *plot, const struct sb_plot_median *median);

/* A curve through a block of these: line, bars, and points of the i-th style. */
void sb_plot_median_curve(struct sb_plot *plot, uint32_t block, const char *label, uint32_t i);

/* Which lines, and by what. */
struct sb_plot_contest {
	enum sb_metric_id metric;
	const char *noun; /* "throughput" */
	const bool *in;	  /* [lines]; NULL: all */
};

/* Whether differences are more than chance is tested in a sweep alone, where the configurations
 * have run in the same rounds. */
struct sb_plot_best {
	uint32_t compared; /* lines with numbers; 0: none, and the rest is not there */
	uint32_t line;
	double value, last; /* of the best and the worst */
	bool is_tested;
	bool is_settled; /* it is tested, and all others are worse */
};
struct sb_plot_best sb_plot_find_best(const struct sb_plot_view *view,
				      const struct sb_plot_contest *contest);

/* What is known of a line among those it is compared with. */
enum sb_mark sb_plot_standing(const struct sb_plot_view *view, uint32_t line,
			      enum sb_metric_id metric);

/* Of one workload: "Best CPU time: wake=local, 20.4 ns", as the sweep's headline; untested: "... (not
 * tested)"; "" without numbers. out has room for SB_PLOT_FINDING_BYTES. */
#define SB_PLOT_FINDING_BYTES 400
void sb_plot_describe_best(char *out, const struct sb_plot_view *view,
			   const struct sb_plot_contest *contest);

/* "wall time per operation", "p99 of ready-to-running". */
#define SB_PLOT_NOUN_BYTES 80
void sb_plot_noun(char *out, enum sb_metric_id metric);

#endif
