/*
 * Scatter on uneven trees.
 *
 * Property: n workers use n NUMA nodes, or all that have cores; no core has two
 *   while another has none.
 * Method: random machines of packages and groups within each other, some with a
 *   node, beside single cores; every number of workers up to the cores.
 * Bound: machines of up to 32 units, three levels deep.
 */
#include <string.h>
#include <unistd.h>

#include "affinity/plan.h"
#include "tests/test.h"

#define XML_BYTES 65536
#define UNITS_MAX 32

struct making {
	struct sb_rng rng;
	uint32_t units;
	uint32_t nodes;
	uint32_t objects;
	uint32_t cores;
};

struct part {
	char xml[XML_BYTES];
	uint32_t cpus;
};

static void SB_PRINTF(2, 3) put(char *xml, const char *format, ...)
{
	const size_t used = strlen(xml);
	va_list list;

	va_start(list, format);
	CHECK_EQ(vsnprintf(xml + used, XML_BYTES - used, format, list) < (int)(XML_BYTES - used),
		 1);
	va_end(list);
}

static void put_object(struct making *m, char *xml, const char *type, uint32_t os_index,
		       uint32_t cpus, uint32_t nodes)
{
	put(xml,
	    "<object type=\"%s\" os_index=\"%u\" cpuset=\"0x%x\" complete_cpuset=\"0x%x\" "
	    "allowed_cpuset=\"0x%x\" nodeset=\"0x%x\" complete_nodeset=\"0x%x\" "
	    "allowed_nodeset=\"0x%x\" gp_index=\"%u\">",
	    type, os_index, cpus, cpus, cpus, nodes, nodes, nodes, ++m->objects);
}

static void make_core(struct making *m, struct part *out)
{
	const uint32_t cpu = 1U << m->units;

	put_object(m, out->xml, "Core", m->cores++, cpu, 0);
	put_object(m, out->xml, "PU", m->units++, cpu, 0);
	put(out->xml, "</object></object>\n");
	out->cpus |= cpu;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static void make_part(struct making *m, struct part *out, int depth)
{
	struct part *inner = calloc(1, sizeof(*inner));
	const uint32_t children = 1 + sb_rng_below(&m->rng, 4);

	assert_non_null(inner);
	for (uint32_t i = 0; i < children || !inner->cpus; i++) {
		if (m->units == UNITS_MAX)
			break;
		if (depth && sb_rng_below(&m->rng, 2))
			make_part(m, inner, depth - 1);
		else
			make_core(m, inner);
	}
	if (inner->cpus) {
		put_object(m, out->xml, depth == 2 ? "Package" : "Group", m->objects, inner->cpus,
			   0);
		if (m->nodes < UNITS_MAX && sb_rng_below(&m->rng, 4)) {
			put_object(m, out->xml, "NUMANode", m->nodes, inner->cpus, 1U << m->nodes);
			put(out->xml, "</object>\n");
			m->nodes++;
		}
		put(out->xml, "%s</object>\n", inner->xml);
		out->cpus |= inner->cpus;
	}
	free(inner);
}

static char path[] = "/tmp/sb-uneven-XXXXXX.xml";

static void make_machine(struct making *m)
{
	struct part *all = calloc(1, sizeof(*all));
	char *xml = calloc(1, XML_BYTES);
	FILE *out;

	assert_non_null(all);
	assert_non_null(xml);
	m->units = m->nodes = m->objects = m->cores = 0;
	for (int i = 0; i < 3; i++)
		make_part(m, all, 2);
	put(xml, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		 "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
		 "<topology version=\"2.0\">\n");
	put_object(m, xml, "Machine", 0, all->cpus,
		   m->nodes ? (uint32_t)((UINT64_C(1) << m->nodes) - 1) : 1);
	if (!m->nodes) {
		put_object(m, xml, "NUMANode", 0, all->cpus, 1);
		put(xml, "</object>\n");
	}
	put(xml, "%s</object>\n</topology>\n", all->xml);
	out = fopen(path, "we");
	assert_non_null(out);
	fputs(xml, out);
	CHECK_EQ(fclose(out), 0);
	free(all);
	free(xml);
}

/* Those that a worker has, of a plan. */
static uint32_t count_nodes(const struct sb_plan *plan)
{
	uint64_t seen = 0;

	for (uint32_t i = 0; i < plan->placement.workers; i++) {
		if (plan->placement.place[i].node >= 0)
			seen |= UINT64_C(1) << plan->placement.place[i].node;
	}
	return (uint32_t)__builtin_popcountll(seen);
}

static struct sb_plan plan_of(const struct sb_topology *t, struct sb_plan_request request)
{
	struct sb_plan plan;
	char why[256];

	if (sb_plan_make(t, &request, &plan, why, sizeof(why)))
		fail_msg("%s", why);
	return plan;
}

static void check_machine(const struct sb_topology *t)
{
	struct sb_plan plan = plan_of(t, (struct sb_plan_request){ .rule = SB_WORKERS_PER_PU });
	const uint32_t all = count_nodes(&plan);
	const uint32_t units = plan.placement.workers;

	sb_plan_free(&plan);
	for (uint32_t n = 1; n <= units; n++) {
		uint64_t used = 0;

		plan = plan_of(t, (struct sb_plan_request){ .workers = n,
							    .policy = SB_PLACEMENT_SCATTER });
		CHECK_EQ(count_nodes(&plan), n < all ? n : all);
		for (uint32_t i = 0; i < n; i++)
			used |= UINT64_C(1) << plan.placement.place[i].pu;
		CHECK_EQ(__builtin_popcountll(used), n);
		sb_plan_free(&plan);
	}
}

static void scatter_uses_all_nodes(void **state)
{
	struct making m;
	uint32_t read = 0;
	char why[512];

	(void)state;
	sb_rng_seed(&m.rng, sb_test_seed());
	close(mkstemps(path, 4));
	for (int i = 0; i < SB_SCALE(160); i++) {
		struct sb_topology *t;

		make_machine(&m);
		if (sb_topology_open(&t, path, why, sizeof(why)))
			fail_msg("%s", why);
		check_machine(t);
		read += m.nodes > 2;
		sb_topology_free(t);
	}
	unlink(path);
	CHECK_EQ(read > 0, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scatter_uses_all_nodes),
	};

	return cmocka_run_group_tests_name("uneven", tests, NULL, NULL);
}
