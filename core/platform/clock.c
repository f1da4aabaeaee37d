#include "core/platform/clock.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "core/platform/clock_checks.h"

#define NS_PER_S UINT64_C(1000000000)

struct sb_clock_choice sb_clock_choice;

static struct sb_clock_info current = {
	.source = "clock_gettime",
	.reason = "it has not been calibrated",
	.hz = NAN,
	.error_ppm = NAN,
	.offset_ns = NAN,
	.offset_bound_ns = NAN,
};

/* Where sb_clock_drift_ppm measures from. */
static struct sb_clock_point switched;

/* Schedulers that run. */
static _Atomic(uint32_t) holders;

void sb_clock_hold(void)
{
	sb_add_acq_rel(&holders, 1);
}

void sb_clock_release(void)
{
	sb_sub_acq_rel(&holders, 1);
}

/* ---- reading ---- */

static uint64_t read_clock(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

uint64_t sb_clock_kernel_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

#define STEP_LOOKS   10000
#define STEP_CHANGES 8

uint64_t sb_clock_step_ticks(void)
{
	uint64_t last = sb_clock_ticks_ordered();
	uint64_t least = UINT64_MAX;
	uint32_t changes = 0;

	for (int i = 0; i < STEP_LOOKS && changes < STEP_CHANGES; i++) {
		const uint64_t now = sb_clock_ticks_ordered();

		if (now == last)
			continue;
		least = sb_min_u64(least, now - last);
		last = now;
		changes++;
	}
	return changes ? least : 1;
}

#define POINT_TRIES 16

static struct sb_clock_point point_of(clockid_t id)
{
	const uint64_t step = sb_clock_step_ticks();
	struct sb_clock_point best = { .after = UINT64_MAX };

	for (int i = 0; i < POINT_TRIES; i++) {
		struct sb_clock_point p;

		p.before = sb_clock_ticks_ordered();
		p.ns = read_clock(id);
		/* The counter's value may be one step old. */
		p.after = sb_clock_ticks_ordered() + step;
		if (p.after - p.before < best.after - best.before)
			best = p;
	}
	return best;
}

struct sb_clock_point sb_clock_point_raw(void)
{
	return point_of(CLOCK_MONOTONIC_RAW);
}

struct sb_clock_point sb_clock_point_monotonic(void)
{
	return point_of(CLOCK_MONOTONIC);
}

/* ---- switching ---- */

bool sb_clock_scale_make(struct sb_clock_scale *scale, double hz, uint64_t ticks, uint64_t ns)
{
	const double mult = round(ldexp((double)NS_PER_S, SB_CLOCK_SHIFT) / hz);

	/* Also false for NaN. */
	if (!(mult >= 1 && mult < 0x1p64))
		return false;
	*scale = (struct sb_clock_scale){ ticks, ns, (uint64_t)mult };
	return true;
}

/*
 * The kernel's time was read when the counter had passed `before`, so time by
 * the counter is ahead of the kernel's by less than the bracket is wide, and
 * whatever was read earlier is not after it.
 */
static bool use_counter(double hz)
{
	const struct sb_clock_point start = sb_clock_point_monotonic();
	struct sb_clock_scale scale;

	if (!sb_clock_scale_make(&scale, hz, start.before, start.ns))
		return false;
	switched = sb_clock_point_raw();
	sb_clock_choice.scale = scale;
	return true;
}

static bool all_pass(const struct sb_clock_check checks[SB_CLOCK_CHECKS],
		     struct sb_clock_trial *trial)
{
	for (int i = 0; i < SB_CLOCK_CHECKS; i++) {
		if (!checks[i].passes(trial))
			return false;
	}
	return true;
}

static int try_counter(const struct sb_clock_check checks[SB_CLOCK_CHECKS],
		       struct sb_clock_trial *trial)
{
	struct sb_clock_info *info = trial->info;

	info->reason[0] = '\0';
	if (!all_pass(checks, trial))
		return -ENOTSUP;
	if (!use_counter(info->hz)) {
		snprintf(info->reason, sizeof(info->reason), "its %.0f ticks a second are too few",
			 info->hz);
		return -ENOTSUP;
	}
	info->is_counter = true;
	info->source = SB_CLOCK_COUNTER;
	return 0;
}

int sb_clock_calibrate_by(const struct sb_clock_check checks[SB_CLOCK_CHECKS], const int *cpu,
			  uint32_t cpus, struct sb_clock_info *info)
{
	struct sb_clock_trial trial = { cpu, cpus, &current };
	int rc;

	SB_CHECK(cpus, >=, 1);
	if (sb_load_acq(&holders))
		rc = -EBUSY;
	else if (current.is_counter)
		rc = -EALREADY;
	else
		rc = try_counter(checks, &trial);
	if (info)
		*info = current;
	return rc;
}

int sb_clock_calibrate(const int *cpu, uint32_t cpus, struct sb_clock_info *info)
{
	return sb_clock_calibrate_by(sb_clock_checks, cpu, cpus, info);
}

/* ---- describing ---- */

void sb_clock_describe(struct sb_clock_info *info)
{
	*info = current;
}

/* Shorter, the points' brackets are a large part of it. */
#define DRIFT_TIME_MIN_NS 10e6

double sb_clock_drift_ppm(void)
{
	struct sb_clock_point point[2] = { switched };
	struct sb_clock_rate rate;

	if (!current.is_counter)
		return NAN;
	point[1] = sb_clock_point_raw();
	if ((double)(point[1].ns - point[0].ns) < DRIFT_TIME_MIN_NS)
		return NAN;
	rate = sb_clock_rate_of(point, 2);
	return ((rate.min + rate.max) / 2 * 1e9 / current.hz - 1) * 1e6;
}

#define COST_READS   1000
#define COST_BATCHES 5

static double batch_cost(uint64_t (*read_ns)(void))
{
	const uint64_t start = sb_clock_kernel_ns();
	uint64_t sum = 0;

	for (int i = 0; i < COST_READS; i++)
		sum += read_ns();
	__asm__ __volatile__("" ::"r"(sum));
	return (double)(sb_clock_kernel_ns() - start) / COST_READS;
}

struct sb_clock_cost sb_clock_cost(uint64_t (*read_ns)(void))
{
	struct sb_clock_cost cost = { INFINITY, UINT64_MAX };
	uint64_t last = read_ns();

	/* The least: everything else is what disturbed it. */
	for (int i = 0; i < COST_BATCHES; i++)
		cost.read_ns = fmin(cost.read_ns, batch_cost(read_ns));
	for (int i = 0; i < COST_READS; i++) {
		const uint64_t now = read_ns();

		if (now > last)
			cost.step_ns = sb_min_u64(cost.step_ns, now - last);
		last = now;
	}
	return cost;
}
