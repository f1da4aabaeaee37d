/*
 * Time series of repetitions, made by hand.
 *
 * Property: the points' counts add up to what was counted, to the last one, however many readings
 *   there were and whenever neighbours became one; a percentile is that of all that was
 *   timed in its interval; a drift and a burst in most repetitions are found, in words
 *   that name them, and noise is neither, nor is what most repetitions have not.
 * Method: random readings (seeded: SB_SEED), up to four times as many as there may be points;
 *   repetitions made up with a known shape, and some hundred of noise.
 */
#include <math.h>
#include <string.h>

#include "results/ledger/timeseries.h"
#include "results/record/series.h"
#include "tests/test.h"

#define INTERVAL UINT64_C(10000000)

static uint32_t below(uint32_t bound)
{
	static struct sb_rng rng;

	if (!rng.state)
		sb_rng_seed(&rng, sb_test_seed());
	return sb_rng_below(&rng, bound);
}

/* ---- points ---- */

struct made {
	struct sb_moment moment;
	struct sb_hist_counts hist;
	struct sb_points *points;
};

static void count_some(struct made *made)
{
	for (int c = 0; c < SB_POINT_COUNTS; c++)
		made->moment.count[c] += below(1000);
	for (int k = 0; k < SB_POINT_KERNELS; k++)
		made->moment.kernel[k] += below(1000);
	for (uint32_t i = below(40); i; i--) {
		const uint32_t bucket = below(SB_HIST_BUCKETS);

		made->hist.bucket[bucket]++;
		made->hist.count++;
	}
}

static struct made *begin(void)
{
	struct made *made = calloc(1, sizeof(*made));

	made->moment.at_ns = 1000;
	count_some(made);
	made->points = sb_points_new(INTERVAL);
	*sb_points_next_hist(made->points) = made->hist;
	sb_points_begin(made->points, &made->moment);
	return made;
}

static void read_on(struct made *made, uint64_t ns)
{
	made->moment.at_ns += ns;
	count_some(made);
	*sb_points_next_hist(made->points) = made->hist;
}

static void look(struct made *made)
{
	read_on(made, INTERVAL);
	for (int d = 0; d < SB_POINT_DEPTHS; d++)
		made->moment.depth[d] = 3;
	CHECK_EQ(sb_points_add(made->points, &made->moment), 0);
}

static struct sb_timeseries *end(struct made *made, uint64_t ns)
{
	struct sb_timeseries *t;

	read_on(made, ns);
	t = sb_points_end(made->points, &made->moment);
	assert_non_null(t);
	return t;
}

static void finish(struct made *made, struct sb_timeseries *t)
{
	sb_points_free(made->points);
	free(made);
	free(t);
}

static void points_add_up(void **state)
{
	(void)state;
	for (int round = 0; round < 30; round++) {
		struct made *made = begin();
		const struct made start = *made;
		const uint32_t looks = below(4 * SB_POINTS_MAX);
		struct sb_timeseries *t;
		uint64_t sum[SB_POINT_COUNTS] = { 0 };
		uint64_t timed = 0;
		double kernel = 0;

		for (uint32_t i = 0; i < looks; i++) {
			look(made);
			if (!below(200))
				CHECK_EQ(sb_points_merge(made->points), 0);
		}
		t = end(made, INTERVAL);
		assert_true(t->points && t->points < SB_POINTS_MAX + 1);
		for (uint32_t i = 0; i < t->points; i++) {
			assert_true(t->point[i].end_ns > sb_point_begin_ns(t, i));
			timed += t->point[i].timed;
			kernel += t->point[i].kernel[0];
			for (int c = 0; c < SB_POINT_COUNTS; c++)
				sum[c] += t->point[i].count[c];
		}
		for (int c = 0; c < SB_POINT_COUNTS; c++)
			CHECK_EQ(sum[c], made->moment.count[c] - start.moment.count[c]);
		CHECK_EQ(timed, made->hist.count - start.hist.count);
		assert_true(kernel == made->moment.kernel[0] - start.moment.kernel[0]);
		CHECK_EQ(t->point[t->points - 1].end_ns, (looks + 1) * INTERVAL);
		finish(made, t);
	}
}

static void merged_percentiles_are_of_all(void **state)
{
	struct made *made = begin();
	struct sb_hist_counts before = made->hist;
	struct sb_timeseries *t;

	(void)state;
	for (uint32_t i = 0; i < 100; i++)
		look(made);
	while (sb_points_interval_ns(made->points) < 128 * INTERVAL)
		CHECK_EQ(sb_points_merge(made->points), 0);
	t = end(made, INTERVAL);
	sb_hist_subtract(&made->hist, &before);
	CHECK_EQ(t->points, 1);
	CHECK_EQ(t->interval_ns, 128 * INTERVAL);
	assert_true(t->point[0].quantile[SB_POINT_p50_ns] ==
		    (double)sb_hist_quantile(&made->hist, 0.5));
	assert_true(t->point[0].quantile[SB_POINT_max_ns] == (double)sb_hist_max(&made->hist));
	assert_true(t->point[0].depth[SB_POINT_depth_own] == 3);
	finish(made, t);
}

/* Less than half an interval is no point of its own; nobody has looked at the depths at the end. */
static void the_last_point_is_not_short(void **state)
{
	for (int longer = 0; longer < 2; longer++) {
		struct made *made = begin();
		struct sb_timeseries *t;

		(void)state;
		look(made);
		look(made);
		t = end(made, longer ? INTERVAL / 2 : INTERVAL / 2 - 1);
		CHECK_EQ(t->points, longer ? 3 : 2);
		CHECK_EQ(isnan(t->point[t->points - 1].depth[0]) != 0, longer);
		finish(made, t);
	}
}

static void few_timed_have_no_percentile(void **state)
{
	struct made *made = begin();
	struct sb_timeseries *t;

	(void)state;
	memset(&made->hist, 0, sizeof(made->hist));
	*sb_points_next_hist(made->points) = made->hist;
	sb_points_begin(made->points, &made->moment);
	made->moment.at_ns += INTERVAL;
	made->hist.bucket[7] = made->hist.count = 999;
	*sb_points_next_hist(made->points) = made->hist;
	t = sb_points_end(made->points, &made->moment);
	CHECK_EQ(t->point[0].timed, 999);
	assert_true(t->point[0].quantile[SB_POINT_p90_ns] == 7);
	assert_true(isnan(t->point[0].quantile[SB_POINT_p99_ns]));
	finish(made, t);
}

/* ---- what is found ---- */

/* FEW: no default leaves fewer. */
enum { ROWS = 9, POINTS = 50, FEW = 8 };

struct shape {
	double drift;	 /* from the first point to the last, as a part of the first */
	double burst;	 /* times the median, for two points; 0: none */
	double noise;	 /* of each point */
	uint32_t rows;	 /* that have drift and burst */
	bool is_latency; /* p99 has that shape, not the throughput */
	bool has_pauses; /* three of ten points are 0 */
	double delay_ns; /* of the point after the first far one: a wait counts where it ends */
	uint32_t points; /* 0: POINTS */
	double other;	 /* the burst of the rows behind those; 0: none */
	uint32_t others; /* so many of them */
};

static uint32_t points_of(const struct shape *shape)
{
	return shape->points ? shape->points : POINTS;
}

static uint32_t first_far(const struct shape *shape)
{
	return shape->points ? shape->points / 2 : 31;
}

static double shaped(const struct shape *shape, uint32_t row, uint32_t i)
{
	const bool has = row < shape->rows;
	double value = 1e6 * (1 + shape->noise * ((double)below(2000) / 1000 - 1));

	if (has)
		value *= 1 + shape->drift * i / (points_of(shape) - 1);
	if (has && shape->burst > 0 &&
	    (i == first_far(shape) || (!shape->points && i == first_far(shape) + 1)))
		value *= shape->burst;
	if (!has && row < shape->rows + shape->others && (i == 31 || i == 32))
		value *= shape->other;
	return shape->has_pauses && i % 10 >= 7 ? 0 : value;
}

static void fill_point(struct sb_point *point, const struct shape *shape, uint32_t row, uint32_t i)
{
	const double value = shaped(shape, row, i);

	point->end_ns = (i + 1) * INTERVAL;
	point->kernel[SB_POINT_run_delay_ns] = i == first_far(shape) + 1 ? shape->delay_ns : 0;
	point->count[SB_POINT_steps] =
		(uint64_t)(1e-9 * (double)INTERVAL * (shape->is_latency ? 1e6 : value));
	for (int q = 0; q < SB_POINT_QUANTILES; q++)
		point->quantile[q] = shape->is_latency ? value : (double)NAN;
}

static enum sb_timeseries_found found(char text[SB_TIMESERIES_BYTES], const struct shape *shape)
{
	struct sb_record record[ROWS] = { 0 };
	struct sb_series series = { .record = record, .records = ROWS };
	enum sb_timeseries_found answer;

	for (uint32_t r = 0; r < ROWS; r++) {
		record[r].repetition = r;
		record[r].value[SB_METRIC_ns_per_op] = 100 + r;
		record[r].timeseries = sb_timeseries_new(points_of(shape));
		for (uint32_t i = 0; i < points_of(shape); i++)
			fill_point(&record[r].timeseries->point[i], shape, r, i);
	}
	CHECK_EQ(sb_timeseries_median(&series)->repetition, ROWS / 2);
	answer = sb_timeseries_find(text, &series);
	for (uint32_t r = 0; r < ROWS; r++)
		free(record[r].timeseries);
	return answer;
}

static const struct {
	struct shape shape;
	enum sb_timeseries_found found;
	const char *words;
} cases[] = {
	{ { 0, 0, 0.02, ROWS, false, false, 0, 0, 0, 0 },
	  SB_TIMESERIES_STEADY,
	  "throughput is steady" },
	{ { 0, 0, 0.3, ROWS, false, false, 0, 0, 0, 0 }, SB_TIMESERIES_STEADY, "does not drift" },
	{ { 0.5, 0, 0.02, ROWS, false, false, 0, 0, 0, 0 },
	  SB_TIMESERIES_DRIFT,
	  "throughput rises from 1.0" },
	{ { -0.5, 0, 0.02, 5, false, false, 0, 0, 0, 0 },
	  SB_TIMESERIES_DRIFT,
	  "in 5 of 9 repetitions" },
	{ { 0.5, 0, 0.02, 4, false, false, 0, 0, 0, 0 }, SB_TIMESERIES_STEADY, "throughput" },
	{ { 0.05, 0, 0, ROWS, false, false, 0, 0, 0, 0 },
	  SB_TIMESERIES_STEADY,
	  "throughput is steady" },
	{ { 0, 0.1, 0.02, ROWS, false, false, 0, 0, 0, 0 },
	  SB_TIMESERIES_BURST,
	  "throughput drops in 9 of 9" },
	{ { 0, 4, 0.02, 5, false, false, 0, 0, 0, 0 },
	  SB_TIMESERIES_BURST,
	  "throughput jumps in 5 of 9" },
	{ { 0, 4, 0.02, 1, false, false, 0, 0, 0, 0 },
	  SB_TIMESERIES_POINTS,
	  "ms of repetition 0 (median" },
	{ { 0, 0, 0.2, 0, false, true, 0, 0, 0, 0 },
	  SB_TIMESERIES_BURST,
	  "drops in 9 of 9 repetitions, to 0/s" },
	{ { 7, 0, 0.02, ROWS, true, false, 0, 0, 0, 0 },
	  SB_TIMESERIES_DRIFT,
	  "p99 of sojourn rises from" },
	{ { 0, 9, 0.02, ROWS, true, false, 0, 0, 0, 0 },
	  SB_TIMESERIES_BURST,
	  "p99 of sojourn jumps in 9" },
	{ { 0, 2, 0.02, ROWS, true, false, 0, 0, 0, 0 },
	  SB_TIMESERIES_STEADY,
	  "throughput is steady" },
	{ { 0, 0.1, 0, ROWS, false, false, 4.2e6, 0, 0, 0 },
	  SB_TIMESERIES_BURST,
	  ", run delay 4.20 ms)" },
	{ { 0, 9, 0, ROWS, true, false, 4.2e6, 0, 0, 0 },
	  SB_TIMESERIES_BURST,
	  ", run delay 4.20 ms)" },
	/* More throughput is not explained by less CPU, nor anything where none is counted. */
	{ { 0, 4, 0, ROWS, false, false, 4.2e6, 0, 0, 0 }, SB_TIMESERIES_BURST, "M/s)" },
	{ { 0, 0.1, 0, ROWS, false, false, (double)NAN, 0, 0, 0 }, SB_TIMESERIES_BURST, "M/s)" },
	{ { 0.5, 0, 0.01, ROWS, false, false, 0, FEW, 0, 0 },
	  SB_TIMESERIES_DRIFT,
	  "throughput rises from 1.0" },
	{ { 0, 0.1, 0.02, ROWS, false, false, 0, FEW, 0, 0 },
	  SB_TIMESERIES_BURST,
	  "throughput drops in 9 of 9" },
	{ { 0, 0, 0.02, ROWS, false, false, 0, FEW, 0, 0 }, SB_TIMESERIES_STEADY, "is steady" },
	/* Each direction has its own count, and its own furthest point. */
	{ { 0, 4, 0.02, 4, false, false, 0, 0, 0.1, 3 },
	  SB_TIMESERIES_POINTS,
	  "throughput is steady: " },
	{ { 0, 4, 0.02, 5, false, false, 0, 0, 0.1, 4 },
	  SB_TIMESERIES_BURST,
	  "throughput jumps in 5 of 9 repetitions, to 4" },
};

static void shapes_are_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(cases); i++) {
		char text[SB_TIMESERIES_BYTES];

		CHECK_EQ(found(text, &cases[i].shape), cases[i].found);
		if (!strstr(text, cases[i].words))
			fprintf(stderr, "# case %zu: %s\n", i, text);
		assert_non_null(strstr(text, cases[i].words));
	}
}

/* 1 % of single repetitions at most, and then of most of nine: never. A single point may be far:
 * of many repetitions' quartiles some are close by chance. */
static void noise_is_nothing(void **state)
{
	char text[SB_TIMESERIES_BYTES];

	(void)state;
	for (int i = 0; i < SB_SCALE(400); i++) {
		const struct shape shape = { .noise = 0.5, .points = i % 2 ? FEW : 0 };

		assert_uint_in_range(found(text, &shape), SB_TIMESERIES_STEADY,
				     SB_TIMESERIES_POINTS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(points_add_up),
		cmocka_unit_test(merged_percentiles_are_of_all),
		cmocka_unit_test(the_last_point_is_not_short),
		cmocka_unit_test(few_timed_have_no_percentile),
		cmocka_unit_test(shapes_are_named),
		cmocka_unit_test(noise_is_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
