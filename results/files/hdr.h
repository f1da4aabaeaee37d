/*
 * hdr.h - a histogram in HdrHistogram's own encoding, for its tools.
 *
 * Theirs with 2 significant digits has 128 buckets for each power of two, ours
 * has 64 (core/hist.h): from 128 on, each of ours is two of theirs, and below
 * both are exact. A count goes into the lower one of the two. What their readers
 * call the value of a bucket is the highest that counts in it, and the highest
 * of that lower half is just what ours call the middle. So a percentile above 0
 * and the maximum are the same integers in both; percentile 0 and the minimum,
 * for which their readers take the lowest value, are where our bucket begins.
 * The sum of the values has no place there: their mean is that of the buckets.
 */
#ifndef SB_RESULTS_FILES_HDR_H
#define SB_RESULTS_FILES_HDR_H

#include "core/hist.h"

/* V2, compressed, in base64; *text is for the caller to free. Returns 0 or
 * -ENOMEM. */
SB_MUST_CHECK int sb_hdr_encode(const struct sb_hist_counts *counts, char **text);

#endif
