/*
 * new.c - the verb `new`: a C file to begin a workload with (harness/plugin/skeleton/), under a
 * name of its own.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/cli/help.h"
#include "harness/plugin/compile.h"
#include "harness/terminal/status.h"
#include "harness/verbs/verbs.h"
#include "results/embed.h"

SB_EMBED(sb_plugin_skeleton, "harness/plugin/skeleton/countdown.c");
extern const char sb_plugin_skeleton[];

/* The name in the skeleton; put_skeleton() replaces it. */
static const char old_name[] = "countdown";

#define NAME_BYTES 64

static bool is_name(const char *name)
{
	if (!isalpha((unsigned char)*name) || strlen(name) >= NAME_BYTES)
		return false;
	while (isalnum((unsigned char)*name) || *name == '-' || *name == '_')
		name++;
	return !*name;
}

static void put_skeleton(FILE *out, const char *name)
{
	const char *rest = sb_plugin_skeleton;
	const char *next;

	while ((next = strstr(rest, old_name))) {
		fprintf(out, "%.*s%s", (int)(next - rest), rest, name);
		rest = next + strlen(old_name);
	}
	fputs(rest, out);
}

/* Does not overwrite a file. */
static int write_file(const char *path, const char *name)
{
	FILE *out = fopen(path, "wx");
	int rc;

	if (!out)
		return sb_fail(
			errno == EEXIST ? SB_EXIT_USAGE : SB_EXIT_ENVIRONMENT, "%s: %s", path,
			errno == EEXIST ? "it exists; expected a new name" : strerror(errno));
	put_skeleton(out, name);
	rc = ferror(out);
	rc |= fclose(out);
	if (!rc)
		return 0;
	(void)unlink(path);
	return sb_fail(SB_EXIT_ENVIRONMENT, "%s: %s", path, strerror(errno));
}

static int make_workload(const char *name)
{
	char include[SB_PLUGIN_PATH_BYTES];
	char path[NAME_BYTES + 4];
	int rc;

	if (!is_name(name))
		return sb_fail(SB_EXIT_USAGE,
			       "new workload: '%s' is no name; expected a letter, then letters, "
			       "digits, '-' and '_'",
			       name);
	if (sb_workload_find(name))
		return sb_fail(SB_EXIT_USAGE,
			       "new workload: there is a workload '%s'; expected another name",
			       name);
	rc = sb_plugin_include(include);
	snprintf(path, sizeof(path), "%s.c", name);
	rc = rc ? rc : write_file(path, name);
	if (!rc)
		printf("%s is written; these work with it as it is:\n"
		       "  sched-bench help ./%s\n"
		       "  sched-bench run -w ./%s\n"
		       "  sched-bench sweep -w ./%s -L batch=1,16\n"
		       "To compile it once, for -w ./%s.so:\n"
		       "  cc " SB_PLUGIN_FLAGS " -I %s -o %s.so %s\n",
		       path, path, path, path, name, include, name, path);
	return rc;
}

int sb_command_new(int argc, char **argv)
{
	static struct sb_options options;
	const int rc = sb_options_parse_for(&options, SB_VERB_NEW, argc - 1, argv + 1);

	if (rc)
		return rc;
	if (sb_opt(&options, SB_OPT_help)) {
		sb_help_verb(SB_VERB_NEW);
		return 0;
	}
	if (options.words != 2 || strcmp(options.word[0], "workload") != 0)
		return sb_fail(SB_EXIT_USAGE, "new: expected 'workload' and its name, as in "
					      "sched-bench new workload mine");
	return make_workload(options.word[1]);
}
