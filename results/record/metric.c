#include "results/record/metric.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *name;
	enum sb_metric_id now;
} renamed[] = {
#define RENAMED(old, new) { #old, SB_METRIC_##new },
#include "results/record/renamed.def"
#undef RENAMED
};

enum sb_metric_id sb_metric_find(const char *name)
{
	for (int m = 0; m < SB_METRICS; m++) {
		if (!strcmp(sb_metric[m].name, name))
			return (enum sb_metric_id)m;
	}
	for (size_t i = 0; i < SB_ARRAY_SIZE(renamed); i++) {
		if (!strcmp(renamed[i].name, name))
			return renamed[i].now;
	}
	return SB_METRICS;
}

const char *sb_metric_old_name(enum sb_metric_id metric)
{
	for (size_t i = 0; i < SB_ARRAY_SIZE(renamed); i++) {
		if (renamed[i].now == metric)
			return renamed[i].name;
	}
	return NULL;
}
