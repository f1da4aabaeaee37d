/*
 * hold.c - what a running step sends: held until the step ends, and then handed
 * to its receiver, or shown by the watcher before that.
 */
#include "core/message/hold.h"

#include <errno.h>

#include "core/message/handover.h"
#include "core/message/mailbox.h"
#include "core/record/marks.h"
#include "core/state.h"
#include "core/wake/publish.h"

/* The node is all that is held then; what was held before has another receiver and is sent. */
static struct sb_event_node *hold_first(struct sb_worker *w, struct sb_process *p,
					struct sb_event_node *held, struct sb_event_node *node)
{
	struct sb_handover *h = &w->handover;

	if (held) {
		h->newest = held;
		sb_route_flush(w);
	}
	node->next = NULL;
	h->to = p;
	h->pid = p->pid;
	h->oldest = node;
	return node;
}

/* A message that is not timed goes into a bundle, behind what is held for the same
 * process. Returns what is held then; NULL: no memory. */
static struct sb_event_node *bundle_up(struct sb_worker *w, union sb_value message,
				       struct sb_event_node *held)
{
	struct sb_event_node *bundle;

	if (sb_bundle_has_room(held)) {
		sb_bundle_add(held, message);
		return held;
	}
	bundle = sb_pool_alloc(&w->pool, SB_BUNDLE_BYTES);
	if (SB_UNLIKELY(!bundle))
		return NULL;
	sb_bundle_begin(bundle, message);
	bundle->next = held;
	return bundle;
}

/* A message with a node of its own; NULL: no memory. */
static struct sb_event_node *make_node(struct sb_worker *w, union sb_value message,
				       uint64_t sent_ns)
{
	struct sb_event_node *node = sb_pool_alloc(&w->pool, sizeof(*node));

	if (SB_UNLIKELY(!node))
		return NULL;
	sb_event_fill(node, sb_kind(SB_EVENT_MESSAGE, 0), 0, message);
	node->sent_ns = sent_ns;
	return node;
}

/* A message that is in no bundle. Returns what is held then; NULL: no memory. */
static struct sb_event_node *hold_alone(struct sb_worker *w, struct sb_process *p,
					union sb_value message, uint64_t sent_ns,
					struct sb_event_node *held)
{
	struct sb_event_node *node = make_node(w, message, sent_ns);

	if (SB_UNLIKELY(!node))
		return NULL;
	if (!held || w->handover.to != p)
		return hold_first(w, p, held, node);
	node->next = held;
	return node;
}

/* To the running process itself. */
static int keep(struct sb_worker *w, union sb_value message, uint64_t sent_ns)
{
	struct sb_event_node *node = make_node(w, message, sent_ns);

	if (SB_UNLIKELY(!node))
		return -ENOMEM;
	sb_backlog_put(w->running, node);
	return 0;
}

/* Returns 0, and *held is what is held now; or an error of sb_route_hold. */
static int hold_message(struct sb_worker *w, sb_pid to, union sb_value message,
			struct sb_event_node **held)
{
	struct sb_process *p = sb_route_find(w->scheduler, w, to);
	struct sb_event_node *now_held;
	uint64_t sent_ns;

	if (SB_UNLIKELY(!p || sb_load_rlx(&p->word) == SB_STATE_COMPLETE)) {
		sb_note_dead_letter(w);
		return -ESRCH;
	}
	sent_ns = sb_worker_mark_some(w);
	if (w->running == p)
		return keep(w, message, sent_ns);
	now_held = *held && w->handover.to == p && !sent_ns
			   ? bundle_up(w, message, *held)
			   : hold_alone(w, p, message, sent_ns, *held);
	if (SB_UNLIKELY(!now_held))
		return -ENOMEM;
	*held = now_held;
	return 0;
}

/* The general case of sb_route_hold(), which has begun to enter. */
static SB_NOINLINE int hold_slowly(struct sb_worker *w, sb_pid to, union sb_value message,
				   struct sb_event_node *held)
{
	int rc;

	if (sb_handover_is_claimed(&w->handover))
		held = sb_handover_enter_slowly(&w->handover, held);
	rc = hold_message(w, to, message, &held);
	sb_handover_leave(&w->handover, held);
	return rc;
}

/* Whether the running step, which holds nothing, may hold a message to that process. */
static bool is_simple(struct sb_worker *w, const struct sb_route *route, sb_pid to)
{
	struct sb_process *p = route->process;

	return SB_LIKELY(route->pid == to && sb_route_holds(w, route)) &&
	       SB_LIKELY(w->running != p && w->sampler.left != 1) &&
	       SB_LIKELY(sb_load_rlx(&p->word) != SB_STATE_COMPLETE);
}

/* The same for the receiver of what is held, which was looked up in this step. */
static bool is_simple_again(struct sb_worker *w, sb_pid to)
{
	return SB_LIKELY(w->handover.pid == to && w->sampler.left != 1) &&
	       SB_LIKELY(sb_load_rlx(&w->handover.to->word) != SB_STATE_COMPLETE);
}

/*
 * Another message of a step, which is common if it has the receiver of the last. In a
 * callback within the step, such as a list's visitor, the worker is inside already, and what
 * the step holds is not in the slot: there a message is sent at once, behind that.
 */
static int hold_more(struct sb_worker *w, sb_pid to, union sb_value message,
		     struct sb_event_node *held)
{
	struct sb_event_node *newest = held;

	if (SB_UNLIKELY(held == SB_SLOT_INSIDE))
		return sb_scheduler_send(w->scheduler, to, message);
	if (!is_simple_again(w, to))
		return hold_slowly(w, to, message, held);
	if (SB_LIKELY(sb_bundle_has_room(held))) {
		sb_bundle_add(held, message);
	} else {
		newest = sb_pool_take(&w->pool, SB_BUNDLE_BYTES);
		if (SB_UNLIKELY(!newest))
			return hold_slowly(w, to, message, held);
		sb_bundle_begin(newest, message);
		newest->next = held;
	}
	w->sampler.left--;
	sb_handover_leave(&w->handover, newest);
	return 0;
}

/* The common cases are inline and call nothing, so that they save no registers. */
int sb_route_hold(struct sb_worker *w, sb_pid to, union sb_value message)
{
	const struct sb_route *route = &w->route[to % SB_ROUTES];
	struct sb_handover *h = &w->handover;
	struct sb_event_node *held = sb_handover_begin_enter(h);
	struct sb_event_node *node;

	if (sb_handover_is_claimed(h) && held != SB_SLOT_INSIDE)
		return hold_slowly(w, to, message, held);
	if (held)
		return hold_more(w, to, message, held);
	if (!is_simple(w, route, to))
		return hold_slowly(w, to, message, held);
	node = sb_pool_take(&w->pool, sizeof(*node));
	if (SB_UNLIKELY(!node))
		return hold_slowly(w, to, message, held);
	w->sampler.left--;
	sb_event_fill(node, sb_kind(SB_EVENT_MESSAGE, 0), 0, message);
	h->to = route->process;
	h->pid = to;
	h->oldest = node;
	sb_handover_leave(h, node);
	return 0;
}

/* The process has ended since it was looked up. sender: the worker that has sent them, which
 * is the caller, or whose slot the caller has claimed. */
SB_COLD static void count_dead(struct sb_worker *sender, const struct sb_event_node *newest)
{
	for (; newest; newest = newest->next)
		sb_note_dead_letters(sender, sb_is_bundle(newest) ? sb_bundle_count(newest) : 1);
}

SB_COLD static void drop_held(struct sb_scheduler *s, struct sb_worker *w,
			      struct sb_event_node *newest)
{
	while (newest) {
		struct sb_event_node *older = newest->next;

		sb_route_drop(s, w, newest);
		newest = older;
	}
}

void sb_route_flush(struct sb_worker *w)
{
	const struct sb_handover *h = &w->handover;
	struct sb_event_node *newest = h->newest;

	if (!newest)
		return;
	w->handover.newest = NULL; /* on_drop may send, too */
	if (sb_route_post(w->scheduler, w, h->to, newest, h->oldest) == SB_POST_GONE) {
		count_dead(w, newest);
		drop_held(w->scheduler, w, newest);
	}
}

/*
 * When what a step hands over became Ready: as that step ended, which has been
 * looked at if the step was timed. It is timed if its message is, so that a
 * message costs one choice and not two.
 */
SB_COLD static uint64_t handed_over_at(struct sb_worker *w, const struct sb_event_node *held)
{
	const uint64_t now = w->running->ready_ns ? w->step_end_ns : sb_worker_mark(w);

	sb_record_missed(w, SB_WAIT_HELD, held->sent_ns, now);
	return now;
}

void sb_route_hand_over(struct sb_worker *w, struct sb_event_node *held)
{
	struct sb_process *p = w->handover.to;

	if (w->next || !sb_word_claim(p)) {
		w->handover.newest = held;
		sb_route_flush(w);
		return;
	}
	p->ready_ns = SB_UNLIKELY(held->sent_ns) ? handed_over_at(w, held) : 0;
	if (SB_LIKELY(!held->next))
		sb_backlog_put(p, held);
	else
		sb_backlog_append(w->scheduler, w, p, held, UINT32_MAX);
	w->next = p;
}

/* Into the mailbox of its receiver, and if that has become Ready into the global
 * queue. Its memory is there: the owner has looked it up in this step. */
static enum sb_post_result show_held(struct sb_worker *victim, struct sb_event_node *held)
{
	struct sb_handover *h = &victim->handover;
	const enum sb_post_result result = sb_word_post_chain(h->to, held, h->oldest);

	if (result == SB_POST_WAKE) {
		h->to->ready_ns = held->sent_ns ? sb_clock_ns() : 0;
		if (held->sent_ns)
			sb_record_missed(victim, SB_WAIT_HELD, held->sent_ns, h->to->ready_ns);
		sb_runq_push(&victim->scheduler->global, h->to);
	} else if (result == SB_POST_GONE) {
		count_dead(victim, held);
	}
	return result;
}

bool sb_route_take_held(struct sb_worker *victim)
{
	struct sb_scheduler *s = victim->scheduler;
	struct sb_handover *h = &victim->handover;
	enum sb_post_result result = SB_POST_QUIET;
	struct sb_event_node *held;

	if (!sb_handover_claim(h, &held))
		return false;
	if (held)
		result = show_held(victim, held);
	sb_reader_quiescent(victim->reader, victim->period);
	sb_handover_release(h);
	if (result == SB_POST_WAKE)
		sb_route_publish(s, NULL, 0);
	else if (result == SB_POST_GONE)
		drop_held(s, NULL, held);
	return true;
}
