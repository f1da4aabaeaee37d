/*
 * answer.h - what was found, in a line for each workload and indented lines with the
 * reasons: the first thing in the terminal, on the page and in Markdown. It is a fact of the
 * result, "answer" "text", which a verb that compares writes itself.
 */
#ifndef SB_RESULTS_FILES_ANSWER_H
#define SB_RESULTS_FILES_ANSWER_H

#include <stdio.h>

#include "results/record/record.h"

/* What a series is for: the first of its workload's objectives (fact "objectives" of that name), if it
 * was measured, for a percentile needs many samples; else ns_per_op. */
enum sb_metric_id sb_answer_metric(const struct sb_result *result, const struct sb_series *series);

/* The answer of a run: of each series that metric with its interval, how many repetitions count, and
 * the fact "another_run" of the series' title, if there is one. Returns 0 or -ENOMEM. */
SB_MUST_CHECK int sb_answer_from_rows(struct sb_result *result);

/* "" if the result has none. */
const char *sb_answer_of(const struct sb_result *result);

/* The next line of what is left of an answer, without its end; an indented one is a reason,
 * without its blanks. False: there is no more. */
struct sb_answer_line {
	const char *text;
	int bytes;
	bool is_reason;
};
bool sb_answer_next(const char **rest, struct sb_answer_line *line);

/* For a terminal: reasons are indented, all else is between bold and plain, a terminal's sequences or "". */
void sb_answer_put(FILE *out, const char *answer, const char *bold, const char *plain);

#endif
