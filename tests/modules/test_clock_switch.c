/*
 * The clock: the checks of whether the counter can be trusted, the switch to it, and
 * waits by it.
 *
 * Property: a check that fails leaves the kernel's clock in use and says why; the
 *   switch makes no time jump; no reading is smaller than one that was made before
 *   it, on any core; no wait ends before its deadline, however the kernel's clock
 *   runs.
 * Method: with checks that are replaced one at a time; two pinned threads that hand
 *   their readings to each other; with a scale that is wrong on purpose.
 *
 * A program can switch once, so the order of the tests counts: fall-backs first.
 */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <string.h>

#include "core/platform/clock_checks.h"
#include "core/scheduler.h"
#include "tests/test.h"

#define CPUS_MAX 4

static int cpu[CPUS_MAX];

static uint32_t cpus;

static void find_cpus(void)
{
	cpu_set_t set;

	sched_getaffinity(0, sizeof(set), &set);
	for (int i = 0; i < CPU_SETSIZE && cpus < CPUS_MAX; i++) {
		if (CPU_ISSET(i, &set))
			cpu[cpus++] = i;
	}
}

#define HANDS SB_SCALE(40000)

/* The kernel's clock runs at another rate than what sb_clock_ns follows, far
 * more than any kernel would allow, and at another time, by hours: a wait until
 * the deadline by the wrong one would not end. */
#define HOUR_NS UINT64_C(3600000000000)

/* ---- fall-backs ---- */

static int calls[SB_CLOCK_CHECKS];

/* Checks that count, and pass. */
#define PASSING(id)                                                                                \
	static bool pass_##id(struct sb_clock_trial *trial)                                        \
	{                                                                                          \
		calls[id]++;                                                                       \
		trial->info->hz = 1e9;                                                             \
		return true;                                                                       \
	}
PASSING(SB_CLOCK_CONSTANT)
PASSING(SB_CLOCK_KERNEL)
PASSING(SB_CLOCK_RATE)
PASSING(SB_CLOCK_SYNCHRONIZED)

static const struct sb_clock_check all_pass[SB_CLOCK_CHECKS] = {
	{ "constant", pass_SB_CLOCK_CONSTANT },
	{ "kernel", pass_SB_CLOCK_KERNEL },
	{ "rate", pass_SB_CLOCK_RATE },
	{ "synchronized", pass_SB_CLOCK_SYNCHRONIZED },
};

static bool fail_by_force(struct sb_clock_trial *trial)
{
	snprintf(trial->info->reason, sizeof(trial->info->reason), "forced");
	return false;
}

static bool find_slow(struct sb_clock_trial *trial)
{
	trial->info->hz = 1000;
	return true;
}

static const int first_cpu[1] = { 0 };

static void expect_kernel(const struct sb_clock_info *info, const char *reason)
{
	const uint64_t before = sb_clock_kernel_ns();
	const uint64_t now = sb_clock_ns();

	assert_false(info->is_counter);
	assert_string_equal(info->source, "clock_gettime");
	assert_non_null(strstr(info->reason, reason));
	CHECK_EQ(sb_clock_choice.scale.mult, 0);
	assert_true(before <= now && now <= sb_clock_kernel_ns());
	assert_true(isnan(sb_clock_drift_ppm()));
}

static void the_kernels_clock_is_the_default(void **state)
{
	struct sb_clock_info info;

	(void)state;
	sb_clock_describe(&info);
	expect_kernel(&info, "not been calibrated");
	assert_true(isnan(info.hz) && isnan(info.offset_bound_ns));
}

static void each_check_that_fails_falls_back(void **state)
{
	struct sb_clock_info info;

	(void)state;
	for (int id = 0; id < SB_CLOCK_CHECKS; id++) {
		struct sb_clock_check checks[SB_CLOCK_CHECKS];

		memcpy(checks, all_pass, sizeof(checks));
		memset(calls, 0, sizeof(calls));
		checks[id].passes = fail_by_force;
		CHECK_EQ(sb_clock_calibrate_by(checks, first_cpu, 1, &info), -ENOTSUP);
		expect_kernel(&info, "forced");
		for (int other = 0; other < SB_CLOCK_CHECKS; other++)
			CHECK_EQ(calls[other], other < id);
	}
}

static void a_slow_counter_falls_back(void **state)
{
	struct sb_clock_check checks[SB_CLOCK_CHECKS];
	struct sb_clock_info info;

	(void)state;
	memcpy(checks, all_pass, sizeof(checks));
	checks[SB_CLOCK_SYNCHRONIZED].passes = find_slow;
	CHECK_EQ(sb_clock_calibrate_by(checks, first_cpu, 1, &info), -ENOTSUP);
	expect_kernel(&info, "1000 ticks a second");
}

/* A CPU that no thread can be pinned to: the real check must see it. */
static void cpus_that_cannot_be_had_fall_back(void **state)
{
	static const int pair[2] = { 0, 100000 };
	struct sb_clock_check checks[SB_CLOCK_CHECKS];
	struct sb_clock_info info;

	(void)state;
	memcpy(checks, all_pass, sizeof(checks));
	checks[SB_CLOCK_SYNCHRONIZED] = sb_clock_checks[SB_CLOCK_SYNCHRONIZED];
	CHECK_EQ(sb_clock_calibrate_by(checks, pair, 2, &info), -ENOTSUP);
	expect_kernel(&info, "pinned to CPUs 0 and 100000");
}

static void not_while_a_scheduler_runs(void **state)
{
	static struct sb_place place = { .os_cpu = -1 };
	const struct sb_placement placement = { .workers = 1, .place = &place };
	const struct sb_config config = SB_CONFIG_DEFAULT;
	struct sb_scheduler *s;
	struct sb_clock_info info;

	(void)state;
	CHECK_EQ(sb_scheduler_create(&s, &config, &placement), 0);
	CHECK_EQ(sb_scheduler_start(s, NULL), 0);
	CHECK_EQ(sb_clock_calibrate_by(all_pass, first_cpu, 1, &info), -EBUSY);
	CHECK_EQ(sb_clock_choice.scale.mult, 0);
	sb_scheduler_stop(s, UINT64_MAX);
	sb_scheduler_destroy(s);
}

static bool is_trusted; /* and not only switched to */

/* Of this kernel's clock, which may run up to 500 ppm from the counter's. */
static void expect_close(uint64_t start_ns)
{
	for (int i = 0; i < 1000; i++) {
		const uint64_t before = sb_clock_kernel_ns();
		const uint64_t now = sb_clock_ns();
		const uint64_t after = sb_clock_kernel_ns();
		const uint64_t slack = 1000000 + (after - start_ns) / 1000;

		assert_uint_in_range(now, before - slack, after + slack);
	}
}

/* The checks as they are; and where they fail, with those that depend on the
 * machine and not on the code replaced, because the rest holds anyway. */
static void the_switch_is_no_jump(void **state)
{
	struct sb_clock_check checks[SB_CLOCK_CHECKS];
	struct sb_clock_info info;
	const uint64_t start = sb_clock_ns();
	uint64_t before;
	int rc;

	(void)state;
	memcpy(checks, sb_clock_checks, sizeof(checks));
	before = sb_clock_ns();
	rc = sb_clock_calibrate(cpu, cpus, &info);
	is_trusted = !rc;
	if (rc) {
		CHECK_EQ(rc, -ENOTSUP);
		print_message("# not trusted: %s\n", info.reason);
		expect_kernel(&info, "");
		assert_true(strlen(info.reason) > 0);
		checks[SB_CLOCK_CONSTANT] = all_pass[SB_CLOCK_CONSTANT];
		checks[SB_CLOCK_KERNEL] = all_pass[SB_CLOCK_KERNEL];
		rc = sb_clock_calibrate_by(checks, cpu, 1, &info);
	}
	if (rc) {
		print_message("# skipped: %s\n", info.reason);
		return;
	}
	assert_true(sb_clock_ns() >= before);
	expect_close(start);
	assert_true(info.is_counter);
	assert_string_equal(info.source, SB_CLOCK_COUNTER);
	assert_string_equal(info.reason, "");
	assert_true(info.hz >= 4e6 && info.error_ppm <= 100 && info.offset_bound_ns <= 2000 &&
		    info.offset_ns <= info.offset_bound_ns);
	print_message("# %s: %.0f Hz within %.2f ppm, offset within %.0f ns\n", info.source,
		      info.hz, info.error_ppm, info.offset_bound_ns);
	CHECK_EQ(sb_clock_calibrate(cpu, cpus, NULL), -EALREADY);
}

static void it_never_goes_back(void **state)
{
	uint64_t last = 0;

	(void)state;
	for (int i = 0; i < SB_SCALE(2000000); i++) {
		const uint64_t now = i % 2 ? sb_clock_ns() : sb_clock_stamp_ns();

		assert_true(now >= last);
		last = now;
	}
}

struct relay {
	_Atomic(uint64_t) turn;
	_Atomic(uint64_t) time;
	_Atomic(uint64_t) backwards;
};

struct runner {
	struct relay *relay;
	uint64_t parity;
	struct sb_thread thread;
};

static void *hand_over(void *arg)
{
	const struct runner *runner = arg;
	struct relay *relay = runner->relay;

	for (uint64_t t = runner->parity; t < HANDS; t += 2) {
		uint64_t now;

		for (int i = 1; sb_load_acq(&relay->turn) != t; i++) {
			if (i % 1000)
				sb_cpu_pause();
			else
				sb_thread_yield();
		}
		now = sb_clock_stamp_ns();
		if (now < sb_load_rlx(&relay->time))
			sb_add_rlx(&relay->backwards, 1);
		sb_store_rlx(&relay->time, now);
		sb_store_rel(&relay->turn, t + 1);
	}
	return NULL;
}

static void it_never_goes_back_on_another_core(void **state)
{
	struct relay relay = { 0 };
	struct runner runner[2] = { { &relay, 0, { 0 } }, { &relay, 1, { 0 } } };

	(void)state;
	if (cpus < 2 || !is_trusted) {
		print_message("# skipped: %s\n", cpus < 2 ? "one CPU" : "it is not trusted");
		return;
	}
	for (int i = 0; i < 2; i++)
		CHECK_EQ(sb_thread_start(&runner[i].thread, cpu[i], hand_over, &runner[i]), 0);
	for (int i = 0; i < 2; i++)
		sb_thread_join(&runner[i].thread);
	CHECK_EQ(sb_load_rlx(&relay.turn), HANDS);
	CHECK_EQ(sb_load_rlx(&relay.backwards), 0);
}

static void what_has_passed_is_never_negative(void **state)
{
	(void)state;
	CHECK_EQ(sb_clock_passed(3, 5), 2);
	CHECK_EQ(sb_clock_passed(5, 5), 0);
	CHECK_EQ(sb_clock_passed(5, 3), 0);
}

static void the_drift_is_small(void **state)
{
	const uint64_t start = sb_clock_ns();
	struct sb_clock_info info;

	(void)state;
	sb_clock_describe(&info);
	if (!info.is_counter) {
		print_message("# skipped: %s\n", info.reason);
		return;
	}
	while (sb_clock_ns() - start < 20000000)
		sb_thread_yield();
	print_message("# drift %.3f ppm\n", sb_clock_drift_ppm());
	assert_true(fabs(sb_clock_drift_ppm()) <= 1000);
}

/* ---- waits ---- */

static bool never(void *arg)
{
	(void)arg;
	return false;
}

/* In every way, and not shorter than that. */
static void wait_in_every_way(uint64_t ns)
{
	static const enum sb_parking ways[] = { SB_PARKING_CONDVAR, SB_PARKING_FUTEX };
	struct sb_gate gate;
	uint64_t end;

	for (size_t i = 0; i < SB_ARRAY_SIZE(ways); i++) {
		struct sb_parker parker;

		sb_parker_init(&parker, ways[i]);
		end = sb_clock_ns() + ns;
		sb_park(&parker, end);
		assert_true(sb_clock_ns() >= end);
		sb_park(&parker, end); /* it has passed: at once */
		sb_unpark(&parker);
		sb_park(&parker, UINT64_MAX);
		sb_parker_fini(&parker);
	}
	sb_gate_init(&gate);
	end = sb_clock_ns() + ns;
	assert_false(sb_gate_wait(&gate, never, NULL, ns));
	assert_true(sb_clock_ns() >= end);
	assert_false(sb_gate_wait(&gate, never, NULL, 0));
	sb_gate_fini(&gate);
}

/* A long one is waited for in parts. */
static void waits_end_at_their_deadline(void **state)
{
	(void)state;
	wait_in_every_way(1);
	wait_in_every_way(2000000);
	wait_in_every_way(110000000);
}

static void waits_follow_the_clock(void **state)
{
	static const double rate[] = { 0.3, 0.999, 1.001, 3 };
	const struct sb_clock_scale was = sb_clock_choice.scale;

	(void)state;
	if (!was.mult) {
		print_message("# skipped: the kernel's clock is in use\n");
		return;
	}
	for (size_t i = 0; i < SB_ARRAY_SIZE(rate); i++) {
		const uint64_t ticks = sb_clock_ticks();

		sb_clock_choice.scale =
			(struct sb_clock_scale){ ticks,
						 sb_clock_convert(&was, ticks) + (i + 1) * HOUR_NS,
						 (uint64_t)((double)was.mult * rate[i]) };
		wait_in_every_way(3000000);
		wait_in_every_way(120000000);
	}
	sb_clock_choice.scale = was;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_kernels_clock_is_the_default),
		cmocka_unit_test(each_check_that_fails_falls_back),
		cmocka_unit_test(a_slow_counter_falls_back),
		cmocka_unit_test(cpus_that_cannot_be_had_fall_back),
		cmocka_unit_test(not_while_a_scheduler_runs),
		cmocka_unit_test(the_switch_is_no_jump),
		cmocka_unit_test(it_never_goes_back),
		cmocka_unit_test(it_never_goes_back_on_another_core),
		cmocka_unit_test(what_has_passed_is_never_negative),
		cmocka_unit_test(the_drift_is_small),
		cmocka_unit_test(waits_end_at_their_deadline),
		cmocka_unit_test(waits_follow_the_clock),
	};

	find_cpus();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
