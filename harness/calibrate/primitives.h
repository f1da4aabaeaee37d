/*
 * primitives.h - what the machine's primitives cost, one function for each row
 * or group of rows of `calibrate`. They must run while no scheduler does.
 */
#ifndef SB_HARNESS_CALIBRATE_PRIMITIVES_H
#define SB_HARNESS_CALIBRATE_PRIMITIVES_H

#include "harness/calibrate/costs.h"

void sb_measure_clock(struct sb_calibration *c);
void sb_measure_atomic(struct sb_calibration *c);
void sb_measure_transfers(struct sb_calibration *c);
void sb_measure_wakes(struct sb_calibration *c);
void sb_measure_switches(struct sb_calibration *c);
void sb_measure_steals(struct sb_calibration *c);
void sb_measure_work(struct sb_calibration *c);

#endif
