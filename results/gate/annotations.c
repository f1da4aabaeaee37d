/*
 * annotations.c - a verdict as lines that GitHub's runner turns into annotations:
 * "::error title=TEXT::TEXT".
 */
#include <stdlib.h>
#include <string.h>

#include "results/gate/gate.h"
#include "results/record/record.h"
#include "results/text/escape.h"

static void put_line(FILE *out, const char *level, const char *title, const char *text)
{
	fprintf(out, "::%s title=", level);
	sb_put_annotation(out, title, true);
	fputs("::", out);
	sb_put_annotation(out, text, false);
	fputc('\n', out);
}

void sb_gate_write_annotations(const struct sb_gate_report *gate, FILE *out)
{
	static const char *const level[SB_GATE_VERDICTS] = {
		[SB_GATE_REGRESSED] = "error",
		[SB_GATE_UNDECIDED] = "warning",
	};
	char title[200];
	char text[SB_GATE_WHY_BYTES + 400];

	for (uint32_t i = 0; i < gate->tests; i++) {
		const struct sb_gate_test *test = &gate->test[i];
		const enum sb_gate_verdict verdict = test->rule.verdict;

		if (!level[verdict])
			continue;
		snprintf(title, sizeof(title), "%.100s %s: %s", test->workload, test->metric,
			 sb_gate_verdict_name(verdict));
		sb_gate_describe(test, text, sizeof(text));
		put_line(out, level[verdict], title, text);
	}
	if (gate->verdict == SB_GATE_UNDECIDED && !gate->tests)
		put_line(out, "warning", "gate: undecided", gate->why);
}
