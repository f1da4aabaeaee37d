/*
 * load.c - latency over the load that was offered.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "results/plots/plot.h"
#include "results/record/series.h"

static const struct {
	enum sb_metric_id metric;
	const char *label;
} percentiles[] = {
	{ SB_METRIC_sojourn_ns_p50, "median" },
	{ SB_METRIC_sojourn_ns_p99, "99 %" },
	{ SB_METRIC_sojourn_ns_p99_9, "99.9 %" },
};

#define PERCENTILES SB_ARRAY_SIZE(percentiles)

/* A place on the curves: a series, or one repetition where each has a rate of its
 * own, as when a rate is searched for. */
struct spot {
	uint32_t group;
	double offered;
	bool is_suspect;
	struct sb_spread latency[PERCENTILES];
};

/* Repetitions that differ by more are at rates of their own. */
#define SAME_RATE 0.03

static struct sb_spread alone(double v)
{
	return (struct sb_spread){ !isnan(v), v, v, v, v, v };
}

static struct spot spot_of_series(const struct sb_series *series, double offered)
{
	struct spot spot = { .offered = offered, .is_suspect = sb_plot_is_suspect(series) };

	for (size_t p = 0; p < PERCENTILES; p++)
		spot.latency[p] = sb_series_spread(series, percentiles[p].metric);
	return spot;
}

static struct spot spot_of_record(const struct sb_record *record)
{
	struct spot spot = { .offered = record->value[SB_METRIC_offered_per_s],
			     .is_suspect = record->verdict == SB_SUSPECT };

	for (size_t p = 0; p < PERCENTILES; p++)
		spot.latency[p] = alone(record->value[percentiles[p].metric]);
	return spot;
}

/* out has room for all repetitions; how many. */
static uint32_t put_spots(const struct sb_series *series, uint32_t group, struct spot *out)
{
	const struct sb_spread offered = sb_series_spread(series, SB_METRIC_offered_per_s);
	uint32_t n = 0;

	if (!offered.n && !series->answer)
		return 0;
	if (!series->answer && offered.max - offered.min <= SAME_RATE * offered.median) {
		*out = spot_of_series(series, offered.median);
		out->group = group;
		return 1;
	}
	for (uint32_t r = 0; r < series->records; r++) {
		if (!sb_record_has_numbers(&series->record[r]) ||
		    isnan(series->record[r].value[SB_METRIC_offered_per_s]))
			continue;
		out[n] = spot_of_record(&series->record[r]);
		out[n++].group = group;
	}
	return n;
}

static int compare_spots(const void *a, const void *b)
{
	const struct spot *x = a;
	const struct spot *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return (x->offered > y->offered) - (x->offered < y->offered);
}

static struct spot *gather_spots(const struct sb_plot_view *view,
				 const struct sb_plot_groups *groups, uint32_t *spots)
{
	uint32_t most = 1;
	struct spot *spot;

	for (uint32_t i = 0; i < view->lines; i++)
		most += view->line[i].series->records;
	spot = calloc(most, sizeof(*spot));
	*spots = 0;
	for (uint32_t i = 0; i < view->lines && spot; i++)
		*spots += put_spots(view->line[i].series, groups->of[i], spot + *spots);
	if (*spots)
		qsort(spot, *spots, sizeof(*spot), compare_spots);
	return spot;
}

/* The curve-th: of a group, and one of its percentiles. */
static void put_curve(struct sb_plot *plot, const struct sb_plot_groups *groups,
		      const struct spot *spot, uint32_t spots, uint32_t curve, double edge)
{
	const uint32_t group = curve / (uint32_t)PERCENTILES;
	const size_t percentile = curve % PERCENTILES;
	const char *name = groups->label[group];
	const uint32_t block = sb_plot_block(plot);
	char label[400];

	for (uint32_t i = 0; i < spots; i++) {
		if (spot[i].group == group)
			sb_plot_put_spread(plot, spot[i].offered, spot[i].latency[percentile], edge,
					   curve, spot[i].is_suspect);
	}
	sb_plot_block_end(plot);
	snprintf(label, sizeof(label), "%s%s%s", percentiles[percentile].label, *name ? ", " : "",
		 name);
	sb_plot_spread_curve(plot, block, label, curve);
}

static bool draw(struct sb_plot *plot, const struct sb_plot_groups *groups, const struct spot *spot,
		 uint32_t spots)
{
	struct sb_plot_axis x = { 'x', "requests offered", "1/s", { 0 }, false, true };
	struct sb_plot_axis y = { 'y', "sojourn time", "ns", { 0 }, true, true };
	const uint32_t all = groups->groups * (uint32_t)PERCENTILES;
	uint32_t most;
	double edge;

	for (uint32_t i = 0; i < spots; i++) {
		sb_plot_range_add(&x.range, spot[i].offered);
		for (size_t p = 0; p < PERCENTILES; p++) {
			sb_plot_range_add(&y.range, spot[i].latency[p].min);
			sb_plot_range_add(&y.range, spot[i].latency[p].max);
		}
	}
	if (!y.range.any)
		return sb_plot_refuse(
			plot, "no requests came by a schedule (--rate, --load or --find-slo)");
	/* The last points are not to be cut. */
	sb_plot_range_add(&x.range, 1.03 * x.range.high);
	most = sb_plot_most(plot, all);
	sb_plot_panel(plot);
	sb_plot_axis(plot, &x);
	edge = sb_plot_axis(plot, &y);
	for (uint32_t c = 0; c < most; c++)
		put_curve(plot, groups, spot, spots, c, edge);
	return true;
}

bool sb_plot_load(struct sb_plot *plot, int unused)
{
	static const char *const except[] = { "rate", "load" };
	struct sb_plot_groups groups;
	struct spot *spot = NULL;
	uint32_t spots;
	bool drawn;

	(void)unused;
	/* Runs at different rates are one curve. */
	if (!sb_plot_groups_init(&groups, plot->view, except, SB_ARRAY_SIZE(except), false))
		spot = gather_spots(plot->view, &groups, &spots);
	drawn = spot ? draw(plot, &groups, spot, spots) : sb_plot_refuse(plot, "no memory");
	free(spot);
	sb_plot_groups_free(&groups);
	return drawn;
}
