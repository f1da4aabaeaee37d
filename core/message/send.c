/*
 * send.c - what one may do to a process from outside: send it a message,
 * complete its yield, ask it to finish, end it.
 */
#include "core/message/send.h"

#include <errno.h>

#include "core/message/caller.h"
#include "core/message/handover.h"
#include "core/message/hold.h"
#include "core/message/mailbox.h"
#include "core/state.h"

/* ---- messages ---- */

/*
 * A place in a bounded mailbox, given back by the step that gets the message.
 * Compare-and-swap, not add: a sender that is refused leaves no trace that could
 * refuse another one.
 */
static bool mailbox_reserve(struct sb_process *p, uint32_t bound)
{
	uint32_t messages = sb_load_rlx(&p->mailbox);

	do {
		if (messages >= bound)
			return false;
		SB_WINDOW();
	} while (!sb_cas_weak_acq_rel(&p->mailbox, &messages, messages + 1));
	return true;
}

/* Nobody will give its places back. */
static bool has_ended(struct sb_process *p)
{
	return sb_word_state(sb_load_acq(&p->word)) == SB_STATE_COMPLETE;
}

static int deliver_message(struct sb_scheduler *s, struct sb_worker *w, sb_pid to,
			   union sb_value message)
{
	const uint32_t bound = s->config.mailbox_bound;
	struct sb_process *p = sb_route_find(s, w, to);
	int rc;

	if (SB_UNLIKELY(bound && p && !mailbox_reserve(p, bound)))
		return has_ended(p) ? -ESRCH : -EWOULDBLOCK;
	rc = sb_route_message(s, w, p, message);
	if (SB_UNLIKELY(rc && bound && p))
		sb_sub_acq_rel(&p->mailbox, 1);
	return rc;
}

int sb_send_routed(struct sb_scheduler *s, struct sb_worker *w, sb_pid to, union sb_value message)
{
	const struct sb_package package = { to, message };

	if (w)
		sb_counter_add(&w->counters.messages, 1);
	if (SB_UNLIKELY(s->config.router))
		return s->config.router->send(s->config.router, &package);
	return deliver_message(s, w, to, message);
}

/* For a trace that has sends. */
static SB_NOINLINE int send_traced(struct sb_worker *w, sb_pid to, union sb_value message)
{
	const uint64_t start_ns = sb_clock_ns();
	const int rc = sb_send_routed(w->scheduler, w, to, message);

	sb_trace_put_act(&w->trace, SB_TRACE_SEND, start_ns, to);
	return rc;
}

/* It is here that a trace's sends are noted, as a worker that has one holds nothing: those that hold
 * are asked nothing more. */
static SB_NOINLINE int send_at_once(struct sb_worker *w, sb_pid to, union sb_value message)
{
	const bool has_entered = sb_handover_try_enter(&w->handover);
	const int rc = SB_UNLIKELY(w->trace.has_sends)
			       ? send_traced(w, to, message)
			       : sb_send_routed(w->scheduler, w, to, message);

	sb_handover_end(&w->handover, has_entered);
	return rc;
}

int sb_step_send(struct sb_step *step, sb_pid to, union sb_value message)
{
	struct sb_worker *w = sb_step_worker_of(step);

	sb_straight(SB_STRAIGHT_send);
	if (SB_UNLIKELY(!w->handover.holds))
		return send_at_once(w, to, message);
	sb_counter_add(&w->counters.messages, 1);
	return sb_route_hold(w, to, message);
}

void sb_step_flush(struct sb_step *step)
{
	struct sb_worker *w = sb_step_worker_of(step);
	const bool has_entered = sb_handover_try_enter(&w->handover);

	sb_route_flush(w);
	sb_handover_end(&w->handover, has_entered);
}

int sb_scheduler_send(struct sb_scheduler *s, sb_pid to, union sb_value message)
{
	const struct sb_caller caller = sb_caller_enter(s);
	int rc;

	sb_straight(SB_STRAIGHT_send);
	rc = deliver_message(s, caller.worker, to, message);
	sb_caller_leave(s, &caller);
	return rc;
}

static int receive(struct sb_receiver *receiver, const struct sb_package *package)
{
	return sb_scheduler_send(sb_container_of(receiver, struct sb_scheduler, receiver),
				 package->to, package->message);
}

void sb_send_init(struct sb_scheduler *s)
{
	s->receiver.send = receive;
}

struct sb_receiver *sb_scheduler_receiver(struct sb_scheduler *s)
{
	return &s->receiver;
}

/* ---- cancelling and terminating ---- */

/*
 * What only wakes, and says so by a flag of the process, which is set once: with
 * all the memory that it needs at hand. The flag is set before the event is
 * posted, so the worker that takes the event sees the flag.
 */
static int flag_and_wake(struct sb_scheduler *s, struct sb_worker *w, struct sb_process *p,
			 _Atomic(uint8_t) *flag, uint32_t type)
{
	struct sb_event_node *node;

	if (sb_load_rlx(flag))
		return 0;
	node = sb_object_alloc(s, w, sizeof(*node));
	if (SB_UNLIKELY(!node))
		return -ENOMEM;
	if (sb_xchg_acq_rel(flag, 1)) {
		sb_object_free(s, w, node, sizeof(*node));
		return 0;
	}
	sb_event_fill(node, sb_kind(type, 0), 0, sb_value_u64(0));
	return sb_route_deliver(s, w, p, node);
}

static int cancel(struct sb_scheduler *s, struct sb_worker *w, struct sb_process *p)
{
	return flag_and_wake(s, w, p, &p->cancelled, SB_EVENT_CANCEL);
}

void sb_cancel_for_stop(struct sb_scheduler *s, struct sb_worker *w, struct sb_process *p)
{
	if (cancel(s, w, p) == -ENOMEM)
		sb_store_rel(&s->cancel_again, 1);
}

int sb_cancel_pid(struct sb_scheduler *s, struct sb_worker *w, sb_pid pid)
{
	struct sb_process *p = sb_route_find(s, w, pid);

	return p && !has_ended(p) ? cancel(s, w, p) : -ESRCH;
}

int sb_scheduler_cancel(struct sb_scheduler *s, sb_pid pid)
{
	const struct sb_caller caller = sb_caller_enter(s);
	const int rc = sb_cancel_pid(s, caller.worker, pid);

	sb_caller_leave(s, &caller);
	return rc;
}

int sb_terminate_pid(struct sb_scheduler *s, struct sb_worker *w, sb_pid pid)
{
	struct sb_process *p = sb_route_find(s, w, pid);

	if (!p || has_ended(p))
		return -ESRCH;
	return flag_and_wake(s, w, p, &p->terminated, SB_EVENT_TERMINATE);
}

int sb_scheduler_terminate(struct sb_scheduler *s, sb_pid pid)
{
	const struct sb_caller caller = sb_caller_enter(s);
	const int rc = sb_terminate_pid(s, caller.worker, pid);

	sb_caller_leave(s, &caller);
	return rc;
}

static bool is_of(const struct sb_completer *completer, const struct sb_process *p)
{
	return p->pid == completer->pid && p->start_ns == completer->start_ns;
}

/* Of a process that the caller does not run. */
SB_COLD static int complete_other(const struct sb_completer *completer, struct sb_event_kind kind,
				  union sb_value result)
{
	struct sb_scheduler *s = completer->scheduler;
	const struct sb_caller caller = sb_caller_enter(s);
	struct sb_worker *w = caller.worker;
	struct sb_process *p = sb_route_find(s, w, completer->pid);
	int rc;

	if (p && !is_of(completer, p))
		p = NULL;
	rc = sb_route_completion(w, p, kind, completer, result);

	sb_caller_leave(s, &caller);
	return rc;
}

int sb_complete(const struct sb_completer *completer, union sb_value result, int error)
{
	const struct sb_event_kind kind = sb_kind(SB_EVENT_COMPLETION, error);
	struct sb_worker *w = sb_worker_of(completer->scheduler);

	if (SB_LIKELY(w && w->running && is_of(completer, w->running)))
		return sb_route_complete_own(w, kind, completer, result);
	return complete_other(completer, kind, result);
}
