/*
 * stash.h - messages that a process may not handle yet, oldest first. Part of
 * its state, and used by its steps alone; its close calls sb_stash_fini.
 *
 * What a library of actors calls `ask` is here a request, and a state in which
 * the process waits for the reply and stashes everything else.
 */
#ifndef SB_WORKLOADS_LIB_STASH_H
#define SB_WORKLOADS_LIB_STASH_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/platform/base.h"
#include "core/process.h"

/* A ring of a power of two of slots; zeroed: empty. */
struct sb_stash {
	union sb_value *message;
	uint64_t room;
	uint64_t first; /* both count up for ever */
	uint64_t end;
};

static inline void sb_stash_fini(struct sb_stash *stash)
{
	free(stash->message);
	*stash = (struct sb_stash){ .room = 0 };
}

static inline bool sb_stash_is_empty(const struct sb_stash *stash)
{
	return stash->first == stash->end;
}

/* Returns 0 or -ENOMEM. */
static inline int sb_stash_grow(struct sb_stash *stash)
{
	const uint64_t room = stash->room ? 2 * stash->room : 16;
	union sb_value *message = calloc(room, sizeof(*message));

	if (!message)
		return -ENOMEM;
	for (uint64_t i = stash->first; i != stash->end; i++)
		message[i % room] = stash->message[i % stash->room];
	free(stash->message);
	stash->message = message;
	stash->room = room;
	return 0;
}

SB_MUST_CHECK static inline int sb_stash_put(struct sb_stash *stash, union sb_value message)
{
	int rc = 0;

	if (stash->end - stash->first == stash->room)
		rc = sb_stash_grow(stash);
	if (rc)
		return rc;
	stash->message[stash->end++ % stash->room] = message;
	return 0;
}

/* The oldest; only when it is not empty. */
static inline union sb_value sb_stash_take(struct sb_stash *stash)
{
	SB_ASSERT(stash->first, !=, stash->end);
	return stash->message[stash->first++ % stash->room];
}

#endif
