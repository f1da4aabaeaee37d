#include "results/record/metric.h"

#include <stdio.h>
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

uint32_t sb_metric_list(const char *text, enum sb_metric_id *metric, uint32_t room)
{
	uint32_t n = 0;

	while (*text && n < room) {
		const size_t length = strcspn(text, ",");
		char name[64];

		snprintf(name, sizeof(name), "%.*s", (int)length, text);
		metric[n++] = sb_metric_find(name);
		text += length + (text[length] == ',');
	}
	return n;
}

const char *sb_metric_old_name(enum sb_metric_id metric)
{
	for (size_t i = 0; i < SB_ARRAY_SIZE(renamed); i++) {
		if (renamed[i].now == metric)
			return renamed[i].name;
	}
	return NULL;
}
