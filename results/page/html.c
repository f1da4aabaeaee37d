/*
 * html.c - the report as one page that needs nothing else: no network, no other
 * file. Without its script everything can still be read.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "results/files/answer.h"
#include "results/files/file.h"
#include "results/page/page.h"
#include "results/page/report.h"
#include "results/record/record.h"
#include "results/record/series.h"

static void put_title(FILE *out, const struct sb_page *page)
{
	char *workloads = sb_page_workloads(page);

	fputs("sched-bench: ", out);
	sb_html(out, workloads ? workloads : "");
	free(workloads);
}

static void put_head(FILE *out, const struct sb_page *page)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
	      "<meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"",
	      out);
	fputs(sb_page_policy, out);
	fputs("\">\n<meta name=\"viewport\" content=\"width=device-width, "
	      "initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<link "
	      "rel=\"icon\" href=\"data:,\">\n"
	      "<title>",
	      out);
	put_title(out, page);
	fputs("</title>\n<style>", out);
	fputs(sb_page_css, out);
	fputs("</style>\n</head>\n<body>\n<main>\n", out);
}

static void put_fact(FILE *out, const char *before, const struct sb_result *result,
		     const char *group, const char *key)
{
	const char *fact = sb_result_fact(result, group, key);

	if (!*fact)
		return;
	fputs(before, out);
	sb_html(out, fact);
}

/* The run, and its machine. */
static void put_run(FILE *out, const struct sb_page *page, const struct sb_result *result)
{
	char *machine = sb_page_machine(result);

	fputs("<p class=\"run\">", out);
	if (page->results > 1) {
		fputs("<b>", out);
		sb_html(out, sb_page_result_name(result));
		fputs("</b>: ", out);
	}
	sb_html(out, machine ? machine : "");
	put_fact(out, "<br>", result, "run", "date");
	put_fact(out, ", sched-bench ", result, "run", "version");
	put_fact(out, ", revision ", result, "run", "git_revision");
	put_fact(out, ", build: ", result, "run", "build_mode");
	put_fact(out, "<br><code>", result, "run", "command_line");
	if (*sb_result_fact(result, "run", "command_line"))
		fputs("</code>", out);
	fputs("</p>\n", out);
	free(machine);
}

static void put_emulated(FILE *out, const struct sb_result *result)
{
	if (strcmp(sb_result_topology(result), "emulated") != 0)
		return;
	fputs("<p class=\"warning\">emulated: the workers are placed on profile ", out);
	sb_html(out, sb_result_fact(result, "profile", "name"));
	fputs(" and share this machine's cores. The counts show whom the policy steals from; the "
	      "times are not those of that machine, which --virtual predicts.</p>\n",
	      out);
}

static void put_virtual(FILE *out, const struct sb_result *result)
{
	const char *median = sb_result_fact(result, "virtual", "median_error_pct");

	if (strcmp(sb_result_topology(result), "virtual") != 0)
		return;
	fputs("<p class=\"warning\">virtual: all times are predictions for machine ", out);
	sb_html(out, sb_result_fact(result, "profile", "name"));
	put_fact(out, ", by model ", result, "virtual", "model");
	put_fact(out, ", hash ", result, "virtual", "model_hash");
	put_fact(out, ", of ", result, "virtual", "model_date");
	if (*median) {
		put_fact(out, ". On ", result, "virtual", "validated_on");
		put_fact(out, " its median error was ", result, "virtual", "median_error_pct");
		put_fact(out, " %, the largest ", result, "virtual", "max_error_pct");
		fputs(" %", out);
	} else {
		fputs(". It has not been compared with that machine", out);
	}
	put_fact(out, ". Not modelled: ", result, "virtual", "not_modelled");
	fputs(".</p>\n", out);
}

static bool has_several_machines(const struct sb_page *page)
{
	static const char *const keys[] = { "cpu_model", "topology_fingerprint" };

	for (size_t k = 0; k < SB_ARRAY_SIZE(keys); k++) {
		for (uint32_t i = 1; i < page->results; i++) {
			if (strcmp(sb_result_fact(&page->result[i], "machine", keys[k]),
				   sb_result_fact(&page->result[0], "machine", keys[k])) != 0)
				return true;
		}
	}
	return false;
}

static void put_lines(FILE *out, const struct sb_result *result)
{
	const char *rest = sb_answer_of(result);
	struct sb_answer_line line;

	while (sb_answer_next(&rest, &line)) {
		char *text = strndup(line.text, (size_t)line.bytes);

		fprintf(out, "<p class=\"%s\">", line.is_reason ? "reason" : "answer");
		sb_html(out, text ? text : "");
		fputs("</p>\n", out);
		free(text);
	}
}

/* What was found, before anything else: of two results how they differ. */
static void put_answers(FILE *out, const struct sb_page *page)
{
	const struct sb_result *answering = sb_page_answering(page);

	if (answering)
		put_lines(out, answering);
	for (uint32_t i = 0; page->results > 1 && i < page->results; i++) {
		if (!*sb_answer_of(&page->result[i]))
			continue;
		fputs("<h2>", out);
		sb_html(out, sb_page_result_name(&page->result[i]));
		fputs("</h2>\n", out);
		put_lines(out, &page->result[i]);
	}
}

static void put_header(FILE *out, const struct sb_page *page)
{
	fputs("<header><h1>", out);
	put_title(out, page);
	fputs("</h1>\n", out);
	sb_html_fleet(out, page);
	put_answers(out, page);
	for (uint32_t i = 0; i < page->results; i++) {
		put_run(out, page, &page->result[i]);
		put_emulated(out, &page->result[i]);
		put_virtual(out, &page->result[i]);
	}
	if (has_several_machines(page))
		fputs("<p class=\"warning\">These results are of different machines: what differs "
		      "may be the machines'.</p>\n",
		      out);
	fputs("</header>\n", out);
}

static void put_page(FILE *out, const struct sb_page *page)
{
	static void (*const parts[])(FILE *, const struct sb_page *) = {
		put_head,	   put_header,	     sb_html_fleet,    sb_html_findings,
		sb_html_verdict,   sb_html_headline, sb_html_pictures, sb_html_latencies,
		sb_html_exemplars, sb_html_times,    sb_html_steals,   sb_html_memory,
		sb_html_metrics,   sb_html_settings, sb_html_facts,    sb_html_definitions,
	};

	for (size_t i = 0; i < SB_ARRAY_SIZE(parts); i++)
		parts[i](out, page);
	fputs("</main>\n<div id=\"tip\" role=\"tooltip\" hidden></div>\n"
	      "<script>",
	      out);
	fputs(sb_page_js, out);
	fputs("</script>\n</body>\n</html>\n", out);
}

int sb_write_html(const struct sb_result *result, uint32_t results, FILE *out)
{
	struct sb_page page;
	const int rc = sb_page_init(&page, result, results);

	if (rc)
		return rc;
	put_page(out, &page);
	sb_page_fini(&page);
	return 0;
}

int sb_write_report(const struct sb_result *result)
{
	struct sb_file file;
	int rc = sb_file_begin(&file, result->directory, "report.html");

	if (rc)
		return rc;
	rc = sb_write_html(result, 1, file.stream);
	if (!rc)
		return sb_file_commit(&file);
	sb_file_abandon(&file);
	return rc;
}
