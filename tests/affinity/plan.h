/* plan.h - the oracle, the machines and the files of the tests of plans. */
#ifndef SB_TESTS_PLAN_H
#define SB_TESTS_PLAN_H

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <hwloc.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "affinity/plan.h"
#include "affinity/profile/profile.h"
#include "tests/test.h"

static const char *const synthetics[] = {
	"pu:1",
	"pu:7",
	"core:4 pu:1",
	"pack:2 core:4 pu:2",
	"pack:2 numa:2 l3:2 core:4 pu:2",
	"pack:2 [numa] l3:1 core:6 pu:2(indexes=2*12:12*1)",
	"numa:3 pu:5",
	"group:2 group:3 numa:1 core:2 pu:2",
	"pack:4 die:2 l3:1 l2:4 core:1 pu:1",
	"pack:2 [numa] [numa(memory=1GiB)] l3:2 core:2 pu:4",
	"[numa] pack:2 [numa] l3:2 core:3 pu:1",
	"numa:8 core:1 pu:1",
	"pack:1 l2:5 core:2 pu:8",
	"1000",
	"pack:10 l3:10 core:5 pu:2",
	/* Caches below the core, as Opterons, RISC-V and POWER have. */
	"pack:1 l2:2 core:1 l1:2 pu:1",
	"pack:2 core:2 l2:2 l1:2 pu:2",
	"numa:2 core:2 l1:1 pu:2",
	"core:2 l1:2 [numa] pu:1",
};

/* ---- the oracle: the topology as the library gives it ---- */

struct machine {
	const char *profile;
	struct sb_topology *topology;
	struct sb_machine facts;
	hwloc_topology_t hwloc; /* NULL: only our own description */
	uint32_t core[16384];	/* of each unit */
	int speed[16384];
};

static struct machine m;

static inline void open_oracle(const char *profile)
{
	const bool file = strstr(profile, ".xml");

	CHECK_EQ(hwloc_topology_init(&m.hwloc), 0);
	CHECK_EQ(file ? hwloc_topology_set_xml(m.hwloc, profile)
		      : hwloc_topology_set_synthetic(m.hwloc, profile),
		 0);
	CHECK_EQ(hwloc_topology_load(m.hwloc), 0);
}

/* What the project makes of its own profiles is judged by its export. */
static inline void open_oracle_of_named(const char *directory)
{
	char path[PATH_MAX];
	FILE *out;

	snprintf(path, sizeof(path), "%s/named.xml", directory);
	out = fopen(path, "we");
	assert_non_null(out);
	CHECK_EQ(sb_topology_export(m.topology, out), 0);
	CHECK_EQ(fclose(out), 0);
	open_oracle(path);
}

static inline bool is_named(const char *profile)
{
	for (const struct sb_profile *p = sb_profiles; p->name; p++) {
		if (!strcmp(p->name, profile))
			return true;
	}
	return false;
}

static inline int speed_by_oracle(hwloc_obj_t pu)
{
	const int kind = hwloc_cpukinds_get_by_cpuset(m.hwloc, pu->cpuset, 0);
	int efficiency = -1;

	if (kind >= 0)
		hwloc_cpukinds_get_info(m.hwloc, (unsigned)kind, NULL, &efficiency, NULL, NULL, 0);
	return efficiency < 0 ? 0 : efficiency;
}

static inline const char *scratch_directory(void)
{
	static char directory[] = "/tmp/sb-plan-XXXXXX";

	if (strstr(directory, "XXXXXX"))
		assert_non_null(mkdtemp(directory));
	return directory;
}

static inline void open_machine(const char *profile)
{
	char why[256];
	uint32_t cores = 0;
	hwloc_obj_t last = NULL;

	m.profile = profile;
	if (sb_topology_open(&m.topology, profile, why, sizeof(why)))
		fail_msg("%s: %s", profile, why);
	sb_topology_machine(m.topology, &m.facts);
	assert_true(m.facts.emulated);
	if (is_named(profile))
		open_oracle_of_named(scratch_directory());
	else
		open_oracle(profile);
	CHECK_EQ(m.facts.pus, hwloc_get_nbobjs_by_type(m.hwloc, HWLOC_OBJ_PU));
	for (uint32_t i = 0; i < m.facts.pus; i++) {
		hwloc_obj_t pu = hwloc_get_obj_by_type(m.hwloc, HWLOC_OBJ_PU, i);
		hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(m.hwloc, HWLOC_OBJ_CORE, pu);

		cores += !core || core != last;
		last = core;
		m.core[i] = cores - 1;
		m.speed[i] = speed_by_oracle(pu);
		CHECK_EQ(sb_topology_os_cpu(m.topology, (int)i), pu->os_index);
	}
	CHECK_EQ(m.facts.cores, cores);
	CHECK_EQ(sb_topology_os_cpu(m.topology, -1), -1);
	CHECK_EQ(sb_topology_os_cpu(m.topology, (int)m.facts.pus), -1);
}

static inline void close_machine(void)
{
	sb_topology_free(m.topology);
	hwloc_topology_destroy(m.hwloc);
}

typedef void (*on_machine)(void);

/* On every machine there is; returns how many files. */
static inline void on_all_machines(on_machine act)
{
	glob_t files;

	CHECK_EQ(glob("tests/topologies/*.xml", 0, NULL, &files), 0);
	assert_true(files.gl_pathc >= 14);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		open_machine(files.gl_pathv[i]);
		act();
		close_machine();
	}
	globfree(&files);
	for (size_t i = 0; i < SB_ARRAY_SIZE(synthetics); i++) {
		open_machine(synthetics[i]);
		act();
		close_machine();
	}
	for (const struct sb_profile *p = sb_profiles; p->name; p++) {
		open_machine(p->name);
		act();
		close_machine();
	}
}

/* ---- invariants ---- */

static inline struct sb_plan plan_of(const struct sb_plan_request *request)
{
	struct sb_plan plan;
	char why[256];

	if (sb_plan_make(m.topology, request, &plan, why, sizeof(why)))
		fail_msg("%s: %s", m.profile, why);
	return plan;
}

/* ---- orders, by hand ---- */

/* The units in the order of the workers, as text. */
static inline void expect_order(const char *profile, struct sb_plan_request request,
				const char *expected)
{
	char got[512] = "";
	size_t used = 0;
	struct sb_topology *topology;
	struct sb_plan plan;
	char why[256];

	CHECK_EQ(sb_topology_open(&topology, profile, why, sizeof(why)), 0);
	if (sb_plan_make(topology, &request, &plan, why, sizeof(why))) {
		assert_string_equal(why, expected);
	} else {
		for (uint32_t i = 0; i < plan.placement.workers; i++)
			used += (size_t)snprintf(
				got + used, sizeof(got) - used, "%s%d", i ? " " : "",
				sb_topology_os_cpu(topology, plan.placement.place[i].pu));
		assert_string_equal(got, expected);
		sb_plan_free(&plan);
	}
	sb_topology_free(topology);
}

/* A file of the scratch directory with that text. */
static inline const char *file_with(const char *text, size_t bytes)
{
	static char path[PATH_MAX];
	FILE *out;

	snprintf(path, sizeof(path), "%s/bad.xml", scratch_directory());
	out = fopen(path, "we");
	assert_non_null(out);
	CHECK_EQ(fwrite(text, 1, bytes, out), bytes);
	CHECK_EQ(fclose(out), 0);
	return path;
}

#define NODE                                                                                       \
	"<object type=\"NUMANode\" os_index=\"0\" cpuset=\"0x3\" "                                 \
	"complete_cpuset=\"0x3\" nodeset=\"0x1\" complete_nodeset=\"0x1\" "                        \
	"gp_index=\"2\"/>\n"

#define XML(allowed, nodes, pus)                                                                   \
	"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"                                             \
	"<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"                                              \
	"<topology version=\"2.0\">\n<object type=\"Machine\" os_index=\"0\" "                     \
	"cpuset=\"0x3\" complete_cpuset=\"0x3\" allowed_cpuset=\"" allowed                         \
	"\" nodeset=\"0x3\" complete_nodeset=\"0x3\" allowed_nodeset=\"0x3\" "                     \
	"gp_index=\"1\">\n" nodes pus "</object>\n</topology>\n"

#define PU(n, set)                                                                                 \
	"<object type=\"PU\" os_index=\"" n "\" cpuset=\"" set "\" complete_cpuset=\"" set         \
	"\" nodeset=\"0x1\" "                                                                      \
	"complete_nodeset=\"0x1\" gp_index=\"1" n "\"/>\n"

static inline int remove_scratch(void **state)
{
	char command[PATH_MAX];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", scratch_directory());
	return system(command);
}

#endif
