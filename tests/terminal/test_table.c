/*
 * test_table.c - tables for people: as wide as their cells, in blocks where the terminal is
 * narrower, no cell cut off; colours take no room. By comparison with what is expected.
 */
#include <stdlib.h>

#include "results/files/table.h"
#include "results/files/wrap.h"
#include "tests/test.h"

static void fill(struct sb_table *table)
{
	*table = (struct sb_table){ .keys = 1 };
	sb_table_column(table, "name", SB_TABLE_LEFT, 0);
	sb_table_column(table, "op/s", 0, 6);
	sb_table_column(table, "time [min .. max]", 0, 0);
	sb_table_column(table, "p50", 0, 0);
	sb_table_column(table, "p99", SB_TABLE_JOINS, 0);
	sb_table_column(table, "verdict", SB_TABLE_LEFT | SB_TABLE_WRAPS, 0);
	for (int row = 0; row < 2; row++) {
		sb_table_cell(table, "row%d", row);
		sb_table_cell(table, "%d", 100 + row);
		sb_table_cell(table, "4454150.1 ns [4454150.1 .. %d]", 4454150 + row);
		sb_table_cell(table, "%d", 7);
		sb_table_cell(table, "%d", 1234567);
		sb_table_cell(table, "\033[32mfine\033[0m%s",
			      row ? ": it has changed by less" : "");
	}
}

static void check_put(int columns, const char *bold, const char *expected)
{
	struct sb_table table;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	fill(&table);
	sb_table_put(&table, out, columns, bold);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(text, expected);
	free(text);
}

static void any_width_is_one_block(void **state)
{
	(void)state;
	check_put(0, NULL,
		  "name    op/s                    time [min .. max]  p50      p99  verdict\n"
		  "row0     100  4454150.1 ns [4454150.1 .. 4454150]    7  1234567  "
		  "\033[32mfine\033[0m\n"
		  "row1     101  4454150.1 ns [4454150.1 .. 4454151]    7  1234567  "
		  "\033[32mfine\033[0m: it has changed by less\n");
}

static void narrow_ones_go_on_below(void **state)
{
	(void)state;
	check_put(60, "\033[1m",
		  "\033[1mname    op/s                    time [min .. max]\033[0m\n"
		  "row0     100  4454150.1 ns [4454150.1 .. 4454150]\n"
		  "row1     101  4454150.1 ns [4454150.1 .. 4454151]\n"
		  "\n"
		  "\033[1mname  p50      p99  verdict\033[0m\n"
		  "row0    7  1234567  \033[32mfine\033[0m\n"
		  "row1    7  1234567  \033[32mfine\033[0m: it has changed by less\n");
}

static void what_wraps_goes_on_in_the_next_line(void **state)
{
	(void)state;
	check_put(44, NULL,
		  "name    op/s\n"
		  "row0     100\n"
		  "row1     101\n"
		  "\n"
		  "name                    time [min .. max]\n"
		  "row0  4454150.1 ns [4454150.1 .. 4454150]\n"
		  "row1  4454150.1 ns [4454150.1 .. 4454151]\n"
		  "\n"
		  "name  p50      p99  verdict\n"
		  "row0    7  1234567  \033[32mfine\033[0m\n"
		  "row1    7  1234567  \033[32mfine\033[0m: it has changed by\n"
		  "    less\n");
}

static void width_is_that_of_characters(void **state)
{
	(void)state;
	assert_int_equal(sb_text_width("\033[32m\302\265s \302\26150 %\033[0m"), 8);
	assert_int_equal(sb_text_width(""), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_width_is_one_block),
		cmocka_unit_test(narrow_ones_go_on_below),
		cmocka_unit_test(what_wraps_goes_on_in_the_next_line),
		cmocka_unit_test(width_is_that_of_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
