/*
 * relation.pml - a monitor against the end of the process it watches, as in
 * core/process/relations.c: the watcher monitors, and then may take that back, or end
 * itself, while the watched process ends. The relation is in the list of each
 * side (`his`, `hers`); each list has its lock.
 *
 * Property: a monitor that was accepted leads to exactly one of: the exit event,
 * an unmonitor that succeeded, or the watcher's own end. One that was refused
 * leads to none. At the end it is in no list, and was freed exactly once.
 *
 * The read-modify-write of the adder on the state word and the exchange of the
 * process that ends are atomic steps; so is every store and load besides.
 *
 * Mistakes, each of which must be found:
 *   LOOK_FIRST   the adder looks at the state before it pushes
 *   LEAVE_IT     the adder that is refused leaves it in the lists
 *   NO_RECHECK   the process that ends takes out what it saw before it had both
 *                locks, whether or not it is still there
 */
bit complete = 0;               /* the watched process's word */
bit his = 0, hers = 0;          /* in the watched one's list, in the watcher's */
bit lock_his = 0, lock_hers = 0;
bit accepted = 0, refused = 0;
byte taken = 0, events = 0, freed = 0;

#define acquire(l) atomic { l == 0 -> l = 1 }
#define release(l) l = 0

/* When both have ended; declared first, because they end before it. */
active proctype judge() {
	_nr_pr == 1;
	assert(!accepted || events + taken == 1);
	assert(!refused || events == 0);
	assert(!his && !hers && freed == 1)
}

active proctype watcher() {
	bit dead = 0, had = 0;

	/* sb_relation_add */
	acquire(lock_his); acquire(lock_hers);
#ifdef LOOK_FIRST
	dead = complete;
	hers = 1; his = 1;
#else
	hers = 1; his = 1;
	dead = complete;        /* the read-modify-write */
#endif
#ifndef LEAVE_IT
	if
	:: dead -> hers = 0; his = 0
	:: else
	fi;
#endif
	release(lock_hers); release(lock_his);
	if
	:: dead -> freed++; refused = 1; goto out
	:: else -> accepted = 1
	fi;
	/* It waits for the event; or it takes the monitor back, or ends: in both
	 * cases under both locks. */
	if
	:: goto out
	:: skip
	fi;
	acquire(lock_his); acquire(lock_hers);
	had = hers;
	if
	:: had -> hers = 0; his = 0
	:: else
	fi;
	release(lock_hers); release(lock_his);
	if
	:: had -> freed++; taken++
	:: else
	fi;
out:
	skip
}

active proctype watched() {
	bit saw = 0, still = 0;

	complete = 1;           /* the exchange */
	if
	:: his ->               /* read without the lock */
		acquire(lock_his);
		saw = his;
		release(lock_his);
		if
		:: saw ->
			acquire(lock_his);
			acquire(lock_hers);
			still = his;
#ifdef NO_RECHECK
			still = 1;
#endif
			if
			:: still -> hers = 0; his = 0
			:: else
			fi;
			release(lock_hers);
			release(lock_his);
			if
			:: still -> events++; freed++
			:: else
			fi
		:: else
		fi
	:: else
	fi
}
