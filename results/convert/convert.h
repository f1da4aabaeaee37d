/*
 * convert.h - what a result can be converted to: other tools' formats, one
 * writer each. Rows without numbers are in none of them but where their format
 * has a place for them; suspect ones say so where there is one.
 */
#ifndef SB_RESULTS_CONVERT_CONVERT_H
#define SB_RESULTS_CONVERT_CONVERT_H

#include <stdio.h>

#include "results/record/record.h"

struct sb_converter {
	const char *name;
	const char *doc;
	const char *file; /* what it is called in a result directory */
	/* Returns 0 or -errno; -ENODATA when the result has nothing of the
	 * kind, and lacks is what is missing. */
	int (*write)(const struct sb_result *result, FILE *out);
	const char *lacks;
	/* Or, when file is NULL: into the result's directory; *failed is the
	 * file that could not be written. */
	int (*write_files)(const struct sb_result *result, const char **failed);
};

/* Ends with one that has no name. */
extern const struct sb_converter sb_converters[];

const struct sb_converter *sb_converter_find(const char *name);

int sb_convert_gbench(const struct sb_result *result, FILE *out);
int sb_convert_trace(const struct sb_result *result, FILE *out);
int sb_convert_benchstat(const struct sb_result *result, FILE *out);
int sb_convert_smaller(const struct sb_result *result, FILE *out);
int sb_convert_bigger(const struct sb_result *result, FILE *out);
int sb_convert_openmetrics(const struct sb_result *result, FILE *out);

/* latency.hlog: all latencies, for HdrHistogram's tools. Returns 0 or -ENOMEM. */
int sb_write_hlog(const struct sb_result *result, FILE *out);

#endif
