/* actors.h - a traced round as a recording that the workload `replay` does again. */
#ifndef SB_HARNESS_OUTPUT_ACTORS_H
#define SB_HARNESS_OUTPUT_ACTORS_H

#include "results/record/record.h"

/*
 * Writes a recording of the round in the format of workloads/replay/actors.h, compressed. The trace
 * must have sends and spawns. look_ns: the time of one clock read, which is subtracted from the work.
 * Returns 0, or -errno with what is wrong in why.
 */
SB_MUST_CHECK int sb_actors_record(const struct sb_traced *traced, const char *workload,
				   double look_ns, const char *path, char *why, size_t why_bytes);

#endif
