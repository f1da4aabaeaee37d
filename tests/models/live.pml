/*
 * live.pml - core/process/live.c: how many processes are alive, what is reserved ahead
 * (credit), the recall of credit when the limit is reached, and threads that wait until
 * none is alive (sb_live_release, sb_live_reserve, sb_live_reserve_foreign,
 * begin_to_wait, sb_live_wait_none, and the gate of core/platform/platform.c).
 *
 * Properties: never more than LIMIT processes are alive (assertion). A submission or a
 * spawn is refused only if LIMIT were alive when it was decided: every place is that of
 * a process that is alive or that a call under way is making or ending, and none is
 * credit (assertion). When a thread sees live == 0, no process is alive (assertion).
 * Nobody waits for ever (invalid end state).
 *
 * Bounds: SUBMITTERS foreign threads of EACH processes; SPAWNS processes more, spawned
 * in steps; 2 workers; BATCH reserved at a time, of at most LIMIT; WAITERS threads
 * wait, at any time. A worker may return its credit and go offline at any time, and does
 * when there is nothing to run. The recall may end at any time when there is a place.
 *
 * Abstracted: each worker's plain stores (credit, touched) go through a store buffer,
 * first in, first out, emptied at any time, by its read-modify-writes, and by the
 * barrier on all threads in a recall. All else is sequentially consistent. What is
 * done under the foreign lock is one step; it is taken within the limit's lock, never
 * around it.
 *
 * Mistakes, each of which must be found:
 *   KEPT            a thread that begins to wait leaves the foreign threads' credit
 *   RESERVED        foreign threads reserve ahead although a thread waits
 *   NOWHERE         their credit is given back after the lock is released
 *   NO_GATE         a notification does not take the gate's lock
 *   NO_BARRIER      a recall does not make the workers pass a barrier
 *   TAKE_TOUCHED    it does not wait for a worker that is at its credit
 *   NO_LOCK         a refusal is decided without the limit's lock
 *   CLEAR_UNLOCKED  the recall is ended without it
 *   KEEP_CREDIT     a worker keeps an ended process's place during a recall
 *   UNTOUCHED       a worker that gives back its credit is no longer marked touched
 *                   when it does
 *   LEFT            a worker that goes offline during a recall leaves its credit to
 *                   the collector, which skips workers that are offline
 *   ONE_WORD        credit and touched are one word: a worker that marks it touched
 *                   stores a credit that it read before, and that has been taken
 */
#ifndef SUBMITTERS
#define SUBMITTERS 1
#endif
#ifndef EACH
#define EACH 2
#endif
#ifndef SPAWNS
#define SPAWNS 1
#endif
#ifndef WAITERS
#define WAITERS 1
#endif
#ifndef LIMIT
#define LIMIT 2
#endif
#define BATCH 2
#define WORKERS 2
#define SAME 255

short live;
byte foreign_credit;
byte waiters;
byte alive; /* from the reservation to the giving back */
byte queued;
byte to_end = SUBMITTERS * EACH;
byte spawned;

bit  recall;
bit  limit_locked;
byte credit[WORKERS];
bit  touched[WORKERS];
bit  online[WORKERS];

bit  locked;  /* the gate's */
byte waiting; /* waiters asleep, one bit each */

/* ---- the workers' store buffers ---- */

typedef Buffer {
	chan of_stores = [3] of { byte, bit }; /* credit or SAME, touched */
	byte credits;                          /* stores to credit in it */
	byte latest;                           /* the last of them */
};
Buffer buffer[WORKERS];

hidden byte v_;

inline drain_one(w) {
	buffer[w].of_stores?v_, touched[w];
	if
	:: v_ != SAME ->
		credit[w] = v_;
		buffer[w].credits--;
		if
		:: !buffer[w].credits -> buffer[w].latest = 0
		:: else
		fi
	:: else
	fi;
	v_ = 0
}

inline drain(w) {
	do
	:: nempty(buffer[w].of_stores) -> drain_one(w)
	:: empty(buffer[w].of_stores) -> break
	od
}

inline drain_all() {
	drain(0); drain(1); v_ = 0
}

proctype store_buffer(byte w) {
end:	do
	:: d_step { nempty(buffer[w].of_stores) -> drain_one(w) }
	od
}

#define own_credit (buffer[me].credits -> buffer[me].latest : credit[me])

inline set_touched(t) {
	buffer[me].of_stores!SAME, t
}

inline set_credit(n, t) {
	atomic {
		nfull(buffer[me].of_stores);
		buffer[me].credits++;
		buffer[me].latest = n;
		buffer[me].of_stores!n, t
	}
}

/* ---- the gate ---- */

inline notify() {
#ifndef NO_GATE
	atomic { !locked -> locked = 1 };
#endif
	waiting = 0;
#ifndef NO_GATE
	locked = 0
#endif
}

/* ---- the count ---- */

#define some (live < LIMIT)
#define batch (live + BATCH <= LIMIT -> BATCH : 1)

inline begin_life() {
	alive++;
	assert(alive <= LIMIT && live >= alive)
}

inline refuse() {
	assert(alive == LIMIT);
	refused = 1
}

/* ---- the recall ---- */

inline collect() {
	recall = 1;
#ifndef NO_BARRIER
	d_step { drain_all() };
#endif
	do
	:: k < WORKERS ->
		atomic {
			if
			:: !online[k] -> k++ /* it has none */
			:: else ->
#ifndef TAKE_TOUCHED
				!touched[k];
#endif
				sum = sum + credit[k]; credit[k] = 0; k++
			fi
		}
	:: else -> k = 0; break
	od;
	atomic { sum = sum + foreign_credit; foreign_credit = 0 };
	atomic { live = live - sum; sum = 0 }
}

/* One, or a refusal. */
inline reserve_exactly() {
	atomic {
		if
		:: some -> live++; begin_life(); goto reserved
		:: else
#ifdef NO_LOCK
			-> if :: recall -> refuse(); goto reserved :: else fi
#endif
		fi
	};
	atomic { !limit_locked -> limit_locked = 1 };
	if
	:: !recall -> collect()
	:: else
	fi;
	atomic {
		if
		:: some -> live++; begin_life()
		:: else -> refuse()
		fi;
		limit_locked = 0
	};
reserved:
	skip
}

inline end_recall() {
	if
#ifdef CLEAR_UNLOCKED
	:: atomic { some -> recall = 0 }
#else
	:: atomic { !limit_locked && some -> recall = 0 }
#endif
	:: true
	fi
}

/* ---- foreign threads ---- */

inline reserve_ahead() {
	if
	:: some ->
#ifdef RESERVED
		foreign_credit = batch;
#else
		foreign_credit = (waiters -> 1 : batch);
#endif
		live = live + foreign_credit
	:: else
	fi
}

proctype submitter() {
	byte n, k, sum;
	bit exact, refused;

	do
	:: n < EACH ->
		atomic {
			if
			:: recall -> exact = 1
			:: else ->
				if
				:: foreign_credit
				:: else -> reserve_ahead()
				fi;
				if
				:: foreign_credit -> foreign_credit--; begin_life()
				:: else -> exact = 1
				fi
			fi
		};
		if
		:: exact -> reserve_exactly()
		:: else
		fi;
		atomic {
			if
			:: refused -> to_end--
			:: else -> queued++
			fi;
			exact = 0; refused = 0; n++
		}
	:: else -> break
	od
}

/* ---- workers ---- */

/* The credit is read behind the mark: before it, a recall may be taking it. If there
 * is a recall it is left alone: it has been taken, or will be when it is untouched. */
inline touch() {
#ifdef ONE_WORD
	c = own_credit;
	set_credit(c, 1);
	recalled = recall
#else
	set_touched(1);
	recalled = recall;
	if
	:: recalled
	:: else -> c = own_credit
	fi
#endif
}

inline untouch() {
#ifdef ONE_WORD
	set_credit(c, 0)
#else
	set_touched(0)
#endif
}

inline put_credit(n) {
#ifdef ONE_WORD
	set_credit(n, 0)
#else
	set_credit(n, 1);
	set_touched(0)
#endif
}

inline spawn() {
	touch();
	if
	:: !recalled && c == 0 ->
		atomic {
			drain(me);
			if
			:: some -> c = batch; live = live + c
			:: else
			fi
		}
	:: else
	fi;
	if
	:: !recalled && c > 0 ->
		begin_life();
		put_credit(c - 1)
	:: else ->
		untouch();
		atomic { drain(me); c = 0 };
		reserve_exactly()
	fi;
	atomic {
		if
		:: refused -> refused = 0
		:: else -> to_end++; queued++
		fi;
		c = 0; recalled = 0
	}
}

inline give_back(n) {
	atomic { drain(me); live = live - n; none = (live == 0) }
}

inline finish() {
	touch();
#ifdef KEEP_CREDIT
	atomic { recalled = 0; c = own_credit };
#endif
	if
	:: recalled ->
		untouch();
		atomic {
			drain(me);
			alive--; live--; none = (live == 0); to_end--
		};
		if :: none -> notify(); none = 0 :: else fi;
		end_recall()
	:: else ->
		atomic { alive--; to_end-- };
		put_credit(c + 1)
	fi;
	atomic { c = 0; recalled = 0 }
}

inline release_credit() {
	touch();
	if
	:: recalled ->
		untouch();
		atomic { drain(me); c = credit[me] };
#ifndef LEFT
		if
		:: c > 0 ->
			atomic { !limit_locked -> limit_locked = 1 };
			atomic {
				sum = credit[me]; credit[me] = 0;
				limit_locked = 0
			};
			atomic { live = live - sum; none = sum && live == 0; sum = 0 };
			if :: none -> notify(); none = 0 :: else fi
		:: else
		fi
#endif
	:: !recalled && c == 0 -> untouch()
	:: else ->
#ifdef UNTOUCHED
		put_credit(0);
		give_back(c);
#else
		give_back(c);
		put_credit(0);
#endif
		if :: none -> notify(); none = 0 :: else fi
	fi;
	atomic { c = 0; recalled = 0 }
}

proctype worker(byte me) {
	byte c, k, sum;
	bit recalled, refused, none;

	do
	:: atomic { queued > 0 -> queued--; online[me] = 1 };
		if
		:: atomic { spawned < SPAWNS -> spawned++ }; spawn()
		:: true
		fi;
		finish()
	:: online[me] ->
		release_credit();
		atomic { drain(me); online[me] = 0 }
	:: to_end == 0 && !online[me] -> break
	od
}

/* ---- waiting ---- */

inline begin_to_wait() {
#ifdef NOWHERE
	atomic { waiters++; back = foreign_credit; foreign_credit = 0 };
	atomic { live = live - back; none = back && live == 0; back = 0 };
#else
	atomic {
		waiters++;
#ifndef KEPT
		none = foreign_credit && live == foreign_credit;
		live = live - foreign_credit;
		foreign_credit = 0
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
		run store_buffer(0); run store_buffer(1);
		run worker(0); run worker(1);
		n = 0;
		do :: n < WAITERS -> run waiter(n); n++ :: else -> break od
	}
}
