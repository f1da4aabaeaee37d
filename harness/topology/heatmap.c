#include "core/worker/distance.h"
#include "harness/topology/heatmap.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/heat.h"
#include "harness/terminal/status.h"
#include "results/record/account.h"
#include "results/record/number.h"
#include "results/record/record.h"
#include "results/record/series.h"

#define WHY_BYTES 512

/* ---- the machine ---- */

/* The one that the workers were placed on, if it can be had. */
static int open_machine(const struct sb_result *result, bool emulated,
			struct sb_topology **topology)
{
	const char *group = emulated ? "profile" : "machine";
	const char *name = emulated ? sb_result_fact(result, "profile", "name") : "";
	char fingerprint[24];
	char why[WHY_BYTES];
	int rc = sb_topology_open(topology, name, why, sizeof(why));

	if (rc)
		return sb_fail(SB_EXIT_USAGE,
			       "topology: the machine of the result cannot be had: %s", why);
	snprintf(fingerprint, sizeof(fingerprint), "%016" PRIx64,
		 sb_topology_fingerprint(*topology));
	if (!strcmp(fingerprint, sb_result_fact(result, group, "topology_fingerprint")))
		return 0;
	sb_topology_free(*topology);
	return sb_fail(SB_EXIT_USAGE,
		       "topology: the result is of another machine than %s, or of other CPUs of it",
		       emulated ? name : "this one");
}

/* ---- the values ---- */

/* Of one worker, per repetition; NaN: not recorded. */
static double busy_of(const struct sb_series *series, uint32_t worker)
{
	return sb_series_shares(series, worker).pct[SB_TIME_busy];
}

static double stolen_of(const struct sb_series *series, uint32_t worker)
{
	double items = 0;

	for (uint32_t v = 0; v < series->placement.workers; v++)
		items += (double)sb_series_steals(series, worker, v).items;
	return items / sb_series_measured(series);
}

static const struct measure {
	const char *name;
	const char *legend;
	double (*of)(const struct sb_series *series, uint32_t worker);
	bool is_share; /* in percent; others are shown against the largest */
} measures[] = {
	{ "busy_pct", "time with something to run, %", busy_of, true },
	{ "steal_items", "processes stolen, per repetition", stolen_of, false },
};

static const struct measure *find_measure(const char *name)
{
	if (!*name)
		return measures;
	for (size_t i = 0; i < SB_ARRAY_SIZE(measures); i++) {
		if (!strcmp(measures[i].name, name))
			return &measures[i];
	}
	return NULL;
}

static double largest(const struct sb_series *series, const struct measure *measure)
{
	double most = 0;

	if (measure->is_share)
		return 100;
	for (uint32_t w = 0; w < series->placement.workers; w++)
		most = fmax(most, measure->of(series, w));
	return most > 0 ? most : 1;
}

static void fill_unit(struct sb_heat *heat, const struct sb_series *series,
		      const struct measure *measure, uint32_t worker, double most)
{
	const double v = measure->of(series, worker);
	char text[SB_HUMAN_BYTES];

	heat->of = SB_HEAT_PU;
	heat->index = isnan(v) ? -1 : series->placement.place[worker].pu;
	heat->part = v / most;
	sb_human(text, v, measure->is_share ? "%" : "count");
	snprintf(heat->text, sizeof(heat->text), "%.20s%s", text, measure->is_share ? "%" : "");
}

enum { STEPS = 5 };

/* The meaning of the colours, in numbers: of units, and of nodes a share. */
static void fill_step(struct sb_heat *heat, const struct measure *measure, double most, int step)
{
	const double part = (double)step / (STEPS - 1);
	char text[SB_HUMAN_BYTES];

	heat->of = SB_HEAT_SCALE;
	heat->part = part;
	sb_human(text, part * most, "count");
	if (measure->is_share)
		snprintf(heat->text, sizeof(heat->text), "%.0f%%", 100 * part);
	else
		snprintf(heat->text, sizeof(heat->text), "%.14s, %.0f%% remote", text, 100 * part);
}

/* Of what the workers of a node stole, how much came from other nodes. */
static void fill_node(struct sb_heat *heat, const struct sb_series *series, int node)
{
	const struct sb_placement *p = &series->placement;
	uint64_t all = 0;
	uint64_t remote = 0;

	for (uint32_t i = 0; i < p->workers * p->workers; i++) {
		const struct sb_place *thief = &p->place[i / p->workers];
		const struct sb_place *victim = &p->place[i % p->workers];
		const uint64_t items =
			sb_series_steals(series, i / p->workers, i % p->workers).items;

		if (thief->node != node)
			continue;
		all += items;
		remote += sb_place_same_node(thief, victim) ? 0 : items;
	}
	heat->of = SB_HEAT_NODE;
	heat->index = all ? node : -1;
	heat->part = all ? (double)remote / (double)all : 0;
	snprintf(heat->text, sizeof(heat->text), "%.0f%% remote", 100 * heat->part);
}

/* ---- the picture ---- */

enum { LEGENDS = 5 };

static int make_legend(char *line[LEGENDS], const struct sb_result *result,
		       const struct sb_series *series, const struct measure *measure)
{
	int n = 0;

	n |= asprintf(&line[0],
		      "%.60s: %s; of nodes: share of stolen processes that came from other nodes",
		      series->workload, measure->legend);
	n |= asprintf(&line[1], "%.100s", series->label);
	n |= asprintf(&line[2], "%.100s%s, %" PRIu32 " workers",
		      series->reality ? sb_result_fact(result, "profile", "name")
				      : sb_result_fact(result, "machine", "cpu_model"),
		      sb_series_topology_mark(series), series->placement.workers);
	n |= asprintf(&line[3],
		      "sched-bench %.20s, %.20s build; repetitions: %" PRIu32 " valid, %" PRIu32
		      " suspect, %" PRIu32 " invalid (left out)",
		      sb_result_fact(result, "run", "version"),
		      sb_result_fact(result, "run", "build_mode"),
		      sb_series_count(series, SB_VALID), sb_series_count(series, SB_SUSPECT),
		      sb_series_count(series, SB_INVALID));
	n |= asprintf(&line[4], "L#: hwloc's numbers; P#: the operating system's; white without a "
				"number: no worker");
	return n < 0 ? -ENOMEM : 0;
}

static int fail_for(int rc, const char *format)
{
	if (rc == -ENOENT)
		return sb_fail(SB_EXIT_ENVIRONMENT,
			       "topology: lstopo is not installed (Debian's package hwloc)");
	if (rc == -ENOTSUP)
		return sb_fail(SB_EXIT_ENVIRONMENT,
			       "topology: lstopo draws no %s here (Debian's package hwloc does)",
			       format);
	return sb_fail(SB_EXIT_ENVIRONMENT, "topology: %s", strerror(-rc));
}

static int draw_on(const struct sb_topology *topology, const struct sb_result *result,
		   const struct sb_series *series, const struct measure *measure,
		   const char *format, FILE *out)
{
	const uint32_t workers = series->placement.workers;
	const uint32_t nodes = series->placement.nodes;
	const double most = largest(series, measure);
	struct sb_heat *heat = calloc(workers + nodes + STEPS, sizeof(*heat));
	char *legend[LEGENDS] = { NULL };
	int rc = heat ? make_legend(legend, result, series, measure) : -ENOMEM;

	for (uint32_t w = 0; w < workers && !rc; w++)
		fill_unit(&heat[w], series, measure, w, most);
	for (uint32_t i = 0; i < nodes && !rc; i++)
		fill_node(&heat[workers + i], series, (int)i);
	for (int i = 0; i < STEPS && !rc; i++)
		fill_step(&heat[workers + nodes + (uint32_t)i], measure, most, i);
	if (!rc)
		rc = sb_heat_draw(
			topology,
			&(struct sb_heat_map){ heat, workers + nodes + STEPS, legend, LEGENDS },
			format, out);
	for (int i = 0; i < LEGENDS; i++)
		free(legend[i]);
	free(heat);
	return rc ? fail_for(rc, format) : 0;
}

int sb_heatmap_draw(const struct sb_result *result, const struct sb_series *series,
		    const char *metric, const char *format, FILE *out)
{
	const struct measure *measure = find_measure(metric);
	struct sb_topology *topology;
	int rc;

	if (!measure)
		return sb_fail(SB_EXIT_USAGE,
			       "--metric: '%s' is not valid; for topology expected busy_pct or "
			       "steal_items",
			       metric);
	if (!sb_series_measured(series))
		return sb_fail(SB_EXIT_USAGE,
			       "topology does not apply: no repetition was measured");
	rc = open_machine(result, series->reality, &topology);
	if (rc)
		return rc;
	rc = draw_on(topology, result, series, measure, format, out);
	sb_topology_free(topology);
	return rc;
}
