/*
 * step.c - one process on one worker: take its events, step it, dispatch its
 * yields, let go of it; and, in the end, complete it.
 */
#include "core/process/step.h"

#include <errno.h>
#include <string.h>

#include "core/hist.h"
#include "core/memory/arena.h"
#include "core/memory/graves.h"
#include "core/message/caller.h"
#include "core/message/handover.h"
#include "core/message/hold.h"
#include "core/message/mailbox.h"
#include "core/process/live.h"
#include "core/process/registry.h"
#include "core/process/relations.h"
#include "core/record/events.h"
#include "core/state.h"
#include "core/timers/timers.h"
#include "core/trace.h"
#include "core/wake/publish.h"

/* ---- events: from the word to the backlog to the array ---- */

/* A step's batch of events, from the budget down to 1 for a slow process; adapt_batch() stops there. */
static uint32_t batch_of(const struct sb_worker *w, const struct sb_process *p)
{
	return w->scheduler->config.event_budget >> p->batch_shift;
}

/* At most so many messages of the first node, a bundle; how many they are. */
static SB_NOINLINE uint32_t take_messages(struct sb_worker *w, struct sb_event_list *from,
					  struct sb_event *to, uint32_t most)
{
	struct sb_event_node *bundle = from->first;
	const union sb_value *message = sb_bundle_messages(bundle) + bundle->event.tag;
	const uint32_t left = sb_bundle_count(bundle) - (uint32_t)bundle->event.tag;
	const uint32_t n = left < most ? left : most;

	for (uint32_t i = 0; i < n; i++)
		to[i] = (struct sb_event){ .type = SB_EVENT_MESSAGE, .data = message[i] };
	bundle->event.tag += n;
	if (n == left)
		sb_pool_free(&w->pool, sb_event_list_pop(from), SB_BUNDLE_BYTES);
	return n;
}

/* From the type of a queued event to the one that a step sees. */
SB_COLD static void convert(struct sb_worker *w, struct sb_process *p, struct sb_event_node *node)
{
	if (node->event.type == SB_EVENT_BUILTIN) {
		node->event.type = SB_EVENT_COMPLETION;
		return;
	}
	node->event.type = SB_EVENT_TIMER;
	node->event.data.u64 += sb_timers_take_missed(w->scheduler, node->source, p);
}

/* Moves events from a list of the process into the worker's array, behind n others, until
 * there are `most`. Returns how many there are. */
SB_INLINE uint32_t take_events(struct sb_worker *w, struct sb_process *p,
			       struct sb_event_list *from, uint32_t n, uint32_t most, uint64_t *now)
{
	const bool bounded = w->scheduler->config.mailbox_bound;

	while (from->first && n < most) {
		struct sb_event_node *node = from->first;

		sb_touch(node, sizeof(*node));
		if (SB_UNLIKELY(node->event.type >= SB_EVENT_BUILTIN)) {
			if (sb_is_bundle(node)) {
				n += take_messages(w, from, &w->events[n], most - n);
				continue;
			}
			if (node->event.type == SB_EVENT_MARKER)
				return n; /* at the front: there is none yet */
			convert(w, p, node);
		}
		from->first = node->next;
		if (SB_UNLIKELY(node->sent_ns)) {
			*now = *now ? *now : sb_worker_look(w);
			sb_record_event(w, p, node, *now);
		}
		if (SB_UNLIKELY(bounded) && node->event.type == SB_EVENT_MESSAGE)
			sb_sub_acq_rel(&p->mailbox, 1);
		w->events[n++] = node->event;
		sb_pool_free(&w->pool, node, sizeof(*node));
	}
	return n;
}

/*
 * The events of a step of an overfull process: the urgent ones, then half of the rest for
 * messages and half for the others, or more where one kind needs less. A step that takes
 * one event takes it of each kind in turn.
 */
SB_COLD static uint32_t fill_by_kind(struct sb_worker *w, struct sb_process *p, uint32_t budget,
				     uint64_t *now)
{
	struct sb_extra *extra = p->extra;
	const uint32_t odd = sb_counter_read(&p->steps) & 1;
	uint32_t n;

	sb_backlog_sort(p);
	n = take_events(w, p, &extra->urgent, 0, budget, now);
	n = take_events(w, p, &extra->other, n, n + (budget - n + odd) / 2, now);
	n = take_events(w, p, &extra->messages, n, budget, now);
	n = take_events(w, p, &extra->other, n, budget, now);
	if (extra->urgent.first || extra->other.first || extra->messages.first)
		sb_backlog_overflow(w->scheduler, w, p);
	return n;
}

/* Several events, or one to convert, to record or to count. */
static SB_NOINLINE uint32_t fill_several(struct sb_worker *w, struct sb_process *p, uint32_t budget,
					 uint64_t *now)
{
	const uint32_t n = take_events(w, p, &p->backlog, 0, budget, now);

	return n ? n : fill_by_kind(w, p, budget, now);
}

/* Moves the events of a step into the worker's array: most often one. Returns how many. */
SB_INLINE uint32_t fill_events(struct sb_worker *w, struct sb_process *p, uint32_t budget,
			       uint64_t *now)
{
	struct sb_event_node *node = p->backlog.first;

	if (!node)
		return 0;
	if (node->next || SB_UNLIKELY(node->sent_ns || node->event.type >= SB_EVENT_BUILTIN ||
				      w->scheduler->config.mailbox_bound))
		return fill_several(w, p, budget, now);
	sb_touch(node, sizeof(*node));
	p->backlog.first = NULL;
	w->events[0] = node->event;
	sb_pool_free(&w->pool, node, sizeof(*node));
	return 1;
}

/* ---- yields ---- */

int sb_step_yield_overflow(struct sb_step *step, const struct sb_yield *yield)
{
	const uint32_t i = step->yields - SB_STEP_YIELDS;

	if (i >= step->overflow_room) {
		const uint32_t room = i ? 2 * i : 16;
		struct sb_yield *larger =
			sb_mem_alloc(step->worker->pool.owner.arena, room * sizeof(*larger),
				     alignof(max_align_t));

		if (!larger)
			return -ENOMEM;
		if (i)
			memcpy(larger, step->overflow, i * sizeof(*larger));
		sb_mem_free(step->overflow);
		step->overflow = larger;
		step->overflow_room = room;
	}
	step->overflow[i] = *yield;
	step->yields++;
	return 0;
}

static const struct sb_yield *yield_at(const struct sb_step *step, uint32_t i)
{
	return i < SB_STEP_YIELDS ? &step->yield[i] : &step->overflow[i - SB_STEP_YIELDS];
}

/*
 * When a step has ended that has yielded, or is to be followed by another one: 0 if
 * what comes now is not timed. A step that was timed has looked.
 */
static uint64_t ended_at(struct sb_worker *w, const struct sb_process *p)
{
	if (SB_LIKELY(!sb_sampler_chooses(&w->sampler)))
		return 0;
	return p->ready_ns ? w->step_end_ns : sb_worker_mark(w);
}

/* A handler has failed. If it had completed the yield before, that was its outcome. */
SB_COLD static int fail_yield(struct sb_worker *w, struct sb_process *p,
			      const struct sb_completer *completer, int rc)
{
	if (sb_backlog_has_completion(p, completer->yield)) {
		sb_counter_add(&w->counters.second_outcomes, 1);
		return 0;
	}
	return sb_route_completion(w, p, sb_kind(SB_EVENT_COMPLETION, sb_as_error(rc)), completer,
				   sb_value_u64(0));
}

/* Counts the yield and returns its handler's entry, or NULL. Counted first, because
 * the compiler then decides once for both whether the id is in the array. */
static const struct sb_dispatch_entry *count_and_look_up(struct sb_worker *w, uint32_t id)
{
	if (SB_LIKELY(id < SB_COMMAND_ARRAY))
		sb_counter_add(&w->yields[id], 1);
	else
		sb_counter_add(&w->yields[SB_COMMAND_ARRAY], 1);
	return sb_dispatch_lookup(&w->scheduler->dispatch, id);
}

/* Nothing hangs: whatever goes wrong completes the yield with an error. */
static int dispatch_one(struct sb_worker *w, struct sb_process *p, const struct sb_yield *yield,
			uint64_t number, uint64_t issued_ns)
{
	const struct sb_dispatch_entry *entry = count_and_look_up(w, yield->command.id);
	const struct sb_completer completer = { .scheduler = w->scheduler,
						.pid = p->pid,
						.tag = yield->tag,
						.issued_ns = issued_ns,
						.start_ns = p->start_ns,
						.yield = number };
	int rc;

	sb_straight(SB_STRAIGHT_yield);
	rc = entry ? entry->handler(entry->context, &yield->command, &completer) : -ENOSYS;
	return SB_UNLIKELY(rc) ? fail_yield(w, p, &completer, rc) : 0;
}

static int dispatch_yields(struct sb_worker *w, struct sb_process *p, uint64_t issued_ns)
{
	const struct sb_step *step = &w->step;
	/* No two completions of the process that wait at the same time have one number. */
	const uint64_t first = sb_counter_read(&p->steps) << 32;
	int rc = 0;

	for (uint32_t i = 0; i < step->yields && !rc; i++)
		rc = dispatch_one(w, p, yield_at(step, i), first + i, issued_ns);
	return rc;
}

/* ---- letting go ---- */

/* Whether it would come next if it were queued. */
static bool comes_next(struct sb_worker *w, bool behind)
{
	if (!w->scheduler->config.handover || w->next)
		return false;
	return !behind || (!sb_deque_size(&w->deque) && !sb_deque_size(&w->cold) &&
			   !sb_runq_length(&w->inject) && !sb_runq_length(&w->scheduler->global));
}

/*
 * A process that is to run again: behind the others, if it has had its share,
 * because it continues, or got a whole batch of events. Otherwise in front: what
 * it waited for is there.
 */
static void run_again(struct sb_worker *w, struct sb_process *p, bool behind, uint64_t ready_ns)
{
	p->ready_ns = ready_ns;
	if (comes_next(w, behind))
		w->next = p; /* and stays Running */
	else
		sb_route_requeue(w, p, behind);
}

static void settle(struct sb_worker *w, struct sb_process *p, int status, bool whole_batch,
		   uint64_t issued_ns)
{
	const bool waits = status != SB_CONTINUE || w->step.yields;
	const enum sb_state to =
		status == SB_IDLE && !w->step.yields ? SB_STATE_IDLE : SB_STATE_BLOCKED;

	SB_WINDOW();
	/* The backlog holds what came from this worker itself and what went
	 * over the budget; all else sets the wakeup flag. */
	if (waits && SB_LIKELY(!p->backlog.first && sb_word_release(p, to)))
		return;
	/* One choice for the yields and for what they lead to. */
	run_again(w, p,
		  whole_batch || (!waits && w->scheduler->config.continues == SB_CONTINUE_BEHIND),
		  w->step.yields ? issued_ns : ended_at(w, p));
}

/* ---- the step ---- */

/* Fewer events than this are not worth two looks at the clock. */
#define TIMED_EVENTS 8

/*
 * The time budget of a batch: the batches of a process whose steps take longer
 * are halved, and doubled again when half of the time is enough.
 */
static void adapt_batch(struct sb_worker *w, struct sb_process *p, uint64_t step_ns)
{
	const uint64_t budget_ns = w->scheduler->config.event_ns;

	if (step_ns > budget_ns && batch_of(w, p) > 1)
		p->batch_shift++;
	else if (step_ns < budget_ns / 2 && p->batch_shift)
		p->batch_shift--;
}

/* The process's own code. *held: what it holds in the end, or NULL. */
SB_INLINE int step_outside(struct sb_worker *w, struct sb_process *p, uint32_t n,
			   struct sb_event_node **held)
{
	int status;

	SB_ASSERT((uintptr_t)w->handover.newest, ==, 0);
	if (SB_DEBUG)
		w->step.worker = w;
	sb_handover_leave(&w->handover, NULL);
	status = p->ops->step(p->state, &w->step, w->events, n);
	*held = sb_handover_enter(&w->handover);
	if (SB_DEBUG)
		w->step.worker = NULL; /* see sb_step_worker_of() */
	return status;
}

/* For a trace that has sends. */
static uint32_t count_messages(const struct sb_worker *w, uint32_t n)
{
	uint32_t messages = 0;

	for (uint32_t i = 0; w->trace.has_sends && i < n; i++)
		messages += w->events[i].type == SB_EVENT_MESSAGE;
	return messages;
}

SB_COLD static int call_watched(struct sb_worker *w, struct sb_process *p, uint32_t n,
				struct sb_event_node **held)
{
	const bool timed = (n >= TIMED_EVENTS || p->batch_shift) && w->scheduler->config.event_ns;
	const uint64_t start = timed ? sb_clock_ns() : 0;
	int status;

	sb_record_step_edge(w, p, SB_TRACE_STEP, (int)count_messages(w, n));
	status = step_outside(w, p, n, held);
	sb_record_step_edge(w, p, SB_TRACE_STEP_END, status);
	if (timed)
		adapt_batch(w, p, sb_clock_passed(start, sb_clock_ns()));
	return status;
}

/* One question for all that there may be to watch; of a step with few events,
 * when there is no trace, the answer is no. */
static int call_step(struct sb_worker *w, struct sb_process *p, uint32_t n,
		     struct sb_event_node **held)
{
	if (SB_UNLIKELY(n >= w->watched_events || p->batch_shift))
		return call_watched(w, p, n, held);
	return step_outside(w, p, n, held);
}

void sb_worker_watch(struct sb_worker *w)
{
	if (sb_trace_is_on(&w->trace))
		w->watched_events = 0;
	else
		w->watched_events = w->scheduler->config.event_ns ? TIMED_EVENTS : UINT32_MAX;
}

/*
 * A step is timed if the process's way to it was, so those timed are a sample
 * of all, chosen by where they stand and not by how long they take. What there
 * is to record is recorded after the step, not to become part of it.
 */
SB_COLD static void end_timed_step(struct sb_worker *w, struct sb_process *p, uint64_t start_ns)
{
	w->step_end_ns = sb_worker_look(w);
	sb_record_step(w, p, start_ns, w->step_end_ns);
}

/*
 * The step gets as many events as it may. The rest stays in the backlog, and settle()
 * queues the process again, behind the others: a flood of messages to one process cannot
 * keep its worker from them.
 */
SB_COLD static bool note_whole_batch(struct sb_worker *w, struct sb_process *p)
{
	if (p->backlog.first)
		sb_backlog_overflow(w->scheduler, w, p);
	return true;
}

/* Returns what the step did, or -ECANCELED without one for a process that has
 * been terminated. *whole_batch: it got as many events as it then might. *held:
 * what it has sent and nobody has seen, or NULL. */
static int run_step(struct sb_worker *w, struct sb_process *p, bool *whole_batch,
		    struct sb_event_node **held)
{
	struct sb_step *step = &w->step;
	struct sb_event_node *newest;
	const uint32_t budget = batch_of(w, p); /* which the step may change */
	uint64_t now = 0;
	uint32_t events;
	int status;

	sb_straight(SB_STRAIGHT_step);
	sb_touch(p, sb_process_bytes(p->ops));
	newest = sb_word_take(p);
	if (newest && SB_LIKELY(!newest->next))
		sb_backlog_put(p, newest);
	else if (newest)
		sb_backlog_append(w->scheduler, w, p, newest, budget);
	step->result = sb_value_u64(0);
	if (SB_UNLIKELY(sb_load_rlx(&p->terminated)))
		return -ECANCELED;
	if (SB_UNLIKELY(p->ready_ns))
		now = sb_record_start(w, p);
	p->last_worker = w->id;
	events = fill_events(w, p, budget, &now);
	if (SB_UNLIKELY(events == budget))
		*whole_batch = note_whole_batch(w, p);
	step->self = p->pid;
	step->yields = 0;
	sb_counter_add(&p->steps, 1);
	sb_counter_add(&w->counters.steps, 1);
	sb_counter_add(&w->counters.events, events);
	status = call_step(w, p, events, held);
	if (SB_UNLIKELY(p->ready_ns))
		end_timed_step(w, p, now);
	return status;
}

void sb_worker_run(struct sb_worker *w, struct sb_process *p)
{
	struct sb_event_node *held = NULL;
	bool whole_batch = false;
	uint64_t issued_ns = 0;
	int status;

	w->running = p;
	status = run_step(w, p, &whole_batch, &held);
	if (held)
		sb_route_hand_over(w, held);
	if (w->step.yields && status >= 0 && status != SB_DONE) {
		int rc;

		issued_ns = ended_at(w, p);
		rc = dispatch_yields(w, p, issued_ns);
		status = rc ? rc : status;
	}
	if (SB_UNLIKELY(status > SB_DONE))
		status = -EINVAL;
	w->running = NULL;
	if (SB_UNLIKELY(status < 0 || status == SB_DONE))
		sb_process_finish(w->scheduler, w, p, status < 0 ? status : 0, w->step.result);
	else
		settle(w, p, status, whole_batch, issued_ns);
}
