/* probes_cpu.c - probes of the CPUs: their speed, what they are shared by, and the
 * machine below. */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/check/probe.h"
#include "harness/check/probes.h"
#include "harness/kernel/cgroup.h"
#include "harness/kernel/procfs.h"

void sb_probe_governor(const struct sb_probe_view *view, struct sb_finding *out)
{
	const uint32_t cpus = sb_cpu_mask_count(view->cpus);
	char other[LINE_BYTES] = "";
	uint32_t known = 0;
	uint32_t others = 0;

	for (int cpu = 0; cpu < SB_CPUS_MAX; cpu++) {
		char path[96];
		char line[64];

		snprintf(path, sizeof(path),
			 "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", cpu);
		if (!sb_cpu_mask_has(view->cpus, cpu) ||
		    !sb_procfs_line(view->root, path, line, sizeof(line)))
			continue;
		known++;
		if (!strcmp(line, "performance"))
			continue;
		others++;
		snprintf(other, sizeof(other), "%s", line);
	}
	sb_finding_mend(out, "cpupower frequency-set -g performance");
	if (!known)
		sb_finding_say(out, SB_PROBE_UNKNOWN,
			       "no cpufreq here: the firmware or a host decides");
	else if (others)
		sb_finding_say(out, SB_PROBE_WARN, "%s on %u of %u CPUs", other, others, cpus);
	else
		sb_finding_say(out, SB_PROBE_OK, "performance on %u of %u CPUs", known, cpus);
}

void sb_probe_turbo(const struct sb_probe_view *view, struct sb_finding *out)
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
		sb_finding_mend(out, "echo %d > %s", !switches[i].on, switches[i].path);
		if (value == switches[i].on)
			sb_finding_say(out, SB_PROBE_WARN, "on");
		else
			sb_finding_say(out, SB_PROBE_OK, "off");
		return;
	}
	sb_finding_say(out, SB_PROBE_UNKNOWN, "no switch for it here");
}

void sb_probe_smt(const struct sb_probe_view *view, struct sb_finding *out)
{
	int64_t active;

	sb_finding_mend(out, "echo off > /sys/devices/system/cpu/smt/control, or run --no-smt");
	if (!sb_procfs_number(view->root, "/sys/devices/system/cpu/smt/active", &active))
		return;
	if (active)
		sb_finding_say(out, SB_PROBE_WARN,
			       "on: processing units share cores two by two or more");
	else
		sb_finding_say(out, SB_PROBE_OK, "off, or the cores have none");
}

void sb_probe_quota(const struct sb_probe_view *view, struct sb_finding *out)
{
	struct sb_quota quota;
	char text[64];
	const bool any = sb_cgroup_quota(view->root, &quota);

	if (quota.groups) {
		sb_finding_say(out, SB_PROBE_WARN,
			       "%.3g CPUs, then all threads wait for the next period%s", quota.cpus,
			       quota.groups > 1
				       ? "; other groups around the command have a quota, too"
				       : "");
		sb_finding_mend(out, "%s", quota.lift);
	} else if (any || !sb_procfs_read(view->root, "/sys/fs/cgroup/cgroup.controllers", text,
					  sizeof(text))) {
		/* At the top of version 2 there is nothing that could hold one. */
		sb_finding_say(out, SB_PROBE_OK, "none");
	}
}

static bool read_list(const struct sb_probe_view *view, const char *path, struct sb_cpu_mask *out)
{
	char text[8192];

	return sb_procfs_line(view->root, path, text, sizeof(text)) && sb_cpu_mask_parse(text, out);
}

static uint32_t count_common(const struct sb_cpu_mask *a, const struct sb_cpu_mask *b)
{
	uint32_t n = 0;

	for (int cpu = 0; cpu < SB_CPUS_MAX; cpu++)
		n += sb_cpu_mask_has(a, cpu) && sb_cpu_mask_has(b, cpu);
	return n;
}

void sb_probe_cpuset(const struct sb_probe_view *view, struct sb_finding *out)
{
	struct sb_cpu_mask online;
	uint32_t all;
	uint32_t usable;

	sb_finding_mend(out, "taskset -cp LIST $$, or give the cgroup more CPUs: cpuset.cpus");
	if (!read_list(view, "/sys/devices/system/cpu/online", &online))
		return;
	all = sb_cpu_mask_count(&online);
	usable = count_common(&online, view->cpus);
	sb_finding_say(out, usable < all ? SB_PROBE_WARN : SB_PROBE_OK,
		       "%u of %u online CPUs may be used", usable, all);
}

/* Of the CPUs that may be used, those in a list; all is well if all are. */
static void look_list(const struct sb_probe_view *view, const char *path, const char *parameter,
		      struct sb_finding *out)
{
	const uint32_t all = sb_cpu_mask_count(view->cpus);
	struct sb_cpu_mask list = { 0 };
	char text[8192];
	uint32_t in;

	sb_finding_mend(out, "boot with %s=LIST, and run with taskset -c LIST sched-bench",
			parameter);
	if (!sb_procfs_line(view->root, path, text, sizeof(text)))
		return;
	/* Some kernels print an empty list so. */
	if (strcmp(text, "(null)") != 0 && !sb_cpu_mask_parse(text, &list))
		return;
	in = count_common(&list, view->cpus);
	sb_finding_say(out, in < all ? SB_PROBE_WARN : SB_PROBE_OK, "%u of %u CPUs", in, all);
}

void sb_probe_isolated(const struct sb_probe_view *view, struct sb_finding *out)
{
	look_list(view, "/sys/devices/system/cpu/isolated", "isolcpus", out);
}

void sb_probe_nohz(const struct sb_probe_view *view, struct sb_finding *out)
{
	look_list(view, "/sys/devices/system/cpu/nohz_full", "nohz_full", out);
}

void sb_probe_clock(const struct sb_probe_view *view, struct sb_finding *out)
{
	/* Those that are read without a system call. */
	static const char *const fast[] = { "tsc",	 "arch_sys_counter",
					    "kvm-clock", "hyperv_clocksource_tsc_page",
					    "timebase",	 "riscv_clocksource" };
	static const char *const folder = "/sys/devices/system/clocksource/clocksource0";
	char path[96];
	char current[64];
	char others[LINE_BYTES];
	bool ok = false;

	snprintf(path, sizeof(path), "%s/current_clocksource", folder);
	if (!sb_procfs_line(view->root, path, current, sizeof(current)) || !*current)
		return;
	for (size_t i = 0; i < SB_ARRAY_SIZE(fast); i++)
		ok |= !strcmp(current, fast[i]);
	snprintf(path, sizeof(path), "%s/available_clocksource", folder);
	if (sb_procfs_line(view->root, path, others, sizeof(others)) && strstr(others, "tsc"))
		sb_finding_mend(out, "echo tsc > %s/current_clocksource", folder);
	else
		sb_finding_mend(out, "boot with tsc=reliable, if the CPU's counter is");
	sb_finding_say(out, ok ? SB_PROBE_OK : SB_PROBE_WARN, "%s%s", current,
		       ok ? "" : ": each look at it may be a system call");
}

/* The firmware's name of itself under a hypervisor. */
static bool is_virtual_vendor(const char *name)
{
	static const char *const vendors[] = {
		"QEMU",	     "KVM",	   "VMware",	     "innotek",
		"Xen",	     "Amazon EC2", "Google Compute", "Virtual Machine",
		"OpenStack", "Bochs",	   "Parallels",	     "Apple Virtualization",
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

void sb_probe_virtual(const struct sb_probe_view *view, struct sb_finding *out)
{
	static const char *const names[] = {
		"/sys/class/dmi/id/sys_vendor",
		"/sys/class/dmi/id/product_name",
	};
	char text[16384];
	bool is_virtual = false;
	bool known = false;

	sb_finding_mend(out, "measure on a machine of one's own; see steal");
	if (!sb_procfs_read(view->root, "/proc/cpuinfo", text, sizeof(text)) &&
	    strstr(text, "\nflags")) {
		known = true;
		is_virtual = has_hypervisor_flag(text);
	}
	is_virtual |= !sb_procfs_read(view->root, "/sys/hypervisor/type", text, sizeof(text));
	is_virtual |= !sb_procfs_read(view->root, "/proc/device-tree/hypervisor/compatible", text,
				      sizeof(text));
	for (size_t i = 0; i < SB_ARRAY_SIZE(names); i++) {
		if (!sb_procfs_line(view->root, names[i], text, sizeof(text)))
			continue;
		known = true;
		/* Some providers' bare machines are named as their virtual
		 * ones. */
		is_virtual |= is_virtual_vendor(text) && !strstr(text, ".metal");
	}
	if (is_virtual)
		sb_finding_say(out, SB_PROBE_WARN, "this is a virtual machine");
	else if (known)
		sb_finding_say(out, SB_PROBE_OK, "no hypervisor to be seen");
}

#define STEAL_MUCH_PCT 1.0
#define STAT_BYTES     (96 * (SB_CPUS_MAX + 1))

void sb_probe_steal(const struct sb_probe_view *view, struct sb_finding *out)
{
	char *text = malloc(STAT_BYTES);
	struct sb_procfs_ticks ticks;
	double share;

	sb_finding_mend(out, "ask for CPUs that are not shared, or measure elsewhere");
	if (text && !sb_procfs_read(view->root, "/proc/stat", text, STAT_BYTES) &&
	    sb_procfs_cpu_ticks(text, -1, &ticks) && ticks.all) {
		share = 100 * (double)ticks.steal / (double)ticks.all;
		sb_finding_say(out, share > STEAL_MUCH_PCT ? SB_PROBE_WARN : SB_PROBE_OK,
			       "%.2f %% of all CPUs' time since the start", share);
	}
	free(text);
}

void sb_probe_mitigations(const struct sb_probe_view *view, struct sb_finding *out)
{
	static const char *const folder = "/sys/devices/system/cpu/vulnerabilities";
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
		sb_finding_say(out, SB_PROBE_OK,
			       "%u mitigation%s, %u open, of %u; compare only what has the same",
			       count[0], sb_plural(count[0]), count[1], count[2]);
}
