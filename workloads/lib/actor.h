/*
 * actor.h - what processes of most workloads have in common.
 */
#ifndef SB_WORKLOADS_LIB_ACTOR_H
#define SB_WORKLOADS_LIB_ACTOR_H

#include <errno.h>
#include <string.h>

#include "workloads/workload.h"

/* Defines an init with the one method "main", whose input points to the state
 * to begin with; it is copied. */
#define SB_ACTOR_INIT(function, type)                                                              \
	static int function(void *state, const char *method, union sb_value input)                 \
	{                                                                                          \
		if (strcmp(method, "main"))                                                        \
			return -ENOTSUP;                                                           \
		*(type *)state = *(const type *)input.ptr;                                         \
		return 0;                                                                          \
	}

/* No cancelling, no completion: a workload that is not stopped and yields no
 * command gets nothing else. */
static inline bool sb_actor_only_messages(const struct sb_event *events, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (events[i].type != SB_EVENT_MESSAGE)
			return false;
	}
	return true;
}

#endif
