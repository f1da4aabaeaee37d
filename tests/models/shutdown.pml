/*
 * shutdown.pml - submit against stop: core/process/submit.c (submit_foreign, submit_own),
 * core/message/send.c (sb_cancel_for_stop, and a sender), core/process/live.c, core/scheduler.c
 * (sb_scheduler_stop with cancel_all, halt_workers and finish_by_force;
 * sb_scheduler_destroy), core/process/step.c (sb_worker_run, settle, sb_process_finish)
 * and how a worker of core/worker/spin.c parks and leaves.
 *
 * Properties: when stop returns, every process that was accepted before the stop
 * began, or that was let in while it went on, has been closed, exactly once; the
 * map and the queues are empty, and nobody has anything reserved. A submission that
 * reserves while the scheduler stops is refused; one that does after the stop waits
 * for the next start, and is closed at the latest when the scheduler is destroyed.
 * live is the number of the living in the end. A cancel event is sent once to each. Nobody touches a
 * process whose memory may have been used again. Everybody ends: with PATIENT,
 * where stop waits for ever and each process ends when it is asked to, a process
 * that is never asked, and a worker that is never told to leave, are invalid
 * end states. Without PATIENT the time may be out at any moment, and a process
 * ends, continues or waits whatever it is asked.
 *
 * Bounds: 1 or 2 foreign submitters of 1 process each; with SPAWN the first
 * process may spawn another one in a step; SENDERS (0 or 1) foreign threads
 * that send 1 message; 1 or 2 workers. STARTS (1 or 2) starts and stops, and the destruction.
 *
 * Abstracted: sequentially consistent; a fence that is missing is the load
 * behind it done before the store in front of it (the _EARLY mistakes). What is
 * done under a lock is one step. All queues are one set of entries, taken from in any order. The
 * state word is one variable, see word.pml. Who searches for work and who is
 * woken is simpler than in idle.pml: a claim and its token are one step. A grace
 * period waits for the read-side sections that are under way, and memory is free
 * at the end of the first one after a process was buried. Workers reserve 1
 * process at a time (CREDIT_BATCH) and keep 1; that foreign threads reserve ahead is
 * in live.pml. There is no limit on processes, and memory does not run out.
 *
 * Mistakes, each of which must be found:
 *   RESERVE_OUTSIDE  a submitter reads the phase, and then takes the lock under
 *                    which it reserves
 *   LAUNCH_OUTSIDE   the same of the lock under which its process is queued
 *   NO_LAST_LOOK     a spawn does not read the phase
 *   LOOK_EARLY       a spawn reads it before the process is in the map
 *   WALK_EARLY       stop walks the map before it sets the phase
 *   COUNT_EARLY      stop reads live before it sets the phase
 *   SPLIT_FLAG       the cancelled flag is read and set in two steps
 *   FREED_AT_ONCE    a completed process is freed without a grace period
 *   NO_GRACE         no grace period between the forced walk and the emptying of
 *                    the queues
 *   NO_WAIT          stop by force does not wait for submissions under way
 *   KEEP_CREDIT      a worker without work keeps what it has reserved ahead
 *   HALT_UNTOLD      parked workers are not woken when the workers halt
 *   HALT_LATE        they are woken before halt is set
 *   HALT_UNSEEN      a woken worker that nobody has claimed parks again without
 *                    looking at halt
 *
 * NO_RESCAN_HALT, no look at halt between announcing sleep and sleeping, is
 * harmless: the token stays, and the look after parking sees it.
 */
#ifndef SUBMITTERS
#define SUBMITTERS 2
#endif
#ifndef SENDERS
#define SENDERS 1
#endif
#ifndef STARTS
#define STARTS 1
#endif
#ifndef WORKERS
#define WORKERS 1
#endif

#ifdef SPAWN
#define PROCESSES (SUBMITTERS + 1)
#else
#define PROCESSES SUBMITTERS
#endif
#define MIDDLE (PROCESSES / 2) /* there are at most three */
#define LAST (PROCESSES - 1)

/* Threads that are online for RCU from time to time. */
#define SENDER SUBMITTERS
#define STOPPER (SUBMITTERS + 1)

#define MESSAGE 1
#define CANCEL 2

#define NEW 0
#define READY 1
#define RUNNING 2
#define IDLE 3
#define COMPLETE 4

mtype = { STARTED, STOPPING, STOPPED };

mtype phase = STOPPED;
bit   halt, forced;
byte  go;    /* starts */
byte  live;
byte  ended; /* workers */
byte  left;  /* foreign threads */

typedef Process {
	byte state; /* these three are one word */
	byte events;
	bit  wakeup;
	bit  mapped;
	bit  entry; /* in a queue */
	bit  cancelled;
	bit  told;  /* has been sent its cancel event */
	bit  accepted;
	bit  closed;
	bit  ended_by_force;
	bit  buried;
	byte readers; /* of the time when it was buried */
};
Process process[PROCESSES];

byte inside; /* threads in a read-side section */
byte grace;  /* those that a grace period waits for */

bit asleep[WORKERS], token[WORKERS];

hidden byte i_;

#define refuses (phase == STOPPING)

/* ---- reclamation ---- */

inline enter(me) {
	atomic { inside = inside | (1 << me) }
}

inline leave(me) {
	d_step {
		inside = inside & ~(1 << me);
		grace = grace & ~(1 << me);
		i_ = 0;
		do
		:: i_ < PROCESSES ->
			process[i_].readers = process[i_].readers & ~(1 << me); i_++
		:: else -> break
		od;
		i_ = 0
	}
}

inline synchronize() {
	atomic { grace = inside };
	grace == 0
}

#define may_touch(me, p) (!process[p].buried || (process[p].readers & (1 << (me))))

/* ---- from an event to a queued process ---- */

inline publish() {
	atomic {
		if
		:: asleep[0] -> asleep[0] = 0; token[0] = 1
		:: !asleep[0] && asleep[WORKERS - 1] ->
			asleep[WORKERS - 1] = 0; token[WORKERS - 1] = 1
		:: else
		fi
	}
}

inline queue(p) {
	atomic {
		assert(!process[p].entry);
		process[p].entry = 1
	};
	publish()
}

inline post(me, p, event) {
	wake = 0;
	d_step {
		assert(may_touch(me, p));
		if
		:: process[p].state == COMPLETE
		:: else ->
			process[p].events = process[p].events | event;
			if
			:: process[p].state == IDLE ->
				process[p].state = READY; wake = 1
			:: process[p].state == RUNNING -> process[p].wakeup = 1
			:: else
			fi
		fi
	};
	if
	:: wake ->
		assert(may_touch(me, p));
		queue(p)
	:: else
	fi;
	wake = 0
}

inline cancel(me, p) {
#ifdef SPLIT_FLAG
	wake = process[p].cancelled;
	process[p].cancelled = 1;
#else
	atomic {
		assert(may_touch(me, p));
		wake = process[p].cancelled; process[p].cancelled = 1
	};
#endif
	if
	:: !wake ->
		atomic { assert(!process[p].told); process[p].told = 1 };
		post(me, p, CANCEL)
	:: else -> wake = 0
	fi
}

/* ---- submissions ---- */

proctype submitter(byte me) {
	byte p = me;
	bit accepted;

#ifdef RESERVE_OUTSIDE
	if :: refuses -> goto out :: else fi;
	atomic { live++ };
#else
	atomic {
		if
		:: refuses -> goto out
		:: else -> live++
		fi
	};
#endif
#ifdef LAUNCH_OUTSIDE
	accepted = !refuses;
	atomic {
#else
	atomic {
		accepted = !refuses;
#endif
		if
		:: accepted ->
			process[p].state = READY;
			process[p].mapped = 1;
			process[p].accepted = 1;
			process[p].entry = 1
		:: else
		fi
	};
	if
	:: accepted -> publish()
	:: else -> atomic { assert(live > 0); live-- }
	fi;
out:
	atomic { accepted = 0; p = 0; left++ }
}

proctype sender() {
	byte p;
	bit wake;

	enter(SENDER);
	atomic {
		if
		:: process[0].mapped -> p = 0
		:: process[MIDDLE].mapped -> p = MIDDLE
		:: process[LAST].mapped -> p = LAST
		:: else -> goto out
		fi
	};
	post(SENDER, p, MESSAGE);
out:
	leave(SENDER);
	atomic { p = 0; left++ }
}

/* ---- workers ---- */

inline finish(p) {
	atomic { process[p].state = COMPLETE; process[p].events = 0;
		process[p].wakeup = 0 };
	atomic { assert(!process[p].closed); process[p].closed = 1 }
}

inline unmap(p) {
	atomic { assert(process[p].mapped); process[p].mapped = 0 }
}

/* What has ended last on this worker, if anything. */
inline bury() {
	if
	:: dead > 0 ->
		unmap(dead - 1);
		atomic {
			process[dead - 1].buried = 1;
#ifndef FREED_AT_ONCE
			process[dead - 1].readers = inside;
#endif
			dead = 0
		}
	:: else
	fi
}

inline release_credit() {
	if
	:: credit > 0 ->
		atomic { assert(live >= credit); live = live - credit; credit = 0 }
	:: else
	fi
}

inline take() {
	atomic {
		if
		:: process[0].entry -> p = 0
		:: process[MIDDLE].entry -> p = MIDDLE
		:: process[LAST].entry -> p = LAST
		:: else -> p = PROCESSES
		fi;
		if
		:: p < PROCESSES ->
			process[p].entry = 0;
			assert(process[p].state == READY && !process[p].closed)
		:: else
		fi
	}
}

inline last_look(me) {
	if :: refuses -> cancel(me, LAST) :: else fi
}

/* A worker is online as long as its step. */
inline spawn(me) {
	if
	:: !refuses ->
		if
		:: credit == 0 -> atomic { live++ }
		:: else -> credit--
		fi;
		enter(me);
#ifdef LOOK_EARLY
		last_look(me);
#endif
		atomic {
			process[LAST].state = READY;
			process[LAST].mapped = 1;
			process[LAST].accepted = 1
		};
		queue(LAST);
#if !defined NO_LAST_LOOK && !defined LOOK_EARLY
		last_look(me);
#endif
		leave(me)
	:: else
	fi
}

inline run_step() {
	atomic {
		taken = process[p].events;
		process[p].events = 0; process[p].wakeup = 0;
		process[p].state = RUNNING
	};
#ifdef SPAWN
	if
	:: p == 0 && process[LAST].state == NEW -> spawn(STOPPER + 1 + id)
	:: true
	fi;
#endif
	atomic {
#ifdef PATIENT
		if
		:: taken & CANCEL -> next = COMPLETE
		:: !(taken & CANCEL) -> next = COMPLETE
		:: !(taken & CANCEL) -> next = IDLE
		fi;
#else
		if
		:: next = COMPLETE
		:: next = IDLE
		:: next = READY
		fi;
#endif
		taken = 0
	};
	if
	:: next == COMPLETE ->
		finish(p);
		bury();
		atomic {
			dead = p + 1;
			credit++;
			if
			:: credit > 1 -> credit--; live--
			:: else
			fi
		}
	:: next == IDLE ->
		atomic {
			if
			:: !process[p].wakeup -> process[p].state = IDLE
			:: else -> next = READY
			fi
		}
	:: else
	fi;
	if
	:: next == READY ->
		atomic { process[p].state = READY; process[p].wakeup = 0 };
		queue(p)
	:: else
	fi;
	next = 0
}

#define work_visible \
	(process[0].entry || process[MIDDLE].entry || process[LAST].entry)

inline block() {
	asleep[id] = 1;
	if
#ifdef NO_RESCAN_HALT
	:: work_visible
#else
	:: work_visible || halt
#endif
	:: else ->
		do
		:: token[id] ->
			token[id] = 0;
			if
#ifdef HALT_UNSEEN
			:: !asleep[id] -> break
#else
			:: !asleep[id] || halt -> break
#endif
			:: else
			fi
		od
	fi;
	asleep[id] = 0
}

proctype worker(byte id) {
	byte p, taken, next, credit, starts;
	byte dead; /* a process + 1, or 0 */
	bit wake;

end:	atomic { go == starts + 1 -> starts = go };
	do
	:: halt -> break
	:: else ->
		take();
		if
		:: p < PROCESSES -> run_step()
		:: else ->
			bury();
#ifndef KEEP_CREDIT
			release_credit();
#endif
			block()
		fi;
		p = 0
	od;
	bury();
#ifndef KEEP_CREDIT
	release_credit();
#endif
	atomic { ended++ };
	goto end
}

/* ---- stop ---- */

inline walk_to_cancel() {
	enter(STOPPER);
	do
	:: p < PROCESSES ->
		if :: process[p].mapped -> cancel(STOPPER, p) :: else fi;
		p++
	:: else -> p = 0; break
	od;
	leave(STOPPER)
}

inline halt_workers() {
#ifdef HALT_LATE
	token[0] = 1; token[WORKERS - 1] = 1;
	halt = 1;
#else
	halt = 1;
#ifndef HALT_UNTOLD
	token[0] = 1; token[WORKERS - 1] = 1;
#endif
#endif
	atomic { ended == WORKERS -> ended = 0 }
}

inline finish_by_force() {
	enter(STOPPER);
	do
	:: p < PROCESSES ->
		if
		:: process[p].mapped ->
			finish(p); unmap(p); process[p].ended_by_force = 1
		:: else
		fi;
		p++
	:: else -> p = 0; break
	od;
	leave(STOPPER);
#ifndef NO_GRACE
	synchronize();
#endif
	do
	:: p < PROCESSES -> process[p].entry = 0; p++
	:: else -> p = 0; break
	od;
	atomic {
		do
		:: p < PROCESSES ->
			if
			:: process[p].ended_by_force ->
				process[p].ended_by_force = 0;
				process[p].buried = 1; process[p].readers = 0;
				assert(live > 0); live--
			:: else
			fi;
			p++
		:: else -> p = 0; break
		od
	}
#ifndef NO_WAIT
	;
	live == 0
#endif
}

/* Nothing is left of any process. */
inline check() {
	do
	:: p < PROCESSES ->
		assert(process[p].accepted == process[p].closed);
		assert(!process[p].mapped && !process[p].entry);
		p++
	:: else -> p = 0; break
	od
}

inline start() {
	halt = 0;
	atomic { assert(phase == STOPPED); phase = STARTED };
	go++
}

inline stop() {
#ifdef WALK_EARLY
	walk_to_cancel();
#endif
#ifdef COUNT_EARLY
	none = (live == 0);
#endif
	atomic { assert(phase == STARTED); phase = STOPPING };
#ifndef WALK_EARLY
	walk_to_cancel();
#endif
	if
	:: live == 0 || none
#ifndef PATIENT
	:: forced = 1
#endif
	fi;
	halt_workers();
	if :: forced -> finish_by_force(); forced = 0 :: else fi;
	atomic { check(); assert(live == 0); phase = STOPPED }
}

/* When everybody else has gone. */
inline destroy() {
	left == SUBMITTERS + SENDERS;
	if :: live -> finish_by_force() :: else fi;
	atomic { check(); assert(live == 0) }
}

active proctype stopper() {
	byte p;
	bit wake, none;

	do
	:: go < STARTS -> start(); stop()
	:: else -> break
	od;
	destroy()
}

init {
	byte n;

	atomic {
		do :: n < SUBMITTERS -> run submitter(n); n++ :: else -> break od;
#if SENDERS
		run sender();
#endif
		n = 0;
		do :: n < WORKERS -> run worker(n); n++ :: else -> break od
	}
}
