/*
 * fault_cost.h - the cost of a page fault.
 */
#ifndef SB_HARNESS_SYSTEM_FAULT_COST_H
#define SB_HARNESS_SYSTEM_FAULT_COST_H

/* Nanoseconds of the first access to a page of new memory, and of giving it back, measured now: the
 * median of some batches. NaN: there is no memory. */
double sb_fault_ns(void);

#endif
