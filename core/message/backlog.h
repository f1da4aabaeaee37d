/*
 * backlog.h - events that a process's worker has taken from its word, and that no step
 * has got.
 *
 * They wait in order of arrival. When there are more than one step takes, a marker is put
 * in front of them: the process is overfull. From then on, until no event is left, the
 * next step's events are chosen by kind, so that no kind waits behind an ever longer queue
 * of another:
 *
 *	urgent    cancel and exit events, which the next step gets first
 *	other     completions and timers, which share the rest of a step with messages
 *	messages
 *
 * Within a kind the order of arrival is kept. New events are added behind the marker, and
 * sorted when the next step is prepared: adding costs the same whether a process is overfull
 * or not. Marker and lists are in the process's extra; if there is no memory for it, all
 * events stay in order of arrival.
 *
 * Only the worker that runs the process, or has taken it, calls these.
 */
#ifndef SB_CORE_MESSAGE_BACKLOG_H
#define SB_CORE_MESSAGE_BACKLOG_H

#include "core/word.h"

struct sb_scheduler;
struct sb_worker;

/* Adds one event, whose next is NULL. */
static inline void sb_backlog_put(struct sb_process *process, struct sb_event_node *node)
{
	sb_event_list_put(&process->backlog, node);
}

/* Adds events, linked from the newest to the oldest. budget: how many the next step
 * takes. */
void sb_backlog_append(struct sb_scheduler *scheduler, struct sb_worker *worker,
		       struct sb_process *process, struct sb_event_node *newest, uint32_t budget);

/* More events wait than the next step takes, or than the last one has taken. */
void sb_backlog_overflow(struct sb_scheduler *scheduler, struct sb_worker *worker,
			 struct sb_process *process);

/* Sorts the events of an overfull process, which is not overfull then. */
void sb_backlog_sort(struct sb_process *process);

/* Removes and returns one event, of any kind; NULL: there is none. */
struct sb_event_node *sb_backlog_pop_any(struct sb_process *process);

/* True if a completion of that yield waits, in the backlog or in the word. */
bool sb_backlog_has_completion(struct sb_process *process, uint64_t yield);

#endif
