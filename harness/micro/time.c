/*
 * time.c - the two clocks, the histogram, and the timing wheel.
 */
#include <errno.h>

#include "core/hist.h"
#include "core/platform/clock.h"
#include "core/timers/wheel.h"
#include "harness/micro/kind.h"

/* ---- clocks ---- */

struct clocks {
	struct sb_clock_scale scale;
	uint64_t in_order; /* readings that are not before the last one */
	uint64_t last;
};

/* The rate does not matter: the counter is read and converted all the same. */
static int set_up_clock(struct sb_micro *m)
{
	struct clocks *c = m->state;

	(void)sb_clock_scale_make(&c->scale, 1e9, sb_clock_ticks(), 0);
	return 0;
}

#define CLOCK(name, reading)                                                                       \
	static void run_##name(struct sb_micro *m, uint32_t thread, uint64_t n)                    \
	{                                                                                          \
		struct clocks *c = m->state;                                                       \
		uint64_t in_order = 0;                                                             \
		uint64_t last = c->last;                                                           \
                                                                                                   \
		(void)thread;                                                                      \
		while (n--) {                                                                      \
			const uint64_t now = reading;                                              \
                                                                                                   \
			in_order += now >= last;                                                   \
			last = now;                                                                \
		}                                                                                  \
		c->in_order += in_order;                                                           \
		c->last = last;                                                                    \
	}
CLOCK(counter, sb_clock_convert(&c->scale, sb_clock_ticks()))
CLOCK(counter_ordered, sb_clock_convert(&c->scale, sb_clock_ticks_ordered()))
CLOCK(kernel, sb_clock_kernel_ns())
CLOCK(used, sb_clock_ns())

static const char *check_clock(struct sb_micro *m, uint64_t operations)
{
	const struct clocks *c = m->state;

	return c->in_order == operations ? NULL : "the clock has gone back";
}

/* ---- histogram ---- */

struct recording {
	struct sb_hist hist;
	struct sb_hist_counts counts;
	uint64_t sum;
};

static int set_up_hist(struct sb_micro *m)
{
	(void)m;
	return 0;
}

/* Values of all magnitudes that latencies have. */
static void run_record(struct sb_micro *m, uint32_t thread, uint64_t n)
{
	struct recording *r = m->state;
	uint64_t value = 1;

	(void)thread;
	while (n--) {
		sb_hist_record(&r->hist, value);
		r->sum += value;
		value = (value * 5 + 3) & 0xffffff;
	}
}

static const char *check_record(struct sb_micro *m, uint64_t operations)
{
	struct recording *r = m->state;

	sb_hist_read(&r->hist, &r->counts);
	return r->counts.count == operations && r->counts.sum == r->sum
		       ? NULL
		       : "the histogram does not hold what was recorded";
}

/* ---- the timing wheel ---- */

struct wheels {
	struct sb_wheel wheel;
	uint64_t now_ns; /* its time; no clock is read */
	uint64_t random;
	uint64_t right;
};

/* Timers are due within a second. */
#define SPAN_NS (1u << 30)

static uint64_t due_ns(struct wheels *w)
{
	w->random = w->random * UINT64_C(6364136223846793005) + 1442695041;
	return w->now_ns + 1 + (w->random >> 34) % SPAN_NS;
}

static bool start_one(struct wheels *w)
{
	struct sb_timer *timer = sb_wheel_take(&w->wheel);

	if (!timer)
		return false;
	timer->due_ns = due_ns(w);
	sb_wheel_start(&w->wheel, timer);
	return true;
}

static int set_up_wheel(struct sb_micro *m)
{
	struct wheels *w = m->state;

	sb_wheel_init(&w->wheel, NULL, 0);
	return 0;
}

static int set_up_full_wheel(struct sb_micro *m)
{
	(void)set_up_wheel(m);
	for (int64_t i = 0; i < m->arg; i++) {
		if (!start_one(m->state))
			return -ENOMEM;
	}
	return 0;
}

static void tear_down_wheel(struct sb_micro *m)
{
	sb_wheel_fini(&((struct wheels *)m->state)->wheel);
}

/* A time-out that is not needed: started and stopped among so many others. */
static void run_add_stop(struct sb_micro *m, uint32_t thread, uint64_t n)
{
	struct wheels *w = m->state;

	(void)thread;
	while (n--) {
		struct sb_timer *timer = sb_wheel_take(&w->wheel);

		if (!timer)
			continue;
		timer->due_ns = due_ns(w);
		sb_wheel_start(&w->wheel, timer);
		w->right += w->wheel.pending == (uint64_t)m->arg + 1;
		sb_wheel_release(&w->wheel, timer);
	}
}

static const char *check_add_stop(struct sb_micro *m, uint64_t operations)
{
	const struct wheels *w = m->state;

	if (w->wheel.pending != (uint64_t)m->arg)
		return "the wheel does not hold the timers that were there";
	return w->right == operations ? NULL : "a timer was not started";
}

/* Fires so many timers, the wheel's time going from one to the next. */
static uint64_t fire(struct wheels *w, uint64_t wanted)
{
	uint64_t in_time = 0;

	while (wanted) {
		struct sb_timer *timer = sb_wheel_pop(&w->wheel);
		uint64_t next;

		if (timer) {
			in_time += timer->due_ns <= w->now_ns;
			sb_wheel_release(&w->wheel, timer);
			wanted--;
			continue;
		}
		next = sb_wheel_next_ns(&w->wheel);
		if (next == SB_WHEEL_NEVER)
			break;
		w->now_ns = sb_max_u64(w->now_ns, next);
		sb_wheel_advance(&w->wheel, w->now_ns);
	}
	return in_time;
}

static void run_add_expire(struct sb_micro *m, uint32_t thread, uint64_t n)
{
	struct wheels *w = m->state;

	(void)thread;
	while (n) {
		const uint64_t wave = sb_min_u64(n, (uint64_t)m->arg);

		for (uint64_t i = 0; i < wave; i++)
			(void)start_one(w);
		w->right += fire(w, wave);
		sb_wheel_chunks_free(sb_wheel_take_surplus(&w->wheel));
		n -= wave;
	}
}

static const char *check_add_expire(struct sb_micro *m, uint64_t operations)
{
	const struct wheels *w = m->state;

	if (w->wheel.pending)
		return "timers are left that should have fired";
	return w->right == operations ? NULL : "a timer fired early, or not at all";
}

#define CLOCK_KIND(id, ...)                                                                        \
	{                                                                                          \
		.state_bytes = sizeof(struct clocks), .set_up = set_up_clock,                      \
		.check = check_clock, .run = run_##id, __VA_ARGS__                                 \
	}

const struct sb_micro_kind sb_micro_time[] = {
#if defined(__x86_64__) || defined(__aarch64__)
	CLOCK_KIND(counter, .name = "clock/" SB_CLOCK_COUNTER,
		   .doc = "the processor's counter, in nanoseconds"),
	CLOCK_KIND(counter_ordered, .name = "clock/" SB_CLOCK_COUNTER "_ordered",
		   .doc = "the same after everything before it"),
#endif
	CLOCK_KIND(kernel, .name = "clock/kernel", .doc = "CLOCK_MONOTONIC",
		   .uncounted = "valgrind replaces the kernel's clock"),
	CLOCK_KIND(used, .name = "clock/used", .doc = "the one of these two that a run uses here",
		   .uncounted = "which one it is depends on the machine"),
	{ .name = "histogram/record",
	  .doc = "a value counted",
	  .state_bytes = sizeof(struct recording),
	  .set_up = set_up_hist,
	  .run = run_record,
	  .check = check_record },
	{ .name = "wheel/add_stop",
	  .doc = "a timer started and stopped among so many",
	  .arg_name = "timers",
	  .arg = { 1, 1024, 65536 },
	  .fit = SB_MICRO_FIT_1,
	  .state_bytes = sizeof(struct wheels),
	  .set_up = set_up_full_wheel,
	  .run = run_add_stop,
	  .check = check_add_stop,
	  .tear_down = tear_down_wheel },
	{ .name = "wheel/add_expire",
	  .doc = "so many timers started and fired; per timer",
	  .arg_name = "timers",
	  .arg = { 1, 1024, 65536 },
	  .fit = SB_MICRO_FIT_1,
	  .state_bytes = sizeof(struct wheels),
	  .set_up = set_up_wheel,
	  .run = run_add_expire,
	  .check = check_add_expire,
	  .tear_down = tear_down_wheel },
	{ .name = NULL },
};
