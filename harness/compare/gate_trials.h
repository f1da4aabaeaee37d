/*
 * gate_trials.h - many gates of the candidate against itself: --calibrate counts false
 * alarms, and keeps the noise; --selftest counts what it finds of --slowdowns.
 */
#ifndef SB_HARNESS_COMPARE_GATE_TRIALS_H
#define SB_HARNESS_COMPARE_GATE_TRIALS_H

#include "harness/compare/gate.h"

/* How many: the command line's only word, or so many as there are without. Returns
 * this and all below 0, or an exit status after an error has been printed. */
SB_MUST_CHECK int sb_gate_trials_of(const struct sb_gate_setup *setup, uint32_t *out);

/* --slowdowns, as `run --slowdown` takes them, but for "none". */
SB_MUST_CHECK int sb_gate_check_slowdowns(const char *text);

SB_MUST_CHECK int sb_gate_calibrate(struct sb_gate_setup *setup, uint32_t trials);
SB_MUST_CHECK int sb_gate_selftest(struct sb_gate_setup *setup, uint32_t trials);

/* Reads the calibration that the gate may use, the given one or this machine's in the cache, if there
 * is one; of --calibrate, which writes it, tries that file instead. */
SB_MUST_CHECK int sb_gate_read_calibration(struct sb_gate_setup *setup,
					   struct sb_calibration *read);

#endif
