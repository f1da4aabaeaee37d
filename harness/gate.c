#include "harness/gate.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "harness/counts.h"
#include "harness/interrupts.h"
#include "harness/pairs.h"
#include "harness/status.h"
#include "results/read.h"
#include "results/unpaired.h"

#define PAIRS_OF_BLOCK 2

/* A workload of which more than that part is invalid has no verdict. */
#define INVALID_MAX 0.2

/* One workload while it is measured. */
struct bout {
	struct sb_gate_setup *setup;
	const struct sb_gate_job *job;
	struct sb_gate_report *gate;
	struct sb_gate_workload *workload;
	struct sb_gate_test *test; /* [setup->limits.n] */
	struct sb_pairs pairs;
	double looked; /* share of the last look */
	int rc;
};

/* ---- what a metric's values say ---- */

static double worsening(const struct sb_gate_test *test, double log_ratio)
{
	return test->is_fall ? -log_ratio : log_ratio;
}

static void keep_interval(struct sb_gate_test *test,
			  const struct sb_estimated *estimated)
{
	test->change = expm1(estimated->value);
	test->low = expm1(estimated->low);
	test->high = expm1(estimated->high);
}

/* The normal distribution's, from the quartiles: one bad value is not noise. */
static double deviation_of(double *value, uint32_t n)
{
	const struct sb_spread spread = sb_spread_of(value, n);

	return (spread.q3 - spread.q1) / 1.349;
}

/* A look at the logarithms of ratios of one metric. */
static int look_at(struct sb_gate_test *test, double *unit, uint32_t n,
		   double share)
{
	struct sb_estimated estimated;
	struct sb_evidence evidence;
	int rc = sb_signed_rank_estimate(&estimated, unit, n, SB_PAIRED_LEVEL);

	if (rc)
		return rc;
	keep_interval(test, &estimated);
	test->values = n;
	for (uint32_t i = 0; i < n; i++)
		unit[i] = worsening(test, unit[i]);
	rc = sb_evidence_of(&evidence, unit, n, test->rule.limit);
	if (rc)
		return rc;
	test->deviation = deviation_of(unit, n);
	sb_sequential_look(&test->rule, &evidence, share);
	return 0;
}

static void say_undecided(struct sb_gate_test *test, const char *why)
{
	snprintf(test->why, sizeof(test->why), "%s", why);
}

static int look_at_pairs(struct bout *bout, uint32_t i, double share)
{
	static double a[SB_PAIRS_MAX];
	static double b[SB_PAIRS_MAX];
	static double unit[SB_PAIRS_MAX];
	static uint32_t block[SB_PAIRS_MAX];
	struct sb_gate_test *test = &bout->test[i];
	const struct sb_pair_values values = sb_pairs_values(
		&bout->pairs, bout->setup->limits.limit[i].metric, a, b, block);
	enum sb_pair_scale scale;
	const uint32_t units = sb_paired_units(unit, &scale, &values);

	if (test->rule.verdict != SB_GATE_UNDECIDED)
		return 0;
	if (!units)
		say_undecided(test, "no run measured it");
	else if (scale != SB_PAIR_RATIO)
		say_undecided(test, "it is 0 in a run, and 0 has no ratio");
	if (!units || scale != SB_PAIR_RATIO)
		return 0;
	test->why[0] = '\0';
	test->base = sb_spread_of(a, values.pairs).median;
	test->candidate = sb_spread_of(b, values.pairs).median;
	return look_at(test, unit, units, share);
}

/* ---- while pairs come in ---- */

static bool is_all_clear(const struct bout *bout)
{
	for (uint32_t i = 0; i < bout->setup->limits.n; i++) {
		if (bout->test[i].rule.verdict == SB_GATE_UNDECIDED)
			return false;
	}
	return true;
}

static void look(struct bout *bout, double share)
{
	bout->looked = share;
	for (uint32_t i = 0; i < bout->setup->limits.n && !bout->rc; i++) {
		if (look_at_pairs(bout, i, share))
			bout->rc = sb_fail_memory();
	}
}

/* Two programs can be compared if they were built and placed alike. */
static int check_sides(const struct bout *bout)
{
	static const char *const key[] = { "build_mode", "topology" };
	const struct sb_result *side = bout->pairs.result;

	for (size_t i = 0; i < SB_ARRAY_SIZE(key); i++) {
		const char *a = sb_result_fact(&side[SB_SIDE_A], "run", key[i]);
		const char *b = sb_result_fact(&side[SB_SIDE_B], "run", key[i]);

		if (*a && *b && strcmp(a, b) != 0)
			return sb_fail(SB_EXIT_USAGE,
				       "the baseline's %s is %s, the "
				       "candidate's %s; expected the same",
				       key[i], a, b);
	}
	return 0;
}

static bool after_pair(void *arg)
{
	struct bout *bout = arg;
	const uint32_t blocks = bout->pairs.pairs / PAIRS_OF_BLOCK;

	if (bout->pairs.pairs == 1)
		bout->rc = check_sides(bout);
	if (bout->pairs.pairs % PAIRS_OF_BLOCK)
		return !bout->rc;
	for (int i = 0; i < SB_LOOKS && !bout->rc; i++) {
		if (sb_look[i] == blocks)
			look(bout, (double)blocks / SB_LOOK_LAST);
	}
	return !bout->rc && !is_all_clear(bout);
}

static void before_run(void *arg, uint32_t pair, enum sb_side_id side)
{
	struct bout *bout = arg;
	char phase[SB_PROGRESS_TEXT];

	(void)pair;
	snprintf(phase, sizeof(phase), "%sblock %" PRIu32 " of at most %d, %s",
		 bout->setup->prefix, bout->pairs.pairs / PAIRS_OF_BLOCK + 1,
		 SB_LOOK_LAST, side == SB_SIDE_A ? "baseline" : "candidate");
	sb_progress_phase(&bout->setup->progress, bout->job->workload, phase);
}

/* ---- afterwards ---- */

static const char *first_reason(const struct bout *bout)
{
	for (uint32_t i = 0; i < bout->pairs.pairs; i++) {
		for (int side = 0; side < SB_SIDES; side++) {
			const struct sb_record *record =
				&bout->pairs.result[side].series->record[i];

			if (record->verdict == SB_INVALID)
				return record->reason;
		}
	}
	return "";
}

static void sum_up(struct bout *bout)
{
	static double a[SB_PAIRS_MAX];
	static double b[SB_PAIRS_MAX];
	static uint32_t block[SB_PAIRS_MAX];
	struct sb_gate_workload *w = bout->workload;
	const struct sb_pair_values cpu = sb_pairs_values(
		&bout->pairs, SB_METRIC_cpu_ns_per_op, a, b, block);

	w->pairs = bout->pairs.pairs;
	w->invalid = bout->pairs.pairs - bout->pairs.valid;
	w->suspect = bout->pairs.suspect;
	w->is_kept_awake = bout->pairs.is_kept_awake;
	w->elapsed_s = 1e-9 * (double)bout->pairs.elapsed_ns;
	w->ratio = sb_spread_of(b, cpu.pairs).median /
		   sb_spread_of(a, cpu.pairs).median;
	snprintf(w->reason, sizeof(w->reason), "%s", first_reason(bout));
}

/* What would help depends on what there is too much of. */
static void explain(const struct bout *bout, struct sb_gate_test *test)
{
	const uint32_t needed = sb_sequential_forecast(
		test->rule.limit, test->rule.beta, test->deviation);
	const bool is_full = bout->pairs.pairs >= SB_LOOK_LAST * PAIRS_OF_BLOCK;

	if (*test->why || test->rule.verdict != SB_GATE_UNDECIDED)
		return;
	snprintf(test->why, sizeof(test->why),
		 "%" PRIu32 " blocks at a noise of %.1f %% are too few%s",
		 test->values, 100 * test->deviation,
		 is_full || !needed ? "; longer runs (-d), a quieter machine "
				      "or a wider --limit decide"
				    : "; a longer --budget decides");
}

static void reject_invalid(struct bout *bout)
{
	const struct sb_gate_workload *w = bout->workload;
	char why[SB_GATE_WHY_BYTES];

	if (w->pairs && w->invalid <= INVALID_MAX * w->pairs)
		return;
	if (w->pairs)
		snprintf(why, sizeof(why),
			 "%" PRIu32 " of %" PRIu32 " pairs are invalid: %.250s",
			 w->invalid, w->pairs, w->reason);
	else
		snprintf(why, sizeof(why), "there was no time for a pair");
	for (uint32_t i = 0; i < bout->setup->limits.n; i++) {
		bout->test[i].rule.verdict = SB_GATE_UNDECIDED;
		say_undecided(&bout->test[i], why);
	}
}

static void finish_bout(struct bout *bout)
{
	sum_up(bout);
	/* Between looks the time was up: what is left of the errors is spent. */
	if (bout->looked < 1 && bout->pairs.valid && !is_all_clear(bout))
		look(bout, 1);
	for (uint32_t i = 0; i < bout->setup->limits.n; i++)
		explain(bout, &bout->test[i]);
	reject_invalid(bout);
	if (bout->pairs.is_interrupted) {
		for (uint32_t i = 0; i < bout->setup->limits.n; i++) {
			if (bout->test[i].rule.verdict == SB_GATE_UNDECIDED)
				say_undecided(&bout->test[i], "interrupted");
		}
	}
}

/* ---- pairs ---- */

/* The candidate's words, with what slows it down. */
static void add_slowdown(const struct bout *bout, char **words, char *slowdown,
			 size_t bytes)
{
	uint32_t n = bout->job->words;

	memcpy(words, bout->job->word, n * sizeof(*words));
	if (bout->setup->slowdown) {
		snprintf(slowdown, bytes, "--slowdown=%s",
			 bout->setup->slowdown);
		words[n++] = slowdown;
	}
	words[n] = NULL;
}

/* What is left of the budget is shared by the workloads that are left. */
static uint64_t time_for(const struct bout *bout, uint64_t end_ns)
{
	const uint64_t now = sb_clock_ns();
	const uint32_t left =
		bout->setup->jobs - (uint32_t)(bout->job - bout->setup->job);

	return now < end_ns ? (end_ns - now) / left : 1;
}

static enum sb_awake_when awake_when(const struct sb_gate_setup *setup)
{
	return (enum sb_awake_when)setup->options->value[SB_OPT_keep_awake]
		.alternative;
}

static int run_pairs(struct bout *bout, uint64_t end_ns)
{
	struct sb_gate_setup *setup = bout->setup;
	char *candidate[SB_GATE_WORDS + 2];
	char slowdown[40];
	const char *program =
		setup->baseline.path ? setup->baseline.path : setup->candidate;
	int rc;

	add_slowdown(bout, candidate, slowdown, sizeof(slowdown));
	bout->pairs = (struct sb_pairs){
		.side = { { program, bout->job->word, setup->limit_ns },
			  { setup->candidate, candidate, setup->limit_ns } },
		.most = SB_LOOK_LAST * PAIRS_OF_BLOCK,
		.time_ns = time_for(bout, end_ns),
		.has_warm_up = true,
		.keep_awake = awake_when(setup),
		.seed = setup->seed,
		.scratch = setup->scratch,
		.failures = setup->failures,
		.before = before_run,
		.after = after_pair,
		.arg = bout,
	};
	rc = sb_pairs_run(&bout->pairs);
	rc = rc ? rc : bout->rc;
	if (!rc) {
		finish_bout(bout);
		rc = bout->rc;
	}
	sb_pairs_free(&bout->pairs);
	return rc;
}

/* ---- against a stored result ---- */

/* So few say nothing, so many are enough. */
#define STORED_MIN  8
#define STORED_RUNS 30
#define VALUES_MAX  200

static uint32_t take_values(double *out, const struct sb_series *series,
			    enum sb_metric_id metric)
{
	uint32_t n = 0;

	for (uint32_t r = 0; r < series->records && n < VALUES_MAX; r++) {
		const double value = series->record[r].value[metric];

		if (sb_record_has_numbers(&series->record[r]) && value > 0)
			out[n++] = value;
	}
	return n;
}

/* How likely it is that all values of one side come first. */
static double least_chance(uint32_t m, uint32_t n)
{
	return exp(lgamma(m + 1.0) + lgamma(n + 1.0) - lgamma(m + n + 1.0));
}

/* Whether b has moved by the limit: as if it had been divided by that. */
static int compare_at_limit(struct sb_unpaired *out,
			    const struct sb_gate_test *test, const double *a,
			    uint32_t m, const double *b, uint32_t n)
{
	const double factor = exp(worsening(test, test->rule.limit));
	double at_limit[VALUES_MAX];

	for (uint32_t i = 0; i < n; i++)
		at_limit[i] = b[i] / factor;
	return sb_unpaired_compare(out, a, m, at_limit, n, SB_PAIRED_LEVEL);
}

static int compare_samples(struct sb_gate_test *test, const double *a,
			   uint32_t m, const double *b, uint32_t n)
{
	const bool fall = test->is_fall;
	struct sb_unpaired zero;
	struct sb_unpaired limit;
	struct sb_evidence evidence;

	if (sb_unpaired_compare(&zero, a, m, b, n, SB_PAIRED_LEVEL) ||
	    compare_at_limit(&limit, test, a, m, b, n))
		return sb_fail_memory();
	evidence = (struct sb_evidence){
		.estimate = worsening(test, log(zero.estimate)),
		.p_worse = fall ? zero.p_below : zero.p_above,
		.p_within = fall ? limit.p_above : limit.p_below,
		.p_least = least_chance(m, n),
	};
	test->base = zero.a;
	test->candidate = zero.b;
	test->change = zero.estimate - 1;
	test->low = zero.low - 1;
	test->high = zero.high - 1;
	test->values = n;
	sb_sequential_look(&test->rule, &evidence, 1);
	return 0;
}

static int look_at_stored(struct bout *bout, uint32_t i,
			  const struct sb_series *stored)
{
	const enum sb_metric_id metric = bout->setup->limits.limit[i].metric;
	struct sb_gate_test *test = &bout->test[i];
	double from[VALUES_MAX];
	double to[VALUES_MAX];
	const uint32_t m = take_values(from, stored, metric);
	uint32_t n = 0;
	int rc;

	/* Both sides are the candidate. */
	for (int side = 0; side < SB_SIDES; side++)
		n += take_values(to + n, bout->pairs.result[side].series,
				 metric);
	if (m < STORED_MIN || n < STORED_MIN) {
		snprintf(test->why, sizeof(test->why),
			 "the baseline has %" PRIu32
			 " values and the candidate %" PRIu32
			 "; expected at least %d each",
			 m, n, STORED_MIN);
		return 0;
	}
	rc = compare_samples(test, from, m, to, n);
	if (!rc && test->rule.verdict == SB_GATE_UNDECIDED)
		snprintf(test->why, sizeof(test->why),
			 "%" PRIu32 " values against %" PRIu32
			 " are too few at this noise; pairs with a program or "
			 "a revision see more",
			 n, m);
	return rc;
}

static int run_stored(struct bout *bout, const struct sb_result *stored,
		      uint64_t end_ns)
{
	struct sb_gate_setup *setup = bout->setup;
	const struct sb_side side = { setup->candidate, bout->job->word,
				      setup->limit_ns };
	int rc;

	/* It was read before, and may be another one by now. */
	if (bout->job->series >= stored->all_series)
		return sb_fail(SB_EXIT_USAGE, "--baseline: it has changed");
	bout->pairs = (struct sb_pairs){
		.side = { side, side },
		.most = STORED_RUNS / 2,
		.time_ns = time_for(bout, end_ns),
		.has_warm_up = true,
		.keep_awake = SB_AWAKE_NO, /* nor was the baseline */
		.seed = setup->seed,
		.scratch = setup->scratch,
		.failures = setup->failures,
		.before = before_run,
		.arg = bout,
	};
	rc = sb_pairs_run(&bout->pairs);
	if (!rc)
		sum_up(bout);
	for (uint32_t i = 0; i < setup->limits.n && !rc; i++)
		rc = look_at_stored(bout, i,
				    &stored->series[bout->job->series]);
	if (!rc)
		reject_invalid(bout);
	sb_pairs_free(&bout->pairs);
	return rc;
}

/* ---- all workloads ---- */

static int init_test(struct sb_gate_test *test, const char *workload,
		     const struct sb_limit *limit, double alpha)
{
	*test = (struct sb_gate_test){
		.workload = strdup(workload),
		.metric = sb_metric[limit->metric].name,
		.unit = sb_metric[limit->metric].unit,
		.is_fall = limit->is_fall,
		.limit = limit->part,
		.rule = { .limit = limit->is_fall ? -log1p(-limit->part)
						  : log1p(limit->part),
			  .alpha = alpha,
			  .beta = SB_GATE_BETA,
			  .verdict = SB_GATE_UNDECIDED },
		.base = NAN,
		.candidate = NAN,
		.change = NAN,
		.low = NAN,
		.high = NAN,
		.deviation = NAN,
	};
	return test->workload ? 0 : sb_fail_memory();
}

static int init_job(struct sb_gate_report *gate,
		    const struct sb_gate_setup *setup,
		    const struct sb_gate_job *job, double alpha)
{
	struct sb_gate_workload *w = &gate->workload[gate->workloads++];
	int rc = 0;

	*w = (struct sb_gate_workload){ .name = strdup(job->workload),
					.ratio = NAN };
	if (!w->name)
		return sb_fail_memory();
	for (uint32_t i = 0; i < setup->limits.n && !rc; i++)
		rc = init_test(&gate->test[gate->tests++], job->workload,
			       &setup->limits.limit[i], alpha);
	return rc;
}

static int init_gate(struct sb_gate_report *gate,
		     const struct sb_gate_setup *setup)
{
	const uint32_t tests = setup->jobs * setup->limits.n;
	int rc = 0;

	gate->test = calloc(tests + 1, sizeof(*gate->test));
	gate->workload = calloc(setup->jobs + 1, sizeof(*gate->workload));
	if (!gate->test || !gate->workload)
		return sb_fail_memory();
	for (uint32_t i = 0; i < setup->jobs && !rc; i++)
		rc = init_job(gate, setup, &setup->job[i],
			      SB_GATE_ALPHA / tests);
	return rc;
}

static int describe(struct sb_gate_report *gate,
		    const struct sb_gate_setup *setup)
{
	const char *candidate =
		setup->candidate ? setup->candidate : "this program";
	struct sb_calibration machine;
	int rc = sb_gate_machine(&machine);

	if (rc)
		return rc;
	gate->alpha = SB_GATE_ALPHA;
	gate->beta = SB_GATE_BETA;
	gate->seed = setup->seed;
	gate->baseline = strdup(
		setup->baseline.path ? setup->baseline.description : candidate);
	if (asprintf(&gate->candidate, "%s%s%s", candidate,
		     setup->slowdown ? ", slowed down by " : "",
		     setup->slowdown ? setup->slowdown : "") < 0)
		gate->candidate = NULL;
	if (asprintf(&gate->machine, "%s, %s", machine.fingerprint,
		     machine.model) < 0)
		gate->machine = NULL;
	if (setup->calibration)
		sb_calibration_describe(setup->calibration, gate->calibration,
					sizeof(gate->calibration));
	return gate->baseline && gate->candidate && gate->machine
		       ? 0
		       : sb_fail_memory();
}

static int run_job(struct sb_gate_setup *setup, struct sb_gate_report *gate,
		   uint32_t job, const struct sb_result *stored,
		   uint64_t end_ns)
{
	static struct bout bout;

	bout = (struct bout){ .setup = setup,
			      .job = &setup->job[job],
			      .gate = gate,
			      .workload = &gate->workload[job],
			      .test = &gate->test[job * setup->limits.n] };
	if (stored)
		return run_stored(&bout, stored, end_ns);
	return run_pairs(&bout, end_ns);
}

static int run_jobs(struct sb_gate_setup *setup, struct sb_gate_report *gate,
		    const struct sb_result *stored)
{
	const uint64_t end_ns =
		sb_clock_ns() + sb_opt(setup->options, SB_OPT_budget);
	int rc = 0;

	for (uint32_t i = 0; i < setup->jobs && !rc; i++) {
		if (sb_load_rlx(&sb_interrupted))
			break;
		rc = run_job(setup, gate, i, stored, end_ns);
	}
	for (uint32_t i = 0; i < gate->tests; i++) {
		struct sb_gate_test *test = &gate->test[i];

		if (isnan(test->change) && !*test->why)
			say_undecided(test, "interrupted");
	}
	return rc;
}

/* ---- instructions ---- */

static int count_side(struct sb_counts *out, const char *program,
		      const char *side)
{
	char why[300];
	int rc = sb_counts_measure(out, program, NULL, why, sizeof(why));

	if (!rc)
		return 0;
	return sb_fail(rc == -EBADMSG ? SB_EXIT_INVALID : SB_EXIT_ENVIRONMENT,
		       "--counts: the %s: %s", side, why);
}

static const struct sb_count *find_count(const struct sb_counts *counts,
					 const char *name)
{
	for (uint32_t i = 0; i < counts->counts; i++) {
		if (!strcmp(counts->count[i].name, name))
			return &counts->count[i];
	}
	return NULL;
}

/* was, now: of one primitive; NULL: that side does not have it. What is new or gone
 * has not become worse. */
static int compare_count(struct sb_gate_test *test, const char *name,
			 const struct sb_count *was, const struct sb_count *now,
			 double limit)
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
		snprintf(test->why, sizeof(test->why),
			 "the %s does not have it",
			 was ? "candidate" : "baseline");
	else if (test->change > limit)
		test->rule.verdict = SB_GATE_REGRESSED;
	return 0;
}

static int compare_counts(struct sb_gate_report *gate,
			  const struct sb_counts *base,
			  const struct sb_counts *now, double limit)
{
	int rc = 0;

	gate->test =
		calloc(base->counts + now->counts + 1, sizeof(*gate->test));
	if (!gate->test)
		return sb_fail_memory();
	for (uint32_t i = 0; i < now->counts && !rc; i++) {
		const char *name = now->count[i].name;

		rc = compare_count(&gate->test[gate->tests++], name,
				   find_count(base, name), &now->count[i],
				   limit);
	}
	for (uint32_t i = 0; i < base->counts && !rc; i++) {
		const char *name = base->count[i].name;

		if (!find_count(now, name))
			rc = compare_count(&gate->test[gate->tests++], name,
					   &base->count[i], NULL, limit);
	}
	return rc;
}

static int run_counts(struct sb_gate_setup *setup, struct sb_gate_report *gate)
{
	struct sb_counts base = { .counts = 0 };
	struct sb_counts now = { .counts = 0 };
	int rc;

	gate->method = "instructions of the primitives, counted under "
		       "valgrind; one run of each side";
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

/* ---- one gate ---- */

static int run_stored_gate(struct sb_gate_setup *setup,
			   struct sb_gate_report *gate)
{
	struct sb_result stored;
	char why[400];
	int rc;

	gate->method = "unpaired: the baseline is from another time, and what "
		       "has changed on this machine since is not told apart";
	if (sb_result_read(&stored, setup->baseline.path, why, sizeof(why)))
		return sb_fail(SB_EXIT_USAGE, "--baseline: %s", why);
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
	int rc;

	*out = (struct sb_gate_report){ .tests = 0 };
	out->method = "interleaved pairs of processes; a value is a block of "
		      "two pairs";
	rc = describe(out, setup);
	if (!rc && !counts)
		rc = init_gate(out, setup);
	if (rc)
		return rc;
	if (counts)
		rc = run_counts(setup, out);
	else if (setup->baseline.path &&
		 setup->baseline.kind == SB_BASELINE_RESULT)
		rc = run_stored_gate(setup, out);
	else
		rc = run_jobs(setup, out, NULL);
	if (is_any_kept_awake(out))
		out->method = "interleaved pairs of processes, whose CPUs are "
			      "kept awake; a value is a block of two pairs";
	out->elapsed_s = 1e-9 * (double)(sb_clock_ns() - start);
	sb_gate_conclude(out);
	return rc;
}
