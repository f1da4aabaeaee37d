/* html_top.c - what is read first: verdict, headline numbers, pictures. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "results/files/file.h"
#include "results/page/page.h"
#include "results/record/series.h"

static void put_legend(FILE *out)
{
	fputs("<dl class=\"legend\">\n", out);
	for (enum sb_verdict v = SB_VALID; v < SB_VERDICTS; v++)
		fprintf(out, "<dt><span class=\"%s\">%s</span></dt><dd>%s</dd>\n",
			sb_verdict_name(v), sb_verdict_name(v), sb_page_verdict_doc(v));
	fputs("</dl>\n", out);
}

/* Kinds of reasons that are named; of more there is a table. */
#define REASONS_NAMED 12

static void put_reasons(FILE *out, const struct sb_page *page)
{
	struct sb_page_reasons reasons;

	if (sb_page_reasons_find(&reasons, page))
		return;
	fputs("<ul class=\"reasons\">\n", out);
	for (uint32_t i = 0; i < reasons.reasons && i < REASONS_NAMED; i++) {
		const struct sb_page_reason *r = &reasons.reason[i];

		fprintf(out, "<li><span class=\"%s\">%" PRIu32 " %s</span> ",
			sb_verdict_name(r->verdict), r->repetitions, sb_verdict_name(r->verdict));
		sb_html(out, r->kind);
		fputs("</li>\n", out);
	}
	if (reasons.reasons > REASONS_NAMED)
		fprintf(out, "<li>and %" PRIu32 " more reasons</li>\n",
			reasons.reasons - REASONS_NAMED);
	fputs("</ul>\n", out);
	sb_page_reasons_free(&reasons);
}

static void put_doubt(FILE *out, const struct sb_page *page, const struct sb_page_row *row,
		      const struct sb_record *record)
{
	sb_html_series_cells(out, page, row);
	sb_html_count(out, record->repetition);
	fprintf(out, "<td data-value=\"%d\"><span class=\"%s\">%s</span></td>",
		(int)record->verdict, sb_verdict_name(record->verdict),
		sb_verdict_name(record->verdict));
	fputs("<td class=\"wide\">", out);
	sb_html(out, record->reason);
	fputs("</td></tr>\n", out);
}

/* More than that are folded away. */
#define DOUBTS_OPEN 12

static void put_doubts(FILE *out, const struct sb_page *page, uint32_t doubts)
{
	fprintf(out,
		"<details%s><summary>Not valid: %" PRIu32 " repetition%s, one by one</summary>\n",
		doubts <= DOUBTS_OPEN ? " open" : "", doubts, doubts == 1 ? "" : "s");
	sb_html_table(out, "Repetitions that are not valid");
	sb_html_series_heads(out, page);
	sb_html_head(out, "repetition", "", "from 0 on");
	sb_html_head(out, "verdict", "", "");
	sb_html_head(out, "reason", "", "");
	sb_html_table_body(out);
	for (uint32_t i = 0; i < page->rows; i++) {
		const struct sb_series *series = page->row[i].series;

		for (uint32_t r = 0; r < series->records; r++) {
			if (series->record[r].verdict != SB_VALID)
				put_doubt(out, page, &page->row[i], &series->record[r]);
		}
	}
	sb_html_table_end(out);
	fputs("</details>\n", out);
}

void sb_html_verdict(FILE *out, const struct sb_page *page)
{
	const uint32_t all = sb_page_count(page, SB_VERDICTS);
	const uint32_t valid = sb_page_count(page, SB_VALID);

	fputs("<section id=\"verdict\"><h2>Validity</h2>\n"
	      "<p class=\"verdict\">",
	      out);
	for (enum sb_verdict v = SB_VALID; v < SB_VERDICTS; v++) {
		const uint32_t n = sb_page_count(page, v);

		if (n || v != SB_ONLY_EMULATED)
			fprintf(out, "<span class=\"%s\">%" PRIu32 " %s</span> ",
				n ? sb_verdict_name(v) : "none", n, sb_verdict_name(v));
	}
	fprintf(out, "of %" PRIu32 " repetition%s in %" PRIu32 " series.</p>\n", all,
		all == 1 ? "" : "s", page->rows);
	if (valid < all) {
		put_reasons(out, page);
		put_doubts(out, page, all - valid);
	}
	put_legend(out);
	fputs("</section>\n", out);
}

static void put_median(FILE *out, const struct sb_series *series, enum sb_metric_id metric)
{
	const struct sb_spread spread = sb_series_spread(series, metric);

	sb_html_spread(out, &spread, sb_metric[metric].unit, true);
}

/* The first metric is there in any case, and what belongs to it. */
static void put_headline_heads(FILE *out, const struct sb_page *page)
{
	sb_html_series_heads(out, page);
	sb_html_metric_head(out, page->headline[0]);
	sb_html_head(
		out, "repetitions", "",
		"ns_per_op of each repetition in the order of time, from the lowest to the "
		"highest; a triangle is suspect, a cross invalid; sorts by how far they spread");
	sb_html_head(out, "validity", "", "sorts by the part that is valid");
	for (uint32_t i = 1; i < page->headlines; i++)
		sb_html_metric_head(out, page->headline[i]);
	sb_html_head(out, "one operation", "", "");
}

static void put_headline_row(FILE *out, const struct sb_page *page, const struct sb_page_row *row)
{
	sb_html_series_cells(out, page, row);
	put_median(out, row->series, page->headline[0]);
	sb_html_strip(out, row->series, page->headline[0]);
	sb_html_verdicts(out, row->series);
	for (uint32_t i = 1; i < page->headlines; i++)
		put_median(out, row->series, page->headline[i]);
	sb_html_text(out, row->series->operation);
	fputs("</tr>\n", out);
}

void sb_html_headline(FILE *out, const struct sb_page *page)
{
	fputs("<section id=\"headline\"><h2>Headline numbers</h2>\n<p>Medians of the forks, or of "
	      "the "
	      "repetitions of one, that have numbers; beneath them the lowest and the "
	      "highest.</p>\n",
	      out);
	sb_html_table(out, "Headline numbers");
	put_headline_heads(out, page);
	sb_html_table_body(out);
	for (uint32_t i = 0; i < page->rows; i++)
		put_headline_row(out, page, &page->row[i]);
	sb_html_table_end(out);
	fputs("</section>\n", out);
}

/* ---- pictures ---- */

/* More than that of one result are folded away. */
#define PICTURES_OPEN 12

/* "latency-ready-to-running" for people. */
static void put_title(FILE *out, const char *name)
{
	char letter[2] = "";

	for (; *name; name++) {
		letter[0] = *name == '-' ? ' ' : *name;
		sb_html(out, letter);
	}
}

/* Title and alternative text are what the picture itself says that it shows. */
static void put_picture(FILE *out, const struct sb_result *result, const char *name)
{
	char *path = NULL;
	char *title = NULL;
	int rc = -1;

	fputs("<figure>\n", out);
	if (asprintf(&path, "%s/plots/%s.svg", result->directory, name) < 0)
		path = NULL;
	if (path) {
		title = sb_svg_title(path);
		rc = sb_html_image(out, path, title ? title : name);
	}
	fputs("<figcaption><b>", out);
	if (title)
		sb_html(out, title);
	else
		put_title(out, name);
	fputs("</b> ", out);
	sb_html(out, sb_page_picture_doc(name));
	if (rc)
		fputs(" (The file cannot be read.)", out);
	fputs("</figcaption></figure>\n", out);
	free(title);
	free(path);
}

static void put_pictures_of(FILE *out, const struct sb_page *page, const struct sb_result *result,
			    const struct sb_page_pictures *pictures)
{
	if (page->results > 1) {
		fputs("<h3>", out);
		sb_html(out, sb_page_result_name(result));
		fputs("</h3>\n", out);
	}
	fputs("<div class=\"pictures\">\n", out);
	for (uint32_t i = 0; i < pictures->pictures; i++) {
		if (i == PICTURES_OPEN)
			fprintf(out,
				"</div>\n<details><summary>%" PRIu32
				" more pictures</summary><div class=\"pictures\">\n",
				pictures->pictures - i);
		put_picture(out, result, pictures->name[i]);
	}
	fputs(pictures->pictures > PICTURES_OPEN ? "</div></details>\n" : "</div>\n", out);
}

void sb_html_pictures(FILE *out, const struct sb_page *page)
{
	bool any = false;

	for (uint32_t i = 0; i < page->results; i++) {
		struct sb_page_pictures pictures;

		if (sb_page_pictures_find(&pictures, &page->result[i]) || !pictures.pictures)
			continue;
		if (!any)
			fputs("<section id=\"pictures\"><h2>Pictures</h2>\n", out);
		put_pictures_of(out, page, &page->result[i], &pictures);
		any = true;
		sb_page_pictures_free(&pictures);
	}
	if (any)
		fputs("</section>\n", out);
}
