/* interrupts.h - Ctrl-C: the first ends a measurement in order, a second one the
 * program. */
#ifndef SB_HARNESS_INTERRUPTS_H
#define SB_HARNESS_INTERRUPTS_H

/* From now on the first SIGINT, SIGTERM or SIGHUP sets sb_interrupted (measure.h). */
void sb_interrupts_catch(void);

#endif
