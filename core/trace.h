/*
 * trace.h - what a worker did and when: a ring of its newest events.
 *
 * For looking at a run, not for measuring it: an event costs a look at the clock
 * and 32 bytes written, so a step costs two of each. The traced events are chosen
 * before the start, so a step that is not traced costs no instruction more: it
 * asks whether it is watched in any case (call_step() in step.c). Only where a
 * worker takes a batch, steals, parks or wakes it asks whether there is a ring.
 *
 * Bounded: the ring has room for so many events, and when it is full the oldest
 * go. The newest are kept, not the oldest, because a run's beginning is the part
 * that is like no other; and a worker keeps what itself did last, however fast
 * others fill theirs, so one that sleeps reaches back further.
 *
 * What goes on: a worker is at one of four things, and each event of theirs ends
 * the one before, so there are no gaps:
 *
 *	BUSY    has something to run: steps and what is between them
 *	SEARCH  looks for work, spins, steals
 *	PARK    asleep, or not let go yet
 *	REST    has left its loop
 *
 * In BUSY, STEP and STEP_END come in turn. All others are moments. A look at an
 * empty deque is no event: a worker without work would push everything else out
 * of its ring with them, and the matrix of steals counts them.
 *
 * Flight recorder: if an event of a kind takes longer than a bound, all rings end soon after it.
 * Then they have what was before it, and a little of what came after, and not the run's end.
 *
 * Times are sb_clock_ns of the worker's CPU; within a ring each is later than the
 * one before, by a nanosecond if the clock says the same or has gone back. So
 * what follows each other cannot be taken for what contains each other.
 *
 * Roles: the owner writes, with plain stores. It reads who has synchronized with
 * the end of the worker's thread: after sb_scheduler_stop, before the next
 * start. There is nothing to race with, and nothing here is atomic. Threads that
 * are not workers have no ring: what they submit is seen where it is taken.
 */
#ifndef SB_CORE_TRACE_H
#define SB_CORE_TRACE_H

#include "core/platform/atomic.h"
#include "core/platform/base.h"
#include "core/platform/clock.h"

struct sb_arena;

enum sb_trace_kind {
	/* Its activity from now on. */
	SB_TRACE_BUSY,
	SB_TRACE_SEARCH, /* value: the wake that has ended its sleep, or 0 */
	SB_TRACE_PARK,
	SB_TRACE_REST,

	SB_TRACE_STEP,	   /* value: the process; name: of its operations; other:
			    * messages that it gets, if the trace has sends */
	SB_TRACE_STEP_END, /* value: the process; other: enum sb_status, or
			    * -errno */

	SB_TRACE_STEAL,	 /* other: the victim; value: items of its deques */
	SB_TRACE_LOST,	 /* other: the victim, to whose deque it lost a race */
	SB_TRACE_REMOTE, /* other: the victim; value: items of its inject queue */
	SB_TRACE_INJECT, /* value: items of the own inject queue */
	SB_TRACE_GLOBAL, /* value: items of the global queue */
	SB_TRACE_WAKE,	 /* other: who is woken; value: the wake */
	SB_TRACE_TICK,

	/* If the trace has sends; of the step that goes on, when it is done. other: how
	 * long it took, ns. */
	SB_TRACE_SEND,	/* value: the process that it sends to */
	SB_TRACE_SPAWN, /* value: the process that it spawns */

	/* Of no ring: what is added to a trace that is collected. value: the exemplar of the
	 * kind `other`; SLOW_SENT: it gets an arrow from its SENT. */
	SB_TRACE_SENT,
	SB_TRACE_SLOW,
	SB_TRACE_SLOW_SENT,
	SB_TRACE_KINDS
};

struct sb_trace_event {
	uint64_t at_ns;
	uint64_t value;
	const char *name; /* must outlive the trace; NULL: none */
	int32_t other;
	uint32_t kind; /* enum sb_trace_kind */
};

static_assert(sizeof(struct sb_trace_event) == 32, "as the header says");

/* One worker's. All zero: it does not trace. */
struct sb_trace {
	struct sb_trace_event *event; /* [room]; NULL: none is kept */
	uint32_t room;
	uint32_t next;		   /* where the next event goes */
	uint64_t written;	   /* events, ever */
	uint64_t last_ns;	   /* of the newest */
	uint64_t late;		   /* events after the end */
	bool has_sends;		   /* and spawns; then steps hold no messages */
	_Atomic(uint64_t) *end_ns; /* of all workers' traces; NULL: they have none */
};

/* Forgets all events, and makes room for so many from now on; 0: it does not
 * trace. Returns 0, or -ENOMEM, and then it does not. */
SB_MUST_CHECK int sb_trace_init(struct sb_trace *trace, uint32_t events, struct sb_arena *arena);
void sb_trace_fini(struct sb_trace *trace);

static inline bool sb_trace_is_on(const struct sb_trace *trace)
{
	return SB_UNLIKELY(trace->event != NULL);
}

/* ---- by the owner, if it is on ---- */

/* Adds an event; the time in it is filled in. */
static inline void sb_trace_put(struct sb_trace *trace, struct sb_trace_event event)
{
	event.at_ns = sb_max_u64(sb_clock_ns(), trace->last_ns + 1);
	if (trace->end_ns && event.at_ns > sb_load_rlx(trace->end_ns)) {
		trace->late++;
		return;
	}
	trace->last_ns = event.at_ns;
	trace->event[trace->next] = event;
	trace->written++;
	if (++trace->next == trace->room)
		trace->next = 0;
}

/* ---- by the owner; nothing, if it is off ---- */

/* Out of the way of those who do not trace. */
SB_COLD void sb_trace_put_cold(struct sb_trace *trace, enum sb_trace_kind kind, uint32_t other,
			       uint64_t value);

/* Any event but those of steps. */
static inline void sb_trace_note(struct sb_trace *trace, enum sb_trace_kind kind, uint32_t other,
				 uint64_t value)
{
	if (sb_trace_is_on(trace))
		sb_trace_put_cold(trace, kind, other, value);
}

/* SEND or SPAWN, which has just been done. */
static inline void sb_trace_put_act(struct sb_trace *trace, enum sb_trace_kind kind,
				    uint64_t start_ns, uint64_t process)
{
	sb_trace_put_cold(trace, kind, (uint32_t)sb_min_u64(sb_clock_ns() - start_ns, INT32_MAX),
			  process);
}

/* ---- by those who may read ---- */

/* How many events there are, and how many there are not: they went to make room, or came after
 * the end. */
static inline uint32_t sb_trace_kept(const struct sb_trace *trace)
{
	return (uint32_t)sb_min_u64(trace->written, trace->room);
}

static inline uint64_t sb_trace_dropped(const struct sb_trace *trace)
{
	return trace->written - sb_trace_kept(trace) + trace->late;
}

/* The i-th of those kept, oldest first. */
const struct sb_trace_event *sb_trace_at(const struct sb_trace *trace, uint32_t i);

#endif
