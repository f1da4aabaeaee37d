/* interrupts.h - Ctrl-C: the first ends a measurement in order, a second one the
 * program. */
#ifndef SB_HARNESS_TERMINAL_INTERRUPTS_H
#define SB_HARNESS_TERMINAL_INTERRUPTS_H

#include "core/platform/atomic.h"
#include "core/platform/base.h"

/* Set by the handler: end the run in an orderly way. */
extern _Atomic(bool) sb_interrupted;

/* Seconds that an interrupted run has to end, where it might never do so (sb_crash_limit). */
#define SB_INTERRUPT_S 5

/* From now on the first SIGINT, SIGTERM or SIGHUP sets it. */
void sb_interrupts_catch(void);

#endif
