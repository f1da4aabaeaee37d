/*
 * What would spoil a measurement: the probes of `check`.
 *
 * Property: each probe is ok on a good machine, warns on a bad one and says what
 *   mends it, and knows nothing where its files are missing or make no sense.
 * Method: made-up /proc and /sys, a row for each case; the table of cases has to
 *   have all three states of every probe.
 */
#include <sys/stat.h>

#include "harness/check/probes.h"
#include "tests/tree.h"

#define CPU	   "/sys/devices/system/cpu"
#define THP	   "/sys/kernel/mm/transparent_hugepage/enabled"
#define HUGE	   "/sys/kernel/mm/hugepages/hugepages-2048kB"
#define CLOCK	   "/sys/devices/system/clocksource/clocksource0"
#define CGROUP	   "/proc/self/cgroup"
#define SWAPS	   "Filename\tType\tSize\tUsed\tPriority\n"
#define VULNERABLE CPU "/vulnerabilities"

/* Which states a probe can have at all, if not all three. */
static const struct {
	const char *name;
	enum sb_probe_state never;
} never[] = {
	{ "mitigations", SB_PROBE_WARN },
};

/* CPUs 0, 1 and 2 may be used. */
static const struct scene {
	const char *probe;
	enum sb_probe_state state;
	const char *found;   /* a part of it */
	const char *file[8]; /* name and content in turn */
} scenes[] = {
	{ "governor",
	  SB_PROBE_OK,
	  "performance on 3 of 3",
	  { CPU "/cpu0/cpufreq/scaling_governor", "performance\n",
	    CPU "/cpu1/cpufreq/scaling_governor", "performance\n",
	    CPU "/cpu2/cpufreq/scaling_governor", "performance\n" } },
	{ "governor",
	  SB_PROBE_WARN,
	  "powersave on 1 of 3",
	  { CPU "/cpu0/cpufreq/scaling_governor", "performance\n",
	    CPU "/cpu2/cpufreq/scaling_governor", "powersave\n" } },
	/* Not one of those that may be used. */
	{ "governor",
	  SB_PROBE_UNKNOWN,
	  "no cpufreq",
	  { CPU "/cpu7/cpufreq/scaling_governor", "powersave\n" } },
	{ "turbo", SB_PROBE_OK, "off", { CPU "/intel_pstate/no_turbo", "1\n" } },
	{ "turbo", SB_PROBE_WARN, "on", { CPU "/intel_pstate/no_turbo", "0\n" } },
	{ "turbo", SB_PROBE_WARN, "on", { CPU "/cpufreq/boost", "1\n" } },
	{ "turbo", SB_PROBE_OK, "off", { CPU "/cpufreq/boost", "0\n" } },
	{ "turbo", SB_PROBE_UNKNOWN, "", { CPU "/cpufreq/boost", "x\n" } },
	{ "smt", SB_PROBE_OK, "off", { CPU "/smt/active", "0\n" } },
	{ "smt", SB_PROBE_WARN, "on", { CPU "/smt/active", "1\n" } },
	{ "smt", SB_PROBE_UNKNOWN, "", { CPU "/smt/active", "\n" } },
	{ "isolated", SB_PROBE_OK, "3 of 3", { CPU "/isolated", "0-2,5\n" } },
	{ "isolated", SB_PROBE_WARN, "2 of 3", { CPU "/isolated", "1-7\n" } },
	{ "isolated", SB_PROBE_WARN, "0 of 3", { CPU "/isolated", "\n" } },
	{ "isolated", SB_PROBE_UNKNOWN, "", { CPU "/isolated", "1-\n" } },
	{ "nohz_full", SB_PROBE_OK, "3 of 3", { CPU "/nohz_full", "0-3\n" } },
	{ "nohz_full", SB_PROBE_WARN, "0 of 3", { CPU "/nohz_full", "(null)\n" } },
	{ "nohz_full", SB_PROBE_UNKNOWN, "", { NULL } },
	{ "cpu-quota",
	  SB_PROBE_OK,
	  "none",
	  { CGROUP, "0::/a/b\n", "/sys/fs/cgroup/a/b/cpu.max", "max 100000\n" } },
	{ "cpu-quota",
	  SB_PROBE_WARN,
	  "0.5 CPUs",
	  { CGROUP, "0::/a/b\n", "/sys/fs/cgroup/a/b/cpu.max", "50000 100000\n" } },
	/* That of a group around it. */
	{ "cpu-quota",
	  SB_PROBE_WARN,
	  "1.5 CPUs",
	  { CGROUP, "0::/a/b\n", "/sys/fs/cgroup/a/b/cpu.max", "max 100000\n",
	    "/sys/fs/cgroup/a/cpu.max", "150000 100000\n" } },
	{ "cpu-quota",
	  SB_PROBE_WARN,
	  "0.5 CPUs",
	  { CGROUP, "0::/a/b\n", "/sys/fs/cgroup/a/b/cpu.max", "200000 100000\n",
	    "/sys/fs/cgroup/a/cpu.max", "50000 100000\n" } },
	{ "cpu-quota",
	  SB_PROBE_WARN,
	  "1 CPUs",
	  { CGROUP, "4:cpuacct,cpu:/k\n", "/sys/fs/cgroup/cpuacct,cpu/k/cpu.cfs_quota_us",
	    "100000\n", "/sys/fs/cgroup/cpuacct,cpu/k/cpu.cfs_period_us", "100000\n" } },
	/* In a container, where the path is the host's. */
	{ "cpu-quota",
	  SB_PROBE_WARN,
	  "2 CPUs",
	  { CGROUP, "0::/../host/x\n", "/sys/fs/cgroup/cpu.max", "200000 100000\n" } },
	{ "cpu-quota",
	  SB_PROBE_OK,
	  "none",
	  { CGROUP, "0::/\n", "/sys/fs/cgroup/cgroup.controllers", "cpu\n" } },
	{ "cpu-quota",
	  SB_PROBE_WARN,
	  "0.5 CPUs",
	  { CGROUP, "5:memory:/m\n4:cpu,cpuacct:/j\n0::/\n",
	    "/sys/fs/cgroup/cpu,cpuacct/j/cpu.cfs_quota_us", "50000\n",
	    "/sys/fs/cgroup/cpu,cpuacct/j/cpu.cfs_period_us", "100000\n" } },
	{ "cpu-quota",
	  SB_PROBE_OK,
	  "none",
	  { CGROUP, "4:cpu:/j\n", "/sys/fs/cgroup/cpu/j/cpu.cfs_quota_us", "-1\n" } },
	{ "cpu-quota",
	  SB_PROBE_UNKNOWN,
	  "",
	  { CGROUP, "4:cpu:/j\n", "/sys/fs/cgroup/cpu/j/cpu.cfs_quota_us", "50000\n",
	    "/sys/fs/cgroup/cpu/j/cpu.cfs_period_us", "0\n" } },
	{ "cpu-quota", SB_PROBE_UNKNOWN, "", { CGROUP, "4:cpu\n::\n:" } },
	{ "cpuset", SB_PROBE_OK, "3 of 3", { CPU "/online", "0-2\n" } },
	{ "cpuset", SB_PROBE_WARN, "3 of 8", { CPU "/online", "0-7\n" } },
	{ "cpuset", SB_PROBE_UNKNOWN, "", { CPU "/online", "7-0\n" } },
	{ "load", SB_PROBE_OK, "0.10", { "/proc/loadavg", "0.10 9.00 9.00 1/99 7\n" } },
	{ "load", SB_PROBE_WARN, "3.25", { "/proc/loadavg", "3.25 0.00 0.00 1/99 7\n" } },
	{ "load", SB_PROBE_UNKNOWN, "", { "/proc/loadavg", "nan\n" } },
	{ "busy", SB_PROBE_UNKNOWN, "", { "/proc/x/stat", "" } },
	{ "virtual",
	  SB_PROBE_OK,
	  "no hypervisor",
	  { "/proc/cpuinfo", "processor : 0\nflags : fpu hypervisors sse\n" } },
	{ "virtual",
	  SB_PROBE_WARN,
	  "virtual machine",
	  { "/proc/cpuinfo", "processor : 0\nflags : fpu hypervisor sse\n" } },
	{ "virtual",
	  SB_PROBE_WARN,
	  "virtual machine",
	  { "/proc/cpuinfo", "processor : 0\nflags : fpu hypervisor\n" } },
	{ "virtual", SB_PROBE_WARN, "virtual machine", { "/sys/hypervisor/type", "xen\n" } },
	{ "virtual",
	  SB_PROBE_WARN,
	  "virtual machine",
	  { "/sys/class/dmi/id/sys_vendor", "QEMU\n" } },
	{ "virtual",
	  SB_PROBE_OK,
	  "no hypervisor",
	  { "/sys/class/dmi/id/sys_vendor", "Dell Inc.\n" } },
	{ "virtual",
	  SB_PROBE_UNKNOWN,
	  "",
	  { "/proc/cpuinfo", "processor : 0\nFeatures : fp asimd\n" } },
	{ "steal", SB_PROBE_OK, "0.10 %", { "/proc/stat", "cpu  900 0 0 99 0 0 0 1 0 0\n" } },
	{ "steal", SB_PROBE_WARN, "10.00 %", { "/proc/stat", "cpu  90 0 0 0 0 0 0 10 0 0\n" } },
	{ "steal", SB_PROBE_UNKNOWN, "", { "/proc/stat", "cpu  90 0\n" } },
	{ "steal", SB_PROBE_UNKNOWN, "", { "/proc/stat", "cpu  0 0 0 0 0 0 0 0 0 0\n" } },
	{ "clock", SB_PROBE_OK, "tsc", { CLOCK "/current_clocksource", "tsc\n" } },
	{ "clock",
	  SB_PROBE_WARN,
	  "hpet",
	  { CLOCK "/current_clocksource", "hpet\n", CLOCK "/available_clocksource",
	    "tsc hpet acpi_pm \n" } },
	{ "clock", SB_PROBE_UNKNOWN, "", { CLOCK "/current_clocksource", "\n" } },
	{ "aslr", SB_PROBE_OK, "off", { "/proc/sys/kernel/randomize_va_space", "0\n" } },
	{ "aslr", SB_PROBE_WARN, "is 2", { "/proc/sys/kernel/randomize_va_space", "2\n" } },
	{ "aslr",
	  SB_PROBE_OK,
	  "this process",
	  { "/proc/self/personality", "00040000\n", "/proc/sys/kernel/randomize_va_space",
	    "2\n" } },
	{ "aslr", SB_PROBE_UNKNOWN, "", { "/proc/self/personality", "0\n" } },
	{ "thp", SB_PROBE_OK, "madvise", { THP, "always [madvise] never\n" } },
	{ "thp", SB_PROBE_OK, "never", { THP, "always madvise [never]\n" } },
	{ "thp", SB_PROBE_WARN, "always", { THP, "[always] madvise never\n" } },
	{ "thp", SB_PROBE_UNKNOWN, "", { THP, "]always[\n" } },
	{ "huge-pages",
	  SB_PROBE_OK,
	  "none reserved",
	  { HUGE "/nr_hugepages", "0\n", HUGE "/free_hugepages", "0\n" } },
	{ "huge-pages",
	  SB_PROBE_OK,
	  "3 of 8 free",
	  { HUGE "/nr_hugepages", "8\n", HUGE "/free_hugepages", "3\n" } },
	{ "huge-pages",
	  SB_PROBE_WARN,
	  "all 8",
	  { HUGE "/nr_hugepages", "8\n", HUGE "/free_hugepages", "0\n" } },
	{ "huge-pages", SB_PROBE_UNKNOWN, "", { HUGE "/nr_hugepages", "8\n" } },
	{ "numa-balancing",
	  SB_PROBE_OK,
	  "one node",
	  { "/sys/devices/system/node/online", "0\n", "/proc/sys/kernel/numa_balancing", "1\n" } },
	{ "numa-balancing",
	  SB_PROBE_OK,
	  "off",
	  { "/sys/devices/system/node/online", "0-1\n", "/proc/sys/kernel/numa_balancing",
	    "0\n" } },
	{ "numa-balancing",
	  SB_PROBE_WARN,
	  "on",
	  { "/sys/devices/system/node/online", "0-1\n", "/proc/sys/kernel/numa_balancing",
	    "1\n" } },
	{ "numa-balancing", SB_PROBE_UNKNOWN, "", { "/sys/devices/system/node/online", "0-1\n" } },
	{ "swap", SB_PROBE_OK, "off", { "/proc/swaps", SWAPS } },
	{ "swap",
	  SB_PROBE_OK,
	  "unused",
	  { "/proc/swaps", SWAPS "/dev/sda2 partition 2097148 0 -2\n" } },
	{ "swap",
	  SB_PROBE_WARN,
	  "12 MiB",
	  { "/proc/swaps", SWAPS "/dev/sda2 partition 2097148 0 -2\n"
				 "/a\\040b file\t2097148 12288 -2\n" } },
	{ "swap", SB_PROBE_UNKNOWN, "", { "/proc/swaps", SWAPS "nothing\n" } },
	{ "mitigations",
	  SB_PROBE_OK,
	  "1 mitigation, 1 open, of 3",
	  { VULNERABLE "/a", "Mitigation: PTI\n", VULNERABLE "/b", "Vulnerable\n", VULNERABLE "/c",
	    "Not affected\n" } },
	{ "mitigations", SB_PROBE_UNKNOWN, "", { NULL } },
	{ "perf", SB_PROBE_OK, "1", { "/proc/sys/kernel/perf_event_paranoid", "1\n" } },
	{ "perf", SB_PROBE_WARN, "3", { "/proc/sys/kernel/perf_event_paranoid", "3\n" } },
	{ "perf", SB_PROBE_UNKNOWN, "", { "/proc/sys/kernel/perf_event_paranoid", "1.5\n" } },
};

static void no_pause(void *unused)
{
	(void)unused;
}

static const struct sb_probe *find_probe(const char *name)
{
	const struct sb_probe *probe = sb_probes;

	while (probe->name && strcmp(probe->name, name) != 0)
		probe++;
	assert_non_null(probe->name);
	return probe;
}

static struct sb_finding look(const char *name, const char *root, void (*pause)(void *))
{
	static struct sb_cpu_mask cpus;
	char own_root[PATH_MAX];
	const struct sb_probe_view view = {
		.root = own_root, .cpus = &cpus, .own_pid = 5, .pause = pause, .arg = own_root
	};
	struct sb_finding finding;

	snprintf(own_root, sizeof(own_root), "%s", root);
	for (int cpu = 0; cpu < 3; cpu++)
		sb_cpu_mask_add(&cpus, cpu);
	sb_probe_run(find_probe(name), &view, &finding);
	return finding;
}

static void play(const struct scene *scene)
{
	char root[] = "/tmp/sb-test-XXXXXX";
	struct sb_finding finding;

	tree_make(root);
	for (int i = 0; i < 8 && scene->file[i]; i += 2)
		tree_put(root, scene->file[i], scene->file[i + 1]);
	finding = look(scene->probe, root, no_pause);
	tree_remove(root);
	if (finding.state != scene->state || !strstr(finding.found, scene->found))
		fail_msg("%s: %s '%s', expected %s '%s'", scene->probe,
			 sb_probe_state_name(finding.state), finding.found,
			 sb_probe_state_name(scene->state), scene->found);
	assert_true(*finding.found);
	/* A warning says what to do; nothing else does. */
	assert_int_equal(*finding.mend != '\0', finding.state == SB_PROBE_WARN);
}

static void machines_good_and_bad(void **state)
{
	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(scenes); i++)
		play(&scenes[i]);
}

static void nothing_is_known_of_nothing(void **state)
{
	char root[] = "/tmp/sb-test-XXXXXX";

	(void)state;
	tree_make(root);
	for (const struct sb_probe *probe = sb_probes; probe->name; probe++)
		CHECK_EQ(look(probe->name, root, no_pause).state, SB_PROBE_UNKNOWN);
	tree_remove(root);
}

static bool has_scene(const char *name, enum sb_probe_state wanted)
{
	for (size_t i = 0; i < SB_ARRAY_SIZE(never); i++) {
		if (!strcmp(never[i].name, name) && never[i].never == wanted)
			return true;
	}
	for (size_t i = 0; i < SB_ARRAY_SIZE(scenes); i++) {
		if (!strcmp(scenes[i].probe, name) && scenes[i].state == wanted)
			return true;
	}
	return false;
}

static void every_probe_has_its_scenes(void **state)
{
	(void)state;
	for (const struct sb_probe *probe = sb_probes; probe->name; probe++) {
		/* It needs time to pass: below. */
		if (!strcmp(probe->name, "busy"))
			continue;
		for (int s = SB_PROBE_OK; s <= SB_PROBE_UNKNOWN; s++) {
			if (!has_scene(probe->name, (enum sb_probe_state)s))
				fail_msg("%s is never %s", probe->name,
					 sb_probe_state_name((enum sb_probe_state)s));
		}
	}
}

/* ---- processes ---- */

static void put_process(const char *root, int pid, const char *name, int ticks)
{
	char path[64];
	char text[256];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	snprintf(text, sizeof(text), "%d (%s) R 1 1 1 0 -1 4194304 10 0 0 0 %d 7 0 0 20 0 1 0\n",
		 pid, name, ticks);
	tree_put(root, path, text);
}

/* 5 is the program itself, 6 ends, 7 to 11 run, 12 runs a little. */
static void time_passes(void *arg)
{
	const char *root = arg;
	char path[PATH_MAX];

	put_process(root, 5, "sched-bench", 900);
	snprintf(path, sizeof(path), "%s/proc/6/stat", root);
	assert_int_equal(remove(path), 0);
	for (int pid = 7; pid < 12; pid++)
		put_process(root, pid, "a) R\033[31m\n(b", 103);
	put_process(root, 12, "idle", 102);
}

static void busy_processes_are_named(void **state)
{
	char root[] = "/tmp/sb-test-XXXXXX";
	struct sb_finding finding;

	(void)state;
	tree_make(root);
	for (int pid = 5; pid < 13; pid++)
		put_process(root, pid, "a) R\033[31m\n(b", 100);
	tree_put(root, "/proc/13/stat", "13 (cut off) R 1");
	finding = look("busy", root, no_pause);
	CHECK_EQ(finding.state, SB_PROBE_OK);
	finding = look("busy", root, time_passes);
	CHECK_EQ(finding.state, SB_PROBE_WARN);
	assert_memory_equal(finding.found, "5: a) R?[31m?(b (", 17);
	assert_non_null(strstr(finding.found, ", and others"));
	assert_null(strstr(finding.found, "(5)"));
	assert_null(strchr(finding.found, '\033'));
	tree_remove(root);
}

/* The command that is printed takes away the quota that is printed. */
static void the_tightest_quota_is_mended(void **state)
{
	char root[] = "/tmp/sb-test-XXXXXX";
	struct sb_finding finding;

	(void)state;
	tree_make(root);
	tree_put(root, "/proc/self/cgroup", "4:cpu,cpuacct:/v/w\n0::/a b/c\n");
	tree_put(root, "/sys/fs/cgroup/cpu.max", "290000 100000\n");
	tree_put(root, "/sys/fs/cgroup/a b/cpu.max", "50000 100000\n");
	tree_put(root, "/sys/fs/cgroup/a b/c/cpu.max", "200000 100000\n");
	tree_put(root, "/sys/fs/cgroup/cpu/v/cpu.cfs_quota_us", "100000\n");
	tree_put(root, "/sys/fs/cgroup/cpu/v/cpu.cfs_period_us", "100000\n");
	finding = look("cpu-quota", root, no_pause);
	assert_string_equal(finding.mend, "echo max > '/sys/fs/cgroup/a b/cpu.max'");
	assert_non_null(strstr(finding.found, "other groups around the command have a quota, too"));
	tree_put(root, "/sys/fs/cgroup/a b/cpu.max", "max 100000\n");
	finding = look("cpu-quota", root, no_pause);
	assert_string_equal(finding.mend, "echo -1 > '/sys/fs/cgroup/cpu/v/cpu.cfs_quota_us'");
	tree_put(root, "/sys/fs/cgroup/cpu/v/cpu.cfs_quota_us", "-1\n");
	tree_put(root, "/sys/fs/cgroup/a b/c/cpu.max", "max 100000\n");
	finding = look("cpu-quota", root, no_pause);
	assert_non_null(strstr(finding.found, "2.9 CPUs"));
	assert_null(strstr(finding.found, "other groups"));
	assert_non_null(strstr(finding.mend, "start the container with more CPUs"));
	tree_remove(root);
}

static void permissions_do_not_bind_everybody(void **state)
{
	char root[] = "/tmp/sb-test-XXXXXX";
	struct sb_cpu_mask cpus = { 0 };
	const struct sb_probe_view view = {
		.root = root, .cpus = &cpus, .privileged = true, .pause = no_pause
	};
	struct sb_finding finding;

	(void)state;
	tree_make(root);
	tree_put(root, "/proc/sys/kernel/perf_event_paranoid", "4\n");
	sb_probe_run(find_probe("perf"), &view, &finding);
	CHECK_EQ(finding.state, SB_PROBE_OK);
	tree_remove(root);
}

/* Of these files nothing makes sense: no probe may believe them, or crash. */
static void noise_is_not_believed(void **state)
{
	static char noise[4000];
	struct sb_rng rng;

	(void)state;
	sb_rng_seed(&rng, sb_test_seed());
	for (size_t i = 0; i < SB_ARRAY_SIZE(scenes); i++) {
		char root[] = "/tmp/sb-test-XXXXXX";

		tree_make(root);
		for (int f = 0; f < 8 && scenes[i].file[f]; f += 2) {
			for (size_t b = 0; b < sizeof(noise); b++)
				noise[b] = (char)(sb_rng_next(&rng) >> 56);
			tree_put_bytes(root, scenes[i].file[f], noise, sizeof(noise));
		}
		(void)look(scenes[i].probe, root, no_pause);
		tree_remove(root);
	}
}

/* ---- lists of CPUs ---- */

static void lists_are_the_kernels(void **state)
{
	static const char *const wrong[] = { "a",     "1-",    "-1",
					     "1,,2",  "3-1",   "1;2",
					     "1-2-3", "99999", "99999999999999999999999" };
	struct sb_cpu_mask mask;
	char text[64];

	(void)state;
	assert_true(sb_cpu_mask_parse("0-3,8,10-11\n", &mask));
	assert_string_equal(sb_cpu_mask_text(&mask, text, sizeof(text)), "0-3,8,10-11");
	CHECK_EQ(sb_cpu_mask_count(&mask), 7);
	assert_true(sb_cpu_mask_parse("", &mask));
	CHECK_EQ(sb_cpu_mask_count(&mask), 0);
	for (size_t i = 0; i < SB_ARRAY_SIZE(wrong); i++)
		assert_false(sb_cpu_mask_parse(wrong[i], &mask));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(machines_good_and_bad),
		cmocka_unit_test(nothing_is_known_of_nothing),
		cmocka_unit_test(every_probe_has_its_scenes),
		cmocka_unit_test(busy_processes_are_named),
		cmocka_unit_test(the_tightest_quota_is_mended),
		cmocka_unit_test(permissions_do_not_bind_everybody),
		cmocka_unit_test(noise_is_not_believed),
		cmocka_unit_test(lists_are_the_kernels),
	};

	return cmocka_run_group_tests_name("check", tests, NULL, NULL);
}
