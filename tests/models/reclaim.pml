/*
 * reclaim.pml - grace periods of one scheduler, as in core/memory/reclaim.c: when an object
 * that has left the map can be freed.
 *
 * A worker stores the period it has seen at its quiescent states, and OFFLINE while it
 * is parked. Any other thread counts itself inside on one of two sides. The reclaimer
 * takes what has been retired, begins a period, and waits for the workers and, twice,
 * for the other side to be empty.
 *
 * Properties: no object is used after it has been freed (assertion). All retired
 * objects are freed at last, and nobody waits for ever (invalid end state).
 *
 * Bounds: WORKERS workers and FOREIGN other threads of SECTIONS sections each, at any
 * time; the map has one object at a time, of OBJECTS, and each is retired at any time.
 *
 * Abstracted: sequentially consistent; a fence that is missing is the load behind it
 * done before the store in front of it (the NO_FENCE mistakes). A retired object is in
 * a set that is taken as a whole.
 *
 * Mistakes, each of which must be found:
 *   ONE_FLIP          the reclaimer waits for one side only
 *   NO_FENCE_FOREIGN  another thread reads the map before it counts itself
 *   NO_FENCE_WORKER   a worker that comes back reads it before it stores its period
 *   NO_FENCE_RECLAIM  the reclaimer looks at the workers before it takes the retired
 *   FREE_EARLY        it does not wait for the workers
 *   BUMP_EARLY        it begins the period before it takes the retired
 *   PARK_INSIDE       a worker parks with an object that it still uses
 */
#ifndef WORKERS
#define WORKERS 1
#endif
#ifndef FOREIGN
#define FOREIGN 2
#endif
#ifndef SECTIONS
#define SECTIONS 1
#endif
#ifndef OBJECTS
#define OBJECTS 2
#endif
#define OFFLINE 255

byte map = 1; /* an object, or 0 */
byte retired; /* objects, one bit each */
bit  freed[OBJECTS + 1];

byte period = 1;
byte seen[WORKERS] = OFFLINE;
bit  side;
byte inside[2];

inline look_up() {
	object = map
}

inline use() {
	atomic { assert(!freed[object]); object = 0 }
}

/* ---- readers ---- */

proctype foreign() {
	byte n, object;
	bit i;

	do
	:: n < SECTIONS ->
		n++;
		i = side;
#ifdef NO_FENCE_FOREIGN
		look_up();
		inside[i]++;
#else
		inside[i]++;
		look_up();
#endif
		use();
		inside[i]--
	:: else -> break
	od;
	atomic { n = 0; i = 0 }
}

/* A worker's section lasts from one to the next. */
inline quiescent() {
	n = period;
	atomic { seen[me] = n; n = 0 }
}

inline park() {
	seen[me] = OFFLINE;
#ifdef PARK_INSIDE
	use();
#endif
#ifdef NO_FENCE_WORKER
	n = period;
	look_up();
	atomic { seen[me] = n; n = 0 }
#else
	quiescent();
	look_up()
#endif
}

proctype worker(byte me) {
	byte n, object;

	quiescent();
	do
	:: look_up();
		if
#ifdef PARK_INSIDE
		:: park()
#endif
		:: use()
		fi;
		quiescent()
	:: park(); use(); quiescent()
	:: break
	od;
	seen[me] = OFFLINE
}

/* ---- reclamation ---- */

proctype retirer() {
	byte object;

	do
	:: map ->
		atomic { object = map; map = (object < OBJECTS -> object + 1 : 0) };
		atomic { retired = retired | (1 << object); object = 0 }
	:: else -> break
	od
}

inline take_retired() {
	atomic { retired -> taken = retired; retired = 0 }
}

inline seen_by_workers(wanted) {
	do
	:: k < WORKERS -> seen[k] >= wanted; k++
	:: else -> k = 0; break
	od
}

inline wait_foreign() {
	side = 1 - side;
	inside[1 - side] == 0
}

inline free_taken() {
	atomic {
		do
		:: k < OBJECTS ->
			k++;
			if
			:: taken & (1 << k) -> assert(!freed[k]); freed[k] = 1; count++
			:: else
			fi
		:: else -> k = 0; taken = 0; break
		od
	}
}

proctype reclaimer() {
	byte k, taken, count;

	do
	:: count < OBJECTS ->
#ifdef BUMP_EARLY
		period++;
		take_retired();
#else
#ifdef NO_FENCE_RECLAIM
		seen_by_workers(period + 1);
#endif
		take_retired();
		period++;
#endif
#if !defined FREE_EARLY && !defined NO_FENCE_RECLAIM
		seen_by_workers(period);
#endif
		wait_foreign();
#ifndef ONE_FLIP
		wait_foreign();
#endif
		free_taken()
	:: else -> break
	od
}

init {
	byte n;

	atomic {
		do :: n < FOREIGN -> run foreign(); n++ :: else -> break od;
		n = 0;
		do :: n < WORKERS -> run worker(n); n++ :: else -> break od;
		run retirer();
		run reclaimer()
	}
}
