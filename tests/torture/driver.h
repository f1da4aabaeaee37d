/* driver.h - the parts of the driver to each other: actions, processes, callbacks, a round. */
#ifndef SB_TESTS_TORTURE_DRIVER_H
#define SB_TESTS_TORTURE_DRIVER_H

#include "tests/torture/model.h"

/* Commands that have a handler in every scheduler of a round; 1 to 255 are in the registry's
 * array, the last two in its map. */
enum command {
	COMMAND_NOW = 1,
	COMMAND_FAIL,
	COMMAND_BOTH,
	COMMAND_TWICE,
	COMMAND_NEVER = 1000,
	COMMAND_LATER = 5000000,
	COMMAND_UNKNOWN = 77
};

/* The error that a handler returns, and the one that a completion has. */
#define HANDLER_ERROR	 (-EBADMSG)
#define COMPLETION_ERROR (-EPROTO)
#define OWN_ERROR	 (-EDOM) /* of a process */

struct actor;

/* The caller of an action. */
struct context {
	enum who who;
	uint32_t scheduler;  /* of a step or a callback */
	struct actor *actor; /* of a step */
	struct sb_step *step;
	uint32_t stream; /* of messages; 0: they have no order */
	uint64_t *sequence;
	uint32_t depth; /* of a submitted process */
};

/* ---- calls.c: calls of the interface, and what they may return ---- */

/* An action that is not a step's alone. */
void call(const struct action *action, const struct context *context);

/* Maybe one or two calls, drawn by the calling thread, from a callback or a visitor of that
 * scheduler. */
void call_in(uint32_t scheduler, enum feature feature, enum who who);

/* NULL, or a process that the scheduler has accepted. tells: an endgame's, or 0. */
struct life *call_submit(uint32_t scheduler, uint32_t type, const struct context *context,
			 enum endgame tells);
void call_execute(uint32_t scheduler, uint32_t type, enum endgame tells);
/* Stops a scheduler whose processes all end when they are asked to: force is a failure. */
void call_stop(struct scheduler_model *s);
void call_list(struct scheduler_model *s, bool tells);
struct life *call_spawn(uint32_t scheduler, uint32_t type, const struct context *context);

/* to: a process that has a PID. Returns the result of the call. */
int call_send(struct life *to, const struct context *context, bool from_step);

void call_terminate(struct life *life);

/* Completes the yield kept at that place; false: the place is empty. */
bool call_complete(uint32_t place, struct rng *rng);

/* ---- callbacks.c ---- */

void callbacks_config(struct scheduler_model *s);
void callbacks_register(struct scheduler_model *s);
void callbacks_ops(uint32_t type, struct sb_process_ops *ops);

/* ---- process.c ---- */

/* Limits of what a process has at the same time. */
#define ACTOR_TIMERS   4
#define ACTOR_MONITORS 4
#define ACTOR_STREAMS  16

/* Tags of registered commands are small, and shared on purpose; those of built-in commands name
 * the life, a number, which of the process's timers or monitors, and the command. */
#define TAG_TWICE      8
#define TAG_NEVER      9
#define BUILTIN_TAGS   UINT64_C(16)
#define TAG_LIFE_SHIFT 40
#define TAG_SHIFT      4
#define TAG_WHAT       15
enum what {
	WHAT_TIMER = 1,
	WHAT_TIMER_STOP, /* the timer's tag plus 1 */
	WHAT_SLEEP,
	WHAT_MONITOR,
	WHAT_UNMONITOR,
	WHAT_SEND,
	WHAT_SPAWN,
	WHAT_LINK,
	WHAT_OTHER
};

enum timer_state { TIMER_FREE, TIMER_ASKED, TIMER_RUNS, TIMER_STOPS, TIMER_OVER };

/* A timer with such a delay does not fire in a round. */
#define FAR_NS UINT64_C(3600000000000)

struct actor_timer {
	enum timer_state state;
	bool is_ticker, must_fire, is_far;
	uint64_t tag, id, start_ns, delay_ns, periods;
	uint32_t fired;
};

enum monitor_state { MONITOR_FREE, MONITOR_ASKED, MONITOR_ON, MONITOR_STOPS, MONITOR_OVER };

struct actor_monitor {
	enum monitor_state state;
	struct life *life;
	uint64_t pid;
	bool must_report; /* the other had completed when this process began to finish */
};

struct actor {
	struct life *life;
	size_t more; /* bytes behind it */
	uint64_t sequence;
	uint64_t tags; /* given to built-in commands */
	uint32_t at;   /* of its type's acts */
	uint32_t owed[TAGS], owed_all;
	uint32_t cancels, idle_steps;
	uint64_t steps;
	bool finishes, is_doomed, must_cancel, waits;
	struct actor_timer timer[ACTOR_TIMERS];
	struct actor_monitor monitor[ACTOR_MONITORS];
	struct life *link;
	bool is_linked;
	uint64_t sleep_tag[ACTOR_TIMERS], sleep_until_ns[ACTOR_TIMERS];
	struct sb_send_args send_args;
	struct sb_spawn_args spawn_args;
	struct life *spawned;
	uint64_t spawn_tag, send_tag;
	uint32_t send_number;
	uint32_t spawn_slot;
	struct {
		uint32_t stream;
		uint64_t sequence;
	} last[ACTOR_STREAMS];
};

int actor_step(void *state, struct sb_step *step, const struct sb_event *events, uint32_t count);

/* ---- yields.c: a step's own actions ---- */

void actor_act(struct actor *actor, struct sb_step *step, const struct action *action);

/* In on_drop: if a step of this thread is sending to a process that is to end meanwhile, ends it
 * and waits for that, and submits another. */
void actor_end_meanwhile(uint32_t scheduler);

/* ---- events.c ---- */

void actor_take(struct actor *actor, struct sb_step *step, const struct sb_event *event);

/* ---- round.c, endgame.c ---- */

/* Runs the script in `world`; all other members are zero. Returns only if nothing failed. */
void round_run(void);
void endgame_run(uint32_t scheduler);
void scheduler_create(uint32_t scheduler);

/* A delay in nanoseconds, chosen by the number. */
uint64_t delay_of(uint32_t number);

#endif
