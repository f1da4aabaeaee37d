#include "harness/terminal/metrics.h"

#include <stdlib.h>
#include <string.h>

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

static int add_objective(const char *option, const char *name, struct sb_objectives *out)
{
	enum sb_metric_id *metric = &out->metric[out->n];
	int rc;

	if (out->n == SB_OBJECTIVES_MAX)
		return sb_fail(SB_EXIT_USAGE, "%s: '%s' is one too many; expected at most %d",
			       option, name, SB_OBJECTIVES_MAX);
	rc = sb_parse_metric(option, name, metric);
	if (rc)
		return rc;
	if (sb_metric[*metric].better == SB_NEITHER)
		return sb_fail(SB_EXIT_USAGE,
			       "%s: %s is neither better when it is low nor when it is high; "
			       "expected such a metric",
			       option, name);
	if (out->n && *metric == out->metric[0])
		return sb_fail(SB_EXIT_USAGE, "%s: %s is given twice; expected two metrics", option,
			       name);
	out->n++;
	return 0;
}

int sb_parse_objectives(const char *option, const char *text, struct sb_objectives *out)
{
	char *names = strdup(text);
	char *rest = names;
	char *name;
	int rc = names ? 0 : sb_fail_memory();

	out->n = 0;
	while (!rc && (name = strsep(&rest, ",")))
		rc = add_objective(option, name, out);
	free(names);
	return rc;
}
