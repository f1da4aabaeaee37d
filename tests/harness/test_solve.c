/*
 * Costs from the times of work.
 *
 * Property: costs that times were made from are found, also if one time is far off; with times that deviate, no other costs
 *   that are not negative have a smaller sum of squares of the relative errors; a cost that would
 *   have to be negative is 0. The hold of a contended line is found from what additions take.
 * Method: random times, linear in random costs; the neighbours of what is found, in both
 *   directions of each cost.
 */
#include <math.h>

#include "harness/calibrate/solve.h"
#include "tests/test.h"

#define TIMES 12
#define TRIES 50

static double between(struct sb_rng *rng, double least, double most)
{
	return least + (most - least) * sb_rng_below(rng, 1000001) / 1e6;
}

/* deviation: the measured times differ by up to that part from what the costs make. */
static void make(struct sb_linear_time times[TIMES], struct sb_rng *rng,
		 const double ns[SB_UNKNOWNS], double deviation)
{
	for (int i = 0; i < TIMES; i++) {
		struct sb_linear_time *t = &times[i];

		t->real = t->without = between(rng, 1, 50);
		for (int u = 0; u < SB_UNKNOWNS; u++) {
			t->per[u] = between(rng, 0, 2);
			t->real += ns[u] * t->per[u];
		}
		t->real *= 1 + between(rng, -deviation, deviation);
	}
}

static double squares(const struct sb_linear_time times[TIMES], const double ns[SB_UNKNOWNS])
{
	double sum = 0;

	for (int i = 0; i < TIMES; i++)
		sum += sb_linear_error(&times[i], ns) * sb_linear_error(&times[i], ns);
	return sum;
}

static void costs_are_found(void **state)
{
	struct sb_rng rng;

	(void)state;
	sb_rng_seed(&rng, sb_test_seed());
	for (int k = 0; k < TRIES; k++) {
		struct sb_linear_time times[TIMES];
		double ns[SB_UNKNOWNS];
		double found[SB_UNKNOWNS];
		uint32_t n = TIMES;

		for (int u = 0; u < SB_UNKNOWNS; u++)
			ns[u] = between(&rng, 1, 100);
		make(times, &rng, ns, 0);
		CHECK_EQ(sb_solve(times, &n, found), 0);
		CHECK_EQ(n, TIMES);
		for (int u = 0; u < SB_UNKNOWNS; u++)
			assert_true(fabs(found[u] - ns[u]) < 0.01 * ns[u]);
	}
}

static void a_disturbed_time_does_not_count(void **state)
{
	const double ns[SB_UNKNOWNS] = { 10, 5, 8, 16, 10, 6 };
	struct sb_rng rng;
	uint32_t found_out = 0;

	(void)state;
	sb_rng_seed(&rng, sb_test_seed());
	for (int k = 0; k < TRIES; k++) {
		struct sb_linear_time times[2 * TIMES];
		double found[SB_UNKNOWNS];
		uint32_t n = 2 * TIMES;

		make(times, &rng, ns, 0);
		make(times + TIMES, &rng, ns, 0);
		times[3].real *= 2;
		CHECK_EQ(sb_solve(times, &n, found), 0);
		assert_uint_in_range(n, 2 * TIMES - 2 * TIMES / 4, 2 * TIMES);
		found_out += n < 2 * TIMES && fabs(found[3] - ns[3]) < 0.01 * ns[3];
	}
	assert_true(found_out > TRIES / 2);
}

static void nothing_fits_better(void **state)
{
	struct sb_rng rng;
	uint32_t zeros = 0;

	(void)state;
	sb_rng_seed(&rng, sb_test_seed());
	for (int k = 0; k < TRIES; k++) {
		struct sb_linear_time times[TIMES];
		double ns[SB_UNKNOWNS];
		uint32_t n = TIMES;
		double least;

		for (int u = 0; u < SB_UNKNOWNS; u++)
			ns[u] = between(&rng, 0, 10);
		make(times, &rng, ns, 0.1);
		CHECK_EQ(sb_solve(times, &n, ns), 0);
		CHECK_EQ(n, TIMES);
		least = squares(times, ns);
		for (int u = 0; u < SB_UNKNOWNS; u++) {
			const double found = ns[u];

			assert_true(found >= 0);
			zeros += found < 1e-3;
			ns[u] = found + 0.1;
			assert_true(squares(times, ns) > least - 1e-6);
			ns[u] = fmax(0, found - 0.1);
			assert_true(squares(times, ns) > least - 1e-6);
			ns[u] = found;
		}
	}
	/* Such are among them. */
	assert_true(zeros > 0);
}

/* Two CPUs of tests/virtual/test_contention.c, in virtual time: 44.8 additions a microsecond. */
static void a_hold_is_found(void **state)
{
	const double own = 4.7;

	(void)state;
	assert_true(fabs(sb_solve_hold(1000 / 44.8, 19.5, own) - 3.1) < 0.2);
	/* Too slow to tell, and too fast to be true. */
	assert_true(fabs(sb_solve_hold(1000, 19.5, own) - SB_HOLD_LEAST * own) < 1e-9);
	assert_true(sb_solve_hold(own, 100, own) < SB_HOLD_MOST * own * 1.02);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(costs_are_found),
		cmocka_unit_test(a_disturbed_time_does_not_count),
		cmocka_unit_test(nothing_fits_better),
		cmocka_unit_test(a_hold_is_found),
	};

	return cmocka_run_group_tests_name("solve", tests, NULL, NULL);
}
