/*
 * The line of progress.
 *
 * Property: it is never as wide as the terminal, says how wide it is, has nothing
 *   that the terminal cannot show or would obey, and leaves out the least
 *   important first; where nobody looks nothing is written.
 * Method: every width up to 200 with every kind of terminal, for views that are
 *   short, long, strange and random; the width is counted by the C library.
 */
#include <locale.h>
#include <math.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "harness/terminal/progress.h"
#include "tests/test.h"

#define COLUMNS_MAX 200
#define SKILLS	    4

static const struct sb_estimate none = { .value = NAN };

static const struct sb_progress_view views[] = {
	{ 0, 9, 0, NAN, "", "", { .value = NAN } },
	{ 3, 9, 0.4, 12, "pingpong", "repetition 4 of 9", { 216.6, 210, 230, "ns/op" } },
	{ 1000, 1000, 1, 0, "a", "writing", { 1e9, 1, 1e12, "ns/op" } },
	{ 7,
	  1,
	  7,
	  1e7,
	  "m\xc3\xbc\xc3\x9fig/\xe6\xbc\xa2\xe5\xad\x97",
	  "warm-up",
	  { 1, NAN, NAN, "x" } },
	{ 1, 2, -1, 5999, "\033[31mred\n\t\x7f\xff\xc3", "\r\r", { 0, 0, 0, "ns/op" } },
	{ 1,
	  2,
	  NAN,
	  90,
	  "x",
	  "a phase that is so long that it has no end in sight, and goes on and on and on, as if "
	  "nobody had to read it",
	  { .value = NAN } },
};

static struct sb_terminal_skill skill_of(int i)
{
	return (struct sb_terminal_skill){ .unicode = i & 1, .color = i & 2 };
}

/* The line without colours, as wide characters; it must be text. */
static size_t to_wide(const char *line, wchar_t *wide)
{
	char plain[SB_PROGRESS_BYTES];
	size_t n = 0;

	for (const char *c = line; *c; c++) {
		if (*c == '\033') {
			c += strcspn(c, "m");
			continue;
		}
		plain[n++] = *c;
	}
	plain[n] = '\0';
	n = mbstowcs(wide, plain, SB_PROGRESS_BYTES);
	assert_true(n != (size_t)-1);
	return n;
}

static void check_line(const struct sb_progress_view *view, int columns,
		       struct sb_terminal_skill skill)
{
	char line[SB_PROGRESS_BYTES];
	wchar_t wide[SB_PROGRESS_BYTES];
	const int width = sb_progress_line(line, view, columns, skill);
	const size_t n = to_wide(line, wide);

	/* -1: there is a control character. */
	CHECK_EQ(wcswidth(wide, n), width);
	assert_true(width < columns || !width);
	for (const char *c = line; *c; c++) {
		assert_true(skill.unicode || (unsigned char)*c < 0x80);
		assert_true(skill.color || *c != '\033');
	}
}

static void it_fits_and_is_text(void **state)
{
	(void)state;
	for (size_t v = 0; v < SB_ARRAY_SIZE(views); v++) {
		for (int columns = 0; columns <= COLUMNS_MAX; columns++) {
			for (int s = 0; s < SKILLS; s++)
				check_line(&views[v], columns, skill_of(s));
		}
	}
}

static void random_text(struct sb_rng *rng, char *out, size_t bytes)
{
	const size_t n = sb_rng_below(rng, (uint32_t)bytes);

	for (size_t i = 0; i < n; i++)
		out[i] = (char)(1 + sb_rng_below(rng, 255));
	out[n] = '\0';
}

static void any_text_will_do(void **state)
{
	struct sb_rng rng;
	char label[300];
	char phase[300];

	(void)state;
	sb_rng_seed(&rng, sb_test_seed());
	for (int i = 0; i < 2000; i++) {
		struct sb_progress_view view = {
			.label = label, .phase = phase, .left_s = 1, .estimate = none
		};

		random_text(&rng, label, sizeof(label));
		random_text(&rng, phase, sizeof(phase));
		view.all = (uint32_t)sb_rng_next(&rng);
		check_line(&view, (int)sb_rng_below(&rng, COLUMNS_MAX),
			   skill_of((int)sb_rng_below(&rng, SKILLS)));
	}
}

static void what_is_important_stays(void **state)
{
	static const struct {
		int columns;
		const char *line;
	} expected[] = {
		{ 100, "[############------------------] 3/9 pingpong: repetition 4 of 9  216.6 "
		       "ns/op +-6.2 %  12 s left" },
		{ 75,
		  "[###-----] 3/9 pingpong: repetition 4 of 9  216.6 ns/op +-6.2 %  12 s left" },
		{ 70, "3/9 pingpong: repetition 4 of 9  216.6 ns/op +-6.2 %  12 s left" },
		{ 60, "[####--------] 3/9 pingpong  216.6 ns/op +-6.2 %  12 s left" },
		{ 40, "3/9 pingpong  216.6 ns/op  12 s left" },
		{ 30, "3/9 pingpong  12 s left" },
		{ 20, "3/9  12 s left" },
		{ 8, "3/9" },
		{ 3, "3/" },
		{ 1, "" },
	};

	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(expected); i++) {
		char line[SB_PROGRESS_BYTES];

		(void)sb_progress_line(line, &views[1], expected[i].columns, skill_of(0));
		assert_string_equal(line, expected[i].line);
	}
}

static void times_are_for_people(void **state)
{
	static const struct {
		double left_s;
		const char *text;
	} expected[] = {
		{ 0, "0 s left" },
		{ 0.2, "1 s left" },
		{ 99, "99 s left" },
		{ 100, "2 min left" },
		{ 5999, "100 min left" },
		{ 6000, "1 h 40 min left" },
		{ 36060, "10 h 01 min left" },
	};

	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(expected); i++) {
		const struct sb_progress_view view = {
			.label = "",
			.phase = "",
			.left_s = expected[i].left_s,
			.estimate = none,
		};
		char line[SB_PROGRESS_BYTES];

		(void)sb_progress_line(line, &view, 80, skill_of(0));
		assert_non_null(strstr(line, expected[i].text));
	}
}

static void nobody_looks_at_a_file(void **state)
{
	FILE *file = tmpfile();
	struct sb_progress progress;

	(void)state;
	assert_non_null(file);
	sb_progress_open(&progress, file, false);
	sb_progress_plan(&progress, 2, 1e9);
	sb_progress_phase(&progress, "x", "y");
	sb_progress_done(&progress, 3, 1e9);
	sb_progress_hide();
	sb_progress_close(&progress);
	/* More than planned is the new plan. */
	CHECK_EQ(progress.view.all, 3);
	CHECK_EQ(ftell(file), 0);
	assert_false(sb_terminal_has_color(file));
	CHECK_EQ(sb_terminal_columns(file), 80);
	fclose(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_fits_and_is_text),	   cmocka_unit_test(any_text_will_do),
		cmocka_unit_test(what_is_important_stays), cmocka_unit_test(times_are_for_people),
		cmocka_unit_test(nobody_looks_at_a_file),
	};

	setlocale(LC_ALL, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
