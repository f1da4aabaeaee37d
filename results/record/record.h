/*
 * record.h - one row of a result, the result that the rows make up, and the
 * metrics. The harness fills these in; the writers of results/ only read them.
 */
#ifndef SB_RESULTS_RECORD_RECORD_H
#define SB_RESULTS_RECORD_RECORD_H

#include "core/counters.h"
#include "core/memory.h"
#include "core/placement.h"
#include "core/requests.h"
#include "core/trace.h"
#include "results/record/packed.h"
#include "results/stats/statistics.h"

/* Version of the layout of all files of a result directory. */
#define SB_RESULT_SCHEMA 1

enum sb_better { SB_LOWER, SB_HIGHER, SB_NEITHER };

struct sb_metric {
	const char *name;
	const char *unit;
	enum sb_better better;
	const char *doc;
};

enum sb_metric_id {
#define METRIC(name, unit, better, doc) SB_METRIC_##name,
#include "results/record/metrics.def"
#undef METRIC
	SB_METRICS
};

/* What the operating system counts of a thread. */
enum sb_os_id {
#define OS(name, unit, doc) SB_OS_##name,
#include "results/record/os.def"
#undef OS
	SB_OS_COUNTS
};

extern const struct sb_metric sb_metric[SB_METRICS];
extern const struct sb_metric sb_counter_info[SB_COUNTERS];
extern const struct sb_metric sb_hist_info[SB_HISTS];

/* Of one worker's thread, over a repetition; NaN: the system does not say. */
struct sb_os_counts {
	double value[SB_OS_COUNTS];
};

/* Of the machine, over a repetition; NaN: unknown. */
struct sb_os_machine {
	double steal_ms; /* of the CPUs that may be used together */
	double steal_pct;
	double clock_step_ms;
	double clock_slew_ppm;
	double suspended_ms;
	double throttled_ms; /* by a cgroup's quota, each CPU counts */
};

/*
 * Whether a row may be believed. A suspect one has numbers, which count in
 * medians and pictures and are marked everywhere; an invalid one has none.
 */
enum sb_verdict { SB_VALID, SB_SUSPECT, SB_INVALID };

#define SB_REASON_BYTES 400

/* One repetition of one workload. */
struct sb_record {
	uint32_t repetition;
	bool is_measured; /* with numbers or without; not read from files */
	enum sb_verdict verdict;
	/* Why it is not valid; of a suspect row several, joined by "; ". */
	char reason[SB_REASON_BYTES];

	double value[SB_METRICS];	  /* NaN: not measured */
	struct sb_worker_reading *worker; /* [workers], over the repetition */
	struct sb_os_counts *os;	  /* [workers]; NULL: not read */
	struct sb_requests *requests;	  /* NULL: the workload takes none */

	/*
	 * Histograms: [SB_HISTS] of all workers together, and in requests those
	 * of requests, while the row is measured or read; sb_record_pack then
	 * replaces them by packed ones, [SB_RECORD_HISTS], which all writers
	 * take.
	 */
	struct sb_hist_counts *hist;
	struct sb_packed_hist *packed;
};

#define SB_RECORD_HISTS (SB_HISTS + SB_REQUEST_HISTS)

/* What was chosen for a series: a parameter of its workload, or an option whose
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
	uint64_t dropped; /* older ones, which went to make room */
	struct sb_worker_reading reading; /* of the traced time, all of it */
};

/* One more round, made after the repetitions to be looked at. It is no row and
 * in no figure: tracing makes steps longer. */
struct sb_traced {
	uint32_t workers;
	struct sb_traced_worker *worker;
	uint64_t operations;
	uint64_t wall_ns;
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
	bool emulated; /* the placement is on a machine that is not this one */
	uint32_t records;
	struct sb_record *record;

	/* At the end of all of them. */
	struct sb_memory memory;
	struct sb_residence *residence; /* [workers]; NULL: not read */

	struct sb_traced *traced; /* NULL: not asked for, or it failed */

	/* Of memory, threads or processes; not read from files. */
	bool met_limit;
};

/* What is known about the run as a whole: text by group and key. */
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

/* What one repetition measured, before it is a row. */
struct sb_measured {
	uint64_t rounds;
	uint64_t operations;
	uint64_t wall_ns;    /* of the rounds */
	uint64_t elapsed_ns; /* and the gaps between them */
	uint64_t cpu_ns;
	double look_ns;		 /* of one look at the clock */
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
	struct sb_hist_counts wake_ns;
	struct sb_hist_counts wake_long_step_ns;
};

/* A percentile of fewer samples is not given: 10 of them are to be beyond it. Lost
 * requests count among them. */
uint64_t sb_percentile_needs(double q);

/* Computes all metrics from the measurement and the workers' readings. */
void sb_record_compute(struct sb_record *record,
		       const struct sb_measured *measured,
		       const struct sb_placement *placement);

/* Of the count that all commands beyond the array share, in files. */
#define SB_LARGER_COMMANDS "256+"

/* a -= b, an earlier reading of the same worker. */
void sb_reading_subtract(struct sb_worker_reading *a,
			 const struct sb_worker_reading *b, uint32_t workers);

/* "valid", "suspect" or "invalid". */
const char *sb_verdict_name(enum sb_verdict verdict);

/* One more reason not to trust a row; an invalid one stays as it is. A reason that
 * it has already, or that does not fit, is left out. */
void sb_record_suspect(struct sb_record *record, const char *format, ...)
	SB_PRINTF(2, 3);

/* A row without numbers. This reason replaces all others. */
void sb_record_invalidate(struct sb_record *record, const char *reason);

static inline bool sb_record_has_numbers(const struct sb_record *record)
{
	return record->verdict != SB_INVALID;
}

/* Returns 0, or -ENOMEM: the row is as before. A row without histograms has no
 * packed ones either. */
SB_MUST_CHECK int sb_record_pack(struct sb_record *record);

/* "sojourn" and so on. */
const char *sb_request_hist_name(enum sb_request_hist_id hist);

struct sb_named_hist {
	const char *name;
	const char *unit;
	const struct sb_packed_hist *packed;
};

/* Histogram i of a row that has numbers, the workers' first and then those of
 * requests, for those who go through all. False: there are no more. */
bool sb_record_hist(const struct sb_record *record, uint32_t i,
		    struct sb_named_hist *out);

/* A copy of a text from outside that is UTF-8, whatever the text is, and tells a
 * terminal nothing: of control characters, line feeds and tabs are kept. NULL: no
 * memory. For the caller to free. */
char *sb_text_copy(const char *text);

/* Copies all three, as above. The facts of a group are side by side; one that
 * was there is replaced. Returns 0 or -ENOMEM. */
int sb_result_add_fact(struct sb_result *result, const char *group,
		       const char *key, const char *value);
const char *sb_result_fact(const struct sb_result *result, const char *group,
			   const char *key);

/* Takes it away, if it is there. */
void sb_result_drop_fact(struct sb_result *result, const char *group,
			 const char *key);

/* How many repetitions have this verdict. */
uint32_t sb_series_count(const struct sb_series *series,
			 enum sb_verdict verdict);

/* Whether a row counts in what is said of the series: it has numbers. Of a search,
 * whose rows are at different rates, the answer's row alone stands for it. */
bool sb_series_pools(const struct sb_series *series, uint32_t row);

/* How many repetitions count. All that follows is over these. */
uint32_t sb_series_measured(const struct sb_series *series);

/* A histogram. out: caller's. */
void sb_series_hist(const struct sb_series *series, enum sb_hist_id hist,
		    struct sb_hist_counts *out);

/* One cell of the steal matrix. */
struct sb_steal_counts sb_series_steals(const struct sb_series *series,
					uint32_t thief, uint32_t victim);

/* "deques" and so on. */
const char *sb_memory_kind_name(enum sb_memory_kind kind);

/* How the arenas' memory was bound: as the option says, "none" or "refused". */
const char *sb_series_binding(const struct sb_series *series,
			      const struct sb_result *result);

/* Between workers that are that far apart, on average in a repetition.
 * pairs: how many thieves and victims there are. */
struct sb_distance_steals {
	uint32_t pairs;
	double attempts;
	double successes;
	double items;
};

/* Returns how many distances there are; 0: no repetition was measured. */
uint32_t sb_series_distances(const struct sb_series *series,
			     struct sb_distance_steals out[SB_DISTANCES]);

/* "native", or "emulated", which every output says. */
static inline const char *sb_series_topology(const struct sb_series *series)
{
	return series->emulated ? "emulated" : "native";
}

/* "emulated" if any series is. */
const char *sb_result_topology(const struct sb_result *result);

/* Copies name and text, and adds "name=text" to the label. Returns 0 or -ENOMEM. */
SB_MUST_CHECK int sb_series_add_setting(struct sb_series *series,
					const struct sb_setting *setting);

/* What a person calls it: "pingpong", or of a job "small/pingpong", once if both
 * are the same. */
#define SB_SERIES_TITLE_BYTES 100
void sb_series_title(char *out, const struct sb_series *series);

/* What an option was for that series: its own setting, else the run's. */
const char *sb_series_option(const struct sb_series *series,
			     const struct sb_result *result, const char *name);

/* NULL: it has no such setting. */
const struct sb_setting *sb_series_setting(const struct sb_series *series,
					   const char *name);

/*
 * What a series is called where names tell rows apart, as Google Benchmark does:
 * "skynet/batch:16/workers:2", with what was swept, and with what another series
 * of the same workload has otherwise. Cut off where there is no more room.
 */
#define SB_NAME_BYTES 400
void sb_series_name(char out[SB_NAME_BYTES], const struct sb_result *result,
		    const struct sb_series *series);

/* Whether a setting is in that name. */
bool sb_series_is_named_by(const struct sb_result *result,
			   const struct sb_series *series,
			   const struct sb_setting *setting);

/* Its rows are as before they were measured. */
void sb_series_forget_rows(struct sb_series *series);

/* Frees a trace; NULL is allowed. */
void sb_traced_free(struct sb_traced *traced);

/* Frees everything in it; the result itself is the caller's. */
void sb_result_free(struct sb_result *result);

/* Over the repetitions that have it. */
struct sb_spread sb_series_spread(const struct sb_series *series,
				  enum sb_metric_id metric);

#endif
