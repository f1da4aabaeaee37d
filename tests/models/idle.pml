/*
 * idle.pml - core/wake/idle.c, and how core/worker/spin.c uses it: announce, claim,
 * retract, park; searchers and the chain of wakes.
 *
 * Property: work conservation. There are as many tasks as workers, and a task
 * that has started holds its worker until all have started; so a lost or
 * misdirected wake-up is a deadlock (invalid end state). And the searchers are
 * counted right: none leaves who was not counted (assertion).
 *
 * Sequentially consistent; each atomic access of the C code is one step. EXT
 * tasks come from a foreign thread into the global queue; the others are
 * children of the first one that runs, on its worker's own deque.
 *
 * A worker that is full of barrier tasks is stuck on purpose, so all tasks are
 * Ready at once and every worker is needed.
 *
 * Mistakes, each of which must be found:
 *   NO_RESCAN   no second look between announcing and sleeping
 *   NO_CHAIN    the last searcher to find work wakes nobody
 *   NO_LOCAL    a push to the own deque wakes nobody
 *   WAIT_TOKEN  a worker that cannot retract waits for its waker's token,
 *               although the claim may take another worker's bit
 *   NO_RAISE    who leaves nobody searching does not raise `ask`
 *   RAISE_LATE  raises it after the second look
 *   LOWER_BLIND a publisher that looked in vain lowers it, although somebody has
 *               raised it since
 *   NO_REST     with MOMENT, who has stolen several without being counted as a
 *               searcher does not tell of the rest
 *
 * MOMENT: a worker that finds nothing may look once more, and steal, without being
 * counted as a searcher, if nobody slept when it began (wait_a_moment). A thief
 * takes all then, so that there is a rest with few tasks.
 * BACKLOG: the foreign thread may wake a sleeper whoever searches, too
 * (sb_route_backlog).
 */
#ifndef NW
#define NW 3
#endif
#ifndef EXT
#define EXT 1
#endif
#define NONE 255

byte global = 0;        /* length of the global queue */
byte deque[NW];         /* lengths of the deques */
byte started = 0;
bit  spawned = 0;

byte searching = 0;     /* with sleeping, one word: changed together */
byte sleeping = 0;
bit  asleep[NW];        /* a set of bits, each changed by itself */
bit  token[NW];
bit  ask = 0;
bit  raised[NW + 1];    /* since that thread read ask: another version of it; 1 if
                         * that no longer matters */

/* The caller has lowered `sleeping`: some bit is set, or about to be. */
inline take_any_bit(near, who) {
	who = NONE;
	atomic { if :: asleep[near] -> asleep[near] = 0; who = near :: else fi };
	do
	:: who == NONE ->
		k = 0;
		do
		:: k < NW && who == NONE ->
			atomic { if :: asleep[k] -> asleep[k] = 0; who = k :: else fi };
			k++
		:: else -> break
		od;
		/* Looks again only when something has changed. */
		if
		:: who == NONE -> (asleep[0] || asleep[1] || asleep[NW - 1])
		:: else
		fi
	:: else -> break
	od;
	k = 0
}

#define wanted (searching == 0 && sleeping > 0)

/* low: the caller's change of the counts has left nobody searching, and a sleeper. */
inline raise_ask() {
#ifndef NO_RAISE
	if
	:: low ->
		low = 0;
		atomic {
			ask = 1;
			do :: k <= NW -> raised[k] = 1; k++ :: else -> break od;
			k = 0
		}
	:: else
	fi
#else
	low = 0
#endif
}

inline publish(near, me) {
	if
	:: atomic { ask -> raised[me] = 0 };
		if
		:: atomic { wanted -> raised[me] = 1 };
			wake_if(wanted, near)
		:: else ->
			atomic {
#ifndef LOWER_BLIND
				if :: !raised[me] -> ask = 0 :: else fi;
#else
				ask = 0;
#endif
				raised[me] = 1
			}
		fi
	:: else
	fi
}

inline wake_if(wish, near) {
	if
	:: wish ->
		claimed = 0;
		atomic {
			if
			:: wish ->
				sleeping--; searching++; claimed = 1
			:: else
			fi
		};
		if
		:: claimed -> take_any_bit(near, other); token[other] = 1;
			other = 0; claimed = 0
		:: else
		fi
	:: else
	fi
}

/* One load for each queue. */
inline scan() {
	found = (global > 0);
	k = 0;
	do
	:: k < NW && !found -> found = (deque[k] > 0); k++
	:: else -> break
	od;
	k = 0
}

inline find() {
	got = 0;
	atomic { if :: deque[id] > 0 -> deque[id]--; got = 1 :: else fi };
	if
	:: !got -> atomic { if :: global > 0 -> global--; got = 1 :: else fi }
	:: else
	fi;
	k = 0;
	do
	:: k == id -> k++
	:: k < NW && k != id && !got && (inSearch || moment) ->
		atomic {
			if
			:: deque[k] > 0 ->
#ifdef MOMENT
				got = 1; stolen = deque[k];
#else
				got = 1; stolen = (deque[k] + 1) / 2;
#endif
				deque[k] = deque[k] - stolen
			:: else
			fi
		};
		/* What was stolen beyond one is in no queue for a moment. */
		if
		:: got && stolen > 1 && !inSearch ->
			deque[id] = stolen - 1;
#ifndef NO_REST
			publish(id, id);
#endif
			stolen = 0
		:: got && (stolen <= 1 || inSearch) ->
			deque[id] = stolen - 1; stolen = 0
		:: else
		fi;
		k++
	:: else -> break
	od;
	k = 0
}

inline stay_awake() {
	do
	:: asleep[id] ->
		claimed = 0;
		atomic {
			if
			:: sleeping > 0 -> sleeping--; searching++; claimed = 1
			:: else
			fi
		};
		if
		:: claimed ->
			take_any_bit(id, other);
			if
			:: other != id -> token[other] = 1
			:: else
			fi;
			other = 0; claimed = 0;
#ifdef WAIT_TOKEN
			if :: asleep[id] -> token[id] == 1; token[id] = 0 :: else fi;
#endif
			break
		:: else ->
#ifdef WAIT_TOKEN
			token[id] == 1; token[id] = 0; break
#else
			/* Yields until something has changed. */
			(!asleep[id] || sleeping > 0)
#endif
		fi
	:: else -> break
	od
}

proctype worker(byte id) {
	byte k, other, stolen;
	bit got, found, inSearch, claimed, last, moment, low;

	do
	:: true ->
#ifdef MOMENT
again:
#endif
		find();
#ifdef MOMENT
		if
		:: !got && !inSearch && !moment && sleeping == 0 ->
			moment = 1; goto again
		:: moment -> moment = 0
		:: else
		fi;
#endif
		if
		:: got ->
			if
			:: inSearch ->
				atomic {
					assert(searching > 0);
					searching--; last = (searching == 0);
					low = wanted
				};
				raise_ask();
				inSearch = 0;
#ifndef NO_CHAIN
				if
				:: last ->
					scan();
					if :: found -> publish(id, id) :: else fi
				:: else
				fi;
#endif
				last = 0
			:: else
			fi;
			atomic {
				started++;
				if :: !spawned -> spawned = 1; last = 1 :: else fi
			};
			if
			:: last ->
				last = 0; stolen = EXT;
				do
				:: stolen < NW ->
					atomic { deque[id]++ };
#ifndef NO_LOCAL
					publish(id, id);
#endif
					stolen++
				:: else -> break
				od;
				stolen = 0
			:: else
			fi;
			started == NW; /* holds its worker */
			break
		:: !got && !inSearch ->
			/* The bound: half of the awake. */
			atomic {
				if
				:: 2 * searching < NW - sleeping ->
					searching++; inSearch = 1
				:: else
				fi
			};
			if
			:: inSearch
			:: else -> goto announce
			fi
		:: !got && inSearch ->
announce:
			asleep[id] = 1;
			atomic {
				sleeping++;
				if
				:: inSearch -> assert(searching > 0); searching--
				:: else
				fi;
				low = wanted
			};
			inSearch = 0;
#ifndef RAISE_LATE
			raise_ask();
#endif
#ifndef NO_RESCAN
			scan();
#endif
#ifdef RAISE_LATE
			raise_ask();
#endif
			if
			:: found -> found = 0; stay_awake()
			:: else ->
				do
				:: token[id] == 1 -> token[id] = 0;
					if :: !asleep[id] -> break :: else fi
				od
			fi;
			inSearch = 1
		fi
	od
}

proctype foreign() {
	byte n, k, other;
	bit claimed;

	do
	:: n < EXT ->
		atomic { global++ };
		publish(0, NW);
#ifdef BACKLOG
		if :: wake_if(sleeping > 0, 0) :: true fi;
#endif
		n++
	:: else -> break
	od
}

init {
	byte j;

	atomic {
		do :: j <= NW -> raised[j] = 1; j++ :: else -> break od;
		j = 0;
		run foreign();
		do :: j < NW -> run worker(j); j++ :: else -> break od
	}
}
