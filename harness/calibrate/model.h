/* model.h - this machine's model for virtual time, from what `calibrate` has measured. */
#ifndef SB_HARNESS_CALIBRATE_MODEL_H
#define SB_HARNESS_CALIBRATE_MODEL_H

#include "harness/calibrate/costs.h"

/*
 * Measures the rest, fits the costs of straight code, so that workloads on one worker take as long
 * in virtual time as they do here, and writes the model. Returns 0, or an exit status after an error
 * has been printed.
 */
SB_MUST_CHECK int sb_calibration_save_model(const struct sb_calibration *c, const char *path);

#endif
