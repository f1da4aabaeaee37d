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
#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "harness/run/load.h"
#include "harness/run/slo.h"
#include "harness/terminal/status.h"
#include "results/record/validity.h"
#include "tests/test.h"
#include "workloads/lib/service_set.h"
#include "workloads/load/generator.h"
#include "workloads/load/level.h"
#include "workloads/load/replay.h"

#define Z_MAX 5.0

static struct sb_load make_load(const char *arrival, double rate, uint32_t generators)
{
	struct sb_load load = { .kind = SB_LOAD_OPEN,
				.rate_per_s = rate,
				.generators = generators,
				.seed = sb_test_seed() };
	char why[SB_WHY_BYTES];

	if (sb_load_set_arrival(&load, arrival, why))
		fail_msg("%s: %s", arrival, why);
	return load;
}

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
#define SEEN_MAX   4096

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
			     uint64_t duration_ns)
{
	static struct slow slow;

	memset(&slow, 0, sizeof(slow));
	slow.depth = load->depth / GENERATORS;
	CHECK_EQ(sb_generators_create(&slow.generators, load, ops, &slow), 0);
	CHECK_EQ(sb_generators_start(slow.generators, duration_ns), 0);
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
	struct slow *slow = run_slow(&load, &ops, 60000000);
	const uint64_t start = sb_generators_start_ns(slow->generators);
	static struct sb_hist_counts hist[SB_REQUEST_HISTS];
	struct sb_requests r = { .hist = hist };
	uint64_t all = 0;

	(void)state;
	for (uint32_t g = 0; g < GENERATORS; g++) {
		struct sb_arrivals a;

		sb_arrivals_init(&a, &load, g);
		for (uint64_t i = 0; i < slow->seen[g]; i++)
			CHECK_EQ(slow->intended[g][i],
				 next_not_before(&a, start, slow->intended[g][i]));
		CHECK_EQ(slow->refused[g], (slow->seen[g] + 5) / 10);
		all += slow->seen[g];
	}
	sb_generators_read(slow->generators, &r);
	CHECK_EQ(r.intended, count_until(&load, 60e6));
	CHECK_EQ(r.hist[SB_REQUEST_lateness].count, all);
	CHECK_EQ(r.submitted, all - slow->refused[0] - slow->refused[1]);
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
	const struct slow *slow = run_slow(&load, &ops, 60000000000);

	(void)state;
	CHECK_EQ(sb_load_rlx(&slow->most), 0);
	/* With less depth it would not have been reached. */
	assert_true(slow->reached[0] > 1 && slow->reached[1] > 1);
	sb_generators_destroy(slow->generators);
}

/* ---- M/M/1 ---- */

#define CUSTOMERS 1000000
#define BATCHES	  200

static double arrival_ns[CUSTOMERS];
static double sojourn_ns[CUSTOMERS];

static void simulate_at(uint32_t servers, double rate_per_s, const char *service)
{
	const struct sb_load load = make_load("poisson", rate_per_s, 1);
	struct sb_distribution d;
	struct sb_arrivals a;
	struct sb_rng rng;
	char why[SB_WHY_BYTES];
	struct sb_servers s;

	CHECK_EQ(sb_distribution_init(&d, service, why), 0);
	CHECK_EQ(sb_servers_init(&s, servers), 0);
	sb_arrivals_init(&a, &load, 0);
	sb_rng_seed(&rng, ~sb_test_seed());
	for (int i = 0; i < CUSTOMERS; i++) {
		arrival_ns[i] = sb_arrivals_next(&a);
		sojourn_ns[i] =
			sb_servers_take(&s, arrival_ns[i], sb_distribution_sample(&d, &rng)) -
			arrival_ns[i];
	}
	sb_servers_fini(&s);
	sb_distribution_fini(&d);
}

static void simulate(double rate_per_s, const char *service)
{
	simulate_at(1, rate_per_s, service);
}

/* How many standard errors the mean of value is from expected, by the means of
 * batches, which hardly depend on each other. */
static double batch_z(double (*value)(double sojourn), double expected)
{
	const int size = CUSTOMERS / BATCHES;
	double sum = 0;
	double square = 0;
	double mean;

	for (int b = 0; b < BATCHES; b++) {
		double batch = 0;

		for (int i = 0; i < size; i++)
			batch += value(sojourn_ns[b * size + i]) / size;
		sum += batch;
		square += batch * batch;
	}
	mean = sum / BATCHES;
	return fabs(mean - expected) / sqrt((square / BATCHES - mean * mean) / (BATCHES - 1));
}

/* exp:50us at 70 %: 1 / (mu - lambda). */
#define MM1_RATE    14e3
#define MM1_MEAN_NS (1e9 / (20e3 - MM1_RATE))

static double itself(double sojourn)
{
	return sojourn;
}

static double beyond_p99(double sojourn)
{
	return sojourn > MM1_MEAN_NS * log(100);
}

static void mm1_is_as_in_theory(void **state)
{
	(void)state;
	simulate(MM1_RATE, "exp:50us");
	assert_true(batch_z(itself, MM1_MEAN_NS) < Z_MAX);
	assert_true(batch_z(beyond_p99, 0.01) < Z_MAX);
	/* Another load is another queue. */
	simulate(1.1 * MM1_RATE, "exp:50us");
	assert_true(batch_z(itself, MM1_MEAN_NS) > Z_MAX);
	assert_true(batch_z(beyond_p99, 0.01) > Z_MAX);
}

/* M/D/1 by Pollaczek and Khinchine: half of the wait. */
static void md1_is_as_in_theory(void **state)
{
	(void)state;
	simulate(MM1_RATE, "fixed:50us");
	assert_true(batch_z(itself, 50e3 + (MM1_MEAN_NS - 50e3) / 2) < Z_MAX);
}

/* M/M/c by Erlang's C formula: the chance that all c servers are busy. */
static void mmc_is_as_in_theory(void **state)
{
	(void)state;
	for (uint32_t c = 2; c <= 7; c += 5) {
		const double mu = 20e3;
		const double lambda = 0.7 * mu * c;
		const double a = lambda / mu;
		double blocked = 1; /* Erlang's B, by its recursion */
		double busy;

		for (uint32_t n = 1; n <= c; n++)
			blocked = a * blocked / (n + a * blocked);
		busy = blocked / (1 - a / c * (1 - blocked));
		simulate_at(c, lambda, "exp:50us");
		assert_true(batch_z(itself, 50e3 + 1e9 * busy / (c * mu - lambda)) < Z_MAX);
	}
}

/* ---- the same requests again ---- */

/* Asked for 10 us, and taken as much and 1 us for each before it. */
static void note(struct sb_replay *replay, uint32_t generator, uint64_t number,
		 uint64_t intended_us, uint64_t late_us)
{
	const struct sb_request request = { .intended_ns = 1000 * intended_us,
					    .submitted_ns = 1000 * (intended_us + late_us),
					    .number = number,
					    .generator = generator };

	sb_replay_submitted(replay, &request, 10000);
	sb_replay_served(replay, &request, 10000 + 1000 * number);
}

static struct sb_requests *work_out(struct sb_replay *replay, uint32_t servers, uint64_t requests)
{
	struct sb_requests *r = calloc(1, sizeof(*r));

	r->hist = calloc(SB_REQUEST_HISTS, sizeof(*r->hist));
	sb_replay_work_out(replay, servers, requests, r);
	return r;
}

static void free_requests(struct sb_requests *r)
{
	free(r->hist);
	free(r);
}

static void requests_of_all_generators_are_replayed(void **state)
{
	const struct sb_load load = make_load("poisson", 1e3, 2);
	struct sb_replay *replay;
	struct sb_requests *r;

	(void)state;
	CHECK_EQ(sb_replay_create(&replay, 2), 0);
	sb_replay_prepare(replay, &load, 1000000);
	/* Came at 100, 104, 105 and 200; submitted at 100, 107, 105, 202. One
	 * was refused, and gave its number to the next. */
	note(replay, 0, 0, 100, 0);
	note(replay, 0, 1, 103, 0);
	note(replay, 0, 1, 104, 3);
	note(replay, 1, 0, 105, 0);
	note(replay, 1, 1, 200, 2);
	r = work_out(replay, 1, 4);
	assert_false(r->not_replayed);
	/* Done at 110, 120, 130 and 210. */
	CHECK_EQ(r->hist[SB_REQUEST_ideal].count, 4);
	CHECK_EQ(r->hist[SB_REQUEST_ideal].sum, 1000 * (10 + 16 + 25 + 10));
	/* At 110; the third at 120, the second at 131; 213. */
	CHECK_EQ(r->hist[SB_REQUEST_replayed].count, 4);
	CHECK_EQ(r->hist[SB_REQUEST_replayed].sum, 1000 * (10 + 15 + 27 + 13));
	free_requests(r);
	/* Two servers: at 110, 114, 120, 210, and 110, 115, 121, 213. */
	r = work_out(replay, 2, 4);
	CHECK_EQ(r->hist[SB_REQUEST_ideal].sum, 1000 * (10 + 10 + 15 + 10));
	CHECK_EQ(r->hist[SB_REQUEST_replayed].sum, 1000 * (10 + 10 + 17 + 13));
	free_requests(r);
	/* Not these. */
	r = work_out(replay, 1, 5);
	assert_true(r->not_replayed);
	free_requests(r);
	sb_replay_destroy(replay);
}

static void more_than_expected_are_not_replayed(void **state)
{
	const struct sb_load load = make_load("poisson", 1e3, 1);
	const struct sb_load closed = { .kind = SB_LOAD_CLOSED, .generators = 1 };
	struct sb_replay *replay;
	struct sb_requests *r;
	uint64_t n;

	(void)state;
	CHECK_EQ(sb_replay_create(&replay, 1), 0);
	sb_replay_prepare(replay, &load, 1000000);
	for (n = 0; n < 100000; n++)
		note(replay, 0, n, 100 + n, 0);
	r = work_out(replay, 1, n);
	assert_true(r->not_replayed);
	CHECK_EQ(r->hist[SB_REQUEST_ideal].count, 0);
	free_requests(r);
	sb_replay_prepare(replay, &closed, 1000000);
	note(replay, 0, 0, 1, 0);
	r = work_out(replay, 1, 1);
	assert_true(r->not_replayed);
	free_requests(r);
	sb_replay_destroy(replay);
}

/* Looks at random moments of the simulated path, gap_ns apart on average, but
 * none during a stall of stall_ns in the middle. */
static struct sb_level look_at_path(double gap_ns, double stall_ns)
{
	const double end = arrival_ns[CUSTOMERS - 1];
	struct sb_level level = { .begun = false };
	struct sb_rng rng;
	double now = 0;
	int arrived = 0;
	int gone = 0;

	sb_rng_seed(&rng, sb_test_seed() + 1);
	sb_level_look(&level, 0, 0, 0);
	while (now < end) {
		now += gap_ns * sb_rng_exponential(&rng);
		if (now > end / 2 && now - end / 2 < stall_ns)
			now = end / 2 + stall_ns;
		while (arrived < CUSTOMERS && arrival_ns[arrived] <= now)
			arrived++;
		while (gone < arrived && arrival_ns[gone] + sojourn_ns[gone] <= now)
			gone++;
		sb_level_look(&level, (uint64_t)now, 0, arrived - gone);
	}
	return level;
}

static double expected_level(const struct sb_level *level)
{
	double sum = 0;

	for (int i = 0; i < CUSTOMERS; i++)
		sum += sojourn_ns[i];
	return sum / level->time;
}

static void littles_law_holds_within_its_error(void **state)
{
	static const struct {
		double gap_ns;
		double stall_ns;
	} looks[] = { { 5e5, 0 }, { 5e4, 0 }, { 5e5, 5e8 } };

	(void)state;
	simulate(MM1_RATE, "exp:50us");
	for (size_t i = 0; i < SB_ARRAY_SIZE(looks); i++) {
		const struct sb_level level = look_at_path(looks[i].gap_ns, looks[i].stall_ns);
		const double mean = sb_level_mean(&level);
		const double error = sb_level_error(&level);
		const double expected = expected_level(&level);

		if (fabs(mean - expected) > Z_MAX * error)
			fail_msg("%g, expected %g within %g", mean, expected, Z_MAX * error);
		/* A tenth of all residence forgotten is seen. */
		assert_true(looks[i].stall_ns > 0 || fabs(mean - 0.9 * expected) > 4 * error);
	}
}

static void a_level_is_an_area(void **state)
{
	struct sb_level level = { .begun = false };

	(void)state;
	assert_true(isnan(sb_level_mean(&level)));
	sb_level_look(&level, 100, 0, 2);
	sb_level_look(&level, 200, 0, 2);
	sb_level_look(&level, 600, 100, 4);
	assert_true(fabs(sb_level_mean(&level) - (200.0 + 1200) / 500) < 1e-12);
	assert_true(fabs(sb_level_unknown(&level) - 400.0 / 500) < 1e-12);
}

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
	sb_judge_requests(&record, r);
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
	static const char *const wrong[] = { "",     "p99",	"p99<",	     "p99<200",	 "p98<1us",
					     "<1us", "p99>1us", "p99 < 1us", "p99<=1us", "p9<1us" };
	struct sb_slo slo;

	(void)state;
	assert_true(sb_slo_parse("p99.9<200us", &slo));
	CHECK_EQ(slo.metric, SB_METRIC_sojourn_ns_p99_9);
	CHECK_EQ(slo.below_ns, 200000);
	for (size_t i = 0; i < SB_ARRAY_SIZE(wrong); i++) {
		if (sb_slo_parse(wrong[i], &slo))
			fail_msg("'%s' was not refused", wrong[i]);
	}
}

/* The sojourn of M/M/1: p99 < 1 ms up to 15.4 k/s. Every third row is invalid
 * and would mislead; every third is suspect, and counts. */
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

		record.verdict = (enum sb_verdict)((i + 2) % 3);
		record.value[SB_METRIC_sojourn_timed] = 1000;
		record.value[slo.metric] = i % 3 ? 1e9 * log(100) / (20e3 - rate) : 0;
		sb_search_take(&search, &slo, &record);
		assert_true(search.met_per_s < answer);
		assert_true(search.missed_per_s >= answer);
	}
	CHECK_EQ(search.steps, 30);
	CHECK_EQ(search.undecided, 10);
	CHECK_EQ(search.suspect, 10);
	assert_in_range(search.met_step, 1, 30);
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
		cmocka_unit_test(arrivals_have_their_rate),
		cmocka_unit_test(fixed_ones_are_equally_spaced),
		cmocka_unit_test(poisson_gaps_are_exponential),
		cmocka_unit_test(bursts_are_followed_by_silence),
		cmocka_unit_test(a_trace_is_shared_out),
		cmocka_unit_test(what_is_no_arrival_is_refused),
		cmocka_unit_test(intended_times_do_not_move),
		cmocka_unit_test(a_closed_loop_keeps_its_depth),
		cmocka_unit_test(mm1_is_as_in_theory),
		cmocka_unit_test(md1_is_as_in_theory),
		cmocka_unit_test(mmc_is_as_in_theory),
		cmocka_unit_test(requests_of_all_generators_are_replayed),
		cmocka_unit_test(more_than_expected_are_not_replayed),
		cmocka_unit_test(littles_law_holds_within_its_error),
		cmocka_unit_test(a_level_is_an_area),
		cmocka_unit_test(schedules_are_judged),
		cmocka_unit_test(littles_law_is_judged),
		cmocka_unit_test(lost_requests_are_the_latest),
		cmocka_unit_test(the_capacity_is_of_the_mean),
		cmocka_unit_test(objectives_are_strict),
		cmocka_unit_test(the_highest_rate_is_found),
		cmocka_unit_test(what_is_lost_meets_nothing),
		cmocka_unit_test(too_few_requests_decide_nothing),
		cmocka_unit_test(sets_show_their_work),
		cmocka_unit_test(a_chase_goes_everywhere),
		cmocka_unit_test(kinds_of_work_are_strict),
	};

	return cmocka_run_group_tests_name("load", tests, NULL, NULL);
}
