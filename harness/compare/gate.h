/*
 * gate.h - one gate: each workload in interleaved pairs of processes until every
 * metric is clear or the time is up; or against a stored result; or by instruction
 * counts. Its result is a struct sb_gate_report.
 */
#ifndef SB_HARNESS_COMPARE_GATE_H
#define SB_HARNESS_COMPARE_GATE_H

#include "harness/cli/options.h"
#include "harness/compare/baseline.h"
#include "harness/compare/limits.h"
#include "harness/compare/sides.h"
#include "harness/terminal/progress.h"
#include "results/gate/gate.h"
#include "results/gate/values.h"

/* The chance that a gate without any change says "regressed", all metrics and
 * looks together; and that a metric which is at its limit is called fine. */
#define SB_GATE_ALPHA 0.02
#define SB_GATE_BETA  0.05

/* A workload and the words of its parameters. */
#define SB_GATE_WORDS 100
struct sb_gate_job {
	const char *workload;
	char *label;			/* of a job in virtual time, "skynet on laptop" */
	const struct sb_limits *limits; /* of the set-up */
	uint32_t series;		/* of a stored baseline */
	uint32_t words;
	char *word[SB_GATE_WORDS + 1]; /* "sched-bench", "run", ... */
};

struct sb_gate_setup {
	const struct sb_options *options; /* of the verb */
	struct sb_limits limits;
	struct sb_limits events; /* of what runs between two workers */
	double count_limit;	 /* instead of them, with --counts */
	struct sb_baseline baseline;
	struct sb_gate_values values; /* of the candidate, in virtual time */
	const char *candidate;	      /* a path; NULL: this program */
	const char *slowdown;	      /* of the candidate, "5%"; NULL: none */
	/* Options of one side's runs alone. */
	struct sb_side_text side[SB_SIDES];
	uint64_t seed;
	uint32_t jobs;
	struct sb_gate_job *job;		  /* [jobs] */
	uint64_t limit_ns;			  /* of a process */
	const char *scratch;			  /* a directory */
	struct sb_saved *saved;			  /* pairs on the disk; NULL: they are not kept */
	const char *failures;			  /* a file; NULL: none is kept */
	const struct sb_calibration *calibration; /* NULL: there is none */
	struct sb_progress progress;		  /* open */
	char prefix[60];			  /* of what the progress says, "gate 3 of 20, " */
};

/* The workloads: those that were asked for, else the steady ones; of a stored
 * baseline its own, with its options. Returns 0, or an exit status after an error
 * has been printed; in any case it is for sb_gate_setup_free. */
SB_MUST_CHECK int sb_gate_set_up(struct sb_gate_setup *setup, const struct sb_options *options);
void sb_gate_setup_free(struct sb_gate_setup *setup);

/* Runs it. Returns as above; the gate is for sb_gate_free in any case. */
SB_MUST_CHECK int sb_gate_run(struct sb_gate_setup *setup, struct sb_gate_report *out);

/* In virtual time: the report's tests and workloads, from the jobs of sb_gate_add_suite, each with
 * SB_GATE_SEEDS seeds, on all CPUs. Without a baseline there are none. candidate: what it has
 * measured, for sb_gate_values_free in any case. Returns as above. */
SB_MUST_CHECK int sb_gate_run_virtual(struct sb_gate_setup *setup, struct sb_gate_report *gate,
				      struct sb_gate_values *candidate);

/* What is saved of its pairs; plan is the set-up. */
bool sb_gate_saved_series(const struct sb_saved *saved, uint32_t index,
			  struct sb_saved_series *out);

/* By instruction counts; sb_gate_run does all else. Returns as above. */
SB_MUST_CHECK int sb_gate_run_counts(struct sb_gate_setup *setup, struct sb_gate_report *gate);

/* The words and limits in one line: gates with equal ones are alike. For the
 * caller to free. */
char *sb_gate_setup_text(const struct sb_gate_setup *setup);

static inline bool sb_gate_is_stored(const struct sb_gate_setup *setup)
{
	return setup->baseline.path && setup->baseline.kind == SB_BASELINE_RESULT;
}

/* Of a stored baseline more are refused. */
#define SB_GATE_VALUES_MIN 8 /* of a stored result: fewer say nothing */
#define SB_GATE_VALUES_MAX 200

/* This machine, for calibrations. Returns as above. */
SB_MUST_CHECK int sb_gate_machine(struct sb_calibration *out);

#endif
