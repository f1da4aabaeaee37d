/* giveback.h - shared by the tests test_giveback, test_giveback_races. */
#ifndef SB_TESTS_GIVEBACK_H
#define SB_TESTS_GIVEBACK_H

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/memory/arena.h"
#include "core/memory/pool.h"
#include "core/queue/runq.h"
#include "core/word.h"
#include "tests/test.h"

#define MIB (UINT64_C(1) << 20)

/* Of a pool that nothing is taken from any more. */
#define REST_BYTES MIB

/* The periods within which the memory of a peak is back. */
#define PERIODS 3

/* ---- pools, with a clock of the test's own ---- */

static uint64_t now_ns;

static inline void begin(struct sb_pool *pool)
{
	sb_pool_init(pool, &(struct sb_pool_owner){ .arena = SB_HEAP });
	sb_pool_trim(pool, now_ns);
}

static inline void pass_periods(struct sb_pool *pool, int periods)
{
	while (periods--) {
		now_ns += SB_POOL_PERIOD_NS;
		do {
			sb_pool_trim(pool, now_ns);
			now_ns += SB_POOL_TRIM_PAUSE_NS;
		} while (pool->is_examining && now_ns >= pool->trim_ns);
	}
}

static inline uint64_t held(struct sb_pool *pool)
{
	return sb_counter_read(&pool->held_bytes);
}

/* An object that the model knows. */
struct object {
	unsigned char *at; /* NULL: none */
	size_t size;
	unsigned char mark;
};

static inline void take(struct sb_pool *pool, struct object *o, size_t size)
{
	static unsigned char mark;

	*o = (struct object){ .at = sb_pool_alloc(pool, size), .size = size, .mark = ++mark };
	assert_non_null(o->at);
	memset(o->at, o->mark, size);
}

static inline void check_whole(const struct object *o)
{
	CHECK_EQ(o->at[0], o->mark);
	assert_true(!memcmp(o->at, o->at + 1, o->size - 1));
}

static inline void put(struct sb_pool *mine, struct object *o)
{
	check_whole(o);
	sb_pool_free(mine, o->at, o->size);
	o->at = NULL;
}

enum { N = SB_SCALE(80000), SIZE = 192 };

static struct object object[N];

static inline void take_all(struct sb_pool *pool)
{
	for (int i = 0; i < N; i++)
		take(pool, &object[i], SIZE);
}

static inline void put_all(struct sb_pool *mine)
{
	for (int i = 0; i < N; i++)
		put(mine, &object[i]);
}

#endif
