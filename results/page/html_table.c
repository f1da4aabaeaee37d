/*
 * html_table.c - text, tables and cells of the page. A cell that can be sorted
 * by has its value in data-value, empty where nothing was measured; what is to
 * be known of it beyond its column stands in data-more. page.js uses both.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "results/page/page.h"
#include "results/record/series.h"

void sb_html_table(FILE *out, const char *label)
{
	fputs("<div class=\"box\" role=\"region\" tabindex=\"0\" aria-label=\"", out);
	sb_html(out, label);
	fputs("\"><table>\n<thead><tr>", out);
}

void sb_html_table_body(FILE *out)
{
	fputs("</tr></thead>\n<tbody>\n", out);
}

void sb_html_table_end(FILE *out)
{
	fputs("</tbody></table></div>\n", out);
}

#define NUMBERS_BELOW "scope=\"col\" class=\"n\""

/* how: attributes of the cell. */
static void put_head(FILE *out, const char *how, const char *title, const char *unit,
		     const char *doc)
{
	fprintf(out, "<th %s>", how);
	if (*doc) {
		fputs("<abbr title=\"", out);
		sb_html(out, doc);
		fputs("\">", out);
	}
	sb_html(out, title);
	if (*doc)
		fputs("</abbr>", out);
	if (*unit) {
		fputs(" <small>", out);
		sb_html(out, unit);
		fputs("</small>", out);
	}
	fputs("</th>", out);
}

void sb_html_head(FILE *out, const char *title, const char *unit, const char *doc)
{
	put_head(out, *unit ? NUMBERS_BELOW : "scope=\"col\"", title, unit, doc);
}

void sb_html_metric_head(FILE *out, enum sb_metric_id metric)
{
	put_head(out, NUMBERS_BELOW, sb_metric[metric].name, sb_metric[metric].unit,
		 sb_metric[metric].doc);
}

void sb_html_metric_row_head(FILE *out, enum sb_metric_id metric)
{
	put_head(out, "scope=\"row\"", sb_metric[metric].name, sb_metric[metric].unit,
		 sb_metric[metric].doc);
}

/* Whether a setting is one wherever it is set. */
static bool is_number(const struct sb_page *page, const char *name)
{
	for (uint32_t i = 0; i < page->rows; i++) {
		const struct sb_setting *s = sb_series_setting(page->row[i].series, name);

		if (s && isnan(s->number))
			return false;
	}
	return true;
}

void sb_html_series_heads(FILE *out, const struct sb_page *page)
{
	sb_html_head(out, "series", "", "");
	if (page->results > 1)
		sb_html_head(out, "result", "", "the result's directory");
	for (uint32_t i = 0; i < page->swepts; i++)
		put_head(out, is_number(page, page->swept[i]) ? NUMBERS_BELOW : "scope=\"col\"",
			 page->swept[i], "", "a setting that was gone through");
}

static void put_setting(FILE *out, const struct sb_setting *setting)
{
	if (!setting) {
		fputs("<td data-value=\"\">-</td>", out);
	} else if (isnan(setting->number)) {
		sb_html_text(out, setting->text);
	} else {
		fprintf(out, "<td class=\"n\" data-value=\"%.9g\">", setting->number);
		sb_html(out, setting->text);
		fputs("</td>", out);
	}
}

/* A metric that no repetition measured is out of the running, and looks so. */
static const char *row_class(const struct sb_series *series)
{
	if (!sb_series_measured(series))
		return " class=\"invalid\"";
	return sb_series_count(series, SB_VALID) ? "" : " class=\"suspect\"";
}

void sb_html_series_cells(FILE *out, const struct sb_page *page, const struct sb_page_row *row)
{
	fprintf(out, "<tr%s><th scope=\"row\">", row_class(row->series));
	sb_html(out, row->name);
	if (row->series->reality)
		fprintf(out, " <small>%s</small>", sb_series_topology(row->series));
	fputs("</th>", out);
	if (page->results > 1)
		sb_html_text(out, sb_page_result_name(row->result));
	for (uint32_t i = 0; i < page->swepts; i++)
		put_setting(out, sb_series_setting(row->series, page->swept[i]));
}

void sb_html_number(FILE *out, double value, const char *unit)
{
	char text[SB_PAGE_NUMBER_BYTES];

	sb_page_number(text, value, unit);
	if (isnan(value)) {
		fputs("<td class=\"n\" data-value=\"\">-</td>", out);
		return;
	}
	fprintf(out, "<td class=\"n\" data-value=\"%.9g\">", value);
	sb_html(out, text);
	fputs("</td>", out);
}

void sb_html_count(FILE *out, uint64_t value)
{
	fprintf(out, "<td class=\"n\" data-value=\"%" PRIu64 "\">%" PRIu64 "</td>", value, value);
}

void sb_html_text(FILE *out, const char *text)
{
	fputs("<td>", out);
	sb_html(out, text);
	fputs("</td>", out);
}

static void put_spread_words(FILE *out, const struct sb_spread *spread, const char *unit)
{
	struct sb_spread quartiles = *spread;
	char range[SB_PAGE_RANGE_BYTES];
	char middle[SB_PAGE_RANGE_BYTES];

	quartiles.min = spread->q1;
	quartiles.max = spread->q3;
	sb_page_range(range, spread, unit);
	sb_page_range(middle, &quartiles, unit);
	fprintf(out, "median of %" PRIu32 "; all ", spread->n);
	sb_html(out, range);
	fputs("; middle half ", out);
	sb_html(out, middle);
}

void sb_html_spread(FILE *out, const struct sb_spread *spread, const char *unit, bool shown)
{
	char text[SB_PAGE_NUMBER_BYTES];

	if (!spread->n) {
		sb_html_number(out, NAN, unit);
		return;
	}
	fprintf(out, "<td class=\"n\" data-value=\"%.9g\" data-more=\"", spread->median);
	put_spread_words(out, spread, unit);
	sb_page_number(text, spread->median, unit);
	fputs("\">", out);
	sb_html(out, text);
	if (shown && spread->n > 1) {
		char range[SB_PAGE_RANGE_BYTES];

		sb_page_range(range, spread, unit);
		fputs("<br><small>", out);
		sb_html(out, range);
		fputs("</small>", out);
	}
	fputs("</td>", out);
}

void sb_html_verdicts(FILE *out, const struct sb_series *series)
{
	const double valid = sb_series_count(series, SB_VALID);

	fprintf(out, "<td data-value=\"%g\">", series->records ? valid / series->records : 0);
	for (enum sb_verdict v = SB_VALID; v < SB_VERDICTS; v++) {
		const uint32_t n = sb_series_count(series, v);

		if (n)
			fprintf(out, "<span class=\"%s\">%" PRIu32 " %s</span> ",
				sb_verdict_name(v), n, sb_verdict_name(v));
	}
	fputs("</td>", out);
}

/* ---- the strip: repetitions from left to right, values upwards ---- */

enum { STRIP_WIDTH = 96, STRIP_HEIGHT = 24, STRIP_MARGIN = 4 };

static double strip_y(const struct sb_spread *spread, double value)
{
	const double range = spread->max - spread->min;
	const double part = range > 0 ? (value - spread->min) / range : 0.5;

	return STRIP_HEIGHT - STRIP_MARGIN - part * (STRIP_HEIGHT - 2 * STRIP_MARGIN);
}

static void put_mark(FILE *out, const struct sb_record *record, double x, double y)
{
	if (!sb_record_has_numbers(record))
		fprintf(out, "<path class=\"invalid\" d=\"M%.1f 9l6 6m0-6l-6 6\"/>", x - 3);
	else if (record->verdict == SB_SUSPECT)
		fprintf(out, "<path class=\"suspect\" d=\"M%.1f %.1fl3-5.5 3 5.5z\"/>", x - 3,
			y + 2.5);
	else
		fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\"/>", x, y);
}

/* How far values spread, in percent of their median; NaN: that says nothing. */
static double spread_pct(const struct sb_spread *spread)
{
	return spread->n && spread->median != 0 ? 100 * (spread->max - spread->min) / spread->median
						: (double)NAN;
}

void sb_html_strip(FILE *out, const struct sb_series *series, enum sb_metric_id metric)
{
	const struct sb_spread spread = sb_series_row_spread(series, metric);
	const double width = STRIP_WIDTH - 2 * STRIP_MARGIN;
	const double pct = spread_pct(&spread);
	char value[24] = "";

	/* More would be a line. */
	if (series->records > STRIP_WIDTH) {
		fputs("<td data-value=\"\">-</td>", out);
		return;
	}
	if (!isnan(pct))
		snprintf(value, sizeof(value), "%.9g", pct);
	fprintf(out,
		"<td data-value=\"%s\" data-more=\"(max - min) / median, in percent\"><svg "
		"class=\"strip\" role=\"img\" aria-label=\"each repetition\" viewBox=\"0 0 %d "
		"%d\">",
		value, STRIP_WIDTH, STRIP_HEIGHT);
	for (uint32_t r = 0; r < series->records; r++) {
		const struct sb_record *record = &series->record[r];

		put_mark(out, record, STRIP_MARGIN + width * (r + 0.5) / series->records,
			 isnan(record->value[metric]) ? STRIP_HEIGHT / 2.0
						      : strip_y(&spread, record->value[metric]));
	}
	fputs("</svg>", out);
	if (spread.n > 1 && !isnan(pct))
		fprintf(out, " <small>%.1f %%</small>", pct);
	fputs("</td>", out);
}
