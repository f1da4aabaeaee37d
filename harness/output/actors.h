/* actors.h - a traced round as a recording that the workload `replay` does again. */
#ifndef SB_HARNESS_OUTPUT_ACTORS_H
#define SB_HARNESS_OUTPUT_ACTORS_H

#include "results/record/record.h"

/*
 * Writes what the processes did, as workloads/replay/actors.h says, compressed. The trace has sends
 * and spawns, and all that happened. look_ns: what a look at the clock costs, which is no work.
 * Returns 0, or -errno with what is wrong in why.
 */
SB_MUST_CHECK int sb_actors_record(const struct sb_traced *traced, const char *workload,
				   double look_ns, const char *path, char *why, size_t why_bytes);

#endif
