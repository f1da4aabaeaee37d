#include <string.h>

#include "workloads/workload.h"

/* A build can add workloads of its own; the tests do. */
#define X(name) extern const struct sb_workload sb_workload_##name;
#include "workloads/list.def"
#ifdef SB_EXTRA_WORKLOADS
#include SB_EXTRA_WORKLOADS
#endif
#undef X

const struct sb_workload *const sb_workloads[] = {
#define X(name) &sb_workload_##name,
#include "workloads/list.def"
#ifdef SB_EXTRA_WORKLOADS
#include SB_EXTRA_WORKLOADS
#endif
#undef X
	NULL
};

const struct sb_workload *sb_workload_find(const char *name)
{
	for (const struct sb_workload *const *w = sb_workloads; *w; w++) {
		if (!strcmp((*w)->name, name))
			return *w;
	}
	return NULL;
}
