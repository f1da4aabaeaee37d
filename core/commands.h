/*
 * commands.h - the built-in commands: what a process may yield without anybody
 * having registered a handler. Their ids are taken; to register one of them is
 * a collision.
 *
 * An argument that is a pointer is read when the step has returned, before any
 * other step of the process: it points into the process's state, or to something
 * that lives as long.
 *
 * A yield completes with the errors named there or, from any of them, -ENOMEM.
 */
#ifndef SB_CORE_COMMANDS_H
#define SB_CORE_COMMANDS_H

#include "core/dispatch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* commands.def says of each what it does, and its argument, result and errors. */
enum sb_builtin {
#define COMMAND(id, NAME, name, doc) SB_COMMAND_##NAME = (id),
#include "core/commands.def"
#undef COMMAND
	SB_COMMAND_BUILTIN_END
};

/* Ids below it are found at once. */
#define SB_COMMAND_ARRAY 256

static_assert(SB_COMMAND_BUILTIN_END <= SB_COMMAND_ARRAY, "in the registry's array");

/* "send" and so on; NULL for a command that is not built in. Callers: any thread. */
const char *sb_command_name(uint32_t id);

struct sb_send_args {
	sb_pid to;
	union sb_value message;
};

struct sb_spawn_args {
	const struct sb_process_ops *ops;
	const char *method;
	union sb_value input;
};

#ifdef __cplusplus
}
#endif

#endif
