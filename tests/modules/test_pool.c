/* test_pool.c - pools: objects are apart, lie together, and come home from other threads. */
#include <errno.h>
#include <string.h>

#include "core/dispatch.h"
#include "core/hist.h"
#include "core/memory/arena.h"
#include "core/memory/pool.h"
#include "core/queue/runq.h"
#include "core/wake/idle.h"
#include "core/word.h"
#include "tests/test.h"

/* ---- pools ---- */

/* More than fit in one block of slabs. */
static void pool_objects_do_not_overlap(void **state)
{
	enum { N = 9000 };
	static unsigned char *object[N];
	static const size_t sizes[] = { 1, 16, 48, 192, 1024, 5000 };
	struct sb_pool pool;

	(void)state;
	sb_pool_init(&pool, &(struct sb_pool_owner){ .arena = SB_HEAP });
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < N; i++) {
			const size_t size = sizes[i % 6];

			object[i] = sb_pool_alloc(&pool, size);
			assert_non_null(object[i]);
			CHECK_EQ((uintptr_t)object[i] % 16, 0);
			if (size % 64 == 0)
				CHECK_EQ((uintptr_t)object[i] % 64, 0);
			memset(object[i], i & 255, size);
		}
		for (int i = 0; i < N; i++) {
			const size_t size = sizes[i % 6];

			CHECK_EQ(object[i][0], i & 255);
			CHECK_EQ(object[i][size - 1], i & 255);
			sb_pool_free(&pool, object[i], size);
		}
	}
	/* What is left of it now is a leak. */
	memset(object, 0, sizeof(object));
	sb_pool_fini(&pool);
}

/* In whatever order it was freed: each slab is used up before the next. */
static void pool_objects_taken_together_lie_together(void **state)
{
	enum { N = 5000, SIZE = 192 };
	static void *object[N];
	struct sb_pool pool;
	struct sb_rng rng;
	uint64_t held;

	(void)state;
	sb_rng_seed(&rng, sb_test_seed());
	sb_pool_init(&pool, &(struct sb_pool_owner){ .arena = SB_HEAP });
	for (int i = 0; i < N; i++)
		object[i] = sb_pool_alloc(&pool, SIZE);
	held = sb_counter_read(&pool.held_bytes);
	for (int round = 0; round < 5; round++) {
		uint64_t changes = 0;

		for (int i = N - 1; i >= 0; i--) {
			const uint32_t j = sb_rng_below(&rng, (uint32_t)i + 1);

			sb_pool_free(&pool, object[j], SIZE);
			object[j] = object[i];
		}
		for (int i = 0; i < N; i++) {
			object[i] = sb_pool_alloc(&pool, SIZE);
			changes += i && sb_slab_of(object[i]) != sb_slab_of(object[i - 1]);
		}
		assert_true(changes <= held / SB_SLAB_BYTES);
		CHECK_EQ(sb_counter_read(&pool.held_bytes), held);
	}
	memset(object, 0, sizeof(object));
	sb_pool_fini(&pool);
}

static bool something_is_free(const struct sb_pool *pool, size_t size)
{
	return pool->current[sb_pool_class(size)]->free != NULL;
}

/* What another pool frees comes home, and is handed out again. */
static void pool_objects_come_home(void **state)
{
	enum { N = 100, SIZE = 48 };
	struct sb_pool home, other;
	void *object[N];
	void *again[N];
	int back = 0;

	(void)state;
	sb_pool_init(&home, &(struct sb_pool_owner){ .arena = SB_HEAP });
	sb_pool_init(&other, &(struct sb_pool_owner){ .arena = SB_HEAP });
	/* Use the first slab up, so that home has to look for returns. */
	while (!home.blocks || something_is_free(&home, SIZE))
		object[0] = sb_pool_alloc(&home, SIZE);
	for (int i = 0; i < N; i++)
		object[i] = sb_pool_alloc(&home, SIZE);
	while (something_is_free(&home, SIZE))
		assert_non_null(sb_pool_alloc(&home, SIZE));
	for (int i = 0; i < N; i++)
		sb_pool_free(&other, object[i], SIZE);
	assert_null(other.blocks);
	sb_pool_flush(&other);
	/* All that home handed out, less what came back through the other. */
	CHECK_EQ(sb_counter_read(&other.used_bytes), -(uint64_t)N * 48);
	for (int i = 0; i < N; i++) {
		again[i] = sb_pool_alloc(&home, SIZE);
		for (int j = 0; j < N; j++)
			back += again[i] == object[j];
	}
	CHECK_EQ(back, N);
	sb_pool_fini(&other);
	sb_pool_fini(&home);
}

/* Of all sizes at once, in any order; each comes home, once, and whole. */
static void pool_objects_of_all_sizes_come_home(void **state)
{
	enum { N = 3000, KINDS = 5 };
	static const size_t sizes[KINDS] = { 16, 32, 48, 128, 1024 };
	static unsigned char *object[N];
	struct sb_pool home, other;
	struct sb_rng rng;
	uint64_t held;

	(void)state;
	sb_rng_seed(&rng, sb_test_seed());
	sb_pool_init(&home, &(struct sb_pool_owner){ .arena = SB_HEAP });
	sb_pool_init(&other, &(struct sb_pool_owner){ .arena = SB_HEAP });
	for (int i = 0; i < N; i++)
		object[i] = sb_pool_alloc(&home, sizes[i % KINDS]);
	/* Nothing but what comes home is free now. */
	for (int k = 0; k < KINDS; k++) {
		while (something_is_free(&home, sizes[k]))
			assert_non_null(sb_pool_alloc(&home, sizes[k]));
	}
	held = sb_counter_read(&home.held_bytes);
	for (int round = 0; round < 5; round++) {
		int order[N];

		for (int i = 0; i < N; i++) {
			const uint32_t j = sb_rng_below(&rng, (uint32_t)i + 1);

			order[i] = order[j];
			order[j] = i;
		}
		for (int i = 0; i < N; i++)
			sb_pool_free(&other, object[order[i]], sizes[order[i] % KINDS]);
		sb_pool_flush(&other);
		for (int i = 0; i < N; i++) {
			object[i] = sb_pool_alloc(&home, sizes[i % KINDS]);
			memset(object[i], i % 251, sizes[i % KINDS]);
		}
		for (int i = 0; i < N; i++) {
			for (size_t b = 0; b < sizes[i % KINDS]; b++)
				CHECK_EQ(object[i][b], i % 251);
		}
		CHECK_EQ(sb_counter_read(&home.held_bytes), held);
	}
	memset(object, 0, sizeof(object));
	sb_pool_fini(&other);
	sb_pool_fini(&home);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pool_objects_do_not_overlap),
		cmocka_unit_test(pool_objects_taken_together_lie_together),
		cmocka_unit_test(pool_objects_come_home),
		cmocka_unit_test(pool_objects_of_all_sizes_come_home),
	};

	return cmocka_run_group_tests_name("parts", tests, NULL, NULL);
}
