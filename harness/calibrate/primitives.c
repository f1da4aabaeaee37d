#include "harness/calibrate/primitives.h"

#include <string.h>
#include <time.h>

#include "core/platform/platform.h"
#include "core/queue/deque.h"
#include "harness/system/pair.h"
#include "workloads/lib/work.h"

/* A loop that is timed as a whole; a sample is its share of one turn. */
#define LOOP_TURNS 1000

static void add_loop(struct sb_calibration *c, enum sb_cost_id id, const char *of,
		     void (*loop)(uint32_t turns))
{
	const uint32_t samples = sb_calibration_samples(c, 500);
	double sample[500];

	for (uint32_t i = 0; i < samples; i++) {
		const uint64_t start = sb_clock_stamp_ns();

		loop(LOOP_TURNS);
		sample[i] = (double)(sb_clock_stamp_ns() - start) / LOOP_TURNS;
	}
	sb_calibration_add(c, id, of, sample, samples);
}

/* ---- clocks ---- */

static uint64_t read_kernel(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * UINT64_C(1000000000) + (uint64_t)ts.tv_nsec;
}

static void keep(uint64_t value)
{
	__asm__ __volatile__("" ::"r"(value));
}

/* For each clock a reading, and a loop of readings that inlines it. */
#define CLOCK(name, reading)                                                                       \
	static uint64_t read_##name(void)                                                          \
	{                                                                                          \
		return reading;                                                                    \
	}                                                                                          \
	static void loop_##name(uint32_t turns)                                                    \
	{                                                                                          \
		for (; turns; turns--)                                                             \
			keep(reading);                                                             \
	}
CLOCK(own, sb_clock_ns())
CLOCK(own_ordered, sb_clock_stamp_ns())
CLOCK(ticks, sb_clock_ticks())
CLOCK(ticks_ordered, sb_clock_ticks_ordered())
CLOCK(monotonic, read_kernel(CLOCK_MONOTONIC))
CLOCK(raw, read_kernel(CLOCK_MONOTONIC_RAW))
CLOCK(coarse, read_kernel(CLOCK_MONOTONIC_COARSE))

static const struct {
	const char *name;
	void (*loop)(uint32_t turns);
	uint64_t (*read)(void);
	bool has_step; /* in ns, and not longer than a look takes */
} clocks[] = {
	{ "as used", loop_own, read_own, true },
	{ "as used for samples", loop_own_ordered, read_own_ordered, true },
	{ SB_CLOCK_COUNTER, loop_ticks, read_ticks, false },
	{ SB_CLOCK_COUNTER " in order", loop_ticks_ordered, read_ticks_ordered, false },
	{ "CLOCK_MONOTONIC", loop_monotonic, read_monotonic, true },
	{ "CLOCK_MONOTONIC_RAW", loop_raw, read_raw, true },
	{ "CLOCK_MONOTONIC_COARSE", loop_coarse, read_coarse, false },
};

void sb_measure_clock(struct sb_calibration *c)
{
	const struct sb_clock_info *clock = &c->clock;

	sb_calibration_add_one(c, SB_COST_clock_hz, SB_CLOCK_COUNTER, clock->hz);
	sb_calibration_add_one(c, SB_COST_clock_error_ppm, SB_CLOCK_COUNTER, clock->error_ppm);
	sb_calibration_add_one(c, SB_COST_clock_offset_ns, SB_CLOCK_COUNTER, clock->offset_ns);
	sb_calibration_add_one(c, SB_COST_clock_offset_bound_ns, SB_CLOCK_COUNTER,
			       clock->offset_bound_ns);
	for (size_t i = 0; i < SB_ARRAY_SIZE(clocks); i++)
		add_loop(c, SB_COST_clock_read_ns, clocks[i].name, clocks[i].loop);
	for (size_t i = 0; i < SB_ARRAY_SIZE(clocks); i++) {
		if (clocks[i].has_step)
			sb_calibration_add_one(c, SB_COST_clock_step_ns, clocks[i].name,
					       (double)sb_clock_cost(clocks[i].read).step_ns);
	}
}

/* ---- alone ---- */

static void loop_atomic(uint32_t turns)
{
	static struct {
		alignas(SB_LINE) _Atomic(uint64_t) value;
	} word;

	for (; turns; turns--)
		sb_add_acq_rel(&word.value, 1);
}

void sb_measure_atomic(struct sb_calibration *c)
{
	add_loop(c, SB_COST_atomic_add_ns, "", loop_atomic);
}

void sb_measure_work(struct sb_calibration *c)
{
	struct sb_work_rate rate;

	sb_work_calibrate(&rate);
	sb_calibration_add(c, SB_COST_work_units_per_us, "", rate.sample, rate.samples);
}

/* ---- waking a thread ---- */

struct sleeper {
	struct sb_parker parker;
	_Atomic(uint64_t) woken_ns, cpu_ns;
	double call_ns[SB_PAIR_SAMPLES_MAX];
	double sleep_cpu_ns[SB_PAIR_SAMPLES_MAX];
};

/* From its announcement on, until it sleeps and its CPU is idle. */
#define FALL_ASLEEP_NS 50000

static void wait_until_asleep(struct sleeper *sleeper)
{
	uint64_t start;

	while (!sb_load_acq(&sleeper->parker.state))
		sb_cpu_pause();
	start = sb_clock_ns();
	while (sb_clock_ns() - start < FALL_ASLEEP_NS)
		sb_cpu_pause();
}

static void *wake_it(void *arg)
{
	struct sb_pair *p = arg;
	struct sleeper *sleeper = p->data;
	const uint64_t begin = sb_clock_ns();
	uint64_t turn = 0;
	uint64_t start;

	do {
		wait_until_asleep(sleeper);
		start = sb_clock_stamp_ns();
		sb_unpark(&sleeper->parker);
		sleeper->call_ns[turn] = (double)(sb_clock_stamp_ns() - start);
		(void)sb_pair_wait_for_turn(p, turn + 1);
		sleeper->sleep_cpu_ns[turn++] = (double)sb_load_rlx(&sleeper->cpu_ns);
	} while (sb_pair_add_sample(
			 p, (double)sb_clock_passed(start, sb_load_rlx(&sleeper->woken_ns))) &&
		 sb_clock_ns() - begin < SB_PAIR_TIME_NS);
	return NULL;
}

static void *sleep_again(void *arg)
{
	struct sb_pair *p = arg;
	struct sleeper *sleeper = p->data;

	for (uint64_t turn = 1; !sb_load_acq(&p->over); turn++) {
		const uint64_t start = sb_clock_thread_cpu_ns();

		sb_park(&sleeper->parker, UINT64_MAX);
		sb_store_rlx(&sleeper->woken_ns, sb_clock_stamp_ns());
		sb_store_rlx(&sleeper->cpu_ns, sb_clock_thread_cpu_ns() - start);
		sb_store_rel(&p->turn, turn);
	}
	return NULL;
}

static void measure_wake(struct sb_calibration *c, enum sb_cost_id id, enum sb_parking parking,
			 const char *by)
{
	static struct sleeper sleeper;
	struct sb_pair p = { .cpu = { c->cpu[0], c->cpu[1] },
			     .samples = sb_calibration_samples(c, 1000),
			     .bed = &sleeper.parker,
			     .data = &sleeper };
	char of[40];

	sb_parker_init(&sleeper.parker, parking);
	sb_pair_describe(&p, of, sizeof(of));
	if (sb_pair_run(&p, wake_it, sleep_again)) {
		sb_calibration_add(c, id, of, p.sample, p.taken);
		sb_calibration_add(c, SB_COST_wake_call_ns, by, sleeper.call_ns, p.taken);
		sb_calibration_add(c, SB_COST_sleep_cpu_ns, by, sleeper.sleep_cpu_ns, p.taken);
	}
	sb_parker_fini(&sleeper.parker);
}

void sb_measure_wakes(struct sb_calibration *c)
{
	if (c->cpus < 2)
		return;
	measure_wake(c, SB_COST_futex_wake_ns, SB_PARKING_FUTEX, "futex");
	measure_wake(c, SB_COST_condvar_wake_ns, SB_PARKING_CONDVAR, "condvar");
}

/* ---- changing threads ---- */

static void loop_yield(uint32_t turns)
{
	for (; turns; turns--)
		sb_thread_yield();
}

/* The two parkers of those that hand over. */
struct seats {
	struct sb_parker parker[2];
};

#define HANDOVERS 50

static void *hand_over(void *arg)
{
	struct sb_pair *p = arg;
	struct seats *seats = p->data;
	const uint64_t begin = sb_clock_ns();
	uint64_t start;

	do {
		start = sb_clock_ns();
		for (int i = 0; i < HANDOVERS; i++) {
			sb_unpark(&seats->parker[1]);
			sb_park(&seats->parker[0], UINT64_MAX);
		}
	} while (sb_pair_add_sample(p, (double)(sb_clock_ns() - start) / (2 * HANDOVERS)) &&
		 sb_clock_ns() - begin < SB_PAIR_TIME_NS);
	return NULL;
}

static void *hand_back(void *arg)
{
	struct sb_pair *p = arg;
	struct seats *seats = p->data;

	do {
		sb_park(&seats->parker[1], UINT64_MAX);
		sb_unpark(&seats->parker[0]);
	} while (!sb_load_acq(&p->over));
	return NULL;
}

void sb_measure_switches(struct sb_calibration *c)
{
	struct seats seats;
	struct sb_pair p = { .cpu = { c->cpu[0], c->cpu[0] },
			     .samples = sb_calibration_samples(c, 500),
			     .bed = &seats.parker[1],
			     .data = &seats };
	char of[40];

	add_loop(c, SB_COST_thread_yield_ns, "", loop_yield);
	for (int i = 0; i < 2; i++)
		sb_parker_init(&seats.parker[i], SB_PARKING_FUTEX);
	snprintf(of, sizeof(of), "CPU %d", p.cpu[0]);
	if (sb_pair_run(&p, hand_over, hand_back))
		sb_calibration_add(c, SB_COST_context_switch_ns, of, p.sample, p.taken);
	for (int i = 0; i < 2; i++)
		sb_parker_fini(&seats.parker[i]);
}
