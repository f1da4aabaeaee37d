/*
 * Pages, arenas, and whose memory comes from which.
 *
 * Property: a mapping is aligned, zero, usable, and bound or says that it is
 *   not; an arena gives all of it back; workers share arenas as configured; the
 *   count of pages by node is that of the kernel; what is freed of others'
 *   memory is counted once.
 * Method: on this machine, whatever its nodes; a node that is not there stands
 *   for one that refuses, and for another node.
 * Bound: one node is not many. On several, see `make check-numa`.
 */
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/memory/arena.h"
#include "core/state.h"
#include "tests/script.h"

#define MIB	  (UINT64_C(1) << 20)
#define NOT_THERE 1000 /* a node that no machine here has */

/* The node that memory comes from which this thread touches first. */
static int own_node(void)
{
	unsigned int node = 0;

	return syscall(SYS_getcpu, NULL, &node, NULL) ? 0 : (int)node;
}

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

/* In some containers and emulators the kernel does not answer. */
static bool can_locate(void)
{
	static bool is_told;
	struct sb_page_count count = { 0 };
	const int rc = sb_pages_locate(&count, 1, own_node(), &count);

	if (rc && !is_told)
		print_message("# skipped: where pages lie: %s\n", strerror(-rc));
	is_told |= rc != 0;
	return !rc;
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

/* ---- arenas ---- */

#ifdef SB_ALLOC_LIBC
static const bool has_arenas = false;
#else
static const bool has_arenas = true;
#endif

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
	if (has_arenas) {
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
		if (has_arenas)
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
	if (!has_arenas) {
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

/* ---- the scheduler's arenas ---- */

enum { PLACES = 5 };

static struct sb_place places[PLACES] = {
	{ -1, 0, 0, 0, 0, 0 },	{ -1, 1, 1, 1, 1, 0 },	{ -1, 2, 2, 0, 0, 0 },
	{ -1, 3, 3, 2, -1, 0 }, { -1, 4, 4, 2, -1, 0 },
};

static void workers_share_as_configured(void **state)
{
	static const struct {
		enum sb_arenas arenas;
		uint32_t expected;     /* with that of foreign threads */
		uint32_t with[PLACES]; /* the first worker with the same */
	} cases[] = {
		{ SB_ARENAS_PER_WORKER, 6, { 0, 1, 2, 3, 4 } },
		{ SB_ARENAS_PER_NODE, 4, { 0, 1, 0, 3, 3 } },
		{ SB_ARENAS_SHARED, 1, { 0, 0, 0, 0, 0 } },
	};
	struct fixture f;

	(void)state;
	for (size_t c = 0; c < SB_ARRAY_SIZE(cases); c++) {
		fixture_defaults(&f);
		f.config.arenas = cases[c].arenas;
		fixture_create_at(&f, PLACES, places);
		CHECK_EQ(f.s->arenas, cases[c].expected);
		for (uint32_t i = 0; i < PLACES; i++) {
			for (uint32_t j = 0; j < PLACES; j++)
				CHECK_EQ(f.s->worker_thread[i].arena == f.s->worker_thread[j].arena,
					 cases[c].with[i] == cases[c].with[j]);
		}
		CHECK_EQ(f.s->foreign_pool.owner.arena == f.s->worker_thread[0].arena,
			 cases[c].arenas == SB_ARENAS_SHARED);
		CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
		fixture_end(&f);
	}
}

/* A worker is on a node that is not there, so whatever is bound is refused. */
static void arenas_are_bound_as_configured(void **state)
{
	enum {
		WORKER = SB_ARENAS_PER_WORKER,
		NODE = SB_ARENAS_PER_NODE,
		SHARED = SB_ARENAS_SHARED,
		LOCAL = SB_MEMBIND_LOCAL,
		INTERLEAVE = SB_MEMBIND_INTERLEAVE,
		NONE = SB_MEMBIND_NONE,
	};
	static const struct {
		int arenas, membind;
		uint32_t nodes;
		bool is_native, is_bound;
	} cases[] = {
		{ WORKER, LOCAL, 2, true, true },      { NODE, LOCAL, 2, true, true },
		{ SHARED, LOCAL, 2, true, false },     { WORKER, INTERLEAVE, 2, true, true },
		{ SHARED, INTERLEAVE, 2, true, true }, { WORKER, NONE, 2, true, false },
		{ WORKER, LOCAL, 2, false, false },    { WORKER, INTERLEAVE, 2, false, false },
		{ WORKER, LOCAL, 1, true, false },     { WORKER, INTERLEAVE, 1, true, false },
	};
	int os_node[] = { NOT_THERE, NOT_THERE };

	(void)state;
	if (!has_arenas) {
		print_message("# skipped: arenas are the C library's heap\n");
		return;
	}
	for (size_t c = 0; c < SB_ARRAY_SIZE(cases); c++) {
		const struct sb_placement placement = {
			.workers = 2,
			.place = places,
			.nodes = cases[c].nodes,
			.os_node = cases[c].is_native ? os_node : NULL,
		};
		struct sb_memory memory;
		struct fixture f;
		struct script script = { .f = &f, .step = done_with_42 };

		fixture_defaults(&f);
		f.config.arenas = (enum sb_arenas)cases[c].arenas;
		f.config.membind = (enum sb_membind)cases[c].membind;
		CHECK_EQ(sb_scheduler_create(&f.s, &f.config, &placement), 0);
		sb_scheduler_read_memory(f.s, &memory);
		CHECK_EQ(memory.is_bound, cases[c].is_bound);
		CHECK_EQ(memory.bind_error != 0, cases[c].is_bound);
		assert_true(memory.mapped_bytes > 0);
		CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
		fixture_submit(&f, &scripted, &script);
		fixture_wait(&f);
		fixture_end(&f);
	}
}

/* ---- where it lies ---- */

static int spawns_one(struct script *script, struct sb_step *step, const struct sb_event *events,
		      uint32_t count)
{
	(void)events;
	(void)count;
	CHECK_EQ(sb_step_spawn(step, &scripted, "main",
			       sb_value_ptr((void *)(uintptr_t)script->other), NULL),
		 0);
	return SB_DONE;
}

static void run_on(struct sb_place *place, uint32_t nodes, int *os_node, struct sb_residence *out)
{
	const struct sb_placement placement = {
		.workers = 1, .place = place, .nodes = nodes, .os_node = os_node
	};
	struct fixture f;
	struct script child = { .f = &f, .step = done_with_42 };
	struct script parent = { .f = &f, .step = spawns_one, .other = (sb_pid)(uintptr_t)&child };

	fixture_defaults(&f);
	CHECK_EQ(sb_scheduler_create(&f.s, &f.config, &placement), 0);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	fixture_submit(&f, &scripted, &parent);
	fixture_wait(&f);
	CHECK_EQ(sb_scheduler_stop(f.s, FIXTURE_TIMEOUT_NS), 0);
	sb_scheduler_locate(f.s, 0, out);
	sb_scheduler_destroy(f.s);
}

/* All of it is somewhere, so on a node that is not there it is not. */
static void every_kind_of_memory_is_found(void **state)
{
	struct sb_place place = { -1, 0, 0, 0, 0, 0 };
	int not_there = NOT_THERE;
	struct sb_residence r;

	(void)state;
	if (!can_locate())
		return;
	run_on(&place, 1, &not_there, &r);
	CHECK_EQ(r.error, 0);
	for (int kind = 0; kind < SB_MEMORY_KINDS; kind++) {
		CHECK_EQ(r.kind[kind].own, 0);
		CHECK_EQ(r.kind[kind].other > 0, has_arenas || kind != SB_MEMORY_ARENA);
	}
	if (has_arenas)
		assert_true(r.kind[SB_MEMORY_ARENA].other >=
			    r.kind[SB_MEMORY_PROCESSES].other + r.kind[SB_MEMORY_WORKER].other);
}

static void what_has_no_node_is_not_looked_for(void **state)
{
	struct sb_place on_0 = { -1, 0, 0, 0, 0, 0 };
	struct sb_place nowhere = { -1, 0, 0, 0, -1, 0 };
	struct sb_place beyond = { -1, 0, 0, 0, 1, 0 };
	int os_node[] = { 0 };
	struct sb_residence r;

	(void)state;
	run_on(&on_0, 1, NULL, &r);
	CHECK_EQ(r.error, -ENOTSUP);
	run_on(&nowhere, 1, os_node, &r);
	CHECK_EQ(r.error, -ENOTSUP);
	run_on(&beyond, 1, os_node, &r);
	CHECK_EQ(r.error, -ENOTSUP);
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
		cmocka_unit_test(workers_share_as_configured),
		cmocka_unit_test(arenas_are_bound_as_configured),
		cmocka_unit_test(every_kind_of_memory_is_found),
		cmocka_unit_test(what_has_no_node_is_not_looked_for),
	};

	return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
