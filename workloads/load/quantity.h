/*
 * quantity.h - quantities from text, strictly: the whole text must be one
 * number and its unit, without sign or blank. False: it is not.
 */
#ifndef SB_WORKLOADS_LOAD_QUANTITY_H
#define SB_WORKLOADS_LOAD_QUANTITY_H

#include "core/platform/base.h"

/* "0.5us": a time in nanoseconds, also a fraction; ns, us, ms, s, m, h. */
bool sb_quantity_time(const char *text, double *ns);

/* "200k/s": a rate per second; /s, k/s, M/s. */
bool sb_quantity_rate(const char *text, double *per_s);

/* "70%": as a fraction. */
bool sb_quantity_percent(const char *text, double *fraction);

/* "64KiB": a size; B, KiB, MiB, GiB. */
bool sb_quantity_bytes(const char *text, uint64_t *bytes);

/* "0.995": a number without a unit. */
bool sb_quantity_number(const char *text, double *number);

#endif
