/*
 * kind.h - a kind of micro benchmark: one primitive, done n times, and the check
 * that nothing was lost on the way. The same loop is run under Google Benchmark
 * for its time (harness/verbs/micro.c) and under callgrind for its
 * instructions (harness/micro/callgrind.c).
 *
 * A kind's checks come from what its structures hold and what its loops have
 * counted, and are held against the operations that were asked for. Whoever adds
 * a kind writes a check that fails for one operation more or less:
 * tests/harness/test_micro.c asks every kind for that.
 */
#ifndef SB_HARNESS_MICRO_KIND_H
#define SB_HARNESS_MICRO_KIND_H

#include "core/platform/base.h"

/* How time per operation grows with the argument; Google Benchmark then fits the
 * coefficient and says how well. */
enum sb_micro_fit { SB_MICRO_FIT_NONE, SB_MICRO_FIT_1, SB_MICRO_FIT_N };

#define SB_MICRO_ARGS	     4
#define SB_MICRO_COUNTERS    2
#define SB_MICRO_THREADS_MAX 4

struct sb_micro_kind;

/* A further finding of a check, over all threads; name NULL: none. */
struct sb_micro_counter {
	const char *name;
	double value;
};

/* One kind with one argument, while it runs. */
struct sb_micro {
	const struct sb_micro_kind *kind;
	int64_t arg; /* 0: the kind has none */
	uint32_t threads;
	void *state; /* of state_bytes, zeroed before set_up */
	/* Set by check, where threads have parts to play and not each operation
	 * is an item; 0: as many as operations. */
	uint64_t items;
	struct sb_micro_counter counter[SB_MICRO_COUNTERS];
};

struct sb_micro_kind {
	const char *name; /* "deque/steal_one/counted"; NULL ends a table */
	const char *doc;
	const char *arg_name; /* NULL: there is no argument */
	int64_t arg[SB_MICRO_ARGS];
	uint32_t threads[3]; /* how many, in turn; none: one */
	enum sb_micro_fit fit;
	/* Other threads do the work, or all wait for each other: the time of the
	 * wall counts, and the CPU time is the process's. */
	bool elsewhere;
	const char *uncounted; /* why there is no instruction count; or NULL */
	unsigned int variant;  /* the kind's own */
	size_t state_bytes;

	/* By one thread before the others begin. 0 or -errno; after an error
	 * tear_down is called, too. */
	int (*set_up)(struct sb_micro *m);
	/* n operations, by each of the threads at the same time; may be called
	 * again. */
	void (*run)(struct sb_micro *m, uint32_t thread, uint64_t n);
	/* By one thread, after all: NULL, or what is wrong. operations: of all
	 * threads and runs. */
	const char *(*check)(struct sb_micro *m, uint64_t operations);
	void (*tear_down)(struct sb_micro *m); /* may be NULL */
};

/* All of them, from list.def; a build can add some of its own, the tests do. */
extern const struct sb_micro_kind *const sb_micro_tables[];

/* Calls visit for each. */
#define SB_FOR_EACH_KIND(k)                                                                        \
	for (const struct sb_micro_kind *const *sb_table_ = sb_micro_tables; *sb_table_;           \
	     sb_table_++)                                                                          \
		for (const struct sb_micro_kind *k = *sb_table_; k->name; k++)

/* How many arguments, and how many numbers of threads; at least one of each. */
uint32_t sb_micro_args(const struct sb_micro_kind *kind);
uint32_t sb_micro_thread_counts(const struct sb_micro_kind *kind);

/* "deque/push_pop/counted/items:64", as Google Benchmark has it. */
#define SB_MICRO_NAME_BYTES 80
void sb_micro_name(char *out, const struct sb_micro_kind *kind, int64_t arg);

/* Sets it up; 0 or -errno. End in any case. m->kind, arg and threads are set. */
SB_MUST_CHECK int sb_micro_begin(struct sb_micro *m);
void sb_micro_end(struct sb_micro *m);

/* ---- for those who write kinds ---- */

/* A thread's observations, on cache lines of its own. Numbers come in any order, each
 * once: their sum and the sum of their squares tell. */
struct sb_micro_tally {
	alignas(SB_LINE) uint64_t items;
	uint64_t sum;
	uint64_t squares;
	uint64_t tries;
	uint64_t hits;	   /* of the tries */
	uint64_t retries;  /* tries that lost a race, or waits for others */
	uint64_t disorder; /* came before one that should have come first */
};

static inline void sb_micro_saw(struct sb_micro_tally *tally, uint64_t number)
{
	tally->items++;
	tally->sum += number;
	tally->squares += number * number;
}

static inline bool sb_micro_same(const struct sb_micro_tally *a, const struct sb_micro_tally *b)
{
	return a->items == b->items && a->sum == b->sum && a->squares == b->squares;
}

/* The value is computed, and goes nowhere. */
static inline void sb_micro_keep(uint64_t value)
{
	__asm__ __volatile__("" ::"r"(value));
}

/* Waiting for another thread, which may wait for this one's CPU. */
void sb_micro_wait(uint32_t *looks);

#endif
