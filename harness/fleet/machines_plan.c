#include "harness/fleet/machines_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli/trust.h"
#include "harness/output/outcome.h"
#include "harness/plugin/plugin.h"
#include "harness/sweep/sweep.h"
#include "harness/terminal/status.h"
#include "results/files/file.h"
#include "results/json/read.h"

/* Names of folders in the result directory, and words. */
static bool is_plan(json_t *sweep)
{
	const char *name;
	json_t *words;
	json_t *word;
	size_t i;

	json_object_foreach (sweep, name, words) {
		if (!*name || *name == '.' || strchr(name, '/') || !json_array_size(words) ||
		    json_array_size(words) > SB_SWEEP_ARGS_MAX)
			return false;
		json_array_foreach (words, i, word) {
			if (!json_is_string(word))
				return false;
		}
	}
	return json_object_size(sweep);
}

/* Each command line begins a sweep with these options, and with nothing that is not allowed. */
static int check_words(const char *directory, const struct sb_options *given,
		       const json_t *arguments)
{
	static struct sb_options stored;
	char *word[SB_SWEEP_ARGS_MAX + 1] = { NULL };
	int words = 0;
	int rc;
	size_t i;
	json_t *text;

	json_array_foreach (arguments, i, text)
		word[words++] = (char *)(uintptr_t)json_string_value(text);
	sb_plugin_distrust(sb_opt(given, SB_OPT_trust) ? NULL : directory);
	rc = sb_options_parse_for(&stored, SB_VERB_SWEEP, words, word);
	sb_plugin_distrust(NULL);
	if (!rc && (stored.words || strcmp(word[0], "sweep") != 0))
		rc = sb_fail(SB_EXIT_USAGE,
			     "%s/" SB_MACHINES_FILE
			     " has a word that is no option; expected what a sweep of "
			     "several machines has written",
			     directory);
	rc = rc ? rc : sb_trust_check(&stored, given, directory);
	sb_options_free(&stored);
	return rc;
}

/* A folder that is a link would lead out of the result directory. */
static int check_folder(const char *directory, const char *name)
{
	char *path = sb_path_join(directory, name);
	const int rc = path ? sb_directory_check(path) : -ENOMEM;

	free(path);
	return rc ? sb_fail(SB_EXIT_USAGE, "%s/%s is a link; expected a directory", directory, name)
		  : 0;
}

static int check_plan(json_t *sweep, const char *directory, const struct sb_options *given)
{
	const char *name;
	json_t *arguments;
	int rc = 0;

	json_object_foreach (sweep, name, arguments) {
		rc = rc ? rc : check_folder(directory, name);
		rc = rc ? rc : check_words(directory, given, arguments);
	}
	return rc;
}

int sb_machines_read_plan(json_t **plan, const char *directory, const struct sb_options *given)
{
	char *path = sb_path_join(directory, SB_MACHINES_FILE);
	json_error_t error;
	json_t *sweep;

	if (!path)
		return sb_fail_memory();
	*plan = sb_json_read_file(path, 0, &error);
	sweep = json_object_get(*plan, "sweeps");
	free(path);
	if (is_plan(sweep))
		return check_plan(sweep, directory, given);
	return sb_fail(SB_EXIT_USAGE,
		       "%s/" SB_MACHINES_FILE
		       " has no sweeps%s%s; expected what a sweep of several "
		       "machines has written",
		       directory, *plan ? "" : ": ", *plan ? "" : error.text);
}
