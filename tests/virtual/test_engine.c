/*
 * Virtual time: clocks, threads, waits and cache lines.
 *
 * Property: what an operation costs is what the machine says; CPUs run at the same time,
 *   threads of one CPU in turns; a wait ends when it is woken or due; the same seed
 *   gives the same run.
 * Method: small programs, whose times are added up by hand. Look-ahead is 0.
 */
#include <errno.h>
#include <string.h>

#include "tests/test.h"

#define NS 1000

static uint64_t cost_of(const char *name)
{
	const struct sb_costs *costs = sb_virtual_costs();

#define SB_COST(cost, ps, meaning)                                                                 \
	if (!strcmp(name, #cost))                                                                  \
		return costs->cost##_ps;
#include "core/platform/virtual/costs.def"
#undef SB_COST
	SB_CHECK(1, ==, 0);
	return 0;
}

static void run(uint32_t cpus, uint64_t seed, void *(*entry)(void *), void *arg,
		struct sb_virtual_counts *counts)
{
	struct sb_model model = sb_model_plain(cpus);
	const struct sb_virtual_setup setup = { .model = &model, .seed = seed };

	model.cache_lines = SB_LINES_WAYS * SB_REGION_PAGE_LINES;
	CHECK_EQ(sb_virtual_run(&setup, entry, arg, counts), 0);
}

/* ---- costs ---- */

static void *pass_time(void *arg)
{
	const uint64_t before = sb_virtual_now_ps();

	sb_virtual_charge(7 * NS);
	*(uint64_t *)arg = sb_virtual_now_ps() - before - cost_of("clock_read");
	return NULL;
}

static void time_is_what_is_charged(void **state)
{
	struct sb_virtual_counts counts;
	uint64_t passed;

	(void)state;
	run(1, 1, pass_time, &passed, &counts);
	CHECK_EQ(passed, 7 * NS);
	CHECK_EQ(counts.end_ps, 7 * NS + 2 * 15 * NS);
	CHECK_EQ(counts.switches, 0);
	assert_false(sb_virtual_runs());
}

struct word {
	alignas(64) _Atomic(uint64_t) value;
};

static uint64_t access_ps(struct word *word, enum sb_access access)
{
	const uint64_t before = sb_virtual_now_ps();

	sb_virtual_access(word, access, SB_SITE());
	return sb_virtual_now_ps() - before - cost_of("clock_read");
}

/* What a line costs that is new, known, another's, shared. */
struct costs {
	struct word *word;
	uint64_t first, again, rmw, other_reads, other_again, owner_writes, owner_adds;
};

static void *read_twice(void *arg)
{
	struct costs *costs = arg;

	costs->other_reads = access_ps(costs->word, SB_ACCESS_READ);
	costs->other_again = access_ps(costs->word, SB_ACCESS_READ);
	return NULL;
}

static void *touch(void *arg)
{
	struct costs *costs = arg;

	costs->word = sb_region_calloc(1, sizeof(*costs->word));
	costs->first = access_ps(costs->word, SB_ACCESS_WRITE);
	costs->again = access_ps(costs->word, SB_ACCESS_READ);
	costs->rmw = access_ps(costs->word, SB_ACCESS_RMW);
	sb_virtual_join(sb_virtual_start(0, read_twice, costs));
	costs->owner_writes = access_ps(costs->word, SB_ACCESS_WRITE);
	sb_virtual_join(sb_virtual_start(0, read_twice, costs));
	costs->owner_adds = access_ps(costs->word, SB_ACCESS_RMW);
	return NULL;
}

static void a_line_costs_what_its_way_does(void **state)
{
	struct costs costs;
	struct sb_virtual_counts counts;

	(void)state;
	run(2, 1, touch, &costs, &counts);
	/* Stores wait in the store buffer. */
	CHECK_EQ(costs.first, 500);
	CHECK_EQ(costs.again, 500);
	CHECK_EQ(costs.rmw, 500 + 5 * NS);
	CHECK_EQ(costs.other_reads, 40 * NS + 500);
	CHECK_EQ(costs.other_again, 500);
	CHECK_EQ(costs.owner_writes, 500);
	CHECK_EQ(costs.owner_adds, 45 * NS + 500);
	CHECK_EQ(counts.lines.transfers, 2);
}

/* ---- lines that are on their way, and lines that are displaced ---- */

static void *write_it(void *word)
{
	(void)access_ps(word, SB_ACCESS_RMW);
	return NULL;
}

static void lose(struct word *word)
{
	sb_virtual_join(sb_virtual_start(0, write_it, word));
	sb_virtual_charge(100 * NS); /* nobody keeps it any more */
}

static uint64_t both_ps(struct word *a, enum sb_access first, struct word *b, enum sb_access second)
{
	const uint64_t before = sb_virtual_now_ps();

	sb_virtual_access(a, first, SB_SITE());
	sb_virtual_access(b, second, SB_SITE());
	return sb_virtual_now_ps() - before - cost_of("clock_read");
}

static uint64_t fence_ps(struct word *a)
{
	const uint64_t before = sb_virtual_now_ps();

	sb_virtual_access(a, SB_ACCESS_WRITE, SB_SITE());
	sb_virtual_fence();
	return sb_virtual_now_ps() - before - cost_of("clock_read");
}

struct ways {
	uint64_t add_after_store, fence_after_store, add_after_read, add_later;
};

static void *go_both_ways(void *arg)
{
	struct ways *ways = arg;
	struct word *lost = sb_region_calloc(1, sizeof(*lost));
	struct word *own = sb_region_calloc(1, sizeof(*own));

	(void)access_ps(own, SB_ACCESS_RMW);
	lose(lost);
	ways->add_after_store = both_ps(lost, SB_ACCESS_WRITE, own, SB_ACCESS_RMW);
	lose(lost);
	ways->fence_after_store = fence_ps(lost);
	lose(lost);
	ways->add_after_read = both_ps(lost, SB_ACCESS_READ, lost, SB_ACCESS_RMW);
	lose(lost);
	(void)access_ps(lost, SB_ACCESS_READ);
	sb_virtual_charge(30 * NS);
	ways->add_later = access_ps(lost, SB_ACCESS_RMW);
	return NULL;
}

static void stores_are_waited_for_by_fences(void **state)
{
	struct sb_virtual_counts counts;
	struct ways ways;

	(void)state;
	run(2, 1, go_both_ways, &ways, &counts);
	CHECK_EQ(ways.add_after_store, 40 * NS + 500 + 5 * NS);
	CHECK_EQ(ways.fence_after_store, 40 * NS + 5 * NS);
	/* To write what has just been read takes no second way. */
	CHECK_EQ(ways.add_after_read, 40 * NS + 500 + 500 + 5 * NS);
	CHECK_EQ(ways.add_later, 40 * NS + 500 + 5 * NS);
}

/* Lines that share a set of the cache: the cache has as many sets as a page has lines, so these
 * lie at one offset within their pages. */
#define ALIKE 5

static void *displace(void *arg)
{
	uint64_t *ps = arg;
	struct word *word = sb_region_calloc(ALIKE * SB_REGION_PAGE_LINES, sizeof(*word));
	struct word *alike[ALIKE];

	for (int i = 0; i < ALIKE; i++) {
		alike[i] = &word[i * SB_REGION_PAGE_LINES];
		if (i < ALIKE - 1)
			(void)access_ps(alike[i], SB_ACCESS_READ);
	}
	ps[0] = access_ps(alike[0], SB_ACCESS_READ);
	(void)access_ps(alike[ALIKE - 1], SB_ACCESS_READ);
	ps[1] = access_ps(alike[0], SB_ACCESS_READ);
	ps[2] = access_ps(alike[1], SB_ACCESS_READ);
	return NULL;
}

static void the_line_used_longest_ago_is_displaced(void **state)
{
	struct sb_virtual_counts counts;
	uint64_t ps[3];

	(void)state;
	run(1, 1, displace, ps, &counts);
	CHECK_EQ(ps[0], 500);
	CHECK_EQ(ps[1], 500);
	CHECK_EQ(ps[2], 80 * NS + 500);
}

/* ---- writers of one line queue up ---- */

#define WRITERS 4
#define WRITES	20000

static struct word *contended;

static void *add(void *unused)
{
	(void)unused;
	for (int i = 0; i < WRITES; i++)
		sb_add_rlx(&contended->value, 1);
	return NULL;
}

static void *add_on_all(void *sum)
{
	struct sb_virtual_thread *thread[WRITERS];

	contended = sb_region_calloc(1, sizeof(*contended));
	for (int i = 0; i < WRITERS; i++)
		thread[i] = sb_virtual_start(i, add, NULL);
	for (int i = 0; i < WRITERS; i++)
		sb_virtual_join(thread[i]);
	*(uint64_t *)sum = contended->value;
	return NULL;
}

/* A CPU that has fetched the line adds once, or twice if it keeps the line for long enough. */
static void writers_queue_up(void **state)
{
	struct sb_virtual_counts counts;
	const uint64_t all = WRITERS * WRITES;
	uint64_t sum;

	(void)state;
	run(WRITERS + 1, 3, add_on_all, &sum, &counts);
	CHECK_EQ(sum, all);
	/* One of three times: 5.5 ns of up to 8. */
	assert_true(counts.lines.transfers > all * 7 / 10 && counts.lines.transfers < all * 8 / 10);
	assert_true(counts.end_ps > counts.lines.transfers * 49 * NS);
	assert_true(counts.lines.queued_ps > counts.end_ps);
}

/* ---- threads ---- */

#define SHARERS 3

static uint64_t cpu_time[SHARERS];

static void *work(void *arg)
{
	const uint64_t start = sb_virtual_cpu_ps();

	for (int i = 0; i < 1000; i++)
		sb_virtual_charge(10000 * NS);
	cpu_time[(uintptr_t)arg] = sb_virtual_cpu_ps() - start;
	return NULL;
}

static void *work_together(void *arg)
{
	struct sb_virtual_thread *thread[SHARERS];
	const uint64_t start = sb_virtual_now_ps();
	const bool shared = *(bool *)arg;

	for (int i = 0; i < SHARERS; i++)
		thread[i] = sb_virtual_start(shared ? 0 : i, work, (void *)(uintptr_t)i);
	for (int i = 0; i < SHARERS; i++)
		sb_virtual_join(thread[i]);
	*(uint64_t *)arg = sb_virtual_now_ps() - start;
	return NULL;
}

/* 10 ms each: on a CPU of their own at the same time, on one CPU in turns. */
static void threads_share_a_cpu(void **state)
{
	union {
		bool shared;
		uint64_t took;
	} alone = { .shared = false }, together = { .shared = true };
	struct sb_virtual_counts counts;

	(void)state;
	run(SHARERS + 1, 1, work_together, &alone, &counts);
	assert_uint_in_range(alone.took, UINT64_C(10000000) * NS, UINT64_C(10100000) * NS);
	run(SHARERS + 1, 1, work_together, &together, &counts);
	assert_uint_in_range(together.took, UINT64_C(30000000) * NS, UINT64_C(30200000) * NS);
	for (int i = 0; i < SHARERS; i++)
		assert_uint_in_range(cpu_time[i], UINT64_C(10000000) * NS, UINT64_C(10100000) * NS);
	assert_true(counts.switches > 3 * 3);
}

/* ---- waiting ---- */

static struct sb_parker parker;

static void *unpark_later(void *arg)
{
	sb_thread_sleep(*(uint64_t *)arg);
	sb_unpark(&parker);
	return NULL;
}

/* Parks for at most 1 ms; returns how long it took. */
static uint64_t park_ns(uint64_t unpark_after_ns)
{
	struct sb_thread thread;
	const uint64_t start = sb_clock_ns();
	uint64_t took;

	CHECK_EQ(sb_thread_start(&thread, 0, unpark_later, &unpark_after_ns), 0);
	sb_park(&parker, start + 1000000);
	took = sb_clock_ns() - start;
	sb_thread_join(&thread);
	return took;
}

static void *park(void *unused)
{
	uint64_t start;

	(void)unused;
	sb_parker_init(&parker, SB_PARKING_FUTEX);
	assert_uint_in_range(park_ns(300000), 300000, 330000);
	assert_uint_in_range(park_ns(3000000), 1000000, 1010000);
	/* The token of the second sticks. */
	start = sb_clock_ns();
	sb_park(&parker, UINT64_MAX);
	assert_uint_in_range(sb_clock_ns() - start, 0, 1000);
	return NULL;
}

static void a_parked_thread_is_woken_or_due(void **state)
{
	struct sb_virtual_counts counts;

	(void)state;
	run(2, 5, park, NULL, &counts);
}

struct door {
	struct sb_gate gate;
	int open;
	int through;
};

static bool is_open(void *door)
{
	return ((struct door *)door)->open;
}

static void *go_through(void *arg)
{
	struct door *door = arg;

	assert_true(sb_gate_wait(&door->gate, is_open, door, UINT64_MAX));
	sb_gate_lock(&door->gate);
	door->through++;
	sb_gate_notify_and_unlock(&door->gate);
	return NULL;
}

static void *open_door(void *arg)
{
	struct door *door = arg;
	struct sb_thread thread[3];

	sb_gate_init(&door->gate);
	assert_false(sb_gate_wait(&door->gate, is_open, door, 1000));
	for (int i = 0; i < 3; i++)
		CHECK_EQ(sb_thread_start(&thread[i], i % 2, go_through, door), 0);
	sb_thread_sleep(1000000);
	CHECK_EQ(door->through, 0);
	sb_gate_lock(&door->gate);
	door->open = 1;
	sb_gate_notify_and_unlock(&door->gate);
	for (int i = 0; i < 3; i++)
		sb_thread_join(&thread[i]);
	return NULL;
}

static void a_gate_lets_all_through(void **state)
{
	struct sb_virtual_counts counts;
	struct door door = { .open = 0 };

	(void)state;
	run(3, 9, open_door, &door, &counts);
	CHECK_EQ(door.through, 3);
}

/* ---- the same again ---- */

#define WAITERS 8

struct order {
	struct sb_virtual_thread *thread[WAITERS];
	uint32_t woke[WAITERS];
	uint32_t n;
};

static void *wait_for_noon(void *arg)
{
	struct order *order = arg;

	sb_virtual_wait(NULL, UINT64_C(1000000000) * NS);
	order->woke[order->n++] = sb_virtual_self();
	return NULL;
}

static void *wait_together(void *arg)
{
	struct order *order = arg;

	for (int i = 0; i < WAITERS; i++)
		order->thread[i] = sb_virtual_start(i, wait_for_noon, order);
	for (int i = 0; i < WAITERS; i++)
		sb_virtual_join(order->thread[i]);
	return NULL;
}

/* Which of several comes first at one time. */
static void the_seed_decides(void **state)
{
	struct order order[3] = { 0 };
	struct sb_virtual_counts counts[3];

	(void)state;
	for (int i = 0; i < 3; i++)
		run(WAITERS + 1, i < 2 ? 11 : 12, wait_together, &order[i], &counts[i]);
	assert_memory_equal(order[0].woke, order[1].woke, sizeof(order[0].woke));
	assert_memory_equal(&counts[0], &counts[1], offsetof(struct sb_virtual_counts, threads));
	assert_memory_equal(&counts[0].lines, &counts[1].lines, sizeof(counts[0].lines));
	assert_memory_not_equal(order[0].woke, order[2].woke, sizeof(order[0].woke));
}

static void *run_again(void *rc)
{
	const struct sb_model model = sb_model_plain(1);
	const struct sb_virtual_setup setup = { .model = &model };
	struct sb_virtual_counts counts;

	*(int *)rc = sb_virtual_run(&setup, run_again, rc, &counts);
	return NULL;
}

static void a_run_within_a_run_is_refused(void **state)
{
	struct sb_virtual_counts counts;
	int rc = 0;

	(void)state;
	run(1, 1, run_again, &rc, &counts);
	CHECK_EQ(rc, -EBUSY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_is_what_is_charged),
		cmocka_unit_test(a_line_costs_what_its_way_does),
		cmocka_unit_test(stores_are_waited_for_by_fences),
		cmocka_unit_test(the_line_used_longest_ago_is_displaced),
		cmocka_unit_test(writers_queue_up),
		cmocka_unit_test(threads_share_a_cpu),
		cmocka_unit_test(a_parked_thread_is_woken_or_due),
		cmocka_unit_test(a_gate_lets_all_through),
		cmocka_unit_test(the_seed_decides),
		cmocka_unit_test(a_run_within_a_run_is_refused),
	};

	return cmocka_run_group_tests_name("engine", tests, NULL, NULL);
}
