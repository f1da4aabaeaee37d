/*
 * live.pml - core/live.c: how many processes are alive, what is reserved ahead, and
 * somebody who waits for none to live (sb_live_release, sb_live_reserve_foreign,
 * sb_live_wait_none, and the gate of core/platform.c).
 *
 * Properties: whoever has seen 0 was right: no process was alive, and none had been
 * reserved (assertion). Nobody waits for ever once all have ended (invalid end
 * state). live is never below the number of the living (assertion).
 *
 * Bounds: SUBMITTERS foreign threads of 2 processes each, which reserve 2 at a time;
 * 2 workers; 2 who wait, at any time. A worker keeps what it gives back and returns
 * it as a whole, at any time, or when there is nothing to run.
 *
 * Abstracted: sequentially consistent; the counts are read-modify-writes, and all
 * else is under a lock. What is done under the foreign lock is one step, but for
 * what is given back, which is done after it. There is no limit on processes.
 *
 * Mistakes, each of which must be found:
 *   KEPT      who begins to wait leaves what foreign threads have reserved ahead
 *   RESERVED  foreign threads reserve ahead although somebody waits
 *   NO_GATE   a notification does not take the gate's lock
 */
#ifndef SUBMITTERS
#define SUBMITTERS 1
#endif
#define EACH 2
#define BATCH 2
#define ALL (SUBMITTERS * EACH)

short live;
byte credit;  /* the foreign threads' */
byte waiters;
byte alive, queued, ended;
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

inline release(n) {
	atomic { live = live - n; assert(live >= alive); none = (live == 0) };
	if
	:: none -> notify()
	:: else
	fi;
	none = 0
}

proctype submitter() {
	byte n;

	do
	:: n < EACH ->
		atomic {
			if
			:: credit
			:: else ->
#ifndef RESERVED
				if
				:: waiters -> credit = 1
				:: else -> credit = BATCH
				fi;
#else
				credit = BATCH;
#endif
				live = live + credit
			fi;
			credit--; alive++
		};
		queued++; n++
	:: else -> break
	od
}

proctype worker() {
	byte mine;
	bit none;

	do
	:: atomic { queued > 0 -> queued--; alive--; ended++; mine++ }
	:: mine > 0 -> release(mine); mine = 0
	:: ended == ALL && mine == 0 -> break
	od
}

inline count(more) {
	atomic { waiters = waiters + more; back = credit; credit = 0 };
#ifdef KEPT
	credit = credit + back; back = 0;
#endif
	if
	:: back -> release(back); back = 0
	:: else
	fi
}

proctype waiter(byte me) {
	byte back;
	bit none;

	count(1);
	atomic { !locked -> locked = 1 };
	do
	:: atomic { live == 0 -> assert(alive == 0) }; break
	:: live != 0 ->
		atomic { waiting = waiting | (1 << me); locked = 0 };
		atomic { !(waiting & (1 << me)) && !locked -> locked = 1 }
	od;
	locked = 0;
	count(-1)
}

init {
	byte n;

	atomic {
		do :: n < SUBMITTERS -> run submitter(); n++ :: else -> break od;
		run worker();
		run worker();
		run waiter(0);
		run waiter(1)
	}
}
