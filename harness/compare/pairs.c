#include "harness/compare/pairs.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "core/platform/clock.h"
#include "core/platform/platform.h"
#include "harness/system/child.h"
#include "harness/terminal/interrupts.h"
#include "harness/terminal/status.h"
#include "results/files/file.h"
#include "results/json/read.h"
#include "results/record/series.h"
#include "results/text/escape.h"

#define BLOCK_PAIRS 2
#define WORDS_ADDED 5

static int no_memory(void)
{
	return sb_fail_memory();
}

/* ---- one process ---- */

/* One process of a pair. */
struct go {
	struct sb_pairs *pairs;
	uint32_t pair;
	enum sb_side_id side;
	const char *directory;	 /* where it is to write */
	struct sb_result result; /* without a series: it has failed */
	char why[SB_REASON_BYTES];
};

static const char *side_name(enum sb_side_id side)
{
	return side == SB_SIDE_A ? "A" : "B";
}

static uint32_t count_words(char *const *argv)
{
	uint32_t n = 0;

	while (argv[n])
		n++;
	return n;
}

/* The side's words, and ours behind them, which count. */
static char **make_arguments(const struct go *go, char **added)
{
	static char repetitions[] = "--repetitions=1";
	static char no_plots[] = "--no-plots";
	static char quiet[] = "--quiet";
	char *const *own = go->pairs->side[go->side].argv;
	const uint32_t n = count_words(own);
	const uint64_t seed = go->pairs->seed + (go->pair == SB_PAIR_WARM_UP ? 0 : go->pair);
	char **argv = calloc(n + WORDS_ADDED + 1, sizeof(*argv));

	if (argv && asprintf(&added[0], "--output=%s", go->directory) < 0)
		added[0] = NULL;
	if (argv && asprintf(&added[1], "--seed=%" PRIu64, seed) < 0)
		added[1] = NULL;
	if (!argv || !added[0] || !added[1]) {
		free(argv);
		return NULL;
	}
	memcpy(argv, own, n * sizeof(*argv));
	argv[n] = added[0];
	argv[n + 1] = added[1];
	argv[n + 2] = repetitions;
	argv[n + 3] = no_plots;
	argv[n + 4] = quiet;
	return argv;
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

/* It was refused: no other run of that side will do better. */
static bool is_refused(const struct sb_child *child)
{
	const int status = child->wait_status;

	return !child->hung && WIFEXITED(status) &&
	       (WEXITSTATUS(status) == SB_EXIT_USAGE || WEXITSTATUS(status) == SB_EXIT_ENVIRONMENT);
}

static int refuse(const struct go *go, const struct sb_child *child)
{
	const enum sb_status_code status = (enum sb_status_code)WEXITSTATUS(child->wait_status);
	const char *words = child->stderr_text;
	char *clean;
	int rc;

	if (!strncmp(words, "sched-bench: ", 13))
		words += 13;
	clean = sb_text_copy(words);
	for (size_t n = clean ? strlen(clean) : 0; n && clean[n - 1] == '\n';)
		clean[--n] = '\0';
	rc = sb_fail(status, "side %s: %s", side_name(go->side),
		     clean && *clean ? clean : "its arguments are refused");
	free(clean);
	return rc;
}

/* A row without numbers ends the run with SB_EXIT_INVALID, and says why. */
static bool has_ended_well(const struct sb_child *child)
{
	return !child->hung && WIFEXITED(child->wait_status) &&
	       (WEXITSTATUS(child->wait_status) == SB_EXIT_OK ||
		WEXITSTATUS(child->wait_status) == SB_EXIT_INVALID);
}

/* Its result, or in go->why why there is none. */
static void read_result(struct go *go, const struct sb_child *child)
{
	struct sb_result *out = &go->result;

	if (!has_ended_well(child)) {
		sb_child_describe(child, go->why, sizeof(go->why));
	} else if (!sb_result_read(out, go->directory, go->why, sizeof(go->why))) {
		if (out->all_series == 1 && out->series->records == 1)
			return;
		sb_result_free(out);
		snprintf(go->why, sizeof(go->why),
			 "it wrote another result than that of one repetition of one workload");
	}
	*out = (struct sb_result){ .directory = NULL };
	keep_words(go, child);
}

static int run_process(struct go *go)
{
	static struct sb_child child;
	struct sb_pairs *pairs = go->pairs;
	char *added[2] = { NULL, NULL };
	char **argv = make_arguments(go, added);
	int rc;

	child = (struct sb_child){ .argv = argv,
				   .program = pairs->side[go->side].program,
				   .limit_ns = pairs->side[go->side].limit_ns,
				   .stacks = pairs->failures };
	if (pairs->before)
		pairs->before(pairs->arg, go->pair, go->side);
	sb_directory_remove(go->directory);
	rc = argv ? sb_child_run(&child) : -ENOMEM;
	free(argv);
	free(added[0]);
	free(added[1]);
	if (rc)
		return sb_fail(SB_EXIT_ENVIRONMENT, "a run cannot be started: %s", strerror(-rc));
	if (child.interrupted)
		pairs->is_interrupted = true;
	else if (is_refused(&child))
		rc = refuse(go, &child);
	else
		read_result(go, &child);
	sb_directory_remove(go->directory);
	return rc;
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

	record->repetition = go->pair;
	if (!go->result.all_series) {
		sb_record_invalidate(record, go->why);
	} else if (side->all_series && !fits(side->series, from)) {
		sb_record_invalidate(record, "it ran something else than the first of its side");
	} else {
		*record = from->record[0];
		from->record[0] = (struct sb_record){ .repetition = 0 };
		record->repetition = go->pair;
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

/* One that is interrupted is none. */
static int run_pair(struct sb_pairs *pairs, const char *directory, uint32_t number, uint32_t block,
		    enum sb_side_id first)
{
	static struct go go[SB_SIDES];
	struct sb_pair pair = { .block = block, .first = first };
	const uint64_t start = sb_clock_ns();
	int rc = 0;

	for (int i = 0; i < SB_SIDES; i++)
		go[i] = (struct go){ .pairs = pairs,
				     .pair = number,
				     .side = i ? SB_SIDES - 1 - first : first,
				     .directory = directory };
	for (int i = 0; i < SB_SIDES && !rc && !pairs->is_interrupted; i++)
		rc = run_process(&go[i]);
	pair.elapsed_ns = sb_clock_ns() - start;
	if (number == SB_PAIR_WARM_UP) {
		keep_awake(pairs, go);
	} else if (!rc && !pairs->is_interrupted) {
		take_result(&go[0]);
		take_result(&go[1]);
		count_pair(pairs, &pair);
	}
	for (int i = 0; i < SB_SIDES; i++)
		sb_result_free(&go[i].result);
	return rc;
}

static bool goes_on(const struct sb_pairs *pairs, uint64_t start_ns)
{
	const bool is_between = pairs->pairs % BLOCK_PAIRS == 0;

	if (pairs->is_interrupted || sb_load_rlx(&sb_interrupted) || pairs->pairs >= pairs->most)
		return false;
	if (!pairs->valid && pairs->pairs >= SB_PAIRS_HOPELESS)
		return false;
	return !pairs->time_ns || !is_between || !pairs->pairs ||
	       sb_clock_ns() - start_ns < pairs->time_ns;
}

static int run_blocks(struct sb_pairs *pairs, const char *directory)
{
	const uint64_t start = sb_clock_ns();
	enum sb_side_id first = SB_SIDE_A;
	struct sb_rng coin;
	int rc = 0;

	sb_rng_seed(&coin, pairs->seed);
	if (pairs->has_warm_up)
		rc = run_pair(pairs, directory, SB_PAIR_WARM_UP, 0, SB_SIDE_A);
	while (!rc && goes_on(pairs, start)) {
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
	pairs->elapsed_ns = sb_clock_ns() - start;
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
	return pairs->pair && is_there ? 0 : no_memory();
}

int sb_pairs_run(struct sb_pairs *pairs)
{
	char *directory = sb_path_join(pairs->scratch, "pairs.run");
	int rc = directory ? make_room(pairs) : no_memory();

	SB_CHECK(pairs->most, >, 0);
	SB_CHECK(pairs->most, <=, SB_PAIRS_MAX);
	if (!rc)
		rc = run_blocks(pairs, directory);
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
