/* clock_choice.h - which clock a run reads, and what is known about it. */
#ifndef SB_HARNESS_SYSTEM_CLOCK_CHOICE_H
#define SB_HARNESS_SYSTEM_CLOCK_CHOICE_H

#include "core/platform/clock.h"
#include "harness/cli/options.h"
#include "results/record/record.h"

/* The CPUs that the calling thread may run on; the caller frees *cpu. Returns 0
 * or -errno. */
SB_MUST_CHECK int sb_timing_cpus(int **cpu, uint32_t *cpus);

/* As --clock says, for all these CPUs; called before other threads are started.
 * Returns 0, or an exit status after an error has been
 * printed. */
int sb_timing_choose(const struct sb_options *options);

/* Facts of the group "clock". Both return 0 or -ENOMEM. */
SB_MUST_CHECK int sb_timing_add_facts(struct sb_result *result, const struct sb_options *options);

/* After the measurement: how far its rate was off. */
SB_MUST_CHECK int sb_timing_add_drift(struct sb_result *result);

#endif
