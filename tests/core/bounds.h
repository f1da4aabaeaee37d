/* bounds.h - shared by the tests test_bounds, test_limits. */
#ifndef SB_TESTS_BOUNDS_H
#define SB_TESTS_BOUNDS_H

#include <sys/mman.h>

#include "core/commands.h"
#include "core/memory/arena.h"
#include "core/state.h"
#include "tests/script.h"

/* Of several processes, so it leaves the script alone. */
static inline int end_at_an_event(struct script *script, struct sb_step *step,
				  const struct sb_event *events, uint32_t count)
{
	(void)script;
	(void)step;
	(void)events;
	return count ? SB_DONE : SB_IDLE;
}

#endif
