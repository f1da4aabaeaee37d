#include "core/worker/distance.h"
#include "results/files/summary.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "results/files/answer.h"
#include "results/files/summary_virtual.h"
#include "results/files/table.h"
#include "results/files/wrap.h"
#include "results/record/number.h"
#include "results/record/record.h"
#include "results/record/series.h"
#include "results/text/escape.h"

/*
 * The columns of the two tables: a metric's median each, but for the two that
 * show more (metric SB_METRICS).
 */
struct column {
	const char *title;
	int width;
	enum sb_metric_id metric;
	void (*put)(char *out, const struct sb_series *series);
	bool joins; /* stands beside the one before */
};

static void put_range(char *out, const struct sb_series *series)
{
	const struct sb_spread ns = sb_series_spread(series, SB_METRIC_ns_per_op);

	if (ns.n)
		sb_human_ns_range(out, &ns);
	else
		snprintf(out, SB_RANGE_BYTES, "-");
}

static void put_valid(char *out, const struct sb_series *series)
{
	const uint32_t suspect = sb_series_count(series, SB_SUSPECT);
	char also[16] = "";

	if (suspect)
		snprintf(also, sizeof(also), "+%" PRIu32, suspect);
	snprintf(out, SB_HUMAN_BYTES, "%" PRIu32 "%s/%" PRIu32, sb_series_count(series, SB_VALID),
		 also, series->records);
}

static const struct column costs[] = {
	{ "op/s", 7, SB_METRIC_ops_per_s, NULL, false },
	{ "time/op [min .. max]", 26, SB_METRICS, put_range, false },
	{ "CPU/op", 7, SB_METRIC_cpu_ns_per_op, NULL, false },
	{ "valid", 5, SB_METRICS, put_valid, false },
	{ "queue50", 7, SB_METRIC_ready_to_running_ns_p50, NULL, false },
	{ "queue99", 7, SB_METRIC_ready_to_running_ns_p99, NULL, true },
	{ "send50", 7, SB_METRIC_send_to_step_ns_p50, NULL, false },
	{ "send99", 7, SB_METRIC_send_to_step_ns_p99, NULL, true },
};

static const struct column sources[] = {
	{ "steps", 7, SB_METRIC_steps, NULL, false },
	{ "direct", 7, SB_METRIC_direct_steps, NULL, false },
	{ "local", 7, SB_METRIC_local_pops, NULL, false },
	{ "inject", 7, SB_METRIC_inject_items, NULL, false },
	{ "global", 7, SB_METRIC_global_items, NULL, false },
	{ "stolen", 7, SB_METRIC_steal_items, NULL, false },
	{ "steals", 7, SB_METRIC_steal_successes, NULL, false },
	{ "tried", 7, SB_METRIC_steal_attempts, NULL, false },
	{ "idle", 7, SB_METRIC_idle_episodes, NULL, false },
	{ "spins", 6, SB_METRIC_spins_mean, NULL, false },
	{ "parks", 7, SB_METRIC_blocks, NULL, false },
	{ "wakes", 7, SB_METRIC_wakes, NULL, false },
};

/* What busy time is split into, from the steps that were timed: with its standard error. */
static void put_part(char *out, const struct sb_series *series, enum sb_metric_id metric)
{
	const double mean = sb_series_mean(series, metric);
	const double error = sb_series_mean(series, SB_METRIC_work_pct_error);

	if (error >= 0.5)
		snprintf(out, SB_HUMAN_BYTES, "%.0f+-%.0f", mean, error);
	else
		sb_human(out, mean, sb_metric[metric].unit);
}

static void put_work(char *out, const struct sb_series *series)
{
	put_part(out, series, SB_METRIC_work_pct);
}

static void put_scheduler(char *out, const struct sb_series *series)
{
	put_part(out, series, SB_METRIC_scheduler_pct);
}

/* In percent of all workers' time. */
static const struct column times_spent[] = {
	{ "busy", 5, SB_METRIC_busy_pct, NULL, false },
	{ "work", 5, SB_METRICS, put_work, false },
	{ "sched", 5, SB_METRICS, put_scheduler, false },
	{ "steal", 5, SB_METRIC_steal_ok_pct, NULL, false },
	{ "in vain", 7, SB_METRIC_steal_failed_pct, NULL, false },
	{ "spin", 5, SB_METRIC_spin_pct, NULL, false },
	{ "parked", 6, SB_METRIC_blocked_pct, NULL, false },
	{ "record", 6, SB_METRIC_harness_pct, NULL, false },
	{ "rest", 5, SB_METRIC_unaccounted_pct, NULL, false },
	{ "own", 5, SB_METRIC_run_delay_own_pct, NULL, false },
};

static bool have(const struct sb_result *result, enum sb_metric_id metric)
{
	for (uint32_t i = 0; i < result->all_series; i++) {
		if (sb_series_spread(&result->series[i], metric).n)
			return true;
	}
	return false;
}

static void put_cell(struct sb_table *table, const struct column *column,
		     const struct sb_series *series, bool is_mean)
{
	char text[SB_RANGE_BYTES];

	if (column->put)
		column->put(text, series);
	else
		sb_human(text,
			 is_mean ? sb_series_mean(series, column->metric)
				 : sb_series_spread(series, column->metric).median,
			 sb_metric[column->metric].unit);
	sb_table_cell(table, "%s", text);
}

struct table {
	const char *title;
	const struct column *column;
	size_t columns;
	bool is_mean; /* of the repetitions, so that parts add up; else their median */
};

static const struct table cost_table = { "workload", costs, SB_ARRAY_SIZE(costs), false };
static const struct table source_table = { "workload", sources, SB_ARRAY_SIZE(sources), false };
static const struct table time_table = { "time, %", times_spent, SB_ARRAY_SIZE(times_spent), true };

/* In the table of costs each series, in the others those that have numbers. */
static void put_table(FILE *out, const struct sb_result *result, const struct table *shown,
		      int columns, const char *bold)
{
	struct sb_table table = { .keys = 1 };

	sb_table_column(&table, shown->title, SB_TABLE_LEFT, 9);
	for (size_t c = 0; c < shown->columns; c++)
		sb_table_column(&table, shown->column[c].title,
				shown->column[c].joins ? SB_TABLE_JOINS : 0,
				shown->column[c].width);
	for (uint32_t i = 0; i < result->all_series; i++) {
		const struct sb_series *series = &result->series[i];
		char title[SB_SERIES_TITLE_BYTES];

		if (shown != &cost_table && !sb_series_measured(series))
			continue;
		sb_series_title(title, series);
		sb_table_cell(&table, "%s", sb_terminal_text(title));
		for (size_t c = 0; c < shown->columns; c++)
			put_cell(&table, &shown->column[c], series, shown->is_mean);
	}
	fputc('\n', out);
	sb_table_put(&table, out, columns, bold);
}

/* mean: the first metric of such a latency. */
static void put_wakes(FILE *out, const struct sb_series *series, enum sb_metric_id mean,
		      const char *what)
{
	static const int shown[] = { SB_LATENCY_P50, SB_LATENCY_P99, SB_LATENCY_MAX };
	char title[SB_SERIES_TITLE_BYTES];
	char text[SB_ARRAY_SIZE(shown)][SB_HUMAN_BYTES];

	if (!sb_series_spread(series, mean).n)
		return;
	sb_series_title(title, series);
	for (size_t i = 0; i < SB_ARRAY_SIZE(shown); i++)
		sb_human(text[i], sb_series_latency(series, mean, shown[i]).median, "ns");
	fprintf(out, "%s: %s %s (median), %s (p99), %s (max)\n", sb_terminal_text(title), what,
		text[0], text[1], text[2]);
}

static void put_submissions(FILE *out, const struct sb_series *series)
{
	char title[SB_SERIES_TITLE_BYTES];
	char range[SB_RANGE_BYTES];
	const struct sb_spread ns = sb_series_spread(series, SB_METRIC_submit_ns_per_op);

	if (!ns.n)
		return;
	sb_series_title(title, series);
	sb_human_ns_range(range, &ns);
	fprintf(out, "%s: of the time per operation, %s until the last was submitted\n",
		sb_terminal_text(title), range);
}

static void put_memory(FILE *out, const struct sb_series *series)
{
	char title[SB_SERIES_TITLE_BYTES];
	const struct sb_spread bytes = sb_series_spread(series, SB_METRIC_bytes_per_process);

	sb_series_title(title, series);
	if (bytes.n)
		fprintf(out, "%s: %.0f bytes per process [%.0f .. %.0f]\n", sb_terminal_text(title),
			bytes.median, bytes.min, bytes.max);
}

/* Metrics that only some workloads measure. */
static void put_measured(FILE *out, const struct sb_series *series)
{
	put_memory(out, series);
	put_submissions(out, series);
	put_wakes(out, series, SB_METRIC_wake_ns_mean, "woken within");
	put_wakes(out, series, SB_METRIC_wake_long_step_ns_mean, "woken by long steps within");
}

/* ---- requests: a line for each way to their sojourn ---- */

static const struct {
	const char *name;
	enum sb_metric_id mean; /* the other five follow */
} sojourns[] = {
	{ "measured", SB_METRIC_sojourn_ns_mean },
	{ "replayed", SB_METRIC_replayed_ns_mean },
	{ "ideal", SB_METRIC_ideal_ns_mean },
};

static void put_sojourn(FILE *out, const struct sb_series *series, size_t i)
{
	char text[SB_HUMAN_BYTES];

	if (!sb_series_spread(series, sojourns[i].mean).n)
		return;
	fprintf(out, "  %-10s", sojourns[i].name);
	for (int m = 0; m < 6; m++) {
		sb_human(text, sb_series_latency(series, sojourns[i].mean, m).median, "ns");
		fprintf(out, "  %8s", text);
	}
	fputc('\n', out);
}

static void put_offered(FILE *out, const struct sb_series *series)
{
	const struct sb_spread capacity = sb_series_spread(series, SB_METRIC_capacity_per_s);
	const struct sb_interval interval = sb_series_sojourn(series);
	char rate[SB_HUMAN_BYTES];
	char mean[SB_HUMAN_BYTES];
	char low[SB_HUMAN_BYTES];
	char high[SB_HUMAN_BYTES];

	sb_human(rate, sb_series_spread(series, SB_METRIC_offered_per_s).median, "1/s");
	fprintf(out, "%s: %s requests per second, ", sb_terminal_text(series->workload), rate);
	sb_human(rate, capacity.median, "1/s");
	if (capacity.n)
		fprintf(out, "the capacity being %s, ", rate);
	fprintf(out, "%.2f %% of them submitted in time\n",
		sb_series_spread(series, SB_METRIC_adherence_pct).median);
	if (isnan(interval.low))
		return;
	sb_human(mean, (interval.low + interval.high) / 2, "ns");
	sb_human(low, interval.low, "ns");
	sb_human(high, interval.high, "ns");
	sb_human(rate, sb_series_spread(series, SB_METRIC_achieved_per_s).median, "1/s");
	fprintf(out,
		"%s: %s completed per second; mean sojourn time %s, 95 %% interval [%s .. %s]\n",
		sb_terminal_text(series->workload), rate, mean, low, high);
}

static void put_sojourns(FILE *out, const struct sb_series *series, const char *bold,
			 const char *plain)
{
	static const char *const titles[] = { "mean", "p50", "p90", "p99", "p99.9", "max" };

	if (!sb_series_spread(series, SB_METRIC_sojourn_ns_mean).n)
		return;
	fprintf(out, "\n%s%-12s", bold, "sojourn");
	for (size_t t = 0; t < SB_ARRAY_SIZE(titles); t++)
		fprintf(out, "  %8s", titles[t]);
	fprintf(out, "%s\n", plain);
	for (size_t i = 0; i < SB_ARRAY_SIZE(sojourns); i++)
		put_sojourn(out, series, i);
	if (sb_series_spread(series, SB_METRIC_offered_per_s).n)
		put_offered(out, series);
}

/* The metrics that its workload declares, a line each. */
static void put_own(FILE *out, const struct sb_series *series, const char *bold, const char *plain)
{
	bool any = false;

	for (enum sb_metric_id m = SB_METRICS_BUILT_IN; m < sb_metrics(); m++) {
		const struct sb_spread spread = sb_series_spread(series, m);
		char median[SB_HUMAN_BYTES];
		char min[SB_HUMAN_BYTES];
		char max[SB_HUMAN_BYTES];

		if (!spread.n)
			continue;
		if (!any)
			fprintf(out, "\n%s%-24s    median  [min .. max]%s\n", bold,
				sb_terminal_text(series->workload), plain);
		any = true;
		sb_human(median, spread.median, sb_metric[m].unit);
		sb_human(min, spread.min, sb_metric[m].unit);
		sb_human(max, spread.max, sb_metric[m].unit);
		fprintf(out, "  %-22s  %8s  [%s .. %s]\n", sb_metric[m].name, median, min, max);
	}
}

/* On which nodes the workers' memory lies, where there is more than one. */
static void put_residence(FILE *out, const struct sb_result *result, const struct sb_series *series)
{
	char title[SB_SERIES_TITLE_BYTES];
	struct sb_page_count sum = { 0 };

	sb_series_title(title, series);
	if (series->placement.nodes < 2)
		return;
	for (uint32_t i = 0; series->residence && i < series->placement.workers; i++) {
		const struct sb_page_count *arena = &series->residence[i].kind[SB_MEMORY_ARENA];

		sum.own += arena->own;
		sum.other += arena->other;
	}
	if (sum.own + sum.other)
		fprintf(out,
			"%s: %.1f %% of the workers' memory is on their own nodes (binding: %s)\n",
			sb_terminal_text(title),
			100.0 * (double)sum.own / (double)(sum.own + sum.other),
			sb_series_binding(series, result));
}

/* A line for each distance that there is. */
static void put_distances(FILE *out, const struct sb_series *series,
			  const struct sb_distance_steals *steals)
{
	char title[SB_SERIES_TITLE_BYTES];

	sb_series_title(title, series);
	for (int d = 0; d < SB_DISTANCES; d++) {
		const double values[] = { steals[d].attempts, steals[d].successes,
					  steals[d].items };

		if (!steals[d].pairs)
			continue;
		fprintf(out, "%-9s  %-8s", sb_terminal_text(title),
			sb_distance_name((enum sb_distance)d));
		for (size_t c = 0; c < SB_ARRAY_SIZE(values); c++) {
			char text[SB_HUMAN_BYTES];

			sb_human(text, values[c], "count");
			fprintf(out, "  %7s", text);
		}
		fputc('\n', out);
	}
}

/* Steals by distance, where there is more than one. */
static void put_all_distances(FILE *out, const struct sb_result *result, const char *bold,
			      const char *plain)
{
	bool any = false;

	for (uint32_t i = 0; i < result->all_series; i++) {
		const struct sb_series *series = &result->series[i];
		struct sb_distance_steals steals[SB_DISTANCES];

		if (sb_series_distances(series, steals) < 2)
			continue;
		if (!any)
			fprintf(out, "\n%sworkload   distance    tried   steals   stolen%s\n", bold,
				plain);
		any = true;
		put_distances(out, series, steals);
	}
}

/* Of suspect repetitions the terminal names so many of a workload. */
#define SUSPECTS_NAMED 3

/* Everything that is not valid, with the reason. */
static void put_doubts(FILE *out, const struct sb_series *series, const char *red,
		       const char *plain)
{
	char title[SB_SERIES_TITLE_BYTES];
	uint32_t suspects = 0;

	sb_series_title(title, series);
	for (uint32_t r = 0; r < series->records; r++) {
		const struct sb_record *record = &series->record[r];

		suspects += record->verdict == SB_SUSPECT;
		if (record->verdict == SB_VALID || record->verdict == SB_ONLY_EMULATED ||
		    (record->verdict == SB_SUSPECT && suspects > SUSPECTS_NAMED))
			continue;
		fprintf(out, "%s%s, repetition %" PRIu32 ": %s (%s)%s\n", red,
			sb_terminal_text(title), record->repetition,
			sb_verdict_name(record->verdict), sb_terminal_text(record->reason), plain);
	}
	if (suspects > SUSPECTS_NAMED)
		fprintf(out, "%s%s: %" PRIu32 " more are suspect%s\n", red, sb_terminal_text(title),
			suspects - SUSPECTS_NAMED, plain);
}

/* First of all, in bold: what was found; reasons as they are. */
static void put_answer(FILE *out, const struct sb_result *result, const char *bold,
		       const char *plain)
{
	const char *answer = sb_answer_of(result);

	sb_answer_put(out, answer, bold, plain);
	if (*answer)
		fputc('\n', out);
}

/* The machine that the times are of. */
static void put_machine(FILE *out, const struct sb_result *result)
{
	sb_summary_put_virtual(out, result);
	if (!strcmp(sb_result_topology(result), "virtual"))
		return;
	fputs(sb_terminal_text(sb_result_fact(result, "machine", "cpu_model")), out);
	sb_summary_put_counts(out, result, "machine");
	sb_summary_put_count(out, result, "run", "; ", "workers", "worker");
	fprintf(out, ", %s build\n", sb_terminal_text(sb_result_fact(result, "run", "build_mode")));
	if (strcmp(sb_result_topology(result), "emulated") != 0)
		return;
	fprintf(out, "emulated: profile '%s'",
		sb_terminal_text(sb_result_fact(result, "profile", "name")));
	sb_summary_put_counts(out, result, "profile");
	fputs("; workers are not pinned\n", out);
}

/* What the layout asks for. */
static void put_conditions(FILE *out, const struct sb_result *result)
{
	for (uint32_t i = 0; i < result->facts; i++) {
		if (strcmp(result->fact[i].group, "conditions") != 0)
			continue;
		fprintf(out, "%s: ", sb_terminal_text(result->fact[i].key));
		fprintf(out, "%s\n", sb_terminal_text(result->fact[i].value));
	}
}

/* ---- lines that are too long ---- */

static void put_summary(const struct sb_result *result, FILE *out, bool color, int columns)
{
	const char *bold = color ? "\033[1m" : "";
	const char *red = color ? "\033[31m" : "";
	const char *plain = color ? "\033[0m" : "";

	put_answer(out, result, bold, plain);
	put_machine(out, result);
	put_conditions(out, result);
	put_table(out, result, &cost_table, columns, bold);
	if (have(result, SB_METRIC_steps))
		put_table(out, result, &source_table, columns, bold);
	if (have(result, SB_METRIC_busy_pct))
		put_table(out, result, &time_table, columns, bold);
	put_all_distances(out, result, bold, plain);
	for (uint32_t i = 0; i < result->all_series; i++) {
		put_sojourns(out, &result->series[i], bold, plain);
		put_own(out, &result->series[i], bold, plain);
	}
	for (uint32_t i = 0; i < result->all_series; i++)
		sb_summary_put_waiting(out, &result->series[i], bold, plain);
	fputc('\n', out);
	for (uint32_t i = 0; i < result->all_series; i++)
		put_measured(out, &result->series[i]);
	for (uint32_t i = 0; i < result->all_series; i++)
		put_residence(out, result, &result->series[i]);
	for (uint32_t i = 0; i < result->all_series; i++)
		put_doubts(out, &result->series[i], red, plain);
}

void sb_write_summary(const struct sb_result *result, FILE *out, bool color, int columns)
{
	struct sb_wrap wrap;
	FILE *stream = sb_wrap_begin(&wrap, out, &columns);

	put_summary(result, stream, color, columns);
	sb_wrap_end(&wrap);
}
