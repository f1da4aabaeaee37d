/* finish.c - the end of a process: those who wait for it, its timers, its memory. */
#include <errno.h>

#include "core/hist.h"
#include "core/memory/graves.h"
#include "core/message/caller.h"
#include "core/message/mailbox.h"
#include "core/process/live.h"
#include "core/process/relations.h"
#include "core/process/step.h"
#include "core/record/marks.h"
#include "core/state.h"
#include "core/timers/timers.h"
#include "core/word.h"

/* All under the lock: once it is dropped, the waiter and its stack may go. */
static void tell_waiter(struct sb_waiter *waiter, const struct sb_exit *exit)
{
	sb_gate_lock(&waiter->gate);
	waiter->exit = *exit;
	waiter->done = true;
	sb_gate_notify_and_unlock(&waiter->gate);
}

/* Returns the thread that executes the process, or NULL. */
static struct sb_waiter *end_extra(struct sb_scheduler *s, struct sb_worker *w,
				   struct sb_extra *extra)
{
	struct sb_waiter *waiter = extra->waiter;

	sb_object_free(s, w, extra, sizeof(*extra));
	return waiter;
}

static void drop_events(struct sb_scheduler *s, struct sb_worker *w, struct sb_process *p)
{
	struct sb_event_node *node = sb_word_complete(p);

	if (node)
		sb_backlog_append(s, w, p, node, UINT32_MAX);
	while ((node = sb_backlog_pop_any(p)))
		sb_route_drop(s, w, node);
}

/*
 * Whoever lists the process may have found it alive, and be reading its
 * operations, which go when it has been closed. See sb_scheduler_list().
 */
static void wait_for_listing(struct sb_scheduler *s)
{
	sb_fence_after_rmw(&s->listings); /* behind sb_word_complete() */
	if (SB_LIKELY(!sb_load_rlx(&s->listings)))
		return;
	sb_lock_acquire(&s->list_lock);
	sb_lock_release(&s->list_lock);
}

void sb_process_finish(struct sb_scheduler *s, struct sb_worker *w, struct sb_process *p, int error,
		       union sb_value result)
{
	const struct sb_exit exit = { .pid = p->pid, .error = error, .result = result };
	const size_t bytes = sb_process_bytes(p->ops);
	struct sb_waiter *waiter = NULL;

	sb_straight(SB_STRAIGHT_end);
	if (SB_UNLIKELY(error == -ENOMEM || error == -EAGAIN))
		sb_store_rlx(&s->shortage, error);
	drop_events(s, w, p);
	if (SB_UNLIKELY(sb_load_rlx(&p->relations) != NULL))
		sb_relations_end(s, w, p, &exit);
	if (SB_UNLIKELY(p->extra != NULL))
		sb_timers_end(s, w, p);
	wait_for_listing(s);
	sb_process_close(p);
	if (w && SB_UNLIKELY(p->timed))
		sb_hist_record(&w->hists.lifetime, sb_clock_passed(p->start_ns, sb_worker_look(w)));
	if (s->config.on_complete)
		s->config.on_complete(s->config.hook, &exit);
	if (SB_UNLIKELY(p->extra != NULL))
		waiter = end_extra(s, w, p->extra);
	if (w) {
		sb_counter_add(&w->counters.completions, 1);
		sb_worker_gather_dead(w, p, bytes);
		sb_live_complete(w);
	} else {
		sb_pidmap_remove(s->pidmap, &p, 1);
	}
	/* Last: whoever executed it may count on its place. */
	if (SB_UNLIKELY(waiter != NULL))
		tell_waiter(waiter, &exit);
}
