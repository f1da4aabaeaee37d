/*
 * steal_ledger.c - which stolen processes came back, where work waited while a worker was idle,
 * and what a move costs.
 */
#include <math.h>

#include "core/worker/distance.h"
#include "results/ledger/steal.h"
#include "results/plots/kinds.h"

#define BARS_MAX 8

/* A panel of bars with a word each. */
struct bars {
	const char *label, *unit;
	const char *words; /* below them all */
	struct sb_plot_tic tic[BARS_MAX];
	double value[BARS_MAX];
	uint32_t n;
};

/* Nothing if there is nothing to draw. */
static void add_bar(struct bars *bars, const char *word, double value)
{
	if (isnan(value))
		return;
	bars->tic[bars->n] = (struct sb_plot_tic){ bars->n, word };
	bars->value[bars->n++] = value;
}

static void draw_bars(struct sb_plot *plot, const struct bars *bars)
{
	struct sb_plot_axis y = { 'y', bars->label, bars->unit, { 0 }, false, true, false };
	uint32_t block;

	if (!bars->n)
		return;
	block = sb_plot_block(plot);
	sb_plot_range_add(&y.range, 0);
	for (uint32_t i = 0; i < bars->n; i++) {
		sb_plot_range_add(&y.range, bars->value[i]);
		fprintf(plot->data, "%u %.9g\n", i, bars->value[i]);
	}
	sb_plot_block_end(plot);
	sb_plot_panel(plot);
	sb_plot_axis(plot, &y);
	sb_plot_words(plot, 'x', bars->words,
		      &(struct sb_plot_words){ bars->tic, bars->n, -0.5, bars->n - 0.5 });
	sb_plot_curve(
		plot, block, NULL,
		"using 1:2:($1-0.3):($1+0.3):(0):2 with boxxyerror lc rgb '#0072b2' fs solid");
}

static void draw_ping_pong(struct sb_plot *plot, const struct sb_steal_counts *sum)
{
	struct bars bars = { "stolen processes", "%", "", { { 0, NULL } }, { 0 }, 0 };

	if (sum->items) {
		const double pct = 100 / (double)sum->items;

		add_bar(&bars, "again before they ran", pct * (double)sum->restolen);
		add_bar(&bars, "back where they came from", pct * (double)sum->returned);
		add_bar(&bars, "after more than 8 times", pct * (double)sum->wandering);
	}
	draw_bars(plot, &bars);
}

static void draw_missed(struct sb_plot *plot, const struct sb_steal_ledger *ledger)
{
	struct bars bars = { "idle while work waited", "ns",  "where it waited",
			     { { 0, NULL } },	       { 0 }, 0 };

	for (uint32_t p = 0; p < SB_MISSED_PLACES; p++)
		add_bar(&bars, sb_missed_place_name(p), (double)ledger->missed_ns[p]);
	draw_bars(plot, &bars);
}

static void draw_moves(struct sb_plot *plot, const struct sb_steal_ledger *ledger)
{
	struct bars bars = { "mean step", "ns", "", { { 0, NULL } }, { 0 }, 0 };

	if (ledger->all.sum.moved_steps) {
		add_bar(&bars, "not after a move", ledger->stayed_ns);
		for (int d = 0; d < SB_DISTANCES; d++)
			add_bar(&bars, sb_plot_distance_words[d],
				sb_steal_move_ns(ledger, &ledger->by[d]) + ledger->stayed_ns);
	}
	draw_bars(plot, &bars);
}

bool sb_plot_steal_ledger(struct sb_plot *plot, int unused)
{
	struct sb_steal_ledger ledger;
	char text[SB_STEAL_TEXT_BYTES];

	(void)unused;
	if (!sb_series_steal_ledger(plot->view->line[0].series, &ledger))
		return sb_plot_refuse(plot, "steals were not recorded");
	sb_steal_title(&ledger, text);
	if (!*text)
		return sb_plot_refuse(
			plot, "nothing was stolen, and no worker was idle while work waited");
	draw_ping_pong(plot, &ledger.all.sum);
	draw_missed(plot, &ledger);
	draw_moves(plot, &ledger);
	sb_plot_finding(plot, "%s", text);
	return true;
}
