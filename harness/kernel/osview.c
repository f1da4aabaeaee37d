#include "harness/kernel/osview.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "harness/kernel/cgroup.h"
#include "harness/kernel/own_threads.h"
#include "harness/kernel/procfs.h"
#include "harness/kernel/syscalls.h"

/* ---- a thread's files ---- */

static void parse_status(const char *text, double *value)
{
	uint64_t count;

	if (sb_procfs_field(text, "voluntary_ctxt_switches", &count))
		value[SB_OS_vol_ctxsw] = (double)count;
	if (sb_procfs_field(text, "nonvoluntary_ctxt_switches", &count))
		value[SB_OS_invol_ctxsw] = (double)count;
}

static void parse_stat(const char *text, double *value)
{
	struct sb_procfs_faults faults;

	if (!sb_procfs_stat_faults(text, &faults))
		return;
	value[SB_OS_minor_faults] = (double)faults.minor;
	value[SB_OS_major_faults] = (double)faults.major;
}

static void parse_schedstat(const char *text, double *value)
{
	struct sb_procfs_times times;

	if (!sb_procfs_schedstat(text, &times))
		return;
	value[SB_OS_thread_cpu_ms] = 1e-6 * (double)times.run_ns;
	value[SB_OS_run_delay_ms] = 1e-6 * (double)times.delay_ns;
}

static void parse_sched(const char *text, double *value)
{
	uint64_t count;

	if (sb_procfs_field(text, "se.nr_migrations", &count))
		value[SB_OS_cpu_migrations] = (double)count;
}

static const struct {
	const char *name;
	void (*parse)(const char *text, double *value);
} files[] = {
	{ "status", parse_status },
	{ "stat", parse_stat },
	{ "schedstat", parse_schedstat },
	{ "sched", parse_sched },
};

#define FILE_BYTES 16384

void sb_osview_read_files(const char *root, const char *folder, struct sb_os_counts *out)
{
	char text[FILE_BYTES];
	char path[96];

	for (int c = 0; c < SB_OS_COUNTS; c++)
		out->value[c] = NAN;
	for (size_t f = 0; f < SB_ARRAY_SIZE(files); f++) {
		snprintf(path, sizeof(path), "%s/%s", folder, files[f].name);
		if (!sb_procfs_read(root, path, text, sizeof(text)))
			files[f].parse(text, out->value);
	}
}

/* ---- the kernel's counters, one for each thread and kind ---- */

static const struct event {
	enum sb_os_id id;
	uint32_t type;
	uint64_t config;
} events[] = {
	{ SB_OS_cpu_migrations, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	{ SB_OS_cycles, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ SB_OS_instructions, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ SB_OS_cache_misses, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
};

#define EVENTS SB_ARRAY_SIZE(events)

/* As read(2) gives it with this format. */
struct event_reading {
	uint64_t count;
	uint64_t enabled_ns;
	uint64_t running_ns;
};

static int open_event(uint32_t type, uint64_t config, int thread_id)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = config,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.exclude_hv = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, thread_id, -1, -1, PERF_FLAG_FD_CLOEXEC);

	/* What is done in the kernel is not for everybody to see. A software
	 * event of the kernel's would then count nothing, and say 0. */
	if (fd < 0 && (errno == EACCES || errno == EPERM) && type == PERF_TYPE_HARDWARE) {
		attr.exclude_kernel = 1;
		fd = (int)syscall(SYS_perf_event_open, &attr, thread_id, -1, -1,
				  PERF_FLAG_FD_CLOEXEC);
	}
	return fd;
}

static void read_event(int fd, struct event_reading *out)
{
	if (fd < 0 || read(fd, out, sizeof(*out)) != sizeof(*out))
		*out = (struct event_reading){ 0 };
}

/* When there are more counters than the CPU has, each runs part of the time. */
static double event_difference(const struct event_reading *from, const struct event_reading *to)
{
	const double count = (double)(to->count - from->count);
	const double enabled = (double)(to->enabled_ns - from->enabled_ns);
	const double running = (double)(to->running_ns - from->running_ns);

	if (!to->enabled_ns)
		return NAN;
	/* The thread slept all the time. */
	if (enabled == 0)
		return count;
	return running > 0 ? count * enabled / running : NAN;
}

/* ---- the machine ---- */

/* Clocks cannot be read at once; of some tries the closest together count. */
#define CLOCK_TRIES 8

struct clocks {
	double mono_ns, raw_ns, wall_ns, boot_ns;
};

static double clock_read(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* Doubles are exact to 256 ns for the wall clock, and far better for others. */
static struct clocks read_clocks(void)
{
	struct clocks best = { 0 };
	double closest = INFINITY;

	for (int i = 0; i < CLOCK_TRIES; i++) {
		const double before = clock_read(CLOCK_MONOTONIC);
		const double raw = clock_read(CLOCK_MONOTONIC_RAW);
		const double wall = clock_read(CLOCK_REALTIME);
		const double boot = clock_read(CLOCK_BOOTTIME);
		const double after = clock_read(CLOCK_MONOTONIC);

		if (after - before >= closest)
			continue;
		closest = after - before;
		best = (struct clocks){ 0.5 * (before + after), raw, wall, boot };
	}
	return best;
}

struct machine_reading {
	double steal_ticks;  /* NaN: unknown */
	double throttled_ms; /* the same */
	struct clocks clocks;
};

/* ---- all together ---- */

struct thread {
	char folder[48];
	int event[EVENTS]; /* file descriptors; < 0: there is none */
	int schedstat;	   /* the same */
	struct sb_calls calls;
};

struct reading {
	double begin_ns, end_ns; /* of this reading */
	struct sb_os_counts files;
	struct event_reading event[EVENTS];
};

struct sb_osview {
	const char *root;
	uint32_t workers;
	const struct sb_cpu_mask *cpus;
	struct thread *thread;	/* [workers] */
	struct reading *before; /* [workers] */
	struct machine_reading machine;
	int *thread_id; /* [workers] */
	struct sb_own_threads own;
	char *text; /* of /proc/stat */
};

/* A line for each CPU, and those come first. */
#define STAT_BYTES (96 * (SB_CPUS_MAX + 1))

static double read_steal(struct sb_osview *view)
{
	struct sb_procfs_ticks ticks;
	uint64_t sum = 0;
	uint32_t cpus = 0;

	if (sb_procfs_read(view->root, "/proc/stat", view->text, STAT_BYTES))
		return NAN;
	for (int cpu = 0; cpu < SB_CPUS_MAX; cpu++) {
		if (!sb_cpu_mask_has(view->cpus, cpu) ||
		    !sb_procfs_cpu_ticks(view->text, cpu, &ticks))
			continue;
		sum += ticks.steal;
		cpus++;
	}
	return cpus ? (double)sum : NAN;
}

/* The clock of a thread's CPU time, see clock_getcpuclockid(3). schedstat is up to a tick late while the
 * thread runs. */
#define THREAD_CPU_CLOCK(id) ((clockid_t)(~(unsigned int)(id) << 3 | 6))

static void read_thread(const struct sb_osview *view, uint32_t worker, struct reading *out)
{
	const struct thread *thread = &view->thread[worker];

	out->begin_ns = clock_read(CLOCK_MONOTONIC);
	sb_osview_read_files(view->root, thread->folder, &out->files);
	if (!*view->root)
		out->files.value[SB_OS_thread_cpu_ms] =
			1e-6 * clock_read(THREAD_CPU_CLOCK(view->thread_id[worker]));
	for (size_t e = 0; e < EVENTS; e++)
		read_event(thread->event[e], &out->event[e]);
	out->end_ns = clock_read(CLOCK_MONOTONIC);
}

static void open_thread(struct sb_osview *view, uint32_t worker,
			const struct sb_osview_request *request)
{
	struct thread *thread = &view->thread[worker];
	const int id = request->thread_id[worker];
	char path[PATH_MAX];

	snprintf(thread->folder, sizeof(thread->folder), "/proc/self/task/%d", id);
	for (size_t e = 0; e < EVENTS; e++) {
		thread->event[e] = open_event(events[e].type, events[e].config, id);
	}
	snprintf(path, sizeof(path), "%s%s/schedstat", request->root, thread->folder);
	thread->schedstat = open(path, O_RDONLY | O_CLOEXEC);
	if (request->counts_syscalls)
		(void)sb_calls_open(&thread->calls, request->root, id);
}

struct sb_osview *sb_osview_open(const struct sb_osview_request *request)
{
	struct sb_osview *view = calloc(1, sizeof(*view));

	if (!view)
		return NULL;
	view->root = request->root;
	view->cpus = request->cpus;
	view->text = malloc(STAT_BYTES);
	view->thread = calloc(request->workers, sizeof(*view->thread));
	view->before = calloc(request->workers, sizeof(*view->before));
	view->thread_id = calloc(request->workers, sizeof(*view->thread_id));
	if (!view->text || !view->thread || !view->before || !view->thread_id) {
		sb_osview_close(view);
		return NULL;
	}
	view->workers = request->workers;
	memcpy(view->thread_id, request->thread_id, request->workers * sizeof(*view->thread_id));
	view->own = (struct sb_own_threads){
		.root = view->root,
		.worker = view->thread_id,
		.workers = view->workers,
		.cpus = view->cpus,
	};
	for (uint32_t i = 0; i < view->workers; i++)
		open_thread(view, i, request);
	return view;
}

void sb_osview_close(struct sb_osview *view)
{
	if (!view)
		return;
	for (uint32_t i = 0; i < view->workers; i++) {
		for (size_t e = 0; e < EVENTS; e++) {
			if (view->thread[i].event[e] >= 0)
				close(view->thread[i].event[e]);
		}
		if (view->thread[i].schedstat >= 0)
			close(view->thread[i].schedstat);
		sb_calls_close(&view->thread[i].calls);
	}
	free(view->thread);
	free(view->thread_id);
	free(view->before);
	free(view->text);
	free(view);
}

void sb_osview_window(struct sb_osview *view, uint64_t start_ns, uint64_t end_ns)
{
	for (uint32_t i = 0; i < view->workers; i++) {
		if (view->thread[i].calls.tracepoint.page)
			sb_calls_window(&view->thread[i].calls, start_ns, end_ns);
	}
}

/* Sums of all workers; false: unknown. */
static bool read_times(const struct sb_osview *view, struct sb_procfs_times *sum)
{
	*sum = (struct sb_procfs_times){ 0 };
	for (uint32_t i = 0; i < view->workers; i++) {
		struct sb_procfs_times times;
		char text[128];
		const ssize_t n = pread(view->thread[i].schedstat, text, sizeof(text) - 1, 0);

		text[n > 0 ? n : 0] = '\0';
		if (!sb_procfs_schedstat(text, &times))
			return false;
		sum->run_ns += times.run_ns;
		sum->delay_ns += times.delay_ns;
	}
	return true;
}

double sb_osview_run_delay_ns(const struct sb_osview *view)
{
	struct sb_procfs_times sum;

	return read_times(view, &sum) ? (double)sum.delay_ns : (double)NAN;
}

void sb_osview_begin(struct sb_osview *view)
{
	struct sb_procfs_times times;

	for (uint32_t i = 0; i < view->workers; i++) {
		read_thread(view, i, &view->before[i]);
		view->thread[i].calls.within = 0;
	}
	view->machine.steal_ticks = read_steal(view);
	view->machine.throttled_ms = sb_cgroup_throttled_ms(view->root);
	view->machine.clocks = read_clocks();
	(void)read_times(view, &times);
	sb_own_threads_begin(&view->own, times.run_ns);
}

static void thread_difference(const struct reading *from, const struct reading *to,
			      struct sb_os_counts *out)
{
	out->window_ms = 1e-6 * (to->begin_ns - from->end_ns);
	for (int c = 0; c < SB_OS_COUNTS; c++)
		out->value[c] = to->files.value[c] - from->files.value[c];
	/* Where both know something, the kernel's counter does. */
	for (size_t e = 0; e < EVENTS; e++) {
		const double count = event_difference(&from->event[e], &to->event[e]);

		if (!isnan(count))
			out->value[events[e].id] = count;
	}
}

static struct sb_os_machine machine_difference(const struct sb_osview *view,
					       const struct machine_reading *from,
					       const struct machine_reading *to)
{
	const double passed_ns = to->clocks.mono_ns - from->clocks.mono_ns;
	const double raw_ns = to->clocks.raw_ns - from->clocks.raw_ns;
	const double wall_ns = to->clocks.wall_ns - from->clocks.wall_ns;
	const double boot_ns = to->clocks.boot_ns - from->clocks.boot_ns;
	const double tick_ms = 1e3 / (double)sysconf(_SC_CLK_TCK);
	struct sb_os_machine machine = {
		.steal_ms = tick_ms * (to->steal_ticks - from->steal_ticks),
		.clock_step_ms = 1e-6 * fabs(wall_ns - passed_ns),
		.clock_slew_ppm = 1e6 * fabs(passed_ns - raw_ns) / raw_ns,
		.suspended_ms = 1e-6 * fmax(0, boot_ns - passed_ns),
		.throttled_ms = to->throttled_ms - from->throttled_ms,
		.fetches = { NAN, NAN, NAN, NAN, NAN, NAN },
	};

	machine.steal_pct =
		100 * machine.steal_ms / (1e-6 * passed_ns * sb_cpu_mask_count(view->cpus));
	return machine;
}

void sb_osview_end(struct sb_osview *view, struct sb_os_counts *counts,
		   struct sb_os_machine *machine)
{
	struct machine_reading now = { .clocks = read_clocks() };
	struct reading after;
	struct sb_procfs_times times;
	const bool is_known = read_times(view, &times);
	const double own_cpu_ms = sb_own_threads_ms(&view->own, times.run_ns);

	now.steal_ticks = read_steal(view);
	now.throttled_ms = sb_cgroup_throttled_ms(view->root);
	*machine = machine_difference(view, &view->machine, &now);
	machine->own_cpu_ms = is_known ? own_cpu_ms : (double)NAN;
	for (uint32_t i = 0; i < view->workers; i++) {
		read_thread(view, i, &after);
		thread_difference(&view->before[i], &after, &counts[i]);
		if (view->thread[i].calls.tracepoint.page)
			counts[i].value[SB_OS_syscalls] = (double)view->thread[i].calls.within;
	}
}
