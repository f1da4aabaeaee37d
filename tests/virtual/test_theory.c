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
#include "tests/test.h"

#define MEAN_PS	    UINT64_C(100000000) /* of a service time */
#define REQUESTS    400000
#define FIRST	    10000 /* before that the queue is not yet what it will be */
#define BATCHES	    50
#define WORKERS_MAX 4

/* Student's t of 49 degrees of freedom: intervals of 95 and of 99.9 %. */
#define T_95  2.01
#define T_999 3.50

/* ---- service times, in their mean ---- */

static double uniform(struct sb_rng *rng)
{
	return ((double)(sb_rng_next(rng) >> 11) + 0.5) * 0x1p-53;
}

static double exponential(struct sb_rng *rng)
{
	return -log(uniform(rng));
}

static double constant(struct sb_rng *rng)
{
	(void)rng;
	return 1;
}

/* Nine of ten are 0.5, one is 5.5. */
static double bimodal(struct sb_rng *rng)
{
	return uniform(rng) < 0.9 ? 0.5 : 5.5;
}

/* ---- a run ---- */

struct request {
	struct queue *queue;
	uint64_t due_ps;
	uint64_t service_ps;
};

struct queue {
	uint32_t workers;
	double load;
	double (*service)(struct sb_rng *rng);
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
		(double)(sb_virtual_now_ps() - r->due_ps) / (double)MEAN_PS;
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
	const double gap = (double)MEAN_PS / (q->load * q->workers);
	struct request r = { .queue = q, .due_ps = sb_virtual_now_ps() };

	for (uint32_t i = 0; i < q->requests; i++) {
		r.due_ps += (uint64_t)(gap * exponential(&q->rng));
		r.service_ps = (uint64_t)((double)MEAN_PS * q->service(&q->rng));
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
static struct sb_machine without_costs(uint32_t cpus)
{
	struct sb_machine machine = sb_machine_plain(cpus);

	memset(&machine.cost, 0, sizeof(machine.cost));
	memset(machine.transfer_ps, 0, sizeof(machine.transfer_ps));
	machine.cost.hit_ps = 1;
	machine.cost.pause_ps = machine.cost.yield_ps = 50000;
	return machine;
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

static struct estimate measure(const char *name, struct queue q, double theory)
{
	const struct sb_machine machine = without_costs(q.workers + 1);
	const struct sb_virtual_setup setup = {
		.machine = &machine,
		.seed = setting("SB_SEED", 1),
	};
	struct sb_virtual_counts counts;
	struct estimate e;

	q.requests = (uint32_t)setting("SB_REQUESTS", REQUESTS);
	q.sojourn = calloc(q.requests, sizeof(*q.sojourn));
	assert_non_null(q.sojourn);
	sb_rng_seed(&q.rng, setup.seed);
	CHECK_EQ(sb_virtual_run(&setup, run, &q, &counts), 0);
	CHECK_EQ(q.ended, q.requests);
	e = estimate(q.sojourn + FIRST, (int)q.requests - FIRST);
	free(q.sojourn);
	fprintf(stderr, "# %s at %.2f: mean %.4f +- %.4f, theory %.4f (%+.2f %%)\n", name, q.load,
		e.mean, T_95 * e.error, theory, 100 * (e.mean / theory - 1));
	assert_true(fabs(e.mean - theory) < T_999 * e.error);
	assert_true(q.load > 0.8 || fabs(e.mean / theory - 1) < 0.02);
	return e;
}

/* ---- theory: mean sojourn times, in mean service times ---- */

static void one_worker_exponential(void **state)
{
	const double load[] = { 0.5, 0.7, 0.9 };

	(void)state;
	for (int i = 0; i < 3; i++) {
		const double theory = 1 / (1 - load[i]);
		const struct estimate e = measure(
			"M/M/1",
			(struct queue){ .workers = 1, .load = load[i], .service = exponential },
			theory);

		fprintf(stderr, "#   p99 %.3f, theory %.3f\n", e.p99, theory * log(100));
		assert_true(load[i] > 0.8 || fabs(e.p99 / (theory * log(100)) - 1) < 0.04);
	}
}

/* Pollaczek and Khinchin; second: E[s^2] / E[s]^2. */
static double one_general(double load, double second)
{
	return 1 + load * second / (2 * (1 - load));
}

static void one_worker_constant(void **state)
{
	(void)state;
	measure("M/D/1", (struct queue){ .workers = 1, .load = 0.7, .service = constant },
		one_general(0.7, 1));
}

static void one_worker_bimodal(void **state)
{
	(void)state;
	measure("M/G/1, bimodal", (struct queue){ .workers = 1, .load = 0.7, .service = bimodal },
		one_general(0.7, 0.9 * 0.25 + 0.1 * 30.25));
}

/* Erlang's C: that a request has to wait. */
static double waits(uint32_t workers, double load)
{
	const double offered = workers * load;
	double term = 1, sum = 0;

	for (uint32_t k = 0; k < workers; k++) {
		sum += term;
		term *= offered / (k + 1);
	}
	return term / (1 - load) / (sum + term / (1 - load));
}

static void four_workers_exponential(void **state)
{
	(void)state;
	measure("M/M/4", (struct queue){ .workers = 4, .load = 0.7, .service = exponential },
		1 + waits(4, 0.7) / (4 * (1 - 0.7)));
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
