/*
 * Descriptions of machines that are refused before hwloc is asked.
 *
 * Property: a number that no Linux has, a number given twice and a file of
 *   another kind are refused in one line that names what was wrong; so is a file
 *   that the kernel makes up, unread. Large numbers that are not CPUs' or nodes'
 *   are none of these.
 * Method: descriptions by hand.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "affinity/topology.h"
#include "tests/test.h"
#include "tests/tree.h"

static char root[] = "/tmp/sb-precheck-XXXXXX";

#define OBJECT(type, number, set)                                                                  \
	"<object type=\"" type "\" os_index=\"" number "\" cpuset=\"" set                          \
	"\" complete_cpuset=\"" set "\" allowed_cpuset=\"" set                                     \
	"\" nodeset=\"0x1\" complete_nodeset=\"0x1\" "                                             \
	"allowed_nodeset=\"0x1\">"
#define MACHINE(core, pu, node)                                                                    \
	"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"                                             \
	"<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"                                              \
	"<topology version=\"2.0\">\n" OBJECT("Machine", "0", "0x3")                               \
		OBJECT("NUMANode", node, "0x3") "</object>\n" OBJECT("Core", core, "0x1")          \
			OBJECT("PU", "0", "0x1") "</object></object>\n" OBJECT("Core", "1", "0x2") \
				OBJECT("PU", pu, "0x2") "</object></object>\n</"                   \
							"object>\n</topology>\n"

static void expect(const char *profile, const char *pattern)
{
	struct sb_topology *topology;
	char why[512];
	const int rc = sb_topology_open(&topology, profile, why, sizeof(why));

	if (!rc)
		sb_topology_free(topology);
	if (!pattern != !rc)
		fail_msg("'%s' gives %d: %s", profile, rc, rc ? why : "");
	if (rc && pattern && (!strstr(why, pattern) || strchr(why, '\n')))
		fail_msg("'%s': '%s', expected '%s'", profile, why, pattern);
}

static void expect_of_file(const char *text, size_t bytes, const char *pattern)
{
	char path[128];

	tree_put_bytes(root, "/machine.xml", text, bytes);
	snprintf(path, sizeof(path), "%s/machine.xml", root);
	expect(path, pattern);
}

static void large_numbers_are_refused(void **state)
{
	static const char cpu[] = MACHINE("0", "2000000000", "0");
	static const char node[] = MACHINE("0", "1", "2000000000");
	static const char core[] = MACHINE("2000000000", "1", "0");

	(void)state;
	expect("pu:2(indexes=0,2000000000)", "OS index 2000000000; expected");
	expect("pu:2(indexes=0,4294967295)", "OS index 4294967295; expected");
	expect("pu:2(indexes=0,16384)", "OS index 16384; expected");
	expect("pu:2(indexes=0,16383)", NULL);
	expect("[numa(memory=2000000000 indexes=0)] pu:2", NULL);
	expect("numa:2(indexes=0,99999999) pu:2", "OS index 99999999");
	expect_of_file(cpu, sizeof(cpu) - 1, "OS index 2000000000; expected");
	expect_of_file(node, sizeof(node) - 1, "OS index 2000000000; expected");
	expect_of_file(core, sizeof(core) - 1, NULL);
	tree_put(root, "/copy/sys/devices/system/cpu/online", "0-2000000000\n");
	{
		char path[128];

		snprintf(path, sizeof(path), "%s/copy", root);
		expect(path, "OS index 2000000000; expected");
	}
}

static void slow_machines_are_refused_at_once(void **state)
{
	static const char ring[] = "pu:16384(indexes=2*1:8192*2)";

	(void)state;
	expect(ring, "expected no indexes=, or more levels");
	expect("numa:16384 pu:1", "takes hwloc too long to load");
	expect("pack:2 l3:8192 l2:1 l1:1 [numa] core:1 pu:1", "hwloc too long to load");
	expect("pu:16385", "more than 16384");
	expect("group:128 [numa] [numa] pu:128", NULL);
	expect("pu:512(indexes=2*1:256*2)", NULL);
}

static void numbers_given_twice_are_refused(void **state)
{
	static const char cpu[] = MACHINE("0", "0", "0");

	(void)state;
	expect_of_file(cpu, sizeof(cpu) - 1, "OS index 0 twice");
	expect("pu:4(indexes=0,1,1,2)", "OS index 1 twice");
	expect("core:2 pu:2(indexes=2*1:1*2)", NULL);
	expect("core:2 pu:2(indexes=core:pu)", NULL);
}

static void files_of_another_kind_are_named(void **state)
{
	(void)state;
	expect_of_file("\xff\xfe<\0?\0", 6, "UTF-16");
	expect_of_file("<\0?\0x\0", 6, "UTF-16");
	expect_of_file("\xef\xbb\xbf<?xml", 8, "byte order mark");
	expect_of_file("<?xml version=\"1.0\"?>\r\n<topology/>\r\n", 36, "CR LF");
	expect_of_file("BZh91AY", 7, "bzip2");
	expect_of_file("\x1f\x8b\x08", 3, "gzip");
	expect_of_file("", 0, "is empty");
	/* To read this one would be to wait for the kernel's next message. */
	if (!access("/proc/kmsg", F_OK))
		expect("/proc/kmsg", "is empty");
}

/* With what is said to hwloc of one description, this machine is still itself. */
static void nothing_is_left_behind(void **state)
{
	char path[128];

	(void)state;
	tree_put(root, "/cpuid/hwloc-cpuid-info", "Architecture: x86\n");
	tree_put(root, "/cpuid/pu0", "1 0 0 0 0 => 0 756e6547 6c65746e 49656e69\n");
	snprintf(path, sizeof(path), "%s/cpuid", root);
#if defined(__x86_64__) || defined(__i386__)
	expect(path, NULL);
#else
	expect(path, "x86");
#endif
	assert_null(getenv("HWLOC_CPUID_PATH"));
	assert_null(getenv("HWLOC_COMPONENTS"));
	assert_null(getenv("HWLOC_THISSYSTEM"));
}

static int make(void **state)
{
	(void)state;
	tree_make(root);
	return 0;
}

static int remove_all(void **state)
{
	(void)state;
	tree_remove(root);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(large_numbers_are_refused),
		cmocka_unit_test(slow_machines_are_refused_at_once),
		cmocka_unit_test(numbers_given_twice_are_refused),
		cmocka_unit_test(files_of_another_kind_are_named),
		cmocka_unit_test(nothing_is_left_behind),
	};

	return cmocka_run_group_tests_name("precheck", tests, make, remove_all);
}
