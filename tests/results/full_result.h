/* full_result.h - a result with everything in it: all series, histograms and settings. */
#ifndef SB_TESTS_FULL_RESULT_H
#define SB_TESTS_FULL_RESULT_H

#include <math.h>
#include <string.h>

#include "core/commands.h"
#include "core/readings.h"
#include "results/ledger/timeseries.h"
#include "results/record/record.h"
#include "results/record/series.h"
#include "tests/test.h"

static inline uint64_t next_random(void)
{
	static uint64_t state;

	if (!state)
		state = sb_test_seed();
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static inline void fill_hist(struct sb_hist_counts *hist, uint32_t values)
{
	for (uint32_t i = 0; i < values; i++) {
		const uint64_t value = next_random() >> (next_random() % 64);

		hist->bucket[sb_hist_index(value)]++;
		hist->count++;
		hist->sum += value >> 8;
		hist->max = sb_max_u64(hist->max, value >> 8);
	}
}

static inline void fill_worker(struct sb_worker_reading *worker, uint32_t workers)
{
	*worker = (struct sb_worker_reading){
		.recorded = true,
		.read_ns = 1 + next_random() % 1000000,
		.account_ns = 1 + next_random() % 1000000,
		.steals = calloc(workers, sizeof(*worker->steals)),
	};
	for (uint32_t c = 0; c < SB_COUNTERS; c++)
		worker->counter[c] = 1 + next_random() % 100000;
	for (uint32_t i = 0; i < SB_YIELD_COUNTS; i++)
		worker->yields[i] = i % 3 ? next_random() % 100000 : 0;
	worker->yields[SB_COMMAND_SLEEP] = 5;
	worker->yields[SB_COMMAND_ARRAY] = 7;
	for (uint32_t v = 0; v < workers; v++)
		worker->steals[v] = (struct sb_steal_counts){
#define X(name, doc) .name = 1 + next_random() % 100,
#include "core/steals.def"
#undef X
		};
}

static inline struct sb_requests *make_requests(struct sb_hist_counts *hist)
{
	struct sb_requests *requests = calloc(1, sizeof(*requests));

	*requests = (struct sb_requests){
		.is_open = true,
		.intended = 1000,
		.submitted = 990,
		.completed = 980,
		.on_time = 970,
		.late_ns = 1000,
		.schedule_ns = 1000000,
		.sending_ns = 1000500,
		.wall_ns = 1000900,
		.asked_ns = 1.0 / 3,
		.asked_mean_ns = 1e-300,
		.observed_ns = 12345.5,
		.in_system = NAN,
		.in_system_error = -0.25,
		.in_system_unknown = 2,
		.in_system_expected = 1e300,
		.hist = hist,
	};
	fill_hist(&requests->hist[SB_REQUEST_sojourn], 50);
	fill_hist(&requests->hist[SB_REQUEST_wait], 40);
	fill_hist(&requests->hist[SB_REQUEST_service], 30);
	fill_hist(&requests->hist[SB_REQUEST_lateness], 1);
	return requests;
}

static inline struct sb_exemplars *make_exemplars(void)
{
	struct sb_exemplars *exemplars = calloc(1, sizeof(*exemplars));
	struct sb_exemplar_list *list = &exemplars->of[SB_EXEMPLAR_send_to_step];

	exemplars->fault_ns = 0.5;
	exemplars->stops = 1;
	exemplars->stop[0] = (struct sb_stop){ 5, 1000000007 };
	list->n = 2;
	list->exemplar = calloc(2, sizeof(*list->exemplar));
	list->exemplar[0] =
		(struct sb_exemplar){ 1,  900, 3, 4,  800, 6,  7,  8,  9,  10, 11,	12,
				      13, 14,  1, 16, 1,   18, 19, 20, 21, 22, "a<b>\"" };
	list->exemplar[1] = (struct sb_exemplar){ .took_ns = 5, .last_worker = SB_WORKER_NONE };
	snprintf(list->exemplar[1].name, sizeof(list->exemplar[1].name), "two");
	exemplars->of[SB_EXEMPLAR_sojourn].exemplar = calloc(1, sizeof(struct sb_exemplar));
	return exemplars;
}

/* Numbers of all sizes, and some that were not measured. */
static inline double make_number(uint32_t i)
{
	return i % 7 == 3 ? (double)NAN
			  : (double)(int64_t)next_random() /
				    (double)(UINT64_C(1) << next_random() % 63);
}

static inline struct sb_timeseries *make_timeseries(uint32_t points)
{
	struct sb_timeseries *t = sb_timeseries_new(points);

	t->interval_ns = 1000;
	t->latency = 1;
	t->has_requests = points % 2;
	for (uint32_t i = 0; i < points; i++) {
		struct sb_point *point = &t->point[i];

		point->end_ns = 1000 * i + 1 + next_random() % 1000;
		point->timed = next_random() % 10000;
		for (int c = 0; c < SB_POINT_COUNTS; c++)
			point->count[c] = c != SB_POINT_requests || t->has_requests
						  ? next_random() % 100000
						  : 0;
		for (int k = 0; k < SB_POINT_KERNELS; k++)
			point->kernel[k] = i % 2 ? (double)(next_random() % 10000) : (double)NAN;
		for (int d = 0; d < SB_POINT_DEPTHS; d++)
			point->depth[d] = d == 1 ? (double)NAN : (double)(next_random() % 100) / 3;
		for (int q = 0; q < SB_POINT_QUANTILES; q++)
			point->quantile[q] = i % 3 ? (double)(next_random() % 10000) : (double)NAN;
	}
	return t;
}

static inline void fill_record(struct sb_record *record, uint32_t r, uint32_t workers)
{
	record->repetition = r;
	record->worker = calloc(workers, sizeof(*record->worker));
	record->hist = calloc(SB_RECORD_HISTS, sizeof(*record->hist));
	record->os = calloc(workers, sizeof(*record->os));
	record->requests = make_requests(&record->hist[SB_RECORD_REQUEST]);
	record->exemplars = make_exemplars();
	record->timeseries = make_timeseries(1 + r);
	for (uint32_t m = 0; m < sb_metrics(); m++)
		record->value[m] = make_number(m);
	for (uint32_t w = 0; w < workers; w++) {
		fill_worker(&record->worker[w], workers);
		for (uint32_t c = 0; c < SB_OS_COUNTS; c++)
			record->os[w].value[c] = make_number(c + w);
	}
	for (uint32_t h = 0; h < SB_RECORD_REQUEST; h++)
		fill_hist(&record->hist[h], h * 2);
	record->hist[SB_HIST_step_time].bucket[SB_HIST_BUCKETS - 1]++;
	record->hist[SB_HIST_step_time].count++;
	CHECK_EQ(sb_record_pack(record), 0);
}

/* Four repetitions: valid, suspect, invalid, valid. */
static inline void fill_series(struct sb_series *series, uint32_t workers, struct sb_place *place)
{
	int os_node[] = { 1, 0 };
	uint32_t distance[] = { 10, 21, 21, 10 };
	const struct sb_placement placement = { workers, place, 2, os_node, distance };

	CHECK_EQ(sb_placement_copy(&series->placement, &placement), 0);
	series->operation = strdup("message");
	series->records = 4;
	series->record = calloc(series->records, sizeof(*series->record));
	for (uint32_t r = 0; r < series->records; r++)
		fill_record(&series->record[r], r + 7, workers);
	sb_record_suspect(&series->record[1], "3 %% of \"it\"; a <b>");
	sb_record_suspect(&series->record[1], "and another, too");
	sb_record_invalidate(&series->record[2], "it hung");
	series->memory = (struct sb_memory){ 1, 2, 3, true, -EPERM, 4, 5 };
	series->residence = calloc(workers, sizeof(*series->residence));
	for (uint32_t w = 0; w < workers; w++)
		series->residence[w] =
			(struct sb_residence){ w ? -ENOSYS : 0,
					       { { 1, 2 }, { 3, 4 }, { 5, 6 }, { 7, w } } };
}

static inline void add_setting(struct sb_series *series, const char *name, const char *text,
			       double number, bool swept)
{
	char name_copy[40];
	char text_copy[40];
	const struct sb_setting setting = { name_copy, text_copy, number, swept };

	snprintf(name_copy, sizeof(name_copy), "%s", name);
	snprintf(text_copy, sizeof(text_copy), "%s", text);
	CHECK_EQ(sb_series_add_setting(series, &setting), 0);
}

static const struct {
	const char *group, *key, *value;
} facts[] = {
	{ "machine", "host_name", "m\"1\",\n<tag>" },
	{ "machine", "pus", "2" },
	{ "machine", "governor", "powersave" },
	{ "run", "date", "2026-01-01T00:00:00+00:00" },
	{ "options", "membind", "local" },
	{ "run", "late", "\xc3\xa9t\xc3\xa9 \xff" },
	{ "profile", "name", "a & b" },
};

static inline void fill_result(struct sb_result *result)
{
	const struct sb_waiting_place place = { .fetches = { [1] = 3, [5] = 1 },
						.fetch_ns = { [1] = 75.5, [5] = 200 },
						.queued_ns = 12.25 };
	struct sb_place two[] = { { 0, 0, 0, 0, 0, -1 }, { 5, 1, 1, 0, 0, -1 } };
	struct sb_place three[] = { { -1, 0, 0, 0, 0, 0 },
				    { -1, 1, 0, 0, 0, 0 },
				    { -1, 2, 1, 1, 1, 1 } };

	*result = (struct sb_result){ .directory = strdup(".") };
	result->all_series = 3;
	result->series = calloc(3, sizeof(*result->series));
	for (size_t i = 0; i < SB_ARRAY_SIZE(facts); i++)
		CHECK_EQ(sb_result_add_fact(result, facts[i].group, facts[i].key, facts[i].value),
			 0);
	fill_series(&result->series[0], 2, two);
	fill_series(&result->series[1], 3, three);
	result->series[0].workload = strdup("pingpong");
	result->series[0].answer = strdup("2.5 k/s, \"or so\"");
	add_setting(&result->series[0], "pairs", "1", 1, false);
	add_setting(&result->series[0], "spin-yield", "4,096", 4096, true);
	result->series[1].workload = strdup("skynet");
	result->series[1].reality = SB_EMULATED;
	result->series[0].reality = SB_SIMULATED;
	result->series[0].waiting = calloc(1, sizeof(*result->series[0].waiting));
	CHECK_EQ(sb_waiting_add(result->series[0].waiting, &place, "core/a.c", "take"), 0);
	CHECK_EQ(sb_waiting_add(result->series[0].waiting, &place, "core/a.c", "take"), 0);
	CHECK_EQ(sb_waiting_add(result->series[0].waiting, &place, "core/b.c", "give"), 0);
	add_setting(&result->series[1], "placement", "compact", NAN, true);
	/* Nothing is recorded, nothing was measured. */
	for (uint32_t w = 0; w < 3; w++) {
		struct sb_worker_reading *worker = &result->series[1].record[0].worker[w];

		worker->recorded = false;
		memset(worker->steals, 0, 3 * sizeof(*worker->steals));
	}
	result->series[2].workload = strdup("none");
	result->series[2].operation = strdup("x");
	result->series[2].label = strdup("");
	CHECK_EQ(sb_placement_copy(&result->series[2].placement,
				   &(struct sb_placement){ .workers = 1, .place = two }),
		 0);
}

#endif
