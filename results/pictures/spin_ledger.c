/*
 * spin_ledger.c - what every spin threshold would have cost: parks, CPU time and the latency that wakes
 * add, over the threshold.
 */
#include <math.h>
#include <stdlib.h>

#include "results/ledger/spin.h"
#include "results/plots/kinds.h"
#include "results/record/number.h"

/* Below it each point is as at 0. */
#define LEAST_NS 100

static const struct {
	const char *label;
	const char *unit;
	size_t at; /* in struct sb_spin_point */
} curves[] = {
	{ "parks per operation", "", offsetof(struct sb_spin_point, parks) },
	{ "CPU time per operation", "ns", offsetof(struct sb_spin_point, total_cpu_ns) },
	{ "latency of wakes per operation", "ns", offsetof(struct sb_spin_point, latency_ns_mean) },
};

static double value_of(const struct sb_spin_point *point, size_t curve)
{
	return *(const double *)((const char *)point + curves[curve].at);
}

/* From there on a threshold is longer than nearly all gaps. */
static uint32_t last_that_matters(const struct sb_spin_ledger *ledger)
{
	const double end = ledger->point[SB_SPIN_POINTS - 1].total_cpu_ns;
	uint32_t i = SB_SPIN_POINTS - 1;

	while (i > 1 && fabs(ledger->point[i - 1].total_cpu_ns - end) < 0.001 * end)
		i--;
	return i;
}

static uint32_t put_points(struct sb_plot *plot, const struct sb_spin_point *point, uint32_t n,
			   size_t curve)
{
	const uint32_t block = sb_plot_block(plot);

	for (uint32_t i = 0; i < n; i++)
		fprintf(plot->data, "%.9g %.9g\n",
			point[i].threshold_ns > LEAST_NS ? point[i].threshold_ns : LEAST_NS,
			value_of(&point[i], curve));
	sb_plot_block_end(plot);
	return block;
}

static void draw_curve(struct sb_plot *plot, const struct sb_spin_ledger *ledger, size_t curve)
{
	const struct sb_spin_point *best = &ledger->point[ledger->best[SB_SPIN_PRICE]];
	const uint32_t last = last_that_matters(ledger);
	const bool is_last = curve + 1 == SB_ARRAY_SIZE(curves);
	struct sb_plot_axis x = { 'x',	is_last ? "spin threshold" : "", "ns", { 0 }, true, true,
				  false };
	struct sb_plot_axis y = {
		'y', curves[curve].label, curves[curve].unit, { 0 }, false, false, false
	};
	char style[SB_PLOT_STYLE_BYTES];

	sb_plot_range_add(&x.range, LEAST_NS);
	sb_plot_range_add(&x.range, ledger->point[last].threshold_ns);
	sb_plot_range_add(&x.range, ledger->now.threshold_ns);
	sb_plot_range_add(&y.range, value_of(&ledger->now, curve));
	for (uint32_t i = 0; i <= last; i++)
		sb_plot_range_add(&y.range, value_of(&ledger->point[i], curve));
	sb_plot_panel(plot);
	sb_plot_axis(plot, &x);
	sb_plot_axis(plot, &y);
	if (best->threshold_ns > LEAST_NS)
		sb_plot_mark(plot, 'x', best->threshold_ns, "least cost");
	sb_plot_curve(plot, put_points(plot, ledger->point, last + 1, curve),
		      curve ? NULL : "predicted from this run's gaps", "using 1:2 with lines %s",
		      sb_plot_line_style(style, 0));
	sb_plot_curve(plot, put_points(plot, &ledger->now, 1, curve), curve ? NULL : "measured",
		      "using 1:2 with points %s", sb_plot_point_style(style, 1, false));
}

bool sb_plot_spin_ledger(struct sb_plot *plot, int unused)
{
	const struct sb_plot_line *line = &plot->view->line[0];
	char finding[SB_SPIN_FINDING_BYTES];
	char ns[SB_HUMAN_BYTES];
	struct sb_spin_ledger *ledger;
	const char *why;

	(void)unused;
	ledger = sb_spin_ledger_make(line->series, line->result, &why);
	if (!ledger)
		return sb_plot_refuse(plot, "%s", why);
	for (size_t curve = 0; curve < SB_ARRAY_SIZE(curves); curve++)
		draw_curve(plot, ledger, curve);
	sb_spin_ledger_describe(ledger, finding);
	sb_plot_finding(plot, "%s", finding);
	sb_human(ns, ledger->wake_cpu_ns, "ns");
	sb_plot_note(plot,
		     "a sleep and a wake take %s of CPU time; latency counts as much as CPU time",
		     ns);
	free(ledger);
	return true;
}
