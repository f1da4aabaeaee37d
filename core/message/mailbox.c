/*
 * mailbox.c - from a message or a completion to the process that it is for.
 *
 * Every function takes the calling worker, or NULL when the caller is a foreign
 * thread, which then is online for RCU (core/memory/reclaim.h) while it holds a
 * process it has looked up.
 */
#include "core/message/mailbox.h"

#include <errno.h>

#include "core/message/caller.h"
#include "core/message/hold.h"
#include "core/record/marks.h"
#include "core/state.h"
#include "core/wake/publish.h"

enum sb_post_result sb_route_post(struct sb_scheduler *s, struct sb_worker *w, struct sb_process *p,
				  struct sb_event_node *newest, struct sb_event_node *oldest)
{
	const enum sb_post_result result = sb_word_post_chain(p, newest, oldest);

	if (result == SB_POST_WAKE)
		sb_route_ready(s, w, p);
	return result;
}

/* True if the calling thread is no worker, or a worker whose reader is online. */
static bool may_look_up(void)
{
	const struct sb_worker *w = sb_worker_current();

	return !w || sb_load_rlx(&w->reader->seen) != SB_READER_OFFLINE;
}

/* The caller may hold a receiver that it has looked up. The callback may look up others. */
static void call_on_drop(struct sb_scheduler *s, const struct sb_event *event)
{
	SB_ASSERT(may_look_up(), ==, true);
	sb_callback_begin();
	s->config.on_drop(s->config.hook, event);
	sb_callback_end();
}

static void drop_messages(struct sb_scheduler *s, struct sb_event_node *bundle)
{
	const uint32_t count = sb_bundle_count(bundle);

	for (uint64_t i = bundle->event.tag; i < count; i++) {
		const struct sb_event event = { .type = SB_EVENT_MESSAGE,
						.data = sb_bundle_messages(bundle)[i] };

		call_on_drop(s, &event);
	}
}

void sb_route_drop(struct sb_scheduler *s, struct sb_worker *w, struct sb_event_node *node)
{
	/* The others carry nothing that anyone owns. */
	if (s->config.on_drop && sb_is_bundle(node))
		drop_messages(s, node);
	else if (s->config.on_drop && node->event.type <= SB_EVENT_MESSAGE)
		call_on_drop(s, &node->event);
	sb_object_free(s, w, node, sb_node_bytes(node));
}

struct sb_process *sb_route_look_up(struct sb_scheduler *s, struct sb_worker *w, sb_pid pid)
{
	struct sb_process *p = sb_pidmap_lookup(s->pidmap, pid);

	if (w && p)
		w->route[pid % SB_ROUTES] =
			(struct sb_route){ pid, p, sb_load_rlx(&w->reader->seen) };
	return p;
}

int sb_route_deliver(struct sb_scheduler *s, struct sb_worker *w, struct sb_process *p,
		     struct sb_event_node *node)
{
	if (w && p && w->running == p) {
		sb_backlog_put(w->running, node);
		return 0;
	}
	if (w && w->handover.newest)
		sb_route_flush(w);
	if (SB_LIKELY(p && sb_route_post(s, w, p, node, node) != SB_POST_GONE))
		return 0;
	sb_object_free(s, w, node, sizeof(*node));
	sb_note_dead_letter(w);
	return -ESRCH;
}

int sb_route_message(struct sb_scheduler *s, struct sb_worker *w, struct sb_process *p,
		     union sb_value message)
{
	struct sb_event_node *node = sb_object_alloc(s, w, sizeof(*node));

	if (SB_UNLIKELY(!node))
		return -ENOMEM;
	sb_event_fill(node, sb_kind(SB_EVENT_MESSAGE, 0), 0, message);
	node->sent_ns = sb_caller_mark_some(s, w);
	return sb_route_deliver(s, w, p, node);
}

int sb_route_timer(struct sb_scheduler *s, struct sb_worker *w, struct sb_process *p,
		   const struct sb_event *event, uint64_t timer)
{
	struct sb_event_node *node = sb_object_alloc(s, w, sizeof(*node));

	if (SB_UNLIKELY(!node))
		return -ENOMEM;
	sb_event_fill(node, sb_kind(event->type, 0), event->tag, event->data);
	node->source = timer;
	return sb_route_deliver(s, w, p, node);
}

int sb_route_completion(struct sb_worker *w, struct sb_process *p, struct sb_event_kind kind,
			const struct sb_completer *completer, union sb_value data)
{
	struct sb_scheduler *s = completer->scheduler;
	struct sb_event_node *node = sb_object_alloc(s, w, sizeof(*node));

	if (SB_UNLIKELY(!node))
		return -ENOMEM;
	sb_event_fill(node, kind, completer->tag, data);
	node->sent_ns = completer->issued_ns;
	node->source = completer->yield;
	return sb_route_deliver(s, w, p, node);
}

SB_COLD int sb_route_complete_own_slowly(struct sb_worker *w, struct sb_event_kind kind,
					 const struct sb_completer *completer, union sb_value data)
{
	struct sb_event_node *node = sb_pool_alloc_slowly(&w->pool, sizeof(*node));

	if (SB_UNLIKELY(!node))
		return -ENOMEM;
	sb_route_put_own(w, node, kind, completer, data);
	return 0;
}
