/* results.h - a result made up by hand, for the tests of its outputs. */
#ifndef SB_TESTS_RESULTS_H
#define SB_TESTS_RESULTS_H

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/commands.h"
#include "results/files/csv.h"
#include "results/files/file.h"
#include "results/files/stage.h"
#include "results/files/summary.h"
#include "results/json/write.h"
#include "results/page/report.h"
#include "results/record/account.h"
#include "results/record/number.h"
#include "results/record/record.h"
#include "results/record/series.h"
#include "tests/test.h"

enum { WORKERS = 2, REPETITIONS = 4, SUSPECT = 1, INVALID = 2 };

static struct sb_place places[WORKERS] = { { 0, 0, 0, 0, 0, -1 }, { 5, 1, 1, 0, 0, -1 } };

/* ns per operation: 10, 20 (suspect), invalid, 40. */
static inline void make_record(struct sb_record *record, uint32_t r,
			       const struct sb_placement *placement)
{
	const uint32_t workers = placement->workers;
	const struct sb_measured measured = { .rounds = 1,
					      .operations = 1000,
					      .wall_ns = 10000 * (r + 1),
					      .elapsed_ns = 20000 * (r + 1),
					      .cpu_ns = 15000 };

	record->repetition = r;
	record->worker = calloc(workers, sizeof(*record->worker));
	record->hist = calloc(SB_RECORD_HISTS, sizeof(*record->hist));
	for (uint32_t w = 0; w < workers; w++) {
		record->worker[w].steals = calloc(workers, sizeof(struct sb_steal_counts));
		record->worker[w].counter[SB_COUNTER_steps] = 100 + w;
		record->worker[w].recorded = true;
		record->worker[w].read_ns = 20000;
	}
	record->worker[0].steals[1] = (struct sb_steal_counts){
		.attempts = 10, .successes = 3, .items = 7, .lost = 2, .empty = 5
	};
	record->hist[SB_HIST_ready_to_running].bucket[50] = 4;
	record->hist[SB_HIST_ready_to_running].count = 4;
	record->hist[SB_HIST_ready_to_running].sum = 200;
	record->worker[0].yields[SB_COMMAND_SLEEP] = 5;
	record->worker[0].yields[7] = 20;
	record->worker[1].yields[SB_COMMAND_SLEEP] = 6;
	record->worker[1].yields[SB_COMMAND_ARRAY] = 300;
	sb_record_compute(record, &measured, placement);
	CHECK_EQ(sb_record_pack(record), 0);
	if (r == SUSPECT) {
		sb_record_suspect(record, "%d of the time", 3);
		sb_record_suspect(record, "a <second>, too");
	}
	if (r == INVALID)
		sb_record_invalidate(record, "wrong \"answer\", 1 < 2");
}

static inline struct sb_result *make_result_at(const char *directory, struct sb_place *place,
					       uint32_t workers)
{
	struct sb_result *result = calloc(1, sizeof(*result));
	struct sb_series *series = calloc(1, sizeof(*series));

	result->directory = strdup(directory);
	result->all_series = 1;
	result->series = series;
	series->workload = strdup("pingpong");
	series->operation = strdup("message");
	series->label = strdup("pairs=1, \"x\"");
	CHECK_EQ(sb_placement_copy(&series->placement,
				   &(struct sb_placement){ .workers = workers, .place = place }),
		 0);
	series->records = REPETITIONS;
	series->record = calloc(REPETITIONS, sizeof(*series->record));
	series->memory = (struct sb_memory){ .is_bound = true };
	series->residence = calloc(workers, sizeof(*series->residence));
	series->residence[0].kind[SB_MEMORY_ARENA] = (struct sb_page_count){ 12, 3 };
	series->residence[1].error = -ENOTSUP;
	for (uint32_t r = 0; r < REPETITIONS; r++)
		make_record(&series->record[r], r, &series->placement);
	CHECK_EQ(sb_result_add_fact(result, "machine", "cpu_model", "<script>alert('x')</script>"),
		 0);
	CHECK_EQ(sb_result_add_fact(result, "machine", "pus", "2"), 0);
	CHECK_EQ(sb_result_add_fact(result, "options", "membind", "local"), 0);
	return result;
}

static inline struct sb_result *make_result(const char *directory)
{
	return make_result_at(directory, places, WORKERS);
}

static inline void free_result(struct sb_result *result)
{
	sb_result_free(result);
	free(result);
}

/* ---- JSON ---- */

static inline json_t *write_and_parse(const struct sb_result *result,
				      int (*write)(const struct sb_result *, FILE *))
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	json_error_t error;
	json_t *json;

	CHECK_EQ(write(result, out), 0);
	fclose(out);
	json = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	assert_non_null(json);
	free(text);
	return json;
}

/* ---- files ---- */

static inline char *read_file(const char *directory, const char *name)
{
	char *path = sb_path_join(directory, name);
	char *text = calloc(1, 1 << 20);
	FILE *in = fopen(path, "r");

	assert_non_null(in);
	assert_true(fread(text, 1, (1 << 20) - 1, in) > 0);
	fclose(in);
	free(path);
	return text;
}

static inline void remove_tree(const char *directory)
{
	char command[256];

	snprintf(command, sizeof(command), "rm -rf '%s'", directory);
	CHECK_EQ(system(command), 0);
}

/* The text of a summary so wide, for the caller to free. */
static inline char *summarize_wide(const struct sb_result *result, int columns)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	sb_write_summary(result, out, columns, columns);
	fclose(out);
	return text;
}

static inline char *summarize(const struct sb_result *result)
{
	return summarize_wide(result, 0);
}

#endif
