/*
 * findings.h - what a comparison of A and B says: one finding for each metric of
 * each workload, paired or not, as words, as CSV and as JSON.
 */
#ifndef SB_RESULTS_FILES_FINDINGS_H
#define SB_RESULTS_FILES_FINDINGS_H

#include <stdio.h>

#include "results/record/record.h"
#include "results/record/series.h"
#include "results/stats/paired.h"

#define SB_FINDING_WORDS 300
#define SB_FINDING_WHY	 150

struct sb_finding {
	char name[SB_NAME_BYTES]; /* of the workload, with what sets it apart */
	enum sb_metric_id metric;
	uint32_t n_a, n_b; /* values */
	uint32_t blocks;   /* of pairs; 0: they are no pairs */
	enum sb_pair_scale scale;
	double a, b; /* medians */
	/* B / A, or B - A, as of paired.h: NaN or infinite where nothing can be
	 * said. */
	double estimate, low, high;
	double level;	    /* the interval's error */
	double detectable;  /* NaN: unknown */
	double p, p_holm;   /* two-sided; the latter of all findings together */
	double superiority; /* P(B > A) + P(B = A) / 2; NaN: they are pairs */
	int sign;	    /* B above A 1, below -1, not seen 0 */
	/* There is an estimate, but nothing to say how far another run would be from it: no interval.
	 * Without an estimate, the two are not compared at all. */
	bool is_open;
	char why[SB_FINDING_WHY]; /* why there is no verdict, or no difference is shown; "": it is in the notes */
};

struct sb_findings {
	const char *verb;
	uint32_t n;
	struct sb_finding *finding;
	uint32_t notes;
	char **note; /* what is to be known, a line each */
};

/* Adds a copy of the line. Returns 0 or -ENOMEM. */
SB_MUST_CHECK int sb_findings_note(struct sb_findings *findings, const char *format, ...)
	SB_PRINTF(2, 3);
void sb_findings_free(struct sb_findings *findings);

/* Of all things said together, 95 % of the time none is wrong. */
#define SB_FINDINGS_ERROR 0.05

/* Notes how sure the intervals are; behind is said after it. As above. */
SB_MUST_CHECK int sb_findings_note_level(struct sb_findings *findings, const char *behind);

/* Holm's correction over all of them. */
void sb_findings_adjust(struct sb_findings *findings);

/* "B is 3.1 % slower [2.0 % .. 4.2 %]", or what could have been seen. */
void sb_finding_describe(const struct sb_finding *finding, char out[SB_FINDING_WORDS]);

/* "1.031 [1.020 .. 1.042]", or a difference in the metric's unit; "-". */
void sb_finding_estimate(const struct sb_finding *finding, char out[SB_FINDING_WORDS]);

/* Whether there were enough values to see a difference at all. */
bool sb_finding_is_conclusive(const struct sb_finding *finding);

/* The answer of a comparison of A and B, with a line for each side; and fact "findings": for
 * each metric of each workload "A's median | B/A [interval] | verdict"; and "notes". As above. */
SB_MUST_CHECK int sb_findings_store(struct sb_result *result, const struct sb_findings *findings,
				    const char *a, const char *b);

/* The same as text, for the caller to free; NULL: no memory. */
char *sb_findings_answer(const struct sb_findings *findings, const char *a, const char *b);

/* Column i of a finding: its name, and a text or (NULL) a number, which is not
 * finite if there is none. False: there are no more. */
struct sb_finding_cell {
	const char *name;
	const char *text;
	double number;
	char words[SB_FINDING_WORDS];
};
bool sb_finding_cell(const struct sb_finding *finding, uint32_t i, struct sb_finding_cell *out);

void sb_findings_write_csv(const struct sb_findings *findings, FILE *out);

/* Returns 0 or -ENOMEM. */
int sb_findings_write_json(const struct sb_findings *findings, FILE *out);

#endif
