/*
 * What is loaded of a wide synthetic description is what hwloc loads.
 *
 * Property: the topology is hwloc's own of the same description, object by
 *   object: types, numbers, sets, sizes, memory, facts.
 * Method: small descriptions of every kind of level, loaded in both ways, and
 *   exported.
 */
#include <hwloc.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/profile/wide.h"
#include "tests/test.h"

static const char *const shapes[] = {
	"pu:5",
	"6",
	"4 3 2",
	"core:70 pu:2",
	"pack:3 core:1 pu:1",
	"pack:2 core:0x4 pu:1",
	"numa:7 pu:1",
	"numa:1 pu:64",
	"numa:70 core:1 pu:1",
	"pack:5 numa:1 pu:40",
	"pack:2 numa:2 l3:3 core:4 pu:2",
	"numa:4(memory=3MiB) pu:3",
	"pack:1 [numa] l2:6 pu:1",
	"pack:3 [numa] [numa(memory=3GB)] core:3 pu:1",
	"[numa] pack:2 [numa] core:3 [numa(memory=1MB)] pu:2",
	"group:3 [numa] [numa] pu:33",
	"group:3 group:4 pu:5",
	"pack:2 die:3 group:2 [numa] pu:3",
	"l5:3 l4:3 l3:3 l2:3 l1:3 pu:3",
	"l3:3(size=300) l1d:3(size=3KB) pu:32",
	"pack:2 l3:3 l1i:2 core:2 pu:3", /* hwloc leaves out L1i */
	"pack:2 l1i:3 pu:3",
};

/* Without what counts how objects came to be. */
static void forget(char *xml, const char *attribute)
{
	char *at = xml;

	while ((at = strstr(at, attribute))) {
		char *end = strchr(at + strlen(attribute), '"');

		memmove(at, end + 1, strlen(end + 1) + 1);
	}
}

/* And what the one that loaded it could do. */
static void forget_support(char *xml)
{
	char *at = strstr(xml, "  <support ");

	if (at)
		*at = '\0';
}

static char *export(hwloc_topology_t t)
{
	char *xml;
	char *copy;
	int bytes;

	CHECK_EQ(hwloc_topology_export_xmlbuffer(t, &xml, &bytes, 0), 0);
	copy = strdup(xml);
	assert_non_null(copy);
	hwloc_free_xmlbuffer(t, xml);
	forget(copy, " gp_index=\"");
	forget_support(copy);
	hwloc_topology_destroy(t);
	return copy;
}

static char *load_wide(const char *text)
{
	struct sb_shape shape;
	hwloc_topology_t t;

	CHECK_EQ(hwloc_topology_init(&t), 0);
	CHECK_EQ(sb_shape_read(&shape, text), 0);
	CHECK_EQ(sb_wide_load(t, text, &shape), 0);
	return export(t);
}

static char *load_as_hwloc_does(const char *text)
{
	hwloc_topology_t t;

	CHECK_EQ(hwloc_topology_init(&t), 0);
	CHECK_EQ(hwloc_topology_set_synthetic(t, text), 0);
	CHECK_EQ(hwloc_topology_load(t), 0);
	return export(t);
}

static void wide_ones_are_hwlocs(void **state)
{
	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(shapes); i++) {
		char *own = load_wide(shapes[i]);
		char *hwlocs = load_as_hwloc_does(shapes[i]);

		if (strcmp(own, hwlocs) != 0)
			fail_msg("'%s': %s\ninstead of\n%s", shapes[i], own, hwlocs);
		free(own);
		free(hwlocs);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wide_ones_are_hwlocs),
	};

	return cmocka_run_group_tests_name("wide", tests, NULL, NULL);
}
