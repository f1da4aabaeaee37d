/*
 * live.pml - core/live.c: how many processes are alive, what is reserved ahead, and
 * somebody who waits for none to live (sb_live_release, sb_live_reserve_foreign,
 * begin_to_wait, sb_live_wait_none, and the gate of core/platform.c).
 *
 * Properties: whoever has seen 0 was right: no process was alive (assertion). Nobody
 * waits for ever once all have ended (invalid end state). Who is refused is right: so
 * many are alive, or kept by workers (assertion).
 *
 * Bounds: SUBMITTERS foreign threads of 2 processes each, which reserve 2 at a time, of
 * at most LIMIT; 2 workers; 2 who wait, at any time. A worker keeps what it gives back
 * and returns it as a whole, at any time, or when there is nothing to run.
 *
 * Abstracted: sequentially consistent; the count is changed by read-modify-writes, and
 * all else is under a lock. What is done under the foreign lock is one step. No worker
 * spawns.
 *
 * Mistakes, each of which must be found:
 *   KEPT      who begins to wait leaves what foreign threads have reserved ahead
 *   RESERVED  foreign threads reserve ahead although somebody waits
 *   NOWHERE   what they have reserved is given back after the lock
 *   NO_GATE   a notification does not take the gate's lock
 */
#ifndef SUBMITTERS
#define SUBMITTERS 1
#endif
#define EACH 2
#define BATCH 2
#define ALL (SUBMITTERS * EACH)
#define LIMIT 3

short live;
byte credit;  /* the foreign threads' */
byte waiters;
byte alive, queued;
byte ended;   /* or refused */
byte mine[2]; /* the workers' */
bit  locked;  /* the gate's */
byte waiting; /* waiters asleep, one bit each */

inline notify() {
#ifndef NO_GATE
	atomic { !locked -> locked = 1 };
#endif
	waiting = 0;
#ifndef NO_GATE
	locked = 0
#endif
}

inline reserve(n) {
	if
	:: live + n <= LIMIT -> credit = n; live = live + n
	:: else
	fi
}

proctype submitter() {
	byte n;
	bit refused;

	do
	:: n < EACH ->
		atomic {
			if
			:: credit
			:: else ->
#ifdef RESERVED
				reserve(BATCH);
#else
				if
				:: waiters
				:: else -> reserve(BATCH)
				fi;
#endif
				if
				:: credit
				:: else -> reserve(1)
				fi
			fi;
			if
			:: credit -> credit--; alive++
			:: else ->
				refused = 1;
				assert(alive + mine[0] + mine[1] == LIMIT);
				ended++
			fi
		};
		if
		:: refused -> refused = 0
		:: else -> queued++
		fi;
		n++
	:: else -> break
	od
}

proctype worker(byte me) {
	bit none;

	do
	:: atomic { queued > 0 -> queued--; alive--; ended++; mine[me]++ }
	:: mine[me] > 0 ->
		atomic { live = live - mine[me]; mine[me] = 0; none = live == 0 };
		if
		:: none -> notify(); none = 0
		:: else
		fi
	:: ended == ALL && mine[me] == 0 -> break
	od
}

inline begin_to_wait() {
#ifdef NOWHERE
	atomic { waiters++; back = credit; credit = 0 };
	atomic { live = live - back; none = back && live == 0; back = 0 };
#else
	atomic {
		waiters++;
#ifndef KEPT
		none = credit && live == credit;
		live = live - credit;
		credit = 0
#endif
	};
#endif
	if
	:: none -> notify(); none = 0
	:: else
	fi
}

proctype waiter(byte me) {
	byte back;
	bit none;

	begin_to_wait();
	atomic { !locked -> locked = 1 };
	do
	:: atomic { live == 0 -> assert(alive == 0) }; break
	:: live != 0 ->
		atomic { waiting = waiting | (1 << me); locked = 0 };
		atomic { !(waiting & (1 << me)) && !locked -> locked = 1 }
	od;
	locked = 0;
	waiters--
}

init {
	byte n;

	atomic {
		do :: n < SUBMITTERS -> run submitter(); n++ :: else -> break od;
		run worker(0);
		run worker(1);
		run waiter(0);
		run waiter(1)
	}
}
