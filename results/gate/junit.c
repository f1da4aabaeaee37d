/*
 * junit.c - a verdict as JUnit's XML: a test case for each metric of a workload.
 * One that is undecided is a failure, too: a CI system shows no other
 * as one that has to be looked at; or "skipped", if that was asked for.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "results/gate/gate.h"
#include "results/record/record.h"
#include "results/text/escape.h"

static void put_attribute(FILE *out, const char *name, const char *text)
{
	fprintf(out, " %s=\"", name);
	sb_put_xml(out, text);
	fputc('"', out);
}

static uint32_t count(const struct sb_gate_report *gate, enum sb_gate_verdict verdict)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < gate->tests; i++)
		n += gate->test[i].rule.verdict == verdict;
	return n;
}

static void put_counts(const struct sb_gate_report *gate, FILE *out)
{
	const uint32_t regressed = count(gate, SB_GATE_REGRESSED);
	const uint32_t undecided = count(gate, SB_GATE_UNDECIDED);

	fprintf(out,
		" tests=\"%" PRIu32 "\" failures=\"%" PRIu32 "\" errors=\"0\" skipped=\"%" PRIu32
		"\" time=\"%.3f\"",
		gate->tests, gate->skips_undecided ? regressed : regressed + undecided,
		gate->skips_undecided ? undecided : 0, gate->elapsed_s);
}

static void put_property(FILE *out, const char *name, const char *value)
{
	fputs("      <property", out);
	put_attribute(out, "name", name);
	put_attribute(out, "value", value);
	fputs("/>\n", out);
}

static void put_properties(const struct sb_gate_report *gate, FILE *out)
{
	fputs("    <properties>\n", out);
	put_property(out, "baseline", gate->baseline);
	put_property(out, "candidate", gate->candidate);
	put_property(out, "machine", gate->machine ? gate->machine : "");
	put_property(out, "verdict", sb_gate_verdict_name(gate->verdict));
	if (*gate->calibration)
		put_property(out, "calibration", gate->calibration);
	fputs("    </properties>\n", out);
}

static void put_case(const struct sb_gate_test *test, double seconds, bool skips_undecided,
		     FILE *out)
{
	const enum sb_gate_verdict verdict = test->rule.verdict;
	char text[SB_GATE_WHY_BYTES + 400];
	char name[80];

	snprintf(name, sizeof(name), "%s %s", test->metric, test->is_fall ? "falls" : "rises");
	sb_gate_describe(test, text, sizeof(text));
	fputs("    <testcase", out);
	put_attribute(out, "name", name);
	put_attribute(out, "classname", test->workload);
	fprintf(out, " time=\"%.3f\">\n", seconds);
	if (verdict != SB_GATE_FINE) {
		if (verdict == SB_GATE_UNDECIDED && skips_undecided)
			fputs("      <skipped", out);
		else
			fprintf(out, "      <failure type=\"%s\"", sb_gate_verdict_name(verdict));
		put_attribute(out, "message", text);
		fputs("/>\n", out);
	}
	fputs("      <system-out>", out);
	sb_put_xml(out, text);
	fputs("</system-out>\n    </testcase>\n", out);
}

/* The workload's time, shared by its cases. */
static double seconds_of(const struct sb_gate_report *gate, const struct sb_gate_test *test)
{
	double seconds = 0;
	uint32_t cases = 0;

	for (uint32_t i = 0; i < gate->workloads; i++) {
		if (!strcmp(gate->workload[i].name, test->workload))
			seconds = gate->workload[i].elapsed_s;
	}
	for (uint32_t i = 0; i < gate->tests; i++)
		cases += !strcmp(gate->test[i].workload, test->workload);
	return cases ? seconds / cases : 0;
}

void sb_gate_write_junit(const struct sb_gate_report *gate, FILE *out)
{
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	      "<testsuites name=\"sched-bench gate\"",
	      out);
	put_counts(gate, out);
	fputs(">\n  <testsuite name=\"gate\"", out);
	put_counts(gate, out);
	fputs(">\n", out);
	put_properties(gate, out);
	for (uint32_t i = 0; i < gate->tests; i++)
		put_case(&gate->test[i], seconds_of(gate, &gate->test[i]), gate->skips_undecided,
			 out);
	fputs("  </testsuite>\n</testsuites>\n", out);
}
