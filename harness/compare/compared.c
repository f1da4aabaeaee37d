#include "harness/compare/compared.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "harness/terminal/metrics.h"
#include "harness/terminal/progress.h"
#include "harness/terminal/status.h"
#include "harness/terminal/text.h"
#include "results/compare/comparison.h"
#include "results/files/answer.h"
#include "results/files/table.h"
#include "results/files/wrap.h"
#include "results/record/number.h"
#include "results/record/record.h"
#include "results/text/escape.h"

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
static void add_finding(struct sb_table *table, const struct sb_finding *f)
{
	const struct sb_metric *metric = &sb_metric[f->metric];
	char a[SB_HUMAN_BYTES];
	char estimate[SB_FINDING_WORDS];
	char words[SB_FINDING_WORDS];

	sb_human(a, f->a, metric->unit);
	sb_finding_estimate(f, estimate);
	sb_finding_describe(f, words);
	sb_table_cell(table, "%s", metric->name);
	sb_table_cell(table, "%s", a);
	sb_table_cell(table, "%s", estimate);
	sb_table_cell(table, "%s", words);
}

/* The findings of one workload, from the first on. Returns how many they are. */
static uint32_t put_workload(const struct sb_findings *findings, uint32_t first, FILE *out,
			     int columns)
{
	const char *name = findings->finding[first].name;
	struct sb_table table = { .keys = 1 };
	uint32_t i = first;

	sb_table_column(&table, "metric", SB_TABLE_LEFT, 0);
	sb_table_column(&table, "A", 0, 10);
	sb_table_column(&table, "B/A [interval]", SB_TABLE_LEFT | SB_TABLE_JOINS, 23);
	sb_table_column(&table, "verdict", SB_TABLE_LEFT | SB_TABLE_WRAPS, 0);
	while (i < findings->n && !strcmp(findings->finding[i].name, name))
		add_finding(&table, &findings->finding[i++]);
	fprintf(out, "\n%s\n", sb_terminal_text(name));
	sb_table_put(&table, out, columns, NULL);
	return i - first;
}

void sb_compared_put(const char *answer, const struct sb_findings *findings, FILE *out)
{
	int columns = sb_terminal_width(out);
	struct sb_wrap wrap;
	FILE *stream = sb_wrap_begin(&wrap, out, &columns);

	sb_answer_put(stream, answer, "", "");
	for (uint32_t i = 0; i < findings->n;)
		i += put_workload(findings, i, stream, columns);
	for (uint32_t i = 0; i < findings->notes; i++)
		fprintf(stream, "%s%s\n", i ? "" : "\n", sb_terminal_text(findings->note[i]));
	sb_wrap_end(&wrap);
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
