/*
 * chain.pml - sb_word_post_chain of core/word.h against a process that takes its
 * events and ends, and what a sender does with a chain that was refused
 * (drop_held of core/message/hold.c): the links of the event nodes.
 *
 * Properties: each node is freed exactly once: by the process that took it, or by the
 * sender whose chain was refused. Nobody follows the link of a node that is free.
 *
 * Bounds: SENDERS senders, each posts a chain of 1 or 2 nodes, once; the process takes
 * its events once before it ends.
 *
 * Abstracted: sequentially consistent; the word is whether the process is Complete,
 * and the newest node. The other states are in word.pml. Nodes are not used again.
 *
 * Mistakes, each of which must be found:
 *   KEEP_LINK  a chain that is refused keeps the link to the nodes that the word had
 *              when the compare-and-swap failed
 *   LINK_LATE  the chain is linked to the older nodes after the compare-and-swap
 *   NO_RETRY   after a failed compare-and-swap the chain keeps its first link
 */
#ifndef SENDERS
#define SENDERS 3
#endif
#define NODES (SENDERS * 2)

bit  complete; /* these two are the word */
byte head;     /* the newest node; 0: none */
byte next[NODES + 1];
byte freed[NODES + 1];

inline free_chain(first) {
	do
	:: first ->
		atomic {
			assert(!freed[first]);
			following = next[first]
		};
		atomic { assert(!freed[first]); freed[first]++ };
		atomic { first = following; following = 0 }
	:: else -> break
	od
}

inline link() {
	atomic { assert(!freed[oldest]); next[oldest] = seen }
}

inline post() {
	atomic { seen = head; gone = complete };
#ifdef NO_RETRY
	link();
#endif
	do
	:: gone -> break
	:: else ->
#if !defined LINK_LATE && !defined NO_RETRY
		link();
#endif
		atomic {
			if
			:: head == seen && !complete -> head = newest; posted = 1
			:: else -> seen = head; gone = complete
			fi
		};
		if
		:: posted ->
#ifdef LINK_LATE
			link();
#endif
			break
		:: else
		fi
	od
}

proctype sender(byte newest) {
	byte oldest, seen, following;
	bit gone, posted;

	atomic {
		if
		:: oldest = newest; freed[newest + 1] = 1 /* there is no second */
		:: oldest = newest + 1; next[newest] = oldest
		fi
	};
	post();
	if
	:: gone ->
#ifndef KEEP_LINK
		next[oldest] = 0;
#endif
		free_chain(newest)
	:: else
	fi;
	atomic { newest = 0; oldest = 0; seen = 0; gone = 0; posted = 0 }
}

active proctype process() {
	byte taken, following;

	atomic { taken = head; head = 0 };
	free_chain(taken);
	atomic { taken = head; head = 0; complete = 1 };
	free_chain(taken)
}

/* When nothing can happen any more. */
active proctype check() {
	byte n = 1;

	timeout;
	atomic {
		assert(head == 0);
		do
		:: n <= NODES -> assert(freed[n] == 1); n++
		:: else -> break
		od
	}
}

init {
	byte n;

	atomic {
		do :: n < SENDERS -> run sender(n * 2 + 1); n++ :: else -> break od
	}
}
