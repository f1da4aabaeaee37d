#include "results/compare/fleet.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/compare/contest.h"
#include "results/record/series.h"

/* What was swept, "steal=half batch=1"; for the caller to free, NULL: no memory. */
static char *swept_text(const struct sb_series *series)
{
	const char *before = "";
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	for (uint32_t i = 0; i < series->settings; i++) {
		if (!series->setting[i].swept)
			continue;
		fprintf(out, "%s%s=%s", before, series->setting[i].name, series->setting[i].text);
		before = " ";
	}
	fclose(out);
	return text;
}

/* ---- the settings of one machine ---- */

struct setting {
	char *name;
	double value;
	bool is_default;
};

struct machine {
	struct setting *setting; /* [settings], by name */
	uint32_t settings;
	double best; /* of those that all machines have */
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct setting *)a)->name, ((const struct setting *)b)->name);
}

/* As in the sweep's headline; NaN: it has too few repetitions to lead. */
static double estimate_of(const struct sb_result *result, uint32_t series, enum sb_metric_id metric)
{
	const struct sb_series **all = calloc(result->all_series, sizeof(const struct sb_series *));
	struct sb_contest contest = { .n = 0 };
	double estimate = NAN;
	uint32_t own = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < result->all_series && all; i++) {
		if (!sb_contest_is_one(result, &result->series[series], &result->series[i]))
			continue;
		own = i == series ? n : own;
		all[n++] = &result->series[i];
	}
	if (n && !sb_contest_make(&contest, all, n, metric) &&
	    (contest.rank[own].n >= SB_RANKING_ROUNDS || contest.rounds < SB_RANKING_ROUNDS))
		estimate = sb_contest_estimate(&contest, own);
	sb_contest_free(&contest);
	free(all);
	return estimate;
}

static int read_machine(struct machine *machine, const struct sb_result *result,
			const char *workload, enum sb_metric_id metric)
{
	machine->setting = calloc(result->all_series + 1, sizeof(*machine->setting));
	if (!machine->setting)
		return -ENOMEM;
	for (uint32_t i = 0; i < result->all_series; i++) {
		struct setting *setting = &machine->setting[machine->settings];

		if (strcmp(result->series[i].workload, workload) != 0)
			continue;
		setting->name = swept_text(&result->series[i]);
		if (!setting->name)
			return -ENOMEM;
		setting->value = estimate_of(result, i, metric);
		setting->is_default = sb_series_is_default(&result->series[i], result);
		machine->settings++;
	}
	qsort(machine->setting, machine->settings, sizeof(*machine->setting), by_name);
	return 0;
}

/* NULL: it has no value there. */
static const struct setting *find(const struct machine *machine, const char *name)
{
	const struct setting key = { .name = (char *)(uintptr_t)name };
	const struct setting *found = bsearch(&key, machine->setting, machine->settings,
					      sizeof(*machine->setting), by_name);

	return found && found->value > 0 ? found : NULL;
}

/* ---- one workload over all machines ---- */

struct work {
	const struct sb_result *result; /* [results] */
	struct machine *machine;	/* [results] */
	uint32_t results;
	enum sb_metric_id metric;
	const struct setting **common; /* [commons] of the first machine; all others have it, too */
	uint32_t commons;
};

/* Of settings that are equal, the default. */
static bool is_better(const struct work *w, const struct setting *a, const struct setting *b)
{
	if (a->value == b->value)
		return a->is_default && !b->is_default;
	return sb_metric[w->metric].better == SB_HIGHER ? a->value > b->value : a->value < b->value;
}

static bool is_everywhere(const struct work *w, const char *name)
{
	for (uint32_t m = 0; m < w->results; m++) {
		if (!find(&w->machine[m], name))
			return false;
	}
	return true;
}

static int find_common(struct work *w)
{
	const struct machine *first = &w->machine[0];

	w->common = calloc(first->settings + 1, sizeof(*w->common));
	if (!w->common)
		return -ENOMEM;
	for (uint32_t i = 0; i < first->settings; i++) {
		if (is_everywhere(w, first->setting[i].name))
			w->common[w->commons++] = &first->setting[i];
	}
	return 0;
}

static const struct setting *best_on(const struct work *w, uint32_t machine)
{
	const struct setting *best = NULL;

	for (uint32_t i = 0; i < w->commons; i++) {
		const struct setting *setting = find(&w->machine[machine], w->common[i]->name);

		if (!best || is_better(w, setting, best))
			best = setting;
	}
	return best;
}

/* The sum of the logarithms of its ratios to each machine's best. */
static double distance(const struct work *w, const char *name)
{
	double sum = 0;

	for (uint32_t m = 0; m < w->results; m++)
		sum += fabs(log(find(&w->machine[m], name)->value / w->machine[m].best));
	return sum;
}

static const char *best_of_all(const struct work *w)
{
	const struct setting *best = w->common[0];
	double least = distance(w, best->name);

	for (uint32_t i = 1; i < w->commons; i++) {
		const struct setting *setting = w->common[i];
		const double at = distance(w, setting->name);

		if (at < least || (at == least && setting->is_default && !best->is_default))
			best = setting;
		least = fmin(at, least);
	}
	return best->name;
}

static int fill_in(struct work *w, struct sb_fleet_table *table)
{
	const char *overall;

	table->row = calloc(w->results, sizeof(*table->row));
	if (!table->row)
		return -ENOMEM;
	for (uint32_t m = 0; m < w->results; m++) {
		const struct setting *best = best_on(w, m);

		w->machine[m].best = best->value;
		table->row[m] = (struct sb_fleet_row){ .result = &w->result[m],
						       .best = strdup(best->name),
						       .best_value = best->value };
		if (!table->row[m].best)
			return -ENOMEM;
	}
	overall = best_of_all(w);
	table->overall = strdup(overall);
	for (uint32_t m = 0; m < w->results; m++) {
		struct sb_fleet_row *row = &table->row[m];

		row->overall_value = find(&w->machine[m], overall)->value;
		row->ratio = row->overall_value / row->best_value;
	}
	return table->overall ? 0 : -ENOMEM;
}

static int read_work(struct work *w, const char *workload)
{
	int rc = 0;

	w->machine = calloc(w->results, sizeof(*w->machine));
	if (!w->machine)
		return -ENOMEM;
	for (uint32_t m = 0; m < w->results && !rc; m++)
		rc = read_machine(&w->machine[m], &w->result[m], workload, w->metric);
	return rc ? rc : find_common(w);
}

static void free_work(struct work *w)
{
	for (uint32_t m = 0; w->machine && m < w->results; m++) {
		for (uint32_t i = 0; i < w->machine[m].settings; i++)
			free(w->machine[m].setting[i].name);
		free(w->machine[m].setting);
	}
	free(w->machine);
	free(w->common);
}

/* ---- all of them ---- */

static bool is_there(const struct sb_fleet *fleet, const char *workload)
{
	for (uint32_t i = 0; i < fleet->tables; i++) {
		SB_CHECK(fleet->table[i].workload != NULL, ==, true);
		if (!strcmp(fleet->table[i].workload, workload))
			return true;
	}
	return false;
}

/* The first objective by which the sweep ranked. */
static enum sb_metric_id objective_of(const struct sb_result *result, const char *workload)
{
	enum sb_metric_id metric[SB_OBJECTIVES_MAX];
	const char *text = sb_result_fact(result, "objectives", workload);

	return sb_metric_list(text, metric, SB_OBJECTIVES_MAX) ? metric[0] : SB_METRIC_ns_per_op;
}

static int add_workload(struct sb_fleet *fleet, const struct sb_result *result,
			const char *workload)
{
	struct work w = { .result = result,
			  .results = fleet->results,
			  .metric = objective_of(result, workload) };
	int rc = read_work(&w, workload);

	if (!rc && w.commons > 1) {
		fleet->table[fleet->tables] =
			(struct sb_fleet_table){ .workload = workload, .metric = w.metric };
		rc = fill_in(&w, &fleet->table[fleet->tables++]);
	}
	free_work(&w);
	return rc;
}

static bool is_a_sweep(const struct sb_result *result)
{
	return *sb_result_fact(result, "sweep", "configurations");
}

int sb_fleet_make(struct sb_fleet *fleet, const struct sb_result *result, uint32_t results)
{
	int rc = 0;

	*fleet = (struct sb_fleet){ .results = results };
	for (uint32_t m = 0; m < results; m++) {
		if (!is_a_sweep(&result[m]) || results < 2)
			return 0;
	}
	fleet->table = calloc(result->all_series + 1, sizeof(*fleet->table));
	if (!fleet->table)
		return -ENOMEM;
	for (uint32_t i = 0; i < result->all_series && !rc; i++) {
		if (!is_there(fleet, result->series[i].workload))
			rc = add_workload(fleet, result, result->series[i].workload);
	}
	return rc;
}

void sb_fleet_free(struct sb_fleet *fleet)
{
	for (uint32_t i = 0; i < fleet->tables; i++) {
		for (uint32_t m = 0; fleet->table[i].row && m < fleet->results; m++)
			free(fleet->table[i].row[m].best);
		free(fleet->table[i].row);
		free(fleet->table[i].overall);
	}
	free(fleet->table);
	*fleet = (struct sb_fleet){ .results = 0 };
}

/* ---- what was found ---- */

const char *sb_fleet_machine_name(const struct sb_result *result)
{
	const bool is_native = !strcmp(sb_result_topology(result), "native");
	const char *name = sb_result_fact(result, is_native ? "machine" : "profile",
					  is_native ? "cpu_model" : "name");

	return *name ? name : "unknown machine";
}

double sb_fleet_loss(const struct sb_fleet_row *row)
{
	return 100 * fabs(row->ratio - 1);
}

char *sb_fleet_answer(const struct sb_fleet_table *table, uint32_t results)
{
	const struct sb_fleet_row *worst = &table->row[0];
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	for (uint32_t m = 1; m < results; m++) {
		if (sb_fleet_loss(&table->row[m]) > sb_fleet_loss(worst))
			worst = &table->row[m];
	}
	fprintf(out, "%s: over all machines %s has the %s %s", table->workload, table->overall,
		sb_metric[table->metric].better == SB_HIGHER ? "highest" : "lowest",
		sb_metric[table->metric].name);
	if (sb_fleet_loss(worst) < 0.05)
		fputs(", as on each of them", out);
	else
		fprintf(out, "; at worst it is %.2g %% from a machine's own (%s: %s)",
			sb_fleet_loss(worst), sb_fleet_machine_name(worst->result), worst->best);
	fclose(out);
	return text;
}
