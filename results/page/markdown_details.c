/* markdown_details.c - what is folded away in Markdown. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/ledger/exemplars.h"
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

/* The slowest of a series of each latency, of those that a repetition keeps. */
#define SLOWEST 3

static uint32_t put_slowest(const struct sb_md_writer *w, const struct sb_page_row *row,
			    enum sb_exemplar_kind kind)
{
	uint32_t n;
	struct sb_exemplar_spot *spot = sb_series_slowest(row->series, kind, &n);

	for (uint32_t i = 0; spot && i < n && i < SLOWEST; i++) {
		char why[SB_CAUSE_BYTES];

		(void)sb_exemplar_explain(why, spot[i].record->exemplars, spot[i].exemplar);
		sb_md_put_series_cells(w, row);
		sb_md_put_cell(w->out, sb_exemplar_kind_name(kind));
		sb_md_put_number(w->out, (double)spot[i].exemplar->took_ns, "ns");
		sb_md_put_cell(w->out, why);
		fputs(" |\n", w->out);
	}
	free(spot);
	return n > 0;
}

static bool has_exemplars(const struct sb_page *page)
{
	for (uint32_t i = 0; i < page->results; i++) {
		if (sb_result_has_exemplars(&page->result[i]))
			return true;
	}
	return false;
}

void sb_md_put_slowest(const struct sb_md_writer *w)
{
	uint32_t groups = 0;

	if (!has_exemplars(w->page))
		return;
	sb_md_begin_details(w, "The slowest events");
	sb_md_put_series_heads(w);
	fputs(" | latency | took | why", w->out);
	sb_md_put_rule(w, 3, false);
	for (int k = 0; k < SB_EXEMPLAR_KINDS; k++) {
		for (uint32_t i = 0; i < w->page->rows && groups < w->folded; i++)
			groups += put_slowest(w, &w->page->row[i], (enum sb_exemplar_kind)k);
	}
	if (groups >= w->folded)
		fputs("\nThe rest is left out here.\n", w->out);
	sb_md_end_details(w);
}

static bool put_times(const struct sb_md_writer *w, const struct sb_page_row *row)
{
	if (isnan(sb_series_mean(row->series, SB_METRIC_busy_pct)))
		return false;
	sb_md_put_series_cells(w, row);
	for (int t = 0; t < SB_TIMES; t++)
		sb_md_put_number(
			w->out,
			sb_series_mean(row->series, (enum sb_metric_id)(SB_METRIC_busy_pct + t)),
			"%");
	fputs(" |\n", w->out);
	return true;
}

void sb_md_put_times(const struct sb_md_writer *w)
{
	uint32_t rows = 0;

	if (!w->page->has[SB_METRIC_busy_pct])
		return;
	sb_md_begin_details(w, "The workers' time");
	sb_md_put_series_heads(w);
	for (int t = 0; t < SB_TIMES; t++)
		sb_md_put_cell(w->out, sb_metric[SB_METRIC_busy_pct + t].name);
	sb_md_put_rule(w, SB_TIMES, true);
	for (uint32_t i = 0; i < w->page->rows && rows < w->folded; i++)
		rows += put_times(w, &w->page->row[i]);
	if (w->page->rows > w->folded)
		sb_md_put_left_out(w, w->page->rows - w->folded, "series are");
	fputs("\nMeans over the repetitions. busy is work, scheduler and harness; without it the "
	      "others add up to 100 %.\n",
	      w->out);
	sb_md_end_details(w);
}

/* Of options that nobody chose neither the value nor its source. */
static bool is_default(const struct sb_result *result, const struct sb_fact *fact)
{
	return (!strcmp(fact->group, "options") || !strcmp(fact->group, "option_sources")) &&
	       !strcmp(sb_result_fact(result, "option_sources", fact->key), "default");
}

static void put_facts(FILE *out, const struct sb_result *result)
{
	uint32_t defaults = 0;

	fputs("\n| name | value |\n|---|---|\n", out);
	for (uint32_t f = 0; f < result->facts; f++) {
		const struct sb_fact *fact = &result->fact[f];

		if (is_default(result, fact)) {
			defaults += !strcmp(fact->group, "options");
			continue;
		}
		if (sb_page_is_told(fact))
			continue;
		fputs("| ", out);
		sb_put_markdown(out, fact->group);
		fputs(".", out);
		sb_put_markdown(out, fact->key);
		sb_md_put_cell(out, fact->value);
		fputs(" |\n", out);
	}
	if (defaults)
		fprintf(out,
			"\nThe other %" PRIu32
			" options have their defaults; result.json lists them.\n",
			defaults);
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
		put_facts(w->out, result);
		sb_md_end_details(w);
	}
}
