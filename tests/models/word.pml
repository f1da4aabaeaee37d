/*
 * word.pml - the state word of core/word.h (sb_word_post, _claim, _take,
 * _release, _requeue, _complete) and the backlog behind it in core/process/step.c
 * (fill_events, settle, drop_events) and core/message/mailbox.c (sb_backlog_append,
 * append_own, sb_route_hand_over): state, wakeup flag and event queue in one word,
 * its producers, and two workers that run the process, send to it, and run it
 * next without a queue, because they have claimed it or have kept it.
 *
 * Properties: no event is lost or handed out twice, and those of one sender
 * reach the steps in the order in which they were sent, whether they come
 * through the word or, from the process itself, past it; the process is never
 * run by two workers at once; it has exactly one queue entry if and only if it
 * is Ready (asserted at each transition); everybody ends: a lost wake-up is an
 * invalid end state. With ENDS the process completes at some step, and every
 * event is stepped, dropped or refused, exactly once.
 *
 * Bounds: 2 producers (a check with 3) of 2 events each, 2 workers, 1 event
 * that the process sends to itself, 1 that the workers hand over, a budget of 1
 * event a step.
 *
 * Abstracted: the word is its three parts, changed in one atomic step by each
 * compare-and-swap or exchange, sequentially consistent: all of them have
 * acquire and release. A CAS that fails tries again with what it read, as the C
 * code does. Blocked is Idle. The queues are a count of entries.
 *
 * Mistakes, each of which must be found:
 *   IGNORE_WAKEUP   letting go stores the state without looking at the flag
 *   QUEUE_ALWAYS    a producer queues the process whatever its state was
 *   SPLIT_POST      the event and the state are changed in two steps, state
 *                   first
 *   SPLIT_TAKE      the events are read and the word is stored in two steps
 *   SPLIT_COMPLETE  the same at the end of the process (with ENDS)
 *   NOT_REVERSED    the stack becomes the backlog as it is, newest first
 *   IN_FRONT        what is taken is put before what was left over
 *   IGNORE_BACKLOG  letting go does not look at what was left over
 *   CLAIM_READY     a worker claims a process that is queued
 *   SPLIT_CLAIM     it looks at the state and changes it in two steps
 *   BLIND_KEEP      a process that is kept, or claimed, becomes Running again
 *                   without a look at what came through the word
 */
#ifndef PRODUCERS
#define PRODUCERS 2
#endif
#ifndef EVENTS
#define EVENTS 2        /* of each producer */
#endif
#ifndef OWN
#define OWN 1           /* of the process to itself, at most EVENTS */
#endif
#ifndef HANDED
#define HANDED 1        /* by the workers, at most EVENTS */
#endif
#ifndef BUDGET
#define BUDGET 1
#endif
#define ALL (PRODUCERS * EVENTS + OWN + HANDED)
#define HANDER (PRODUCERS + 1)

/* An event: sender * EVENTS + its number among the sender's + 1. */
#define sender_of(event) (((event) - 1) / EVENTS)
#define number_of(event) (((event) - 1) % EVENTS)

mtype = { READY, RUNNING, IDLE, COMPLETE };

mtype state = READY;    /* the word: */
bit   wakeup = 0;
byte  stack[ALL];       /* newest last */
byte  height = 0;

byte backlog[ALL];      /* oldest first; of the worker that runs it */
byte length = 0;

byte entries = 1;       /* queue entries of the process */
byte running = 0;       /* workers that are running it */
byte own = 0;           /* events sent to itself */
byte handed = 0;        /* sent by the workers */
byte stepped[PRODUCERS + 2];
byte handled, dropped, refused;

hidden byte i_;

inline queue() {
	atomic { entries++; assert(entries == 1) }
}

inline push(event) {
	stack[height] = event; height++
}

inline change_state() {
	if
	:: state == IDLE -> state = READY; wake = 1
	:: state == RUNNING -> wakeup = 1
	:: else
	fi
}

proctype producer(byte me) {
	byte n;
	bit wake;

	do
	:: n < EVENTS ->
#ifdef SPLIT_POST
		atomic { change_state() };
		if :: wake -> queue() :: else fi;
		atomic { wake = 0; push(me * EVENTS + n + 1) };
#else
		atomic {
			if
			:: state == COMPLETE -> refused++
			:: else -> push(me * EVENTS + n + 1); change_state()
			fi
		};
#ifdef QUEUE_ALWAYS
		wake = 1;
#endif
		if :: wake -> queue(); wake = 0 :: else fi;
#endif
		n++
	:: else -> break
	od
}

/* append_reversed: the stack, oldest first, goes behind the backlog. */
inline append_reversed(old_height) {
	d_step {
#ifdef IN_FRONT
		i_ = length;
		do
		:: i_ > 0 -> i_--; backlog[old_height + i_] = backlog[i_]
		:: else -> break
		od;
#endif
		i_ = 0;
		do
		:: i_ < old_height ->
#ifdef IN_FRONT
			backlog[i_] = stack[i_];
#else
#ifdef NOT_REVERSED
			backlog[length + i_] = stack[old_height - 1 - i_];
#else
			backlog[length + i_] = stack[i_];
#endif
#endif
			i_++
		:: else -> break
		od;
		length = length + old_height;
		i_ = 0;
		do :: i_ < height -> stack[i_] = 0; i_++ :: else -> break od;
		height = 0; i_ = 0
	}
}

/* Of the one who holds the queue entry, has claimed it (next), or has kept it. */
inline take() {
	atomic {
		assert(state == READY || (next && state == RUNNING));
		running++; assert(running == 1)
	};
#ifdef SPLIT_TAKE
	seen = height;
	atomic {
		append_reversed(seen); seen = 0; state = RUNNING; wakeup = 0;
		next = 0
	}
#else
	atomic {
#ifdef BLIND_KEEP
		if :: !next -> append_reversed(height) :: else fi;
#else
		append_reversed(height);
#endif
		state = RUNNING; wakeup = 0; next = 0
	}
#endif
}

/* A step of another process sends to this one, last: sb_route_hand_over. */
inline hand_over() {
#ifdef SPLIT_CLAIM
	atomic { seen = (state == IDLE) };
#else
#ifdef CLAIM_READY
#define can_claim (state == IDLE || state == READY)
#else
#define can_claim (state == IDLE)
#endif
#endif
	atomic {
		if
#ifdef SPLIT_CLAIM
		:: seen ->
#else
		:: can_claim ->
#endif
			state = RUNNING; next = 1;
			backlog[length] = HANDER * EVENTS + handed; length++
		:: else ->
			if
			:: state == COMPLETE -> refused++
			:: else ->
				push(HANDER * EVENTS + handed);
				change_state()
			fi
		fi;
		seen = 0
	};
	if :: wake -> queue(); wake = 0 :: else fi
}

inline step() {
	atomic {
		n = 0;
		do
		:: n < BUDGET && length > 0 ->
			n++; handled++;
			assert(number_of(backlog[0]) ==
			       stepped[sender_of(backlog[0])]);
			stepped[sender_of(backlog[0])]++;
			length--; i_ = 0;
			do
			:: i_ < length -> backlog[i_] = backlog[i_ + 1]; i_++
			:: else -> break
			od;
			backlog[length] = 0; i_ = 0
		:: else -> break
		od;
		n = 0
	};
	atomic {
		if
		:: own < OWN ->
			own++;
			backlog[length] = PRODUCERS * EVENTS + own; length++
		:: else
		fi
	}
}

inline finish() {
#ifdef SPLIT_COMPLETE
	seen = height;
	atomic { dropped = dropped + length + seen; state = COMPLETE };
#else
	atomic { dropped = dropped + length + height; state = COMPLETE };
#endif
	running--
}

inline settle() {
	running--;
	atomic {
#ifdef IGNORE_WAKEUP
		mine = false;
#else
		mine = wakeup;
#endif
#ifndef IGNORE_BACKLOG
		mine = (mine || length > 0);
#endif
		if :: !mine -> state = IDLE :: else fi
	};
	if
	:: mine ->
		atomic { state = READY; wakeup = 0; mine = 0 };
		queue()
	:: mine ->
		mine = 0; next = 1 /* kept */
	:: else
	fi
}

#define sent (PRODUCERS * EVENTS + own + handed)
#define all_stepped (handled == sent && own == OWN && handed == HANDED)

proctype worker() {
	byte n, seen;
	bit mine, next, wake;

end:	do
	:: atomic { !next && handed < HANDED -> handed++ };
		hand_over()
	:: atomic {
		next || entries > 0 ->
		if
		:: next
		:: else -> entries--; assert(state == READY)
		fi
	   };
		take();
		step();
		if
#ifdef ENDS
		:: finish()
#endif
		:: settle()
		fi
	od
}

/* When nothing can happen any more. */
active proctype check() {
	timeout;
	assert(entries == 0);
	assert(handled + dropped + refused == sent);
	assert(state == COMPLETE || (state == IDLE && all_stepped))
}

init {
	byte i;

	atomic {
		do :: i < PRODUCERS -> run producer(i); i++ :: else -> break od;
		run worker(); run worker()
	}
}
