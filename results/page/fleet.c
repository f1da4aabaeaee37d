/* fleet.c - the leading setting of each machine and of all of them, in both forms of a report. */
#include <stdlib.h>
#include <string.h>

#include "results/page/markdown_parts.h"
#include "results/page/page.h"
#include "results/record/series.h"

/* ---- HTML ---- */

static void put_row(FILE *out, const struct sb_fleet_table *table, const struct sb_fleet_row *row)
{
	const char *unit = sb_metric[table->metric].unit;

	fputs("<tr>", out);
	sb_html_text(out, sb_fleet_machine_name(row->result));
	sb_html_text(out, sb_page_result_name(row->result));
	sb_html_text(out, row->best);
	sb_html_number(out, row->best_value, unit);
	sb_html_number(out, row->overall_value, unit);
	sb_html_number(out, sb_fleet_loss(row), "%");
	fputs("</tr>\n", out);
}

static void put_table(FILE *out, const struct sb_fleet_table *table, uint32_t results)
{
	char *answer = sb_fleet_answer(table, results);
	const char *name = sb_metric[table->metric].name;

	fputs("<p class=\"answer\">", out);
	sb_html(out, answer ? answer : "");
	fputs(".</p>\n", out);
	free(answer);
	sb_html_table(out, "The leading setting of each machine");
	sb_html_head(out, "machine", "", "");
	sb_html_head(out, "result", "", "");
	sb_html_head(out, "its leader", "", "of those that all machines have");
	sb_html_head(out, name, "", "with its leader: the estimate over its repetitions");
	sb_html_head(out, "leader of all", "", "the same with the setting that leads over all");
	sb_html_head(out, "worse by", "", "what the machine gives up with that setting");
	sb_html_table_body(out);
	for (uint32_t m = 0; m < results; m++)
		put_row(out, table, &table->row[m]);
	sb_html_table_end(out);
}

void sb_html_fleet(FILE *out, const struct sb_page *page)
{
	const struct sb_fleet *fleet = &page->fleet;

	if (!fleet->tables)
		return;
	fputs("<section id=\"machines\"><h2>Machines</h2>\n", out);
	for (uint32_t i = 0; i < fleet->tables; i++)
		put_table(out, &fleet->table[i], fleet->results);
	fputs("</section>\n", out);
}

/* ---- Markdown ---- */

static void put_md_table(const struct sb_md_writer *w, const struct sb_fleet_table *table)
{
	const uint32_t results = w->page->fleet.results;
	const char *unit = sb_metric[table->metric].unit;
	char *answer = sb_fleet_answer(table, results);

	fputs("\n**", w->out);
	sb_put_markdown(w->out, answer ? answer : "");
	fputs(".**\n\n| machine | result | its leader | ", w->out);
	free(answer);
	sb_put_markdown(w->out, sb_metric[table->metric].name);
	fputs(" | leader of all | worse by |\n|---|---|---|---:|---:|---:|\n", w->out);
	for (uint32_t m = 0; m < results && m < w->seen; m++) {
		const struct sb_fleet_row *row = &table->row[m];

		fputs("| ", w->out);
		sb_put_markdown(w->out, sb_fleet_machine_name(row->result));
		sb_md_put_cell(w->out, sb_page_result_name(row->result));
		sb_md_put_cell(w->out, row->best);
		sb_md_put_number(w->out, row->best_value, unit);
		sb_md_put_number(w->out, row->overall_value, unit);
		sb_md_put_number(w->out, sb_fleet_loss(row), "%");
		fputs(" |\n", w->out);
	}
}

void sb_md_put_fleet(const struct sb_md_writer *w)
{
	for (uint32_t i = 0; i < w->page->fleet.tables; i++)
		put_md_table(w, &w->page->fleet.table[i]);
}
