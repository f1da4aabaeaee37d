/*
 * machine.h - a modelled machine: its CPUs, how far they are from each other, and what
 * operations cost. Data alone; lines.h and engine.h charge by it.
 */
#ifndef SB_CORE_PLATFORM_VIRTUAL_MACHINE_H
#define SB_CORE_PLATFORM_VIRTUAL_MACHINE_H

#include "core/platform/base.h"

/* Of the caches that two CPUs share, the nearest; or where else they meet. */
enum sb_hop {
	SB_HOP_CORE, /* two hardware threads */
	SB_HOP_CACHE,
	SB_HOP_NODE,
	SB_HOP_PACKAGE,
	SB_HOP_REMOTE,
	SB_HOPS
};

/* In picoseconds; see costs.def. */
struct sb_costs {
#define SB_COST(name, ps, meaning) uint64_t name##_ps;
#include "core/platform/virtual/costs.def"
#undef SB_COST
};

struct sb_machine {
	uint32_t cpus;
	/* Of CPU a to CPU b at [a * cpus + b]; NULL: all share a cache. */
	const uint8_t *distance;
	/* A cache line's way from one CPU to another. */
	uint64_t transfer_ps[SB_HOPS];
	struct sb_costs cost;
};

/* CPUs that share one cache, with the values of costs.def. */
struct sb_machine sb_machine_plain(uint32_t cpus);

static inline enum sb_hop sb_machine_hop(const struct sb_machine *machine, uint32_t a, uint32_t b)
{
	return machine->distance ? machine->distance[(size_t)a * machine->cpus + b] : SB_HOP_CACHE;
}

#endif
