/*
 * The report: page and Markdown.
 *
 * Property: text from outside is text in either form; what was not measured is
 *   empty; each metric is on the page once; Markdown fits into a comment and
 *   says what it leaves out; of a picture's file only what draws is copied.
 * Method: results made up by hand, written, and looked at as text. How a browser
 *   takes the page is in test_page.sh.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "results/page/page.h"
#include "results/page/report.h"
#include "results/record/record.h"
#include "results/record/series.h"
#include "tests/test.h"

/* A result of so many series, each of one repetition of one worker. */
static struct sb_result *make_result(uint32_t all_series, const char *workload)
{
	struct sb_result *result = calloc(1, sizeof(*result));

	result->directory = strdup("/nowhere");
	result->series = calloc(all_series + 1, sizeof(*result->series));
	for (uint32_t i = 0; i < all_series; i++) {
		struct sb_series *s = &result->series[result->all_series++];

		s->workload = strdup(workload);
		s->operation = strdup("message");
		s->label = strdup("pairs=1");
		CHECK_EQ(
			sb_placement_copy(&s->placement,
					  &(struct sb_placement){
						  .workers = 1, .place = &(struct sb_place){ 0 } }),
			0);
		s->records = 1;
		s->record = calloc(1, sizeof(*s->record));
		s->record->worker = calloc(1, sizeof(*s->record->worker));
		s->record->worker->steals = calloc(1, sizeof(struct sb_steal_counts));
		s->record->hist = calloc(SB_RECORD_HISTS, sizeof(*s->record->hist));
		for (enum sb_metric_id m = 0; m < sb_metrics(); m++)
			s->record->value[m] = NAN;
		s->record->value[SB_METRIC_ns_per_op] = 100 + i;
	}
	return result;
}

static void sweep(struct sb_result *result, char *name)
{
	for (uint32_t i = 0; i < result->all_series; i++) {
		char text[16];
		const struct sb_setting setting = { name, text, 2 * i, true };

		snprintf(text, sizeof(text), "%" PRIu32, 2 * i);
		CHECK_EQ(sb_series_add_setting(&result->series[i], &setting), 0);
	}
}

static void free_result(struct sb_result *result)
{
	sb_result_free(result);
	free(result);
}

enum form { HTML, MARKDOWN };

/* For the caller to free. */
static char *write_as(enum form form, const struct sb_result *result)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	CHECK_EQ(form == HTML ? sb_write_html(result, 1, out)
			      : sb_write_markdown(result, 1, ".", out),
		 0);
	fclose(out);
	CHECK_EQ(strlen(text), bytes);
	return text;
}

static uint32_t count(const char *text, const char *what)
{
	uint32_t n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

/* ---- text ---- */

#define HOSTILE "<b>&\"'|`*_[x](y)~#$!@me\\\n\x01"

static void add_hostile(struct sb_result *result)
{
	struct sb_record *record = result->series->record;

	sb_record_suspect(record, "%s", HOSTILE);
	CHECK_EQ(sb_result_add_fact(result, "machine", "cpu_model", HOSTILE), 0);
	CHECK_EQ(sb_result_add_fact(result, "run", "command_line", HOSTILE), 0);
}

static void html_escapes(void **state)
{
	struct sb_result *result = make_result(1, HOSTILE);
	char *text;

	(void)state;
	add_hostile(result);
	text = write_as(HTML, result);
	assert_null(strstr(text, "<b>&"));
	assert_null(strstr(text, "&\"'"));
	assert_null(strchr(text, '\x01'));
	/* Title, heading, machine, command, reason, rows of tables. */
	assert_true(count(text, "&lt;b&gt;&amp;&quot;&#39;|") > 8);
	free(text);
	free_result(result);
}

static void markdown_escapes(void **state)
{
	static const char *const safe =
		"&lt;b&gt;&amp;\"'\\|\\`\\*\\_\\[x\\](y)\\~\\#\\$\\!@<!-- -->me\\\\";
	struct sb_result *result = make_result(1, HOSTILE);
	char *text;
	char *line;
	char *rest;

	(void)state;
	add_hostile(result);
	sweep(result, (char[]){ "set|ting" });
	text = write_as(MARKDOWN, result);
	assert_null(strstr(text, "<b>"));
	assert_null(strstr(text, "@me"));
	assert_null(strchr(text, '\x01'));
	assert_true(count(text, safe) > 5);
	/* All rows of a table have as many cells as its head. */
	rest = text;
	for (uint32_t cells = 0; (line = strsep(&rest, "\n"));) {
		const uint32_t n = count(line, "|") - count(line, "\\|");

		if (*line != '|')
			cells = 0;
		else if (!cells)
			cells = n;
		else
			CHECK_EQ(n, cells);
	}
	free(text);
	free_result(result);
}

/* Of a text that is too long the beginning, whole characters of it. */
static void markdown_cuts_texts(void **state)
{
	struct sb_result *result = make_result(1, "yield");
	char *text;
	char longest[3000];

	(void)state;
	for (size_t i = 0; i + 2 < sizeof(longest); i += 2)
		memcpy(longest + i, "\xc3\xa9", 3);
	longest[0] = longest[1] = 'a';
	CHECK_EQ(sb_result_add_fact(result, "run", "command_line", longest + 1), 0);
	text = write_as(MARKDOWN, result);
	assert_non_null(strstr(text, "\xc3\xa9 \xe2\x80\xa6 |"));
	assert_null(strstr(text, "\xc3 "));
	free(text);
	free_result(result);
}

/* ---- tables ---- */

static void what_was_not_measured_is_empty(void **state)
{
	struct sb_result *result = make_result(2, "yield");
	char *text;

	(void)state;
	result->series[1].record->value[SB_METRIC_wake_ns_p99] = 5;
	/* Nothing can be said of how far it spreads. */
	result->series[1].record->value[SB_METRIC_ns_per_op] = 0;
	sb_record_invalidate(result->series[0].record, "wrong");
	text = write_as(HTML, result);
	assert_non_null(strstr(text, "data-value=\"\">-</td>"));
	assert_null(strstr(text, "nan"));
	assert_null(strstr(text, "<td data-value=\"0\" data-more=\"(max"));
	assert_null(strstr(text, "send_to_step"));
	assert_non_null(strstr(text, "wake_ns_p99"));
	assert_non_null(strstr(text, "<tr class=\"invalid\">"));
	free(text);
	text = write_as(MARKDOWN, result);
	assert_null(strstr(text, "nan"));
	assert_non_null(strstr(text, "| - | - | 1 invalid |"));
	assert_non_null(strstr(text, "- 1 invalid: wrong\n"));
	free(text);
	free_result(result);
}

static void each_metric_is_listed_once(void **state)
{
	/* Beside each other, and a row for each series. */
	static const uint32_t series[] = { 1, 12 };

	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(series); i++) {
		struct sb_result *result = make_result(series[i], "yield");
		char *text;
		char *metrics;

		for (enum sb_metric_id m = 0; m < sb_metrics(); m++)
			result->series->record->value[m] = 1;
		text = write_as(HTML, result);
		metrics = strstr(text, "<section id=\"metrics\">");
		assert_non_null(metrics);
		*strstr(metrics, "</section>") = '\0';
		for (enum sb_metric_id m = 0; m < sb_metrics(); m++) {
			char head[80];

			snprintf(head, sizeof(head), "\">%s</abbr>", sb_metric[m].name);
			if (count(metrics, head) != 1)
				print_error("%s\n", sb_metric[m].name);
			CHECK_EQ(count(metrics, head), 1);
		}
		free(text);
		free_result(result);
	}
}

static void swept_settings_are_columns(void **state)
{
	struct sb_result *result = make_result(3, "yield");
	struct sb_page page;
	char *text;

	(void)state;
	sweep(result, (char[]){ "batch" });
	CHECK_EQ(sb_page_init(&page, result, 1), 0);
	CHECK_EQ(page.rows, 3);
	CHECK_EQ(page.swepts, 1);
	assert_string_equal(page.swept[0], "batch");
	assert_string_equal(page.row[2].name, "yield");
	sb_page_fini(&page);
	text = write_as(MARKDOWN, result);
	assert_non_null(strstr(text, "| series | batch | ns\\_per\\_op |"));
	assert_non_null(strstr(text, "| yield | 4 | 102 ns |"));
	free(text);
	free_result(result);
}

/* Nothing is swept: the label has to tell them apart. */
static void those_that_look_alike_have_their_settings(void **state)
{
	struct sb_result *result = make_result(2, "yield");
	struct sb_page page;

	(void)state;
	CHECK_EQ(sb_page_init(&page, result, 1), 0);
	assert_string_equal(page.row[0].name, "yield pairs=1");
	sb_page_fini(&page);
	free_result(result);
}

static void the_same_of_two_results_is_side_by_side(void **state)
{
	struct sb_result *first = make_result(3, "yield");
	struct sb_result *second = make_result(4, "yield");
	struct sb_result both[2] = { *first, *second };
	struct sb_page page;

	(void)state;
	sweep(first, (char[]){ "batch" });
	sweep(second, (char[]){ "batch" });
	CHECK_EQ(sb_page_init(&page, both, 2), 0);
	CHECK_EQ(page.rows, 7);
	for (uint32_t i = 0; i < 6; i++) {
		CHECK_EQ(page.row[i].result - both, i % 2);
		CHECK_EQ(page.row[i].series->setting->number, 2 * (i / 2));
	}
	CHECK_EQ(page.row[6].result - both, 1);
	assert_string_equal(page.row[6].name, "yield");
	sb_page_fini(&page);
	free_result(first);
	free_result(second);
}

static void reasons_are_told_by_kind(void **state)
{
	static const char *const reasons[] = { "kept 82.27 % of it; 3 late",
					       "kept 7 % of it; 12.5 late", "p99 is wrong" };
	struct sb_result *result = make_result(5, "yield");
	struct sb_page_reasons found;
	struct sb_page page;

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		sb_record_invalidate(result->series[i].record, reasons[i]);
	for (uint32_t i = 3; i < 5; i++)
		sb_record_suspect(result->series[i].record, "slow: x is %u", i);
	sb_record_suspect(result->series[4].record, "and more");
	CHECK_EQ(sb_page_init(&page, result, 1), 0);
	CHECK_EQ(sb_page_reasons_find(&found, &page), 0);
	CHECK_EQ(found.reasons, 4);
	assert_string_equal(found.reason[0].kind, "kept \xe2\x80\xa6 % of it; \xe2\x80\xa6 late");
	CHECK_EQ(found.reason[0].repetitions, 2);
	assert_string_equal(found.reason[1].kind, "p99 is wrong");
	assert_string_equal(found.reason[2].kind, "slow");
	CHECK_EQ(found.reason[2].verdict, SB_SUSPECT);
	CHECK_EQ(found.reason[2].repetitions, 2);
	assert_string_equal(found.reason[3].kind, "and more");
	sb_page_reasons_free(&found);
	sb_page_fini(&page);
	free_result(result);
}

static void numbers_have_units(void **state)
{
	static const struct {
		double value;
		const char *unit;
		const char *text;
	} cases[] = {
		{ 12.34, "ns", "12.3 ns" },	 { 0.25, "s", "250 ms" }, { 3, "ms", "3.00 ms" },
		{ 23456789, "1/s", "23.5 M/s" }, { 12, "1/s", "12/s" },	  { 512, "bytes", "512 B" },
		{ 2.5e6, "bytes", "2.50 MB" },	 { 12.5, "%", "12.5 %" }, { 7, "count", "7" },
		{ 2, "spins", "2 spins" },	 { NAN, "%", "-" },	  { NAN, "s", "-" },
	};
	char text[SB_PAGE_NUMBER_BYTES];

	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(cases); i++) {
		sb_page_number(text, cases[i].value, cases[i].unit);
		assert_string_equal(text, cases[i].text);
	}
}

/* ---- size ---- */

static void markdown_fits_a_comment(void **state)
{
	/* All is there; what is folded away gives way; and so does the rest. */
	static const struct {
		uint32_t series;
		bool has_all_rows;
		bool has_all;
	} cases[] = { { 20, true, true }, { 500, true, false }, { 3000, false, false } };

	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(cases); i++) {
		struct sb_result *result = make_result(cases[i].series, "a-long-name-of-one");
		char *text;

		sweep(result, (char[]){ "batch" });
		for (uint32_t s = 0; s < cases[i].series; s++)
			sb_record_suspect(
				result->series[s].record,
				"for a reason of %" PRIu32
				" that goes on and on and on, so that a table of it is long: %s",
				s, "really");
		text = write_as(MARKDOWN, result);
		assert_true(strlen(text) <= SB_MARKDOWN_BYTES);
		CHECK_EQ(count(text, "<details>"), count(text, "</details>"));
		CHECK_EQ(!strstr(text, "left out here"), cases[i].has_all);
		CHECK_EQ(count(text, " | 1 suspect |\n") == cases[i].series, cases[i].has_all_rows);
		if (!cases[i].has_all_rows)
			assert_non_null(strstr(text, "series are left out"));
		free(text);
		free_result(result);
	}
}

/* ---- pictures ---- */

/* What becomes of a file, for the caller to free. */
/* The image that the page has for a file of that content. */
static char *image_of(const char *content, size_t bytes)
{
	char path[] = "/tmp/sb-picture-XXXXXX";
	FILE *in = fdopen(mkstemp(path), "w");
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	CHECK_EQ(fwrite(content, 1, bytes, in), bytes);
	fclose(in);
	CHECK_EQ(sb_html_image(out, path, "a <picture>"), 0);
	fclose(out);
	CHECK_EQ(remove(path), 0);
	return text;
}

static void a_picture_stays_within_its_attribute(void **state)
{
	static const char head[] = "<img alt=\"a &lt;picture&gt;\" src=\"data:image/svg+xml,";
	char all[256];
	char *image;
	const char *url;

	(void)state;
	for (int i = 0; i < 256; i++)
		all[i] = (char)i;
	image = image_of(all, sizeof(all));
	assert_memory_equal(image, head, strlen(head));
	url = image + strlen(head);
	CHECK_EQ(strcspn(url, "\"<>&#\n\t\\`"), strlen(url) - 2);
	assert_string_equal(url + strlen(url) - 2, "\">");
	free(image);
	image = image_of("<svg a=\"1 %\"/>", 14);
	assert_string_equal(image + strlen(head), "%3Csvg a=%221 %25%22/%3E\">");
	free(image);
}

static void a_missing_picture_is_an_error(void **state)
{
	(void)state;
	CHECK_EQ(sb_html_image(stdout, "/nowhere/x.svg", ""), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(html_escapes),
		cmocka_unit_test(markdown_escapes),
		cmocka_unit_test(markdown_cuts_texts),
		cmocka_unit_test(what_was_not_measured_is_empty),
		cmocka_unit_test(each_metric_is_listed_once),
		cmocka_unit_test(swept_settings_are_columns),
		cmocka_unit_test(those_that_look_alike_have_their_settings),
		cmocka_unit_test(the_same_of_two_results_is_side_by_side),
		cmocka_unit_test(reasons_are_told_by_kind),
		cmocka_unit_test(numbers_have_units),
		cmocka_unit_test(markdown_fits_a_comment),
		cmocka_unit_test(a_picture_stays_within_its_attribute),
		cmocka_unit_test(a_missing_picture_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
