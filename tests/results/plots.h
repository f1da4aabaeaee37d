/* plots.h - results made up by hand, for the tests of pictures. */
#ifndef SB_TESTS_PLOTS_H
#define SB_TESTS_PLOTS_H

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "results/plots/plot.h"
#include "results/stats/usl.h"
#include "results/record/series.h"
#include "tests/test.h"

/* ---- the fit ---- */

static inline double law(double lambda, double sigma, double kappa, double n)
{
	return lambda * n / (1 + sigma * (n - 1) + kappa * n * (n - 1));
}

/* ---- results made up by hand ---- */

/* What a series is made from. */
struct recipe {
	const char *workload;
	uint32_t workers;
	uint32_t records;
	double ns_per_op;
	const char *name[2]; /* of settings */
	const char *text[2];
	double number[2];
	double offered;		   /* 0: it takes no requests */
	uint32_t suspect, invalid; /* that many of the records, the first */
};

static inline void fill_worker(struct sb_worker_reading *worker, uint32_t w, uint32_t n)
{
	worker->steals = calloc(n, sizeof(*worker->steals));
	worker->recorded = true;
	worker->read_ns = 1000000;
	for (uint32_t v = 0; v < n; v++) {
		if (v != w)
			worker->steals[v] = (struct sb_steal_counts){ .attempts = 100 + w,
								      .successes = 40 + v,
								      .items = 50 + 7 * w + v,
								      .lost = 10,
								      .empty = 50 };
	}
	worker->counter[SB_COUNTER_steps] = 100;
}

static inline void fill_hist(struct sb_hist_counts *hist, uint64_t first)
{
	for (uint64_t v = first; v < 1000 * first + 1000; v = v * 3 / 2 + 1) {
		hist->bucket[sb_hist_index(v)] += 1000000 / (v + 1) + 1;
		hist->count += 1000000 / (v + 1) + 1;
		hist->sum += v;
	}
}

static inline void fill_requests(struct sb_record *record, double offered)
{
	struct sb_requests *requests = calloc(1, sizeof(*requests));

	requests->hist = &record->hist[SB_RECORD_REQUEST];
	requests->is_open = true;
	fill_hist(&requests->hist[SB_REQUEST_sojourn], 900);
	requests->intended = requests->completed = requests->hist[SB_REQUEST_sojourn].count;
	requests->intended += 3; /* are lost */
	record->requests = requests;
	record->value[SB_METRIC_offered_per_s] = offered;
	record->value[SB_METRIC_sojourn_ns_p50] = 1000 + offered;
	record->value[SB_METRIC_sojourn_ns_p99] = 4000 + 5 * offered;
	record->value[SB_METRIC_sojourn_ns_p99_9] = 9000 + 50 * offered;
}

static inline void fill_record(struct sb_record *record, const struct recipe *recipe,
			       const struct sb_placement *placement, uint32_t r)
{
	/* Each a little slower than the one before. */
	const double ns = recipe->ns_per_op * (1 + 0.02 * r);
	const struct sb_measured measured = {
		.rounds = 1,
		.operations = 1000000,
		.wall_ns = (uint64_t)(1e6 * ns),
		.elapsed_ns = (uint64_t)(1e6 * ns) + 1,
		.cpu_ns = (uint64_t)(1.5e6 * ns),
	};

	record->repetition = r;
	record->worker = calloc(recipe->workers, sizeof(*record->worker));
	record->hist = calloc(SB_RECORD_HISTS, sizeof(*record->hist));
	for (uint32_t w = 0; w < recipe->workers; w++)
		fill_worker(&record->worker[w], w, recipe->workers);
	fill_hist(&record->hist[SB_HIST_ready_to_running], r);
	fill_hist(&record->hist[SB_HIST_wake_to_running], 500);
	fill_hist(&record->hist[SB_HIST_spins_steal], 1);
	fill_hist(&record->hist[SB_HIST_spins_blocked], 16);
	sb_record_compute(record, &measured, placement);
	if (recipe->offered > 0)
		fill_requests(record, recipe->offered);
	CHECK_EQ(sb_record_pack(record), 0);
	if (r < recipe->suspect)
		sb_record_suspect(record, "a reason");
	else if (r < recipe->suspect + recipe->invalid)
		sb_record_invalidate(record, "another");
}

/* Two to a core, four to a cache, eight to a node. */
static inline void fill_places(struct sb_placement *placement, uint32_t workers)
{
	placement->workers = workers;
	placement->nodes = (workers + 7) / 8;
	placement->place = calloc(workers, sizeof(*placement->place));
	for (int w = 0; w < (int)workers; w++)
		placement->place[w] = (struct sb_place){ w, w, w / 2, w / 4, w / 8, 0 };
}

static inline void fill_series(struct sb_series *series, const struct recipe *recipe)
{
	series->workload = strdup(recipe->workload);
	series->operation = strdup("operation");
	series->label = strdup("");
	for (int s = 0; s < 2 && recipe->name[s]; s++) {
		const struct sb_setting setting = { (char *)(uintptr_t)recipe->name[s],
						    (char *)(uintptr_t)recipe->text[s],
						    recipe->number[s], true };

		CHECK_EQ(sb_series_add_setting(series, &setting), 0);
	}
	fill_places(&series->placement, recipe->workers);
	series->records = recipe->records;
	series->record = calloc(recipe->records, sizeof(*series->record));
	series->residence = calloc(recipe->workers, sizeof(*series->residence));
	for (uint32_t r = 0; r < recipe->records; r++)
		fill_record(&series->record[r], recipe, &series->placement, r);
}

static inline struct sb_result *make_result(const struct recipe *recipe, uint32_t n,
					    const char *cpu)
{
	struct sb_result *result = calloc(1, sizeof(*result));

	result->directory = strdup("somewhere");
	result->series = calloc(n, sizeof(*result->series));
	result->all_series = n;
	for (uint32_t i = 0; i < n; i++)
		fill_series(&result->series[i], &recipe[i]);
	CHECK_EQ(sb_result_add_fact(result, "machine", "cpu_model", cpu), 0);
	CHECK_EQ(sb_result_add_fact(result, "machine", "cores", "8"), 0);
	CHECK_EQ(sb_result_add_fact(result, "run", "version", "9.8.7"), 0);
	CHECK_EQ(sb_result_add_fact(result, "run", "build_mode", "release"), 0);
	return result;
}

static inline void free_result(struct sb_result *result)
{
	sb_result_free(result);
	free(result);
}

/* ---- scripts ---- */

static inline uint32_t count(const char *text, const char *part)
{
	uint32_t n = 0;

	for (; (text = strstr(text, part)); text += strlen(part))
		n++;
	return n;
}

/* ---- sweeps ---- */

static inline struct sb_result *make_sweep(const char *threshold)
{
	static const char *const spins[] = { "0", "4", "64", "4096" };
	static const char *const batches[] = { "1", "16" };
	static const double slow[] = { 100, 130, 110, 140, 120, 150, 130, 160 };
	struct recipe recipe[8];

	for (int i = 0; i < 8; i++)
		recipe[i] = (struct recipe){
			.workload = "skynet",
			.workers = 2,
			.records = 3,
			.ns_per_op = slow[i],
			.name = { threshold, "batch" },
			.text = { spins[i / 2], batches[i % 2] },
			.number = { strtod(spins[i / 2], NULL), strtod(batches[i % 2], NULL) },
			.suspect = i == 3,
		};
	return make_result(recipe, 8, "A CPU");
}

/* ---- what is nasty ---- */

#define NASTY                                                                                      \
	"`touch spoilt` $(touch spoilt) 'x' \"y\" \\n \\ @z {a_b^c} <b>&amp; "                     \
	"%s %d\n\t\001\xef\xbf\xbf \xc3\xa9 %'; system(\"touch spoilt\") #\\"

enum { MANY = 50 };

/* More than 40 lines, 64 workers, labels of 200 characters; latencies of 0. */
static inline struct sb_result *make_nasty(void)
{
	static char text[MANY][400];
	struct recipe recipe[MANY];

	for (int i = 0; i < MANY; i++) {
		snprintf(text[i], sizeof(text[i]), "%s %0200d", NASTY, i);
		recipe[i] = (struct recipe){
			.workload = NASTY,
			.workers = i ? 2 + (uint32_t)i % 3 : 64,
			.records = 2,
			.ns_per_op = i == 1 ? 1e9 : 50 + i,
			.name = { NASTY, "n" },
			.text = { text[i], text[i] + 180 },
			.number = { NAN, i % 5 ? i : 0 },
			.offered = i % 2 ? 1 : 1e6,
			.suspect = i % 2,
		};
	}
	return make_result(recipe, MANY, NASTY " a long name " NASTY);
}

#endif
