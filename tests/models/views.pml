/*
 * views.pml - memory as C11 threads see it: relaxed, acquire and release accesses,
 * read-modify-writes, and the sequentially consistent fence.
 *
 * Every location is the list of all messages ever stored to it, and a thread has
 * a view: for each location the oldest message that it may still read. A load
 * reads any message from there on, and raises the view. A release store puts the
 * thread's view into its message; an acquire load of the message joins it. A
 * read-modify-write reads the newest message and passes its view on (release
 * sequence). A fence joins the thread's view and one view common to all fences,
 * both ways.
 *
 * This is RC11 for locations with one writer, or written by read-modify-writes
 * only: there the order of modification is the order of the steps. It is weaker
 * than C11 in one thing: a fence here orders loads and stores and nothing else,
 * it does not also make the relaxed accesses around it synchronize.
 *
 * Not shown by it: load buffering. A load happens when its step happens and
 * cannot be moved behind a later store of the same thread, as relaxed orders
 * would allow (and arm64 does). Such a move has to be made in the model by hand;
 * the LATE_ mistakes are of this kind.
 *
 * Before the inclusion the model defines
 *   THREADS
 *   LOCATIONS    the last one, CONTENTS, stands for what an item points to. It
 *                is not atomic: nobody reads stale values of it, they must have
 *                seen it. A fence alone does not show it to anyone.
 *   SYNC         locations below carry views; those from here on are only
 *                accessed relaxed
 *   FIRST(l)     where the messages of a location begin, below FIRST(l + 1);
 *                message 0 is the initial value, 0
 * and in every process type a local variable: byte message.
 */
#define CONTENTS (LOCATIONS - 1)

#define RELAXED 0
#define ACQUIRE 1
#define RELEASE 1
#define ACQ_REL 1

typedef View {
	byte at[LOCATIONS]
};

View seen[THREADS];
View fenced;
View carried[FIRST(SYNC)];
byte value[FIRST(CONTENTS)];
byte last[LOCATIONS];  /* newest message */

hidden byte l_;        /* within a d_step */

#define newest(location) value[FIRST(location) + last[location]]

inline join(to, from) {
	l_ = 0;
	do
	:: l_ < LOCATIONS ->
		if :: from.at[l_] > to.at[l_] -> to.at[l_] = from.at[l_] :: else fi;
		l_++
	:: else -> break
	od;
	l_ = 0
}

/* A history that is too short blocks, which is an error within a d_step. */
inline append(me, location, v) {
	last[location]++;
	FIRST(location) + last[location] < FIRST(location + 1);
	newest(location) = v;
	seen[me].at[location] = last[location]
}

inline store_contents(me) {
	last[CONTENTS]++;
	seen[me].at[CONTENTS] = last[CONTENTS]
}

/* Inside a d_step. */
inline put(me, location, v, release) {
	append(me, location, v);
	if
	:: release -> join(carried[FIRST(location) + last[location]], seen[me])
	:: else
	fi
}

inline store(me, location, v, release) {
	d_step { put(me, location, v, release) }
}

inline load(me, location, v, acquire) {
	atomic {
		message = seen[me].at[location];
		do
		:: message < last[location] -> message++
		:: break
		od;
		v = value[FIRST(location) + message];
		d_step {
			seen[me].at[location] = message;
			if
			:: acquire -> join(seen[me], carried[FIRST(location) + message])
			:: else
			fi;
			message = 0
		}
	}
}

/* Strong; the order is that of success. When it fails, expected becomes what was
 * read, relaxed. */
inline cas(me, location, expected, desired, acq_rel, done) {
	atomic {
		message = seen[me].at[location];
		do
		:: message < last[location] -> message++
		:: message == last[location] ||
		   value[FIRST(location) + message] != expected -> break
		od;
		done = (value[FIRST(location) + message] == expected);
		d_step {
			if
			:: done ->
				append(me, location, desired);
				join(carried[FIRST(location) + message + 1],
				     carried[FIRST(location) + message]);
				if
				:: acq_rel ->
					join(carried[FIRST(location) + message + 1],
					     seen[me]);
					join(seen[me], carried[FIRST(location) + message])
				:: else
				fi
			:: else ->
				expected = value[FIRST(location) + message];
				seen[me].at[location] = message
			fi;
			message = 0
		}
	}
}

inline fence(me) {
	d_step {
		l_ = 0;
		do
		:: l_ < CONTENTS ->
			if
			:: fenced.at[l_] > seen[me].at[l_] ->
				seen[me].at[l_] = fenced.at[l_]
			:: else -> fenced.at[l_] = seen[me].at[l_]
			fi;
			l_++
		:: else -> break
		od;
		l_ = 0
	}
}

/* A thread that has ended has no view; fewer states. */
inline leave(me) {
	l_ = 0;
	do
	:: l_ < LOCATIONS -> seen[me].at[l_] = 0; l_++
	:: else -> break
	od;
	l_ = 0
}
