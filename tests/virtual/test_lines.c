/*
 * Cache lines: what a line says of its owner's copy is what the owner's set says.
 *
 * Property: a line is kept if and only if its owner's set has its version, and first if and only
 *   if that is in the first place; at most one version of a line is in a set.
 * Method: random accesses of a few CPUs to more lines than their caches hold; after each, all
 *   lines and sets are looked at.
 */
#include "tests/test.h"

#define CPUS	 3
#define LINES	 (3 * SB_REGION_PAGE_LINES)
#define ACCESSES 3000

static uint32_t versions_in(const struct sb_lines *l, uint32_t cpu, uint64_t number)
{
	const uint64_t *set = sb_lines_set(l, cpu, number);
	uint32_t n = 0;

	for (int way = 0; way < SB_LINES_WAYS; way++)
		n += set[way] >> 32 == number + 1;
	return n;
}

static void check_line(const struct sb_lines *l, uint64_t number)
{
	const struct sb_cache_line *line = &l->line[number];
	const uint64_t key = sb_lines_key(l, number);
	const uint64_t *set;

	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		SB_CHECK(versions_in(l, cpu, number), <=, 1);
	if (!line->owner)
		return;
	set = sb_lines_set(l, line->owner - 1u, number);
	SB_CHECK(line->is_kept, ==, sb_lines_way(set, key) < SB_LINES_WAYS);
	SB_CHECK(line->is_first, ==, set[0] == key);
}

static void a_line_knows_its_owners_copy(void **state)
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

		now_ps[cpu] =
			sb_lines_access(&lines, cpu, memory + (offset << SB_REGION_LINE_SHIFT),
					accesses[sb_rng_below(&rng, 5)], SB_SITE(), now_ps[cpu]);
		for (uint64_t k = 0; k < LINES; k++)
			check_line(&lines, sb_region_line(memory) + k);
	}
	assert_true(lines.counts.hits && lines.counts.transfers && lines.counts.memory);
	sb_lines_end(&lines);
	sb_region_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_knows_its_owners_copy),
	};

	return cmocka_run_group_tests_name("lines", tests, NULL, NULL);
}
