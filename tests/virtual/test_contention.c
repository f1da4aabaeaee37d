/*
 * One cache line that many CPUs add to: fetch-and-add, and a loop of compare-and-swap.
 *
 * Property: the throughput is near published curves. In one socket the line goes to another CPU
 *   after nearly each addition; a loop of compare-and-swap has a sixth of the throughput or more, on
 *   any number of CPUs; on all of two sockets both are below ten million a second.
 * Method: up to 128 CPUs add for a fixed time on machines with published distances and rates.
 *   One socket: travisdowns/concurrency-hierarchy-bench (GitHub), results/skl/combined.csv (Skylake,
 *   4 cores, 2020), medians of the rows 'atomic add' and 'cas add'; with the distance of
 *   nviennot/core-to-core-latency (GitHub), results/Intel Core i7-6700K.csv, median 19 ns. Two
 *   sockets: the distances of epyc-2s-nps4; 10 M/s and below (David, Guerraoui and Trigonakis, SOSP
 *   2013, throughput of atomic operations on one location) and 4 to 6 tries for each success of a
 *   compare-and-swap (Morrison and Afek, PPoPP 2013), both from memory.
 */
#include <string.h>

#include "tests/test.h"

#define MAX_CPUS 128
#define RUN_PS	 UINT64_C(200000000)

static _Atomic(uint64_t) *counter;
static uint64_t end_ps;
static uint32_t adders;

static void *add(void *unused)
{
	(void)unused;
	while (sb_virtual_now_ps() < end_ps)
		for (int i = 0; i < 64; i++)
			sb_add_rlx(counter, 1);
	return NULL;
}

static void swap_in_one_more(void)
{
	uint64_t value = sb_load_rlx(counter);

	while (!sb_cas_acq_rel(counter, &value, value + 1))
		;
}

static void *add_by_cas(void *unused)
{
	(void)unused;
	while (sb_virtual_now_ps() < end_ps)
		for (int i = 0; i < 64; i++)
			swap_in_one_more();
	return NULL;
}

static void *run_adders(void *entry)
{
	struct sb_virtual_thread *thread[MAX_CPUS];

	counter = sb_region_calloc(8, sizeof(*counter));
	end_ps = sb_virtual_now_ps() + RUN_PS;
	for (uint32_t i = 0; i < adders; i++)
		thread[i] = sb_virtual_start((int)i, *(void *(**)(void *))entry, NULL);
	for (uint32_t i = 0; i < adders; i++)
		sb_virtual_join(thread[i]);
	end_ps = *counter;
	return NULL;
}

/* Additions a microsecond. */
static double rate(struct sb_model *model, uint32_t n, void *(*entry)(void *))
{
	const struct sb_virtual_setup setup = { .model = model, .seed = 7 };
	struct sb_virtual_counts counts;

	adders = n;
	CHECK_EQ(sb_virtual_run(&setup, run_adders, &entry, &counts), 0);
	return (double)end_ps * 1e6 / (double)counts.end_ps;
}
/* ---- one socket ---- */

/* An i7-6700K has 4 cores. */
static struct sb_model one_socket(void)
{
	struct sb_model model = sb_model_plain(MAX_CPUS + 1);

	model.cost.thread_start_ps = 0;
	model.transfer_ps[SB_HOP_CACHE] = 19500;
	model.cost.hit_ps = 200;
	model.cost.rmw_ps = 4500;
	model.cost.hold_ps = 3100;
	return model;
}

/* In M/s, by the published time of an addition of each of so many CPUs. */
static const struct published {
	uint32_t cpus;
	double add, cas;
} skylake[] = {
	{ 1, 1e3 / 7.0, 1e3 / 12.0 },
	{ 2, 2e3 / 44.1, 2e3 / 108.6 },
	{ 3, 3e3 / 70.0, 3e3 / 226.8 },
	{ 4, 4e3 / 96.4, 4e3 / 347.2 },
};

static void curves_in_one_socket_are_as_published(void **state)
{
	struct sb_model model = one_socket();

	(void)state;
	for (size_t i = 1; i < SB_ARRAY_SIZE(skylake); i++) {
		const struct published *p = &skylake[i];
		const double added = rate(&model, p->cpus, add);
		const double swapped = rate(&model, p->cpus, add_by_cas);

		fprintf(stderr, "# %u CPUs: add %.1f M/s (published %.1f), CAS %.1f (%.1f)\n",
			p->cpus, added, p->add, swapped, p->cas);
		assert_true(added > 0.8 * p->add && added < 1.25 * p->add);
		assert_true(swapped > 0.67 * p->cas && swapped < 1.5 * p->cas);
	}
}

/* Without a second try, N CPUs take N. */
static void without_a_hold_loops_collapse(void **state)
{
	struct sb_model model = one_socket();
	double held;

	(void)state;
	held = rate(&model, 16, add_by_cas);
	model.cost.hold_ps = 0;
	assert_true(rate(&model, 16, add_by_cas) < held / 3);
}

/* ---- two sockets ---- */

static void curves_across_sockets_are_near_published_ones(void **state)
{
	static struct sb_model_place place[MAX_CPUS + 1];
	static const uint64_t transfer_ps[SB_HOPS] = { 10000, 27000, 89000, 98000, 196000 };
	struct sb_model model = sb_model_plain(MAX_CPUS + 1);

	(void)state;
	for (int i = 0; i <= MAX_CPUS; i++)
		place[i] = (struct sb_model_place){ .core = (uint16_t)i,
						    .cache = (uint16_t)(i / 8),
						    .node = (uint16_t)(i / 16),
						    .package = (uint16_t)(i / 64) };
	model.place = place;
	model.cost.thread_start_ps = 0;
	memcpy(model.transfer_ps, transfer_ps, sizeof(transfer_ps));
	model.cost.hit_ps = 200;
	model.cost.rmw_ps = 1993;
	model.cost.hold_ps = 1500;
	for (uint32_t n = 2; n <= MAX_CPUS; n *= 2) {
		const double added = rate(&model, n, add);
		const double swapped = rate(&model, n, add_by_cas);

		fprintf(stderr, "# %u CPUs: add %.1f M/s, CAS %.1f\n", n, added, swapped);
		assert_true(added / swapped > 1.5 && added / swapped < 6);
		assert_true(n < MAX_CPUS || added < 10);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(curves_in_one_socket_are_as_published),
		cmocka_unit_test(without_a_hold_loops_collapse),
		cmocka_unit_test(curves_across_sockets_are_near_published_ones),
	};

	return cmocka_run_group_tests_name("contention", tests, NULL, NULL);
}
