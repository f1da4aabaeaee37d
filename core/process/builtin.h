/* builtin.h - the built-in commands. */
#ifndef SB_CORE_PROCESS_BUILTIN_H
#define SB_CORE_PROCESS_BUILTIN_H

#include "core/platform/base.h"

struct sb_scheduler;

/* Registers the built-in commands. */
void sb_commands_register(struct sb_scheduler *scheduler);

#endif
