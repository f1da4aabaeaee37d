/*
 * Memory that a peak has taken goes back to the system.
 *
 * Property: after a peak the pages of a pool are given back, but for a bounded rest;
 *   memory that is needed again and again is kept.
 * Method: pools with a clock of the test's own; the kernel (mincore) says which pages
 *   are resident.
 * Bound: two pools.
 */
#include "tests/modules/giveback.h"

/* As an owner that sleeps until a trim is due. */
static void sleep_until_settled(struct sb_pool *pool)
{
	const uint64_t end_ns = now_ns + (PERIODS + 1) * SB_POOL_PERIOD_NS;

	while (sb_pool_trim_due(pool) < UINT64_MAX) {
		now_ns = sb_max_u64(now_ns, sb_pool_trim_due(pool));
		assert_true(now_ns < end_ns);
		sb_pool_trim(pool, now_ns);
	}
}

static uint64_t resident_bytes(const struct sb_pool *pool)
{
	static unsigned char page[SB_BLOCK_SLABS * SB_SLAB_BYTES / 4096];
	const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	const size_t bytes = SB_BLOCK_SLABS * SB_SLAB_BYTES;
	uint64_t sum = 0;

	for (struct sb_pool_block *b = pool->blocks; b; b = b->next) {
		CHECK_EQ(mincore(b->slabs, bytes, page), 0);
		for (size_t i = 0; i < bytes / page_bytes; i++)
			sum += (page[i] & 1) * page_bytes;
	}
	return sum;
}

static void a_peak_is_given_back(void **state)
{
	struct sb_pool pool;

	(void)state;
	begin(&pool);
	for (int round = 0; round < 3; round++) {
		take_all(&pool);
		assert_true(held(&pool) >= (uint64_t)N * SIZE);
		assert_true(resident_bytes(&pool) >= (uint64_t)N * SIZE);
		put_all(&pool);
		assert_true(sb_pool_trim_due(&pool) < UINT64_MAX);
		if (round)
			sleep_until_settled(&pool);
		else
			pass_periods(&pool, PERIODS);
		assert_uint_in_range(held(&pool), 1, REST_BYTES);
		assert_uint_in_range(resident_bytes(&pool), 1, held(&pool));
		CHECK_EQ(sb_pool_trim_due(&pool), UINT64_MAX);
	}
	sb_pool_fini(&pool);
}

/* One call looks at a part. */
static void a_trim_is_bounded(void **state)
{
	struct sb_pool pool;
	uint64_t before;
	int calls = 0;

	(void)state;
	begin(&pool);
	take_all(&pool);
	put_all(&pool);
	pass_periods(&pool, 1);
	now_ns += SB_POOL_PERIOD_NS;
	do {
		before = held(&pool);
		sb_pool_trim(&pool, now_ns);
		assert_uint_in_range(before - held(&pool), 0, MIB);
		/* Not again at the same time. */
		before = held(&pool);
		sb_pool_trim(&pool, now_ns);
		CHECK_EQ(held(&pool), before);
		now_ns = sb_pool_trim_due(&pool);
		calls++;
	} while (pool.is_examining);
	assert_true(calls > 1);
	assert_uint_in_range(held(&pool), 1, REST_BYTES);
	sb_pool_fini(&pool);
}

static void what_is_needed_again_stays(void **state)
{
	struct sb_pool pool;
	uint64_t before;

	(void)state;
	begin(&pool);
	take_all(&pool);
	before = held(&pool);
	for (int round = 0; round < 10; round++) {
		put_all(&pool);
		pass_periods(&pool, 1);
		CHECK_EQ(held(&pool), before);
		take_all(&pool);
		CHECK_EQ(held(&pool), before);
		assert_true(sb_pool_trim_due(&pool) < UINT64_MAX);
	}
	sb_pool_fini(&pool);
}

/* Of every other slab one object stays; its neighbours are free. */
static void a_slab_with_one_object_stays(void **state)
{
	const size_t each = SB_SLAB_BYTES / SIZE;
	struct sb_pool pool;
	uint64_t kept = 0;
	uint64_t most;

	(void)state;
	begin(&pool);
	take_all(&pool);
	most = held(&pool);
	for (size_t i = 0; i < N; i++) {
		if (i % (2 * each))
			put(&pool, &object[i]);
		else
			kept += SB_SLAB_BYTES;
	}
	pass_periods(&pool, PERIODS);
	assert_uint_in_range(held(&pool), kept, kept + REST_BYTES);
	for (size_t i = 0; i < N; i++) {
		if (object[i].at)
			check_whole(&object[i]);
		else
			take(&pool, &object[i], SIZE);
	}
	CHECK_EQ(held(&pool), most);
	/* Then they are free, too. */
	for (size_t i = 0; i < N; i++) {
		if (i % (2 * each))
			put(&pool, &object[i]);
	}
	pass_periods(&pool, PERIODS);
	for (size_t i = 0; i < N; i += 2 * each)
		put(&pool, &object[i]);
	pass_periods(&pool, PERIODS);
	assert_uint_in_range(held(&pool), 1, REST_BYTES);
	CHECK_EQ(sb_pool_trim_due(&pool), UINT64_MAX);
	sb_pool_fini(&pool);
}

/* The first free object of a slab is the one that it was when the slab was looked
 * at last, but now all of them are free. */
static void a_slab_is_looked_at_again_after_its_turn(void **state)
{
	const size_t each = SB_SLAB_BYTES / SIZE;
	struct sb_pool pool;

	(void)state;
	begin(&pool);
	take_all(&pool);
	for (size_t i = 0; i < N; i++) {
		if (i % (2 * each))
			put(&pool, &object[i]);
	}
	pass_periods(&pool, PERIODS);
	for (size_t i = 0; i < N; i++) {
		if (i % (2 * each))
			take(&pool, &object[i], SIZE);
	}
	for (size_t i = 0; i < N; i += 2 * each)
		put(&pool, &object[i]);
	for (size_t i = N; i--;) {
		if (i % (2 * each))
			put(&pool, &object[i]);
	}
	sleep_until_settled(&pool);
	assert_uint_in_range(held(&pool), 1, REST_BYTES);
	sb_pool_fini(&pool);
}

/* Each second one is freed by another pool after its slab has been looked at. */
static void parcels_come_home_after_a_trim(void **state)
{
	struct sb_pool home, other;

	(void)state;
	begin(&home);
	begin(&other);
	take_all(&home);
	for (int i = 0; i < N; i += 2)
		put(&home, &object[i]);
	pass_periods(&home, PERIODS);
	CHECK_EQ(sb_pool_trim_due(&home), UINT64_MAX);
	assert_false(sb_pool_has_returned(&home));
	for (int i = 1; i < N; i += 2)
		put(&other, &object[i]);
	sb_pool_flush(&other);
	assert_true(sb_pool_has_returned(&home));
	/* Some are needed at once, so that a part of them is in hand. */
	for (int i = 0; i < N / 2 + 10; i++)
		take(&home, &object[i], SIZE);
	assert_non_null(home.hand[sb_pool_class(SIZE)]);
	for (int i = 0; i < N / 2 + 10; i++)
		put(&home, &object[i]);
	sleep_until_settled(&home);
	assert_uint_in_range(held(&home), 1, REST_BYTES);
	take_all(&home);
	put_all(&other);
	sb_pool_flush(&other);
	sleep_until_settled(&home);
	assert_uint_in_range(held(&home), 1, REST_BYTES);
	sb_pool_fini(&other);
	sb_pool_fini(&home);
}

/* Slabs that were given back serve any size. */
static void memory_moves_between_sizes(void **state)
{
	struct sb_pool pool;
	uint64_t blocks = 0;

	(void)state;
	begin(&pool);
	for (size_t size = 64; size <= 1024; size *= 2) {
		for (size_t i = 0; i < N * (size_t)64 / size; i++)
			take(&pool, &object[i], size);
		for (size_t i = 0; i < N * (size_t)64 / size; i++)
			put(&pool, &object[i]);
		pass_periods(&pool, PERIODS);
		assert_uint_in_range(held(&pool), 1, REST_BYTES);
	}
	for (struct sb_pool_block *b = pool.blocks; b; b = b->next)
		blocks++;
	assert_uint_in_range(blocks * SB_BLOCK_SLABS * SB_SLAB_BYTES, 1,
			     (uint64_t)N * 64 + 4 * MIB);
	sb_pool_fini(&pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_peak_is_given_back),
		cmocka_unit_test(a_trim_is_bounded),
		cmocka_unit_test(what_is_needed_again_stays),
		cmocka_unit_test(a_slab_with_one_object_stays),
		cmocka_unit_test(a_slab_is_looked_at_again_after_its_turn),
		cmocka_unit_test(parcels_come_home_after_a_trim),
		cmocka_unit_test(memory_moves_between_sizes),
	};

	return cmocka_run_group_tests_name("giveback", tests, NULL, NULL);
}
