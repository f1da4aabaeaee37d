/*
 * reclaim.pml - grace periods of one scheduler, as in core/memory/reclaim.c: when an object
 * that has left the map can be freed, and who sees to it.
 *
 * A worker stores the period it has seen at its quiescent states, and OFFLINE while it
 * is parked. Any other thread counts itself inside on one of two sides. Whoever has the role
 * drives: it takes what has been retired, begins a period, and frees it once the workers have
 * seen the period, and each side has been empty once. A driver never waits. Workers drive at
 * quiescent states or when they park, and the helper drives while it is awake.
 *
 * Properties: no object is used after it has been freed (assertion). All retired objects are
 * freed at last, although the helper sleeps (assertion of the watchdog), and nobody else waits for
 * ever (invalid end state).
 *
 * Bounds: WORKERS workers and FOREIGN other threads of SECTIONS sections each, at any
 * time; the map has one object at a time, of OBJECTS, and each is retired by a worker at any
 * time, or by another thread at its end.
 *
 * Abstracted: sequentially consistent; a fence that is missing is the load behind it
 * done before the store in front of it (the NO_FENCE mistakes). A retired object is in
 * a set that is taken as a whole. The helper sleeps whenever it may, and never rests for a time.
 *
 * Mistakes, each of which must be found:
 *   ONE_FLIP          a driver waits for one side only
 *   NO_FENCE_FOREIGN  another thread reads the map before it counts itself
 *   NO_FENCE_WORKER   a worker that comes back reads it before it stores its period
 *   NO_FENCE_DRIVER   a driver looks at the workers before it takes the retired
 *   FREE_EARLY        it does not wait for the workers
 *   BUMP_EARLY        it begins the period before it takes the retired
 *   PARK_INSIDE       a worker parks with an object that it still uses
 *   NO_ROLE           two may drive at a time
 *   OWN_EARLY         a worker drives with an object that it still uses
 *   NO_CHECK          a worker parks and does not look whether something is pending
 *   SLEEP_BLIND       the helper looks at what is pending before it says that it sleeps
 *   DEFER_NO_WAKE     a thread that is no worker retires, and wakes nobody
 */
#ifndef WORKERS
#define WORKERS 1
#endif
#ifndef FOREIGN
#define FOREIGN 1
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

bit  role;
byte stage, taken; /* the driver's: 0 nothing taken; 1, 2 waits for a side; 3 for workers */
bit  sleeps, token;

#define PENDING (stage || retired)

inline look_up() {
	object = map
}

inline use() {
	atomic { assert(!freed[object]); object = 0 }
}

inline retire() {
	atomic { map -> r = map; map = (map < OBJECTS -> map + 1 : 0) };
	atomic { retired = retired | (1 << r); r = 0 }
}

/* ---- driving ---- */

inline lagging() {
	atomic {
		k = 0; late = 0;
		do
		:: k < WORKERS ->
			if :: seen[k] < wanted -> late = 1 :: else fi;
			k++
		:: else -> k = 0; break
		od
	}
}

inline side_is_done(i) {
	if
	:: inside[i] == 0 -> late = 0
	:: else ->
		if :: side == i -> side = 1 - i :: else fi;
		late = (inside[i] != 0)
	fi
}

inline free_taken() {
	atomic {
		k = 0;
		do
		:: k < OBJECTS ->
			k++;
			if :: taken & (1 << k) -> assert(!freed[k]); freed[k] = 1 :: else fi
		:: else -> k = 0; taken = 0; break
		od
	}
}

/* own: the driver's own worker, or WORKERS. */
inline begin_period(own) {
#ifdef BUMP_EARLY
	period++;
	atomic { taken = taken | retired; retired = 0 };
#else
#ifdef NO_FENCE_DRIVER
	atomic { wanted = period + 1; lagging() };
	early = 1 - late;
#endif
	atomic { taken = taken | retired; retired = 0 };
	period++;
#endif
	if :: own < WORKERS -> seen[own] = period :: else fi;
	stage = 1
}

inline drive(own) {
	if
#ifdef NO_ROLE
	:: true ->
#else
	:: atomic { !role -> role = 1 } ->
#endif
		do
		:: stage == 0 ->
			if :: retired -> begin_period(own) :: else -> break fi
		:: stage == 1 ->
			side_is_done(0);
			if :: !late -> stage = 2 :: else -> break fi
		:: stage == 2 ->
#ifdef ONE_FLIP
			stage = 3
#else
			side_is_done(1);
			if :: !late -> stage = 3 :: else -> break fi
#endif
		:: stage == 3 ->
#ifdef FREE_EARLY
			late = 0;
#else
			atomic { wanted = period; lagging(); wanted = 0 };
#endif
			if :: !late || early -> early = 0; atomic { stage = 0; free_taken() } :: else fi;
			break
		:: stage > 3 -> break
		od;
		late = 0; role = 0
	:: else
	fi
}

/* ---- readers ---- */

proctype foreign() {
	byte n, object, r;
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
	atomic { n = 0; i = 0 };
	if
	:: retire();
#ifndef DEFER_NO_WAKE
		if :: sleeps -> token = 1 :: else fi
#endif
	:: true
	fi
}

/* A worker's section lasts from one to the next. */
inline quiescent() {
	n = period;
	atomic { seen[me] = n; n = 0 }
}

inline finish_or_wake() {
	if
	:: sleeps && PENDING ->
		drive(WORKERS);
		if :: PENDING -> token = 1 :: else fi
	:: else
	fi
}

inline leave() {
	seen[me] = OFFLINE;
#ifndef NO_CHECK
	finish_or_wake()
#endif
}

inline park() {
	leave();
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
	byte n, object, r, k, wanted;
	bit late, early;

	quiescent();
	do
	:: look_up();
		if
#ifdef OWN_EARLY
		:: quiescent(); drive(me); use()
#endif
#ifdef PARK_INSIDE
		:: park()
#endif
		:: use()
		fi;
		if :: retire() :: true fi;
		quiescent();
		if :: drive(me) :: true fi
	:: park(); use(); quiescent()
	:: break
	od;
	leave()
}

/* ---- the helper ---- */

inline anyone() {
	atomic {
		k = 0; late = 0;
		do
		:: k < WORKERS ->
			if :: seen[k] != OFFLINE -> late = 1 :: else fi;
			k++
		:: else -> k = 0; break
		od
	}
}

/* Asleep it may stay for ever. */
proctype helper() {
	byte k, wanted;
	bit late, early;

	do
	:: drive(WORKERS);
#ifdef SLEEP_BLIND
		anyone();
		if :: PENDING -> late = 1 :: else fi;
		sleeps = 1;
#else
		sleeps = 1;
		anyone();
		if :: PENDING -> late = 1 :: else fi;
#endif
		if
		:: late -> late = 0
		:: else ->
end:			token
		fi;
		atomic { token = 0; sleeps = 0 }
	od
}

/* When all sleep: nothing is pending. */
proctype watchdog() {
	timeout -> assert(!PENDING)
}

init {
	byte n;

	atomic {
		do :: n < FOREIGN -> run foreign(); n++ :: else -> break od;
		n = 0;
		do :: n < WORKERS -> run worker(n); n++ :: else -> break od;
		run helper();
		run watchdog()
	}
}
