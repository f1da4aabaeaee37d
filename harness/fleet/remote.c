#include "harness/fleet/remote.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "harness/cli/trust.h"
#include "harness/fleet/slurm.h"
#include "harness/output/identity.h"
#include "harness/output/outcome.h"
#include "harness/terminal/interrupts.h"
#include "harness/terminal/status.h"
#include "results/files/file.h"

/* Keys of the plan. */
#define JOB	    "job"
#define JOB_CHUNKS  "job_chunks"
#define JOB_OPTIONS "job_options"

#define JOB_NAME "sched-bench-"

/* ---- files ---- */

static int copy(const char *from, const char *to)
{
	struct sb_file file;
	int rc = sb_file_begin_path(&file, to);

	if (rc)
		return sb_fail(sb_status_of(rc), "%s cannot be written: %s", to, strerror(-rc));
	rc = sb_file_copy(from, file.stream);
	if (rc) {
		sb_file_abandon(&file);
		return sb_fail(sb_status_of(rc), "%s cannot be read: %s", from, strerror(-rc));
	}
	rc = sb_file_commit(&file);
	return rc ? sb_fail(sb_status_of(rc), "%s cannot be written: %s", to, strerror(-rc)) : 0;
}

static int copy_store(const char *from_directory, const char *name, const char *to_directory)
{
	char *from = sb_path_join(from_directory, name);
	char *to = sb_path_join(to_directory, sb_store_of_sweep.name);
	const int rc = from && to ? copy(from, to) : sb_fail_memory();

	free(from);
	free(to);
	return rc;
}

static int make_local(struct sb_session *s)
{
	s->store_directory = sb_path_temporary("");
	if (!s->store_directory)
		return sb_fail_memory();
	if (mkdtemp(s->store_directory))
		return 0;
	return sb_fail(SB_EXIT_ENVIRONMENT, "%s cannot be made: %s", s->store_directory,
		       strerror(errno));
}

void sb_remote_end(struct sb_session *s)
{
	if (s->store_directory)
		sb_directory_remove(s->store_directory);
}

/* Copies the local store to the result directory. */
static int publish(const struct sb_session *s)
{
	const int rc = sb_store_settle(s->store);

	return rc ? sb_store_failed(s->store, rc)
		  : copy_store(s->store_directory, sb_store_of_sweep.name, s->result.directory);
}

/* An absolute path, for the caller to free; NULL: no memory, or there is none. */
static char *directory_of_chunks(const char *result)
{
	char *directory = sb_path_join(result, "chunks");
	char *path = directory && !sb_directory_check(directory) ? realpath(directory, NULL) : NULL;

	free(directory);
	return path;
}

bool sb_remote_is_there(const char *directory)
{
	char *chunks = directory_of_chunks(directory);

	free(chunks);
	return chunks;
}

/* ---- the plan ---- */

const char *sb_remote_options(const char *on)
{
	if (!strcmp(on, "slurm"))
		return "";
	if (!strncmp(on, "slurm:", 6))
		return on + 6;
	(void)sb_fail(SB_EXIT_USAGE,
		      "--on: '%s' is not valid; expected slurm, or slurm:OPTIONS of sbatch, as "
		      "'slurm:partition=fast time=10'",
		      on);
	return NULL;
}

/* So many as the user says, or for each node two; 0 after an error has been printed. */
static uint32_t choose_chunks(const struct sb_session *s)
{
	const struct sb_option_value *given = &s->given->value[SB_OPT_chunks];
	const uint32_t rows = sb_chunks_max(&s->sweep);
	const uint32_t max = rows < SB_SLURM_CHUNKS_MAX ? rows : SB_SLURM_CHUNKS_MAX;

	if (given->alternative == 0)
		return sb_slurm_chunks(max);
	if (given->number <= max)
		return (uint32_t)given->number;
	(void)sb_fail(SB_EXIT_USAGE,
		      "--chunks: %" PRIu64 " are too many; expected at most %" PRIu32
		      ", as this sweep has %s",
		      given->number, max, max == rows ? "rows or repetitions" : "an array job");
	return 0;
}

static int put_job(struct sb_session *s, const char *options, uint32_t chunks)
{
	char text[40];
	uint64_t random = 0;
	int rc;

	if (getrandom(&random, sizeof(random), 0) < 0)
		return sb_fail(SB_EXIT_ENVIRONMENT, "getrandom: %s", strerror(errno));
	snprintf(text, sizeof(text), JOB_NAME "%016" PRIx64, random);
	rc = sb_store_put_plan(s->store, JOB, text);
	snprintf(text, sizeof(text), "%" PRIu32, chunks);
	rc = rc ? rc : sb_store_put_plan(s->store, JOB_CHUNKS, text);
	rc = rc ? rc : sb_store_put_plan(s->store, JOB_OPTIONS, options);
	return rc ? sb_store_failed(s->store, rc) : 0;
}

static int make_chunks_directory(const struct sb_session *s)
{
	char *directory = sb_path_join(s->result.directory, "chunks");
	const int rc = directory ? sb_directory_make(directory) : -ENOMEM;

	free(directory);
	return rc ? sb_fail(sb_status_of(rc), "%s/chunks cannot be made: %s", s->result.directory,
			    strerror(-rc))
		  : 0;
}

int sb_remote_begin(struct sb_session *s, const struct sb_arguments *plan)
{
	const char *options = sb_remote_options(s->given->value[SB_OPT_on].text);
	const uint32_t chunks = options ? choose_chunks(s) : 0;
	int rc;

	if (!chunks)
		return options ? SB_EXIT_ENVIRONMENT : SB_EXIT_USAGE;
	rc = make_local(s);
	rc = rc ? rc : sb_session_begin(s, plan);
	rc = rc ? rc : put_job(s, options, chunks);
	rc = rc ? rc : publish(s);
	return rc ? rc : make_chunks_directory(s);
}

/* Names it in a script. */
static bool is_job_name(const char *name)
{
	const size_t length = strlen(JOB_NAME);

	return name && !strncmp(name, JOB_NAME, length) &&
	       strspn(name + length, "0123456789abcdef") == strlen(name + length);
}

static int check_options(const struct sb_session *s, const char *options)
{
	char *on;
	int rc;

	if (!*options)
		return 0;
	if (asprintf(&on, "slurm:%s", options) < 0)
		return sb_fail_memory();
	rc = sb_trust_check_one(SB_OPT_on, on, s->given, s->result.directory);
	free(on);
	return rc;
}

/* The options of sbatch can run programs and write files. */
static int check_job(const struct sb_session *s)
{
	char *name = sb_store_plan(s->store, JOB);
	char *options = sb_store_plan(s->store, JOB_OPTIONS);
	int rc;

	if (is_job_name(name) && options)
		rc = check_options(s, options);
	else
		rc = sb_fail(SB_EXIT_USAGE, "%s: its store does not say which job runs it",
			     s->result.directory);
	free(name);
	free(options);
	return rc;
}

int sb_remote_resume(struct sb_session *s, struct sb_arguments *stored)
{
	int rc = make_local(s);

	rc = rc ? rc
		: copy_store(s->given->value[SB_OPT_output].text, sb_store_of_sweep.name,
			     s->store_directory);
	rc = rc ? rc : sb_session_resume(s, stored);
	return rc ? rc : check_job(s);
}

/* ---- rows ---- */

/* The chunk's store, whole or partial; NULL: there is none. */
static const char *store_of(const char *directory)
{
	if (sb_directory_holds(directory, SB_SLURM_WHOLE))
		return SB_SLURM_WHOLE;
	return sb_directory_holds(directory, SB_SLURM_PARTIAL) ? SB_SLURM_PARTIAL : NULL;
}

static int take_one(struct sb_session *s, const struct sb_arguments *plan, const char *shared,
		    const char *local)
{
	const char *name = store_of(shared);
	int rc;

	if (!name)
		return 0;
	rc = sb_directory_make(local);
	if (rc)
		return sb_fail(sb_status_of(rc), "%s cannot be made: %s", local, strerror(-rc));
	rc = copy_store(shared, name, local);
	return rc ? rc : sb_session_take_chunk(s, plan, local, shared, true);
}

static int take_chunk(struct sb_session *s, const struct sb_arguments *plan, const char *chunks,
		      uint32_t number)
{
	const bool is_first = !s->origin;
	char *shared = NULL;
	char *local = NULL;
	int rc;

	if (asprintf(&shared, "%s/%" PRIu32, chunks, number) < 0 ||
	    asprintf(&local, "%s/%" PRIu32, s->store_directory, number) < 0)
		rc = sb_fail_memory();
	else
		rc = take_one(s, plan, shared, local);
	/* The first one's store stays open. */
	if (local && !is_first)
		sb_directory_remove(local);
	free(shared);
	free(local);
	return rc;
}

/* The rows are those of the machine that ran them. */
static int take_rows(struct sb_session *s, const struct sb_arguments *plan, const char *chunks,
		     uint32_t n)
{
	int rc = sb_store_begin_rows(s->store);

	if (rc)
		return sb_store_failed(s->store, rc);
	if (s->rows_done)
		s->origin = s->store;
	rc = 0;
	for (uint32_t k = 1; k <= n && !rc; k++)
		rc = take_chunk(s, plan, chunks, k);
	if (rc)
		return rc;
	if (s->origin && s->origin != s->store)
		rc = sb_identity_copy(s->origin, s->store);
	rc = rc ? rc : sb_store_end_rows(s->store);
	return rc ? sb_store_failed(s->store, rc) : 0;
}

/* ---- the job ---- */

/* Removes a sweep whose job could not be submitted. */
static void discard(const struct sb_session *s)
{
	char *store = sb_path_join(s->result.directory, sb_store_of_sweep.name);
	char *chunks = sb_path_join(s->result.directory, "chunks");

	if (store)
		(void)unlink(store);
	if (chunks)
		sb_directory_remove(chunks);
	free(store);
	free(chunks);
	/* If it was made for this, it is empty again. */
	(void)rmdir(s->result.directory);
}

/* What allows that it goes on. */
static const char *trust_hint(const struct sb_session *s, const struct sb_slurm *slurm)
{
	return *slurm->options ? " --trust" : sb_trust_hint(s->options);
}

static int run_job(struct sb_session *s, const struct sb_arguments *plan, struct sb_slurm *slurm)
{
	int rc;

	sb_progress_open(&s->progress, stderr, sb_session_is(s, SB_OPT_quiet));
	sb_progress_plan(&s->progress, slurm->chunks, slurm->chunks);
	sb_interrupts_catch();
	rc = sb_slurm_run(slurm);
	sb_progress_close(&s->progress);
	if (rc && !slurm->was_submitted && !sb_session_is(s, SB_OPT_resume))
		discard(s);
	if (rc)
		return rc;
	if (sb_load_rlx(&sb_interrupted)) {
		sb_note("the job goes on: sched-bench sweep --resume %s%s waits for it; scancel "
			"--name=%s ends it",
			s->result.directory, trust_hint(s, slurm), slurm->name);
		return SB_EXIT_INVALID;
	}
	rc = take_rows(s, plan, slurm->directory, slurm->chunks);
	rc = rc ? rc : publish(s);
	/* The store has their rows now. */
	if (!rc && s->rows_done == s->rows)
		sb_directory_remove(slurm->directory);
	return rc;
}

int sb_remote_run(struct sb_session *s, const struct sb_arguments *plan)
{
	char *name = sb_store_plan(s->store, JOB);
	char *options = sb_store_plan(s->store, JOB_OPTIONS);
	char *chunks = sb_store_plan(s->store, JOB_CHUNKS);
	char *directory = directory_of_chunks(s->result.directory);
	struct sb_slurm slurm = { .directory = directory,
				  .name = name,
				  .plan = plan->word + 1,
				  .options = options,
				  .progress = &s->progress };
	int rc;

	slurm.chunks = chunks ? (uint32_t)strtoul(chunks, NULL, 10) : 0;
	if (name && options && directory && slurm.chunks && slurm.chunks <= SB_SLURM_CHUNKS_MAX)
		rc = run_job(s, plan, &slurm);
	else
		rc = sb_fail(SB_EXIT_USAGE, "%s: its store does not say which job runs it",
			     s->result.directory);
	free(name);
	free(options);
	free(chunks);
	free(directory);
	return rc;
}
