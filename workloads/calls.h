/*
 * calls.h - the interface between the command and a plug-in: a workload in a shared object of its
 * own. See workloads/plugin.h, which its author includes.
 */
#ifndef SB_WORKLOADS_CALLS_H
#define SB_WORKLOADS_CALLS_H

#include "workloads/lib/work.h"
#include "workloads/load/generator.h"
#include "workloads/workload.h"

/* Changes with struct sb_workload, with all that it leads to, and with calls.def. */
#define SB_PLUGIN_VERSION 2

struct sb_plugin_calls {
#define CALL(type, name, parameters, arguments) type(*name) parameters;
#include "workloads/calls.def"
#undef CALL
};

/* What a plug-in shows, by the name sb_plugin. The sizes show a change of the
 * headers even if its author forgot the version. */
struct sb_plugin {
	uint32_t version;
	uint32_t workload_bytes;
	uint32_t run_bytes;
	uint32_t calls_bytes;
	const struct sb_workload *workload;
	const struct sb_plugin_calls **calls; /* the command sets it before a run */
};

/* The functions of real time or, in the build for virtual time, of that. */
extern const struct sb_plugin_calls sb_plugin_calls;

#endif
