#include "results/record/metric.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOWER	SB_LOWER
#define HIGHER	SB_HIGHER
#define NEITHER SB_NEITHER

static struct sb_metric metrics[SB_METRICS] = {
#define METRIC(name, unit, better, doc) [SB_METRIC_##name] = { #name, unit, better, doc },
#include "results/record/metrics.def"
#undef METRIC
};
static enum sb_metric_id all_metrics = SB_METRICS_BUILT_IN;

const struct sb_metric *const sb_metric = metrics;

static const char *const better_names[] = {
	[SB_LOWER] = "lower",
	[SB_HIGHER] = "higher",
	[SB_NEITHER] = "",
};

const char *sb_better_name(enum sb_better better)
{
	return better_names[better];
}

bool sb_better_find(const char *name, enum sb_better *better)
{
	for (uint32_t i = 0; i < SB_ARRAY_SIZE(better_names); i++) {
		if (!strcmp(better_names[i], name)) {
			*better = (enum sb_better)i;
			return true;
		}
	}
	return false;
}

enum sb_metric_id sb_metrics(void)
{
	return all_metrics;
}

#define SMALL  "abcdefghijklmnopqrstuvwxyz"
#define LARGE  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"
#define MICRO  "\xc2\xb5\xce\xbc" /* U+00B5 and U+03BC */

enum sb_metric_id sb_metric_add(const struct sb_metric *metric)
{
	const enum sb_metric_id found = sb_metric_find(metric->name);
	struct sb_metric *added = &metrics[all_metrics];

	if (found < SB_METRICS_BUILT_IN || !*metric->name ||
	    metric->name[strspn(metric->name, SMALL DIGITS "_")] ||
	    metric->unit[strspn(metric->unit, SMALL LARGE DIGITS MICRO " %/_.*^()")])
		return SB_METRICS;
	if (found < SB_METRICS || all_metrics == SB_METRICS)
		return found;
	*added = (struct sb_metric){ strdup(metric->name), strdup(metric->unit), metric->better,
				     strdup(metric->doc) };
	return added->name && added->unit && added->doc ? all_metrics++ : SB_METRICS;
}

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
	for (enum sb_metric_id m = 0; m < sb_metrics(); m++) {
		if (!strcmp(sb_metric[m].name, name))
			return m;
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
