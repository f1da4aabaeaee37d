/*
 * word.pml - the state word of core/process.h: state, wakeup flag and event
 * queue in one word, its producers, and two workers that run the process.
 *
 * Property: no event is lost or handed out twice; the process is never run by
 * two workers at once; it has exactly one queue entry if and only if it is
 * Ready (asserted at each transition); and everybody ends: a lost wake-up is an
 * invalid end state.
 *
 * The word is modelled as its three parts, changed in one atomic step by each
 * compare-and-swap or exchange. A CAS that fails tries again with what it read,
 * as the C code does. Events are counted; their order is the stack's.
 *
 * Mistakes, each of which must be found:
 *   IGNORE_WAKEUP  letting go stores the state without looking at the flag
 *   QUEUE_ALWAYS   a producer queues the process whatever its state was
 *   SPLIT_POST     the event and the state are changed in two steps, state first
 */
#ifndef PRODUCERS
#define PRODUCERS 2
#endif
#ifndef EVENTS
#define EVENTS 2        /* of each producer */
#endif
#define ALL (PRODUCERS * EVENTS)

mtype = { READY, RUNNING, IDLE };

mtype state = READY;    /* the word: */
bit   wakeup = 0;
byte  events = 0;

byte entries = 1;       /* queue entries of the process */
byte running = 0;       /* workers that are running it */
byte handled = 0;

inline queue() {
	atomic { entries++; assert(entries == 1) }
}

proctype producer() {
	byte n;
	bit wake;

	do
	:: n < EVENTS ->
		wake = 0;
#ifdef SPLIT_POST
		atomic {
			if
			:: state == IDLE -> state = READY; wake = 1
			:: state == RUNNING -> wakeup = 1
			:: else
			fi
		};
		if :: wake -> queue() :: else fi;
		atomic { events++ };
#else
		atomic {
			events++;
			if
			:: state == IDLE -> state = READY; wake = 1
			:: state == RUNNING -> wakeup = 1
			:: else
			fi
		};
#ifdef QUEUE_ALWAYS
		wake = 1;
#endif
		if :: wake -> queue() :: else fi;
#endif
		n++
	:: else -> break
	od
}

proctype worker() {
	byte taken;
	bit mine;

	do
	:: handled == ALL -> break
	:: atomic { entries > 0 -> entries--; assert(state == READY) };
		/* take: an exchange */
		atomic {
			assert(state == READY);
			taken = events; events = 0; state = RUNNING; wakeup = 0;
			running++; assert(running == 1)
		};
		/* the step */
		handled = handled + taken; assert(handled <= ALL); taken = 0;
		/* release: a CAS that fails if an event came */
		running--;
#ifdef IGNORE_WAKEUP
		atomic { state = IDLE; mine = 1 };
#else
		atomic {
			if
			:: !wakeup -> state = IDLE; mine = 1
			:: else -> mine = 0
			fi
		};
#endif
		if
		:: !mine ->
			atomic { state = READY; wakeup = 0 };
			queue()
		:: else
		fi;
		mine = 0
	od
}

init {
	byte i;

	atomic {
		do :: i < PRODUCERS -> run producer(); i++ :: else -> break od;
		run worker(); run worker()
	}
}
