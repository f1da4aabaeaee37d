/*
 * The operating system's view of workers.
 *
 * Property: what the kernel writes is read, whatever a thread is called; what is
 *   missing, cut off or out of range is unknown and not 0; differences are those
 *   of the repetition; a system call counts within its window and nowhere else.
 * Method: made-up files, every prefix of good ones, and noise from the seed; then
 *   this process's own threads, as far as the kernel allows.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "harness/kernel/cgroup.h"
#include "harness/kernel/osview.h"
#include "harness/kernel/procfs.h"
#include "harness/kernel/stops.h"
#include "harness/kernel/syscalls.h"
#include "tests/tree.h"

static const char status[] = "Name:\tnonvoluntary_ctxt_switches: 99\n"
			     "Umask:\t0022\n"
			     "voluntary_ctxt_switches:\t12\n"
			     "nonvoluntary_ctxt_switches:\t34\n";
static const char stat_line[] =
	"7 (a) b) (1 2 3) S 1 2 3 0 -1 4194368 202 688 5 6 70 80 0 0 20 0 1\n";

static void fields_are_found(void **state)
{
	uint64_t n = 0;

	(void)state;
	assert_true(sb_procfs_field(status, "voluntary_ctxt_switches", &n));
	CHECK_EQ(n, 12);
	assert_true(sb_procfs_field(status, "nonvoluntary_ctxt_switches", &n));
	CHECK_EQ(n, 34);
	assert_true(sb_procfs_field("se.nr_migrations      :     7\n", "se.nr_migrations", &n));
	CHECK_EQ(n, 7);
	/* A name may have line ends; what comes last is the kernel's. */
	assert_true(sb_procfs_field("x\na: 1\n(12)\na : 2\n", "a", &n));
	CHECK_EQ(n, 2);
	assert_false(sb_procfs_field(status, "ctxt_switches", &n));
	assert_false(sb_procfs_field("a: x\n", "a", &n));
	assert_false(sb_procfs_field("a: -1\n", "a", &n));
	assert_false(sb_procfs_field("a: 1x\n", "a", &n));
	assert_false(sb_procfs_field("a:\n", "a", &n));
	assert_false(sb_procfs_field("a: 99999999999999999999\n", "a", &n));
	assert_false(sb_procfs_field("", "a", &n));
}

static void names_may_be_anything(void **state)
{
	struct sb_procfs_faults faults;

	(void)state;
	assert_true(sb_procfs_stat_faults(stat_line, &faults));
	CHECK_EQ(faults.minor, 202);
	CHECK_EQ(faults.major, 5);
	assert_false(sb_procfs_stat_faults("7 (a", &faults));
	assert_false(sb_procfs_stat_faults("7 (a)", &faults));
	assert_false(sb_procfs_stat_faults("7 (a) S 1 2 3 0 -1 4 x 1 2 3", &faults));
	assert_false(sb_procfs_stat_faults("", &faults));
}

static void ticks_are_of_their_cpu(void **state)
{
	static const char text[] = "cpu  10 0 10 70 0 0 0 10 3 3\n"
				   "cpu1 1 1 1 1 1 1 1 1\n"
				   "cpu10 5 0 0 0 0 0 0 9 0 0\n"
				   "cpu2 5 0 0 0 0 0\n"
				   "intr 1 2 3\n";
	struct sb_procfs_ticks ticks;

	(void)state;
	assert_true(sb_procfs_cpu_ticks(text, -1, &ticks));
	CHECK_EQ(ticks.all, 100);
	CHECK_EQ(ticks.steal, 10);
	assert_true(sb_procfs_cpu_ticks(text, 1, &ticks));
	CHECK_EQ(ticks.steal, 1);
	assert_true(sb_procfs_cpu_ticks(text, 10, &ticks));
	CHECK_EQ(ticks.steal, 9);
	assert_false(sb_procfs_cpu_ticks(text, 0, &ticks));
	assert_false(sb_procfs_cpu_ticks(text, 2, &ticks));
	assert_false(sb_procfs_cpu_ticks("", -1, &ticks));
}

static void schedstat_has_two_times(void **state)
{
	struct sb_procfs_times times;

	(void)state;
	assert_true(sb_procfs_schedstat("2028427 373717 8\n", &times));
	CHECK_EQ(times.run_ns, 2028427);
	CHECK_EQ(times.delay_ns, 373717);
	assert_false(sb_procfs_schedstat("2028427\n", &times));
	assert_false(sb_procfs_schedstat("0 -1 0\n", &times));
}

/* Cut off anywhere, or with any byte changed, a text is read to no harm. */
static void hostile_texts_do_no_harm(void **state)
{
	static const char *const texts[] = { status, stat_line, "cpu  1 2 3 4 5 6 7 8\ncpu0 1 2" };
	struct sb_rng rng;

	(void)state;
	sb_rng_seed(&rng, sb_test_seed());
	for (int i = 0; i < SB_SCALE(20000); i++) {
		const char *text = texts[i % SB_ARRAY_SIZE(texts)];
		const size_t length = sb_rng_next(&rng) % (strlen(text) + 1);
		char *copy = malloc(length + 1);
		struct sb_procfs_faults faults;
		struct sb_procfs_ticks ticks;
		struct sb_procfs_times times;
		uint64_t n;

		/* On the heap, where a sanitizer sees its end. */
		memcpy(copy, text, length);
		copy[length] = '\0';
		if (length)
			copy[sb_rng_next(&rng) % length] = (char)sb_rng_next(&rng);
		(void)sb_procfs_field(copy, "voluntary_ctxt_switches", &n);
		(void)sb_procfs_stat_faults(copy, &faults);
		(void)sb_procfs_cpu_ticks(copy, (int)(i % 3) - 1, &ticks);
		(void)sb_procfs_schedstat(copy, &times);
		free(copy);
	}
}

static void files_below_a_root(void **state)
{
	char root[] = "/tmp/sb-test-XXXXXX";
	char small[8];
	int64_t n;

	(void)state;
	tree_make(root);
	tree_put(root, "/a/number", "-12\n");
	tree_put(root, "/a/word", "1 2\n");
	tree_put(root, "/a/empty", "");
	tree_put(root, "/a/long", "123456789\nx");
	assert_true(sb_procfs_number(root, "/a/number", &n));
	CHECK_EQ(n, -12);
	assert_false(sb_procfs_number(root, "/a/word", &n));
	assert_false(sb_procfs_number(root, "/a/empty", &n));
	assert_false(sb_procfs_number(root, "/a/none", &n));
	assert_false(sb_procfs_number(root, "/a", &n));
	CHECK_EQ(sb_procfs_read(root, "/a/none", small, sizeof(small)), -ENOENT);
	CHECK_EQ(sb_procfs_read(root, "/a/long", small, sizeof(small)), 0);
	assert_string_equal(small, "1234567");
	tree_remove(root);
}

/* ---- quotas and stops ---- */

static void quotas_of_all_groups_count(void **state)
{
	static const char v1[] = "nr_periods 3\nnr_throttled 2\n"
				 "throttled_time 5000000\n";
	char root[] = "/tmp/sb-test-XXXXXX";

	(void)state;
	tree_make(root);
	assert_true(isnan(sb_cgroup_throttled_ms(root)));
	tree_put(root, "/proc/self/cgroup", "3:cpu,cpuacct:/a/b\n0::/c/d\n");
	assert_true(isnan(sb_cgroup_throttled_ms(root)));
	/* Version 2: the own group, and one around it. */
	tree_put(root, "/sys/fs/cgroup/c/d/cpu.stat", "usage_usec 9\nthrottled_usec 2000\n");
	tree_put(root, "/sys/fs/cgroup/c/cpu.stat", "throttled_usec 1000\n");
	tree_put(root, "/sys/fs/cgroup/x/cpu.stat", "throttled_usec 9000\n");
	assert_true(sb_cgroup_throttled_ms(root) == 3);
	/* Version 1, where one hierarchy may have two names. */
	tree_put(root, "/sys/fs/cgroup/cpu/a/b/cpu.stat", v1);
	tree_put(root, "/sys/fs/cgroup/cpu,cpuacct/a/b/cpu.stat", v1);
	assert_true(sb_cgroup_throttled_ms(root) == 5);
	tree_put(root, "/sys/fs/cgroup/cpu/cpu.stat", "throttled_time x\n");
	assert_true(sb_cgroup_throttled_ms(root) == 5);
	tree_remove(root);
}

/* Late is not stopped, if the thread waited for a CPU. */
static void stops_are_longer_than_waits(void **state)
{
	enum { MS = 1000000 };
	struct sb_stops stops;

	(void)state;
	CHECK_EQ(sb_stops_excess(2100 * MS, 100 * MS, 0), 2000 * MS);
	CHECK_EQ(sb_stops_excess(2100 * MS, 100 * MS, 500 * MS), 1500 * MS);
	CHECK_EQ(sb_stops_excess(2100 * MS, 100 * MS, 1990 * MS), 0);
	CHECK_EQ(sb_stops_excess(140 * MS, 100 * MS, 0), 0);
	CHECK_EQ(sb_stops_excess(10 * MS, 100 * MS, 0), 0);
	sb_stops_begin(&stops);
	sb_stops_waited(&stops, 100 * MS, 100 * MS);
	CHECK_EQ(stops.stopped_ns, 0);
}

/* What two threads have seen of one stop counts once, and a stop counts that there is no room for. */
static void stops_are_added(void **state)
{
	static const struct {
		struct sb_stop stop;
		uint64_t sum;
		uint32_t n;
	} cases[] = {
		{ { 100, 200 }, 100, 1 }, { { 150, 250 }, 150, 1 }, { { 120, 130 }, 150, 1 },
		{ { 50, 100 }, 200, 1 },  { { 300, 310 }, 210, 2 },
	};
	struct sb_stops stops = { 0 };

	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(cases); i++) {
		sb_stops_add(&stops, cases[i].stop);
		CHECK_EQ(stops.stopped_ns, cases[i].sum);
		CHECK_EQ(stops.stops, cases[i].n);
	}
	for (uint64_t i = 1; i <= SB_STOPS_MAX; i++)
		sb_stops_add(&stops, (struct sb_stop){ 1000 * i, 1000 * i + 1 });
	CHECK_EQ(stops.stopped_ns, 210 + SB_STOPS_MAX);
	CHECK_EQ(stops.stops, SB_STOPS_MAX);
}

/* ---- threads ---- */

static void threads_are_read_from_files(void **state)
{
	char root[] = "/tmp/sb-test-XXXXXX";
	struct sb_os_counts counts;

	(void)state;
	tree_make(root);
	sb_osview_read_files(root, "/t", &counts);
	for (int c = 0; c < SB_OS_COUNTS; c++)
		assert_true(isnan(counts.value[c]));
	tree_put(root, "/t/status", status);
	tree_put(root, "/t/stat", stat_line);
	tree_put(root, "/t/schedstat", "2000000 3000000 8\n");
	sb_osview_read_files(root, "/t", &counts);
	assert_true(counts.value[SB_OS_vol_ctxsw] == 12);
	assert_true(counts.value[SB_OS_invol_ctxsw] == 34);
	assert_true(counts.value[SB_OS_minor_faults] == 202);
	assert_true(counts.value[SB_OS_major_faults] == 5);
	assert_true(counts.value[SB_OS_thread_cpu_ms] == 2);
	assert_true(counts.value[SB_OS_run_delay_ms] == 3);
	/* Without its file. */
	assert_true(isnan(counts.value[SB_OS_cpu_migrations]));
	assert_true(isnan(counts.value[SB_OS_cycles]));
	tree_remove(root);
}

static struct sb_osview *open_view(const char *root, const int *thread_id, struct sb_cpu_mask *cpus)
{
	const struct sb_osview_request request = {
		.root = root, .workers = 1, .thread_id = thread_id, .cpus = cpus
	};
	struct sb_osview *view;

	sb_cpu_mask_add(cpus, 1);
	sb_cpu_mask_add(cpus, 3);
	view = sb_osview_open(&request);
	assert_non_null(view);
	return view;
}

/* Of the made-up machine all is a difference, and steal is that of two CPUs. */
static void differences_are_those_of_the_repetition(void **state)
{
	static const int thread_id = 77;
	char root[] = "/tmp/sb-test-XXXXXX";
	struct sb_cpu_mask cpus = { 0 };
	struct sb_os_counts counts;
	struct sb_os_machine machine;
	struct sb_osview *view;

	(void)state;
	tree_make(root);
	view = open_view(root, &thread_id, &cpus);
	tree_put(root, "/proc/self/task/77/status", status);
	tree_put(root, "/proc/stat",
		 "cpu  1 2 3 4 5 6 7 8\ncpu0 1 1 1 1 1 1 1 100\n"
		 "cpu1 1 1 1 1 1 1 1 10\ncpu3 1 1 1 1 1 1 1 20\n");
	sb_osview_begin(view);
	tree_put(root, "/proc/self/task/77/status", "voluntary_ctxt_switches:\t20\n");
	tree_put(root, "/proc/stat",
		 "cpu  1 2 3 4 5 6 7 8\ncpu0 1 1 1 1 1 1 1 900\n"
		 "cpu1 1 1 1 1 1 1 1 13\ncpu3 1 1 1 1 1 1 1 24\n");
	sb_osview_end(view, &counts, &machine);
	assert_true(counts.value[SB_OS_vol_ctxsw] == 8);
	/* It was there at the start only. */
	assert_true(isnan(counts.value[SB_OS_invol_ctxsw]));
	assert_true(machine.steal_ms == 7 * 1e3 / (double)sysconf(_SC_CLK_TCK));
	assert_true(machine.steal_pct > 0);
	assert_true(machine.clock_slew_ppm >= 0);
	tree_remove(root);
	/* And without any files. */
	sb_osview_begin(view);
	sb_osview_end(view, &counts, &machine);
	assert_true(isnan(machine.steal_ms) && isnan(machine.steal_pct));
	sb_osview_close(view);
}

/* The files are opened once; a worker that the kernel no longer reports makes the sum unknown. */
static void run_delay_is_read_at_any_time(void **state)
{
	static const int thread_id = 77;
	char root[] = "/tmp/sb-test-XXXXXX";
	struct sb_cpu_mask cpus = { 0 };
	struct sb_osview *view;

	(void)state;
	tree_make(root);
	view = open_view(root, &thread_id, &cpus);
	assert_true(isnan(sb_osview_run_delay_ns(view)));
	sb_osview_close(view);
	tree_put(root, "/proc/self/task/77/schedstat", "5 3000000 1\n");
	view = open_view(root, &thread_id, &cpus);
	assert_true(sb_osview_run_delay_ns(view) == 3e6);
	tree_put(root, "/proc/self/task/77/schedstat", "9 12000000 3\n");
	assert_true(sb_osview_run_delay_ns(view) == 12e6);
	tree_put(root, "/proc/self/task/77/schedstat", "");
	assert_true(isnan(sb_osview_run_delay_ns(view)));
	sb_osview_close(view);
	tree_remove(root);
}

/* The kernel's own count of this thread. */
static void faults_of_this_thread_are_seen(void **state)
{
	enum { PAGES = 64 };
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const int thread_id = sb_thread_self_id();
	struct sb_cpu_mask cpus = { 0 };
	struct sb_os_counts counts;
	struct sb_os_machine machine;
	struct sb_osview *view = open_view("", &thread_id, &cpus);
	uint64_t begin_ns;
	uint64_t start_ns;
	uint64_t end_ns;
	char *memory = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);

	(void)state;
	assert_true(memory != MAP_FAILED);
	(void)madvise(memory, PAGES * page, MADV_NOHUGEPAGE);
	begin_ns = sb_clock_ns();
	sb_osview_begin(view);
	start_ns = sb_clock_ns();
	for (int i = 0; i < PAGES; i++)
		((volatile char *)memory)[(size_t)i * page] = 1;
	end_ns = sb_clock_ns();
	sb_osview_end(view, &counts, &machine);
	/* Not longer than what it counts, nor shorter than what happened in it. */
	assert_true(1e6 * counts.window_ms >= (double)(end_ns - start_ns));
	assert_true(1e6 * counts.window_ms <= (double)(sb_clock_ns() - begin_ns));
	assert_true(counts.value[SB_OS_minor_faults] >= PAGES);
	assert_true(isnan(counts.value[SB_OS_syscalls]));
	munmap(memory, PAGES * page);
	sb_osview_close(view);
}

struct spinner {
	_Atomic(int) id;
	_Atomic(bool) over;
};

static void *spin(void *arg)
{
	struct spinner *spinner = arg;

	sb_store_rel(&spinner->id, sb_thread_self_id());
	while (!sb_load_rlx(&spinner->over))
		sb_cpu_pause();
	return NULL;
}

/* Of a thread that runs, too: the scheduler's account of it grows by a tick at once, so that more CPU time
 * than time would pass. */
static void cpu_time_is_exact(void **state)
{
	struct spinner spinner = { 0 };
	struct sb_cpu_mask cpus = { 0 };
	struct sb_os_counts counts;
	struct sb_os_machine machine;
	struct sb_osview *view;
	struct sb_thread thread;
	int id;

	(void)state;
	CHECK_EQ(sb_thread_start(&thread, -1, spin, &spinner), 0);
	while (!(id = sb_load_acq(&spinner.id)))
		sb_thread_yield();
	view = open_view("", &id, &cpus);
	for (int i = 0; i < 300; i++) {
		const uint64_t begin_ns = sb_clock_ns();
		uint64_t passed_ns;

		sb_osview_begin(view);
		while (sb_clock_ns() < begin_ns + 300000)
			sb_cpu_pause();
		sb_osview_end(view, &counts, &machine);
		passed_ns = sb_clock_ns() - begin_ns;
		/* Two clocks. */
		assert_true(1e6 * counts.value[SB_OS_thread_cpu_ms] <=
			    1.001 * (double)passed_ns + 1000);
	}
	sb_store_rlx(&spinner.over, true);
	sb_thread_join(&thread);
	sb_osview_close(view);
}

/* ---- system calls ---- */

static void make_calls(int n)
{
	for (int i = 0; i < n; i++)
		(void)syscall(SYS_getppid);
}

static void calls_count_within_windows(void **state)
{
	struct sb_calls calls;
	uint64_t start;
	uint64_t end;

	(void)state;
	if (!sb_calls_open(&calls, "", sb_thread_self_id())) {
		printf("# skipped: this kernel or this user has no raw_syscalls:sys_enter\n");
		return;
	}
	make_calls(3);
	start = sb_clock_ns();
	make_calls(10);
	end = sb_clock_ns();
	make_calls(5);
	sb_calls_window(&calls, start, end);
	CHECK_EQ(calls.within, 10);
	/* Those after the window belong to no later one; and the ring turns. */
	for (int i = 0; i < 20; i++) {
		start = sb_clock_ns();
		make_calls(500);
		end = sb_clock_ns();
		sb_calls_window(&calls, start, end);
	}
	CHECK_EQ(calls.within, 10 + 20 * 500);
	/* More than there is room for are not fewer. */
	start = sb_clock_ns();
	make_calls(20000);
	end = sb_clock_ns();
	sb_calls_window(&calls, start, end);
	make_calls(1);
	sb_calls_window(&calls, start, end);
	assert_true(calls.within > 10 + 20 * 500 + 15000);
	sb_calls_close(&calls);
}

static void calls_need_a_tracepoint(void **state)
{
	char root[] = "/tmp/sb-test-XXXXXX";
	struct sb_calls calls;

	(void)state;
	tree_make(root);
	assert_false(sb_calls_open(&calls, root, sb_thread_self_id()));
	tree_put(root, "/sys/kernel/tracing/events/raw_syscalls/sys_enter/id", "none\n");
	assert_false(sb_calls_open(&calls, root, sb_thread_self_id()));
	sb_calls_close(&calls);
	tree_remove(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_found),
		cmocka_unit_test(names_may_be_anything),
		cmocka_unit_test(ticks_are_of_their_cpu),
		cmocka_unit_test(schedstat_has_two_times),
		cmocka_unit_test(hostile_texts_do_no_harm),
		cmocka_unit_test(files_below_a_root),
		cmocka_unit_test(quotas_of_all_groups_count),
		cmocka_unit_test(stops_are_longer_than_waits),
		cmocka_unit_test(stops_are_added),
		cmocka_unit_test(threads_are_read_from_files),
		cmocka_unit_test(differences_are_those_of_the_repetition),
		cmocka_unit_test(run_delay_is_read_at_any_time),
		cmocka_unit_test(faults_of_this_thread_are_seen),
		cmocka_unit_test(cpu_time_is_exact),
		cmocka_unit_test(calls_count_within_windows),
		cmocka_unit_test(calls_need_a_tracepoint),
	};

	return cmocka_run_group_tests_name("osview", tests, NULL, NULL);
}
