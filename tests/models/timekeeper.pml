/*
 * timekeeper.pml - who wakes for a timer: core/timers/timers.c with the sleeping side
 * of core/timers/timekeeper.c and core/worker/. One worker starts a timer and goes into a step that never
 * ends; two others are without work.
 *
 * Property: the timer fires. A worker that parks without a deadline or until
 * too late, with nobody to wake it, is an invalid end state.
 *
 * Time is three deadlines: SOON (the timer's; whoever parks until then wakes),
 * LATER (that of another timer; never comes within the model) and NEVER. The
 * fences of the code are what makes each side's store visible before its load;
 * here every step is. The order of steps is the code's: sb_timers_start and
 * sb_timekeeper_tell; sb_idle_announce, sb_timekeeper_begin, sb_park, end.
 *
 * Mistakes, each of which must be found:
 *   NO_TELL    the starter tells nobody
 *   NO_SECOND  the timekeeper does not look at the wheels again after it has
 *              said until when it sleeps
 *   NO_PUBLISH the starter wakes nobody when nobody keeps the time
 *   NO_AGAIN   a timekeeper that is told parks again until what it had read
 */
#define SOON  1
#define LATER 2
#define NEVER 3
#define NOBODY 9

byte next_due = FIRST;  /* LATER or NEVER: what is pending before */
bit  needed = (FIRST == LATER);
byte who = NOBODY;
byte until = SOON;       /* from an earlier time */
byte sleeping = 0, searching = 0;
bit  asleep[2], token[2];
bit  fired = 0;

inline claim() {
	atomic {
		if
		:: searching == 0 && sleeping > 0 ->
			sleeping--; searching++;
			if
			:: asleep[0] -> asleep[0] = 0; token[0] = 1
			:: asleep[1] -> asleep[1] = 0; token[1] = 1
			fi
		:: else
		fi
	}
}

active proctype starter() {
	byte w;

	next_due = SOON;
	needed = 1;
#ifndef NO_TELL
	w = who;
	if
	:: w == NOBODY ->
#ifndef NO_PUBLISH
		claim()
#else
		skip
#endif
	:: else ->
		if
		:: until > SOON -> token[w] = 1
		:: else
		fi
	fi
#endif
}

proctype worker(byte id) {
	byte deadline;

	atomic { searching++ };
search:
	atomic {
		if
		:: next_due == SOON -> next_due = FIRST; fired = 1
		:: else
		fi
	};
	if
	:: fired -> goto out
	:: else
	fi;
	atomic { asleep[id] = 1 };
	atomic { sleeping++; searching-- };
again:
	deadline = NEVER;
	if
	:: !needed
	:: else ->
		atomic {
			if
			:: who == NOBODY -> who = id
			:: else
			fi
		};
		if
		:: who == id ->
			deadline = next_due;
			until = deadline;
#ifndef NO_SECOND
			deadline = next_due
#endif
		:: else
		fi
	fi;
park:
	if
	:: token[id] -> token[id] = 0
	:: deadline == SOON
	:: fired            /* somebody has: the model is over */
	fi;
	if
#ifdef NO_AGAIN
	:: asleep[id] && deadline != SOON && !fired -> goto park
#else
	:: asleep[id] && deadline != SOON && !fired -> goto again
#endif
	:: else
	fi;
	atomic {
		if
		:: who == id -> who = NOBODY
		:: else
		fi
	};
	/* stay_awake: takes itself off the sleepers, unless it was claimed. */
	atomic {
		if
		:: asleep[id] -> asleep[id] = 0; sleeping--; searching++
		:: else
		fi
	};
	goto search;
out:
	skip
}

init {
	atomic { run worker(0); run worker(1) }
}
