/*
 * load.c - latency over the load that was offered: a median for each rate, the steps of a
 * search for a rate as single marks, and what they are to be compared with: servers
 * without cost, the capacity, and the objective.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/plots/finding.h"
#include "results/plots/kinds.h"
#include "results/record/number.h"
#include "results/record/series.h"

static const struct {
	enum sb_metric_id metric, ideal;
	const char *label;
} percentiles[] = {
	{ SB_METRIC_sojourn_ns_p50, SB_METRIC_ideal_ns_p50, "median" },
	{ SB_METRIC_sojourn_ns_p99, SB_METRIC_ideal_ns_p99, "p99" },
	{ SB_METRIC_sojourn_ns_p99_9, SB_METRIC_ideal_ns_p99_9, "p99.9" },
};

#define PERCENTILES SB_ARRAY_SIZE(percentiles)
#define P99	    1

/* A series at its rate; or one repetition, where a rate is searched for and each has one
 * of its own. */
struct spot {
	uint32_t group;
	double offered;
	bool is_step;
	bool is_suspect;
	struct sb_plot_median latency[PERCENTILES];
	double ideal[PERCENTILES];
};

struct load {
	struct sb_plot_groups groups;
	uint32_t spots;
	struct spot *spot; /* by group and rate */

	/* Of one group; NaN: unknown, or there are several. */
	double capacity;
	double objective_ns;
	const char *objective; /* "p99<200us" */
};

static struct spot spot_of_line(const struct sb_plot_view *view, uint32_t line, double offered)
{
	const struct sb_series *series = view->line[line].series;
	struct spot spot = { .offered = offered, .is_suspect = sb_plot_is_suspect(series) };

	for (size_t p = 0; p < PERCENTILES; p++) {
		spot.latency[p] = sb_plot_median(view, line, percentiles[p].metric);
		spot.ideal[p] = sb_series_spread(series, percentiles[p].ideal).median;
	}
	return spot;
}

static struct spot spot_of_record(const struct sb_record *record)
{
	struct spot spot = { .offered = record->value[SB_METRIC_offered_per_s],
			     .is_step = true,
			     .is_suspect = record->verdict == SB_SUSPECT };

	for (size_t p = 0; p < PERCENTILES; p++) {
		const double v = record->value[percentiles[p].metric];

		spot.latency[p] =
			(struct sb_plot_median){ .n = !isnan(v), .at = v, .low = v, .high = v };
		spot.ideal[p] = record->value[percentiles[p].ideal];
	}
	return spot;
}

/* out has room for all repetitions; how many. */
static uint32_t put_spots(const struct sb_plot_view *view, uint32_t line, uint32_t group,
			  struct spot *out)
{
	const struct sb_series *series = view->line[line].series;
	const struct sb_spread offered = sb_series_spread(series, SB_METRIC_offered_per_s);
	uint32_t n = 0;

	if (!offered.n && !series->answer)
		return 0;
	if (!series->answer) {
		*out = spot_of_line(view, line, offered.median);
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

/* ---- what it is compared with ---- */

/* The time of "p99<200us"; NaN: there is none. */
static double objective_of(const char *text)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
	const char *time = strchr(text, '<');
	char *end;
	const double value = time ? strtod(time + 1, &end) : 0;

	for (size_t u = 0; u < SB_ARRAY_SIZE(units) && time; u++) {
		if (!strcmp(end, units[u].name))
			return value * units[u].ns;
	}
	return NAN;
}

/* Runs each measure the capacity for themselves. */
static double capacity_of(const struct sb_plot_view *view, uint32_t records)
{
	double *value = calloc(records + 1, sizeof(*value));
	double median = NAN;
	uint32_t n = 0;

	for (uint32_t i = 0; i < view->lines && value; i++) {
		const struct sb_series *series = view->line[i].series;

		for (uint32_t r = 0; r < series->records; r++) {
			const double v = series->record[r].value[SB_METRIC_capacity_per_s];

			if (sb_record_has_numbers(&series->record[r]) && !isnan(v))
				value[n++] = v;
		}
	}
	if (n)
		median = sb_spread_of(value, n).median;
	free(value);
	return median;
}

static bool gather(struct load *load, const struct sb_plot_view *view)
{
	const struct sb_plot_line *line = &view->line[0];
	uint32_t records = 0;

	for (uint32_t i = 0; i < view->lines; i++)
		records += view->line[i].series->records;
	load->spot = calloc(records + 1, sizeof(*load->spot));
	if (!load->spot)
		return false;
	for (uint32_t i = 0; i < view->lines; i++)
		load->spots += put_spots(view, i, load->groups.of[i], load->spot + load->spots);
	if (load->spots)
		qsort(load->spot, load->spots, sizeof(*load->spot), compare_spots);
	load->capacity = load->objective_ns = NAN;
	if (load->groups.groups > 1)
		return true;
	load->capacity = capacity_of(view, records);
	load->objective = sb_series_option(line->series, line->result, "find-slo");
	load->objective_ns = objective_of(load->objective);
	return true;
}

/* The closest values that never fall (pooled adjacent violators): a longer queue at a
 * higher rate is sure, and what else is seen is chance. */
static void make_rising(double *y, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		uint32_t first = i;
		double sum = y[i];

		while (first && y[first - 1] > sum / (i - first + 1))
			sum += y[--first];
		for (uint32_t j = first; j <= i; j++)
			y[j] = sum / (i - first + 1);
	}
}

static void put_ideal(struct sb_plot *plot, const struct load *load, size_t percentile, double edge)
{
	double *x = calloc(load->spots + 1, sizeof(*x));
	double *y = calloc(load->spots + 1, sizeof(*y));
	uint32_t n = 0;
	uint32_t block;

	for (uint32_t i = 0; i < load->spots && x && y; i++) {
		if (isnan(load->spot[i].ideal[percentile]))
			continue;
		x[n] = load->spot[i].offered;
		y[n++] = load->spot[i].ideal[percentile];
	}
	if (n > 1) {
		make_rising(y, n);
		block = sb_plot_block(plot);
		for (uint32_t i = 0; i < n; i++)
			fprintf(plot->data, "%.9g %.9g\n", x[i], sb_plot_clamp(y[i], edge));
		sb_plot_block_end(plot);
		sb_plot_curve(plot, block, percentile ? NULL : "servers without cost (ideal)",
			      "using 1:2 with lines lw 1.5 dt 3 lc rgb '%s'",
			      sb_plot_colour((uint32_t)percentile));
	}
	free(x);
	free(y);
}

/* ---- the picture ---- */

static bool is_on_curve(const struct spot *spot, uint32_t curve, bool is_step)
{
	return spot->group == curve / PERCENTILES && spot->is_step == is_step &&
	       spot->latency[curve % PERCENTILES].n;
}

static uint32_t count_steps(const struct load *load, uint32_t curve, bool is_suspect)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < load->spots; i++)
		n += is_on_curve(&load->spot[i], curve, true) &&
		     load->spot[i].is_suspect == is_suspect;
	return n;
}

static void put_steps(struct sb_plot *plot, const struct load *load, uint32_t curve,
		      const char *label, double edge, bool is_suspect)
{
	const uint32_t block = sb_plot_block(plot);
	char style[SB_PLOT_STYLE_BYTES];

	for (uint32_t i = 0; i < load->spots; i++) {
		const struct spot *spot = &load->spot[i];

		if (is_on_curve(spot, curve, true) && spot->is_suspect == is_suspect)
			fprintf(plot->data, "%.9g %.9g\n", spot->offered,
				sb_plot_clamp(spot->latency[curve % PERCENTILES].at, edge));
	}
	sb_plot_block_end(plot);
	plot->hollow |= is_suspect;
	sb_plot_curve(plot, block, label, "using 1:2 with points %s",
		      sb_plot_point_style(style, curve, is_suspect));
}

/* Steps that are suspect are hollow, and named only if no other is. */
static void put_all_steps(struct sb_plot *plot, const struct load *load, uint32_t curve,
			  const char *label, double edge)
{
	const bool has_valid = count_steps(load, curve, false);

	if (has_valid)
		put_steps(plot, load, curve, label, edge, false);
	if (count_steps(load, curve, true))
		put_steps(plot, load, curve, has_valid ? NULL : label, edge, true);
}

static bool has_rates(const struct load *load, uint32_t curve)
{
	for (uint32_t i = 0; i < load->spots; i++) {
		if (is_on_curve(&load->spot[i], curve, false))
			return true;
	}
	return false;
}

static void put_rates(struct sb_plot *plot, const struct load *load, uint32_t curve,
		      const char *label, double edge)
{
	const uint32_t block = sb_plot_block(plot);

	for (uint32_t i = 0; i < load->spots; i++) {
		const struct spot *spot = &load->spot[i];

		if (spot->group == curve / PERCENTILES && !spot->is_step)
			sb_plot_put_median(plot, spot->offered, &spot->latency[curve % PERCENTILES],
					   edge, curve, spot->is_suspect);
	}
	sb_plot_block_end(plot);
	sb_plot_median_curve(plot, block, label, curve);
}

/* The curve-th: of a group, and one of its percentiles. */
static void put_curve(struct sb_plot *plot, const struct load *load, uint32_t curve, double edge)
{
	const size_t percentile = curve % PERCENTILES;
	const char *name = load->groups.label[curve / PERCENTILES];
	char label[400];

	snprintf(label, sizeof(label), "%s%s%s", percentiles[percentile].label, *name ? ", " : "",
		 name);
	if (has_rates(load, curve))
		put_rates(plot, load, curve, label, edge);
	snprintf(label, sizeof(label), "%s of a step%s%s", percentiles[percentile].label,
		 *name ? ", " : "", name);
	put_all_steps(plot, load, curve, label, edge);
}

static void put_axes(struct sb_plot *plot, const struct load *load, double *edge)
{
	struct sb_plot_axis x = {
		.name = 'x', .label = "requests offered", .unit = "1/s", .zero = true
	};
	struct sb_plot_axis y = {
		.name = 'y', .label = "sojourn time", .unit = "ns", .log = true, .zero = true
	};

	for (uint32_t i = 0; i < load->spots; i++) {
		const struct spot *spot = &load->spot[i];

		sb_plot_range_add(&x.range, spot->offered);
		for (size_t p = 0; p < PERCENTILES; p++) {
			sb_plot_range_add(&y.range, spot->latency[p].low);
			sb_plot_range_add(&y.range, spot->latency[p].high);
			if (load->groups.groups == 1)
				sb_plot_range_add(&y.range, spot->ideal[p]);
		}
	}
	sb_plot_range_add(&x.range, load->capacity);
	sb_plot_range_add(&y.range, load->objective_ns);
	/* The last points are not to be cut. */
	sb_plot_range_add(&x.range, 1.03 * x.range.high);
	sb_plot_axis(plot, &x);
	*edge = sb_plot_axis(plot, &y);
}

static void put_marks(struct sb_plot *plot, const struct load *load)
{
	char text[SB_HUMAN_BYTES];

	sb_human(text, load->capacity, "1/s");
	if (!isnan(load->capacity))
		sb_plot_mark(plot, 'x', load->capacity, "capacity %s/s", text);
	if (!isnan(load->objective_ns))
		sb_plot_mark(plot, 'y', load->objective_ns, "%s", load->objective);
}

/* ---- what it shows ---- */

/* "; capacity 385 k/s" */
static const char *capacity_text(const struct load *load, char *out, size_t bytes)
{
	char text[SB_HUMAN_BYTES];

	sb_human(text, load->capacity, "1/s");
	snprintf(out, bytes, "; capacity %s/s", text);
	return isnan(load->capacity) ? "" : out;
}

static void find_answer(struct sb_plot *plot, const struct load *load)
{
	const struct sb_series *series = plot->view->line[0].series;
	const int name = (int)strcspn(load->objective, "<");
	char rate[SB_HUMAN_BYTES];
	char capacity[60];

	if (!series->answer_row) {
		sb_plot_finding(plot, "No rate that was tried met %s%s", load->objective,
				capacity_text(load, capacity, sizeof(capacity)));
		return;
	}
	sb_human(rate, series->record[series->answer_row - 1].value[SB_METRIC_offered_per_s],
		 "1/s");
	sb_plot_finding(plot, "%.*s stays below %s up to %s/s%s", name, load->objective,
			load->objective + name + 1, rate,
			capacity_text(load, capacity, sizeof(capacity)));
}

static void find_ends(struct sb_plot *plot, const struct load *load)
{
	const struct spot *low = NULL;
	const struct spot *high = NULL;
	char text[4][SB_HUMAN_BYTES];
	char capacity[60];

	for (uint32_t i = 0; i < load->spots; i++) {
		if (!load->spot[i].latency[P99].n)
			continue;
		low = low ? low : &load->spot[i];
		high = &load->spot[i];
	}
	if (!low)
		return;
	sb_human(text[0], low->latency[P99].at, "ns");
	sb_human(text[1], low->offered, "1/s");
	sb_human(text[2], high->latency[P99].at, "ns");
	sb_human(text[3], high->offered, "1/s");
	capacity_text(load, capacity, sizeof(capacity));
	if (low == high)
		sb_plot_finding(plot, "p99 of sojourn is %s at %s/s%s", text[0], text[1],
				capacity_text(load, capacity, sizeof(capacity)));
	else
		sb_plot_finding(plot, "p99 of sojourn is %s at %s/s and %s at %s/s%s", text[0],
				text[1], text[2], text[3],
				capacity_text(load, capacity, sizeof(capacity)));
}

/* A load is a share of a capacity, which is measured anew. */
#define SAME_RATE 0.05

static bool is_one_rate(const struct load *load)
{
	for (uint32_t i = 0; i < load->spots; i++) {
		if (load->spot[i].is_step || fabs(load->spot[i].offered - load->spot[0].offered) >
						     SAME_RATE * load->spot[0].offered)
			return false;
	}
	return true;
}

static void find(struct sb_plot *plot, const struct load *load)
{
	char text[SB_PLOT_FINDING_BYTES];

	if (plot->view->lines == 1 && plot->view->line[0].series->answer) {
		find_answer(plot, load);
	} else if (load->groups.groups == 1) {
		find_ends(plot, load);
	} else if (is_one_rate(load)) {
		sb_plot_describe_best(text, plot->view,
				      &(struct sb_plot_contest){ .metric = SB_METRIC_sojourn_ns_p99,
								 .noun = "p99 of sojourn" });
		if (*text)
			sb_plot_finding(plot, "%s", text);
	}
}

static bool draw(struct sb_plot *plot, const struct load *load)
{
	const uint32_t most = sb_plot_most(plot, load->groups.groups * (uint32_t)PERCENTILES);
	bool any = false;
	double edge;

	for (uint32_t i = 0; i < load->spots; i++)
		any |= load->spot[i].latency[0].n > 0;
	if (!any)
		return sb_plot_refuse(
			plot, "no requests came by a schedule (--rate, --load or --find-slo)");
	sb_plot_panel(plot);
	put_axes(plot, load, &edge);
	put_marks(plot, load);
	for (size_t p = 0; p < PERCENTILES && load->groups.groups == 1; p++)
		put_ideal(plot, load, p, edge);
	for (uint32_t c = 0; c < most; c++)
		put_curve(plot, load, c, edge);
	find(plot, load);
	return true;
}

bool sb_plot_load(struct sb_plot *plot, int unused)
{
	static const char *const except[] = { "rate", "load" };
	struct load load = { .spots = 0 };
	bool drawn;

	(void)unused;
	/* Runs at different rates are one curve. */
	if (!sb_plot_groups_init(&load.groups, plot->view, except, SB_ARRAY_SIZE(except), false) &&
	    gather(&load, plot->view))
		drawn = draw(plot, &load);
	else
		drawn = sb_plot_refuse(plot, "no memory");
	free(load.spot);
	sb_plot_groups_free(&load.groups);
	return drawn;
}
