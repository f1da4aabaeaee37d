/* lifecycle.h - shared by the tests test_lifecycle, test_stop_races, test_start. */
#ifndef SB_TESTS_LIFECYCLE_H
#define SB_TESTS_LIFECYCLE_H

#include <sched.h>
#include <unistd.h>

#include "core/commands.h"
#include "core/queue/deque.h"
#include "core/state.h"
#include "tests/script.h"

#define CYCLES SB_SCALE(1000)

/* ---- submissions against a stop ---- */

struct submitter {
	struct script script;
	struct sb_thread thread;
	_Atomic(uint32_t) over; /* the stop */
};

#endif
