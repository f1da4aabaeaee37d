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
#include <string.h>

#include "core/memory/arena.h"
#include "core/timers/wheel.h"
#include "tests/test.h"

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

/* Frees what the wheel has given up. Returns whether there was any. */
static bool free_surplus(struct sb_wheel *wheel)
{
	struct sb_wheel_chunk *surplus = sb_wheel_take_surplus(wheel);

	sb_wheel_chunks_free(surplus);
	return surplus;
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
	assert_in_range(timer->tag, 0, m->pending - 1);
	e = &m->entry[timer->tag];
	assert_ptr_equal(e->timer, timer);
	CHECK_EQ(timer->due_ns, e->due_ns);
	assert_in_range(due_tick(e->due_ns), 0, tick_of(m->now_ns));
	assert_in_range(m->last_order, 0, e->order);
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
		assert_in_range(next, 0, first_due_tick(m) << SB_WHEEL_TICK_BITS);
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
		assert_in_range(first_due_tick(m), tick_of(m->now_ns) + 1, UINT64_MAX);
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
			assert_in_range(++looks, 0, SB_WHEEL_LEVELS);
		}
		assert_ptr_equal(popped, timer);
		assert_in_range(now, due, due + (1 << SB_WHEEL_TICK_BITS) - 1);
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
			assert_in_range(due_tick(timer->due_ns), last, tick_of(now));
			last = due_tick(timer->due_ns);
			sb_wheel_release(wheel, timer);
			n++;
		}
		assert_in_range(n, 0, SB_WHEEL_WORK);
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
	assert_in_range(advances, many / SB_WHEEL_WORK,
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

/* ---- memory and ids ---- */

static void a_timer_is_told_from_its_predecessor(void **state)
{
	struct sb_wheel wheel;
	struct sb_timer *first, *second;
	uint32_t index, generation;

	(void)state;
	sb_wheel_init(&wheel, SB_HEAP, 0);
	assert_null(sb_wheel_find(&wheel, 0));
	first = sb_wheel_take(&wheel);
	index = first->index;
	generation = first->generation;
	assert_ptr_equal(sb_wheel_find(&wheel, index), first);
	sb_wheel_release(&wheel, first);
	CHECK_EQ(first->pid, 0);
	second = sb_wheel_take(&wheel);
	CHECK_EQ(second->index, index);
	assert_int_not_equal(second->generation, generation);
	assert_null(sb_wheel_find(&wheel, 1 << 25));
	assert_null(sb_wheel_find(&wheel, UINT32_MAX));
	sb_wheel_fini(&wheel);
}

enum { MANY_TIMERS = 20000 };

static struct sb_timer *many_timer[MANY_TIMERS];

/* Takes and starts n timers from many_timer[first] on. */
static void start_many(struct sb_wheel *wheel, uint32_t first, uint32_t n)
{
	for (uint32_t i = first; i < first + n; i++) {
		struct sb_timer *timer = sb_wheel_take(wheel);

		assert_non_null(timer);
		timer->pid = 1;
		timer->due_ns = i * UINT64_C(977);
		sb_wheel_start(wheel, timer);
		many_timer[i] = timer;
	}
}

/* Every timer has its own index, which finds it, until it is free. */
static void indices_are_unique(void **state)
{
	const uint32_t many = SB_SCALE(MANY_TIMERS);
	struct sb_wheel wheel;

	(void)state;
	sb_wheel_init(&wheel, SB_HEAP, 0);
	start_many(&wheel, 0, many);
	for (uint32_t i = 0; i < many; i++) {
		assert_ptr_equal(sb_wheel_find(&wheel, many_timer[i]->index), many_timer[i]);
		assert_in_range(many_timer[i]->index, 0, (1 << 26) - 1);
	}
	for (uint32_t i = 0; i < many; i++)
		sb_wheel_release(&wheel, many_timer[i]);
	CHECK_EQ(sb_wheel_next_ns(&wheel), SB_WHEEL_NEVER);
	start_many(&wheel, 0, many / 2);
	sb_wheel_fini(&wheel); /* with many of them pending, others surplus */
}

/* Any number may come as an index. */
static void only_indices_find_a_timer(void **state)
{
	struct sb_wheel wheel;
	uint32_t found = 0;

	(void)state;
	sb_wheel_init(&wheel, SB_HEAP, 0);
	start_many(&wheel, 0, 1000);
	for (uint32_t i = 0; i < 1 << 16; i++) {
		const struct sb_timer *timer = sb_wheel_find(&wheel, i);

		if (!timer || !timer->pid)
			continue;
		CHECK_EQ(timer->index, i);
		found++;
	}
	CHECK_EQ(found, 1000);
	sb_wheel_fini(&wheel);
}

/* How many timers a chunk has: as many as can be taken before there is a second
 * one. */
static uint32_t timers_of_a_chunk(void)
{
	struct sb_wheel wheel;
	uint32_t n = 0;

	sb_wheel_init(&wheel, SB_HEAP, 0);
	for (;;) {
		assert_non_null(sb_wheel_take(&wheel));
		if (wheel.chunks == 2)
			break;
		n++;
	}
	sb_wheel_fini(&wheel);
	return n;
}

static void shuffle(struct sb_rng *rng, uint32_t n)
{
	for (uint32_t i = n - 1; i > 0; i--) {
		const uint32_t k = sb_rng_below(rng, i + 1);
		struct sb_timer *timer = many_timer[i];

		many_timer[i] = many_timer[k];
		many_timer[k] = timer;
	}
}

/* In whatever order they end, one chunk is left of each peak. */
static void a_peak_is_given_back(void **state)
{
	const uint32_t many = SB_SCALE(MANY_TIMERS);
	struct sb_wheel wheel;
	struct sb_rng rng;

	(void)state;
	sb_rng_seed(&rng, sb_test_seed());
	sb_wheel_init(&wheel, SB_HEAP, 0);
	for (int peak = 0; peak < 6; peak++) {
		const bool backwards = peak % 3 == 1;
		uint32_t chunks;

		start_many(&wheel, 0, many);
		chunks = wheel.chunks;
		if (peak % 3 == 2)
			shuffle(&rng, many);
		for (uint32_t i = 0; i < many; i++) {
			sb_wheel_release(&wheel, many_timer[backwards ? many - 1 - i : i]);
			chunks -= free_surplus(&wheel);
			CHECK_EQ(wheel.chunks, chunks);
		}
		CHECK_EQ(wheel.chunks, 1);
	}
	sb_wheel_fini(&wheel);
}

/* When they end in the order of their starts, what is kept is at most twice what
 * is in use, and two chunks. */
static void memory_follows_the_timers(void **state)
{
	const uint32_t many = SB_SCALE(MANY_TIMERS);
	const uint32_t per_chunk = timers_of_a_chunk();
	struct sb_wheel wheel;

	(void)state;
	sb_wheel_init(&wheel, SB_HEAP, 0);
	start_many(&wheel, 0, many);
	for (uint32_t i = 0; i < many; i++) {
		sb_wheel_release(&wheel, many_timer[i]);
		assert_in_range(wheel.chunks * per_chunk, 0, 2 * wheel.pending + 2 * per_chunk);
	}
	sb_wheel_fini(&wheel);
}

/* As many timers as a chunk has come and go, at any population: at most one chunk
 * is allocated, and then it is there. */
static void few_starts_and_ends_allocate(void **state)
{
	const uint32_t per_chunk = timers_of_a_chunk();

	(void)state;
	for (uint32_t population = 0; population < 3 * per_chunk; population++) {
		struct sb_wheel wheel;
		uint32_t before, after;

		sb_wheel_init(&wheel, SB_HEAP, 0);
		start_many(&wheel, 0, population);
		before = wheel.chunks;
		start_many(&wheel, population, per_chunk);
		after = wheel.chunks;
		assert_in_range(after, before, before + 1);
		for (int round = 0; round < 3; round++) {
			for (uint32_t i = 0; i < per_chunk; i++)
				sb_wheel_release(&wheel, many_timer[population + i]);
			start_many(&wheel, population, per_chunk);
			CHECK_EQ(wheel.chunks, after);
			assert_false(free_surplus(&wheel));
		}
		sb_wheel_fini(&wheel);
	}
}

/* The chunks of the first are gone, and others have their indices. */
static void stale_ids_are_told_after_a_rebirth(void **state)
{
	const uint32_t many = SB_SCALE(MANY_TIMERS);
	static uint32_t index[MANY_TIMERS], generation[MANY_TIMERS];
	uint32_t dead = 0, reborn = 0;
	struct sb_wheel wheel;

	(void)state;
	sb_wheel_init(&wheel, SB_HEAP, 0);
	start_many(&wheel, 0, many);
	for (uint32_t i = 0; i < many; i++) {
		index[i] = many_timer[i]->index;
		generation[i] = many_timer[i]->generation;
	}
	for (uint32_t i = 0; i < many; i++) {
		sb_wheel_release(&wheel, many_timer[i]);
		free_surplus(&wheel);
	}
	for (uint32_t i = 0; i < many; i++)
		dead += !sb_wheel_find(&wheel, index[i]);
	CHECK_EQ(dead, many - timers_of_a_chunk());
	start_many(&wheel, 0, many);
	for (uint32_t i = 0; i < many; i++) {
		const struct sb_timer *timer = sb_wheel_find(&wheel, index[i]);

		if (!timer)
			continue;
		reborn++;
		assert_int_not_equal(timer->generation, generation[i]);
	}
	CHECK_EQ(reborn, many);
	sb_wheel_fini(&wheel);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(matches_a_list),
		cmocka_unit_test(next_leads_to_the_timer),
		cmocka_unit_test(a_crowded_slot_is_moved_in_parts),
		cmocka_unit_test(a_slot_under_way_can_be_changed),
		cmocka_unit_test(a_timer_is_told_from_its_predecessor),
		cmocka_unit_test(indices_are_unique),
		cmocka_unit_test(only_indices_find_a_timer),
		cmocka_unit_test(a_peak_is_given_back),
		cmocka_unit_test(memory_follows_the_timers),
		cmocka_unit_test(few_starts_and_ends_allocate),
		cmocka_unit_test(stale_ids_are_told_after_a_rebirth),
	};

	return cmocka_run_group_tests_name("wheel", tests, NULL, NULL);
}
