/*
 * send.c - what one may do to a process from outside: send it a message,
 * complete its yield, ask it to finish, end it.
 */
#include <errno.h>

#include "core/internal.h"

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

static int deliver_message(struct sb_scheduler *s, struct sb_worker *w,
			   sb_pid to, union sb_value message)
{
	const uint32_t bound = s->config.mailbox_bound;
	struct sb_process *p = sb_route_find(s, w, to);
	int rc;

	if (SB_UNLIKELY(bound && p && !mailbox_reserve(p, bound)))
		return has_ended(p) ? -ESRCH : -EWOULDBLOCK;
	rc = sb_route_event(s, w, p, sb_kind(SB_EVENT_MESSAGE, 0), 0, message);
	if (SB_UNLIKELY(rc && bound && p))
		sb_sub_acq_rel(&p->mailbox, 1);
	return rc;
}

int sb_send_routed(struct sb_scheduler *s, struct sb_worker *w, sb_pid to,
		   union sb_value message)
{
	const struct sb_package package = { to, message };

	if (w)
		sb_counter_add(&w->counters.messages, 1);
	if (SB_UNLIKELY(s->config.router))
		return s->config.router->send(s->config.router, &package);
	return deliver_message(s, w, to, message);
}

int sb_step_send(struct sb_step *step, sb_pid to, union sb_value message)
{
	struct sb_worker *w = step->worker;
	struct sb_process *p;

	if (SB_UNLIKELY(!w->hands_over))
		return sb_send_routed(w->scheduler, w, to, message);
	sb_counter_add(&w->counters.messages, 1);
	p = sb_route_find(w->scheduler, w, to);
	if (SB_LIKELY(p))
		return sb_route_hold(w, p, message);
	sb_counter_add(&w->counters.dead_letters, 1);
	return -ESRCH;
}

void sb_step_flush(struct sb_step *step)
{
	sb_route_flush(step->worker);
}

int sb_scheduler_send(struct sb_scheduler *s, sb_pid to, union sb_value message)
{
	struct sb_worker *w = sb_caller_enter(s);
	const int rc = deliver_message(s, w, to, message);

	sb_caller_leave(w);
	return rc;
}

static int receive(struct sb_receiver *receiver,
		   const struct sb_package *package)
{
	return sb_scheduler_send(
		sb_container_of(receiver, struct sb_scheduler, receiver),
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

int sb_cancel_process(struct sb_scheduler *s, struct sb_worker *w,
		      struct sb_process *p)
{
	int rc;

	if (sb_load_rlx(&p->cancelled) || sb_xchg_acq_rel(&p->cancelled, 1))
		return 0;
	rc = sb_route_event(s, w, p, sb_kind(SB_EVENT_CANCEL, 0), 0,
			    sb_value_u64(0));
	if (rc == -ENOMEM)
		sb_store_rlx(&p->cancelled, 0);
	return rc;
}

int sb_cancel_pid(struct sb_scheduler *s, struct sb_worker *w, sb_pid pid)
{
	struct sb_process *p = sb_route_find(s, w, pid);

	return p && !has_ended(p) ? sb_cancel_process(s, w, p) : -ESRCH;
}

int sb_scheduler_cancel(struct sb_scheduler *s, sb_pid pid)
{
	struct sb_worker *w = sb_caller_enter(s);
	const int rc = sb_cancel_pid(s, w, pid);

	sb_caller_leave(w);
	return rc;
}

/*
 * The flag says it, the event only wakes. The flag is stored before the event is
 * posted, so the worker that takes the event sees the flag.
 */
int sb_terminate_pid(struct sb_scheduler *s, struct sb_worker *w, sb_pid pid)
{
	struct sb_process *p = sb_route_find(s, w, pid);
	int rc;

	if (!p)
		return -ESRCH;
	/* Once is enough: the first one's event wakes it. */
	if (sb_xchg_acq_rel(&p->terminated, 1))
		return has_ended(p) ? -ESRCH : 0;
	rc = sb_route_event(s, w, p, sb_kind(SB_EVENT_TERMINATE, 0), 0,
			    sb_value_u64(0));
	if (rc == -ENOMEM)
		sb_store_rlx(&p->terminated, 0);
	return rc;
}

int sb_scheduler_terminate(struct sb_scheduler *s, sb_pid pid)
{
	struct sb_worker *w = sb_caller_enter(s);
	const int rc = sb_terminate_pid(s, w, pid);

	sb_caller_leave(w);
	return rc;
}

static bool is_own(const struct sb_worker *w, sb_pid pid)
{
	return w && w->running && w->running->pid == pid;
}

/* Of a process that the caller does not run. */
SB_COLD static int complete_other(const struct sb_completer *completer,
				  struct sb_event_kind kind,
				  union sb_value result)
{
	struct sb_scheduler *s = completer->scheduler;
	struct sb_worker *w = sb_caller_enter(s);
	const int rc =
		sb_route_completion(w, sb_route_find(s, w, completer->pid),
				    kind, completer, result);

	sb_caller_leave(w);
	return rc;
}

int sb_complete(const struct sb_completer *completer, union sb_value result,
		int error)
{
	const struct sb_event_kind kind = sb_kind(SB_EVENT_COMPLETION, error);
	struct sb_worker *w = sb_worker_of(completer->scheduler);

	if (SB_LIKELY(is_own(w, completer->pid)))
		return sb_route_complete_own(w, kind, completer, result);
	return complete_other(completer, kind, result);
}
