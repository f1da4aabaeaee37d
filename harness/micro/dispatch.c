/*
 * dispatch.c - what a process pays on one worker of a real scheduler: a command
 * that is answered at once, a message there and back, a process spawned.
 *
 * Nothing is recorded, no budget of time is kept, and between runs the worker
 * sleeps at once: the scheduler's own path, whose instructions can be counted.
 * Check: the process that asks says how many answers it has got, each the right
 * one; or as many processes have completed as were spawned.
 */
#include <errno.h>

#include "core/platform/atomic.h"
#include "core/scheduler.h"
#include "harness/micro/kind.h"

#define COMMAND 1

struct host {
	struct sb_scheduler *scheduler;
	bool started;
	sb_pid echo;
	uint64_t right;
	uint64_t runs;
	_Atomic(uint64_t) completed;
	int error;
};

/* The input of a process that asks; on the stack of the thread that executes it. */
struct task {
	uint64_t n;
	sb_pid echo;
};

struct asker {
	struct task task;
	uint64_t asked;
	uint64_t right;
};

static int init_asker(void *state, const char *method, union sb_value input)
{
	struct asker *asker = state;

	(void)method;
	asker->task = *(const struct task *)input.ptr;
	return 0;
}

static int finish(struct sb_step *step, const struct asker *asker)
{
	sb_step_result(step, sb_value_u64(asker->right));
	return SB_DONE;
}

/* ---- a command ---- */

static int answer(void *context, const struct sb_command *command,
		  const struct sb_completer *completer)
{
	(void)context;
	return sb_complete(completer, sb_value_u64(command->arg.u64 + 1), 0);
}

static int step_yield(void *state, struct sb_step *step, const struct sb_event *events,
		      uint32_t count)
{
	struct asker *asker = state;
	int rc;

	for (uint32_t i = 0; i < count; i++)
		asker->right +=
			events[i].tag == asker->asked && events[i].data.u64 == asker->asked + 1;
	if (asker->asked == asker->task.n)
		return finish(step, asker);
	asker->asked++;
	rc = sb_step_yield(step, COMMAND, sb_value_u64(asker->asked), asker->asked);
	return rc ? rc : SB_YIELD;
}

/* ---- a message there and back ---- */

static int init_echo(void *state, const char *method, union sb_value input)
{
	(void)state;
	(void)method;
	(void)input;
	return 0;
}

/* A message is the PID to answer to; the answer is its own. */
static int step_echo(void *state, struct sb_step *step, const struct sb_event *events,
		     uint32_t count)
{
	int rc = 0;

	(void)state;
	for (uint32_t i = 0; i < count && !rc; i++) {
		if (events[i].type == SB_EVENT_CANCEL)
			return SB_DONE;
		rc = sb_step_send(step, events[i].data.u64, sb_value_u64(sb_step_self(step)));
	}
	return rc ? rc : SB_IDLE;
}

static const struct sb_process_ops echo = {
	.name = "echo", .state_bytes = sizeof(int), .init = init_echo, .step = step_echo
};

static int step_send(void *state, struct sb_step *step, const struct sb_event *events,
		     uint32_t count)
{
	struct asker *asker = state;
	int rc;

	for (uint32_t i = 0; i < count; i++)
		asker->right += events[i].data.u64 == asker->task.echo;
	if (asker->asked == asker->task.n)
		return finish(step, asker);
	asker->asked++;
	rc = sb_step_send(step, asker->task.echo, sb_value_u64(sb_step_self(step)));
	return rc ? rc : SB_IDLE;
}

/* ---- a process ---- */

static int step_child(void *state, struct sb_step *step, const struct sb_event *events,
		      uint32_t count)
{
	(void)state;
	(void)step;
	(void)events;
	(void)count;
	return SB_DONE;
}

static const struct sb_process_ops child = {
	.name = "child", .state_bytes = sizeof(int), .init = init_echo, .step = step_child
};

/* The child runs before the parent does again: one of them lives at a time. */
static int step_spawn(void *state, struct sb_step *step, const struct sb_event *events,
		      uint32_t count)
{
	struct asker *asker = state;

	(void)events;
	(void)count;
	if (asker->asked == asker->task.n)
		return finish(step, asker);
	asker->asked++;
	asker->right += !sb_step_spawn(step, &child, "main", sb_value_u64(0), NULL);
	return SB_CONTINUE;
}

/* ---- the scheduler around them ---- */

enum { YIELD, MESSAGE, SPAWN };

#define ASKER(its_name, its_step)                                                                  \
	{                                                                                          \
		.name = its_name, .state_bytes = sizeof(struct asker), .init = init_asker,         \
		.step = its_step                                                                   \
	}
static const struct sb_process_ops askers[] = {
	[YIELD] = ASKER("yield", step_yield),
	[MESSAGE] = ASKER("message", step_send),
	[SPAWN] = ASKER("spawn", step_spawn),
};

static void on_complete(void *hook, const struct sb_exit *exit)
{
	(void)exit;
	sb_add_rlx(&((struct host *)hook)->completed, 1);
}

static int create(struct host *h)
{
	struct sb_config config = SB_CONFIG_DEFAULT;
	struct sb_place place = { .os_cpu = -1 };
	const struct sb_placement placement = { .workers = 1, .place = &place };

	config.record = false;
	config.sample_every = 0;
	config.tick_ns = 0;
	config.event_ns = 0;
	config.spin_tight = 0;
	config.spin_yield = 0;
	config.hook = h;
	config.on_complete = on_complete;
	return sb_scheduler_create(&h->scheduler, &config, &placement);
}

static int set_up(struct sb_micro *m)
{
	struct host *h = m->state;
	int rc = create(h);

	if (!rc)
		rc = sb_scheduler_register(h->scheduler, COMMAND, answer, NULL);
	if (!rc)
		rc = sb_scheduler_start(h->scheduler, NULL);
	h->started = !rc;
	if (!rc && m->kind->variant == MESSAGE)
		rc = sb_scheduler_submit(h->scheduler, &echo, "main", sb_value_u64(0), &h->echo);
	return rc;
}

#define STOP_NS UINT64_C(10000000000)

static void tear_down(struct sb_micro *m)
{
	struct host *h = m->state;

	if (h->started)
		(void)sb_scheduler_stop(h->scheduler, STOP_NS);
	sb_scheduler_destroy(h->scheduler);
}

static void run(struct sb_micro *m, uint32_t thread, uint64_t n)
{
	struct host *h = m->state;
	struct task task = { n, h->echo };
	struct sb_exit exit;
	const int rc = sb_scheduler_execute(h->scheduler, &askers[m->kind->variant], "main",
					    sb_value_ptr(&task), &exit);

	(void)thread;
	h->runs++;
	if (rc || exit.error)
		h->error = rc ? rc : exit.error;
	else
		h->right += exit.result.u64;
}

static const char *check(struct sb_micro *m, uint64_t operations)
{
	const struct host *h = m->state;

	if (h->error)
		return "a process has failed";
	return h->right == operations ? NULL : "answers were lost, or wrong";
}

/* The children, and in each run their parent. */
static const char *check_spawn(struct sb_micro *m, uint64_t operations)
{
	struct host *h = m->state;
	const char *wrong = check(m, operations);

	if (wrong)
		return wrong;
	if (sb_scheduler_wait_idle(h->scheduler, STOP_NS))
		return "a child has not ended";
	return sb_load_rlx(&h->completed) == operations + h->runs ? NULL
								  : "not every child has completed";
}

#define DISPATCH(...)                                                                              \
	.elsewhere = true, .state_bytes = sizeof(struct host), .set_up = set_up, .run = run,       \
	.tear_down = tear_down, __VA_ARGS__

const struct sb_micro_kind sb_micro_dispatch[] = {
	{ DISPATCH(.name = "dispatch/yield", .variant = YIELD,
		   .doc = "a command yielded and answered at once", .check = check) },
	{ DISPATCH(.name = "dispatch/message", .variant = MESSAGE,
		   .doc = "a message to a process, and its answer", .check = check) },
	{ DISPATCH(.name = "dispatch/spawn", .variant = SPAWN,
		   .doc = "a process spawned, run and completed",
		   .uncounted = "liburcu's thread frees them, now and then",
		   .check = check_spawn) },
	{ .name = NULL },
};
