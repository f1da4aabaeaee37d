/*
 * test_draw.c - property: the tree and the picture of a machine have each processing unit once,
 * with its worker, and each NUMA node once. Method: a plan with a worker on every unit, drawn for
 * all machines of the tests of plans, and compared with the plan. Bound: those machines.
 */
#include <ctype.h>

#include "affinity/draw.h"
#include "tests/affinity/plan.h"

typedef void (*draw)(const struct sb_topology *topology, const struct sb_plan *plan, FILE *out);

/* How often the words stand there with no digit or letter behind them. */
static uint32_t count_words(const char *text, const char *words)
{
	uint32_t n = 0;

	for (const char *at = strstr(text, words); at; at = strstr(at + 1, words))
		n += !isalnum((unsigned char)at[strlen(words)]);
	return n;
}

static void check_once(const char *text, const char *words)
{
	if (count_words(text, words) != 1)
		fail_msg("%s: '%s' stands there %u times in\n%.4000s", m.profile, words,
			 count_words(text, words), text);
}

static void check_units(const char *text, const struct sb_plan *plan)
{
	for (uint32_t w = 0; w < plan->placement.workers; w++) {
		const int pu = plan->placement.place[w].pu;
		char unit[24] = "";
		char words[80];

		/* Both numbers stand there if they differ for any unit. */
		if (strstr(text, "(PU "))
			snprintf(unit, sizeof(unit), " (PU %d)", pu);
		snprintf(words, sizeof(words), "CPU %d%s [worker %u]",
			 sb_topology_os_cpu(m.topology, pu), unit, w);
		check_once(text, words);
	}
}

static void check_drawing(draw act, const struct sb_plan *plan)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);
	char words[80];

	assert_non_null(out);
	act(m.topology, plan, out);
	CHECK_EQ(fclose(out), 0);
	check_units(text, plan);
	for (uint32_t i = 0; i < m.facts.nodes; i++) {
		snprintf(words, sizeof(words), "%sNode %u", act == sb_draw_svg ? ">" : " ", i);
		check_once(text, words);
	}
	free(text);
}

static void check_machine(void)
{
	const struct sb_plan_request r = { .rule = SB_WORKERS_PER_PU };
	struct sb_plan plan;

	/* What has thousands of units takes long, and has no shape of its own. */
	if (m.facts.pus > 512)
		return;
	plan = plan_of(&r);
	check_drawing(sb_draw_tree, &plan);
	check_drawing(sb_draw_svg, &plan);
	sb_plan_free(&plan);
}

static void each_unit_and_node_is_drawn_once(void **state)
{
	(void)state;
	on_all_machines(check_machine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_unit_and_node_is_drawn_once),
	};

	return cmocka_run_group_tests_name("draw", tests, NULL, remove_scratch);
}
