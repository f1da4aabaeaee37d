/* interrupts.h - Ctrl-C: the first ends a measurement in order, a second one the
 * program. */
#ifndef SB_HARNESS_TERMINAL_INTERRUPTS_H
#define SB_HARNESS_TERMINAL_INTERRUPTS_H

#include "core/platform/atomic.h"
#include "core/platform/base.h"

/* Set by the handler: end the run in an orderly way. */
extern _Atomic(bool) sb_interrupted;

/* From now on the first SIGINT, SIGTERM or SIGHUP sets it. */
void sb_interrupts_catch(void);

#endif
