/*
 * scene.h - one cell of the contract matrix: a function, a caller, and the state of the scheduler
 * that the call is for.
 */
#ifndef SB_TESTS_CONTRACT_SCENE_H
#define SB_TESTS_CONTRACT_SCENE_H

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "affinity/schedbench.h"

enum caller {
#define CALLER(NAME, text, thread, place, ...) NAME,
#include "tests/contract/callers.def"
#undef CALLER
	CALLERS
};

/*
 * The states of functions.def. What it calls ended has two scenes: ended by force in a stop, and
 * in a destroy. FAR_…: the caller belongs to another scheduler, which is started.
 */
enum state {
	CREATED,
	STARTED,
	STOPPING,
	STOPPED,
	FORCED,
	DESTROYED,
	FAR_CREATED,
	FAR_STARTED,
	FAR_STOPPING,
	FAR_STOPPED,
	STATES
};

struct scene;

/* A function of the table; call returns its result, or WRONG. step is NULL unless the caller is
 * within a step. */
struct function {
	const char *name;
	int (*call)(struct scene *scene, struct sb_step *step);
};

/* A call has returned a value that the headers exclude. */
#define WRONG 1000000

/* The workers of each scheduler of a scene. */
#define SCENE_WORKERS 2

struct scene {
	const struct function *function;
	enum caller caller;
	enum state state;

	struct sb_scheduler *s;	   /* the call is for this one */
	struct sb_scheduler *home; /* the caller belongs to this one; often the same */
	bool is_gone;		   /* the call has destroyed s */
	struct sb_scheduler *made; /* by the call */
	pthread_t starter;	   /* starts s, because the call waits for that */
	bool has_starter;

	/* The companion: a process of s that can be sent to, cancelled and terminated. */
	sb_pid companion;
	struct sb_completer completer; /* of a yield of the companion */
	_Atomic(bool) is_kept;	       /* the completer */
	_Atomic(bool) is_cancelled;    /* the companion */
	_Atomic(bool) stays;	       /* processes ignore the cancel event */

	/* The actor: a process of home that makes the call, or leads to it. */
	sb_pid actor;
	struct sb_completer handed; /* of a yield of the actor */
	_Atomic(bool) is_handed;
	_Atomic(bool) has_acted; /* the actor, whose message was not delivered early */
	sb_pid receiver;	 /* of a message that the helper thread drops */
	_Atomic(bool) receiver_idles;
	pthread_t helper; /* of home; create has started it */

	/* A submission under way waits until the state is reached. */
	pthread_t submitter;
	_Atomic(bool) is_inside;
	_Atomic(bool) may_proceed;
	struct sb_receiver router;

	_Atomic(bool) is_missed; /* chance kept the caller from existing; the scene is repeated */
	_Atomic(uint32_t) calls;
	int result;
};

/* Brings a scheduler into the state, has the caller make the call, and ends all of it. Returns
 * the result of the call. */
int scene_play(const struct function *function, enum caller caller, enum state state);

/* A process that ends at once, for functions that submit one. */
extern const struct sb_process_ops scene_quick;

/* What functions.def and callers.def list, in their order. */
extern const struct function functions[];

/* The next creation of a thread by the calling thread fails with EAGAIN. */
extern _Thread_local bool scene_refuses_thread;

/* Ends the program with the text, if the condition does not hold: the cell has failed. */
void scene_require(bool condition, const char *text);

void scene_await(_Atomic(bool) *flag);

static inline bool scene_is_far(enum state state)
{
	return state >= FAR_CREATED;
}

/* The state of the scheduler that is called. */
static inline enum state scene_state(enum state state)
{
	return scene_is_far(state) ? state - FAR_CREATED : state;
}

#endif
