/* test_ini.c - the text of job files: places, mistakes, and damage at random. */
#include "tests/harness/job.h"

/* ---- the text ---- */

static int parse_text(struct sb_ini *ini, const char *text, struct sb_ini_error *error)
{
	return sb_ini_parse(ini, text, strlen(text), error);
}

static void everything_has_a_place(void **state)
{
	static const char text[] = "; a comment\r\n"
				   "  # another\n"
				   "\n"
				   "[ one ]\r\n"
				   "a=1\n"
				   "\t b  =  two words ; all of it \n"
				   "flag\n"
				   "[empty]\n"
				   "[last]\n"
				   "q = \" \\\"\\\\\\n\\x41= \"\n"
				   "none=";
	struct sb_ini_error error;
	struct sb_ini ini;
	const struct sb_ini_entry *e;

	(void)state;
	CHECK_EQ(parse_text(&ini, text, &error), 0);
	CHECK_EQ(ini.sections, 3);
	assert_string_equal(ini.section[0].name, "one");
	CHECK_EQ(ini.section[0].line, 4);
	CHECK_EQ(ini.section[0].entries, 3);
	e = ini.section[0].entry;
	assert_string_equal(e[0].value, "1");
	CHECK_EQ(e[0].line, 5);
	CHECK_EQ(e[0].name_column, 1);
	CHECK_EQ(e[0].value_column, 3);
	assert_string_equal(e[1].name, "b");
	assert_string_equal(e[1].value, "two words ; all of it");
	CHECK_EQ(e[1].name_column, 3);
	CHECK_EQ(e[1].value_column, 9);
	assert_null(e[2].value);
	CHECK_EQ(ini.section[1].entries, 0);
	e = ini.section[2].entry;
	assert_string_equal(e[0].value, " \"\\\nA= ");
	assert_true(e[0].is_quoted);
	assert_string_equal(e[1].value, "");
	sb_ini_free(&ini);
}

static void texts_that_are_wrong(void **state)
{
	static const struct {
		const char *text;
		uint32_t line, column;
		const char *why;
	} wrong[] = {
		{ "a=1", 1, 1, "before any section" },
		{ "\n  [x\n", 2, 5, "expected ]" },
		{ "[]", 1, 1, "no name" },
		{ "[ \t]", 1, 1, "no name" },
		{ "[x] y", 1, 4, "end of the line" },
		{ "[x]\n =1", 2, 2, "no name before =" },
		{ "[x]\n[y]\n[x]", 3, 1, "line 1" },
		{ "[x]\na=1\n  a=2", 3, 3, "line 2" },
		{ "[x]\na=\"b", 2, 3, "no end" },
		{ "[x]\na=\"b\" c", 2, 6, "end of the line" },
		{ "[x]\na=\"b\\q\"", 2, 5, "unknown escape" },
		{ "[x]\na=\"b\\x4\"", 2, 5, "unknown escape" },
		{ "[x]\na=\"b\\x00\"", 2, 5, "unknown escape" },
		{ "[x]\na=\"b\\", 2, 5, "unknown escape" },
		{ "[x]\na=\"b\\x\x14\x11\"", 2, 5, "unknown escape" },
		{ "[x]\na=\"   \n", 2, 3, "no end" },
		{ "[x]\na=\"b\\ \t\r\n", 2, 5, "unknown escape" },
	};
	struct sb_ini_error error;
	struct sb_ini ini;

	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(wrong); i++) {
		CHECK_EQ(parse_text(&ini, wrong[i].text, &error), -EINVAL);
		CHECK_EQ(error.line, wrong[i].line);
		CHECK_EQ(error.column, wrong[i].column);
		assert_non_null(strstr(error.why, wrong[i].why));
	}
	CHECK_EQ(sb_ini_parse(&ini, "[x]\na\0b", 7, &error), -EINVAL);
	CHECK_EQ(error.column, 2);
}

/* Blanks behind a quotation mark that is never closed are no part of the value,
 * nor of the memory that was taken for it. */
static void a_long_open_quote_is_refused(void **state)
{
	static const char start[] = "[x]\na=\"";
	const size_t blanks = 900000;
	const size_t bytes = strlen(start) + blanks;
	char *text = malloc(bytes);
	struct sb_ini_error error;
	struct sb_ini ini;

	(void)state;
	assert_non_null(text);
	memset(text, ' ', bytes);
	for (size_t i = 0; start[i]; i++)
		text[i] = start[i];
	CHECK_EQ(sb_ini_parse(&ini, text, bytes, &error), -EINVAL);
	CHECK_EQ(error.column, 3);
	assert_non_null(strstr(error.why, "no end"));
	free(text);
}

/* [x], then n sections or entries, each with another name. */
static int parse_many(bool sections, uint32_t n, struct sb_ini_error *error)
{
	struct sb_ini ini;
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);
	int rc;

	assert_non_null(out);
	fputs("[x]\n", out);
	for (uint32_t i = 0; i < n; i++)
		fprintf(out, sections ? "[%" PRIu32 "]\n" : "%" PRIu32 "=\n", i);
	fclose(out);
	rc = sb_ini_parse(&ini, text, bytes, error);
	if (!rc)
		sb_ini_free(&ini);
	free(text);
	return rc;
}

static void too_many_parts_are_refused(void **state)
{
	struct sb_ini_error error;

	(void)state;
	CHECK_EQ(parse_many(true, 999, &error), 0);
	CHECK_EQ(parse_many(true, 100000, &error), -EINVAL);
	CHECK_EQ(error.line, 1001);
	CHECK_EQ(parse_many(false, 1000, &error), 0);
	CHECK_EQ(parse_many(false, 100000, &error), -EINVAL);
	CHECK_EQ(error.line, 1002);
}

static void any_value_is_read_as_written(void **state)
{
	struct sb_rng rng;

	(void)state;
	sb_rng_seed(&rng, sb_test_seed());
	for (int i = 0; i < 2000; i++) {
		struct sb_ini_error error;
		struct sb_ini ini;
		char value[30];
		char *text = NULL;
		size_t bytes = 0;
		FILE *out = open_memstream(&text, &bytes);

		random_text(&rng, value, sizeof(value));
		fputs("[x]\nv = ", out);
		sb_ini_put_value(out, value, sb_rng_below(&rng, 2));
		fclose(out);
		CHECK_EQ(sb_ini_parse(&ini, text, bytes, &error), 0);
		assert_string_equal(ini.section[0].entry[0].value, value);
		sb_ini_free(&ini);
		free(text);
	}
}

/* Nothing but a clear refusal or a result: the sanitizers look on. */
static void damage_does_no_harm(void **state)
{
	static const char good[] = "[global]\nbatch=3\n[a]\nx=\"\\n\"\nflag\n";
	struct sb_rng rng;

	(void)state;
	sb_rng_seed(&rng, sb_test_seed());
	for (int i = 0; i < 5000; i++) {
		char text[sizeof(good)];
		struct sb_ini_error error = { 0 };
		struct sb_ini ini;
		const size_t n = sb_rng_below(&rng, sizeof(good));
		int rc;

		memcpy(text, good, sizeof(good));
		for (uint32_t d = sb_rng_below(&rng, 4) + 1; d; d--)
			text[sb_rng_below(&rng, sizeof(good))] = (char)sb_rng_next(&rng);
		rc = sb_ini_parse(&ini, text, n, &error);
		assert_true(!rc || (rc == -EINVAL && error.line && *error.why));
		if (!rc)
			sb_ini_free(&ini);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_has_a_place),
		cmocka_unit_test(texts_that_are_wrong),
		cmocka_unit_test(a_long_open_quote_is_refused),
		cmocka_unit_test(too_many_parts_are_refused),
		cmocka_unit_test(any_value_is_read_as_written),
		cmocka_unit_test(damage_does_no_harm),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
