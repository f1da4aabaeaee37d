/*
 * record.h - one row of a result, the result that the rows make up, and the
 * metrics. The harness fills these in; the writers of results/ only read them.
 */
#ifndef SB_RESULTS_RECORD_RECORD_H
#define SB_RESULTS_RECORD_RECORD_H

#include "core/counters.h"
#include "core/exemplars.h"
#include "core/memory.h"
#include "core/placement.h"
#include "core/requests.h"
#include "core/trace.h"
#include "results/record/metric.h"
#include "results/record/packed.h"
#include "results/record/waiting.h"
#include "results/stats/statistics.h"

/* Version of the layout of all files of a result directory. */
#define SB_RESULT_SCHEMA 1

/* Of one worker's thread, over a repetition; NaN: the system does not say. */
struct sb_os_counts {
	double value[SB_OS_COUNTS];
	double window_ms; /* between the two looks at it: at most the time of the counts */
};

/* Of the machine, over a repetition; NaN: unknown. */
struct sb_os_machine {
	double steal_ms; /* of the CPUs that may be used together */
	double steal_pct;
	double clock_step_ms;
	double clock_slew_ppm;
	double suspended_ms;
	double throttled_ms; /* by a cgroup's quota, each CPU counts */
	double own_cpu_ms;   /* CPU time of this process's other threads on the workers' CPUs */
	/* Cache lines that CPUs fetched, by where from; of a modelled machine alone. */
	double fetches[SB_WAITING_WAYS];
};

/*
 * Whether a row may be believed. A suspect one has numbers, which count in
 * medians and pictures and are marked everywhere; an invalid one has none. The times of
 * an emulated one are those of another machine than the one that it is placed on: no rule
 * judges them.
 */
enum sb_verdict { SB_VALID, SB_SUSPECT, SB_ONLY_EMULATED, SB_INVALID, SB_VERDICTS };

#define SB_REASON_BYTES 400

/* ---- the slowest events of a repetition ---- */

/* A thread that took a worker's CPU. */
struct sb_thief {
	uint64_t at_ns;
	uint32_t worker;
	int32_t thread_id;
	char name[16];
};

struct sb_exemplar_list {
	struct sb_exemplar *exemplar; /* [n], the slowest first */
	uint32_t n;
};

/* Times count from the start of the repetition. */
struct sb_exemplars {
	struct sb_exemplar_list of[SB_EXEMPLAR_KINDS];
	struct sb_stop stop[SB_STOPS_MAX]; /* [stops] */
	uint32_t stops;
	double fault_ns; /* of a page fault on this machine; NaN: not measured */
	/* [thieves], by worker and then by time; of what is traced, and where the kernel tells. */
	struct sb_thief *thief;
	uint32_t thieves;
};

/* That of its histogram, too. */
const char *sb_exemplar_kind_name(enum sb_exemplar_kind kind);

void sb_exemplars_free(struct sb_exemplars *exemplars);

struct sb_timeseries;

/* One repetition of one workload. */
struct sb_record {
	uint32_t repetition;
	/* The OS process that measured it, from 0 in each series. A fork's rows are side by side. */
	uint32_t fork;
	bool is_measured; /* with numbers or without; not read from files */
	enum sb_verdict verdict;
	/* Why it is not valid; of a suspect row several, joined by "; ". */
	char reason[SB_REASON_BYTES];

	double value[SB_METRICS];	  /* NaN: not measured */
	struct sb_worker_reading *worker; /* [workers], over the repetition */
	struct sb_os_counts *os;	  /* [workers]; NULL: not read */
	struct sb_requests *requests;	  /* NULL: the workload takes none */
	struct sb_exemplars *exemplars;	  /* NULL: none were kept */
	/* Points of time within it, see results/ledger/timeseries.h; NULL: none were kept. */
	struct sb_timeseries *timeseries;

	/*
	 * Histograms, [SB_RECORD_HISTS], while the row is measured or read, in
	 * which requests->hist points to its own; sb_record_pack then replaces
	 * them by packed ones, which all writers take.
	 */
	struct sb_hist_counts *hist;
	struct sb_packed_hist *packed;
};

/* A choice made for a series: a parameter of its workload, or an option whose
 * values a sweep goes through. */
struct sb_setting {
	char *name;
	char *text;    /* as it was given */
	double number; /* in the option's unit of account; NaN: it is none */
	bool swept;
};

/* A worker's part of a trace. */
struct sb_traced_worker {
	struct sb_trace_event *event; /* [events], oldest first */
	uint32_t events;
	uint64_t dropped;		  /* older ones, which went to make room */
	struct sb_worker_reading reading; /* of the traced time, all of it */
};

/* One more round, made after the repetitions to be looked at. It is no row and
 * in no figure: tracing makes steps longer. */
struct sb_traced {
	uint32_t workers;
	struct sb_traced_worker *worker;
	uint64_t operations;
	uint64_t wall_ns;
	struct sb_exemplars *exemplars; /* of that round, by sb_clock_ns; NULL: none were kept */
};

/* The meaning of times. */
enum sb_reality {
	SB_NATIVE,
	SB_EMULATED, /* placed on another machine, run on this one: they mean nothing */
	SB_SIMULATED /* predictions of a machine's model, in virtual time */
};

/* All repetitions of one workload with one set of settings. */
struct sb_series {
	char *workload;
	char *operation;
	char *answer; /* what was searched for; NULL: nothing was */
	/* 1 + the row that met it at the highest rate; 0: none has. */
	uint32_t answer_row;
	char *label; /* the settings, "pairs=1 round-trips=1000" */
	uint32_t settings;
	struct sb_setting *setting;
	struct sb_placement placement; /* its own copy */
	enum sb_reality reality;
	uint32_t records;
	struct sb_record *record;

	/* At the end of all of them. */
	struct sb_memory memory;
	struct sb_residence *residence; /* [workers]; NULL: not read */

	struct sb_traced *traced; /* NULL: not asked for, or it failed */
	bool not_recorded;	  /* --record-actors has failed; not read from files */

	struct sb_waiting *waiting; /* of virtual time; else NULL */

	/* Of memory, threads or processes; not read from files. */
	bool met_limit;
};

/* A fact about the run as a whole: text by group and key. */
struct sb_fact {
	char *group;
	char *key;
	char *value;
};

struct sb_result {
	char *directory;
	uint32_t all_series;
	struct sb_series *series;
	uint32_t facts;
	struct sb_fact *fact;
};

/* The measurement of one repetition, before it is a row. */
struct sb_measured {
	uint64_t rounds;
	uint64_t operations;
	uint64_t wall_ns;    /* of the rounds */
	uint64_t elapsed_ns; /* and the gaps between them */
	uint64_t cpu_ns;
	double look_ns;		 /* of one look at the clock */
	double line_transfer_ns; /* of a cache line; NaN: not measured */
	double line_ns;		 /* of a read of a cache line, see SB_METRIC_memory_line_ns */
	struct sb_memory memory; /* at the end */
	uint64_t mapped_before;	 /* mapped_bytes at the start */
	struct sb_os_machine machine;
	uint64_t stopped_ns; /* the whole process, as far as it was seen */
	uint64_t settle_ns;  /* of the gaps, what is no part of elapsed_ns */
	uint64_t settle_cpu_ns;
	double capacity_per_s;		    /* of requests; 0: not measured */
	const struct sb_requests *requests; /* NULL: none are taken */
	/* Sums of what the rounds say of themselves, see struct sb_round. */
	uint64_t part_cpu_ns;
	uint64_t submit_ns;
	double bytes_per_process;
};

/* A percentile of fewer samples is not given: 10 of them are to be beyond it. Lost
 * requests count among them. */
uint64_t sb_percentile_needs(double q);

/* Computes all metrics from the measurement and the workers' readings. */
void sb_record_compute(struct sb_record *record, const struct sb_measured *measured,
		       const struct sb_placement *placement);

/* Of the count that all commands beyond the array share, in files. */
#define SB_LARGER_COMMANDS "256+"

/* a -= b, an earlier reading of the same worker. */
void sb_reading_subtract(struct sb_worker_reading *a, const struct sb_worker_reading *b,
			 uint32_t workers);

/* "valid", "suspect", "emulated" or "invalid". */
const char *sb_verdict_name(enum sb_verdict verdict);

/* One more reason not to trust a row; an emulated or invalid one stays as it is. A reason that
 * it has already, or that does not fit, is left out. */
void sb_record_suspect(struct sb_record *record, const char *format, ...) SB_PRINTF(2, 3);

/* A row without numbers. This reason replaces all others. */
void sb_record_invalidate(struct sb_record *record, const char *reason);

static inline bool sb_record_has_numbers(const struct sb_record *record)
{
	return record->verdict != SB_INVALID;
}

/* Returns 0, or -ENOMEM: the row is as before. A row without histograms has no
 * packed ones either. */
SB_MUST_CHECK int sb_record_pack(struct sb_record *record);

/* A histogram of a packed row, see enum sb_record_hist_id. NULL: it has none. */
const struct sb_packed_hist *sb_record_hist(const struct sb_record *record, uint32_t hist);

/* How many requests that histogram of a record would have, had all been completed,
 * beyond those timed; 0 for histograms of anything else. */
uint64_t sb_requests_untimed(const struct sb_requests *r, uint32_t hist, uint64_t timed);

/* The standard error of their mean sojourn time. NaN: it is not known, as in real time. */
double sb_requests_mean_error(const struct sb_requests *r);

#endif
