/*
 * dispatch.h - from a command's id to its handler.
 *
 * Registration comes first, by one thread; then freeze; from then on look-ups
 * take no lock and registration is an error. Ids 0 to 255 index an array,
 * larger ones a sorted table.
 */
#ifndef SB_CORE_DISPATCH_H
#define SB_CORE_DISPATCH_H

#include "core/process.h"

#define SB_COMMAND_ARRAY 256

/* A process's request. The handler defines the meaning of arg. */
struct sb_command {
	uint32_t id;
	union sb_value arg;
};

struct sb_scheduler;

/*
 * The right to complete one yield, once. A value: a handler that completes
 * later copies it. It holds no reference; when the process is gone by then, the
 * completion is dropped and says so. Not used after sb_scheduler_destroy.
 */
struct sb_completer {
	struct sb_scheduler *scheduler;
	sb_pid pid;
	uint64_t tag;
	uint64_t issued_ns; /* when it was yielded; 0: it is not timed */
	uint64_t start_ns;  /* of the process: a chosen PID may be another's later */
};

/*
 * Serves one command. Runs on the worker of the yielding process and must not
 * block. Either it, or any holder of a copy of the completer, calls
 * sb_complete once - at once, later, or from another thread - and it returns
 * 0; or it returns -errno, does not complete, and the yield fails with that.
 */
typedef int (*sb_handler)(void *context, const struct sb_command *command,
			  const struct sb_completer *completer);

struct sb_dispatch_entry {
	uint32_t id;
	sb_handler handler;
	void *context;
};

struct sb_dispatch {
	struct sb_dispatch_entry array[SB_COMMAND_ARRAY];
	struct sb_dispatch_entry *table; /* sorted by id after freeze */
	uint32_t table_length;
	bool frozen;
};

void sb_dispatch_init(struct sb_dispatch *dispatch);
void sb_dispatch_fini(struct sb_dispatch *dispatch);

/* Returns 0, -EEXIST (the id has a handler), -EROFS (frozen), -EINVAL (no
 * handler) or -ENOMEM. */
SB_MUST_CHECK int sb_dispatch_register(struct sb_dispatch *dispatch, uint32_t id,
				       sb_handler handler, void *context);

/* Ends registration. Idempotent. */
void sb_dispatch_freeze(struct sb_dispatch *dispatch);

/* Of an id that is not in the array. */
const struct sb_dispatch_entry *sb_dispatch_search(const struct sb_dispatch *dispatch, uint32_t id);

/* Returns NULL for an id without a handler. Any thread, after freeze. */
static inline const struct sb_dispatch_entry *sb_dispatch_lookup(const struct sb_dispatch *dispatch,
								 uint32_t id)
{
	if (SB_UNLIKELY(id >= SB_COMMAND_ARRAY))
		return sb_dispatch_search(dispatch, id);
	return dispatch->array[id].handler ? &dispatch->array[id] : NULL;
}

#endif
