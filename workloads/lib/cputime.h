/* cputime.h - speed of some work, by CPU time. */
#ifndef SB_WORKLOADS_LIB_CPUTIME_H
#define SB_WORKLOADS_LIB_CPUTIME_H

#include <stdint.h>

/*
 * Units per millisecond of the calling thread's CPU time: the fastest of
 * several tries, because whatever disturbs one makes it slower.
 */
uint64_t sb_cputime_units_per_ms(void (*work)(void *arg, uint64_t units), void *arg);

#endif
