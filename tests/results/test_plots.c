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
#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "results/plots/plot.h"
#include "results/plots/usl.h"
#include "results/record/series.h"
#include "tests/test.h"

/* ---- the fit ---- */

static double law(double lambda, double sigma, double kappa, double n)
{
	return lambda * n / (1 + sigma * (n - 1) + kappa * n * (n - 1));
}

static bool is_near(double a, double b, double part)
{
	if (fabs(a - b) <= part * fabs(b))
		return true;
	print_error("%.9g is not near %.9g\n", a, b);
	return false;
}

static void fit_finds_the_parameters(void **state)
{
	static const double parameters[][3] = { { 1e6, 0.05, 0.001 },
						{ 12.5, 0.3, 0.0002 },
						{ 3e9, 0.02, 0.1 } };

	(void)state;
	static const double sizes[] = { 1, 2, 3, 4, 8, 12, 16, 32 };

	for (size_t i = 0; i < SB_ARRAY_SIZE(parameters); i++) {
		const double *p = parameters[i];
		struct sb_usl_point point[8];
		struct sb_usl usl;

		for (int n = 0; n < 8; n++)
			point[n] =
				(struct sb_usl_point){ sizes[n], law(p[0], p[1], p[2], sizes[n]) };
		CHECK_EQ(sb_usl_fit(&usl, point, 8), 0);
		for (int k = 0; k < 3; k++)
			assert_true(is_near(usl.value[k], p[k], 1e-6));
		assert_true(is_near(sb_usl_peak(&usl), fmax(1, sqrt((1 - p[1]) / p[2])), 1e-5));
		assert_true(is_near(sb_usl_at(&usl, 10), law(p[0], p[1], p[2], 10), 1e-6));
	}
}

/* Uniform in [-1, 1), by xorshift. */
static double noise(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (double)(*state >> 11) * 0x1p-52 - 1;
}

static double squares(const struct sb_usl *usl, const struct sb_usl_point *point, int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += pow(point[i].throughput - sb_usl_at(usl, point[i].workers), 2);
	return sum;
}

/* No neighbour is better. */
static bool is_least(const struct sb_usl *usl, const struct sb_usl_point *point, int n)
{
	for (int k = 0; k < SB_USL_PARAMETERS; k++) {
		for (int sign = -1; sign <= 1; sign += 2) {
			struct sb_usl other = *usl;

			other.value[k] *= 1 + 1e-4 * sign;
			if (squares(&other, point, n) < squares(usl, point, n))
				return false;
		}
	}
	return true;
}

enum { FITS = 400, SIZES = 6 };

/* Six points leave three degrees of freedom: by Student's distribution a
 * parameter is within twice its standard error 86 times of 100. */
static void standard_errors_are_as_large_as_errors(void **state)
{
	static const double sizes[SIZES] = { 1, 2, 4, 8, 16, 32 };
	static const double truth[SB_USL_PARAMETERS] = { 1000, 0.06, 0.002 };
	uint64_t seed = 88172645463325252;
	int within[SB_USL_PARAMETERS] = { 0 };
	double sum[SB_USL_PARAMETERS] = { 0 };

	(void)state;
	for (int f = 0; f < FITS; f++) {
		struct sb_usl_point point[SIZES];
		struct sb_usl usl;

		for (int i = 0; i < SIZES; i++)
			point[i] = (struct sb_usl_point){ sizes[i], law(truth[0], truth[1],
									truth[2], sizes[i]) +
									    60 * noise(&seed) };
		CHECK_EQ(sb_usl_fit(&usl, point, SIZES), 0);
		assert_true(is_least(&usl, point, SIZES));
		for (int k = 0; k < SB_USL_PARAMETERS; k++) {
			assert_true(usl.error[k] > 0);
			within[k] += fabs(usl.value[k] - truth[k]) < 2 * usl.error[k];
			sum[k] += usl.value[k];
		}
	}
	for (int k = 0; k < SB_USL_PARAMETERS; k++) {
		assert_true(is_near(sum[k] / FITS, truth[k], 0.03));
		assert_in_range(within[k], FITS * 81 / 100, FITS * 91 / 100);
	}
}

/* More than proportional, which the law has no parameters for. */
static void parameters_are_not_negative(void **state)
{
	struct sb_usl_point point[6];
	struct sb_usl usl;

	(void)state;
	for (int n = 1; n <= 6; n++)
		point[n - 1] = (struct sb_usl_point){ n, 100 * n * (1 + 0.05 * n) };
	CHECK_EQ(sb_usl_fit(&usl, point, 6), 0);
	assert_true(usl.value[SB_USL_SIGMA] == 0);
	assert_true(usl.value[SB_USL_KAPPA] == 0);
	assert_true(isnan(usl.error[SB_USL_SIGMA]));
	assert_true(usl.value[SB_USL_LAMBDA] > 100);
	assert_true(isinf(sb_usl_peak(&usl)));
	/* Contention alone: kappa stands at its bound, or near it. */
	for (int n = 1; n <= 6; n++)
		point[n - 1] = (struct sb_usl_point){ n, law(10, 0.2, 0, n) };
	CHECK_EQ(sb_usl_fit(&usl, point, 6), 0);
	assert_true(is_near(usl.value[SB_USL_SIGMA], 0.2, 1e-5));
	assert_true(usl.value[SB_USL_KAPPA] >= 0 && usl.value[SB_USL_KAPPA] < 1e-6);
}

static void too_few_points_are_refused(void **state)
{
	static const struct sb_usl_point three[] = {
		{ 1, 10 }, { 2, 19 }, { 4, 35 }, { 4, 36 }, { 2, 18 }
	};
	struct sb_usl usl;

	(void)state;
	CHECK_EQ(sb_usl_fit(&usl, three, 5), -EDOM);
	CHECK_EQ(sb_usl_fit(&usl, NULL, 0), -EDOM);
}

/* ---- results made up by hand ---- */

/* What a series is made from. */
struct recipe {
	const char *workload;
	uint32_t workers;
	uint32_t records;
	double ns_per_op;
	const char *name[2]; /* of settings */
	const char *text[2];
	double number[2];
	double offered;		   /* 0: it takes no requests */
	uint32_t suspect, invalid; /* that many of the records, the first */
};

static void fill_worker(struct sb_worker_reading *worker, uint32_t w, uint32_t n)
{
	worker->steals = calloc(n, sizeof(*worker->steals));
	worker->recorded = true;
	worker->read_ns = 1000000;
	for (uint32_t v = 0; v < n; v++) {
		if (v != w)
			worker->steals[v] =
				(struct sb_steal_counts){ 100 + w, 40 + v, 50 + 7 * w + v, 10, 50 };
	}
	worker->counter[SB_COUNTER_steps] = 100;
}

static void fill_hist(struct sb_hist_counts *hist, uint64_t first)
{
	for (uint64_t v = first; v < 1000 * first + 1000; v = v * 3 / 2 + 1) {
		hist->bucket[sb_hist_index(v)] += 1000000 / (v + 1) + 1;
		hist->count += 1000000 / (v + 1) + 1;
		hist->sum += v;
	}
}

static void fill_requests(struct sb_record *record, double offered)
{
	struct sb_requests *requests = calloc(1, sizeof(*requests));

	requests->hist = &record->hist[SB_RECORD_REQUEST];
	requests->is_open = true;
	fill_hist(&requests->hist[SB_REQUEST_sojourn], 900);
	requests->intended = requests->completed = requests->hist[SB_REQUEST_sojourn].count;
	requests->intended += 3; /* are lost */
	record->requests = requests;
	record->value[SB_METRIC_offered_per_s] = offered;
	record->value[SB_METRIC_sojourn_ns_p50] = 1000 + offered;
	record->value[SB_METRIC_sojourn_ns_p99] = 4000 + 5 * offered;
	record->value[SB_METRIC_sojourn_ns_p99_9] = 9000 + 50 * offered;
}

static void fill_record(struct sb_record *record, const struct recipe *recipe,
			const struct sb_placement *placement, uint32_t r)
{
	/* Each a little slower than the one before. */
	const double ns = recipe->ns_per_op * (1 + 0.02 * r);
	const struct sb_measured measured = {
		.rounds = 1,
		.operations = 1000000,
		.wall_ns = (uint64_t)(1e6 * ns),
		.elapsed_ns = (uint64_t)(1e6 * ns) + 1,
		.cpu_ns = (uint64_t)(1.5e6 * ns),
	};

	record->repetition = r;
	record->worker = calloc(recipe->workers, sizeof(*record->worker));
	record->hist = calloc(SB_RECORD_HISTS, sizeof(*record->hist));
	for (uint32_t w = 0; w < recipe->workers; w++)
		fill_worker(&record->worker[w], w, recipe->workers);
	fill_hist(&record->hist[SB_HIST_ready_to_running], r);
	fill_hist(&record->hist[SB_HIST_wake_to_running], 500);
	fill_hist(&record->hist[SB_HIST_spins_steal], 1);
	fill_hist(&record->hist[SB_HIST_spins_blocked], 16);
	sb_record_compute(record, &measured, placement);
	if (recipe->offered > 0)
		fill_requests(record, recipe->offered);
	CHECK_EQ(sb_record_pack(record), 0);
	if (r < recipe->suspect)
		sb_record_suspect(record, "a reason");
	else if (r < recipe->suspect + recipe->invalid)
		sb_record_invalidate(record, "another");
}

/* Two to a core, four to a cache, eight to a node. */
static void fill_places(struct sb_placement *placement, uint32_t workers)
{
	placement->workers = workers;
	placement->nodes = (workers + 7) / 8;
	placement->place = calloc(workers, sizeof(*placement->place));
	for (int w = 0; w < (int)workers; w++)
		placement->place[w] = (struct sb_place){ w, w, w / 2, w / 4, w / 8, 0 };
}

static void fill_series(struct sb_series *series, const struct recipe *recipe)
{
	series->workload = strdup(recipe->workload);
	series->operation = strdup("operation");
	series->label = strdup("");
	for (int s = 0; s < 2 && recipe->name[s]; s++) {
		const struct sb_setting setting = { (char *)(uintptr_t)recipe->name[s],
						    (char *)(uintptr_t)recipe->text[s],
						    recipe->number[s], true };

		CHECK_EQ(sb_series_add_setting(series, &setting), 0);
	}
	fill_places(&series->placement, recipe->workers);
	series->records = recipe->records;
	series->record = calloc(recipe->records, sizeof(*series->record));
	series->residence = calloc(recipe->workers, sizeof(*series->residence));
	for (uint32_t r = 0; r < recipe->records; r++)
		fill_record(&series->record[r], recipe, &series->placement, r);
}

static struct sb_result *make_result(const struct recipe *recipe, uint32_t n, const char *cpu)
{
	struct sb_result *result = calloc(1, sizeof(*result));

	result->directory = strdup("somewhere");
	result->series = calloc(n, sizeof(*result->series));
	result->all_series = n;
	for (uint32_t i = 0; i < n; i++)
		fill_series(&result->series[i], &recipe[i]);
	CHECK_EQ(sb_result_add_fact(result, "machine", "cpu_model", cpu), 0);
	CHECK_EQ(sb_result_add_fact(result, "machine", "cores", "8"), 0);
	CHECK_EQ(sb_result_add_fact(result, "run", "version", "9.8.7"), 0);
	CHECK_EQ(sb_result_add_fact(result, "run", "build_mode", "release"), 0);
	return result;
}

static void free_result(struct sb_result *result)
{
	sb_result_free(result);
	free(result);
}

/* One workload, with or without faults. */
static const struct recipe plain = { .workload = "plain",
				     .workers = 4,
				     .records = 5,
				     .ns_per_op = 100,
				     .suspect = 1,
				     .invalid = 1 };

/* ---- scripts ---- */

static char why[SB_PLOT_WHY_BYTES];

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

static uint32_t count(const char *text, const char *part)
{
	uint32_t n = 0;

	for (; (text = strstr(text, part)); text += strlen(part))
		n++;
	return n;
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
	CHECK_EQ(count(script, "0 105\nEOD"), 1); /* the median */
	CHECK_EQ(count(script, "pt 6 title 'suspect repetition'"), 2);
	CHECK_EQ(count(script, "pt 7 title 'repetition'"), 2);
	CHECK_EQ(count(script,
		       "3 of 5 repetitions valid, 1 suspect (hollow points), 1 invalid (left out)"),
		 2);
	CHECK_EQ(count(script, "'A CPU, 8 cores; 4 workers; sched-bench 9.8.7, release build; "),
		 2);
	CHECK_EQ(count(script, "set ylabel 'wall time per operation, ns'"), 2);
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

/* ---- sweeps ---- */

static struct sb_result *make_sweep(const char *threshold)
{
	static const char *const spins[] = { "0", "4", "64", "4096" };
	static const char *const batches[] = { "1", "16" };
	static const double slow[] = { 100, 130, 110, 140, 120, 150, 130, 160 };
	struct recipe recipe[8];

	for (int i = 0; i < 8; i++)
		recipe[i] = (struct recipe){
			.workload = "skynet",
			.workers = 2,
			.records = 3,
			.ns_per_op = slow[i],
			.name = { threshold, "batch" },
			.text = { spins[i / 2], batches[i % 2] },
			.number = { strtod(spins[i / 2], NULL), strtod(batches[i % 2], NULL) },
			.suspect = i == 3,
		};
	return make_result(recipe, 8, "A CPU");
}

static void sweeps_are_lines_over_a_setting(void **state)
{
	/* 0 is left of 4 by one power of two; a suspect one is hollow. */
	static const char *const parts[] = { "set xtics norotate ('0' 1, '4' 2, '64' 6, '4096' 12)",
					     "1 102 100 104 7\n2 112.2 110 114.4 7\n",
					     "1 132.6 130 135.2 9\n2 142.8 140 145.6 8\n",
					     "title 'batch=1'",
					     "title 'batch=16'",
					     "set xlabel 'spin-yield'",
					     "set ylabel 'wall time per operation, ns'",
					     NULL };
	static const char *const over_batch[] = { "title 'spin-yield=4096'", "set xlabel 'batch'",
						  NULL };
	static const char *const cells[] = { "0 0 102\n1 0 112.2\n", "1 1 \"143 ns *\"",
					     "set ylabel 'batch'", "*: a repetition", NULL };
	static const char *const panels[] = { "set ylabel 'from wake to running'",
					      "set ylabel 'CPU time per operation, ns'",
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
		const char *const panels[] = { "set ylabel 'CPU time", "'median, batch=16'",
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
	free_result(result);
}

static void load_is_a_curve_for_each_percentile(void **state)
{
	static const char *const parts[] = { "1000 2000 2000 2000 7\n5000 6000 6000 6000 7\n",
					     "title '99.9 %'", "set xlabel 'requests offered, k/s'",
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

/* ---- what is nasty ---- */

#define NASTY                                                                                      \
	"`touch spoilt` $(touch spoilt) 'x' \"y\" \\n \\ @z {a_b^c} <b>&amp; "                     \
	"%s %d\n\t\001\xef\xbf\xbf \xc3\xa9 %'; system(\"touch spoilt\") #\\"

enum { MANY = 50 };

/* More than 40 lines, 64 workers, labels of 200 characters; latencies of 0. */
static struct sb_result *make_nasty(void)
{
	static char text[MANY][400];
	struct recipe recipe[MANY];

	for (int i = 0; i < MANY; i++) {
		snprintf(text[i], sizeof(text[i]), "%s %0200d", NASTY, i);
		recipe[i] = (struct recipe){
			.workload = NASTY,
			.workers = i ? 2 + (uint32_t)i % 3 : 64,
			.records = 2,
			.ns_per_op = i == 1 ? 1e9 : 50 + i,
			.name = { NASTY, "n" },
			.text = { text[i], text[i] + 180 },
			.number = { NAN, i % 5 ? i : 0 },
			.offered = i % 2 ? 1 : 1e6,
			.suspect = i % 2,
		};
	}
	return make_result(recipe, MANY, NASTY " a long name " NASTY);
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
		assert_in_range(strlen(line), 0, 1200);
	free(script);
	free_result(result);
}

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
	assert_non_null(strstr(order.why, "8 pictures"));
	order.choice.series = "no such";
	CHECK_EQ(sb_plots_put(&order, SB_PLOT_SVG, out), -ENODATA);
	assert_non_null(strstr(order.why, "'no such'"));
	fclose(out);
	free(bytes);
	free_result(result);
}

static void kinds_are_described(void **state)
{
	(void)state;
	for (const struct sb_plot_kind *k = sb_plot_kinds; k->name; k++) {
		assert_ptr_equal(sb_plot_kind_find(k->name), k);
		assert_in_range(strlen(k->doc), 10, 100);
		assert_null(strchr(k->doc, '\n'));
	}
	assert_null(sb_plot_kind_find("all"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(fit_finds_the_parameters),
		cmocka_unit_test(standard_errors_are_as_large_as_errors),
		cmocka_unit_test(parameters_are_not_negative),
		cmocka_unit_test(too_few_points_are_refused),
		cmocka_unit_test(points_are_those_measured),
		cmocka_unit_test(nothing_is_drawn_of_nothing),
		cmocka_unit_test(sweeps_are_lines_over_a_setting),
		cmocka_unit_test(thresholds_are_those_of_spinning),
		cmocka_unit_test(what_has_no_such_setting_is_not_drawn),
		cmocka_unit_test(scaling_has_a_fit),
		cmocka_unit_test(load_is_a_curve_for_each_percentile),
		cmocka_unit_test(hostile_text_stays_text),
		cmocka_unit_test(gnuplot_takes_every_script),
		cmocka_unit_test(pictures_go_to_streams),
		cmocka_unit_test(kinds_are_described),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
