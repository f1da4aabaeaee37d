/*
 * The pictures.
 *
 * Property: the fit of the Universal Scalability Law finds the parameters that
 *   made the data, and its standard errors are as large as its errors; scripts
 *   have what was measured and nothing else; text from outside stays text; every
 *   kind draws or says why not; gnuplot takes every script.
 * Method: exact and noisy throughputs; results made up by hand, plain and nasty;
 *   the scripts are searched, and run if there is a gnuplot.
 */
#include "tests/results/plots.h"

static char why[SB_PLOT_WHY_BYTES];

/* One workload, with or without faults. */
static const struct recipe plain = { .workload = "plain",
				     .workers = 4,
				     .records = 5,
				     .ns_per_op = 100,
				     .suspect = 1,
				     .invalid = 1 };

/* Of all lines in one picture; NULL: refused, why says so. */
static char *script_of(const struct sb_result *result, const char *name,
		       struct sb_plot_choice choice)
{
	const struct sb_plot_kind *kind = sb_plot_kind_find(name);
	struct sb_plot_order order = {
		.result = &result, .results = 1, .kind = kind, .choice = choice
	};
	struct sb_plot_view view;
	struct sb_plot plot = { .view = &view, .choice = &order.choice, .why = why };
	char *script = NULL;

	why[0] = '\0';
	assert_non_null(kind);
	CHECK_EQ(sb_plot_view_init(&view, &order), 0);
	CHECK_EQ(sb_plot_init(&plot), 0);
	if (kind->draw(&plot, kind->argument))
		script = sb_plot_script(&plot, kind->title, name, SB_PLOT_SVG | SB_PLOT_PNG);
	sb_plot_free(&plot);
	sb_plot_view_free(&view);
	return script;
}

static void check_script(const struct sb_result *result, const char *kind,
			 struct sb_plot_choice choice, const char *const *parts)
{
	char *script = script_of(result, kind, choice);

	if (!script)
		print_error("%s: %s\n", kind, why);
	assert_non_null(script);
	for (; script && *parts; parts++) {
		if (!strstr(script, *parts))
			print_error("%s has no %s:\n%s\n", kind, *parts, script);
		assert_non_null(strstr(script, *parts));
	}
	free(script);
}

static const struct sb_plot_choice everything = { NULL, NULL, NULL };

/* 100 is suspect, 102 is invalid, 104 to 108 are valid. */
static void points_are_those_measured(void **state)
{
	struct sb_result *result = make_result(&plain, 1, "A CPU");
	char *script = script_of(result, "cost", everything);

	(void)state;
	assert_non_null(script);
	/* Hollow, and filled. */
	CHECK_EQ(count(script, "-0.100 100\nEOD\n"), 1);
	CHECK_EQ(count(script, "EOD\n0.000 104\n0.050 106\n0.100 108\nEOD\n"), 1);
	CHECK_EQ(count(script, " 102\n"), 0);
	CHECK_EQ(count(script, "0 105 100 108\nEOD"), 1); /* the median, and the extremes of four */
	CHECK_EQ(count(script, "pt 6 title 'suspect repetition'"), 2);
	CHECK_EQ(count(script, "pt 7 title 'repetition'"), 2);
	CHECK_EQ(count(script,
		       "3 of 5 repetitions valid, 1 suspect (hollow points), 1 invalid (left out)"),
		 2);
	CHECK_EQ(count(script, "'A CPU, 8 cores; 4 workers; sched-bench 9.8.7, release build; "),
		 2);
	CHECK_EQ(count(script, "set label 'wall time per operation, ns'"), 2);
	free(script);
	free_result(result);
}

static void nothing_is_drawn_of_nothing(void **state)
{
	struct recipe none = plain;
	struct sb_result *result;

	(void)state;
	none.suspect = 0;
	none.invalid = none.records;
	result = make_result(&none, 1, "A CPU");
	for (const struct sb_plot_kind *k = sb_plot_kinds; k->name; k++) {
		char *script = script_of(result, k->name, everything);

		if (script)
			print_error("%s drew:\n%s\n", k->name, script);
		assert_null(script);
		assert_true(strlen(why) > 10 && !strchr(why, '\n'));
	}
	free_result(result);
}

static void sweeps_are_lines_over_a_setting(void **state)
{
	/* 0 is left of 4 by one power of two; a suspect one is hollow. */
	static const char *const parts[] = { "set xtics norotate ('0' 1, '4' 2, '64' 6, '4096' 12)",
					     "1 102 100 104 7\n2 112.2 110 114.4 7\n",
					     "1 132.6 130 135.2 9\n2 142.8 140 145.6 8\n",
					     "title 'batch=1'",
					     "title 'batch=16'",
					     "set label 'spin-yield'",
					     "set label 'wall time per operation, ns'",
					     NULL };
	static const char *const over_batch[] = { "title 'spin-yield=4096'", "set label 'batch'",
						  NULL };
	static const char *const cells[] = { "0 0 102\n1 0 112.2\n", "1 1 \"143 ns *\"",
					     "set label 'batch'", "*: a repetition", NULL };
	static const char *const panels[] = { "set label 'from wake to running'",
					      "set label 'CPU time per operation, ns'",
					      "'median, batch=16'", NULL };
	struct sb_result *result = make_sweep("spin-yield");

	(void)state;
	check_script(result, "sweep", everything, parts);
	check_script(result, "sweep", (struct sb_plot_choice){ .over = "batch" }, over_batch);
	check_script(result, "heat", everything, cells);
	check_script(result, "thresholds", everything, panels);
	assert_null(script_of(result, "sweep", (struct sb_plot_choice){ .metric = "ns" }));
	assert_non_null(strstr(why, "unknown metric 'ns'"));
	assert_null(script_of(result, "sweep", (struct sb_plot_choice){ .over = "tick" }));
	assert_non_null(strstr(why, "tick"));
	assert_null(script_of(result, "scaling", everything));
	assert_null(script_of(result, "load", everything));
	free_result(result);
}

/* Each of them, asked for or found; and nothing else. */
static void thresholds_are_those_of_spinning(void **state)
{
	static const char *const names[] = { "spin-tight", "spin-yield", "spin-time" };

	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(names); i++) {
		struct sb_result *result = make_sweep(names[i]);
		const char *const panels[] = { "set label 'CPU time", "'median, batch=16'",
					       names[i], NULL };

		check_script(result, "thresholds", everything, panels);
		check_script(result, "thresholds", (struct sb_plot_choice){ .over = names[i] },
			     panels);
		assert_null(script_of(result, "thresholds",
				      (struct sb_plot_choice){ .over = "batch" }));
		assert_non_null(strstr(why, "spin-time"));
		free_result(result);
	}
	struct sb_result *other = make_sweep("tick");

	assert_null(script_of(other, "thresholds", everything));
	assert_non_null(strstr(why, "spin-tight, spin-yield, spin-time: not"));
	free_result(other);
}

/* One that does not have the setting is nowhere on the axis, also not at 0. */
static void what_has_no_such_setting_is_not_drawn(void **state)
{
	static const struct recipe recipe[] = {
		{ "skynet", 2, 3, 100, { "depth" }, { "0" }, { 0 }, 0, 0, 0 },
		{ "skynet", 2, 3, 110, { "depth" }, { "1" }, { 1 }, 0, 0, 0 },
		{ "skynet", 2, 3, 120, { "depth" }, { "16" }, { 16 }, 0, 0, 0 },
		{ "yield", 2, 3, 777, { NULL }, { NULL }, { 0 }, 0, 0, 0 },
	};
	struct sb_result *result = make_result(recipe, 4, "A CPU");
	char *script = script_of(result, "sweep", everything);

	(void)state;
	assert_non_null(script);
	CHECK_EQ(count(script, " 102 100 104 "), 1);
	CHECK_EQ(count(script, " 777 "), 0);
	free(script);
	free_result(result);
}

static void scaling_has_a_fit(void **state)
{
	static const char *const parts[] = { "title 'ideal'",
					     "title 'measured'",
					     "title 'USL: \xce\xbb 10.0 M/s",
					     "\xcf\x83 0.05",
					     "\xce\xba 0.001",
					     "Gunther",
					     NULL };
	static const char *const predicted[] = { "title 'predicted'", "(virtual)", NULL };
	static const char *const texts[] = { "1", "2", "4", "8", "16" };
	struct recipe recipe[5];
	struct sb_result *result;

	(void)state;
	for (int i = 0; i < 5; i++)
		recipe[i] = (struct recipe){
			.workload = "skynet",
			.workers = 1u << i,
			.records = 1,
			.ns_per_op = 1e9 / law(1e7, 0.05, 0.001, 1 << i),
			.name = { "workers" },
			.text = { texts[i] },
			.number = { 1 << i },
		};
	result = make_result(recipe, 5, "A CPU");
	check_script(result, "scaling", everything, parts);
	for (uint32_t i = 0; i < 5; i++)
		result->series[i].reality = SB_SIMULATED;
	check_script(result, "scaling", everything, predicted);
	free_result(result);
}

/* The same workload with two settings, of which the second takes that much longer. */
static struct sb_result *make_two(uint32_t records, double ratio)
{
	struct recipe recipe[2] = { plain, plain };

	for (int i = 0; i < 2; i++) {
		recipe[i].suspect = recipe[i].invalid = 0;
		recipe[i].records = records;
		recipe[i].ns_per_op = i ? 100 * ratio : 100;
		recipe[i].name[0] = "wake";
		recipe[i].text[0] = i ? "global" : "local";
		recipe[i].number[0] = NAN;
	}
	return make_result(recipe, 2, "A CPU");
}

/* The title is the headline of the sweep: one is best if all others are worse, and what lacks rows is
 * named. Without a sweep nothing is tested. */
static void a_finding_is_what_is_settled(void **state)
{
	static const struct {
		bool is_sweep;
		double first; /* what the slower one has in the first round */
		uint32_t invalid;
		const char *title;
	} cases[] = {
		{ true, 200, 0, "'Best wall time per operation: wake=local, 108 ns'" },
		{ true, 1, 0, "'Lowest wall time per operation: wake=local, 108 ns; may be" },
		{ true, 200, 1,
		  "'Best wall time per operation: wake=local, 108 ns; worse, with rows missing: "
		  "wake=global'" },
		{ true, 200, 7,
		  "'Lowest judged wall time per operation: wake=local, 108 ns; not judged, and may "
		  "be" },
		{ false, 200, 0,
		  "'Lowest wall time per operation: 108 ns with wake=local; up to 216 ns with "
		  "others" },
	};

	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(cases); i++) {
		struct sb_result *result = make_two(9, 2);
		const char *const parts[] = { cases[i].title, "'Cost per operation", NULL };

		if (cases[i].is_sweep)
			CHECK_EQ(sb_result_add_fact(result, "sweep", "configurations", "2"), 0);
		result->series[1].record[0].value[SB_METRIC_ns_per_op] = cases[i].first;
		for (uint32_t r = 0; r < cases[i].invalid; r++)
			sb_record_invalidate(&result->series[1].record[r], "for the test");
		check_script(result, "cost", everything, parts);
		free_result(result);
	}
}

/* What all have alike stands above, and not in labels; workloads are panels. */
static void labels_have_what_varies(void **state)
{
	static const char *const parts[] = { "batch=16'", "'wake=local' 0, 'wake=global' 1",
					     "'plain: lowest with wake=local (not tested)'",
					     "'other: 300 ns'", NULL };
	struct recipe recipe[3] = { plain, plain, plain };
	struct sb_result *result;
	char *script;

	(void)state;
	for (int i = 0; i < 3; i++) {
		recipe[i].suspect = recipe[i].invalid = 0;
		recipe[i].records = 9;
		recipe[i].ns_per_op = i ? 200 : 100;
		recipe[i].name[0] = "wake";
		recipe[i].text[0] = i == 1 ? "global" : "local";
		recipe[i].name[1] = "batch";
		recipe[i].text[1] = "16";
	}
	recipe[2].workload = "other";
	recipe[2].ns_per_op = 300 / 1.08;
	result = make_result(recipe, 3, "A CPU");
	check_script(result, "cost", everything, parts);
	script = script_of(result, "cost", everything);
	CHECK_EQ(count(script, "batch=16"), 2); /* in each format once */
	free(script);
	free_result(result);
}

/* Those of the series, or else of the run; without them none. */
static void thresholds_are_marked(void **state)
{
	static const char *const parts[] = { "set arrow from first 4, graph 0 to first 4, graph 1",
					     "'spin-tight 4: yields'",
					     "set arrow from first 16, graph 0",
					     "'+ spin-yield 12: parks'", NULL };
	struct sb_result *result = make_result(&plain, 1, "A CPU");
	char *script = script_of(result, "spins", everything);

	(void)state;
	assert_non_null(script);
	assert_null(strstr(script, "set arrow from"));
	free(script);
	CHECK_EQ(sb_result_add_fact(result, "options", "spin-tight", "4"), 0);
	CHECK_EQ(sb_result_add_fact(result, "options", "spin-yield", "12"), 0);
	check_script(result, "spins", everything, parts);
	free_result(result);
}

/* White for none, and lines between nodes. */
static void steals_tell_none_from_few(void **state)
{
	static const char *const parts[] = { "NaN NaN ",
					     "'nothing stolen'",
					     "'itself'",
					     "'node 1'",
					     "set arrow from first 7.5, graph 0",
					     NULL };
	struct recipe recipe = plain;
	struct sb_result *result;

	(void)state;
	recipe.workers = 16;
	recipe.suspect = recipe.invalid = 0;
	result = make_result(&recipe, 1, "A CPU");
	for (uint32_t r = 0; r < recipe.records; r++)
		result->series[0].record[r].worker[0].steals[1].items = 0;
	check_script(result, "steals", everything, parts);
	free_result(result);
}

/* Steps of a search are single marks, without a line; what they are compared with are
 * lines. */
static void a_search_is_marks(void **state)
{
	static const char *const parts[] = {
		"'p99 stays below 50us up to 3.00 k/s; capacity 9.00 k/s'",
		"title 'p99 of a step'",
		"'servers without cost (ideal)'",
		"\n1000 500\n2000 600\n3000 600\n", /* never falls */
		"set arrow from first 9000, graph 0",
		"set arrow from graph 0, first 50000 to",
		NULL
	};
	struct recipe recipe = plain;
	struct sb_result *result;
	char *script;

	(void)state;
	recipe.suspect = recipe.invalid = 0;
	recipe.records = 3;
	recipe.offered = 1000;
	result = make_result(&recipe, 1, "A CPU");
	for (uint32_t r = 0; r < 3; r++) {
		double *value = result->series[0].record[r].value;

		value[SB_METRIC_offered_per_s] = 1000 * (r + 1.0);
		value[SB_METRIC_capacity_per_s] = 9000;
		value[SB_METRIC_ideal_ns_p50] = r == 1 ? 650 : 500 + 25 * r;
	}
	result->series[0].answer = strdup("p99<50us: found");
	result->series[0].answer_row = 3;
	CHECK_EQ(sb_result_add_fact(result, "options", "find-slo", "p99<50us"), 0);
	check_script(result, "load", everything, parts);
	script = script_of(result, "load", everything);
	assert_null(strstr(script, "1:2 with lines lw 2"));
	free(script);
	free_result(result);
}

static void load_is_a_curve_for_each_percentile(void **state)
{
	static const char *const parts[] = { "1000 2000 2000 2000 7\n5000 6000 6000 6000 7\n",
					     "title 'p99.9'", "set label 'requests offered, k/s'",
					     NULL };
	struct recipe recipe[2] = { plain, plain };
	struct sb_result *result;
	double completed = 0;
	char last[40];

	(void)state;
	for (int i = 0; i < 2; i++) {
		recipe[i].name[0] = "rate";
		recipe[i].text[0] = i ? "1k/s" : "5k/s";
		recipe[i].number[0] = recipe[i].offered = i ? 1000 : 5000;
		recipe[i].suspect = recipe[i].invalid = 0;
	}
	result = make_result(recipe, 2, "A CPU");
	check_script(result, "load", everything, parts);
	for (uint32_t r = 0; r < result->series[0].records; r++)
		completed += (double)result->series[0].record[r].requests->completed;
	/* 3 of each of 5 repetitions, and the one more of the axis. */
	snprintf(last, sizeof(last), "\n%.9g ", -log10(1 - completed / (completed + 15 + 1)));
	check_script(result, "latency-sojourn", everything,
		     (const char *const[]){ "30 requests were lost", last, NULL });
	free_result(result);
}

static void hostile_text_stays_text(void **state)
{
	struct sb_result *result = make_nasty();
	char *script = script_of(result, "latency-ready-to-running", everything);

	(void)state;
	assert_non_null(script);
	/* Everything is in single quotes, and none of the text's is one. */
	CHECK_EQ(count(script, "\"`"), 0);
	CHECK_EQ(count(script, "''x"), 0);
	assert_true(count(script, "\xe2\x80\x99x\xe2\x80\x99") > 0);
	CHECK_EQ(count(script, "\001"), 0);
	CHECK_EQ(count(script, "\xef\xbf\xbf"), 0);
	/* Lines that are told apart, and what is left out. */
	CHECK_EQ(count(script, "1:2 with fsteps"), 2 * SB_PLOT_LINES_MAX);
	assert_true(count(script, "40 of 50") || count(script, "of 50 curves"));
	for (char *line = strtok(script, "\n"); line; line = strtok(NULL, "\n"))
		assert_uint_in_range(strlen(line), 0, 1200);
	free(script);
	free_result(result);
}

static void kinds_are_described(void **state)
{
	(void)state;
	for (const struct sb_plot_kind *k = sb_plot_kinds; k->name; k++) {
		assert_ptr_equal(sb_plot_kind_find(k->name), k);
		assert_uint_in_range(strlen(k->doc), 10, 100);
		assert_null(strchr(k->doc, '\n'));
	}
	assert_null(sb_plot_kind_find("all"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(points_are_those_measured),
		cmocka_unit_test(nothing_is_drawn_of_nothing),
		cmocka_unit_test(sweeps_are_lines_over_a_setting),
		cmocka_unit_test(thresholds_are_those_of_spinning),
		cmocka_unit_test(what_has_no_such_setting_is_not_drawn),
		cmocka_unit_test(scaling_has_a_fit),
		cmocka_unit_test(a_finding_is_what_is_settled),
		cmocka_unit_test(labels_have_what_varies),
		cmocka_unit_test(thresholds_are_marked),
		cmocka_unit_test(steals_tell_none_from_few),
		cmocka_unit_test(a_search_is_marks),
		cmocka_unit_test(load_is_a_curve_for_each_percentile),
		cmocka_unit_test(hostile_text_stays_text),
		cmocka_unit_test(kinds_are_described),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
