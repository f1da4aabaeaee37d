/* rounds.h - a measurement while it goes on, and its rounds. */
#ifndef SB_HARNESS_RUN_ROUNDS_H
#define SB_HARNESS_RUN_ROUNDS_H

#include "harness/kernel/stops.h"
#include "harness/run/load.h"
#include "harness/run/measure.h"
#include "harness/run/slo.h"
#include "harness/system/memory_probe.h"

/* Everything about the one workload that is being measured. */
struct sb_measurement {
	struct sb_workload_run run;
	const struct sb_options *options;
	struct sb_ground *ground;
	const struct sb_watch *watch; /* NULL: nobody */
	const struct sb_series *series;
	uint32_t workers;
	double look_ns;		       /* cost of a clock read */
	double line_transfer_ns;       /* between workers' CPUs; NaN: not measured */
	double fault_ns;	       /* cost of a page fault */
	uint64_t exemplars_since_ns;   /* when the repetition began */
	struct sb_worker_reading *now; /* one, of whichever worker is looked at */
	struct sb_hist_counts *hist;   /* [SB_HISTS], at the start of a repetition */
	struct sb_osview *os;
	struct sb_memory_probe probe;
	double line_ns;		      /* its last reading; NaN: none in this process */
	struct sb_glances *glances;   /* NULL: no time series */
	struct sb_switches *switches; /* NULL: nothing is traced, or the kernel does not tell */
	struct sb_cpu_mask os_cpus;   /* what os looks at */
	struct sb_conditions conditions;
	bool restless; /* the warm-up has found no end */
	struct sb_load load;
	struct sb_steady steady;  /* times that the current repetition needs */
	struct sb_record *record; /* of the current repetition; NULL between repetitions */
	uint64_t mapped_before;	  /* bytes, when it began */
	/* Of the rounds since both were cleared. */
	struct sb_measured measured;
	double own[SB_WORKLOAD_METRICS_MAX]; /* sums of the workload's metrics */
	struct sb_requests requests;
	double capacity_per_s;	 /* 0: not asked for */
	struct sb_search search; /* --find-slo */
	struct sb_stops stops;	 /* of the rounds of sb_rounds_run */
	char why[160];		 /* of the failure, "" while there is none */
	bool met_limit;		 /* that is the failure */
};

/* How often a wait looks for an interrupt. */
#define SLICE_NS UINT64_C(100000000)

void sb_phase_begins(const struct sb_measurement *m, enum sb_phase phase, uint32_t repetition);

void sb_phase_ends(const struct sb_measurement *m, enum sb_phase phase, uint32_t repetition);

void sb_readings_free(struct sb_worker_reading *r, uint32_t n);

/* n readings with a row of the steal matrix each. NULL: no memory. */
struct sb_worker_reading *sb_readings_make(uint32_t n, uint32_t workers);

/* Of all workers, and m->hist. */
void sb_readings_take(struct sb_measurement *m, struct sb_worker_reading *worker);

/* Of the workers, which are started; for the caller to free. NULL: no memory. */
int *sb_worker_thread_ids(const struct sb_measurement *m);

/* Reads all that m->record is a difference of. */
void sb_repetition_begin(struct sb_measurement *m);

/* From the workers' readings at the start of the repetition, and m->hist, to its differences. */
void sb_readings_subtract(struct sb_measurement *m, struct sb_record *record);

/* Where the memory lies, at the end; the scheduler is stopped. */
void sb_measurement_read_memory(struct sb_measurement *m, struct sb_series *series);

bool sb_measurement_ground_holds(struct sb_measurement *m);

/* Of memory, threads, or processes alive. */
void sb_measurement_fail(struct sb_measurement *m, const char *what, int rc);

/* Stops the scheduler. Nothing is alive, unless a round failed; force ends that. A step that does
 * not return within --timeout ends the command, but in virtual time. */
void sb_measurement_stop(struct sb_measurement *m);

/* One round; adds what it measured. False: m->why says why there is none. */
bool sb_round_run(struct sb_measurement *m, struct sb_measured *sum);

void sb_measurement_clear_requests(struct sb_measurement *m);

/* Rounds until the time has passed, but at least one. Afterwards, and so for the
 * warm-up and each repetition, the ground must be the same. */
bool sb_rounds_run(struct sb_measurement *m, uint64_t duration_ns);

bool sb_is_search(const struct sb_options *options);

bool sb_measurement_find_capacity(struct sb_measurement *m);

bool sb_measurement_warm_up(struct sb_measurement *m);

#endif
