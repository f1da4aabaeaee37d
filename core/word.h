/* word.h - a process as the scheduler stores it, and the word that holds its state, its wakeup
 * flag and its events. Private to core/. */
#ifndef SB_CORE_WORD_H
#define SB_CORE_WORD_H

#include "core/message/event.h"
#include "core/platform/atomic.h"
#include "core/process.h"

/*
 * ---- the state word ----
 *
 * One atomic word holds the state, the wakeup flag, and the event queue: a
 * stack of event nodes, newest first, that producers push onto and the worker
 * takes as a whole. Because an event and what it does to the state are one
 * compare-and-swap, no order of events can lose a wake-up, run a process twice
 * at once, or queue it twice: there is no moment at which an event is in the
 * queue and the state does not say so.
 *
 *   bits 0..2   enum sb_state
 *   bit  3      wakeup: an event came while Running
 *   bits 4..63  the newest event node (16-aligned), or 0
 *
 *   transition                          by whom                       then
 *   (new) -> Ready                      submitter                     queues it
 *   Ready -> Running, events taken      the worker that dequeued it   steps it
 *   Ready, event pushed                 any thread                    nothing
 *   Running -> Running|wakeup, pushed   any thread                    nothing
 *   Blocked|Idle -> Ready, pushed       any thread                    queues it
 *   Blocked|Idle -> Running             a worker, see sb_word_claim   steps it
 *   Running -> Blocked|Idle             its worker, no event came     lets go
 *   Running[|wakeup] -> Ready           its worker                    queues it
 *   Running[|wakeup] -> Complete        its worker, events taken      closes it
 *   any -> Complete                     sb_scheduler_stop or destroy, with all
 *                                       workers joined, by force      closes it
 *   any -> the same                     who monitors or links it; see
 *                                       core/process/relations.c              nothing
 *
 * A process has one queue entry if and only if it is Ready.
 */
#define SB_WORD_STATE  UINT64_C(7)
#define SB_WORD_WAKEUP UINT64_C(8)
#define SB_WORD_FLAGS  UINT64_C(15)

struct sb_worker;
struct sb_waiter;
struct sb_relation;
struct sb_process;

/* Where the map of PIDs keeps the process of one, while there is one. */
struct sb_pid_entry {
	_Atomic(struct sb_process *) process;
};

/* A PID and its entry; see core/memory/pidmap.h. */
struct sb_name {
	sb_pid pid;
	struct sb_pid_entry *entry;
};

/* The part that few processes need; made when it is needed. */
struct sb_extra {
	struct sb_waiter *waiter; /* who executes it, or NULL */
	/* Of an overfull process; see core/message/backlog.h. */
	struct sb_event_list urgent, other, messages;
	struct sb_event_node marker;
	/* Ids of the timers that it has started; those that have ended are
	 * dropped when the array is full. See core/timers/timers.c. */
	uint64_t *timer_id; /* [timer_room], or NULL */
	uint32_t timers;
	uint32_t timer_room;
};

struct sb_process {
	/* Line 0: threads that send to it or queue it. */
	alignas(64) _Atomic(uint64_t) word;
	union {
		sb_pid pid;
		struct sb_name name;
	};
	const struct sb_process_ops *ops;
	struct sb_process *next;   /* in a runq without memory */
	uint64_t ready_ns;	   /* when queued; 0: not timed this time */
	sb_counter steps;	   /* written by the worker that runs it */
	uint32_t last_worker;	   /* who ran it last, or SB_WORKER_NONE */
	_Atomic(uint32_t) mailbox; /* messages not yet stepped, if bounded */

	/* Line 1: the worker that runs it. */
	union {
		struct {
			struct sb_event_list backlog; /* taken from the word, for a step */
			struct sb_extra *extra;	      /* or NULL */
		};
		/* Ended by force. Not `next`: it may still be in a queue. */
		struct {
			struct sb_process *next_forced;
			size_t bytes_forced;
		};
	};
	/* Its monitors and links, in both directions; see core/process/relations.c. */
	_Atomic(struct sb_relation *) relations;
	uint64_t start_ns;	     /* with the PID, which life this is */
	uint8_t batch_shift;	     /* see batch_of() in step.c */
	_Atomic(uint8_t) cancelled;  /* 1: a cancel event has been sent */
	_Atomic(uint8_t) terminated; /* 1: it is not to be stepped again */
	bool timed;		     /* start_ns is exact: its first step and its end are timed */
	uint32_t trail;		     /* see core/record/trail.h */

	/* On the same line if it is small: two lines are a process then. */
	alignas(16) unsigned char state[];
};

static_assert(offsetof(struct sb_process, backlog) == 64, "line 1");
static_assert(offsetof(struct sb_process, state) == 112, "then the state");

static_assert(alignof(struct sb_event_node) > SB_WORD_FLAGS, "flags fit");

static inline enum sb_state sb_word_state(uint64_t word)
{
	return (enum sb_state)(word & SB_WORD_STATE);
}

static inline struct sb_event_node *sb_word_events(uint64_t word)
{
	return (struct sb_event_node *)(uintptr_t)(word & ~SB_WORD_FLAGS);
}

enum sb_post_result {
	SB_POST_QUIET, /* delivered; somebody else sees to its running */
	SB_POST_WAKE,  /* delivered; the caller must queue the process */
	SB_POST_GONE,  /* Complete: not delivered, the caller keeps the node */
};

/*
 * Pushes events, linked from the newest to the oldest, and does to the state what
 * an event does. Any thread, lock-free. Release: what the sender wrote before is
 * visible to the step. If it returns SB_POST_GONE they are linked as they were,
 * and end with oldest.
 */
static inline enum sb_post_result sb_word_post_chain(struct sb_process *process,
						     struct sb_event_node *newest,
						     struct sb_event_node *oldest)
{
	uint64_t word = sb_load_rlx(&process->word);
	uint64_t flags;

	do {
		flags = word & SB_WORD_FLAGS;
		switch (sb_word_state(word)) {
		case SB_STATE_COMPLETE:
			/* An attempt that failed has linked others' events. */
			oldest->next = NULL;
			return SB_POST_GONE;
		case SB_STATE_RUNNING:
			flags = SB_STATE_RUNNING | SB_WORD_WAKEUP;
			break;
		case SB_STATE_BLOCKED:
		case SB_STATE_IDLE:
			flags = SB_STATE_READY;
			break;
		case SB_STATE_READY:
			break;
		}
		oldest->next = sb_word_events(word);
		SB_WINDOW();
	} while (!sb_cas_weak_acq_rel(&process->word, &word, (uint64_t)(uintptr_t)newest | flags));
	return sb_word_state(word) == SB_STATE_BLOCKED || sb_word_state(word) == SB_STATE_IDLE
		       ? SB_POST_WAKE
		       : SB_POST_QUIET;
}

static inline enum sb_post_result sb_word_post(struct sb_process *process,
					       struct sb_event_node *node)
{
	return sb_word_post_chain(process, node, node);
}

/*
 * Blocked|Idle -> Ready -> Running in one step, by a worker that runs the process
 * next. Nothing is queued, and what the worker has for it need not go through the
 * word: the process is its own now. A word in these states has no events. False:
 * it is in another state, or somebody was faster.
 */
static inline bool sb_word_claim(struct sb_process *process)
{
	uint64_t word = sb_load_rlx(&process->word);

	if (word != SB_STATE_BLOCKED && word != SB_STATE_IDLE)
		return false;
	SB_WINDOW();
	return sb_cas_acq_rel(&process->word, &word, (uint64_t)SB_STATE_RUNNING);
}

/*
 * Ready or Running -> Running, taking the events, newest first. Only by the
 * worker that holds the process's one queue entry, or has kept or claimed it, so
 * nobody else changes the state now but for the wakeup flag, and an exchange
 * does. Acquire: pairs with every post since the last take.
 */
static inline struct sb_event_node *sb_word_take(struct sb_process *process)
{
	uint64_t word = sb_load_rlx(&process->word);

	if (word == SB_STATE_RUNNING)
		return NULL;
	word = sb_xchg_acq_rel(&process->word, (uint64_t)SB_STATE_RUNNING);
	SB_ASSERT(sb_word_state(word), <=, SB_STATE_RUNNING);
	return sb_word_events(word);
}

/*
 * Running -> to (Blocked or Idle) if no event has come. False: the wakeup flag
 * is set; the state is still Running. Only its worker.
 */
static inline bool sb_word_release(struct sb_process *process, enum sb_state to)
{
	uint64_t expected = SB_STATE_RUNNING;

	return sb_cas_acq_rel(&process->word, &expected, (uint64_t)to);
}

/* Running, with or without wakeup -> Ready, keeping the events. Its worker. */
static inline void sb_word_requeue(struct sb_process *process)
{
	uint64_t word = sb_load_rlx(&process->word);

	do {
		SB_ASSERT(sb_word_state(word), ==, SB_STATE_RUNNING);
	} while (!sb_cas_weak_acq_rel(&process->word, &word,
				      (word & ~SB_WORD_FLAGS) | SB_STATE_READY));
}

/* -> Complete, taking the events that no step will see. */
static inline struct sb_event_node *sb_word_complete(struct sb_process *process)
{
	return sb_word_events(sb_xchg_acq_rel(&process->word, (uint64_t)SB_STATE_COMPLETE));
}

#endif
