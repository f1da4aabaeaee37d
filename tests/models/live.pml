/*
 * live.pml - core/live.c: how many processes are alive is the sum of two counts,
 * and somebody waits for it to be 0 (sb_live_none, sb_live_release, and the gate
 * of core/platform.c).
 *
 * Properties: whoever has seen 0 was right when it read the first of the two
 * (assertion). Nobody waits for ever once all have ended (invalid end state). No
 * count of the living is below 0 for whoever gives back (assertion).
 *
 * Bounds: SUBMITTERS foreign threads of 2 processes each, 2 workers, 2 who wait,
 * at any time. A worker keeps what it gives back and returns it as a whole, at any
 * time, or when there is nothing to run.
 *
 * Abstracted: sequentially consistent; why acquire and release are enough is said
 * in core/live.c. A foreign reservation and the queueing of its process are two
 * steps, without the locks, which order nothing here.
 *
 * Mistakes, each of which must be found:
 *   SUBMITTED_FIRST   a reader reads `submitted` first, and `live` second
 *   LOOK_FIRST        who gives back reads `submitted` before it lowers `live`
 *   NO_GATE           a notification does not take the gate's lock
 */
#ifndef SUBMITTERS
#define SUBMITTERS 1
#endif
#define EACH 2
#define ALL (SUBMITTERS * EACH)

short live, submitted;
byte queued, ended;
bit  locked;  /* the gate's */
byte waiting; /* waiters asleep, one bit each */

proctype submitter() {
	byte n;

	do
	:: n < EACH -> submitted++; queued++; n++
	:: else -> break
	od
}

inline notify() {
#ifndef NO_GATE
	atomic { !locked -> locked = 1 };
#endif
	waiting = 0;
#ifndef NO_GATE
	locked = 0
#endif
}

inline release() {
#ifdef LOOK_FIRST
	left = submitted;
	atomic { live = live - credit; left = left + live };
#else
	atomic { live = live - credit; left = live };
	left = left + submitted;
	assert(left >= 0);
#endif
	credit = 0;
	if
	:: left == 0 -> notify()
	:: else
	fi;
	left = 0
}

proctype worker() {
	short left;
	byte credit;

	do
	:: atomic { queued > 0 -> queued--; ended++; credit++ }
	:: credit > 0 -> release()
	:: ended == ALL && credit == 0 -> break
	od
}

proctype waiter(byte me) {
	short sum, truth;

	atomic { !locked -> locked = 1 };
	do
	:: true ->
#ifdef SUBMITTED_FIRST
		atomic { sum = submitted; truth = live + submitted };
		sum = sum + live;
#else
		atomic { sum = live; truth = live + submitted };
		sum = sum + submitted;
#endif
		if
		:: sum == 0 -> assert(truth == 0); break
		:: else
		fi;
		atomic { waiting = waiting | (1 << me); locked = 0 };
		atomic { !(waiting & (1 << me)) && !locked -> locked = 1 }
	od;
	locked = 0
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
