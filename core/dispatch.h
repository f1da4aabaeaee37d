/*
 * dispatch.h - commands: the requests of processes, their handlers, and their completion.
 *
 * A step yields commands (sb_step_yield). When the step has returned, the worker calls the handler
 * of each command. The yield completes with an SB_EVENT_COMPLETION for the process. A command
 * without a handler completes with -ENOSYS.
 */
#ifndef SB_CORE_DISPATCH_H
#define SB_CORE_DISPATCH_H

#include "core/process.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A request. The handler of the command defines the meaning of arg. */
struct sb_command {
	uint32_t id;
	union sb_value arg;
};

struct sb_scheduler;

/*
 * The right to complete one yield, once, with sb_complete. A completer is a value: a handler that
 * completes later copies it, and any thread may use the copy until sb_scheduler_destroy. It belongs
 * to its yield, also if another yield has the same tag, and holds no reference to the process: if
 * the process has ended, sb_complete returns -ESRCH, also if a later process has its PID. The
 * fields are the scheduler's and must not be read or written by the program.
 */
struct sb_completer {
	struct sb_scheduler *scheduler;
	sb_pid pid;
	uint64_t tag;
	uint64_t issued_ns;
	uint64_t start_ns;
	uint64_t yield;
};

/*
 * Serves one command.
 *
 * context is that of sb_scheduler_register. command and *completer are valid during the call.
 *
 * Returns 0: the handler has called sb_complete, or it or a holder of a copy of the completer will
 * call it, once. Or returns -errno: the yield completes with this error. If a handler has completed
 * the yield and returns an error, the yield has completed once, as by sb_complete.
 *
 * Called on the worker that has run the step, exactly once for each yield that is dispatched. Must
 * not block. May call every function whose callers are "any thread", but not the functions of
 * core/step.h. If there is no memory for the completion that an error leads to, the process ends
 * with -ENOMEM, and its remaining yields are not dispatched.
 */
typedef int (*sb_handler)(void *context, const struct sb_command *command,
			  const struct sb_completer *completer);

#ifdef __cplusplus
}
#endif

#endif
