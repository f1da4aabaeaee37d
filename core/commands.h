/*
 * commands.h - the built-in commands: what a process may yield without anybody
 * having registered a handler. Their ids are taken; to register one of them is
 * a collision.
 *
 * An argument that is a pointer is read when the step has returned, before any
 * other step of the process: it points into the process's state, or to something
 * that lives as long.
 *
 * A yield completes with the errors named here or, from any of them, -ENOMEM.
 */
#ifndef SB_CORE_COMMANDS_H
#define SB_CORE_COMMANDS_H

#include "core/process.h"

enum sb_builtin {
	/* arg.ptr: struct sb_send_args. Errors: as sb_step_send. */
	SB_COMMAND_SEND = 240,
	/* arg.ptr: struct sb_spawn_args. Result: the PID. Errors: as
	 * sb_step_spawn. */
	SB_COMMAND_SPAWN,
	/* arg.u64: a PID, one's own too. As sb_scheduler_terminate. */
	SB_COMMAND_TERMINATE,
	/* arg.u64: a PID. As sb_scheduler_cancel. */
	SB_COMMAND_CANCEL,

	/*
	 * arg.u64: a PID. When that process ends, however it does, the yielder
	 * gets an SB_EVENT_EXIT, once; that wakes it as a message does. -ESRCH:
	 * it has ended already, and no event comes. -EEXIST: it is monitored by
	 * this process already. -EINVAL: one's own.
	 */
	SB_COMMAND_MONITOR,
	/* arg.u64: a PID. 0: no exit event will come. -ENOENT: there is no such
	 * monitor (any more): the event is there, or on its way. */
	SB_COMMAND_UNMONITOR,

	/*
	 * arg.u64: a PID. From now on, when one of the two ends with an error,
	 * the other is terminated; and so on, along its links. Errors as
	 * monitor's.
	 */
	SB_COMMAND_LINK,
	/* arg.u64: a PID. -ENOENT: they are not linked (any more). */
	SB_COMMAND_UNLINK,

	/* arg.u64: ns. Completes when so much time has passed, or a little
	 * later: after 1024 ns more and the step the worker is in. */
	SB_COMMAND_SLEEP,

	/*
	 * arg.u64: ns. Completes at once with the timer's id. When the time has
	 * passed, the process gets an SB_EVENT_TIMER with the yield's tag. A
	 * ticker sends one after each period (at least 1024 ns; -EINVAL), until
	 * it is stopped or the process has ended; after a delay of the workers,
	 * one for several. A process that does not keep up gets them all, later.
	 * All timers of a process end with it.
	 */
	SB_COMMAND_TIMER_START,
	SB_COMMAND_TICKER,

	/* arg.u64: the id of a timer or ticker that this process has started.
	 * 0: it fires no more; so no event of a timer will come, but of a
	 * ticker those that are on their way. -ENOENT: it has fired, or been
	 * stopped. */
	SB_COMMAND_TIMER_STOP,

	SB_COMMAND_BUILTIN_END
};

static_assert(SB_COMMAND_BUILTIN_END <= 256, "in the registry's array");

struct sb_send_args {
	sb_pid to;
	union sb_value message;
};

struct sb_spawn_args {
	const struct sb_process_ops *ops;
	const char *method;
	union sb_value input;
};

#endif
