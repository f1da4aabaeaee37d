/*
 * test_descriptions.c - lists of CPUs and descriptions of machines that are wrong are refused in one line.
 */
#include "tests/affinity/plan.h"

static void expect_bad_list(const struct sb_topology *topology, const struct sb_plan_request *r,
			    enum sb_plan_fault fault)
{
	struct sb_plan plan;
	char why[256];

	if (sb_plan_make(topology, r, &plan, why, sizeof(why)) != -EINVAL)
		fail_msg("'%s%s' is accepted", r->cpus ? r->cpus : "",
			 r->generator_cpus ? r->generator_cpus : "");
	CHECK_EQ(plan.fault, fault);
	assert_non_null(strstr(why, "expected a list"));
	assert_null(strchr(why, '\n'));
}

static void bad_lists_are_refused(void **state)
{
	static const char *const lists[] = {
		"99",
		"0-99",
		"3-1",
		"x",
		"core",
		"core:",
		"core:9",
		"core:0-9",
		"l1:0",
		"numa:0.core:2",
		"zebra:0",
		"core:0-x",
		"numa:0..1",
		"numa:all.core:2",
		"core:0.numa:0",
		"core:all.pu:1-",
		/* NOLINTNEXTLINE(bugprone-suspicious-missing-comma) */
		"machine:0.machine:0.machine:0.machine:0.machine:0.machine:0.machine:0.machine:0."
		"machine:0.machine:0.machine:0.machine:0.machine:0.machine:0.machine:0.machine:0."
		"machine:0",
		",",
		"0;1",
		"4294967296",
		"core:99999999999",
	};
	struct sb_topology *topology;
	char why[256];

	(void)state;
	CHECK_EQ(sb_topology_open(&topology, "numa:2 core:2 pu:1", why, sizeof(why)), 0);
	for (size_t i = 0; i < SB_ARRAY_SIZE(lists); i++) {
		const struct sb_plan_request r = { .workers = 1, .cpus = lists[i] };
		const struct sb_plan_request g = { .workers = 1, .generator_cpus = lists[i] };

		expect_bad_list(topology, &r, SB_PLAN_FAULT_CPUS);
		expect_bad_list(topology, &g, SB_PLAN_FAULT_GENERATOR_CPUS);
	}
	sb_topology_free(topology);
}

/* ---- descriptions that are none ---- */

static void expect_refusal(const char *profile, const char *pattern)
{
	struct sb_topology *topology;
	char why[512];

	if (!sb_topology_open(&topology, profile, why, sizeof(why)))
		fail_msg("'%s' is accepted", profile);
	if (!strstr(why, pattern) || strchr(why, '\n'))
		fail_msg("'%s': '%s', expected '%s'", profile, why, pattern);
}

static void bad_descriptions_are_refused(void **state)
{
	static const char good[] = XML("0x3", NODE, PU("0", "0x1") PU("1", "0x2"));
	static const char disallowed[] = XML("0x0", NODE, PU("0", "0x1") PU("1", "0x2"));
	static const char empty[] = XML("0x3", NODE, "");
	static const char newer[] = "<?xml version=\"1.0\"?>\n"
				    "<topology version=\"3.0\">\n</topology>\n";
	struct sb_topology *topology;
	char why[256];
	char big[PATH_MAX];
	int fd;

	(void)state;
	CHECK_EQ(sb_topology_open(&topology, file_with(good, sizeof(good) - 1), why, sizeof(why)),
		 0);
	sb_topology_free(topology);
	expect_refusal(file_with(disallowed, sizeof(disallowed) - 1),
		       "has no processing unit that may be used");
	expect_refusal(file_with(empty, sizeof(empty) - 1),
		       "has no processing unit that may be used");
	expect_refusal(file_with(newer, sizeof(newer) - 1), "hwloc 3");
	expect_refusal(file_with("", 0), "is not XML");
	expect_refusal(file_with("hello\n", 6), "is not XML");
	expect_refusal(file_with("<topology", 9), "is not XML");
	expect_refusal("no/such/file", "there is no file");
	expect_refusal("missing.xml", "there is no file");
	expect_refusal("no-such-profile", "there is no profile");
	expect_refusal("/dev/null", "neither a file nor a directory");
	expect_refusal(scratch_directory(), "has no sys/devices/system/cpu");
	expect_refusal("pack:2 zebra:3", "is no synthetic description");
	expect_refusal("pack:0 core:1", "is no synthetic description");
	expect_refusal("pu:2 pu:2 core:1 :", "is no synthetic description");
	expect_refusal("pack:1000000 core:1000000", "16384");
	expect_refusal("pu:99999999999999999999", "16384");
	snprintf(big, sizeof(big), "%s/big.xml", scratch_directory());
	fd = open(big, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	CHECK_EQ(ftruncate(fd, (off_t)1 << 30), 0);
	close(fd);
	expect_refusal(big, "larger than 64 MiB");
	unlink(big);
}

/* Either a machine or a refusal; nothing else is asked. */
static void try_damaged(const char *text, size_t bytes)
{
	struct sb_topology *topology;
	char why[512];

	if (!sb_topology_open(&topology, file_with(text, bytes), why, sizeof(why)))
		sb_topology_free(topology);
	else
		assert_null(strchr(why, '\n'));
}

static void damaged_files_do_no_harm(void **state)
{
	static const char *const paths[] = {
		"tests/topologies/16em64t-4s2c2t.xml",
		"tests/topologies/64intel64-fakeKNL-SNC4-hybrid.xml",
		"tests/topologies/power8gpudistances.xml",
	};
	static char text[65536];
	struct sb_rng rng;

	(void)state;
	sb_rng_seed(&rng, sb_test_seed());
	for (size_t f = 0; f < SB_ARRAY_SIZE(paths); f++) {
		FILE *in = fopen(paths[f], "re");
		size_t bytes;

		assert_non_null(in);
		bytes = fread(text, 1, sizeof(text), in);
		fclose(in);
		for (int i = 0; i < 16; i++)
			try_damaged(text, sb_rng_below(&rng, (uint32_t)bytes));
		for (int i = 0; i < SB_SCALE(160); i++) {
			const uint32_t at = sb_rng_below(&rng, (uint32_t)bytes);
			const char was = text[at];

			text[at] = "0123456789f\"<>x -"[sb_rng_below(&rng, 17)];
			try_damaged(text, bytes);
			if (i % 4)
				text[at] = was;
		}
	}
}

/* ---- a gathered directory ---- */

static void put_file(const char *root, const char *name, const char *text)
{
	char path[PATH_MAX];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	for (char *c = path + strlen(root) + 1; *c; c++) {
		if (*c != '/')
			continue;
		*c = '\0';
		mkdir(path, 0700);
		*c = '/';
	}
	out = fopen(path, "we");
	assert_non_null(out);
	fprintf(out, "%s\n", text);
	CHECK_EQ(fclose(out), 0);
}

/* Two packages of two cores, one node each; CPUs 0 and 2 are the first's. */
static void a_directory_is_read(void **state)
{
	char root[PATH_MAX];
	struct sb_topology *topology;
	struct sb_machine machine;
	char why[256];

	(void)state;
	snprintf(root, sizeof(root), "%s/machine", scratch_directory());
	CHECK_EQ(mkdir(root, 0700), 0);
	put_file(root, "sys/devices/system/cpu/online", "0-3");
	put_file(root, "sys/devices/system/cpu/possible", "0-3");
	put_file(root, "sys/devices/system/node/online", "0-1");
	put_file(root, "proc/cpuinfo", "");
	for (int cpu = 0; cpu < 4; cpu++) {
		char name[80];
		char mask[8];
		const int package = cpu % 2;

#define PUT(what, format, value)                                                                   \
	do {                                                                                       \
		snprintf(name, sizeof(name), "sys/devices/system/cpu/cpu%d/" what, cpu);           \
		snprintf(mask, sizeof(mask), format, value);                                       \
		put_file(root, name, mask);                                                        \
	} while (0)
		PUT("online", "%d", 1);
		PUT("topology/core_id", "%d", cpu / 2);
		PUT("topology/physical_package_id", "%d", package);
		PUT("topology/core_siblings", "%x", 5 << package);
		PUT("topology/thread_siblings", "%x", 1 << cpu);
		PUT("topology/package_cpus", "%x", 5 << package);
		PUT("topology/core_cpus", "%x", 1 << cpu);
#undef PUT
	}
	put_file(root, "sys/devices/system/node/node0/cpumap", "5");
	put_file(root, "sys/devices/system/node/node1/cpumap", "a");
	put_file(root, "sys/devices/system/node/node0/distance", "10 21");
	put_file(root, "sys/devices/system/node/node1/distance", "21 10");
	if (sb_topology_open(&topology, root, why, sizeof(why)))
		fail_msg("%s", why);
	sb_topology_machine(topology, &machine);
	assert_true(machine.emulated);
	CHECK_EQ(machine.packages, 2);
	CHECK_EQ(machine.nodes, 2);
	CHECK_EQ(machine.cores, 4);
	assert_null(getenv("HWLOC_FSROOT"));
	sb_topology_free(topology);
	expect_order(root, (struct sb_plan_request){ .workers = 4, .policy = SB_PLACEMENT_NUMA },
		     "0 2 1 3");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bad_lists_are_refused),
		cmocka_unit_test(bad_descriptions_are_refused),
		cmocka_unit_test(damaged_files_do_no_harm),
		cmocka_unit_test(a_directory_is_read),
	};

	return cmocka_run_group_tests_name("plan", tests, NULL, remove_scratch);
}
