#include "harness/compare/pairs.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "core/platform/platform.h"
#include "harness/run/row.h"
#include "harness/sweep/sweep.h"
#include "harness/system/child.h"
#include "harness/terminal/interrupts.h"
#include "harness/terminal/status.h"
#include "harness/terminal/text.h"
#include "results/files/file.h"
#include "results/json/read.h"
#include "results/record/series.h"
#include "results/text/escape.h"

#define BLOCK_PAIRS 2

/* ---- one process ---- */

/* One process of a pair. */
struct go {
	struct sb_pairs *pairs;
	uint32_t pair;
	enum sb_side_id side;
	const char *directory;	 /* where it is to write */
	struct sb_result result; /* without a series: it has failed */
	char *text;		 /* result.json, to be saved; NULL: none */
	char why[SB_REASON_BYTES];
	uint64_t elapsed_ns;
	bool is_saved;
};

static const char *side_name(enum sb_side_id side)
{
	return side == SB_SIDE_A ? "A" : "B";
}

/* The side's words, and ours behind them, which count. Returns 0 or -ENOMEM; in both cases it is for
 * sb_arguments_free. */
static int make_arguments(const struct go *go, struct sb_arguments *out)
{
	const uint64_t seed = go->pairs->seed + (go->pair == SB_PAIR_WARM_UP ? 0 : go->pair);
	int rc = 0;

	*out = (struct sb_arguments){ .n = 0 };
	for (char *const *own = go->pairs->side[go->side].argv; *own && !rc; own++)
		rc = sb_arguments_add(out, "%s", *own);
	rc = rc ? rc : sb_arguments_add(out, "--output=%s", go->directory);
	rc = rc ? rc : sb_arguments_add(out, "--seed=%" PRIu64, seed);
	rc = rc ? rc : sb_arguments_add(out, "--repetitions=1");
	rc = rc ? rc : sb_arguments_add(out, "--no-plots");
	return rc ? rc : sb_arguments_add(out, "--quiet");
}

/* Its output, for readers who want to know more than the reason. */
static void keep_words(const struct go *go, const struct sb_child *child)
{
	FILE *out = go->pairs->failures ? fopen(go->pairs->failures, "ae") : NULL;

	if (!out)
		return;
	fprintf(out, "== side %s, ", side_name(go->side));
	if (go->pair == SB_PAIR_WARM_UP)
		fputs("warm-up: ", out);
	else
		fprintf(out, "pair %" PRIu32 ": ", go->pair);
	fprintf(out, "%s\n%s\n", go->why, child->stderr_text);
	fclose(out);
}

/* A result that was read, or why it was not. */
static void check_result(struct go *go, int rc)
{
	struct sb_result *out = &go->result;

	if (!rc && out->all_series == 1 && out->series->records == 1)
		return;
	if (!rc) {
		sb_result_free(out);
		snprintf(go->why, sizeof(go->why),
			 "it wrote another result than that of one repetition of one workload");
	}
	*out = (struct sb_result){ .directory = NULL };
}

/* Its result, or in go->why why there is none. */
static void read_result(struct go *go, const struct sb_child *child)
{
	if (!sb_child_ended_well(child))
		sb_child_describe(child, go->why, sizeof(go->why));
	else
		check_result(go,
			     sb_result_read(&go->result, go->directory, go->why, sizeof(go->why)));
	if (!go->result.all_series)
		keep_words(go, child);
	else if (go->pairs->saved)
		go->text = sb_row_read(go->directory);
}

static int run_process(struct go *go)
{
	static struct sb_child child;
	struct sb_pairs *pairs = go->pairs;
	struct sb_arguments arguments;
	int rc = make_arguments(go, &arguments);

	child = (struct sb_child){ .argv = arguments.word,
				   .program = pairs->side[go->side].program,
				   .limit_ns = pairs->side[go->side].limit_ns,
				   .stacks = pairs->failures };
	if (pairs->before)
		pairs->before(pairs->arg, go->pair, go->side);
	sb_directory_remove(go->directory);
	rc = rc ? rc : sb_child_run(&child);
	sb_arguments_free(&arguments);
	if (rc)
		return sb_fail(SB_EXIT_ENVIRONMENT, "a run cannot be started: %s", strerror(-rc));
	go->elapsed_ns = child.elapsed_ns;
	if (child.interrupted)
		pairs->is_interrupted = true;
	else if (sb_child_is_refused(&child))
		rc = sb_child_refuse(&child, go->side == SB_SIDE_A ? "side A: " : "side B: ");
	else
		read_result(go, &child);
	sb_directory_remove(go->directory);
	return rc;
}

/* ---- in the store ---- */

static uint32_t series_of(const struct go *go)
{
	return go->pairs->first_series + go->side;
}

/* The warm-up is behind the pairs. */
static uint32_t repetition_of(const struct go *go)
{
	return go->pair == SB_PAIR_WARM_UP ? go->pairs->most : go->pair;
}

static int take_saved(void *arg, const struct sb_stored_row *row)
{
	struct go *go = arg;

	go->is_saved = true;
	go->elapsed_ns = (uint64_t)llround(1e9 * row->elapsed_s);
	if (row->result)
		check_result(go, sb_result_read_text(&go->result, row->result, go->why,
						     sizeof(go->why)));
	else
		snprintf(go->why, sizeof(go->why), "%s", row->reason ? row->reason : "");
	return 0;
}

/* Both processes are saved, or neither is. */
static int find_saved(struct go *go)
{
	int rc = 0;

	for (int i = 0; i < SB_SIDES && go->pairs->saved && !rc; i++)
		rc = sb_saved_find(go->pairs->saved, series_of(&go[i]), repetition_of(&go[i]),
				   take_saved, &go[i]);
	return rc;
}

static void save(const struct go *go)
{
	struct sb_stored_row row[SB_SIDES];
	char now[SB_DATE_BYTES];

	if (!go->pairs->saved)
		return;
	sb_format_now(now);
	for (int i = 0; i < SB_SIDES; i++) {
		row[i] = (struct sb_stored_row){ .configuration = series_of(&go[i]),
						 .repetition = repetition_of(&go[i]),
						 .reason = go[i].text ? NULL : go[i].why,
						 .started = now,
						 .elapsed_s = 1e-9 * (double)go[i].elapsed_ns,
						 .result = go[i].text,
						 .stderr_text = "" };
		/* Without memory for it: better measured again than saved as invalid. */
		if (!go[i].text && go[i].result.all_series)
			return;
	}
	sb_saved_keep_rows(go->pairs->saved, go->pairs->scratch, row, SB_SIDES);
}

/* ---- what is kept of it ---- */

/* Everything but its row becomes the side's. */
static void adopt(struct sb_result *side, struct sb_result *from)
{
	free(from->series->record);
	from->series->record = side->series->record;
	from->series->records = side->series->records;
	free(side->series);
	*side = *from;
	*from = (struct sb_result){ .directory = NULL };
}

static bool fits(const struct sb_series *series, const struct sb_series *from)
{
	return !strcmp(series->workload, from->workload) &&
	       series->placement.workers == from->placement.workers;
}

/* The series' memory, from the first that knows it. */
static void take_ends(struct sb_series *series, struct sb_series *from)
{
	if (series->residence || !from->residence)
		return;
	series->memory = from->memory;
	series->residence = from->residence;
	from->residence = NULL;
}

/* Its only row becomes the pair's record. */
static void take_result(struct go *go)
{
	struct sb_result *side = &go->pairs->result[go->side];
	struct sb_series *from = go->result.series;
	struct sb_record *record = &side->series->record[go->pair];

	record->repetition = record->fork = go->pair;
	if (!go->result.all_series) {
		sb_record_invalidate(record, go->why);
	} else if (side->all_series && !fits(side->series, from)) {
		sb_record_invalidate(record, "it ran something else than the first of its side");
	} else {
		*record = from->record[0];
		from->record[0] = (struct sb_record){ .repetition = 0 };
		record->repetition = record->fork = go->pair;
		if (side->all_series)
			take_ends(side->series, from);
		else
			adopt(side, &go->result);
	}
}

/* ---- CPUs between processes ---- */

/* Of the workers' time. Between rounds they always block. */
#define HARDLY_BLOCKED_PCT 10.0

static bool hardly_blocks(const struct sb_series *series)
{
	/* Also false for NaN. */
	return series->record->value[SB_METRIC_blocked_pct] < HARDLY_BLOCKED_PCT;
}

/* The warm-up's processes have shown on which CPUs they run, and how. */
static void keep_awake(struct sb_pairs *pairs, const struct go *go)
{
	const bool is_told = pairs->keep_awake == SB_AWAKE_YES;
	const struct sb_series *series[SB_SIDES] = { go[0].result.series, go[1].result.series };

	if (pairs->keep_awake == SB_AWAKE_NO || !go[0].result.all_series ||
	    !go[1].result.all_series)
		return;
	if (is_told || (hardly_blocks(series[0]) && hardly_blocks(series[1])))
		pairs->awake = sb_awake_begin(&series[0]->placement);
	pairs->is_kept_awake = pairs->awake;
}

/* ---- pairs ---- */

static void count_pair(struct sb_pairs *pairs, struct sb_pair *pair)
{
	enum sb_verdict worst = SB_VALID;

	for (int side = 0; side < SB_SIDES; side++) {
		struct sb_series *series = pairs->result[side].series;
		const enum sb_verdict verdict = series->record[series->records++].verdict;

		worst = verdict > worst ? verdict : worst;
	}
	pair->is_valid = worst != SB_INVALID;
	pair->is_suspect = worst != SB_VALID && pair->is_valid;
	pairs->valid += pair->is_valid;
	pairs->suspect += pair->is_suspect;
	pairs->pair[pairs->pairs++] = *pair;
}

static void begin_pair(struct go *go, struct sb_pairs *pairs, const char *directory,
		       uint32_t number, enum sb_side_id first)
{
	for (int i = 0; i < SB_SIDES; i++)
		go[i] = (struct go){ .pairs = pairs,
				     .pair = number,
				     .side = i ? SB_SIDES - 1 - first : first,
				     .directory = directory };
}

static int run_processes(struct go *go)
{
	int rc = 0;

	for (int i = 0; i < SB_SIDES && !rc && !go->pairs->is_interrupted; i++)
		rc = run_process(&go[i]);
	return rc;
}

static void end_pair(struct go *go)
{
	for (int i = 0; i < SB_SIDES; i++) {
		sb_result_free(&go[i].result);
		free(go[i].text);
	}
}

/* A warm-up of which nothing is kept, before the first pair of a resumed series. */
static int warm_again(struct sb_pairs *pairs, const char *directory)
{
	static struct go go[SB_SIDES];
	int rc;

	begin_pair(go, pairs, directory, SB_PAIR_WARM_UP, SB_SIDE_A);
	rc = run_processes(go);
	end_pair(go);
	pairs->is_cold = false;
	return rc;
}

/* One that is interrupted is none. */
static int measure_pair(struct go *go)
{
	struct sb_pairs *pairs = go->pairs;
	int rc = pairs->is_cold ? warm_again(pairs, go->directory) : 0;

	rc = rc ? rc : run_processes(go);
	if (!rc && !pairs->is_interrupted)
		save(go);
	return rc;
}

static int run_pair(struct sb_pairs *pairs, const char *directory, uint32_t number, uint32_t block,
		    enum sb_side_id first)
{
	static struct go go[SB_SIDES];
	struct sb_pair pair = { .block = block, .first = first };
	int rc;

	begin_pair(go, pairs, directory, number, first);
	rc = find_saved(go);
	if (!rc && !go->is_saved)
		rc = measure_pair(go);
	pair.elapsed_ns = go[0].elapsed_ns + go[1].elapsed_ns;
	pairs->elapsed_ns += pair.elapsed_ns;
	if (number == SB_PAIR_WARM_UP) {
		pairs->is_cold = go->is_saved;
		keep_awake(pairs, go);
	} else if (!rc && !pairs->is_interrupted) {
		take_result(&go[0]);
		take_result(&go[1]);
		count_pair(pairs, &pair);
	}
	end_pair(go);
	return rc;
}

static bool goes_on(const struct sb_pairs *pairs)
{
	const bool is_between = pairs->pairs % BLOCK_PAIRS == 0;

	if (pairs->is_interrupted || sb_load_rlx(&sb_interrupted) || pairs->pairs >= pairs->most)
		return false;
	if (!pairs->valid && pairs->pairs >= SB_PAIRS_HOPELESS)
		return false;
	return !pairs->time_ns || !is_between || !pairs->pairs ||
	       pairs->elapsed_ns < pairs->time_ns;
}

static int run_blocks(struct sb_pairs *pairs, const char *directory)
{
	enum sb_side_id first = SB_SIDE_A;
	struct sb_rng coin;
	int rc = 0;

	sb_rng_seed(&coin, pairs->seed);
	if (pairs->has_warm_up)
		rc = run_pair(pairs, directory, SB_PAIR_WARM_UP, 0, SB_SIDE_A);
	while (!rc && goes_on(pairs)) {
		const uint32_t block = pairs->pairs / BLOCK_PAIRS;

		if (pairs->pairs % BLOCK_PAIRS == 0)
			first = sb_rng_below(&coin, SB_SIDES);
		else
			first = SB_SIDES - 1 - first;
		rc = run_pair(pairs, directory, pairs->pairs, block, first);
		if (!rc && !pairs->is_interrupted && pairs->after && !pairs->after(pairs->arg))
			break;
	}
	sb_awake_end(pairs->awake);
	pairs->awake = NULL;
	pairs->is_interrupted |= sb_load_rlx(&sb_interrupted);
	return rc;
}

/* Until a process of a side has written a result, its series has only records. */
static int make_room(struct sb_pairs *pairs)
{
	bool is_there = true;

	pairs->pair = calloc(pairs->most, sizeof(*pairs->pair));
	for (int side = 0; side < SB_SIDES; side++) {
		struct sb_series *series = calloc(1, sizeof(*series));

		pairs->result[side].series = series;
		if (series)
			series->record = calloc(pairs->most, sizeof(*series->record));
		is_there = is_there && series && series->record;
	}
	return pairs->pair && is_there ? 0 : sb_fail_memory();
}

int sb_pairs_run(struct sb_pairs *pairs)
{
	char *directory = sb_path_join(pairs->scratch, "pairs.run");
	int rc = directory ? make_room(pairs) : sb_fail_memory();

	SB_CHECK(pairs->most, >, 0);
	SB_CHECK(pairs->most, <=, SB_PAIRS_MAX);
	if (!rc) {
		/* There may be one of a process that was killed. */
		sb_directory_remove(directory);
		rc = run_blocks(pairs, directory);
	}
	free(directory);
	return rc;
}

void sb_pairs_free(struct sb_pairs *pairs)
{
	for (int side = 0; side < SB_SIDES; side++) {
		struct sb_result *result = &pairs->result[side];

		if (!result->all_series && result->series)
			free(result->series->record);
		sb_result_free(result);
		*result = (struct sb_result){ .directory = NULL };
	}
	free(pairs->pair);
	pairs->pair = NULL;
}

struct sb_pair_values sb_pairs_values(const struct sb_pairs *pairs, enum sb_metric_id metric,
				      double *a, double *b, uint32_t *block)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < pairs->pairs; i++) {
		if (!pairs->pair[i].is_valid)
			continue;
		a[n] = pairs->result[SB_SIDE_A].series->record[i].value[metric];
		b[n] = pairs->result[SB_SIDE_B].series->record[i].value[metric];
		block[n++] = pairs->pair[i].block;
	}
	return (struct sb_pair_values){ a, b, block, n };
}
