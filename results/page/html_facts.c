/* html_facts.c - what was chosen, where it ran, and what the numbers mean. */
#include <string.h>

#include "results/page/page.h"
#include "results/record/series.h"

void sb_html_settings(FILE *out, const struct sb_page *page)
{
	fputs("<section id=\"settings\"><h2>Settings of each series</h2>\n", out);
	sb_html_table(out, "Settings");
	sb_html_series_heads(out, page);
	sb_html_head(out, "workers", "", "");
	sb_html_head(out, "repetitions", "", "");
	sb_html_head(out, "topology", "",
		     "emulated: its workers are placed on another machine, and share the cores of "
		     "this one");
	sb_html_head(out, "settings", "", "");
	sb_html_head(out, "answer", "", "what was searched for");
	sb_html_table_body(out);
	for (uint32_t i = 0; i < page->rows; i++) {
		const struct sb_series *series = page->row[i].series;

		sb_html_series_cells(out, page, &page->row[i]);
		sb_html_count(out, series->placement.workers);
		sb_html_count(out, series->records);
		sb_html_text(out, sb_series_topology(series));
		fputs("<td class=\"wide\">", out);
		sb_html(out, series->label ? series->label : "");
		fputs("</td><td class=\"wide\">", out);
		sb_html(out, series->answer ? series->answer : "-");
		fputs("</td></tr>\n", out);
	}
	sb_html_table_end(out);
	fputs("</section>\n", out);
}

/* ---- facts: groups, in them keys, a column for each result ---- */

static bool is_known_before(const struct sb_page *page, uint32_t result, uint32_t fact,
			    bool as_group)
{
	const struct sb_fact *it = &page->result[result].fact[fact];

	for (uint32_t i = 0; i <= result; i++) {
		const struct sb_result *r = &page->result[i];

		for (uint32_t f = 0; f < (i == result ? fact : r->facts); f++) {
			if (!strcmp(r->fact[f].group, it->group) &&
			    (as_group || !strcmp(r->fact[f].key, it->key)))
				return true;
		}
	}
	return false;
}

static bool is_same_everywhere(const struct sb_page *page, const struct sb_fact *fact)
{
	for (uint32_t i = 0; i < page->results; i++) {
		if (strcmp(sb_result_fact(&page->result[i], fact->group, fact->key), fact->value) !=
		    0)
			return false;
	}
	return true;
}

static void put_fact(FILE *out, const struct sb_page *page, const struct sb_fact *fact)
{
	fprintf(out, "<tr%s><th scope=\"row\">",
		is_same_everywhere(page, fact) ? "" : " class=\"differs\"");
	sb_html(out, fact->key);
	fputs("</th>", out);
	for (uint32_t i = 0; i < page->results; i++) {
		fputs("<td class=\"wide\">", out);
		sb_html(out, sb_result_fact(&page->result[i], fact->group, fact->key));
		fputs("</td>", out);
	}
	fputs("</tr>\n", out);
}

static void put_group(FILE *out, const struct sb_page *page, const char *group)
{
	/* The machine and the run are read more often than 50 options. */
	const bool is_open = strcmp(group, "options") != 0;

	fprintf(out, "<details%s><summary>", is_open ? " open" : "");
	sb_html(out, group);
	fputs("</summary>\n", out);
	sb_html_table(out, group);
	sb_html_head(out, "name", "", "");
	for (uint32_t i = 0; i < page->results; i++)
		sb_html_head(out,
			     page->results > 1 ? sb_page_result_name(&page->result[i]) : "value",
			     "", "");
	sb_html_table_body(out);
	for (uint32_t i = 0; i < page->results; i++) {
		const struct sb_result *result = &page->result[i];

		for (uint32_t f = 0; f < result->facts; f++) {
			if (!strcmp(result->fact[f].group, group) &&
			    !is_known_before(page, i, f, false))
				put_fact(out, page, &result->fact[f]);
		}
	}
	sb_html_table_end(out);
	fputs("</details>\n", out);
}

void sb_html_facts(FILE *out, const struct sb_page *page)
{
	fputs("<section id=\"facts\"><h2>Machine, run and options</h2>\n", out);
	for (uint32_t i = 0; i < page->results; i++) {
		const struct sb_result *result = &page->result[i];

		for (uint32_t f = 0; f < result->facts; f++) {
			if (!is_known_before(page, i, f, true) &&
			    !sb_page_is_told(&result->fact[f]))
				put_group(out, page, result->fact[f].group);
		}
	}
	fputs("</section>\n", out);
}

void sb_html_definitions(FILE *out, const struct sb_page *page)
{
	static const char *const better[] = {
		[SB_LOWER] = " Lower is better.",
		[SB_HIGHER] = " Higher is better.",
		[SB_NEITHER] = "",
	};

	fputs("<section id=\"definitions\"><h2>What the numbers mean</h2>\n"
	      "<details><summary>All metrics that were measured</summary><dl>\n",
	      out);
	for (enum sb_metric_id m = 0; m < sb_metrics(); m++) {
		if (!page->has[m])
			continue;
		fputs("<dt>", out);
		sb_html(out, sb_metric[m].name);
		fputs(" <small>", out);
		sb_html(out, sb_metric[m].unit);
		fputs("</small></dt><dd>", out);
		sb_html(out, sb_metric[m].doc);
		fprintf(out, ".%s</dd>\n", better[sb_metric[m].better]);
	}
	fputs("</dl></details></section>\n", out);
}
