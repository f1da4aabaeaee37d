#include "harness/terminal/metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/terminal/status.h"
#include "harness/terminal/text.h"

static const char *metric_name(const void *unused, size_t i)
{
	(void)unused;
	return i < sb_metrics() ? sb_metric[i].name : NULL;
}

#define NAMES_MOST  4
#define NAMES_BYTES 240

/* "p99" -> "; did you mean ready_to_running_ns_p99, ...?": the first that have the text in their
 * names, or one that is spelled like it; "" if there are none. */
static void suggest(char out[NAMES_BYTES], const char *name)
{
	const char *like = sb_most_like(name, metric_name, NULL);
	size_t used = 0;
	int names = 0;

	out[0] = '\0';
	for (size_t i = 0; !like && *name && i < sb_metrics() && names < NAMES_MOST; i++) {
		if (strstr(sb_metric[i].name, name) && used < NAMES_BYTES)
			used += (size_t)snprintf(out + used, NAMES_BYTES - used, "%s%s",
						 names++ ? ", " : "; did you mean ",
						 sb_metric[i].name);
	}
	if (like)
		snprintf(out, NAMES_BYTES, "; did you mean %s?", like);
	else if (names && used < NAMES_BYTES)
		snprintf(out + used, NAMES_BYTES - used, "%s?", names == NAMES_MOST ? ", ..." : "");
}

int sb_parse_metric(const char *option, const char *name, enum sb_metric_id *out)
{
	char names[NAMES_BYTES];

	*out = sb_metric_find(name);
	if (*out < SB_METRICS)
		return 0;
	suggest(names, name);
	return sb_fail(SB_EXIT_USAGE,
		       "%s: '%s' is no metric%s; sched-bench list metrics names them", option, name,
		       names);
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
