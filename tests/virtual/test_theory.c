/*
 * The scheduler in virtual time against queueing theory, costs about zero.
 *
 * Property: the mean sojourn time of an open loop of Poisson arrivals is what the theory of its
 *   queue says, within the run's own interval of 99.9 % and, at loads up to 0.7, within
 *   2 %; for M/M/1 so is the 99th percentile, within 4 %.
 * Method: a thread submits requests when they are due, a request passes its service time in
 *   one step. The seed is 1 unless SB_SEED is set; SB_REQUESTS of each queue. Theory:
 *   Kleinrock, Queueing Systems, vol. 1, sections 3.2, 3.5 and 5.6.
 */
#include <math.h>
#include <string.h>

#include "core/scheduler.h"
#include "tests/queueing.h"
#include "tests/test.h"
#include "workloads/load/distribution.h"

#define PS_PER_NS   1000
#define REQUESTS    400000
#define FIRST	    10000 /* before that the queue is not yet what it will be */
#define BATCHES	    50
#define WORKERS_MAX 4

/* Student's t of 49 degrees of freedom: intervals of 95 and of 99.9 %. */
#define T_95  2.01
#define T_999 3.50

/* ---- a run ---- */

struct request {
	struct queue *queue;
	uint64_t due_ps;
	uint64_t service_ps;
};

struct queue {
	uint32_t workers;
	double load;
	struct sb_distribution service;
	struct sb_rng rng;
	uint32_t requests;
	uint32_t ended;
	double *sojourn; /* of each request, in mean service times, as they end */
};

static int init(void *state, const char *method, union sb_value input)
{
	(void)method;
	*(struct request *)state = *(const struct request *)input.ptr;
	return 0;
}

static int serve(void *state, struct sb_step *step, const struct sb_event *events, uint32_t count)
{
	const struct request *r = state;

	(void)step;
	(void)events;
	(void)count;
	sb_virtual_charge(r->service_ps);
	r->queue->sojourn[r->queue->ended++] =
		(double)(sb_virtual_now_ps() - r->due_ps) / PS_PER_NS / r->queue->service.mean_ns;
	return SB_DONE;
}

static const struct sb_process_ops ops = {
	.name = "request",
	.state_bytes = sizeof(struct request),
	.init = init,
	.step = serve,
};

static void submit_all(struct queue *q, struct sb_scheduler *s)
{
	const double gap_ps = PS_PER_NS * q->service.mean_ns / (q->load * q->workers);
	struct request r = { .queue = q, .due_ps = sb_virtual_now_ps() };

	for (uint32_t i = 0; i < q->requests; i++) {
		r.due_ps += (uint64_t)(gap_ps * sb_rng_exponential(&q->rng));
		r.service_ps = (uint64_t)(PS_PER_NS * sb_distribution_sample(&q->service, &q->rng));
		sb_virtual_wait(NULL, r.due_ps);
		CHECK_EQ(sb_scheduler_submit(s, &ops, "main", sb_value_ptr(&r), NULL), 0);
	}
}

/* No worker keeps work that another could do. */
static void *run(void *arg)
{
	struct queue *q = arg;
	struct sb_place place[WORKERS_MAX];
	const struct sb_placement placement = { .workers = q->workers, .place = place };
	struct sb_config config = SB_CONFIG_DEFAULT;
	struct sb_scheduler *s;

	config.batch = 0;
	config.gather = false;
	config.spin_ns = 0;
	config.record = false;
	for (uint32_t i = 0; i < q->workers; i++)
		place[i] = (struct sb_place){ (int)i, (int)i, (int)i, 0, 0, 0 };
	CHECK_EQ(sb_scheduler_create(&s, &config, &placement), 0);
	CHECK_EQ(sb_scheduler_start(s, NULL), 0);
	submit_all(q, s);
	CHECK_EQ(sb_scheduler_wait_idle(s, UINT64_MAX), 0);
	CHECK_EQ(sb_scheduler_stop(s, UINT64_MAX), 0);
	sb_scheduler_destroy(s);
	return NULL;
}

/* Not zero: a thread that waits for another in a loop has to come to an end of its turn. */
static struct sb_model without_costs(uint32_t cpus)
{
	struct sb_model model = sb_model_plain(cpus);

	memset(&model.cost, 0, sizeof(model.cost));
	memset(model.transfer_ps, 0, sizeof(model.transfer_ps));
	model.cost.hit_ps = 1;
	model.cost.pause_ps = model.cost.yield_ps = 50000;
	return model;
}

/* ---- what came of it ---- */

struct estimate {
	double mean;
	double error; /* its standard error, by batch means */
	double p99;
};

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a;
	const double y = *(const double *)b;

	return (x > y) - (x < y);
}

static double mean_of(const double *value, int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += value[i];
	return sum / n;
}

static struct estimate estimate(double *sojourn, int n)
{
	struct estimate e = { .mean = mean_of(sojourn, n) };
	double squares = 0;

	for (int i = 0; i < BATCHES; i++) {
		const double mean = mean_of(sojourn + i * (n / BATCHES), n / BATCHES);

		squares += (mean - e.mean) * (mean - e.mean);
	}
	e.error = sqrt(squares / (BATCHES - 1) / BATCHES);
	qsort(sojourn, (size_t)n, sizeof(*sojourn), compare);
	e.p99 = sojourn[n / 100 * 99];
	return e;
}

static uint64_t setting(const char *name, uint64_t otherwise)
{
	const char *given = getenv(name);

	return given ? strtoull(given, NULL, 0) : otherwise;
}

/* The scheduler as that queue, against the theory of its mean. */
static struct estimate measure(uint32_t workers, double load, const char *service,
			       double (*theory)(uint32_t workers, double load, double scv))
{
	const struct sb_model model = without_costs(workers + 1);
	const struct sb_virtual_setup setup = {
		.model = &model,
		.seed = setting("SB_SEED", 1),
	};
	struct queue q = { .workers = workers, .load = load };
	struct sb_virtual_counts counts;
	struct estimate e;
	char why[SB_WHY_BYTES];
	double expected;

	CHECK_EQ(sb_distribution_init(&q.service, service, why), 0);
	q.requests = (uint32_t)setting("SB_REQUESTS", REQUESTS);
	q.sojourn = calloc(q.requests, sizeof(*q.sojourn));
	assert_non_null(q.sojourn);
	sb_rng_seed(&q.rng, setup.seed);
	CHECK_EQ(sb_virtual_run(&setup, run, &q, &counts), 0);
	CHECK_EQ(q.ended, q.requests);
	e = estimate(q.sojourn + FIRST, (int)q.requests - FIRST);
	expected = theory(workers, load, q.service.scv);
	sb_distribution_fini(&q.service);
	free(q.sojourn);
	fprintf(stderr, "# %u workers at %.2f, %s: mean %.4f +- %.4f, theory %.4f (%+.2f %%)\n",
		workers, load, service, e.mean, T_95 * e.error, expected,
		100 * (e.mean / expected - 1));
	assert_true(fabs(e.mean - expected) < T_999 * e.error);
	assert_true(load > 0.8 || fabs(e.mean / expected - 1) < 0.02);
	return e;
}

/* ---- theory: mean sojourn times, in mean service times ---- */

static double one_server(uint32_t workers, double load, double scv)
{
	CHECK_EQ(workers, 1);
	return queueing_one_server(load, scv);
}

static double exponential_servers(uint32_t workers, double load, double scv)
{
	assert_true(fabs(scv - 1) < 1e-9);
	return 1 + queueing_all_busy(workers, load) / (workers * (1 - load));
}

static void one_worker_exponential(void **state)
{
	const double load[] = { 0.5, 0.7, 0.9 };

	(void)state;
	for (int i = 0; i < 3; i++) {
		const double p99 = log(100) / (1 - load[i]);
		const struct estimate e = measure(1, load[i], "exp:100us", one_server);

		fprintf(stderr, "#   p99 %.3f, theory %.3f\n", e.p99, p99);
		assert_true(load[i] > 0.8 || fabs(e.p99 / p99 - 1) < 0.04);
	}
}

static void one_worker_constant(void **state)
{
	(void)state;
	measure(1, 0.7, "fixed:100us", one_server);
}

static void one_worker_bimodal(void **state)
{
	(void)state;
	measure(1, 0.7, "bimodal:0.9:50us:550us", one_server);
}

static void four_workers_exponential(void **state)
{
	(void)state;
	measure(4, 0.7, "exp:100us", exponential_servers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_worker_exponential),
		cmocka_unit_test(one_worker_constant),
		cmocka_unit_test(one_worker_bimodal),
		cmocka_unit_test(four_workers_exponential),
	};

	return cmocka_run_group_tests_name("theory", tests, NULL, NULL);
}
