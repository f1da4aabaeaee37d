/*
 * Cache lines: what a CPU knows of the latest lines of its sets; what a prefetch saves.
 *
 * Property: a key in `latest` is the first of its line's set; at most one version of a line is
 *   in a set. An access waits for what is left of a prefetched line's way, a store does not; a
 *   CPU has 12 lines under way at most, and lines that are the CPU's own or in memory are not
 *   fetched.
 * Method: random accesses of a few CPUs to more lines than their caches hold; after each, all
 *   lines and sets are looked at. Lines that another CPU has written, prefetched and accessed at
 *   given times.
 */
#include "tests/test.h"

#define CPUS	 3
#define LINES	 (3 * SB_REGION_PAGE_LINES)
#define ACCESSES 3000

static void check_set(const struct sb_lines *l, uint32_t cpu, uint64_t number)
{
	const uint64_t *set = sb_lines_set(l, cpu, number);
	uint32_t versions = 0;

	for (int way = 0; way < SB_LINES_WAYS; way++)
		versions += set[way] >> 32 == number + 1;
	SB_CHECK(versions, <=, 1);
}

static void check_latest(const struct sb_lines *l, uint32_t cpu)
{
	for (uint32_t i = 0; i < SB_LINES_LATEST; i++) {
		const uint64_t key = l->latest[cpu * SB_LINES_LATEST + i];

		if (key)
			SB_CHECK(key, ==, sb_lines_set(l, cpu, (key >> 32) - 1)[0]);
	}
}

static void check_lines(const struct sb_lines *l, uint64_t first)
{
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		check_latest(l, cpu);
		for (uint64_t number = first; number < first + LINES; number++)
			check_set(l, cpu, number);
	}
}

static void the_latest_of_a_set_is_known(void **state)
{
	static const enum sb_access accesses[] = { SB_ACCESS_READ, SB_ACCESS_READ, SB_ACCESS_WRITE,
						   SB_ACCESS_RMW, SB_ACCESS_TOUCH };
	struct sb_model model = sb_model_plain(CPUS);
	uint64_t now_ps[CPUS] = { 0 };
	struct sb_lines lines;
	struct sb_rng rng;
	char *memory;

	(void)state;
	model.cache_lines = SB_LINES_WAYS * SB_LINES_CHUNK;
	assert_int_equal(sb_region_begin(), 0);
	assert_int_equal(sb_lines_begin(&lines, &model), 0);
	memory = sb_region_malloc(LINES << SB_REGION_LINE_SHIFT);
	sb_rng_seed(&rng, sb_test_seed());
	for (int i = 0; i < ACCESSES; i++) {
		const uint32_t cpu = sb_rng_below(&rng, CPUS);
		const uint64_t offset = sb_rng_below(&rng, LINES);

		if (sb_rng_below(&rng, 4) == 0)
			now_ps[cpu] =
				sb_lines_prefetch(&lines, cpu, sb_region_line(memory) + offset,
						  SB_SITE(), now_ps[cpu]);
		else
			now_ps[cpu] = sb_lines_access(
				&lines, cpu, memory + (offset << SB_REGION_LINE_SHIFT),
				accesses[sb_rng_below(&rng, 5)], SB_SITE(), now_ps[cpu]);
		check_lines(&lines, sb_region_line(memory));
	}
	assert_true(lines.counts.hits && lines.counts.transfers && lines.counts.memory);
	sb_lines_end(&lines);
	sb_region_end();
}

/* ---- prefetches, of CPU 0 ---- */

#define BEGIN_PS   UINT64_C(1000000)
#define PREFETCHES 12

struct written {
	struct sb_model model;
	struct sb_lines lines;
	char *memory;
};

/* Of LINES lines, CPU 1 has written the first half long ago. */
static void write_lines(struct written *w)
{
	w->model = sb_model_plain(CPUS);
	assert_int_equal(sb_region_begin(), 0);
	assert_int_equal(sb_lines_begin(&w->lines, &w->model), 0);
	w->memory = sb_region_malloc(LINES << SB_REGION_LINE_SHIFT);
	for (uint64_t i = 0; i < LINES / 2; i++)
		sb_lines_access(&w->lines, 1, w->memory + (i << SB_REGION_LINE_SHIFT),
				SB_ACCESS_WRITE, SB_SITE(), 0);
}

static void forget_lines(struct written *w)
{
	sb_lines_end(&w->lines);
	sb_region_end();
}

static uint64_t prefetch(struct written *w, uint64_t i, uint64_t now_ps)
{
	return sb_lines_prefetch(&w->lines, 0, sb_region_line(w->memory) + i, SB_SITE(), now_ps);
}

static uint64_t use(struct written *w, uint64_t i, enum sb_access access, uint64_t now_ps)
{
	return sb_lines_access(&w->lines, 0, w->memory + (i << SB_REGION_LINE_SHIFT), access,
			       SB_SITE(), now_ps);
}

static void a_prefetch_saves_the_way(void **state)
{
	struct written w;
	uint64_t way_ps;
	uint64_t hit_ps;

	(void)state;
	write_lines(&w);
	way_ps = w.model.transfer_ps[SB_HOP_CACHE];
	hit_ps = w.model.cost.hit_ps;
	for (uint64_t i = 0; i < 3; i++)
		CHECK_EQ(prefetch(&w, i, BEGIN_PS), BEGIN_PS);
	/* Before it has come, after it has come, and once more. */
	CHECK_EQ(use(&w, 0, SB_ACCESS_READ, BEGIN_PS + 1000), BEGIN_PS + way_ps + hit_ps);
	CHECK_EQ(use(&w, 1, SB_ACCESS_READ, BEGIN_PS + 2 * way_ps), BEGIN_PS + 2 * way_ps + hit_ps);
	CHECK_EQ(use(&w, 0, SB_ACCESS_READ, BEGIN_PS + 2000), BEGIN_PS + 2000 + hit_ps);
	/* A store waits in the store buffer. */
	CHECK_EQ(use(&w, 2, SB_ACCESS_WRITE, BEGIN_PS + 1000), BEGIN_PS + 1000 + hit_ps);
	CHECK_EQ(sb_lines_drain(&w.lines, 0, BEGIN_PS), BEGIN_PS + way_ps);
	forget_lines(&w);
}

static void few_prefetches_are_under_way(void **state)
{
	struct written w;
	uint64_t way_ps;

	(void)state;
	write_lines(&w);
	way_ps = w.model.transfer_ps[SB_HOP_CACHE];
	for (uint64_t i = 0; i < PREFETCHES; i++)
		CHECK_EQ(prefetch(&w, i, BEGIN_PS), BEGIN_PS);
	/* These are its own, and that has never been written. */
	CHECK_EQ(prefetch(&w, 0, BEGIN_PS), BEGIN_PS);
	CHECK_EQ(prefetch(&w, LINES - 1, BEGIN_PS), BEGIN_PS);
	CHECK_EQ(prefetch(&w, PREFETCHES, BEGIN_PS), BEGIN_PS + way_ps);
	forget_lines(&w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_latest_of_a_set_is_known),
		cmocka_unit_test(a_prefetch_saves_the_way),
		cmocka_unit_test(few_prefetches_are_under_way),
	};

	return cmocka_run_group_tests_name("lines", tests, NULL, NULL);
}
