/* program.h - another program, run to its end for what it prints. */
#ifndef SB_HARNESS_SYSTEM_PROGRAM_H
#define SB_HARNESS_SYSTEM_PROGRAM_H

#include "core/platform/base.h"

struct sb_program {
	const char *const *argv; /* ends with NULL; the first is looked for in PATH */

	/* What it printed, on both; for sb_program_free. */
	char *text;
	int wait_status; /* as waitpid's */
};

/* Standard input is /dev/null. Returns 0, also if the program has failed, or -errno: it could not
 * be started, or what it printed not be read. */
SB_MUST_CHECK int sb_program_run(struct sb_program *program);

bool sb_program_succeeded(const struct sb_program *program);

/* The first line of what it printed, to which the text is cut; "": none. */
const char *sb_program_line(struct sb_program *program);

void sb_program_free(struct sb_program *program);

/* The path of this program. Returns 0 or -errno. */
SB_MUST_CHECK int sb_program_own_path(char *out, size_t bytes);

#endif
