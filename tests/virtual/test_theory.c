/*
 * The scheduler in virtual time against queueing theory, costs about zero.
 *
 * Property: the mean sojourn time of an open loop of Poisson arrivals is what the theory of its
 *   queue says, within the run's own interval of 99.9 % and, at loads up to 0.7 of 200 000
 *   requests, within 2 %; where service times are exponential so is the 99th percentile, within 4 %.
 * Method: a thread submits requests when they are due, a request passes its service time in
 *   one step, or, where it shares the worker with others, in slices. The seed is 1 unless SB_SEED
 *   is set; SB_REQUESTS of each queue. Theory: Kleinrock, Queueing Systems, vol. 1, sections 3.2,
 *   3.5 and 5.6; vol. 2, section 4.4 (processor sharing); Gross, Shortle, Thompson and Harris,
 *   Fundamentals of Queueing Theory, section 3.3 (the waits of M/M/c).
 */
#include <math.h>
#include <string.h>

#include "core/scheduler.h"
#include "tests/queueing.h"
#include "tests/test.h"
#include "workloads/load/distribution.h"

#define PS_PER_NS   1000
#define REQUESTS    200000
#define FIRST	    10000 /* before that the queue is not yet what it will be */
#define BATCHES	    50
#define WORKERS_MAX 4
#define OF_SLICES   0.02 /* a newcomer's first slice comes before the others' next */

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
	uint64_t slice_ps;
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
	struct request *r = state;
	const uint64_t slice_ps = sb_min_u64(r->service_ps, r->queue->slice_ps);

	(void)step;
	(void)events;
	(void)count;
	sb_virtual_charge(slice_ps);
	r->service_ps -= slice_ps;
	if (r->service_ps)
		return SB_CONTINUE;
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

/* ---- theory, in mean service times ---- */

/* Mean sojourn times. */

static double in_turn(uint32_t workers, double load, double scv)
{
	CHECK_EQ(workers, 1);
	return queueing_one_server(load, scv);
}

static double exponential(uint32_t workers, double load, double scv)
{
	assert_true(fabs(scv - 1) < 1e-9);
	return 1 + queueing_all_busy(workers, load) / (workers * (1 - load));
}

static double shared(uint32_t workers, double load, double scv)
{
	(void)scv;
	CHECK_EQ(workers, 1);
	return 1 / (1 - load);
}

/* The chance that a sojourn in M/M/c is longer than t. */
static double exponential_tail(uint32_t workers, double load, double t)
{
	const double idle = workers - 1 - workers * load;

	return exp(-t) * (1 + queueing_all_busy(workers, load) * (1 - exp(-t * idle)) / idle);
}

static double exponential_p99(uint32_t workers, double load)
{
	double low = 0;
	double high = 1000;

	while (high - low > 1e-6) {
		const double t = (low + high) / 2;

		if (exponential_tail(workers, load, t) > 0.01)
			low = t;
		else
			high = t;
	}
	return low;
}

/* ---- all queues ---- */

static const struct kind {
	const char *name;
	const char *service;
	double (*theory)(uint32_t workers, double load, double scv);
	uint32_t workers;
	uint64_t slice_ns; /* 0: served in one step */
	uint32_t part;	   /* of all requests, so many parts: slices take long */
} kinds[] = {
	{ "M/M/1", "exp:100us", exponential, 1, 0, 1 },
	{ "M/D/1", "fixed:100us", in_turn, 1, 0, 1 },
	{ "M/G/1", "bimodal:0.9:50us:550us", in_turn, 1, 0, 1 },
	{ "M/G/1", "lognormal:100us:150us", in_turn, 1, 0, 1 },
	{ "M/M/4", "exp:100us", exponential, 4, 0, 1 },
	{ "M/M/1 shared", "exp:100us", shared, 1, 2000, 8 },
	{ "M/G/1 shared", "bimodal:0.9:50us:550us", shared, 1, 2000, 8 },
};

static void run_queue(struct queue *q, const char *service)
{
	const struct sb_model model = without_costs(q->workers + 1);
	const struct sb_virtual_setup setup = {
		.model = &model,
		.seed = setting("SB_SEED", 1),
	};
	struct sb_virtual_counts counts;
	char why[SB_WHY_BYTES];

	CHECK_EQ(sb_distribution_init(&q->service, service, why), 0);
	q->sojourn = calloc(q->requests, sizeof(*q->sojourn));
	assert_non_null(q->sojourn);
	sb_rng_seed(&q->rng, setup.seed);
	CHECK_EQ(sb_virtual_run(&setup, run, q, &counts), 0);
	CHECK_EQ(q->ended, q->requests);
}

static void compare_mean(const struct kind *k, double load, const struct estimate *e, double scv)
{
	const double expected = k->theory(k->workers, load, scv);

	fprintf(stderr, "# %s at %.2f, %s: mean %.4f +- %.4f, theory %.4f (%+.2f %%)\n", k->name,
		load, k->service, e->mean, T_95 * e->error, expected,
		100 * (e->mean / expected - 1));
	assert_true(fabs(e->mean - expected) <
		    T_999 * e->error + (k->slice_ns ? OF_SLICES * expected : 0));
	assert_true(load > 0.8 || k->part > 1 || fabs(e->mean / expected - 1) < 0.02);
}

static void compare_p99(const struct kind *k, double load, const struct estimate *e)
{
	const double expected = exponential_p99(k->workers, load);

	fprintf(stderr, "#   p99 %.3f, theory %.3f (%+.2f %%)\n", e->p99, expected,
		100 * (e->p99 / expected - 1));
	assert_true(load > 0.8 || fabs(e->p99 / expected - 1) < 0.04);
}

static void measure(const struct kind *k, double load)
{
	struct queue q = {
		.workers = k->workers,
		.load = load,
		.slice_ps = k->slice_ns ? PS_PER_NS * k->slice_ns : UINT64_MAX,
		.requests = (uint32_t)setting("SB_REQUESTS", REQUESTS) / k->part,
	};
	struct estimate e;

	run_queue(&q, k->service);
	e = estimate(q.sojourn + FIRST, (int)q.requests - FIRST);
	compare_mean(k, load, &e, q.service.scv);
	if (k->theory == exponential)
		compare_p99(k, load, &e);
	sb_distribution_fini(&q.service);
	free(q.sojourn);
}

static void all_kinds_at(double load)
{
	for (size_t i = 0; i < SB_ARRAY_SIZE(kinds); i++)
		measure(&kinds[i], load);
}

static void a_load_of_half(void **state)
{
	(void)state;
	all_kinds_at(0.5);
}

static void a_load_of_70_percent(void **state)
{
	(void)state;
	all_kinds_at(0.7);
}

static void a_load_of_90_percent(void **state)
{
	(void)state;
	all_kinds_at(0.9);
}

static void a_load_of_95_percent(void **state)
{
	(void)state;
	all_kinds_at(0.95);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_load_of_half),
		cmocka_unit_test(a_load_of_70_percent),
		cmocka_unit_test(a_load_of_90_percent),
		cmocka_unit_test(a_load_of_95_percent),
	};

	return cmocka_run_group_tests_name("theory", tests, NULL, NULL);
}
