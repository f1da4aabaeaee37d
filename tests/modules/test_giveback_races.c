/*
 * Giving memory back: against a model, beside another thread, without memory, and
 * from arenas and run queues.
 *
 * Property: no object in use is touched, whoever freed its neighbours; giving back
 *   needs no allocation; run queues and arenas give back a peak's pages too.
 * Method: a model of all objects and their contents; the kernel (move_pages) says
 *   which pages are resident.
 * Bound: two pools, and two threads.
 */
#include "tests/modules/giveback.h"

enum { SLOTS = 3000, STEPS = SB_SCALE(400000) };

/* Takes, or puts with either pool; slots from `wanted` up are to become empty. */
static void change_one(struct sb_pool *home, struct sb_pool *other, struct sb_rng *rng,
		       uint32_t wanted)
{
	static const size_t sizes[] = { 16, 48, 64, 192, 1024, 1024, 5000 };
	const uint32_t i = sb_rng_below(rng, SLOTS);

	if (object[i].at)
		put(sb_rng_below(rng, 2) ? home : other, &object[i]);
	else if (i < wanted)
		take(home, &object[i], sizes[sb_rng_below(rng, SB_ARRAY_SIZE(sizes))]);
}

static uint64_t used_by_model(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < SLOTS; i++) {
		const size_t size = object[i].size;

		if (object[i].at)
			sum += size > SB_POOL_BYTES_MAX ? size
							: sb_pool_class_bytes(sb_pool_class(size));
	}
	return sum;
}

static void nothing_is_lost_whatever_comes(void **state)
{
	struct sb_pool home, other;
	struct sb_rng rng;
	uint32_t wanted = SLOTS;

	(void)state;
	sb_rng_seed(&rng, sb_test_seed());
	begin(&home);
	begin(&other);
	for (int step = 0; step < STEPS; step++) {
		if (step % 20000 == 0)
			wanted = sb_rng_below(&rng, 2) ? SLOTS : SLOTS / 50;
		change_one(&home, &other, &rng, wanted);
		now_ns += sb_rng_below(&rng, SB_POOL_PERIOD_NS / 1000);
		if (sb_rng_below(&rng, 10))
			continue;
		sb_pool_flush(&other);
		sb_pool_trim(&home, now_ns);
		sb_pool_trim(&other, now_ns);
		CHECK_EQ(sb_counter_read(&home.used_bytes) + sb_counter_read(&other.used_bytes),
			 used_by_model());
	}
	for (int i = 0; i < SLOTS; i++) {
		if (object[i].at)
			put(&other, &object[i]);
	}
	sb_pool_flush(&other);
	pass_periods(&home, PERIODS + 1);
	assert_uint_in_range(held(&home) + held(&other), 1, REST_BYTES);
	CHECK_EQ(sb_pool_trim_due(&home), UINT64_MAX);
	sb_pool_fini(&other);
	sb_pool_fini(&home);
}

/* ---- two threads, each with a pool ---- */

enum { IN_FLIGHT = 512, SENT = SB_SCALE(200000) };

static _Atomic(uint64_t *) flight[IN_FLIGHT];

static struct sb_pool receiver_pool;

/* Trims much more often than once a period, at a time of its own. */
static void trim_at(struct sb_pool *pool, uint64_t turn)
{
	sb_pool_flush(pool);
	if (turn % 64 == 0)
		sb_pool_trim(pool, now_ns + turn * (SB_POOL_PERIOD_NS / 4096));
}

static void *receive_all(void *arg)
{
	struct sb_pool *pool = &receiver_pool;

	(void)arg;
	for (uint64_t i = 0; i < SENT; i++) {
		uint64_t *message;

		while (!(message = sb_xchg_acq(&flight[i % IN_FLIGHT], NULL)))
			sb_thread_yield();
		CHECK_EQ(message[0], i);
		CHECK_EQ(message[5], ~i);
		sb_pool_free(pool, message, 6 * sizeof(*message));
		trim_at(pool, i);
	}
	return NULL;
}

static void send_all(struct sb_pool *pool)
{
	for (uint64_t i = 0; i < SENT; i++) {
		uint64_t *message = sb_pool_alloc(pool, 6 * sizeof(*message));

		message[0] = i;
		message[5] = ~i;
		while (sb_load_acq(&flight[i % IN_FLIGHT]))
			sb_thread_yield();
		sb_store_rel(&flight[i % IN_FLIGHT], message);
		trim_at(pool, i);
	}
}

static void another_thread_frees_meanwhile(void **state)
{
	struct sb_thread thread;
	struct sb_pool pool;

	(void)state;
	begin(&pool);
	begin(&receiver_pool);
	CHECK_EQ(sb_thread_start(&thread, -1, receive_all, NULL), 0);
	send_all(&pool);
	sb_thread_join(&thread);
	now_ns += SENT * (SB_POOL_PERIOD_NS / 4096);
	pass_periods(&pool, PERIODS + 1);
	assert_uint_in_range(held(&pool), 1, REST_BYTES);
	CHECK_EQ(sb_counter_read(&pool.used_bytes) + sb_counter_read(&receiver_pool.used_bytes), 0);
	sb_pool_fini(&receiver_pool);
	sb_pool_fini(&pool);
}

/* ---- pages that stay ---- */

/* All goes on; only nothing is given back, and no trim is due any more. */
static void check_all_is_kept(struct sb_pool *pool)
{
	const uint64_t before = held(pool);

	put_all(pool);
	pass_periods(pool, PERIODS);
	CHECK_EQ(held(pool), before);
	CHECK_EQ(pool->trim_ns, UINT64_MAX);
	take_all(pool);
	put_all(pool);
	CHECK_EQ(held(pool), before);
	sb_pool_fini(pool);
}

/* Sanitizers replace mlock by nothing. */
static void locked_pages_stay(void **state)
{
	struct sb_pool pool;
	int rc = 0;

	(void)state;
	begin(&pool);
	take_all(&pool);
	for (struct sb_pool_block *b = pool.blocks; b && !rc; b = b->next)
		rc = (int)syscall(SYS_mlock, b->slabs, SB_BLOCK_SLABS * SB_SLAB_BYTES);
	if (!rc)
		check_all_is_kept(&pool);
	/* Some may be locked where not all may be. */
	(void)syscall(SYS_munlockall);
	if (!rc)
		return;
	print_message("# skipped: pages cannot be locked\n");
	put_all(&pool);
	sb_pool_fini(&pool);
}

static void explicit_huge_pages_stay(void **state)
{
	static const struct sb_page_policy policy = { .huge_pages = SB_HUGE_PAGES_EXPLICIT };
	struct sb_arena *arena;
	struct sb_pool pool;

	(void)state;
	if (!SB_HAS_ARENAS) {
		print_message("# skipped: arenas are the C library's heap\n");
		return;
	}
	CHECK_EQ(sb_arena_create(&arena, &policy), 0);
	sb_pool_init(&pool, &(struct sb_pool_owner){ .arena = arena });
	take_all(&pool);
	check_all_is_kept(&pool);
	sb_arena_destroy(arena);
}

/* ---- without memory ---- */

#ifdef SB_TEST_DELAYS

/* To give back needs none, and what was given back serves without any. */
static void no_memory_is_needed(void **state)
{
	struct sb_pool pool;

	(void)state;
	begin(&pool);
	take_all(&pool);
	put_all(&pool);
	sb_store_rlx(&sb_test_allocations, 0);
	pass_periods(&pool, PERIODS);
	assert_uint_in_range(held(&pool), 1, REST_BYTES);
	take_all(&pool);
	assert_null(sb_pool_alloc(&pool, 16));
	/* The record of a block, but not the block. */
	sb_store_rlx(&sb_test_allocations, 1);
	assert_null(sb_pool_alloc(&pool, 16));
	sb_store_rlx(&sb_test_allocations, -1);
	assert_non_null(sb_pool_alloc(&pool, 16));
	put_all(&pool);
	sb_pool_fini(&pool);
}

#endif

/* ---- run queues ---- */

static void push_and_take(struct sb_runq *queue, uint32_t n)
{
	static struct sb_process process;
	struct sb_process *out[16];

	for (uint32_t i = 0; i < n; i++)
		sb_runq_push(queue, &process);
	while (n)
		n -= sb_runq_take(queue, 16, 1, out);
}

static void a_run_queue_frees_its_parts(void **state)
{
	enum { PARTS = 300 };
	struct sb_runq queue;
	uint32_t freed = 0;

	(void)state;
	sb_runq_init(&queue, SB_HEAP);
	for (int round = 0; round < 3; round++) {
		push_and_take(&queue, PARTS * SB_RUNQ_SLOTS);
		for (int i = 0; i < PERIODS; i++)
			freed += sb_runq_trim(&queue);
		/* All but the one in which the queue ends, or has ended. */
		assert_uint_in_range(freed, (round + 1) * (PARTS - 2), (round + 1) * (PARTS + 1));
		CHECK_EQ(sb_runq_trim(&queue), 0);
	}
	sb_runq_clear(&queue);
}

static void a_run_queue_keeps_what_it_needs(void **state)
{
	enum { PARTS = 300 };
	struct sb_runq queue;

	(void)state;
	sb_runq_init(&queue, SB_HEAP);
	for (int round = 0; round < 10; round++) {
		push_and_take(&queue, PARTS * SB_RUNQ_SLOTS);
		push_and_take(&queue, PARTS / 3 * SB_RUNQ_SLOTS);
		CHECK_EQ(sb_runq_trim(&queue), 0);
	}
	sb_runq_clear(&queue);
}

/* ---- arenas ---- */

enum { BLOCKS = 1024, BLOCK_BYTES = 65536 };

static uint64_t resident_of(struct sb_arena *arena)
{
	struct sb_page_count count = { 0 };

	CHECK_EQ(sb_arena_locate(arena, 0, &count), 0);
	return (count.own + count.other) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* In some containers and emulators the kernel does not answer. */
static bool can_locate(void)
{
	struct sb_page_count count = { 0 };

	return !sb_pages_locate(&count, 1, 0, &count);
}

/* Nobody allocates or frees. With time all but the block in use goes back: until
 * then this waits. */
static void an_idle_arena_decays(void **state)
{
	static const struct sb_page_policy policy = { .huge_pages = SB_HUGE_PAGES_NONE };
	static unsigned char *block[BLOCKS];
	struct sb_arena *arena;

	(void)state;
	if (!SB_HAS_ARENAS || !can_locate()) {
		print_message("# skipped: no arenas, or no word of pages\n");
		return;
	}
	CHECK_EQ(sb_arena_create(&arena, &policy), 0);
	for (int i = 0; i < BLOCKS; i++) {
		block[i] = sb_mem_alloc(arena, BLOCK_BYTES, SB_LINE);
		memset(block[i], 1 + i % 255, BLOCK_BYTES);
	}
	assert_true(resident_of(arena) >= (uint64_t)BLOCKS * BLOCK_BYTES);
	for (int i = 0; i < BLOCKS; i++) {
		if (i != BLOCKS / 2)
			sb_mem_free(block[i]);
	}
	while (resident_of(arena) > MIB) {
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
		sb_arena_decay(arena);
	}
	for (int i = 0; i < BLOCK_BYTES; i++)
		CHECK_EQ(block[BLOCKS / 2][i], 1 + BLOCKS / 2 % 255);
	sb_mem_free(block[BLOCKS / 2]);
	sb_arena_destroy(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_lost_whatever_comes),
		cmocka_unit_test(another_thread_frees_meanwhile),
		cmocka_unit_test(locked_pages_stay),
		cmocka_unit_test(explicit_huge_pages_stay),
#ifdef SB_TEST_DELAYS
		cmocka_unit_test(no_memory_is_needed),
#endif
		cmocka_unit_test(a_run_queue_frees_its_parts),
		cmocka_unit_test(a_run_queue_keeps_what_it_needs),
		cmocka_unit_test(an_idle_arena_decays),
	};

	return cmocka_run_group_tests_name("giveback", tests, NULL, NULL);
}
