/*
 * bench_core.c - what the scheduler's primitives cost, one thread, nothing
 * contended: `make micro`. A program to read, not a test.
 *
 * Each line is the median of 9 repetitions, with the smallest and the largest.
 */
#include <stdio.h>

#include "core/deque.h"
#include "core/hist.h"
#include "core/idle.h"
#include "core/mem.h"
#include "core/pidmap.h"
#include "core/pool.h"
#include "core/reclaim.h"
#include "core/runq.h"
#include "tests/bench.h"

#define LOOPS 2000000u

static struct sb_deque deque;
static struct sb_runq runq;
static struct sb_pool pool;
static struct sb_idle idle;
static struct sb_hist hist;
static struct sb_pidmap *pidmap;
static struct sb_process *processes;
static uint64_t sink;

#define PROCESSES 1000

static void push_pop(uint32_t n)
{
	while (n--) {
		sb_deque_push(&deque, &deque);
		sb_deque_pop(&deque);
	}
}

static void push_pop_64(uint32_t n)
{
	for (; n > 64; n -= 64) {
		for (int i = 0; i < 64; i++)
			sb_deque_push(&deque, &deque);
		for (int i = 0; i < 64; i++)
			sb_deque_pop(&deque);
	}
}

static void push_steal(uint32_t n)
{
	void *item;

	while (n--) {
		sb_deque_push(&deque, &deque);
		sb_deque_steal_one(&deque, &item);
	}
}

static void queue_push_take(uint32_t n)
{
	uint32_t count;

	while (n--) {
		sb_runq_push(&runq, &processes[0]);
		sb_runq_take(&runq, 1, 1, &count);
	}
}

static void post_take_release(uint32_t n)
{
	static struct sb_event_node node;
	struct sb_process *p = &processes[0];

	sb_store_rlx(&p->word, (uint64_t)SB_STATE_IDLE);
	while (n--) {
		sb_word_post(p, &node);
		sb_word_take(p);
		sb_word_release(p, SB_STATE_IDLE);
	}
}

static void alloc_free(uint32_t n)
{
	while (n--)
		sb_pool_free(&pool, sb_pool_alloc(&pool, 48), 48);
}

static void lookup(uint32_t n)
{
	while (n--)
		sink += sb_pidmap_lookup(pidmap, 1 + n % PROCESSES)->pid;
}

static void quiescent(uint32_t n)
{
	while (n--)
		sb_rcu_quiescent();
}

static void fence_and_look(uint32_t n)
{
	while (n--) {
		sb_fence_store_load(&idle.counts);
		sink += sb_idle_wake_wanted(&idle);
	}
}

static void record(uint32_t n)
{
	while (n--)
		sb_hist_record(&hist, n);
}

static void read_clock(uint32_t n)
{
	while (n--)
		sink += sb_clock_ns();
}

static const struct {
	const char *name;
	void (*run)(uint32_t n);
} benches[] = {
	{ "deque: push + pop, empty", push_pop },
	{ "deque: push + pop, 64 deep", push_pop_64 },
	{ "deque: push + steal", push_steal },
	{ "run queue: push + take", queue_push_take },
	{ "state word: post + take + release", post_take_release },
	{ "pool: alloc + free", alloc_free },
	{ "pid map: look-up among 1000", lookup },
	{ "rcu: quiescent state", quiescent },
	{ "publish: fence + look at idle word", fence_and_look },
	{ "histogram: record", record },
	{ "clock", read_clock },
};

static void report(const char *name, void (*run)(uint32_t n))
{
	const struct bench_ns ns = bench_time(run, LOOPS);

	printf("%-36s %6.2f ns  [%.2f .. %.2f]\n", name, ns.median, ns.min,
	       ns.max);
}

static int set_up(void)
{
	sb_rcu_worker_register();
	sb_runq_init(&runq);
	sb_pool_init(&pool, &(struct sb_pool_owner){ .arena = SB_HEAP });
	pidmap = sb_pidmap_create();
	processes =
		sb_mem_zalloc(SB_HEAP, PROCESSES * sizeof(*processes), SB_LINE);
	if (!pidmap || !processes ||
	    sb_deque_init(&deque, SB_DEQUE_COUNTED, SB_HEAP) ||
	    sb_idle_init(&idle, 2, 0))
		return 1;
	for (uint32_t i = 0; i < PROCESSES; i++) {
		processes[i].pid = i + 1;
		sb_pidmap_add(pidmap, &processes[i]);
	}
	return 0;
}

int main(void)
{
	if (set_up())
		return 1;
	for (size_t i = 0; i < SB_ARRAY_SIZE(benches); i++)
		report(benches[i].name, benches[i].run);
	return sink == 0;
}
