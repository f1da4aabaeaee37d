/*
 * Loads: intended times, what is made of them, and whether a row may be believed.
 *
 * Property: arrivals come at the asked rate and as their kind says, whatever the
 *   number of generators; Little's law is checked with an error that holds; lost
 *   requests are later than all others; schedules that were not kept show.
 * Method: a queue with one server is simulated with our own arrivals and times
 *   of service, without a clock, and compared with the theory of M/M/1 by batch
 *   means; made-up readings for the rest.
 * Bound: CUSTOMERS customers; deviations beyond 5 standard errors fail.
 */
#include "tests/workloads/load.h"

/* ---- intended times ---- */

/* How many arrivals all generators have before end_ns. */
static uint64_t count_until(const struct sb_load *load, double end_ns)
{
	uint64_t n = 0;

	for (uint32_t g = 0; g < load->generators; g++) {
		struct sb_arrivals a;
		double before = 0;
		double now;

		sb_arrivals_init(&a, load, g);
		while ((now = sb_arrivals_next(&a)) < end_ns) {
			assert_true(now >= before);
			before = now;
			n++;
		}
	}
	return n;
}

static void arrivals_have_their_rate(void **state)
{
	static const char *const kinds[] = { "poisson", "fixed", "bursty:3ms:7ms" };

	(void)state;
	for (size_t k = 0; k < SB_ARRAY_SIZE(kinds); k++) {
		for (uint32_t g = 1; g <= 7; g += 3) {
			const struct sb_load load = make_load(kinds[k], 100e3, g);
			const double n = (double)count_until(&load, 1e9);

			if (fabs(n - 100e3) > Z_MAX * sqrt(100e3))
				fail_msg("%s, %u generators: %.0f a second", kinds[k], g, n);
		}
	}
}

static void fixed_ones_are_equally_spaced(void **state)
{
	const struct sb_load load = make_load("fixed", 1e6, 4);

	(void)state;
	for (uint32_t g = 0; g < 4; g++) {
		struct sb_arrivals a;

		sb_arrivals_init(&a, &load, g);
		for (int i = 0; i < 1000; i++)
			assert_true(fabs(sb_arrivals_next(&a) - (g + 4.0 * i) * 1000) < 1e-3);
	}
}

/* Of gaps that are exponential, the distribution function is uniform. */
static void poisson_gaps_are_exponential(void **state)
{
	enum { CELLS = 20, GAPS = 100000 };
	const struct sb_load load = make_load("poisson", 50e3, 1);
	uint32_t cell[CELLS] = { 0 };
	struct sb_arrivals a;
	double before = 0;
	double chi = 0;

	(void)state;
	sb_arrivals_init(&a, &load, 0);
	for (int i = 0; i < GAPS; i++) {
		const double now = sb_arrivals_next(&a);

		cell[(int)(CELLS * -expm1((before - now) / 20e3))]++;
		before = now;
	}
	for (int c = 0; c < CELLS; c++)
		chi += pow(cell[c] - (double)GAPS / CELLS, 2) * CELLS / GAPS;
	/* 19 degrees of freedom: beyond 70 once in 10^7. */
	assert_true(chi < 70);
}

static void bursts_are_followed_by_silence(void **state)
{
	const struct sb_load load = make_load("bursty:3ms:7ms", 100e3, 2);
	struct sb_arrivals a;
	double now = 0;

	(void)state;
	sb_arrivals_init(&a, &load, 1);
	while (now < 1e9) {
		now = sb_arrivals_next(&a);
		assert_true(fmod(now, 10e6) < 3e6 + 1);
	}
}

static void a_trace_is_shared_out(void **state)
{
	char path[] = "/tmp/sb-trace-XXXXXX";
	const int fd = mkstemp(path);
	static const double times[] = { 1e3, 3e3, 8e3, 9e3, 11e3, 16e3, 17e3 };
	char arrival[64];

	(void)state;
	CHECK_EQ(write(fd, "1us\n2us\n5us\n", 12), 12);
	close(fd);
	snprintf(arrival, sizeof(arrival), "trace:%s", path);
	for (uint32_t g = 1; g <= 3; g++) {
		struct sb_load load = make_load(arrival, 0, g);
		struct sb_arrivals a[3];

		assert_true(fabs(load.rate_per_s - 375e3) < 1);
		for (uint32_t i = 0; i < g; i++)
			sb_arrivals_init(&a[i], &load, i);
		for (uint32_t i = 0; i < SB_ARRAY_SIZE(times); i++)
			assert_true(sb_arrivals_next(&a[i % g]) == times[i]);
		sb_load_fini(&load);
	}
	unlink(path);
}

static void what_is_no_arrival_is_refused(void **state)
{
	static const char *const wrong[] = { "",	   "uniform",	     "poisson:1",
					     "bursty",	   "bursty:1ms",     "bursty:0ms:1ms",
					     "bursty:1:1", "trace",	     "trace:/nonexistent",
					     "trace:/",	   "trace:/dev/zero" };
	char why[SB_WHY_BYTES];

	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(wrong); i++) {
		struct sb_load load = { .kind = SB_LOAD_OPEN };

		if (!sb_load_set_arrival(&load, wrong[i], why))
			fail_msg("'%s' was not refused", wrong[i]);
	}
}

/* ---- generators: what they submit, whatever time they have for it ---- */

#define GENERATORS 2

#define SEEN_MAX 4096
#define RELAX_NS 20000000

/* A system that now and then takes its time, and refuses some. */
struct slow {
	struct sb_generators *generators;
	uint32_t depth; /* closed: most under way, of one generator */
	uint64_t intended[GENERATORS][SEEN_MAX];
	uint64_t seen[GENERATORS];
	uint64_t refused[GENERATORS];
	_Atomic(uint32_t) under_way[GENERATORS];
	_Atomic(uint32_t) reached[GENERATORS];
	_Atomic(uint32_t) most;
	_Atomic(uint32_t) ended;
};

static int submit_slowly(void *arg, const struct sb_request *request)
{
	struct slow *slow = arg;
	const uint32_t g = request->generator;

	if (slow->seen[g] == SEEN_MAX)
		return -ENOMEM;
	slow->intended[g][slow->seen[g]++] = request->intended_ns;
	if (request->submitted_ns < request->intended_ns)
		return -EINVAL; /* too early; more are refused than should be */
	if (slow->seen[g] % 40 == 20)
		usleep(3000);
	if (slow->seen[g] % 10 == 5) {
		slow->refused[g]++;
		return -EAGAIN;
	}
	sb_generators_completed(slow->generators, g);
	return 0;
}

static void count_end(void *arg)
{
	sb_add_rlx(&((struct slow *)arg)->ended, 1);
}

static bool seen_enough(struct slow *slow)
{
	return sb_load_rlx(&slow->ended) ||
	       (sb_load_rlx(&slow->reached[0]) > 1 && sb_load_rlx(&slow->reached[1]) > 1);
}

static struct slow *run_slow(const struct sb_load *load, const struct sb_generator_ops *ops,
			     uint64_t relax_ns, uint64_t duration_ns)
{
	static struct slow slow;

	memset(&slow, 0, sizeof(slow));
	slow.depth = load->depth / GENERATORS;
	CHECK_EQ(sb_generators_create(&slow.generators, load, ops, &slow), 0);
	CHECK_EQ(sb_generators_start(slow.generators, relax_ns, duration_ns), 0);
	while (!seen_enough(&slow))
		sb_thread_yield();
	sb_generators_stop(slow.generators);
	CHECK_EQ(sb_load_rlx(&slow.ended), 1);
	return &slow;
}

/* A generator that is later than the whole round is long leaves some out. */
static uint64_t next_not_before(struct sb_arrivals *a, uint64_t start, uint64_t intended)
{
	uint64_t next;

	do {
		next = start + (uint64_t)sb_arrivals_next(a);
	} while (next < intended);
	return next;
}

/* Stalls do not move what comes after them: no omission is coordinated. */
static void intended_times_do_not_move(void **state)
{
	static const struct sb_generator_ops ops = { submit_slowly, count_end };
	const struct sb_load load = make_load("poisson", 10e3, GENERATORS);
	struct slow *slow = run_slow(&load, &ops, RELAX_NS, 40000000);
	const uint64_t from = sb_generators_window(slow->generators)->from_ns;
	const uint64_t start = from - RELAX_NS;
	static struct sb_hist_counts hist[SB_REQUEST_HISTS];
	struct sb_requests r = { .hist = hist };
	uint64_t all = 0;
	uint64_t refused = 0;

	(void)state;
	for (uint32_t g = 0; g < GENERATORS; g++) {
		struct sb_arrivals a;

		sb_arrivals_init(&a, &load, g);
		for (uint64_t i = 0; i < slow->seen[g]; i++) {
			CHECK_EQ(slow->intended[g][i],
				 next_not_before(&a, start, slow->intended[g][i]));
			all += slow->intended[g][i] >= from;
			refused += slow->intended[g][i] >= from && i % 10 == 4;
		}
		CHECK_EQ(slow->refused[g], (slow->seen[g] + 5) / 10);
	}
	/* Of the window alone. */
	sb_generators_read(slow->generators, &r);
	CHECK_EQ(r.intended, count_until(&load, 60e6) - count_until(&load, RELAX_NS));
	CHECK_EQ(r.hist[SB_REQUEST_lateness].count, all);
	CHECK_EQ(r.submitted, all - refused);
	CHECK_EQ(sb_generators_accepted(slow->generators),
		 slow->seen[0] + slow->seen[1] - slow->refused[0] - slow->refused[1]);
	sb_generators_destroy(slow->generators);
}

/* Completes all that is under way when the depth is reached, and only then. */
static int submit_up_to_depth(void *arg, const struct sb_request *request)
{
	struct slow *slow = arg;
	const uint32_t g = request->generator;
	const uint32_t now = sb_add_rlx(&slow->under_way[g], 1) + 1;

	if (now > slow->depth)
		sb_store_rlx(&slow->most, now);
	if (now < slow->depth)
		return 0;
	sb_store_rlx(&slow->under_way[g], 0);
	sb_add_rlx(&slow->reached[g], 1);
	for (uint32_t i = 0; i < now; i++)
		sb_generators_completed(slow->generators, g);
	return 0;
}

static void a_closed_loop_keeps_its_depth(void **state)
{
	static const struct sb_generator_ops ops = { submit_up_to_depth, count_end };
	const struct sb_load load = { .kind = SB_LOAD_CLOSED,
				      .depth = 7 * GENERATORS,
				      .generators = GENERATORS };
	const struct slow *slow = run_slow(&load, &ops, 0, 60000000000);

	(void)state;
	CHECK_EQ(sb_load_rlx(&slow->most), 0);
	/* With less depth it would not have been reached. */
	assert_true(slow->reached[0] > 1 && slow->reached[1] > 1);
	sb_generators_destroy(slow->generators);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arrivals_have_their_rate),
		cmocka_unit_test(fixed_ones_are_equally_spaced),
		cmocka_unit_test(poisson_gaps_are_exponential),
		cmocka_unit_test(bursts_are_followed_by_silence),
		cmocka_unit_test(a_trace_is_shared_out),
		cmocka_unit_test(what_is_no_arrival_is_refused),
		cmocka_unit_test(intended_times_do_not_move),
		cmocka_unit_test(a_closed_loop_keeps_its_depth),
	};

	return cmocka_run_group_tests_name("load", tests, NULL, NULL);
}
