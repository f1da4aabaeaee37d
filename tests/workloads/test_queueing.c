/*
 * test_queueing.c - generators and servers against queueing theory (M/M/1, M/D/1, M/M/c), and the replay.
 */
#include "tests/queueing.h"
#include "tests/workloads/load.h"
#include "workloads/load/steady.h"

/* ---- M/M/1 ---- */

#define CUSTOMERS 1000000

#define BATCHES 200

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
#define MM1_RATE 14e3

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

static void md1_is_as_in_theory(void **state)
{
	(void)state;
	simulate(MM1_RATE, "fixed:50us");
	assert_true(batch_z(itself, 50e3 * queueing_one_server(0.7, 0)) < Z_MAX);
}

static void mmc_is_as_in_theory(void **state)
{
	(void)state;
	for (uint32_t c = 2; c <= 7; c += 5) {
		const double mu = 20e3;
		const double lambda = 0.7 * mu * c;
		const double busy = queueing_all_busy(c, 0.7);

		simulate_at(c, lambda, "exp:50us");
		assert_true(batch_z(itself, 50e3 + 1e9 * busy / (c * mu - lambda)) < Z_MAX);
	}
}

/* ---- how long it takes ---- */

/* The standard error of the mean, by the means of batches, as a part of it. */
static double relative_error(void)
{
	const int size = CUSTOMERS / BATCHES;
	double sum = 0;
	double square = 0;

	for (int b = 0; b < BATCHES; b++) {
		double batch = 0;

		for (int i = 0; i < size; i++)
			batch += sojourn_ns[b * size + i] / size;
		sum += batch;
		square += batch * batch;
	}
	return sqrt((square * BATCHES / (sum * sum) - 1) / (BATCHES - 1));
}

/* Planned for the interval that came out, a run would have been as long as this one, by half or twice. */
static void the_length_of_a_run_is_planned(void **state)
{
	static const struct {
		const char *service;
		double scv;
		uint32_t servers;
		double load;
	} queues[] = {
		{ "exp:50us", 1, 1, 0.5 },   { "exp:50us", 1, 1, 0.8 },
		{ "fixed:50us", 0, 1, 0.8 }, { "bimodal:0.9:25us:275us", 2.25, 1, 0.8 },
		{ "exp:50us", 1, 4, 0.8 },   { "exp:50us", 1, 16, 0.8 },
	};

	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(queues); i++) {
		const double servers = queues[i].servers;
		const double rate = 20e3 * servers * queues[i].load;
		const struct sb_queue queue = { queues[i].load, servers, 50e3, 1, queues[i].scv };
		double planned;

		simulate_at(queues[i].servers, rate, queues[i].service);
		planned = sb_queue_mean_ns(&queue, 1.96 * relative_error()) * rate / 1e9;
		fprintf(stderr, "# %s %g: %g\n", queues[i].service, servers, planned);
		if (!(planned > CUSTOMERS / 2.0 && planned < 2.0 * CUSTOMERS))
			fail_msg("%s, %g servers: %g requests, expected about %d",
				 queues[i].service, servers, planned, CUSTOMERS);
	}
}

static void a_queue_relaxes(void **state)
{
	struct sb_queue queue = { 0.9, 1, 100e3, 1, 1 };
	const double cohen = 100e3 / ((1 - sqrt(0.9)) * (1 - sqrt(0.9)));

	(void)state;
	assert_true(fabs(sb_queue_relaxation_ns(&queue) / cohen - 1) < 0.1);
	/* Many servers at a low load have but what is being served to forget. */
	queue.servers = 1000;
	queue.load = 0.1;
	assert_true(fabs(sb_queue_relaxation_ns(&queue) / 100e3 - 1) < 0.1);
	queue.load = 1;
	assert_true(isinf(sb_queue_relaxation_ns(&queue)) && isinf(sb_queue_mean_ns(&queue, 0.05)));
	queue.load = 0.5;
	queue.service_scv = INFINITY;
	assert_true(isinf(sb_queue_mean_ns(&queue, 0.05)));
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
	sb_replay_work_out(replay, servers, requests, 0, r);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mm1_is_as_in_theory),
		cmocka_unit_test(md1_is_as_in_theory),
		cmocka_unit_test(mmc_is_as_in_theory),
		cmocka_unit_test(the_length_of_a_run_is_planned),
		cmocka_unit_test(a_queue_relaxes),
		cmocka_unit_test(requests_of_all_generators_are_replayed),
		cmocka_unit_test(more_than_expected_are_not_replayed),
		cmocka_unit_test(littles_law_holds_within_its_error),
		cmocka_unit_test(a_level_is_an_area),
	};

	return cmocka_run_group_tests_name("load", tests, NULL, NULL);
}
