/* findings.c - how B compares with A, of a comparison or of two results side by side. */
#include <errno.h>
#include <string.h>

#include "results/files/answer.h"
#include "results/compare/comparison.h"
#include "results/page/page.h"
#include "results/record/series.h"

int sb_page_compare(struct sb_page *page)
{
	struct sb_comparison comparison = { .result = { &page->result[0], &page->result[1] },
					    .runs = { 1, 1 },
					    .metric = sb_comparison_metrics,
					    .metrics = sb_comparison_metrics_n };
	int rc;

	/* Predictions and measurements are not compared unasked. */
	if (strcmp(sb_result_topology(&page->result[0]), sb_result_topology(&page->result[1])) != 0)
		return 0;
	rc = sb_comparison_make(&comparison);
	if (!rc && comparison.matches)
		rc = sb_findings_store(&page->difference, &comparison.findings,
				       sb_page_result_name(&page->result[0]),
				       sb_page_result_name(&page->result[1]));
	sb_comparison_free(&comparison);
	/* Of so many series there is no table. */
	return rc == -E2BIG ? 0 : rc;
}

const struct sb_result *sb_page_answering(const struct sb_page *page)
{
	if (page->results == 1)
		return page->result;
	return page->results == 2 ? &page->difference : NULL;
}

bool sb_page_is_told(const struct sb_fact *fact)
{
	static const char *const groups[] = { "answer", "findings", "ranking", "notes" };

	for (size_t i = 0; i < SB_ARRAY_SIZE(groups); i++) {
		if (!strcmp(fact->group, groups[i]))
			return true;
	}
	return false;
}

/* One of the parts of a fact, which " | " separates. Returns where the next one begins. */
static const char *take_cell(const char *text, char cell[SB_PAGE_FINDING_BYTES])
{
	const char *end = strstr(text, " | ");

	snprintf(cell, SB_PAGE_FINDING_BYTES, "%.*s", end ? (int)(end - text) : (int)strlen(text),
		 text);
	return end ? end + 3 : text + strlen(text);
}

bool sb_page_next_finding(const struct sb_result *result, const char *group, uint32_t *i,
			  struct sb_page_finding *finding)
{
	const char *rest;

	while (*i < result->facts && strcmp(result->fact[*i].group, group) != 0)
		++*i;
	if (*i == result->facts)
		return false;
	snprintf(finding->cell[SB_FINDING_NAME], SB_PAGE_FINDING_BYTES, "%s", result->fact[*i].key);
	rest = result->fact[*i].value;
	for (int c = SB_FINDING_A; c < SB_RANKING_CELLS; c++)
		rest = take_cell(rest, finding->cell[c]);
	++*i;
	return true;
}

const char *const sb_page_ranking_heads[SB_RANKING_CELLS] = {
	"configuration", "estimate [95 % interval within these rounds]",
	"mark",		 "second estimate",
	"mark",		 "front"
};

int sb_page_ranking_cells(const struct sb_page_finding *first)
{
	return *first->cell[3] ? SB_RANKING_CELLS : 3;
}

static void put_ranking(FILE *out, const struct sb_result *result)
{
	struct sb_page_finding row;
	uint32_t i = 0;
	int cells;

	if (!sb_page_next_finding(result, "ranking", &i, &row))
		return;
	cells = sb_page_ranking_cells(&row);
	fputs("<section id=\"ranking\"><h2>Ranking</h2>\n", out);
	sb_html_table(out, "Ranking");
	for (int c = 0; c < cells; c++)
		sb_html_head(out, sb_page_ranking_heads[c], "", "");
	sb_html_table_body(out);
	do {
		fputs("<tr>", out);
		for (int c = 0; c < cells; c++)
			sb_html_text(out, row.cell[c]);
		fputs("</tr>\n", out);
	} while (sb_page_next_finding(result, "ranking", &i, &row));
	sb_html_table_end(out);
	fputs("</section>\n", out);
}

static void put_notes(FILE *out, const struct sb_result *result)
{
	fputs("<ul>\n", out);
	for (uint32_t i = 0; i < result->facts; i++) {
		if (strcmp(result->fact[i].group, "notes") != 0)
			continue;
		fputs("<li>", out);
		sb_html(out, result->fact[i].value);
		fputs("</li>\n", out);
	}
	fputs("</ul>\n", out);
}

void sb_html_findings(FILE *out, const struct sb_page *page)
{
	/* The verdict is in sight on a narrow screen, too. */
	static const char *const heads[] = { "metric", "verdict", "A", "B/A [interval]" };
	const struct sb_result *result = sb_page_answering(page);
	struct sb_page_finding finding;
	uint32_t i = 0;

	if (result)
		put_ranking(out, result);
	if (!result || !sb_page_next_finding(result, "findings", &i, &finding))
		return;
	fputs("<section id=\"findings\"><h2>B compared with A</h2>\n", out);
	sb_html_table(out, "Findings");
	for (size_t c = 0; c < SB_ARRAY_SIZE(heads); c++)
		sb_html_head(out, heads[c], "", "");
	sb_html_table_body(out);
	do {
		fputs("<tr><th scope=\"row\">", out);
		sb_html(out, finding.cell[SB_FINDING_NAME]);
		fputs("</th><td class=\"wide\">", out);
		sb_html(out, finding.cell[SB_FINDING_VERDICT]);
		fputs("</td>", out);
		for (int c = SB_FINDING_A; c < SB_FINDING_VERDICT; c++)
			sb_html_text(out, finding.cell[c]);
		fputs("</tr>\n", out);
	} while (sb_page_next_finding(result, "findings", &i, &finding));
	sb_html_table_end(out);
	put_notes(out, result);
	fputs("</section>\n", out);
}
