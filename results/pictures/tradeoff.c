/*
 * tradeoff.c - two metrics of each configuration against each other, with the Pareto
 * front, of one workload.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/compare/contest.h"
#include "results/plots/finding.h"
#include "results/plots/kinds.h"
#include "results/record/series.h"
#include "results/stats/front.h"

struct tradeoff {
	enum sb_metric_id metric[SB_FRONT_OBJECTIVES];
	struct sb_contest by[SB_FRONT_OBJECTIVES]; /* between all lines */
	struct sb_front_member *member;		   /* [lines] */
	struct sb_front front;
};

/* "A,B" as --metric says, or as the sweep's objectives were. */
static bool find_metrics(struct sb_plot *plot, struct tradeoff *t)
{
	const struct sb_plot_line *line = plot->view->line;
	const char *text = plot->choice->metric ? plot->choice->metric
						: sb_result_fact(line->result, "objectives",
								 line->series->workload);
	const char *comma = strchr(text, ',');
	char first[64];

	if (!comma)
		return sb_plot_refuse(plot, "the result has one objective; expected --metric A,B");
	snprintf(first, sizeof(first), "%.*s", (int)(comma - text), text);
	t->metric[0] = sb_metric_find(first);
	t->metric[1] = sb_metric_find(comma + 1);
	if (t->metric[0] < SB_METRICS && t->metric[1] < SB_METRICS)
		return true;
	return sb_plot_refuse(plot, "'%s' are no two metrics; sched-bench list metrics names them",
			      text);
}

static bool is_one_workload(const struct sb_plot_view *view)
{
	for (uint32_t i = 1; i < view->lines; i++) {
		if (strcmp(view->line[i].series->workload, view->line[0].series->workload) != 0)
			return false;
	}
	return view->lines > 1;
}

static void free_tradeoff(struct tradeoff *t)
{
	for (int o = 0; o < SB_FRONT_OBJECTIVES; o++)
		sb_contest_free(&t->by[o]);
	free(t->member);
}

static bool find_front(struct tradeoff *t, const struct sb_plot_view *view)
{
	const struct sb_series **series = calloc(view->lines, sizeof(const struct sb_series *));
	bool ok = series != NULL;

	for (uint32_t i = 0; i < view->lines && ok; i++)
		series[i] = view->line[i].series;
	for (int o = 0; o < SB_FRONT_OBJECTIVES && ok; o++)
		ok = !sb_contest_make(&t->by[o], series, view->lines, t->metric[o]);
	free(series);
	t->member = calloc(view->lines, sizeof(*t->member));
	return ok && t->member &&
	       !sb_front_make(&t->front, t->member,
			      (const struct sb_ranking *[]){ &t->by[0].ranking, &t->by[1].ranking },
			      (const struct sb_rank *[]){ t->by[0].rank, t->by[1].rank },
			      view->lines);
}

/* ---- what is drawn ---- */

static void put_finding(struct sb_plot *plot, const struct tradeoff *t)
{
	uint32_t on = 0;

	for (uint32_t i = 0; i < plot->view->lines; i++)
		on += t->member[i].is_on_front;
	if (t->front.compromise != UINT32_MAX)
		sb_plot_finding(plot, "%" PRIu32 " of %" PRIu32 " are on the front; compromise: %s",
				on, plot->view->lines,
				plot->view->line[t->front.compromise].detail);
}

static void put_point(struct sb_plot *plot, const struct tradeoff *t, uint32_t i)
{
	const struct sb_plot_line *line = &plot->view->line[i];
	const struct sb_series *series = line->series;
	const struct sb_plot_median x = sb_plot_median(plot->view, i, t->metric[0]);
	const struct sb_plot_median y = sb_plot_median(plot->view, i, t->metric[1]);
	const bool hollow = sb_plot_is_suspect(series) || x.is_incomplete || y.is_incomplete;
	const uint32_t block = sb_plot_block(plot);
	char style[SB_PLOT_STYLE_BYTES];
	char label[400];

	snprintf(label, sizeof(label), "%s%s", line->detail,
		 sb_series_is_default(series, line->result) ? ", the default" : "");
	sb_plot_note_median(plot, &x);
	plot->hollow |= sb_plot_is_suspect(series);
	fprintf(plot->data, "%.9g %.9g %.9g %.9g %.9g %.9g\n", x.at, y.at, x.low, x.high, y.low,
		y.high);
	sb_plot_block_end(plot);
	sb_plot_curve(plot, block, NULL, "using 1:2:3:4:5:6 with xyerrorbars ps 0 lw 1 lc rgb '%s'",
		      sb_plot_colour(i));
	sb_plot_curve(plot, block, label, "using 1:2 with points %s",
		      sb_plot_point_style(style, i, hollow));
}

struct corner {
	double x, y;
};

static int compare_corners(const void *a, const void *b)
{
	const struct corner *p = a;
	const struct corner *q = b;

	return (p->x > q->x) - (p->x < q->x);
}

static void put_front(struct sb_plot *plot, const struct tradeoff *t)
{
	struct corner *corner = calloc(plot->view->lines, sizeof(*corner));
	uint32_t block;
	uint32_t n = 0;

	for (uint32_t i = 0; corner && i < plot->view->lines; i++) {
		if (t->member[i].is_on_front)
			corner[n++] =
				(struct corner){ sb_plot_median(plot->view, i, t->metric[0]).at,
						 sb_plot_median(plot->view, i, t->metric[1]).at };
	}
	if (n > 1) {
		qsort(corner, n, sizeof(*corner), compare_corners);
		block = sb_plot_block(plot);
		for (uint32_t i = 0; i < n; i++)
			fprintf(plot->data, "%.9g %.9g\n", corner[i].x, corner[i].y);
		sb_plot_block_end(plot);
		sb_plot_curve(plot, block, "Pareto front",
			      "using 1:2 with lines lw 1 dt 2 lc rgb '#666666'");
	}
	free(corner);
}

#define MARGIN 0.03

static void add_ranges(const struct sb_plot_view *view, struct sb_plot_axis *axis,
		       enum sb_metric_id metric)
{
	for (uint32_t i = 0; i < view->lines; i++) {
		const struct sb_plot_median m = sb_plot_median(view, i, metric);

		/* Points have a size. */
		sb_plot_range_add(&axis->range, m.low / (1 + MARGIN));
		sb_plot_range_add(&axis->range, m.high * (1 + MARGIN));
	}
}

static bool draw(struct sb_plot *plot, const struct tradeoff *t)
{
	char noun[SB_FRONT_OBJECTIVES][SB_PLOT_NOUN_BYTES];
	struct sb_plot_axis axis[SB_FRONT_OBJECTIVES];
	uint32_t most;

	for (int o = 0; o < SB_FRONT_OBJECTIVES; o++) {
		sb_plot_noun(noun[o], t->metric[o]);
		axis[o] = (struct sb_plot_axis){ .name = o ? 'y' : 'x',
						 .label = noun[o],
						 .unit = sb_metric[t->metric[o]].unit,
						 .log = true };
		add_ranges(plot->view, &axis[o], t->metric[o]);
		if (!axis[o].range.any)
			return sb_plot_refuse(plot, "%s was not measured",
					      sb_metric[t->metric[o]].name);
	}
	most = sb_plot_most(plot, plot->view->lines);
	put_finding(plot, t);
	sb_plot_panel(plot);
	sb_plot_axis(plot, &axis[0]);
	sb_plot_axis(plot, &axis[1]);
	put_front(plot, t);
	for (uint32_t i = 0; i < most; i++)
		put_point(plot, t, i);
	return true;
}

bool sb_plot_tradeoff(struct sb_plot *plot, int unused)
{
	struct tradeoff t = { .member = NULL };
	bool drawn;

	(void)unused;
	if (!is_one_workload(plot->view))
		return sb_plot_refuse(plot, "expected several configurations of one workload");
	if (!find_metrics(plot, &t))
		return false;
	drawn = find_front(&t, plot->view) ? draw(plot, &t) : sb_plot_refuse(plot, "no memory");
	free_tradeoff(&t);
	return drawn;
}
