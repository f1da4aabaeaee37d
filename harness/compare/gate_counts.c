/* gate_counts.c - a gate by instruction counts. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/compare/gate.h"
#include "harness/micro/callgrind.h"
#include "harness/terminal/status.h"

static int count_side(struct sb_counts *out, const char *program, const char *side)
{
	char why[300];
	int rc = sb_counts_measure(out, program, NULL, why, sizeof(why));

	if (!rc)
		return 0;
	return sb_fail(rc == -EBADMSG ? SB_EXIT_INVALID : SB_EXIT_ENVIRONMENT,
		       "--counts: the %s: %s", side, why);
}

static const struct sb_count *find_count(const struct sb_counts *counts, const char *name)
{
	for (uint32_t i = 0; i < counts->counts; i++) {
		if (!strcmp(counts->count[i].name, name))
			return &counts->count[i];
	}
	return NULL;
}

/* was, now: of one primitive; NULL: that side does not have it. What is new or gone
 * has not become worse. */
static int compare_count(struct sb_gate_test *test, const char *name, const struct sb_count *was,
			 const struct sb_count *now, double limit)
{
	*test = (struct sb_gate_test){
		.workload = strdup(name),
		.metric = "instructions",
		.unit = "instr",
		.limit = limit,
		.rule = { .verdict = SB_GATE_FINE },
		.values = 1,
		.base = was ? was->instructions : (double)NAN,
		.candidate = now ? now->instructions : (double)NAN,
		.deviation = NAN,
	};
	if (!test->workload)
		return sb_fail_memory();
	test->change = test->candidate / test->base - 1;
	test->low = test->high = test->change;
	if (!was || !now)
		snprintf(test->why, sizeof(test->why), "the %s does not have it",
			 was ? "candidate" : "baseline");
	else if (test->change > limit)
		test->rule.verdict = SB_GATE_REGRESSED;
	return 0;
}

static int compare_counts(struct sb_gate_report *gate, const struct sb_counts *base,
			  const struct sb_counts *now, double limit)
{
	int rc = 0;

	gate->test = calloc(base->counts + now->counts + 1, sizeof(*gate->test));
	if (!gate->test)
		return sb_fail_memory();
	for (uint32_t i = 0; i < now->counts && !rc; i++) {
		const char *name = now->count[i].name;

		rc = compare_count(&gate->test[gate->tests++], name, find_count(base, name),
				   &now->count[i], limit);
	}
	for (uint32_t i = 0; i < base->counts && !rc; i++) {
		const char *name = base->count[i].name;

		if (!find_count(now, name))
			rc = compare_count(&gate->test[gate->tests++], name, &base->count[i], NULL,
					   limit);
	}
	return rc;
}

int sb_gate_run_counts(struct sb_gate_setup *setup, struct sb_gate_report *gate)
{
	struct sb_counts base = { .counts = 0 };
	struct sb_counts now = { .counts = 0 };
	int rc;

	gate->method =
		"instructions of the primitives, counted under valgrind; one run of each side";
	gate->alpha = gate->beta = 0;
	sb_progress_phase(&setup->progress, "baseline", "counting");
	rc = count_side(&base, setup->baseline.path, "baseline");
	sb_progress_phase(&setup->progress, "candidate", "counting");
	rc = rc ? rc : count_side(&now, setup->candidate, "candidate");
	rc = rc ? rc : compare_counts(gate, &base, &now, setup->count_limit);
	sb_counts_free(&base);
	sb_counts_free(&now);
	return rc;
}
