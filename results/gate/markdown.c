/* markdown.c - a verdict as Markdown, for a comment on a pull request. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "results/gate/gate.h"
#include "results/page/page.h"
#include "results/record/number.h"
#include "results/record/record.h"

static void put_row(const struct sb_gate_test *test, FILE *out)
{
	char number[SB_HUMAN_BYTES];
	char percent[SB_GATE_PERCENT_BYTES];
	char limit[SB_GATE_PERCENT_BYTES];

	fputs("| ", out);
	sb_put_markdown(out, test->workload);
	fputs(" | ", out);
	sb_put_markdown(out, test->metric);
	sb_human(number, test->base, test->unit);
	fprintf(out, " | %s", number);
	sb_gate_percent(percent, test->change);
	fprintf(out, " | %s", percent);
	sb_gate_percent(percent, test->low);
	fprintf(out, " | %s .. ", percent);
	sb_gate_percent(percent, test->high);
	sb_gate_limit(limit, test);
	fprintf(out, "%s | %s | %" PRIu32 " | ", percent, limit, test->values);
	fputs(test->rule.verdict == SB_GATE_FINE ? "" : "**", out);
	fputs(sb_gate_verdict_name(test->rule.verdict), out);
	fputs(test->rule.verdict == SB_GATE_FINE ? "" : "**", out);
	fputs(" |\n", out);
}

static void put_line(const char *before, const char *text, FILE *out)
{
	fputs(before, out);
	sb_put_markdown(out, text);
	fputc('\n', out);
}

static void put_workload(const struct sb_gate_workload *w, FILE *out)
{
	if (!w->invalid && !w->suspect)
		return;
	fputs("- ", out);
	sb_put_markdown(out, w->name);
	fprintf(out,
		": of %" PRIu32 ", %" PRIu32 " are invalid and do not count, %" PRIu32
		" are suspect\n",
		w->pairs, w->invalid, w->suspect);
}

void sb_gate_write_markdown(const struct sb_gate_report *gate, FILE *out)
{
	char hidden[SB_GATE_WHY_BYTES];

	fprintf(out, "### sched-bench gate: %s\n\n", sb_gate_verdict_name(gate->verdict));
	if (*gate->why) {
		put_line("", gate->why, out);
		fputc('\n', out);
	}
	fprintf(out,
		"| workload | metric | baseline | change | %s | limit | values | verdict |\n"
		"|---|---|---:|---:|---:|---:|---:|---|\n",
		sb_gate_interval_title(gate));
	for (uint32_t i = 0; i < gate->tests; i++) {
		if (sb_gate_is_shown(&gate->test[i]))
			put_row(&gate->test[i], out);
	}
	sb_gate_describe_hidden(gate, hidden, sizeof(hidden));
	if (*hidden)
		put_line("\n", hidden, out);
	put_line("\n- baseline: ", gate->baseline, out);
	put_line("- candidate: ", gate->candidate, out);
	put_line("- ", gate->method, out);
	if (gate->machine)
		put_line("- machine: ", gate->machine, out);
	if (*gate->calibration)
		put_line("- ", gate->calibration, out);
	for (uint32_t i = 0; i < gate->workloads; i++)
		put_workload(&gate->workload[i], out);
}
