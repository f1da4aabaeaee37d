#include "harness/session.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/atomic.h"
#include "harness/child.h"
#include "harness/interrupts.h"
#include "harness/measure.h"
#include "harness/status.h"
#include "results/file.h"
#include "results/read.h"
#include "results/write.h"

static int out_of_memory(void)
{
	return sb_fail(SB_EXIT_BUG, "no memory");
}

/* ---- time ---- */

/* Of a row that has not been tried: start, clocks, files. */
#define REST_S 0.3

double sb_session_seconds_left(const struct sb_session *s, uint32_t from)
{
	const double rest = s->rows_run ? s->rest_s / s->rows_run : REST_S;
	double sum = 0;

	for (uint32_t i = from; i < s->rows; i++) {
		const struct sb_slot *slot = &s->sweep.order[i];

		if (!s->done[slot->configuration * s->sweep.repetitions +
			     slot->repetition])
			sum += 1e-9 * (double)s->sweep
					       .configuration
						       [slot->configuration]
					       .row_ns +
			       rest;
	}
	return sum;
}

const char *sb_session_format_duration(char *out, double seconds)
{
	const uint64_t whole = (uint64_t)(seconds + 0.5);

	if (whole >= 3600)
		snprintf(out, SB_DURATION_BYTES,
			 "%" PRIu64 " h %02" PRIu64 " min", whole / 3600,
			 whole / 60 % 60);
	else if (whole >= 60)
		snprintf(out, SB_DURATION_BYTES,
			 "%" PRIu64 " min %02" PRIu64 " s", whole / 60,
			 whole % 60);
	else
		snprintf(out, SB_DURATION_BYTES, "%" PRIu64 " s", whole);
	return out;
}

/* ---- progress, on a terminal only ---- */

#define BAR 20

struct showing {
	const struct sb_session *s;
	uint32_t position; /* of the row that runs */
};

static int terminal_columns(void)
{
	struct winsize size;

	return !ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col
		       ? size.ws_col
		       : 80;
}

static void show(void *arg)
{
	const struct showing *showing = arg;
	const struct sb_session *s = showing->s;
	const struct sb_slot *slot = &s->sweep.order[showing->position];
	const double latest = s->latest[slot->configuration];
	const int filled = (int)((uint64_t)BAR * s->rows_done / s->rows);
	char estimate[SB_HUMAN_BYTES];
	char left[SB_DURATION_BYTES];
	char line[500];

	if (!s->visible)
		return;
	sb_human(estimate, latest, sb_metric[s->objective].unit);
	snprintf(line, sizeof(line),
		 "[%.*s%*s] %" PRIu32 "/%" PRIu32 "  about %s left  %s%s%s",
		 filled, "####################", BAR - filled, "", s->rows_done,
		 s->rows,
		 sb_session_format_duration(
			 left, sb_session_seconds_left(s, showing->position)),
		 s->sweep.configuration[slot->configuration].label,
		 isnan(latest) ? "" : "  ", isnan(latest) ? "" : estimate);
	fprintf(stderr, "\r\033[K%.*s", terminal_columns() - 1, line);
	fflush(stderr);
}

static void hide(const struct sb_session *s)
{
	if (s->visible)
		fputs("\r\033[K", stderr);
}

/* ---- one row ---- */

#define ROW_NAME "sweep.row"

static char *read_text(const char *directory)
{
	char *path = sb_path_join(directory, "result.json");
	FILE *in = path ? fopen(path, "re") : NULL;
	char *text = NULL;
	size_t bytes = 0;
	/* A text ends with the first 0, which no JSON has. */
	const ssize_t length = in ? getdelim(&text, &bytes, '\0', in) : -1;

	if (in)
		fclose(in);
	free(path);
	if (length > 0)
		return text;
	free(text);
	return NULL;
}

static void now_text(char *out, size_t bytes)
{
	const time_t now = time(NULL);
	struct tm parts;

	gmtime_r(&now, &parts);
	strftime(out, bytes, "%Y-%m-%dT%H:%M:%S+00:00", &parts);
}

/* A row without numbers ends the run with SB_EXIT_INVALID, and says why. */
static bool has_ended_well(const struct sb_child *child)
{
	return !child->hung && WIFEXITED(child->wait_status) &&
	       (WEXITSTATUS(child->wait_status) == SB_EXIT_OK ||
		WEXITSTATUS(child->wait_status) == SB_EXIT_INVALID);
}

/* An interrupted run has written what it had, which is not the row. */
static bool was_cut_short(const struct sb_child *child)
{
	return child->interrupted && (!WIFEXITED(child->wait_status) ||
				      WEXITSTATUS(child->wait_status));
}

static void note_estimate(struct sb_session *s, const struct sb_slot *slot,
			  const char *directory)
{
	struct sb_result result;
	char why[SB_REASON_BYTES];

	if (!s->visible || sb_result_read(&result, directory, why, sizeof(why)))
		return;
	if (result.all_series == 1 && result.series->records == 1)
		s->latest[slot->configuration] =
			result.series->record->value[s->objective];
	sb_result_free(&result);
}

static int keep_row(struct sb_session *s, const struct sb_slot *slot,
		    const struct sb_child *child, const char *started,
		    const char *directory)
{
	const int status = child->wait_status;
	char *text = has_ended_well(child) ? read_text(directory) : NULL;
	char *words = sb_text_copy(child->stderr_text);
	char why[SB_REASON_BYTES];
	char *reason = NULL;
	int rc;

	if (!text) {
		sb_child_describe(child, why, sizeof(why));
		reason = sb_text_copy(why);
	}
	rc = sb_store_put_row(
		s->store,
		&(struct sb_stored_row){
			.configuration = slot->configuration,
			.repetition = slot->repetition,
			.reason = reason,
			.started = started,
			.elapsed_s = 1e-9 * (double)child->elapsed_ns,
			.exit_status =
				WIFEXITED(status) ? WEXITSTATUS(status) : -1,
			.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
			.result = text,
			.stderr_text = words ? words : "",
		});
	if (text)
		note_estimate(s, slot, directory);
	free(text);
	free(words);
	free(reason);
	return rc ? sb_session_store_failed(s, rc) : 0;
}

static void count_row(struct sb_session *s, const struct sb_slot *slot,
		      const struct sb_child *child)
{
	const double own =
		1e-9 *
		(double)s->sweep.configuration[slot->configuration].row_ns;

	s->done[slot->configuration * s->sweep.repetitions + slot->repetition] =
		true;
	s->rows_done++;
	/* One that hangs says nothing of the others. */
	if (child->hung)
		return;
	s->rows_run++;
	s->rest_s += fmax(0, 1e-9 * (double)child->elapsed_ns - own);
}

static int run_child(struct sb_session *s, uint32_t position,
		     const char *directory, struct sb_arguments *arguments)
{
	static struct sb_child child;
	const struct sb_slot *slot = &s->sweep.order[position];
	const struct sb_configuration *c =
		&s->sweep.configuration[slot->configuration];
	struct showing showing = { s, position };
	char started[40];
	int rc;

	if (asprintf(&arguments->word[arguments->n], "--output=%s", directory) <
	    0)
		return out_of_memory();
	arguments->n++;
	child = (struct sb_child){ .argv = arguments->word,
				   .limit_ns = c->limit_ns,
				   .stacks = "sweep.db",
				   .tick = show,
				   .arg = &showing };
	now_text(started, sizeof(started));
	show(&showing);
	rc = sb_child_run(&child);
	if (rc)
		return sb_fail(SB_EXIT_ENVIRONMENT,
			       "a run cannot be started: %s", strerror(-rc));
	if (was_cut_short(&child))
		return 0;
	rc = keep_row(s, slot, &child, started, directory);
	count_row(s, slot, &child);
	return rc;
}

static int run_row(struct sb_session *s, uint32_t position)
{
	const struct sb_slot *slot = &s->sweep.order[position];
	char *directory = sb_path_join(s->result.directory, ROW_NAME);
	struct sb_arguments arguments;
	int rc;

	if (!directory)
		return out_of_memory();
	if (sb_sweep_arguments(&s->sweep,
			       &s->sweep.configuration[slot->configuration],
			       slot->repetition, &arguments)) {
		rc = out_of_memory();
	} else {
		/* There may be one of a row that was killed. */
		sb_directory_remove(directory);
		rc = run_child(s, position, directory, &arguments);
		sb_directory_remove(directory);
	}
	sb_arguments_free(&arguments);
	free(directory);
	return rc;
}

int sb_session_run(struct sb_session *s)
{
	int rc = 0;

	s->visible = isatty(STDERR_FILENO) && !sb_session_is(s, SB_OPT_quiet);
	sb_interrupts_catch();
	for (uint32_t i = 0; i < s->rows && !rc; i++) {
		const struct sb_slot *slot = &s->sweep.order[i];

		if (sb_load_rlx(&sb_interrupted))
			break;
		if (!s->done[slot->configuration * s->sweep.repetitions +
			     slot->repetition])
			rc = run_row(s, i);
	}
	hide(s);
	return rc;
}
