/* hold.h - what a running step sends is held until the step ends. */
#ifndef SB_CORE_MESSAGE_HOLD_H
#define SB_CORE_MESSAGE_HOLD_H

#include "core/platform/platform.h"
#include "core/scheduler.h"

struct sb_worker;
struct sb_event_node;

/*
 * Sends a message of the running step, as late as at the end of that step, or
 * when the step does something else that others see: between two processes the
 * order of all that is sent is kept. Outside (core/message/handover.h); the worker's
 * steps hold what they send. Returns as sb_route_event.
 */
int sb_route_hold(struct sb_worker *worker, sb_pid to, union sb_value message);

/* Sends what is held, if anything is. The worker is inside. */
void sb_route_flush(struct sb_worker *worker);

/*
 * The step is over: sends what it held, not NULL, and if its process waits for
 * that, it is the next that this worker runs: no queue, and nobody is told.
 */
void sb_route_hand_over(struct sb_worker *worker, struct sb_event_node *held);

/*
 * If the worker is in the code of a step: makes visible what that holds, and
 * passes a quiescent state for it. The watcher only. Returns whether it was.
 */
bool sb_route_take_held(struct sb_worker *worker);

/*
 * Whether a worker whose steps take so long on average holds what they send:
 * not if they are long, because until a step ends nobody else can take what it
 * holds. Nor with a bounded mailbox, which is full or not, and has nothing under
 * way to it; and a router is told at once.
 */
static inline bool sb_config_holds(const struct sb_config *config, uint64_t step_ns)
{
	return config->handover && config->wake == SB_WAKE_LOCAL && !config->mailbox_bound &&
	       !config->router && step_ns < config->hold_ns && sb_fence_heavy_works();
}

#endif
