/*
 * clock_cost.h - what a look at the clock costs, which is what timing costs.
 */
#ifndef SB_HARNESS_SYSTEM_CLOCK_COST_H
#define SB_HARNESS_SYSTEM_CLOCK_COST_H

/* Nanoseconds of one sb_clock_ns(), measured now: the fastest of some batches,
 * because others may use the processor, too. */
double sb_look_ns(void);

#endif
