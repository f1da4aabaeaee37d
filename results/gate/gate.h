/*
 * gate.h - what a gate has found, and the forms in which it is told: a table for
 * people, JUnit's XML, Markdown, GitHub's annotations, JSON. All texts in it may be
 * anything; each form escapes what means something there.
 */
#ifndef SB_RESULTS_GATE_GATE_H
#define SB_RESULTS_GATE_GATE_H

#include <stdio.h>

#include "results/stats/sequential.h"
#include "results/stats/statistics.h"

#define SB_GATE_WHY_BYTES 400

/*
 * How two sides differ in virtual time: by more than the spread over seeds; by less, as another
 * seed may; not at all. Tables leave out the last two.
 */
enum sb_gate_difference { SB_GATE_NOT_VIRTUAL, SB_GATE_CLEAR, SB_GATE_LUCK, SB_GATE_NONE };

/* The outcome for one metric of one workload. */
struct sb_gate_test {
	char *workload;
	const char *metric;
	const char *unit;
	bool is_fall; /* it is worse when it falls */
	double limit; /* as a part, 0.03 */
	struct sb_sequential rule;
	enum sb_gate_difference difference;
	uint32_t values;	     /* that the verdict is from */
	double base, candidate;	     /* medians; NaN: none, as all below */
	double change;		     /* a part, above 0 for a rise */
	double low, high;	     /* its 95 % interval, or the seeds'; may be infinite */
	double deviation;	     /* of the values' logarithms */
	double chance;		     /* of a verdict by the last look; NaN: not known */
	char why[SB_GATE_WHY_BYTES]; /* of an undecided one */
};

static inline bool sb_gate_is_shown(const struct sb_gate_test *test)
{
	return test->difference <= SB_GATE_CLEAR;
}

/* How it went with one workload. */
struct sb_gate_workload {
	char *name;
	uint32_t pairs; /* or, with a stored baseline, runs */
	uint32_t invalid;
	uint32_t suspect;
	bool is_kept_awake; /* its CPUs, between processes */
	double elapsed_s;
	double ratio;			/* B / A of cpu_ns_per_op, medians; NaN: none */
	char reason[SB_GATE_WHY_BYTES]; /* of the first invalid one */
};

struct sb_gate_report {
	char *baseline;
	char *candidate;
	const char *method;
	bool is_virtual; /* intervals are those of seeds */
	uint32_t tests;
	struct sb_gate_test *test;
	uint32_t workloads;
	struct sb_gate_workload *workload;
	enum sb_gate_verdict verdict;
	char why[SB_GATE_WHY_BYTES];	     /* of an undecided one */
	bool skips_undecided;		     /* in JUnit: no failure */
	char calibration[SB_GATE_WHY_BYTES]; /* "": there is none */
	double alpha;			     /* chance of any false alarm; 0: there is no noise */
	double beta;
	uint64_t seed;
	double elapsed_s;
	char *machine; /* fingerprint and model */
};

void sb_gate_free(struct sb_gate_report *gate);

/* Regressed if any is, else undecided if any is; and why. */
void sb_gate_conclude(struct sb_gate_report *gate);

/* "95 % interval", or what it is. */
const char *sb_gate_interval_title(const struct sb_gate_report *gate);

/* How many tests are not shown, "640 metrics: 12 have changed, ..."; "" if all are. */
void sb_gate_describe_hidden(const struct sb_gate_report *gate, char *out, size_t bytes);

/* "pingpong ns_per_op +7.2 % [+5.1 .. +9.0 %] is beyond +3 %", for a message. */
void sb_gate_describe(const struct sb_gate_test *test, char *out, size_t bytes);

/* "+3 %"; for an infinite one "-inf" or "inf". */
#define SB_GATE_PERCENT_BYTES 24
void sb_gate_percent(char out[SB_GATE_PERCENT_BYTES], double part);

/* The test's, "+3 %", or "none". */
void sb_gate_limit(char out[SB_GATE_PERCENT_BYTES], const struct sb_gate_test *test);

/* columns: of the terminal; 0: lines of any length. */
void sb_gate_write_text(const struct sb_gate_report *gate, FILE *out, bool color, int columns);
/* Its last line alone: the verdict, and why there is none. */
void sb_gate_write_verdict(const struct sb_gate_report *gate, FILE *out, bool color);
void sb_gate_write_junit(const struct sb_gate_report *gate, FILE *out);
void sb_gate_write_markdown(const struct sb_gate_report *gate, FILE *out);
void sb_gate_write_annotations(const struct sb_gate_report *gate, FILE *out);

/* verdict.json. Returns 0 or -ENOMEM. */
int sb_gate_write_json(const struct sb_gate_report *gate, FILE *out);
/* Its tests alone, a row for each. */
int sb_gate_write_csv(const struct sb_gate_report *gate, FILE *out);
#define SB_GATE_SCHEMA 1

/* ---- calibration: what A/A gates on this machine have shown ---- */

#define SB_NOISES_MAX 64

struct sb_noise {
	char workload[80];
	char metric[40];
	double deviation; /* of a value's logarithm; median over the gates */
};

struct sb_calibration {
	char fingerprint[40];
	char model[120];
	char date[40];
	char build[200];
	char setup[1200]; /* the options that the gates ran with */
	uint32_t gates, false_alarms, undecided;
	uint32_t noises;
	struct sb_noise noise[SB_NOISES_MAX];
};

int sb_calibration_write(const struct sb_calibration *calibration, FILE *out);

/* Returns 0, or -errno and a line in why: -EINVAL if it is none, or of another
 * schema. */
SB_MUST_CHECK int sb_calibration_read(struct sb_calibration *out, const char *path, char *why,
				      size_t bytes);

/* "A/A on this machine: 1 false alarm in 160 gates, 0.02 .. 3.4 %". */
void sb_calibration_describe(const struct sb_calibration *calibration, char *out, size_t bytes);

#endif
