/*
 * The timing wheel against a plain list of what is pending.
 *
 * Property: no timer is early; after a drain none that is due is left; they come
 *   in the order of their ticks; next_ns is never later than the first of them,
 *   and leads to it in few steps; one advance moves a bounded number; ids are
 *   told from earlier ones; memory follows the number of timers, and not every
 *   start and end allocates.
 * Method: random starts (delays of every magnitude, past and for ever), stops and
 *   advances (steps of every magnitude) with a model that looks at all timers;
 *   and large populations in one far slot.
 * Bound: 900 timers at once in the model, 300,000 in a slot.
 */
#include "tests/modules/wheel.h"

static uint64_t tick_of(uint64_t ns)
{
	return ns >> SB_WHEEL_TICK_BITS;
}

/* The tick in which a timer fires, worked out in another way than the wheel's:
 * the first that is not before it, or the last of all. */
static uint64_t due_tick(uint64_t due_ns)
{
	const uint64_t length = UINT64_C(1) << SB_WHEEL_TICK_BITS;
	const uint64_t whole = due_ns - due_ns % length;

	if (due_ns == whole || whole + length < whole)
		return tick_of(whole);
	return tick_of(whole + length);
}

static bool is_due(const struct sb_wheel *wheel, uint64_t now_ns)
{
	const uint64_t next = sb_wheel_next_ns(wheel);

	return next != SB_WHEEL_NEVER && next <= now_ns;
}

/* Uniform in its magnitude: from 0 to below 2^bits. */
static uint64_t any_magnitude(struct sb_rng *rng, uint32_t bits)
{
	const uint32_t n = sb_rng_below(rng, bits + 1);

	return n ? sb_rng_next(rng) >> (64 - n) : 0;
}

/* ---- against the model ---- */

#define POPULATION 900

struct entry {
	struct sb_timer *timer;
	uint64_t due_ns;
	uint64_t order; /* its tick, or that of its start if that was later */
};

struct model {
	struct sb_wheel wheel;
	struct entry entry[POPULATION];
	uint32_t pending;
	uint32_t given_up; /* chunks */
	uint64_t now_ns;
	uint64_t last_order; /* of the timer that was popped last */
	struct sb_rng rng;
};

static uint64_t first_due_tick(const struct model *m)
{
	uint64_t first = UINT64_MAX;

	for (uint32_t i = 0; i < m->pending; i++)
		first = sb_min_u64(first, due_tick(m->entry[i].due_ns));
	return first;
}

static uint64_t any_due(struct model *m)
{
	const uint32_t kind = sb_rng_below(&m->rng, 16);
	const uint64_t ns = any_magnitude(&m->rng, 46); /* 20 hours */

	if (kind == 0)
		return UINT64_MAX;
	if (kind == 1)
		return UINT64_MAX - any_magnitude(&m->rng, 64);
	if (kind == 2)
		return m->now_ns - sb_min_u64(m->now_ns, ns);
	return ns > UINT64_MAX - m->now_ns ? UINT64_MAX : m->now_ns + ns;
}

static void model_start(struct model *m)
{
	struct entry *e = &m->entry[m->pending];

	if (m->pending == POPULATION)
		return;
	e->timer = sb_wheel_take(&m->wheel);
	assert_non_null(e->timer);
	e->due_ns = any_due(m);
	e->order = sb_max_u64(due_tick(e->due_ns), m->wheel.elapsed);
	e->timer->due_ns = e->due_ns;
	e->timer->pid = 1;
	e->timer->tag = m->pending;
	m->pending++;
	sb_wheel_start(&m->wheel, e->timer);
}

/* The last entry takes the place of entry i. */
static void model_forget(struct model *m, uint64_t i)
{
	m->entry[i] = m->entry[--m->pending];
	m->entry[i].timer->tag = i;
}

static void model_stop(struct model *m)
{
	uint32_t i;

	if (!m->pending)
		return;
	i = sb_rng_below(&m->rng, m->pending);
	sb_wheel_release(&m->wheel, m->entry[i].timer);
	model_forget(m, i);
}

static bool model_pop(struct model *m)
{
	struct sb_timer *timer = sb_wheel_pop(&m->wheel);
	struct entry *e;

	if (!timer)
		return false;
	assert_uint_in_range(timer->tag, 0, m->pending - 1);
	e = &m->entry[timer->tag];
	assert_ptr_equal(e->timer, timer);
	CHECK_EQ(timer->due_ns, e->due_ns);
	assert_uint_in_range(due_tick(e->due_ns), 0, tick_of(m->now_ns));
	assert_uint_in_range(m->last_order, 0, e->order);
	m->last_order = e->order;
	model_forget(m, timer->tag);
	sb_wheel_release(&m->wheel, timer);
	return true;
}

static void check_next(const struct model *m)
{
	const uint64_t next = sb_wheel_next_ns(&m->wheel);

	CHECK_EQ(m->wheel.pending, m->pending);
	if (!m->pending)
		CHECK_EQ(next, SB_WHEEL_NEVER);
	else
		assert_uint_in_range(next, 0, first_due_tick(m) << SB_WHEEL_TICK_BITS);
}

static void model_drain(struct model *m)
{
	do {
		sb_wheel_advance(&m->wheel, m->now_ns);
		while (model_pop(m))
			;
		check_next(m);
	} while (is_due(&m->wheel, m->now_ns));
	if (m->pending)
		assert_uint_in_range(first_due_tick(m), tick_of(m->now_ns) + 1, UINT64_MAX);
}

/* Time goes on, by however much; or to when the wheel says. */
static void pass_time(struct model *m)
{
	const uint64_t next = sb_wheel_next_ns(&m->wheel);
	const uint64_t step = any_magnitude(&m->rng, 44);

	if (sb_rng_below(&m->rng, 4) == 0 && next != SB_WHEEL_NEVER)
		m->now_ns = sb_max_u64(m->now_ns, next);
	else if (step < UINT64_MAX - m->now_ns)
		m->now_ns += step;
}

/* A peak, or its end. */
static void crowd_or_clear(struct model *m)
{
	if (sb_rng_below(&m->rng, 2)) {
		while (m->pending < POPULATION)
			model_start(m);
	} else {
		while (m->pending > POPULATION / 16)
			model_stop(m);
	}
}

static void model_step(struct model *m)
{
	if (sb_rng_below(&m->rng, 256) == 0)
		crowd_or_clear(m);
	switch (sb_rng_below(&m->rng, 8)) {
	case 0:
		model_stop(m);
		break;
	case 1:
		pass_time(m);
		model_drain(m);
		break;
	case 2: /* some of the work */
		pass_time(m);
		sb_wheel_advance(&m->wheel, m->now_ns);
		for (uint32_t n = sb_rng_below(&m->rng, 8); n; n--)
			(void)model_pop(m);
		break;
	default:
		model_start(m);
		break;
	}
	m->given_up += free_surplus(&m->wheel);
	check_next(m);
}

static void matches_a_list(void **state)
{
	static struct model m;
	uint64_t given_up = 0;

	(void)state;
	for (uint32_t round = 0; round < 12; round++) {
		memset(&m, 0, sizeof(m));
		sb_rng_seed(&m.rng, sb_test_seed() + round);
		m.now_ns = any_magnitude(&m.rng, 62);
		sb_wheel_init(&m.wheel, SB_HEAP, m.now_ns);
		check_next(&m);
		for (int i = 0; i < SB_SCALE(48000); i++)
			model_step(&m);
		m.now_ns = UINT64_MAX; /* everything is due */
		model_drain(&m);
		CHECK_EQ(m.pending, 0);
		given_up += m.given_up;
		sb_wheel_fini(&m.wheel);
	}
	assert_true(given_up > 0); /* a peak and its end, in one round at least */
}

/* ---- one timer ---- */

/* Whoever sleeps until next_ns, again and again, wakes at most once for each
 * level; and then it is not early, and at most one tick late. */
static void next_leads_to_the_timer(void **state)
{
	struct sb_rng rng;

	(void)state;
	sb_rng_seed(&rng, sb_test_seed());
	for (int i = 0; i < SB_SCALE(20000); i++) {
		uint64_t now = any_magnitude(&rng, 62);
		const uint64_t due = now + any_magnitude(&rng, 62);
		struct sb_timer *timer, *popped;
		struct sb_wheel wheel;
		uint32_t looks = 0;

		sb_wheel_init(&wheel, SB_HEAP, now);
		timer = sb_wheel_take(&wheel);
		timer->due_ns = due;
		sb_wheel_start(&wheel, timer);
		while (!(popped = sb_wheel_pop(&wheel))) {
			now = sb_max_u64(now, sb_wheel_next_ns(&wheel));
			sb_wheel_advance(&wheel, now);
			assert_uint_in_range(++looks, 0, SB_WHEEL_LEVELS);
		}
		assert_ptr_equal(popped, timer);
		assert_uint_in_range(now, due, due + (1 << SB_WHEEL_TICK_BITS) - 1);
		CHECK_EQ(sb_wheel_next_ns(&wheel), SB_WHEEL_NEVER);
		sb_wheel_fini(&wheel);
	}
}

/* ---- many timers ---- */

/* The wheel's advances until time is `now`, each of bounded work. */
static uint64_t drain_bounded(struct sb_wheel *wheel, uint64_t now, uint64_t *popped)
{
	uint64_t advances = 0;
	uint64_t last = 0;

	do {
		struct sb_timer *timer;
		uint32_t n = 0;

		sb_wheel_advance(wheel, now);
		advances++;
		while ((timer = sb_wheel_pop(wheel))) {
			assert_uint_in_range(due_tick(timer->due_ns), last, tick_of(now));
			last = due_tick(timer->due_ns);
			sb_wheel_release(wheel, timer);
			n++;
		}
		assert_uint_in_range(n, 0, SB_WHEEL_WORK);
		*popped += n;
	} while (is_due(wheel, now));
	return advances;
}

/* One far slot that holds them all; it is opened, and all fall through three
 * levels, before the first is due. */
static void a_crowded_slot_is_moved_in_parts(void **state)
{
	const uint32_t many = SB_SCALE(300000);
	/* Level 3, slot 1; within it they are spread over the lower levels. */
	const uint64_t slot_ns = UINT64_C(1) << (18 + SB_WHEEL_TICK_BITS);
	struct sb_wheel wheel;
	struct sb_rng rng;
	uint64_t popped = 0;
	uint64_t advances;

	(void)state;
	sb_rng_seed(&rng, sb_test_seed());
	sb_wheel_init(&wheel, SB_HEAP, 0);
	for (uint32_t i = 0; i < many; i++) {
		struct sb_timer *timer = sb_wheel_take(&wheel);

		assert_non_null(timer);
		timer->due_ns = slot_ns + sb_rng_next(&rng) % (slot_ns - 1024);
		timer->pid = 1 + i;
		sb_wheel_start(&wheel, timer);
	}
	CHECK_EQ(wheel.pending, many);
	CHECK_EQ(sb_wheel_next_ns(&wheel), slot_ns);
	sb_wheel_advance(&wheel, slot_ns - 1);
	CHECK_EQ(sb_wheel_next_ns(&wheel), slot_ns);
	assert_null(sb_wheel_pop(&wheel));
	/* The slot's first tick: opened, with most of it still to be moved. */
	sb_wheel_advance(&wheel, slot_ns);
	CHECK_EQ(sb_wheel_next_ns(&wheel), 0);
	assert_true(wheel.moving.next != &wheel.moving);
	advances = drain_bounded(&wheel, 2 * slot_ns, &popped);
	CHECK_EQ(popped, many);
	CHECK_EQ(wheel.pending, 0);
	/* Each is moved once or more. */
	assert_uint_in_range(advances, many / SB_WHEEL_WORK,
			     SB_WHEEL_LEVELS * (many / SB_WHEEL_WORK + 1));
	sb_wheel_fini(&wheel);
}

/* All in one tick; while they are moved, some are stopped and others started. */
static void a_slot_under_way_can_be_changed(void **state)
{
	enum { MANY = 4000 };
	static struct sb_timer *timer[MANY];
	const uint64_t due = UINT64_C(5) << 40;
	struct sb_wheel wheel;
	struct sb_timer *late, *one;
	uint64_t fired = 0;

	(void)state;
	sb_wheel_init(&wheel, SB_HEAP, 0);
	for (uint32_t i = 0; i < MANY; i++) {
		timer[i] = sb_wheel_take(&wheel);
		timer[i]->due_ns = due;
		sb_wheel_start(&wheel, timer[i]);
	}
	sb_wheel_advance(&wheel, due);
	for (uint32_t i = 0; i < MANY; i += 2)
		sb_wheel_release(&wheel, timer[i]);
	late = sb_wheel_take(&wheel);
	late->due_ns = due + (UINT64_C(1) << 30);
	sb_wheel_start(&wheel, late);
	do {
		sb_wheel_advance(&wheel, due);
		while ((one = sb_wheel_pop(&wheel))) {
			CHECK_EQ(one->due_ns, due);
			sb_wheel_release(&wheel, one);
			fired++;
		}
	} while (is_due(&wheel, due));
	CHECK_EQ(fired, MANY / 2);
	CHECK_EQ(wheel.pending, 1);
	sb_wheel_advance(&wheel, late->due_ns - 1);
	assert_null(sb_wheel_pop(&wheel));
	drain_bounded(&wheel, late->due_ns, &fired);
	CHECK_EQ(wheel.pending, 0);
	sb_wheel_fini(&wheel);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(matches_a_list),
		cmocka_unit_test(next_leads_to_the_timer),
		cmocka_unit_test(a_crowded_slot_is_moved_in_parts),
		cmocka_unit_test(a_slot_under_way_can_be_changed),
	};

	return cmocka_run_group_tests_name("wheel", tests, NULL, NULL);
}
