/* markdown_details.c - what is folded away in Markdown. */
#include <inttypes.h>
#include <string.h>

#include "results/page/markdown_parts.h"
#include "results/page/page.h"
#include "results/page/report.h"
#include "results/record/account.h"
#include "results/record/record.h"
#include "results/record/series.h"

void sb_md_begin_details(const struct sb_md_writer *w, const char *title)
{
	fprintf(w->out, "\n<details><summary>%s</summary>\n", title);
}

void sb_md_end_details(const struct sb_md_writer *w)
{
	fputs("\n</details>\n", w->out);
}

static void put_doubt(const struct sb_md_writer *w, const struct sb_page_row *row,
		      const struct sb_record *record)
{
	sb_md_put_series_cells(w, row);
	fprintf(w->out, " | %" PRIu32 " | %s", record->repetition,
		sb_verdict_name(record->verdict));
	sb_md_put_cell(w->out, record->reason);
	fputs(" |\n", w->out);
}

void sb_md_put_doubts(const struct sb_md_writer *w)
{
	uint32_t doubts = 0;

	if (sb_page_count(w->page, SB_VALID) == sb_page_count(w->page, SB_VERDICTS))
		return;
	sb_md_begin_details(w, "Suspect and invalid rows, with reasons");
	sb_md_put_series_heads(w);
	fputs(" | repetition | verdict | reason", w->out);
	sb_md_put_rule(w, 3, false);
	for (uint32_t i = 0; i < w->page->rows; i++) {
		const struct sb_page_row *row = &w->page->row[i];

		for (uint32_t r = 0; r < row->series->records; r++) {
			if (row->series->record[r].verdict == SB_VALID)
				continue;
			if (doubts++ < w->folded)
				put_doubt(w, row, &row->series->record[r]);
		}
	}
	if (doubts > w->folded)
		sb_md_put_left_out(w, doubts - w->folded, "are");
	for (enum sb_verdict v = SB_SUSPECT; v < SB_VERDICTS; v++)
		fprintf(w->out, "\n%s: %s.\n", sb_verdict_name(v), sb_page_verdict_doc(v));
	sb_md_end_details(w);
}

/* Medians of metrics; a row of none is left out. */
static bool put_medians(const struct sb_md_writer *w, const struct sb_page_row *row,
			const char *name, const enum sb_metric_id *metric, size_t n)
{
	if (!(sb_series_spread(row->series, metric[n - 1]).max > 0))
		return false;
	sb_md_put_series_cells(w, row);
	if (name)
		sb_md_put_cell(w->out, name);
	for (size_t i = 0; i < n; i++)
		sb_md_put_number(w->out, sb_series_spread(row->series, metric[i]).median,
				 sb_metric[metric[i]].unit);
	fputs(" |\n", w->out);
	return true;
}

void sb_md_put_latencies(const struct sb_md_writer *w)
{
	uint32_t rows = 0;

	sb_md_begin_details(w, "Latencies");
	sb_md_put_series_heads(w);
	fputs(" | latency | mean | p50 | p90 | p99 | p99.9 | max | timed", w->out);
	sb_md_put_rule(w, 1 + SB_LATENCY_METRICS, true);
	for (size_t l = 0; l < sb_latencies; l++) {
		enum sb_metric_id metric[SB_LATENCY_METRICS];

		for (int m = 0; m < SB_LATENCY_METRICS; m++)
			metric[m] = (enum sb_metric_id)(sb_latency[l].first + m);
		for (uint32_t i = 0; i < w->page->rows && rows < w->folded; i++)
			rows += put_medians(w, &w->page->row[i], sb_latency[l].name, metric,
					    SB_LATENCY_METRICS);
	}
	if (rows >= w->folded)
		fputs("\nThe rest is left out here.\n", w->out);
	sb_md_end_details(w);
}

void sb_md_put_times(const struct sb_md_writer *w)
{
	enum sb_metric_id metric[SB_TIMES];
	uint32_t rows = 0;

	if (!w->page->has[SB_METRIC_busy_pct])
		return;
	sb_md_begin_details(w, "The workers' time");
	sb_md_put_series_heads(w);
	/* busy last, for a row without it is none. */
	for (int t = 0; t < SB_TIMES; t++) {
		metric[t] = (enum sb_metric_id)(SB_METRIC_busy_pct + (t + 1) % SB_TIMES);
		sb_md_put_cell(w->out, sb_metric[metric[t]].name);
	}
	sb_md_put_rule(w, SB_TIMES, true);
	for (uint32_t i = 0; i < w->page->rows && rows < w->folded; i++)
		rows += put_medians(w, &w->page->row[i], NULL, metric, SB_TIMES);
	if (w->page->rows > w->folded)
		sb_md_put_left_out(w, w->page->rows - w->folded, "series are");
	fputs("\nbusy is work, scheduler and harness; without it the others add up to 100 %.\n",
	      w->out);
	sb_md_end_details(w);
}

void sb_md_put_facts(const struct sb_md_writer *w)
{
	for (uint32_t i = 0; i < w->page->results && i < w->folded; i++) {
		const struct sb_result *result = &w->page->result[i];

		sb_md_begin_details(w, "Machine, run and options");
		if (w->page->results > 1) {
			fputs("\n", w->out);
			sb_put_markdown(w->out, sb_page_result_name(result));
			fputs("\n", w->out);
		}
		fputs("\n| name | value |\n|---|---|\n", w->out);
		for (uint32_t f = 0; f < result->facts; f++) {
			if (sb_page_is_told(&result->fact[f]))
				continue;
			fputs("| ", w->out);
			sb_put_markdown(w->out, result->fact[f].group);
			fputs(".", w->out);
			sb_put_markdown(w->out, result->fact[f].key);
			sb_md_put_cell(w->out, result->fact[f].value);
			fputs(" |\n", w->out);
		}
		sb_md_end_details(w);
	}
}
