/*
 * crash.h - what the command says when it crashes or hangs: the stacks of its
 * threads, on standard error.
 *
 *	SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL: the stack of the thread that
 *		got it
 *	SIGQUIT (Ctrl-\): those of all threads, one after the other
 *
 * A library that crashes for want of memory has one line instead, and status 4; so has a plug-in,
 * with status 2.
 * Else the signal takes its course, so status and core dump are as ever. Only
 * what is safe in a handler is called: backtrace() has been called once before,
 * so that its library is there, and backtrace_symbols_fd() allocates nothing.
 * A thread whose signals are blocked is said not to answer.
 */
#ifndef SB_HARNESS_SYSTEM_CRASH_H
#define SB_HARNESS_SYSTEM_CRASH_H

#include <stdint.h>

/* Each dump begins with that. */
#define SB_CRASH_MARK "sched-bench: stack of thread "

/* What follows may never return: a stop while a step does not return, or a round in virtual time.
 * After that time the command ends with one line, "WORKLOAD: WHY; ...", and status 2. After an
 * interrupt SB_INTERRUPT_S are left. limit_ns 0: it has returned. */
void sb_crash_limit(const char *workload, const char *why, uint64_t limit_ns);

/* Installs the handlers. In a build with a sanitizer the crashes stay the
 * sanitizer's, which says more. */
void sb_crash_watch(void);

#endif
