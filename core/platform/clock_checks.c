#include "core/platform/clock_checks.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "core/platform/platform.h"

static bool fails(struct sb_clock_trial *trial, const char *format, ...) SB_PRINTF(2, 3);

static bool fails(struct sb_clock_trial *trial, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(trial->info->reason, sizeof(trial->info->reason), format, args);
	va_end(args);
	return false;
}

/* ---- constant ---- */

#if defined(__x86_64__)

#define KERNEL_SOURCE "tsc"

#define LEAF_POWER    0x80000007
#define INVARIANT_TSC (1u << 8)

static bool cpuid_says_constant(void)
{
	unsigned int a;
	unsigned int b;
	unsigned int c;
	unsigned int d;

	return __get_cpuid(LEAF_POWER, &a, &b, &c, &d) && d & INVARIANT_TSC;
}

/* The flags are words on one long line; both are there, or it is not so. */
static bool kernel_says_constant(void)
{
	static char line[8192];
	FILE *in = fopen("/proc/cpuinfo", "re");
	bool found = false;

	while (in && !found && fgets(line, sizeof(line), in))
		found = strstr(line, " constant_tsc") && strstr(line, " nonstop_tsc");
	if (in)
		fclose(in);
	return found;
}

static bool is_constant(struct sb_clock_trial *trial)
{
	/* A hypervisor may hide the one and not the other. */
	if (cpuid_says_constant() || kernel_says_constant())
		return true;
	return fails(trial, "neither the processor nor the kernel says that the TSC has a constant "
			    "rate and never stops");
}

static double nominal_hz(void)
{
	return NAN;
}

#elif defined(__aarch64__)

#define KERNEL_SOURCE "arch_sys_counter"

/* The architecture demands it: Arm ARM, "The Generic Timer". */
static bool is_constant(struct sb_clock_trial *trial)
{
	(void)trial;
	return true;
}

static double nominal_hz(void)
{
	uint64_t hz;

	__asm__ __volatile__("mrs %0, cntfrq_el0" : "=r"(hz));
	return (double)hz;
}

#else

#define KERNEL_SOURCE ""

static bool is_constant(struct sb_clock_trial *trial)
{
	return fails(trial, "this processor's counter is not known");
}

static double nominal_hz(void)
{
	return NAN;
}

#endif

/* ---- the kernel's ---- */

static bool is_the_kernels(struct sb_clock_trial *trial)
{
	FILE *in = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
	char name[64] = "";

	if (in) {
		if (fgets(name, sizeof(name), in))
			name[strcspn(name, "\n")] = '\0';
		fclose(in);
	}
	if (!strcmp(name, KERNEL_SOURCE))
		return true;
	return fails(trial, "the kernel's own clock source is '%s', expected '%s'",
		     *name ? name : "unknown", KERNEL_SOURCE);
}

/* ---- rate ---- */

/* By which one of two readings of the raw clock may be cut off. */
#define RAW_SLACK_NS 2

static void narrow(struct sb_clock_rate *rate, const struct sb_clock_point *a,
		   const struct sb_clock_point *b)
{
	const double ns = (double)(b->ns - a->ns);

	/* Subtracted as integers: a double has not the bits for a counter. */
	const double least = (double)(int64_t)(b->before - a->after);
	const double most = (double)(int64_t)(b->after - a->before);

	rate->min = fmax(rate->min, least / (ns + RAW_SLACK_NS));
	rate->max = fmin(rate->max, most / (ns - RAW_SLACK_NS));
}

struct sb_clock_rate sb_clock_rate_of(const struct sb_clock_point *point, uint32_t points)
{
	struct sb_clock_rate rate = { 0, INFINITY };

	for (uint32_t b = 1; b < points; b++) {
		for (uint32_t a = 0; a < b; a++)
			narrow(&rate, &point[a], &point[b]);
	}
	return rate;
}

#define POINTS		 11
#define POINT_GAP_NS	 1000000
#define RATE_ERROR_PPM	 100.0
#define RATE_ERROR_SHARE (RATE_ERROR_PPM / 1e6)

static struct sb_clock_rate measure_rate(void)
{
	struct sb_clock_point point[POINTS];

	point[0] = sb_clock_point_raw();
	for (int i = 1; i < POINTS; i++) {
		sb_thread_sleep(POINT_GAP_NS);
		point[i] = sb_clock_point_raw();
	}
	return sb_clock_rate_of(point, POINTS);
}

static bool has_a_rate(struct sb_clock_trial *trial)
{
	const struct sb_clock_rate rate = measure_rate();
	const double nominal = nominal_hz() / 1e9;
	const double chosen = isnan(nominal) ? (rate.min + rate.max) / 2 : nominal;
	const double error = fmax(rate.max - chosen, chosen - rate.min) / chosen;

	if (!(rate.min > 0 && rate.min <= rate.max))
		return fails(trial, "against CLOCK_MONOTONIC_RAW it has no constant rate");
	trial->info->hz = chosen * 1e9;
	trial->info->error_ppm = error * 1e6;
	if (error <= RATE_ERROR_SHARE)
		return true;
	return fails(
		trial,
		"its rate against CLOCK_MONOTONIC_RAW is only known within %.0f ppm, expected %.0f",
		error * 1e6, RATE_ERROR_PPM);
}

/* ---- synchronized ---- */

#define ROUNDS_ENOUGH	1000
#define ROUNDS_LEAST	64
/* For all pairs, and at least for one; a pair that gets not even the least
 * number of rounds, because its CPUs are busy, may take longer. */
#define SYNC_TIME_NS	UINT64_C(20000000)
#define PAIR_TIME_NS	UINT64_C(500000)
#define PAIR_LIMIT_NS	UINT64_C(500000000)
#define OFFSET_LIMIT_NS 2000.0

void sb_clock_offset_add(struct sb_clock_offset *offset, uint64_t ask, uint64_t answer,
			 uint64_t again)
{
	const int64_t high = (int64_t)(answer - ask);
	const int64_t low = (int64_t)(answer - again);

	if (!offset->rounds || high < offset->high)
		offset->high = high;
	if (!offset->rounds || low > offset->low)
		offset->low = low;
	offset->rounds++;
}

/* The turn is near's when even, far's when odd; far's answer lies beside it. */
struct duel {
	alignas(SB_LINE) _Atomic(uint64_t) turn;
	_Atomic(uint64_t) answer;
	_Atomic(uint32_t) over;
	uint64_t soft_ns; /* how long it takes, if there are enough rounds */
	struct sb_clock_offset offset;
};

/* Looks before the thread makes room: the other one may need this CPU's time,
 * on a machine that has given both to the same real one. */
#define LOOKS 2000

/* False: there will be none. */
static bool wait_for_question(struct duel *duel)
{
	for (uint32_t i = 1; !(sb_load_acq(&duel->turn) & 1); i++) {
		if (sb_load_rlx(&duel->over))
			return false;
		if (i % LOOKS)
			sb_cpu_pause();
		else
			sb_thread_yield();
	}
	return true;
}

static void *answer_all(void *arg)
{
	struct duel *duel = arg;

	while (wait_for_question(duel)) {
		sb_store_rlx(&duel->answer, sb_clock_ticks_ordered());
		sb_store_rel(&duel->turn, sb_load_rlx(&duel->turn) + 1);
	}
	return NULL;
}

static bool wait_for_answer(struct duel *duel, uint64_t turn, uint64_t end_ns)
{
	for (uint32_t i = 1; sb_load_acq(&duel->turn) != turn; i++) {
		sb_cpu_pause();
		if (i % LOOKS)
			continue;
		if (sb_clock_kernel_ns() >= end_ns)
			return false;
		sb_thread_yield();
	}
	return true;
}

static bool ask_once(struct duel *duel, uint64_t turn, uint64_t end_ns)
{
	const uint64_t ask = sb_clock_ticks_ordered();
	uint64_t again;

	sb_store_rel(&duel->turn, turn + 1);
	if (!wait_for_answer(duel, turn + 2, end_ns))
		return false;
	again = sb_clock_ticks_ordered();
	sb_clock_offset_add(&duel->offset, ask, sb_load_rlx(&duel->answer), again);
	return true;
}

static void *ask_all(void *arg)
{
	struct duel *duel = arg;
	const uint64_t start = sb_clock_kernel_ns();
	uint64_t passed = 0;
	uint64_t turn = 0;

	while (duel->offset.rounds < ROUNDS_ENOUGH && passed < PAIR_LIMIT_NS &&
	       (passed < duel->soft_ns || duel->offset.rounds < ROUNDS_LEAST) &&
	       ask_once(duel, turn, start + PAIR_LIMIT_NS)) {
		turn += 2;
		passed = sb_clock_kernel_ns() - start;
	}
	sb_store_rlx(&duel->over, 1);
	return NULL;
}

/* False: the threads could not be had there. */
static bool hold_duel(struct duel *duel, int near_cpu, int far_cpu)
{
	struct sb_thread near;
	struct sb_thread far;
	bool ok;

	if (sb_thread_start(&far, far_cpu, answer_all, duel))
		return false;
	ok = !sb_thread_start(&near, near_cpu, ask_all, duel);
	if (ok)
		sb_thread_join(&near);
	else
		sb_store_rlx(&duel->over, 1);
	sb_thread_join(&far);
	return ok;
}

/* Of all CPUs but the first against that one. */
struct offsets {
	double estimate_ns; /* the largest */
	double bound_ns[2]; /* the largest, and the one after it */
};

static void note(struct offsets *all, const struct sb_clock_offset *offset, double ns_per_tick)
{
	const double low = (double)offset->low * ns_per_tick;
	const double high = (double)offset->high * ns_per_tick;
	const double bound = fmax(high, -low) + (double)sb_clock_step_ticks() * ns_per_tick;

	all->estimate_ns = fmax(all->estimate_ns, fabs((low + high) / 2));
	if (bound > all->bound_ns[0]) {
		all->bound_ns[1] = all->bound_ns[0];
		all->bound_ns[0] = bound;
	} else {
		all->bound_ns[1] = fmax(all->bound_ns[1], bound);
	}
}

static bool compare(struct sb_clock_trial *trial, int far_cpu, struct offsets *all)
{
	const int near_cpu = trial->cpu[0];
	const double ns_per_tick = 1e9 / trial->info->hz;
	struct duel duel = {
		.soft_ns = sb_max_u64(PAIR_TIME_NS, SYNC_TIME_NS / (trial->cpus - 1)),
	};

	if (!hold_duel(&duel, near_cpu, far_cpu))
		return fails(trial, "no threads can be pinned to CPUs %d and %d to compare them",
			     near_cpu, far_cpu);
	if (duel.offset.rounds < ROUNDS_LEAST)
		return fails(trial, "CPUs %d and %d were too busy to be compared", near_cpu,
			     far_cpu);
	note(all, &duel.offset, ns_per_tick);
	if (sb_clock_offset_agrees(&duel.offset))
		return true;
	return fails(trial, "on CPU %d it is %.0f ns %s that of CPU %d", far_cpu,
		     (double)(duel.offset.low > 0 ? duel.offset.low : -duel.offset.high) *
			     ns_per_tick,
		     duel.offset.low > 0 ? "ahead of" : "behind", near_cpu);
}

/* Each against the first: any two can differ by the sum of their bounds. */
static bool is_synchronized(struct sb_clock_trial *trial)
{
	struct sb_clock_info *info = trial->info;
	struct offsets all = { 0 };

	for (uint32_t i = 1; i < trial->cpus; i++) {
		if (!compare(trial, trial->cpu[i], &all))
			return false;
	}
	info->cpus = trial->cpus;
	info->offset_ns = all.estimate_ns;
	info->offset_bound_ns = all.bound_ns[0] + all.bound_ns[1];
	if (info->offset_bound_ns <= OFFSET_LIMIT_NS)
		return true;
	return fails(trial,
		     "the offset between CPUs is only known to be below %.0f ns, expected %.0f",
		     info->offset_bound_ns, OFFSET_LIMIT_NS);
}

const struct sb_clock_check sb_clock_checks[SB_CLOCK_CHECKS] = {
	[SB_CLOCK_CONSTANT] = { "constant", is_constant },
	[SB_CLOCK_KERNEL] = { "kernel", is_the_kernels },
	[SB_CLOCK_RATE] = { "rate", has_a_rate },
	[SB_CLOCK_SYNCHRONIZED] = { "synchronized", is_synchronized },
};
