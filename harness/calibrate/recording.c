#include "harness/calibrate/recording.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/run/measure.h"
#include "harness/run/placing.h"
#include "harness/run/series.h"
#include "harness/terminal/status.h"
#include "results/record/series.h"

enum { OFF, COUNTERS, SAMPLED, FULL, LEVELS };

static const char *const level_name[LEVELS] = { "off", "counters", "sampled:64", "full" };

/* With rounds that are short beside a run. */
static const struct subject {
	const char *workload;
	const char *option;
	const char *value;
} subjects[] = {
	{ "yield", "--yields", "100000" },
	{ "pingpong", "--round-trips", "50000" },
};

#define ROUNDS_MAX 15

/* One workload: ns per operation of every run; NaN: it is not valid. */
struct rounds {
	uint32_t n;
	double ns[ROUNDS_MAX][LEVELS];
};

/* One run; its result is the first record's. */
static int run_once(const struct sb_options *options, const struct sb_placement *placement,
		    double *ns)
{
	struct sb_result result = { .all_series = 1 };
	struct sb_ground ground = { .placement = placement };
	const struct sb_record *record;
	int rc = sb_cpu_mask_read(&ground.usable);

	result.series = calloc(1, sizeof(*result.series));
	if (!result.series)
		return sb_fail_memory();
	if (rc || sb_series_init(result.series, options, &options->chosen[0], placement))
		rc = sb_fail_memory();
	else
		rc = sb_measure(result.series, &options->chosen[0], options, &ground, NULL);
	record = result.series->record;
	*ns = !rc && record && sb_record_has_numbers(record) ? record->value[SB_METRIC_ns_per_op]
							     : NAN;
	sb_result_free(&result);
	return rc;
}

/* ---- a workload at each level ---- */

/* Everything else is as `run` has it, on the placement that it chooses. */
static int parse_level(struct sb_options *options, const struct subject *subject, const char *level,
		       const char *duration)
{
	const char *const words[] = {
		"run",
		"--workload",
		subject->workload,
		subject->option,
		subject->value,
		"--record",
		level,
		"--warmup",
		"10ms",
		"--duration",
		duration,
		"--series",
		"none",
		"--repetitions",
		"1",
		NULL,
	};
	char *argv[SB_ARRAY_SIZE(words)];

	/* getopt_long moves the words, and does not write into them. */
	memcpy(argv, words, sizeof(argv));
	return sb_options_parse(options, SB_ARRAY_SIZE(words) - 1, argv);
}

/* Forwards and backwards in turn: what changes slowly cancels out. */
static int run_rounds(struct rounds *rounds, const struct sb_options *options,
		      const struct sb_placement *placement)
{
	int rc = 0;

	for (uint32_t r = 0; r < rounds->n && !rc; r++) {
		for (int i = 0; i < LEVELS && !rc; i++) {
			const int level = r % 2 ? LEVELS - 1 - i : i;

			rc = run_once(&options[level], placement, &rounds->ns[r][level]);
		}
	}
	return rc;
}

static int run_placed(struct rounds *rounds, const struct sb_options *options)
{
	struct sb_topology *topology;
	struct sb_plan plan;
	int rc = sb_placing_open(options, &topology);

	if (rc)
		return rc;
	rc = sb_placing_plan(options, topology, &plan);
	if (!rc) {
		rc = run_rounds(rounds, options, &plan.placement);
		sb_plan_free(&plan);
	}
	sb_topology_free(topology);
	return rc;
}

/* ---- what comes out ---- */

static void add_base(struct sb_calibration *c, const char *workload, const struct rounds *rounds)
{
	double ns[ROUNDS_MAX];
	uint32_t n = 0;

	for (uint32_t r = 0; r < rounds->n; r++) {
		if (!isnan(rounds->ns[r][OFF]))
			ns[n++] = rounds->ns[r][OFF];
	}
	sb_calibration_add(c, SB_COST_operation_ns, workload, ns, n);
}

/* Against the run that records nothing in the same round. */
static void add_level(struct sb_calibration *c, const char *workload, int level,
		      const struct rounds *rounds)
{
	double ns[ROUNDS_MAX];
	double percent[ROUNDS_MAX];
	char of[48];
	uint32_t n = 0;

	for (uint32_t r = 0; r < rounds->n; r++) {
		const double base = rounds->ns[r][OFF];
		const double difference = rounds->ns[r][level] - base;

		if (isnan(difference))
			continue;
		ns[n] = difference;
		percent[n++] = difference / base * 100;
	}
	snprintf(of, sizeof(of), "%s %s", workload, level_name[level]);
	sb_calibration_add(c, SB_COST_record_ns, of, ns, n);
	sb_calibration_add(c, SB_COST_record_percent, of, percent, n);
}

static int measure_subject(struct sb_calibration *c, const struct subject *subject)
{
	static struct sb_options options[LEVELS];
	struct rounds rounds = { .n = c->quick ? 3 : ROUNDS_MAX };
	int rc = 0;

	for (int i = 0; i < LEVELS && !rc; i++)
		rc = parse_level(&options[i], subject, level_name[i], c->quick ? "10ms" : "60ms");
	if (!rc)
		rc = run_placed(&rounds, options);
	for (int i = 0; i < LEVELS; i++)
		sb_options_free(&options[i]);
	if (rc)
		return rc;
	add_base(c, subject->workload, &rounds);
	for (int level = COUNTERS; level < LEVELS; level++)
		add_level(c, subject->workload, level, &rounds);
	return 0;
}

int sb_measure_recording(struct sb_calibration *c)
{
	int rc = 0;

	for (size_t i = 0; i < SB_ARRAY_SIZE(subjects) && !rc; i++)
		rc = measure_subject(c, &subjects[i]);
	return rc;
}
