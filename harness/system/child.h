/*
 * child.h - one run of the command, or of another build of it, in a process of its
 * own, which may crash or hang without harm to who started it.
 */
#ifndef SB_HARNESS_SYSTEM_CHILD_H
#define SB_HARNESS_SYSTEM_CHILD_H

#include "core/platform/base.h"

#define SB_CHILD_STDERR_BYTES 65536

struct sb_child {
	/* In. */
	char *const *argv;    /* ends with NULL */
	const char *program;  /* a path; NULL: this one */
	uint64_t limit_ns;    /* it hangs, if it takes longer */
	uint32_t limit_cpu_s; /* it is killed, if it takes more CPU time; 0: it is not */
	const char *stacks;   /* where those of one that hangs are kept; NULL:
			      * nowhere */

	/* Out. */
	int wait_status; /* as waitpid's */
	bool hung;	 /* was asked for its stacks, and ended */
	bool interrupted;
	uint64_t elapsed_ns;
	size_t stderr_bytes;
	/* Its end, if there was more; ends with a 0. */
	char stderr_text[SB_CHILD_STDERR_BYTES + 1];
};

/*
 * Runs it to its end. Standard input and output are /dev/null. It has a process
 * group of its own, so Ctrl-C on the terminal does not reach it: sb_interrupted
 * is passed on as one SIGINT. It dies with its parent. A child that hangs gets
 * SIGQUIT, which makes the command write the stacks of all its threads, and
 * SIGKILL soon after. Returns 0 or -errno: it could not be started.
 */
SB_MUST_CHECK int sb_child_run(struct sb_child *child);

/*
 * Calls run(arg) on a thread for each CPU of this process, the calling one among them, until all
 * have returned: each runs children in virtual time, which need a CPU each and do not disturb
 * each other's times.
 */
void sb_child_on_all_cpus(void *(*run)(void *), void *arg);

/* Whether it wrote a result: a row without numbers ends the run with SB_EXIT_INVALID. */
bool sb_child_ended_well(const struct sb_child *child);

/* Whether an interrupt has ended it: it has written what it had, which is not its whole result. */
bool sb_child_was_cut_short(const struct sb_child *child);

/* Whether it was refused, with its last words as the reason: so would be any other of its kind. */
bool sb_child_is_refused(const struct sb_child *child);

/* Prints them as an error, behind the prefix. Returns its exit status. */
int sb_child_refuse(const struct sb_child *child, const char *prefix);

/* One line about how it ended, which is not by exit(0). */
void sb_child_describe(const struct sb_child *child, char *out, size_t bytes);

#endif
