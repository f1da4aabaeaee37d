/*
 * awake.h - CPUs that do not go idle between short processes.
 *
 * On a virtual machine an idle CPU is taken away, and may come back as another
 * one: beside a busy neighbour on the same core, or not. Short processes, one
 * after the other, then differ by where each has landed, and that is most of
 * their noise. A thread of the idle class on each CPU gets what is left over and
 * no more, and keeps the CPU from ever being idle. It also spares a real
 * machine's processor its deep sleep and low frequency between processes.
 *
 * It changes the price that a worker that blocks pays to get its CPU back. So it is
 * for processes whose workers do not block.
 */
#ifndef SB_HARNESS_SYSTEM_AWAKE_H
#define SB_HARNESS_SYSTEM_AWAKE_H

#include "core/placement.h"

/* From the options' alternatives, in their order. */
enum sb_awake_when { SB_AWAKE_AUTO, SB_AWAKE_YES, SB_AWAKE_NO };

struct sb_awake;

/*
 * Keeps the CPUs of these workers awake until sb_awake_end. Returns NULL if it
 * cannot, or there are none: nothing else is different then.
 */
struct sb_awake *sb_awake_begin(const struct sb_placement *placement);

/* NULL: nothing to end. */
void sb_awake_end(struct sb_awake *awake);

#endif
