#include "harness/terminal/metrics.h"

#include "harness/terminal/status.h"
#include "harness/terminal/text.h"

static const char *metric_name(const void *unused, size_t i)
{
	(void)unused;
	return i < SB_METRICS ? sb_metric[i].name : NULL;
}

int sb_parse_metric(const char *option, const char *name, enum sb_metric_id *out)
{
	const char *like;

	*out = sb_metric_find(name);
	if (*out < SB_METRICS)
		return 0;
	like = sb_most_like(name, metric_name, NULL);
	return sb_fail(SB_EXIT_USAGE,
		       "%s: '%s' is no metric%s%s%s; sched-bench list metrics names them", option,
		       name, like ? "; did you mean " : "", like ? like : "", like ? "?" : "");
}
