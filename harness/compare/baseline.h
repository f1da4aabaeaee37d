/*
 * baseline.h - what a gate compares with: a program, a git revision, which is
 * built, or a stored result.
 */
#ifndef SB_HARNESS_COMPARE_BASELINE_H
#define SB_HARNESS_COMPARE_BASELINE_H

#include "core/platform/base.h"

/* VALUES: the file of a gate in virtual time. */
enum sb_baseline_kind { SB_BASELINE_PROGRAM, SB_BASELINE_RESULT, SB_BASELINE_VALUES };

struct sb_baseline {
	enum sb_baseline_kind kind;
	char *path;	   /* of the program or the result */
	char *description; /* for people */
};

/*
 * The baseline that the text names. A revision of the git repository that the current directory
 * is in is built with make in a worktree of its own, in the user's cache, which
 * keeps the program for the next time. is_quiet: says nothing of that. Returns 0,
 * or an exit status after an error has been printed.
 */
SB_MUST_CHECK int sb_baseline_find(struct sb_baseline *out, const char *text, bool is_quiet);
void sb_baseline_free(struct sb_baseline *baseline);

/* A file of a gate in virtual time, by its name: *.csv. */
bool sb_is_values_file(const char *text);

/* That it is a sched-bench; option: for the error. Returns as above. */
SB_MUST_CHECK int sb_program_check(const char *path, const char *option);

#endif
