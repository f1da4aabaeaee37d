/*
 * fiber.h - a stack of its own and a switch to it, by Boost.Context. One operating-system
 * thread.
 */
#ifndef SB_CORE_PLATFORM_VIRTUAL_FIBER_H
#define SB_CORE_PLATFORM_VIRTUAL_FIBER_H

#include "core/platform/base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sb_fiber {
	void *context[1]; /* Boost.Context's handle, while the fiber does not run */
	void *stack;
	size_t bytes;
	void (*entry)(void);
};

/* Begins in entry, which never returns, when it is switched to. -ENOMEM. */
SB_MUST_CHECK int sb_fiber_init(struct sb_fiber *fiber, size_t stack_bytes, void (*entry)(void));

/* Not of the one that runs. */
void sb_fiber_fini(struct sb_fiber *fiber);

/* from: the one that runs; its context is set. */
void sb_fiber_switch(struct sb_fiber *from, struct sb_fiber *to);

#ifdef __cplusplus
}
#endif

#endif
