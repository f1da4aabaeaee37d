/* rows.c - the rows of a sweep, each in a process of its own: one after the other, or in virtual time
 * one on each CPU. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/platform/platform.h"
#include "harness/run/row.h"
#include "harness/sweep/collect.h"
#include "harness/sweep/session.h"
#include "harness/system/child.h"
#include "harness/terminal/interrupts.h"
#include "harness/terminal/status.h"
#include "harness/terminal/text.h"
#include "results/files/file.h"
#include "results/json/read.h"
#include "results/record/record.h"
#include "results/record/series.h"
#include "results/text/escape.h"

/* ---- time ---- */

/* A row's start, clocks and files. */
#define REST_NS 3e8

static const struct sb_configuration *configuration_of(const struct sb_session *s,
						       const struct sb_slot *slot)
{
	return &s->sweep.configuration[slot->configuration];
}

/* Whether the row at that position of the order is for this process, and has not been run. */
static bool is_to_run(const struct sb_session *s, uint32_t position)
{
	const struct sb_slot *slot = &s->sweep.order[position];

	return !*sb_session_done(s, slot->configuration, slot->repetition) &&
	       sb_chunk_has(&s->chunk, &s->sweep, position);
}

static double planned_ns(const struct sb_session *s, const struct sb_slot *slot)
{
	return (double)configuration_of(s, slot)->row_ns + REST_NS;
}

double sb_session_planned_ns(const struct sb_session *s)
{
	double sum = 0;

	for (uint32_t i = 0; i < s->rows; i++) {
		if (is_to_run(s, i))
			sum += planned_ns(s, &s->sweep.order[i]);
	}
	return sum;
}

const char *sb_session_format_duration(char *out, double seconds)
{
	const uint64_t whole = (uint64_t)(seconds + 0.5);

	if (whole >= 3600)
		snprintf(out, SB_DURATION_BYTES, "%" PRIu64 " h %02" PRIu64 " min", whole / 3600,
			 whole / 60 % 60);
	else if (whole >= 60)
		snprintf(out, SB_DURATION_BYTES, "%" PRIu64 " min %02" PRIu64 " s", whole / 60,
			 whole % 60);
	else
		snprintf(out, SB_DURATION_BYTES, "%" PRIu64 " s", whole);
	return out;
}

/* ---- progress ---- */

static enum sb_metric_id objective_of(const struct sb_session *s, const struct sb_slot *slot)
{
	return sb_sweep_objectives(&s->sweep, configuration_of(s, slot)->chosen)->metric[0];
}

static void show(struct sb_session *s, const struct sb_slot *slot)
{
	const struct sb_estimate estimate = { s->latest[slot->configuration], NAN, NAN,
					      sb_metric[objective_of(s, slot)].unit };

	sb_progress_estimate(&s->progress, &estimate);
	sb_progress_phase(&s->progress, configuration_of(s, slot)->label, "");
}

/* ---- one row ---- */

static void note_estimate(struct sb_session *s, const struct sb_slot *slot, const char *directory)
{
	struct sb_result result;
	char why[SB_REASON_BYTES];

	if (!s->progress.out || sb_result_read(&result, directory, why, sizeof(why)))
		return;
	if (result.all_series == 1 && result.series->records == 1)
		s->latest[slot->configuration] =
			result.series->record->value[objective_of(s, slot)];
	sb_result_free(&result);
}

static int keep_row(struct sb_session *s, const struct sb_slot *slot, const struct sb_child *child,
		    const char *started, const char *directory)
{
	const int status = child->wait_status;
	char *text = sb_child_ended_well(child) ? sb_row_read(directory) : NULL;
	char *words = sb_text_copy(child->stderr_text);
	char why[SB_REASON_BYTES];
	char *reason = NULL;
	int rc;

	if (!text) {
		sb_child_describe(child, why, sizeof(why));
		reason = sb_text_copy(why);
	}
	rc = sb_store_put_row(s->store,
			      &(struct sb_stored_row){
				      .configuration = slot->configuration,
				      .repetition = slot->repetition,
				      .reason = reason,
				      .started = started,
				      .elapsed_s = 1e-9 * (double)child->elapsed_ns,
				      .exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
				      .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
				      .result = text,
				      .stderr_text = words ? words : "",
			      });
	if (text)
		note_estimate(s, slot, directory);
	free(text);
	free(words);
	free(reason);
	return rc ? sb_store_failed(s->store, rc) : 0;
}

static void count_row(struct sb_session *s, const struct sb_slot *slot)
{
	*sb_session_done(s, slot->configuration, slot->repetition) = true;
	s->rows_done++;
	sb_progress_done(&s->progress, 1, planned_ns(s, slot));
}

/* Of one thread; the session's lock is held but while the row runs. */
struct row {
	struct sb_session *session;
	const struct sb_slot *slot;
	char *directory; /* its result */
	struct sb_child child;
};

static int run_child(struct row *row, struct sb_arguments *arguments)
{
	struct sb_session *s = row->session;
	char started[SB_DATE_BYTES];
	bool is_cut;
	int rc;

	if (asprintf(&arguments->word[arguments->n], "--output=%s", row->directory) < 0)
		return sb_fail_memory();
	arguments->n++;
	row->child = (struct sb_child){ .argv = arguments->word,
					.limit_ns = configuration_of(s, row->slot)->limit_ns,
					.stacks = "sweep.db" };
	sb_format_now(started);
	show(s, row->slot);
	sb_lock_release(&s->lock);
	rc = sb_child_run(&row->child);
	is_cut = !rc && sb_child_was_cut_short(&row->child);
	sb_lock_acquire(&s->lock);
	if (rc)
		return sb_fail(SB_EXIT_ENVIRONMENT, "a run cannot be started: %s", strerror(-rc));
	if (is_cut)
		return 0;
	rc = keep_row(s, row->slot, &row->child, started, row->directory);
	count_row(s, row->slot);
	return rc;
}

static int run_row(struct row *row)
{
	struct sb_session *s = row->session;
	struct sb_arguments arguments;
	int rc;

	if (sb_sweep_arguments(&s->sweep, configuration_of(s, row->slot), row->slot->repetition,
			       &arguments))
		rc = sb_fail_memory();
	else
		rc = run_child(row, &arguments);
	sb_directory_remove(row->directory);
	sb_arguments_free(&arguments);
	return rc;
}

/* ---- all of them ---- */

/* NULL: all have begun, or no more are to. */
static const struct sb_slot *take_next(struct sb_session *s)
{
	while (s->next < s->rows && !is_to_run(s, s->next))
		s->next++;
	if (s->rc || s->next == s->rows || sb_load_rlx(&sb_interrupted))
		return NULL;
	return &s->sweep.order[s->next++];
}

static int run_in_turn(struct row *row)
{
	int rc = 0;

	while (!rc && (row->slot = take_next(row->session)))
		rc = run_row(row);
	return rc;
}

static char *directory_of_rows(const struct sb_session *s)
{
	return sb_path_join(s->result.directory, "sweep.row");
}

/* A thread's rows, one after the other. */
static void *run_rows(void *arg)
{
	struct sb_session *s = arg;
	char *rows = directory_of_rows(s);
	struct row *row = calloc(1, sizeof(*row));
	int rc;

	sb_lock_acquire(&s->lock);
	if (rows && row && asprintf(&row->directory, "%s/%" PRIu32, rows, s->threads++) >= 0) {
		row->session = s;
		rc = run_in_turn(row);
		free(row->directory);
	} else {
		rc = sb_fail_memory();
	}
	s->rc = s->rc ? s->rc : rc;
	sb_lock_release(&s->lock);
	free(row);
	free(rows);
	return NULL;
}

static void run_all(struct sb_session *s)
{
	if (sb_sweep_is_virtual(&s->sweep))
		sb_child_on_all_cpus(run_rows, s);
	else
		(void)run_rows(s);
}

/* ---- invalid rows are made up for ---- */

/* Whether a configuration lacks rows with numbers; by none of all it is not expected to have any. */
static bool lacks_numbers(struct sb_session *s)
{
	struct sb_result so_far = { .series = NULL };
	bool lacks = false;

	s->rc = sb_collect(&s->sweep, s->store, s->topology, &so_far);
	for (uint32_t i = 0; i < so_far.all_series && !s->rc; i++) {
		const uint32_t n = sb_series_measured(&so_far.series[i]);

		lacks |= n && n < s->sweep.planned;
	}
	sb_result_free(&so_far);
	return lacks;
}

/* All slots of it are in the store, or none. */
static int plan_round(struct sb_session *s)
{
	const uint32_t first = s->rows;
	int rc = sb_session_add_round(s);

	if (rc)
		return rc;
	rc = sb_store_begin_rows(s->store);
	for (uint32_t i = first; i < s->rows && !rc; i++)
		rc = sb_store_put_slot(s->store, i, s->sweep.order[i].configuration,
				       s->sweep.order[i].repetition);
	rc = rc ? rc : sb_store_end_rows(s->store);
	return rc ? sb_store_failed(s->store, rc) : 0;
}

static void make_up(struct sb_session *s)
{
	while (!s->rc && !s->chunk.of && s->rows_done == s->rows && sb_sweep_may_add(&s->sweep) &&
	       lacks_numbers(s)) {
		s->rc = plan_round(s);
		sb_progress_plan(&s->progress, s->rows_here, sb_session_planned_ns(s));
		if (!s->rc)
			run_all(s);
	}
}

int sb_session_run(struct sb_session *s)
{
	char *rows = directory_of_rows(s);
	int rc;

	if (!rows)
		return sb_fail_memory();
	sb_lock_init(&s->lock);
	sb_progress_open(&s->progress, stderr, sb_session_is(s, SB_OPT_quiet));
	sb_progress_plan(&s->progress, s->rows_here - s->rows_done, sb_session_planned_ns(s));
	sb_interrupts_catch();
	/* There may be one of a row that was killed. */
	sb_directory_remove(rows);
	rc = sb_directory_make(rows);
	if (rc)
		s->rc = sb_fail(SB_EXIT_ENVIRONMENT, "%s cannot be made: %s", rows, strerror(-rc));
	else
		run_all(s);
	make_up(s);
	sb_directory_remove(rows);
	sb_progress_close(&s->progress);
	free(rows);
	return s->rc;
}
