/*
 * cost.c - what an operation costs: every repetition as a point, in a panel for each
 * workload, for theirs are of all sizes.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/plots/finding.h"
#include "results/plots/kinds.h"
#include "results/record/number.h"
#include "results/record/series.h"

/* The lines of one workload. */
struct group {
	const char *workload;
	uint32_t lines, all; /* shown, and there are */
	uint32_t line[SB_PLOT_LINES_MAX];
	bool *in; /* [view->lines] */
	struct sb_plot_best best;
};

struct groups {
	uint32_t groups, all; /* shown, and there are */
	struct group group[SB_PLOT_PANELS];
};

static struct group *group_of(struct groups *groups, const char *workload)
{
	for (uint32_t g = 0; g < groups->groups; g++) {
		if (!strcmp(groups->group[g].workload, workload))
			return &groups->group[g];
	}
	groups->all++;
	if (groups->groups == SB_PLOT_PANELS)
		return NULL;
	groups->group[groups->groups].workload = workload;
	return &groups->group[groups->groups++];
}

static void free_groups(struct groups *groups)
{
	for (uint32_t g = 0; groups && g < groups->groups; g++)
		free(groups->group[g].in);
	free(groups);
}

static bool add_line(struct groups *groups, const struct sb_plot_view *view, uint32_t line)
{
	struct group *group = group_of(groups, view->line[line].series->workload);

	if (!group)
		return true;
	if (!group->in)
		group->in = calloc(view->lines, sizeof(*group->in));
	if (!group->in)
		return false;
	group->in[line] = true;
	group->all++;
	if (group->lines < SB_PLOT_LINES_MAX)
		group->line[group->lines++] = line;
	return true;
}

/* Those with numbers. NULL: no memory. */
static struct groups *find_groups(const struct sb_plot_view *view)
{
	struct groups *groups = calloc(1, sizeof(*groups));
	bool complete = groups != NULL;

	for (uint32_t i = 0; i < view->lines && complete; i++) {
		if (sb_series_spread(view->line[i].series, SB_METRIC_ns_per_op).n)
			complete = add_line(groups, view, i);
	}
	for (uint32_t g = 0; complete && g < groups->groups; g++)
		groups->group[g].best = sb_plot_find_best(
			view, &(struct sb_plot_contest){ .metric = SB_METRIC_ns_per_op,
							 .in = groups->group[g].in });
	if (complete)
		return groups;
	free_groups(groups);
	return NULL;
}

/* ---- what is seen ---- */

static void find(struct sb_plot *plot)
{
	char text[SB_PLOT_FINDING_BYTES];

	sb_plot_describe_best(text, plot->view,
			      &(struct sb_plot_contest){ .metric = SB_METRIC_ns_per_op,
							 .noun = "wall time per operation" });
	sb_plot_finding(plot, "%s", text);
}

/* "skynet: 15.1 ns", "skynet: lowest with wake=local". */
static void put_panel_title(struct sb_plot *plot, const struct group *group)
{
	char value[SB_HUMAN_BYTES];
	char text[SB_PLOT_FINDING_BYTES];

	sb_human(value, group->best.value, "ns");
	if (group->lines == 1)
		snprintf(text, sizeof(text), "%s: %s", group->workload, value);
	else
		snprintf(text, sizeof(text), "%s: lowest with %s%s", group->workload,
			 plot->view->line[group->best.line].detail,
			 group->best.is_settled	 ? ""
			 : group->best.is_tested ? " (not settled)"
						 : " (not tested)");
	sb_plot_panel_title(plot, text);
}

/* ---- the panels ---- */

#define ROW 9

/* The repetitions with that verdict; how many. Beside one another, so that equal
 * ones can be seen. */
static uint32_t put_points(struct sb_plot *plot, const struct group *group, bool suspect,
			   uint32_t *block)
{
	uint32_t n = 0;

	*block = sb_plot_block(plot);
	for (uint32_t i = 0; i < group->lines; i++) {
		const struct sb_series *series = plot->view->line[group->line[i]].series;
		const uint32_t row = series->records < ROW ? series->records : ROW;

		for (uint32_t r = 0; r < series->records; r++) {
			const double v = series->record[r].value[SB_METRIC_ns_per_op];

			if ((series->record[r].verdict == SB_SUSPECT) != suspect || isnan(v))
				continue;
			n++;
			fprintf(plot->data, "%.3f %.9g\n", i + 0.05 * (r % ROW - (row - 1) / 2.0),
				v);
		}
	}
	sb_plot_block_end(plot);
	return n;
}

static uint32_t put_medians(struct sb_plot *plot, const struct group *group)
{
	const uint32_t block = sb_plot_block(plot);

	for (uint32_t i = 0; i < group->lines; i++) {
		const struct sb_plot_median m =
			sb_plot_median(plot->view, group->line[i], SB_METRIC_ns_per_op);

		sb_plot_note_median(plot, &m);
		fprintf(plot->data, "%" PRIu32 " %.9g %.9g %.9g\n", i, m.at, m.low, m.high);
	}
	sb_plot_block_end(plot);
	return block;
}

/* One alone is named above. */
static void put_names(struct sb_plot *plot, const struct group *group)
{
	struct sb_plot_tic tic[SB_PLOT_LINES_MAX];

	for (uint32_t i = 0; i < group->lines; i++)
		tic[i] = (struct sb_plot_tic){ i, group->lines > 1
							  ? plot->view->line[group->line[i]].detail
							  : "" };
	sb_plot_words(plot, 'x', "",
		      &(struct sb_plot_words){ tic, group->lines, -0.5, group->lines - 0.5 });
}

static const char *once(bool *told, const char *label)
{
	const char *text = *told ? NULL : label;

	*told = true;
	return text;
}

/* Which kinds of marks the key has. */
struct told {
	bool median, valid, suspect;
};

static void put_panel(struct sb_plot *plot, const struct group *group, const char *label,
		      struct told *told)
{
	struct sb_plot_axis y = { .name = 'y', .label = label, .unit = "ns", .log = true };
	char style[SB_PLOT_STYLE_BYTES];
	uint32_t block;

	for (uint32_t i = 0; i < group->lines; i++) {
		const struct sb_spread s = sb_series_spread(plot->view->line[group->line[i]].series,
							    SB_METRIC_ns_per_op);

		sb_plot_range_add(&y.range, s.min);
		sb_plot_range_add(&y.range, s.max);
	}
	sb_plot_most(plot, group->all);
	sb_plot_panel(plot);
	sb_plot_axis(plot, &y);
	put_names(plot, group);
	block = put_medians(plot, group);
	sb_plot_curve(plot, block, NULL,
		      "using 1:2:($1-0.3):($1+0.3):3:4 with boxxyerror fs solid 0.25 noborder lc "
		      "rgb 'black'");
	sb_plot_curve(plot, block, once(&told->median, plot->has_estimates ? "estimate" : "median"),
		      "using ($1-0.35):2:(0.7):(0) with vectors nohead lw 3 lc rgb 'black'");
	if (put_points(plot, group, false, &block))
		sb_plot_curve(plot, block, once(&told->valid, "repetition"),
			      "using 1:2 with points %s", sb_plot_point_style(style, 0, false));
	if (!put_points(plot, group, true, &block))
		return;
	plot->hollow = true;
	sb_plot_curve(plot, block, once(&told->suspect, "suspect repetition"),
		      "using 1:2 with points %s", sb_plot_point_style(style, 0, true));
}

static void draw(struct sb_plot *plot, const struct groups *groups)
{
	struct told told = { false, false, false };

	if (groups->groups > 1) {
		plot->columns = groups->groups == 2 || groups->groups == 4 ? 2 : 3;
		plot->left = 62;
		plot->right = 12;
		plot->height = 170;
	}
	if (groups->groups < groups->all)
		sb_plot_note(plot, "the first %" PRIu32 " of %" PRIu32 " workloads are shown",
			     groups->groups, groups->all);
	for (uint32_t g = 0; g < groups->groups; g++) {
		put_panel(plot, &groups->group[g],
			  groups->groups > 1 ? "" : "wall time per operation", &told);
		if (groups->groups > 1)
			put_panel_title(plot, &groups->group[g]);
	}
	find(plot);
}

bool sb_plot_cost(struct sb_plot *plot, int unused)
{
	struct groups *groups = find_groups(plot->view);
	bool drawn = false;

	(void)unused;
	if (!groups)
		sb_plot_refuse(plot, "no memory");
	else if (!groups->groups)
		sb_plot_refuse(plot, "no repetition was measured");
	else
		drawn = true;
	if (drawn)
		draw(plot, groups);
	free_groups(groups);
	return drawn;
}
