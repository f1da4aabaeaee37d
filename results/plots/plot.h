/*
 * plot.h - what kinds of pictures are made with. A kind is a row of
 * results/pictures.def and a function
 *
 *     bool sb_plot_xxx(struct sb_plot *plot, int argument)
 *
 * which looks at plot->view and calls, for each panel in reading order:
 * sb_plot_panel, an axis for x and for y, and sb_plot_curve with the blocks of
 * data that it has written; and once sb_plot_finding with what the picture shows.
 * Set-up, caption, key, room for labels, the line styles and both formats are the
 * framework's. A kind that does not apply returns sb_plot_refuse(plot, "why").
 *
 * Text from outside goes through sb_plot_quote (text.h) alone: in gnuplot's double quotes a
 * backtick would run a command.
 */
#ifndef SB_RESULTS_PLOTS_PLOT_H
#define SB_RESULTS_PLOTS_PLOT_H

#include "core/worker/distance.h"
#include "results/plots/plots.h"

/* ---- what there is to show ---- */

struct sb_plot_line {
	const struct sb_result *result;
	const struct sb_series *series;
	char *label;  /* what tells it from the others; the workload at least */
	char *detail; /* the same without the workload; may be "" */
};

struct sb_plot_view {
	uint32_t lines;
	struct sb_plot_line *line;
	uint32_t results;
};

#define SB_PLOT_LINES_MAX 40 /* more cannot be told apart */

/* Returns 0 or -ENOMEM. A view of nothing has no lines. */
SB_MUST_CHECK int sb_plot_view_init(struct sb_plot_view *view, const struct sb_plot_order *order);
void sb_plot_view_free(struct sb_plot_view *view);

/* Writes the settings that all lines have alike, "leaves=1000, batch=16", if there are
 * any after the prefix. */
void sb_plot_put_common(FILE *out, const struct sb_plot_view *view, const char *prefix);

/* Lines that differ in nothing but certain settings, for curves over these. */
struct sb_plot_groups {
	uint32_t groups;
	uint32_t *of; /* [lines] */
	char **label; /* [groups]; "" if there is one only */
};

/* except: settings, or "workload". by_result: results are told apart. Returns 0 or
 * -ENOMEM. */
SB_MUST_CHECK int sb_plot_groups_init(struct sb_plot_groups *groups,
				      const struct sb_plot_view *view, const char *const *except,
				      size_t excepts, bool by_result);
void sb_plot_groups_free(struct sb_plot_groups *groups);

/* Whether a repetition that counts is suspect. */
bool sb_plot_is_suspect(const struct sb_series *series);

/* ---- the picture ---- */

/* Of all, in pixels; the height is what is needed. */
#define SB_PLOT_WIDTH 720

/* Of a small multiple for each workload, say. */
#define SB_PLOT_PANELS 12

/* A place on an axis that has a name: a threshold, the border of a node. */
struct sb_plot_mark {
	char axis;
	bool is_line; /* across the panel */
	double at;
	char *text;

	/* The layout's. */
	uint32_t x, row; /* of its middle, in pixels; of those above the panel */
};

/* Where a value lies in the panel. */
struct sb_plot_scale {
	bool log;
	double low, high;
};

enum sb_plot_side { SB_PLOT_X, SB_PLOT_Y, SB_PLOT_COLOUR, SB_PLOT_SIDES };

struct sb_plot_panel {
	FILE *setup;
	FILE *command;
	char *setup_text, *command_text;
	size_t setup_bytes, command_bytes;
	uint32_t curves;
	uint32_t x_room; /* below it, in pixels: labels of tics and axis */
	uint32_t y_room; /* the same on its left */
	char *title;
	char *label[SB_PLOT_SIDES];
	struct sb_plot_scale scale[SB_PLOT_SIDES];
	uint32_t marks;
	struct sb_plot_mark *mark;
	uint32_t mark_rows;
};

struct sb_plot_entry {
	char *style; /* as behind "with" */
	char *text;
};

struct sb_plot {
	const struct sb_plot_view *view;
	const struct sb_plot_choice *choice;
	FILE *data; /* between sb_plot_block and sb_plot_block_end */

	/* The framework's. */
	char *finding;
	uint32_t columns; /* of panels; 0: one */
	uint32_t panels;
	struct sb_plot_panel panel[SB_PLOT_PANELS];
	uint32_t blocks;
	uint32_t entries; /* of the key */
	struct sb_plot_entry *entry;
	uint32_t left, right; /* room beside each panel, in pixels */
	uint32_t height;      /* of a panel; 0: as usual */
	char *data_text;
	size_t data_bytes;
	bool hollow;	    /* some points are */
	bool has_estimates; /* of sweeps */
	bool has_intervals; /* of medians, drawn as bars */
	bool has_extremes;  /* the same of too few repetitions for these */
	FILE *notes;
	char *notes_text;
	size_t notes_bytes;
	char *why;
};

/* Says why there is no picture; returns false. */
bool sb_plot_refuse(struct sb_plot *plot, const char *format, ...) SB_PRINTF(2, 3);

/* What the picture shows, as a sentence without its end: its title. Nothing that the data do
 * not settle. Without it, the kind's title is the picture's. */
void sb_plot_finding(struct sb_plot *plot, const char *format, ...) SB_PRINTF(2, 3);

/* A sentence for the caption, without its end. */
void sb_plot_note(struct sb_plot *plot, const char *format, ...) SB_PRINTF(2, 3);

/* How many curves there is room for, of that many; a note says what is left out. */
uint32_t sb_plot_most(struct sb_plot *plot, uint32_t curves);

/* Begins the next panel. */
void sb_plot_panel(struct sb_plot *plot);

/* Its own title, above it. */
void sb_plot_panel_title(struct sb_plot *plot, const char *text);

/* How wide and high a panel is, in pixels. */
double sb_plot_panel_width(const struct sb_plot *plot);
uint32_t sb_plot_panel_height(const struct sb_plot *plot);

/* A line of gnuplot's for the panel; no text from outside. */
void sb_plot_set(struct sb_plot *plot, const char *format, ...) SB_PRINTF(2, 3);

/* Begins a block of data, whose lines go to plot->data; returns its number. */
uint32_t sb_plot_block(struct sb_plot *plot);
void sb_plot_block_end(struct sb_plot *plot);

/* Draws a block in the panel: "using 1:2 with lines ...". label: its entry in the key; NULL:
 * none. */
void sb_plot_curve(struct sb_plot *plot, uint32_t block, const char *label, const char *format, ...)
	SB_PRINTF(4, 5);

/* An entry of the key for what no curve draws. */
void sb_plot_entry(struct sb_plot *plot, const char *style, const char *label);

/* ---- styles ---- */

/* The i-th line and its points, which differ in colour, dashes and shape. A suspect point is hollow. */
#define SB_PLOT_STYLE_BYTES 80
const char *sb_plot_line_style(char out[SB_PLOT_STYLE_BYTES], uint32_t i);
const char *sb_plot_point_style(char out[SB_PLOT_STYLE_BYTES], uint32_t i, bool is_suspect);
const char *sb_plot_colour(uint32_t i);

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
	bool log;   /* if the values are more than a decade apart */
	bool zero;  /* else it begins at 0 */
	bool whole; /* no tics between whole numbers */
};

/* Range, tics with SI prefixes, and label. Returns the least value that can be
 * shown: others are drawn there (sb_plot_clamp), as 0 on a logarithmic axis. */
double sb_plot_axis(struct sb_plot *plot, const struct sb_plot_axis *axis);

double sb_plot_clamp(double value, double edge);

/* Where on the axis, from 0 to 1. */
double sb_plot_part(const struct sb_plot_scale *scale, double at);

/* Distances between workers in words, [SB_DISTANCES]. */
extern const char *const sb_plot_distance_words[];

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

/* Of workers, from 0 on. */
void sb_plot_numbers(struct sb_plot *plot, char name, const char *label, uint32_t n);

/* After the axis: a line across the panel at that value, with its name beyond its end; or the
 * name alone. Outside of the axis there is none. */
void sb_plot_mark(struct sb_plot *plot, char axis, double at, const char *format, ...)
	SB_PRINTF(4, 5);
void sb_plot_name(struct sb_plot *plot, double at, const char *format, ...) SB_PRINTF(3, 4);
/* A line without a name, between groups of rows or columns. */
void sb_plot_border(struct sb_plot *plot, char axis, double at);

/* ---- matrices ---- */

/* From few to many, apart from white, which is none: ColorBrewer's YlGnBu without
 * its lightest colours. */
#define SB_PLOT_PALETTE                                                                            \
	"set palette defined (0 '#c7e9b4', 1 '#7fcdbb', 2 '#41b6c4', 3 '#1d91c0', 4 '#225ea8', "   \
	"5 '#0c2c84')"

/* A cell without a number, and one that cannot have one. */
#define SB_PLOT_NOTHING	   "fs solid 1 border rgb '#d4d4d4' lc rgb 'white'"
#define SB_PLOT_IMPOSSIBLE "fs solid 1 noborder lc rgb '#bbbbbb'"

/* Beside the panel, for the colour box. */
#define SB_PLOT_COLOUR_ROOM 100

/* Whether text on that value's colour has to be white. */
bool sb_plot_is_dark(const struct sb_plot *plot, double value);

/* ---- the finished script ---- */

struct sb_picture {
	char *name; /* of the files, without their ends */
	char *script;
	const struct sb_series *series; /* NULL: it is of all of them */
};

/* The texts of a picture: its finding, or else that title; what was run, with what
 * settings; and where, and whether it is valid. The caller frees them; NULL: no
 * memory. */
char *sb_plot_make_title(const struct sb_plot *plot, const char *title);
char *sb_plot_make_set_up(const struct sb_plot *plot, const char *title);
char *sb_plot_make_caption(const struct sb_plot *plot);

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

#endif
