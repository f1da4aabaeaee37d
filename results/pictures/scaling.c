/*
 * scaling.c - throughput over workers.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "results/plots/finding.h"
#include "results/plots/kinds.h"
#include "results/stats/usl.h"
#include "results/record/number.h"
#include "results/record/record.h"
#include "results/record/series.h"
#include "results/stats/paired.h"

static uint32_t workers_of(const struct sb_plot_view *view, uint32_t line)
{
	return view->line[line].series->placement.workers;
}

/* Two lines of a group, with as many workers or not. */
static bool has_two(const struct sb_plot_view *view, const struct sb_plot_groups *groups, bool same)
{
	for (uint32_t i = 0; i < view->lines; i++) {
		for (uint32_t j = 0; j < i; j++) {
			if (groups->of[i] == groups->of[j] &&
			    (workers_of(view, i) == workers_of(view, j)) == same)
				return true;
		}
	}
	return false;
}

/* Results with different numbers of workers make one curve. */
static int make_groups(struct sb_plot_groups *groups, const struct sb_plot_view *view)
{
	static const char *const except[] = { "workers" };
	int rc = sb_plot_groups_init(groups, view, except, 1, false);

	if (rc || !has_two(view, groups, true))
		return rc;
	sb_plot_groups_free(groups);
	return sb_plot_groups_init(groups, view, except, 1, view->results > 1);
}

/* Every repetition. out has room for all; how many. */
static uint32_t gather_points(const struct sb_plot_view *view, const struct sb_plot_groups *groups,
			      uint32_t group, struct sb_usl_point *out)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < view->lines; i++) {
		const struct sb_series *series = view->line[i].series;

		for (uint32_t r = 0; r < series->records; r++) {
			const double x = series->record[r].value[SB_METRIC_ops_per_s];

			if (groups->of[i] == group && x > 0 && sb_series_pools(series, r))
				out[n++] = (struct sb_usl_point){ series->placement.workers, x };
		}
	}
	return n;
}

static uint32_t count_records(const struct sb_plot_view *view)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < view->lines; i++)
		n += view->line[i].series->records;
	return n;
}

static void find_ends(const struct sb_plot_view *view, uint32_t *low, uint32_t *high)
{
	*low = UINT32_MAX;
	*high = 0;
	for (uint32_t i = 0; i < view->lines; i++) {
		const uint32_t n = workers_of(view, i);

		*low = n < *low ? n : *low;
		*high = n > *high ? n : *high;
	}
}

/* ---- the curves ---- */

static const char *origin(const struct sb_plot_view *view)
{
	return view->line[0].series->reality == SB_SIMULATED ? "predicted" : "measured";
}

static void put_throughput(struct sb_plot *plot, const struct sb_plot_groups *groups,
			   uint32_t group, uint32_t high)
{
	const struct sb_plot_view *view = plot->view;
	const uint32_t block = sb_plot_block(plot);
	const char *label = groups->label[group];
	struct sb_plot_median median;

	for (uint32_t n = 1; n <= high; n++) {
		for (uint32_t i = 0; i < view->lines; i++) {
			const struct sb_series *series = view->line[i].series;

			if (groups->of[i] != group || workers_of(view, i) != n)
				continue;
			median = sb_plot_median(view, i, SB_METRIC_ops_per_s);
			sb_plot_put_median(plot, n, &median, 0, group, sb_plot_is_suspect(series));
		}
	}
	sb_plot_block_end(plot);
	sb_plot_median_curve(plot, block, *label ? label : origin(view), group);
}

/* "sigma 0.031 +- 0.002" */
static void put_parameter(FILE *out, const char *name, double value, double error)
{
	fprintf(out, ", %s %.3g", name, value);
	if (!isnan(error))
		fprintf(out, " \xc2\xb1 %.1g", error);
}

static void describe_fit(const struct sb_usl *usl, char *out, size_t bytes)
{
	char text[SB_HUMAN_BYTES];
	FILE *stream = fmemopen(out, bytes, "w");

	if (!stream)
		return;
	sb_human(text, usl->value[SB_USL_LAMBDA], "1/s");
	fprintf(stream, "USL: \xce\xbb %s/s", text);
	if (!isnan(usl->error[SB_USL_LAMBDA])) {
		sb_human(text, usl->error[SB_USL_LAMBDA], "1/s");
		fprintf(stream, " \xc2\xb1 %s/s", text);
	}
	put_parameter(stream, "\xcf\x83", usl->value[SB_USL_SIGMA], usl->error[SB_USL_SIGMA]);
	put_parameter(stream, "\xce\xba", usl->value[SB_USL_KAPPA], usl->error[SB_USL_KAPPA]);
	fclose(stream);
}

#define CURVE_STEPS 200

static void put_fit(struct sb_plot *plot, const struct sb_usl *usl, uint32_t group, uint32_t low,
		    uint32_t high)
{
	const uint32_t block = sb_plot_block(plot);
	char label[160] = "";

	for (int i = 0; i <= CURVE_STEPS; i++) {
		const double n = low + (high - low) * (double)i / CURVE_STEPS;

		fprintf(plot->data, "%.6g %.9g\n", n, sb_usl_at(usl, n));
	}
	sb_plot_block_end(plot);
	describe_fit(usl, label, sizeof(label));
	sb_plot_curve(plot, block, label, "using 1:2 with lines lw 1.5 dt 3 lc rgb '%s'",
		      sb_plot_colour(group));
}

/* As many times the least as there are workers. */
static void put_ideal(struct sb_plot *plot, const struct sb_plot_groups *groups, uint32_t low,
		      uint32_t high)
{
	const struct sb_plot_view *view = plot->view;

	for (uint32_t i = 0; i < view->lines; i++) {
		const double x = sb_series_spread(view->line[i].series, SB_METRIC_ops_per_s).median;
		uint32_t block;

		if (workers_of(view, i) != low || isnan(x) || groups->of[i])
			continue;
		block = sb_plot_block(plot);
		fprintf(plot->data, "%" PRIu32 " %.9g\n%" PRIu32 " %.9g\n", low, x, high,
			x * high / low);
		sb_plot_block_end(plot);
		sb_plot_curve(plot, block, "ideal",
			      "using 1:2 with lines lw 1 dt 4 lc rgb '#888888'");
		return;
	}
}

static void put_axes(struct sb_plot *plot, uint32_t low, uint32_t high)
{
	struct sb_plot_axis x = {
		.name = 'x', .label = "workers", .zero = true, .whole = true, .unit = ""
	};
	struct sb_plot_axis y = { 'y', "throughput", "1/s", { 0 }, false, true, false };

	for (uint32_t i = 0; i < plot->view->lines; i++)
		sb_plot_range_add(
			&y.range,
			sb_series_spread(plot->view->line[i].series, SB_METRIC_ops_per_s).max);
	/* The ideal may leave the picture; the measured may not be flat. */
	sb_plot_range_add(&y.range, 1.3 * y.range.high);
	sb_plot_range_add(&x.range, low);
	sb_plot_range_add(&x.range, high + (high - low) / 40.0);
	sb_plot_axis(plot, &x);
	sb_plot_axis(plot, &y);
}

/* The fewest workers whose throughput is not told apart from the best. */
static uint32_t enough(const struct sb_plot_view *view, const struct sb_plot_best *best)
{
	uint32_t least = best->line;

	for (uint32_t i = 0; i < view->lines; i++) {
		if (workers_of(view, i) < workers_of(view, least) &&
		    sb_plot_standing(view, i, SB_METRIC_ops_per_s) != SB_MARK_WORSE &&
		    sb_series_measured(view->line[i].series))
			least = i;
	}
	return workers_of(view, least);
}

/* The median with that many workers, of one curve. */
static uint32_t line_at(const struct sb_plot_view *view, uint32_t workers)
{
	uint32_t line = 0;

	for (uint32_t i = 0; i < view->lines; i++)
		line = workers_of(view, i) == workers ? i : line;
	return line;
}

/* Up to where one curve grows, and whether it falls behind that. */
static void find_growth(struct sb_plot *plot, const struct sb_plot_best *best, uint32_t low,
			uint32_t high)
{
	const struct sb_plot_view *view = plot->view;
	const uint32_t peak = workers_of(view, best->line);
	const uint32_t until = enough(view, best);
	const uint32_t last = line_at(view, high);
	const double first =
		sb_series_spread(view->line[line_at(view, low)].series, SB_METRIC_ops_per_s).median;
	const uint32_t repetitions = sb_series_measured(view->line[best->line].series);
	char value[SB_HUMAN_BYTES];

	sb_human(value, best->value, "1/s");
	if (until <= low && peak > low)
		sb_plot_finding(plot,
				"Throughput is highest with %" PRIu32
				" workers, %s/s, which %" PRIu32 " repetition%s settle",
				peak, value, repetitions,
				repetitions == 1 ? " does not" : "s do not");
	else if (until <= low)
		sb_plot_finding(plot,
				"No growth of throughput from %" PRIu32 " to %" PRIu32
				" workers is settled",
				low, high);
	else if (until == high)
		sb_plot_finding(plot,
				"Throughput grows to all %" PRIu32 " workers: %s/s, %.2g times "
				"that of %" PRIu32,
				high, value, best->value / first, low);
	else if (peak < high && sb_plot_standing(view, last, SB_METRIC_ops_per_s) == SB_MARK_WORSE)
		sb_plot_finding(plot,
				"Throughput grows to %" PRIu32 " workers, %s/s, and is lower "
				"with %" PRIu32,
				peak, value, high);
	else
		sb_plot_finding(plot,
				"Throughput grows to %" PRIu32 " workers; up to %" PRIu32
				" no further growth is settled",
				until, high);
}

static void find(struct sb_plot *plot, const struct sb_plot_groups *groups, uint32_t low,
		 uint32_t high)
{
	const struct sb_plot_contest contest = { .metric = SB_METRIC_ops_per_s,
						 .noun = "throughput" };
	const struct sb_plot_best best = sb_plot_find_best(plot->view, &contest);
	char text[SB_PLOT_FINDING_BYTES];

	if (best.compared > 1 && groups->groups == 1) {
		find_growth(plot, &best, low, high);
	} else if (best.compared) {
		sb_plot_describe_best(text, plot->view, &contest);
		sb_plot_finding(plot, "%s", text);
	}
}

static void draw(struct sb_plot *plot, const struct sb_plot_groups *groups,
		 struct sb_usl_point *point)
{
	const uint32_t shown = sb_plot_most(plot, groups->groups);
	bool any_fit = false;
	uint32_t low;
	uint32_t high;

	find_ends(plot->view, &low, &high);
	sb_plot_panel(plot);
	put_axes(plot, low, high);
	put_ideal(plot, groups, low, high);
	find(plot, groups, low, high);
	for (uint32_t g = 0; g < shown; g++) {
		const uint32_t n = gather_points(plot->view, groups, g, point);
		struct sb_usl usl;

		put_throughput(plot, groups, g, high);
		if (sb_usl_fit(&usl, point, n))
			continue;
		put_fit(plot, &usl, g, low, high);
		any_fit = true;
	}
	sb_plot_note(
		plot,
		any_fit ? "USL: Gunther's Universal Scalability Law with standard errors, fitted "
			  "to all repetitions"
			: "no fit of the Universal Scalability Law: it needs 4 numbers of workers");
}

bool sb_plot_scaling(struct sb_plot *plot, int unused)
{
	struct sb_plot_groups groups;
	struct sb_usl_point *point;
	bool drawn = false;

	(void)unused;
	if (make_groups(&groups, plot->view))
		return sb_plot_refuse(plot, "no memory");
	point = calloc(count_records(plot->view) + 1, sizeof(*point));
	if (!point) {
		sb_plot_refuse(plot, "no memory");
	} else if (!has_two(plot->view, &groups, false)) {
		sb_plot_refuse(plot,
			       "expected series or results that differ in their number of workers");
	} else {
		draw(plot, &groups, point);
		drawn = true;
	}
	free(point);
	sb_plot_groups_free(&groups);
	return drawn;
}
