/* html_exemplars.c - the slowest events of each latency, and why they were slow. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "results/ledger/exemplars.h"
#include "results/page/html_details.h"
#include "results/page/page.h"
#include "results/record/series.h"

static void put_heads(FILE *out, const struct sb_page *page)
{
	sb_html_series_heads(out, page);
	sb_html_head(out, "took", "ns", "the latency");
	sb_html_head(out, "cause", "", "what explains most of it, as far as is recorded");
	sb_html_head(out, "why", "", "the cause in words, and what is true besides");
	sb_html_head(out, "process", "", "the kind of the process, and its PID");
	sb_html_head(out, "worker", "", "that ran it");
	sb_html_head(out, "repetition", "", "");
	sb_html_head(out, "began", "ns", "since the start of the repetition");
	sb_html_table_body(out);
}

static void put_process(FILE *out, const struct sb_exemplar *e)
{
	if (!e->pid) {
		sb_html_text(out, "-");
		return;
	}
	fputs("<td>", out);
	sb_html(out, e->name);
	fprintf(out, " %" PRIu64 "</td>", e->pid);
}

static void put_spot(FILE *out, const struct sb_page *page, const struct sb_page_row *row,
		     const struct sb_exemplar_spot *spot)
{
	const struct sb_exemplar *e = spot->exemplar;
	char text[SB_CAUSE_BYTES];
	const enum sb_cause cause = sb_exemplar_explain(text, spot->record->exemplars, e);

	sb_html_series_cells(out, page, row);
	sb_html_number(out, (double)e->took_ns, "ns");
	sb_html_text(out, sb_cause_name(cause));
	fputs("<td class=\"wide\">", out);
	sb_html(out, text);
	fputs("</td>", out);
	put_process(out, e);
	sb_html_count(out, e->worker);
	sb_html_count(out, spot->record->repetition);
	sb_html_number(out, (double)e->begin_ns, "ns");
	fputs("</tr>\n", out);
}

static void put_row(FILE *out, const struct sb_page *page, const struct sb_page_row *row,
		    enum sb_exemplar_kind kind)
{
	uint32_t n;
	struct sb_exemplar_spot *spot = sb_series_slowest(row->series, kind, &n);

	for (uint32_t i = 0; spot && i < n; i++)
		put_spot(out, page, row, &spot[i]);
	free(spot);
}

static bool has(const struct sb_page *page, enum sb_exemplar_kind kind)
{
	for (uint32_t i = 0; i < page->rows; i++) {
		if (sb_series_has_exemplars(page->row[i].series, kind))
			return true;
	}
	return false;
}

void sb_html_exemplars(FILE *out, const struct sb_page *page)
{
	bool any = false;

	for (int k = 0; k < SB_EXEMPLAR_KINDS; k++) {
		const enum sb_exemplar_kind kind = (enum sb_exemplar_kind)k;

		if (!has(page, kind))
			continue;
		if (!any)
			fputs("<section id=\"slowest\"><h2>The slowest events</h2>\n<p>Of those "
			      "that were timed, and why: the first cause that explains half of the "
			      "time. A cause is as good as what is recorded: "
			      "time that a hypervisor takes looks like CPU time. Invalid "
			      "repetitions are among them, as they may say why.</p>\n",
			      out);
		sb_html_begin_details(out, sb_exemplar_kind_name(kind), "", !any);
		sb_html_table(out, sb_exemplar_kind_name(kind));
		put_heads(out, page);
		for (uint32_t i = 0; i < page->rows; i++)
			put_row(out, page, &page->row[i], kind);
		sb_html_table_end(out);
		sb_html_end_details(out);
		any = true;
	}
	if (any)
		fputs("</section>\n", out);
}
