#include "harness/exports.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/output.h"
#include "harness/status.h"
#include "results/file.h"
#include "results/write.h"

static int write_runs(const struct sb_result *result, FILE *out)
{
	sb_write_runs_csv(result, out);
	return 0;
}

static const struct export
{
	enum sb_option_id option;
	int (*write)(const struct sb_result *result, FILE *out);
}
exports[] = {
	{ SB_OPT_export_json, sb_write_json },
	{ SB_OPT_export_csv, write_runs },
};

static const char *path_of(const struct sb_options *options,
			   const struct export *export)
{
	return options->value[export->option].text;
}

static bool is_stdout(const char *path)
{
	return !strcmp(path, "-");
}

/* Something that has a name, but that must not be replaced. */
static bool is_special(const char *path)
{
	struct stat info;

	return !stat(path, &info) && !S_ISREG(info.st_mode) &&
	       !S_ISDIR(info.st_mode);
}

static bool is_directory(const char *path)
{
	struct stat info;

	return !stat(path, &info) && S_ISDIR(info.st_mode);
}

/* ---- before ---- */

static int try_writing(const char *path)
{
	struct sb_file file;
	int rc;

	if (is_directory(path))
		return -EISDIR;
	if (sb_output_is_kept(path))
		return -EEXIST;
	/* Opened, a pipe would wait for its reader. */
	if (is_special(path))
		return access(path, W_OK) ? -errno : 0;
	rc = sb_file_begin_path(&file, path);
	if (!rc)
		sb_file_abandon(&file);
	return rc;
}

static int cannot_write(const struct export *export, const char *path,
			enum sb_status_code status, int rc)
{
	return sb_fail(status, "--%s: '%s' cannot be written: %s",
		       sb_option[export->option].name, path, sb_output_why(rc));
}

/* Two of them in one file would be none. */
static int check_others(const struct sb_options *options, size_t e)
{
	const char *path = path_of(options, &exports[e]);

	for (size_t i = 0; i < e; i++) {
		if (!strcmp(path, path_of(options, &exports[i])))
			return sb_fail(SB_EXIT_USAGE,
				       "--%s and --%s: both are '%s'; expected "
				       "two files",
				       sb_option[exports[i].option].name,
				       sb_option[exports[e].option].name, path);
	}
	if (is_stdout(path) && options->value[SB_OPT_format].alternative)
		return sb_fail(SB_EXIT_USAGE,
			       "--%s - and --format %s: both are standard "
			       "output; expected one of them",
			       sb_option[exports[e].option].name,
			       options->value[SB_OPT_format].text);
	return 0;
}

int sb_exports_check(const struct sb_options *options)
{
	for (size_t e = 0; e < SB_ARRAY_SIZE(exports); e++) {
		const char *path = path_of(options, &exports[e]);
		int rc;

		if (!*path)
			continue;
		rc = check_others(options, e);
		if (rc)
			return rc;
		rc = is_stdout(path) ? 0 : try_writing(path);
		if (rc)
			return cannot_write(&exports[e], path, SB_EXIT_USAGE,
					    rc);
	}
	return 0;
}

bool sb_exports_to_stdout(const struct sb_options *options)
{
	for (size_t e = 0; e < SB_ARRAY_SIZE(exports); e++) {
		if (is_stdout(path_of(options, &exports[e])))
			return true;
	}
	return false;
}

/* ---- after ---- */

/* A document as text, for the caller to free. */
struct document {
	char *text;
	size_t bytes;
};

static int render(const struct export *export, const struct sb_result *result,
		  struct document *document)
{
	FILE *out = open_memstream(&document->text, &document->bytes);
	int rc;

	if (!out)
		return -ENOMEM;
	rc = export->write(result, out);
	if (fclose(out) && !rc)
		rc = -ENOMEM;
	return rc;
}

/* At once, so that errno is still why it failed. */
static int put(const void *what, FILE *out)
{
	const struct document *document = what;

	errno = 0;
	if (fwrite(document->text, 1, document->bytes, out) !=
		    document->bytes ||
	    fflush(out))
		return errno ? -errno : -EIO;
	return 0;
}

static int write_one(const struct export *export,
		     const struct sb_result *result, const char *path)
{
	struct document document = { NULL, 0 };
	int rc = render(export, result, &document);

	if (!rc)
		rc = sb_output(path, put, &document);
	free(document.text);
	return rc;
}

int sb_exports_write(const struct sb_options *options,
		     const struct sb_result *result)
{
	for (size_t e = 0; e < SB_ARRAY_SIZE(exports); e++) {
		const char *path = path_of(options, &exports[e]);
		const int rc = *path ? write_one(&exports[e], result, path) : 0;

		if (rc)
			return cannot_write(&exports[e], path,
					    SB_EXIT_ENVIRONMENT, rc);
	}
	return 0;
}
