/*
 * Costs from the times of work.
 *
 * Property: costs that times were made from are found; with times that deviate, no other costs
 *   that are not negative have a smaller sum of squares of the relative errors; a cost that would
 *   have to be negative is 0.
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

		for (int u = 0; u < SB_UNKNOWNS; u++)
			ns[u] = between(&rng, 1, 100);
		make(times, &rng, ns, 0);
		CHECK_EQ(sb_solve(times, TIMES, found), 0);
		for (int u = 0; u < SB_UNKNOWNS; u++)
			assert_true(fabs(found[u] - ns[u]) < 0.01 * ns[u]);
	}
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
		double least;

		for (int u = 0; u < SB_UNKNOWNS; u++)
			ns[u] = between(&rng, 0, 10);
		make(times, &rng, ns, 0.3);
		CHECK_EQ(sb_solve(times, TIMES, ns), 0);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(costs_are_found),
		cmocka_unit_test(nothing_fits_better),
	};

	return cmocka_run_group_tests_name("solve", tests, NULL, NULL);
}
