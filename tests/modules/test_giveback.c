/*
 * Memory that a peak has taken goes back to the system.
 *
 * Property: after a peak the pages of pools, arenas and run queues are given back,
 *   but for a bounded rest; what is needed again and again is kept; no object in use
 *   is touched by that, whoever freed its neighbours, and no allocation is needed.
 * Method: pools with a clock of the test's own, against a model of all objects and
 *   their contents; the kernel (mincore, move_pages) says which pages are there.
 * Bound: two pools, and two threads.
 */
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

#ifdef SB_ALLOC_LIBC
static const bool has_arenas = false;
#else
static const bool has_arenas = true;
#endif

/* ---- pools, with a clock of the test's own ---- */

static uint64_t now_ns;

static void begin(struct sb_pool *pool)
{
	sb_pool_init(pool, &(struct sb_pool_owner){ .arena = SB_HEAP });
	sb_pool_trim(pool, now_ns);
}

static void pass_periods(struct sb_pool *pool, int periods)
{
	while (periods--) {
		now_ns += SB_POOL_PERIOD_NS;
		do {
			sb_pool_trim(pool, now_ns);
			now_ns += SB_POOL_TRIM_PAUSE_NS;
		} while (pool->is_examining && now_ns >= pool->trim_ns);
	}
}

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

static uint64_t held(struct sb_pool *pool)
{
	return sb_counter_read(&pool->held_bytes);
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

/* An object that the model knows. */
struct object {
	unsigned char *at; /* NULL: none */
	size_t size;
	unsigned char mark;
};

static void take(struct sb_pool *pool, struct object *o, size_t size)
{
	static unsigned char mark;

	*o = (struct object){ .at = sb_pool_alloc(pool, size), .size = size, .mark = ++mark };
	assert_non_null(o->at);
	memset(o->at, o->mark, size);
}

static void check_whole(const struct object *o)
{
	CHECK_EQ(o->at[0], o->mark);
	assert_true(!memcmp(o->at, o->at + 1, o->size - 1));
}

static void put(struct sb_pool *mine, struct object *o)
{
	check_whole(o);
	sb_pool_free(mine, o->at, o->size);
	o->at = NULL;
}

enum { N = SB_SCALE(80000), SIZE = 192 };

static struct object object[N];

static void take_all(struct sb_pool *pool)
{
	for (int i = 0; i < N; i++)
		take(pool, &object[i], SIZE);
}

static void put_all(struct sb_pool *mine)
{
	for (int i = 0; i < N; i++)
		put(mine, &object[i]);
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
		assert_in_range(held(&pool), 1, REST_BYTES);
		assert_in_range(resident_bytes(&pool), 1, held(&pool));
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
		assert_in_range(before - held(&pool), 0, MIB);
		/* Not again at the same time. */
		before = held(&pool);
		sb_pool_trim(&pool, now_ns);
		CHECK_EQ(held(&pool), before);
		now_ns = sb_pool_trim_due(&pool);
		calls++;
	} while (pool.is_examining);
	assert_true(calls > 1);
	assert_in_range(held(&pool), 1, REST_BYTES);
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
	assert_in_range(held(&pool), kept, kept + REST_BYTES);
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
	assert_in_range(held(&pool), 1, REST_BYTES);
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
	assert_in_range(held(&pool), 1, REST_BYTES);
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
	assert_in_range(held(&home), 1, REST_BYTES);
	take_all(&home);
	put_all(&other);
	sb_pool_flush(&other);
	sleep_until_settled(&home);
	assert_in_range(held(&home), 1, REST_BYTES);
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
		assert_in_range(held(&pool), 1, REST_BYTES);
	}
	for (struct sb_pool_block *b = pool.blocks; b; b = b->next)
		blocks++;
	assert_in_range(blocks * SB_BLOCK_SLABS * SB_SLAB_BYTES, 1, (uint64_t)N * 64 + 4 * MIB);
	sb_pool_fini(&pool);
}

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
	assert_in_range(held(&home) + held(&other), 1, REST_BYTES);
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
	assert_in_range(held(&pool), 1, REST_BYTES);
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
	if (!rc) {
		check_all_is_kept(&pool);
		(void)syscall(SYS_munlockall);
		return;
	}
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
	if (!has_arenas) {
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
	assert_in_range(held(&pool), 1, REST_BYTES);
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
		assert_in_range(freed, (round + 1) * (PARTS - 2), (round + 1) * (PARTS + 1));
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
	if (!has_arenas || !can_locate()) {
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
		cmocka_unit_test(a_peak_is_given_back),
		cmocka_unit_test(a_trim_is_bounded),
		cmocka_unit_test(what_is_needed_again_stays),
		cmocka_unit_test(a_slab_with_one_object_stays),
		cmocka_unit_test(a_slab_is_looked_at_again_after_its_turn),
		cmocka_unit_test(parcels_come_home_after_a_trim),
		cmocka_unit_test(memory_moves_between_sizes),
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
