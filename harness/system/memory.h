/*
 * memory.h - what the memory that was asked for is not, said on stderr.
 */
#ifndef SB_HARNESS_SYSTEM_MEMORY_H
#define SB_HARNESS_SYSTEM_MEMORY_H

#include "harness/cli/options.h"
#include "results/record/record.h"

/* Before the run: that the machine has no huge pages of that kind, and what is
 * used instead. Returns whether explicit ones were asked for, and there are
 * none. */
bool sb_memory_foretell(const struct sb_options *options);

/* After it, of n series: what was refused, but not that all explicit huge pages were if that
 * has been foretold. */
void sb_memory_report(const struct sb_options *options, const struct sb_series *series, uint32_t n,
		      bool is_foretold);

#endif
