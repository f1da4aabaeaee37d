/*
 * plot.h - what kinds of pictures are made with. A kind is a row of
 * results/pictures.def and a function
 *
 *     bool sb_plot_xxx(struct sb_plot *plot, int argument)
 *
 * which looks at plot->view and calls, for each panel from the top down:
 * sb_plot_panel, an axis for x and for y, and sb_plot_curve with the blocks of
 * data that it has written. Title, caption, key, room for labels, the line
 * styles and both formats are the framework's. A kind that does not apply
 * returns sb_plot_refuse(plot, "why").
 *
 * Text from outside goes through sb_plot_quote and nothing else: in gnuplot's
 * double quotes a backtick would run a command.
 */
#ifndef SB_RESULTS_PLOTS_PLOT_H
#define SB_RESULTS_PLOTS_PLOT_H

#include "results/plots/plots.h"

/* ---- what there is to show ---- */

struct sb_plot_line {
	const struct sb_result *result;
	const struct sb_series *series;
	char *label; /* what tells it from the others; the workload at least */
};

struct sb_plot_view {
	uint32_t lines;
	struct sb_plot_line *line;
	uint32_t results;
};

/* More cannot be told apart in one picture. */
#define SB_PLOT_LINES_MAX 40

/* Returns 0 or -ENOMEM. A view of nothing has no lines. */
SB_MUST_CHECK int sb_plot_view_init(struct sb_plot_view *view, const struct sb_plot_order *order);
void sb_plot_view_free(struct sb_plot_view *view);

/* Lines that differ in nothing but certain settings, for curves over these. */
struct sb_plot_groups {
	uint32_t groups;
	uint32_t *of; /* [lines] */
	char **label; /* [groups]; "" if there is one only */
};

/* by_result: results are told apart. Returns 0 or -ENOMEM. */
SB_MUST_CHECK int sb_plot_groups_init(struct sb_plot_groups *groups,
				      const struct sb_plot_view *view, const char *const *except,
				      size_t excepts, bool by_result);
void sb_plot_groups_free(struct sb_plot_groups *groups);

/* Whether a repetition that counts is suspect. */
bool sb_plot_is_suspect(const struct sb_series *series);

/* ---- the picture ---- */

/* Of all, in pixels; the height is what is needed. */
#define SB_PLOT_WIDTH 760

#define SB_PLOT_PANELS 2

struct sb_plot_panel {
	FILE *setup;
	FILE *command;
	char *setup_text, *command_text;
	size_t setup_bytes, command_bytes;
	uint32_t curves;
	uint32_t x_room; /* below it, in pixels: labels of tics and axis */
};

struct sb_plot {
	const struct sb_plot_view *view;
	const struct sb_plot_choice *choice;
	FILE *data; /* between sb_plot_block and sb_plot_block_end */

	/* The framework's. */
	uint32_t panels;
	struct sb_plot_panel panel[SB_PLOT_PANELS];
	uint32_t blocks;
	uint32_t entries;     /* of the key */
	size_t longest;	      /* of these, in characters */
	uint32_t left, right; /* room beside the panels, in pixels */
	uint32_t height;      /* of a panel; 0: as usual */
	bool swapped;	      /* y goes down */
	char *data_text;
	size_t data_bytes;
	bool hollow; /* some points are */
	FILE *key;
	char *key_text;
	size_t key_bytes;
	FILE *notes;
	char *notes_text;
	size_t notes_bytes;
	char *why;
};

/* Says why there is no picture; returns false. */
bool sb_plot_refuse(struct sb_plot *plot, const char *format, ...) SB_PRINTF(2, 3);

/* A sentence for the caption, without its end. */
void sb_plot_note(struct sb_plot *plot, const char *format, ...) SB_PRINTF(2, 3);

/* How many curves there is room for, of that many; a note says what is left out. */
uint32_t sb_plot_most(struct sb_plot *plot, uint32_t curves);

/* Begins the next panel. */
void sb_plot_panel(struct sb_plot *plot);

/* A line of gnuplot's for the panel; no text from outside. */
void sb_plot_set(struct sb_plot *plot, const char *format, ...) SB_PRINTF(2, 3);

/* Begins a block of data, whose lines go to plot->data; returns its number. */
uint32_t sb_plot_block(struct sb_plot *plot);
void sb_plot_block_end(struct sb_plot *plot);

/* Draws a block in the panel: "using 1:2 with lines ...". label: its entry in the
 * key, shortened if need be; NULL: none. */
void sb_plot_curve(struct sb_plot *plot, uint32_t block, const char *label, const char *format, ...)
	SB_PRINTF(4, 5);

/* Text in gnuplot's quotes; what is longer than that many characters loses its
 * middle. tic: of an axis, where a percent sign would be a format. */
void sb_plot_quote(FILE *out, const char *text, size_t most, bool tic);

/* The i-th line and its points: they differ in colour, dashes and shape at once,
 * so that grey will do. A suspect point is hollow. */
#define SB_PLOT_STYLE_BYTES 80
const char *sb_plot_line_style(char out[SB_PLOT_STYLE_BYTES], uint32_t i);
const char *sb_plot_point_style(char out[SB_PLOT_STYLE_BYTES], uint32_t i, bool is_suspect);
const char *sb_plot_colour(uint32_t i);

/* A line in the block that is open: a median with its extremes, at x. NaN: none. */
void sb_plot_put_spread(struct sb_plot *plot, double x, struct sb_spread spread, double edge,
			uint32_t style, bool is_suspect);

/* A curve through a block of these: line, bars, and points of the i-th style. */
void sb_plot_spread_curve(struct sb_plot *plot, uint32_t block, const char *label, uint32_t i);

/* ---- axes ---- */

/* The extremes of what is shown; zeroed: nothing. NaN is passed over. */
struct sb_plot_range {
	bool any;
	double low, high;
	double least; /* of those above 0; 0: there is none */
};

void sb_plot_range_add(struct sb_plot_range *range, double value);

struct sb_plot_axis {
	char name; /* 'x' or 'y' */
	const char *label;
	const char *unit; /* of the values as they are drawn: "ns", "1/s", ... */
	struct sb_plot_range range;
	bool log;  /* if the values are more than a decade apart */
	bool zero; /* else it begins at 0 */
};

/* Range, tics with SI prefixes, and label. Returns the least value that can be
 * shown: others are drawn there (sb_plot_clamp), as 0 on a logarithmic axis. */
double sb_plot_axis(struct sb_plot *plot, const struct sb_plot_axis *axis);

double sb_plot_clamp(double value, double edge);

/* Tics with words at their places, on an axis from low to high. Those that do not
 * fit are thinned out or turned. */
struct sb_plot_tic {
	double at;
	const char *text;
};
struct sb_plot_words {
	const struct sb_plot_tic *tic; /* [tics] */
	uint32_t tics;
	double low, high;
};
void sb_plot_words(struct sb_plot *plot, char name, const char *label,
		   const struct sb_plot_words *words);

/* Numbers 0 to n - 1, of workers. */
void sb_plot_numbers(struct sb_plot *plot, char name, const char *label, uint32_t n);

/* ---- the finished script ---- */

struct sb_picture {
	char *name; /* of the files, without their ends */
	char *script;
};

/* formats: a sum of enum sb_plot_format. NULL: no memory. */
char *sb_plot_script(struct sb_plot *plot, const char *title, const char *name,
		     unsigned int formats);

int sb_plot_init(struct sb_plot *plot);
void sb_plot_free(struct sb_plot *plot);

/* Runs gnuplot once on all scripts, in a directory of its own inside that one.
 * Returns 0 or -errno. */
SB_MUST_CHECK int sb_pictures_make(const struct sb_picture *picture, uint32_t n,
				   const char *directory, char *why);
SB_MUST_CHECK int sb_picture_put(const struct sb_picture *picture, enum sb_plot_format format,
				 FILE *out, char *why);

/* ---- the kinds ---- */

bool sb_plot_cost(struct sb_plot *plot, int unused);
bool sb_plot_latency(struct sb_plot *plot, int hist);
bool sb_plot_load(struct sb_plot *plot, int unused);
bool sb_plot_steals(struct sb_plot *plot, int unused);
bool sb_plot_distance(struct sb_plot *plot, int unused);
bool sb_plot_spins(struct sb_plot *plot, int unused);
bool sb_plot_thresholds(struct sb_plot *plot, int unused);
bool sb_plot_scaling(struct sb_plot *plot, int unused);
bool sb_plot_sweep(struct sb_plot *plot, int unused);
bool sb_plot_heat(struct sb_plot *plot, int unused);
bool sb_plot_account(struct sb_plot *plot, int unused);
bool sb_plot_timeline(struct sb_plot *plot, int unused);

#endif
