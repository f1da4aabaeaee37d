#include "harness/calibrate/costs.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/terminal/progress.h"
#include "results/files/table.h"
#include "results/files/wrap.h"
#include "results/json/json_out.h"
#include "results/text/escape.h"

static const struct {
	const char *name;
	const char *unit;
	const char *doc;
} info[SB_COSTS] = {
#define COST(name, unit, doc) [SB_COST_##name] = { #name, unit, doc },
#include "harness/calibrate/costs.def"
#undef COST
};

#define P99_SAMPLES_MIN 100

void sb_calibration_add(struct sb_calibration *c, enum sb_cost_id id, const char *of,
			double *sample, uint32_t samples)
{
	struct sb_cost *cost;

	if (!samples)
		return;
	cost = reallocarray(c->cost, c->costs + 1, sizeof(*cost));
	if (!cost) {
		c->no_memory = true;
		return;
	}
	c->cost = cost;
	cost += c->costs++;
	*cost = (struct sb_cost){
		.id = id,
		.spread = sb_spread_of(sample, samples),
		.p99 = samples < P99_SAMPLES_MIN ? NAN : sb_quantile_of(sample, samples, 0.99),
	};
	snprintf(cost->of, sizeof(cost->of), "%s", of);
}

void sb_calibration_add_one(struct sb_calibration *c, enum sb_cost_id id, const char *of,
			    double value)
{
	if (!isnan(value))
		sb_calibration_add(c, id, of, &value, 1);
}

double sb_calibration_median(const struct sb_calibration *c, enum sb_cost_id id, const char *of)
{
	const size_t length = strlen(of);

	for (uint32_t i = 0; i < c->costs; i++) {
		const struct sb_cost *cost = &c->cost[i];

		if (cost->id == id && !strncmp(cost->of, of, length) &&
		    (!cost->of[length] || cost->of[length] == ' '))
			return cost->spread.median;
	}
	return NAN;
}

void sb_calibration_free(struct sb_calibration *c)
{
	free(c->cost);
	free(c->cpu);
}

/* ---- the columns, for all three forms ---- */

#define COLUMNS 6

static const char *const column[COLUMNS] = { "median", "min", "q1", "q3", "p99", "max" };

static void fill_columns(const struct sb_cost *cost, double value[COLUMNS])
{
	const struct sb_spread *s = &cost->spread;

	value[0] = s->median;
	value[1] = s->min;
	value[2] = s->q1;
	value[3] = s->q3;
	value[4] = cost->p99;
	value[5] = s->max;
}

int sb_calibration_write_csv(const struct sb_calibration *c, FILE *out)
{
	double value[COLUMNS];

	fputs("name,of,unit,samples", out);
	for (int i = 0; i < COLUMNS; i++)
		fprintf(out, ",%s", column[i]);
	fputc('\n', out);
	for (uint32_t r = 0; r < c->costs; r++) {
		const struct sb_cost *cost = &c->cost[r];

		fill_columns(cost, value);
		fprintf(out, "%s,", info[cost->id].name);
		sb_csv_put_text(out, cost->of);
		fprintf(out, ",%s,%" PRIu32, info[cost->id].unit, cost->spread.n);
		for (int i = 0; i < COLUMNS; i++) {
			fputc(',', out);
			if (!isnan(value[i]))
				fprintf(out, "%.9g", value[i]);
		}
		fputc('\n', out);
	}
	return 0;
}

static json_t *cost_to_json(const struct sb_cost *cost)
{
	double value[COLUMNS];
	json_t *row = json_pack("{sssssssssi}", "name", info[cost->id].name, "of", cost->of, "unit",
				info[cost->id].unit, "meaning", info[cost->id].doc, "samples",
				(int)cost->spread.n);

	fill_columns(cost, value);
	for (int i = 0; i < COLUMNS; i++) {
		if (!isnan(value[i]))
			json_object_set_new(row, column[i], json_real(value[i]));
	}
	return row;
}

int sb_calibration_write_json(const struct sb_calibration *c, FILE *out)
{
	json_t *rows = json_array();
	json_t *root;
	bool ok = true;
	int rc;

	for (uint32_t r = 0; r < c->costs; r++)
		ok &= !json_array_append_new(rows, cost_to_json(&c->cost[r]));
	root = json_pack("{s{sssssb}sisbsssbso*so}", "clock", "source", c->clock.source, "reason",
			 c->clock.reason, "is_counter", c->clock.is_counter, "cpus", (int)c->cpus,
			 "quick", c->quick, "note", c->note, "disturbed",
			 sb_calibration_is_disturbed(c), "load_average",
			 isnan(c->load) ? NULL : json_real(c->load), "costs", rows);
	if (!root || !ok) {
		json_decref(root);
		return -ENOMEM;
	}
	rc = sb_json_put(root, out, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
	fputc('\n', out);
	return rc;
}

/* ---- the table ---- */

/* Four digits, but whole numbers up to a billion as they are. */
static void add_number(struct sb_table *table, double value)
{
	if (isnan(value))
		sb_table_cell(table, "-");
	else
		sb_table_cell(table, fabs(value) >= 1000 ? "%.0f" : "%.4g", value);
}

static void put_clock(const struct sb_clock_info *clock, FILE *out)
{
	if (clock->is_counter)
		fprintf(out,
			"clock: %s, %.0f Hz within %.2f ppm; the CPUs' counters agree within %.0f "
			"ns\n",
			clock->source, clock->hz, clock->error_ppm, clock->offset_bound_ns);
	else
		fprintf(out, "clock: %s; the processor's counter (%s) cannot be trusted: %s\n",
			clock->source, SB_CLOCK_COUNTER, sb_terminal_text(clock->reason));
}

static void put_costs(const struct sb_calibration *c, FILE *out, int columns)
{
	static const char *const numbers[] = { "median", "q1", "q3", "p99" };
	struct sb_table table = { .keys = 2 };

	sb_table_column(&table, "cost", SB_TABLE_LEFT, 0);
	sb_table_column(&table, "of", SB_TABLE_LEFT, 0);
	for (size_t i = 0; i < SB_ARRAY_SIZE(numbers); i++)
		sb_table_column(&table, numbers[i], 0, 8);
	sb_table_column(&table, "samples", 0, 0);
	for (uint32_t r = 0; r < c->costs; r++) {
		const struct sb_cost *cost = &c->cost[r];

		/* The first line has these. */
		if (cost->id <= SB_COST_clock_offset_bound_ns)
			continue;
		sb_table_cell(&table, "%s", info[cost->id].name);
		sb_table_cell(&table, "%s", cost->of);
		add_number(&table, cost->spread.median);
		add_number(&table, cost->spread.q1);
		add_number(&table, cost->spread.q3);
		add_number(&table, cost->p99);
		sb_table_cell(&table, "%" PRIu32, cost->spread.n);
	}
	sb_table_put(&table, out, columns, NULL);
}

static void put_pretty(const struct sb_calibration *c, FILE *out, int columns)
{
	put_clock(&c->clock, out);
	fputc('\n', out);
	put_costs(c, out, columns);
	if (*c->note)
		fprintf(out, "\n%s\n", sb_terminal_text(c->note));
	if (sb_calibration_is_disturbed(c))
		fprintf(out,
			"\nThe load average is %.1f on %" PRIu32
			" CPUs: other programs ran, and made these figures larger.\n",
			c->load, c->cpus);
}

int sb_calibration_write_pretty(const struct sb_calibration *c, FILE *out)
{
	int columns = sb_terminal_width(out);
	struct sb_wrap wrap;

	put_pretty(c, sb_wrap_begin(&wrap, out, &columns), columns);
	sb_wrap_end(&wrap);
	return 0;
}
