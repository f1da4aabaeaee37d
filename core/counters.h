/*
 * counters.h - what a worker records. Written by its owner alone, but for timed_calls and
 * call_ns, on lines of its own; read by anyone; never reset (readers subtract two readings).
 */
#ifndef SB_CORE_COUNTERS_H
#define SB_CORE_COUNTERS_H

#include "core/commands.h"
#include "core/hist.h"

struct sb_counters {
#define X(name, unit, doc) sb_counter name;
#include "core/counters.def"
#undef X
};

struct sb_hists {
#define X(name, unit, doc) struct sb_hist name;
#include "core/hists.def"
#undef X
};

/*
 * Yields by command: ids 0 to 255 have a counter each, and all larger ones share the
 * last. The counter "yields" is their sum, made by each reading.
 */
#define SB_YIELD_COUNTS (SB_COMMAND_ARRAY + 1)

/* A thief's row of the steal matrix: what it tried on one victim. */
struct sb_steal_cell {
#define X(name, doc) sb_counter name;
#include "core/steals.def"
#undef X
};

/* The same as plain numbers, in the order of the .def files. */
enum sb_counter_id {
#define X(name, unit, doc) SB_COUNTER_##name,
#include "core/counters.def"
#undef X
	SB_COUNTERS
};

enum sb_hist_id {
#define X(name, unit, doc) SB_HIST_##name,
#include "core/hists.def"
#undef X
	SB_HISTS
};

static_assert(sizeof(struct sb_counters) == SB_COUNTERS * sizeof(sb_counter),
	      "counters are an array in the order of their ids");
static_assert(sizeof(struct sb_hists) == SB_HISTS * sizeof(struct sb_hist),
	      "histograms are an array in the order of their ids");

struct sb_steal_counts {
#define X(name, doc) uint64_t name;
#include "core/steals.def"
#undef X
};

/* A process that has been stolen more often than that in its life wanders. */
#define SB_WANDERING 8

/* A reading of one worker; steals has one entry for each victim. */
struct sb_worker_reading {
	bool recorded; /* false: its account and steals are not kept, but 0 */
	uint64_t counter[SB_COUNTERS];
	uint64_t yields[SB_YIELD_COUNTS];
	uint64_t read_ns;    /* when, by sb_clock_ns */
	uint64_t account_ns; /* until when its account goes: core/record/account.h */
	struct sb_steal_counts *steals;
};

/* Of all workers together, at about one moment: for those who look often. The counter
 * "yields" is not in it. */
struct sb_glance {
	uint64_t counter[SB_COUNTERS];
	struct sb_steal_counts steals;
	/* Processes in the workers' own deques, in their inject queues, in the global one. */
	uint64_t depth_own, depth_inject, depth_global;
};

static inline void sb_steal_add(struct sb_steal_counts *a, const struct sb_steal_counts *b)
{
#define X(name, doc) a->name += b->name;
#include "core/steals.def"
#undef X
}

#endif
