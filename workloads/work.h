/*
 * work.h - work for the processor that touches no memory, in units that take
 * the same time each.
 */
#ifndef SB_WORKLOADS_WORK_H
#define SB_WORKLOADS_WORK_H

#include <stdint.h>

/* How many units this machine does in a millisecond of CPU time. Measured at
 * the first call, in some 20 ms, on the caller's core. */
uint64_t sb_work_units_per_ms(void);

void sb_work_spin(uint64_t units);

#endif
