/*
 * relation.pml - a monitor against the end of the process it watches, as in
 * core/relations.c: the watcher monitors, and then may take that back, while the
 * watched process ends. Each list has its lock; an entry in the watched one's
 * list is `theirs`, its twin in the watcher's list is `mine`.
 *
 * Property: a monitor that was accepted leads to exactly one of: the exit event,
 * or an unmonitor that succeeded. One that was refused leads to no event. No
 * entry is left in a list of a process that has ended.
 *
 * The read-modify-write of the adder on the state word and the exchange of the
 * process that ends are atomic steps; so is every store and load besides.
 *
 * Mistakes, each of which must be found:
 *   LOOK_FIRST  the adder looks at the state before it pushes its entry
 *   LEAVE_ENTRY the adder that is refused leaves its entry in the list
 *   NO_TWIN     the process that ends sends without taking the twin
 *   UNMONITOR_ANYWAY  unmonitor succeeds whether or not it took its entry
 */
bit complete = 0;               /* the watched process's word */
bit theirs = 0, mine = 0;       /* entries */
bit lock_theirs = 0, lock_mine = 0;
bit accepted = 0, refused = 0, taken_back = 0;
byte events = 0;

#define acquire(l) atomic { l == 0 -> l = 1 }
#define release(l) l = 0

/* When both have ended; declared first, because they end before it. */
active proctype judge() {
	_nr_pr == 1;
	assert(!accepted || events + taken_back == 1);
	assert(!refused || events == 0);
	assert(!theirs)
}

active proctype watcher() {
	bit dead = 0, had = 0;

	/* sb_relation_add */
	acquire(lock_mine); mine = 1; release(lock_mine);
	acquire(lock_theirs);
#ifdef LOOK_FIRST
	dead = complete;
	theirs = 1;
#else
	theirs = 1;
	dead = complete;        /* the read-modify-write */
#endif
	if
	:: dead ->
#ifndef LEAVE_ENTRY
		theirs = 0
#else
		skip
#endif
	:: else
	fi;
	release(lock_theirs);
	if
	:: dead ->
		acquire(lock_mine); mine = 0; release(lock_mine);
		refused = 1;
		goto out
	:: else ->
		accepted = 1
	fi;

	/* Whether it takes it back or not. */
	if
	:: skip ->
		/* sb_relation_remove */
		acquire(lock_mine); had = mine; mine = 0; release(lock_mine);
		if
#ifdef UNMONITOR_ANYWAY
		:: true ->
#else
		:: had ->
#endif
			taken_back = 1;
			acquire(lock_theirs); theirs = 0; release(lock_theirs)
#ifndef UNMONITOR_ANYWAY
		:: else
#endif
		fi
	:: skip
	fi;
out:
	skip
}

active proctype watched() {
	bit entry = 0, twin = 0;

	complete = 1;           /* the exchange */
	if
	:: theirs ->            /* read without the lock */
		acquire(lock_theirs);
		entry = theirs; theirs = 0;
		release(lock_theirs);
		if
		:: entry ->
			acquire(lock_mine);
			twin = mine; mine = 0;
			release(lock_mine);
			if
#ifdef NO_TWIN
			:: true -> events++
#else
			:: twin -> events++
			:: else
#endif
			fi
		:: else
		fi
	:: else
	fi
}
