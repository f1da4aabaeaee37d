/*
 * wheel.h - a hierarchical timing wheel: many pending timers at a cost that does
 * not depend on how many there are.
 *
 * Roles: one owner at a time; core/timers/timers.c holds a lock around all of it.
 *
 * Time is counted in ticks of 1024 ns. Level l has 64 slots of 64^l ticks each;
 * with nine levels every 64-bit time has its slot. A timer lies at the level of
 * the highest base-64 digit in which its due tick differs from `elapsed`, in
 * the slot of that digit. So all timers of a level are due before those of the
 * next one, and within a level a higher slot is later: the next slot is the
 * lowest bit of the lowest level that has one.
 *
 * When time reaches a slot of a higher level, its timers move to lower ones,
 * each at most eight times in its life. A slot may hold a million, so they are
 * moved SB_WHEEL_WORK at a time, and time does not advance past the slot until
 * all have been: no caller is held up for longer than that.
 *
 * A timer never fires early: due ticks are rounded up.
 *
 * Timers lie in chunks. When more than half of all timers are free, chunks that
 * are wholly free are given up, one for each timer that ends; always one more
 * chunk's worth of free timers stays, so that a wheel allocates at most once for
 * as many starts or ends as there are timers in a chunk. Nothing here frees a
 * chunk while timers come and go: that is the caller's, without its lock.
 *
 * Source: Varghese and Lauck, "Hashed and hierarchical timing wheels", SOSP
 * 1987, scheme 7; levels chosen by digit as in Tokio's timer wheel.
 */
#ifndef SB_CORE_TIMERS_WHEEL_H
#define SB_CORE_TIMERS_WHEEL_H

#include "core/platform/base.h"

#define SB_WHEEL_TICK_BITS 10 /* 1024 ns */
#define SB_WHEEL_DIGIT	   6
#define SB_WHEEL_SLOTS	   (1 << SB_WHEEL_DIGIT)
#define SB_WHEEL_LEVELS	   9
#define SB_WHEEL_WORK	   64

static_assert(SB_WHEEL_LEVELS * SB_WHEEL_DIGIT + SB_WHEEL_TICK_BITS >= 64, "every time has a slot");

#define SB_WHEEL_NEVER UINT64_MAX

struct sb_wheel_link {
	struct sb_wheel_link *next;
	struct sb_wheel_link *prev;
};

struct sb_timer {
	struct sb_wheel_link link; /* in a slot; free: link.next only */
	uint64_t due_ns;
	uint64_t period_ns; /* 0: it fires once */
	uint64_t pid;	    /* whose it is; 0: nobody's, or it is free */
	uint64_t start_ns;  /* of that process: a chosen PID may be another's later */
	uint64_t tag;
	uint64_t missed;     /* periods that have passed while a tick is queued */
	uint32_t index;	     /* see sb_wheel_find */
	uint32_t generation; /* the wheel's count of uses when it was taken */
	uint8_t type;	     /* enum sb_event_type of what it sends */
	uint8_t level;	     /* SB_WHEEL_LEVELS: in no slot */
	uint8_t slot;
	bool is_queued; /* of a ticker: its process has not got the last tick yet */
};

struct sb_arena;
struct sb_wheel_chunk;

struct sb_wheel {
	uint64_t elapsed;		    /* ticks that have been seen to */
	uint64_t occupied[SB_WHEEL_LEVELS]; /* a bit for each slot in use */
	struct sb_wheel_link slot[SB_WHEEL_LEVELS][SB_WHEEL_SLOTS];
	struct sb_wheel_link due;    /* to fire */
	struct sb_wheel_link moving; /* from a slot to lower levels */
	uint32_t pending;	     /* taken, and not released */

	/* The timers, in chunks that never move. A chunk's place in the table
	 * may be another one's later; no generation is given out twice. */
	struct sb_wheel_chunk **chunk; /* [places]; NULL: vacant */
	uint32_t places;
	uint32_t first_vacant; /* all places before it are in use */
	uint32_t chunks;
	uint32_t uses;
	struct sb_wheel_link usable;	/* chunks with a free timer; last those
				      * that are wholly free */
	struct sb_wheel_chunk *surplus; /* given up, not yet freed */
	struct sb_arena *arena;
};

/* An empty wheel; its time is now. Allocates nothing. arena: see core/memory/arena.h. */
void sb_wheel_init(struct sb_wheel *wheel, struct sb_arena *arena, uint64_t now_ns);

/* Frees all timers, pending or not. */
void sb_wheel_fini(struct sb_wheel *wheel);

/* A timer that is in no slot yet, for the caller to fill in; NULL: no memory,
 * or 58 million timers are in use. */
struct sb_timer *sb_wheel_take(struct sb_wheel *wheel);

/*
 * The same in parts, for a caller that does not allocate under its lock. The first
 * returns NULL if no timer is free; then a chunk, which is made without the lock,
 * is added. NULL may be added; a chunk for which there is no place is surplus.
 */
struct sb_timer *sb_wheel_take_free(struct sb_wheel *wheel);
struct sb_wheel_chunk *sb_wheel_chunk_create(struct sb_arena *arena);
void sb_wheel_add(struct sb_wheel *wheel, struct sb_wheel_chunk *chunk);

/* Takes the chunks that the wheel has given up; the second frees them, without
 * the lock. NULL: there are none. */
struct sb_wheel_chunk *sb_wheel_take_surplus(struct sb_wheel *wheel);
void sb_wheel_chunks_free(struct sb_wheel_chunk *surplus);

/* Starts a timer that is in no slot; due_ns may be past. */
void sb_wheel_start(struct sb_wheel *wheel, struct sb_timer *timer);

/* Ends a timer, in a slot or not; it is free, and its memory may be surplus. */
void sb_wheel_release(struct sb_wheel *wheel, struct sb_timer *timer);

/* The timer of an index, free or not; NULL: none has it. Any index is allowed; a
 * timer's pid and generation tell whether it still is the one that was meant. */
struct sb_timer *sb_wheel_find(const struct sb_wheel *wheel, uint32_t index);

/* Brings the wheel's time forward, by a bounded amount of work. */
void sb_wheel_advance(struct sb_wheel *wheel, uint64_t now_ns);

/* One timer that is due, now in no slot; NULL: none, until the next advance. */
struct sb_timer *sb_wheel_pop(struct sb_wheel *wheel);

/* When to advance next: not later than the first timer is due; 0: at once;
 * SB_WHEEL_NEVER: nothing is pending. */
uint64_t sb_wheel_next_ns(const struct sb_wheel *wheel);

#endif
