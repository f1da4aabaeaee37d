/* send.h - sending, cancelling, terminating. worker is the caller's own, or NULL. */
#ifndef SB_CORE_MESSAGE_SEND_H
#define SB_CORE_MESSAGE_SEND_H

#include "core/word.h"

struct sb_scheduler;
struct sb_worker;

void sb_send_init(struct sb_scheduler *scheduler);

/* By the router that is configured, or here. As sb_step_send. */
int sb_send_routed(struct sb_scheduler *scheduler, struct sb_worker *worker, sb_pid to,
		   union sb_value message);

/* As sb_scheduler_cancel. */
int sb_cancel_pid(struct sb_scheduler *scheduler, struct sb_worker *worker, sb_pid pid);

/* The scheduler stops: the process gets a cancel event, now or when stop tries again. */
void sb_cancel_for_stop(struct sb_scheduler *scheduler, struct sb_worker *worker,
			struct sb_process *process);

/* As sb_scheduler_terminate. */
int sb_terminate_pid(struct sb_scheduler *scheduler, struct sb_worker *worker, sb_pid pid);

#endif
