#include "harness/check/probes.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/check/probe.h"
#include "harness/kernel/procfs.h"

void SB_PRINTF(3, 4)
	sb_finding_say(struct sb_finding *out, enum sb_probe_state state, const char *format, ...)
{
	va_list args;

	out->state = state;
	va_start(args, format);
	vsnprintf(out->found, sizeof(out->found), format, args);
	va_end(args);
}

void SB_PRINTF(2, 3) sb_finding_mend(struct sb_finding *out, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(out->mend, sizeof(out->mend), format, args);
	va_end(args);
}

const char *sb_plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* ---- memory ---- */

#define NO_RANDOMIZE 0x0040000

static void look_aslr(const struct sb_probe_view *view, struct sb_finding *out)
{
	char personality[32];
	int64_t value;

	sb_finding_mend(out, "sysctl kernel.randomize_va_space=0, or setarch -R sched-bench");
	if (sb_procfs_line(view->root, "/proc/self/personality", personality,
			   sizeof(personality)) &&
	    strtoul(personality, NULL, 16) & NO_RANDOMIZE) {
		sb_finding_say(out, SB_PROBE_OK, "off for this process");
		return;
	}
	if (!sb_procfs_number(view->root, "/proc/sys/kernel/randomize_va_space", &value))
		return;
	if (value)
		sb_finding_say(out, SB_PROBE_WARN, "on (randomize_va_space is %lld)",
			       (long long)value);
	else
		sb_finding_say(out, SB_PROBE_OK, "off");
}

static void look_thp(const struct sb_probe_view *view, struct sb_finding *out)
{
	char line[LINE_BYTES];
	char *chosen;

	sb_finding_mend(out, "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled");
	if (!sb_procfs_line(view->root, "/sys/kernel/mm/transparent_hugepage/enabled", line,
			    sizeof(line)))
		return;
	chosen = strchr(line, '[');
	if (!chosen || !strchr(chosen, ']'))
		return;
	*strchr(chosen, ']') = '\0';
	chosen++;
	sb_finding_say(out, strcmp(chosen, "always") ? SB_PROBE_OK : SB_PROBE_WARN, "%s", chosen);
}

static void look_huge_pages(const struct sb_probe_view *view, struct sb_finding *out)
{
	static const char *const folder = "/sys/kernel/mm/hugepages/hugepages-2048kB";
	char path[96];
	int64_t all;
	int64_t unused;

	sb_finding_mend(out, "sysctl vm.nr_hugepages=N");
	snprintf(path, sizeof(path), "%s/nr_hugepages", folder);
	if (!sb_procfs_number(view->root, path, &all))
		return;
	snprintf(path, sizeof(path), "%s/free_hugepages", folder);
	if (!sb_procfs_number(view->root, path, &unused))
		return;
	if (!all)
		sb_finding_say(out, SB_PROBE_OK, "none reserved, and none are used");
	else if (unused)
		sb_finding_say(out, SB_PROBE_OK, "%lld of %lld free", (long long)unused,
			       (long long)all);
	else
		sb_finding_say(out, SB_PROBE_WARN, "all %lld reserved ones are in use by others",
			       (long long)all);
}

static void look_swap(const struct sb_probe_view *view, struct sb_finding *out)
{
	char text[4096];
	const char *line;
	uint32_t devices = 0;
	uint64_t used_kib = 0;

	sb_finding_mend(out, "swapoff -a");
	if (sb_procfs_read(view->root, "/proc/swaps", text, sizeof(text)) ||
	    strncmp(text, "Filename", 8) != 0)
		return;
	for (line = strchr(text, '\n'); line && line[1]; line = strchr(line + 1, '\n')) {
		uint64_t used;

		/* A name has its blanks escaped; then type, size, used. */
		if (!sb_procfs_word(line + 1, 3, &used))
			return;
		used_kib += used;
		devices++;
	}
	if (used_kib)
		sb_finding_say(out, SB_PROBE_WARN, "%llu MiB are swapped out",
			       (unsigned long long)used_kib / 1024);
	else
		sb_finding_say(out, SB_PROBE_OK, devices ? "on, and unused" : "off");
}

static void look_numa(const struct sb_probe_view *view, struct sb_finding *out)
{
	char online[LINE_BYTES];
	struct sb_cpu_mask nodes;
	int64_t value;

	sb_finding_mend(out, "sysctl kernel.numa_balancing=0");
	if (sb_procfs_line(view->root, "/sys/devices/system/node/online", online, sizeof(online)) &&
	    sb_cpu_mask_parse(online, &nodes) && sb_cpu_mask_count(&nodes) == 1) {
		sb_finding_say(out, SB_PROBE_OK, "one node: nothing to balance");
		return;
	}
	if (!sb_procfs_number(view->root, "/proc/sys/kernel/numa_balancing", &value))
		return;
	if (value)
		sb_finding_say(out, SB_PROBE_WARN,
			       "on: the kernel moves pages and unmaps them to see who uses them");
	else
		sb_finding_say(out, SB_PROBE_OK, "off");
}

/* ---- who else uses the CPUs ---- */

/* A thread that is always busy makes 1. */
#define LOAD_MUCH 0.5

static void look_load(const struct sb_probe_view *view, struct sb_finding *out)
{
	char line[LINE_BYTES];
	char *end;
	double load;

	sb_finding_mend(out,
			"ps -eo pcpu,pid,comm --sort=-pcpu | head, stop them, and wait a minute");
	if (!sb_procfs_line(view->root, "/proc/loadavg", line, sizeof(line)))
		return;
	load = strtod(line, &end);
	if (end == line || *end != ' ' || !(load >= 0))
		return;
	sb_finding_say(out, load > LOAD_MUCH ? SB_PROBE_WARN : SB_PROBE_OK,
		       "%.2f over the last minute", load);
}

/* The ticks that a process has run, and its name. */
static bool read_ticks(const struct sb_probe_view *view, long pid, uint64_t *ticks, char *name,
		       size_t bytes)
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
	if (!open || !words || words < open || !sb_procfs_word(words, 11, &user) ||
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
static size_t list_processes(const struct sb_probe_view *view, struct process *out, size_t max)
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
		n += read_ticks(view, out[n].pid, &out[n].ticks, name, sizeof(name));
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
static uint32_t find_busy(const struct sb_probe_view *view, const struct process *before, size_t n,
			  char *names, size_t bytes)
{
	uint32_t busy = 0;

	for (size_t i = 0; i < n; i++) {
		const size_t used = strlen(names);
		uint64_t ticks;
		char name[64];

		if (!read_ticks(view, before[i].pid, &ticks, name, sizeof(name)) ||
		    ticks < before[i].ticks + TICKS_MUCH)
			continue;
		if (busy++ < NAMES_AT_MOST)
			snprintf(names + used, bytes - used, "%s%s (%ld)", used ? ", " : "", name,
				 before[i].pid);
	}
	return busy;
}

static void look_busy(const struct sb_probe_view *view, struct sb_finding *out)
{
	struct process *before = calloc(PROCESSES_MAX, sizeof(*before));
	char names[LINE_BYTES] = "";
	uint32_t busy;
	size_t n;

	sb_finding_mend(out, "kill -STOP PID, and kill -CONT PID afterwards");
	n = before ? list_processes(view, before, PROCESSES_MAX) : 0;
	if (n) {
		view->pause(view->arg);
		busy = find_busy(view, before, n, names, sizeof(names));
		if (busy)
			sb_finding_say(out, SB_PROBE_WARN, "%u: %s%s", busy, names,
				       busy > NAMES_AT_MOST ? ", and others" : "");
		else
			sb_finding_say(out, SB_PROBE_OK, "none");
	}
	free(before);
}

/* ---- what can be seen of a run ---- */

static void look_perf(const struct sb_probe_view *view, struct sb_finding *out)
{
	int64_t value;

	sb_finding_mend(out, "sysctl kernel.perf_event_paranoid=1, or run as root");
	if (!sb_procfs_number(view->root, "/proc/sys/kernel/perf_event_paranoid", &value))
		return;
	if (value > 2 && !view->privileged)
		sb_finding_say(out, SB_PROBE_WARN,
			       "%lld: cycles, instructions and cache misses stay empty",
			       (long long)value);
	else
		sb_finding_say(out, SB_PROBE_OK, "%lld%s", (long long)value,
			       view->privileged ? ", and no limit for this user" : "");
}

/* ---- the table ---- */

const struct sb_probe sb_probes[] = {
	{ "governor", "the CPUs' frequency follows the load", sb_probe_governor },
	{ "turbo", "the frequency follows temperature and neighbours", sb_probe_turbo },
	{ "smt", "two workers may share a core", sb_probe_smt },
	{ "isolated", "the kernel puts other threads onto the workers' CPUs", sb_probe_isolated },
	{ "nohz_full", "the timer interrupts workers that are alone", sb_probe_nohz },
	{ "cpu-quota", "workers are stopped when a share is used up", sb_probe_quota },
	{ "cpuset", "fewer CPUs than the machine has", sb_probe_cpuset },
	{ "load", "others want the CPUs", look_load },
	{ "busy", "processes that run right now", look_busy },
	{ "virtual", "other guests share caches, memory and CPUs", sb_probe_virtual },
	{ "steal", "the hypervisor lets workers wait", sb_probe_steal },
	{ "clock", "each time stamp costs a system call", sb_probe_clock },
	{ "aslr", "addresses, and so cache conflicts, differ from run to run", look_aslr },
	{ "thp", "the kernel makes and breaks huge pages behind one's back", look_thp },
	{ "huge-pages", "--huge-pages explicit finds none", look_huge_pages },
	{ "numa-balancing", "memory moves while it is measured", look_numa },
	{ "swap", "workers wait for a disk", look_swap },
	{ "mitigations", "system calls cost more than on other machines", sb_probe_mitigations },
	{ "perf", "the CPUs' counters may not be read", look_perf },
	{ NULL, NULL, NULL },
};

void sb_probe_run(const struct sb_probe *probe, const struct sb_probe_view *view,
		  struct sb_finding *out)
{
	*out = (struct sb_finding){ .state = SB_PROBE_UNKNOWN };
	sb_finding_say(out, SB_PROBE_UNKNOWN, "this kernel does not say");
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
