/*
 * handover.pml - the messages that a worker holds while a step runs, and the watcher
 * that delivers them, and passes quiescent states, for a worker whose step is long.
 *
 * The worker (owner of the slot) pays plain stores only: the slot has the newest node
 * held, NONE, or INSIDE while the worker is in the scheduler's code. The watcher
 * claims, makes every thread pass a barrier (membarrier), and looks at the slot: an
 * asymmetric Dekker. After it has taken the messages it leaves the worker marked
 * AWAY; the worker clears that by a compare-and-swap when it comes in.
 *
 * Properties: each message is delivered exactly once, and in order, by the worker or
 * the watcher (assertion). No object is used after it has been freed (assertion). All
 * held messages are delivered, and the reclaimer ends, although a step never ends, if
 * the watcher looks (assertion at the end). Nobody waits for ever (invalid end state).
 *
 * Bounds: one worker, STEPS steps, MESSAGES messages, all to one object, which may be
 * removed from the map and freed at any time; any step may never end. The watcher
 * looks LOOKS times at any time, and twice more when a step does not end.
 *
 * Abstracted: the worker's plain stores (slot, seen, links of nodes) go through a
 * store buffer of BUFFER places, first in, first out, emptied at any time, by its
 * read-modify-writes, and by the watcher's barrier. All else is sequentially
 * consistent. The target's state word is a counter of its messages, see word.pml. A
 * message to an object that has left the map, but is not freed, counts as delivered.
 *
 * Mistakes, each of which must be found:
 *   NO_BARRIER        the watcher reads the slot without the barrier
 *   CLAIM_FIRST_READ  the worker reads `claimed` before it stores INSIDE
 *   NO_AWAY           after it has taken messages the watcher marks the worker FREE
 *   POST_LATE         it delivers after it has marked the worker AWAY
 *   PROXY_EARLY       it passes the quiescent state before it delivers
 *   AWAY_BLIND        it passes one for a worker AWAY without claiming it again
 *   PROXY_ALWAYS      it passes one for a worker that is INSIDE
 *   KEEP_TARGET       a worker whose messages were taken goes on with the target that
 *                     it looked up for them
 */
#ifndef STEPS
#define STEPS 2
#endif
#ifndef MESSAGES
#define MESSAGES 3
#endif
#ifndef LOOKS
#define LOOKS 3
#endif
#ifndef BUFFER
#define BUFFER 4
#endif

#define NONE 0
#define INSIDE 255
#define OFFLINE 255

mtype = { FREE, CLAIMING, AWAY };

mtype claimed = FREE;
byte  slot = INSIDE;
byte  next[MESSAGES + 1]; /* a node is the number of its message */
byte  seen = 1;           /* the last period in which the worker was quiescent */
byte  period = 1;
bit   mapped = 1, freed;

byte delivered;           /* the target's mailbox: the last message */
byte sent;
bit  hung, retired, reclaimed;

/* ---- the worker's store buffer ---- */

mtype = { SLOT, SEEN, NEXT };
chan buffer = [BUFFER] of { mtype, byte, byte };

inline drain_one() {
	if
	:: buffer?SLOT, _, slot
	:: buffer?SEEN, _, seen
	:: buffer?[NEXT, _, _] -> buffer?NEXT, at, next[at]
	fi
}

inline drain_all() {
	do
	:: len(buffer) > 0 -> drain_one()
	:: else -> at = 0; break
	od
}

proctype drain() {
	byte at;

end:	do
	:: atomic { len(buffer) > 0 -> drain_one(); at = 0 }
	od
}

/* ---- posting ---- */

/* The chain from `newest` to the oldest: turned round, then in order. */
inline deliver(newest) {
	atomic {
		assert(!freed);
		n = newest; k = 0;
		do
		:: n -> k++; newest = n; n = next[n]
		:: else -> break
		od;
		do
		:: k > 0 ->
			assert(newest == delivered + 1);
			delivered = newest;
			newest++; k--
		:: else -> break
		od;
		newest = 0
	}
}

/* ---- the worker ---- */

inline leave(newest) {
	buffer!SLOT, 0, newest;
	held = newest
}

/* held: what the worker itself has stored in the slot last. */
inline come_back() {
	do
	:: atomic { claimed == AWAY ->
		drain_all(); claimed = FREE; held = NONE
#ifndef KEEP_TARGET
		; target = 0
#endif
	   }; break
	:: atomic { claimed == FREE -> break }
	od
}

inline enter() {
#ifdef CLAIM_FIRST_READ
	c = claimed;
	buffer!SLOT, 0, INSIDE;
#else
	buffer!SLOT, 0, INSIDE;
	c = claimed;
#endif
	if
	:: c != FREE -> come_back()
	:: else
	fi;
	c = 0
}

inline send() {
	enter();
	if
	:: !target -> target = mapped
	:: else
	fi;
	if
	:: target ->
		assert(!freed);
		sent++;
		buffer!NEXT, sent, held;
		leave(sent)
	:: else -> leave(held)
	fi
}

inline hand_over() {
	if
	:: held -> atomic { drain_all(); deliver(held) }
	:: else
	fi;
	target = 0
}

inline quiescent() {
	n = period;
	buffer!SEEN, 0, n;
	n = 0
}

proctype worker() {
	byte steps, held, at, n, k;
	bit target;
	mtype c;

	do
	:: steps < STEPS ->
		steps++;
		leave(NONE);
		do
		:: sent < MESSAGES -> send()
		:: break
		:: hung = 1; goto stay
		od;
		enter();
		hand_over();
		quiescent()
	:: else -> break
	od;
	buffer!SEEN, 0, OFFLINE;
stay:
	skip
}

/* ---- the watcher ---- */

inline pass_quiescent() {
	seen = period
}

inline take() {
	claimed = CLAIMING;
#ifndef NO_BARRIER
	d_step { drain_all() };
#endif
	s = slot;
	if
	:: s == INSIDE ->
#ifdef PROXY_ALWAYS
		pass_quiescent();
#endif
		claimed = FREE
	:: else ->
#ifdef POST_LATE
		pass_quiescent();
		claimed = AWAY;
		if :: s -> deliver(s) :: else fi
#else
#ifdef PROXY_EARLY
		pass_quiescent();
#endif
		if :: s -> deliver(s) :: else fi;
		pass_quiescent();
#ifdef NO_AWAY
		claimed = FREE
#else
		claimed = AWAY
#endif
#endif
	fi;
	s = 0
}

inline look() {
	c = claimed;
	if
	:: c == FREE -> take()
	:: c == AWAY ->
#ifdef AWAY_BLIND
		pass_quiescent()
#else
		atomic { if :: claimed == AWAY -> claimed = CLAIMING :: else -> c = 0 fi };
		if
		:: c == AWAY -> pass_quiescent(); claimed = AWAY
		:: else
		fi
#endif
	fi;
	c = 0
}

proctype watcher() {
	byte looks, s, n, k, at;
	mtype c;

	do
	:: looks < LOOKS -> looks++; look()
	:: break
	od;
	looks = 0;
end:	hung && retired && len(buffer) == 0;
	look();
	look()
}

/* ---- reclamation ---- */

proctype reclaimer() {
	mapped = 0;
	atomic { period++; retired = 1 };
	seen >= period;
	atomic { freed = 1; reclaimed = 1 }
}

/* When nothing can happen any more. */
active proctype check() {
	timeout;
	assert(delivered == sent);
	assert(reclaimed)
}

init {
	atomic { run drain(); run worker(); run watcher(); run reclaimer() }
}
