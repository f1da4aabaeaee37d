/*
 * plots.h - the pictures: which kinds there are, and how to make them of one
 * result or of several. Each is a gnuplot script with its data inside, kept
 * beside the pictures so that a reader can change and rerun it.
 */
#ifndef SB_RESULTS_PLOTS_PLOTS_H
#define SB_RESULTS_PLOTS_PLOTS_H

#include <stdio.h>

#include "results/record/record.h"

struct sb_plot;

#define SB_PLOT_WHY_BYTES 400

struct sb_plot_kind {
	const char *name;
	const char *title;
	const char *doc; /* one line: what it shows, and of what */
	/* Fills in the picture; false: it does not apply, sb_plot_refuse says
	 * why. */
	bool (*draw)(struct sb_plot *plot, int argument);
	int argument;
	bool each_series; /* a picture for each series, else one of all */
};

/* The last one has no name. */
extern const struct sb_plot_kind sb_plot_kinds[];

const struct sb_plot_kind *sb_plot_kind_find(const char *name);

/* The choice of what to show; zeroed: everything, by default. */
struct sb_plot_choice {
	const char *metric; /* NULL: the first objective of the sweep, or ns_per_op */
	const char *over;   /* the setting on the axis; NULL: the first one */
	const char *series; /* those with that text in their label; NULL: all */
};

/* The order for a picture. */
struct sb_plot_order {
	const struct sb_result *const *result;
	uint32_t results;
	const struct sb_plot_kind *kind; /* NULL: all that apply */
	struct sb_plot_choice choice;
	char why[SB_PLOT_WHY_BYTES]; /* out: one line, when it fails */
	uint32_t made;		     /* out: how many pictures */
};

/*
 * Makes NAME.svg, NAME.png and NAME.gp in the directory, which is made, too;
 * each appears whole or not at all. Returns 0; -ENODATA, the kind does not apply
 * (with all kinds: none does); -ENOENT, there is no gnuplot; or another -errno.
 * All but 0 say why.
 */
SB_MUST_CHECK int sb_plots_make(struct sb_plot_order *order, const char *directory);

enum sb_plot_format { SB_PLOT_SVG = 1, SB_PLOT_PNG = 2 };

/* One picture, to a stream. As above; -E2BIG: there are several. */
SB_MUST_CHECK int sb_plots_put(struct sb_plot_order *order, enum sb_plot_format format, FILE *out);

/*
 * The pictures that apply, as SVG and PNG, in directory/plots, with gnuplot.
 * Returns 0 or -errno, with the reason in why (of SB_PLOT_WHY_BYTES).
 */
int sb_write_plots(const struct sb_result *result, char *why);

#endif
