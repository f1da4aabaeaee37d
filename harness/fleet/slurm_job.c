#include "harness/fleet/slurm_job.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/terminal/shell_words.h"
#include "harness/terminal/status.h"
#include "results/embed.h"
#include "results/files/file.h"
#include "results/text/escape.h"

SB_EMBED(sb_slurm_chunk_job, "harness/fleet/chunk_job.sh");
extern const char sb_slurm_chunk_job[];

#define SCRIPT "job.sh"

/* ---- the chunks' files ---- */

uint64_t sb_slurm_bytes(const struct sb_slurm *slurm, uint32_t number, const char *name)
{
	char path[PATH_MAX];
	struct stat is;

	snprintf(path, sizeof(path), "%s/%" PRIu32 "/%s", slurm->directory, number, name);
	return stat(path, &is) ? 0 : (uint64_t)is.st_size;
}

bool sb_slurm_has(const struct sb_slurm *slurm, uint32_t number)
{
	return sb_slurm_bytes(slurm, number, SB_SLURM_WHOLE) != 0;
}

/* Those that are not there; NULL: no memory. */
static char *missing(const struct sb_slurm *slurm)
{
	const char *before = "";
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	for (uint32_t k = 1; k <= slurm->chunks; k++) {
		if (sb_slurm_has(slurm, k))
			continue;
		fprintf(out, "%s%" PRIu32, before, k);
		before = ",";
	}
	fclose(out);
	return text;
}

/* ---- the job's script ---- */

static int put_directive(FILE *out, const char *name, const char *value)
{
	fprintf(out, "#SBATCH %s", name);
	if (!sb_put_sbatch(out, value))
		return sb_fail(SB_EXIT_USAGE,
			       "--on: '%s%s' is not valid; expected no control characters", name,
			       value);
	fputc('\n', out);
	return 0;
}

/* In the name of a file Slurm replaces what follows a percent sign, and with a backslash nothing. */
static int put_output(FILE *out, const char *directory)
{
	char name[2 * PATH_MAX];
	size_t n = 0;

	for (const char *c = directory; *c && n + 2 < sizeof(name) - sizeof("/%a.out"); c++) {
		name[n++] = *c;
		if (*c == '%')
			name[n++] = '%';
	}
	strcpy(name + n, "/%a.out");
	if (!strchr(directory, '\\'))
		return put_directive(out, "--output=", name);
	return sb_fail(SB_EXIT_USAGE, "--on: '%s' is not valid; expected no backslashes",
		       directory);
}

/* A node for each chunk alone, unless the user says otherwise: what else runs there spoils times.
 * The last half minute before a time limit is for keeping the rows so far. */
static int put_script(FILE *out, const struct sb_slurm *slurm, const char *array,
		      const struct sb_words *given)
{
	char program[PATH_MAX];
	int rc = sb_program_own_path(program, sizeof(program));

	if (rc)
		return rc;
	fprintf(out,
		"#!/bin/sh\n"
		"#SBATCH --array=%s\n"
		"#SBATCH --open-mode=append\n"
		"#SBATCH --exclusive\n"
		"#SBATCH --signal=B:TERM@30\n",
		array);
	rc = put_directive(out, "--job-name=", slurm->name);
	rc = rc ? rc : put_output(out, slurm->directory);
	/* "partition=fast" is "--partition=fast". */
	for (uint32_t i = 0; i < given->n && !rc; i++)
		rc = put_directive(out, *given->word[i] == '-' ? "" : "--", given->word[i]);
	fputs("program=", out);
	sb_put_shell(out, program);
	fputs("\nchunks=", out);
	sb_put_shell(out, slurm->directory);
	fprintf(out, "\nof=%" PRIu32 "\nset --", slurm->chunks);
	for (uint32_t i = 0; slurm->plan[i]; i++) {
		fputc(' ', out);
		sb_put_shell(out, slurm->plan[i]);
	}
	fprintf(out, "\n%s", sb_slurm_chunk_job);
	return rc;
}

static int write_script(const struct sb_slurm *slurm, const char *array,
			const struct sb_words *given)
{
	struct sb_file file;
	int rc = sb_file_begin(&file, slurm->directory, SCRIPT);

	if (!rc)
		rc = put_script(file.stream, slurm, array, given);
	if (!rc)
		return sb_file_commit(&file);
	sb_file_abandon(&file);
	return rc;
}

/* ---- the commands of Slurm ---- */

int sb_slurm_call(struct sb_program *program)
{
	const int rc = sb_program_run(program);

	if (rc)
		return sb_fail(SB_EXIT_ENVIRONMENT, "%s: %s; expected Slurm's commands",
			       program->argv[0], strerror(-rc));
	if (sb_program_succeeded(program))
		return 0;
	return sb_fail(SB_EXIT_ENVIRONMENT, "%s failed: %s", program->argv[0],
		       sb_program_line(program));
}

static int submit_script(const struct sb_slurm *slurm)
{
	char path[PATH_MAX];
	const char *argv[] = { "sbatch", "--parsable", path, NULL };
	struct sb_program sbatch = { .argv = argv };
	int rc;

	snprintf(path, sizeof(path), "%s/" SCRIPT, slurm->directory);
	rc = sb_slurm_call(&sbatch);
	sb_program_free(&sbatch);
	return rc;
}

int sb_slurm_submit(struct sb_slurm *slurm)
{
	struct sb_words given;
	char *array = missing(slurm);
	int rc;

	if (!array)
		return sb_fail_memory();
	rc = sb_words_split(&given, slurm->options);
	if (rc) {
		free(array);
		return sb_fail(SB_EXIT_USAGE, "--on: '%s': %s; expected options of sbatch",
			       slurm->options, strerror(-rc));
	}
	rc = write_script(slurm, array, &given);
	if (rc < 0)
		rc = sb_fail(sb_status_of(rc), "%s/" SCRIPT " cannot be written: %s",
			     slurm->directory, strerror(-rc));
	rc = rc ? rc : submit_script(slurm);
	slurm->was_submitted |= !rc;
	sb_words_free(&given);
	free(array);
	return rc;
}
