#include "harness/sweep/table.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/sweep/ranked.h"
#include "results/files/table.h"
#include "results/record/number.h"
#include "results/record/record.h"
#include "results/record/series.h"
#include "results/record/validity.h"
#include "results/text/escape.h"

static void put_metric(char *out, const struct sb_ranked *g, uint32_t i, enum sb_metric_id metric)
{
	sb_human(out, sb_series_spread(sb_ranked_series(g, i), metric).median,
		 sb_metric[metric].unit);
}

static void put_first(char *out, const struct sb_ranked *g, uint32_t i)
{
	sb_contest_cell(out, &g->by[0], i);
}

static void put_second(char *out, const struct sb_ranked *g, uint32_t i)
{
	sb_contest_cell(out, &g->by[1], i);
}

static void put_valid(char *out, const struct sb_ranked *g, uint32_t i)
{
	const struct sb_series *s = sb_ranked_series(g, i);
	const uint32_t suspect = sb_series_count(s, SB_SUSPECT);
	char also[16] = "";

	if (suspect)
		snprintf(also, sizeof(also), "+%" PRIu32, suspect);
	snprintf(out, SB_CONTEST_CELL_BYTES, "%" PRIu32 "%s/%" PRIu32, sb_series_count(s, SB_VALID),
		 also, s->records);
}

static bool is_default(const struct sb_ranked *g, uint32_t i)
{
	return sb_sweep_is_default(g->view->sweep, sb_ranked_configuration(g, i));
}

static void put_first_mark(char *out, const struct sb_ranked *g, uint32_t i)
{
	sb_contest_mark(out, &g->by[0], i);
}

static void put_second_mark(char *out, const struct sb_ranked *g, uint32_t i)
{
	sb_contest_mark(out, &g->by[1], i);
}

static bool any_default(const struct sb_ranked *g)
{
	for (uint32_t i = 0; i < g->n; i++) {
		if (is_default(g, i))
			return true;
	}
	return false;
}

static void put_default(char *out, const struct sb_ranked *g, uint32_t i)
{
	snprintf(out, SB_CONTEST_CELL_BYTES, "%s", is_default(g, i) ? "default" : "");
}

static void put_front(char *out, const struct sb_ranked *g, uint32_t i)
{
	snprintf(out, SB_CONTEST_CELL_BYTES, "%s", sb_ranked_front(g, i));
}

/* Latency and CPU beside each other: what a change of one costs in the other. */
static const struct {
	const char *title;
	enum sb_metric_id metric;
} beside[] = {
	{ "CPU/op", SB_METRIC_cpu_ns_per_op },
	{ "queue50", SB_METRIC_ready_to_running_ns_p50 },
	{ "queue99", SB_METRIC_ready_to_running_ns_p99 },
	{ "wake50", SB_METRIC_wake_ns_p50 },
	{ "wake99", SB_METRIC_wake_ns_p99 },
	{ "sojourn50", SB_METRIC_sojourn_ns_p50 },
	{ "sojourn99", SB_METRIC_sojourn_ns_p99 },
};

static const char *level_of(const struct sb_ranked *g, uint32_t i, uint32_t d)
{
	const uint32_t level = sb_ranked_configuration(g, i)->level[d];

	return level == SB_NO_LEVEL ? "-" : g->view->sweep->dimension[d].value[level];
}

static bool is_objective(const struct sb_ranked *g, enum sb_metric_id metric)
{
	return metric == g->by[0].metric || (g->objectives > 1 && metric == g->by[1].metric);
}

/* A column of the table; put is NULL: a metric's medians. */
struct column {
	const char *title;
	void (*put)(char *out, const struct sb_ranked *g, uint32_t i);
	enum sb_metric_id metric;
};

#define COLUMNS_MAX 16

static uint32_t choose_columns(const struct sb_ranked *g, struct column column[COLUMNS_MAX])
{
	uint32_t n = 0;

	for (uint32_t o = 0; o < g->objectives; o++) {
		column[n++] = (struct column){ sb_metric[g->by[o].metric].name,
					       o ? put_second : put_first, 0 };
		if (sb_ranked_is_ranked(g))
			column[n++] =
				(struct column){ "mark", o ? put_second_mark : put_first_mark, 0 };
	}
	for (size_t i = 0; i < SB_ARRAY_SIZE(beside); i++) {
		if (!is_objective(g, beside[i].metric) && sb_ranked_any_has(g, beside[i].metric))
			column[n++] = (struct column){ beside[i].title, NULL, beside[i].metric };
	}
	column[n++] = (struct column){ "valid", put_valid, 0 };
	if (g->objectives > 1 && sb_ranked_is_ranked(g))
		column[n++] = (struct column){ "front", put_front, 0 };
	if (any_default(g))
		column[n++] = (struct column){ "", put_default, 0 };
	return n;
}

static void put_row(struct sb_table *table, const struct sb_ranked *g, uint32_t i,
		    const struct column *column, uint32_t columns)
{
	char text[SB_CONTEST_CELL_BYTES];

	for (uint32_t d = 0; d < g->view->sweep->dimensions; d++) {
		if (sb_ranked_configuration(g, 0)->level[d] != SB_NO_LEVEL)
			sb_table_cell(table, "%s", level_of(g, i, d));
	}
	for (uint32_t c = 0; c < columns; c++) {
		if (column[c].put)
			column[c].put(text, g, i);
		else
			put_metric(text, g, i, column[c].metric);
		sb_table_cell(table, "%s", text);
	}
}

struct place {
	uint32_t i;
	double estimate;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a;
	const struct place *y = b;

	if (x->estimate == y->estimate || (isnan(x->estimate) && isnan(y->estimate)))
		return (x->i > y->i) - (x->i < y->i);
	return isnan(y->estimate) || x->estimate < y->estimate ? -1 : 1;
}

/* The configurations, the least estimate first, without estimates last; what is not ranked as it is
 * planned. For the caller to free, NULL: no memory. */
static struct place *places_of(const struct sb_ranked *g)
{
	struct place *place = calloc(g->n, sizeof(*place));

	for (uint32_t i = 0; i < g->n && place; i++)
		place[i] = (struct place){ i, sb_ranked_is_ranked(g) ? g->by->rank[i].estimate
								     : (double)NAN };
	if (place)
		qsort(place, g->n, sizeof(*place), compare_places);
	return place;
}

static void put_table(const struct sb_ranked *g, FILE *out)
{
	const struct sb_sweep *sweep = g->view->sweep;
	const uint32_t rounds = g->by->rounds;
	struct column column[COLUMNS_MAX];
	const uint32_t columns = choose_columns(g, column);
	struct place *place = places_of(g);
	struct sb_table table = { .keys = 0 };
	char extra[64] = "";

	for (uint32_t d = 0; d < sweep->dimensions; d++) {
		if (sb_ranked_configuration(g, 0)->level[d] != SB_NO_LEVEL)
			sb_table_column(&table, sweep->dimension[d].name, 0, 0);
	}
	table.keys = table.columns;
	for (uint32_t c = 0; c < columns; c++)
		sb_table_column(&table, column[c].title, 0, 0);
	for (uint32_t n = 0; n < g->n && place; n++)
		put_row(&table, g, place[n].i, column, columns);
	free(place);
	if (rounds > sweep->planned)
		snprintf(extra, sizeof(extra), ", %" PRIu32 " of them to make up for invalid rows",
			 rounds - sweep->planned);
	fprintf(out, "%s, %" PRIu32 " repetition%s%s; medians; of the objective%s the estimate%s\n",
		sb_terminal_text(sb_ranked_series(g, 0)->workload), rounds, rounds == 1 ? "" : "s",
		extra, g->objectives > 1 ? "s" : "",
		g->n > 1 ? " [95 % interval within these rounds]" : "");
	sb_table_put(&table, out, g->view->columns, NULL);
}

/* ---- why rows are missing ---- */

#define REASONS_MAX 5

static void put_reasons(const struct sb_ranked *g, FILE *out)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->n * g->by->rounds; i++) {
		const struct sb_record *record =
			&sb_ranked_series(g, i / g->by->rounds)->record[i % g->by->rounds];

		if (sb_record_has_numbers(record))
			continue;
		if (n++ < REASONS_MAX)
			fprintf(out, "%s, repetition %" PRIu32 ": invalid (%s)\n",
				sb_terminal_text(
					sb_ranked_configuration(g, i / g->by->rounds)->label),
				record->repetition, sb_terminal_text(record->reason));
	}
	if (n > REASONS_MAX)
		fprintf(out, "%s: %" PRIu32 " more are invalid\n",
			sb_terminal_text(sb_ranked_series(g, 0)->workload), n - REASONS_MAX);
}

static void put_all(const struct sb_ranked *g, void *arg)
{
	FILE *out = arg;

	put_table(g, out);
	fputc('\n', out);
	put_reasons(g, out);
}

void sb_sweep_put_tables(const struct sb_sweep_view *view, FILE *out)
{
	sb_ranked_each_group(view, put_all, out);
}

/* ---- for files and pages ---- */

struct ranking_facts {
	struct sb_result *result;
	int rc;
};

/* "ns_per_op 20.4 ns [20.0 ns .. 20.7 ns] | best 3/5", of two objectives both and the front. */
static int add_ranking(const struct sb_ranked *g, uint32_t i, struct sb_result *result)
{
	char text[4 * SB_CONTEST_CELL_BYTES] = "";
	size_t used = 0;

	for (uint32_t o = 0; o < g->objectives; o++) {
		char cell[SB_CONTEST_CELL_BYTES];
		char mark[SB_CONTEST_MARK_BYTES];

		sb_contest_cell(cell, &g->by[o], i);
		sb_contest_mark(mark, &g->by[o], i);
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s %s | %s",
					 o ? " | " : "", sb_metric[g->by[o].metric].name, cell,
					 mark);
	}
	if (g->objectives > 1)
		snprintf(text + used, sizeof(text) - used, " | %s", sb_ranked_front(g, i));
	return sb_result_add_fact(result, "ranking", sb_ranked_configuration(g, i)->label, text);
}

static void add_rankings(const struct sb_ranked *g, void *arg)
{
	struct ranking_facts *facts = arg;
	struct place *place = places_of(g);

	if (!place)
		facts->rc = -ENOMEM;
	for (uint32_t n = 0; n < g->n && !facts->rc && sb_ranked_is_ranked(g); n++)
		facts->rc = add_ranking(g, place[n].i, facts->result);
	free(place);
}

int sb_sweep_add_rankings(const struct sb_sweep_view *view, struct sb_result *result)
{
	struct ranking_facts facts = { result, 0 };

	sb_ranked_each_group(view, add_rankings, &facts);
	return facts.rc;
}
