/*
 * callgrind.h - instructions per operation, from valgrind's callgrind: a number that
 * no other load on the machine can touch.
 *
 * The program runs itself under callgrind, `sched-bench micro --counted`. For
 * each kind that one thread can run, that one calls sb_counts_window() three times,
 * for N, N and 2N operations; callgrind puts its counter to zero when the function
 * is entered, and writes it out when it is left. The last two's difference is N:
 * what a run costs apart from them (a thread woken, a first use of memory) is in
 * both.
 *
 * Remaining causes of differences from run to run, and the remedies:
 *   addresses   valgrind lays the program out itself, always in the same way
 *   allocator   what comes first is in a run before both windows
 *   time        none of the loops looks at a clock
 *   threads     a kind whose work is done by a scheduler's worker counts both
 *               threads, one at a time and in a fixed order (--fair-sched); how
 *               long the worker spins is in both windows, but not exactly so long
 * So kinds with one thread give the same number each time (those that look up
 * PIDs, whose table a helper thread has grown, but for a millionth),
 * and those with two
 * the same within SB_COUNTS_ERROR.
 */
#ifndef SB_HARNESS_MICRO_CALLGRIND_H
#define SB_HARNESS_MICRO_CALLGRIND_H

#include <jansson.h>
#include <stdio.h>

#include "harness/micro/kind.h"

/* By which two counts of the same code may differ, at most. */
#define SB_COUNTS_ERROR 0.002

struct sb_count {
	char name[SB_MICRO_NAME_BYTES];
	double instructions; /* per operation */
};

struct sb_counts {
	struct sb_count *count;
	uint32_t counts;
};

/*
 * Counts the kinds whose names match the filter (as Google Benchmark's; NULL:
 * all). program: a sched-bench, or NULL for this one. Returns 0; or, with the
 * reason in why, -ENOENT (valgrind, or the program, is not there), -ENOTSUP (it
 * cannot run under valgrind), -EINVAL (nothing matches), -EBADMSG (a check of an
 * answer failed), -EPROTO (what came back is not what was expected) or another -errno.
 */
SB_MUST_CHECK int sb_counts_measure(struct sb_counts *out, const char *program, const char *filter,
				    char *why, size_t bytes);
void sb_counts_free(struct sb_counts *counts);

/* A table; and JSON, {"instructions": {NAME: NUMBER, ...}, ...}, of a struct sb_counts for
 * sb_output(). The second returns 0 or -errno. */
void sb_counts_print(const struct sb_counts *counts, FILE *out);
SB_MUST_CHECK int sb_counts_write(const void *counts, FILE *out);

/* A list of objects, one for each kind. */
json_t *sb_counts_to_rows(const struct sb_counts *counts);

/* Whether it is a regular expression, or '-' and one. */
bool sb_filter_is_valid(const char *filter);

/* ---- within callgrind ---- */

/* Both windows of each kind, and a line for each, its name and N, on `windows`.
 * Returns how many kinds' checks have failed. */
int sb_counts_run(const char *filter, FILE *windows);

/* The function that callgrind looks for by name. */
void sb_counts_window(struct sb_micro *m, uint64_t n);

#endif
