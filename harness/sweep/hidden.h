/*
 * hidden.h - spin thresholds that a sweep goes through in vain, because another
 * option hides them.
 */
#ifndef SB_HARNESS_SWEEP_HIDDEN_H
#define SB_HARNESS_SWEEP_HIDDEN_H

#include "harness/sweep/sweep.h"

/* How many configurations there are, and in how many of them ... */
struct sb_hidden {
	uint32_t configurations;
	uint32_t by_time; /* --spin-time hides --spin-tight and --spin-yield */
	uint32_t by_poll; /* --park poll hides all three */
};

/* Counts a configuration, of which `run` are the options. */
void sb_hidden_count(struct sb_hidden *hidden, const struct sb_options *run);

/* If the sweep goes through a threshold that is hidden: a note of one line, with
 * what to set. */
void sb_hidden_note(const struct sb_hidden *hidden, const struct sb_sweep *sweep);

#endif
