/*
 * plugin.h - for a workload outside of this tree: `sched-bench run -w ./mine.c`, or -w ./mine.so
 * that was built with the command that `sched-bench new workload mine` prints. The file includes this header, defines
 * a const struct sb_workload as workloads/workload.h says, and ends with SB_PLUGIN(its name). If
 * there are several files, one includes this header, the others "workloads/workload.h".
 *
 * It may call what is in workloads/calls.def, the inline functions of the headers, and the C
 * library. In virtual time only those calls, and what sb_work_spin() is told to do, take time.
 */
#ifndef SB_WORKLOADS_PLUGIN_H
#define SB_WORKLOADS_PLUGIN_H

#include <stdlib.h>

#include "workloads/calls.h"
#include "workloads/lib/actor.h"
#include "workloads/lib/check.h"

#define SB_PLUGIN_OWN __attribute__((visibility("hidden")))

extern const struct sb_plugin sb_plugin;
SB_PLUGIN_OWN const struct sb_plugin_calls *sb_plugin_called;

SB_PLUGIN_OWN void sb_mem_free(void *block);

#define CALL(type, name, parameters, arguments)                                                    \
	SB_PLUGIN_OWN type name parameters                                                         \
	{                                                                                          \
		return sb_plugin_called->name arguments;                                           \
	}
#include "workloads/calls.def"
#undef CALL

/* SB_CHECK calls it. */
SB_PLUGIN_OWN __attribute__((noreturn)) void sb_check_failed(const char *file, int line,
							     const char *text,
							     unsigned long long left,
							     unsigned long long right)
{
	fprintf(stderr, "%s:%d: %s: %llu, %llu\n", file, line, text, left, right);
	abort();
}

/* The scheduler's own sb_clock_ns() reads variables that a plug-in does not have. */
#define sb_clock_ns sb_workload_now_ns

#define SB_PLUGIN(name)                                                                            \
	__attribute__((visibility("default")))                                                     \
	const struct sb_plugin sb_plugin = { SB_PLUGIN_VERSION,                                    \
					     (uint32_t)sizeof(struct sb_workload),                 \
					     (uint32_t)sizeof(struct sb_workload_run),             \
					     (uint32_t)sizeof(struct sb_plugin_calls),             \
					     &(name),                                              \
					     &sb_plugin_called }

#endif
