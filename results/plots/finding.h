/*
 * finding.h - what a picture's numbers settle: medians with their intervals, and
 * which of its lines is best, as words for sb_plot_finding.
 */
#ifndef SB_RESULTS_PLOTS_FINDING_H
#define SB_RESULTS_PLOTS_FINDING_H

#include "results/plots/plot.h"

/* A line in the block that is open: a median with its interval, at x. */
void sb_plot_put_median(struct sb_plot *plot, double x, const struct sb_median *median, double edge,
			uint32_t style, bool is_suspect);

/* A curve through a block of these: line, bars, and points of the i-th style. */
void sb_plot_median_curve(struct sb_plot *plot, uint32_t block, const char *label, uint32_t i);

/* Which lines, and by what. */
struct sb_plot_contest {
	enum sb_metric_id metric;
	const char *noun; /* "throughput" */
	const bool *in;	  /* [lines]; NULL: all */
};

/* By Mann and Whitney's test of each against the best, with an error of 5 % for all
 * of them together. */
struct sb_plot_best {
	uint32_t compared; /* lines with numbers; 0: none, and the rest is not there */
	uint32_t line;
	uint32_t second;	  /* the next one, if there are two */
	uint32_t alike;		  /* others without a significant difference from the best */
	double value, next, last; /* medians of the best, the second and the worst */
};
struct sb_plot_best sb_plot_find_best(const struct sb_plot_view *view,
				      const struct sb_plot_contest *contest);

/* Whether two lines differ significantly, with that error. */
bool sb_plot_are_apart(const struct sb_plot_view *view, uint32_t a, uint32_t b,
		       enum sb_metric_id metric, double level);

/* Of one workload: "wake=local has 58 % lower CPU time than wake=global", "... do not differ significantly in
 * CPU time"; "" without numbers. out has room for SB_PLOT_FINDING_BYTES. */
#define SB_PLOT_FINDING_BYTES 400
void sb_plot_describe_best(char *out, const struct sb_plot_view *view,
			   const struct sb_plot_contest *contest);

/* "wall time per operation", "p99 of ready-to-running". */
#define SB_PLOT_NOUN_BYTES 80
void sb_plot_noun(char *out, enum sb_metric_id metric);

#endif
