/*
 * scene.c - brings a scheduler into a state, has a caller of the wanted kind make one call, and
 * ends everything, so that a call that leaves something broken behind fails its own cell.
 *
 * No part relies on a time: each waits for a flag that another part sets.
 */
#include "tests/contract/scene.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/contract/actors.h"

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
	const struct timespec some = { .tv_nsec = 50000 };

	while (!atomic_load(flag))
		nanosleep(&some, NULL); /* leaves the CPU to who sets it */
}

/* ---- which parts a scene has ---- */

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

static bool has_actor(const struct scene *scene)
{
	return !is_submitted(scene) && scene->caller != FOREIGN_THREAD &&
	       (scene->caller != VISITOR || scene_is_far(scene->state));
}

/* ---- states ---- */

static sb_pid submit_member(struct scene *scene, struct sb_scheduler *s,
			    const struct sb_process_ops *ops)
{
	sb_pid pid = 0;

	scene_require(!sb_scheduler_submit(s, ops, "main", sb_value_ptr(scene), &pid),
		      "a process of the scene is submitted");
	return pid;
}

static void prepare_helper(struct scene *scene)
{
	scene->receiver = submit_member(scene, scene->home, &scene_receiver);
	scene_await(&scene->receiver_idles);
}

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
	config.record = false;
	if (is_home) {
		config.hook = scene;
		config.on_start = scene_on_start;
		config.on_complete = scene_on_complete;
		config.on_drop = scene_on_drop;
		config.router = scene->caller == ROUTER ? &scene->router : NULL;
	}
	scene_require(!sb_scheduler_create(&s, &config, &placement), "create");
	if (is_home)
		scene->helper = scene_last_thread();
	scene_require(!sb_scheduler_register(s, KEEP, scene_keep, scene), "register");
	scene_require(!sb_scheduler_register(s, CALL, scene_serve, scene), "register");
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
	scene->companion = submit_member(scene, scene->s,
					 state == FORCED ? &scene_stubborn : &scene_companion);
	if (state != CREATED)
		scene_await(&scene->is_kept);
	if (has_actor(scene) && scene->state != FORCED && scene->state != DESTROYED)
		scene->actor = submit_member(scene, scene->home, &scene_actor);
	if (scene->caller == HELPER)
		prepare_helper(scene);
}

/* ---- the caller begins ---- */

static void *submit_newcomer(void *arg)
{
	struct scene *scene = arg;

	(void)!sb_scheduler_submit(scene->home, &scene_newcomer, "main", sb_value_ptr(scene), NULL);
	return NULL;
}

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
		scene_make_call(scene, NULL);
		break;
	case FOREIGN_THREAD:
		scene_make_call(scene, NULL);
		break;
	case VISITOR:
		sb_scheduler_list(scene->home, scene_visit, scene);
		break;
	case HELPER:
		drop_on_helper(scene);
		break;
	default:
		break;
	}
	scene_await_call(scene);
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
	scene->companion = submit_member(scene, scene->s, &scene_companion);
	begin(scene);
}

static void play_forced(struct scene *scene)
{
	scene->actor = scene->companion;
	scene_require(sb_scheduler_stop(scene->s, 0) == -ETIMEDOUT, "a stop needs force");
	scene_await_call(scene);
}

static void play_destroyed(struct scene *scene)
{
	stop(scene);
	scene->actor = submit_member(scene, scene->s, &scene_stubborn);
	scene->companion = scene->actor;
	scene_require(!sb_scheduler_send(scene->s, scene->actor, sb_value_u64(DROPPED)),
		      "the actor is alive");
	sb_scheduler_destroy(scene->s);
	scene->is_gone = true;
	scene_await_call(scene);
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
		scene = (struct scene){ .function = function,
					.caller = caller,
					.state = state,
					.router = { scene_route } };
		play(&scene);
	} while (atomic_load(&scene.is_missed) && !atomic_load(&scene.calls));
	return scene.result;
}
