/*
 * chase_lev.pml - the Chase-Lev deque of core/queue/deque_chase_lev.h:
 * sb_chase_lev_push, _pop, _steal_one, _grow and _size, with their memory orders
 * and fences (views.pml).
 *
 * Properties: as in counted.pml.
 *
 * Bounds: ITEMS pushes, in any order with pops; a ring of 2 slots that grows to
 * 4, once, and then refuses; THIEVES that try to take one item TRIES times. With
 * OLDEST the owner also takes its own oldest item, as often as it likes.
 *
 * Abstracted: as in counted.pml. The CAS on top is taken to be acquire and
 * release only, and the fence to order atomic loads and stores only; the code's
 * are stronger.
 *
 * Mistakes, each of which must be found:
 *   NO_FENCE_POP, NO_FENCE_STEAL   F1, F2
 *   P1, T1, T2, G1 = RELAXED       the orders of these labels
 *   P1_POP = RELAXED   the same for the store by which pop lowers bottom
 *   LATE_READ          the slot is read after the CAS: what C2 or P2 relaxed
 *                      would allow, and this machine does not do by itself
 *   STEAL_HALF         half of the items in one CAS
 *   NO_FENCE_TELL, NO_FENCE_SLEEP  (with SLEEPER)
 *
 * No property here needs these orders, which may be relaxed: P1_RESTORE (of the
 * store by which pop puts bottom back), STEAL_TOP (of the thief's load of top)
 * and SIZE (of the load of top in sb_chase_lev_size).
 */
#ifndef ITEMS
#define ITEMS 3
#endif
#ifndef THIEVES
#define THIEVES 1
#endif
#ifndef TRIES
#define TRIES 2
#endif

#define SLOTS 2 /* of the first ring; the second has twice as many */

#define OWNER 0
#ifdef SLEEPER
#define THREADS (THIEVES + 2)
#else
#define THREADS (THIEVES + 1)
#endif

/* Locations */
#define TOP 0
#define RING 1
#define BOTTOM 2
#define SYNC 3
#define SLOT(ring, index) (SYNC + (ring) * SLOTS + (index) % (SLOTS + (ring) * SLOTS))
#define ASLEEP (SYNC + 3 * SLOTS)
#define LOCATIONS (ASLEEP + 2)
#ifndef LENGTH
#define LENGTH (3 * ITEMS + 2)
#endif
#define FIRST(l) ((l) * LENGTH)

#include "views.pml"

/* Orders, by their labels in the code; P1 is three stores. */
#ifndef P1
#define P1 RELEASE
#endif
#ifndef P1_POP
#define P1_POP RELEASE
#endif
#ifndef P1_RESTORE
#define P1_RESTORE RELEASE
#endif
#ifndef T1
#define T1 ACQUIRE
#endif
#ifndef T2
#define T2 ACQUIRE
#endif
#ifndef P2
#define P2 ACQUIRE
#endif
#ifndef G1
#define G1 RELEASE
#endif
#ifndef CAS
#define CAS ACQ_REL
#endif
#ifndef STEAL_TOP
#define STEAL_TOP ACQUIRE
#endif
#ifndef SIZE
#define SIZE ACQUIRE
#endif

byte delivered; /* a bit for each item */
byte ended;
bit  slept, told;

inline deliver(me, item) {
	assert(item != 0);
	assert(!(delivered & (1 << item)));
	delivered = delivered | (1 << item);
	assert(seen[me].at[CONTENTS] >= item)
}

#define all_delivered (delivered == (2 << last[CONTENTS]) - 2)

inline end(me) {
	atomic {
		leave(me);
		ended++;
#ifdef SLEEPER
		assert(ended < THREADS || all_delivered || !slept || told)
#else
		assert(ended < THREADS || all_delivered)
#endif
	}
}

inline claim() {
	old = top;
	cas(me, TOP, old, top + n, CAS, done);
	old = 0
}

inline read_slots() {
	do
	:: i < n ->
		atomic {
			load(me, SLOT(ring, top + i), x, RELAXED);
			got = got * 8 + x; x = 0; i++
		}
	:: else -> i = 0; break
	od
}

inline steal() {
	load(me, TOP, top, STEAL_TOP);
#ifndef NO_FENCE_STEAL
	fence(me);
#endif
	atomic {
		load(me, BOTTOM, bottom, T1);
#ifdef STEAL_HALF
		n = (top < bottom -> bottom - top - (bottom - top) / 2 : 0);
#else
		n = (top < bottom -> 1 : 0);
#endif
		bottom = 0
	};
	if
	:: n > 0 ->
		load(me, RING, ring, T2);
#ifdef LATE_READ
		claim();
		if :: done -> read_slots() :: else fi;
#else
		read_slots();
#endif
		atomic {
#ifndef LATE_READ
			claim();
#endif
			do
			:: done && n > 0 -> deliver(me, got % 8); got = got / 8; n--
			:: else -> break
			od;
			ring = 0; n = 0; got = 0; done = 0
		}
	:: else
	fi;
	top = 0
}

proctype thief(byte me) {
	byte message, tries, top, old, bottom, ring, n, i, x, got;
	bit done;

	do
	:: tries < TRIES -> steal(); tries++
	:: else -> break
	od;
	end(me)
}

inline grow() {
	d_step {
		i = own_top;
		do
		:: i < bottom ->
			put(OWNER, SLOT(1, i), newest(SLOT(0, i)), RELAXED); i++
		:: else -> break
		od;
		own_ring = 1; i = 0;
		put(OWNER, RING, 1, G1)
	}
}

#define occupied (bottom - own_top >= SLOTS + own_ring * SLOTS)

inline push() {
	bottom = newest(BOTTOM);
	if
	:: occupied ->
		load(OWNER, TOP, own_top, P2);
		if :: occupied && own_ring == 0 -> grow() :: else fi
	:: else
	fi;
	if
	:: !occupied ->
		d_step {
			pushes++;
			store_contents(OWNER);
			put(OWNER, SLOT(own_ring, bottom), pushes, RELAXED)
		};
		store(OWNER, BOTTOM, bottom + 1, P1)
	:: else
	fi;
	bottom = 0
}

/* none: it was seen to be empty, not lost to a thief. */
inline pop() {
	atomic {
		bottom = newest(BOTTOM);
		load(OWNER, TOP, top, RELAXED)
	};
	if
	:: top >= bottom -> none = 1
	:: else ->
		store(OWNER, BOTTOM, bottom - 1, P1_POP);
#ifndef NO_FENCE_POP
		fence(OWNER);
#endif
		load(OWNER, TOP, top, RELAXED);
		if
		:: top < bottom - 1 ->
			atomic {
				deliver(OWNER, newest(SLOT(own_ring, bottom - 1)))
			}
		:: else ->
			if
			:: top == bottom - 1 ->
				atomic {
					cas(OWNER, TOP, top, top + 1, CAS, done);
					if
					:: done -> deliver(OWNER,
						newest(SLOT(own_ring, bottom - 1)))
					:: else
					fi;
					done = 0
				}
			:: else
			fi;
			store(OWNER, BOTTOM, bottom, P1_RESTORE)
		fi
	fi;
	top = 0; bottom = 0
}

/* What sb_chase_lev_size() promises to a worker that is about to sleep. */
inline tell() {
#ifndef NO_FENCE_TELL
	fence(OWNER);
#endif
	atomic {
		load(OWNER, ASLEEP, x, RELAXED);
		told = (told || x); x = 0; untold = 0
	}
}

proctype sleeper(byte me) {
	byte message, top, bottom;

	store(me, ASLEEP, 1, RELAXED);
#ifndef NO_FENCE_SLEEP
	fence(me);
#endif
	load(me, TOP, top, SIZE);
	atomic {
		load(me, BOTTOM, bottom, RELAXED);
		slept = (bottom <= top);
		top = 0; bottom = 0
	};
	end(me)
}

proctype owner() {
	byte message, pushes, own_top, own_ring, top, bottom, i;
	byte me = OWNER, old, ring, n, x, got, untold;
	bit done, none;

	do
	:: pushes < ITEMS -> push();
#ifdef SLEEPER
		untold++
	:: untold -> tell()
	:: !untold -> break
#endif
	:: pop();
		if
		:: none && pushes == ITEMS -> break
		:: else ->
			untold = (none || !untold -> 0 : untold - 1); none = 0
		fi
#ifdef OLDEST
	:: steal()
#endif
	od;
	end(OWNER)
}

init {
	byte me;

	atomic {
		run owner();
		me = 1;
		do
		:: me <= THIEVES -> run thief(me); me++
		:: else -> break
		od;
#ifdef SLEEPER
		run sleeper(me)
#endif
	}
}
