/*
 * swept.h - lines over one numeric setting, of the series that differ in it.
 */
#ifndef SB_RESULTS_PLOTS_SWEPT_H
#define SB_RESULTS_PLOTS_SWEPT_H

#include "results/plots/plot.h"

struct sb_swept {
	const char *name;	      /* of the setting */
	struct sb_plot_groups groups; /* a line for each */
	double *at;		      /* [lines] on the axis; NaN: nowhere */
	uint32_t tics;
	struct sb_plot_tic *tic; /* the values, the least first */
};

struct sb_swept_metric {
	enum sb_metric_id metric;
	/* In the key; "": the only one; NULL: not shown, but it has a style. */
	const char *label;
};

/*
 * Looks for the first of these settings (NULL: of all) that has two values in
 * lines that are alike otherwise. Values far apart are laid out by powers of two,
 * 0 left of the least. False: there is none, and the plot is refused.
 */
bool sb_swept_init(struct sb_swept *swept, struct sb_plot *plot, const char *const *names,
		   uint32_t count);
void sb_swept_free(struct sb_swept *swept);

/* A panel: medians with their intervals. */
void sb_swept_panel(struct sb_plot *plot, const struct sb_swept *swept,
		    const struct sb_swept_metric *metric, uint32_t metrics, const char *y_label,
		    const char *x_label);

#endif
