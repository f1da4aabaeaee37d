/* dispatch.h - commands: what a process yields, who serves it, and who completes it. */
#ifndef SB_CORE_DISPATCH_H
#define SB_CORE_DISPATCH_H

#include "core/process.h"

#ifdef __cplusplus
extern "C" {
#endif

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
	uint64_t yield;	    /* which one: the tags of two may be equal */
};

/*
 * Serves one command. Runs on the worker of the yielding process and must not
 * block. Either it, or any holder of a copy of the completer, calls
 * sb_complete once - at once, later, or from another thread - and it returns
 * 0; or it returns -errno, does not complete, and the yield fails with that.
 */
typedef int (*sb_handler)(void *context, const struct sb_command *command,
			  const struct sb_completer *completer);

#ifdef __cplusplus
}
#endif

#endif
