/* callbacks.c - functions that the library calls: init and close of processes, the scheduler's callbacks,
 * handlers of commands, and the router. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/torture/driver.h"
#include "tests/torture/host.h"

static void call_for(const struct life *life, enum feature feature)
{
	if (get(&life->depth) < DEPTH_QUIET)
		call_in(get(&life->scheduler), feature, CALLBACK);
}

/* ---- init and close ---- */

/* The expected byte i of the memory that a type adds behind struct actor. */
static unsigned char filling(const struct life *life, size_t i)
{
	return (unsigned char)(life->number + i);
}

static void fill(void *state, struct life *life)
{
	struct actor *actor = state;
	const size_t more = script_state_bytes(type_of(life));
	unsigned char *byte = (unsigned char *)(actor + 1);

	expect(more < SIZE_MAX / 2, "init was called for a process whose state is too large");
	for (size_t i = 0; i < sizeof(*actor) + more; i++)
		expect(!((unsigned char *)state)[i], "byte %zu of a new state is not zero", i);
	for (size_t i = 0; i < more; i++)
		byte[i] = filling(life, i);
	actor->life = life;
	actor->more = more;
}

static void count_in(struct scheduler_model *s)
{
	const uint64_t alive = add(&s->alive, 1) + 1;

	expect(alive <= s->config.processes_max, "%lu processes are alive, at most %lu may be",
	       (unsigned long)alive, (unsigned long)s->config.processes_max);
}

/* Delays the caller of an endgame in init: stop then waits for it, and destroy follows at once. */
static void stay_inside(struct scheduler_model *s)
{
	add(&s->inside, 1);
	host_sleep_ns(rng_below(&own()->rng, 3) * 60000);
}

static int init(void *state, const char *method, union sb_value input)
{
	struct life *life = input.ptr;
	int error;

	expect(!add(&life->inits, 1), "init was called twice for process %u", life->number);
	expect((uintptr_t)state % 16 == 0, "the state of a process is not aligned");
	count_in(scheduler_of(life));
	if (has_state(life))
		fill(state, life);
	else
		add(&world->zero_inits, 1);
	if (get(&life->tells) == ENDGAME_SUBMIT)
		stay_inside(scheduler_of(life));
	call_for(life, FEATURE_INIT_CALLS);
	own()->starting = life;
	error = strcmp(method, "main") ? -ENOTSUP : get(&life->init_error);
	if (error)
		add(&scheduler_of(life)->alive, -1);
	return error;
}

static void close_actor(void *state)
{
	struct actor *actor = state;
	struct life *life = actor->life;
	const unsigned char *byte = (const unsigned char *)(actor + 1);

	expect(!get(&life->running), "process %u was closed during a step", life->number);
	expect(!add(&life->closes, 1), "process %u was closed twice", life->number);
	expect(get(&life->inits) == 1, "process %u was closed without init", life->number);
	for (size_t i = 0; i < actor->more; i++)
		expect(byte[i] == filling(life, i), "byte %zu of a state has been overwritten", i);
	call_for(life, FEATURE_CLOSE_CALLS);
}

static void close_zero(void *state)
{
	(void)state;
	add(&world->zero_closes, 1);
}

/* ---- steps of processes without state ---- */

static int step_zero(void *state, struct sb_step *step, const struct sb_event *events,
		     uint32_t count)
{
	uint32_t i;

	(void)state;
	add(&own()->progress, 1);
	for (i = 0; i < count; i++) {
		expect(events[i].type == SB_EVENT_MESSAGE || events[i].type == SB_EVENT_CANCEL,
		       "a process that has asked for nothing got an event of type %u",
		       events[i].type);
		if (events[i].type == SB_EVENT_MESSAGE)
			parcel_end(events[i].data.ptr, PARCEL_RECEIVED);
	}
	for (i = 0; i < world->script.schedulers; i++) {
		struct life *life = life_of(&world->scheduler[i], step->self);

		if (!life || has_state(life) || get(&life->completes))
			continue;
		/* Two schedulers may have the same PID; both lives then get the same result. */
		put(&life->result, step->self);
		put(&life->own_error, 0);
		put(&life->has_ended_itself, true);
	}
	sb_step_result(step, sb_value_u64(step->self));
	return SB_DONE;
}

void callbacks_ops(uint32_t number, struct sb_process_ops *ops)
{
	const struct type *type = &world->script.type[number];
	const size_t more = script_state_bytes(type);

	*ops = (struct sb_process_ops){ .name = "actor",
					.state_bytes = sizeof(struct actor) + more,
					.init = init,
					.step = actor_step,
					.close = close_actor };
	if (type->is_plain)
		return;
	if (type->state == STATE_HUGE)
		ops->state_bytes = SIZE_MAX - number;
	if (type->state == STATE_NONE) {
		ops->state_bytes = 0;
		ops->step = step_zero;
		ops->close = close_zero;
	}
}

/* ---- of the scheduler ---- */

static int on_start(void *hook, sb_pid pid)
{
	struct scheduler_model *s = hook;
	struct life *life = own()->starting;

	expect(life && scheduler_of(life) == s, "on_start without an init before it");
	own()->starting = NULL;
	life_name(life, pid);
	call_for(life, FEATURE_START_CALLS);
	if (get(&life->start_error)) {
		add(&s->alive, -1);
		return get(&life->start_error);
	}
	expect(!add(&life->starts, 1), "on_start was called twice for process %u", life->number);
	return 0;
}

static void on_complete(void *hook, const struct sb_exit *exit)
{
	struct scheduler_model *s = hook;
	struct life *life = life_of(s, exit->pid);

	expect(life, "on_complete of PID %lx, which nobody has", (unsigned long)exit->pid);
	life_completed(life, exit);
	add(&s->alive, -1);
	call_for(life, FEATURE_COMPLETE_CALLS);
}

static void on_drop(void *hook, const struct sb_event *event)
{
	const struct scheduler_model *s = hook;
	struct parcel *parcel = event->data.ptr;
	struct life *life;

	expect(event->type == SB_EVENT_MESSAGE || event->type == SB_EVENT_COMPLETION,
	       "an event of type %u was dropped", event->type);
	/* Completions with an error have no value. */
	if (event->type == SB_EVENT_COMPLETION && !parcel)
		return;
	life = &world->life[parcel->life];
	expect(&world->scheduler[parcel->scheduler] == s,
	       "a message to scheduler %u was dropped by another", parcel->scheduler);
	expect(parcel->is_completion == (event->type == SB_EVENT_COMPLETION),
	       "a message was dropped as a completion, or a completion as a message");
	parcel_end(parcel, PARCEL_DROPPED);
	actor_end_meanwhile(get(&life->scheduler));
	call_for(life, FEATURE_DROP_CALLS);
}

/* The router of a scheduler: the parcel names the scheduler of the receiver. */
static int pass_on(struct sb_receiver *receiver, const struct sb_package *package)
{
	const struct parcel *parcel = package->message.ptr;
	struct sb_receiver *to =
		sb_scheduler_receiver(world->scheduler[parcel->scheduler].scheduler);

	expect(((struct scheduler_model *)(void *)receiver)->config.router == receiver,
	       "a router was called that is not this scheduler's");
	expect(package->to == parcel->pid, "a router got another PID than the sender gave");
	return to->send(to, package);
}

void callbacks_config(struct scheduler_model *s)
{
	const struct scheduler_script *script = &world->script.scheduler[s - world->scheduler];

	s->config.hook = s;
	s->config.on_start = on_start;
	s->config.on_complete = on_complete;
	s->config.on_drop = on_drop;
	s->router.send = pass_on;
	if (script->has_router && !script->is_plain)
		s->config.router = &s->router;
}

/* ---- handlers ---- */

/* Returns the process whose yield it is. It must be alive and in no step. */
static struct life *yielder(const struct sb_completer *completer, void *context)
{
	struct scheduler_model *s = context;
	struct life *life = life_of(s, completer->pid);

	expect(completer->scheduler == s->scheduler, "a completer of another scheduler");
	expect(life && get(&life->starts) && !get(&life->closes),
	       "a handler was called for PID %lx, which is not alive",
	       (unsigned long)completer->pid);
	expect(!get(&life->running), "a handler was called during a step of its process");
	call_for(life, FEATURE_HANDLER_CALLS);
	return life;
}

/* Returns 0, or an error with which the handler may fail. */
static int complete(const struct sb_completer *completer, struct life *life)
{
	struct parcel *parcel = parcel_new(life, 0, NULL);
	uint32_t number;
	int rc;

	if (!parcel)
		return sb_complete(completer, sb_value_ptr(NULL), COMPLETION_ERROR);
	number = parcel->number;
	parcel->is_completion = true;
	put(&world->parcel[number].is_completion, 1);
	rc = sb_complete(completer, sb_value_ptr(parcel), 0);
	parcel_sent(number, rc);
	expect(!rc || (rc == -ENOMEM && get(&world->refuses_memory)),
	       "sb_complete returned %d to a handler", rc);
	return rc;
}

static int complete_now(void *context, const struct sb_command *command,
			const struct sb_completer *completer)
{
	(void)command;
	return complete(completer, yielder(completer, context));
}

static int fail_it(void *context, const struct sb_command *command,
		   const struct sb_completer *completer)
{
	(void)command;
	(void)yielder(completer, context);
	return HANDLER_ERROR;
}

static int complete_and_fail(void *context, const struct sb_command *command,
			     const struct sb_completer *completer)
{
	(void)command;
	(void)complete(completer, yielder(completer, context));
	return HANDLER_ERROR;
}

static int complete_twice(void *context, const struct sb_command *command,
			  const struct sb_completer *completer)
{
	struct life *life = yielder(completer, context);

	(void)command;
	(void)complete(completer, life);
	(void)complete(completer, life);
	return 0;
}

static int never_complete(void *context, const struct sb_command *command,
			  const struct sb_completer *completer)
{
	(void)command;
	(void)yielder(completer, context);
	return 0;
}

/* Keeps the completer where any thread, step or callback may take it. If there is no room, the
 * handler completes the yield at once. */
static int complete_later(void *context, const struct sb_command *command,
			  const struct sb_completer *completer)
{
	struct life *life = yielder(completer, context);
	struct pending *pending = malloc(sizeof(*pending));
	const uint32_t first = rng_below(&own()->rng, PENDING_MAX);

	(void)command;
	*pending = (struct pending){ .completer = *completer, .life = life };
	for (uint32_t i = 0; i < PENDING_MAX; i++) {
		struct pending *none = NULL;

		if (__atomic_compare_exchange_n(&world->pending[(first + i) % PENDING_MAX], &none,
						pending, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			return 0;
	}
	free(pending);
	return complete(completer, life);
}

void callbacks_register(struct scheduler_model *s)
{
	static const struct {
		enum command command;
		sb_handler handler;
	} handlers[] = {
		{ COMMAND_NOW, complete_now },	     { COMMAND_FAIL, fail_it },
		{ COMMAND_BOTH, complete_and_fail }, { COMMAND_TWICE, complete_twice },
		{ COMMAND_NEVER, never_complete },   { COMMAND_LATER, complete_later },
	};

	for (size_t i = 0; i < COUNT_OF(handlers); i++)
		expect(!sb_scheduler_register(s->scheduler, handlers[i].command,
					      handlers[i].handler, s),
		       "a command cannot be registered");
	expect(sb_scheduler_register(s->scheduler, COMMAND_LATER, complete_later, s) == -EEXIST &&
		       sb_scheduler_register(s->scheduler, SB_COMMAND_SEND, complete_now, s) ==
			       -EEXIST,
	       "a command was registered twice");
}
