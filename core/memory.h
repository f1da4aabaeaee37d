/* memory.h - what became of the workers' memory: readings, as plain data. core/memory/arenas.c takes
 * them. */
#ifndef SB_CORE_MEMORY_H
#define SB_CORE_MEMORY_H

#include "core/memory/pages.h"

struct sb_memory {
	/* The arenas, from the operating system; see struct sb_arena_reading. */
	uint64_t mapped_bytes;
	uint64_t explicit_bytes;
	uint64_t missed_bytes;
	bool is_bound;	/* at least one is to be bound */
	int bind_error; /* 0, or -errno: some of it is not bound */

	/* For processes, events and relations: taken from the arenas, kept for
	 * later when free, and given back to the system when not needed for
	 * long; of these, in use, never more. */
	uint64_t held_bytes;
	uint64_t used_bytes;
};

/* The uses of a worker's memory; each but the last is a part of the last. */
enum sb_memory_kind {
	SB_MEMORY_DEQUES,
	SB_MEMORY_WORKER,    /* queues, counters, histograms */
	SB_MEMORY_PROCESSES, /* and events and relations */
	SB_MEMORY_ARENA,     /* with that of all who share it */
	SB_MEMORY_KINDS
};

/* On which nodes a worker's memory lies. */
struct sb_residence {
	int error; /* 0, or -errno: it is not known */
	struct sb_page_count kind[SB_MEMORY_KINDS];
};

#endif
