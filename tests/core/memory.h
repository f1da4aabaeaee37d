/* memory.h - shared by the tests test_memory, test_memory_run. */
#ifndef SB_TESTS_MEMORY_H
#define SB_TESTS_MEMORY_H

#include "core/commands.h"
#include "core/memory/arena.h"
#include "core/queue/runq.h"
#include "core/state.h"
#include "core/timers/timers.h"
#include "core/trace.h"
#include "tests/script.h"

static inline void allow(int64_t allocations)
{
	sb_store_rlx(&sb_test_allocations, allocations);
}

/* ---- from outside ---- */

struct large {
	struct script *script;
	char rest[700]; /* a class of the pools of its own */
};

static const struct sb_process_ops large = {
	.name = "large",
	.state_bytes = sizeof(struct large),
	.init = script_init,
	.step = script_step,
	.close = script_close,
};

static inline int idles(struct script *script, struct sb_step *step, const struct sb_event *events,
			uint32_t count)
{
	(void)script;
	(void)step;
	for (uint32_t i = 0; i < count; i++) {
		if (events[i].type == SB_EVENT_CANCEL)
			return SB_DONE;
	}
	return SB_IDLE;
}

#endif
