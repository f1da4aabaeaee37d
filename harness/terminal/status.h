/*
 * status.h - how the command ends, and the one way to say why it does.
 */
#ifndef SB_HARNESS_TERMINAL_STATUS_H
#define SB_HARNESS_TERMINAL_STATUS_H

#include "core/platform/base.h"

enum sb_status_code {
	SB_EXIT_OK = 0,
	SB_EXIT_REGRESSED = 1,
	SB_EXIT_INVALID = 2,	 /* undecided, or an invalid measurement */
	SB_EXIT_USAGE = 3,	 /* an input is wrong */
	SB_EXIT_ENVIRONMENT = 4, /* this machine does not allow it */
	SB_EXIT_BUG = 70,
};

/* Prints "sched-bench: <message>" on stderr: something to know, no error. */
void sb_note(const char *format, ...) SB_PRINTF(1, 2);

/* From now on messages begin with that, to say what they are about; NULL: no
 * more. It is not copied. */
void sb_fail_about(const char *what);

/* Prints "sched-bench: <message>" on stderr and returns status. */
int sb_fail(enum sb_status_code status, const char *format, ...) SB_PRINTF(2, 3);

/* The same of memory that there was none of. */
int sb_fail_memory(void);

/* The status that says why a file or a system call failed; error: -errno. The name
 * is wrong, or the machine does not allow it. */
enum sb_status_code sb_status_of(int error);

#endif
