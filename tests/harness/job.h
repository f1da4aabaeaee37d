/* job.h - a job file in a scratch directory, for the tests of jobs. */
#ifndef SB_TESTS_JOB_H
#define SB_TESTS_JOB_H

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "harness/cli/job.h"
#include "harness/terminal/status.h"
#include "harness/terminal/text.h"
#include "tests/test.h"

static inline void random_text(struct sb_rng *rng, char *out, uint32_t bytes)
{
	static const char nasty[] = " \t\"\\;#=[]\n\r,.:'";
	const uint32_t n = sb_rng_below(rng, bytes);

	for (uint32_t i = 0; i < n; i++)
		out[i] = sb_rng_below(rng, 2) ? nasty[sb_rng_below(rng, sizeof(nasty) - 1)]
					      : (char)(1 + sb_rng_below(rng, 255));
	out[n] = '\0';
}

/* ---- jobs ---- */

static char path[] = "/tmp/sched-bench-job-XXXXXX";

#define WORDS_MAX 80

/* A command line of its own memory. */
struct line {
	char *argv[WORDS_MAX];
	int argc;
};

static inline int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

static inline int make_file(void **state)
{
	const int file = mkstemp(path);

	(void)state;
	return file < 0 ? -1 : close(file);
}

#endif
