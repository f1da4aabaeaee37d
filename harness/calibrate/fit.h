/* fit.h - the costs of a model that are found by runs: real ones against virtual ones. */
#ifndef SB_HARNESS_CALIBRATE_FIT_H
#define SB_HARNESS_CALIBRATE_FIT_H

#include "harness/calibrate/costs.h"
#include "harness/virtual/model_file.h"

/* Sets name, date, transfers and straight code; all other values are there. Returns 0, or an exit
 * status after an error has been printed. */
SB_MUST_CHECK int sb_fit_model(struct sb_model_file *file, const struct sb_calibration *c);

#endif
