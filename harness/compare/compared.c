#include "harness/compare/compared.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "harness/terminal/metrics.h"
#include "harness/terminal/status.h"
#include "harness/terminal/text.h"
#include "results/compare/comparison.h"
#include "results/record/number.h"
#include "results/record/record.h"

/* ---- which metrics ---- */

static bool has(const struct sb_compared *compared, enum sb_metric_id metric)
{
	for (uint32_t i = 0; i < compared->n; i++) {
		if (compared->metric[i] == metric)
			return true;
	}
	return false;
}

static int add(struct sb_compared *compared, const char *name)
{
	enum sb_metric_id metric;
	const int rc = sb_parse_metric("--metric", name, &metric);

	if (!rc && !has(compared, metric))
		compared->metric[compared->n++] = metric;
	return rc;
}

int sb_compared_choose(struct sb_compared *compared, const struct sb_options *options)
{
	const char *given = options->value[SB_OPT_compared_metric].text;
	char *names = strdup(given);
	char *rest = names;
	char *name;
	int rc = 0;

	*compared = (struct sb_compared){ .is_chosen = *given };
	if (!names)
		return sb_fail_memory();
	while (!rc && *given && (name = strsep(&rest, ",")))
		rc = add(compared, name);
	free(names);
	for (uint32_t i = 0; i < sb_comparison_metrics_n && !*given; i++)
		compared->metric[compared->n++] = sb_comparison_metrics[i];
	return rc;
}

/* ---- what is told ---- */

/* A's level is its median, and how B compares is the estimate. B's median beside it
 * could contradict that. */
static void put_finding(const struct sb_finding *f, int width, FILE *out)
{
	const struct sb_metric *metric = &sb_metric[f->metric];
	char a[SB_HUMAN_BYTES];
	char estimate[SB_FINDING_WORDS];
	char words[SB_FINDING_WORDS];

	sb_human(a, f->a, metric->unit);
	sb_finding_estimate(f, estimate);
	sb_finding_describe(f, words);
	fprintf(out, "%-*s  %10s  %-23s  %s\n", width, metric->name, a, estimate, words);
}

static int widest(const struct sb_findings *findings)
{
	size_t width = strlen("metric");

	for (uint32_t i = 0; i < findings->n; i++) {
		const size_t n = strlen(sb_metric[findings->finding[i].metric].name);

		width = n > width ? n : width;
	}
	return (int)width;
}

void sb_compared_put(const struct sb_findings *findings, FILE *out)
{
	const int width = widest(findings);
	const char *name = NULL;

	for (uint32_t i = 0; i < findings->n; i++) {
		const struct sb_finding *f = &findings->finding[i];

		if (!name || strcmp(name, f->name) != 0) {
			fprintf(out, "%s%s\n", name ? "\n" : "", f->name);
			fprintf(out, "%-*s  %10s  %-23s  %s\n", width, "metric", "A",
				"B/A [interval]", "verdict");
		}
		name = f->name;
		put_finding(f, width, out);
	}
	for (uint32_t i = 0; i < findings->notes; i++)
		fprintf(out, "%s%s\n", i || !findings->n ? "" : "\n", findings->note[i]);
}

enum format { PRETTY, JSON, CSV };

void sb_compared_print(const struct sb_findings *findings, const struct sb_options *options,
		       void (*pretty)(const void *what, FILE *out), const void *what)
{
	if (sb_opt(options, SB_OPT_quiet))
		return;
	switch (options->value[SB_OPT_format].alternative) {
	case JSON:
		(void)sb_findings_write_json(findings, stdout);
		break;
	case CSV:
		sb_findings_write_csv(findings, stdout);
		break;
	case PRETTY:
	default:
		pretty(what, stdout);
		break;
	}
}

bool sb_compared_is_conclusive(const struct sb_findings *findings)
{
	for (uint32_t i = 0; i < findings->n; i++) {
		if (!sb_finding_is_conclusive(&findings->finding[i]))
			return false;
	}
	return findings->n > 0;
}
