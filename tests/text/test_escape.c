/*
 * test_escape.c - text from outside is nothing but text in each target.
 *
 * Method: one set of hostile texts through the function of each target; what comes out is compared
 * with what the target's own rules allow, and read back where the target has a reader: a shell, the
 * rules of CSV and of Slurm.
 */
#include <stdlib.h>
#include <string.h>

#include "results/plots/text.h"
#include "results/record/metric.h"
#include "results/text/escape.h"
#include "tests/test.h"

static const char *const hostile[] = {
	"plain, with blanks",
	"\x1b[31mred\x1b[2J\x1b]0;title\x07",
	"a\rb\bc\x7f \x0b",
	"C1 \xc2\x9b;31m, \xc2\x85",
	"\xff\xfe broken \xc3",
	"\xed\xa0\x80 \xc0\xaf \xf4\x90\x80\x80",
	"abc \xe2\x80\xae;cba\xe2\x80\xac \xe2\x81\xa6;x\xe2\x81\xa9 \xe2\x80\x8f \xe2\x80\xa8",
	"\xef\xbf\xbe \xef\xbf\xbf",
	"\"double\" 'single' \\back\\ \\",
	"line\nbreak\n\ttab",
	"a\ntouch X\n#SBATCH --wrap=x\n#",
	"=cmd|' /C calc'!A0",
	"+1+1",
	"-2+3",
	"@SUM(1)",
	"\tx",
	"\rx",
	"'=x",
	"''+x",
	"'",
	"-",
	"-5",
	"+1.5e3",
	"-inf",
	"<script>alert(1)</script><img src=x onerror=y>&amp;",
	"](javascript:alert(1)) ![x](y) @user #1 | `x` <!-- *b* _i_ ~s~ $m$",
	"`touch X` $(touch X) ${HOME} ; touch X & > X",
	"@macro %s %d %% 'x' `system(\"touch X\")`",
	"]]> <![CDATA[ &#0; --",
	"::error::x, y: %0A",
	"a\",b,c\"\",=d",
	"{x=\"y\"} 1\n# EOF\n",
	"",
};

typedef void (*target)(FILE *out, const char *text);

/* For the caller to free. */
static char *made_by(target put, const char *text)
{
	char *made = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&made, &bytes);

	put(out, text);
	fclose(out);
	return made;
}

static void check(target put, const char *text, const char *expected)
{
	char *made = made_by(put, text);

	assert_string_equal(made, expected);
	free(made);
}

/* Whether it is UTF-8 and has nothing that steers a terminal; besides: what may be there all the
 * same. */
static bool is_tame(const char *text, const char *besides)
{
	struct sb_character c;

	while (sb_next_character(&text, &c)) {
		if (!c.is_plain && !strchr(besides, *c.at))
			return false;
	}
	return true;
}

/* No hostile text leaves any of the characters in the target's output. */
static void check_all(target put, const char *besides, const char *forbidden)
{
	for (size_t i = 0; i < SB_ARRAY_SIZE(hostile); i++) {
		char *made = made_by(put, hostile[i]);

		assert_true(is_tame(made, besides));
		if (strpbrk(made, forbidden))
			fail_msg("'%s' in '%s'", forbidden, made);
		free(made);
	}
}

/* ---- characters ---- */

static void characters_are_those_of_unicode(void **state)
{
	const char *rest = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xff\xed\xa0\x80";
	const uint32_t codes[] = { 'a',
				   0xe9,
				   0x20ac,
				   0x1f600,
				   SB_NO_CHARACTER,
				   SB_NO_CHARACTER,
				   SB_NO_CHARACTER,
				   SB_NO_CHARACTER };
	struct sb_character c;

	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(codes); i++) {
		assert_true(sb_next_character(&rest, &c));
		CHECK_EQ(c.code, codes[i]);
		CHECK_EQ(c.is_plain, c.code != SB_NO_CHARACTER);
	}
	assert_false(sb_next_character(&rest, &c));
}

/* ---- the terminal ---- */

static void put_terminal(FILE *out, const char *text)
{
	fputs(sb_terminal_text(text), out);
}

static void a_terminal_gets_text_alone(void **state)
{
	(void)state;
	check_all(put_terminal, "", "\x1b\n\r\t\b");
	check(put_terminal, "\x1b[31m \xc2\x9b \xff \xe2\x80\x8f \n",
	      "\\x1b[31m \\u009b \\xff \\u200f \\x0a");
	check(put_terminal, "\xc3\xa9 'a' \\x", "\xc3\xa9 'a' \\x");
}

/* As many as one line of output has. */
static void a_terminal_text_lasts_for_a_line(void **state)
{
	const char *first = sb_terminal_text("\x01");

	(void)state;
	for (int i = 0; i < 15; i++)
		assert_string_equal(sb_terminal_text("\x02"), "\\x02");
	assert_string_equal(first, "\\x01");
}

static void a_copy_is_tame(void **state)
{
	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(hostile); i++) {
		char *copy = sb_text_copy(hostile[i]);

		assert_true(is_tame(copy, "\n\t"));
		free(copy);
	}
}

/* ---- CSV ---- */

/* The first cell, as RFC 4180 has it, with the rest in *line. */
static char *read_cell(const char **line)
{
	char *cell = malloc(strlen(*line) + 1);
	const bool is_quoted = **line == '"';
	char *to = cell;
	const char *at = *line + is_quoted;

	for (; *at && (is_quoted || *at != ','); at++) {
		if (is_quoted && *at == '"' && *++at != '"')
			break;
		*to++ = *at;
	}
	*to = '\0';
	*line = at + (*at == ',');
	return cell;
}

static void csv_is_read_back(void **state)
{
	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(hostile); i++) {
		char *made = made_by(sb_csv_put_text, hostile[i]);
		const char *rest = made;
		char *cell = read_cell(&rest);

		assert_string_equal(rest, "");
		sb_csv_restore(cell);
		assert_string_equal(cell, hostile[i]);
		free(cell);
		free(made);
	}
}

static void csv_has_no_formulas(void **state)
{
	(void)state;
	check(sb_csv_put_text, "=1", "'=1");
	check(sb_csv_put_text, "'=1", "''=1");
	check(sb_csv_put_text, "@a,b", "\"'@a,b\"");
	check(sb_csv_put_text, "-5", "-5");
	check(sb_csv_put_text, "-1e3", "-1e3");
	check(sb_csv_put_text, "-5+x", "'-5+x");
	check(sb_csv_put_text, "'a'", "'a'");
}

/* ---- pages ---- */

static void html_has_no_elements(void **state)
{
	(void)state;
	check_all(sb_html, "\n", "<>\"'");
	check(sb_html, "<a b='\"'>&\t\x1b", "&lt;a b=&#39;&quot;&#39;&gt;&amp; \\x1b");
}

static void xml_has_no_elements(void **state)
{
	(void)state;
	check_all(sb_put_xml, "", "<>\"'\n");
	check(sb_put_xml, "]]>\n\xef\xbf\xbf\x01", "]]&gt;&#10;\\uffff\\x01");
}

/* Each character that means something has a backslash before it. */
static void markdown_has_no_links(void **state)
{
	(void)state;
	check_all(sb_put_markdown, "", "\n");
	check(sb_put_markdown, "](javascript:x) |`*_[~#$!",
	      "\\](javascript:x) \\|\\`\\*\\_\\[\\~\\#\\$\\!");
	check(sb_put_markdown, "@you <b>\n\x1b", "@<!-- -->you &lt;b&gt; \\\\x1b");
}

/* ---- CI ---- */

static void put_property(FILE *out, const char *text)
{
	sb_put_annotation(out, text, true);
}

static void put_message(FILE *out, const char *text)
{
	sb_put_annotation(out, text, false);
}

static void an_annotation_is_one_line(void **state)
{
	(void)state;
	check_all(put_message, "", "\r\n");
	check_all(put_property, "", "\r\n:,");
	check(put_property, "a: 5 %, b\n::error::", "a%3A 5 %25%2C b%0A%3A%3Aerror%3A%3A");
	check(put_message, "a: 5 %, b\n::error::", "a: 5 %25, b%0A::error::");
}

/* Behind a backslash there is n, a quote or a backslash, and a quote is behind a backslash. */
static void openmetrics_ends_at_no_quote(void **state)
{
	(void)state;
	check_all(sb_put_openmetrics, "\t", "\n");
	for (size_t i = 0; i < SB_ARRAY_SIZE(hostile); i++) {
		char *made = made_by(sb_put_openmetrics, hostile[i]);

		for (const char *c = made; *c; c++) {
			assert_true(*c != '"');
			if (*c == '\\')
				assert_true(*++c && strchr("n\"\\", *c));
		}
		free(made);
	}
}

/* ---- shells ---- */

/* What a shell makes of the word, for the caller to free. */
static char *read_by_shell(const char *word)
{
	char *command = NULL;
	char *read = calloc(1, 1000);
	FILE *shell;

	assert_true(asprintf(&command, "printf %%s %s", word) > 0);
	shell = popen(command, "r");
	assert_non_null(shell);
	(void)fread(read, 1, 999, shell);
	CHECK_EQ(pclose(shell), 0);
	free(command);
	return read;
}

static void a_shell_reads_the_word_back(void **state)
{
	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(hostile); i++) {
		char *made = made_by(sb_put_shell, hostile[i]);
		char *read = read_by_shell(made);

		assert_string_equal(read, hostile[i]);
		free(read);
		free(made);
	}
}

static bool is_one_line(const char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return false;
	}
	return true;
}

/* Words end at blanks outside quotes, a comment begins at #, and a backslash is for any character. */
static char *read_by_slurm(const char *word)
{
	char *read = malloc(strlen(word) + 1);
	bool is_quoted = false;
	size_t n = 0;

	for (; *word && (is_quoted || !strchr(" #'", *word)); word++) {
		if (*word == '"') {
			is_quoted = !is_quoted;
			continue;
		}
		word += *word == '\\';
		read[n++] = *word;
	}
	assert_false(is_quoted);
	assert_string_equal(word, "");
	read[n] = '\0';
	return read;
}

static void slurm_reads_the_word_back_or_gets_none(void **state)
{
	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(hostile); i++) {
		char *made = NULL;
		size_t bytes = 0;
		FILE *out = open_memstream(&made, &bytes);
		const bool is_put = sb_put_sbatch(out, hostile[i]);
		char *read;

		fclose(out);
		CHECK_EQ(is_put, is_one_line(hostile[i]));
		read = read_by_slurm(made);
		assert_string_equal(read, is_put ? hostile[i] : "");
		free(read);
		free(made);
	}
}

/* ---- gnuplot ---- */

static void put_plot(FILE *out, const char *text)
{
	sb_plot_quote(out, text, 1000, false);
}

/* In single quotes there are neither commands nor macros, and the text has no such quote. */
static void gnuplot_gets_one_text(void **state)
{
	(void)state;
	check_all(put_plot, "", "\n");
	for (size_t i = 0; i < SB_ARRAY_SIZE(hostile); i++) {
		char *made = made_by(put_plot, hostile[i]);

		CHECK_EQ(*made, '\'');
		assert_true(strchr(made + 1, '\'') == made + strlen(made) - 1);
		assert_null(strchr(made, '\n'));
		free(made);
	}
}

/* It stands in pictures, pages and tables of numbers. */
static void a_unit_has_no_quotes(void **state)
{
	static const char *const bad[] = {
		"';system(1)#", "<b>", "a,b", "`x`", "a\nb", "=1", "\x1b"
	};
	struct sb_metric metric = { "evil", "", SB_NEITHER, "" };

	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(bad); i++) {
		metric.unit = bad[i];
		CHECK_EQ(sb_metric_add(&metric), SB_METRICS);
	}
	metric.unit = "\xc2\xb5s/op";
	assert_true(sb_metric_add(&metric) != SB_METRICS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(characters_are_those_of_unicode),
		cmocka_unit_test(a_terminal_gets_text_alone),
		cmocka_unit_test(a_terminal_text_lasts_for_a_line),
		cmocka_unit_test(a_copy_is_tame),
		cmocka_unit_test(csv_is_read_back),
		cmocka_unit_test(csv_has_no_formulas),
		cmocka_unit_test(html_has_no_elements),
		cmocka_unit_test(xml_has_no_elements),
		cmocka_unit_test(markdown_has_no_links),
		cmocka_unit_test(an_annotation_is_one_line),
		cmocka_unit_test(openmetrics_ends_at_no_quote),
		cmocka_unit_test(a_shell_reads_the_word_back),
		cmocka_unit_test(slurm_reads_the_word_back_or_gets_none),
		cmocka_unit_test(gnuplot_gets_one_text),
		cmocka_unit_test(a_unit_has_no_quotes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
