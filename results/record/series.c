/* series.c - a series of repetitions: its title, label and settings, and what its
 * rows come to; and the result that it is part of. */
#include "core/worker/distance.h"
#include "results/record/series.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/record/account.h"
#include "results/record/record.h"
#include "results/record/sums.h"
#include "results/text/escape.h"

const char *sb_series_binding(const struct sb_series *series, const struct sb_result *result)
{
	if (!series->memory.is_bound)
		return "none";
	return series->memory.bind_error ? "refused" : sb_series_option(series, result, "membind");
}

void sb_series_title(char *out, const struct sb_series *series)
{
	const struct sb_setting *job = sb_series_setting(series, "job");

	if (!job || !strcmp(job->text, series->workload))
		snprintf(out, SB_SERIES_TITLE_BYTES, "%s", series->workload);
	else
		snprintf(out, SB_SERIES_TITLE_BYTES, "%s/%s", job->text, series->workload);
}

const char *sb_series_option(const struct sb_series *series, const struct sb_result *result,
			     const char *name)
{
	const struct sb_setting *setting = sb_series_setting(series, name);

	return setting ? setting->text : sb_result_fact(result, "options", name);
}

void sb_series_hist(const struct sb_series *series, uint32_t hist, struct sb_hist_counts *out)
{
	memset(out, 0, sizeof(*out));
	for (uint32_t r = 0; r < series->records; r++) {
		const struct sb_packed_hist *packed = sb_record_hist(&series->record[r], hist);

		if (packed && sb_series_pools(series, r))
			sb_packed_add(packed, out);
	}
}

uint64_t sb_series_untimed(const struct sb_series *series, uint32_t hist)
{
	uint64_t untimed = 0;

	for (uint32_t r = 0; r < series->records; r++) {
		const struct sb_record *record = &series->record[r];

		if (record->requests && sb_series_pools(series, r))
			untimed += sb_requests_untimed(record->requests, hist,
						       record->packed[hist].count);
	}
	return untimed;
}

struct sb_steal_counts sb_series_steals(const struct sb_series *series, uint32_t thief,
					uint32_t victim)
{
	struct sb_steal_counts sum = { 0 };

	for (uint32_t r = 0; r < series->records; r++) {
		if (sb_series_pools(series, r))
			sb_steal_add(&sum, &series->record[r].worker[thief].steals[victim]);
	}
	return sum;
}

uint32_t sb_series_count(const struct sb_series *series, enum sb_verdict verdict)
{
	uint32_t n = 0;

	for (uint32_t r = 0; r < series->records; r++)
		n += series->record[r].verdict == verdict;
	return n;
}

bool sb_series_pools(const struct sb_series *series, uint32_t row)
{
	return sb_record_has_numbers(&series->record[row]) &&
	       (!series->answer || row + 1 == series->answer_row);
}

uint32_t sb_series_measured(const struct sb_series *series)
{
	uint32_t n = 0;

	for (uint32_t r = 0; r < series->records; r++)
		n += sb_series_pools(series, r);
	return n;
}

static void add_pair(struct sb_distance_steals *sum, const struct sb_steal_counts *cell,
		     double repetitions)
{
	sum->pairs++;
	sum->attempts += (double)cell->attempts / repetitions;
	sum->successes += (double)cell->successes / repetitions;
	sum->items += (double)cell->items / repetitions;
}

uint32_t sb_series_distances(const struct sb_series *series,
			     struct sb_distance_steals out[SB_DISTANCES])
{
	const struct sb_placement *p = &series->placement;
	const uint32_t measured = sb_series_measured(series);
	uint32_t distances = 0;

	memset(out, 0, SB_DISTANCES * sizeof(*out));
	for (uint32_t i = 0; i < p->workers * p->workers && measured; i++) {
		const uint32_t thief = i / p->workers;
		const uint32_t victim = i % p->workers;
		const struct sb_steal_counts cell = sb_series_steals(series, thief, victim);

		if (thief != victim)
			add_pair(&out[sb_place_distance(&p->place[thief], &p->place[victim])],
				 &cell, measured);
	}
	for (int d = 0; d < SB_DISTANCES; d++)
		distances += out[d].pairs > 0;
	return distances;
}

uint32_t sb_series_forks(const struct sb_series *series)
{
	uint32_t forks = series->records > 0;

	for (uint32_t r = 1; r < series->records; r++)
		forks += series->record[r].fork != series->record[r - 1].fork;
	return forks;
}

/* A value for each fork, or for each row. */
static double *values_of(const struct sb_series *series, enum sb_metric_id metric, bool by_fork,
			 uint32_t *n)
{
	double *value = calloc(series->records + 1, sizeof(*value));
	uint32_t *fork = calloc(series->records + 1, sizeof(*fork));

	*n = value && fork ? series->records : 0;
	for (uint32_t r = 0; r < *n; r++) {
		const double v = series->record[r].value[metric];

		value[r] = sb_series_pools(series, r) && isfinite(v) ? v : (double)NAN;
		fork[r] = by_fork ? series->record[r].fork : r;
	}
	if (*n)
		*n = sb_fork_medians(value, fork, *n);
	free(fork);
	return value;
}

double *sb_series_values(const struct sb_series *series, enum sb_metric_id metric, uint32_t *n)
{
	return values_of(series, metric, sb_series_forks(series) > 1, n);
}

struct sb_spread sb_series_spread(const struct sb_series *series, enum sb_metric_id metric)
{
	uint32_t n;
	double *value = sb_series_values(series, metric, &n);
	const struct sb_spread spread = sb_spread_of(value, n);

	free(value);
	return spread;
}

struct sb_spread sb_series_row_spread(const struct sb_series *series, enum sb_metric_id metric)
{
	uint32_t n;
	double *value = values_of(series, metric, false, &n);
	const struct sb_spread spread = sb_spread_of(value, n);

	free(value);
	return spread;
}

struct sb_median sb_series_median(const struct sb_series *series, enum sb_metric_id metric)
{
	uint32_t n;
	double *value = sb_series_values(series, metric, &n);
	const struct sb_median median = sb_median_of(value, n, sb_series_forks(series) > 1);

	free(value);
	return median;
}

struct sb_spread sb_series_latency(const struct sb_series *series, enum sb_metric_id first,
				   int behind)
{
	struct sb_spread spread = sb_series_spread(series, first + behind);

	if (behind == SB_LATENCY_MAX)
		spread.median = sb_series_row_spread(series, first + behind).max;
	return spread;
}

double sb_series_mean(const struct sb_series *series, enum sb_metric_id metric)
{
	double sum = 0;
	uint32_t n = 0;

	for (uint32_t r = 0; r < series->records; r++) {
		const double v = series->record[r].value[metric];

		if (!sb_series_pools(series, r) || isnan(v))
			continue;
		sum += v;
		n++;
	}
	return n ? sum / n : (double)NAN;
}

static void free_fact(struct sb_fact *fact)
{
	free(fact->group);
	free(fact->key);
	free(fact->value);
}

/* Where a fact belongs: in its own place, or behind the last of its group. */
static uint32_t find_fact(const struct sb_result *result, const char *group, const char *key)
{
	uint32_t behind = result->facts;

	for (uint32_t i = 0; i < result->facts; i++) {
		if (strcmp(result->fact[i].group, group))
			continue;
		behind = i + 1;
		if (!strcmp(result->fact[i].key, key))
			return i;
	}
	return behind;
}

static bool is_fact(const struct sb_result *result, uint32_t i, const char *group, const char *key)
{
	return i < result->facts && !strcmp(result->fact[i].group, group) &&
	       !strcmp(result->fact[i].key, key);
}

static int insert_fact(struct sb_result *result, uint32_t i, const struct sb_fact *new)
{
	struct sb_fact *fact = reallocarray(result->fact, result->facts + 1, sizeof(*fact));

	if (!fact)
		return -ENOMEM;
	memmove(&fact[i + 1], &fact[i], (result->facts - i) * sizeof(*fact));
	fact[i] = *new;
	result->fact = fact;
	result->facts++;
	return 0;
}

int sb_result_add_fact(struct sb_result *result, const char *group, const char *key,
		       const char *value)
{
	struct sb_fact made = { sb_text_copy(group), sb_text_copy(key), sb_text_copy(value) };
	const uint32_t i = find_fact(result, group, key);
	int rc = -ENOMEM;

	if (made.group && made.key && made.value) {
		if (is_fact(result, i, group, key)) {
			free_fact(&result->fact[i]);
			result->fact[i] = made;
			return 0;
		}
		rc = insert_fact(result, i, &made);
	}
	if (rc)
		free_fact(&made);
	return rc;
}

bool sb_series_is_default(const struct sb_series *series, const struct sb_result *result)
{
	/* "0 4": numbers of series. */
	const char *rest = sb_result_fact(result, "sweep", "default_series");
	const long number = series - result->series;
	char *end;

	for (; *rest; rest = end) {
		if (strtol(rest, &end, 10) == number)
			return true;
		if (end == rest)
			break;
	}
	return false;
}

const char *sb_result_fact(const struct sb_result *result, const char *group, const char *key)
{
	for (uint32_t i = 0; i < result->facts; i++) {
		if (!strcmp(result->fact[i].group, group) && !strcmp(result->fact[i].key, key))
			return result->fact[i].value;
	}
	return "";
}

void sb_result_drop_fact(struct sb_result *result, const char *group, const char *key)
{
	for (uint32_t i = 0; i < result->facts; i++) {
		struct sb_fact *fact = &result->fact[i];

		if (strcmp(fact->group, group) || strcmp(fact->key, key))
			continue;
		free_fact(fact);
		memmove(fact, fact + 1, (result->facts - i - 1) * sizeof(*fact));
		result->facts--;
		return;
	}
}

const char *sb_result_topology(const struct sb_result *result)
{
	for (uint32_t i = 0; i < result->all_series; i++) {
		if (result->series[i].reality)
			return sb_series_topology(&result->series[i]);
	}
	return "native";
}

static int append_to_label(struct sb_series *series, const struct sb_setting *setting)
{
	const char *before = series->label ? series->label : "";
	char *label;

	if (asprintf(&label, "%s%s%s=%s", before, *before ? " " : "", setting->name,
		     setting->text) < 0)
		return -ENOMEM;
	free(series->label);
	series->label = label;
	return 0;
}

static void free_setting(struct sb_setting *setting)
{
	free(setting->name);
	free(setting->text);
}

int sb_series_add_setting(struct sb_series *series, const struct sb_setting *setting)
{
	struct sb_setting *all =
		realloc(series->setting, (series->settings + 1) * sizeof(*series->setting));
	struct sb_setting copy = *setting;

	if (!all)
		return -ENOMEM;
	series->setting = all;
	copy.name = sb_text_copy(setting->name);
	copy.text = sb_text_copy(setting->text);
	if (!copy.name || !copy.text || append_to_label(series, &copy)) {
		free_setting(&copy);
		return -ENOMEM;
	}
	series->setting[series->settings++] = copy;
	return 0;
}

const struct sb_setting *sb_series_setting(const struct sb_series *series, const char *name)
{
	for (uint32_t i = 0; i < series->settings; i++) {
		if (!strcmp(series->setting[i].name, name))
			return &series->setting[i];
	}
	return NULL;
}

/* Whether it is a choice between the series of one workload. */
static bool tells_apart(const struct sb_result *result, const struct sb_series *series,
			const struct sb_setting *setting)
{
	for (uint32_t i = 0; i < result->all_series; i++) {
		const struct sb_series *other = &result->series[i];
		const struct sb_setting *its;

		if (other == series || strcmp(other->workload, series->workload))
			continue;
		its = sb_series_setting(other, setting->name);
		if (!its || strcmp(its->text, setting->text))
			return true;
	}
	return setting->swept;
}

bool sb_series_is_named_by(const struct sb_result *result, const struct sb_series *series,
			   const struct sb_setting *setting)
{
	/* Their number is there in any case. */
	return strcmp(setting->name, "workers") != 0 && tells_apart(result, series, setting);
}

void sb_series_name(char out[SB_NAME_BYTES], const struct sb_result *result,
		    const struct sb_series *series)
{
	FILE *name = fmemopen(out, SB_NAME_BYTES, "w");

	*out = '\0';
	if (!name)
		return;
	fputs(series->workload, name);
	for (uint32_t i = 0; i < series->settings; i++) {
		const struct sb_setting *setting = &series->setting[i];

		if (sb_series_is_named_by(result, series, setting))
			fprintf(name, "/%s:%s", setting->name, setting->text);
	}
	fprintf(name, "/workers:%" PRIu32 "%s%s", series->placement.workers,
		series->reality ? "/" : "", series->reality ? sb_series_topology(series) : "");
	fclose(name);
	out[SB_NAME_BYTES - 1] = '\0';
}

static void free_record(struct sb_record *record, uint32_t workers)
{
	for (uint32_t i = 0; record->worker && i < workers; i++)
		free(record->worker[i].steals);
	free(record->worker);
	sb_record_free_hists(record);
	sb_packed_hist_free(record->packed);
	free(record->os);
	free(record->requests);
	sb_exemplars_free(record->exemplars);
	free(record->timeseries);
}

bool sb_series_lacks_rows(const struct sb_series *series)
{
	for (uint32_t r = 0; r < series->records; r++) {
		if (!series->record[r].is_measured)
			return true;
	}
	return false;
}

void sb_series_forget_rows(struct sb_series *series)
{
	for (uint32_t r = 0; r < series->records; r++) {
		struct sb_record *record = &series->record[r];

		free_record(record, series->placement.workers);
		*record = (struct sb_record){ .repetition = r, .fork = record->fork };
		sb_record_invalidate(record, "not measured");
	}
}

void sb_traced_free(struct sb_traced *traced)
{
	if (!traced)
		return;
	for (uint32_t i = 0; traced->worker && i < traced->workers; i++) {
		free(traced->worker[i].event);
		free(traced->worker[i].reading.steals);
	}
	free(traced->worker);
	sb_exemplars_free(traced->exemplars);
	free(traced);
}

static void free_series(struct sb_series *series)
{
	for (uint32_t r = 0; r < series->records; r++)
		free_record(&series->record[r], series->placement.workers);
	for (uint32_t i = 0; i < series->settings; i++)
		free_setting(&series->setting[i]);
	sb_placement_free(&series->placement);
	free(series->record);
	free(series->residence);
	sb_traced_free(series->traced);
	free(series->setting);
	free(series->workload);
	free(series->operation);
	free(series->label);
	sb_waiting_free(series->waiting);
	free(series->answer);
}

void sb_result_free(struct sb_result *result)
{
	for (uint32_t i = 0; i < result->all_series; i++)
		free_series(&result->series[i]);
	for (uint32_t i = 0; i < result->facts; i++)
		free_fact(&result->fact[i]);
	free(result->fact);
	free(result->series);
	free(result->directory);
}
