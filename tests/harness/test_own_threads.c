/*
 * The CPU time that threads of this process which are no workers take on the workers' CPUs.
 *
 * Property: a thread that exists at the end of a repetition counts if it is on one of these CPUs
 *   then; one that has begun and ended meanwhile counts if it may run there.
 * Method: made-up files, and a thread that uses CPU time. A thread's CPU time is asserted, never
 *   how long that took.
 */
#include <inttypes.h>
#include <math.h>

#include "core/platform/platform.h"
#include "harness/kernel/own_threads.h"
#include "tests/tree.h"

static void put_thread(const char *root, int id, int cpu, uint64_t run_ns)
{
	char path[64];
	char text[256];

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", id);
	snprintf(text, sizeof(text),
		 "%d (a ) name) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 "
		 "25 26 "
		 "27 28 29 30 31 32 33 34 35 %d 37\n",
		 id, cpu);
	tree_put(root, path, text);
	snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", id);
	snprintf(text, sizeof(text), "%" PRIu64 " 0 1\n", run_ns);
	tree_put(root, path, text);
}

/* CPUs 1 and 3 are the workers'. */
static void other_threads_count_on_the_workers_cpus(void **state)
{
	static const int worker = 77;
	char root[] = "/tmp/sb-test-XXXXXX";
	struct sb_cpu_mask cpus = { 0 };
	struct sb_own_threads own = {
		.root = root, .worker = &worker, .workers = 1, .cpus = &cpus
	};

	(void)state;
	sb_cpu_mask_add(&cpus, 1);
	sb_cpu_mask_add(&cpus, 3);
	tree_make(root);
	put_thread(root, 77, 1, 1000000);
	put_thread(root, 78, 0, 5000000);
	put_thread(root, 79, 1, 5000000);
	sb_own_threads_begin(&own, 1000000);
	put_thread(root, 77, 1, 91000000);
	put_thread(root, 78, 3, 8000000);  /* 3 ms, and it is there now */
	put_thread(root, 79, 2, 99000000); /* elsewhere */
	put_thread(root, 80, 1, 4000000);  /* new */
	CHECK_EQ((uint64_t)(1000 * sb_own_threads_ms(&own, 91000000)), 7000);
	tree_remove(root);
	assert_true(isnan(sb_own_threads_ms(&own, 91000000)));
}

#define BURNT_NS UINT64_C(30000000)

static void *burn(void *unused)
{
	const uint64_t start_ns = sb_clock_thread_cpu_ns();

	while (sb_clock_thread_cpu_ns() - start_ns < BURNT_NS)
		;
	return unused;
}

/* Begins and ends within the repetition, beside a worker, which is this thread. */
static double ms_of_an_ended_thread(const struct sb_cpu_mask *cpus)
{
	const int worker = sb_thread_self_id();
	struct sb_own_threads own = { .root = "", .worker = &worker, .workers = 1, .cpus = cpus };
	struct sb_thread thread;

	sb_own_threads_begin(&own, sb_clock_thread_cpu_ns());
	assert_int_equal(sb_thread_start(&thread, -1, burn, NULL), 0);
	(void)burn(NULL);
	sb_thread_join(&thread);
	return sb_own_threads_ms(&own, sb_clock_thread_cpu_ns());
}

static void ended_threads_count_where_they_may_run(void **state)
{
	struct sb_cpu_mask cpus;
	double ms;

	(void)state;
	CHECK_EQ(sb_cpu_mask_read(&cpus), 0);
	ms = ms_of_an_ended_thread(&cpus);
	assert_true(ms > 0.99e-6 * BURNT_NS && ms < 1.9e-6 * BURNT_NS);
	assert_true(ms_of_an_ended_thread(&(struct sb_cpu_mask){ 0 }) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(other_threads_count_on_the_workers_cpus),
		cmocka_unit_test(ended_threads_count_where_they_may_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
