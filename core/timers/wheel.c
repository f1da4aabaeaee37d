#include "core/timers/wheel.h"

#include <string.h>

#include "core/memory/arena.h"

/* The largest of jemalloc's small size classes: to larger blocks it adds a page. */
#define CHUNK_BYTES  14336
#define CHUNK_BITS   8 /* of an index */
#define CHUNK_TIMERS ((uint32_t)(CHUNK_BYTES / sizeof(struct sb_timer)) - 1)
#define PLACES_MAX   (1u << (26 - CHUNK_BITS))
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

/* In front of another link; of a list's head: at its end. */
static void list_insert(struct sb_wheel_link *before, struct sb_wheel_link *link)
{
	link->next = before;
	link->prev = before->prev;
	before->prev->next = link;
	before->prev = link;
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
static uint64_t slot_start(const struct sb_wheel *wheel, uint32_t level, uint32_t slot)
{
	const uint32_t shift = level * SB_WHEEL_DIGIT;
	const uint64_t above = (wheel->elapsed >> shift) & ~(uint64_t)DIGIT_MASK;

	return (above | slot) << shift;
}

/* The next slot in use; false: there is none. */
static bool next_slot(const struct sb_wheel *wheel, uint32_t *level, uint32_t *slot)
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

/* ---- chunks ---- */

struct sb_wheel_chunk {
	struct sb_wheel_link link; /* in usable, if one is */
	struct sb_wheel_link *free;
	uint32_t free_timers;
	uint32_t place;
	struct sb_wheel_chunk *next_surplus;
	alignas(SB_FETCHED) struct sb_timer timer[CHUNK_TIMERS];
};

static_assert(sizeof(struct sb_wheel_chunk) == CHUNK_BYTES, "no byte is lost");
static_assert(CHUNK_TIMERS <= 1 << CHUNK_BITS, "each has an index");

static struct sb_wheel_chunk *chunk_of(struct sb_wheel_link *link)
{
	return sb_container_of(link, struct sb_wheel_chunk, link);
}

static bool wholly_free(const struct sb_wheel_chunk *chunk)
{
	return chunk->free_timers == CHUNK_TIMERS;
}

struct sb_wheel_chunk *sb_wheel_chunk_create(struct sb_arena *arena)
{
	struct sb_wheel_chunk *chunk = sb_mem_zalloc(arena, sizeof(*chunk), SB_LINE);

	if (!chunk)
		return NULL;
	for (uint32_t i = CHUNK_TIMERS; i-- > 0;) {
		chunk->timer[i].link.next = chunk->free;
		chunk->free = &chunk->timer[i].link;
	}
	chunk->free_timers = CHUNK_TIMERS;
	return chunk;
}

void sb_wheel_chunks_free(struct sb_wheel_chunk *surplus)
{
	while (surplus) {
		struct sb_wheel_chunk *chunk = surplus;

		surplus = chunk->next_surplus;
		sb_mem_free(chunk);
	}
}

struct sb_wheel_chunk *sb_wheel_take_surplus(struct sb_wheel *wheel)
{
	struct sb_wheel_chunk *surplus = wheel->surplus;

	wheel->surplus = NULL;
	return surplus;
}

static void put_to_surplus(struct sb_wheel *wheel, struct sb_wheel_chunk *chunk)
{
	chunk->next_surplus = wheel->surplus;
	wheel->surplus = chunk;
}

/* Doubles the table; at most 18 times in a wheel's life. */
static bool add_places(struct sb_wheel *wheel)
{
	const uint32_t places = wheel->places ? 2 * wheel->places : 1;
	struct sb_wheel_chunk **larger;

	if (places > PLACES_MAX)
		return false;
	larger = sb_mem_zalloc(wheel->arena, places * sizeof(*larger), alignof(max_align_t));
	if (!larger)
		return false;
	if (wheel->places)
		memcpy(larger, wheel->chunk, wheel->places * sizeof(*larger));
	sb_mem_free(wheel->chunk);
	wheel->chunk = larger;
	wheel->places = places;
	return true;
}

/* Returns false when there is no memory for one. */
static bool find_vacant(struct sb_wheel *wheel)
{
	while (wheel->first_vacant < wheel->places && wheel->chunk[wheel->first_vacant])
		wheel->first_vacant++;
	return wheel->first_vacant < wheel->places || add_places(wheel);
}

void sb_wheel_add(struct sb_wheel *wheel, struct sb_wheel_chunk *chunk)
{
	if (!chunk)
		return;
	if (!find_vacant(wheel)) {
		put_to_surplus(wheel, chunk);
		return;
	}
	chunk->place = wheel->first_vacant++;
	wheel->chunk[chunk->place] = chunk;
	wheel->chunks++;
	list_insert(&wheel->usable, &chunk->link);
}

/* The last usable chunk, if it is wholly free and not needed; see wheel.h. */
static void give_up_one(struct sb_wheel *wheel)
{
	const uint32_t timers = wheel->chunks * CHUNK_TIMERS;
	const uint32_t free = timers - wheel->pending;
	struct sb_wheel_chunk *last = chunk_of(wheel->usable.prev);

	if (free <= timers / 2 || free < 2 * CHUNK_TIMERS || !wholly_free(last))
		return;
	list_remove(&last->link);
	wheel->chunk[last->place] = NULL;
	if (last->place < wheel->first_vacant)
		wheel->first_vacant = last->place;
	wheel->chunks--;
	put_to_surplus(wheel, last);
}

/* ---- timers ---- */

void sb_wheel_init(struct sb_wheel *wheel, struct sb_arena *arena, uint64_t now_ns)
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
	list_init(&wheel->usable);
}

void sb_wheel_fini(struct sb_wheel *wheel)
{
	for (uint32_t i = 0; i < wheel->places; i++)
		sb_mem_free(wheel->chunk[i]);
	sb_mem_free(wheel->chunk);
	sb_wheel_chunks_free(sb_wheel_take_surplus(wheel));
	wheel->chunk = NULL;
	wheel->places = 0;
}

struct sb_timer *sb_wheel_take_free(struct sb_wheel *wheel)
{
	struct sb_wheel_chunk *chunk;
	struct sb_timer *timer;

	if (list_empty(&wheel->usable))
		return NULL;
	chunk = chunk_of(wheel->usable.next);
	timer = timer_of(chunk->free);
	chunk->free = timer->link.next;
	if (!--chunk->free_timers)
		list_remove(&chunk->link);
	timer->index = chunk->place << CHUNK_BITS | (uint32_t)(timer - chunk->timer);
	timer->generation = ++wheel->uses;
	timer->level = IN_NO_SLOT;
	list_init(&timer->link);
	wheel->pending++;
	return timer;
}

struct sb_timer *sb_wheel_take(struct sb_wheel *wheel)
{
	if (list_empty(&wheel->usable))
		sb_wheel_add(wheel, sb_wheel_chunk_create(wheel->arena));
	return sb_wheel_take_free(wheel);
}

/* Chunks of which only a part is free come first, so the others may become free
 * as a whole. */
static void put_back(struct sb_wheel *wheel, struct sb_timer *timer)
{
	struct sb_wheel_chunk *chunk = wheel->chunk[timer->index >> CHUNK_BITS];

	timer->link.next = chunk->free;
	chunk->free = &timer->link;
	if (++chunk->free_timers == 1) {
		list_insert(wheel->usable.next, &chunk->link);
	} else if (wholly_free(chunk)) {
		list_remove(&chunk->link);
		list_insert(&wheel->usable, &chunk->link);
	}
}

struct sb_timer *sb_wheel_find(const struct sb_wheel *wheel, uint32_t index)
{
	const uint32_t place = index >> CHUNK_BITS;
	const uint32_t i = index % (1 << CHUNK_BITS);

	if (place >= wheel->places || !wheel->chunk[place] || i >= CHUNK_TIMERS)
		return NULL;
	return &wheel->chunk[place]->timer[i];
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
	list_insert(head, &timer->link);
}

/* Takes it off its list, if it is on one. */
static void detach(struct sb_wheel *wheel, struct sb_timer *timer)
{
	list_remove(&timer->link);
	list_init(&timer->link);
	if (timer->level < SB_WHEEL_LEVELS && list_empty(&wheel->slot[timer->level][timer->slot]))
		wheel->occupied[timer->level] &= ~(UINT64_C(1) << timer->slot);
	timer->level = IN_NO_SLOT;
}

void sb_wheel_release(struct sb_wheel *wheel, struct sb_timer *timer)
{
	detach(wheel, timer);
	timer->pid = 0;
	put_back(wheel, timer);
	wheel->pending--;
	give_up_one(wheel);
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
		if (!next_slot(wheel, &level, &slot) || slot_start(wheel, level, slot) > now) {
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
