#include "harness/system/probes.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/system/cgroup.h"
#include "harness/system/procfs.h"

#define LINE_BYTES 256

static void SB_PRINTF(3, 4)
	say(struct sb_finding *out, enum sb_probe_state state,
	    const char *format, ...)
{
	va_list args;

	out->state = state;
	va_start(args, format);
	vsnprintf(out->found, sizeof(out->found), format, args);
	va_end(args);
}

static void SB_PRINTF(2, 3)
	mend(struct sb_finding *out, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(out->mend, sizeof(out->mend), format, args);
	va_end(args);
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* ---- the CPUs' speed ---- */

static void look_governor(const struct sb_probe_view *view,
			  struct sb_finding *out)
{
	const uint32_t cpus = sb_cpu_mask_count(view->cpus);
	char other[LINE_BYTES] = "";
	uint32_t known = 0;
	uint32_t others = 0;

	for (int cpu = 0; cpu < SB_CPUS_MAX; cpu++) {
		char path[96];
		char line[64];

		snprintf(path, sizeof(path),
			 "/sys/devices/system/cpu/cpu%d/cpufreq/"
			 "scaling_governor",
			 cpu);
		if (!sb_cpu_mask_has(view->cpus, cpu) ||
		    !sb_procfs_line(view->root, path, line, sizeof(line)))
			continue;
		known++;
		if (!strcmp(line, "performance"))
			continue;
		others++;
		snprintf(other, sizeof(other), "%s", line);
	}
	mend(out, "cpupower frequency-set -g performance");
	if (!known)
		say(out, SB_PROBE_UNKNOWN,
		    "no cpufreq here: the firmware or a host decides");
	else if (others)
		say(out, SB_PROBE_WARN, "%s on %u of %u CPUs", other, others,
		    cpus);
	else
		say(out, SB_PROBE_OK, "performance on %u of %u CPUs", known,
		    cpus);
}

static void look_turbo(const struct sb_probe_view *view, struct sb_finding *out)
{
	static const struct {
		const char *path;
		int on;
	} switches[] = {
		{ "/sys/devices/system/cpu/intel_pstate/no_turbo", 0 },
		{ "/sys/devices/system/cpu/cpufreq/boost", 1 },
	};
	int64_t value;

	for (size_t i = 0; i < SB_ARRAY_SIZE(switches); i++) {
		if (!sb_procfs_number(view->root, switches[i].path, &value))
			continue;
		mend(out, "echo %d > %s", !switches[i].on, switches[i].path);
		if (value == switches[i].on)
			say(out, SB_PROBE_WARN, "on");
		else
			say(out, SB_PROBE_OK, "off");
		return;
	}
	say(out, SB_PROBE_UNKNOWN, "no switch for it here");
}

static void look_smt(const struct sb_probe_view *view, struct sb_finding *out)
{
	int64_t active;

	mend(out,
	     "echo off > /sys/devices/system/cpu/smt/control, or run --no-smt");
	if (!sb_procfs_number(view->root, "/sys/devices/system/cpu/smt/active",
			      &active))
		return;
	if (active)
		say(out, SB_PROBE_WARN,
		    "on: processing units share cores two by two or more");
	else
		say(out, SB_PROBE_OK, "off, or the cores have none");
}

/* ---- memory ---- */

#define NO_RANDOMIZE 0x0040000

static void look_aslr(const struct sb_probe_view *view, struct sb_finding *out)
{
	char personality[32];
	int64_t value;

	mend(out,
	     "sysctl kernel.randomize_va_space=0, or setarch -R sched-bench");
	if (sb_procfs_line(view->root, "/proc/self/personality", personality,
			   sizeof(personality)) &&
	    strtoul(personality, NULL, 16) & NO_RANDOMIZE) {
		say(out, SB_PROBE_OK, "off for this process");
		return;
	}
	if (!sb_procfs_number(view->root, "/proc/sys/kernel/randomize_va_space",
			      &value))
		return;
	if (value)
		say(out, SB_PROBE_WARN, "on (randomize_va_space is %lld)",
		    (long long)value);
	else
		say(out, SB_PROBE_OK, "off");
}

static void look_thp(const struct sb_probe_view *view, struct sb_finding *out)
{
	char line[LINE_BYTES];
	char *chosen;

	mend(out, "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled");
	if (!sb_procfs_line(view->root,
			    "/sys/kernel/mm/transparent_hugepage/enabled", line,
			    sizeof(line)))
		return;
	chosen = strchr(line, '[');
	if (!chosen || !strchr(chosen, ']'))
		return;
	*strchr(chosen, ']') = '\0';
	chosen++;
	say(out, strcmp(chosen, "always") ? SB_PROBE_OK : SB_PROBE_WARN, "%s",
	    chosen);
}

static void look_huge_pages(const struct sb_probe_view *view,
			    struct sb_finding *out)
{
	static const char *const folder =
		"/sys/kernel/mm/hugepages/hugepages-2048kB";
	char path[96];
	int64_t all;
	int64_t unused;

	mend(out, "sysctl vm.nr_hugepages=N");
	snprintf(path, sizeof(path), "%s/nr_hugepages", folder);
	if (!sb_procfs_number(view->root, path, &all))
		return;
	snprintf(path, sizeof(path), "%s/free_hugepages", folder);
	if (!sb_procfs_number(view->root, path, &unused))
		return;
	if (!all)
		say(out, SB_PROBE_OK, "none reserved, and none are used");
	else if (unused)
		say(out, SB_PROBE_OK, "%lld of %lld free", (long long)unused,
		    (long long)all);
	else
		say(out, SB_PROBE_WARN,
		    "all %lld reserved ones are in use by others",
		    (long long)all);
}

static void look_swap(const struct sb_probe_view *view, struct sb_finding *out)
{
	char text[4096];
	const char *line;
	uint32_t devices = 0;
	uint64_t used_kib = 0;

	mend(out, "swapoff -a");
	if (sb_procfs_read(view->root, "/proc/swaps", text, sizeof(text)) ||
	    strncmp(text, "Filename", 8) != 0)
		return;
	for (line = strchr(text, '\n'); line && line[1];
	     line = strchr(line + 1, '\n')) {
		uint64_t used;

		/* A name has its blanks escaped; then type, size, used. */
		if (!sb_procfs_word(line + 1, 3, &used))
			return;
		used_kib += used;
		devices++;
	}
	if (used_kib)
		say(out, SB_PROBE_WARN, "%llu MiB are swapped out",
		    (unsigned long long)used_kib / 1024);
	else
		say(out, SB_PROBE_OK, devices ? "on, and unused" : "off");
}

static void look_numa(const struct sb_probe_view *view, struct sb_finding *out)
{
	char online[LINE_BYTES];
	struct sb_cpu_mask nodes;
	int64_t value;

	mend(out, "sysctl kernel.numa_balancing=0");
	if (sb_procfs_line(view->root, "/sys/devices/system/node/online",
			   online, sizeof(online)) &&
	    sb_cpu_mask_parse(online, &nodes) &&
	    sb_cpu_mask_count(&nodes) == 1) {
		say(out, SB_PROBE_OK, "one node: nothing to balance");
		return;
	}
	if (!sb_procfs_number(view->root, "/proc/sys/kernel/numa_balancing",
			      &value))
		return;
	if (value)
		say(out, SB_PROBE_WARN,
		    "on: the kernel moves pages and unmaps "
		    "them to see who uses them");
	else
		say(out, SB_PROBE_OK, "off");
}

/* ---- who else uses the CPUs ---- */

/* A thread that is always busy makes 1. */
#define LOAD_MUCH 0.5

static void look_load(const struct sb_probe_view *view, struct sb_finding *out)
{
	char line[LINE_BYTES];
	char *end;
	double load;

	mend(out, "ps -eo pcpu,pid,comm --sort=-pcpu | head, stop them, and "
		  "wait a minute");
	if (!sb_procfs_line(view->root, "/proc/loadavg", line, sizeof(line)))
		return;
	load = strtod(line, &end);
	if (end == line || *end != ' ' || !(load >= 0))
		return;
	say(out, load > LOAD_MUCH ? SB_PROBE_WARN : SB_PROBE_OK,
	    "%.2f over the last minute", load);
}

/* The ticks that a process has run, and its name. */
static bool read_ticks(const struct sb_probe_view *view, long pid,
		       uint64_t *ticks, char *name, size_t bytes)
{
	char path[64];
	char text[1024];
	const char *words;
	const char *open;
	uint64_t user;
	uint64_t system;

	snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	if (sb_procfs_read(view->root, path, text, sizeof(text)))
		return false;
	open = strchr(text, '(');
	words = sb_procfs_stat_words(text);
	if (!open || !words || words < open ||
	    !sb_procfs_word(words, 11, &user) ||
	    !sb_procfs_word(words, 12, &system))
		return false;
	*ticks = user + system;
	snprintf(name, bytes, "%.*s", (int)(words - open - 2), open + 1);
	for (char *c = name; *c; c++)
		*c = isprint((unsigned char)*c) ? *c : '?';
	return true;
}

struct process {
	long pid;
	uint64_t ticks;
};

/* All but this one; more than there is room for are left out. */
static size_t list_processes(const struct sb_probe_view *view,
			     struct process *out, size_t max)
{
	char path[PATH_MAX];
	char name[64];
	struct dirent *entry;
	size_t n = 0;
	DIR *folder;

	snprintf(path, sizeof(path), "%s/proc", view->root);
	folder = opendir(path);
	while (folder && n < max && (entry = readdir(folder))) {
		out[n].pid = strtol(entry->d_name, NULL, 10);
		if (out[n].pid <= 0 || out[n].pid == view->own_pid)
			continue;
		n += read_ticks(view, out[n].pid, &out[n].ticks, name,
				sizeof(name));
	}
	if (folder)
		closedir(folder);
	return n;
}

/* In a quarter of a second; a tick is 10 ms. */
#define PROCESSES_MAX 32768
#define TICKS_MUCH    3
#define NAMES_AT_MOST 3

/* Appends "name (pid), " for those that have run meanwhile; how many. */
static uint32_t find_busy(const struct sb_probe_view *view,
			  const struct process *before, size_t n, char *names,
			  size_t bytes)
{
	uint32_t busy = 0;

	for (size_t i = 0; i < n; i++) {
		const size_t used = strlen(names);
		uint64_t ticks;
		char name[64];

		if (!read_ticks(view, before[i].pid, &ticks, name,
				sizeof(name)) ||
		    ticks < before[i].ticks + TICKS_MUCH)
			continue;
		if (busy++ < NAMES_AT_MOST)
			snprintf(names + used, bytes - used, "%s%s (%ld)",
				 used ? ", " : "", name, before[i].pid);
	}
	return busy;
}

static void look_busy(const struct sb_probe_view *view, struct sb_finding *out)
{
	struct process *before = calloc(PROCESSES_MAX, sizeof(*before));
	char names[LINE_BYTES] = "";
	uint32_t busy;
	size_t n;

	mend(out, "kill -STOP PID, and kill -CONT PID afterwards");
	n = before ? list_processes(view, before, PROCESSES_MAX) : 0;
	if (n) {
		view->pause(view->arg);
		busy = find_busy(view, before, n, names, sizeof(names));
		if (busy)
			say(out, SB_PROBE_WARN, "%u: %s%s", busy, names,
			    busy > NAMES_AT_MOST ? ", and others" : "");
		else
			say(out, SB_PROBE_OK, "none");
	}
	free(before);
}

/* ---- what the CPUs are shared by: cgroups, boot parameters ---- */

/* Whether the file is there, and says that no more than so much of a CPU may be
 * used: "max 100000" or "50000 100000". */
static bool read_quota_v2(const char *root, const char *path, double *cpus)
{
	char line[64];
	uint64_t quota;
	uint64_t period;

	*cpus = 0;
	if (!sb_procfs_line(root, path, line, sizeof(line)))
		return false;
	if (!strncmp(line, "max", 3))
		return true;
	if (!sb_procfs_word(line, 0, &quota) ||
	    !sb_procfs_word(line, 1, &period) || !period)
		return false;
	*cpus = (double)quota / (double)period;
	return true;
}

/* The same in two files; -1 is none. path: of the first. */
static bool read_quota_v1(const char *root, const char *path, double *cpus)
{
	char other[PATH_MAX];
	const size_t length = strlen(path) - strlen("quota_us");
	int64_t quota;
	int64_t period;

	*cpus = 0;
	snprintf(other, sizeof(other), "%.*speriod_us", (int)length, path);
	if (!sb_procfs_number(root, path, &quota))
		return false;
	if (quota < 0)
		return true;
	if (!sb_procfs_number(root, other, &period) || period <= 0)
		return false;
	*cpus = (double)quota / (double)period;
	return true;
}

static const struct hierarchy {
	const char *controller;
	const char *mount;
	const char *file;
	bool (*read)(const char *root, const char *path, double *cpus);
	const char *none; /* what takes the quota away */
} hierarchies[] = {
	{ "", "/sys/fs/cgroup", "cpu.max", read_quota_v2, "max" },
	{ "", "/sys/fs/cgroup/unified", "cpu.max", read_quota_v2, "max" },
	{ "cpu", "/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", read_quota_v1,
	  "-1" },
	{ "cpu", "/sys/fs/cgroup/cpu,cpuacct", "cpu.cfs_quota_us",
	  read_quota_v1, "-1" },
};

/*
 * The group's own quota and those of all groups around it; true if one of the
 * files is there. In a container the path may be the host's, and the files are
 * those of the top.
 */
static bool look_up(const struct sb_probe_view *view, const struct hierarchy *h,
		    char *group, struct sb_finding *out)
{
	char path[2 * PATH_MAX];
	bool any = false;
	char *end;

	do {
		double cpus;

		end = strrchr(group, '/');
		if (end && !end[1])
			*end = '\0';
		snprintf(path, sizeof(path), "%s%s/%s", h->mount, group,
			 h->file);
		if (h->read(view->root, path, &cpus)) {
			any = true;
			if (cpus > 0) {
				say(out, SB_PROBE_WARN,
				    "%.2f CPUs, then all threads wait for the "
				    "next period",
				    cpus);
				mend(out, "echo %s > %.200s", h->none, path);
				return true;
			}
		}
		end = strrchr(group, '/');
		if (end)
			*end = '\0';
	} while (end);
	return any;
}

static void look_quota(const struct sb_probe_view *view, struct sb_finding *out)
{
	char text[8192];
	char group[PATH_MAX];
	bool any = false;

	if (sb_procfs_read(view->root, "/proc/self/cgroup", text, sizeof(text)))
		return;
	for (size_t i = 0; i < SB_ARRAY_SIZE(hierarchies); i++) {
		if (sb_cgroup_own(text, hierarchies[i].controller, group,
				  sizeof(group)) &&
		    look_up(view, &hierarchies[i], group, out))
			any = true;
		if (out->state == SB_PROBE_WARN)
			return;
	}
	/* At the top of version 2 there is nothing that could hold one. */
	if (any ||
	    !sb_procfs_read(view->root, "/sys/fs/cgroup/cgroup.controllers",
			    text, sizeof(text)))
		say(out, SB_PROBE_OK, "none");
}

static bool read_list(const struct sb_probe_view *view, const char *path,
		      struct sb_cpu_mask *out)
{
	char text[8192];

	return sb_procfs_line(view->root, path, text, sizeof(text)) &&
	       sb_cpu_mask_parse(text, out);
}

static uint32_t count_common(const struct sb_cpu_mask *a,
			     const struct sb_cpu_mask *b)
{
	uint32_t n = 0;

	for (int cpu = 0; cpu < SB_CPUS_MAX; cpu++)
		n += sb_cpu_mask_has(a, cpu) && sb_cpu_mask_has(b, cpu);
	return n;
}

static void look_cpuset(const struct sb_probe_view *view,
			struct sb_finding *out)
{
	struct sb_cpu_mask online;
	uint32_t all;
	uint32_t usable;

	mend(out, "taskset -cp LIST $$, or give the cgroup more CPUs: "
		  "cpuset.cpus");
	if (!read_list(view, "/sys/devices/system/cpu/online", &online))
		return;
	all = sb_cpu_mask_count(&online);
	usable = count_common(&online, view->cpus);
	say(out, usable < all ? SB_PROBE_WARN : SB_PROBE_OK,
	    "%u of %u online CPUs may be used", usable, all);
}

/* Of the CPUs that may be used, those in a list; all is well if all are. */
static void look_list(const struct sb_probe_view *view, const char *path,
		      const char *parameter, struct sb_finding *out)
{
	const uint32_t all = sb_cpu_mask_count(view->cpus);
	struct sb_cpu_mask list = { 0 };
	char text[8192];
	uint32_t in;

	mend(out, "boot with %s=LIST, and run with taskset -c LIST sched-bench",
	     parameter);
	if (!sb_procfs_line(view->root, path, text, sizeof(text)))
		return;
	/* Some kernels print an empty list so. */
	if (strcmp(text, "(null)") != 0 && !sb_cpu_mask_parse(text, &list))
		return;
	in = count_common(&list, view->cpus);
	say(out, in < all ? SB_PROBE_WARN : SB_PROBE_OK, "%u of %u CPUs", in,
	    all);
}

static void look_isolated(const struct sb_probe_view *view,
			  struct sb_finding *out)
{
	look_list(view, "/sys/devices/system/cpu/isolated", "isolcpus", out);
}

static void look_nohz(const struct sb_probe_view *view, struct sb_finding *out)
{
	look_list(view, "/sys/devices/system/cpu/nohz_full", "nohz_full", out);
}

/* ---- the machine below ---- */

static void look_clock(const struct sb_probe_view *view, struct sb_finding *out)
{
	/* Those that are read without a system call. */
	static const char *const fast[] = {
		"tsc",	     "arch_sys_counter",
		"kvm-clock", "hyperv_clocksource_tsc_page",
		"timebase",  "riscv_clocksource"
	};
	static const char *const folder =
		"/sys/devices/system/clocksource/clocksource0";
	char path[96];
	char current[64];
	char others[LINE_BYTES];
	bool ok = false;

	snprintf(path, sizeof(path), "%s/current_clocksource", folder);
	if (!sb_procfs_line(view->root, path, current, sizeof(current)) ||
	    !*current)
		return;
	for (size_t i = 0; i < SB_ARRAY_SIZE(fast); i++)
		ok |= !strcmp(current, fast[i]);
	snprintf(path, sizeof(path), "%s/available_clocksource", folder);
	if (sb_procfs_line(view->root, path, others, sizeof(others)) &&
	    strstr(others, "tsc"))
		mend(out, "echo tsc > %s/current_clocksource", folder);
	else
		mend(out, "boot with tsc=reliable, if the CPU's counter is");
	say(out, ok ? SB_PROBE_OK : SB_PROBE_WARN, "%s%s", current,
	    ok ? "" : ": each look at it may be a system call");
}

/* What firmware says of itself under a hypervisor. */
static bool is_virtual_vendor(const char *name)
{
	static const char *const vendors[] = {
		"QEMU",
		"KVM",
		"VMware",
		"innotek",
		"Xen",
		"Amazon EC2",
		"Google Compute",
		"Virtual Machine",
		"OpenStack",
		"Bochs",
		"Parallels",
		"Apple Virtualization",
	};

	for (size_t i = 0; i < SB_ARRAY_SIZE(vendors); i++) {
		if (strstr(name, vendors[i]))
			return true;
	}
	return false;
}

/* The first line of x86's flags, as whole words. */
static bool has_hypervisor_flag(const char *cpuinfo)
{
	const char *flags = strstr(cpuinfo, "\nflags");
	const char *end = flags ? strchr(flags + 1, '\n') : NULL;
	const char *at = flags ? strstr(flags, " hypervisor") : NULL;

	return at && (!end || at < end) && strchr(" \n", at[11]);
}

static void look_virtual(const struct sb_probe_view *view,
			 struct sb_finding *out)
{
	static const char *const names[] = {
		"/sys/class/dmi/id/sys_vendor",
		"/sys/class/dmi/id/product_name",
	};
	char text[16384];
	bool is_virtual = false;
	bool known = false;

	mend(out, "measure on a machine of one's own; see steal");
	if (!sb_procfs_read(view->root, "/proc/cpuinfo", text, sizeof(text)) &&
	    strstr(text, "\nflags")) {
		known = true;
		is_virtual = has_hypervisor_flag(text);
	}
	is_virtual |= !sb_procfs_read(view->root, "/sys/hypervisor/type", text,
				      sizeof(text));
	is_virtual |= !sb_procfs_read(view->root,
				      "/proc/device-tree/hypervisor/compatible",
				      text, sizeof(text));
	for (size_t i = 0; i < SB_ARRAY_SIZE(names); i++) {
		if (!sb_procfs_line(view->root, names[i], text, sizeof(text)))
			continue;
		known = true;
		/* Some providers' bare machines are named as their virtual
		 * ones. */
		is_virtual |=
			is_virtual_vendor(text) && !strstr(text, ".metal");
	}
	if (is_virtual)
		say(out, SB_PROBE_WARN, "this is a virtual machine");
	else if (known)
		say(out, SB_PROBE_OK, "no hypervisor to be seen");
}

#define STEAL_MUCH_PCT 1.0
#define STAT_BYTES     (96 * (SB_CPUS_MAX + 1))

static void look_steal(const struct sb_probe_view *view, struct sb_finding *out)
{
	char *text = malloc(STAT_BYTES);
	struct sb_procfs_ticks ticks;
	double share;

	mend(out, "ask for CPUs that are not shared, or measure elsewhere");
	if (text &&
	    !sb_procfs_read(view->root, "/proc/stat", text, STAT_BYTES) &&
	    sb_procfs_cpu_ticks(text, -1, &ticks) && ticks.all) {
		share = 100 * (double)ticks.steal / (double)ticks.all;
		say(out, share > STEAL_MUCH_PCT ? SB_PROBE_WARN : SB_PROBE_OK,
		    "%.2f %% of all CPUs' time since the start", share);
	}
	free(text);
}

static void look_mitigations(const struct sb_probe_view *view,
			     struct sb_finding *out)
{
	static const char *const folder =
		"/sys/devices/system/cpu/vulnerabilities";
	char path[PATH_MAX];
	char line[LINE_BYTES];
	struct dirent *entry;
	uint32_t count[3] = { 0 };
	DIR *entries;

	snprintf(path, sizeof(path), "%s%s", view->root, folder);
	entries = opendir(path);
	if (!entries)
		return;
	while ((entry = readdir(entries))) {
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (entry->d_name[0] == '.' ||
		    !sb_procfs_line(view->root, path, line, sizeof(line)))
			continue;
		count[0] += !strncmp(line, "Mitigation", 10);
		count[1] += !strncmp(line, "Vulnerable", 10);
		count[2]++;
	}
	closedir(entries);
	if (count[2])
		say(out, SB_PROBE_OK,
		    "%u mitigation%s, %u open, of %u; compare only what has "
		    "the same",
		    count[0], plural(count[0]), count[1], count[2]);
}

/* ---- what can be seen of a run ---- */

static void look_perf(const struct sb_probe_view *view, struct sb_finding *out)
{
	int64_t value;

	mend(out, "sysctl kernel.perf_event_paranoid=1, or run as root");
	if (!sb_procfs_number(view->root,
			      "/proc/sys/kernel/perf_event_paranoid", &value))
		return;
	if (value > 2 && !view->privileged)
		say(out, SB_PROBE_WARN,
		    "%lld: cycles, instructions and cache misses stay empty",
		    (long long)value);
	else
		say(out, SB_PROBE_OK, "%lld%s", (long long)value,
		    view->privileged ? ", and no limit for this user" : "");
}

/* ---- the table ---- */

const struct sb_probe sb_probes[] = {
	{ "governor", "the CPUs' frequency follows the load", look_governor },
	{ "turbo", "the frequency follows temperature and neighbours",
	  look_turbo },
	{ "smt", "two workers may share a core", look_smt },
	{ "isolated", "the kernel puts other threads onto the workers' CPUs",
	  look_isolated },
	{ "nohz_full", "the timer interrupts workers that are alone",
	  look_nohz },
	{ "cpu-quota", "workers are stopped when a share is used up",
	  look_quota },
	{ "cpuset", "fewer CPUs than the machine has", look_cpuset },
	{ "load", "others want the CPUs", look_load },
	{ "busy", "processes that run right now", look_busy },
	{ "virtual", "other guests share caches, memory and CPUs",
	  look_virtual },
	{ "steal", "the hypervisor lets workers wait", look_steal },
	{ "clock", "each time stamp costs a system call", look_clock },
	{ "aslr", "addresses, and so cache conflicts, differ from run to run",
	  look_aslr },
	{ "thp", "the kernel makes and breaks huge pages behind one's back",
	  look_thp },
	{ "huge-pages", "--huge-pages explicit finds none", look_huge_pages },
	{ "numa-balancing", "memory moves while it is measured", look_numa },
	{ "swap", "workers wait for a disk", look_swap },
	{ "mitigations", "system calls cost more than on other machines",
	  look_mitigations },
	{ "perf", "the CPUs' counters may not be read", look_perf },
	{ NULL, NULL, NULL },
};

void sb_probe_run(const struct sb_probe *probe,
		  const struct sb_probe_view *view, struct sb_finding *out)
{
	*out = (struct sb_finding){ .state = SB_PROBE_UNKNOWN };
	say(out, SB_PROBE_UNKNOWN, "this kernel does not say");
	probe->look(view, out);
	/* Nothing else can be mended. */
	if (out->state != SB_PROBE_WARN)
		out->mend[0] = '\0';
}

const char *sb_probe_state_name(enum sb_probe_state state)
{
	static const char *const names[] = {
		[SB_PROBE_OK] = "ok",
		[SB_PROBE_WARN] = "warn",
		[SB_PROBE_UNKNOWN] = "unknown",
	};

	return names[state];
}
