/*
 * look.h - what a look at the clock costs, which is what timing costs.
 */
#ifndef SB_HARNESS_LOOK_H
#define SB_HARNESS_LOOK_H

/* Nanoseconds of one sb_clock_ns(), measured now: the fastest of some batches,
 * because others may use the processor, too. */
double sb_look_ns(void);

#endif
