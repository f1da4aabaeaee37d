/*
 * report.c - one self-contained page: no network, no script, pictures inline.
 */
#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/account.h"
#include "results/file.h"
#include "results/write.h"

static void put_escaped(FILE *out, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '&':
			fputs("&amp;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		case '\'':
			fputs("&#39;", out);
			break;
		default:
			fputc(*text, out);
		}
	}
}

static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta "
	"charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, "
	"initial-scale=1\">\n<title>sched-bench report</title>\n<style>\n"
	":root{color-scheme:light dark;--line:#bbb8;--soft:#8881}\n"
	"body{font:15px/1.45 system-ui,sans-serif;margin:0 auto;"
	"max-width:1100px;padding:1rem}\n"
	"h1{font-size:1.4rem}h2{font-size:1.15rem;margin-top:2rem}\n"
	".scroll{overflow-x:auto}\n"
	"table{border-collapse:collapse;font-variant-numeric:tabular-nums}\n"
	"th,td{border-bottom:1px solid var(--line);padding:.25rem .6rem;"
	"text-align:right;white-space:nowrap}\n"
	"th:first-child,td:first-child{text-align:left}\n"
	"th{background:var(--soft)}abbr{text-decoration:underline dotted}\n"
	"figure{margin:1rem 0}svg{max-width:100%;height:auto;"
	"background:#fff}\n"
	".bad{color:#c00;font-weight:bold}\n"
	"</style>\n</head>\n<body>\n";

static void put_number_cell(FILE *out, double value, const char *unit)
{
	char text[SB_HUMAN_BYTES];

	sb_human(text, value, unit);
	fprintf(out, "<td>%s</td>", text);
}

/* A row per metric, a column group per workload: median and range. */
static void put_metric_row(FILE *out, const struct sb_result *result,
			   enum sb_metric_id m)
{
	fputs("<tr><td><abbr title=\"", out);
	put_escaped(out, sb_metric[m].doc);
	fprintf(out, "\">%s</abbr></td><td>%s</td>", sb_metric[m].name,
		sb_metric[m].unit);
	for (uint32_t i = 0; i < result->all_series; i++) {
		const struct sb_spread s =
			sb_series_spread(&result->series[i], m);

		put_number_cell(out, s.median, sb_metric[m].unit);
		put_number_cell(out, s.min, sb_metric[m].unit);
		put_number_cell(out, s.max, sb_metric[m].unit);
	}
	fputs("</tr>\n", out);
}

static void put_metrics(FILE *out, const struct sb_result *result)
{
	fputs("<h2>Metrics</h2>\n<p>Over the valid and the suspect "
	      "repetitions. Point at a "
	      "name for its definition.</p>\n<div class=\"scroll\"><table>\n"
	      "<thead><tr><th>metric</th><th>unit</th>",
	      out);
	for (uint32_t i = 0; i < result->all_series; i++) {
		fputs("<th>", out);
		put_escaped(out, result->series[i].workload);
		fputs(": median</th><th>min</th><th>max</th>", out);
	}
	fputs("</tr></thead>\n<tbody>\n", out);
	for (int m = 0; m < SB_METRICS; m++)
		put_metric_row(out, result, m);
	fputs("</tbody></table></div>\n", out);
}

static void put_validity(FILE *out, const struct sb_result *result)
{
	fputs("<h2>Workloads</h2>\n<div class=\"scroll\"><table>\n<thead><tr>"
	      "<th>workload</th><th>parameters</th><th>one operation</th>"
	      "<th>repetitions</th><th>validity</th></tr></thead><tbody>\n",
	      out);
	for (uint32_t i = 0; i < result->all_series; i++) {
		const struct sb_series *s = &result->series[i];

		fputs("<tr><td>", out);
		put_escaped(out, s->workload);
		fputs("</td><td>", out);
		put_escaped(out, s->label);
		fprintf(out, "</td><td>%s</td><td>%" PRIu32 "</td><td>",
			s->operation, s->records);
		for (uint32_t r = 0; r < s->records; r++) {
			if (s->record[r].verdict == SB_VALID)
				continue;
			fprintf(out,
				"<span class=\"bad\">repetition %" PRIu32
				" %s: ",
				s->record[r].repetition,
				sb_verdict_name(s->record[r].verdict));
			put_escaped(out, s->record[r].reason);
			fputs("</span> ", out);
		}
		fputs(sb_series_count(s, SB_VALID) == s->records
			      ? "valid</td></tr>\n"
			      : "</td></tr>\n",
		      out);
	}
	fputs("</tbody></table></div>\n", out);
}

static void put_residence(FILE *out, const struct sb_result *result,
			  const struct sb_series *series, uint32_t worker)
{
	const struct sb_residence *r = &series->residence[worker];

	fputs("<tr><td>", out);
	put_escaped(out, series->workload);
	fprintf(out, "</td><td>%" PRIu32 "</td><td>%d</td><td>%s</td>", worker,
		series->placement.place[worker].node,
		sb_series_binding(series, result));
	for (int kind = 0; kind < SB_MEMORY_KINDS; kind++) {
		if (r->error)
			fputs("<td>-</td><td>-</td>", out);
		else
			fprintf(out, "<td>%" PRIu64 "</td><td>%" PRIu64 "</td>",
				r->kind[kind].own, r->kind[kind].other);
	}
	fputs("</tr>\n", out);
}

static void put_memory(FILE *out, const struct sb_result *result)
{
	fputs("<h2>Memory</h2>\n<p>Pages of each worker's memory, as the "
	      "kernel places them after the run: on the worker's NUMA node, "
	      "and on others. All lie in the worker's arena; - was not to be "
	      "known.</p>\n<div class=\"scroll\"><table>\n<thead><tr>"
	      "<th>workload</th><th>worker</th><th>node</th><th>binding</th>",
	      out);
	for (int kind = 0; kind < SB_MEMORY_KINDS; kind++)
		fprintf(out, "<th>%s: own</th><th>other</th>",
			sb_memory_kind_name((enum sb_memory_kind)kind));
	fputs("</tr></thead>\n<tbody>\n", out);
	for (uint32_t i = 0; i < result->all_series; i++) {
		const struct sb_series *series = &result->series[i];

		for (uint32_t w = 0;
		     series->residence && w < series->placement.workers; w++)
			put_residence(out, result, series, w);
	}
	fputs("</tbody></table></div>\n", out);
}

static void put_account(FILE *out, const struct sb_series *series,
			uint32_t worker)
{
	const struct sb_shares shares = sb_series_shares(series, worker);

	fputs("<tr><td>", out);
	put_escaped(out, series->workload);
	fprintf(out, "</td><td>%" PRIu32 "</td>", worker);
	for (int t = 0; t < SB_TIMES; t++)
		put_number_cell(out, shares.pct[t], "%");
	fputs("</tr>\n", out);
}

static void put_accounts(FILE *out, const struct sb_result *result)
{
	fputs("<h2>The workers' time</h2>\n<p>In percent, on average over the "
	      "valid repetitions. busy is work, scheduler and harness; without "
	      "it the others add up to 100.</p>\n<div class=\"scroll\"><table>"
	      "\n<thead><tr><th>workload</th><th>worker</th>"
#define TIME(name, doc) "<th><abbr title=\"" doc "\">" #name "</abbr></th>"
#include "results/account.def"
#undef TIME
	      "</tr></thead>\n<tbody>\n",
	      out);
	for (uint32_t i = 0; i < result->all_series; i++) {
		for (uint32_t w = 0; w < result->series[i].placement.workers;
		     w++)
			put_account(out, &result->series[i], w);
	}
	fputs("</tbody></table></div>\n", out);
}

static void put_distance_rows(FILE *out, const struct sb_series *series,
			      const struct sb_distance_steals *steals)
{
	for (int d = 0; d < SB_DISTANCES; d++) {
		if (!steals[d].pairs)
			continue;
		fputs("<tr><td>", out);
		put_escaped(out, series->workload);
		fprintf(out, "</td><td>%s</td>",
			sb_distance_name((enum sb_distance)d));
		put_number_cell(out, steals[d].pairs, "count");
		put_number_cell(out, steals[d].attempts, "count");
		put_number_cell(out, steals[d].successes, "count");
		put_number_cell(out, steals[d].items, "count");
		fputs("</tr>\n", out);
	}
}

/* Only where there is more than one distance. */
static void put_distances(FILE *out, const struct sb_result *result)
{
	bool any = false;

	for (uint32_t i = 0; i < result->all_series; i++) {
		const struct sb_series *series = &result->series[i];
		struct sb_distance_steals steals[SB_DISTANCES];

		if (sb_series_distances(series, steals) < 2)
			continue;
		if (!any)
			fputs("<h2>Steals by distance</h2>\n<p>On average in a "
			      "valid repetition, over all pairs of workers "
			      "that are that far apart.</p>\n"
			      "<div class=\"scroll\"><table>\n<thead><tr>"
			      "<th>workload</th><th>distance</th>"
			      "<th>pairs</th><th>attempts</th>"
			      "<th>successes</th><th>processes stolen</th>"
			      "</tr></thead>\n<tbody>\n",
			      out);
		any = true;
		put_distance_rows(out, series, steals);
	}
	if (any)
		fputs("</tbody></table></div>\n", out);
}

/* The SVG file from its <svg> element on. */
static void put_picture(FILE *out, const char *path)
{
	FILE *in = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	bool inside = false;

	if (!in)
		return;
	fputs("<figure>\n", out);
	while (getline(&line, &room, in) > 0) {
		inside = inside || strstr(line, "<svg");
		if (inside)
			fputs(line, out);
	}
	fputs("</figure>\n", out);
	free(line);
	fclose(in);
}

static void put_pictures(FILE *out, const struct sb_result *result)
{
	char *pattern = sb_path_join(result->directory, "plots/*.svg");
	glob_t found;

	if (!pattern)
		return;
	if (!glob(pattern, 0, NULL, &found)) {
		fputs("<h2>Plots</h2>\n", out);
		for (size_t i = 0; i < found.gl_pathc; i++)
			put_picture(out, found.gl_pathv[i]);
		globfree(&found);
	}
	free(pattern);
}

static void put_facts(FILE *out, const struct sb_result *result)
{
	fputs("<h2>Machine, run and options</h2>\n<div class=\"scroll\">"
	      "<table><tbody>\n",
	      out);
	for (uint32_t i = 0; i < result->facts; i++) {
		const struct sb_fact *fact = &result->fact[i];

		fprintf(out, "<tr><td>%s.%s</td><td>", fact->group, fact->key);
		put_escaped(out, fact->value);
		fputs("</td></tr>\n", out);
	}
	fputs("</tbody></table></div>\n", out);
}

static void put_emulated(FILE *out, const struct sb_result *result)
{
	if (!strcmp(sb_result_topology(result), "native"))
		return;
	fputs("<p class=\"bad\">emulated: the workers are placed on profile ",
	      out);
	put_escaped(out, sb_result_fact(result, "profile", "name"));
	fputs(" and share this machine's cores. The numbers show whom the "
	      "policy steals from, not how fast that machine would be.</p>\n",
	      out);
}

int sb_write_report(const struct sb_result *result)
{
	struct sb_file file;
	const int rc = sb_file_begin(&file, result->directory, "report.html");

	if (rc)
		return rc;
	fputs(head, file.stream);
	fputs("<h1>sched-bench: ", file.stream);
	put_escaped(file.stream, sb_result_fact(result, "run", "date"));
	fputs("</h1>\n<p>", file.stream);
	put_escaped(file.stream,
		    sb_result_fact(result, "machine", "cpu_model"));
	fputs(", ", file.stream);
	put_escaped(file.stream, sb_result_fact(result, "run", "workers"));
	fputs(" workers</p>\n", file.stream);
	put_emulated(file.stream, result);
	put_validity(file.stream, result);
	put_pictures(file.stream, result);
	put_accounts(file.stream, result);
	put_distances(file.stream, result);
	put_metrics(file.stream, result);
	put_memory(file.stream, result);
	put_facts(file.stream, result);
	fputs("</body>\n</html>\n", file.stream);
	return sb_file_commit(&file);
}
