#include "harness/compare/gate.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/platform/clock.h"
#include "harness/compare/bout.h"
#include "harness/terminal/interrupts.h"
#include "harness/terminal/status.h"
#include "results/json/read.h"
#include "results/record/series.h"

/* ---- all workloads ---- */

static int init_test(struct sb_gate_test *test, const char *workload, const struct sb_limit *limit,
		     double alpha)
{
	*test = (struct sb_gate_test){
		.workload = strdup(workload),
		.metric = sb_metric[limit->metric].name,
		.unit = sb_metric[limit->metric].unit,
		.is_fall = limit->is_fall,
		.limit = limit->part,
		.rule = { .limit = limit->is_fall ? -log1p(-limit->part) : log1p(limit->part),
			  .alpha = alpha,
			  .beta = SB_GATE_BETA,
			  .verdict = SB_GATE_UNDECIDED },
		.base = NAN,
		.candidate = NAN,
		.change = NAN,
		.low = NAN,
		.high = NAN,
		.deviation = NAN,
		.chance = NAN,
	};
	return test->workload ? 0 : sb_fail_memory();
}

static int init_job(struct sb_gate_report *gate, const struct sb_gate_job *job, double alpha)
{
	struct sb_gate_workload *w = &gate->workload[gate->workloads++];
	int rc = 0;

	*w = (struct sb_gate_workload){ .name = strdup(job->workload), .ratio = NAN };
	if (!w->name)
		return sb_fail_memory();
	for (uint32_t i = 0; i < job->limits->n && !rc; i++)
		rc = init_test(&gate->test[gate->tests++], job->workload, &job->limits->limit[i],
			       alpha);
	return rc;
}

static int init_gate(struct sb_gate_report *gate, const struct sb_gate_setup *setup)
{
	uint32_t tests = 0;
	int rc = 0;

	for (uint32_t i = 0; i < setup->jobs; i++)
		tests += setup->job[i].limits->n;
	gate->test = calloc(tests + 1, sizeof(*gate->test));
	gate->workload = calloc(setup->jobs + 1, sizeof(*gate->workload));
	if (!gate->test || !gate->workload)
		return sb_fail_memory();
	for (uint32_t i = 0; i < setup->jobs && !rc; i++)
		rc = init_job(gate, &setup->job[i], SB_GATE_ALPHA / tests);
	return rc;
}

/* "PROGRAM, with OPTIONS, slowed down by 5%"; NULL: no memory. */
static char *describe_side(const struct sb_gate_setup *setup, enum sb_side_id side,
			   const char *program)
{
	const char *options = setup->side[side].text;
	const char *slowdown = side == SB_SIDE_B ? setup->slowdown : NULL;
	char *text;

	if (asprintf(&text, "%s%s%s%s%s", program, options && *options ? ", with " : "",
		     options ? options : "", slowdown ? ", slowed down by " : "",
		     slowdown ? slowdown : "") < 0)
		return NULL;
	return text;
}

static int describe(struct sb_gate_report *gate, const struct sb_gate_setup *setup)
{
	const char *candidate = setup->candidate ? setup->candidate : "this program";
	struct sb_calibration machine;
	int rc = sb_gate_machine(&machine);

	if (rc)
		return rc;
	gate->alpha = SB_GATE_ALPHA;
	gate->beta = SB_GATE_BETA;
	gate->seed = setup->seed;
	gate->skips_undecided = setup->options->value[SB_OPT_undecided].alternative;
	gate->baseline = describe_side(
		setup, SB_SIDE_A, setup->baseline.path ? setup->baseline.description : candidate);
	gate->candidate = describe_side(setup, SB_SIDE_B, candidate);
	if (asprintf(&gate->machine, "%s, %s", machine.fingerprint, machine.model) < 0)
		gate->machine = NULL;
	if (setup->calibration)
		sb_calibration_describe(setup->calibration, gate->calibration,
					sizeof(gate->calibration));
	return gate->baseline && gate->candidate && gate->machine ? 0 : sb_fail_memory();
}

static int run_job(struct sb_gate_setup *setup, struct sb_gate_report *gate, uint32_t job,
		   const struct sb_result *stored, uint64_t left_ns)
{
	static struct sb_bout bout;
	uint32_t tests = 0;

	for (uint32_t i = 0; i < job; i++)
		tests += setup->job[i].limits->n;
	bout = (struct sb_bout){ .setup = setup,
				 .job = &setup->job[job],
				 .workload = &gate->workload[job],
				 .test = &gate->test[tests],
				 .left_ns = left_ns };
	return stored ? sb_bout_run_stored(&bout, stored) : sb_bout_run(&bout);
}

static int run_jobs(struct sb_gate_setup *setup, struct sb_gate_report *gate,
		    const struct sb_result *stored)
{
	uint64_t left_ns = sb_opt(setup->options, SB_OPT_budget);
	int rc = 0;

	for (uint32_t i = 0; i < setup->jobs && !rc; i++) {
		uint64_t spent_ns;

		if (sb_load_rlx(&sb_interrupted))
			break;
		rc = run_job(setup, gate, i, stored, left_ns);
		/* What is saved has had its time, too. */
		spent_ns = (uint64_t)(1e9 * gate->workload[i].elapsed_s);
		left_ns -= spent_ns < left_ns ? spent_ns : left_ns;
		gate->elapsed_s += gate->workload[i].elapsed_s;
	}
	for (uint32_t i = 0; i < gate->tests; i++) {
		struct sb_gate_test *test = &gate->test[i];

		if (isnan(test->change) && !*test->why)
			snprintf(test->why, sizeof(test->why), "interrupted");
	}
	return rc;
}

bool sb_gate_saved_series(const struct sb_saved *saved, uint32_t index, struct sb_saved_series *out)
{
	const struct sb_gate_setup *setup = saved->plan;

	if (index >= SB_SIDES * setup->jobs)
		return false;
	*out = sb_pairs_series(setup->job[index / SB_SIDES].workload,
			       sb_gate_is_stored(setup) ? SB_BOUT_STORED / 2 : SB_BOUT_PAIRS_MAX);
	return true;
}

/* ---- one gate ---- */

static int run_stored_gate(struct sb_gate_setup *setup, struct sb_gate_report *gate)
{
	struct sb_result stored;
	char why[400];
	int rc;

	gate->method = "unpaired: the baseline is from another time; a change of this machine "
		       "since then looks like a change of the program";
	rc = sb_result_read(&stored, setup->baseline.path, why, sizeof(why));
	if (rc)
		return sb_fail(sb_status_of(rc), "--baseline: %s", why);
	rc = run_jobs(setup, gate, &stored);
	sb_result_free(&stored);
	return rc;
}

static bool is_any_kept_awake(const struct sb_gate_report *gate)
{
	for (uint32_t i = 0; i < gate->workloads; i++) {
		if (gate->workload[i].is_kept_awake)
			return true;
	}
	return false;
}

int sb_gate_run(struct sb_gate_setup *setup, struct sb_gate_report *out)
{
	const uint64_t start = sb_clock_ns();
	const bool counts = sb_opt(setup->options, SB_OPT_counts);
	const bool is_virtual = sb_opt(setup->options, SB_OPT_gate_virtual);
	int rc;

	*out = (struct sb_gate_report){ .tests = 0 };
	out->method = is_virtual
			      ? "in virtual time: nothing but the seeds is random; a regression is "
				"confirmed with a second set of them"
			      : "interleaved pairs of processes; a value is a block of two pairs";
	out->is_virtual = is_virtual;
	rc = describe(out, setup);
	if (!rc && !counts && !is_virtual)
		rc = init_gate(out, setup);
	if (rc)
		return rc;
	if (counts)
		rc = sb_gate_run_counts(setup, out);
	else if (is_virtual)
		rc = sb_gate_run_virtual(setup, out, &setup->values);
	else if (sb_gate_is_stored(setup))
		rc = run_stored_gate(setup, out);
	else
		rc = run_jobs(setup, out, NULL);
	if (is_any_kept_awake(out))
		out->method = "interleaved pairs of processes, whose CPUs are kept awake; a value "
			      "is a block of two pairs";
	/* That of saved pairs is in it already. */
	out->elapsed_s = fmax(out->elapsed_s, 1e-9 * (double)(sb_clock_ns() - start));
	sb_gate_conclude(out);
	return rc;
}
