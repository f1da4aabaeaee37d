/* compared.h - what ab and compare have in common: which metrics are compared, and
 * how people are told of it. */
#ifndef SB_HARNESS_COMPARE_COMPARED_H
#define SB_HARNESS_COMPARE_COMPARED_H

#include <stdio.h>

#include "harness/cli/options.h"
#include "results/compare/findings.h"

struct sb_compared {
	bool is_chosen; /* else those without values are left out */
	uint32_t n;
	enum sb_metric_id metric[SB_METRICS];
};

/* As --metric says. Returns 0, or an exit status after an error has been
 * printed. */
SB_MUST_CHECK int sb_compared_choose(struct sb_compared *compared,
				     const struct sb_options *options);

/* The answer, a table for each workload, and the notes, as wide as the terminal. */
void sb_compared_put(const char *answer, const struct sb_findings *findings, FILE *out);

/* As --format says; pretty(what, out) is for people. */
void sb_compared_print(const struct sb_findings *findings, const struct sb_options *options,
		       void (*pretty)(const void *what, FILE *out), const void *what);

/* Whether every finding had enough values. */
bool sb_compared_is_conclusive(const struct sb_findings *findings);

#endif
