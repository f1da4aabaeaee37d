/*
 * clock.h - the time in nanoseconds: from the processor's counter where it can
 * be trusted, else from the kernel. A part of the door that platform.h is.
 *
 * The counter is the time-stamp counter of x86 (rdtsc) and the virtual counter
 * of arm64 (cntvct_el0). A program that never calls sb_clock_calibrate gets
 * CLOCK_MONOTONIC throughout.
 *
 * Two clocks. Time by the counter starts at CLOCK_MONOTONIC's when it is
 * switched to, and then runs at the rate of CLOCK_MONOTONIC_RAW, while the
 * kernel may make CLOCK_MONOTONIC run up to 500 ppm faster or slower to follow
 * a time server (50 ppm are 180 ms in an hour). So no reading of the one is
 * compared with a reading of the other, and the only place where a time by
 * sb_clock_ns becomes one of the kernel's is until_when() in threads.c, which
 * hands over what is left of a wait, again and again until sb_clock_ns says
 * that it is over. Timers are due by sb_clock_ns and never fire before that.
 *
 * Order. Neither counter is ordered with the loads and stores around it: the
 * processor may read it before an earlier load has its value, some tens of
 * nanoseconds early. There are two readings:
 *   sb_clock_ns     for ticks, budgets, deadlines, rounds: what it is compared
 *                   with is microseconds away, and an early reading is only
 *                   that. A deadline is not passed too early either: what is
 *                   early is less than what has really passed. And for the
 *                   beginnings of latencies: what is stored in a message was
 *                   read before the message was seen.
 *   sb_clock_stamp_ns for the ends of latencies of tens of nanoseconds, which are
 *                   sampled: it waits until everything before it is
 *                   done (lfence, isb). Without, the time at which a message is
 *                   taken could be one at which its sender had not stamped it.
 * Counters of different cores may differ by the bound that was found when they
 * were compared. sb_clock_passed() makes of a negative difference 0.
 *
 * The counter goes on while the machine is suspended, or begins anew, and a
 * virtual machine may be moved to another one: no time of a run in which that
 * happened means anything. sb_clock_drift_ppm() shows it.
 */
#ifndef SB_CORE_PLATFORM_CLOCK_H
#define SB_CORE_PLATFORM_CLOCK_H

#include "core/platform/atomic.h"
#include "core/platform/base.h"

#if defined(__x86_64__)
#define SB_CLOCK_COUNTER "tsc"
#elif defined(__aarch64__)
#define SB_CLOCK_COUNTER "cntvct"
#else
#define SB_CLOCK_COUNTER "none"
#endif

/* The counter, as it is. */
static inline uint64_t sb_clock_ticks(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t ticks;

	__asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#else
	return 0;
#endif
}

/* After everything before it in the program. */
static inline uint64_t sb_clock_ticks_ordered(void)
{
#if defined(__x86_64__)
	__asm__ __volatile__("lfence" ::: "memory");
#elif defined(__aarch64__)
	__asm__ __volatile__("isb" ::: "memory");
#endif
	return sb_clock_ticks();
}

/* Binary places of nanoseconds per tick: 2^64 of them are 256 ns, so a counter
 * of 4 MHz is the slowest that will do. */
#define SB_CLOCK_SHIFT 56

/* From ticks to nanoseconds. */
struct sb_clock_scale {
	uint64_t ticks; /* the counter, when it was */
	uint64_t ns;	/* that time */
	uint64_t mult;	/* nanoseconds per tick; 0: ask the kernel */
};

/*
 * Exact for all counts: the product of two 64-bit numbers is taken whole, and
 * cut off below the nanosecond. What mult lacks in precision is less than ten
 * nanoseconds in a year.
 */
static inline uint64_t sb_clock_convert(const struct sb_clock_scale *scale, uint64_t ticks)
{
	const __uint128_t product = (__uint128_t)(ticks - scale->ticks) * scale->mult;

	return scale->ns + (uint64_t)(product >> SB_CLOCK_SHIFT);
}

/* The scale for a counter that makes hz ticks a second; ticks is at ns. False:
 * too slow, or none. */
bool sb_clock_scale_make(struct sb_clock_scale *scale, double hz, uint64_t ticks, uint64_t ns);

/* Written once, before the threads start that read it. */
struct sb_clock_choice {
	alignas(SB_LINE) struct sb_clock_scale scale;
};
extern struct sb_clock_choice sb_clock_choice;

/* CLOCK_MONOTONIC. */
uint64_t sb_clock_kernel_ns(void);

/* Monotonic time in nanoseconds from an arbitrary start. Any thread. */
static inline uint64_t sb_clock_ns(void)
{
	if (SB_LIKELY(!SB_VIRTUAL && sb_clock_choice.scale.mult))
		return sb_clock_convert(&sb_clock_choice.scale, sb_clock_ticks());
	return sb_clock_kernel_ns();
}

/* The same after everything before it; for latencies between threads. The
 * kernel's clock is so anyway. */
static inline uint64_t sb_clock_stamp_ns(void)
{
	if (SB_LIKELY(!SB_VIRTUAL && sb_clock_choice.scale.mult))
		return sb_clock_convert(&sb_clock_choice.scale, sb_clock_ticks_ordered());
	return sb_clock_kernel_ns();
}

/* From then to now; 0 if another core's counter is ahead. */
static inline uint64_t sb_clock_passed(uint64_t then, uint64_t now)
{
	return now > then ? now - then : 0;
}

/* ---- choosing ---- */

/* The properties of the clock; NaN: not measured. */
struct sb_clock_info {
	bool is_counter;
	const char *source;	/* "clock_gettime", or the counter's name */
	char reason[160];	/* why it is not the counter; "" if it is */
	double hz;		/* the counter's ticks a second */
	double error_ppm;	/* by which hz is wrong at most */
	uint32_t cpus;		/* compared with each other */
	double offset_ns;	/* the largest that was found, as estimated */
	double offset_bound_ns; /* the largest that any two can have */
};

/*
 * Looks whether the counter can be trusted on these CPUs (the operating
 * system's numbers, at least one), and if so switches to it, once in a program's
 * life. The caller alone may be reading the clock, and threads that were started
 * before must have synchronized with it before they do. Time goes on without a
 * jump. Takes about 60 ms.
 *
 * Returns 0; -ENOTSUP: it cannot be trusted, and nothing changes; -EBUSY: a
 * scheduler runs; -EALREADY: it has been switched. *info (may be NULL) is what
 * sb_clock_describe gives then.
 */
SB_MUST_CHECK int sb_clock_calibrate(const int *cpu, uint32_t cpus, struct sb_clock_info *info);

/* The result of the last calibration. Not during one. */
void sb_clock_describe(struct sb_clock_info *info);

/*
 * By how much the counter's rate since the switch differs from what was taken
 * for it, against CLOCK_MONOTONIC_RAW, in millionths. NaN: another clock is in
 * use, or that is too short ago to tell.
 */
double sb_clock_drift_ppm(void);

/* The cost of one reading, and the smallest step between two that differ. */
struct sb_clock_cost {
	double read_ns;
	uint64_t step_ns;
};

struct sb_clock_cost sb_clock_cost(uint64_t (*read_ns)(void));

/* A scheduler's workers run from the one to the other. */
void sb_clock_hold(void);
void sb_clock_release(void);

#endif
