/*
 * runq.pml - core/queue/runq.c: a queue with a lock at each end, two counts, and the latest
 * processes beside the first of them (publish, link_last, sb_runq_append, look_at_hot,
 * take_n, sb_runq_take), also without memory, when processes are linked.
 *
 * Properties: what is taken is what was pushed, each once and in order (assertion);
 * in the end nothing is left (assertion), and everybody ends.
 *
 * Bounds: PUSHERS threads that push ITEMS numbers together, 2 that take up to 2 at a
 * time; HOT places for the latest. At any push there may be no memory.
 *
 * Abstracted: sequentially consistent; which orders are needed is said in the code,
 * and tests/modules/test_orders.sh looks at them. The parts are one array, written under the
 * one lock and read under the other, without any order but that of the counts.
 *
 * Mistakes, each of which must be found:
 *   NO_LOOK     who takes from the latest does not look at the count again
 *   COUNT_FIRST a push counts before the latest is there
 *   LATE_COUNT  what has been linked is counted after the lock is given up
 *   OVERTAKE    a push does not look whether others are linked still
 */
#ifndef PUSHERS
#define PUSHERS 2
#endif
#ifndef ITEMS
#define ITEMS 4
#endif
#ifndef HOT
#define HOT 2
#endif

byte part[ITEMS], chain[ITEMS];
byte end, begin;           /* in part */
byte first, linked;        /* in chain: those from first on */
bit  links;
byte hot[HOT];
byte pushed, taken;
byte count;                /* of those who push */
byte last;                 /* taken: the numbers come in order, from 1 */
bit  push_lock, take_lock;

inline lock(l) { atomic { !l -> l = 1 } }

inline publish(n) {
#ifdef COUNT_FIRST
	count++;
	pushed = count;
	hot[(count - 1) % HOT] = n;
#else
	hot[count % HOT] = n;
	count++;
	pushed = count;
#endif
}

inline link(n) {
	lock(take_lock);
	chain[first + linked] = n;
	linked++;
#ifdef LATE_COUNT
	take_lock = 0;
	publish(n)
#else
	publish(n);
	take_lock = 0
#endif
}

proctype pusher() {
	bit has, more = 1;

	do
	:: more ->
		lock(push_lock);
		if
		:: count == ITEMS -> more = 0
		:: else ->
#ifndef OVERTAKE
			if
			:: links ->
				lock(take_lock);
				has = linked > 0;
				take_lock = 0;
				links = has
			:: else
			fi;
#else
			links = 0;
#endif
			if
			:: !links -> part[end] = count + 1; end++; publish(count + 1)
			:: links = 1; link(count + 1)
			fi
		fi;
		push_lock = 0
	:: else -> break
	od
}

inline deliver(n) {
	atomic { assert(n == last + 1); last = n }
}

inline take_one() {
	item = hot[taken % HOT];
#ifndef NO_LOOK
	if
	:: pushed - taken >= HOT -> item = part[begin]
	:: else
	fi;
#endif
	begin++;
	deliver(item)
}

proctype taker() {
	byte length, n, parts, item;

	do
	:: taken < ITEMS ->
		pushed > taken || taken == ITEMS;
		lock(take_lock);
		length = pushed - taken;
		if
		:: length -> n = 1
		:: length > 1 -> n = 2
		:: !length -> n = 0
		fi;
		assert(length >= linked);
		parts = length - linked;
		if :: parts > n -> parts = n :: else fi;
		if
		:: parts == 1 -> take_one()
		:: parts == 2 ->
			deliver(part[begin]); begin++;
			deliver(part[begin]); begin++
		:: parts == 0
		fi;
		do
		:: parts < n -> deliver(chain[first]); first++; linked--; parts++
		:: else -> break
		od;
		taken = taken + n;
		take_lock = 0
	:: taken == ITEMS -> break
	od;
	assert(last == ITEMS)
}

init {
	byte i;

	atomic {
		do :: i < PUSHERS -> run pusher(); i++ :: else -> break od;
		run taker();
		run taker()
	}
}
