/*
 * mailbox.h - from an event to the process that it is for. worker is the caller's
 * own, or NULL: a foreign thread's.
 */
#ifndef SB_CORE_MESSAGE_MAILBOX_H
#define SB_CORE_MESSAGE_MAILBOX_H

#include <errno.h>

#include "core/message/backlog.h"
#include "core/message/caller.h"
#include "core/state.h"

/* Drops an event that no step will see: on_drop, and its memory. */
void sb_route_drop(struct sb_scheduler *scheduler, struct sb_worker *worker,
		   struct sb_event_node *node);

/* Pushes events, linked from the newest to the oldest, and queues the process if
 * they have made it Ready. Takes the nodes over unless it returns
 * SB_POST_GONE. */
enum sb_post_result sb_route_post(struct sb_scheduler *scheduler, struct sb_worker *worker,
				  struct sb_process *process, struct sb_event_node *newest,
				  struct sb_event_node *oldest);

static inline void sb_note_dead_letters(struct sb_worker *worker, uint32_t n)
{
	if (worker)
		sb_counter_add(&worker->counters.dead_letters, n);
}

static inline void sb_note_dead_letter(struct sb_worker *worker)
{
	sb_note_dead_letters(worker, 1);
}

struct sb_process *sb_route_look_up(struct sb_scheduler *scheduler, struct sb_worker *worker,
				    sb_pid pid);

/* Whether the memory of a route's process is a process still. The watcher may change what
 * the reader has seen, while the worker is outside (handover.h); this is asked inside. */
static inline bool sb_route_holds(struct sb_worker *worker, const struct sb_route *route)
{
	return route->period == sb_load_rlx(&worker->reader->seen);
}

/*
 * The process of a PID, until the caller's next quiescent state; NULL: none.
 * For a worker the one it is running is found, too.
 */
static inline struct sb_process *sb_route_find(struct sb_scheduler *scheduler,
					       struct sb_worker *worker, sb_pid pid)
{
	const struct sb_route *route;

	if (!worker)
		return sb_route_look_up(scheduler, NULL, pid);
	if (worker->running && worker->running->pid == pid)
		return worker->running;
	route = &worker->route[pid % SB_ROUTES];
	/* If it has ended its PID, a chosen one, may be another's by now. */
	if (SB_LIKELY(route->pid == pid && sb_route_holds(worker, route)) &&
	    SB_LIKELY(sb_load_rlx(&route->process->word) != SB_STATE_COMPLETE))
		return route->process;
	return sb_route_look_up(scheduler, worker, pid);
}

/* An event's type and error, in one register. */
struct sb_event_kind {
	uint32_t type; /* enum sb_event_type or sb_queued_type */
	int32_t error;
};

static inline struct sb_event_kind sb_kind(uint32_t type, int error)
{
	return (struct sb_event_kind){ type, error };
}

/*
 * Sends a message to a process; NULL: there is none. Returns 0, -ESRCH (it is
 * gone), or -ENOMEM. Timed, as sampled.
 */
int sb_route_message(struct sb_scheduler *scheduler, struct sb_worker *worker,
		     struct sb_process *process, union sb_value message);

/* The same for the event of a timer that has fired; timer: its id. */
int sb_route_timer(struct sb_scheduler *scheduler, struct sb_worker *worker,
		   struct sb_process *process, const struct sb_event *event, uint64_t timer);

/* The same for the completion of a yield, timed if that was. */
int sb_route_completion(struct sb_worker *worker, struct sb_process *process,
			struct sb_event_kind kind, const struct sb_completer *completer,
			union sb_value data);

/* The same with the caller's node, an object that it gives away. */
int sb_route_deliver(struct sb_scheduler *scheduler, struct sb_worker *worker,
		     struct sb_process *process, struct sb_event_node *node);

/*
 * An event, written once into the node that carries it: a struct built first
 * and copied is read back wider than it was written, which stalls.
 */
static inline void sb_event_fill(struct sb_event_node *node, struct sb_event_kind kind,
				 uint64_t tag, union sb_value data)
{
	node->next = NULL;
	node->sent_ns = 0;
	node->event.type = kind.type;
	node->event.error = kind.error;
	node->event.tag = tag;
	node->event.data = data;
}

static inline void sb_route_put_own(struct sb_worker *worker, struct sb_event_node *node,
				    struct sb_event_kind kind, const struct sb_completer *completer,
				    union sb_value data)
{
	sb_event_fill(node, kind, completer->tag, data);
	node->sent_ns = completer->issued_ns;
	node->source = completer->yield;
	sb_backlog_put(worker->running, node);
}

/* sb_route_complete_own, when no node is at hand. */
int sb_route_complete_own_slowly(struct sb_worker *worker, struct sb_event_kind kind,
				 const struct sb_completer *completer, union sb_value data);

/* The common completion: of the process that the worker runs, at once. Its only call is
 * the last thing it does, so that it saves no registers. */
static inline int sb_route_complete_own(struct sb_worker *worker, struct sb_event_kind kind,
					const struct sb_completer *completer, union sb_value data)
{
	struct sb_event_node *node = sb_pool_take(&worker->pool, sizeof(*node));

	if (SB_UNLIKELY(!node))
		return sb_route_complete_own_slowly(worker, kind, completer, data);
	sb_route_put_own(worker, node, kind, completer, data);
	return 0;
}

#endif
