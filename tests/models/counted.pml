/*
 * counted.pml - the counted-pop deque of core/queue/deque_counted.h: sb_counted_push,
 * _pop, _steal, _grow and _size, with their memory orders (views.pml).
 *
 * Properties: every item is delivered exactly once, and what it points to is
 * visible to whom it is delivered; nobody delivers a slot that was not written;
 * a pop that finds nothing is right, however old the word that it read. With
 * SLEEPER, for a worker that announces its sleep, fences, and looks at the size:
 * either it sees what was pushed before, or the owner, which fences and looks
 * for sleepers after it has pushed, sees the announcement. The owner need not
 * look after a push that it takes back itself (run_again in core/process/step.c).
 *
 * Bounds: ITEMS pushes, in any order with pops; a ring of 2 slots that grows to
 * 4, once, and then refuses; THIEVES that look TRIES times and take half in one
 * CAS. With OLDEST the owner also takes its own oldest item, as often as it
 * likes.
 *
 * Abstracted: the counts do not wrap. The copy into a larger ring is one step
 * with its publication: nobody can find the ring before. There is no cap on a
 * steal. A weak CAS that fails without a reason only repeats the loop.
 *
 * Mistakes, each of which must be found:
 *   P1, T1, T2, G1 = RELAXED     the orders of these labels
 *   SIZE = RELAXED  sb_counted_size loads the word relaxed (with SLEEPER)
 *   POP = RELAXED   its partner: the CAS of pop is relaxed (with SLEEPER)
 *   RING_EARLY      the ring is loaded before the number of pushes
 *   LATE_READ       the slots are read after the CAS: what T3 or P2 relaxed
 *                   would allow, and this machine does not do by itself
 *   STALE_POPS      the CAS compares the head only: plain steal-half
 *   NO_LOOK         push reuses slots without looking at the head
 *   NO_FENCE_TELL, NO_FENCE_SLEEP      (with SLEEPER)
 */
#ifndef ITEMS
#define ITEMS 4
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
#define MEET 0
#define PUSHES 1
#define RING 2
#define SYNC 3
#define SLOT(ring, index) (SYNC + (ring) * SLOTS + (index) % (SLOTS + (ring) * SLOTS))
#define ASLEEP (SYNC + 3 * SLOTS)
#define LOCATIONS (SYNC + 3 * SLOTS + 2)
#define FIRST(l) ((l) * (ITEMS + 2))

#include "views.pml"

/* The word: { pops | head } */
#define meet_of(pops, head) ((pops) * 16 + (head))
#define pops_of(meet) ((meet) / 16)
#define head_of(meet) ((meet) % 16)

/* Orders, by their labels in the code. */
#ifndef P1
#define P1 RELEASE
#endif
#ifndef T1
#define T1 ACQUIRE
#endif
#ifndef T2
#define T2 ACQUIRE
#endif
#ifndef T3
#define T3 ACQ_REL
#endif
#ifndef P2
#define P2 ACQUIRE
#endif
#ifndef G1
#define G1 RELEASE
#endif
#ifndef POP
#define POP ACQ_REL
#endif
#ifndef SIZE
#define SIZE ACQUIRE
#endif

short delivered; /* a bit for each item */
byte  ended;
bit   slept, told;

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

/* One CAS for what is between head and head + n. */
inline claim(me) {
#ifdef STALE_POPS
	atomic {
		if
		:: head_of(newest(MEET)) == head_of(meet) -> meet = newest(MEET)
		:: else
		fi;
		cas(me, MEET, meet, meet + n, T3, done)
	}
#else
	cas(me, MEET, meet, meet + n, T3, done)
#endif
}

inline read_slots(me) {
	i = 0;
	do
	:: i < n ->
		atomic {
			load(me, SLOT(ring, head + i), x, RELAXED);
			got = got * 8 + x; x = 0; i++
		}
	:: else -> break
	od
}

inline steal(me, half) {
	load(me, MEET, meet, RELAXED);
#ifdef RING_EARLY
	load(me, RING, ring, T2);
#endif
	atomic {
		load(me, PUSHES, x, T1);
		head = head_of(meet);
		n = 0;
		if
		:: x > pops_of(meet) + head ->
			n = x - pops_of(meet) - head;
			n = (half -> n - n / 2 : 1)
		:: else -> meet = 0; head = 0
		fi;
		x = 0
	};
	if
	:: n > 0 ->
#ifndef RING_EARLY
		load(me, RING, ring, T2);
#endif
#ifdef LATE_READ
		claim(me);
		if :: done -> read_slots(me) :: else fi;
#else
		read_slots(me);
#endif
		atomic {
#ifndef LATE_READ
			claim(me);
#endif
			do
			:: done && n > 0 -> deliver(me, got % 8); got = got / 8; n--
			:: else -> break
			od;
			meet = 0; head = 0; ring = 0; n = 0; i = 0; got = 0; done = 0
		}
	:: else
	fi
}

proctype thief(byte me) {
	byte message, tries, meet, head, ring, n, i, x;
	short got;
	bit done;

	do
	:: tries < TRIES -> steal(me, true); tries++
	:: else -> break
	od;
	end(me)
}

inline grow() {
	d_step {
		i = own_head;
		do
		:: i < tail ->
			put(OWNER, SLOT(1, i), newest(SLOT(0, i)), RELAXED); i++
		:: else -> break
		od;
		own_ring = 1; i = 0;
		put(OWNER, RING, 1, G1)
	}
}

#ifdef NO_LOOK
#define occupied false
#else
#define occupied (tail - own_head >= SLOTS + own_ring * SLOTS)
#endif

inline push() {
	tail = own_pushes - own_pops;
	if
	:: occupied ->
		atomic {
			load(OWNER, MEET, meet, P2);
			own_head = head_of(meet); meet = 0
		};
		if :: occupied && own_ring == 0 -> grow() :: else fi
	:: else
	fi;
	if
	:: !occupied ->
		d_step {
			own_pushes++;
			store_contents(OWNER);
			put(OWNER, SLOT(own_ring, tail), own_pushes, RELAXED)
		};
		store(OWNER, PUSHES, own_pushes, P1)
	:: else
	fi;
	tail = 0
}

inline pop() {
	load(OWNER, MEET, meet, RELAXED);
	tail = own_pushes - own_pops;
	do
	:: !done && head_of(meet) != tail ->
		atomic {
			cas(OWNER, MEET, meet, meet + meet_of(1, 0), POP, done);
			if
			:: done ->
				own_pops++;
				deliver(OWNER, newest(SLOT(own_ring, tail - 1)))
			:: else
			fi
		}
	:: else -> break
	od;
	atomic {
		none = !done;
		assert(done || head_of(newest(MEET)) == tail);
		tail = 0; meet = 0; done = 0
	}
}

/* What sb_counted_size() promises to a worker that is about to sleep. */
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
	byte message, meet, x;

	store(me, ASLEEP, 1, RELAXED);
#ifndef NO_FENCE_SLEEP
	fence(me);
#endif
	load(me, MEET, meet, SIZE);
	atomic {
		load(me, PUSHES, x, RELAXED);
		slept = (x <= pops_of(meet) + head_of(meet));
		x = 0; meet = 0
	};
	end(me)
}

proctype owner() {
	byte message, own_pushes, own_pops, own_head, own_ring, tail, meet, i;
	byte head, ring, n, x, untold;
	short got;
	bit done, none;

	do
	:: own_pushes < ITEMS -> push();
#ifdef SLEEPER
		untold++
	:: untold -> tell()
	:: !untold -> break
#endif
	:: pop();
		if
		:: none && own_pushes == ITEMS -> break
		:: else ->
			untold = (none || !untold -> 0 : untold - 1); none = 0
		fi
#ifdef OLDEST
	:: steal(OWNER, false)
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
