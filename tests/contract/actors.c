/*
 * actors.c - the processes of a scene, and the callbacks that make the call.
 */
#include "tests/contract/actors.h"

#include <sched.h>

/* ---- creations of threads ---- */

_Thread_local bool scene_refuses_thread;

/* The last thread that the calling thread has created. */
static _Thread_local pthread_t created;

/* The linker gives the library this function for pthread_create; see the Makefile. */
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*entry)(void *),
			  void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*entry)(void *),
			  void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*entry)(void *),
			  void *arg)
{
	int rc;

	if (scene_refuses_thread)
		return EAGAIN;
	rc = __real_pthread_create(thread, attr, entry, arg);
	if (!rc)
		created = *thread;
	return rc;
}

pthread_t scene_last_thread(void)
{
	return created;
}

/* ---- the call ---- */

/* The step that the calling thread is in, for callbacks within it. */
static _Thread_local struct sb_step *current_step;

/* The step is one of home. */
void scene_make_call(struct scene *scene, struct sb_step *step)
{
	scene_require(!atomic_load(&scene->calls), "the caller makes one call");
	scene->result = scene->function->call(scene, scene->home == scene->s ? step : NULL);
	atomic_fetch_add(&scene->calls, 1);
}

void scene_await_call(struct scene *scene)
{
	while (!atomic_load(&scene->calls) && !atomic_load(&scene->is_missed))
		sched_yield();
}

void scene_visit(void *arg, const struct sb_process_info *info)
{
	struct scene *scene = arg;

	(void)info;
	if (!atomic_load(&scene->calls))
		scene_make_call(scene, current_step);
}

/* ---- submissions under way ---- */

/* The scene whose next on_start on this thread makes the call. */
static _Thread_local struct scene *on_start_calls;

/* The call is made in the state that is reached meanwhile. */
static void pause_inside(struct scene *scene)
{
	atomic_store(&scene->is_inside, true);
	scene_await(&scene->may_proceed);
}

static int newcomer_init(void *state, const char *method, union sb_value input)
{
	struct scene *scene = input.ptr;

	(void)method;
	*(struct scene **)state = scene;
	if (scene->caller == ON_START || scene->caller == STEP_ON_START) {
		on_start_calls = scene;
		return 0;
	}
	pause_inside(scene);
	if (scene->caller == INIT || scene->caller == STEP_INIT)
		scene_make_call(scene, current_step);
	return scene->caller == FOREIGN_CLOSE ? -EINVAL : 0;
}

static int newcomer_step(void *state, struct sb_step *step, const struct sb_event *events,
			 uint32_t count)
{
	(void)state;
	(void)step;
	(void)events;
	(void)count;
	return SB_DONE;
}

static void newcomer_close(void *state)
{
	struct scene *scene = *(struct scene **)state;

	if (scene->caller == FOREIGN_CLOSE && !atomic_load(&scene->calls))
		scene_make_call(scene, NULL);
}

const struct sb_process_ops scene_newcomer = {
	.name = "newcomer",
	.state_bytes = sizeof(struct scene *),
	.init = newcomer_init,
	.step = newcomer_step,
	.close = newcomer_close,
};

/* ---- the companion ---- */

int scene_keep(void *context, const struct sb_command *command,
	       const struct sb_completer *completer)
{
	struct scene *scene = context;

	(void)command;
	if (!atomic_load(&scene->is_kept)) {
		scene->completer = *completer;
		atomic_store(&scene->is_kept, true);
	}
	return 0;
}

struct member {
	struct scene *scene;
	bool has_yielded;
	bool is_cancelled;
	bool acts;
};

static int member_init(void *state, const char *method, union sb_value input)
{
	(void)method;
	*(struct member *)state = (struct member){ .scene = input.ptr };
	return 0;
}

/* Whether a message has this content. */
static bool take_events(struct member *member, const struct sb_event *events, uint32_t count,
			uint64_t content)
{
	bool has_come = false;

	for (uint32_t i = 0; i < count; i++) {
		has_come |= events[i].type == SB_EVENT_MESSAGE && events[i].data.u64 == content;
		member->is_cancelled |= events[i].type == SB_EVENT_CANCEL;
	}
	return has_come;
}

static int keep_once(struct member *member, struct sb_step *step)
{
	if (member->has_yielded)
		return 0;
	member->has_yielded = true;
	return sb_step_yield(step, KEEP, sb_value_u64(0), 1);
}

static int companion_step(void *state, struct sb_step *step, const struct sb_event *events,
			  uint32_t count)
{
	struct member *member = state;
	struct scene *scene = member->scene;

	(void)take_events(member, events, count, 0);
	if (member->is_cancelled)
		atomic_store(&scene->is_cancelled, true);
	if (member->is_cancelled && !atomic_load(&scene->stays))
		return SB_DONE;
	return keep_once(member, step) ? -ENOMEM : SB_IDLE;
}

const struct sb_process_ops scene_companion = {
	.name = "companion",
	.state_bytes = sizeof(struct member),
	.init = member_init,
	.step = companion_step,
};

/* ---- the actor ---- */

int scene_serve(void *context, const struct sb_command *command,
		const struct sb_completer *completer)
{
	struct scene *scene = context;

	(void)command;
	if (scene->caller == HANDED) {
		scene->handed = *completer;
		atomic_store(&scene->is_handed, true);
		return 0;
	}
	scene_make_call(scene, NULL);
	return sb_complete(completer, sb_value_u64(0), 0);
}

int scene_route(struct sb_receiver *receiver, const struct sb_package *package)
{
	struct scene *scene =
		(struct scene *)(void *)((char *)receiver - offsetof(struct scene, router));

	(void)package;
	if (!atomic_load(&scene->calls))
		scene_make_call(scene, NULL);
	return 0;
}

/* The helper thread drops what a long step holds for a process that has ended meanwhile. */
static void hold_for_helper(struct scene *scene, struct sb_step *step)
{
	scene_require(!sb_step_send(step, scene->receiver, sb_value_u64(DROPPED)),
		      "the receiver of the dropped message is alive");
	atomic_store(&scene->has_acted, true);
	scene_await_call(scene);
}

static void spawn_newcomer(struct scene *scene, struct sb_step *step)
{
	current_step = step;
	(void)!sb_step_spawn(step, &scene_newcomer, "main", sb_value_ptr(scene), NULL);
	current_step = NULL;
}

static int act(struct scene *scene, struct sb_step *step)
{
	int rc = 0;

	switch ((int)scene->caller) {
	case STEP:
		scene_make_call(scene, step);
		break;
	case STEP_INIT:
	case STEP_ON_START:
		spawn_newcomer(scene, step);
		break;
	case STEP_VISITOR:
		current_step = step;
		sb_scheduler_list(scene->home, scene_visit, scene);
		current_step = NULL;
		break;
	case HANDLER:
	case HANDED:
		rc = sb_step_yield(step, CALL, sb_value_u64(0), 2);
		return rc ? rc : SB_YIELD;
	case ON_DROP:
	case ROUTER:
		rc = sb_step_send(step, sb_step_self(step), sb_value_u64(DROPPED));
		break;
	case HELPER:
		hold_for_helper(scene, step);
		break;
	default: /* its end makes the call */
		break;
	}
	return rc ? rc : SB_DONE;
}

static int actor_step(void *state, struct sb_step *step, const struct sb_event *events,
		      uint32_t count)
{
	struct member *member = state;
	struct scene *scene = member->scene;

	if (take_events(member, events, count, ACT) && !member->acts) {
		member->acts = true;
		return act(scene, step);
	}
	if (member->acts && atomic_load(&scene->calls))
		return SB_DONE;
	return member->is_cancelled && !atomic_load(&scene->stays) ? SB_DONE : SB_IDLE;
}

static void actor_close(void *state)
{
	struct scene *scene = ((struct member *)state)->scene;

	if (scene->caller == CLOSE && !atomic_load(&scene->calls))
		scene_make_call(scene, NULL);
	if (scene->caller == FOREIGN_CLOSE && !atomic_load(&scene->calls))
		scene_make_call(scene, NULL);
}

const struct sb_process_ops scene_actor = {
	.name = "actor",
	.state_bytes = sizeof(struct member),
	.init = member_init,
	.step = actor_step,
	.close = actor_close,
};

/* A process that force has to end: it always has a message unread, and ignores the cancel event. */
static int stubborn_step(void *state, struct sb_step *step, const struct sb_event *events,
			 uint32_t count)
{
	struct member *member = state;

	(void)events;
	(void)count;
	if (keep_once(member, step) ||
	    sb_step_send(step, sb_step_self(step), sb_value_u64(DROPPED)))
		return -ENOMEM;
	return SB_IDLE;
}

const struct sb_process_ops scene_stubborn = {
	.name = "stubborn",
	.state_bytes = sizeof(struct member),
	.init = member_init,
	.step = stubborn_step,
	.close = actor_close,
};

/* ---- callbacks of the scheduler ---- */

int scene_on_start(void *hook, sb_pid pid)
{
	struct scene *scene = on_start_calls;

	(void)hook;
	(void)pid;
	on_start_calls = NULL;
	if (!scene)
		return 0;
	pause_inside(scene);
	scene_make_call(scene, current_step);
	return 0;
}

void scene_on_complete(void *hook, const struct sb_exit *exit)
{
	struct scene *scene = hook;
	const bool is_mine = scene->caller == ON_COMPLETE ? exit->pid == scene->actor
							  : scene->caller == FOREIGN_COMPLETE &&
								    (exit->pid == scene->actor ||
								     exit->error == -ESHUTDOWN);

	if (is_mine && !atomic_load(&scene->calls))
		scene_make_call(scene, NULL);
}

/* If the receiver of the held message got it before its end, a worker drops it, or nobody does. */
void scene_on_drop(void *hook, const struct sb_event *event)
{
	struct scene *scene = hook;

	if (event->type != SB_EVENT_MESSAGE || event->data.u64 != DROPPED ||
	    atomic_load(&scene->calls))
		return;
	if (scene->caller == HELPER && !pthread_equal(pthread_self(), scene->helper))
		atomic_store(&scene->is_missed, true);
	else if (scene->caller == HELPER || scene->caller == ON_DROP ||
		 scene->caller == FOREIGN_DROP)
		scene_make_call(scene, NULL);
}

/* ---- the helper thread ---- */

static int receiver_step(void *state, struct sb_step *step, const struct sb_event *events,
			 uint32_t count)
{
	struct member *member = state;
	struct scene *scene = member->scene;

	(void)step;
	if (take_events(member, events, count, DROPPED))
		atomic_store(&scene->is_missed, true);
	atomic_store(&scene->receiver_idles, true);
	return member->is_cancelled && !atomic_load(&scene->stays) ? SB_DONE : SB_IDLE;
}

const struct sb_process_ops scene_receiver = {
	.name = "receiver",
	.state_bytes = sizeof(struct member),
	.init = member_init,
	.step = receiver_step,
};
