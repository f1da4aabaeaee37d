/*
 * Every workload of the registry.
 *
 * Property: with small parameters each gives the right answer, as its own check
 *   says; every process ends by itself, without an error and with no message
 *   unread; and the next round on the same scheduler is as good as the first.
 *   One that is refused a process, or a place in a mailbox, is over, too.
 * Method: the calls of the harness, on 1 and 2 workers, with several seeds, each
 *   with another wake target, deque and number of events per step; one of them
 *   records nothing.
 * Bound: the parameters of `smalls`. A workload that is not there fails.
 */
#include <errno.h>
#include <string.h>

#include "tests/fixture.h"
#include "workloads/workload.h"

#define PARAMS_MAX 16
#define ROUNDS	   2
#define VARIANTS   3

struct setting {
	const char *param;
	uint64_t value;
};

/* What a workload may do that others must not. */
enum {
	ENDS_OTHERS = 1, /* processes end with an error, or with messages left */
	MAY_HANG = 2,	 /* when it is refused a process */
};

struct small {
	const char *workload;
	int may;
	struct setting setting[PARAMS_MAX]; /* the others are the defaults */
};

/* In the order of workloads/list.def. A workload may have several. */
static const struct small smalls[] = {
	{ "pingpong", MAY_HANG, { { "pairs", 3 }, { "round-trips", 500 } } },
	{ "pingpong", MAY_HANG, { { "pairs", 3 }, { "round-trips", 500 }, { "begin", 1 } } },
	{ "yield", 0, { { "processes", 3 }, { "yields", 500 } } },
	{ "skynet", MAY_HANG, { { "leaves", 2 } } },
	{ "hog", MAY_HANG, { { "victims", 50 }, { "hog-ns", 0 } } },
	{ "timers", ENDS_OTHERS | MAY_HANG, { { "processes", 100 }, { "yields", 200 } } },
	{ "timers",
	  ENDS_OTHERS | MAY_HANG,
	  { { "processes", 20 }, { "yields", 200 }, { "sleep-us", 100 }, { "work-ns", 5000 } } },
	{ "population", MAY_HANG, { { "processes", 500 } } },
	/* It does not hang, but what is refused counts as lost. */
	{ "service", MAY_HANG, { { "servers", 0 } } },
	{ "service", MAY_HANG, { { "servers", 3 } } },
	{ "savina-count", 0, { { "increments", 5000 } } },
	{ "savina-fjthrput", 0, { { "messages", 200 }, { "actors", 7 } } },
	{ "savina-fjcreate", 0, { { "processes", 300 } } },
	{ "savina-threadring", 0, { { "processes", 7 }, { "hops", 1000 } } },
	{ "savina-threadring", 0, { { "processes", 7 }, { "hops", 1000 }, { "tokens", 1 } } },
	{ "savina-chameneos", 0, { { "creatures", 9 }, { "meetings", 1000 } } },
	{ "savina-big", 0, { { "processes", 12 }, { "pings", 100 } } },
	/* Few keys, so that most are written several times. */
	{ "savina-concdict",
	  0,
	  { { "entities", 5 }, { "requests", 200 }, { "write-percent", 50 }, { "keys", 30 } } },
	/* Consumers are slow, so that the buffer fills. */
	{ "savina-bndbuffer",
	  0,
	  { { "producers", 5 },
	    { "consumers", 3 },
	    { "items", 40 },
	    { "spare", 2 },
	    { "produce-cost", 0 },
	    { "consume-cost", 1 } } },
	{ "savina-philosopher", 0, { { "philosophers", 5 }, { "meals", 100 } } },
	/* The room is always full. */
	{ "savina-barber",
	  0,
	  { { "haircuts", 100 }, { "seats", 2 }, { "make-time", 1 }, { "cut-time", 200 } } },
	{ "savina-cigsmok", 0, { { "rounds", 300 }, { "smokers", 10 } } },
	{ "savina-pingpong", 0, { { "round-trips", 500 } } },
	{ "savina-logmap", 0, { { "terms", 200 }, { "sequences", 5 } } },
	/* Few accounts, so that most are waiting when they are asked. */
	{ "savina-banking", 0, { { "accounts", 10 }, { "transfers", 1000 } } },
	{ "savina-radixsort", 0, { { "values", 1000 }, { "bits", 17 } } },
	{ "savina-sieve", 0, { { "below", 3000 }, { "primes-per-filter", 20 } } },
	{ "savina-uct", 0, { { "nodes", 1000 }, { "cost", 10 } } },
	{ "savina-quicksort", 0, { { "values", 5000 }, { "threshold", 20 } } },
	{ "savina-apsp", 0, { { "blocks", 3 }, { "block", 5 } } },
	{ "savina-nqueenk", 0, { { "queens", 7 }, { "threshold", 2 } } },
	{ "savina-fib", 0, { { "n", 12 } } },
	{ "single-step", 0, { { "processes", 50 } } },
	/* More than the step output has room for. */
	{ "many-yields", 0, { { "processes", 3 }, { "yields-per-step", 11 }, { "batches", 50 } } },
	{ "submit", 0, { { "processes", 600 }, { "submitters", 3 } } },
	{ "burst", 0, { { "size", 300 } } },
	{ "send-to-blocked", 0, { { "processes", 5 }, { "messages", 40 } } },
	{ "fan-out", 0, { { "receivers", 7 }, { "rounds", 100 } } },
	{ "fan-in", 0, { { "senders", 7 }, { "messages", 100 } } },
	{ "fan-in", 0, { { "senders", 7 }, { "messages", 100 }, { "messages-per-step", 9 } } },
	{ "wake-latency", 0, { { "wakes", 10 }, { "pause-us", 100 } } },
	{ "wake-latency", 0, { { "wakes", 10 }, { "pause-us", 100 }, { "by", 1 } } },
	{ "stuck-slot", 0, { { "messages", 20 } } },
	{ "stuck-slot", 0, { { "pairs", 3 }, { "messages", 500 }, { "every", 200 } } },
	{ "short-handlers", 0, { { "requests", 1000 } } },
	/* Fewer requests than handlers of one, and each one's share is 1. */
	{ "short-handlers",
	  0,
	  { { "requests", 50 }, { "handlers", 70 }, { "dispatchers", 9 }, { "in-flight", 9 } } },
	/* Several of one dispatcher in one step, and shares of 2. */
	{ "short-handlers",
	  0,
	  { { "requests", 500 }, { "handlers", 3 }, { "dispatchers", 3 }, { "in-flight", 8 } } },
	{ "storm", 0, { { "processes", 1000 }, { "work-ns", 500 } } },
	/* About 500 nodes. */
	{ "imbalanced-tree",
	  0,
	  { { "root-children", 50 }, { "children", 4 }, { "mean-ppm", 900000 } } },
	{ "steal-ratio", 0, { { "processes", 500 }, { "share", 60 }, { "work-ns", 500 } } },
	{ "replay", 0, { { "pace", 0 } } },
	{ "third", 0, { { "round-trips", 3000 } } },
	{ "burn", 0, { { "time-ms", 2 } } },
	{ "trickle", 0, { { "count", 10 }, { "period-us", 100 } } },
	{ "tokio-spawn_many_local", 0, { { "spawns", 500 } } },
	{ "tokio-spawn_many_remote_idle", 0, { { "spawns", 500 } } },
	{ "tokio-spawn_many_remote_busy", 0, { { "spawns", 20 }, { "stall-ns", 100 } } },
	{ "tokio-spawn_many_remote_busy",
	  0,
	  { { "spawns", 20 }, { "stall-ns", 100 }, { "variant", 1 } } },
	{ "tokio-yield_many", 0, { { "tasks", 20 }, { "yields", 100 } } },
	{ "tokio-yield_many", 0, { { "tasks", 20 }, { "yields", 100 }, { "yield", 1 } } },
	{ "tokio-ping_pong", 0, { { "pings", 200 } } },
	{ "tokio-chained_spawn", 0, { { "depth", 200 } } },
};

/* The workload's next line after that one. */
static const struct small *next_small(const char *workload, const struct small *after)
{
	const struct small *small = after ? after + 1 : smalls;

	while (small < smalls + SB_ARRAY_SIZE(smalls) && strcmp(small->workload, workload))
		small++;
	return small < smalls + SB_ARRAY_SIZE(smalls) ? small : NULL;
}

static const struct small *find_small(const char *workload)
{
	const struct small *small = next_small(workload, NULL);

	if (small)
		return small;
	fail_msg("workload '%s' has no line in smalls[] of tests/workloads/test_workloads.c: add "
		 "one, with parameters for a round of some thousand operations",
		 workload);
	return NULL;
}

static void set_param(const struct sb_workload *workload, uint64_t *param,
		      const struct setting *setting)
{
	const struct sb_param *p = workload->params;
	size_t i = 0;

	while (p[i].name && strcmp(p[i].name, setting->param))
		i++;
	if (!p[i].name)
		fail_msg("workload '%s' has no parameter '%s'", workload->name, setting->param);
	if (setting->value < p[i].min || setting->value > p[i].max)
		fail_msg("workload '%s': %s %llu is out of range", workload->name, setting->param,
			 (unsigned long long)setting->value);
	param[i] = setting->value;
}

static void set_params(const struct sb_workload *workload, const struct small *small,
		       uint64_t *param)
{
	for (size_t i = 0; workload->params[i].name; i++) {
		assert_uint_in_range(i, 0, PARAMS_MAX - 1);
		param[i] = workload->params[i].initial;
	}
	for (size_t i = 0; i < PARAMS_MAX && small->setting[i].param; i++)
		set_param(workload, param, &small->setting[i]);
}

/* A scheduler, a workload that is set up on it, and how its processes end. */
struct trial {
	struct fixture f;
	struct sb_workload_run run;
	uint64_t param[PARAMS_MAX];
	const char *text[PARAMS_MAX];
	struct sb_load load;
	struct sb_requests requests;
	_Atomic(uint64_t) failed;
	_Atomic(uint64_t) dropped;
};

static void trial_on_complete(void *hook, const struct sb_exit *exit)
{
	if (exit->error)
		sb_add_rlx(&((struct trial *)hook)->failed, 1);
}

static void trial_on_drop(void *hook, const struct sb_event *event)
{
	(void)event;
	sb_add_rlx(&((struct trial *)hook)->dropped, 1);
}

static void trial_defaults(struct trial *t, const struct sb_workload *workload,
			   const struct small *small)
{
	memset(t, 0, sizeof(*t));
	fixture_defaults(&t->f);
	t->f.config.hook = t;
	t->f.config.on_start = NULL;
	t->f.config.on_complete = trial_on_complete;
	t->f.config.on_drop = trial_on_drop;
	set_params(workload, small, t->param);
	t->run.workload = workload;
	t->run.param = t->param;
	for (size_t i = 0; workload->params[i].name; i++)
		t->text[i] = sb_param_is_text(&workload->params[i]) ? workload->params[i].choices[0]
								    : NULL;
	t->run.text = t->text;
	/* For those that take requests. */
	t->load = (struct sb_load){
		.kind = SB_LOAD_CLOSED, .depth = 8, .generators = 2, .seed = sb_test_seed()
	};
	t->run.load = &t->load;
	t->run.requests = &t->requests;
	t->run.duration_ns = 20000000;
}

static void trial_start(struct trial *t, uint32_t workers)
{
	fixture_create(&t->f, workers);
	t->requests.hist = calloc(SB_REQUEST_HISTS, sizeof(*t->requests.hist));
	t->run.scheduler = t->f.s;
	CHECK_EQ(sb_workload_set_up(&t->run), 0);
	CHECK_EQ(sb_scheduler_start(t->f.s, NULL), 0);
}

static void trial_end(struct trial *t)
{
	CHECK_EQ(sb_scheduler_stop(t->f.s, FIXTURE_TIMEOUT_NS), 0);
	sb_workload_tear_down(&t->run);
	sb_scheduler_destroy(t->f.s);
	free(t->requests.hist);
}

static void run_round(struct trial *t)
{
	char why[160] = "";

	t->run.round = (struct sb_round){ 0 };
	CHECK_EQ(t->run.workload->start(&t->run), 0);
	fixture_wait(&t->f);
	assert_true(t->run.workload->operations(&t->run) > 0);
	if (!t->run.workload->check(&t->run, why, sizeof(why)))
		fail_msg("%s: %s", t->run.workload->name, why);
}

static void vary(struct sb_config *config, uint32_t variant)
{
	static const uint32_t budgets[VARIANTS] = { 64, 1, 3 };

	config->seed += variant;
	config->wake = (enum sb_wake)variant;
	config->deque = variant == 1 ? SB_DEQUE_CHASE_LEV : SB_DEQUE_COUNTED;
	config->event_budget = budgets[variant];
	config->record = variant != 2;
}

static void try_workload(const struct sb_workload *workload, const struct small *small,
			 uint32_t workers, uint32_t variant)
{
	struct trial t;

	trial_defaults(&t, workload, small);
	vary(&t.f.config, variant);
	trial_start(&t, workers);
	for (int round = 0; round < ROUNDS; round++)
		run_round(&t);
	trial_end(&t);
	if (small->may & ENDS_OTHERS)
		return;
	CHECK_EQ(sb_load_rlx(&t.failed), 0);
	CHECK_EQ(sb_load_rlx(&t.dropped), 0);
}

static void gives_the_right_answer(void **state)
{
	const struct sb_workload *workload = *state;
	const struct small *small = find_small(workload->name);

	for (; small; small = next_small(workload->name, small)) {
		for (uint32_t i = 0; i < 2 * VARIANTS; i++)
			try_workload(workload, small, 1 + i / VARIANTS, i % VARIANTS);
	}
}

/* Whether start is refused, a step's spawn or a step's send: afterwards nobody is
 * alive, and what was not complete is not right. */
static void try_refused(const struct sb_workload *workload, uint64_t processes_max,
			uint32_t mailbox_bound)
{
	struct trial t;
	char why[160] = "";
	int rc;

	trial_defaults(&t, workload, find_small(workload->name));
	t.f.config.processes_max = processes_max;
	t.f.config.mailbox_bound = mailbox_bound;
	trial_start(&t, 1);
	rc = workload->start(&t.run);
	fixture_wait(&t.f);
	assert_true(rc == 0 || rc == -EAGAIN);
	if (!rc && sb_load_rlx(&t.failed))
		assert_false(workload->check(&t.run, why, sizeof(why)));
	else if (!rc)
		assert_true(workload->check(&t.run, why, sizeof(why)));
	trial_end(&t);
}

static void survives_refusal(void **state)
{
	const struct sb_workload *workload = *state;

	if (find_small(workload->name)->may & MAY_HANG) {
		printf("# skipped: %s waits for what it was refused\n", workload->name);
		return;
	}
	for (uint64_t most = 1; most <= 4; most++)
		try_refused(workload, most, 0);
	try_refused(workload, UINT64_C(1) << 24, 1);
}

static void lines_name_workloads(void **state)
{
	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(smalls); i++) {
		if (!sb_workload_find(smalls[i].workload))
			fail_msg("smalls[] names '%s', which is no workload", smalls[i].workload);
	}
}

static void words_are_complete(void **state)
{
	const struct sb_workload *workload = *state;

	assert_non_null(workload->operation);
	assert_non_null(workload->doc);
	assert_non_null(workload->source);
	assert_non_null(workload->check);
	assert_ptr_equal(sb_workload_find(workload->name), workload);
}

/* Each of these for each workload. */
static const struct CMUnitTest each[] = {
	cmocka_unit_test(words_are_complete),
	cmocka_unit_test(gives_the_right_answer),
	cmocka_unit_test(survives_refusal),
};

#define TESTS_MAX  512
#define NAME_BYTES 80

int main(void)
{
	static struct CMUnitTest tests[TESTS_MAX] = {
		cmocka_unit_test(lines_name_workloads),
	};
	static char name[TESTS_MAX][NAME_BYTES];
	size_t n = 1;

	for (const struct sb_workload **w = sb_workloads; *w; w++) {
		for (size_t i = 0; i < SB_ARRAY_SIZE(each); i++, n++) {
			SB_CHECK(n, <, (size_t)TESTS_MAX);
			tests[n] = each[i];
			/* cmocka takes a state that may be changed. */
			memcpy(&tests[n].initial_state, w, sizeof(*w));
			snprintf(name[n], sizeof(name[n]), "%s_%s", (*w)->name, each[i].name);
			tests[n].name = name[n];
		}
	}
	return _cmocka_run_group_tests("workloads", tests, n, NULL, NULL);
}
