/*
 * convert.c - the verb `convert`: a result that was read back -> one of
 * the formats of results/convert/.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/cli/help.h"
#include "harness/cli/options.h"
#include "harness/output/output.h"
#include "harness/terminal/status.h"
#include "harness/terminal/text.h"
#include "harness/verbs/verbs.h"
#include "results/convert/convert.h"
#include "results/files/file.h"
#include "results/json/read.h"
#include "results/record/series.h"
#include "results/text/escape.h"

#define WHY_BYTES 400

static const char *converter_name(const void *unused, size_t i)
{
	(void)unused;
	return sb_converters[i].name;
}

static int unknown_format(const char *name)
{
	const char *like = sb_most_like(name, converter_name, NULL);
	char names[200] = "";
	size_t used = 0;

	if (like && *name)
		return sb_fail(SB_EXIT_USAGE, "--to: unknown format '%s'; did you mean '%s'?", name,
			       like);
	for (const struct sb_converter *c = sb_converters; c->name; c++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
					 used ? ", " : "", c->name);
	if (!*name)
		return sb_fail(SB_EXIT_USAGE, "convert: --to is missing; expected one of %s",
			       names);
	return sb_fail(SB_EXIT_USAGE, "--to: unknown format '%s'; expected one of %s", name, names);
}

/* ---- one file ---- */

/* The arguments of a writer. */
struct conversion {
	const struct sb_converter *converter;
	const struct sb_result *result;
};

static int write_converted(const void *what, FILE *out)
{
	const struct conversion *conversion = what;

	return conversion->converter->write(conversion->result, out);
}

static int convert_to(const struct conversion *conversion, const char *path)
{
	const int rc = sb_output(path, write_converted, conversion);

	if (rc == -ENODATA)
		return sb_fail(SB_EXIT_USAGE, "'%s' has no %s", conversion->result->directory,
			       conversion->converter->lacks);
	if (rc)
		return sb_output_failed(path, rc);
	if (strcmp(path, "-") != 0)
		puts(sb_terminal_text(path));
	return 0;
}

static int convert_file(const struct conversion *conversion, const char *given)
{
	char *own;
	int rc;

	if (*given)
		return convert_to(conversion, given);
	own = sb_path_join(conversion->result->directory, conversion->converter->file);
	if (!own)
		return sb_fail_memory();
	rc = convert_to(conversion, own);
	free(own);
	return rc;
}

/* ---- several files ---- */

static bool is_same(const char *a, const char *b)
{
	struct stat of_a;
	struct stat of_b;

	return !stat(a, &of_a) && !stat(b, &of_b) && of_a.st_dev == of_b.st_dev &&
	       of_a.st_ino == of_b.st_ino;
}

/* Of another result, whose files would be replaced. */
static bool holds_another(const char *directory, const char *own)
{
	char *path = sb_path_join(directory, "result.json");
	const bool found = path && !access(path, F_OK);

	free(path);
	return found && !is_same(directory, own);
}

static int prepare_directory(const struct conversion *conversion, const char *directory)
{
	int rc;

	if (!strcmp(directory, "-"))
		return sb_fail(
			SB_EXIT_USAGE,
			"--output: '-' is not valid; %s are several files, expected a directory",
			conversion->converter->name);
	rc = sb_directory_make(directory);
	if (rc)
		return sb_output_failed(directory, rc);
	if (holds_another(directory, conversion->result->directory))
		return sb_fail(
			SB_EXIT_USAGE,
			"--output: '%s' holds another result; expected a directory without one",
			directory);
	return 0;
}

static int convert_files(const struct conversion *conversion, const char *given)
{
	const char *directory = *given ? given : conversion->result->directory;
	struct sb_result moved = *conversion->result;
	const char *failed;
	int rc = prepare_directory(conversion, directory);

	if (rc)
		return rc;
	moved.directory = (char *)(uintptr_t)directory;
	rc = conversion->converter->write_files(&moved, &failed);
	if (rc)
		return sb_fail(sb_status_of(rc), "'%s/%s' cannot be written: %s", directory, failed,
			       strerror(-rc));
	puts(sb_terminal_text(directory));
	return 0;
}

/* ---- the verb ---- */

static int convert(const struct sb_options *options, const char *path)
{
	const char *name = options->value[SB_OPT_to].text;
	const char *output = options->value[SB_OPT_convert_output].text;
	struct sb_result result;
	const struct conversion conversion = { sb_converter_find(name), &result };
	char why[WHY_BYTES];
	int rc;

	if (!conversion.converter)
		return unknown_format(name);
	/* Several files go into a directory. */
	rc = conversion.converter->file ? sb_outputs_try(options, SB_VERB_CONVERT) : 0;
	if (rc)
		return rc;
	rc = sb_result_read(&result, path, why, sizeof(why));
	if (rc == -ENOMEM)
		return sb_fail_memory();
	if (rc)
		return sb_fail(rc == -EFBIG ? SB_EXIT_USAGE : sb_status_of(rc), "%s", why);
	rc = conversion.converter->file ? convert_file(&conversion, output)
					: convert_files(&conversion, output);
	sb_result_free(&result);
	return rc;
}

static int convert_named(const struct sb_options *options)
{
	if (options->words == 2 && access(options->word[1], F_OK))
		return sb_fail(
			SB_EXIT_USAGE,
			"convert: '%s' is not expected; a format is named with --to, a file to "
			"write with -o",
			options->word[1]);
	if (options->words != 1)
		return sb_fail(
			SB_EXIT_USAGE, "convert: %s; expected one result directory or result.json",
			options->words ? "more than one result is named" : "no result is named");
	return convert(options, options->word[0]);
}

void sb_list_formats(void)
{
	for (const struct sb_converter *c = sb_converters; c->name; c++)
		printf("  %-16s %-21s %s\n", c->name, c->file ? c->file : "runs.csv, ...", c->doc);
}

int sb_command_convert(int argc, char **argv)
{
	static struct sb_options options;
	int rc = sb_options_parse_for(&options, SB_VERB_CONVERT, argc - 1, argv + 1);

	if (!rc && (sb_opt(&options, SB_OPT_help) || argc == 2))
		sb_help_verb(SB_VERB_CONVERT);
	else if (!rc)
		rc = convert_named(&options);
	sb_options_free(&options);
	return rc;
}
