/*
 * meeting.h - processes that occupy one worker each: every one holds its worker
 * in a step until all have come, so that no two are on one.
 */
#ifndef SB_WORKLOADS_LIB_MEETING_H
#define SB_WORKLOADS_LIB_MEETING_H

#include "core/platform/platform.h"

struct sb_meeting {
	uint64_t expected;
	_Atomic(uint64_t) come;
};

/* Before the first of them is submitted. */
static inline void sb_meeting_call(struct sb_meeting *meeting, uint64_t expected)
{
	meeting->expected = expected;
	sb_store_rlx(&meeting->come, 0);
}

/* Until all have come; who only waits does not count. Any thread. */
static inline void sb_meeting_wait(struct sb_meeting *meeting)
{
	while (sb_load_acq(&meeting->come) < meeting->expected)
		sb_thread_yield();
}

/* Some cannot come: nobody waits any more. Any thread. */
static inline void sb_meeting_call_off(struct sb_meeting *meeting)
{
	sb_add_acq_rel(&meeting->come, meeting->expected);
}

/* In a step: comes, and holds the worker until all have. */
static inline void sb_meeting_join(struct sb_meeting *meeting)
{
	sb_add_acq_rel(&meeting->come, 1);
	sb_meeting_wait(meeting);
}

#endif
