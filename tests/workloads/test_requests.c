/*
 * test_requests.c - rows of requests are judged, the search for the highest rate, and working sets.
 */
#include "results/record/series.h"
#include "results/record/sums.h"
#include "results/record/validity.h"
#include "tests/workloads/load.h"

/* ---- rows ---- */

/* A second of 10 000 requests, of which so many are on time and completed. */
static struct sb_requests *make_requests(uint64_t on_time, uint64_t completed)
{
	static struct sb_hist_counts hist[SB_REQUEST_HISTS];
	static struct sb_requests r;

	memset(hist, 0, sizeof(hist));
	r = (struct sb_requests){ .hist = hist,
				  .is_open = true,
				  .intended = 10000,
				  .submitted = 10000,
				  .on_time = on_time,
				  .completed = completed,
				  .schedule_ns = 1000000000,
				  .sending_ns = 1000000000,
				  .wall_ns = 1000000000,
				  .observed_ns = 1e9,
				  .in_system = 2,
				  .in_system_error = 0.1,
				  .in_system_expected = 2.3 };
	r.hist[SB_REQUEST_sojourn].count = completed;
	r.hist[SB_REQUEST_sojourn].bucket[sb_hist_index(100)] = completed;
	r.hist[SB_REQUEST_sojourn].sum = 100 * completed;
	r.hist[SB_REQUEST_lateness].count = 10000;
	r.hist[SB_REQUEST_lateness].bucket[sb_hist_index(100000000)] = 10000;
	return &r;
}

static struct sb_record judge(const struct sb_requests *r)
{
	static struct sb_worker_reading worker;
	static struct sb_hist_counts hist[SB_RECORD_HISTS];
	static struct sb_steal_counts steals;
	const struct sb_measured measured = {
		.rounds = 1, .operations = 1, .wall_ns = 1, .elapsed_ns = 1, .requests = r
	};
	struct sb_record record = { .worker = &worker, .hist = hist };
	const struct sb_placement placement = { .workers = 1 };

	worker.steals = &steals;
	sb_record_compute(&record, &measured, &placement);
	sb_judge_requests(&record, r, &(struct sb_conditions){ .alone = true });
	return record;
}

static void schedules_are_judged(void **state)
{
	struct sb_requests *r = make_requests(9990, 10000);
	struct sb_record record = judge(r);

	(void)state;
	CHECK_EQ(record.verdict, SB_VALID);
	record = judge(make_requests(9989, 10000));
	CHECK_EQ(record.verdict, SB_SUSPECT);
	assert_non_null(strstr(record.reason, "kept 99.89 % of their schedule"));
	assert_non_null(strstr(record.reason, "the latest was 1"));
	record = judge(make_requests(9499, 10000));
	CHECK_EQ(record.verdict, SB_INVALID);
	r = make_requests(10000, 10000);
	r->sending_ns = 1060000000; /* in time, each, and yet too slow */
	CHECK_EQ(judge(r).verdict, SB_INVALID);
	r->is_open = false;
	CHECK_EQ(judge(r).verdict, SB_VALID);
}

static void littles_law_is_judged(void **state)
{
	struct sb_requests *r = make_requests(10000, 10000);
	struct sb_record record;

	(void)state;
	r->in_system_expected = 2.5;
	record = judge(r);
	CHECK_EQ(record.verdict, SB_SUSPECT);
	assert_non_null(strstr(record.reason, "Little's law"));
	r->in_system_unknown = 0.2; /* but some looks were late */
	CHECK_EQ(judge(r).verdict, SB_VALID);
	r->in_system_expected = NAN; /* something was lost */
	CHECK_EQ(judge(r).verdict, SB_VALID);
}

/* The thread that counts them has no CPU at random moments then. */
static void littles_law_needs_a_cpu(void **state)
{
	static const struct sb_conditions shares = { .alone = true, .shares = true };
	struct sb_requests *r = make_requests(10000, 9800);
	struct sb_record record = judge(r);

	(void)state;
	record.verdict = SB_VALID;
	record.reason[0] = '\0';
	r->in_system_expected = 2.5;
	sb_judge_requests(&record, r, &shares);
	assert_string_equal(record.reason, "200 requests were lost");
}

static void lost_requests_are_the_latest(void **state)
{
	const struct sb_record record = judge(make_requests(10000, 9800));

	(void)state;
	CHECK_EQ(record.verdict, SB_SUSPECT);
	assert_non_null(strstr(record.reason, "200 requests were lost"));
	CHECK_EQ(record.value[SB_METRIC_lost], 200);
	CHECK_EQ(record.value[SB_METRIC_sojourn_ns_p50], 100);
	CHECK_EQ(record.value[SB_METRIC_sojourn_ns_p90], 100);
	assert_true(isnan(record.value[SB_METRIC_sojourn_ns_p99]));
	assert_true(isnan(record.value[SB_METRIC_sojourn_ns_p99_9]));
	assert_true(isnan(record.value[SB_METRIC_sojourn_ns_mean]));
	assert_true(isnan(record.value[SB_METRIC_sojourn_ns_max]));
}

/* What a repetition of exp:100us needs on one worker with these words. */
static struct sb_steady steady(const char *repetitions, double load)
{
	static struct sb_options options;
	const char *const words[] = { "run", "--virtual", "--profile", "xeon-2s",
				      "-w",  "service",	  "-r",	       repetitions };
	char *copy[SB_ARRAY_SIZE(words)];
	struct sb_load open = make_load("poisson", load * 10e3, 1);
	struct sb_steady s;

	for (size_t i = 0; i < SB_ARRAY_SIZE(words); i++)
		copy[i] = (char *)(uintptr_t)words[i];
	CHECK_EQ(sb_options_parse(&options, (int)SB_ARRAY_SIZE(words), copy), 0);
	assert_true(options.value[SB_OPT_duration].alternative);
	s = sb_load_steady(&open, &options, 1, 10e3, 100e3, 1);
	sb_options_free(&options);
	return s;
}

static void a_repetition_is_as_long_as_its_queue_needs(void **state)
{
	struct sb_steady s = steady("3", 0.9);

	(void)state;
	assert_true(fabs(s.relaxation_ns - 40.1e6) < 1e3);
	assert_true(fabs((double)s.relax_ns - 120.3e6) < 1e3);
	assert_true((double)s.duration_ns > 50e9 && (double)s.duration_ns < 60e9);
	assert_true(fabs((double)s.duration_ns - s.needed_ns) < 2);
	/* All repetitions together last as long, but a single one, which is one of others'. */
	assert_true(fabs(steady("6", 0.9).needed_ns * 2 / s.needed_ns - 1) < 1e-9);
	assert_true(fabs(steady("1", 0.9).needed_ns * 25 / (9 * 3 * s.needed_ns) - 1) < 1e-9);
	/* No longer than about a minute. */
	s = steady("3", 0.99);
	assert_true((double)s.duration_ns < s.needed_ns / 2);
	assert_true(fabs((double)s.duration_ns * 9.9e3 / 1e9 * 3 / 8e6 - 1) < 1e-3);
	/* Nor for ever. */
	s = steady("3", 1.1);
	CHECK_EQ(s.duration_ns, 0);
	CHECK_EQ(s.relax_ns, 0);
	assert_true(s.load > 1);
}

/* In virtual time: 16 batches, each of 500 us and up to 8 % more or less, and the second half times
 * that. */
static struct sb_requests *make_batches(double second)
{
	static const int off[] = { 0, 8, -5, 3, -8, 6, 1, -5 };
	struct sb_requests *r = make_requests(10000, 10000);

	r->window_ns = 2000000000;
	r->in_window = 19000;
	r->relaxation_ns = r->window_ns / 100;
	for (uint32_t i = 0; i < SB_REQUEST_BATCHES; i++) {
		r->batch[i].requests = 625;
		r->batch[i].sojourn_ns =
			(uint64_t)(625 * 5e3 * (100 + off[i % 8]) * (i < 8 ? 1 : second));
	}
	return r;
}

static void a_row_that_is_not_stationary_is_suspect(void **state)
{
	struct sb_requests *r = make_batches(1);
	struct sb_record record = judge(r);

	(void)state;
	CHECK_EQ(record.verdict, SB_VALID);
	assert_true(fabs(record.value[SB_METRIC_sojourn_ns_mean_error] - 6796) < 50);
	/* Without the time in which the last ones were completed. */
	assert_true(fabs(record.value[SB_METRIC_offered_per_s] - 5000) < 1e-6);
	assert_true(fabs(record.value[SB_METRIC_achieved_per_s] - 9500) < 1e-6);
	CHECK_EQ(judge(make_batches(1.04)).verdict, SB_VALID);
	record = judge(make_batches(1.2));
	CHECK_EQ(record.verdict, SB_SUSPECT);
	assert_non_null(
		strstr(record.reason, "not stationary: the mean sojourn time changes by +20.0 %"));
	/* Shorter parts depend on each other, and say nothing. */
	r = make_batches(1.2);
	r->relaxation_ns = r->window_ns / 70;
	record = judge(r);
	CHECK_EQ(record.verdict, SB_VALID);
	assert_true(isnan(record.value[SB_METRIC_sojourn_ns_mean_error]));
	r->relaxation_ns = r->window_ns / 4;
	record = judge(r);
	CHECK_EQ(record.verdict, SB_SUSPECT);
	assert_non_null(strstr(record.reason, "expected --duration 2.50 s or more"));
}

/* Three repetitions of 1, 1.1 and 0.9 ms, each known within so much. */
static struct sb_series *make_means(double error)
{
	static struct sb_record record[3];
	static struct sb_series series;

	for (uint32_t r = 0; r < 3; r++) {
		record[r] = (struct sb_record){ .repetition = r };
		sb_record_clear_values(&record[r]);
		record[r].value[SB_METRIC_sojourn_ns_mean] = 1e6 + 1e5 * ((r + 1) % 3 - 1.0);
		record[r].value[SB_METRIC_sojourn_ns_mean_error] = error;
		record[r].value[SB_METRIC_wall_s] = 2;
	}
	series = (struct sb_series){ .records = 3, .record = record, .reality = SB_SIMULATED };
	return &series;
}

static void a_mean_is_known_within_an_interval(void **state)
{
	struct sb_series *series = make_means(1e4);
	/* 48 batches: their squares about the mean of all, and Student's 2.012 of 47 degrees. */
	const double squares = 16 * 2e10 + 3 * 16 * 15 * 1e8;
	const double reach = 2.012 * sqrt(squares / (48 * 47));
	struct sb_interval interval = sb_series_sojourn(series);

	(void)state;
	assert_true(fabs(interval.low - (1e6 - reach)) < 50);
	assert_true(fabs(interval.high - (1e6 + reach)) < 50);
	sb_judge_mean(series);
	CHECK_EQ(sb_series_count(series, SB_VALID), 3);
	/* By the repetitions alone: Student's 4.30 of two degrees. */
	series = make_means(NAN);
	interval = sb_series_sojourn(series);
	assert_true(fabs(interval.high - 1e6 - 4.3027 * 1e5 / sqrt(3)) < 50);
	sb_judge_mean(series);
	CHECK_EQ(sb_series_count(series, SB_SUSPECT), 3);
	assert_non_null(strstr(series->record[0].reason, "within 25 %"));
	assert_non_null(strstr(series->record[0].reason, "within 5 % about --duration 49"));
	series->reality = SB_NATIVE;
	assert_true(isnan(sb_series_sojourn(series).low));
}

/* Work for 30 us was drawn where 50 are the mean: 40 us a request on 2 workers
 * would have been 50. */
static void the_capacity_is_of_the_mean(void **state)
{
	const struct sb_requests r = {
		.completed = 1000, .wall_ns = 40000000, .asked_ns = 3e7, .asked_mean_ns = 5e4
	};

	(void)state;
	assert_true(fabs(sb_load_capacity(&r, 2) - 20e3) < 1e-6);
}

/* ---- the search for the highest rate ---- */

static void objectives_are_strict(void **state)
{
	static const char *const wrong[] = { "",     "p99",	"p99<",	    "p99<200", "p98<1us",
					     "<1us", "p99>1us", "p99<=1us", "p9<1us" };
	struct sb_slo slo;

	(void)state;
	assert_true(sb_slo_parse("p99.9 < 200 us", &slo));
	CHECK_EQ(slo.metric, SB_METRIC_sojourn_ns_p99_9);
	CHECK_EQ(slo.below_ns, 200000);
	for (size_t i = 0; i < SB_ARRAY_SIZE(wrong); i++) {
		if (sb_slo_parse(wrong[i], &slo))
			fail_msg("'%s' was not refused", wrong[i]);
	}
}

/* The sojourn of M/M/1: p99 < 1 ms up to 15.4 k/s. Every third row is invalid
 * and would mislead; every third is suspect, and counts, for it is a second try. */
static void the_highest_rate_is_found(void **state)
{
	const double answer = 20e3 - log(100) / 1e-3;
	struct sb_search search = { .missed_per_s = 20e3 };
	struct sb_record record = { .verdict = SB_VALID };
	struct sb_slo slo;

	(void)state;
	assert_true(sb_slo_parse("p99<1ms", &slo));
	for (int i = 0; i < 30; i++) {
		const double rate = sb_search_next(&search);

		record.verdict = i % 3 == 0 ? SB_INVALID : i % 3 == 1 ? SB_SUSPECT : SB_VALID;
		record.value[SB_METRIC_sojourn_timed] = 1000;
		record.value[slo.metric] = i % 3 ? 1e9 * log(100) / (20e3 - rate) : 0;
		sb_search_take(&search, &slo, &record);
		assert_true(search.met_per_s < answer);
		assert_true(search.missed_per_s >= answer);
	}
	CHECK_EQ(search.steps, 30);
	CHECK_EQ(search.undecided, 10);
	CHECK_EQ(search.suspect, 10);
	assert_uint_in_range(search.met_step, 1, 30);
	assert_true(search.missed_per_s - search.met_per_s < 0.1);
}

static void what_is_lost_meets_nothing(void **state)
{
	struct sb_record record = { .verdict = SB_VALID };
	struct sb_slo slo;

	(void)state;
	assert_true(sb_slo_parse("p99<1h", &slo));
	record.value[slo.metric] = NAN;
	assert_false(sb_slo_is_met(&slo, &record));
}

/* A percentile that is missing for want of requests is no miss. */
static void too_few_requests_decide_nothing(void **state)
{
	struct sb_search search = { .missed_per_s = 20e3 };
	struct sb_record record = { .verdict = SB_VALID };
	char line[SB_SLO_BYTES];
	struct sb_slo slo;

	(void)state;
	assert_true(sb_slo_parse("p99<1h", &slo));
	record.value[slo.metric] = NAN;
	record.value[SB_METRIC_sojourn_timed] = 999;
	sb_search_take(&search, &slo, &record);
	CHECK_EQ(search.undecided, 1);
	assert_false(search.missed_is_measured);
	sb_search_describe_step(line, 10e3, &slo, &record);
	assert_non_null(strstr(line, "not used: 999 requests are too few"));
	assert_non_null(strstr(line, "expected at least 1000"));
	record.value[SB_METRIC_lost] = 1;
	sb_search_take(&search, &slo, &record);
	CHECK_EQ(search.undecided, 1);
	assert_true(search.missed_is_measured);
}

/* A suspect miss is a second time's to decide; a rate that decides nothing is left for a lower
 * one; steps at low rates are longer. */
static void the_search_does_not_stall(void **state)
{
	struct sb_search search = { .missed_per_s = 20e3 };
	struct sb_record record = { .verdict = SB_SUSPECT };
	struct sb_slo slo;

	(void)state;
	assert_true(sb_slo_parse("p99<1us", &slo));
	record.value[SB_METRIC_sojourn_timed] = 1000;
	record.value[slo.metric] = 2000;
	sb_search_take(&search, &slo, &record);
	assert_true(sb_search_next(&search) == 10e3);
	sb_search_take(&search, &slo, &record);
	assert_true(search.missed_per_s == 10e3);
	record.verdict = SB_INVALID;
	sb_search_take(&search, &slo, &record);
	assert_true(sb_search_next(&search) == 5e3);
	sb_search_take(&search, &slo, &record);
	assert_true(sb_search_next(&search) == 2.5e3);
	CHECK_EQ(search.undecided, 3);
	/* 1000 requests take 0.4 s at that rate. */
	assert_uint_in_range(sb_search_duration(&search, &slo, 100000000), 400000000, 600000000);
	CHECK_EQ(sb_search_duration(&search, &slo, 1000000000), 1000000000);
	CHECK_EQ(sb_search_duration(&search, &slo, 1000000), 20000000);
}

/* One rate decides nothing, a lower one is met or missed, with that p99. */
static void says_of_a_lower_rate(double p99_ns, const char *expected)
{
	struct sb_search search = { .missed_per_s = 40e3 };
	struct sb_record record = { .verdict = SB_SUSPECT };
	struct sb_slo slo;
	char text[SB_SLO_BYTES];

	assert_true(sb_slo_parse("p99<1us", &slo));
	record.value[SB_METRIC_sojourn_timed] = 1000;
	record.value[SB_METRIC_offered_per_s] = 20e3;
	record.value[slo.metric] = 2000;
	sb_search_take(&search, &slo, &record);
	record.verdict = SB_VALID;
	record.value[SB_METRIC_offered_per_s] = 10e3;
	record.value[slo.metric] = p99_ns;
	sb_search_take(&search, &slo, &record);
	sb_search_describe(text, &search, "p99<1us");
	assert_non_null(strstr(text, expected));
}

static void the_answer_does_not_hide_undecided_rates(void **state)
{
	(void)state;
	says_of_a_lower_rate(500, "met up to 10.0 k/s, the highest rate that decided anything");
	says_of_a_lower_rate(1500, "missed at every rate that decided anything, down to 10.0 k/s");
}

/* ---- working sets ---- */

static void sets_show_their_work(void **state)
{
	static struct sb_set_line block[100];
	static const enum sb_set_kind kinds[] = { SB_SET_CHASE, SB_SET_STREAM };

	(void)state;
	for (size_t k = 0; k < SB_ARRAY_SIZE(kinds); k++) {
		struct sb_set set;

		sb_set_init(&set, kinds[k], block, sizeof(block));
		for (uint64_t units = 0; units < 500; units += 7) {
			sb_set_work(&set, units);
			assert_true(sb_set_is_right(&set));
		}
		set.done++; /* which was not */
		assert_false(sb_set_is_right(&set));
	}
}

/* A chase that comes back early touches less than it says. */
static void a_chase_goes_everywhere(void **state)
{
	static struct sb_set_line block[1000];
	struct sb_set set;

	(void)state;
	sb_set_init(&set, SB_SET_CHASE, block, sizeof(block));
	for (int i = 1; i < 1000; i++) {
		sb_set_work(&set, 1);
		assert_true(set.position != 0);
	}
	sb_set_work(&set, 1);
	CHECK_EQ(set.position, 0);
}

static void kinds_of_work_are_strict(void **state)
{
	enum sb_set_kind kind;
	uint64_t bytes;

	(void)state;
	assert_true(sb_set_parse("spin", &kind, &bytes));
	assert_true(sb_set_parse("chase:64KiB", &kind, &bytes));
	CHECK_EQ(kind, SB_SET_CHASE);
	CHECK_EQ(bytes, 65536);
	assert_false(sb_set_parse("chase", &kind, &bytes));
	assert_false(sb_set_parse("chase:63B", &kind, &bytes));
	assert_false(sb_set_parse("stream:64k", &kind, &bytes));
	assert_false(sb_set_parse("spin:1KiB", &kind, &bytes));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(schedules_are_judged),
		cmocka_unit_test(littles_law_is_judged),
		cmocka_unit_test(littles_law_needs_a_cpu),
		cmocka_unit_test(lost_requests_are_the_latest),
		cmocka_unit_test(a_repetition_is_as_long_as_its_queue_needs),
		cmocka_unit_test(a_row_that_is_not_stationary_is_suspect),
		cmocka_unit_test(a_mean_is_known_within_an_interval),
		cmocka_unit_test(the_capacity_is_of_the_mean),
		cmocka_unit_test(objectives_are_strict),
		cmocka_unit_test(the_highest_rate_is_found),
		cmocka_unit_test(what_is_lost_meets_nothing),
		cmocka_unit_test(too_few_requests_decide_nothing),
		cmocka_unit_test(the_search_does_not_stall),
		cmocka_unit_test(the_answer_does_not_hide_undecided_rates),
		cmocka_unit_test(sets_show_their_work),
		cmocka_unit_test(a_chase_goes_everywhere),
		cmocka_unit_test(kinds_of_work_are_strict),
	};

	return cmocka_run_group_tests_name("load", tests, NULL, NULL);
}
