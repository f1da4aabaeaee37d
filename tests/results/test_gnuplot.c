/* test_gnuplot.c - gnuplot takes every script that the kinds of pictures write. */
#include "tests/results/plots.h"

/* ---- gnuplot ---- */

static bool has_gnuplot(void)
{
	return !system("command -v gnuplot >/dev/null");
}

static bool exists(const char *directory, const char *name)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return !access(path, F_OK);
}

static void empty_directory(const char *directory)
{
	char command[300];

	snprintf(command, sizeof(command), "rm -r -- '%s'", directory);
	CHECK_EQ(system(command), 0);
}

static void check_pictures(struct sb_result *result, const char *expected)
{
	char directory[] = "/tmp/test_plots-XXXXXX";
	const struct sb_result *pointer = result;
	struct sb_plot_order order = { .result = &pointer, .results = 1 };
	char name[100];
	int rc;

	assert_non_null(mkdtemp(directory));
	rc = sb_plots_make(&order, directory);
	if (rc)
		print_error("%s\n", order.why);
	CHECK_EQ(rc, 0);
	assert_true(order.made > 3);
	assert_false(exists(directory, "spoilt"));
	assert_false(exists(directory, "gnuplot.log"));
	assert_false(exists(".", "spoilt"));
	for (int i = 0; i < 3; i++) {
		static const char *const ends[] = { "svg", "png", "gp" };

		snprintf(name, sizeof(name), "%s.%s", expected, ends[i]);
		assert_true(exists(directory, name));
	}
	empty_directory(directory);
}

static void gnuplot_takes_every_script(void **state)
{
	/* One point, and all the same. */
	struct recipe flat[2] = {
		{ .workload = "flat", .workers = 1, .records = 1, .ns_per_op = 7 }
	};
	struct sb_result *results[3];

	(void)state;
	if (!has_gnuplot())
		skip();
	flat[1] = flat[0];
	flat[1].workload = "flat-too";
	results[0] = make_result(flat, 2, "A CPU");
	results[1] = make_sweep("spin-yield");
	results[2] = make_nasty();
	check_pictures(results[0], "account-flat-too");
	check_pictures(results[1], "heat");
	check_pictures(results[2], "load");
	for (int i = 0; i < 3; i++)
		free_result(results[i]);
}

static void pictures_go_to_streams(void **state)
{
	struct sb_result *result = make_sweep("spin-yield");
	const struct sb_result *pointer = result;
	struct sb_plot_order order = { .result = &pointer,
				       .results = 1,
				       .kind = sb_plot_kind_find("sweep") };
	char *bytes = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&bytes, &n);

	(void)state;
	if (!has_gnuplot())
		skip();
	CHECK_EQ(sb_plots_put(&order, SB_PLOT_PNG, out), 0);
	fflush(out);
	assert_true(n > 1000);
	CHECK_EQ(memcmp(bytes, "\x89PNG", 4), 0);
	order.kind = sb_plot_kind_find("spins");
	CHECK_EQ(sb_plots_put(&order, SB_PLOT_SVG, out), -E2BIG);
	assert_non_null(strstr(order.why, "there are 8 of them"));
	order.choice.series = "no such";
	CHECK_EQ(sb_plots_put(&order, SB_PLOT_SVG, out), -ENODATA);
	assert_non_null(strstr(order.why, "'no such'"));
	fclose(out);
	free(bytes);
	free_result(result);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(gnuplot_takes_every_script),
		cmocka_unit_test(pictures_go_to_streams),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
