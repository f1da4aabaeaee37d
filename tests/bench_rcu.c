/*
 * bench_rcu.c - what liburcu's flavours cost, one thread, nothing contended:
 * `make micro`. A program to read, not a test; core/reclaim.h says what follows
 * from it.
 *
 * Each flavour is used as a program calls it that does not include liburcu's
 * LGPL parts (_LGPL_SOURCE): its read lock is a call into the library, but for
 * QSBR's, which is nothing. What a reader pays with QSBR instead are the two
 * lines at the end.
 */
#include <stdio.h>
#include <urcu/urcu-bp.h>
#include <urcu/urcu-mb.h>
#include <urcu/urcu-memb.h>
#include <urcu/urcu-qsbr.h>

#include <urcu/rculfhash.h>

#include "tests/bench.h"

/* liburcu's headers declare the flavour of the first one only. */
extern const struct rcu_flavor_struct urcu_qsbr_flavor;
extern const struct rcu_flavor_struct urcu_memb_flavor;
extern const struct rcu_flavor_struct urcu_mb_flavor;

#define READS	     2000000u
#define LOOKUPS	     1000000u
#define SYNCHRONIZES 10000u

#define FEW  1000u
#define MANY 1000000u

/* As large as what the map of PIDs holds of a process: one line. */
struct item {
	alignas(64) struct cds_lfht_node node;
	uint64_t key;
};

static struct cds_lfht *table;
static struct item *items;
static uint32_t keys; /* 0 .. keys - 1 are in the table */
static uint64_t sink;

static int match(struct cds_lfht_node *node, const void *key)
{
	return sb_container_of(node, struct item, node)->key ==
	       *(const uint64_t *)key;
}

static inline void look_up(struct sb_rng *rng)
{
	const uint64_t key = sb_rng_below(rng, keys);
	struct cds_lfht_iter iter;

	cds_lfht_lookup(table, key, match, &key, &iter);
	sink += cds_lfht_iter_get_node(&iter) != NULL;
}

struct flavour {
	const char *name;
	const struct rcu_flavor_struct *rcu;
	void (*read)(uint32_t n);
	void (*look_up)(uint32_t n);
	void (*synchronize)(uint32_t n);
};

/* The calls are spelled out: through the table of functions that liburcu has
 * for each flavour they would cost more. */
#define FLAVOUR(flavour)                                                       \
	static void flavour##_read(uint32_t n)                                 \
	{                                                                      \
		while (n--) {                                                  \
			urcu_##flavour##_read_lock();                          \
			__asm__ __volatile__("" ::: "memory");                 \
			urcu_##flavour##_read_unlock();                        \
		}                                                              \
	}                                                                      \
	static void flavour##_look_up(uint32_t n)                              \
	{                                                                      \
		struct sb_rng rng;                                             \
                                                                               \
		sb_rng_seed(&rng, n);                                          \
		while (n--) {                                                  \
			urcu_##flavour##_read_lock();                          \
			look_up(&rng);                                         \
			urcu_##flavour##_read_unlock();                        \
		}                                                              \
	}                                                                      \
	static void flavour##_synchronize(uint32_t n)                          \
	{                                                                      \
		while (n--)                                                    \
			urcu_##flavour##_synchronize_rcu();                    \
	}

FLAVOUR(qsbr)
FLAVOUR(memb)
FLAVOUR(mb)
FLAVOUR(bp)

#define ROW(flavour)                                                           \
	{                                                                      \
#flavour, &urcu_##flavour##_flavor, flavour##_read,            \
			flavour##_look_up, flavour##_synchronize               \
	}

static const struct flavour flavours[] = { ROW(qsbr), ROW(memb), ROW(mb),
					   ROW(bp) };

static void quiescent(uint32_t n)
{
	while (n--)
		urcu_qsbr_quiescent_state();
}

static void online_offline(uint32_t n)
{
	while (n--) {
		urcu_qsbr_thread_online();
		urcu_qsbr_thread_offline();
	}
}

static void print_ns(struct bench_ns ns)
{
	char text[64];

	snprintf(text, sizeof(text), "%.2f [%.2f .. %.2f]", ns.median, ns.min,
		 ns.max);
	printf(" %26s", text);
}

/* A bucket for each key from the start, so that nothing is resized. */
static bool fill(const struct flavour *f, uint32_t n)
{
	uint32_t buckets = 1;

	while (buckets < n)
		buckets *= 2;
	table = cds_lfht_new_flavor(buckets, buckets, 0, 0, f->rcu, NULL);
	if (!table)
		return false;
	f->rcu->read_lock();
	for (keys = 0; keys < n; keys++) {
		cds_lfht_node_init(&items[keys].node);
		items[keys].key = keys;
		cds_lfht_add(table, keys, &items[keys].node);
	}
	f->rcu->read_unlock();
	return true;
}

static void empty(const struct flavour *f)
{
	f->rcu->read_lock();
	for (uint32_t i = 0; i < keys; i++)
		SB_CHECK(cds_lfht_del(table, &items[i].node), ==, 0);
	f->rcu->read_unlock();
	f->rcu->update_synchronize_rcu();
	SB_CHECK(cds_lfht_destroy(table, NULL), ==, 0);
}

static bool report_look_up(const struct flavour *f, uint32_t n)
{
	if (!fill(f, n))
		return false;
	print_ns(bench_time(f->look_up, LOOKUPS));
	empty(f);
	return true;
}

static bool report(const struct flavour *f)
{
	bool ok;

	printf("%-16s", f->name);
	f->rcu->register_thread();
	print_ns(bench_time(f->read, READS));
	ok = report_look_up(f, FEW) && report_look_up(f, MANY);
	print_ns(bench_time(f->synchronize, SYNCHRONIZES));
	f->rcu->unregister_thread();
	printf("\n");
	return ok;
}

static void report_qsbr(const char *name, void (*run)(uint32_t n))
{
	printf("%-16s", name);
	urcu_qsbr_register_thread();
	print_ns(bench_time(run, READS));
	urcu_qsbr_unregister_thread();
	printf("\n");
}

int main(void)
{
	items = aligned_alloc(alignof(struct item), MANY * sizeof(*items));
	if (!items)
		return 1;
	printf("%-16s %26s %26s %26s %26s\n", "liburcu, ns", "read section",
	       "look-up among 1 000", "among 1 000 000", "synchronize, alone");
	for (size_t i = 0; i < SB_ARRAY_SIZE(flavours); i++) {
		if (!report(&flavours[i]))
			return 1;
	}
	report_qsbr("qsbr quiescent", quiescent);
	report_qsbr("qsbr on+offline", online_offline);
	free(items);
	return sink == 0;
}
