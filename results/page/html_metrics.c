/* html_metrics.c - the page's table of all metrics. */
#include <inttypes.h>
#include <string.h>

#include "results/page/html_details.h"
#include "results/page/page.h"
#include "results/record/series.h"

/* Each goes on to where the next begins, in the order of metrics.def. */
static const struct {
	const char *title;
	enum sb_metric_id first;
} groups[] = {
	{ "Cost", SB_METRIC_ns_per_op },
	{ "Memory", SB_METRIC_bytes_per_process },
	{ "Latencies", SB_METRIC_ready_to_running_ns_mean },
	{ "Requests", SB_METRIC_capacity_per_s },
	{ "Time", SB_METRIC_busy_pct },
	{ "Queues", SB_METRIC_depth_own_mean },
	{ "Stealing", SB_METRIC_steal_attempts },
	{ "Idling", SB_METRIC_spins_mean },
	{ "Operating system and machine", SB_METRIC_vol_ctxsw },
	{ "Yields by command", SB_METRIC_yields_send },
	{ "Counters", SB_METRIC_steps },
	{ "The workload's own", SB_METRICS_BUILT_IN },
	{ NULL, SB_METRICS },
};

static_assert(SB_METRIC_ns_per_op == 0, "no metric comes before the groups");

/* Up to that many series stand beside each other, a metric a row. */
#define SERIES_BESIDE 6

/* Lists what of [first, end) was measured; how many. */
static size_t find_measured(const struct sb_page *page, enum sb_metric_id first,
			    enum sb_metric_id end, enum sb_metric_id metric[SB_METRICS])
{
	size_t n = 0;

	for (enum sb_metric_id m = first; m < end; m++) {
		if (page->has[m])
			metric[n++] = m;
	}
	return n;
}

/* The settings that tell a column's series from the others. */
static void put_column_head(FILE *out, const struct sb_page *page, const struct sb_page_row *row)
{
	char doc[400];
	size_t used = 0;

	doc[0] = '\0';
	for (uint32_t i = 0; i < page->swepts && used < sizeof(doc); i++) {
		const struct sb_setting *s = sb_series_setting(row->series, page->swept[i]);

		used += (size_t)snprintf(doc + used, sizeof(doc) - used, "%s%s=%s", i ? " " : "",
					 page->swept[i], s ? s->text : "-");
	}
	fputs("<th scope=\"col\" class=\"n\">", out);
	sb_html(out, row->name);
	if (page->results > 1) {
		fputs("<br><small>", out);
		sb_html(out, sb_page_result_name(row->result));
		fputs("</small>", out);
	}
	if (*doc) {
		fputs("<br><small>", out);
		sb_html(out, doc);
		fputs("</small>", out);
	}
	fputs("</th>", out);
}

static void put_beside(FILE *out, const struct sb_page *page, const char *title,
		       const enum sb_metric_id *metric, size_t n)
{
	sb_html_table(out, title);
	sb_html_head(out, "metric", "", "");
	for (uint32_t i = 0; i < page->rows; i++)
		put_column_head(out, page, &page->row[i]);
	sb_html_table_body(out);
	for (size_t m = 0; m < n; m++) {
		fputs("<tr>", out);
		sb_html_metric_row_head(out, metric[m]);
		for (uint32_t i = 0; i < page->rows; i++) {
			const struct sb_spread spread =
				sb_series_spread(page->row[i].series, metric[m]);

			sb_html_spread(out, &spread, sb_metric[metric[m]].unit, true);
		}
		fputs("</tr>\n", out);
	}
	sb_html_table_end(out);
}

void sb_html_metrics(FILE *out, const struct sb_page *page)
{
	fputs("<section id=\"metrics\"><h2>All metrics</h2>\n<p>Metrics that no series measured "
	      "are left out.</p>\n",
	      out);
	for (size_t g = 0; groups[g].title; g++) {
		enum sb_metric_id metric[SB_METRICS];
		const size_t n = find_measured(page, groups[g].first, groups[g + 1].first, metric);
		char count[32];

		if (!n)
			continue;
		snprintf(count, sizeof(count), "%zu metric%s", n, n == 1 ? "" : "s");
		sb_html_begin_details(out, groups[g].title, count, false);
		if (page->rows <= SERIES_BESIDE)
			put_beside(out, page, groups[g].title, metric, n);
		else
			sb_html_put_metrics(out, page, groups[g].title, metric, n);
		sb_html_end_details(out);
	}
	fputs("</section>\n", out);
}
