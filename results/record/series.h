/*
 * series.h - a series of repetitions: its title, label and settings, and what its
 * rows come to; and the result that it is part of.
 */
#ifndef SB_RESULTS_RECORD_SERIES_H
#define SB_RESULTS_RECORD_SERIES_H

#include "core/worker/distance.h"
#include "results/record/record.h"

/* Copies all three, as above. The facts of a group are side by side; one that
 * was there is replaced. Returns 0 or -ENOMEM. */
int sb_result_add_fact(struct sb_result *result, const char *group, const char *key,
		       const char *value);
const char *sb_result_fact(const struct sb_result *result, const char *group, const char *key);

/* Takes it away, if it is there. */
void sb_result_drop_fact(struct sb_result *result, const char *group, const char *key);

/* How many repetitions have this verdict. */
uint32_t sb_series_count(const struct sb_series *series, enum sb_verdict verdict);

/* Whether a row counts in what is said of the series: it has numbers. Of a search,
 * whose rows are at different rates, the answer's row alone stands for it. */
bool sb_series_pools(const struct sb_series *series, uint32_t row);

/* How many repetitions count. All that follows is over these. */
uint32_t sb_series_measured(const struct sb_series *series);

/* The mean of a metric over them, of which parts of a whole still add up to it; NaN: none has it. */
double sb_series_mean(const struct sb_series *series, enum sb_metric_id metric);

/* A histogram, see enum sb_record_hist_id. out: caller's. */
void sb_series_hist(const struct sb_series *series, uint32_t hist, struct sb_hist_counts *out);

/* Requests that it lacks, which are later than all that it has. */
uint64_t sb_series_untimed(const struct sb_series *series, uint32_t hist);

/* One cell of the steal matrix. */
struct sb_steal_counts sb_series_steals(const struct sb_series *series, uint32_t thief,
					uint32_t victim);

/* "deques" and so on. */
const char *sb_memory_kind_name(enum sb_memory_kind kind);

/* How the arenas' memory was bound: as the option says, "none" or "refused". */
const char *sb_series_binding(const struct sb_series *series, const struct sb_result *result);

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

/* "native", or "emulated" or "virtual", which every output says. */
static inline const char *sb_reality_name(enum sb_reality reality)
{
	static const char *const names[] = { "native", "emulated", "virtual" };

	return names[reality];
}

static inline const char *sb_series_topology(const struct sb_series *series)
{
	return sb_reality_name(series->reality);
}

/* The same behind the name of a series: "" or " (virtual)". */
static inline const char *sb_series_topology_mark(const struct sb_series *series)
{
	static const char *const marks[] = { "", " (emulated)", " (virtual)" };

	return marks[series->reality];
}

/* "emulated" or "virtual" if any series is. */
const char *sb_result_topology(const struct sb_result *result);

/* Copies name and text, and adds "name=text" to the label. Returns 0 or -ENOMEM. */
SB_MUST_CHECK int sb_series_add_setting(struct sb_series *series, const struct sb_setting *setting);

/* Its name for people: "pingpong", or of a job "small/pingpong", once if both
 * are the same. */
#define SB_SERIES_TITLE_BYTES 100
void sb_series_title(char *out, const struct sb_series *series);

/* The value of an option for that series: its own setting, else the run's. */
const char *sb_series_option(const struct sb_series *series, const struct sb_result *result,
			     const char *name);

/* Whether it is the configuration of the defaults, of a sweep. */
bool sb_series_is_default(const struct sb_series *series, const struct sb_result *result);

/* NULL: it has no such setting. */
const struct sb_setting *sb_series_setting(const struct sb_series *series, const char *name);

/*
 * The name of a series where names tell rows apart, as Google Benchmark does:
 * "skynet/batch:16/workers:2", with what was swept, and with what another series
 * of the same workload has otherwise. Cut off where there is no more room.
 */
#define SB_NAME_BYTES 400
void sb_series_name(char out[SB_NAME_BYTES], const struct sb_result *result,
		    const struct sb_series *series);

/* Whether a setting is in that name. */
bool sb_series_is_named_by(const struct sb_result *result, const struct sb_series *series,
			   const struct sb_setting *setting);

/* Whether a row has not been measured yet. */
bool sb_series_lacks_rows(const struct sb_series *series);

/* Its rows are as before they were measured. */
void sb_series_forget_rows(struct sb_series *series);

/* Frees a trace; NULL is allowed. */
void sb_traced_free(struct sb_traced *traced);

/* Frees everything in it; the result itself is the caller's. */
void sb_result_free(struct sb_result *result);

/* The 95 % interval of the mean sojourn time, of all repetitions. NaN: there is none, as in real time. */
struct sb_interval sb_series_sojourn(const struct sb_series *series);

/* Over the repetitions that have it. */
struct sb_spread sb_series_spread(const struct sb_series *series, enum sb_metric_id metric);

/* The same of the metric that comes so far behind a latency's first, for tables: what stands for
 * the maximum (SB_LATENCY_MAX) is the largest of all repetitions, and not the median. */
struct sb_spread sb_series_latency(const struct sb_series *series, enum sb_metric_id first,
				   int behind);

#endif
