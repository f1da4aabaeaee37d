/*
 * list.c - the verb `list`: one of the tables that the command is made of (harness/guide/names.h).
 */
#include <stdio.h>

#include "harness/cli/help.h"
#include "harness/guide/names.h"
#include "harness/terminal/status.h"
#include "harness/terminal/text.h"
#include "harness/verbs/verbs.h"

void sb_list_kinds(void)
{
	for (const struct sb_names *names = sb_names; names->plural; names++)
		printf("  %-10s %s\n", names->plural, names->help);
}

static const char *plural(const void *unused, size_t i)
{
	(void)unused;
	return sb_names[i].plural;
}

static int unknown_kind(const char *name)
{
	const char *like = sb_most_like(name, plural, NULL);
	char all[200];
	int used = 0;

	for (const struct sb_names *n = sb_names; n->plural && used < (int)sizeof(all); n++)
		used += snprintf(all + used, sizeof(all) - (size_t)used, "%s%s",
				 n == sb_names ? ""
				 : n[1].plural ? ", "
					       : " or ",
				 n->plural);
	if (like)
		return sb_fail(SB_EXIT_USAGE, "list: unknown '%s'; did you mean '%s'?", name, like);
	return sb_fail(SB_EXIT_USAGE, "list: unknown '%s'; expected %s", name, all);
}

static int list(const struct sb_options *options)
{
	const struct sb_names *names = sb_names_find(options->word[0]);

	if (!names)
		return unknown_kind(options->word[0]);
	if (options->words > 1)
		return sb_fail(SB_EXIT_USAGE, "list: '%s' is not expected; expected one list",
			       options->word[1]);
	return sb_names_put(names, (enum sb_format)options->value[SB_OPT_format].alternative);
}

int sb_command_list(int argc, char **argv)
{
	static struct sb_options options;
	int rc = sb_options_parse_for(&options, SB_VERB_LIST, argc - 1, argv + 1);

	if (!rc && (sb_opt(&options, SB_OPT_help) || !options.words))
		sb_help_verb(SB_VERB_LIST);
	else if (!rc)
		rc = list(&options);
	sb_options_free(&options);
	return rc;
}
