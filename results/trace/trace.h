/* trace.h - what the workers did and when, as a file. */
#ifndef SB_RESULTS_TRACE_TRACE_H
#define SB_RESULTS_TRACE_TRACE_H

#include <stdio.h>

#include "results/record/record.h"

/*
 * trace.json: the traced rounds of all series, in the Trace Event Format, which
 * Perfetto and speedscope open. Returns 0, -ENOMEM, or -ENODATA: there are none.
 */
int sb_write_trace(const struct sb_result *result, FILE *out);

#endif
