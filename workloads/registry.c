#include <string.h>

#include "workloads/workload.h"

/* A build can add workloads of its own; the tests do. */
#define X(name) extern const struct sb_workload sb_workload_##name;
#include "workloads/list.def"
#ifdef SB_EXTRA_WORKLOADS
#include SB_EXTRA_WORKLOADS
#endif
#undef X

/* How many there are, and the end. */
enum {
#define X(name) NUMBER_##name,
#include "workloads/list.def"
#ifdef SB_EXTRA_WORKLOADS
#include SB_EXTRA_WORKLOADS
#endif
#undef X
	LISTED
};

static_assert(LISTED + SB_WORKLOADS_ADDED <= SB_WORKLOADS_MAX, "there is room for all");

const struct sb_workload *sb_workloads[LISTED + SB_WORKLOADS_ADDED + 1] = {
#define X(name) &sb_workload_##name,
#include "workloads/list.def"
#ifdef SB_EXTRA_WORKLOADS
#include SB_EXTRA_WORKLOADS
#endif
#undef X
};

bool sb_workload_add(const struct sb_workload *workload)
{
	for (size_t i = LISTED; i < LISTED + SB_WORKLOADS_ADDED; i++) {
		if (!sb_workloads[i]) {
			sb_workloads[i] = workload;
			return true;
		}
	}
	return false;
}

const struct sb_workload *sb_workload_find(const char *name)
{
	for (const struct sb_workload **w = sb_workloads; *w; w++) {
		if (!strcmp((*w)->name, name))
			return *w;
	}
	return NULL;
}
