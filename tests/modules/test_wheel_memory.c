/*
 * test_wheel_memory.c - the wheel's memory and ids: old ids are refused, and a peak is given back.
 */
#include "tests/modules/wheel.h"

/* ---- memory and ids ---- */

static void a_timer_is_told_from_its_predecessor(void **state)
{
	struct sb_wheel wheel;
	struct sb_timer *first, *second;
	uint32_t index, generation;

	(void)state;
	sb_wheel_init(&wheel, SB_HEAP, 0);
	assert_null(sb_wheel_find(&wheel, 0));
	first = sb_wheel_take(&wheel);
	index = first->index;
	generation = first->generation;
	assert_ptr_equal(sb_wheel_find(&wheel, index), first);
	sb_wheel_release(&wheel, first);
	CHECK_EQ(first->pid, 0);
	second = sb_wheel_take(&wheel);
	CHECK_EQ(second->index, index);
	assert_int_not_equal(second->generation, generation);
	assert_null(sb_wheel_find(&wheel, 1 << 25));
	assert_null(sb_wheel_find(&wheel, UINT32_MAX));
	sb_wheel_fini(&wheel);
}

enum { MANY_TIMERS = 20000 };

static struct sb_timer *many_timer[MANY_TIMERS];

/* Takes and starts n timers from many_timer[first] on. */
static void start_many(struct sb_wheel *wheel, uint32_t first, uint32_t n)
{
	for (uint32_t i = first; i < first + n; i++) {
		struct sb_timer *timer = sb_wheel_take(wheel);

		assert_non_null(timer);
		timer->pid = 1;
		timer->due_ns = i * UINT64_C(977);
		sb_wheel_start(wheel, timer);
		many_timer[i] = timer;
	}
}

/* Every timer has its own index, which finds it, until it is free. */
static void indices_are_unique(void **state)
{
	const uint32_t many = SB_SCALE(MANY_TIMERS);
	struct sb_wheel wheel;

	(void)state;
	sb_wheel_init(&wheel, SB_HEAP, 0);
	start_many(&wheel, 0, many);
	for (uint32_t i = 0; i < many; i++) {
		assert_ptr_equal(sb_wheel_find(&wheel, many_timer[i]->index), many_timer[i]);
		assert_uint_in_range(many_timer[i]->index, 0, (1 << 26) - 1);
	}
	for (uint32_t i = 0; i < many; i++)
		sb_wheel_release(&wheel, many_timer[i]);
	CHECK_EQ(sb_wheel_next_ns(&wheel), SB_WHEEL_NEVER);
	start_many(&wheel, 0, many / 2);
	sb_wheel_fini(&wheel); /* with many of them pending, others surplus */
}

/* Any number may come as an index. */
static void only_indices_find_a_timer(void **state)
{
	struct sb_wheel wheel;
	uint32_t found = 0;

	(void)state;
	sb_wheel_init(&wheel, SB_HEAP, 0);
	start_many(&wheel, 0, 1000);
	for (uint32_t i = 0; i < 1 << 16; i++) {
		const struct sb_timer *timer = sb_wheel_find(&wheel, i);

		if (!timer || !timer->pid)
			continue;
		CHECK_EQ(timer->index, i);
		found++;
	}
	CHECK_EQ(found, 1000);
	sb_wheel_fini(&wheel);
}

/* How many timers a chunk has: as many as can be taken before there is a second
 * one. */
static uint32_t timers_of_a_chunk(void)
{
	struct sb_wheel wheel;
	uint32_t n = 0;

	sb_wheel_init(&wheel, SB_HEAP, 0);
	for (;;) {
		assert_non_null(sb_wheel_take(&wheel));
		if (wheel.chunks == 2)
			break;
		n++;
	}
	sb_wheel_fini(&wheel);
	return n;
}

static void shuffle(struct sb_rng *rng, uint32_t n)
{
	for (uint32_t i = n - 1; i > 0; i--) {
		const uint32_t k = sb_rng_below(rng, i + 1);
		struct sb_timer *timer = many_timer[i];

		many_timer[i] = many_timer[k];
		many_timer[k] = timer;
	}
}

/* In whatever order they end, one chunk is left of each peak. */
static void a_peak_is_given_back(void **state)
{
	const uint32_t many = SB_SCALE(MANY_TIMERS);
	struct sb_wheel wheel;
	struct sb_rng rng;

	(void)state;
	sb_rng_seed(&rng, sb_test_seed());
	sb_wheel_init(&wheel, SB_HEAP, 0);
	for (int peak = 0; peak < 6; peak++) {
		const bool backwards = peak % 3 == 1;
		uint32_t chunks;

		start_many(&wheel, 0, many);
		chunks = wheel.chunks;
		if (peak % 3 == 2)
			shuffle(&rng, many);
		for (uint32_t i = 0; i < many; i++) {
			sb_wheel_release(&wheel, many_timer[backwards ? many - 1 - i : i]);
			chunks -= free_surplus(&wheel);
			CHECK_EQ(wheel.chunks, chunks);
		}
		CHECK_EQ(wheel.chunks, 1);
	}
	sb_wheel_fini(&wheel);
}

/* When they end in the order of their starts, what is kept is at most twice what
 * is in use, and two chunks. */
static void memory_follows_the_timers(void **state)
{
	const uint32_t many = SB_SCALE(MANY_TIMERS);
	const uint32_t per_chunk = timers_of_a_chunk();
	struct sb_wheel wheel;

	(void)state;
	sb_wheel_init(&wheel, SB_HEAP, 0);
	start_many(&wheel, 0, many);
	for (uint32_t i = 0; i < many; i++) {
		sb_wheel_release(&wheel, many_timer[i]);
		assert_uint_in_range(wheel.chunks * per_chunk, 0,
				     2 * wheel.pending + 2 * per_chunk);
	}
	sb_wheel_fini(&wheel);
}

/* As many timers as a chunk has come and go, at any population: at most one chunk
 * is allocated, and then it is there. */
static void few_starts_and_ends_allocate(void **state)
{
	const uint32_t per_chunk = timers_of_a_chunk();

	(void)state;
	for (uint32_t population = 0; population < 3 * per_chunk; population++) {
		struct sb_wheel wheel;
		uint32_t before, after;

		sb_wheel_init(&wheel, SB_HEAP, 0);
		start_many(&wheel, 0, population);
		before = wheel.chunks;
		start_many(&wheel, population, per_chunk);
		after = wheel.chunks;
		assert_uint_in_range(after, before, before + 1);
		for (int round = 0; round < 3; round++) {
			for (uint32_t i = 0; i < per_chunk; i++)
				sb_wheel_release(&wheel, many_timer[population + i]);
			start_many(&wheel, population, per_chunk);
			CHECK_EQ(wheel.chunks, after);
			assert_false(free_surplus(&wheel));
		}
		sb_wheel_fini(&wheel);
	}
}

/* The chunks of the first are gone, and others have their indices. */
static void stale_ids_are_told_after_a_rebirth(void **state)
{
	const uint32_t many = SB_SCALE(MANY_TIMERS);
	static uint32_t index[MANY_TIMERS], generation[MANY_TIMERS];
	uint32_t dead = 0, reborn = 0;
	struct sb_wheel wheel;

	(void)state;
	sb_wheel_init(&wheel, SB_HEAP, 0);
	start_many(&wheel, 0, many);
	for (uint32_t i = 0; i < many; i++) {
		index[i] = many_timer[i]->index;
		generation[i] = many_timer[i]->generation;
	}
	for (uint32_t i = 0; i < many; i++) {
		sb_wheel_release(&wheel, many_timer[i]);
		free_surplus(&wheel);
	}
	for (uint32_t i = 0; i < many; i++)
		dead += !sb_wheel_find(&wheel, index[i]);
	CHECK_EQ(dead, many - timers_of_a_chunk());
	start_many(&wheel, 0, many);
	for (uint32_t i = 0; i < many; i++) {
		const struct sb_timer *timer = sb_wheel_find(&wheel, index[i]);

		if (!timer)
			continue;
		reborn++;
		assert_int_not_equal(timer->generation, generation[i]);
	}
	CHECK_EQ(reborn, many);
	sb_wheel_fini(&wheel);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_timer_is_told_from_its_predecessor),
		cmocka_unit_test(indices_are_unique),
		cmocka_unit_test(only_indices_find_a_timer),
		cmocka_unit_test(a_peak_is_given_back),
		cmocka_unit_test(memory_follows_the_timers),
		cmocka_unit_test(few_starts_and_ends_allocate),
		cmocka_unit_test(stale_ids_are_told_after_a_rebirth),
	};

	return cmocka_run_group_tests_name("wheel", tests, NULL, NULL);
}
