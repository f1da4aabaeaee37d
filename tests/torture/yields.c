/* yields.c - the actions that only a step can do. */
#include <errno.h>

#include "tests/torture/driver.h"
#include "tests/torture/host.h"

/* Processes of this depth submit no others, so that a round ends. */
#define DEPTH_MAX 4

/* The tag holds the life, a number that is unique in the life and has place in its last bits, and
 * the command. */
static uint64_t new_tag(struct actor *actor, enum what what, uint32_t place)
{
	const uint64_t number = actor->tags++ * ACTOR_TIMERS + place;

	return (uint64_t)(actor->life->number + 1) << TAG_LIFE_SHIFT | number << TAG_SHIFT |
	       (uint64_t)what;
}

static bool yield(struct actor *actor, struct sb_step *step, uint32_t command, union sb_value arg,
		  uint64_t tag)
{
	const int rc = sb_step_yield(step, command, arg, tag);

	expect(!rc || (rc == -ENOMEM && get(&world->refuses_memory)), "a yield returned %d", rc);
	actor->owed_all += !rc;
	return !rc;
}

/* ---- registered commands ---- */

static void yield_registered(struct actor *actor, struct sb_step *step, uint32_t command,
			     uint32_t tag)
{
	if (yield(actor, step, command, sb_value_u64(tag), tag))
		actor->owed[tag]++;
}

static void yield_unwaited(struct actor *actor, struct sb_step *step, uint32_t command,
			   uint32_t tag)
{
	if (yield(actor, step, command, sb_value_u64(tag), tag))
		actor->owed_all--;
}

/* ---- the clock ---- */

static void sleep_for(struct actor *actor, struct sb_step *step, uint32_t number)
{
	for (uint32_t i = 0; i < ACTOR_TIMERS; i++) {
		if (actor->sleep_tag[i])
			continue;
		actor->sleep_tag[i] = new_tag(actor, WHAT_SLEEP, i);
		actor->sleep_until_ns[i] = host_now_ns() + delay_of(number);
		if (!yield(actor, step, SB_COMMAND_SLEEP, sb_value_u64(delay_of(number)),
			   actor->sleep_tag[i]))
			actor->sleep_tag[i] = 0;
		return;
	}
}

static void start_timer(struct actor *actor, struct sb_step *step, uint32_t number, bool is_ticker)
{
	/* Far away: an hour, and never. */
	static const uint64_t far[] = { FAR_NS, UINT64_MAX };
	const bool is_far = number % 16 == 15;

	for (uint32_t i = 0; i < ACTOR_TIMERS; i++) {
		struct actor_timer *timer = &actor->timer[i];

		if (timer->state != TIMER_FREE)
			continue;
		*timer = (struct actor_timer){ .state = TIMER_ASKED,
					       .is_ticker = is_ticker,
					       .is_far = is_far,
					       .tag = new_tag(actor, WHAT_TIMER, i),
					       .start_ns = host_now_ns(),
					       .delay_ns = is_far ? far[number / 16 % 2]
								  : delay_of(number) };
		if (is_ticker && !is_far)
			timer->delay_ns += 20000;
		if (!yield(actor, step, is_ticker ? SB_COMMAND_TICKER : SB_COMMAND_TIMER_START,
			   sb_value_u64(timer->delay_ns), timer->tag))
			timer->state = TIMER_FREE;
		else
			actor->owed_all += !is_far;
		return;
	}
}

static void stop_timer(struct actor *actor, struct sb_step *step, uint32_t number)
{
	struct actor_timer *timer = &actor->timer[number % ACTOR_TIMERS];

	if (timer->state != TIMER_RUNS || timer->must_fire)
		return;
	if (yield(actor, step, SB_COMMAND_TIMER_STOP, sb_value_u64(timer->id), timer->tag + 1))
		timer->state = TIMER_STOPS;
}

/* ---- monitors and links ---- */

static void monitor(struct actor *actor, struct sb_step *step, struct life *other)
{
	for (uint32_t i = 0; i < ACTOR_MONITORS; i++) {
		struct actor_monitor *m = &actor->monitor[i];

		if (m->state != MONITOR_FREE && m->pid == get(&other->pid))
			return; /* one at a time of a PID: it would not be known whose event comes */
	}
	for (uint32_t i = 0; i < ACTOR_MONITORS; i++) {
		struct actor_monitor *m = &actor->monitor[i];

		if (m->state != MONITOR_FREE)
			continue;
		*m = (struct actor_monitor){ .state = MONITOR_ASKED,
					     .life = other,
					     .pid = get(&other->pid) };
		if (!yield(actor, step, SB_COMMAND_MONITOR, sb_value_u64(m->pid),
			   new_tag(actor, WHAT_MONITOR, i)))
			m->state = MONITOR_FREE;
		return;
	}
}

static void unmonitor(struct actor *actor, struct sb_step *step, uint32_t number)
{
	const uint32_t i = number % ACTOR_MONITORS;
	struct actor_monitor *m = &actor->monitor[i];

	if (m->state != MONITOR_ON)
		return;
	if (yield(actor, step, SB_COMMAND_UNMONITOR, sb_value_u64(m->pid),
		  new_tag(actor, WHAT_UNMONITOR, i)))
		m->state = MONITOR_STOPS;
}

static void link_to(struct actor *actor, struct sb_step *step, struct life *other)
{
	if (actor->link)
		return;
	life_may_end(actor->life);
	life_may_end(other);
	if (yield(actor, step, SB_COMMAND_LINK, sb_value_u64(get(&other->pid)),
		  new_tag(actor, WHAT_LINK, 0)))
		actor->link = other;
}

static void unlink_it(struct actor *actor, struct sb_step *step)
{
	if (!actor->link || !actor->is_linked)
		return;
	actor->is_linked = false;
	put(&actor->link->is_unlinked, true);
	(void)yield(actor, step, SB_COMMAND_UNLINK, sb_value_u64(get(&actor->link->pid)),
		    new_tag(actor, WHAT_OTHER, 0));
}

/* ---- messages and processes ---- */

static void yield_send(struct actor *actor, struct sb_step *step, struct life *other)
{
	struct parcel *parcel;

	if (actor->send_tag)
		return;
	parcel = parcel_new(other, 0, NULL);
	if (!parcel)
		return;
	actor->send_number = parcel->number;
	actor->send_args = (struct sb_send_args){ get(&other->pid), sb_value_ptr(parcel) };
	actor->send_tag = new_tag(actor, WHAT_SEND, 0);
	parcel_asked(parcel);
	if (!yield(actor, step, SB_COMMAND_SEND, sb_value_ptr(&actor->send_args),
		   actor->send_tag)) {
		parcel_sent(parcel->number, -ENOMEM);
		actor->send_tag = 0;
	}
}

static void yield_spawn(struct actor *actor, struct sb_step *step, const struct action *act)
{
	if (actor->spawn_tag || get(&actor->life->depth) >= DEPTH_MAX || get(&world->is_calm))
		return;
	actor->spawned =
		life_new(get(&actor->life->scheduler), act->type, get(&actor->life->depth) + 1);
	if (!actor->spawned)
		return;
	actor->spawn_slot = act->slot;
	actor->spawn_args = (struct sb_spawn_args){ &world->ops[act->type], "main",
						    sb_value_ptr(actor->spawned) };
	actor->spawn_tag = new_tag(actor, WHAT_SPAWN, 0);
	if (!yield(actor, step, SB_COMMAND_SPAWN, sb_value_ptr(&actor->spawn_args),
		   actor->spawn_tag))
		actor->spawn_tag = 0;
}

static void spawn(struct actor *actor, const struct action *act, const struct context *context)
{
	struct life *life = call_spawn(get(&actor->life->scheduler), act->type, context);

	if (life)
		put(&world->slot[act->slot], life->number + 1);
}

/* Commands that name a process of the same scheduler. */
static void act_on(struct actor *actor, struct sb_step *step, const struct action *act)
{
	struct life *other = life_in(act->slot);
	const bool has_router = scheduler_of(actor->life)->config.router;
	uint64_t pid;

	if (!other)
		return;
	if (act->kind == ACT_YIELD_SEND && has_router)
		yield_send(actor, step, other);
	if (get(&other->scheduler) != get(&actor->life->scheduler))
		return;
	pid = get(&other->pid);
	switch (act->kind) {
	case ACT_YIELD_SEND:
		if (!has_router)
			yield_send(actor, step, other);
		break;
	case ACT_MONITOR:
		monitor(actor, step, other);
		break;
	case ACT_LINK:
		link_to(actor, step, other);
		break;
	case ACT_YIELD_TERMINATE:
		life_may_end(other);
		(void)yield(actor, step, SB_COMMAND_TERMINATE, sb_value_u64(pid),
			    new_tag(actor, WHAT_OTHER, 0));
		break;
	case ACT_YIELD_CANCEL:
		add(&other->cancels, 1);
		(void)yield(actor, step, SB_COMMAND_CANCEL, sb_value_u64(pid),
			    new_tag(actor, WHAT_OTHER, 0));
		break;
	}
}

static void send_from_step(struct actor *actor, const struct action *act,
			   const struct context *context)
{
	uint32_t n = act->kind == ACT_STEP_BURST ? 2 + act->number % 12 : 1;
	struct life *to = act->kind == ACT_SEND_SELF ? actor->life : life_in(act->slot);

	if (!to || (get(&to->scheduler) != get(&actor->life->scheduler) &&
		    !scheduler_of(actor->life)->config.router))
		return;
	while (n--)
		(void)call_send(to, context, true);
}

/* Another worker ends a process within that time, unless all are busy, and then retires it when it
 * runs out of work. */
#define END_NS	   UINT64_C(2000000)
#define RETIRED_NS UINT64_C(300000)

static void end_elsewhere(struct life *life)
{
	const uint64_t until_ns = host_now_ns() + END_NS;

	call_terminate(life);
	while (!get(&life->completes) && host_now_ns() < until_ns)
		host_yield();
}

/*
 * A message of a step may be deferred until the step ends. Here the first receiver ends before
 * that, and the second one while the message to the first is dropped.
 */
static void send_late(struct actor *actor, const struct action *act, const struct context *context)
{
	struct life *first = life_in(act->slot);
	struct life *second = life_in((act->slot + 1u) % SLOTS);

	if (!first || !second || first == actor->life || second == actor->life ||
	    get(&first->scheduler) != get(&actor->life->scheduler) ||
	    get(&second->scheduler) != get(&actor->life->scheduler))
		return;
	if (call_send(first, context, true))
		return;
	end_elsewhere(first);
	own()->ends_meanwhile = second;
	(void)call_send(second, context, true);
	own()->ends_meanwhile = NULL;
}

void actor_end_meanwhile(uint32_t scheduler)
{
	const struct context context = { .who = CALLBACK,
					 .scheduler = scheduler,
					 .depth = DEPTH_QUIET };
	struct life *life = own()->ends_meanwhile;

	if (!life)
		return;
	own()->ends_meanwhile = NULL;
	end_elsewhere(life);
	host_sleep_ns(RETIRED_NS);
	(void)call_submit(scheduler, PLAIN_TYPE, &context, ENDGAME_PLAIN);
	host_sleep_ns(RETIRED_NS); /* as a preemption would: others go on */
}

static bool submits(const struct action *act)
{
	return act->kind == ACT_SUBMIT || act->kind == ACT_SUBMIT_AS ||
	       act->kind == ACT_SUBMIT_WRONG || act->kind == ACT_SPAWN;
}

/* NOLINTNEXTLINE(readability-function-size): one case for each action. */
void actor_act(struct actor *actor, struct sb_step *step, const struct action *act)
{
	/* Streams 1 to THREADS_MAX belong to foreign threads. */
	const struct context context = { .who = STEP,
					 .scheduler = get(&actor->life->scheduler),
					 .actor = actor,
					 .step = step,
					 .stream = 1 + THREADS_MAX + actor->life->number,
					 .sequence = &actor->sequence,
					 .depth = get(&actor->life->depth) + 1u };

	if (submits(act) && (get(&actor->life->depth) >= DEPTH_MAX || get(&world->is_calm)))
		return;
	switch (act->kind) {
	case ACT_STEP_SEND:
	case ACT_STEP_BURST:
	case ACT_SEND_SELF:
		send_from_step(actor, act, &context);
		break;
	case ACT_SEND_LATE:
		send_late(actor, act, &context);
		break;
	case ACT_FLUSH:
		sb_step_flush(step);
		break;
	case ACT_SPAWN:
		spawn(actor, act, &context);
		break;
	case ACT_BLOCK:
		host_sleep_ns(delay_of(act->number));
		break;
	case ACT_CONTINUE:
		break;
	case ACT_WAIT:
		actor->waits = !actor->cancels;
		break;
	case ACT_YIELD_NOW:
		yield_registered(actor, step, COMMAND_NOW, act->tag);
		break;
	case ACT_YIELD_LATER:
		yield_registered(actor, step, COMMAND_LATER, act->tag);
		break;
	case ACT_YIELD_FAIL:
		yield_registered(actor, step, COMMAND_FAIL, act->tag);
		break;
	case ACT_YIELD_BOTH:
		yield_registered(actor, step, COMMAND_BOTH, act->tag);
		break;
	case ACT_YIELD_UNKNOWN:
		yield_registered(actor, step, COMMAND_UNKNOWN, act->tag);
		break;
	case ACT_YIELD_TWICE:
		yield_unwaited(actor, step, COMMAND_TWICE, TAG_TWICE);
		break;
	case ACT_YIELD_NEVER:
		yield_unwaited(actor, step, COMMAND_NEVER, TAG_NEVER);
		/* A process that has yielded runs again when something arrives, so something must. */
		yield_registered(actor, step, COMMAND_NOW, act->tag);
		break;
	case ACT_YIELD_MANY:
		for (int i = 0; i < 12; i++)
			yield_registered(actor, step, COMMAND_NOW, act->tag);
		break;
	case ACT_YIELD_SPAWN:
		yield_spawn(actor, step, act);
		break;
	case ACT_UNMONITOR:
		unmonitor(actor, step, act->number);
		break;
	case ACT_UNLINK:
		unlink_it(actor, step);
		break;
	case ACT_SLEEP:
		sleep_for(actor, step, act->number);
		break;
	case ACT_TIMER:
		start_timer(actor, step, act->number, false);
		break;
	case ACT_TICKER:
		start_timer(actor, step, act->number, true);
		break;
	case ACT_STOP_TIMER:
		stop_timer(actor, step, act->number);
		break;
	case ACT_YIELD_SEND:
	case ACT_YIELD_TERMINATE:
	case ACT_YIELD_CANCEL:
	case ACT_MONITOR:
	case ACT_LINK:
		act_on(actor, step, act);
		break;
	default:
		call(act, &context);
	}
}
