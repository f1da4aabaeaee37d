/*
 * The clock: conversion of the counter's ticks, and the bounds of its rate.
 *
 * Property: a conversion is exact for any count; a rate that changes is seen.
 * Method: against arithmetic done in another way; with made-up points and rounds.
 */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <string.h>

#include "core/platform/clock_checks.h"
#include "core/scheduler.h"
#include "tests/test.h"

/* ---- conversion ---- */

/* a x b / 2^56, by columns of 32 bits. */
static uint64_t product_shifted(uint64_t a, uint64_t b)
{
	const uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX);
	const uint64_t mid1 = (a >> 32) * (b & UINT32_MAX) + (low >> 32);
	const uint64_t mid2 = (a & UINT32_MAX) * (b >> 32) + (mid1 & UINT32_MAX);
	const uint64_t high = (a >> 32) * (b >> 32) + (mid1 >> 32) + (mid2 >> 32);

	return high << 8 | (mid2 & UINT32_MAX) >> 24;
}

static void check_conversion(uint64_t start, uint64_t ticks, uint64_t mult)
{
	const struct sb_clock_scale scale = { start, 1000, mult };

	CHECK_EQ(sb_clock_convert(&scale, start + ticks), 1000 + product_shifted(ticks, mult));
}

static void conversion_is_exact(void **state)
{
	static const uint64_t edge[] = {
		0,
		1,
		2,
		UINT32_MAX - UINT64_C(1),
		UINT32_MAX,
		UINT64_C(1) << 32,
		(UINT64_C(1) << 56) - 1,
		UINT64_C(1) << 56,
		UINT64_C(1) << 63,
		UINT64_MAX - 1,
		UINT64_MAX,
	};
	const size_t edges = SB_ARRAY_SIZE(edge);
	struct sb_rng rng;

	(void)state;
	for (size_t i = 0; i < edges * edges * edges; i++)
		check_conversion(edge[i % edges], edge[i / edges % edges], edge[i / edges / edges]);
	sb_rng_seed(&rng, sb_test_seed());
	for (int i = 0; i < SB_SCALE(200000); i++) {
		const uint64_t mult = sb_rng_next(&rng) >> i % 40;
		const uint64_t ticks = sb_rng_next(&rng) >> i % 50;
		const struct sb_clock_scale scale = { 0, 0, mult };

		check_conversion(sb_rng_next(&rng), ticks, mult);
		if (ticks < UINT64_MAX >> 8 && mult >> 48 == 0)
			assert_true(sb_clock_convert(&scale, ticks) <=
				    sb_clock_convert(&scale, ticks + 1));
	}
}

/* Of ten years of ticks not more is lost than the header says. */
static void years_of_ticks_are_kept(void **state)
{
	static const uint64_t hz[] = { 19200000,   62500000,   1000000000,
				       2600000000, 2599999999, 5700000000 };

	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(hz); i++) {
		struct sb_clock_scale scale;

		assert_true(sb_clock_scale_make(&scale, (double)hz[i], 12345, 678));
		for (uint64_t years = 0; years <= 10; years++) {
			const uint64_t s = years * 366 * 86400 + 1;
			const uint64_t ns = sb_clock_convert(&scale, 12345 + s * hz[i]) - 678;
			const int64_t error = (int64_t)(ns - s * UINT64_C(1000000000));

			assert_uint_in_range(error + 200, 200 - 10 * years - 1, 200 + 10 * years);
		}
	}
}

static void slow_counters_are_refused(void **state)
{
	static const double wrong[] = { 0, -1, 1, 3.9e6, INFINITY, NAN };
	struct sb_clock_scale scale;

	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(wrong); i++)
		assert_false(sb_clock_scale_make(&scale, wrong[i], 0, 0));
	assert_true(sb_clock_scale_make(&scale, 4e6, 0, 0));
	CHECK_EQ(sb_clock_convert(&scale, 4000000), 1000000000);
}

/* ---- the rate ---- */

#define POINTS 16

/* Points 2 ms apart on a counter of `rate` ticks per ns, read within brackets of
 * random width; some are very wide. */
static void make_points(struct sb_clock_point *point, struct sb_rng *rng, double rate)
{
	for (uint64_t i = 0; i < POINTS; i++) {
		const uint64_t ns = i * 2000000;
		const uint64_t tick = UINT64_C(1) << 60 | (uint64_t)((double)ns * rate);
		const uint32_t width = i % 5 == 3 ? 1000000 : 100;

		point[i] = (struct sb_clock_point){
			.before = tick - sb_rng_below(rng, width),
			.after = tick + 1 + sb_rng_below(rng, width),
			.ns = 7 + ns,
		};
	}
}

static void the_rate_is_within_its_bounds(void **state)
{
	struct sb_clock_point point[POINTS];
	struct sb_clock_rate found;
	struct sb_rng rng;

	(void)state;
	sb_rng_seed(&rng, sb_test_seed());
	for (int i = 0; i < SB_SCALE(2000); i++) {
		const double rate = 0.02 + 5.0 * sb_rng_below(&rng, 1000000) / 1e6;

		make_points(point, &rng, rate);
		found = sb_clock_rate_of(point, POINTS);
		assert_true(found.min <= rate && rate <= found.max);
		/* Two brackets in 28 ms, whatever the wide ones are. */
		assert_true(found.max - found.min <= 1.5e-5 + rate * 1e-6);
	}
}

static void a_rate_that_changes_is_seen(void **state)
{
	struct sb_clock_point point[POINTS];
	struct sb_clock_rate found;
	struct sb_rng rng;

	(void)state;
	sb_rng_seed(&rng, sb_test_seed());
	make_points(point, &rng, 2.6);
	for (uint64_t i = POINTS / 2; i < POINTS; i++)
		point[i].ns += (i - POINTS / 2) * 2000; /* 0.1 % slower */
	found = sb_clock_rate_of(point, POINTS);
	assert_true(found.min > found.max);
	make_points(point, &rng, 2.6);
	point[POINTS - 1].before = 1; /* it began anew */
	point[POINTS - 1].after = 2;
	found = sb_clock_rate_of(point, POINTS);
	assert_true(found.min > found.max || found.max <= 0);
}

/* ---- offsets ---- */

/* A counter that is `ahead`, over rounds with random delays. */
static struct sb_clock_offset rounds_with(int64_t ahead, uint64_t quickest)
{
	struct sb_clock_offset offset = { .rounds = 0 };
	uint64_t now = UINT64_MAX - 1000; /* and round the corner */
	struct sb_rng rng;

	sb_rng_seed(&rng, sb_test_seed());
	for (int i = 0; i < 1000; i++) {
		const uint64_t there = now + quickest + sb_rng_below(&rng, 1000);
		const uint64_t back = there + quickest + sb_rng_below(&rng, 1000);

		sb_clock_offset_add(&offset, now, there + (uint64_t)ahead, back);
		now = back + sb_rng_below(&rng, 100);
	}
	return offset;
}

static void offsets_are_within_their_bounds(void **state)
{
	(void)state;
	for (int64_t ahead = -3000; ahead <= 3000; ahead += 100) {
		const struct sb_clock_offset o = rounds_with(ahead, 200);

		CHECK_EQ(o.rounds, 1000);
		assert_true(o.low <= ahead && ahead <= o.high);
		assert_true(o.high - o.low < 2 * (200 + 1000));
		/* A reading went back if and only if that shows here. */
		if (ahead > 1300 || ahead < -1300)
			assert_false(sb_clock_offset_agrees(&o));
		if (ahead > -200 && ahead < 200)
			assert_true(sb_clock_offset_agrees(&o));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conversion_is_exact),
		cmocka_unit_test(years_of_ticks_are_kept),
		cmocka_unit_test(slow_counters_are_refused),
		cmocka_unit_test(the_rate_is_within_its_bounds),
		cmocka_unit_test(a_rate_that_changes_is_seen),
		cmocka_unit_test(offsets_are_within_their_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
