/*
 * scene.c - brings a scheduler into a state, has a caller of the wanted kind make one call, and
 * ends everything, so that a call that leaves something broken behind fails its own cell.
 *
 * Nothing sleeps for synchronisation: each part waits for a flag that another part sets.
 */
#include "tests/contract/scene.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

/* Commands of the processes here. */
enum { KEEP = 300, CALL };

/* The message that the caller ON_DROP, or HELPER, sees dropped. */
#define DROPPED 77

/* The message that makes the actor act. */
#define ACT 78

/* Long enough for the receiver of a held message to end, usually. */
#define HOLD_NS 20000000

/* A stop of processes that end at once. */
#define STOP_NS UINT64_C(3600000000000)

void scene_require(bool condition, const char *text)
{
	if (condition)
		return;
	fprintf(stderr, "not as expected: %s\n", text);
	_Exit(3);
}

void scene_await(_Atomic(bool) *flag)
{
	while (!atomic_load(flag))
		sched_yield();
}

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

/* ---- the call ---- */

/* The step that the calling thread is in, for callbacks within it. */
static _Thread_local struct sb_step *current_step;

static void make_call(struct scene *scene, struct sb_step *step)
{
	scene_require(!atomic_load(&scene->calls), "the caller makes one call");
	scene->result = scene->function->call(scene, step);
	atomic_fetch_add(&scene->calls, 1);
}

static void await_call(struct scene *scene)
{
	while (!atomic_load(&scene->calls) && !atomic_load(&scene->is_missed))
		sched_yield();
}

static void visit(void *arg, const struct sb_process_info *info)
{
	struct scene *scene = arg;

	(void)info;
	if (!atomic_load(&scene->calls))
		make_call(scene, current_step);
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
		make_call(scene, current_step);
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
		make_call(scene, NULL);
}

static const struct sb_process_ops newcomer = {
	.name = "newcomer",
	.state_bytes = sizeof(struct scene *),
	.init = newcomer_init,
	.step = newcomer_step,
	.close = newcomer_close,
};

static void *submit_newcomer(void *arg)
{
	struct scene *scene = arg;

	(void)!sb_scheduler_submit(scene->home, &newcomer, "main", sb_value_ptr(scene), NULL);
	return NULL;
}

static bool is_submitted(const struct scene *scene)
{
	if (scene->state == FORCED || scene->state == DESTROYED)
		return false;
	return scene->caller == INIT || scene->caller == ON_START ||
	       scene->caller == FOREIGN_CLOSE || scene->caller == FOREIGN_COMPLETE;
}

/* Its own callers begin before the stop, which refuses them otherwise. */
static bool begins_before_stop(const struct scene *scene)
{
	return scene->state == STOPPING && (is_submitted(scene) || scene->caller == STEP_INIT ||
					    scene->caller == STEP_ON_START);
}

/* ---- the companion ---- */

static int keep(void *context, const struct sb_command *command,
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

static const struct sb_process_ops companion = {
	.name = "companion",
	.state_bytes = sizeof(struct member),
	.init = member_init,
	.step = companion_step,
};

static sb_pid submit_member(struct scene *scene, struct sb_scheduler *s,
			    const struct sb_process_ops *ops)
{
	sb_pid pid = 0;

	scene_require(!sb_scheduler_submit(s, ops, "main", sb_value_ptr(scene), &pid),
		      "a process of the scene is submitted");
	return pid;
}

/* ---- the actor ---- */

static int serve_call(void *context, const struct sb_command *command,
		      const struct sb_completer *completer)
{
	struct scene *scene = context;

	(void)command;
	if (scene->caller == HANDED) {
		scene->handed = *completer;
		atomic_store(&scene->is_handed, true);
		return 0;
	}
	make_call(scene, NULL);
	return sb_complete(completer, sb_value_u64(0), 0);
}

static int route(struct sb_receiver *receiver, const struct sb_package *package)
{
	struct scene *scene =
		(struct scene *)(void *)((char *)receiver - offsetof(struct scene, router));

	(void)package;
	if (!atomic_load(&scene->calls))
		make_call(scene, NULL);
	return 0;
}

/* The helper thread drops what a long step holds for a process that has ended meanwhile. */
static void hold_for_helper(struct scene *scene, struct sb_step *step)
{
	scene_require(!sb_step_send(step, scene->receiver, sb_value_u64(DROPPED)),
		      "the receiver of the dropped message is alive");
	atomic_store(&scene->has_acted, true);
	await_call(scene);
}

static void spawn_newcomer(struct scene *scene, struct sb_step *step)
{
	current_step = step;
	(void)!sb_step_spawn(step, &newcomer, "main", sb_value_ptr(scene), NULL);
	current_step = NULL;
}

static int act(struct scene *scene, struct sb_step *step)
{
	int rc = 0;

	switch ((int)scene->caller) {
	case STEP:
		make_call(scene, step);
		break;
	case STEP_INIT:
	case STEP_ON_START:
		spawn_newcomer(scene, step);
		break;
	case STEP_VISITOR:
		current_step = step;
		sb_scheduler_list(scene->home, visit, scene);
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
		make_call(scene, NULL);
	if (scene->caller == FOREIGN_CLOSE && !atomic_load(&scene->calls))
		make_call(scene, NULL);
}

static const struct sb_process_ops actor = {
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

static const struct sb_process_ops stubborn = {
	.name = "stubborn",
	.state_bytes = sizeof(struct member),
	.init = member_init,
	.step = stubborn_step,
	.close = actor_close,
};

static bool has_actor(const struct scene *scene)
{
	return !is_submitted(scene) && scene->caller != FOREIGN_THREAD &&
	       (scene->caller != VISITOR || scene_is_far(scene->state));
}

/* ---- callbacks of the scheduler ---- */

static int on_start(void *hook, sb_pid pid)
{
	struct scene *scene = on_start_calls;

	(void)hook;
	(void)pid;
	on_start_calls = NULL;
	if (!scene)
		return 0;
	pause_inside(scene);
	make_call(scene, current_step);
	return 0;
}

static void on_complete(void *hook, const struct sb_exit *exit)
{
	struct scene *scene = hook;
	const bool is_mine = scene->caller == ON_COMPLETE ? exit->pid == scene->actor
							  : scene->caller == FOREIGN_COMPLETE &&
								    (exit->pid == scene->actor ||
								     exit->error == -ESHUTDOWN);

	if (is_mine && !atomic_load(&scene->calls))
		make_call(scene, NULL);
}

/* If the receiver of the held message got it before its end, a worker drops it, or nobody does. */
static void on_drop(void *hook, const struct sb_event *event)
{
	struct scene *scene = hook;

	if (event->type != SB_EVENT_MESSAGE || event->data.u64 != DROPPED ||
	    atomic_load(&scene->calls))
		return;
	if (scene->caller == HELPER && !pthread_equal(pthread_self(), scene->helper))
		atomic_store(&scene->is_missed, true);
	else if (scene->caller == HELPER || scene->caller == ON_DROP ||
		 scene->caller == FOREIGN_DROP)
		make_call(scene, NULL);
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

static const struct sb_process_ops receiver = {
	.name = "receiver",
	.state_bytes = sizeof(struct member),
	.init = member_init,
	.step = receiver_step,
};

static void prepare_helper(struct scene *scene)
{
	scene->receiver = submit_member(scene, scene->home, &receiver);
	scene_await(&scene->receiver_idles);
}

/* ---- states ---- */

static struct sb_scheduler *create(struct scene *scene, bool is_home)
{
	struct sb_place places[SCENE_WORKERS];
	const struct sb_placement placement = { .workers = SCENE_WORKERS,
						.place = places,
						.nodes = 1 };
	struct sb_scheduler *s = NULL;
	struct sb_config config;

	for (int i = 0; i < SCENE_WORKERS; i++)
		places[i] = (struct sb_place){ -1, i, i, 0, 0, 0 };
	sb_config_init(&config);
	config.hold_ns = HOLD_NS;
	if (is_home) {
		config.hook = scene;
		config.on_start = on_start;
		config.on_complete = on_complete;
		config.on_drop = on_drop;
		config.router = scene->caller == ROUTER ? &scene->router : NULL;
	}
	scene_require(!sb_scheduler_create(&s, &config, &placement), "create");
	if (is_home)
		scene->helper = created;
	scene_require(!sb_scheduler_register(s, KEEP, keep, scene), "register");
	scene_require(!sb_scheduler_register(s, CALL, serve_call, scene), "register");
	return s;
}

static void start(struct sb_scheduler *s)
{
	scene_require(!sb_scheduler_start(s, NULL), "start");
}

/* From now on there are two queued processes at most, and a completer of one that has ended. */
static void stop(struct scene *scene)
{
	scene_require(!sb_scheduler_stop(scene->s, STOP_NS), "stop");
}

static void *stop_thread(void *arg)
{
	stop(arg);
	return NULL;
}

/* What the state of s is made of before the caller begins. */
static void set_up(struct scene *scene)
{
	const enum state state = scene_state(scene->state);

	scene->s = create(scene, !scene_is_far(scene->state));
	scene->home = scene->s;
	if (scene_is_far(scene->state)) {
		scene->home = create(scene, true);
		start(scene->home);
	}
	atomic_store(&scene->stays, state == STOPPING);
	if (state != CREATED)
		start(scene->s);
	scene->companion = submit_member(scene, scene->s, state == FORCED ? &stubborn : &companion);
	if (state != CREATED)
		scene_await(&scene->is_kept);
	if (has_actor(scene) && scene->state != FORCED && scene->state != DESTROYED)
		scene->actor = submit_member(scene, scene->home, &actor);
	if (scene->caller == HELPER)
		prepare_helper(scene);
}

/* ---- the caller begins ---- */

static void begin_submission(struct scene *scene)
{
	if (is_submitted(scene))
		scene_require(!pthread_create(&scene->submitter, NULL, submit_newcomer, scene),
			      "a thread");
}

static void let_act(struct scene *scene)
{
	if (scene->actor && scene->caller != VISITOR)
		scene_require(!sb_scheduler_send(scene->home, scene->actor, sb_value_u64(ACT)),
			      "the actor is alive");
}

static void begin_early(struct scene *scene)
{
	const bool is_handed_then_stopped = scene->caller == HANDED && scene->state == STOPPED;

	if (!begins_before_stop(scene) && !is_handed_then_stopped)
		return;
	begin_submission(scene);
	let_act(scene);
	scene_await(is_handed_then_stopped ? &scene->is_handed : &scene->is_inside);
}

static void drop_on_helper(struct scene *scene)
{
	scene_await(&scene->has_acted);
	if (sb_scheduler_terminate(scene->home, scene->receiver))
		atomic_store(&scene->is_missed, true);
}

/* Returns when the call has returned. */
static void begin(struct scene *scene)
{
	if (!begins_before_stop(scene)) {
		begin_submission(scene);
		if (scene->caller != HANDED || scene->state != STOPPED)
			let_act(scene);
	}
	atomic_store(&scene->may_proceed, true);
	switch ((int)scene->caller) {
	case HANDED:
		scene_await(&scene->is_handed);
		make_call(scene, NULL);
		break;
	case FOREIGN_THREAD:
		make_call(scene, NULL);
		break;
	case VISITOR:
		sb_scheduler_list(scene->home, visit, scene);
		break;
	case HELPER:
		drop_on_helper(scene);
		break;
	default:
		break;
	}
	await_call(scene);
	if (scene->caller == HANDED && (!scene->is_gone || scene->home != scene->s))
		(void)sb_complete(&scene->handed, sb_value_u64(0), 0);
}

/* ---- the end ---- */

static void end_scheduler(struct sb_scheduler *s)
{
	const int rc = sb_scheduler_stop(s, STOP_NS);

	scene_require(!rc || rc == -EALREADY, "a stop after the call");
	sb_scheduler_destroy(s);
}

static void tear_down(struct scene *scene)
{
	if (is_submitted(scene))
		pthread_join(scene->submitter, NULL);
	if (scene->has_starter)
		pthread_join(scene->starter, NULL);
	if (!scene->is_gone)
		end_scheduler(scene->s);
	if (scene->home != scene->s)
		end_scheduler(scene->home);
	if (scene->made)
		sb_scheduler_destroy(scene->made);
}

/* ---- scenes ---- */

static void play_stopping(struct scene *scene)
{
	pthread_t stopper;

	begin_early(scene);
	scene_require(!pthread_create(&stopper, NULL, stop_thread, scene), "a thread");
	scene_await(&scene->is_cancelled);
	begin(scene);
	atomic_store(&scene->stays, false);
	/* A process that has ignored the cancel event takes a message and ends. */
	(void)!sb_scheduler_send(scene->s, scene->companion, sb_value_u64(0));
	if (scene->receiver && scene->home == scene->s)
		(void)!sb_scheduler_send(scene->s, scene->receiver, sb_value_u64(0));
	pthread_join(stopper, NULL);
}

/* The processes of before have ended; one more waits for a start. */
static void play_stopped(struct scene *scene)
{
	begin_early(scene);
	stop(scene);
	scene->companion = submit_member(scene, scene->s, &companion);
	begin(scene);
}

static void play_forced(struct scene *scene)
{
	scene->actor = scene->companion;
	scene_require(sb_scheduler_stop(scene->s, 0) == -ETIMEDOUT, "a stop needs force");
	await_call(scene);
}

static void play_destroyed(struct scene *scene)
{
	stop(scene);
	scene->actor = submit_member(scene, scene->s, &stubborn);
	scene->companion = scene->actor;
	scene_require(!sb_scheduler_send(scene->s, scene->actor, sb_value_u64(DROPPED)),
		      "the actor is alive");
	sb_scheduler_destroy(scene->s);
	scene->is_gone = true;
	await_call(scene);
}

static void play(struct scene *scene)
{
	set_up(scene);
	switch (scene_state(scene->state)) {
	case STOPPING:
		play_stopping(scene);
		break;
	case STOPPED:
		play_stopped(scene);
		break;
	case FORCED:
		play_forced(scene);
		break;
	case DESTROYED:
		play_destroyed(scene);
		break;
	default:
		begin(scene);
		break;
	}
	tear_down(scene);
}

int scene_play(const struct function *function, enum caller caller, enum state state)
{
	struct scene scene;

	do {
		scene = (struct scene){
			.function = function, .caller = caller, .state = state, .router = { route }
		};
		play(&scene);
	} while (atomic_load(&scene.is_missed) && !atomic_load(&scene.calls));
	return scene.result;
}
