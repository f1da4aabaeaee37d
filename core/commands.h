/*
 * commands.h - the built-in commands, which a process may yield without a registered handler.
 * core/commands.def describes each: its argument, its result and its errors. Besides, each of them
 * may complete with -ENOMEM.
 *
 * An argument that is a pointer is read after the step has returned and before the next step of
 * the process, so it must not point to the stack of the step; the state of the process is a
 * suitable place.
 */
#ifndef SB_CORE_COMMANDS_H
#define SB_CORE_COMMANDS_H

#include "core/dispatch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The ids of the built-in commands. sb_scheduler_register refuses them. */
enum sb_builtin {
#define COMMAND(id, NAME, name, doc) SB_COMMAND_##NAME = (id),
#include "core/commands.def"
#undef COMMAND
	SB_COMMAND_BUILTIN_END
};

/* The handlers of ids below this are found without a search. */
#define SB_COMMAND_ARRAY 256

/* Returns the name of a built-in command, such as "send", or NULL for any other id. Callers: any
 * thread. */
const char *sb_command_name(uint32_t id);

/* The argument of SB_COMMAND_SEND. */
struct sb_send_args {
	sb_pid to;
	union sb_value message;
};

/* The argument of SB_COMMAND_SPAWN, as those of sb_step_spawn. */
struct sb_spawn_args {
	const struct sb_process_ops *ops;
	const char *method;
	union sb_value input;
};

#ifdef __cplusplus
}
#endif

#endif
