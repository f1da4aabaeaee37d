/*
 * Pages and arenas.
 *
 * Property: a mapping is aligned, zero, usable, and bound or says that it is not; an
 *   arena gives all of it back; the memory of others that is freed is counted once.
 * Method: on this machine, whatever its nodes; a node that is not there stands for
 *   one that refuses, and for another node.
 * Bound: one node is not many. On several, see `make check-numa`.
 */
#include "tests/modules/arena.h"

#define MIB (UINT64_C(1) << 20)

/* The first number in a small file of the kernel's; 0: there is none. */
static unsigned long read_number(const char *path)
{
	FILE *in = fopen(path, "re");
	char text[64] = "";

	if (in) {
		assert_non_null(fgets(text, sizeof(text), in));
		fclose(in);
	}
	return strtoul(text, NULL, 10);
}

static bool is_zero(const char *bytes, size_t n)
{
	return !*bytes && !memcmp(bytes, bytes + 1, n - 1);
}

/* ---- pages ---- */

static void mappings_are_aligned_and_empty(void **state)
{
	static const size_t alignments[] = { 4096, 65536, 2 * MIB, 8 * MIB };
	static const size_t sizes[] = { 4096, 3 * MIB, 4 * MIB };

	(void)state;
	for (enum sb_huge_pages huge = SB_HUGE_PAGES_EXPLICIT; huge <= SB_HUGE_PAGES_NONE; huge++) {
		const struct sb_page_policy policy = { .huge_pages = huge };

		for (size_t i = 0; i < SB_ARRAY_SIZE(alignments) * SB_ARRAY_SIZE(sizes); i++) {
			const size_t alignment = alignments[i % 4];
			const size_t size = sizes[i / 4];
			const struct sb_pages p = sb_pages_map(size, alignment, &policy);

			assert_non_null(p.start);
			assert_true(p.bytes >= size);
			CHECK_EQ((uintptr_t)p.start % alignment, 0);
			CHECK_EQ((uintptr_t)p.start % SB_HUGE_PAGE_BYTES, 0);
			assert_true(is_zero(p.start, p.bytes));
			memset(p.start, 1, p.bytes);
			CHECK_EQ(p.bind_error, 0);
			if (huge != SB_HUGE_PAGES_EXPLICIT)
				assert_false(p.is_explicit);
			sb_pages_unmap(&p);
		}
	}
}

/* What the pool has not is made of other pages, and says so. */
static void a_pool_without_pages_is_no_error(void **state)
{
	static const struct sb_page_policy policy = { .huge_pages = SB_HUGE_PAGES_EXPLICIT };
	const unsigned long available =
		read_number("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages");
	struct sb_pages p;

	(void)state;
	/* More than there are, but never all of a large pool's memory. */
	if (available > 64) {
		print_message("# skipped: %lu huge pages are free\n", available);
		return;
	}
	p = sb_pages_map((available + 1) * SB_HUGE_PAGE_BYTES, 4096, &policy);
	assert_non_null(p.start);
	assert_false(p.is_explicit);
	sb_pages_unmap(&p);
	if (!available)
		return;
	p = sb_pages_map(1, 4096, &policy);
	assert_non_null(p.start);
	/* It may lie on another node than the pool's: then it is not. */
	CHECK_EQ(p.bytes, p.is_explicit ? SB_HUGE_PAGE_BYTES : 4096);
	sb_pages_unmap(&p);
}

static void pages_lie_where_they_are_bound(void **state)
{
	const int node = own_node();
	const struct sb_page_policy policy = { .huge_pages = SB_HUGE_PAGES_NONE,
					       .nodes = 1,
					       .os_node = &node };
	struct sb_page_count count = { 0 };
	struct sb_pages p = sb_pages_map(4 * MIB, 4096, &policy);
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	(void)state;
	assert_non_null(p.start);
	if (p.bind_error)
		print_message("# skipped: binding: %s\n", strerror(-p.bind_error));
	if (can_locate()) {
		/* The second half, and one page of the first. */
		memset((char *)p.start + 2 * MIB, 1, 2 * MIB);
		*((char *)p.start + 10 * page) = 1;
		CHECK_EQ(sb_pages_locate(p.start, p.bytes, node, &count), 0);
		CHECK_EQ(count.own, 2 * MIB / page + 1);
		CHECK_EQ(count.other, 0);
		CHECK_EQ(sb_pages_locate(p.start, p.bytes, NOT_THERE, &count), 0);
		CHECK_EQ(count.other, 2 * MIB / page + 1);
		/* A byte on each side of a border is two pages. */
		count = (struct sb_page_count){ 0 };
		CHECK_EQ(sb_pages_locate((char *)p.start + 3 * MIB - 1, 2, node, &count), 0);
		CHECK_EQ(count.own, 2);
	}
	sb_pages_unmap(&p);
}

static void a_refused_binding_is_an_error_and_memory(void **state)
{
	static const int nodes[] = { NOT_THERE, SB_OS_NODES, -1 };

	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(nodes); i++) {
		const struct sb_page_policy policy = { .huge_pages = SB_HUGE_PAGES_NONE,
						       .nodes = 1,
						       .os_node = &nodes[i] };
		struct sb_pages p = sb_pages_map(4096, 4096, &policy);

		assert_non_null(p.start);
		assert_true(p.bind_error < 0);
		memset(p.start, 1, p.bytes);
		sb_pages_unmap(&p);
	}
}

/* Of all mappings. An emulator shows its own in statm, and ours here. */
static uint64_t virtual_bytes(void)
{
	FILE *in = fopen("/proc/self/maps", "re");
	uint64_t sum = 0;
	char line[512];

	assert_non_null(in);
	while (fgets(line, sizeof(line), in)) {
		char *end;
		const uint64_t first = strtoull(line, &end, 16);

		if (*end == '-')
			sum += strtoull(end + 1, NULL, 16) - first;
	}
	fclose(in);
	return sum;
}

static void use_arena(enum sb_huge_pages huge)
{
	const struct sb_page_policy policy = { .huge_pages = huge };
	struct sb_arena_reading reading;
	struct sb_page_count count = { 0 };
	struct sb_arena *arena;
	void *small[100];

	CHECK_EQ(sb_arena_create(&arena, &policy), 0);
	for (int i = 0; i < 100; i++) {
		small[i] = sb_mem_zalloc(arena, 65536, 65536);
		assert_non_null(small[i]);
		CHECK_EQ((uintptr_t)small[i] % 65536, 0);
	}
	for (int i = 0; i < 100; i += 2)
		sb_mem_free(small[i]);
	sb_arena_read(arena, &reading);
	CHECK_EQ(reading.bind_error, 0);
	if (SB_HAS_ARENAS) {
		assert_true(reading.mapped_bytes >= 100 * 65536);
		CHECK_EQ(reading.explicit_bytes + reading.missed_bytes > 0,
			 huge == SB_HUGE_PAGES_EXPLICIT);
		if (can_locate()) {
			CHECK_EQ(sb_arena_locate(arena, own_node(), &count), 0);
			assert_true(count.own + count.other >= 50 * 65536 / 4096);
		}
	}
	for (int i = 1; i < 100; i += 2)
		sb_mem_free(small[i]);
	sb_arena_destroy(arena);
}

/* More arenas than one ledger page has lines would show a leak of a line. */
static void an_arena_gives_all_back(void **state)
{
	uint64_t before;

	(void)state;
	for (enum sb_huge_pages huge = SB_HUGE_PAGES_EXPLICIT; huge <= SB_HUGE_PAGES_NONE; huge++) {
		use_arena(huge);
		before = virtual_bytes();
		for (int i = 0; i < 20; i++)
			use_arena(huge);
		if (SB_HAS_ARENAS)
			assert_true(virtual_bytes() < before + 16 * MIB);
	}
	sb_arena_destroy(NULL);
}

/* Where explicit huge pages are asked for, jemalloc grows by one at a time, so
 * there are more mappings than a page of the ledger has lines. */
static void a_ledger_has_many_pages(void **state)
{
	enum { BLOCKS = 400 };
	static const struct sb_page_policy policy = { .huge_pages = SB_HUGE_PAGES_EXPLICIT };
	static void *block[BLOCKS];
	const uint64_t before = virtual_bytes();
	struct sb_arena_reading reading;
	struct sb_arena *arena;

	(void)state;
	if (!SB_HAS_ARENAS) {
		print_message("# skipped: arenas are the C library's heap\n");
		return;
	}
	CHECK_EQ(sb_arena_create(&arena, &policy), 0);
	for (int i = 0; i < BLOCKS; i++) {
		block[i] = sb_mem_alloc(arena, 7 * MIB / 4, 65536);
		assert_non_null(block[i]);
	}
	sb_arena_read(arena, &reading);
	assert_true(reading.mapped_bytes >= BLOCKS * 2 * MIB);
	for (int i = 0; i < BLOCKS; i++)
		sb_mem_free(block[i]);
	sb_arena_destroy(arena);
	assert_true(virtual_bytes() < before + 16 * MIB);
}

enum { SHARERS = 4, ROUNDS = 2000, HELD = 16 };

static void *share(void *arg)
{
	struct sb_arena *arena = arg;
	struct sb_rng rng;
	unsigned char *held[HELD] = { NULL };
	size_t size[HELD] = { 0 };

	sb_rng_seed(&rng, sb_test_seed() + (uintptr_t)&rng);
	for (int i = 0; i < SB_SCALE(ROUNDS); i++) {
		const uint32_t h = sb_rng_below(&rng, HELD);
		const unsigned char mark = (unsigned char)(uintptr_t)&rng;

		if (held[h])
			assert_true(held[h][0] == mark && held[h][size[h] - 1] == mark);
		sb_mem_free(held[h]);
		size[h] = 1 + sb_rng_below(&rng, 300000);
		held[h] = sb_mem_alloc(arena, size[h], 64);
		assert_non_null(held[h]);
		memset(held[h], mark, size[h]);
	}
	for (int h = 0; h < HELD; h++)
		sb_mem_free(held[h]);
	return NULL;
}

static void threads_share_an_arena(void **state)
{
	const struct sb_page_policy policy = { .huge_pages = SB_HUGE_PAGES_NONE };
	const uint64_t seed = sb_test_seed(); /* before there are threads */
	struct sb_thread thread[SHARERS];
	struct sb_arena *arena;

	(void)state;
	(void)seed;
	CHECK_EQ(sb_arena_create(&arena, &policy), 0);
	for (int i = 0; i < SHARERS; i++)
		CHECK_EQ(sb_thread_start(&thread[i], -1, share, arena), 0);
	for (int i = 0; i < SHARERS; i++)
		sb_thread_join(&thread[i]);
	sb_arena_destroy(arena);
}

/* ---- pools ---- */

static void frees_of_others_memory_are_counted(void **state)
{
	static const size_t sizes[] = { 16, 200, 1024, 5000 };
	static const size_t counted[] = { 16, 208, 1024, 5000 };
	static const struct {
		int home, other;
		bool is_remote;
	} cases[] = { { 0, 1, true }, { 1, 1, false }, { -1, 1, false } };

	(void)state;
	for (size_t c = 0; c < SB_ARRAY_SIZE(cases); c++) {
		struct sb_counters counters = { 0 };
		struct sb_pool home, other;
		uint64_t bytes = 0;

		sb_pool_init(&home, &(struct sb_pool_owner){ .node = cases[c].home });
		sb_pool_init(&other, &(struct sb_pool_owner){ .node = cases[c].other,
							      .counters = &counters });
		for (size_t i = 0; i < SB_ARRAY_SIZE(sizes); i++) {
			void *own = sb_pool_alloc(&other, sizes[i]);

			sb_pool_free(&other, sb_pool_alloc(&home, sizes[i]), sizes[i]);
			sb_pool_free(&other, own, sizes[i]);
			bytes += counted[i];
		}
		CHECK_EQ(sb_counter_read(&counters.remote_frees), 4);
		CHECK_EQ(sb_counter_read(&counters.remote_bytes), bytes);
		CHECK_EQ(sb_counter_read(&counters.remote_node_frees), cases[c].is_remote ? 4 : 0);
		CHECK_EQ(sb_counter_read(&counters.remote_node_bytes),
			 cases[c].is_remote ? bytes : 0);
		CHECK_EQ(sb_counter_read(&home.used_bytes) + sb_counter_read(&other.used_bytes), 0);
		sb_pool_flush(&other);
		sb_pool_fini(&home);
		sb_pool_fini(&other);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mappings_are_aligned_and_empty),
		cmocka_unit_test(a_pool_without_pages_is_no_error),
		cmocka_unit_test(pages_lie_where_they_are_bound),
		cmocka_unit_test(a_refused_binding_is_an_error_and_memory),
		cmocka_unit_test(an_arena_gives_all_back),
		cmocka_unit_test(a_ledger_has_many_pages),
		cmocka_unit_test(threads_share_an_arena),
		cmocka_unit_test(frees_of_others_memory_are_counted),
	};

	return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
