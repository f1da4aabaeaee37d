/*
 * command_sweep.c - the verb `sweep`: options -> plan -> store -> each row in a
 * process of its own -> one result -> files, pictures, page -> table and
 * recommendation.
 *
 * The plan is made from a command line, which the store keeps: --resume makes it
 * again from there. A row is in the store before the next one starts.
 */
#include "harness/command_sweep.h"

#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "harness/child.h"
#include "harness/collect.h"
#include "harness/command_run.h"
#include "harness/facts.h"
#include "harness/help.h"
#include "harness/measure.h"
#include "harness/placing.h"
#include "harness/status.h"
#include "harness/sweep_text.h"
#include "harness/text.h"
#include "results/file.h"
#include "results/read.h"
#include "results/write.h"

struct session {
	struct sb_options *given; /* on this command line */
	struct sb_options plan_options;
	struct sb_options *options; /* what the plan is made from: one of them */
	struct sb_arguments canonical;
	enum sb_metric_id objective;

	struct sb_sweep sweep;
	struct sb_store *store;
	struct sb_topology *topology;
	struct sb_result result;

	bool *done; /* by configuration and repetition */
	uint32_t rows;
	uint32_t rows_done;

	/* Of the rows that this program has run: for the time that is left. */
	uint32_t rows_run;
	double rest_s; /* besides their own times, all together */
	/* Estimates: of each configuration, its latest value. */
	double *latest;
	bool visible;
};

static bool is_set(const struct session *s, enum sb_option_id id)
{
	return sb_opt(s->given, id);
}

static int out_of_memory(void)
{
	return sb_fail(SB_EXIT_BUG, "no memory");
}

/* An exit status for what the store says; the environment's fault, unless it is
 * the input's. */
static int store_failed(const struct session *s, int rc)
{
	const bool is_input = rc == -EINVAL || rc == -ENOENT || rc == -EEXIST ||
			      rc == -EBUSY;

	return sb_fail(is_input ? SB_EXIT_USAGE : SB_EXIT_ENVIRONMENT, "%s",
		       sb_store_why(s->store));
}

/* ---- the objective ---- */

static const char *metric_name(const void *unused, size_t i)
{
	(void)unused;
	return i < SB_METRICS ? sb_metric[i].name : NULL;
}

static int find_objective(struct session *s)
{
	const char *name = s->given->value[SB_OPT_objective].text;
	const char *like = sb_most_like(name, metric_name, NULL);

	for (int i = 0; i < SB_METRICS; i++) {
		if (strcmp(sb_metric[i].name, name))
			continue;
		s->objective = (enum sb_metric_id)i;
		if (sb_metric[i].better != SB_NEITHER)
			return 0;
		return sb_fail(SB_EXIT_USAGE,
			       "--objective: %s is neither better when it is "
			       "low nor when it is high; expected such a metric",
			       name);
	}
	return sb_fail(SB_EXIT_USAGE,
		       "--objective: '%s' is no metric%s%s%s; sched-bench list "
		       "metrics names them",
		       name, like ? "; did you mean " : "", like ? like : "",
		       like ? "?" : "");
}

/* ---- the plan ---- */

/* Every combination by the parser of `run`, and on this machine. */
static int check_one(struct session *s, struct sb_configuration *c)
{
	static struct sb_options run;
	struct sb_arguments arguments;
	struct sb_plan plan;
	int rc = sb_configuration_parse(&s->sweep, c, &arguments, &run);

	if (!rc) {
		sb_fail_about(c->label);
		rc = sb_placing_plan(&run, s->topology, &plan);
		sb_fail_about(NULL);
		if (!rc)
			sb_plan_free(&plan);
		c->row_ns = sb_sweep_row_ns(&run);
		c->limit_ns = sb_sweep_limit_ns(&run, s->options);
	}
	sb_options_free(&run);
	sb_arguments_free(&arguments);
	return rc;
}

static int make_plan(struct session *s)
{
	int rc = sb_sweep_plan(&s->sweep, s->options);

	rc = rc ? rc : sb_placing_open(s->options, &s->topology);
	for (uint32_t i = 0; i < s->sweep.configurations && !rc; i++)
		rc = check_one(s, &s->sweep.configuration[i]);
	if (rc)
		return rc;
	s->rows = s->sweep.configurations * s->sweep.repetitions;
	s->done = calloc(s->rows, sizeof(*s->done));
	s->latest = calloc(s->sweep.configurations, sizeof(*s->latest));
	for (uint32_t i = 0; s->latest && i < s->sweep.configurations; i++)
		s->latest[i] = NAN;
	return s->done && s->latest ? 0 : out_of_memory();
}

/* ---- time ---- */

/* Of a row that has not been tried: start, clocks, files. */
#define REST_S 0.3

static double seconds_left(const struct session *s, uint32_t from)
{
	const double rest = s->rows_run ? s->rest_s / s->rows_run : REST_S;
	double sum = 0;

	for (uint32_t i = from; i < s->rows; i++) {
		const struct sb_slot *slot = &s->sweep.order[i];

		if (!s->done[slot->configuration * s->sweep.repetitions +
			     slot->repetition])
			sum += 1e-9 * (double)s->sweep
					      .configuration[slot->configuration]
					      .row_ns +
			       rest;
	}
	return sum;
}

#define DURATION_BYTES 40

static const char *format_duration(char *out, double seconds)
{
	const uint64_t whole = (uint64_t)(seconds + 0.5);

	if (whole >= 3600)
		snprintf(out, DURATION_BYTES, "%" PRIu64 " h %02" PRIu64 " min",
			 whole / 3600, whole / 60 % 60);
	else if (whole >= 60)
		snprintf(out, DURATION_BYTES, "%" PRIu64 " min %02" PRIu64 " s",
			 whole / 60, whole % 60);
	else
		snprintf(out, DURATION_BYTES, "%" PRIu64 " s", whole);
	return out;
}

static void put_plan(const struct session *s)
{
	char left[DURATION_BYTES];

	printf("%" PRIu32 " configuration%s x %" PRIu32 " repetition%s = "
	       "%" PRIu32 " rows",
	       s->sweep.configurations, s->sweep.configurations == 1 ? "" : "s",
	       s->sweep.repetitions, s->sweep.repetitions == 1 ? "" : "s",
	       s->rows);
	if (s->rows_done)
		printf(", %" PRIu32 " of them there", s->rows_done);
	printf("; about %s\n", format_duration(left, seconds_left(s, 0)));
}

static void put_order(const struct session *s)
{
	const uint32_t n = s->sweep.configurations;

	for (uint32_t i = 0; i < n; i++)
		printf("%5" PRIu32 "  %s\n", i,
		       s->sweep.configuration[i].label);
	for (uint32_t i = 0; i < s->rows; i++) {
		if (i % n == 0)
			printf("round %" PRIu32 ":", i / n);
		printf(" %" PRIu32, s->sweep.order[i].configuration);
		if (i % n == n - 1)
			putchar('\n');
	}
}

static bool wants_text(const struct session *s)
{
	return !is_set(s, SB_OPT_quiet) &&
	       !s->given->value[SB_OPT_format].alternative;
}

/* ---- who may go on with it ---- */

#define IDENTITY_BYTES 400

/* This machine, whatever profile is emulated on it. */
static int describe_machine(char *out)
{
	struct sb_topology *topology;
	struct sb_machine machine;

	if (sb_topology_load(&topology))
		return sb_fail(SB_EXIT_ENVIRONMENT,
			       "this machine's topology cannot be read");
	sb_topology_machine(topology, &machine);
	snprintf(out, IDENTITY_BYTES,
		 "%016" PRIx64 ", %s, %" PRIu32 " processing units",
		 sb_topology_fingerprint(topology), machine.cpu_model,
		 machine.pus);
	sb_topology_free(topology);
	return 0;
}

/* Fowler, Noll and Vo's hash of the program: a revision alone does not say what
 * was changed since. */
static int describe_build(char *out)
{
	FILE *program = fopen("/proc/self/exe", "re");
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	unsigned char block[16384];
	size_t bytes;

	if (!program)
		return sb_fail(SB_EXIT_ENVIRONMENT,
			       "/proc/self/exe cannot be read: %s",
			       strerror(errno));
	while ((bytes = fread(block, 1, sizeof(block), program)) > 0) {
		for (size_t i = 0; i < bytes; i++)
			hash = (hash ^ block[i]) * UINT64_C(0x100000001b3);
	}
	fclose(program);
	snprintf(out, IDENTITY_BYTES, "%s, program %016" PRIx64,
		 sb_facts_build(), hash);
	return 0;
}

static const struct identity {
	const char *key;
	int (*describe)(char *out);
	const char *what;
	const char *override; /* an option; NULL: there is none */
} identities[] = {
	{ "machine", describe_machine, "another machine", NULL },
	{ "build", describe_build, "another build of the program",
	  "other-build" },
};

static int check_identity(const struct session *s, const struct identity *id)
{
	char now[IDENTITY_BYTES];
	char *then = sb_store_plan(s->store, id->key);
	int rc = id->describe(now);

	if (!rc && !then)
		rc = sb_fail(SB_EXIT_USAGE,
			     "%s: the store does not say its %s",
			     s->result.directory, id->key);
	else if (!rc && strcmp(then, now) != 0 &&
		 !(id->override && is_set(s, SB_OPT_other_build)))
		rc = sb_fail(SB_EXIT_USAGE,
			     "%s was begun with %s: expected %s; this is %s%s%s",
			     s->result.directory, id->what, then, now,
			     id->override ? "; to go on all the same: --" : "",
			     id->override ? id->override : "");
	free(then);
	return rc;
}

static int check_identities(const struct session *s)
{
	int rc = 0;

	for (size_t i = 0; i < SB_ARRAY_SIZE(identities) && !rc; i++)
		rc = check_identity(s, &identities[i]);
	return rc;
}

/* ---- a new store ---- */

static int put_identities(struct session *s)
{
	char text[IDENTITY_BYTES];
	int rc = 0;

	for (size_t i = 0; i < SB_ARRAY_SIZE(identities) && !rc; i++) {
		rc = identities[i].describe(text);
		if (!rc && sb_store_put_plan(s->store, identities[i].key, text))
			rc = store_failed(s, -EIO);
	}
	return rc;
}

static int put_everything(struct session *s)
{
	char seed[24];
	int rc;

	snprintf(seed, sizeof(seed), "%" PRIu64,
		 sb_opt(s->options, SB_OPT_seed));
	rc = sb_store_put_plan(s->store, "seed", seed);
	for (uint32_t i = 1; i < s->canonical.n && !rc; i++)
		rc = sb_store_put_argument(s->store, s->canonical.word[i]);
	for (uint32_t i = 0; i < s->sweep.configurations && !rc; i++)
		rc = sb_store_put_configuration(
			s->store, i, s->sweep.configuration[i].label);
	for (uint32_t i = 0; i < s->rows && !rc; i++)
		rc = sb_store_put_slot(s->store, i,
				       s->sweep.order[i].configuration,
				       s->sweep.order[i].repetition);
	return rc;
}

static int begin_new(struct session *s)
{
	int rc = sb_run_prepare_directory(s->given, &s->result);

	if (rc)
		return rc;
	rc = sb_store_create(&s->store, s->result.directory);
	if (rc)
		return store_failed(s, rc);
	rc = put_identities(s);
	if (rc)
		return rc;
	rc = put_everything(s);
	rc = rc ? rc : sb_store_publish(s->store);
	return rc ? store_failed(s, rc) : 0;
}

/* ---- a store that is there ---- */

static int take_argument(void *arg, const char *text)
{
	struct sb_arguments *arguments = arg;

	if (arguments->n == SB_SWEEP_ARGS_MAX)
		return SB_EXIT_USAGE;
	arguments->word[arguments->n] = strdup(text);
	if (!arguments->word[arguments->n])
		return SB_EXIT_BUG;
	arguments->n++;
	return 0;
}

/* "sweep" and what the store has. */
static int read_arguments(struct session *s, struct sb_arguments *out)
{
	int rc;

	*out = (struct sb_arguments){ .n = 0 };
	rc = take_argument(out, "sweep");
	if (!rc)
		rc = sb_store_arguments(s->store, take_argument, out);
	if (rc < 0)
		return store_failed(s, rc);
	return rc ? sb_fail(rc, "%s: its command line cannot be read",
			    s->result.directory)
		  : 0;
}

static const char *word_or_none(const struct sb_arguments *a, uint32_t i)
{
	return i < a->n ? a->word[i] : "nothing more";
}

static int check_command_line(const struct session *s,
			      const struct sb_arguments *stored)
{
	const struct sb_arguments *now = &s->canonical;
	uint32_t i = 0;

	while (i < now->n && i < stored->n &&
	       !strcmp(now->word[i], stored->word[i]))
		i++;
	if (i == now->n && i == stored->n)
		return 0;
	return sb_fail(SB_EXIT_USAGE,
		       "%s was begun with another command line: expected %s; "
		       "this one has %s (--resume with the directory alone "
		       "takes what it was begun with)",
		       s->result.directory, word_or_none(stored, i),
		       word_or_none(now, i));
}

/* The plan's options are those of the store. */
static int parse_stored(struct session *s, struct sb_arguments *stored)
{
	const int rc = sb_options_parse_for(&s->plan_options, SB_VERB_SWEEP,
					    (int)stored->n, stored->word);

	s->options = &s->plan_options;
	return rc ? rc : sb_options_choose(s->options);
}

static int take_label(void *arg, uint32_t id, const char *label)
{
	const struct session *s = arg;

	return id >= s->sweep.configurations ||
	       strcmp(s->sweep.configuration[id].label, label) != 0;
}

struct order_check {
	struct session *s;
	uint32_t slots;
};

/* The store's order counts, whatever this program would draw. */
static int take_slot(void *arg, uint32_t configuration, uint32_t repetition)
{
	struct order_check *check = arg;
	const struct sb_sweep *sweep = &check->s->sweep;

	if (check->slots == check->s->rows ||
	    configuration >= sweep->configurations ||
	    repetition >= sweep->repetitions)
		return 1;
	sweep->order[check->slots++] =
		(struct sb_slot){ configuration, repetition };
	return 0;
}

static int check_plan(struct session *s)
{
	struct order_check check = { s, 0 };
	int rc = sb_store_configurations(s->store, take_label, s);

	rc = rc ? rc : sb_store_slots(s->store, take_slot, &check);
	if (rc < 0)
		return store_failed(s, rc);
	return rc || check.slots != s->rows
		       ? sb_fail(SB_EXIT_USAGE,
				 "%s: its plan is not what its command line "
				 "gives; expected the store of this version",
				 s->result.directory)
		       : 0;
}

static int take_done(void *arg, const struct sb_stored_row *row)
{
	struct session *s = arg;

	if (row->configuration >= s->sweep.configurations ||
	    row->repetition >= s->sweep.repetitions)
		return 1;
	s->done[row->configuration * s->sweep.repetitions + row->repetition] =
		true;
	s->rows_done++;
	return 0;
}

static int open_there(struct session *s)
{
	const char *directory = s->given->value[SB_OPT_output].text;
	int rc;

	if (!*directory)
		return sb_fail(SB_EXIT_USAGE,
			       "--%s: a directory is missing; expected the "
			       "result directory of a sweep",
			       is_set(s, SB_OPT_resume) ? "resume" : "collect");
	s->result.directory = strdup(directory);
	if (!s->result.directory)
		return out_of_memory();
	rc = sb_store_open(&s->store, directory, !is_set(s, SB_OPT_resume));
	return rc ? store_failed(s, rc) : 0;
}

static int resume(struct session *s, struct sb_arguments *stored)
{
	int rc = open_there(s);

	rc = rc ? rc : read_arguments(s, stored);
	/* With the directory alone, there is nothing to compare. */
	if (!rc && s->canonical.n > 1)
		rc = check_command_line(s, stored);
	if (!rc && is_set(s, SB_OPT_resume))
		rc = check_identities(s);
	rc = rc ? rc : parse_stored(s, stored);
	rc = rc ? rc : make_plan(s);
	rc = rc ? rc : check_plan(s);
	if (rc)
		return rc;
	rc = sb_store_rows(s->store, take_done, s);
	return rc ? store_failed(s, rc) : 0;
}

/* ---- progress, on a terminal only ---- */

#define BAR 20

struct showing {
	const struct session *s;
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
	const struct session *s = showing->s;
	const struct sb_slot *slot = &s->sweep.order[showing->position];
	const double latest = s->latest[slot->configuration];
	const int filled = (int)((uint64_t)BAR * s->rows_done / s->rows);
	char estimate[SB_HUMAN_BYTES];
	char left[DURATION_BYTES];
	char line[500];

	if (!s->visible)
		return;
	sb_human(estimate, latest, sb_metric[s->objective].unit);
	snprintf(line, sizeof(line),
		 "[%.*s%*s] %" PRIu32 "/%" PRIu32
		 "  about %s left  %s%s%s",
		 filled, "####################", BAR - filled, "",
		 s->rows_done, s->rows,
		 format_duration(left, seconds_left(s, showing->position)),
		 s->sweep.configuration[slot->configuration].label,
		 isnan(latest) ? "" : "  ", isnan(latest) ? "" : estimate);
	fprintf(stderr, "\r\033[K%.*s", terminal_columns() - 1, line);
	fflush(stderr);
}

static void hide(const struct session *s)
{
	if (s->visible)
		fputs("\r\033[K", stderr);
}

/* ---- one row ---- */

#define ROW_NAME "sweep.row"

static int remove_one(const char *path, const struct stat *info, int type,
		      struct FTW *where)
{
	(void)info;
	(void)type;
	(void)where;
	return remove(path);
}

/* What a run has written, of this row or of one that was killed. */
static void clear_row(const char *directory)
{
	(void)nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

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

static void note_estimate(struct session *s, const struct sb_slot *slot,
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

static int keep_row(struct session *s, const struct sb_slot *slot,
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
	return rc ? store_failed(s, rc) : 0;
}

static void count_row(struct session *s, const struct sb_slot *slot,
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

static int run_child(struct session *s, uint32_t position,
		     const char *directory, struct sb_arguments *arguments)
{
	static struct sb_child child;
	const struct sb_slot *slot = &s->sweep.order[position];
	const struct sb_configuration *c =
		&s->sweep.configuration[slot->configuration];
	struct showing showing = { s, position };
	char started[40];
	int rc;

	if (asprintf(&arguments->word[arguments->n], "--output=%s",
		     directory) < 0)
		return out_of_memory();
	arguments->n++;
	child = (struct sb_child){ .argv = arguments->word,
				   .limit_ns = c->limit_ns,
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

static int run_row(struct session *s, uint32_t position)
{
	const struct sb_slot *slot = &s->sweep.order[position];
	char *directory = sb_path_join(s->result.directory, ROW_NAME);
	struct sb_arguments arguments = { .n = 0 };
	int rc = 0;

	if (!directory ||
	    sb_sweep_arguments(&s->sweep,
			       &s->sweep.configuration[slot->configuration],
			       slot->repetition, &arguments))
		rc = out_of_memory();
	if (!rc) {
		clear_row(directory);
		rc = run_child(s, position, directory, &arguments);
		clear_row(directory);
	}
	sb_arguments_free(&arguments);
	free(directory);
	return rc;
}

static int run_rows(struct session *s)
{
	int rc = 0;

	s->visible = isatty(STDERR_FILENO) && !is_set(s, SB_OPT_quiet);
	sb_run_catch_interrupts();
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

/* ---- the result ---- */

/* "2.0 0.0 1.0 ...": configuration and repetition, in the order of the plan. */
static char *order_text(const struct session *s)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	for (uint32_t i = 0; i < s->rows; i++)
		fprintf(out, "%s%" PRIu32 ".%" PRIu32, i ? " " : "",
			s->sweep.order[i].configuration,
			s->sweep.order[i].repetition);
	fclose(out);
	return text;
}

static char *recommendation_text(const struct sb_sweep_view *view)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	sb_sweep_put_recommendations(view, out);
	fclose(out);
	return text;
}

static char *join_words(const struct sb_arguments *arguments)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	fputs("sched-bench", out);
	for (uint32_t i = 0; i < arguments->n; i++)
		fprintf(out, strpbrk(arguments->word[i], " '\"\\$*?&;|<>()")
				     ? " '%s'"
				     : " %s",
			arguments->word[i]);
	fclose(out);
	return text;
}

static int add_owned(struct sb_result *result, const char *group,
		     const char *key, char *value)
{
	const int rc =
		value ? sb_result_add_fact(result, group, key, value) : -ENOMEM;

	free(value);
	return rc;
}

static int add_number(struct sb_result *result, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	return sb_result_add_fact(result, "sweep", key, text);
}

/* The runs' own options said one repetition, and one value of each. */
static int correct_options(struct session *s)
{
	int rc = 0;

	for (int id = 0; id < SB_OPTIONS && !rc; id++) {
		if (sb_option[id].verbs & SB_VERB_RUN &&
		    sb_option[id].verbs & SB_VERB_SWEEP)
			rc = sb_result_add_fact(&s->result, "options",
						sb_option[id].name,
						s->options->value[id].text);
	}
	for (uint32_t d = 0; d < s->sweep.dimensions && !rc; d++) {
		if (s->sweep.dimension[d].option < SB_OPTIONS)
			rc = sb_result_add_fact(&s->result, "options",
						s->sweep.dimension[d].name,
						"swept");
	}
	return rc;
}

static int add_facts(struct session *s, const struct sb_arguments *arguments,
		     const struct sb_sweep_view *view)
{
	struct sb_result *result = &s->result;
	int rc = correct_options(s);

	rc |= add_owned(result, "run", "command_line", join_words(arguments));
	rc |= add_number(result, "configurations", s->sweep.configurations);
	rc |= add_number(result, "repetitions", s->sweep.repetitions);
	rc |= add_number(result, "rows_done", s->rows_done);
	rc |= add_number(result, "seed", sb_opt(s->options, SB_OPT_seed));
	rc |= sb_result_add_fact(result, "sweep", "objective",
				 sb_metric[s->objective].name);
	rc |= add_owned(result, "sweep", "order", order_text(s));
	rc |= add_owned(result, "sweep", "recommendation",
			recommendation_text(view));
	return rc ? out_of_memory() : 0;
}

static struct sb_sweep_view view_of(const struct session *s)
{
	return (struct sb_sweep_view){ &s->sweep, &s->result, s->objective,
				       sb_opt(s->options, SB_OPT_seed) };
}

/* Who prints has nothing but the result. */
static const struct session *printed;

static void print_pretty(const struct sb_result *result)
{
	const struct sb_sweep_view view = view_of(printed);

	(void)result;
	putchar('\n');
	sb_sweep_put_tables(&view, stdout);
}

static int finish(struct session *s, const struct sb_arguments *arguments)
{
	const struct sb_sweep_view view = view_of(s);
	int rc = sb_collect(&s->sweep, s->store, s->topology, &s->result);

	rc = rc ? rc : add_facts(s, arguments, &view);
	rc = rc ? rc : sb_run_write_directory(&s->result, s->given);
	if (rc)
		return rc;
	printed = s;
	sb_run_print(&s->result, s->given, print_pretty);
	if (s->rows_done < s->rows && !is_set(s, SB_OPT_quiet))
		fprintf(stderr,
			"sched-bench: %" PRIu32 " of %" PRIu32
			" rows are missing: sched-bench sweep --resume %s\n",
			s->rows - s->rows_done, s->rows, s->result.directory);
	return sb_run_all_measured(&s->result) ? SB_EXIT_OK : SB_EXIT_INVALID;
}

/* ---- the verb ---- */

static int prepare(struct session *s, struct sb_arguments *stored)
{
	const bool is_there =
		is_set(s, SB_OPT_resume) || is_set(s, SB_OPT_collect);
	int rc = find_objective(s);

	if (!rc && sb_sweep_canonical(s->given, &s->canonical))
		rc = out_of_memory();
	if (rc)
		return rc;
	if (is_there)
		return resume(s, stored);
	rc = sb_options_choose(s->given);
	rc = rc ? rc : make_plan(s);
	if (!rc && !is_set(s, SB_OPT_dry_run))
		rc = begin_new(s);
	return rc;
}

static int run_session(struct session *s, const struct sb_arguments *stored)
{
	const bool is_new = !stored->n;
	int rc = 0;

	if (is_set(s, SB_OPT_dry_run)) {
		put_plan(s);
		put_order(s);
		return 0;
	}
	if (wants_text(s) && !is_set(s, SB_OPT_collect)) {
		put_plan(s);
		fflush(stdout);
	}
	if (!is_set(s, SB_OPT_collect))
		rc = run_rows(s);
	return rc ? rc : finish(s, is_new ? &s->canonical : stored);
}

/* The runs take everything from their command lines. */
static void clear_environment(void)
{
	for (int id = 0; id < SB_OPTIONS; id++) {
		char name[64];

		sb_option_environment((enum sb_option_id)id, name,
				      sizeof(name));
		unsetenv(name);
	}
}

static int sweep(struct sb_options *given)
{
	static struct session s;
	struct sb_arguments stored = { .n = 0 };
	int rc;

	s = (struct session){ .given = given, .options = given };
	clear_environment();
	rc = prepare(&s, &stored);
	rc = rc ? rc : run_session(&s, &stored);
	sb_store_close(s.store);
	sb_topology_free(s.topology);
	sb_sweep_free(&s.sweep);
	sb_result_free(&s.result);
	sb_options_free(&s.plan_options);
	sb_arguments_free(&s.canonical);
	sb_arguments_free(&stored);
	free(s.done);
	free(s.latest);
	return rc;
}

/* --resume DIRECTORY is --resume -o DIRECTORY; so for --collect. */
static char **name_directory(int *argc, char **argv)
{
	static char output[] = "--output";
	char **words = calloc((size_t)*argc + 2, sizeof(*words));
	int n = 0;

	for (int i = 0; words && i < *argc; i++) {
		words[n++] = argv[i];
		if ((!strcmp(argv[i], "--resume") ||
		     !strcmp(argv[i], "--collect")) &&
		    n == i + 1 && i + 1 < *argc && argv[i + 1][0] != '-')
			words[n++] = output;
	}
	*argc = n;
	return words;
}

int sb_command_sweep(int argc, char **argv)
{
	static struct sb_options options;
	int words = argc - 1;
	char **word = name_directory(&words, argv + 1);
	int rc;

	if (!word)
		return out_of_memory();
	rc = sb_options_parse_for(&options, SB_VERB_SWEEP, words, word);
	if (!rc && sb_opt(&options, SB_OPT_help))
		sb_help_sweep();
	else if (!rc)
		rc = sweep(&options);
	sb_options_free(&options);
	free(word);
	return rc;
}
