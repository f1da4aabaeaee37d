#include "harness/calibrate/model.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/platform/platform.h"
#include "harness/calibrate/fit.h"
#include "harness/output/output.h"
#include "harness/terminal/status.h"
#include "harness/terminal/text.h"
#include "harness/virtual/ground.h"
#include "harness/virtual/model_file.h"
#include "workloads/lib/service_set.h"

/* ---- what `calibrate` does not print ---- */

#define TURNS 20000

static double pause_ns(void)
{
	const uint64_t start = sb_clock_ns();

	for (int i = 0; i < TURNS; i++)
		sb_cpu_pause();
	return (double)(sb_clock_ns() - start) / TURNS;
}

static double fence_ns(void)
{
	_Atomic(uint32_t) word = 0;
	const uint64_t start = sb_clock_ns();

	for (int i = 0; i < TURNS; i++) {
		sb_store_rlx(&word, (uint32_t)i);
		sb_fence_store_load(&word);
	}
	return (double)(sb_clock_ns() - start) / TURNS;
}

static double heavy_fence_ns(void)
{
	const uint64_t start = sb_clock_ns();

	if (!sb_fence_heavy_works())
		return 0;
	for (int i = 0; i < 100; i++)
		sb_fence_heavy();
	return (double)(sb_clock_ns() - start) / 100;
}

#define CHASED_BYTES (UINT64_C(64) << 20)

static double memory_ns(void)
{
	const uint64_t loads = sb_set_units_per_ms(SB_SET_CHASE, CHASED_BYTES);

	return loads ? 1e6 / (double)loads : NAN;
}

/* A page fault, divided among the lines of its page. */
static double first_touch_ns(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t pages = 4096;
	char *start = mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);
	const uint64_t begin = sb_clock_ns();
	double ns;

	if (start == MAP_FAILED)
		return NAN;
	(void)madvise(start, pages * page, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < pages; i++)
		((volatile char *)start)[i * page] = 1;
	ns = (double)(sb_clock_ns() - begin) / (double)pages;
	munmap(start, pages * page);
	return ns * SB_SET_LINE_BYTES / (double)page;
}

static void *nothing(void *arg)
{
	return arg;
}

static double thread_start_ns(void)
{
	const uint64_t start = sb_clock_ns();
	struct sb_thread thread;

	for (int i = 0; i < 50; i++) {
		if (sb_thread_start(&thread, -1, nothing, NULL))
			return NAN;
		sb_thread_join(&thread);
	}
	/* Half of it until the thread runs. */
	return (double)(sb_clock_ns() - start) / 50 / 2;
}

static double cache_kib(void)
{
	const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
	double kib = 256;

	while (kib * 2048 <= (double)bytes)
		kib *= 2;
	return kib;
}

/* ---- all of it ---- */

/* Sets the costs of a wake and a sleep. Workers block on a condition variable by default. */
static void set_wakes(struct sb_model_file *file, const struct sb_calibration *c)
{
	const double wake = sb_calibration_median(c, SB_COST_wake_call_ns, "condvar");
	const double block = sb_calibration_median(c, SB_COST_sleep_cpu_ns, "condvar");
	const double runs = sb_calibration_median(c, SB_COST_condvar_wake_ns, "CPU");
	const bool measured = !isnan(runs);
	const char *const source = measured ? "measured: condition variable, another CPU"
					    : "estimate: one CPU alone may be used";

	sb_model_file_set(file, "wake", measured ? wake : 1500, source);
	sb_model_file_set(file, "block", measured ? block : 1500, source);
	sb_model_file_set(file, "wake_delay", measured ? fmax(runs - wake, 0) : 3000, source);
}

static void set_measured(struct sb_model_file *file, const struct sb_calibration *c)
{
	sb_model_file_set(file, "hit", 0.2,
			  "estimate: an access to the first cache, in parallel with others");
	sb_model_file_set(file, "rmw", sb_calibration_median(c, SB_COST_atomic_add_ns, ""),
			  "measured: an atomic addition to a line of its own");
	sb_model_file_set(file, "fence", fence_ns(), "measured: a store and a full fence");
	sb_model_file_set(file, "memory", memory_ns(), "measured: dependent loads from 64 MiB");
	sb_model_file_set(file, "first_touch", first_touch_ns(),
			  "measured: a page fault, divided among the page's lines");
	sb_model_file_set(file, "heavy_fence", heavy_fence_ns(), "measured: membarrier(2)");
	sb_model_file_set(file, "pause", pause_ns(), "measured: the pause instruction");
	sb_model_file_set(file, "clock_read",
			  sb_calibration_median(c, SB_COST_clock_read_ns, "as used"),
			  "measured: a clock read");
	sb_model_file_set(file, "yield", sb_calibration_median(c, SB_COST_thread_yield_ns, ""),
			  "measured: sched_yield(2)");
	sb_model_file_set(file, "switch",
			  sb_calibration_median(c, SB_COST_context_switch_ns, "CPU"),
			  "measured: from one thread to another on one CPU");
	sb_model_file_set(file, "smt", 1.2,
			  "estimate: about what hardware threads of published machines gain");
	set_wakes(file, c);
	sb_model_file_set(file, "thread_start", thread_start_ns(),
			  "measured: half of starting and joining");
	sb_model_file_set(file, "cache_kib", cache_kib(),
			  "the system's size of the second-level cache");
}

static int put_model(const void *file, FILE *out)
{
	return sb_model_file_write(file, out);
}

static int write_model(const struct sb_model_file *file, const char *path)
{
	const int rc = sb_output(path, put_model, file);

	if (rc)
		return sb_output_failed(path, rc);
	sb_note("%s: this machine's model; sched-bench run --virtual uses it, "
		"sched-bench topo show --model prints it",
		path);
	return 0;
}

int sb_calibration_save_model(const struct sb_calibration *c, const char *path)
{
	struct sb_model_file file = { .median_error_pct = NAN, .max_error_pct = NAN, .tau = NAN };
	int rc;

	for (int i = 0; i < SB_MODEL_VALUES_MAX; i++)
		file.value[i] = NAN;
	set_measured(&file, c);
	rc = sb_fit_model(&file, c);
	if (!rc)
		rc = write_model(&file, path);
	sb_model_file_free(&file);
	return rc;
}
