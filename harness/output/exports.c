#include "harness/output/exports.h"

#include <stdio.h>
#include <string.h>

#include "harness/output/output.h"
#include "harness/terminal/status.h"
#include "results/files/csv.h"
#include "results/json/write.h"
#include "results/record/record.h"

static const struct export
{
	enum sb_option_id option;
	int (*write)(const struct sb_result *result, FILE *out);
}
exports[] = {
	{ SB_OPT_export_json, sb_write_json },
	{ SB_OPT_export_csv, sb_write_runs_csv },
};

static const char *path_of(const struct sb_options *options, const struct export *export)
{
	return options->value[export->option].text;
}

static bool is_stdout(const char *path)
{
	return !strcmp(path, "-");
}

/* ---- before ---- */

/* Two of them in one file would be none. */
static int check_others(const struct sb_options *options, size_t e)
{
	const char *path = path_of(options, &exports[e]);

	for (size_t i = 0; i < e; i++) {
		if (!strcmp(path, path_of(options, &exports[i])))
			return sb_fail(SB_EXIT_USAGE,
				       "--%s and --%s: both are '%s'; expected two files",
				       sb_option[exports[i].option].name,
				       sb_option[exports[e].option].name, path);
	}
	if (is_stdout(path) && options->value[SB_OPT_format].alternative)
		return sb_fail(
			SB_EXIT_USAGE,
			"--%s - and --format %s: both are standard output; expected one of them",
			sb_option[exports[e].option].name, options->value[SB_OPT_format].text);
	return 0;
}

int sb_exports_check(const struct sb_options *options)
{
	for (size_t e = 0; e < SB_ARRAY_SIZE(exports); e++) {
		const int rc = *path_of(options, &exports[e]) ? check_others(options, e) : 0;

		if (rc)
			return rc;
	}
	return sb_outputs_try(options, SB_VERB_RUN);
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

/* The arguments of a writer. */
struct written {
	const struct export *export;
	const struct sb_result *result;
};

static int write_export(const void *what, FILE *out)
{
	const struct written *written = what;

	return written->export->write(written->result, out);
}

int sb_exports_write(const struct sb_options *options, const struct sb_result *result)
{
	for (size_t e = 0; e < SB_ARRAY_SIZE(exports); e++) {
		const char *path = path_of(options, &exports[e]);
		const struct written written = { &exports[e], result };
		const int rc = *path ? sb_output(path, write_export, &written) : 0;

		if (rc)
			return sb_fail(SB_EXIT_ENVIRONMENT, "--%s: '%s' cannot be written: %s",
				       sb_option[exports[e].option].name, path, sb_output_why(rc));
	}
	return 0;
}
