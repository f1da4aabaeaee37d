/* recording.h - what recording adds to an operation, by its level. */
#ifndef SB_HARNESS_CALIBRATE_RECORDING_H
#define SB_HARNESS_CALIBRATE_RECORDING_H

#include "harness/calibrate/costs.h"

/* Runs workloads with each level in turn. Returns 0, or an exit status after an
 * error has been printed. */
int sb_measure_recording(struct sb_calibration *c);

#endif
