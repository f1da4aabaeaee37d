/*
 * site.h - a place in the code that accesses shared memory, and how long its accesses have waited
 * for cache lines: the profile of waiting. Each place is a static variable of its own, made by
 * SB_SITE; those that have waited are in a list.
 */
#ifndef SB_CORE_PLATFORM_VIRTUAL_SITE_H
#define SB_CORE_PLATFORM_VIRTUAL_SITE_H

#include "core/platform/virtual/model.h"

/* Of a line's way: a hop, or this. */
#define SB_FROM_MEMORY SB_HOPS
#define SB_WAYS	       (SB_HOPS + 1)

struct sb_site {
	const char *file;
	const char *function;
	bool is_listed;
	struct sb_site *next;
	uint64_t fetches[SB_WAYS];
	uint64_t fetch_ps[SB_WAYS]; /* the lines' ways */
	uint64_t queued_ps;	    /* waits until another CPU's access had ended */
};

/* The address of this place. */
#define SB_SITE()                                                                                  \
	({                                                                                         \
		static struct sb_site sb_site_ = { .file = __FILE__, .function = __func__ };       \
		&sb_site_;                                                                         \
	})

#endif
