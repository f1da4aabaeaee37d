/* html_parts.c - the tables that say why the numbers are what they are. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/worker/distance.h"
#include "results/ledger/steal.h"
#include "results/page/html_details.h"
#include "results/page/page.h"
#include "results/record/account.h"
#include "results/record/series.h"

void sb_html_begin_details(FILE *out, const char *title, const char *doc, bool is_open)
{
	fprintf(out, "<details%s><summary>", is_open ? " open" : "");
	sb_html(out, title);
	if (*doc) {
		fputs(" <small>", out);
		sb_html(out, doc);
		fputs("</small>", out);
	}
	fputs("</summary>\n", out);
}

void sb_html_end_details(FILE *out)
{
	fputs("</details>\n", out);
}

/* The medians of metrics, one row for each series that has any. */
static void put_cells(FILE *out, const struct sb_series *series, const enum sb_metric_id *metric,
		      size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct sb_spread spread = sb_series_spread(series, metric[i]);

		sb_html_spread(out, &spread, sb_metric[metric[i]].unit, false);
	}
}

/* ---- latencies ---- */

static void put_latency(FILE *out, const struct sb_page *page, const struct sb_latency *latency,
			bool is_open)
{
	static const char *const titles[SB_LATENCY_METRICS] = { "mean",	 "p50", "p90",	"p99",
								"p99.9", "max", "timed" };

	sb_html_begin_details(out, latency->name, latency->doc, is_open);
	sb_html_table(out, latency->name);
	sb_html_series_heads(out, page);
	for (int i = 0; i < SB_LATENCY_METRICS; i++) {
		const struct sb_metric *metric = &sb_metric[latency->first + i];

		sb_html_head(out, titles[i], metric->unit, metric->doc);
	}
	sb_html_table_body(out);
	for (uint32_t i = 0; i < page->rows; i++) {
		/* How many were timed: often none. */
		if (!(sb_series_latency(page->row[i].series, latency->first, SB_LATENCY_METRICS - 1)
			      .max > 0))
			continue;
		sb_html_series_cells(out, page, &page->row[i]);
		for (int m = 0; m < SB_LATENCY_METRICS; m++) {
			const struct sb_spread spread =
				sb_series_latency(page->row[i].series, latency->first, m);

			sb_html_spread(out, &spread, sb_metric[latency->first + m].unit, false);
		}
		fputs("</tr>\n", out);
	}
	sb_html_table_end(out);
	sb_html_end_details(out);
}

/* Those are open that the headline speaks of: the first two there are. */
#define LATENCIES_OPEN 2

void sb_html_latencies(FILE *out, const struct sb_page *page)
{
	uint32_t shown = 0;

	for (size_t i = 0; i < sb_latencies; i++) {
		const enum sb_metric_id mean = sb_latency[i].first;

		/* Few have no median; where some were lost there is no mean. */
		if (!page->has[mean] && !page->has[mean + 1])
			continue;
		if (!shown)
			fputs("<section id=\"latencies\"><h2>Latencies</h2>\n<p>Medians of "
			      "what each repetition had. A picture has the samples of all "
			      "repetitions together, so its percentiles may differ a little."
			      "</p>\n",
			      out);
		put_latency(out, page, &sb_latency[i], shown < LATENCIES_OPEN);
		shown++;
	}
	if (shown)
		fputs("</section>\n", out);
}

/* ---- time ---- */

static const struct {
	const char *name;
	const char *doc;
} times[SB_TIMES] = {
#define TIME(name, doc) [SB_TIME_##name] = { #name, doc },
#include "results/record/account.def"
#undef TIME
};

static void put_time_heads(FILE *out, bool has_bar)
{
	if (has_bar)
		sb_html_head(out, "all", "",
			     "the parts in the order of the columns that follow busy");
	for (int t = 0; t < SB_TIMES; t++) {
		char doc[200];

		snprintf(doc, sizeof(doc), "the workers' time %s", times[t].doc);
		sb_html_head(out, times[t].name, "%", doc);
	}
}

/* All but busy, which is the sum of some of them. */
static void put_bar(FILE *out, const struct sb_series *series)
{
	const double busy = sb_series_mean(series, SB_METRIC_busy_pct);
	double x = 0;

	if (isnan(busy)) {
		sb_html_number(out, NAN, "");
		return;
	}
	fprintf(out, "<td data-value=\"%.9g\">", busy);
	fputs("<svg class=\"bar\" role=\"img\" aria-label=\"shares\" viewBox=\"0 0 100 10\" "
	      "preserveAspectRatio=\"none\">",
	      out);
	for (int t = SB_TIME_work; t < SB_TIMES; t++) {
		const double pct =
			sb_series_mean(series, (enum sb_metric_id)(SB_METRIC_busy_pct + t));

		if (!(pct > 0))
			continue;
		fprintf(out,
			"<rect class=\"t%d\" x=\"%.2f\" y=\"0\" width=\"%.2f\" height=\"10\"/>", t,
			x, pct);
		x += pct;
	}
	fputs("</svg></td>", out);
}

static void put_time_row(FILE *out, const struct sb_page *page, const struct sb_page_row *row)
{
	sb_html_series_cells(out, page, row);
	put_bar(out, row->series);
	for (int t = 0; t < SB_TIMES; t++)
		sb_html_number(
			out,
			sb_series_mean(row->series, (enum sb_metric_id)(SB_METRIC_busy_pct + t)),
			"%");
	fputs("</tr>\n", out);
}

static void put_worker_times(FILE *out, const struct sb_page *page, const struct sb_page_row *row)
{
	for (uint32_t w = 0; w < row->series->placement.workers; w++) {
		const struct sb_shares shares = sb_series_shares(row->series, w);

		sb_html_series_cells(out, page, row);
		sb_html_count(out, w);
		for (int t = 0; t < SB_TIMES; t++)
			sb_html_number(out, shares.pct[t], "%");
		fputs("</tr>\n", out);
	}
}

static void put_times_by_worker(FILE *out, const struct sb_page *page)
{
	sb_html_begin_details(out, "By worker", "means over the repetitions", false);
	sb_html_table(out, "Time by worker");
	sb_html_series_heads(out, page);
	sb_html_head(out, "worker", "", "");
	put_time_heads(out, false);
	sb_html_table_body(out);
	for (uint32_t i = 0; i < page->rows; i++) {
		if (sb_series_measured(page->row[i].series))
			put_worker_times(out, page, &page->row[i]);
	}
	sb_html_table_end(out);
	sb_html_end_details(out);
}

/* Which colour of the bars is which part. */
static void put_time_legend(FILE *out)
{
	fputs("<p class=\"swatches\">", out);
	for (int t = SB_TIME_work; t < SB_TIMES; t++)
		fprintf(out,
			"<span><svg class=\"swatch\" viewBox=\"0 0 10 10\" "
			"aria-hidden=\"true\"><rect class=\"t%d\" width=\"10\" "
			"height=\"10\"/></svg>%s</span> ",
			t, times[t].name);
	fputs("</p>\n", out);
}

void sb_html_times(FILE *out, const struct sb_page *page)
{
	if (!page->has[SB_METRIC_busy_pct])
		return;
	fputs("<section id=\"time\"><h2>The workers' time</h2>\n<p>Means over the repetitions. "
	      "busy is work, scheduler and harness; without it the others add up to 100 %. work "
	      "and "
	      "scheduler are estimated from the steps that were timed, with the standard error "
	      "work_pct_error.</p>\n",
	      out);
	put_time_legend(out);
	sb_html_table(out, "The workers' time");
	sb_html_series_heads(out, page);
	put_time_heads(out, true);
	sb_html_table_body(out);
	for (uint32_t i = 0; i < page->rows; i++) {
		if (sb_series_measured(page->row[i].series))
			put_time_row(out, page, &page->row[i]);
	}
	sb_html_table_end(out);
	put_times_by_worker(out, page);
	fputs("</section>\n", out);
}

/* ---- steals ---- */

static const enum sb_metric_id steal_metrics[] = {
	SB_METRIC_steal_attempts, SB_METRIC_steal_successes, SB_METRIC_steal_items,
	SB_METRIC_steal_lost,	  SB_METRIC_steal_empty,     SB_METRIC_idle_episodes,
	SB_METRIC_spins_mean,	  SB_METRIC_blocks,	     SB_METRIC_wakes,
};

void sb_html_put_metrics(FILE *out, const struct sb_page *page, const char *label,
			 const enum sb_metric_id *metric, size_t n)
{
	sb_html_table(out, label);
	sb_html_series_heads(out, page);
	for (size_t i = 0; i < n; i++)
		sb_html_metric_head(out, metric[i]);
	sb_html_table_body(out);
	for (uint32_t i = 0; i < page->rows; i++) {
		if (!sb_series_measured(page->row[i].series))
			continue;
		sb_html_series_cells(out, page, &page->row[i]);
		put_cells(out, page->row[i].series, metric, n);
		fputs("</tr>\n", out);
	}
	sb_html_table_end(out);
}

static void put_distance_rows(FILE *out, const struct sb_page *page, const struct sb_page_row *row,
			      const struct sb_distance_steals *steals)
{
	for (int d = 0; d < SB_DISTANCES; d++) {
		if (!steals[d].pairs)
			continue;
		sb_html_series_cells(out, page, row);
		fprintf(out, "<td data-value=\"%d\">%s</td>", d,
			sb_distance_name((enum sb_distance)d));
		sb_html_count(out, steals[d].pairs);
		sb_html_number(out, steals[d].attempts, "count");
		sb_html_number(out, steals[d].successes, "count");
		sb_html_number(out, steals[d].items, "count");
		fputs("</tr>\n", out);
	}
}

static bool has_distances(const struct sb_page *page)
{
	for (uint32_t i = 0; i < page->rows; i++) {
		struct sb_distance_steals steals[SB_DISTANCES];

		if (sb_series_distances(page->row[i].series, steals) > 1)
			return true;
	}
	return false;
}

static void put_distances(FILE *out, const struct sb_page *page)
{
	sb_html_begin_details(out, "By distance",
			      "between workers that are that far apart, on average in a repetition",
			      true);
	sb_html_table(out, "Steals by distance");
	sb_html_series_heads(out, page);
	sb_html_head(out, "distance", "",
		     "self, smt: the same core, cache: the same last-level cache, node: the same "
		     "NUMA node, remote");
	sb_html_head(out, "pairs", "", "how many thieves and victims there are");
	sb_html_head(out, "attempts", "count", sb_metric[SB_METRIC_steal_attempts].doc);
	sb_html_head(out, "successes", "count", sb_metric[SB_METRIC_steal_successes].doc);
	sb_html_head(out, "processes stolen", "count", sb_metric[SB_METRIC_steal_items].doc);
	sb_html_table_body(out);
	for (uint32_t i = 0; i < page->rows; i++) {
		struct sb_distance_steals steals[SB_DISTANCES];

		if (sb_series_distances(page->row[i].series, steals))
			put_distance_rows(out, page, &page->row[i], steals);
	}
	sb_html_table_end(out);
	sb_html_end_details(out);
}

/* What the ledger says of each series. */
static void put_steal_findings(FILE *out, const struct sb_page *page)
{
	for (uint32_t i = 0; i < page->rows; i++) {
		const struct sb_page_row *row = &page->row[i];
		struct sb_steal_ledger ledger;
		char text[SB_STEAL_TEXT_BYTES];
		char name[SB_NAME_BYTES];

		if (!sb_series_steal_ledger(row->series, &ledger))
			continue;
		sb_steal_describe(&ledger, text);
		if (!*text)
			continue;
		sb_series_name(name, row->result, row->series);
		fputs("<p>", out);
		sb_html(out, name);
		fputs(": ", out);
		sb_html(out, text);
		fputs(".</p>\n", out);
	}
}

void sb_html_steals(FILE *out, const struct sb_page *page)
{
	if (!page->has[SB_METRIC_steal_attempts])
		return;
	fputs("<section id=\"steals\"><h2>Steals and idling</h2>\n", out);
	sb_html_put_metrics(out, page, "Steals and idling", steal_metrics,
			    SB_ARRAY_SIZE(steal_metrics));
	if (has_distances(page))
		put_distances(out, page);
	put_steal_findings(out, page);
	fputs("</section>\n", out);
}

/* ---- memory ---- */

static const enum sb_metric_id memory_metrics[] = {
	SB_METRIC_bytes_per_process, SB_METRIC_arena_bytes,  SB_METRIC_arena_growth_bytes,
	SB_METRIC_huge_page_bytes,   SB_METRIC_remote_frees, SB_METRIC_remote_bytes,
	SB_METRIC_minor_faults,	     SB_METRIC_major_faults,
};

static void put_residence(FILE *out, const struct sb_page *page, const struct sb_page_row *row,
			  uint32_t worker)
{
	const struct sb_residence *r = &row->series->residence[worker];

	sb_html_series_cells(out, page, row);
	sb_html_count(out, worker);
	fprintf(out, "<td class=\"n\">%d</td>", row->series->placement.place[worker].node);
	sb_html_text(out, sb_series_binding(row->series, row->result));
	for (int kind = 0; kind < SB_MEMORY_KINDS; kind++) {
		if (r->error) {
			sb_html_number(out, NAN, "");
			sb_html_number(out, NAN, "");
		} else {
			sb_html_count(out, r->kind[kind].own);
			sb_html_count(out, r->kind[kind].other);
		}
	}
	fputs("</tr>\n", out);
}

static void put_residence_heads(FILE *out, const struct sb_page *page)
{
	sb_html_series_heads(out, page);
	sb_html_head(out, "worker", "", "");
	sb_html_head(out, "node", "", "the worker's NUMA node");
	sb_html_head(out, "binding", "", "how its arena was bound");
	for (int kind = 0; kind < SB_MEMORY_KINDS; kind++) {
		char title[40];

		snprintf(title, sizeof(title), "%s: own",
			 sb_memory_kind_name((enum sb_memory_kind)kind));
		sb_html_head(out, title, "pages", "pages on the worker's node");
		sb_html_head(out, "other", "pages", "pages on other nodes");
	}
}

static void put_residences(FILE *out, const struct sb_page *page)
{
	sb_html_begin_details(
		out, "Where it lies",
		"pages of each worker's memory, as the kernel places them after the run", false);
	sb_html_table(out, "Where memory lies");
	put_residence_heads(out, page);
	sb_html_table_body(out);
	for (uint32_t i = 0; i < page->rows; i++) {
		const struct sb_series *series = page->row[i].series;

		for (uint32_t w = 0; series->residence && w < series->placement.workers; w++)
			put_residence(out, page, &page->row[i], w);
	}
	sb_html_table_end(out);
	sb_html_end_details(out);
}

void sb_html_memory(FILE *out, const struct sb_page *page)
{
	bool is_known = false;

	for (uint32_t i = 0; i < page->rows; i++)
		is_known |= page->row[i].series->residence != NULL;
	fputs("<section id=\"memory\"><h2>Memory</h2>\n", out);
	sb_html_put_metrics(out, page, "Memory", memory_metrics, SB_ARRAY_SIZE(memory_metrics));
	if (is_known)
		put_residences(out, page);
	fputs("</section>\n", out);
}
