/*
 * process.c - a process that interprets the acts of its type, and its checks of itself.
 *
 * A step does some acts; then the process waits for the completions that it is owed. After the last
 * act and the last completion it finishes: it notes which events must be in its mailbox, continues
 * until a step has no events, and checks that they arrived.
 */
#include <errno.h>

#include "tests/torture/driver.h"
#include "tests/torture/host.h"

/* Messages may arrive faster than a process takes them. After so many steps it ends unchecked. */
#define FINISHING_STEPS 200

/* ---- entering and leaving a step ---- */

static void enter_step(struct actor *actor, const struct sb_step *step, uint32_t count,
		       const struct sb_event *events)
{
	struct life *life = actor->life;
	const uint32_t bound = scheduler_of(life)->config.mailbox_bound;
	uint32_t messages = 0;

	expect(!swap(&life->running, 1), "process %u runs twice at once", life->number);
	expect(get(&life->starts) == 1 && !get(&life->closes), "process %u is stepped %s",
	       life->number, get(&life->closes) ? "after its close" : "before its start");
	expect(!get(&life->has_ended_itself), "process %u is stepped after its end", life->number);
	expect(step->self == get(&life->pid), "a step has the PID %lx", (unsigned long)step->self);
	expect(count <= scheduler_of(life)->config.event_budget, "a step has %u events", count);
	/* Before the last step returned, a terminate had, or the linked process had failed. */
	expect(!actor->is_doomed, "process %u, which was terminated, is stepped", life->number);
	for (uint32_t i = 0; i < count; i++)
		messages += events[i].type == SB_EVENT_MESSAGE;
	expect(!bound || messages <= bound, "a mailbox for %u messages had %u", bound, messages);
	actor->steps++;
	add(&life->steps, 1);
	add(&own()->progress, 1);
}

static void leave_step(struct actor *actor)
{
	struct life *life = actor->life;

	if (actor->link && actor->is_linked && !get(&life->is_unlinked) &&
	    get(&actor->link->completes) && get(&actor->link->exit_error) &&
	    get(&actor->link->pid) < SB_PID_CHOSEN)
		actor->is_doomed = true;
	if (get(&life->is_terminated))
		actor->is_doomed = true;
	put(&life->owed, actor->owed_all);
	put(&life->running, 0);
}

/* ---- the end ---- */

static void begin_to_finish(struct actor *actor)
{
	actor->finishes = true;
	actor->must_cancel = get(&actor->life->is_cancelled);
	for (uint32_t i = 0; i < ACTOR_MONITORS; i++) {
		struct actor_monitor *m = &actor->monitor[i];

		/* The library posts exit events before it calls on_complete. */
		m->must_report = m->state == MONITOR_ON && m->pid < SB_PID_CHOSEN &&
				 get(&m->life->completes);
	}
}

static void check_finished(const struct actor *actor)
{
	expect(!actor->must_cancel || actor->cancels, "process %u did not get its cancel event",
	       actor->life->number);
	for (uint32_t i = 0; i < ACTOR_MONITORS; i++)
		expect(!actor->monitor[i].must_report || actor->monitor[i].state != MONITOR_ON,
		       "process %u did not get the exit event of process %u", actor->life->number,
		       actor->monitor[i].life->number);
}

static int end(struct actor *actor, struct sb_step *step)
{
	struct life *life = actor->life;
	const bool fails = !type_of(life)->is_plain && type_of(life)->ending == ENDS_WITH_ERROR;

	put(&life->result, UINT64_C(1) << 40 | life->number);
	put(&life->own_error, fails ? OWN_ERROR : 0);
	sb_step_result(step, sb_value_u64(life->result));
	put(&life->has_ended_itself, true);
	return fails ? OWN_ERROR : SB_DONE;
}

static int finish(struct actor *actor, struct sb_step *step, uint32_t count)
{
	if (!actor->finishes) {
		begin_to_finish(actor);
		return SB_CONTINUE;
	}
	if (count && ++actor->idle_steps < FINISHING_STEPS)
		return SB_CONTINUE;
	if (!count)
		check_finished(actor);
	return end(actor, step);
}

/* ---- a step ---- */

/* The next act of the type; NULL: there are no more. */
static const struct action *next_act(struct actor *actor)
{
	const struct type *type = type_of(actor->life);

	while (actor->at < type->acts) {
		const struct action *act = &type->act[actor->at++];

		if (!act->off)
			return act;
	}
	return NULL;
}

/* True if the next act is done in the same step. */
static bool hurries(const struct action *act)
{
	return act->number % 3 && act->kind != ACT_CONTINUE && act->kind != ACT_WAIT;
}

static bool must_stay(const struct actor *actor)
{
	const struct type *type = type_of(actor->life);

	return (get(&actor->life->is_probe) || (!type->is_plain && type->ending == SERVES)) &&
	       !actor->cancels;
}

/* The status of a step that waits for completions, if any are owed. */
static int waiting(const struct actor *actor, const struct sb_step *step)
{
	if (!actor->owed_all)
		return SB_CONTINUE;
	return step->yields && actor->steps % 2 ? SB_IDLE : SB_YIELD;
}

static int go_on(struct actor *actor, struct sb_step *step, uint32_t count)
{
	const struct action *act;
	bool did = false;

	if (actor->finishes)
		return finish(actor, step, count);
	if (actor->waits)
		return SB_IDLE;
	do {
		act = next_act(actor);
		if (act)
			actor_act(actor, step, act);
		did |= act != NULL;
	} while (act && hurries(act));
	if (actor->waits)
		return SB_IDLE;
	if (!act && type_of(actor->life)->ending == ENDS_AT_ONCE && !type_of(actor->life)->is_plain)
		return end(actor, step);
	/* With yields, continue waits for a completion, too. */
	if (did)
		return (actor->steps + actor->life->number) % 3 ? SB_CONTINUE
								: waiting(actor, step);
	if (actor->owed_all)
		return SB_YIELD;
	if (must_stay(actor))
		return actor->steps % 2 ? SB_IDLE : SB_YIELD;
	return finish(actor, step, count);
}

int actor_step(void *state, struct sb_step *step, const struct sb_event *events, uint32_t count)
{
	struct actor *actor = state;
	int status;

	enter_step(actor, step, count, events);
	for (uint32_t i = 0; i < count; i++)
		actor_take(actor, step, &events[i]);
	if (get(&actor->life->tells) == ENDGAME_EXECUTE && actor->steps == 1)
		add(&scheduler_of(actor->life)->inside, 1);
	status = go_on(actor, step, count);
	leave_step(actor);
	return status;
}
