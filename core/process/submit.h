/* submit.h - how a process comes to be. */
#ifndef SB_CORE_PROCESS_SUBMIT_H
#define SB_CORE_PROCESS_SUBMIT_H

#include "core/word.h"

struct sb_worker;

/* As sb_step_spawn. */
int sb_submit_here(struct sb_worker *worker, const struct sb_process_ops *ops, const char *method,
		   union sb_value input, sb_pid *pid);

#endif
