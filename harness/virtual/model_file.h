/*
 * model_file.h - models of machines as JSON: read, written, and those that come with the command.
 *
 *	{ "sched_bench_model": 1, "name": ..., "machine": ..., "date": ...,
 *	  "values": { "transfer_cache": { "ns": 25, "source": ... }, ... },
 *	  "validation": { "median_error_pct": ..., "max_error_pct": ..., "tau": ..., "of": ... } }
 *
 * "values" has each name of `topo show --model`; transfers over a distance that the machine does
 * not have may be missing. "validation" is null or missing if the model has not been compared
 * with the machine.
 */
#ifndef SB_HARNESS_VIRTUAL_MODEL_FILE_H
#define SB_HARNESS_VIRTUAL_MODEL_FILE_H

#include <stdio.h>

#include "core/platform/virtual/model.h"

#define SB_MODEL_VERSION 1

/* Costs that no model has. */
#define SB_NOT_MODELLED "bandwidth, frequency, TLB, interrupts, the hypervisor"

/* A number of a model. */
struct sb_model_value {
	const char *name;
	const char *unit; /* "ns", "kib" or "factor" */
	const char *meaning;
	bool may_be_missing;
};

#define SB_MODEL_VALUES_MAX 40

/* Kinds of cores that may have a factor. */
#define SB_MODEL_KINDS 3

extern const struct sb_model_value sb_model_value[]; /* ends with a NULL name */

struct sb_model_file {
	char *name;
	char *machine;
	char *date;
	double value[SB_MODEL_VALUES_MAX]; /* in its unit; NaN: missing */
	char *source[SB_MODEL_VALUES_MAX];
	/* Its comparison with the machine; NaN: there was none. */
	double median_error_pct, max_error_pct, tau;
	char *validated_on; /* or NULL */
};

/* The model of that name, or else the file. Returns 0 or -errno with one line in why, which names
 * it: -ENOENT: there is neither; -EINVAL: it is none. For sb_model_file_free in all cases. */
SB_MUST_CHECK int sb_model_file_open(struct sb_model_file *file, const char *name, char *why,
				     size_t bytes);

/* The same of its text; the name is for errors. */
SB_MUST_CHECK int sb_model_file_parse(struct sb_model_file *file, const char *text,
				      const char *name, char *why, size_t bytes);

void sb_model_file_free(struct sb_model_file *file);

/* Whether a model of that name comes with the command. */
bool sb_model_is_named(const char *name);

/* Sets the value of that name. Without memory its source is missing, and it cannot be written. */
void sb_model_file_set(struct sb_model_file *file, const char *name, double value,
		       const char *source);

/* NaN: it is missing, or there is none of that name. */
double sb_model_file_get(const struct sb_model_file *file, const char *name);

/* By how much longer straight code takes on cores of that kind, the slowest 0; NaN: that is not
 * known, or there is one kind (-1). The fastest kind needs no factor. */
double sb_model_file_kind(const struct sb_model_file *file, int kind);

/* Its costs, without CPUs: what is missing is 0. */
struct sb_model sb_model_of(const struct sb_model_file *file);

/* Of the numbers alone: equal for equal numbers. */
uint64_t sb_model_file_hash(const struct sb_model_file *file);

/* As JSON, and as a table. Return 0 or -errno. */
SB_MUST_CHECK int sb_model_file_write(const struct sb_model_file *file, FILE *out);
void sb_model_file_print(const struct sb_model_file *file, FILE *out);

#endif
