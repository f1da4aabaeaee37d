/*
 * untold.pml - what a worker puts on its own deque without telling anybody, because
 * it is likely to take it back at once (sb_route_requeue in core/wake/publish.c, sb_tell_untold in
 * core/worker/take.c and
 * next_process in core/worker/worker.c).
 *
 * Property: when the worker goes on with a process, whose step may take for ever,
 * and another process is on its deque, a worker that sleeps has been woken, or
 * searches (assertion).
 *
 * Bounds: up to 3 processes that the worker puts there between two takes; it takes
 * any of them, or one from elsewhere; 1 other worker, asleep at first, which may
 * steal.
 *
 * Abstracted: the deque is a set of bits. The fence between push and look is
 * idle.pml's.
 *
 * Mistakes, each of which must be found:
 *   OVERWRITE   the second process that is put there takes the place of the first
 *   NEVER_TELL  nobody is told, whatever the worker goes on with
 */
#define PROCESSES 3
#define NONE	  3
#define ELSEWHERE 4

byte deque = 0;		/* a bit for each process */
bool asleep = true;	/* the other worker */
bool untold = false;
byte which = NONE;	/* the only one that is untold, or NONE */
byte running = NONE;

inline put(p) {
	deque = deque | (1 << p);
	if
#ifdef OVERWRITE
	:: true -> which = p
#else
	:: untold -> which = NONE
	:: else -> which = p
#endif
	fi;
	untold = true
}

inline tell() {
	if
#ifndef NEVER_TELL
	:: untold && running != which && deque != 0 -> asleep = false
#endif
	:: else -> skip
	fi;
	untold = false;
	which = NONE
}

active proctype worker() {
	byte p;

	do
	:: p < PROCESSES -> put(p); p++
	:: break
	od;
	/* The one it goes on with: of its own, or from elsewhere. */
	if
	:: deque & 1 -> atomic { deque = deque & ~1; running = 0 }
	:: deque & 2 -> atomic { deque = deque & ~2; running = 1 }
	:: deque & 4 -> atomic { deque = deque & ~4; running = 2 }
	:: running = ELSEWHERE
	fi;
	tell();
	/* A long step. */
	assert(deque == 0 || !asleep)
}

active proctype thief() {
end:	do
	:: atomic { !asleep && deque != 0 -> deque = 0 }
	od
}
