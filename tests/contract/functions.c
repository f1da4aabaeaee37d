/*
 * functions.c - one call of each function of the table, with arguments that are allowed, so that
 * the caller and the state alone decide the result.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/contract/scene.h"

static int call_sb_config_init(struct scene *scene, struct sb_step *step)
{
	struct sb_config config = { .tick = 0 };

	(void)scene;
	(void)step;
	sb_config_init(&config);
	return config.tick == SB_DEFAULT_TICK ? 0 : WRONG;
}

/* A create that fails late cleans up wherever it is called. */
static int call_sb_scheduler_create(struct scene *scene, struct sb_step *step)
{
	struct sb_place place = { -1, 0, 0, 0, 0, 0 };
	const struct sb_placement placement = { .workers = 1, .place = &place, .nodes = 1 };
	struct sb_config config;
	int rc;

	(void)step;
	sb_config_init(&config);
	scene_refuses_thread = true;
	rc = sb_scheduler_create(&scene->made, &config, &placement);
	scene_refuses_thread = false;
	if (rc != -EAGAIN)
		return WRONG;
	return sb_scheduler_create(&scene->made, &config, &placement);
}

static int call_sb_scheduler_destroy(struct scene *scene, struct sb_step *step)
{
	(void)step;
	sb_scheduler_destroy(scene->s);
	scene->is_gone = true;
	return 0;
}

static int handle(void *context, const struct sb_command *command,
		  const struct sb_completer *completer)
{
	(void)context;
	(void)command;
	return sb_complete(completer, sb_value_u64(0), 0);
}

static int call_sb_scheduler_register(struct scene *scene, struct sb_step *step)
{
	(void)step;
	return sb_scheduler_register(scene->s, 1000, handle, NULL);
}

static int call_sb_scheduler_start(struct scene *scene, struct sb_step *step)
{
	(void)step;
	return sb_scheduler_start(scene->s, NULL);
}

static int call_sb_scheduler_stop(struct scene *scene, struct sb_step *step)
{
	(void)step;
	return sb_scheduler_stop(scene->s, UINT64_MAX);
}

static int call_sb_scheduler_submit(struct scene *scene, struct sb_step *step)
{
	sb_pid pid = 0;
	const int rc =
		sb_scheduler_submit(scene->s, &scene_quick, "main", sb_value_ptr(NULL), &pid);

	(void)step;
	return !rc == !pid ? WRONG : rc;
}

static int call_sb_scheduler_submit_as(struct scene *scene, struct sb_step *step)
{
	(void)step;
	return sb_scheduler_submit_as(scene->s, SB_PID_CHOSEN + 1, &scene_quick, "main",
				      sb_value_ptr(NULL));
}

static void *start(void *scene)
{
	scene_require(!sb_scheduler_start(((struct scene *)scene)->s, NULL),
		      "the scheduler of an execute starts");
	return NULL;
}

/* Before the first start an execute waits for that. */
static int quick_init(void *state, const char *method, union sb_value input)
{
	struct scene *scene = input.ptr;

	(void)state;
	(void)method;
	if (scene && scene_state(scene->state) == CREATED) {
		scene_require(!pthread_create(&scene->starter, NULL, start, scene), "a thread");
		scene->has_starter = true;
	}
	return 0;
}

static int quick_step(void *state, struct sb_step *step, const struct sb_event *events,
		      uint32_t count)
{
	(void)state;
	(void)events;
	(void)count;
	sb_step_result(step, sb_value_u64(42));
	return SB_DONE;
}

const struct sb_process_ops scene_quick = {
	.name = "quick",
	.state_bytes = 8,
	.init = quick_init,
	.step = quick_step,
};

static int call_sb_scheduler_execute(struct scene *scene, struct sb_step *step)
{
	struct sb_exit exit = { .result = sb_value_u64(0) };
	const int rc =
		sb_scheduler_execute(scene->s, &scene_quick, "main", sb_value_ptr(scene), &exit);

	(void)step;
	return exit.result.u64 == (rc ? 0 : 42) ? rc : WRONG;
}

static int call_sb_scheduler_terminate(struct scene *scene, struct sb_step *step)
{
	(void)step;
	return sb_scheduler_terminate(scene->s, scene->companion);
}

static int call_sb_scheduler_cancel(struct scene *scene, struct sb_step *step)
{
	(void)step;
	return sb_scheduler_cancel(scene->s, scene->companion);
}

static int call_sb_scheduler_send(struct scene *scene, struct sb_step *step)
{
	(void)step;
	return sb_scheduler_send(scene->s, scene->companion, sb_value_u64(0));
}

static int call_sb_scheduler_receiver(struct scene *scene, struct sb_step *step)
{
	const struct sb_receiver *receiver = sb_scheduler_receiver(scene->s);

	(void)step;
	return receiver && receiver->send ? 0 : WRONG;
}

static int call_sb_complete(struct scene *scene, struct sb_step *step)
{
	(void)step;
	return sb_complete(&scene->completer, sb_value_u64(0), 0);
}

static int call_sb_scheduler_wait_idle(struct scene *scene, struct sb_step *step)
{
	(void)step;
	return sb_scheduler_wait_idle(scene->s, 0);
}

static int call_sb_scheduler_settle(struct scene *scene, struct sb_step *step)
{
	(void)step;
	return sb_scheduler_settle(scene->s);
}

static int call_sb_scheduler_idle_since_ns(struct scene *scene, struct sb_step *step)
{
	(void)step;
	(void)sb_scheduler_idle_since_ns(scene->s);
	return 0;
}

static int call_sb_scheduler_take_shortage(struct scene *scene, struct sb_step *step)
{
	(void)step;
	return sb_scheduler_take_shortage(scene->s);
}

static int call_sb_scheduler_workers(struct scene *scene, struct sb_step *step)
{
	(void)step;
	return sb_scheduler_workers(scene->s) == SCENE_WORKERS ? 0 : WRONG;
}

static void visit(void *arg, const struct sb_process_info *info)
{
	const struct scene *scene = ((void **)arg)[0];
	bool *has_seen = ((void **)arg)[1];

	*has_seen |= info->pid == scene->companion;
}

/* The companion is listed as long as it lives. */
static int call_sb_scheduler_list(struct scene *scene, struct sb_step *step)
{
	const bool lives = scene->state != FORCED && scene->state != DESTROYED;
	bool has_seen = false;
	void *arg[] = { scene, &has_seen };

	(void)step;
	sb_scheduler_list(scene->s, visit, arg);
	return has_seen == lives ? 0 : WRONG;
}

/* Of another scheduler, or on another thread: an assertion looks at nothing but its worker. */
static struct sb_step *step_of(struct sb_step *step)
{
	static struct sb_step strange;

	strange.worker = (struct sb_worker *)(void *)&strange;
	return step ? step : &strange;
}

static int call_sb_step_send(struct scene *scene, struct sb_step *step)
{
	return sb_step_send(step_of(step), scene->companion, sb_value_u64(0));
}

static int call_sb_step_spawn(struct scene *scene, struct sb_step *step)
{
	(void)scene;
	return sb_step_spawn(step_of(step), &scene_quick, "main", sb_value_ptr(NULL), NULL);
}

static int call_sb_step_flush(struct scene *scene, struct sb_step *step)
{
	(void)scene;
	sb_step_flush(step_of(step));
	return 0;
}

static int call_sb_step_worker(struct scene *scene, struct sb_step *step)
{
	(void)scene;
	return sb_step_worker(step_of(step)) < SCENE_WORKERS ? 0 : WRONG;
}

static int call_sb_step_yield(struct scene *scene, struct sb_step *step)
{
	(void)scene;
	return sb_step_yield(step_of(step), SB_COMMAND_CANCEL, sb_value_u64(0), 1);
}

/* It is called by sb_step_yield alone, when the array is full. */
static int call_sb_step_yield_overflow(struct scene *scene, struct sb_step *step)
{
	const struct sb_yield yield = { { SB_COMMAND_CANCEL, sb_value_u64(0) }, 1 };

	(void)scene;
	while (step_of(step)->yields < SB_STEP_YIELDS) {
		if (sb_step_yield(step_of(step), SB_COMMAND_CANCEL, sb_value_u64(0), 1))
			return WRONG;
	}
	return sb_step_yield_overflow(step_of(step), &yield);
}

static int call_sb_step_result(struct scene *scene, struct sb_step *step)
{
	(void)scene;
	sb_step_result(step_of(step), sb_value_u64(42));
	return 0;
}

static int call_sb_step_self(struct scene *scene, struct sb_step *step)
{
	return sb_step_self(step_of(step)) == scene->actor ? 0 : WRONG;
}

static int place_one(int (*function)(uint32_t workers, struct sb_placement *placement))
{
	struct sb_placement placement;
	int rc = function(1, &placement);

	if (rc)
		return rc;
	rc = placement.workers == 1 ? 0 : WRONG;
	sb_placement_free(&placement);
	return rc;
}

static int call_sb_placement_here(struct scene *scene, struct sb_step *step)
{
	(void)scene;
	(void)step;
	return place_one(sb_placement_here);
}

static int call_sb_placement_unpinned(struct scene *scene, struct sb_step *step)
{
	(void)scene;
	(void)step;
	return place_one(sb_placement_unpinned);
}

static int copy_one(struct sb_placement *to)
{
	struct sb_place place = { -1, 0, 0, 0, 0, 0 };
	const struct sb_placement from = { .workers = 1, .place = &place, .nodes = 1 };

	return sb_placement_copy(to, &from);
}

static int call_sb_placement_copy(struct scene *scene, struct sb_step *step)
{
	struct sb_placement copy;
	int rc = copy_one(&copy);

	(void)scene;
	(void)step;
	if (rc)
		return rc;
	rc = copy.workers == 1 && copy.place[0].os_cpu == -1 ? 0 : WRONG;
	sb_placement_free(&copy);
	return rc;
}

static int call_sb_placement_free(struct scene *scene, struct sb_step *step)
{
	struct sb_placement copy;

	(void)scene;
	(void)step;
	if (copy_one(&copy))
		return WRONG;
	sb_placement_free(&copy);
	return copy.workers || copy.place ? WRONG : 0;
}

static int call_sb_command_name(struct scene *scene, struct sb_step *step)
{
	(void)scene;
	(void)step;
	return strcmp(sb_command_name(SB_COMMAND_SEND), "send") ? WRONG : 0;
}

static int call_sb_value_u64(struct scene *scene, struct sb_step *step)
{
	(void)scene;
	(void)step;
	return sb_value_u64(42).u64 == 42 ? 0 : WRONG;
}

static int call_sb_value_ptr(struct scene *scene, struct sb_step *step)
{
	(void)step;
	return sb_value_ptr(scene).ptr == scene ? 0 : WRONG;
}

static int call_sb_min_u64(struct scene *scene, struct sb_step *step)
{
	(void)scene;
	(void)step;
	return sb_min_u64(1, UINT64_MAX) == 1 ? 0 : WRONG;
}

static int call_sb_max_u64(struct scene *scene, struct sb_step *step)
{
	(void)scene;
	(void)step;
	return sb_max_u64(1, UINT64_MAX) == UINT64_MAX ? 0 : WRONG;
}

static int call_sb_check_failed(struct scene *scene, struct sb_step *step)
{
	(void)scene;
	(void)step;
	sb_check_failed("contract", 1, "a check", 1, 2);
}

const struct function functions[] = {
#define FUNCTION(name, class, ...) { #name, call_##name },
#include "tests/contract/functions.def"
#undef FUNCTION
};
