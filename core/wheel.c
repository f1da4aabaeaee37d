#include "core/wheel.h"

#include <string.h>

#include "core/mem.h"

#define CHUNK_BITS   8
#define CHUNK_TIMERS (1u << CHUNK_BITS)
#define TIMERS_MAX   (1u << 26)
#define IN_NO_SLOT   SB_WHEEL_LEVELS
#define DIGIT_MASK   (SB_WHEEL_SLOTS - 1)

/* ---- lists ---- */

static void list_init(struct sb_wheel_link *head)
{
	head->next = head->prev = head;
}

static bool list_empty(const struct sb_wheel_link *head)
{
	return head->next == head;
}

static void list_append(struct sb_wheel_link *head, struct sb_wheel_link *link)
{
	link->next = head;
	link->prev = head->prev;
	head->prev->next = link;
	head->prev = link;
}

static void list_remove(struct sb_wheel_link *link)
{
	link->prev->next = link->next;
	link->next->prev = link->prev;
}

/* Moves all of one list to an empty one. */
static void list_move(struct sb_wheel_link *from, struct sb_wheel_link *to)
{
	if (list_empty(from))
		return;
	*to = *from;
	to->next->prev = to->prev->next = to;
	list_init(from);
}

static struct sb_timer *timer_of(struct sb_wheel_link *link)
{
	return sb_container_of(link, struct sb_timer, link);
}

/* ---- time ---- */

/* Rounded up; the very last ticks of time are one, which has a slot. */
static uint64_t tick_up(uint64_t ns)
{
	const uint64_t last = UINT64_MAX >> SB_WHEEL_TICK_BITS;
	const uint64_t tick = ns >> SB_WHEEL_TICK_BITS;

	return tick == last ? last : tick + (ns != tick << SB_WHEEL_TICK_BITS);
}

static uint32_t digit(uint64_t tick, uint32_t level)
{
	return (uint32_t)(tick >> (level * SB_WHEEL_DIGIT)) & DIGIT_MASK;
}

/* The level of the highest digit in which two different ticks differ. */
static uint32_t level_of(uint64_t a, uint64_t b)
{
	return (63 - (uint32_t)__builtin_clzll(a ^ b)) / SB_WHEEL_DIGIT;
}

/* The first tick of a slot: higher digits as elapsed, lower ones 0. */
static uint64_t slot_start(const struct sb_wheel *wheel, uint32_t level,
			   uint32_t slot)
{
	const uint32_t shift = level * SB_WHEEL_DIGIT;
	const uint64_t above =
		(wheel->elapsed >> shift) & ~(uint64_t)DIGIT_MASK;

	return (above | slot) << shift;
}

/* The next slot in use; false: there is none. */
static bool next_slot(const struct sb_wheel *wheel, uint32_t *level,
		      uint32_t *slot)
{
	for (uint32_t l = 0; l < SB_WHEEL_LEVELS; l++) {
		if (!wheel->occupied[l])
			continue;
		*level = l;
		*slot = (uint32_t)__builtin_ctzll(wheel->occupied[l]);
		return true;
	}
	return false;
}

/* ---- timers ---- */

void sb_wheel_init(struct sb_wheel *wheel, struct sb_arena *arena,
		   uint64_t now_ns)
{
	memset(wheel, 0, sizeof(*wheel));
	wheel->elapsed = now_ns >> SB_WHEEL_TICK_BITS;
	wheel->arena = arena;
	for (uint32_t l = 0; l < SB_WHEEL_LEVELS; l++) {
		for (uint32_t s = 0; s < SB_WHEEL_SLOTS; s++)
			list_init(&wheel->slot[l][s]);
	}
	list_init(&wheel->due);
	list_init(&wheel->moving);
}

void sb_wheel_fini(struct sb_wheel *wheel)
{
	for (uint32_t i = 0; i < wheel->chunks; i++)
		sb_mem_free(wheel->chunk[i]);
	sb_mem_free(wheel->chunk);
	wheel->chunk = NULL;
	wheel->chunks = 0;
}

static bool is_power_of_two(uint32_t n)
{
	return (n & (n - 1)) == 0;
}

/* Doubles the table when its length, a power of two, is used up. */
static bool make_room(struct sb_wheel *wheel)
{
	const uint32_t room = wheel->chunks ? 2 * wheel->chunks : 1;
	struct sb_timer **larger;

	if (!is_power_of_two(wheel->chunks))
		return true;
	larger = sb_mem_alloc(wheel->arena, room * sizeof(*larger),
			      alignof(max_align_t));
	if (!larger)
		return false;
	if (wheel->chunks)
		memcpy(larger, wheel->chunk, wheel->chunks * sizeof(*larger));
	sb_mem_free(wheel->chunk);
	wheel->chunk = larger;
	return true;
}

static void add_chunk(struct sb_wheel *wheel)
{
	struct sb_timer *timers;

	if (wheel->chunks == TIMERS_MAX / CHUNK_TIMERS || !make_room(wheel))
		return;
	timers = sb_mem_zalloc(wheel->arena, CHUNK_TIMERS * sizeof(*timers),
			       SB_LINE);
	if (!timers)
		return;
	for (uint32_t i = CHUNK_TIMERS; i-- > 0;) {
		timers[i].index = wheel->chunks * CHUNK_TIMERS + i;
		timers[i].link.next = wheel->free;
		wheel->free = &timers[i].link;
	}
	wheel->chunk[wheel->chunks++] = timers;
}

struct sb_timer *sb_wheel_take(struct sb_wheel *wheel)
{
	struct sb_timer *timer;

	if (!wheel->free)
		add_chunk(wheel);
	if (!wheel->free)
		return NULL;
	timer = timer_of(wheel->free);
	wheel->free = timer->link.next;
	timer->generation++;
	timer->level = IN_NO_SLOT;
	list_init(&timer->link);
	wheel->pending++;
	return timer;
}

struct sb_timer *sb_wheel_find(const struct sb_wheel *wheel, uint32_t index)
{
	if (index / CHUNK_TIMERS >= wheel->chunks)
		return NULL;
	return &wheel->chunk[index / CHUNK_TIMERS][index % CHUNK_TIMERS];
}

void sb_wheel_start(struct sb_wheel *wheel, struct sb_timer *timer)
{
	const uint64_t tick = tick_up(timer->due_ns);
	struct sb_wheel_link *head = &wheel->due;

	timer->level = IN_NO_SLOT;
	if (tick > wheel->elapsed) {
		const uint32_t level = level_of(tick, wheel->elapsed);
		const uint32_t slot = digit(tick, level);

		timer->level = (uint8_t)level;
		timer->slot = (uint8_t)slot;
		wheel->occupied[level] |= UINT64_C(1) << slot;
		head = &wheel->slot[level][slot];
	}
	list_append(head, &timer->link);
}

/* Takes it off its list, if it is on one. */
static void detach(struct sb_wheel *wheel, struct sb_timer *timer)
{
	list_remove(&timer->link);
	list_init(&timer->link);
	if (timer->level < SB_WHEEL_LEVELS &&
	    list_empty(&wheel->slot[timer->level][timer->slot]))
		wheel->occupied[timer->level] &= ~(UINT64_C(1) << timer->slot);
	timer->level = IN_NO_SLOT;
}

void sb_wheel_release(struct sb_wheel *wheel, struct sb_timer *timer)
{
	detach(wheel, timer);
	timer->pid = 0;
	timer->link.next = wheel->free;
	wheel->free = &timer->link;
	wheel->pending--;
}

/* ---- advancing ---- */

/* Time has come to a slot: what it holds is due, or belongs further down. */
static void open_slot(struct sb_wheel *wheel, uint32_t level, uint32_t slot)
{
	list_move(&wheel->slot[level][slot], &wheel->moving);
	wheel->occupied[level] &= ~(UINT64_C(1) << slot);
}

void sb_wheel_advance(struct sb_wheel *wheel, uint64_t now_ns)
{
	const uint64_t now = now_ns >> SB_WHEEL_TICK_BITS;
	uint32_t work = SB_WHEEL_WORK;
	uint32_t level, slot;

	while (work) {
		if (!list_empty(&wheel->moving)) {
			struct sb_timer *timer = timer_of(wheel->moving.next);

			list_remove(&timer->link);
			sb_wheel_start(wheel, timer);
			work--;
			continue;
		}
		if (!next_slot(wheel, &level, &slot) ||
		    slot_start(wheel, level, slot) > now) {
			wheel->elapsed = sb_max_u64(wheel->elapsed, now);
			return;
		}
		wheel->elapsed = slot_start(wheel, level, slot);
		open_slot(wheel, level, slot);
	}
}

struct sb_timer *sb_wheel_pop(struct sb_wheel *wheel)
{
	struct sb_timer *timer;

	if (list_empty(&wheel->due))
		return NULL;
	timer = timer_of(wheel->due.next);
	detach(wheel, timer);
	return timer;
}

uint64_t sb_wheel_next_ns(const struct sb_wheel *wheel)
{
	uint32_t level, slot;

	if (!list_empty(&wheel->due) || !list_empty(&wheel->moving))
		return 0;
	if (!next_slot(wheel, &level, &slot))
		return SB_WHEEL_NEVER;
	return slot_start(wheel, level, slot) << SB_WHEEL_TICK_BITS;
}
