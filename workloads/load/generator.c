#include "workloads/load/generator.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "workloads/load/level.h"

/* A sleep ends late by less than that, mostly. */
#define SPIN_NS UINT64_C(50000)

/* How often a long sleep looks whether it is to end. */
#define SLICE_NS UINT64_C(20000000)

/* For the threads to be there before the first intended time. */
#define HEAD_START_NS UINT64_C(500000)

/* In a closed loop, before the next request after one that was refused. */
#define REFUSED_NS UINT64_C(100000)

/* Between looks at the number in the system, on average. */
#define LOOK_NS 500000.0

struct generator {
	/* Its own thread. */
	alignas(SB_LINE) struct sb_generators *all;
	struct sb_thread thread;
	uint32_t id;
	uint64_t depth;
	uint64_t low; /* with that many under way it submits more */
	struct sb_arrivals arrivals;
	uint64_t intended;
	uint64_t on_time;
	uint64_t last_intended_ns; /* since the window's start */
	uint64_t last_sent_ns;
	struct sb_hist lateness;
	sb_counter accepted; /* and, for a moment, the one being submitted */
	sb_counter early;    /* of these: intended before the window */

	/* The thread that completes. */
	alignas(SB_LINE) _Atomic(uint64_t) completed;
	struct sb_parker parker;
};

struct sb_generators {
	const struct sb_load *load;
	const struct sb_generator_ops *ops;
	void *arg;
	uint64_t start_ns;
	struct sb_window window;
	uint32_t generators;
	uint32_t threads; /* that were started */
	bool looking;	  /* the looker was started */
	struct sb_thread looker;
	/* Its own. */
	struct sb_level level;
	struct sb_usage_source source;
	struct sb_usage usage; /* some looks ago */
	uint64_t sleeps;       /* since then */
	struct sb_stop stop[SB_STOPS_MAX];
	uint32_t stops;

	alignas(SB_LINE) _Atomic(bool) stopping;
	_Atomic(uint32_t) running;
	struct generator generator[];
};

/* ---- time ---- */

/* False: the round is to end. */
static bool wait_until(struct sb_generators *all, uint64_t time_ns)
{
	while (!sb_load_rlx(&all->stopping)) {
		const uint64_t now = sb_clock_ns();

		if (now >= time_ns)
			return true;
		if (time_ns - now > SPIN_NS)
			sb_thread_sleep(sb_min_u64(time_ns - now - SPIN_NS, SLICE_NS));
		else if (!sb_cpu_works(time_ns - now))
			sb_cpu_pause();
	}
	return false;
}

/* Returns when it is. Adds to the number of sleeps. */
static uint64_t sleep_until(uint64_t time_ns, uint64_t *sleeps)
{
	uint64_t now;

	for (; (now = sb_clock_ns()) < time_ns; ++*sleeps)
		sb_thread_sleep(time_ns - now);
	return now;
}

/* Otherwise the kernel lets sleeps end 50 us late, to save wake-ups. */
static void sleep_exactly(void)
{
	(void)prctl(PR_SET_TIMERSLACK, 1);
}

/* ---- one generator ---- */

/* False: it was refused, and is lost. */
static bool submit(struct generator *g, uint64_t intended_ns, uint64_t now)
{
	struct sb_generators *all = g->all;
	const uint64_t number = sb_counter_read(&g->accepted);
	const struct sb_request request = { intended_ns, now, number, g->id };
	const bool is_early = intended_ns < all->window.from_ns;

	/* Before, so that it is not completed before it is there. */
	if (is_early)
		sb_counter_add(&g->early, 1);
	sb_counter_add(&g->accepted, 1);
	if (!all->ops->submit(all->arg, &request))
		return true;
	sb_store_rlx(&g->accepted, number);
	if (is_early)
		sb_store_rlx(&g->early, sb_counter_read(&g->early) - 1);
	return false;
}

/* A generator that is later than the whole round is long does not catch up. */
static bool is_hopeless(const struct sb_generators *all, uint64_t late_ns)
{
	return late_ns > all->window.to_ns - all->window.from_ns || sb_load_rlx(&all->stopping);
}

static void submit_at(struct generator *g, uint64_t intended_ns)
{
	const uint64_t now = sb_clock_ns();
	const uint64_t late = now - intended_ns;

	if (is_hopeless(g->all, late))
		return; /* intended, and lost */
	if (intended_ns >= g->all->window.from_ns) {
		sb_hist_record(&g->lateness, late);
		g->on_time += late <= g->all->load->late_ns;
		g->last_sent_ns = now - g->all->window.from_ns;
	}
	(void)submit(g, intended_ns, now);
}

static void run_open(struct generator *g)
{
	struct sb_generators *all = g->all;
	const double end = (double)(all->window.to_ns - all->start_ns);
	double t;

	sb_arrivals_init(&g->arrivals, all->load, g->id);
	while ((t = sb_arrivals_next(&g->arrivals)) < end) {
		const uint64_t intended_ns = all->start_ns + (uint64_t)t;

		if (intended_ns >= all->window.from_ns) {
			g->intended++;
			g->last_intended_ns = intended_ns - all->window.from_ns;
		}
		if (wait_until(all, intended_ns))
			submit_at(g, intended_ns);
	}
}

static uint64_t under_way(struct generator *g)
{
	return sb_counter_read(&g->accepted) - sb_load_rlx(&g->completed);
}

/* Until the number under way is low, but for a slice of time at most. */
static void wait_for_room(struct generator *g, uint64_t end_ns)
{
	const uint64_t until = sb_min_u64(end_ns, sb_clock_ns() + SLICE_NS);

	do {
		sb_park(&g->parker, until);
	} while (under_way(g) > g->low && sb_clock_ns() < until && !sb_load_rlx(&g->all->stopping));
}

static void run_closed(struct generator *g)
{
	struct sb_generators *all = g->all;
	const uint64_t end = all->window.to_ns;
	uint64_t now;

	(void)wait_until(all, all->start_ns);
	/* At least one, however long this thread was held up. */
	while (!sb_load_rlx(&all->stopping) && ((now = sb_clock_ns()) < end || !g->intended)) {
		if (under_way(g) >= g->depth) {
			wait_for_room(g, end);
			continue;
		}
		g->intended++;
		if (!submit(g, now, now))
			sb_thread_sleep(REFUSED_NS);
	}
}

static void one_ended(struct sb_generators *all)
{
	if (sb_sub_acq_rel(&all->running, 1) == 1)
		all->ops->ended(all->arg);
}

static void *run_generator(void *arg)
{
	struct generator *g = arg;

	sb_thread_name("sb", "gen", (int)(g - g->all->generator));
	sleep_exactly();
	if (g->all->load->kind == SB_LOAD_OPEN)
		run_open(g);
	else
		run_closed(g);
	one_ended(g->all);
	return NULL;
}

void sb_generators_completed(struct sb_generators *all, uint32_t generator)
{
	struct generator *g = &all->generator[generator];

	sb_add_acq_rel(&g->completed, 1);
	/* It has submitted all that it may when it waits, so the one that makes
	 * their number low sees it so. */
	if (all->load->kind == SB_LOAD_CLOSED && under_way(g) <= g->low)
		sb_unpark(&g->parker);
}

/* ---- looks at the system ---- */

/* In the window. */
static uint64_t submitted(struct generator *g)
{
	return sb_counter_read(&g->accepted) - sb_counter_read(&g->early);
}

static double in_system(struct sb_generators *all)
{
	uint64_t sum = 0;

	/* A request completed after its reading was submitted before. */
	for (uint32_t i = 0; i < all->generators; i++)
		sum -= sb_load_acq(&all->generator[i].completed);
	for (uint32_t i = 0; i < all->generators; i++)
		sum += submitted(&all->generator[i]);
	/* A refusal takes one back. */
	return (int64_t)sum > 0 ? (double)sum : 0;
}

/* The shortest stop that is seen, and how many sleeps there are at most between readings of the usage. */
#define STOP_NS	   UINT64_C(5000000)
#define SLEEPS_MAX 16

/* The looker did not run for late_ns. If it did not wait for a CPU either, and gave its CPU up more often
 * than it slept, the process was stopped: a hypervisor that delays a timer adds no switch. */
static void see_stop(struct sb_generators *all, uint64_t now, uint64_t late_ns)
{
	const struct sb_usage before = all->usage;
	uint64_t waited_ns;

	if (late_ns < STOP_NS && all->sleeps < SLEEPS_MAX)
		return;
	sb_usage_read(&all->source, &all->usage);
	waited_ns = all->usage.delay_ns - before.delay_ns;
	if (late_ns >= waited_ns + STOP_NS && all->usage.gave_up - before.gave_up > all->sleeps &&
	    all->stops < SB_STOPS_MAX)
		all->stop[all->stops++] = (struct sb_stop){ now - late_ns + waited_ns, now };
	all->sleeps = 0;
}

static void *run_looker(void *arg)
{
	struct sb_generators *all = arg;
	uint64_t time = all->window.from_ns;
	struct sb_rng rng;

	sb_thread_name("sb", "occupancy", -1);
	sleep_exactly();
	sb_rng_seed(&rng, ~all->load->seed);
	(void)wait_until(all, time);
	sb_level_look(&all->level, time, 0, 0);
	sb_usage_open(&all->source);
	sb_usage_read(&all->source, &all->usage);
	while (!sb_load_rlx(&all->stopping)) {
		uint64_t now;

		time += (uint64_t)(LOOK_NS * sb_rng_exponential(&rng));
		now = sleep_until(time, &all->sleeps);
		see_stop(all, now, now - time);
		sb_level_look(&all->level, now, now - time, in_system(all));
		time = now; /* late looks are not made up for */
	}
	sb_usage_close(&all->source);
	return NULL;
}

/* ---- all of them ---- */

int sb_generators_create(struct sb_generators **out, const struct sb_load *load,
			 const struct sb_generator_ops *ops, void *arg)
{
	const size_t bytes = sizeof(**out) + load->generators * sizeof((*out)->generator[0]);
	struct sb_generators *all = aligned_alloc(SB_LINE, bytes);

	*out = all;
	if (!all)
		return -ENOMEM;
	*all = (struct sb_generators){
		.load = load, .ops = ops, .arg = arg, .generators = load->generators
	};
	for (uint32_t i = 0; i < all->generators; i++)
		sb_parker_init(&all->generator[i].parker, SB_PARKING_FUTEX);
	return 0;
}

static void prepare(struct sb_generators *all, uint32_t i)
{
	const uint32_t depth = all->load->depth;
	struct generator *g = &all->generator[i];

	g->all = all;
	g->id = i;
	g->depth = depth / all->generators + (i < depth % all->generators);
	g->low = all->load->in_bulk ? g->depth / 2 : g->depth - !!g->depth;
	g->intended = 0;
	g->on_time = 0;
	g->last_intended_ns = 0;
	g->last_sent_ns = 0;
	memset(&g->lateness, 0, sizeof(g->lateness));
	sb_store_rlx(&g->accepted, 0);
	sb_store_rlx(&g->early, 0);
	sb_store_rlx(&g->completed, 0);
}

static int start_threads(struct sb_generators *all)
{
	int rc = sb_thread_start(&all->looker, -1, run_looker, all);

	all->looking = !rc;
	for (uint32_t i = 0; i < all->generators; i++) {
		if (!rc)
			rc = sb_thread_start(&all->generator[i].thread, -1, run_generator,
					     &all->generator[i]);
		if (rc)
			one_ended(all);
		else
			all->threads++;
	}
	return rc;
}

int sb_generators_start(struct sb_generators *all, uint64_t relax_ns, uint64_t duration_ns)
{
	int rc;

	for (uint32_t i = 0; i < all->generators; i++)
		prepare(all, i);
	all->level = (struct sb_level){ .begun = false };
	all->sleeps = 0;
	all->stops = 0;
	all->threads = 0;
	sb_store_rlx(&all->stopping, false);
	sb_store_rlx(&all->running, all->generators);
	all->start_ns = sb_clock_ns() + HEAD_START_NS * all->generators;
	all->window.from_ns = all->start_ns + relax_ns;
	all->window.to_ns = all->window.from_ns + duration_ns;
	rc = start_threads(all);
	if (rc)
		sb_store_rlx(&all->stopping, true);
	return rc;
}

void sb_generators_stop(struct sb_generators *all)
{
	sb_store_rlx(&all->stopping, true);
	for (uint32_t i = 0; i < all->threads; i++) {
		sb_unpark(&all->generator[i].parker);
		sb_thread_join(&all->generator[i].thread);
	}
	all->threads = 0;
	if (all->looking)
		sb_thread_join(&all->looker);
	all->looking = false;
}

const struct sb_window *sb_generators_window(const struct sb_generators *all)
{
	return &all->window;
}

uint64_t sb_generators_accepted(struct sb_generators *all)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < all->generators; i++)
		sum += sb_counter_read(&all->generator[i].accepted);
	return sum;
}

static void read_one(struct generator *g, struct sb_requests *out)
{
	out->intended += g->intended;
	out->on_time += g->on_time;
	out->submitted += submitted(g);
	out->schedule_ns = sb_max_u64(out->schedule_ns, g->last_intended_ns);
	out->sending_ns = sb_max_u64(out->sending_ns, g->last_sent_ns);
	sb_hist_read(&g->lateness, &out->hist[SB_REQUEST_lateness]);
}

void sb_generators_read(struct sb_generators *all, struct sb_requests *out)
{
	out->is_open = all->load->kind == SB_LOAD_OPEN;
	out->late_ns = all->load->late_ns;
	for (uint32_t i = 0; i < all->generators; i++)
		read_one(&all->generator[i], out);
	for (uint32_t i = 0; i < all->stops && out->stops < SB_STOPS_MAX; i++)
		out->stop[out->stops++] = all->stop[i];
	out->observed_ns = all->level.time;
	out->in_system = sb_level_mean(&all->level);
	out->in_system_error = sb_level_error(&all->level);
	out->in_system_unknown = sb_level_unknown(&all->level);
}

void sb_generators_destroy(struct sb_generators *all)
{
	if (!all)
		return;
	for (uint32_t i = 0; i < all->generators; i++)
		sb_parker_fini(&all->generator[i].parker);
	free(all);
}
