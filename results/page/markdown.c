/*
 * markdown.c - the report as Markdown in GitHub's flavour. GitHub refuses a
 * comment beyond a size, so tables have limits, which are lowered until all
 * fits: first those of what is folded away, then those of what is seen. A table
 * says how much it leaves out.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "results/files/answer.h"
#include "results/page/markdown_parts.h"
#include "results/page/page.h"
#include "results/page/report.h"
#include "results/record/account.h"
#include "results/record/record.h"
#include "results/record/series.h"

void sb_md_put_cell(FILE *out, const char *text)
{
	fputs(" | ", out);
	sb_put_markdown(out, text);
}

void sb_md_put_number(FILE *out, double value, const char *unit)
{
	char text[SB_PAGE_NUMBER_BYTES];

	sb_page_number(text, value, unit);
	sb_md_put_cell(out, text);
}

/* ---- tables ---- */

void sb_md_put_series_heads(const struct sb_md_writer *w)
{
	fputs("\n| series", w->out);
	if (w->page->results > 1)
		sb_md_put_cell(w->out, "result");
	for (uint32_t i = 0; i < w->page->swepts; i++)
		sb_md_put_cell(w->out, w->page->swept[i]);
}

void sb_md_put_rule(const struct sb_md_writer *w, uint32_t columns, bool right)
{
	const uint32_t left = 1 + (w->page->results > 1);

	fputs(" |\n|", w->out);
	for (uint32_t i = 0; i < left; i++)
		fputs("---|", w->out);
	for (uint32_t i = 0; i < w->page->swepts; i++)
		fputs("---:|", w->out);
	for (uint32_t i = 0; i < columns; i++)
		fputs(right ? "---:|" : "---|", w->out);
	fputc('\n', w->out);
}

void sb_md_put_series_cells(const struct sb_md_writer *w, const struct sb_page_row *row)
{
	fputs("| ", w->out);
	sb_put_markdown(w->out, row->name);
	fputs(sb_series_topology_mark(row->series), w->out);
	if (w->page->results > 1)
		sb_md_put_cell(w->out, sb_page_result_name(row->result));
	for (uint32_t i = 0; i < w->page->swepts; i++) {
		const struct sb_setting *s = sb_series_setting(row->series, w->page->swept[i]);

		sb_md_put_cell(w->out, s ? s->text : "-");
	}
}

void sb_md_put_left_out(const struct sb_md_writer *w, uint32_t n, const char *what)
{
	if (n)
		fprintf(w->out, "\n%" PRIu32 " more %s left out here.\n", n, what);
}

/* ---- what is seen ---- */

static void put_verdicts(const struct sb_md_writer *w, const struct sb_series *series)
{
	bool any = false;

	fputs(" | ", w->out);
	for (enum sb_verdict v = SB_VALID; v < SB_VERDICTS; v++) {
		const uint32_t n = sb_series_count(series, v);

		if (n)
			fprintf(w->out, "%s%" PRIu32 " %s", any ? ", " : "", n, sb_verdict_name(v));
		any |= n > 0;
	}
}

static void put_headline_row(const struct sb_md_writer *w, const struct sb_page_row *row)
{
	sb_md_put_series_cells(w, row);
	for (uint32_t i = 0; i < w->page->headlines; i++) {
		const enum sb_metric_id metric = w->page->headline[i];
		const struct sb_spread spread = sb_series_spread(row->series, metric);
		char range[SB_PAGE_RANGE_BYTES];

		sb_md_put_number(w->out, spread.median, sb_metric[metric].unit);
		sb_page_range(range, &spread, sb_metric[metric].unit);
		/* Of the first, how far it spreads. */
		if (!i && spread.n > 1) {
			fputs(" (", w->out);
			sb_put_markdown(w->out, range);
			fputc(')', w->out);
		}
	}
	put_verdicts(w, row->series);
	fputs(" |\n", w->out);
}

static void put_headline(const struct sb_md_writer *w)
{
	const struct sb_page *page = w->page;

	sb_md_put_series_heads(w);
	for (uint32_t i = 0; i < page->headlines; i++)
		sb_md_put_cell(w->out, sb_metric[page->headline[i]].name);
	fputs(" | repetitions", w->out);
	sb_md_put_rule(w, page->headlines + 1, true);
	for (uint32_t i = 0; i < w->page->rows && i < w->seen; i++)
		put_headline_row(w, &w->page->row[i]);
	if (w->page->rows > w->seen)
		sb_md_put_left_out(w, w->page->rows - w->seen, "series are");
	fputs("\nMedians of the forks, or of the repetitions of one, that have numbers; in "
	      "brackets the lowest and the "
	      "highest.\n",
	      w->out);
}

static void put_run(const struct sb_md_writer *w, const struct sb_result *result)
{
	const char *const keys[] = { "date", "version", "git_revision", "build_mode" };
	char *machine = sb_page_machine(result);

	fputs("\n", w->out);
	if (w->page->results > 1) {
		fputs("**", w->out);
		sb_put_markdown(w->out, sb_page_result_name(result));
		fputs("**: ", w->out);
	}
	sb_put_markdown(w->out, machine ? machine : "");
	free(machine);
	for (size_t i = 0; i < SB_ARRAY_SIZE(keys); i++) {
		const char *fact = sb_result_fact(result, "run", keys[i]);

		if (*fact) {
			fputs(", ", w->out);
			sb_put_markdown(w->out, fact);
		}
	}
	if (strcmp(sb_result_topology(result), "native") != 0) {
		fprintf(w->out, ". **%s**: placed on profile ", sb_result_topology(result));
		sb_put_markdown(w->out, sb_result_fact(result, "profile", "name"));
	}
	if (*sb_result_fact(result, "virtual", "model")) {
		fputs(", times predicted by model ", w->out);
		sb_put_markdown(w->out, sb_result_fact(result, "virtual", "model"));
		fputs(", without ", w->out);
		sb_put_markdown(w->out, sb_result_fact(result, "virtual", "not_modelled"));
	}
	fputs("\n", w->out);
}

static void put_lines(const struct sb_md_writer *w, const struct sb_result *result)
{
	const char *rest = sb_answer_of(result);
	struct sb_answer_line line;

	while (sb_answer_next(&rest, &line)) {
		char *text = strndup(line.text, (size_t)line.bytes);

		fputs(line.is_reason ? "- " : "\n**", w->out);
		sb_put_markdown(w->out, text ? text : "");
		fputs(line.is_reason ? "\n" : "**\n", w->out);
		free(text);
	}
}

static void put_findings(const struct sb_md_writer *w, const struct sb_result *result)
{
	struct sb_page_finding finding;
	uint32_t rows = 0;

	for (uint32_t i = 0;
	     rows < w->seen && sb_page_next_finding(result, "findings", &i, &finding);) {
		if (!rows++)
			fputs("\n| metric | A | B/A [interval] | verdict |\n|---|---:|---:|---|\n",
			      w->out);
		fputs("| ", w->out);
		sb_put_markdown(w->out, finding.cell[SB_FINDING_NAME]);
		for (int c = SB_FINDING_A; c < SB_FINDING_CELLS; c++)
			sb_md_put_cell(w->out, finding.cell[c]);
		fputs(" |\n", w->out);
	}
}

static void put_ranking(const struct sb_md_writer *w, const struct sb_result *result)
{
	struct sb_page_finding row;
	uint32_t rows = 0;
	int cells = 0;

	for (uint32_t i = 0; rows < w->seen && sb_page_next_finding(result, "ranking", &i, &row);) {
		if (!rows++) {
			cells = sb_page_ranking_cells(&row);
			fputc('\n', w->out);
			for (int c = 0; c < cells; c++)
				fprintf(w->out, "| %s ", sb_page_ranking_heads[c]);
			fputs("|\n", w->out);
			for (int c = 0; c < cells; c++)
				fputs("|---", w->out);
			fputs("|\n", w->out);
		}
		fputs("| ", w->out);
		sb_put_markdown(w->out, row.cell[0]);
		for (int c = 1; c < cells; c++)
			sb_md_put_cell(w->out, row.cell[c]);
		fputs(" |\n", w->out);
	}
}

static void put_notes(const struct sb_md_writer *w, const struct sb_result *result)
{
	fputs("\n", w->out);
	for (uint32_t i = 0, n = 0; i < result->facts && n < w->seen; i++) {
		if (strcmp(result->fact[i].group, "notes") != 0)
			continue;
		fputs("- ", w->out);
		sb_put_markdown(w->out, result->fact[i].value);
		fputs("\n", w->out);
		n++;
	}
}

/* What was found, before anything else: of two results how they differ. */
static void put_answers(const struct sb_md_writer *w)
{
	const struct sb_result *answering = sb_page_answering(w->page);

	if (answering) {
		put_lines(w, answering);
		put_ranking(w, answering);
		put_findings(w, answering);
		put_notes(w, answering);
	}
	for (uint32_t i = 0; w->page->results > 1 && i < w->page->results && i < w->seen; i++) {
		if (!*sb_answer_of(&w->page->result[i]))
			continue;
		fputs("\n", w->out);
		sb_put_markdown(w->out, sb_page_result_name(&w->page->result[i]));
		fputs(":\n", w->out);
		put_lines(w, &w->page->result[i]);
	}
}

static void put_runs(const struct sb_md_writer *w)
{
	for (uint32_t i = 0; i < w->page->results && i < w->seen; i++)
		put_run(w, &w->page->result[i]);
	if (w->page->results > w->seen)
		sb_md_put_left_out(w, w->page->results - w->seen, "results are");
}

static void put_verdict(const struct sb_md_writer *w)
{
	const uint32_t suspect = sb_page_count(w->page, SB_SUSPECT);
	const uint32_t invalid = sb_page_count(w->page, SB_INVALID);
	const uint32_t emulated = sb_page_count(w->page, SB_ONLY_EMULATED);

	fprintf(w->out,
		"\n**Validity:** %" PRIu32 " of %" PRIu32 " repetitions are valid, %s%" PRIu32
		" suspect%s, %s%" PRIu32 " invalid%s.\n",
		sb_page_count(w->page, SB_VALID), sb_page_count(w->page, SB_VERDICTS),
		suspect ? "**" : "", suspect, suspect ? "**" : "", invalid ? "**" : "", invalid,
		invalid ? "**" : "");
	if (emulated)
		fprintf(w->out, "%" PRIu32 " are emulated: %s.\n", emulated,
			sb_page_verdict_doc(SB_ONLY_EMULATED));
}

static void put_reasons(const struct sb_md_writer *w)
{
	struct sb_page_reasons reasons;

	if (sb_page_reasons_find(&reasons, w->page))
		return;
	fputs("\n", w->out);
	for (uint32_t i = 0; i < reasons.reasons && i < w->seen; i++) {
		const struct sb_page_reason *r = &reasons.reason[i];

		fprintf(w->out, "- %" PRIu32 " %s: ", r->repetitions, sb_verdict_name(r->verdict));
		sb_put_markdown(w->out, r->kind);
		fputs("\n", w->out);
	}
	if (reasons.reasons > w->seen)
		sb_md_put_left_out(w, reasons.reasons - w->seen, "reasons are");
	sb_page_reasons_free(&reasons);
}

/* ---- the whole ---- */

static void put_all(const struct sb_md_writer *w)
{
	static void (*const parts[])(const struct sb_md_writer *) = {
		sb_md_put_fleet,     put_answers,	put_runs,	  put_verdict,
		put_reasons,	     put_headline,	sb_md_put_doubts, sb_md_put_pictures,
		sb_md_put_latencies, sb_md_put_slowest, sb_md_put_times,  sb_md_put_facts,
	};
	char *workloads = sb_page_workloads(w->page);

	fputs("### sched-bench: ", w->out);
	sb_put_markdown(w->out, workloads ? workloads : "");
	fputs("\n", w->out);
	free(workloads);
	for (size_t i = 0; i < SB_ARRAY_SIZE(parts); i++)
		parts[i](w);
}

/* A try with these limits, for the caller to free; NULL: no memory. */
static char *make(const struct sb_page *page, const char *home, uint32_t seen, uint32_t folded)
{
	struct sb_md_writer w = { .page = page, .home = home, .seen = seen, .folded = folded };
	char *text = NULL;
	size_t bytes;

	w.out = open_memstream(&text, &bytes);
	if (!w.out)
		return NULL;
	put_all(&w);
	if (!fclose(w.out))
		return text;
	free(text);
	return NULL;
}

/* No table is longer than that to begin with. */
#define ROWS_MAX 1024

static char *make_fitting(const struct sb_page *page, const char *home)
{
	uint32_t seen = ROWS_MAX;
	uint32_t folded = ROWS_MAX;
	char *text = make(page, home, seen, folded);

	while (text && strlen(text) > SB_MARKDOWN_BYTES && seen) {
		free(text);
		if (folded)
			folded /= 2;
		else
			seen /= 2;
		text = make(page, home, seen, folded);
	}
	return text;
}

int sb_write_markdown(const struct sb_result *result, uint32_t results, const char *home, FILE *out)
{
	struct sb_page page;
	char *text;
	int rc = sb_page_init(&page, result, results);

	if (rc)
		return rc;
	text = make_fitting(&page, home);
	sb_page_fini(&page);
	if (!text)
		return -ENOMEM;
	/* Longer than a buffer, it is written at once: later nobody knows why
	 * it was not. */
	errno = 0;
	if (fputs(text, out) == EOF)
		rc = errno ? -errno : -EIO;
	free(text);
	return rc;
}
